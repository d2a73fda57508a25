// SPDX-License-Identifier: GPL-2.0
/*
 * The SBI method "plain": a batch is applied by calls that every firmware supports. Counters are
 * stopped by mask, configured one by one, and started by mask, or one by one if from a value.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include "../csr.h"
#include "../print.h"
#include "call.h"
#include "method.h"

/* Counters of each hart that hold a config, and must not be used to test events. */
DEFINE_PER_CPU(u64, riscv_pmu_sbi_configs);

static int sbi_write_config(unsigned int ctr, const struct riscv_pmu_config *cfg)
{
	unsigned long flags = riscv_pmu_sbi_inh_to_flags(cfg->inh);
	int ret = riscv_pmu_sbi_cfg_match(BIT_ULL(ctr), flags, cfg->event_idx, cfg->event_data);

	if (ret == -EIO)
		riscv_pmu_warn_once("firmware bug: a call to configure counter %u configured another counter\n",
				    ctr);
	if (ret < 0)
		return ret;

	this_cpu_or(riscv_pmu_sbi_configs, BIT_ULL(ctr));
	return 0;
}

/* Resets a counter that failed, so that it holds no config. */
static void sbi_clear_known(unsigned int ctr)
{
	if (riscv_pmu_sbi_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET))
		riscv_pmu_warn_once("counter %u cannot be reset\n", ctr);
	this_cpu_and(riscv_pmu_sbi_configs, ~BIT_ULL(ctr));
}

static int sbi_fail(struct riscv_pmu_batch *batch, unsigned int ctr, int err)
{
	batch->failed |= BIT_ULL(ctr);
	sbi_clear_known(ctr);
	return err;
}

/* Starts counters by mask. After an error, starts them one by one to find the failed ones. */
static int sbi_start_mask(struct riscv_pmu_batch *batch, u64 ctrs)
{
	int err = 0;

	if (!ctrs || !riscv_pmu_sbi_start(ctrs))
		return 0;

	for_each_ctr(ctr, ctrs) {
		int ret = riscv_pmu_sbi_start(BIT_ULL(ctr));

		if (ret)
			err = sbi_fail(batch, ctr, err ?: ret);
	}

	return err;
}

/* A counter that is not stopped keeps counting. Counts stay right: they come from values read. */
static void sbi_stop(u64 ctrs, unsigned long flags)
{
	int err = riscv_pmu_sbi_stop(ctrs, flags);

	if (unlikely(err))
		riscv_pmu_warn_once("firmware cannot stop counters (error %d)\n", err);
}

/*
 * Stops counters that keep their config. After the interrupt's handler acknowledged it, a level may
 * have set it again, and while it is pending, OpenSBI's START does not clear the overflow flag.
 */
static __always_inline void sbi_pause(const struct riscv_pmu *pmu, u64 ctrs)
{
	sbi_stop(ctrs, 0);
	if (unlikely(pmu->level_irq))
		riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
}

static int sbi_start_at(struct riscv_pmu_batch *batch, unsigned int ctr, int err)
{
	int ret = riscv_pmu_sbi_start_at(ctr, batch->setup[ctr].value);

	return unlikely(ret) ? sbi_fail(batch, ctr, err ?: ret) : err;
}

/*
 * Starts the counters of a batch that have not failed. @load: those of batch->load that are not
 * started yet. Returns the errno of the first counter that fails, or 0.
 */
noinline int riscv_pmu_sbi_plain_start(struct riscv_pmu_batch *batch, u64 load)
{
	int err = 0, ret;

	for_each_ctr(ctr, load & ~batch->failed)
		err = sbi_start_at(batch, ctr, err);
	ret = sbi_start_mask(batch, batch->start & ~batch->load & ~batch->failed);
	return err ?: ret;
}

/* Applies the stops, releases and configs. Returns the errno of the first that fails, or 0. */
int riscv_pmu_sbi_plain_prepare(const struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	int err = 0;

	if (batch->stop)
		sbi_pause(pmu, batch->stop);
	if (batch->release) {
		sbi_stop(batch->release, SBI_PMU_STOP_FLAG_RESET);
		this_cpu_and(riscv_pmu_sbi_configs, ~batch->release);
	}
	for_each_ctr(ctr, batch->program) {
		int ret = sbi_write_config(ctr, &batch->setup[ctr].cfg);

		if (ret)
			err = sbi_fail(batch, ctr, err ?: ret);
	}

	return err;
}

static noinline int sbi_change_batch(const struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	int err = riscv_pmu_sbi_plain_prepare(pmu, batch);
	int ret = riscv_pmu_sbi_plain_start(batch, batch->load);

	return err ?: ret;
}

/* The fast path is for a batch that only restarts one counter from a value, after an overflow. */
int riscv_pmu_sbi_plain_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	u64 start = batch->start;

	if (batch->release | batch->program)
		return sbi_change_batch(pmu, batch);
	if (batch->stop)
		sbi_pause(pmu, batch->stop);
	if (!start)
		return 0;
	if (start != batch->load || start & (start - 1))
		return riscv_pmu_sbi_plain_start(batch, batch->load);

	return sbi_start_at(batch, __ffs64(start), 0);
}

int riscv_pmu_sbi_plain_reload(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was)
{
	int err;

	sbi_pause(pmu, BIT_ULL(ctr));
	*was = pmu->ctr[ctr].read();
	err = riscv_pmu_sbi_start_at(ctr, value);
	if (unlikely(err))
		sbi_clear_known(ctr);

	return err;
}

const struct riscv_pmu_sbi_method riscv_pmu_sbi_plain_method = {
	.name		= "plain",
	.apply		= riscv_pmu_sbi_plain_apply,
	.reload		= riscv_pmu_sbi_plain_reload,
};
