// SPDX-License-Identifier: GPL-2.0
/*
 * The overflow interrupt: its handler, and how it is found and requested.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/time64.h>
#include <linux/timex.h>

#include <asm/delay.h>
#include <asm/irq_regs.h>

#include "counter.h"
#include "csr.h"
#include "ebb.h"
#include "fault.h"
#include "internal.h"
#include "trace.h"

/* The longest minimum period. */
#define IRQ_FLOOR_MAX		BIT(30)

/*
 * In parts of a second: an interrupt that comes at least 50 us after the last one, and an event
 * whose last sample is at least 4 ms old, are not throttled.
 */
#define IRQ_IN_A_ROW		3
#define IRQ_CALM_HZ		20000
#define IRQ_APART_HZ		250

/* 1 / IRQ_CALM_HZ in ticks, and a tick in 1 / 2^10 ns: divisions are dear here. */
static u32 irq_calm_ticks __ro_after_init;
static u32 irq_tick_ns __ro_after_init;
#define IRQ_TICK_NS_SHIFT	10

/* One for all PMUs: a local interrupt has the same number on each hart. */
static bool irq_is_requested __initdata;

/*
 * The registers for a sample. The interrupt of an overflow in user mode may arrive only after
 * the kernel was entered. An event that excludes the kernel must not show a kernel address, so
 * its sample shows where user mode was left. NULL: the hart runs a kernel thread by now, and
 * there is no such place.
 */
static struct pt_regs *irq_sample_regs(const struct perf_event *event, struct pt_regs *regs)
{
	if (!event->attr.exclude_kernel || user_mode(regs))
		return regs;

	return current->flags & PF_KTHREAD ? NULL : task_pt_regs(current);
}

/*
 * A few events whose long periods happen to end together are not throttled, however close
 * their interrupts are; many short periods are. So several consecutive interrupts have to be
 * too close, and an event is throttled if its last sample is no older than sixteen interrupts
 * take.
 */
static bool irq_is_in_storm(const struct riscv_pmu_hart *hart,
			    const struct riscv_pmu_event *ev)
{
	if (likely(hart->stormy <= IRQ_IN_A_ROW))
		return false;

	return hart->irq_began - ev->last_sample <
	       min_t(u32, 2 * hart->irq_cost, riscv_timebase / IRQ_APART_HZ);
}

/*
 * A period may be so short that the next interrupt arrives before anything else has run.
 * Then the minimum period of the event is doubled at each overflow, until the interrupted
 * context gets enough time, and is reduced by an eighth at each overflow after that. A sample
 * stands for all periods that end before it.
 */
static void irq_mind_storm(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	bool in_storm = irq_is_in_storm(hart, ev);

	ev->last_sample = hart->irq_began;
	if (in_storm) {
		ev->min_period = min_t(u64, 2 * riscv_pmu_event_period_left(ev->event),
				       IRQ_FLOOR_MAX);
		hart->stats.extended++;
	} else if (ev->min_period) {
		ev->min_period -= DIV_ROUND_UP(ev->min_period, 8);
	}
}

/*
 * While the counter of a sampling event is stopped, the counting members of its group must not
 * count either, or they would count this interrupt. The next apply starts all of them
 * together. If the event excludes the kernel, this is not necessary.
 */
static void irq_pause_event(struct riscv_pmu_hart *hart, struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (ev->sampling || ev->state != RISCV_PMU_EVENT_ACTIVE)
		return;

	riscv_pmu_event_add_delta(event, riscv_pmu_event_take_delta(ev, ev->counter->count));
	riscv_pmu_event_start(hart, ev, 0);
}

static void irq_pause_group(struct riscv_pmu_hart *hart, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (leader->pmu == event->pmu)
		irq_pause_event(hart, leader);
	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu == event->pmu)
			irq_pause_event(hart, sibling);
	}
}

static bool irq_pauses_group(const struct riscv_pmu_event *ev)
{
	const struct perf_event *event = ev->event;

	return !ev->polled && !event->attr.exclude_kernel && event->group_leader->nr_siblings;
}

/* Latches the counts that the sample contains, so that its members have run equally long. */
static void irq_latch_group(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_event *ev)
{
	struct perf_event *event = ev->event;
	bool pauses = irq_pauses_group(ev);

	if (event->attr.sample_type & PERF_SAMPLE_READ || pauses)
		riscv_pmu_hart_latch(pmu, hart);
	if (pauses)
		irq_pause_group(hart, event);
}

/* Causes an event-based branch instead of a sample. ebb.c has its own throttling. */
static void irq_take_ebb(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	hart->latched = false;
	if (riscv_pmu_ebb_overflow(ev->event, hart->irq_began))
		hart->ebb_taken = true;
	else if (ev->state == RISCV_PMU_EVENT_ACTIVE)
		riscv_pmu_event_rearm(hart, ev, riscv_pmu_event_period_left(ev->event));
}

/**
 * riscv_pmu_event_handle_overflow() - take a sample, and set the next overflow point
 * @pmu:	the PMU
 * @hart:	this hart, in an update
 * @ev:	an event whose overflow point has passed, its counter up to date
 * @regs:	what was interrupted
 *
 * Context: hard interrupt.
 */
void riscv_pmu_event_handle_overflow(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				     struct riscv_pmu_event *ev, struct pt_regs *regs)
{
	/* Not on the stack, where the compiler may zero all of it before. */
	struct perf_sample_data *data = &hart->sample;
	struct perf_event *event = ev->event;
	struct hw_perf_event *hwc = &event->hw;
	bool stop;

	irq_latch_group(pmu, hart, ev);
	if (likely(ev->state == RISCV_PMU_EVENT_ACTIVE))
		riscv_pmu_event_add_delta(event,
					  riscv_pmu_event_take_delta(ev, ev->counter->count));
	if (!riscv_pmu_event_set_period(event))
		return;
	if (unlikely(ev->ebb)) {
		irq_take_ebb(hart, ev);
		return;
	}

	irq_mind_storm(hart, ev);
	hart->stats.samples++;
	hart->stats.merged += hwc->last_period / 2 >= hwc->sample_period;
	perf_sample_data_init(data, 0, hwc->last_period);
	/* perf has the event stopped until it starts it again: throttled, or at its limit. */
	regs = irq_sample_regs(event, regs);
	stop = regs && perf_event_overflow(event, data, regs);
	hart->latched = false;
	/* The next sample stands for the one that can not be shown. */
	if (!regs)
		ev->period_count += hwc->last_period;
	if (stop) {
		hart->stats.stopped++;
		event->pmu->stop(event, 0);
		return;
	}
	/* If it is pending, its handler has restarted it, as KVM's does. */
	if (ev->state == RISCV_PMU_EVENT_ACTIVE)
		riscv_pmu_event_rearm(hart, ev, riscv_pmu_event_period_left(event));
	else if (ev->state == RISCV_PMU_EVENT_PENDING)
		ev->period_left = riscv_pmu_event_period_left(event);
}

/* Its counter overflowed early, or for another event: pause the group of this one, too. */
static void irq_pause_for_early(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				struct riscv_pmu_event *ev)
{
	if (!irq_pauses_group(ev))
		return;

	riscv_pmu_hart_latch(pmu, hart);
	irq_pause_group(hart, ev->event);
	hart->latched = false;
}

/* The counter is paused: its count is that of the time of the interrupt. */
static __always_inline void irq_handle_counter(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					       struct riscv_pmu_counter *counter,
					       struct pt_regs *regs)
{
	struct riscv_pmu_event *ev, *next;

	list_for_each_entry_safe(ev, next, &counter->events, node) {
		if (riscv_pmu_event_has_overflowed(ev, counter->count))
			riscv_pmu_event_handle_overflow(pmu, hart, ev, regs);
		else if (ev->sampling && ev->state == RISCV_PMU_EVENT_ACTIVE)
			irq_pause_for_early(pmu, hart, ev);
	}
}

/* Counting events share this counter and count in S-mode, so that it has to keep running. */
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

/* Those of @ctrs that keep running during the interrupt, because counting events share them. */
static u64 irq_find_shared(const struct riscv_pmu_hart *hart, u64 ctrs)
{
	u64 shared = 0;

	for (; ctrs; ctrs &= ctrs - 1) {
		if (irq_is_shared(&hart->counter[__ffs64(ctrs)]))
			shared |= ctrs & -ctrs;
	}

	return shared;
}

/*
 * A sampling event does not count its own interrupt although the shared counter keeps
 * running: it is updated and stopped, and starts again with the next apply.
 */
static void irq_pause_sampling(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev,
			       u64 now)
{
	u64 left = ev->overflow_point - now;

	riscv_pmu_event_add_delta(ev->event, riscv_pmu_event_take_delta(ev, now));
	riscv_pmu_event_stop(hart, ev);
	riscv_pmu_event_start(hart, ev, left);
}

/* The counter keeps running for its counting events; the sampling ones are paused. */
static void irq_handle_shared(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      struct riscv_pmu_counter *counter, struct pt_regs *regs)
{
	struct riscv_pmu_event *ev, *next;
	u64 now = counter->count;

	list_for_each_entry_safe(ev, next, &counter->events, node) {
		bool due = riscv_pmu_event_has_overflowed(ev, now);

		if (!riscv_pmu_event_needs_irq(ev) || ev->state != RISCV_PMU_EVENT_ACTIVE)
			continue;
		irq_pause_sampling(hart, ev, now);
		if (due)
			riscv_pmu_event_handle_overflow(pmu, hart, ev, regs);
		else
			irq_pause_for_early(pmu, hart, ev);
	}
}

static noinline void irq_handle_many(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs,
				     struct pt_regs *regs)
{
	u64 shared = irq_find_shared(hart, ctrs);

	riscv_pmu_hart_pause(pmu, hart, ctrs & ~shared);
	riscv_pmu_hart_update_counts(pmu, hart, shared);
	hart->dirty |= shared;
	hart->reload |= shared;
	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (shared & BIT_ULL(ctr))
			irq_handle_shared(pmu, hart, &hart->counter[ctr], regs);
		else
			irq_handle_counter(pmu, hart, &hart->counter[ctr], regs);
	}
}

/* Most overflows are of one counter that one event uses. */
static void irq_handle_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs,
			    struct pt_regs *regs)
{
	struct riscv_pmu_counter *counter = &hart->counter[__ffs64(ctrs)];

	if (unlikely(ctrs & (ctrs - 1) || !list_is_singular(&counter->events))) {
		irq_handle_many(pmu, hart, ctrs, regs);
		return;
	}

	riscv_pmu_hart_pause(pmu, hart, ctrs);
	irq_handle_counter(pmu, hart, counter, regs);
}

/**
 * riscv_pmu_hart_clear_overflows() - pause counters whose overflow flag is set
 * @pmu:	the PMU
 * @hart:	this hart, about to apply
 *
 * They overflowed while the interrupt was masked. As long as the flag is set, a counter does not
 * interrupt; the next apply writes it, which clears the flag.
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_clear_overflows(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	riscv_pmu_hart_pause(pmu, hart, pmu->ops.overflowed(pmu, hart->running & pmu->irq_ctrs));
}

/*
 * The overflowed counters to handle: those with an overflow point; narrow ones, whose flag has
 * to be cleared to see the next overflow; and all of a vendor whose interrupt may stay pending
 * as long as a flag is set.
 *
 * An interrupt without a flag was raised while interrupts were off, and the counter was started
 * again since, which cleared the flag. An overflow point that had passed by then was set one
 * event ahead, so it has passed again by now. It has to be handled here: on a slow hart each
 * timer tick could start the counter again before it overflows.
 */
static u64 irq_choose_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 overflowed)
{
	u64 ctrs = riscv_pmu_hart_find_expected(hart, overflowed & hart->armed);

	ctrs |= overflowed & pmu->narrow_ctrs;
	if (unlikely(pmu->vendor))
		ctrs = overflowed;

	return likely(ctrs) ? ctrs : riscv_pmu_hart_find_missed(pmu, hart);
}

/* A counter overflowed early, or caused an event-based branch: its group is paused. */
static noinline void irq_without_sample(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (!hart->ebb_taken) {
		hart->stats.early++;
		return;
	}

	/* With a vendor's interrupt the flags would keep it pending. */
	if (!pmu->vendor)
		riscv_pmu_hart_resume_unused(pmu, hart);
}

/**
 * riscv_pmu_hart_handle_irq() - handle all counters that have overflowed
 * @pmu:	the PMU
 * @hart:	this hart
 * @regs:	what was interrupted
 *
 * Only counters that overflowed are paused meanwhile, and only those that have an overflow
 * point, or would wrap again unseen. Counters shared with counting
 * events keep running, so that those miss nothing. One batch stops and starts the counters at
 * the end. A counter that overflowed without an overflow point (its sampling event was removed,
 * its counting events remain) costs nothing and does not interrupt again. One that overflowed
 * early, since it was written for another event, is started for the remaining distance.
 * Starting a counter clears its overflow flag only while no interrupt is pending (OpenSBI 1.6).
 * If another counter's interrupt arrives in between, this one is found here again, has not
 * reached its overflow point, and is restarted.
 *
 * Context: hard interrupt.
 */
void riscv_pmu_hart_handle_irq(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			       struct pt_regs *regs)
{
	u64 overflowed = pmu->ops.overflowed(pmu, hart->running & pmu->irq_ctrs);
	u64 ctrs = irq_choose_ctrs(pmu, hart, overflowed);
	u64 samples = hart->stats.samples;

	trace_overflow(overflowed, ctrs);
	hart->stats.irqs++;
	if (!ctrs) {
		hart->stats.spurious++;
		return;
	}

	hart->updating = true;
	hart->ebb_taken = false;
	irq_handle_ctrs(pmu, hart, ctrs, regs);
	if (unlikely(hart->stats.samples == samples))
		irq_without_sample(pmu, hart);
	riscv_pmu_commit_update(pmu, hart);
}

static u64 irq_ticks_to_ns(u32 ticks)
{
	return (u64)ticks * irq_tick_ns >> IRQ_TICK_NS_SHIFT;
}

/**
 * riscv_pmu_irq_begin() - an interrupt that takes samples begins
 * @pmu:	the PMU
 * @hart:	this hart
 * @now:	its timer, in ticks
 * @in_user:	it has come in user mode
 *
 * It is too close if the last one ended less than three eighths of an interrupt's average
 * duration ago, or half of it if no firmware calls prolong the interrupt. About three quarters
 * of that time is spent on exit and entry, so that the interrupted context gets at least a
 * twentieth of the hart. In kernel mode this can be the softirqs at the end of the last
 * interrupt, which need as long again before they make progress, so the limit is twice as
 * long there. The limit is bounded, so that one very long interrupt does not make those after
 * it count as too close.
 */
void riscv_pmu_irq_begin(const struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u32 now,
			 bool in_user)
{
	u32 eighths = pmu->no_calls ? 4 : 3;
	u32 calm = eighths * hart->irq_cost >> (in_user ? 6 : 5);

	calm = min(calm, irq_calm_ticks);
	hart->stormy = now - hart->irq_ended < calm ? hart->stormy + 1 : 0;
	hart->irq_began = now;
}

/**
 * riscv_pmu_irq_end() - an interrupt that takes samples ends
 * @hart:	this hart
 * @began:	its timer when it began, in ticks
 * @now:	its timer
 *
 * Return: how long it took, in ns.
 */
u64 riscv_pmu_irq_end(struct riscv_pmu_hart *hart, u32 began, u32 now)
{
	hart->irq_ended = now;
	hart->irq_cost += now - began - (hart->irq_cost >> 3);

	return irq_ticks_to_ns(now - began);
}

/**
 * riscv_pmu_irq_cost_ns() - average duration of an interrupt that takes samples
 * @hart:	this hart
 *
 * Return: ns.
 */
u64 riscv_pmu_irq_cost_ns(const struct riscv_pmu_hart *hart)
{
	return irq_ticks_to_ns(hart->irq_cost >> 3);
}

static irqreturn_t irq_handler(int irq, void *dev)
{
	struct riscv_pmu_hart *hart = dev;
	struct riscv_pmu *pmu = hart->pmu;
	struct pt_regs *regs = get_irq_regs();
	u32 began = get_cycles();

	riscv_pmu_irq_begin(pmu, hart, began, user_mode(regs));
	riscv_pmu_hart_handle_irq(pmu, hart, regs);
	perf_sample_event_took(riscv_pmu_irq_end(hart, began, get_cycles()));
	return IRQ_HANDLED;
}

/**
 * riscv_pmu_irq_enable() - enable the overflow interrupt on this hart
 * @pmu:	the PMU
 * @hart:	this hart, which comes up
 *
 * core_mask_irq() keeps its bit in sie clear until an event needs it.
 *
 * Context: CPU hotplug, interrupts off.
 */
void riscv_pmu_irq_enable(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	hart->irq_masked = true;
	if (!pmu->irq)
		return;

	hart->irq_mask = pmu->hwirq < BITS_PER_LONG ? BIT(pmu->hwirq) : 0;
	/* Discard an interrupt that was pending before the hart came up. */
	riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
	enable_percpu_irq(pmu->irq, IRQ_TYPE_NONE);
	riscv_pmu_csr_mask_irqs(hart->irq_mask);
}

/**
 * riscv_pmu_irq_disable() - disable the overflow interrupt on this hart
 * @pmu:	the PMU
 * @hart:	this hart, which goes down; its counters are about to be stopped
 *
 * Context: interrupts off.
 */
void riscv_pmu_irq_disable(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	hart->irq_mask = 0;
	if (pmu->irq)
		disable_percpu_irq(pmu->irq);
}

static int __init irq_request(struct riscv_pmu *pmu)
{
	int err = riscv_pmu_should_fail() ? -ENOMEM : 0;

	if (!err && !irq_is_requested)
		err = request_percpu_irq(pmu->irq, irq_handler, "riscv-pmu", pmu->harts);
	irq_is_requested |= !err;
	return err;
}

static const char *__init irq_find(struct riscv_pmu *pmu)
{
	struct irq_domain *domain;

	if (pmu->no_irq_why)
		return pmu->no_irq_why;
	if (!pmu->hwirq)
		return "this hart has no overflow interrupt (Sscofpmf)";
	if (!pmu->irq_ctrs)
		return "no counter that can interrupt";
	/* Vendors' interrupts beyond the standard ones are enabled elsewhere. */
	if (pmu->hwirq < BITS_PER_LONG && !riscv_pmu_csr_can_enable_irq(pmu->hwirq))
		return "sie does not take its enable bit (not delegated, or QEMU 10.0.11-13)";

	domain = irq_find_matching_fwnode(riscv_get_intc_hwnode(), DOMAIN_BUS_ANY);
	if (!domain)
		return "no interrupt controller for it";
	pmu->irq = riscv_pmu_should_fail() ? 0 : irq_create_mapping(domain, pmu->hwirq);
	if (!pmu->irq)
		return "can not map the overflow interrupt";
	if (!irq_request(pmu))
		return NULL;

	pmu->irq = 0;
	return "can not request the overflow interrupt";
}

/**
 * riscv_pmu_irq_probe() - find and request the overflow interrupt
 * @pmu:	the PMU, its counters and &riscv_pmu.harts known; without the interrupt,
 *		irq_ctrs becomes 0 and no_irq_why says why
 */
void __init riscv_pmu_irq_probe(struct riscv_pmu *pmu)
{
	irq_calm_ticks = riscv_timebase / IRQ_CALM_HZ;
	irq_tick_ns = div64_ul((u64)NSEC_PER_SEC << IRQ_TICK_NS_SHIFT, riscv_timebase);
	pmu->no_irq_why = irq_find(pmu);
	if (pmu->no_irq_why)
		pmu->irq_ctrs = 0;
}
