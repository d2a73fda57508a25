// SPDX-License-Identifier: GPL-2.0
/*
 * Settings of a sampling event: its period or frequency, signals and output. Also tests that
 * samples are distributed like the instructions.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/ring.h"
#include "lib/task.h"

/* Number of instructions of a window. It is higher if interrupts are late. */
#define N	(self->exact ? 40000000L : 200000000L)
/* Long enough for polling: 200 us under -icount. */
#define PERIOD	200000

FIXTURE(steering) {
	PMU_MAPPED_MEMBERS;
};

FIXTURE_SETUP(steering)
{
	/* After SKIP in a set-up there is no teardown, so change nothing before it. */
	if (!pmu_can_sample())
		SKIP(return, "this machine does not sample (caps/sampling is none)");

	PMU_MAPPED_SETUP(self, pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS));
	if (pmu_is_legacy())
		self->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = PERIOD;
	self->attr.wakeup_events = 1;
}

FIXTURE_TEARDOWN(steering)
{
	PMU_MAPPED_TEARDOWN(self);
}

#define open_mapped_pages(self, pages)	\
	pmu_mapped_open_warm(&(self)->attr, pages, &(self)->ring, &(self)->fd)
#define open_mapped(self)	open_mapped_pages(self, PMU_RING_PAGES)

#define EXPECT_SAMPLES(events, length, seen)	EXPECT_SAMPLES_SEEN(events, length, seen)

/* --- periods and frequencies --- */

TEST_F(steering, periods_of_ten_million_have_the_right_number_of_samples)
{
	self->attr.sample_period = 10000000;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, 205000000));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_SAMPLES(pmu_read(self->fd), 10000000, self->ring.samples);
	EXPECT_LE(self->ring.periods, pmu_read(self->fd));
}

static void loop_for(double seconds)
{
	for (double began = now(); now() - began < seconds;)
		pmu_loop(20000);
}

/* Returns a time in s that is long enough for 100 samples, and for 60 ticks (HZ=250). */
static double time_for(double rate)
{
	return rate < 400 ? 100 / rate : 0.25;
}

/* Runs for a number of seconds. Returns the number of samples per second. */
static double measure_rate(FIXTURE_DATA(steering) *self, double seconds)
{
	double began = now();

	pmu_ring_drain(&self->ring, NULL, NULL);
	self->ring.samples = 0;
	loop_for(seconds);
	pmu_ring_drain(&self->ring, NULL, NULL);
	return self->ring.samples / (now() - began);
}

#define EXPECT_RATE(expected)						\
do {									\
	double rate = measure_rate(self, time_for(expected));		\
									\
	EXPECT_LE(0.95 * (expected), rate);				\
	EXPECT_GE(1.05 * (expected), rate);				\
	EXPECT_RING_COMPLETE(&self->ring);				\
} while (0)

/*
 * perf adjusts the period at each sample and at each tick, to reach the frequency. After a hundred
 * samples of a steady load it must have reached it. The 5 % are for the steps in which perf adjusts
 * the period, and for the samples at the start and at the end of the measurement, which takes a
 * hundred samples at least.
 */
TEST_F_TIMEOUT(steering, a_frequency_is_met_within_five_percent, 240)
{
	static const int rates[] = { 100, 1000, 4000, 10000 };

	if (!self->exact)
		SKIP(return, "needs -icount and one hart: else interrupts are too late");

	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		/* The driver does not poll often enough for higher frequencies. */
		if (pmu_samples_by_poll() && rates[i] > 4000)
			continue;
		self->attr.freq = 1;
		self->attr.sample_freq = rates[i];
		ASSERT_EQ(0, open_mapped(self));
		ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
		loop_for(time_for(rates[i]));
		EXPECT_RATE(rates[i]);
		close_mapped(self);
	}
}

TEST_F_TIMEOUT(steering, ioc_period_changes_a_frequency, 120)
{
	uint64_t rate = 4000;

	if (!self->exact)
		SKIP(return, "needs -icount and one hart: else interrupts are too late");

	self->attr.freq = 1;
	self->attr.sample_freq = 1000;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_for(time_for(1000));
	EXPECT_RATE(1000);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &rate));
	loop_for(time_for(4000));
	EXPECT_RATE(4000);
}

/*
 * The limit is 500 samples a second, or two in a tick of 4 ms (HZ=250). There are twenty periods of
 * PERIOD in a tick, so perf throttles the event until the next tick. A period of 10 ms
 * unthrottles the event at once, and perf never throttles it with that period.
 */
TEST_F(steering, ioc_period_unthrottles_an_event)
{
	uint64_t period = 10000000;
	int64_t first;

	if (!self->exact)
		SKIP(return, "needs -icount and one hart: else the time of throttling is unknown");

	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 50));
	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_event_max_sample_rate", 500));
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < 1000 && self->ring.throttled == self->ring.unthrottled; i++) {
		pmu_loop(PERIOD / 10);
		pmu_ring_drain(&self->ring, NULL, NULL);
	}
	EXPECT_EQ(self->ring.unthrottled + 1, self->ring.throttled);

	first = pmu_read(self->fd);
	EXPECT_EQ(first, pmu_read(self->fd));
	self->ring.samples = 0;
	self->ring.throttled = 0;
	self->ring.unthrottled = 0;
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	pmu_loop(205000000);
	ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(0, self->ring.throttled);
	EXPECT_EQ(1, self->ring.unthrottled);
	EXPECT_SAMPLES(pmu_read(self->fd) - first, 10000000, self->ring.samples);
}

/* --- several events at the same time --- */

static const struct mixed {
	uint64_t config, period;
} mixed[] = {
	{ PERF_COUNT_HW_INSTRUCTIONS,	PERIOD },
	{ PERF_COUNT_HW_CPU_CYCLES,	3 * PERIOD + 1 },
	{ PERF_COUNT_HW_INSTRUCTIONS,	0 },
	{ PERF_COUNT_HW_INSTRUCTIONS,	2 * PERIOD - 3 },
	{ PERF_COUNT_HW_CPU_CYCLES,	0 },
	{ PERF_COUNT_HW_CPU_CYCLES,	PERIOD + 7 },
	{ PERF_COUNT_HW_INSTRUCTIONS,	10 * PERIOD },
	{ PERF_COUNT_HW_INSTRUCTIONS,	0 },
};

#define MIXED	((int)ARRAY_SIZE(mixed))

/*
 * Each sampling event must have samples for its own period, although some share a counter. Each
 * counting event must have the same count as without the others.
 */
TEST_F(steering, sampling_and_counting_events_do_not_affect_each_other)
{
	struct pmu_ring ring[MIXED];
	int fd[MIXED];

	if (pmu_is_legacy())
		SKIP(return, "the legacy backend has one counter for each of the two events");

	for (int i = 0; i < MIXED; i++) {
		self->attr.config = mixed[i].config;
		self->attr.sample_period = mixed[i].period;
		fd[i] = pmu_open(&self->attr);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, pmu_ring_map_pages(&ring[i], fd[i], 16));
	}
	ASSERT_EQ(0, pmu_run_all(pmu_loop, N));
	for (int i = 0; i < MIXED; i++) {
		int64_t count = pmu_read(fd[i]);

		EXPECT_LE(pmu_least(N), count);
		/* All events count the same window. Without filters, its start and end differ. */
		if (self->exact && pmu_can_filter())
			EXPECT_EQ(N + PMU_WINDOW_INSNS, count);
		pmu_ring_drain(&ring[i], NULL, NULL);
		EXPECT_RING_COMPLETE(&ring[i]);
		EXPECT_LE(ring[i].periods, count);
		if (mixed[i].period) {
			EXPECT_SAMPLES(count, (int64_t)mixed[i].period, ring[i].samples);
		} else {
			EXPECT_EQ(0, ring[i].samples);
		}
		pmu_ring_unmap(&ring[i]);
		close(fd[i]);
	}
}

/* --- signals --- */

#define SIG_DATA	0x5eed00005eedULL
#define TRAP_PERF	6
#define FLAG_ASYNC	1

/* The kernel's siginfo of TRAP_PERF (uapi/asm-generic/siginfo.h), which C libraries do not have. */
struct trap_info {
	int signo, error, code, unused;
	uint64_t addr, data;
	uint32_t type, flags;
};

static volatile sig_atomic_t traps, traps_wrong, traps_async;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	struct trap_info trap;

	memcpy(&trap, info, sizeof(trap));
	traps++;
	traps_wrong += trap.signo != SIGTRAP || trap.code != TRAP_PERF || trap.addr ||
		       trap.data != SIG_DATA || trap.type != PERF_TYPE_HARDWARE;
	traps_async += trap.flags & FLAG_ASYNC;
}

/* The event also counts the signal handler, because that runs in user mode. */
TEST_F(steering, each_period_causes_one_sigtrap)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO }, old;
	int64_t count;

	self->attr.sigtrap = 1;
	self->attr.remove_on_exec = 1;
	self->attr.sig_data = SIG_DATA;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, sigaction(SIGTRAP, &act, &old));
	traps = 0;
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	count = pmu_read(self->fd);
	EXPECT_SAMPLES(count, PERIOD, traps);
	EXPECT_EQ(0, traps_wrong);
	/* The periods end in user mode, so the signals are synchronous. */
	if (self->exact && pmu_can_filter())
		EXPECT_EQ(0, traps_async);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_RING_COMPLETE(&self->ring);
	/* In the kernel, a period may end while a signal is pending; both cause one signal. */
	EXPECT_GE(self->ring.samples, traps);
	if (self->exact && pmu_can_filter())
		EXPECT_EQ(self->ring.samples, traps);
	sigaction(SIGTRAP, &old, NULL);
}

static void body_exec(long arg)
{
	char path[PATH_MAX] = "", file[PATH_MAX + 16];

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0) {
		snprintf(file, sizeof(file), "%s/exec_loop", dirname(path));
		execl(file, file, "long", NULL);
	}
	_exit(127);
}

/* SIGTRAP would kill the new program, which has no handler. */
TEST_F(steering, remove_on_exec_stops_sigtrap_in_the_new_program)
{
	struct sigaction act = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO }, old;
	int status;

	if (!self->exact || !pmu_can_filter())
		SKIP(return, "needs filters and -icount: else a signal may arrive after exec()");

	self->attr.sigtrap = 1;
	self->attr.remove_on_exec = 1;
	self->attr.inherit = 1;
	self->attr.sample_period = 50000;
	ASSERT_EQ(0, sigaction(SIGTRAP, &act, &old));
	self->fd = pmu_open(&self->attr);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_LT(0, waitpid(pmu_spawn(body_exec, 0), &status, 0));
	EXPECT_EQ(0, status);
	ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0);
	sigaction(SIGTRAP, &old, NULL);
}

static volatile sig_atomic_t signals;
static int signal_fd;

static void on_signal_disable(int sig, siginfo_t *info, void *context)
{
	signals++;
	ioctl(signal_fd, PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * Runs until a signal arrives. Without -icount QEMU's interrupt may be late, so this waits for it.
 */
static void loop_until_signal(const FIXTURE_DATA(steering) *self)
{
	pmu_loop(N);
	for (int i = 0; i < 100 && !self->exact && !signals; i++)
		pmu_loop(N);
}

TEST_F(steering, an_event_disabled_in_its_signal_handler_does_not_sample)
{
	struct sigaction act = { .sa_sigaction = on_signal_disable, .sa_flags = SA_SIGINFO };
	int64_t count;

	ASSERT_EQ(0, open_mapped(self));
	signal_fd = self->fd;
	ASSERT_EQ(0, sigaction(SIGRTMIN, &act, NULL));
	ASSERT_EQ(0, fcntl(self->fd, F_SETOWN, getpid()));
	ASSERT_EQ(0, fcntl(self->fd, F_SETSIG, SIGRTMIN));
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_ASYNC));
	for (int round = 1; round <= 10; round++) {
		signals = 0;
		ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
		loop_until_signal(self);
		ASSERT_LE(1, signals);
		count = pmu_read(self->fd);
		pmu_ring_drain(&self->ring, NULL, NULL);
		if (self->exact) {
			EXPECT_EQ(1, signals);
			EXPECT_EQ(round, self->ring.samples);
		}
		self->ring.samples = self->exact ? round : 0;
		pmu_loop(N);
		pmu_ring_drain(&self->ring, NULL, NULL);
		EXPECT_EQ(self->exact ? round : 0, self->ring.samples);
		EXPECT_EQ(count, pmu_read(self->fd));
	}
	EXPECT_RING_COMPLETE(&self->ring);
}

/* --- output --- */

static int64_t read_lost(int fd)
{
	struct { int64_t value, lost; } it;

	return read(fd, &it, sizeof(it)) == sizeof(it) ? it.lost : -1;
}

static int64_t read_value(int fd)
{
	struct { int64_t value, lost; } it;

	return read(fd, &it, sizeof(it)) == sizeof(it) ? it.value : -1;
}

/* A PERF_RECORD_LOST with the number of lost samples precedes the next sample that fits. */
TEST_F(steering, a_full_ring_reports_the_number_of_lost_samples)
{
	int64_t before;

	self->attr.read_format = PERF_FORMAT_LOST;
	ASSERT_EQ(0, open_mapped_pages(self, 1));
	/* 128 samples of 32 bytes fill a page. */
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, 2 * N));
		pmu_ring_drain(&self->ring, NULL, NULL);
	}
	EXPECT_FALSE(self->ring.broken);
	if (self->exact)
		EXPECT_LT(0, self->ring.lost);
	/* Take one more sample into the empty ring; the PERF_RECORD_LOST before it has the rest. */
	before = self->ring.samples;
	for (int i = 0; i < 1000 && self->ring.samples == before; i++) {
		ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, 2 * PERIOD));
		pmu_ring_drain(&self->ring, NULL, NULL);
	}
	EXPECT_EQ(read_lost(self->fd), self->ring.lost);
	EXPECT_EQ(0, self->ring.others);
	EXPECT_SAMPLES(read_value(self->fd), PERIOD, self->ring.samples + self->ring.lost);
}

TEST_F(steering, nothing_is_written_while_output_is_paused)
{
	int64_t count;

	self->attr.read_format = PERF_FORMAT_LOST;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_RING_COMPLETE(&self->ring);
	count = read_value(self->fd);
	EXPECT_SAMPLES(count, PERIOD, self->ring.samples);

	self->ring.samples = 0;
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(0, self->ring.samples);
	EXPECT_LE(count + pmu_least(N), read_value(self->fd));

	/* Samples that are not written while the output is paused count as lost. */
	count = read_value(self->fd) - count;
	EXPECT_SAMPLES(count, PERIOD, read_lost(self->fd));
	count = read_value(self->fd);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(read_value(self->fd) - count, PERIOD, self->ring.samples);
	EXPECT_EQ(read_lost(self->fd), self->ring.lost);
}

/* --- distribution of the samples --- */

struct split {
	int64_t large, small;
};

static void check_split(const struct pmu_sample *sample, void *arg)
{
	struct split *check = arg;

	check->large += sample->ip >= (uintptr_t)pmu_split_large &&
			sample->ip < (uintptr_t)pmu_split_small;
	check->small += sample->ip >= (uintptr_t)pmu_split_small &&
			sample->ip < (uintptr_t)pmu_split_end;
}

#define SAMPLES	10000

/*
 * The period and PMU_SPLIT_TURN, the number of instructions of a loop iteration, are coprime. So
 * PMU_SPLIT_TURN consecutive samples show each instruction of the loop once. Random samples would
 * have a standard deviation of 43 (10 000 samples, three quarters of them in the large part): a
 * difference of 150 (1.5 %) would occur once in 2000 runs.
 */
TEST_F_TIMEOUT(steering, samples_are_distributed_like_the_instructions, 240)
{
	long period = pmu_samples_by_poll() ? 200003 : 9973;
	struct split check = {};
	int64_t quarter;

	if (!self->exact)
		SKIP(return, "needs -icount and one hart: else interrupts are too late");

	self->attr.sample_period = period;
	ASSERT_EQ(0, open_mapped_pages(self, 2 * PMU_RING_PAGES));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_split_loop, SAMPLES * period / PMU_SPLIT_TURN));
	pmu_ring_drain(&self->ring, check_split, &check);
	EXPECT_RING_COMPLETE(&self->ring);
	/*
	 * A hundred samples may be in the 4 instructions of each iteration that are outside the two
	 * parts, or outside the loop.
	 */
	if (pmu_can_filter())
		EXPECT_LE(SAMPLES - 100, check.large + check.small);
	quarter = (check.large + check.small) / 4;
	EXPECT_LE(3 * quarter - 150, check.large);
	EXPECT_GE(3 * quarter + 150, check.large);
	TH_LOG("%ld large, %ld small", (long)check.large, (long)check.small);
}

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
