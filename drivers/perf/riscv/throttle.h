/* SPDX-License-Identifier: GPL-2.0 */
/* Measures the interrupts that take samples, and extends periods if they take too much time. */
#ifndef _RISCV_PMU_THROTTLE_H
#define _RISCV_PMU_THROTTLE_H

#include <linux/minmax.h>

#include "update.h"

/* Consecutive interrupts that may be too early before events are throttled */
#define THROTTLE_MAX_TOO_EARLY	3

/* The length of a timer tick in units of 2^-10 ns, and 50 us in ticks: a division is slow. */
#define THROTTLE_TICK_NS_SHIFT	10
extern u32 riscv_pmu_throttle_tick_ns;
extern u32 riscv_pmu_throttle_max_gap;

void riscv_pmu_throttle_init(void);
u64 riscv_pmu_throttle_restart(struct riscv_pmu_event *ev);
void riscv_pmu_throttle_adapt(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev, u32 gap);

static inline u64 riscv_pmu_throttle_ticks_to_ns(u32 ticks)
{
	return (u64)ticks * riscv_pmu_throttle_tick_ns >> THROTTLE_TICK_NS_SHIFT;
}

/*
 * An interrupt is too early if the last one ended less than N/8 times the average handler time ago.
 * N = 3 with one firmware call per counter, 4 with one per batch, 6 with none. Entry and exit take
 * 2/8, 3/8 and 4/8 of it in these cases (Linux 7.2), so the interrupted context keeps at least 5 %
 * of the hart's time. In kernel mode N is doubled: the softirqs at the end of the last interrupt
 * may be what was interrupted.
 *
 * With NMIs, the limit is the time of entry and exit plus 1/8 of the average handler time. Entry
 * and exit are measured on each hart, because their time depends on the firmware. In kernel mode
 * the limit is doubled.
 */
static inline u32 riscv_pmu_throttle_gap(const struct riscv_pmu *pmu,
					 const struct riscv_pmu_hart *hart, bool in_user)
{
	u32 cost = hart->throttle.cost, gap;

	if (hart->irq.nmi)
		gap = hart->throttle.nmi_overhead + (cost >> 3);
	else
		gap = (3 + pmu->one_call + 2 * pmu->no_calls) * cost >> 3;

	/* gap is in eighths of a tick. */
	return gap >> (in_user ? 3 : 2);
}

/*
 * An interrupt that may take samples begins, @now in ticks. It is not too early 50 us or more after
 * the last one, which may have been very long.
 */
static inline void riscv_pmu_throttle_begin_irq(const struct riscv_pmu *pmu,
						struct riscv_pmu_hart *hart, u32 now, bool in_user)
{
	struct riscv_pmu_hart_throttle *throttle = &hart->throttle;
	u32 elapsed = now - throttle->ended;
	u32 before = throttle->began;

	throttle->began = now;
	/* The limit is at most a quarter of this sum: most interrupts need not compute it. */
	if (likely(elapsed >= (throttle->cost + throttle->nmi_overhead) >> 2 ||
		   elapsed >= riscv_pmu_throttle_max_gap ||
		   elapsed >= riscv_pmu_throttle_gap(pmu, hart, in_user)))
		throttle->too_early = 0;
	else if (!throttle->too_early++)
		throttle->too_early_since = before;
}

/* An interrupt that may take samples ends. Returns its duration in ns. */
static inline u64 riscv_pmu_throttle_end_irq(struct riscv_pmu_hart *hart, u32 now)
{
	struct riscv_pmu_hart_throttle *throttle = &hart->throttle;
	u32 ticks = now - throttle->began;

	throttle->ended = now;
	throttle->cost += ticks - (throttle->cost >> 3);
	return riscv_pmu_throttle_ticks_to_ns(ticks);
}

/* Adapts the minimum period of an event that takes a sample. */
static inline void riscv_pmu_throttle_event(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	u32 gap = hart->throttle.began - ev->last_sample;

	ev->last_sample = hart->throttle.began;
	if (unlikely(ev->min_period || hart->throttle.too_early > THROTTLE_MAX_TOO_EARLY))
		riscv_pmu_throttle_adapt(hart, ev, gap);
}

/*
 * Events until the overflow point of an event that starts. A period_left of 0 is perf's request for
 * a new period, unless the event has counted to the end of its period. If it has, or if period_left
 * is negative because the period ended while interrupts were off, the sample is due at once.
 */
static inline u64 riscv_pmu_throttle_start(struct riscv_pmu_event *ev)
{
	s64 left = local64_read(ev->left);

	if (unlikely(!left) && !riscv_pmu_event_is_at_overflow_point(ev)) {
		left = riscv_pmu_event_period(ev->event);
		local64_set(ev->left, left);
		ev->min_period = 0;
	}

	return likely(left >= (s64)ev->min_period) ? left : riscv_pmu_throttle_restart(ev);
}

#endif /* _RISCV_PMU_THROTTLE_H */
