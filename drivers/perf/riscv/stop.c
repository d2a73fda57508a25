// SPDX-License-Identifier: GPL-2.0
/*
 * Pauses counters of this hart until the next apply, stops unused ones, and releases their configs.
 * Interrupts are off.
 */

#include "apply.h"
#include "counter.h"

/**
 * riscv_pmu_hart_pause() - stop the counts now, and the counters no later than in the next apply
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

	riscv_pmu_counter_update(pmu, &hart->counter[__ffs64(ctrs)], __ffs64(ctrs));
	if (ctrs & (ctrs - 1))
		riscv_pmu_hart_update_counts(pmu, hart, ctrs & (ctrs - 1));
	hart->hw.running &= ~ctrs;
	hart->hw.loaded &= ~ctrs;
	hart->batch.stop |= ctrs;
	hart->changed |= ctrs;
}

/**
 * riscv_pmu_hart_resume_idle() - let paused counters run on whose events are all stopped
 * @hart:	this hart
 *
 * This saves the call that would stop them. Their overflow flags stay set, so that they do not
 * interrupt. The next event has them written.
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
 * riscv_pmu_hart_stop_unused() - stop the running counters that no event uses
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * They run on in case another event comes soon. One that stays unused wastes power, and may raise
 * interrupts that cannot be masked.
 */
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 ctrs = riscv_pmu_hart_unused(pmu, hart);

	if (!ctrs)
		return;

	riscv_pmu_hart_pause(pmu, hart, ctrs);
	hart->hw.armed &= ~ctrs;
	hart->changed &= ~ctrs;
	riscv_pmu_batch_apply(pmu, hart);
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
 * @ctrs:	counters without active events; they are not read: that traps in a KVM guest
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
 * riscv_pmu_hart_release_unused() - release the configs of unused counters
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that a backend wants to try
 */
void riscv_pmu_hart_release_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	riscv_pmu_hart_release(hart, ctrs & hart->hw.holds & ~hart->wanted.sched.used);
	if (hart->batch.release)
		riscv_pmu_batch_apply(pmu, hart);
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
