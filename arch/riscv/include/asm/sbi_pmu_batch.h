/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The SBI PMU batch extension: function numbers and shared memory, for kernel
 * and firmware. Documentation/arch/riscv/sbi-pmu-batch.rst is the specification;
 * section numbers here are its own.
 *
 * Whoever includes this has u32 and u64.
 */
#ifndef _ASM_RISCV_SBI_PMU_BATCH_H
#define _ASM_RISCV_SBI_PMU_BATCH_H

/* Of the experimental range of extension IDs. */
#define SBI_EXT_PMU_BATCH		0x08504D55

#define SBI_PMU_BATCH_GET_VERSION	0
#define SBI_PMU_BATCH_SET_SHMEM		1
#define SBI_PMU_BATCH_APPLY		2
#define SBI_PMU_BATCH_RESOLVE		3

/* What GET_VERSION answers: incompatible changes in the upper half, additions in the lower. */
#define SBI_PMU_BATCH_VERSION(major, minor)	((major) << 16 | (minor))
#define SBI_PMU_BATCH_VERSION_MAJOR(version)	((version) >> 16)
#define SBI_PMU_BATCH_VERSION_1_0		SBI_PMU_BATCH_VERSION(1, 0)

#define SBI_PMU_BATCH_SHMEM_SIZE	4096
#define SBI_PMU_BATCH_SHMEM_DISABLE	(~0UL)
#define SBI_PMU_BATCH_NR_CTRS		64

/* An event_idx that stands for none: the counter forgets what it counted. */
#define SBI_PMU_BATCH_NO_EVENT		0

/**
 * struct sbi_pmu_batch_slot - what one counter is given, and what it held
 * @value:	in: what it starts from, or what is added to what it holds
 * @saved:	out: what it held once it was stopped
 * @event_data:	in: as in COUNTER_CONFIG_MATCHING
 * @event_idx:	in: as in COUNTER_CONFIG_MATCHING, or SBI_PMU_BATCH_NO_EVENT
 * @flags:	in: SBI_PMU_CFG_FLAG_SET_VUINH .. SET_MINH; all others are ignored
 */
struct sbi_pmu_batch_slot {
	u64	value;
	u64	saved;
	u64	event_data;
	u32	event_idx;
	u32	flags;
};

/**
 * struct sbi_pmu_batch_shmem - the page that a hart shares with its firmware (section 3)
 * @save:	in: those of APPLY's stop_mask whose @saved is wanted
 * @load:	in: those of APPLY's start_mask that start from @value
 * @add:	in: those of @load whose @value is added to what the counter holds
 * @overflowed:	out, by APPLY: counters of @save that had overflowed
 * @failed:	out, by APPLY with SBI_ERR_FAILED: counters that could not be served
 * @ctrs:	out, by RESOLVE: counters that can count the event
 * @selector:	out, by RESOLVE: what their mhpmevent holds for it, without filters
 * @reserved:	zero
 * @slot:	by counter index
 * @unused:	of no meaning
 */
struct sbi_pmu_batch_shmem {
	u64	save;
	u64	load;
	u64	add;
	u64	overflowed;
	u64	failed;
	u64	ctrs;
	u64	selector;
	u64	reserved;
	struct sbi_pmu_batch_slot slot[SBI_PMU_BATCH_NR_CTRS];
	u64	unused[248];
};

#endif /* _ASM_RISCV_SBI_PMU_BATCH_H */
