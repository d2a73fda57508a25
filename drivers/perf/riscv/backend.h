/* SPDX-License-Identifier: GPL-2.0 */
/* The backends' tables, which is all that the core sees of them. */
#ifndef _RISCV_PMU_BACKEND_H
#define _RISCV_PMU_BACKEND_H

#include <linux/perf/riscv_pmu.h>

extern const struct riscv_pmu_ops riscv_pmu_ssccfg_ops;
extern const struct riscv_pmu_ops riscv_pmu_sbi_ops;
extern const struct riscv_pmu_ops riscv_pmu_base_ops;

#endif /* _RISCV_PMU_BACKEND_H */
