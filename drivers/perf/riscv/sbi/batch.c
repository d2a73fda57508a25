// SPDX-License-Identifier: GPL-2.0
/*
 * The SBI method "batch": it applies a batch by one call of the PMU batch extension
 * (Documentation/arch/riscv/sbi-pmu-batch.rst), which the patches in opensbi/ add to OpenSBI.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include <linux/gfp.h>
#include <linux/io.h>

#include <asm/sbi_pmu_batch.h>

#include "../event.h"
#include "../nmi/block.h"
#include "../print.h"
#include "call.h"
#include "method.h"

static_assert(sizeof(struct sbi_pmu_batch_shmem) == SBI_PMU_BATCH_SHMEM_SIZE);

/* The page of each hart; and the same pointer while the firmware uses the page, else NULL. */
static DEFINE_PER_CPU(struct sbi_pmu_batch_shmem *, batch_page);
static DEFINE_PER_CPU(struct sbi_pmu_batch_shmem *, batch_shmem);

static int batch_probe(struct riscv_pmu *pmu)
{
	unsigned int cpu;

	if (!riscv_pmu_sbi_has_batch())
		return -ENODEV;

	for_each_possible_cpu(cpu) {
		if (!per_cpu(batch_page, cpu))
			per_cpu(batch_page, cpu) = (void *)get_zeroed_page(GFP_KERNEL);
		if (!per_cpu(batch_page, cpu))
			goto free_pages;
	}
	pmu->one_call = true;
	return 0;

free_pages:
	for_each_possible_cpu(cpu) {
		free_page((unsigned long)per_cpu(batch_page, cpu));
		per_cpu(batch_page, cpu) = NULL;
	}
	return -ENOMEM;
}

static int batch_hart_start(void)
{
	struct sbi_pmu_batch_shmem *page = this_cpu_read(batch_page);
	int err = riscv_pmu_sbi_batch_set_shmem(virt_to_phys(page));

	this_cpu_write(batch_shmem, err ? NULL : page);
	return err;
}

static void batch_hart_stop(void)
{
	this_cpu_write(batch_shmem, NULL);
	riscv_pmu_sbi_batch_set_shmem(PHYS_ADDR_MAX);
}

static void batch_write_configs(struct sbi_pmu_batch_shmem *shmem,
				const struct riscv_pmu_batch *batch)
{
	for_each_ctr(ctr, batch->release & ~batch->program)
		shmem->slot[ctr].event_idx = SBI_PMU_BATCH_NO_EVENT;

	for_each_ctr(ctr, batch->program) {
		const struct riscv_pmu_config *cfg = &batch->setup[ctr].cfg;
		struct sbi_pmu_batch_slot *slot = &shmem->slot[ctr];

		slot->event_data = cfg->event_data;
		slot->event_idx = cfg->event_idx;
		slot->flags = riscv_pmu_sbi_inh_to_flags(cfg->inh);
	}

	this_cpu_write(riscv_pmu_sbi_configs,
		       (this_cpu_read(riscv_pmu_sbi_configs) & ~batch->release) | batch->program);
}

/* Without failed counters in the page, the firmware refuses the batch or cannot access the page. */
static noinline int batch_fail(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch,
			       const struct sbi_pmu_batch_shmem *shmem, int err)
{
	u64 failed = READ_ONCE(shmem->failed);

	if (err != -EIO || !failed) {
		/* Use plain calls for this batch and for all later ones of this hart. */
		this_cpu_write(batch_shmem, NULL);
		riscv_pmu_warn_once("firmware bug: batch refused (stop 0x%llx, program 0x%llx, start 0x%llx), using plain calls\n",
				    batch->stop | batch->release, batch->program, batch->start);
		return riscv_pmu_sbi_plain_apply(pmu, batch);
	}

	failed &= batch->program | batch->start;
	batch->failed |= failed;
	this_cpu_and(riscv_pmu_sbi_configs, ~failed);
	return failed ? err : 0;
}

static int batch_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	struct sbi_pmu_batch_shmem *shmem = this_cpu_read(batch_shmem);
	u64 named = batch->program | batch->release;
	int err;

	if (unlikely(!shmem))
		return riscv_pmu_sbi_plain_apply(pmu, batch);

	if (named)
		batch_write_configs(shmem, batch);
	shmem->load = batch->load;
	for_each_ctr(ctr, batch->load)
		shmem->slot[ctr].value = batch->setup[ctr].value;

	err = riscv_pmu_sbi_batch_apply(batch->stop | batch->release, named, batch->start);
	return unlikely(err) ? batch_fail(pmu, batch, shmem, err) : 0;
}

/* The counter is read last, so that it counts until right before the call. */
static int batch_reload(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was)
{
	struct sbi_pmu_batch_shmem *shmem = this_cpu_read(batch_shmem);
	u64 unused, bit = BIT_ULL(ctr);

	if (unlikely(!shmem))
		return riscv_pmu_sbi_plain_reload(pmu, ctr, value, was);

	shmem->load = bit;
	shmem->slot[ctr].value = value;
	*was = pmu->ctr[ctr].read();
	if (likely(!riscv_pmu_sbi_batch_apply(bit, 0, bit)))
		return 0;

	/* The value that is read now is ignored: the failed call may have written the counter. */
	return riscv_pmu_sbi_plain_reload(pmu, ctr, value, &unused);
}

static int batch_event_ctrs(u32 event_idx, u64 event_data, u64 *ctrs)
{
	struct sbi_pmu_batch_shmem *shmem;
	int err;

	guard(riscv_pmu_irqsave)();
	shmem = this_cpu_read(batch_shmem);
	if (!shmem)
		return -ENODEV;

	err = riscv_pmu_sbi_batch_resolve(event_idx, event_data);
	*ctrs = err ? 0 : READ_ONCE(shmem->ctrs);
	/* No counter can hold the event (-ENOENT): this is a valid result, not an error. */
	return err == -ENOENT ? 0 : err;
}

/* The first slot has the event. Its counters are hardware counters, whose numbers are below 32. */
static int batch_map_event(const struct riscv_pmu_selector *event, u64 ctrs)
{
	struct sbi_pmu_batch_shmem *shmem;

	guard(riscv_pmu_irqsave)();
	shmem = this_cpu_read(batch_shmem);
	if (!shmem)
		return -ENODEV;

	shmem->slot[0].event_idx = event->event_idx;
	shmem->slot[0].value = event->selector;
	shmem->slot[0].event_data = event->mask;
	shmem->slot[0].flags = lower_32_bits(ctrs);
	return riscv_pmu_sbi_batch_map_events(BIT_ULL(0));
}

const struct riscv_pmu_sbi_method riscv_pmu_sbi_batch_method = {
	.name		= "batch",
	.probe		= batch_probe,
	.hart_start	= batch_hart_start,
	.hart_stop	= batch_hart_stop,
	.apply		= batch_apply,
	.reload		= batch_reload,
	.event_ctrs	= batch_event_ctrs,
	.map_event	= batch_map_event,
};
