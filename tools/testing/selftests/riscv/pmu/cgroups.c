// SPDX-License-Identifier: GPL-2.0
/*
 * Events of cgroups: an event counts the processes that are in its cgroup or in a cgroup
 * inside it, while they are there, and no other process.
 *
 * Two events that count the same task share a counter and are switched at the same
 * instant, so where the hart can filter, the count of a cgroup equals that of its only
 * process.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/watch.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP		CGROUP_ROOT "/riscv-pmu"

static const char *const cgroup_paths[] = { CGROUP, CGROUP "/inner", CGROUP "-other" };

#define NR_CGROUPS	ARRAY_SIZE(cgroup_paths)

/* Indices of cgroup_paths */
enum { OUTER, INNER, OTHER };

FIXTURE(cgroup) {
	struct perf_event_attr attr;
	bool filter;
	bool exact;
	int cpu;
	int dir[NR_CGROUPS];
	pid_t outsider;		/* in no cgroup of ours; never sleeps */
};

static bool cgroup_join(const char *path, pid_t pid)
{
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	return pmu_write_number(file, pid);
}

static bool cgroup_control(const char *sign, const char *controller)
{
	FILE *file = fopen(CGROUP_ROOT "/cgroup.subtree_control", "w");
	bool ok;

	if (!file)
		return false;

	ok = fprintf(file, "%s%s\n", sign, controller) > 0;
	return !fclose(file) && ok;
}

/*
 * perf's controller needs no enabling, but before Linux (6.12) has been told
 * to enable any other in the root, perf_event_open() of a new cgroup is ENOENT.
 */
static bool cgroup_enable_perf(void)
{
	char text[PMU_TEXT];

	pmu_read_line(CGROUP_ROOT "/cgroup.subtree_control", text);
	if (text[0])
		return true;

	pmu_read_line(CGROUP_ROOT "/cgroup.controllers", text);
	text[strcspn(text, " ")] = '\0';
	return cgroup_control("+", text) && cgroup_control("-", text);
}

static void remove_cgroups(void)
{
	rmdir(cgroup_paths[INNER]);
	rmdir(cgroup_paths[OUTER]);
	rmdir(cgroup_paths[OTHER]);
}

FIXTURE_SETUP(cgroup)
{
	/* A skipped set-up has no teardown: nothing may be changed before. */
	if (access(CGROUP_ROOT "/cgroup.procs", W_OK))
		SKIP(return, "needs cgroup2 on " CGROUP_ROOT);

	self->filter = pmu_can_filter();
	self->exact = self->filter && pmu_is_exact();
	self->attr = instructions();
	self->cpu = sched_getcpu();
	ASSERT_EQ(0, pin(0, self->cpu));
	ASSERT_TRUE(cgroup_enable_perf());
	remove_cgroups();
	for (size_t i = 0; i < NR_CGROUPS; i++) {
		ASSERT_EQ(0, mkdir(cgroup_paths[i], 0755));
		self->dir[i] = open(cgroup_paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT_LE(0, self->dir[i]);
	}
	self->outsider = spawn_spinner();
	ASSERT_LT(0, self->outsider);
}

FIXTURE_TEARDOWN(cgroup)
{
	pmu_kill(self->outsider);
	for (size_t i = 0; i < NR_CGROUPS; i++)
		close(self->dir[i]);
	remove_cgroups();
}

static int open_cgroup(FIXTURE_DATA(cgroup) *self, int which)
{
	long fd = syscall(__NR_perf_event_open, &self->attr, self->dir[which], self->cpu, -1,
			  PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

TEST_F(cgroup, a_cgroup_without_processes_counts_nothing)
{
	int fd = open_cgroup(self, OUTER);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 20 * N));
	EXPECT_EQ(0, pmu_read(fd));
	close(fd);
}

struct pair {
	int64_t group;	/* counted for the cgroup */
	int64_t task;	/* counted for its only process */
};

/* A process of arg instructions in the cgroup @in, counted for the cgroup @of. */
static bool count_cgroup(FIXTURE_DATA(cgroup) *self, int in, int of, long arg, struct pair *pair)
{
	pid_t pid = spawn_stopped(pmu_loop, arg);
	bool joined = cgroup_join(cgroup_paths[in], pid);
	int group = open_cgroup(self, of);
	int task = pmu_open_on(&self->attr, pid, -1, -1);
	bool ended;

	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	ended = run_to_end(pid);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	pair->group = pmu_read(group);
	pair->task = pmu_read(task);
	close(task);
	close(group);
	return joined && ended && group >= 0 && task >= 0;
}

/* The process takes turns with the outsider, and with the test itself. */
TEST_F(cgroup, a_cgroup_counts_its_process_and_nobody_else)
{
	struct pair empty, pair;

	ASSERT_TRUE(count_cgroup(self, OUTER, OUTER, 0, &empty));
	ASSERT_TRUE(count_cgroup(self, OUTER, OUTER, 20 * N, &pair));
	EXPECT_COUNT(20 * N, pair.group - (self->exact ? empty.group : 0));
	if (self->filter)
		EXPECT_EQ(pair.task, pair.group);
}

TEST_F(cgroup, a_cgroup_counts_those_inside_it_too)
{
	struct pair empty, pair;

	ASSERT_TRUE(count_cgroup(self, INNER, OUTER, 0, &empty));
	ASSERT_TRUE(count_cgroup(self, INNER, OUTER, 20 * N, &pair));
	EXPECT_COUNT(20 * N, pair.group - (self->exact ? empty.group : 0));
	if (self->filter)
		EXPECT_EQ(pair.task, pair.group);
}

TEST_F(cgroup, a_cgroup_counts_neither_the_one_around_it_nor_the_one_beside_it)
{
	struct pair pair;

	ASSERT_TRUE(count_cgroup(self, OUTER, INNER, 20 * N, &pair));
	EXPECT_EQ(0, pair.group);
	EXPECT_LE(pmu_least(20 * N), pair.task);
	ASSERT_TRUE(count_cgroup(self, OUTER, OTHER, 20 * N, &pair));
	EXPECT_EQ(0, pair.group);
	EXPECT_LE(pmu_least(20 * N), pair.task);
}

/*
 * While the test sleeps 40 ms, the CPU has the process and the outsider to run:
 * 20 ms for each. One may be ahead of the other by some ticks of 4 ms, so half
 * of that is asked for.
 */
TEST_F(cgroup, a_process_is_counted_while_it_is_a_member)
{
	pid_t pid = spawn_spinner();
	int fd = open_cgroup(self, OUTER);
	int64_t count;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	sleep_ms(40);
	EXPECT_EQ(0, pmu_read(fd));

	ASSERT_TRUE(cgroup_join(CGROUP, pid));
	sleep_ms(40);
	EXPECT_LT(0, wait_counting(fd));
	ASSERT_TRUE(cgroup_join(CGROUP_ROOT, pid));
	count = pmu_read(fd);
	if (self->exact)
		EXPECT_LE(10 * N, count);

	sleep_ms(40);
	EXPECT_EQ(count, pmu_read(fd));
	close(fd);
	pmu_kill(pid);
}

/* Each of the two has a task of its own; they take turns, and share the counter. */
TEST_F(cgroup, two_cgroups_with_the_same_event_each_count_their_own)
{
	static const int which[] = { OUTER, OTHER };
	int group[2], task[2];
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = spawn_stopped(pmu_loop, (i + 1) * 20 * N);
		ASSERT_TRUE(cgroup_join(cgroup_paths[which[i]], pid[i]));
		group[i] = open_cgroup(self, which[i]);
		task[i] = pmu_open_on(&self->attr, pid[i], -1, -1);
		ASSERT_LE(0, group[i]);
		ASSERT_LE(0, task[i]);
	}
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	kill(pid[0], SIGCONT);
	for (int i = 1; i >= 0; i--)
		ASSERT_TRUE(run_to_end(pid[i]));
	for (int i = 0; i < 2; i++) {
		EXPECT_LE(pmu_least((i + 1) * 20 * N), pmu_read(group[i]));
		if (self->filter)
			EXPECT_EQ(pmu_read(task[i]), pmu_read(group[i]));
		close(task[i]);
		close(group[i]);
	}
}

/* As in migration.c, which takes harts down. */
PMU_TEST_NO_EVENT_LEFT(sysconf(_SC_NPROCESSORS_CONF) > 1 ? PMU_MAY_CALL_SBI : PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
