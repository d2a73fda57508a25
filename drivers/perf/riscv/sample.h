/* SPDX-License-Identifier: GPL-2.0 */
/* The overflow of an event. */
#ifndef _RISCV_PMU_SAMPLE_H
#define _RISCV_PMU_SAMPLE_H

#include "pmu.h"

struct pt_regs;

void riscv_pmu_event_handle_overflow(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				     struct riscv_pmu_event *ev, struct pt_regs *regs);
void riscv_pmu_event_pause_group(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				 struct riscv_pmu_event *ev);

#endif /* _RISCV_PMU_SAMPLE_H */
