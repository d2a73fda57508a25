/* SPDX-License-Identifier: GPL-2.0 */
/* Split events: two counters sample one event, one in each mode. */
#ifndef _RISCV_PMU_SPLIT_H
#define _RISCV_PMU_SPLIT_H

#include <linux/errno.h>

#include "pmu.h"

#ifdef CONFIG_RISCV_PMU_SPLIT

/* The other part of a split event, or NULL */
static inline struct riscv_pmu_event *riscv_pmu_event_part(const struct riscv_pmu_event *ev)
{
	return ev->split.other;
}

int riscv_pmu_split_create(struct riscv_pmu_event *ev, const struct riscv_pmu_request *req);

#else

static inline struct riscv_pmu_event *riscv_pmu_event_part(const struct riscv_pmu_event *ev)
{
	return NULL;
}

/* event.c splits no event. */
static inline int riscv_pmu_split_create(struct riscv_pmu_event *ev,
					 const struct riscv_pmu_request *req)
{
	return -EOPNOTSUPP;
}

#endif

/* Called only for the parts that riscv_pmu_event_part() returns. */
void riscv_pmu_split_start(struct riscv_pmu_hart *hart, struct riscv_pmu_event *part, bool renew);
bool riscv_pmu_split_set_period(struct riscv_pmu_event *ev);
u64 riscv_pmu_split_period(const struct riscv_pmu_event *ev);

#endif /* _RISCV_PMU_SPLIT_H */
