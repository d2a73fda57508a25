/* SPDX-License-Identifier: GPL-2.0 */
/* Event-based branches: a counter's overflow calls a function of user space. */
#ifndef _RISCV_PMU_EBB_H
#define _RISCV_PMU_EBB_H

#include "pmu.h"

struct perf_event;

int riscv_pmu_ebb_check(const struct perf_event *event);
bool riscv_pmu_ebb_is_alone(const struct riscv_pmu_hart *hart);
bool riscv_pmu_ebb_start(struct perf_event *event);
bool riscv_pmu_ebb_overflow(struct perf_event *event, u32 now);

#endif /* _RISCV_PMU_EBB_H */
