// SPDX-License-Identifier: GPL-2.0
/* Tests of apply.c: how many batches changes take, and from which value a counter starts. */

#include "../apply.h"
#include "hart_fixture.h"

/* --- one event --------------------------------------------------------------- */

static void a_read_returns_the_events_since_the_last_read(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	init_counting(&ev, 5, C(4));
	switch_in(test, fake, &ev, 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, 2);
	fake_expect_batch(test, fake, 1, BATCH(.program = C(4)));
	KUNIT_EXPECT_EQ(test, fake_last(fake, 0).start, C(4));

	KUNIT_EXPECT_EQ(test, read_delta(fake, &ev), 0);
	fake_advance(fake, 100);
	KUNIT_EXPECT_EQ(test, read_delta(fake, &ev), 500);
	KUNIT_EXPECT_EQ(test, read_delta(fake, &ev), 0);
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 5);
	fake_advance(fake, 1000);
}

static void event_counts_only_while_started(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	init_counting(&ev, 3, C(3));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), 0);
	/* The event is pending until the update is finished. */
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, read_delta(fake, &ev), 0);
	finish(fake);

	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, read_delta(fake, &ev), 30);
	riscv_pmu_event_stop(&fake->hart, &ev);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, read_delta(fake, &ev), 0);

	riscv_pmu_event_start(&fake->hart, &ev, 0);
	finish(fake);
	fake_advance(fake, 7);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 21);
}

static void modes_are_filtered(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event user, kernel;

	fake_event_init(&user, fake_config(2, RISCV_PMU_INH_S | RISCV_PMU_INH_M), C(3));
	fake_event_init(&kernel, fake_config(9, RISCV_PMU_INH_U | RISCV_PMU_INH_M), C(4));
	switch_in(test, fake, &user, 0);
	switch_in(test, fake, &kernel, 0);
	fake_advance(fake, 10);
	fake->mode = RISCV_PMU_INH_S;
	fake_advance(fake, 100);
	fake->mode = RISCV_PMU_INH_M;
	fake_advance(fake, 1000);

	KUNIT_EXPECT_EQ(test, switch_out(fake, &user), 20);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &kernel), 900);
}

static void firmware_counter_starts_from_a_known_value(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev, other;

	fake_event_init(&ev, (struct riscv_pmu_config){ .event_idx = 0xf0005 }, C(41));
	fake_event_init(&other, (struct riscv_pmu_config){ .event_idx = 0xf0007 }, C(41));
	for (int i = 0; i < 3; i++) {
		switch_in(test, fake, &ev, 0);
		fake_advance(fake, 10);
		KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 50);
		switch_in(test, fake, &other, 0);
		fake_advance(fake, 10);
		KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 70);
	}
}

/* --- switching --------------------------------------------------------------- */

static void counting_event_is_switched_without_a_batch(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	unsigned int batches;
	u64 sum = 0;

	init_counting(&ev, 5, FAKE_CONFIG);
	switch_in(test, fake, &ev, 0);
	batches = fake->nr_batches;
	for (int i = 0; i < 10; i++) {
		fake_advance(fake, 3);
		sum += switch_out(fake, &ev);
		fake_advance(fake, 1000);
		switch_in(test, fake, &ev, 0);
	}

	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_EQ(test, sum, 150);
	switch_out(fake, &ev);
}

/* A counter that has accepted a config is given it again without a batch of its own. */
static void accepted_config_is_not_validated_again(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;
	unsigned int batches;

	init_counting(&a, 5, C(3));
	init_counting(&b, 6, C(3));
	switch_in(test, fake, &a, 0);
	switch_out(fake, &a);
	switch_in(test, fake, &b, 0);
	switch_out(fake, &b);
	batches = fake->nr_batches;
	switch_in(test, fake, &a, 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches + 1);
	switch_out(fake, &a);
}

/* Two tasks count the same event: the second one attaches to the counter of the first. */
static void next_task_uses_the_running_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;
	unsigned int batches;

	init_counting(&a, 5, FAKE_CONFIG);
	init_counting(&b, 5, FAKE_CONFIG);
	switch_in(test, fake, &a, 0);
	batches = fake->nr_batches;
	fake_advance(fake, 2);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 10);
	switch_in(test, fake, &b, 0);
	fake_advance(fake, 4);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 20);
	KUNIT_EXPECT_EQ(test, b.ctr, a.ctr);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
}

/*
 * While the event is switched out, its counter counts other tasks. It then overflows somewhat
 * before the event's overflow point, which is accepted.
 */
static void sampling_event_is_switched_without_a_batch(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	unsigned int batches;
	u64 left = 1000;

	init_sampling(&ev, 1, C(5));
	switch_in(test, fake, &ev, left);
	fake_expect_batch(test, fake, 0, BATCH(.start = C(5), .load = C(5)));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 5), left);

	batches = fake->nr_batches;
	for (int i = 0; i < 9; i++) {
		fake_advance(fake, 50);
		left -= switch_out(fake, &ev);
		fake_advance(fake, 20);
		switch_in(test, fake, &ev, left);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 5), left - (i + 1) * 20);
	}
	KUNIT_EXPECT_EQ(test, left, 550);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);

	/* The interrupt is early; the handler loads the counter for the remaining distance. */
	fake_advance(fake, 370);
	KUNIT_EXPECT_FALSE(test, has_overflowed(fake, &ev));
	KUNIT_EXPECT_EQ(test, expected_overflows(fake), C(5));
	handle_early_irq(fake, C(5));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 5), 180);
	fake_advance(fake, 180);
	KUNIT_EXPECT_TRUE(test, has_overflowed(fake, &ev));
	KUNIT_EXPECT_EQ(test, expected_overflows(fake), C(5));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 550);
	KUNIT_EXPECT_EQ(test, expected_overflows(fake), 0);
}

struct suit_row {
	const char	*name;
	u64		between;
	u64		left;
	bool		suits;
};

static const struct suit_row suit_rows[] = {
	{ "no events in between",		0,	1000,	true },
	{ "half of the distance is counted",	500,	1000,	true },
	{ "more than half is counted",		501,	1000,	false },
	{ "overflow point a little later",	0,	2001,	true },
	{ "overflow point much later",		0,	2002,	false },
	{ "overflow point earlier",		0,	999,	false },
	{ "one event is left",			999,	1,	true },
	{ "counter has just overflowed",	1000,	1000,	false },
	{ "counter overflowed long ago",	5000,	1000,	false },
	{ "overflow point has passed",		0,	0,	false },
};

KUNIT_ARRAY_PARAM_DESC(suit, suit_rows, name);

/*
 * A counter that overflows after the overflow point, or more than half of the distance before it,
 * is loaded.
 */
static void counter_is_loaded_if_its_overflow_is_too_early_or_late(struct kunit *test)
{
	const struct suit_row *row = test->param_value;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	unsigned int batches;

	init_sampling(&ev, 1, C(5));
	switch_in(test, fake, &ev, 1000);
	switch_out(fake, &ev);
	fake_advance(fake, row->between);
	batches = fake->nr_batches;
	switch_in(test, fake, &ev, row->left);
	KUNIT_EXPECT_EQ(test, fake->nr_batches != batches, !row->suits);
	if (row->suits)
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 5), 1000 - row->between);
	else
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 5), max(row->left, 1));
	KUNIT_EXPECT_EQ(test, fake->hart.hw.armed, C(5));
	switch_out(fake, &ev);
}

static void unchanged_events_need_no_batch(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	unsigned int batches, reads;

	init_counting(&ev, 5, FAKE_CONFIG);
	switch_in(test, fake, &ev, 0);
	batches = fake->nr_batches;
	reads = fake->nr_reads;
	begin(fake);
	KUNIT_EXPECT_EQ(test, finish(fake), 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_EQ(test, fake->nr_reads, reads);
	switch_out(fake, &ev);
}

static void group_starts_in_one_batch(struct kunit *test)
{
	const u64 all = C(3) | C(4) | C(5) | C(33);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev[4];

	begin(fake);
	for (int i = 0; i < 4; i++) {
		init_counting(&ev[i], i + 1, FAKE_CONFIG);
		KUNIT_EXPECT_EQ(test, add(fake, &ev[i], 0), 0);
	}
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake_last(fake, 0).start, all);

	fake_advance(fake, 10);
	for (int i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[i]), 10 * (i + 1));
}

static void sampling_group_starts_in_one_batch_and_keeps_running(struct kunit *test)
{
	const u64 all = C(3) | C(4);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev[2];
	unsigned int batches;

	begin(fake);
	for (int i = 0; i < 2; i++) {
		init_sampling(&ev[i], i + 1, all);
		KUNIT_EXPECT_EQ(test, add(fake, &ev[i], 100), 0);
	}
	finish(fake);
	fake_expect_batch(test, fake, 0, BATCH(.start = all, .load = all));

	batches = fake->nr_batches;
	begin(fake);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	for (int i = 0; i < 2; i++)
		switch_out(fake, &ev[i]);
}

/*
 * The counter overflowed while no event had an overflow point. While its flag is set, the next
 * overflow does not interrupt: so it has to be cleared.
 */
static void unexpected_overflow_flag_is_cleared(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	init_sampling(&ev, 1, C(5));
	switch_in(test, fake, &ev, 1000);
	switch_out(fake, &ev);
	fake->ctr[5].overflowed = true;
	KUNIT_EXPECT_EQ(test, expected_overflows(fake), 0);
	switch_in(test, fake, &ev, 1000);
	KUNIT_EXPECT_FALSE(test, fake->ctr[5].overflowed);
	switch_out(fake, &ev);
}

/* The hardware runs until the apply. What it counts meanwhile is not kept. */
static void paused_counter_continues_from_the_pause(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	init_counting(&ev, 1, C(3));
	switch_in(test, fake, &ev, 0);
	fake_advance(fake, 100);
	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, &fake->hart, C(3));
	fake_advance(fake, 10);
	finish(fake);
	fake_advance(fake, 5);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 105);
}

/* --- narrow counters --------------------------------------------------------- */

struct width_row {
	const char	*name;
	unsigned int	width;
};

static const struct width_row width_rows[] = {
	{ "16 bits", 16 },
	{ "32 bits", 32 },
	{ "40 bits", 40 },
	{ "63 bits", 63 },
	{ "64 bits", 64 },
};

KUNIT_ARRAY_PARAM_DESC(width, width_rows, name);

static void a_counter_wraps_without_loss(struct kunit *test)
{
	const struct width_row *row = test->param_value;
	u64 step = GENMASK_ULL(row->width - 1, 0) / 4 * 3;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), row->width);
	init_counting(&ev, 1, C(3));
	switch_in(test, fake, &ev, 0);
	for (int i = 0; i < 20; i++) {
		fake_advance(fake, step);
		KUNIT_EXPECT_EQ(test, read_delta(fake, &ev), step);
	}
	switch_out(fake, &ev);
}

/* The event is not read and there is no interrupt: only the polls detect the wraps. */
static void a_polled_counter_wraps_without_loss(struct kunit *test)
{
	const struct width_row *row = test->param_value;
	u64 step = GENMASK_ULL(row->width - 1, 0) / 4 * 3;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	bool is_narrow = row->width < 64;

	fake_set_width(fake, C(3), row->width);
	fake->pmu.irq_ctrs = 0;
	riscv_pmu_poll_probe(&fake->pmu);
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ctrs, is_narrow ? C(3) : 0);
	KUNIT_EXPECT_GE(test, fake->pmu.poll_ns, NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, riscv_pmu_hart_poll(&fake->pmu, &fake->hart, 1, NULL), 0);

	init_counting(&ev, 1, C(3));
	switch_in(test, fake, &ev, 0);
	for (int i = 0; i < 20; i++) {
		fake_advance(fake, is_narrow ? step : 1);
		KUNIT_EXPECT_EQ(test, riscv_pmu_hart_poll(&fake->pmu, &fake->hart, 1, NULL),
				is_narrow ? fake->pmu.poll_ns : 0);
	}
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 20 * (is_narrow ? step : 1));
	KUNIT_EXPECT_EQ(test, riscv_pmu_hart_poll(&fake->pmu, &fake->hart, 1, NULL), 0);
}

/* At 16 events per ns, 2^32 events take 268 ms. The timer may be late by half of that. */
static void narrow_counters_are_polled_in_time(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	fake->pmu.irq_ctrs = 0;
	fake_set_width(fake, C(3) | C(4), 40);
	fake_set_width(fake, C(3), 32);
	riscv_pmu_poll_probe(&fake->pmu);
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ctrs, C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ns, 134217728);
	/* Counters that interrupt are not polled. */
	fake->pmu.irq_ctrs = C(3);
	riscv_pmu_poll_probe(&fake->pmu);
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ctrs, C(4));
	fake->pmu.irq_ctrs = C(3) | C(4);
	riscv_pmu_poll_probe(&fake->pmu);
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ctrs, 0);
}

/* With riscv_pmu.width= a wide counter overflows at the same point as a narrow one. */
static void clamped_counter_is_loaded_to_its_full_width(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), 24);
	fake->pmu.clamped_ctrs = C(3);
	fake->wide = C(3);
	init_sampling(&ev, 1, C(3));
	switch_in(test, fake, &ev, 1000);
	KUNIT_EXPECT_EQ(test, fake->ctr[3].value, -1000ULL);
	fake_advance(fake, 1000);
	KUNIT_EXPECT_TRUE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_TRUE(test, has_overflowed(fake, &ev));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 1000);
}

/*
 * A counter is not loaded for a distance of more than half of its range, nor more than 2^62. A
 * longer period takes several overflows.
 */
static void long_periods_are_reached_in_steps(struct kunit *test)
{
	const struct width_row *row = test->param_value;
	u64 half = min(GENMASK_ULL(row->width - 1, 0) >> 1, (u64)S64_MAX / 2);
	u64 left = row->width < 60 ? 5 * half + 7 : 2 * half;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	u64 passed = 0;

	fake_set_width(fake, C(3), row->width);
	init_sampling(&ev, 1, C(3));
	switch_in(test, fake, &ev, left);
	while (passed < left) {
		u64 step = min(left - passed, half);

		KUNIT_ASSERT_EQ(test, fake_until_wrap(fake, 3), step);
		KUNIT_EXPECT_FALSE(test, has_overflowed(fake, &ev));
		fake_advance(fake, step);
		KUNIT_EXPECT_TRUE(test, fake->ctr[3].overflowed);
		passed += step;
		/* Like the interrupt: pause the counter, check the overflow point, start it. */
		riscv_pmu_hart_pause(&fake->pmu, &fake->hart, C(3));
		KUNIT_EXPECT_EQ(test, has_overflowed(fake, &ev), passed == left);
		finish(fake);
	}

	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), left);
}

/* OpenSBI 1.6 leaves counters at a value that is one event before their overflow. */
static void counting_starts_far_from_an_overflow(struct kunit *test)
{
	const struct width_row *row = test->param_value;
	u64 mask = GENMASK_ULL(row->width - 1, 0);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), row->width);
	fake->ctr[3].value = mask;
	init_counting(&ev, 1, C(3));
	switch_in(test, fake, &ev, 0);
	/* The distance is half of the range, or a quarter for 64 bits. */
	KUNIT_EXPECT_GE(test, fake_until_wrap(fake, 3) - 1,
			row->width < 64 ? mask >> 1 : mask >> 2);
	fake_advance(fake, 100);
	KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 100);
}

/* The interrupt is late by half of the range: the count is still exact. */
static void a_late_interrupt_loses_no_count(struct kunit *test)
{
	const struct width_row *row = test->param_value;
	u64 half = GENMASK_ULL(row->width - 1, 0) >> 1;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), row->width);
	init_sampling(&ev, 1, C(3));
	switch_in(test, fake, &ev, 10);
	fake_advance(fake, 10 + half);
	KUNIT_EXPECT_TRUE(test, has_overflowed(fake, &ev));
	KUNIT_EXPECT_EQ(test, handle_overflow(fake, &ev, 100), 10 + half);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	switch_out(fake, &ev);
}

/* It has overflowed, and its interrupt is pending: the sample is not delayed. */
static void counting_event_does_not_write_the_counter_of_a_sampler(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampler, counting;
	unsigned int batches;

	init_sampling(&sampler, 1, C(3));
	init_counting(&counting, 1, C(3));
	switch_in(test, fake, &sampler, 1000);
	fake_advance(fake, 1003);
	batches = fake->nr_batches;
	switch_in(test, fake, &counting, 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_TRUE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_EQ(test, handle_overflow(fake, &sampler, 1000), 1003);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &counting), 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampler), 10);
}

static struct kunit_case apply_cases[] = {
	KUNIT_CASE(counting_event_does_not_write_the_counter_of_a_sampler),
	KUNIT_CASE(a_read_returns_the_events_since_the_last_read),
	KUNIT_CASE(event_counts_only_while_started),
	KUNIT_CASE(modes_are_filtered),
	KUNIT_CASE(firmware_counter_starts_from_a_known_value),
	KUNIT_CASE(counting_event_is_switched_without_a_batch),
	KUNIT_CASE(accepted_config_is_not_validated_again),
	KUNIT_CASE(next_task_uses_the_running_counter),
	KUNIT_CASE(sampling_event_is_switched_without_a_batch),
	KUNIT_CASE_PARAM(counter_is_loaded_if_its_overflow_is_too_early_or_late, suit_gen_params),
	KUNIT_CASE(unchanged_events_need_no_batch),
	KUNIT_CASE(group_starts_in_one_batch),
	KUNIT_CASE(sampling_group_starts_in_one_batch_and_keeps_running),
	KUNIT_CASE(unexpected_overflow_flag_is_cleared),
	KUNIT_CASE(paused_counter_continues_from_the_pause),
	KUNIT_CASE_PARAM(a_counter_wraps_without_loss, width_gen_params),
	KUNIT_CASE_PARAM(a_polled_counter_wraps_without_loss, width_gen_params),
	KUNIT_CASE(narrow_counters_are_polled_in_time),
	KUNIT_CASE(clamped_counter_is_loaded_to_its_full_width),
	KUNIT_CASE_PARAM(long_periods_are_reached_in_steps, width_gen_params),
	KUNIT_CASE_PARAM(counting_starts_far_from_an_overflow, width_gen_params),
	KUNIT_CASE_PARAM(a_late_interrupt_loses_no_count, width_gen_params),
	{}
};

HART_SUITE("riscv_pmu_apply", apply_cases);
