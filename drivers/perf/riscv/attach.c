// SPDX-License-Identifier: GPL-2.0
/* Finds a counter for an event that is being added, or whose last counter holds another config. */

#include <linux/list.h>

#include "counter.h"
#include "update.h"

/*
 * Other pending events of a counter that has refused their config can not stay on it. They are
 * stopped, and the apply that follows must not program the config again.
 */
static noinline void attach_stop_others(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					unsigned int ctr)
{
	u64 bit = BIT_ULL(ctr);

	riscv_pmu_hart_stop_refused(pmu, hart, bit);
	hart->dirty &= ~bit;
	hart->pending &= ~bit;
	hart->pending_irq &= ~bit;
	hart->reload &= ~bit;
}

/**
 * riscv_pmu_event_find_ctr() - find a counter that accepts an event's config, and attach the event
 * @pmu:	the PMU
 * @hart:	this hart
 * @ev:		the event
 *
 * Each refusal leaves one counter less to try. If none is left, print a message: for raw events it
 * may not be known before.
 *
 * Context: interrupts off, during an update.
 * Return: 0; -EAGAIN if no counter is free; or the errno of the last refusal.
 */
int riscv_pmu_event_find_ctr(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     struct riscv_pmu_event *ev)
{
	int err;

	for (;;) {
		err = riscv_pmu_event_assign(pmu, hart, ev);
		if (err || !riscv_pmu_hart_validate(pmu, hart, ev))
			break;
		riscv_pmu_event_detach(hart, ev);
		if (!list_empty(&ev->counter->events))
			attach_stop_others(pmu, hart, ev->ctr);
	}
	if (unlikely(err && !ev->candidates))
		riscv_pmu_warn_refused(ev->req.ctrs, &ev->req.cfg);

	return err;
}
