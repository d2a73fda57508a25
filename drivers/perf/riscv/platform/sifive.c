// SPDX-License-Identifier: GPL-2.0
/*
 * SiFive U74. Bits 7:0 of a selector are a class of events, and each bit above them is an event
 * of that class (U74-MC Core Complex Manual, "Hardware Performance Monitor"). Untested on
 * silicon.
 */

#include <linux/array_size.h>

#include <asm/sbi.h>
#include <asm/vendorid_list.h>

#include "../event.h"
#include "platform.h"

#define SIFIVE_U74_MARCHID		(BIT(BITS_PER_LONG - 1) | 0x7)

#define SIFIVE_MICROARCH(bits)		((u64)(bits) << 8 | 0x1)
#define SIFIVE_MEMORY(bits)		((u64)(bits) << 8 | 0x2)

#define SIFIVE_BRANCH_DIRECTION_MISS	BIT(5)
#define SIFIVE_BRANCH_TARGET_MISS	BIT(6)
#define SIFIVE_ICACHE_MISS		BIT(0)
#define SIFIVE_DCACHE_MISS		BIT(1)
#define SIFIVE_ITLB_MISS		BIT(3)
#define SIFIVE_DTLB_MISS		BIT(4)

static bool sifive_u74_match(void)
{
	return riscv_cached_mvendorid(0) == SIFIVE_VENDOR_ID &&
	       riscv_cached_marchid(0) == SIFIVE_U74_MARCHID;
}

static const struct riscv_pmu_selector sifive_u74_selectors[] = {
	{ RISCV_PMU_EVENT_HW(BRANCH_MISSES),
	  SIFIVE_MICROARCH(SIFIVE_BRANCH_DIRECTION_MISS | SIFIVE_BRANCH_TARGET_MISS) },
	{ RISCV_PMU_EVENT_CACHE(L1I, OP_READ, MISS), SIFIVE_MEMORY(SIFIVE_ICACHE_MISS) },
	{ RISCV_PMU_EVENT_CACHE(L1D, OP_READ, MISS), SIFIVE_MEMORY(SIFIVE_DCACHE_MISS) },
	{ RISCV_PMU_EVENT_CACHE(ITLB, OP_READ, MISS), SIFIVE_MEMORY(SIFIVE_ITLB_MISS) },
	{ RISCV_PMU_EVENT_CACHE(DTLB, OP_READ, MISS), SIFIVE_MEMORY(SIFIVE_DTLB_MISS) },
};

const struct riscv_pmu_core riscv_pmu_core_sifive_u74 = {
	.match		= sifive_u74_match,
	.selectors	= sifive_u74_selectors,
	.nr_selectors	= ARRAY_SIZE(sifive_u74_selectors),
};
