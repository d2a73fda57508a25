// SPDX-License-Identifier: GPL-2.0
/*
 * Who may read counters from user mode: only a task that has mapped an event of its own,
 * only the counter of that event, and only if the sysctl allows it. A counter must not
 * reveal what other tasks count or with which period they sample.
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/user.h"

/* --- traps --- */

static sigjmp_buf trap_env;

static void trap_handler(int sig)
{
	siglongjmp(trap_env, sig);
}

/* Whether this thread may not read a counter. */
static bool traps(unsigned int ctr)
{
	struct sigaction old, act = { .sa_handler = trap_handler };
	bool trapped;

	sigaction(SIGILL, &act, &old);
	trapped = sigsetjmp(trap_env, 1);
	if (!trapped)
		riscv_pmu_read_csr(ctr);
	sigaction(SIGILL, &old, NULL);
	return trapped;
}

/*
 * Whether this thread can read a counter, and it counts: a read that is skipped gives
 * 0. If the thread is switched out meanwhile the counter starts anew: once more then.
 */
static bool counts(unsigned int ctr)
{
	uint64_t before, after;
	int tries = 10;

	if (traps(ctr))
		return false;

	do {
		before = riscv_pmu_read_csr(ctr);
		pmu_loop(N);
		after = riscv_pmu_read_csr(ctr);
	} while (after <= before && --tries);

	return before && after > before;
}

/* A new program: told by its environment that it is to try a counter, and no more. */
static void __attribute__((constructor)) try_ctr_after_exec(void)
{
	const char *ctr = getenv("TRY_CTR");

	if (ctr)
		_exit(traps(atoi(ctr)));
}

USER_FIXTURE(user_access)

TEST_F(user_access, the_sysctl_is_obeyed)
{
	unsigned int ctr = self->page->index - 1;
	uint64_t count;

	ASSERT_TRUE(riscv_pmu_read(self->page, &count));
	ASSERT_TRUE(pmu_write_number(ACCESS, 0));
	EXPECT_FALSE(riscv_pmu_read(self->page, &count));
	EXPECT_EQ(0, (int)self->page->cap_user_rdpmc);
	unmap(self->page);
	self->page = NULL;
	EXPECT_TRUE(traps(ctr));
	EXPECT_TRUE(traps(0));
	ASSERT_TRUE(pmu_write_number(ACCESS, 2));
	EXPECT_FALSE(traps(0));
	EXPECT_FALSE(traps(2));
	EXPECT_TRUE(traps(3));
	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	EXPECT_TRUE(traps(0));
	self->page = map(self->fd);
	ASSERT_NE(NULL, self->page);
	EXPECT_TRUE(riscv_pmu_read(self->page, &count));
}

/* --- and nobody reads anything else --- */

TEST_F(user_access, other_counters_trap)
{
	unsigned int mine;

	/* On one hart, and all the time on the same counter. */
	ASSERT_EQ(0, pin_to(0));
	ASSERT_NE(0, (int)self->page->index);
	mine = self->page->index - 1;
	for (unsigned int ctr = 0; ctr < 32; ctr++) {
		if (ctr == mine) {
			EXPECT_TRUE(counts(ctr));
		} else if (ctr != 1) {
			/* Those that it has had on other harts are skipped. */
			EXPECT_TRUE(traps(ctr) || !riscv_pmu_read_csr(ctr));
		}
	}
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

TEST_F(user_access, a_child_traps)
{
	unsigned int ctr = self->page->index - 1;
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(traps(ctr));
	waitpid(pid, &status, 0);
	EXPECT_EQ(1, WEXITSTATUS(status));
}

struct thread {
	unsigned int ctr;
	bool trapped;
};

static void *thread_try(void *arg)
{
	struct thread *thread = arg;

	thread->trapped = traps(thread->ctr);
	return NULL;
}

TEST_F(user_access, another_thread_traps)
{
	struct thread thread = { .ctr = self->page->index - 1 };
	pthread_t id;

	ASSERT_EQ(0, pthread_create(&id, NULL, thread_try, &thread));
	pthread_join(id, NULL);
	EXPECT_TRUE(thread.trapped);
}

TEST_F(user_access, reading_traps_after_munmap)
{
	unsigned int ctr;

	ASSERT_EQ(0, pin_to(0));
	ctr = self->page->index - 1;
	EXPECT_TRUE(counts(ctr));
	unmap(self->page);
	self->page = NULL;
	EXPECT_TRUE(traps(ctr));
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

/* The event and its descriptor live on. */
TEST_F(user_access, a_new_program_traps)
{
	unsigned int ctr = self->page->index - 1;
	char text[32];
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		struct perf_event_mmap_page *page;
		int fd = syscall(__NR_perf_event_open, &self->attr, 0, -1, -1, 0);

		page = map(fd);
		if (pin_to(0) || !page || !page->index)
			_exit(2);
		ctr = page->index - 1;
		snprintf(text, sizeof(text), "%u", ctr);
		setenv("TRY_CTR", text, 1);
		if (!counts(ctr))
			_exit(3);
		execl("/proc/self/exe", "user", NULL);
		_exit(4);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(1, WEXITSTATUS(status));
}

/* The index of an event's mapping while it counts; -1 if it can not be opened. */
static int index_of(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	struct perf_event_mmap_page *page;
	int fd = pmu_open_on(attr, pid, cpu, -1), index;

	if (fd < 0)
		return -1;
	page = map(fd);
	index = page ? (int)page->index : -1;
	if (page)
		unmap(page);
	close(fd);
	return index;
}

static void body_spin(long unused)
{
	for (;;)
		pmu_loop(N);
}

TEST_F(user_access, only_events_of_the_calling_task_have_an_index)
{
	struct perf_event_attr attr = self->attr;
	pid_t pid = pmu_spawn(body_spin, 0);

	EXPECT_LT(0, index_of(&attr, 0, -1));
	EXPECT_EQ(0, index_of(&attr, -1, 0));
	EXPECT_EQ(0, index_of(&attr, 0, sched_getcpu()));
	EXPECT_EQ(0, index_of(&attr, pid, -1));
	/* perf does not even map these. */
	attr.inherit = 1;
	EXPECT_EQ(-1, index_of(&attr, 0, -1));
	attr.inherit = 0;
	if (pmu_caps_number("firmware_counters") > 0) {
		attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));
		attr.disabled = 0;
		EXPECT_EQ(0, index_of(&attr, 0, -1));
	}
	pmu_kill(pid);
}

/* A counter runs on for another task that counts the same; it does not show. */
TEST_F(user_access, what_others_do_meanwhile_does_not_show)
{
	uint64_t before, after;
	int go[2], done[2];
	unsigned int ctr;
	char byte = 0;
	int status = -1;
	pid_t pid;

	ASSERT_EQ(0, pin_to(0));
	ctr = self->page->index - 1;
	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(done));
	pid = fork();
	if (!pid) {
		/* Mapped, only to know that it has the same counter. */
		struct perf_event_mmap_page *page = map(pmu_open(&self->attr));

		if (!page || page->index - 1 != ctr || read(go[0], &byte, 1) != 1)
			_exit(1);
		unmap(page);
		pmu_loop(100 * N);
		_exit(write(done[1], &byte, 1) != 1);
	}
	before = riscv_pmu_read_csr(ctr);
	ASSERT_EQ(1, write(go[1], &byte, 1));
	ASSERT_EQ(1, read(done[0], &byte, 1));
	ASSERT_EQ(ctr, self->page->index - 1);
	after = riscv_pmu_read_csr(ctr);
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	/* Less than half of what the other has done: our own way into the calls and back. */
	EXPECT_GT((int64_t)pmu_least(100 * N) / 2, (int64_t)(after - before));
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

/* --- the periods of others --- */

/* Another's period would show in the value that the counter starts from. */
TEST_F(user_access, a_counter_that_others_sample_with_is_for_read)
{
	struct perf_event_attr attr = self->attr;
	uint64_t count;
	int fd;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling)");

	/* An event that does not count on the fixed counter, which does not interrupt. */
	ASSERT_EQ(0, pin_to(0));
	attr.sample_period = 1000000;
	fd = pmu_open_on(&attr, -1, 0, -1);
	ASSERT_LE(0, fd);
	for (int i = 0; i < 100; i++) {
		sched_yield();
		if (riscv_pmu_read(self->page, &count)) {
			EXPECT_LE(count, (uint64_t)pmu_read(self->fd));
		}
	}
	close(fd);
	sched_setaffinity(0, sizeof(self->all), &self->all);
	usleep(1000);
	EXPECT_TRUE(riscv_pmu_read(self->page, &count));
}

/* The counter's value, as riscv_pmu_read() takes it. */
static int64_t raw_of(const struct perf_event_mmap_page *page)
{
	unsigned int unused = 64 - page->pmc_width;

	return (int64_t)(riscv_pmu_read_csr(page->index - 1) << unused) >> unused;
}

/*
 * The period of another process. A counter that was started for it is between -period and 0;
 * one that was started for no sampling event is below -2^(width - 2) for long. Without -icount
 * QEMU counts some instructions in each nanosecond: 2^30 of them take a third of a second or
 * more, so that even at the lowest sample rate, one sample in each tick, perf does not
 * throttle the event.
 */
static int64_t others_period(void)
{
	long width = pmu_caps_number("counter_width");

	return 1LL << (width < 33 ? width - 3 : 30);
}

/* Another process, and what it has opened, in that process and in this one. */
struct sampler {
	pid_t pid;
	int theirs;
	int fd;
};

static int sampler_pipe[2];

/* Samples a process, or, for -1, hart 0. */
static void body_sample(long pid)
{
	struct perf_event_attr attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd;

	attr.disabled = 0;
	attr.sample_period = others_period();
	fd = pmu_open_on(&attr, pid, pid < 0 ? 0 : -1, -1);
	if (fd < 0 || write(sampler_pipe[1], &fd, sizeof(fd)) != sizeof(fd))
		_exit(1);
	for (;;)
		pause();
}

/* This process gets the descriptor, too: it can stop the event without leaving the hart. */
static bool sampler_start(struct sampler *sampler, pid_t whom)
{
	int pidfd;
	bool told;

	if (pipe(sampler_pipe))
		return false;
	sampler->pid = pmu_spawn(body_sample, whom);
	close(sampler_pipe[1]);
	told = read(sampler_pipe[0], &sampler->theirs, sizeof(int)) == sizeof(int);
	close(sampler_pipe[0]);
	pidfd = syscall(__NR_pidfd_open, sampler->pid, 0);
	sampler->fd = told ? syscall(__NR_pidfd_getfd, pidfd, sampler->theirs, 0) : -1;
	close(pidfd);
	return sampler->fd >= 0;
}

static void sampler_end(struct sampler *sampler)
{
	pmu_kill(sampler->pid);
	close(sampler->fd);
}

/* While another process samples, the index is 0; afterwards the counter has been restarted. */
static void expect_untold(struct __test_metadata *_metadata, const struct perf_event_attr *like,
			  pid_t whom)
{
	struct perf_event_attr attr = *like;
	struct perf_event_mmap_page *page;
	struct sampler sampler;
	int fd;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling)");

	/*
	 * The sampler is first, and cycle and instret are not for the event: so it has to
	 * share the sampler's counter, for QEMU counts an event on one other counter only.
	 */
	attr.config2 = 0xfffffff8;
	ASSERT_EQ(0, pin_to(0));
	ASSERT_TRUE(sampler_start(&sampler, whom));
	fd = pmu_open(&attr);
	page = map(fd);
	ASSERT_NE(NULL, page);
	pmu_loop(N);
	EXPECT_EQ(0, (int)page->index);
	ASSERT_EQ(0, ioctl(sampler.fd, PERF_EVENT_IOC_DISABLE, 0));
	/* At once. */
	ASSERT_NE(0, (int)page->index);
	EXPECT_GT(-others_period(), raw_of(page));
	sampler_end(&sampler);
	unmap(page);
	close(fd);
}

TEST_F(user_access, a_sampler_of_the_hart_does_not_reveal_its_period)
{
	unmap(self->page);
	self->page = NULL;
	close(self->fd);
	self->fd = -1;
	expect_untold(_metadata, &self->attr, -1);
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

TEST_F(user_access, a_sampler_of_the_task_does_not_reveal_its_period)
{
	unmap(self->page);
	self->page = NULL;
	close(self->fd);
	self->fd = -1;
	expect_untold(_metadata, &self->attr, getpid());
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
