// SPDX-License-Identifier: GPL-2.0
/* Workarounds for bugs of QEMU's delegated counters; comments describe how they are detected. */

#include <linux/array_size.h>
#include <linux/cleanup.h>
#include <linux/irqflags.h>

#include "../csr.h"
#include "../event.h"
#include "ssccfg.h"

/* Whether a counter still counts an event after hpmevent was set to 0. */
static bool ssccfg_is_sticky(const struct riscv_pmu *pmu, unsigned int ctr, u64 selector)
{
	unsigned int hpm = riscv_pmu_ctr_to_hpm(pmu, ctr);
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_CTR + hpm);
	u64 before;
	bool sticky;

	riscv_pmu_csr_write_event(selector);
	riscv_pmu_csr_write_event(0);
	riscv_pmu_csr_uninhibit(BIT(hpm));
	before = riscv_pmu_csr_read_value();
	sticky = riscv_pmu_csr_read_value() != before;
	riscv_pmu_csr_inhibit(BIT(hpm));
	riscv_pmu_csr_select(select);

	return sticky;
}

/* Whether only the first of two counters that hold the same event counts it. */
static bool ssccfg_second_is_stopped(const struct riscv_pmu *pmu, u64 ctrs, u64 selector)
{
	unsigned int hpms[] = {
		riscv_pmu_ctr_to_hpm(pmu, __ffs64(ctrs)),
		riscv_pmu_ctr_to_hpm(pmu, fls64(ctrs) - 1),
	};
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_CTR);
	bool moves[ARRAY_SIZE(hpms)];
	int i;

	for (i = 0; i < ARRAY_SIZE(hpms); i++) {
		riscv_pmu_csr_select(PMU_ISELECT_CTR + hpms[i]);
		riscv_pmu_csr_write_event(selector);
	}
	riscv_pmu_csr_uninhibit(BIT(hpms[0]) | BIT(hpms[1]));
	for (i = 0; i < ARRAY_SIZE(hpms); i++) {
		u64 before;

		riscv_pmu_csr_select(PMU_ISELECT_CTR + hpms[i]);
		before = riscv_pmu_csr_read_value();
		moves[i] = riscv_pmu_csr_read_value() != before;
	}
	riscv_pmu_csr_inhibit(BIT(hpms[0]) | BIT(hpms[1]));
	for (i = 0; i < ARRAY_SIZE(hpms); i++) {
		riscv_pmu_csr_select(PMU_ISELECT_CTR + hpms[i]);
		riscv_pmu_csr_write_event(0);
	}
	riscv_pmu_csr_select(select);

	return moves[0] && !moves[1];
}

/**
 * riscv_pmu_ssccfg_find_quirks() - test for the duplicate and the sticky event of QEMU
 * @pmu:	the PMU, its events and counters known
 *
 * QEMU 10.0.2 counts an event on one counter only (duplicate event). It assigns the event to
 * another counter only after all bits of hpmevent were 0, which S-mode cannot achieve if M-mode is
 * excluded (sticky event). If a bug is found, each event is restricted to its home counter, which
 * no other event may use. QEMU's version cannot be read, so both bugs are tested for. That is done
 * on QEMU's machine only: a slow hardware counter gives the same result, and the workaround makes
 * counters unusable.
 *
 * Context: process.
 */
void riscv_pmu_ssccfg_find_quirks(struct riscv_pmu *pmu)
{
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	const struct ssccfg_event *cycles =
		riscv_pmu_ssccfg_find_event(ssccfg, RISCV_PMU_EVENT_CYCLES);
	u64 rest;

	ssccfg->raw_ctrs = ssccfg_programmable_ctrs(pmu);
	if (!pmu->is_qemu || !cycles || !cycles->home)
		return;

	rest = cycles->ctrs & ~cycles->home;
	guard(irqsave)();
	if (!ssccfg_is_sticky(pmu, __ffs64(cycles->home), cycles->selector.selector) &&
	    !(rest && ssccfg_second_is_stopped(pmu, cycles->home | (rest & -rest),
					       cycles->selector.selector)))
		return;

	for (unsigned int i = 0; i < ssccfg->nr_events; i++) {
		ssccfg->event[i].ctrs = ssccfg->event[i].home;
		ssccfg->raw_ctrs &= ~ssccfg->event[i].home;
	}
}
