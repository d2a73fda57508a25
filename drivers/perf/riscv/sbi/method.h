/* SPDX-License-Identifier: GPL-2.0 */
/* The SBI methods, which apply a batch by different calls: plain, snapshot and batch. */
#ifndef _RISCV_PMU_SBI_METHOD_H
#define _RISCV_PMU_SBI_METHOD_H

#include <linux/bitfield.h>

#include <asm/sbi.h>

#include "../backend.h"

/* An SBI method: a way to apply a batch. Only @name, @apply and @reload are not optional. */
struct riscv_pmu_sbi_method {
	const char *name;	/* in riscv_pmu.sbi= and in the boot message */
	/* Process context; allocates the memory of all harts. -ENODEV: not supported */
	int (*probe)(struct riscv_pmu *pmu);
	/* Prepare this hart's firmware for @apply; if it fails, plain calls are used. IRQs off */
	int (*hart_start)(void);
	void (*hart_stop)(void);
	/* As those of struct riscv_pmu_ops */
	int (*apply)(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch);
	int (*reload)(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was);
	/*
	 * Get from the firmware the counters that can hold an event, in use or not; 0 if there are
	 * none, or if it does not know those of any event. An errno if it does not know those of
	 * this event. Process context
	 */
	int (*event_ctrs)(u32 event_idx, u64 event_data, u64 *ctrs);
	/*
	 * Give the firmware an event for which it has no map, and the counters that can hold it.
	 * -EIO: the firmware refuses it. Another errno: it takes none. Process context
	 */
	int (*map_event)(const struct riscv_pmu_selector *event, u64 ctrs);
	/*
	 * Find out without an overflow CSR which of the given running counters have overflowed, or
	 * may have. They keep running. IRQs off
	 */
	u64 (*overflowed)(u64 ctrs);
};

extern const struct riscv_pmu_sbi_method riscv_pmu_sbi_plain_method;
extern const struct riscv_pmu_sbi_method riscv_pmu_sbi_snapshot_method;
extern const struct riscv_pmu_sbi_method riscv_pmu_sbi_batch_method;

DECLARE_PER_CPU(u64, riscv_pmu_sbi_configs);

/* The filters among the flags of COUNTER_CONFIG_MATCHING, in the order of enum riscv_pmu_inh. */
#define SBI_CFG_FLAGS_INH	GENMASK(7, 3)
static_assert(RISCV_PMU_INH_VU << 3 == SBI_PMU_CFG_FLAG_SET_VUINH &&
	      RISCV_PMU_INH_VS << 3 == SBI_PMU_CFG_FLAG_SET_VSINH &&
	      RISCV_PMU_INH_U << 3 == SBI_PMU_CFG_FLAG_SET_UINH &&
	      RISCV_PMU_INH_S << 3 == SBI_PMU_CFG_FLAG_SET_SINH &&
	      RISCV_PMU_INH_M << 3 == SBI_PMU_CFG_FLAG_SET_MINH);

static inline unsigned long riscv_pmu_sbi_inh_to_flags(u32 inh)
{
	return FIELD_PREP(SBI_CFG_FLAGS_INH, inh);
}

/* Applies a batch to some of its counters. The core needs its masks unchanged. */
static inline int
riscv_pmu_sbi_apply_some(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch, u64 ctrs,
			 int (*apply)(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch))
{
	const u64 stop = batch->stop, release = batch->release, program = batch->program;
	const u64 start = batch->start, load = batch->load;
	int err;

	batch->stop &= ctrs;
	batch->release &= ctrs;
	batch->program &= ctrs;
	batch->start &= ctrs;
	batch->load &= ctrs;
	err = apply(pmu, batch);
	batch->stop = stop;
	batch->release = release;
	batch->program = program;
	batch->start = start;
	batch->load = load;
	return err;
}

int riscv_pmu_sbi_plain_prepare(const struct riscv_pmu *pmu, struct riscv_pmu_batch *batch);
int riscv_pmu_sbi_plain_start(struct riscv_pmu_batch *batch, u64 load);
int riscv_pmu_sbi_plain_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch);
int riscv_pmu_sbi_plain_reload(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was);

#endif /* _RISCV_PMU_SBI_METHOD_H */
