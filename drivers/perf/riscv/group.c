// SPDX-License-Identifier: GPL-2.0
/*
 * Groups of events. A group that can never be scheduled is refused when it is opened. The members
 * of a group start and stop together, and are read as of one instant. perf begins and ends
 * transactions with interrupts off.
 */

#include <linux/errno.h>
#include <linux/slab.h>

#include "assign.h"
#include "sched.h"
#include "update.h"

/* Assigns a request to a counter of a hypothetical hart without other events. */
static int group_place_request(struct riscv_pmu_assignment *assign, u64 prefer,
			       const struct riscv_pmu_request *req)
{
	struct riscv_pmu_sched_path path;

	for_each_ctr(ctr, assign->sched.used & req->ctrs) {
		if (riscv_pmu_config_is_equal(&assign->cfg[ctr], &req->cfg)) {
			riscv_pmu_assignment_add(assign, ctr, &req->cfg, req->ctrs);
			return 0;
		}
	}
	if (!riscv_pmu_sched_find(&assign->sched, req->ctrs, &prefer, 1, &path))
		return -EINVAL;

	for (unsigned int i = path.len - 1; i; i--)
		riscv_pmu_assignment_move(assign, path.ctr[i - 1], path.ctr[i]);
	riscv_pmu_assignment_add(assign, path.ctr[0], &req->cfg, req->ctrs);
	return 0;
}

static int group_place(struct riscv_pmu_assignment *assign, const struct pmu *pmu,
		       const struct perf_event *event)
{
	u64 prefer = to_riscv_pmu(pmu)->fixed_ctrs;
	const struct riscv_pmu_event *ev, *part;

	if (event->pmu != pmu || event->state <= PERF_EVENT_STATE_ERROR)
		return 0;

	ev = to_riscv_pmu_event(event);
	part = riscv_pmu_event_part(ev);
	return group_place_request(assign, prefer, &ev->req) ?:
	       part ? group_place_request(assign, prefer, &part->req) : 0;
}

/* Whether two events are identical, whatever they say of guests: that matters only with guests. */
static bool group_is_identical(const struct perf_event *a, const struct perf_event *b)
{
	const struct riscv_pmu_config *x = &to_riscv_pmu_event(a)->req.cfg;
	const struct riscv_pmu_config *y = &to_riscv_pmu_event(b)->req.cfg;

	return a->pmu == b->pmu && x->event_idx == y->event_idx &&
	       x->event_data == y->event_data && !((x->inh ^ y->inh) & ~RISCV_PMU_INH_GUESTS);
}

/**
 * riscv_pmu_group_validate() - whether an event's group fits on an idle hart
 * @event:	the event that is being opened
 * Context: process; if there is a group, the mutex of the leader's context is held.
 * Return: 0; -EINVAL if the group can never be scheduled (perf then splits a weak group);
 * -ENOMEM.
 */
int riscv_pmu_group_validate(struct perf_event *event)
{
	struct riscv_pmu_assignment *assign __free(kfree) = NULL;
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int nr = 1;
	int err;

	/*
	 * perf clones a group member by member for a child task, without members that have lost
	 * their owner. So the child's group is a part of one that was validated, unless the clone
	 * got another PMU than its parent.
	 */
	if (leader == event || (event->parent && event->parent->pmu == event->pmu))
		return 0;

	assign = kzalloc(sizeof(*assign), GFP_KERNEL);
	if (!assign)
		return -ENOMEM;

	nr += group_is_identical(event, leader);
	err = group_place(assign, event->pmu, leader);
	for_each_sibling_event(sibling, leader) {
		nr += group_is_identical(event, sibling);
		err = err ?: group_place(assign, event->pmu, sibling);
	}
	if (nr > RISCV_PMU_MAX_IDENTICAL)
		return -EINVAL;

	return err ?: group_place(assign, event->pmu, event);
}

/**
 * riscv_pmu_start_txn() - begin a transaction of several add or read calls
 * @pmu:	the PMU
 * @flags:	PERF_PMU_TXN_ADD: no event starts before the transaction ends;
 *		PERF_PMU_TXN_READ: all events are read as of one instant
 *
 * Each add finds a counter for its event, and moves other events if that is necessary. If one
 * add fails, perf deletes the events that were added before it.
 */
void riscv_pmu_start_txn(struct pmu *pmu, unsigned int flags)
{
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(to_riscv_pmu(pmu));

	/* Between pmu_disable and pmu_enable no event starts anyway. */
	if (flags & PERF_PMU_TXN_ADD && hart->updating)
		return;

	hart->txn = flags;
	if (flags & PERF_PMU_TXN_ADD)
		perf_pmu_disable(pmu);
	else if (flags & PERF_PMU_TXN_READ)
		hart->latch_on_read = true;
}

/* Ends a transaction. If it has failed, perf has already deleted the events that it had added. */
void riscv_pmu_cancel_txn(struct pmu *pmu)
{
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(to_riscv_pmu(pmu));
	unsigned int flags = hart->txn;

	/* Most context switches: riscv_pmu_start_txn() notes nothing during an update. */
	if (!flags)
		return;

	hart->txn = 0;
	if (flags & PERF_PMU_TXN_ADD)
		perf_pmu_enable(pmu);
	else if (flags & PERF_PMU_TXN_READ && !hart->updating)
		riscv_pmu_hart_unlatch(hart);
}

int riscv_pmu_commit_txn(struct pmu *pmu)
{
	riscv_pmu_cancel_txn(pmu);
	return 0;
}
