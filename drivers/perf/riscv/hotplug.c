// SPDX-License-Identifier: GPL-2.0
/*
 * Harts that come up and go down, and that lose their counters in between.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/reboot.h>
#include <linux/smp.h>

#include <asm/pmu_csr.h>

#include "counter.h"
#include "csr.h"
#include "entries.h"
#include "update.h"

/*
 * Checks that a hart that comes up has the counters of its PMU. A hart that was offline at boot
 * was assigned to the PMU of the harts with an equal devicetree node. If its delegated counters
 * differ, it is removed from that PMU. Returns NULL if the hart has none.
 */
static struct riscv_pmu *hotplug_confirm(unsigned int cpu)
{
	struct riscv_pmu *pmu = riscv_pmu_of(cpu);

	if (!pmu || riscv_pmu_csr_confirm())
		return pmu;

	cpumask_clear_cpu(cpu, &pmu->cpus);
	riscv_pmu_set_of(cpu, NULL);
	per_cpu_ptr(pmu->harts, cpu)->pmu = NULL;
	pr_warn("hart %u was offline at boot, and the firmware delegates other counters to it than to the harts with the same devicetree node: no PMU on this hart. Boot with all harts online, or correct the devicetree\n",
		cpu);
	return NULL;
}

static int hotplug_start_hart(unsigned int cpu)
{
	struct riscv_pmu *pmu = hotplug_confirm(cpu);

	if (!pmu) {
		/* Firmware may have let user space read the counters. The vDSO needs the time. */
		riscv_pmu_csr_set_user_mask(PMU_SCOUNTEREN_TM);
		return 0;
	}

	riscv_pmu_hart_reset(pmu, riscv_pmu_this_hart(pmu));
	riscv_pmu_poll_hart_start(riscv_pmu_this_hart(pmu));
	pmu->ops.hart_start(pmu);
	riscv_pmu_irq_enable(pmu, riscv_pmu_this_hart(pmu));
	riscv_pmu_user_hart_start(riscv_pmu_this_hart(pmu));
	return 0;
}

/*
 * When a hart goes offline, perf has removed all events from it before; at a reboot it has
 * not. scounteren is left alone, because tasks run on during a reboot, and clock_gettime()
 * in the vDSO reads the time CSR.
 */
static int hotplug_stop_hart(unsigned int cpu)
{
	struct riscv_pmu *pmu = riscv_pmu_of(cpu);

	if (!pmu)
		return 0;

	riscv_pmu_poll_hart_stop(riscv_pmu_this_hart(pmu));
	riscv_pmu_irq_disable(pmu, riscv_pmu_this_hart(pmu));
	pmu->ops.hart_stop(pmu);
	return 0;
}

/*
 * A non-retentive idle state: the hart comes back from HSM resume with its counters
 * reset. Where no event waits for them, that costs nothing before one comes.
 */
static int hotplug_pm_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());
	struct riscv_pmu_hart *hart;

	if (!pmu)
		return NOTIFY_OK;

	hart = riscv_pmu_this_hart(pmu);
	if (hart->shut_down)
		return NOTIFY_OK;

	switch (action) {
	case CPU_PM_ENTER:
		riscv_pmu_begin_update(pmu, hart);
		riscv_pmu_hart_save(pmu, hart);
		break;
	case CPU_PM_ENTER_FAILED:
	case CPU_PM_EXIT:
		hart->needs_start = true;
		if (hart->wanted.sched.used)
			riscv_pmu_hart_init_counters(pmu, hart);
		riscv_pmu_user_hart_start(hart);
		riscv_pmu_commit_update(pmu, hart);
		break;
	}

	return NOTIFY_OK;
}

static struct notifier_block hotplug_pm_nb = {
	.notifier_call = hotplug_pm_notify,
};

static void hotplug_stop_for_good(void *unused)
{
	unsigned int cpu = smp_processor_id();
	struct riscv_pmu *pmu = riscv_pmu_of(cpu);
	struct riscv_pmu_hart *hart;

	if (!pmu)
		return;

	hart = riscv_pmu_this_hart(pmu);
	riscv_pmu_begin_update(pmu, hart);
	riscv_pmu_hart_save(pmu, hart);
	hart->shut_down = true;
	hotplug_stop_hart(cpu);
	riscv_pmu_commit_update(pmu, hart);
}

/*
 * What runs next, a kernel by kexec say, finds counters that stand still, and no
 * interrupt pending. Until then there still are tasks, and their events, but no
 * counter is programmed for them. Those that read counters themselves are told to use
 * read(), in riscv_pmu_commit_update().
 */
static int hotplug_reboot_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	on_each_cpu(hotplug_stop_for_good, NULL, 1);
	return NOTIFY_OK;
}

static struct notifier_block hotplug_reboot_nb = {
	.notifier_call = hotplug_reboot_notify,
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

	if (err)
		return err;

	return register_reboot_notifier(&hotplug_reboot_nb) ?:
	       cpu_pm_register_notifier(&hotplug_pm_nb);
}
