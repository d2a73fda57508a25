// SPDX-License-Identifier: GPL-2.0
/*
 * Assigns events to counters: an event returns to the counter that still holds its config, shares
 * the counter of an identical event, takes a free one, or moves others to make room.
 * Everything here runs on the hart that it is about, with interrupts off.
 */

#include <linux/errno.h>

#include "assign.h"
#include "counter.h"
#include "user/user.h"

#define ASSIGN_NR_PREFERRED	5

/* Whether an armed counter need not be written for a sampling event. */
static bool assign_is_suited(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
			     s64 left)
{
	if (left <= 0 || !(hart->hw.running & BIT_ULL(ctr)))
		return false;

	riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
	return riscv_pmu_counter_suits(&hart->counter[ctr], left);
}

/*
 * Free counters in the order of preference for a new event:
 * - those that it prefers, or else those that hold its config;
 * - those without a config; of these, fixed ones first, to keep the programmable ones for events
 *   that need them;
 * - those that are not armed;
 * - those that hold its config, but are armed and would have to be written for it.
 *
 * A free counter that is armed waits for the overflow point of another task's event. An event that
 * samples takes one with its config only if that need not be written, or if there is no other.
 * Otherwise both events would have it written each time that they are added.
 */
static void assign_preferred(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     const struct riscv_pmu_event *ev,
			     const struct riscv_pmu_request *req, u64 prefer[ASSIGN_NR_PREFERRED])
{
	u64 holders = 0, awaited = 0;

	for_each_ctr(ctr, req->ctrs & hart->hw.holds & ~hart->wanted.sched.used) {
		if (!riscv_pmu_config_is_equal(&hart->counter[ctr].cfg, &req->cfg))
			continue;
		if (riscv_pmu_event_needs_irq(ev) && hart->hw.armed & BIT_ULL(ctr) &&
		    !assign_is_suited(pmu, hart, ctr, local64_read(ev->left)))
			awaited |= BIT_ULL(ctr);
		else
			holders |= BIT_ULL(ctr);
	}
	prefer[0] = holders;
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

/* For the events of a counter in use: they can return to it if it holds their config. */
static u64 assign_gen(const struct riscv_pmu_hart *hart, unsigned int ctr)
{
	return hart->hw.holds & BIT_ULL(ctr) ? hart->counter[ctr].gen : RISCV_PMU_GEN_NEXT;
}

/*
 * Moves all events of a counter to another one, which is free or has the same config. Their deltas
 * so far and the distances to their overflow points are kept.
 */
static void assign_move_counter(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				unsigned int from, unsigned int to)
{
	u64 now = riscv_pmu_hart_count(pmu, hart, from);
	struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &hart->counter[from].events, node) {
		ev->ctr = to;
		ev->counter = &hart->counter[to];
		/* Polling starts again: the last polled count is the old counter's. */
		riscv_pmu_event_restart_rate(ev);
		riscv_pmu_user_note_move(hart, ev);
		if (ev->state != RISCV_PMU_EVENT_ACTIVE)
			continue;
		ev->pending_delta = riscv_pmu_event_take_delta(ev, now);
		ev->period_left = ev->overflow_point - now;
		ev->state = RISCV_PMU_EVENT_PENDING;
	}
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

/* Updates the constraint of each counter in use: the counters that suit all of its events. */
static void assign_update_constraints(struct riscv_pmu_hart *hart)
{
	const struct riscv_pmu_event *ev;

	for_each_ctr(ctr, hart->wanted.sched.used) {
		hart->wanted.sched.may[ctr] = ~0ULL;
		list_for_each_entry(ev, &hart->counter[ctr].events, node)
			hart->wanted.sched.may[ctr] &= ev->candidates;
	}
}

/* Those of @ctrs that are in use for a config */
static u64 assign_find_config(const struct riscv_pmu_assignment *assign, u64 ctrs,
			      const struct riscv_pmu_config *cfg)
{
	u64 found = 0;

	for_each_ctr(ctr, assign->sched.used & ctrs) {
		if (riscv_pmu_config_is_equal(&assign->cfg[ctr], cfg))
			found |= BIT_ULL(ctr);
	}

	return found;
}

/* Counters in use for the config of a new event */
struct assign_same {
	u64		ctrs;
	/*
	 * Those that have sampling events if the new event samples, and none otherwise: sharing one
	 * loses no events. Sharing another loses those between stop and start at each overflow.
	 */
	u64		alike;
	unsigned int	nr;	/* events; alike is only valid below RISCV_PMU_MAX_IDENTICAL */
};

static struct assign_same assign_find_same(const struct riscv_pmu_hart *hart,
					   const struct riscv_pmu_event *ev,
					   const struct riscv_pmu_request *req)
{
	const struct riscv_pmu_event *other;
	struct assign_same same = {};

	same.ctrs = assign_find_config(&hart->wanted, req->ctrs, &req->cfg);
	for_each_ctr(ctr, same.ctrs) {
		bool sampled = false;

		list_for_each_entry(other, &hart->counter[ctr].events, node) {
			if (++same.nr >= RISCV_PMU_MAX_IDENTICAL)
				return same;
			sampled |= riscv_pmu_event_needs_irq(other);
		}
		if (sampled == riscv_pmu_event_needs_irq(ev))
			same.alike |= BIT_ULL(ctr);
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

/*
 * Merges the counter of the counting events and that of the sampling events of one config, to free
 * a counter from which a chain of moves leads to one of @may. Without a sampling event no config
 * uses two counters, so the search is skipped then: it would slow down each rotation.
 */
static bool assign_merge(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 may)
{
	const struct riscv_pmu_sched *sched = &hart->wanted.sched;

	if (!hart->irq.events)
		return false;

	for_each_ctr(from, sched->used & riscv_pmu_sched_reach(sched, may)) {
		u64 to = assign_find_config(&hart->wanted, sched->may[from] & ~BIT_ULL(from),
					    &hart->wanted.cfg[from]);

		if (to) {
			assign_move_counter(pmu, hart, from, __ffs64(to));
			return true;
		}
	}

	return false;
}

/*
 * Makes the events of counters search when they are next added. An event that returns to its
 * counter does not check the limit of identical events, so without this a further event could wait
 * forever.
 */
static void assign_make_search(struct riscv_pmu_hart *hart, u64 ctrs)
{
	struct riscv_pmu_event *ev;

	for_each_ctr(ctr, ctrs) {
		list_for_each_entry(ev, &hart->counter[ctr].events, node)
			ev->gen = RISCV_PMU_GEN_NONE;
	}
}

/* Slow path: chooses a counter for a new event. */
static int assign_place(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			struct riscv_pmu_event *ev, const struct riscv_pmu_request *req)
{
	struct assign_same same = assign_find_same(hart, ev, req);
	u64 preferred = req->prefer & ~hart->wanted.sched.used;
	int ctr;

	if (same.nr >= RISCV_PMU_MAX_IDENTICAL) {
		assign_make_search(hart, same.ctrs);
		return -EAGAIN;
	}

	/*
	 * An event of a guest gets the counter that it prefers, although it could share another
	 * one: the guest reads it without an exit only while no other event uses it. On QEMU, of
	 * two programmable counters with the same event only one counts.
	 */
	if (!same.alike || preferred & pmu->fixed_ctrs ||
	    (preferred && !(same.ctrs & ~pmu->fixed_ctrs))) {
		ctr = assign_find_own(pmu, hart, ev, req);
		if (ctr >= 0)
			return ctr;
	}
	if (same.ctrs) {
		hart->stats.shared++;
		return fls64(same.alike ?: same.ctrs) - 1;
	}

	while (assign_merge(pmu, hart, req->ctrs)) {
		ctr = assign_find_own(pmu, hart, ev, req);
		if (ctr >= 0)
			return ctr;
	}

	return -EAGAIN;
}

/**
 * riscv_pmu_event_assign() - find a counter for an event, and attach it
 * @pmu:	the PMU
 * @hart:	this hart; its other events may be moved to make room
 * @ev:	an event that is not attached, and cannot return to its last counter
 * Return: 0, or -EAGAIN if there is no assignment of all configs, if every counter that could hold
 * its config has refused it on this hart, or if RISCV_PMU_MAX_IDENTICAL of these are attached
 */
int riscv_pmu_event_assign(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   struct riscv_pmu_event *ev)
{
	struct riscv_pmu_request req = ev->req;
	int ctr;

	/* A mode in which nothing runs needs no filter: kvm/guest.c. */
	req.cfg.inh &= ~READ_ONCE(pmu->absent_inh);
	/* If all counters have refused an event, they are tried again on another hart, or later. */
	if (!ev->candidates && (ev->hart != hart || time_after_eq(jiffies, ev->retry)))
		ev->candidates = ev->req.ctrs;
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
	riscv_pmu_assignment_add(&hart->wanted, ctr, &req.cfg, req.ctrs);
	assign_check_holds(hart, ctr);
	ev->gen = assign_gen(hart, ctr);
	riscv_pmu_event_attach(hart, ev);
	return 0;
}
