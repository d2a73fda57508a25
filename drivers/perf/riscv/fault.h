/* SPDX-License-Identifier: GPL-2.0 */
/* Fault injection for tests (Documentation/fault-injection). */
#ifndef _RISCV_PMU_FAULT_H
#define _RISCV_PMU_FAULT_H

#include <linux/types.h>

#ifdef CONFIG_RISCV_PMU_FAULT_INJECTION
bool riscv_pmu_should_fail(void);
#else
static inline bool riscv_pmu_should_fail(void) { return false; }
#endif

#endif /* _RISCV_PMU_FAULT_H */
