/* SPDX-License-Identifier: BSD-2-Clause */
/* The shared page of the batch extension, for its cases. */
#ifndef SBI_CONFORMANCE_BATCH_H
#define SBI_CONFORMANCE_BATCH_H

#include "pmu.h"

/* Not zero, and not the result of any call. */
#define MARK	0x5a5a5a5aa5a5a5a5ULL
/* No counter reaches this from a small value, and all counters are wide enough for it. */
#define FAR_VALUE	0x60000000ULL

static inline volatile struct sbi_pmu_batch_shmem *batch_page(void)
{
	return (volatile struct sbi_pmu_batch_shmem *)BATCH_SHARED;
}

static inline volatile struct sbi_pmu_batch_slot *slot(u64 ctr)
{
	return &batch_page()->slot[ctr];
}

/* Clears the page and sets it. */
bool batch_page_set(void);
bool batch_page_is_in_use(void);
/* Fills the page with MARK; counts the words that have another value. */
void batch_page_mark(void);
u64 batch_page_changes(void);
/* Sets the event and the value in the slot of CTR. */
void slot_set(u64 ctr, ulong event, u64 value);
/* Programs a counter with EVENT, loads VALUE and starts it by one APPLY; returns it. */
u64 batch_start(ulong event, u64 value);
/* A programmable counter for EVENT, by RESOLVE, or ALL_ONES if there is none. */
u64 batch_ctr(ulong event);
/* A counter for EVENT other than CTR. */
u64 batch_ctr_beside(u64 ctr, ulong event);

#ifdef SBI_MODEL
/* Records reads of this page from now on. */
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

/* Without filters OpenSBI counts these only with cycle and instret. */
bool has_fixed_counter_only(ulong event);

#endif
