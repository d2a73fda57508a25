/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deferred messages, for code that may run with the lock of the run queue held. A console must
 * not be called then, because it may wake a task, and that takes the same lock.
 */
#ifndef _RISCV_PMU_PRINT_H
#define _RISCV_PMU_PRINT_H

#include <linux/printk.h>

#define riscv_pmu_warn_fmt(fmt)	KERN_WARNING pr_fmt(fmt)

#define riscv_pmu_warn(fmt, ...)					\
	printk_deferred(riscv_pmu_warn_fmt(fmt), ##__VA_ARGS__)
#define riscv_pmu_warn_once(fmt, ...)					\
	printk_deferred_once(riscv_pmu_warn_fmt(fmt), ##__VA_ARGS__)

#endif /* _RISCV_PMU_PRINT_H */
