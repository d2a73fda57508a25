// SPDX-License-Identifier: GPL-2.0
/* Enable, disable, reset, read: what each does to the count, the times and the other events. */

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define N	1000000L

FIXTURE(startstop) {
	struct perf_event_attr attr;
	bool exact;
	int fd;
};

/* User only, where the hart can filter: only then is a count not disturbed by the kernel's. */
FIXTURE_SETUP(startstop)
{
	bool filter = pmu_can_filter();

	self->attr = filter ? pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) :
			      pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->exact = filter && pmu_is_exact();
	self->fd = pmu_open(&self->attr);
	ASSERT_LE(0, self->fd);
	pmu_count(self->fd, pmu_loop, 2);
	ioctl(self->fd, PERF_EVENT_IOC_RESET, 0);
}

FIXTURE_TEARDOWN(startstop)
{
	close(self->fd);
}

TEST_F(startstop, an_event_that_was_never_enabled_counts_nothing)
{
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	pmu_loop(N);
	EXPECT_EQ(0, pmu_read(fd));
	close(fd);
}

TEST_F(startstop, a_disabled_event_keeps_its_count)
{
	int64_t count;

	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	count = pmu_read(self->fd);
	EXPECT_LE(pmu_least(N), count);
	pmu_loop(N);
	EXPECT_EQ(count, pmu_read(self->fd));
	/* Disabling again changes nothing. */
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(count, pmu_read(self->fd));
}

TEST_F(startstop, enabling_an_enabled_event_changes_nothing)
{
	int64_t count;

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	pmu_loop(N);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	pmu_loop(N);
	count = pmu_read(self->fd);
	EXPECT_LE(pmu_least(2 * N), count);
	/* The calls of this test are far shorter than its loops. */
	if (self->exact)
		EXPECT_GE(2 * N + 1000, count);
}

TEST_F(startstop, a_hundred_windows_add_up)
{
	int64_t empty;

	for (int i = 0; i < 100; i++)
		ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, 0));
	empty = pmu_read(self->fd);
	ioctl(self->fd, PERF_EVENT_IOC_RESET, 0);
	for (int i = 0; i < 100; i++)
		ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, 10000));
	if (self->exact) {
		EXPECT_EQ(100 * 10000, pmu_read(self->fd) - empty);
	} else {
		EXPECT_LE(pmu_least(100 * 10000), pmu_read(self->fd));
	}
}

TEST_F(startstop, reads_of_a_running_event_never_go_back)
{
	int64_t last = 0;

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < 1000; i++) {
		int64_t count;

		pmu_loop(100);
		count = pmu_read(self->fd);
		EXPECT_LE(last + pmu_least(100), count);
		last = count;
	}
}

TEST_F(startstop, reading_does_not_disturb_the_count)
{
	int64_t empty, count;

	/* One read in each window, of a user path that is the same every time. */
	ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0);
	pmu_read(self->fd);
	ioctl(self->fd, PERF_EVENT_IOC_RESET, 0);
	empty = pmu_read(self->fd);
	for (int i = 0; i < 100; i++)
		count = pmu_read(self->fd) - empty;
	/* A hundred reads, each of the same length, from the first one's end on. */
	EXPECT_LT(0, count);
	if (self->exact) {
		EXPECT_EQ(0, count % 100);
		EXPECT_GE(100 * 100, count);
	}
}

TEST_F(startstop, reset_of_a_stopped_event_leaves_zero)
{
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	EXPECT_LE(pmu_least(N), pmu_read(self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	EXPECT_EQ(0, pmu_read(self->fd));
}

TEST_F(startstop, reset_of_a_running_event_starts_from_zero)
{
	int64_t count;

	if (!self->exact)
		SKIP(return, "needs filters, -icount and one hart: else the count is not known");

	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	pmu_loop(N);
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	pmu_loop(1000);
	count = pmu_read(self->fd);
	EXPECT_LE(pmu_least(1000), count);
	EXPECT_GE(1000 + 200, count);
}

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

TEST_F(startstop, read_formats_come_in_their_order)
{
	int64_t value[5], id;
	int fd;

	self->attr.read_format = TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST;
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ID, &id));
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	ASSERT_EQ((ssize_t)sizeof(value), read(fd, value, sizeof(value)));
	EXPECT_LE(pmu_least(N), value[0]);
	EXPECT_LT(0, value[1]);
	EXPECT_EQ(value[1], value[2]);
	EXPECT_EQ(id, value[3]);
	EXPECT_EQ(0, value[4]);
	/* Under -icount an instruction takes 1 ns. */
	if (self->exact)
		EXPECT_LE(pmu_least(N), value[1]);
	close(fd);
}

TEST_F(startstop, reset_leaves_the_times_alone)
{
	int64_t before[3], after[3];
	int fd;

	self->attr.read_format = TIMES;
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	ASSERT_EQ((ssize_t)sizeof(before), read(fd, before, sizeof(before)));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ((ssize_t)sizeof(after), read(fd, after, sizeof(after)));
	EXPECT_EQ(0, after[0]);
	EXPECT_EQ(before[1], after[1]);
	EXPECT_EQ(before[2], after[2]);
	close(fd);
}

/* What a group read looks like: number, two times, then value, id and lost for each member. */
struct group_read {
	int64_t nr, enabled, running;
	struct { int64_t value, id, lost; } member[2];
};

FIXTURE(group) {
	struct perf_event_attr attr;
	bool exact;
	int leader;
	int member;
};

FIXTURE_SETUP(group)
{
	bool filter = pmu_can_filter();

	self->exact = filter && pmu_is_exact();
	self->attr = filter ? pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) :
			      pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->attr.read_format = TIMES | PERF_FORMAT_ID | PERF_FORMAT_LOST | PERF_FORMAT_GROUP;
	self->leader = pmu_open(&self->attr);
	ASSERT_LE(0, self->leader);
	self->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	self->attr.disabled = 0;
	self->member = pmu_open_on(&self->attr, 0, -1, self->leader);
	ASSERT_LE(0, self->member);
}

FIXTURE_TEARDOWN(group)
{
	close(self->member);
	close(self->leader);
}

TEST_F(group, members_count_while_their_leader_is_enabled)
{
	struct group_read it;
	int64_t id[2];

	ASSERT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_ID, &id[0]));
	ASSERT_EQ(0, ioctl(self->member, PERF_EVENT_IOC_ID, &id[1]));
	ASSERT_EQ(0, pmu_run(self->leader, 0, pmu_loop, N));
	ASSERT_EQ((ssize_t)sizeof(it), read(self->leader, &it, sizeof(it)));
	EXPECT_EQ(2, it.nr);
	EXPECT_EQ(it.enabled, it.running);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(id[i], it.member[i].id);
		EXPECT_LE(pmu_least(N), it.member[i].value);
		EXPECT_EQ(0, it.member[i].lost);
	}
	/* An instruction is a cycle under -icount, and the whole group starts and stops at once. */
	if (self->exact)
		EXPECT_EQ(it.member[0].value, it.member[1].value);
}

TEST_F(group, a_disabled_member_stands_still_beside_its_leader)
{
	struct group_read it;

	ASSERT_EQ(0, ioctl(self->member, PERF_EVENT_IOC_DISABLE, 0));
	ASSERT_EQ(0, pmu_run(self->leader, 0, pmu_loop, N));
	ASSERT_EQ((ssize_t)sizeof(it), read(self->leader, &it, sizeof(it)));
	EXPECT_LE(pmu_least(N), it.member[0].value);
	EXPECT_EQ(0, it.member[1].value);
}

TEST_F(group, a_group_reset_resets_all_members)
{
	struct group_read it;

	ASSERT_EQ(0, pmu_run(self->leader, PERF_IOC_FLAG_GROUP, pmu_loop, N));
	ASSERT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	ASSERT_EQ((ssize_t)sizeof(it), read(self->leader, &it, sizeof(it)));
	EXPECT_EQ(0, it.member[0].value);
	EXPECT_EQ(0, it.member[1].value);
}

TEST_F(group, a_member_counts_on_alone_when_its_leader_is_closed)
{
	struct group_read it;

	ASSERT_EQ(0, ioctl(self->leader, PERF_EVENT_IOC_ENABLE, 0));
	close(self->leader);
	self->leader = -1;
	ASSERT_EQ(0, ioctl(self->member, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, pmu_run(self->member, 0, pmu_loop, N));
	ASSERT_EQ((ssize_t)(sizeof(it) - sizeof(it.member[1])),
		  read(self->member, &it, sizeof(it)));
	EXPECT_EQ(1, it.nr);
	EXPECT_LE(pmu_least(N), it.member[0].value);
}

PMU_TEST_AT_LAST(PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
