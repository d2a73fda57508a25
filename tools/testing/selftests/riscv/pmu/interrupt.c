// SPDX-License-Identifier: GPL-2.0
/* The overflow interrupt comes for samples only; counters stop when the last event has gone. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

/* How often it was taken, on all CPUs; -1 if there is none. */
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

/* --- counters that run for nobody --- */

FIXTURE(unused) {
	struct perf_event_attr attr;
};

FIXTURE_SETUP(unused)
{
	long ctrs = pmu_ctrs_left();

	if (ctrs < 0)
		SKIP(return, "no debugfs");
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	ASSERT_EQ(0, ctrs)
		TH_LOG("somebody else has an event open");
}

FIXTURE_TEARDOWN(unused)
{
}

TEST_F(unused, counters_stop_after_the_last_of_two_events)
{
	int a = pmu_open(&self->attr), b = pmu_open(&self->attr);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_LT(0, pmu_count(a, pmu_loop, 1000));
	EXPECT_LT(0, pmu_count(b, pmu_loop, 1000));
	close(a);
	/* Twice as long as it takes when there is none. A deep sleep stops counters, too. */
	usleep(2000000);
	if (!pmu_idle_loses_ctrs())
		EXPECT_LT(0, pmu_ctrs_running());
	close(b);
	EXPECT_EQ(0, pmu_ctrs_left());
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The second in which another event may come begins with the last close, not with the first. */
TEST_F(unused, counters_run_on_for_a_second_after_each_last_event)
{
	int fd = pmu_open(&self->attr);
	long closed, running;

	ASSERT_LE(0, fd);
	EXPECT_LT(0, pmu_count(fd, pmu_loop, 1000));
	close(fd);
	usleep(700000);
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	EXPECT_LT(0, pmu_count(fd, pmu_loop, 1000));
	closed = now_ms();
	close(fd);
	usleep(600000);
	running = pmu_ctrs_running();
	if (now_ms() - closed >= 1000 || pmu_idle_loses_ctrs())
		SKIP(return, "the hart is too slow for this test, or sleeps deeply");

	EXPECT_LT(0, running);
	EXPECT_EQ(0, pmu_ctrs_left());
}

TEST_F(unused, counters_of_a_sampling_event_stop)
{
	int fd;

	if (!pmu_can_sample())
		SKIP(return, "no sampling here (caps/sampling)");

	/* Without -icount so short a period ends so often that perf throttles the event. */
	self->attr.sample_period = pmu_is_exact() ? 100000 : 1000000000;
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	EXPECT_LT(0, pmu_count(fd, pmu_loop, 1000000));
	EXPECT_LT(0, pmu_ctrs_running());
	close(fd);
	EXPECT_EQ(0, pmu_ctrs_left());
}

/* Events while the counter is stopped must not appear in the next event's count. */
TEST_F(unused, an_event_counts_exactly_on_a_counter_that_was_stopped)
{
	int64_t first, second;
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	first = pmu_count_net(fd, pmu_loop, 100000);
	close(fd);
	EXPECT_EQ(0, pmu_ctrs_left());
	pmu_loop(1000000);
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	second = pmu_count_net(fd, pmu_loop, 100000);
	close(fd);
	EXPECT_LE(pmu_least(100000), first);
	EXPECT_LE(pmu_least(100000), second);
	if (pmu_is_exact() && pmu_can_filter()) {
		EXPECT_EQ(100000, first);
		EXPECT_EQ(100000, second);
	}
}

TEST_F(unused, an_event_that_is_refused_starts_nothing)
{
	self->attr.exclude_idle = 1;
	EXPECT_GT(0, pmu_open(&self->attr));
	EXPECT_EQ(0, pmu_ctrs_left());
}

/* --- the interrupt --- */

FIXTURE(interrupt) {
	struct perf_event_attr attr;
};

FIXTURE_SETUP(interrupt)
{
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	self->attr = pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	ASSERT_LE(0, taken());
}

FIXTURE_TEARDOWN(interrupt)
{
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

	if (pmu_samples_by_nmi())
		SKIP(return, "overflows are NMIs, which /proc/interrupts does not have");

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

/*
 * perf's core adds events with the lock of their context held, under the run queue's. To
 * enable an interrupt takes the lock of its descriptor, which others hold while they wake
 * tasks or print: one inside the other can deadlock.
 */
TEST(adding_an_event_takes_no_lock_of_the_interrupt)
{
	struct perf_event_attr attr = pmu_attr_best(PERF_TYPE_HARDWARE,
						    PERF_COUNT_HW_INSTRUCTIONS);
	int fd;

	attr.sample_period = pmu_can_sample() ? 100000 : 0;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	EXPECT_LT(0, pmu_count(fd, pmu_loop, 1000000));
	close(fd);
	if (pmu_locks_nest("&ctx->lock", "irq_desc_lock_class") < 0)
		SKIP(return, "no /proc/lockdep: no CONFIG_PROVE_LOCKING");

	EXPECT_EQ(1, pmu_locks_nest("&rq->__lock", "&ctx->lock"));
	EXPECT_EQ(0, pmu_locks_nest("&ctx->lock", "irq_desc_lock_class"));
	EXPECT_EQ(0, pmu_locks_nest("&rq->__lock", "irq_desc_lock_class"));
}

/*
 * While the event's task waits for its child, no event needs the interrupt, so it is masked. The
 * counter begins at -period and counts the child: it overflows, and passes all of its values until
 * it is somewhat nearer to an overflow than at first. That suits the event, but while the overflow
 * flag is set there is no interrupt. So the flag has to be cleared when the event returns. The task
 * then runs hardly longer than the period, because a context switch would clear the flag, too.
 */
TEST(an_overflow_while_the_interrupt_is_masked_does_not_prevent_the_next)
{
	struct perf_event_attr attr = pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	long width = pmu_caps_number("counter_width"), values;
	struct pmu_ring ring = {};
	pid_t pid;
	int fd;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "there is no overflow interrupt (caps/sampling)");
	if (width > 28)
		SKIP(return, "a counter takes too long to overflow twice (caps/counter_width)");

	values = 1L << width;
	attr.sample_period = values / 8 * 3;
	attr.sample_type = PMU_RING_SAMPLE;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&ring, fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	pid = fork();
	if (!pid) {
		usleep(20000); /* until the parent waits */
		pmu_loop(values + values / 256);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	pmu_loop(attr.sample_period);
	pmu_ring_drain(&ring, NULL, NULL);
	EXPECT_EQ(1, ring.samples);
	pmu_ring_unmap(&ring);
	close(fd);
}

TEST(without_sampling_there_is_no_interrupt)
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

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
