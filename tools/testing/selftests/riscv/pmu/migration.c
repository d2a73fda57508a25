// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that move from hart to hart, by themselves, moved by others, and because harts go
 * down and come up.
 *
 * Two events that watch the same task are equal everywhere: they share a counter, and a
 * context switch takes both off and puts both on at the same instant. So what a move
 * loses or counts twice is found by counting the task in two ways: one event counts it
 * wherever it runs, and one event for each CPU counts it there.
 */

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/watch.h"

#define MAX_CPUS	16

/* --- raw events --- */

FIXTURE(raw) {
	int cpu;
};

FIXTURE_SETUP(raw)
{
	self->cpu = sched_getcpu();
	ASSERT_EQ(0, pin(0, self->cpu));
}

FIXTURE_TEARDOWN(raw)
{
}

static bool run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

static int64_t raw_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * While other events use the counters of the hart on which a raw event is opened, it is unknown
 * which of these can hold it. If a counter of the second hart refuses the event, the driver tries
 * the next counter: the event runs there all the time, and on the first hart afterwards.
 */
TEST_F(raw, a_raw_event_runs_on_each_hart_that_its_task_moves_to)
{
	static const uint64_t events[] = {
		PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
	};
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_RAW(PMU_RAW_MAPPED + 5));
	struct {
		int64_t value, enabled, running;
	} it;
	int64_t took, ran = 0;
	int fd, busy[2];

	if (!pmu_raw_ctrs() || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two harts, and raw events (rig/guest/boot --raw-events)");

	ASSERT_TRUE(run_on(0));
	for (int i = 0; i < 2; i++) {
		struct perf_event_attr other = pmu_attr_user(PERF_TYPE_HARDWARE, events[i]);

		other.disabled = 0;
		busy[i] = pmu_open_on(&other, -1, 0, -1);
		ASSERT_LE(0, busy[i]);
	}
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	/* Beside the others on the first hart, alone on the second, and alone on the first. */
	for (int i = 0; i < 3; i++) {
		ASSERT_TRUE(run_on(i % 2));
		if (i == 2) {
			close(busy[0]);
			close(busy[1]);
		}
		/* Half: other tasks may have the hart meanwhile. */
		took = raw_now();
		ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 20 * N));
		took = raw_now() - took;
		ASSERT_EQ((ssize_t)sizeof(it), read(fd, &it, sizeof(it)));
		EXPECT_EQ(it.enabled, it.running);
		EXPECT_LE(ran + took / 2, it.running);
		ran = it.running;
	}
	close(fd);
}

/* --- from hart to hart --- */

FIXTURE(moving) {
	struct perf_event_attr attr;
	cpu_set_t all;
	int cpus;
	int on[MAX_CPUS];	/* the task's event on each CPU */
	int whole;		/* the task's event wherever it runs */
};

FIXTURE_SETUP(moving)
{
	self->attr = instructions();
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(self->all), &self->all));
	self->cpus = CPU_COUNT(&self->all);
	if (self->cpus < 2 || self->cpus > MAX_CPUS)
		SKIP(return, "needs two CPUs, and not more than 16");
	for (int cpu = 0; cpu < self->cpus; cpu++)
		ASSERT_TRUE(CPU_ISSET(cpu, &self->all));
}

FIXTURE_TEARDOWN(moving)
{
	for (int cpu = 0; cpu < self->cpus; cpu++)
		close(self->on[cpu]);
	close(self->whole);
}

/* All are enabled while the task does not run, so that they begin together. */
static int open_moving(FIXTURE_DATA(moving) *self, pid_t pid)
{
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		self->on[cpu] = pmu_open_on(&self->attr, pid, cpu, -1);
		if (self->on[cpu] < 0)
			return self->on[cpu];
	}
	self->whole = pmu_open_on(&self->attr, pid, -1, -1);
	if (self->whole < 0)
		return self->whole;

	return prctl(PR_TASK_PERF_EVENTS_ENABLE);
}

static int64_t sum_of_cpus(FIXTURE_DATA(moving) *self)
{
	int64_t sum = 0;

	for (int cpu = 0; cpu < self->cpus; cpu++)
		sum += pmu_read(self->on[cpu]);
	return sum;
}

#define MOVES	200

static void body_move(long arg)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 0; i < MOVES; i++) {
		pin(0, i % cpus);
		pmu_loop(arg);
	}
}

/* Each CPU has its part: MOVES / cpus loops of 100 000. */
TEST_F(moving, a_task_counts_what_it_counts_on_each_hart_together)
{
	pid_t pid = spawn_stopped(body_move, N / 10);

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, open_moving(self, pid));
	ASSERT_TRUE(run_to_end(pid));
	EXPECT_LE(pmu_least(MOVES * N / 10), pmu_read(self->whole));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->whole));
	for (int cpu = 0; cpu < self->cpus; cpu++)
		EXPECT_LE(pmu_least(MOVES / self->cpus * N / 10), pmu_read(self->on[cpu]));
}

static bool push_around(pid_t pid, int cpus)
{
	int status = 0;

	for (int i = 0; !waitpid(pid, &status, WNOHANG); i++) {
		pin(pid, i % cpus);
		sleep_ms(1);
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Not where it asks for it, but in the middle of whatever it does. */
TEST_F(moving, a_task_that_is_moved_while_it_runs_loses_nothing)
{
	pid_t pid = spawn_stopped(pmu_loop, 200 * N);
	int moved = 0;

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, open_moving(self, pid));
	kill(pid, SIGCONT);
	ASSERT_TRUE(push_around(pid, self->cpus));
	EXPECT_LE(pmu_least(200 * N), pmu_read(self->whole));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->whole));
	for (int cpu = 0; cpu < self->cpus; cpu++)
		moved += pmu_read(self->on[cpu]) > 0;
	EXPECT_EQ(self->cpus, moved);
}

/* --- harts that come and go --- */

#define ONLINE		"/sys/devices/system/cpu/cpu%d/online"
/* RISCV_PMU_HOTPLUG_ROUNDS says otherwise. */
#define ROUNDS		20
#define SAMPLE_PERIOD	100000

/*
 * A hart that stops is "stop pending" for a while (SBI, HSM extension), which
 * Linux does not wait for, and can not be started then. A second is plenty.
 */
static bool set_online(int cpu, int online)
{
	char path[64];

	snprintf(path, sizeof(path), ONLINE, cpu);
	for (int i = 0; i < 100; i++) {
		if (pmu_write_number(path, online))
			return true;
		sleep_ms(10);
	}
	return false;
}

/* To a hart that there may not be: then it stays where it is. */
static void body_move_forever(long arg)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned int i = getpid(); ; i++) {
		pin(0, i % cpus);
		pmu_loop(arg);
	}
}

/*
 * One for each hart that moves all the time and is sampled. What a hart loses when it
 * goes down, or counts twice when it is back, is missing from the sum of the CPUs, or
 * too much in it.
 */
struct churn {
	int workers;
	pid_t pid[MAX_CPUS];
	int sampled[MAX_CPUS];
	struct pmu_ring ring[MAX_CPUS];
};

static bool start_worker(FIXTURE_DATA(moving) *self, struct churn *churn, int i)
{
	struct perf_event_attr attr = self->attr;

	churn->pid[i] = spawn_stopped(body_move_forever, N / 10);
	attr.disabled = 0;
	attr.sample_type = PMU_RING_SAMPLE;
	attr.sample_period = SAMPLE_PERIOD;
	churn->sampled[i] = pmu_can_sample() ? pmu_open_on(&attr, churn->pid[i], -1, -1) : -1;
	return churn->pid[i] > 0 && (!pmu_can_sample() ||
	       (churn->sampled[i] >= 0 && !pmu_ring_map(&churn->ring[i], churn->sampled[i])));
}

/* All but the first, down and up; how many would not. */
static int turn_harts(int cpus)
{
	int failed = 0;

	for (int cpu = 1; cpu < cpus; cpu++)
		failed += !set_online(cpu, 0);
	for (int cpu = 1; cpu < cpus; cpu++)
		failed += !set_online(cpu, 1);
	return failed;
}

TEST_F_TIMEOUT(moving, harts_go_down_and_come_back_under_load, 600)
{
	const char *rounds = getenv("RISCV_PMU_HOTPLUG_ROUNDS");
	struct churn churn = { .workers = self->cpus };
	int failed = 0;

	for (int i = 0; i < churn.workers; i++)
		ASSERT_TRUE(start_worker(self, &churn, i));
	/* The first is counted in two ways. */
	ASSERT_EQ(0, open_moving(self, churn.pid[0]));
	for (int i = 0; i < churn.workers; i++)
		kill(churn.pid[i], SIGCONT);
	for (int i = rounds ? atoi(rounds) : ROUNDS; i && !failed; i--) {
		failed = turn_harts(self->cpus);
		for (int j = 0; j < churn.workers && pmu_can_sample(); j++)
			pmu_ring_drain(&churn.ring[j], NULL, NULL);
	}
	EXPECT_EQ(0, failed);
	for (int i = 0; i < churn.workers; i++)
		pmu_kill(churn.pid[i]);

	EXPECT_LT(0, pmu_read(self->whole));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->whole));
	for (int i = 0; i < churn.workers && pmu_can_sample(); i++) {
		pmu_ring_drain(&churn.ring[i], NULL, NULL);
		EXPECT_LT(0, churn.ring[i].samples);
		EXPECT_FALSE(churn.ring[i].broken);
		pmu_ring_unmap(&churn.ring[i]);
		close(churn.sampled[i]);
	}
}

/* A group is on the same hart as a whole, or off. */
TEST_F(moving, the_members_of_a_group_move_together)
{
	pid_t pid = spawn_stopped(body_move, N / 10);
	int fd[3];

	ASSERT_LT(0, pid);
	for (int i = 0; i < 3; i++) {
		self->attr.disabled = !i;
		fd[i] = pmu_open_on(&self->attr, pid, -1, i ? fd[0] : -1);
		ASSERT_LE(0, fd[i]);
	}
	ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(run_to_end(pid));
	EXPECT_LE(pmu_least(MOVES * N / 10), pmu_read(fd[0]));
	EXPECT_EQ(pmu_read(fd[0]), pmu_read(fd[1]));
	EXPECT_EQ(pmu_read(fd[0]), pmu_read(fd[2]));
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		self->on[cpu] = -1;
	self->whole = -1;
}

/* Where there is a hart that can be taken down, its firmware is called for that. */
PMU_TEST_AT_LAST(sysconf(_SC_NPROCESSORS_CONF) > 1 ? PMU_MAY_CALL : PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
