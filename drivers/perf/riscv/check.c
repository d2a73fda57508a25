// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the invariants of a hart's state, which pmu.h lists, after each apply. Debug kernels and
 * KUnit do so.
 */

#include <linux/bug.h>
#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>

#include "apply.h"
#include "counter.h"
#include "nmi/block.h"

/* Off for tests of costs and delays, in which the instructions of the checks would count. */
static bool check_enabled __read_mostly = true;
module_param_named(check, check_enabled, bool, 0444);
MODULE_PARM_DESC(check, "Check the driver's state after each change (default: yes)");

/* A warning for each kind of error, once. */
#define CHECK(condition)	WARN_ONCE(!(condition), "riscv_pmu: not true: " #condition "\n")

/**
 * struct check_nr - numbers of events
 * @attached:	all of them
 * @irq:	those that need an overflow interrupt and are not stopped
 * @polled:	those whose overflow points the timer checks and that are not stopped
 */
struct check_nr {
	unsigned int attached;
	unsigned int irq;
	unsigned int polled;
};

static void check_active(const struct riscv_pmu_hart *hart, const struct riscv_pmu_event *ev)
{
	u64 bit = BIT_ULL(ev->ctr);

	CHECK(hart->hw.running & bit);
	CHECK(hart->hw.loaded & bit);
	CHECK(ev->counter->cfg.event_idx == ev->req.cfg.event_idx);
	CHECK(ev->counter->cfg.event_data == ev->req.cfg.event_data);
	CHECK(!((ev->counter->cfg.inh ^ ev->req.cfg.inh) & ~RISCV_PMU_INH_GUESTS));
	CHECK(!ev->pending_delta);
	CHECK(hart->hw.armed & bit || !riscv_pmu_event_needs_irq(ev));
}

static void check_event(const struct riscv_pmu_hart *hart, const struct riscv_pmu_event *ev,
			unsigned int ctr, struct check_nr *nr)
{
	nr->attached++;
	CHECK(ev->hart == hart);
	CHECK(ev->ctr == ctr && ev->counter == &hart->counter[ctr]);
	CHECK(ev->state == RISCV_PMU_EVENT_STOPPED || ev->state == RISCV_PMU_EVENT_ACTIVE);
	if (ev->state != RISCV_PMU_EVENT_ACTIVE)
		return;

	check_active(hart, ev);
	nr->irq += riscv_pmu_event_needs_irq(ev);
	nr->polled += !!(ev->flags & RISCV_PMU_EV_POLLED);
}

static void check_counter(const struct riscv_pmu_hart *hart, unsigned int ctr, struct check_nr *nr)
{
	const struct riscv_pmu_counter *counter = &hart->counter[ctr];
	bool used = hart->wanted.sched.used & BIT_ULL(ctr);
	bool programmed = riscv_pmu_counter_is_programmed(counter);
	bool wanted = !used || riscv_pmu_config_is_equal(&counter->cfg, &hart->wanted.cfg[ctr]);
	const struct riscv_pmu_event *ev;

	CHECK(used == !list_empty(&counter->events));
	CHECK(!!(hart->hw.holds & BIT_ULL(ctr)) == (programmed && wanted));
	CHECK(programmed || !(hart->hw.running & BIT_ULL(ctr)));
	list_for_each_entry(ev, &counter->events, node)
		check_event(hart, ev, ctr, nr);
}

/**
 * riscv_pmu_hart_check() - warn if an invariant of the hart's state does not hold
 * @pmu:	the PMU
 * @hart:	this hart, all changes applied
 *
 * Context: any, on this hart; the run queue's lock may be held.
 */
void riscv_pmu_hart_check(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart)
{
	struct check_nr nr = {};

	if (!check_enabled)
		return;

	/* A console may wake a task, which takes the run queue's lock. */
	guard(irqsave)();
	printk_deferred_enter();
	CHECK(!(hart->changed | hart->batch.stop));
	CHECK(!((hart->hw.holds | hart->hw.running) & ~pmu->ctrs));
	CHECK(!(hart->hw.armed & ~hart->hw.running));
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		check_counter(hart, ctr, &nr);
	CHECK(nr.attached == hart->stats.attached - hart->stats.detached);
	CHECK(nr.irq == hart->irq.events);
	CHECK(nr.polled == hart->poll.events);
	/* Otherwise an NMI could have interrupted the apply. */
	CHECK(!pmu->nmi || hart->updating || riscv_pmu_nmi_is_blocked());
	printk_deferred_exit();
}
