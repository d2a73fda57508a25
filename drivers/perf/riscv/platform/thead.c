// SPDX-License-Identifier: GPL-2.0
/* T-Head C9xx. Untested on silicon. */

#include <linux/kconfig.h>

#include <asm/hwcap.h>
#include <asm/pmu_csr.h>
#include <asm/sbi.h>
#include <asm/vendorid_list.h>

#include "platform.h"

/* These cores leave marchid and mimpid at 0. */
static bool thead_match(void)
{
	return IS_ENABLED(CONFIG_ERRATA_THEAD_PMU) &&
	       riscv_cached_mvendorid(0) == THEAD_VENDOR_ID &&
	       !riscv_cached_marchid(0) && !riscv_cached_mimpid(0);
}

const struct riscv_pmu_vendor riscv_pmu_vendor_thead = {
	.name		= "thead",
	.match		= thead_match,
	.hwirq		= PMU_IRQ_THEAD,
	.fixed_irqs	= true,
	.ovf_csr	= PMU_CSR_THEAD_SCOUNTEROF,
};
