// SPDX-License-Identifier: GPL-2.0
/*
 * What enabling, disabling, resetting and reading an event do to its count, its times and other
 * events.
 */

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

/*
 * If the hart can filter, the event counts user mode only, so the kernel does not change its count.
 */
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
	/* Apart from its loops, this test executes far fewer than 1000 instructions. */
	if (self->exact)
		EXPECT_GE(2 * N + 1000, count);
}

TEST_F(startstop, counts_of_a_hundred_windows_add_up)
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

TEST_F(startstop, reads_of_a_running_event_never_decrease)
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

TEST_F(startstop, reading_does_not_change_the_count)
{
	int64_t empty, count;

	/* Each read executes the same number of instructions in user mode. */
	ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0);
	pmu_read(self->fd);
	ioctl(self->fd, PERF_EVENT_IOC_RESET, 0);
	empty = pmu_read(self->fd);
	for (int i = 0; i < 100; i++)
		count = pmu_read(self->fd) - empty;
	/* The count is that of a hundred reads since the end of the first one. */
	EXPECT_LT(0, count);
	if (self->exact) {
		EXPECT_EQ(0, count % 100);
		EXPECT_GE(100 * 100, count);
	}
}

TEST_F(startstop, reset_of_a_disabled_event_sets_its_count_to_zero)
{
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	EXPECT_LE(pmu_least(N), pmu_read(self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_RESET, 0));
	EXPECT_EQ(0, pmu_read(self->fd));
}

TEST_F(startstop, reset_of_a_running_event_restarts_at_zero)
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

TEST_F(startstop, read_returns_its_fields_in_the_specified_order)
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

TEST_F(startstop, reset_does_not_change_the_times)
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

/* What read() returns for a group: number, two times, then value, ID and lost for each member. */
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
	/*
	 * Under -icount an instruction takes one cycle, and all events of a group start and stop
	 * at the same time.
	 */
	if (self->exact)
		EXPECT_EQ(it.member[0].value, it.member[1].value);
}

TEST_F(group, a_disabled_member_does_not_count_with_its_leader)
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

TEST_F(group, a_member_still_counts_after_its_leader_is_closed)
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

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
