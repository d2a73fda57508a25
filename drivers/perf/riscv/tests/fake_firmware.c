// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the SBI backend with simulated firmware, which first follows the SBI and then returns
 * errors and invalid results. These may only cost counters or events, or take more calls. There
 * is a suite for each SBI method, as riscv_pmu.sbi=auto chooses it.
 *
 * The backend's per-CPU state is shared with the machine's own PMU, so its harts are initialised
 * again after each suite. Do not run these suites by debugfs while perf is in use.
 */

#include "fake_firmware.h"

static_assert(SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT == FW_FLAG_SNAPSHOT);

/* --- the firmware ------------------------------------------------------- */

static struct sbiret fw_error(long error)
{
	return (struct sbiret){ .error = error };
}

static struct sbiret fw_value(long value)
{
	return (struct sbiret){ .value = value };
}

u64 fake_fw_info_of(u16 csr, unsigned int width, bool own)
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

	return fw_value(fake_fw_info_of(CSR_CYCLE + ctr, FW_FIXED & C(ctr) ? 64 : 48,
					FW_OWN & C(ctr)));
}

/*
 * Counters of an event that the driver has mapped. Cycles and instructions have fixed ones; the raw
 * selector 0 is no event.
 */
static u64 fw_mapped_ctrs(const struct firmware *fw, u32 event_idx, u64 event_data)
{
	u64 ctrs = event_idx == 1 ? C(0) : event_idx == 2 ? C(2) : 0;

	for (unsigned int i = 0; i < fw->nr_mapped; i++) {
		const struct sbi_pmu_batch_slot *slot = &fw->mapped[i];

		if (slot->event_idx == event_idx &&
		    (event_idx != EVENT_RAW ||
		     (event_data && slot->value == (event_data & slot->event_data))))
			ctrs |= slot->flags;
	}

	return ctrs;
}

/* Counters that can hold an event: none for bus cycles and for firmware events but set-timer */
static u64 fw_event_ctrs(const struct firmware *fw, u32 event_idx, u64 event_data)
{
	/* The two versions of the raw type differ in the width of selectors only. */
	if (event_idx == EVENT_RAW_V2)
		event_idx = EVENT_RAW;
	if (fw->has_no_map && event_idx >> 16 != 0xf)
		return fw_mapped_ctrs(fw, event_idx, event_data);

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

static u64 fw_able(const struct firmware *fw, u32 event_idx, u64 event_data)
{
	return fw_event_ctrs(fw, event_idx, event_data) & ~fw->refuses;
}

static struct sbiret fw_match(struct firmware *fw, u64 ctrs, unsigned long flags, u32 event_idx,
			      u64 event_data)
{
	for (ctrs &= fw_able(fw, event_idx, event_data); ctrs; ctrs &= ctrs - 1) {
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
	if (!fw->keeps_flags && !(fw->keeps_pending_flags && fw->pending))
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

	info->output = !fw->reports_no_events &&
		       fw_able(fw, info->event_idx, info->event_data);
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
	if (!(fw_able(fw, slot->event_idx, slot->event_data) & C(ctr)))
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

static struct sbiret fw_resolve(struct firmware *fw, u32 event_idx, u64 event_data)
{
	if (!fw->shmem)
		return fw_error(SBI_ERR_NO_SHMEM);

	fw->shmem->ctrs = fw_able(fw, event_idx, event_data) | fw->extra_bits;
	return fw_error(fw->shmem->ctrs ? 0 : SBI_ERR_NOT_SUPPORTED);
}

static bool fw_map_one(struct firmware *fw, const struct sbi_pmu_batch_slot *slot)
{
	if (!slot->flags || slot->flags & ~FW_CONFIG || !slot->event_idx ||
	    fw->nr_mapped == ARRAY_SIZE(fw->mapped) ||
	    fw_event_ctrs(fw, slot->event_idx, slot->value) & FW_CONFIG)
		return false;

	fw->mapped[fw->nr_mapped++] = *slot;
	return true;
}

static struct sbiret fw_map_events(struct firmware *fw, u64 slots)
{
	u64 failed = 0;

	if (!fw->shmem)
		return fw_error(SBI_ERR_NO_SHMEM);
	for_each_ctr(i, slots)
		failed |= fw_map_one(fw, &fw->shmem->slot[i]) ? 0 : BIT_ULL(i);

	fw->shmem->failed = failed;
	return fw_error(failed ? SBI_ERR_FAILURE : 0);
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
		return fw_resolve(fw, a0, IS_ENABLED(CONFIG_64BIT) ? a1 : a1 | (u64)a2 << 32);
	case SBI_PMU_BATCH_MAP_EVENTS:
		return fw_map_events(fw, IS_ENABLED(CONFIG_64BIT) ? a0 : a0 | (u64)a1 << 32);
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
	    fw->period && !(fw->reads % fw->period)) {
		c->value += fw->step;
		if (c->value < fw->step) {
			fw->overflowed |= fw->irqs & C(ctr);
			fw->pending |= !!(fw->irqs & C(ctr));
		}
	}

	return c->value;
}

/* scountovf, for tests that do without the snapshot page. */
u64 fake_fw_read_ovf(unsigned int csr)
{
	struct firmware *fw = kunit_get_current_test()->priv;

	return fw->overflowed;
}

void fake_fw_ack_irq(unsigned int csr, unsigned int hwirq)
{
	struct firmware *fw = kunit_get_current_test()->priv;

	fw->pending = false;
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
int fake_fw_init(struct kunit *test)
{
	struct firmware *fw = kunit_kzalloc(test, sizeof(*fw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fw);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	fw->num = FW_NR;
	fw->raw_ctrs = FW_CONFIG;
	fw->period = 1;
	fw->step = 1;
	fw->readable = U32_MAX;
	fw->pmu.hwirq = RV_IRQ_PMU;
	fw->pmu.has_filters = true;
	fw->pmu.pending_csr = CSR_IP;
	fw->pmu.ovf_csr = CSR_SCOUNTOVF;
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

int fake_fw_init_snapshot(struct kunit *test)
{
	int err = fake_fw_init(test);
	struct firmware *fw = test->priv;

	if (err)
		return err;
	fw->has_snapshot = true;
	fw->method = "snapshot";
	return 0;
}

int fake_fw_init_batch(struct kunit *test)
{
	int err = fake_fw_init(test);
	struct firmware *fw = test->priv;

	if (err)
		return err;
	fw->has_batch = true;
	fw->method = "batch";
	return 0;
}

void fake_fw_exit(struct kunit *test)
{
	struct firmware *fw = test->priv;

	kfree(fw->pmu.priv);
}

int fake_fw_probe(struct firmware *fw)
{
	kfree(fw->pmu.priv);
	fw->pmu.priv = NULL;
	return riscv_pmu_sbi_ops.probe(&fw->pmu);
}

/* Probes, checks the SBI method, and resets the numbers of calls. */
void fake_fw_probe_as(struct kunit *test, const char *method)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_ASSERT_NOT_NULL_MSG(test, strstr(fw->pmu.firmware, method), "%s, not %s calls",
				  fw->pmu.firmware, method);
	memset(fw->calls, 0, sizeof(fw->calls));
	memset(fw->batch_calls, 0, sizeof(fw->batch_calls));
}

u64 fake_fw_event_ctrs(struct firmware *fw, u32 event_idx, u64 event_data)
{
	struct riscv_pmu_config cfg = { .event_idx = event_idx, .event_data = event_data };

	return riscv_pmu_sbi_ops.event_ctrs(&fw->pmu, &cfg);
}

u64 fake_fw_untried_ctrs(struct firmware *fw, u32 event_idx, u64 event_data)
{
	const struct riscv_pmu_config cfg = { .event_idx = event_idx, .event_data = event_data };

	return riscv_pmu_sbi_ops.untried_ctrs(&fw->pmu, &cfg);
}

int fake_fw_apply(struct firmware *fw)
{
	guard(irqsave)();
	return fw->pmu.ops.apply(&fw->pmu, &fw->batch);
}

/* A function, because sparse warns about this_cpu_read() in a KUnit expectation. */
u64 fake_fw_held_ctrs(void)
{
	return this_cpu_read(riscv_pmu_sbi_configs);
}

/* Makes a batch that programs and starts counters. */
void fake_fw_plan(struct firmware *fw, u64 ctrs, u32 event_idx)
{
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.program = ctrs;
	fw->batch.start = ctrs;
	for (; ctrs; ctrs &= ctrs - 1)
		fw->batch.setup[__ffs64(ctrs)].cfg.event_idx = event_idx;
}

u64 fake_fw_in_state(const struct firmware *fw, enum fw_state state)
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
void fake_fw_expect_all_released(struct kunit *test)
{
	struct firmware *fw = test->priv;
	u64 ctrs = fw->pmu.ctrs & ~fw->pmu.free_running_ctrs;

	/* Without it the probe has failed before it used a counter. */
	if (!fw->pmu.priv)
		return;

	memset(fw->error, 0, sizeof(fw->error));
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_stop(&fw->pmu);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_FREE) & ctrs, FW_CTRS & ctrs);
	KUNIT_EXPECT_NULL(test, fw->page);
	KUNIT_EXPECT_NULL(test, fw->shmem);
}

u64 fake_fw_value_of(unsigned int ctr)
{
	return 0x89abcdef01234567ULL + ctr;
}

/* Makes a batch that stops counters, and starts them from different values. */
void fake_fw_plan_load(struct firmware *fw, u64 ctrs)
{
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.stop = ctrs;
	fw->batch.start = ctrs;
	fw->batch.load = ctrs;
	for (; ctrs; ctrs &= ctrs - 1)
		fw->batch.setup[__ffs64(ctrs)].value = fake_fw_value_of(__ffs64(ctrs));
	memset(fw->calls, 0, sizeof(fw->calls));
	memset(fw->batch_calls, 0, sizeof(fw->batch_calls));
}

void fake_fw_expect_loaded(struct kunit *test, u64 ctrs)
{
	struct firmware *fw = test->priv;

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		KUNIT_EXPECT_EQ_MSG(test, fw->ctr[ctr].value, fake_fw_value_of(ctr), "counter %u",
				    ctr);
		KUNIT_EXPECT_EQ_MSG(test, fw->ctr[ctr].state, FW_RUNNING, "counter %u", ctr);
		fw->ctr[ctr].value = 0;
	}
}

/* Starts counters 3, 4 and 5, and one that is in the second word of a mask on RV32. */
void fake_fw_run_four(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_probe_as(test, fw->method);
	fake_fw_plan(fw, FW_CONFIG | C(40), EVENT_L1D_MISS);
	fw->batch.setup[40].cfg.event_idx = EVENT_FW_TIMER;
	KUNIT_ASSERT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_ASSERT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
}
