// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of split events, which two counters sample: one counts in user mode, the other in the
 * kernel.
 */

#include "event_fixture.h"

#include "../update.h"

#define USER	RISCV_PMU_INH_U
#define KERNEL	RISCV_PMU_INH_S

struct split_event {
	struct state_event	*s;
	struct riscv_pmu_event	part;
};

/* What riscv_pmu_event_init() does if riscv_pmu_event_resolve() returns two requests. */
static struct split_event *new_split(struct kunit *test, u64 ctrs, u64 period)
{
	struct split_event *split = kunit_kzalloc(test, sizeof(*split), GFP_KERNEL);
	struct state_event *s = new_event(test, 1, ctrs, period);

	KUNIT_ASSERT_NOT_NULL(test, split);
	split->s = s;
	s->ev.req.cfg.inh = KERNEL | RISCV_PMU_INH_M;
	fake_event_init(&split->part, fake_config(1, USER | RISCV_PMU_INH_M), ctrs);
	split->part.event = &s->event;
	split->part.flags |= RISCV_PMU_EV_SAMPLING;
	split->part.left = &split->part.own_left;
	split->part.split.other = &s->ev;
	s->ev.split.other = &split->part;
	s->ev.flags |= RISCV_PMU_EV_SPLIT;
	s->event.overflow_handler = summing_overflow;
	return split;
}

static void run(struct fake_pmu *fake, u32 mode, u64 ticks)
{
	fake->mode = mode;
	fake_advance(fake, ticks);
}

static void both_parts_are_counted(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, split->s);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->wanted.sched.used, C(3) | C(4));
	KUNIT_EXPECT_EQ(test, this_hart(fake)->irq.events, 2);
	run(fake, USER, 300);
	run(fake, KERNEL, 20);
	KUNIT_EXPECT_EQ(test, count_of(split->s), 320);
	run(fake, USER, 5);
	sched_out(test, split->s);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->irq.events, 0);
	run(fake, USER, 100);
	KUNIT_EXPECT_EQ(test, local64_read(&split->s->event.count), 325);
}

static void each_part_has_its_own_period(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	sched_in(test, s);
	run(fake, USER, 900);
	run(fake, KERNEL, 900);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	run(fake, USER, 130);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 1000);
	KUNIT_EXPECT_EQ(test, s->last_count, 1930);
	run(fake, KERNEL, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	/* What was counted beyond the end of a period belongs to the next one of that part. */
	run(fake, USER, 969);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	run(fake, USER, 1);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 3);
	KUNIT_EXPECT_EQ(test, s->sum, 3000);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, local64_read(&s->event.count), 3000);
}

/* Both counters have overflowed: one interrupt takes both samples. */
static void two_periods_may_end_in_one_interrupt(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	sched_in(test, s);
	run(fake, USER, 1001);
	run(fake, KERNEL, 1002);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, s->sum, 2000);
	KUNIT_EXPECT_EQ(test, count_of(s), 2003);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, s->ev.ctr), 999);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, split->part.ctr), 998);
	sched_out(test, s);
}

/* perf adapts the period to what both parts count in the time between two samples. */
static void last_period_is_that_of_both_parts(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	sched_in(test, s);
	run(fake, KERNEL, 300);
	run(fake, USER, 1000);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->last_period, 1000);
	KUNIT_EXPECT_EQ(test, s->event.hw.last_period, 1300);
	run(fake, KERNEL, 700);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->last_period, 1000);
	KUNIT_EXPECT_EQ(test, s->event.hw.last_period, 700);
	run(fake, USER, 1000);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->event.hw.last_period, 1000);
	sched_out(test, s);
}

/* Each part goes on with what is left of its period. */
static void periods_survive_a_context_switch(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	for (int i = 0; i < 10; i++) {
		sched_in(test, s);
		run(fake, USER, 100);
		run(fake, KERNEL, 50);
		interrupt(fake);
		sched_out(test, s);
		KUNIT_EXPECT_EQ(test, s->samples, i == 9);
	}
	sched_in(test, s);
	run(fake, KERNEL, 500);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	sched_out(test, s);
}

/* perf gives a child event its period after event_init; until then, with a frequency, it is 1. */
static void a_childs_period_is_that_of_both_parts(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	s->event.hw.sample_period = 500;
	local64_set(&s->event.hw.period_left, 500);
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, s->ev.ctr), 500);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, split->part.ctr), 500);
	sched_out(test, s);
}

static void a_new_period_is_that_of_both_parts(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	sched_in(test, s);
	run(fake, USER, 10);
	run(fake, KERNEL, 10);
	restart_with_period(s, 50);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, s->ev.ctr), 50);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, split->part.ctr), 50);
	sched_out(test, s);
}

/* perf compares the period of the first part only with the one that the frequency asks for. */
static void a_shorter_period_is_that_of_both_parts(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	sched_in(test, s);
	stop(s, PERF_EF_UPDATE);
	s->event.hw.sample_period = 100;
	local64_set(&s->event.hw.period_left, 80);
	start(s, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, s->ev.ctr), 80);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, split->part.ctr), 100);
	sched_out(test, s);
}

/* The kernel runs for a while in the interrupt. */
static void overflow_in_kernel(struct perf_event *event, struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	struct fake_pmu *fake = kunit_get_current_test()->priv;

	summing_overflow(event, data, regs);
	run(fake, KERNEL, 77);
}

static void the_kernel_part_does_not_count_the_interrupt(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	s->event.overflow_handler = overflow_in_kernel;
	sched_in(test, s);
	run(fake, KERNEL, 40);
	run(fake, USER, 1000);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, count_of(s), 1040);
	/* Its counter has run on, and interrupts too early: the rest of the period follows. */
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, split->part.ctr), 960 - 77);
	run(fake, KERNEL, 960 - 77);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	run(fake, KERNEL, 77);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	sched_out(test, s);
}

static void a_split_event_waits_for_two_counters(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct state_event *other = new_event(test, 5, C(4), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, other);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(split->s, PERF_EF_START), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->wanted.sched.used, C(4));
	KUNIT_EXPECT_EQ(test, this_hart(fake)->irq.events, 0);
	sched_out(test, other);
	sched_in(test, split->s);
	sched_out(test, split->s);
}

/* At its limit perf stops the event: with it, both parts. */
static void a_stopped_event_stops_both_parts(struct kunit *test)
{
	struct split_event *split = new_split(test, C(3) | C(4), 1000);
	struct fake_pmu *fake = test->priv;
	struct state_event *s = split->s;

	atomic_set(&s->event.event_limit, 1);
	sched_in(test, s);
	run(fake, KERNEL, 1000);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->ev.state, RISCV_PMU_EVENT_STOPPED);
	KUNIT_EXPECT_EQ(test, split->part.state, RISCV_PMU_EVENT_STOPPED);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->irq.events, 0);
	run(fake, USER, 5000);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, count_of(s), 1000);
	sched_out(test, s);
}

static struct kunit_case split_cases[] = {
	KUNIT_CASE(both_parts_are_counted),
	KUNIT_CASE(each_part_has_its_own_period),
	KUNIT_CASE(two_periods_may_end_in_one_interrupt),
	KUNIT_CASE(last_period_is_that_of_both_parts),
	KUNIT_CASE(periods_survive_a_context_switch),
	KUNIT_CASE(a_childs_period_is_that_of_both_parts),
	KUNIT_CASE(a_new_period_is_that_of_both_parts),
	KUNIT_CASE(a_shorter_period_is_that_of_both_parts),
	KUNIT_CASE(the_kernel_part_does_not_count_the_interrupt),
	KUNIT_CASE(a_split_event_waits_for_two_counters),
	KUNIT_CASE(a_stopped_event_stops_both_parts),
	{}
};

STATE_SUITE("riscv_pmu_split", split_cases);
