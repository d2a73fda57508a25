// SPDX-License-Identifier: GPL-2.0
/*
 * Tests that an event goes on sampling when it gets another period, on any kernel and firmware. It
 * often overflows during that call, with interrupts off: the interrupt must not leave it stopped.
 */

#include <sys/ioctl.h>

#include "../../kselftest_harness.h"
#include "lib/ring.h"

#define COUNTERS	29
#define ROUNDS		3000
#define PERIOD		2500
/* QEMU 10.0.2 sets the overflow flag up to this many instructions late. */
#define LATE		100

FIXTURE(restarts)
{
	PMU_MAPPED_MEMBERS;
};

FIXTURE_SETUP(restarts)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	if (!pmu_is_exact())
		SKIP(return, "counts are exact with -icount only");
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (Sscofpmf)");
	attr.sample_period = PERIOD;
	attr.sample_type = PMU_RING_SAMPLE;
	PMU_MAPPED_SETUP(self, attr);
}

FIXTURE_TEARDOWN(restarts)
{
	PMU_MAPPED_TEARDOWN(self);
}

/* A counter that has never had an event has its overflow flag set, which hides this fault. */
static void use_all_counters(void)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd[COUNTERS];

	attr.disabled = 0;
	for (int i = 0; i < COUNTERS; i++)
		fd[i] = pmu_open(&attr);
	pmu_loop(100000);
	for (int i = 0; i < COUNTERS; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

/*
 * Changes the period ROUNDS times, each time at another place in the period. Returns how many
 * rounds had fewer samples than the loop has whole periods, or none if @user is false: the event
 * then counts the kernel, too, whose instructions are not known.
 */
static int short_rounds(struct __test_metadata *_metadata, FIXTURE_DATA(restarts) *self, bool user)
{
	int64_t before, want;
	int bad = 0;

	self->attr.exclude_kernel = user;
	ASSERT_EQ(0, pmu_mapped_open_warm(&self->attr, PMU_RING_PAGES, &self->ring, &self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < ROUNDS; i++) {
		long loop = 4 * PERIOD + 2 * (i % PERIOD);

		ASSERT_EQ(0, set_period(self->fd, PERIOD));
		pmu_ring_drain(&self->ring, NULL, NULL);
		before = self->ring.samples;
		pmu_loop(loop);
		pmu_ring_drain(&self->ring, NULL, NULL);
		want = user ? (loop - LATE) / PERIOD : 1;
		bad += self->ring.samples - before < want;
	}
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_RING_COMPLETE(&self->ring);
	return bad;
}

TEST_F(restarts, an_event_samples_after_each_change_of_its_period)
{
	use_all_counters();
	EXPECT_EQ(0, short_rounds(_metadata, self, false));
}

TEST_F(restarts, an_event_of_user_mode_misses_no_sample)
{
	use_all_counters();
	EXPECT_EQ(0, short_rounds(_metadata, self, true));
}

TEST_HARNESS_MAIN
