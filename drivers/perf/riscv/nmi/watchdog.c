// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's detector of hard lockups (CONFIG_HARDLOCKUP_DETECTOR) with a cycles event on each
 * hart, whose overflow interrupts a hart that hangs with interrupts off.
 */

#include <linux/cpufreq.h>
#include <linux/nmi.h>
#include <linux/string.h>

#include "../entries.h"
#include "entry.h"
#include "nmi.h"
#include "../print.h"

/* Assumed if cpufreq does not know the frequency, as on arm64 */
#define WATCHDOG_MAX_HZ		5000000000ULL

/* In cycles, for checks @watchdog_thresh seconds apart at the largest frequency of the hart */
u64 hw_nmi_get_sample_period(int watchdog_thresh)
{
	u64 hz = cpufreq_get_hw_max_freq(raw_smp_processor_id()) * 1000ULL;

	return (hz ?: WATCHDOG_MAX_HZ) * watchdog_thresh;
}

/* Whether the overflows of cycles are NMIs on all harts, also while they hang */
bool __init arch_perf_nmi_is_available(void)
{
	if (!riscv_pmu_nmi_in_use)
		return false;
	for (unsigned int i = 0; i < riscv_pmu_nr_types; i++) {
		const struct riscv_pmu *pmu = &riscv_pmu_types[i];

		if (!riscv_pmu_samples_by_nmi(pmu) ||
		    !strcmp(pmu->cycles_sampling, "polled") ||
		    !strcmp(pmu->cycles_sampling, "none"))
			return false;
	}

	return true;
}

/* The kernel's own attempt, earlier in the boot, has found no NMIs. */
void __init riscv_pmu_nmi_watchdog_init(void)
{
	if (arch_perf_nmi_is_available())
		lockup_detector_retry_init();
	else if (riscv_pmu_nmi_in_use)
		riscv_pmu_warn("no detector of hard lockups: not all harts sample cycles by NMIs (caps/cycles_sampling)\n");
}
