// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that M-mode has left to S-mode (Smcdeleg, Ssccfg): no firmware call is
 * needed to program, start or stop one. What the firmware counts itself, and what
 * its machine calls an event, is still to be had from the SBI PMU extension where
 * there is one; but hardware counters are written here and nowhere else.
 */

#define pr_fmt(fmt) "riscv_pmu: ssccfg: " fmt

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/percpu.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/pmu_csr.h>

#include "backend.h"
#include "csr.h"
#include "event.h"
#include "fault.h"
#include "sbi_call.h"

/* A counter that wraps faster than it can be looked at is of no use. */
#define SSCCFG_MIN_WIDTH	16

#define SSCCFG_FIXED		(BIT(PMU_CSR_CTR_CYCLE) | BIT(PMU_CSR_CTR_INSTRET))

/* All standard events: ten general ones, and a code for each cache, operation and result. */
#define SSCCFG_NR_HW		PERF_COUNT_HW_MAX
#define SSCCFG_NR_CACHE		(PERF_COUNT_HW_CACHE_MAX << 3)

/**
 * struct ssccfg_event - a standard event that these counters can count
 * @selector:	what it is called, there and here
 * @ctrs:	programmable counters that can
 * @home:	one of them, that no other event has for its home; 0 if none was left
 */
struct ssccfg_event {
	struct riscv_pmu_selector selector;
	u64 ctrs;
	u64 home;
};

/**
 * struct ssccfg - what this backend knows of one CPU type
 * @event:	its standard events
 * @nr_events:	how many
 * @raw_ctrs:	programmable counters that raw events may have
 * @sbi_hw_ctrs: hardware counters that the firmware can configure as well
 * @sbi:	the SBI PMU, used for firmware counters; after its probe it has no others
 */
struct ssccfg {
	struct ssccfg_event event[SSCCFG_NR_HW + SSCCFG_NR_CACHE];
	unsigned int nr_events;
	u64 raw_ctrs;
	u64 sbi_hw_ctrs;
	struct riscv_pmu sbi;
};

/**
 * struct ssccfg_hart - what the firmware has been told about a hart's counters
 * @claimed:	counters that the firmware was asked to configure without M-mode
 * @is_up:	all counters have been claimed since the hart came up
 * @fw_asleep:	the hart has slept since: the firmware's counters have to be started again
 */
struct ssccfg_hart {
	u64 claimed;
	bool is_up;
	bool fw_asleep;
};

static DEFINE_PER_CPU(struct ssccfg_hart, ssccfg_hart);

/* What each counter of a hart was last given, without the overflow flag: 0 for nothing. */
static DEFINE_PER_CPU(u64 [RISCV_MAX_COUNTERS], ssccfg_written);

static struct ssccfg *to_ssccfg(const struct riscv_pmu *pmu)
{
	return pmu->priv;
}

static unsigned int ssccfg_ctr_to_hpm(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return pmu->ctr[ctr].csr - CSR_CYCLE;
}

static u32 ssccfg_ctrs_to_hpms(const struct riscv_pmu *pmu, u64 ctrs)
{
	u32 hpms = 0;

	if (likely(pmu->is_identity))
		return ctrs;

	for (; ctrs; ctrs &= ctrs - 1)
		hpms |= BIT(ssccfg_ctr_to_hpm(pmu, __ffs64(ctrs)));

	return hpms;
}

static u64 ssccfg_hpms_to_ctrs(const struct riscv_pmu *pmu, u64 ctrs, u64 hpms)
{
	u64 hit = 0;

	if (likely(pmu->is_identity))
		return ctrs & hpms;

	for (; ctrs; ctrs &= ctrs - 1) {
		if (hpms & BIT(ssccfg_ctr_to_hpm(pmu, __ffs64(ctrs))))
			hit |= ctrs & -ctrs;
	}

	return hit;
}

static u64 ssccfg_hw_ctrs(const struct riscv_pmu *pmu)
{
	return pmu->ctrs & ~pmu->fw_ctrs;
}

static u64 ssccfg_programmable_ctrs(const struct riscv_pmu *pmu)
{
	return ssccfg_hw_ctrs(pmu) & ~pmu->fixed_ctrs;
}

/* --- events --- */

static const struct ssccfg_event *ssccfg_find_event(const struct ssccfg *ssccfg, u32 event_idx)
{
	for (unsigned int i = 0; i < ssccfg->nr_events; i++) {
		if (ssccfg->event[i].selector.event_idx == event_idx)
			return &ssccfg->event[i];
	}

	return NULL;
}

static const struct ssccfg_event *ssccfg_find_selector(const struct ssccfg *ssccfg, u64 selector)
{
	for (unsigned int i = 0; i < ssccfg->nr_events; i++) {
		if (ssccfg->event[i].selector.selector == selector)
			return &ssccfg->event[i];
	}

	return NULL;
}

static u64 ssccfg_fixed_ctr(const struct riscv_pmu *pmu, u32 event_idx)
{
	u32 hpms = 0;

	if (event_idx == RISCV_PMU_EVENT_CYCLES)
		hpms = BIT(PMU_CSR_CTR_CYCLE);
	else if (event_idx == RISCV_PMU_EVENT_INSTRUCTIONS)
		hpms = BIT(PMU_CSR_CTR_INSTRET);

	return ssccfg_hpms_to_ctrs(pmu, pmu->fixed_ctrs, hpms);
}

static bool ssccfg_is_raw(u32 event_idx)
{
	u32 type = riscv_pmu_event_type(event_idx);

	return type == RISCV_PMU_EVENT_TYPE_RAW || type == RISCV_PMU_EVENT_TYPE_RAW_V2;
}

static u64 ssccfg_selector(const struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	const struct ssccfg_event *event;

	if (ssccfg_is_raw(cfg->event_idx))
		return cfg->event_data;

	event = ssccfg_find_event(to_ssccfg(pmu), cfg->event_idx);
	return event ? event->selector.selector : 0;
}

static u64 ssccfg_inh_to_event(u32 inh)
{
	u64 event = 0;

	if (inh & RISCV_PMU_INH_U)
		event |= PMU_HPMEVENT_UINH;
	if (inh & RISCV_PMU_INH_S)
		event |= PMU_HPMEVENT_SINH;
	if (inh & RISCV_PMU_INH_VU)
		event |= PMU_HPMEVENT_VUINH;
	if (inh & RISCV_PMU_INH_VS)
		event |= PMU_HPMEVENT_VSINH;

	return event;
}

static u32 ssccfg_event_to_inh(u64 event)
{
	u32 inh = 0;

	for (u32 bit = RISCV_PMU_INH_U; bit <= RISCV_PMU_INH_VS; bit <<= 1) {
		if (event & ssccfg_inh_to_event(bit))
			inh |= bit;
	}

	return inh;
}

/* --- a batch --- */

/* A fixed counter has filters only, if it has any. */
static u64 ssccfg_encode(const struct riscv_pmu *pmu, unsigned int ctr,
			 const struct riscv_pmu_config *cfg)
{
	u64 event = ssccfg_inh_to_event(cfg->inh & pmu->ctr[ctr].inh);

	return pmu->fixed_ctrs & BIT_ULL(ctr) ? event : event | ssccfg_selector(pmu, cfg);
}

/* Whether the selected counter takes an event: its bits stick only where it knows them. */
static bool ssccfg_takes(u64 event)
{
	riscv_pmu_csr_write_event(event);
	return !((riscv_pmu_csr_read_event() ^ event) & (PMU_HPMEVENT_SELECTOR | PMU_HPMEVENT_INH));
}

/*
 * Gives the selected counter another event, or none. By way of none: QEMU 10.0.2
 * lets go of an event only then.
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

/* A fixed counter without filters has nothing to be written. */
static bool ssccfg_has_event(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return pmu->ctr[ctr].inh || !(pmu->fixed_ctrs & BIT_ULL(ctr));
}

static void ssccfg_write_ctr(const struct riscv_pmu *pmu, struct riscv_pmu_batch *batch,
			     unsigned int ctr, u64 *written)
{
	u64 bit = BIT_ULL(ctr);

	riscv_pmu_csr_select(PMU_ISELECT_CTR + ssccfg_ctr_to_hpm(pmu, ctr));
	if ((batch->release | batch->program) & bit) {
		u64 event = 0;

		if (batch->program & bit)
			event = ssccfg_encode(pmu, ctr, &batch->setup[ctr].cfg);
		if (ssccfg_has_event(pmu, ctr) && !ssccfg_write_event(written, event)) {
			batch->failed |= bit;
			return;
		}
	} else if (ssccfg_has_event(pmu, ctr)) {
		/* Clears the overflow flag, and before the value is set: QEMU 10.0.2. */
		riscv_pmu_csr_write_event(*written);
	}
	if (batch->load & bit)
		riscv_pmu_csr_write_value(batch->setup[ctr].value);
}

static void ssccfg_write_ctrs(const struct riscv_pmu *pmu, struct riscv_pmu_batch *batch,
			      u64 ctrs)
{
	u64 *written = *this_cpu_ptr(&ssccfg_written);
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_CTR);

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		ssccfg_write_ctr(pmu, batch, ctr, &written[ctr]);
	}
	riscv_pmu_csr_select(select);
}

static void ssccfg_claim(const struct riscv_pmu *pmu, u64 ctrs);

/* Claims counters when they are first used after a sleep. */
static void ssccfg_claim_new(const struct riscv_pmu *pmu, u64 ctrs)
{
	u64 unclaimed = ctrs & ~this_cpu_read(ssccfg_hart.claimed);

	if (likely(!unclaimed))
		return;

	ssccfg_claim(pmu, unclaimed);
	/* Counters that the firmware refuses are not asked for again. */
	this_cpu_or(ssccfg_hart.claimed, unclaimed);
}

/* All stop with one instruction, and all start with another. */
static noinline int ssccfg_apply_hw(const struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	u64 stop = batch->stop | batch->release;
	u64 write = batch->release | batch->program | batch->load;

	if (stop)
		riscv_pmu_csr_inhibit(ssccfg_ctrs_to_hpms(pmu, stop));
	if (batch->program)
		ssccfg_claim_new(pmu, batch->program);
	if (write)
		ssccfg_write_ctrs(pmu, batch, write);
	if (batch->start)
		riscv_pmu_csr_uninhibit(ssccfg_ctrs_to_hpms(pmu, batch->start & ~batch->failed));

	return batch->failed ? -EIO : 0;
}

/* What is left of a batch's masks for some of its counters. */
static void ssccfg_copy_masks(struct riscv_pmu_batch *to, const struct riscv_pmu_batch *from,
			      u64 ctrs)
{
	to->stop = from->stop & ctrs;
	to->release = from->release & ctrs;
	to->program = from->program & ctrs;
	to->start = from->start & ctrs;
	to->load = from->load & ctrs;
	to->failed = from->failed & ctrs;
}

/* In the sleep the firmware has lost the hart's counters and its shared memory. */
static void ssccfg_wake_fw(struct riscv_pmu *sbi)
{
	if (likely(!this_cpu_read(ssccfg_hart.fw_asleep)))
		return;

	this_cpu_write(ssccfg_hart.fw_asleep, false);
	sbi->ops.hart_start(sbi);
}

/* Hardware counters and the firmware's: to each their own. */
static noinline int ssccfg_apply_both(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	const u64 stop = batch->stop, release = batch->release, program = batch->program;
	const u64 start = batch->start, load = batch->load;
	const u64 hw = ssccfg_hw_ctrs(pmu);
	struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;
	int err_hw, err_fw;
	u64 failed;

	ssccfg_copy_masks(batch, batch, hw);
	err_hw = ssccfg_apply_hw(pmu, batch);
	failed = batch->failed;

	batch->stop = stop;
	batch->release = release;
	batch->program = program;
	batch->start = start;
	batch->load = load;
	batch->failed = 0;
	ssccfg_copy_masks(batch, batch, pmu->fw_ctrs);
	ssccfg_wake_fw(sbi);
	err_fw = sbi->ops.apply(sbi, batch);

	batch->stop = stop;
	batch->release = release;
	batch->program = program;
	batch->start = start;
	batch->load = load;
	batch->failed |= failed;
	return err_hw ?: err_fw;
}

/*
 * One hardware counter that keeps its config starts from another value, and that
 * is all: what an overflow leads to.
 */
static bool ssccfg_is_reload(const struct riscv_pmu *pmu, const struct riscv_pmu_batch *batch)
{
	u64 load = batch->load;
	u64 more = (batch->stop & ~load) | batch->release | batch->program | (load & pmu->fw_ctrs);

	return load && load == batch->start && !(load & (load - 1)) && !more;
}

static int ssccfg_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	if (likely(ssccfg_is_reload(pmu, batch))) {
		unsigned long ctr = __ffs64(batch->load);

		riscv_pmu_csr_reload(ssccfg_ctr_to_hpm(pmu, ctr),
				     (*this_cpu_ptr(&ssccfg_written))[ctr],
				     batch->setup[ctr].value);
		return 0;
	}
	if (unlikely((batch->stop | batch->release | batch->program | batch->start) & pmu->fw_ctrs))
		return ssccfg_apply_both(pmu, batch);

	return ssccfg_apply_hw(pmu, batch);
}

static int ssccfg_reload(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was)
{
	*was = riscv_pmu_csr_exchange(ssccfg_ctr_to_hpm(pmu, ctr),
				      (*this_cpu_ptr(&ssccfg_written))[ctr], value);
	return 0;
}

static u64 ssccfg_read_ctr(struct riscv_pmu *pmu, unsigned int ctr)
{
	struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;

	return sbi->ops.read_ctr(sbi, ctr);
}

/* Acknowledged first: an overflow after the look finds the pending bit clear, and sets it. */
static u64 ssccfg_overflowed(struct riscv_pmu *pmu, u64 ctrs)
{
	riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
	return ssccfg_hpms_to_ctrs(pmu, ctrs, riscv_pmu_csr_read_ovf(pmu->ovf_csr));
}

/* --- which counters can hold an event --- */

/*
 * Raw events are tried on counters that are free. If one takes the event, those
 * that are busy are believed to do so too; if all are busy, so is the event.
 * add() will find out.
 */
static u64 ssccfg_try_raw(const struct riscv_pmu *pmu, u64 selector)
{
	const u64 raw_ctrs = to_ssccfg(pmu)->raw_ctrs;
	u64 able = 0, busy = 0;
	unsigned long select;
	const u64 *written;

	guard(irqsave)();
	written = *this_cpu_ptr(&ssccfg_written);
	select = riscv_pmu_csr_select(PMU_ISELECT_CTR);
	for (u64 ctrs = raw_ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (written[ctr]) {
			busy |= BIT_ULL(ctr);
			continue;
		}
		riscv_pmu_csr_select(PMU_ISELECT_CTR + ssccfg_ctr_to_hpm(pmu, ctr));
		if (ssccfg_takes(selector))
			able |= BIT_ULL(ctr);
		riscv_pmu_csr_write_event(0);
	}
	riscv_pmu_csr_select(select);

	return able || busy == raw_ctrs ? able | busy : 0;
}

/* With no idle counter the driver can not tell whether a raw event exists. */
static u64 ssccfg_untried_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	const u64 *written;

	if (riscv_pmu_event_type(cfg->event_idx) == RISCV_PMU_EVENT_TYPE_FW)
		return pmu->fw_ctrs ? ssccfg->sbi.ops.untried_ctrs(&ssccfg->sbi, cfg) : 0;
	if (!ssccfg_is_raw(cfg->event_idx) || ssccfg_find_selector(ssccfg, cfg->event_data))
		return 0;

	guard(preempt)();
	written = *this_cpu_ptr(&ssccfg_written);
	for (u64 ctrs = ssccfg->raw_ctrs; ctrs; ctrs &= ctrs - 1) {
		if (!written[__ffs64(ctrs)])
			return 0;
	}

	return ssccfg->raw_ctrs;
}

static u64 ssccfg_event_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	const struct ssccfg_event *event;

	if (riscv_pmu_event_type(cfg->event_idx) == RISCV_PMU_EVENT_TYPE_FW) {
		if (!pmu->fw_ctrs)
			return 0;
		/* event_ctrs() may configure a counter of this hart. */
		scoped_guard(irqsave)
			ssccfg_wake_fw(&ssccfg->sbi);
		return ssccfg->sbi.ops.event_ctrs(&ssccfg->sbi, cfg);
	}

	if (ssccfg_is_raw(cfg->event_idx)) {
		event = ssccfg_find_selector(ssccfg, cfg->event_data);
		return event ? event->ctrs : ssccfg_try_raw(pmu, cfg->event_data);
	}

	event = ssccfg_find_event(ssccfg, cfg->event_idx);
	return ssccfg_fixed_ctr(pmu, cfg->event_idx) | (event ? event->ctrs : 0);
}

/* --- harts --- */

/* An event that a counter can hold, its own if it has one. */
static const struct ssccfg_event *ssccfg_event_of(const struct ssccfg *ssccfg, u64 ctr)
{
	const struct ssccfg_event *any = NULL;

	for (unsigned int i = 0; i < ssccfg->nr_events; i++) {
		if (ssccfg->event[i].home & ctr)
			return &ssccfg->event[i];
		if (ssccfg->event[i].ctrs & ctr)
			any = &ssccfg->event[i];
	}

	return any;
}

/*
 * Whether the firmware counts in M-mode is its own to say, by a bit that S-mode
 * can neither see nor write (Smcdeleg). It does say it where it configures a
 * counter, so it is asked to do that once. It also does not give the counter to
 * anybody else then.
 */
static void ssccfg_claim_ctr(const struct riscv_pmu *pmu, unsigned int ctr, u32 event_idx)
{
	struct ssccfg_hart *hart = this_cpu_ptr(&ssccfg_hart);
	unsigned long select;

	if (sbi_call_cfg_match(BIT_ULL(ctr), SBI_PMU_CFG_FLAG_SET_MINH, event_idx, 0) < 0)
		return;

	hart->claimed |= BIT_ULL(ctr);
	if (!ssccfg_has_event(pmu, ctr))
		return;
	select = riscv_pmu_csr_select(PMU_ISELECT_CTR + ssccfg_ctr_to_hpm(pmu, ctr));
	riscv_pmu_csr_write_event(0);
	riscv_pmu_csr_select(select);
}

/* Claims the event's home counter first, or another counter would take the event. */
static void ssccfg_claim_programmable(const struct riscv_pmu *pmu, unsigned int ctr)
{
	const struct ssccfg_event *event = ssccfg_event_of(to_ssccfg(pmu), BIT_ULL(ctr));

	if (!event)
		return;
	if (event->home && !(event->home & this_cpu_read(ssccfg_hart.claimed)))
		ssccfg_claim_ctr(pmu, __ffs64(event->home), event->selector.event_idx);
	if (!(BIT_ULL(ctr) & this_cpu_read(ssccfg_hart.claimed)))
		ssccfg_claim_ctr(pmu, ctr, event->selector.event_idx);
}

static void ssccfg_claim_fixed(const struct riscv_pmu *pmu, unsigned int ctr)
{
	bool is_cycle = ssccfg_ctr_to_hpm(pmu, ctr) == PMU_CSR_CTR_CYCLE;

	ssccfg_claim_ctr(pmu, ctr, is_cycle ? RISCV_PMU_EVENT_CYCLES :
					      RISCV_PMU_EVENT_INSTRUCTIONS);
}

/* Counters of this hart that have not been claimed yet; interrupts off. */
static void ssccfg_claim(const struct riscv_pmu *pmu, u64 ctrs)
{
	for (ctrs &= to_ssccfg(pmu)->sbi_hw_ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (pmu->fixed_ctrs & BIT_ULL(ctr))
			ssccfg_claim_fixed(pmu, ctr);
		else
			ssccfg_claim_programmable(pmu, ctr);
	}
}

static void ssccfg_clear(const struct riscv_pmu *pmu)
{
	u64 *written = *this_cpu_ptr(&ssccfg_written);
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_CTR);

	riscv_pmu_csr_inhibit(ssccfg_ctrs_to_hpms(pmu, ssccfg_hw_ctrs(pmu)));
	for (u64 ctrs = ssccfg_hw_ctrs(pmu); ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		written[ctr] = 0;
		if (!ssccfg_has_event(pmu, ctr))
			continue;
		riscv_pmu_csr_select(PMU_ISELECT_CTR + ssccfg_ctr_to_hpm(pmu, ctr));
		riscv_pmu_csr_write_event(0);
	}
	riscv_pmu_csr_select(select);
	if (pmu->hwirq)
		riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
}

/*
 * Stops counters that firmware or an earlier kernel left running, and claims all. Returns the
 * counters for which M-mode is excluded; refused ones are not retried.
 */
static u64 ssccfg_start(struct riscv_pmu *pmu)
{
	struct ssccfg_hart *hart = this_cpu_ptr(&ssccfg_hart);
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	u64 claimed = 0;

	hart->claimed = 0;
	hart->fw_asleep = false;
	if (ssccfg->sbi.ctrs)
		ssccfg->sbi.ops.hart_start(&ssccfg->sbi);
	if (ssccfg->sbi_hw_ctrs) {
		sbi_call_stop(ssccfg->sbi_hw_ctrs, SBI_PMU_STOP_FLAG_RESET);
		ssccfg_claim(pmu, ssccfg_hw_ctrs(pmu));
		claimed = hart->claimed;
	}
	hart->claimed = ssccfg_hw_ctrs(pmu);
	ssccfg_clear(pmu);

	return claimed;
}

/* A hart that comes up, or that wakes from a sleep in which it has lost its counters. */
static void ssccfg_hart_start(struct riscv_pmu *pmu)
{
	struct ssccfg_hart *hart = this_cpu_ptr(&ssccfg_hart);

	if (!hart->is_up) {
		ssccfg_start(pmu);
		hart->is_up = true;
		return;
	}

	hart->claimed = 0;
	hart->fw_asleep = to_ssccfg(pmu)->sbi.ctrs;
	ssccfg_clear(pmu);
}

static void ssccfg_hart_stop(struct riscv_pmu *pmu)
{
	struct ssccfg *ssccfg = to_ssccfg(pmu);

	this_cpu_write(ssccfg_hart.is_up, false);
	ssccfg_clear(pmu);
	if (ssccfg->sbi_hw_ctrs)
		sbi_call_stop(ssccfg->sbi_hw_ctrs, SBI_PMU_STOP_FLAG_RESET);
	if (ssccfg->sbi.ctrs)
		ssccfg->sbi.ops.hart_stop(&ssccfg->sbi);
}

/* --- probe --- */

static void ssccfg_probe_sbi(const struct riscv_pmu *pmu)
{
	struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;

	*sbi = *pmu;
	if (!IS_ENABLED(CONFIG_RISCV_PMU_SBI))
		return;

	sbi->ops = riscv_pmu_sbi_ops;
	if (sbi->ops.probe(sbi)) {
		sbi->ctrs = 0;
		sbi->fw_ctrs = 0;
	}
}

/* From now on the SBI PMU handles firmware counters only. */
static void ssccfg_split_sbi(struct ssccfg *ssccfg)
{
	struct riscv_pmu *sbi = &ssccfg->sbi;

	ssccfg->sbi_hw_ctrs = sbi->ctrs & ~sbi->fw_ctrs & ~sbi->free_running_ctrs;
	sbi->ctrs &= sbi->fw_ctrs;
}

/* The firmware's number for a hardware counter, or one that it has for no other. */
static int ssccfg_number_ctr(const struct riscv_pmu *sbi, unsigned int hpm)
{
	for (u64 hw = sbi->ctrs & ~sbi->fw_ctrs; hw; hw &= hw - 1) {
		if (sbi->ctr[__ffs64(hw)].csr == CSR_CYCLE + hpm)
			return __ffs64(hw);
	}

	return sbi->ctrs & BIT_ULL(hpm) ? -ENOENT : hpm;
}

/* What the selected counter has: bits that stick. Its value and its event are lost. */
static void ssccfg_measure_ctr(struct riscv_pmu *pmu, unsigned int ctr, bool has_event)
{
	bool fixed = pmu->fixed_ctrs & BIT_ULL(ctr);

	riscv_pmu_csr_write_value(U64_MAX);
	pmu->ctr[ctr].width = fls64(riscv_pmu_csr_read_value());
	riscv_pmu_csr_write_value(0);
	if (!has_event)
		return;

	riscv_pmu_csr_write_event(PMU_HPMEVENT_OF | PMU_HPMEVENT_INH);
	pmu->ctr[ctr].inh = ssccfg_event_to_inh(riscv_pmu_csr_read_event());
	if (!fixed && pmu->hwirq && riscv_pmu_csr_read_event() & PMU_HPMEVENT_OF)
		pmu->irq_ctrs |= BIT_ULL(ctr);
	riscv_pmu_csr_write_event(0);
}

static void ssccfg_add_ctr(struct riscv_pmu *pmu, unsigned int hpm, bool has_event)
{
	int ctr = ssccfg_number_ctr(&to_ssccfg(pmu)->sbi, hpm);
	u64 bit = BIT_ULL(ctr & 63);

	if (ctr < 0)
		return;

	pmu->ctr[ctr].csr = CSR_CYCLE + hpm;
	pmu->ctr[ctr].read = riscv_pmu_csr_reader(hpm);
	if (BIT(hpm) & SSCCFG_FIXED)
		pmu->fixed_ctrs |= bit;
	riscv_pmu_csr_select(PMU_ISELECT_CTR + hpm);
	ssccfg_measure_ctr(pmu, ctr, has_event);
	if (pmu->ctr[ctr].width < SSCCFG_MIN_WIDTH) {
		pr_warn("hpmcounter%u has %u bits, not used\n", hpm, pmu->ctr[ctr].width);
		pmu->fixed_ctrs &= ~bit;
		pmu->irq_ctrs &= ~bit;
		return;
	}
	pmu->ctrs |= bit;
	pmu->is_identity &= ctr == hpm;
}

static void ssccfg_find_ctrs(struct riscv_pmu *pmu, u32 values, u32 events)
{
	unsigned long select;

	guard(irqsave)();
	pmu->is_identity = true;
	riscv_pmu_csr_inhibit(values);
	select = riscv_pmu_csr_select(PMU_ISELECT_CTR);
	for (u32 hpms = values; hpms; hpms &= hpms - 1)
		ssccfg_add_ctr(pmu, __ffs(hpms), events & hpms & -hpms);
	riscv_pmu_csr_select(select);
}

/* Firmware counters keep their numbers. */
static void ssccfg_add_fw_ctrs(struct riscv_pmu *pmu)
{
	const struct riscv_pmu *sbi = &to_ssccfg(pmu)->sbi;

	pmu->fw_ctrs = sbi->fw_ctrs;
	pmu->ctrs |= pmu->fw_ctrs;
	for (u64 ctrs = pmu->fw_ctrs; ctrs; ctrs &= ctrs - 1)
		pmu->ctr[__ffs64(ctrs)] = sbi->ctr[__ffs64(ctrs)];
}

/*
 * What the firmware calls an event is seen where it has configured a counter for
 * it; any firmware tells that way, and of the machine that it runs on.
 */
static u64 ssccfg_ask_selector(const struct riscv_pmu *pmu, unsigned int ctr, u32 event_idx)
{
	unsigned long select;
	u64 event = 0;

	guard(irqsave)();
	if (sbi_call_cfg_match(BIT_ULL(ctr), 0, event_idx, 0) >= 0) {
		select = riscv_pmu_csr_select(PMU_ISELECT_CTR + ssccfg_ctr_to_hpm(pmu, ctr));
		event = riscv_pmu_csr_read_event();
		riscv_pmu_csr_select(select);
	}
	sbi_call_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET);

	return event & PMU_HPMEVENT_SELECTOR;
}

static u64 ssccfg_known_selector(const struct riscv_pmu *pmu, u32 event_idx)
{
	for (unsigned int i = 0; i < pmu->nr_selectors; i++) {
		if (pmu->selectors[i].event_idx == event_idx)
			return pmu->selectors[i].selector;
	}

	return 0;
}

static void ssccfg_find_event_ctrs(const struct riscv_pmu *pmu, u32 event_idx)
{
	const struct riscv_pmu_config cfg = { .event_idx = event_idx };
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	u64 ctrs = 0, selector = 0;

	if (ssccfg->sbi.ctrs)
		ctrs = ssccfg->sbi.ops.event_ctrs(&ssccfg->sbi, &cfg) &
		       ssccfg_programmable_ctrs(pmu);
	if (ctrs) {
		selector = ssccfg_ask_selector(pmu, __ffs64(ctrs), event_idx);
	} else {
		selector = ssccfg_known_selector(pmu, event_idx);
		ctrs = ssccfg_programmable_ctrs(pmu);
	}
	if (!selector || !ctrs)
		return;

	ssccfg->event[ssccfg->nr_events++] = (struct ssccfg_event){
		.selector = { event_idx, selector },
		.ctrs = ctrs,
	};
}

static void ssccfg_find_homes(struct ssccfg *ssccfg)
{
	u64 taken = 0;

	for (unsigned int i = 0; i < ssccfg->nr_events; i++) {
		u64 free = ssccfg->event[i].ctrs & ~taken;

		ssccfg->event[i].home = free & -free;
		taken |= free & -free;
	}
}

static void ssccfg_find_events(const struct riscv_pmu *pmu)
{
	u32 code;

	for (code = 1; code <= SSCCFG_NR_HW; code++)
		ssccfg_find_event_ctrs(pmu, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_HW, code));
	for (code = 0; code < SSCCFG_NR_CACHE; code++)
		ssccfg_find_event_ctrs(pmu, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_CACHE, code));
	ssccfg_find_homes(to_ssccfg(pmu));
}

/* Whether the selected counter moves while the firmware has something to do. */
static bool ssccfg_moves(unsigned int hpm, u64 event)
{
	bool moves;

	riscv_pmu_csr_write_event(event);
	riscv_pmu_csr_write_value(0);
	riscv_pmu_csr_uninhibit(BIT(hpm));
	sbi_call_nothing();
	riscv_pmu_csr_inhibit(BIT(hpm));
	moves = riscv_pmu_csr_read_value();
	riscv_pmu_csr_write_event(0);

	return moves;
}

/* Rounds of the M-mode test; all have to agree. */
#define SSCCFG_NR_ROUNDS	4

/*
 * Tests whether a counter stops when all modes that S-mode can inhibit are inhibited. One that
 * does not advance in every round without them is assumed to count M-mode.
 */
static bool ssccfg_leaves_m_out(const struct riscv_pmu *pmu, unsigned int ctr, u64 selector)
{
	unsigned int hpm = ssccfg_ctr_to_hpm(pmu, ctr);
	unsigned long select;
	bool out = true;

	if (!IS_ENABLED(CONFIG_RISCV_PMU_SBI) || !pmu->ctr[ctr].inh)
		return false;

	select = riscv_pmu_csr_select(PMU_ISELECT_CTR + hpm);
	for (unsigned int i = 0; i < SSCCFG_NR_ROUNDS && out; i++)
		out = ssccfg_moves(hpm, selector) &&
		      !ssccfg_moves(hpm, selector | PMU_HPMEVENT_INH);
	riscv_pmu_csr_select(select);

	return out;
}

/*
 * Where no firmware can be asked, it may have left M-mode out by itself. What it does
 * with one programmable counter it is taken to do with all.
 */
static u64 ssccfg_try_m_filter(const struct riscv_pmu *pmu)
{
	const struct ssccfg_event *insns =
		ssccfg_find_event(to_ssccfg(pmu), RISCV_PMU_EVENT_INSTRUCTIONS);
	u64 out = 0;

	for (u64 ctrs = pmu->fixed_ctrs; ctrs; ctrs &= ctrs - 1) {
		if (ssccfg_leaves_m_out(pmu, __ffs64(ctrs), 0))
			out |= ctrs & -ctrs;
	}
	if (insns && insns->home &&
	    ssccfg_leaves_m_out(pmu, __ffs64(insns->home), insns->selector.selector))
		out |= ssccfg_programmable_ctrs(pmu);

	return out;
}

static void ssccfg_find_m_filter(struct riscv_pmu *pmu)
{
	u64 out;

	guard(irqsave)();
	out = ssccfg_start(pmu);
	if (!to_ssccfg(pmu)->sbi_hw_ctrs)
		out = ssccfg_try_m_filter(pmu);
	for (u64 ctrs = out; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		pmu->ctr[ctr].inh |= pmu->ctr[ctr].inh ? RISCV_PMU_INH_M : 0;
	}
}

/* Whether a counter whose event was taken away still counts it. */
static bool ssccfg_is_sticky(const struct riscv_pmu *pmu, unsigned int ctr, u64 selector)
{
	unsigned int hpm = ssccfg_ctr_to_hpm(pmu, ctr);
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_CTR + hpm);
	u64 before;
	bool clings;

	riscv_pmu_csr_write_event(selector);
	riscv_pmu_csr_write_event(0);
	riscv_pmu_csr_uninhibit(BIT(hpm));
	before = riscv_pmu_csr_read_value();
	clings = riscv_pmu_csr_read_value() != before;
	riscv_pmu_csr_inhibit(BIT(hpm));
	riscv_pmu_csr_select(select);

	return clings;
}

/* Whether of two counters that are both to count an event only the first does. */
static bool ssccfg_second_is_stopped(const struct riscv_pmu *pmu, u64 ctrs, u64 selector)
{
	unsigned int hpms[] = {
		ssccfg_ctr_to_hpm(pmu, __ffs64(ctrs)),
		ssccfg_ctr_to_hpm(pmu, __fls(ctrs)),
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

/*
 * QEMU 10.0.2 counts an event on one counter, and does not even take it from that
 * one unless all bits of hpmevent are 0: never, from S-mode, where M-mode is left
 * out. Each event then stays with its home, and no other gets there. No version number
 * tells, so it is tested; on QEMU only, because a slow hardware counter gives the same
 * result, and the workaround gives up counters.
 */
static void ssccfg_find_sticky_quirk(struct riscv_pmu *pmu)
{
	struct ssccfg *ssccfg = to_ssccfg(pmu);
	const struct ssccfg_event *cycles = ssccfg_find_event(ssccfg, RISCV_PMU_EVENT_CYCLES);
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

/* Harts with the same counters delegated make one PMU. */
static int ssccfg_select_cpus(struct cpumask *cpus)
{
	u32 values, events;

	return riscv_pmu_csr_find_delegated(cpus, &values, &events);
}

static int ssccfg_find_all(struct riscv_pmu *pmu, u32 values, u32 events)
{
	ssccfg_probe_sbi(pmu);
	ssccfg_find_ctrs(pmu, values, events);
	if (!pmu->ctrs)
		return -ENODEV;

	ssccfg_find_events(pmu);
	ssccfg_split_sbi(to_ssccfg(pmu));
	ssccfg_find_m_filter(pmu);
	ssccfg_find_sticky_quirk(pmu);
	ssccfg_add_fw_ctrs(pmu);
	memcpy(pmu->firmware, to_ssccfg(pmu)->sbi.firmware, sizeof(pmu->firmware));
	return 0;
}

static int ssccfg_probe(struct riscv_pmu *pmu)
{
	struct ssccfg *ssccfg;
	u32 values, events;
	int err;

	err = riscv_pmu_csr_find_delegated(&pmu->cpus, &values, &events);
	if (err)
		return err;
	/* A fixed counter may go without filters, others are nothing without an event. */
	values &= events | SSCCFG_FIXED;

	ssccfg = riscv_pmu_should_fail() ? NULL : kzalloc(sizeof(*ssccfg), GFP_KERNEL);
	if (!ssccfg)
		return -ENOMEM;
	pmu->priv = ssccfg;
	pmu->no_calls = true;
	err = ssccfg_find_all(pmu, values, events);
	if (err) {
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

const struct riscv_pmu_ops riscv_pmu_ssccfg_ops = {
	.name		= "ssccfg",
	.select_cpus		= ssccfg_select_cpus,
	.probe		= ssccfg_probe,
	.event_ctrs	= ssccfg_event_ctrs,
	.untried_ctrs	= ssccfg_untried_ctrs,
	.hart_start	= ssccfg_hart_start,
	.hart_stop	= ssccfg_hart_stop,
	.apply		= ssccfg_apply,
	.reload		= ssccfg_reload,
	.read_ctr	= ssccfg_read_ctr,
	.overflowed	= ssccfg_overflowed,
};
