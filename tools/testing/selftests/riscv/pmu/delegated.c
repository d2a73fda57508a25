// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that the kernel writes itself (Smcdeleg, Ssccfg): no firmware call for
 * them, raw selectors, and a choice of counter.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define N		1000000L
#define PERIOD		10000

/* No selector of QEMU's: there it counts nothing. Elsewhere it may be refused. */
#define RAW_NOTHING	PMU_RAW(0x1234)
/* QEMU's for instructions: its harts name events as the SBI does. */
#define RAW_INSNS	PMU_RAW(0x2)

FIXTURE(delegated) {
	struct perf_event_attr attr;
	cpu_set_t all;
	bool exact;
};

FIXTURE_SETUP(delegated)
{
	cpu_set_t one;

	if (!pmu_is_delegated())
		SKIP(return, "the firmware has kept the counters (caps/backend)");

	/* What counters hold is told hart by hart. */
	sched_getaffinity(0, sizeof(self->all), &self->all);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->exact = pmu_is_exact();
}

FIXTURE_TEARDOWN(delegated)
{
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

/* --- calls --- */

/* Several groups of other programs: more than there are counters for each event. */
static int use_groups(const struct perf_event_attr *attr)
{
	int fd[8];

	for (int i = 0; i < 8; i++) {
		struct perf_event_attr it = *attr;

		it.config = i & 1 ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS;
		it.exclude_kernel = i & 2 ? 1 : 0;
		it.exclude_user = !it.exclude_kernel;
		it.disabled = !(i & 1);
		fd[i] = pmu_open_on(&it, 0, -1, i & 1 ? fd[i - 1] : -1);
		if (fd[i] < 0)
			return fd[i];
	}
	for (int i = 0; i < 8; i += 2) {
		if (pmu_run(fd[i], PERF_IOC_FLAG_GROUP, pmu_loop, N) || pmu_read(fd[i]) < 0)
			return -EIO;
	}
	for (int i = 0; i < 8; i++)
		close(fd[i]);
	return 0;
}

/* Samples taken, or -errno. Without -icount QEMU's interrupt comes when the host lets it. */
static int64_t use_sampling(struct perf_event_attr attr)
{
	int tries = pmu_is_qemu() && !pmu_is_icount() ? 200 : 1;
	struct pmu_ring ring = {};
	int64_t err;
	int fd;

	attr.sample_period = PERIOD;
	attr.sample_type = PMU_RING_SAMPLE;
	fd = pmu_open(&attr);
	if (fd < 0)
		return fd;
	err = pmu_ring_map(&ring, fd);
	while (!err && !ring.samples && tries--) {
		if (pmu_run(fd, 0, pmu_loop, N))
			err = -EIO;
		pmu_ring_drain(&ring, NULL, NULL);
	}
	pmu_ring_unmap(&ring);
	close(fd);
	return err ?: ring.samples;
}

static int use_child(struct perf_event_attr attr)
{
	int fd, status = -1;
	pid_t pid;

	attr.inherit = 1;
	fd = pmu_open(&attr);
	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	pid = pmu_spawn(pmu_loop, N);
	waitpid(pid, &status, 0);
	if (pmu_read(fd) < pmu_least(N))
		status = -EIO;
	close(fd);
	return status;
}

TEST_F_TIMEOUT(delegated, no_call_is_made_to_count_or_to_sample, 60)
{
	struct pmu_limits limits;
	long calls = pmu_calls_made();

	if (calls < 0)
		SKIP(return, "no count of calls (debugfs)");
	if (pmu_sleeps_deeply())
		SKIP(return, "harts lose their counters in a sleep, and call when they wake");

	pmu_limits_save(&limits);
	EXPECT_EQ(0, use_groups(&self->attr));
	EXPECT_EQ(0, use_child(self->attr));
	if (pmu_samples_by_interrupt()) {
		EXPECT_LT(0, use_sampling(self->attr));
	}
	pmu_limits_restore(&limits);
	EXPECT_EQ(calls, pmu_calls_made());
}

/* Checks that pmu_calls_made(), on which the previous test relies, counts calls. */
TEST_F(delegated, events_of_the_firmware_take_calls)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));
	long calls = pmu_calls_made();
	int fd;

	if (calls < 0 || pmu_caps_number("firmware_counters") <= 0)
		SKIP(return, "no count of calls (debugfs), or no firmware counters");

	fd = pmu_open_on(&attr, -1, 0, -1);
	ASSERT_LE(0, fd);
	EXPECT_LE(0, pmu_count(fd, pmu_loop, N));
	EXPECT_LT(calls, pmu_calls_made());
	close(fd);
}

TEST_F(delegated, a_group_has_counters_of_both_kinds)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));
	int leader, fd;

	if (pmu_caps_number("firmware_counters") <= 0)
		SKIP(return, "no firmware counters (caps/firmware_counters)");

	self->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	leader = pmu_open(&self->attr);
	ASSERT_LE(0, leader);
	attr.disabled = 0;
	fd = pmu_open_on(&attr, 0, -1, leader);
	ASSERT_LE(0, fd);
	for (int i = 1; i <= 3; i++) {
		struct { uint64_t value, enabled, running; } it;

		ASSERT_EQ(0, pmu_run(leader, 0, pmu_loop, N));
		ASSERT_EQ((ssize_t)sizeof(it), read(leader, &it, sizeof(it)));
		EXPECT_LE(i * pmu_least(N), it.value);
		EXPECT_EQ(it.enabled, it.running);
		EXPECT_LE(0, pmu_read(fd));
	}
	close(fd);
	close(leader);
}

/* --- raw selectors --- */

static struct perf_event_attr attr_raw(const struct perf_event_attr *like, uint64_t config)
{
	struct perf_event_attr attr = *like;

	attr.type = PERF_TYPE_RAW;
	attr.config = config;
	return attr;
}

TEST_F(delegated, a_raw_selector_of_no_event_counts_nothing)
{
	struct perf_event_attr attr = attr_raw(&self->attr, RAW_NOTHING);
	int fd;

	if (!pmu_is_qemu())
		SKIP(return, "not QEMU: the selectors of its hart are not known here");

	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, pmu_count(fd, pmu_loop, N));
	close(fd);
}

TEST_F(delegated, a_raw_selector_counts_what_it_names)
{
	struct perf_event_attr attr = attr_raw(&self->attr, RAW_INSNS);
	int fd;

	if (!pmu_is_qemu())
		SKIP(return, "not QEMU: the selectors of its hart are not known here");

	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	if (self->exact) {
		EXPECT_EQ(N, pmu_count_net(fd, pmu_loop, N));
	} else {
		EXPECT_LE(pmu_least(N), pmu_count(fd, pmu_loop, N));
	}
	close(fd);
}

/* --- a choice of counter: config2 --- */

/* Whether an event that may have only one counter gets that one. */
static bool gets_ctr(const struct perf_event_attr *like, uint64_t config, unsigned int ctr)
{
	struct perf_event_attr attr = attr_raw(like, config);
	bool gets;
	int fd;

	attr.config2 = 1ULL << ctr;
	fd = pmu_open(&attr);
	if (fd < 0)
		return false;
	gets = !pmu_run(fd, 0, pmu_loop, N) && pmu_ctrs_held(0) >> ctr & 1;
	close(fd);
	return gets;
}

TEST_F(delegated, an_event_gets_the_counter_that_it_asks_for)
{
	const struct perf_event_attr any = pmu_attr(PERF_TYPE_RAW, 0);

	if (pmu_ctrs_held(0) < 0 || !pmu_is_qemu())
		SKIP(return, "debugfs does not say what counters hold, or not QEMU");

	/* hpmcounter3 to 7 are the standard events' there; 18 is the last that it has. */
	for (unsigned int ctr = 8; ctr <= 18; ctr++)
		EXPECT_TRUE(gets_ctr(&self->attr, RAW_NOTHING + ctr, ctr));
	/* Some firmware has these count in its own mode, too: no filter for that then. */
	EXPECT_TRUE(gets_ctr(&any, PMU_STD(1), 0));
	EXPECT_TRUE(gets_ctr(&any, PMU_STD(2), 2));
}

static int try_ctrs(const struct perf_event_attr *like, uint64_t config, uint64_t ctrs)
{
	struct perf_event_attr attr = attr_raw(like, config);

	attr.config2 = ctrs;
	return pmu_try(&attr);
}

TEST_F(delegated, counters_that_can_not_hold_the_event_are_einval)
{
	EXPECT_EQ(0, try_ctrs(&self->attr, PMU_STD(2), 0xffffffff));
	EXPECT_EQ(-EINVAL, try_ctrs(&self->attr, PMU_STD(2), 1));	/* cycle */
	EXPECT_EQ(-EINVAL, try_ctrs(&self->attr, PMU_STD(2), 2));	/* time */
	EXPECT_EQ(-EINVAL, try_ctrs(&self->attr, PMU_STD(2), 1ULL << 32));
	if (pmu_is_qemu()) {
		EXPECT_EQ(-EINVAL, try_ctrs(&self->attr, RAW_NOTHING, 1ULL << 19));
	}
}

/*
 * A hart that loses its counters in a sleep tells the firmware, when it wakes, not to count
 * machine mode with those that are in use: with none, it makes no call.
 */
TEST(a_hart_that_wakes_calls_for_counters_in_use_only)
{
	struct perf_event_attr attr = pmu_attr_user(PERF_TYPE_HARDWARE,
						    PERF_COUNT_HW_INSTRUCTIONS);
	long calls;
	int fd;

	if (!pmu_is_delegated() || !pmu_sleeps_deeply())
		SKIP(return, "needs delegated counters, and a sleep that loses them (--idle)");

	/* A second, for counters that still run are stopped then. */
	usleep(1500000);
	calls = pmu_calls_made();
	for (int i = 0; i < 6; i++)
		usleep(20000);
	EXPECT_EQ(calls, pmu_calls_made());

	attr.disabled = 0;
	fd = pmu_open_on(&attr, -1, 0, -1);
	ASSERT_LE(0, fd);
	usleep(20000);
	calls = pmu_calls_of("cfg_match");
	for (int i = 0; i < 6; i++)
		usleep(20000);
	calls = pmu_calls_of("cfg_match") - calls;
	/* One at the end of each sleep, and one if a tick has come meanwhile. */
	EXPECT_LT(0, calls);
	EXPECT_GE(12, calls);
	close(fd);
}

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
