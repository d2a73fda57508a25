/* SPDX-License-Identifier: GPL-2.0 */
/* The ways in which firmware takes a batch, from call by call to all at once. */
#ifndef _RISCV_PMU_SBI_METHOD_H
#define _RISCV_PMU_SBI_METHOD_H

#include <linux/percpu.h>
#include <linux/perf/riscv_pmu.h>

/**
 * struct riscv_pmu_sbi_method - one way to carry out a batch
 * @name:	what it is called in riscv_pmu.sbi= and at boot
 * @probe:	find out whether the firmware has it, and get what every hart needs
 *		for it. Process context. -ENODEV: it has not
 * @hart_start:	have this hart's firmware ready for @apply. Interrupts off. On an
 *		error the hart's batches are carried out call by call. May be NULL
 * @hart_stop:	undo @hart_start. May be NULL. Interrupts off
 * @apply:	as &riscv_pmu_ops.apply
 * @reload:	as &riscv_pmu_ops.reload
 * @event_ctrs:	which counters can hold an event, in use or not; none of them, if the
 *		firmware says so or can not tell of any event. An errno where it
 *		can not tell of this one. May be NULL. Process context
 * @overflowed:	which of the given counters, all running, have overflowed, where no
 *		CSR tells; one too many is no harm. They run afterwards. May be NULL.
 *		Interrupts off
 */
struct riscv_pmu_sbi_method {
	const char *name;
	int (*probe)(struct riscv_pmu *pmu);
	int (*hart_start)(void);
	void (*hart_stop)(void);
	int (*apply)(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch);
	int (*reload)(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was);
	int (*event_ctrs)(u32 event_idx, u64 event_data, u64 *ctrs);
	u64 (*overflowed)(u64 ctrs);
};

extern const struct riscv_pmu_sbi_method riscv_pmu_sbi_plain_method;
extern const struct riscv_pmu_sbi_method riscv_pmu_sbi_snapshot_method;
extern const struct riscv_pmu_sbi_method riscv_pmu_sbi_batch_method;

DECLARE_PER_CPU(u64, riscv_pmu_sbi_configs);

unsigned long riscv_pmu_sbi_inh_to_flags(u32 inh);
int riscv_pmu_sbi_plain_prepare(struct riscv_pmu_batch *batch);
int riscv_pmu_sbi_plain_start(struct riscv_pmu_batch *batch, u64 load);
int riscv_pmu_sbi_plain_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch);
int riscv_pmu_sbi_plain_reload(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was);

#endif /* _RISCV_PMU_SBI_METHOD_H */
