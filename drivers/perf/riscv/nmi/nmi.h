/* SPDX-License-Identifier: GPL-2.0 */
/* NMIs: overflows that interrupt code with interrupts off. */
#ifndef _RISCV_PMU_NMI_H
#define _RISCV_PMU_NMI_H

#include <linux/hardirq.h>
#include <linux/types.h>

struct dentry;
struct pt_regs;
struct riscv_pmu;
struct riscv_pmu_hart;
struct task_struct;

#ifdef CONFIG_RISCV_PMU_NMI

#include "sse.h"

/* nmi.c */
void riscv_pmu_nmi_set_guest(struct task_struct *guest);
void riscv_pmu_nmi_count(unsigned int cpu, u64 *nmis, u64 *deferred);

/* hart.c */
void riscv_pmu_nmi_drop_registrations(void);
void riscv_pmu_nmi_probe(struct riscv_pmu *pmu);
void riscv_pmu_nmi_hart_start(struct riscv_pmu_hart *hart);
void riscv_pmu_nmi_hart_stop(struct riscv_pmu_hart *hart);
void riscv_pmu_nmi_hart_suspend(const struct riscv_pmu_hart *hart);
void riscv_pmu_nmi_hart_resume(struct riscv_pmu_hart *hart);

/* Completes the registers that an NMI has interrupted: the firmware has two of them. */
static inline void riscv_pmu_nmi_read_regs(struct pt_regs *regs)
{
	if (in_nmi())
		riscv_pmu_sse_read_regs(regs);
}

#else

static inline void riscv_pmu_nmi_set_guest(struct task_struct *guest) { }
static inline void riscv_pmu_nmi_drop_registrations(void) { }
static inline void riscv_pmu_nmi_probe(struct riscv_pmu *pmu) { }
static inline void riscv_pmu_nmi_hart_start(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_nmi_hart_stop(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_nmi_hart_suspend(const struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_nmi_hart_resume(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_nmi_read_regs(struct pt_regs *regs) { }
static inline void riscv_pmu_nmi_count(unsigned int cpu, u64 *nmis, u64 *deferred) { }

#endif /* CONFIG_RISCV_PMU_NMI */

/* watchdog.c; on RISC-V, only CONFIG_RISCV_PMU_NMI_WATCHDOG offers that detector. */
#ifdef CONFIG_HARDLOCKUP_DETECTOR_PERF
void riscv_pmu_nmi_watchdog_init(void);
#else
static inline void riscv_pmu_nmi_watchdog_init(void) { }
#endif

/* test.c */
#ifdef CONFIG_RISCV_PMU_NMI_TEST
void riscv_pmu_nmi_test_init(struct dentry *dir);
#else
static inline void riscv_pmu_nmi_test_init(struct dentry *dir) { }
#endif

#endif /* _RISCV_PMU_NMI_H */
