// SPDX-License-Identifier: GPL-2.0
/*
 * Applies the difference between what is wanted of the counters of this hart and what they hold. An
 * apply ends in one of three ways: all counters go on (apply_continue()); if not, one is written
 * (apply_one()); if not, all are visited (apply_all()). Interrupts are off.
 */

#include <linux/errno.h>

#include "apply.h"
#include "assign.h"
#include "counter.h"
#include "user/user.h"

/*
 * Activates the pending events of a counter, which count from its present count on. Returns the
 * distance to the nearest overflow point, U64_MAX if there is none, or 0 if all events are stopped.
 */
static __always_inline u64 apply_activate(struct riscv_pmu_counter *counter)
{
	struct riscv_pmu_event *ev;
	u64 left = 0;

	list_for_each_entry(ev, &counter->events, node) {
		if (ev->state == RISCV_PMU_EVENT_PENDING) {
			ev->prev_count = counter->count - ev->pending_delta;
			ev->pending_delta = 0;
			ev->overflow_point = counter->count + ev->period_left;
			ev->state = RISCV_PMU_EVENT_ACTIVE;
		}
		/* 0 (no event yet) wraps to U64_MAX, so that min() takes the first distance. */
		if (ev->state != RISCV_PMU_EVENT_STOPPED)
			left = min(left - 1, riscv_pmu_event_distance(counter, ev) - 1) + 1;
	}

	return left;
}

/* Reads the counters of @unread, then activates the pending events of @joined. */
static __always_inline void apply_join(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       u64 joined, u64 unread)
{
	for_each_ctr(ctr, unread)
		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
	for_each_ctr(ctr, joined)
		apply_activate(&hart->counter[ctr]);
}

/*
 * The value from which a counter overflows after @left events, or sooner: after at most half of its
 * range, so that the count is right even if the interrupt is late; and after at most 2^62, because
 * QEMU 10.0.2 adds what is later than 2^63 ns after its boot to the time of the next overflow.
 */
static u64 apply_overflow_value(const struct riscv_pmu_counter *counter, u64 left)
{
	return -min3(left, counter->mask >> 1, (u64)S64_MAX / 2) & counter->mask;
}

/*
 * The value from which a counter without an overflow point starts, and whether @raw is close enough
 * to it. A counter that does not interrupt starts at 0. (A fixed one is not written, unless user
 * space may read it.) A narrow one that interrupts starts at half of its range: then its interrupt
 * may be late by the other half. A 64-bit one starts at three quarters. It must not be in the lower
 * half, for which QEMU 10.0.2 computes an overflow in the past, and hangs if there are two of them
 * (-icount). It may be up to 2^61 events beyond its start, others half of their range.
 */
static bool apply_has_room(const struct riscv_pmu *pmu, unsigned int ctr, u64 raw, u64 *start)
{
	u64 mask = riscv_pmu_ctr_mask(pmu, ctr), half = (mask >> 1) + 1;
	bool is_narrow = pmu->ctr[ctr].width < 64;

	if (!(pmu->irq_ctrs & BIT_ULL(ctr)))
		*start = 0;
	else
		*start = is_narrow ? half : half + half / 2;

	return ((raw - *start) & mask) < (*start && !is_narrow ? half / 4 : half);
}

/* Adds the value from which a counter starts to the batch. */
static void apply_plan_load(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
			    u64 value)
{
	hart->batch.load |= BIT_ULL(ctr);
	hart->hw.loaded |= BIT_ULL(ctr);
	hart->counter[ctr].raw = value;
	/* With riscv_pmu.width= the hardware is wider, and has to overflow at that width. */
	if (pmu->clamped_ctrs & BIT_ULL(ctr))
		value |= ~hart->counter[ctr].mask;
	hart->batch.setup[ctr].value = value;
}

/* Adds the config that is wanted to the batch; one that the counter holds is released before. */
static void apply_plan_config(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	struct riscv_pmu_event *ev;
	u64 bit = BIT_ULL(ctr);

	riscv_pmu_hart_release(hart, bit);
	hart->batch.program |= bit;
	hart->batch.setup[ctr].cfg = hart->wanted.cfg[ctr];
	hart->hw.loaded &= ~bit;
	/* The events can return to this counter after the apply. */
	list_for_each_entry(ev, &hart->counter[ctr].events, node) {
		if (ev->gen != RISCV_PMU_GEN_NONE)
			ev->gen = hart->counter[ctr].gen;
	}
}

/*
 * Notes for which event a counter is written. If events of two tasks take turns on a counter, each
 * switch writes it. So if another counter for this event is neither used nor armed, the event
 * searches when it is added next.
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
	/* A fixed counter without interrupt is written only if user space may read it. */
	if (!(pmu->fixed_ctrs & ~pmu->irq_ctrs & bit) ||
	    (pmu->loads && riscv_pmu_counter_is_shown(counter)))
		return apply_plan_load(pmu, hart, ctr, start);

	/* If it is running, it cannot be written. apply_commit() reads one of batch.program. */
	if (!loaded && !(hart->batch.program & bit))
		counter->raw = riscv_pmu_counter_read(pmu, ctr);
	hart->hw.loaded |= bit;
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

/* Stops the events of counters that have refused a config, and excludes the counters for them. */
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

	pmu->ops.apply(pmu, batch);
	/* Their configs are new, and their values unknown. */
	for_each_ctr(ctr, batch->program & batch->start & ~(batch->load | batch->failed))
		hart->counter[ctr].raw = riscv_pmu_counter_read(pmu, ctr);
	for_each_ctr(ctr, batch->program)
		hart->counter[ctr].cfg = batch->setup[ctr].cfg;
	hart->hw.holds |= batch->program & ~batch->failed;
	hart->hw.running |= batch->start & ~batch->failed;
	hart->stats.configs += hweight64(batch->program);
	failed = riscv_pmu_batch_end(hart);
	if (failed)
		apply_fail(hart, failed);

	return failed;
}

/**
 * riscv_pmu_hart_stop_unused() - stop the running counters that no event uses
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * They run on in case another event comes soon. One that stays unused wastes power, and may raise
 * interrupts that cannot be masked.
 */
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 ctrs = riscv_pmu_hart_unused(pmu, hart);

	if (!ctrs)
		return;

	riscv_pmu_hart_pause(pmu, hart, ctrs);
	hart->hw.armed &= ~ctrs;
	hart->changed &= ~ctrs;
	riscv_pmu_batch_apply(pmu, hart);
}

/**
 * riscv_pmu_hart_release_unused() - release the configs of unused counters
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that a backend wants to try
 */
void riscv_pmu_hart_release_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	riscv_pmu_hart_release(hart, ctrs & hart->hw.holds & ~hart->wanted.sched.used);
	if (hart->batch.release)
		riscv_pmu_batch_apply(pmu, hart);
}

/* A guest stops its unused counters before it programs another: the host may not have enough. */
static void apply_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	if (unlikely(pmu->in_guest) && ctrs & ~hart->hw.holds)
		riscv_pmu_hart_stop_unused(pmu, hart);
}

/**
 * riscv_pmu_hart_validate() - program a config, so that add() fails if it is refused
 * @pmu:	the PMU
 * @hart:	this hart, in an update
 * @ev:		a newly attached event
 *
 * A counter that has accepted the config is not tried again: all harts have the same counters.
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
 * riscv_pmu_hart_reload() - write a running counter, which stops only for the write
 * @pmu:	the PMU, which has &riscv_pmu_ops.reload
 * @hart:	this hart, in an update
 * @ctr:	the counter; &riscv_pmu_counter.raw is up to date
 * @value:	its new value, masked with &riscv_pmu_counter.mask
 * Return: 0, or a negative errno if the hardware has refused: the counter's events are stopped, it
 * is excluded for them, and riscv_pmu_hart_stop_refused() has to be called.
 */
int riscv_pmu_hart_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
			  u64 value)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr), raw = counter->raw, was = raw;
	int err;

	apply_plan_load(pmu, hart, ctr, value);
	/* If the firmware call's tracepoint samples, and reads an event, it gets the old count. */
	hart->hw.running &= ~bit;
	err = pmu->ops.reload(pmu, ctr, hart->batch.setup[ctr].value, &was);
	hart->hw.running |= bit;
	counter->count += (was - raw) & counter->mask;
	/* For the tracepoint only: the counter was restarted already. */
	hart->batch.stop = bit;
	hart->batch.start = bit;
	riscv_pmu_batch_end(hart);
	if (unlikely(err))
		apply_fail(hart, bit);
	return err;
}

/* Whether a pending event of the counter has an overflow point that needs the interrupt */
static __always_inline bool apply_has_pending_sampler(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &counter->events, node) {
		if (riscv_pmu_event_needs_irq(ev) && ev->state == RISCV_PMU_EVENT_PENDING)
			return true;
	}

	return false;
}

/*
 * Updates the counters of @ready that have a pending sampling event, and adds them to @timed.
 * Returns those that must be written: mostly none, since an event that returns finds its counter as
 * it was. A counter with only active sampling events is skipped: if it has overflowed, its flag
 * must stay set for the interrupt.
 */
static __always_inline u64 apply_find_unsuited(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					       u64 ready, u64 *timed)
{
	u64 unsuited = 0;

	for_each_ctr(ctr, ready) {
		struct riscv_pmu_counter *counter = &hart->counter[ctr];

		if (!apply_has_pending_sampler(counter))
			continue;
		*timed |= BIT_ULL(ctr);
		riscv_pmu_counter_update(pmu, counter, ctr);
		if (!(hart->hw.armed & BIT_ULL(ctr)) ||
		    !riscv_pmu_counter_suits(counter, riscv_pmu_counter_distance(counter)))
			unsuited |= BIT_ULL(ctr);
	}

	return unsuited;
}

/* apply_find_unsuited(), out of line */
static noinline u64 apply_check_others(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       u64 ready)
{
	u64 timed = 0;

	return apply_find_unsuited(pmu, hart, ready, &timed);
}

/* A counter that runs on for its counting events is written in one step: they miss little. */
static noinline u64 apply_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				 unsigned int ctr, u64 joined)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 bit = BIT_ULL(ctr), left, value;
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
	/* A counter of @unready that is not used had an event that stopped at its overflow. */
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
 * for its next overflow point. It saves 147 of 2 414 instructions compared with apply_all() (bench:
 * sample/1, delegated).
 */
static noinline u64 apply_one(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 unready)
{
	unsigned long ctr = __ffs64(unready);
	struct riscv_pmu_counter *counter = &hart->counter[ctr];
	u64 joined = hart->changed & ~unready, left, failed;

	if (unready & (unready - 1) || !(unready & hart->wanted.sched.used & hart->hw.holds))
		return apply_all(pmu, hart, unready);
	if (unlikely(unready & hart->hw.running)) {
		if (unready & pmu->irq_ctrs & ~hart->hw.loaded && pmu->ops.reload &&
		    !hart->batch.stop && !apply_check_others(pmu, hart, joined))
			return apply_reload(pmu, hart, ctr, joined);
		riscv_pmu_hart_pause(pmu, hart, unready);
		apply_note_sampler(hart, ctr);
	}
	left = apply_activate(counter);
	/* irq.events > 1: another counter may also have a sampling event. */
	if (unlikely(!left || left == U64_MAX) ||
	    (joined && hart->irq.events > 1 && apply_check_others(pmu, hart, joined)))
		return apply_all(pmu, hart, unready);

	hart->changed = 0;
	hart->hw.armed |= unready;
	hart->batch.start = unready;
	apply_plan_load(pmu, hart, ctr, apply_overflow_value(counter, left));
	failed = riscv_pmu_batch_apply(pmu, hart);
	hart->hw.running |= unready;
	if (unlikely(failed))
		apply_fail(hart, failed);
	if (joined)
		apply_join(pmu, hart, joined, joined);
	return failed;
}

/*
 * The first ending, of most context switches: all counters go on. With eight events it saves 237 of
 * 16 263 instructions compared with apply_all() (bench: switch/count/8, delegated).
 */
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
 * Return: counters that have refused their config; their events are stopped.
 */
u64 riscv_pmu_hart_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 changed = hart->changed, failed;
	u64 ready = changed & hart->hw.running & hart->hw.holds & hart->hw.loaded;

	hart->latched = 0;
	failed = ready == changed ? apply_continue(pmu, hart, ready) :
				    apply_one(pmu, hart, changed & ~ready);
	if (IS_ENABLED(CONFIG_RISCV_PMU_DEBUG))
		riscv_pmu_hart_check(pmu, hart);
	return failed;
}
