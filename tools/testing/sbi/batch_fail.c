// SPDX-License-Identifier: BSD-2-Clause
/* APPLY calls that fail for some counters, and their effect on the others. */
#include "batch.h"
#include "case.h"

static void running_counter_is_not_programmed(void)
{
	u64 ctr, other;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	other = batch_ctr_beside(ctr, EVENT_CYCLES);
	slot_set(ctr, EVENT_DTLB_READ_MISS, FAR_VALUE);
	slot_set(other, EVENT_CYCLES, FAR_VALUE);
	batch_page()->load = BIT(ctr) | BIT(other);
	EXPECT_ERROR(batch_apply(0, BIT(ctr) | BIT(other), BIT(ctr) | BIT(other)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
	EXPECT_EQ(counted(other, 1000), 2000 + counted_extra);
	EXPECT_IN(ctr_value(ctr), 0, 100000);
	EXPECT_IN(ctr_value(other), FAR_VALUE, FAR_VALUE + 100000);
}

static void running_counter_keeps_its_event(void)
{
	u64 ctr, both;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	both = BIT(ctr) | BIT(CTR_CYCLE);
	EXPECT_OK(batch_apply(0, 0, both & ~BIT(ctr)));
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	slot_set(CTR_CYCLE, SBI_PMU_BATCH_NO_EVENT, 0);
	batch_page()->load = 0;
	EXPECT_ERROR(batch_apply(0, both, 0), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, both);
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
	EXPECT(is_running(CTR_CYCLE));
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
}

static void running_counter_is_not_loaded(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot(ctr)->value = FAR_VALUE;
	batch_page()->load = BIT(ctr);
	EXPECT_ERROR(batch_apply(0, 0, BIT(ctr)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	EXPECT_IN(ctr_value(ctr), 0, 100000);
	EXPECT(is_running(ctr));
}

static void what_can_not_be_counted_fails(ulong event, u64 data)
{
	u64 ctr, good;

	REQUIRE(batch_page_set());
	ctr = batch_ctr(EVENT_DTLB_READ_MISS);
	REQUIRE(ctr != ALL_ONES);
	good = batch_ctr_beside(ctr, EVENT_INSTRUCTIONS);
	slot_set(ctr, event, 0);
	slot(ctr)->event_data = data;
	slot_set(good, EVENT_INSTRUCTIONS, FAR_VALUE);
	batch_page()->load = BIT(good) | BIT(ctr);
	EXPECT_ERROR(batch_apply(0, BIT(ctr) | BIT(good), BIT(ctr) | BIT(good)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	EXPECT(is_running(good));
	EXPECT_IN(ctr_value(good), FAR_VALUE, FAR_VALUE + 100000);
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_OK(batch_apply(BIT(good), 0, 0));
}

static void event_that_can_not_be_counted_fails(void)
{
	static const ulong events[] = {
		EVENT_BPU_PREFETCH_MISS, EVENT_HW_BEYOND, EVENT_CACHE(7, 0, 0), EVENT(4, 0),
		EVENT_RAW | 1, EVENT_FW_SET_TIMER, BIT(20) | EVENT_CYCLES, 0xffffffff,
	};
	u64 i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		what_can_not_be_counted_fails(events[i], 0);
	what_can_not_be_counted_fails(EVENT_RAW, 0x1234);
}

static void fixed_counter_fails_another_event(void)
{
	REQUIRE(batch_page_set());
	slot_set(CTR_CYCLE, EVENT_INSTRUCTIONS, 0);
	slot_set(CTR_INSTRET, EVENT_DTLB_READ_MISS, 0);
	EXPECT_ERROR(batch_apply(FIXED_CTRS, FIXED_CTRS, FIXED_CTRS), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, FIXED_CTRS);
	EXPECT(!is_running(CTR_CYCLE));
	EXPECT(!is_running(CTR_INSTRET));
}

static void firmware_counter_fails_a_hardware_event(void)
{
	u64 fw = lowest(ctrs.fw);

	REQUIRE(batch_page_set());
	slot_set(fw, EVENT_CYCLES, 0);
	EXPECT_ERROR(batch_apply(0, BIT(fw), BIT(fw)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(fw));
	slot_set(fw, EVENT_FW_RESERVED, 0);
	EXPECT_ERROR(batch_apply(0, BIT(fw), BIT(fw)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(fw));
	EXPECT_ERROR(pmu_fw_read(fw), SBI_ERR_INVALID_PARAM);
}

static void failed_counter_has_lost_its_event(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, EVENT_BPU_PREFETCH_MISS, 0);
	EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)), SBI_ERR_FAILED);
	EXPECT(!is_running(ctr));
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_INVALID_PARAM);
}

static void failed_counter_is_not_loaded(void)
{
	u64 ctr, value;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 1000);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	value = ctr_value(ctr);
	slot_set(ctr, EVENT_BPU_PREFETCH_MISS, FAR_VALUE);
	EXPECT_ERROR(batch_apply(0, BIT(ctr), BIT(ctr)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	EXPECT_EQ(ctr_value(ctr), value);
}

/* To be read, the counter needs an event again. */
static void value_of_firmware_counter_is(u64 ctr, u64 value)
{
	slot_set(ctr, EVENT_FW_SET_TIMER, FAR_VALUE);
	EXPECT_OK(batch_apply(0, BIT(ctr), 0));
	EXPECT_EQ(pmu_fw_read(ctr).value, value);
}

static void failed_firmware_counter_is_not_loaded(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_FW_SET_TIMER, 7);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, EVENT_CYCLES, FAR_VALUE);
	EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	value_of_firmware_counter_is(ctr, 7);
}

static void firmware_counter_without_event_is_not_loaded(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_FW_SET_TIMER, 7);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, FAR_VALUE);
	EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	EXPECT_ERROR(batch_apply(0, 0, BIT(ctr)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	value_of_firmware_counter_is(ctr, 7);
}

/* A running counter, one without an event, and good ones of both types. */
static void what_did_not_fail_is_served(void)
{
	u64 running, none = lowest(ctrs.fw), hw, fw = none + 1, bad, good;

	REQUIRE(batch_page_set());
	running = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(running != ALL_ONES && ctrs.fw & BIT(fw));
	hw = batch_ctr_beside(running, EVENT_CYCLES);
	bad = BIT(running) | BIT(none);
	good = BIT(hw) | BIT(fw);
	slot_set(hw, EVENT_CYCLES, FAR_VALUE);
	slot_set(fw, EVENT_FW_SET_TIMER, FAR_VALUE);
	batch_page()->load = bad | good;
	EXPECT_ERROR(batch_apply(0, good, bad | good), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, bad);
	EXPECT_IN(ctr_value(hw), FAR_VALUE, FAR_VALUE + 100000);
	EXPECT_EQ(counted(hw, 1000), 2000 + counted_extra);
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(fw).value, FAR_VALUE + 1);
}

static void running_firmware_counter_fails(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_FW_SET_TIMER, 100);
	REQUIRE(ctr != ALL_ONES);
	slot(ctr)->value = 5;
	EXPECT_ERROR(batch_apply(0, 0, BIT(ctr)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	EXPECT_EQ(pmu_fw_read(ctr).value, 100);

	slot_set(ctr, EVENT_FW_IPI_SENT, 0);
	batch_page()->load = 0;
	EXPECT_ERROR(batch_apply(0, BIT(ctr), 0), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	EXPECT_ERROR(batch_apply(0, BIT(ctr), 0), SBI_ERR_FAILED);
	/* The counter continues to run with its event. */
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 101);
	/* A running counter in start_mask only is not an error. */
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
}

static void firmware_counter_without_event_fails(void)
{
	u64 fw = lowest(ctrs.fw);

	REQUIRE(batch_page_set());
	EXPECT_ERROR(batch_apply(0, 0, BIT(fw)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(fw));
}

#define NEEDS		NEEDS_BATCH
#define EXACT		(NEEDS_BATCH | NEEDS_ICOUNT)

const struct test_case batch_fail_cases[] = {
	{ "APPLY does not program a running counter, and handles the others",
	  running_counter_is_not_programmed, EXACT },
	{ "APPLY does not remove the event of a running counter",
	  running_counter_keeps_its_event, EXACT },
	{ "APPLY does not load a running counter", running_counter_is_not_loaded, EXACT },
	{ "APPLY reports events that cannot be counted, and handles the others",
	  event_that_can_not_be_counted_fails, NEEDS },
	{ "APPLY gives cycle and instret no other event",
	  fixed_counter_fails_another_event, NEEDS },
	{ "APPLY gives a firmware counter no hardware event",
	  firmware_counter_fails_a_hardware_event, NEEDS },
	{ "APPLY leaves a counter that failed stopped and without an event",
	  failed_counter_has_lost_its_event, NEEDS | NEEDS_SSCOFPMF },
	{ "APPLY does not load a counter that failed", failed_counter_is_not_loaded, EXACT },
	{ "APPLY does not load a firmware counter that failed",
	  failed_firmware_counter_is_not_loaded, NEEDS },
	{ "APPLY does not load a firmware counter without an event",
	  firmware_counter_without_event_is_not_loaded, NEEDS },
	{ "APPLY programs, loads and starts counters that have not failed", what_did_not_fail_is_served,
	  EXACT },
	{ "APPLY does not load or program a running firmware counter",
	  running_firmware_counter_fails, NEEDS },
	{ "APPLY does not start a firmware counter without an event",
	  firmware_counter_without_event_fails, NEEDS },
	CASES_END
};
