/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a context switch does to counters and events; mostly it programs no counter. Functions with
 * a hart argument run on that hart, with interrupts off.
 */
#ifndef _RISCV_PMU_COUNTER_H
#define _RISCV_PMU_COUNTER_H

#include "pmu.h"
#include "poll_sample.h"

void riscv_pmu_hart_reset(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_update_counts(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_latch(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
u64 riscv_pmu_hart_find_expected(struct riscv_pmu_hart *hart, u64 overflowed);
u64 riscv_pmu_hart_find_missed(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_pause(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_resume_idle(struct riscv_pmu_hart *hart);
void riscv_pmu_hart_forget_configs(struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_release(struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_save(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

/* The value in the hardware or firmware; bits above the counter's width are undefined. */
static inline u64 riscv_pmu_counter_read(struct riscv_pmu *pmu, unsigned long ctr)
{
	riscv_pmu_read_fn read = pmu->ctr[ctr].read;

	return read ? read() : pmu->ops.read_ctr(pmu, ctr);
}

/* Reads a running counter, and returns its count, which is then up to date. */
static inline u64 riscv_pmu_counter_update(struct riscv_pmu *pmu, struct riscv_pmu_counter *counter,
					   unsigned long ctr)
{
	u64 raw = riscv_pmu_counter_read(pmu, ctr);

	counter->count += (raw - counter->raw) & counter->mask;
	counter->raw = raw;
	return counter->count;
}

/* The present count of any counter; that of a stopped one was updated when it was stopped. */
static inline u64 riscv_pmu_counter_count(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					  unsigned int ctr)
{
	if (hart->hw.running & BIT_ULL(ctr))
		return riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);

	return hart->counter[ctr].count;
}

/* The latched count of a counter, or its present one. */
static inline u64 riscv_pmu_hart_count(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       unsigned int ctr)
{
	return hart->latched & BIT_ULL(ctr) ? hart->counter[ctr].count :
					      riscv_pmu_counter_count(pmu, hart, ctr);
}

/* Whether a counter holds a config: the SBI has no event 0. */
static inline bool riscv_pmu_counter_is_programmed(const struct riscv_pmu_counter *counter)
{
	return counter->cfg.event_idx;
}

/* A counter's config is lost, or about to be replaced: its events have to search again. */
static inline void riscv_pmu_counter_invalidate(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	hart->counter[ctr].gen = ++hart->gen;
}

/* From now on, counters are read again. */
static inline void riscv_pmu_hart_unlatch(struct riscv_pmu_hart *hart)
{
	hart->latched = 0;
	/* Until here an NMI is deferred. */
	barrier();
	WRITE_ONCE(hart->latch_on_read, false);
}

/* Brings a hart's counters to a known state after it has slept. */
static inline void riscv_pmu_hart_init_counters(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (likely(!hart->needs_start))
		return;

	hart->needs_start = false;
	pmu->ops.hart_start(pmu);
}

/*
 * Whether the last counter of a detached event still has its config: no search is needed then.
 * RISCV_PMU_MAX_IDENTICAL is not checked: that would take five instructions for each event of a
 * context switch. When it makes an event wait, the attached ones have to search next time.
 */
static inline bool riscv_pmu_event_can_return(const struct riscv_pmu_hart *hart,
					      const struct riscv_pmu_event *ev)
{
	return ev->hart == hart && ev->gen == ev->counter->gen;
}

/* Attaches an event to the counter that was chosen for it. */
static inline void riscv_pmu_event_attach(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	hart->wanted.sched.used |= BIT_ULL(ev->ctr);
	list_add_tail(&ev->node, &ev->counter->events);
	hart->stats.attached++;
}

/* No event uses a counter any more, so any config that it has may stay. */
static inline void riscv_pmu_counter_note_unused(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	if (unlikely(!(hart->hw.holds & BIT_ULL(ctr))) &&
	    riscv_pmu_counter_is_programmed(&hart->counter[ctr]))
		hart->hw.holds |= BIT_ULL(ctr);
}

/* Detaches a stopped event from its counter, which keeps running. */
static inline void riscv_pmu_event_detach(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	/* The node is not used until the next attach, so it needs no poison. */
	__list_del_entry(&ev->node);
	hart->stats.detached++;
	if (likely(list_empty(&ev->counter->events))) {
		hart->wanted.sched.used &= ~BIT_ULL(ev->ctr);
		riscv_pmu_counter_note_unused(hart, ev->ctr);
	}
}

/* What an active event has counted since its last update, @now being its counter's count. */
static inline u64 riscv_pmu_event_take_delta(struct riscv_pmu_event *ev, u64 now)
{
	u64 delta = now - ev->prev_count;

	ev->prev_count = now;
	return delta;
}

/*
 * What an attached event has counted since the last call, or since it started. Of an event that is
 * not active, that is what it counted on counters from which it was moved or which have failed.
 * During an update, or while a group is read, the first read latches the counts of all direct
 * counters in use, so that later reads are as of the same instant.
 */
static inline u64 riscv_pmu_event_read_delta(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					     struct riscv_pmu_event *ev)
{
	u64 bit = BIT_ULL(ev->ctr), delta = ev->pending_delta;

	if (ev->state != RISCV_PMU_EVENT_ACTIVE) {
		ev->pending_delta = 0;
		return delta;
	}
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

/* Whether an event needs the overflow interrupt. */
static inline bool riscv_pmu_event_needs_irq(const struct riscv_pmu_event *ev)
{
	return (ev->flags & (RISCV_PMU_EV_SAMPLING | RISCV_PMU_EV_POLLED)) == RISCV_PMU_EV_SAMPLING;
}

/* Makes an attached event pending. @left: if it is sampling, events until its overflow point. */
static inline void riscv_pmu_event_start(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_event *ev, u64 left)
{
	ev->state = RISCV_PMU_EVENT_PENDING;
	hart->changed |= BIT_ULL(ev->ctr);
	if (!(ev->flags & RISCV_PMU_EV_SAMPLING))
		return;

	ev->period_left = left;
	if (ev->flags & RISCV_PMU_EV_POLLED) {
		riscv_pmu_event_restart_rate(ev);
		hart->poll.events++;
	} else {
		hart->irq.events++;
	}
}

/*
 * Stops an event whose delta was taken. Its counter keeps running; an overflow is ignored while no
 * event has an overflow point.
 */
static inline void riscv_pmu_event_stop(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (ev->flags & RISCV_PMU_EV_SAMPLING && ev->state != RISCV_PMU_EVENT_STOPPED) {
		if (ev->flags & RISCV_PMU_EV_POLLED)
			hart->poll.events--;
		else
			hart->irq.events--;
	}
	ev->state = RISCV_PMU_EVENT_STOPPED;
}

/* Stops an active event, whose delta was just taken, until the next apply. */
static inline void riscv_pmu_event_pause(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	ev->state = RISCV_PMU_EVENT_PENDING;
	ev->period_left = ev->overflow_point - ev->prev_count;
	hart->changed |= BIT_ULL(ev->ctr);
}

/* Whether a sampling event has reached its overflow point, @now being its counter's count. */
static inline bool riscv_pmu_event_has_overflowed(const struct riscv_pmu_event *ev, u64 now)
{
	return ev->flags & RISCV_PMU_EV_SAMPLING && ev->state == RISCV_PMU_EVENT_ACTIVE &&
	       (s64)(now - ev->overflow_point) >= 0;
}

/* Sets the next overflow point of an active or paused event, whose delta was just taken. */
static inline void riscv_pmu_event_rearm(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_event *ev, u64 left)
{
	ev->overflow_point = ev->prev_count + left;
	/* A paused event gets its overflow point from this in the next apply. */
	ev->period_left = left;
	if (riscv_pmu_event_needs_irq(ev)) {
		hart->changed |= BIT_ULL(ev->ctr);
		hart->hw.loaded &= ~BIT_ULL(ev->ctr);
	}
}

/*
 * Events until an event's overflow point, at least 1, the counter's count being up to date; U64_MAX
 * if the event is stopped or has no overflow point.
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

/* The least riscv_pmu_event_distance() of a counter's events. */
static __always_inline u64 riscv_pmu_counter_distance(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;
	u64 first = U64_MAX;

	list_for_each_entry(ev, &counter->events, node)
		first = min(first, riscv_pmu_event_distance(counter, ev));

	return first;
}

/*
 * Whether a counter, which was just read, overflows within @left events. One that is more than half
 * of its range away from its overflow has overflowed, or was not written for an overflow point.
 */
static __always_inline bool
riscv_pmu_counter_is_in_time(const struct riscv_pmu_counter *counter, u64 left)
{
	u64 until = -counter->raw & counter->mask;

	return until && until <= min(left, counter->mask >> 1);
}

/*
 * Whether a counter need not be written for an overflow point that is @left events away. If the
 * counter overflows earlier, its interrupt writes it, which costs more than the call saved here. So
 * accept only counters that overflow after at least half of the distance.
 */
static __always_inline bool riscv_pmu_counter_suits(const struct riscv_pmu_counter *counter,
						    u64 left)
{
	u64 until = -counter->raw & counter->mask;

	return riscv_pmu_counter_is_in_time(counter, left) &&
	       until >= min(left, counter->mask >> 1) / 2;
}

#endif /* _RISCV_PMU_COUNTER_H */
