/* SPDX-License-Identifier: GPL-2.0 */
/* Which event gets which counter, and how many identical events a hart may have. */
#ifndef _RISCV_PMU_ASSIGN_H
#define _RISCV_PMU_ASSIGN_H

#include <linux/jiffies.h>

#include "pmu.h"

int riscv_pmu_event_assign(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   struct riscv_pmu_event *ev);

/*
 * At most this many identical events (same config) run on a hart at a time; further ones are
 * multiplexed. They could all share a counter, but there are two reasons for a limit:
 * - LTP's perf_event_open02 and PAPI find the number of counters by opening the same event again
 *   and again until one is multiplexed.
 * - A search compares the event with each identical one, while the run queue is locked.
 * 64 pinned events of a task can make an unpinned CPU-wide event with the same config wait, but not
 * a pinned one, because perf adds pinned CPU-wide events first. That is no new power: with any
 * driver, a task can pin an event to each counter.
 */
#define RISCV_PMU_MAX_IDENTICAL	64

/* Notes that one more event uses a counter, which is free, or in use for the same config. */
static inline void riscv_pmu_assignment_add(struct riscv_pmu_assignment *assign, unsigned int ctr,
					    const struct riscv_pmu_config *cfg, u64 may)
{
	struct riscv_pmu_sched *sched = &assign->sched;

	sched->may[ctr] = sched->used & BIT_ULL(ctr) ? sched->may[ctr] & may : may;
	sched->used |= BIT_ULL(ctr);
	assign->cfg[ctr] = *cfg;
}

/* Notes that a config moves to another counter, which is free, or in use for the same config. */
static inline void riscv_pmu_assignment_move(struct riscv_pmu_assignment *assign,
					     unsigned int from, unsigned int to)
{
	riscv_pmu_assignment_add(assign, to, &assign->cfg[from], assign->sched.may[from]);
	assign->sched.used &= ~BIT_ULL(from);
}

/* Notes a refusal. If all counters have refused, they are tried on another hart or in 100 ms. */
static inline void riscv_pmu_event_exclude_ctr(struct riscv_pmu_event *ev, unsigned int ctr)
{
	ev->accepted &= ~BIT_ULL(ctr);
	ev->candidates &= ~BIT_ULL(ctr);
	ev->retry = jiffies + max(HZ / 10, 1);
}

#endif /* _RISCV_PMU_ASSIGN_H */
