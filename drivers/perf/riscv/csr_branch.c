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
#include <linux/percpu.h>

#include <asm/asm-extable.h>

#include "csr_branch.h"

/* What the driver writes to sctrctl */
#define CSR_BRANCH_CTL									\
	(PMU_SCTRCTL_U | PMU_SCTRCTL_S | PMU_SCTRCTL_RASEMU | PMU_SCTRCTL_LCOFIFRZ |	\
	 GENMASK_ULL(47, 40) | PMU_SCTRCTL_TYPE(PMU_BRANCH_EXCEPTION) |			\
	 PMU_SCTRCTL_TYPE(PMU_BRANCH_INTERRUPT) | PMU_SCTRCTL_TYPE(PMU_BRANCH_TRAP_RETURN) | \
	 PMU_SCTRCTL_TYPE(PMU_BRANCH_TAKEN))

/*
 * Writes sctrdepth and sctrctl, and clears and reads a record. Each of these traps if M-mode does
 * not let S-mode use CTR (mstateen0.CTR of Smstateen); then the exception table handles the trap.
 * All of them are tried, because some may be allowed while others are not: siselect and sireg have
 * a bit of their own in mstateen0.
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

/*
 * Do not record guests, nor their entry and exit, which vsctrctl filters (Smctr, "Virtualization
 * Mode Transitions"). A guest can change it: it is the guest's sctrctl. Without the H extension
 * this CSR does not exist.
 */
static void csr_branch_ignore_guests(void)
{
	unsigned long traps = PMU_SCTRCTL_TYPE(PMU_BRANCH_EXCEPTION) |
			      PMU_SCTRCTL_TYPE(PMU_BRANCH_INTERRUPT) |
			      PMU_SCTRCTL_TYPE(PMU_BRANCH_TRAP_RETURN);

	asm volatile("1: csrw " __stringify(PMU_CSR_VSCTRCTL) ", %0\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : : "r" (traps));
}

static unsigned int csr_branch_depth(void)
{
	return PMU_SCTRDEPTH_MIN << (csr_read(PMU_CSR_SCTRDEPTH) & 0x7);
}

/* Optional fields of a record are those that are writable. */
static void csr_branch_find_fields(struct riscv_pmu_branch_caps *caps)
{
	unsigned long select = csr_swap(CSR_SISELECT, PMU_ISELECT_BRANCH);

	csr_write(PMU_CSR_SIREG2, PMU_BRANCH_MISPREDICTED);
	caps->has_misprediction = csr_read(PMU_CSR_SIREG2) & PMU_BRANCH_MISPREDICTED;
	csr_write(PMU_CSR_SIREG2, 0);
	csr_write(PMU_CSR_SIREG3, PMU_BRANCH_RETURN);
	caps->has_types = (csr_read(PMU_CSR_SIREG3) & PMU_BRANCH_TYPE) == PMU_BRANCH_RETURN;
	csr_write(PMU_CSR_SIREG3, 0);
	csr_write(CSR_SISELECT, select);
}

/**
 * riscv_pmu_csr_branch_probe() - find out what this hart can record
 * @caps:	out: all of &riscv_pmu_branch_caps but its stack
 * @depth:	the wanted number of records, 16 to 256
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
	__riscv_pmu_csr_branch_write_ctl(CSR_BRANCH_CTL & ~(PMU_SCTRCTL_U | PMU_SCTRCTL_S));
	caps->ctl = csr_read(PMU_CSR_SCTRCTL) | PMU_SCTRCTL_U | PMU_SCTRCTL_S;
	__riscv_pmu_csr_branch_write_ctl(0);
	caps->ctl &= CSR_BRANCH_CTL;
	csr_branch_find_fields(caps);
	return 0;
}

/**
 * riscv_pmu_csr_branch_reset() - bring this hart's records to a known state: off and empty
 * @depth:	the number of records, as found by riscv_pmu_csr_branch_probe()
 *
 * Context: interrupts off.
 * Return: 0; -EACCES if M-mode does not let S-mode use CTR; -EINVAL if the hart does not have
 * @depth records.
 */
int riscv_pmu_csr_branch_reset(unsigned int depth)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_reset, depth);

	if (!csr_branch_is_accessible(ilog2(depth / PMU_SCTRDEPTH_MIN)))
		return -EACCES;

	csr_branch_ignore_guests();
	__riscv_pmu_csr_branch_write_status(0);
	return csr_branch_depth() == depth ? 0 : -EINVAL;
}

/*
 * Guests of KVM can access records. On the harts with csr_branch_clears_for_guests, the records are
 * cleared before and after a guest runs.
 */
static DEFINE_STATIC_KEY_FALSE(csr_branch_guest_access);
static DEFINE_PER_CPU(bool, csr_branch_clears_for_guests);
/* sctrctl of the host, while a guest runs */
static DEFINE_PER_CPU(unsigned long, csr_branch_host_ctl);

/**
 * riscv_pmu_csr_branch_note_guest_access() - note that guests can access the records of harts
 *
 * Context: process, at boot, before riscv_pmu_csr_branch_clear_for_guests().
 */
void __init riscv_pmu_csr_branch_note_guest_access(void)
{
	static_branch_enable(&csr_branch_guest_access);
}

/**
 * riscv_pmu_csr_branch_clear_for_guests() - from now on, clear this hart's records around guests
 *
 * Does nothing if guests cannot access records, or if this hart has no records. Records are lost.
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_branch_clear_for_guests(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_clear_for_guests);

	if (static_branch_unlikely(&csr_branch_guest_access))
		this_cpu_write(csr_branch_clears_for_guests, csr_branch_is_accessible(0));
}

/* A guest may have frozen the recording for its host, too. */
static void csr_branch_forget(void)
{
	__riscv_pmu_csr_branch_write_status(0);
	__riscv_pmu_csr_branch_clear();
}

/**
 * riscv_pmu_csr_branch_hide() - hide branch records from a KVM guest that is about to run
 *
 * Unless Smstateen forbids it, a guest can read and write the records of its host. The host's
 * recording is off from here on; otherwise the guest could read the branches with which the host
 * entered it.
 *
 * Context: interrupts off, until riscv_pmu_csr_branch_show().
 */
void riscv_pmu_csr_branch_hide(void)
{
	if (!static_branch_unlikely(&csr_branch_guest_access) ||
	    !__this_cpu_read(csr_branch_clears_for_guests))
		return;

	__this_cpu_write(csr_branch_host_ctl, csr_swap(PMU_CSR_SCTRCTL, 0));
	csr_branch_forget();
	/* Another guest may have changed vsctrctl, so that this one would be recorded. */
	csr_branch_ignore_guests();
}

/**
 * riscv_pmu_csr_branch_show() - remove the branch records of a KVM guest, and record again
 *
 * Context: interrupts off, since riscv_pmu_csr_branch_hide().
 */
void riscv_pmu_csr_branch_show(void)
{
	if (!static_branch_unlikely(&csr_branch_guest_access) ||
	    !__this_cpu_read(csr_branch_clears_for_guests))
		return;

	csr_branch_forget();
	csr_write(PMU_CSR_SCTRCTL, __this_cpu_read(csr_branch_host_ctl));
}

#ifdef CONFIG_RISCV_PMU_KUNIT_TEST
/* csr_branch.h describes these. */
void riscv_pmu_csr_branch_clear(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_clear);

	__riscv_pmu_csr_branch_clear();
}

void riscv_pmu_csr_branch_write_ctl(u64 ctl)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_write_ctl, ctl);

	__riscv_pmu_csr_branch_write_ctl(ctl);
}

unsigned long riscv_pmu_csr_branch_status(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_status);

	return __riscv_pmu_csr_branch_status();
}

void riscv_pmu_csr_branch_write_status(unsigned long status)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_write_status, status);

	__riscv_pmu_csr_branch_write_status(status);
}

unsigned long riscv_pmu_csr_branch_begin(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_begin);

	return __riscv_pmu_csr_branch_begin();
}

void riscv_pmu_csr_branch_end(unsigned long select)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_end, select);

	__riscv_pmu_csr_branch_end(select);
}

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

void riscv_pmu_csr_branch_write(unsigned long n, const struct riscv_pmu_branch_record *record)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_write, n, record);

	__riscv_pmu_csr_branch_write(n, record);
}
#endif
