// SPDX-License-Identifier: GPL-2.0
/* AndesCore with Xandespmu. Untested on silicon. */

#include <linux/kconfig.h>

#include <asm/pmu_csr.h>
#include <asm/vendor_extensions.h>
#include <asm/vendor_extensions/andes.h>
#include <asm/vendorid_list.h>

#include "platform.h"

static bool andes_match(void)
{
	return IS_ENABLED(CONFIG_ANDES_CUSTOM_PMU) &&
	       riscv_has_vendor_extension_unlikely(ANDES_VENDOR_ID,
						   RISCV_ISA_VENDOR_EXT_XANDESPMU);
}

const struct riscv_pmu_vendor riscv_pmu_vendor_andes = {
	.name		= "andes",
	.match		= andes_match,
	.hwirq		= PMU_IRQ_ANDES,
	.fixed_irqs	= true,
	.has_filters	= true,
	.ovf_csr	= PMU_CSR_ANDES_SCOUNTEROF,
	.pending_csr	= PMU_CSR_ANDES_SLIP,
};
