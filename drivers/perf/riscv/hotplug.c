// SPDX-License-Identifier: GPL-2.0
/* CPU hotplug, idle states that lose the counters, and shutdown. */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/reboot.h>
#include <linux/smp.h>

#include <asm/pmu_csr.h>

#include "apply.h"
#include "branch/branch.h"
#include "csr.h"
#include "entries.h"
#include "nmi/nmi.h"
#include "platform/platform.h"
#include "print.h"
#include "update.h"
#include "user/user.h"

/* Harts that were checked: they stay what they are when they go offline and come online again. */
static struct cpumask hotplug_checked;

/**
 * riscv_pmu_hotplug_check() - check that this hart has what its PMU has on the hart that was probed
 * @pmu:	the PMU
 *
 * This finds whatever would trap on this hart, or count something else: code that uses a counter
 * does not check it again. Branch records and NMIs are not needed: riscv_pmu_branch_hart_start()
 * and riscv_pmu_nmi_hart_start() do without them.
 * Context: interrupts off; no counter is in use.
 * Return: NULL, or what differs.
 */
const char *riscv_pmu_hotplug_check(struct riscv_pmu *pmu)
{
	const char *what = riscv_pmu_platform_check_hart(pmu);

	if (what)
		return what;
	/* The firmware takes the interrupt if it delivers overflows as NMIs. */
	if (pmu->irq_ctrs && !pmu->no_irq_why && !pmu->nmi &&
	    !riscv_pmu_csr_can_enable_irq(pmu->hwirq))
		return "its overflow interrupt, which sie does not enable";

	return pmu->ops.check_hart(pmu);
}

/* For a hart that was checked at boot: it is not checked again when it starts. */
void __init riscv_pmu_hotplug_skip_check(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &hotplug_checked);
}

/* The PMU for the type of core of this hart, if that is not @pmu; NULL if there is none. */
static struct riscv_pmu *hotplug_find_other(const struct riscv_pmu *pmu)
{
	for (unsigned int i = 0; i < riscv_pmu_nr_types; i++) {
		struct riscv_pmu *other = &riscv_pmu_types[i];

		if (other != pmu && !riscv_pmu_hotplug_check(other))
			return other;
	}

	return NULL;
}

/*
 * Checks a hart that comes online. At boot, a hart that is offline is assigned to the first PMU: if
 * it differs, it moves to the PMU of its type of core. Returns the hart's PMU, or NULL if it has
 * none.
 */
static struct riscv_pmu *hotplug_confirm(unsigned int cpu)
{
	struct riscv_pmu *pmu = riscv_pmu_of(cpu), *other;
	const char *what;

	if (!pmu || cpumask_test_and_set_cpu(cpu, &hotplug_checked))
		return pmu;

	what = riscv_pmu_hotplug_check(pmu);
	if (!what)
		return pmu;

	other = hotplug_find_other(pmu);
	cpumask_clear_cpu(cpu, &pmu->cpus);
	if (other)
		cpumask_set_cpu(cpu, &other->cpus);
	else
		riscv_pmu_warn("no PMU on hart %u, because it differs from harts %*pbl in %s: boot with this hart online to give it a PMU of its own, or update the firmware\n",
			       cpu, cpumask_pr_args(&pmu->cpus), what);
	per_cpu_ptr(pmu->harts, cpu)->pmu = other;
	riscv_pmu_set_of(cpu, other);
	return other;
}

static int hotplug_start_hart(unsigned int cpu)
{
	struct riscv_pmu *pmu = hotplug_confirm(cpu);
	struct riscv_pmu_hart *hart;

	if (!pmu) {
		riscv_pmu_csr_branch_clear_for_guests();
		/* The firmware may have enabled user access; the vDSO reads the time CSR. */
		riscv_pmu_csr_set_user_mask(PMU_SCOUNTEREN_TM);
		return 0;
	}

	hart = riscv_pmu_this_hart(pmu);
	riscv_pmu_hart_reset(pmu, hart);
	riscv_pmu_poll_hart_start(hart);
	pmu->ops.hart_start(pmu);
	riscv_pmu_branch_hart_start(hart);
	riscv_pmu_irq_enable(pmu, hart);
	riscv_pmu_nmi_hart_start(hart);
	riscv_pmu_user_hart_start(hart);
	return 0;
}

/*
 * Before a hart goes offline, perf removes all events from it; before a reboot, it does not.
 * scounteren is not changed, because tasks keep running during a reboot, and clock_gettime()
 * in the vDSO reads the time CSR.
 */
static int hotplug_stop_hart(unsigned int cpu)
{
	struct riscv_pmu *pmu = riscv_pmu_of(cpu);
	struct riscv_pmu_hart *hart;

	if (!pmu)
		return 0;

	hart = riscv_pmu_this_hart(pmu);
	/* If the timer's handler runs on another hart, it returns at once: this hardly waits. */
	hrtimer_cancel(&hart->poll.timer);
	riscv_pmu_nmi_hart_stop(hart);
	riscv_pmu_irq_disable(pmu, hart);
	riscv_pmu_branch_hart_stop(hart);
	pmu->ops.hart_stop(pmu);
	return 0;
}

/*
 * A non-retentive idle state: when the hart resumes, its counters are in an unknown state. They
 * are initialised at once only if an event uses them; otherwise, when the next event is added.
 */
static int hotplug_pm_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());
	struct riscv_pmu_hart *hart;

	if (!pmu) {
		riscv_pmu_csr_set_user_mask(PMU_SCOUNTEREN_TM);
		return NOTIFY_OK;
	}

	hart = riscv_pmu_this_hart(pmu);
	if (hart->shut_down)
		return NOTIFY_OK;

	switch (action) {
	case CPU_PM_ENTER:
		riscv_pmu_nmi_hart_suspend(hart);
		riscv_pmu_begin_update(pmu, hart);
		riscv_pmu_hart_save(pmu, hart);
		break;
	case CPU_PM_ENTER_FAILED:
	case CPU_PM_EXIT:
		hart->needs_start = true;
		riscv_pmu_branch_hart_resume(hart);
		if (hart->wanted.sched.used)
			riscv_pmu_hart_init_counters(pmu, hart);
		riscv_pmu_user_hart_start(hart);
		riscv_pmu_nmi_hart_resume(hart);
		riscv_pmu_commit_update(pmu, hart);
		break;
	}

	return NOTIFY_OK;
}

static struct notifier_block hotplug_pm_nb = { .notifier_call = hotplug_pm_notify };

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
 * The next software, for example a kernel started by kexec, has to find all counters stopped
 * and no overflow interrupt pending. Until it starts, tasks and their events remain, but no
 * counter is programmed any more. riscv_pmu_commit_update() makes tasks that read counters in
 * user space use read() instead.
 */
static int hotplug_reboot_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	on_each_cpu(hotplug_stop_for_good, NULL, 1);
	return NOTIFY_OK;
}

static struct notifier_block hotplug_reboot_nb = { .notifier_call = hotplug_reboot_notify };

/* Brings each hart's counters to a known state, even without a PMU; if offline, when it starts. */
int __init riscv_pmu_hotplug_init(void)
{
	return cpuhp_setup_state(CPUHP_AP_PERF_RISCV_STARTING, "perf/riscv/pmu:starting",
				 hotplug_start_hart, hotplug_stop_hart) ?:
	       register_reboot_notifier(&hotplug_reboot_nb) ?:
	       cpu_pm_register_notifier(&hotplug_pm_nb);
}
