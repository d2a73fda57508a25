// SPDX-License-Identifier: GPL-2.0
/* Tests that every SBI method has to pass: plain calls, snapshots, and the batch extension. */

#include "fake_firmware.h"

static void probe_finds_all_counters(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_USED);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.fw_ctrs, FW_USED_OWN);
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[0].width, 64);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].width, 48);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].csr, CSR_CYCLE + 3);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[3].inh, GENMASK(4, 0));
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].inh, 0);
	KUNIT_EXPECT_EQ_MSG(test, fake_fw_in_state(fw, FW_FREE), FW_CTRS,
			    "probe leaves configs behind");
	fake_fw_expect_all_released(test);
}

struct fixed_irq_row {
	const char	*name;
	u64		irqs;
	bool		keeps_flags;
	u64		refuses;
	u64		irq_ctrs;
	bool		keeps_pending_flags;
};

/* Firmware has to enable the interrupts of fixed counters, and to clear their flags. */
static const struct fixed_irq_row fixed_irq_rows[] = {
	{ "both interrupt", FW_FIXED, false, 0, FW_CONFIG | FW_FIXED },
	{ "both, with OpenSBI 1.6", FW_FIXED, false, 0, FW_CONFIG | FW_FIXED, true },
	{ "one interrupts", C(0), false, 0, FW_CONFIG | C(0) },
	{ "none interrupts", 0, false, 0, FW_CONFIG },
	{ "firmware does not clear the flags", FW_FIXED, true, 0, FW_CONFIG },
	{ "one cannot be configured", FW_FIXED, false, C(2), FW_CONFIG | C(0) },
};

KUNIT_ARRAY_PARAM_DESC(fixed_irq, fixed_irq_rows, name);

static void fixed_counters_of_some_vendors_interrupt(struct kunit *test)
{
	const struct fixed_irq_row *row = test->param_value;
	struct firmware *fw = test->priv;

	kunit_activate_static_stub(test, riscv_pmu_csr_read_ovf, fake_fw_read_ovf);
	kunit_activate_static_stub(test, riscv_pmu_csr_ack_irq, fake_fw_ack_irq);
	fw->pmu.fixed_irqs = true;
	fw->step = 2000;
	fw->irqs = row->irqs;
	fw->keeps_flags = row->keeps_flags;
	fw->keeps_pending_flags = row->keeps_pending_flags;
	fw->refuses = row->refuses;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, row->irq_ctrs);

	fake_fw_plan(fw, C(0), 0x00001);
	fw->batch.load = C(0);
	fw->batch.setup[0].value = -1000ULL;
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[0].value, -1000ULL);
	fake_fw_expect_all_released(test);
}

struct own_csr_row {
	const char	*name;
	bool		fixed_irqs;
	u64		irqs;
	u64		irq_ctrs;
};

static const struct own_csr_row own_csr_rows[] = {
	{ "one fixed counter interrupts", true, C(2), FW_CONFIG | C(2) },
	{ "no fixed counter interrupts", true, 0, 0 },
	{ "fixed counters cannot interrupt", false, 0, FW_CONFIG },
};

KUNIT_ARRAY_PARAM_DESC(own_csr, own_csr_rows, name);

/* Firmware enables the interrupt of all counters or of none, and fixed counters tell which. */
static void without_the_vendors_interrupt_all_counters_are_polled(struct kunit *test)
{
	const struct own_csr_row *row = test->param_value;
	struct firmware *fw = test->priv;

	kunit_activate_static_stub(test, riscv_pmu_csr_read_ovf, fake_fw_read_ovf);
	kunit_activate_static_stub(test, riscv_pmu_csr_ack_irq, fake_fw_ack_irq);
	fw->pmu.ovf_csr = PMU_CSR_THEAD_SCOUNTEROF;
	fw->pmu.fixed_irqs = row->fixed_irqs;
	fw->step = 2000;
	fw->irqs = row->irqs;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, row->irq_ctrs);
	KUNIT_EXPECT_EQ(test, !fw->pmu.no_irq_why, !!row->irq_ctrs);
	fake_fw_expect_all_released(test);
}

static void probe_finds_all_events(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0x00001, 0), FW_CONFIG | C(0));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0x00002, 0), FW_CONFIG | C(2));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_BUS, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0x0000b, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0x10038, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_FW_TIMER, 0), FW_USED_OWN);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0xf0006, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0xf0100, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 0x1234), FW_CONFIG);
	KUNIT_EXPECT_EQ_MSG(test, fake_fw_in_state(fw, FW_FREE), FW_CTRS,
			    "a test leaves configs behind");
	fake_fw_expect_all_released(test);
}

static void batch_is_applied(struct kunit *test)
{
	struct firmware *fw = test->priv;
	unsigned int each;

	fake_fw_probe_as(test, fw->method);
	fake_fw_plan(fw, C(3) | C(4), EVENT_RAW);
	fw->batch.setup[3].cfg.event_data = 0x1234;
	fw->batch.setup[3].cfg.inh = RISCV_PMU_INH_U | RISCV_PMU_INH_VS;
	fw->batch.load = C(4);
	fw->batch.setup[4].value = 0x89abcdef01234567ULL;
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(3) | C(4));
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
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_STOP], each);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], each);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(3) | C(4));

	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.release = C(3);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(4));
	KUNIT_EXPECT_EQ(test, fw->ctr[3].state, FW_FREE);
	fake_fw_expect_all_released(test);
}

/* Events are not tested on counters that are in use. */
static void counters_in_use_are_not_tested(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fake_fw_plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7) & C(5), C(5));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_idx, EVENT_L1D_MISS);

	/* If all counters are in use, the event may be on any of them. */
	fake_fw_plan(fw, C(5), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	fake_fw_expect_all_released(test);
}

/*
 * Counters that are in use while an event is tested must stay candidates, because they may be
 * free later.
 */
static void counters_in_use_are_not_excluded(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fake_fw_plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	fake_fw_expect_all_released(test);
}

/*
 * apply must not pass free-running counters to the firmware, and must restore the batch's masks:
 * the caller takes these counters for stopped or started.
 */
static void expect_apply_skips_free_running_ctrs(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_plan(fw, C(0) | C(3), 0x00001);
	fw->batch.load = C(0) | C(3);
	fw->touched = 0;
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.program, C(0) | C(3));
	KUNIT_EXPECT_EQ(test, fw->batch.start, C(0) | C(3));
	KUNIT_EXPECT_EQ(test, fw->batch.load, C(0) | C(3));
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, fw->touched, C(3));

	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.stop = C(0);
	fw->batch.release = C(0) | C(3);
	fw->touched = 0;
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.stop, C(0));
	KUNIT_EXPECT_EQ(test, fw->batch.release, C(0) | C(3));
	KUNIT_EXPECT_EQ(test, fw->touched, C(3));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(0));
}

/* With Sscofpmf, OpenSBI 1.9 refuses to configure cycle, which counts nevertheless. */
static void unconfigurable_fixed_counter_is_used_read_only(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->refuses = C(0);
	fw->filters = FW_FIXED;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_USED);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.free_running_ctrs, C(0));
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[0].inh, 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[2].inh, GENMASK(4, 0));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0x00001, 0), FW_CONFIG | C(0));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(0));
	expect_apply_skips_free_running_ctrs(test);

	/* On a hart that goes online, the counter may be stopped. */
	fw->ctr[0].state = FW_STOPPED;
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_start(&fw->pmu);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(0));
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_stop(&fw->pmu);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_FREE), FW_CTRS & ~C(0));
}

/* If the other counters are delegated, the interrupt is theirs, and stays pending. */
static void a_start_of_firmware_counters_keeps_the_interrupt_pending(struct kunit *test)
{
	struct firmware *fw = test->priv;

	kunit_activate_static_stub(test, riscv_pmu_csr_ack_irq, fake_fw_ack_irq);
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fw->pmu.hwirq = 13;
	fw->pending = true;
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_start(&fw->pmu);
	KUNIT_EXPECT_FALSE(test, fw->pending);

	fw->pmu.ctrs &= fw->pmu.fw_ctrs;
	fw->pending = true;
	scoped_guard(irqsave)
		riscv_pmu_sbi_ops.hart_start(&fw->pmu);
	KUNIT_EXPECT_TRUE(test, fw->pending);
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

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fw->override_match = true;
	fw->match = row->match;
	fake_fw_plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), -EIO);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(3));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].state, FW_FREE);
	fake_fw_expect_all_released(test);
}

static void probe_tolerates_a_match_outside_the_mask(struct kunit *test)
{
	const struct match_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->override_match = true;
	fw->match = row->match;
	KUNIT_EXPECT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_FW_TIMER, 0) & ~FW_USED_OWN, 0);
	fake_fw_expect_all_released(test);
}

static void refused_config_fails_only_its_counter(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fake_fw_plan(fw, C(3) | C(4) | C(5), EVENT_L1D_MISS);
	fw->batch.setup[4].cfg.event_idx = EVENT_BUS;
	KUNIT_EXPECT_LT(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(3) | C(5));
	KUNIT_EXPECT_EQ(test, fw->ctr[4].state, FW_FREE);
	fake_fw_expect_all_released(test);
}

/* As with Ssccfg, where this backend applies the part of a batch that has firmware counters. */
static void counters_that_have_failed_before_stay_failed(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fake_fw_plan(fw, C(4) | C(5), EVENT_L1D_MISS);
	fw->batch.setup[4].cfg.event_idx = EVENT_BUS;
	fw->batch.failed = C(3);
	KUNIT_EXPECT_LT(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(5));
	fake_fw_expect_all_released(test);
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

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fw->error[SBI_EXT_PMU_COUNTER_START] = row->error;
	fw->error_ctrs = C(4);
	fake_fw_plan(fw, C(3) | C(4) | C(5), EVENT_L1D_MISS);
	fw->batch.load = row->load ? fw->batch.start : 0;
	KUNIT_EXPECT_LT(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(3) | C(5));
	KUNIT_EXPECT_EQ(test, fw->ctr[4].state, fw->has_batch ? FW_STOPPED : FW_FREE);
	KUNIT_EXPECT_EQ(test, fake_fw_held_ctrs(), C(3) | C(5));
	fake_fw_expect_all_released(test);
}

/* START returns this error if a counter of the mask is running; the others are started. */
static void already_started_is_no_error(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fake_fw_plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.start = C(3) | C(4);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	fake_fw_expect_all_released(test);
}

/* A counter that cannot be stopped does not fail, and keeps running. */
static void refused_stop_is_tolerated(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fake_fw_plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	fw->error[SBI_EXT_PMU_COUNTER_STOP] = SBI_ERR_FAILURE;
	fw->error_ctrs = C(3);
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.stop = C(3) | C(4);
	fake_fw_apply(fw);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(3));
	fake_fw_expect_all_released(test);
}

static void values_are_loaded_into_their_counters(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	fake_fw_plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	fake_fw_expect_loaded(test, FW_CONFIG | C(40));

	fake_fw_plan_load(fw, C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	fake_fw_expect_loaded(test, C(40));
	fake_fw_expect_all_released(test);
}

/* Counters that are not loaded start from their present value. */
static void only_loaded_counters_get_a_value(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	fw->ctr[5].value = 55;
	fake_fw_plan_load(fw, FW_CONFIG | C(40));
	fw->batch.load = C(3) | C(40);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	fake_fw_expect_loaded(test, C(3) | C(40));
	KUNIT_EXPECT_EQ(test, fw->ctr[5].value, 55);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	fake_fw_expect_all_released(test);
}

/* One batch can release and program the same counter: it then holds the new config. */
static void release_and_program_go_together(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	memset(fw->batch_calls, 0, sizeof(fw->batch_calls));
	fake_fw_plan(fw, C(3) | C(4), EVENT_RAW);
	fw->batch.setup[3].cfg.event_data = 7;
	fw->batch.release = FW_CONFIG;
	fw->batch.load = C(3) | C(4);
	fw->batch.setup[3].value = fake_fw_value_of(3);
	fw->batch.setup[4].value = fake_fw_value_of(4);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_idx, EVENT_RAW);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].event_data, 7);
	KUNIT_EXPECT_EQ(test, fw->ctr[4].event_data, 0);
	KUNIT_EXPECT_EQ(test, fw->ctr[5].state, FW_FREE);
	KUNIT_EXPECT_EQ(test, fake_fw_held_ctrs(), C(3) | C(4) | C(40));
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], fw->has_batch ? 1 : 0);
	fake_fw_expect_loaded(test, C(3) | C(4));
	fake_fw_expect_all_released(test);
}

static void reload_returns_the_count_and_starts_again(struct kunit *test)
{
	struct firmware *fw = test->priv;
	u64 was = 0;
	int err = 0;

	fake_fw_run_four(test);
	fw->period = 0;
	fw->ctr[3].value = 77;
	scoped_guard(irqsave)
		err = fw->pmu.ops.reload(&fw->pmu, 3, 1000, &was);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_EQ(test, was, 77);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].value, 1000);
	KUNIT_EXPECT_EQ(test, fw->ctr[3].state, FW_RUNNING);
	fake_fw_expect_all_released(test);
}

#define SBI_EACH_CASE									\
	KUNIT_CASE(probe_finds_all_counters),						\
	KUNIT_CASE(probe_finds_all_events),						\
	KUNIT_CASE_PARAM(fixed_counters_of_some_vendors_interrupt, fixed_irq_gen_params),	\
	KUNIT_CASE_PARAM(without_the_vendors_interrupt_all_counters_are_polled,		\
			 own_csr_gen_params),						\
	KUNIT_CASE(batch_is_applied),							\
	KUNIT_CASE(unconfigurable_fixed_counter_is_used_read_only),			\
	KUNIT_CASE(counters_in_use_are_not_tested),					\
	KUNIT_CASE(counters_in_use_are_not_excluded),					\
	KUNIT_CASE(refused_config_fails_only_its_counter),				\
	KUNIT_CASE(counters_that_have_failed_before_stay_failed),			\
	KUNIT_CASE_PARAM(refused_start_fails_only_its_counter, start_gen_params),	\
	KUNIT_CASE(already_started_is_no_error),					\
	KUNIT_CASE(refused_stop_is_tolerated),						\
	KUNIT_CASE_PARAM(probe_tolerates_a_match_outside_the_mask, match_gen_params),	\
	KUNIT_CASE(values_are_loaded_into_their_counters),				\
	KUNIT_CASE(only_loaded_counters_get_a_value),					\
	KUNIT_CASE(a_start_of_firmware_counters_keeps_the_interrupt_pending),		\
	KUNIT_CASE(reload_returns_the_count_and_starts_again),				\
	KUNIT_CASE(release_and_program_go_together)

static struct kunit_case plain_cases[] = {
	SBI_EACH_CASE,
	KUNIT_CASE_PARAM(match_outside_the_mask_fails_the_event, match_gen_params),
	{}
};

static struct kunit_case snapshot_cases[] = {
	SBI_EACH_CASE,
	KUNIT_CASE_PARAM(match_outside_the_mask_fails_the_event, match_gen_params),
	{}
};

static struct kunit_case batch_cases[] = {
	SBI_EACH_CASE,
	{}
};

FW_SUITE("riscv_pmu_sbi_plain", plain_cases, fake_fw_init);
FW_SUITE("riscv_pmu_sbi_snapshot", snapshot_cases, fake_fw_init_snapshot);
FW_SUITE("riscv_pmu_sbi_batch", batch_cases, fake_fw_init_batch);

kunit_test_suites(&plain_cases_suite, &snapshot_cases_suite, &batch_cases_suite);
