// SPDX-License-Identifier: GPL-2.0
/*
 * The delegated counters of a hart that goes online or offline. Each counter is "claimed": the
 * firmware is asked once to configure it without M-mode, because only M-mode can set that filter.
 */

#include <linux/percpu.h>

#include "../csr.h"
#include "../event.h"
#include "../sbi/call.h"
#include "ssccfg.h"

DEFINE_PER_CPU(struct ssccfg_hart, riscv_pmu_ssccfg_hart);
DEFINE_PER_CPU(u64 [RISCV_MAX_COUNTERS], riscv_pmu_ssccfg_written);

/*
 * S-mode can neither read nor write the bit that excludes M-mode from a counter (Smcdeleg). The
 * firmware sets it when it configures the counter, so it is asked to do that once. It then takes
 * the counter for configured, and does not use it for anything else. After a non-retentive idle
 * state it still does, though the hardware has lost the bit: so the counter is reset first.
 */
static void ssccfg_claim_ctr(const struct riscv_pmu *pmu, unsigned int ctr, u32 event_idx)
{
	struct ssccfg_hart *hart = this_cpu_ptr(&riscv_pmu_ssccfg_hart);
	unsigned long select;

	riscv_pmu_sbi_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET);
	if (riscv_pmu_sbi_cfg_match(BIT_ULL(ctr), SBI_PMU_CFG_FLAG_SET_MINH, event_idx, 0) < 0)
		return;

	hart->claimed |= BIT_ULL(ctr);
	if (!ssccfg_has_event(pmu, ctr))
		return;
	select = riscv_pmu_csr_select(PMU_ISELECT_CTR + riscv_pmu_ctr_to_hpm(pmu, ctr));
	riscv_pmu_csr_write_event(0);
	riscv_pmu_csr_select(select);
}

/*
 * Claims the home of the counter's event first: with QEMU's duplicate event, only the first
 * counter that is configured for an event counts it.
 */
static void ssccfg_claim_programmable(const struct riscv_pmu *pmu, unsigned int ctr)
{
	const struct ssccfg_event *event = riscv_pmu_ssccfg_event_of(to_ssccfg(pmu), BIT_ULL(ctr));

	if (!event)
		return;
	if (event->home && !(event->home & this_cpu_read(riscv_pmu_ssccfg_hart.claimed)))
		ssccfg_claim_ctr(pmu, __ffs64(event->home), event->selector.event_idx);
	if (!(BIT_ULL(ctr) & this_cpu_read(riscv_pmu_ssccfg_hart.claimed)))
		ssccfg_claim_ctr(pmu, ctr, event->selector.event_idx);
}

static void ssccfg_claim_fixed(const struct riscv_pmu *pmu, unsigned int ctr)
{
	ssccfg_claim_ctr(pmu, ctr, riscv_pmu_fixed_event(riscv_pmu_ctr_to_hpm(pmu, ctr)));
}

/**
 * riscv_pmu_ssccfg_claim() - have the firmware configure counters without M-mode
 * @pmu:	the PMU
 * @ctrs:	counters of this hart that have not been claimed yet
 *
 * Context: interrupts off.
 */
void riscv_pmu_ssccfg_claim(const struct riscv_pmu *pmu, u64 ctrs)
{
	for_each_ctr(ctr, ctrs & to_ssccfg(pmu)->sbi_hw_ctrs) {
		if (pmu->fixed_ctrs & BIT_ULL(ctr))
			ssccfg_claim_fixed(pmu, ctr);
		else
			ssccfg_claim_programmable(pmu, ctr);
	}
}

static void ssccfg_clear(const struct riscv_pmu *pmu)
{
	u64 *written = *this_cpu_ptr(&riscv_pmu_ssccfg_written);
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_CTR);

	riscv_pmu_csr_inhibit(ssccfg_ctrs_to_hpms(pmu, ssccfg_hw_ctrs(pmu)));
	for_each_ctr(ctr, ssccfg_hw_ctrs(pmu)) {
		written[ctr] = 0;
		if (!ssccfg_has_event(pmu, ctr))
			continue;
		riscv_pmu_csr_select(PMU_ISELECT_CTR + riscv_pmu_ctr_to_hpm(pmu, ctr));
		riscv_pmu_csr_write_event(0);
	}
	riscv_pmu_csr_select(select);
	if (pmu->hwirq)
		riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
}

/**
 * riscv_pmu_ssccfg_start() - stop and claim all counters of this hart
 * @pmu:	the PMU
 *
 * The firmware or an earlier kernel may have left counters running. A counter that the firmware
 * refuses to configure is not claimed again.
 *
 * Context: interrupts off.
 * Return: the counters for which the firmware excludes M-mode.
 */
u64 riscv_pmu_ssccfg_start(struct riscv_pmu *pmu)
{
	struct ssccfg_hart *hart = this_cpu_ptr(&riscv_pmu_ssccfg_hart);
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	u64 claimed = 0;

	hart->claimed = 0;
	hart->fw_asleep = false;
	if (ssccfg->sbi.ctrs)
		ssccfg->sbi.ops.hart_start(&ssccfg->sbi);
	if (ssccfg->sbi_hw_ctrs) {
		riscv_pmu_sbi_stop(ssccfg->sbi_hw_ctrs, SBI_PMU_STOP_FLAG_RESET);
		riscv_pmu_ssccfg_claim(pmu, ssccfg_hw_ctrs(pmu));
		claimed = hart->claimed;
	}
	hart->claimed = ssccfg_hw_ctrs(pmu);
	ssccfg_clear(pmu);

	return claimed;
}

/**
 * riscv_pmu_ssccfg_hart_start() - bring this hart's counters to a known state
 * @pmu:	the PMU
 *
 * The hart goes online, or resumes from an idle state in which it has lost its counters. After
 * an idle state, each counter is claimed when it is first used.
 *
 * Context: interrupts off.
 */
void riscv_pmu_ssccfg_hart_start(struct riscv_pmu *pmu)
{
	struct ssccfg_hart *hart = this_cpu_ptr(&riscv_pmu_ssccfg_hart);

	if (!hart->is_up) {
		riscv_pmu_ssccfg_start(pmu);
		hart->is_up = true;
		return;
	}

	hart->claimed = 0;
	hart->fw_asleep = to_ssccfg(pmu)->sbi.ctrs;
	ssccfg_clear(pmu);
}

/**
 * riscv_pmu_ssccfg_hart_stop() - stop and reset this hart's counters
 * @pmu:	the PMU
 *
 * Context: interrupts off.
 */
void riscv_pmu_ssccfg_hart_stop(struct riscv_pmu *pmu)
{
	struct ssccfg *ssccfg = to_ssccfg(pmu);

	this_cpu_write(riscv_pmu_ssccfg_hart.is_up, false);
	ssccfg_clear(pmu);
	if (ssccfg->sbi_hw_ctrs)
		riscv_pmu_sbi_stop(ssccfg->sbi_hw_ctrs, SBI_PMU_STOP_FLAG_RESET);
	if (ssccfg->sbi.ctrs)
		ssccfg->sbi.ops.hart_stop(&ssccfg->sbi);
}
