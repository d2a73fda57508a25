// SPDX-License-Identifier: GPL-2.0
/*
 * SpacemiT X60 (K1). Cycles and instructions are counted by the fixed counters only, which never
 * interrupt, and have no filters. The raw events u_mode_cycle and s_mode_cycle count cycles in one
 * mode, on the programmable counters, which do. Untested on silicon.
 */

#include <linux/array_size.h>

#include <asm/sbi.h>

#include "../event.h"
#include "platform.h"

#define SPACEMIT_VENDOR_ID		0x710
#define SPACEMIT_X60_MARCHID		(BIT(BITS_PER_LONG - 1) | 0x58000001)

#define SPACEMIT_X60_S_MODE_CYCLE	0x21
#define SPACEMIT_X60_U_MODE_CYCLE	0x22

static bool spacemit_x60_match(void)
{
	return riscv_cached_mvendorid(0) == SPACEMIT_VENDOR_ID &&
	       riscv_cached_marchid(0) == SPACEMIT_X60_MARCHID;
}

static const struct riscv_pmu_mode_events spacemit_x60_mode_events[] = {
	{ RISCV_PMU_EVENT_CYCLES, SPACEMIT_X60_U_MODE_CYCLE, SPACEMIT_X60_S_MODE_CYCLE },
};

const struct riscv_pmu_core riscv_pmu_core_spacemit_x60 = {
	.match		= spacemit_x60_match,
	.mode_events	= spacemit_x60_mode_events,
	.nr_mode_events	= ARRAY_SIZE(spacemit_x60_mode_events),
};
