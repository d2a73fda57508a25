// SPDX-License-Identifier: GPL-2.0
/*
 * Harts that come up and go down, and that lose their counters in between.
 */

#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/notifier.h>

#include "internal.h"

static int hotplug_start_hart(unsigned int cpu)
{
	struct riscv_pmu *pmu = riscv_pmu_of(cpu);

	if (!pmu)
		return 0;

	riscv_pmu_hart_reset(pmu, riscv_pmu_this_hart(pmu));
	riscv_pmu_poll_hart_start(riscv_pmu_this_hart(pmu));
	pmu->ops.hart_start(pmu);
	riscv_pmu_user_hart_start(riscv_pmu_this_hart(pmu));
	return 0;
}

/* perf has taken its events off this hart before it gets here. */
static int hotplug_stop_hart(unsigned int cpu)
{
	struct riscv_pmu *pmu = riscv_pmu_of(cpu);

	if (!pmu)
		return 0;

	riscv_pmu_poll_hart_stop(riscv_pmu_this_hart(pmu));
	riscv_pmu_irq_disable(pmu, riscv_pmu_this_hart(pmu));
	pmu->ops.hart_stop(pmu);
	riscv_pmu_user_hart_stop(riscv_pmu_this_hart(pmu));
	return 0;
}

/* A non-retentive idle state: the hart comes back from HSM resume with its counters reset. */
static int hotplug_pm_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());
	struct riscv_pmu_hart *hart;

	if (!pmu)
		return NOTIFY_OK;

	hart = riscv_pmu_this_hart(pmu);
	switch (action) {
	case CPU_PM_ENTER:
		riscv_pmu_collect(pmu, hart);
		riscv_pmu_hart_forget(pmu, hart);
		break;
	case CPU_PM_ENTER_FAILED:
	case CPU_PM_EXIT:
		pmu->ops.hart_start(pmu);
		riscv_pmu_user_hart_start(hart);
		riscv_pmu_finish(pmu, hart);
		break;
	}

	return NOTIFY_OK;
}

static struct notifier_block hotplug_pm_nb = {
	.notifier_call = hotplug_pm_notify,
};

/**
 * riscv_pmu_hotplug_init() - bring the counters of every hart to a known state, now and later
 *
 * Return: 0 or a negative errno.
 */
int __init riscv_pmu_hotplug_init(void)
{
	int err = cpuhp_setup_state(CPUHP_AP_PERF_RISCV_STARTING, "perf/riscv/pmu:starting",
				    hotplug_start_hart, hotplug_stop_hart);

	return err ?: cpu_pm_register_notifier(&hotplug_pm_nb);
}
