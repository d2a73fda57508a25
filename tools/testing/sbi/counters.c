// SPDX-License-Identifier: BSD-2-Clause
/* NUM_COUNTERS, COUNTER_GET_INFO, FW_READ, and functions that do not exist. */
#include "case.h"
#include "pmu.h"

static const ulong no_counters[] = {
	64, 255, BIT(16), BIT(31), 0xffffffffUL, BIT(XLEN - 1), ALL_ONES - 1, ALL_ONES,
};

static void number_is_constant(void)
{
	EXPECT_OK(sbi_call(SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS, 0, 0, 0));
	EXPECT_EQ(sbi_call(SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS, ALL_ONES, ALL_ONES, 7).value,
		  ctrs.nr);
	EXPECT_IN(ctrs.nr, 3, 64);
}

static void hardware_counters_name_their_csr(void)
{
	u64 i;

	for (i = 0; i < ctrs.nr; i++) {
		if (!(ctrs.hw & BIT(i)))
			continue;
		EXPECT_EQ(PMU_INFO_CSR(ctrs.info[i]), CSR_CYCLE + i);
		EXPECT_EQ(PMU_INFO_WIDTH(ctrs.info[i]), 64);
		EXPECT_EQ(ctrs.info[i] >> 18, 0);
	}
}

static void time_is_not_a_counter(void)
{
	EXPECT_ERROR(pmu_get_info(CTR_TIME), SBI_ERR_INVALID_PARAM);
}

static void firmware_counters_are_marked(void)
{
	u64 i;

	for (i = 0; i < ctrs.nr; i++)
		EXPECT_EQ((ctrs.fw | ctrs.hw | BIT(CTR_TIME)) & BIT(i), BIT(i));
	EXPECT_EQ(ctrs.fw & ctrs.hw, 0);
}

static void info_of_no_counter_is_refused(void)
{
	u64 i;

	EXPECT_ERROR(pmu_get_info(ctrs.nr), SBI_ERR_INVALID_PARAM);
	for (i = 0; i < ARRAY_SIZE(no_counters); i++)
		EXPECT_ERROR(pmu_get_info(no_counters[i]), SBI_ERR_INVALID_PARAM);
}

static void info_index_is_not_cut_off(void)
{
	EXPECT_ERROR(pmu_get_info((ulong)BIT(32)), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_get_info((ulong)(3ULL << 32 | 3)), SBI_ERR_INVALID_PARAM);
}

static void firmware_counter_reads(void)
{
	u64 ctr = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(pmu_fw_read(ctr));
	EXPECT_OK(pmu_fw_read_hi(ctr));
	EXPECT_EQ(pmu_fw_read_hi(ctr).value, 0);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0xfedcba9876543210));
	EXPECT_EQ(pmu_fw_read(ctr).value, XLEN == 32 ? 0x76543210 : 0xfedcba9876543210);
	EXPECT_EQ(pmu_fw_read_hi(ctr).value, XLEN == 32 ? 0xfedcba98 : 0);
}

static void fw_read_refuses_hardware_counters(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	EXPECT_ERROR(pmu_fw_read(ctr), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_fw_read(CTR_CYCLE), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_fw_read(CTR_TIME), SBI_ERR_INVALID_PARAM);
}

static void fw_read_refuses_no_counter(void)
{
	u64 i;

	EXPECT_ERROR(pmu_fw_read(ctrs.nr), SBI_ERR_INVALID_PARAM);
	for (i = 0; i < ARRAY_SIZE(no_counters); i++)
		EXPECT_ERROR(pmu_fw_read(no_counters[i]), SBI_ERR_INVALID_PARAM);
}

static void fw_read_index_is_not_cut_off(void)
{
	u64 ctr = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_ERROR(pmu_fw_read(BIT(32) | ctr), SBI_ERR_INVALID_PARAM);
}

static void fw_read_hi_refuses_as_fw_read_does(void)
{
	u64 i;

	EXPECT_ERROR(pmu_fw_read_hi(CTR_CYCLE), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_fw_read_hi(CTR_TIME), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_fw_read_hi(ctrs.nr), SBI_ERR_INVALID_PARAM);
	for (i = 0; i < ARRAY_SIZE(no_counters); i++)
		EXPECT_ERROR(pmu_fw_read_hi(no_counters[i]), SBI_ERR_INVALID_PARAM);
}

/*
 * In SBI 3.0, a1 is unspecified after an error. Zero and the caller's value of a1
 * disclose nothing; another value is from the firmware's memory or registers.
 */
static void error_discloses_nothing(void)
{
	struct sbiret ret;
	ulong fid;

	for (fid = SBI_PMU_COUNTER_GET_INFO; fid <= SBI_PMU_EVENT_GET_INFO; fid++) {
		ret = sbi_call6(SBI_EXT_PMU, fid, 255, 0xdead, ALL_ONES, ALL_ONES, ALL_ONES, 0);
		EXPECT(ret.error < 0);
		EXPECT(ret.value == 0 || ret.value == 0xdead);
	}
}

static void unknown_functions_are_refused(void)
{
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU, 9, 0, 1, 2), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU, ALL_ONES, 0, 1, 2), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU, BIT(XLEN / 2), 0, 1, 2), SBI_ERR_NOT_SUPPORTED);
}

const struct test_case counters_cases[] = {
	{ "NUM_COUNTERS is constant", number_is_constant, 0 },
	{ "a hardware counter is 64 bits wide and names its CSR",
	  hardware_counters_name_their_csr, 0 },
	{ "time is not a counter of the PMU", time_is_not_a_counter, 0 },
	{ "every counter except time is of hardware or of firmware", firmware_counters_are_marked, 0 },
	{ "COUNTER_GET_INFO refuses a counter that is not there",
	  info_of_no_counter_is_refused, 0 },
	{ "COUNTER_GET_INFO does not cut its index to 32 bits", info_index_is_not_cut_off,
	  NEEDS_RV64 },
	{ "FW_READ and FW_READ_HI read all 64 bits of a firmware counter",
	  firmware_counter_reads, 0 },
	{ "FW_READ refuses a hardware counter", fw_read_refuses_hardware_counters, 0 },
	{ "FW_READ refuses a counter that does not exist", fw_read_refuses_no_counter, 0 },
	{ "FW_READ does not cut its index to 32 bits", fw_read_index_is_not_cut_off, NEEDS_RV64 },
	{ "FW_READ_HI refuses what FW_READ refuses", fw_read_hi_refuses_as_fw_read_does, 0 },
	{ "an error discloses nothing of the firmware in a1", error_discloses_nothing, 0 },
	{ "unknown functions are not supported", unknown_functions_are_refused, 0 },
	CASES_END
};
