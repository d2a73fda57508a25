// SPDX-License-Identifier: GPL-2.0
/*
 * Access to the CSRs of branch records (Smctr and Ssctr): control, status, depth, and the records
 * themselves, which are read through siselect as delegated counters are (csr.c).
 */

#include <kunit/static_stub.h>
#include <linux/jump_label.h>
#include <linux/log2.h>
#include <linux/percpu.h>

#include "csr.h"

#define CSR_BRANCH_MODES	(PMU_SCTRCTL_U | PMU_SCTRCTL_S)
/* What the driver writes to sctrctl */
#define CSR_BRANCH_CTL		(CSR_BRANCH_MODES | PMU_SCTRCTL_RASEMU | PMU_SCTRCTL_LCOFIFRZ | \
				 RISCV_PMU_BRANCH_INH)

/*
 * Do not record guests, nor their entry and exit, which vsctrctl filters (Smctr, "Virtualization
 * Mode Transitions"). A guest can change it: it is the guest's sctrctl. Without the H extension
 * this CSR does not exist.
 */
static void csr_branch_ignore_guests(void)
{
	riscv_pmu_csr_try_write(PMU_CSR_VSCTRCTL, RISCV_PMU_BRANCH_TRAPS);
}

/*
 * Turns recording off, sets the depth, clears all records, and selects one of them.
 *
 * This and the next functions return 0, or the number of the CSR (RISCV_PMU_CSR_SCTRCLR) whose
 * access traps: M-mode may not let S-mode use CTR (mstateen0.CTR of Smstateen). Each CSR is tried,
 * because siselect and sireg have a bit of their own in mstateen0.
 */
static unsigned int csr_branch_clear_all(unsigned int depth, unsigned int *found,
					 unsigned long *select)
{
	unsigned long code = ilog2(depth / PMU_SCTRDEPTH_MIN), value;
	unsigned int trap = riscv_pmu_csr_try_read(CSR_SISELECT, select) ?:
			    riscv_pmu_csr_try_write(CSR_SISELECT, PMU_ISELECT_BRANCH) ?:
			    riscv_pmu_csr_try_write(PMU_CSR_SCTRCTL, 0) ?:
			    riscv_pmu_csr_try_write(PMU_CSR_SCTRDEPTH, code) ?:
			    riscv_pmu_csr_try_read(PMU_CSR_SCTRSTATUS, &value) ?:
			    riscv_pmu_csr_try_write(PMU_CSR_SCTRSTATUS, 0) ?:
			    riscv_pmu_csr_try_write(RISCV_PMU_CSR_SCTRCLR, 0) ?:
			    riscv_pmu_csr_try_read(CSR_SIREG, &value) ?:
			    riscv_pmu_csr_try_read(PMU_CSR_SIREG2, &value) ?:
			    riscv_pmu_csr_try_read(PMU_CSR_SIREG3, &value) ?:
			    riscv_pmu_csr_try_read(PMU_CSR_SCTRDEPTH, &value);

	*found = PMU_SCTRDEPTH_MIN << (value & 0x7);
	return trap;
}

/* Finds what the hart can record, and filter: the writable bits. */
static unsigned int csr_branch_find_ctl(struct riscv_pmu_branch_caps *caps)
{
	unsigned long value = 0;
	unsigned int trap;

	trap = riscv_pmu_csr_try_write(PMU_CSR_SCTRCTL, CSR_BRANCH_CTL & ~CSR_BRANCH_MODES) ?:
	       riscv_pmu_csr_try_read(PMU_CSR_SCTRCTL, &value) ?:
	       riscv_pmu_csr_try_write(PMU_CSR_SCTRCTL, 0);
	caps->ctl = (value | CSR_BRANCH_MODES) & CSR_BRANCH_CTL;
	return trap;
}

/* Optional fields of a record are those that are writable. */
static unsigned int csr_branch_find_fields(struct riscv_pmu_branch_caps *caps)
{
	unsigned long target = 0, data = 0;
	unsigned int trap;

	trap = riscv_pmu_csr_try_write(CSR_SIREG, 0) ?:
	       riscv_pmu_csr_try_write(PMU_CSR_SIREG2, PMU_BRANCH_MISPREDICTED) ?:
	       riscv_pmu_csr_try_read(PMU_CSR_SIREG2, &target) ?:
	       riscv_pmu_csr_try_write(PMU_CSR_SIREG2, 0) ?:
	       riscv_pmu_csr_try_write(PMU_CSR_SIREG3, PMU_BRANCH_RETURN) ?:
	       riscv_pmu_csr_try_read(PMU_CSR_SIREG3, &data) ?:
	       riscv_pmu_csr_try_write(PMU_CSR_SIREG3, 0);
	caps->has_misprediction = target & PMU_BRANCH_MISPREDICTED;
	caps->has_types = (data & PMU_BRANCH_TYPE) == PMU_BRANCH_RETURN;
	return trap;
}

/* Finds out what this hart can record, all but the stack. Leaves recording off and no records. */
unsigned int riscv_pmu_csr_branch_probe(struct riscv_pmu_branch_caps *caps, unsigned int depth)
{
	unsigned long select = 0;
	unsigned int trap;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_probe, caps, depth);

	trap = csr_branch_clear_all(depth, &caps->depth, &select) ?: csr_branch_find_ctl(caps) ?:
	       csr_branch_find_fields(caps);
	return riscv_pmu_csr_try_write(CSR_SISELECT, select) ?: trap;
}

/* Leaves recording off and no records. -EINVAL: the hart has another number than was probed. */
int riscv_pmu_csr_branch_reset(unsigned int depth)
{
	unsigned long select = 0;
	unsigned int trap, found;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_reset, depth);

	trap = csr_branch_clear_all(depth, &found, &select);
	trap = riscv_pmu_csr_try_write(CSR_SISELECT, select) ?: trap;
	if (trap)
		return trap;

	csr_branch_ignore_guests();
	return found == depth ? 0 : -EINVAL;
}

/* Guests of KVM can access records: of harts with this flag, they are cleared around guests. */
static DEFINE_STATIC_KEY_FALSE(csr_branch_guest_access);
static DEFINE_PER_CPU(bool, csr_branch_clears_for_guests);
/* sctrctl of the host, while a guest runs */
static DEFINE_PER_CPU(unsigned long, csr_branch_host_ctl);

/* Called at boot, before riscv_pmu_csr_branch_clear_for_guests(). */
void __init riscv_pmu_csr_branch_note_guest_access(void)
{
	static_branch_enable(&csr_branch_guest_access);
}

/* From now on, clears this hart's records around guests, if these can access them. */
void riscv_pmu_csr_branch_clear_for_guests(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_clear_for_guests);

	if (static_branch_unlikely(&csr_branch_guest_access))
		this_cpu_write(csr_branch_clears_for_guests,
			       !riscv_pmu_csr_branch_reset(PMU_SCTRDEPTH_MIN));
}

static __always_inline bool csr_branch_is_shared(void)
{
	return static_branch_unlikely(&csr_branch_guest_access) &&
	       __this_cpu_read(csr_branch_clears_for_guests);
}

/* A guest may have frozen the recording for its host, too. */
static void csr_branch_forget(void)
{
	riscv_pmu_csr_branch_write_status(0);
	riscv_pmu_csr_branch_clear();
}

/*
 * Hides branch records from a KVM guest that is about to run: unless Smstateen forbids it, a guest
 * can read and write the records of its host. The host's recording is off from here on; otherwise
 * the guest could read the branches with which the host entered it.
 */
void riscv_pmu_csr_branch_hide(void)
{
	if (!csr_branch_is_shared())
		return;

	__this_cpu_write(csr_branch_host_ctl, csr_swap(PMU_CSR_SCTRCTL, 0));
	csr_branch_forget();
	/* Another guest may have changed vsctrctl, so that this one would be recorded. */
	csr_branch_ignore_guests();
}

/* Removes the branch records of a KVM guest, and records again. */
void riscv_pmu_csr_branch_show(void)
{
	if (!csr_branch_is_shared())
		return;

	csr_branch_forget();
	csr_write(PMU_CSR_SCTRCTL, __this_cpu_read(csr_branch_host_ctl));
}
