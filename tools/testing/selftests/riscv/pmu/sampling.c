// SPDX-License-Identifier: GPL-2.0
/*
 * Tests that there is one sample per period, that none is lost, and that each has the right
 * period, task and address.
 *
 * Events that are counted after the end of a period belong to the next period. So n events
 * cause n / period samples, however late the interrupts are; one more or less because the first
 * period may begin, and the last one end, at any point. If counts are not exact
 * (pmu_is_exact()), QEMU may deliver an interrupt several periods late, and one sample
 * represents these periods: then n / period is the maximum.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/ring.h"
#include "lib/task.h"

/* Instructions of a window. More are needed if interrupts are late. */
#define N	(self->exact ? 10000000L : 200000000L)

FIXTURE(sampling) {
	PMU_MAPPED_MEMBERS;
};

FIXTURE_SETUP(sampling)
{
	/* The harness does not tear down a skipped fixture, so SKIP() precedes all changes. */
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	PMU_MAPPED_SETUP(self, pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS));
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = 100000;
	self->attr.wakeup_events = 1;
}

FIXTURE_TEARDOWN(sampling)
{
	PMU_MAPPED_TEARDOWN(self);
}

/* Opens self->attr with a ring buffer. Page faults of the loop occur before it is enabled. */
#define open_mapped(self)	\
	pmu_mapped_open_warm(&(self)->attr, PMU_RING_PAGES, &(self)->ring, &(self)->fd)

/* @events is the event's own count. */
#define EXPECT_SAMPLES(events, length, ring)				\
do {									\
	EXPECT_RING_COMPLETE(ring);					\
	EXPECT_SAMPLES_SEEN(events, length, (ring)->samples);		\
} while (0)

/* The values that samples of pmu_loop() must have, and the numbers of samples that differ. */
struct check {
	uint64_t period;
	pid_t	 pid;
	bool	 exact;
	int64_t	 wrong_period;
	int64_t	 wrong_task;
	int64_t	 outside;	/* the address is not in the loop */
	int64_t	 kernel;	/* not taken in user mode */
};

static void check_sample(const struct pmu_sample *sample, void *arg)
{
	struct check *check = arg;

	/* A late sample represents several periods. */
	if (check->exact)
		check->wrong_period += sample->period != check->period;
	else
		check->wrong_period += !sample->period || sample->period % check->period;
	check->wrong_task += (pid_t)sample->pid != check->pid || (pid_t)sample->tid != check->pid;
	check->kernel += (sample->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) !=
			 PERF_RECORD_MISC_USER;
	check->outside += sample->ip < (uintptr_t)pmu_loop_begin ||
			  sample->ip >= (uintptr_t)pmu_loop_end;
}

static const long periods[] = { 1000, 10000, 100000, 1000000 };

/*
 * A guest of KVM spends tens of thousands of instructions on a sample, most of them in the host.
 * Its driver makes a period of 1000 longer, to leave time to tasks.
 */
static size_t first_period(void)
{
	return getenv("RISCV_PMU_NESTED") ? 1 : 0;
}

/* On a debug kernel with four harts, each of 50 000 or more samples takes half a millisecond. */
TEST_F_TIMEOUT(sampling, n_instructions_make_n_over_period_samples, 180)
{
	for (size_t i = first_period(); i < ARRAY_SIZE(periods); i++) {
		self->attr.sample_period = periods[i];
		ASSERT_EQ(0, open_mapped(self));
		pmu_run(self->fd, 0, pmu_loop, N);
		pmu_ring_drain(&self->ring, NULL, NULL);
		EXPECT_SAMPLES(pmu_read(self->fd), periods[i], &self->ring);
		close_mapped(self);
	}
}

TEST_F_TIMEOUT(sampling, n_cycles_make_n_over_period_samples, 180)
{
	self->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	for (size_t i = first_period(); i < ARRAY_SIZE(periods); i++) {
		self->attr.sample_period = periods[i];
		ASSERT_EQ(0, open_mapped(self));
		pmu_run(self->fd, 0, pmu_loop, N);
		pmu_ring_drain(&self->ring, NULL, NULL);
		EXPECT_SAMPLES(pmu_read(self->fd), periods[i], &self->ring);
		close_mapped(self);
	}
}

/*
 * If the kernel disables interrupts for longer than a period, one sample represents several
 * periods. So the period is longer than that: with KASAN and lockdep, samples were missing with
 * periods of 100 000 and 200 000, but not with 400 000. The period is a prime number: with
 * -icount, a multiple of the length of a system call would take all samples at one place.
 */
TEST_F(sampling, an_event_without_exclude_kernel_samples_the_kernel)
{
	struct check check = { .period = 399989, .pid = getpid(), .exact = self->exact };

	self->attr.exclude_kernel = 0;
	self->attr.sample_period = check.period;
	ASSERT_EQ(0, open_mapped(self));
	pmu_run(self->fd, 0, pmu_syscall_loop, 60000);
	pmu_ring_drain(&self->ring, check_sample, &check);
	EXPECT_SAMPLES(pmu_read(self->fd), check.period, &self->ring);
	EXPECT_EQ(0, check.wrong_period);
	EXPECT_LT(0, check.kernel);
}

TEST_F(sampling, samples_have_the_right_period_task_and_address)
{
	struct check check = { .period = 10000, .pid = getpid(), .exact = self->exact };

	self->attr.sample_period = check.period;
	ASSERT_EQ(0, open_mapped(self));
	pmu_run(self->fd, 0, pmu_loop, N);
	pmu_ring_drain(&self->ring, check_sample, &check);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong_period);
	EXPECT_EQ(0, check.wrong_task);
	/* A late interrupt may occur in the kernel. */
	if (self->exact) {
		EXPECT_EQ(0, check.kernel);
		/* The first and the last sample may be just before or after the loop. */
		EXPECT_GE(2, check.outside);
	}
}

TEST_F(sampling, a_disabled_event_takes_no_samples)
{
	self->attr.sample_period = 10000;
	ASSERT_EQ(0, open_mapped(self));
	pmu_loop(N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(0, self->ring.samples);

	pmu_run(self->fd, 0, pmu_loop, N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(0, self->ring.samples);

	self->ring.samples = 0;
	pmu_loop(N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(0, self->ring.samples);
}

/* 50 windows of 21 009 instructions, none of which reaches the end of a period of 100 000. */
TEST_F(sampling, a_period_continues_after_the_event_was_disabled)
{
	if (!self->exact)
		SKIP(return, "needs -icount and one hart: otherwise interrupts are too late");

	ASSERT_EQ(0, open_mapped(self));
	for (int i = 0; i < 50; i++)
		pmu_run(self->fd, 0, pmu_loop, 21000);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd), 100000, &self->ring);
}

/*
 * QEMU must not add the excess of a distant overflow point to the next overflow point (see
 * LONGEST in lib/bundle.h).
 */
TEST_F(sampling, the_longest_period_does_not_delay_the_next_event)
{
	self->attr.sample_period = INT64_MAX;
	ASSERT_EQ(0, open_mapped(self));
	pmu_run(self->fd, 0, pmu_loop, N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(0, self->ring.samples);
	close_mapped(self);

	self->attr.sample_period = 100000;
	ASSERT_EQ(0, open_mapped(self));
	pmu_run(self->fd, 0, pmu_loop, N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd), 100000, &self->ring);
}

TEST_F(sampling, ioc_period_changes_the_period_of_a_disabled_event)
{
	uint64_t period = 10000;
	int64_t first;

	ASSERT_EQ(0, open_mapped(self));
	pmu_run(self->fd, 0, pmu_loop, N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd), 100000, &self->ring);

	first = pmu_read(self->fd);
	self->ring.samples = 0;
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	pmu_run(self->fd, 0, pmu_loop, N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd) - first, 10000, &self->ring);
}

TEST_F(sampling, ioc_period_changes_the_period_of_a_running_event)
{
	uint64_t period = 10000;

	self->attr.sample_period = 1ULL << 40;
	ASSERT_EQ(0, open_mapped(self));
	ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0);
	pmu_loop(N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(0, self->ring.samples);

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_PERIOD, &period));
	pmu_loop(N);
	ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd), 10000, &self->ring);
}

static volatile sig_atomic_t signals_in, signals_hup, signals_other;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	if (info->si_code == POLL_HUP)
		signals_hup++;
	else if (info->si_code == POLL_IN)
		signals_in++;
	else
		signals_other++;
}

/*
 * Requests a signal for each overflow. It is a real-time signal, because only these are queued.
 * Returns 0 on success.
 */
static int request_signals(int fd)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	return sigaction(SIGRTMIN, &act, NULL) ?:
	       fcntl(fd, F_SETOWN, getpid()) ?:
	       fcntl(fd, F_SETSIG, SIGRTMIN) ?:
	       fcntl(fd, F_SETFL, O_ASYNC);
}

/* perf sends POLL_HUP instead of POLL_IN for the last overflow of a refresh. */
TEST_F(sampling, ioc_refresh_5_disables_the_event_after_5_overflows)
{
	int64_t count;

	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, request_signals(self->fd));
	for (int round = 1; round <= 2; round++) {
		ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_REFRESH, 5));
		pmu_loop(N);
		EXPECT_EQ(4 * round, signals_in);
		EXPECT_EQ(1 * round, signals_hup);
		EXPECT_EQ(0, signals_other);
		count = pmu_read(self->fd);
		pmu_loop(N);
		EXPECT_EQ(count, pmu_read(self->fd));
	}
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(10, self->ring.samples);
	/* The fifth interrupt disables the event. It is late by less than a tenth of a period. */
	if (self->exact) {
		EXPECT_LE(1000000, count);
		EXPECT_GE(1010000, count);
	}
}

TEST_F(sampling, a_counting_and_a_sampling_event_count_the_same)
{
	struct perf_event_attr counting = self->attr;
	int fd;

	counting.sample_period = 0;
	fd = pmu_open(&counting);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, N));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LE(pmu_least(N), pmu_read(fd));
	EXPECT_SAMPLES(pmu_read(self->fd), 100000, &self->ring);
	if (self->exact)
		EXPECT_EQ(pmu_read(fd), pmu_read(self->fd));
	close(fd);
}

TEST_F(sampling, two_different_events_sample_at_the_same_time)
{
	struct perf_event_attr cycles = self->attr;
	struct pmu_ring ring;
	int fd;

	cycles.config = PERF_COUNT_HW_CPU_CYCLES;
	cycles.sample_period = 30000;
	fd = pmu_open(&cycles);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&ring, fd));
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, N));
	pmu_ring_drain(&self->ring, NULL, NULL);
	pmu_ring_drain(&ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd), 100000, &self->ring);
	EXPECT_SAMPLES(pmu_read(fd), 30000, &ring);
	pmu_ring_unmap(&ring);
	close(fd);
}

/* The events share a counter, and each has its own overflow point on it. */
TEST_F(sampling, two_equal_events_sample_with_different_periods)
{
	struct perf_event_attr other = self->attr;
	struct pmu_ring ring;
	int fd;

	other.sample_period = 7000;
	fd = pmu_open(&other);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&ring, fd));
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, N));
	pmu_ring_drain(&self->ring, NULL, NULL);
	pmu_ring_drain(&ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd), 100000, &self->ring);
	EXPECT_SAMPLES(pmu_read(fd), 7000, &ring);
	pmu_ring_unmap(&ring);
	close(fd);
}

TEST_F(sampling, a_cpu_wide_event_takes_samples)
{
	cpu_set_t all, one;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	self->fd = pmu_open_on(&self->attr, -1, 0, -1);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, self->fd));
	pmu_run(self->fd, 0, pmu_loop, N);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd), 100000, &self->ring);
	sched_setaffinity(0, sizeof(all), &all);
}

/*
 * perf adjusts the period to the frequency at every tick (4 ms). The test gives it a tenth of a
 * second to reach the frequency. In the next half second, a deviation of 5 % is allowed for the
 * steps of the adjustment.
 */
TEST_F(sampling, a_frequency_of_1000_takes_1000_samples_per_second)
{
	double began, took;

	if (!self->exact)
		SKIP(return, "needs -icount and one hart: otherwise interrupts are too late");

	self->attr.freq = 1;
	self->attr.sample_freq = 1000;
	ASSERT_EQ(0, open_mapped(self));
	ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0);
	for (began = now(); now() - began < 0.1;)
		pmu_loop(N / 100);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(0, self->ring.samples);

	self->ring.samples = 0;
	for (began = now(); now() - began < 0.5;)
		pmu_loop(N / 100);
	took = now() - began;
	ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LE(0.95 * 1000 * took, self->ring.samples);
	EXPECT_GE(1.05 * 1000 * took, self->ring.samples);
}

/* Samples may be late, but there have to be fifty of them within ten seconds. */
TEST_F(sampling, an_event_with_a_frequency_continues_to_take_samples)
{
	double began = now();

	self->attr.freq = 1;
	self->attr.sample_freq = 1000;
	ASSERT_EQ(0, open_mapped(self));
	ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0);
	while (self->ring.samples < 50 && now() - began < 10) {
		pmu_loop(1000000);
		pmu_ring_drain(&self->ring, NULL, NULL);
	}
	EXPECT_LE(50, self->ring.samples);
	EXPECT_RING_COMPLETE(&self->ring);
}

/*
 * The limit of 5 000 samples per second is 20 samples per tick of 4 ms (HZ=250): then the event
 * is stopped until the next tick. The first and the last tick are not complete, and the event
 * may still be throttled at the end.
 */
TEST_F(sampling, an_event_is_throttled_until_the_next_tick)
{
	int64_t ticks;
	double began;

	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 50));
	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_event_max_sample_rate", 5000));
	self->attr.sample_period = 1000;
	ASSERT_EQ(0, open_mapped(self));
	began = now();
	pmu_run(self->fd, 0, pmu_loop, 4 * N);
	ticks = (now() - began) / 4e-3;
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, self->ring.lost);
	EXPECT_LT(0, self->ring.samples);
	if (!self->exact)
		return;
	if (pmu_read_number("/proc/sys/kernel/perf_event_max_sample_rate") != 5000)
		SKIP(return, "samples take so long that perf has lowered their rate");

	EXPECT_LE(ticks - 1, self->ring.throttled);
	EXPECT_GE(ticks + 2, self->ring.throttled);
	EXPECT_LE(self->ring.throttled - 1, self->ring.unthrottled);
	EXPECT_GE(self->ring.throttled, self->ring.unthrottled);
	EXPECT_LE(20 * (ticks - 1), self->ring.samples);
	EXPECT_GE(20 * (ticks + 2), self->ring.samples);
}

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
