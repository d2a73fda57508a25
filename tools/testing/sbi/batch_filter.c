// SPDX-License-Identifier: BSD-2-Clause
/* Counters that APPLY has programmed: the modes that they count, and their overflows. */
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
	/* All bits except SINH: AUTO_START, CLEAR_VALUE, SKIP_MATCH and reserved bits. */
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
	loop_for(qemu_applies_filters() ? 4900 : 4000);
	EXPECT_EQ(irqs.count, 0);
	loop_for(2000);
	EXPECT_EQ(irqs.count, 1);
	EXPECT(irqs.scountovf & BIT(ctr));
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT(has_overflowed(ctr));
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
		EXPECT(!has_overflowed(ctr));
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
	EXPECT(!has_overflowed(ctr));
	EXPECT(lcofi_pending());
	lcofi_clear();
	loop_for(7000);
	EXPECT(lcofi_pending());
}

/* A running counter that has overflowed; its interrupt is pending. */
static u64 overflowed(void)
{
	u64 ctr;

	if (!batch_page_set())
		return ALL_ONES;
	ctr = batch_start(EVENT_INSTRUCTIONS, -1000ULL);
	if (ctr == ALL_ONES)
		return ALL_ONES;
	loop_for(2000);
	batch_page()->load = 0;
	return has_overflowed(ctr) && lcofi_pending() ? ctr : ALL_ONES;
}

static void start_of_what_runs_keeps_its_overflow(void)
{
	u64 ctr = overflowed();

	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT(has_overflowed(ctr));
	EXPECT(lcofi_pending());
	EXPECT(is_running(ctr));
	/* Neither STOP nor a call for another counter clears it. */
	EXPECT_OK(batch_apply(BIT(ctr) | FIXED_CTRS, 0, FIXED_CTRS));
	EXPECT(has_overflowed(ctr));
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT(!has_overflowed(ctr));
}

static void programming_clears_overflow(ulong event)
{
	u64 ctr = overflowed();

	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, event, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	EXPECT(!has_overflowed(ctr));
	EXPECT(lcofi_pending());
}

static void what_is_programmed_has_not_overflowed(void)
{
	programming_clears_overflow(EVENT_INSTRUCTIONS);
}

static void what_has_no_event_has_not_overflowed(void)
{
	programming_clears_overflow(SBI_PMU_BATCH_NO_EVENT);
}

/* All operations of APPLY on a counter. OF, which it may clear, is set initially. */
static void apply_each_way(u64 ctr, bool pending)
{
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT_EQ(lcofi_pending(), pending);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT_EQ(lcofi_pending(), pending);
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT_EQ(lcofi_pending(), pending);
	batch_page()->load = BIT(ctr);
	slot_set(ctr, EVENT_INSTRUCTIONS, 0);
	EXPECT_OK(batch_apply(BIT(ctr), 0, BIT(ctr)));
	EXPECT_EQ(lcofi_pending(), pending);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(lcofi_pending(), pending);
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	EXPECT_EQ(lcofi_pending(), pending);
}

static void interrupt_stays_pending(void)
{
	u64 ctr = overflowed();

	REQUIRE(ctr != ALL_ONES);
	apply_each_way(ctr, true);
}

/* OF is set, but the interrupt has been taken. */
static void interrupt_does_not_become_pending(void)
{
	u64 ctr = overflowed();

	REQUIRE(ctr != ALL_ONES);
	lcofi_clear();
	apply_each_way(ctr, false);
}

/* All bits of both are set, including SINH. */
static void no_event_ignores_the_rest_of_its_slot(void)
{
	u64 ctr = lowest(ctrs.prog), fw = lowest(ctrs.fw), mask, i;

	REQUIRE(batch_page_set());
	mask = FIXED_CTRS | BIT(ctr) | BIT(fw);
	for (i = 0; i < 64; i++) {
		slot(i)->flags = 0xffffffff;
		slot(i)->event_data = ALL_ONES_64;
	}
	EXPECT_OK(batch_apply(mask, mask, FIXED_CTRS | BIT(ctr)));
	EXPECT_EQ(counted(CTR_CYCLE, 1000), 2000 + counted_extra);
	EXPECT_EQ(counted(CTR_INSTRET, 1000), 2000 + counted_extra);
	EXPECT_EQ(counted(ctr, 1000), 0);
}

static void firmware_counter_has_no_filters(void)
{
	u64 ctr = lowest(ctrs.fw);

	REQUIRE(batch_page_set());
	slot_set(ctr, EVENT_FW_SET_TIMER, 10);
	slot(ctr)->flags = 0xffffffff;
	batch_page()->load = BIT(ctr);
	EXPECT_OK(batch_apply(0, BIT(ctr), BIT(ctr)));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 11);
}

static void fixed_counter_counts_nothing(u64 ctr, ulong event)
{
	slot_set(ctr, event, 0);
	slot(ctr)->flags = PMU_CFG_SET_SINH;
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 0);
}

static void fixed_counter_without_event_has_no_filter(u64 ctr, ulong event)
{
	fixed_counter_counts_nothing(ctr, event);
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

static void fixed_counter_that_failed_has_no_filter(u64 ctr, ulong event)
{
	fixed_counter_counts_nothing(ctr, event);
	slot(ctr)->event_idx = EVENT_DTLB_READ_MISS;
	EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr), 0), SBI_ERR_FAILED);
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void fixed_counters_that_failed_lose_their_filters(void)
{
	REQUIRE(batch_page_set());
	fixed_counter_that_failed_has_no_filter(CTR_CYCLE, EVENT_CYCLES);
	fixed_counter_that_failed_has_no_filter(CTR_INSTRET, EVENT_INSTRUCTIONS);
	EXPECT_EQ(instret_over_ecall(), 4);
	EXPECT_EQ(cycle_over_ecall(), 4);
}

/*
 * The supervisor programs a delegated counter that has no event. It cannot set MINH, so
 * the counter counts the firmware in a call if MINH is lost.
 */
static void delegated_counter_leaves_firmware_out(ulong event, long error)
{
	u64 ctr, before;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, event, 0);
	EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr), 0), error);
	batch_page()->load = 0;
	delegated_event_write(ctr, EVENT_INSTRUCTIONS);
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	before = ctr_value(ctr);
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);
	EXPECT_IN(ctr_value(ctr) - before, 4, between_calls);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	delegated_event_write(ctr, 0);
}

static void delegated_counter_without_event_leaves_firmware_out(void)
{
	delegated_counter_leaves_firmware_out(SBI_PMU_BATCH_NO_EVENT, SBI_SUCCESS);
}

static void delegated_counter_that_failed_leaves_firmware_out(void)
{
	delegated_counter_leaves_firmware_out(EVENT_BPU_PREFETCH_MISS, SBI_ERR_FAILED);
}

/* The access faults after APPLY has cleared mhpmevent including MINH. */
static void delegated_counter_leaves_firmware_out_after_a_fault(void)
{
	u64 ctr, before;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	if (batch_set_shmem(ADDRESS_NOTHING, 0, 0).error) {
		tap_skip("this firmware refuses the page when it is set");
		return;
	}
	EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr), 0), SBI_ERR_INVALID_ADDRESS);
	REQUIRE(batch_page_set());
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_INVALID_PARAM);
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
	{ "APPLY applies filters and ignores other flags", filters_are_heeded_and_other_flags_are_not,
	  OVERFLOWS | NEEDS_FILTERS },
	{ "a counter that APPLY loaded with -n interrupts after n", interrupts_after_n, OVERFLOWS },
	{ "a counter interrupts after each load by APPLY",
	  interrupts_again_after_each_load, OVERFLOWS },
	{ "APPLY clears an overflow while the interrupt is pending",
	  load_clears_overflow_while_pending, OVERFLOWS },
	{ "APPLY keeps the overflow of a running counter",
	  start_of_what_runs_keeps_its_overflow, OVERFLOWS },
	{ "APPLY clears the overflow of a counter that it programs",
	  what_is_programmed_has_not_overflowed, OVERFLOWS },
	{ "APPLY clears the overflow of a counter that it leaves without an event",
	  what_has_no_event_has_not_overflowed, OVERFLOWS },
	{ "APPLY does not clear a pending interrupt", interrupt_stays_pending, OVERFLOWS },
	{ "APPLY does not raise an interrupt for an earlier overflow",
	  interrupt_does_not_become_pending, OVERFLOWS },
	{ "APPLY ignores flags and event_data with event_idx 0",
	  no_event_ignores_the_rest_of_its_slot, EXACT },
	{ "APPLY ignores filters of a firmware counter", firmware_counter_has_no_filters, NEEDS },
	{ "APPLY resets the filters of cycle and instret that fail",
	  fixed_counters_that_failed_lose_their_filters,
	  EXACT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "APPLY with event_idx 0 resets the filters of cycle and instret",
	  fixed_counters_lose_their_filters, EXACT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "a delegated counter that APPLY left without an event does not count the firmware",
	  delegated_counter_without_event_leaves_firmware_out,
	  OVERFLOWS | NEEDS_SSCCFG | NEEDS_FILTERS },
	{ "a delegated counter that failed in APPLY does not count the firmware",
	  delegated_counter_that_failed_leaves_firmware_out,
	  OVERFLOWS | NEEDS_SSCCFG | NEEDS_FILTERS },
	{ "a delegated counter does not count the firmware after APPLY has faulted",
	  delegated_counter_leaves_firmware_out_after_a_fault,
	  OVERFLOWS | NEEDS_SSCCFG | NEEDS_FILTERS },
	{ "APPLY ignores the bits of a value beyond the width of the counter", values_are_cut_to_the_width, NEEDS },
	CASES_END
};
