// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the reader of events (tools/include/perf/riscv_pmu_read.h) and the regions that are built
 * on it, on any kernel: no read may kill the program, whatever the driver does and whichever
 * thread reads. user.c and user_access.c test what riscv-pmu lets a program read.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../../include/perf/riscv_pmu_region.h"
#include "../../kselftest_harness.h"
#include "lib/task.h"
#include "lib/user.h"

#define EVENTS		24
#define READERS		3
#define SECONDS		4
#define RUNS		100
#define NONE_DIRECT	2

#define READ_MISSES(cache)	PMU_CACHE(cache, PERF_COUNT_HW_CACHE_OP_READ,	\
					  PERF_COUNT_HW_CACHE_RESULT_MISS)

/* The most instructions of a read; of an empty run; and of each further event in it. */
#define READ_INSNS	70UL
#define RUN_INSNS	150UL
#define RUN_EVENT_INSNS	100UL

/* Whether this kernel lets programs read counters without a system call. */
static bool can_read_directly(void)
{
	return !access(RISCV_PMU_READ_CAP, F_OK) && !pmu_is_legacy() && !wraps_without_interrupt();
}

/* --- programs that read while events are multiplexed --- */

static struct perf_event_attr kind_of_event(int i)
{
	static const struct { uint32_t type; uint64_t config; } kinds[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		{ PERF_TYPE_HW_CACHE, READ_MISSES(PERF_COUNT_HW_CACHE_DTLB) },
		{ PERF_TYPE_HW_CACHE, READ_MISSES(PERF_COUNT_HW_CACHE_ITLB) },
	};
	struct perf_event_attr attr = pmu_attr_best(kinds[i % 4].type, kinds[i % 4].config);

	attr.disabled = 0;
	return attr;
}

/*
 * Reads EVENTS events for SECONDS seconds by riscv_pmu_read(), as programs that map their events
 * themselves do. Exits with 1 if an event cannot be opened, and with NONE_DIRECT if @must_read and
 * no read succeeded. The counters are reassigned at each context switch, and when perf rotates the
 * events. There are no system calls between the reads, so that this often happens during a read.
 */
static void body_read_many(long must_read)
{
	struct perf_event_mmap_page *page[EVENTS];
	double end = now() + SECONDS;
	unsigned long direct = 0;
	int fd[EVENTS];
	uint64_t count;

	for (int i = 0; i < EVENTS; i++) {
		struct perf_event_attr attr = kind_of_event(i);

		fd[i] = pmu_open(&attr);
		page[i] = map(fd[i]);
		if (fd[i] < 0 || !page[i])
			_exit(1);
	}
	while (now() < end) {
		for (int i = 0; i < EVENTS * 1000; i++)
			direct += riscv_pmu_read(page[i % EVENTS], &count);
	}
	_exit(must_read && !direct ? NONE_DIRECT : 0);
}

TEST(readers_of_many_events_are_not_killed)
{
	long access = pmu_read_number(ACCESS);
	pid_t pid[READERS];
	int status;

	if (!pmu_can_filter())
		SKIP(return, "no Sscofpmf, or counters of the legacy backend");

	pmu_write_number(ACCESS, 1);
	for (int i = 0; i < READERS; i++)
		pid[i] = pmu_spawn(body_read_many, pmu_is_exact() && can_read_directly());
	for (int i = 0; i < READERS; i++) {
		status = -1;
		waitpid(pid[i], &status, 0);
		/* SIGILL is 4, NONE_DIRECT is 512. */
		EXPECT_EQ(0, status);
	}
	pmu_write_number(ACCESS, access);
}

/* --- an event of this thread --- */

FIXTURE(reader) {
	struct riscv_pmu_reader reader;
	struct perf_event_attr attr;
	bool direct;
	long access;
};

FIXTURE_SETUP(reader)
{
	self->access = pmu_read_number(ACCESS);
	pmu_write_number(ACCESS, 1);
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->attr.disabled = 0;
	self->direct = can_read_directly();
	ASSERT_EQ(0, riscv_pmu_reader_open(&self->reader, &self->attr, -1));
}

FIXTURE_TEARDOWN(reader)
{
	if (self->reader.fd >= 0)
		riscv_pmu_reader_close(&self->reader);
	pmu_write_number(ACCESS, self->access);
}

/*
 * The reader converts the time CSR to ns from another origin than the kernel's clock; each
 * conversion rounds down, so the results may differ by 1 ns.
 */
#define EXPECT_NOT_BEFORE(earlier, later)					\
do {										\
	EXPECT_LE((earlier).value, (later).value);				\
	EXPECT_LE((earlier).enabled, (later).enabled + 1);			\
	EXPECT_LE((earlier).running, (later).running + 1);			\
} while (0)

/* Reads by the reader between two reads by system calls. Returns how many were from the page. */
static long check_reads(struct __test_metadata *_metadata, const struct riscv_pmu_reader *reader,
			long reads)
{
	struct riscv_pmu_count before, count, after;
	struct riscv_pmu_snapshot snapshot;
	long direct = 0;

	for (long i = 0; i < reads; i++) {
		ASSERT_EQ((ssize_t)sizeof(before), read(reader->fd, &before, sizeof(before)));
		ASSERT_EQ(0, riscv_pmu_reader_read(reader, &count));
		direct += riscv_pmu_reader_snapshot(reader, &snapshot);
		ASSERT_EQ((ssize_t)sizeof(after), read(reader->fd, &after, sizeof(after)));
		EXPECT_NOT_BEFORE(before, count);
		EXPECT_NOT_BEFORE(count, after);
	}
	return direct;
}

TEST_F(reader, counts_and_times_are_between_two_system_calls)
{
	long direct = check_reads(_metadata, &self->reader, 10000);
	struct riscv_pmu_count count;

	if (self->direct)
		EXPECT_LT(9000, direct);
	ASSERT_EQ(0, riscv_pmu_reader_read(&self->reader, &count));
	EXPECT_NE(0UL, count.running);
	EXPECT_GE(count.enabled, count.running);
}

TEST_F(reader, a_disabled_event_is_read_by_a_system_call)
{
	struct riscv_pmu_count first, second;

	pmu_loop(N);
	ASSERT_EQ(0, ioctl(self->reader.fd, PERF_EVENT_IOC_DISABLE, 0));
	ASSERT_EQ(0, riscv_pmu_reader_read(&self->reader, &first));
	pmu_loop(N);
	ASSERT_EQ(0, riscv_pmu_reader_read(&self->reader, &second));
	EXPECT_EQ(first.value, second.value);
	EXPECT_EQ(first.running, second.running);
	EXPECT_LE(pmu_least(N), (int64_t)first.value);
}

/* An exclusive event shares no counter and tolerates no other event beside it. */
static int open_rival(const struct perf_event_attr *like)
{
	struct perf_event_attr attr = *like;

	attr.exclusive = 1;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	return pmu_open(&attr);
}

TEST_F(reader, times_tell_how_long_an_event_was_multiplexed)
{
	int rival = open_rival(&self->attr);
	struct riscv_pmu_count count;

	ASSERT_LE(0, rival);
	for (double end = now() + 1; now() < end;)
		check_reads(_metadata, &self->reader, 100);
	ASSERT_EQ(0, riscv_pmu_reader_read(&self->reader, &count));
	EXPECT_NE(0UL, count.running);
	/* They take turns, so each has about half of the time. */
	EXPECT_LT(count.running, count.enabled / 4 * 3);
	EXPECT_LT(count.value + count.value / 3, riscv_pmu_scale(&count));
	close(rival);
}

TEST(scale_estimates_the_count)
{
	struct riscv_pmu_count count = { .value = 1000, .enabled = 300, .running = 100 };

	EXPECT_EQ(3000UL, riscv_pmu_scale(&count));
	count.running = 300;
	EXPECT_EQ(1000UL, riscv_pmu_scale(&count));
	count.running = 0;
	EXPECT_EQ(0UL, riscv_pmu_scale(&count));
	count.value = 1ULL << 62;
	count.enabled = 3ULL << 40;
	count.running = 2ULL << 40;
	EXPECT_EQ(3ULL << 61, riscv_pmu_scale(&count));
}

TEST_F(reader, reads_take_few_instructions)
{
	struct riscv_pmu_count first = { 0 }, second = { 0 };

	if (!pmu_is_exact() || !self->direct || !pmu_can_filter())
		SKIP(return, "counts repeat only with -icount, one hart and filters");

	for (int i = 0; i < 3; i++) {
		riscv_pmu_reader_read(&self->reader, &first);
		riscv_pmu_reader_read(&self->reader, &second);
	}
	TH_LOG("%lu instructions", (long)(second.value - first.value));
	EXPECT_GE(READ_INSNS, second.value - first.value);
}

/* --- other threads and processes --- */

struct try {
	const struct riscv_pmu_reader *reader;
	struct riscv_pmu_region *region;
	int err;
};

static void *thread_read(void *arg)
{
	struct try *try = arg;
	struct riscv_pmu_count count;

	for (int i = 0; i < 1000; i++) {
		errno = 0;
		if (riscv_pmu_reader_read(try->reader, &count))
			try->err = errno;
		if (!try->err)
			break;
	}
	if (try->region && !riscv_pmu_region_begin(try->region))
		try->err = 0;
	return NULL;
}

TEST_F(reader, another_thread_gets_eperm)
{
	struct riscv_pmu_region region = RISCV_PMU_REGION(&self->reader, 1);
	struct try try = { .reader = &self->reader, .region = &region };
	pthread_t id;

	ASSERT_EQ(0, pthread_create(&id, NULL, thread_read, &try));
	/* The event counts meanwhile: its page has an index. */
	pmu_loop(10 * N);
	pthread_join(id, NULL);
	EXPECT_EQ(EPERM, try.err);
	EXPECT_EQ(-1, riscv_pmu_region_end(&region));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0UL, region.runs);
}

TEST_F(reader, a_child_process_gets_eperm)
{
	struct riscv_pmu_count count;
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		int err = riscv_pmu_reader_read(&self->reader, &count) ? errno : 0;

		riscv_pmu_reader_close(&self->reader);
		_exit(err);
	}
	waitpid(pid, &status, 0);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(EPERM, WEXITSTATUS(status));
	check_reads(_metadata, &self->reader, 10);
}

/* --- kernels that do not say that reads are safe --- */

/* Hides the capabilities of the PMU from this process. */
static bool hide_sysfs(void)
{
	return !unshare(CLONE_NEWNS) && !mount("", "/", "", MS_REC | MS_PRIVATE, NULL) &&
	       !mount("none", "/sys/bus/event_source", "tmpfs", 0, NULL);
}

TEST(without_sysfs_events_are_read_by_system_calls)
{
	struct perf_event_attr attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct riscv_pmu_reader reader;
	uint64_t count;
	void *page;

	attr.disabled = 0;
	if (!hide_sysfs())
		SKIP(return, "needs the permission to mount");
	ASSERT_EQ(0, riscv_pmu_reader_open(&reader, &attr, -1));
	EXPECT_EQ(0, check_reads(_metadata, &reader, 100));
	page = map(reader.fd);
	ASSERT_NE(NULL, page);
	EXPECT_FALSE(riscv_pmu_read(page, &count));
	unmap(page);
	riscv_pmu_reader_close(&reader);
}

/* --- regions --- */

/* Returns the count of a region that has executed @instructions instructions @runs times. */
static uint64_t __attribute__((noipa)) run_region(struct riscv_pmu_region *region, int runs,
						  long instructions)
{
	struct riscv_pmu_count count = { 0 };

	for (int i = 0; i < runs; i++) {
		riscv_pmu_region_begin(region);
		pmu_loop(instructions);
		riscv_pmu_region_end(region);
	}
	riscv_pmu_region_count(region, 0, &count);
	return riscv_pmu_scale(&count);
}

TEST_F(reader, a_region_counts_what_is_executed_in_it)
{
	struct riscv_pmu_region region = RISCV_PMU_REGION(&self->reader, 1);

	EXPECT_LE(RUNS * (uint64_t)pmu_least(N), run_region(&region, RUNS, N));
	EXPECT_EQ((unsigned long)RUNS, region.runs);
}

/* Returns the least count of a run: that of one without a context switch. */
static uint64_t run_least(const struct riscv_pmu_reader *reader, long instructions)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < RUNS; i++) {
		struct riscv_pmu_region region = RISCV_PMU_REGION(reader, 1);
		uint64_t count = run_region(&region, 1, instructions);

		if (count < least)
			least = count;
	}
	return least;
}

TEST_F(reader, a_region_is_exact)
{
	if (!pmu_is_exact() || !pmu_can_filter())
		SKIP(return, "counts repeat only with -icount, one hart and filters");

	EXPECT_EQ((uint64_t)N / 100,
		  run_least(&self->reader, N / 100) - run_least(&self->reader, 0));
}

/* Returns the instructions of an empty run with this number of events. */
static uint64_t __attribute__((noipa)) run_cost(const struct riscv_pmu_reader *readers, int nr)
{
	struct riscv_pmu_region region = RISCV_PMU_REGION(readers, nr);
	struct riscv_pmu_count before = { 0 }, after = { 0 };

	for (int turn = 0; turn < 2; turn++) {
		riscv_pmu_reader_read(&readers[0], &before);
		for (int i = 0; i < RUNS; i++) {
			riscv_pmu_region_begin(&region);
			riscv_pmu_region_end(&region);
		}
		riscv_pmu_reader_read(&readers[0], &after);
	}
	return (after.value - before.value) / RUNS;
}

TEST_F(reader, a_region_takes_a_hundred_instructions_for_each_event)
{
	struct riscv_pmu_reader readers[2] = { self->reader };
	uint64_t one, two;

	if (!pmu_is_exact() || !self->direct || !pmu_can_filter())
		SKIP(return, "counts repeat only with -icount, one hart and filters");

	ASSERT_EQ(0, riscv_pmu_reader_open(&readers[1], &self->attr, -1));
	one = run_cost(readers, 1);
	two = run_cost(readers, 2);
	TH_LOG("%lu instructions with one event, %lu with two", (long)one, (long)two);
	EXPECT_GE(RUN_INSNS, one);
	EXPECT_GE(one + RUN_EVENT_INSNS, two);
	riscv_pmu_reader_close(&readers[1]);
}

TEST_F(reader, a_region_has_the_times_of_its_runs)
{
	struct riscv_pmu_region region = RISCV_PMU_REGION(&self->reader, 1);
	struct riscv_pmu_count before, after, count;
	int rival = open_rival(&self->attr);

	ASSERT_LE(0, rival);
	ASSERT_EQ(0, riscv_pmu_reader_read(&self->reader, &before));
	for (double end = now() + 1; now() < end;) {
		ASSERT_EQ(0, riscv_pmu_region_begin(&region));
		pmu_loop(N / 10);
		ASSERT_EQ(0, riscv_pmu_region_end(&region));
	}
	ASSERT_EQ(0, riscv_pmu_reader_read(&self->reader, &after));
	ASSERT_EQ(0, riscv_pmu_region_count(&region, 0, &count));
	EXPECT_NE(0UL, count.running);
	EXPECT_LT(count.running, count.enabled);
	EXPECT_LE(count.value, after.value - before.value);
	EXPECT_LE(count.enabled, after.enabled - before.enabled);
	EXPECT_LE(count.running, after.running - before.running);
	close(rival);
}

TEST_F(reader, a_region_refuses_what_it_cannot_measure)
{
	struct riscv_pmu_region none = RISCV_PMU_REGION(&self->reader, 0);
	struct riscv_pmu_region many = RISCV_PMU_REGION(&self->reader, RISCV_PMU_REGION_EVENTS + 1);
	struct riscv_pmu_region one = RISCV_PMU_REGION(&self->reader, 1);
	struct riscv_pmu_count count;

	EXPECT_EQ(-1, riscv_pmu_region_begin(&none));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, riscv_pmu_region_begin(&many));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, riscv_pmu_region_end(&one));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, riscv_pmu_region_count(&one, 1, &count));
	EXPECT_EQ(EINVAL, errno);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
