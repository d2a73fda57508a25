// SPDX-License-Identifier: GPL-2.0
/*
 * Assigns events to counters: an event returns to the counter that still holds its config, shares
 * the counter of an identical event, takes a free one, or moves others to make room.
 *
 * Everything here runs on the hart that it is about, with interrupts off.
 */

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "assign.h"
#include "counter.h"
#include "sched.h"
#include "user/user.h"

/**
 * riscv_pmu_assignment_add() - note that one more event uses a counter
 * @assign:	the configs in use
 * @ctr:	a free counter, or one in use for the same config
 * @req:	the new event
 */
void riscv_pmu_assignment_add(struct riscv_pmu_assignment *assign, unsigned int ctr,
			      const struct riscv_pmu_request *req)
{
	struct riscv_pmu_sched *sched = &assign->sched;

	if (sched->used & BIT_ULL(ctr)) {
		sched->may[ctr] &= req->ctrs;
		return;
	}

	sched->used |= BIT_ULL(ctr);
	sched->may[ctr] = req->ctrs;
	assign->cfg[ctr] = req->cfg;
}

/**
 * riscv_pmu_assignment_move() - note that a config moves to another counter
 * @assign:	the configs in use
 * @from:	where it was; free afterwards
 * @to:		where it goes; free, or in use for the same config
 */
void riscv_pmu_assignment_move(struct riscv_pmu_assignment *assign, unsigned int from,
			       unsigned int to)
{
	struct riscv_pmu_sched *sched = &assign->sched;

	sched->may[to] = sched->used & BIT_ULL(to) ? sched->may[to] & sched->may[from] :
						     sched->may[from];
	sched->used &= ~BIT_ULL(from);
	sched->used |= BIT_ULL(to);
	assign->cfg[to] = assign->cfg[from];
}

#define ASSIGN_NR_PREFERRED	5

/* Free counters that hold the config of a new event. */
static u64 assign_find_holders(const struct riscv_pmu_hart *hart,
			       const struct riscv_pmu_request *req)
{
	u64 holders = 0;

	for_each_ctr(ctr, req->ctrs & hart->hw.holds & ~hart->wanted.sched.used) {
		if (riscv_pmu_config_is_equal(&hart->counter[ctr].cfg, &req->cfg))
			holders |= BIT_ULL(ctr);
	}

	return holders;
}

/* Those of @armed that need not be written for a new event. */
static u64 assign_find_suited(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 armed,
			      s64 left)
{
	u64 suited = 0;

	for_each_ctr(ctr, left > 0 ? armed & hart->hw.running : 0) {
		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
		if (riscv_pmu_counter_suits(&hart->counter[ctr], left))
			suited |= BIT_ULL(ctr);
	}

	return suited;
}

/*
 * Free counters in the order of preference for a new event:
 * - those that it prefers, or else those that hold its config;
 * - those without a config; of these, fixed ones first, to keep the programmable ones for events
 *   that need them;
 * - those that are not armed.
 *
 * A free counter that is armed waits for the overflow point of another task's event. An event that
 * samples takes one with its config only if that need not be written, or if there is no other.
 * Otherwise both events would have it written each time that they are added.
 */
static void assign_preferred(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     const struct riscv_pmu_event *ev,
			     const struct riscv_pmu_request *req, u64 prefer[ASSIGN_NR_PREFERRED])
{
	u64 holders = assign_find_holders(hart, req), awaited = 0;

	/* Those for which another task's event waits, and that would have to be written */
	if (riscv_pmu_event_needs_irq(ev)) {
		awaited = holders & hart->hw.armed;
		awaited &= ~assign_find_suited(pmu, hart, awaited, local64_read(ev->left));
	}
	prefer[0] = holders & ~awaited;
	prefer[1] = pmu->fixed_ctrs & ~hart->hw.holds;
	prefer[2] = ~hart->hw.holds;
	prefer[3] = ~hart->hw.armed;
	prefer[4] = awaited;
	if (unlikely(req->prefer & ~hart->wanted.sched.used))
		prefer[0] = req->prefer;
}

/*
 * Notes whether a counter in use holds the config that is wanted of it. If not, no event can return
 * to it, although it may still hold the event's config.
 */
static void assign_check_holds(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	if (riscv_pmu_config_is_equal(&hart->counter[ctr].cfg, &hart->wanted.cfg[ctr])) {
		hart->hw.holds |= BIT_ULL(ctr);
	} else {
		hart->hw.holds &= ~BIT_ULL(ctr);
		riscv_pmu_counter_invalidate(hart, ctr);
	}
}

/*
 * Moves an event to another counter. Its delta so far and the distance to its overflow point
 * are kept. Polling starts again, because the last polled count is the old counter's.
 */
static void assign_move_event(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev,
			      unsigned int to, u64 now)
{
	ev->ctr = to;
	ev->counter = &hart->counter[to];
	riscv_pmu_event_restart_rate(ev);
	riscv_pmu_user_note_move(hart, ev);
	if (ev->state != RISCV_PMU_EVENT_ACTIVE)
		return;

	ev->pending_delta = riscv_pmu_event_take_delta(ev, now);
	ev->period_left = ev->overflow_point - now;
	ev->state = RISCV_PMU_EVENT_PENDING;
}

/* For the events of a counter in use: they can return to it if it holds their config. */
static u64 assign_gen(const struct riscv_pmu_hart *hart, unsigned int ctr)
{
	return hart->hw.holds & BIT_ULL(ctr) ? hart->counter[ctr].gen : RISCV_PMU_GEN_NEXT;
}

/* Moves all events of a counter to another one, which is free or has the same config. */
static void assign_move_counter(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				unsigned int from, unsigned int to)
{
	u64 now = riscv_pmu_hart_count(pmu, hart, from);
	struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &hart->counter[from].events, node)
		assign_move_event(hart, ev, to, now);
	list_splice_init(&hart->counter[from].events, &hart->counter[to].events);
	riscv_pmu_assignment_move(&hart->wanted, from, to);
	riscv_pmu_counter_note_unused(hart, from);
	assign_check_holds(hart, to);
	list_for_each_entry(ev, &hart->counter[to].events, node) {
		if (ev->gen != RISCV_PMU_GEN_NONE)
			ev->gen = assign_gen(hart, to);
	}
	hart->stats.moved++;
	hart->changed |= BIT_ULL(to);
}

/* Delay before all counters are tried again after each of them has refused an event. */
#define ASSIGN_RETRY_JIFFIES	max(HZ / 10, 1)

/* If all counters have refused an event, they are tried again on another hart, or later. */
static void assign_retry(const struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (ev->hart != hart || time_after_eq(jiffies, ev->retry))
		ev->candidates = ev->req.ctrs;
}

/**
 * riscv_pmu_event_exclude_ctr() - exclude a counter from the next search
 * @ev:	an event
 * @ctr:	a counter that has refused its config
 */
void riscv_pmu_event_exclude_ctr(struct riscv_pmu_event *ev, unsigned int ctr)
{
	ev->accepted &= ~BIT_ULL(ctr);
	ev->candidates &= ~BIT_ULL(ctr);
	ev->retry = jiffies + ASSIGN_RETRY_JIFFIES;
}

/* Updates the constraint of each counter in use: the counters that suit all of its events. */
static void assign_update_constraints(struct riscv_pmu_hart *hart)
{
	for_each_ctr(ctr, hart->wanted.sched.used) {
		const struct riscv_pmu_event *ev;
		u64 may = ~0ULL;

		list_for_each_entry(ev, &hart->counter[ctr].events, node)
			may &= ev->candidates;
		hart->wanted.sched.may[ctr] = may;
	}
}

/*
 * Counters in use that hold the config of a new event. @alike has sampling events if the new event
 * samples, and none otherwise; sharing it loses no events. Sharing @other loses the events between
 * stop and start at each overflow. Both are -ENOENT if there is none.
 */
struct assign_same {
	u64		ctrs;
	int		alike;
	int		other;
	/* Their events; from RISCV_PMU_MAX_IDENTICAL on, nothing else is valid. */
	unsigned int	nr;
};

static void assign_note_same(struct assign_same *same, const struct riscv_pmu_hart *hart,
			     unsigned int ctr, bool sampling)
{
	const struct riscv_pmu_event *ev;
	bool sampled = false;

	list_for_each_entry(ev, &hart->counter[ctr].events, node) {
		if (++same->nr >= RISCV_PMU_MAX_IDENTICAL)
			return;
		sampled |= riscv_pmu_event_needs_irq(ev);
	}

	same->ctrs |= BIT_ULL(ctr);
	if (sampled == sampling)
		same->alike = ctr;
	else
		same->other = ctr;
}

static struct assign_same assign_find_same(const struct riscv_pmu_hart *hart,
					   const struct riscv_pmu_event *ev,
					   const struct riscv_pmu_request *req)
{
	struct assign_same same = { .alike = -ENOENT, .other = -ENOENT };

	for_each_ctr(ctr, hart->wanted.sched.used & req->ctrs) {
		if (riscv_pmu_config_is_equal(&hart->wanted.cfg[ctr], &req->cfg))
			assign_note_same(&same, hart, ctr, riscv_pmu_event_needs_irq(ev));
	}

	return same;
}

/* Finds a counter that no other event uses; others may be moved to make room. */
static int assign_find_own(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   const struct riscv_pmu_event *ev, const struct riscv_pmu_request *req)
{
	struct riscv_pmu_sched_path path;
	u64 prefer[ASSIGN_NR_PREFERRED];

	/* If no counter of this event is free, others have to move. */
	if (!(req->ctrs & ~hart->wanted.sched.used))
		assign_update_constraints(hart);
	assign_preferred(pmu, hart, ev, req, prefer);
	if (!riscv_pmu_sched_find(&hart->wanted.sched, req->ctrs, prefer, ARRAY_SIZE(prefer),
				  &path))
		return -EAGAIN;

	for (unsigned int i = path.len - 1; i; i--)
		assign_move_counter(pmu, hart, path.ctr[i - 1], path.ctr[i]);

	return path.ctr[0];
}

/* Finds another counter with the same config to which all events of @ctr can be moved. */
static int assign_find_merge(const struct riscv_pmu_hart *hart, unsigned int ctr)
{
	const struct riscv_pmu_assignment *assign = &hart->wanted;

	for_each_ctr(to, assign->sched.used & assign->sched.may[ctr] & ~BIT_ULL(ctr)) {
		if (riscv_pmu_config_is_equal(&assign->cfg[ctr], &assign->cfg[to]))
			return to;
	}

	return -ENOENT;
}

/*
 * Merges a counting and a sampling counter of the same config, to free a counter from which
 * a chain of moves leads to one of @may. Without a sampling event no config uses two
 * counters, so the search is skipped then: it would slow down each rotation.
 */
static bool assign_merge(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 may)
{
	const struct riscv_pmu_sched *sched = &hart->wanted.sched;

	if (!hart->irq.events)
		return false;

	for_each_ctr(from, sched->used & riscv_pmu_sched_reach(sched, may)) {
		int to = assign_find_merge(hart, from);

		if (to >= 0) {
			assign_move_counter(pmu, hart, from, to);
			return true;
		}
	}

	return false;
}

/*
 * Makes the attached events that are identical to @req search when they are next added. An event
 * that returns to its counter does not check the limit, so they would keep a further one waiting.
 */
static void assign_make_search(struct riscv_pmu_hart *hart, const struct riscv_pmu_request *req)
{
	struct riscv_pmu_event *ev;

	for_each_ctr(ctr, hart->wanted.sched.used & req->ctrs) {
		if (!riscv_pmu_config_is_equal(&hart->wanted.cfg[ctr], &req->cfg))
			continue;
		list_for_each_entry(ev, &hart->counter[ctr].events, node)
			ev->gen = RISCV_PMU_GEN_NONE;
	}
}

/*
 * Whether an event of a guest gets the counter that it prefers, although it could share another
 * one: the guest reads it without an exit only while no other event uses it. On QEMU, of two
 * programmable counters with the same event only one counts.
 */
static bool assign_prefers_own(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart,
			       const struct riscv_pmu_request *req, u64 same)
{
	u64 free = req->prefer & ~hart->wanted.sched.used;

	return free & pmu->fixed_ctrs || (free && !(same & ~pmu->fixed_ctrs));
}

/* Slow path: chooses a counter for a new event. */
static int assign_place(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			struct riscv_pmu_event *ev, const struct riscv_pmu_request *req)
{
	struct assign_same same = assign_find_same(hart, ev, req);
	int ctr;

	if (same.nr >= RISCV_PMU_MAX_IDENTICAL) {
		assign_make_search(hart, req);
		return -EAGAIN;
	}

	if (same.alike < 0 || assign_prefers_own(pmu, hart, req, same.ctrs)) {
		ctr = assign_find_own(pmu, hart, ev, req);
		if (ctr >= 0)
			return ctr;
	}
	ctr = same.alike >= 0 ? same.alike : same.other;
	if (ctr >= 0) {
		hart->stats.shared++;
		return ctr;
	}

	while (assign_merge(pmu, hart, req->ctrs)) {
		ctr = assign_find_own(pmu, hart, ev, req);
		if (ctr >= 0)
			return ctr;
	}

	return -EAGAIN;
}

/**
 * riscv_pmu_event_assign() - search a counter for an event, and attach it
 * @pmu:	the PMU
 * @hart:	this hart
 * @ev:	an event that is not attached, and cannot return to its last counter
 *
 * Other events may be moved to make room.
 *
 * Return: 0, or -EAGAIN if there is no assignment of all configs, if every
 * counter that could hold its config has refused it on this hart, or if RISCV_PMU_MAX_IDENTICAL of
 * these events are attached.
 */
int riscv_pmu_event_assign(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   struct riscv_pmu_event *ev)
{
	struct riscv_pmu_request req = ev->req;
	int ctr;

	if (!ev->candidates)
		assign_retry(hart, ev);
	if (!ev->candidates)
		return -EAGAIN;

	req.ctrs = ev->candidates;
	ctr = assign_place(pmu, hart, ev, &req);
	if (ctr < 0)
		return ctr;

	hart->stats.searched++;
	ev->hart = hart;
	ev->ctr = ctr;
	ev->counter = &hart->counter[ctr];
	riscv_pmu_assignment_add(&hart->wanted, ctr, &req);
	assign_check_holds(hart, ctr);
	ev->gen = assign_gen(hart, ctr);
	riscv_pmu_event_attach(hart, ev);
	return 0;
}
