// SPDX-License-Identifier: GPL-2.0
/* Tests of sbi/events.c: which counters can hold raw events, and the cache of the results. */

#include "fake_firmware.h"

static void expect_calls(struct kunit *test, unsigned int matches, unsigned int stops)
{
	struct firmware *fw = test->priv;

	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_CFG_MATCH], matches);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_STOP], stops);
	memset(fw->calls, 0, sizeof(fw->calls));
	KUNIT_EXPECT_EQ_MSG(test, fake_fw_in_state(fw, FW_FREE), FW_CTRS,
			    "a test leaves configs behind");
}

/* It takes one test for each counter that can hold the event, and one for all that cannot. */
static void raw_event_is_tested_once(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->raw_ctrs = C(4) | C(5);
	fake_fw_probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, fake_fw_untried_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), C(4) | C(5));
	expect_calls(test, 3, 2);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), C(4) | C(5));
	KUNIT_EXPECT_EQ(test, fake_fw_untried_ctrs(fw, EVENT_RAW, 7), 0);
	expect_calls(test, 0, 0);
	/* Another selector is another event. */
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 8), C(4) | C(5));
	expect_calls(test, 3, 2);
	fake_fw_expect_all_released(test);
}

static void absent_raw_event_is_tested_once(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->raw_ctrs = 0;
	fake_fw_probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), 0);
	expect_calls(test, 1, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_untried_ctrs(fw, EVENT_RAW, 7), 0);
	expect_calls(test, 0, 0);
	fake_fw_expect_all_released(test);
}

/* Counters that hold a config stay untested until they are free. */
static void counters_in_use_stay_untested(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->raw_ctrs = C(4);
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fake_fw_plan(fw, C(3) | C(4), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_untried_ctrs(fw, EVENT_RAW, 7), C(3) | C(4));

	memset(&fw->batch, 0, sizeof(fw->batch));
	fw->batch.release = C(3) | C(4);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	memset(fw->calls, 0, sizeof(fw->calls));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_untried_ctrs(fw, EVENT_RAW, 7), 0);
	expect_calls(test, 2, 1);
	fake_fw_expect_all_released(test);
}

/* Users choose the selectors, so the cache is bounded: the oldest entries are replaced. */
static void cached_events_are_bounded(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_probe_as(test, fw->method);
	for (u64 selector = 1; selector <= 64; selector++)
		KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, selector), FW_CONFIG);
	expect_calls(test, 3 * 64, 3 * 64);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 1), FW_CONFIG);
	expect_calls(test, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 65), FW_CONFIG);
	expect_calls(test, 3, 3);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 1), FW_CONFIG);
	expect_calls(test, 3, 3);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 65), FW_CONFIG);
	expect_calls(test, 0, 0);
	fake_fw_expect_all_released(test);
}

/* Only SBI_ERR_NOT_SUPPORTED means that no counter can hold an event. */
static void other_errors_are_not_cached(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fake_fw_probe_as(test, fw->method);
	fw->error[SBI_EXT_PMU_COUNTER_CFG_MATCH] = SBI_ERR_FAILURE;
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), 0);
	fw->error[SBI_EXT_PMU_COUNTER_CFG_MATCH] = 0;
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	fake_fw_expect_all_released(test);
}

/* EVENT_GET_INFO reports whether an event exists, but not on which counters. */
static void event_get_info_avoids_tests_of_absent_events(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->has_info = true;
	fake_fw_probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 1);
	expect_calls(test, 3, 3);

	fw->raw_ctrs = 0;
	fake_fw_plan(fw, C(3), EVENT_L1D_MISS);
	KUNIT_EXPECT_EQ(test, fake_fw_apply(fw), 0);
	memset(fw->calls, 0, sizeof(fw->calls));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 8), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 8), 0);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 1);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_EXT_PMU_COUNTER_CFG_MATCH], 0);

	/* If the call fails later, events are tested as without it. */
	fw->has_info = false;
	fw->raw_ctrs = FW_CONFIG;
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 9), FW_CONFIG);
	fake_fw_expect_all_released(test);
}

/* Firmware that reports cycles as not supported does not know the events. */
static void event_get_info_is_ignored_if_it_does_not_report_cycles(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->has_info = true;
	fw->reports_no_events = true;
	fake_fw_probe_as(test, fw->method);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fw->calls[SBI_CALL_PMU_EVENT_GET_INFO], 0);
	fake_fw_expect_all_released(test);
}

static struct kunit_case events_cases[] = {
	KUNIT_CASE(raw_event_is_tested_once),
	KUNIT_CASE(absent_raw_event_is_tested_once),
	KUNIT_CASE(counters_in_use_stay_untested),
	KUNIT_CASE(cached_events_are_bounded),
	KUNIT_CASE(other_errors_are_not_cached),
	KUNIT_CASE(event_get_info_avoids_tests_of_absent_events),
	KUNIT_CASE(event_get_info_is_ignored_if_it_does_not_report_cycles),
	{}
};

FW_SUITE("riscv_pmu_sbi_events", events_cases, fake_fw_init);

kunit_test_suites(&events_cases_suite);
