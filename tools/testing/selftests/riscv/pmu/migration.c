// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that move from hart to hart: because they change their affinity, because another task does
 * so, or because harts go offline and online.
 *
 * Two identical events of one task always have equal counts: they share a counter, and a context
 * switch stops and starts both at the same time. The tests find instructions that a move loses or
 * counts twice by counting the task in two ways: with one event on all CPUs, and with one event for
 * each CPU.
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

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * If other events use the counters of a hart when a raw event is opened there, the driver does not
 * know which of these counters can count the raw event. If a counter of the second hart refuses the
 * event, the driver tries the next counter. So the event must run all the time on the second hart,
 * and then on the first hart.
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
		SKIP(return, "needs two harts, and raw events (scripts/guest/boot --raw-events)");

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
	/* On the first hart with the other events, on the second alone, on the first alone. */
	for (int i = 0; i < 3; i++) {
		ASSERT_TRUE(run_on(i % 2));
		if (i == 2) {
			close(busy[0]);
			close(busy[1]);
		}
		/* Expect half of the time, because other tasks may run on the hart meanwhile. */
		took = now_ns();
		ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 20 * N));
		took = now_ns() - took;
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
	int per_cpu[MAX_CPUS];	/* the task's event on each CPU */
	int all_cpus;		/* the task's event wherever it runs */
};

FIXTURE_SETUP(moving)
{
	self->attr = instructions();
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(self->all), &self->all));
	self->cpus = CPU_COUNT(&self->all);
	if (self->cpus < 2 || self->cpus > MAX_CPUS)
		SKIP(return, "needs 2 to 16 CPUs");
	for (int cpu = 0; cpu < self->cpus; cpu++)
		ASSERT_TRUE(CPU_ISSET(cpu, &self->all));
}

FIXTURE_TEARDOWN(moving)
{
	for (int cpu = 0; cpu < self->cpus; cpu++)
		close(self->per_cpu[cpu]);
	close(self->all_cpus);
}

/*
 * Opens an event for each CPU and one for all CPUs, and enables all of them while the task is
 * stopped, so that they start at the same time. Returns 0, -errno or -1.
 */
static int open_moving(FIXTURE_DATA(moving) *self, pid_t pid)
{
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		self->per_cpu[cpu] = pmu_open_on(&self->attr, pid, cpu, -1);
		if (self->per_cpu[cpu] < 0)
			return self->per_cpu[cpu];
	}
	self->all_cpus = pmu_open_on(&self->attr, pid, -1, -1);
	if (self->all_cpus < 0)
		return self->all_cpus;

	return prctl(PR_TASK_PERF_EVENTS_ENABLE);
}

static int64_t sum_of_cpus(FIXTURE_DATA(moving) *self)
{
	int64_t sum = 0;

	for (int cpu = 0; cpu < self->cpus; cpu++)
		sum += pmu_read(self->per_cpu[cpu]);
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

/* The task executes MOVES / cpus loops of 100 000 instructions on each CPU. */
TEST_F(moving, the_count_of_a_moving_task_is_the_sum_of_all_harts)
{
	pid_t pid = spawn_stopped(body_move, N / 10);

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, open_moving(self, pid));
	ASSERT_TRUE(run_to_end(pid));
	EXPECT_LE(pmu_least(MOVES * N / 10), pmu_read(self->all_cpus));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->all_cpus));
	for (int cpu = 0; cpu < self->cpus; cpu++)
		EXPECT_LE(pmu_least(MOVES / self->cpus * N / 10), pmu_read(self->per_cpu[cpu]));
}

static bool move_until_exit(pid_t pid, int cpus)
{
	int status = 0;

	for (int i = 0; !waitpid(pid, &status, WNOHANG); i++) {
		pin(pid, i % cpus);
		sleep_ms(1);
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Another task changes the affinity, so the task moves at any point of its execution. */
TEST_F(moving, a_task_moved_by_another_task_loses_no_instructions)
{
	pid_t pid = spawn_stopped(pmu_loop, 200 * N);
	int used = 0;

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, open_moving(self, pid));
	kill(pid, SIGCONT);
	ASSERT_TRUE(move_until_exit(pid, self->cpus));
	EXPECT_LE(pmu_least(200 * N), pmu_read(self->all_cpus));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->all_cpus));
	for (int cpu = 0; cpu < self->cpus; cpu++)
		used += pmu_read(self->per_cpu[cpu]) > 0;
	EXPECT_EQ(self->cpus, used);
}

/* --- CPU hotplug --- */

#define ONLINE		"/sys/devices/system/cpu/cpu%d/online"
/* Default number of rounds, if RISCV_PMU_HOTPLUG_ROUNDS is not set. */
#define ROUNDS		20
#define SAMPLE_PERIOD	100000

/*
 * A hart that is stopping is "stop pending" for some time (SBI, HSM extension), during which it
 * cannot be started. Linux does not wait for its end. One second is more than enough for that.
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

/* Moves from CPU to CPU forever. If a CPU is offline, the task stays on its current one. */
static void body_move_forever(long arg)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned int i = getpid(); ; i++) {
		pin(0, i % cpus);
		pmu_loop(arg);
	}
}

/*
 * One task for each hart, which moves all the time and is sampled. If a hart loses instructions
 * when it goes offline, or counts some twice when it is online again, then the sum of the CPUs'
 * counts is too low or too high.
 */
struct load {
	int workers;
	pid_t pid[MAX_CPUS];
	int sampled[MAX_CPUS];
	struct pmu_ring ring[MAX_CPUS];
};

static bool start_worker(FIXTURE_DATA(moving) *self, struct load *load, int i)
{
	struct perf_event_attr attr = self->attr;

	load->pid[i] = spawn_stopped(body_move_forever, N / 10);
	attr.disabled = 0;
	attr.sample_type = PMU_RING_SAMPLE;
	attr.sample_period = SAMPLE_PERIOD;
	load->sampled[i] = pmu_can_sample() ? pmu_open_on(&attr, load->pid[i], -1, -1) : -1;
	return load->pid[i] > 0 && (!pmu_can_sample() ||
	       (load->sampled[i] >= 0 && !pmu_ring_map(&load->ring[i], load->sampled[i])));
}

/* Takes all harts but the first one offline, then online. Returns the number of failures. */
static int offline_and_online_harts(int cpus)
{
	int failed = 0;

	for (int cpu = 1; cpu < cpus; cpu++)
		failed += !set_online(cpu, 0);
	for (int cpu = 1; cpu < cpus; cpu++)
		failed += !set_online(cpu, 1);
	return failed;
}

TEST_F_TIMEOUT(moving, harts_go_offline_and_online_under_load, 600)
{
	const char *rounds = getenv("RISCV_PMU_HOTPLUG_ROUNDS");
	struct load load = { .workers = self->cpus };
	int failed = 0;

	for (int i = 0; i < load.workers; i++)
		ASSERT_TRUE(start_worker(self, &load, i));
	/* The first task is counted in two ways. */
	ASSERT_EQ(0, open_moving(self, load.pid[0]));
	for (int i = 0; i < load.workers; i++)
		kill(load.pid[i], SIGCONT);
	for (int i = rounds ? atoi(rounds) : ROUNDS; i && !failed; i--) {
		failed = offline_and_online_harts(self->cpus);
		for (int j = 0; j < load.workers && pmu_can_sample(); j++)
			pmu_ring_drain(&load.ring[j], NULL, NULL);
	}
	EXPECT_EQ(0, failed);
	for (int i = 0; i < load.workers; i++)
		pmu_kill(load.pid[i]);

	EXPECT_LT(0, pmu_read(self->all_cpus));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->all_cpus));
	for (int i = 0; i < load.workers && pmu_can_sample(); i++) {
		pmu_ring_drain(&load.ring[i], NULL, NULL);
		EXPECT_LT(0, load.ring[i].samples);
		EXPECT_FALSE(load.ring[i].broken);
		pmu_ring_unmap(&load.ring[i]);
		close(load.sampled[i]);
	}
}

/* All events of a group run on the same hart, or none of them runs. */
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
		self->per_cpu[cpu] = -1;
	self->all_cpus = -1;
}

/* Taking a hart offline needs firmware calls, so they are allowed if there are several harts. */
PMU_TEST_NO_EVENT_LEFT(sysconf(_SC_NPROCESSORS_CONF) > 1 ? PMU_MAY_CALL_SBI : PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
