// SPDX-License-Identifier: GPL-2.0
/*
 * Tests reads of counters from user mode, through the mapped page of an event. The values must be
 * correct, also while the task migrates between CPUs, events are multiplexed and samples are taken.
 * The page of an event that cannot be read must show that. user_access.c tests which tasks may
 * read a counter.
 */

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/user.h"

#define READS		1000000L
/* The most instructions that a read may take. */
#define READ_INSNS	60

/* --- mapped events --- */

/*
 * Returns the count, which it reads from the counter if that is possible, otherwise by read().
 * Adds 1 to *direct for a read from the counter.
 */
static uint64_t read_count(int fd, const struct perf_event_mmap_page *page, long *direct)
{
	uint64_t count;

	if (riscv_pmu_read(page, &count)) {
		++*direct;
		return count;
	}
	return pmu_read(fd);
}

TEST(a_narrow_counter_without_interrupt_is_not_readable)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_mmap_page *page;
	uint64_t count;
	int fd;

	if (!wraps_without_interrupt())
		SKIP(return, "64-bit counters or interrupts (caps/counter_width, caps/sampling)");

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

/* --- correct values --- */

TEST_F(user, user_read_is_between_two_system_calls)
{
	for (int i = 0; i < 1000; i++) {
		uint64_t before = pmu_read(self->fd), count;

		ASSERT_TRUE(riscv_pmu_read(self->page, &count));
		EXPECT_LE(before, count);
		EXPECT_LE(count, (uint64_t)pmu_read(self->fd));
	}
}

/*
 * Returns the difference of two reads with a loop between them. It is not inlined, so that its
 * own instructions are the same for every length of the loop.
 */
static uint64_t __attribute__((noipa)) count_between(const struct perf_event_mmap_page *page,
						     long instructions)
{
	uint64_t before = 0, after = 0;

	riscv_pmu_read(page, &before);
	pmu_loop(instructions);
	riscv_pmu_read(page, &after);
	return after - before;
}

TEST_F(user, difference_of_two_reads_is_exact)
{
	if (!pmu_is_exact() || !pmu_can_filter())
		SKIP(return, "counts repeat only with -icount, one hart and filters");

	/* The first reads cause the page faults of the code and of the page. */
	count_between(self->page, 0);
	EXPECT_EQ((uint64_t)N, count_between(self->page, N) - count_between(self->page, 0));
}

static uint64_t __attribute__((noipa)) read_once(const struct perf_event_mmap_page *page)
{
	uint64_t count = 0;

	riscv_pmu_read(page, &count);
	return count;
}

TEST_F(user, user_read_takes_few_instructions)
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

TEST_F(user, disabled_event_has_index_0)
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

/* Returns cap_user_rdpmc of an event before it counts, or -1 if it cannot be opened. */
static int read_cap_user_rdpmc(const struct perf_event_attr *attr, int cpu)
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

/*
 * A program reads cap_user_rdpmc only once, maybe before it enables the event. It is 0 for
 * CPU-wide events, if the sysctl does not allow reads, and for sampling events.
 */
TEST_F(user, cap_user_rdpmc_is_valid_while_the_event_is_disabled)
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

	EXPECT_EQ(0, read_cap_user_rdpmc(&attr, 0));
	ASSERT_TRUE(pmu_write_number(ACCESS, 0));
	EXPECT_EQ(0, read_cap_user_rdpmc(&attr, -1));
	ASSERT_TRUE(pmu_write_number(ACCESS, 1));
	attr.sample_period = N;
	EXPECT_GE(0, read_cap_user_rdpmc(&attr, -1));
}

TEST_F(user, reset_of_a_running_event_restarts_at_zero)
{
	uint64_t count;

	pmu_loop(N);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	ASSERT_TRUE(riscv_pmu_read(self->page, &count));
	/* It includes the return from ioctl(), which QEMU counts by the host's clock if inexact. */
	EXPECT_GT(pmu_is_exact() ? (uint64_t)N : 1000 * (uint64_t)N, count);
	EXPECT_LE(count, (uint64_t)pmu_read(self->fd));
}

/*
 * Reads the count @reads times. Returns how many of the values are less than the value before,
 * plus 1 if the last value is more than read() returns afterwards.
 */
static long read_repeatedly(int fd, const struct perf_event_mmap_page *page, long reads,
			    long *direct)
{
	uint64_t last = 0;
	long wrong = 0;

	for (long i = 0; i < reads; i++) {
		uint64_t count = read_count(fd, page, direct);

		wrong += count < last;
		last = count;
	}
	/* A read that returned too much would now exceed the count that read() returns. */
	wrong += last > (uint64_t)pmu_read(fd);
	return wrong;
}

/* The mapped event is multiplexed with an exclusive event. */
TEST_F_TIMEOUT(user, reads_are_monotonic_while_events_are_multiplexed, 300)
{
	struct perf_event_attr attr = self->attr;
	long direct = 0;
	int fd;

	attr.exclusive = 1;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, read_repeatedly(self->fd, self->page, READS / 4, &direct));
	EXPECT_LT(0, direct);
	EXPECT_LT(direct, READS / 4);
	close(fd);
}

static void body_migrate(long pid)
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

TEST_F_TIMEOUT(user, reads_are_monotonic_while_the_task_migrates, 300)
{
	long direct = 0;
	pid_t pid;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two CPUs");

	pid = pmu_spawn(body_migrate, getpid());
	EXPECT_EQ(0, read_repeatedly(self->fd, self->page, READS, &direct));
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

TEST_F_TIMEOUT(user, changing_the_sysctl_does_not_kill_a_reading_task, 300)
{
	long direct = 0;
	pid_t pid;

	pid = pmu_spawn(body_switch_access, 0);
	EXPECT_EQ(0, read_repeatedly(self->fd, self->page, READS / 4, &direct));
	EXPECT_LT(0, direct);
	pmu_kill(pid);
}

/* --- pages of events that cannot be read --- */

/* What a page says of an event with index 0. */
static struct riscv_pmu_count read_page(const volatile struct perf_event_mmap_page *page)
{
	struct riscv_pmu_count count;
	uint32_t seq;

	do {
		seq = page->lock;
		riscv_pmu_barrier();
		count = (struct riscv_pmu_count){
			.value = page->offset,
			.enabled = page->time_enabled,
			.running = page->time_running,
		};
		riscv_pmu_barrier();
	} while (page->lock != seq);

	return count;
}

static bool stop_task(pid_t pid)
{
	int status;

	return !kill(pid, SIGSTOP) && waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status);
}

/*
 * Whether the page of an event whose task does not run has the event's count and times. perf may
 * stop the times a moment before the page is written.
 */
static bool page_is_current(const struct perf_event_mmap_page *page, int fd)
{
	struct riscv_pmu_count said = read_page(page), count;
	const uint64_t moment = 1000000;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return false;

	return !page->cap_user_rdpmc && !page->index && said.value == count.value &&
	       said.enabled - count.enabled < moment && said.running - count.running < moment;
}

static void body_spin(long unused)
{
	for (;;)
		pmu_loop(N);
}

/* The event is of a child process, which is stopped while the page is compared with read(). */
static void expect_page_of_a_child(struct __test_metadata *_metadata, struct perf_event_attr attr)
{
	struct perf_event_mmap_page *page;
	struct riscv_pmu_count last = {};
	pid_t pid = pmu_spawn(body_spin, 0);
	int fd;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = pmu_open_on(&attr, pid, -1, -1);
	ASSERT_LE(0, fd);
	page = map(fd);
	ASSERT_NE(NULL, page);
	EXPECT_EQ(0, (int)page->cap_user_rdpmc);
	for (int i = 0; i < 3; i++) {
		struct riscv_pmu_count said;

		/* On a busy host, it may be some time before the child runs again. */
		for (int j = 0; j < 100; j++) {
			usleep(20000);
			ASSERT_EQ((ssize_t)sizeof(said), read(fd, &said, sizeof(said)));
			if (said.value > last.value)
				break;
		}
		ASSERT_TRUE(stop_task(pid));
		/* On another hart, it may not be switched out yet. */
		for (int j = 0; j < 100 && !page_is_current(page, fd); j++)
			usleep(1000);
		EXPECT_TRUE(page_is_current(page, fd));
		said = read_page(page);
		EXPECT_LT(last.value, said.value);
		EXPECT_LT(last.running, said.running);
		last = said;
		kill(pid, SIGCONT);
	}
	unmap(page);
	close(fd);
	pmu_kill(pid);
}

TEST_F(user, the_page_of_a_child_s_event_has_its_count_and_times)
{
	expect_page_of_a_child(_metadata, self->attr);
}

TEST_F(user, the_page_of_a_child_s_sampling_event_has_its_count_and_times)
{
	if (!pmu_can_sample())
		SKIP(return, "no samples (caps/sampling)");

	self->attr.sample_period = 10 * N;
	expect_page_of_a_child(_metadata, self->attr);
}

/*
 * Each sample updates the page of its event. Between two samples, there is no system call. The
 * count that the page lacks is less than a period, and what a late interrupt adds to it. The times
 * are from the first sample of a tick, which takes at most 10 ms (CONFIG_HZ=100).
 */
static void expect_page_follows_samples(struct __test_metadata *_metadata,
					struct perf_event_attr attr, pid_t pid, int cpu)
{
	const uint64_t period = 20011, tick = 10 * N;
	struct perf_event_mmap_page *page;
	struct riscv_pmu_count said = {};
	struct pmu_limits limits;
	int fd;

	if (!pmu_samples_by_interrupt() || !pmu_is_exact())
		SKIP(return, "no overflow interrupt (caps/sampling), or no -icount");

	pmu_limits_save(&limits);
	attr.sample_period = period;
	fd = pmu_open_on(&attr, pid, cpu, -1);
	ASSERT_LE(0, fd);
	page = map(fd);
	ASSERT_NE(NULL, page);
	for (int i = 0; i < 3; i++) {
		struct riscv_pmu_count last = said;

		pmu_loop(30 * N);
		said = read_page(page);
		EXPECT_LT(30 * N - 2 * period, said.value - last.value);
		EXPECT_LT(30 * N - 2 * period - tick, said.running - last.running);
		EXPECT_EQ(said.enabled, said.running);
		EXPECT_GT(2 * period, pmu_read(fd) - said.value);
	}
	EXPECT_EQ(0, (int)page->cap_user_rdpmc);
	EXPECT_EQ(0, (int)page->index);
	unmap(page);
	close(fd);
	pmu_limits_restore(&limits);
}

TEST_F(user, the_page_of_an_own_sampling_event_follows_its_samples)
{
	expect_page_follows_samples(_metadata, self->attr, 0, -1);
}

TEST_F(user, the_page_of_a_sampling_event_of_a_cpu_follows_its_samples)
{
	expect_page_follows_samples(_metadata, self->attr, -1, 0);
}

/* The sysctl is changed while the event is disabled: its next start updates the page. */
TEST_F(user, the_page_says_that_the_sysctl_allows_no_reads)
{
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	ASSERT_TRUE(pmu_write_number(ACCESS, 0));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_EQ(0, (int)self->page->cap_user_rdpmc);
	EXPECT_EQ(0, (int)self->page->index);
	pmu_loop(N);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(pmu_read(self->fd), (int64_t)self->page->offset);
}

/* A child's mapping of its parent's event remains after the parent's own. */
TEST_F(user, cap_user_rdpmc_is_0_after_the_last_mapping_of_its_own)
{
	int status = -1, go[2];
	char byte = 0;
	pid_t pid;

	ASSERT_EQ(0, pipe(go));
	EXPECT_EQ(1, (int)self->page->cap_user_rdpmc);
	pid = fork();
	if (!pid) {
		struct perf_event_mmap_page *page = map(self->fd);
		bool could = page && page->cap_user_rdpmc;

		close(go[1]);
		if (kill(getpid(), SIGSTOP) || read(go[0], &byte, 1) != 0 || !could)
			_exit(1);
		_exit(page->cap_user_rdpmc || page->index ? 2 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	unmap(self->page);
	self->page = NULL;
	kill(pid, SIGCONT);
	close(go[0]);
	close(go[1]);
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
}

/* --- samples --- */

/*
 * A sampling event cannot be read from user mode. A counting event of the same config shares
 * its counter and can be read. The counter gets a new start value at the beginning of each
 * period, but the count must not decrease.
 */
TEST_F(user, reads_are_monotonic_while_samples_are_taken)
{
	struct perf_event_attr attr = self->attr;
	struct perf_event_mmap_page *page;
	struct pmu_limits limits;
	struct pmu_ring ring = {};
	long direct = 0;
	uint64_t count;
	int fd, counting;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling)");
	/*
	 * QEMU 10.0.2 checks for overflows in a separate thread, which changes the
	 * hart's counters without a lock: once in some hundred thousand reads, they
	 * decrease by up to some thousand. With -icount, QEMU has one thread only.
	 */
	if (pmu_is_qemu() && !pmu_is_icount())
		SKIP(return, "without -icount, a counter of QEMU may decrease when it overflows");

	pmu_limits_save(&limits);
	attr.sample_period = 20011;
	attr.sample_type = PMU_RING_SAMPLE;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&ring, fd));
	attr.sample_period = 0;
	counting = pmu_open_on(&attr, 0, -1, fd);
	ASSERT_LE(0, counting);
	page = map(counting);
	ASSERT_NE(NULL, page);
	EXPECT_FALSE(riscv_pmu_read(ring.page, &count));
	EXPECT_EQ(0, read_repeatedly(counting, page, READS / 20, &direct));
	EXPECT_LT(READS / 40, direct);
	pmu_ring_drain(&ring, NULL, NULL);
	EXPECT_LT(0, ring.samples);
	unmap(page);
	close(counting);
	pmu_ring_unmap(&ring);
	close(fd);
	pmu_limits_restore(&limits);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
