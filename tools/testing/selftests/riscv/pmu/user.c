// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that a process reads itself, through the mapping of its event: what it
 * reads is right, whatever happens meanwhile; and nobody reads anything else.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../../include/perf/riscv_pmu_read.h"
#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define N		1000000L
#define READS		1000000L
#define ACCESS		"/proc/sys/kernel/perf_user_access"
/* What a read may take, of instructions. */
#define READ_INSNS	60

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

/* --- mapped events --- */

static struct perf_event_mmap_page *map(int fd)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

static void unmap(struct perf_event_mmap_page *page)
{
	munmap(page, sysconf(_SC_PAGESIZE));
}

/* The count, one way or the other; how many were read without a call. */
static uint64_t count_of(int fd, const struct perf_event_mmap_page *page, long *direct)
{
	uint64_t count;

	if (riscv_pmu_read(page, &count)) {
		++*direct;
		return count;
	}
	return pmu_read(fd);
}

/* Who reads extends the sign: a counter that wraps unseen would make that wrong. */
static bool wraps_unseen(void)
{
	return pmu_caps_number("counter_width") < 64 && !pmu_samples_by_interrupt();
}

TEST(a_counter_that_wraps_unseen_is_for_read)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_mmap_page *page;
	uint64_t count;
	int fd;

	if (!wraps_unseen())
		SKIP(return, "counters are wide, or interrupt (caps/counter_width, caps/sampling)");

	attr.disabled = 0;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	page = map(fd);
	ASSERT_NE(NULL, page);
	EXPECT_FALSE(riscv_pmu_read(page, &count));
	EXPECT_EQ(0, (int)page->cap_user_rdpmc);
	EXPECT_LE(pmu_least(N), pmu_count(fd, pmu_loop, N));
	unmap(page);
	close(fd);
}

FIXTURE(user) {
	struct perf_event_attr attr;
	struct perf_event_mmap_page *page;
	cpu_set_t all;
	long access;
	int fd;
};

FIXTURE_SETUP(user)
{
	self->access = pmu_read_number(ACCESS);
	ASSERT_LE(0, self->access);
	if (pmu_is_legacy())
		SKIP(return, "no counter can be given a value (caps/backend)");
	if (wraps_unseen())
		SKIP(return, "counters are narrow and do not interrupt (caps/counter_width)");

	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	sched_getaffinity(0, sizeof(self->all), &self->all);
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->attr.disabled = 0;
	self->fd = pmu_open(&self->attr);
	ASSERT_LE(0, self->fd);
	self->page = map(self->fd);
	ASSERT_NE(NULL, self->page);
}

FIXTURE_TEARDOWN(user)
{
	if (self->page)
		unmap(self->page);
	if (self->fd > 0)
		close(self->fd);
	pmu_write_number(ACCESS, self->access);
}

/* --- what is read is right --- */

TEST_F(user, a_read_lies_between_two_calls)
{
	for (int i = 0; i < 1000; i++) {
		uint64_t before = pmu_read(self->fd), count;

		ASSERT_TRUE(riscv_pmu_read(self->page, &count));
		EXPECT_LE(before, count);
		EXPECT_LE(count, (uint64_t)pmu_read(self->fd));
	}
}

/* What is read to have happened between two reads; the same code, whatever the number. */
static uint64_t __attribute__((noipa)) between(const struct perf_event_mmap_page *page,
					       long instructions)
{
	uint64_t before = 0, after = 0;

	riscv_pmu_read(page, &before);
	pmu_loop(instructions);
	riscv_pmu_read(page, &after);
	return after - before;
}

TEST_F(user, what_lies_between_two_reads_is_counted_exactly)
{
	if (!pmu_is_exact() || !pmu_can_filter())
		SKIP(return, "counts repeat only with -icount, one hart and filters");

	/* The first reads fault the code and the page in. */
	between(self->page, 0);
	EXPECT_EQ((uint64_t)N, between(self->page, N) - between(self->page, 0));
}

static uint64_t __attribute__((noipa)) read_once(const struct perf_event_mmap_page *page)
{
	uint64_t count = 0;

	riscv_pmu_read(page, &count);
	return count;
}

TEST_F(user, a_read_is_short)
{
	uint64_t first = 0, second = 0;

	if (!pmu_is_exact() || !pmu_can_filter())
		SKIP(return, "counts repeat only with -icount, one hart and filters");

	for (int i = 0; i < 3; i++) {
		first = read_once(self->page);
		second = read_once(self->page);
	}
	TH_LOG("%lu instructions", (long)(second - first));
	EXPECT_LT(10, second - first);
	EXPECT_GE(READ_INSNS, second - first);
}

TEST_F(user, an_event_that_stands_is_for_read)
{
	uint64_t count;

	ASSERT_TRUE(riscv_pmu_read(self->page, &count));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_FALSE(riscv_pmu_read(self->page, &count));
	EXPECT_EQ(0, self->page->index);
	EXPECT_EQ(pmu_read(self->fd), (int64_t)self->page->offset);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	EXPECT_EQ(0, (int64_t)self->page->offset);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(riscv_pmu_read(self->page, &count));
	EXPECT_LE(count, (uint64_t)pmu_read(self->fd));
}

/* cap_user_rdpmc of an event that does not count yet; -1 if it can not be opened. */
static int cap_of(const struct perf_event_attr *attr, int cpu)
{
	struct perf_event_mmap_page *page;
	int cap = -1, fd = pmu_open_on(attr, cpu < 0 ? 0 : -1, cpu, -1);

	if (fd < 0)
		return -1;
	page = map(fd);
	if (page) {
		cap = page->cap_user_rdpmc;
		unmap(page);
	}
	close(fd);
	return cap;
}

/* A program looks at cap_user_rdpmc once. */
TEST_F(user, a_mapping_says_at_once_whether_it_can_be_read)
{
	struct perf_event_attr attr = self->attr;
	struct perf_event_mmap_page *page;
	uint64_t count;
	int fd;

	attr.disabled = 1;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	page = map(fd);
	ASSERT_NE(NULL, page);
	EXPECT_EQ(1, (int)page->cap_user_rdpmc);
	EXPECT_EQ(0, (int)page->index);
	EXPECT_EQ(pmu_caps_number("counter_width"), page->pmc_width);
	EXPECT_FALSE(riscv_pmu_read(page, &count));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_TRUE(riscv_pmu_read(page, &count));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(1, (int)page->cap_user_rdpmc);
	EXPECT_EQ(0, (int)page->index);
	unmap(page);
	close(fd);

	EXPECT_EQ(0, cap_of(&attr, 0));
	ASSERT_TRUE(pmu_write_number(ACCESS, 0));
	EXPECT_EQ(0, cap_of(&attr, -1));
	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	attr.sample_period = N;
	EXPECT_GE(0, cap_of(&attr, -1));
}

TEST_F(user, a_reset_while_it_counts_starts_at_zero)
{
	uint64_t count;

	pmu_loop(N);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	ASSERT_TRUE(riscv_pmu_read(self->page, &count));
	/* The way back from the call, or what the host's clock makes of it. */
	EXPECT_GT(pmu_is_exact() ? (uint64_t)N : 1000 * (uint64_t)N, count);
	EXPECT_LE(count, (uint64_t)pmu_read(self->fd));
}

/* Reads for as long as asked; never less than before. */
static long read_on(int fd, const struct perf_event_mmap_page *page, long reads, long *direct)
{
	uint64_t last = 0;
	long wrong = 0;

	for (long i = 0; i < reads; i++) {
		uint64_t count = count_of(fd, page, direct);

		wrong += count < last;
		last = count;
	}
	/* Nobody's mistakes have been added up. */
	wrong += last > (uint64_t)pmu_read(fd);
	return wrong;
}

/* An event that wants the PMU for itself takes turns with the mapped one. */
TEST_F_TIMEOUT(user, reads_are_monotonic_while_events_take_turns, 300)
{
	struct perf_event_attr attr = self->attr;
	long direct = 0;
	int fd;

	attr.exclusive = 1;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, read_on(self->fd, self->page, READS / 4, &direct));
	EXPECT_LT(0, direct);
	EXPECT_LT(direct, READS / 4);
	close(fd);
}

static void body_wander(long pid)
{
	for (unsigned int i = 0;; i++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(i % sysconf(_SC_NPROCESSORS_ONLN), &one);
		if (sched_setaffinity(pid, sizeof(one), &one))
			return;
		usleep(100);
	}
}

TEST_F_TIMEOUT(user, reads_are_monotonic_while_the_reader_moves, 300)
{
	long direct = 0;
	pid_t pid;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one hart: nowhere to move to");

	pid = pmu_spawn(body_wander, getpid());
	EXPECT_EQ(0, read_on(self->fd, self->page, READS, &direct));
	EXPECT_LT(READS / 2, direct);
	pmu_kill(pid);
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

static void body_switch_access(long unused)
{
	for (;;) {
		pmu_write_number(ACCESS, 0);
		usleep(200);
		pmu_write_number(ACCESS, 2);
		usleep(200);
		pmu_write_number(ACCESS, 1);
		usleep(200);
	}
}

TEST_F_TIMEOUT(user, the_sysctl_does_not_kill_who_may_read, 300)
{
	long direct = 0;
	pid_t pid;

	pid = pmu_spawn(body_switch_access, 0);
	EXPECT_EQ(0, read_on(self->fd, self->page, READS / 4, &direct));
	EXPECT_LT(0, direct);
	pmu_kill(pid);
}

TEST_F(user, the_sysctl_is_obeyed)
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

static int pin_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

TEST_F(user, other_counters_trap)
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

TEST_F(user, a_child_traps)
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

TEST_F(user, another_thread_traps)
{
	struct thread thread = { .ctr = self->page->index - 1 };
	pthread_t id;

	ASSERT_EQ(0, pthread_create(&id, NULL, thread_try, &thread));
	pthread_join(id, NULL);
	EXPECT_TRUE(thread.trapped);
}

TEST_F(user, who_has_unmapped_traps)
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
TEST_F(user, a_new_program_traps)
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

TEST_F(user, events_that_are_not_one_s_own_are_for_read)
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
TEST_F(user, what_others_do_meanwhile_does_not_show)
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

/* --- samples --- */

/*
 * An event that samples is not shown; what counts the same beside it is, on its
 * counter. That starts anew with each period; the count goes on.
 */
TEST_F(user, reads_are_monotonic_while_samples_are_taken)
{
	struct perf_event_attr attr = self->attr;
	struct perf_event_mmap_page *page;
	struct pmu_limits limits;
	struct pmu_ring ring = {};
	long direct = 0;
	uint64_t count;
	int fd, twin;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling)");
	/*
	 * QEMU 10.0.2 looks for overflows in a thread of its own, which changes the
	 * hart's counters without a lock: once in some hundred thousand reads they
	 * go back by up to some thousand. With -icount all is done in one thread.
	 */
	if (pmu_is_qemu() && !pmu_is_icount())
		SKIP(return, "without -icount a counter of QEMU's that overflows may go back");

	pmu_limits_save(&limits);
	attr.sample_period = 20011;
	attr.sample_type = PMU_RING_SAMPLE;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&ring, fd));
	attr.sample_period = 0;
	twin = pmu_open_on(&attr, 0, -1, fd);
	ASSERT_LE(0, twin);
	page = map(twin);
	ASSERT_NE(NULL, page);
	EXPECT_FALSE(riscv_pmu_read(ring.page, &count));
	EXPECT_EQ(0, read_on(twin, page, READS / 20, &direct));
	EXPECT_LT(READS / 40, direct);
	pmu_ring_drain(&ring, NULL, NULL);
	EXPECT_LT(0, ring.samples);
	unmap(page);
	close(twin);
	pmu_ring_unmap(&ring);
	close(fd);
	pmu_limits_restore(&limits);
}

/* Another's period would show in the value that the counter starts from. */
TEST_F(user, a_counter_that_others_sample_with_is_for_read)
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

TEST_F(user, a_sampler_of_the_hart_does_not_reveal_its_period)
{
	unmap(self->page);
	self->page = NULL;
	close(self->fd);
	self->fd = -1;
	expect_untold(_metadata, &self->attr, -1);
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

TEST_F(user, a_sampler_of_the_task_does_not_reveal_its_period)
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
