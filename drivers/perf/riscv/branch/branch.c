// SPDX-License-Identifier: GPL-2.0
/*
 * Branch records (Ssctr): what the hart records.
 *
 * It is the union of what its events want (branch/event.c); branch/sample.c leaves out of each
 * sample what its event does not want. Usually all events of a hart want the same: then no record
 * has to be checked.
 *
 * The records belong to the hart, not to a task. So while an event records, they are cleared at
 * each context switch. Call stacks are saved before, and restored when their task runs again.
 */

#include <kunit/static_stub.h>
#include <linux/perf_event.h>
#include <linux/sched.h>

#include "../compat.h"
#include "../print.h"
#include "state.h"
#include "../update.h"

static u64 branch_union(const struct riscv_pmu_hart *hart)
{
	u64 ctl = 0, inh = RISCV_PMU_BRANCH_INH;
	const struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &hart->branch.events, branch.node) {
		ctl |= ev->branch.ctl;
		inh &= ev->branch.ctl;
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

/* Clear all records. Those that are made from now on match the current sctrctl. */
static void branch_clear(struct riscv_pmu_hart *hart)
{
	hart->branch.other_records = false;
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
	hart->branch.maybe_reset = false;
	hart->branch.other_records = false;
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

/* If perf did not report a context switch, the records may be of another task: clear them. */
static bool branch_check_task(struct riscv_pmu_hart *hart)
{
	if (hart->branch.task == current && hart->branch.switches == branch_count_switches())
		return true;
	/* An NMI may come after the switch was counted, and before the call stack was saved. */
	if (in_nmi() && hart->branch.task == current && hart->branch.ctl & PMU_SCTRCTL_RASEMU)
		return false;

	branch_clear(hart);
	branch_set_task(hart);
	return false;
}

/* Has perf call sched_task at context switches for one more event, or for one fewer. */
void riscv_pmu_branch_use_sched_task(struct pmu *pmu, bool watch)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_branch_use_sched_task, pmu, watch);

	if (watch)
		perf_sched_cb_inc(pmu);
	else
		perf_sched_cb_dec(pmu);
}

/*
 * Records for an event that has a counter. The first event on a hart clears the records, which may
 * be of another task. For a further event they are of the running task, and its samples show only
 * what its filters select.
 *
 * Returns -EAGAIN if this hart cannot record what the event wants, or not together with what others
 * want: perf tries again when it rotates its events.
 */
int riscv_pmu_branch_add(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (unlikely(hart->branch.maybe_reset))
		branch_reset(hart);
	if (!hart->branch.stack ||
	    (hart->branch.ctl &&
	     !riscv_pmu_branch_can_combine(hart->pmu, hart->branch.ctl, ev->branch.ctl)))
		return -EAGAIN;

	list_add(&ev->branch.node, &hart->branch.events);
	if (hart->branch.ctl) {
		branch_check_task(hart);
		branch_set_ctl(hart, branch_union(hart));
	} else {
		branch_clear(hart);
		hart->branch.held = false;
		riscv_pmu_csr_branch_write_status(0);
		branch_set_ctl(hart, ev->branch.ctl);
		branch_set_task(hart);
	}
	if (ev->flags & RISCV_PMU_EV_BRANCH_SWITCH)
		riscv_pmu_branch_use_sched_task(ev->event->pmu, true);
	return 0;
}

/* After the last event, the records are cleared, so that the next task cannot see them. */
void riscv_pmu_branch_del(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	list_del(&ev->branch.node);
	if (list_empty(&hart->branch.events)) {
		branch_set_ctl(hart, 0);
		branch_clear(hart);
	} else {
		branch_set_ctl(hart, branch_union(hart));
		hart->branch.other_records = true;
	}
	if (ev->flags & RISCV_PMU_EV_BRANCH_SWITCH)
		riscv_pmu_branch_use_sched_task(ev->event->pmu, false);
}

static void branch_save(const struct riscv_pmu *pmu, struct riscv_pmu_branch_ctx *ctx)
{
	unsigned long select = riscv_pmu_csr_branch_begin();
	unsigned long n;

	for (n = 0; n < pmu->branch.depth; n++) {
		struct riscv_pmu_branch_record *record = &ctx->records[n];

		record->source = riscv_pmu_csr_branch_source(n);
		if (!(record->source & PMU_BRANCH_VALID))
			break;
		record->target = riscv_pmu_csr_branch_read(PMU_CSR_SIREG2);
		record->data = riscv_pmu_csr_branch_read(PMU_CSR_SIREG3);
	}
	riscv_pmu_csr_branch_end(select);
	ctx->nr = n;
	ctx->status = riscv_pmu_csr_branch_status() & PMU_SCTRSTATUS_WRPTR;
	ctx->switches = branch_count_switches();
}

/*
 * sctrstatus is written first, because records are numbered relative to its write pointer. While a
 * handler of event-based branches runs, the records stay frozen (ebb/ebb.c).
 */
static void branch_restore(struct riscv_pmu_hart *hart, const struct riscv_pmu_branch_ctx *ctx)
{
	unsigned long select = riscv_pmu_csr_branch_begin();
	unsigned long frozen = riscv_pmu_csr_branch_status() & PMU_SCTRSTATUS_FROZEN;

	riscv_pmu_csr_branch_write_ctl(0);
	branch_clear(hart);
	riscv_pmu_csr_branch_write_status(ctx->status | frozen);
	for (unsigned long n = 0; n < min_t(u64, ctx->nr, hart->pmu->branch.depth); n++) {
		riscv_pmu_csr_branch_write(CSR_SISELECT, PMU_ISELECT_BRANCH + n);
		riscv_pmu_csr_branch_write(CSR_SIREG, ctx->records[n].source);
		riscv_pmu_csr_branch_write(PMU_CSR_SIREG2, ctx->records[n].target);
		riscv_pmu_csr_branch_write(PMU_CSR_SIREG3, ctx->records[n].data);
	}
	riscv_pmu_csr_branch_end(select);
	riscv_pmu_csr_branch_write_ctl(hart->branch.ctl & hart->pmu->branch.ctl);
}

/*
 * perf's callback at a context switch, before it removes the events of the old task, and after it
 * has added those of the new one. If a task has run without being recorded since its call stack was
 * saved, its number of switches differs from the saved one, and the stack is not restored.
 */
void riscv_pmu_branch_switch(struct perf_event_pmu_context *pmu_ctx, bool sched_in)
{
	struct riscv_pmu *pmu = to_riscv_pmu(pmu_ctx->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);
	struct riscv_pmu_branch_ctx *ctx;

	/* This hart has another CPU type, or nothing is recorded on it (any more). */
	if (hart->pmu != pmu || !hart->branch.ctl)
		return;

	ctx = hart->branch.ctl & PMU_SCTRCTL_RASEMU ? riscv_pmu_task_data(pmu_ctx) : NULL;
	if (!sched_in) {
		if (ctx)
			branch_save(pmu, ctx);
		return;
	}

	if (ctx && ctx->switches == branch_count_switches())
		branch_restore(hart, ctx);
	else
		branch_clear(hart);
	branch_set_task(hart);
}

/*
 * Whether the sample of an event may show the hart's records.
 *
 * Kernels whose perf_pmu_sched_task() does not test task_epc do not call riscv_pmu_branch_switch()
 * for an event of the hart if the next task has events of other PMUs only. Then the records may be
 * of several tasks: they are cleared.
 *
 * An NMI may come between the switch to another task and riscv_pmu_branch_switch(), when perf has
 * already moved an inherited event of the last task to the current one.
 */
bool riscv_pmu_branch_check_current(struct riscv_pmu_hart *hart, const struct perf_event *event)
{
	if (event->attach_state & PERF_ATTACH_TASK)
		return !in_nmi() || hart->branch.task == current;

	return branch_check_task(hart);
}

/* Whether this hart has the records and filters of the hart that was probed. */
static bool branch_is_equal(const struct riscv_pmu_branch_caps *probed)
{
	struct riscv_pmu_branch_caps caps = {};

	return !riscv_pmu_csr_branch_probe(&caps, probed->depth) && caps.depth == probed->depth &&
	       caps.ctl == probed->ctl && caps.has_types == probed->has_types &&
	       caps.has_misprediction == probed->has_misprediction;
}

/* Initialises the records of this hart, which comes up. */
void riscv_pmu_branch_hart_start(struct riscv_pmu_hart *hart)
{
	const struct riscv_pmu_branch_caps *caps = &hart->pmu->branch;

	riscv_pmu_csr_branch_clear_for_guests();
	if (!caps->depth)
		return;

	if (!branch_is_equal(caps) || riscv_pmu_csr_branch_reset(caps->depth)) {
		riscv_pmu_warn("hart %u does not have the %u branch records and the filters of the other harts, or its firmware forbids them (mstateen0.CTR): events with branch records do not count there\n",
			       smp_processor_id(), caps->depth);
		return;
	}
	hart->branch.stack = this_cpu_ptr(caps->stack);
}

/* This hart goes down: what runs on it next must not see its records. */
void riscv_pmu_branch_hart_stop(struct riscv_pmu_hart *hart)
{
	/* M-mode may no longer let this hart use CTR. */
	if (hart->branch.maybe_reset)
		branch_reset(hart);
	if (!hart->branch.stack)
		return;

	branch_set_ctl(hart, 0);
	branch_clear(hart);
	hart->branch.stack = NULL;
}

/* The records are lost. Without an active event, the CSRs are set up when one is added. */
void riscv_pmu_branch_hart_resume(struct riscv_pmu_hart *hart)
{
	hart->branch.maybe_reset = hart->branch.stack;
	if (!hart->branch.maybe_reset || list_empty(&hart->branch.events))
		return;

	branch_reset(hart);
	branch_set_ctl(hart, branch_union(hart));
}
