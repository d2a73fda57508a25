// SPDX-License-Identifier: GPL-2.0
/* The overflow interrupt: its handler, and how it is found and requested. */

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/timex.h>

#include <asm/irq_regs.h>

#include "apply.h"
#include "branch/branch.h"
#include "csr.h"
#include "ebb/ebb.h"
#include "entries.h"
#include "fault.h"
#include "throttle.h"
#include "trace.h"
#include "update.h"

/* Handles one event of a paused counter, whose count is that of the time of the interrupt. */
static __always_inline void irq_handle_paused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					      struct riscv_pmu_event *ev, struct pt_regs *regs)
{
	if (riscv_pmu_event_has_overflowed(ev, ev->counter->count))
		riscv_pmu_event_handle_overflow(pmu, hart, ev, regs);
	else if (ev->flags & RISCV_PMU_EV_SAMPLING && ev->state == RISCV_PMU_EVENT_ACTIVE)
		riscv_pmu_event_pause_group(pmu, hart, ev);
}

/*
 * Handles one event of a counter that keeps running. A sampling event is paused here, or was paused
 * before as a member of another event's group, so that it does not count its own interrupt.
 */
static void irq_handle_shared(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      struct riscv_pmu_event *ev, struct pt_regs *regs)
{
	if (!riscv_pmu_event_needs_irq(ev) || ev->state == RISCV_PMU_EVENT_STOPPED)
		return;

	if (ev->state == RISCV_PMU_EVENT_ACTIVE) {
		riscv_pmu_event_add_delta(ev->event, ev,
					  riscv_pmu_event_take_delta(ev, ev->counter->count));
		riscv_pmu_event_pause(hart, ev);
	}
	if ((s64)ev->period_left <= 0)
		riscv_pmu_event_handle_overflow(pmu, hart, ev, regs);
	else
		riscv_pmu_event_pause_group(pmu, hart, ev);
}

/* Whether a counter runs on: counting events share it and count S-mode, so also the interrupt. */
static bool irq_is_shared(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;

	if (counter->cfg.inh & RISCV_PMU_INH_S)
		return false;

	list_for_each_entry(ev, &counter->events, node) {
		if (ev->state == RISCV_PMU_EVENT_ACTIVE && !riscv_pmu_event_needs_irq(ev))
			return true;
	}

	return false;
}

/* Several counters overflowed, or one with several events. */
static noinline void irq_handle_many(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs,
				     struct pt_regs *regs)
{
	struct riscv_pmu_event *ev, *next;
	u64 shared = 0;

	for_each_ctr(ctr, ctrs) {
		if (irq_is_shared(&hart->counter[ctr]))
			shared |= BIT_ULL(ctr);
	}
	riscv_pmu_hart_pause(pmu, hart, ctrs & ~shared);
	riscv_pmu_hart_update_counts(pmu, hart, shared);
	hart->changed |= shared;
	hart->hw.loaded &= ~shared;

	for_each_ctr(ctr, ctrs) {
		list_for_each_entry_safe(ev, next, &hart->counter[ctr].events, node) {
			if (shared & BIT_ULL(ctr))
				irq_handle_shared(pmu, hart, ev, regs);
			else
				irq_handle_paused(pmu, hart, ev, regs);
		}
	}
}

/* Most overflows are of one counter that one event uses. */
static void irq_handle_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs,
			    struct pt_regs *regs)
{
	struct riscv_pmu_counter *counter = &hart->counter[__ffs64(ctrs)];
	struct riscv_pmu_event *ev;

	if (unlikely(ctrs & (ctrs - 1) || !list_is_singular(&counter->events))) {
		irq_handle_many(pmu, hart, ctrs, regs);
		return;
	}

	ev = list_first_entry(&counter->events, struct riscv_pmu_event, node);
	riscv_pmu_hart_pause(pmu, hart, ctrs);
	/* Latched right after it, the other members of its group have counted as long. */
	if (unlikely(ev->event->group_leader->nr_siblings))
		riscv_pmu_event_latch(pmu, hart, ev->event);
	irq_handle_paused(pmu, hart, ev, regs);
}

/*
 * The overflowed counters to handle:
 *
 * - those with an overflow point. The others cost nothing, and do not interrupt again;
 * - narrow ones, whose flag has to be cleared so that the next overflow interrupts;
 * - on a vendor's core whose interrupt may stay pending as long as a flag is set: all.
 *
 * No flag is set if the counter overflowed while interrupts were off and was then started again. If
 * the overflow point had passed when the counter was started, the counter was set to overflow one
 * event later. On a slow hart each timer tick could restart it before it overflows. So it is
 * handled here.
 */
static u64 irq_choose_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 overflowed)
{
	u64 ctrs = riscv_pmu_hart_find_expected(hart, overflowed & hart->hw.armed);

	ctrs |= overflowed & pmu->narrow_ctrs;
	if (unlikely(pmu->level_irq))
		ctrs = overflowed;

	return likely(ctrs) ? ctrs : riscv_pmu_hart_find_missed(pmu, hart);
}

/* A counter overflowed before an event's overflow point, or caused an event-based branch. */
static noinline void irq_without_sample(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (!riscv_pmu_ebb_was_taken(hart)) {
		hart->stats.early++;
		return;
	}

	/* With a vendor's interrupt the flags would keep it pending. */
	if (!pmu->level_irq)
		riscv_pmu_hart_resume_idle(hart);
}

/**
 * riscv_pmu_hart_handle_irq() - handle all counters that have overflowed
 * @pmu:	the PMU
 * @hart:	this hart
 * @regs:	what was interrupted
 *
 * Only counters that overflowed are paused meanwhile, and one batch stops and starts them at the
 * end. One that overflowed before its event's overflow point, since it was written for another
 * event, is started for the rest of the distance.
 *
 * Starting a counter clears its overflow flag only while no interrupt is pending (OpenSBI 1.6). If
 * another counter's interrupt arrives in between, this one is found here again before its overflow
 * point, and is restarted.
 */
void riscv_pmu_hart_handle_irq(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			       struct pt_regs *regs)
{
	u64 overflowed, ctrs, samples = hart->stats.samples;

	riscv_pmu_set_updating(hart, true);
	overflowed = pmu->ops.overflowed(pmu, hart->hw.running & pmu->irq_ctrs);
	ctrs = irq_choose_ctrs(pmu, hart, overflowed);
	trace_overflow(overflowed, ctrs);
	hart->stats.irqs++;
	if (!ctrs) {
		hart->stats.spurious++;
		riscv_pmu_set_updating(hart, false);
		return;
	}

	riscv_pmu_ebb_begin_irq(hart);
	irq_handle_ctrs(pmu, hart, ctrs, regs);
	if (unlikely(hart->stats.samples == samples))
		irq_without_sample(pmu, hart);
	riscv_pmu_commit_update(pmu, hart);
}

static __always_inline void irq_handle(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       struct pt_regs *regs, u32 began)
{
	riscv_pmu_throttle_begin_irq(pmu, hart, began, user_mode(regs));
	riscv_pmu_hart_handle_irq(pmu, hart, regs);
	riscv_pmu_branch_unfreeze(hart);
	perf_sample_event_took(riscv_pmu_throttle_end_irq(hart, get_cycles()));
}

/* For an NMI, at once or later: the handler began at @began, in ticks. */
void riscv_pmu_handle_irq(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, struct pt_regs *regs,
			  u32 began)
{
	irq_handle(pmu, hart, regs, began);
}

static irqreturn_t irq_handler(int irq, void *dev)
{
	struct riscv_pmu_hart *hart = dev;

	irq_handle(hart->pmu, hart, get_irq_regs(), get_cycles());
	return IRQ_HANDLED;
}

/* Enables it on a hart that comes up, still masked: update_mask_irq() sets its bit in sie. */
void riscv_pmu_irq_enable(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	hart->irq.masked = true;
	if (!pmu->irq)
		return;

	hart->irq.mask = pmu->hwirq < BITS_PER_LONG ? BIT(pmu->hwirq) : 0;
	/* Discard an interrupt that was pending before the hart came up. */
	riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
	enable_percpu_irq(pmu->irq, IRQ_TYPE_NONE);
	riscv_pmu_csr_mask_irqs(hart->irq.mask);
}

/* Disables it on a hart that goes down. */
void riscv_pmu_irq_disable(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	hart->irq.mask = 0;
	if (pmu->irq)
		disable_percpu_irq(pmu->irq);
}

/* Finds and requests the interrupt. Returns NULL, or why there is none. */
static const char *__init irq_find(struct riscv_pmu *pmu)
{
	bool is_requested = false;
	struct irq_domain *domain;

	if (pmu->no_irq_why)
		return pmu->no_irq_why;
	if (!pmu->hwirq)
		return "this hart has no overflow interrupt (Sscofpmf)";
	if (!pmu->irq_ctrs)
		return "no counter that can interrupt";

	domain = irq_find_matching_fwnode(riscv_get_intc_hwnode(), DOMAIN_BUS_ANY);
	if (!domain)
		return "no interrupt controller for it";
	pmu->irq = riscv_pmu_should_fail() ? 0 : irq_create_mapping(domain, pmu->hwirq);
	if (!pmu->irq)
		return "cannot map the overflow interrupt";
	/* Another type of core may have the same interrupt, which is requested for all harts. */
	for (const struct riscv_pmu *other = riscv_pmu_types; other < pmu; other++)
		is_requested |= other->irq == pmu->irq;
	if (riscv_pmu_should_fail() ||
	    (!is_requested && request_percpu_irq(pmu->irq, irq_handler, "riscv-pmu", pmu->harts))) {
		pmu->irq = 0;
		return "cannot request the overflow interrupt";
	}

	return NULL;
}

/* Finds and requests the interrupt. If that fails, irq_ctrs becomes 0, and no_irq_why says why. */
void __init riscv_pmu_irq_probe(struct riscv_pmu *pmu)
{
	pmu->no_irq_why = irq_find(pmu);
	if (pmu->no_irq_why)
		pmu->irq_ctrs = 0;
}
