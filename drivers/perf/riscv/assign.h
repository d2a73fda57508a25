/* SPDX-License-Identifier: GPL-2.0 */
/* Which event gets which counter, and how many events may share one. */
#ifndef _RISCV_PMU_ASSIGN_H
#define _RISCV_PMU_ASSIGN_H

#include <linux/minmax.h>

#include "pmu.h"

int riscv_pmu_assignment_find(const struct riscv_pmu_assignment *assign,
			      const struct riscv_pmu_request *req);
void riscv_pmu_assignment_add(struct riscv_pmu_assignment *assign, unsigned int ctr,
			      const struct riscv_pmu_request *req);
void riscv_pmu_assignment_move(struct riscv_pmu_assignment *assign, unsigned int from,
			       unsigned int to);
int riscv_pmu_event_assign(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   struct riscv_pmu_event *ev);
void riscv_pmu_event_exclude_ctr(struct riscv_pmu_event *ev, unsigned int ctr);

#define RISCV_PMU_MAX_IDENTICAL	16

/**
 * riscv_pmu_max_identical() - the limit on identical events of one opener on a hart
 * @req:	config and constraint of the events
 *
 * All of them could share one counter. But some programs, such as LTP's perf_event_open02,
 * find the number of counters by opening the same event repeatedly until one is multiplexed:
 * without a limit they would not end. perf's metrics, whose groups contain the same event
 * repeatedly, stay below the limit.
 *
 * Return: the number of counters that can hold the event, but at least 16.
 */
static inline unsigned long riscv_pmu_max_identical(const struct riscv_pmu_request *req)
{
	return max_t(unsigned long, hweight64(req->ctrs), RISCV_PMU_MAX_IDENTICAL);
}

/*
 * While so many identical events are attached to a hart, no counter is searched for another one,
 * whoever has opened it. A search compares the event with each of them while the run queue is
 * locked. Any number of processes can open events for one task, so the limit per opener does not
 * bound that time. Only CPU-wide events and those of the running task are attached: 64 are four
 * processes at their limit, or 64 monitors with an event each. A group that was validated fits if
 * no other identical events are attached.
 */
#define RISCV_PMU_MAX_SHARED	64

static_assert(RISCV_PMU_MAX_SHARED >= RISCV_MAX_COUNTERS);

/**
 * riscv_pmu_hart_is_crowded() - whether enough events are attached to reach RISCV_PMU_MAX_SHARED
 * @hart:	this hart
 *
 * Uses the statistics, so that attach and detach need not maintain another counter.
 *
 * Return: true if at least RISCV_PMU_MAX_SHARED events of any config are attached. Then a search
 * should visit as few of them as possible.
 */
static inline bool riscv_pmu_hart_is_crowded(const struct riscv_pmu_hart *hart)
{
	return (u32)hart->stats.attached - (u32)hart->stats.detached >= RISCV_PMU_MAX_SHARED;
}

#endif /* _RISCV_PMU_ASSIGN_H */
