/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of branch/ share. */
#ifndef _RISCV_PMU_BRANCH_STATE_H
#define _RISCV_PMU_BRANCH_STATE_H

#include "branch.h"

/* The call stack of a task that is not running */
struct riscv_pmu_branch_ctx {
	/*
	 * How often the task had been switched out when this was saved: if that has changed, the
	 * task has run without being recorded, and the call stack is stale.
	 */
	u64	switches;
	u64	status;		/* sctrstatus.WRPTR */
	u64	nr;		/* number of records */
	struct riscv_pmu_branch_record records[];	/* the newest first */
};

/*
 * Whether a hart can record for both. A call stack cannot be recorded together with other branches,
 * and without types in the records all events have to want the same types.
 */
static inline bool riscv_pmu_branch_can_combine(const struct riscv_pmu *pmu, u64 ctl, u64 other)
{
	u64 differs = ctl ^ other;

	if (differs & RISCV_PMU_BRANCH_INH && !pmu->branch.has_types)
		return false;

	return !(differs & PMU_SCTRCTL_RASEMU);
}

/* branch.c */
void riscv_pmu_branch_use_sched_task(struct pmu *pmu, bool watch);
void riscv_pmu_branch_switch(struct perf_event_pmu_context *pmu_ctx, bool sched_in);

/* sample.c */
void riscv_pmu_branch_set_read_flags(const struct riscv_pmu_branch_caps *caps,
				     struct riscv_pmu_event *ev);

#endif /* _RISCV_PMU_BRANCH_STATE_H */
