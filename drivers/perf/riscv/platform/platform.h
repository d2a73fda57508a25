/* SPDX-License-Identifier: GPL-2.0 */
/* Cores whose PMU differs from the specification. */
#ifndef _RISCV_PMU_PLATFORM_H
#define _RISCV_PMU_PLATFORM_H

#include <linux/perf/riscv_pmu.h>

/**
 * struct riscv_pmu_vendor - how one kind of core differs
 * @name:	for the boot message
 * @match:	whether this machine has such cores
 * @ops:	ops that replace the backend's, or NULL
 * @hwirq:	number of the local overflow interrupt, 0 for Sscofpmf's
 * @fixed_irqs:	cycle and instret interrupt when they overflow
 * @has_filters: firmware filters its counters by mode without Sscofpmf
 * @ovf_csr:	CSR that tells which counters have overflowed, 0 for scountovf
 * @pending_csr: CSR with the interrupt's pending bit, 0 for sip
 */
struct riscv_pmu_vendor {
	const char			*name;
	bool				(*match)(void);
	const struct riscv_pmu_ops	*ops;
	unsigned int			hwirq;
	bool				fixed_irqs;
	bool				has_filters;
	u16				ovf_csr;
	u16				pending_csr;
};

/**
 * struct riscv_pmu_core - how one kind of core names its events
 * @match:	whether this machine has such cores
 * @selectors:	standard events and what mhpmevent holds for them
 * @nr_selectors: how many
 * @is_qemu:	QEMU's virt machine
 *
 * For S-mode that programs counters itself, where no firmware tells.
 */
struct riscv_pmu_core {
	bool				(*match)(void);
	const struct riscv_pmu_selector	*selectors;
	unsigned int			nr_selectors;
	bool				is_qemu;
};

extern const struct riscv_pmu_core riscv_pmu_core_qemu;
extern const struct riscv_pmu_core riscv_pmu_core_sifive_u74;

extern const struct riscv_pmu_vendor riscv_pmu_vendor_andes;
extern const struct riscv_pmu_vendor riscv_pmu_vendor_thead;

const struct riscv_pmu_vendor *riscv_pmu_vendor_find(void);
void riscv_pmu_vendor_apply(struct riscv_pmu *pmu, const struct riscv_pmu_vendor *vendor);
void riscv_pmu_core_apply(struct riscv_pmu *pmu);

#endif /* _RISCV_PMU_PLATFORM_H */
