// SPDX-License-Identifier: GPL-2.0
/* SpacemiT X60 (K1) and X100 (K3). Untested on silicon. */

#include "../event.h"
#include "platform.h"

static const struct riscv_pmu_selector spacemit_x60_selectors[] = PLATFORM_SELECTORS(spacemit_x60);

static const struct riscv_pmu_substitute spacemit_x60_substitutes[] = {
	{ RISCV_PMU_EVENT_CYCLES, SPACEMIT_X60_U_MODE_CYCLE, SPACEMIT_X60_S_MODE_CYCLE },
};

/*
 * Only the fixed counters count cycles and instructions (k1-x.dtsi of the vendor's kernel), and
 * Sscofpmf has no overflow interrupt and no filters for these. The raw events u_mode_cycle and
 * s_mode_cycle count cycles in one mode, on the programmable counters, which do interrupt.
 */
const struct riscv_pmu_platform riscv_pmu_spacemit_x60 = {
	PLATFORM_CORE(spacemit_x60),
	.any_mimpid	= true,
	.substitutes	= spacemit_x60_substitutes,
	.nr_substitutes	= ARRAY_SIZE(spacemit_x60_substitutes),
};

static const struct riscv_pmu_selector spacemit_x100_selectors[] =
	PLATFORM_SELECTORS(spacemit_x100);

/*
 * The A100 cores of the same chip have another marchid (0x8000000041000002) and other events. If a
 * PMU has harts of both types, it has no table, and the firmware gets no events.
 */
const struct riscv_pmu_platform riscv_pmu_spacemit_x100 = {
	PLATFORM_CORE(spacemit_x100),
	.any_mimpid	= true,
};
