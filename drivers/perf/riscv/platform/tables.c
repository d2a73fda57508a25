// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of the cores. What they say is from public manuals, devicetrees and lists of events,
 * which are named here and in cores.h; what was not found there is left out. The IDs are those of
 * perf's mapfile.csv; for SpacemiT, of LLVM's RISCVProcessors.td. Untested on silicon.
 */

#include <asm/pmu_csr.h>

#include "../event.h"
#include "platform.h"

#define PLATFORM_SELECTOR(event_idx, selector, mask, counters)	\
	{ event_idx, selector, mask, counters },
#define PLATFORM_ONE(...)	1 +
#define PLATFORM_EVENTS(id)						\
	.selectors	= (const struct riscv_pmu_selector[]){		\
		RISCV_PMU_EVENTS_##id(PLATFORM_SELECTOR)		\
	},								\
	.nr_selectors	= RISCV_PMU_EVENTS_##id(PLATFORM_ONE) 0

/* On RV32, the uppermost bit of a marchid is bit 31. */
#define PLATFORM_MARCHID(marchid)					\
	((marchid) ? BIT(BITS_PER_LONG - 1) | ((marchid) & GENMASK(30, 0)) : 0)

/* What cores.h has of a core */
#define PLATFORM_CORE(id)						\
	RISCV_PMU_EXPAND(PLATFORM_IDS, RISCV_PMU_CORE_##id),		\
	PLATFORM_EVENTS(id)
#define PLATFORM_IDS(core, vendor, march, ...)				\
	.name		= core,						\
	.ids		= { vendor, PLATFORM_MARCHID(march) },		\
	.compatibles	= { __VA_ARGS__ }

/*
 * Andes AX45MP with Xandespmu, a predecessor of Sscofpmf and Smcntrpmf with other CSR and interrupt
 * numbers (asm/pmu_csr.h, from the AX45MP data sheet).
 */
const struct riscv_pmu_platform riscv_pmu_andes_ax45mp = {
	PLATFORM_CORE(andes_ax45mp),
	.any_mimpid	= true,
	.isa_ext	= "xandespmu",
	.hwirq		= PMU_IRQ_ANDES,
	.fixed_irqs	= true,
	.has_filters	= true,
	.ovf_csr	= PMU_CSR_ANDES_SCOUNTEROF,
	.pending_csr	= PMU_CSR_ANDES_SLIP,
};

/* QEMU's virt machine */
const struct riscv_pmu_platform riscv_pmu_qemu = {
	.compatibles	= { "riscv-virtio" },
	PLATFORM_EVENTS(qemu),
};

/*
 * SiFive U74. The core has no overflow interrupt and no filters (U74-MC Core Complex Manual), so a
 * timer takes the samples.
 */
const struct riscv_pmu_platform riscv_pmu_sifive_u74 = {
	PLATFORM_CORE(sifive_u74),
	.any_mimpid	= true,
};

/*
 * SiFive P550. Only the fixed counters count cycles and instructions, and Sscofpmf has no overflow
 * interrupt for these. Neither Linux's eswin/eic7700.dtsi nor perf's list sifive/p550 has an event
 * by which a programmable counter counts the same, so a timer samples these two.
 */
const struct riscv_pmu_platform riscv_pmu_sifive_p550 = {
	PLATFORM_CORE(sifive_p550),
	.any_mimpid	= true,
};

static const struct riscv_pmu_substitute spacemit_x60_substitutes[] = {
	{ RISCV_PMU_EVENT_CYCLES, SPACEMIT_X60_U_MODE_CYCLE, SPACEMIT_X60_S_MODE_CYCLE },
};

/*
 * SpacemiT X60 (K1). Only the fixed counters count cycles and instructions (k1-x.dtsi of the
 * vendor's kernel), and Sscofpmf has no overflow interrupt and no filters for these. The raw events
 * u_mode_cycle and s_mode_cycle count cycles in one mode, on the programmable counters, which do
 * interrupt.
 */
const struct riscv_pmu_platform riscv_pmu_spacemit_x60 = {
	PLATFORM_CORE(spacemit_x60),
	.any_mimpid	= true,
	.substitutes	= spacemit_x60_substitutes,
	.nr_substitutes	= ARRAY_SIZE(spacemit_x60_substitutes),
};

/* K3.dts has the selectors of the A100 for these. The firmware has one map for both cores. */
static const u32 spacemit_x100_bad_events[] = {
	RISCV_PMU_EVENT_HW(STALLED_CYCLES_FRONTEND),
	RISCV_PMU_EVENT_HW(STALLED_CYCLES_BACKEND),
};

/* SpacemiT X100 and A100 (K3): one chip has eight of each. */
const struct riscv_pmu_platform riscv_pmu_spacemit_x100 = {
	PLATFORM_CORE(spacemit_x100),
	.any_mimpid	= true,
	.not_mimpid	= RISCV_PMU_MIMPID_SPACEMIT_V100,
	.bad_events	= spacemit_x100_bad_events,
	.nr_bad_events	= ARRAY_SIZE(spacemit_x100_bad_events),
};

const struct riscv_pmu_platform riscv_pmu_spacemit_a100 = {
	PLATFORM_CORE(spacemit_a100),
	.any_mimpid	= true,
};

/*
 * T-Head C9xx. C906, C910, the first C920 and the C908 of Canaan's K230 have a predecessor of
 * Sscofpmf, with another interrupt and without filters (OpenSBI, thead_c9xx_pmu.c; for the C908,
 * "perf: RISC-V: fix IRQ detection on T-Head C908" of March 2024 on the list linux-riscv).
 * The second C920 has Sscofpmf, and so may other revisions of the C908. On all of them the fixed
 * counters can interrupt too. With Sscofpmf that needs firmware that sets bit 8 (OFINT) of mxstatus
 * and clears the flags in mhpmevent0 and mhpmevent2 (CSRs 0x7e0 and 0x7e1), as the vendor's OpenSBI
 * does (xuantie_pmu.c), and OpenSBI 1.9 does not.
 */
#define THEAD_INTERRUPT					\
	.hwirq		= PMU_IRQ_THEAD,		\
	.fixed_irqs	= true,				\
	.ovf_csr	= PMU_CSR_THEAD_SCOUNTEROF

/*
 * The older cores leave marchid and mimpid at 0. If the devicetree does not name the core either,
 * its events are unknown.
 */
const struct riscv_pmu_platform riscv_pmu_thead_c900 = {
	.name		= "thead-c900",
	.ids		= { RISCV_PMU_VENDOR_THEAD },
	THEAD_INTERRUPT,
};

const struct riscv_pmu_platform riscv_pmu_thead_c906 = {
	PLATFORM_CORE(thead_c906),
	THEAD_INTERRUPT,
};

/*
 * The vendor's example of a pmu node and sophgo/sg2044-cpus.dtsi have counters for the first two,
 * but no selectors. OpenSBI then writes the event_idx: branches (7) and failed speculation (10).
 * In the order of this list, thead/th1520.dtsi has mispredicted jumps (selector 8), stores (11),
 * jumps (9) and failed speculation (10).
 */
static const u32 thead_bad_events[] = {
	RISCV_PMU_EVENT_HW(BUS_CYCLES),
	RISCV_PMU_EVENT_HW(REF_CPU_CYCLES),
	RISCV_PMU_EVENT_HW(STALLED_CYCLES_FRONTEND),
	RISCV_PMU_EVENT_HW(STALLED_CYCLES_BACKEND),
};

/* No public list of the events was found. */
const struct riscv_pmu_platform riscv_pmu_thead_c908 = {
	.name		= "thead-c908",
	.ids		= { RISCV_PMU_VENDOR_THEAD, PLATFORM_MARCHID(0x8000000009140d00) },
	.any_mimpid	= true,
	.bad_events	= thead_bad_events,
	.nr_bad_events	= 2,	/* bus and reference cycles */
	THEAD_INTERRUPT,
};

const struct riscv_pmu_platform riscv_pmu_thead_c910 = {
	PLATFORM_CORE(thead_c910),
	THEAD_INTERRUPT,
	.bad_events	= thead_bad_events,
	.nr_bad_events	= ARRAY_SIZE(thead_bad_events),
};

const struct riscv_pmu_platform riscv_pmu_thead_c920v2 = {
	PLATFORM_CORE(thead_c920v2),
	.any_mimpid	= true,
	.fixed_irqs	= true,
	.bad_events	= thead_bad_events,
	.nr_bad_events	= 2,	/* bus and reference cycles */
};

/* Programmable counters have cycles and instructions, too, and interrupt by Sscofpmf. */
const struct riscv_pmu_platform riscv_pmu_thead_c930 = {
	PLATFORM_CORE(thead_c930),
	.any_mimpid	= true,
};
