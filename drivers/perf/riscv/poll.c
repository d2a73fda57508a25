// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that are too narrow to be left alone and do not interrupt: a timer
 * reads them before they can wrap a second time unseen. It runs only on harts
 * and while they are counted with.
 */

#include <linux/hrtimer.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "internal.h"

/*
 * No event is taken to happen more often than this: four instructions a cycle
 * at 4 GHz. Half of the time that a counter of 2^n then takes to wrap is left
 * for the timer to be late: 134 ms for 32 bits.
 */
#define POLL_EVENTS_PER_NS	16

/* Narrower counters than 25 bits are for tests: a thousand interrupts a second will do. */
#define POLL_MIN_NS		NSEC_PER_MSEC

static u64 poll_ctrs_of(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart)
{
	return pmu->poll_ctrs & hart->running & hart->layout.sched.used;
}

/**
 * riscv_pmu_hart_poll() - fold the wraps of counters that do not tell of them
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Context: interrupts off.
 * Return: whether it has to be done again, &riscv_pmu.poll_ns from now.
 */
bool riscv_pmu_hart_poll(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 ctrs = poll_ctrs_of(pmu, hart);

	riscv_pmu_hart_advance(pmu, hart, ctrs);
	hart->polling = ctrs;
	return hart->polling;
}

static enum hrtimer_restart poll_expired(struct hrtimer *timer)
{
	struct riscv_pmu_hart *hart = container_of(timer, struct riscv_pmu_hart, poll);
	struct riscv_pmu *pmu = riscv_pmu_get();

	/* Its hart is going down, and its timers have moved to another. */
	if (hart != riscv_pmu_this_hart(pmu))
		return HRTIMER_NORESTART;
	if (!riscv_pmu_hart_poll(pmu, hart))
		return HRTIMER_NORESTART;

	hrtimer_forward_now(timer, ns_to_ktime(pmu->poll_ns));
	return HRTIMER_RESTART;
}

/**
 * riscv_pmu_poll_start() - see to it that narrow counters in use are polled
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * The timer ends by itself when they are in use no more.
 *
 * Context: interrupts off; the run queue's lock may be held.
 */
void riscv_pmu_poll_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (hart->polling || !poll_ctrs_of(pmu, hart))
		return;

	hart->polling = true;
	hrtimer_start(&hart->poll, ns_to_ktime(pmu->poll_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * riscv_pmu_poll_hart_start() - prepare a hart's timer
 * @hart:	a hart that comes up
 */
void riscv_pmu_poll_hart_start(struct riscv_pmu_hart *hart)
{
	hrtimer_init(&hart->poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hart->poll.function = poll_expired;
}

/**
 * riscv_pmu_poll_hart_stop() - a hart's timer must not expire any more
 * @hart:	a hart that goes down; nothing is in use on it
 *
 * Context: interrupts off. If the timer runs on another hart by now it ends
 * at once, so there is next to no waiting.
 */
void riscv_pmu_poll_hart_stop(struct riscv_pmu_hart *hart)
{
	hrtimer_cancel(&hart->poll);
}

/**
 * riscv_pmu_poll_probe() - find the counters that have to be polled, and how often
 * @pmu:	the PMU, its counters and which of them interrupt known
 */
void riscv_pmu_poll_probe(struct riscv_pmu *pmu)
{
	u64 ctrs = pmu->ctrs & ~pmu->irq_ctrs;
	unsigned int width = riscv_pmu_min_width(pmu, ctrs);

	pmu->poll_ctrs = riscv_pmu_narrow_ctrs(pmu, ctrs);
	pmu->poll_ns = max_t(u64, BIT_ULL(width - 1) / POLL_EVENTS_PER_NS, POLL_MIN_NS);
}
