// SPDX-License-Identifier: GPL-2.0
/* Tests of group.c: groups that can never run, and reads of a group at one instant. */

#include <linux/mutex.h>

#include "event_fixture.h"

/* The list of siblings is protected by the mutex of the leader's context. */
static struct state_event *new_leader(struct kunit *test, u64 selector, u64 ctrs)
{
	struct state_event *leader = new_event(test, selector, ctrs, 0);
	struct perf_event_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	mutex_init(&ctx->mutex);
	leader->event.ctx = ctx;
	return leader;
}

static void join_group(struct state_event *leader, struct state_event *member)
{
	member->event.group_leader = &leader->event;
	list_add_tail(&member->event.sibling_list, &leader->event.sibling_list);
	leader->event.nr_siblings++;
}

/* perf adds an event to the leader's list after event_init. */
static int validate(struct state_event *leader, struct state_event *member)
{
	guard(mutex)(&leader->event.ctx->mutex);
	member->event.group_leader = &leader->event;
	return riscv_pmu_group_validate(&member->event);
}

static void group_with_more_events_than_counters_is_refused(struct kunit *test)
{
	struct state_event *leader = new_leader(test, 1, C(3) | C(4));
	struct state_event *second = new_event(test, 2, C(3) | C(4), 0);
	struct state_event *third = new_event(test, 3, C(3) | C(4), 0);

	KUNIT_EXPECT_EQ(test, validate(leader, leader), 0);
	KUNIT_EXPECT_EQ(test, validate(leader, second), 0);
	join_group(leader, second);
	KUNIT_EXPECT_EQ(test, validate(leader, third), -EINVAL);
}

/* The second event shares the leader's counter, but can not move with it. */
static void shared_counter_moves_only_if_all_its_events_can(struct kunit *test)
{
	struct state_event *leader = new_leader(test, 1, C(3) | C(4));
	struct state_event *second = new_event(test, 1, C(3), 0);
	struct state_event *third = new_event(test, 2, C(3), 0);

	KUNIT_EXPECT_EQ(test, validate(leader, third), 0);
	KUNIT_EXPECT_EQ(test, validate(leader, second), 0);
	join_group(leader, second);
	KUNIT_EXPECT_EQ(test, validate(leader, third), -EINVAL);
}

static void group_with_more_than_16_identical_events_is_refused(struct kunit *test)
{
	struct state_event *leader = new_leader(test, 1, C(3));

	for (int i = 1; i < RISCV_PMU_MAX_IDENTICAL; i++) {
		struct state_event *member = new_event(test, 1, C(3), 0);

		KUNIT_EXPECT_EQ(test, validate(leader, member), 0);
		join_group(leader, member);
	}
	KUNIT_EXPECT_EQ(test, validate(leader, new_event(test, 1, C(3), 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, validate(leader, new_event(test, 2, C(4), 0)), 0);
}

static void group_is_read_at_one_instant(struct kunit *test)
{
	struct state_event *leader = new_event(test, 1, C(3), 0);
	struct state_event *member = new_event(test, 1, C(4), 0);
	struct fake_pmu *fake = test->priv;

	begin(fake);
	KUNIT_EXPECT_EQ(test, add(leader, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, add(member, PERF_EF_START), 0);
	finish(fake);
	fake_advance(fake, 100);
	scoped_guard(irqsave)
		riscv_pmu_start_txn(&fake->pmu.pmu, PERF_PMU_TXN_READ);
	KUNIT_EXPECT_EQ(test, count_of(leader), 100);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(member), 100);
	scoped_guard(irqsave)
		KUNIT_EXPECT_EQ(test, riscv_pmu_commit_txn(&fake->pmu.pmu), 0);
	KUNIT_EXPECT_EQ(test, count_of(leader), 110);
	KUNIT_EXPECT_EQ(test, count_of(member), 110);
	sched_out(test, member);
	sched_out(test, leader);
}

#define GROUP_CASES							\
	KUNIT_CASE(group_with_more_events_than_counters_is_refused),	\
	KUNIT_CASE(shared_counter_moves_only_if_all_its_events_can),	\
	KUNIT_CASE(group_with_more_than_16_identical_events_is_refused),	\
	KUNIT_CASE(group_is_read_at_one_instant)

static struct kunit_case group_cases[] = {
	GROUP_CASES,
	{}
};

static struct kunit_case group_cases_one_call[] = {
	GROUP_CASES,
	{}
};

STATE_SUITES("riscv_pmu_group", group_cases);
