// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: refused when they are opened if they can never be scheduled, started
 * and stopped as a whole, read as of one instant.
 */

#include <linux/errno.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include "counter.h"
#include "sched.h"
#include "update.h"

/* Adds an event of this PMU to an imagined hart that has nothing else to do. */
static int group_place(struct riscv_pmu_assignment *assign, const struct pmu *pmu,
		       const struct perf_event *event)
{
	const struct riscv_pmu_request *req;
	struct riscv_pmu_sched_path path;
	int ctr;

	if (event->pmu != pmu || event->state <= PERF_EVENT_STATE_ERROR)
		return 0;

	req = &to_riscv_pmu_event(event)->req;
	ctr = riscv_pmu_assignment_find(assign, req);
	if (ctr < 0) {
		const u64 prefer = to_riscv_pmu(pmu)->fixed_ctrs;

		if (!riscv_pmu_sched_find(&assign->sched, req->ctrs, &prefer, 1, &path))
			return -EINVAL;
		for (unsigned int i = path.len - 1; i; i--)
			riscv_pmu_assignment_move(assign, path.ctr[i - 1], path.ctr[i]);
		ctr = path.ctr[0];
	}

	riscv_pmu_assignment_add(assign, ctr, req);
	return 0;
}

static bool group_is_identical(const struct perf_event *a, const struct perf_event *b)
{
	return a->pmu == b->pmu && riscv_pmu_config_is_equal(&to_riscv_pmu_event(a)->req.cfg,
							     &to_riscv_pmu_event(b)->req.cfg);
}

/* Whether a group with one more of this event would have more than can run at once. */
static bool group_has_too_many(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int nr = 1 + group_is_identical(event, leader);

	for_each_sibling_event(sibling, leader)
		nr += group_is_identical(event, sibling);

	return nr > riscv_pmu_max_identical(&to_riscv_pmu_event(event)->req);
}

/**
 * riscv_pmu_group_validate() - whether an event's group fits on an idle hart
 * @event:	the event that is being opened
 *
 * Context: process; the leader's context mutex is held if there is a group.
 * Return: 0, -EINVAL if it can never run (perf's weak groups then split it),
 * or -ENOMEM.
 */
int riscv_pmu_group_validate(struct perf_event *event)
{
	struct riscv_pmu_assignment *assign __free(kfree) = NULL;
	struct perf_event *leader = event->group_leader, *sibling;
	int err;

	if (leader == event)
		return 0;
	if (group_has_too_many(event))
		return -EINVAL;

	assign = kzalloc(sizeof(*assign), GFP_KERNEL);
	if (!assign)
		return -ENOMEM;

	err = group_place(assign, event->pmu, leader);
	for_each_sibling_event(sibling, leader)
		err = err ?: group_place(assign, event->pmu, sibling);

	return err ?: group_place(assign, event->pmu, event);
}

/**
 * riscv_pmu_start_txn() - the next add or read calls belong together
 * @pmu:	the PMU
 * @flags:	PERF_PMU_TXN_ADD: nothing starts before the transaction ends;
 *		PERF_PMU_TXN_READ: all that is read is of this instant
 *
 * Each add finds out by itself whether the group still fits, by moving others
 * if need be; if one does not, perf deletes those before it.
 *
 * Context: interrupts off.
 */
void riscv_pmu_start_txn(struct pmu *pmu, unsigned int flags)
{
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(to_riscv_pmu(pmu));

	/* Within pmu_disable and pmu_enable nothing starts before, anyway. */
	if (flags & PERF_PMU_TXN_ADD && hart->updating)
		return;

	hart->txn = flags;
	if (flags & PERF_PMU_TXN_ADD)
		perf_pmu_disable(pmu);
	else if (flags & PERF_PMU_TXN_READ)
		hart->latch_on_read = true;
}

static void group_end(struct pmu *pmu)
{
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(to_riscv_pmu(pmu));
	unsigned int flags = hart->txn;

	hart->txn = 0;
	if (flags & PERF_PMU_TXN_ADD)
		perf_pmu_enable(pmu);
	else if (flags & PERF_PMU_TXN_READ && !hart->updating)
		riscv_pmu_hart_unlatch(hart);
}

/**
 * riscv_pmu_commit_txn() - the transaction has gone through
 * @pmu:	the PMU
 *
 * Context: interrupts off.
 * Return: 0.
 */
int riscv_pmu_commit_txn(struct pmu *pmu)
{
	group_end(pmu);
	return 0;
}

/**
 * riscv_pmu_cancel_txn() - the transaction is off; perf has deleted what it had added
 * @pmu:	the PMU
 *
 * Context: interrupts off.
 */
void riscv_pmu_cancel_txn(struct pmu *pmu)
{
	group_end(pmu);
}
