// SPDX-License-Identifier: GPL-2.0
/*
 * The SBI method "snapshot" (since SBI 2.0): the hart shares a page with the firmware, so that one
 * call can start several counters from different values, or return which counters have overflowed.
 * The index of a counter in the page is its number minus the call's counter_idx_base.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include "../fault.h"
#include "../print.h"
#include "call.h"
#include "method.h"

static_assert(sizeof(struct riscv_pmu_snapshot_data) == PAGE_SIZE);

/* The page of each hart; and a pointer to it while the firmware uses it, else NULL. */
static struct riscv_pmu_snapshot_data __percpu *snapshot_pages;
static DEFINE_PER_CPU(struct riscv_pmu_snapshot_data *, snapshot_shmem);

/* Any firmware that supports snapshots accepts a call that disables the page. */
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

/* Each word of the mask has its own base, and its own call that uses the whole page. */
static int snapshot_start(struct riscv_pmu_snapshot_data *shmem,
			  const struct riscv_pmu_batch *batch, u64 ctrs)
{
	int err = 0;

	sbi_call_for_each_word(base, mask, ctrs) {
		for_each_ctr(i, mask)
			shmem->ctr_values[i] = batch->setup[base + i].value;
		err = err ?: riscv_pmu_sbi_start_snapshot(base, mask);
	}

	return err;
}

/*
 * Starts the counters one by one, to find the failed ones. The counters that were started are
 * stopped before, because the firmware does not write the value of a running counter. If none
 * fails now, the page caused the error (SBI_ERR_NO_SHMEM), and is not used again.
 */
static noinline int snapshot_fail(struct riscv_pmu_batch *batch, u64 ctrs, int err)
{
	u64 failed = batch->failed;
	int ret;

	/* Errors are ignored: a counter that did not stop fails when it is started. */
	riscv_pmu_sbi_stop(ctrs, 0);
	ret = riscv_pmu_sbi_plain_start(batch, ctrs);
	if (batch->failed == failed) {
		riscv_pmu_warn_once("the firmware cannot start counters from the snapshot page (error %d): more calls are needed\n",
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

	err = riscv_pmu_sbi_plain_prepare(pmu, batch);
	ctrs = batch->load & ~batch->failed;
	ret = snapshot_start(shmem, batch, ctrs);
	ret = unlikely(ret) ? snapshot_fail(batch, ctrs, ret) : riscv_pmu_sbi_plain_start(batch, 0);
	return err ?: ret;
}

/* To start a single counter from a value, a plain call is enough. */
static int snapshot_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	if (!(batch->load & (batch->load - 1)))
		return riscv_pmu_sbi_plain_apply(pmu, batch);

	return snapshot_apply_load(pmu, batch);
}

/*
 * The firmware writes the overflow bits when it stops counters. They are then started again from
 * their present values, because counters without an overflow point have to keep counting. KVM
 * (Linux 6.12) sets the bits of earlier snapshots again until a start reads the page. The core
 * ignores such a counter, because none of its events has reached its overflow point.
 */
static u64 snapshot_overflowed(u64 ctrs)
{
	struct riscv_pmu_snapshot_data *shmem = this_cpu_read(snapshot_shmem);
	u64 hit = 0;

	if (!shmem)
		return 0;

	sbi_call_for_each_word(base, mask, ctrs) {
		u64 word = mask << base;

		/* In case the firmware does not write it. */
		WRITE_ONCE(shmem->ctr_overflow_mask, 0);
		/* If some counters cannot be stopped, the others are started again nevertheless. */
		riscv_pmu_sbi_stop(word, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT);
		if (riscv_pmu_sbi_start(word))
			riscv_pmu_warn_once("counters 0x%llx cannot be restarted after a snapshot\n",
					    word);
		hit |= READ_ONCE(shmem->ctr_overflow_mask) << base & word;
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
