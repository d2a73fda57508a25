// SPDX-License-Identifier: GPL-2.0
/*
 * Assigns events to counters, compares the configs that are wanted with those that are
 * programmed, and applies the difference as one batch.
 *
 * Everything here runs on the hart that it is about, with interrupts off.
 */

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "counter.h"
#include "internal.h"
#include "trace.h"

/**
 * riscv_pmu_config_is_equal() - whether two programs are the same to the hardware
 * @a:		one
 * @b:		the other
 *
 * Return: true if one counter can serve both.
 */
bool riscv_pmu_config_is_equal(const struct riscv_pmu_config *a, const struct riscv_pmu_config *b)
{
	return a->event_idx == b->event_idx && a->event_data == b->event_data && a->inh == b->inh;
}

static bool counter_holds(const struct riscv_pmu_hart *hart, unsigned int ctr,
			  const struct riscv_pmu_config *cfg)
{
	return hart->programmed & BIT_ULL(ctr) &&
	       riscv_pmu_config_is_equal(&hart->counter[ctr].cfg, cfg);
}

/* Events that were attached to the counter have to be assigned again. */
static void counter_invalidate(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	hart->counter[ctr].gen = ++hart->gen;
}

/**
 * riscv_pmu_hart_reset() - initialise a hart's state: no config, no event
 * @pmu:	the PMU, its counters known
 * @hart:	the hart
 *
 * Events that ran here before the hart went offline must not return to their counters.
 */
void riscv_pmu_hart_reset(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 gen = hart->gen;

	memset(hart, 0, sizeof(*hart));
	hart->pmu = pmu;
	hart->gen = gen;
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++) {
		struct riscv_pmu_counter *counter = &hart->counter[ctr];

		INIT_LIST_HEAD(&counter->events);
		counter->mask = pmu->ctrs & BIT_ULL(ctr) ? riscv_pmu_ctr_mask(pmu, ctr) : 0;
		counter_invalidate(hart, ctr);
	}
}

/**
 * riscv_pmu_assignment_find() - find a counter in use that has the wanted config
 * @assign:	the configs in use
 * @req:	the new event
 *
 * Return: a counter that the new event can share, or -ENOENT.
 */
int riscv_pmu_assignment_find(const struct riscv_pmu_assignment *assign,
			      const struct riscv_pmu_request *req)
{
	for (u64 ctrs = assign->sched.used & req->ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (riscv_pmu_config_is_equal(&assign->cfg[ctr], &req->cfg))
			return ctr;
	}

	return -ENOENT;
}

/**
 * riscv_pmu_assignment_add() - note that one more event uses a counter
 * @assign:	the configs in use
 * @ctr:	a free counter, or one that riscv_pmu_assignment_find() found
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

/*
 * Free counters in the order of preference for a new event: those that hold its config; fixed
 * ones, to keep the programmable ones for events that need them; those without a config.
 */
#define ASSIGN_NR_PREFERRED	3

static void assign_preferred(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart,
			     const struct riscv_pmu_request *req, u64 prefer[ASSIGN_NR_PREFERRED])
{
	prefer[0] = 0;
	prefer[1] = pmu->fixed_ctrs;
	prefer[2] = ~hart->programmed;

	for (u64 ctrs = req->ctrs & hart->programmed & ~hart->wanted.sched.used; ctrs;
	     ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (riscv_pmu_config_is_equal(&hart->counter[ctr].cfg, &req->cfg))
			prefer[0] |= BIT_ULL(ctr);
	}
}

/*
 * Updates the stale bit of a counter in use. Events can not return to a stale counter, although
 * it still holds their config.
 */
static void assign_check_stale(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	if (counter_holds(hart, ctr, &hart->wanted.cfg[ctr])) {
		hart->stale &= ~BIT_ULL(ctr);
	} else {
		hart->stale |= BIT_ULL(ctr);
		counter_invalidate(hart, ctr);
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
	if (ev->polled && ev->state != RISCV_PMU_EVENT_STOPPED) {
		ev->polled_ns = 0;
		hart->polled |= BIT_ULL(to);
	}
	if (unlikely(ev->user) && ev->state != RISCV_PMU_EVENT_STOPPED)
		riscv_pmu_user_refresh(hart, ev);
	if (ev->state != RISCV_PMU_EVENT_ACTIVE)
		return;

	ev->pending_delta = now - ev->prev_count;
	ev->period_left = ev->overflow_point - now;
	ev->state = RISCV_PMU_EVENT_PENDING;
}

/* Moves all events of a counter to another one, which is free or has the same config. */
static void assign_move_counter(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				unsigned int from, unsigned int to)
{
	u64 now = hart->latched ? hart->counter[from].count :
				  riscv_pmu_counter_count(pmu, hart, from);
	struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &hart->counter[from].events, node)
		assign_move_event(hart, ev, to, now);
	list_splice_init(&hart->counter[from].events, &hart->counter[to].events);
	riscv_pmu_assignment_move(&hart->wanted, from, to);
	hart->stale &= ~BIT_ULL(from);
	assign_check_stale(hart, to);
	hart->stats.moved++;
	hart->dirty |= BIT_ULL(from) | BIT_ULL(to);
}

/* Delay before all counters are tried again after each of them has refused an event. */
#define ASSIGN_RETRY_JIFFIES	max(HZ / 10, 1)

/* If all counters have refused an event, they are tried again on another hart, or later. */
static void assign_retry(const struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (ev->hart != hart || time_after_eq(jiffies, ev->retry))
		ev->candidates = ev->req.ctrs;
}

/* Updates the constraint of each counter in use: the counters that suit all of its events. */
static void assign_update_constraints(struct riscv_pmu_hart *hart)
{
	for (u64 ctrs = hart->wanted.sched.used; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		const struct riscv_pmu_event *ev;
		u64 may = ~0ULL;

		list_for_each_entry(ev, &hart->counter[ctr].events, node)
			may &= ev->candidates;
		hart->wanted.sched.may[ctr] = may;
	}
}

/* Whether a counter has sampling events, for which it has to be written. */
static bool counter_is_sampled(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &counter->events, node) {
		if (riscv_pmu_event_needs_irq(ev))
			return true;
	}

	return false;
}

/**
 * struct assign_same - counters in use that hold the config of a new event
 * @ctrs:	all such counters
 * @alike:	one whose events all count if the new event counts, or that samples if it
 *		samples; -ENOENT if none. Sharing it loses no events
 * @other:	any other of @ctrs, or -ENOENT. Sharing it loses the events between stop and
 *		start at each overflow
 * @nr:		events of @ctrs that have the same opener as the new event
 */
struct assign_same {
	u64		ctrs;
	int		alike;
	int		other;
	unsigned int	nr;
};

static unsigned int counter_count_opener(const struct riscv_pmu_counter *counter,
					 const struct pid *opener)
{
	const struct riscv_pmu_event *ev;
	unsigned int nr = 0;

	list_for_each_entry(ev, &counter->events, node)
		nr += ev->opener == opener;

	return nr;
}

static struct assign_same assign_find_same(const struct riscv_pmu_hart *hart,
					   const struct riscv_pmu_event *ev,
					   const struct riscv_pmu_request *req)
{
	struct assign_same same = { .alike = -ENOENT, .other = -ENOENT };
	bool sampled = riscv_pmu_event_needs_irq(ev);

	for (u64 ctrs = hart->wanted.sched.used & req->ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (!riscv_pmu_config_is_equal(&hart->wanted.cfg[ctr], &req->cfg))
			continue;
		same.ctrs |= ctrs & -ctrs;
		same.nr += counter_count_opener(&hart->counter[ctr], ev->opener);
		if (counter_is_sampled(&hart->counter[ctr]) == sampled)
			same.alike = ctr;
		else
			same.other = ctr;
	}

	return same;
}

/* Finds a counter that no other event uses; others may be moved to make room. */
static int assign_find_own(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   const struct riscv_pmu_request *req)
{
	struct riscv_pmu_sched_path path;
	u64 prefer[ASSIGN_NR_PREFERRED];

	assign_update_constraints(hart);
	assign_preferred(pmu, hart, req, prefer);
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
	u64 ctrs = assign->sched.used & assign->sched.may[ctr] & ~BIT_ULL(ctr);

	for (; ctrs; ctrs &= ctrs - 1) {
		if (riscv_pmu_config_is_equal(&assign->cfg[ctr], &assign->cfg[__ffs64(ctrs)]))
			return __ffs64(ctrs);
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

	if (!hart->irq_events)
		return false;

	for (u64 ctrs = sched->used & riscv_pmu_sched_reach(sched, may); ctrs; ctrs &= ctrs - 1) {
		unsigned int from = __ffs64(ctrs);
		int to = assign_find_merge(hart, from);

		if (to >= 0) {
			assign_move_counter(pmu, hart, from, to);
			return true;
		}
	}

	return false;
}

/* Marks the identical events of this opener, so that the limit is checked for each of them. */
static void assign_limit(struct riscv_pmu_hart *hart, u64 ctrs, struct riscv_pmu_event *ev)
{
	struct riscv_pmu_event *other;

	ev->limited = true;
	ev->special = true;
	for (; ctrs; ctrs &= ctrs - 1) {
		list_for_each_entry(other, &hart->counter[__ffs64(ctrs)].events, node) {
			if (other->opener != ev->opener)
				continue;
			other->limited = true;
			other->special = true;
		}
	}
}

/* Slow path: chooses a counter for a new event. */
static int assign_place(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			struct riscv_pmu_event *ev, const struct riscv_pmu_request *req)
{
	struct assign_same same = assign_find_same(hart, ev, req);
	int ctr = same.alike;

	if (unlikely(same.nr >= RISCV_PMU_MAX_IDENTICAL) &&
	    same.nr >= riscv_pmu_max_identical(&ev->req)) {
		assign_limit(hart, same.ctrs, ev);
		return -EAGAIN;
	}
	ev->limited = false;
	if (ctr < 0) {
		ctr = assign_find_own(pmu, hart, req);
		if (ctr >= 0)
			return ctr;
		ctr = same.other;
	}
	if (ctr >= 0) {
		hart->stats.shared++;
		return ctr;
	}

	while (assign_merge(pmu, hart, req->ctrs)) {
		ctr = assign_find_own(pmu, hart, req);
		if (ctr >= 0)
			return ctr;
	}

	return -EAGAIN;
}

/**
 * riscv_pmu_event_assign() - find a counter for an event, and attach it
 * @pmu:	the PMU
 * @hart:	this hart
 * @ev:	an event that is not attached
 *
 * It takes its last counter if that still holds its config. Otherwise a counter is searched, and
 * other events may be moved to make room.
 *
 * Return: 0, or -EAGAIN if there is no assignment of all configs, if every
 * counter that could hold its config has refused it on this hart, or if its owner
 * runs riscv_pmu_max_identical() of these events here.
 */
int riscv_pmu_event_assign(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   struct riscv_pmu_event *ev)
{
	const struct riscv_pmu_request *req = &ev->req;
	struct riscv_pmu_request narrowed;
	int ctr;

	if (riscv_pmu_event_can_return(hart, ev) && !ev->limited) {
		riscv_pmu_event_attach(hart, ev);
		return 0;
	}

	if (unlikely(!ev->candidates)) {
		assign_retry(hart, ev);
		if (!ev->candidates)
			return -EAGAIN;
	}
	if (unlikely(ev->candidates != req->ctrs)) {
		narrowed = *req;
		narrowed.ctrs = ev->candidates;
		req = &narrowed;
	}
	ctr = assign_place(pmu, hart, ev, req);
	if (ctr < 0)
		return ctr;

	hart->stats.searched++;
	ev->hart = hart;
	ev->ctr = ctr;
	ev->counter = &hart->counter[ctr];
	riscv_pmu_assignment_add(&hart->wanted, ctr, req);
	assign_check_stale(hart, ctr);
	ev->gen = hart->stale & BIT_ULL(ctr) ? 0 : ev->counter->gen;
	riscv_pmu_event_attach(hart, ev);
	return 0;
}

/**
 * riscv_pmu_event_take_pending_delta() - what an event has counted on earlier counters
 * @ev:	an attached event
 *
 * Return: the delta from counters that it was moved away from, or that failed.
 */
u64 riscv_pmu_event_take_pending_delta(struct riscv_pmu_event *ev)
{
	u64 delta = ev->pending_delta;

	ev->pending_delta = 0;
	return delta;
}

/* What the events of one counter need, together. */
struct apply_goal {
	bool	run;
	bool	has_overflow_point;
	u64	left;
};

/* A pending event counts from the counter's present count on. */
static void event_activate(const struct riscv_pmu_counter *counter, struct riscv_pmu_event *ev)
{
	ev->gen = counter->gen;
	ev->prev_count = counter->count - ev->pending_delta;
	ev->pending_delta = 0;
	ev->overflow_point = counter->count + ev->period_left;
	ev->state = RISCV_PMU_EVENT_ACTIVE;
}

static __always_inline struct apply_goal counter_activate(struct riscv_pmu_counter *counter)
{
	struct apply_goal goal = { .left = S64_MAX };
	struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &counter->events, node) {
		s64 left;

		if (ev->state == RISCV_PMU_EVENT_STOPPED)
			continue;
		if (ev->state == RISCV_PMU_EVENT_PENDING)
			event_activate(counter, ev);
		goal.run = true;
		if (!riscv_pmu_event_needs_irq(ev))
			continue;
		goal.has_overflow_point = true;
		left = ev->overflow_point - counter->count;
		goal.left = left < 1 ? 1 : min_t(u64, goal.left, left);
	}

	return goal;
}

static bool counter_has_overflow_point(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &counter->events, node) {
		if (riscv_pmu_event_needs_irq(ev) && ev->state != RISCV_PMU_EVENT_STOPPED)
			return true;
	}

	return false;
}

/*
 * The value from which a counter overflows after @left events. The distance is at most half of
 * the counter's range, so that the count is still right if the interrupt is late. It is at most
 * 2^62, because QEMU 10.0.2 adds what exceeds 2^63 ns since its boot to the next overflow.
 */
static u64 counter_start_value(const struct riscv_pmu_counter *counter, u64 left)
{
	return -min3(left, counter->mask >> 1, (u64)S64_MAX / 2) & counter->mask;
}

/* Events until an event's overflow point; at least 1, U64_MAX if it has none. */
static __always_inline u64 event_distance(const struct riscv_pmu_counter *counter,
					  const struct riscv_pmu_event *ev)
{
	s64 left;

	if (!riscv_pmu_event_needs_irq(ev) || ev->state == RISCV_PMU_EVENT_STOPPED)
		return U64_MAX;

	left = ev->state == RISCV_PMU_EVENT_PENDING ? ev->period_left :
							 ev->overflow_point - counter->count;
	return max(left, 1);
}

/* Events until the nearest overflow point of a counter's events. */
static __always_inline u64 counter_distance(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;
	u64 first = U64_MAX;

	list_for_each_entry(ev, &counter->events, node)
		first = min(first, event_distance(counter, ev));

	return first;
}

/*
 * Whether a counter that was just read will overflow within @left events. If the distance is
 * more than half of its range, it has overflowed already, or is not meant to.
 */
static __always_inline bool counter_is_in_time(const struct riscv_pmu_counter *counter, u64 left)
{
	u64 until = -counter->raw & counter->mask;

	return until && until <= min(left, counter->mask >> 1);
}

/*
 * Whether a counter need not be written for an overflow point @left events away. If it overflows
 * early, its interrupt writes it; that costs more than the call that is saved here. So accept
 * only counters that overflow after at least half of the distance.
 */
static __always_inline bool counter_suits(const struct riscv_pmu_counter *counter, u64 left)
{
	u64 until = -counter->raw & counter->mask;

	return counter_is_in_time(counter, left) && until >= min(left, counter->mask >> 1) / 2;
}

/**
 * riscv_pmu_hart_find_expected() - which overflows have an event that expects them
 * @hart:	this hart
 * @overflowed:	armed counters; those without such an event are no longer armed
 *
 * Return: overflowed counters with an overflow point.
 */
u64 riscv_pmu_hart_find_expected(struct riscv_pmu_hart *hart, u64 overflowed)
{
	u64 awaited = 0;

	for (u64 ctrs = overflowed; ctrs; ctrs &= ctrs - 1) {
		if (counter_has_overflow_point(&hart->counter[__ffs64(ctrs)]))
			awaited |= ctrs & -ctrs;
	}

	hart->armed ^= overflowed ^ awaited;
	return awaited;
}

/**
 * riscv_pmu_hart_update_counts() - update the counts of several counters
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that run
 */
void riscv_pmu_hart_update_counts(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned long ctr = __ffs64(ctrs);

		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
	}
}

/**
 * riscv_pmu_hart_find_missed() - find armed counters that have overflowed without a flag
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Return: armed counters that will not overflow before their overflow point.
 */
u64 riscv_pmu_hart_find_missed(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 missed = 0;

	for (u64 ctrs = hart->armed & hart->running; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		struct riscv_pmu_counter *counter = &hart->counter[ctr];
		u64 left;

		riscv_pmu_counter_update(pmu, counter, ctr);
		left = counter_distance(counter);
		if (left != U64_MAX && !counter_is_in_time(counter, left))
			missed |= ctrs & -ctrs;
	}

	return missed;
}

/**
 * riscv_pmu_hart_latch() - latch the counts of all counters in use
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Until &riscv_pmu_hart.latched is cleared, every event that is read, stopped or started uses
 * these counts, so that the members of a group have run equally long. The counters run on.
 */
void riscv_pmu_hart_latch(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	riscv_pmu_hart_update_counts(pmu, hart, hart->wanted.sched.used & hart->running);
	hart->latched = true;
}

/* Hands the batch to the backend. */
static __always_inline void apply_batch(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	pmu->ops.apply(pmu, &hart->batch);
	hart->stats.batches++;
	trace_apply(&hart->batch);
}

static void apply_clear_batch(struct riscv_pmu_batch *batch)
{
	batch->stop = 0;
	batch->release = 0;
	batch->program = 0;
	batch->start = 0;
	batch->load = 0;
	batch->failed = 0;
}

/* Counters have just been stopped: read them. */
static void apply_note_stopped(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 stopped)
{
	riscv_pmu_hart_update_counts(pmu, hart, stopped & hart->running);
	hart->running &= ~stopped;
}

/**
 * riscv_pmu_hart_stop_ctrs() - stop counters, to be started again by an apply
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that run
 */
void riscv_pmu_hart_stop_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	if (!ctrs)
		return;

	apply_clear_batch(batch);
	batch->stop = ctrs;
	apply_batch(pmu, hart);
	hart->dirty |= ctrs;
	/* With riscv_pmu.width= the hardware is wider, and may be far from an overflow. */
	hart->loaded &= ~(ctrs & pmu->clamped_ctrs);
	/* Most overflows are of one counter. */
	if (ctrs & (ctrs - 1))
		return apply_note_stopped(pmu, hart, ctrs);

	riscv_pmu_counter_count(pmu, hart, __ffs64(ctrs));
	hart->running &= ~ctrs;
}

/**
 * riscv_pmu_hart_unused() - running counters that no event uses
 * @pmu:	the PMU
 * @hart:	any hart
 *
 * A firmware counter costs nothing while it runs, so it is not included.
 *
 * Context: any; of another hart, the answer may be out of date.
 * Return: the counters, for riscv_pmu_hart_stop_unused().
 */
u64 riscv_pmu_hart_unused(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart)
{
	return READ_ONCE(hart->running) & ~READ_ONCE(hart->wanted.sched.used) &
	       ~(pmu->fw_ctrs | pmu->free_running_ctrs);
}

/**
 * riscv_pmu_hart_stop_unused() - stop the running counters that no event uses
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Counters keep running when their last event is removed, in case another event comes soon.
 * A counter that stays unused wastes power, and may raise interrupts that can not be masked.
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 ctrs = riscv_pmu_hart_unused(pmu, hart);

	riscv_pmu_hart_stop_ctrs(pmu, hart, ctrs);
	hart->dirty &= ~ctrs;
	hart->armed &= ~ctrs;
	/* Fixed counters that can not be stopped keep running: read them before the next use. */
	hart->loaded &= ~(ctrs & pmu->fixed_ctrs);
}

/**
 * riscv_pmu_hart_pause() - stop the counts of running counters; the next apply stops the hardware
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that run
 *
 * If a batch is one firmware call, the hardware runs on until the apply, which saves a
 * call. What it counts until then is discarded: a counter that continues is written.
 */
void riscv_pmu_hart_pause(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	if (!pmu->one_call)
		return riscv_pmu_hart_stop_ctrs(pmu, hart, ctrs);
	if (!ctrs)
		return;

	/* Most overflows are of one counter. */
	riscv_pmu_counter_update(pmu, &hart->counter[__ffs64(ctrs)], __ffs64(ctrs));
	if (ctrs & (ctrs - 1))
		riscv_pmu_hart_update_counts(pmu, hart, ctrs & (ctrs - 1));
	hart->running &= ~ctrs;
	hart->loaded &= ~ctrs;
	hart->paused |= ctrs;
	hart->dirty |= ctrs;
}

/**
 * riscv_pmu_hart_resume_unused() - let paused counters without active events run on
 * @pmu:	the PMU
 * @hart:	this hart, the hardware of these counters running
 *
 * This saves the call that would stop them. Their overflow flags stay set, so that they do not
 * interrupt; the next event that needs an overflow has them written. Narrow ones, whose
 * overflows extend the count, stay armed: the next apply that finds them dirty stops them.
 */
void riscv_pmu_hart_resume_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	for (u64 ctrs = hart->paused; ctrs; ctrs &= ctrs - 1) {
		const struct riscv_pmu_event *ev;
		u64 bit = ctrs & -ctrs;
		bool wanted = false;

		list_for_each_entry(ev, &hart->counter[__ffs64(ctrs)].events, node)
			wanted |= ev->state != RISCV_PMU_EVENT_STOPPED;
		if (wanted)
			continue;
		hart->paused &= ~bit;
		hart->dirty &= ~bit;
		hart->armed &= ~(bit & ~pmu->narrow_ctrs);
		hart->running |= bit;
		hart->loaded |= bit;
	}
}

/* Adds to the batch that @ctr has to be stopped or released before it is written. */
static void apply_plan_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    unsigned int ctr)
{
	struct riscv_pmu_batch *batch = &hart->batch;
	u64 bit = BIT_ULL(ctr);

	if (hart->stale & bit)
		batch->release |= hart->programmed & bit;
	else if ((hart->armed | hart->reload) & bit ||
		 counter_has_overflow_point(&hart->counter[ctr]))
		batch->stop |= bit;
}

/*
 * Configs that are about to be released: no event uses their counters. A counter
 * without a config is not read at all: that traps in a KVM guest.
 */
static void apply_note_released(struct riscv_pmu_hart *hart, u64 released)
{
	if (!released)
		return;

	hart->running &= ~released;
	hart->armed &= ~released;
	hart->paused &= ~released;
	hart->programmed &= ~released;
	hart->stats.evicted += hweight64(released);
	for (; released; released &= released - 1)
		counter_invalidate(hart, __ffs64(released));
}

/* Applies the stops and releases of the batch, and updates the state. */
static void apply_stop_now(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	apply_batch(pmu, hart);
	apply_note_stopped(pmu, hart, batch->stop);
	apply_note_released(hart, batch->release);
	apply_clear_batch(batch);
}

/**
 * riscv_pmu_hart_release_unused() - release the configs of unused counters
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that a backend wants to try
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_release_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	u64 idle = ctrs & hart->programmed & ~hart->wanted.sched.used;

	if (!idle)
		return;

	apply_clear_batch(&hart->batch);
	hart->batch.release = idle;
	apply_stop_now(pmu, hart);
}

/*
 * First half of an apply: stops. If a counter that is still used has to be stopped, stop it now,
 * since the second half needs its count. Otherwise stops and starts are one batch.
 */
static void apply_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	apply_clear_batch(batch);
	for (ctrs &= hart->running | hart->stale; ctrs; ctrs &= ctrs - 1)
		apply_plan_stop(pmu, hart, __ffs64(ctrs));

	batch->stop &= hart->running & ~batch->release;
	if (batch->stop & hart->wanted.sched.used)
		apply_stop_now(pmu, hart);
	else
		apply_note_released(hart, batch->release);
}

/* Adds the config to the batch, if the counter does not hold it. */
static void apply_plan_config(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      unsigned int ctr)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	if (!(hart->stale & BIT_ULL(ctr)))
		return;

	batch->program |= BIT_ULL(ctr);
	batch->setup[ctr].cfg = hart->wanted.cfg[ctr];
	hart->loaded &= ~BIT_ULL(ctr);
	counter_invalidate(hart, ctr);
}

/* Adds the value from which a counter starts to the batch. */
static void apply_plan_load(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    unsigned int ctr, u64 value)
{
	hart->batch.load |= BIT_ULL(ctr);
	hart->loaded |= BIT_ULL(ctr);
	hart->batch.setup[ctr].value = value;
	/* With riscv_pmu.width= the hardware is wider, and has to overflow at that width. */
	if (pmu->clamped_ctrs & BIT_ULL(ctr))
		hart->batch.setup[ctr].value |= ~hart->counter[ctr].mask;
	hart->counter[ctr].raw = value;
}

/*
 * The value from which a counter without an overflow point starts, and whether its present value
 * is close enough to that. A counter that does not interrupt may overflow at any time. A narrow
 * one that does has to overflow within half of its range, so that the interrupt may be late by
 * the other half. The overflow of a wide one should be far away, but not in the other half of
 * the range: QEMU 10.0.2 then computes a time in the past, and with two such counters and
 * -icount it loops forever.
 */
static bool counter_has_room(const struct riscv_pmu *pmu, unsigned int ctr, u64 raw, u64 *start)
{
	u64 mask = riscv_pmu_ctr_mask(pmu, ctr);
	u64 half = (mask >> 1) + 1;
	u64 room = half;

	if (!(pmu->irq_ctrs & BIT_ULL(ctr))) {
		*start = 0;
	} else if (pmu->ctr[ctr].width < 64) {
		*start = half;
	} else {
		*start = half + half / 2;
		room = half / 4;
	}

	return ((raw - *start) & mask) < room;
}

/* Adds the start of a counter to the batch, from a value that overflows at its overflow point. */
static void apply_plan_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr);
	bool loaded = hart->loaded & bit;
	struct apply_goal goal;
	u64 start;

	riscv_pmu_counter_count(pmu, hart, ctr);
	goal = counter_activate(counter);
	hart->armed &= ~bit;
	if (!goal.run || hart->running & bit)
		return;

	hart->batch.start |= bit;
	if (goal.has_overflow_point) {
		u64 value = counter_start_value(counter, goal.left);

		hart->armed |= bit;
		if (!loaded || (counter->raw & counter->mask) != value)
			apply_plan_load(pmu, hart, ctr, value);
	} else if (pmu->fixed_ctrs & ~(pmu->irq_ctrs | hart->reload) & bit) {
		/*
		 * It may be running, and can not be written then; it does not interrupt. If
		 * it is programmed now, it is read after that, in apply_note_begun().
		 */
		if (!loaded && !(hart->batch.program & bit))
			counter->raw = riscv_pmu_counter_read(pmu, ctr);
		hart->loaded |= bit;
	} else if (!counter_has_room(pmu, ctr, counter->raw, &start) || !loaded) {
		apply_plan_load(pmu, hart, ctr, start);
	}
}

/* Excludes a counter that refused the event's config from the next search. */
static void event_exclude_ctr(struct riscv_pmu_event *ev, unsigned int ctr)
{
	ev->accepted &= ~BIT_ULL(ctr);
	ev->candidates &= ~BIT_ULL(ctr);
	ev->retry = jiffies + ASSIGN_RETRY_JIFFIES;
}

/* The hardware refused these configs: stop the events, and exclude the counters. */
static void apply_fail(struct riscv_pmu_hart *hart, u64 ctrs)
{
	hart->programmed &= ~ctrs;
	hart->running &= ~ctrs;
	hart->armed &= ~ctrs;
	hart->stale |= ctrs & hart->wanted.sched.used;

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		struct riscv_pmu_event *ev;

		counter_invalidate(hart, ctr);
		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (ev->state == RISCV_PMU_EVENT_ACTIVE)
				ev->pending_delta = hart->counter[ctr].count - ev->prev_count;
			event_exclude_ctr(ev, ctr);
			riscv_pmu_event_stop(hart, ev);
		}
	}
}

/* Counters that have just been given a config and started, from an unknown value. */
static void apply_note_begun(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 begun)
{
	for (; begun; begun &= begun - 1) {
		unsigned int ctr = __ffs64(begun);

		hart->counter[ctr].raw = riscv_pmu_counter_read(pmu, ctr);
	}
}

/* Second half of an apply: applies the batch, and updates the state. */
static u64 apply_commit(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	struct riscv_pmu_batch *batch = &hart->batch;
	u64 stop = batch->stop;
	u64 failed;

	batch->stop |= hart->paused;
	hart->paused = 0;
	if (!(batch->stop | batch->release | batch->program | batch->start))
		return 0;

	apply_batch(pmu, hart);
	apply_note_stopped(pmu, hart, stop);
	failed = batch->failed;
	apply_note_begun(pmu, hart, batch->program & batch->start & ~(batch->load | failed));
	for (u64 ctrs = batch->program; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		hart->counter[ctr].cfg = batch->setup[ctr].cfg;
	}
	hart->programmed |= batch->program;
	hart->stale &= ~batch->program;
	hart->running |= batch->start;
	hart->stats.configs += hweight64(batch->program);
	if (failed)
		apply_fail(hart, failed);

	return failed;
}

/**
 * riscv_pmu_hart_validate() - program an event's config without starting it
 * @pmu:	the PMU
 * @hart:	this hart
 * @ev:	a newly attached event
 *
 * This lets add() fail for an event that the firmware refuses. A counter that has accepted the
 * config on any hart is not tried again: all harts of a PMU have the same counters.
 *
 * Context: during an update, interrupts off.
 * Return: 0, or -EIO if the counter has refused, and is excluded.
 */
int riscv_pmu_hart_validate(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_event *ev)
{
	u64 bit = BIT_ULL(ev->ctr);

	if (!(hart->stale & bit))
		ev->accepted |= bit;
	if (ev->accepted & bit)
		return 0;

	apply_stop(pmu, hart, bit);
	apply_plan_config(pmu, hart, ev->ctr);
	if (apply_commit(pmu, hart))
		return -EIO;

	ev->gen = hart->counter[ev->ctr].gen;
	ev->accepted |= bit;
	return 0;
}

/* Activates pending events of running counters that have just been read. */
static __always_inline void apply_activate_pending(struct riscv_pmu_hart *hart, u64 joined)
{
	for (; joined; joined &= joined - 1) {
		struct riscv_pmu_counter *counter = &hart->counter[__ffs64(joined)];
		struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &counter->events, node) {
			if (ev->state != RISCV_PMU_EVENT_PENDING)
				continue;
			ev->prev_count = counter->count;
			ev->overflow_point = counter->count + ev->period_left;
			ev->state = RISCV_PMU_EVENT_ACTIVE;
		}
	}
}

/* Stops, programs and starts what has to change. */
static u64 apply_dirty(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 dirty)
{
	apply_stop(pmu, hart, dirty);
	for (; dirty; dirty &= dirty - 1) {
		unsigned int ctr = __ffs64(dirty);

		apply_plan_config(pmu, hart, ctr);
		apply_plan_start(pmu, hart, ctr);
	}

	return apply_commit(pmu, hart);
}

/* The events that were pending may have been removed again. */
static __always_inline bool counter_can_continue(const struct riscv_pmu_counter *counter)
{
	u64 left = counter_distance(counter);

	return left == U64_MAX || counter_suits(counter, left);
}

/*
 * Whether a running counter with a new overflow point need not be written. Mostly this is so: an
 * event that returns to its hart often finds its counter as far from the overflow as before,
 * or a little nearer.
 */
static bool apply_suits(const struct riscv_pmu_hart *hart, unsigned long ctr)
{
	const struct riscv_pmu_counter *counter = &hart->counter[ctr];

	if (hart->reload & BIT_ULL(ctr))
		return false;

	return hart->armed & BIT_ULL(ctr) ? counter_can_continue(counter) :
					    !counter_has_overflow_point(counter);
}

static u64 apply_find_unsuited(struct riscv_pmu_hart *hart, u64 timed)
{
	u64 unsuited = 0;

	for (; timed; timed &= timed - 1) {
		if (!apply_suits(hart, __ffs64(timed)))
			unsuited |= timed & -timed;
	}

	return unsuited;
}

/* Counters that have to be changed. */
static u64 apply_find_dirty(struct riscv_pmu_hart *hart, u64 joined)
{
	u64 dirty = hart->dirty | (hart->pending & ~joined);
	/* Stopped and unused: an event was stopped at its overflow, and removed. */
	u64 idle = dirty & ~(hart->wanted.sched.used | hart->running);

	hart->armed &= ~idle;
	return dirty & ~idle;
}

/*
 * The usual end of a context switch: the counters of all pending events run already.
 * Does nothing if there is more to do than to read them.
 */
static noinline bool apply_continue(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 joined = hart->pending;

	if (joined & (~hart->running | hart->stale) ||
	    hart->pending_irq & (~hart->armed | hart->reload))
		return false;

	hart->latched = false;
	for (u64 ctrs = joined; ctrs; ctrs &= ctrs - 1) {
		unsigned long ctr = __ffs64(ctrs);

		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
		if (hart->pending_irq & ctrs & -ctrs && !counter_can_continue(&hart->counter[ctr]))
			return false;
	}

	hart->pending = 0;
	hart->pending_irq = 0;
	apply_activate_pending(hart, joined);
	return true;
}

static noinline u64 apply_all(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 joined, timed, dirty, failed = 0;

	hart->latched = false;
	joined = hart->pending & hart->running & ~(hart->dirty | hart->stale);
	timed = joined & hart->pending_irq;
	if (timed) {
		riscv_pmu_hart_update_counts(pmu, hart, timed);
		timed = apply_find_unsuited(hart, timed);
		riscv_pmu_hart_pause(pmu, hart, timed);
		joined &= ~timed;
	}
	hart->loaded &= ~hart->reload;
	dirty = apply_find_dirty(hart, joined);
	hart->dirty = 0;
	hart->pending = 0;
	hart->pending_irq = 0;
	if (dirty | hart->paused)
		failed = apply_dirty(pmu, hart, dirty);
	/* Last, right after the others were started: all events start at nearly the same time. */
	riscv_pmu_hart_update_counts(pmu, hart, joined);
	apply_activate_pending(hart, joined);
	hart->reload = 0;
	return failed;
}

/*
 * The usual end of an overflow: one counter was stopped, which holds its config and only needs
 * the next overflow point. The counting members of its group are pending on running counters.
 */
static bool apply_can_rearm(const struct riscv_pmu_hart *hart, u64 dirty)
{
	if (dirty & (dirty - 1) || dirty & (hart->running | hart->stale))
		return false;
	if (hart->pending_irq || hart->pending & (~hart->running | hart->stale))
		return false;

	return dirty & hart->armed & hart->wanted.sched.used;
}

static noinline u64 apply_rearm(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				unsigned int ctr)
{
	struct apply_goal goal = counter_activate(&hart->counter[ctr]);
	u64 bit = BIT_ULL(ctr), joined = hart->pending;

	if (unlikely(!goal.has_overflow_point))
		return apply_all(pmu, hart);

	hart->dirty = 0;
	hart->pending = 0;
	hart->batch.stop = hart->paused;
	hart->batch.release = 0;
	hart->batch.program = 0;
	hart->batch.start = bit;
	hart->batch.load = 0;
	hart->batch.failed = 0;
	hart->paused = 0;
	apply_plan_load(pmu, hart, ctr, counter_start_value(&hart->counter[ctr], goal.left));
	apply_batch(pmu, hart);
	hart->running |= bit;
	if (unlikely(hart->batch.failed))
		apply_fail(hart, bit);
	if (joined) {
		riscv_pmu_hart_update_counts(pmu, hart, joined);
		apply_activate_pending(hart, joined);
	}

	return hart->batch.failed;
}

/*
 * The overflow of a counter that counting events share: it has kept running, and is reloaded in
 * one step, to keep the gap in their counts short.
 */
static bool apply_can_reload(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart,
			     u64 dirty)
{
	if (dirty & (dirty - 1) || !pmu->ops.reload || hart->paused)
		return false;
	if ((hart->pending_irq | hart->reload) & ~dirty)
		return false;
	if (hart->pending & (~hart->running | hart->stale))
		return false;
	/* Only counters that interrupt are shared with sampling events. */
	if (dirty & ~pmu->irq_ctrs)
		return false;

	return dirty & hart->reload & hart->running & hart->wanted.sched.used & ~hart->stale;
}

/* The value from which it overflows at the nearest overflow point, or late if it has none. */
static u64 apply_reload_value(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      unsigned int ctr)
{
	const struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 left = counter_distance(counter), value;

	if (left != U64_MAX) {
		hart->armed |= BIT_ULL(ctr);
		return counter_start_value(counter, left);
	}

	hart->armed &= ~BIT_ULL(ctr);
	counter_has_room(pmu, ctr, counter->raw, &value);
	return value;
}

static noinline u64 apply_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				 unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr), joined = hart->pending & ~bit, raw = counter->raw, was = raw;
	int err;

	hart->latched = false;
	hart->dirty = 0;
	hart->pending = 0;
	hart->pending_irq = 0;
	hart->reload = 0;
	apply_clear_batch(&hart->batch);
	hart->batch.stop = bit;
	hart->batch.start = bit;
	apply_plan_load(pmu, hart, ctr, apply_reload_value(pmu, hart, ctr));
	err = pmu->ops.reload(pmu, ctr, hart->batch.setup[ctr].value, &was);
	counter->count += (was - raw) & counter->mask;
	counter_activate(counter);
	hart->stats.batches++;
	trace_apply(&hart->batch);
	if (unlikely(err))
		apply_fail(hart, bit);
	riscv_pmu_hart_update_counts(pmu, hart, joined);
	apply_activate_pending(hart, joined);
	return err ? bit : 0;
}

/**
 * riscv_pmu_hart_apply() - program the hardware as wanted
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Counters without changes, and counting events that are attached to a running counter,
 * cost no hardware access beyond a read.
 *
 * Return: counters that have refused their config; their events are stopped.
 */
u64 riscv_pmu_hart_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 dirty = hart->dirty;

	if (!dirty && apply_continue(pmu, hart))
		return 0;
	if (unlikely(hart->reload) && apply_can_reload(pmu, hart, dirty))
		return apply_reload(pmu, hart, __ffs64(dirty));

	return apply_can_rearm(hart, dirty) ? apply_rearm(pmu, hart, __ffs64(dirty)) :
						apply_all(pmu, hart);
}

/**
 * riscv_pmu_hart_save() - note all counts before the hardware loses them
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * The next apply programs and starts everything again.
 */
void riscv_pmu_hart_save(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	apply_note_stopped(pmu, hart, hart->running);
	for (u64 ctrs = hart->programmed; ctrs; ctrs &= ctrs - 1)
		counter_invalidate(hart, __ffs64(ctrs));

	hart->programmed = 0;
	hart->armed = 0;
	hart->paused = 0;
	hart->stale = hart->wanted.sched.used;
	hart->dirty |= hart->wanted.sched.used;
}

/**
 * riscv_pmu_hart_init_counters() - bring a hart's counters to a known state after it has slept
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_init_counters(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (likely(!hart->needs_start))
		return;

	hart->needs_start = false;
	pmu->ops.hart_start(pmu);
}
