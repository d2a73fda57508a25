// SPDX-License-Identifier: BSD-2-Clause
/* SNAPSHOT_SET_SHMEM, and the flags of START and STOP that use it. */
#include "case.h"
#include "pmu.h"

#define MARK	0x5a5a5a5aa5a5a5a5ULL

static volatile struct pmu_snapshot *page(void)
{
	return (volatile struct pmu_snapshot *)SHARED;
}

/* Fills the page with MARK and sets it. */
static bool page_set(void)
{
	volatile u64 *word = (volatile u64 *)SHARED;
	u64 i;

	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		word[i] = MARK;
	return pmu_set_shmem(SHARED, 0, 0).error == SBI_SUCCESS;
}

static void flags_need_memory(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_ERROR(pmu_start(ctr, 1, PMU_START_INIT_SNAPSHOT, 0), SBI_ERR_NO_SHMEM);
	EXPECT(!is_running(ctr));
	EXPECT_OK(pmu_start(ctr, 1, 0, 0));
	EXPECT_ERROR(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT), SBI_ERR_NO_SHMEM);
	EXPECT(is_running(ctr));
}

static void memory_is_set_and_disabled(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	REQUIRE(page_set());
	page()->value[0] = 0;
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_INIT_SNAPSHOT, 0));
	EXPECT_OK(pmu_set_shmem(ALL_ONES, ALL_ONES, 0));
	EXPECT_ERROR(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT), SBI_ERR_NO_SHMEM);
	EXPECT_EQ(page()->value[0], 0);
	EXPECT_OK(pmu_set_shmem(SHARED, 0, 0));
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT));
}

static void bad_memory_is_refused(void)
{
	EXPECT_ERROR(pmu_set_shmem(SHARED, 0, 1), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_set_shmem(SHARED, 0, BIT(XLEN - 1)), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_set_shmem(SHARED + 8, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_set_shmem(SHARED + 2048, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_set_shmem(ALL_ONES, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_REFUSED(pmu_set_shmem(0, ALL_ONES, 0));
	EXPECT_ERROR(pmu_set_shmem(SHARED, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_set_shmem(ADDRESS_FIRMWARE, 0, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_set_shmem(ADDRESS_FIRMWARE + 0x10000, 0, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_set_shmem(ADDRESS_UART, 0, 0), SBI_ERR_INVALID_ADDRESS);
}

static void stop_saves_the_values(void)
{
	u64 a = ctr_for(EVENT_CYCLES, 0), b = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(a != ALL_ONES && b != ALL_ONES);
	REQUIRE(page_set());
	EXPECT_OK(pmu_start(0, BIT(a) | BIT(b), PMU_START_SET_INIT_VALUE, 1000));
	loop_for(500);
	EXPECT_OK(pmu_stop(0, BIT(a) | BIT(b), PMU_STOP_TAKE_SNAPSHOT));
	EXPECT_IN(page()->value[a], 2000, 2000 + between_calls);
	EXPECT_EQ(page()->value[a], ctr_value(a));
	EXPECT_EQ(page()->value[b], ctr_value(b));
	EXPECT_EQ(page()->overflowed & (BIT(a) | BIT(b)), 0);
}

static void stop_saves_nothing_else(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0), i;
	volatile u64 *word = (volatile u64 *)SHARED;

	REQUIRE(ctr != ALL_ONES);
	REQUIRE(page_set());
	EXPECT_OK(pmu_start(ctr, 1, 0, 0));
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT));
	for (i = 2; i < PAGE_SIZE / sizeof(u64); i++)
		EXPECT_EQ(word[i], MARK);
	EXPECT(page()->value[0] != MARK);
}

static void indices_are_relative_to_the_base(void)
{
	u64 base = lowest(ctrs.prog);

	REQUIRE(page_set());
	EXPECT_OK(pmu_match(base + 1, 1, 0, EVENT_INSTRUCTIONS, 0));
	EXPECT_OK(pmu_match(base + 3, 1, 0, EVENT_CYCLES, 0));
	page()->value[1] = 1000000;
	page()->value[3] = 2000000;
	EXPECT_OK(pmu_start(base, 2 | 8, PMU_START_INIT_SNAPSHOT, 0));
	loop_for(500);
	EXPECT_OK(pmu_stop(base + 1, 1 | 4, PMU_STOP_TAKE_SNAPSHOT));
	EXPECT_IN(page()->value[0], 1001000, 1001000 + between_calls);
	EXPECT_IN(page()->value[2], 2001000, 2001000 + between_calls);
	EXPECT_EQ(page()->value[1], 1000000);
}

static void start_loads_the_values(void)
{
	u64 a = ctr_for(EVENT_CYCLES, 0), b = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(a != ALL_ONES && b != ALL_ONES);
	REQUIRE(page_set());
	page()->value[a] = 0xfedcba9876543210;
	page()->value[b] = 42;
	EXPECT_OK(pmu_start(0, BIT(a) | BIT(b), PMU_START_INIT_SNAPSHOT, 7));
	EXPECT_OK(pmu_stop(0, BIT(a) | BIT(b), 0));
	EXPECT_IN(ctr_value(a), 0xfedcba9876543210, 0xfedcba9876543210 + between_calls);
	EXPECT_IN(ctr_value(b), 42, 42 + between_calls);
	/* START only reads the page. */
	EXPECT_EQ(page()->value[a], 0xfedcba9876543210);
	EXPECT_EQ(page()->value[b], 42);
	EXPECT_EQ(page()->overflowed, MARK);
}

static void firmware_counters_are_saved_and_loaded(void)
{
	u64 ctr = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(ctr != ALL_ONES);
	REQUIRE(page_set());
	page()->value[0] = 100;
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_INIT_SNAPSHOT, 0));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT));
	EXPECT_EQ(page()->value[0], 101);
	EXPECT_EQ(page()->value[1], MARK);
}

static void overflow_is_in_the_bitmap(void)
{
	u64 base = lowest(ctrs.prog);

	REQUIRE(page_set());
	EXPECT_OK(pmu_match(base + 1, 1, 0, EVENT_INSTRUCTIONS, 0));
	EXPECT_OK(pmu_match(base + 2, 1, 0, EVENT_CYCLES, 0));
	page()->value[0] = -1000ULL;
	page()->value[1] = 0;
	EXPECT_OK(pmu_start(base + 1, 3, PMU_START_INIT_SNAPSHOT, 0));
	loop_for(2000);
	EXPECT(lcofi_pending());
	EXPECT_OK(pmu_stop(base + 1, 3, PMU_STOP_TAKE_SNAPSHOT));
	EXPECT_EQ(page()->overflowed & 3, 1);
	lcofi_clear();
	EXPECT_OK(pmu_start(base + 1, 3, PMU_START_INIT_SNAPSHOT, 0));
	EXPECT_OK(pmu_stop(base + 1, 3, PMU_STOP_TAKE_SNAPSHOT));
	EXPECT_EQ(page()->overflowed & 3, 0);
}

static void bitmap_is_zero_without_sscofpmf(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	if (scountovf_is_readable()) {
		tap_skip("this hart has Sscofpmf");
		return;
	}
	REQUIRE(ctr != ALL_ONES);
	REQUIRE(page_set());
	EXPECT_OK(pmu_start(ctr, 1, 0, 0));
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT));
	EXPECT_EQ(page()->overflowed, 0);
}

static void both_start_flags_are_refused(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	REQUIRE(page_set());
	EXPECT_ERROR(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE | PMU_START_INIT_SNAPSHOT, 0),
		     SBI_ERR_INVALID_PARAM);
	EXPECT(!is_running(ctr));
}

static void stopped_counter_keeps_its_place(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	REQUIRE(page_set());
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 5));
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT_ERROR(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT), SBI_ERR_ALREADY_STOPPED);
	EXPECT(page()->value[0] == MARK || page()->value[0] == ctr_value(ctr));
}

/* Uses a programmable counter, because cycle and instret never lose their event. */
static void snapshot_and_reset_go_together(void)
{
	u64 ctr = ctr_for(EVENT_DTLB_READ_MISS, 0);

	REQUIRE(ctr != ALL_ONES);
	REQUIRE(page_set());
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 5000));
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT | PMU_STOP_RESET));
	EXPECT_IN(page()->value[0], 5000, 100000);
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_INVALID_PARAM);
}

#define NEEDS	NEEDS_SNAPSHOT

const struct test_case snapshot_cases[] = {
	{ "the snapshot flags need shared memory, and have no effect without", flags_need_memory, 0 },
	{ "snapshot memory can be set, disabled and set again", memory_is_set_and_disabled, NEEDS },
	{ "snapshot memory must be aligned, accessible to S-mode and memory", bad_memory_is_refused, NEEDS },
	{ "STOP saves the exact values", stop_saves_the_values, NEEDS | NEEDS_ICOUNT },
	{ "STOP saves no other value", stop_saves_nothing_else, NEEDS },
	{ "the indices of the values are relative to the base", indices_are_relative_to_the_base,
	  NEEDS | NEEDS_ICOUNT | NEEDS_SSCOFPMF },
	{ "START loads the values, and writes nothing", start_loads_the_values,
	  NEEDS | NEEDS_ICOUNT },
	{ "a firmware counter is saved and loaded", firmware_counters_are_saved_and_loaded, NEEDS },
	{ "overflows are in the bitmap, relative to the base", overflow_is_in_the_bitmap,
	  NEEDS | NEEDS_ICOUNT | NEEDS_SSCOFPMF },
	{ "the bitmap is zero without Sscofpmf", bitmap_is_zero_without_sscofpmf, NEEDS },
	{ "START refuses both a value and a snapshot", both_start_flags_are_refused, NEEDS },
	{ "a snapshot of a stopped counter returns an error, and no wrong value", stopped_counter_keeps_its_place,
	  NEEDS },
	{ "STOP saves before it resets", snapshot_and_reset_go_together, NEEDS },
	CASES_END
};
