// SPDX-License-Identifier: GPL-2.0
/*
 * Which counters M-mode delegates to S-mode on which harts (Smcdeleg, Ssccfg), and what they can
 * do. Any access in this file may trap. Other files access only what has not trapped here.
 */

#define pr_fmt(fmt) "riscv_pmu: ssccfg: " fmt

#include <linux/smp.h>

#include "../csr.h"
#include "../platform/platform.h"
#include "ssccfg.h"

/* Numbers of counters: 1 is the time CSR's. */
#define DELEGATED_ALL	((u32)~BIT(PMU_CSR_CTR_TIME))

/* What the probe has found on a hart, and the first CSR whose access trapped there */
static DEFINE_PER_CPU(struct ssccfg_delegated, delegated_found);
static DEFINE_PER_CPU(unsigned int, delegated_trap);

/* --- the selected counter; each function returns 0, or the CSR whose access traps --- */

static unsigned int delegated_read(unsigned int csr, unsigned int high_csr, u64 *value)
{
	unsigned long low, high = 0;
	unsigned int trap = riscv_pmu_csr_try_read(csr, &low);

	if (IS_ENABLED(CONFIG_32BIT) && !trap)
		trap = riscv_pmu_csr_try_read(high_csr, &high);
	*value = (u64)high << 32 | low;
	return trap;
}

static unsigned int delegated_write(unsigned int csr, unsigned int high_csr, u64 value)
{
	unsigned int trap = riscv_pmu_csr_try_write(csr, (unsigned long)value);

	if (IS_ENABLED(CONFIG_32BIT) && !trap)
		trap = riscv_pmu_csr_try_write(high_csr, upper_32_bits(value));
	return trap;
}

/* Finds the width of a stopped counter. Its value is lost. */
static unsigned int delegated_measure_value(struct ssccfg_delegated *found, unsigned int hpm)
{
	unsigned int trap;
	u64 value;

	trap = delegated_write(CSR_SIREG, PMU_CSR_SIREG4, U64_MAX) ?:
	       delegated_read(CSR_SIREG, PMU_CSR_SIREG4, &value) ?:
	       delegated_write(CSR_SIREG, PMU_CSR_SIREG4, 0);
	/* While it is in use, it is read by its own CSR. */
	if (!trap && !riscv_pmu_csr_is_readable(hpm))
		trap = CSR_CYCLE + hpm;
	if (!trap) {
		found->width[hpm] = fls64(value);
		found->values |= BIT(hpm);
	}

	return trap;
}

/* Finds the filters and the overflow flag of a stopped counter. Its event is lost. */
static unsigned int delegated_measure_event(struct ssccfg_delegated *found, unsigned int hpm)
{
	u64 event;
	unsigned int trap = delegated_write(PMU_CSR_SIREG2, PMU_CSR_SIREG5,
					    PMU_HPMEVENT_OF | PMU_HPMEVENT_INH) ?:
			    delegated_read(PMU_CSR_SIREG2, PMU_CSR_SIREG5, &event) ?:
			    delegated_write(PMU_CSR_SIREG2, PMU_CSR_SIREG5, 0);

	if (!trap) {
		found->events |= BIT(hpm);
		found->inh[hpm] = FIELD_GET(PMU_HPMEVENT_INH, event);
		found->overflows |= event & PMU_HPMEVENT_OF ? BIT(hpm) : 0;
	}

	return trap;
}

/* --- this hart --- */

/* Finds the counters that can be read. The others are not delegated, or do not exist. */
static unsigned int delegated_find(u32 *hpms)
{
	unsigned int first_trap = 0, trap;
	unsigned long value;

	*hpms = 0;
	for (u32 left = DELEGATED_ALL; left; left &= left - 1) {
		unsigned int hpm = __ffs(left);

		trap = riscv_pmu_csr_try_write(CSR_SISELECT, PMU_ISELECT_CTR + hpm);
		if (trap)
			return trap;
		trap = riscv_pmu_csr_try_read(CSR_SIREG, &value);
		first_trap = first_trap ?: trap;
		*hpms |= trap ? 0 : BIT(hpm);
	}

	return first_trap;
}

static unsigned int delegated_measure_ctrs(struct ssccfg_delegated *found, u32 hpms)
{
	unsigned int first_trap = 0, trap;

	for (; hpms; hpms &= hpms - 1) {
		unsigned int hpm = __ffs(hpms);

		trap = riscv_pmu_csr_try_write(CSR_SISELECT, PMU_ISELECT_CTR + hpm) ?:
		       delegated_measure_value(found, hpm) ?:
		       delegated_measure_event(found, hpm);
		first_trap = first_trap ?: trap;
	}

	return first_trap;
}

/*
 * Returns the first CSR whose access trapped, or 0. A trap is usual: not all counters exist.
 * scountinhibit alone does not prove a delegation: QEMU 10.0.2 lets S-mode access it even if
 * M-mode delegates no counter. If a write of it traps, no counter can be stopped, so none is used.
 */
static unsigned int delegated_measure(struct ssccfg_delegated *found)
{
	unsigned long select, inhibit;
	unsigned int first_trap, trap;
	u32 hpms;

	*found = (struct ssccfg_delegated){};
	trap = riscv_pmu_csr_try_read(CSR_SISELECT, &select);
	if (trap)
		return trap;

	first_trap = delegated_find(&hpms);
	if (hpms)
		trap = riscv_pmu_csr_try_read(PMU_CSR_SCOUNTINHIBIT, &inhibit) ?:
		       riscv_pmu_csr_try_write(PMU_CSR_SCOUNTINHIBIT, inhibit | hpms);
	if (hpms && !trap) {
		first_trap = delegated_measure_ctrs(found, hpms) ?: first_trap;
		trap = riscv_pmu_csr_try_write(PMU_CSR_SCOUNTINHIBIT, inhibit);
	}
	trap = riscv_pmu_csr_try_write(CSR_SISELECT, select) ?: trap;
	if (trap)
		*found = (struct ssccfg_delegated){};
	return trap ?: first_trap;
}

static void delegated_measure_here(void *unused)
{
	this_cpu_write(delegated_trap, delegated_measure(this_cpu_ptr(&delegated_found)));
}

/* What riscv_pmu_ssccfg_select_cpus() has found on this hart */
const struct ssccfg_delegated *riscv_pmu_ssccfg_found(void)
{
	return raw_cpu_ptr(&delegated_found);
}

/* Whether this hart has the delegated counters that were found on another one. None is in use. */
bool riscv_pmu_ssccfg_has_same_ctrs(const struct ssccfg_delegated *others)
{
	struct ssccfg_delegated found;

	delegated_measure(&found);
	return !memcmp(&found, others, sizeof(found));
}

/* --- all harts --- */

/* Returns the first hart with delegated counters, or nr_cpu_ids. */
static unsigned int delegated_measure_all(const struct cpumask *cpus)
{
	unsigned int cpu, first = nr_cpu_ids;

	for_each_cpu(cpu, cpus) {
		if (smp_call_function_single(cpu, delegated_measure_here, NULL, 1))
			continue;
		if (!per_cpu(delegated_found, cpu).values)
			pr_info_once("hart %u has no delegated counters, because CSR 0x%x traps: check %s, and that the firmware sets menvcfg.CDE, mstateen0 and mcounteren\n",
				     cpu, per_cpu(delegated_trap, cpu),
				     riscv_pmu_platform_ext_source());
		else if (first == nr_cpu_ids)
			first = cpu;
	}

	return first;
}

/*
 * Selects the first hart that has delegated counters, and those that have the same ones. A hart is
 * probed if the firmware lists Ssccfg and Sscsrind for it. One that is offline cannot be probed:
 * until it comes online, it is assumed to have the same counters.
 */
int riscv_pmu_ssccfg_select_cpus(struct cpumask *cpus)
{
	unsigned int cpu, first;

	for_each_cpu(cpu, cpus) {
		if (!riscv_pmu_platform_lists_ext(cpu, "ssccfg") ||
		    !riscv_pmu_platform_lists_ext(cpu, "sscsrind"))
			cpumask_clear_cpu(cpu, cpus);
	}

	first = delegated_measure_all(cpus);
	if (first == nr_cpu_ids)
		return -ENODEV;

	for_each_cpu_and(cpu, cpus, cpu_online_mask) {
		if (memcmp(&per_cpu(delegated_found, cpu), &per_cpu(delegated_found, first),
			   sizeof(struct ssccfg_delegated)))
			cpumask_clear_cpu(cpu, cpus);
	}

	return 0;
}
