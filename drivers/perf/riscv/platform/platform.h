/* SPDX-License-Identifier: GPL-2.0 */
/* Cores whose PMU differs from the specification. */
#ifndef _RISCV_PMU_PLATFORM_H
#define _RISCV_PMU_PLATFORM_H

#include <linux/perf/riscv_pmu.h>

/**
 * struct riscv_pmu_vendor - how a vendor's cores differ from the specification
 * @name:	name of the vendor, for the boot message
 * @match:	whether this machine has such cores
 * @ops:	ops that replace the backend's, or NULL
 * @hwirq:	number of the local overflow interrupt; 0: that of Sscofpmf
 * @fixed_irqs:	cycle and instret interrupt when they overflow
 * @has_filters: programmable counters can exclude modes although there is no Sscofpmf
 * @ovf_csr:	CSR with the overflow flags; 0: scountovf
 * @pending_csr: CSR with the interrupt's pending bit; 0: sip
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
 * struct riscv_pmu_core - the events of one type of core
 * @match:	whether this machine has such cores
 * @selectors:	standard events and their values of mhpmevent. They are used if the kernel
 *		programs the counters itself, and can not get the selectors from the firmware
 * @nr_selectors: number of @selectors
 * @mode_events: see &riscv_pmu.mode_events
 * @nr_mode_events: number of @mode_events
 * @is_qemu:	QEMU's virt machine
 */
struct riscv_pmu_core {
	bool				(*match)(void);
	const struct riscv_pmu_selector	*selectors;
	unsigned int			nr_selectors;
	const struct riscv_pmu_mode_events *mode_events;
	unsigned int			nr_mode_events;
	bool				is_qemu;
};

extern const struct riscv_pmu_core riscv_pmu_core_qemu;
extern const struct riscv_pmu_core riscv_pmu_core_sifive_u74;
extern const struct riscv_pmu_core riscv_pmu_core_spacemit_x60;

extern const struct riscv_pmu_vendor riscv_pmu_vendor_andes;
extern const struct riscv_pmu_vendor riscv_pmu_vendor_thead;

const struct riscv_pmu_vendor *riscv_pmu_vendor_find(void);
void riscv_pmu_vendor_apply(struct riscv_pmu *pmu, const struct riscv_pmu_vendor *vendor);
void riscv_pmu_core_apply(struct riscv_pmu *pmu);

#endif /* _RISCV_PMU_PLATFORM_H */
