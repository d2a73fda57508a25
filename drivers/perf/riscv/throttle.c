// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps samples from taking all of the hart's time: measures the interrupts, and gives events
 * whose periods are too short a minimum period.
 */

#include <linux/init.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/timex.h>

#include <asm/delay.h>

#include "update.h"

/* The longest minimum period. */
#define THROTTLE_MAX_PERIOD		BIT(30)

/*
 * In parts of a second: an interrupt that comes at least 50 us after the last one, and an event
 * whose last sample is at least 4 ms old, are not throttled.
 */
#define THROTTLE_IN_A_ROW		3
#define THROTTLE_CALM_HZ		20000
#define THROTTLE_APART_HZ		250

/* 1 / THROTTLE_CALM_HZ in ticks, and a tick in 1 / 2^10 ns: divisions are dear here. */
static u32 throttle_calm_ticks __ro_after_init;
static u32 throttle_tick_ns __ro_after_init;
#define THROTTLE_TICK_NS_SHIFT	10

/*
 * A few events whose long periods happen to end together are not throttled, however close
 * their interrupts are; many short periods are. So several consecutive interrupts have to be
 * too close, and an event is throttled if its last sample is no older than sixteen interrupts
 * take.
 */
static bool throttle_is_needed(const struct riscv_pmu_hart *hart,
			       const struct riscv_pmu_event *ev)
{
	if (likely(hart->stormy <= THROTTLE_IN_A_ROW))
		return false;

	return hart->irq_began - ev->last_sample <
	       min_t(u32, 2 * hart->irq_cost, riscv_timebase / THROTTLE_APART_HZ);
}

/**
 * riscv_pmu_throttle_event() - adapt the minimum period of an event that has overflowed
 * @hart:	this hart
 * @ev:	the event
 *
 * A period may be so short that the next interrupt arrives before anything else has run. Then the
 * minimum period of the event is doubled at each overflow, until the interrupted context gets
 * enough time, and is reduced by an eighth at each overflow after that. A sample stands for all
 * periods that end before it.
 *
 * Context: hard interrupt.
 */
void riscv_pmu_throttle_event(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	bool in_storm = throttle_is_needed(hart, ev);

	ev->last_sample = hart->irq_began;
	if (in_storm) {
		ev->min_period = min_t(u64, 2 * riscv_pmu_event_period_left(ev->event),
				       THROTTLE_MAX_PERIOD);
		hart->stats.extended++;
	} else if (ev->min_period) {
		ev->min_period -= DIV_ROUND_UP(ev->min_period, 8);
	}
}

static u64 throttle_ticks_to_ns(u32 ticks)
{
	return (u64)ticks * throttle_tick_ns >> THROTTLE_TICK_NS_SHIFT;
}

/**
 * riscv_pmu_throttle_begin_irq() - an interrupt that takes samples begins
 * @pmu:	the PMU
 * @hart:	this hart
 * @now:	its timer, in ticks
 * @in_user:	it has come in user mode
 *
 * It is too close if the last one ended less than three eighths of an interrupt's average
 * duration ago, or half of it if no firmware calls prolong the interrupt. About three quarters
 * of that time is spent on exit and entry, so that the interrupted context gets at least a
 * twentieth of the hart. In kernel mode this can be the softirqs at the end of the last
 * interrupt, which need as long again before they make progress, so the limit is twice as
 * long there. The limit is bounded, so that one very long interrupt does not make those after
 * it count as too close.
 */
void riscv_pmu_throttle_begin_irq(const struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u32 now,
				  bool in_user)
{
	u32 eighths = pmu->no_calls ? 4 : 3;
	u32 calm = eighths * hart->irq_cost >> (in_user ? 6 : 5);

	calm = min(calm, throttle_calm_ticks);
	hart->stormy = now - hart->irq_ended < calm ? hart->stormy + 1 : 0;
	hart->irq_began = now;
}

/**
 * riscv_pmu_throttle_end_irq() - an interrupt that takes samples ends
 * @hart:	this hart
 * @began:	its timer when it began, in ticks
 * @now:	its timer
 *
 * Return: how long it took, in ns.
 */
u64 riscv_pmu_throttle_end_irq(struct riscv_pmu_hart *hart, u32 began, u32 now)
{
	hart->irq_ended = now;
	hart->irq_cost += now - began - (hart->irq_cost >> 3);

	return throttle_ticks_to_ns(now - began);
}

/**
 * riscv_pmu_throttle_irq_cost_ns() - average duration of an interrupt that takes samples
 * @hart:	this hart
 *
 * Return: ns.
 */
u64 riscv_pmu_throttle_irq_cost_ns(const struct riscv_pmu_hart *hart)
{
	return throttle_ticks_to_ns(hart->irq_cost >> 3);
}

/**
 * riscv_pmu_throttle_init() - compute the constants that depend on the hart's timer
 */
void __init riscv_pmu_throttle_init(void)
{
	throttle_calm_ticks = riscv_timebase / THROTTLE_CALM_HZ;
	throttle_tick_ns = div64_ul((u64)NSEC_PER_SEC << THROTTLE_TICK_NS_SHIFT, riscv_timebase);
}
