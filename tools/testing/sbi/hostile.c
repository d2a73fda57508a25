// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arguments that may hang the firmware: sets and ranges that wrap, and addresses
 * without memory. These cases run after all others, the least dangerous first.
 */
#include "case.h"
#include "pmu.h"

/* With the highest bit of the mask, these wrap to an existing counter. */
static const struct {
	ulong base;
	ulong mask;
} wrapping[] = {
	{ ALL_ONES, 3 },
	{ ALL_ONES, 1 | BIT(4) },
	{ -2UL, 1 | BIT(5) },
	{ -16UL, 1 | BIT(20) },
	{ 4UL - XLEN, 1 | BIT(XLEN - 1) },
	{ 4UL - XLEN, ALL_ONES },
	{ BIT(XLEN - 1), BIT(XLEN - 1) },
	{ BIT(XLEN / 2), 1 },
	{ BIT(XLEN / 2) - 1, 3 },
	{ BIT(XLEN - 1) - 1, 3 },
};

static void wrapping_set_starts_nothing(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0), i;

	REQUIRE(ctr != ALL_ONES);
	for (i = 0; i < ARRAY_SIZE(wrapping); i++) {
		EXPECT_ERROR(pmu_start(wrapping[i].base, wrapping[i].mask, 0, 0),
			     SBI_ERR_INVALID_PARAM);
		EXPECT_ERROR(pmu_stop(wrapping[i].base, wrapping[i].mask, 0),
			     SBI_ERR_INVALID_PARAM);
	}
	EXPECT_ERROR(pmu_start(-1UL, BIT(ctr + 1) | 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT(!is_running(ctr));
}

static void wrapping_set_stops_nothing(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	pmu_start(ctr, 1, 0, 0);
	EXPECT_ERROR(pmu_stop(-1UL, BIT(ctr + 1) | 1, PMU_STOP_RESET), SBI_ERR_INVALID_PARAM);
	EXPECT(is_running(ctr));
}

static void wrapping_set_matches_nothing(void)
{
	u64 i;

	for (i = 0; i < ARRAY_SIZE(wrapping); i++) {
		EXPECT_ERROR(pmu_match(wrapping[i].base, wrapping[i].mask, 0,
				       EVENT_FW_SET_TIMER, 0), SBI_ERR_INVALID_PARAM);
		EXPECT_ERROR(pmu_match(wrapping[i].base, wrapping[i].mask, 0, EVENT_CYCLES, 0),
			     SBI_ERR_INVALID_PARAM);
	}
}

static void wrapping_set_is_not_skipped_to(void)
{
	u64 i;

	for (i = 0; i < ARRAY_SIZE(wrapping); i++)
		EXPECT_ERROR(pmu_match(wrapping[i].base, wrapping[i].mask, PMU_CFG_SKIP_MATCH,
				       EVENT_FW_SET_TIMER, 0), SBI_ERR_INVALID_PARAM);
}

/* Firmware that uses the index of a hardware counter for firmware counters clears others. */
static void skip_match_clears_no_other_counter(void)
{
	u64 i, first = lowest(ctrs.fw);

	for (i = first; ctrs.fw & BIT(i); i++)
		EXPECT_OK(pmu_match(i, 1, PMU_CFG_AUTO_START, EVENT_FW_SET_TIMER, 0));
	for (i = 3; ctrs.prog & BIT(i); i++) {
		EXPECT_OK(pmu_match(i, 1, 0, EVENT_DTLB_READ_MISS, 0));
		EXPECT_REFUSED(pmu_match(i, 1, PMU_CFG_SKIP_MATCH | PMU_CFG_CLEAR_VALUE,
					 EVENT_FW_SET_TIMER, 0));
	}
	for (i = first; ctrs.fw & BIT(i); i++)
		EXPECT_OK(pmu_fw_read(i));
}

static void skip_match_clears_no_hardware_for_firmware(void)
{
	u64 fw = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(fw != ALL_ONES);
	EXPECT_REFUSED(pmu_match(fw, 1, PMU_CFG_SKIP_MATCH | PMU_CFG_CLEAR_VALUE, EVENT_CYCLES, 0));
	EXPECT_REFUSED(pmu_match(fw, 1, PMU_CFG_SKIP_MATCH | PMU_CFG_AUTO_START, EVENT_CYCLES, 0));
}

static void wrapping_set_is_not_cleared(void)
{
	EXPECT_ERROR(pmu_match(ALL_ONES, 3, PMU_CFG_SKIP_MATCH | PMU_CFG_CLEAR_VALUE,
			       EVENT_CYCLES, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_match(24UL - XLEN, 1 | BIT(XLEN - 23),
			       PMU_CFG_SKIP_MATCH | PMU_CFG_CLEAR_VALUE,
			       EVENT_FW_SET_TIMER, 0), SBI_ERR_INVALID_PARAM);
}

static void info_beyond_memory_is_refused(void)
{
	EXPECT_ERROR(pmu_event_info(ADDRESS_NOTHING, 0, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_event_info(ADDRESS_FAR, 0, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_event_info(-16UL, 0, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_event_info(-16UL, 0, 2, 0), SBI_ERR_INVALID_ADDRESS);
}

/* Few entries, so that the range is the reason of the error. */
static void wrapping_list_is_refused(void)
{
	EXPECT_ERROR(pmu_event_info(-16UL, 0, 2, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_event_info(-16UL, 0, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_event_info(-4096UL, 0, 4096, 0), SBI_ERR_INVALID_ADDRESS);
}

/* Multiplied by 16, these wrap to zero, to one entry and to a page. */
static void info_size_does_not_wrap(void)
{
	static const ulong nr[] = {
		BIT(XLEN - 4), BIT(XLEN - 4) + 1, BIT(XLEN - 4) + 256, BIT(XLEN - 1),
		15 * BIT(XLEN - 4) + 1, ALL_ONES, ALL_ONES >> 4,
	};
	struct pmu_event_info *entry = (struct pmu_event_info *)SHARED;
	u64 i;

	*entry = (struct pmu_event_info){ EVENT_CYCLES, 0xfffffffe, 0 };
	for (i = 0; i < ARRAY_SIZE(nr); i++)
		EXPECT_REFUSED(pmu_event_info(SHARED, 0, nr[i], 0));
	EXPECT_EQ(entry->output, 0xfffffffe);
}

/* The list does not wrap, but ends far beyond the memory; scanning it would take very long. */
static void info_size_is_within_memory(void)
{
	EXPECT_REFUSED(pmu_event_info(SHARED, 0, XLEN == 64 ? BIT(40) : BIT(26), 0));
	EXPECT_REFUSED(pmu_event_info(SHARED, 0, XLEN == 64 ? BIT(30) : BIT(24), 0));
}

static void info_of_nothing_writes_nothing(void)
{
	struct sbiret ret = pmu_event_info(SHARED, 0, 0, 0);

	EXPECT(ret.error == SBI_SUCCESS || ret.error == SBI_ERR_INVALID_PARAM);
}

/* There is no input, so CONSOLE_READ stores nothing. */
static void console_needs_memory(void)
{
	EXPECT_ERROR(sbi_call(SBI_EXT_DBCN, DBCN_WRITE, 4, ADDRESS_NOTHING, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(sbi_call(SBI_EXT_DBCN, DBCN_WRITE, 4, ADDRESS_NOTHING + 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_OK(sbi_call(SBI_EXT_DBCN, DBCN_READ, 4, ADDRESS_NOTHING, 0));
	EXPECT_EQ(sbi_call(SBI_EXT_DBCN, DBCN_WRITE, 0, ADDRESS_NOTHING, 0).value, 0);
}

const struct test_case hostile_cases[] = {
	{ "EVENT_GET_INFO of no entries writes nothing", info_of_nothing_writes_nothing,
	  NEEDS_EVENT_INFO },
	{ "a set that wraps starts and stops no counter", wrapping_set_starts_nothing, 0 },
	{ "a set that wraps does not stop a counter that runs", wrapping_set_stops_nothing, 0 },
	{ "a set that wraps matches no counter", wrapping_set_matches_nothing, 0 },
	{ "a set that wraps is refused by SKIP_MATCH", wrapping_set_is_not_skipped_to, 0 },
	{ "SKIP_MATCH of a firmware event on a hardware counter touches no other",
	  skip_match_clears_no_other_counter, 0 },
	{ "SKIP_MATCH of a hardware event on a firmware counter writes no CSR",
	  skip_match_clears_no_hardware_for_firmware, 0 },
	{ "a set that wraps is not cleared by SKIP_MATCH", wrapping_set_is_not_cleared, 0 },
	{ "EVENT_GET_INFO refuses a list that wraps around", wrapping_list_is_refused,
	  NEEDS_EVENT_INFO },
	{ "EVENT_GET_INFO refuses an address where there is no memory",
	  info_beyond_memory_is_refused, NEEDS_EVENT_INFO },
	{ "EVENT_GET_INFO refuses more entries than there is memory for",
	  info_size_is_within_memory, NEEDS_EVENT_INFO },
	{ "EVENT_GET_INFO refuses a number of entries that wraps", info_size_does_not_wrap,
	  NEEDS_EVENT_INFO },
	{ "the console refuses memory that is not there", console_needs_memory, 0 },
	CASES_END
};
