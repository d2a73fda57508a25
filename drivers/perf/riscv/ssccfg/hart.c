// SPDX-License-Identifier: GPL-2.0
/*
 * The delegated counters of a hart that goes online or offline. Each counter is "claimed": the
 * firmware is asked once to configure it without M-mode, because only M-mode can set that filter.
 */

#include "../csr.h"
#include "../event.h"
#include "../sbi/call.h"
#include "ssccfg.h"

DEFINE_PER_CPU(struct ssccfg_hart, riscv_pmu_ssccfg_hart);
DEFINE_PER_CPU(u64 [RISCV_MAX_COUNTERS], riscv_pmu_ssccfg_written);

/* Returns a standard event, or NULL if no programmable counter can hold it. */
const struct ssccfg_event *riscv_pmu_ssccfg_find_event(const struct riscv_pmu *pmu, u32 event_idx)
{
	ssccfg_for_each_event(event, to_ssccfg(pmu)) {
		if (event->event_idx == event_idx)
			return event;
	}

	return NULL;
}

/* Writes the event register of a stopped counter. */
void riscv_pmu_ssccfg_write_event(const struct riscv_pmu *pmu, unsigned int ctr, u64 event)
{
	unsigned long select;

	select = riscv_pmu_csr_select(PMU_ISELECT_CTR + riscv_pmu_ctr_to_hpm(pmu, ctr));
	riscv_pmu_csr_write_event(event);
	riscv_pmu_csr_select(select);
}

/*
 * S-mode can neither read nor write the bit that excludes M-mode from a counter (Smcdeleg). The
 * firmware sets it when it configures the counter, so it is asked to do that once. It then takes
 * the counter for configured, and does not use it for anything else. After a non-retentive idle
 * state it still does, though the hardware has lost the bit: so the counter is reset first.
 */
static void ssccfg_claim_ctr(const struct riscv_pmu *pmu, unsigned int ctr, u32 event_idx)
{
	riscv_pmu_sbi_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET);
	if (riscv_pmu_sbi_cfg_match(BIT_ULL(ctr), SBI_PMU_CFG_FLAG_SET_MINH, event_idx, 0) < 0)
		return;

	this_cpu_or(riscv_pmu_ssccfg_hart.claimed, BIT_ULL(ctr));
	if (ssccfg_has_event(pmu, ctr))
		riscv_pmu_ssccfg_write_event(pmu, ctr, 0);
}

/* An event that a counter can hold: the one whose home it is, if there is one; or NULL. */
static const struct ssccfg_event *ssccfg_event_of(struct ssccfg *ssccfg, u64 ctr)
{
	const struct ssccfg_event *any = NULL;

	ssccfg_for_each_event(event, ssccfg) {
		if (event->home & ctr)
			return event;
		if (event->ctrs & ctr)
			any = event;
	}

	return any;
}

/*
 * Claims the home of the counter's event first: with QEMU's duplicate event, only the first
 * counter that is configured for an event counts it.
 */
static void ssccfg_claim_programmable(const struct riscv_pmu *pmu, unsigned int ctr)
{
	const struct ssccfg_event *event = ssccfg_event_of(to_ssccfg(pmu), BIT_ULL(ctr));

	if (!event)
		return;
	if (event->home && !(event->home & this_cpu_read(riscv_pmu_ssccfg_hart.claimed)))
		ssccfg_claim_ctr(pmu, __ffs64(event->home), event->event_idx);
	if (!(BIT_ULL(ctr) & this_cpu_read(riscv_pmu_ssccfg_hart.claimed)))
		ssccfg_claim_ctr(pmu, ctr, event->event_idx);
}

/* Has the firmware configure counters without M-mode that have not been claimed yet. */
void riscv_pmu_ssccfg_claim(const struct riscv_pmu *pmu, u64 ctrs)
{
	for_each_ctr(ctr, ctrs & to_ssccfg(pmu)->sbi_hw_ctrs) {
		unsigned int hpm = riscv_pmu_ctr_to_hpm(pmu, ctr);

		if (pmu->fixed_ctrs & BIT_ULL(ctr))
			ssccfg_claim_ctr(pmu, ctr, riscv_pmu_fixed_event(hpm));
		else
			ssccfg_claim_programmable(pmu, ctr);
	}
}

static void ssccfg_clear(const struct riscv_pmu *pmu)
{
	riscv_pmu_csr_inhibit(riscv_pmu_ctrs_to_hpms(pmu, ssccfg_hw_ctrs(pmu)));
	for_each_ctr(ctr, ssccfg_hw_ctrs(pmu)) {
		(*this_cpu_ptr(&riscv_pmu_ssccfg_written))[ctr] = 0;
		if (ssccfg_has_event(pmu, ctr))
			riscv_pmu_ssccfg_write_event(pmu, ctr, 0);
	}
	if (pmu->hwirq)
		riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
}

/*
 * Stops and claims all counters of this hart: the firmware or an earlier kernel may have left some
 * running. A counter that the firmware refuses to configure is not claimed again. Returns the
 * counters for which the firmware excludes M-mode.
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

/*
 * The hart goes online, or resumes from an idle state in which it has lost its counters. After an
 * idle state, each counter is claimed when it is first used.
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
