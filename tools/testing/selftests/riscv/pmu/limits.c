// SPDX-License-Identifier: GPL-2.0
/*
 * The limits of perf_event_open() and of its descriptors: attributes that are refused,
 * requests that a counting event refuses, and as many events as a process can have. A
 * refused event must leave nothing behind, and an event that counts must go on counting.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/bundle.h"
#include "lib/task.h"

BUNDLE_FIXTURE(limits)

/* The first five are this driver's to refuse, the others perf's before or after it. */
static const struct invalid {
	const char *why;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu, leader;
} invalid[] = {
	{ "exclude_idle",	{ .config = 1, .exclude_idle = 1 },		0, -1, -1 },
	{ "precise_ip",		{ .config = 1, .precise_ip = 3 },		0, -1, -1 },
	{ "config1",		{ .config = 1, .config1 = 1 },			0, -1, -1 },
	{ "no such event",	{ .config = PERF_COUNT_HW_MAX },		0, -1, -1 },
	{ "no such selector",	{ .type = PERF_TYPE_RAW, .config = 1ULL << 61 }, 0, -1, -1 },
	{ "period",		{ .config = 1, .sample_period = 1ULL << 63 },	0, -1, -1 },
	{ "no such leader",	{ .config = 1 },				0, -1, 9999 },
	{ "no such task",	{ .config = 1 },			0x3fffffff, -1, -1 },
	{ "no such cpu",	{ .config = 1 },				-1, 9999, -1 },
	{ "neither",		{ .config = 1 },				-1, -1, -1 },
};

/* They ask to be enabled at once: what were left of them would be on a counter. */
TEST_F(limits, what_is_refused_leaves_no_trace)
{
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		struct perf_event_attr attr = invalid[i].attr;

		attr.size = sizeof(attr);
		for (int times = 0; times < 20; times++) {
			EXPECT_GT(0, bundle_open_on(&self->all, &attr, invalid[i].pid,
						    invalid[i].cpu, invalid[i].leader))
				TH_LOG("%s", invalid[i].why);
		}
		EXPECT_EQ(self->attached, pmu_events_attached());
	}
	EXPECT_GE(0, pmu_ctrs_left());
	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
}

TEST_F(limits, an_event_lives_as_long_as_its_last_descriptor)
{
	int fd = bundle_open(&self->all, &self->attr, -1);
	int other = dup(fd);

	ASSERT_LE(0, fd);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	bundle_close(&self->all, 0);
	EXPECT_STILL_COUNTS(other);
	close(other);
	EXPECT_EQ(self->attached, pmu_events_attached());
	EXPECT_GE(0, pmu_ctrs_left());
}

TEST_F(limits, no_attribute_of_an_event_can_be_modified)
{
	struct perf_event_attr attr = self->attr;
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	attr.exclude_user = 1;
	errno = 0;
	EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
	EXPECT_EQ(EOPNOTSUPP, errno);
	attr.type = PERF_TYPE_SOFTWARE;
	EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(fd));
}

TEST_F(limits, a_counting_event_has_no_period_and_no_refresh)
{
	static const uint64_t periods[] = { 0, 1, 1000, LONGEST, 1ULL << 63, UINT64_MAX };
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		errno = 0;
		EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_PERIOD, &periods[i]));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(fd));
}

/* --- more than there can be --- */

#define DESCRIPTORS	3000

/* One in ten is enabled. They could share a counter, but at most 64 run at a time. */
TEST_F(limits, three_thousand_events_are_opened_and_closed)
{
	struct rlimit limit = { DESCRIPTORS, DESCRIPTORS };
	static int fd[DESCRIPTORS];
	struct times it;
	int first = dup(0), nr = 0, err;

	close(first);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	for (;;) {
		/* The first one never has to wait; the others that are enabled do. */
		self->attr.pinned = !nr;
		self->attr.disabled = nr % 10 != 0;
		err = pmu_open(&self->attr);
		if (err < 0)
			break;
		fd[nr++] = err;
	}
	EXPECT_EQ(-EMFILE, err);
	EXPECT_EQ(DESCRIPTORS - first, nr);

	EXPECT_STILL_COUNTS(fd[0]);
	it = read_times(fd[0]);
	EXPECT_EQ(it.enabled, it.running);
	close(fd[--nr]);
	fd[nr] = pmu_open(&self->attr);
	EXPECT_LE(0, fd[nr++]);
	while (nr)
		close(fd[--nr]);
	EXPECT_EQ(self->attached, pmu_events_attached());
	EXPECT_GE(0, pmu_ctrs_left());
}

/* More of a task's identical events than can run at the same time */
#define MANY	70

/* perf adds CPU-wide events before those of a task that are not pinned either. */
TEST_F(limits, many_events_of_a_task_do_not_make_a_cpu_wide_one_wait)
{
	struct times it, all = {};
	int monitor, fd[MANY];

	move_to(0);
	self->attr.disabled = 0;
	monitor = pmu_open_on(&self->attr, -1, 0, -1);
	ASSERT_LE(0, monitor);
	for (int i = 0; i < MANY; i++) {
		fd[i] = pmu_open(&self->attr);
		ASSERT_LE(0, fd[i]);
	}
	pmu_run_all(pmu_loop, 100 * N);

	it = read_times(monitor);
	EXPECT_LT(0, it.running);
	EXPECT_EQ(it.enabled, it.running);
	for (int i = 0; i < MANY; i++) {
		it = read_times(fd[i]);
		all.enabled += it.enabled;
		all.running += it.running;
		close(fd[i]);
	}
	EXPECT_LT(all.running, all.enabled);
	close(monitor);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
