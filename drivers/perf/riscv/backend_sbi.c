// SPDX-License-Identifier: GPL-2.0
/*
 * Counters that the firmware hands out by the SBI PMU extension, from SBI 0.3
 * to 3.0 (chapter numbers are those of 3.0). What the firmware says is input:
 * bounded before it is used, refused where it makes no sense.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/preempt.h>
#include <linux/printk.h>

#include <asm/pmu_csr.h>

#include "backend.h"
#include "csr.h"
#include "event.h"
#include "sbi_call.h"

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

/* Counter n is hpmcounter n, as OpenSBI numbers them: masks need no translation. */
static bool sbi_is_identity;

/* Counters of each hart that have a program, and must not be tried out. */
static DEFINE_PER_CPU(u64, sbi_held);

static unsigned long sbi_inh_to_flags(u32 inh)
{
	unsigned long flags = 0;

	if (inh & RISCV_PMU_INH_U)
		flags |= SBI_PMU_CFG_FLAG_SET_UINH;
	if (inh & RISCV_PMU_INH_S)
		flags |= SBI_PMU_CFG_FLAG_SET_SINH;
	if (inh & RISCV_PMU_INH_VU)
		flags |= SBI_PMU_CFG_FLAG_SET_VUINH;
	if (inh & RISCV_PMU_INH_VS)
		flags |= SBI_PMU_CFG_FLAG_SET_VSINH;
	if (inh & RISCV_PMU_INH_M)
		flags |= SBI_PMU_CFG_FLAG_SET_MINH;

	return flags;
}

/* Lets the firmware take a program and forget it again: the only way to ask what it supports. */
static bool sbi_can_hold(u64 ctrs, u32 event_idx, u64 event_data)
{
	unsigned long irqs;
	int ctr;

	local_irq_save(irqs);
	ctr = sbi_call_cfg_match(ctrs & ~this_cpu_read(sbi_held), 0, event_idx, event_data);
	if (ctr >= 0 && sbi_call_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET))
		pr_warn_once("counter %d can not be reset\n", ctr);
	local_irq_restore(irqs);

	return ctr >= 0;
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

/*
 * Raw events and a platform's own firmware events: too many to try at boot.
 * Counters that are busy on this hart can not be tried. If a free one takes
 * the event they are believed to do so too; if all are busy, so is the event.
 * add() will find out.
 */
static u64 sbi_try_now(struct riscv_pmu *pmu, const struct riscv_pmu_prog *prog, u64 ctrs)
{
	u64 able, busy;

	/* What is busy must not change under us, as it would on another hart. */
	guard(preempt)();
	busy = ctrs & this_cpu_read(sbi_held);
	if (ctrs == busy)
		return ctrs;

	able = sbi_try_ctrs(ctrs & ~busy, prog->event_idx, prog->event_data);
	return able ? able | busy : 0;
}

static u64 sbi_event_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_prog *prog)
{
	u32 code = riscv_pmu_event_code(prog->event_idx);

	switch (riscv_pmu_event_type(prog->event_idx)) {
	case RISCV_PMU_EVENT_TYPE_HW:
		return code < SBI_NR_HW ? sbi_hw_ctrs[code] : 0;
	case RISCV_PMU_EVENT_TYPE_CACHE:
		return code < SBI_NR_CACHE ? sbi_cache_ctrs[code] : 0;
	case RISCV_PMU_EVENT_TYPE_FW:
		if (code < SBI_NR_FW)
			return sbi_fw_ctrs[code];
		return sbi_try_now(pmu, prog, pmu->fw_ctrs);
	default:
		return sbi_try_now(pmu, prog, pmu->ctrs & ~pmu->fw_ctrs & ~pmu->fixed_ctrs);
	}
}

static int sbi_program(unsigned int ctr, const struct riscv_pmu_prog *prog)
{
	int ret = sbi_call_cfg_match(BIT_ULL(ctr), sbi_inh_to_flags(prog->inh), prog->event_idx,
				     prog->event_data);

	if (ret == -EIO)
		pr_warn_once("firmware bug: it configures another counter than %u, the only one it may\n",
			     ctr);
	if (ret < 0)
		return ret;

	this_cpu_or(sbi_held, BIT_ULL(ctr));
	return 0;
}

/* A counter that fails is left as if it had never been asked. */
static int sbi_fail(struct riscv_pmu_batch *batch, unsigned int ctr, int err)
{
	batch->failed |= BIT_ULL(ctr);
	if (sbi_call_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET))
		pr_warn_once("counter %u can not be reset\n", ctr);
	this_cpu_and(sbi_held, ~BIT_ULL(ctr));
	return err;
}

/* Starts by mask; which counter an error is about is found out one by one. */
static int sbi_start_mask(struct riscv_pmu_batch *batch, u64 ctrs)
{
	int err = 0;

	if (!ctrs || !sbi_call_start(ctrs))
		return 0;

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		int ret = sbi_call_start(BIT_ULL(ctr));

		if (ret)
			err = sbi_fail(batch, ctr, err ?: ret);
	}

	return err;
}

/* A counter that runs on is counted on: its clock goes by what it reads. */
static void sbi_stop(u64 ctrs, unsigned long flags)
{
	int err = sbi_call_stop(ctrs, flags);

	if (unlikely(err))
		pr_warn_once("firmware can not stop counters (error %d)\n", err);
}

static void sbi_stop_batch(struct riscv_pmu_batch *batch)
{
	if (batch->stop)
		sbi_stop(batch->stop, 0);
	if (batch->release) {
		sbi_stop(batch->release, SBI_PMU_STOP_FLAG_RESET);
		this_cpu_and(sbi_held, ~batch->release);
	}
}

static int sbi_program_batch(struct riscv_pmu_batch *batch)
{
	int err = 0;

	for (u64 ctrs = batch->program; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		int ret = sbi_program(ctr, &batch->cfg[ctr].prog);

		if (ret)
			err = sbi_fail(batch, ctr, err ?: ret);
	}

	return err;
}

static int sbi_start_at(struct riscv_pmu_batch *batch, unsigned int ctr, int err)
{
	int ret = sbi_call_start_at(ctr, batch->cfg[ctr].value);

	return unlikely(ret) ? sbi_fail(batch, ctr, err ?: ret) : err;
}

static noinline int sbi_start_batch(struct riscv_pmu_batch *batch)
{
	u64 others = batch->start & ~batch->load;
	int err = 0, ret;

	for (u64 ctrs = batch->load & ~batch->failed; ctrs; ctrs &= ctrs - 1)
		err = sbi_start_at(batch, __ffs64(ctrs), err);

	if (others) {
		ret = sbi_start_mask(batch, others & ~batch->failed);
		err = err ?: ret;
	}

	return err;
}

static noinline int sbi_change_batch(struct riscv_pmu_batch *batch)
{
	int err, ret;

	sbi_stop_batch(batch);
	err = sbi_program_batch(batch);
	ret = sbi_start_batch(batch);
	return err ?: ret;
}

/* An overflow stops a counter, then starts it from another value: two batches that are cheap. */
static int sbi_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	u64 start = batch->start;

	if (batch->release | batch->program || (batch->stop && start))
		return sbi_change_batch(batch);
	if (!start) {
		sbi_stop(batch->stop, 0);
		return 0;
	}
	if (start != batch->load || start & (start - 1))
		return sbi_start_batch(batch);

	return sbi_start_at(batch, __ffs64(start), 0);
}

static u64 sbi_read_ctr(struct riscv_pmu *pmu, unsigned int ctr)
{
	return sbi_call_fw_read(ctr);
}

/* From hardware counters to the firmware's numbers for them. */
static u64 sbi_hpm_to_ctrs(const struct riscv_pmu *pmu, u64 ctrs, u64 hpms)
{
	u64 hit = 0;

	if (sbi_is_identity)
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
	riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);

	return sbi_hpm_to_ctrs(pmu, ctrs, riscv_pmu_csr_read_ovf(pmu->ovf_csr));
}

static u32 sbi_fixed_event(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return pmu->ctr[ctr].csr == CSR_CYCLE ? RISCV_PMU_EVENT_CYCLES :
						RISCV_PMU_EVENT_INSTRUCTIONS;
}

/*
 * The fixed counters stop too, so that what they count for perf starts with
 * their program: QEMU 10.0.2 miscounts when the filters of a running counter
 * change.
 */
static void sbi_stop_hart(struct riscv_pmu *pmu)
{
	/* An error means that some counter was not in use, which is what this is for. */
	sbi_call_stop(pmu->ctrs, SBI_PMU_STOP_FLAG_RESET);
	this_cpu_write(sbi_held, 0);
	if (pmu->hwirq)
		riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
}

/* Whether what the firmware says of a counter makes sense; if not, it is left out. */
static bool sbi_check_ctr(unsigned int ctr, const struct sbi_call_ctr_info *info)
{
	if (info->width < SBI_MIN_WIDTH || info->width > 64) {
		pr_warn("firmware bug: counter %u has a width of %u bits, not used\n",
			ctr, info->width);
		return false;
	}
	if (info->is_fw)
		return true;
	if (info->csr < CSR_CYCLE || info->csr >= CSR_CYCLE + PMU_CSR_CTR_NUM ||
	    info->csr == CSR_CYCLE + PMU_CSR_CTR_TIME) {
		pr_warn("firmware bug: counter %u is read by CSR 0x%x, which is none, not used\n",
			ctr, info->csr);
		return false;
	}

	return true;
}

static void sbi_add_ctr(struct riscv_pmu *pmu, unsigned int ctr,
			const struct sbi_call_ctr_info *info)
{
	u64 bit = BIT_ULL(ctr);

	pmu->ctrs |= bit;
	pmu->ctr[ctr].width = info->width;
	if (info->is_fw) {
		pmu->fw_ctrs |= bit;
		return;
	}

	pmu->ctr[ctr].csr = info->csr;
	pmu->ctr[ctr].read = riscv_pmu_csr_reader(info->csr - CSR_CYCLE);
	if (info->csr != CSR_CYCLE + ctr)
		sbi_is_identity = false;
	if (info->csr < CSR_CYCLE + PMU_CSR_CTR_FIRST_HPM) {
		pmu->fixed_ctrs |= bit;
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

	sbi_is_identity = true;
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
			sbi_try_ctrs(hw, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_HW, code), 0);
	for (code = 0; code < SBI_NR_CACHE; code++)
		sbi_cache_ctrs[code] =
			sbi_try_ctrs(hw & ~pmu->fixed_ctrs,
				     RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_CACHE, code), 0);
	for (code = 0; code < SBI_NR_FW; code++)
		sbi_fw_ctrs[code] = sbi_try_ctrs(pmu->fw_ctrs, RISCV_PMU_EVENT_FW(code), 0);
}

/* Whether a counter that was started moves at all over a few instructions. */
static bool sbi_advances(struct riscv_pmu *pmu, unsigned int ctr)
{
	u64 before = pmu->ctr[ctr].read();

	return pmu->ctr[ctr].read() != before;
}

/* Whether a fixed counter advances with the given modes inhibited. */
static bool sbi_fixed_advances(struct riscv_pmu *pmu, unsigned int ctr, u32 event_idx, u32 inh)
{
	if (sbi_call_cfg_match(BIT_ULL(ctr), sbi_inh_to_flags(inh), event_idx, 0) < 0 ||
	    sbi_call_start(BIT_ULL(ctr)))
		return false;

	return sbi_advances(pmu, ctr);
}

/*
 * Smcntrpmf lets cycle and instret be filtered. Nothing tells whether hart and
 * firmware both have it, so it is tried: with all modes inhibited, a counter
 * that otherwise advances must stand still.
 */
static void sbi_find_fixed_filters(struct riscv_pmu *pmu)
{
	for (u64 ctrs = pmu->fixed_ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		u32 event_idx = sbi_fixed_event(pmu, ctr);
		unsigned long irqs;

		local_irq_save(irqs);
		if (sbi_fixed_advances(pmu, ctr, event_idx, 0) &&
		    !sbi_fixed_advances(pmu, ctr, event_idx, SBI_ALL_MODES))
			pmu->ctr[ctr].inh = SBI_ALL_MODES;
		sbi_call_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET);
		local_irq_restore(irqs);
	}
}

/* Whether of two counters that are both to count cycles only the first does. */
static bool sbi_second_stands(struct riscv_pmu *pmu, unsigned int first, unsigned int second)
{
	if (sbi_call_cfg_match(BIT_ULL(first), 0, RISCV_PMU_EVENT_CYCLES, 0) < 0 ||
	    sbi_call_cfg_match(BIT_ULL(second), 0, RISCV_PMU_EVENT_CYCLES, 0) < 0 ||
	    sbi_call_start(BIT_ULL(first) | BIT_ULL(second)))
		return false;

	return sbi_advances(pmu, first) && !sbi_advances(pmu, second);
}

/*
 * QEMU 10.0.2 counts an event on one counter only, whatever the filters: a
 * second one that is given it stands still. Nothing tells, so it is tried.
 */
static void sbi_find_twin_bug(struct riscv_pmu *pmu)
{
	u64 ctrs = sbi_hw_ctrs[RISCV_PMU_EVENT_CYCLES] & ~pmu->fixed_ctrs;
	unsigned int first, second;
	unsigned long irqs;

	if (hweight64(ctrs) < 2)
		return;

	first = __ffs64(ctrs);
	second = __ffs64(ctrs & (ctrs - 1));
	local_irq_save(irqs);
	pmu->one_ctr_per_event = sbi_second_stands(pmu, first, second);
	sbi_call_stop(BIT_ULL(first) | BIT_ULL(second), SBI_PMU_STOP_FLAG_RESET);
	local_irq_restore(irqs);
}

static void sbi_name_firmware(struct riscv_pmu *pmu)
{
	scnprintf(pmu->firmware, sizeof(pmu->firmware), "SBI %lu.%lu",
		  sbi_major_version(), sbi_minor_version());
}

/* Every hart is taken to have the counters of the one that probes: the SBI knows no other kind. */
static int sbi_probe(struct riscv_pmu *pmu)
{
	unsigned long irqs;
	int err;

	if (!sbi_call_has_pmu())
		return -ENODEV;

	sbi_name_firmware(pmu);
	err = sbi_find_ctrs(pmu);
	if (err)
		return err;

	pmu->raw_bits = sbi_spec_version >= sbi_mk_version(3, 0) ? SBI_RAW_V2_BITS : SBI_RAW_BITS;
	local_irq_save(irqs);
	sbi_stop_hart(pmu);
	local_irq_restore(irqs);
	sbi_find_events(pmu);
	sbi_find_fixed_filters(pmu);
	sbi_find_twin_bug(pmu);
	return 0;
}

const struct riscv_pmu_ops riscv_pmu_sbi_ops = {
	.name		= "sbi",
	.probe		= sbi_probe,
	.event_ctrs	= sbi_event_ctrs,
	.hart_start	= sbi_stop_hart,
	.hart_stop	= sbi_stop_hart,
	.apply		= sbi_apply,
	.read_ctr	= sbi_read_ctr,
	.overflowed	= sbi_overflowed,
};
