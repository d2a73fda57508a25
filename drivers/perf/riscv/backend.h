/* SPDX-License-Identifier: GPL-2.0 */
/* The backends' tables, which are all that the core sees of them, and what backends share. */
#ifndef _RISCV_PMU_BACKEND_H
#define _RISCV_PMU_BACKEND_H

#include <linux/bits.h>
#include <linux/perf/riscv_pmu.h>

#include <asm/csr.h>

extern const struct riscv_pmu_ops riscv_pmu_ssccfg_ops;
extern const struct riscv_pmu_ops riscv_pmu_sbi_ops;
extern const struct riscv_pmu_ops riscv_pmu_base_ops;

/**
 * riscv_pmu_ctr_to_hpm() - the number by which the CSRs know a counter
 * @pmu:	the PMU
 * @ctr:	a counter of hardware
 *
 * Return: 0 (cycle), 2 (instret), or 3 to 31 (hpmcounter3 to 31).
 */
static inline unsigned int riscv_pmu_ctr_to_hpm(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return pmu->ctr[ctr].csr - CSR_CYCLE;
}

/**
 * riscv_pmu_hpms_to_ctrs() - translate a mask of the CSRs' numbers, as of scountovf
 * @pmu:	the PMU
 * @ctrs:	the counters of interest, of hardware
 * @hpms:	the mask
 *
 * Return: those of @ctrs that are in @hpms.
 */
static inline u64 riscv_pmu_hpms_to_ctrs(const struct riscv_pmu *pmu, u64 ctrs, u64 hpms)
{
	u64 hit = 0;

	if (likely(pmu->is_identity))
		return ctrs & hpms;

	for_each_ctr(ctr, ctrs) {
		if (hpms & BIT(riscv_pmu_ctr_to_hpm(pmu, ctr)))
			hit |= BIT_ULL(ctr);
	}

	return hit;
}

#endif /* _RISCV_PMU_BACKEND_H */
