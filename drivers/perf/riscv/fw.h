/* SPDX-License-Identifier: GPL-2.0 */
/* Firmware events, and the PMU sbi_fw that has them by name. */
#ifndef _RISCV_PMU_FW_H
#define _RISCV_PMU_FW_H

#include "backend.h"
#include "event_idx.h"

#define RISCV_PMU_EVENT_FW(code)	RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_FW, (code))

/* Without CONFIG_RISCV_PMU_FW there are no firmware events. */
#ifdef CONFIG_RISCV_PMU_FW
int riscv_pmu_fw_parse(u64 config, struct riscv_pmu_config *cfg);
bool riscv_pmu_fw_is_unfilterable(const struct riscv_pmu *pmu, u32 event_idx, u32 inh);
void riscv_pmu_fw_init(void);
#else
static inline int riscv_pmu_fw_parse(u64 config, struct riscv_pmu_config *cfg)
{
	return -ENOENT;
}

static inline bool riscv_pmu_fw_is_unfilterable(const struct riscv_pmu *pmu, u32 event_idx, u32 inh)
{
	return false;
}

static inline void riscv_pmu_fw_init(void) { }
#endif

#endif /* _RISCV_PMU_FW_H */
