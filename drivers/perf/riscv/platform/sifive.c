// SPDX-License-Identifier: GPL-2.0
/* SiFive U74 and P550. Untested on silicon. */

#include "../event.h"
#include "platform.h"

static const struct riscv_pmu_selector sifive_u74_selectors[] = PLATFORM_SELECTORS(sifive_u74);

/*
 * The core has no overflow interrupt and no filters (U74-MC Core Complex Manual), so a timer takes
 * the samples.
 */
const struct riscv_pmu_platform riscv_pmu_sifive_u74 = {
	PLATFORM_CORE(sifive_u74),
	.any_mimpid	= true,
};

static const struct riscv_pmu_selector sifive_p550_selectors[] = PLATFORM_SELECTORS(sifive_p550);

/*
 * Only the fixed counters count cycles and instructions, and Sscofpmf has no overflow interrupt for
 * these. Neither Linux's eswin/eic7700.dtsi nor perf's list sifive/p550 has an event by which a
 * programmable counter counts the same, so a timer samples these two.
 */
const struct riscv_pmu_platform riscv_pmu_sifive_p550 = {
	PLATFORM_CORE(sifive_p550),
	.any_mimpid	= true,
};
