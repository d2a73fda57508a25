// SPDX-License-Identifier: GPL-2.0
/* Tests of assign.c: which events share a counter, and which are moved. */

#include "../assign.h"
#include "hart_fixture.h"

/* --- sharing ----------------------------------------------------------------- */

static void counting_events_share_a_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;
	unsigned int batches;

	init_counting(&a, 5, FAKE_CONFIG);
	init_counting(&b, 5, FAKE_CONFIG);
	switch_in(test, fake, &a, 0);
	batches = fake->nr_batches;
	fake_advance(fake, 10);
	switch_in(test, fake, &b, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, b.ctr, a.ctr);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 100);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 100);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
}

static void different_filters_do_not_share(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	fake_event_init(&a, fake_config(5, RISCV_PMU_INH_U | RISCV_PMU_INH_M), FAKE_CONFIG);
	fake_event_init(&b, fake_config(5, RISCV_PMU_INH_S | RISCV_PMU_INH_M), FAKE_CONFIG);
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_NE(test, a.ctr, b.ctr);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 0);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 50);
}

/* The count of the counting event is exact while a sampling event is added and removed. */
static void counting_and_sampling_share_a_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_counting(&a, 5, C(3));
	init_sampling(&b, 5, C(3));
	switch_in(test, fake, &a, 0);
	fake_advance(fake, 10);
	switch_in(test, fake, &b, 75);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 75);
	fake_advance(fake, 10);
	KUNIT_EXPECT_FALSE(test, has_overflowed(fake, &b));
	fake_advance(fake, 5);
	KUNIT_EXPECT_TRUE(test, has_overflowed(fake, &b));
	KUNIT_EXPECT_FALSE(test, has_overflowed(fake, &a));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 75);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 175);
}

/* If they shared a counter, the counting event would lose events while that is written. */
static void counting_event_does_not_share_with_sampling_if_a_counter_is_free(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a, b;

	init_sampling(&sampled, 5, C(3) | C(4));
	init_counting(&a, 5, C(3) | C(4));
	init_counting(&b, 5, C(3) | C(4));
	switch_in(test, fake, &sampled, 1000);
	switch_in(test, fake, &a, 0);
	KUNIT_EXPECT_NE(test, a.ctr, sampled.ctr);
	/* Two counting events share a counter. */
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_EQ(test, b.ctr, a.ctr);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampled), 50);
}

/* The counting event is on the only counter of the sampling event, and can use another one. */
static void counting_event_is_moved_for_a_sampling_event(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a;

	init_counting(&a, 5, C(3) | C(4));
	init_sampling(&sampled, 5, C(3));
	switch_in(test, fake, &a, 0);
	fake_advance(fake, 10);
	switch_in(test, fake, &sampled, 1000);
	KUNIT_EXPECT_EQ(test, sampled.ctr, 3);
	KUNIT_EXPECT_EQ(test, a.ctr, 4);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 100);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampled), 50);
}

/* If there are not enough counters, events share one rather than being multiplexed. */
static void counting_and_sampling_share_if_another_needs_the_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a, other;

	init_sampling(&sampled, 5, C(3) | C(4));
	init_counting(&a, 5, C(3) | C(4));
	init_counting(&other, 7, C(3) | C(4));
	switch_in(test, fake, &sampled, 1000);
	switch_in(test, fake, &a, 0);
	fake_advance(fake, 10);
	switch_in(test, fake, &other, 0);
	KUNIT_EXPECT_EQ(test, a.ctr, sampled.ctr);
	KUNIT_EXPECT_NE(test, other.ctr, a.ctr);
	KUNIT_EXPECT_LE(test, fake_until_wrap(fake, a.ctr), 950);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 100);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampled), 100);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 70);
}

/* A counting and a sampling event are merged only if the new event then gets a counter. */
static void events_are_not_merged_if_that_frees_no_usable_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a, other, added;

	init_sampling(&sampled, 5, C(3) | C(4));
	init_counting(&a, 5, C(3) | C(4));
	init_counting(&other, 7, C(5));
	switch_in(test, fake, &sampled, 1000);
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &other, 0);

	/* The new event can use neither counter of the pair. */
	init_counting(&added, 8, C(5));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &added, 0), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->hart.stats.moved, 0);

	/* The only counter that can hold the new event has refused it. */
	fake->fail_config = C(33);
	init_counting(&added, 8, C(33));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &added, 0), -EIO);
	KUNIT_EXPECT_EQ(test, add(fake, &added, 0), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->hart.stats.moved, 0);

	KUNIT_EXPECT_NE(test, a.ctr, sampled.ctr);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampled), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 70);
}

/*
 * The new event needs a counter that is in use. Its event moves to one of the pair's counters,
 * which is free after the merge.
 */
static void events_are_merged_to_free_a_counter_by_a_chain_of_moves(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a, other, added;

	init_sampling(&sampled, 5, C(3) | C(4));
	init_counting(&a, 5, C(3) | C(4));
	init_counting(&other, 7, C(4) | C(5));
	switch_in(test, fake, &other, 0);
	KUNIT_EXPECT_EQ(test, other.ctr, 4);
	switch_in(test, fake, &sampled, 1000);
	switch_in(test, fake, &a, 0);
	KUNIT_EXPECT_EQ(test, other.ctr, 5);
	init_counting(&added, 8, C(5));
	switch_in(test, fake, &added, 0);
	KUNIT_EXPECT_EQ(test, added.ctr, 5);
	KUNIT_EXPECT_EQ(test, other.ctr, 4);
	KUNIT_EXPECT_EQ(test, a.ctr, sampled.ctr);
	switch_out(fake, &a);
	switch_out(fake, &sampled);
	switch_out(fake, &other);
	switch_out(fake, &added);
}

#define FULL	RISCV_PMU_MAX_IDENTICAL

/*
 * Switches in as many identical events as a hart may have. The array that is returned has one more,
 * which is not switched in.
 */
static struct riscv_pmu_event *switch_in_full(struct kunit *test)
{
	struct riscv_pmu_event *ev = kunit_kcalloc(test, FULL + 1, sizeof(*ev), GFP_KERNEL);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ev);
	for (i = 0; i <= FULL; i++)
		init_counting(&ev[i], 5, C(3));
	for (i = 0; i < FULL; i++)
		switch_in(test, test->priv, &ev[i], 0);

	return ev;
}

static void switch_out_full(struct kunit *test, struct riscv_pmu_event *ev)
{
	for (int i = 0; i <= FULL; i++)
		switch_out(test->priv, &ev[i]);
}

static int try_add(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	int err;

	begin(fake);
	err = add(fake, ev, 0);
	finish(fake);
	return err;
}

/*
 * Without the limit, programs that find the number of counters by opening the same event
 * repeatedly would not end, and the time of an add would have no bound.
 */
static void hart_runs_at_most_64_identical_events(struct kunit *test)
{
	struct riscv_pmu_event *ev = switch_in_full(test);
	struct fake_pmu *fake = test->priv;
	int i;

	KUNIT_EXPECT_EQ(test, FULL, 64);
	KUNIT_EXPECT_EQ(test, try_add(fake, &ev[FULL]), -EAGAIN);
	fake_advance(fake, 10);
	/* The other event fits once one was switched out. */
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[0]), 50);
	switch_in(test, fake, &ev[FULL], 0);
	/* Then the first one does not fit, although its counter still holds its config. */
	KUNIT_EXPECT_EQ(test, try_add(fake, &ev[0]), -EAGAIN);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[FULL]), 50);
	for (i = 1; i < FULL; i++)
		KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[i]), 100);
	switch_out_full(test, ev);
}

/* While no event has to wait, a full hart's events return to their counter without a search. */
static void events_of_a_full_hart_return_without_a_search(struct kunit *test)
{
	struct riscv_pmu_event *ev = switch_in_full(test);
	struct fake_pmu *fake = test->priv;
	u64 searched = fake->hart.stats.searched;

	switch_out(fake, &ev[0]);
	switch_in(test, fake, &ev[0], 0);
	KUNIT_EXPECT_EQ(test, fake->hart.stats.searched, searched);
	KUNIT_EXPECT_EQ(test, try_add(fake, &ev[FULL]), -EAGAIN);
	switch_out(fake, &ev[0]);
	switch_in(test, fake, &ev[0], 0);
	KUNIT_EXPECT_EQ(test, fake->hart.stats.searched, searched + 1);
	switch_out_full(test, ev);
}

/* The events of both counters count, and a refusal makes all of them search. */
static void limit_includes_events_on_other_counters(struct kunit *test)
{
	struct riscv_pmu_event *ev = kunit_kcalloc(test, FULL + 1, sizeof(*ev), GFP_KERNEL);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled;

	KUNIT_ASSERT_NOT_NULL(test, ev);
	init_sampling(&sampled, 5, C(3) | C(4));
	switch_in(test, fake, &sampled, 1000);
	for (int i = 0; i < FULL; i++)
		init_counting(&ev[i], 5, C(3) | C(4));
	for (int i = 0; i < FULL - 1; i++)
		switch_in(test, fake, &ev[i], 0);
	KUNIT_EXPECT_NE(test, ev[0].ctr, sampled.ctr);
	KUNIT_EXPECT_EQ(test, try_add(fake, &ev[FULL - 1]), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ev[0].gen, RISCV_PMU_GEN_NONE);
	KUNIT_EXPECT_EQ(test, sampled.gen, RISCV_PMU_GEN_NONE);
	switch_out(fake, &sampled);
	switch_in(test, fake, &ev[FULL - 1], 0);
	for (int i = 0; i < FULL; i++)
		switch_out(fake, &ev[i]);
}

/* The limit is per config: on a hart that has reached it, an event of another config still runs. */
static void other_events_run_on_a_full_hart(struct kunit *test)
{
	struct riscv_pmu_event *ev = switch_in_full(test);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event other, free;
	unsigned int batches;

	init_counting(&other, 7, C(4) | C(5));
	init_counting(&free, 8, C(4) | C(5));
	switch_in(test, fake, &other, 0);
	switch_in(test, fake, &free, 0);
	KUNIT_EXPECT_NE(test, other.ctr, free.ctr);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 70);
	batches = fake->nr_batches;
	switch_in(test, fake, &other, 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 70);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &free), 160);
	switch_out_full(test, ev);
}

/* As on any hart, a counting event shares a sampled counter only if no other is free. */
static void counting_event_gets_its_own_counter_on_a_full_hart(struct kunit *test)
{
	struct riscv_pmu_event *ev = switch_in_full(test);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, counted;

	init_sampling(&sampled, 6, C(4) | C(5));
	init_counting(&counted, 6, C(4) | C(5));
	switch_in(test, fake, &sampled, 1000);
	switch_in(test, fake, &counted, 0);
	KUNIT_EXPECT_NE(test, counted.ctr, sampled.ctr);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &counted), 60);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampled), 60);
	switch_out_full(test, ev);
}

/*
 * The counter overflows, and its sampling event is removed. When the counter is restarted for
 * the counting event, it must not start from the few events since the overflow: QEMU 10.0.2
 * could hang (see apply_has_room()).
 */
static void overflowed_counter_restarts_far_from_its_next_overflow(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_counting(&a, 5, C(3));
	init_sampling(&b, 5, C(3));
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &b, 100);
	fake_advance(fake, 21);
	KUNIT_EXPECT_EQ(test, fake->ctr[3].value, 5);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 105);
	KUNIT_EXPECT_EQ(test, fake->ctr[3].value, 5);
	handle_early_irq(fake, C(3));
	KUNIT_EXPECT_EQ(test, fake->ctr[3].value, 3ULL << 62);
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 110);
}

static void counter_keeps_running_when_its_sampling_event_is_removed(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;
	unsigned int batches;

	init_counting(&a, 5, C(3));
	init_sampling(&b, 5, C(3));
	switch_in(test, fake, &b, 1000);
	switch_in(test, fake, &a, 0);
	switch_out(fake, &b);
	/* There is no overflow point any more, so the next switch needs no batch. */
	batches = fake->nr_batches;
	switch_out(fake, &a);
	switch_in(test, fake, &a, 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	fake_advance(fake, 2);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 10);
}

static void counter_overflows_at_the_nearest_overflow_point(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_sampling(&a, 1, C(3));
	init_sampling(&b, 1, C(3));
	switch_in(test, fake, &a, 100);
	switch_in(test, fake, &b, 30);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 30);
	fake_advance(fake, 30);
	KUNIT_EXPECT_TRUE(test, has_overflowed(fake, &b));
	KUNIT_EXPECT_FALSE(test, has_overflowed(fake, &a));

	KUNIT_EXPECT_EQ(test, handle_overflow(fake, &b, 200), 30);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 70);
	fake_advance(fake, 70);
	KUNIT_EXPECT_TRUE(test, has_overflowed(fake, &a));
	KUNIT_EXPECT_FALSE(test, has_overflowed(fake, &b));
	KUNIT_EXPECT_EQ(test, handle_overflow(fake, &a, 100), 100);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);

	/* The event with the nearer overflow point is removed: the interrupt arms the other's. */
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	fake_advance(fake, 100);
	KUNIT_EXPECT_EQ(test, expected_overflows(fake), C(3));
	handle_early_irq(fake, C(3));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 30);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 170);
}

static void passed_overflow_point_is_armed_one_event_ahead(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_sampling(&a, 1, C(3));
	init_sampling(&b, 1, C(3));
	switch_in(test, fake, &a, 100);
	fake_advance(fake, 150);
	switch_in(test, fake, &b, 1000);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 1);
	KUNIT_EXPECT_TRUE(test, has_overflowed(fake, &a));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 150);
	handle_early_irq(fake, C(3));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 1000);
	switch_out(fake, &b);
}

/* Two tasks take turns on a hart, each with an event whose period is @left. */
static unsigned int batches_of_two_tasks(struct kunit *test, struct riscv_pmu_event *a,
					 struct riscv_pmu_event *b, u64 left[2])
{
	struct fake_pmu *fake = test->priv;
	unsigned int batches = fake->nr_batches;

	for (int i = 0; i < 8; i++) {
		struct riscv_pmu_event *ev = i % 2 ? b : a;

		local64_set(ev->left, left[i % 2]);
		switch_in(test, fake, ev, left[i % 2]);
		fake_advance(fake, 10);
		left[i % 2] -= switch_out(fake, ev);
	}

	return fake->nr_batches - batches;
}

/* If a counter is left, each task keeps its own, and none is written again. */
static void sampling_tasks_do_not_write_one_counter_by_turns(struct kunit *test)
{
	u64 left[] = { 1000000, 100000 };
	struct riscv_pmu_event a, b;

	init_sampling(&a, 1, C(3) | C(4));
	init_sampling(&b, 1, C(3) | C(4));
	/* Each is programmed and started once. */
	KUNIT_EXPECT_LE(test, batches_of_two_tasks(test, &a, &b, left), 4);
	KUNIT_EXPECT_NE(test, a.ctr, b.ctr);
	KUNIT_EXPECT_EQ(test, batches_of_two_tasks(test, &a, &b, left), 0);
}

/* With similar periods they share a counter, until one period changes. */
static void sampling_tasks_get_two_counters_when_a_period_changes(struct kunit *test)
{
	u64 left[] = { 1000000, 1000000 };
	struct riscv_pmu_event a, b;

	init_sampling(&a, 1, C(3) | C(4));
	init_sampling(&b, 1, C(3) | C(4));
	batches_of_two_tasks(test, &a, &b, left);
	KUNIT_EXPECT_EQ(test, a.ctr, b.ctr);
	KUNIT_EXPECT_EQ(test, batches_of_two_tasks(test, &a, &b, left), 0);
	left[1] = 100000;
	batches_of_two_tasks(test, &a, &b, left);
	KUNIT_EXPECT_NE(test, a.ctr, b.ctr);
	KUNIT_EXPECT_EQ(test, batches_of_two_tasks(test, &a, &b, left), 0);
}

/* An event that only counts takes the counter of its config, which another task samples. */
static void a_counting_event_uses_a_sampled_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;
	unsigned int batches;

	init_sampling(&a, 1, C(3) | C(4));
	init_counting(&b, 1, C(3) | C(4));
	switch_in(test, fake, &a, 1000);
	switch_out(fake, &a);
	batches = fake->nr_batches;
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_EQ(test, a.ctr, b.ctr);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	switch_out(fake, &b);
}

/* --- moving ------------------------------------------------------------------ */

static void a_move_loses_no_count(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_counting(&a, 5, C(3) | C(33));
	init_counting(&b, 7, C(3));
	switch_in(test, fake, &a, 0);
	KUNIT_EXPECT_EQ(test, a.ctr, 3);
	fake_advance(fake, 10);
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_EQ(test, a.ctr, 33);
	KUNIT_EXPECT_EQ(test, b.ctr, 3);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 100);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 70);
}

static void a_move_keeps_the_overflow_point(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_sampling(&a, 1, C(3) | C(4));
	init_counting(&b, 7, C(3));
	switch_in(test, fake, &a, 100);
	fake_advance(fake, 60);
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_EQ(test, a.ctr, 4);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 4), 40);
	fake_advance(fake, 39);
	KUNIT_EXPECT_FALSE(test, has_overflowed(fake, &a));
	fake_advance(fake, 1);
	KUNIT_EXPECT_TRUE(test, has_overflowed(fake, &a));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 100);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 280);
}

static void a_chain_of_moves_loses_no_count(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event r[4];

	init_counting(&r[0], 1, C(3) | C(4));
	init_sampling(&r[1], 2, C(4) | C(5));
	init_counting(&r[2], 3, C(5) | C(33));
	init_counting(&r[3], 4, C(3));
	for (int i = 0; i < 4; i++) {
		switch_in(test, fake, &r[i], 1000);
		fake_advance(fake, 10);
	}
	KUNIT_EXPECT_EQ(test, r[0].ctr, 4);
	KUNIT_EXPECT_EQ(test, r[1].ctr, 5);
	KUNIT_EXPECT_EQ(test, r[2].ctr, 33);
	KUNIT_EXPECT_EQ(test, r[3].ctr, 3);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 5), 940);
	for (int i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, switch_out(fake, &r[i]), 10 * (4 - i) * (i + 1));
}

/* Both events are added in one update, so the first one is moved before it has counted. */
static void a_move_before_the_first_apply_keeps_the_period(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_sampling(&a, 1, C(3) | C(4));
	init_sampling(&b, 2, C(3));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &a, 100), 0);
	KUNIT_EXPECT_EQ(test, add(fake, &b, 200), 0);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 4), 100);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 200);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 20);
}

static void shared_counter_moves_to_one_that_all_its_events_can_use(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b, c;

	init_counting(&a, 5, C(3) | C(4) | C(5));
	init_counting(&b, 5, C(3) | C(5));
	init_counting(&c, 7, C(3));
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &b, 0);
	fake_advance(fake, 1);
	switch_in(test, fake, &c, 0);
	KUNIT_EXPECT_EQ(test, a.ctr, 5);
	KUNIT_EXPECT_EQ(test, b.ctr, 5);
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &c), 7);
}

static void add_fails_if_no_counter_is_free(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b, c;

	init_counting(&a, 1, C(3) | C(4));
	init_counting(&b, 2, C(3) | C(4));
	init_counting(&c, 3, C(3) | C(4));
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &b, 0);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &c, 0), -EAGAIN);
	finish(fake);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 10);
	/* Now a counter is free. */
	switch_in(test, fake, &c, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 40);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &c), 30);
}

static void fixed_counter_is_preferred(struct kunit *test)
{
	const struct riscv_pmu_config cycles = { .event_idx = 1, .inh = RISCV_PMU_INH_M };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_event_init(&ev, cycles, FAKE_CONFIG | C(0));
	switch_in(test, fake, &ev, 0);
	KUNIT_EXPECT_EQ(test, ev.ctr, 0);
	switch_out(fake, &ev);
}

static void running_counter_is_preferred(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	init_counting(&a, 5, C(33));
	init_counting(&b, 5, FAKE_CONFIG);
	switch_in(test, fake, &a, 0);
	switch_out(fake, &a);
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_EQ(test, b.ctr, 33);
	switch_out(fake, &b);
}

/* Also if it has a higher number than the programmable ones. */
static void fixed_counter_with_a_high_number_is_preferred(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake->pmu.fixed_ctrs = C(5);
	init_counting(&ev, 1, C(3) | C(5));
	switch_in(test, fake, &ev, 0);
	KUNIT_EXPECT_EQ(test, ev.ctr, 5);
	switch_out(fake, &ev);
}

static void event_does_not_move_to_a_counter_that_has_refused_it(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev, other;

	init_counting(&ev, 1, C(3) | C(4));
	init_counting(&other, 2, C(3));
	ev.candidates = C(3);
	switch_in(test, fake, &ev, 0);
	KUNIT_EXPECT_EQ(test, ev.ctr, 3);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &other, 0), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, ev.ctr, 3);
	switch_out(fake, &ev);
}

static struct kunit_case assign_cases[] = {
	KUNIT_CASE(counting_events_share_a_counter),
	KUNIT_CASE(different_filters_do_not_share),
	KUNIT_CASE(counting_and_sampling_share_a_counter),
	KUNIT_CASE(counting_event_does_not_share_with_sampling_if_a_counter_is_free),
	KUNIT_CASE(counting_event_is_moved_for_a_sampling_event),
	KUNIT_CASE(counting_and_sampling_share_if_another_needs_the_counter),
	KUNIT_CASE(events_are_not_merged_if_that_frees_no_usable_counter),
	KUNIT_CASE(events_are_merged_to_free_a_counter_by_a_chain_of_moves),
	KUNIT_CASE(hart_runs_at_most_64_identical_events),
	KUNIT_CASE(events_of_a_full_hart_return_without_a_search),
	KUNIT_CASE(limit_includes_events_on_other_counters),
	KUNIT_CASE(other_events_run_on_a_full_hart),
	KUNIT_CASE(counting_event_gets_its_own_counter_on_a_full_hart),
	KUNIT_CASE(overflowed_counter_restarts_far_from_its_next_overflow),
	KUNIT_CASE(counter_keeps_running_when_its_sampling_event_is_removed),
	KUNIT_CASE(counter_overflows_at_the_nearest_overflow_point),
	KUNIT_CASE(passed_overflow_point_is_armed_one_event_ahead),
	KUNIT_CASE(sampling_tasks_do_not_write_one_counter_by_turns),
	KUNIT_CASE(sampling_tasks_get_two_counters_when_a_period_changes),
	KUNIT_CASE(a_counting_event_uses_a_sampled_counter),
	KUNIT_CASE(a_move_loses_no_count),
	KUNIT_CASE(a_move_keeps_the_overflow_point),
	KUNIT_CASE(a_chain_of_moves_loses_no_count),
	KUNIT_CASE(a_move_before_the_first_apply_keeps_the_period),
	KUNIT_CASE(shared_counter_moves_to_one_that_all_its_events_can_use),
	KUNIT_CASE(add_fails_if_no_counter_is_free),
	KUNIT_CASE(fixed_counter_is_preferred),
	KUNIT_CASE(fixed_counter_with_a_high_number_is_preferred),
	KUNIT_CASE(event_does_not_move_to_a_counter_that_has_refused_it),
	KUNIT_CASE(running_counter_is_preferred),
	{}
};

HART_SUITE("riscv_pmu_assign", assign_cases);
