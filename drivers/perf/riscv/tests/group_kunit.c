// SPDX-License-Identifier: GPL-2.0
/* Tests of group.c: groups that can never run, and reads of a group at one instant. */

#include <linux/mutex.h>

#include "../assign.h"
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

/* Two events share a counter, and one of them cannot move to the free counter. */
static void shared_counter_moves_only_if_all_its_events_can(struct kunit *test)
{
	struct state_event *leader = new_leader(test, 1, C(3) | C(4));
	struct state_event *second = new_event(test, 1, C(3), 0);
	struct state_event *third = new_event(test, 2, C(3), 0);

	KUNIT_EXPECT_EQ(test, validate(leader, third), 0);
	KUNIT_EXPECT_EQ(test, validate(leader, second), 0);
	join_group(leader, second);
	KUNIT_EXPECT_EQ(test, validate(leader, third), -EINVAL);
	/* In the other order, it is the leader that cannot move. */
	leader = new_leader(test, 1, C(3));
	second = new_event(test, 1, C(3) | C(4), 0);
	KUNIT_EXPECT_EQ(test, validate(leader, second), 0);
	join_group(leader, second);
	KUNIT_EXPECT_EQ(test, validate(leader, third), -EINVAL);
}

static void group_with_more_than_64_identical_events_is_refused(struct kunit *test)
{
	struct state_event *leader = new_leader(test, 1, C(3));
	struct state_event *other = new_event(test, 1, C(4), 0);

	for (int i = 1; i < RISCV_PMU_MAX_IDENTICAL; i++) {
		struct state_event *member = new_event(test, 1, C(3), 0);

		KUNIT_EXPECT_EQ(test, validate(leader, member), 0);
		join_group(leader, member);
	}
	KUNIT_EXPECT_EQ(test, validate(leader, new_event(test, 1, C(3), 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, validate(leader, new_event(test, 2, C(4), 0)), 0);
	/* It is identical while there are no guests. */
	other->ev.req.cfg.inh |= RISCV_PMU_INH_GUESTS;
	KUNIT_EXPECT_EQ(test, validate(leader, other), -EINVAL);
}

/* Whether a group is accepted does not depend on whether there are guests at the moment. */
static void group_has_to_fit_with_guests(struct kunit *test)
{
	struct state_event *leader = new_leader(test, 1, C(3));
	struct state_event *other = new_event(test, 1, C(3), 0);
	struct fake_pmu *fake = test->priv;

	other->ev.req.cfg.inh |= RISCV_PMU_INH_GUESTS;
	fake->pmu.absent_inh = RISCV_PMU_INH_GUESTS;
	KUNIT_EXPECT_EQ(test, validate(leader, other), -EINVAL);
}

/* A clone's group was validated with its parent's, unless the clone got another PMU. */
static void group_of_a_child_is_not_validated_again(struct kunit *test)
{
	struct state_event *leader = new_leader(test, 1, C(3));
	struct state_event *parent = new_event(test, 2, C(3), 0);
	struct state_event *child = new_event(test, 2, C(3), 0);
	struct pmu other = {};

	KUNIT_EXPECT_EQ(test, validate(leader, child), -EINVAL);
	child->event.parent = &parent->event;
	KUNIT_EXPECT_EQ(test, validate(leader, child), 0);
	parent->event.pmu = &other;
	KUNIT_EXPECT_EQ(test, validate(leader, child), -EINVAL);
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

/* Other people's firmware events are attached to this hart, CPU-wide ones for example. */
static void other_firmware_counters_are_not_read(struct kunit *test)
{
	struct state_event *leader = new_event(test, 1, C(3), 100);
	struct state_event *member = new_event(test, 2, C(4), 0);
	struct state_event *others[] = {
		new_event(test, 3, C(40), 0), new_event(test, 4, C(41), 0),
	};
	struct fake_pmu *fake = test->priv;
	unsigned int reads;

	leader->event.attr.sample_type = PERF_SAMPLE_READ;
	join_group(leader, member);
	sched_in(test, others[0]);
	sched_in(test, others[1]);
	sched_in(test, leader);
	sched_in(test, member);
	reads = fake->nr_fw_reads;
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, leader->samples, 1);
	fake_advance(fake, 10);
	scoped_guard(irqsave) {
		riscv_pmu_start_txn(&fake->pmu.pmu, PERF_PMU_TXN_READ);
		riscv_pmu_read(&leader->event);
		riscv_pmu_read(&member->event);
		riscv_pmu_commit_txn(&fake->pmu.pmu);
	}
	begin(fake);
	del(leader);
	fake_advance(fake, 10);
	del(member);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_fw_reads, reads);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->event.count), 110);
	KUNIT_EXPECT_EQ(test, local64_read(&member->event.count), 220);
	KUNIT_EXPECT_EQ(test, count_of(others[0]), 3 * 120);
	KUNIT_EXPECT_EQ(test, count_of(others[1]), 4 * 120);
	sched_out(test, others[0]);
	sched_out(test, others[1]);
}

/* The first read latches the counts of the whole group, whatever they cost. */
static void firmware_counters_of_the_group_are_latched(struct kunit *test)
{
	struct state_event *leader = new_event(test, 1, C(3), 0);
	struct state_event *member = new_event(test, 2, C(40), 0);
	struct state_event *other = new_event(test, 3, C(41), 0);
	struct fake_pmu *fake = test->priv;
	unsigned int reads;

	join_group(leader, member);
	sched_in(test, leader);
	sched_in(test, member);
	sched_in(test, other);
	reads = fake->nr_fw_reads;
	fake_advance(fake, 100);
	begin(fake);
	del(leader);
	fake_advance(fake, 10);
	del(member);
	finish(fake);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->event.count), 100);
	KUNIT_EXPECT_EQ(test, local64_read(&member->event.count), 200);
	KUNIT_EXPECT_EQ(test, fake->nr_fw_reads, reads + 1);
	sched_out(test, other);
}

/* Each read of a counter is an exit to the host. */
static void a_guest_reads_only_what_it_needs(struct kunit *test)
{
	struct state_event *leader, *member, *other;
	struct fake_pmu *fake = test->priv;
	unsigned int reads;

	fake->pmu.direct_ctrs = 0;
	leader = new_event(test, 1, C(3), 0);
	member = new_event(test, 2, C(4), 0);
	other = new_event(test, 3, C(5), 0);
	join_group(leader, member);
	sched_in(test, leader);
	sched_in(test, member);
	sched_in(test, other);
	fake_advance(fake, 100);
	reads = fake->nr_reads;
	begin(fake);
	del(leader);
	fake_advance(fake, 10);
	del(member);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_reads, reads + 2);
	KUNIT_EXPECT_EQ(test, local64_read(&leader->event.count), 100);
	KUNIT_EXPECT_EQ(test, local64_read(&member->event.count), 200);
	KUNIT_EXPECT_EQ(test, count_of(other), 330);
	sched_out(test, other);
}

static struct kunit_case group_cases[] = {
	KUNIT_CASE(group_with_more_events_than_counters_is_refused),
	KUNIT_CASE(shared_counter_moves_only_if_all_its_events_can),
	KUNIT_CASE(group_with_more_than_64_identical_events_is_refused),
	KUNIT_CASE(group_has_to_fit_with_guests),
	KUNIT_CASE(group_of_a_child_is_not_validated_again),
	KUNIT_CASE(group_is_read_at_one_instant),
	KUNIT_CASE(other_firmware_counters_are_not_read),
	KUNIT_CASE(firmware_counters_of_the_group_are_latched),
	KUNIT_CASE(a_guest_reads_only_what_it_needs),
	{}
};

STATE_SUITE("riscv_pmu_group", group_cases);
