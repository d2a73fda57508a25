// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that the firmware has delegated to the kernel (Smcdeleg, Ssccfg): using them needs no
 * firmware calls. Also tests raw selectors, and the selection of a counter by config2.
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

/* QEMU has no event with this selector, so it counts nothing there. Other harts may refuse it. */
#define RAW_NOTHING	PMU_RAW(0x1234)
/* QEMU's selector for instructions: QEMU's harts use the SBI's event codes as selectors. */
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
		SKIP(return, "the firmware has not delegated the counters (caps/backend)");

	/* pmu_ctrs_configured() returns the counters of one hart, so the tests run on one. */
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

/* --- firmware calls --- */

/*
 * Counts with four groups that have different filters: more configs than there are counters for
 * each event. Returns 0 or -errno.
 */
static int count_groups(const struct perf_event_attr *attr)
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

/*
 * Returns the number of samples taken, or -errno. Without -icount QEMU's interrupt may be late, so
 * this function tries several times there.
 */
static int64_t count_samples(struct perf_event_attr attr)
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

static int count_child(struct perf_event_attr attr)
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

TEST_F_TIMEOUT(delegated, counting_and_sampling_need_no_firmware_calls, 60)
{
	struct pmu_limits limits;
	long calls = pmu_calls_made();

	if (calls < 0)
		SKIP(return, "the driver does not count firmware calls (debugfs)");
	if (pmu_idle_loses_ctrs())
		SKIP(return, "idle harts lose their counters and make calls when they resume");

	pmu_limits_save(&limits);
	EXPECT_EQ(0, count_groups(&self->attr));
	EXPECT_EQ(0, count_child(self->attr));
	if (pmu_samples_by_interrupt()) {
		EXPECT_LT(0, count_samples(self->attr));
	}
	pmu_limits_restore(&limits);
	EXPECT_EQ(calls, pmu_calls_made());
}

/* Checks that pmu_calls_made(), on which the previous test relies, counts firmware calls. */
TEST_F(delegated, firmware_events_need_firmware_calls)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));
	long calls = pmu_calls_made();
	int fd;

	if (calls < 0 || pmu_caps_number("firmware_counters") <= 0)
		SKIP(return, "firmware calls are not counted (debugfs), or no firmware counters");

	fd = pmu_open_on(&attr, -1, 0, -1);
	ASSERT_LE(0, fd);
	EXPECT_LE(0, pmu_count(fd, pmu_loop, N));
	EXPECT_LT(calls, pmu_calls_made());
	close(fd);
}

TEST_F(delegated, a_group_can_have_delegated_and_firmware_counters)
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

TEST_F(delegated, an_undefined_raw_selector_counts_nothing)
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

TEST_F(delegated, a_raw_selector_counts_its_event)
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

/* --- selection of a counter: config2 --- */

/* Returns whether an event whose config2 allows only @ctr uses that counter. */
static bool event_uses_ctr(const struct perf_event_attr *like, uint64_t config, unsigned int ctr)
{
	struct perf_event_attr attr = attr_raw(like, config);
	bool gets;
	int fd;

	attr.config2 = 1ULL << ctr;
	fd = pmu_open(&attr);
	if (fd < 0)
		return false;
	gets = !pmu_run(fd, 0, pmu_loop, N) && pmu_ctrs_configured(0) >> ctr & 1;
	close(fd);
	return gets;
}

TEST_F(delegated, an_event_uses_the_counter_that_config2_selects)
{
	const struct perf_event_attr any = pmu_attr(PERF_TYPE_RAW, 0);

	if (pmu_ctrs_configured(0) < 0 || !pmu_is_qemu())
		SKIP(return, "not QEMU, or debugfs does not have the configs of counters");

	/*
	 * On QEMU hpmcounter3 to 7 are for the standard events, and hpmcounter18 is the last one.
	 */
	for (unsigned int ctr = 8; ctr <= 18; ctr++)
		EXPECT_TRUE(event_uses_ctr(&self->attr, RAW_NOTHING + ctr, ctr));
	/* With some firmware, cycle and instret count machine mode, too: no filters here. */
	EXPECT_TRUE(event_uses_ctr(&any, PMU_STD(1), 0));
	EXPECT_TRUE(event_uses_ctr(&any, PMU_STD(2), 2));
}

static int try_ctrs(const struct perf_event_attr *like, uint64_t config, uint64_t ctrs)
{
	struct perf_event_attr attr = attr_raw(like, config);

	attr.config2 = ctrs;
	return pmu_try(&attr);
}

TEST_F(delegated, config2_without_a_usable_counter_gets_einval)
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
 * If a hart loses its counters in an idle state, the kernel calls the firmware when the hart
 * resumes, so that the counters in use do not count machine mode. If no counter is in use, it makes
 * no call.
 */
TEST(a_resuming_hart_makes_calls_for_counters_in_use_only)
{
	struct perf_event_attr attr = pmu_attr_user(PERF_TYPE_HARDWARE,
						    PERF_COUNT_HW_INSTRUCTIONS);
	long calls;
	int fd;

	if (!pmu_is_delegated() || !pmu_idle_loses_ctrs())
		SKIP(return, "needs delegated counters and an idle state that loses them (--idle)");

	/* Counters that still run are stopped after a second. */
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
	/* One call at the end of each sleep, and one more if a tick has interrupted it. */
	EXPECT_LT(0, calls);
	EXPECT_GE(12, calls);
	close(fd);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
