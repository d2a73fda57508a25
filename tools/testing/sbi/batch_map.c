// SPDX-License-Identifier: BSD-2-Clause
/*
 * MAP_EVENTS: events for which the firmware has no map. A map stays until the machine is reset, so
 * each case uses events of its own, which no case of another file expects to be missing.
 */
#include "batch.h"
#include "case.h"

/* QEMU's selector, and the model's. */
#define SELECTOR_INSTRUCTIONS	2

#define EVENT_HW(code)		EVENT(0, code)
#define RAW_SETS		0x120000ULL
#define RAW_SINGLE		0x340000ULL
#define RAW_MANY		0x560000ULL
#define RAW_FREE		0x780000ULL

static struct sbiret map_events(u64 slots)
{
	return sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_MAP_EVENTS, slots, high_half(slots), 0);
}

static void map_slot(u64 i, ulong event, u64 selector, u64 mask, u64 able)
{
	slot(i)->event_idx = event;
	slot(i)->value = selector;
	slot(i)->event_data = mask;
	slot(i)->flags = able;
}

/* The counters of one event, none if RESOLVE says that there are none. */
static u64 resolved(ulong event, u64 data)
{
	return batch_resolve(event, data).error ? 0 : batch_page()->ctrs;
}

static void mapped_event_counts(void)
{
	u64 ctr = lowest(ctrs.prog);
	ulong event = EVENT_HW(3);

	REQUIRE(batch_page_set());
	REQUIRE(!resolved(event, 0));
	/* event_data is for raw events only, and bits above 31 of the mask are slots, too. */
	map_slot(40, event, SELECTOR_INSTRUCTIONS, ALL_ONES_64, BIT(ctr));
	EXPECT_OK(map_events(BIT(40)));
	EXPECT_EQ(resolved(event, 0), BIT(ctr));
	EXPECT_OK(pmu_match(ctr, 1, 0, event, 0));
	pmu_stop(ctr, 1, PMU_STOP_RESET);
	EXPECT_ERROR(pmu_match(ctr + 1, 1, 0, event, 0), SBI_ERR_NOT_SUPPORTED);

	slot_set(ctr, event, 0);
	EXPECT_OK(batch_apply(0, BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void mapped_event_leaves_firmware_out(void)
{
	u64 ctr = lowest(ctrs.prog), before;
	ulong event = EVENT_HW(4);

	REQUIRE(batch_page_set());
	map_slot(0, event, SELECTOR_INSTRUCTIONS, 0, ctrs.prog);
	EXPECT_OK(map_events(1));
	EXPECT_EQ(resolved(event, 0), ctrs.prog);
	slot_set(ctr, event, 0);
	EXPECT_OK(batch_apply(0, BIT(ctr), BIT(ctr)));
	before = ctr_value(ctr);
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);
	EXPECT_IN(ctr_value(ctr) - before, 4, between_calls);
}

static void sets_of_raw_events_are_mapped(void)
{
	u64 able = BIT(lowest(ctrs.prog));

	REQUIRE(batch_page_set());
	REQUIRE(!resolved(EVENT_RAW, RAW_SETS | 0x34));
	map_slot(0, EVENT_RAW, RAW_SETS, ~0xffULL, able);
	EXPECT_OK(map_events(1));
	EXPECT_EQ(resolved(EVENT_RAW, RAW_SETS), able);
	EXPECT_EQ(resolved(EVENT_RAW, RAW_SETS | 0xff), able);
	EXPECT_EQ(resolved(EVENT_RAW_V2, RAW_SETS | 0x34), able);
	EXPECT_EQ(resolved(EVENT_RAW, RAW_SETS | 0x100), 0);
}

/* Events of the platform, and events that were mapped before. */
static void existing_map_is_kept(void)
{
	u64 able = BIT(lowest(ctrs.prog)), other = able << 1;
	u64 before;

	REQUIRE(batch_page_set());
	before = resolved(EVENT_DTLB_READ_MISS, 0);
	map_slot(0, EVENT_HW(5), SELECTOR_INSTRUCTIONS, 0, able);
	map_slot(1, EVENT_RAW, RAW_SINGLE | 5, ALL_ONES_64, able);
	EXPECT_OK(map_events(3));

	map_slot(0, EVENT_HW(5), SELECTOR_INSTRUCTIONS, 0, other);
	map_slot(1, EVENT_DTLB_READ_MISS, SELECTOR_INSTRUCTIONS, 0, other);
	map_slot(2, EVENT_CYCLES, SELECTOR_INSTRUCTIONS, 0, other);
	map_slot(3, EVENT_RAW, RAW_SINGLE | 5, ALL_ONES_64, other);
	/* A set that has the event above. */
	map_slot(4, EVENT_RAW, RAW_SINGLE, ~0xffULL, other);
	/* The same slot twice: the second is late. */
	map_slot(5, EVENT_HW(6), SELECTOR_INSTRUCTIONS, 0, able);
	map_slot(6, EVENT_HW(6), SELECTOR_INSTRUCTIONS, 0, other);
	EXPECT_ERROR(map_events(0x7f), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, 0x5f);
	EXPECT_EQ(resolved(EVENT_HW(5), 0), able);
	EXPECT_EQ(resolved(EVENT_HW(6), 0), able);
	EXPECT_EQ(resolved(EVENT_DTLB_READ_MISS, 0), before);
	EXPECT_EQ(resolved(EVENT_RAW, RAW_SINGLE | 5), able);
	EXPECT_EQ(resolved(EVENT_RAW, RAW_SINGLE | 4), 0);
}

static void bad_slots_fail(void)
{
	u64 able = ctrs.prog;
	const struct {
		ulong event;
		u64 selector, mask, able;
	} bad[] = {
		{ EVENT_NONE, 1, 0, able },
		{ EVENT_HW_BEYOND, 1, 0, able },
		{ EVENT_CACHE(7, 0, 0), 1, 0, able },
		{ EVENT_FW_SET_TIMER, 1, 0, able },
		{ EVENT_FW_PLATFORM, 1, 0, able },
		{ EVENT_RAW | 1, RAW_SINGLE | 2, ALL_ONES_64, able },
		{ EVENT_RAW_V2, RAW_SINGLE | 2, ALL_ONES_64, able },
		{ BIT(20) | EVENT_HW(7), 1, 0, able },
		{ EVENT_HW(7), 0, 0, able },
		{ EVENT_HW(7), BIT(56) | 1, 0, able },
		{ EVENT_HW(7), BIT(63) | 1, 0, able },
		{ EVENT_HW(7), 1, 0, 0 },
		{ EVENT_HW(7), 1, 0, able | BIT(CTR_CYCLE) },
		{ EVENT_HW(7), 1, 0, BIT(CTR_TIME) },
		{ EVENT_HW(7), 1, 0, BIT(31) },
		{ EVENT_RAW, RAW_SINGLE | 2, 0, able },
		{ EVENT_RAW, RAW_FREE | 2, ~2ULL, able },
		{ EVENT_RAW, BIT(62) | RAW_SINGLE, ALL_ONES_64, able },
		{ EVENT_RAW, RAW_SINGLE | 2, ALL_ONES_64, BIT(CTR_INSTRET) },
	};
	u64 i, last = ARRAY_SIZE(bad);

	REQUIRE(batch_page_set());
	REQUIRE(!(ctrs.hw & BIT(31)));
	for (i = 0; i < last; i++)
		map_slot(i, bad[i].event, bad[i].selector, bad[i].mask, bad[i].able);
	/* A bad slot does not affect others. */
	map_slot(last, EVENT_HW(8), 1, 0, able);
	EXPECT_ERROR(map_events(BIT(last + 1) - 1), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(last) - 1);
	EXPECT_EQ(resolved(EVENT_HW(7), 0), 0);
	EXPECT_EQ(resolved(EVENT_RAW, RAW_SINGLE | 2), 0);
	EXPECT_EQ(resolved(EVENT_HW(8), 0), able);
}

static void all_slots_are_mapped_by_one_call(void)
{
	u64 i;

	REQUIRE(batch_page_set());
	for (i = 0; i < 64; i++)
		map_slot(i, EVENT_RAW, RAW_MANY + i, ALL_ONES_64, ctrs.prog);
	EXPECT_OK(map_events(ALL_ONES_64));
	EXPECT_EQ(batch_page()->failed, 0);
	for (i = 0; i < 64; i++)
		EXPECT_EQ(resolved(EVENT_RAW, RAW_MANY + i), ctrs.prog);
	EXPECT_EQ(resolved(EVENT_RAW, RAW_MANY + 64), 0);
}

static void counter_in_use_is_left_alone(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	map_slot(0, EVENT_INSTRUCTIONS, 1, 0, ctrs.prog);
	map_slot(1, EVENT_HW(9), 1, 0, ctrs.prog);
	EXPECT_ERROR(map_events(3), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, 1);
	EXPECT(is_running(ctr));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void needs_a_page(void)
{
	EXPECT_OK(batch_set_shmem(ALL_ONES, ALL_ONES, 0));
	EXPECT_ERROR(map_events(0), SBI_ERR_NO_SHMEM);
	EXPECT_ERROR(map_events(ALL_ONES_64), SBI_ERR_NO_SHMEM);
}

static void writes_failed_only(void)
{
	REQUIRE(batch_page_set());
	batch_page_mark();
	EXPECT_OK(map_events(0));
	EXPECT_EQ(batch_page()->failed, 0);
	EXPECT_EQ(batch_page_changes(), 1);
	/* A slot of MARK is not valid. */
	EXPECT_ERROR(map_events(BIT(63)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(63));
	EXPECT_EQ(batch_page_changes(), 1);
}

static void page_without_memory_faults(void)
{
	if (batch_set_shmem(ADDRESS_NOTHING, 0, 0).error) {
		tap_skip("this firmware refuses the page");
		return;
	}
	EXPECT_ERROR(map_events(0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(map_events(1), SBI_ERR_INVALID_ADDRESS);
	EXPECT_OK(batch_set_shmem(ALL_ONES, ALL_ONES, 0));
}

#define NEEDS		NEEDS_MAP
#define EXACT		(NEEDS_MAP | NEEDS_ICOUNT)

const struct test_case batch_map_cases[] = {
	{ "MAP_EVENTS maps an event, which then counts", mapped_event_counts, EXACT },
	{ "MAP_EVENTS maps an event that does not count the firmware", mapped_event_leaves_firmware_out,
	  EXACT | NEEDS_SSCOFPMF },
	{ "MAP_EVENTS maps sets of raw events", sets_of_raw_events_are_mapped, NEEDS },
	{ "MAP_EVENTS changes no event that has a map", existing_map_is_kept, NEEDS },
	{ "MAP_EVENTS refuses bad slots, and maps the others", bad_slots_fail, NEEDS },
	{ "MAP_EVENTS maps 64 slots by one call", all_slots_are_mapped_by_one_call, NEEDS },
	{ "MAP_EVENTS changes no counter that is in use", counter_in_use_is_left_alone, EXACT },
	{ "MAP_EVENTS needs a page", needs_a_page, NEEDS },
	{ "MAP_EVENTS writes failed only", writes_failed_only, NEEDS },
	{ "MAP_EVENTS returns INVALID_ADDRESS if the page has no memory", page_without_memory_faults,
	  NEEDS },
	CASES_END
};
