// SPDX-License-Identifier: BSD-2-Clause
/* Counters that APPLY has programmed: which modes they count, and their overflows. */
#include "batch.h"
#include "case.h"

static void firmware_is_never_counted(void)
{
	u64 ctr, before;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	before = ctr_value(ctr);
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);
	EXPECT_IN(ctr_value(ctr) - before, 4, between_calls);
}

static void fixed_counters_leave_firmware_out(void)
{
	REQUIRE(batch_page_set());
	slot_set(CTR_CYCLE, EVENT_CYCLES, 0);
	slot_set(CTR_INSTRET, EVENT_INSTRUCTIONS, 0);
	EXPECT_OK(batch_apply(FIXED_CTRS, FIXED_CTRS, FIXED_CTRS));
	EXPECT_EQ(instret_over_ecall(), 4);
	EXPECT_EQ(cycle_over_ecall(), 4);
}

static void filters_are_heeded_and_other_flags_are_not(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_ctr(EVENT_INSTRUCTIONS);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, EVENT_INSTRUCTIONS, 0);
	slot(ctr)->flags = PMU_CFG_SET_SINH;
	EXPECT_OK(batch_apply(0, BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 0);
	/* All but SINH: AUTO_START, CLEAR_VALUE, SKIP_MATCH and what has no name. */
	slot(ctr)->flags = (u32)~PMU_CFG_SET_SINH;
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	EXPECT(!is_running(ctr));
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void interrupts_after_n(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	irqs_enable();
	ctr = batch_start(EVENT_INSTRUCTIONS, -10000ULL);
	REQUIRE(ctr != ALL_ONES);
	loop_for(qemu_heeds_filters() ? 4900 : 4000);
	EXPECT_EQ(irqs.count, 0);
	loop_for(2000);
	EXPECT_EQ(irqs.count, 1);
	EXPECT(irqs.scountovf & BIT(ctr));
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT(csr_read(CSR_SCOUNTOVF) & BIT(ctr));
	EXPECT_IN(ctr_value(ctr), 0, 8000);
}

static void interrupts_again_after_each_load(void)
{
	u64 ctr, i;

	REQUIRE(batch_page_set());
	irqs_enable();
	ctr = batch_start(EVENT_INSTRUCTIONS, -1000ULL);
	REQUIRE(ctr != ALL_ONES);
	for (i = 1; i <= 20; i++) {
		loop_for(2000);
		EXPECT_EQ(irqs.count, i);
		EXPECT_OK(batch_apply(BIT(ctr), 0, BIT(ctr)));
		EXPECT(!(csr_read(CSR_SCOUNTOVF) & BIT(ctr)));
	}
}

static void load_clears_overflow_while_pending(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, -1000ULL);
	REQUIRE(ctr != ALL_ONES);
	loop_for(2000);
	EXPECT(lcofi_pending());
	slot(ctr)->value = -10000ULL;
	EXPECT_OK(batch_apply(BIT(ctr), 0, BIT(ctr)));
	EXPECT(!(csr_read(CSR_SCOUNTOVF) & BIT(ctr)));
	lcofi_clear();
	loop_for(7000);
	EXPECT(lcofi_pending());
}

static void fixed_counter_without_event_has_no_filter(u64 ctr, ulong event)
{
	slot_set(ctr, event, 0);
	slot(ctr)->flags = PMU_CFG_SET_SINH;
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 0);
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void fixed_counters_lose_their_filters(void)
{
	REQUIRE(batch_page_set());
	fixed_counter_without_event_has_no_filter(CTR_CYCLE, EVENT_CYCLES);
	fixed_counter_without_event_has_no_filter(CTR_INSTRET, EVENT_INSTRUCTIONS);
	EXPECT_EQ(instret_over_ecall(), 4);
	EXPECT_EQ(cycle_over_ecall(), 4);
}

/*
 * The supervisor programs a delegated counter that has no event: it can not set MINH,
 * so what it counts of a call is the firmware's part if MINH is lost.
 */
static void delegated_counter_leaves_firmware_out(void)
{
	u64 ctr, before;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	delegated_event_write(ctr, EVENT_INSTRUCTIONS);
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	before = ctr_value(ctr);
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);
	EXPECT_IN(ctr_value(ctr) - before, 4, between_calls);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	delegated_event_write(ctr, 0);
}

static void values_are_cut_to_the_width(void)
{
	u64 ctr, mask;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_DTLB_READ_MISS, 0x123456789abcdef0);
	REQUIRE(ctr != ALL_ONES);
	mask = ALL_ONES_64 >> (64 - PMU_INFO_WIDTH(ctrs.info[ctr]));
	EXPECT_IN(ctr_value(ctr), 0x123456789abcdef0 & mask, (0x123456789abcdef0 & mask) + 4096);
}

#define NEEDS		NEEDS_BATCH
#define EXACT		(NEEDS_BATCH | NEEDS_ICOUNT)
#define OVERFLOWS	(NEEDS_BATCH | NEEDS_ICOUNT | NEEDS_SSCOFPMF)

const struct test_case batch_filter_cases[] = {
	{ "a counter that APPLY started never counts the firmware", firmware_is_never_counted,
	  OVERFLOWS | NEEDS_FILTERS },
	{ "cycle and instret that APPLY started never count the firmware",
	  fixed_counters_leave_firmware_out,
	  EXACT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "APPLY heeds filters and no other flag", filters_are_heeded_and_other_flags_are_not,
	  OVERFLOWS | NEEDS_FILTERS },
	{ "a counter that APPLY loaded with -n interrupts after n", interrupts_after_n, OVERFLOWS },
	{ "a counter interrupts after each load by APPLY",
	  interrupts_again_after_each_load, OVERFLOWS },
	{ "APPLY clears an overflow while the interrupt is pending",
	  load_clears_overflow_while_pending, OVERFLOWS },
	{ "APPLY resets the filters of cycle and instret with no event",
	  fixed_counters_lose_their_filters, EXACT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "a delegated counter that APPLY left without an event does not count the firmware",
	  delegated_counter_leaves_firmware_out, OVERFLOWS | NEEDS_SSCCFG | NEEDS_FILTERS },
	{ "APPLY loads as many bits as a counter has", values_are_cut_to_the_width, NEEDS },
	CASES_END
};
