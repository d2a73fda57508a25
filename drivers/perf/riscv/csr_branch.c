// SPDX-License-Identifier: GPL-2.0
/*
 * Access to the CSRs of branch records (Smctr and Ssctr): control, status, depth, and the records
 * themselves, which are read through siselect as delegated counters are (csr.c).
 */

#include <kunit/static_stub.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kconfig.h>
#include <linux/log2.h>

#include <asm/asm-extable.h>

#include "csr_branch.h"

/* SCTRCLR, which assemblers do not know yet */
#define CSR_BRANCH_CLEAR	".4byte 0x10400073"

/* What the driver writes to sctrctl */
#define CSR_BRANCH_CTL									\
	(PMU_SCTRCTL_U | PMU_SCTRCTL_S | PMU_SCTRCTL_RASEMU | PMU_SCTRCTL_LCOFIFRZ |	\
	 GENMASK_ULL(47, 40) | PMU_SCTRCTL_TYPE(PMU_BRANCH_EXCEPTION) |			\
	 PMU_SCTRCTL_TYPE(PMU_BRANCH_INTERRUPT) | PMU_SCTRCTL_TYPE(PMU_BRANCH_TRAP_RETURN) | \
	 PMU_SCTRCTL_TYPE(PMU_BRANCH_TAKEN))

/* sctrctl has no upper half on RV32: the inhibit bits can not be written there. */
static void csr_branch_write_ctl(u64 ctl)
{
	csr_write(PMU_CSR_SCTRCTL, (unsigned long)ctl);
}

/*
 * Writes sctrdepth and sctrctl, and clears and reads a record. Each of these traps if M-mode keeps
 * CTR to itself (Smstateen); then the exception table handles the trap. Only sctrctl may trap
 * under OpenSBI 1.6, and siselect may refuse the records.
 */
static bool csr_branch_is_accessible(unsigned long depth)
{
	unsigned long select = PMU_ISELECT_BRANCH;
	unsigned int ok = 0;

	asm volatile("1: csrrw %1, " __stringify(CSR_SISELECT) ", %1\n"
		     "2: csrw " __stringify(PMU_CSR_SCTRCTL) ", zero\n"
		     "3: csrw " __stringify(PMU_CSR_SCTRDEPTH) ", %2\n"
		     "4: csrr zero, " __stringify(PMU_CSR_SCTRSTATUS) "\n"
		     "5: " CSR_BRANCH_CLEAR "\n"
		     "6: csrr zero, " __stringify(CSR_SIREG) "\n"
		     "7: csrr zero, " __stringify(PMU_CSR_SIREG3) "\n"
		     "	li %0, 1\n"
		     "8: csrw " __stringify(CSR_SISELECT) ", %1\n"
		     "9:\n"
		     _ASM_EXTABLE(1b, 9b)
		     _ASM_EXTABLE(2b, 8b)
		     _ASM_EXTABLE(3b, 8b)
		     _ASM_EXTABLE(4b, 8b)
		     _ASM_EXTABLE(5b, 8b)
		     _ASM_EXTABLE(6b, 8b)
		     _ASM_EXTABLE(7b, 8b)
		     : "+r" (ok), "+r" (select)
		     : "r" (depth));

	return ok;
}

static unsigned int csr_branch_depth(void)
{
	return PMU_SCTRDEPTH_MIN << (csr_read(PMU_CSR_SCTRDEPTH) & 0x7);
}

/* Whether the hardware says which branches were mispredicted: the bit of a target is writable. */
static bool csr_branch_has_misprediction(void)
{
	unsigned long select = csr_swap(CSR_SISELECT, PMU_ISELECT_BRANCH);
	bool has;

	csr_write(PMU_CSR_SIREG2, PMU_BRANCH_MISPREDICTED);
	has = csr_read(PMU_CSR_SIREG2) & PMU_BRANCH_MISPREDICTED;
	csr_write(PMU_CSR_SIREG2, 0);
	csr_write(CSR_SISELECT, select);
	return has;
}

/**
 * riscv_pmu_csr_branch_probe() - find out what this hart can record
 * @caps:	out: &riscv_pmu_branch_caps.depth, ctl and has_misprediction
 * @depth:	the number of records that is wanted, 16 to 256
 *
 * Recording is off on return, and there are no records.
 *
 * Context: interrupts off.
 * Return: 0; -EACCES if M-mode does not let S-mode use CTR.
 */
int riscv_pmu_csr_branch_probe(struct riscv_pmu_branch_caps *caps, unsigned int depth)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_probe, caps, depth);

	if (!csr_branch_is_accessible(ilog2(depth / PMU_SCTRDEPTH_MIN)))
		return -EACCES;

	caps->depth = csr_branch_depth();
	csr_branch_write_ctl(CSR_BRANCH_CTL & ~(PMU_SCTRCTL_U | PMU_SCTRCTL_S));
	caps->ctl = csr_read(PMU_CSR_SCTRCTL) | PMU_SCTRCTL_U | PMU_SCTRCTL_S;
	csr_branch_write_ctl(0);
	caps->ctl &= CSR_BRANCH_CTL;
	caps->has_misprediction = csr_branch_has_misprediction();
	return 0;
}

/**
 * riscv_pmu_csr_branch_reset() - bring this hart's records to a known state: off and empty
 * @depth:	the number of records, as found by riscv_pmu_csr_branch_probe()
 *
 * Context: interrupts off.
 * Return: 0; -EACCES if M-mode does not let this hart use CTR; -EINVAL if it has not @depth.
 */
int riscv_pmu_csr_branch_reset(unsigned int depth)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_reset, depth);

	if (!csr_branch_is_accessible(ilog2(depth / PMU_SCTRDEPTH_MIN)))
		return -EACCES;

	csr_write(PMU_CSR_SCTRSTATUS, 0);
	return csr_branch_depth() == depth ? 0 : -EINVAL;
}

/**
 * riscv_pmu_csr_branch_clear() - make all records of this hart invalid
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_branch_clear(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_clear);

	asm volatile(CSR_BRANCH_CLEAR ::: "memory");
}

/**
 * riscv_pmu_csr_branch_write_ctl() - set what this hart records
 * @ctl:	PMU_SCTRCTL_* bits; 0: nothing
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_branch_write_ctl(u64 ctl)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_write_ctl, ctl);

	csr_branch_write_ctl(ctl);
}

/**
 * riscv_pmu_csr_branch_status() - read where the next record goes, and whether recording is frozen
 *
 * Context: interrupts off.
 * Return: PMU_SCTRSTATUS_* fields.
 */
unsigned long riscv_pmu_csr_branch_status(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_status);

	return csr_read(PMU_CSR_SCTRSTATUS);
}

/**
 * riscv_pmu_csr_branch_write_status() - set where the next record goes; unfreeze recording
 * @status:	PMU_SCTRSTATUS_* fields
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_branch_write_status(unsigned long status)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_write_status, status);

	csr_write(PMU_CSR_SCTRSTATUS, status);
}

/**
 * riscv_pmu_csr_branch_write() - write a record
 * @n:		number of the record, 0 is the newest
 * @record:	what it becomes
 *
 * Between riscv_pmu_csr_branch_begin() and riscv_pmu_csr_branch_end().
 *
 * Context: interrupts off; recording is off.
 */
void riscv_pmu_csr_branch_write(unsigned int n, const struct riscv_pmu_branch_record *record)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_write, n, record);

	csr_write(CSR_SISELECT, PMU_ISELECT_BRANCH + n);
	csr_write(CSR_SIREG, (unsigned long)record->source);
	csr_write(PMU_CSR_SIREG2, (unsigned long)record->target);
	csr_write(PMU_CSR_SIREG3, (unsigned long)record->data);
}

static DEFINE_STATIC_KEY_FALSE(csr_branch_shared);

/**
 * riscv_pmu_csr_branch_share() - from now on, hide records from guests, and those of guests
 *
 * Context: process, at boot.
 */
void __init riscv_pmu_csr_branch_share(void)
{
	static_branch_enable(&csr_branch_shared);
}

/**
 * riscv_pmu_guest_switch() - hide branch records from a KVM guest, and those of the guest
 *
 * Guests can access the records of the hart, and freeze them, unless Smstateen forbids it. To be
 * called before a guest runs, and after it has run.
 *
 * Context: interrupts off.
 */
void riscv_pmu_guest_switch(void)
{
	if (!static_branch_unlikely(&csr_branch_shared))
		return;

	csr_write(PMU_CSR_SCTRSTATUS, 0);
	riscv_pmu_csr_branch_clear();
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_switch);

#ifdef CONFIG_RISCV_PMU_KUNIT_TEST
/* csr_branch.h describes these. */
u64 riscv_pmu_csr_branch_source(unsigned long n)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_source, n);

	return __riscv_pmu_csr_branch_source(n);
}

u64 riscv_pmu_csr_branch_target(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_target);

	return __riscv_pmu_csr_branch_target();
}

u64 riscv_pmu_csr_branch_data(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_data);

	return __riscv_pmu_csr_branch_data();
}
#endif
