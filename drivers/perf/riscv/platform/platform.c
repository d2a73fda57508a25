// SPDX-License-Identifier: GPL-2.0
/*
 * The lists of vendors and of cores. Each has one const table in a file of this folder.
 */

#include <linux/array_size.h>

#include <asm/cpufeature.h>
#include <asm/pmu_csr.h>

#include "platform.h"

static const struct riscv_pmu_vendor *const platform_vendors[] = {
	&riscv_pmu_vendor_andes,
	&riscv_pmu_vendor_thead,
};

/* QEMU's table is for harts that do not have the IDs of another core. */
static const struct riscv_pmu_core *const platform_cores[] = {
	&riscv_pmu_core_sifive_u74,
	&riscv_pmu_core_spacemit_x60,
	&riscv_pmu_core_qemu,
};

/**
 * riscv_pmu_vendor_find() - find the vendor table for this machine's cores
 *
 * Context: process, at boot.
 * Return: the vendor's table, or NULL if the cores follow the specification.
 */
const struct riscv_pmu_vendor *riscv_pmu_vendor_find(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(platform_vendors); i++) {
		if (platform_vendors[i]->match())
			return platform_vendors[i];
	}

	return NULL;
}

/**
 * riscv_pmu_vendor_apply() - initialise a PMU with the vendor's deviations from the specification
 * @pmu:	the PMU, before its backend probes
 * @vendor:	the vendor's table, or NULL
 *
 * Context: process, at boot.
 */
void riscv_pmu_vendor_apply(struct riscv_pmu *pmu, const struct riscv_pmu_vendor *vendor)
{
	pmu->ovf_csr = CSR_SCOUNTOVF;
	pmu->pending_csr = CSR_IP;
	/* Sscofpmf has both the overflow interrupt and the filters. */
	if (riscv_isa_extension_available(NULL, SSCOFPMF)) {
		pmu->hwirq = RV_IRQ_PMU;
		pmu->has_filters = true;
	}
	if (!vendor)
		return;

	pmu->vendor = vendor->name;
	if (vendor->ops)
		pmu->ops = *vendor->ops;
	pmu->hwirq = vendor->hwirq ?: pmu->hwirq;
	pmu->fixed_irqs = vendor->fixed_irqs;
	pmu->has_filters |= vendor->has_filters;
	pmu->ovf_csr = vendor->ovf_csr ?: pmu->ovf_csr;
	pmu->pending_csr = vendor->pending_csr ?: pmu->pending_csr;
}

/**
 * riscv_pmu_core_apply() - find the table of events of this machine's cores
 * @pmu:	the PMU, before its backend probes; if the cores are not known, it gets no table
 *
 * Context: process, at boot.
 */
void riscv_pmu_core_apply(struct riscv_pmu *pmu)
{
	const struct riscv_pmu_core *core = NULL;

	for (unsigned int i = 0; i < ARRAY_SIZE(platform_cores); i++) {
		if (!platform_cores[i]->match())
			continue;
		core = core ?: platform_cores[i];
		pmu->is_qemu |= platform_cores[i]->is_qemu;
	}
	if (!core)
		return;

	pmu->selectors = core->selectors;
	pmu->nr_selectors = core->nr_selectors;
	pmu->mode_events = core->mode_events;
	pmu->nr_mode_events = core->nr_mode_events;
}
