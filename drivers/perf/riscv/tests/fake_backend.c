// SPDX-License-Identifier: GPL-2.0
/*
 * Simulated counters. In one tick of simulated time a running counter counts as many events as
 * the selector of its event. So a count shows which event was counted.
 */

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/csr.h>

#include "fake_backend.h"

/* The bits of a read above the counter's width are undefined. They have this value. */
#define FAKE_UNDEFINED	0xdeadbeefcafef00dULL

static struct fake_pmu *to_fake(struct riscv_pmu *pmu)
{
	return container_of(pmu, struct fake_pmu, pmu);
}

/*
 * The violation is reported later, when interrupts are enabled: KUnit allocates memory for a
 * report.
 */
static void fake_report(struct fake_pmu *fake, int ctr, const char *what)
{
	if (fake->violation)
		return;

	fake->violation = what;
	fake->violation_ctr = ctr;
}

static void fake_step(struct fake_pmu *fake)
{
	if (fake->step)
		fake->step(fake);
}

static u64 fake_mask(const struct fake_pmu *fake, unsigned int ctr)
{
	return fake->wide & BIT_ULL(ctr) ? ~0ULL :
					   GENMASK_ULL(fake->pmu.ctr[ctr].width - 1, 0);
}

/**
 * fake_rate() - the event rate of a config
 * @cfg:	the config
 *
 * Return: the number of events per tick.
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
 * fake_advance() - advance the simulated time
 * @fake:	the hart
 * @ticks:	number of ticks
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
 * fake_until_wrap() - number of events until a counter overflows
 * @fake:	the hart
 * @ctr:	the counter
 *
 * Return: the number, at least 1; 0 right after an overflow.
 */
u64 fake_until_wrap(const struct fake_pmu *fake, unsigned int ctr)
{
	return -fake->ctr[ctr].value & fake_mask(fake, ctr);
}

/**
 * fake_running() - counters that are started
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
 * fake_holding() - counters that hold a config
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
 * fake_last() - get one of the last batches
 * @fake:	the hart
 * @back:	0: the last batch, 1: the one before it, and so on
 *
 * Return: a copy of the batch.
 */
struct fake_batch fake_last(const struct fake_pmu *fake, unsigned int back)
{
	return fake->log[(fake->nr_batches - 1 - back) % FAKE_LOG_SIZE];
}

/**
 * fake_expect_batch() - expect that one of the last batches had exactly these masks
 * @test:	the test
 * @fake:	the hart
 * @back:	0: the last batch, 1: the one before it, and so on
 * @req:	the expected masks
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
		fake_report(fake, -1, "a batch is empty");
	if (all & ~fake->pmu.ctrs)
		fake_report(fake, __ffs64(all & ~fake->pmu.ctrs), "no such counter");
	if (batch->load & ~batch->start)
		fake_report(fake, -1, "a counter is loaded but not started");
	if (batch->stop & batch->release)
		fake_report(fake, -1, "a counter is both in stop and in release");
	if (batch->failed)
		fake_report(fake, -1, "failed is not empty before the batch is applied");
}

static void fake_stop(struct fake_pmu *fake, unsigned int ctr)
{
	if (!fake->ctr[ctr].running)
		fake_report(fake, ctr, "a stopped counter is stopped");
	fake->ctr[ctr].running = false;
}

static void fake_release(struct fake_pmu *fake, unsigned int ctr)
{
	if (!fake->ctr[ctr].holds)
		fake_report(fake, ctr, "a counter without a config is released");
	fake->ctr[ctr].running = false;
	fake->ctr[ctr].holds = false;
}

static int fake_write_config(struct fake_pmu *fake, unsigned int ctr,
			     const struct riscv_pmu_config *cfg)
{
	struct fake_ctr *c = &fake->ctr[ctr];

	if (c->running)
		fake_report(fake, ctr, "a running counter is programmed");
	if (c->holds)
		fake_report(fake, ctr, "a counter is programmed but still holds a config");
	if (cfg->inh & ~(u32)fake->pmu.ctr[ctr].inh & ~RISCV_PMU_INH_M)
		fake_report(fake, ctr, "a counter cannot exclude these modes");
	if (fake->fail_config & BIT_ULL(ctr))
		return -ENOENT;

	c->holds = true;
	c->cfg = *cfg;
	if (fake->pmu.fw_ctrs & BIT_ULL(ctr)) {
		c->unset = true;
		c->value = FAKE_UNDEFINED & fake_mask(fake, ctr);
	}
	return 0;
}

static int fake_start(struct fake_pmu *fake, unsigned int ctr, const u64 *value)
{
	struct fake_ctr *c = &fake->ctr[ctr];

	if (!c->holds)
		fake_report(fake, ctr, "a counter without a config is started");
	if (c->running)
		fake_report(fake, ctr, value ? "a running counter is loaded" :
						 "a running counter is started");
	if (fake->fail_start & BIT_ULL(ctr)) {
		c->holds = false;
		return -EIO;
	}
	if (value) {
		if (*value & ~fake_mask(fake, ctr))
			fake_report(fake, ctr, "a value has more bits than its counter");
		c->value = *value & fake_mask(fake, ctr);
		c->unset = false;
	}
	if (c->unset)
		fake_report(fake, ctr, "a firmware counter starts from an undefined value");

	c->running = true;
	c->overflowed = false;
	return 0;
}

/* Applies the masks in the order of struct riscv_pmu_batch. */
static int fake_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch)
{
	struct fake_pmu *fake = to_fake(pmu);
	int err = 0;
	u64 ctrs;

	fake_log(fake, batch);
	fake_check_batch(fake, batch);
	fake_step(fake);
	for (ctrs = batch->stop; ctrs; ctrs &= ctrs - 1) {
		fake_stop(fake, __ffs64(ctrs));
		fake_step(fake);
	}
	for (ctrs = batch->release; ctrs; ctrs &= ctrs - 1) {
		fake_release(fake, __ffs64(ctrs));
		fake_step(fake);
	}

	for (ctrs = batch->program; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		int ret = fake_write_config(fake, ctr, &batch->setup[ctr].cfg);

		fake_step(fake);
		batch->failed |= ret ? BIT_ULL(ctr) : 0;
		err = err ?: ret;
	}

	for (ctrs = batch->start & ~batch->failed; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		bool load = batch->load & BIT_ULL(ctr);
		int ret = fake_start(fake, ctr, load ? &batch->setup[ctr].value : NULL);

		fake_step(fake);
		batch->failed |= ret ? BIT_ULL(ctr) : 0;
		err = err ?: ret;
	}

	return err;
}

/* The log records it as one batch. */
static int fake_reload(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was)
{
	struct fake_pmu *fake = to_fake(pmu);
	int err;

	fake->log[fake->nr_batches++ % FAKE_LOG_SIZE] = (struct fake_batch){
		.stop = BIT_ULL(ctr), .start = BIT_ULL(ctr), .load = BIT_ULL(ctr),
	};
	fake_step(fake);
	fake_advance(fake, fake->reload_gap);
	fake_stop(fake, ctr);
	fake_step(fake);
	*was = fake->ctr[ctr].value;
	err = fake_start(fake, ctr, &value);
	fake_step(fake);
	return err;
}

static u64 fake_read_ctr(struct riscv_pmu *pmu, unsigned int ctr)
{
	struct fake_pmu *fake = to_fake(pmu);
	u64 value;

	fake->nr_reads++;
	fake->nr_fw_reads += !!(pmu->fw_ctrs & BIT_ULL(ctr));
	if (!(pmu->ctrs & BIT_ULL(ctr))) {
		fake_report(fake, ctr, "a counter that does not exist is read");
		return 0;
	}

	fake_step(fake);
	value = fake->ctr[ctr].value | (FAKE_UNDEFINED & ~fake_mask(fake, ctr));
	fake_step(fake);
	return value;
}

static u64 fake_overflowed(struct riscv_pmu *pmu, u64 ctrs)
{
	struct fake_pmu *fake = to_fake(pmu);
	u64 hit = 0;

	fake_step(fake);
	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (fake->ctr[ctr].overflowed)
			hit |= BIT_ULL(ctr);
	}
	fake_step(fake);

	return hit;
}

/* All counters lose their configs, and get arbitrary values. */
static void fake_stop_hart(struct riscv_pmu *pmu)
{
	struct fake_pmu *fake = to_fake(pmu);

	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		fake->ctr[ctr] = (struct fake_ctr){
			.value = (FAKE_UNDEFINED * (ctr + 1)) & fake_mask(fake, ctr),
		};
}

static u64 fake_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg)
{
	if (cfg->event_idx == to_fake(pmu)->absent)
		return 0;

	switch (riscv_pmu_event_type(cfg->event_idx)) {
	case RISCV_PMU_EVENT_TYPE_FW:
		return FAKE_FW;
	case RISCV_PMU_EVENT_TYPE_HW:
		if (cfg->event_idx == RISCV_PMU_EVENT_CYCLES)
			return to_fake(pmu)->fixed_cycles ? BIT_ULL(0) : FAKE_CONFIG | BIT_ULL(0);
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
	pmu->direct_ctrs = FAKE_CTRS & ~FAKE_FW;
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
 * fake_create() - create a simulated hart with initialised counters, in user mode
 * @test:	the test
 *
 * Return: the hart and its PMU; KUnit frees them after the test.
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
 * @fake:	the hart, before the first event
 * @ctrs:	the counters
 * @width:	their width in bits
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
 * fake_config() - make the config of a raw event
 * @selector:	selector of the event, which is also its rate
 * @inh:	modes to exclude
 *
 * Return: the config.
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
 * fake_event_init() - initialise an event that was never attached
 * @ev:	the event
 * @cfg:	its config
 * @ctrs:	its constraint: counters that can hold @cfg
 */
void fake_event_init(struct riscv_pmu_event *ev, struct riscv_pmu_config cfg, u64 ctrs)
{
	*ev = (struct riscv_pmu_event){
		.req = { .cfg = cfg, .ctrs = ctrs },
		.candidates = ctrs,
		.ctr = -1,
		.left = &ev->own_left,
		.overflow_point = 1,
	};
}

/**
 * fake_expect_no_violation() - expect that no call has violated the ops' specification
 * @test:	the test
 * @fake:	the hart
 */
void fake_expect_no_violation(struct kunit *test, struct fake_pmu *fake)
{
	KUNIT_EXPECT_NULL_MSG(test, fake->violation, "%s (counter %d)", fake->violation,
			      fake->violation_ctr);
	fake->violation = NULL;
}

/**
 * fake_expect_idle() - expect that no event and no overflow point is left
 * @test:	the test
 * @fake:	the simulated hart
 * @hart:	the driver's state of the hart
 *
 * Counters may still be running, but the driver's state has to agree with the counters.
 */
void fake_expect_idle(struct kunit *test, struct fake_pmu *fake, struct riscv_pmu_hart *hart)
{
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		KUNIT_EXPECT_TRUE_MSG(test, list_empty(&hart->counter[ctr].events),
				      "counter %u still has events", ctr);
	KUNIT_EXPECT_EQ(test, hart->wanted.sched.used, 0);
	KUNIT_EXPECT_EQ(test, hart->hw.running, fake_running(fake));
	KUNIT_EXPECT_EQ(test, hart->hw.holds, fake_holding(fake));
	KUNIT_EXPECT_EQ(test, hart->irq.events, 0);
	KUNIT_EXPECT_EQ(test, hart->hw.armed & ~hart->hw.running, 0);
	fake_expect_no_violation(test, fake);
}

static void fake_restart_hart(void *unused)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());

	if (pmu)
		pmu->ops.hart_start(pmu);
}

/* The tests' stubs are no longer active: this initialises the machine's own counters. */
void fake_restart_harts(struct kunit_suite *suite)
{
	on_each_cpu(fake_restart_hart, NULL, 1);
}
