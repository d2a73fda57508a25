/* SPDX-License-Identifier: GPL-2.0 */
/* Event-based branches (EBBs): a counter's overflow calls a function of user space. */
#ifndef _RISCV_PMU_EBB_H
#define _RISCV_PMU_EBB_H

#include <linux/perf_event.h>

#include "../pmu.h"

#ifdef CONFIG_RISCV_PMU_EBB

#include <linux/perf/riscv_ebb.h>
#include <linux/thread_info.h>

void riscv_pmu_ebb_note(struct riscv_pmu_event *ev);
int riscv_pmu_ebb_check(const struct perf_event *event);

/* Whether an event's overflows cause event-based branches, instead of samples */
static inline bool riscv_pmu_event_has_ebb(const struct riscv_pmu_event *ev)
{
	return ev->flags & RISCV_PMU_EV_EBB;
}

/* An overflow interrupt begins. */
static inline void riscv_pmu_ebb_begin_irq(struct riscv_pmu_hart *hart)
{
	hart->irq.ebb_taken = false;
}

/* Whether this overflow interrupt has caused an event-based branch */
static inline bool riscv_pmu_ebb_was_taken(const struct riscv_pmu_hart *hart)
{
	return hart->irq.ebb_taken;
}

/* Whether the current task has a branch to take before it returns to user mode */
static inline bool riscv_pmu_ebb_is_pending(void)
{
	return test_thread_flag(TIF_RISCV_EBB);
}

#else

static inline int riscv_pmu_ebb_check(const struct perf_event *event) { return 0; }
static inline bool riscv_pmu_event_has_ebb(const struct riscv_pmu_event *ev) { return false; }
static inline bool riscv_pmu_ebb_was_taken(const struct riscv_pmu_hart *hart) { return false; }
static inline bool riscv_pmu_ebb_is_pending(void) { return false; }
static inline void riscv_pmu_ebb_note(struct riscv_pmu_event *ev) { }
static inline void riscv_pmu_ebb_begin_irq(struct riscv_pmu_hart *hart) { }

#endif /* CONFIG_RISCV_PMU_EBB */

/* Called only for events for which riscv_pmu_event_has_ebb() returns true. */
bool riscv_pmu_ebb_is_alone(const struct riscv_pmu_hart *hart);
bool riscv_pmu_ebb_start(struct perf_event *event);
void riscv_pmu_ebb_handle_overflow(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev);

#endif /* _RISCV_PMU_EBB_H */
