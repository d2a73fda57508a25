// SPDX-License-Identifier: BSD-2-Clause
/* The PMU batch extension: Documentation/arch/riscv/sbi-pmu-batch.rst. */
#include "batch.h"
#include "case.h"
#include "fdt.h"

_Static_assert(sizeof(struct sbi_pmu_batch_shmem) <= SBI_PMU_BATCH_SHMEM_SIZE,
	       "the shared page has 4096 bytes");

bool batch_page_set(void)
{
	volatile u64 *word = (volatile u64 *)BATCH_SHARED;
	u64 i;

	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		word[i] = 0;
	return batch_set_shmem(BATCH_SHARED, 0, 0).error == SBI_SUCCESS;
}

bool batch_page_is_in_use(void)
{
	batch_page()->failed = MARK;
	return batch_apply(0, 0, 0).error == SBI_SUCCESS && !batch_page()->failed;
}

void batch_page_mark(void)
{
	volatile u64 *word = (volatile u64 *)BATCH_SHARED;
	u64 i;

	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		word[i] = MARK;
}

u64 batch_page_changes(void)
{
	volatile u64 *word = (volatile u64 *)BATCH_SHARED;
	u64 i, changes = 0;

	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		changes += word[i] != MARK;
	return changes;
}

void slot_set(u64 ctr, ulong event, u64 value)
{
	slot(ctr)->event_idx = event;
	slot(ctr)->event_data = 0;
	slot(ctr)->flags = 0;
	slot(ctr)->value = value;
}

bool has_fixed_counter_only(ulong event)
{
	return !scountovf_is_readable() && (event == EVENT_CYCLES || event == EVENT_INSTRUCTIONS);
}

u64 batch_ctr(ulong event)
{
	u64 able;

	if (batch_resolve(event, 0).error)
		return ALL_ONES;
	if (has_fixed_counter_only(event))
		return event == EVENT_CYCLES ? CTR_CYCLE : CTR_INSTRET;
	able = batch_page()->ctrs & ctrs.prog;
	return able ? lowest(able) : ALL_ONES;
}

u64 batch_ctr_beside(u64 ctr, ulong event)
{
	return has_fixed_counter_only(event) ? batch_ctr(event) : ctr + 1;
}

u64 batch_start(ulong event, u64 value)
{
	u64 ctr = event >= EVENT_FW(0) ? lowest(ctrs.fw) : batch_ctr(event);

	if (ctr == ALL_ONES)
		return ctr;
	slot_set(ctr, event, value);
	batch_page()->load = BIT(ctr);
	return batch_apply(0, BIT(ctr), BIT(ctr)).error ? ALL_ONES : ctr;
}

/* --- the calls ---------------------------------------------------------------- */

static void extension_is_there(void)
{
	if (!bootarg_has("batch")) {
		tap_skip("the boot arguments do not have \"batch\"");
		return;
	}
	EXPECT(sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_PMU_BATCH, 0, 0).value);
}

/* Version 0.9 is the same without MAP_EVENTS. */
static void version_is_known(void)
{
	bool has_map = batch_version() == SBI_PMU_BATCH_VERSION_0_10;

	if (bootarg_has("map"))
		EXPECT(has_map);
	if (has_map)
		return;
	EXPECT_EQ(batch_version(), SBI_PMU_BATCH_VERSION_0_9);
	REQUIRE(batch_page_set());
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_MAP_EVENTS, 0, 0, 0), SBI_ERR_NOT_SUPPORTED);
}

static void other_functions_are_refused(void)
{
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU_BATCH, 5, 1, 2, 3), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU_BATCH, BIT(XLEN / 2), 1, 2, 3), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU_BATCH, ALL_ONES, 1, 2, 3), SBI_ERR_NOT_SUPPORTED);
}

static void bad_page_is_refused(void)
{
	EXPECT_ERROR(batch_set_shmem(BATCH_SHARED, 0, 1), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_set_shmem(BATCH_SHARED, 0, BIT(XLEN - 1)), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_set_shmem(BATCH_SHARED + 8, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_set_shmem(BATCH_SHARED + 2048, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_set_shmem(ALL_ONES, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_set_shmem(0, ALL_ONES, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(batch_set_shmem(BATCH_SHARED, 1, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(batch_set_shmem(ADDRESS_FIRMWARE, 0, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(batch_set_shmem(ADDRESS_FIRMWARE + 0x10000, 0, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(batch_set_shmem(ADDRESS_UART, 0, 0), SBI_ERR_INVALID_ADDRESS);
}

static void calls_need_a_page(void)
{
	EXPECT_ERROR(batch_apply(0, 0, 0), SBI_ERR_NO_SHMEM);
	EXPECT_ERROR(batch_resolve(EVENT_CYCLES, 0), SBI_ERR_NO_SHMEM);
	REQUIRE(batch_page_set());
	EXPECT_OK(batch_apply(0, 0, 0));
	EXPECT_OK(batch_resolve(EVENT_CYCLES, 0));
	EXPECT_OK(batch_set_shmem(ALL_ONES, ALL_ONES, 0));
	EXPECT_ERROR(batch_apply(0, 0, 0), SBI_ERR_NO_SHMEM);
	EXPECT_ERROR(batch_resolve(EVENT_CYCLES, 0), SBI_ERR_NO_SHMEM);
}

static void want_of_a_page_comes_first(void)
{
	EXPECT_ERROR(batch_apply(BIT(63), 0, 0), SBI_ERR_NO_SHMEM);
	EXPECT_ERROR(batch_apply(0, BIT(63), 0), SBI_ERR_NO_SHMEM);
	EXPECT_ERROR(batch_apply(0, 0, BIT(63)), SBI_ERR_NO_SHMEM);
	EXPECT_ERROR(batch_resolve(ALL_ONES, ALL_ONES_64), SBI_ERR_NO_SHMEM);
	EXPECT_ERROR(batch_resolve(EVENT_BPU_PREFETCH_MISS, 0), SBI_ERR_NO_SHMEM);
}

static void errors_of_a_page_have_an_order(void)
{
	REQUIRE(batch_page_set());
	EXPECT_ERROR(batch_set_shmem(ALL_ONES, ALL_ONES, 1), SBI_ERR_INVALID_PARAM);
	EXPECT(batch_page_is_in_use());
	EXPECT_ERROR(batch_set_shmem(ADDRESS_FIRMWARE, 0, 1), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_set_shmem(ADDRESS_FIRMWARE + 8, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_set_shmem(BATCH_SHARED + 8, 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT(batch_page_is_in_use());
}

static void counter_that_is_not_there_stops_it_all(void)
{
	u64 bad[] = { BIT(CTR_TIME), BIT(ctrs.nr), BIT(63), ALL_ONES_64 };
	u64 ctr, i;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr + 1, EVENT_CYCLES, 0);
	batch_page()->load = ALL_ONES_64;
	batch_page()->failed = MARK;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_ERROR(batch_apply(BIT(ctr) | bad[i], 0, 0), SBI_ERR_INVALID_PARAM);
		EXPECT_ERROR(batch_apply(BIT(ctr), bad[i], 0), SBI_ERR_INVALID_PARAM);
		EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr + 1), bad[i]), SBI_ERR_INVALID_PARAM);
		EXPECT(is_running(ctr));
		EXPECT_EQ(batch_page()->failed, MARK);
	}
	EXPECT_ERROR(pmu_start(ctr + 1, 1, 0, 0), SBI_ERR_INVALID_PARAM);
}

/* --- effects of APPLY ----------------------------------------------------------- */

static void programs_loads_and_starts(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 1000000);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_IN(ctr_value(ctr), 1000000, 1000000 + between_calls);
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void loads_what_is_started_only(void)
{
	u64 ctr, value;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 500);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	value = ctr_value(ctr);
	slot(ctr)->value = BIT(60);
	batch_page()->load = ALL_ONES_64;
	EXPECT_OK(batch_apply(0, 0, 0));
	EXPECT_EQ(ctr_value(ctr), value);
	batch_page()->load = 0;
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT_IN(ctr_value(ctr), value, value + between_calls);
	EXPECT(is_running(ctr));
}

static void stops_and_starts_twice_without_error(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	batch_page()->load = 0;
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT(is_running(ctr));
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT(!is_running(ctr));
}

static void starts_all_at_one_instant(void)
{
	/* Without Smcntrpmf, these count a part of the firmware in each call. */
	u64 both = FIXED_CTRS, i, between = machine.smcntrpmf ? between_calls : 4096;

	REQUIRE(batch_page_set());
	slot_set(CTR_CYCLE, EVENT_CYCLES, 1000);
	slot_set(CTR_INSTRET, EVENT_INSTRUCTIONS, 1000);
	batch_page()->load = both;
	/* The counters run from boot, unless the harness has stopped them. */
	EXPECT_OK(batch_apply(both, both, 0));
	for (i = 0; i < 10; i++) {
		EXPECT_OK(batch_apply(0, 0, both));
		loop_for(100 * i);
		EXPECT_OK(batch_apply(both, 0, 0));
		EXPECT_EQ(ctr_value(CTR_CYCLE), ctr_value(CTR_INSTRET));
		EXPECT_IN(ctr_value(CTR_CYCLE), 1000 + 200 * i,
			  1000 + 200 * i + between);
	}
}

static void programmable_counters_start_at_one_instant(void)
{
	u64 a, b, both;

	REQUIRE(batch_page_set());
	a = batch_ctr(EVENT_CYCLES);
	b = a + 1;
	both = BIT(a) | BIT(b);
	REQUIRE(a != ALL_ONES && ctrs.prog & BIT(b));
	slot_set(a, EVENT_CYCLES, 7);
	slot_set(b, EVENT_INSTRUCTIONS, 7);
	batch_page()->load = both;
	EXPECT_OK(batch_apply(0, both, both));
	loop_for(1000);
	EXPECT_OK(batch_apply(both, 0, 0));
	EXPECT_EQ(ctr_value(a), ctr_value(b));
	EXPECT_IN(ctr_value(a), 2007, 2007 + between_calls);
}

/* An event moves from one counter to another in one call. */
static void event_moves_in_one_call(void)
{
	u64 a, b, both;

	REQUIRE(batch_page_set());
	a = batch_ctr(EVENT_INSTRUCTIONS);
	b = a + 1;
	both = BIT(a) | BIT(b);
	REQUIRE(a != ALL_ONES && ctrs.prog & BIT(b));
	slot_set(a, EVENT_INSTRUCTIONS, 0);
	slot_set(b, EVENT_DTLB_READ_MISS, 0);
	batch_page()->load = both;
	EXPECT_OK(batch_apply(0, both, both));
	EXPECT_EQ(counted(a, 1000), 2000 + counted_extra);
	slot_set(a, EVENT_DTLB_READ_MISS, 0);
	slot_set(b, EVENT_INSTRUCTIONS, 0);
	EXPECT_OK(batch_apply(both, both, both));
	EXPECT_EQ(counted(a, 1000), 0);
	EXPECT_EQ(counted(b, 1000), 2000 + counted_extra);
}

static void programs_another_event(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_DTLB_READ_MISS, 0);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_EQ(counted(ctr, 1000), 0);
	slot_set(ctr, EVENT_INSTRUCTIONS, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
	/* And back: the counter must not count instructions any more. */
	slot_set(ctr, EVENT_DTLB_READ_MISS, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 0);
}

static void no_event_forgets(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_DTLB_READ_MISS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_OK(pmu_match(ctr, 1, 0, EVENT_DTLB_READ_MISS, 0));
}

static void no_event_forgets_a_firmware_event(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_FW_SET_TIMER, 0);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, SBI_PMU_BATCH_NO_EVENT, 0);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	EXPECT_ERROR(pmu_fw_read(ctr), SBI_ERR_INVALID_PARAM);
}

static void serves_firmware_counters(void)
{
	u64 ctr, i;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_FW_SET_TIMER, 100);
	REQUIRE(ctr != ALL_ONES);
	for (i = 0; i < 3; i++)
		sbi_set_timer(ALL_ONES_64);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT_EQ(pmu_fw_read(ctr).value, 103);
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 103);
	/* Start it once without and once with a value. */
	batch_page()->load = 0;
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 104);
	slot(ctr)->value = 1000;
	batch_page()->load = BIT(ctr);
	EXPECT_OK(batch_apply(BIT(ctr), 0, BIT(ctr)));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 1001);
}

static void serves_hardware_and_firmware_in_one(void)
{
	u64 hw, fw = lowest(ctrs.fw), both;

	REQUIRE(batch_page_set());
	hw = batch_ctr(EVENT_INSTRUCTIONS);
	REQUIRE(hw != ALL_ONES);
	both = BIT(hw) | BIT(fw);
	slot_set(hw, EVENT_INSTRUCTIONS, 10);
	slot_set(fw, EVENT_FW_SET_TIMER, 20);
	batch_page()->load = both;
	EXPECT_OK(batch_apply(0, both, both));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_OK(batch_apply(both, 0, 0));
	EXPECT_EQ(pmu_fw_read(fw).value, 21);
	EXPECT(ctr_value(hw) > 10);
	EXPECT(!is_running(hw));
}

static void writes_no_other_word(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	batch_page_mark();
	batch_page()->load = 0;
	slot_set(ctr, EVENT_INSTRUCTIONS, MARK);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(batch_page()->load, 0);
	EXPECT_EQ(batch_page()->failed, 0);
	EXPECT_EQ(batch_page()->ctrs, MARK);
	EXPECT_EQ(slot(ctr)->event_idx, EVENT_INSTRUCTIONS);
	EXPECT_EQ(slot(ctr)->event_data, 0);
	EXPECT_EQ(slot(ctr)->value, MARK);
	/* load, failed, and of the slot event_data and the word with event_idx and flags. */
	EXPECT_EQ(batch_page_changes(), 4);
}

/* The result of an earlier call must not remain. */
static void failed_is_zero_after_success(void)
{
	REQUIRE(batch_page_set());
	batch_page()->failed = MARK;
	EXPECT_OK(batch_apply(0, 0, 0));
	EXPECT_EQ(batch_page()->failed, 0);
}

static void refused_page_keeps_the_former(void)
{
	REQUIRE(batch_page_set());
	EXPECT_ERROR(batch_set_shmem(BATCH_SHARED + 8, 0, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_set_shmem(ADDRESS_FIRMWARE, 0, 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT(batch_page_is_in_use());
}

static void programming_keeps_the_value(void)
{
	static const ulong events[] = {
		EVENT_INSTRUCTIONS, SBI_PMU_BATCH_NO_EVENT, EVENT_BPU_PREFETCH_MISS,
	};
	u64 ctr, value, i;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 1000);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	value = ctr_value(ctr);
	EXPECT_IN(value, 1000, 1000 + between_calls);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		slot_set(ctr, events[i], FAR_VALUE);
		slot(ctr)->flags = PMU_CFG_CLEAR_VALUE;
		batch_apply(BIT(ctr), BIT(ctr), 0);
		EXPECT_EQ(ctr_value(ctr), value);
	}
}

static void programming_keeps_a_firmware_counters_value(void)
{
	static const ulong events[] = {
		EVENT_FW_IPI_SENT, SBI_PMU_BATCH_NO_EVENT, EVENT_CYCLES, EVENT_FW_SET_TIMER,
	};
	u64 ctr, i;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_FW_SET_TIMER, 7);
	REQUIRE(ctr != ALL_ONES);
	sbi_set_timer(ALL_ONES_64);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		slot_set(ctr, events[i], FAR_VALUE);
		slot(ctr)->flags = PMU_CFG_CLEAR_VALUE;
		batch_apply(BIT(ctr), BIT(ctr), 0);
	}
	EXPECT_EQ(pmu_fw_read(ctr).value, 8);
}

/* A firmware that caches events must compare all bits of the flags. */
static void same_event_with_other_filters(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot(ctr)->flags = PMU_CFG_SET_SINH;
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 0);
	slot(ctr)->flags = PMU_CFG_SET_UINH;
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
	slot(ctr)->flags = PMU_CFG_SET_SINH;
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 0);
}

#define FLAG_SETS	200

/*
 * Reserved flags are ignored, but the firmware may cache a configuration by all flags, and
 * find it by a hash. So many sets of flags must make two of them share an entry.
 */
static void same_event_with_many_flags(void)
{
	u64 ctr, i, wrong = 0;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	for (i = 0; i < FLAG_SETS; i++) {
		slot(ctr)->flags = i << 16 | (i & 1 ? PMU_CFG_SET_SINH : 0);
		EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
		wrong += is_running(ctr) == (i & 1);
	}
	EXPECT_EQ(wrong, 0);
}

#define NEEDS		NEEDS_BATCH
#define EXACT		(NEEDS_BATCH | NEEDS_ICOUNT)
#define OVERFLOWS	(NEEDS_BATCH | NEEDS_ICOUNT | NEEDS_SSCOFPMF)

const struct test_case batch_cases[] = {
	{ "the firmware has the batch extension", extension_is_there, 0 },
	{ "the batch extension is of version 0.9 or 0.10", version_is_known, NEEDS },
	{ "the batch extension has no other functions", other_functions_are_refused, NEEDS },
	{ "SET_SHMEM refuses a page that is not aligned or not accessible to S-mode", bad_page_is_refused, NEEDS },
	{ "APPLY and RESOLVE need a page", calls_need_a_page, NEEDS },
	{ "APPLY and RESOLVE check for a page before they check their arguments",
	  want_of_a_page_comes_first, NEEDS },
	{ "SET_SHMEM checks flags, alignment and address, in this order",
	  errors_of_a_page_have_an_order, NEEDS },
	{ "APPLY with a counter that is not there does nothing",
	  counter_that_is_not_there_stops_it_all, NEEDS },
	{ "APPLY programs, loads and starts", programs_loads_and_starts, EXACT },
	{ "APPLY loads only counters that it starts", loads_what_is_started_only, EXACT },
	{ "APPLY stops stopped counters and starts running ones", stops_and_starts_twice_without_error,
	  NEEDS },
	{ "APPLY starts and stops cycle and instret at the same time",
	  starts_all_at_one_instant, EXACT | NEEDS_FIXED },
	{ "APPLY starts and stops programmable counters at the same time",
	  programmable_counters_start_at_one_instant, EXACT | NEEDS_SSCOFPMF },
	{ "APPLY programs another event", programs_another_event, EXACT | NEEDS_SSCOFPMF },
	{ "APPLY moves an event from one counter to another", event_moves_in_one_call,
	  EXACT | NEEDS_SSCOFPMF },
	{ "APPLY programs the same event with other filters", same_event_with_other_filters,
	  OVERFLOWS | NEEDS_FILTERS },
	{ "APPLY programs the same event with many sets of flags", same_event_with_many_flags,
	  OVERFLOWS | NEEDS_FILTERS },
	{ "APPLY keeps the value of a counter that it programs", programming_keeps_the_value, EXACT },
	{ "APPLY keeps the value of a firmware counter that it programs",
	  programming_keeps_a_firmware_counters_value, NEEDS },
	{ "APPLY removes an event", no_event_forgets, NEEDS },
	{ "APPLY removes a firmware event", no_event_forgets_a_firmware_event, NEEDS },
	{ "APPLY programs, loads, starts and stops firmware counters", serves_firmware_counters, NEEDS },
	{ "APPLY handles hardware and firmware counters in one call",
	  serves_hardware_and_firmware_in_one, NEEDS },
	{ "APPLY writes no other word of the page", writes_no_other_word, NEEDS },
	{ "APPLY writes 0 to failed on success", failed_is_zero_after_success, NEEDS },
	{ "a SET_SHMEM that fails keeps the former page", refused_page_keeps_the_former, NEEDS },
	CASES_END
};
