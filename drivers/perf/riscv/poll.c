// SPDX-License-Identifier: GPL-2.0
/*
 * The polling timer: it reads narrow counters that cannot interrupt, so that no wrap is lost, and
 * checks the polled events (poll_sample.c). It runs only on harts that need it, and while they do.
 */

#include <linux/time64.h>
#include <linux/timex.h>

#include <asm/irq_regs.h>

#include "compat.h"
#include "entries.h"
#include "poll_sample.h"
#include "throttle.h"
#include "update.h"

/*
 * The highest rate of an event that is assumed: four instructions a cycle at 4 GHz. The
 * interval is half the time in which a counter then wraps, so that the timer may be late by
 * the other half: 134 ms for 32 bits.
 */
#define POLL_EVENTS_PER_NS	16

/* The interval is at least 1 ms: counters of fewer than 25 bits exist in tests only. */
#define POLL_MIN_NS		NSEC_PER_MSEC

/**
 * riscv_pmu_hart_poll() - read all counters that have to be polled, in a hard interrupt
 * @pmu:	the PMU
 * @hart:	this hart
 * @now:	the time, in ns of sched_clock()
 * @regs:	what was interrupted
 * Return: ns until the next poll, or 0 if none is necessary.
 */
u64 riscv_pmu_hart_poll(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now,
			struct pt_regs *regs)
{
	u64 wait;

	riscv_pmu_set_updating(hart, true);
	hart->stats.polls++;
	riscv_pmu_hart_update_counts(pmu, hart, riscv_pmu_poll_narrow_ctrs(pmu, hart));
	if (riscv_pmu_hart_has_polled(hart))
		riscv_pmu_poll_sample(pmu, hart, now, regs);
	else
		riscv_pmu_set_updating(hart, false);

	wait = riscv_pmu_poll_wait(pmu, hart, now);
	hart->poll.due = wait ? now + wait : 0;
	return wait;
}

static enum hrtimer_restart poll_expired(struct hrtimer *timer)
{
	struct riscv_pmu_hart *hart = container_of(timer, struct riscv_pmu_hart, poll.timer);
	struct riscv_pmu *pmu = hart->pmu;
	struct pt_regs *regs = get_irq_regs();
	u64 wait;

	/* The timer of a hart that is going offline: its timers were migrated to this one. */
	if (hart != riscv_pmu_this_hart(pmu))
		return HRTIMER_NORESTART;

	riscv_pmu_throttle_begin_irq(pmu, hart, get_cycles(), user_mode(regs));
	wait = riscv_pmu_hart_poll(pmu, hart, riscv_pmu_poll_clock(), regs);
	riscv_pmu_throttle_end_irq(hart, get_cycles());
	if (!wait)
		return HRTIMER_NORESTART;

	/* Relative to now, not to the time at which it should have expired. */
	hrtimer_set_expires(timer, ktime_add_ns(hrtimer_cb_get_time(timer), wait));
	return HRTIMER_RESTART;
}

/* Initialises the polling timer of a hart that comes up. */
void riscv_pmu_poll_hart_start(struct riscv_pmu_hart *hart)
{
	hrtimer_setup(&hart->poll.timer, poll_expired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* Finds the counters that have to be polled, and how often. */
void riscv_pmu_poll_probe(struct riscv_pmu *pmu)
{
	u64 ctrs = pmu->ctrs & ~pmu->irq_ctrs;
	unsigned int width = riscv_pmu_min_width(pmu, ctrs);

	for_each_ctr(ctr, pmu->ctrs) {
		if (pmu->ctr[ctr].width < 64)
			pmu->narrow_ctrs |= BIT_ULL(ctr);
	}
	pmu->poll_ctrs = pmu->narrow_ctrs & ctrs;
	pmu->poll_ns = max_t(u64, BIT_ULL(width - 1) / POLL_EVENTS_PER_NS, POLL_MIN_NS);
}
