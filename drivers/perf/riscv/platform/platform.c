// SPDX-License-Identifier: GPL-2.0
/*
 * The list of cores: each has a const table in its vendor's file of this folder. What the tables
 * say is from public manuals, devicetrees and lists of events, which they name; what was not found
 * there is left out. None of it is tested on silicon.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/array_size.h>
#include <linux/of.h>
#include <linux/printk.h>

#include <asm/cpufeature.h>
#include <asm/pmu_csr.h>
#include <asm/sbi.h>

#include "../csr.h"
#include "platform.h"

static const struct riscv_pmu_platform *const platforms[] = {
	&riscv_pmu_andes_ax45mp,
	&riscv_pmu_sifive_p550,
	&riscv_pmu_sifive_u74,
	&riscv_pmu_spacemit_x100,
	&riscv_pmu_spacemit_x60,
	&riscv_pmu_thead_c900,
	&riscv_pmu_thead_c908,
	&riscv_pmu_thead_c920v2,
	&riscv_pmu_qemu,
};

static bool platform_has_isa_ext(const struct riscv_pmu_platform *platform, unsigned int cpu)
{
	struct device_node *node;
	bool has;

	if (!platform->isa_ext)
		return true;

	node = of_get_cpu_node(cpu, NULL);
	has = of_property_match_string(node, "riscv,isa-extensions", platform->isa_ext) >= 0;
	of_node_put(node);
	return has;
}

/**
 * riscv_pmu_platform_has_ids() - whether a table is for cores with these IDs
 * @platform:	the table
 * @ids:	IDs of a hart
 *
 * Context: any.
 * Return: true if it is.
 */
bool riscv_pmu_platform_has_ids(const struct riscv_pmu_platform *platform,
				const struct riscv_pmu_ids *ids)
{
	return platform->ids.mvendorid && platform->ids.mvendorid == ids->mvendorid &&
	       platform->ids.marchid == ids->marchid &&
	       (platform->any_mimpid || platform->ids.mimpid == ids->mimpid);
}

/**
 * riscv_pmu_platform_find() - find the table of a type of core by its IDs
 * @ids:	the IDs of a hart
 *
 * Context: any.
 * Return: the table, or NULL if no table has these IDs; firmware without them gives 0.
 */
const struct riscv_pmu_platform *riscv_pmu_platform_find(const struct riscv_pmu_ids *ids)
{
	const struct riscv_pmu_platform *found = NULL;

	for (unsigned int i = 0; i < ARRAY_SIZE(platforms); i++) {
		if (!riscv_pmu_platform_has_ids(platforms[i], ids))
			continue;
		if (!found)
			found = platforms[i];
		else
			pr_warn("the tables of %s and %s have the same IDs, using the first: correct drivers/perf/riscv/platform/\n",
				found->name, platforms[i]->name);
	}

	return found;
}

/**
 * riscv_pmu_platform_init() - find the table of a PMU's cores
 * @pmu:	the PMU, before its backend probes; without a table, &riscv_pmu.platform stays NULL
 * @cpu:	one of its harts
 *
 * QEMU's table is for harts that do not have the IDs of another core.
 *
 * Context: process, at boot.
 */
void riscv_pmu_platform_init(struct riscv_pmu *pmu, unsigned int cpu)
{
	const struct riscv_pmu_ids ids = {
		.mvendorid = riscv_cached_mvendorid(cpu),
		.marchid = riscv_cached_marchid(cpu),
		.mimpid = riscv_cached_mimpid(cpu),
	};

	pmu->is_qemu = of_machine_is_compatible(riscv_pmu_qemu.machine);
	pmu->platform = riscv_pmu_platform_find(&ids);
	if (pmu->platform && !platform_has_isa_ext(pmu->platform, cpu)) {
		pr_warn("%s without %s in the devicetree's riscv,isa-extensions: no overflow interrupt and no filters\n",
			pmu->platform->name, pmu->platform->isa_ext);
		pmu->platform = NULL;
	}
	if (!pmu->platform && pmu->is_qemu)
		pmu->platform = &riscv_pmu_qemu;
	pmu->refuses_bad = pmu->platform && pmu->platform->bad_machine &&
			   of_machine_is_compatible(pmu->platform->bad_machine);
}

/**
 * riscv_pmu_platform_init_irq() - initialise what a PMU's interrupt and filters are
 * @pmu:	the PMU, before its backend probes
 *
 * Context: process, at boot; all harts have the CSRs of this one.
 */
void riscv_pmu_platform_init_irq(struct riscv_pmu *pmu)
{
	const struct riscv_pmu_platform *platform = pmu->platform;

	pmu->ovf_csr = CSR_SCOUNTOVF;
	pmu->pending_csr = CSR_IP;
	/* Sscofpmf has both the overflow interrupt and the filters. */
	if (riscv_isa_extension_available(NULL, SSCOFPMF)) {
		pmu->hwirq = RV_IRQ_PMU;
		pmu->has_filters = true;
	}
	if (!platform)
		return;
	if (platform->ovf_csr && !riscv_pmu_csr_has_ovf(platform->ovf_csr)) {
		pr_warn("%s without its CSR 0x%x: no overflow interrupt of the vendor's; it is expected in a guest\n",
			platform->name, platform->ovf_csr);
		return;
	}

	if (platform->ops)
		pmu->ops = *platform->ops;
	pmu->level_irq = platform->hwirq;
	pmu->hwirq = platform->hwirq ?: pmu->hwirq;
	pmu->fixed_irqs = platform->fixed_irqs;
	pmu->has_filters |= platform->has_filters;
	pmu->ovf_csr = platform->ovf_csr ?: pmu->ovf_csr;
	pmu->pending_csr = platform->pending_csr ?: pmu->pending_csr;
}
