// SPDX-License-Identifier: GPL-2.0
/* The PMUs of this machine, one for each CPU type, and the PMU that each hart has. */

#include <linux/cpu.h>

#include "nmi/block.h"
#include "pmu.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

struct riscv_pmu riscv_pmu_types[RISCV_PMU_MAX_CPU_TYPES];
unsigned int riscv_pmu_nr_types;
#ifdef CONFIG_RISCV_PMU_NMI
DEFINE_PER_CPU(unsigned int, riscv_pmu_nmi_blocks);
#endif
static DEFINE_PER_CPU(struct riscv_pmu *, pmu_of);

/* The PMU of the hart that booted; NULL before it has been probed. */
struct riscv_pmu *riscv_pmu_get(void)
{
	return riscv_pmu_nr_types ? &riscv_pmu_types[0] : NULL;
}

/* The PMU of a hart; NULL if it has none. */
struct riscv_pmu *riscv_pmu_of(unsigned int cpu)
{
	return per_cpu(pmu_of, cpu);
}

/* Notes which PMU a hart has (NULL: none), before the hart uses it. */
void riscv_pmu_set_of(unsigned int cpu, struct riscv_pmu *pmu)
{
	per_cpu(pmu_of, cpu) = pmu;
}

#ifdef CONFIG_RISCV_PMU_NMI
/**
 * riscv_pmu_samples_by_nmi() - whether overflows are NMIs on all online harts
 * @pmu:	the PMU
 *
 * The firmware may refuse NMIs to a hart that comes online later; that hart uses the interrupt.
 *
 * Context: process.
 * Return: true if a hart of the PMU is online, and all that are online have NMIs.
 */
bool riscv_pmu_samples_by_nmi(const struct riscv_pmu *pmu)
{
	bool some = false;
	unsigned int cpu;

	if (!pmu->nmi)
		return false;

	guard(cpus_read_lock)();
	for_each_cpu_and(cpu, &pmu->cpus, cpu_online_mask) {
		if (!per_cpu_ptr(pmu->harts, cpu)->irq.nmi)
			return false;
		some = true;
	}

	return some;
}
#endif
