/* SPDX-License-Identifier: GPL-2.0 */
/* The timer that checks the overflow points of polled events, and reads narrow counters. */
#ifndef _RISCV_PMU_POLL_TIMER_H
#define _RISCV_PMU_POLL_TIMER_H

#include "pmu.h"

#define RISCV_PMU_POLL_NEVER	U64_MAX

void riscv_pmu_event_measure_rate(struct riscv_pmu_event *ev, u64 count, u64 now);
u64 riscv_pmu_poll_clock(void);
u64 riscv_pmu_poll_wait(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now);
void riscv_pmu_poll_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

/* Counters in use whose wraps only a poll detects. */
static inline u64 riscv_pmu_poll_narrow_ctrs(const struct riscv_pmu *pmu,
					     const struct riscv_pmu_hart *hart)
{
	return pmu->poll_ctrs & hart->hw.running & hart->wanted.sched.used;
}

/* Whether the timer checks the overflow point of an attached event now. */
static inline bool riscv_pmu_event_is_polled(const struct riscv_pmu_event *ev)
{
	return ev->flags & RISCV_PMU_EV_POLLED && ev->state == RISCV_PMU_EVENT_ACTIVE;
}

#endif /* _RISCV_PMU_POLL_TIMER_H */
