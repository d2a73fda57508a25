// SPDX-License-Identifier: GPL-2.0
/*
 * Rings of sampling events, and requests that change an event while it samples: a ring
 * whose event is closed, a ring that two events share, periods that are invalid or extreme,
 * refreshes, and the lowest sample rate.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/bundle.h"
#include "lib/ring.h"
#include "lib/task.h"

FIXTURE(ring) {
	struct pmu_limits limits;
	struct perf_event_attr attr;
	struct pmu_ring ring;
	struct bundle all;
	long attached;
	bool exact;
};

FIXTURE_SETUP(ring)
{
	/* A skipped set-up has no teardown: nothing may be changed before. */
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	pmu_limits_save(&self->limits);
	self->exact = pmu_is_exact();
	self->attached = pmu_events_attached();
	self->attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = 10000;
}

FIXTURE_TEARDOWN(ring)
{
	pmu_ring_unmap(&self->ring);
	bundle_close(&self->all, 0);
	pmu_limits_restore(&self->limits);
}

/* Long enough for an interrupt that comes late. */
#define LONG	(self->exact ? 10 * N : 200 * N)

#define EXPECT_SAMPLES(events, length, seen)	EXPECT_SAMPLES_SEEN(events, length, seen)

TEST_F(ring, a_mapped_event_samples_on_without_its_descriptor)
{
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	close(fd);
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	/*
	 * Nobody can ask it for its count. Under -icount that is the loop, and what
	 * runs besides is less than a period; elsewhere it is ticks of the host.
	 */
	if (self->exact) {
		EXPECT_SAMPLES(LONG, 10000, self->ring.samples);
	} else {
		EXPECT_LE(1, self->ring.samples);
	}
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(self->attached < 0 ? -1 : self->attached + 1, pmu_events_attached());
	pmu_ring_unmap(&self->ring);
	EXPECT_EQ(self->attached, pmu_events_attached());
	EXPECT_GE(0, pmu_ctrs_left());
}

TEST_F(ring, two_events_write_into_one_ring_and_one_of_them_goes)
{
	int a = bundle_open(&self->all, &self->attr, -1);
	int b = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_EQ(-EINVAL, set_output(b, b));
	EXPECT_EQ(-EBADF, set_output(b, 9999));
	EXPECT_EQ(-EINVAL, set_output(b, a));	/* which has no ring yet */
	ASSERT_EQ(0, pmu_ring_map(&self->ring, a));
	ASSERT_EQ(0, set_output(b, a));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, LONG));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(1, self->ring.samples);
	if (self->exact) {
		EXPECT_LE(2 * (LONG / 10000 - 1), self->ring.samples);
		EXPECT_GE(2 * (LONG / 10000 + 1), self->ring.samples);
	}

	/* b goes, a samples on into its ring; so does it with b in a ring of nobody's. */
	self->ring.samples = 0;
	ASSERT_EQ(0, set_output(b, -1));
	ASSERT_EQ(0, ioctl(a, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, LONG));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(read_times(a).value, 10000, self->ring.samples);
	bundle_close(&self->all, 1);
	EXPECT_FALSE(self->ring.broken);
}

/* The ring outlives the event that it was mapped of. */
TEST_F(ring, an_event_samples_on_into_the_ring_of_a_closed_one)
{
	int a = pmu_open(&self->attr);
	int b = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, a));
	ASSERT_EQ(0, set_output(b, a));
	close(a);
	ASSERT_EQ(0, pmu_run(b, 0, pmu_loop, LONG));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(read_times(b).value, 10000, self->ring.samples);
	/* Without the map there is no ring; the event does not mind. */
	pmu_ring_unmap(&self->ring);
	ASSERT_EQ(0, ioctl(b, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, pmu_run(b, 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(b));
}

TEST_F(ring, periods_of_nothing_and_of_more_than_there_is_are_einval)
{
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_EQ(-EINVAL, set_period(fd, 0));
	EXPECT_EQ(-EINVAL, set_period(fd, 1ULL << 63));
	EXPECT_EQ(-EINVAL, set_period(fd, UINT64_MAX));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	pmu_ring_drain(&self->ring, NULL, NULL);
	self->ring.samples = 0;
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, LONG));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(read_times(fd).value, 10000, self->ring.samples);
}

/*
 * With a period of 1 every interrupt is late by many: the driver skips them,
 * and perf throttles. Without -icount QEMU may hang then (ENDLESS in abuse.c). The
 * longest period never ends; it is left for one that does.
 */
TEST_F(ring, a_running_event_takes_the_shortest_and_the_longest_period)
{
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 50));
	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_event_max_sample_rate", 5000));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, set_period(fd, pmu_is_icount() ? 1 : 20000));
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(0, self->ring.samples);

	ASSERT_EQ(0, set_period(fd, LONGEST));
	pmu_ring_drain(&self->ring, NULL, NULL);
	self->ring.samples = 0;
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(0, self->ring.samples);
	EXPECT_STILL_COUNTS(fd);

	ASSERT_EQ(0, set_period(fd, N));
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(0, self->ring.samples);
}

/* A refresh enables the event for just one sample, be it disabled or not. */
TEST_F(ring, fifty_refreshes_give_fifty_samples)
{
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	for (int i = 1; i <= 50; i++) {
		double began = now();

		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
		while (self->ring.samples < i && now() - began < 10) {
			pmu_loop(10 * 10000);
			pmu_ring_drain(&self->ring, NULL, NULL);
		}
		ASSERT_EQ(i, self->ring.samples);
	}
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(50, self->ring.samples);
}

/* Sometimes the descriptor goes first, sometimes the ring does. */
/*
 * Without -icount, QEMU 10.0.2 may miss an overflow; the counter interrupts again after it was
 * started again.
 */
#define MOMENTS	3

static int64_t sample_for_a_moment(const struct perf_event_attr *attr, pid_t pid, bool ring_first)
{
	struct pmu_ring ring;
	int64_t samples = -1;
	int fd = pmu_open_on(attr, pid, -1, -1);

	if (fd < 0 || pmu_ring_map(&ring, fd))
		return -1;
	samples = 0;
	for (int i = 0; i < (pmu_is_exact() ? 1 : MOMENTS) && !samples; i++) {
		double began = now();

		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		for (; !samples && now() - began < 1; samples = ring.samples) {
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
			pmu_ring_drain(&ring, NULL, NULL);
		}
	}
	if (ring_first)
		pmu_ring_unmap(&ring);
	close(fd);
	if (!ring_first)
		pmu_ring_unmap(&ring);
	return samples;
}

TEST_F(ring, an_event_is_closed_while_its_samples_come_from_another_task)
{
	pid_t pid = pmu_spawn(body_loop_forever, N);

	for (int i = 0; i < 40; i++) {
		EXPECT_LT(0, sample_for_a_moment(&self->attr, pid, i & 1));
		EXPECT_EQ(self->attached, pmu_events_attached());
	}
	pmu_kill(pid);
	EXPECT_GE(0, pmu_ctrs_left());
}

/*
 * One sample a second is less than one in a tick, of which perf makes one: the
 * event is throttled by each sample, until the next tick (4 ms, HZ=250), or until
 * it is switched in again. The first tick and the last are cut.
 */
TEST_F(ring, the_least_sample_rate_there_is_gives_a_sample_a_tick)
{
	struct rusage before, after;
	int64_t ticks, switches;
	double began;
	int fd;

	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 50));
	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_event_max_sample_rate", 1));
	self->attr.freq = 1;
	self->attr.sample_freq = 2;
	EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
	self->attr.freq = 0;
	self->attr.sample_period = 1000;
	fd = bundle_open(&self->all, &self->attr, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	getrusage(RUSAGE_SELF, &before);
	began = now();
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 20 * LONG / 10));
	ticks = (now() - began) / 4e-3;
	getrusage(RUSAGE_SELF, &after);
	switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_GE(ticks + 2 + switches, self->ring.samples);
	EXPECT_EQ(self->ring.samples, self->ring.throttled);
	if (self->exact)
		EXPECT_LE(ticks - 1, self->ring.samples);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
