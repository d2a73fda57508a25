/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SBI PMU batch extension: stop, program, load and start any number of a
 * hart's counters by one call. Section numbers are those of its specification,
 * sbi-pmu-batch.rst.
 */
#ifndef __SBI_PMU_BATCH_H__
#define __SBI_PMU_BATCH_H__

#include <sbi/sbi_types.h>
#include <sbi/sbi_pmu_batch_interface.h>

/**
 * Check whether this platform can have the extension (section 11): mcountinhibit
 * exists, and no platform code has to be called when a counter starts or stops
 */
bool sbi_pmu_batch_supported(void);

/**
 * Set the page that this hart shares with its domain's supervisor (section 5)
 *
 * @param lo lower XLEN bits of the physical address, or all ones
 * @param hi upper XLEN bits of the physical address, or all ones
 * @param flags must be zero
 *
 * @return 0 on success and an SBI error on failure, which keeps the former page
 */
int sbi_pmu_batch_set_shmem(unsigned long lo, unsigned long hi, unsigned long flags);

/**
 * Stop, program, load and start counters of this hart (section 6)
 *
 * @param stop counters to stop
 * @param program counters to program, from their slots
 * @param start counters to start
 *
 * @return 0 on success, SBI_EFAIL if the page's failed mask is not zero,
 *	   SBI_EINVALID_ADDR if an access to the page faulted, and another SBI
 *	   error if nothing was done
 */
int sbi_pmu_batch_apply(u64 stop, u64 program, u64 start);

/**
 * Write to the page which counters can count an event (section 7)
 *
 * @return 0 on success and an SBI error on failure
 */
int sbi_pmu_batch_resolve(unsigned long event_idx, u64 event_data);

/**
 * Map events for which the platform has no map (section 8)
 *
 * @param slots those of the page to map, each with one event
 *
 * @return 0 on success, SBI_EFAIL if the page's failed mask is not zero,
 *	   SBI_EINVALID_ADDR if an access to the page faulted, and another SBI
 *	   error if nothing was done
 */
int sbi_pmu_batch_map_events(u64 slots);

#ifdef CONFIG_SBI_ECALL_PMU_BATCH
/**
 * Forget the pages of this hart, those of all domains: it was started, is about to
 * stop, or has lost its counters in a non-retentive suspend (section 5)
 */
void sbi_pmu_batch_reset(void);
#else
static inline void sbi_pmu_batch_reset(void) { }
#endif

#endif
