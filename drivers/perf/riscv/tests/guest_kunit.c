// SPDX-License-Identifier: GPL-2.0
/* Tests of kvm/guest.c: which counters a KVM guest may read, and with which values. */

#include <linux/perf/riscv_pmu.h>

#include "event_fixture.h"

#define GUEST_CTR	5
#define BASE		1000

/* A KVM event for the guest's counter with the number GUEST_CTR. */
static struct state_event *new_guest_event(struct kunit *test, u64 ctrs, u64 period)
{
	struct state_event *s = new_event(test, 1, ctrs, period);

	s->ev.req.prefer = C(GUEST_CTR) & ctrs;
	return s;
}

static bool prepare_read(struct state_event *s, u64 base)
{
	guard(irqsave)();
	return riscv_pmu_guest_prepare_read(&s->event, base, 64);
}

static void counter_gets_the_guests_value(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, FAKE_CONFIG, 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, s->ev.ctr, GUEST_CTR);
	fake_advance(fake, 50);
	KUNIT_EXPECT_TRUE(test, prepare_read(s, BASE));
	KUNIT_EXPECT_EQ(test, fake->ctr[GUEST_CTR].value, BASE + 50);
	fake_advance(fake, 7);
	KUNIT_EXPECT_EQ(test, count_of(s), 57);
	KUNIT_EXPECT_TRUE(test, prepare_read(s, BASE));
	KUNIT_EXPECT_EQ(test, fake->ctr[GUEST_CTR].value, BASE + 57);
	sched_out(test, s);
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	KUNIT_EXPECT_EQ(test, (u64)local64_read(&s->event.count), 57);
}

/* KVM's period ends where the guest's counter overflows, so nothing has to be written. */
static void sampling_event_needs_no_write(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, FAKE_CONFIG, 1000);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, s);
	batches = fake->nr_batches;
	KUNIT_EXPECT_TRUE(test, prepare_read(s, -1000ULL));
	fake_advance(fake, 999);
	KUNIT_EXPECT_TRUE(test, prepare_read(s, -1000ULL));
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, GUEST_CTR), 1);
	sched_out(test, s);
}

/* The guest's counter has wrapped, and its event is late: the hardware must interrupt at once. */
static void overflow_point_is_not_lost(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, C(GUEST_CTR), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 1003);
	KUNIT_EXPECT_FALSE(test, prepare_read(s, -1000ULL));
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	/* The next period is longer than the distance to the guest's overflow. */
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, GUEST_CTR), 997);
	sched_out(test, s);
}

static void counter_of_another_width_is_not_readable(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, C(GUEST_CTR), 0);

	sched_in(test, s);
	scoped_guard(irqsave)
		KUNIT_EXPECT_FALSE(test, riscv_pmu_guest_prepare_read(&s->event, BASE, 48));
	sched_out(test, s);
}

static void counter_of_another_number_is_not_readable(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, FAKE_CONFIG & ~C(GUEST_CTR), 0);

	sched_in(test, s);
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	sched_out(test, s);
}

/* Writing the counter would make the other event's count wrong. */
static void shared_counter_is_not_readable(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, C(GUEST_CTR), 0);
	struct state_event *other = new_guest_event(test, C(GUEST_CTR), 0);

	sched_in(test, s);
	sched_in(test, other);
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	sched_out(test, other);
	KUNIT_EXPECT_TRUE(test, prepare_read(s, BASE));
	sched_out(test, s);
}

/* The host counts the same on another counter. */
static void own_counter_is_better_than_a_shared_one(struct kunit *test)
{
	struct state_event *host = new_event(test, 1, C(3), 0);
	struct state_event *s = new_guest_event(test, C(3) | C(GUEST_CTR), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, host);
	/* QEMU would not count on two programmable counters. */
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, s->ev.ctr, 3);
	sched_out(test, s);

	fake->pmu.fixed_ctrs = C(GUEST_CTR);
	s = new_guest_event(test, C(3) | C(GUEST_CTR), 0);
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, s->ev.ctr, GUEST_CTR);
	KUNIT_EXPECT_TRUE(test, prepare_read(s, BASE));
	sched_out(test, s);
	sched_out(test, host);
}

static void stopped_counter_is_not_readable(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, C(GUEST_CTR), 0);

	begin(test->priv);
	KUNIT_EXPECT_EQ(test, add(s, 0), 0);
	finish(test->priv);
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	sched_out(test, s);
}

static void event_whose_counter_cannot_be_written_stops(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, C(GUEST_CTR), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake->fail_start = C(GUEST_CTR);
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	KUNIT_EXPECT_NE(test, s->ev.state, RISCV_PMU_EVENT_ACTIVE);
	fake->fail_start = 0;
	sched_out(test, s);
}

/* See GUEST_QEMU_DISTANCE. */
static void qemu_gets_no_value_far_from_the_overflow(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, C(GUEST_CTR), 0);
	struct fake_pmu *fake = test->priv;

	fake->pmu.is_qemu = true;
	sched_in(test, s);
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	KUNIT_EXPECT_TRUE(test, prepare_read(s, -BIT_ULL(62)));
	fake->pmu.is_qemu = false;
	KUNIT_EXPECT_TRUE(test, prepare_read(s, BASE));
	sched_out(test, s);
}

static void counters_that_are_never_written_are_not_readable(struct kunit *test)
{
	struct state_event *s = new_guest_event(test, C(GUEST_CTR), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake->pmu.loads = false;
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	fake->pmu.loads = true;
	fake->pmu.clamped_ctrs = C(GUEST_CTR);
	KUNIT_EXPECT_FALSE(test, prepare_read(s, BASE));
	fake->pmu.clamped_ctrs = 0;
	sched_out(test, s);
}

static struct kunit_case guest_cases[] = {
	KUNIT_CASE(counter_gets_the_guests_value),
	KUNIT_CASE(sampling_event_needs_no_write),
	KUNIT_CASE(overflow_point_is_not_lost),
	KUNIT_CASE(counter_of_another_width_is_not_readable),
	KUNIT_CASE(counter_of_another_number_is_not_readable),
	KUNIT_CASE(shared_counter_is_not_readable),
	KUNIT_CASE(own_counter_is_better_than_a_shared_one),
	KUNIT_CASE(stopped_counter_is_not_readable),
	KUNIT_CASE(event_whose_counter_cannot_be_written_stops),
	KUNIT_CASE(qemu_gets_no_value_far_from_the_overflow),
	KUNIT_CASE(counters_that_are_never_written_are_not_readable),
	{}
};

static int guest_init(struct kunit *test)
{
	struct fake_pmu *fake;
	int err = state_init(test);

	if (err)
		return err;

	fake = test->priv;
	fake->pmu.pmu.start_txn = riscv_pmu_start_txn;
	fake->pmu.loads = true;
	return 0;
}

static struct kunit_suite guest_suite = {
	.name		= "riscv_pmu_guest",
	.init		= guest_init,
	.exit		= state_exit,
	.test_cases	= guest_cases,
};

kunit_test_suite(guest_suite);
