// SPDX-License-Identifier: GPL-2.0
/*
 * Several identical perf events share one counter, and the count of one must not contain what only
 * another one has counted.
 *
 * All tests run on one CPU. What an event counts there of its own task's user mode does not depend
 * on other tasks, so it is exact if counts are (pmu_is_exact()). If the hart can filter, two events
 * of one task have equal counts: they are enabled and disabled while the kernel runs, which they do
 * not count.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/share.h"

#define NR_SETS		8
#define NR_EVENTS	4

struct count {
	int64_t value, enabled, running;
};

/* The events that each tool opens. Some machines do not have the last two. */
struct set {
	struct perf_event_attr attr[NR_EVENTS];
	int nr;
};

struct result {
	struct count count[NR_EVENTS];
	int64_t switches;	/* involuntary context switches */
	int nr;			/* events that were opened and read */
};

static const struct {
	uint32_t type;
	uint64_t config;
} wanted[NR_EVENTS] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_HW_CACHE, PMU_CACHE(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ,
					PERF_COUNT_HW_CACHE_RESULT_MISS) },
	{ PERF_TYPE_HW_CACHE, PMU_CACHE(PERF_COUNT_HW_CACHE_ITLB, PERF_COUNT_HW_CACHE_OP_READ,
					PERF_COUNT_HW_CACHE_RESULT_MISS) },
};

/*
 * Returns the events that can be opened. If the hart can filter, they count user mode only, so that
 * the kernel does not change the counts.
 */
static struct set make_set(void)
{
	struct set set = {};

	for (int i = 0; i < NR_EVENTS; i++) {
		struct perf_event_attr attr = pmu_can_filter() ?
			pmu_attr_user(wanted[i].type, wanted[i].config) :
			pmu_attr(wanted[i].type, wanted[i].config);

		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		if (!pmu_try(&attr))
			set.attr[set.nr++] = attr;
	}

	return set;
}

/* Returns how many events of the set could be opened. */
static int open_set(const struct set *set, pid_t pid, int cpu, int fd[NR_EVENTS])
{
	int i;

	for (i = 0; i < set->nr; i++) {
		fd[i] = pmu_open_on(&set->attr[i], pid, cpu, -1);
		if (fd[i] < 0)
			break;
	}

	return i;
}

static int read_set(const int fd[NR_EVENTS], int nr, struct count count[NR_EVENTS])
{
	int i;

	for (i = 0; i < nr; i++) {
		if (read(fd[i], &count[i], sizeof(count[i])) != sizeof(count[i]))
			break;
	}

	return i;
}

static void close_set(const int fd[NR_EVENTS], int nr)
{
	for (int i = 0; i < nr; i++)
		close(fd[i]);
}

static pid_t spawn_spinner(void)
{
	pid_t pid = spawn();

	if (!pid) {
		for (;;)
			pmu_loop(N);
	}
	return pid;
}

FIXTURE(sharing) {
	struct set set;
	bool filter;
	bool exact;
	int cpu;
};

FIXTURE_SETUP(sharing)
{
	cpu_set_t one;

	self->filter = pmu_can_filter();
	self->exact = self->filter && pmu_is_exact();
	self->set = make_set();
	ASSERT_LT(0, self->set.nr);
	self->cpu = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(self->cpu, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
}

FIXTURE_TEARDOWN(sharing)
{
}

/* --- several tools at the same time --- */

/*
 * Acts as a tool and its task in one process: opens the events of a set, stops until all other
 * tools are ready, and counts @n instructions.
 */
static void tool_count(const struct set *set, long n, struct result *result)
{
	struct rusage before, after;
	int fd[NR_EVENTS];
	int nr = open_set(set, 0, -1, fd);

	pmu_run_all(pmu_loop, 0);
	for (int i = 0; i < nr; i++)
		ioctl(fd[i], PERF_EVENT_IOC_RESET, 0);
	raise(SIGSTOP);
	getrusage(RUSAGE_SELF, &before);
	pmu_run_all(pmu_loop, n);
	getrusage(RUSAGE_SELF, &after);
	result->switches = after.ru_nivcsw - before.ru_nivcsw;
	result->nr = read_set(fd, nr, result->count);
}

/*
 * Each task runs for 16 to 44 ms under -icount. If other tasks are runnable, a task is preempted at
 * a tick of 4 ms at the latest. So each task must be preempted, or the test has tested nothing.
 * Without -icount, some tasks may end before a tick.
 */
TEST_F(sharing, eight_tools_with_the_same_events_count_their_own_task)
{
	struct result *result = share_memory(NR_SETS * sizeof(*result));
	int64_t switches = 0;
	pid_t pid[NR_SETS];

	ASSERT_NE(NULL, result);
	for (int i = 0; i < NR_SETS; i++) {
		pid[i] = spawn();
		if (!pid[i]) {
			tool_count(&self->set, (i + 4) * 4 * N, &result[i]);
			_exit(0);
		}
		ASSERT_TRUE(wait_stopped(pid[i]));
	}
	for (int i = 0; i < NR_SETS; i++)
		kill(pid[i], SIGCONT);
	for (int i = 0; i < NR_SETS; i++) {
		ASSERT_TRUE(wait_ended(pid[i]));
		ASSERT_EQ(self->set.nr, result[i].nr);
		EXPECT_INSNS((i + 4) * 4 * N, result[i].count[0].value);
		for (int k = 0; k < self->set.nr; k++) {
			EXPECT_LT(0, result[i].count[k].running);
			EXPECT_EQ(result[i].count[k].enabled, result[i].count[k].running);
		}
		if (self->exact)
			EXPECT_LT(0, result[i].switches);
		switches += result[i].switches;
	}
	EXPECT_LT(0, switches);
}

/* Returns the PID of a stopped task, or -1. SIGCONT starts it; it runs @n instructions. */
static pid_t spawn_stopped_task(long n)
{
	pid_t pid = spawn();

	if (!pid) {
		raise(SIGSTOP);
		pmu_loop(n);
		_exit(0);
	}
	return wait_stopped(pid) ? pid : -1;
}

/*
 * Acts as a tool that attaches to @pid: opens and enables its events before the task starts, and
 * reads them after the task has ended.
 */
static void tool_attach(const struct set *set, pid_t pid, struct result *result)
{
	int fd[NR_EVENTS];
	int nr = open_set(set, pid, -1, fd);

	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	raise(SIGSTOP);
	result->nr = read_set(fd, nr, result->count);
}

/* Eight tools count a task of @n instructions from its start to its end. Returns false on error. */
static bool count_with_eight_tools(const struct set *set, long n, struct result result[NR_SETS])
{
	pid_t task = spawn_stopped_task(n);
	pid_t tool[NR_SETS];
	bool ok = task > 0;

	for (int i = 0; i < NR_SETS; i++) {
		tool[i] = spawn();
		if (!tool[i]) {
			tool_attach(set, task, &result[i]);
			_exit(0);
		}
		ok = wait_stopped(tool[i]) && ok;
	}
	kill(task, SIGCONT);
	ok = wait_ended(task) && ok;
	for (int i = 0; i < NR_SETS; i++) {
		kill(tool[i], SIGCONT);
		ok = wait_ended(tool[i]) && ok;
	}

	return ok;
}

/*
 * One task has 32 events, which is more than there are counters. All are enabled before the task
 * starts, are scheduled together, and end with the task, so their counts must be equal.
 */
TEST_F(sharing, eight_tools_attached_to_one_task_count_all_the_time)
{
	struct result *empty = share_memory(NR_SETS * sizeof(*empty));
	struct result *result = share_memory(NR_SETS * sizeof(*result));

	ASSERT_NE(NULL, empty);
	ASSERT_NE(NULL, result);
	ASSERT_TRUE(count_with_eight_tools(&self->set, 0, empty));
	ASSERT_TRUE(count_with_eight_tools(&self->set, 20 * N, result));
	for (int i = 0; i < NR_SETS; i++) {
		ASSERT_EQ(self->set.nr, result[i].nr);
		EXPECT_LE(pmu_least(20 * N), result[i].count[0].value);
		if (self->exact)
			EXPECT_EQ(20 * N, result[i].count[0].value - empty[i].count[0].value);
		for (int k = 0; k < self->set.nr; k++) {
			EXPECT_EQ(result[0].count[k].value, result[i].count[k].value);
			EXPECT_LT(0, result[i].count[k].running);
			EXPECT_EQ(result[i].count[k].enabled, result[i].count[k].running);
		}
	}
}

/* Without filters the kernel is counted too, and events that are enabled later count less of it. */
TEST_F(sharing, eight_cpu_wide_sets_of_events_count_all_the_time)
{
	struct count count[NR_SETS][NR_EVENTS];
	int fd[NR_SETS][NR_EVENTS];

	for (int i = 0; i < NR_SETS; i++)
		ASSERT_EQ(self->set.nr, open_set(&self->set, -1, self->cpu, fd[i]));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, 20 * N));
	for (int i = 0; i < NR_SETS; i++) {
		ASSERT_EQ(self->set.nr, read_set(fd[i], self->set.nr, count[i]));
		close_set(fd[i], self->set.nr);
		EXPECT_LE(pmu_least(20 * N), count[i][0].value);
		for (int k = 0; k < self->set.nr; k++) {
			EXPECT_LT(0, count[i][k].running);
			EXPECT_EQ(count[i][k].enabled, count[i][k].running);
			if (self->filter)
				EXPECT_EQ(count[0][k].value, count[i][k].value);
		}
	}
}

#define NR_PAGES	4096

/*
 * Allocates many pages, stops until SIGCONT, and then reads a word of each page, again and again.
 */
static void spin_missing(void)
{
	static volatile long page[NR_PAGES][4096 / sizeof(long)];

	for (bool ready = false;; ready = true) {
		for (int i = 0; i < NR_PAGES; i++) {
			if (!ready)
				page[i][0] = i;
			(void)page[i][0];
		}
		if (!ready)
			raise(SIGSTOP);
	}
}

/*
 * Each load of the other task misses the TLB: QEMU flushes the TLB at each context switch, and
 * hardware TLBs are smaller than NR_PAGES. So the first round of the other task misses at least
 * NR_PAGES / 2 times. This task loads only four words, for the system call that ends the window,
 * so it misses at most four times, whatever the other task has evicted.
 */
TEST_F(sharing, a_task_event_counts_no_misses_of_another_task)
{
	struct perf_event_attr attr = pmu_attr_user(wanted[2].type, wanted[2].config);
	int other, fd;
	pid_t pid;

	if (!self->filter)
		SKIP(return, "needs filters: without them, the kernel's misses are counted too");
	if (pmu_try(&attr) == -ENOENT)
		SKIP(return, "no event dTLB-load-misses");

	pid = spawn();
	if (!pid)
		spin_missing();
	ASSERT_TRUE(wait_stopped(pid));
	other = pmu_open_on(&attr, pid, -1, -1);
	fd = pmu_open(&attr);
	ASSERT_LE(0, other);
	ASSERT_LE(0, fd);
	kill(pid, SIGCONT);
	ASSERT_EQ(0, pmu_run_all(pmu_loop, 100 * N));
	EXPECT_GE(4, pmu_read(fd));
	pmu_kill(pid);
	EXPECT_LE(NR_PAGES / 2, pmu_read(other));
	close(other);
	close(fd);
}

/* --- two identical events do not affect each other --- */

FIXTURE(identical) {
	struct perf_event_attr attr;
	bool exact;
	int running;	/* always enabled */
	int fd;		/* the same event, disabled */
};

FIXTURE_SETUP(identical)
{
	bool filter = pmu_can_filter();

	self->exact = filter && pmu_is_exact();
	self->attr = filter ? pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) :
			      pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->running = pmu_open(&self->attr);
	ASSERT_LE(0, self->running);
	self->fd = pmu_open(&self->attr);
	ASSERT_LE(0, self->fd);
	pmu_count(self->fd, pmu_loop, 2);
	ioctl(self->fd, PERF_EVENT_IOC_RESET, 0);
	ASSERT_EQ(0, ioctl(self->running, PERF_EVENT_IOC_ENABLE, 0));
	pmu_loop(10 * N);
}

FIXTURE_TEARDOWN(identical)
{
	close(self->fd);
	close(self->running);
}

TEST_F(identical, an_event_opened_later_starts_at_zero)
{
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, pmu_read(fd));
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	EXPECT_INSNS(N, pmu_read(fd));
	close(fd);
}

/* Fewer than a thousand instructions are between the end of open() and the start of read(). */
TEST_F(identical, an_event_opened_enabled_starts_at_zero)
{
	int64_t count;
	int fd;

	if (!self->exact)
		SKIP(return, "needs filters, -icount and one hart: else the count is not known");

	self->attr.disabled = 0;
	fd = pmu_open(&self->attr);
	count = pmu_read(fd);
	EXPECT_LT(0, count);
	EXPECT_GE(1000, count);
	close(fd);
}

TEST_F(identical, a_disabled_event_keeps_its_count_while_another_runs)
{
	int64_t before, count;

	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	count = pmu_read(self->fd);
	before = pmu_read(self->running);
	pmu_loop(10 * N);
	EXPECT_EQ(count, pmu_read(self->fd));
	EXPECT_LE(before + pmu_least(10 * N), pmu_read(self->running));
	/* After it is enabled again, it continues from its last count. */
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	EXPECT_INSNS(2 * N + (self->exact ? PMU_WINDOW_INSNS : 0), pmu_read(self->fd));
}

TEST_F(identical, a_reset_of_one_event_does_not_change_the_other)
{
	int64_t before;

	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	ASSERT_EQ(0, ioctl(self->running, PERF_EVENT_IOC_RESET, 0));
	EXPECT_INSNS(N, pmu_read(self->fd));
	/* Its count is less than before the reset, so it was reset, and the other event was not. */
	if (self->exact)
		EXPECT_GT(N, pmu_read(self->running));

	ASSERT_EQ(0, ioctl(self->running, PERF_EVENT_IOC_DISABLE, 0));
	before = pmu_read(self->running);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	EXPECT_EQ(0, pmu_read(self->fd));
	EXPECT_EQ(before, pmu_read(self->running));
}

TEST_F(identical, an_event_still_counts_after_an_identical_one_is_closed)
{
	int64_t before = pmu_read(self->running);

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	close(self->fd);
	self->fd = -1;
	pmu_loop(10 * N);
	EXPECT_LE(before + pmu_least(10 * N), pmu_read(self->running));
}

/*
 * The other task never sleeps, so it gets half of the time. The same event is open for it.
 * 20 million instructions take at least five ticks.
 */
TEST_F(identical, an_event_does_not_count_another_task_with_the_same_event)
{
	pid_t pid = spawn_spinner();
	int other = pmu_open_on(&self->attr, pid, -1, -1);
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(pid, sizeof(one), &one));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	ASSERT_LE(0, other);
	ASSERT_EQ(0, ioctl(other, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, 20 * N));
	EXPECT_INSNS(20 * N, pmu_read(self->fd));
	pmu_kill(pid);
	EXPECT_LE(self->exact ? 4 * N : 1, pmu_read(other));
	close(other);
}

/* --- one program that opens the same event many times --- */

#define MAX_IDENTICAL	100

/*
 * LTP's perf_event_open02 finds the number of counters in this way: it opens one more event until
 * one of them does not run all the time. 64 of these events run at the same time
 * (Documentation/admin-guide/perf/riscv-pmu.rst).
 */
TEST_F(sharing, finding_the_number_of_counters_by_opening_events_ends)
{
	struct perf_event_attr attr = self->set.attr[0];
	int fd[MAX_IDENTICAL], nr = 0;
	bool all_run = true;

	while (all_run && nr < MAX_IDENTICAL) {
		fd[nr] = pmu_open(&attr);
		ASSERT_LE(0, fd[nr]);
		nr++;
		/* Two ticks: an event without a counter is scheduled at the second tick. */
		pmu_run_all(pmu_loop, 10 * N);
		for (int i = 0; i < nr; i++) {
			struct count it;

			ASSERT_EQ((ssize_t)sizeof(it), read(fd[i], &it, sizeof(it)));
			all_run &= it.running == it.enabled;
		}
	}
	close_set(fd, nr);
	EXPECT_EQ(65, nr);
	EXPECT_FALSE(all_run);
}

/*
 * A group with more events than can run at the same time would never run, so opening it must fail.
 * perf's weak groups rely on that.
 */
TEST_F(sharing, a_group_of_too_many_identical_events_gets_einval)
{
	struct perf_event_attr attr = self->set.attr[0];
	int fd[MAX_IDENTICAL], nr;

	attr.read_format = 0;
	for (nr = 0; nr < MAX_IDENTICAL; nr++) {
		attr.disabled = !nr;
		fd[nr] = pmu_open_on(&attr, 0, -1, nr ? fd[0] : -1);
		if (fd[nr] < 0)
			break;
	}
	ASSERT_EQ(64, nr);
	EXPECT_EQ(-EINVAL, fd[nr]);
	EXPECT_LT(0, pmu_count(fd[0], pmu_loop, N));
	close_set(fd, nr);
}

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
