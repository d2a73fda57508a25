// SPDX-License-Identifier: GPL-2.0
/*
 * Samples: one per period, none lost, each complete and where it belongs.
 *
 * What is counted beyond the end of a period belongs to the next one, so
 * however late an interrupt comes, n events make n / period samples; one more
 * or less for where the first period begins and the last one is cut. Where
 * counts are not exact (pmu_is_exact()), QEMU takes the interrupt whole
 * periods late and one sample stands for them: then n / period is the most.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/ring.h"
#include "lib/task.h"

/* Longer where the interrupt comes late. */
#define N	(self->exact ? 10000000L : 200000000L)

FIXTURE(sampling) {
	PMU_MAPPED_MEMBERS;
};

FIXTURE_SETUP(sampling)
{
	/* A skipped set-up has no teardown: nothing may be changed before. */
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

/* Opens self->attr with a ring, and takes away what faulting in the loop may have left. */
#define open_mapped(self)	\
	pmu_mapped_open_warm(&(self)->attr, PMU_RING_PAGES, &(self)->ring, &(self)->fd)

/* @events is what the event itself has counted. */
#define EXPECT_SAMPLES(events, length, ring)				\
do {									\
	EXPECT_RING_WHOLE(ring);					\
	EXPECT_SAMPLES_SEEN(events, length, (ring)->samples);		\
} while (0)

/* What is true of every sample of pmu_loop(), counted in user mode only. */
struct check {
	uint64_t period;
	pid_t	 pid;
	bool	 exact;
	int64_t	 wrong_period;
	int64_t	 wrong_task;
	int64_t	 outside;
	int64_t	 kernel;
};

static void check_sample(const struct pmu_sample *sample, void *arg)
{
	struct check *check = arg;

	/* One that is late stands for several. */
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

/* A sample takes a debug kernel on four harts half a millisecond, and there are 50 000 or more. */
TEST_F_TIMEOUT(sampling, n_instructions_make_n_over_period_samples, 180)
{
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
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
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		self->attr.sample_period = periods[i];
		ASSERT_EQ(0, open_mapped(self));
		pmu_run(self->fd, 0, pmu_loop, N);
		pmu_ring_drain(&self->ring, NULL, NULL);
		EXPECT_SAMPLES(pmu_read(self->fd), periods[i], &self->ring);
		close_mapped(self);
	}
}

/*
 * Where the kernel takes no interrupts for longer than a period, one sample
 * stands for several. So the period is longer than that: with KASAN and
 * lockdep, some of 100 000 and 200 000 were missing, none of 400 000.
 */
TEST_F(sampling, an_event_that_counts_the_kernel_too_samples_it)
{
	struct check check = { .period = 400000, .pid = getpid(), .exact = self->exact };

	self->attr.exclude_kernel = 0;
	self->attr.sample_period = check.period;
	ASSERT_EQ(0, open_mapped(self));
	pmu_run(self->fd, 0, pmu_syscall_loop, 60000);
	pmu_ring_drain(&self->ring, check_sample, &check);
	EXPECT_SAMPLES(pmu_read(self->fd), 400000, &self->ring);
	EXPECT_EQ(0, check.wrong_period);
	EXPECT_LT(0, check.kernel);
}

TEST_F(sampling, every_sample_says_its_period_its_task_and_where_it_was)
{
	struct check check = { .period = 10000, .pid = getpid(), .exact = self->exact };

	self->attr.sample_period = check.period;
	ASSERT_EQ(0, open_mapped(self));
	pmu_run(self->fd, 0, pmu_loop, N);
	pmu_ring_drain(&self->ring, check_sample, &check);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong_period);
	EXPECT_EQ(0, check.wrong_task);
	/* An interrupt that is late may find the kernel. */
	if (self->exact) {
		EXPECT_EQ(0, check.kernel);
		/* The first and the last may be taken at the loop's edge. */
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
TEST_F(sampling, a_period_goes_on_where_it_was_disabled)
{
	if (!self->exact)
		SKIP(return, "needs -icount and one hart: else interrupts are too late");

	ASSERT_EQ(0, open_mapped(self));
	for (int i = 0; i < 50; i++)
		pmu_run(self->fd, 0, pmu_loop, 21000);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(pmu_read(self->fd), 100000, &self->ring);
}

/* QEMU must not add the excess of a distant overflow point to the next one (LONGEST). */
TEST_F(sampling, the_longest_period_does_not_delay_the_next)
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

TEST_F(sampling, ioc_period_changes_the_rate)
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

TEST_F(sampling, ioc_period_changes_the_rate_of_a_running_event)
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

/* A real-time signal, for those are queued: one for each overflow. */
static int want_signals(int fd)
{
	struct sigaction act = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	return sigaction(SIGRTMIN, &act, NULL) ?:
	       fcntl(fd, F_SETOWN, getpid()) ?:
	       fcntl(fd, F_SETSIG, SIGRTMIN) ?:
	       fcntl(fd, F_SETFL, O_ASYNC);
}

/* perf sends POLL_HUP instead of POLL_IN for the last overflow of a refresh. */
TEST_F(sampling, a_refresh_of_five_gives_five_overflows_and_stops)
{
	int64_t count;

	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, want_signals(self->fd));
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
	/* Each round stops in its fifth interrupt, which is late by less than a tenth period. */
	if (self->exact) {
		EXPECT_LE(1000000, count);
		EXPECT_GE(1010000, count);
	}
}

TEST_F(sampling, a_counting_event_beside_it_counts_the_same)
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

TEST_F(sampling, two_events_sample_side_by_side)
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

/* They share a counter, and each has its own deadline on it. */
TEST_F(sampling, one_event_sampled_twice_keeps_two_periods)
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

TEST_F(sampling, a_cpu_wide_event_samples)
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
 * perf steers the period towards the frequency at every tick (4 ms). The
 * first tenth of a second is for finding it; of the next half second, 5 % are
 * allowed for the steps of that control.
 */
TEST_F(sampling, a_frequency_of_1000_gives_1000_samples_a_second)
{
	double began, took;

	if (!self->exact)
		SKIP(return, "needs -icount and one hart: else interrupts are too late");

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
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LE(0.95 * 1000 * took, self->ring.samples);
	EXPECT_GE(1.05 * 1000 * took, self->ring.samples);
}

/* Samples may be late, but they go on: there are fifty of them within ten seconds. */
TEST_F(sampling, a_frequency_gives_samples_again_and_again)
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
	EXPECT_RING_WHOLE(&self->ring);
}

/*
 * At most 5 000 samples a second are 20 in a tick of 4 ms (HZ=250); then the
 * event stands still until the next tick. The first tick and the last are cut,
 * and the last may leave it throttled.
 */
TEST_F(sampling, too_many_samples_are_throttled_until_the_next_tick)
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

	EXPECT_LE(ticks - 1, self->ring.throttled);
	EXPECT_GE(ticks + 2, self->ring.throttled);
	EXPECT_LE(self->ring.throttled - 1, self->ring.unthrottled);
	EXPECT_GE(self->ring.throttled, self->ring.unthrottled);
	EXPECT_LE(20 * (ticks - 1), self->ring.samples);
	EXPECT_GE(20 * (ticks + 2), self->ring.samples);
}

PMU_TEST_AT_LAST(PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
