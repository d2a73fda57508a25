// SPDX-License-Identifier: GPL-2.0
/*
 * Branch records (Ssctr): which transfers of control each event wants recorded, and what the hart
 * records.
 *
 * The hart records the union of what its events want. branch_sample.c leaves out of each sample
 * what its event does not want. Usually all events of a hart want the same: then no record has to
 * be checked.
 *
 * The records belong to the hart, not to a task. So while an event records, they are cleared at
 * each context switch. Call stacks are saved before, and restored when their task runs again.
 */

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>
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
 * The modes that perf's core sets in branch_sample_type if the user sets none. The driver cannot
 * tell who has set them. So if the modes are these, it ignores PERF_SAMPLE_BRANCH_HV (machine mode,
 * which is never recorded), and PERF_SAMPLE_BRANCH_KERNEL of a call stack; otherwise it refuses
 * these bits.
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

/*
 * The modes to record: those that the user asks for and that the event does not exclude. A call
 * stack is of user mode only: at a context switch, the kernel returns from other functions than it
 * has called, which would remove records of the stack.
 */
static u64 branch_modes(const struct perf_event_attr *attr)
{
	u64 modes = 0;

	if (attr->exclude_host)
		return 0;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_USER && !attr->exclude_user)
		modes |= PMU_SCTRCTL_U;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_KERNEL && !attr->exclude_kernel &&
	    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
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
	u64 type = attr->branch_sample_type, refused = PERF_SAMPLE_BRANCH_HV;

	if (type & ~(u64)BRANCH_SUPPORTED)
		return false;
	if (type & PERF_SAMPLE_BRANCH_CALL_STACK)
		refused |= PERF_SAMPLE_BRANCH_KERNEL;

	return !(type & refused) ||
	       (type & PERF_SAMPLE_BRANCH_PLM_ALL) == branch_default_modes(attr);
}

static u64 branch_event_ctl(const struct perf_event_attr *attr)
{
	u64 modes = branch_modes(attr);
	u64 types = branch_types(attr->branch_sample_type);
	u64 ctl = modes | PMU_SCTRCTL_LCOFIFRZ;

	/* Each trap, and each return from one, has an end outside user mode. */
	if (modes == PMU_SCTRCTL_U)
		types &= ~RISCV_PMU_BRANCH_TRAPS;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		ctl |= PMU_SCTRCTL_RASEMU;

	return ctl | (RISCV_PMU_BRANCH_INH & ~types);
}

/* Only system calls are wanted of all exceptions. */
static bool branch_wants_ecalls(const struct perf_event_attr *attr)
{
	return attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY_CALL &&
	       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY) &&
	       branch_modes(attr) & PMU_SCTRCTL_S;
}

/* If records have no type (Smctr: it is optional), only the hardware can filter by type. */
static bool branch_is_filtered(const struct riscv_pmu_branch_caps *caps,
			       const struct perf_event_attr *attr)
{
	return caps->has_types || !(branch_wants_ecalls(attr) ||
				    branch_event_ctl(attr) & RISCV_PMU_BRANCH_INH & ~caps->ctl);
}

static bool branch_is_call_stack(const struct perf_event *event)
{
	return event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/**
 * riscv_pmu_branch_check() - check which branches an event wants recorded
 * @event:	an event; its attributes are user input
 *
 * Context: process.
 * Return: 0, also for an event without branch records; -EOPNOTSUPP if this machine cannot record
 * what the event wants; -EINVAL if the attributes contradict each other.
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
	/* The emulation of a call stack (RASEMU) ignores the filters of types. */
	if (branch_is_call_stack(event) && attr->branch_sample_type & BRANCH_FILTERS)
		return -EINVAL;
	if (!branch_modes(attr) || !branch_types(attr->branch_sample_type))
		return -EINVAL;

	return branch_is_filtered(caps, attr) ? 0 : -EOPNOTSUPP;
}

/*
 * A hart records either a call stack or other branches, so a group that wants both could never
 * count. Events with event-based branches (EBBs) have to want the same records, because their page
 * has room for those of one event only.
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

	/* A leader has no siblings yet, and no context yet, whose lock protects their list. */
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

/*
 * Whether the interrupt that leads to a sample leaves the records unfrozen: a timer's, or one of a
 * vendor. Then the branches of its handler replace the records of an event that records the kernel.
 */
static bool branch_lacks_freeze(const struct riscv_pmu *pmu, const struct riscv_pmu_event *ev)
{
	return ev->polled || pmu->hwirq != RV_IRQ_PMU || !(pmu->branch.ctl & PMU_SCTRCTL_LCOFIFRZ);
}

/*
 * Whether perf has to call riscv_pmu_branch_switch() for an event. An event of a single task is
 * removed when that task is switched out, which clears the records as well, and takes half the
 * instructions. An inherited event may stay when a related task runs next.
 */
static bool branch_has_to_watch(const struct perf_event *event)
{
	return !(event->attach_state & PERF_ATTACH_TASK) || event->attr.inherit ||
	       branch_is_call_stack(event);
}

/**
 * riscv_pmu_branch_init_event() - initialise the branch_* fields of an event
 * @event:	an event that has passed riscv_pmu_branch_check(), its &perf_event.pmu_private set
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP if it records the kernel and nothing freezes the records for its samples;
 * -EINVAL if its group wants records that cannot be combined with its own.
 */
int riscv_pmu_branch_init_event(struct perf_event *event)
{
	const struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (!has_branch_stack(event) || !(is_sampling_event(event) || ev->ebb))
		return 0;

	ev->branch_ctl = branch_event_ctl(&event->attr);
	if (ev->branch_ctl & PMU_SCTRCTL_S && branch_lacks_freeze(pmu, ev))
		return -EOPNOTSUPP;
	if (!branch_fits_group(event))
		return -EINVAL;

	ev->branch = true;
	ev->branch_ecalls = branch_wants_ecalls(&event->attr);
	ev->branch_check = ev->branch_ecalls ||
			   ev->branch_ctl & RISCV_PMU_BRANCH_INH & ~pmu->branch.ctl;
	riscv_pmu_branch_choose_how(&pmu->branch, ev);
	ev->branch_watch = branch_has_to_watch(event);
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

/* After riscv_pmu_branch_hart_stop() events may remain, but nothing is recorded any more. */
static void branch_set_ctl(struct riscv_pmu_hart *hart, u64 ctl)
{
	if (!hart->branch.stack)
		return;

	hart->branch.ctl = ctl;
	riscv_pmu_csr_branch_write_ctl(ctl & hart->pmu->branch.ctl);
}

/*
 * A call stack cannot be recorded together with other branches. If records have no type, all events
 * have to want the same types.
 */
static bool branch_fits_hart(const struct riscv_pmu_hart *hart, const struct riscv_pmu_event *ev)
{
	u64 differs = hart->branch.ctl ^ ev->branch_ctl;

	if (!hart->branch.ctl)
		return true;
	if (differs & RISCV_PMU_BRANCH_INH && !hart->pmu->branch.has_types)
		return false;

	return !(differs & PMU_SCTRCTL_RASEMU);
}

/* All records are of what sctrctl now records. */
static void branch_clear(struct riscv_pmu_hart *hart)
{
	hart->branch.mixed = false;
	/* If M-mode no longer lets this hart use CTR (branch_reset()), this would trap. */
	if (hart->branch.stack)
		riscv_pmu_csr_branch_clear();
}

static u64 branch_count_switches(void)
{
	return current->nvcsw + current->nivcsw;
}

/* After an idle state that may have reset the CSRs */
static void branch_reset(struct riscv_pmu_hart *hart)
{
	hart->branch.lost = false;
	hart->branch.mixed = false;
	if (!riscv_pmu_csr_branch_reset(hart->pmu->branch.depth))
		return;

	hart->branch.stack = NULL;
	hart->branch.ctl = 0;
}

/* From now on the records are those of the current task. */
static void branch_set_task(struct riscv_pmu_hart *hart)
{
	hart->branch.task = current;
	hart->branch.switches = branch_count_switches();
}

/*
 * Returns whether the records are those of the current task. If a context switch was missed, they
 * may be of another one, and are cleared.
 */
static bool branch_check_task(struct riscv_pmu_hart *hart)
{
	if (hart->branch.task == current && hart->branch.switches == branch_count_switches())
		return true;

	branch_clear(hart);
	branch_set_task(hart);
	return false;
}

/**
 * riscv_pmu_branch_watch_switches() - start or stop perf's calls of sched_task at context switches
 * @pmu:	the PMU
 * @watch:	true: one more event needs them; false: one event fewer
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
 * The first event on a hart clears the records, which may be of another task. A further event need
 * not clear them: they are of the running task, and its samples show only what its filters select.
 *
 * Context: interrupts off, during an update.
 * Return: 0; -EAGAIN if this hart cannot record, or records a call stack and the event wants
 * none, or the reverse. perf tries again when it rotates its events.
 */
int riscv_pmu_branch_add(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (unlikely(hart->branch.lost))
		branch_reset(hart);
	if (!hart->branch.stack || !branch_fits_hart(hart, ev))
		return -EAGAIN;

	list_add(&ev->branch_node, &hart->branch.events);
	if (hart->branch.ctl) {
		branch_check_task(hart);
		branch_set_ctl(hart, branch_union(hart));
	} else {
		branch_clear(hart);
		riscv_pmu_csr_branch_write_status(0);
		branch_set_ctl(hart, ev->branch_ctl);
		branch_set_task(hart);
	}
	if (ev->branch_watch)
		riscv_pmu_branch_watch_switches(ev->event->pmu, true);
	return 0;
}

/**
 * riscv_pmu_branch_del() - no longer record for an event
 * @hart:	this hart
 * @ev:		an event for which riscv_pmu_branch_add() has succeeded
 *
 * If no other event records, the records are cleared, so that the next task cannot see them.
 *
 * Context: interrupts off.
 */
void riscv_pmu_branch_del(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	list_del(&ev->branch_node);
	if (list_empty(&hart->branch.events)) {
		branch_set_ctl(hart, 0);
		branch_clear(hart);
	} else {
		branch_set_ctl(hart, branch_union(hart));
		hart->branch.mixed = true;
	}
	if (ev->branch_watch)
		riscv_pmu_branch_watch_switches(ev->event->pmu, false);
}

/* --- context switches --- */

static void branch_save(const struct riscv_pmu *pmu, struct riscv_pmu_branch_ctx *ctx)
{
	unsigned long select = riscv_pmu_csr_branch_begin();
	unsigned long n;

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
 * sctrstatus is written first, because records are numbered relative to its write pointer. While a
 * handler of event-based branches runs, the records stay frozen (ebb.c).
 */
static void branch_restore(struct riscv_pmu_hart *hart, const struct riscv_pmu_branch_ctx *ctx)
{
	unsigned long select = riscv_pmu_csr_branch_begin();
	unsigned long frozen = riscv_pmu_csr_branch_status() & PMU_SCTRSTATUS_FROZEN;

	riscv_pmu_csr_branch_write_ctl(0);
	branch_clear(hart);
	riscv_pmu_csr_branch_write_status(ctx->status | frozen);
	for (unsigned long n = 0; n < min_t(u64, ctx->nr, hart->pmu->branch.depth); n++)
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
		branch_clear(hart);
	branch_set_task(hart);
}

/**
 * riscv_pmu_branch_switch() - handle a context switch while an event records
 * @pmu_ctx:	the context of this PMU's events of the current task, or of the hart
 * @sched_in:	the current task is about to run; otherwise, it is about to stop
 *
 * perf calls it before it removes the events of the old task, and after it has added those of the
 * new task. If a task has run without being recorded since its call stack was saved, its number of
 * switches differs from the one that was saved, and the call stack is not restored.
 *
 * Context: interrupts off; the run queue's lock is held.
 */
void riscv_pmu_branch_switch(struct perf_event_pmu_context *pmu_ctx, bool sched_in)
{
	struct riscv_pmu *pmu = to_riscv_pmu(pmu_ctx->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);

	/* This hart has another CPU type, or nothing is recorded on it (any more). */
	if (hart->pmu != pmu || !hart->branch.ctl)
		return;

	if (sched_in)
		branch_switch_in(hart, riscv_pmu_task_data(pmu_ctx));
	else
		branch_switch_out(hart, riscv_pmu_task_data(pmu_ctx));
}

/**
 * riscv_pmu_branch_is_of_current() - whether the hart's records are those of the current task
 * @hart:	this hart
 * @event:	the event that is about to show them
 *
 * Kernels whose perf_pmu_sched_task() does not check task_epc do not call riscv_pmu_branch_switch()
 * for an event of the hart if the next task has events, but none of this PMU. Then the records may
 * be of several tasks, and are cleared here.
 *
 * Context: hard interrupt.
 * Return: true; or false, if they were not, and are cleared.
 */
bool riscv_pmu_branch_is_of_current(struct riscv_pmu_hart *hart, const struct perf_event *event)
{
	return event->attach_state & PERF_ATTACH_TASK || branch_check_task(hart);
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
	riscv_pmu_csr_branch_guard();
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
 * @hart:	this hart, which goes down; what runs on it next must not see its records
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
 * riscv_pmu_branch_hart_resume() - record again after an idle state that may have reset the CSRs
 * @hart:	this hart
 *
 * The records are lost. If no event records, the CSRs are only set up when one does.
 *
 * Context: interrupts off.
 */
void riscv_pmu_branch_hart_resume(struct riscv_pmu_hart *hart)
{
	hart->branch.lost = hart->branch.stack;
	if (!hart->branch.lost || list_empty(&hart->branch.events))
		return;

	branch_reset(hart);
	branch_set_ctl(hart, branch_union(hart));
}
