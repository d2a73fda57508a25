// SPDX-License-Identifier: GPL-2.0
/*
 * The SBI backend over a firmware of our own: first an honest one, then one
 * that lies. Whatever it says, the PMU has fewer counters or events, and
 * nothing worse.
 *
 * What the backend finds it keeps in tables of its own, which belong to the
 * live PMU: probing the real firmware at the end puts them right again. Do not
 * run this suite (by debugfs) while perf is in use.
 */

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/sched.h>

#include <asm/csr.h>
#include <asm/pmu_csr.h>

#include "../backend.h"
#include "../internal.h"
#include "../sbi_call.h"

#define C(ctr)		BIT_ULL(ctr)
#define EVENT_L1D_MISS	0x10001
#define EVENT_BUS	0x00007
#define EVENT_FW_TIMER	0xf0005
#define EVENT_RAW	0x20000

/* Its honest shape: cycle, no counter 1, instret, three programmable ones, two of its own. */
#define FW_FIXED	(C(0) | C(2))
#define FW_PROG		(C(3) | C(4) | C(5))
#define FW_OWN		(C(6) | C(7))
#define FW_CTRS		(FW_FIXED | FW_PROG | FW_OWN)
#define FW_NR		8

enum fw_state { FW_FREE, FW_STOPPED, FW_RUNNING };

struct fw_ctr {
	enum fw_state	state;
	u32		event_idx;
	u64		event_data;
	unsigned long	flags;
	u64		value;
};

/**
 * struct firmware - the firmware, and its lies
 * @pmu:	for probe to fill
 * @batch:	for apply
 * @ctr:	its counters
 * @calls:	calls by function
 * @highest:	the highest counter that anyone asked about
 * @num:	how many counters it says it has
 * @info:	what it says of the counters, if @lies_info has their bit
 * @lies_info:	see @info
 * @match:	what MATCH says it has chosen, if @lies_match
 * @lies_match:	see @match
 * @error:	error code that calls give, by function
 * @error_ctrs:	counters with which they do; for others they work
 */
struct firmware {
	struct riscv_pmu	pmu;
	struct riscv_pmu_batch	batch;
	struct fw_ctr		ctr[FW_NR];
	unsigned int		calls[SBI_EXT_PMU_SNAPSHOT_SET_SHMEM + 1];
	unsigned long		highest;
	long			num;
	u64			info[FW_NR];
	u64			lies_info;
	long			match;
	bool			lies_match;
	long			error[SBI_EXT_PMU_SNAPSHOT_SET_SHMEM + 1];
	u64			error_ctrs;
};

/* --- the firmware ------------------------------------------------------- */

static struct sbiret fw_error(long error)
{
	return (struct sbiret){ .error = error };
}

static struct sbiret fw_value(long value)
{
	return (struct sbiret){ .value = value };
}

static u64 info_of(u16 csr, unsigned int width, bool own)
{
	union sbi_pmu_ctr_info info = {
		.csr = csr,
		.width = width - 1,
		.type = own ? SBI_PMU_CTR_TYPE_FW : SBI_PMU_CTR_TYPE_HW,
	};

	return info.value;
}

static struct sbiret fw_get_info(struct firmware *fw, unsigned long ctr)
{
	fw->highest = max(fw->highest, ctr);
	if (ctr < FW_NR && fw->lies_info & C(ctr))
		return fw_value(fw->info[ctr]);
	if (ctr >= FW_NR || !(FW_CTRS & C(ctr)))
		return fw_error(SBI_ERR_INVALID_PARAM);

	return fw_value(info_of(CSR_CYCLE + ctr, FW_FIXED & C(ctr) ? 64 : 48, FW_OWN & C(ctr)));
}

/* All but bus cycles and every firmware event but the timer's */
static u64 fw_able(u32 event_idx)
{
	switch (event_idx >> 16) {
	case 0x0:
		if (event_idx == EVENT_BUS)
			return 0;
		return FW_PROG | (event_idx == 1 ? C(0) : 0) | (event_idx == 2 ? C(2) : 0);
	case 0xf:
		return event_idx == EVENT_FW_TIMER ? FW_OWN : 0;
	}

	return FW_PROG;
}

static struct sbiret fw_match(struct firmware *fw, u64 ctrs, unsigned long flags, u32 event_idx,
			      u64 event_data)
{
	for (ctrs &= fw_able(event_idx); ctrs; ctrs &= ctrs - 1) {
		struct fw_ctr *c = &fw->ctr[__ffs64(ctrs)];

		if (c->state != FW_FREE)
			continue;
		c->state = FW_STOPPED;
		c->event_idx = event_idx;
		c->event_data = event_data;
		c->flags = flags;
		return fw_value(fw->lies_match ? fw->match : __ffs64(ctrs));
	}

	return fw->lies_match ? fw_value(fw->match) : fw_error(SBI_ERR_NOT_SUPPORTED);
}

static long fw_start_one(struct firmware *fw, unsigned int ctr, unsigned long flags, u64 value)
{
	struct fw_ctr *c = &fw->ctr[ctr];

	if (c->state == FW_FREE)
		return SBI_ERR_INVALID_PARAM;
	if (c->state == FW_RUNNING)
		return SBI_ERR_ALREADY_STARTED;
	c->state = FW_RUNNING;
	if (flags & SBI_PMU_START_FLAG_SET_INIT_VALUE)
		c->value = value;
	return 0;
}

static long fw_stop_one(struct firmware *fw, unsigned int ctr, unsigned long flags)
{
	struct fw_ctr *c = &fw->ctr[ctr];
	long error = c->state == FW_RUNNING ? 0 : SBI_ERR_ALREADY_STOPPED;

	if (c->state == FW_RUNNING)
		c->state = FW_STOPPED;
	if (flags & SBI_PMU_STOP_FLAG_RESET)
		c->state = FW_FREE;
	return error;
}

/* As OpenSBI: all that it can, and the last error. */
static struct sbiret fw_by_mask(struct firmware *fw, unsigned long fid, u64 ctrs,
				unsigned long flags, u64 value)
{
	long error = 0, ret;

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (ctr >= FW_NR)
			return fw_error(SBI_ERR_INVALID_PARAM);
		if (fw->error[fid] && fw->error_ctrs & C(ctr))
			ret = fw->error[fid];
		else if (fid == SBI_EXT_PMU_COUNTER_START)
			ret = fw_start_one(fw, ctr, flags, value);
		else
			ret = fw_stop_one(fw, ctr, flags);
		error = ret ?: error;
	}

	return fw_error(error);
}

static struct sbiret fw_call(unsigned long fid, unsigned long a0, unsigned long a1,
			     unsigned long a2, unsigned long a3, u64 arg)
{
	struct firmware *fw = kunit_get_current_test()->priv;
	u64 ctrs = (u64)a1 << a0;

	fw->calls[fid]++;
	switch (fid) {
	case SBI_EXT_PMU_COUNTER_START:
	case SBI_EXT_PMU_COUNTER_STOP:
		return fw_by_mask(fw, fid, ctrs, a2,
				  IS_ENABLED(CONFIG_32BIT) ? (u32)a3 | arg << 32 : a3);
	}
	if (fw->error[fid])
		return fw_error(fw->error[fid]);

	switch (fid) {
	case SBI_EXT_PMU_NUM_COUNTERS:
		return fw_value(fw->num);
	case SBI_EXT_PMU_COUNTER_GET_INFO:
		return fw_get_info(fw, a0);
	case SBI_EXT_PMU_COUNTER_CFG_MATCH:
		return fw_match(fw, ctrs, a2, a3, arg);
	case SBI_EXT_PMU_COUNTER_FW_READ:
		return fw_value((long)fw->ctr[a0 % FW_NR].value);
	case SBI_EXT_PMU_COUNTER_FW_READ_HI:
		return fw_value((long)(fw->ctr[a0 % FW_NR].value >> 32));
	}

	return fw_error(SBI_ERR_NOT_SUPPORTED);
}

/* --- each test ---------------------------------------------------------- */

static bool fw_has_no_batch(void)
{
	return false;
}

/* The backend notes per CPU what is programmed, so that the thread has to stay. */
static int fw_init(struct kunit *test)
{
	struct firmware *fw = kunit_kzalloc(test, sizeof(*fw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fw);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	fw->num = FW_NR;
	fw->pmu.hwirq = RV_IRQ_PMU;
	fw->pmu.has_filters = true;
	fw->pmu.pending_csr = CSR_IP;
	test->priv = fw;
	kunit_activate_static_stub(test, sbi_call_pmu, fw_call);
	kunit_activate_static_stub(test, sbi_call_has_batch, fw_has_no_batch);
	return 0;
}

static void fw_reset_hart(void *unused)
{
	struct riscv_pmu *pmu = riscv_pmu_get();

	if (pmu)
		pmu->ops.hart_start(pmu);
}

/* The stub is gone here: this is the real firmware. */
static void fw_suite_exit(struct kunit_suite *suite)
{
	struct riscv_pmu *live = riscv_pmu_get(), *scratch __free(kfree) = NULL;

	if (!live || strcmp(live->backend, riscv_pmu_sbi_ops.name))
		return;
	scratch = kzalloc(sizeof(*scratch), GFP_KERNEL);
	if (!scratch)
		return;

	scratch->hwirq = live->hwirq;
	scratch->has_filters = live->has_filters;
	scratch->pending_csr = live->pending_csr;
	on_each_cpu(fw_reset_hart, NULL, 1);
	if (riscv_pmu_sbi_ops.probe(scratch) || scratch->ctrs != live->ctrs ||
	    scratch->fixed_ctrs != live->fixed_ctrs)
		pr_err("riscv_pmu_sbi: the live PMU's tables could not be restored\n");
}

static int probe(struct firmware *fw)
{
	return riscv_pmu_sbi_ops.probe(&fw->pmu);
}

static u64 event_ctrs(struct firmware *fw, u32 event_idx, u64 event_data)
{
	const struct riscv_pmu_prog prog = { .event_idx = event_idx, .event_data = event_data };

	return riscv_pmu_sbi_ops.event_ctrs(&fw->pmu, &prog);
}

static int apply(struct firmware *fw)
{
	guard(irqsave)();
	return riscv_pmu_sbi_ops.apply(&fw->pmu, &fw->batch);
}

/* A batch that programs and starts counters. */
static void plan(struct firmware *fw, u64 ctrs, u32 event_idx)
{
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.program = ctrs;
	fw->batch.start = ctrs;
	for (; ctrs; ctrs &= ctrs - 1)
		fw->batch.cfg[__ffs64(ctrs)].prog.event_idx = event_idx;
}

static u64 in_state(const struct firmware *fw, enum fw_state state)
{
	u64 ctrs = 0;

	for (unsigned int ctr = 0; ctr < FW_NR; ctr++)
		ctrs |= FW_CTRS & C(ctr) && fw->ctr[ctr].state == state ? C(ctr) : 0;

	return ctrs;
}

/* Every test ends like this: the hart stops, and the firmware has all its counters back. */
static void expect_all_returned(struct kunit *test)
{
	struct firmware *fw = test->priv;

	memset(fw->error, 0, sizeof(fw->error));
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_stop(&fw->pmu);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_FREE) & fw->pmu.ctrs, FW_CTRS & fw->pmu.ctrs);
}

/* --- honest ------------------------------------------------------------- */

static void honest_firmware_is_believed(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.fw_ctrs, FW_OWN);
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, FW_PROG);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[0].width, 64);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].width, 48);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].csr, CSR_CYCLE + 3);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].inh, GENMASK(4, 0));
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].inh, 0);
	KUNIT_EXPECT_EQ_MSG(test, in_state(fw, FW_FREE), FW_CTRS, "probing leaves programs behind");
	expect_all_returned(test);
}

static void honest_firmware_is_asked_for_events(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x00001, 0), FW_PROG | C(0));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x00002, 0), FW_PROG | C(2));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_BUS, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x0000b, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0), FW_PROG);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x10038, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_FW_TIMER, 0), FW_OWN);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0xf0006, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0xf0100, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 0x1234), FW_PROG);
	KUNIT_EXPECT_EQ_MSG(test, in_state(fw, FW_FREE), FW_CTRS, "asking leaves programs behind");
	expect_all_returned(test);
}

static void batch_is_carried_out(struct kunit *test)
{
	struct firmware *fw = test->priv;
	unsigned int *calls = fw->calls;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3) | C(4), EVENT_RAW);
	fw->batch.cfg[3].prog.event_data = 0x1234;
	fw->batch.cfg[3].prog.inh = RISCV_PMU_INH_U | RISCV_PMU_INH_VS;
	fw->batch.load = C(4);
	fw->batch.cfg[4].value = 0x89abcdef01234567ULL;
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_idx, EVENT_RAW);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_data, 0x1234);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].flags,
			SBI_PMU_CFG_FLAG_SET_UINH | SBI_PMU_CFG_FLAG_SET_VSINH);
	KUNIT_EXPECT_EQ(test, fw->ctr[4].value, 0x89abcdef01234567ULL);

	/* All counters of a mask stop and start by one call each. */
	memset(calls, 0, sizeof(fw->calls));
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.stop = C(3) | C(4);
	fw->batch.start = C(3) | C(4);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, calls[SBI_EXT_PMU_COUNTER_STOP], 1);
	KUNIT_EXPECT_EQ(test, calls[SBI_EXT_PMU_COUNTER_START], 1);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3) | C(4));

	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.release = C(3);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(4));
	KUNIT_EXPECT_EQ(test, fw->ctr[3].state, FW_FREE);
	expect_all_returned(test);
}

/* A counter in use is not taken to try something out. */
static void busy_counters_are_not_tried(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7) & C(5), C(5));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_idx, EVENT_L1D_MISS);

	/* With none left to try, the event is believed. */
	plan(fw, C(5), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_PROG);
	expect_all_returned(test);
}

/*
 * What is found out while some counters are busy must not exclude those for
 * good: the event outlives whoever keeps them busy.
 */
static void busy_counters_are_not_excluded(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_PROG);
	expect_all_returned(test);
}

static void firmware_counter_is_read_by_call(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	fw->ctr[6].value = 0x123456789abcdef0ULL;
	KUNIT_EXPECT_EQ(test, riscv_pmu_sbi_ops.read_ctr(&fw->pmu, 6), 0x123456789abcdef0ULL);
	expect_all_returned(test);
}

/* --- lies --------------------------------------------------------------- */

struct num_row {
	const char	*name;
	long		num;
	int		err;
	u64		ctrs;
};

static const struct num_row num_rows[] = {
	{ "10000", 10000, 0, FW_CTRS },
	{ "LONG_MAX", LONG_MAX, 0, FW_CTRS },
	{ "0", 0, -ENODEV, 0 },
	{ "-1", -1, -ENODEV, 0 },
	{ "LONG_MIN", LONG_MIN, -ENODEV, 0 },
	{ "fewer than it has", 4, 0, C(0) | C(2) | C(3) },
};

KUNIT_ARRAY_PARAM_DESC(num, num_rows, name);

static void counter_count_is_bounded(struct kunit *test)
{
	const struct num_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->num = row->num;
	KUNIT_EXPECT_EQ(test, probe(fw), row->err);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, row->ctrs);
	KUNIT_EXPECT_LT(test, fw->highest, RISCV_MAX_COUNTERS);
	expect_all_returned(test);
}

struct info_row {
	const char	*name;
	u16		csr;
	unsigned int	width;
};

/* What it says of counter 4 */
static const struct info_row info_rows[] = {
	{ "1 bit", CSR_CYCLE + 4, 1 },
	{ "8 bits", CSR_CYCLE + 4, 8 },
	{ "CSR 0", 0, 64 },
	{ "CSR 0xfff", 0xfff, 64 },
	{ "one below cycle", CSR_CYCLE - 1, 64 },
	{ "one above hpmcounter31", CSR_CYCLE + 32, 64 },
	{ "the time", CSR_TIME, 64 },
	{ "sstatus", CSR_SSTATUS, 64 },
	{ "mcycle", 0xb00, 64 },
};

KUNIT_ARRAY_PARAM_DESC(info, info_rows, name);

static void nonsense_counter_is_left_out(struct kunit *test)
{
	const struct info_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->lies_info = C(4);
	fw->info[4] = info_of(row->csr, row->width, false);
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS & ~C(4));
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, FW_PROG & ~C(4));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0), FW_PROG & ~C(4));
	expect_all_returned(test);
}

static void no_counter_makes_sense(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->lies_info = FW_CTRS;
	KUNIT_EXPECT_EQ(test, probe(fw), -ENODEV);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, 0);
}

struct error_row {
	const char	*name;
	unsigned long	fid;
	long		error;
};

static const struct error_row error_rows[] = {
	{ "NUM_COUNTERS: failed", SBI_EXT_PMU_NUM_COUNTERS, SBI_ERR_FAILURE },
	{ "NUM_COUNTERS: denied", SBI_EXT_PMU_NUM_COUNTERS, SBI_ERR_DENIED },
	{ "NUM_COUNTERS: not supported", SBI_EXT_PMU_NUM_COUNTERS, SBI_ERR_NOT_SUPPORTED },
	{ "NUM_COUNTERS: unheard of", SBI_EXT_PMU_NUM_COUNTERS, -1000 },
	{ "NUM_COUNTERS: positive", SBI_EXT_PMU_NUM_COUNTERS, 1 },
	{ "GET_INFO: failed", SBI_EXT_PMU_COUNTER_GET_INFO, SBI_ERR_FAILURE },
	{ "GET_INFO: unheard of", SBI_EXT_PMU_COUNTER_GET_INFO, -1000 },
};

KUNIT_ARRAY_PARAM_DESC(error, error_rows, name);

static void probe_fails_without_counters(struct kunit *test)
{
	const struct error_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->error[row->fid] = row->error;
	KUNIT_EXPECT_LT(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, 0);
}

struct match_row {
	const char	*name;
	long		match;
};

/* What it says it has chosen when only counter 3 was offered */
static const struct match_row match_rows[] = {
	{ "another counter", 4 },
	{ "a fixed counter", 0 },
	{ "a counter that does not exist", 1 },
	{ "63", 63 },
	{ "64", 64 },
	{ "67, which is 3 modulo 64", 67 },
	{ "10000", 10000 },
	{ "-1", -1 },
	{ "LONG_MIN", LONG_MIN },
	{ "LONG_MAX", LONG_MAX },
};

KUNIT_ARRAY_PARAM_DESC(match, match_rows, name);

static void match_outside_the_mask_fails_the_event(struct kunit *test)
{
	const struct match_row *row = test->param_value;
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	fw->lies_match = true;
	fw->match = row->match;
	plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), -EIO);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(3));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].state, FW_FREE);
	expect_all_returned(test);
}

static void probe_survives_a_lying_match(struct kunit *test)
{
	const struct match_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->lies_match = true;
	fw->match = row->match;
	KUNIT_EXPECT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7) & ~FW_PROG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0) & ~FW_PROG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_FW_TIMER, 0) & ~FW_OWN, 0);
	expect_all_returned(test);
}

static void refused_program_fails_only_its_counter(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3) | C(4) | C(5), EVENT_L1D_MISS);
	fw->batch.cfg[4].prog.event_idx = EVENT_BUS;
	KUNIT_EXPECT_EQ(test, apply(fw), -ENOENT);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(4));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3) | C(5));
	KUNIT_EXPECT_EQ(test, fw->ctr[4].state, FW_FREE);
	expect_all_returned(test);
}

struct start_row {
	const char	*name;
	long		error;
	bool		load;
};

static const struct start_row start_rows[] = {
	{ "by mask: failed", SBI_ERR_FAILURE, false },
	{ "by mask: invalid", SBI_ERR_INVALID_PARAM, false },
	{ "by mask: unheard of", -1000, false },
	{ "with a value: failed", SBI_ERR_FAILURE, true },
	{ "with a value: invalid", SBI_ERR_INVALID_PARAM, true },
	{ "with a value: already started", SBI_ERR_ALREADY_STARTED, true },
};

KUNIT_ARRAY_PARAM_DESC(start, start_rows, name);

static void refused_start_fails_only_its_counter(struct kunit *test)
{
	const struct start_row *row = test->param_value;
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	fw->error[SBI_EXT_PMU_COUNTER_START] = row->error;
	fw->error_ctrs = C(4);
	plan(fw, C(3) | C(4) | C(5), EVENT_L1D_MISS);
	fw->batch.load = row->load ? fw->batch.start : 0;
	KUNIT_EXPECT_LT(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(4));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3) | C(5));
	KUNIT_EXPECT_EQ(test, fw->ctr[4].state, FW_FREE);
	expect_all_returned(test);
}

/* It says so of a mask as soon as one of its counters runs; the others have started. */
static void already_started_is_no_error(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.start = C(3) | C(4);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	expect_all_returned(test);
}

/* What was asked to stop and does not is not worth a counter, let alone a crash. */
static void refused_stop_is_survived(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	fw->error[SBI_EXT_PMU_COUNTER_STOP] = SBI_ERR_FAILURE;
	fw->error_ctrs = C(3);
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.stop = C(3) | C(4);
	apply(fw);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3));
	expect_all_returned(test);
}

static void refused_read_is_zero(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	fw->ctr[6].value = 1234;
	fw->error[SBI_EXT_PMU_COUNTER_FW_READ] = SBI_ERR_INVALID_PARAM;
	KUNIT_EXPECT_EQ(test, riscv_pmu_sbi_ops.read_ctr(&fw->pmu, 6), 0);
	expect_all_returned(test);
}

static struct kunit_case sbi_cases[] = {
	KUNIT_CASE(honest_firmware_is_believed),
	KUNIT_CASE(honest_firmware_is_asked_for_events),
	KUNIT_CASE(batch_is_carried_out),
	KUNIT_CASE(busy_counters_are_not_tried),
	KUNIT_CASE(busy_counters_are_not_excluded),
	KUNIT_CASE(firmware_counter_is_read_by_call),
	KUNIT_CASE_PARAM(counter_count_is_bounded, num_gen_params),
	KUNIT_CASE_PARAM(nonsense_counter_is_left_out, info_gen_params),
	KUNIT_CASE(no_counter_makes_sense),
	KUNIT_CASE_PARAM(probe_fails_without_counters, error_gen_params),
	KUNIT_CASE_PARAM(match_outside_the_mask_fails_the_event, match_gen_params),
	KUNIT_CASE_PARAM(probe_survives_a_lying_match, match_gen_params),
	KUNIT_CASE(refused_program_fails_only_its_counter),
	KUNIT_CASE_PARAM(refused_start_fails_only_its_counter, start_gen_params),
	KUNIT_CASE(already_started_is_no_error),
	KUNIT_CASE(refused_stop_is_survived),
	KUNIT_CASE(refused_read_is_zero),
	{}
};

static struct kunit_suite sbi_suite = {
	.name		= "riscv_pmu_sbi",
	.init		= fw_init,
	.suite_exit	= fw_suite_exit,
	.test_cases	= sbi_cases,
};

kunit_test_suite(sbi_suite);
