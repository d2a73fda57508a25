// SPDX-License-Identifier: GPL-2.0
/*
 * Events on counters in memory: what each event is given, to
 * the event, and what it costs in batches.
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

/* --- what core.c does, without perf ------------------------------------- */

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

static u64 take(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	return riscv_pmu_event_read_delta(&fake->pmu, &fake->hart, ev);
}

/* An event that got no counter has been complained of already. */
static u64 del(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	u64 delta;

	if (!fake_is_attached(ev))
		return 0;

	delta = take(fake, ev);
	riscv_pmu_event_stop(&fake->hart, ev);
	riscv_pmu_event_detach(&fake->hart, ev);
	return delta;
}

/* The same, each in a window of its own. */
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

static bool is_due(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	return ev->state == RISCV_PMU_EVENT_ACTIVE &&
	       riscv_pmu_event_has_overflowed(ev, riscv_pmu_counter_count(&fake->pmu, &fake->hart,
									  ev->ctr));
}

static void counting(struct riscv_pmu_event *ev, u64 selector, u64 ctrs)
{
	fake_event_init(ev, fake_config(selector, RISCV_PMU_INH_M), ctrs);
}

static void sampling(struct riscv_pmu_event *ev, u64 selector, u64 ctrs)
{
	counting(ev, selector, ctrs);
	ev->sampling = true;
}

/* --- one event --------------------------------------------------------- */

static void event_gets_what_was_counted(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	counting(&ev, 5, C(4));
	switch_in(test, fake, &ev, 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, 2);
	fake_expect_batch(test, fake, 1, BATCH(.program = C(4)));
	KUNIT_EXPECT_EQ(test, fake_last(fake, 0).start, C(4));

	KUNIT_EXPECT_EQ(test, take(fake, &ev), 0);
	fake_advance(fake, 100);
	KUNIT_EXPECT_EQ(test, take(fake, &ev), 500);
	KUNIT_EXPECT_EQ(test, take(fake, &ev), 0);
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 5);
	fake_advance(fake, 1000);
}

static void event_counts_only_while_started(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	counting(&ev, 3, C(3));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), 0);
	/* Started, but the hart has not been told yet. */
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, take(fake, &ev), 0);
	finish(fake);

	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, take(fake, &ev), 30);
	riscv_pmu_event_stop(&fake->hart, &ev);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, take(fake, &ev), 0);

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

static void counting_event_switches_for_free(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	unsigned int batches;
	u64 sum = 0;

	counting(&ev, 5, FAKE_CONFIG);
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

/* Two tasks that count the same: the second finds the counter of the first running. */
static void next_task_takes_over_the_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;
	unsigned int batches;

	counting(&a, 5, FAKE_CONFIG);
	counting(&b, 5, FAKE_CONFIG);
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

/* The counters that somebody waits for and that have overflowed. */
static u64 awaited(struct fake_pmu *fake)
{
	u64 overflowed = 0;

	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		overflowed |= fake->ctr[ctr].overflowed ? C(ctr) : 0;

	return riscv_pmu_hart_find_expected(&fake->hart, overflowed & fake->hart.armed);
}

/* Simulates the interrupt of counters whose overflow points have not come. */
static void serve_early(struct fake_pmu *fake, u64 ctrs)
{
	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, &fake->hart, ctrs);
	finish(fake);
}

/* Others come between, but its counter still overflows before its overflow point, and not much. */
static void sampling_event_switches_for_free(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	unsigned int batches;
	u64 left = 1000;

	sampling(&ev, 1, C(5));
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

	/* It comes early, and is set right. */
	fake_advance(fake, 370);
	KUNIT_EXPECT_FALSE(test, is_due(fake, &ev));
	KUNIT_EXPECT_EQ(test, awaited(fake), C(5));
	serve_early(fake, C(5));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 5), 180);
	fake_advance(fake, 180);
	KUNIT_EXPECT_TRUE(test, is_due(fake, &ev));
	KUNIT_EXPECT_EQ(test, awaited(fake), C(5));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 550);
	KUNIT_EXPECT_EQ(test, awaited(fake), 0);
}

struct suit_row {
	const char	*name;
	u64		between;
	u64		left;
	bool		suits;
};

static const struct suit_row suit_rows[] = {
	{ "nothing came between",		0,	1000,	true },
	{ "half of the way is gone",		500,	1000,	true },
	{ "more than half of the way is gone",	501,	1000,	false },
	{ "it is to come a little later",	0,	2001,	true },
	{ "it is to come a lot later",		0,	2002,	false },
	{ "it is to come earlier",		0,	999,	false },
	{ "one is left",			999,	1,	true },
	{ "it has just overflowed",		1000,	1000,	false },
	{ "it overflowed long ago",		5000,	1000,	false },
	{ "it is overdue",			0,	0,	false },
};

KUNIT_ARRAY_PARAM_DESC(suit, suit_rows, name);

/* A counter that overflows too late, or far too early, is given a new value. */
static void counter_that_does_not_suit_is_loaded(struct kunit *test)
{
	const struct suit_row *row = test->param_value;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	unsigned int batches;

	sampling(&ev, 1, C(5));
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
	KUNIT_EXPECT_EQ(test, fake->hart.armed, C(5));
	switch_out(fake, &ev);
}

static void nothing_changed_costs_nothing(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;
	unsigned int batches, reads;

	counting(&ev, 5, FAKE_CONFIG);
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
		counting(&ev[i], i + 1, FAKE_CONFIG);
		KUNIT_EXPECT_EQ(test, add(fake, &ev[i], 0), 0);
	}
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake_last(fake, 0).start, all);

	fake_advance(fake, 10);
	for (int i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[i]), 10 * (i + 1));
}

static void armed_group_starts_in_one_batch_and_runs_on(struct kunit *test)
{
	const u64 all = C(3) | C(4);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev[2];
	unsigned int batches;

	begin(fake);
	for (int i = 0; i < 2; i++) {
		sampling(&ev[i], i + 1, all);
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

/* It overflowed for nobody, and its flag, which stays, keeps the next from interrupting. */
static void flag_that_was_for_nobody_is_cleared(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	sampling(&ev, 1, C(5));
	switch_in(test, fake, &ev, 1000);
	switch_out(fake, &ev);
	fake->ctr[5].overflowed = true;
	KUNIT_EXPECT_EQ(test, awaited(fake), 0);
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

	counting(&a, 5, FAKE_CONFIG);
	counting(&b, 5, FAKE_CONFIG);
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

/* A sampling event joins and leaves; the counting one must not notice. */
static void counting_and_sampling_share_a_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	counting(&a, 5, C(3));
	sampling(&b, 5, C(3));
	switch_in(test, fake, &a, 0);
	fake_advance(fake, 10);
	switch_in(test, fake, &b, 75);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 75);
	fake_advance(fake, 10);
	KUNIT_EXPECT_FALSE(test, is_due(fake, &b));
	fake_advance(fake, 5);
	KUNIT_EXPECT_TRUE(test, is_due(fake, &b));
	KUNIT_EXPECT_FALSE(test, is_due(fake, &a));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 75);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 175);
}

/* It would lose what comes while its counter is written for the sampling one. */
static void counting_event_takes_a_free_counter_beside_a_sampling_one(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a, b;

	sampling(&sampled, 5, C(3) | C(4));
	counting(&a, 5, C(3) | C(4));
	counting(&b, 5, C(3) | C(4));
	switch_in(test, fake, &sampled, 1000);
	switch_in(test, fake, &a, 0);
	KUNIT_EXPECT_NE(test, a.ctr, sampled.ctr);
	/* Two that only count share. */
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_EQ(test, b.ctr, a.ctr);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampled), 50);
}

/* The counting event was there first, on the only counter that can interrupt. */
static void counting_event_makes_room_for_a_sampling_one(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a;

	counting(&a, 5, C(3) | C(4));
	sampling(&sampled, 5, C(3));
	switch_in(test, fake, &a, 0);
	fake_advance(fake, 10);
	switch_in(test, fake, &sampled, 1000);
	KUNIT_EXPECT_EQ(test, sampled.ctr, 3);
	KUNIT_EXPECT_EQ(test, a.ctr, 4);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 100);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampled), 50);
}

/* To share is better than to take turns. */
static void counting_and_sampling_share_if_another_needs_the_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a, other;

	sampling(&sampled, 5, C(3) | C(4));
	counting(&a, 5, C(3) | C(4));
	counting(&other, 7, C(3) | C(4));
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

/* Where a new event gets no counter by it, nobody has to share. */
static void events_are_not_merged_if_that_frees_no_usable_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a, other, newcomer;

	sampling(&sampled, 5, C(3) | C(4));
	counting(&a, 5, C(3) | C(4));
	counting(&other, 7, C(5));
	switch_in(test, fake, &sampled, 1000);
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &other, 0);

	/* No counter of the pair is of use to it. */
	counting(&newcomer, 8, C(5));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &newcomer, 0), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->hart.stats.moved, 0);

	/* The only one that could hold it has refused it. */
	fake->fail_config = C(33);
	counting(&newcomer, 8, C(33));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &newcomer, 0), -EIO);
	KUNIT_EXPECT_EQ(test, add(fake, &newcomer, 0), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->hart.stats.moved, 0);

	KUNIT_EXPECT_NE(test, a.ctr, sampled.ctr);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &sampled), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &other), 70);
}

/* A chain leads to the pair: the new event's counter is taken by one that can move there. */
static void events_are_merged_to_free_a_counter_by_a_chain_of_moves(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event sampled, a, other, newcomer;

	sampling(&sampled, 5, C(3) | C(4));
	counting(&a, 5, C(3) | C(4));
	counting(&other, 7, C(4) | C(5));
	switch_in(test, fake, &other, 0);
	KUNIT_EXPECT_EQ(test, other.ctr, 4);
	switch_in(test, fake, &sampled, 1000);
	switch_in(test, fake, &a, 0);
	KUNIT_EXPECT_EQ(test, other.ctr, 5);
	counting(&newcomer, 8, C(5));
	switch_in(test, fake, &newcomer, 0);
	KUNIT_EXPECT_EQ(test, newcomer.ctr, 5);
	KUNIT_EXPECT_EQ(test, other.ctr, 4);
	KUNIT_EXPECT_EQ(test, a.ctr, sampled.ctr);
	switch_out(fake, &a);
	switch_out(fake, &sampled);
	switch_out(fake, &other);
	switch_out(fake, &newcomer);
}

#define MANY	(RISCV_PMU_MAX_IDENTICAL + 1)

/* Else a program that counts counters by opening the same event again would never end. */
static void one_opener_runs_at_most_16_identical_events(struct kunit *test)
{
	struct riscv_pmu_event *ev = kunit_kcalloc(test, MANY, sizeof(*ev), GFP_KERNEL);
	struct riscv_pmu_event other;
	struct fake_pmu *fake = test->priv;
	u64 searched;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, ev);
	for (i = 0; i < MANY; i++)
		counting(&ev[i], 5, C(3));
	for (i = 0; i < MANY - 1; i++)
		switch_in(test, fake, &ev[i], 0);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev[i], 0), -EAGAIN);
	finish(fake);

	/* Another opener is not limited, and failed adds of the first do not slow it down. */
	counting(&other, 5, C(3));
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

	/* It is the last one's turn: then the first, which was here before, has to wait. */
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[0]), 50);
	switch_in(test, fake, &ev[i], 0);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev[0], 0), -EAGAIN);
	finish(fake);
	fake_advance(fake, 10);
	for (i = 1; i < MANY; i++)
		KUNIT_EXPECT_EQ(test, switch_out(fake, &ev[i]), i == MANY - 1 ? 50 : 100);
}

/* As many as there are counters, if these are more. */
static void one_opener_runs_as_many_identical_events_as_counters(struct kunit *test)
{
	struct riscv_pmu_request req = { .ctrs = GENMASK_ULL(31, 3) };

	KUNIT_EXPECT_EQ(test, riscv_pmu_max_identical(&req), 29);
	req.ctrs = C(3);
	KUNIT_EXPECT_EQ(test, riscv_pmu_max_identical(&req), 16);
}

/*
 * The period has just ended when the sampling event leaves, and the counter
 * runs on. If it is ever started again it must not be from the few events since,
 * QEMU 10.0.2 could hang (see apply.c).
 */
static void counter_that_overflowed_starts_far_from_either_end(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	counting(&a, 5, C(3));
	sampling(&b, 5, C(3));
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &b, 100);
	fake_advance(fake, 21);
	KUNIT_EXPECT_EQ(test, fake->ctr[3].value, 5);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 105);
	KUNIT_EXPECT_EQ(test, fake->ctr[3].value, 5);
	serve_early(fake, C(3));
	KUNIT_EXPECT_EQ(test, fake->ctr[3].value, 3ULL << 62);
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 110);
}

static void counter_runs_on_when_the_sampling_event_leaves(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;
	unsigned int batches;

	counting(&a, 5, C(3));
	sampling(&b, 5, C(3));
	switch_in(test, fake, &b, 1000);
	switch_in(test, fake, &a, 0);
	switch_out(fake, &b);
	/* Its overflow point is nobody's now, so the next switch is free again. */
	batches = fake->nr_batches;
	switch_out(fake, &a);
	switch_in(test, fake, &a, 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	fake_advance(fake, 2);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 10);
}

/* Simulates the interrupt as far as counters go. */
static u64 serve(struct fake_pmu *fake, struct riscv_pmu_event *ev, u64 left)
{
	u64 delta;

	begin(fake);
	delta = take(fake, ev);
	riscv_pmu_event_rearm(&fake->hart, ev, left);
	finish(fake);
	return delta;
}

static void the_earlier_overflow_point_wins(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	sampling(&a, 1, C(3));
	sampling(&b, 1, C(3));
	switch_in(test, fake, &a, 100);
	switch_in(test, fake, &b, 30);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 30);
	fake_advance(fake, 30);
	KUNIT_EXPECT_TRUE(test, is_due(fake, &b));
	KUNIT_EXPECT_FALSE(test, is_due(fake, &a));

	KUNIT_EXPECT_EQ(test, serve(fake, &b, 200), 30);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 70);
	fake_advance(fake, 70);
	KUNIT_EXPECT_TRUE(test, is_due(fake, &a));
	KUNIT_EXPECT_FALSE(test, is_due(fake, &b));
	KUNIT_EXPECT_EQ(test, serve(fake, &a, 100), 100);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);

	/* The earlier one leaves: the later one's is armed when that would have come. */
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	fake_advance(fake, 100);
	KUNIT_EXPECT_EQ(test, awaited(fake), C(3));
	serve_early(fake, C(3));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 30);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 170);
}

static void overflow_point_in_the_past_is_armed_at_once(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	sampling(&a, 1, C(3));
	sampling(&b, 1, C(3));
	switch_in(test, fake, &a, 100);
	fake_advance(fake, 150);
	switch_in(test, fake, &b, 1000);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 1);
	KUNIT_EXPECT_TRUE(test, is_due(fake, &a));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 150);
	serve_early(fake, C(3));
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

static void wraps_are_folded(struct kunit *test)
{
	const struct width_row *row = test->param_value;
	u64 step = GENMASK_ULL(row->width - 1, 0) / 4 * 3;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), row->width);
	counting(&ev, 1, C(3));
	switch_in(test, fake, &ev, 0);
	for (int i = 0; i < 20; i++) {
		fake_advance(fake, step);
		KUNIT_EXPECT_EQ(test, take(fake, &ev), step);
	}
	switch_out(fake, &ev);
}

/* Nobody reads, and nothing interrupts: the timer alone keeps what would be lost. */
static void wraps_are_folded_by_polling(struct kunit *test)
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

	counting(&ev, 1, C(3));
	switch_in(test, fake, &ev, 0);
	for (int i = 0; i < 20; i++) {
		fake_advance(fake, is_narrow ? step : 1);
		KUNIT_EXPECT_EQ(test, riscv_pmu_hart_poll(&fake->pmu, &fake->hart, 1, NULL),
				is_narrow ? fake->pmu.poll_ns : 0);
	}
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 20 * (is_narrow ? step : 1));
	KUNIT_EXPECT_EQ(test, riscv_pmu_hart_poll(&fake->pmu, &fake->hart, 1, NULL), 0);
}

/* 2^32 events at 16 an ns are 268 ms, half of which is left to be late. */
static void narrow_counters_are_polled_in_time(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	fake->pmu.irq_ctrs = 0;
	fake_set_width(fake, C(3) | C(4), 40);
	fake_set_width(fake, C(3), 32);
	riscv_pmu_poll_probe(&fake->pmu);
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ctrs, C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ns, 134217728);
	/* Those that interrupt need no timer. */
	fake->pmu.irq_ctrs = C(3);
	riscv_pmu_poll_probe(&fake->pmu);
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ctrs, C(4));
	fake->pmu.irq_ctrs = C(3) | C(4);
	riscv_pmu_poll_probe(&fake->pmu);
	KUNIT_EXPECT_EQ(test, fake->pmu.poll_ctrs, 0);
}

/* A wide counter that is taken for a narrow one overflows where that would. */
static void clamped_counter_is_loaded_to_its_full_width(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), 24);
	fake->pmu.clamped_ctrs = C(3);
	fake->wide = C(3);
	sampling(&ev, 1, C(3));
	switch_in(test, fake, &ev, 1000);
	KUNIT_EXPECT_EQ(test, fake->ctr[3].value, -1000ULL);
	fake_advance(fake, 1000);
	KUNIT_EXPECT_TRUE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_TRUE(test, is_due(fake, &ev));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 1000);
}

/*
 * No overflow point is set farther away than half the range, nor than a quarter of 2^64; a farther
 * one is reached in steps.
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
	sampling(&ev, 1, C(3));
	switch_in(test, fake, &ev, left);
	while (passed < left) {
		u64 step = min(left - passed, half);

		KUNIT_ASSERT_EQ(test, fake_until_wrap(fake, 3), step);
		KUNIT_EXPECT_FALSE(test, is_due(fake, &ev));
		fake_advance(fake, step);
		KUNIT_EXPECT_TRUE(test, fake->ctr[3].overflowed);
		passed += step;
		/* As the interrupt does it: stopped, looked at, started again. */
		riscv_pmu_hart_stop_ctrs(&fake->pmu, &fake->hart, C(3));
		KUNIT_EXPECT_EQ(test, is_due(fake, &ev), passed == left);
		finish(fake);
	}

	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), left);
}

/* OpenSBI 1.6 leaves counters one event short of their overflow. */
static void counting_starts_far_from_an_overflow(struct kunit *test)
{
	const struct width_row *row = test->param_value;
	u64 mask = GENMASK_ULL(row->width - 1, 0);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), row->width);
	fake->ctr[3].value = mask;
	counting(&ev, 1, C(3));
	switch_in(test, fake, &ev, 0);
	/* Half of the range, to be folded; of 64 bits a quarter is enough for anybody. */
	KUNIT_EXPECT_GE(test, fake_until_wrap(fake, 3) - 1,
			row->width < 64 ? mask >> 1 : mask >> 2);
	fake_advance(fake, 100);
	KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 100);
}

/* An interrupt that is taken late: the counter still tells by how much. */
static void late_interrupts_lose_nothing(struct kunit *test)
{
	const struct width_row *row = test->param_value;
	u64 half = GENMASK_ULL(row->width - 1, 0) >> 1;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake_set_width(fake, C(3), row->width);
	sampling(&ev, 1, C(3));
	switch_in(test, fake, &ev, 10);
	fake_advance(fake, 10 + half);
	KUNIT_EXPECT_TRUE(test, is_due(fake, &ev));
	KUNIT_EXPECT_EQ(test, serve(fake, &ev, 100), 10 + half);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	switch_out(fake, &ev);
}

/* --- moving ------------------------------------------------------------- */

static void a_move_loses_no_count(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	counting(&a, 5, C(3) | C(33));
	counting(&b, 7, C(3));
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

	sampling(&a, 1, C(3) | C(4));
	counting(&b, 7, C(3));
	switch_in(test, fake, &a, 100);
	fake_advance(fake, 60);
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_EQ(test, a.ctr, 4);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 4), 40);
	fake_advance(fake, 39);
	KUNIT_EXPECT_FALSE(test, is_due(fake, &a));
	fake_advance(fake, 1);
	KUNIT_EXPECT_TRUE(test, is_due(fake, &a));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 100);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 280);
}

static void a_chain_of_moves_loses_nothing(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event r[4];

	counting(&r[0], 1, C(3) | C(4));
	sampling(&r[1], 2, C(4) | C(5));
	counting(&r[2], 3, C(5) | C(33));
	counting(&r[3], 4, C(3));
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

/* Both are taken while changes are collected, and the first is moved before it ever counted. */
static void a_move_before_the_first_apply(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	sampling(&a, 1, C(3) | C(4));
	sampling(&b, 2, C(3));
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

static void shared_counter_moves_where_all_its_events_can_go(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b, c;

	counting(&a, 5, C(3) | C(4) | C(5));
	counting(&b, 5, C(3) | C(5));
	counting(&c, 7, C(3));
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

static void no_counter_is_free(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b, c;

	counting(&a, 1, C(3) | C(4));
	counting(&b, 2, C(3) | C(4));
	counting(&c, 3, C(3) | C(4));
	switch_in(test, fake, &a, 0);
	switch_in(test, fake, &b, 0);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &c, 0), -EAGAIN);
	finish(fake);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 10);
	/* Now there is one. */
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

	counting(&a, 5, C(33));
	counting(&b, 5, FAKE_CONFIG);
	switch_in(test, fake, &a, 0);
	switch_out(fake, &a);
	switch_in(test, fake, &b, 0);
	KUNIT_EXPECT_EQ(test, b.ctr, 33);
	switch_out(fake, &b);
}

/* --- one event on two counters ------------------------------------------ */

/* Two tasks that take turns with different filters: each finds its own counter again. */
static void each_filter_keeps_its_counter(struct kunit *test)
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

/* A hart that was reset holds nothing that an earlier event may take for its own. */
static void event_does_not_return_to_a_hart_that_was_reset(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event x, y;

	counting(&x, 5, C(3));
	switch_in(test, fake, &x, 0);
	switch_out(fake, &x);
	fake->pmu.ops.hart_stop(&fake->pmu);
	riscv_pmu_hart_reset(&fake->pmu, &fake->hart);
	fake->pmu.ops.hart_start(&fake->pmu);
	counting(&y, 6, C(3));
	switch_in(test, fake, &y, 0);
	switch_out(fake, &y);
	switch_in(test, fake, &x, 0);
	fake_advance(fake, 2);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &x), 10);
}

/* What is idle is given up; what is read is not. */
static void idle_counters_are_released_and_used_ones_are_not(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	counting(&a, 5, C(3));
	counting(&b, 6, C(4));
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

	/* Its event comes back to a counter that has to be programmed again. */
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
	counting(&bad, 5, C(3));
	counting(&good, 6, C(4));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &good, 0), 0);
	KUNIT_EXPECT_EQ(test, add(fake, &bad, 0), -EIO);
	KUNIT_EXPECT_EQ(test, finish(fake), 0);
	KUNIT_EXPECT_EQ(test, bad.candidates, 0);
	KUNIT_EXPECT_EQ(test, good.candidates, C(4));
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(4));

	/* The counter is not asked again at once. */
	batches = fake->nr_batches;
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &bad, 0), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);

	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &good), 60);

	/* But later it is, and may have changed its mind. */
	fake->fail_config = 0;
	bad.retry = jiffies;
	switch_in(test, fake, &bad, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &bad), 50);
}

/* Which counters can hold a raw event may be believed and not known: the next one is tried. */
static void refused_event_takes_another_counter(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	fake->fail_config = C(3) | C(4);
	counting(&ev, 5, C(3) | C(4) | C(5));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), -EIO);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), -EIO);
	KUNIT_EXPECT_EQ(test, add(fake, &ev, 0), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), 0);
	KUNIT_EXPECT_EQ(test, ev.ctr, 5);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &ev), 50);
}

/* On another hart the counters may be free, or accept the event. */
static void refused_event_is_tried_on_another_hart(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct fake_pmu *other = fake_create(test);
	struct riscv_pmu_event ev;

	fake->fail_config = C(3);
	counting(&ev, 5, C(3));
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
	counting(&a, 5, C(3));
	sampling(&b, 5, C(3));
	counting(&good, 6, C(33));
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &a, 0), 0);
	KUNIT_EXPECT_EQ(test, add(fake, &b, 100), 0);
	KUNIT_EXPECT_EQ(test, add(fake, &good, 0), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), C(3));

	KUNIT_EXPECT_EQ(test, a.candidates | b.candidates, 0);
	KUNIT_EXPECT_FALSE(test, a.state || b.state || !good.candidates);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(33));
	fake_advance(fake, 10);
	KUNIT_EXPECT_FALSE(test, is_due(fake, &b));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 0);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 0);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &good), 60);
}

/* The counter refuses after it had served well: what was counted till then is not lost. */
static void refused_restart_keeps_the_delta(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b;

	counting(&a, 5, C(3));
	sampling(&b, 5, C(3));
	switch_in(test, fake, &a, 0);
	fake_advance(fake, 10);
	fake->fail_start = C(3);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, &b, 100), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), C(3));
	KUNIT_EXPECT_EQ(test, switch_out(fake, &a), 50);
	KUNIT_EXPECT_EQ(test, switch_out(fake, &b), 0);
}

static void counter_that_failed_is_used_for_another(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event bad, good;

	fake->fail_start = C(3);
	counting(&bad, 5, C(3));
	counting(&good, 6, C(3));
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

static void saving_loses_no_count(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event a, b, c, gone;

	fake_set_width(fake, C(3), 32);
	counting(&a, 5, C(3));
	sampling(&b, 1, C(4));
	counting(&gone, 9, C(5));
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

static void saving_leaves_stopped_events_stopped(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_event ev;

	counting(&ev, 5, C(3));
	switch_in(test, fake, &ev, 0);
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, take(fake, &ev), 5);
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

/* An event, and what it should have been given. */
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

/* Few events and filters, so that events meet. */
static void soak_new_event(struct soak *s, struct soak_event *r)
{
	static const u32 inh[] = { 0, 0, 0, RISCV_PMU_INH_U, RISCV_PMU_INH_S };
	struct riscv_pmu_config cfg = fake_config(1 + soak_random(s, 4),
						  inh[soak_random(s, ARRAY_SIZE(inh))]);

	memset(r, 0, sizeof(*r));
	fake_event_init(&r->ev, cfg, soak_random_ctrs(s));
	r->ev.sampling = soak_random(s, 3) == 0;
}

static void soak_take(struct soak *s, struct soak_event *r)
{
	r->got += take(s->fake, &r->ev);
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
	soak_take(s, r);
	riscv_pmu_event_stop(&s->fake->hart, &r->ev);
}

static void soak_detach(struct soak *s, struct soak_event *r)
{
	if (r->ev.state)
		soak_stop(s, r);
	else
		soak_take(s, r);
	riscv_pmu_event_detach(&s->fake->hart, &r->ev);
	if (!soak_random(s, 3))
		soak_new_event(s, r);
}

/* One thing that perf could do to one event. */
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
		soak_take(s, r);
}

/*
 * Time passes. Returns whether it was so long that all shares have to be taken
 * now, before the narrowest counter wraps twice.
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

/* What the interrupt would do, and reads here and there; most shares stay where they are. */
static void soak_serve(struct soak *s, bool take_all)
{
	struct fake_pmu *fake = s->fake;
	u64 overflowed = awaited(fake);

	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, &fake->hart, overflowed);
	for (int i = 0; i < SOAK_EVENTS; i++) {
		struct soak_event *r = &s->r[i];
		bool due = r->ev.sampling && r->ev.state && r->period_left <= 0;

		KUNIT_EXPECT_EQ(s->test, is_due(fake, &r->ev), due);
		if (fake_is_attached(&r->ev) && (due || take_all || !soak_random(s, 8)))
			soak_take(s, r);
		if (!due)
			continue;
		s->samples++;
		/* Nobody may wait in vain. */
		KUNIT_EXPECT_NE(s->test, overflowed & C(r->ev.ctr), 0);
		r->period_left = 1 + soak_random(s, 100000);
		riscv_pmu_event_rearm(&fake->hart, &r->ev, r->period_left);
	}
	finish(fake);
}

/* The counter overflows at the first of its events' overflow points, or before. */
static void soak_check_deadlines(struct soak *s)
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
		KUNIT_EXPECT_NE(s->test, fake->hart.armed & C(i), 0);
		KUNIT_EXPECT_GE(s->test, fake_until_wrap(fake, i), 1);
		KUNIT_EXPECT_LE(s->test, fake_until_wrap(fake, i), first);
	}
}

static void soak_check(struct soak *s)
{
	struct fake_pmu *fake = s->fake;

	KUNIT_EXPECT_EQ(s->test, fake->hart.running, fake_running(fake));
	KUNIT_EXPECT_EQ(s->test, fake->hart.programmed, fake_holding(fake));
	soak_check_deadlines(s);
	fake_expect_clean(s->test, fake);
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
	soak_serve(s, soak_advance(s));
	soak_check(s);
}

static void random_changes_lose_nothing(struct kunit *test)
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

	kunit_info(test, "seed 0x%x: %u batches, %u samples, %u readers refused", SOAK_SEED,
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
	KUNIT_CASE(event_gets_what_was_counted),
	KUNIT_CASE(event_counts_only_while_started),
	KUNIT_CASE(modes_are_filtered),
	KUNIT_CASE(firmware_counter_starts_from_a_known_value),
	KUNIT_CASE(counting_event_switches_for_free),
	KUNIT_CASE(next_task_takes_over_the_counter),
	KUNIT_CASE(sampling_event_switches_for_free),
	KUNIT_CASE_PARAM(counter_that_does_not_suit_is_loaded, suit_gen_params),
	KUNIT_CASE(nothing_changed_costs_nothing),
	KUNIT_CASE(group_starts_in_one_batch),
	KUNIT_CASE(armed_group_starts_in_one_batch_and_runs_on),
	KUNIT_CASE(flag_that_was_for_nobody_is_cleared),
	KUNIT_CASE(counting_events_share_a_counter),
	KUNIT_CASE(different_filters_do_not_share),
	KUNIT_CASE(counting_and_sampling_share_a_counter),
	KUNIT_CASE(counting_event_takes_a_free_counter_beside_a_sampling_one),
	KUNIT_CASE(counting_event_makes_room_for_a_sampling_one),
	KUNIT_CASE(counting_and_sampling_share_if_another_needs_the_counter),
	KUNIT_CASE(events_are_not_merged_if_that_frees_no_usable_counter),
	KUNIT_CASE(events_are_merged_to_free_a_counter_by_a_chain_of_moves),
	KUNIT_CASE(one_opener_runs_at_most_16_identical_events),
	KUNIT_CASE(one_opener_runs_as_many_identical_events_as_counters),
	KUNIT_CASE(counter_that_overflowed_starts_far_from_either_end),
	KUNIT_CASE(counter_runs_on_when_the_sampling_event_leaves),
	KUNIT_CASE(the_earlier_overflow_point_wins),
	KUNIT_CASE(overflow_point_in_the_past_is_armed_at_once),
	KUNIT_CASE_PARAM(wraps_are_folded, width_gen_params),
	KUNIT_CASE_PARAM(wraps_are_folded_by_polling, width_gen_params),
	KUNIT_CASE(narrow_counters_are_polled_in_time),
	KUNIT_CASE(clamped_counter_is_loaded_to_its_full_width),
	KUNIT_CASE_PARAM(long_periods_are_reached_in_steps, width_gen_params),
	KUNIT_CASE_PARAM(counting_starts_far_from_an_overflow, width_gen_params),
	KUNIT_CASE_PARAM(late_interrupts_lose_nothing, width_gen_params),
	KUNIT_CASE(a_move_loses_no_count),
	KUNIT_CASE(a_move_keeps_the_overflow_point),
	KUNIT_CASE(a_chain_of_moves_loses_nothing),
	KUNIT_CASE(a_move_before_the_first_apply),
	KUNIT_CASE(shared_counter_moves_where_all_its_events_can_go),
	KUNIT_CASE(no_counter_is_free),
	KUNIT_CASE(fixed_counter_is_preferred),
	KUNIT_CASE(running_counter_is_preferred),
	KUNIT_CASE(each_filter_keeps_its_counter),
	KUNIT_CASE(event_does_not_return_to_a_hart_that_was_reset),
	KUNIT_CASE(idle_counters_are_released_and_used_ones_are_not),
	KUNIT_CASE(refused_config_fails_the_event),
	KUNIT_CASE(refused_event_takes_another_counter),
	KUNIT_CASE(refused_event_is_tried_on_another_hart),
	KUNIT_CASE(refused_start_fails_all_events),
	KUNIT_CASE(refused_restart_keeps_the_delta),
	KUNIT_CASE(counter_that_failed_is_used_for_another),
	KUNIT_CASE(saving_loses_no_count),
	KUNIT_CASE(saving_leaves_stopped_events_stopped),
	KUNIT_CASE(random_changes_lose_nothing),
	{}
};

static struct kunit_suite program_suite = {
	.name		= "riscv_pmu_program",
	.init		= program_init,
	.exit		= program_exit,
	.test_cases	= program_cases,
};

kunit_test_suite(program_suite);
