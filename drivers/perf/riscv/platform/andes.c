// SPDX-License-Identifier: GPL-2.0
/*
 * Andes AX45MP with Xandespmu, a predecessor of Sscofpmf and Smcntrpmf with other CSR and interrupt
 * numbers (asm/pmu_csr.h, from the AX45MP data sheet). Untested on silicon.
 */

#include <linux/array_size.h>

#include <asm/pmu_csr.h>
#include <asm/vendorid_list.h>

#include "../event.h"
#include "platform.h"

#define ANDES_AX45MP_MARCHID		(RISCV_PMU_MARCHID_VENDOR | 0x8a45)

static const struct riscv_pmu_selector andes_ax45mp_selectors[] = {
	RISCV_PMU_EVENTS_andes_ax45mp(PLATFORM_SELECTOR)
};

const struct riscv_pmu_platform riscv_pmu_andes_ax45mp = {
	.name		= "andes-ax45mp",
	.ids		= { ANDES_VENDOR_ID, ANDES_AX45MP_MARCHID },
	.any_mimpid	= true,
	.isa_ext	= "xandespmu",
	.hwirq		= PMU_IRQ_ANDES,
	.fixed_irqs	= true,
	.has_filters	= true,
	.ovf_csr	= PMU_CSR_ANDES_SCOUNTEROF,
	.pending_csr	= PMU_CSR_ANDES_SLIP,
	.selectors	= andes_ax45mp_selectors,
	.nr_selectors	= ARRAY_SIZE(andes_ax45mp_selectors),
};
