/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SBI PMU batch extension: any number of counters in one call. Its
 * specification is sbi-pmu-batch.rst; section numbers are that document's.
 */
#ifndef __SBI_PMU_BATCH_H__
#define __SBI_PMU_BATCH_H__

#include <sbi/riscv_encoding.h>
#include <sbi/sbi_ecall_interface.h>
#include <sbi/sbi_types.h>
#include <sbi/sbi_pmu_batch_interface.h>

struct sbi_scratch;

/**
 * Whether this platform can have the extension: counters that stop, and no
 * device of its own that has to be told of every start.
 */
bool sbi_pmu_batch_supported(void);

/**
 * Share a page with this hart's supervisor (section 5).
 *
 * @param lo, hi physical address, or all ones for none
 * @param flags must be zero
 * @return 0, or an SBI error with the former page kept
 */
int sbi_pmu_batch_set_shmem(unsigned long lo, unsigned long hi, unsigned long flags);

/**
 * Stop, program and start counters of this hart (section 6).
 *
 * @return 0; SBI_EFAIL if some counters are in the page's failed mask; another
 *	   SBI error if nothing was done
 */
int sbi_pmu_batch_apply(u64 stop, u64 program, u64 start);

/**
 * Tell which counters can count an event, and how they are told to (section 7).
 *
 * @return 0 with the answer in the page, or an SBI error
 */
int sbi_pmu_batch_resolve(unsigned long event_idx, u64 event_data);

/** Forget what a hart has shared: it is about to be stopped, or has been started. */
void sbi_pmu_batch_reset(struct sbi_scratch *scratch);

/**
 * Bits of mhpmevent, mcyclecfg and minstretcfg for the filters that were asked
 * for. Machine mode is never counted.
 */
static inline u64 sbi_pmu_batch_flags_to_inh(u32 flags)
{
	/* SET_VUINH .. SET_SINH lie as in mhpmevent, 55 bits lower. */
	return (u64)(flags & (SBI_PMU_CFG_FLAG_SET_VUINH | SBI_PMU_CFG_FLAG_SET_VSINH |
			      SBI_PMU_CFG_FLAG_SET_UINH | SBI_PMU_CFG_FLAG_SET_SINH)) << 55 |
	       MHPMEVENT_MINH;
}

/**
 * Counters that an APPLY must leave alone, for they run: neither their program
 * nor their value may be written then (section 6.3).
 *
 * @param inhibit counters that are stopped, @param stop included
 */
static inline u64 sbi_pmu_batch_running(u64 inhibit, u64 program, u64 load)
{
	return (program | load) & ~inhibit;
}

#endif
