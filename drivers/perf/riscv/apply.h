/* SPDX-License-Identifier: GPL-2.0 */
/* Programs the hardware as wanted, stops and pauses counters, and checks the state. */
#ifndef _RISCV_PMU_APPLY_H
#define _RISCV_PMU_APPLY_H

#include "pmu.h"

int riscv_pmu_hart_validate(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_event *ev);
u64 riscv_pmu_hart_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
int riscv_pmu_hart_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
			  u64 value);
u64 riscv_pmu_hart_unused(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart);
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_pause(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_resume_idle(struct riscv_pmu_hart *hart);
void riscv_pmu_hart_release_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_save(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

#ifdef CONFIG_RISCV_PMU_DEBUG
void riscv_pmu_hart_check(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart);
#else
static inline void riscv_pmu_hart_check(const struct riscv_pmu *pmu,
					const struct riscv_pmu_hart *hart) { }
#endif

#endif /* _RISCV_PMU_APPLY_H */
