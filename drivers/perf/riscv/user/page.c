// SPDX-License-Identifier: GPL-2.0
/*
 * The index and the offset in the mapped pages of events, and scounteren, for the task that runs
 * on a hart: it may read the counters of its mapped events that are active here, and no others.
 *
 * While a task does not run, its counter may count for others. When the task runs again, the
 * counter starts from a value that does not depend on them.
 */

#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include <linux/pid.h>

/* struct perf_buffer, for the page of a mapping. */
#include "../../../../kernel/events/internal.h"

#include "../compat.h"
#include "page.h"

int riscv_pmu_user_access = USER_ACCESS_MMAP;

static u32 page_base_mask(void)
{
	return READ_ONCE(riscv_pmu_user_access) == USER_ACCESS_LEGACY ?
		       PMU_SCOUNTEREN_TM | PMU_SCOUNTEREN_CY | PMU_SCOUNTEREN_IR :
		       PMU_SCOUNTEREN_TM;
}

static void page_set_mask(struct riscv_pmu_hart *hart, u32 mask)
{
	if (hart->user.mask == mask)
		return;

	hart->user.mask = mask;
	riscv_pmu_csr_set_user_mask(mask);
}

void riscv_pmu_user_hart_start(struct riscv_pmu_hart *hart)
{
	hart->user.mask = page_base_mask();
	riscv_pmu_csr_set_user_mask(hart->user.mask);
}

/* The counters that kernel.perf_user_access allows events to show */
u64 riscv_pmu_user_access_ctrs(const struct riscv_pmu *pmu)
{
	switch (READ_ONCE(riscv_pmu_user_access)) {
	case USER_ACCESS_MMAP:
		return pmu->ctrs;
	case USER_ACCESS_LEGACY:
		return pmu->fixed_ctrs;
	default:
		return 0;
	}
}

/* The processes whose overflow points a counter's value depends on: one of them, or NULL */
struct page_samplers {
	const struct pid	*opener;
	bool			many;
};

/* Once for each counter: it may have thousands of mapped events. */
static struct page_samplers page_find_samplers(const struct riscv_pmu_counter *counter)
{
	struct page_samplers samplers = {};
	const struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &counter->events, node) {
		if (!riscv_pmu_event_needs_irq(ev) || ev->state == RISCV_PMU_EVENT_STOPPED)
			continue;
		samplers.many |= samplers.opener && samplers.opener != ev->page.opener;
		samplers.opener = ev->page.opener;
	}

	return samplers;
}

static u8 page_find_idx(const struct riscv_pmu *pmu, const struct riscv_pmu_event *ev)
{
	if (ev->state != RISCV_PMU_EVENT_ACTIVE ||
	    !(ev->page.ctrs & riscv_pmu_user_access_ctrs(pmu) & BIT_ULL(ev->ctr)))
		return 0;
	/* The machine shuts down, or the counter is about to be written. */
	if (ev->hart->shut_down || !(ev->hart->hw.loaded & BIT_ULL(ev->ctr)))
		return 0;
	if (READ_ONCE(riscv_pmu_user_access) == USER_ACCESS_MMAP && !ev->page.own_value)
		return 0;

	return riscv_pmu_user_is_still_own(ev) ? pmu->ctr[ev->ctr].csr - CSR_CYCLE + 1 : 0;
}

/*
 * The page's offset is the count minus prev_count, which is constant until the counter is written:
 * offset plus the sign-extended counter is the count.
 */
static s64 page_find_prev(const struct riscv_pmu *pmu, const struct riscv_pmu_event *ev)
{
	const struct riscv_pmu_counter *counter = ev->counter;

	return sign_extend64(counter->raw, pmu->ctr[ev->ctr].width - 1) -
	       (counter->count - ev->prev_count);
}

/*
 * Makes the next apply write a counter, before user space reads it: it may have counted for others
 * since the event was attached. If all users may read cycle and instret, these are not written.
 */
static void page_refresh(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	hart->user.shown = true;
	ev->page.own_value = READ_ONCE(riscv_pmu_user_access) == USER_ACCESS_MMAP;
	if (ev->page.own_value)
		hart->hw.loaded &= ~BIT_ULL(ev->ctr);
}

static __always_inline u32 page_begin(struct perf_event_mmap_page *page)
{
	u32 lock = page->lock + 1;

	page->lock = lock;
	barrier();
	return lock;
}

static __always_inline void page_end(struct perf_event_mmap_page *page, u32 lock)
{
	barrier();
	page->lock = lock + 1;
}

static __always_inline void page_set_count(struct perf_event_mmap_page *page,
					   const struct perf_event *event)
{
	page->offset = local64_read(&event->count) + atomic64_read(&event->child_count);
}

/* The event is stopped, its count up to date. perf has updated the time of its context. */
void riscv_pmu_user_switch_out(struct perf_event *event)
{
	/* NULL if the event is no longer mapped. It is freed after an RCU grace period only. */
	const struct perf_buffer *rb = READ_ONCE(event->rb);
	struct perf_event_mmap_page *page;
	u32 lock;
	u64 ran;

	if (!rb || !riscv_pmu_user_has_same_times(event)) {
		perf_event_update_userpage(event);
		return;
	}

	ran = event->total_time_running + riscv_pmu_ctx_time(event->ctx) - event->tstamp;
	page = rb->user_page;
	lock = page_begin(page);
	page_set_count(page, event);
	page->time_enabled = ran + atomic64_read(&event->child_total_time_enabled);
	page->time_running = ran + atomic64_read(&event->child_total_time_running);
	page_end(page, lock);
}

/* A period has ended. In the page, the times are at most a tick older than the count. */
void riscv_pmu_user_sample(struct perf_event *event, struct riscv_pmu_event *ev)
{
	const struct perf_buffer *rb = READ_ONCE(event->rb);
	unsigned long tick = READ_ONCE(jiffies);
	u32 lock;

	if (!rb || ev->page.tick != tick) {
		ev->page.tick = tick;
		perf_event_update_userpage(event);
		return;
	}

	lock = page_begin(rb->user_page);
	page_set_count(rb->user_page, event);
	page_end(rb->user_page, lock);
}

/* If user space may read the counter, riscv_pmu_user_show() writes the index and the offset. */
void riscv_pmu_user_start(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev, bool added)
{
	if (ev->user) {
		ev->page.outdated = true;
		page_refresh(hart, ev);
	} else if (!added || riscv_pmu_user_is_of_cgroup(ev->event) ||
		   !riscv_pmu_user_has_same_times(ev->event)) {
		perf_event_update_userpage(ev->event);
	}
}

/* Has the counter of an attached event written, if the event is mapped and active. */
void riscv_pmu_user_restart(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (!ev->user || ev->state != RISCV_PMU_EVENT_ACTIVE)
		return;

	page_refresh(hart, ev);
	hart->changed |= BIT_ULL(ev->ctr) & ~hart->hw.loaded;
}

/*
 * A counter written for another process's overflow point reveals the distance to it: it is written
 * again before it is shown.
 */
static void page_check_value(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev,
			     const struct page_samplers *samplers)
{
	if (samplers->many ||
	    (samplers->opener && samplers->opener != task_tgid(ev->event->hw.target)))
		ev->page.own_value = false;
	else if (!ev->page.own_value)
		riscv_pmu_user_restart(hart, ev);
}

/* Returns the event's counter as a bit of scounteren, or 0. */
static u32 page_show_event(const struct riscv_pmu *pmu, struct riscv_pmu_event *ev)
{
	u8 idx = page_find_idx(pmu, ev);
	s64 prev = idx ? page_find_prev(pmu, ev) : 0;
	struct perf_event *event = ev->event;

	if (ev->page.outdated || idx != ev->page.idx ||
	    (idx && prev != local64_read(&event->hw.prev_count))) {
		local64_set(&event->hw.prev_count, prev);
		ev->page.idx = idx;
		ev->page.outdated = false;
		perf_event_update_userpage(event);
	}
	if (!idx)
		return 0;

	WRITE_ONCE(ev->page.task->ctrs, ev->page.task->ctrs | BIT(idx - 1));
	return BIT(idx - 1);
}

/**
 * riscv_pmu_user_show() - let the task on this hart read the counters of its mapped events
 * @pmu:	the PMU
 * @hart:	this hart, all changes applied
 *
 * Return: true if a counter has to be written before it can be shown: the caller applies that
 * change, and calls again.
 */
bool riscv_pmu_user_show(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u32 mask = page_base_mask();
	bool shown = false;

	if (!pmu->loads) {
		page_set_mask(hart, mask);
		return false;
	}

	for_each_ctr(ctr, hart->wanted.sched.used) {
		struct page_samplers samplers = page_find_samplers(&hart->counter[ctr]);
		struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			/* ->mm and ->task are read after ->user. */
			if (!smp_load_acquire(&ev->user))
				continue;
			page_check_value(hart, ev, &samplers);
			mask |= page_show_event(pmu, ev);
			shown = true;
		}
	}
	hart->user.shown = shown;
	page_set_mask(hart, mask);
	return hart->changed && !hart->shut_down;
}

/*
 * Updates the page of a mapped event that stops, is hidden, or is switched out (@removed): its
 * index becomes 0. riscv_pmu_user_show() updates scounteren.
 */
void riscv_pmu_user_stop(struct perf_event *event, bool removed)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (removed && !riscv_pmu_event_is_shown(ev) && !riscv_pmu_user_is_of_cgroup(event)) {
		riscv_pmu_user_switch_out(event);
		return;
	}

	ev->page.idx = 0;
	perf_event_update_userpage(event);
}

/* perf's callback: the index for the mapped page of an active event, or 0: use read(). */
int riscv_pmu_user_idx(struct perf_event *event)
{
	return to_riscv_pmu_event(event)->page.idx;
}
