// SPDX-License-Identifier: BSD-2-Clause
/* EVENT_GET_INFO. */
#include "case.h"
#include "pmu.h"

#define MARK	0xfffffffeU

static struct pmu_event_info *entries(void)
{
	return (struct pmu_event_info *)SHARED;
}

static void set_entry(u64 i, u32 event, u64 data)
{
	entries()[i] = (struct pmu_event_info){ event, MARK, data };
}

/* The output for EVENT, or ALL_ONES after an error. */
static u64 output_of(u32 event, u64 data)
{
	set_entry(0, event, data);
	if (pmu_event_info(SHARED, 0, 1, 0).error)
		return ALL_ONES;
	return entries()[0].output;
}

static void supported_events_are_told(void)
{
	EXPECT_EQ(output_of(EVENT_CYCLES, 0), 1);
	EXPECT_EQ(output_of(EVENT_INSTRUCTIONS, 0), 1);
	EXPECT_EQ(output_of(EVENT_DTLB_READ_MISS, 0), 1);
	EXPECT_EQ(output_of(EVENT_DTLB_WRITE_MISS, 0), 1);
	EXPECT_EQ(output_of(EVENT_ITLB_READ_MISS, 0), 1);
}

static void unsupported_events_are_told(void)
{
	EXPECT_EQ(output_of(EVENT_BPU_PREFETCH_MISS, 0), 0);
	EXPECT_EQ(output_of(EVENT(0, 5), 0), 0);
	EXPECT_EQ(output_of(EVENT_RAW, 1), 0);
	EXPECT_EQ(output_of(EVENT_RAW_V2, 1), 0);
}

static void firmware_events_are_told(void)
{
	u32 code;

	for (code = 0; code < 22; code++)
		EXPECT_EQ(output_of(EVENT_FW(code), 0), 1);
}

/* The specification has an error for these; output "unsupported" is accepted, too. */
static void malformed_events_are_not_supported(void)
{
	static const u32 events[] = {
		EVENT_NONE, EVENT_HW_BEYOND, EVENT_CACHE(7, 0, 0), EVENT_RAW | 1, EVENT(4, 0),
		EVENT_FW_RESERVED, EVENT_FW(255), BIT(20) | EVENT_CYCLES,
		BIT(31) | EVENT_FW_SET_TIMER,
	};
	u64 i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		struct sbiret ret;

		set_entry(0, events[i], 0);
		ret = pmu_event_info(SHARED, 0, 1, 0);
		if (ret.error)
			EXPECT_EQ(ret.error, SBI_ERR_INVALID_PARAM);
		else
			EXPECT_EQ(entries()[0].output, 0);
	}
}

static void many_entries_are_served_and_no_more(void)
{
	u64 i;

	for (i = 0; i < 256; i++)
		set_entry(i, i % 2 ? EVENT_CYCLES : EVENT_BPU_PREFETCH_MISS, 0);
	EXPECT_OK(pmu_event_info(SHARED, 0, 255, 0));
	for (i = 0; i < 255; i++) {
		EXPECT_EQ(entries()[i].output, i % 2);
		EXPECT_EQ(entries()[i].event_data, 0);
	}
	EXPECT_EQ(entries()[255].output, MARK);
}

/*
 * With Smepmp the firmware may map a list by one naturally aligned range of a power of
 * two. For a list that crosses the middle of the memory's first 128 MiB this would be all
 * of them, so that the firmware could not execute its own code.
 */
static void entries_may_lie_anywhere(void)
{
	struct pmu_event_info *entry = (struct pmu_event_info *)(ADDRESS_MIDDLE - 4 * sizeof(*entry));
	u64 i;

	for (i = 0; i < 8; i++)
		entry[i] = (struct pmu_event_info){ EVENT_CYCLES, MARK, 0 };
	EXPECT_OK(pmu_event_info((ulong)entry, 0, 8, 0));
	for (i = 0; i < 8; i++)
		EXPECT_EQ(entry[i].output, 1);
}

/* 4096 entries take 64 KiB. Firmware may accept more, but must accept 4096. */
static void number_of_entries_is_bounded(void)
{
	struct pmu_event_info *entry = (struct pmu_event_info *)ADDRESS_MIDDLE;
	struct sbiret ret;

	entry[0] = (struct pmu_event_info){ EVENT_CYCLES, MARK, 0 };
	ret = pmu_event_info(ADDRESS_MIDDLE, 0, 4097, 0);
	EXPECT(ret.error == SBI_SUCCESS || ret.error == SBI_ERR_FAILED);
	EXPECT_EQ(entry[0].output, ret.error ? MARK : 1);
	entry[0] = (struct pmu_event_info){ EVENT_CYCLES, MARK, 0 };
	entry[4095] = (struct pmu_event_info){ EVENT_CYCLES, MARK, 0 };
	entry[4096] = (struct pmu_event_info){ EVENT_CYCLES, MARK, 0 };
	EXPECT_OK(pmu_event_info(ADDRESS_MIDDLE, 0, 4096, 0));
	EXPECT_EQ(entry[0].output, 1);
	EXPECT_EQ(entry[4095].output, 1);
	EXPECT_EQ(entry[4096].output, MARK);
}

static void info_agrees_with_match(void)
{
	ulong event;

	for (event = 1; event < EVENT_CACHE(7, 0, 0); event++) {
		struct sbiret ret;

		if (event == EVENT_HW_BEYOND)
			event = EVENT_CACHE(0, 0, 0);
		/* There are only three operations. */
		if ((event & 7) >= 6 && event >= EVENT_CACHE(0, 0, 0))
			continue;
		ret = pmu_match(0, ctrs.hw, 0, event, 0);
		EXPECT_EQ(output_of(event, 0), ret.error == SBI_SUCCESS);
		if (!ret.error)
			pmu_stop(ret.value, 1, PMU_STOP_RESET);
	}
}

static void info_changes_no_counter(void)
{
	u64 ctr = ctr_for(EVENT_INSTRUCTIONS, 0);

	REQUIRE(ctr != ALL_ONES);
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0);
	EXPECT_EQ(output_of(EVENT_INSTRUCTIONS, 0), 1);
	EXPECT(is_running(ctr));
}

static void bad_arguments_are_refused(void)
{
	u64 off;

	set_entry(0, EVENT_CYCLES, 0);
	for (off = 1; off < 16; off++)
		EXPECT_ERROR(pmu_event_info(SHARED + off, 0, 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_event_info(SHARED, 0, 1, 1), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(pmu_event_info(SHARED, 0, 1, BIT(XLEN - 1)), SBI_ERR_INVALID_PARAM);
	EXPECT_EQ(entries()[0].output, MARK);
}

static void foreign_memory_is_refused(void)
{
	set_entry(0, EVENT_CYCLES, 0);
	EXPECT_ERROR(pmu_event_info(ADDRESS_FIRMWARE, 0, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_event_info(ADDRESS_FIRMWARE + 0x10000, 0, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_event_info(SHARED, 1, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(pmu_event_info(SHARED, ALL_ONES, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_EQ(entries()[0].output, MARK);
}

static void devices_are_refused(void)
{
	EXPECT_ERROR(pmu_event_info(ADDRESS_UART, 0, 1, 0), SBI_ERR_INVALID_ADDRESS);
}

#define NEEDS	NEEDS_EVENT_INFO

const struct test_case event_info_cases[] = {
	{ "EVENT_GET_INFO reports supported events", supported_events_are_told, NEEDS },
	{ "EVENT_GET_INFO says which events there are not", unsupported_events_are_told, NEEDS },
	{ "EVENT_GET_INFO says that there are firmware events", firmware_events_are_told, NEEDS },
	{ "EVENT_GET_INFO supports no malformed event", malformed_events_are_not_supported, NEEDS },
	{ "EVENT_GET_INFO writes the given number of entries, and no more",
	  many_entries_are_served_and_no_more, NEEDS },
	{ "EVENT_GET_INFO accepts 4096 entries, and accepts or refuses 4097",
	  number_of_entries_is_bounded, NEEDS },
	{ "EVENT_GET_INFO serves entries that cross a high power of two",
	  entries_may_lie_anywhere, NEEDS },
	{ "EVENT_GET_INFO and a match agree on every event", info_agrees_with_match, NEEDS },
	{ "EVENT_GET_INFO changes no counter", info_changes_no_counter, NEEDS },
	{ "EVENT_GET_INFO refuses unaligned memory and flags", bad_arguments_are_refused, NEEDS },
	{ "EVENT_GET_INFO refuses memory of the firmware, or beyond XLEN",
	  foreign_memory_is_refused, NEEDS },
	{ "EVENT_GET_INFO refuses a device's registers", devices_are_refused, NEEDS },
	CASES_END
};
