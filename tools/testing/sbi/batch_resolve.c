// SPDX-License-Identifier: BSD-2-Clause
/* RESOLVE, and the batch extension beside the standard calls. */
#include "batch.h"
#include "case.h"

static void resolves_what_there_is(void)
{
	static const ulong events[] = {
		EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_DTLB_READ_MISS, EVENT_ITLB_READ_MISS,
	};
	u64 i;

	REQUIRE(batch_page_set());
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		batch_page()->ctrs = MARK;
		EXPECT_OK(batch_resolve(events[i], 0));
		/* Without filters these may be left to the fixed counters. */
		if (!has_fixed_counter_only(events[i]) || batch_page()->ctrs & ctrs.prog)
			EXPECT_EQ(batch_page()->ctrs & ctrs.prog, ctrs.prog);
		EXPECT_EQ(batch_page()->ctrs & ~ctrs.hw, 0);
	}
}

static void resolves_fixed_counters(void)
{
	REQUIRE(batch_page_set());
	EXPECT_OK(batch_resolve(EVENT_CYCLES, 0));
	EXPECT_EQ(batch_page()->ctrs & FIXED_CTRS, BIT(CTR_CYCLE));
	EXPECT_OK(batch_resolve(EVENT_INSTRUCTIONS, 0));
	EXPECT_EQ(batch_page()->ctrs & FIXED_CTRS, BIT(CTR_INSTRET));
	EXPECT_OK(batch_resolve(EVENT_DTLB_READ_MISS, 0));
	EXPECT_EQ(batch_page()->ctrs & FIXED_CTRS, 0);
}

static void resolves_whatever_is_in_use(void)
{
	u64 i, before;

	REQUIRE(batch_page_set());
	EXPECT_OK(batch_resolve(EVENT_DTLB_READ_MISS, 0));
	before = batch_page()->ctrs;
	for (i = 3; i < 32; i++)
		if (ctrs.prog & BIT(i))
			pmu_match(i, 1, PMU_CFG_AUTO_START, EVENT_DTLB_READ_MISS, 0);
	EXPECT_OK(batch_resolve(EVENT_DTLB_READ_MISS, 0));
	EXPECT_EQ(batch_page()->ctrs, before);
}

static void resolves_nothing_that_is_not_there(void)
{
	REQUIRE(batch_page_set());
	EXPECT_ERROR(batch_resolve(EVENT_BPU_PREFETCH_MISS, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(batch_resolve(EVENT_RAW, 1), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(batch_resolve(EVENT_HW_BEYOND, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(EVENT_CACHE(7, 0, 0), 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(EVENT_RAW | 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(EVENT(4, 0), 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(EVENT_FW_RESERVED, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(BIT(20) | EVENT_CYCLES, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(BIT(XLEN - 1) | EVENT_CYCLES, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(ALL_ONES, ALL_ONES_64), SBI_ERR_INVALID_PARAM);
}

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

#define NEEDS		NEEDS_BATCH
#define EXACT		(NEEDS_BATCH | NEEDS_ICOUNT)

const struct test_case batch_resolve_cases[] = {
	{ "RESOLVE says which counters count an event", resolves_what_there_is, NEEDS },
	{ "RESOLVE knows what cycle and instret count", resolves_fixed_counters, NEEDS | NEEDS_FIXED },
	{ "RESOLVE says the same whatever is in use", resolves_whatever_is_in_use, NEEDS },
	{ "RESOLVE refuses what is not there", resolves_nothing_that_is_not_there, NEEDS },
	{ "the snapshot's page and the batch's are two", snapshot_and_batch_pages_are_apart,
	  NEEDS | NEEDS_SNAPSHOT },
	{ "the standard calls see what APPLY did", standard_calls_see_what_apply_did, EXACT },
	CASES_END
};
