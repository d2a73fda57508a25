// SPDX-License-Identifier: GPL-2.0
/*
 * The base implementation, which needs no firmware support: cycle and instret always run; they
 * cannot be written, filtered or stopped, and do not interrupt. Other backends use its ops where
 * they have none.
 */

#include <asm/pmu_csr.h>

#include "csr.h"
#include "event.h"

static int base_probe(struct riscv_pmu *pmu)
{
	for_each_ctr(ctr, RISCV_PMU_FIXED_HPMS) {
		if (!riscv_pmu_csr_is_readable(ctr))
			continue;
		pmu->ctrs |= BIT_ULL(ctr);
		pmu->ctr[ctr] = (struct riscv_pmu_ctr){
			.read	= riscv_pmu_csr_reader(ctr),
			.csr	= CSR_CYCLE + ctr,
			.width	= 64,
		};
	}
	pmu->fixed_ctrs = pmu->ctrs;
	pmu->no_irq_why =
		"cycle and instret do not interrupt; other counters need firmware with the SBI PMU";

	return pmu->ctrs ? 0 : -ENODEV;
}

static const char *base_check_hart(struct riscv_pmu *pmu)
{
	for_each_ctr(ctr, pmu->ctrs) {
		if (!riscv_pmu_csr_is_readable(ctr))
			return "cycle or instret, which traps";
	}

	return NULL;
}

static u64 base_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg)
{
	return riscv_pmu_event_fixed_hpm(cfg->event_idx);
}

static u64 base_untried_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	return 0;
}

static void base_hart_nop(struct riscv_pmu *pmu) { }

/* The counters always run, and have no config. */
static int base_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	return 0;
}

static u64 base_overflowed(struct riscv_pmu *pmu, u64 ctrs)
{
	return 0;
}

const struct riscv_pmu_ops riscv_pmu_base_ops = {
	.name		= "legacy",
	.probe		= base_probe,
	.check_hart	= base_check_hart,
	.event_ctrs	= base_event_ctrs,
	.untried_ctrs	= base_untried_ctrs,
	.hart_start	= base_hart_nop,
	.hart_stop	= base_hart_nop,
	.apply		= base_apply,
	.overflowed	= base_overflowed,
};
