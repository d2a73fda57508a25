// SPDX-License-Identifier: GPL-2.0
/* Tests of irq.c, sample.c and update.c: overflows, samples and periods. */

#include "../apply.h"
#include "event_fixture.h"

/* --- periods ----------------------------------------------------------------- */

struct period_row {
	const char	*name;
	u64		period;
	s64		left;
	u64		ended;
	s64		next;
};

static const struct period_row period_rows[] = {
	{ "not ended yet", 1000, 1, 0, 1 },
	{ "just begun", 1000, 1000, 0, 1000 },
	{ "ended", 1000, 0, 1000, 1000 },
	{ "one beyond", 1000, -1, 1000, 999 },
	{ "almost a whole period beyond", 1000, -999, 1000, 1 },
	{ "a whole period beyond", 1000, -1000, 2000, 1000 },
	{ "more than a period beyond", 1000, -1001, 2000, 999 },
	{ "far beyond", 1000, -1000000007LL, 1000001000, 993 },
	{ "period 1", 1, 0, 1, 1 },
	{ "period 1, one beyond", 1, -1, 2, 1 },
	{ "period 1, far beyond", 1, -1000, 1001, 1 },
	{ "longer than 32 bits", BIT_ULL(40), -5, BIT_ULL(40), BIT_ULL(40) - 5 },
	{ "longer than 32 bits, far beyond", BIT_ULL(40), -5 - BIT_ULL(50),
	  BIT_ULL(50) + BIT_ULL(40), BIT_ULL(40) - 5 },
	{ "longest", S64_MAX, 0, S64_MAX, S64_MAX },
	{ "longest, not ended", S64_MAX, S64_MAX, 0, S64_MAX },
	{ "longest, one beyond", S64_MAX, -1, S64_MAX, S64_MAX - 1 },
	{ "longest, as far beyond as possible", S64_MAX, S64_MIN, U64_MAX - 1, S64_MAX - 1 },
	{ "a guest's longest", U64_MAX, 0, S64_MAX, S64_MAX },
	{ "a guest's longest, one beyond", U64_MAX, -1, S64_MAX, S64_MAX - 1 },
	{ "shortened during the period", 10, 1000, 0, 1000 },
};

KUNIT_ARRAY_PARAM_DESC(period, period_rows, name);

static void new_period_begins_when_the_last_one_has_ended(struct kunit *test)
{
	const struct period_row *row = test->param_value;
	struct state_event *s = new_event(test, 1, C(3), row->period);
	struct hw_perf_event *hwc = &s->event.hw;

	hwc->last_period = 12345;
	local64_set(&hwc->period_left, row->left);
	s->ev.period_count = min_t(u64, row->period, S64_MAX) - row->left;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_set_period(&s->ev), !!row->ended);
	KUNIT_EXPECT_EQ(test, (s64)local64_read(&hwc->period_left), row->next);
	KUNIT_EXPECT_EQ(test, hwc->last_period, row->ended ?: 12345);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_period_left(&s->ev), (u64)row->next);
}

static void period_left_is_not_negative(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);

	local64_set(&s->event.hw.period_left, 0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_period_left(&s->ev), 0);
	local64_set(&s->event.hw.period_left, -5);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_period_left(&s->ev), 0);
}

/* The period ends just before the event is removed, while interrupts are off. */
static void a_sample_that_is_due_survives_the_switch(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, i == 1 ? 100 : 99);
		sched_out(test, s);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, s->samples, i - 1);
		/* It runs, but the event does not occur. */
		sched_in(test, s);
		sched_out(test, s);
		sched_in(test, s);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 1);
		fake_advance(fake, 1);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, s->samples, i);
		KUNIT_EXPECT_EQ(test, s->last_period, 100);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 99);
	}
	sched_out(test, s);
}

/* With a sampling frequency, perf changes the period while it is in progress. */
static void sample_of_a_changed_period_includes_all_its_events(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);
	struct fake_pmu *fake = test->priv;

	s->event.overflow_handler = summing_overflow;
	sched_in(test, s);
	fake_advance(fake, 300);
	/* Like perf_adjust_period(), which ends the present period only if it is far too long. */
	s->event.hw.sample_period = 400;
	fake_advance(fake, 700);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->last_period, 1000);
	fake_advance(fake, 150);
	restart_with_period(s, 20);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 20);
	fake_advance(fake, 25);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->last_period, 170);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, s->sum, count_of(s) - 5);
	sched_out(test, s);
}

/* Distances to overflow points are signed, so a period has at most 63 bits. */
static void period_is_bounded(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);

	KUNIT_EXPECT_EQ(test, riscv_pmu_check_period(&s->event, 1), 0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_check_period(&s->event, S64_MAX), 0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_check_period(&s->event, BIT_ULL(63)), -EINVAL);
	KUNIT_EXPECT_EQ(test, riscv_pmu_check_period(&s->event, U64_MAX), -EINVAL);
}

/* --- the interrupt ----------------------------------------------------------- */

static void event_is_sampled_at_its_overflow_point(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	for (unsigned int i = 1; i <= 10; i++) {
		fake_advance(fake, 100);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, s->samples, i);
		KUNIT_EXPECT_EQ(test, s->last_period, 100);
		KUNIT_EXPECT_EQ(test, s->last_count, 100 * i);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
		KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
		KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	}
	sched_out(test, s);
}

/* Events after the overflow point are part of the next period: samples are count / period. */
static void skid_does_not_add_up(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	for (int i = 0; i < 50; i++) {
		fake_advance(fake, fake_until_wrap(fake, 3) + i % 7);
		interrupt(fake);
	}
	KUNIT_EXPECT_EQ(test, s->samples, 50);
	KUNIT_EXPECT_EQ(test, count_of(s), 50 * 100 + 49 % 7);
	sched_out(test, s);
}

static void event_is_not_sampled_before_its_overflow_point(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 1, C(3), 250);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	sched_in(test, b);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, a->samples, 1);
	KUNIT_EXPECT_EQ(test, b->samples, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 50);
	fake_advance(fake, 50);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, a->samples, 2);
	KUNIT_EXPECT_EQ(test, b->samples, 1);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 50);
	sched_out(test, a);
	sched_out(test, b);
}

/* The counter has an overflow flag from before, as with OpenSBI 1.6. */
static void unexpected_flag_restarts_the_counter(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 30);
	fake->ctr[3].overflowed = true;
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 70);
	fake_advance(fake, 70);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	sched_out(test, s);
}

/*
 * A period ends while interrupts are off, and the counter is started again. So its flag is clear
 * when the interrupt is handled, but it has passed its overflow point again.
 */
static void interrupt_without_a_flag_takes_the_sample(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 130);
	begin(fake);
	stop(s, 0);
	start(s, 0);
	finish(fake);
	fake_advance(fake, 5);
	fake->ctr[3].overflowed = false;
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.spurious, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 65);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.spurious, 1);
	sched_out(test, s);
}

/* The counter overflowed early, and its flag is clear: it has to be loaded nevertheless. */
static void early_interrupt_without_a_flag_reloads_the_counter(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	sched_out(test, s);
	fake_advance(fake, 30);
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 70);
	fake_advance(fake, 72);
	fake->ctr[3].overflowed = false;
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.early, 1);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 28);
	fake_advance(fake, 28);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	sched_out(test, s);
}

/* Flags of unexpected overflows are cleared, of counters in use and of unused ones. */
static void unexpected_overflows_are_cleared(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 0);
	struct state_event *b = new_event(test, 2, C(4), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	sched_in(test, b);
	sched_out(test, b);
	fake_advance(fake, 5000);
	fake->ctr[3].overflowed = true;
	KUNIT_EXPECT_TRUE(test, fake->ctr[4].overflowed);
	scoped_guard(irqsave) {
		riscv_pmu_begin_update(&fake->pmu, this_hart(fake));
		riscv_pmu_hart_pause(&fake->pmu, this_hart(fake),
				     fake->pmu.ops.overflowed(&fake->pmu, C(3) | C(4)));
		riscv_pmu_commit_update(&fake->pmu, this_hart(fake));
	}
	KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_EQ(test, fake_running(fake) & (C(3) | C(4)), C(3));
	fake_advance(fake, 5);
	KUNIT_EXPECT_EQ(test, count_of(a), 5005);
	sched_out(test, a);
}

/* The sampling event was removed. The counter keeps running with its overflow flag set. */
static void overflow_without_a_sampling_event_needs_no_batch(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 0);
	struct state_event *b = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, a);
	sched_in(test, b);
	sched_out(test, b);
	fake_advance(fake, 1000);
	fake->ctr[3].overflowed = true;
	batches = fake->nr_batches;
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_EQ(test, a->samples + b->samples, 0);
	KUNIT_EXPECT_EQ(test, count_of(a), 1000);
	sched_out(test, a);
}

static void interrupt_without_events_is_ignored(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	interrupt(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, 0);
}

/* Counter 3 wraps several times. Returns how far it has counted. */
static u64 wrap_narrow_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	u64 sum = 0;

	for (int i = 0; i < 5; i++) {
		u64 step = fake_until_wrap(fake, 3) + 10;

		fake_advance(fake, step);
		sum += step;
		interrupt(fake);
		KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
		KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	}

	return sum;
}

/* Even without sampling, the interrupt restarts a narrow counter, to detect its next wrap. */
static void a_narrow_counter_wraps_without_loss(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 0);
	u64 sum;

	fake_set_width(test->priv, C(3), 32);
	sched_in(test, s);
	sum = wrap_narrow_counter(test);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	KUNIT_EXPECT_EQ(test, count_of(s), sum);
	sched_out(test, s);
}

/* It runs on during the interrupt for its two events, and is restarted nevertheless. */
static void a_shared_narrow_counter_wraps_without_loss(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 0);
	struct state_event *b = new_event(test, 1, C(3), 0);
	u64 sum;

	fake_set_width(test->priv, C(3), 32);
	sched_in(test, a);
	sched_in(test, b);
	sum = wrap_narrow_counter(test);
	KUNIT_EXPECT_EQ(test, count_of(a), sum);
	KUNIT_EXPECT_EQ(test, count_of(b), sum);
	sched_out(test, b);
	sched_out(test, a);
}

/* perf stops the event, because it has reached its limit (PERF_EVENT_IOC_REFRESH). */
static void event_stopped_by_perf_stays_stopped(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct state_event *other = new_event(test, 1, C(3), 0);
	struct fake_pmu *fake = test->priv;

	atomic_set(&s->event.event_limit, 2);
	sched_in(test, s);
	sched_in(test, other);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, 0);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	irq_work_sync(&s->event.pending_disable_irq);
	KUNIT_EXPECT_TRUE(test, s->disabled);

	/* The event that shares the counter keeps counting. */
	fake_advance(fake, 300);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, count_of(s), 200);
	KUNIT_EXPECT_EQ(test, count_of(other), 500);
	sched_out(test, other);
	sched_out(test, s);
}

/* An overflow handler may restart its event with another period, as that of KVM. */
static void restarting_overflow(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs)
{
	struct fake_pmu *fake = kunit_get_current_test()->priv;

	state_overflow(event, data, regs);
	event->pmu->stop(event, PERF_EF_UPDATE);
	event->hw.sample_period = 40;
	local64_set(&event->hw.period_left, 0);
	event->pmu->start(event, PERF_EF_RELOAD);
	to_state(event)->running_in_handler = this_hart(fake)->hw.running;
}

static void handler_may_restart_its_event(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	s->event.overflow_handler = restarting_overflow;
	sched_in(test, s);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, 0);
	/* The event is paused in its handler, even if the handler restarts it. */
	KUNIT_EXPECT_EQ(test, s->running_in_handler, 0);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 40);
	fake_advance(fake, 40);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, count_of(s), 140);
	sched_out(test, s);
}

/* Only counters that overflowed are stopped. */
static void interrupt_leaves_other_counters_running(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 2, C(4), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	sched_in(test, b);
	fake_advance(fake, 100);
	interrupt(fake);
	fake_expect_batch(test, fake, 0, BATCH(.stop = C(3), .start = C(3), .load = C(3)));
	KUNIT_EXPECT_EQ(test, a->samples, 1);
	KUNIT_EXPECT_EQ(test, b->samples, 0);
	KUNIT_EXPECT_EQ(test, count_of(b), 200);
	sched_out(test, a);
	sched_out(test, b);
}

static void two_counters_overflow_at_once(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 2, C(33), 200);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	sched_in(test, b);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, a->samples, 1);
	KUNIT_EXPECT_EQ(test, b->samples, 1);
	KUNIT_EXPECT_EQ(test, fake_last(fake, 0).start, C(3) | C(33));
	sched_out(test, a);
	sched_out(test, b);
}

/* The interrupt is late by several periods: there is one sample with their sum as its period. */
static void late_sample_includes_all_periods_that_ended(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 1234);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 1200);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 66);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.merged, 1);
	sched_out(test, s);
}

/*
 * The event excludes the kernel, and the interrupt arrives in a kernel thread (that of this test),
 * which has no user-mode registers.
 */
static void period_of_a_dropped_sample_is_added_to_the_next(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	s->event.attr.exclude_kernel = 1;
	sched_in(test, s);
	fake_advance(fake, 100);
	interrupt_of(fake, SR_PP);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 200);
	sched_out(test, s);
}

/* The counters advance during the overflow handler. */
static void busy_overflow(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	struct fake_pmu *fake = kunit_get_current_test()->priv;

	state_overflow(event, data, regs);
	fake_advance(fake, 77);
}

static void group_is_paused_while_its_sample_is_taken(struct kunit *test)
{
	struct state_event *leader = new_event(test, 1, C(3), 100);
	struct state_event *member = new_event(test, 2, C(4), 0);
	struct state_event *same = new_event(test, 1, C(3), 0);
	struct state_event *other = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;

	leader->event.overflow_handler = busy_overflow;
	join_group(leader, member);
	join_group(leader, same);
	sched_in(test, leader);
	sched_in(test, member);
	sched_in(test, same);
	sched_in(test, other);
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, 100);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, count_of(leader), 100 * i);
		KUNIT_EXPECT_EQ(test, count_of(same), 100 * i);
		KUNIT_EXPECT_EQ(test, count_of(member), 200 * i);
		KUNIT_EXPECT_EQ(test, count_of(other), (200 + 2 * 77) * i);
	}
	sched_out(test, other);
	sched_out(test, same);
	sched_out(test, member);
	sched_out(test, leader);
}

/* Sampling members pause as others do, and stay as far from overflow points. */
static void sampling_members_are_paused_while_a_sample_is_taken(struct kunit *test)
{
	struct state_event *leader = new_event(test, 1, C(3), 100);
	struct state_event *member = new_event(test, 2, C(4), 1000);
	struct fake_pmu *fake = test->priv;

	leader->event.overflow_handler = busy_overflow;
	join_group(leader, member);
	sched_in(test, leader);
	sched_in(test, member);
	for (int i = 1; i <= 4; i++) {
		fake_advance(fake, 100);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, count_of(leader), 100 * i);
		KUNIT_EXPECT_EQ(test, count_of(member), 200 * i);
		KUNIT_EXPECT_EQ(test, member->ev.overflow_point - member->ev.prev_count,
				1000 - 200 * i);
	}
	/* Both end with the same tick. */
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, leader->samples, 5);
	KUNIT_EXPECT_EQ(test, member->samples, 1);
	KUNIT_EXPECT_EQ(test, member->last_period, 1000);
	KUNIT_EXPECT_EQ(test, count_of(leader), 500);
	KUNIT_EXPECT_EQ(test, count_of(member), 1000);
	sched_out(test, member);
	sched_out(test, leader);
}

/* The member's counter keeps running for a counting event, and overflows with the leader's. */
static void a_due_member_on_a_shared_counter_is_sampled_in_the_same_interrupt(struct kunit *test)
{
	struct state_event *leader = new_event(test, 1, C(3), 100);
	struct state_event *member = new_event(test, 2, C(4), 200);
	struct state_event *other = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;

	leader->event.overflow_handler = busy_overflow;
	join_group(leader, member);
	sched_in(test, leader);
	sched_in(test, member);
	sched_in(test, other);
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, 100);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, leader->samples, i);
		KUNIT_EXPECT_EQ(test, member->samples, i);
		KUNIT_EXPECT_EQ(test, count_of(leader), 100 * i);
		KUNIT_EXPECT_EQ(test, count_of(member), 200 * i);
		KUNIT_EXPECT_EQ(test, count_of(other), (200 + 2 * 77) * i);
	}
	sched_out(test, other);
	sched_out(test, member);
	sched_out(test, leader);
}

/* The leader's counter stands still in the kernel anyway; its member's does not. */
static void members_are_paused_if_the_sampled_event_excludes_the_kernel(struct kunit *test)
{
	struct state_event *leader = new_event(test, 1, C(3), 100);
	struct state_event *member = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;

	leader->event.overflow_handler = busy_overflow;
	leader->event.attr.exclude_kernel = 1;
	join_group(leader, member);
	sched_in(test, leader);
	sched_in(test, member);
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, 100);
		interrupt_of(fake, 0);
		KUNIT_EXPECT_EQ(test, count_of(leader), 100 * i);
		KUNIT_EXPECT_EQ(test, count_of(member), 200 * i);
	}
	sched_out(test, member);
	sched_out(test, leader);
}

/* --- one call for a batch ------------------------------------------------ */

static void overflow_takes_one_batch(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, a);
	sched_in(test, b);
	batches = fake->nr_batches;
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, fake_until_wrap(fake, 3));
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, a->samples, i);
		KUNIT_EXPECT_EQ(test, fake->nr_batches, batches + i);
		fake_expect_batch(test, fake, 0,
				  BATCH(.stop = C(3), .start = C(3), .load = C(3)));
	}
	sched_out(test, b);
	sched_out(test, a);
}

/* The hardware keeps running during the interrupt, but the paused counter's count does not. */
static void count_of_a_paused_counter_does_not_advance(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	a->event.overflow_handler = busy_overflow;
	sched_in(test, a);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, a->samples, 1);
	KUNIT_EXPECT_EQ(test, count_of(a), 100);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	sched_out(test, a);
}

/* A running counter gets another config: the batch has to stop it before. */
static void paused_counter_can_be_reprogrammed(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 2, C(3), 50);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	begin(fake);
	del(a);
	KUNIT_EXPECT_EQ(test, add(b, PERF_EF_START), 0);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 50);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	sched_out(test, b);
}

static struct kunit_case sample_cases[] = {
	KUNIT_CASE_PARAM(new_period_begins_when_the_last_one_has_ended, period_gen_params),
	KUNIT_CASE(period_left_is_not_negative),
	KUNIT_CASE(a_sample_that_is_due_survives_the_switch),
	KUNIT_CASE(sample_of_a_changed_period_includes_all_its_events),
	KUNIT_CASE(period_is_bounded),
	KUNIT_CASE(event_is_sampled_at_its_overflow_point),
	KUNIT_CASE(skid_does_not_add_up),
	KUNIT_CASE(event_is_not_sampled_before_its_overflow_point),
	KUNIT_CASE(unexpected_flag_restarts_the_counter),
	KUNIT_CASE(interrupt_without_a_flag_takes_the_sample),
	KUNIT_CASE(early_interrupt_without_a_flag_reloads_the_counter),
	KUNIT_CASE(unexpected_overflows_are_cleared),
	KUNIT_CASE(overflow_without_a_sampling_event_needs_no_batch),
	KUNIT_CASE(interrupt_without_events_is_ignored),
	KUNIT_CASE(a_narrow_counter_wraps_without_loss),
	KUNIT_CASE(a_shared_narrow_counter_wraps_without_loss),
	KUNIT_CASE(event_stopped_by_perf_stays_stopped),
	KUNIT_CASE(handler_may_restart_its_event),
	KUNIT_CASE(interrupt_leaves_other_counters_running),
	KUNIT_CASE(two_counters_overflow_at_once),
	KUNIT_CASE(late_sample_includes_all_periods_that_ended),
	KUNIT_CASE(period_of_a_dropped_sample_is_added_to_the_next),
	KUNIT_CASE(group_is_paused_while_its_sample_is_taken),
	KUNIT_CASE(sampling_members_are_paused_while_a_sample_is_taken),
	KUNIT_CASE(a_due_member_on_a_shared_counter_is_sampled_in_the_same_interrupt),
	KUNIT_CASE(members_are_paused_if_the_sampled_event_excludes_the_kernel),
	KUNIT_CASE(overflow_takes_one_batch),
	KUNIT_CASE(count_of_a_paused_counter_does_not_advance),
	KUNIT_CASE(paused_counter_can_be_reprogrammed),
	{}
};

STATE_SUITE("riscv_pmu_sample", sample_cases);
