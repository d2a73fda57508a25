// SPDX-License-Identifier: GPL-2.0
/* Finds the table of a core (tables.c), and groups the harts by their type of core. */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <kunit/static_stub.h>
#include <linux/acpi.h>
#include <linux/ctype.h>
#include <linux/of.h>
#include <linux/string.h>

#include <asm/acpi.h>
#include <asm/cpufeature.h>
#include <asm/pmu_csr.h>
#include <asm/sbi.h>

#include "../csr.h"
#include "../event.h"
#include "platform.h"

#define PLATFORM_NODE_CURE							\
	", or give the firmware the pmu node that rvpmu doctor --dts --core NAME prints"

static const struct riscv_pmu_platform *const platforms[] = {
	&riscv_pmu_andes_ax45mp,
	&riscv_pmu_sifive_p550,
	&riscv_pmu_sifive_u74,
	&riscv_pmu_spacemit_a100,
	&riscv_pmu_spacemit_x100,
	&riscv_pmu_spacemit_x60,
	&riscv_pmu_thead_c900,
	&riscv_pmu_thead_c906,
	&riscv_pmu_thead_c908,
	&riscv_pmu_thead_c910,
	&riscv_pmu_thead_c920v2,
	&riscv_pmu_thead_c930,
	&riscv_pmu_qemu,
};

/* Gets the IDs of a hart; all 0 if it has not been online, or if the firmware has none. */
void riscv_pmu_platform_get_ids(unsigned int cpu, struct riscv_pmu_ids *ids)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_platform_get_ids, cpu, ids);

	ids->mvendorid = riscv_cached_mvendorid(cpu);
	ids->marchid = riscv_cached_marchid(cpu);
	ids->mimpid = riscv_cached_mimpid(cpu);
}

/* Whether the devicetree's root node or the hart's node has a compatible string. */
bool riscv_pmu_platform_is_compatible(unsigned int cpu, const char *compatible)
{
	struct device_node *node __free(device_node) = NULL;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_platform_is_compatible, cpu, compatible);

#ifdef CONFIG_ACPI
	/* ACPI has no such strings, but QEMU's tables have an OEM ID. */
	if (!acpi_disabled)
		return !strcmp(compatible, riscv_pmu_qemu.compatibles[0]) &&
		       !strncmp(acpi_gbl_FADT.header.oem_id, "BOCHS ", ACPI_OEM_ID_SIZE);
#endif
	node = of_get_cpu_node(cpu, NULL);
	return of_machine_is_compatible(compatible) || of_device_is_compatible(node, compatible);
}

/*
 * Whether an ISA string such as "rv64imafdc_sscofpmf_ssctr1p0" has an extension whose name has
 * several letters. Case does not matter. The extension may have a version, and the first one may
 * follow the single letters without an underscore.
 */
bool riscv_pmu_platform_isa_has(const char *isa, const char *ext)
{
	size_t len = strlen(ext);

	for (isa += strcspn(isa, "_sxzSXZ"); *isa; isa += strcspn(isa, "_")) {
		const char *end;

		isa += *isa == '_';
		if (strncasecmp(isa, ext, len))
			continue;
		end = isa + len;
		if (isdigit(*end))
			end += strspn(end, "0123456789pP");
		if (!*end || *end == '_')
			return true;
	}

	return false;
}

/* Whether the devicetree or ACPI's RHCT lists an extension of a hart. Linux need not know it. */
bool riscv_pmu_platform_lists_ext(unsigned int cpu, const char *ext)
{
	struct device_node *node __free(device_node) = NULL;
	const char *isa;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_platform_lists_ext, cpu, ext);

	if (!acpi_disabled)
		return !acpi_get_riscv_isa(NULL, cpu, &isa) && riscv_pmu_platform_isa_has(isa, ext);

	node = of_get_cpu_node(cpu, NULL);
	return of_property_match_string(node, "riscv,isa-extensions", ext) >= 0;
}

/* For messages: where riscv_pmu_platform_lists_ext() looks */
const char *riscv_pmu_platform_ext_source(void)
{
	return acpi_disabled ? "the devicetree (riscv,isa-extensions)" : "ACPI's RHCT";
}

static bool platform_has_isa_ext(const struct riscv_pmu_platform *platform, unsigned int cpu)
{
	if (!platform->isa_ext || riscv_pmu_platform_lists_ext(cpu, platform->isa_ext))
		return true;

	pr_warn_once("%s: %s lacks %s, so the driver does not use this core's overflow interrupt, filters and table of events\n",
		     platform->name, riscv_pmu_platform_ext_source(), platform->isa_ext);
	return false;
}

static bool platform_has_compatible(const struct riscv_pmu_platform *platform, unsigned int cpu)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(platform->compatibles); i++) {
		if (platform->compatibles[i] &&
		    riscv_pmu_platform_is_compatible(cpu, platform->compatibles[i]))
			return true;
	}

	return false;
}

/* Whether a table is for cores with these IDs. */
bool riscv_pmu_platform_has_ids(const struct riscv_pmu_platform *platform,
				const struct riscv_pmu_ids *ids)
{
	return platform->ids.mvendorid && platform->ids.mvendorid == ids->mvendorid &&
	       platform->ids.marchid == ids->marchid &&
	       (platform->any_mimpid || platform->ids.mimpid == ids->mimpid) &&
	       (!platform->not_mimpid || platform->not_mimpid != ids->mimpid);
}

/* How specifically a table matches a hart; 0 if it does not match. */
static unsigned int platform_rank(const struct riscv_pmu_platform *platform,
				  const struct riscv_pmu_ids *ids, unsigned int cpu)
{
	bool needs_ids = platform->ids.mvendorid, needs_compatible = platform->compatibles[0];

	if ((needs_ids && !riscv_pmu_platform_has_ids(platform, ids)) ||
	    (needs_compatible && !platform_has_compatible(platform, cpu)) ||
	    !platform_has_isa_ext(platform, cpu))
		return 0;

	return 2 * needs_ids + needs_compatible;
}

/**
 * riscv_pmu_platform_choose() - choose the table of a hart
 * @tables:	the tables to choose from
 * @nr:		number of @tables
 * @cpu:	the hart
 * @ids:	its IDs
 *
 * Return: the table with the highest precedence, the first one if there are several; NULL if none
 * matches. A table with IDs and a compatible string has precedence over one with IDs only, and this
 * one over one with a compatible string only.
 */
const struct riscv_pmu_platform *
riscv_pmu_platform_choose(const struct riscv_pmu_platform *const *tables, unsigned int nr,
			  unsigned int cpu, const struct riscv_pmu_ids *ids)
{
	const struct riscv_pmu_platform *best = NULL;
	unsigned int best_rank = 0;

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int rank = platform_rank(tables[i], ids, cpu);

		if (rank && rank == best_rank)
			pr_warn_once("the tables of %s and %s match this core equally well, using the first: correct drivers/perf/riscv/platform/\n",
				     best->name, tables[i]->name);
		if (rank <= best_rank)
			continue;
		best = tables[i];
		best_rank = rank;
	}

	return best;
}

/* A type of core */
struct platform_type {
	struct riscv_pmu_ids			ids;
	const struct riscv_pmu_platform		*table;	/* or NULL */
};

/*
 * Gets the type of a hart's core. When a hart comes up for the first time, the kernel does not know
 * its IDs yet, so @here asks the firmware for those of this hart.
 */
static void platform_get_type(unsigned int cpu, bool here, struct platform_type *type)
{
	struct riscv_pmu_ids *ids = &type->ids;

	riscv_pmu_platform_get_ids(cpu, ids);
#ifdef CONFIG_RISCV_SBI
	if (here && !ids->mvendorid && !sbi_spec_is_0_1())
		*ids = (struct riscv_pmu_ids){
			sbi_get_mvendorid(), sbi_get_marchid(), sbi_get_mimpid(),
		};
#endif
	type->table = riscv_pmu_platform_choose(platforms, ARRAY_SIZE(platforms), cpu, ids);
}

/* Revisions of a core (mimpid) are of one type if they have the same table. */
static bool platform_is_same_type(const struct platform_type *a, const struct platform_type *b)
{
	return a->table == b->table && a->ids.mvendorid == b->ids.mvendorid &&
	       a->ids.marchid == b->ids.marchid;
}

/*
 * Removes from @cpus those that are online and not of the type of the first one online. One that is
 * offline may have no IDs yet: riscv_pmu_platform_check_hart() finds out when it comes online.
 */
void riscv_pmu_platform_select_cpus(struct cpumask *cpus)
{
	unsigned int cpu, first = cpumask_first_and(cpus, cpu_online_mask);
	struct platform_type type, type_of_first;

	if (first >= nr_cpu_ids)
		return;

	platform_get_type(first, false, &type_of_first);
	for_each_cpu_and(cpu, cpus, cpu_online_mask) {
		platform_get_type(cpu, false, &type);
		if (!platform_is_same_type(&type, &type_of_first))
			cpumask_clear_cpu(cpu, cpus);
	}
}

/* Collects the tables of the other types of cores. */
static void platform_find_others(struct riscv_pmu *pmu, const struct platform_type *own)
{
	struct platform_type type;
	unsigned int cpu, i;

	for_each_online_cpu(cpu) {
		platform_get_type(cpu, false, &type);
		if (platform_is_same_type(&type, own))
			continue;
		for (i = 0; i < pmu->nr_others && pmu->others[i] != type.table; i++)
			;
		if (i == pmu->nr_others && i < ARRAY_SIZE(pmu->others))
			pmu->others[pmu->nr_others++] = type.table;
	}
}

static bool platform_has_events(const struct riscv_pmu_platform *platform)
{
	return platform && platform->nr_selectors;
}

/*
 * Finds the type of a PMU's cores, after riscv_pmu_platform_select_cpus() and before its backend
 * probes. If none of its harts is online, its type is not known.
 */
void riscv_pmu_platform_init(struct riscv_pmu *pmu)
{
	unsigned int cpu = cpumask_first_and(&pmu->cpus, cpu_online_mask);
	struct platform_type type;

	pmu->is_qemu = riscv_pmu_platform_is_compatible(cpumask_first(&pmu->cpus),
							riscv_pmu_qemu.compatibles[0]);
	if (cpu >= nr_cpu_ids)
		return;

	platform_get_type(cpu, false, &type);
	pmu->ids = type.ids;
	pmu->platform = type.table;
	platform_find_others(pmu, &type);
	if (!type.table && !type.ids.mvendorid && !type.ids.marchid && !type.ids.mimpid)
		pr_info("the firmware reports no IDs of this core (mvendorid, marchid and mimpid are 0), so the driver uses no core's table: use newer firmware%s\n",
			acpi_disabled ? PLATFORM_NODE_CURE : "");
	else if (!platform_has_events(type.table) && pmu->nr_others)
		pr_warn("the driver has no table of events for the core of hart %u, so it uses the firmware's map, which may be for another type of core: compare the map with the core's manual\n",
			cpu);
	if (type.table && type.table->nr_bad_events)
		pr_info("%s: %u standard events do not use the firmware's map, because maps in use are wrong for them: if yours is right, open the raw events instead\n",
			type.table->name, type.table->nr_bad_events);
}

/* The table's entry for a standard event, or NULL; NULL also without a table. */
const struct riscv_pmu_selector *riscv_pmu_platform_known(const struct riscv_pmu_platform *platform,
							  u32 event_idx)
{
	for (unsigned int i = 0; platform && i < platform->nr_selectors; i++) {
		if (platform->selectors[i].event_idx == event_idx)
			return &platform->selectors[i];
	}

	return NULL;
}

static bool platform_is_bad(const struct riscv_pmu_platform *platform, u32 event_idx)
{
	for (unsigned int i = 0; i < platform->nr_bad_events; i++) {
		if (platform->bad_events[i] == event_idx)
			return true;
	}

	return false;
}

/* Whether another type of core needs another map of an event. */
static bool platform_is_ambiguous(const struct riscv_pmu *pmu, u32 event_idx,
				  const struct riscv_pmu_selector *own)
{
	for (unsigned int i = 0; platform_has_events(pmu->platform) && i < pmu->nr_others; i++) {
		const struct riscv_pmu_selector *other =
			riscv_pmu_platform_known(pmu->others[i], event_idx);

		if (!own != !other ||
		    (own && (own->selector != other->selector || own->counters != other->counters)))
			return true;
	}

	return false;
}

/**
 * riscv_pmu_platform_override() - find out whether the firmware's map of an event cannot be used
 * @pmu:	the PMU
 * @event_idx:	the event
 *
 * The firmware has one map for all harts. It may be wrong for this core (bad_events), or for
 * another type of core. If the events of this core are not known, it is used nevertheless.
 * Return: NULL to use the map; the table's entry, whose selector counts the event; an entry without
 * a selector if there is none.
 */
const struct riscv_pmu_selector *riscv_pmu_platform_override(const struct riscv_pmu *pmu,
							     u32 event_idx)
{
	static const struct riscv_pmu_selector none;
	const struct riscv_pmu_selector *own;
	bool is_bad;

	/* QEMU's map is right for its harts. A raw event would count on one counter only. */
	if (!pmu->platform || pmu->platform == &riscv_pmu_qemu ||
	    riscv_pmu_event_type(event_idx) > RISCV_PMU_EVENT_TYPE_CACHE)
		return NULL;

	is_bad = platform_is_bad(pmu->platform, event_idx);
	if (!is_bad && !pmu->nr_others)
		return NULL;

	own = riscv_pmu_platform_known(pmu->platform, event_idx);
	if (!is_bad && !platform_is_ambiguous(pmu, event_idx, own))
		return NULL;

	return own ?: &none;
}

/*
 * Whether this hart has a CSR with overflow flags. A hart with the vendor's IDs may lack it: a
 * guest has the IDs of its host. Andes has a CSR for the pending bit of the interrupt, too.
 */
bool riscv_pmu_platform_has_ovf(unsigned int csr)
{
	unsigned long value;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_platform_has_ovf, csr);

	if (csr == PMU_CSR_ANDES_SCOUNTEROF &&
	    (riscv_pmu_csr_try_read(PMU_CSR_ANDES_SLIP, &value) ||
	     riscv_pmu_csr_try_write(PMU_CSR_ANDES_SLIP, value)))
		return false;

	return !riscv_pmu_csr_try_read(csr, &value);
}

/*
 * Sets the properties of a PMU's overflow interrupt and filters, before its backend probes. It runs
 * on a hart of the PMU; riscv_pmu_platform_check_hart() checks the others.
 */
void riscv_pmu_platform_init_irq(struct riscv_pmu *pmu)
{
	const struct riscv_pmu_platform *platform = pmu->platform;

	pmu->pending_csr = CSR_IP;
	/* Sscofpmf has both the overflow interrupt and the filters. */
	if (riscv_isa_extension_available(hart_isa[raw_smp_processor_id()].isa, SSCOFPMF)) {
		pmu->hwirq = RV_IRQ_PMU;
		pmu->has_filters = true;
		if (riscv_pmu_platform_has_ovf(CSR_SCOUNTOVF))
			pmu->ovf_csr = CSR_SCOUNTOVF;
		else
			pr_info("CSR 0x%x (scountovf) traps, so each interrupt compares all counts with their overflow points; this is normal in a virtual machine on harts with Smcdeleg\n",
				CSR_SCOUNTOVF);
	}
	if (!platform)
		return;
	/* Some revisions of the C908 have Sscofpmf, others the vendor's interrupt. */
	if (!pmu->hwirq && platform->hwirq) {
		if (!riscv_pmu_platform_has_ovf(platform->ovf_csr)) {
			pr_warn("%s: CSR 0x%x cannot be read, so the vendor's overflow interrupt is not used; this is normal in a virtual machine\n",
				platform->name, platform->ovf_csr);
			return;
		}
		pmu->level_irq = true;
		pmu->hwirq = platform->hwirq;
		pmu->ovf_csr = platform->ovf_csr;
		pmu->pending_csr = platform->pending_csr ?: pmu->pending_csr;
	}

	if (platform->ops)
		pmu->ops = *platform->ops;
	pmu->fixed_irqs = platform->fixed_irqs;
	pmu->has_filters |= platform->has_filters;
}

/*
 * Returns how this hart differs from the core on which its PMU was probed, or NULL. If that core
 * has neither a table nor IDs, the types of the cores are not compared.
 */
const char *riscv_pmu_platform_check_hart(const struct riscv_pmu *pmu)
{
	const struct platform_type expected = { pmu->ids, pmu->platform };
	struct platform_type type;

	if (pmu->ovf_csr && !riscv_pmu_platform_has_ovf(pmu->ovf_csr))
		return "the CSR with its overflow flags, which traps";
	if (!pmu->platform && !pmu->ids.mvendorid && !pmu->ids.marchid)
		return NULL;

	platform_get_type(smp_processor_id(), true, &type);
	return platform_is_same_type(&type, &expected) ? NULL :
		"its type of core (mvendorid, marchid, or its table in the driver)";
}
