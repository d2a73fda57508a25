// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that a process reads itself, through the mapping of its event: what it reads is
 * right, also while the task moves, events take turns and samples are taken. Where an event
 * can not be read so, its mapping says it. user_access.c has the tests of who may read.
 */

#define _GNU_SOURCE
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/user.h"

#define READS		1000000L
/* What a read may take, of instructions. */
#define READ_INSNS	60

/* --- mapped events --- */

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

TEST(a_narrow_counter_without_interrupt_has_index_0)
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

USER_FIXTURE(user)

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

TEST_F(user, a_disabled_event_has_index_0)
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
	/* A read that returned too much would now exceed the count that read() returns. */
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

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
