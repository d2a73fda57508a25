/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inline functions for the usual context switch, which programs no counter. Counter numbers
 * are unsigned long in the hot paths, as __ffs64() returns them, because conversions take
 * instructions.
 *
 * Functions with a hart argument run on that hart, with interrupts off.
 */
#ifndef _RISCV_PMU_COUNTER_H
#define _RISCV_PMU_COUNTER_H

#include <linux/minmax.h>

#include "pmu.h"

void riscv_pmu_hart_reset(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_update_counts(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_latch(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
u64 riscv_pmu_hart_find_expected(struct riscv_pmu_hart *hart, u64 overflowed);
u64 riscv_pmu_hart_find_missed(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

/**
 * riscv_pmu_counter_read() - read the value of a counter from the hardware or firmware
 * @pmu:	the PMU
 * @ctr:	number of the counter
 *
 * Return: the value; bits above the counter's width are undefined.
 */
static inline u64 riscv_pmu_counter_read(struct riscv_pmu *pmu, unsigned long ctr)
{
	riscv_pmu_read_fn read = pmu->ctr[ctr].read;

	return read ? read() : pmu->ops.read_ctr(pmu, ctr);
}

/**
 * riscv_pmu_counter_update() - read a counter, and bring its count up to date
 * @pmu:	the PMU
 * @counter:	a running counter
 * @ctr:	number of the counter
 *
 * Return: the count.
 */
static inline u64 riscv_pmu_counter_update(struct riscv_pmu *pmu, struct riscv_pmu_counter *counter,
					   unsigned long ctr)
{
	u64 raw = riscv_pmu_counter_read(pmu, ctr);

	counter->count += (raw - counter->raw) & counter->mask;
	counter->raw = raw;
	return counter->count;
}

/**
 * riscv_pmu_counter_count() - get a counter's present count
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctr:	number of the counter
 *
 * The count of a stopped counter was updated when it was stopped.
 *
 * Return: the count.
 */
static inline u64 riscv_pmu_counter_count(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					  unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];

	return hart->hw.running & BIT_ULL(ctr) ? riscv_pmu_counter_update(pmu, counter, ctr) :
					      counter->count;
}

/**
 * riscv_pmu_hart_count() - get a counter's count; the latched one, if it is latched
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctr:	number of the counter
 *
 * Return: the count.
 */
static inline u64 riscv_pmu_hart_count(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       unsigned int ctr)
{
	return hart->latched & BIT_ULL(ctr) ? hart->counter[ctr].count :
					      riscv_pmu_counter_count(pmu, hart, ctr);
}

/* The SBI's event_idx 0 is no event. */
static inline bool riscv_pmu_counter_is_programmed(const struct riscv_pmu_counter *counter)
{
	return counter->cfg.event_idx;
}

/**
 * riscv_pmu_counter_invalidate() - note that a counter's config is lost
 * @hart:	this hart
 * @ctr:	number of a counter whose config is lost or about to be replaced
 *
 * Events that were attached to the counter have to search for a counter again.
 */
static inline void riscv_pmu_counter_invalidate(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	hart->counter[ctr].gen = ++hart->gen;
}

/**
 * riscv_pmu_hart_unlatch() - stop using latched counts
 * @hart:	this hart
 */
static inline void riscv_pmu_hart_unlatch(struct riscv_pmu_hart *hart)
{
	hart->latched = 0;
	/* Until here an NMI waits. */
	barrier();
	WRITE_ONCE(hart->latch_on_read, false);
}

/**
 * riscv_pmu_event_can_return() - whether an event's last counter still has its config
 * @hart:	this hart
 * @ev:	an event that is not attached
 *
 * RISCV_PMU_MAX_SHARED is not checked: an event that returns is not compared with others, and the
 * check would take five instructions for each event of a context switch.
 *
 * Return: true if the event can be attached to that counter without a search.
 */
static inline bool riscv_pmu_event_can_return(const struct riscv_pmu_hart *hart,
					      const struct riscv_pmu_event *ev)
{
	return ev->hart == hart && ev->gen == ev->counter->gen;
}

/**
 * riscv_pmu_event_attach() - attach an event to its counter
 * @hart:	this hart
 * @ev:	an event that is not attached, and for which a counter was chosen
 */
static inline void riscv_pmu_event_attach(struct riscv_pmu_hart *hart,
					  struct riscv_pmu_event *ev)
{
	hart->wanted.sched.used |= BIT_ULL(ev->ctr);
	list_add_tail(&ev->node, &ev->counter->events);
	hart->stats.attached++;
}

/**
 * riscv_pmu_counter_note_unused() - note that no event uses a counter any more
 * @hart:	this hart
 * @ctr:	number of the counter
 *
 * If another config was wanted of it, it keeps its present one after all.
 */
static inline void riscv_pmu_counter_note_unused(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	if (unlikely(!(hart->hw.holds & BIT_ULL(ctr))) &&
	    riscv_pmu_counter_is_programmed(&hart->counter[ctr]))
		hart->hw.holds |= BIT_ULL(ctr);
}

/**
 * riscv_pmu_event_detach() - detach an event from its counter, which keeps running
 * @hart:	this hart
 * @ev:	a stopped event that is attached
 */
static inline void riscv_pmu_event_detach(struct riscv_pmu_hart *hart,
					  struct riscv_pmu_event *ev)
{
	/* The node is not used until the next attach, so it needs no poison. */
	__list_del_entry(&ev->node);
	hart->stats.detached++;
	if (likely(list_empty(&ev->counter->events))) {
		hart->wanted.sched.used &= ~BIT_ULL(ev->ctr);
		riscv_pmu_counter_note_unused(hart, ev->ctr);
	}
}

/**
 * riscv_pmu_event_take_delta() - get an event's delta, and start the next one
 * @ev:	an active event
 * @now:	the present count of its counter
 *
 * Return: the delta: events since the last update.
 */
static inline u64 riscv_pmu_event_take_delta(struct riscv_pmu_event *ev, u64 now)
{
	u64 delta = now - ev->prev_count;

	ev->prev_count = now;
	return delta;
}

/**
 * riscv_pmu_event_take_pending_delta() - get an event's pending delta, and clear it
 * @ev:	an attached event
 *
 * Return: the delta from earlier counters, which failed or from which the event was moved.
 */
static inline u64 riscv_pmu_event_take_pending_delta(struct riscv_pmu_event *ev)
{
	u64 delta = ev->pending_delta;

	ev->pending_delta = 0;
	return delta;
}

/**
 * riscv_pmu_event_read_delta() - read an event's counter, and get its delta
 * @pmu:	the PMU
 * @hart:	this hart
 * @ev:	an attached event
 *
 * During an update, or while a group is read, the first read latches the counts of all direct
 * counters in use. Later reads are then as of the same instant.
 *
 * Return: events since the last call, or since the event was started.
 */
static inline u64 riscv_pmu_event_read_delta(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					     struct riscv_pmu_event *ev)
{
	u64 bit = BIT_ULL(ev->ctr);

	if (ev->state != RISCV_PMU_EVENT_ACTIVE)
		return riscv_pmu_event_take_pending_delta(ev);

	if (hart->latched & bit)
		return riscv_pmu_event_take_delta(ev, ev->counter->count);

	if (hart->latch_on_read) {
		if (hart->wanted.sched.used & pmu->direct_ctrs & ~bit) {
			riscv_pmu_hart_latch(pmu, hart, bit);
			return riscv_pmu_event_take_delta(ev, ev->counter->count);
		}
		/* No other counter has to be latched. */
		hart->latched |= bit;
	}

	return riscv_pmu_event_take_delta(ev, riscv_pmu_counter_count(pmu, hart, ev->ctr));
}

/**
 * riscv_pmu_event_needs_irq() - whether an event needs an overflow interrupt
 * @ev:	an event
 *
 * Return: true if the event is sampling and not polled.
 */
static inline bool riscv_pmu_event_needs_irq(const struct riscv_pmu_event *ev)
{
	return (ev->flags & (RISCV_PMU_EV_SAMPLING | RISCV_PMU_EV_POLLED)) ==
	       RISCV_PMU_EV_SAMPLING;
}

/**
 * riscv_pmu_counter_has_overflow_point() - whether an event needs this counter's interrupt
 * @counter:	the counter
 *
 * Return: true if one of its events is not stopped, and has an overflow point.
 */
static inline bool
riscv_pmu_counter_has_overflow_point(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &counter->events, node) {
		if (riscv_pmu_event_needs_irq(ev) && ev->state != RISCV_PMU_EVENT_STOPPED)
			return true;
	}

	return false;
}

/**
 * riscv_pmu_event_start() - make an event pending: it counts from the next apply on
 * @hart:	this hart
 * @ev:	an attached event
 * @left:	if the event is sampling: number of events until its overflow point
 */
static inline void riscv_pmu_event_start(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_event *ev, u64 left)
{
	ev->state = RISCV_PMU_EVENT_PENDING;
	hart->changed |= BIT_ULL(ev->ctr);
	if (!(ev->flags & RISCV_PMU_EV_SAMPLING))
		return;

	ev->period_left = left;
	if (ev->flags & RISCV_PMU_EV_POLLED) {
		ev->polled_ns = 0;
		hart->poll.events++;
	} else {
		hart->irq.events++;
	}
}

/**
 * riscv_pmu_event_stop() - stop an event
 * @hart:	this hart
 * @ev:	an attached event; the caller has taken its delta
 *
 * The hardware is not accessed: the counter keeps running. If it overflows while no event has
 * an overflow point, the overflow is ignored.
 */
static inline void riscv_pmu_event_stop(struct riscv_pmu_hart *hart,
					struct riscv_pmu_event *ev)
{
	if (ev->flags & RISCV_PMU_EV_SAMPLING && ev->state != RISCV_PMU_EVENT_STOPPED) {
		if (ev->flags & RISCV_PMU_EV_POLLED)
			hart->poll.events--;
		else
			hart->irq.events--;
	}
	ev->state = RISCV_PMU_EVENT_STOPPED;
}

/**
 * riscv_pmu_event_pause() - stop an event until the next apply
 * @hart:	this hart
 * @ev:	an active event, whose delta was just taken
 *
 * It continues as far from its overflow point as it is now.
 */
static inline void riscv_pmu_event_pause(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	ev->state = RISCV_PMU_EVENT_PENDING;
	ev->period_left = ev->overflow_point - ev->prev_count;
	hart->changed |= BIT_ULL(ev->ctr);
}

/**
 * riscv_pmu_event_has_overflowed() - whether an event has reached its overflow point
 * @ev:	an attached event
 * @now:	the present count of its counter
 *
 * Return: true if the event is sampling and active, and has reached its overflow point.
 */
static inline bool riscv_pmu_event_has_overflowed(const struct riscv_pmu_event *ev, u64 now)
{
	return ev->flags & RISCV_PMU_EV_SAMPLING && ev->state == RISCV_PMU_EVENT_ACTIVE &&
	       (s64)(now - ev->overflow_point) >= 0;
}

/**
 * riscv_pmu_event_rearm() - set the next overflow point of an active event, or of a paused one
 * @hart:	this hart
 * @ev:	the event, whose delta was just taken
 * @left:	number of events until the overflow point
 */
static inline void riscv_pmu_event_rearm(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_event *ev, u64 left)
{
	ev->overflow_point = ev->prev_count + left;
	/* If it is paused. */
	ev->period_left = left;
	if (riscv_pmu_event_needs_irq(ev))
		hart->changed |= BIT_ULL(ev->ctr);
}

/**
 * riscv_pmu_event_distance() - distance to an event's overflow point
 * @counter:	the event's counter, whose count is up to date
 * @ev:	an attached event
 *
 * Return: the number of events until then, at least 1; U64_MAX if the event is stopped or has
 * no overflow point.
 */
static __always_inline u64
riscv_pmu_event_distance(const struct riscv_pmu_counter *counter, const struct riscv_pmu_event *ev)
{
	s64 left;

	if (!riscv_pmu_event_needs_irq(ev) || ev->state == RISCV_PMU_EVENT_STOPPED)
		return U64_MAX;

	left = ev->state == RISCV_PMU_EVENT_PENDING ? ev->period_left :
							 ev->overflow_point - counter->count;
	return max(left, 1);
}

/**
 * riscv_pmu_counter_distance() - distance to the nearest overflow point of a counter's events
 * @counter:	the counter, whose count is up to date
 *
 * Return: the number of events until then, at least 1; U64_MAX if there is no overflow point.
 */
static __always_inline u64 riscv_pmu_counter_distance(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;
	u64 first = U64_MAX;

	list_for_each_entry(ev, &counter->events, node)
		first = min(first, riscv_pmu_event_distance(counter, ev));

	return first;
}

/**
 * riscv_pmu_counter_is_in_time() - whether a counter will overflow within a distance
 * @counter:	the counter, which was just read
 * @left:	the distance, as a number of events
 *
 * A counter that is more than half of its range away from its overflow has already
 * overflowed, or was not written for an overflow point.
 *
 * Return: true if the counter overflows within both @left events and half of its range.
 */
static __always_inline bool
riscv_pmu_counter_is_in_time(const struct riscv_pmu_counter *counter, u64 left)
{
	u64 until = -counter->raw & counter->mask;

	return until && until <= min(left, counter->mask >> 1);
}

/**
 * riscv_pmu_counter_suits() - whether a counter need not be written for an overflow point
 * @counter:	the counter, which was just read
 * @left:	the distance to the overflow point, as a number of events
 *
 * If the counter overflows early, its interrupt writes it; that costs more than the call that is
 * saved here. So accept only counters that overflow after at least half of the distance.
 *
 * Return: true if it need not be written.
 */
static __always_inline bool riscv_pmu_counter_suits(const struct riscv_pmu_counter *counter,
						    u64 left)
{
	u64 until = -counter->raw & counter->mask;

	return riscv_pmu_counter_is_in_time(counter, left) &&
	       until >= min(left, counter->mask >> 1) / 2;
}

#endif /* _RISCV_PMU_COUNTER_H */
