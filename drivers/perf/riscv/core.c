// SPDX-License-Identifier: GPL-2.0
/*
 * perf's callbacks of the PMU named "cpu". add, del, start, stop and read run on the event's hart,
 * with interrupts off. Between pmu_disable and pmu_enable, as add and del always are, they only
 * change what is wanted; pmu_enable applies it. Outside, start and stop apply their change at once.
 */

#include <linux/cpu.h>
#include <linux/slab.h>

#include "apply.h"
#include "branch/branch.h"
#include "compat.h"
#include "ebb/ebb.h"
#include "entries.h"
#include "nmi/block.h"
#include "throttle.h"
#include "update.h"
#include "user/user.h"

/* perf calls this for all PMUs of a task's events, also on a hart that has another: do nothing. */
static void core_disable_type(struct pmu *p)
{
	if (riscv_pmu_this_hart(to_riscv_pmu(p))->pmu == to_riscv_pmu(p))
		riscv_pmu_disable(p);
}

static void core_enable_type(struct pmu *p)
{
	if (riscv_pmu_this_hart(to_riscv_pmu(p))->pmu == to_riscv_pmu(p))
		riscv_pmu_enable(p);
}

/* @added: called by add() */
static __always_inline void core_start(struct riscv_pmu_hart *hart, struct perf_event *event,
				       int flags, bool added)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	u64 left = 0;

	if (!(event->hw.state & PERF_HES_STOPPED))
		return;
	if (unlikely(riscv_pmu_event_has_ebb(ev)) && !riscv_pmu_ebb_start(event))
		return;

	if (unlikely(riscv_pmu_event_part(ev)))
		riscv_pmu_split_start(hart, riscv_pmu_event_part(ev),
				      flags & PERF_EF_RELOAD && !local64_read(ev->left) &&
				      !riscv_pmu_event_is_at_overflow_point(ev));
	if (ev->flags & RISCV_PMU_EV_SAMPLING)
		left = flags & PERF_EF_RELOAD ? riscv_pmu_throttle_start(ev) :
						riscv_pmu_event_period_left(ev);
	event->hw.state = 0;
	riscv_pmu_event_start(hart, ev, left);
	if (unlikely(riscv_pmu_event_is_mapped(ev)))
		riscv_pmu_user_start(hart, ev, added);
}

/**
 * riscv_pmu_start() - start an event
 * @event:	an event that has been added on this hart
 * @flags:	PERF_EF_RELOAD: begin a new period if perf has ended the last one
 */
void riscv_pmu_start(struct perf_event *event, int flags)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);
	bool updating = hart->updating;

	riscv_pmu_set_updating(hart, true);
	core_start(hart, event, flags, false);
	if (!updating)
		riscv_pmu_commit_update(pmu, hart);
}

/* Updates the mapped page and stops the second part of an event that has them. */
static noinline void core_stop_rest(struct riscv_pmu_hart *hart, struct perf_event *event,
				    bool removed)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (riscv_pmu_event_is_mapped(ev) || riscv_pmu_event_is_shown(ev))
		riscv_pmu_user_stop(event, removed);
	if (riscv_pmu_event_part(ev))
		riscv_pmu_event_stop(hart, riscv_pmu_event_part(ev));
}

static __always_inline void core_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				      struct perf_event *event, bool removed)
{
	const u16 slow = RISCV_PMU_EV_SLOW_ADD | RISCV_PMU_EV_MAPPED;

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	riscv_pmu_hart_update_event(pmu, hart, event);
	riscv_pmu_event_stop(hart, to_riscv_pmu_event(event));
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (unlikely(to_riscv_pmu_event(event)->flags & slow))
		core_stop_rest(hart, event, removed);
}

/**
 * riscv_pmu_stop() - stop an event
 * @event:	an event that has been added on this hart
 * @flags:	ignored: the count is always brought up to date
 */
void riscv_pmu_stop(struct perf_event *event, int flags)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);
	bool updating = hart->updating;

	riscv_pmu_set_updating(hart, true);
	core_stop(pmu, hart, event, false);
	if (!updating)
		riscv_pmu_commit_update(pmu, hart);
}

/* Attaches an event to its last counter if it still has the config, else to one that accepts it. */
static __always_inline int core_attach(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       struct riscv_pmu_event *ev)
{
	if (!riscv_pmu_event_can_return(hart, ev))
		return riscv_pmu_event_find_ctr(pmu, hart, ev);

	riscv_pmu_event_attach(hart, ev);
	return 0;
}

/* Attaches what an event may need besides its counter: a second counter, branch records. */
static int core_attach_rest(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_event *ev)
{
	struct riscv_pmu_event *part = riscv_pmu_event_part(ev);
	int err = part ? core_attach(pmu, hart, part) : 0;

	if (err || !riscv_pmu_event_has_branches(ev))
		return err;

	err = riscv_pmu_branch_add(hart, ev);
	if (err && part)
		riscv_pmu_event_detach(hart, part);
	return err;
}

static noinline int core_add(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     struct perf_event *event, int flags)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	int err;

	if (riscv_pmu_event_has_ebb(ev) && !riscv_pmu_ebb_is_alone(hart))
		return -EAGAIN;

	err = core_attach(pmu, hart, ev);
	if (err)
		return err;
	if (unlikely(ev->flags & RISCV_PMU_EV_SLOW_ADD))
		err = core_attach_rest(pmu, hart, ev);
	if (err) {
		riscv_pmu_event_detach(hart, ev);
		return err;
	}

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		core_start(hart, event, PERF_EF_RELOAD, true);
	return 0;
}

/*
 * Whether add() only attaches the event to its last counter and starts it. False if at most the
 * minimum is left of its period, or if it is mapped and was multiplexed. @left: events to overflow.
 */
static __always_inline bool core_goes_on(struct riscv_pmu_hart *hart, struct perf_event *event,
					 int flags, s64 *left)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (unlikely(!riscv_pmu_event_can_return(hart, ev) || !(flags & PERF_EF_START) ||
		     ev->flags & RISCV_PMU_EV_SLOW_ADD))
		return false;
	if (!(ev->flags & RISCV_PMU_EV_SAMPLING))
		return true;

	*left = local64_read(&event->hw.period_left);
	return likely(*left > (s64)ev->min_period) &&
	       (!riscv_pmu_event_is_mapped(ev) || likely(riscv_pmu_user_has_same_times(event)));
}

/**
 * riscv_pmu_add() - assign a counter of this hart to an event
 * @event:	the event
 * @flags:	PERF_EF_START: start it, too
 * Return: 0; -EAGAIN if no counter is free for it, all that could hold it have refused, or the
 * machine is being shut down. perf tries again later.
 */
int riscv_pmu_add(struct perf_event *event, int flags)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	s64 left = 0;

	if (unlikely(!core_goes_on(hart, event, flags, &left)))
		return core_add(pmu, hart, event, flags);

	riscv_pmu_event_attach(hart, ev);
	riscv_pmu_event_start(hart, ev, left);
	event->hw.state = 0;
	return 0;
}

/* Stops an event that is removed, and detaches what belongs to it besides its counter. */
static void core_stop_all(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			  struct perf_event *event, struct riscv_pmu_event *ev)
{
	if (riscv_pmu_event_has_branches(ev))
		riscv_pmu_branch_del(hart, ev);
	/* An event whose config was refused is stopped already. */
	if (event->hw.state & PERF_HES_STOPPED)
		core_stop_rest(hart, event, true);
	else
		core_stop(pmu, hart, event, true);
	if (riscv_pmu_event_part(ev))
		riscv_pmu_event_detach(hart, riscv_pmu_event_part(ev));
}

/* Whether removing an event takes no more than a read of its counter, which latches no other. */
static bool core_is_only_read(const struct perf_event *event, const struct riscv_pmu_event *ev)
{
	const u16 slow = RISCV_PMU_EV_SLOW_DEL | RISCV_PMU_EV_MAPPED;

	return (ev->flags & slow) == RISCV_PMU_EV_INDIRECT &&
	       ev->state == RISCV_PMU_EVENT_ACTIVE && !event->group_leader->nr_siblings;
}

static noinline void core_del(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (core_is_only_read(event, ev)) {
		u64 now = riscv_pmu_counter_count(pmu, hart, ev->ctr);

		riscv_pmu_event_add_delta(event, ev, riscv_pmu_event_take_delta(ev, now));
		riscv_pmu_event_stop(hart, ev);
	} else {
		core_stop_all(pmu, hart, event, ev);
	}
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	riscv_pmu_event_detach(hart, ev);
}

/**
 * riscv_pmu_del() - detach an event from its counter
 * @event:	an event that has been added on this hart
 * @flags:	none are defined
 *
 * If several events are removed together, the first one latches all direct counters in use.
 */
void riscv_pmu_del(struct perf_event *event, int flags)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	struct riscv_pmu_hart *hart = ev->hart;

	if (!hart->latched || unlikely(ev->state != RISCV_PMU_EVENT_ACTIVE ||
				       ev->flags & RISCV_PMU_EV_SLOW_DEL))
		return core_del(to_riscv_pmu(event->pmu), hart, event);

	__riscv_pmu_event_add_delta(event, ev, &event->hw.period_left,
				    riscv_pmu_event_take_delta(ev, ev->counter->count));
	riscv_pmu_event_stop(hart, ev);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	riscv_pmu_event_detach(hart, ev);
	if (riscv_pmu_event_is_mapped(ev))
		riscv_pmu_user_switch_out(event);
}

/**
 * riscv_pmu_read() - bring an event's count up to date
 * @event:	an event that has been added on this hart
 */
void riscv_pmu_read(struct perf_event *event)
{
	struct riscv_pmu_hart *hart = to_riscv_pmu_event(event)->hart;
	bool updating;

	if (event->hw.state & PERF_HES_STOPPED)
		return;

	updating = hart->updating;
	riscv_pmu_set_updating(hart, true);
	riscv_pmu_event_update(event);
	if (!updating)
		riscv_pmu_set_updating(hart, false);
}

/**
 * riscv_pmu_check_period() - check a new period of an event
 * @event:	a sampling event
 * @value:	the period, or the frequency of one that has a frequency
 *
 * No period is too short: one sample stands for all that end before it. S64_MAX is the longest.
 * Return: 0 or -EINVAL.
 */
int riscv_pmu_check_period(struct perf_event *event, u64 value)
{
	return event->attr.freq || value <= S64_MAX ? 0 : -EINVAL;
}

static void core_event_destroy(struct perf_event *event)
{
	riscv_pmu_user_forget(event);
	riscv_pmu_event_closed();
	kfree(riscv_pmu_event_part(to_riscv_pmu_event(event)));
	kfree(to_riscv_pmu_event(event));
	event->pmu_private = NULL;
}

/* perf's callback: true if the task's event cannot run on @cpu */
static bool core_filter(struct pmu *p, int cpu)
{
	return riscv_pmu_of(cpu) != to_riscv_pmu(p);
}

/* Whether it is for this PMU. perf's core has used the PMU type in the upper half of config. */
static bool core_is_ours(const struct perf_event *event)
{
	u32 type = event->attr.type;

	/* A KVM guest's event is for the type of core on which KVM opens it. */
	if ((event->cpu >= 0 && !cpumask_test_cpu(event->cpu, &to_riscv_pmu(event->pmu)->cpus)) ||
	    (event->overflow_handler_context && core_filter(event->pmu, raw_smp_processor_id())))
		return false;

	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == event->pmu->type;
}

struct core_resolve_args {
	const struct perf_event *event;
	struct riscv_pmu_request *req;
};

/* Releases unused counters only if the backend has to try some: their events program them again. */
static long core_resolve_here(void *data)
{
	const struct core_resolve_args *args = data;
	const struct perf_event *event = args->event;
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	/* Only perf_event_create_kernel_counter() can set a context; here only KVM does. */
	bool by_kvm = event->overflow_handler_context;
	u64 untried;
	int err;

	/* If the hart went offline meanwhile, work_on_cpu() runs this on another. */
	if (!cpumask_test_cpu(raw_smp_processor_id(), &pmu->cpus))
		return -ENXIO;

	err = riscv_pmu_event_resolve(pmu, &event->attr, by_kvm, args->req);
	untried = err ? 0 : pmu->ops.untried_ctrs(pmu, &args->req->cfg);
	if (!err && args->req[1].ctrs)
		untried |= pmu->ops.untried_ctrs(pmu, &args->req[1].cfg);
	if (!untried)
		return err;

	scoped_guard(riscv_pmu_irqsave) {
		riscv_pmu_hart_init_counters(pmu, riscv_pmu_this_hart(pmu));
		riscv_pmu_hart_release_unused(pmu, riscv_pmu_this_hart(pmu), untried);
	}
	return riscv_pmu_event_resolve(pmu, &event->attr, by_kvm, args->req);
}

/*
 * A child event has the config and the constraint of its parent. Another is resolved on the current
 * CPU if that belongs to the PMU, else on another CPU of the PMU.
 */
static int core_resolve(const struct perf_event *event, struct riscv_pmu_request *req)
{
	const struct cpumask *cpus = &to_riscv_pmu(event->pmu)->cpus;
	struct core_resolve_args args = { .event = event, .req = req };
	const struct perf_event *parent = event->parent;
	unsigned int cpu;

	if (parent && parent->pmu == event->pmu) {
		const struct riscv_pmu_event *ev = to_riscv_pmu_event(parent);

		req[0] = ev->req;
		if (riscv_pmu_event_part(ev))
			req[1] = riscv_pmu_event_part(ev)->req;
		return 0;
	}
	scoped_guard(migrate) {
		if (cpumask_test_cpu(smp_processor_id(), cpus))
			return core_resolve_here(&args);
	}

	cpu = cpumask_any_and(cpus, cpu_online_mask);
	return cpu < nr_cpu_ids ? work_on_cpu(cpu, core_resolve_here, &args) : -ENXIO;
}

/**
 * riscv_pmu_event_init() - initialise an event
 * @event:	the event; its attributes are user input
 * Context: process, may sleep.
 * Return: 0, or the errno that event.c's head explains; -ENOMEM.
 */
int riscv_pmu_event_init(struct perf_event *event)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_request req[2] = {};
	struct riscv_pmu_event *part __free(kfree) = NULL;
	struct riscv_pmu_event *ev __free(kfree) = NULL;
	int err;

	if (!core_is_ours(event))
		return -ENOENT;

	err = riscv_pmu_branch_check(event) ?: core_resolve(event, req) ?:
	      req->unfiltered && !event->parent ? riscv_pmu_allow_kernel(&event->attr) : 0;
	if (err)
		return err;

	ev = riscv_pmu_event_new(event, &req[0]);
	if (!ev)
		return -ENOMEM;

	if (ev->flags & RISCV_PMU_EV_SAMPLING && !(ev->req.ctrs & pmu->irq_ctrs))
		ev->flags |= RISCV_PMU_EV_POLLED;
	if (!(ev->req.ctrs & pmu->direct_ctrs))
		ev->flags |= RISCV_PMU_EV_INDIRECT;
	/*
	 * Firmware calls of the first add() have a tracepoint, whose sample may read this event:
	 * perf has marked it as active, but it has no hart. riscv_pmu_read() ignores stopped ones.
	 */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	riscv_pmu_ebb_note(ev);
	if (req[1].ctrs) {
		err = riscv_pmu_split_create(ev, &req[1]);
		if (err)
			return err;
		part = riscv_pmu_event_part(ev);
	}
	event->pmu_private = ev;
	err = riscv_pmu_branch_init_event(event) ?: riscv_pmu_ebb_check(event) ?:
	      riscv_pmu_group_validate(event);
	if (err) {
		event->pmu_private = NULL;
		/* perf has not attached the data yet, and would detach that of another event. */
		event->attach_state &= ~PERF_ATTACH_TASK_DATA;
		return err;
	}

	riscv_pmu_user_open(event);
	retain_and_null_ptr(part);
	retain_and_null_ptr(ev);
	riscv_pmu_event_opened();
	event->destroy = core_event_destroy;
	return 0;
}

/* perf's callbacks, for implementations without their own. */
const struct riscv_pmu_ops riscv_pmu_core_ops = {
	.event_init	= riscv_pmu_event_init,
	.add		= riscv_pmu_add,
	.del		= riscv_pmu_del,
	.start		= riscv_pmu_start,
	.stop		= riscv_pmu_stop,
	.read		= riscv_pmu_read,
};

/**
 * riscv_pmu_core_init() - set perf's callbacks of a PMU before it is registered
 * @pmu:	the PMU, its &riscv_pmu.ops complete and its harts known
 */
void __init riscv_pmu_core_init(struct riscv_pmu *pmu)
{
	pmu->pmu.attr_groups = riscv_pmu_attr_groups;
	pmu->pmu.check_period = riscv_pmu_check_period;
	pmu->pmu.pmu_enable = riscv_pmu_enable;
	pmu->pmu.pmu_disable = riscv_pmu_disable;
	pmu->pmu.start_txn = riscv_pmu_start_txn;
	pmu->pmu.commit_txn = riscv_pmu_commit_txn;
	pmu->pmu.cancel_txn = riscv_pmu_cancel_txn;
	riscv_pmu_user_init_callbacks(&pmu->pmu);
	pmu->pmu.event_init = pmu->ops.event_init;
	pmu->pmu.add = pmu->ops.add;
	pmu->pmu.del = pmu->ops.del;
	pmu->pmu.start = pmu->ops.start;
	pmu->pmu.stop = pmu->ops.stop;
	pmu->pmu.read = pmu->ops.read;

	/* Some CPU has another PMU or none, or hotplug_confirm() may find that when it starts. */
	if (!cpumask_equal(&pmu->cpus, cpu_possible_mask) ||
	    !cpumask_equal(&pmu->cpus, cpu_online_mask)) {
		pmu->pmu.pmu_enable = core_enable_type;
		pmu->pmu.pmu_disable = core_disable_type;
		pmu->pmu.filter = core_filter;
	}
}
