// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that M-mode has delegated to S-mode (Smcdeleg, Ssccfg), and that need no firmware calls.
 * Firmware counters and the selectors of events still come from the SBI PMU extension, if any.
 */

#include "../csr.h"
#include "../event.h"
#include "../nmi/block.h"
#include "ssccfg.h"

static u64 ssccfg_selector(const struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	const struct ssccfg_event *event;

	if (riscv_pmu_event_is_raw(cfg->event_idx))
		return cfg->event_data;

	event = riscv_pmu_ssccfg_find_event(pmu, cfg->event_idx);
	return event ? event->selector : 0;
}

/* --- a batch --- */

/* The value of hpmevent for a config. A fixed counter has no selector, at most filters. */
static u64 ssccfg_encode(const struct riscv_pmu *pmu, unsigned int ctr,
			 const struct riscv_pmu_config *cfg)
{
	u64 event = FIELD_PREP(PMU_HPMEVENT_INH, cfg->inh & pmu->ctr[ctr].inh);

	return pmu->fixed_ctrs & BIT_ULL(ctr) ? event : event | ssccfg_selector(pmu, cfg);
}

/* Whether the selected counter accepts an event: hpmevent keeps only bits that it supports. */
static bool ssccfg_takes(u64 event)
{
	riscv_pmu_csr_write_event(event);
	return !((riscv_pmu_csr_read_event() ^ event) & (PMU_HPMEVENT_SELECTOR | PMU_HPMEVENT_INH));
}

/*
 * Writes another event, or none, to the selected counter. hpmevent is set to 0 first: QEMU 10.0.2
 * stops counting the old event only then.
 */
static bool ssccfg_write_event(u64 *written, u64 event)
{
	if (*written)
		riscv_pmu_csr_write_event(0);
	*written = event;
	if (!event || ssccfg_takes(event))
		return true;

	*written = 0;
	riscv_pmu_csr_write_event(0);
	return false;
}

static void ssccfg_write_ctr(const struct riscv_pmu *pmu, struct riscv_pmu_batch *batch,
			     unsigned int ctr, u64 *written)
{
	u64 bit = BIT_ULL(ctr);

	riscv_pmu_csr_select(PMU_ISELECT_CTR + riscv_pmu_ctr_to_hpm(pmu, ctr));
	if ((batch->release | batch->program) & bit) {
		u64 event = batch->program & bit ?
			    ssccfg_encode(pmu, ctr, &batch->setup[ctr].cfg) : 0;

		if (ssccfg_has_event(pmu, ctr) && !ssccfg_write_event(written, event)) {
			batch->failed |= bit;
			return;
		}
	} else if (ssccfg_has_event(pmu, ctr)) {
		/* Clears the overflow flag; before the value is written, for QEMU 10.0.2. */
		riscv_pmu_csr_write_event(*written);
	}
	if (batch->load & bit)
		riscv_pmu_csr_write_value(batch->setup[ctr].value);
}

static void ssccfg_write_ctrs(const struct riscv_pmu *pmu, struct riscv_pmu_batch *batch,
			      u64 ctrs)
{
	u64 *written = *this_cpu_ptr(&riscv_pmu_ssccfg_written);
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_CTR);

	for_each_ctr(ctr, ctrs) {
		ssccfg_write_ctr(pmu, batch, ctr, &written[ctr]);
	}
	riscv_pmu_csr_select(select);
}

/* Claims counters that are used for the first time since a non-retentive idle state. */
static void ssccfg_claim_new(const struct riscv_pmu *pmu, u64 ctrs)
{
	u64 unclaimed = ctrs & ~this_cpu_read(riscv_pmu_ssccfg_hart.claimed);

	if (likely(!unclaimed))
		return;

	riscv_pmu_ssccfg_claim(pmu, unclaimed);
	/* Counters that the firmware has refused to configure are not claimed again. */
	this_cpu_or(riscv_pmu_ssccfg_hart.claimed, unclaimed);
}

/* One instruction stops all counters, and another one starts them. */
static noinline int ssccfg_apply_hw(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	u64 stop = batch->stop | batch->release;
	u64 write = batch->release | batch->program | batch->load;

	if (stop)
		riscv_pmu_csr_inhibit(riscv_pmu_ctrs_to_hpms(pmu, stop));
	if (batch->program)
		ssccfg_claim_new(pmu, batch->program);
	if (write)
		ssccfg_write_ctrs(pmu, batch, write);
	if (batch->start)
		riscv_pmu_csr_uninhibit(riscv_pmu_ctrs_to_hpms(pmu, batch->start & ~batch->failed));

	return batch->failed ? -EIO : 0;
}

/*
 * Whether the batch only restarts one hardware counter from another value, as after an overflow.
 * The restart clears the overflow flag, which is in the counter's event register.
 */
static bool ssccfg_is_reload(const struct riscv_pmu *pmu, const struct riscv_pmu_batch *batch)
{
	u64 load = batch->load;
	u64 more = (batch->stop & ~load) | batch->release | batch->program | (load & pmu->fw_ctrs);

	return load && load == batch->start && !(load & (load - 1)) && !more &&
	       ssccfg_has_event(pmu, __ffs64(load));
}

static int ssccfg_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	if (likely(ssccfg_is_reload(pmu, batch))) {
		unsigned long ctr = __ffs64(batch->load);

		riscv_pmu_csr_reload(riscv_pmu_ctr_to_hpm(pmu, ctr),
				     (*this_cpu_ptr(&riscv_pmu_ssccfg_written))[ctr],
				     batch->setup[ctr].value);
		return 0;
	}
	if (unlikely((batch->stop | batch->release | batch->program | batch->start) & pmu->fw_ctrs))
		return riscv_pmu_ssccfg_fw_apply(pmu, batch, ssccfg_apply_hw);

	return ssccfg_apply_hw(pmu, batch);
}

static int ssccfg_reload(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was)
{
	*was = riscv_pmu_csr_exchange(riscv_pmu_ctr_to_hpm(pmu, ctr),
				      (*this_cpu_ptr(&riscv_pmu_ssccfg_written))[ctr], value);
	return 0;
}

/* The interrupt is acknowledged first, so that an overflow after the read raises it again. */
static u64 ssccfg_overflowed(struct riscv_pmu *pmu, u64 ctrs)
{
	riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
	return riscv_pmu_hpms_to_ctrs(pmu, ctrs, riscv_pmu_csr_read_ovf(pmu->ovf_csr));
}

/* --- which counters can hold an event --- */

/* Returns the standard event that a selector selects, or NULL. */
static const struct ssccfg_event *ssccfg_find_selector(const struct riscv_pmu *pmu, u64 selector)
{
	ssccfg_for_each_event(event, to_ssccfg(pmu)) {
		if (event->selector == selector)
			return event;
	}

	return NULL;
}

/*
 * Tries a raw event on the counters that hold no event. If one accepts it, the others are assumed
 * to accept it too. If all counters hold events, it is unknown: add() tries it then.
 */
static u64 ssccfg_try_raw(const struct riscv_pmu *pmu, u64 selector)
{
	const u64 raw_ctrs = to_ssccfg(pmu)->raw_ctrs;
	u64 able = 0, busy = 0;
	unsigned long select;
	const u64 *written;

	guard(riscv_pmu_irqsave)();
	written = *this_cpu_ptr(&riscv_pmu_ssccfg_written);
	select = riscv_pmu_csr_select(PMU_ISELECT_CTR);
	for_each_ctr(ctr, raw_ctrs) {
		if (written[ctr]) {
			busy |= BIT_ULL(ctr);
			continue;
		}
		riscv_pmu_csr_select(PMU_ISELECT_CTR + riscv_pmu_ctr_to_hpm(pmu, ctr));
		if (ssccfg_takes(selector))
			able |= BIT_ULL(ctr);
		riscv_pmu_csr_write_event(0);
	}
	riscv_pmu_csr_select(select);

	return able || busy == raw_ctrs ? able | busy : 0;
}

/* Only if all counters of this hart hold an event is it unknown whether a raw event exists. */
static u64 ssccfg_untried_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	const u64 *written;

	if (riscv_pmu_event_type(cfg->event_idx) == RISCV_PMU_EVENT_TYPE_FW)
		return pmu->fw_ctrs ? ssccfg->sbi.ops.untried_ctrs(&ssccfg->sbi, cfg) : 0;
	if (!riscv_pmu_event_is_raw(cfg->event_idx) || ssccfg_find_selector(pmu, cfg->event_data))
		return 0;

	guard(preempt)();
	written = *this_cpu_ptr(&riscv_pmu_ssccfg_written);
	for_each_ctr(ctr, ssccfg->raw_ctrs) {
		if (!written[ctr])
			return 0;
	}

	return ssccfg->raw_ctrs;
}

static u64 ssccfg_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg)
{
	const struct ssccfg_event *event;

	if (riscv_pmu_event_type(cfg->event_idx) == RISCV_PMU_EVENT_TYPE_FW)
		return riscv_pmu_ssccfg_fw_event_ctrs(pmu, cfg);

	if (riscv_pmu_event_is_raw(cfg->event_idx)) {
		event = ssccfg_find_selector(pmu, cfg->event_data);
		return event ? event->ctrs : ssccfg_try_raw(pmu, cfg->event_data);
	}

	event = riscv_pmu_ssccfg_find_event(pmu, cfg->event_idx);
	return riscv_pmu_hpms_to_ctrs(pmu, pmu->fixed_ctrs,
				      riscv_pmu_event_fixed_hpm(cfg->event_idx)) |
	       (event ? event->ctrs : 0);
}

const struct riscv_pmu_ops riscv_pmu_ssccfg_ops = {
	.name		= "ssccfg",
	.select_cpus	= riscv_pmu_ssccfg_select_cpus,
	.probe		= riscv_pmu_ssccfg_probe,
	.check_hart	= riscv_pmu_ssccfg_check_hart,
	.event_ctrs	= ssccfg_event_ctrs,
	.untried_ctrs	= ssccfg_untried_ctrs,
	.hart_start	= riscv_pmu_ssccfg_hart_start,
	.hart_stop	= riscv_pmu_ssccfg_hart_stop,
	.apply		= ssccfg_apply,
	.reload		= ssccfg_reload,
	.read_ctr	= riscv_pmu_ssccfg_fw_read,
	.overflowed	= ssccfg_overflowed,
};
