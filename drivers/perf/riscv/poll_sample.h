/* SPDX-License-Identifier: GPL-2.0 */
/* Polled events: the polling timer samples those that no counter can interrupt for. */
#ifndef _RISCV_PMU_POLL_SAMPLE_H
#define _RISCV_PMU_POLL_SAMPLE_H

#include "pmu.h"

struct pt_regs;

#ifdef CONFIG_RISCV_PMU_POLL

/* poll_sample.c */
bool riscv_pmu_poll_is_wanted(void);

/* poll_wait.c */
void riscv_pmu_event_measure_rate(struct riscv_pmu_event *ev, u64 count, u64 now);

/* Has an event's rate measured from now on: it starts, or moves to another counter. */
static inline void riscv_pmu_event_restart_rate(struct riscv_pmu_event *ev)
{
	ev->poll.ns = 0;
}

/* Whether the timer checks overflow points on a hart */
static inline bool riscv_pmu_hart_has_polled(const struct riscv_pmu_hart *hart)
{
	return hart->poll.events;
}

/* Whether the timer checks the overflow point of an attached event now. */
static inline bool riscv_pmu_event_is_polled(const struct riscv_pmu_event *ev)
{
	return ev->flags & RISCV_PMU_EV_POLLED && ev->state == RISCV_PMU_EVENT_ACTIVE;
}

#else

static inline bool riscv_pmu_poll_is_wanted(void) { return false; }
static inline bool riscv_pmu_hart_has_polled(const struct riscv_pmu_hart *hart) { return false; }
static inline void riscv_pmu_event_restart_rate(struct riscv_pmu_event *ev) { }

#endif /* CONFIG_RISCV_PMU_POLL */

/* Called only for harts with polled events (riscv_pmu_hart_has_polled()). */
void riscv_pmu_poll_sample(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now,
			   struct pt_regs *regs);
u64 riscv_pmu_poll_sample_wait(const struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now);

#endif /* _RISCV_PMU_POLL_SAMPLE_H */
