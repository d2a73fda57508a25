// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the layers below perf, with simulated counters: the exact count of each event, and
 * the number of batches.
 */

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/prandom.h>
#include <linux/time64.h>

#include "fake_backend.h"

#define C(ctr)		BIT_ULL(ctr)
#define BATCH(...)	((struct fake_batch){ __VA_ARGS__ })

static int program_init(struct kunit *test)
{
	test->priv = fake_create(test);
	return 0;
}

static void program_exit(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	if (fake)
		fake_expect_idle(test, fake, &fake->hart);
}

/* --- perf's callbacks, without perf ------------------------------------- */

static void begin(struct fake_pmu *fake)
{
	riscv_pmu_begin_update(&fake->pmu, &fake->hart);
}

static u64 finish(struct fake_pmu *fake)
{
	fake->hart.updating = false;
	fake->hart.latch_on_read = false;
	return riscv_pmu_hart_apply(&fake->pmu, &fake->hart);
}

static int add(struct fake_pmu *fake, struct riscv_pmu_event *ev, u64 left)
{
	int err = riscv_pmu_event_assign(&fake->pmu, &fake->hart, ev);

	if (err)
		return err;
	err = riscv_pmu_hart_validate(&fake->pmu, &fake->hart, ev);
	if (err)
		riscv_pmu_event_detach(&fake->hart, ev);
	else
		riscv_pmu_event_start(&fake->hart, ev, left);

	return err;
}

static u64 read_delta(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	return riscv_pmu_event_read_delta(&fake->pmu, &fake->hart, ev);
}

/* An event that could not be added is ignored: that test has already failed. */
static u64 del(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	u64 delta;

	if (!fake_is_attached(ev))
		return 0;

	delta = read_delta(fake, ev);
	riscv_pmu_event_stop(&fake->hart, ev);
	riscv_pmu_event_detach(&fake->hart, ev);
	return delta;
}

/* Adds or removes one event in an update of its own. */
static void switch_in(struct kunit *test, struct fake_pmu *fake, struct riscv_pmu_event *ev,
		      u64 left)
{
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, ev, left), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), 0);
}

static u64 switch_out(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	u64 delta;

	begin(fake);
	delta = del(fake, ev);
	finish(fake);
	return delta;
}

static bool has_overflowed(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	return ev->state == RISCV_PMU_EVENT_ACTIVE &&
	       riscv_pmu_event_has_overflowed(ev, riscv_pmu_counter_count(&fake->pmu, &fake->hart,
									  ev->ctr));
}

static void init_counting(struct riscv_pmu_event *ev, u64 selector, u64 ctrs)
{
	fake_event_init(ev, fake_config(selector, RISCV_PMU_INH_M), ctrs);
}

static void init_sampling(struct riscv_pmu_event *ev, u64 selector, u64 ctrs)
{
	init_counting(ev, selector, ctrs);
	ev->sampling = true;
}

/* --- one event --------------------------------------------------------- */

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

/* --- switching ---------------------------------------------------------- */

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

/* Returns the overflowed counters that have events with an overflow point. */
static u64 expected_overflows(struct fake_pmu *fake)
{
	u64 overflowed = 0;

	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		overflowed |= fake->ctr[ctr].overflowed ? C(ctr) : 0;

	return riscv_pmu_hart_find_expected(&fake->hart, overflowed & fake->hart.hw.armed);
}

/* Simulates the interrupt of counters that have overflowed before their overflow points. */
static void handle_early_irq(struct fake_pmu *fake, u64 ctrs)
{
	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, &fake->hart, ctrs);
	finish(fake);
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

/* --- sharing ------------------------------------------------------------ */

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

#define MANY	(RISCV_PMU_MAX_IDENTICAL + 1)

/*
 * Without the limit, programs that find the number of counters by opening the same event
 * repeatedly would not end.
 */
static void one_opener_runs_at_most_16_identical_events(struct kunit *test)
{
	struct riscv_pmu_event *ev = kunit_kcalloc(test, MANY, sizeof(*ev), GFP_KERNEL);
	struct riscv_pmu_event other;
	struct fake_pmu *fake = test->priv;
	u64 searched;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ev);
	for (i = 0; i < MANY; i++)
		init_counting(&ev[i], 5, C(3));
	for (i = 0; i < MANY - 1; i++)
		switch_in(test, fake, &ev[i], 0);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev[i], 0), -EAGAIN);
	finish(fake);

	/* The limit is per opener. Failed adds of one do not make another one's events search. */
	init_counting(&other, 5, C(3));
	other.opener = (struct pid *)test;
	switch_in(test, fake, &other, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 50);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev[i], 0), -EAGAIN);
	finish(fake);
	searched = fake->hart.stats.searched;
	switch_in(test, fake, &other, 0);
	KUNIT_EXPECT_EQ(test, fake->hart.stats.searched, searched);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 0);

	/* If the last event is added instead of the first, the first one can not be added. */
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[0]), 50);
	switch_in(test, fake, &ev[i], 0);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev[0], 0), -EAGAIN);
	finish(fake);
	fake_advance(fake, 10);
	for (i = 1; i < MANY; i++)
		KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[i]), i == MANY - 1 ? 50 : 100);
}

/* The limit is the number of counters, if that is more than 16. */
static void one_opener_runs_as_many_identical_events_as_counters(struct kunit *test)
{
	struct riscv_pmu_request req = { .ctrs = GENMASK_ULL(31, 3) };

	KUNIT_EXPECT_EQ(test, riscv_pmu_max_identical(&req), 29);
	req.ctrs = C(3);
	KUNIT_EXPECT_EQ(test, riscv_pmu_max_identical(&req), 16);
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

/* Simulates the interrupt without samples: reads the event, and sets its next overflow point. */
static u64 handle_overflow(struct fake_pmu *fake, struct riscv_pmu_event *ev, u64 left)
{
	u64 delta;

	begin(fake);
	delta = read_delta(fake, ev);
	riscv_pmu_event_rearm(&fake->hart, ev, left);
	finish(fake);
	return delta;
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

/* --- narrow counters ---------------------------------------------------- */

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
		/* Like the interrupt: stop the counter, check the overflow point, start it. */
		riscv_pmu_hart_stop_ctrs(&fake->pmu, &fake->hart, C(3));
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

/* --- moving ------------------------------------------------------------- */

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

/* --- unused counters ---------------------------------------------------- */

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

/* --- refusals ----------------------------------------------------------- */

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

/* --- harts that lose their counters ------------------------------------- */

static void lose_counters(struct fake_pmu *fake)
{
	begin(fake);
	riscv_pmu_hart_save(&fake->pmu, &fake->hart);
	fake->pmu.ops.hart_start(&fake->pmu);
	finish(fake);
}

static void restored_counters_lose_no_count(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b, c, gone;

	fake_set_width(fake, C(3), 32);
	init_counting(&a, 5, C(3));
	init_sampling(&b, 1, C(4));
	init_counting(&gone, 9, C(5));
	fake_event_init(&c, (struct riscv_pmu_config){ .event_idx = 0xf0005 }, C(40));
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &b, 100);
	switch_in(test, fake, &c, 0);
	switch_in(test, fake, &gone, 0);
	switch_out(fake, &gone);
	fake_advance(fake, 10);
	lose_counters(fake);

	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3) | C(4) | C(40));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 4), 90);
	fake_advance(fake, 20);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 150);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 30);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &c), 150);
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

/* --- everything at random ----------------------------------------------- */

#define SOAK_SEED	0x534f414bu
#define SOAK_STEPS	6000
#define SOAK_EVENTS	10

/* An event, its expected count, and the count that was read. */
struct soak_event {
	struct riscv_pmu_event	ev;
	u64			req;
	u64			got;
	s64			period_left;
};

struct soak {
	struct kunit		*test;
	struct fake_pmu		*fake;
	struct rnd_state	rnd;
	struct soak_event	r[SOAK_EVENTS];
	unsigned int		refused;
	unsigned int		samples;
};

static u32 soak_random(struct soak *s, u32 below)
{
	return prandom_u32_state(&s->rnd) % below;
}

static u64 soak_random_ctrs(struct soak *s)
{
	u64 all = FAKE_CONFIG, ctrs = 0;

	while (!ctrs) {
		for (u64 rest = all; rest; rest &= rest - 1)
			ctrs |= soak_random(s, 2) ? rest & -rest : 0;
	}

	return ctrs;
}

/* There are only a few selectors and filters, so that events share counters. */
static void soak_new_event(struct soak *s, struct soak_event *r)
{
	static const u32 inh[] = { 0, 0, 0, RISCV_PMU_INH_U, RISCV_PMU_INH_S };
	struct riscv_pmu_config cfg = fake_config(1 + soak_random(s, 4),
						  inh[soak_random(s, ARRAY_SIZE(inh))]);

	memset(r, 0, sizeof(*r));
	fake_event_init(&r->ev, cfg, soak_random_ctrs(s));
	r->ev.sampling = soak_random(s, 3) == 0;
}

static void soak_read(struct soak *s, struct soak_event *r)
{
	r->got += read_delta(s->fake, &r->ev);
	KUNIT_EXPECT_EQ(s->test, r->got, r->req);
}

static void soak_start(struct soak *s, struct soak_event *r)
{
	if (r->period_left < 1)
		r->period_left = 1 + soak_random(s, 100000);
	riscv_pmu_event_start(&s->fake->hart, &r->ev, r->period_left);
}

static void soak_attach(struct soak *s, struct soak_event *r)
{
	struct fake_pmu *fake = s->fake;

	if (riscv_pmu_event_assign(&fake->pmu, &fake->hart, &r->ev)) {
		s->refused++;
		return;
	}
	KUNIT_EXPECT_EQ(s->test, riscv_pmu_hart_validate(&fake->pmu, &fake->hart, &r->ev), 0);
	if (soak_random(s, 4))
		soak_start(s, r);
}

static void soak_stop(struct soak *s, struct soak_event *r)
{
	soak_read(s, r);
	riscv_pmu_event_stop(&s->fake->hart, &r->ev);
}

static void soak_detach(struct soak *s, struct soak_event *r)
{
	if (r->ev.state)
		soak_stop(s, r);
	else
		soak_read(s, r);
	riscv_pmu_event_detach(&s->fake->hart, &r->ev);
	if (!soak_random(s, 3))
		soak_new_event(s, r);
}

/* Makes a random change of one event, as perf could. */
static void soak_change(struct soak *s)
{
	struct soak_event *r = &s->r[soak_random(s, SOAK_EVENTS)];

	if (!fake_is_attached(&r->ev))
		soak_attach(s, r);
	else if (!soak_random(s, 3))
		soak_detach(s, r);
	else if (!r->ev.state)
		soak_start(s, r);
	else if (soak_random(s, 2))
		soak_stop(s, r);
	else
		soak_read(s, r);
}

/*
 * Advances the time. Returns true if it was so long that all events have to be read now, before
 * the narrowest counter wraps twice.
 */
static bool soak_advance(struct soak *s)
{
	struct fake_pmu *fake = s->fake;
	bool is_long = !soak_random(s, 8);
	u64 ticks = soak_random(s, is_long ? 1 << 28 : 5000);

	fake->mode = soak_random(s, 2) ? RISCV_PMU_INH_U : RISCV_PMU_INH_S;
	for (int i = 0; i < SOAK_EVENTS; i++) {
		struct soak_event *r = &s->r[i];
		const struct riscv_pmu_config *cfg = &r->ev.req.cfg;

		if (!r->ev.state || cfg->inh & fake->mode)
			continue;
		r->req += ticks * fake_rate(cfg);
		r->period_left -= ticks * fake_rate(cfg);
	}
	fake_advance(fake, ticks);
	return is_long;
}

/* Simulates the interrupt, and reads some other events. */
static void soak_handle_overflows(struct soak *s, bool read_all)
{
	struct fake_pmu *fake = s->fake;
	u64 overflowed = expected_overflows(fake);

	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, &fake->hart, overflowed);
	for (int i = 0; i < SOAK_EVENTS; i++) {
		struct soak_event *r = &s->r[i];
		bool due = r->ev.sampling && r->ev.state && r->period_left <= 0;

		KUNIT_EXPECT_EQ(s->test, has_overflowed(fake, &r->ev), due);
		if (fake_is_attached(&r->ev) && (due || read_all || !soak_random(s, 8)))
			soak_read(s, r);
		if (!due)
			continue;
		s->samples++;
		/* A counter must have overflowed if an event has reached its overflow point. */
		KUNIT_EXPECT_NE(s->test, overflowed & C(r->ev.ctr), 0);
		r->period_left = 1 + soak_random(s, 100000);
		riscv_pmu_event_rearm(&fake->hart, &r->ev, r->period_left);
	}
	finish(fake);
}

/* Checks that each counter overflows no later than at the nearest overflow point. */
static void soak_check_overflow_points(struct soak *s)
{
	struct fake_pmu *fake = s->fake;

	for (int i = 0; i < RISCV_MAX_COUNTERS; i++) {
		s64 first = S64_MAX;

		for (int j = 0; j < SOAK_EVENTS; j++) {
			const struct soak_event *r = &s->r[j];

			if (fake_is_attached(&r->ev) && r->ev.ctr == i &&
			    r->ev.sampling &&
			    r->ev.state)
				first = min(first, r->period_left);
		}
		if (first == S64_MAX)
			continue;
		KUNIT_EXPECT_NE(s->test, fake->hart.hw.armed & C(i), 0);
		KUNIT_EXPECT_GE(s->test, fake_until_wrap(fake, i), 1);
		KUNIT_EXPECT_LE(s->test, fake_until_wrap(fake, i), first);
	}
}

static void soak_check(struct soak *s)
{
	struct fake_pmu *fake = s->fake;

	KUNIT_EXPECT_EQ(s->test, fake->hart.hw.running, fake_running(fake));
	KUNIT_EXPECT_EQ(s->test, fake->hart.hw.programmed, fake_holding(fake));
	soak_check_overflow_points(s);
	fake_expect_no_violation(s->test, fake);
}

static void soak_step(struct soak *s)
{
	begin(s->fake);
	for (u32 i = soak_random(s, 4); i; i--)
		soak_change(s);
	KUNIT_EXPECT_EQ(s->test, finish(s->fake), 0);
	soak_check(s);

	if (!soak_random(s, 100))
		lose_counters(s->fake);
	soak_handle_overflows(s, soak_advance(s));
	soak_check(s);
}

static void random_changes_lose_no_count(struct kunit *test)
{
	struct soak *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	s->fake = test->priv;
	prandom_seed_state(&s->rnd, SOAK_SEED);
	fake_set_width(s->fake, C(4), 32);
	fake_set_width(s->fake, C(33), 40);
	for (int i = 0; i < SOAK_EVENTS; i++)
		soak_new_event(s, &s->r[i]);

	for (int i = 0; i < SOAK_STEPS && test->status == KUNIT_SUCCESS; i++)
		soak_step(s);

	kunit_info(test, "seed 0x%x: %u batches, %u samples, %u events refused", SOAK_SEED,
		   s->fake->nr_batches, s->samples, s->refused);
	KUNIT_EXPECT_GT(test, s->refused, 100);
	KUNIT_EXPECT_GT(test, s->samples, 100);

	begin(s->fake);
	for (int i = 0; i < SOAK_EVENTS; i++) {
		if (fake_is_attached(&s->r[i].ev))
			soak_detach(s, &s->r[i]);
	}
	finish(s->fake);
}

static struct kunit_case program_cases[] = {
	KUNIT_CASE(a_read_returns_the_events_since_the_last_read),
	KUNIT_CASE(event_counts_only_while_started),
	KUNIT_CASE(modes_are_filtered),
	KUNIT_CASE(firmware_counter_starts_from_a_known_value),
	KUNIT_CASE(counting_event_is_switched_without_a_batch),
	KUNIT_CASE(next_task_uses_the_running_counter),
	KUNIT_CASE(sampling_event_is_switched_without_a_batch),
	KUNIT_CASE_PARAM(counter_is_loaded_if_its_overflow_is_too_early_or_late, suit_gen_params),
	KUNIT_CASE(unchanged_events_need_no_batch),
	KUNIT_CASE(group_starts_in_one_batch),
	KUNIT_CASE(sampling_group_starts_in_one_batch_and_keeps_running),
	KUNIT_CASE(unexpected_overflow_flag_is_cleared),
	KUNIT_CASE(counting_events_share_a_counter),
	KUNIT_CASE(different_filters_do_not_share),
	KUNIT_CASE(counting_and_sampling_share_a_counter),
	KUNIT_CASE(counting_event_does_not_share_with_sampling_if_a_counter_is_free),
	KUNIT_CASE(counting_event_is_moved_for_a_sampling_event),
	KUNIT_CASE(counting_and_sampling_share_if_another_needs_the_counter),
	KUNIT_CASE(events_are_not_merged_if_that_frees_no_usable_counter),
	KUNIT_CASE(events_are_merged_to_free_a_counter_by_a_chain_of_moves),
	KUNIT_CASE(one_opener_runs_at_most_16_identical_events),
	KUNIT_CASE(one_opener_runs_as_many_identical_events_as_counters),
	KUNIT_CASE(overflowed_counter_restarts_far_from_its_next_overflow),
	KUNIT_CASE(counter_keeps_running_when_its_sampling_event_is_removed),
	KUNIT_CASE(counter_overflows_at_the_nearest_overflow_point),
	KUNIT_CASE(passed_overflow_point_is_armed_one_event_ahead),
	KUNIT_CASE_PARAM(a_counter_wraps_without_loss, width_gen_params),
	KUNIT_CASE_PARAM(a_polled_counter_wraps_without_loss, width_gen_params),
	KUNIT_CASE(narrow_counters_are_polled_in_time),
	KUNIT_CASE(clamped_counter_is_loaded_to_its_full_width),
	KUNIT_CASE_PARAM(long_periods_are_reached_in_steps, width_gen_params),
	KUNIT_CASE_PARAM(counting_starts_far_from_an_overflow, width_gen_params),
	KUNIT_CASE_PARAM(a_late_interrupt_loses_no_count, width_gen_params),
	KUNIT_CASE(a_move_loses_no_count),
	KUNIT_CASE(a_move_keeps_the_overflow_point),
	KUNIT_CASE(a_chain_of_moves_loses_no_count),
	KUNIT_CASE(a_move_before_the_first_apply_keeps_the_period),
	KUNIT_CASE(shared_counter_moves_to_one_that_all_its_events_can_use),
	KUNIT_CASE(add_fails_if_no_counter_is_free),
	KUNIT_CASE(fixed_counter_is_preferred),
	KUNIT_CASE(running_counter_is_preferred),
	KUNIT_CASE(events_with_different_filters_keep_their_counters),
	KUNIT_CASE(event_does_not_return_to_a_hart_that_was_reset),
	KUNIT_CASE(only_unused_counters_are_released),
	KUNIT_CASE(refused_config_fails_the_event),
	KUNIT_CASE(refused_event_is_tried_on_another_counter),
	KUNIT_CASE(refused_event_is_tried_on_another_hart),
	KUNIT_CASE(refused_start_fails_all_events),
	KUNIT_CASE(refused_restart_keeps_the_delta),
	KUNIT_CASE(counter_that_failed_is_used_for_another_event),
	KUNIT_CASE(restored_counters_lose_no_count),
	KUNIT_CASE(stopped_events_stay_stopped_when_counters_are_restored),
	KUNIT_CASE(random_changes_lose_no_count),
	{}
};

static struct kunit_suite program_suite = {
	.name		= "riscv_pmu_program",
	.init		= program_init,
	.exit		= program_exit,
	.test_cases	= program_cases,
};

kunit_test_suite(program_suite);
