// SPDX-License-Identifier: GPL-2.0
/*
 * Andes AX45MP with Xandespmu, a predecessor of Sscofpmf and Smcntrpmf with other CSR and interrupt
 * numbers (asm/pmu_csr.h, from the AX45MP data sheet). Untested on silicon.
 */

#include <asm/pmu_csr.h>

#include "../event.h"
#include "platform.h"

static const struct riscv_pmu_selector andes_ax45mp_selectors[] = PLATFORM_SELECTORS(andes_ax45mp);

const struct riscv_pmu_platform riscv_pmu_andes_ax45mp = {
	PLATFORM_CORE(andes_ax45mp),
	.any_mimpid	= true,
	.isa_ext	= "xandespmu",
	.hwirq		= PMU_IRQ_ANDES,
	.fixed_irqs	= true,
	.has_filters	= true,
	.ovf_csr	= PMU_CSR_ANDES_SCOUNTEROF,
	.pending_csr	= PMU_CSR_ANDES_SLIP,
};
