/* SPDX-License-Identifier: GPL-2.0 */
/* Programs the hardware as wanted, stops and releases unused counters, and checks the state. */
#ifndef _RISCV_PMU_APPLY_H
#define _RISCV_PMU_APPLY_H

#include "pmu.h"
#include "trace.h"

int riscv_pmu_hart_validate(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_event *ev);
u64 riscv_pmu_hart_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
int riscv_pmu_hart_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
			  u64 value);
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_release_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_check(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart);

/*
 * Running counters that no event uses, without firmware counters and free-running counters: these
 * cost nothing, or cannot be stopped. Of another hart, the answer may be out of date.
 */
static inline u64 riscv_pmu_hart_unused(const struct riscv_pmu *pmu,
					const struct riscv_pmu_hart *hart)
{
	return READ_ONCE(hart->hw.running) & ~READ_ONCE(hart->wanted.sched.used) &
	       ~(pmu->fw_ctrs | pmu->free_running_ctrs);
}

/* Ends a batch that was carried out, and empties it. Returns the counters that have failed. */
static __always_inline u64 riscv_pmu_batch_end(struct riscv_pmu_hart *hart)
{
	u64 failed;

	hart->stats.batches++;
	trace_apply(&hart->batch);
	failed = hart->batch.failed;
	hart->batch.stop = 0;
	hart->batch.release = 0;
	hart->batch.program = 0;
	hart->batch.start = 0;
	hart->batch.load = 0;
	hart->batch.failed = 0;
	return failed;
}

static __always_inline u64 riscv_pmu_batch_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	pmu->ops.apply(pmu, &hart->batch);
	return riscv_pmu_batch_end(hart);
}

#endif /* _RISCV_PMU_APPLY_H */
