// SPDX-License-Identifier: GPL-2.0
/*
 * More events than counters: they take turns, and what can never have a turn
 * is refused when it is opened. Firmware events, for those alone are more
 * (22) than their counters (16) on a QEMU.
 */

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
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
		SKIP(return, "needs fewer firmware counters than firmware events, but some");
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
 * perf rotates at each tick; in 200 ms there are 50, and each event has
 * ctrs / 22 of the time. Half of that is allowed for where the rounds end.
 */
TEST_F(multiplex, more_events_than_counters_take_turns)
{
	struct times it;
	int waited = 0;

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
		waited += it.running < it.enabled;
	}
	EXPECT_LT(0, waited);
}

TEST_F(multiplex, a_group_as_big_as_the_counters_counts)
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

TEST_F(multiplex, a_group_of_one_event_more_is_einval)
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

TEST_HARNESS_MAIN
