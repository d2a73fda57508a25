// SPDX-License-Identifier: GPL-2.0
/* SiFive U74 and P550. Untested on silicon. */

#include <linux/array_size.h>

#include <asm/vendorid_list.h>

#include "../event.h"
#include "platform.h"

#define SIFIVE_U74_MARCHID		(RISCV_PMU_MARCHID_VENDOR | 0x7)
#define SIFIVE_P550_MARCHID		(RISCV_PMU_MARCHID_VENDOR | 0x8)

static const struct riscv_pmu_selector sifive_u74_selectors[] = {
	RISCV_PMU_EVENTS_sifive_u74(PLATFORM_SELECTOR)
};

/*
 * The core has no overflow interrupt and no filters (U74-MC Core Complex Manual), so a timer takes
 * the samples.
 */
const struct riscv_pmu_platform riscv_pmu_sifive_u74 = {
	.name		= "sifive-u74",
	.ids		= { SIFIVE_VENDOR_ID, SIFIVE_U74_MARCHID },
	.any_mimpid	= true,
	.selectors	= sifive_u74_selectors,
	.nr_selectors	= ARRAY_SIZE(sifive_u74_selectors),
};

static const struct riscv_pmu_selector sifive_p550_selectors[] = {
	RISCV_PMU_EVENTS_sifive_p550(PLATFORM_SELECTOR)
};

/*
 * Only the fixed counters count cycles and instructions, and Sscofpmf has no overflow interrupt for
 * these. Neither Linux's eswin/eic7700.dtsi nor perf's list sifive/p550 has an event by which a
 * programmable counter counts the same, so a timer samples these two.
 */
const struct riscv_pmu_platform riscv_pmu_sifive_p550 = {
	.name		= "sifive-p550",
	.ids		= { SIFIVE_VENDOR_ID, SIFIVE_P550_MARCHID },
	.any_mimpid	= true,
	.selectors	= sifive_p550_selectors,
	.nr_selectors	= ARRAY_SIZE(sifive_p550_selectors),
};
