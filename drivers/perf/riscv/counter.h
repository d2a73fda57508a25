/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a context switch does to events and counters, inline: the usual cases, in which
 * nothing has to be programmed. Counter numbers are unsigned long here, as __ffs64()
 * returns them, since each change of type costs instructions.
 */
#ifndef _RISCV_PMU_COUNTER_H
#define _RISCV_PMU_COUNTER_H

#include <linux/minmax.h>

#include "pmu.h"

/* counter.c */
void riscv_pmu_hart_reset(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_update_counts(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_latch(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
u64 riscv_pmu_hart_find_expected(struct riscv_pmu_hart *hart, u64 overflowed);
u64 riscv_pmu_hart_find_missed(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
bool riscv_pmu_counter_has_overflow_point(const struct riscv_pmu_counter *counter);

/* assign.c */
int riscv_pmu_assignment_find(const struct riscv_pmu_assignment *assign,
			      const struct riscv_pmu_request *req);
void riscv_pmu_assignment_add(struct riscv_pmu_assignment *assign, unsigned int ctr,
			      const struct riscv_pmu_request *req);
void riscv_pmu_assignment_move(struct riscv_pmu_assignment *assign, unsigned int from,
			       unsigned int to);
int riscv_pmu_event_assign(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			   struct riscv_pmu_event *ev);
void riscv_pmu_event_exclude_ctr(struct riscv_pmu_event *ev, unsigned int ctr);

/* stop.c */
void riscv_pmu_hart_stop_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
u64 riscv_pmu_hart_unused(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart);
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_pause(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_resume_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_release_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_save(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_init_counters(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_clear_overflows(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

/* apply.c */
int riscv_pmu_hart_validate(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_event *ev);
u64 riscv_pmu_hart_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

#define RISCV_PMU_MAX_IDENTICAL	16

/**
 * riscv_pmu_max_identical() - how many identical events of one owner run at once on a hart
 * @req:	what they ask for
 *
 * They could all share one counter. But programs open the same event again and again,
 * until one does not run all the time, to learn how many counters there are (LTP's
 * perf_event_open02, for one): without a limit they would never learn. Groups that each
 * have the same event, as perf's metrics do, stay below it.
 *
 * Return: as many as there are counters for them, or 16 if that is more.
 */
static inline unsigned long riscv_pmu_max_identical(const struct riscv_pmu_request *req)
{
	return max_t(unsigned long, hweight64(req->ctrs), RISCV_PMU_MAX_IDENTICAL);
}

/**
 * riscv_pmu_counter_read() - a counter as it stands
 * @pmu:	the PMU
 * @ctr:	the counter
 *
 * Return: its value; bits above its width are undefined.
 */
static inline u64 riscv_pmu_counter_read(struct riscv_pmu *pmu, unsigned long ctr)
{
	riscv_pmu_read_fn read = pmu->ctr[ctr].read;

	return read ? read() : pmu->ops.read_ctr(pmu, ctr);
}

/**
 * riscv_pmu_counter_update() - add to a counter's count what the hardware has counted since
 * @pmu:	the PMU
 * @counter:	a counter that runs
 * @ctr:	its counter
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
 * riscv_pmu_counter_count() - a counter's count, up to date
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctr:	the counter
 *
 * A counter that does not run was read when it stopped.
 *
 * Return: the count.
 */
static inline u64 riscv_pmu_counter_count(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					  unsigned int ctr)
{
	struct riscv_pmu_counter *counter = &hart->counter[ctr];

	return hart->running & BIT_ULL(ctr) ? riscv_pmu_counter_update(pmu, counter, ctr) :
					      counter->count;
}

/**
 * riscv_pmu_counter_holds() - whether a counter holds a config
 * @hart:	this hart
 * @ctr:	the counter
 * @cfg:	the config
 *
 * Return: true if it does.
 */
static inline bool riscv_pmu_counter_holds(const struct riscv_pmu_hart *hart, unsigned int ctr,
					   const struct riscv_pmu_config *cfg)
{
	return hart->programmed & BIT_ULL(ctr) &&
	       riscv_pmu_config_is_equal(&hart->counter[ctr].cfg, cfg);
}

/**
 * riscv_pmu_counter_invalidate() - make events that were attached to a counter search again
 * @hart:	this hart
 * @ctr:	the counter, whose config is lost or about to be replaced
 */
static inline void riscv_pmu_counter_invalidate(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	hart->counter[ctr].gen = ++hart->gen;
}

/**
 * riscv_pmu_hart_unlatch() - end the use of latched counts
 * @hart:	this hart
 */
static inline void riscv_pmu_hart_unlatch(struct riscv_pmu_hart *hart)
{
	hart->latch_on_read = false;
	hart->latched = false;
}

/**
 * riscv_pmu_event_can_return() - whether an event's last counter still has its config
 * @hart:	this hart
 * @ev:	an event that is not attached
 *
 * Return: true if it needs no search, and nothing else that a first time does.
 */
static inline bool riscv_pmu_event_can_return(const struct riscv_pmu_hart *hart,
					      const struct riscv_pmu_event *ev)
{
	return ev->hart == hart && ev->gen == ev->counter->gen;
}

/**
 * riscv_pmu_event_attach() - attach an event to its counter
 * @hart:	this hart
 * @ev:	an event that is not attached, and whose counter is chosen
 */
static inline void riscv_pmu_event_attach(struct riscv_pmu_hart *hart,
					  struct riscv_pmu_event *ev)
{
	hart->wanted.sched.used |= BIT_ULL(ev->ctr);
	list_add_tail(&ev->node, &ev->counter->events);
	hart->stats.attached++;
}

/**
 * riscv_pmu_event_detach() - take an event off its counter, which runs on
 * @hart:	this hart
 * @ev:	an attached event, stopped
 */
static inline void riscv_pmu_event_detach(struct riscv_pmu_hart *hart,
					  struct riscv_pmu_event *ev)
{
	u64 bit = BIT_ULL(ev->ctr);

	/* Nobody looks at it before it joins a list again, so poison has no point. */
	__list_del_entry(&ev->node);
	hart->stats.detached++;
	if (unlikely(!list_empty(&ev->counter->events)))
		return;

	/* A counter that was to be given another config keeps the one that it holds. */
	hart->wanted.sched.used &= ~bit;
	hart->stale &= ~bit;
}

/**
 * riscv_pmu_event_take_delta() - what an event's counter has counted since the last update
 * @ev:	an active event
 * @now:	the counter's count
 *
 * Return: its delta.
 */
static inline u64 riscv_pmu_event_take_delta(struct riscv_pmu_event *ev, u64 now)
{
	u64 delta = now - ev->prev_count;

	ev->prev_count = now;
	return delta;
}

/**
 * riscv_pmu_event_take_pending_delta() - what an event has counted on earlier counters
 * @ev:	an attached event
 *
 * Return: the delta from counters that it was moved away from, or that failed.
 */
static inline u64 riscv_pmu_event_take_pending_delta(struct riscv_pmu_event *ev)
{
	u64 delta = ev->pending_delta;

	ev->pending_delta = 0;
	return delta;
}

/**
 * riscv_pmu_event_read_delta() - read what an event has counted since the last update
 * @pmu:	the PMU
 * @hart:	this hart
 * @ev:	an attached event
 *
 * During an update, or while a group is read, the counts of all events are those of
 * one instant: that of the first read.
 *
 * Return: events since the last call, or since it was started.
 */
static inline u64 riscv_pmu_event_read_delta(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					     struct riscv_pmu_event *ev)
{
	if (ev->state != RISCV_PMU_EVENT_ACTIVE)
		return riscv_pmu_event_take_pending_delta(ev);

	if (hart->latched)
		return riscv_pmu_event_take_delta(ev, ev->counter->count);

	if (hart->latch_on_read) {
		if (hart->wanted.sched.used != BIT_ULL(ev->ctr)) {
			riscv_pmu_hart_latch(pmu, hart);
			return riscv_pmu_event_take_delta(ev, ev->counter->count);
		}
		/* It is the only counter in use: nothing else has to be read. */
		hart->latched = true;
	}

	return riscv_pmu_event_take_delta(ev, riscv_pmu_counter_count(pmu, hart, ev->ctr));
}

/**
 * riscv_pmu_event_needs_irq() - whether a counter has to interrupt for an event
 * @ev:	an event
 *
 * Return: true if it is sampling and not polled.
 */
static inline bool riscv_pmu_event_needs_irq(const struct riscv_pmu_event *ev)
{
	return ev->sampling && !ev->polled;
}

/**
 * riscv_pmu_event_start() - let an event count, from the next apply on
 * @hart:	this hart
 * @ev:	an attached event
 * @left:	events until its overflow point, if it is sampling
 */
static inline void riscv_pmu_event_start(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_event *ev, u64 left)
{
	u64 bit = BIT_ULL(ev->ctr);

	ev->state = RISCV_PMU_EVENT_PENDING;
	hart->pending |= bit;
	if (!ev->sampling)
		return;

	ev->period_left = left;
	if (ev->polled) {
		ev->polled_ns = 0;
		hart->polled |= bit;
		return;
	}
	hart->irq_events++;
	hart->pending_irq |= bit;
}

/**
 * riscv_pmu_event_stop() - let an event count no more
 * @hart:	this hart
 * @ev:	an attached event; the caller has taken its delta
 *
 * No hardware access is needed for that: the counter runs on, even to an overflow
 * that nobody waits for.
 */
static inline void riscv_pmu_event_stop(struct riscv_pmu_hart *hart,
					struct riscv_pmu_event *ev)
{
	if (riscv_pmu_event_needs_irq(ev) && ev->state != RISCV_PMU_EVENT_STOPPED)
		hart->irq_events--;
	ev->state = RISCV_PMU_EVENT_STOPPED;
}

/**
 * riscv_pmu_event_has_overflowed() - whether an event's overflow point has come
 * @ev:	an attached event
 * @now:	its counter's count
 *
 * Return: true if it counts, has an overflow point, and that has passed.
 */
static inline bool riscv_pmu_event_has_overflowed(const struct riscv_pmu_event *ev, u64 now)
{
	return ev->sampling && ev->state == RISCV_PMU_EVENT_ACTIVE &&
	       (s64)(now - ev->overflow_point) >= 0;
}

/**
 * riscv_pmu_event_rearm() - set the next overflow point of an event that counts
 * @hart:	this hart
 * @ev:	a started event, whose delta was just taken
 * @left:	events until the overflow point
 */
static inline void riscv_pmu_event_rearm(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_event *ev, u64 left)
{
	ev->overflow_point = ev->prev_count + left;
	if (riscv_pmu_event_needs_irq(ev))
		hart->dirty |= BIT_ULL(ev->ctr);
}

/**
 * riscv_pmu_event_distance() - events until an event's overflow point
 * @counter:	its counter, up to date
 * @ev:	an attached event
 *
 * Return: at least 1; U64_MAX if it has no overflow point.
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
 * riscv_pmu_counter_distance() - events until the nearest overflow point of a counter's events
 * @counter:	the counter, up to date
 *
 * Return: at least 1; U64_MAX if there is no overflow point.
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
 * @counter:	the counter, just read
 * @left:	the distance
 *
 * Return: false also if it overflows in more than half of its range: then it has overflowed
 * already, or is not meant to.
 */
static __always_inline bool
riscv_pmu_counter_is_in_time(const struct riscv_pmu_counter *counter, u64 left)
{
	u64 until = -counter->raw & counter->mask;

	return until && until <= min(left, counter->mask >> 1);
}

#endif /* _RISCV_PMU_COUNTER_H */
