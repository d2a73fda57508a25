// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of kvm/guest.c: which counters a KVM guest may read, and with which values; which events
 * share a counter while there are guests, and while there are none.
 */

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

/* --- events that exclude guests, and events that do not --- */

#define GUESTS	RISCV_PMU_INH_GUESTS

struct pair {
	struct state_event *excludes, *includes;
};

static struct pair new_pair(struct kunit *test, u64 ctrs)
{
	struct pair pair = { new_event(test, 1, ctrs, 0), new_event(test, 1, ctrs, 0) };
	struct fake_pmu *fake = test->priv;

	pair.excludes->ev.req.cfg.inh |= GUESTS;
	fake->pmu.absent_inh = GUESTS;
	fake->mode = RISCV_PMU_INH_U;
	return pair;
}

static void add_pair(struct kunit *test, const struct pair *pair)
{
	begin(test->priv);
	KUNIT_EXPECT_EQ(test, add(pair->excludes, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, add(pair->includes, PERF_EF_START), 0);
	finish(test->priv);
}

/* What guest_resched() does when the first vcpu is created or the last destroyed */
static void set_absent(struct fake_pmu *fake, u32 absent)
{
	guard(irqsave)();
	fake->pmu.absent_inh = absent;
	riscv_pmu_guest_invalidate(this_hart(fake));
}

static void resched_pair(struct kunit *test, const struct pair *pair, u32 absent)
{
	struct fake_pmu *fake = test->priv;

	set_absent(fake, absent);
	begin(fake);
	del(pair->includes);
	del(pair->excludes);
	KUNIT_EXPECT_EQ(test, add(pair->excludes, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, add(pair->includes, PERF_EF_START), 0);
	finish(fake);
}

static void del_pair(struct kunit *test, const struct pair *pair)
{
	sched_out(test, pair->excludes);
	sched_out(test, pair->includes);
}

static void without_guests_one_counter_is_enough(struct kunit *test)
{
	struct pair pair = new_pair(test, C(3));
	struct fake_pmu *fake = test->priv;

	add_pair(test, &pair);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(pair.excludes), 10);
	KUNIT_EXPECT_EQ(test, count_of(pair.includes), 10);
	del_pair(test, &pair);
}

static void with_guests_one_counter_is_not_enough(struct kunit *test)
{
	struct pair pair = new_pair(test, C(3));
	struct fake_pmu *fake = test->priv;

	fake->pmu.absent_inh = 0;
	sched_in(test, pair.excludes);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(pair.includes, PERF_EF_START), -EAGAIN);
	finish(fake);
	sched_out(test, pair.excludes);
}

/* Events of the guest alone differ in their filters for the guest, too. */
static void events_of_guests_share_a_counter_without_guests(struct kunit *test)
{
	struct pair pair = new_pair(test, C(3));
	struct fake_pmu *fake = test->priv;

	pair.includes->ev.req.cfg.inh |= RISCV_PMU_INH_U | RISCV_PMU_INH_S | RISCV_PMU_INH_VS;
	pair.excludes->ev.req.cfg.inh |= RISCV_PMU_INH_U | RISCV_PMU_INH_S;
	add_pair(test, &pair);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(pair.excludes), 0);
	KUNIT_EXPECT_EQ(test, count_of(pair.includes), 0);
	del_pair(test, &pair);
}

/* They get a counter each while there are guests, and count exactly. */
static void events_part_while_there_are_guests(struct kunit *test)
{
	struct pair pair = new_pair(test, C(3) | C(4));
	struct fake_pmu *fake = test->priv;

	add_pair(test, &pair);
	KUNIT_EXPECT_EQ(test, pair.excludes->ev.ctr, pair.includes->ev.ctr);
	fake_advance(fake, 10);

	resched_pair(test, &pair, 0);
	KUNIT_EXPECT_NE(test, pair.excludes->ev.ctr, pair.includes->ev.ctr);
	fake->mode = RISCV_PMU_INH_VS;
	fake_advance(fake, 5);
	fake->mode = RISCV_PMU_INH_U;
	fake_advance(fake, 3);
	KUNIT_EXPECT_EQ(test, count_of(pair.excludes), 13);
	KUNIT_EXPECT_EQ(test, count_of(pair.includes), 18);

	resched_pair(test, &pair, GUESTS);
	KUNIT_EXPECT_EQ(test, pair.excludes->ev.ctr, pair.includes->ev.ctr);
	fake_advance(fake, 2);
	KUNIT_EXPECT_EQ(test, count_of(pair.excludes), 15);
	KUNIT_EXPECT_EQ(test, count_of(pair.includes), 20);
	del_pair(test, &pair);
}

/* An event that was switched out does not return to its counter, which lacks a filter. */
static void a_detached_event_gets_its_filters(struct kunit *test)
{
	struct pair pair = new_pair(test, C(3));
	struct fake_pmu *fake = test->priv;

	sched_in(test, pair.excludes);
	sched_out(test, pair.excludes);
	set_absent(fake, 0);
	fake->mode = RISCV_PMU_INH_VS;
	sched_in(test, pair.excludes);
	fake_advance(fake, 5);
	KUNIT_EXPECT_EQ(test, count_of(pair.excludes), 0);
	sched_out(test, pair.excludes);
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
	KUNIT_CASE(without_guests_one_counter_is_enough),
	KUNIT_CASE(with_guests_one_counter_is_not_enough),
	KUNIT_CASE(events_of_guests_share_a_counter_without_guests),
	KUNIT_CASE(events_part_while_there_are_guests),
	KUNIT_CASE(a_detached_event_gets_its_filters),
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
