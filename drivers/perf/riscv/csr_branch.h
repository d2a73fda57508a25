/* SPDX-License-Identifier: GPL-2.0 */
/* Access to the CSRs of branch records (Smctr and Ssctr). */
#ifndef _RISCV_PMU_CSR_BRANCH_H
#define _RISCV_PMU_CSR_BRANCH_H

#include <linux/perf/riscv_pmu.h>
#include <linux/types.h>

#include <asm/csr.h>
#include <asm/pmu_csr.h>

#include "csr.h"

/**
 * struct riscv_pmu_branch_record - one record, as the hardware has it
 * @source:	address of the branch, with PMU_BRANCH_VALID
 * @target:	address of its target, with PMU_BRANCH_MISPREDICTED
 * @data:	its type and its cycles
 */
struct riscv_pmu_branch_record {
	u64	source;
	u64	target;
	u64	data;
};

int riscv_pmu_csr_branch_probe(struct riscv_pmu_branch_caps *caps, unsigned int depth);
void riscv_pmu_csr_branch_share(void);
int riscv_pmu_csr_branch_reset(unsigned int depth);
void riscv_pmu_csr_branch_clear(void);
void riscv_pmu_csr_branch_write_ctl(u64 ctl);
unsigned long riscv_pmu_csr_branch_status(void);
void riscv_pmu_csr_branch_write_status(unsigned long status);
void riscv_pmu_csr_branch_write(unsigned int n, const struct riscv_pmu_branch_record *record);

static __always_inline u64 __riscv_pmu_csr_branch_source(unsigned long n)
{
	csr_write(CSR_SISELECT, PMU_ISELECT_BRANCH + n);
	return csr_read(CSR_SIREG);
}

static __always_inline u64 __riscv_pmu_csr_branch_target(void)
{
	return csr_read(PMU_CSR_SIREG2);
}

static __always_inline u64 __riscv_pmu_csr_branch_data(void)
{
	return csr_read(PMU_CSR_SIREG3);
}

#ifdef CONFIG_RISCV_PMU_KUNIT_TEST
/* Not inline, so that tests can replace what they call. */
u64 riscv_pmu_csr_branch_source(unsigned long n);
u64 riscv_pmu_csr_branch_target(void);
u64 riscv_pmu_csr_branch_data(void);

static inline unsigned long riscv_pmu_csr_branch_begin(void)
{
	return riscv_pmu_csr_select(PMU_ISELECT_BRANCH);
}

static inline void riscv_pmu_csr_branch_end(unsigned long select)
{
	riscv_pmu_csr_select(select);
}

static inline void riscv_pmu_csr_branch_unfreeze(void)
{
	riscv_pmu_csr_branch_write_status(riscv_pmu_csr_branch_status() & PMU_SCTRSTATUS_WRPTR);
}
#else
/**
 * riscv_pmu_csr_branch_begin() - begin to access records
 *
 * The AIA interrupt controller's driver uses siselect, too, see riscv_pmu_csr_select().
 *
 * Context: interrupts off.
 * Return: the value of siselect, for riscv_pmu_csr_branch_end().
 */
static __always_inline unsigned long riscv_pmu_csr_branch_begin(void)
{
	return csr_read(CSR_SISELECT);
}

/**
 * riscv_pmu_csr_branch_end() - end an access to records
 * @select:	what riscv_pmu_csr_branch_begin() has returned
 *
 * Context: interrupts off.
 */
static __always_inline void riscv_pmu_csr_branch_end(unsigned long select)
{
	csr_write(CSR_SISELECT, select);
}

/**
 * riscv_pmu_csr_branch_unfreeze() - record again after an overflow interrupt
 *
 * Context: interrupts off.
 */
static __always_inline void riscv_pmu_csr_branch_unfreeze(void)
{
	csr_clear(PMU_CSR_SCTRSTATUS, PMU_SCTRSTATUS_FROZEN);
}

/**
 * riscv_pmu_csr_branch_source() - select a record, and read its source
 * @n:		number of the record, 0 is the newest
 *
 * Between riscv_pmu_csr_branch_begin() and riscv_pmu_csr_branch_end(). Inline, because a call for
 * each of 32 records would make a sample a tenth dearer.
 *
 * Context: interrupts off.
 * Return: the address of the branch, with PMU_BRANCH_VALID; 0: there are no more records.
 */
static __always_inline u64 riscv_pmu_csr_branch_source(unsigned long n)
{
	return __riscv_pmu_csr_branch_source(n);
}

/**
 * riscv_pmu_csr_branch_target() - read the target of the selected record
 *
 * Context: interrupts off.
 * Return: the address, with PMU_BRANCH_MISPREDICTED.
 */
static __always_inline u64 riscv_pmu_csr_branch_target(void)
{
	return __riscv_pmu_csr_branch_target();
}

/**
 * riscv_pmu_csr_branch_data() - read the data of the selected record
 *
 * Context: interrupts off.
 * Return: PMU_BRANCH_TYPE and PMU_BRANCH_CYCLES_* fields.
 */
static __always_inline u64 riscv_pmu_csr_branch_data(void)
{
	return __riscv_pmu_csr_branch_data();
}
#endif

#endif /* _RISCV_PMU_CSR_BRANCH_H */
