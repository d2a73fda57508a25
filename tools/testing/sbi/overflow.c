// SPDX-License-Identifier: BSD-2-Clause
/* Overflows and their interrupt. */
#include "case.h"
#include "pmu.h"

/* Long enough for QEMU's timer, which QEMU checks between blocks of code only. */
#define LATE	2000

static u64 started(u64 value)
{
	struct sbiret ret = pmu_match(0, ctrs.prog, 0, EVENT_INSTRUCTIONS, 0);

	if (ret.error)
		return ALL_ONES;
	if (pmu_start(ret.value, 1, PMU_START_SET_INIT_VALUE, value).error)
		return ALL_ONES;
	return ret.value;
}

static void overflow_interrupts_after_n(void)
{
	u64 ctr;

	irqs_enable();
	ctr = started(-10000ULL);
	REQUIRE(ctr != ALL_ONES);
	/* Two instructions per turn: shortly before the overflow, no interrupt. */
	loop_for(qemu_applies_filters() ? 4900 : 4000);
	EXPECT_EQ(irqs.count, 0);
	EXPECT(!has_overflowed(ctr));
	loop_for(LATE);
	EXPECT_EQ(irqs.count, 1);
	EXPECT(irqs.scountovf & BIT(ctr));
	if (qemu_carries())
		EXPECT_IN(ctr_value(ctr), 0, 2 * LATE);
}

static void overflow_does_not_stop_the_counter(void)
{
	u64 ctr = started(-1000ULL);

	REQUIRE(ctr != ALL_ONES);
	loop_for(LATE);
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void overflow_is_pending_and_shown(void)
{
	u64 ctr = started(-1000ULL);

	REQUIRE(ctr != ALL_ONES);
	EXPECT(!has_overflowed(ctr));
	EXPECT(!lcofi_pending());
	loop_for(LATE);
	EXPECT(has_overflowed(ctr));
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT(has_overflowed(ctr));
	EXPECT(lcofi_pending());
	lcofi_clear();
	EXPECT(!lcofi_pending());
}

static void overflows_again(void)
{
	u64 ctr, i;

	irqs_enable();
	ctr = started(-1000ULL);
	REQUIRE(ctr != ALL_ONES);
	for (i = 1; i <= 20; i++) {
		loop_for(LATE);
		EXPECT_EQ(irqs.count, i);
		EXPECT_OK(pmu_stop(ctr, 1, 0));
		EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, -1000ULL));
	}
}

static void overflowed_counter_is_quiet_until_started(void)
{
	u64 ctr;

	irqs_enable();
	ctr = started(-1000ULL);
	REQUIRE(ctr != ALL_ONES);
	loop_for(LATE);
	EXPECT_EQ(irqs.count, 1);
	loop_for(100000);
	EXPECT_EQ(irqs.count, 1);
}

/* START clears OF even if an overflow interrupt is pending. */
static void start_clears_overflow_while_pending(void)
{
	u64 ctr = started(-1000ULL);

	REQUIRE(ctr != ALL_ONES);
	loop_for(LATE);
	EXPECT(has_overflowed(ctr));
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0));
	EXPECT(!has_overflowed(ctr));
}

/* There is an interrupt for each overflow that OF shows, and for no other. */
static void start_withdraws_the_interrupt(void)
{
	u64 ctr = started(-1000ULL), other = ctr_for(EVENT_CYCLES, 0);

	REQUIRE(ctr != ALL_ONES);
	REQUIRE(other != ALL_ONES);
	EXPECT_OK(pmu_start(other, 1, PMU_START_SET_INIT_VALUE, -1000ULL));
	loop_for(LATE);
	EXPECT(has_overflowed(ctr));
	EXPECT(has_overflowed(other));
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0));
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_stop(other, 1, 0));
	EXPECT_OK(pmu_start(other, 1, PMU_START_SET_INIT_VALUE, -100000ULL));
	EXPECT(!lcofi_pending());
	loop_for(50000 + LATE);
	EXPECT(lcofi_pending());
}

static void reset_and_match_withdraw_the_interrupt(void)
{
	u64 ctr = started(-1000ULL);

	REQUIRE(ctr != ALL_ONES);
	loop_for(LATE);
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_RESET));
	EXPECT(!lcofi_pending());

	ctr = started(-1000ULL);
	REQUIRE(ctr != ALL_ONES);
	loop_for(LATE);
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_match(ctr, 1, PMU_CFG_SKIP_MATCH, EVENT_INSTRUCTIONS, 0));
	EXPECT(!lcofi_pending());
}

static void counter_started_while_pending_interrupts(void)
{
	u64 ctr = started(-1000ULL);

	REQUIRE(ctr != ALL_ONES);
	loop_for(LATE);
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, -10000ULL));
	lcofi_clear();
	loop_for(5000 + LATE);
	EXPECT(lcofi_pending());
	EXPECT(has_overflowed(ctr));
}

/* START loads no value, so OF must be clear after the match. */
static void counter_matched_while_pending_interrupts(void)
{
	u64 first = started(-1000ULL), ctr;

	REQUIRE(first != ALL_ONES);
	loop_for(LATE);
	EXPECT(lcofi_pending());
	ctr = ctr_for(EVENT_INSTRUCTIONS, PMU_CFG_CLEAR_VALUE);
	REQUIRE(ctr != ALL_ONES);
	EXPECT(!has_overflowed(ctr));
	EXPECT_OK(pmu_start(ctr, 1, 0, 0));
	EXPECT(!has_overflowed(ctr));
}

/*
 * The same for a counter that has not overflowed, was stopped and continues. It has
 * another event, because QEMU raises interrupts for one counter of an event only.
 */
static void counter_that_goes_on_while_pending_interrupts(void)
{
	u64 ctr = ctr_for(EVENT_CYCLES, 0), first;

	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, -10000ULL));
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	first = started(-1000ULL);
	REQUIRE(first != ALL_ONES);
	loop_for(LATE);
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_start(ctr, 1, 0, 0));
	EXPECT(!has_overflowed(ctr));
	EXPECT_OK(pmu_stop(first, 1, 0));
	lcofi_clear();
	loop_for(5000 + LATE);
	EXPECT(lcofi_pending());
	EXPECT(has_overflowed(ctr));
}

static void started_in_vain_still_interrupts(void)
{
	u64 ctr = started(-10000ULL);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
	EXPECT(!has_overflowed(ctr));
	loop_for(5000 + LATE);
	EXPECT(lcofi_pending());
	EXPECT(has_overflowed(ctr));
}

/* The same for a counter that has overflowed: OF stays set. */
static void started_in_vain_while_pending_keeps_its_overflow(void)
{
	u64 ctr = started(-1000ULL);

	REQUIRE(ctr != ALL_ONES);
	loop_for(LATE);
	EXPECT(has_overflowed(ctr));
	lcofi_clear();
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
	EXPECT(has_overflowed(ctr));
}

static void counter_that_is_stopped_does_not_interrupt(void)
{
	u64 ctr = started(-10000ULL);

	REQUIRE(ctr != ALL_ONES);
	pmu_stop(ctr, 1, 0);
	loop_for(10000);
	EXPECT(!lcofi_pending());
	EXPECT(!has_overflowed(ctr));
}

static void match_clears_nothing_that_is_pending(void)
{
	u64 ctr = started(-1000ULL);

	REQUIRE(ctr != ALL_ONES);
	loop_for(LATE);
	EXPECT(lcofi_pending());
	ctr_for(EVENT_DTLB_READ_MISS, 0);
	EXPECT(lcofi_pending());
	EXPECT(has_overflowed(ctr));
}

#define NEEDS	(NEEDS_ICOUNT | NEEDS_SSCOFPMF)

const struct test_case overflow_cases[] = {
	{ "a counter started with -n interrupts after n, once",
	  overflow_interrupts_after_n, NEEDS },
	{ "a counter continues to count after an overflow",
	  overflow_does_not_stop_the_counter, NEEDS },
	{ "an overflow is pending and in scountovf, also after a stop",
	  overflow_is_pending_and_shown, NEEDS },
	{ "a counter interrupts each time it is started again", overflows_again, NEEDS },
	{ "a counter that has overflowed does not interrupt until it is started",
	  overflowed_counter_is_quiet_until_started, NEEDS },
	{ "START clears an overflow while the interrupt is pending",
	  start_clears_overflow_while_pending, NEEDS },
	{ "a START that clears the last overflow withdraws its interrupt",
	  start_withdraws_the_interrupt, NEEDS },
	{ "a reset or a match that clears the last overflow withdraws its interrupt",
	  reset_and_match_withdraw_the_interrupt, NEEDS },
	{ "a counter started while the interrupt is pending interrupts",
	  counter_started_while_pending_interrupts, NEEDS },
	{ "a counter matched while an overflow interrupt is pending has OF clear",
	  counter_matched_while_pending_interrupts, NEEDS },
	{ "a counter that continues while an interrupt is pending can still interrupt",
	  counter_that_goes_on_while_pending_interrupts, NEEDS },
	{ "a START in vain does not silence a counter", started_in_vain_still_interrupts, NEEDS },
	{ "a START in vain does not lose an overflow",
	  started_in_vain_while_pending_keeps_its_overflow, NEEDS },
	{ "a counter that is stopped before its overflow does not interrupt",
	  counter_that_is_stopped_does_not_interrupt, NEEDS },
	{ "a match of another counter does not clear overflows",
	  match_clears_nothing_that_is_pending, NEEDS },
	CASES_END
};
