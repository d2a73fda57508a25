// SPDX-License-Identifier: GPL-2.0
/*
 * Compares what is wanted of the counters with what they hold, and applies the difference. An
 * apply ends in one of three ways: all counters go on, one is rewritten, or all are visited.
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

/* A pending event counts from its counter's present count on. */
static __always_inline void apply_activate_event(const struct riscv_pmu_counter *counter,
						 struct riscv_pmu_event *ev)
{
	if (ev->state != RISCV_PMU_EVENT_PENDING)
		return;

	ev->prev_count = counter->count - ev->pending_delta;
	ev->pending_delta = 0;
	ev->overflow_point = counter->count + ev->period_left;
	ev->state = RISCV_PMU_EVENT_ACTIVE;
}

/*
 * Activates the pending events of a counter. Returns the distance to the nearest overflow point,
 * U64_MAX if there is none, or 0 if all events are stopped.
 */
static __always_inline u64 apply_activate(struct riscv_pmu_counter *counter)
{
	struct riscv_pmu_event *ev;
	u64 left = 0;

	list_for_each_entry(ev, &counter->events, node) {
		if (ev->state == RISCV_PMU_EVENT_STOPPED)
			continue;
		apply_activate_event(counter, ev);
		/* 0 - 1 is the greatest u64. */
		left = min(left - 1, riscv_pmu_event_distance(counter, ev) - 1) + 1;
	}

	return left;
}

/* Starts the pending events of running counters together; those of @unread are read first. */
static __always_inline void apply_join(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       u64 joined, u64 unread)
{
	for_each_ctr(ctr, unread)
		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
	for_each_ctr(ctr, joined) {
		struct riscv_pmu_counter *counter = &hart->counter[ctr];
		struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &counter->events, node)
			apply_activate_event(counter, ev);
	}
}

/*
 * The value from which a counter overflows after @left events. The distance is at most half of
 * the counter's range, so that the count is still right if the interrupt is late. It is at most
 * 2^62, because QEMU 10.0.2 adds what exceeds 2^63 ns since its boot to the next overflow.
 */
static u64 apply_overflow_value(const struct riscv_pmu_counter *counter, u64 left)
{
	return -min3(left, counter->mask >> 1, (u64)S64_MAX / 2) & counter->mask;
}

/*
 * The value from which a counter without an overflow point starts, and whether its present value
 * is close enough to that:
 * - without an interrupt, any value will do;
 * - a narrow counter has to overflow within half of its range, since its interrupt may be late by
 *   the other half;
 * - the overflow of a wide one should be far away, but not in the other half of the range: QEMU
 *   10.0.2 then computes a time in the past, and loops forever with two of them and -icount.
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

/* Adds the value from which a counter starts to the batch. */
static void apply_plan_load(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
			    u64 value)
{
	hart->batch.load |= BIT_ULL(ctr);
	hart->hw.loaded |= BIT_ULL(ctr);
	hart->batch.setup[ctr].value = value;
	/* With riscv_pmu.width= the hardware is wider, and has to overflow at that width. */
	if (pmu->clamped_ctrs & BIT_ULL(ctr))
		hart->batch.setup[ctr].value |= ~hart->counter[ctr].mask;
	hart->counter[ctr].raw = value;
}

/* Adds the config that is wanted to the batch; one that the counter holds is released before. */
static void apply_plan_config(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	struct riscv_pmu_event *ev;
	u64 bit = BIT_ULL(ctr);

	riscv_pmu_hart_release(hart, bit);
	hart->batch.program |= bit;
	hart->batch.setup[ctr].cfg = hart->wanted.cfg[ctr];
	hart->hw.loaded &= ~bit;
	list_for_each_entry(ev, &counter->events, node) {
		if (ev->gen != RISCV_PMU_GEN_NONE)
			ev->gen = counter->gen;
	}
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

/* Adds the start of a counter without an overflow point to the batch. */
static void apply_plan_free_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				  unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr), start;
	bool loaded = hart->hw.loaded & bit;

	if (apply_has_room(pmu, ctr, counter->raw, &start) && loaded)
		return;
	/*
	 * A fixed counter without an interrupt may be running, and then cannot be written. If this
	 * batch programs it, apply_commit() reads it afterwards.
	 */
	if (pmu->fixed_ctrs & ~pmu->irq_ctrs & bit && !pmu->loads) {
		if (!loaded && !(hart->batch.program & bit))
			counter->raw = riscv_pmu_counter_read(pmu, ctr);
		hart->hw.loaded |= bit;
		return;
	}

	apply_plan_load(pmu, hart, ctr, start);
}

/* Adds what a counter needs to the batch. */
static void apply_plan(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr), left, value;

	if (hart->hw.holds & bit)
		riscv_pmu_hart_pause(pmu, hart, bit & hart->hw.running);
	else
		apply_plan_config(hart, ctr);
	hart->hw.armed &= ~bit;
	left = apply_activate(counter);
	if (!left)
		return;

	hart->batch.start |= bit;
	if (left == U64_MAX)
		return apply_plan_free_start(pmu, hart, ctr);

	hart->hw.armed |= bit;
	apply_note_sampler(hart, ctr);
	value = apply_overflow_value(counter, left);
	if (!(hart->hw.loaded & bit) || (counter->raw & counter->mask) != value)
		apply_plan_load(pmu, hart, ctr, value);
}

/*
 * Stops the events of counters that the hardware has refused to program, write or start, and
 * excludes the counters for these events.
 */
static void apply_fail(struct riscv_pmu_hart *hart, u64 ctrs)
{
	riscv_pmu_hart_forget_configs(hart, ctrs);
	for_each_ctr(ctr, ctrs) {
		u64 count = hart->counter[ctr].count;
		struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (ev->state == RISCV_PMU_EVENT_ACTIVE)
				ev->pending_delta = riscv_pmu_event_take_delta(ev, count);
			riscv_pmu_event_exclude_ctr(ev, ctr);
			riscv_pmu_event_stop(hart, ev);
		}
	}
}

/* Applies the batch, and updates the state. Returns the counters that have failed. */
static u64 apply_commit(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	struct riscv_pmu_batch *batch = &hart->batch;
	u64 failed;

	if (!(batch->stop | batch->release | batch->program | batch->start))
		return 0;

	riscv_pmu_batch_apply(pmu, hart);
	failed = batch->failed;
	/* Their configs are new, and their values unknown. */
	for_each_ctr(ctr, batch->program & batch->start & ~(batch->load | failed))
		hart->counter[ctr].raw = riscv_pmu_counter_read(pmu, ctr);
	for_each_ctr(ctr, batch->program)
		hart->counter[ctr].cfg = batch->setup[ctr].cfg;
	hart->hw.holds |= batch->program;
	hart->hw.running |= batch->start;
	hart->stats.configs += hweight64(batch->program);
	riscv_pmu_batch_clear(batch);
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
	if (unlikely(pmu->hosted) && ctrs & ~hart->hw.holds && riscv_pmu_hart_unused(pmu, hart))
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

	if (!((ev->accepted | hart->hw.holds) & bit)) {
		apply_stop_unused(pmu, hart, bit);
		apply_plan_config(hart, ev->ctr);
		if (apply_commit(pmu, hart))
			return -EIO;
	}
	ev->accepted |= bit;
	return 0;
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
	hart->batch.stop = bit;
	hart->batch.start = bit;
	trace_apply(&hart->batch);
	riscv_pmu_batch_clear(&hart->batch);
	hart->stats.batches++;
	if (unlikely(err))
		apply_fail(hart, bit);
	return err;
}

/*
 * Whether a counter need not be written for the overflow points of its events. Mostly this is so:
 * an event that returns to its hart often finds its counter as far from the overflow as before, or
 * a little nearer.
 */
static __always_inline bool apply_suits(const struct riscv_pmu_hart *hart, unsigned long ctr)
{
	const struct riscv_pmu_counter *counter = &hart->counter[ctr];

	return hart->hw.armed & BIT_ULL(ctr) &&
	       riscv_pmu_counter_suits(counter, riscv_pmu_counter_distance(counter));
}

/* Reads those of @ready with an overflow point into @timed. Returns those that must be written. */
static __always_inline u64 apply_find_unsuited(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					       u64 ready, u64 *timed)
{
	u64 unsuited = 0;

	for_each_ctr(ctr, ready) {
		if (!riscv_pmu_counter_has_overflow_point(&hart->counter[ctr]))
			continue;
		*timed |= BIT_ULL(ctr);
		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
		if (!apply_suits(hart, ctr))
			unsuited |= BIT_ULL(ctr);
	}

	return unsuited;
}

/* Those of @ready that must be written for an overflow point. */
static noinline u64 apply_check_others(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       u64 ready)
{
	u64 timed = 0;

	return apply_find_unsuited(pmu, hart, ready, &timed);
}

/* Whether a counter has kept running for its counting events, and can be written meanwhile. */
static bool apply_can_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 bit)
{
	return bit & pmu->irq_ctrs & ~hart->hw.loaded && pmu->ops.reload && !hart->batch.stop &&
	       !apply_check_others(pmu, hart, hart->changed & ~bit);
}

/* Writes it in one step, so that the gap in their counts is short. */
static noinline u64 apply_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				 unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr), joined = hart->changed & ~bit, left, value;
	int err;

	riscv_pmu_counter_update(pmu, counter, ctr);
	left = riscv_pmu_counter_distance(counter);
	if (left != U64_MAX) {
		hart->hw.armed |= bit;
		value = apply_overflow_value(counter, left);
	} else {
		hart->hw.armed &= ~bit;
		apply_has_room(pmu, ctr, counter->raw, &value);
	}

	hart->changed = 0;
	err = riscv_pmu_hart_reload(pmu, hart, ctr, value);
	apply_activate(counter);
	apply_join(pmu, hart, joined, joined);
	return err ? bit : 0;
}

/* The third ending: visits all counters that have changed. */
static noinline u64 apply_all(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 unready)
{
	u64 used, failed, joined = hart->changed & ~unready;

	unready |= apply_check_others(pmu, hart, joined);
	joined &= ~unready;
	used = unready & hart->wanted.sched.used;
	apply_stop_unused(pmu, hart, used);
	/* Of the others, an event was stopped at its overflow, and removed. */
	hart->hw.armed &= ~unready;
	for_each_ctr(ctr, used)
		apply_plan(pmu, hart, ctr);
	failed = apply_commit(pmu, hart);
	hart->changed = 0;
	/* Last, right after the others were started: all events start at nearly the same time. */
	apply_join(pmu, hart, joined, joined);
	return failed;
}

/*
 * The second ending, of most overflows: one counter holds its config, and only has to be written
 * for its next overflow point. The bench's row sample/1 takes TODO instructions less than with the
 * third.
 */
static noinline u64 apply_one(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 unready)
{
	unsigned long ctr = __ffs64(unready);
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 joined = hart->changed & ~unready, left, failed;

	if (unready & (unready - 1) || !(unready & hart->wanted.sched.used & hart->hw.holds))
		return apply_all(pmu, hart, unready);
	if (unlikely(unready & hart->hw.running)) {
		if (apply_can_reload(pmu, hart, unready))
			return apply_reload(pmu, hart, ctr);
		riscv_pmu_hart_pause(pmu, hart, unready);
		apply_note_sampler(hart, ctr);
	}
	left = apply_activate(counter);
	if (unlikely(!left || left == U64_MAX) ||
	    (joined && hart->irq.events > 1 && apply_check_others(pmu, hart, joined)))
		return apply_all(pmu, hart, unready);

	hart->changed = 0;
	hart->hw.armed |= unready;
	hart->batch.start = unready;
	apply_plan_load(pmu, hart, ctr, apply_overflow_value(counter, left));
	riscv_pmu_batch_apply(pmu, hart);
	hart->hw.running |= unready;
	failed = hart->batch.failed;
	riscv_pmu_batch_clear(&hart->batch);
	if (unlikely(failed))
		apply_fail(hart, failed);
	if (joined)
		apply_join(pmu, hart, joined, joined);
	return failed;
}

/* The first ending, of most context switches: all counters go on. */
static noinline u64 apply_continue(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ready)
{
	u64 timed = 0, unready = 0;

	if (hart->irq.events)
		unready = apply_find_unsuited(pmu, hart, ready, &timed);
	if (unlikely(unready))
		return apply_one(pmu, hart, unready);

	hart->changed = 0;
	apply_join(pmu, hart, ready, ready & ~timed);
	return 0;
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
	u64 changed = hart->changed, failed;
	u64 ready = changed & hart->hw.running & hart->hw.holds & hart->hw.loaded;

	hart->latched = 0;
	failed = ready == changed ? apply_continue(pmu, hart, ready) :
				    apply_one(pmu, hart, changed & ~ready);
	riscv_pmu_hart_check(pmu, hart);
	return failed;
}
