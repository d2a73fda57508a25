// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the SBI backend with simulated firmware, which first follows the SBI and then returns
 * errors and invalid results. These may only cost counters or events, or take more calls. There
 * is a suite for each SBI method, as riscv_pmu.sbi=auto chooses it.
 *
 * The backend's per-CPU state is shared with the machine's own PMU, so its harts are initialised
 * again after each suite. Do not run these suites by debugfs while perf is in use.
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
 * The simulated counters: cycle, no counter 1, instret, three programmable counters, and two
 * firmware counters. On RV32 the last one is in the second word of a mask.
 */
#define FW_FIXED	(C(0) | C(2))
#define FW_CONFIG		(C(3) | C(4) | C(5))
#define FW_OWN		(C(6) | C(40))
#define FW_CTRS		(FW_FIXED | FW_CONFIG | FW_OWN)
#define FW_NR		41

#define FW_NR_FIDS	SBI_CALL_NR_PMU_FIDS
#define FW_NR_BATCH	(SBI_PMU_BATCH_RESOLVE + 1)

/* The flag for the snapshot page, the same for START and STOP */
#define FW_FLAG_SNAPSHOT	SBI_PMU_START_FLAG_INIT_SNAPSHOT
/* Number of calls for a mask with counters 3 and 40 */
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
 * struct firmware - the simulated firmware, its errors and invalid results
 * @pmu:	the PMU that probe initialises
 * @batch:	the batch for apply
 * @ctr:	the counters
 * @calls:	number of calls, by function
 * @highest:	the highest counter of all COUNTER_GET_INFO calls
 * @num:	result of NUM_COUNTERS
 * @info:	results of COUNTER_GET_INFO for the counters in @override_info
 * @override_info: counters whose description is replaced by @info
 * @match:	result of COUNTER_CFG_MATCH if @override_match is set
 * @override_match: replace the result of COUNTER_CFG_MATCH by @match
 * @error:	error codes, by function
 * @error_ctrs:	START and STOP fail only for these counters
 * @method:	the SBI method that the backend has to choose
 * @has_snapshot: snapshots are supported
 * @has_batch:	the batch extension is supported
 * @page:	the snapshot page, or NULL
 * @shmem:	the page of the batch extension, or NULL
 * @reads:	number of reads of counter CSRs
 * @period:	a running counter advances once in this number of reads; 0: never
 * @filters:	counters that support filters
 * @duplicate_event: QEMU's bug: of several counters with an event only the first counts it
 * @readable:	counters whose CSRs can be read
 * @refuses:	counters that can not be configured
 * @touched:	counters that calls have changed
 * @raw_ctrs:	counters that can hold raw events
 * @has_info:	EVENT_GET_INFO is supported (SBI 3.0)
 * @reports_no_events: EVENT_GET_INFO reports each event as not supported
 * @overflowed:	counters that have overflowed and have not been started since
 * @batch_calls: number of calls of the batch extension, by function
 * @batch_error: error codes of the batch extension, by function
 * @refuses_page: error code of calls that set a page, but not of those that disable it
 * @extra_bits:	bits that are added to the masks of overflowed, failed and able counters
 */
struct firmware {
	struct riscv_pmu	pmu;
	struct riscv_pmu_batch	batch;
	struct fw_ctr		ctr[FW_NR];
	unsigned int		calls[FW_NR_FIDS];
	unsigned long		highest;
	long			num;
	u64			info[FW_NR];
	u64			override_info;
	long			match;
	bool			override_match;
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
	bool			duplicate_event;
	u64			readable;
	u64			refuses;
	u64			touched;
	u64			raw_ctrs;
	bool			has_info;
	bool			reports_no_events;
	u64			overflowed;
	unsigned int		batch_calls[FW_NR_BATCH];
	long			batch_error[FW_NR_BATCH];
	long			refuses_page;
	u64			extra_bits;
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
	if (ctr < FW_NR && fw->override_info & C(ctr))
		return fw_value(fw->info[ctr]);
	if (ctr >= FW_NR || !(FW_CTRS & C(ctr)))
		return fw_error(SBI_ERR_INVALID_PARAM);

	return fw_value(info_of(CSR_CYCLE + ctr, FW_FIXED & C(ctr) ? 64 : 48, FW_OWN & C(ctr)));
}

/* Counters that can hold an event: none for bus cycles and for firmware events but set-timer */
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
		return fw_value(fw->override_match ? fw->match : __ffs64(ctrs));
	}

	return fw->override_match ? fw_value(fw->match) : fw_error(SBI_ERR_NOT_SUPPORTED);
}

static long fw_start_one(struct firmware *fw, unsigned int ctr, unsigned long flags, u64 value)
{
	struct fw_ctr *c = &fw->ctr[ctr];

	/* A fixed counter can be started without having been configured. */
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

/* Writes the value and the overflow bit of a counter to the snapshot page. */
static void fw_save(struct firmware *fw, unsigned int ctr, unsigned int i)
{
	fw->page->ctr_values[i] = fw->ctr[ctr].value;
	if (fw->overflowed & C(ctr))
		fw->page->ctr_overflow_mask |= BIT_ULL(i);
}

/* Like OpenSBI: changes all counters that it can, and returns the last error. */
static struct sbiret fw_by_mask(struct firmware *fw, unsigned long fid, unsigned long base,
				unsigned long mask, unsigned long flags, u64 value)
{
	bool takes = fid == SBI_EXT_PMU_COUNTER_STOP && flags & FW_FLAG_SNAPSHOT;
	bool inits = fid == SBI_EXT_PMU_COUNTER_START && flags & FW_FLAG_SNAPSHOT;
	long error = 0, ret;

	if (flags & FW_FLAG_SNAPSHOT && !fw->page)
		return fw_error(SBI_ERR_NO_SHMEM);
	if (takes)
		fw->page->ctr_overflow_mask = fw->extra_bits;

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

/* Sets a page, whose address is valid in this kernel, or disables it (all ones). */
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

/* The driver passes one entry only. */
static struct sbiret fw_event_info(struct firmware *fw, unsigned long low, unsigned long high,
				   unsigned long entries, unsigned long flags)
{
	u64 addr = IS_ENABLED(CONFIG_32BIT) ? low | (u64)high << 32 : low;
	struct riscv_pmu_sbi_event_info *info = phys_to_virt(addr);

	if (!fw->has_info)
		return fw_error(SBI_ERR_NOT_SUPPORTED);
	if (flags || entries != 1 || low % sizeof(*info) || (IS_ENABLED(CONFIG_64BIT) && high))
		return fw_error(SBI_ERR_INVALID_PARAM);

	info->output = fw_able(fw, info->event_idx) && !fw->reports_no_events ? 1 : 0;
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

	fw->shmem->failed = failed | fw->extra_bits;
	return fw_error(failed | fw->extra_bits ? SBI_ERR_FAILURE : 0);
}

static struct sbiret fw_resolve(struct firmware *fw, u32 event_idx)
{
	if (!fw->shmem)
		return fw_error(SBI_ERR_NO_SHMEM);

	fw->shmem->ctrs = fw_able(fw, event_idx) | fw->extra_bits;
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

/* With the duplicate event: whether another counter before this one counts the same event. */
static bool fw_is_second(const struct firmware *fw, unsigned int ctr)
{
	for (unsigned int i = 3; i < ctr; i++) {
		const struct fw_ctr *c = &fw->ctr[i];

		if (c->state == FW_RUNNING && c->event_idx == fw->ctr[ctr].event_idx)
			return fw->duplicate_event;
	}

	return false;
}

/*
 * Reads a CSR. A counter with any filter does not count: the tests that read CSRs run in S-mode,
 * and set all filters or none.
 */
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

/* The thread is bound to one CPU, because the backend's state is per CPU. */
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

/* Probes, checks the SBI method, and resets the numbers of calls. */
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

/* A function, because sparse warns about this_cpu_read() in a KUnit expectation. */
static u64 held_ctrs(void)
{
	return this_cpu_read(riscv_pmu_sbi_configs);
}

/* Makes a batch that programs and starts counters. */
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
 * The end of each test: when the hart stops, all counters have to be released, except for the
 * free-running ones.
 */
static void expect_all_released(struct kunit *test)
{
	struct firmware *fw = test->priv;
	u64 ctrs = fw->pmu.ctrs & ~fw->pmu.free_running_ctrs;

	/* Without it the probe has failed before it used a counter. */
	if (!fw->pmu.priv)
		return;

	memset(fw->error, 0, sizeof(fw->error));
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_stop(&fw->pmu);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_FREE) & ctrs, FW_CTRS & ctrs);
	KUNIT_EXPECT_NULL(test, fw->page);
	KUNIT_EXPECT_NULL(test, fw->shmem);
}

/* --- firmware that follows the SBI -------------------------------------- */

static void probe_finds_all_counters(struct kunit *test)
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
	KUNIT_EXPECT_EQ_MSG(test, in_state(fw, FW_FREE), FW_CTRS, "probe leaves configs behind");
	expect_all_released(test);
}

/* As on T-Head C9xx and Andes, but not a fixed counter that can not be configured. */
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
	expect_all_released(test);
}

static void probe_finds_all_events(struct kunit *test)
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
	KUNIT_EXPECT_EQ_MSG(test, in_state(fw, FW_FREE), FW_CTRS, "a test leaves configs behind");
	expect_all_released(test);
}

static void batch_is_applied(struct kunit *test)
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

	/* One call stops all counters of a mask and one starts them, or one call does both. */
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
	expect_all_released(test);
}

/* Events are not tested on counters that are in use. */
static void counters_in_use_are_not_tested(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7) & C(5), C(5));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_idx, EVENT_L1D_MISS);

	/* If all counters are in use, the event may be on any of them. */
	plan(fw, C(5), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	expect_all_released(test);
}

/*
 * Counters that are in use while an event is tested must stay candidates, because they may be
 * free later.
 */
static void counters_in_use_are_not_excluded(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	expect_all_released(test);
}

static void expect_calls(struct kunit *test, unsigned int matches, unsigned int stops)
{
	struct firmware *fw = test->priv;

	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_CFG_MATCH], matches);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_STOP], stops);
	memset(fw->calls, 0, sizeof(fw->calls));
	KUNIT_EXPECT_EQ_MSG(test, in_state(fw, FW_FREE), FW_CTRS, "a test leaves configs behind");
}

/* It takes one test for each counter that can hold the event, and one for all that can not. */
static void raw_event_is_tested_once(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->raw_ctrs = C(4) | C(5);
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, untried_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), C(4) | C(5));
	expect_calls(test, 3, 2);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), C(4) | C(5));
	KUNIT_EXPECT_EQ(test, untried_ctrs(fw, EVENT_RAW, 7), 0);
	expect_calls(test, 0, 0);
	/* Another selector is another event. */
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 8), C(4) | C(5));
	expect_calls(test, 3, 2);
	expect_all_released(test);
}

static void absent_raw_event_is_tested_once(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->raw_ctrs = 0;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), 0);
	expect_calls(test, 1, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), 0);
	KUNIT_EXPECT_EQ(test, untried_ctrs(fw, EVENT_RAW, 7), 0);
	expect_calls(test, 0, 0);
	expect_all_released(test);
}

/* Counters that hold a config stay untested until they are free. */
static void counters_in_use_stay_untested(struct kunit *test)
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
	expect_calls(test, 2, 1);
	expect_all_released(test);
}

/* Users choose the selectors, so the cache is bounded: the oldest entries are replaced. */
static void cached_events_are_bounded(struct kunit *test)
{
	struct firmware *fw = test->priv;

	probe_as(test, fw->method);
	for (u64 selector = 1; selector <= 64; selector++)
		KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, selector), FW_CONFIG);
	expect_calls(test, 3 * 64, 3 * 64);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 1), FW_CONFIG);
	expect_calls(test, 0, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 65), FW_CONFIG);
	expect_calls(test, 3, 3);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 1), FW_CONFIG);
	expect_calls(test, 3, 3);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 65), FW_CONFIG);
	expect_calls(test, 0, 0);
	expect_all_released(test);
}

/* Only SBI_ERR_NOT_SUPPORTED means that no counter can hold an event. */
static void other_errors_are_not_cached(struct kunit *test)
{
	struct firmware *fw = test->priv;

	probe_as(test, fw->method);
	fw->error[SBI_EXT_PMU_COUNTER_CFG_MATCH] = SBI_ERR_FAILURE;
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), 0);
	fw->error[SBI_EXT_PMU_COUNTER_CFG_MATCH] = 0;
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	expect_all_released(test);
}

/* EVENT_GET_INFO reports whether an event exists, but not on which counters. */
static void event_get_info_avoids_tests_of_absent_events(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->has_info = true;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 1);
	expect_calls(test, 3, 3);

	fw->raw_ctrs = 0;
	plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	memset(fw->calls, 0, sizeof(fw->calls));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 8), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 8), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 1);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_CFG_MATCH], 0);

	/* If the call fails later, events are tested as without it. */
	fw->has_info = false;
	fw->raw_ctrs = FW_CONFIG;
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 9), FW_CONFIG);
	expect_all_released(test);
}

/* Firmware that reports cycles as not supported does not know the events. */
static void event_get_info_is_ignored_if_it_does_not_report_cycles(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->has_info = true;
	fw->reports_no_events = true;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 0);
	expect_all_released(test);
}

static void firmware_counter_is_read_by_call(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	fw->ctr[6].value = 0x123456789abcdef0ULL;
	KUNIT_EXPECT_EQ(test, riscv_pmu_sbi_ops.read_ctr(&fw->pmu, 6), 0x123456789abcdef0ULL);
	expect_all_released(test);
}

struct move_row {
	const char	*name;
	unsigned int	period;
	unsigned int	reads;
	u64		filters;
	u64		able;
};

/* A fixed counter can filter if it always advances without filters, and never with them. */
static const struct move_row move_rows[] = {
	{ "both filter", 1, 0, FW_FIXED, FW_FIXED },
	{ "cycle filters", 1, 0, C(0), C(0) },
	{ "neither filters", 1, 0, 0, 0 },
	{ "neither advances", 0, 0, 0, 0 },
	{ "slow", 3, 0, 0, 0 },
	{ "slow, just before it advances", 3, 1, 0, 0 },
	{ "slow, just after it has advanced", 3, 2, 0, 0 },
	{ "very slow", 7, 5, 0, 0 },
	{ "very slow, later", 7, 6, 0, 0 },
	{ "very slow, filters", 7, 5, FW_FIXED, 0 },
};

KUNIT_ARRAY_PARAM_DESC(move, move_rows, name);

static void slow_fixed_counter_is_not_used_with_filters(struct kunit *test)
{
	const struct move_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->period = row->period;
	fw->reads = row->reads;
	fw->filters = row->filters;
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[0].inh, row->able & C(0) ? GENMASK(4, 0) : 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[2].inh, row->able & C(2) ? GENMASK(4, 0) : 0);
	expect_all_released(test);
}

/*
 * apply must not pass free-running counters to the firmware, and must restore the batch's masks:
 * the caller takes these counters for stopped or started.
 */
static void expect_apply_skips_free_running_ctrs(struct kunit *test)
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

/* With Sscofpmf, OpenSBI 1.9 refuses to configure cycle, which counts nevertheless. */
static void unconfigurable_fixed_counter_is_used_read_only(struct kunit *test)
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
	expect_apply_skips_free_running_ctrs(test);

	/* On a hart that goes online, the counter may be stopped. */
	fw->ctr[0].state = FW_STOPPED;
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_start(&fw->pmu);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), C(0));
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_stop(&fw->pmu);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_FREE), FW_CTRS & ~C(0));
}

/* A fixed counter that can not be configured is not used if it is unreadable or stopped. */
static void unreadable_or_stopped_fixed_counter_is_not_used(struct kunit *test)
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
	expect_all_released(test);
}

struct duplicate_row {
	const char	*name;
	bool		is_qemu;
	bool		duplicate_event;
	unsigned int	period;
	unsigned int	reads;
	u64		cycles;
};

/* With QEMU's bug, cycles are restricted to one programmable counter. */
static const struct duplicate_row duplicate_rows[] = {
	{ "QEMU with the bug", true, true, 1, 0, C(0) | C(3) },
	{ "QEMU without the bug", true, false, 1, 0, C(0) | FW_CONFIG },
	{ "QEMU without the bug, slow", true, false, 3, 1, C(0) | FW_CONFIG },
	{ "QEMU without the bug, slow, later", true, false, 3, 2, C(0) | FW_CONFIG },
	{ "a board that seems to have the bug", false, true, 1, 0, C(0) | FW_CONFIG },
	{ "a board, slow", false, false, 3, 1, C(0) | FW_CONFIG },
};

KUNIT_ARRAY_PARAM_DESC(duplicate, duplicate_rows, name);

static void duplicate_event_quirk_is_found_on_qemu_only(struct kunit *test)
{
	const struct duplicate_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->pmu.is_qemu = row->is_qemu;
	fw->duplicate_event = row->duplicate_event;
	fw->period = row->period;
	fw->reads = row->reads;
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, 0x00001, 0), row->cycles);
	expect_all_released(test);
}

/* --- errors and invalid results ----------------------------------------- */

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
	{ "fewer than there are", 4, 0, C(0) | C(2) | C(3) },
};

KUNIT_ARRAY_PARAM_DESC(num, num_rows, name);

static void number_of_counters_is_bounded(struct kunit *test)
{
	const struct num_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->num = row->num;
	KUNIT_EXPECT_EQ(test, probe(fw), row->err);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, row->ctrs);
	KUNIT_EXPECT_LT(test, fw->highest, RISCV_MAX_COUNTERS);
	expect_all_released(test);
}

struct info_row {
	const char	*name;
	u16		csr;
	unsigned int	width;
};

/* Descriptions of counter 4 */
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

static void counter_with_an_invalid_description_is_not_used(struct kunit *test)
{
	const struct info_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->override_info = C(4);
	fw->info[4] = info_of(row->csr, row->width, false);
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS & ~C(4));
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, FW_CONFIG & ~C(4));
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG & ~C(4));
	expect_all_released(test);
}

/* Descriptions of counter 6, a firmware counter; before SBI 2.0, RV32 can read 32 bits only. */
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

	fw->override_info = C(6);
	fw->info[6] = info_of(row->csr, row->width, true);
	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS);
	KUNIT_EXPECT_EQ(test, fw->pmu.fw_ctrs, FW_OWN);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].width, width);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].csr, 0);
	expect_all_released(test);
}

static void probe_fails_if_all_descriptions_are_invalid(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->override_info = FW_CTRS;
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
	{ "NUM_COUNTERS: undefined error", SBI_EXT_PMU_NUM_COUNTERS, -1000 },
	{ "NUM_COUNTERS: positive", SBI_EXT_PMU_NUM_COUNTERS, 1 },
	{ "GET_INFO: failed", SBI_EXT_PMU_COUNTER_GET_INFO, SBI_ERR_FAILURE },
	{ "GET_INFO: undefined error", SBI_EXT_PMU_COUNTER_GET_INFO, -1000 },
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

/* Results of COUNTER_CFG_MATCH for a mask that has only counter 3 */
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
	fw->override_match = true;
	fw->match = row->match;
	plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), -EIO);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(3));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].state, FW_FREE);
	expect_all_released(test);
}

static void probe_tolerates_a_match_outside_the_mask(struct kunit *test)
{
	const struct match_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->override_match = true;
	fw->match = row->match;
	KUNIT_EXPECT_EQ(test, probe(fw), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_FW_TIMER, 0) & ~FW_OWN, 0);
	expect_all_released(test);
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
	expect_all_released(test);
}

struct start_row {
	const char	*name;
	long		error;
	bool		load;
};

static const struct start_row start_rows[] = {
	{ "by mask: failed", SBI_ERR_FAILURE, false },
	{ "by mask: invalid", SBI_ERR_INVALID_PARAM, false },
	{ "by mask: undefined error", -1000, false },
	{ "by mask: no page", SBI_ERR_NO_SHMEM, false },
	{ "with a value: failed", SBI_ERR_FAILURE, true },
	{ "with a value: not supported", SBI_ERR_NOT_SUPPORTED, true },
	{ "with a value: undefined error", -1000, true },
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
	KUNIT_EXPECT_EQ(test, held_ctrs(), C(3) | C(5));
	expect_all_released(test);
}

/* START returns this error if a counter of the mask is running; the others are started. */
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
	expect_all_released(test);
}

/* A counter that can not be stopped does not fail, and keeps running. */
static void refused_stop_is_tolerated(struct kunit *test)
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
	expect_all_released(test);
}

static void refused_read_returns_zero(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, probe(fw), 0);
	fw->ctr[6].value = 1234;
	fw->error[SBI_EXT_PMU_COUNTER_FW_READ] = SBI_ERR_INVALID_PARAM;
	KUNIT_EXPECT_EQ(test, riscv_pmu_sbi_ops.read_ctr(&fw->pmu, 6), 0);
	expect_all_released(test);
}

/* --- start values ------------------------------------------------------- */

static u64 value_of(unsigned int ctr)
{
	return 0x89abcdef01234567ULL + ctr;
}

/* Makes a batch that stops counters, and starts them from different values. */
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

/* Starts counters 3, 4 and 5, and one that is in the second word of a mask on RV32. */
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
	expect_all_released(test);
}

/* Counters that are not loaded start from their present value. */
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
	expect_all_released(test);
}

/* One batch can release and program the same counter: it then holds the new config. */
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
	KUNIT_EXPECT_EQ(test, held_ctrs(), C(3) | C(4) | C(40));
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], fw->has_batch ? 1 : 0);
	expect_loaded(test, C(3) | C(4));
	expect_all_released(test);
}

/* --- choice of the SBI method ------------------------------------------- */

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

static void best_method_is_chosen(struct kunit *test)
{
	const struct method_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->has_snapshot = row->has_snapshot;
	fw->has_batch = row->has_batch;
	probe_as(test, row->method);
	KUNIT_EXPECT_EQ(test, fw->pmu.one_call, row->has_batch);
	KUNIT_EXPECT_EQ(test, !!fw->page, !strcmp(row->method, "snapshot"));
	KUNIT_EXPECT_EQ(test, !!fw->shmem, row->has_batch);
	expect_all_released(test);
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
	{ "undefined error", -1000 },
	{ "positive", 1 },
	{ "LONG_MIN", LONG_MIN },
};

KUNIT_ARRAY_PARAM_DESC(errno, errno_rows, name);

/* The firmware supports the method, but refuses the page. */
static void plain_calls_are_used_if_the_page_is_refused(struct kunit *test)
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
	expect_all_released(test);
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
	expect_all_released(test);
}

/* A plain call does this by one call too. */
static void single_value_is_loaded_without_the_page(struct kunit *test)
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
	expect_all_released(test);
}

/* If the firmware has lost its page, the page is not used again after the first error. */
static void values_are_loaded_by_plain_calls_after_the_page_was_lost(struct kunit *test)
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
	expect_all_released(test);
}

/* If one counter can not be started, the page is used again by the next batch. */
static void page_is_used_after_a_counter_failed(struct kunit *test)
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
	expect_all_released(test);
}

static u64 overflowed(struct firmware *fw, u64 ctrs)
{
	guard(irqsave)();
	return fw->pmu.ops.overflowed(&fw->pmu, ctrs);
}

/* As in a KVM guest, scountovf reads as 0, because fw_init() leaves ovf_csr 0. */
static void overflow_is_read_from_the_page_without_the_csr(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->ctr[5].value = 55;
	fw->overflowed = C(4) | C(40);
	KUNIT_EXPECT_EQ(test, overflowed(fw, FW_CONFIG | C(40)), C(4) | C(40));
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fw->ctr[5].value, 55);
	KUNIT_EXPECT_EQ_MSG(test, overflowed(fw, FW_CONFIG | C(40)), 0, "overflow reported twice");
	expect_all_released(test);
}

static void overflow_bits_of_other_counters_are_ignored(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->extra_bits = ~0ULL;
	KUNIT_EXPECT_EQ(test, overflowed(fw, C(3) | C(4)), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, overflowed(fw, C(40)), C(40));
	KUNIT_EXPECT_EQ(test, overflowed(fw, 0), 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	expect_all_released(test);
}

/* Counters that the snapshot has stopped have to be started again. */
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

	/* The overflow bits of the last snapshot are not reported again. */
	fw->error_ctrs = FW_CONFIG;
	fw->page = NULL;
	KUNIT_EXPECT_EQ(test, overflowed(fw, FW_CONFIG), 0);
	KUNIT_EXPECT_EQ(test, in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	expect_all_released(test);
}

/* --- the batch extension ------------------------------------------------ */

static unsigned int std_calls(const struct firmware *fw)
{
	unsigned int calls = 0;

	for (unsigned int fid = 0; fid < FW_NR_FIDS; fid++)
		calls += fw->calls[fid];

	return calls;
}

static void batch_takes_one_call(struct kunit *test)
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
	expect_all_released(test);
}

/* The slot of a counter that is only released must not contain its last event. */
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
	KUNIT_EXPECT_EQ(test, held_ctrs(), C(3) | C(5));
	expect_all_released(test);
}

struct extra_row {
	const char	*name;
	u64		extra_bits;
	u64		failed;
};

/* Bits of the failed mask after a batch that programs and starts counters 3 and 4 */
static const struct extra_row extra_rows[] = {
	{ "one of them", C(3), C(3) },
	{ "another one", C(5), 0 },
	{ "one that does not exist", C(63), 0 },
	{ "both and another one", FW_CONFIG, C(3) | C(4) },
	{ "all there are", ~0ULL, C(3) | C(4) },
};

KUNIT_ARRAY_PARAM_DESC(extra_bits, extra_rows, name);

static void failed_bits_of_other_counters_are_ignored(struct kunit *test)
{
	const struct extra_row *row = test->param_value;
	struct firmware *fw = test->priv;

	probe_as(test, fw->method);
	fw->extra_bits = row->extra_bits;
	plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, apply(fw), row->failed ? -EIO : 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, row->failed);
	KUNIT_EXPECT_EQ(test, held_ctrs(), (C(3) | C(4)) & ~row->failed);
	fw->extra_bits = 0;
	expect_all_released(test);
}

static void refused_batch_is_applied_by_plain_calls(struct kunit *test)
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
	expect_all_released(test);
}

/* The counter already has its new value when the call fails. */
static void failed_reload_returns_the_count(struct kunit *test)
{
	struct firmware *fw = test->priv;
	u64 was = 0;
	int err = 0;

	run_four(test);
	fw->period = 0;
	fw->ctr[3].value = 77;
	fw->extra_bits = C(5);
	scoped_guard(irqsave)
		err = riscv_pmu_sbi_batch_method.reload(&fw->pmu, 3, 1000, &was);
	KUNIT_EXPECT_EQ(test, err, 0);
	fw->extra_bits = 0;
	KUNIT_EXPECT_EQ(test, was, 77);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].value, 1000);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].state, FW_RUNNING);
	expect_all_released(test);
}

static void batch_is_applied_by_plain_calls_after_the_page_was_lost(struct kunit *test)
{
	struct firmware *fw = test->priv;

	run_four(test);
	fw->shmem = NULL;
	plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, apply(fw), 0);
	expect_loaded(test, FW_CONFIG | C(40));
	expect_all_released(test);
}

static void invalid_counters_of_resolve_are_masked(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->extra_bits = ~0ULL;
	probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_RAW, 7) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_L1D_MISS, 0) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_BUS, 0) & ~(FW_FIXED | FW_CONFIG), 0);
	KUNIT_EXPECT_EQ(test, event_ctrs(fw, EVENT_FW_TIMER, 0) & ~FW_OWN, 0);
	fw->extra_bits = 0;
	expect_all_released(test);
}

/*
 * If RESOLVE fails at the probe or later, events are tested; but SBI_ERR_NOT_SUPPORTED at a later
 * call means that no counter can count the event.
 */
static void events_are_tested_if_resolve_fails(struct kunit *test)
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
	expect_all_released(test);
}

/* Tests for every SBI method */
#define SBI_EACH_CASE									\
	KUNIT_CASE(probe_finds_all_counters),						\
	KUNIT_CASE(probe_finds_all_events),						\
	KUNIT_CASE(fixed_counters_of_some_vendors_interrupt),				\
	KUNIT_CASE(batch_is_applied),							\
	KUNIT_CASE(unconfigurable_fixed_counter_is_used_read_only),			\
	KUNIT_CASE(counters_in_use_are_not_tested),					\
	KUNIT_CASE(counters_in_use_are_not_excluded),					\
	KUNIT_CASE(refused_config_fails_only_its_counter),				\
	KUNIT_CASE_PARAM(refused_start_fails_only_its_counter, start_gen_params),	\
	KUNIT_CASE(already_started_is_no_error),					\
	KUNIT_CASE(refused_stop_is_tolerated),						\
	KUNIT_CASE_PARAM(probe_tolerates_a_match_outside_the_mask, match_gen_params),	\
	KUNIT_CASE(values_are_loaded_into_their_counters),				\
	KUNIT_CASE(only_loaded_counters_get_a_value),					\
	KUNIT_CASE(release_and_program_go_together)

static struct kunit_case sbi_cases[] = {
	SBI_EACH_CASE,
	KUNIT_CASE_PARAM(slow_fixed_counter_is_not_used_with_filters, move_gen_params),
	KUNIT_CASE(unreadable_or_stopped_fixed_counter_is_not_used),
	KUNIT_CASE_PARAM(duplicate_event_quirk_is_found_on_qemu_only, duplicate_gen_params),
	KUNIT_CASE(raw_event_is_tested_once),
	KUNIT_CASE(absent_raw_event_is_tested_once),
	KUNIT_CASE(counters_in_use_stay_untested),
	KUNIT_CASE(cached_events_are_bounded),
	KUNIT_CASE(other_errors_are_not_cached),
	KUNIT_CASE(event_get_info_avoids_tests_of_absent_events),
	KUNIT_CASE(event_get_info_is_ignored_if_it_does_not_report_cycles),
	KUNIT_CASE(firmware_counter_is_read_by_call),
	KUNIT_CASE_PARAM(number_of_counters_is_bounded, num_gen_params),
	KUNIT_CASE_PARAM(counter_with_an_invalid_description_is_not_used, info_gen_params),
	KUNIT_CASE_PARAM(width_and_csr_of_a_firmware_counter_are_ignored, own_gen_params),
	KUNIT_CASE(probe_fails_if_all_descriptions_are_invalid),
	KUNIT_CASE_PARAM(probe_fails_without_counters, error_gen_params),
	KUNIT_CASE_PARAM(match_outside_the_mask_fails_the_event, match_gen_params),
	KUNIT_CASE(refused_read_returns_zero),
	KUNIT_CASE_PARAM(best_method_is_chosen, method_gen_params),
	{}
};

static struct kunit_case snapshot_cases[] = {
	SBI_EACH_CASE,
	KUNIT_CASE_PARAM(match_outside_the_mask_fails_the_event, match_gen_params),
	KUNIT_CASE_PARAM(plain_calls_are_used_if_the_page_is_refused, errno_gen_params),
	KUNIT_CASE(values_are_loaded_by_one_call),
	KUNIT_CASE(single_value_is_loaded_without_the_page),
	KUNIT_CASE(values_are_loaded_by_plain_calls_after_the_page_was_lost),
	KUNIT_CASE(page_is_used_after_a_counter_failed),
	KUNIT_CASE(overflow_is_read_from_the_page_without_the_csr),
	KUNIT_CASE(overflow_bits_of_other_counters_are_ignored),
	KUNIT_CASE_PARAM(refused_snapshot_leaves_counters_running, errno_gen_params),
	{}
};

static struct kunit_case batch_cases[] = {
	SBI_EACH_CASE,
	KUNIT_CASE_PARAM(plain_calls_are_used_if_the_page_is_refused, errno_gen_params),
	KUNIT_CASE(batch_takes_one_call),
	KUNIT_CASE(released_counter_has_no_event),
	KUNIT_CASE_PARAM(failed_bits_of_other_counters_are_ignored, extra_bits_gen_params),
	KUNIT_CASE_PARAM(refused_batch_is_applied_by_plain_calls, errno_gen_params),
	KUNIT_CASE(failed_reload_returns_the_count),
	KUNIT_CASE(batch_is_applied_by_plain_calls_after_the_page_was_lost),
	KUNIT_CASE(invalid_counters_of_resolve_are_masked),
	KUNIT_CASE_PARAM(events_are_tested_if_resolve_fails, errno_gen_params),
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
