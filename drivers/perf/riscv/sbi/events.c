// SPDX-License-Identifier: GPL-2.0
/*
 * Which counters can hold which events. Standard events are tried at boot; raw events and
 * firmware events of the platform when they are opened, and the results are cached.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include <linux/nospec.h>

#include "../nmi/block.h"
#include "../platform/platform.h"
#include "../print.h"
#include "call.h"
#include "method.h"
#include "sbi.h"

static struct sbi_known *sbi_find_known(struct riscv_pmu_sbi *sbi, const struct sbi_known *event)
{
	for (unsigned int i = 0; i < SBI_NR_KNOWN; i++) {
		struct sbi_known *known = &sbi->known[i];

		if (known->event_idx == event->event_idx && known->event_data == event->event_data)
			return known;
	}

	return NULL;
}

static struct sbi_known sbi_recall(struct riscv_pmu_sbi *sbi, const struct riscv_pmu_config *cfg)
{
	struct sbi_known event = { .event_idx = cfg->event_idx, .event_data = cfg->event_data };
	const struct sbi_known *known;

	spin_lock(&sbi->lock);
	known = sbi_find_known(sbi, &event);
	if (known)
		event = *known;
	spin_unlock(&sbi->lock);
	return event;
}

/* Merges the results: another task may have tried the same event on other counters. */
static void sbi_remember(struct riscv_pmu_sbi *sbi, const struct sbi_known *event)
{
	struct sbi_known *known;

	spin_lock(&sbi->lock);
	known = sbi_find_known(sbi, event);
	if (known) {
		known->able |= event->able;
		known->unable |= event->unable;
	} else {
		sbi->known[sbi->known_next++ % SBI_NR_KNOWN] = *event;
	}
	spin_unlock(&sbi->lock);
}

/*
 * Configures an event on any of the unknown counters that hold no config, and resets the counter
 * again: the SBI has no other way to ask. Returns the counter; -EAGAIN if all hold a config;
 * -ENOENT if none of them can hold the event.
 */
static int sbi_try(struct sbi_known *event, u64 ctrs)
{
	u64 tried;
	int ctr;

	guard(riscv_pmu_irqsave)();
	tried = ctrs & ~event->able & ~event->unable & ~this_cpu_read(riscv_pmu_sbi_configs);
	if (!tried)
		return -EAGAIN;

	ctr = riscv_pmu_sbi_cfg_match(tried, 0, event->event_idx, event->event_data);
	if (ctr < 0) {
		event->unable |= tried;
		return ctr;
	}

	event->able |= BIT_ULL(ctr);
	if (riscv_pmu_sbi_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET))
		riscv_pmu_warn_once("counter %d cannot be reset\n", ctr);
	return ctr;
}

/*
 * The firmware chooses one of the given counters, so this takes one call for each counter that can
 * hold the event, and one more for all others. Counters that hold a config stay unknown. Returns
 * false if the firmware failed with another error than SBI_ERR_NOT_SUPPORTED: the result is not
 * cached.
 */
static bool sbi_try_all(struct sbi_known *event, u64 ctrs)
{
	int ctr;

	do {
		ctr = sbi_try(event, ctrs);
	} while (ctr >= 0);

	return ctr == -EAGAIN || ctr == -ENOENT;
}

/* Asks the firmware first: only counters without a config can be tried. */
static bool sbi_find_out(const struct riscv_pmu_sbi *sbi, struct sbi_known *event, u64 ctrs)
{
	u64 able;

	if (sbi->can_resolve &&
	    !sbi->method->event_ctrs(event->event_idx, event->event_data, &able)) {
		event->able = able & ctrs;
		event->unable = ctrs & ~able;
		return true;
	}
	if (sbi->has_event_info && riscv_pmu_event_is_raw(event->event_idx) && !event->able &&
	    !riscv_pmu_sbi_event_is_supported(event->event_idx, event->event_data)) {
		event->unable = ctrs;
		return true;
	}

	return sbi_try_all(event, ctrs);
}

/* The index of a standard event in &riscv_pmu_sbi.std_ctrs; SBI_NR_STD for other events */
static u32 sbi_std_index(u32 event_idx)
{
	u32 code = riscv_pmu_event_code(event_idx);

	switch (riscv_pmu_event_type(event_idx)) {
	case RISCV_PMU_EVENT_TYPE_HW:
		return code < SBI_NR_HW ? code : SBI_NR_STD;
	case RISCV_PMU_EVENT_TYPE_CACHE:
		return code < SBI_NR_CACHE ? SBI_NR_HW + code : SBI_NR_STD;
	case RISCV_PMU_EVENT_TYPE_FW:
		return code < SBI_NR_FW ? SBI_NR_HW + SBI_NR_CACHE + code : SBI_NR_STD;
	default:
		return SBI_NR_STD;
	}
}

/* Counters to try for an event that is not a standard event; 0: there is no such event. */
static u64 sbi_candidates(const struct riscv_pmu *pmu, u32 event_idx)
{
	if (riscv_pmu_event_is_raw(event_idx))
		return pmu->ctrs & ~pmu->fw_ctrs & ~pmu->fixed_ctrs;

	return riscv_pmu_event_type(event_idx) == RISCV_PMU_EVENT_TYPE_FW ? pmu->fw_ctrs : 0;
}

/*
 * Replaces an event whose map in the firmware cannot be used by the raw event of the core's table.
 * Cycles and instructions stay on the fixed counters, which need no map, if there are any.
 */
static u64 sbi_override_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_selector *entry,
			     struct riscv_pmu_config *cfg)
{
	u64 ctrs;

	if (riscv_pmu_event_fixed_hpm(cfg->event_idx)) {
		ctrs = to_sbi(pmu)->std_ctrs[sbi_std_index(cfg->event_idx)] & pmu->fixed_ctrs;
		if (ctrs)
			return ctrs;
	}
	if (!entry->selector || !pmu->raw_bits)
		return 0;

	cfg->event_idx = riscv_pmu_raw_event(pmu);
	cfg->event_data = entry->selector;
	ctrs = riscv_pmu_sbi_event_ctrs(pmu, cfg);
	return entry->counters ? riscv_pmu_hpms_to_ctrs(pmu, ctrs, entry->counters) : ctrs;
}

/* As &riscv_pmu_ops.event_ctrs. If an untried counter refuses the event, add() tries others. */
u64 riscv_pmu_sbi_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg)
{
	const struct riscv_pmu_selector *entry = riscv_pmu_platform_override(pmu, cfg->event_idx);
	u64 ctrs = sbi_candidates(pmu, cfg->event_idx);
	u32 std = sbi_std_index(cfg->event_idx);
	struct riscv_pmu_sbi *sbi = to_sbi(pmu);
	struct sbi_known event;

	if (entry)
		return sbi_override_ctrs(pmu, entry, cfg);

	/* The code comes from users: also a speculative read must stay within the table. */
	if (std < SBI_NR_STD)
		return sbi->std_ctrs[array_index_nospec(std, SBI_NR_STD)];

	event = sbi_recall(sbi, cfg);
	if (ctrs & ~(event.able | event.unable) && sbi_find_out(sbi, &event, ctrs))
		sbi_remember(sbi, &event);
	return ctrs & ~event.unable;
}

/* As &riscv_pmu_ops.untried_ctrs */
u64 riscv_pmu_sbi_untried_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	struct sbi_known event;

	if (sbi_std_index(cfg->event_idx) < SBI_NR_STD)
		return 0;

	event = sbi_recall(to_sbi(pmu), cfg);
	return sbi_candidates(pmu, cfg->event_idx) & ~(event.able | event.unable);
}

/* Some counter can hold cycles. If the firmware reports none, its other answers are not used. */
static void sbi_find_resolver(struct riscv_pmu_sbi *sbi)
{
	u64 ctrs;

	sbi->can_resolve = sbi->method->event_ctrs &&
			   !sbi->method->event_ctrs(RISCV_PMU_EVENT_CYCLES, 0, &ctrs) && ctrs;
	/* Firmware before SBI 3.0 does not have the function. */
	sbi->has_event_info = !sbi->can_resolve &&
			      riscv_pmu_sbi_event_is_supported(RISCV_PMU_EVENT_CYCLES, 0) > 0;
}

/* Finds the counters of the standard events of one type. No counter holds a config. */
static void sbi_find_type(struct riscv_pmu_sbi *sbi, u32 type, u32 first, u32 nr, u64 ctrs)
{
	for (u32 code = first; code < nr; code++) {
		struct sbi_known event = { .event_idx = RISCV_PMU_EVENT_IDX(type, code) };

		sbi_find_out(sbi, &event, ctrs);
		sbi->std_ctrs[sbi_std_index(event.event_idx)] = event.able;
	}
}

/* Finds the counters of all standard events; at boot, when none is in use. */
void riscv_pmu_sbi_find_events(struct riscv_pmu *pmu)
{
	u64 hw = pmu->ctrs & ~pmu->fw_ctrs;
	struct riscv_pmu_sbi *sbi = to_sbi(pmu);

	sbi_find_resolver(sbi);
	sbi_find_type(sbi, RISCV_PMU_EVENT_TYPE_HW, 1, SBI_NR_HW, hw);
	sbi_find_type(sbi, RISCV_PMU_EVENT_TYPE_CACHE, 0, SBI_NR_CACHE, hw & ~pmu->fixed_ctrs);
	if (pmu->fw_ctrs)
		sbi_find_type(sbi, RISCV_PMU_EVENT_TYPE_FW, 0, SBI_NR_FW, pmu->fw_ctrs);
}
