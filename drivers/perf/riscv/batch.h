/* SPDX-License-Identifier: GPL-2.0 */
/* One batch of stops, configs and starts, which the backend carries out. */
#ifndef _RISCV_PMU_BATCH_H
#define _RISCV_PMU_BATCH_H

#include "pmu.h"
#include "trace.h"

/**
 * riscv_pmu_batch_apply() - hand a hart's batch to the backend
 * @pmu:	the PMU
 * @hart:	this hart
 */
static __always_inline void riscv_pmu_batch_apply(struct riscv_pmu *pmu,
						  struct riscv_pmu_hart *hart)
{
	pmu->ops.apply(pmu, &hart->batch);
	hart->stats.batches++;
	trace_apply(&hart->batch);
}

/**
 * riscv_pmu_batch_clear() - make a batch empty
 * @batch:	the batch
 */
static inline void riscv_pmu_batch_clear(struct riscv_pmu_batch *batch)
{
	batch->stop = 0;
	batch->release = 0;
	batch->program = 0;
	batch->start = 0;
	batch->load = 0;
	batch->failed = 0;
}

/* stop.c */
void riscv_pmu_hart_forget_configs(struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_release(struct riscv_pmu_hart *hart, u64 ctrs);

#endif /* _RISCV_PMU_BATCH_H */
