/* SPDX-License-Identifier: GPL-2.0 */
/* Which event gets which counter, and how many identical events a hart may have. */
#ifndef _RISCV_PMU_ASSIGN_H
#define _RISCV_PMU_ASSIGN_H

#include "pmu.h"

void riscv_pmu_assignment_add(struct riscv_pmu_assignment *assign, unsigned int ctr,
			      const struct riscv_pmu_request *req);
void riscv_pmu_assignment_move(struct riscv_pmu_assignment *assign, unsigned int from,
			       unsigned int to);
int riscv_pmu_event_assign(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   struct riscv_pmu_event *ev);
void riscv_pmu_event_exclude_ctr(struct riscv_pmu_event *ev, unsigned int ctr);

/*
 * At most this many identical events (same config) run on a hart at a time; further ones are
 * multiplexed. They could all share a counter, but there are two reasons for a limit:
 * - LTP's perf_event_open02 and PAPI find the number of counters by opening the same event until
 *   one is multiplexed.
 * - A search compares the event with each identical one, while the run queue is locked.
 *
 * Another user's events hardly affect a CPU-wide monitor of the same event: perf adds pinned
 * CPU-wide events first, then pinned ones of the task, other CPU-wide ones, and the task's others.
 * Only 64 pinned events of a task can make a monitor that is not pinned wait while the task runs.
 * That is no new power: with any driver, a task can pin an event to each counter.
 */
#define RISCV_PMU_MAX_IDENTICAL	64

#endif /* _RISCV_PMU_ASSIGN_H */
