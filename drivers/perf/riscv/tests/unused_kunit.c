// SPDX-License-Identifier: GPL-2.0
/* Tests of counters that are unused, refuse a config, or are lost in a sleep. */

#include <linux/jiffies.h>

#include "../apply.h"
#include "hart_fixture.h"

/* --- unused counters --------------------------------------------------------- */

/* Two tasks count with different filters. Each event returns to its own counter. */
static void events_with_different_filters_keep_their_counters(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;
	unsigned int batches;

	fake_event_init(&a, fake_config(5, RISCV_PMU_INH_S | RISCV_PMU_INH_M), C(3) | C(4));
	fake_event_init(&b, fake_config(5, RISCV_PMU_INH_M), C(3) | C(4));
	switch_in(test, fake, &a, 0);
	switch_out(fake, &a);
	switch_in(test, fake, &b, 0);
	switch_out(fake, &b);
	batches = fake->nr_batches;
	for (int i = 0; i < 3; i++) {
		switch_in(test, fake, &a, 0);
		fake_advance(fake, 2);
		KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 10);
		switch_in(test, fake, &b, 0);
		fake_advance(fake, 3);
		KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 15);
	}
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
}

/* After a reset of the hart, an event must not return to its last counter without a search. */
static void event_does_not_return_to_a_hart_that_was_reset(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event x, y;

	init_counting(&x, 5, C(3));
	switch_in(test, fake, &x, 0);
	switch_out(fake, &x);
	fake->pmu.ops.hart_stop(&fake->pmu);
	riscv_pmu_hart_reset(&fake->pmu, &fake->hart);
	fake->pmu.ops.hart_start(&fake->pmu);
	init_counting(&y, 6, C(3));
	switch_in(test, fake, &y, 0);
	switch_out(fake, &y);
	switch_in(test, fake, &x, 0);
	fake_advance(fake, 2);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &x), 10);
}

/* Unused counters are released, counters with events are not. */
static void only_unused_counters_are_released(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_counting(&a, 5, C(3));
	init_counting(&b, 6, C(4));
	switch_in(test, fake, &a, 0);
	riscv_pmu_hart_release_unused(&fake->pmu, &fake->hart, 0);
	riscv_pmu_hart_release_unused(&fake->pmu, &fake->hart, C(3));
	riscv_pmu_hart_release_unused(&fake->pmu, &fake->hart, C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fake_holding(fake), C(3));

	switch_in(test, fake, &b, 0);
	switch_out(fake, &b);
	riscv_pmu_hart_release_unused(&fake->pmu, &fake->hart, C(3) | C(4));
	fake_expect_batch(test, fake, 0, BATCH(.release = C(4)));
	KUNIT_EXPECT_EQ(test, fake_holding(fake), C(3));
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));

	/* When the event is added again, its counter is programmed again. */
	switch_in(test, fake, &b, 0);
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 6);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 5);
}

/* A counter that is stopped because it is unused has no overflow point any more. */
static void unused_counter_is_stopped_and_not_armed(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev, other;

	init_sampling(&ev, 1, C(3));
	init_counting(&other, 2, C(4));
	switch_in(test, fake, &ev, 1000);
	switch_out(fake, &ev);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	riscv_pmu_hart_stop_unused(&fake->pmu, &fake->hart);
	KUNIT_EXPECT_EQ(test, fake_running(fake), 0);
	KUNIT_EXPECT_EQ(test, fake->hart.hw.armed, 0);

	switch_in(test, fake, &other, 0);
	switch_in(test, fake, &ev, 1000);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 20);
}

/* The hardware of a fixed counter may run on when it is stopped. */
static void unused_fixed_counter_is_read_before_its_next_use(struct kunit *test)
{
	const struct riscv_pmu_config cycles = { .event_idx = RISCV_PMU_EVENT_CYCLES };
	struct fake_pmu *fake = test->priv;
	u64 rate = fake_rate(&cycles);

	/* Firmware may refuse to write it, even if it writes other fixed counters. */
	for (int loads = 0; loads <= 1; loads++) {
		struct riscv_pmu_event ev;

		fake->pmu.loads = loads;
		riscv_pmu_hart_release_unused(&fake->pmu, &fake->hart, C(0));
		fake->ctr[0].value += 1000;
		fake_event_init(&ev, cycles, C(0));
		for (int use = 0; use < 2; use++) {
			switch_in(test, fake, &ev, 0);
			KUNIT_EXPECT_EQ(test, fake_last(fake, 0).load, 0);
			fake_advance(fake, 10);
			KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 10 * rate);
			riscv_pmu_hart_stop_unused(&fake->pmu, &fake->hart);
			fake->ctr[0].value += 1000;
		}
	}
}

/* A narrow one may have its overflow flag set, which the hardware clears when it is written. */
static void unused_narrow_counter_is_written_before_its_next_use(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), 32);
	init_counting(&ev, 1, C(3));
	switch_in(test, fake, &ev, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 10);
	riscv_pmu_hart_stop_unused(&fake->pmu, &fake->hart);
	switch_in(test, fake, &ev, 0);
	KUNIT_EXPECT_EQ(test, fake->log[(fake->nr_batches - 1) % FAKE_LOG_SIZE].load, C(3));
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 10);
}

/* Paused counters whose events were stopped run on, and are written for the next event. */
static void resumed_counter_is_written_for_the_next_event(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event narrow, wide;

	fake_set_width(fake, C(3), 32);
	init_sampling(&narrow, 1, C(3));
	init_sampling(&wide, 1, C(4));
	switch_in(test, fake, &narrow, 1000);
	switch_in(test, fake, &wide, 1000);
	fake_advance(fake, 500);
	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, &fake->hart, C(3) | C(4));
	KUNIT_EXPECT_EQ(test, del(fake, &narrow), 500);
	KUNIT_EXPECT_EQ(test, del(fake, &wide), 500);
	riscv_pmu_hart_resume_idle(&fake->hart);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fake->hart.hw.armed, 0);

	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &narrow, 1000), 0);
	KUNIT_EXPECT_EQ(test, add(fake, &wide, 0), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), 0);
	KUNIT_EXPECT_EQ(test, fake_last(fake, 0).load, C(3) | C(4));
	del(fake, &narrow);
	del(fake, &wide);
}

/* --- refusals ---------------------------------------------------------------- */

static void refused_config_fails_the_event(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event bad, good;
	unsigned int batches;

	fake->fail_config = C(3);
	init_counting(&bad, 5, C(3));
	init_counting(&good, 6, C(4));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &good, 0), 0);
	KUNIT_EXPECT_EQ(test, add(fake, &bad, 0), -EIO);
	KUNIT_EXPECT_EQ(test, finish(fake), 0);
	KUNIT_EXPECT_EQ(test, bad.candidates, 0);
	KUNIT_EXPECT_EQ(test, good.candidates, C(4));
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(4));

	/* The config is not tried again at once. */
	batches = fake->nr_batches;
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &bad, 0), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);

	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &good), 60);

	/* It is tried again later, and accepted. */
	fake->fail_config = 0;
	bad.retry = jiffies;
	switch_in(test, fake, &bad, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &bad), 50);
}

/* It may be unknown which counters can hold a raw event: if one refuses, the next is tried. */
static void refused_event_is_tried_on_another_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake->fail_config = C(3) | C(4);
	init_counting(&ev, 5, C(3) | C(4) | C(5));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), -EIO);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), -EIO);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), 0);
	KUNIT_EXPECT_EQ(test, ev.ctr, 5);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 50);
}

/* The counters of another hart may accept the event. */
static void refused_event_is_tried_on_another_hart(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct fake_pmu *other = fake_create(test);
	struct riscv_pmu_event ev;

	fake->fail_config = C(3);
	init_counting(&ev, 5, C(3));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), -EIO);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), -EAGAIN);
	finish(fake);
	switch_in(test, other, &ev, 0);
	fake_advance(other, 10);
	KUNIT_EXPECT_EQ(test, switch_out(other, &ev), 50);
	fake_expect_idle(test, other, &other->hart);
}

static void refused_start_fails_all_events(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b, good;

	fake->fail_start = C(3);
	init_counting(&a, 5, C(3));
	init_sampling(&b, 5, C(3));
	init_counting(&good, 6, C(33));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &a, 0), 0);
	KUNIT_EXPECT_EQ(test, add(fake, &b, 100), 0);
	KUNIT_EXPECT_EQ(test, add(fake, &good, 0), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), C(3));

	KUNIT_EXPECT_EQ(test, a.candidates | b.candidates, 0);
	KUNIT_EXPECT_FALSE(test, a.state || b.state || !good.candidates);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(33));
	fake_advance(fake, 10);
	KUNIT_EXPECT_FALSE(test, has_overflowed(fake, &b));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 0);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 0);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &good), 60);
}

/* A counter that has counted fails to restart: the events keep their counts until then. */
static void refused_restart_keeps_the_delta(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_counting(&a, 5, C(3));
	init_sampling(&b, 5, C(3));
	switch_in(test, fake, &a, 0);
	fake_advance(fake, 10);
	fake->fail_start = C(3);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &b, 100), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), C(3));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 0);
}

static void counter_that_failed_is_used_for_another_event(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event bad, good;

	fake->fail_start = C(3);
	init_counting(&bad, 5, C(3));
	init_counting(&good, 6, C(3));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &bad, 0), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), C(3));
	switch_out(fake, &bad);

	fake->fail_start = 0;
	switch_in(test, fake, &good, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &good), 60);
}

/* --- harts that lose their counters ------------------------------------------ */

static void restored_counters_lose_no_count(struct kunit *test)
{
	const struct riscv_pmu_config cycles = { .event_idx = RISCV_PMU_EVENT_CYCLES };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b, c, fixed;

	fake_set_width(fake, C(3), 32);
	init_counting(&a, 5, C(3));
	init_sampling(&b, 1, C(4));
	init_counting(&fixed, 9, C(5));
	switch_in(test, fake, &fixed, 0);
	switch_out(fake, &fixed);
	fake_event_init(&c, (struct riscv_pmu_config){ .event_idx = 0xf0005 }, C(40));
	fake_event_init(&fixed, cycles, C(0));
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &b, 100);
	switch_in(test, fake, &c, 0);
	switch_in(test, fake, &fixed, 0);
	fake_advance(fake, 10);
	lose_counters(fake);

	KUNIT_EXPECT_EQ(test, fake_running(fake), C(0) | C(3) | C(4) | C(40));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 4), 90);
	fake_advance(fake, 20);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 150);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 30);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &c), 150);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &fixed), 30 * fake_rate(&cycles));
}

static void stopped_events_stay_stopped_when_counters_are_restored(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	init_counting(&ev, 5, C(3));
	switch_in(test, fake, &ev, 0);
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, read_delta(fake, &ev), 5);
	riscv_pmu_event_stop(&fake->hart, &ev);
	lose_counters(fake);
	KUNIT_EXPECT_EQ(test, fake_running(fake), 0);
	fake_advance(fake, 1);
	riscv_pmu_event_start(&fake->hart, &ev, 0);
	finish(fake);
	fake_advance(fake, 2);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 10);
}

static struct kunit_case stop_cases[] = {
	KUNIT_CASE(events_with_different_filters_keep_their_counters),
	KUNIT_CASE(event_does_not_return_to_a_hart_that_was_reset),
	KUNIT_CASE(only_unused_counters_are_released),
	KUNIT_CASE(unused_counter_is_stopped_and_not_armed),
	KUNIT_CASE(unused_fixed_counter_is_read_before_its_next_use),
	KUNIT_CASE(unused_narrow_counter_is_written_before_its_next_use),
	KUNIT_CASE(resumed_counter_is_written_for_the_next_event),
	KUNIT_CASE(refused_config_fails_the_event),
	KUNIT_CASE(refused_event_is_tried_on_another_counter),
	KUNIT_CASE(refused_event_is_tried_on_another_hart),
	KUNIT_CASE(refused_start_fails_all_events),
	KUNIT_CASE(refused_restart_keeps_the_delta),
	KUNIT_CASE(counter_that_failed_is_used_for_another_event),
	KUNIT_CASE(restored_counters_lose_no_count),
	KUNIT_CASE(stopped_events_stay_stopped_when_counters_are_restored),
	{}
};

HART_SUITE("riscv_pmu_stop", stop_cases);
