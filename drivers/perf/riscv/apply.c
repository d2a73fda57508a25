// SPDX-License-Identifier: GPL-2.0
/*
 * Compares the configs that are wanted with those that the counters hold, and applies the
 * difference as one batch.
 *
 * Everything here runs on the hart that it is about, with interrupts off.
 */

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/minmax.h>

#include "apply.h"
#include "assign.h"
#include "batch.h"
#include "counter.h"

/* What the events of one counter need, together. */
struct apply_goal {
	bool	run;
	bool	has_overflow_point;
	u64	left;
};

/* A pending event counts from the counter's present count on. */
static void apply_activate_event(const struct riscv_pmu_counter *counter,
				 struct riscv_pmu_event *ev)
{
	if (ev->gen != RISCV_PMU_GEN_NONE)
		ev->gen = counter->gen;
	ev->prev_count = counter->count - ev->pending_delta;
	ev->pending_delta = 0;
	ev->overflow_point = counter->count + ev->period_left;
	ev->state = RISCV_PMU_EVENT_ACTIVE;
}

static __always_inline struct apply_goal apply_activate_events(struct riscv_pmu_counter *counter)
{
	struct apply_goal goal = { .left = S64_MAX };
	struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &counter->events, node) {
		s64 left;

		if (ev->state == RISCV_PMU_EVENT_STOPPED)
			continue;
		if (ev->state == RISCV_PMU_EVENT_PENDING)
			apply_activate_event(counter, ev);
		goal.run = true;
		if (!riscv_pmu_event_needs_irq(ev))
			continue;
		goal.has_overflow_point = true;
		left = ev->overflow_point - counter->count;
		goal.left = left < 1 ? 1 : min_t(u64, goal.left, left);
	}

	return goal;
}

/*
 * The value from which a counter overflows after @left events. The distance is at most half of
 * the counter's range, so that the count is still right if the interrupt is late. It is at most
 * 2^62, because QEMU 10.0.2 adds what exceeds 2^63 ns since its boot to the next overflow.
 */
static u64 apply_start_value(const struct riscv_pmu_counter *counter, u64 left)
{
	return -min3(left, counter->mask >> 1, (u64)S64_MAX / 2) & counter->mask;
}

/* Adds to the batch that @ctr has to be stopped or released before it is written. */
static void apply_plan_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    unsigned int ctr)
{
	struct riscv_pmu_batch *batch = &hart->batch;
	u64 bit = BIT_ULL(ctr);

	if (hart->stale & bit)
		batch->release |= hart->hw.programmed & bit;
	else if ((hart->hw.armed | hart->reload) & bit ||
		 riscv_pmu_counter_has_overflow_point(&hart->counter[ctr]))
		batch->stop |= bit;
}

/*
 * First half of an apply: stops. If a counter that is still used has to be stopped, stop it now,
 * since the second half needs its count. Otherwise stops and starts are one batch.
 */
static void apply_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	riscv_pmu_batch_clear(batch);
	for_each_ctr(ctr, ctrs & (hart->hw.running | hart->stale))
		apply_plan_stop(pmu, hart, ctr);

	batch->stop &= hart->hw.running & ~batch->release;
	if (batch->stop & hart->wanted.sched.used)
		riscv_pmu_batch_stop_now(pmu, hart);
	else
		riscv_pmu_hart_note_released(hart, batch->release);
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
	hart->hw.loaded &= ~BIT_ULL(ctr);
	riscv_pmu_counter_invalidate(hart, ctr);
}

/* Adds the value from which a counter starts to the batch. */
static void apply_plan_load(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    unsigned int ctr, u64 value)
{
	hart->batch.load |= BIT_ULL(ctr);
	hart->hw.loaded |= BIT_ULL(ctr);
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
static bool apply_has_room(const struct riscv_pmu *pmu, unsigned int ctr, u64 raw, u64 *start)
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

/*
 * Notes for which event a counter is written. If the last one was another event, two tasks take
 * turns, and would have it written at each switch. So if any counter for this event is neither used
 * nor armed, the event searches when it is added next.
 */
static void apply_note_sampler(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	const struct riscv_pmu_event *last = hart->sampler[ctr];
	struct riscv_pmu_event *ev;

	if (!list_is_singular(&hart->counter[ctr].events))
		return;

	ev = list_first_entry(&hart->counter[ctr].events, struct riscv_pmu_event, node);
	hart->sampler[ctr] = ev;
	if (last && last != ev && ev->candidates & ~(hart->wanted.sched.used | hart->hw.armed))
		ev->gen = RISCV_PMU_GEN_NONE;
}

/* Adds the start of a counter to the batch, from a value that overflows at its overflow point. */
static void apply_plan_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr);
	bool loaded = hart->hw.loaded & bit;
	struct apply_goal goal;
	u64 start;

	riscv_pmu_counter_count(pmu, hart, ctr);
	goal = apply_activate_events(counter);
	hart->hw.armed &= ~bit;
	if (!goal.run || hart->hw.running & bit)
		return;

	hart->batch.start |= bit;
	if (goal.has_overflow_point) {
		u64 value = apply_start_value(counter, goal.left);

		hart->hw.armed |= bit;
		apply_note_sampler(hart, ctr);
		if (!loaded || (counter->raw & counter->mask) != value)
			apply_plan_load(pmu, hart, ctr, value);
	} else if (pmu->fixed_ctrs & ~(pmu->irq_ctrs | hart->reload) & bit) {
		/*
		 * A fixed counter without an interrupt may be running, and then cannot be
		 * written. If this batch programs it, apply_note_begun() reads it afterwards.
		 */
		if (!loaded && !(hart->batch.program & bit))
			counter->raw = riscv_pmu_counter_read(pmu, ctr);
		hart->hw.loaded |= bit;
	} else if (!apply_has_room(pmu, ctr, counter->raw, &start) || !loaded) {
		apply_plan_load(pmu, hart, ctr, start);
	}
}

/*
 * Stops the events of counters that the hardware has refused to program, write or start, and
 * excludes the counters for these events.
 */
static void apply_fail(struct riscv_pmu_hart *hart, u64 ctrs)
{
	hart->hw.programmed &= ~ctrs;
	hart->hw.running &= ~ctrs;
	hart->hw.armed &= ~ctrs;
	hart->stale |= ctrs & hart->wanted.sched.used;

	for_each_ctr(ctr, ctrs) {
		u64 count = hart->counter[ctr].count;
		struct riscv_pmu_event *ev;

		riscv_pmu_counter_invalidate(hart, ctr);
		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (ev->state == RISCV_PMU_EVENT_ACTIVE)
				ev->pending_delta = riscv_pmu_event_take_delta(ev, count);
			riscv_pmu_event_exclude_ctr(ev, ctr);
			riscv_pmu_event_stop(hart, ev);
		}
	}
}

/* Counters that have just been given a config and started, from an unknown value. */
static void apply_note_begun(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 begun)
{
	for_each_ctr(ctr, begun) {
		hart->counter[ctr].raw = riscv_pmu_counter_read(pmu, ctr);
	}
}

/* Second half of an apply: applies the batch, and updates the state. */
static u64 apply_commit(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	struct riscv_pmu_batch *batch = &hart->batch;
	u64 stop = batch->stop;
	u64 failed;

	batch->stop |= hart->hw.paused;
	hart->hw.paused = 0;
	if (!(batch->stop | batch->release | batch->program | batch->start))
		return 0;

	riscv_pmu_batch_apply(pmu, hart);
	riscv_pmu_hart_note_stopped(pmu, hart, stop);
	failed = batch->failed;
	apply_note_begun(pmu, hart, batch->program & batch->start & ~(batch->load | failed));
	for_each_ctr(ctr, batch->program) {
		hart->counter[ctr].cfg = batch->setup[ctr].cfg;
	}
	hart->hw.programmed |= batch->program;
	hart->stale &= ~batch->program;
	hart->hw.running |= batch->start;
	hart->stats.configs += hweight64(batch->program);
	if (failed)
		apply_fail(hart, failed);

	return failed;
}

/*
 * The running counters of a guest use counters of the host. Before a config is added, stop those
 * that no event of the guest uses, or the host may not have enough counters for all.
 */
static void apply_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	if (unlikely(pmu->hosted && hart->stale & ctrs) && riscv_pmu_hart_unused(pmu, hart))
		riscv_pmu_hart_stop_unused(pmu, hart);
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

	apply_stop_unused(pmu, hart, bit);
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
	for_each_ctr(ctr, joined) {
		struct riscv_pmu_counter *counter = &hart->counter[ctr];
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
	apply_stop_unused(pmu, hart, dirty);
	apply_stop(pmu, hart, dirty);
	for_each_ctr(ctr, dirty) {
		apply_plan_config(pmu, hart, ctr);
		apply_plan_start(pmu, hart, ctr);
	}

	return apply_commit(pmu, hart);
}

/*
 * Whether a running counter need not be written for the overflow points of its events. Mostly this
 * is so: an event that returns to its hart often finds its counter as far from the overflow as
 * before, or a little nearer.
 */
static __always_inline bool apply_counter_can_continue(const struct riscv_pmu_counter *counter)
{
	u64 left = riscv_pmu_counter_distance(counter);

	return left == U64_MAX || riscv_pmu_counter_suits(counter, left);
}

/* The same for a counter that may not be armed, or that has to be written anyway. */
static bool apply_suits(const struct riscv_pmu_hart *hart, unsigned long ctr)
{
	const struct riscv_pmu_counter *counter = &hart->counter[ctr];

	if (hart->reload & BIT_ULL(ctr))
		return false;

	return hart->hw.armed & BIT_ULL(ctr) ? apply_counter_can_continue(counter) :
					       !riscv_pmu_counter_has_overflow_point(counter);
}

static u64 apply_find_unsuited(struct riscv_pmu_hart *hart, u64 timed)
{
	u64 unsuited = 0;

	for_each_ctr(ctr, timed) {
		if (!apply_suits(hart, ctr))
			unsuited |= BIT_ULL(ctr);
	}

	return unsuited;
}

/* Counters that have to be changed. */
static u64 apply_find_dirty(struct riscv_pmu_hart *hart, u64 joined)
{
	u64 dirty = hart->dirty | (hart->pending & ~joined);
	/* Stopped and unused: an event was stopped at its overflow, and removed. */
	u64 idle = dirty & ~(hart->wanted.sched.used | hart->hw.running);

	hart->hw.armed &= ~idle;
	return dirty & ~idle;
}

/* Whether all pending events can join counters that run; those that sample only join armed ones. */
static __always_inline bool apply_can_join(const struct riscv_pmu_hart *hart, u64 joined)
{
	return !(joined & (~hart->hw.running | hart->stale | hart->reload)) &&
	       !(joined & hart->pending_irq & ~hart->hw.armed);
}

/* Whether none of these counters has to be written for its overflow points; they are read. */
static __always_inline bool apply_can_continue(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					       u64 timed)
{
	for_each_ctr(ctr, timed) {
		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
		if (!apply_counter_can_continue(&hart->counter[ctr]))
			return false;
	}

	return true;
}

static noinline bool apply_group_can_continue(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					      u64 timed)
{
	return apply_can_continue(pmu, hart, timed);
}

/* Both tests, for members that an overflow has paused. In most groups, none of these samples. */
static __always_inline bool apply_group_can_join(struct riscv_pmu *pmu,
						 struct riscv_pmu_hart *hart, u64 joined)
{
	u64 timed = joined & hart->pending_irq;

	if (!joined)
		return true;

	return apply_can_join(hart, joined) &&
	       (!timed || apply_group_can_continue(pmu, hart, timed));
}

/*
 * The usual end of a context switch: the counters of all pending events run already.
 * Does nothing if there is more to do than to read them.
 */
static noinline bool apply_continue(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 joined = hart->pending;

	if (!apply_can_join(hart, joined) ||
	    !apply_can_continue(pmu, hart, joined & hart->pending_irq))
		return false;

	hart->latched = 0;
	for_each_ctr(ctr, joined & ~hart->pending_irq)
		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
	hart->pending = 0;
	hart->pending_irq = 0;
	apply_activate_pending(hart, joined);
	return true;
}

static noinline u64 apply_all(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 joined, timed, dirty, failed = 0;

	hart->latched = 0;
	joined = hart->pending & hart->hw.running & ~(hart->dirty | hart->stale);
	timed = joined & (hart->pending_irq | hart->reload);
	if (timed) {
		riscv_pmu_hart_update_counts(pmu, hart, timed);
		timed = apply_find_unsuited(hart, timed);
		riscv_pmu_hart_pause(pmu, hart, timed);
		joined &= ~timed;
	}
	hart->hw.loaded &= ~hart->reload;
	dirty = apply_find_dirty(hart, joined);
	hart->dirty = 0;
	hart->pending = 0;
	hart->pending_irq = 0;
	if (dirty | hart->hw.paused)
		failed = apply_dirty(pmu, hart, dirty);
	/* Last, right after the others were started: all events start at nearly the same time. */
	riscv_pmu_hart_update_counts(pmu, hart, joined);
	apply_activate_pending(hart, joined);
	hart->reload = 0;
	return failed;
}

/*
 * The usual end of an overflow: one counter was stopped, which holds its config and only needs
 * the next overflow point.
 */
static bool apply_can_rearm(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 dirty)
{
	if (dirty & (dirty - 1) || dirty & (hart->hw.running | hart->stale))
		return false;

	return dirty & hart->hw.armed & hart->wanted.sched.used &&
	       apply_group_can_join(pmu, hart, hart->pending);
}

static noinline u64 apply_rearm(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				unsigned int ctr)
{
	struct apply_goal goal = apply_activate_events(&hart->counter[ctr]);
	u64 bit = BIT_ULL(ctr), joined = hart->pending;

	if (unlikely(!goal.has_overflow_point))
		return apply_all(pmu, hart);

	hart->dirty = 0;
	hart->pending = 0;
	hart->pending_irq = 0;
	hart->batch.stop = hart->hw.paused;
	hart->batch.release = 0;
	hart->batch.program = 0;
	hart->batch.start = bit;
	hart->batch.load = 0;
	hart->batch.failed = 0;
	hart->hw.paused = 0;
	apply_plan_load(pmu, hart, ctr, apply_start_value(&hart->counter[ctr], goal.left));
	riscv_pmu_batch_apply(pmu, hart);
	hart->hw.running |= bit;
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
static bool apply_can_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 dirty)
{
	if (dirty & (dirty - 1) || !pmu->ops.reload || hart->hw.paused || hart->reload & ~dirty)
		return false;
	/* Only counters that interrupt are shared with sampling events. */
	if (!(dirty & pmu->irq_ctrs & hart->hw.running & hart->wanted.sched.used & ~hart->stale))
		return false;

	return apply_group_can_join(pmu, hart, hart->pending & ~dirty);
}

/* The value from which it overflows at the nearest overflow point, or late if it has none. */
static u64 apply_reload_value(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      unsigned int ctr)
{
	const struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 left = riscv_pmu_counter_distance(counter), value;

	if (left != U64_MAX) {
		hart->hw.armed |= BIT_ULL(ctr);
		return apply_start_value(counter, left);
	}

	hart->hw.armed &= ~BIT_ULL(ctr);
	apply_has_room(pmu, ctr, counter->raw, &value);
	return value;
}

/**
 * riscv_pmu_hart_reload() - write a running counter without stopping it
 * @pmu:	the PMU, which has &riscv_pmu_ops.reload
 * @hart:	this hart
 * @ctr:	the counter; &riscv_pmu_counter.raw is up to date
 * @value:	its new value, masked with &riscv_pmu_counter.mask
 *
 * What the counter has counted since it was read is added to its count.
 *
 * Context: during an update, interrupts off.
 * Return: 0, or -EIO if the hardware has refused. Then the counter's events are stopped, and it is
 * excluded for them; riscv_pmu_hart_stop_refused() has to be called afterwards.
 */
int riscv_pmu_hart_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
			  u64 value)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr), raw = counter->raw, was = raw;
	int err;

	apply_plan_load(pmu, hart, ctr, value);
	/*
	 * While the backend writes the counter, the tracepoint of its firmware calls may take a
	 * sample that reads an event of this counter. As if the counter were stopped, that read
	 * returns the count so far.
	 */
	hart->hw.running &= ~bit;
	err = pmu->ops.reload(pmu, ctr, hart->batch.setup[ctr].value, &was);
	hart->hw.running |= bit;
	counter->count += (was - raw) & counter->mask;
	if (unlikely(err))
		apply_fail(hart, bit);
	return err;
}

static noinline u64 apply_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				 unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr), joined = hart->pending & ~bit;
	int err;

	/* The distance to the overflow point is from here. */
	riscv_pmu_counter_update(pmu, counter, ctr);
	hart->latched = 0;
	hart->dirty = 0;
	hart->pending = 0;
	hart->pending_irq = 0;
	hart->reload = 0;
	riscv_pmu_batch_clear(&hart->batch);
	hart->batch.stop = bit;
	hart->batch.start = bit;
	err = riscv_pmu_hart_reload(pmu, hart, ctr, apply_reload_value(pmu, hart, ctr));
	apply_activate_events(counter);
	hart->stats.batches++;
	trace_apply(&hart->batch);
	riscv_pmu_hart_update_counts(pmu, hart, joined);
	apply_activate_pending(hart, joined);
	return err ? bit : 0;
}

/*
 * What is not one of the usual cases. If only one stopped counter that holds its config has to
 * start, for a sampling event, it is treated as at the end of an overflow.
 */
static noinline u64 apply_unusual(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 unready = ~hart->hw.running | hart->stale | hart->reload;
	u64 ctr = hart->pending_irq;

	if (!ctr || ctr & (ctr - 1) || (hart->dirty | (hart->pending & unready)) & ~ctr ||
	    ctr & (hart->hw.running | hart->stale | hart->reload) ||
	    !(ctr & hart->wanted.sched.used))
		return apply_all(pmu, hart);

	hart->dirty = ctr;
	hart->pending &= ~ctr;
	hart->pending_irq = 0;
	hart->hw.armed |= ctr;
	return apply_rearm(pmu, hart, __ffs64(ctr));
}

static __always_inline u64 apply_changes(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 dirty = hart->dirty;

	if (!dirty && apply_continue(pmu, hart))
		return 0;
	if (unlikely(hart->reload) && apply_can_reload(pmu, hart, dirty))
		return apply_reload(pmu, hart, __ffs64(dirty));

	return apply_can_rearm(pmu, hart, dirty) ? apply_rearm(pmu, hart, __ffs64(dirty)) :
					      apply_unusual(pmu, hart);
}

/**
 * riscv_pmu_hart_apply() - program the hardware as wanted
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Counters without changes, and counting events that are attached to a running counter,
 * cost no hardware access beyond a read.
 *
 * Context: interrupts off.
 * Return: counters that have refused their config; their events are stopped.
 */
u64 riscv_pmu_hart_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 failed = apply_changes(pmu, hart);

	riscv_pmu_hart_check(pmu, hart);
	return failed;
}
