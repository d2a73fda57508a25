// SPDX-License-Identifier: BSD-2-Clause
/* State of the hart after boot. */
#include "case.h"
#include "fdt.h"
#include "pmu.h"

/* Instructions of instret_over_ecall() in S-mode: csrr, li, li, ecall; QEMU counts an ecall. */
#define OVER_ECALL	4

static void machine_has_pmu(void)
{
	EXPECT(sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_PMU, 0, 0).value);
	EXPECT(ctrs.hw);
	EXPECT(ctrs.fw);
}

static void instret_runs(void)
{
	EXPECT_EQ(counted(CTR_INSTRET, 1000), 2000 + counted_extra);
}

static void cycle_runs(void)
{
	EXPECT_EQ(counted(CTR_CYCLE, 1000), 2000 + counted_extra);
}

static void instret_leaves_out_firmware(void)
{
	EXPECT_EQ(instret_over_ecall(), OVER_ECALL);
}

static void cycle_leaves_out_firmware(void)
{
	EXPECT_EQ(cycle_over_ecall(), OVER_ECALL);
}

static void instret_leaves_out_firmware_after_reset(void)
{
	u64 ctr;

	REQUIRE(pmu_match(0, BIT(CTR_INSTRET), 0, EVENT_INSTRUCTIONS, 0).error == SBI_SUCCESS);
	EXPECT_EQ(instret_over_ecall(), OVER_ECALL);
	pmu_stop(CTR_INSTRET, 1, PMU_STOP_RESET);
	ctr = ctr_for(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
	pmu_match(0, BIT(CTR_INSTRET), PMU_CFG_AUTO_START, EVENT_INSTRUCTIONS, 0);
	pmu_start(CTR_INSTRET, 1, 0, 0);
	EXPECT_EQ(instret_over_ecall(), OVER_ECALL);
}

static void sctrctl_is_allowed(void)
{
	EXPECT(sctrctl_is_readable());
}

static void no_overflow_is_pending(void)
{
	EXPECT(!lcofi_pending());
}

const struct test_case boot_cases[] = {
	{ "the PMU extension has hardware and firmware counters",
	  machine_has_pmu, AT_BOOT },
	{ "instret runs at boot, and counts each instruction", instret_runs,
	  AT_BOOT | NEEDS_ICOUNT },
	{ "cycle runs at boot, one for each instruction with -icount", cycle_runs,
	  AT_BOOT | NEEDS_ICOUNT },
	{ "instret leaves out what the firmware executes, from boot on",
	  instret_leaves_out_firmware, AT_BOOT | NEEDS_ICOUNT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "cycle leaves out what the firmware executes, from boot on",
	  cycle_leaves_out_firmware, AT_BOOT | NEEDS_ICOUNT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "instret does not count the firmware after a match and a reset",
	  instret_leaves_out_firmware_after_reset,
	  AT_BOOT | NEEDS_ICOUNT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "no overflow interrupt is pending at boot", no_overflow_is_pending, AT_BOOT },
	{ "branch records are S-mode's to set up where the hart has Ssctr",
	  sctrctl_is_allowed, AT_BOOT | NEEDS_SSCTR },
	CASES_END
};
