// SPDX-License-Identifier: GPL-2.0
/*
 * Counters keep running when their last event is removed. When no event is open any more, the
 * counters of all harts are stopped. In a guest, whose running counters use counters of the host,
 * unused ones are stopped every second.
 */

#include <linux/atomic.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "apply.h"
#include "nmi/block.h"
#include "update.h"

/* Delay between the close of the last event and the stop of the counters. */
#define UNUSED_JIFFIES	HZ

static atomic_t unused_nr_events = ATOMIC_INIT(0);

static void unused_stop(void *unused)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());

	guard(riscv_pmu_irqsave)();
	if (pmu && !riscv_pmu_this_hart(pmu)->shut_down)
		riscv_pmu_hart_stop_unused(pmu, riscv_pmu_this_hart(pmu));
}

/* Only harts with running unused counters get an IPI, so that idle harts are not woken. */
static bool unused_exist(int cpu, void *unused)
{
	const struct riscv_pmu *pmu = riscv_pmu_of(cpu);

	return pmu && riscv_pmu_hart_unused(pmu, per_cpu_ptr(pmu->harts, cpu));
}

static void unused_work_fn(struct work_struct *work)
{
	bool used = atomic_read(&unused_nr_events);

	if (!used || riscv_pmu_types[0].in_guest)
		on_each_cpu_cond(unused_exist, unused_stop, NULL, 1);
	if (used && riscv_pmu_types[0].in_guest)
		schedule_delayed_work(to_delayed_work(work), UNUSED_JIFFIES);
}

static DECLARE_DELAYED_WORK(unused_work, unused_work_fn);

void riscv_pmu_event_opened(void)
{
	if (atomic_inc_return(&unused_nr_events) == 1 && riscv_pmu_types[0].in_guest)
		schedule_delayed_work(&unused_work, UNUSED_JIFFIES);
}

/* The delay avoids IPIs if another event is opened soon. */
void riscv_pmu_event_closed(void)
{
	if (!atomic_dec_and_test(&unused_nr_events))
		return;

	/* mod_delayed_work() needs a workqueue, whose name differs between Linux 6.12 and 7.2. */
	cancel_delayed_work(&unused_work);
	schedule_delayed_work(&unused_work, UNUSED_JIFFIES);
}
