// SPDX-License-Identifier: BSD-2-Clause
/* RESOLVE: the counters that can count an event. */
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
		/* Without filters, only the fixed counters may count these. */
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

static void resolves_firmware_events(void)
{
	REQUIRE(batch_page_set());
	EXPECT_OK(batch_resolve(EVENT_FW_SET_TIMER, 0));
	EXPECT_EQ(batch_page()->ctrs, ctrs.fw);
	batch_page()->ctrs = MARK;
	EXPECT_OK(batch_resolve(EVENT_FW(0), 0));
	EXPECT_EQ(batch_page()->ctrs, ctrs.fw);
}

/* 22 to 255 are reserved, up to 65534 implementation-specific; 65535 is a platform's. */
static void refuses_firmware_events_that_nobody_knows(void)
{
	static const ulong codes[] = { 22, 255, 256, 65534, 65535 };
	u64 fw = lowest(ctrs.fw), i;

	REQUIRE(batch_page_set());
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		EXPECT_ERROR(batch_resolve(EVENT_FW(codes[i]), 0), SBI_ERR_INVALID_PARAM);
		slot_set(fw, EVENT_FW(codes[i]), 0);
		EXPECT_ERROR(batch_apply(0, BIT(fw), 0), SBI_ERR_FAILED);
	}
}

static void no_event_has_no_counter(void)
{
	REQUIRE(batch_page_set());
	EXPECT_ERROR(batch_resolve(EVENT_NONE, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(batch_resolve(EVENT_NONE, ALL_ONES_64), SBI_ERR_NOT_SUPPORTED);
}

static void resolve_writes_its_result_only(void)
{
	REQUIRE(batch_page_set());
	batch_page_mark();
	EXPECT_ERROR(batch_resolve(EVENT_BPU_PREFETCH_MISS, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_EQ(batch_page_changes(), 0);
	EXPECT_ERROR(batch_resolve(EVENT_NONE, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_EQ(batch_page_changes(), 0);
	EXPECT_ERROR(batch_resolve(EVENT_HW_BEYOND, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_EQ(batch_page_changes(), 0);
	EXPECT_OK(batch_resolve(EVENT_DTLB_READ_MISS, 0));
	EXPECT(batch_page()->ctrs != MARK);
	EXPECT_EQ(batch_page_changes(), 1);
}

/* RESOLVE returns an error if there is no counter. */
static u64 resolved(ulong event, u64 data)
{
	return batch_resolve(event, data).error ? 0 : batch_page()->ctrs;
}

static void agree_on(ulong event, u64 ctr, bool able)
{
	slot_set(ctr, event, 0);
	EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr), 0), able ? SBI_SUCCESS : SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, able ? 0 : BIT(ctr));
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	EXPECT_ERROR(pmu_match(ctr, 1, 0, event, 0), able ? SBI_SUCCESS : SBI_ERR_NOT_SUPPORTED);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
}

static void resolve_apply_and_match_agree(void)
{
	static const ulong events[] = {
		EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_DTLB_READ_MISS, EVENT_BPU_PREFETCH_MISS,
		EVENT_FW_SET_TIMER,
	};
	u64 i, ctr, able;

	REQUIRE(batch_page_set());
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		able = resolved(events[i], 0);
		for (ctr = 0; ctr < 64; ctr++)
			if ((ctrs.hw | ctrs.fw) & BIT(ctr))
				agree_on(events[i], ctr, able & BIT(ctr));
	}
}

static void event_data_is_for_raw_events(void)
{
	static const ulong events[] = {
		EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_DTLB_READ_MISS, EVENT_FW_SET_TIMER,
	};
	u64 i, able, mask = 0;

	REQUIRE(batch_page_set());
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		able = resolved(events[i], 0);
		EXPECT_EQ(resolved(events[i], 1), able);
		EXPECT_EQ(resolved(events[i], ALL_ONES_64), able);
		REQUIRE(able & ~mask);
		slot_set(lowest(able & ~mask), events[i], 0);
		slot(lowest(able & ~mask))->event_data = ALL_ONES_64;
		mask |= BIT(lowest(able & ~mask));
	}
	EXPECT_OK(batch_apply(mask, mask, mask));
}

#define NEEDS		NEEDS_BATCH

const struct test_case batch_resolve_cases[] = {
	{ "RESOLVE returns the counters for an event", resolves_what_there_is, NEEDS },
	{ "RESOLVE returns cycle and instret for their events", resolves_fixed_counters, NEEDS | NEEDS_FIXED },
	{ "RESOLVE also returns counters that are in use", resolves_whatever_is_in_use, NEEDS },
	{ "RESOLVE refuses events that do not exist", resolves_nothing_that_is_not_there, NEEDS },
	{ "RESOLVE returns all firmware counters for a firmware event", resolves_firmware_events,
	  NEEDS },
	{ "RESOLVE and APPLY refuse unknown firmware events",
	  refuses_firmware_events_that_nobody_knows, NEEDS },
	{ "RESOLVE refuses event_idx 0", no_event_has_no_counter, NEEDS },
	{ "RESOLVE writes the counters, and nothing if it fails",
	  resolve_writes_its_result_only, NEEDS },
	{ "RESOLVE, APPLY and a match agree on each counter and event",
	  resolve_apply_and_match_agree, NEEDS },
	{ "RESOLVE and APPLY use event_data of raw events only", event_data_is_for_raw_events,
	  NEEDS },
	CASES_END
};
