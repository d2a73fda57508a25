// SPDX-License-Identifier: GPL-2.0
/*
 * The overflow of one event: its sample, and its next overflow point. All of it runs in a hard
 * interrupt, or in an NMI.
 */

#include <linux/sched/task_stack.h>

#include "branch/branch.h"
#include "ebb/ebb.h"
#include "nmi/nmi.h"
#include "throttle.h"
#include "update.h"
#include "user/user.h"

/*
 * The registers for a sample. The interrupt of an overflow in user mode may arrive only after the
 * kernel was entered. If the event excludes the kernel, the sample shows where user mode was left.
 * Returns NULL if the hart now runs a kernel thread.
 */
static struct pt_regs *sample_regs(const struct perf_event *event, struct pt_regs *regs)
{
	if (!event->attr.exclude_kernel || user_mode(regs))
		return regs;

	return current->flags & PF_KTHREAD ? NULL : task_pt_regs(current);
}

/*
 * Pauses a part of a split event that takes no sample now, but must not count the other part's
 * interrupt. It continues with the next apply, as far from the end of its period as now. If its own
 * counter is paused, because it has overflowed too, this interrupt handles that part itself.
 */
static noinline void sample_pause_part(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       struct riscv_pmu_event *ev)
{
	u64 now;

	if (ev->state != RISCV_PMU_EVENT_ACTIVE)
		return;

	/* If the event is in a group, its members have stopped at the latched counts. */
	now = riscv_pmu_hart_count(pmu, hart, ev->ctr);
	riscv_pmu_event_add_delta(ev->event, ev, riscv_pmu_event_take_delta(ev, now));
	if (hart->hw.running & BIT_ULL(ev->ctr))
		riscv_pmu_event_pause(hart, ev);
}

/* Out of line: otherwise sample_pause_member() would save more registers for every member. */
static noinline void sample_pause_split(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					struct riscv_pmu_event *ev)
{
	sample_pause_part(pmu, hart, ev);
	sample_pause_part(pmu, hart, riscv_pmu_event_part(ev));
}

/*
 * While the counter of a sampling event is stopped, the other members of its group must not count
 * this interrupt. (One that excludes the kernel does not count it.) The next apply starts all of
 * them together. A sampling member whose counter does not run has overflowed too, and this
 * interrupt handles it.
 */
static void sample_pause_member(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (ev->state != RISCV_PMU_EVENT_ACTIVE || event->attr.exclude_kernel)
		return;

	if (ev->flags & RISCV_PMU_EV_SAMPLING) {
		if (unlikely(riscv_pmu_event_part(ev))) {
			sample_pause_split(pmu, hart, ev);
			return;
		}
		if (!(hart->hw.running & BIT_ULL(ev->ctr)))
			return;
	}
	riscv_pmu_event_add_delta(event, ev, riscv_pmu_event_take_delta(ev, ev->counter->count));
	riscv_pmu_event_pause(hart, ev);
}

/* Pauses the group at counts that are all latched now. */
static void sample_pause_group(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			       struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	riscv_pmu_event_latch(pmu, hart, event);
	if (leader->pmu == event->pmu)
		sample_pause_member(pmu, hart, leader);
	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu == event->pmu)
			sample_pause_member(pmu, hart, sibling);
	}
}

/* The group of a polled event is not paused: all of its members count the timer's interrupt. */
static bool sample_pauses_group(const struct riscv_pmu_event *ev)
{
	return !(ev->flags & RISCV_PMU_EV_POLLED) && ev->event->group_leader->nr_siblings;
}

#define SAMPLE_REGS	(PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER)

/* Latches the counts of the sample, as of one time, and completes the registers. */
static void sample_prepare(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   struct riscv_pmu_event *ev, struct pt_regs *regs)
{
	struct perf_event *event = ev->event;
	bool pauses = sample_pauses_group(ev);
	u64 type = event->attr.sample_type;

	if (!(type & (PERF_SAMPLE_READ | SAMPLE_REGS)) && !pauses)
		return;

	if (pauses)
		sample_pause_group(pmu, hart, event);
	else if (type & PERF_SAMPLE_READ)
		riscv_pmu_event_latch(pmu, hart, event);
	if (type & SAMPLE_REGS)
		riscv_pmu_nmi_read_regs(regs);
}

/**
 * riscv_pmu_event_handle_overflow() - take a sample, and set the next overflow point
 * @pmu:	the PMU
 * @hart:	this hart, in an update
 * @ev:	an event whose overflow point has passed, its counter up to date
 * @regs:	what was interrupted
 */
void riscv_pmu_event_handle_overflow(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				     struct riscv_pmu_event *ev, struct pt_regs *regs)
{
	/* Not on the stack: the compiler might zero the whole struct. */
	struct perf_sample_data *data = &hart->sample;
	struct riscv_pmu_event *part = riscv_pmu_event_part(ev);
	struct perf_event *event = ev->event;
	struct hw_perf_event *hwc = &event->hw;
	bool stop;

	sample_prepare(pmu, hart, ev, regs);
	if (unlikely(part))
		sample_pause_part(pmu, hart, part);
	if (likely(ev->state == RISCV_PMU_EVENT_ACTIVE))
		riscv_pmu_event_add_delta(event, ev,
					  riscv_pmu_event_take_delta(ev, ev->counter->count));
	/* If no period has ended, there is no sample. */
	if (unlikely(part) ? !riscv_pmu_split_set_period(ev) : !riscv_pmu_event_set_period(ev)) {
		hart->latched = 0;
		return;
	}
	if (unlikely(riscv_pmu_event_has_ebb(ev))) {
		riscv_pmu_ebb_handle_overflow(hart, ev);
		return;
	}

	if (riscv_pmu_event_is_mapped(ev))
		riscv_pmu_user_sample(event, to_riscv_pmu_event(event));
	riscv_pmu_throttle_event(hart, ev);
	/* Before the overflow handler, which may restart the event and would find it still due. */
	riscv_pmu_event_rearm(hart, ev, max_t(s64, local64_read(ev->left), ev->min_period));
	hart->stats.samples++;
	hart->stats.merged += hwc->last_period / 2 >= hwc->sample_period;
	perf_sample_data_init(data, 0, hwc->last_period);
	/* The sample has the period of this part; perf's frequency needs that of both parts. */
	if (unlikely(part))
		hwc->last_period = riscv_pmu_split_period(ev);
	if (unlikely(has_branch_stack(event)))
		riscv_pmu_branch_save_sample(hart, event, data);
	regs = sample_regs(event, regs);
	/* If true, the event is throttled or at its limit: stop it. perf starts it again. */
	stop = regs && perf_event_overflow(event, data, regs);
	hart->latched = 0;
	/* Without a sample now, the next one includes this period. */
	if (!regs)
		ev->period_count += data->period;
	if (stop) {
		hart->stats.stopped++;
		event->pmu->stop(event, 0);
	}
}

/**
 * riscv_pmu_event_pause_group() - pause the group of a sampling event that takes no sample now
 * @pmu:	the PMU
 * @hart:	this hart, in an update
 * @ev:		an event whose counter overflowed before its overflow point, or for another event
 */
void riscv_pmu_event_pause_group(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				 struct riscv_pmu_event *ev)
{
	if (unlikely(riscv_pmu_event_part(ev)))
		sample_pause_part(pmu, hart, riscv_pmu_event_part(ev));
	if (sample_pauses_group(ev)) {
		sample_pause_group(pmu, hart, ev->event);
		hart->latched = 0;
	}
}
