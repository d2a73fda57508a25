// SPDX-License-Identifier: GPL-2.0
/*
 * Stops counters, pauses them until the next apply, releases their configs.
 *
 * Everything here runs on the hart that it is about, with interrupts off.
 */

#include <linux/bitops.h>

#include "apply.h"
#include "batch.h"
#include "counter.h"

/**
 * riscv_pmu_hart_note_stopped() - read counters that were just stopped
 * @pmu:	the PMU
 * @hart:	this hart
 * @stopped:	the counters; those that did not run are ignored
 */
void riscv_pmu_hart_note_stopped(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 stopped)
{
	riscv_pmu_hart_update_counts(pmu, hart, stopped & hart->hw.running);
	hart->hw.running &= ~stopped;
}

/**
 * riscv_pmu_hart_note_released() - note that configs are about to be released
 * @hart:	this hart
 * @released:	counters that no event uses
 *
 * A counter without a config is not read at all: that traps in a KVM guest.
 */
void riscv_pmu_hart_note_released(struct riscv_pmu_hart *hart, u64 released)
{
	if (!released)
		return;

	hart->hw.running &= ~released;
	hart->hw.armed &= ~released;
	hart->hw.paused &= ~released;
	hart->hw.programmed &= ~released;
	hart->stats.evicted += hweight64(released);
	for_each_ctr(ctr, released)
		riscv_pmu_counter_invalidate(hart, ctr);
}

/**
 * riscv_pmu_batch_stop_now() - apply the stops and releases of a batch, and update the state
 * @pmu:	the PMU
 * @hart:	this hart, its batch begun
 */
void riscv_pmu_batch_stop_now(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	riscv_pmu_batch_apply(pmu, hart);
	riscv_pmu_hart_note_stopped(pmu, hart, batch->stop);
	riscv_pmu_hart_note_released(hart, batch->release);
	riscv_pmu_batch_clear(batch);
}

/**
 * riscv_pmu_hart_unused() - running counters that no event uses
 * @pmu:	the PMU
 * @hart:	any hart
 *
 * A firmware counter costs nothing while it runs, so it is not included.
 *
 * Context: any; of another hart, the answer may be out of date.
 * Return: the counters, for riscv_pmu_hart_stop_unused().
 */
u64 riscv_pmu_hart_unused(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart)
{
	return READ_ONCE(hart->hw.running) & ~READ_ONCE(hart->wanted.sched.used) &
	       ~(pmu->fw_ctrs | pmu->free_running_ctrs);
}

/**
 * riscv_pmu_hart_stop_unused() - stop the running counters that no event uses
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Counters keep running when their last event is removed, in case another event comes soon.
 * A counter that stays unused wastes power, and may raise interrupts that cannot be masked.
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	struct riscv_pmu_batch *batch = &hart->batch;
	u64 ctrs = riscv_pmu_hart_unused(pmu, hart);

	if (!ctrs)
		return;

	riscv_pmu_batch_clear(batch);
	batch->stop = ctrs;
	riscv_pmu_batch_stop_now(pmu, hart);
	hart->dirty &= ~ctrs;
	hart->hw.armed &= ~ctrs;
	/*
	 * Fixed counters that cannot be stopped keep running, so they are read before their next
	 * use. Narrow counters are written before it, because they may have overflowed: a delegated
	 * counter does not interrupt while its overflow flag is set (Sscofpmf), and the flag is
	 * cleared only when the counter is written. With riscv_pmu.width= the hardware is wider,
	 * and may be far from an overflow.
	 */
	hart->hw.loaded &= ~(ctrs & (pmu->fixed_ctrs | pmu->narrow_ctrs | pmu->clamped_ctrs));
}

/**
 * riscv_pmu_hart_pause() - stop the counts now, and the counters no later than in the next apply
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that run
 *
 * The hardware runs on until the apply: the other members of its group would count a call that
 * stops it. What it counts until then is discarded, since a counter that continues is written.
 */
void riscv_pmu_hart_pause(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	if (!ctrs)
		return;

	/* Most overflows are of one counter. */
	riscv_pmu_counter_update(pmu, &hart->counter[__ffs64(ctrs)], __ffs64(ctrs));
	if (ctrs & (ctrs - 1))
		riscv_pmu_hart_update_counts(pmu, hart, ctrs & (ctrs - 1));
	hart->hw.running &= ~ctrs;
	hart->hw.loaded &= ~ctrs;
	hart->hw.paused |= ctrs;
	hart->dirty |= ctrs;
}

/**
 * riscv_pmu_hart_resume_unused() - let paused counters without active events run on
 * @pmu:	the PMU
 * @hart:	this hart, the hardware of these counters running
 *
 * This saves the call that would stop them. Their overflow flags stay set, so that they do not
 * interrupt; the next event that needs an overflow has them written. Narrow ones, whose
 * overflows extend the count, stay armed: the next apply that finds them dirty stops them.
 */
void riscv_pmu_hart_resume_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	for_each_ctr(ctr, hart->hw.paused) {
		const struct riscv_pmu_event *ev;
		u64 bit = BIT_ULL(ctr);
		bool wanted = false;

		list_for_each_entry(ev, &hart->counter[ctr].events, node)
			wanted |= ev->state != RISCV_PMU_EVENT_STOPPED;
		if (wanted)
			continue;
		hart->hw.paused &= ~bit;
		hart->dirty &= ~bit;
		hart->hw.armed &= ~(bit & ~pmu->narrow_ctrs);
		hart->hw.running |= bit;
		hart->hw.loaded |= bit;
	}
}

/**
 * riscv_pmu_hart_clear_overflows() - pause counters whose overflow flag is set
 * @pmu:	the PMU
 * @hart:	this hart, about to apply
 *
 * They overflowed while the interrupt was masked. As long as the flag is set, a counter does not
 * interrupt; the next apply writes it, which clears the flag.
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_clear_overflows(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	riscv_pmu_hart_pause(pmu, hart, pmu->ops.overflowed(pmu, hart->hw.running & pmu->irq_ctrs));
}

/**
 * riscv_pmu_hart_release_unused() - release the configs of unused counters
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that a backend wants to try
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_release_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	u64 idle = ctrs & hart->hw.programmed & ~hart->wanted.sched.used;

	if (!idle)
		return;

	riscv_pmu_batch_clear(&hart->batch);
	hart->batch.release = idle;
	riscv_pmu_batch_stop_now(pmu, hart);
}

/**
 * riscv_pmu_hart_save() - note all counts before the hardware loses them
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * The next apply programs and starts everything again.
 */
void riscv_pmu_hart_save(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	riscv_pmu_hart_note_stopped(pmu, hart, hart->hw.running);
	for_each_ctr(ctr, hart->hw.programmed)
		riscv_pmu_counter_invalidate(hart, ctr);

	hart->hw.programmed = 0;
	hart->hw.armed = 0;
	hart->hw.paused = 0;
	hart->stale = hart->wanted.sched.used;
	hart->dirty |= hart->wanted.sched.used;
}

/**
 * riscv_pmu_hart_init_counters() - bring a hart's counters to a known state after it has slept
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_init_counters(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (likely(!hart->needs_start))
		return;

	hart->needs_start = false;
	pmu->ops.hart_start(pmu);
}
