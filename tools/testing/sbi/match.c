// SPDX-License-Identifier: BSD-2-Clause
/* COUNTER_CONFIG_MATCHING: the selected counter and its configuration. */
#include "case.h"
#include "pmu.h"

static void finds_a_counter_of_the_mask(void)
{
	u64 ctr = ctr_for(EVENT_CYCLES, 0);

	REQUIRE(ctr != ALL_ONES);
	EXPECT(ctrs.hw & BIT(ctr));
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0));
	EXPECT(is_running(ctr));
}

static void finds_each_programmable_counter(void)
{
	u64 i;

	for (i = 3; i < 32; i++) {
		struct sbiret ret;

		if (!(ctrs.prog & BIT(i)))
			continue;
		ret = pmu_match(0, BIT(i), 0, EVENT_DTLB_READ_MISS, 0);
		EXPECT_EQ(ret.error, SBI_SUCCESS);
		EXPECT_EQ(ret.value, i);
	}
}

static void fixed_counters_can_be_asked_for(void)
{
	struct sbiret ret = pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_CYCLES, 0);

	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, CTR_CYCLE);
	ret = pmu_match(0, BIT(CTR_INSTRET), 0, EVENT_INSTRUCTIONS, 0);
	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, CTR_INSTRET);
}

static void fixed_counters_count_their_event_only(void)
{
	EXPECT_ERROR(pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_INSTRUCTIONS, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(pmu_match(0, BIT(CTR_INSTRET), 0, EVENT_CYCLES, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(pmu_match(0, FIXED_CTRS, 0, EVENT_DTLB_READ_MISS, 0), SBI_ERR_NOT_SUPPORTED);
}

static void fixed_counter_is_given_once(void)
{
	EXPECT_OK(pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_CYCLES, 0));
	EXPECT_ERROR(pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_CYCLES, 0), SBI_ERR_NOT_SUPPORTED);
	pmu_stop(CTR_CYCLE, 1, PMU_STOP_RESET);
	EXPECT_OK(pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_CYCLES, 0));
	pmu_stop(CTR_CYCLE, 1, PMU_STOP_RESET);
	/* A started counter is in use. */
	EXPECT_OK(pmu_start(CTR_CYCLE, 1, 0, 0));
	EXPECT_ERROR(pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_CYCLES, 0), SBI_ERR_NOT_SUPPORTED);
}

/* Each match takes one of the counters, until none is left. */
static void fixed_counter_is_not_pushed(void)
{
	struct sbiret ret;
	u64 i;

	for (i = 0; i < 32; i++) {
		ret = pmu_match(0, ctrs.prog, 0, EVENT_CYCLES, 0);
		if (ret.error)
			break;
		EXPECT(ctrs.prog & BIT(ret.value));
	}
	EXPECT_EQ(ret.error, SBI_ERR_NOT_SUPPORTED);
}

static void busy_counter_is_left_out(void)
{
	u64 two = 3ULL << lowest(ctrs.prog);
	struct sbiret a = pmu_match(0, two, PMU_CFG_AUTO_START, EVENT_DTLB_READ_MISS, 0);
	struct sbiret b = pmu_match(0, two, PMU_CFG_AUTO_START, EVENT_DTLB_READ_MISS, 0);

	EXPECT_EQ(a.error, SBI_SUCCESS);
	EXPECT_EQ(b.error, SBI_SUCCESS);
	EXPECT(a.value != b.value);
	EXPECT_EQ(BIT(a.value) | BIT(b.value), two);
	EXPECT_ERROR(pmu_match(0, two, 0, EVENT_DTLB_READ_MISS, 0), SBI_ERR_NOT_SUPPORTED);
}

static void base_counts_for_hardware(void)
{
	struct sbiret ret = pmu_match(4, 1 << 1 | 1 << 3, 0, EVENT_DTLB_READ_MISS, 0);

	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, 5);
	ret = pmu_match(3, 1, 0, EVENT_DTLB_READ_MISS, 0);
	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, 3);
}

static void base_counts_for_firmware(void)
{
	u64 first = lowest(ctrs.fw);
	struct sbiret ret = pmu_match(first, 1, 0, EVENT_FW_SET_TIMER, 0);

	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, first);
	/* The first two of these are a hardware counter and the one in use. */
	ret = pmu_match(first - 1, 7, 0, EVENT_FW_SET_TIMER, 0);
	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, first + 1);
	ret = pmu_match(first + 2, 3, PMU_CFG_AUTO_START, EVENT_FW_SET_TIMER, 0);
	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, first + 2);
	EXPECT_OK(pmu_fw_read(first + 2));
}

static void firmware_event_takes_firmware_counter(void)
{
	EXPECT_ERROR(pmu_match(0, ctrs.hw, 0, EVENT_FW_SET_TIMER, 0), SBI_ERR_NOT_SUPPORTED);
}

static void hardware_event_takes_hardware_counter(void)
{
	EXPECT_ERROR(pmu_match(0, ctrs.fw, 0, EVENT_DTLB_READ_MISS, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(pmu_match(0, ctrs.fw, 0, EVENT_CYCLES, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(pmu_match(0, ctrs.fw, 0, EVENT_INSTRUCTIONS, 0), SBI_ERR_NOT_SUPPORTED);
}

static void unsupported_event_is_refused(void)
{
	EXPECT_ERROR(pmu_match(0, ctrs.hw, 0, EVENT_BPU_PREFETCH_MISS, 0), SBI_ERR_NOT_SUPPORTED);
	/* QEMU's board has no raw events. */
	EXPECT_ERROR(pmu_match(0, ctrs.hw, 0, EVENT_RAW, 1), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(pmu_match(0, ctrs.hw, 0, EVENT_RAW_V2, 1), SBI_ERR_NOT_SUPPORTED);
}

static void malformed_event_is_refused(void)
{
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, EVENT_NONE, 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, EVENT_HW_BEYOND, 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, EVENT_CACHE(7, 0, 0), 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, EVENT_CACHE(3, 3, 0), 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, EVENT_RAW | 1, 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, EVENT(4, 0), 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, EVENT(14, 1), 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.fw, 0, EVENT_FW_RESERVED, 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.fw, 0, EVENT_FW(255), 0));
}

/* If the firmware accepts one of these, the counter stays in use. */
static void event_has_20_bits(void)
{
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, BIT(20) | EVENT_CYCLES, 0));
	if (XLEN == 64)
		EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, (ulong)BIT(32) | EVENT_CYCLES, 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.hw, 0, BIT(XLEN - 1) | EVENT_DTLB_READ_MISS, 0));
	EXPECT_REFUSED(pmu_match(0, ctrs.fw, 0, BIT(20) | EVENT_FW_SET_TIMER, 0));
}

static void empty_set_is_refused(void)
{
	EXPECT_ERROR(pmu_match(0, 0, 0, EVENT_CYCLES, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_match(3, 0, 0, EVENT_DTLB_READ_MISS, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_match(lowest(ctrs.fw), 0, 0, EVENT_FW_SET_TIMER, 0),
		     SBI_ERR_INVALID_PARAM);
}

static void set_beyond_the_last_is_refused(void)
{
	u64 nr = ctrs.nr;

	EXPECT_ERROR(pmu_match(nr, 1, 0, EVENT_FW_SET_TIMER, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_match(nr - 1, 3, 0, EVENT_FW_SET_TIMER, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_match(0, BIT(nr), 0, EVENT_FW_SET_TIMER, 0), SBI_ERR_INVALID_PARAM);
	/* From an existing counter to one that does not exist. */
	EXPECT_ERROR(pmu_match(nr < XLEN ? 3 : nr - XLEN + 1, ALL_ONES, 0, EVENT_DTLB_READ_MISS, 0),
		     SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_match(BIT(XLEN / 2), 1, 0, EVENT_CYCLES, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_match(BIT(XLEN - 1), 1, 0, EVENT_CYCLES, 0), SBI_ERR_INVALID_PARAM);
}

static void clear_value(ulong event)
{
	u64 ctr = event >= EVENT_FW(0) ? fw_ctr_for(event) : ctr_for(event, 0);
	struct sbiret ret;

	REQUIRE(ctr != ALL_ONES);
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0x123456789abcdef0);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
	ret = pmu_match(ctr, 1, PMU_CFG_CLEAR_VALUE, event, 0);
	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ctr_value(ctr), 0);
}

static void clear_value_clears_cycles(void)
{
	clear_value(EVENT_CYCLES);
}

static void clear_value_clears_cache_event(void)
{
	clear_value(EVENT_DTLB_READ_MISS);
}

static void clear_value_clears_firmware_event(void)
{
	clear_value(EVENT_FW_SET_TIMER);
}

static void auto_start(ulong event)
{
	struct sbiret ret;

	ret = pmu_match(0, ctrs.hw, PMU_CFG_CLEAR_VALUE | PMU_CFG_AUTO_START, event, 0);
	REQUIRE(ret.error == SBI_SUCCESS);
	EXPECT_ERROR(pmu_start(ret.value, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
	EXPECT_OK(pmu_stop(ret.value, 1, 0));
}

static void auto_start_starts_cycles(void)
{
	u64 ctr = ctr_for(EVENT_CYCLES, PMU_CFG_AUTO_START);

	REQUIRE(ctr != ALL_ONES);
	EXPECT(is_running(ctr));
	pmu_stop(ctr, 1, PMU_STOP_RESET);
	auto_start(EVENT_CYCLES);
}

static void auto_start_starts_cache_event(void)
{
	auto_start(EVENT_DTLB_READ_MISS);
}

static void auto_start_starts_firmware_event(void)
{
	struct sbiret ret = pmu_match(0, ctrs.fw, PMU_CFG_CLEAR_VALUE | PMU_CFG_AUTO_START,
				      EVENT_FW_SET_TIMER, 0);

	REQUIRE(ret.error == SBI_SUCCESS);
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ret.value).value, 1);
}

static void auto_start_leaves_the_value(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 1000000);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
	EXPECT_OK(pmu_match(ctr, 1, PMU_CFG_AUTO_START, EVENT_INSTRUCTIONS, 0));
	EXPECT_IN(ctr_value(ctr), 1000000, 1000000 + 2 * between_calls);
}

static void match_leaves_the_counter_stopped(void)
{
	u64 ctr = ctr_for(EVENT_CYCLES, PMU_CFG_CLEAR_VALUE);

	REQUIRE(ctr != ALL_ONES);
	EXPECT(!is_running(ctr));
}

static void skip_match_programs_a_new_event(void)
{
	struct sbiret ret = pmu_match(0, ctrs.prog, 0, EVENT_DTLB_READ_MISS, 0);
	u64 ctr = ret.value;

	REQUIRE(ret.error == SBI_SUCCESS);
	ret = pmu_match(ctr, 1, PMU_CFG_SKIP_MATCH, EVENT_INSTRUCTIONS, 0);
	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, ctr);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void skip_match_programs_filters(void)
{
	struct sbiret ret = pmu_match(0, ctrs.prog, 0, EVENT_INSTRUCTIONS, 0);
	u64 ctr = ret.value;

	REQUIRE(ret.error == SBI_SUCCESS);
	EXPECT_OK(pmu_match(ctr, 1, PMU_CFG_SKIP_MATCH | PMU_CFG_SET_SINH, EVENT_INSTRUCTIONS, 0));
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0));
	EXPECT_EQ(counted(ctr, 1000), 0);
}

static void skip_match_takes_the_first(void)
{
	u64 first = lowest(ctrs.prog);
	struct sbiret ret;

	EXPECT_OK(pmu_match(first + 1, 1, 0, EVENT_DTLB_READ_MISS, 0));
	ret = pmu_match(first, 0xe, PMU_CFG_SKIP_MATCH, EVENT_INSTRUCTIONS, 0);
	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, first + 1);
	EXPECT_OK(pmu_start(first + 1, 1, PMU_START_SET_INIT_VALUE, 0));
	EXPECT(is_running(first + 1));
}

/* The event changes while the counter is stopped: it must not count what was before. */
static void skip_match_lets_a_counter_run_on(void)
{
	struct sbiret ret = pmu_match(0, ctrs.prog, 0, EVENT_DTLB_READ_MISS, 0);
	u64 ctr = ret.value;

	REQUIRE(ret.error == SBI_SUCCESS);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 1000000));
	loop_for(100000);
	EXPECT_OK(pmu_match(ctr, 1, PMU_CFG_SKIP_MATCH, EVENT_INSTRUCTIONS, 0));
	EXPECT_IN(ctr_value(ctr), 1000000, 1000000 + 100000);
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
}

static void skip_match_lets_a_firmware_counter_run_on(void)
{
	u64 ctr = fw_ctr_for(EVENT_FW_IPI_SENT);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 7));
	EXPECT_OK(pmu_match(ctr, 1, PMU_CFG_SKIP_MATCH, EVENT_FW_SET_TIMER, 0));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 8);
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
}

/* kvm-unit-tests expects this error, too. */
static void skip_match_refuses_a_counter_never_configured(void)
{
	u64 i;

	for (i = 0; i < ctrs.nr; i++)
		if ((ctrs.prog | ctrs.fw) & BIT(i))
			EXPECT_ERROR(pmu_match(i, 1, PMU_CFG_SKIP_MATCH,
					       ctrs.fw & BIT(i) ? EVENT_FW_SET_TIMER : EVENT_CYCLES, 0),
				     SBI_ERR_INVALID_PARAM);
}

static void skip_match_changes_a_firmware_event(void)
{
	u64 ctr = fw_ctr_for(EVENT_FW_IPI_SENT);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(pmu_match(ctr, 1, PMU_CFG_SKIP_MATCH | PMU_CFG_AUTO_START | PMU_CFG_CLEAR_VALUE,
			    EVENT_FW_SET_TIMER, 0));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 1);
}

static void skip_match_refuses_what_can_not_be_counted(void)
{
	u64 fw = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(fw != ALL_ONES);
	pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_CYCLES, 0);
	EXPECT_REFUSED(pmu_match(fw, 1, PMU_CFG_SKIP_MATCH, EVENT_CYCLES, 0));
	EXPECT_REFUSED(pmu_match(0, 1, PMU_CFG_SKIP_MATCH, EVENT_INSTRUCTIONS, 0));
	EXPECT_REFUSED(pmu_match(0, 1, PMU_CFG_SKIP_MATCH, EVENT_FW_SET_TIMER, 0));
	EXPECT_REFUSED(pmu_match(0, BIT(CTR_TIME), PMU_CFG_SKIP_MATCH, EVENT_CYCLES, 0));
}

static void unknown_flags_are_refused(void)
{
	u64 bit;

	for (bit = 8; bit < XLEN; bit += 11)
		EXPECT_ERROR(pmu_match(0, ctrs.hw, BIT(bit), EVENT_CYCLES, 0),
			     SBI_ERR_INVALID_PARAM);
}

const struct test_case match_cases[] = {
	{ "a match finds a counter of the mask that then counts", finds_a_counter_of_the_mask, 0 },
	{ "a match leaves the counter stopped", match_leaves_the_counter_stopped, 0 },
	{ "a match selects each programmable counter on request", finds_each_programmable_counter, 0 },
	{ "a match selects cycle and instret on request", fixed_counters_can_be_asked_for, NEEDS_FIXED },
	{ "cycle and instret count their own event only",
	  fixed_counters_count_their_event_only, 0 },
	{ "a match does not return a fixed counter that is in use", fixed_counter_is_given_once, NEEDS_FIXED },
	{ "cycle is not given to a caller that did not ask for it", fixed_counter_is_not_pushed, 0 },
	{ "a match does not select a counter that is in use", busy_counter_is_left_out, 0 },
	{ "the mask is relative to the base for hardware counters", base_counts_for_hardware, 0 },
	{ "the mask is relative to the base for firmware counters", base_counts_for_firmware, 0 },
	{ "a firmware event takes no hardware counter", firmware_event_takes_firmware_counter, 0 },
	{ "a hardware event takes no firmware counter", hardware_event_takes_hardware_counter, 0 },
	{ "an event that no counter counts is not supported", unsupported_event_is_refused, 0 },
	{ "a malformed event is refused", malformed_event_is_refused, 0 },
	{ "an event has 20 bits, and what is beyond is refused", event_has_20_bits, 0 },
	{ "an empty set of counters is refused by a match", empty_set_is_refused, 0 },
	{ "a set with a counter that does not exist is refused by a match",
	  set_beyond_the_last_is_refused, 0 },
	{ "CLEAR_VALUE clears a counter of cycles", clear_value_clears_cycles, 0 },
	{ "CLEAR_VALUE clears a counter of a cache event", clear_value_clears_cache_event, 0 },
	{ "CLEAR_VALUE clears a firmware counter", clear_value_clears_firmware_event, 0 },
	{ "AUTO_START starts a counter of cycles", auto_start_starts_cycles, 0 },
	{ "AUTO_START starts a counter of a cache event", auto_start_starts_cache_event, 0 },
	{ "AUTO_START starts a firmware counter", auto_start_starts_firmware_event, 0 },
	{ "AUTO_START does not change the value", auto_start_leaves_the_value, NEEDS_ICOUNT },
	{ "SKIP_MATCH programs the event it is given", skip_match_programs_a_new_event,
	  NEEDS_ICOUNT },
	{ "SKIP_MATCH programs the filters it is given", skip_match_programs_filters,
	  NEEDS_ICOUNT | NEEDS_SSCOFPMF | NEEDS_FILTERS },
	{ "SKIP_MATCH selects the first counter of the set",
	  skip_match_takes_the_first, 0 },
	{ "a running counter continues with the event that SKIP_MATCH programs",
	  skip_match_lets_a_counter_run_on, NEEDS_ICOUNT },
	{ "a running firmware counter continues with the event that SKIP_MATCH programs",
	  skip_match_lets_a_firmware_counter_run_on, 0 },
	{ "SKIP_MATCH refuses a counter that was never configured",
	  skip_match_refuses_a_counter_never_configured, 0 },
	{ "SKIP_MATCH changes what a firmware counter counts",
	  skip_match_changes_a_firmware_event, 0 },
	{ "SKIP_MATCH refuses an event that the counter cannot count",
	  skip_match_refuses_what_can_not_be_counted, 0 },
	{ "a match refuses flags that are reserved", unknown_flags_are_refused, 0 },
	CASES_END
};
