// SPDX-License-Identifier: GPL-2.0
/*
 * Polling of counters that can not interrupt: a timer reads them to detect the wraps of narrow
 * ones and the ends of sampling periods. It runs only on harts that need it, and while they do.
 *
 * The timer is set for the time at which a period should end according to the event's recent
 * rate, and the first poll after the end takes the sample. Periods and counts are as exact as
 * with an interrupt; only the place that the sample shows is up to a tick late.
 */

#include <linux/hrtimer.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

#include <asm/irq_regs.h>

#include "counter.h"
#include "compat.h"
#include "internal.h"

/*
 * The highest rate of an event that is assumed: four instructions a cycle at 4 GHz. The
 * interval is half the time in which a counter then wraps, so that the timer may be late by
 * the other half: 134 ms for 32 bits.
 */
#define POLL_EVENTS_PER_NS	16

/* Counters of fewer than 25 bits exist in tests only: limit the interval to 1 ms. */
#define POLL_MIN_NS		NSEC_PER_MSEC

/*
 * The least interval at which ends of periods are polled, unless that would take an eighth of
 * the hart's time; and the greatest, so that a change of the rate is noticed.
 */
#define POLL_INTERVAL_MIN_NS	(50 * NSEC_PER_USEC)
#define POLL_INTERVAL_MAX_NS	(4 * NSEC_PER_MSEC)

#define POLL_NEVER		U64_MAX

static u64 poll_narrow_ctrs(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart)
{
	return pmu->poll_ctrs & hart->running & hart->wanted.sched.used;
}

/* The rest of this file is about active events that no interrupt samples. */
static bool poll_is_watched(const struct riscv_pmu_event *ev)
{
	return ev->polled && ev->state == RISCV_PMU_EVENT_ACTIVE;
}

/* Measures the event's rate since the last poll. If nothing was counted, halve the last rate. */
static void poll_note_rate(struct riscv_pmu_event *ev, u64 time, u64 now)
{
	u64 events = time - ev->polled_count, took = now - ev->polled_ns;
	u64 pace;

	if (!ev->polled_ns)
		goto out;
	/* The timer's ticks are too coarse for a shorter interval: measure at the next poll. */
	if (took < POLL_INTERVAL_MIN_NS / 2)
		return;
	if (events)
		pace = div64_u64(took * 1024, events);
	else
		pace = 2 * (u64)max(ev->rate, 1);
	ev->rate = min_t(u64, pace, U32_MAX);
out:
	ev->polled_ns = now;
	ev->polled_count = time;
}

/* Expected time until the end of an event's period, in ns. */
static u64 poll_until_due(const struct riscv_pmu_event *ev, u64 time)
{
	s64 left = ev->overflow_point - time;

	return left > 0 ? (min_t(u64, left, U32_MAX) * ev->rate) / 1024 : 0;
}

/* The least of them for the events of a counter; POLL_NEVER if none is polled. */
static u64 poll_clock_wait(struct riscv_pmu_counter *counter, u64 now)
{
	struct riscv_pmu_event *ev;
	u64 wait = POLL_NEVER;

	list_for_each_entry(ev, &counter->events, node) {
		if (!poll_is_watched(ev))
			continue;
		if (!ev->polled_ns)
			poll_note_rate(ev, counter->count, now);
		wait = min(wait, poll_until_due(ev, counter->count));
	}

	return wait;
}

static u64 poll_sampling_wait(struct riscv_pmu_hart *hart, u64 now)
{
	u64 least = clamp(8 * riscv_pmu_irq_cost_ns(hart), (u64)POLL_INTERVAL_MIN_NS,
			  (u64)POLL_INTERVAL_MAX_NS);
	u64 wait = POLL_NEVER;

	for (u64 ctrs = hart->polled; ctrs; ctrs &= ctrs - 1) {
		u64 until = poll_clock_wait(&hart->counter[__ffs64(ctrs)], now);

		if (until == POLL_NEVER)
			hart->polled &= ~(ctrs & -ctrs);
		wait = min(wait, until);
	}

	return wait == POLL_NEVER ? wait : clamp(wait, least, (u64)POLL_INTERVAL_MAX_NS);
}

/* Time until the next poll, in ns. */
static u64 poll_wait(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now)
{
	u64 wait = poll_narrow_ctrs(pmu, hart) ? pmu->poll_ns : POLL_NEVER;

	return min(wait, poll_sampling_wait(hart, now));
}

static void poll_hart(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
		      u64 now, struct pt_regs *regs)
{
	u64 time = riscv_pmu_counter_count(pmu, hart, ctr);
	struct riscv_pmu_event *ev, *next;

	list_for_each_entry_safe(ev, next, &hart->counter[ctr].events, node) {
		if (!poll_is_watched(ev))
			continue;
		poll_note_rate(ev, time, now);
		if (riscv_pmu_event_has_overflowed(ev, time))
			riscv_pmu_event_handle_overflow(pmu, hart, ev, regs);
	}
}

/**
 * riscv_pmu_hart_poll() - read all counters that have to be polled
 * @pmu:	the PMU
 * @hart:	this hart
 * @now:	the time, in ns of sched_clock()
 * @regs:	what was interrupted
 *
 * Context: hard interrupt.
 * Return: ns until the next poll, or 0 if none is necessary.
 */
u64 riscv_pmu_hart_poll(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now,
			struct pt_regs *regs)
{
	u64 wait;

	hart->stats.polls++;
	hart->in_poll = true;
	riscv_pmu_hart_update_counts(pmu, hart, poll_narrow_ctrs(pmu, hart));
	if (hart->polled) {
		hart->updating = true;
		for (u64 ctrs = hart->polled; ctrs; ctrs &= ctrs - 1)
			poll_hart(pmu, hart, __ffs64(ctrs), now, regs);
		riscv_pmu_commit_update(pmu, hart);
	}
	hart->in_poll = false;

	wait = poll_wait(pmu, hart, now);
	hart->poll_due = wait == POLL_NEVER ? 0 : now + wait;
	return wait == POLL_NEVER ? 0 : wait;
}

static enum hrtimer_restart poll_expired(struct hrtimer *timer)
{
	struct riscv_pmu_hart *hart = container_of(timer, struct riscv_pmu_hart, poll);
	struct riscv_pmu *pmu = hart->pmu;
	struct pt_regs *regs = get_irq_regs();
	u32 began = get_cycles();
	u64 wait;

	/* The hart is going offline, and its timers were migrated to this one. */
	if (hart != riscv_pmu_this_hart(pmu))
		return HRTIMER_NORESTART;

	riscv_pmu_irq_begin(pmu, hart, began, user_mode(regs));
	wait = riscv_pmu_hart_poll(pmu, hart, local_clock(), regs);
	riscv_pmu_irq_end(hart, began, get_cycles());
	if (!wait)
		return HRTIMER_NORESTART;

	/* Relative to now, not to the time at which it should have expired. */
	hrtimer_set_expires(timer, ktime_add_ns(hrtimer_cb_get_time(timer), wait));
	return HRTIMER_RESTART;
}

/**
 * riscv_pmu_poll_start() - set the polling timer, if it is necessary
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * The timer's handler does not set it again when nothing is left to poll.
 *
 * Context: interrupts off; the run queue's lock may be held.
 */
void riscv_pmu_poll_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 now = local_clock(), wait;

	/* While a system resumes no timer can be set; the next apply sets it. */
	if (hart->in_poll || timekeeping_suspended)
		return;

	wait = poll_wait(pmu, hart, now);
	if (wait == POLL_NEVER || (hart->poll_due && hart->poll_due <= now + wait))
		return;

	hart->poll_due = now + wait;
	hrtimer_start(&hart->poll, ns_to_ktime(wait), HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * riscv_pmu_poll_hart_start() - initialise a hart's polling timer
 * @hart:	a hart that comes up
 */
void riscv_pmu_poll_hart_start(struct riscv_pmu_hart *hart)
{
	hrtimer_setup(&hart->poll, poll_expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * riscv_pmu_poll_hart_stop() - cancel a hart's polling timer
 * @hart:	a hart that goes down; nothing is in use on it
 *
 * Context: interrupts off. If the handler runs on another hart, it returns at once, so this
 * hardly waits.
 */
void riscv_pmu_poll_hart_stop(struct riscv_pmu_hart *hart)
{
	hrtimer_cancel(&hart->poll);
}

static u64 poll_find_narrow(const struct riscv_pmu *pmu)
{
	u64 narrow = 0;

	for (u64 ctrs = pmu->ctrs; ctrs; ctrs &= ctrs - 1) {
		if (pmu->ctr[__ffs64(ctrs)].width < 64)
			narrow |= ctrs & -ctrs;
	}

	return narrow;
}

/**
 * riscv_pmu_poll_probe() - find the counters that have to be polled, and how often
 * @pmu:	the PMU, its counters and which of them interrupt known
 */
void riscv_pmu_poll_probe(struct riscv_pmu *pmu)
{
	u64 ctrs = pmu->ctrs & ~pmu->irq_ctrs;
	unsigned int width = riscv_pmu_min_width(pmu, ctrs);

	pmu->narrow_ctrs = poll_find_narrow(pmu);
	pmu->poll_ctrs = pmu->narrow_ctrs & ctrs;
	pmu->poll_ns = max_t(u64, BIT_ULL(width - 1) / POLL_EVENTS_PER_NS, POLL_MIN_NS);
}
