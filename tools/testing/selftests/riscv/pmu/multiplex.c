// SPDX-License-Identifier: GPL-2.0
/*
 * Multiplexing: if there are more events than counters, perf multiplexes them, and a group that
 * can never be scheduled is refused when it is opened. Most tests use firmware events, because on
 * QEMU only these outnumber their counters: 22 events and 16 counters.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

FIXTURE(multiplex) {
	long ctrs;
	int fd[PMU_FW_NR_DEFINED];
};

FIXTURE_SETUP(multiplex)
{
	self->ctrs = pmu_caps_number("firmware_counters");
	for (int code = 0; code < PMU_FW_NR_DEFINED; code++)
		self->fd[code] = -1;
	if (self->ctrs <= 0 || self->ctrs >= PMU_FW_NR_DEFINED)
		SKIP(return, "needs firmware counters, but fewer than firmware events");
}

FIXTURE_TEARDOWN(multiplex)
{
	for (int code = 0; code < PMU_FW_NR_DEFINED; code++)
		close(self->fd[code]);
}

static int open_code(int code, int leader)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(code));

	attr.disabled = leader < 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return pmu_open_on(&attr, 0, -1, leader);
}

struct times {
	int64_t value, enabled, running;
};

TEST_F(multiplex, as_many_events_as_counters_run_all_the_time)
{
	struct times it;

	for (int code = 0; code < self->ctrs; code++) {
		self->fd[code] = open_code(code, -1);
		ASSERT_LE(0, self->fd[code]);
	}
	pmu_run_all(pmu_loop, 20000000);
	for (int code = 0; code < self->ctrs; code++) {
		ASSERT_EQ((ssize_t)sizeof(it), read(self->fd[code], &it, sizeof(it)));
		EXPECT_LT(0, it.running);
		EXPECT_EQ(it.enabled, it.running);
	}
}

/*
 * perf rotates the events at each tick: 50 times in 200 ms. Each event should run for ctrs / 22 of
 * the time. The test accepts half of that, because the last round may be incomplete.
 */
TEST_F(multiplex, more_events_than_counters_are_multiplexed)
{
	struct times it;
	int multiplexed = 0;

	for (int code = 0; code < PMU_FW_NR_DEFINED; code++) {
		self->fd[code] = open_code(code, -1);
		ASSERT_LE(0, self->fd[code]);
	}
	pmu_run_all(pmu_loop, 200000000);
	for (int code = 0; code < PMU_FW_NR_DEFINED; code++) {
		ASSERT_EQ((ssize_t)sizeof(it), read(self->fd[code], &it, sizeof(it)));
		EXPECT_LT(0, it.running);
		EXPECT_GE(it.enabled, it.running);
		if (pmu_is_exact())
			EXPECT_LE(it.enabled * self->ctrs / PMU_FW_NR_DEFINED / 2, it.running);
		multiplexed += it.running < it.enabled;
	}
	EXPECT_LT(0, multiplexed);
}

TEST_F(multiplex, a_group_that_needs_all_counters_runs_all_the_time)
{
	struct times it;

	for (int code = 0; code < self->ctrs; code++) {
		self->fd[code] = open_code(code, code ? self->fd[0] : -1);
		ASSERT_LE(0, self->fd[code]);
	}
	ASSERT_EQ(0, pmu_run(self->fd[0], PERF_IOC_FLAG_GROUP, pmu_loop, 20000000));
	for (int code = 0; code < self->ctrs; code++) {
		ASSERT_EQ((ssize_t)sizeof(it), read(self->fd[code], &it, sizeof(it)));
		EXPECT_LT(0, it.running);
		EXPECT_EQ(it.enabled, it.running);
	}
}

TEST_F(multiplex, a_group_with_one_event_too_many_gets_einval)
{
	for (int code = 0; code < self->ctrs; code++) {
		self->fd[code] = open_code(code, code ? self->fd[0] : -1);
		ASSERT_LE(0, self->fd[code]);
	}
	EXPECT_EQ(-EINVAL, open_code(self->ctrs, self->fd[0]));
	/* The same event again needs no counter of its own. */
	self->fd[self->ctrs] = open_code(0, self->fd[0]);
	EXPECT_LE(0, self->fd[self->ctrs]);
}

/* --- one event, two filters --- */

static void body_calls(long calls)
{
	while (calls--)
		sched_yield();
}

/*
 * If only one hardware counter can count an event (QEMU 10.0.2), two events with different filters
 * are multiplexed. The count of neither may stay 0.
 */
TEST(an_event_counts_with_two_filters_at_once)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct times it[2];
	int fd[2];

	if (!pmu_can_filter())
		SKIP(return, "counters have no filters (caps/filters)");

	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.exclude_kernel = 1;
	fd[0] = pmu_open(&attr);
	ASSERT_LE(0, fd[0]);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	fd[1] = pmu_open(&attr);
	ASSERT_LE(0, fd[1]);

	/* About 10 ticks, at each of which perf rotates: each event runs 5 times. */
	pmu_run_all(body_calls, 20000);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ((ssize_t)sizeof(*it), read(fd[i], &it[i], sizeof(*it)));
		EXPECT_LT(0, it[i].running);
		EXPECT_LT(0, it[i].value);
		close(fd[i]);
	}
	/* Per unit of running time, a system call executes more in the kernel than in user mode. */
	if (pmu_is_exact())
		EXPECT_LT((double)it[0].value / it[0].running, (double)it[1].value / it[1].running);
}

/* --- a steady load with known counts --- */

#define N		400000000L
#define NR_FILLERS	2
#define NR_GROUPS	(PMU_FW_NR_DEFINED / NR_FILLERS)
#define NR_MEMBERS	(1 + NR_FILLERS)

/*
 * Eleven groups. Each has an event of instructions, for which a counter is always free, and two
 * firmware events, for which it is not. So a group counts instructions only while perf has
 * scheduled it.
 */
FIXTURE(rotation) {
	int fits;		/* groups that have counters at the same time */
	int64_t interval;	/* between two rotations, in ns */
	bool filter;
	bool exact;
	int reference;		/* pinned event of instructions: counts all the time */
	int fd[NR_GROUPS][NR_MEMBERS];
};

FIXTURE_VARIANT(rotation) {
	bool cpu_wide;
};

FIXTURE_VARIANT_ADD(rotation, of_a_task) {
	.cpu_wide = false,
};

FIXTURE_VARIANT_ADD(rotation, of_a_cpu) {
	.cpu_wide = true,
};

static struct perf_event_attr instructions(void)
{
	struct perf_event_attr attr = pmu_can_filter() ?
		pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) :
		pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

/* Pins the task to its current CPU. Returns the number of that CPU, or -1. */
static int pin_here(void)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) ? -1 : cpu;
}

/*
 * Opens one group: an event of instructions as the leader, then the firmware events. Returns false
 * if an event cannot be opened.
 */
static bool open_group(int group, pid_t pid, int cpu, int fd[NR_MEMBERS])
{
	struct perf_event_attr attr = instructions();

	fd[0] = pmu_open_on(&attr, pid, cpu, -1);
	for (int i = 1; i < NR_MEMBERS; i++) {
		attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(group * NR_FILLERS + i - 1));
		attr.read_format = instructions().read_format;
		attr.disabled = 0;
		fd[i] = fd[0] < 0 ? -1 : pmu_open_on(&attr, pid, cpu, fd[0]);
		if (fd[i] < 0)
			return false;
	}

	return fd[0] >= 0;
}

FIXTURE_SETUP(rotation)
{
	struct perf_event_attr attr = instructions();
	int cpu = pin_here();
	pid_t pid = 0;

	self->fits = pmu_caps_number("firmware_counters") / NR_FILLERS;
	if (self->fits <= 0 || self->fits >= NR_GROUPS)
		SKIP(return, "needs firmware counters, but fewer than firmware events");

	ASSERT_LE(0, cpu);
	if (variant->cpu_wide)
		pid = -1;
	else
		cpu = -1;
	self->interval = pmu_read_number(PMU_SYSFS "/perf_event_mux_interval_ms") * 1000000;
	ASSERT_LT(0, self->interval);
	self->filter = pmu_can_filter();
	self->exact = pmu_is_exact();
	attr.pinned = 1;
	self->reference = pmu_open_on(&attr, pid, cpu, -1);
	ASSERT_LE(0, self->reference);
	for (int group = 0; group < NR_GROUPS; group++)
		ASSERT_TRUE(open_group(group, pid, cpu, self->fd[group]));
}

FIXTURE_TEARDOWN(rotation)
{
	close(self->reference);
	for (int group = 0; group < NR_GROUPS; group++) {
		for (int i = 0; i < NR_MEMBERS; i++)
			close(self->fd[group][i]);
	}
}

static bool read_times(int fd, struct times *it)
{
	return read(fd, it, sizeof(*it)) == sizeof(*it);
}

static int64_t scaled(const struct times *it)
{
	return (double)it->value * it->enabled / it->running;
}

#define EXPECT_WITHIN_3_PERCENT(expected, seen)			\
do {								\
	EXPECT_LE((expected) / 100 * 97, seen);			\
	EXPECT_GE((expected) / 100 * 103, seen);		\
} while (0)

TEST_F(rotation, scaled_counts_of_a_steady_load_are_correct)
{
	struct times reference, it;

	ASSERT_EQ(0, pmu_run_all(pmu_loop, N));
	ASSERT_TRUE(read_times(self->reference, &reference));
	EXPECT_EQ(reference.enabled, reference.running);
	EXPECT_LE(pmu_least(N), reference.value);
	for (int group = 0; group < NR_GROUPS; group++) {
		ASSERT_TRUE(read_times(self->fd[group][0], &it));
		EXPECT_LT(0, it.running);
		EXPECT_GT(it.enabled, it.running);
		/* The pinned event shares the counter and runs all the time: it counts no less. */
		if (self->filter)
			EXPECT_GE(reference.value, it.value);
		if (self->exact)
			EXPECT_WITHIN_3_PERCENT(reference.value, scaled(&it));
	}
}

/*
 * Handles SIGILL. Each illegal instruction traps to the firmware, which counts it, and then to the
 * kernel, which sends the signal.
 */
static void skip_instruction(int sig, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	user->uc_mcontext.__gregs[REG_PC] += 4;
}

static void body_illegal(long times)
{
	for (long i = 0; i < times; i++) {
		asm volatile(".4byte 0");
		pmu_loop(10000);
	}
}

TEST_F(rotation, scaled_counts_of_a_firmware_event_are_correct)
{
	const int group = PMU_FW_ILLEGAL_INSN / NR_FILLERS;
	const int member = 1 + PMU_FW_ILLEGAL_INSN % NR_FILLERS;
	struct sigaction act = { .sa_sigaction = skip_instruction, .sa_flags = SA_SIGINFO };
	const int64_t times = self->exact ? 20000 : 5000;
	struct times it;

	ASSERT_EQ(0, sigaction(SIGILL, &act, NULL));
	ASSERT_EQ(0, pmu_run_all(body_illegal, times));
	ASSERT_TRUE(read_times(self->fd[group][member], &it));
	EXPECT_LT(0, it.running);
	EXPECT_GT(it.enabled, it.running);
	EXPECT_LT(0, it.value);
	EXPECT_GE(times, it.value);
	if (self->exact)
		EXPECT_WITHIN_3_PERCENT(times, scaled(&it));
}

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/*
 * At each rotation perf moves the first group of the list to its end. So each group runs for "fits"
 * of NR_GROUPS rotation intervals, and waits for the remaining ones. In an incomplete last round
 * one group may wait for all of its NR_GROUPS - "fits" intervals, and another for none.
 */
TEST_F(rotation, equal_groups_run_for_equal_times)
{
	int64_t least = INT64_MAX, most = 0;
	struct times it;

	ASSERT_EQ(0, pmu_run_all(pmu_loop, N));
	for (int group = 0; group < NR_GROUPS; group++) {
		ASSERT_TRUE(read_times(self->fd[group][0], &it));
		least = it.running < least ? it.running : least;
		most = it.running > most ? it.running : most;
	}
	EXPECT_LT(0, least);
	if (self->exact)
		EXPECT_GE((NR_GROUPS - self->fits) * self->interval, most - least);
}

/*
 * "fits" groups run at any time, except during a rotation, which takes less than 1 % of an
 * interval. If the time of a group were wrong, the sum of the running times would be wrong too.
 */
TEST_F(rotation, times_enabled_and_running_are_correct)
{
	int64_t running = 0, enabled = 0, took = now_ns();
	struct times it;

	ASSERT_EQ(0, pmu_run_all(pmu_loop, N));
	took = now_ns() - took;
	for (int group = 0; group < NR_GROUPS; group++) {
		ASSERT_TRUE(read_times(self->fd[group][0], &it));
		EXPECT_GE(took, it.enabled);
		running += it.running;
		enabled = it.enabled > enabled ? it.enabled : enabled;
		/* Under -icount an instruction takes 1 ns of both times. */
		if (self->exact) {
			EXPECT_LE(N, it.enabled);
			EXPECT_GE(it.running, it.value);
		}
		for (int i = 1; i < NR_MEMBERS; i++) {
			struct times member;

			ASSERT_TRUE(read_times(self->fd[group][i], &member));
			EXPECT_EQ(it.enabled, member.enabled);
			EXPECT_EQ(it.running, member.running);
		}
	}
	EXPECT_GE(self->fits * took, running);
	if (self->exact)
		EXPECT_LE(self->fits * enabled / 100 * 99, running);
}

/* --- pinned and exclusive events --- */

FIXTURE(pinned) {
	long ctrs;
	pid_t pid;
	int cpu;
	int fd[PMU_FW_NR_DEFINED];
};

FIXTURE_VARIANT(pinned) {
	bool cpu_wide;
};

FIXTURE_VARIANT_ADD(pinned, to_a_task) {
	.cpu_wide = false,
};

FIXTURE_VARIANT_ADD(pinned, to_a_cpu) {
	.cpu_wide = true,
};

static int open_on(FIXTURE_DATA(pinned) *self, int code, int leader, bool pinned)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(code));

	attr.disabled = leader < 0;
	attr.pinned = pinned;
	attr.read_format = instructions().read_format;
	return pmu_open_on(&attr, self->pid, self->cpu, leader);
}

/* Opens a pinned group that needs all of the firmware counters. */
FIXTURE_SETUP(pinned)
{
	int cpu = pin_here();

	self->ctrs = pmu_caps_number("firmware_counters");
	if (self->ctrs <= 0 || self->ctrs >= PMU_FW_NR_DEFINED)
		SKIP(return, "needs firmware counters, but fewer than firmware events");

	ASSERT_LE(0, cpu);
	self->pid = variant->cpu_wide ? -1 : 0;
	self->cpu = variant->cpu_wide ? cpu : -1;
	for (int code = 0; code < PMU_FW_NR_DEFINED; code++)
		self->fd[code] = -1;
	for (int code = 0; code < self->ctrs; code++) {
		self->fd[code] = open_on(self, code, code ? self->fd[0] : -1, !code);
		ASSERT_LE(0, self->fd[code]);
	}
}

static void close_pinned(FIXTURE_DATA(pinned) *self)
{
	for (int code = 0; code < self->ctrs; code++) {
		close(self->fd[code]);
		self->fd[code] = -1;
	}
}

FIXTURE_TEARDOWN(pinned)
{
	close_pinned(self);
	for (int code = self->ctrs; code < PMU_FW_NR_DEFINED; code++)
		close(self->fd[code]);
}

TEST_F(pinned, a_pinned_group_runs_all_the_time_and_others_wait)
{
	struct times it;
	int fd = open_on(self, self->ctrs, -1, false);

	ASSERT_LE(0, fd);
	self->fd[self->ctrs] = fd;
	ASSERT_EQ(0, ioctl(self->fd[0], PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N / 4));
	for (int code = 0; code < self->ctrs; code++) {
		ASSERT_TRUE(read_times(self->fd[code], &it));
		EXPECT_LT(0, it.running);
		EXPECT_EQ(it.enabled, it.running);
	}
	ASSERT_TRUE(read_times(fd, &it));
	EXPECT_LT(0, it.enabled);
	EXPECT_EQ(0, it.running);
	EXPECT_EQ(0, it.value);

	/* The event is scheduled after the pinned group is closed. */
	close_pinned(self);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N / 4));
	ASSERT_TRUE(read_times(fd, &it));
	EXPECT_LT(0, it.running);
}

/* perf_event_open(2): read() returns 0 for a pinned event that is in error. */
TEST_F(pinned, a_pinned_event_without_a_counter_is_in_error_state)
{
	struct times it;
	int fd = open_on(self, self->ctrs, -1, true);

	ASSERT_LE(0, fd);
	self->fd[self->ctrs] = fd;
	ASSERT_EQ(0, ioctl(self->fd[0], PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 2));
	EXPECT_EQ(0, read(fd, &it, sizeof(it)));
	/* The pinned group that was opened first still runs all the time. */
	ASSERT_TRUE(read_times(self->fd[0], &it));
	EXPECT_LT(0, it.running);
	EXPECT_EQ(it.enabled, it.running);

	/* Enabling the event makes perf try to schedule it again. */
	close_pinned(self);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N / 4));
	ASSERT_TRUE(read_times(fd, &it));
	EXPECT_LT(0, it.running);
	EXPECT_EQ(it.enabled, it.running);
}

/*
 * The two events are multiplexed although one counter could serve both at once, so no instruction
 * is counted by both. Each runs for half of the time, less at most one interval, because the last
 * interval may be the other's. One event is enabled after the other, so the sum of the running
 * times is compared with the time of the whole window.
 */
TEST(an_exclusive_event_never_runs_with_other_events)
{
	struct perf_event_attr attr = instructions();
	int64_t interval, took;
	struct times alone, other;
	int fd[2];

	interval = pmu_read_number(PMU_SYSFS "/perf_event_mux_interval_ms") * 1000000;
	ASSERT_LT(0, interval);
	attr.exclusive = 1;
	fd[0] = pmu_open(&attr);
	attr.exclusive = 0;
	fd[1] = pmu_open(&attr);
	took = now_ns();
	ASSERT_EQ(0, pmu_run_all(pmu_loop, N / 2));
	took = now_ns() - took;
	ASSERT_TRUE(read_times(fd[0], &alone));
	ASSERT_TRUE(read_times(fd[1], &other));
	EXPECT_LT(0, alone.running);
	EXPECT_LT(0, other.running);
	EXPECT_GE(took, alone.running + other.running);
	if (pmu_is_exact() && pmu_can_filter()) {
		EXPECT_GE(N / 2 + PMU_WINDOW_INSNS, alone.value + other.value);
		EXPECT_LE(N / 2 / 100 * 97, alone.value + other.value);
		EXPECT_LE(alone.enabled / 2 - interval, alone.running);
		EXPECT_LE(other.enabled / 2 - interval, other.running);
	}
	close(fd[0]);
	close(fd[1]);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
