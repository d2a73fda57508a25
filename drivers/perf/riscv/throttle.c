// SPDX-License-Identifier: GPL-2.0
/*
 * The minimum period of events that would take samples too often. perf's own limits
 * (kernel.perf_event_max_sample_rate, kernel.perf_cpu_time_max_percent) usually throttle an event
 * first. This limit is needed if a user has raised them, and for periods so short that the next
 * interrupt arrives before any other code has run.
 */

#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/timex.h>

#include <asm/delay.h>

#include "throttle.h"
#include "update.h"

/* The longest minimum period. */
#define THROTTLE_MAX_PERIOD	BIT(30)

/* Gaps of 50 us between interrupts and of 4 ms between samples are not too short. */
#define THROTTLE_MAX_IRQ_HZ	20000
#define THROTTLE_MIN_SAMPLE_HZ	250

u32 riscv_pmu_throttle_tick_ns __ro_after_init;
u32 riscv_pmu_throttle_max_gap __ro_after_init;

/*
 * An event is throttled if all of this holds:
 *
 * - More than THROTTLE_MAX_TOO_EARLY interrupts in a row were too early. A few long periods that
 *   happen to end together are not throttled.
 * - Its last sample is less than 4 ms old.
 * - That sample is less than 16 average interrupts old, or all interrupts since were too early: the
 *   latter is for more than 16 events whose periods end one after another.
 *
 * Only differences of times are compared, since the clock may wrap.
 */
static bool throttle_is_needed(const struct riscv_pmu_hart *hart, u32 gap)
{
	const struct riscv_pmu_hart_throttle *throttle = &hart->throttle;

	return throttle->too_early > THROTTLE_MAX_TOO_EARLY &&
	       gap < riscv_timebase / THROTTLE_MIN_SAMPLE_HZ &&
	       (gap < 2 * throttle->cost || gap <= throttle->began - throttle->too_early_since);
}

/**
 * riscv_pmu_throttle_adapt() - extend or reduce the minimum period of an event
 * @hart:	this hart
 * @ev:	an event that takes a sample
 * @gap:	time since its last sample, in ticks
 *
 * Doubles the distance to the overflow point until the interrupted context gets enough time. A
 * sample that is not too early reduces the minimum period by 1/8.
 */
void riscv_pmu_throttle_adapt(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev, u32 gap)
{
	if (throttle_is_needed(hart, gap)) {
		ev->min_period = min_t(u64, 2 * riscv_pmu_event_period_left(ev),
				       THROTTLE_MAX_PERIOD);
		hart->stats.extended++;
	} else if (ev->min_period) {
		ev->min_period -= DIV_ROUND_UP(ev->min_period, 8);
	}
}

/**
 * riscv_pmu_throttle_restart() - apply the minimum period to an event that starts
 * @ev:		a sampling event; its minimum period ends 4 ms after its last sample
 * Return: events until its overflow point, at least 0.
 */
u64 riscv_pmu_throttle_restart(struct riscv_pmu_event *ev)
{
	u32 max_sample_gap = riscv_timebase / THROTTLE_MIN_SAMPLE_HZ;

	if (ev->min_period && (u32)get_cycles() - ev->last_sample >= max_sample_gap)
		ev->min_period = 0;

	return riscv_pmu_event_period_left(ev);
}

/* Computes the constants that depend on the harts' timer. */
void __init riscv_pmu_throttle_init(void)
{
	riscv_pmu_throttle_max_gap = riscv_timebase / THROTTLE_MAX_IRQ_HZ;
	riscv_pmu_throttle_tick_ns = div64_ul((u64)NSEC_PER_SEC << THROTTLE_TICK_NS_SHIFT,
					      riscv_timebase);
}
