// SPDX-License-Identifier: GPL-2.0
/*
 * T-Head C9xx. C906, C910, the first C920 and the C908 of Canaan's K230 have a predecessor of
 * Sscofpmf, with another interrupt and without filters (OpenSBI, thead_c9xx_pmu.c; for the C908,
 * "perf: RISC-V: fix IRQ detection on T-Head C908" of March 2024 on the list linux-riscv).
 * The second C920 has Sscofpmf, and so may other revisions of the C908. On all of them the fixed
 * counters can interrupt too. With Sscofpmf that needs firmware that sets bit 8 (OFINT) of mxstatus
 * and clears the flags in mhpmevent0 and mhpmevent2 (CSRs 0x7e0 and 0x7e1), as the vendor's OpenSBI
 * does (xuantie_pmu.c), and OpenSBI 1.9 does not. No public list of the C908's events was found.
 * Untested on silicon.
 */

#include <asm/pmu_csr.h>

#include "../event.h"
#include "platform.h"

/*
 * The older cores leave marchid and mimpid at 0. If the devicetree does not name the core either,
 * its events are unknown.
 */
const struct riscv_pmu_platform riscv_pmu_thead_c900 = {
	.name		= "thead-c900",
	.ids		= { RISCV_PMU_VENDOR_THEAD },
	.hwirq		= PMU_IRQ_THEAD,
	.fixed_irqs	= true,
	.ovf_csr	= PMU_CSR_THEAD_SCOUNTEROF,
};

static const struct riscv_pmu_selector thead_c906_selectors[] = PLATFORM_SELECTORS(thead_c906);

const struct riscv_pmu_platform riscv_pmu_thead_c906 = {
	PLATFORM_CORE(thead_c906),
	.hwirq		= PMU_IRQ_THEAD,
	.fixed_irqs	= true,
	.ovf_csr	= PMU_CSR_THEAD_SCOUNTEROF,
};

static const struct riscv_pmu_selector thead_c910_selectors[] = PLATFORM_SELECTORS(thead_c910);

/*
 * Linux's thead/th1520.dtsi maps these to mispredicted jumps (selector 8), jumps (9), failed
 * speculation (10) and stores (11).
 */
static const u32 thead_th1520_bad_events[] = {
	RISCV_PMU_EVENT_HW(BUS_CYCLES),
	RISCV_PMU_EVENT_HW(STALLED_CYCLES_FRONTEND),
	RISCV_PMU_EVENT_HW(STALLED_CYCLES_BACKEND),
	RISCV_PMU_EVENT_HW(REF_CPU_CYCLES),
};

const struct riscv_pmu_platform riscv_pmu_thead_c910 = {
	PLATFORM_CORE(thead_c910),
	.hwirq		= PMU_IRQ_THEAD,
	.fixed_irqs	= true,
	.ovf_csr	= PMU_CSR_THEAD_SCOUNTEROF,
	.bad_machine	= "thead,th1520",
	.bad_events	= thead_th1520_bad_events,
	.nr_bad_events	= ARRAY_SIZE(thead_th1520_bad_events),
};

/*
 * Linux's sophgo/sg2044-cpus.dtsi has counters for these, but no selectors. OpenSBI then writes the
 * event_idx: branches (7) and failed speculation (10).
 */
static const u32 thead_sg2044_bad_events[] = {
	RISCV_PMU_EVENT_HW(BUS_CYCLES),
	RISCV_PMU_EVENT_HW(REF_CPU_CYCLES),
};

const struct riscv_pmu_platform riscv_pmu_thead_c908 = {
	.name		= "thead-c908",
	.ids		= { RISCV_PMU_VENDOR_THEAD, PLATFORM_MARCHID(0x8000000009140d00) },
	.any_mimpid	= true,
	.hwirq		= PMU_IRQ_THEAD,
	.fixed_irqs	= true,
	.ovf_csr	= PMU_CSR_THEAD_SCOUNTEROF,
};

static const struct riscv_pmu_selector thead_c920v2_selectors[] = PLATFORM_SELECTORS(thead_c920v2);

const struct riscv_pmu_platform riscv_pmu_thead_c920v2 = {
	PLATFORM_CORE(thead_c920v2),
	.any_mimpid	= true,
	.fixed_irqs	= true,
	.bad_machine	= "sophgo,sg2044",
	.bad_events	= thead_sg2044_bad_events,
	.nr_bad_events	= ARRAY_SIZE(thead_sg2044_bad_events),
};
