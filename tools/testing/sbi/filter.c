// SPDX-License-Identifier: BSD-2-Clause
/* Filters: the modes that are counted. */
#include "case.h"
#include "pmu.h"

/*
 * Maximum number of instructions of S-mode between the two reads of count_over_call():
 * two function calls and an ecall with its arguments. The firmware's part of an ecall is
 * ten times as long.
 */
#define S_MODE_PART	40

static noinline u64 count_over_call(unsigned int ctr)
{
	u64 before = ctr_read_csr(ctr);

	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);
	return ctr_read_csr(ctr) - before;
}

static void leaves_out_firmware(ulong flags)
{
	struct sbiret ret = pmu_match(0, ctrs.prog, flags, EVENT_INSTRUCTIONS, 0);

	REQUIRE(ret.error == SBI_SUCCESS);
	pmu_start(ret.value, 1, PMU_START_SET_INIT_VALUE, 0);
	EXPECT_IN(count_over_call(ret.value), 4, S_MODE_PART);
}

static void firmware_is_never_counted(void)
{
	leaves_out_firmware(0);
}

static void firmware_is_not_counted_on_request_either(void)
{
	leaves_out_firmware(PMU_CFG_SET_MINH);
}

static void firmware_is_not_counted_after_reset(void)
{
	u64 i;

	for (i = 0; i < 3; i++) {
		leaves_out_firmware(0);
		pmu_stop(0, ctrs.hw, PMU_STOP_RESET);
	}
}

/* S-mode programs the counter itself and cannot set MINH: the reset must keep MINH set. */
static void delegated_counter_leaves_out_firmware(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr >= 3 && ctr < 32);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0));
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_RESET));
	/* In QEMU, the selectors are the event indices of the SBI. */
	delegated_event_write(ctr, EVENT_INSTRUCTIONS);
	csr_clear(CSR_SCOUNTINHIBIT, BIT(ctr));
	EXPECT_IN(count_over_call(ctr), 4, S_MODE_PART);
	csr_set(CSR_SCOUNTINHIBIT, BIT(ctr));
	delegated_event_write(ctr, 0);
}

static void s_mode_is_left_out(void)
{
	struct sbiret ret = pmu_match(0, ctrs.prog, PMU_CFG_SET_SINH, EVENT_INSTRUCTIONS, 0);

	REQUIRE(ret.error == SBI_SUCCESS);
	pmu_start(ret.value, 1, PMU_START_SET_INIT_VALUE, 0);
	EXPECT_EQ(counted(ret.value, 1000), 0);
	EXPECT_EQ(count_over_call(ret.value), 0);
	EXPECT_EQ(ctr_value(ret.value), 0);
}

static void other_filters_leave_s_mode_in(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS,
			  PMU_CFG_SET_UINH | PMU_CFG_SET_VUINH | PMU_CFG_SET_VSINH);

	REQUIRE(ctr != ALL_ONES);
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0);
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void match_replaces_filters(void)
{
	struct sbiret ret = pmu_match(0, ctrs.prog, PMU_CFG_SET_SINH, EVENT_INSTRUCTIONS, 0);

	REQUIRE(ret.error == SBI_SUCCESS);
	pmu_stop(ret.value, 1, PMU_STOP_RESET);
	EXPECT_OK(pmu_match(ret.value, 1, PMU_CFG_AUTO_START, EVENT_INSTRUCTIONS, 0));
	EXPECT_EQ(counted(ret.value, 1000), 2000 + counted_extra);
}

static void fixed_counter_filters(u64 ctr, ulong event)
{
	EXPECT_OK(pmu_match(0, BIT(ctr), PMU_CFG_SET_SINH, event, 0));
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0);
	EXPECT_EQ(counted(ctr, 1000), 0);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
	EXPECT_OK(pmu_match(0, BIT(ctr), 0, event, 0));
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0);
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
	EXPECT_IN(count_over_call(ctr), 4, S_MODE_PART);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
}

static void reset_resets_filters_of(u64 ctr, ulong event)
{
	EXPECT_OK(pmu_match(0, BIT(ctr), PMU_CFG_SET_SINH, event, 0));
	pmu_stop(ctr, 1, PMU_STOP_RESET);
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0);
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
	EXPECT_IN(count_over_call(ctr), 4, S_MODE_PART);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
}

static void reset_resets_filters_of_fixed_counters(void)
{
	reset_resets_filters_of(CTR_CYCLE, EVENT_CYCLES);
	reset_resets_filters_of(CTR_INSTRET, EVENT_INSTRUCTIONS);
}

static void fixed_counters_filter(void)
{
	fixed_counter_filters(CTR_CYCLE, EVENT_CYCLES);
	fixed_counter_filters(CTR_INSTRET, EVENT_INSTRUCTIONS);
}

#define NEEDS	(NEEDS_ICOUNT | NEEDS_SSCOFPMF)

const struct test_case filter_cases[] = {
	{ "a counter never counts the firmware", firmware_is_never_counted, NEEDS | NEEDS_FILTERS },
	{ "a counter with MINH does not count the firmware",
	  firmware_is_not_counted_on_request_either, NEEDS | NEEDS_FILTERS },
	{ "a counter does not count the firmware after a reset",
	  firmware_is_not_counted_after_reset, NEEDS | NEEDS_FILTERS },
	{ "a counter that was reset and delegated does not count the firmware",
	  delegated_counter_leaves_out_firmware,
	  NEEDS_ICOUNT | NEEDS_SSCOFPMF | NEEDS_SSCCFG | NEEDS_FILTERS },
	{ "a counter with SINH does not count S-mode", s_mode_is_left_out, NEEDS | NEEDS_FILTERS },
	{ "a counter with the other filters counts S-mode", other_filters_leave_s_mode_in, NEEDS },
	{ "a match replaces the filters of the previous match", match_replaces_filters, NEEDS },
	{ "STOP with RESET resets the filters of cycle and instret",
	  reset_resets_filters_of_fixed_counters,
	  NEEDS_ICOUNT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "cycle and instret apply filters", fixed_counters_filter,
	  NEEDS_ICOUNT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	CASES_END
};
