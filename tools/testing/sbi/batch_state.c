// SPDX-License-Identifier: BSD-2-Clause
/* The batch extension together with others: sections 8 and 9 of its specification. */
#include "batch.h"
#include "case.h"

static void snapshot_and_batch_pages_are_apart(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	EXPECT_OK(pmu_set_shmem(SHARED, 0, 0));
	ctr = batch_start(EVENT_INSTRUCTIONS, 3000);
	REQUIRE(ctr != ALL_ONES);
	batch_page()->failed = MARK;
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT));
	EXPECT_EQ(((volatile struct pmu_snapshot *)SHARED)->value[0], ctr_value(ctr));
	EXPECT_EQ(batch_page()->failed, MARK);
	EXPECT_OK(pmu_set_shmem(ALL_ONES, ALL_ONES, 0));
	batch_page()->load = 0;
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT(is_running(ctr));
}

/* For counters for which a standard call would write to the page. */
static void apply_leaves_the_snapshot_alone(void)
{
	volatile u64 *word = (volatile u64 *)SHARED;
	u64 ctr, fw = lowest(ctrs.fw), both, i, changes = 0;

	REQUIRE(batch_page_set());
	EXPECT_OK(pmu_set_shmem(SHARED, 0, 0));
	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		word[i] = MARK;
	ctr = batch_start(EVENT_INSTRUCTIONS, 3000);
	REQUIRE(ctr != ALL_ONES);
	both = BIT(ctr) | BIT(fw);
	slot_set(fw, EVENT_FW_SET_TIMER, 0);
	batch_page()->load = both;
	EXPECT_OK(batch_apply(both, both, both));
	EXPECT_IN(ctr_value(ctr), 3000, 3000 + between_calls);
	EXPECT_OK(batch_apply(both, 0, 0));
	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		changes += word[i] != MARK;
	EXPECT_EQ(changes, 0);
	EXPECT_OK(pmu_set_shmem(ALL_ONES, ALL_ONES, 0));
}

static void standard_calls_see_what_apply_did(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
	EXPECT_ERROR(pmu_match(ctr, 1, 0, EVENT_INSTRUCTIONS, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT_ERROR(pmu_stop(ctr, 1, 0), SBI_ERR_ALREADY_STOPPED);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 5));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

/* --- counters that run without an event ------------------------------------------- */

/* A running counter cannot be programmed: the only sign if it has no event. */
static bool is_started(u64 ctr)
{
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	return batch_apply(0, BIT(ctr), 0).error == SBI_ERR_FAILED &&
	       batch_page()->failed == BIT(ctr);
}

static u64 started_without_event(void)
{
	u64 ctr = lowest(ctrs.prog);

	if (!batch_page_set() || batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)).error)
		return ALL_ONES;
	return is_started(ctr) ? ctr : ALL_ONES;
}

static void reset_stops_what_has_no_event(void)
{
	u64 ctr = started_without_event();

	REQUIRE(ctr != ALL_ONES);
	EXPECT_ERROR(pmu_stop(ctr, 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT(is_started(ctr));
	EXPECT_ERROR(pmu_stop(ctr, 1, PMU_STOP_RESET), SBI_ERR_INVALID_PARAM);
	EXPECT(!is_started(ctr));
}

static void match_does_not_choose_what_runs(void)
{
	u64 ctr = started_without_event();

	REQUIRE(ctr != ALL_ONES);
	EXPECT_ERROR(pmu_match(ctr, 1, 0, EVENT_DTLB_READ_MISS, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_OK(pmu_match(ctr, 3, 0, EVENT_DTLB_READ_MISS, 0));
	EXPECT(is_started(ctr));
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT_OK(pmu_match(ctr, 1, 0, EVENT_DTLB_READ_MISS, 0));
}

/* --- cycle and instret ------------------------------------------------------------- */

static void fixed_counter_is_in_use(u64 ctr, ulong event)
{
	EXPECT_ERROR(pmu_match(ctr, 1, 0, event, 0), SBI_ERR_NOT_SUPPORTED);
}

/* Checks by a match, and undoes it. */
static void fixed_counter_is_not_in_use(u64 ctr, ulong event)
{
	EXPECT_OK(pmu_match(ctr, 1, 0, event, 0));
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	pmu_stop(ctr, 1, PMU_STOP_RESET);
}

static void fixed_counter_is_in_use_meanwhile(u64 ctr, ulong event)
{
	slot_set(ctr, event, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	fixed_counter_is_in_use(ctr, event);
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	fixed_counter_is_not_in_use(ctr, event);

	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	fixed_counter_is_in_use(ctr, event);
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_RESET));
	fixed_counter_is_not_in_use(ctr, event);

	EXPECT_OK(batch_apply(0, BIT(ctr), BIT(ctr)));
	fixed_counter_is_in_use(ctr, event);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	fixed_counter_is_in_use(ctr, event);
	EXPECT_OK(batch_apply(0, BIT(ctr), 0));
	fixed_counter_is_not_in_use(ctr, event);

	EXPECT_OK(pmu_start(ctr, 1, 0, 0));
	fixed_counter_is_in_use(ctr, event);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	fixed_counter_is_not_in_use(ctr, event);
}

static void fixed_counters_are_in_use_meanwhile(void)
{
	REQUIRE(batch_page_set());
	fixed_counter_is_in_use_meanwhile(CTR_CYCLE, EVENT_CYCLES);
	fixed_counter_is_in_use_meanwhile(CTR_INSTRET, EVENT_INSTRUCTIONS);
}

#define NEEDS		NEEDS_BATCH
#define EXACT		(NEEDS_BATCH | NEEDS_ICOUNT)

const struct test_case batch_state_cases[] = {
	{ "the snapshot's page is separate from the batch page", snapshot_and_batch_pages_are_apart,
	  NEEDS | NEEDS_SNAPSHOT },
	{ "APPLY does not access the snapshot's page", apply_leaves_the_snapshot_alone,
	  EXACT | NEEDS_SNAPSHOT },
	{ "the standard calls see what APPLY did", standard_calls_see_what_apply_did, EXACT },
	{ "RESET stops a counter that runs without an event", reset_stops_what_has_no_event,
	  NEEDS },
	{ "a match does not select a counter that runs without an event",
	  match_does_not_choose_what_runs, NEEDS },
	{ "cycle and instret are in use from START or an event to RESET or event_idx 0",
	  fixed_counters_are_in_use_meanwhile, NEEDS | NEEDS_FIXED },
	CASES_END
};
