// SPDX-License-Identifier: GPL-2.0
/*
 * When the timer next checks the polled events of a hart: at the time at which the first of their
 * periods should end, according to the events' recent rates.
 */

#include <linux/math64.h>
#include <linux/time64.h>

#include "poll_sample.h"
#include "throttle.h"

/*
 * Limits of the time until the next poll. The lower one is raised if polls would take more than 1/8
 * of the hart's time. The upper one has a change of the rate noticed.
 */
#define POLL_INTERVAL_MIN_NS	(50 * NSEC_PER_USEC)
#define POLL_INTERVAL_MAX_NS	(4 * NSEC_PER_MSEC)

/**
 * riscv_pmu_event_measure_rate() - measure an event's rate since the last poll
 * @ev:	a polled event
 * @count:	its counter's count
 * @now:	the time, in ns of sched_clock()
 *
 * If nothing was counted, the time per event is doubled.
 */
void riscv_pmu_event_measure_rate(struct riscv_pmu_event *ev, u64 count, u64 now)
{
	u64 events = count - ev->poll.count, took = now - ev->poll.ns;
	u64 rate;

	if (!ev->poll.ns)
		goto out;
	/* The timer's ticks are too coarse for a shorter interval: measure at the next poll. */
	if (took < POLL_INTERVAL_MIN_NS / 2)
		return;
	if (events)
		rate = div64_u64(took * 1024, events);
	else
		rate = 2 * (u64)max(ev->poll.rate, 1);
	ev->poll.rate = min_t(u64, rate, U32_MAX);
out:
	ev->poll.ns = now;
	ev->poll.count = count;
}

/* Expected time until the end of an event's period, in ns. */
static u64 poll_until_due(const struct riscv_pmu_event *ev, u64 count)
{
	s64 left = ev->overflow_point - count;

	return left > 0 ? (min_t(u64, left, U32_MAX) * ev->poll.rate) / 1024 : 0;
}

/* The least of them for the events of a counter; U64_MAX if none is polled. */
static u64 poll_counter_wait(struct riscv_pmu_counter *counter, u64 now)
{
	struct riscv_pmu_event *ev;
	u64 wait = U64_MAX;

	list_for_each_entry(ev, &counter->events, node) {
		if (!riscv_pmu_event_is_polled(ev))
			continue;
		if (!ev->poll.ns)
			riscv_pmu_event_measure_rate(ev, counter->count, now);
		wait = min(wait, poll_until_due(ev, counter->count));
	}

	return wait;
}

/* Time in ns until the timer has to check the polled events of a hart, or 0 if none is active */
u64 riscv_pmu_poll_sample_wait(const struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now)
{
	/* riscv_pmu_poll_start() relies on a timer that expires in at most poll_ns. */
	u64 most = min_t(u64, pmu->poll_ns, POLL_INTERVAL_MAX_NS);
	/* cost is in eighths of a tick. As ticks it is 8 averages: polls take 1/8 at most. */
	u64 least = clamp(riscv_pmu_throttle_ticks_to_ns(hart->throttle.cost),
			  (u64)POLL_INTERVAL_MIN_NS, most);
	u64 wait = U64_MAX;

	for_each_ctr(ctr, hart->wanted.sched.used)
		wait = min(wait, poll_counter_wait(&hart->counter[ctr], now));

	return wait == U64_MAX ? 0 : clamp(wait, least, most);
}
