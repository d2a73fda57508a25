// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the constraint solver: examples, and a comparison with a brute-force search.
 */

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/prandom.h>

#include "../sched.h"

#define SCHED_SEED	0x52495343u
#define SCHED_INSTANCES	4000
#define SCHED_NR	6

/*
 * A path is valid if each step is in the constraint, no counter is in it twice, and it ends at a
 * free counter.
 */
static void expect_valid_path(struct kunit *test, const struct riscv_pmu_sched *sched, u64 may,
			      const struct riscv_pmu_sched_path *path)
{
	u64 seen = 0;

	KUNIT_ASSERT_GE(test, path->len, 1);
	KUNIT_ASSERT_LE(test, path->len, RISCV_PMU_SCHED_MAX);
	for (unsigned int i = 0; i < path->len; i++) {
		u64 bit = BIT_ULL(path->ctr[i]);
		bool last = i == path->len - 1;

		KUNIT_EXPECT_TRUE_MSG(test, may & bit, "step %u violates the constraint", i);
		KUNIT_EXPECT_FALSE_MSG(test, seen & bit, "step %u is in the path twice", i);
		KUNIT_EXPECT_EQ_MSG(test, !(sched->used & bit), last,
				    "step %u: only the last counter may be free", i);
		seen |= bit;
		may = sched->may[path->ctr[i]];
	}
}

/* Assigns the events along a path, as callers of the solver do. */
static void apply_path(struct riscv_pmu_sched *sched, u64 may,
		       const struct riscv_pmu_sched_path *path)
{
	for (unsigned int i = path->len - 1; i; i--)
		sched->may[path->ctr[i]] = sched->may[path->ctr[i - 1]];
	sched->may[path->ctr[0]] = may;
	sched->used |= BIT_ULL(path->ctr[path->len - 1]);
}

/* --- by example --------------------------------------------------------- */

#define MAX_STEPS	8

struct path_row {
	const char	*name;
	u64		may[MAX_STEPS];		/* constraints of the events; 0 is the end */
	bool		last_fits;
	unsigned int	len;			/* length of the last event's path */
	u8		ctr[MAX_STEPS];
};

static const struct path_row path_rows[] = {
	{ "an empty hart", { BIT_ULL(5) }, true, 1, { 5 } },
	{ "counter 63", { BIT_ULL(63) }, true, 1, { 63 } },
	{ "lowest free counter first", { 0xf0 }, true, 1, { 4 } },
	{ "the other counter is in use", { 0x3, 0x3 }, true, 1, { 1 } },
	{ "all counters are in use", { 0x3, 0x3, 0x3 }, false },
	{ "the only counter is in use", { 0x8, 0x8 }, false },
	/* The first event has got the only counter that the second one can use. */
	{ "one event has to move", { 0x3, 0x1 }, true, 2, { 0, 1 } },
	{ "one event has to move above 31", { BIT_ULL(33) | BIT_ULL(40), BIT_ULL(33) }, true, 2,
	  { 33, 40 } },
	{ "a chain of two moves", { 0x3, 0x6, 0x1 }, true, 3, { 0, 1, 2 } },
	{ "a chain of four moves", { 0x3, 0x6, 0xc, 0x18, 0x1 }, true, 5, { 0, 1, 2, 3, 4 } },
	{ "a chain without a free counter", { 0x3, 0x6, 0x6, 0x1 }, false },
	{ "three events, two counters", { 0x9, 0x9, 0x9 }, false },
	{ "no move if a counter is free", { 0x3, 0x7 }, true, 1, { 1 } },
};

KUNIT_ARRAY_PARAM_DESC(path, path_rows, name);

static void the_expected_path_is_found(struct kunit *test)
{
	const struct path_row *row = test->param_value;
	struct riscv_pmu_sched sched = {};
	struct riscv_pmu_sched_path path;
	unsigned int i;

	for (i = 0; row->may[i + 1]; i++) {
		KUNIT_ASSERT_TRUE(test, riscv_pmu_sched_find(&sched, row->may[i], NULL, 0, &path));
		apply_path(&sched, row->may[i], &path);
	}

	KUNIT_ASSERT_EQ(test, riscv_pmu_sched_find(&sched, row->may[i], NULL, 0, &path),
			row->last_fits);
	if (!row->last_fits)
		return;
	expect_valid_path(test, &sched, row->may[i], &path);
	KUNIT_ASSERT_EQ(test, path.len, row->len);
	KUNIT_EXPECT_MEMEQ(test, path.ctr, row->ctr, row->len);
}

static void all_64_counters_can_be_used(struct kunit *test)
{
	struct riscv_pmu_sched sched = {};
	struct riscv_pmu_sched_path path;

	/* Event i can use counters i and i + 1, the last event only 0: all others have to move. */
	for (unsigned int i = 0; i < 64; i++) {
		u64 may = i < 63 ? BIT_ULL(i) | BIT_ULL(i + 1) : BIT_ULL(0);

		KUNIT_ASSERT_TRUE(test, riscv_pmu_sched_find(&sched, may, NULL, 0, &path));
		expect_valid_path(test, &sched, may, &path);
		apply_path(&sched, may, &path);
	}

	KUNIT_EXPECT_EQ(test, path.len, 64);
	KUNIT_EXPECT_EQ(test, sched.used, ~0ULL);
	KUNIT_EXPECT_FALSE(test, riscv_pmu_sched_find(&sched, ~0ULL, NULL, 0, &path));
}

struct prefer_row {
	const char	*name;
	u64		used;
	u64		may;
	u64		prefer[3];
	u8		ctr;
};

static const struct prefer_row prefer_rows[] = {
	{ "the first preference", 0, 0xff, { 0x80, 0x40, 0x1 }, 7 },
	{ "the second, the first is in use", 0x80, 0xff, { 0x80, 0x40, 0x1 }, 6 },
	{ "the third", 0xc0, 0xff, { 0x80, 0x40, 0x2 }, 1 },
	{ "no preferred counter is free", 0xc2, 0xff, { 0x80, 0x40, 0x2 }, 0 },
	{ "a preference outside the constraint", 0, 0x0f, { 0x80, 0x40, 0x4 }, 2 },
	{ "lowest of a preference", 0, 0xff, { 0x30, 0, 0 }, 4 },
	{ "counter 40", 0, ~0ULL, { BIT_ULL(40), 0, 0 }, 40 },
};

KUNIT_ARRAY_PARAM_DESC(prefer, prefer_rows, name);

static void a_preferred_free_counter_is_chosen(struct kunit *test)
{
	const struct prefer_row *row = test->param_value;
	struct riscv_pmu_sched sched = { .used = row->used };
	struct riscv_pmu_sched_path path;

	/* The other events could move, but do not have to move for a preference. */
	for (u64 ctrs = row->used; ctrs; ctrs &= ctrs - 1)
		sched.may[__ffs64(ctrs)] = ~0ULL;

	KUNIT_ASSERT_TRUE(test, riscv_pmu_sched_find(&sched, row->may, row->prefer,
						     ARRAY_SIZE(row->prefer), &path));
	KUNIT_EXPECT_EQ(test, path.len, 1);
	KUNIT_EXPECT_EQ(test, path.ctr[0], row->ctr);
}

static void an_empty_constraint_has_no_path(struct kunit *test)
{
	struct riscv_pmu_sched sched = {};
	struct riscv_pmu_sched_path path;

	KUNIT_EXPECT_FALSE(test, riscv_pmu_sched_find(&sched, 0, NULL, 0, &path));
}

/* --- against brute force ------------------------------------------------ */

/* Whether each of the constraints @may can get a counter that is not in @taken: tries all. */
static bool brute_force_fits(const u64 *may, unsigned int nr, u64 taken)
{
	if (!nr)
		return true;

	for (u64 free = may[0] & ~taken; free; free &= free - 1) {
		if (brute_force_fits(may + 1, nr - 1, taken | (free & -free)))
			return true;
	}

	return false;
}

/* Returns a random subset of the @nr counters in @where. */
static u64 random_mask(struct rnd_state *rnd, const u8 *where, unsigned int nr)
{
	u64 mask = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (prandom_u32_state(rnd) % 5 < 2)
			mask |= BIT_ULL(where[i]);
	}

	return mask;
}

static void random_counters(struct rnd_state *rnd, u8 *where, unsigned int nr)
{
	u64 seen = 0;

	for (unsigned int i = 0; i < nr; i++) {
		do {
			where[i] = prandom_u32_state(rnd) % 64;
		} while (seen & BIT_ULL(where[i]));
		seen |= BIT_ULL(where[i]);
	}
}

/* Collects the constraints of the assigned events and of the new one. */
static unsigned int collect_masks(const struct riscv_pmu_sched *sched, u64 added, u64 *may)
{
	unsigned int nr = 0;

	may[nr++] = added;
	for (u64 ctrs = sched->used; ctrs; ctrs &= ctrs - 1)
		may[nr++] = sched->may[__ffs64(ctrs)];

	return nr;
}

/* Adds and removes random events. Returns the number of events that did not fit. */
static unsigned int run_instance(struct kunit *test, struct rnd_state *rnd)
{
	unsigned int nr_ctrs = 1 + prandom_u32_state(rnd) % SCHED_NR, refused = 0;
	struct riscv_pmu_sched sched = {};
	struct riscv_pmu_sched_path path;
	u64 masks[SCHED_NR + 1];
	u8 where[SCHED_NR];

	random_counters(rnd, where, nr_ctrs);
	for (unsigned int i = 0; i < 2 * SCHED_NR; i++) {
		u64 may = random_mask(rnd, where, nr_ctrs);
		unsigned int nr = collect_masks(&sched, may, masks);
		bool fits = brute_force_fits(masks, nr, 0);

		KUNIT_ASSERT_EQ(test, riscv_pmu_sched_find(&sched, may, NULL, 0, &path), fits);
		if (fits) {
			expect_valid_path(test, &sched, may, &path);
			apply_path(&sched, may, &path);
		} else {
			refused++;
		}
		/* Remove an event now and then. */
		if (!(prandom_u32_state(rnd) % 4))
			sched.used &= ~BIT_ULL(where[prandom_u32_state(rnd) % nr_ctrs]);
	}

	return refused;
}

static void a_path_is_found_if_and_only_if_the_events_fit(struct kunit *test)
{
	unsigned int refused = 0;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, SCHED_SEED);
	for (unsigned int i = 0; i < SCHED_INSTANCES; i++)
		refused += run_instance(test, &rnd);

	kunit_info(test, "seed 0x%x: %u of %u events did not fit", SCHED_SEED, refused,
		   SCHED_INSTANCES * 2 * SCHED_NR);
	/* Both results have to have occurred often enough. */
	KUNIT_EXPECT_GT(test, refused, SCHED_INSTANCES);
	KUNIT_EXPECT_LT(test, refused, SCHED_INSTANCES * 2 * SCHED_NR - SCHED_INSTANCES);
}

/* 0 can move to 1, that to 2, that to 3, which is free; nothing leads to 4. */
static void reach_follows_chains_of_moves(struct kunit *test)
{
	const struct riscv_pmu_sched sched = {
		.used = 0x17,
		.may = { 0x2, 0x4, 0x8, 0, 0x1 },
	};

	KUNIT_EXPECT_EQ(test, riscv_pmu_sched_reach(&sched, 0x1), 0xf);
	KUNIT_EXPECT_EQ(test, riscv_pmu_sched_reach(&sched, 0x10), 0x1f);
}

static struct kunit_case sched_cases[] = {
	KUNIT_CASE(reach_follows_chains_of_moves),
	KUNIT_CASE_PARAM(the_expected_path_is_found, path_gen_params),
	KUNIT_CASE(all_64_counters_can_be_used),
	KUNIT_CASE_PARAM(a_preferred_free_counter_is_chosen, prefer_gen_params),
	KUNIT_CASE(an_empty_constraint_has_no_path),
	KUNIT_CASE(a_path_is_found_if_and_only_if_the_events_fit),
	{}
};

static struct kunit_suite sched_suite = {
	.name		= "riscv_pmu_sched",
	.test_cases	= sched_cases,
};

kunit_test_suite(sched_suite);
