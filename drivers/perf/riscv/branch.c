// SPDX-License-Identifier: GPL-2.0
/*
 * Branch records (Ssctr): which transfers of control each event wants to have recorded, and what
 * the hart records.
 *
 * The hart records the union of what its events want. branch_sample.c leaves out of each sample
 * what its event does not want. If all events of a hart want the same, as usual, it need not check.
 *
 * The records belong to the hart, not to a task. So they are cleared at each context switch while
 * an event records. Call stacks are saved instead, and restored when their task runs again.
 */

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include <kunit/static_stub.h>

#include "branch.h"
#include "compat.h"
#include "print.h"
#include "update.h"

/* --- what an event wants --- */

#define BRANCH_SUPPORTED								\
	(PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_ANY |				\
	 PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN |			\
	 PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_COND |			\
	 PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_IND_JUMP |			\
	 PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_NO_FLAGS |			\
	 PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_TYPE_SAVE |			\
	 PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_PRIV_SAVE)

#define BRANCH_FILTERS									\
	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ANY_CALL |				\
	 PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_IND_CALL |			\
	 PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_IND_JUMP |			\
	 PERF_SAMPLE_BRANCH_CALL)

#define TYPE(type)	PMU_SCTRCTL_TYPE(PMU_BRANCH_##type)

/**
 * struct branch_filter - the types of transfers that a filter of perf selects
 * @filter:	PERF_SAMPLE_BRANCH_*
 * @types:	PMU_SCTRCTL_TYPE() bits
 */
struct branch_filter {
	u64 filter;
	u64 types;
};

/* A co-routine swap is a return and a call in one instruction (Smctr, "Transfer Types"). */
static const struct branch_filter branch_filters[] = {
	{ PERF_SAMPLE_BRANCH_ANY,	 RISCV_PMU_BRANCH_INH },
	{ PERF_SAMPLE_BRANCH_ANY_CALL,	 TYPE(IND_CALL) | TYPE(CALL) | TYPE(CORO_SWAP) |
					 TYPE(EXCEPTION) },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN, TYPE(RETURN) | TYPE(CORO_SWAP) | TYPE(TRAP_RETURN) },
	{ PERF_SAMPLE_BRANCH_IND_CALL,	 TYPE(IND_CALL) | TYPE(CORO_SWAP) },
	{ PERF_SAMPLE_BRANCH_COND,	 TYPE(TAKEN) },
	{ PERF_SAMPLE_BRANCH_IND_JUMP,	 TYPE(IND_JUMP) | TYPE(IND_LINK) },
	{ PERF_SAMPLE_BRANCH_CALL,	 TYPE(CALL) },
	{ PERF_SAMPLE_BRANCH_CALL_STACK, TYPE(IND_CALL) | TYPE(CALL) | TYPE(CORO_SWAP) |
					 TYPE(RETURN) },
};

/*
 * The modes that perf's core has chosen if the user has not. It does not say whether it has, so
 * a machine mode that equals its choice is ignored, as it is in the event itself.
 */
static u64 branch_default_modes(const struct perf_event_attr *attr)
{
	u64 modes = 0;

	if (!attr->exclude_user)
		modes |= PERF_SAMPLE_BRANCH_USER;
	if (!attr->exclude_kernel)
		modes |= PERF_SAMPLE_BRANCH_KERNEL;
	if (!attr->exclude_hv)
		modes |= PERF_SAMPLE_BRANCH_HV;

	return modes;
}

/* The modes to record: those that the user has asked for, and that the event counts. */
static u64 branch_modes(const struct perf_event_attr *attr)
{
	u64 modes = 0;

	if (attr->exclude_host)
		return 0;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_USER && !attr->exclude_user)
		modes |= PMU_SCTRCTL_U;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_KERNEL && !attr->exclude_kernel)
		modes |= PMU_SCTRCTL_S;

	return modes;
}

static u64 branch_types(u64 filters)
{
	u64 types = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(branch_filters); i++) {
		if (filters & branch_filters[i].filter)
			types |= branch_filters[i].types;
	}

	return types;
}

static bool branch_is_supported(const struct perf_event_attr *attr)
{
	u64 type = attr->branch_sample_type;

	if (type & ~(u64)BRANCH_SUPPORTED)
		return false;

	return !(type & PERF_SAMPLE_BRANCH_HV) ||
	       (type & PERF_SAMPLE_BRANCH_PLM_ALL) == branch_default_modes(attr);
}

static bool branch_is_call_stack(const struct perf_event *event)
{
	return event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/**
 * riscv_pmu_branch_check() - check what an event wants to have recorded
 * @event:	an event; its attributes are user input
 *
 * Context: process.
 * Return: 0, also for an event without branch records; -EOPNOTSUPP if this machine does not record
 * that; -EINVAL if it contradicts itself.
 */
int riscv_pmu_branch_check(struct perf_event *event)
{
	const struct riscv_pmu_branch_caps *caps = &to_riscv_pmu(event->pmu)->branch;
	const struct perf_event_attr *attr = &event->attr;

	if (!has_branch_stack(event))
		return 0;
	if (!caps->depth || !branch_is_supported(attr))
		return -EOPNOTSUPP;
	if (branch_is_call_stack(event) && !(caps->ctl & PMU_SCTRCTL_RASEMU))
		return -EOPNOTSUPP;
	/* The stack's emulation ignores filters of types. */
	if (branch_is_call_stack(event) && attr->branch_sample_type & BRANCH_FILTERS)
		return -EINVAL;
	if (!branch_modes(attr) || !branch_types(attr->branch_sample_type))
		return -EINVAL;

	return 0;
}

/*
 * If events of a group differ in this, they could never count at the same time. Those with
 * event-based branches have to want the same, because their page has the records once.
 */
static bool branch_fits_event(const struct perf_event *event, const struct perf_event *other)
{
	if (!riscv_pmu_owns(other) || other == event || !to_riscv_pmu_event(other)->branch)
		return true;
	if (to_riscv_pmu_event(event)->ebb)
		return event->attr.branch_sample_type == other->attr.branch_sample_type;

	return branch_is_call_stack(event) == branch_is_call_stack(other);
}

static bool branch_fits_group(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;

	/* It has no siblings yet, and no context, whose lock protects them. */
	if (leader == event)
		return true;
	if (!branch_fits_event(event, leader))
		return false;
	for_each_sibling_event(sibling, leader) {
		if (!branch_fits_event(event, sibling))
			return false;
	}

	return true;
}

/* Nothing stops the recording of the kernel before the records of a sample are read. */
static bool branch_lacks_freeze(const struct riscv_pmu_branch_caps *caps,
				const struct riscv_pmu_event *ev)
{
	return ev->polled || (ev->split && ev->split->polled) ||
	       !(caps->ctl & PMU_SCTRCTL_LCOFIFRZ);
}

static u64 branch_event_ctl(const struct perf_event_attr *attr)
{
	u64 modes = branch_modes(attr);
	u64 types = branch_types(attr->branch_sample_type);
	u64 ctl = modes | PMU_SCTRCTL_LCOFIFRZ;

	/* Each trap leaves user mode or enters it. */
	if (modes == PMU_SCTRCTL_U)
		types &= ~RISCV_PMU_BRANCH_TRAPS;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		ctl |= PMU_SCTRCTL_RASEMU;

	return ctl | (RISCV_PMU_BRANCH_INH & ~types);
}

/**
 * riscv_pmu_branch_init_event() - initialise what the driver knows of an event's branch records
 * @event:	an event that has passed riscv_pmu_branch_check(), its &perf_event.pmu_private set
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP if nothing freezes the records of the kernel for it; -EINVAL if its group
 * records in another way.
 */
int riscv_pmu_branch_init_event(struct perf_event *event)
{
	const struct riscv_pmu_branch_caps *caps = &to_riscv_pmu(event->pmu)->branch;
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	u64 filters = event->attr.branch_sample_type;

	if (!has_branch_stack(event) || !(is_sampling_event(event) || ev->ebb))
		return 0;

	ev->branch_ctl = branch_event_ctl(&event->attr);
	if (ev->branch_ctl & PMU_SCTRCTL_S && branch_lacks_freeze(caps, ev))
		return -EOPNOTSUPP;
	if (!branch_fits_group(event))
		return -EINVAL;

	ev->branch = true;
	ev->branch_ecalls = filters & PERF_SAMPLE_BRANCH_ANY_CALL &&
			    !(filters & PERF_SAMPLE_BRANCH_ANY) &&
			    ev->branch_ctl & PMU_SCTRCTL_S;
	ev->branch_check = ev->branch_ecalls ||
			   ev->branch_ctl & RISCV_PMU_BRANCH_INH & ~caps->ctl;
	riscv_pmu_branch_choose_how(caps, ev);
	ev->special = true;
	ev->slow_stop = true;
	if (branch_is_call_stack(event))
		event->attach_state |= PERF_ATTACH_TASK_DATA;
	return 0;
}

/* --- what a hart records --- */

static u64 branch_union(const struct riscv_pmu_hart *hart)
{
	u64 ctl = 0, inh = RISCV_PMU_BRANCH_INH;
	const struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &hart->branch.events, branch_node) {
		ctl |= ev->branch_ctl;
		inh &= ev->branch_ctl;
	}

	return ctl ? (ctl & ~RISCV_PMU_BRANCH_INH) | inh : 0;
}

/* While the machine is being shut down, events remain, but nothing is recorded any more. */
static void branch_set_ctl(struct riscv_pmu_hart *hart)
{
	if (!hart->branch.stack)
		return;

	hart->branch.ctl = branch_union(hart);
	riscv_pmu_csr_branch_write_ctl(hart->branch.ctl & hart->pmu->branch.ctl);
}

/* A call stack can not be recorded together with anything else. */
static bool branch_fits_hart(const struct riscv_pmu_hart *hart, const struct riscv_pmu_event *ev)
{
	return !hart->branch.ctl || !((hart->branch.ctl ^ ev->branch_ctl) & PMU_SCTRCTL_RASEMU);
}

/**
 * riscv_pmu_branch_watch_switches() - have perf call sched_task at context switches, or no longer
 * @pmu:	the PMU
 * @watch:	whether it should; calls are counted
 *
 * Context: interrupts off.
 */
void riscv_pmu_branch_watch_switches(struct pmu *pmu, bool watch)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_branch_watch_switches, pmu, watch);

	if (watch)
		perf_sched_cb_inc(pmu);
	else
		perf_sched_cb_dec(pmu);
}

/**
 * riscv_pmu_branch_add() - record for an event
 * @hart:	this hart
 * @ev:		an event whose samples have branch records, and that has a counter
 *
 * The first event clears what was recorded before, for others. For a further event that
 * is not necessary: it sees only what its own filters let pass, of the task that runs.
 *
 * Context: interrupts off, during an update.
 * Return: 0; -EAGAIN if this hart can not record, or records a call stack and the event wants
 * none, or the reverse. perf tries again later.
 */
int riscv_pmu_branch_add(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (!hart->branch.stack || !branch_fits_hart(hart, ev))
		return -EAGAIN;

	if (!hart->branch.ctl) {
		riscv_pmu_csr_branch_clear();
		riscv_pmu_csr_branch_write_status(0);
	}
	list_add(&ev->branch_node, &hart->branch.events);
	branch_set_ctl(hart);
	riscv_pmu_branch_watch_switches(ev->event->pmu, true);
	return 0;
}

/**
 * riscv_pmu_branch_del() - no longer record for an event
 * @hart:	this hart
 * @ev:		an event for which riscv_pmu_branch_add() has succeeded
 *
 * The last one takes the records with it.
 *
 * Context: interrupts off.
 */
void riscv_pmu_branch_del(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	list_del(&ev->branch_node);
	branch_set_ctl(hart);
	if (!hart->branch.ctl)
		riscv_pmu_csr_branch_clear();
	riscv_pmu_branch_watch_switches(ev->event->pmu, false);
}

/* --- context switches --- */

static u64 branch_count_switches(void)
{
	return current->nvcsw + current->nivcsw;
}

static void branch_save(const struct riscv_pmu *pmu, struct riscv_pmu_branch_ctx *ctx)
{
	unsigned long select = riscv_pmu_csr_branch_begin();
	unsigned int n;

	for (n = 0; n < pmu->branch.depth; n++) {
		struct riscv_pmu_branch_record *record = &ctx->records[n];

		record->source = riscv_pmu_csr_branch_source(n);
		if (!(record->source & PMU_BRANCH_VALID))
			break;
		record->target = riscv_pmu_csr_branch_target();
		record->data = riscv_pmu_csr_branch_data();
	}
	riscv_pmu_csr_branch_end(select);
	ctx->nr = n;
	ctx->status = riscv_pmu_csr_branch_status() & PMU_SCTRSTATUS_WRPTR;
	ctx->switches = branch_count_switches();
}

/*
 * The status is written first: records are numbered from the next one to be written. In a handler
 * of event-based branches the records stay frozen (ebb.c).
 */
static void branch_restore(struct riscv_pmu_hart *hart, const struct riscv_pmu_branch_ctx *ctx)
{
	unsigned long select = riscv_pmu_csr_branch_begin();
	unsigned long frozen = riscv_pmu_csr_branch_status() & PMU_SCTRSTATUS_FROZEN;

	riscv_pmu_csr_branch_write_ctl(0);
	riscv_pmu_csr_branch_clear();
	riscv_pmu_csr_branch_write_status(ctx->status | frozen);
	for (unsigned int n = 0; n < ctx->nr; n++)
		riscv_pmu_csr_branch_write(n, &ctx->records[n]);
	riscv_pmu_csr_branch_end(select);
	riscv_pmu_csr_branch_write_ctl(hart->branch.ctl & hart->pmu->branch.ctl);
}

static void branch_switch_out(const struct riscv_pmu_hart *hart, struct riscv_pmu_branch_ctx *ctx)
{
	if (ctx && hart->branch.ctl & PMU_SCTRCTL_RASEMU)
		branch_save(hart->pmu, ctx);
}

static void branch_switch_in(struct riscv_pmu_hart *hart, const struct riscv_pmu_branch_ctx *ctx)
{
	if (ctx && hart->branch.ctl & PMU_SCTRCTL_RASEMU &&
	    ctx->switches == branch_count_switches())
		branch_restore(hart, ctx);
	else
		riscv_pmu_csr_branch_clear();
}

/**
 * riscv_pmu_branch_switch() - a context switch, while an event records
 * @pmu_ctx:	the context of this PMU's events of the current task, or of the hart
 * @sched_in:	the current task is about to run; otherwise, it is about to stop
 *
 * Before the events of the old task are removed, and after those of the new task were added. A
 * task that ran without an event that records has another count of switches, so that its old call
 * stack is not restored.
 *
 * Context: interrupts off; the run queue's lock is held.
 */
void riscv_pmu_branch_switch(struct perf_event_pmu_context *pmu_ctx, bool sched_in)
{
	struct riscv_pmu *pmu = to_riscv_pmu(pmu_ctx->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);

	/* perf also calls this for tasks whose events are not on this hart now. */
	if (hart->pmu != pmu || !hart->branch.ctl)
		return;

	if (sched_in)
		branch_switch_in(hart, riscv_pmu_task_data(pmu_ctx));
	else
		branch_switch_out(hart, riscv_pmu_task_data(pmu_ctx));
}

/* --- harts --- */

/**
 * riscv_pmu_branch_hart_start() - initialise the records of a hart
 * @pmu:	the PMU
 * @hart:	this hart, which comes up
 *
 * Context: CPU hotplug, interrupts off.
 */
void riscv_pmu_branch_hart_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (!pmu->branch.depth)
		return;

	if (riscv_pmu_csr_branch_reset(pmu->branch.depth)) {
		riscv_pmu_warn("hart %u does not have the %u branch records of the others: events with branch records do not count on it. Check that its firmware enables CTR (mstateen0.CTR)\n",
			       smp_processor_id(), pmu->branch.depth);
		return;
	}
	hart->branch.stack = *this_cpu_ptr(pmu->branch.stack);
}

/**
 * riscv_pmu_branch_hart_stop() - stop recording, and clear the records
 * @pmu:	the PMU
 * @hart:	this hart, which goes down; the next software must not find its records
 *
 * Context: interrupts off.
 */
void riscv_pmu_branch_hart_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (!hart->branch.stack)
		return;

	hart->branch.stack = NULL;
	hart->branch.ctl = 0;
	riscv_pmu_csr_branch_write_ctl(0);
	riscv_pmu_csr_branch_clear();
}

/**
 * riscv_pmu_branch_hart_resume() - record again after an idle state that may have lost the CSRs
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * The records are lost.
 *
 * Context: interrupts off.
 */
void riscv_pmu_branch_hart_resume(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (!hart->branch.stack)
		return;

	riscv_pmu_csr_branch_reset(pmu->branch.depth);
	branch_set_ctl(hart);
}
