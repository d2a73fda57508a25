// SPDX-License-Identifier: GPL-2.0
/*
 * Updates: what changes between riscv_pmu_begin_update() and riscv_pmu_commit_update() is applied
 * as a whole. All but riscv_pmu_event_new() runs on the hart that it is about, with interrupts off.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <kunit/static_stub.h>
#include <linux/irq_work.h>
#include <linux/ratelimit.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "apply.h"
#include "assign.h"
#include "csr.h"
#include "poll_sample.h"
#include "print.h"
#include "update.h"
#include "user/user.h"

static u64 update_find_ctrs(const struct riscv_pmu_event *ev)
{
	const struct riscv_pmu_event *part = riscv_pmu_event_part(ev);
	u64 ctrs = 0;

	if (ev->state == RISCV_PMU_EVENT_ACTIVE)
		ctrs |= BIT_ULL(ev->ctr);
	if (part && part->state == RISCV_PMU_EVENT_ACTIVE)
		ctrs |= BIT_ULL(part->ctr);
	return ctrs;
}

/* The counters of the active members of an event's group that belong to the event's PMU */
u64 riscv_pmu_event_find_group_ctrs(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;
	u64 ctrs = 0;

	if (leader->pmu == event->pmu)
		ctrs = update_find_ctrs(to_riscv_pmu_event(leader));
	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu == event->pmu)
			ctrs |= update_find_ctrs(to_riscv_pmu_event(sibling));
	}

	return ctrs;
}

/**
 * riscv_pmu_event_update() - bring an event's count up to date
 * @event:	an event that has been added on this hart
 */
void riscv_pmu_event_update(struct perf_event *event)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	u64 delta = riscv_pmu_hart_update_event(pmu, riscv_pmu_this_hart(pmu), event);

	/*
	 * perf computes the offset in the mapped page as count minus prev_count, and may publish it
	 * after this, so prev_count grows as count does. Other callers of
	 * riscv_pmu_hart_update_event() call riscv_pmu_user_show() or riscv_pmu_user_stop() later.
	 */
	local64_add(delta, &event->hw.prev_count);
}

/**
 * riscv_pmu_event_new() - allocate what the driver knows of an event, or of a part of it
 * @event:	the event
 * @req:	its config and constraint
 * Context: process, may sleep.
 * Return: NULL if there is no memory.
 */
struct riscv_pmu_event *riscv_pmu_event_new(struct perf_event *event,
					    const struct riscv_pmu_request *req)
{
	struct riscv_pmu_event *ev = kzalloc(sizeof(*ev), GFP_KERNEL);

	if (!ev)
		return NULL;

	ev->event = event;
	ev->req = *req;
	ev->candidates = req->ctrs;
	ev->ctr = -1;
	if (is_sampling_event(event))
		ev->flags = RISCV_PMU_EV_SAMPLING;
	ev->left = &event->hw.period_left;
	/* It has not reached an overflow point. */
	ev->overflow_point = 1;
	return ev;
}

/**
 * riscv_pmu_begin_update() - note changes, but do not apply them yet: the counters run on
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * The first event that is stopped latches the counts of its group and of all direct counters in
 * use. The events on these stop at the same time. Events that are started start in
 * riscv_pmu_commit_update().
 */
void riscv_pmu_begin_update(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	riscv_pmu_set_updating(hart, true);
	hart->latch_on_read = true;
}

/* Rate-limited: perf retries on another hart or later. The run queue's lock may be held. */
static void update_warn_refused(u64 ctrs, const struct riscv_pmu_config *cfg)
{
	static DEFINE_RATELIMIT_STATE(limit, 10 * HZ, 1);

	if (!in_nmi() && __ratelimit(&limit))
		riscv_pmu_warn("hart %u: counters 0x%llx refuse event_idx 0x%x, event_data 0x%llx; perf tries again later. If the event never counts, use newer firmware, or firmware with a correct map of the events\n",
			       smp_processor_id(), ctrs, cfg->event_idx, cfg->event_data);
}

/* Have perf remove and add the events of this CPU again; add() then fails for the refused ones. */
static void update_resched(struct irq_work *work)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());

	if (pmu)
		perf_pmu_resched(&pmu->pmu);
}

static DEFINE_PER_CPU(struct irq_work, update_resched_work) = IRQ_WORK_INIT_HARD(update_resched);

/**
 * riscv_pmu_hart_stop_refused() - stop the events of counters that have refused their config
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	the counters
 *
 * perf considers these events running, so an irq_work has it reschedule them. Each retry excludes
 * one more counter, so the number of retries is bounded.
 */
noinline void riscv_pmu_hart_stop_refused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					  u64 ctrs)
{
	for_each_ctr(ctr, ctrs) {
		struct riscv_pmu_event *ev;

		update_warn_refused(BIT_ULL(ctr), &hart->wanted.cfg[ctr]);
		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			riscv_pmu_hart_update_event(pmu, hart, ev->event);
			ev->event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
			if (unlikely(riscv_pmu_event_part(ev)))
				riscv_pmu_event_stop(hart, riscv_pmu_event_part(ev));
		}
	}
	irq_work_queue(this_cpu_ptr(&update_resched_work));
}

/* The time in ns of sched_clock(). Without a time CSR, this traps to the firmware. */
u64 riscv_pmu_poll_clock(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_poll_clock);
	return local_clock();
}

/* Time until the next poll in ns, at most poll_ns; 0 if nothing has to be polled */
u64 riscv_pmu_poll_wait(const struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now)
{
	u64 wait = riscv_pmu_hart_has_polled(hart) ? riscv_pmu_poll_sample_wait(pmu, hart, now) : 0;

	if (!wait && riscv_pmu_poll_narrow_ctrs(pmu, hart))
		wait = pmu->poll_ns;

	return wait;
}

/*
 * Sets the polling timer, if that is necessary. Its handler does not set it again when nothing has
 * to be polled. The run queue's lock may be held.
 */
void riscv_pmu_poll_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 now, wait;

	/* While a system resumes no timer can be set; the next apply sets it. */
	if (hart->poll.active || timekeeping_suspended)
		return;
	/* A timer that is set expires in at most poll_ns: soon enough for narrow counters. */
	if (!riscv_pmu_hart_has_polled(hart) &&
	    (hart->poll.due || !riscv_pmu_poll_narrow_ctrs(pmu, hart)))
		return;

	now = riscv_pmu_poll_clock();
	wait = riscv_pmu_poll_wait(pmu, hart, now);
	if (!wait || (hart->poll.due && hart->poll.due <= now + wait))
		return;

	hart->poll.due = now + wait;
	hrtimer_start(&hart->poll.timer, ns_to_ktime(wait), HRTIMER_MODE_REL_PINNED_HARD);
}

static __always_inline void update_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 failed;

	if (unlikely(hart->shut_down))
		return;

	if (unlikely(pmu->stop_unused) && riscv_pmu_hart_unused(pmu, hart))
		riscv_pmu_hart_stop_unused(pmu, hart);
	failed = riscv_pmu_hart_apply(pmu, hart);
	if (unlikely(failed))
		riscv_pmu_hart_stop_refused(pmu, hart, failed);
	/* An NMI starts nothing that has to be polled, and cannot set a timer. */
	if (unlikely(pmu->poll_ctrs | hart->poll.events) && !in_nmi())
		riscv_pmu_poll_start(pmu, hart);
}

/* Not inlined: the tail call saves a stack frame. */
static noinline void update_apply_last(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	update_apply(pmu, hart);
	riscv_pmu_set_updating(hart, false);
}

/**
 * riscv_pmu_event_find_ctr() - find a counter that accepts an event's config, and attach the event
 * @pmu:	the PMU
 * @hart:	this hart, in an update
 * @ev:		the event
 *
 * Each refusal leaves one counter less to try. If none is left, a message says so: which raw events
 * exist may not be known.
 * Return: 0; -EAGAIN if no counter is free, all that could hold the config have refused it, or the
 * machine is being shut down.
 */
int riscv_pmu_event_find_ctr(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     struct riscv_pmu_event *ev)
{
	int err;

	if (hart->shut_down)
		return -EAGAIN;

	riscv_pmu_hart_init_counters(pmu, hart);
	for (;;) {
		err = riscv_pmu_event_assign(pmu, hart, ev);
		if (err || !riscv_pmu_hart_validate(pmu, hart, ev))
			break;
		riscv_pmu_event_detach(hart, ev);
		if (list_empty(&ev->counter->events))
			continue;
		/* Stops the other events; the apply must not program their config again. */
		riscv_pmu_hart_stop_refused(pmu, hart, BIT_ULL(ev->ctr));
		hart->changed &= ~BIT_ULL(ev->ctr);
	}
	if (unlikely(err && !ev->candidates))
		update_warn_refused(ev->req.ctrs, &ev->req.cfg);
	return err;
}

/* This or the last task reads counters: applies until riscv_pmu_user_show() asks for no more. */
static noinline void update_apply_and_show(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	do {
		if (hart->changed)
			update_apply(pmu, hart);
	} while (riscv_pmu_user_show(pmu, hart));
	riscv_pmu_set_updating(hart, false);
}

/*
 * Pauses the counters that overflowed while the interrupt was masked: they do not interrupt while
 * their overflow flag is set. The next apply writes them, which clears the flag.
 */
static noinline void update_clear_overflows(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	riscv_pmu_hart_pause(pmu, hart, pmu->ops.overflowed(pmu, hart->hw.running & pmu->irq_ctrs));
}

/*
 * Masks or unmasks the overflow interrupt. It is masked while no event needs it, so that counters
 * may run on after their sampling events were removed: this saves the firmware calls that would
 * stop them. The irqchip of local interrupts does the same with more instructions.
 */
static __always_inline void update_mask_irq(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					    bool muted)
{
	hart->irq.masked = muted;
	if (muted)
		riscv_pmu_csr_mask_irqs(hart->irq.mask);
	else if (riscv_pmu_csr_unmask_irqs(hart->irq.mask))
		update_clear_overflows(pmu, hart);
}

static __always_inline void update_commit(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	/* It is needed for sampling events, and to extend the count of narrow counters. */
	bool muted = !hart->irq.events && !(hart->wanted.sched.used & pmu->narrow_ctrs);

	riscv_pmu_hart_unlatch(hart);
	if (muted != hart->irq.masked)
		update_mask_irq(pmu, hart, muted);
	if (unlikely(riscv_pmu_user_is_shown(hart)))
		update_apply_and_show(pmu, hart);
	else if (hart->changed)
		update_apply_last(pmu, hart);
	else
		riscv_pmu_set_updating(hart, false);
}

/* Ends an update: unlatches, masks or unmasks the interrupt, and applies the changes. */
void riscv_pmu_commit_update(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	update_commit(pmu, hart);
}

/* perf's callback pmu_disable: changes follow. */
void riscv_pmu_disable(struct pmu *p)
{
	struct riscv_pmu *pmu = to_riscv_pmu(p);

	riscv_pmu_begin_update(pmu, riscv_pmu_this_hart(pmu));
}

/* perf's callback pmu_enable: the changes are to be applied. */
void riscv_pmu_enable(struct pmu *p)
{
	struct riscv_pmu *pmu = to_riscv_pmu(p);

	update_commit(pmu, riscv_pmu_this_hart(pmu));
}
