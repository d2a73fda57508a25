// SPDX-License-Identifier: BSD-2-Clause
/* Firmware events. */
#include "case.h"
#include "pmu.h"

/* Requests an SFENCE.VMA on this hart, which counts as received. */
static void sfence_vma(void)
{
	sbi_call6(SBI_EXT_RFENCE, SBI_RFENCE_SFENCE_VMA, 0, ALL_ONES, 0, ALL_ONES, 0, 0);
}

static u64 started(ulong event)
{
	u64 ctr = fw_ctr_for(event);

	if (ctr != ALL_ONES)
		pmu_start(ctr, 1, 0, 0);
	return ctr;
}

static void counts_its_event(void)
{
	u64 ctr = started(EVENT_FW_SET_TIMER), i;

	REQUIRE(ctr != ALL_ONES);
	for (i = 1; i <= 10; i++) {
		sbi_set_timer(ALL_ONES_64);
		EXPECT_EQ(pmu_fw_read(ctr).value, i);
	}
}

static void counts_no_other_event(void)
{
	u64 ctr = started(EVENT_FW_SFENCE_VMA_RECEIVED);

	REQUIRE(ctr != ALL_ONES);
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 0);
	sfence_vma();
	EXPECT_EQ(pmu_fw_read(ctr).value, 1);
}

static void counts_while_started_only(void)
{
	u64 ctr = fw_ctr_for(EVENT_FW_SET_TIMER);

	REQUIRE(ctr != ALL_ONES);
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 0);
	EXPECT_OK(pmu_start(ctr, 1, 0, 0));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 1);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, ALL_ONES_64));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 0);
}

static void all_counters_of_an_event_count(void)
{
	u64 a = started(EVENT_FW_SET_TIMER), b = started(EVENT_FW_SET_TIMER);
	u64 c = started(EVENT_FW_SET_TIMER), i;

	REQUIRE(a != ALL_ONES && b != ALL_ONES && c != ALL_ONES);
	EXPECT(a != b && b != c);
	for (i = 0; i < 5; i++)
		sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(a).value, 5);
	EXPECT_EQ(pmu_fw_read(b).value, 5);
	EXPECT_EQ(pmu_fw_read(c).value, 5);
}

static void every_firmware_counter_counts(void)
{
	u64 i;

	for (i = 0; i < ctrs.nr; i++) {
		if (!(ctrs.fw & BIT(i)))
			continue;
		EXPECT_OK(pmu_match(i, 1, PMU_CFG_CLEAR_VALUE | PMU_CFG_AUTO_START,
				    EVENT_FW_SET_TIMER, 0));
		sbi_set_timer(ALL_ONES_64);
		EXPECT_EQ(pmu_fw_read(i).value, 1);
		EXPECT_OK(pmu_stop(i, 1, PMU_STOP_RESET));
	}
}

static void counters_run_out(void)
{
	u64 i;

	for (i = 0; i < ctrs.nr; i++)
		if (ctrs.fw & BIT(i))
			EXPECT(fw_ctr_for(EVENT_FW_IPI_SENT) != ALL_ONES);
	EXPECT_ERROR(pmu_match(0, ctrs.fw, 0, EVENT_FW_IPI_SENT, 0), SBI_ERR_NOT_SUPPORTED);
}

/* Hardware events 1 and 2 have the codes of firmware events. */
static void codes_do_not_mix(void)
{
	u64 hw = ctr_for(EVENT_INSTRUCTIONS, 0);
	u64 fw = started(EVENT_FW(2)), other = started(EVENT_FW(1));

	REQUIRE(hw != ALL_ONES && fw != ALL_ONES && other != ALL_ONES);
	pmu_start(hw, 1, PMU_START_SET_INIT_VALUE, 0);
	loop_for(1000);
	sbi_set_timer(ALL_ONES_64);
	sfence_vma();
	EXPECT_EQ(pmu_fw_read(fw).value, 0);
	EXPECT_EQ(pmu_fw_read(other).value, 0);
	EXPECT_EQ(counted(hw, 1000), 2000 + counted_extra);
}

/* QEMU's machine has no platform-specific firmware events. */
static void platform_events_are_refused(void)
{
	struct sbiret ret = pmu_match(0, ctrs.fw, 0, EVENT_FW_PLATFORM, 1);

	EXPECT(ret.error < 0);
}

const struct test_case firmware_event_cases[] = {
	{ "a firmware counter counts its event", counts_its_event, 0 },
	{ "a firmware counter counts no other event", counts_no_other_event, 0 },
	{ "a firmware counter counts only while it is started", counts_while_started_only, 0 },
	{ "all firmware counters of one event count it", all_counters_of_an_event_count, 0 },
	{ "every firmware counter counts", every_firmware_counter_counts, 0 },
	{ "firmware counters run out one by one", counters_run_out, 0 },
	{ "hardware and firmware events with the same code are separate", codes_do_not_mix, NEEDS_ICOUNT },
	{ "a platform firmware event is refused if the platform has none",
	  platform_events_are_refused, 0 },
	CASES_END
};
