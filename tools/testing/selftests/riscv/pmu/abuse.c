// SPDX-License-Identifier: GPL-2.0
/*
 * Stress tests: process trees whose children are killed while their events are multiplexed, and
 * processes that make random requests at the same time. Another event has to count correctly
 * meanwhile or afterwards, and no event may be left at the end.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/bundle.h"
#include "lib/ring.h"
#include "lib/task.h"

BUNDLE_FIXTURE(abuse)

/* --- multiplexing while child processes start and exit --- */

/*
 * Opens one pinned event and, if there are firmware counters, 22 firmware events. These are
 * multiplexed, because they do not fit into 16 counters; the pinned event always has a counter.
 * Returns 0, or -1 on failure.
 */
static int open_family(struct bundle *all, struct perf_event_attr attr)
{
	attr.inherit = 1;
	attr.pinned = 1;
	if (bundle_open(all, &attr, -1) < 0)
		return -1;

	for (int i = 0; i < PMU_FW_NR_DEFINED; i++) {
		attr = attr_distinct(NR_HW + i, 0);
		attr.inherit = 1;
		attr.disabled = 1;
		if (pmu_caps_number("firmware_counters") > 0 && bundle_open(all, &attr, -1) < 0)
			return -1;
	}

	return 0;
}

#define CHILDREN	100

/*
 * Runs a child to its end. If @victim, the child stops itself after its loop and is then killed,
 * so that it executes no further instruction.
 */
static void run_child(long arg, bool victim)
{
	pid_t pid = fork();

	if (!pid) {
		pmu_loop(arg);
		if (victim)
			raise(SIGSTOP);
		_exit(0);
	}
	if (victim) {
		waitpid(pid, NULL, WUNTRACED);
		kill(pid, SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

static void body_run_children(long arg)
{
	for (int i = 0; i < CHILDREN; i++)
		run_child(arg, i % 4 == 0);
}

/*
 * Returns the count of the pinned event for body(arg), or -1. It opens new events each time,
 * because PERF_EVENT_IOC_RESET does not reset the counts of children that have exited.
 */
static int64_t count_family(struct bundle *all, const struct perf_event_attr *attr,
			    pmu_body *body, long arg)
{
	bundle_close(all, 0);
	if (open_family(all, *attr) || pmu_run_all(body, arg))
		return -1;

	return read_times(all->fd[0]).value;
}

/*
 * The test does not check which events run, because perf's core determines that for processes
 * that exit within a tick. But if there are more events than counters, not all can run all the
 * time.
 */
#define EXPECT_MULTIPLEXED(all)							\
do {										\
	int64_t waited = 0;							\
										\
	for (int i = 1; i < (all)->nr; i++) {					\
		struct times it = read_times((all)->fd[i]);			\
										\
		EXPECT_LE(0, it.running);					\
		EXPECT_GE(it.enabled, it.running);				\
		waited += it.enabled - it.running;				\
	}									\
	if ((all)->nr - 1 > pmu_caps_number("firmware_counters"))		\
		EXPECT_LT(0, waited);						\
} while (0)

/* The long timeout is for debug kernels on a busy host. */
TEST_F_TIMEOUT(abuse, counts_of_100_children_are_exact_with_multiplexing, 240)
{
	int64_t empty = 0, count;

	if (self->exact) {
		count_family(&self->all, &self->attr, body_run_children, 0);
		empty = count_family(&self->all, &self->attr, body_run_children, 0);
	}
	count = count_family(&self->all, &self->attr, body_run_children, 100000);
	if (self->exact) {
		EXPECT_EQ(CHILDREN * 100000L, count - empty);
	} else {
		EXPECT_LE(pmu_least(CHILDREN * 100000L), count);
	}
	EXPECT_MULTIPLEXED(&self->all);
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->attached, pmu_events_attached());
}

#define KILL_ROUNDS	5

/* Starts eight children at a time, and kills every other one at an arbitrary point. */
static void body_kill_children(long rounds)
{
	pid_t pid[8];

	while (rounds--) {
		for (int i = 0; i < 8; i++)
			pid[i] = pmu_spawn(i & 1 ? body_loop_forever : pmu_loop, 100000);
		for (int i = 1; i < 8; i += 2)
			kill(pid[i], SIGKILL);
		for (int i = 0; i < 8; i++)
			waitpid(pid[i], NULL, 0);
	}
}

TEST_F_TIMEOUT(abuse, killed_children_leave_no_event, 240)
{
	int64_t count = count_family(&self->all, &self->attr, body_kill_children, KILL_ROUNDS);

	/* Four of each eight children run to their end. */
	EXPECT_LE(pmu_least(KILL_ROUNDS * 4 * 100000), count);
	EXPECT_MULTIPLEXED(&self->all);
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->attached, pmu_events_left());
	EXPECT_GE(0, pmu_ctrs_left());
}

/* --- random requests by several processes --- */

#define WORKERS		4
#define WORKER_FDS	12
#define WORKER_STEPS	1000
#define WORKER_TIME	2.5	/* in s: a limit for slow harts */
#define SEED		20240917u

/*
 * A period that never ends: sampling events with it take no sample. In QEMU 10.0.2
 * (target/riscv/pmu.c) the overflow timer of one counter checks both cycles and instructions,
 * and is set again for the counter that has not overflowed. If two counters have no overflow
 * point, it computes expiry times in the past, and loops forever with a lock that the harts
 * need.
 */
#define ENDLESS		0x10000000000ULL	/* 2^40 */

struct worker {
	unsigned int seed;
	long cpus;
	int fd[WORKER_FDS];
	struct pmu_ring ring[WORKER_FDS];
};

static unsigned int worker_random(struct worker *worker, unsigned int below)
{
	return rand_r(&worker->seed) % below;
}

static struct perf_event_attr worker_attr(struct worker *worker)
{
	static const uint64_t periods[] = { 0, ENDLESS };
	struct perf_event_attr attr = attr_distinct(worker_random(worker, NR_ALL), 0);

	if (!worker_random(worker, 5))
		attr = attr_software(worker_random(worker, PERF_COUNT_SW_DUMMY + 1));
	attr.disabled = worker_random(worker, 2);
	attr.inherit = worker_random(worker, 2);
	attr.pinned = !worker_random(worker, 8);
	attr.exclude_hv = worker_random(worker, 2);
	attr.sample_type = PMU_RING_SAMPLE;
	attr.sample_period = periods[worker_random(worker, ARRAY_SIZE(periods))];
	return attr;
}

/*
 * Returns 0 for the errors that random requests can cause: unsupported filters or sampling, no
 * free counter, a leader with another context, an offline CPU. Returns any other errno.
 */
static int worker_unexpected_errno(int fd)
{
	switch (fd) {
	case -EINVAL:
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
		return 0;
	}

	return fd < 0 ? -fd : 0;
}

static int worker_open(struct worker *worker, int i)
{
	struct perf_event_attr attr = worker_attr(worker);
	int leader = worker_random(worker, 3) ? -1 : worker->fd[worker_random(worker, WORKER_FDS)];
	bool of_cpu = !worker_random(worker, 3);

	/* Neither a descriptor that failed to open nor fd[i], which is closed here. */
	if (leader < 0 || leader == worker->fd[i])
		leader = -1;
	pmu_ring_unmap(&worker->ring[i]);
	close(worker->fd[i]);
	worker->fd[i] = pmu_open_on(&attr, of_cpu ? -1 : 0,
				    of_cpu ? (int)worker_random(worker, worker->cpus) : -1, leader);
	return worker_unexpected_errno(worker->fd[i]);
}

static void worker_map(struct worker *worker, int i)
{
	if (!worker->ring[i].page && worker->fd[i] >= 0)
		pmu_ring_map(&worker->ring[i], worker->fd[i]);
	else
		pmu_ring_unmap(&worker->ring[i]);
}

static void worker_ioctl(struct worker *worker, int i)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
	};
	unsigned int what = worker_random(worker, ARRAY_SIZE(requests) + 3);

	if (what < ARRAY_SIZE(requests))
		ioctl(worker->fd[i], requests[what],
		      worker_random(worker, 2) ? PERF_IOC_FLAG_GROUP : 0);
	else if (what == ARRAY_SIZE(requests))
		ioctl(worker->fd[i], PERF_EVENT_IOC_REFRESH, worker_random(worker, 3));
	else if (what == ARRAY_SIZE(requests) + 1)
		set_output(worker->fd[i], worker->fd[worker_random(worker, WORKER_FDS)]);
	else
		set_period(worker->fd[i], ENDLESS << worker_random(worker, 24));
}

static int worker_step(struct worker *worker)
{
	int i = worker_random(worker, WORKER_FDS);
	char text[256];

	switch (worker_random(worker, 16)) {
	case 0 ... 5:
		return worker_open(worker, i);
	case 6 ... 9:
		worker_ioctl(worker, i);
		break;
	case 10:
		worker_map(worker, i);
		break;
	case 11 ... 12:
		if (worker->fd[i] >= 0 && read(worker->fd[i], text, sizeof(text)) < 0)
			return errno;
		break;
	case 13:
		move_to(worker_random(worker, worker->cpus));
		break;
	case 14:
		waitpid(pmu_spawn(pmu_loop, 1000), NULL, 0);
		break;
	default:
		pmu_loop(10000);
	}

	return 0;
}

static void body_worker(long seed)
{
	struct worker worker = { .seed = seed, .cpus = sysconf(_SC_NPROCESSORS_ONLN) };
	double began = now();

	for (int i = 0; i < WORKER_FDS; i++)
		worker.fd[i] = -1;
	for (int step = 0; step < WORKER_STEPS && now() - began < WORKER_TIME; step++) {
		int err = worker_step(&worker);

		if (err)
			_exit(err);
	}
}

/*
 * The limit of the sample rate applies to each event. With 250 samples per second, even all 48
 * events leave enough CPU time for other work.
 */
TEST_F(abuse, random_requests_of_four_processes_leave_no_event)
{
	struct pmu_limits limits;
	pid_t pid[WORKERS];
	int status;

	TH_LOG("seed %u", SEED);
	pmu_limits_save(&limits);
	pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 50);
	pmu_write_number("/proc/sys/kernel/perf_event_max_sample_rate", 250);
	for (int i = 0; i < WORKERS; i++)
		pid[i] = pmu_spawn(body_worker, SEED + i);
	for (int i = 0; i < WORKERS; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status)
			TH_LOG("seed %u: exit status %d", SEED + i, WEXITSTATUS(status));
	}
	pmu_limits_restore(&limits);
	EXPECT_EQ(self->attached, pmu_events_left());
	EXPECT_GE(0, pmu_ctrs_left());
	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
