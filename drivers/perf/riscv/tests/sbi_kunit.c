// SPDX-License-Identifier: GPL-2.0
/*
 * The SBI backend over a firmware of our own: first an honest one, then one
 * that lies. Whatever it says, the PMU has fewer counters or events, or takes
 * more calls, and nothing worse. There is a suite for each way in which it takes
 * a batch, as riscv_pmu.sbi=auto chooses it.
 *
 * What the backend finds it keeps in tables of its own, which belong to the
 * live PMU: probing the real firmware at the end puts them right again. Do not
 * run this suite (by debugfs) while perf is in use.
 */

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/csr.h>
#include <asm/pmu_csr.h>
#include <asm/sbi_pmu_batch.h>

#include "../backend.h"
#include "../csr.h"
#include "../pmu.h"
#include "../sbi/call.h"
#include "../sbi/method.h"
#include "fake_backend.h"

#define C(ctr)		BIT_ULL(ctr)
#define EVENT_L1D_MISS	0x10001
#define EVENT_BUS	0x00007
#define EVENT_FW_TIMER	0xf0005
#define EVENT_RAW	0x20000

/*
 * Its honest shape: cycle, no counter 1, instret, three programmable ones, two of
 * its own; a mask of RV32 takes two words to name the last.
 */
#define FW_FIXED	(C(0) | C(2))
#define FW_CONFIG		(C(3) | C(4) | C(5))
#define FW_OWN		(C(6) | C(40))
#define FW_CTRS		(FW_FIXED | FW_CONFIG | FW_OWN)
#define FW_NR		41

#define FW_NR_FIDS	SBI_CALL_NR_PMU_FIDS
#define FW_NR_BATCH	(SBI_PMU_BATCH_RESOLVE + 1)

/* Of START and STOP alike. */
#define FW_FLAG_SNAPSHOT	SBI_PMU_START_FLAG_INIT_SNAPSHOT
/* What it takes to name counters 3 and 40. */
#define FW_NR_WORDS		(64 / BITS_PER_LONG)

static_assert(SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT == FW_FLAG_SNAPSHOT);

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
 * @method:	what the backend should make of it
 * @has_snapshot: it takes a page for snapshots
 * @has_batch:	it has the batch extension
 * @page:	that for snapshots, while it has it
 * @shmem:	that for batches
 * @reads:	how often a counter's CSR was read
 * @period:	its counters count one in so many reads, or 0 for not at all
 * @filters:	counters that heed filters
 * @once:	it counts cycles on the first counter that has them only
 * @readable:	counters whose CSRs can be read
 * @refuses:	counters that it gives no event
 * @touched:	counters that any call was about that changes them
 * @raw_ctrs:	counters that can hold raw events
 * @has_info:	it tells whether events exist (SBI 3.0)
 * @denies_all: it says of all events that they do not
 * @overflowed:	counters that have, and have not started since
 * @batch_calls: calls of the batch extension, by function
 * @batch_error: error code that they give
 * @refuses_page: error code that it gives to a page of either kind, not to none
 * @says:	bits that it adds where it tells of counters: overflowed, failed, able
 */
struct firmware {
	struct riscv_pmu	pmu;
	struct riscv_pmu_batch	batch;
	struct fw_ctr		ctr[FW_NR];
	unsigned int		calls[FW_NR_FIDS];
	unsigned long		highest;
	long			num;
	u64			info[FW_NR];
	u64			lies_info;
	long			match;
	bool			lies_match;
	long			error[FW_NR_FIDS];
	u64			error_ctrs;
	const char		*method;
	bool			has_snapshot;
	bool			has_batch;
	struct riscv_pmu_snapshot_data *page;
	struct sbi_pmu_batch_shmem *shmem;
	unsigned int		reads;
	unsigned int		period;
	u64			filters;
	bool			once;
	u64			readable;
	u64			refuses;
	u64			touched;
	u64			raw_ctrs;
	bool			has_info;
	bool			denies_all;
	u64			overflowed;
	unsigned int		batch_calls[FW_NR_BATCH];
	long			batch_error[FW_NR_BATCH];
	long			refuses_page;
	u64			says;
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
static u64 fw_event_ctrs(const struct firmware *fw, u32 event_idx)
{
	switch (event_idx >> 16) {
	case 0x0:
		if (event_idx == EVENT_BUS)
			return 0;
		return FW_CONFIG | (event_idx == 1 ? C(0) : 0) | (event_idx == 2 ? C(2) : 0);
	case 0xf:
		return event_idx == EVENT_FW_TIMER ? FW_OWN : 0;
	case EVENT_RAW >> 16:
		return fw->raw_ctrs;
	}

	return FW_CONFIG;
}

static u64 fw_able(const struct firmware *fw, u32 event_idx)
{
	return fw_event_ctrs(fw, event_idx) & ~fw->refuses;
}

static struct sbiret fw_match(struct firmware *fw, u64 ctrs, unsigned long flags, u32 event_idx,
			      u64 event_data)
{
	for (ctrs &= fw_able(fw, event_idx); ctrs; ctrs &= ctrs - 1) {
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

	/* Fixed counters always have their event. */
	if (c->state == FW_FREE && !(FW_FIXED & C(ctr)))
		return SBI_ERR_INVALID_PARAM;
	if (c->state == FW_RUNNING)
		return SBI_ERR_ALREADY_STARTED;
	c->state = FW_RUNNING;
	fw->overflowed &= ~C(ctr);
	if (flags)
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

static long fw_one(struct firmware *fw, unsigned long fid, unsigned int ctr,
		   unsigned long flags, u64 value)
{
	fw->touched |= C(ctr);
	if (fw->error[fid] && fw->error_ctrs & C(ctr))
		return fw->error[fid];
	if (fid == SBI_EXT_PMU_COUNTER_START)
		return fw_start_one(fw, ctr, flags, value);

	return fw_stop_one(fw, ctr, flags);
}

/* What the page has or gets of a counter. */
static void fw_save(struct firmware *fw, unsigned int ctr, unsigned int i)
{
	fw->page->ctr_values[i] = fw->ctr[ctr].value;
	if (fw->overflowed & C(ctr))
		fw->page->ctr_overflow_mask |= BIT_ULL(i);
}

/* As OpenSBI: all that it can, and the last error. */
static struct sbiret fw_by_mask(struct firmware *fw, unsigned long fid, unsigned long base,
				unsigned long mask, unsigned long flags, u64 value)
{
	bool takes = fid == SBI_EXT_PMU_COUNTER_STOP && flags & FW_FLAG_SNAPSHOT;
	bool inits = fid == SBI_EXT_PMU_COUNTER_START && flags & FW_FLAG_SNAPSHOT;
	long error = 0, ret;

	if (flags & FW_FLAG_SNAPSHOT && !fw->page)
		return fw_error(SBI_ERR_NO_SHMEM);
	if (takes)
		fw->page->ctr_overflow_mask = fw->says;

	for (; mask; mask &= mask - 1) {
		unsigned int i = __ffs(mask), ctr = base + i;

		if (ctr >= FW_NR)
			return fw_error(SBI_ERR_INVALID_PARAM);
		ret = fw_one(fw, fid, ctr, flags, inits ? fw->page->ctr_values[i] : value);
		if (takes && !ret)
			fw_save(fw, ctr, i);
		error = ret ?: error;
	}

	return fw_error(error);
}

/* All ones are none; a page is one that this kernel can reach. */
static struct sbiret fw_set_page(struct firmware *fw, void **page, unsigned long low,
				 unsigned long high, unsigned long flags)
{
	u64 addr = IS_ENABLED(CONFIG_32BIT) ? low | (u64)high << 32 : low;

	if (low == ~0UL && high == ~0UL) {
		*page = NULL;
		return fw_value(0);
	}
	if (fw->refuses_page)
		return fw_error(fw->refuses_page);
	if (flags || low % PAGE_SIZE || (IS_ENABLED(CONFIG_64BIT) && high))
		return fw_error(SBI_ERR_INVALID_PARAM);

	*page = phys_to_virt(addr);
	return fw_value(0);
}

/* One entry is all that anyone asks for. */
static struct sbiret fw_event_info(struct firmware *fw, unsigned long low, unsigned long high,
				   unsigned long entries, unsigned long flags)
{
	u64 addr = IS_ENABLED(CONFIG_32BIT) ? low | (u64)high << 32 : low;
	struct riscv_pmu_sbi_event_info *info = phys_to_virt(addr);

	if (!fw->has_info)
		return fw_error(SBI_ERR_NOT_SUPPORTED);
	if (flags || entries != 1 || low % sizeof(*info) || (IS_ENABLED(CONFIG_64BIT) && high))
		return fw_error(SBI_ERR_INVALID_PARAM);

	info->output = fw_able(fw, info->event_idx) && !fw->denies_all ? 1 : 0;
	return fw_value(0);
}

static struct sbiret fw_call(unsigned long fid, unsigned long a0, unsigned long a1,
			     unsigned long a2, unsigned long a3, u64 arg)
{
	struct firmware *fw = kunit_get_current_test()->priv;

	fw->calls[fid]++;
	switch (fid) {
	case SBI_EXT_PMU_COUNTER_START:
	case SBI_EXT_PMU_COUNTER_STOP:
		return fw_by_mask(fw, fid, a0, a1, a2,
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
		return fw_match(fw, (u64)a1 << a0, a2, a3, arg);
	case SBI_EXT_PMU_COUNTER_FW_READ:
		return fw_value((long)fw->ctr[a0 % FW_NR].value);
	case SBI_EXT_PMU_COUNTER_FW_READ_HI:
		return fw_value((long)(fw->ctr[a0 % FW_NR].value >> 32));
	case SBI_EXT_PMU_SNAPSHOT_SET_SHMEM:
		if (fw->has_snapshot)
			return fw_set_page(fw, (void **)&fw->page, a0, a1, a2);
		break;
	case SBI_CALL_PMU_EVENT_GET_INFO:
		return fw_event_info(fw, a0, a1, a2, a3);
	}

	return fw_error(SBI_ERR_NOT_SUPPORTED);
}

/* --- its batch extension ------------------------------------------------ */

static bool fw_program_one(struct firmware *fw, unsigned int ctr)
{
	const struct sbi_pmu_batch_slot *slot = &fw->shmem->slot[ctr];
	struct fw_ctr *c = &fw->ctr[ctr];

	fw->touched |= C(ctr);
	c->state = FW_FREE;
	if (slot->event_idx == SBI_PMU_BATCH_NO_EVENT)
		return true;
	if (!(fw_able(fw, slot->event_idx) & C(ctr)))
		return false;

	c->state = FW_STOPPED;
	c->event_idx = slot->event_idx;
	c->event_data = slot->event_data;
	c->flags = slot->flags;
	return true;
}

static bool fw_start_batch(struct firmware *fw, unsigned int ctr)
{
	bool loads = fw->shmem->load & C(ctr);
	long ret = fw_one(fw, SBI_EXT_PMU_COUNTER_START, ctr, loads, fw->shmem->slot[ctr].value);

	return !ret || (ret == SBI_ERR_ALREADY_STARTED && !loads);
}

static struct sbiret fw_apply(struct firmware *fw, u64 stop, u64 program, u64 start)
{
	u64 ctrs, failed = 0;

	if (!fw->shmem)
		return fw_error(SBI_ERR_NO_SHMEM);
	if ((stop | program | start) & ~FW_CTRS)
		return fw_error(SBI_ERR_INVALID_PARAM);

	for (ctrs = stop; ctrs; ctrs &= ctrs - 1)
		fw_one(fw, SBI_EXT_PMU_COUNTER_STOP, __ffs64(ctrs), 0, 0);
	for (ctrs = program; ctrs; ctrs &= ctrs - 1)
		failed |= fw_program_one(fw, __ffs64(ctrs)) ? 0 : ctrs & -ctrs;
	for (ctrs = start & ~failed; ctrs; ctrs &= ctrs - 1)
		failed |= fw_start_batch(fw, __ffs64(ctrs)) ? 0 : ctrs & -ctrs;

	fw->shmem->failed = failed | fw->says;
	return fw_error(failed | fw->says ? SBI_ERR_FAILURE : 0);
}

static struct sbiret fw_resolve(struct firmware *fw, u32 event_idx)
{
	if (!fw->shmem)
		return fw_error(SBI_ERR_NO_SHMEM);

	fw->shmem->ctrs = fw_able(fw, event_idx) | fw->says;
	return fw_error(fw->shmem->ctrs ? 0 : SBI_ERR_NOT_SUPPORTED);
}

static struct sbiret fw_batch_call(unsigned long fid, unsigned long a0, unsigned long a1,
				   unsigned long a2, unsigned long a3, unsigned long a4,
				   unsigned long a5)
{
	struct firmware *fw = kunit_get_current_test()->priv;

	fw->batch_calls[fid]++;
	if (fw->batch_error[fid])
		return fw_error(fw->batch_error[fid]);

	switch (fid) {
	case SBI_PMU_BATCH_SET_SHMEM:
		return fw_set_page(fw, (void **)&fw->shmem, a0, a1, a2);
	case SBI_PMU_BATCH_APPLY:
		if (IS_ENABLED(CONFIG_64BIT))
			return fw_apply(fw, a0, a1, a2);
		return fw_apply(fw, a0 | (u64)a1 << 32, a2 | (u64)a3 << 32, a4 | (u64)a5 << 32);
	case SBI_PMU_BATCH_RESOLVE:
		return fw_resolve(fw, a0);
	}

	return fw_error(SBI_ERR_NOT_SUPPORTED);
}

static bool fw_has_batch(void)
{
	struct firmware *fw = kunit_get_current_test()->priv;

	return fw->has_batch;
}

/* --- its CSRs ----------------------------------------------------------- */

/* Whether a counter before this one counts the same event, which only one can. */
static bool fw_is_second(const struct firmware *fw, unsigned int ctr)
{
	for (unsigned int i = 3; i < ctr; i++) {
		const struct fw_ctr *c = &fw->ctr[i];

		if (c->state == FW_RUNNING && c->event_idx == fw->ctr[ctr].event_idx)
			return fw->once;
	}

	return false;
}

/* With any filter set, for all that reads these is supervisor mode, and sets all. */
static u64 fw_csr(unsigned int ctr)
{
	struct firmware *fw = kunit_get_current_test()->priv;
	struct fw_ctr *c = &fw->ctr[ctr];
	bool filtered = fw->filters & C(ctr) && c->flags;

	fw->reads++;
	if (c->state == FW_RUNNING && !filtered && !fw_is_second(fw, ctr) &&
	    fw->period && !(fw->reads % fw->period))
		c->value++;

	return c->value;
}

static u64 fw_csr_0(void)
{
	return fw_csr(0);
}

static u64 fw_csr_2(void)
{
	return fw_csr(2);
}

static u64 fw_csr_3(void)
{
	return fw_csr(3);
}

static u64 fw_csr_4(void)
{
	return fw_csr(4);
}

static u64 fw_csr_5(void)
{
	return fw_csr(5);
}

static bool fw_csr_is_readable(unsigned int ctr)
{
	struct firmware *fw = kunit_get_current_test()->priv;

	return fw->readable & C(ctr);
}

static riscv_pmu_read_fn fw_csr_reader(unsigned int ctr)
{
	static const riscv_pmu_read_fn events[] = {
		[0] = fw_csr_0, [2] = fw_csr_2, [3] = fw_csr_3, [4] = fw_csr_4, [5] = fw_csr_5,
	};

	return ctr < ARRAY_SIZE(events) && events[ctr] ? events[ctr] : fw_csr_5;
}

/* --- each test ---------------------------------------------------------- */

/* The backend notes per CPU what is programmed, so that the thread has to stay. */
static int fw_init(struct kunit *test)
{
	struct firmware *fw = kunit_kzalloc(test, sizeof(*fw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fw);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	fw->num = FW_NR;
	fw->raw_ctrs = FW_CONFIG;
	fw->period = 1;
	fw->readable = FW_FIXED | FW_CONFIG;
	fw->pmu.hwirq = RV_IRQ_PMU;
	fw->pmu.has_filters = true;
	fw->pmu.pending_csr = CSR_IP;
	fw->pmu.ops = riscv_pmu_sbi_ops;
	fw->method = "plain";
	test->priv = fw;
	kunit_activate_static_stub(test, riscv_pmu_sbi_pmu, fw_call);
	kunit_activate_static_stub(test, riscv_pmu_sbi_batch, fw_batch_call);
	kunit_activate_static_stub(test, riscv_pmu_sbi_has_batch, fw_has_batch);
	kunit_activate_static_stub(test, riscv_pmu_csr_reader, fw_csr_reader);
	kunit_activate_static_stub(test, riscv_pmu_csr_is_readable, fw_csr_is_readable);
	return 0;
}

static int fw_init_snapshot(struct kunit *test)
{
	int err = fw_init(test);
	struct firmware *fw = test->priv;

	if (err)
		return err;
	fw->has_snapshot = true;
	fw->method = "snapshot";
	return 0;
}

static int fw_init_batch(struct kunit *test)
{
	int err = fw_init(test);
	struct firmware *fw = test->priv;

	if (err)
		return err;
	fw->has_batch = true;
	fw->method = "batch";
	return 0;
}

static void fw_exit(struct kunit *test)
{
	struct firmware *fw = test->priv;

	kfree(fw->pmu.priv);
}

static int probe(struct firmware *fw)
{
	kfree(fw->pmu.priv);
	fw->pmu.priv = NULL;
	return riscv_pmu_sbi_ops.probe(&fw->pmu);
}

/* Probes, and starts to count calls. */
static void probe_as(struct kunit *test, const char *method)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_ASSERT_NOT_NULL_MSG(test, strstr(fw->pmu.firmware, method), "%s, not %s calls",
				  fw->pmu.firmware, method);
	memset(fw->calls, 0, sizeof(fw->calls));
	memset(fw->batch_calls, 0, sizeof(fw->batch_calls));
}

static u64 event_ctrs(struct firmware *fw, u32 event_idx, u64 event_data)
{
	const struct riscv_pmu_config cfg = { .event_idx = event_idx, .event_data = event_data };

	return riscv_pmu_sbi_ops.event_ctrs(&fw->pmu, &cfg);
}

static u64 untried_ctrs(struct firmware *fw, u32 event_idx, u64 event_data)
{
	const struct riscv_pmu_config cfg = { .event_idx = event_idx, .event_data = event_data };

	return riscv_pmu_sbi_ops.untried_ctrs(&fw->pmu, &cfg);
}

static int apply(struct firmware *fw)
{
	guard(irqsave)();
	return fw->pmu.ops.apply(&fw->pmu, &fw->batch);
}

/* Sparse can not bear it expanded by an expectation. */
static u64 held(void)
{
	return this_cpu_read(riscv_pmu_sbi_configs);
}

/* A batch that programs and starts counters. */
static void plan(struct firmware *fw, u64 ctrs, u32 event_idx)
{
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.program = ctrs;
	fw->batch.start = ctrs;
	for (; ctrs; ctrs &= ctrs - 1)
		fw->batch.setup[__ffs64(ctrs)].cfg.event_idx = event_idx;
}

static u64 in_state(const struct firmware *fw, enum fw_state state)
{
	u64 ctrs = 0;

	for (unsigned int ctr = 0; ctr < FW_NR; ctr++)
		ctrs |= FW_CTRS & C(ctr) && fw->ctr[ctr].state == state ? C(ctr) : 0;

	return ctrs;
}

/*
 * Every test ends like this: the hart stops, and the firmware has all its counters back,
 * but for those that it has not handed out, which run on.
 */
static void expect_all_returned(struct kunit *test)
{
	struct firmware *fw = test->priv;
	u64 ctrs = fw->pmu.ctrs & ~fw->pmu.free_running_ctrs;

	memset(fw->error, 0, sizeof(fw->error));
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_stop(&fw->pmu);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_FREE) & ctrs, FW_CTRS & ctrs);
	KUNIT_EXPECT_NULL(test, fw->page);
	KUNIT_EXPECT_NULL(test, fw->shmem);
}

/* --- honest ------------------------------------------------------------- */

static void honest_firmware_is_believed(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.fw_ctrs, FW_OWN);
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[0].width, 64);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].width, 48);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].csr, CSR_CYCLE + 3);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].inh, GENMASK(4, 0));
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].inh, 0);
	KUNIT_EXPECT_EQ_MSG(test, in_state(fw, FW_FREE), FW_CTRS, "probing leaves programs behind");
	expect_all_returned(test);
}

/* T-Head C9xx and Andes; but not one that the firmware does not hand out. */
static void fixed_counters_of_some_vendors_interrupt(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->pmu.fixed_irqs = true;
	fw->refuses = C(2);
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, FW_CONFIG | C(0));

	plan(fw, C(0), 0x00001);
	fw->batch.load = C(0);
	fw->batch.setup[0].value = -1000ULL;
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[0].value, -1000ULL);
	expect_all_returned(test);
}

static void honest_firmware_is_asked_for_events(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x00001, 0), FW_CONFIG | C(0));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x00002, 0), FW_CONFIG | C(2));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_BUS, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x0000b, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x10038, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_FW_TIMER, 0), FW_OWN);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0xf0006, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0xf0100, 0), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 0x1234), FW_CONFIG);
	KUNIT_EXPECT_EQ_MSG(test, in_state(fw, FW_FREE), FW_CTRS, "asking leaves programs behind");
	expect_all_returned(test);
}

static void batch_is_carried_out(struct kunit *test)
{
	struct firmware *fw = test->priv;
	unsigned int each;

	probe_as(test, fw->method);
	plan(fw, C(3) | C(4), EVENT_RAW);
	fw->batch.setup[3].cfg.event_data = 0x1234;
	fw->batch.setup[3].cfg.inh = RISCV_PMU_INH_U | RISCV_PMU_INH_VS;
	fw->batch.load = C(4);
	fw->batch.setup[4].value = 0x89abcdef01234567ULL;
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_idx, EVENT_RAW);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_data, 0x1234);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].flags,
			SBI_PMU_CFG_FLAG_SET_UINH | SBI_PMU_CFG_FLAG_SET_VSINH);
	KUNIT_EXPECT_EQ(test, fw->ctr[4].value, 0x89abcdef01234567ULL);

	/* All counters of a mask stop and start by one call each, or both by one. */
	each = fw->has_batch ? 0 : 1;
	memset(fw->calls, 0, sizeof(fw->calls));
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.stop = C(3) | C(4);
	fw->batch.start = C(3) | C(4);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_STOP], each);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], each);
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
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
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
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	expect_all_returned(test);
}

static void expect_tried(struct kunit *test, unsigned int matches, unsigned int stops)
{
	struct firmware *fw = test->priv;

	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_CFG_MATCH], matches);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_STOP], stops);
	memset(fw->calls, 0, sizeof(fw->calls));
	KUNIT_EXPECT_EQ_MSG(test, in_state(fw, FW_FREE), FW_CTRS, "trials leave programs behind");
}

/* One trial for each counter that can, and one for all that can not, if there are any. */
static void raw_event_is_tried_once(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->raw_ctrs = C(4) | C(5);
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, untried_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), C(4) | C(5));
	expect_tried(test, 3, 2);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), C(4) | C(5));
	KUNIT_EXPECT_EQ(test, untried_ctrs(fw, EVENT_RAW, 7), 0);
	expect_tried(test, 0, 0);
	/* Another selector is another event. */
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 8), C(4) | C(5));
	expect_tried(test, 3, 2);
	expect_all_returned(test);
}

static void absent_raw_event_is_tried_once(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->raw_ctrs = 0;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), 0);
	expect_tried(test, 1, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), 0);
	KUNIT_EXPECT_EQ(test, untried_ctrs(fw, EVENT_RAW, 7), 0);
	expect_tried(test, 0, 0);
	expect_all_returned(test);
}

/* Those that hold a config are unknown, whatever is known of the others; until they are free. */
static void busy_counters_stay_unknown(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->raw_ctrs = C(4);
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, untried_ctrs(fw, EVENT_RAW, 7), C(3) | C(4));

	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.release = C(3) | C(4);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	memset(fw->calls, 0, sizeof(fw->calls));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), C(4));
	KUNIT_EXPECT_EQ(test, untried_ctrs(fw, EVENT_RAW, 7), 0);
	expect_tried(test, 2, 1);
	expect_all_returned(test);
}

/* Users choose the selectors: the oldest are forgotten, and then tried again. */
static void known_events_are_bounded(struct kunit *test)
{
	struct firmware *fw = test->priv;

	probe_as(test, fw->method);
	for (u64 selector = 1; selector <= 64; selector++)
		KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, selector), FW_CONFIG);
	expect_tried(test, 3 * 64, 3 * 64);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 1), FW_CONFIG);
	expect_tried(test, 0, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 65), FW_CONFIG);
	expect_tried(test, 3, 3);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 1), FW_CONFIG);
	expect_tried(test, 3, 3);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 65), FW_CONFIG);
	expect_tried(test, 0, 0);
	expect_all_returned(test);
}

/* SBI_ERR_NOT_SUPPORTED means that no counter can; what else goes wrong may be mended. */
static void other_error_is_not_remembered(struct kunit *test)
{
	struct firmware *fw = test->priv;

	probe_as(test, fw->method);
	fw->error[SBI_EXT_PMU_COUNTER_CFG_MATCH] = SBI_ERR_FAILURE;
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), 0);
	fw->error[SBI_EXT_PMU_COUNTER_CFG_MATCH] = 0;
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	expect_all_returned(test);
}

/* Whether it exists, the firmware says; where, it does not. */
static void absent_event_is_not_tried_if_event_get_info_says_so(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->has_info = true;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 1);
	expect_tried(test, 3, 3);

	fw->raw_ctrs = 0;
	plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	memset(fw->calls, 0, sizeof(fw->calls));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 8), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 8), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 1);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_CFG_MATCH], 0);

	/* Firmware that stops answering is treated as one without the call. */
	fw->has_info = false;
	fw->raw_ctrs = FW_CONFIG;
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 9), FW_CONFIG);
	expect_all_returned(test);
}

/* It does not even know of cycles. */
static void event_get_info_that_denies_cycles_is_ignored(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->has_info = true;
	fw->denies_all = true;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 0);
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

struct move_row {
	const char	*name;
	unsigned int	period;
	unsigned int	reads;
	u64		filters;
	u64		able;
};

/* Fixed counters can filter only if they move all the time without filters, and never with. */
static const struct move_row move_rows[] = {
	{ "both filter", 1, 0, FW_FIXED, FW_FIXED },
	{ "cycle filters", 1, 0, C(0), C(0) },
	{ "none filters", 1, 0, 0, 0 },
	{ "none moves", 0, 0, 0, 0 },
	{ "slow", 3, 0, 0, 0 },
	{ "slow, just before it counts", 3, 1, 0, 0 },
	{ "slow, just after", 3, 2, 0, 0 },
	{ "very slow", 7, 5, 0, 0 },
	{ "very slow, later", 7, 6, 0, 0 },
	{ "very slow, filters", 7, 5, FW_FIXED, 0 },
};

KUNIT_ARRAY_PARAM_DESC(move, move_rows, name);

static void slow_fixed_counter_is_not_used_to_filter(struct kunit *test)
{
	const struct move_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->period = row->period;
	fw->reads = row->reads;
	fw->filters = row->filters;
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[0].inh, row->able & C(0) ? GENMASK(4, 0) : 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[2].inh, row->able & C(2) ? GENMASK(4, 0) : 0);
	expect_all_returned(test);
}

/* A batch is as it was afterwards: what only runs has started and stopped as it says. */
static void apply_with_free_running_ctrs(struct kunit *test)
{
	struct firmware *fw = test->priv;

	plan(fw, C(0) | C(3), 0x00001);
	fw->batch.load = C(0) | C(3);
	fw->touched = 0;
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.program, C(0) | C(3));
	KUNIT_EXPECT_EQ(test, fw->batch.start, C(0) | C(3));
	KUNIT_EXPECT_EQ(test, fw->batch.load, C(0) | C(3));
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, fw->touched, C(3));

	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.stop = C(0);
	fw->batch.release = C(0) | C(3);
	fw->touched = 0;
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.stop, C(0));
	KUNIT_EXPECT_EQ(test, fw->batch.release, C(0) | C(3));
	KUNIT_EXPECT_EQ(test, fw->touched, C(3));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(0));
}

/* OpenSBI 1.9 gives cycle no event where there is Sscofpmf; it counts nevertheless. */
static void refused_fixed_counter_is_only_read(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->refuses = C(0);
	fw->filters = FW_FIXED;
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.free_running_ctrs, C(0));
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[0].inh, 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[2].inh, GENMASK(4, 0));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x00001, 0), FW_CONFIG | C(0));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(0));
	apply_with_free_running_ctrs(test);

	/* On a hart that comes up it may stand. */
	fw->ctr[0].state = FW_STOPPED;
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_start(&fw->pmu);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(0));
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_stop(&fw->pmu);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_FREE), FW_CTRS & ~C(0));
}

/* What can not be read, or stands still, is no counter. */
static void refused_fixed_counter_is_no_counter(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->refuses = FW_FIXED;
	fw->readable = FW_FIXED & ~C(0);
	fw->error[SBI_EXT_PMU_COUNTER_START] = SBI_ERR_INVALID_PARAM;
	fw->error_ctrs = C(2);
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS & ~FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.free_running_ctrs, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x00001, 0), FW_CONFIG);
	expect_all_returned(test);
}

struct duplicate_row {
	const char	*name;
	bool		is_qemu;
	bool		once;
	unsigned int	period;
	unsigned int	reads;
	u64		cycles;
};

/* Who has QEMU's bug has one programmable counter for cycles left. */
static const struct duplicate_row duplicate_rows[] = {
	{ "QEMU with the bug", true, true, 1, 0, C(0) | C(3) },
	{ "QEMU without it", true, false, 1, 0, C(0) | FW_CONFIG },
	{ "QEMU without it, slow", true, false, 3, 1, C(0) | FW_CONFIG },
	{ "QEMU without it, slow, later", true, false, 3, 2, C(0) | FW_CONFIG },
	{ "a board that seems to have it", false, true, 1, 0, C(0) | FW_CONFIG },
	{ "a board, slow", false, false, 3, 1, C(0) | FW_CONFIG },
};

KUNIT_ARRAY_PARAM_DESC(duplicate, duplicate_rows, name);

static void qemus_quirk_is_found_on_qemu_only(struct kunit *test)
{
	const struct duplicate_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->pmu.is_qemu = row->is_qemu;
	fw->once = row->once;
	fw->period = row->period;
	fw->reads = row->reads;
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x00001, 0), row->cycles);
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
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, FW_CONFIG & ~C(4));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG & ~C(4));
	expect_all_returned(test);
}

/* What it says of counter 6, which is its own. On RV32 the calls may read 32 bits only. */
static const struct info_row own_rows[] = {
	{ "1 bit", 0, 1 },
	{ "8 bits", 0, 8 },
	{ "32 bits", 0, 32 },
	{ "64 bits, CSR 0xfff", 0xfff, 64 },
	{ "1 bit, cycle", CSR_CYCLE, 1 },
};

KUNIT_ARRAY_PARAM_DESC(own, own_rows, name);

static void width_and_csr_of_a_firmware_counter_are_ignored(struct kunit *test)
{
	const unsigned int width =
		IS_ENABLED(CONFIG_64BIT) || sbi_spec_version >= sbi_mk_version(2, 0) ? 64 : 32;
	const struct info_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->lies_info = C(6);
	fw->info[6] = info_of(row->csr, row->width, true);
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS);
	KUNIT_EXPECT_EQ(test, fw->pmu.fw_ctrs, FW_OWN);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].width, width);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].csr, 0);
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
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_FW_TIMER, 0) & ~FW_OWN, 0);
	expect_all_returned(test);
}

static void refused_config_fails_only_its_counter(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3) | C(4) | C(5), EVENT_L1D_MISS);
	fw->batch.setup[4].cfg.event_idx = EVENT_BUS;
	KUNIT_EXPECT_LT(test, apply(fw), 0);
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
	{ "by mask: no page", SBI_ERR_NO_SHMEM, false },
	{ "with a value: failed", SBI_ERR_FAILURE, true },
	{ "with a value: not supported", SBI_ERR_NOT_SUPPORTED, true },
	{ "with a value: unheard of", -1000, true },
	{ "with a value: positive", 1, true },
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
	KUNIT_EXPECT_EQ(test, fw->ctr[4].state, fw->has_batch ? FW_STOPPED : FW_FREE);
	KUNIT_EXPECT_EQ(test, held(), C(3) | C(5));
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

/* --- values of their own ------------------------------------------------ */

static u64 value_of(unsigned int ctr)
{
	return 0x89abcdef01234567ULL + ctr;
}

/* A batch that stops counters, then starts them from values of their own. */
static void plan_load(struct firmware *fw, u64 ctrs)
{
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.stop = ctrs;
	fw->batch.start = ctrs;
	fw->batch.load = ctrs;
	for (; ctrs; ctrs &= ctrs - 1)
		fw->batch.setup[__ffs64(ctrs)].value = value_of(__ffs64(ctrs));
	memset(fw->calls, 0, sizeof(fw->calls));
	memset(fw->batch_calls, 0, sizeof(fw->batch_calls));
}

static void expect_loaded(struct kunit *test, u64 ctrs)
{
	struct firmware *fw = test->priv;

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		KUNIT_EXPECT_EQ_MSG(test, fw->ctr[ctr].value, value_of(ctr), "counter %u", ctr);
		KUNIT_EXPECT_EQ_MSG(test, fw->ctr[ctr].state, FW_RUNNING, "counter %u", ctr);
		fw->ctr[ctr].value = 0;
	}
}

/* Counters 3, 4 and 5 and one beyond a word of RV32 run. */
static void run_four(struct kunit *test)
{
	struct firmware *fw = test->priv;

	probe_as(test, fw->method);
	plan(fw, FW_CONFIG | C(40), EVENT_L1D_MISS);
	fw->batch.setup[40].cfg.event_idx = EVENT_FW_TIMER;
	KUNIT_ASSERT_EQ(test, apply(fw), 0);
	KUNIT_ASSERT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
}

static void values_are_loaded_into_their_counters(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	expect_loaded(test, FW_CONFIG | C(40));

	plan_load(fw, C(40));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	expect_loaded(test, C(40));
	expect_all_returned(test);
}

/* Those without a value start from where they stand. */
static void only_loaded_counters_get_a_value(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->ctr[5].value = 55;
	plan_load(fw, FW_CONFIG | C(40));
	fw->batch.load = C(3) | C(40);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	expect_loaded(test, C(3) | C(40));
	KUNIT_EXPECT_EQ(test, fw->ctr[5].value, 55);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	expect_all_returned(test);
}

/* What a counter held is forgotten, what it gets is not, all by one batch. */
static void release_and_program_go_together(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	memset(fw->batch_calls, 0, sizeof(fw->batch_calls));
	plan(fw, C(3) | C(4), EVENT_RAW);
	fw->batch.setup[3].cfg.event_data = 7;
	fw->batch.release = FW_CONFIG;
	fw->batch.load = C(3) | C(4);
	fw->batch.setup[3].value = value_of(3);
	fw->batch.setup[4].value = value_of(4);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_idx, EVENT_RAW);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_data, 7);
	KUNIT_EXPECT_EQ(test, fw->ctr[4].event_data, 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[5].state, FW_FREE);
	KUNIT_EXPECT_EQ(test, held(), C(3) | C(4) | C(40));
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], fw->has_batch ? 1 : 0);
	expect_loaded(test, C(3) | C(4));
	expect_all_returned(test);
}

/* --- which way is taken ------------------------------------------------- */

struct method_row {
	const char	*name;
	bool		has_snapshot;
	bool		has_batch;
	const char	*method;
};

static const struct method_row method_rows[] = {
	{ "the base calls only", false, false, "plain" },
	{ "snapshots", true, false, "snapshot" },
	{ "the batch extension", false, true, "batch" },
	{ "both", true, true, "batch" },
};

KUNIT_ARRAY_PARAM_DESC(method, method_rows, name);

static void best_way_is_taken(struct kunit *test)
{
	const struct method_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->has_snapshot = row->has_snapshot;
	fw->has_batch = row->has_batch;
	probe_as(test, row->method);
	KUNIT_EXPECT_EQ(test, fw->pmu.one_call, row->has_batch);
	KUNIT_EXPECT_EQ(test, !!fw->page, !strcmp(row->method, "snapshot"));
	KUNIT_EXPECT_EQ(test, !!fw->shmem, row->has_batch);
	expect_all_returned(test);
}

struct errno_row {
	const char	*name;
	long		error;
};

static const struct errno_row errno_rows[] = {
	{ "not supported", SBI_ERR_NOT_SUPPORTED },
	{ "invalid parameter", SBI_ERR_INVALID_PARAM },
	{ "denied", SBI_ERR_DENIED },
	{ "invalid address", SBI_ERR_INVALID_ADDRESS },
	{ "already started", SBI_ERR_ALREADY_STARTED },
	{ "no page", SBI_ERR_NO_SHMEM },
	{ "unheard of", -1000 },
	{ "positive", 1 },
	{ "LONG_MIN", LONG_MIN },
};

KUNIT_ARRAY_PARAM_DESC(errno, errno_rows, name);

/* It has what takes a page, and then takes none: call by call, then. */
static void refused_page_costs_calls_only(struct kunit *test)
{
	const struct errno_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->refuses_page = row->error;
	run_four(test);
	plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 4);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], 0);
	expect_loaded(test, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG);
	expect_all_returned(test);
}

/* --- snapshots ---------------------------------------------------------- */

static void values_are_loaded_by_one_call(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	plan_load(fw, FW_CONFIG);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_STOP], 1);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 1);
	expect_loaded(test, FW_CONFIG);

	plan_load(fw, C(3) | C(40));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], FW_NR_WORDS);
	expect_loaded(test, C(3) | C(40));
	expect_all_returned(test);
}

/* Which costs as many calls, and spares the firmware the page. */
static void single_value_takes_no_page(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	KUNIT_ASSERT_NOT_NULL(test, fw->page);
	fw->page->ctr_values[3] = 1;
	plan_load(fw, C(3));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 1);
	KUNIT_EXPECT_EQ(test, fw->page->ctr_values[3], 1);
	expect_loaded(test, C(3));
	expect_all_returned(test);
}

/* It does not know its page any more: asked once, then never again. */
static void page_lost_on_the_way_is_done_without(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->page = NULL;
	plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	expect_loaded(test, FW_CONFIG | C(40));

	plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 4);
	expect_loaded(test, FW_CONFIG | C(40));
	expect_all_returned(test);
}

/* One counter that does not start is no reason to do without for good. */
static void refused_counter_leaves_the_page_in_use(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->error[SBI_EXT_PMU_COUNTER_START] = SBI_ERR_FAILURE;
	fw->error_ctrs = C(40);
	plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_LT(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(40));
	expect_loaded(test, FW_CONFIG);

	plan_load(fw, FW_CONFIG);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 1);
	expect_loaded(test, FW_CONFIG);
	expect_all_returned(test);
}

static u64 overflowed(struct firmware *fw, u64 ctrs)
{
	guard(irqsave)();
	return fw->pmu.ops.overflowed(&fw->pmu, ctrs);
}

/* As in a guest of KVM, no CSR tells: fw_init() leaves ovf_csr 0, which reads 0. */
static void hidden_overflow_is_read_from_the_page(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->ctr[5].value = 55;
	fw->overflowed = C(4) | C(40);
	KUNIT_EXPECT_EQ(test, overflowed(fw, FW_CONFIG | C(40)), C(4) | C(40));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fw->ctr[5].value, 55);
	KUNIT_EXPECT_EQ_MSG(test, overflowed(fw, FW_CONFIG | C(40)), 0, "told again");
	expect_all_returned(test);
}

static void overflow_of_others_is_not_believed(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->says = ~0ULL;
	KUNIT_EXPECT_EQ(test, overflowed(fw, C(3) | C(4)), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, overflowed(fw, C(40)), C(40));
	KUNIT_EXPECT_EQ(test, overflowed(fw, 0), 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	expect_all_returned(test);
}

/* The others have stopped and been told of; they must go on. */
static void refused_snapshot_leaves_counters_running(struct kunit *test)
{
	const struct errno_row *row = test->param_value;
	struct firmware *fw = test->priv;

	run_four(test);
	fw->error[SBI_EXT_PMU_COUNTER_STOP] = row->error;
	fw->error_ctrs = C(5);
	fw->overflowed = C(4);
	KUNIT_EXPECT_EQ(test, overflowed(fw, FW_CONFIG), C(4));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));

	/* What the page had from last time is not told again. */
	fw->error_ctrs = FW_CONFIG;
	fw->page = NULL;
	KUNIT_EXPECT_EQ(test, overflowed(fw, FW_CONFIG), 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	expect_all_returned(test);
}

/* --- the batch extension ------------------------------------------------ */

static unsigned int std_calls(const struct firmware *fw)
{
	unsigned int calls = 0;

	for (unsigned int fid = 0; fid < FW_NR_FIDS; fid++)
		calls += fw->calls[fid];

	return calls;
}

static void batch_is_one_call(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], 1);

	plan(fw, C(3), EVENT_RAW);
	fw->batch.stop = C(40);
	fw->batch.release = C(3) | C(4);
	fw->batch.start = C(3) | C(40);
	fw->batch.load = C(3) | C(40);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], 2);
	KUNIT_EXPECT_EQ(test, std_calls(fw), 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3) | C(5) | C(40));
	expect_all_returned(test);
}

/* The slot of a counter that is only released must not bring back what it had. */
static void released_counter_has_no_event(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	KUNIT_ASSERT_NOT_NULL(test, fw->shmem);
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.release = C(4) | C(40);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->shmem->slot[4].event_idx, SBI_PMU_BATCH_NO_EVENT);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_FREE) & (FW_CONFIG | C(40)), C(4) | C(40));
	KUNIT_EXPECT_EQ(test, held(), C(3) | C(5));
	expect_all_returned(test);
}

struct says_row {
	const char	*name;
	u64		says;
	u64		failed;
};

/* What it says has failed when counters 3 and 4 were to be programmed and started */
static const struct says_row says_rows[] = {
	{ "one of them", C(3), C(3) },
	{ "another one", C(5), 0 },
	{ "one that does not exist", C(63), 0 },
	{ "both and another one", FW_CONFIG, C(3) | C(4) },
	{ "all there are", ~0ULL, C(3) | C(4) },
};

KUNIT_ARRAY_PARAM_DESC(says, says_rows, name);

static void failure_of_others_is_not_believed(struct kunit *test)
{
	const struct says_row *row = test->param_value;
	struct firmware *fw = test->priv;

	probe_as(test, fw->method);
	fw->says = row->says;
	plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), row->failed ? -EIO : 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, row->failed);
	KUNIT_EXPECT_EQ(test, held(), (C(3) | C(4)) & ~row->failed);
	fw->says = 0;
	expect_all_returned(test);
}

static void refused_batch_is_carried_out_call_by_call(struct kunit *test)
{
	const struct errno_row *row = test->param_value;
	struct firmware *fw = test->priv;

	probe_as(test, fw->method);
	fw->batch_error[SBI_PMU_BATCH_APPLY] = row->error;
	plan(fw, FW_CONFIG, EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->ctr[4].event_idx, EVENT_L1D_MISS);

	plan_load(fw, FW_CONFIG);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	expect_loaded(test, FW_CONFIG);
	expect_all_returned(test);
}

/* The counter has its new value already when the batch is said to have failed. */
static void failed_reload_returns_what_was_counted(struct kunit *test)
{
	struct firmware *fw = test->priv;
	u64 was = 0;
	int err = 0;

	run_four(test);
	fw->period = 0;
	fw->ctr[3].value = 77;
	fw->says = C(5);
	scoped_guard(irqsave)
		err = riscv_pmu_sbi_batch_method.reload(&fw->pmu, 3, 1000, &was);
	KUNIT_EXPECT_EQ(test, err, 0);
	fw->says = 0;
	KUNIT_EXPECT_EQ(test, was, 77);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].value, 1000);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].state, FW_RUNNING);
	expect_all_returned(test);
}

static void page_lost_is_carried_out_call_by_call(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->shmem = NULL;
	plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	expect_loaded(test, FW_CONFIG | C(40));
	expect_all_returned(test);
}

static void resolved_nonsense_is_masked(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->says = ~0ULL;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_BUS, 0) & ~(FW_FIXED | FW_CONFIG), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_FW_TIMER, 0) & ~FW_OWN, 0);
	fw->says = 0;
	expect_all_returned(test);
}

/* From the start, or from some event on: then counters are tried, unless it says that none can. */
static void refused_resolve_is_survived(struct kunit *test)
{
	const struct errno_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->batch_error[SBI_PMU_BATCH_RESOLVE] = row->error;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_BUS, 0), 0);

	fw->batch_error[SBI_PMU_BATCH_RESOLVE] = 0;
	probe_as(test, fw->method);
	fw->batch_error[SBI_PMU_BATCH_RESOLVE] = row->error;
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7),
			row->error == SBI_ERR_NOT_SUPPORTED ? 0 : FW_CONFIG);
	expect_all_returned(test);
}

/* Whichever way a batch is carried out. */
#define SBI_EACH_CASE							\
	KUNIT_CASE(honest_firmware_is_believed),			\
	KUNIT_CASE(honest_firmware_is_asked_for_events),		\
	KUNIT_CASE(fixed_counters_of_some_vendors_interrupt),		\
	KUNIT_CASE(batch_is_carried_out),				\
	KUNIT_CASE(refused_fixed_counter_is_only_read),			\
	KUNIT_CASE(busy_counters_are_not_tried),			\
	KUNIT_CASE(busy_counters_are_not_excluded),			\
	KUNIT_CASE(refused_config_fails_only_its_counter),		\
	KUNIT_CASE_PARAM(refused_start_fails_only_its_counter, start_gen_params), \
	KUNIT_CASE(already_started_is_no_error),			\
	KUNIT_CASE(refused_stop_is_survived),				\
	KUNIT_CASE_PARAM(probe_survives_a_lying_match, match_gen_params), \
	KUNIT_CASE(values_are_loaded_into_their_counters),		\
	KUNIT_CASE(only_loaded_counters_get_a_value),			\
	KUNIT_CASE(release_and_program_go_together)

static struct kunit_case sbi_cases[] = {
	SBI_EACH_CASE,
	KUNIT_CASE_PARAM(slow_fixed_counter_is_not_used_to_filter, move_gen_params),
	KUNIT_CASE(refused_fixed_counter_is_no_counter),
	KUNIT_CASE_PARAM(qemus_quirk_is_found_on_qemu_only, duplicate_gen_params),
	KUNIT_CASE(raw_event_is_tried_once),
	KUNIT_CASE(absent_raw_event_is_tried_once),
	KUNIT_CASE(busy_counters_stay_unknown),
	KUNIT_CASE(known_events_are_bounded),
	KUNIT_CASE(other_error_is_not_remembered),
	KUNIT_CASE(absent_event_is_not_tried_if_event_get_info_says_so),
	KUNIT_CASE(event_get_info_that_denies_cycles_is_ignored),
	KUNIT_CASE(firmware_counter_is_read_by_call),
	KUNIT_CASE_PARAM(counter_count_is_bounded, num_gen_params),
	KUNIT_CASE_PARAM(nonsense_counter_is_left_out, info_gen_params),
	KUNIT_CASE_PARAM(width_and_csr_of_a_firmware_counter_are_ignored, own_gen_params),
	KUNIT_CASE(no_counter_makes_sense),
	KUNIT_CASE_PARAM(probe_fails_without_counters, error_gen_params),
	KUNIT_CASE_PARAM(match_outside_the_mask_fails_the_event, match_gen_params),
	KUNIT_CASE(refused_read_is_zero),
	KUNIT_CASE_PARAM(best_way_is_taken, method_gen_params),
	{}
};

static struct kunit_case snapshot_cases[] = {
	SBI_EACH_CASE,
	KUNIT_CASE_PARAM(match_outside_the_mask_fails_the_event, match_gen_params),
	KUNIT_CASE_PARAM(refused_page_costs_calls_only, errno_gen_params),
	KUNIT_CASE(values_are_loaded_by_one_call),
	KUNIT_CASE(single_value_takes_no_page),
	KUNIT_CASE(page_lost_on_the_way_is_done_without),
	KUNIT_CASE(refused_counter_leaves_the_page_in_use),
	KUNIT_CASE(hidden_overflow_is_read_from_the_page),
	KUNIT_CASE(overflow_of_others_is_not_believed),
	KUNIT_CASE_PARAM(refused_snapshot_leaves_counters_running, errno_gen_params),
	{}
};

static struct kunit_case batch_cases[] = {
	SBI_EACH_CASE,
	KUNIT_CASE_PARAM(refused_page_costs_calls_only, errno_gen_params),
	KUNIT_CASE(batch_is_one_call),
	KUNIT_CASE(released_counter_has_no_event),
	KUNIT_CASE_PARAM(failure_of_others_is_not_believed, says_gen_params),
	KUNIT_CASE_PARAM(refused_batch_is_carried_out_call_by_call, errno_gen_params),
	KUNIT_CASE(failed_reload_returns_what_was_counted),
	KUNIT_CASE(page_lost_is_carried_out_call_by_call),
	KUNIT_CASE(resolved_nonsense_is_masked),
	KUNIT_CASE_PARAM(refused_resolve_is_survived, errno_gen_params),
	{}
};

static struct kunit_suite sbi_suite = {
	.name		= "riscv_pmu_sbi",
	.init		= fw_init,
	.suite_exit	= fake_restart_harts,
	.exit		= fw_exit,
	.test_cases	= sbi_cases,
};

static struct kunit_suite snapshot_suite = {
	.name		= "riscv_pmu_sbi_snapshot",
	.init		= fw_init_snapshot,
	.suite_exit	= fake_restart_harts,
	.exit		= fw_exit,
	.test_cases	= snapshot_cases,
};

static struct kunit_suite batch_suite = {
	.name		= "riscv_pmu_sbi_batch",
	.init		= fw_init_batch,
	.suite_exit	= fake_restart_harts,
	.exit		= fw_exit,
	.test_cases	= batch_cases,
};

kunit_test_suites(&sbi_suite, &snapshot_suite, &batch_suite);
