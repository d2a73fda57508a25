// SPDX-License-Identifier: GPL-2.0
/* Counters of the SBI PMU extension, SBI 0.3 to 3.0 (chapter numbers are those of 3.0) */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include <linux/moduleparam.h>
#include <linux/slab.h>

#include <asm/pmu_csr.h>

#include "../csr.h"
#include "../fault.h"
#include "../nmi/block.h"
#include "../print.h"
#include "call.h"
#include "method.h"
#include "sbi.h"

/* A narrower counter wraps too fast to be polled. */
#define SBI_MIN_WIDTH		16

/* The methods that not every firmware supports, the best one first. */
static const struct riscv_pmu_sbi_method *const sbi_methods[] = {
	&riscv_pmu_sbi_batch_method,
	&riscv_pmu_sbi_snapshot_method,
};

static char *sbi_method_param = "auto";
module_param_named(sbi, sbi_method_param, charp, 0444);
MODULE_PARM_DESC(sbi, "SBI method, by which firmware calls a batch is applied: auto, batch, snapshot or plain");

/* The interrupt is acknowledged first, so that an overflow after the read raises it again. */
static u64 sbi_overflowed(struct riscv_pmu *pmu, u64 ctrs)
{
	u64 hit;

	riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
	hit = riscv_pmu_hpms_to_ctrs(pmu, ctrs, riscv_pmu_csr_read_ovf(pmu->ovf_csr));
	/*
	 * In a KVM guest, scountovf traps, or reads as 0 because hcounteren masks it (Sscofpmf).
	 * The core then compares each count with its overflow point. A narrow counter can
	 * overflow before that, so the firmware is asked about those.
	 */
	if (unlikely(!hit) && ctrs & pmu->narrow_ctrs && to_sbi(pmu)->method->overflowed)
		hit = to_sbi(pmu)->method->overflowed(ctrs);

	return hit;
}

/* Stops fixed counters too: QEMU 10.0.2 miscounts if the filters of a running counter change. */
static void sbi_stop_hart(struct riscv_pmu *pmu)
{
	/* Errors are ignored: the firmware returns one if a counter was not in use. */
	riscv_pmu_sbi_stop(pmu->ctrs & ~pmu->free_running_ctrs, SBI_PMU_STOP_FLAG_RESET);
	this_cpu_write(riscv_pmu_sbi_configs, 0);
	/*
	 * Firmware counters raise no interrupt. If this backend has no others, a pending interrupt
	 * is that of a delegated counter, which must not be lost.
	 */
	if (pmu->hwirq && pmu->ctrs & ~pmu->fw_ctrs)
		riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
}

/* Whether this hart can read a counter's CSR. A KVM guest can only if the counter is configured. */
static bool sbi_can_read(const struct riscv_pmu *pmu, const struct riscv_pmu_sbi_ctr_info *info)
{
	return pmu->in_guest || riscv_pmu_csr_is_readable(info->csr - CSR_CYCLE);
}

/* Why counters are not used: their firmware is wrong. */
static const char *const sbi_unusable[] = {
	"their widths are not 16 to 64 bits",
	"their CSR numbers are not those of counters",
	"their CSRs trap (set mcounteren)",
};

/* Checks the description of a counter. Returns an index of sbi_unusable, or -1 if it is right. */
static int sbi_check_ctr(const struct riscv_pmu *pmu, const struct riscv_pmu_sbi_ctr_info *info)
{
	if (info->width < SBI_MIN_WIDTH || info->width > 64)
		return 0;
	if (info->csr < CSR_CYCLE || info->csr >= CSR_CYCLE + PMU_CSR_CTR_NUM ||
	    info->csr == CSR_CYCLE + PMU_CSR_CTR_TIME)
		return 1;

	return sbi_can_read(pmu, info) ? -1 : 2;
}

static void sbi_add_ctr(struct riscv_pmu *pmu, unsigned int ctr,
			const struct riscv_pmu_sbi_ctr_info *info)
{
	u64 bit = BIT_ULL(ctr);

	pmu->ctrs |= bit;
	pmu->ctr[ctr].width = info->width;
	pmu->ctr[ctr].csr = info->csr;
	pmu->ctr[ctr].read = riscv_pmu_csr_reader(info->csr - CSR_CYCLE);
	if (info->csr != CSR_CYCLE + ctr)
		pmu->is_identity = false;
	if (info->csr < CSR_CYCLE + PMU_CSR_CTR_FIRST_HPM)
		pmu->fixed_ctrs |= bit;
	else if (pmu->has_filters)
		pmu->ctr[ctr].inh = SBI_ALL_MODES;
	if (pmu->hwirq && (pmu->fixed_irqs || !(pmu->fixed_ctrs & bit)))
		pmu->irq_ctrs |= bit;
}

static int sbi_find_ctrs(struct riscv_pmu *pmu)
{
	struct riscv_pmu_sbi_ctr_info info;
	u64 unusable[ARRAY_SIZE(sbi_unusable)] = {};
	unsigned int num, ctr;
	int why, err = riscv_pmu_sbi_num_ctrs(&num);

	if (err)
		return err;
	if (num > RISCV_MAX_COUNTERS) {
		pr_warn("firmware reports %u counters, only the first %d are used\n",
			num, RISCV_MAX_COUNTERS);
		num = RISCV_MAX_COUNTERS;
	}

	/* True with OpenSBI's counter numbers; sbi_add_ctr() clears it for others. */
	pmu->is_identity = true;
	for (ctr = 0; ctr < num; ctr++) {
		/* An error means that there is no counter of this number, such as 1 (time). */
		if (riscv_pmu_sbi_ctr_info(ctr, &info))
			continue;
		/* Only the type of a firmware counter is defined (SBI 3.0, COUNTER_GET_INFO). */
		if (info.is_fw) {
			riscv_pmu_sbi_fw_add(pmu, ctr);
			continue;
		}
		why = sbi_check_ctr(pmu, &info);
		if (why < 0)
			sbi_add_ctr(pmu, ctr, &info);
		else
			unusable[why] |= BIT_ULL(ctr);
	}
	for (why = 0; why < ARRAY_SIZE(sbi_unusable); why++) {
		if (unusable[why])
			pr_warn("firmware bug: counters 0x%llx are not used, because %s\n",
				unusable[why], sbi_unusable[why]);
	}

	return pmu->ctrs ? 0 : -ENODEV;
}

static void sbi_hart_start(struct riscv_pmu *pmu)
{
	const struct riscv_pmu_sbi_method *method = to_sbi(pmu)->method;
	int err;

	sbi_stop_hart(pmu);
	/* Errors are ignored: these counters run even if they cannot be started. */
	riscv_pmu_sbi_start(pmu->free_running_ctrs);
	err = method->hart_start ? method->hart_start() : 0;
	if (err)
		riscv_pmu_warn("hart %u cannot share a page with the firmware (error %d), so it needs more calls: check that the firmware is the same on all harts\n",
			       smp_processor_id(), err);
}

/* Whether the firmware of this hart describes a counter as it does on the hart that was probed. */
static bool sbi_has_ctr(const struct riscv_pmu *pmu, unsigned int ctr)
{
	struct riscv_pmu_sbi_ctr_info info;

	return !riscv_pmu_sbi_ctr_info(ctr, &info) && !info.is_fw &&
	       info.csr == pmu->ctr[ctr].csr && sbi_can_read(pmu, &info) &&
	       (info.width == pmu->ctr[ctr].width ||
		(pmu->clamped_ctrs & BIT_ULL(ctr) && info.width > pmu->ctr[ctr].width));
}

static const char *sbi_check_hart(struct riscv_pmu *pmu)
{
	for_each_ctr(ctr, pmu->ctrs & ~pmu->fw_ctrs) {
		if (!sbi_has_ctr(pmu, ctr))
			return "counters that trap, or that its firmware describes differently";
	}

	sbi_stop_hart(pmu);
	/* Not tested in a guest: its counters stand still while the host has none free. */
	return pmu->in_guest || riscv_pmu_sbi_has_fixed_ctrs(pmu) ? NULL :
		"whether fixed counters filter (Smcntrpmf), interrupt and can be configured";
}

static void sbi_hart_stop(struct riscv_pmu *pmu)
{
	const struct riscv_pmu_sbi_method *method = to_sbi(pmu)->method;

	sbi_stop_hart(pmu);
	if (method->hart_stop)
		method->hart_stop();
}

static bool sbi_is_chosen(const struct riscv_pmu_sbi_method *method)
{
	return !strcmp(sbi_method_param, "auto") || !strcmp(sbi_method_param, method->name);
}

/* Chooses the best method that the firmware has and the user allows. */
static void sbi_choose_method(struct riscv_pmu *pmu)
{
	struct riscv_pmu_sbi *sbi = to_sbi(pmu);

	for (unsigned int i = 0; i < ARRAY_SIZE(sbi_methods) && !sbi->method; i++) {
		int err = sbi_is_chosen(sbi_methods[i]) ? sbi_methods[i]->probe(pmu) : -ENODEV;

		if (!err)
			sbi->method = sbi_methods[i];
		else if (err != -ENODEV)
			pr_warn("SBI method \"%s\" cannot be used (error %d)\n",
				sbi_methods[i]->name, err);
	}
	sbi->method = sbi->method ?: &riscv_pmu_sbi_plain_method;

	if (!sbi_is_chosen(sbi->method))
		pr_warn("the firmware does not support riscv_pmu.sbi=%s, using plain calls; choose auto, batch, snapshot or plain\n",
			sbi_method_param);
	/* A vendor's own ops are not replaced. */
	if (pmu->ops.apply == riscv_pmu_sbi_plain_apply) {
		pmu->ops.apply = sbi->method->apply;
		pmu->ops.reload = sbi->method->reload;
	}
}

/* Applies a batch without the free-running counters. */
static int sbi_apply_others(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	const u64 others = ~pmu->free_running_ctrs;

	if (!((batch->stop | batch->release | batch->program | batch->start) & others))
		return 0;

	return riscv_pmu_sbi_apply_some(pmu, batch, others, to_sbi(pmu)->method->apply);
}

/* Finds out what the counters can do; they are all stopped. */
static void sbi_test_ctrs(struct riscv_pmu *pmu)
{
	riscv_pmu_sbi_map_events(pmu);
	riscv_pmu_sbi_find_events(pmu);
	/* With Ssccfg the kernel writes the hardware counters itself. */
	if (!pmu->no_calls)
		riscv_pmu_sbi_find_free_running(pmu);
	if (pmu->free_running_ctrs && pmu->ops.apply == to_sbi(pmu)->method->apply)
		pmu->ops.apply = sbi_apply_others;
	riscv_pmu_sbi_find_fixed_filters(pmu);
	riscv_pmu_sbi_test_fixed_irqs(pmu);
	if (!pmu->no_calls)
		riscv_pmu_sbi_find_quirks(pmu);
}

static int sbi_probe(struct riscv_pmu *pmu)
{
	struct riscv_pmu_sbi *sbi;
	int err;

	if (!riscv_pmu_sbi_has_pmu())
		return -ENODEV;

	pmu->in_guest = riscv_pmu_sbi_is_kvm();
	err = sbi_find_ctrs(pmu);
	if (err)
		return err;

	sbi = riscv_pmu_should_fail() ? NULL : kzalloc(sizeof(*sbi), GFP_KERNEL);
	if (!sbi)
		return -ENOMEM;

	spin_lock_init(&sbi->lock);
	pmu->priv = sbi;
	sbi_choose_method(pmu);
	scnprintf(pmu->firmware, sizeof(pmu->firmware), "SBI %lu.%lu, %s calls",
		  sbi_major_version(), sbi_minor_version(), sbi->method->name);
	pmu->loads = true;
	/* SBI 3.0 has version 2 of the type of raw events (11.3). */
	pmu->raw_bits = sbi_spec_version >= sbi_mk_version(3, 0) ? 56 : 48;
	scoped_guard(riscv_pmu_irqsave)
		sbi_hart_start(pmu);
	sbi_test_ctrs(pmu);
	return 0;
}

const struct riscv_pmu_ops riscv_pmu_sbi_ops = {
	.name		= "sbi",
	.probe		= sbi_probe,
	.check_hart	= sbi_check_hart,
	.event_ctrs	= riscv_pmu_sbi_event_ctrs,
	.untried_ctrs	= riscv_pmu_sbi_untried_ctrs,
	.hart_start	= sbi_hart_start,
	.hart_stop	= sbi_hart_stop,
	.apply		= riscv_pmu_sbi_plain_apply,
	.read_ctr	= riscv_pmu_sbi_fw_read,
	.overflowed	= sbi_overflowed,
};
