// SPDX-License-Identifier: BSD-2-Clause
/* COUNTER_START and COUNTER_STOP. */
#include "case.h"
#include "pmu.h"

static void counts_exactly(ulong event)
{
	u64 ctr = ctr_for(event, 0), extra;

	REQUIRE(ctr != ALL_ONES);
	extra = started_for(ctr, 0, 0);
	EXPECT_IN(extra, 1, between_calls);
	EXPECT_EQ(started_for(ctr, 0, 1), extra + 2);
	EXPECT_EQ(started_for(ctr, 0, 1000), extra + 2000);
	EXPECT_EQ(started_for(ctr, 1000000, 100000), extra + 200000);
}

static void cycles_are_counted_exactly(void)
{
	counts_exactly(EVENT_CYCLES);
}

static void instructions_are_counted_exactly(void)
{
	counts_exactly(EVENT_INSTRUCTIONS);
}

/* Without Sscofpmf, OpenSBI counts instructions with instret only. */
static void every_counter_counts(void)
{
	u64 i, extra = 0;

	for (i = 3; i < 32; i++) {
		if (!(ctrs.prog & BIT(i)))
			continue;
		EXPECT_OK(pmu_match(i, 1, 0, EVENT_INSTRUCTIONS, 0));
		if (!extra)
			extra = started_for(i, 0, 0);
		EXPECT_EQ(started_for(i, 0, 500), extra + 1000);
		pmu_stop(i, 1, PMU_STOP_RESET);
	}
}

static void fixed_counters_count(void)
{
	pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_CYCLES, 0);
	pmu_match(0, BIT(CTR_INSTRET), 0, EVENT_INSTRUCTIONS, 0);
	EXPECT_OK(pmu_start(0, FIXED_CTRS, PMU_START_SET_INIT_VALUE, 5000));
	EXPECT_IN(ctr_value(CTR_CYCLE), 5000, 100000);
	EXPECT_EQ(counted(CTR_CYCLE, 1000), 2000 + counted_extra);
	EXPECT_EQ(counted(CTR_INSTRET, 1000), 2000 + counted_extra);
	EXPECT_OK(pmu_stop(0, FIXED_CTRS, 0));
	EXPECT(!is_running(CTR_CYCLE));
	EXPECT(!is_running(CTR_INSTRET));
}

static void stopped_counter_keeps_its_value(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0), value;

	REQUIRE(ctr != ALL_ONES);
	started_for(ctr, 77, 1000);
	value = ctr_value(ctr);
	loop_for(1000);
	EXPECT_EQ(ctr_value(ctr), value);
	EXPECT_ERROR(pmu_stop(ctr, 1, 0), SBI_ERR_ALREADY_STOPPED);
	EXPECT_EQ(ctr_value(ctr), value);
}

static void start_goes_on_from_there(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0), value;

	REQUIRE(ctr != ALL_ONES);
	started_for(ctr, 0, 1000);
	value = ctr_value(ctr);
	/* Without SET_INIT_VALUE, the value is ignored. */
	EXPECT_OK(pmu_start(ctr, 1, 0, BIT(60)));
	loop_for(1000);
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT_IN(ctr_value(ctr), value + 2000, value + 2000 + between_calls);
}

static void start_sets_all_64_bits(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_IN(started_for(ctr, 0xfedcba9876543210, 0), 0, between_calls);
	EXPECT_IN(started_for(ctr, 0x7fffffff80000000, 0), 0, between_calls);
}

static void started_counter_can_not_be_started(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 1000));
	EXPECT_ERROR(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, BIT(60)),
		     SBI_ERR_ALREADY_STARTED);
	EXPECT_IN(ctr_value(ctr), 1000, BIT(32));
	EXPECT(is_running(ctr));
}

static void firmware_counter_starts_and_stops_once(void)
{
	u64 ctr = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(ctr != ALL_ONES);
	EXPECT_ERROR(pmu_stop(ctr, 1, 0), SBI_ERR_ALREADY_STOPPED);
	EXPECT_OK(pmu_start(ctr, 1, 0, 0));
	EXPECT_ERROR(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 99), SBI_ERR_ALREADY_STARTED);
	EXPECT_EQ(pmu_fw_read(ctr).value, 0);
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT_ERROR(pmu_stop(ctr, 1, 0), SBI_ERR_ALREADY_STOPPED);
}

static void stop_and_start_need_an_event(void)
{
	u64 hw = lowest(ctrs.prog), fw = lowest(ctrs.fw);

	EXPECT_ERROR(pmu_start(hw, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_stop(hw, 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_start(fw, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_stop(fw, 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_start(CTR_TIME, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_stop(CTR_TIME, 1, 0), SBI_ERR_INVALID_PARAM);
}

static void reset_forgets_the_event(void)
{
	u64 hw = ctr_for(EVENT_DTLB_READ_MISS, 0), fw = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(hw != ALL_ONES && fw != ALL_ONES);
	EXPECT_OK(pmu_start(hw, 1, 0, 0));
	EXPECT_OK(pmu_start(fw, 1, 0, 0));
	EXPECT_OK(pmu_stop(hw, 1, PMU_STOP_RESET));
	EXPECT_OK(pmu_stop(fw, 1, PMU_STOP_RESET));
	EXPECT_ERROR(pmu_start(hw, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_start(fw, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_fw_read(fw), SBI_ERR_INVALID_PARAM);
}

static void reset_of_a_stopped_counter_forgets_too(void)
{
	u64 hw = ctr_for(EVENT_DTLB_READ_MISS, 0), fw = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(hw != ALL_ONES && fw != ALL_ONES);
	pmu_stop(hw, 1, PMU_STOP_RESET);
	pmu_stop(fw, 1, PMU_STOP_RESET);
	EXPECT_ERROR(pmu_start(hw, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_start(fw, 1, 0, 0), SBI_ERR_INVALID_PARAM);
}

static void mask_starts_and_stops_all(void)
{
	u64 a = ctr_for(EVENT_CYCLES, 0), b = ctr_for(EVENT_INSTRUCTIONS, 0);
	u64 c = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(a != ALL_ONES && b != ALL_ONES && c != ALL_ONES);
	EXPECT_OK(pmu_start(0, BIT(a) | BIT(b) | BIT(c), PMU_START_SET_INIT_VALUE, 500));
	loop_for(1000);
	sbi_set_timer(ALL_ONES_64);
	EXPECT_OK(pmu_stop(0, BIT(a) | BIT(b) | BIT(c), 0));
	EXPECT_IN(ctr_value(a), 2500, 2500 + 2 * between_calls);
	/* Without filters they also count the firmware between the first and the last start. */
	if (scountovf_is_readable() && qemu_applies_filters())
		EXPECT_EQ(ctr_value(a), ctr_value(b));
	EXPECT_EQ(ctr_value(c), 501);
}

static void mask_is_relative_to_the_base(void)
{
	u64 base = lowest(ctrs.prog);

	EXPECT_OK(pmu_match(base, 4, 0, EVENT_DTLB_READ_MISS, 0));
	EXPECT_OK(pmu_match(base, 2, 0, EVENT_DTLB_WRITE_MISS, 0));
	EXPECT_OK(pmu_start(base + 1, 3, PMU_START_SET_INIT_VALUE, 0));
	EXPECT_ERROR(pmu_start(base + 2, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
	EXPECT_OK(pmu_stop(base + 2, 1, 0));
	EXPECT_ERROR(pmu_stop(base, 4, 0), SBI_ERR_ALREADY_STOPPED);
	EXPECT_OK(pmu_stop(base, 2, 0));
}

/* Of three counters the first, the middle or the last runs already. */
static void start_serves_the_others(void)
{
	u64 base = lowest(ctrs.prog), bad;

	for (bad = 0; bad < 3; bad++) {
		u64 i;

		for (i = 0; i < 3; i++)
			EXPECT_OK(pmu_match(base + i, 1, 0, EVENT_DTLB_READ_MISS, 0));
		EXPECT_OK(pmu_start(base + bad, 1, 0, 0));
		EXPECT_ERROR(pmu_start(base, 7, 0, 0), SBI_ERR_ALREADY_STARTED);
		for (i = 0; i < 3; i++)
			EXPECT_OK(pmu_stop(base + i, 1, PMU_STOP_RESET));
	}
}

static void stop_serves_the_others(void)
{
	u64 base = lowest(ctrs.prog), bad;

	for (bad = 0; bad < 3; bad++) {
		u64 i;

		for (i = 0; i < 3; i++) {
			EXPECT_OK(pmu_match(base + i, 1, 0, EVENT_DTLB_READ_MISS, 0));
			EXPECT_OK(pmu_start(base + i, 1, 0, 0));
		}
		EXPECT_OK(pmu_stop(base + bad, 1, 0));
		EXPECT_ERROR(pmu_stop(base, 7, 0), SBI_ERR_ALREADY_STOPPED);
		for (i = 0; i < 3; i++) {
			EXPECT_ERROR(pmu_stop(base + i, 1, 0), SBI_ERR_ALREADY_STOPPED);
			pmu_stop(base + i, 1, PMU_STOP_RESET);
		}
	}
}

/* The same, but one of the three has no event. */
static void start_and_stop_serve_those_with_an_event(void)
{
	u64 base = lowest(ctrs.prog), bad;

	for (bad = 0; bad < 3; bad++) {
		u64 i;

		for (i = 0; i < 3; i++)
			if (i != bad)
				EXPECT_OK(pmu_match(base + i, 1, 0, EVENT_DTLB_READ_MISS, 0));
		EXPECT_ERROR(pmu_start(base, 7, 0, 0), SBI_ERR_INVALID_PARAM);
		for (i = 0; i < 3; i++)
			if (i != bad)
				EXPECT_ERROR(pmu_start(base + i, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
		EXPECT_ERROR(pmu_stop(base, 7, 0), SBI_ERR_INVALID_PARAM);
		for (i = 0; i < 3; i++)
			if (i != bad)
				EXPECT_ERROR(pmu_stop(base + i, 1, 0), SBI_ERR_ALREADY_STOPPED);
		for (i = 0; i < 3; i++)
			pmu_stop(base + i, 1, PMU_STOP_RESET);
	}
}

static void empty_set_is_refused(void)
{
	EXPECT_ERROR(pmu_start(0, 0, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_stop(0, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_start(lowest(ctrs.fw), 0, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_stop(lowest(ctrs.fw), 0, 0), SBI_ERR_INVALID_PARAM);
}

static void set_beyond_the_last_is_refused(void)
{
	static const ulong bases[] = { 64, BIT(31), BIT(XLEN / 2), BIT(XLEN - 1) };
	u64 i;

	EXPECT_ERROR(pmu_start(ctrs.nr, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_stop(ctrs.nr, 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_start(0, BIT(63), 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_stop(0, BIT(63), 0), SBI_ERR_INVALID_PARAM);
	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		EXPECT_ERROR(pmu_start(bases[i], 1, 0, 0), SBI_ERR_INVALID_PARAM);
		EXPECT_ERROR(pmu_stop(bases[i], 1, 0), SBI_ERR_INVALID_PARAM);
	}
}

static void unknown_flags_are_refused(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0), bit;

	REQUIRE(ctr != ALL_ONES);
	for (bit = 2; bit < XLEN; bit += 7) {
		EXPECT_ERROR(pmu_start(ctr, 1, BIT(bit), 0), SBI_ERR_INVALID_PARAM);
		EXPECT(!is_running(ctr));
	}
	pmu_start(ctr, 1, 0, 0);
	for (bit = 2; bit < XLEN; bit += 7) {
		EXPECT_ERROR(pmu_stop(ctr, 1, BIT(bit)), SBI_ERR_INVALID_PARAM);
		EXPECT(is_running(ctr));
	}
}

const struct test_case startstop_cases[] = {
	{ "cycles are counted exactly from START to STOP",
	  cycles_are_counted_exactly, NEEDS_ICOUNT },
	{ "instructions are counted exactly from START to STOP", instructions_are_counted_exactly,
	  NEEDS_ICOUNT },
	{ "every programmable counter counts exactly", every_counter_counts,
	  NEEDS_ICOUNT | NEEDS_SSCOFPMF },
	{ "cycle and instret start, count and stop", fixed_counters_count, NEEDS_ICOUNT },
	{ "a stopped counter keeps its value", stopped_counter_keeps_its_value, 0 },
	{ "START without a value continues from the present value", start_goes_on_from_there,
	  NEEDS_ICOUNT },
	{ "START sets all 64 bits of a value", start_sets_all_64_bits, NEEDS_ICOUNT },
	{ "a running counter is not started again, and keeps its value",
	  started_counter_can_not_be_started, 0 },
	{ "a firmware counter is started once and stopped once",
	  firmware_counter_starts_and_stops_once, 0 },
	{ "START and STOP refuse a counter without an event", stop_and_start_need_an_event, 0 },
	{ "STOP with RESET removes the event", reset_forgets_the_event, 0 },
	{ "STOP with RESET removes the event of a stopped counter",
	  reset_of_a_stopped_counter_forgets_too, 0 },
	{ "START and STOP handle all counters of a mask", mask_starts_and_stops_all, NEEDS_ICOUNT },
	{ "the mask of START and STOP is relative to the base", mask_is_relative_to_the_base, 0 },
	{ "START says that one ran, and starts the others", start_serves_the_others, 0 },
	{ "STOP says that one was stopped, and stops the others", stop_serves_the_others, 0 },
	{ "START and STOP say that one has no event, and serve the others",
	  start_and_stop_serve_those_with_an_event, 0 },
	{ "an empty set of counters is refused by START and STOP", empty_set_is_refused, 0 },
	{ "a set with a counter that does not exist is refused by START and STOP",
	  set_beyond_the_last_is_refused, 0 },
	{ "START and STOP refuse flags that are reserved", unknown_flags_are_refused, 0 },
	CASES_END
};
