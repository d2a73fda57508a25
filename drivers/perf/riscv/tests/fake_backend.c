// SPDX-License-Identifier: GPL-2.0
/*
 * Counters in memory. One tick of simulated time makes a running counter count
 * its event's rate, which is the event's own selector: what a counter has
 * counted tells what it was counting.
 */

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/csr.h>

#include "fake_backend.h"

/* Above a counter's width the bits of a read are undefined, so they are made ugly. */
#define FAKE_UGLY	0xdeadbeefcafef00dULL

static struct fake_pmu *to_fake(struct riscv_pmu *pmu)
{
	return container_of(pmu, struct fake_pmu, pmu);
}

/* Kept until interrupts are on again: KUnit allocates when it reports. */
static void fake_complain(struct fake_pmu *fake, int ctr, const char *what)
{
	if (fake->complaint)
		return;

	fake->complaint = what;
	fake->complaint_ctr = ctr;
}

static u64 fake_mask(const struct fake_pmu *fake, unsigned int ctr)
{
	return fake->wide & BIT_ULL(ctr) ? ~0ULL :
					   GENMASK_ULL(fake->pmu.ctr[ctr].width - 1, 0);
}

/**
 * fake_rate() - events per tick of the config's event
 * @cfg:	the config
 *
 * Return: the rate.
 */
u64 fake_rate(const struct riscv_pmu_config *cfg)
{
	return cfg->event_data ?: cfg->event_idx & RISCV_PMU_EVENT_CODE_MASK;
}

static void fake_count(struct fake_pmu *fake, unsigned int ctr, u64 events)
{
	struct fake_ctr *c = &fake->ctr[ctr];
	u64 mask = fake_mask(fake, ctr);

	if (events > mask - c->value)
		c->overflowed = true;
	c->value = (c->value + events) & mask;
}

/**
 * fake_advance() - let time pass
 * @fake:	the hart
 * @ticks:	how much
 */
void fake_advance(struct fake_pmu *fake, u64 ticks)
{
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++) {
		const struct fake_ctr *c = &fake->ctr[ctr];

		if (c->running && !(c->cfg.inh & fake->mode))
			fake_count(fake, ctr, ticks * fake_rate(&c->cfg));
	}
}

/**
 * fake_until_wrap() - events until a counter overflows
 * @fake:	the hart
 * @ctr:	the counter
 *
 * Return: at least 1, or 0 right after an overflow.
 */
u64 fake_until_wrap(const struct fake_pmu *fake, unsigned int ctr)
{
	return -fake->ctr[ctr].value & fake_mask(fake, ctr);
}

/**
 * fake_running() - counters that count
 * @fake:	the hart
 *
 * Return: their mask.
 */
u64 fake_running(const struct fake_pmu *fake)
{
	u64 ctrs = 0;

	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		ctrs |= fake->ctr[ctr].running ? BIT_ULL(ctr) : 0;

	return ctrs;
}

/**
 * fake_holding() - counters that have a config
 * @fake:	the hart
 *
 * Return: their mask.
 */
u64 fake_holding(const struct fake_pmu *fake)
{
	u64 ctrs = 0;

	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		ctrs |= fake->ctr[ctr].holds ? BIT_ULL(ctr) : 0;

	return ctrs;
}

/**
 * fake_last() - an earlier batch
 * @fake:	the hart
 * @back:	0 for the last one, 1 for the one before, ...
 *
 * Return: a copy of it.
 */
struct fake_batch fake_last(const struct fake_pmu *fake, unsigned int back)
{
	return fake->log[(fake->nr_batches - 1 - back) % FAKE_LOG_SIZE];
}

/**
 * fake_expect_batch() - an earlier batch was exactly this
 * @test:	the test
 * @fake:	the hart
 * @back:	0 for the last one, 1 for the one before, ...
 * @req:	its masks
 */
void fake_expect_batch(struct kunit *test, const struct fake_pmu *fake, unsigned int back,
		       struct fake_batch req)
{
	const struct fake_batch got = fake_last(fake, back);

	KUNIT_EXPECT_TRUE_MSG(test, !memcmp(&got, &req, sizeof(got)),
			      "batch %u: stop %llx release %llx program %llx start %llx load %llx, not %llx %llx %llx %llx %llx",
			      fake->nr_batches - back, got.stop, got.release, got.program,
			      got.start, got.load, req.stop, req.release, req.program,
			      req.start, req.load);
}

static void fake_log(struct fake_pmu *fake, const struct riscv_pmu_batch *batch)
{
	fake->log[fake->nr_batches++ % FAKE_LOG_SIZE] = (struct fake_batch){
		.stop = batch->stop,
		.release = batch->release,
		.program = batch->program,
		.start = batch->start,
		.load = batch->load,
	};
}

static void fake_check_batch(struct fake_pmu *fake, const struct riscv_pmu_batch *batch)
{
	u64 all = batch->stop | batch->release | batch->program | batch->start;

	if (!all)
		fake_complain(fake, -1, "a batch that does nothing");
	if (all & ~fake->pmu.ctrs)
		fake_complain(fake, __ffs64(all & ~fake->pmu.ctrs), "no such counter");
	if (batch->load & ~batch->start)
		fake_complain(fake, -1, "a counter is loaded and not started");
	if (batch->stop & batch->release)
		fake_complain(fake, -1, "a counter is to stop twice");
	if (batch->failed)
		fake_complain(fake, -1, "failed is not empty at first");
}

static void fake_stop(struct fake_pmu *fake, unsigned int ctr)
{
	if (!fake->ctr[ctr].running)
		fake_complain(fake, ctr, "a counter is stopped that does not run");
	fake->ctr[ctr].running = false;
}

static void fake_release(struct fake_pmu *fake, unsigned int ctr)
{
	if (!fake->ctr[ctr].holds)
		fake_complain(fake, ctr, "a counter is released that holds nothing");
	fake->ctr[ctr].running = false;
	fake->ctr[ctr].holds = false;
}

static int fake_write_config(struct fake_pmu *fake, unsigned int ctr,
			     const struct riscv_pmu_config *cfg)
{
	struct fake_ctr *c = &fake->ctr[ctr];

	if (c->running)
		fake_complain(fake, ctr, "a counter is programmed while it runs");
	if (c->holds)
		fake_complain(fake, ctr, "a counter is programmed over another program");
	if (cfg->inh & ~(u32)fake->pmu.ctr[ctr].inh & ~RISCV_PMU_INH_M)
		fake_complain(fake, ctr, "a counter can not filter that way");
	if (fake->fail_config & BIT_ULL(ctr))
		return -ENOENT;

	c->holds = true;
	c->cfg = *cfg;
	if (fake->pmu.fw_ctrs & BIT_ULL(ctr)) {
		c->unset = true;
		c->value = FAKE_UGLY & fake_mask(fake, ctr);
	}
	return 0;
}

static int fake_start(struct fake_pmu *fake, unsigned int ctr, const u64 *value)
{
	struct fake_ctr *c = &fake->ctr[ctr];

	if (!c->holds)
		fake_complain(fake, ctr, "a counter is started without a program");
	if (c->running)
		fake_complain(fake, ctr, value ? "a counter is loaded while it runs" :
						 "a counter is started while it runs");
	if (fake->fail_start & BIT_ULL(ctr)) {
		c->holds = false;
		return -EIO;
	}
	if (value) {
		if (*value & ~fake_mask(fake, ctr))
			fake_complain(fake, ctr, "a value is wider than its counter");
		c->value = *value & fake_mask(fake, ctr);
		c->unset = false;
	}
	if (c->unset)
		fake_complain(fake, ctr, "a firmware counter starts from an unknown value");

	c->running = true;
	c->overflowed = false;
	return 0;
}

/* The masks in the order in which struct riscv_pmu_batch has them. */
static int fake_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	struct fake_pmu *fake = to_fake(pmu);
	int err = 0;
	u64 ctrs;

	fake_log(fake, batch);
	fake_check_batch(fake, batch);
	for (ctrs = batch->stop; ctrs; ctrs &= ctrs - 1)
		fake_stop(fake, __ffs64(ctrs));
	for (ctrs = batch->release; ctrs; ctrs &= ctrs - 1)
		fake_release(fake, __ffs64(ctrs));

	for (ctrs = batch->program; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		int ret = fake_write_config(fake, ctr, &batch->setup[ctr].cfg);

		batch->failed |= ret ? BIT_ULL(ctr) : 0;
		err = err ?: ret;
	}

	for (ctrs = batch->start & ~batch->failed; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		bool load = batch->load & BIT_ULL(ctr);
		int ret = fake_start(fake, ctr, load ? &batch->setup[ctr].value : NULL);

		batch->failed |= ret ? BIT_ULL(ctr) : 0;
		err = err ?: ret;
	}

	return err;
}

/* In the log it is one batch. */
static int fake_reload(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was)
{
	struct fake_pmu *fake = to_fake(pmu);

	fake->log[fake->nr_batches++ % FAKE_LOG_SIZE] = (struct fake_batch){
		.stop = BIT_ULL(ctr), .start = BIT_ULL(ctr), .load = BIT_ULL(ctr),
	};
	fake_stop(fake, ctr);
	*was = fake->ctr[ctr].value;
	return fake_start(fake, ctr, &value);
}

static u64 fake_read_ctr(struct riscv_pmu *pmu, unsigned int ctr)
{
	struct fake_pmu *fake = to_fake(pmu);

	fake->nr_reads++;
	if (!(pmu->ctrs & BIT_ULL(ctr))) {
		fake_complain(fake, ctr, "a counter is read that does not exist");
		return 0;
	}

	return fake->ctr[ctr].value | (FAKE_UGLY & ~fake_mask(fake, ctr));
}

static u64 fake_overflowed(struct riscv_pmu *pmu, u64 ctrs)
{
	struct fake_pmu *fake = to_fake(pmu);
	u64 hit = 0;

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (fake->ctr[ctr].overflowed)
			hit |= BIT_ULL(ctr);
	}

	return hit;
}

/* All is lost, and the values are whatever they are. */
static void fake_stop_hart(struct riscv_pmu *pmu)
{
	struct fake_pmu *fake = to_fake(pmu);

	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		fake->ctr[ctr] = (struct fake_ctr){
			.value = (FAKE_UGLY * (ctr + 1)) & fake_mask(fake, ctr),
		};
}

static u64 fake_event_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg)
{
	if (cfg->event_idx == to_fake(pmu)->absent)
		return 0;

	switch (riscv_pmu_event_type(cfg->event_idx)) {
	case RISCV_PMU_EVENT_TYPE_FW:
		return FAKE_FW;
	case RISCV_PMU_EVENT_TYPE_HW:
		if (cfg->event_idx == RISCV_PMU_EVENT_CYCLES)
			return FAKE_CONFIG | BIT_ULL(0);
		if (cfg->event_idx == RISCV_PMU_EVENT_INSTRUCTIONS)
			return FAKE_CONFIG | BIT_ULL(2);
	}

	return FAKE_CONFIG;
}

static int fake_probe(struct riscv_pmu *pmu)
{
	pmu->ctrs = FAKE_CTRS;
	pmu->fixed_ctrs = FAKE_FIXED;
	pmu->fw_ctrs = FAKE_FW;
	pmu->irq_ctrs = FAKE_CONFIG;
	pmu->raw_bits = 48;
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++) {
		pmu->ctr[ctr].width = 64;
		if (BIT_ULL(ctr) & ~FAKE_FW && ctr < 32)
			pmu->ctr[ctr].csr = CSR_CYCLE + ctr;
		pmu->ctr[ctr].inh = FAKE_CONFIG & BIT_ULL(ctr) ? FAKE_ALL_MODES : 0;
	}

	return 0;
}

static const struct riscv_pmu_ops fake_ops = {
	.name		= "fake",
	.probe		= fake_probe,
	.event_ctrs	= fake_event_ctrs,
	.hart_start	= fake_stop_hart,
	.hart_stop	= fake_stop_hart,
	.apply		= fake_apply,
	.reload		= fake_reload,
	.read_ctr	= fake_read_ctr,
	.overflowed	= fake_overflowed,
};

/**
 * fake_create() - a machine that has just come up, in user mode
 * @test:	frees it
 *
 * Return: the PMU, freed with the test.
 */
struct fake_pmu *fake_create(struct kunit *test)
{
	struct fake_pmu *fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->pmu.ops = fake_ops;
	fake->mode = RISCV_PMU_INH_U;
	fake->absent = U32_MAX;
	fake->pmu.ops.probe(&fake->pmu);
	fake->pmu.ops.hart_start(&fake->pmu);
	riscv_pmu_hart_reset(&fake->pmu, &fake->hart);
	return fake;
}

/**
 * fake_set_width() - make counters narrower than 64 bits
 * @fake:	a machine that has not counted yet
 * @ctrs:	which ones
 * @width:	their bits
 */
void fake_set_width(struct fake_pmu *fake, u64 ctrs, unsigned int width)
{
	int cpu;

	if (width < 64)
		fake->pmu.narrow_ctrs |= ctrs;
	for (; ctrs; ctrs &= ctrs - 1)
		fake->pmu.ctr[__ffs64(ctrs)].width = width;
	fake->pmu.ops.hart_start(&fake->pmu);
	riscv_pmu_hart_reset(&fake->pmu, &fake->hart);
	if (!fake->pmu.harts)
		return;
	for_each_possible_cpu(cpu)
		riscv_pmu_hart_reset(&fake->pmu, per_cpu_ptr(fake->pmu.harts, cpu));
}

/**
 * fake_config() - the config of a raw event
 * @selector:	its selector, which is its rate as well
 * @inh:	modes in which it does not count
 *
 * Return: a config.
 */
struct riscv_pmu_config fake_config(u64 selector, u32 inh)
{
	return (struct riscv_pmu_config){
		.event_idx = RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW, 0),
		.event_data = selector,
		.inh = inh,
	};
}

/**
 * fake_event_init() - an event that has never been attached
 * @ev:	the event
 * @cfg:	what it wants counted
 * @ctrs:	counters that can
 */
void fake_event_init(struct riscv_pmu_event *ev, struct riscv_pmu_config cfg, u64 ctrs)
{
	*ev = (struct riscv_pmu_event){
		.req = { .cfg = cfg, .ctrs = ctrs },
		.candidates = ctrs,
		.ctr = -1,
	};
}

/**
 * fake_expect_clean() - nothing was asked that a backend could not serve
 * @test:	the test
 * @fake:	its machine
 */
void fake_expect_clean(struct kunit *test, struct fake_pmu *fake)
{
	KUNIT_EXPECT_NULL_MSG(test, fake->complaint, "%s (counter %d)", fake->complaint,
			      fake->complaint_ctr);
	fake->complaint = NULL;
}

/**
 * fake_expect_idle() - no event has been left behind, and no overflow point
 * @test:	the test
 * @fake:	its machine
 * @hart:	its hart
 *
 * Counters may run on, since that costs nothing, but the driver has to know.
 */
void fake_expect_idle(struct kunit *test, struct fake_pmu *fake, struct riscv_pmu_hart *hart)
{
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		KUNIT_EXPECT_TRUE_MSG(test, list_empty(&hart->counter[ctr].events),
				      "counter %u still has readers", ctr);
	KUNIT_EXPECT_EQ(test, hart->wanted.sched.used, 0);
	KUNIT_EXPECT_EQ(test, hart->running, fake_running(fake));
	KUNIT_EXPECT_EQ(test, hart->programmed, fake_holding(fake));
	KUNIT_EXPECT_EQ(test, hart->irq_events, 0);
	KUNIT_EXPECT_EQ(test, hart->armed & ~hart->running, 0);
	fake_expect_clean(test, fake);
}

static void fake_restart_hart(void *unused)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());

	if (pmu)
		pmu->ops.hart_start(pmu);
}

/* The tests' stubs are gone: this is the machine's firmware. */
void fake_restart_harts(struct kunit_suite *suite)
{
	on_each_cpu(fake_restart_hart, NULL, 1);
}
