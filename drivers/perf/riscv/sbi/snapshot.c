// SPDX-License-Identifier: GPL-2.0
/*
 * A batch by the standard calls, of which one starts several counters from
 * values of their own, and one tells which have overflowed: the snapshot, which
 * firmware may have from SBI 2.0 on (SBI 3.0, chapter 11: SNAPSHOT_SET_SHMEM).
 * Values and bits lie in the page by distance from the call's counter_idx_base.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/perf/riscv_pmu.h>

#include "../fault.h"
#include "../print.h"
#include "call.h"
#include "method.h"

static_assert(sizeof(struct riscv_pmu_snapshot_data) == PAGE_SIZE);

/* The page of each hart, and the same while its firmware has it. */
static struct riscv_pmu_snapshot_data __percpu *snapshot_pages;
static DEFINE_PER_CPU(struct riscv_pmu_snapshot_data *, snapshot_shmem);

/* To have no page is what every firmware can that has snapshots. */
static int snapshot_probe(struct riscv_pmu *pmu)
{
	if (sbi_spec_version < sbi_mk_version(2, 0) ||
	    riscv_pmu_sbi_snapshot_set_shmem(PHYS_ADDR_MAX))
		return -ENODEV;

	if (!snapshot_pages && !riscv_pmu_should_fail())
		snapshot_pages = __alloc_percpu(PAGE_SIZE, PAGE_SIZE);
	return snapshot_pages ? 0 : -ENOMEM;
}

static int snapshot_hart_start(void)
{
	struct riscv_pmu_snapshot_data *page = this_cpu_ptr(snapshot_pages);
	int err = riscv_pmu_sbi_snapshot_set_shmem(per_cpu_ptr_to_phys(page));

	this_cpu_write(snapshot_shmem, err ? NULL : page);
	return err;
}

static void snapshot_hart_stop(void)
{
	this_cpu_write(snapshot_shmem, NULL);
	riscv_pmu_sbi_snapshot_set_shmem(PHYS_ADDR_MAX);
}

/* Each word of the mask has a base of its own, and so the page to itself. */
static int snapshot_start(struct riscv_pmu_snapshot_data *shmem,
			  const struct riscv_pmu_batch *batch, u64 ctrs)
{
	int err = 0;

	for (unsigned int base = 0; base < 64 && !err; base += SBI_CALL_CTRS_PER_MASK) {
		unsigned long mask = ctrs >> base;

		if (!mask)
			continue;
		for (unsigned long rest = mask; rest; rest &= rest - 1) {
			unsigned int i = __ffs(rest);

			shmem->ctr_values[i] = batch->setup[base + i].value;
		}
		err = riscv_pmu_sbi_start_snapshot((u64)mask << base);
	}

	return err;
}

/*
 * Which counter an error is about is found out one by one. Those that have
 * started stop for it: a value is not written to one that runs. If it was none
 * of them it was the page (SBI_ERR_NO_SHMEM), and will be again.
 */
static noinline int snapshot_fail(struct riscv_pmu_batch *batch, u64 ctrs, int err)
{
	u64 failed = batch->failed;
	int ret;

	/* What an error here means the start of that counter shows. */
	riscv_pmu_sbi_stop(ctrs, 0);
	ret = riscv_pmu_sbi_plain_start(batch, ctrs);
	if (batch->failed == failed) {
		riscv_pmu_warn_once("firmware starts no counters from its page (error %d): it takes more calls\n",
				    err);
		this_cpu_write(snapshot_shmem, NULL);
	}

	return ret;
}

static noinline int snapshot_apply_load(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	struct riscv_pmu_snapshot_data *shmem = this_cpu_read(snapshot_shmem);
	int err, ret;
	u64 ctrs;

	if (unlikely(!shmem))
		return riscv_pmu_sbi_plain_apply(pmu, batch);

	err = riscv_pmu_sbi_plain_prepare(batch);
	ctrs = batch->load & ~batch->failed;
	ret = snapshot_start(shmem, batch, ctrs);
	if (unlikely(ret))
		ret = snapshot_fail(batch, ctrs, ret);
	else
		ret = riscv_pmu_sbi_plain_start(batch, 0);

	return err ?: ret;
}

/* One counter from a value takes one call either way, and no page. */
static int snapshot_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	if (!(batch->load & (batch->load - 1)))
		return riscv_pmu_sbi_plain_apply(pmu, batch);

	return snapshot_apply_load(pmu, batch);
}

/* Of counters in one word of the mask. What firmware has not written is 0. */
static u64 snapshot_overflowed_word(struct riscv_pmu_snapshot_data *shmem, u64 ctrs,
				    unsigned int base)
{
	WRITE_ONCE(shmem->ctr_overflow_mask, 0);
	/* An error is about some of them, and no reason to let the others stand. */
	riscv_pmu_sbi_stop(ctrs, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT);
	if (riscv_pmu_sbi_start(ctrs))
		riscv_pmu_warn_once("counters 0x%llx do not start again\n", ctrs);

	return READ_ONCE(shmem->ctr_overflow_mask) << base & ctrs;
}

/*
 * The bits come with the values of counters that stop. They start again from
 * where they stand: who has no overflow point is to count on, and who has one is
 * stopped by the core. KVM (6.12) repeats bits of earlier snapshots until a
 * start reads the page; the core finds such a counter not due.
 */
static u64 snapshot_overflowed(u64 ctrs)
{
	struct riscv_pmu_snapshot_data *shmem = this_cpu_read(snapshot_shmem);
	u64 hit = 0;

	if (!shmem)
		return 0;

	for (unsigned int base = 0; base < 64; base += SBI_CALL_CTRS_PER_MASK) {
		u64 word = ctrs & (u64)ULONG_MAX << base;

		if (word)
			hit |= snapshot_overflowed_word(shmem, word, base);
	}

	return hit;
}

const struct riscv_pmu_sbi_method riscv_pmu_sbi_snapshot_method = {
	.name		= "snapshot",
	.probe		= snapshot_probe,
	.hart_start	= snapshot_hart_start,
	.hart_stop	= snapshot_hart_stop,
	.apply		= snapshot_apply,
	.reload		= riscv_pmu_sbi_plain_reload,
	.overflowed	= snapshot_overflowed,
};
