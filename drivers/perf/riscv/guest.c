// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that KVM calls before and after each run of a guest.
 */

#include <linux/export.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/sched.h>

#include "csr_branch.h"
#include "entries.h"

/**
 * riscv_pmu_guest_enter() - prepare for the run of a KVM guest
 *
 * Until riscv_pmu_guest_exit(), tp and sscratch may have the guest's values, so the overflows of
 * NMIs are deferred; branch records are hidden from the guest.
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
 * riscv_pmu_guest_exit() - end what riscv_pmu_guest_enter() has begun
 *
 * Context: interrupts off, since riscv_pmu_guest_enter().
 */
void riscv_pmu_guest_exit(void)
{
	riscv_pmu_csr_branch_show();
	riscv_pmu_nmi_set_guest(NULL);
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_exit);
