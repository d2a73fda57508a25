// SPDX-License-Identifier: GPL-2.0
/*
 * What KVM calls around each run of a guest.
 */

#include <linux/export.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/sched.h>

#include "csr_branch.h"
#include "entries.h"

/**
 * riscv_pmu_guest_enter() - prepare for the run of a KVM guest
 *
 * From here on tp and sscratch may be the guest's, and what the hart records is not shown to it.
 *
 * Context: interrupts off, until riscv_pmu_guest_exit().
 */
void riscv_pmu_guest_enter(void)
{
	riscv_pmu_nmi_set_guest(current);
	riscv_pmu_csr_branch_hide();
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_enter);

/**
 * riscv_pmu_guest_exit() - a KVM guest has run
 *
 * Context: interrupts off, since riscv_pmu_guest_enter().
 */
void riscv_pmu_guest_exit(void)
{
	riscv_pmu_csr_branch_show();
	riscv_pmu_nmi_set_guest(NULL);
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_exit);
