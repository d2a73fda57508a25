/* SPDX-License-Identifier: GPL-2.0 */
/* What the files that others call (perf, interrupts, timers, CPU hotplug) offer the boot. */
#ifndef _RISCV_PMU_ENTRIES_H
#define _RISCV_PMU_ENTRIES_H

#include "pmu.h"

/* core.c: perf's callbacks, for implementations that replace only some */
extern const struct riscv_pmu_ops riscv_pmu_core_ops;
void riscv_pmu_core_init(struct riscv_pmu *pmu);
int riscv_pmu_event_init(struct perf_event *event);
int riscv_pmu_add(struct perf_event *event, int flags);
void riscv_pmu_del(struct perf_event *event, int flags);
void riscv_pmu_start(struct perf_event *event, int flags);
void riscv_pmu_stop(struct perf_event *event, int flags);
void riscv_pmu_read(struct perf_event *event);
int riscv_pmu_check_period(struct perf_event *event, u64 value);

/* irq.c */
void riscv_pmu_irq_probe(struct riscv_pmu *pmu);
void riscv_pmu_irq_enable(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_irq_disable(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_handle_irq(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			       struct pt_regs *regs);
void riscv_pmu_handle_irq(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			  struct pt_regs *regs, u32 began);

/* poll.c */
void riscv_pmu_poll_probe(struct riscv_pmu *pmu);
void riscv_pmu_poll_hart_start(struct riscv_pmu_hart *hart);
u64 riscv_pmu_hart_poll(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now,
			struct pt_regs *regs);

/* hotplug.c */
const char *riscv_pmu_hotplug_check(struct riscv_pmu *pmu);
void riscv_pmu_hotplug_skip_check(unsigned int cpu);
int riscv_pmu_hotplug_init(void);

/* kvm/guest.c */
void riscv_pmu_guest_invalidate(struct riscv_pmu_hart *hart);

/* debugfs.c */
#ifdef CONFIG_DEBUG_FS
void riscv_pmu_debugfs_init(void);
#else
static inline void riscv_pmu_debugfs_init(void) { }
#endif

/* sysfs.c */
extern const struct attribute_group *riscv_pmu_attr_groups[];

#endif /* _RISCV_PMU_ENTRIES_H */
