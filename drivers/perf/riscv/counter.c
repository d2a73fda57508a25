// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of one hart: their 64-bit counts, the overflow points of their events, and which of
 * them the next apply visits, stops or releases. Nothing here changes the hardware.
 * Everything here runs on the hart that it is about, with interrupts off.
 */

#include <linux/string.h>

#include "branch/branch.h"
#include "counter.h"

/**
 * riscv_pmu_hart_reset() - initialise a hart's state: no config, no event
 * @pmu:	the PMU, its counters known
 * @hart:	the hart; its gen goes on, so that events from before it went offline do not return
 *		to their counters
 */
void riscv_pmu_hart_reset(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 gen = hart->gen;

	memset(hart, 0, sizeof(*hart));
	hart->pmu = pmu;
	hart->gen = gen;
	riscv_pmu_branch_hart_reset(hart);
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++) {
		struct riscv_pmu_counter *counter = &hart->counter[ctr];

		INIT_LIST_HEAD(&counter->events);
		counter->mask = pmu->ctrs & BIT_ULL(ctr) ? riscv_pmu_ctr_mask(pmu, ctr) : 0;
		riscv_pmu_counter_invalidate(hart, ctr);
	}
}

/**
 * riscv_pmu_hart_find_expected() - find the counters that have an overflow point, disarm the others
 * @hart:	this hart
 * @overflowed:	armed counters that have overflowed
 * Return: those of @overflowed that have an overflow point.
 */
u64 riscv_pmu_hart_find_expected(struct riscv_pmu_hart *hart, u64 overflowed)
{
	const struct riscv_pmu_event *ev;
	u64 awaited = 0;

	for_each_ctr(ctr, overflowed) {
		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (riscv_pmu_event_needs_irq(ev) && ev->state != RISCV_PMU_EVENT_STOPPED) {
				awaited |= BIT_ULL(ctr);
				break;
			}
		}
	}

	hart->hw.armed ^= overflowed ^ awaited;
	return awaited;
}

/* Brings the counts of running counters up to date. */
void riscv_pmu_hart_update_counts(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	for_each_ctr(ctr, ctrs)
		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
}

/**
 * riscv_pmu_hart_find_missed() - find armed counters that have overflowed without a flag
 * @pmu:	the PMU
 * @hart:	this hart
 * Return: armed counters that will not overflow in time for their overflow point.
 */
u64 riscv_pmu_hart_find_missed(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 missed = 0;

	for_each_ctr(ctr, hart->hw.armed & hart->hw.running) {
		struct riscv_pmu_counter *counter = &hart->counter[ctr];
		u64 left;

		riscv_pmu_counter_update(pmu, counter, ctr);
		left = riscv_pmu_counter_distance(counter);
		if (left != U64_MAX && !riscv_pmu_counter_is_in_time(counter, left))
			missed |= BIT_ULL(ctr);
	}

	return missed;
}

/**
 * riscv_pmu_hart_latch() - latch the counts of counters
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	the counters; those that are latched already are ignored
 *
 * Until &riscv_pmu_hart.latched is cleared, every event that is read, stopped or started uses
 * these counts, so that the members of a group have run equally long. The counters run on. All
 * other counters in use are latched as well, except those whose reads take a firmware call or an
 * exit of a guest: what others have opened must not cost this event.
 */
void riscv_pmu_hart_latch(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	ctrs = (ctrs | (hart->wanted.sched.used & pmu->direct_ctrs)) & ~hart->latched;
	hart->latched |= ctrs;
	for_each_ctr(ctr, ctrs & hart->hw.running)
		riscv_pmu_counter_update(pmu, &hart->counter[ctr], ctr);
}

/**
 * riscv_pmu_hart_pause() - stop the counts now; the next apply stops the counters
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that run
 *
 * The hardware runs on until the apply, because the other members of a group would count the call
 * that stops a counter. The apply writes these counters, so what they count until then is lost.
 */
void riscv_pmu_hart_pause(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	if (!ctrs)
		return;

	hart->hw.running &= ~ctrs;
	hart->hw.loaded &= ~ctrs;
	hart->batch.stop |= ctrs;
	hart->changed |= ctrs;
	/* Last: what comes between this and a latch is counted by the other members of a group. */
	if (ctrs & (ctrs - 1))
		riscv_pmu_hart_update_counts(pmu, hart, ctrs & (ctrs - 1));
	riscv_pmu_counter_update(pmu, &hart->counter[__ffs64(ctrs)], __ffs64(ctrs));
}

/**
 * riscv_pmu_hart_resume_idle() - let those paused counters run on whose events are all stopped
 * @hart:	this hart
 *
 * This saves the call that would stop them. Their overflow flags stay set, so that they do not
 * interrupt. They are written when an event next uses them.
 */
void riscv_pmu_hart_resume_idle(struct riscv_pmu_hart *hart)
{
	u64 idle = hart->batch.stop;

	for_each_ctr(ctr, idle) {
		const struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (ev->state != RISCV_PMU_EVENT_STOPPED)
				idle &= ~BIT_ULL(ctr);
		}
	}
	hart->batch.stop &= ~idle;
	hart->changed &= ~idle;
	hart->hw.armed &= ~idle;
	hart->hw.running |= idle;
}

/**
 * riscv_pmu_hart_forget_configs() - note that counters hold no config any more, and do not run
 * @hart:	this hart
 * @ctrs:	the counters
 */
void riscv_pmu_hart_forget_configs(struct riscv_pmu_hart *hart, u64 ctrs)
{
	hart->hw.holds &= ~ctrs;
	hart->hw.running &= ~ctrs;
	hart->hw.armed &= ~ctrs;
	hart->batch.stop &= ~ctrs;
	for_each_ctr(ctr, ctrs) {
		hart->counter[ctr].cfg = (struct riscv_pmu_config) {};
		riscv_pmu_counter_invalidate(hart, ctr);
	}
}

/**
 * riscv_pmu_hart_release() - add the configs that counters hold to the batch, to be removed
 * @hart:	this hart
 * @ctrs:	counters without active events; not read: unconfigured ones trap in a KVM guest
 */
void riscv_pmu_hart_release(struct riscv_pmu_hart *hart, u64 ctrs)
{
	for_each_ctr(ctr, ctrs) {
		if (riscv_pmu_counter_is_programmed(&hart->counter[ctr])) {
			hart->batch.release |= BIT_ULL(ctr);
			hart->stats.evicted++;
		}
	}
	riscv_pmu_hart_forget_configs(hart, ctrs);
}

/**
 * riscv_pmu_hart_save() - note all counts before the hardware loses them
 * @pmu:	the PMU
 * @hart:	this hart; the next apply programs and starts everything again
 */
void riscv_pmu_hart_save(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	riscv_pmu_hart_update_counts(pmu, hart, hart->hw.running);
	riscv_pmu_hart_forget_configs(hart, hart->hw.holds | hart->wanted.sched.used);
	hart->changed |= hart->wanted.sched.used;
}
