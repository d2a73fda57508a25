// SPDX-License-Identifier: GPL-2.0
/*
 * Tests which tasks may read counters from user mode: only a task that has mapped an event of
 * its own, only the counter of that event, and only if the sysctl allows it. A counter must not
 * reveal what other tasks count or with which period they sample.
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/user.h"

/* --- traps --- */

/*
 * Returns true if this thread can read the counter and the counter counts. A read that the
 * kernel emulates returns 0. After a context switch between the two reads, the counter may have
 * been restarted: the function tries again then.
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

/*
 * If TRY_CTR is in the environment, the program only tries to read that counter; with
 * TRY_CTR_LATER, after a context switch. It exits with 1 if the read raises SIGILL, otherwise
 * with 0.
 */
static void __attribute__((constructor)) try_ctr_after_exec(void)
{
	const char *ctr = getenv("TRY_CTR"), *later = getenv("TRY_CTR_LATER");

	if (ctr)
		_exit(traps(atoi(ctr)));
	if (later) {
		usleep(1000);
		_exit(traps(atoi(later)));
	}
}

USER_FIXTURE(user_access)

TEST_F(user_access, sysctl_perf_user_access_controls_which_counters_trap)
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

/* --- reads that are not allowed --- */

TEST_F(user_access, reads_of_counters_of_other_events_trap)
{
	unsigned int own_ctr;

	/* On one hart, the event stays on the same counter. */
	ASSERT_EQ(0, pin_to(0));
	ASSERT_NE(0, (int)self->page->index);
	own_ctr = self->page->index - 1;
	for (unsigned int ctr = 0; ctr < 32; ctr++) {
		if (ctr == own_ctr) {
			EXPECT_TRUE(counts(ctr));
		} else if (ctr != 1) {
			/* The kernel emulates reads of counters that it had on other harts. */
			EXPECT_TRUE(traps(ctr) || !riscv_pmu_read_csr(ctr));
		}
	}
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

TEST_F(user_access, reads_by_a_child_process_trap)
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

TEST_F(user_access, reads_by_another_thread_trap)
{
	struct thread thread = { .ctr = self->page->index - 1 };
	pthread_t id;

	ASSERT_EQ(0, pthread_create(&id, NULL, thread_try, &thread));
	pthread_join(id, NULL);
	EXPECT_TRUE(thread.trapped);
}

TEST_F(user_access, reads_after_munmap_trap)
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

/*
 * The descriptor is opened without PERF_FLAG_FD_CLOEXEC, so that the event continues to count
 * after exec().
 */
TEST_F(user_access, reads_after_exec_trap)
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

/*
 * Opens and maps an event of this process, and executes this program again, which tries to read
 * the event's counter.
 */
static void exec_with_mapping(const struct perf_event_attr *attr,
			      struct perf_event_mmap_page *volatile *page)
{
	int fd = syscall(__NR_perf_event_open, attr, 0, -1, -1, 0);
	char text[32], *env[] = { text, NULL };

	*page = map(fd);
	if (pin_to(0) || !*page || !(*page)->index)
		_exit(2);
	if (!counts((*page)->index - 1))
		_exit(3);
	snprintf(text, sizeof(text), "TRY_CTR_LATER=%u", (*page)->index - 1);
	execle("/proc/self/exe", "user", NULL, env);
	_exit(4);
}

/*
 * The child shares its address space with its parent until its exec(), so that the mapping of its
 * event remains in the parent. exec() itself does not reach the PMU, but the next context switch
 * ends the access.
 */
TEST_F(user_access, reads_after_exec_trap_although_the_event_is_still_mapped)
{
	struct perf_event_mmap_page *volatile page = NULL; /* written by the child */
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = vfork();
	if (!pid)
		exec_with_mapping(&self->attr, &page);
	waitpid(pid, &status, 0);
	EXPECT_EQ(1, WEXITSTATUS(status));
	ASSERT_NE(NULL, page);
	unmap(page);
}

/* Returns the index in an event's page while it counts, or -1 if the event cannot be opened. */
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
	/* perf does not allow inherited events of a task to be mapped. */
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

/* Another task counts the same event on the same counter, which this task must not see. */
TEST_F(user_access, counts_of_another_task_are_not_visible)
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
		/* It is mapped only to check that it has the same counter. */
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
	/*
	 * The difference has only this task's way into the system calls and back: it is less
	 * than half of the other task's loop.
	 */
	EXPECT_GT((int64_t)pmu_least(100 * N) / 2, (int64_t)(after - before));
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

/* --- the periods of other tasks --- */

/*
 * The start value of a counter that samples reveals the period, so such a counter is not
 * readable from user mode. A read of the count has to be correct in any case.
 */
TEST_F(user_access, count_is_right_while_the_counter_is_used_for_sampling)
{
	struct perf_event_attr attr = self->attr;
	uint64_t count;
	int fd;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling)");

	/* The sampling event does not use the fixed counter, which cannot interrupt. */
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

/* Returns the value of the event's counter, sign-extended as in riscv_pmu_read(). */
static int64_t read_ctr_value(const struct perf_event_mmap_page *page)
{
	unsigned int unused = 64 - page->pmc_width;

	return (int64_t)(riscv_pmu_read_csr(page->index - 1) << unused) >> unused;
}

/*
 * Returns the period with which the other process samples. A counter that was started for that
 * event is between -period and 0. A counter that was started for no sampling event is below
 * -2^(width - 2) for a long time. Without -icount, QEMU counts some instructions in each
 * nanosecond: 2^30 of them take a third of a second or more, so that even at the lowest sample
 * rate, one sample in each tick, perf does not throttle the event.
 */
static int64_t sampler_period(void)
{
	long width = pmu_caps_number("counter_width");

	return 1LL << (width < 33 ? width - 3 : 30);
}

/* Another process that samples. */
struct sampler {
	pid_t pid;
	int fd_in_process;	/* its event's descriptor in that process */
	int fd;			/* the same event's descriptor in this process */
};

static int sampler_pipe[2];

/* Samples the process @pid, or hart 0 if @pid is -1. */
static void body_sample(long pid)
{
	struct perf_event_attr attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd;

	attr.disabled = 0;
	attr.sample_period = sampler_period();
	fd = pmu_open_on(&attr, pid, pid < 0 ? 0 : -1, -1);
	if (fd < 0 || write(sampler_pipe[1], &fd, sizeof(fd)) != sizeof(fd))
		_exit(1);
	for (;;)
		pause();
}

/*
 * Starts a process that samples. This process gets a copy of the event's descriptor, so that it
 * can disable the event without a context switch. Returns false on failure.
 */
static bool sampler_start(struct sampler *sampler, pid_t target)
{
	int pidfd;
	bool received;

	if (pipe(sampler_pipe))
		return false;
	sampler->pid = pmu_spawn(body_sample, target);
	close(sampler_pipe[1]);
	received = read(sampler_pipe[0], &sampler->fd_in_process, sizeof(int)) == sizeof(int);
	close(sampler_pipe[0]);
	pidfd = syscall(__NR_pidfd_open, sampler->pid, 0);
	sampler->fd = received ? syscall(__NR_pidfd_getfd, pidfd, sampler->fd_in_process, 0) : -1;
	close(pidfd);
	return sampler->fd >= 0;
}

static void sampler_stop(struct sampler *sampler)
{
	pmu_kill(sampler->pid);
	close(sampler->fd);
}

/* Opens a sampling event of this process, with a much longer period than that of the other. */
static int open_own_sampler(const struct perf_event_attr *like)
{
	struct perf_event_attr attr = *like;

	attr.sample_period = 64 * sampler_period();
	return pmu_open(&attr);
}

/*
 * While the other process samples, the index has to be 0. After its event was disabled, the
 * index is not 0, and the counter must have been restarted. This process may sample, too, if
 * @samples is set: its own overflow points need not be hidden.
 */
static void expect_period_hidden(struct __test_metadata *_metadata,
				 FIXTURE_DATA(user_access) *self, pid_t target, bool samples)
{
	struct perf_event_attr attr = self->attr;
	struct perf_event_mmap_page *page;
	struct sampler sampler;
	int fd, own = -1;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling)");

	/* The fixture's own event would hold the counter. */
	unmap(self->page);
	self->page = NULL;
	close(self->fd);
	self->fd = -1;
	/*
	 * The sampling event is opened first, and config2 does not allow cycle and instret. So
	 * the event has to share the counter of the sampling event, because QEMU counts an event
	 * on one programmable counter only.
	 */
	attr.config2 = 0xfffffff8;
	ASSERT_EQ(0, pin_to(0));
	ASSERT_TRUE(sampler_start(&sampler, target));
	if (samples) {
		own = open_own_sampler(&attr);
		ASSERT_LE(0, own);
	}
	fd = pmu_open(&attr);
	page = map(fd);
	ASSERT_NE(NULL, page);
	pmu_loop(N);
	EXPECT_EQ(0, (int)page->index);
	ASSERT_EQ(0, ioctl(sampler.fd, PERF_EVENT_IOC_DISABLE, 0));
	/* Immediately after the event was disabled. */
	ASSERT_NE(0, (int)page->index);
	EXPECT_GT(-sampler_period(), read_ctr_value(page));
	sampler_stop(&sampler);
	unmap(page);
	close(fd);
	if (samples)
		close(own);
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

TEST_F(user_access, period_of_a_cpu_wide_sampling_event_is_hidden)
{
	expect_period_hidden(_metadata, self, -1, false);
}

TEST_F(user_access, period_of_a_sampling_event_of_the_task_is_hidden)
{
	expect_period_hidden(_metadata, self, getpid(), false);
}

TEST_F(user_access, period_is_hidden_from_a_process_that_samples_too)
{
	expect_period_hidden(_metadata, self, -1, true);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
