// SPDX-License-Identifier: GPL-2.0
/*
 * Sampling without an overflow interrupt: the polling timer checks the overflow points, and the
 * first poll after the end of a period takes the sample. Periods and counts are as exact as with an
 * interrupt; only the instruction pointer of the sample is late, by 4 ms at most.
 */

#include <linux/moduleparam.h>

#include "poll_sample.h"
#include "update.h"

static bool polled_sampling_param = true;
module_param_named(polled_sampling, polled_sampling_param, bool, 0444);
MODULE_PARM_DESC(polled_sampling, "sample by timer if no counter interrupts: 1 (default) or 0");

/* Whether events that no counter can interrupt for may be opened for sampling */
bool __init riscv_pmu_poll_is_wanted(void)
{
	return polled_sampling_param;
}

static void poll_counter(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, unsigned int ctr,
			 u64 now, struct pt_regs *regs)
{
	struct riscv_pmu_event *ev, *next;
	bool is_read = false;
	u64 count = 0;

	list_for_each_entry_safe(ev, next, &hart->counter[ctr].events, node) {
		if (!riscv_pmu_event_is_polled(ev))
			continue;
		if (!is_read)
			count = riscv_pmu_counter_count(pmu, hart, ctr);
		is_read = true;
		riscv_pmu_event_measure_rate(ev, count, now);
		if (riscv_pmu_event_has_overflowed(ev, count))
			riscv_pmu_event_handle_overflow(pmu, hart, ev, regs);
	}
}

/* Takes the samples that are due, in a hard interrupt and an update that ends here. */
void riscv_pmu_poll_sample(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now,
			   struct pt_regs *regs)
{
	hart->poll.active = true;
	for_each_ctr(ctr, hart->wanted.sched.used)
		poll_counter(pmu, hart, ctr, now, regs);
	riscv_pmu_commit_update(pmu, hart);
	hart->poll.active = false;
}
