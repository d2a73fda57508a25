// SPDX-License-Identifier: GPL-2.0
/* The overflow interrupt is reserved with the first event and released with the last. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define EVENTS	100

/* How often it was taken, on all CPUs; -1 if nobody has reserved it. */
static long taken(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[PMU_TEXT];
	long sum = -1;

	if (!file)
		return -2;

	while (sum < 0 && fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':'), *end;

		if (!at || !strstr(line, "riscv-pmu"))
			continue;
		sum = 0;
		for (long n = strtol(++at, &end, 10); end != at; n = strtol(at, &end, 10)) {
			sum += n;
			at = end;
		}
	}
	fclose(file);
	return sum;
}

/* The same, once it has been given back: a second after the last event, or soon after. */
static long taken_in_the_end(void)
{
	long sum = taken();

	for (int tenths = 0; sum != -1 && tenths < 50; tenths++) {
		usleep(100000);
		sum = taken();
	}

	return sum;
}

FIXTURE(interrupt) {
	struct perf_event_attr attr;
};

FIXTURE_SETUP(interrupt)
{
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	self->attr = pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	ASSERT_EQ(-1, taken_in_the_end())
		TH_LOG("somebody else has an event open");
}

FIXTURE_TEARDOWN(interrupt)
{
}

TEST_F(interrupt, it_is_reserved_while_an_event_is_open)
{
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	EXPECT_LE(0, taken());
	close(fd);
	EXPECT_EQ(-1, taken_in_the_end());
}

TEST_F(interrupt, it_is_released_with_the_last_of_two_events)
{
	int a = pmu_open(&self->attr), b = pmu_open(&self->attr);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	close(a);
	EXPECT_LE(0, taken());
	close(b);
	EXPECT_EQ(-1, taken_in_the_end());
}

TEST_F(interrupt, an_event_that_is_refused_leaves_it_free)
{
	self->attr.exclude_idle = 1;
	EXPECT_GT(0, pmu_open(&self->attr));
	EXPECT_EQ(-1, taken_in_the_end());
}

TEST_F(interrupt, opening_and_closing_a_hundred_times_leaves_it_free)
{
	for (int i = 0; i < EVENTS; i++) {
		int fd = pmu_open(&self->attr);

		ASSERT_LE(0, fd);
		close(fd);
	}
	EXPECT_EQ(-1, taken_in_the_end());
}

TEST_F(interrupt, a_hundred_events_at_once_leave_it_free)
{
	int fd[EVENTS];

	for (int i = 0; i < EVENTS; i++) {
		fd[i] = pmu_open(&self->attr);
		ASSERT_LE(0, fd[i]);
	}
	for (int i = 0; i < EVENTS; i++) {
		EXPECT_LE(0, taken());
		close(fd[i]);
	}
	EXPECT_EQ(-1, taken_in_the_end());
}

/* Except where a counter is so narrow that it wraps: once for each half of its range. */
TEST_F(interrupt, counting_does_not_take_it)
{
	long width = pmu_caps_number("counter_width");
	int fd = pmu_open(&self->attr);
	long before, wraps;

	ASSERT_LE(0, fd);
	wraps = width < 64 ? (10000000L >> (width - 1)) + 1 : 0;
	before = taken();
	pmu_count(fd, pmu_loop, 10000000);
	EXPECT_GE(before + wraps, taken());
	close(fd);
}

/*
 * With -icount, 10 million instructions are 100 periods, and interrupts are far
 * less than one late. Elsewhere they may be very late, so it runs longer.
 */
TEST_F(interrupt, sampling_takes_it_once_for_each_sample)
{
	struct pmu_limits limits;
	long before, count;
	int fd;

	pmu_limits_save(&limits);
	self->attr.sample_period = 100000;
	fd = pmu_open(&self->attr);
	EXPECT_LE(0, fd);
	before = taken();
	pmu_count(fd, pmu_loop, pmu_is_exact() ? 10000000 : 200000000);
	count = taken() - before;
	pmu_limits_restore(&limits);
	EXPECT_LE(1, count);
	if (pmu_is_exact()) {
		EXPECT_LE(99, count);
		EXPECT_GE(101, count);
	}
	close(fd);
}

TEST(without_sampling_no_interrupt_is_reserved)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd;

	if (pmu_samples_by_interrupt())
		SKIP(return, "there is an overflow interrupt");

	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, taken());
	close(fd);
}

PMU_TEST_AT_LAST(PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
