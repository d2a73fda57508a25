/* SPDX-License-Identifier: BSD-2-Clause */
/* The page that is shared with the batch extension, for its cases and their costs. */
#ifndef SBI_CONFORMANCE_BATCH_H
#define SBI_CONFORMANCE_BATCH_H

#include "pmu.h"

/* Neither a result of any call nor zero. */
#define MARK	0x5a5a5a5aa5a5a5a5ULL
/* No counter that started from little comes as far, and none is too narrow for it. */
#define FAR_VALUE	0x60000000ULL

static inline volatile struct sbi_pmu_batch_shmem *batch_page(void)
{
	return (volatile struct sbi_pmu_batch_shmem *)BATCH_SHARED;
}

static inline volatile struct sbi_pmu_batch_slot *slot(u64 ctr)
{
	return &batch_page()->slot[ctr];
}

/* An empty page, in use. */
bool batch_page_set(void);
bool batch_page_is_in_use(void);
/* MARK in each of its words, and how many are something else. */
void batch_page_mark(void);
u64 batch_page_changes(void);
/* What CTR is to count once it is programmed, and to start from once it is loaded. */
void slot_set(u64 ctr, ulong event, u64 value);
/* A counter programmed with EVENT, loaded with VALUE and started by one APPLY. */
u64 batch_start(ulong event, u64 value);
/* A programmable counter that counts EVENT, by RESOLVE; ALL_ONES where there is none. */
u64 batch_ctr(ulong event);
/* A counter of EVENT that is not CTR. */
u64 batch_ctr_beside(u64 ctr, ulong event);

#ifdef SBI_MODEL
/* From now on reads of this page are noted. */
void memory_watch(u64 page);
bool memory_was_read(u64 offset);
#else
static inline void memory_watch(u64 page)
{
	(void)page;
}

static inline bool memory_was_read(u64 offset)
{
	(void)offset;
	return false;
}
#endif

/* Without filters OpenSBI counts these with cycle and instret, and with nothing else. */
bool has_fixed_counter_only(ulong event);

#endif
