/* SPDX-License-Identifier: GPL-2.0 */
/* Messages with the lock of the run queue held: a console could wake a task, which takes it too. */
#ifndef _RISCV_PMU_PRINT_H
#define _RISCV_PMU_PRINT_H

#include <linux/printk.h>

#define riscv_pmu_warn_fmt(fmt)	KERN_WARNING pr_fmt(fmt)

#define riscv_pmu_warn(fmt, ...) printk_deferred(riscv_pmu_warn_fmt(fmt), ##__VA_ARGS__)
#define riscv_pmu_warn_once(fmt, ...) printk_deferred_once(riscv_pmu_warn_fmt(fmt), ##__VA_ARGS__)

#endif /* _RISCV_PMU_PRINT_H */
