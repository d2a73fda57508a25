/* SPDX-License-Identifier: GPL-2.0 */
/* Access to the CSRs of branch records (Smctr and Ssctr). */
#ifndef _RISCV_PMU_CSR_BRANCH_H
#define _RISCV_PMU_CSR_BRANCH_H

#include <linux/types.h>

#include <asm/csr.h>
#include <asm/pmu_csr.h>

#include "../backend.h"
#include "../csr.h"

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

void riscv_pmu_csr_branch_hide(void);
void riscv_pmu_csr_branch_show(void);
unsigned int riscv_pmu_csr_branch_probe(struct riscv_pmu_branch_caps *caps, unsigned int depth);
int riscv_pmu_csr_branch_reset(unsigned int depth);
void riscv_pmu_csr_branch_note_guest_access(void);
void riscv_pmu_csr_branch_clear_for_guests(void);

/*
 * The functions below are inline, because with calls a sample of 32 records would take a fifth more
 * instructions. In a kernel with the KUnit tests they are not, so that tests can replace them.
 */

/**
 * __riscv_pmu_csr_branch_clear() - make all records of this hart invalid
 *
 * Context: interrupts off.
 */
static __always_inline void __riscv_pmu_csr_branch_clear(void)
{
	asm volatile(RISCV_PMU_INSN_SCTRCLR ::: "memory");
}

/**
 * __riscv_pmu_csr_branch_write_ctl() - set what this hart records
 * @ctl:	PMU_SCTRCTL_* bits; 0: nothing
 *
 * sctrctl has no upper half on RV32, where this driver does not use it.
 *
 * Context: interrupts off.
 */
static __always_inline void __riscv_pmu_csr_branch_write_ctl(u64 ctl)
{
	csr_write(PMU_CSR_SCTRCTL, (unsigned long)ctl);
}

/**
 * __riscv_pmu_csr_branch_status() - read the place of the next record, and if all are frozen
 *
 * Context: interrupts off.
 * Return: PMU_SCTRSTATUS_* fields.
 */
static __always_inline unsigned long __riscv_pmu_csr_branch_status(void)
{
	return csr_read(PMU_CSR_SCTRSTATUS);
}

/**
 * __riscv_pmu_csr_branch_write_status() - set where the next record goes; freeze or unfreeze
 * @status:	PMU_SCTRSTATUS_* fields
 *
 * Context: interrupts off.
 */
static __always_inline void __riscv_pmu_csr_branch_write_status(unsigned long status)
{
	csr_write(PMU_CSR_SCTRSTATUS, status);
}

/**
 * __riscv_pmu_csr_branch_begin() - begin to access records
 *
 * The AIA interrupt controller's driver uses siselect, too, see riscv_pmu_csr_select().
 *
 * Context: interrupts off.
 * Return: the value of siselect, for riscv_pmu_csr_branch_end().
 */
static __always_inline unsigned long __riscv_pmu_csr_branch_begin(void)
{
	return csr_read(CSR_SISELECT);
}

/**
 * __riscv_pmu_csr_branch_end() - end an access to records
 * @select:	what riscv_pmu_csr_branch_begin() has returned
 *
 * Context: interrupts off.
 */
static __always_inline void __riscv_pmu_csr_branch_end(unsigned long select)
{
	csr_write(CSR_SISELECT, select);
}

/**
 * __riscv_pmu_csr_branch_source() - select a record, and read its source
 * @n:		number of the record, 0 is the newest
 *
 * This and the following functions may be used between riscv_pmu_csr_branch_begin() and
 * riscv_pmu_csr_branch_end().
 *
 * Context: interrupts off.
 * Return: the address of the branch, with PMU_BRANCH_VALID; 0: there are no more records.
 */
static __always_inline u64 __riscv_pmu_csr_branch_source(unsigned long n)
{
	csr_write(CSR_SISELECT, PMU_ISELECT_BRANCH + n);
	return csr_read(CSR_SIREG);
}

/**
 * __riscv_pmu_csr_branch_target() - read the target of the selected record
 *
 * Context: interrupts off.
 * Return: the address, with PMU_BRANCH_MISPREDICTED.
 */
static __always_inline u64 __riscv_pmu_csr_branch_target(void)
{
	return csr_read(PMU_CSR_SIREG2);
}

/**
 * __riscv_pmu_csr_branch_data() - read the data of the selected record
 *
 * Context: interrupts off.
 * Return: PMU_BRANCH_TYPE and PMU_BRANCH_CYCLES_* fields.
 */
static __always_inline u64 __riscv_pmu_csr_branch_data(void)
{
	return csr_read(PMU_CSR_SIREG3);
}

/**
 * __riscv_pmu_csr_branch_write() - write a record
 * @n:		number of the record, 0 is the newest
 * @record:	its new value
 *
 * Context: interrupts off; recording is off.
 */
static __always_inline void
__riscv_pmu_csr_branch_write(unsigned long n, const struct riscv_pmu_branch_record *record)
{
	csr_write(CSR_SISELECT, PMU_ISELECT_BRANCH + n);
	csr_write(CSR_SIREG, (unsigned long)record->source);
	csr_write(PMU_CSR_SIREG2, (unsigned long)record->target);
	csr_write(PMU_CSR_SIREG3, (unsigned long)record->data);
}

#ifdef CONFIG_RISCV_PMU_KUNIT_TEST
void riscv_pmu_csr_branch_clear(void);
void riscv_pmu_csr_branch_write_ctl(u64 ctl);
unsigned long riscv_pmu_csr_branch_status(void);
void riscv_pmu_csr_branch_write_status(unsigned long status);
unsigned long riscv_pmu_csr_branch_begin(void);
void riscv_pmu_csr_branch_end(unsigned long select);
u64 riscv_pmu_csr_branch_source(unsigned long n);
u64 riscv_pmu_csr_branch_target(void);
u64 riscv_pmu_csr_branch_data(void);
void riscv_pmu_csr_branch_write(unsigned long n, const struct riscv_pmu_branch_record *record);
#else
#define riscv_pmu_csr_branch_clear		__riscv_pmu_csr_branch_clear
#define riscv_pmu_csr_branch_write_ctl		__riscv_pmu_csr_branch_write_ctl
#define riscv_pmu_csr_branch_status		__riscv_pmu_csr_branch_status
#define riscv_pmu_csr_branch_write_status	__riscv_pmu_csr_branch_write_status
#define riscv_pmu_csr_branch_begin		__riscv_pmu_csr_branch_begin
#define riscv_pmu_csr_branch_end		__riscv_pmu_csr_branch_end
#define riscv_pmu_csr_branch_source		__riscv_pmu_csr_branch_source
#define riscv_pmu_csr_branch_target		__riscv_pmu_csr_branch_target
#define riscv_pmu_csr_branch_data		__riscv_pmu_csr_branch_data
#define riscv_pmu_csr_branch_write		__riscv_pmu_csr_branch_write
#endif

#endif /* _RISCV_PMU_CSR_BRANCH_H */
