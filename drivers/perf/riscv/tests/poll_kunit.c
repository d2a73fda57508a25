// SPDX-License-Identifier: GPL-2.0
/* Tests of throttle.c, poll.c and poll_*.c: minimum periods, and events without interrupts. */

#include <asm/delay.h>
#include <kunit/static_stub.h>

#include "event_fixture.h"
#include "../throttle.h"
#include "../update.h"

/* --- throttling -------------------------------------------------------------- */

/* Simulates an interrupt of @ctr that begins @gap ticks after the last one and takes @ticks. */
static void timed_interrupt(struct fake_pmu *fake, unsigned int ctr, u32 gap, u32 ticks)
{
	struct riscv_pmu_hart *hart = this_hart(fake);
	u32 now = hart->throttle.ended + gap;

	fake_advance(fake, fake_until_wrap(fake, ctr));
	riscv_pmu_throttle_begin_irq(&fake->pmu, hart, now, fake->mode == RISCV_PMU_INH_U);
	interrupt(fake);
	riscv_pmu_throttle_end_irq(hart, now + ticks);
}

/* The overflow handler takes time. */
static void long_overflow(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	state_overflow(event, data, regs);
	fake_advance(kunit_get_current_test()->priv, 10);
}

/*
 * A counting and a sampling event share a counter. The counting event counts during the interrupt,
 * as it would on a counter of its own; the sampling event does not.
 */
static void shared_counting_event_counts_during_the_interrupt(struct kunit *test)
{
	struct state_event *sampled = new_event(test, 1, C(3), 100);
	struct state_event *counted = new_event(test, 1, C(3), 0);
	struct fake_pmu *fake = test->priv;

	sampled->event.overflow_handler = long_overflow;
	sched_in(test, sampled);
	sched_in(test, counted);
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, 101);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, sampled->samples, i);
		KUNIT_EXPECT_EQ(test, count_of(sampled), 101 * i);
		KUNIT_EXPECT_EQ(test, count_of(counted), 111 * i);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100 - i);
	}
	sched_out(test, counted);
	sched_out(test, sampled);
}

/* Neither a new period nor one that starts after a pause is extended. */
static void a_new_period_and_a_pause_end_the_minimum_period(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 10);
	u32 max_gap = riscv_timebase / 250;
	u64 left = 20;

	sched_in(test, s);
	s->ev.min_period = 1000;
	s->ev.last_sample = get_cycles();
	restart_with_period(s, 20);
	KUNIT_EXPECT_EQ(test, s->ev.min_period, 0);
	KUNIT_EXPECT_EQ(test, s->ev.overflow_point - s->ev.prev_count, 20);
	sched_out(test, s);

	/* A slow machine may take 4 ms here, but not each time. */
	for (int i = 0; i < 1000 && left == 20; i++) {
		s->ev.min_period = 1 << 20;
		s->ev.last_sample = get_cycles();
		left = riscv_pmu_throttle_restart(&s->ev);
	}
	KUNIT_EXPECT_EQ(test, left, 1 << 20);

	s->ev.last_sample = get_cycles() - max_gap;
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, s->ev.min_period, 0);
	KUNIT_EXPECT_EQ(test, s->ev.overflow_point - s->ev.prev_count, 20);
	sched_out(test, s);
}

static void periods_are_extended_under_load_and_restored(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 10);
	struct fake_pmu *fake = test->priv;
	const u32 gap = fake->pmu.one_call ? 400 : 300;
	u64 last = 10;

	s->event.overflow_handler = summing_overflow;
	sched_in(test, s);
	/* Until the duration of an interrupt is known. */
	for (int i = 0; i < 100; i++)
		timed_interrupt(fake, 3, 10000, 800);
	KUNIT_EXPECT_EQ(test, s->samples, 100);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 10);

	timed_interrupt(fake, 3, gap + 1, 800);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 10);
	/* Three interrupts with a smaller gap are not throttled. */
	for (int i = 0; i < 3; i++)
		timed_interrupt(fake, 3, gap - 10, 800);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 10);
	for (int i = 0; i < 8; i++) {
		timed_interrupt(fake, 3, gap - 10, 800);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 2 * last);
		last *= 2;
	}
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 8);

	for (int i = 0; i < 60; i++)
		timed_interrupt(fake, 3, 10000, 800);
	KUNIT_EXPECT_EQ(test, s->ev.min_period, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 10);
	KUNIT_EXPECT_EQ(test, s->sum, count_of(s));
	sched_out(test, s);
}

/* In user mode; in the kernel the gap is twice as long. */
static void gap_depends_on_the_firmware_calls(struct kunit *test)
{
	struct riscv_pmu *pmu = &((struct fake_pmu *)test->priv)->pmu;
	struct riscv_pmu_hart *hart = this_hart(test->priv);

	hart->throttle.cost = 8 * 800;
	pmu->one_call = false;
	KUNIT_EXPECT_EQ(test, riscv_pmu_throttle_gap(pmu, hart, true), 300);
	pmu->one_call = true;
	KUNIT_EXPECT_EQ(test, riscv_pmu_throttle_gap(pmu, hart, true), 400);
	pmu->no_calls = true;
	KUNIT_EXPECT_EQ(test, riscv_pmu_throttle_gap(pmu, hart, true), 600);
	KUNIT_EXPECT_EQ(test, riscv_pmu_throttle_gap(pmu, hart, false), 1200);
	pmu->no_calls = false;
}

/*
 * If the kernel is interrupted, it may still be at the end of the last interrupt. So the minimum
 * gap is twice as long.
 */
static void periods_are_extended_at_twice_the_gap_in_the_kernel(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 10);
	struct fake_pmu *fake = test->priv;
	const u32 gap = fake->pmu.one_call ? 400 : 300;

	sched_in(test, s);
	for (int i = 0; i < 100; i++)
		timed_interrupt(fake, 3, 10000, 400);
	for (int i = 0; i < 10; i++)
		timed_interrupt(fake, 3, gap - 10, 400);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 0);
	fake->mode = RISCV_PMU_INH_S;
	for (int i = 0; i < 10; i++)
		timed_interrupt(fake, 3, gap + 1, 400);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 0);
	for (int i = 0; i < 10; i++)
		timed_interrupt(fake, 3, gap - 10, 400);
	KUNIT_EXPECT_LT(test, 0, this_hart(fake)->stats.extended);
	sched_out(test, s);
}

/* Entry and exit of an NMI take 200 ticks, whatever the handler's duration is. */
static void periods_of_nmis_leave_time_beside_entry_and_exit(struct kunit *test)
{
	static const u32 durations[] = { 80, 800 };
	struct state_event *s = new_event(test, 1, C(3), 10);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_hart *hart = this_hart(fake);

	hart->irq.nmi = true;
	hart->throttle.nmi_overhead = 8 * 200;
	sched_in(test, s);
	for (unsigned int i = 0; i < ARRAY_SIZE(durations); i++) {
		/* An eighth of the handler's duration is added. */
		u32 ticks = durations[i], gap = 200 + ticks / 8;

		hart->stats.extended = 0;
		for (int j = 0; j < 60; j++)
			timed_interrupt(fake, 3, 10000, ticks);
		for (int j = 0; j < 10; j++)
			timed_interrupt(fake, 3, gap + 1, ticks);
		KUNIT_EXPECT_EQ(test, hart->stats.extended, 0);
		for (int j = 0; j < 10; j++)
			timed_interrupt(fake, 3, gap - 1, ticks);
		KUNIT_EXPECT_LT(test, 0, hart->stats.extended);
	}
	hart->irq.nmi = false;
	sched_out(test, s);
}

/* The second of two periods that end together interrupts at once; that is no overload. */
static void periods_that_end_together_are_not_extended(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 1, C(4), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	fake_advance(fake, 1);
	sched_in(test, b);
	for (unsigned int i = 1; i <= 50; i++) {
		timed_interrupt(fake, 3, 20000, 800);
		timed_interrupt(fake, 4, 5, 800);
		KUNIT_EXPECT_EQ(test, a->samples, i);
		KUNIT_EXPECT_EQ(test, b->samples, i);
	}
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 0);
	sched_out(test, a);
	sched_out(test, b);
}

#define STAGGERED		32
#define STAGGERED_DISTANCE	10
#define STAGGERED_TICKS		400

/*
 * Takes @nr interrupts. The interrupted context runs for a tick per event. Returns how many ticks
 * it had.
 */
static u64 take_interrupts(struct fake_pmu *fake, unsigned int nr)
{
	u64 progress = 0;

	while (nr--) {
		u64 gap = fake_until_wrap(fake, 3);

		timed_interrupt(fake, 3, gap, STAGGERED_TICKS);
		progress += gap;
	}

	return progress;
}

/*
 * The periods of many events end one after another. Each event's last sample is many interrupts
 * old, but together they leave the interrupted context no time. It has to get a twentieth; without
 * minimum periods it gets 10 of 410 ticks.
 */
static void periods_of_many_events_are_extended(struct kunit *test)
{
	u64 period = STAGGERED * STAGGERED_DISTANCE, progress;
	struct fake_pmu *fake = test->priv;
	struct state_event *s[STAGGERED];
	const unsigned int nr = 2000;

	for (int i = 0; i < STAGGERED; i++) {
		s[i] = new_event(test, 1, C(3), period);
		s[i]->event.overflow_handler = summing_overflow;
		sched_in(test, s[i]);
		fake_advance(fake, i < STAGGERED - 1 ? STAGGERED_DISTANCE : 0);
	}
	/* Until the duration of an interrupt is known, and the minimum periods suffice. */
	take_interrupts(fake, 500);
	KUNIT_EXPECT_LT(test, 0, this_hart(fake)->stats.extended);

	progress = take_interrupts(fake, nr);
	KUNIT_EXPECT_GE(test, 20 * progress, progress + nr * STAGGERED_TICKS);
	for (int i = 0; i < STAGGERED; i++) {
		KUNIT_EXPECT_LT(test, 1, s[i]->samples);
		sched_out(test, s[i]);
	}
}

/* Long periods that end one after another, again and again, are no overload. */
static void long_periods_that_end_in_a_row_are_not_extended(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct state_event *s[STAGGERED];

	for (int i = 0; i < STAGGERED; i++) {
		s[i] = new_event(test, 1, C(3), 10000);
		sched_in(test, s[i]);
		fake_advance(fake, STAGGERED_DISTANCE);
	}
	take_interrupts(fake, 50 * STAGGERED);
	KUNIT_EXPECT_EQ(test, s[0]->samples, 50);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 0);
	for (int i = 0; i < STAGGERED; i++)
		sched_out(test, s[i]);
}

/* --- without an interrupt ---------------------------------------------------- */

static void stop_polling(void *data)
{
	struct fake_pmu *fake = data;
	int cpu;

	for_each_possible_cpu(cpu)
		hrtimer_cancel(&per_cpu_ptr(fake->pmu.harts, cpu)->poll.timer);
}

/* The tests call riscv_pmu_hart_poll() themselves, so the timer does not expire. */
static enum hrtimer_restart poll_does_nothing(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/* No counter interrupts any more, so that narrow ones and the ends of periods are polled. */
static void lose_interrupt(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	int cpu;

	fake->pmu.irq_ctrs = 0;
	riscv_pmu_poll_probe(&fake->pmu);
	for_each_possible_cpu(cpu) {
		struct riscv_pmu_hart *hart = per_cpu_ptr(fake->pmu.harts, cpu);

		riscv_pmu_poll_hart_start(hart);
		ACCESS_PRIVATE(&hart->poll.timer, function) = poll_does_nothing;
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop_polling, fake), 0);
}

static u64 poll(struct fake_pmu *fake, u64 now)
{
	guard(irqsave)();

	return riscv_pmu_hart_poll(&fake->pmu, this_hart(fake), now, task_pt_regs(current));
}

static unsigned int clock_reads;

static u64 counted_clock(void)
{
	clock_reads++;
	return NSEC_PER_SEC;
}

static void count_clock_reads(struct kunit *test)
{
	clock_reads = 0;
	kunit_activate_static_stub(test, riscv_pmu_poll_clock, counted_clock);
}

/*
 * On many harts, reading the time traps to the firmware. A context switch reads it only to set the
 * timer.
 */
static void switches_read_the_time_only_to_set_the_timer(struct kunit *test)
{
	struct state_event *wide = new_event(test, 1, C(3), 0);
	struct state_event *narrow = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;
	u64 due;

	fake_set_width(fake, C(4), 24);
	lose_interrupt(test);
	count_clock_reads(test);
	for (int i = 0; i < 3; i++) {
		sched_in(test, wide);
		sched_out(test, wide);
	}
	KUNIT_EXPECT_EQ(test, clock_reads, 0);

	/* The timer stays set after the event was switched out. */
	for (int i = 0; i < 3; i++) {
		sched_in(test, narrow);
		due = this_hart(fake)->poll.due;
		KUNIT_EXPECT_EQ(test, due, NSEC_PER_SEC + fake->pmu.poll_ns);
		sched_out(test, narrow);
	}
	KUNIT_EXPECT_EQ(test, clock_reads, 1);

	/* The expiry finds nothing to poll. */
	KUNIT_EXPECT_EQ(test, poll(fake, due), 0);
	sched_in(test, narrow);
	KUNIT_EXPECT_EQ(test, clock_reads, 2);
	sched_out(test, narrow);
	KUNIT_EXPECT_EQ(test, poll(fake, due), 0);
	KUNIT_EXPECT_EQ(test, clock_reads, 2);
}

#ifdef CONFIG_RISCV_PMU_POLL

/* Creates an event that is polled. */
static struct state_event *new_polled(struct kunit *test, u64 selector, u64 ctrs, u64 period)
{
	struct state_event *s = new_event(test, selector, ctrs, period);
	struct fake_pmu *fake = test->priv;

	s->ev.flags |= RISCV_PMU_EV_POLLED;
	s->event.overflow_handler = summing_overflow;
	if (fake->pmu.irq_ctrs)
		lose_interrupt(test);
	return s;
}

/* A poll only reads the counter, so no count is lost. */
static void polled_event_is_sampled_at_the_first_poll_after_its_period(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, s);
	batches = fake->nr_batches;
	fake_advance(fake, 99);
	poll(fake, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	fake_advance(fake, 31);
	poll(fake, 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 100);
	KUNIT_EXPECT_EQ(test, s->last_count, 130);
	fake_advance(fake, 70);
	poll(fake, 3 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	fake_advance(fake, 350);
	poll(fake, 4 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 3);
	KUNIT_EXPECT_EQ(test, s->last_period, 300);
	KUNIT_EXPECT_EQ(test, s->sum, 500);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, count_of(s), 550);
}

struct poll_row {
	const char	*name;
	u64		period;
	u64		wait;
};

/* The wait after 1000 events in 1 ms, if an interrupt takes 10 us. */
static const struct poll_row poll_rows[] = {
	{ "as many events are left", 2000, 1000 * NSEC_PER_USEC },
	{ "three times as many are left", 4000, 3000 * NSEC_PER_USEC },
	{ "a long period", 100000, 4000 * NSEC_PER_USEC },
	{ "the longest period", S64_MAX, 4000 * NSEC_PER_USEC },
	{ "one event is left", 1001, 80 * NSEC_PER_USEC },
	{ "the period has ended", 1000, 1000 * NSEC_PER_USEC },
};

KUNIT_ARRAY_PARAM_DESC(poll, poll_rows, name);

static void timer_is_set_for_the_end_of_the_period(struct kunit *test)
{
	const struct poll_row *row = test->param_value;
	struct state_event *s = new_polled(test, 1, C(3), row->period);
	struct fake_pmu *fake = test->priv;
	u64 now = NSEC_PER_SEC;

	/* The average is in eighths of a tick. */
	this_hart(fake)->throttle.cost = 8 * riscv_timebase / 100000;
	sched_in(test, s);
	poll(fake, now);
	fake_advance(fake, 1000);
	KUNIT_EXPECT_EQ(test, poll(fake, now + NSEC_PER_MSEC), row->wait);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->poll.due, now + NSEC_PER_MSEC + row->wait);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, poll(fake, now + NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->poll.due, 0);
}

/* Polled again after 100 ns: such a short time does not change the measured rate. */
static void rate_is_not_measured_over_a_short_time(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 3001);
	struct fake_pmu *fake = test->priv;
	u64 now = NSEC_PER_SEC;

	sched_in(test, s);
	poll(fake, now);
	fake_advance(fake, 1000);
	now += NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, poll(fake, now), 2001 * NSEC_PER_USEC);
	fake_advance(fake, 1);
	now += 100;
	KUNIT_EXPECT_EQ(test, poll(fake, now), 2000 * NSEC_PER_USEC);
	fake_advance(fake, 999);
	now += 1998 * NSEC_PER_USEC - 100;
	KUNIT_EXPECT_EQ(test, poll(fake, now), 1001 * 1998 * NSEC_PER_USEC / 1000);
	sched_out(test, s);
}

/* If the events stop, the wait doubles with each poll, up to 4 ms. */
static void poll_interval_grows_while_no_events_occur(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 1100);
	struct fake_pmu *fake = test->priv;
	u64 now = NSEC_PER_SEC, wait = 100 * NSEC_PER_USEC;

	sched_in(test, s);
	poll(fake, now);
	fake_advance(fake, 1000);
	now += NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, poll(fake, now), wait);
	while (wait < 4 * NSEC_PER_MSEC) {
		now += wait;
		wait = min(2 * wait, 4 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, poll(fake, now), wait);
	}
	sched_out(test, s);
}

/* The period ended just before the event was switched out. */
static void polled_sample_is_taken_after_the_event_was_switched_out(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 120);
	sched_out(test, s);
	fake_advance(fake, 1000);
	sched_in(test, s);
	fake_advance(fake, 1);
	poll(fake, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 100);
	fake_advance(fake, 79);
	poll(fake, 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, count_of(s), 200);
	sched_out(test, s);
}

/* As on hardware on which only some counters can interrupt. */
static void polled_and_interrupting_events_can_be_mixed(struct kunit *test)
{
	struct state_event *polled = new_polled(test, 1, C(3), 100);
	struct state_event *other = new_event(test, 2, C(4), 500);
	struct fake_pmu *fake = test->priv;

	fake->pmu.irq_ctrs = C(4);
	sched_in(test, polled);
	sched_in(test, other);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->hw.armed, C(4));
	fake_advance(fake, 250);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, polled->samples, 0);
	KUNIT_EXPECT_EQ(test, other->samples, 1);
	poll(fake, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, polled->samples, 1);
	KUNIT_EXPECT_EQ(test, polled->last_period, 200);
	KUNIT_EXPECT_EQ(test, other->samples, 1);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 4), 500);
	sched_out(test, other);
	sched_out(test, polled);
}

/* The polled event is moved, because another event needs its counter. */
static void polled_event_is_sampled_after_a_move(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3) | C(4), 100);
	struct state_event *other = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, s->ev.ctr, 3);
	fake_advance(fake, 30);
	poll(fake, NSEC_PER_SEC);
	sched_in(test, other);
	KUNIT_EXPECT_EQ(test, s->ev.ctr, 4);
	/* The rate is measured from the new counter's count on. */
	KUNIT_EXPECT_EQ(test, s->ev.poll.count, this_hart(fake)->counter[4].count);
	KUNIT_EXPECT_NE(test, s->ev.poll.count, 30);
	/* One event before the end of the period, which the move must not change. */
	fake_advance(fake, 69);
	poll(fake, 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	fake_advance(fake, 1);
	KUNIT_EXPECT_NE(test, poll(fake, 3 * NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_count, 100);
	fake_advance(fake, 100);
	poll(fake, 4 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	sched_out(test, s);
	sched_out(test, other);
}

/* The handler sets the next expiry itself, after all changes that it makes. */
static void timer_is_not_set_while_its_handler_runs(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_hart *hart = this_hart(fake);

	sched_in(test, s);
	scoped_guard(irqsave) {
		hrtimer_cancel(&hart->poll.timer);
		hart->poll.due = 0;
		hart->poll.active = true;
		riscv_pmu_poll_start(&fake->pmu, hart);
		KUNIT_EXPECT_EQ(test, hart->poll.due, 0);
		hart->poll.active = false;
		riscv_pmu_poll_start(&fake->pmu, hart);
		KUNIT_EXPECT_NE(test, hart->poll.due, 0);
	}
	sched_out(test, s);
}

static void polled_event_stopped_by_perf_stays_stopped(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	atomic_set(&s->event.event_limit, 1);
	sched_in(test, s);
	fake_advance(fake, 100);
	KUNIT_EXPECT_EQ(test, poll(fake, NSEC_PER_SEC), 0);
	irq_work_sync(&s->event.pending_disable_irq);
	KUNIT_EXPECT_TRUE(test, s->disabled);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	fake_advance(fake, 500);
	KUNIT_EXPECT_EQ(test, poll(fake, 2 * NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, count_of(s), 100);
	sched_out(test, s);
}

/* A timer that was set for samples expires soon enough for the wraps of narrow counters. */
static void timer_for_samples_is_soon_enough_for_narrow_counters(struct kunit *test)
{
	struct state_event *polled = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	fake_set_width(fake, C(4), 24);
	lose_interrupt(test);
	polled->ev.flags |= RISCV_PMU_EV_POLLED;
	count_clock_reads(test);
	sched_in(test, polled);
	KUNIT_EXPECT_EQ(test, clock_reads, 1);
	polled->ev.poll.rate = U32_MAX;
	KUNIT_EXPECT_LE(test, poll(fake, NSEC_PER_SEC), fake->pmu.poll_ns);
	sched_out(test, polled);
	KUNIT_EXPECT_EQ(test, clock_reads, 1);
}

#define SAMPLE_CASES									\
	KUNIT_CASE(polled_event_is_sampled_at_the_first_poll_after_its_period),		\
	KUNIT_CASE_PARAM(timer_is_set_for_the_end_of_the_period, poll_gen_params),	\
	KUNIT_CASE(rate_is_not_measured_over_a_short_time),				\
	KUNIT_CASE(poll_interval_grows_while_no_events_occur),				\
	KUNIT_CASE(polled_sample_is_taken_after_the_event_was_switched_out),		\
	KUNIT_CASE(polled_and_interrupting_events_can_be_mixed),			\
	KUNIT_CASE(polled_event_is_sampled_after_a_move),				\
	KUNIT_CASE(timer_is_not_set_while_its_handler_runs),				\
	KUNIT_CASE(timer_for_samples_is_soon_enough_for_narrow_counters),		\
	KUNIT_CASE(polled_event_stopped_by_perf_stays_stopped),

#else
#define SAMPLE_CASES
#endif

#define POLL_CASES									\
	KUNIT_CASE(shared_counting_event_counts_during_the_interrupt),			\
	KUNIT_CASE(periods_are_extended_under_load_and_restored),			\
	KUNIT_CASE(a_new_period_and_a_pause_end_the_minimum_period),			\
	KUNIT_CASE(gap_depends_on_the_firmware_calls),					\
	KUNIT_CASE(periods_are_extended_at_twice_the_gap_in_the_kernel),		\
	KUNIT_CASE(periods_of_nmis_leave_time_beside_entry_and_exit),		\
	KUNIT_CASE(periods_that_end_together_are_not_extended),				\
	KUNIT_CASE(periods_of_many_events_are_extended),				\
	KUNIT_CASE(long_periods_that_end_in_a_row_are_not_extended),			\
	SAMPLE_CASES									\
	KUNIT_CASE(switches_read_the_time_only_to_set_the_timer)

static struct kunit_case poll_cases[] = {
	POLL_CASES,
	{}
};

static struct kunit_case poll_cases_one_call[] = {
	POLL_CASES,
	{}
};

/* Throttling depends on how many calls a batch takes. */
static int poll_one_call_init(struct kunit *test)
{
	int err = state_init(test);

	if (!err)
		((struct fake_pmu *)test->priv)->pmu.one_call = true;
	return err;
}

static struct kunit_suite poll_cases_one_call_suite = {
	.name		= "riscv_pmu_poll_one_call",
	.init		= poll_one_call_init,
	.exit		= state_exit,
	.test_cases	= poll_cases_one_call,
};

STATE_SUITE("riscv_pmu_poll", poll_cases);
kunit_test_suites(&poll_cases_one_call_suite);
