// SPDX-License-Identifier: GPL-2.0
/* Firmware counters beside delegated ones: the SBI backend has them. */

#include "../nmi/block.h"
#include "../sbi/method.h"
#include "ssccfg.h"

/* In a non-retentive idle state the firmware has lost the hart's counters and its shared memory. */
static void ssccfg_wake_fw(struct riscv_pmu *sbi)
{
	if (likely(!this_cpu_read(riscv_pmu_ssccfg_hart.fw_asleep)))
		return;

	this_cpu_write(riscv_pmu_ssccfg_hart.fw_asleep, false);
	sbi->ops.hart_start(sbi);
}

/* The counters have the firmware's numbers. */
void riscv_pmu_ssccfg_fw_add(struct riscv_pmu *pmu)
{
	const struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;

	pmu->fw_ctrs = sbi->fw_ctrs;
	pmu->ctrs |= pmu->fw_ctrs;
	for_each_ctr(ctr, pmu->fw_ctrs)
		pmu->ctr[ctr] = sbi->ctr[ctr];
}

/* Applies a batch: @apply_hw to the hardware counters, the SBI backend to the firmware counters. */
noinline int
riscv_pmu_ssccfg_fw_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch,
			  int (*apply_hw)(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch))
{
	struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;
	int err_hw, err_fw;

	err_hw = riscv_pmu_sbi_apply_some(pmu, batch, ssccfg_hw_ctrs(pmu), apply_hw);
	ssccfg_wake_fw(sbi);
	err_fw = riscv_pmu_sbi_apply_some(sbi, batch, pmu->fw_ctrs, sbi->ops.apply);
	return err_hw ?: err_fw;
}

u64 riscv_pmu_ssccfg_fw_read(struct riscv_pmu *pmu, unsigned int ctr)
{
	struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;

	return sbi->ops.read_ctr(sbi, ctr);
}

u64 riscv_pmu_ssccfg_fw_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg)
{
	struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;

	if (!pmu->fw_ctrs)
		return 0;
	/* event_ctrs() may configure a counter of this hart. */
	scoped_guard(riscv_pmu_irqsave)
		ssccfg_wake_fw(sbi);
	return sbi->ops.event_ctrs(sbi, cfg);
}
