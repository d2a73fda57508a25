/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The SBI PMU batch extension: function IDs and the layout of the shared page, for
 * kernel and firmware. Its specification is sbi-pmu-batch.rst of the riscv-pmu project
 * (Documentation/arch/riscv/ in the kernel); section numbers are that document's.
 *
 * The file that includes this one has to define u32 and u64.
 */
#ifndef _ASM_RISCV_SBI_PMU_BATCH_H
#define _ASM_RISCV_SBI_PMU_BATCH_H

/* An ID of the experimental range, 0x08000000 to 0x08FFFFFF. */
#define SBI_EXT_PMU_BATCH		0x08504D55

#define SBI_PMU_BATCH_GET_VERSION	0
#define SBI_PMU_BATCH_SET_SHMEM		1
#define SBI_PMU_BATCH_APPLY		2
#define SBI_PMU_BATCH_RESOLVE		3
#define SBI_PMU_BATCH_MAP_EVENTS	4

/* The result of GET_VERSION. Versions whose major number is 0 are drafts (section 4). */
#define SBI_PMU_BATCH_VERSION(major, minor)	((major) << 16 | (minor))
#define SBI_PMU_BATCH_VERSION_0_9		SBI_PMU_BATCH_VERSION(0, 9)
/* The same with MAP_EVENTS */
#define SBI_PMU_BATCH_VERSION_0_10		SBI_PMU_BATCH_VERSION(0, 10)

#define SBI_PMU_BATCH_SHMEM_SIZE	4096
#define SBI_PMU_BATCH_SHMEM_DISABLE	(~0UL)
#define SBI_PMU_BATCH_NR_CTRS		64

/* The event_idx of a counter that is to have no event. */
#define SBI_PMU_BATCH_NO_EVENT		0

/**
 * struct sbi_pmu_batch_slot - the configuration of one counter; for MAP_EVENTS, one event
 * @value:	initial value. MAP_EVENTS: the selector
 * @event_data:	as for COUNTER_CONFIG_MATCHING. MAP_EVENTS: the mask of raw events
 * @event_idx:	as for COUNTER_CONFIG_MATCHING, or SBI_PMU_BATCH_NO_EVENT
 * @flags:	SBI_PMU_CFG_FLAG_SET_VUINH, SET_VSINH, SET_UINH and SET_SINH; the
 *		implementation ignores other bits. MAP_EVENTS: counters that can count the event
 * @reserved:	not accessed
 */
struct sbi_pmu_batch_slot {
	u64	value;
	u64	event_data;
	u32	event_idx;
	u32	flags;
	u64	reserved;
};

/**
 * struct sbi_pmu_batch_shmem - the page that a hart shares with its firmware (section 3)
 * @load:	in, APPLY: counters to load from slot[].value before they start
 * @failed:	out, APPLY: counters that could not be programmed, loaded or started;
 *		MAP_EVENTS: slots whose events were not added to the map
 * @ctrs:	out, RESOLVE: counters that can count the event
 * @reserved:	not accessed
 * @slot:	in, APPLY: configurations, by counter index; MAP_EVENTS: events
 * @unused:	not accessed
 */
struct sbi_pmu_batch_shmem {
	u64	load;
	u64	failed;
	u64	ctrs;
	u64	reserved[5];
	struct sbi_pmu_batch_slot slot[SBI_PMU_BATCH_NR_CTRS];
	u64	unused[248];
};

#endif /* _ASM_RISCV_SBI_PMU_BATCH_H */
