// SPDX-License-Identifier: GPL-2.0
/*
 * Tests that every instruction of a task, of its children if the event is inherited, or of a CPU
 * is counted once.
 *
 * If counts are exact (pmu_is_exact()), a loop of n instructions counts n more than an empty
 * loop. Otherwise only the minimum of its count is known (pmu_least()).
 */

#define _GNU_SOURCE
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define N	1000000L

FIXTURE(counting) {
	struct perf_event_attr attr;
	bool exact;
	int fd;
};

FIXTURE_VARIANT(counting) {
	uint64_t config;
};

FIXTURE_VARIANT_ADD(counting, cycles) {
	.config = PERF_COUNT_HW_CPU_CYCLES,
};

FIXTURE_VARIANT_ADD(counting, instructions) {
	.config = PERF_COUNT_HW_INSTRUCTIONS,
};

/* User mode only, if the hart can filter: otherwise kernel instructions disturb the count. */
FIXTURE_SETUP(counting)
{
	bool filter = pmu_can_filter();

	self->attr = filter ? pmu_attr_user(PERF_TYPE_HARDWARE, variant->config) :
			      pmu_attr(PERF_TYPE_HARDWARE, variant->config);
	self->exact = filter && pmu_is_exact();
	self->fd = pmu_open(&self->attr);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(counting)
{
	close(self->fd);
}

#define EXPECT_COUNT(n, count)				\
do {							\
	if (self->exact) {				\
		EXPECT_EQ(n, count);			\
	} else {					\
		EXPECT_LE(pmu_least(n), count);		\
	}						\
} while (0)

/*
 * Without a filter, the number of kernel instructions varies between windows by more than the
 * length of a short loop.
 */
TEST_F(counting, a_loop_of_n_instructions_counts_n)
{
	static const long lengths[] = { 2, 1000, 100000, 10000000, 100000000 };

	pmu_count(self->fd, pmu_loop, 2);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		int64_t empty = pmu_count(self->fd, pmu_loop, 0);
		int64_t count = pmu_count(self->fd, pmu_loop, lengths[i]);

		EXPECT_COUNT(lengths[i], self->exact ? count - empty : count);
	}
}

TEST_F(counting, an_empty_window_counts_its_own_instructions)
{
	if (!self->exact)
		SKIP(return, "needs filters, -icount and one hart: otherwise counts are not exact");

	pmu_count(self->fd, pmu_loop, 0);
	EXPECT_EQ(PMU_WINDOW_INSNS, pmu_count(self->fd, pmu_loop, 0));
}

TEST_F(counting, an_event_opened_enabled_counts_at_once)
{
	int64_t before;
	int fd;

	self->attr.disabled = 0;
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	before = pmu_read(fd);
	pmu_loop(N);
	EXPECT_LE(before + pmu_least(N), pmu_read(fd));
	close(fd);
}

TEST_F(counting, two_identical_events_of_a_task_count_the_same)
{
	int64_t a, b, empty;
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run_all(pmu_loop, 0));
	empty = pmu_read(fd);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ioctl(self->fd, PERF_EVENT_IOC_RESET, 0);
	ASSERT_EQ(0, pmu_run_all(pmu_loop, N));
	a = pmu_read(self->fd);
	b = pmu_read(fd);
	EXPECT_COUNT(N, self->exact ? a - empty : a);
	EXPECT_COUNT(N, self->exact ? b - empty : b);
	if (self->exact)
		EXPECT_EQ(a, b);
	close(fd);
}

/* Eight events need more counters than there are, unless they share one counter. */
TEST_F(counting, eight_identical_events_count_the_whole_time)
{
	int64_t value[3];
	int fd[8];

	self->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (size_t i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = pmu_open(&self->attr);
		ASSERT_LE(0, fd[i]);
	}
	ASSERT_EQ(0, pmu_run_all(pmu_loop, 10 * N));
	for (size_t i = 0; i < ARRAY_SIZE(fd); i++) {
		ASSERT_EQ((ssize_t)sizeof(value), read(fd[i], value, sizeof(value)));
		EXPECT_LE(pmu_least(10 * N), value[0]);
		EXPECT_EQ(value[1], value[2]);
		close(fd[i]);
	}
}

static void body_fork_loop(long arg)
{
	waitpid(pmu_spawn(pmu_loop, arg), NULL, 0);
}

/*
 * Returns the count of a new event while a child runs a loop of @arg instructions. The event is
 * new each time, because PERF_EVENT_IOC_RESET does not reset the counts of children that have
 * exited.
 */
static int64_t count_child(const struct perf_event_attr *attr, long arg)
{
	int fd = pmu_open(attr);
	int64_t count = pmu_count(fd, body_fork_loop, arg);

	close(fd);
	return count;
}

TEST_F(counting, an_inherited_event_counts_the_child_too)
{
	int64_t empty, count;

	self->attr.inherit = 1;
	count_child(&self->attr, 0);
	empty = count_child(&self->attr, 0);
	count = count_child(&self->attr, N);
	EXPECT_COUNT(N, self->exact ? count - empty : count);
}

TEST_F(counting, an_event_without_inherit_does_not_count_the_child)
{
	if (!self->exact)
		SKIP(return, "needs filters, -icount and one hart: otherwise counts are not exact");

	EXPECT_EQ(0, pmu_count_net(self->fd, body_fork_loop, N));
}

/* Executes a program in the directory of this one. */
static void exec_program(const char *name, bool with_argument)
{
	char path[PATH_MAX] = "", file[PATH_MAX + 32];
	char *const argv[] = { file, with_argument ? "long" : NULL, NULL };

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		_exit(126);
	snprintf(file, sizeof(file), "%s/%s", dirname(path), name);
	execv(file, argv);
	_exit(127);
}

/* Counts exec_loop from its first instruction to its last. Returns false if it cannot run. */
static bool count_exec(struct perf_event_attr *attr, bool with_argument, int64_t *count)
{
	int go[2], fd, status = -1;
	char byte = 0;
	pid_t pid;

	if (pipe(go))
		return false;
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) != 1)
			_exit(125);
		exec_program("exec_loop", with_argument);
	}
	fd = pmu_open_on(attr, pid, -1, -1);
	if (write(go[1], &byte, 1) == 1)
		waitpid(pid, &status, 0);
	*count = pmu_read(fd);
	close(fd);
	close(go[0]);
	close(go[1]);
	return fd >= 0 && !status;
}

/*
 * exec_loop.S: 5 instructions up to the branch (a "li" of 1 000 000 is two),
 * one more without an argument, 2 or 1 000 000 in the loop, 3 with the ecall.
 */
TEST_F(counting, enable_on_exec_counts_exactly_the_new_program)
{
	int64_t short_count, long_count;

	self->attr.enable_on_exec = 1;
	ASSERT_TRUE(count_exec(&self->attr, false, &short_count));
	ASSERT_TRUE(count_exec(&self->attr, true, &long_count));
	if (!self->exact) {
		EXPECT_LE(pmu_least(N), long_count);
		return;
	}
	EXPECT_EQ(5 + 1 + 2 + 3, short_count);
	EXPECT_EQ(5 + N + 3, long_count);
}

/* Returns the minimum of five runs, because another task may wake for a moment in some of them. */
static int64_t minimum_count(int fd, long arg)
{
	int64_t minimum = INT64_MAX;

	for (int i = 0; i < 5; i++) {
		int64_t count = pmu_count(fd, pmu_loop, arg);

		minimum = count < minimum ? count : minimum;
	}

	return minimum;
}

TEST_F(counting, a_cpu_wide_event_counts_the_tasks_of_its_cpu)
{
	cpu_set_t all, one;
	int cpu, fd;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	cpu = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	fd = pmu_open_on(&self->attr, -1, cpu, -1);
	ASSERT_LE(0, fd);
	EXPECT_COUNT(N, minimum_count(fd, N) - (self->exact ? minimum_count(fd, 0) : 0));
	close(fd);
	sched_setaffinity(0, sizeof(all), &all);
}

TEST_F(counting, a_cpu_wide_event_does_not_count_another_cpu)
{
	cpu_set_t all, one;
	int fd;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two CPUs");
	if (!pmu_can_filter())
		SKIP(return, "needs filters: the idle loop counts as well");

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	fd = pmu_open_on(&self->attr, -1, 1, -1);
	ASSERT_LE(0, fd);
	/* A daemon that wakes there executes less than a tenth of the loop, or not in each run. */
	EXPECT_GE(10 * N / 10, minimum_count(fd, 10 * N));
	close(fd);
	sched_setaffinity(0, sizeof(all), &all);
}

static void body_loop_on_each_cpu(long arg)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		pmu_loop(arg);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

TEST_F(counting, an_event_counts_on_each_cpu_that_its_task_runs_on)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int64_t count;

	if (cpus < 2)
		SKIP(return, "needs two CPUs");

	count = pmu_count(self->fd, body_loop_on_each_cpu, N);
	EXPECT_LE(pmu_least(cpus * N), count);
}

/*
 * If the event did not count in each time slice of its task, on each hart that the task runs on,
 * the count would be too small.
 */
TEST_F(counting, an_event_follows_its_task_through_context_switches)
{
	int64_t count;
	pid_t pid;
	int fd;

	pid = fork();
	if (!pid) {
		for (;;)
			pmu_loop(N);
	}
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	/* On one CPU, the two tasks alternate; 20 million instructions are at least five ticks. */
	count = pmu_count_net(fd, pmu_loop, 20 * N);
	EXPECT_COUNT(20 * N, count);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(cycles_equal_instructions_under_icount)
{
	struct perf_event_attr cycles = pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr insns = pmu_attr_user(PERF_TYPE_HARDWARE,
						     PERF_COUNT_HW_INSTRUCTIONS);
	int leader, fd;

	if (!pmu_is_exact() || !pmu_can_filter())
		SKIP(return, "needs filters, -icount and one hart");

	leader = pmu_open(&cycles);
	ASSERT_LE(0, leader);
	fd = pmu_open_on(&insns, 0, -1, leader);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(leader, PERF_IOC_FLAG_GROUP, pmu_loop, N));
	EXPECT_LE(N, pmu_read(leader));
	EXPECT_EQ(pmu_read(leader), pmu_read(fd));
	close(fd);
	close(leader);
}

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
