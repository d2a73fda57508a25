// SPDX-License-Identifier: GPL-2.0
/*
 * Which counters can hold which events. Standard events are tried at boot; raw events and
 * firmware events of the platform when they are opened, and the results are cached.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/nospec.h>
#include <linux/percpu.h>

#include "../nmi/block.h"
#include "../print.h"
#include "call.h"
#include "method.h"
#include "sbi.h"

static struct sbi_known *sbi_find_known(struct riscv_pmu_sbi *sbi, const struct sbi_known *event)
{
	for (unsigned int i = 0; i < SBI_NR_KNOWN; i++) {
		struct sbi_known *known = &sbi->known[i];

		if (known->used && known->event_idx == event->event_idx &&
		    known->event_data == event->event_data)
			return known;
	}

	return NULL;
}

static struct sbi_known sbi_recall(const struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	struct sbi_known event = {
		.used = true,
		.event_idx = cfg->event_idx,
		.event_data = cfg->event_data,
	};
	struct riscv_pmu_sbi *sbi = to_sbi(pmu);
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
 * Configures an event on any of those of @ctrs that hold no config, and resets the counter
 * again: the SBI has no other way to ask. Returns the counter; -EAGAIN if all hold a config;
 * -ENOENT if none of @tried can hold the event.
 */
static int sbi_try(u64 ctrs, u32 event_idx, u64 event_data, u64 *tried)
{
	int ctr;

	guard(riscv_pmu_irqsave)();
	*tried = ctrs & ~this_cpu_read(riscv_pmu_sbi_configs);
	if (!*tried)
		return -EAGAIN;

	ctr = riscv_pmu_sbi_cfg_match(*tried, 0, event_idx, event_data);
	if (ctr >= 0 && riscv_pmu_sbi_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET))
		riscv_pmu_warn_once("counter %d cannot be reset\n", ctr);

	return ctr;
}

static bool sbi_can_hold(u64 ctrs, u32 event_idx, u64 event_data)
{
	u64 tried;

	return sbi_try(ctrs, event_idx, event_data, &tried) >= 0;
}

static u64 sbi_try_ctrs(u64 ctrs, u32 event_idx, u64 event_data)
{
	u64 able = 0;

	/* No counter can hold most events: find that out with one call for all counters. */
	if (!sbi_can_hold(ctrs, event_idx, event_data))
		return 0;

	for_each_ctr(ctr, ctrs) {
		u64 bit = BIT_ULL(ctr);

		if (sbi_can_hold(bit, event_idx, event_data))
			able |= bit;
	}

	return able;
}

/* Which of some counters can hold a standard event; at boot, when none holds a config. */
static u64 sbi_find_able(const struct riscv_pmu_sbi *sbi, u64 ctrs, u32 event_idx)
{
	u64 able;

	if (sbi->can_resolve && !sbi->method->event_ctrs(event_idx, 0, &able))
		return able & ctrs;

	return sbi_try_ctrs(ctrs, event_idx, 0);
}

/*
 * Tries a raw event or a firmware event of the platform, of which there are too many to try all at
 * boot. The firmware chooses one of the given counters, so this takes one call for each counter
 * that can hold the event, and one more for all others. Counters that hold a config stay unknown.
 * Returns false if the firmware failed with an error other than SBI_ERR_NOT_SUPPORTED: the result
 * is then not cached.
 */
static bool sbi_try_known(struct sbi_known *event, u64 ctrs)
{
	u64 tried;
	int ctr;

	do {
		ctr = sbi_try(ctrs & ~(event->able | event->unable), event->event_idx,
			      event->event_data, &tried);
		if (ctr >= 0)
			event->able |= BIT_ULL(ctr);
	} while (ctr >= 0);

	if (ctr != -EAGAIN)
		event->unable |= tried;
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
	if (sbi->has_event_info && sbi_is_raw(event->event_idx) && !event->able &&
	    !riscv_pmu_sbi_event_is_supported(event->event_idx, event->event_data)) {
		event->unable = ctrs;
		return true;
	}

	return sbi_try_known(event, ctrs);
}

/* Untried counters stay candidates; add() goes on elsewhere if one refuses. */
static u64 sbi_other_event_ctrs(const struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg,
				u64 ctrs)
{
	struct riscv_pmu_sbi *sbi = to_sbi(pmu);
	struct sbi_known event = sbi_recall(pmu, cfg);

	if (ctrs & ~(event.able | event.unable) && sbi_find_out(sbi, &event, ctrs))
		sbi_remember(sbi, &event);

	return ctrs & ~event.unable;
}

/* The code comes from users: also a speculative read must stay within the table. */
static u64 sbi_look_up(const u64 *table, u32 code, u32 nr)
{
	return code < nr ? table[array_index_nospec(code, nr)] : 0;
}

/* Counters to try for an event without an entry in the boot-time tables; 0 for others. */
static u64 sbi_candidates(const struct riscv_pmu *pmu, u32 event_idx)
{
	switch (riscv_pmu_event_type(event_idx)) {
	case RISCV_PMU_EVENT_TYPE_HW:
	case RISCV_PMU_EVENT_TYPE_CACHE:
		return 0;
	case RISCV_PMU_EVENT_TYPE_FW:
		return riscv_pmu_event_code(event_idx) < SBI_NR_FW ? 0 : pmu->fw_ctrs;
	default:
		return pmu->ctrs & ~pmu->fw_ctrs & ~pmu->fixed_ctrs;
	}
}

/**
 * riscv_pmu_sbi_event_ctrs() - which counters can hold a config's event
 * @pmu:	the PMU
 * @cfg:	the config
 *
 * See &riscv_pmu_ops.event_ctrs for the context.
 *
 * Return: the counters; untried ones are included.
 */
u64 riscv_pmu_sbi_event_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	const struct riscv_pmu_sbi *sbi = to_sbi(pmu);
	u64 candidates = sbi_candidates(pmu, cfg->event_idx);
	u32 code = riscv_pmu_event_code(cfg->event_idx);

	if (candidates)
		return sbi_other_event_ctrs(pmu, cfg, candidates);

	switch (riscv_pmu_event_type(cfg->event_idx)) {
	case RISCV_PMU_EVENT_TYPE_HW:
		return sbi_look_up(sbi->hw_ctrs, code, SBI_NR_HW);
	case RISCV_PMU_EVENT_TYPE_CACHE:
		return sbi_look_up(sbi->cache_ctrs, code, SBI_NR_CACHE);
	case RISCV_PMU_EVENT_TYPE_FW:
		return sbi_look_up(sbi->fw_ctrs, code, SBI_NR_FW);
	default:
		return 0;
	}
}

/**
 * riscv_pmu_sbi_untried_ctrs() - counters for which it is unknown whether they can hold an event
 * @pmu:	the PMU
 * @cfg:	a config with the event
 *
 * See &riscv_pmu_ops.untried_ctrs for the context.
 *
 * Return: the counters.
 */
u64 riscv_pmu_sbi_untried_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	u64 candidates = sbi_candidates(pmu, cfg->event_idx);
	struct sbi_known event;

	if (!candidates)
		return 0;

	event = sbi_recall(pmu, cfg);
	return candidates & ~(event.able | event.unable);
}

/*
 * On any machine some counter can hold cycles. If the firmware reports none, its answers about
 * other events are not used either.
 */
static void sbi_find_resolver(struct riscv_pmu_sbi *sbi)
{
	u64 ctrs;

	sbi->can_resolve = sbi->method->event_ctrs &&
			   !sbi->method->event_ctrs(RISCV_PMU_EVENT_CYCLES, 0, &ctrs) && ctrs;
	/* Firmware before SBI 3.0 does not have the function. */
	sbi->has_event_info = !sbi->can_resolve &&
			      riscv_pmu_sbi_event_is_supported(RISCV_PMU_EVENT_CYCLES, 0) > 0;
}

/**
 * riscv_pmu_sbi_find_events() - find the counters of all standard events
 * @pmu:	the PMU, its counters known, none of them in use
 *
 * Context: process, on one of the PMU's harts.
 */
void riscv_pmu_sbi_find_events(struct riscv_pmu *pmu)
{
	u64 hw = pmu->ctrs & ~pmu->fw_ctrs, programmable = hw & ~pmu->fixed_ctrs;
	struct riscv_pmu_sbi *sbi = to_sbi(pmu);
	u32 code;

	sbi_find_resolver(sbi);
	for (code = 1; code < SBI_NR_HW; code++) {
		u32 event_idx = RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_HW, code);

		sbi->hw_ctrs[code] = sbi_find_able(sbi, hw, event_idx);
	}
	for (code = 0; code < SBI_NR_CACHE; code++) {
		u32 event_idx = RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_CACHE, code);

		sbi->cache_ctrs[code] = sbi_find_able(sbi, programmable, event_idx);
	}
	for (code = 0; code < SBI_NR_FW; code++)
		sbi->fw_ctrs[code] = sbi_find_able(sbi, pmu->fw_ctrs, RISCV_PMU_EVENT_FW(code));
}
