// SPDX-License-Identifier: GPL-2.0
/* Tests of sbi/snapshot.c and sbi/batch.c: the pages that are shared with the firmware. */

#include "fake_firmware.h"

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
	fake_fw_probe_as(test, row->method);
	KUNIT_EXPECT_EQ(test, fw->pmu.one_call, row->has_batch);
	KUNIT_EXPECT_EQ(test, !!fw->page, !strcmp(row->method, "snapshot"));
	KUNIT_EXPECT_EQ(test, !!fw->shmem, row->has_batch);
	fake_fw_expect_all_released(test);
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
	fake_fw_run_four(test);
	fake_fw_plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 4);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], 0);
	fake_fw_expect_loaded(test, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG);
	fake_fw_expect_all_released(test);
}

static void values_are_loaded_by_one_call(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	fake_fw_plan_load(fw, FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_STOP], 1);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 1);
	fake_fw_expect_loaded(test, FW_CONFIG);

	fake_fw_plan_load(fw, C(3) | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], FW_NR_WORDS);
	fake_fw_expect_loaded(test, C(3) | C(40));
	fake_fw_expect_all_released(test);
}

/* A plain call does this by one call too. */
static void single_value_is_loaded_without_the_page(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	KUNIT_ASSERT_NOT_NULL(test, fw->page);
	fw->page->ctr_values[3] = 1;
	fake_fw_plan_load(fw, C(3));
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 1);
	KUNIT_EXPECT_EQ(test, fw->page->ctr_values[3], 1);
	fake_fw_expect_loaded(test, C(3));
	fake_fw_expect_all_released(test);
}

/* If the firmware has lost its page, the page is not used again after the first error. */
static void values_are_loaded_by_plain_calls_after_the_page_was_lost(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	fw->page = NULL;
	fake_fw_plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	fake_fw_expect_loaded(test, FW_CONFIG | C(40));

	fake_fw_plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 4);
	fake_fw_expect_loaded(test, FW_CONFIG | C(40));
	fake_fw_expect_all_released(test);
}

/* If one counter cannot be started, the page is used again by the next batch. */
static void page_is_used_after_a_counter_failed(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	fw->error[SBI_EXT_PMU_COUNTER_START] = SBI_ERR_FAILURE;
	fw->error_ctrs = C(40);
	fake_fw_plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_LT(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, C(40));
	fake_fw_expect_loaded(test, FW_CONFIG);

	fake_fw_plan_load(fw, FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_START], 1);
	fake_fw_expect_loaded(test, FW_CONFIG);
	fake_fw_expect_all_released(test);
}

/* The firmware is asked only if a counter is narrow: the core finds the overflows of others. */
static u64 overflowed(struct firmware *fw, u64 ctrs)
{
	guard(irqsave)();
	fw->pmu.narrow_ctrs = C(3);
	return fw->pmu.ops.overflowed(&fw->pmu, ctrs);
}

/* As in a KVM guest, there is no scountovf. */
static void overflow_is_read_from_the_page_without_the_csr(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->pmu.ovf_csr = 0;
	fake_fw_run_four(test);
	fw->ctr[5].value = 55;
	fw->overflowed = C(4) | C(40);
	KUNIT_EXPECT_EQ(test, overflowed(fw, FW_CONFIG | C(40)), C(4) | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fw->ctr[5].value, 55);
	KUNIT_EXPECT_EQ_MSG(test, overflowed(fw, FW_CONFIG | C(40)), 0, "overflow reported twice");
	fake_fw_expect_all_released(test);
}

static void firmware_is_not_asked_about_wide_counters(struct kunit *test)
{
	struct firmware *fw = test->priv;
	unsigned int stops;

	fw->pmu.ovf_csr = 0;
	fake_fw_run_four(test);
	fw->overflowed = C(4);
	stops = fw->calls[SBI_EXT_PMU_COUNTER_STOP];
	KUNIT_EXPECT_EQ(test, overflowed(fw, C(4) | C(5)), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_STOP], stops);
	fake_fw_expect_all_released(test);
}

static void overflow_bits_of_other_counters_are_ignored(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	fw->extra_bits = ~0ULL;
	KUNIT_EXPECT_EQ(test, overflowed(fw, C(3) | C(4)), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, overflowed(fw, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	fake_fw_expect_all_released(test);
}

/* Counters that the snapshot has stopped have to be started again. */
static void refused_snapshot_leaves_counters_running(struct kunit *test)
{
	const struct errno_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->pmu.ovf_csr = 0;
	fake_fw_run_four(test);
	fw->error[SBI_EXT_PMU_COUNTER_STOP] = row->error;
	fw->error_ctrs = C(5);
	fw->overflowed = C(4);
	KUNIT_EXPECT_EQ(test, overflowed(fw, FW_CONFIG), C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), FW_CONFIG | C(40));

	/* The overflow bits of the last snapshot are not reported again. */
	fw->error_ctrs = FW_CONFIG;
	fw->page = NULL;
	KUNIT_EXPECT_EQ(test, overflowed(fw, FW_CONFIG), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), FW_CONFIG | C(40));
	fake_fw_expect_all_released(test);
}

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

	fake_fw_run_four(test);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], 1);

	fake_fw_plan(fw, C(3), EVENT_RAW);
	fw->batch.stop = C(40);
	fw->batch.release = C(3) | C(4);
	fw->batch.start = C(3) | C(40);
	fw->batch.load = C(3) | C(40);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_APPLY], 2);
	KUNIT_EXPECT_EQ(test, std_calls(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), C(3) | C(5) | C(40));
	fake_fw_expect_all_released(test);
}

/* The slot of a counter that is only released must not contain its last event. */
static void released_counter_has_no_event(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	KUNIT_ASSERT_NOT_NULL(test, fw->shmem);
	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.release = C(4) | C(40);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->shmem->slot[4].event_idx, SBI_PMU_BATCH_NO_EVENT);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_FREE) & (FW_CONFIG | C(40)), C(4) | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_held_ctrs(), C(3) | C(5));
	fake_fw_expect_all_released(test);
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

	fake_fw_probe_as(test, fw->method);
	fw->extra_bits = row->extra_bits;
	fake_fw_plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), row->failed ? -EIO : 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, row->failed);
	KUNIT_EXPECT_EQ(test, fake_fw_held_ctrs(), (C(3) | C(4)) & ~row->failed);
	fw->extra_bits = 0;
	fake_fw_expect_all_released(test);
}

static void refused_batch_is_applied_by_plain_calls(struct kunit *test)
{
	const struct errno_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fake_fw_probe_as(test, fw->method);
	fw->batch_error[SBI_PMU_BATCH_APPLY] = row->error;
	fake_fw_plan(fw, FW_CONFIG, EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch.failed, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_in_state(fw, FW_RUNNING), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->ctr[4].event_idx, EVENT_L1D_MISS);

	fake_fw_plan_load(fw, FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	fake_fw_expect_loaded(test, FW_CONFIG);
	fake_fw_expect_all_released(test);
}

/* The counter already has its new value when the call fails. */
static void failed_reload_returns_the_count(struct kunit *test)
{
	struct firmware *fw = test->priv;
	u64 was = 0;
	int err = 0;

	fake_fw_run_four(test);
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
	fake_fw_expect_all_released(test);
}

static void batch_is_applied_by_plain_calls_after_the_page_was_lost(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_run_four(test);
	fw->shmem = NULL;
	fake_fw_plan_load(fw, FW_CONFIG | C(40));
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	fake_fw_expect_loaded(test, FW_CONFIG | C(40));
	fake_fw_expect_all_released(test);
}

static void invalid_counters_of_resolve_are_masked(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->extra_bits = ~0ULL;
	fake_fw_probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0) & ~FW_CONFIG, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_BUS, 0) & ~(FW_FIXED | FW_CONFIG), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_FW_TIMER, 0) & ~FW_USED_OWN, 0);
	fw->extra_bits = 0;
	fake_fw_expect_all_released(test);
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
	fake_fw_probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_BUS, 0), 0);

	fw->batch_error[SBI_PMU_BATCH_RESOLVE] = 0;
	fake_fw_probe_as(test, fw->method);
	fw->batch_error[SBI_PMU_BATCH_RESOLVE] = row->error;
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7),
			row->error == SBI_ERR_NOT_SUPPORTED ? 0 : FW_CONFIG);
	fake_fw_expect_all_released(test);
}

static struct kunit_case method_cases[] = {
	KUNIT_CASE_PARAM(best_method_is_chosen, method_gen_params),
	{}
};

static struct kunit_case snapshot_page_cases[] = {
	KUNIT_CASE_PARAM(plain_calls_are_used_if_the_page_is_refused, errno_gen_params),
	KUNIT_CASE(values_are_loaded_by_one_call),
	KUNIT_CASE(single_value_is_loaded_without_the_page),
	KUNIT_CASE(values_are_loaded_by_plain_calls_after_the_page_was_lost),
	KUNIT_CASE(page_is_used_after_a_counter_failed),
	KUNIT_CASE(overflow_is_read_from_the_page_without_the_csr),
	KUNIT_CASE(firmware_is_not_asked_about_wide_counters),
	KUNIT_CASE(overflow_bits_of_other_counters_are_ignored),
	KUNIT_CASE_PARAM(refused_snapshot_leaves_counters_running, errno_gen_params),
	{}
};

static struct kunit_case batch_page_cases[] = {
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

FW_SUITE("riscv_pmu_sbi_method", method_cases, fake_fw_init);
FW_SUITE("riscv_pmu_sbi_snapshot_page", snapshot_page_cases, fake_fw_init_snapshot);
FW_SUITE("riscv_pmu_sbi_batch_page", batch_page_cases, fake_fw_init_batch);

kunit_test_suites(&method_cases_suite, &snapshot_page_cases_suite, &batch_page_cases_suite);
