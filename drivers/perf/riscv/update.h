/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of update.c, sample.c, group.c and unused.c; the count and the period of one event */
#ifndef _RISCV_PMU_UPDATE_H
#define _RISCV_PMU_UPDATE_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include "counter.h"
#include "pmu.h"
#include "split.h"

/* update.c */
void riscv_pmu_begin_update(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_commit_update(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_disable(struct pmu *p);
void riscv_pmu_enable(struct pmu *p);
u64 riscv_pmu_event_find_group_ctrs(const struct perf_event *event);
void riscv_pmu_event_update(struct perf_event *event);
void riscv_pmu_hart_stop_refused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
int riscv_pmu_event_find_ctr(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     struct riscv_pmu_event *ev);
struct riscv_pmu_event *riscv_pmu_event_new(struct perf_event *event,
					    const struct riscv_pmu_request *req);
u64 riscv_pmu_poll_clock(void);
u64 riscv_pmu_poll_wait(const struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now);
void riscv_pmu_poll_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

/* sample.c */
void riscv_pmu_event_handle_overflow(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				     struct riscv_pmu_event *ev, struct pt_regs *regs);
void riscv_pmu_event_pause_group(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				 struct riscv_pmu_event *ev);

/* group.c */
void riscv_pmu_start_txn(struct pmu *pmu, unsigned int flags);
int riscv_pmu_commit_txn(struct pmu *pmu);
void riscv_pmu_cancel_txn(struct pmu *pmu);
int riscv_pmu_group_validate(struct perf_event *event);

/* unused.c */
void riscv_pmu_event_opened(void);
void riscv_pmu_event_closed(void);

static inline struct riscv_pmu_event *to_riscv_pmu_event(const struct perf_event *event)
{
	return event->pmu_private;
}

/* Whether an event belongs to one of the driver's core PMUs */
static inline bool riscv_pmu_owns(const struct perf_event *event)
{
	return event->pmu->start_txn == riscv_pmu_start_txn;
}

/* Counters in use whose wraps only a poll detects */
static inline u64 riscv_pmu_poll_narrow_ctrs(const struct riscv_pmu *pmu,
					     const struct riscv_pmu_hart *hart)
{
	return pmu->poll_ctrs & hart->hw.running & hart->wanted.sched.used;
}

/*
 * Latches the counts of an event's group. If all counters in use are direct, they are latched
 * together, without a search for the group.
 */
static inline void riscv_pmu_event_latch(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					 const struct perf_event *event)
{
	u64 ctrs = 0;

	if (unlikely(hart->wanted.sched.used & ~pmu->direct_ctrs))
		ctrs = riscv_pmu_event_find_group_ctrs(event);
	riscv_pmu_hart_latch(pmu, hart, ctrs);
}

/* riscv_pmu_event_add_delta() for callers that know @ev->left: they save a load. */
static inline void __riscv_pmu_event_add_delta(struct perf_event *event,
					       struct riscv_pmu_event *ev, local64_t *left,
					       u64 delta)
{
	local64_add(delta, &event->count);
	if (!(ev->flags & RISCV_PMU_EV_SAMPLING))
		return;

	local64_sub(delta, left);
	ev->period_count += delta;
}

/* Adds @delta, which @ev has counted, to the perf event. @ev: of a split event, the part. */
static inline void riscv_pmu_event_add_delta(struct perf_event *event, struct riscv_pmu_event *ev,
					     u64 delta)
{
	__riscv_pmu_event_add_delta(event, ev, ev->left, delta);
}

/*
 * Events until a sampling event's next overflow point, its count being up to date: at least the
 * minimum period; 0 if there is none and the overflow point is reached.
 */
static inline u64 riscv_pmu_event_period_left(const struct riscv_pmu_event *ev)
{
	return max3((s64)local64_read(ev->left), (s64)ev->min_period, 0LL);
}

/* Whether a stopped event's period had ended: a period_left of 0 is no request for a new one. */
static inline bool riscv_pmu_event_is_at_overflow_point(const struct riscv_pmu_event *ev)
{
	return (s64)(ev->prev_count - ev->overflow_point) >= 0;
}

/*
 * Brings the count of an attached event up to date. Returns the delta that was added, without that
 * of the second part of a split event.
 */
static __always_inline u64 riscv_pmu_hart_update_event(struct riscv_pmu *pmu,
						       struct riscv_pmu_hart *hart,
						       struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	u64 delta;

	if (unlikely(hart->wanted.sched.used & ~pmu->direct_ctrs) && hart->latch_on_read &&
	    !(hart->latched & BIT_ULL(ev->ctr)) && event->group_leader->nr_siblings)
		riscv_pmu_event_latch(pmu, hart, event);
	delta = riscv_pmu_event_read_delta(pmu, hart, ev);
	riscv_pmu_event_add_delta(event, ev, delta);
	if (ev->flags & RISCV_PMU_EV_SAMPLING && unlikely(riscv_pmu_event_part(ev)))
		riscv_pmu_event_add_delta(event, riscv_pmu_event_part(ev),
					  riscv_pmu_event_read_delta(pmu, hart,
								     riscv_pmu_event_part(ev)));
	return delta;
}

/* At most S64_MAX: perf's core limits the periods of users, but not those of KVM's guests. */
static inline u64 riscv_pmu_event_period(const struct perf_event *event)
{
	return min_t(u64, event->hw.sample_period, S64_MAX);
}

/*
 * If a sampling event's period has ended, its count being up to date, begins the next one, and
 * returns true. What was counted beyond the end of the last period belongs to the next one. One
 * sample stands for all events since the last sample's period ended. last_period is their number,
 * also if several periods have ended or perf has changed the period, so that the periods of all
 * samples add up to the count.
 */
static inline bool riscv_pmu_event_set_period(struct riscv_pmu_event *ev)
{
	struct hw_perf_event *hwc = &ev->event->hw;
	s64 left = local64_read(ev->left);
	u64 over, period = riscv_pmu_event_period(ev->event);

	if (left > 0)
		return false;

	over = -(u64)left;
	if (unlikely(over >= period))
		div64_u64_rem(over, period, &over);
	local64_set(ev->left, period - over);
	hwc->last_period = ev->period_count - over;
	ev->period_count = over;
	return true;
}

#endif /* _RISCV_PMU_UPDATE_H */
