// SPDX-License-Identifier: GPL-2.0
/* Finds the counters, the events that they can count, whether M-mode is excluded, QEMU's bugs. */

#define pr_fmt(fmt) "riscv_pmu: ssccfg: " fmt

#include <linux/slab.h>

#include "../csr.h"
#include "../event.h"
#include "../fault.h"
#include "../platform/platform.h"
#include "../sbi/call.h"
#include "ssccfg.h"

/* A narrower counter wraps too fast to be polled. */
#define SSCCFG_MIN_WIDTH	16

static void ssccfg_probe_sbi(const struct riscv_pmu *pmu)
{
	struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;

	*sbi = *pmu;
	sbi->priv = NULL;
	if (!IS_ENABLED(CONFIG_RISCV_PMU_SBI))
		return;

	sbi->ops = riscv_pmu_sbi_ops;
	if (sbi->ops.probe(sbi)) {
		sbi->ctrs = 0;
		sbi->fw_ctrs = 0;
	}
}

/*
 * The number of a hardware counter: that of the firmware if it has one, else that of the
 * hpmcounter. -ENOENT if the firmware uses the latter for another counter.
 */
static int ssccfg_number_ctr(const struct riscv_pmu *sbi, unsigned int hpm)
{
	for_each_ctr(ctr, ssccfg_hw_ctrs(sbi)) {
		if (sbi->ctr[ctr].csr == CSR_CYCLE + hpm)
			return ctr;
	}

	return sbi->ctrs & BIT_ULL(hpm) ? -ENOENT : hpm;
}

static void ssccfg_add_ctr(struct riscv_pmu *pmu, unsigned int hpm)
{
	const struct ssccfg_delegated *delegated = &to_ssccfg(pmu)->delegated;
	int ctr = ssccfg_number_ctr(&to_ssccfg(pmu)->sbi, hpm);
	u64 bit = BIT_ULL(ctr & 63);

	if (ctr < 0)
		return;

	pmu->ctr[ctr] = (struct riscv_pmu_ctr){
		.read	= riscv_pmu_csr_reader(hpm),
		.csr	= CSR_CYCLE + hpm,
		.width	= delegated->width[hpm],
		.inh	= delegated->inh[hpm],
	};
	if (BIT(hpm) & RISCV_PMU_FIXED_HPMS)
		pmu->fixed_ctrs |= bit;
	else if (pmu->hwirq && delegated->overflows & BIT(hpm))
		pmu->irq_ctrs |= bit;
	pmu->ctrs |= bit;
	pmu->is_identity &= ctr == hpm;
}

/* Finds the counters that can be used. A programmable counter needs its event register. */
static u32 ssccfg_usable_hpms(const struct riscv_pmu *pmu)
{
	const struct ssccfg_delegated *delegated = &to_ssccfg(pmu)->delegated;
	const struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;
	u32 hpms = delegated->values & (delegated->events | RISCV_PMU_FIXED_HPMS);
	u32 narrow = 0, missing;

	for (u32 left = hpms; left; left &= left - 1)
		narrow |= delegated->width[__ffs(left)] < SSCCFG_MIN_WIDTH ? left & -left : 0;

	missing = riscv_pmu_ctrs_to_hpms(sbi, ssccfg_hw_ctrs(sbi)) & ~hpms;
	if (missing)
		pr_warn("hpmcounters 0x%x are not used, because CSR 0x%x, CSR 0x%x or the counter's own CSR traps: check that the firmware delegates them (mcounteren)\n",
			missing, CSR_SIREG, PMU_CSR_SIREG2);
	if (narrow)
		pr_warn("hpmcounters 0x%x are not used, because they have fewer than %u bits\n",
			narrow, SSCCFG_MIN_WIDTH);
	hpms &= ~narrow;
	if (hpms & ~delegated->events)
		pr_info("hpmcounters 0x%x have no filters, because CSR 0x%x traps (Smcntrpmf)\n",
			hpms & ~delegated->events, PMU_CSR_SIREG2);
	return hpms;
}

static void ssccfg_find_ctrs(struct riscv_pmu *pmu)
{
	u32 hpms = ssccfg_usable_hpms(pmu);

	pmu->is_identity = true;
	scoped_guard(irqsave)
		riscv_pmu_csr_inhibit(to_ssccfg(pmu)->delegated.values);
	for (; hpms; hpms &= hpms - 1)
		ssccfg_add_ctr(pmu, __ffs(hpms));
}

/* Reads the selector of an event from hpmevent after any firmware has configured the event. */
static u64 ssccfg_ask_selector(const struct riscv_pmu *pmu, unsigned int ctr, u32 event_idx)
{
	unsigned long select;
	u64 event = 0;

	guard(irqsave)();
	if (riscv_pmu_sbi_cfg_match(BIT_ULL(ctr), 0, event_idx, 0) >= 0) {
		select = riscv_pmu_csr_select(PMU_ISELECT_CTR + riscv_pmu_ctr_to_hpm(pmu, ctr));
		event = riscv_pmu_csr_read_event();
		riscv_pmu_csr_select(select);
	}
	riscv_pmu_sbi_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET);

	return event & PMU_HPMEVENT_SELECTOR;
}

static void ssccfg_find_event_ctrs(const struct riscv_pmu *pmu, u32 event_idx)
{
	const struct riscv_pmu_selector *override = riscv_pmu_platform_override(pmu, event_idx);
	const struct riscv_pmu_selector *known =
		override ?: riscv_pmu_platform_known(pmu->platform, event_idx);
	struct riscv_pmu_config cfg = { .event_idx = event_idx };
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	u64 ctrs = 0, selector = 0;

	if (ssccfg->sbi.ctrs && !override)
		ctrs = ssccfg->sbi.ops.event_ctrs(&ssccfg->sbi, &cfg) &
		       ssccfg_programmable_ctrs(pmu);
	if (ctrs) {
		selector = ssccfg_ask_selector(pmu, __ffs64(ctrs), event_idx);
	} else if (known) {
		selector = known->selector;
		ctrs = ssccfg_programmable_ctrs(pmu);
		if (known->counters)
			ctrs = riscv_pmu_hpms_to_ctrs(pmu, ctrs, known->counters);
	}
	if (!selector || !ctrs)
		return;

	ssccfg->event[ssccfg->nr_events++] = (struct ssccfg_event){ event_idx, selector, ctrs };
}

static void ssccfg_find_events(const struct riscv_pmu *pmu)
{
	u64 taken = 0;
	u32 code;

	for (code = 1; code <= SSCCFG_NR_HW; code++)
		ssccfg_find_event_ctrs(pmu, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_HW, code));
	for (code = 0; code < SSCCFG_NR_CACHE; code++)
		ssccfg_find_event_ctrs(pmu, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_CACHE, code));
	ssccfg_for_each_event(event, to_ssccfg(pmu)) {
		u64 free = event->ctrs & ~taken;

		event->home = free & -free;
		taken |= event->home;
	}
}

/* Whether a running counter moves between two reads. */
static bool ssccfg_moves(const struct riscv_pmu *pmu, unsigned int ctr)
{
	unsigned int hpm = riscv_pmu_ctr_to_hpm(pmu, ctr);
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_CTR + hpm);
	u64 before = riscv_pmu_csr_read_value();
	bool moves = riscv_pmu_csr_read_value() != before;

	riscv_pmu_csr_select(select);
	return moves;
}

/* Whether the selected counter advances during a firmware call. */
static bool ssccfg_advances(unsigned int hpm, u64 event)
{
	bool advances;

	riscv_pmu_csr_write_event(event);
	riscv_pmu_csr_write_value(0);
	riscv_pmu_csr_uninhibit(BIT(hpm));
	riscv_pmu_sbi_nothing();
	riscv_pmu_csr_inhibit(BIT(hpm));
	advances = riscv_pmu_csr_read_value();
	riscv_pmu_csr_write_event(0);
	return advances;
}

/* Rounds of the test for M-mode, which have to agree */
#define SSCCFG_NR_ROUNDS	4

/*
 * Tests whether a counter excludes M-mode: it must not advance during a firmware call if all modes
 * that S-mode can inhibit are inhibited. If it does not advance without filters either, the result
 * is unclear, and it is assumed to count M-mode.
 */
static bool ssccfg_excludes_m(const struct riscv_pmu *pmu, unsigned int ctr, u64 selector)
{
	unsigned int hpm = riscv_pmu_ctr_to_hpm(pmu, ctr);
	unsigned long select;
	bool out = true;

	if (!IS_ENABLED(CONFIG_RISCV_PMU_SBI) || !pmu->ctr[ctr].inh)
		return false;

	select = riscv_pmu_csr_select(PMU_ISELECT_CTR + hpm);
	for (unsigned int i = 0; i < SSCCFG_NR_ROUNDS && out; i++)
		out = ssccfg_advances(hpm, selector) &&
		      !ssccfg_advances(hpm, selector | PMU_HPMEVENT_INH);
	riscv_pmu_csr_select(select);

	return out;
}

/*
 * Firmware without the SBI PMU cannot be asked to exclude M-mode, but may have excluded it without
 * being asked. One programmable counter is tested, and the others are assumed to be like it.
 */
static u64 ssccfg_try_m_filter(const struct riscv_pmu *pmu)
{
	const struct ssccfg_event *insns =
		riscv_pmu_ssccfg_find_event(pmu, RISCV_PMU_EVENT_INSTRUCTIONS);
	u64 out = 0;

	for_each_ctr(ctr, pmu->fixed_ctrs) {
		if (ssccfg_excludes_m(pmu, ctr, 0))
			out |= BIT_ULL(ctr);
	}
	if (insns && insns->home &&
	    ssccfg_excludes_m(pmu, __ffs64(insns->home), insns->selector))
		out |= ssccfg_programmable_ctrs(pmu);

	return out;
}

/* Whether a counter still counts an event after hpmevent was set to 0. */
static bool ssccfg_is_sticky(const struct riscv_pmu *pmu, unsigned int ctr, u64 selector)
{
	u32 hpm = BIT(riscv_pmu_ctr_to_hpm(pmu, ctr));
	bool sticky;

	riscv_pmu_ssccfg_write_event(pmu, ctr, selector);
	riscv_pmu_ssccfg_write_event(pmu, ctr, 0);
	riscv_pmu_csr_uninhibit(hpm);
	sticky = ssccfg_moves(pmu, ctr);
	riscv_pmu_csr_inhibit(hpm);

	return sticky;
}

/* Whether only the first of two counters that hold the same event counts it. */
static bool ssccfg_second_is_stopped(const struct riscv_pmu *pmu, unsigned int first,
				     unsigned int second, u64 selector)
{
	u32 hpms = BIT(riscv_pmu_ctr_to_hpm(pmu, first)) | BIT(riscv_pmu_ctr_to_hpm(pmu, second));
	bool is;

	riscv_pmu_ssccfg_write_event(pmu, first, selector);
	riscv_pmu_ssccfg_write_event(pmu, second, selector);
	riscv_pmu_csr_uninhibit(hpms);
	is = ssccfg_moves(pmu, first) && !ssccfg_moves(pmu, second);
	riscv_pmu_csr_inhibit(hpms);
	riscv_pmu_ssccfg_write_event(pmu, first, 0);
	riscv_pmu_ssccfg_write_event(pmu, second, 0);

	return is;
}

/*
 * QEMU 10.0.2 counts an event on one counter only (duplicate event). It assigns the event to
 * another counter only after all bits of hpmevent were 0, which S-mode cannot achieve if M-mode is
 * excluded (sticky event). If a bug is found, each event is restricted to its home counter, which
 * no other event may use. QEMU's version cannot be read, so both bugs are tested for. That is done
 * on QEMU's machine only: a slow hardware counter gives the same result, and the workaround makes
 * counters unusable.
 */
static void ssccfg_find_quirks(struct riscv_pmu *pmu)
{
	const struct ssccfg_event *cycles =
		riscv_pmu_ssccfg_find_event(pmu, RISCV_PMU_EVENT_CYCLES);
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	unsigned int home;
	u64 rest;

	ssccfg->raw_ctrs = ssccfg_programmable_ctrs(pmu);
	if (!pmu->is_qemu || !cycles || !cycles->home)
		return;

	home = __ffs64(cycles->home);
	rest = cycles->ctrs & ~cycles->home;
	guard(irqsave)();
	if (!ssccfg_is_sticky(pmu, home, cycles->selector) &&
	    !(rest && ssccfg_second_is_stopped(pmu, home, __ffs64(rest), cycles->selector)))
		return;

	ssccfg_for_each_event(event, ssccfg) {
		event->ctrs = event->home;
		ssccfg->raw_ctrs &= ~event->home;
	}
}

/* Starts this hart, and returns its counters that exclude M-mode. */
static u64 ssccfg_start_without_m(struct riscv_pmu *pmu)
{
	u64 claimed;

	guard(irqsave)();
	claimed = riscv_pmu_ssccfg_start(pmu);
	return to_ssccfg(pmu)->sbi_hw_ctrs ? claimed : ssccfg_try_m_filter(pmu);
}

static int ssccfg_find_all(struct riscv_pmu *pmu)
{
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	struct riscv_pmu *sbi = &ssccfg->sbi;
	bool sbi_works;

	ssccfg_probe_sbi(pmu);
	ssccfg_find_ctrs(pmu);
	if (!pmu->ctrs)
		return -ENODEV;

	ssccfg_find_events(pmu);
	sbi_works = sbi->ctrs;
	ssccfg->sbi_hw_ctrs = ssccfg_hw_ctrs(sbi) & ~sbi->free_running_ctrs;
	/* From now on the SBI PMU handles firmware counters only, or nothing. */
	sbi->ctrs &= sbi->fw_ctrs;
	if (sbi_works && !sbi->ctrs)
		sbi->ops.hart_stop(sbi);
	for_each_ctr(ctr, ssccfg_start_without_m(pmu))
		pmu->ctr[ctr].inh |= pmu->ctr[ctr].inh ? RISCV_PMU_INH_M : 0;
	ssccfg_find_quirks(pmu);
	/* Again, because a quirk changes which counters are claimed. */
	ssccfg->without_m = ssccfg_start_without_m(pmu);
	riscv_pmu_ssccfg_fw_add(pmu);
	memcpy(pmu->firmware, sbi->firmware, sizeof(pmu->firmware));
	return 0;
}

int riscv_pmu_ssccfg_probe(struct riscv_pmu *pmu)
{
	struct ssccfg *ssccfg;
	int err;

	ssccfg = riscv_pmu_should_fail() ? NULL : kzalloc(sizeof(*ssccfg), GFP_KERNEL);
	if (!ssccfg)
		return -ENOMEM;
	ssccfg->delegated = *riscv_pmu_ssccfg_found();
	pmu->priv = ssccfg;
	pmu->no_calls = true;
	err = ssccfg_find_all(pmu);
	if (err) {
		kfree(ssccfg->sbi.priv);
		kfree(ssccfg);
		pmu->no_calls = false;
		pmu->priv = NULL;
		return err;
	}

	pmu->raw_bits = PMU_HPMEVENT_SELECTOR_BITS;
	pmu->one_call = true;
	pmu->loads = true;
	return 0;
}

const char *riscv_pmu_ssccfg_check_hart(struct riscv_pmu *pmu)
{
	if (!riscv_pmu_ssccfg_has_same_ctrs(&to_ssccfg(pmu)->delegated))
		return "its delegated counters (Ssccfg)";

	return to_ssccfg(pmu)->without_m & ~ssccfg_start_without_m(pmu) ?
		"counters that do not exclude M-mode" : NULL;
}
