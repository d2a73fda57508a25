// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that the firmware hands out by the SBI PMU extension, from SBI 0.3
 * to 3.0 (chapter numbers are those of 3.0). What the firmware says is input:
 * bounded before it is used, refused where it makes no sense.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/nospec.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/printk.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <asm/pmu_csr.h>

#include "backend.h"
#include "csr.h"
#include "event.h"
#include "print.h"
#include "sbi_call.h"
#include "sbi_method.h"

/* A counter that wraps faster than it can be looked at is of no use. */
#define SBI_MIN_WIDTH		16

#define SBI_ALL_MODES		(RISCV_PMU_INH_U | RISCV_PMU_INH_S | RISCV_PMU_INH_VU | \
				 RISCV_PMU_INH_VS | RISCV_PMU_INH_M)

/* Selectors of raw events: version 1 of the type, and 2 from SBI 3.0 on (11.3). */
#define SBI_RAW_BITS		48
#define SBI_RAW_V2_BITS		56

/* Codes 0..10 of the general events, and cache << 3 | op << 1 | result. */
#define SBI_NR_HW		(PERF_COUNT_HW_MAX + 1)
#define SBI_NR_CACHE		(PERF_COUNT_HW_CACHE_MAX << 3)
/* Firmware events that have a meaning (11.2.5); the rest is tried when asked for. */
#define SBI_NR_FW		22

/* Which counters take the standard events; found out once, at boot. */
static u64 sbi_hw_ctrs[SBI_NR_HW];
static u64 sbi_cache_ctrs[SBI_NR_CACHE];
static u64 sbi_fw_ctrs[SBI_NR_FW];

static const struct sbi_method *const sbi_methods[] = {
	&sbi_batch_method,
	&sbi_snapshot_method,
	&sbi_plain_method,
};

static const struct sbi_method *sbi_method = &sbi_plain_method;

static char *sbi_method_param = "auto";
module_param_named(sbi, sbi_method_param, charp, 0444);
MODULE_PARM_DESC(sbi, "how the firmware is told what to do: auto, batch, snapshot or plain");

/* The firmware tells which counters can hold an event, and need not be tried. */
static bool sbi_can_resolve;

/* The firmware tells whether any counter can hold a hardware event (SBI 3.0). */
static bool sbi_has_event_info;

/* Size of the cache of raw and platform-specific firmware events. */
#define SBI_NR_KNOWN		64

/**
 * struct sbi_known - which counters can hold an event, as far as is known
 * @pmu:	the PMU, or NULL in an entry that is not in use
 * @event_data:	of the event
 * @event_idx:	of the event
 * @able:	counters that can hold it
 * @unable:	counters that can not
 */
struct sbi_known {
	const struct riscv_pmu	*pmu;
	u64			event_data;
	u32			event_idx;
	u64			able;
	u64			unable;
};

/* The newest replace the oldest: users choose the selectors, so the cache is bounded. */
static struct sbi_known sbi_known[SBI_NR_KNOWN];
static unsigned int sbi_known_next;
static DEFINE_SPINLOCK(sbi_known_lock);

static struct sbi_known *sbi_find_known(const struct sbi_known *event)
{
	for (unsigned int i = 0; i < SBI_NR_KNOWN; i++) {
		struct sbi_known *known = &sbi_known[i];

		if (known->pmu == event->pmu && known->event_idx == event->event_idx &&
		    known->event_data == event->event_data)
			return known;
	}

	return NULL;
}

static struct sbi_known sbi_recall(const struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	struct sbi_known event = {
		.pmu = pmu,
		.event_idx = cfg->event_idx,
		.event_data = cfg->event_data,
	};
	const struct sbi_known *known;

	spin_lock(&sbi_known_lock);
	known = sbi_find_known(&event);
	if (known)
		event = *known;
	spin_unlock(&sbi_known_lock);

	return event;
}

/* Merges results: another task may have tried the same event on other counters. */
static void sbi_remember(const struct sbi_known *event)
{
	struct sbi_known *known;

	spin_lock(&sbi_known_lock);
	known = sbi_find_known(event);
	if (known) {
		known->able |= event->able;
		known->unable |= event->unable;
	} else {
		sbi_known[sbi_known_next++ % SBI_NR_KNOWN] = *event;
	}
	spin_unlock(&sbi_known_lock);
}

static void sbi_clear_events(void)
{
	spin_lock(&sbi_known_lock);
	memset(sbi_known, 0, sizeof(sbi_known));
	spin_unlock(&sbi_known_lock);
}

/*
 * Configures an event on any of those of @ctrs that hold no config, and resets the counter
 * again: the SBI has no other way to ask. Returns the counter; -EAGAIN if all hold a config;
 * -ENOENT if none of @tried can hold the event.
 */
static int sbi_try(u64 ctrs, u32 event_idx, u64 event_data, u64 *tried)
{
	int ctr;

	guard(irqsave)();
	*tried = ctrs & ~this_cpu_read(sbi_configs);
	if (!*tried)
		return -EAGAIN;

	ctr = sbi_call_cfg_match(*tried, 0, event_idx, event_data);
	if (ctr >= 0 && sbi_call_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET))
		riscv_pmu_warn_once("counter %d can not be reset\n", ctr);

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

	/* Most events exist nowhere: one call for all counters says so. */
	if (!sbi_can_hold(ctrs, event_idx, event_data))
		return 0;

	for (; ctrs; ctrs &= ctrs - 1) {
		u64 bit = ctrs & -ctrs;

		if (sbi_can_hold(bit, event_idx, event_data))
			able |= bit;
	}

	return able;
}

/* Which of some counters can hold a standard event; at boot, when all are free. */
static u64 sbi_find_able(u64 ctrs, u32 event_idx, u64 event_data)
{
	u64 able;

	if (sbi_can_resolve && !sbi_method->event_ctrs(event_idx, event_data, &able))
		return able & ctrs;

	return sbi_try_ctrs(ctrs, event_idx, event_data);
}

/*
 * Raw events and a platform's own firmware events are too many to find out about at
 * boot. The firmware picks one of the offered counters, so this takes one call for each
 * counter that can hold the event, and one more for all others. Counters that hold a config
 * stay unknown. Returns false if the firmware failed with an error other than
 * SBI_ERR_NOT_SUPPORTED: the result is then not cached.
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

static bool sbi_is_raw(u32 event_idx)
{
	u32 type = riscv_pmu_event_type(event_idx);

	return type == RISCV_PMU_EVENT_TYPE_RAW || type == RISCV_PMU_EVENT_TYPE_RAW_V2;
}

/* Ask the firmware first: what can be tried depends on which counters are free. */
static bool sbi_find_out(struct sbi_known *event, u64 ctrs)
{
	u64 able;

	if (sbi_can_resolve &&
	    !sbi_method->event_ctrs(event->event_idx, event->event_data, &able)) {
		event->able = able & ctrs;
		event->unable = ctrs & ~able;
		return true;
	}
	if (sbi_has_event_info && sbi_is_raw(event->event_idx) && !event->able &&
	    !sbi_call_event_is_supported(event->event_idx, event->event_data)) {
		event->unable = ctrs;
		return true;
	}

	return sbi_try_known(event, ctrs);
}

/* Untried counters stay candidates; add() goes on elsewhere if one refuses. */
static u64 sbi_other_event_ctrs(const struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg,
				u64 ctrs)
{
	struct sbi_known event = sbi_recall(pmu, cfg);

	if (ctrs & ~(event.able | event.unable) && sbi_find_out(&event, ctrs))
		sbi_remember(&event);

	return ctrs & ~event.unable;
}

/* The code is a user's: it must not even be guessed to be beyond the table. */
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

static u64 sbi_event_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	u64 candidates = sbi_candidates(pmu, cfg->event_idx);
	u32 code = riscv_pmu_event_code(cfg->event_idx);

	if (candidates)
		return sbi_other_event_ctrs(pmu, cfg, candidates);

	switch (riscv_pmu_event_type(cfg->event_idx)) {
	case RISCV_PMU_EVENT_TYPE_HW:
		return sbi_look_up(sbi_hw_ctrs, code, SBI_NR_HW);
	case RISCV_PMU_EVENT_TYPE_CACHE:
		return sbi_look_up(sbi_cache_ctrs, code, SBI_NR_CACHE);
	case RISCV_PMU_EVENT_TYPE_FW:
		return sbi_look_up(sbi_fw_ctrs, code, SBI_NR_FW);
	default:
		return 0;
	}
}

static u64 sbi_untried_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	u64 candidates = sbi_candidates(pmu, cfg->event_idx);
	struct sbi_known event;

	if (!candidates)
		return 0;

	event = sbi_recall(pmu, cfg);
	return candidates & ~(event.able | event.unable);
}

static u64 sbi_read_ctr(struct riscv_pmu *pmu, unsigned int ctr)
{
	return sbi_call_fw_read(ctr);
}

/* From hardware counters to the firmware's numbers for them. */
static u64 sbi_hpm_to_ctrs(const struct riscv_pmu *pmu, u64 ctrs, u64 hpms)
{
	u64 hit = 0;

	if (pmu->is_identity)
		return ctrs & hpms;

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (hpms & BIT_ULL(pmu->ctr[ctr].csr - CSR_CYCLE))
			hit |= BIT_ULL(ctr);
	}

	return hit;
}

/* Acknowledged first: an overflow after the look finds the pending bit clear, and sets it. */
static u64 sbi_overflowed(struct riscv_pmu *pmu, u64 ctrs)
{
	u64 hit;

	riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
	hit = sbi_hpm_to_ctrs(pmu, ctrs, riscv_pmu_csr_read_ovf(pmu->ovf_csr));
	/* KVM hides scountovf from its guests, which read 0 (hcounteren; Sscofpmf). */
	if (unlikely(!hit) && ctrs && sbi_method->overflowed)
		hit = sbi_method->overflowed(ctrs);

	return hit;
}

static u32 sbi_fixed_event(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return pmu->ctr[ctr].csr == CSR_CYCLE ? RISCV_PMU_EVENT_CYCLES :
						RISCV_PMU_EVENT_INSTRUCTIONS;
}

/*
 * The fixed counters stop too, so that what they count for perf starts with
 * their config: QEMU 10.0.2 miscounts when the filters of a running counter
 * change.
 */
static void sbi_stop_hart(struct riscv_pmu *pmu)
{
	/* An error means that some counter was not in use, which is what this is for. */
	sbi_call_stop(pmu->ctrs & ~pmu->free_running_ctrs, SBI_PMU_STOP_FLAG_RESET);
	this_cpu_write(sbi_configs, 0);
	if (pmu->hwirq)
		riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
}

/* Whether what the firmware says of a counter makes sense; if not, it is left out. */
static bool sbi_check_ctr(unsigned int ctr, const struct sbi_call_ctr_info *info)
{
	/* Of a firmware counter, only the type has a meaning (SBI 3.0, COUNTER_GET_INFO). */
	if (info->is_fw)
		return true;
	if (info->width < SBI_MIN_WIDTH || info->width > 64) {
		pr_warn("firmware bug: counter %u has a width of %u bits, not used\n",
			ctr, info->width);
		return false;
	}
	if (info->csr < CSR_CYCLE || info->csr >= CSR_CYCLE + PMU_CSR_CTR_NUM ||
	    info->csr == CSR_CYCLE + PMU_CSR_CTR_TIME) {
		pr_warn("firmware bug: counter %u is read by CSR 0x%x, which is none, not used\n",
			ctr, info->csr);
		return false;
	}

	return true;
}

/* What COUNTER_FW_READ returns: on RV32 the upper half came with SBI 2.0. */
static unsigned int sbi_fw_width(void)
{
	return IS_ENABLED(CONFIG_64BIT) || sbi_spec_version >= sbi_mk_version(2, 0) ? 64 : 32;
}

static void sbi_add_ctr(struct riscv_pmu *pmu, unsigned int ctr,
			const struct sbi_call_ctr_info *info)
{
	u64 bit = BIT_ULL(ctr);

	pmu->ctrs |= bit;
	if (info->is_fw) {
		pmu->fw_ctrs |= bit;
		pmu->ctr[ctr].width = sbi_fw_width();
		return;
	}

	pmu->ctr[ctr].width = info->width;
	pmu->ctr[ctr].csr = info->csr;
	pmu->ctr[ctr].read = riscv_pmu_csr_reader(info->csr - CSR_CYCLE);
	if (info->csr != CSR_CYCLE + ctr)
		pmu->is_identity = false;
	if (info->csr < CSR_CYCLE + PMU_CSR_CTR_FIRST_HPM) {
		pmu->fixed_ctrs |= bit;
		pmu->irq_ctrs |= pmu->hwirq && pmu->fixed_irqs ? bit : 0;
	} else {
		pmu->irq_ctrs |= pmu->hwirq ? bit : 0;
		pmu->ctr[ctr].inh = pmu->has_filters ? SBI_ALL_MODES : 0;
	}
}

static int sbi_find_ctrs(struct riscv_pmu *pmu)
{
	struct sbi_call_ctr_info info;
	unsigned int num, ctr;
	int err = sbi_call_num_ctrs(&num);

	if (err)
		return err;
	if (num > RISCV_MAX_COUNTERS) {
		pr_warn("firmware says it has %u counters, the first %d are used\n",
			num, RISCV_MAX_COUNTERS);
		num = RISCV_MAX_COUNTERS;
	}

	/* As OpenSBI numbers them: masks need no translation. */
	pmu->is_identity = true;
	for (ctr = 0; ctr < num; ctr++) {
		/* An error is how a hole in the numbering looks: counter 1, the time. */
		if (!sbi_call_ctr_info(ctr, &info) && sbi_check_ctr(ctr, &info))
			sbi_add_ctr(pmu, ctr, &info);
	}

	return pmu->ctrs ? 0 : -ENODEV;
}

static void sbi_find_events(struct riscv_pmu *pmu)
{
	u64 hw = pmu->ctrs & ~pmu->fw_ctrs;
	u32 code;

	for (code = 1; code < SBI_NR_HW; code++)
		sbi_hw_ctrs[code] =
			sbi_find_able(hw, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_HW, code), 0);
	for (code = 0; code < SBI_NR_CACHE; code++)
		sbi_cache_ctrs[code] =
			sbi_find_able(hw & ~pmu->fixed_ctrs,
				      RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_CACHE, code), 0);
	for (code = 0; code < SBI_NR_FW; code++)
		sbi_fw_ctrs[code] = sbi_find_able(pmu->fw_ctrs, RISCV_PMU_EVENT_FW(code), 0);
}

/* Rounds of each boot-time test; all have to agree. */
#define SBI_NR_ROUNDS		4
/* Loop iterations in each round, of at least two instructions. */
#define SBI_ROUND_TURNS		2048

/* Whether a counter that was started moves in a round: some thousand instructions. */
static bool sbi_advances(struct riscv_pmu *pmu, unsigned int ctr)
{
	u64 before = pmu->ctr[ctr].read();

	for (unsigned int i = 0; i < SBI_ROUND_TURNS; i++)
		barrier();

	return pmu->ctr[ctr].read() != before;
}

/* In how many of SBI_NR_ROUNDS the counter advances: a slow one in some only. */
static unsigned int sbi_count_moves(struct riscv_pmu *pmu, unsigned int ctr)
{
	unsigned int moves = 0;

	for (unsigned int i = 0; i < SBI_NR_ROUNDS; i++)
		moves += sbi_advances(pmu, ctr);

	return moves;
}

/*
 * In how many rounds a fixed counter moves with the given modes inhibited, or a negative
 * errno: a firmware that refuses says nothing about the counter.
 */
static int sbi_count_fixed_moves(struct riscv_pmu *pmu, unsigned int ctr, u32 event_idx, u32 inh)
{
	int ret = sbi_call_cfg_match(BIT_ULL(ctr), sbi_inh_to_flags(inh), event_idx, 0);

	if (ret >= 0)
		ret = sbi_call_start(BIT_ULL(ctr));
	if (!ret)
		ret = sbi_count_moves(pmu, ctr);
	sbi_call_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET);

	return ret;
}

/*
 * Smcntrpmf lets cycle and instret be filtered. Nothing tells whether hart and
 * firmware both have it, so it is tried: a counter that otherwise moves in every
 * round must move in none with all modes inhibited. If the result is unclear the counter is
 * treated as unable to filter: it would expose the kernel to users who must not see it.
 */
static void sbi_find_fixed_filters(struct riscv_pmu *pmu)
{
	for (u64 ctrs = pmu->fixed_ctrs & ~pmu->free_running_ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		u32 event_idx = sbi_fixed_event(pmu, ctr);
		unsigned long irqs;

		local_irq_save(irqs);
		if (sbi_count_fixed_moves(pmu, ctr, event_idx, 0) == SBI_NR_ROUNDS &&
		    sbi_count_fixed_moves(pmu, ctr, event_idx, SBI_ALL_MODES) == 0)
			pmu->ctr[ctr].inh = SBI_ALL_MODES;
		local_irq_restore(irqs);
	}
}

/* Has the method apply the batch, without the free-running counters. */
static int sbi_apply_others(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	const u64 others = ~pmu->free_running_ctrs;
	u64 stop = batch->stop, release = batch->release, program = batch->program;
	u64 start = batch->start, load = batch->load;
	int err = 0;

	batch->stop &= others;
	batch->release &= others;
	batch->program &= others;
	batch->start &= others;
	batch->load &= others;
	if (batch->stop | batch->release | batch->program | batch->start)
		err = sbi_method->apply(pmu, batch);
	batch->stop = stop;
	batch->release = release;
	batch->program = program;
	batch->start = start;
	batch->load = load;

	return err;
}

/* sbi_hart_start() has tried to stop the counter. */
static bool sbi_is_free_running(struct riscv_pmu *pmu, unsigned int ctr)
{
	guard(irqsave)();
	sbi_call_start(BIT_ULL(ctr));

	return riscv_pmu_csr_is_readable(pmu->ctr[ctr].csr - CSR_CYCLE) &&
	       sbi_count_moves(pmu, ctr);
}

/*
 * Fixed counters that the firmware announces but refuses to configure (OpenSBI 1.9 with
 * Sscofpmf). One that advances is used read-only, as by the legacy backend.
 */
static void sbi_find_free_running(struct riscv_pmu *pmu)
{
	for (u64 ctrs = pmu->fixed_ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		u64 *event_ctrs = &sbi_hw_ctrs[riscv_pmu_event_code(sbi_fixed_event(pmu, ctr))];
		u64 bit = BIT_ULL(ctr);

		if (*event_ctrs & bit)
			continue;
		pmu->irq_ctrs &= ~bit;
		if (sbi_is_free_running(pmu, ctr)) {
			pmu->free_running_ctrs |= bit;
			*event_ctrs |= bit;
		} else {
			pmu->ctrs &= ~bit;
			pmu->fixed_ctrs &= ~bit;
		}
	}

	if (pmu->free_running_ctrs && pmu->ops.apply == sbi_method->apply)
		pmu->ops.apply = sbi_apply_others;
}

/* Whether of two counters that are both to count cycles only the first does. */
static bool sbi_second_is_stopped(struct riscv_pmu *pmu, unsigned int first, unsigned int second)
{
	if (sbi_call_cfg_match(BIT_ULL(first), 0, RISCV_PMU_EVENT_CYCLES, 0) < 0 ||
	    sbi_call_cfg_match(BIT_ULL(second), 0, RISCV_PMU_EVENT_CYCLES, 0) < 0 ||
	    sbi_call_start(BIT_ULL(first) | BIT_ULL(second)))
		return false;

	return sbi_count_moves(pmu, first) == SBI_NR_ROUNDS && !sbi_count_moves(pmu, second);
}

/*
 * QEMU 10.0.2 counts an event on one counter only, whatever the filters: a
 * second one that is given it stands still. No version number tells, so it is tested; on
 * QEMU's machine only, because the workaround gives up counters.
 */
static bool sbi_has_duplicate_quirk(struct riscv_pmu *pmu)
{
	u64 ctrs = sbi_hw_ctrs[RISCV_PMU_EVENT_CYCLES] & ~pmu->fixed_ctrs;
	unsigned int first, second;
	bool has;

	if (!pmu->is_qemu || hweight64(ctrs) < 2)
		return false;

	first = __ffs64(ctrs);
	second = __ffs64(ctrs & (ctrs - 1));
	guard(irqsave)();
	has = sbi_second_is_stopped(pmu, first, second);
	sbi_call_stop(BIT_ULL(first) | BIT_ULL(second), SBI_PMU_STOP_FLAG_RESET);

	return has;
}

/* One of some counters: another one for the next number, as long as there are any. */
static u64 sbi_pick_home(u64 ctrs, unsigned int nr)
{
	if (!ctrs)
		return 0;

	for (nr %= hweight64(ctrs); nr; nr--)
		ctrs &= ctrs - 1;

	return ctrs & -ctrs;
}

/*
 * Each event keeps to one counter, beside its fixed one: what wants it a second
 * time, with other filters, then takes turns instead of counting nothing. Raw
 * selectors stay as they are: QEMU counts none.
 */
static void sbi_find_homes(struct riscv_pmu *pmu)
{
	unsigned int nr = 0;

	for (u32 code = 1; code < SBI_NR_HW; code++) {
		u64 ctrs = sbi_hw_ctrs[code] & ~pmu->fixed_ctrs;

		sbi_hw_ctrs[code] &= pmu->fixed_ctrs;
		sbi_hw_ctrs[code] |= sbi_pick_home(ctrs, nr);
		nr += !!ctrs;
	}
	for (u32 code = 0; code < SBI_NR_CACHE; code++) {
		u64 ctrs = sbi_cache_ctrs[code];

		sbi_cache_ctrs[code] = sbi_pick_home(ctrs, nr);
		nr += !!ctrs;
	}
}

static void sbi_hart_start(struct riscv_pmu *pmu)
{
	int err;

	sbi_stop_hart(pmu);
	/* An error means that they can not be stopped either. */
	if (pmu->free_running_ctrs)
		sbi_call_start(pmu->free_running_ctrs);
	if (!sbi_method->hart_start)
		return;

	err = sbi_method->hart_start();
	if (err)
		riscv_pmu_warn_once("a hart shares no page with its firmware (error %d): it takes more calls\n",
				    err);
}

static void sbi_hart_stop(struct riscv_pmu *pmu)
{
	sbi_stop_hart(pmu);
	if (sbi_method->hart_stop)
		sbi_method->hart_stop();
}

static bool sbi_is_chosen(const struct sbi_method *method)
{
	return !strcmp(sbi_method_param, "auto") || !strcmp(sbi_method_param, method->name);
}

/* The best way that this firmware has, of those that may be taken. */
static void sbi_choose_method(struct riscv_pmu *pmu)
{
	sbi_method = &sbi_plain_method;
	for (unsigned int i = 0; i < ARRAY_SIZE(sbi_methods); i++) {
		int err = sbi_is_chosen(sbi_methods[i]) ? sbi_methods[i]->probe(pmu) : -ENODEV;

		if (!err) {
			sbi_method = sbi_methods[i];
			break;
		}
		if (err != -ENODEV)
			pr_warn("%s calls can not be used (error %d)\n",
				sbi_methods[i]->name, err);
	}

	if (!sbi_is_chosen(sbi_method))
		pr_warn("sbi=%s is not to be had from this firmware, using plain calls; choose auto, batch, snapshot or plain\n",
			sbi_method_param);
	/* Unless a vendor has its own. */
	if (pmu->ops.apply == sbi_plain_apply) {
		pmu->ops.apply = sbi_method->apply;
		pmu->ops.reload = sbi_method->reload;
	}
}

/*
 * Cycles have a counter everywhere: a firmware that does not know of one knows of no event's
 * counters.
 */
static void sbi_find_resolver(void)
{
	u64 ctrs;

	sbi_can_resolve = sbi_method->event_ctrs &&
			  !sbi_method->event_ctrs(RISCV_PMU_EVENT_CYCLES, 0, &ctrs) && ctrs;
	/* Firmware before SBI 3.0 does not have the function. */
	sbi_has_event_info = !sbi_can_resolve &&
			     sbi_call_event_is_supported(RISCV_PMU_EVENT_CYCLES, 0) > 0;
}

static void sbi_name_firmware(struct riscv_pmu *pmu)
{
	scnprintf(pmu->firmware, sizeof(pmu->firmware), "SBI %lu.%lu, %s calls",
		  sbi_major_version(), sbi_minor_version(), sbi_method->name);
}

/* Every hart is taken to have the counters of the one that probes: the SBI knows no other kind. */
static int sbi_probe(struct riscv_pmu *pmu)
{
	unsigned long irqs;
	int err;

	if (!sbi_call_has_pmu())
		return -ENODEV;

	err = sbi_find_ctrs(pmu);
	if (err)
		return err;
	sbi_choose_method(pmu);
	sbi_name_firmware(pmu);
	pmu->loads = true;

	pmu->raw_bits = sbi_spec_version >= sbi_mk_version(3, 0) ? SBI_RAW_V2_BITS : SBI_RAW_BITS;
	local_irq_save(irqs);
	sbi_hart_start(pmu);
	local_irq_restore(irqs);
	sbi_clear_events();
	sbi_find_resolver();
	sbi_find_events(pmu);
	/* With Ssccfg the kernel writes the counters itself. */
	if (!pmu->no_calls)
		sbi_find_free_running(pmu);
	sbi_find_fixed_filters(pmu);
	/* Who writes the counters without firmware sees to that without it. */
	if (!pmu->no_calls && sbi_has_duplicate_quirk(pmu))
		sbi_find_homes(pmu);
	return 0;
}

const struct riscv_pmu_ops riscv_pmu_sbi_ops = {
	.name		= "sbi",
	.probe		= sbi_probe,
	.event_ctrs	= sbi_event_ctrs,
	.untried_ctrs	= sbi_untried_ctrs,
	.hart_start	= sbi_hart_start,
	.hart_stop	= sbi_hart_stop,
	.apply		= sbi_plain_apply,
	.read_ctr	= sbi_read_ctr,
	.overflowed	= sbi_overflowed,
};
