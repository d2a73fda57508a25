// SPDX-License-Identifier: GPL-2.0
/* Counters that the firmware counts in software (SBI 3.0, 11.2.5), read by a call. */

#include "call.h"
#include "sbi.h"

/* On RV32 the high half can be read since SBI 2.0. */
void riscv_pmu_sbi_fw_add(struct riscv_pmu *pmu, unsigned int ctr)
{
	bool has_high = IS_ENABLED(CONFIG_64BIT) || sbi_spec_version >= sbi_mk_version(2, 0);

	pmu->ctrs |= BIT_ULL(ctr);
	pmu->fw_ctrs |= BIT_ULL(ctr);
	pmu->ctr[ctr].width = has_high ? 64 : 32;
}

/*
 * As &riscv_pmu_ops.read_ctr; 0 if the call fails. On RV32 a call of SBI 2.0 reads the high half.
 * If the low half has wrapped in between, the high half is read again.
 */
u64 riscv_pmu_sbi_fw_read(struct riscv_pmu *pmu, unsigned int ctr)
{
	struct sbiret low, high, again;

	low = riscv_pmu_sbi_pmu(SBI_EXT_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0);
	if (low.error)
		return 0;
	if (IS_ENABLED(CONFIG_64BIT))
		return low.value;

	high = riscv_pmu_sbi_pmu(SBI_EXT_PMU_COUNTER_FW_READ_HI, ctr, 0, 0, 0, 0);
	if (high.error)
		return (u32)low.value;
	again = riscv_pmu_sbi_pmu(SBI_EXT_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0);
	if ((u32)again.value < (u32)low.value)
		high = riscv_pmu_sbi_pmu(SBI_EXT_PMU_COUNTER_FW_READ_HI, ctr, 0, 0, 0, 0);

	return (u64)(u32)high.value << 32 | (u32)again.value;
}
