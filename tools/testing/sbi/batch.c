// SPDX-License-Identifier: BSD-2-Clause
/* The PMU batch extension: Documentation/arch/riscv/sbi-pmu-batch.rst. */
#include "batch.h"
#include "fdt.h"
#include "case.h"
#include "fdt.h"

#define MARK	0x5a5a5a5aa5a5a5a5ULL

_Static_assert(sizeof(struct sbi_pmu_batch_shmem) <= SBI_PMU_BATCH_SHMEM_SIZE,
	       "the page that is shared is of 4096 bytes");

bool batch_page_set(void)
{
	volatile u64 *word = (volatile u64 *)BATCH_SHARED;
	u64 i;

	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		word[i] = 0;
	return batch_set_shmem(BATCH_SHARED, 0, 0).error == SBI_SUCCESS;
}

void slot_set(u64 ctr, ulong event, u64 value)
{
	slot(ctr)->event_idx = event;
	slot(ctr)->event_data = 0;
	slot(ctr)->flags = 0;
	slot(ctr)->value = value;
}

/* Without Sscofpmf OpenSBI counts these with cycle and instret, and with nothing else. */
static bool has_fixed_counter_only(ulong event)
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

/* A counter of EVENT that is not CTR. */
static u64 batch_ctr_beside(u64 ctr, ulong event)
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

static void version_is_1_0(void)
{
	struct sbiret ret = sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_GET_VERSION, 0, 0, 0);

	EXPECT_EQ(ret.error, SBI_SUCCESS);
	EXPECT_EQ(ret.value, SBI_PMU_BATCH_VERSION_1_0);
}

static void other_functions_are_refused(void)
{
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU_BATCH, 4, 1, 2, 3), SBI_ERR_NOT_SUPPORTED);
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

static void counter_that_is_not_there_stops_it_all(void)
{
	u64 bad[] = { BIT(CTR_TIME), BIT(ctrs.nr), BIT(63), ALL_ONES_64 };
	u64 ctr, i;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr + 1, EVENT_CYCLES, 0);
	batch_page()->save = ALL_ONES_64;
	batch_page()->load = ALL_ONES_64;
	slot(ctr)->saved = MARK;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_ERROR(batch_apply(BIT(ctr) | bad[i], 0, 0), SBI_ERR_INVALID_PARAM);
		EXPECT_ERROR(batch_apply(BIT(ctr), bad[i], 0), SBI_ERR_INVALID_PARAM);
		EXPECT_ERROR(batch_apply(BIT(ctr), BIT(ctr + 1), bad[i]), SBI_ERR_INVALID_PARAM);
		EXPECT(is_running(ctr));
		EXPECT_EQ(slot(ctr)->saved, MARK);
	}
	EXPECT_ERROR(pmu_start(ctr + 1, 1, 0, 0), SBI_ERR_INVALID_PARAM);
}

/* --- what APPLY does ------------------------------------------------------------ */

static void programs_loads_and_starts(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 1000000);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_IN(ctr_value(ctr), 1000000, 1000000 + between_calls);
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void stops_and_saves(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	loop_for(1000);
	batch_page()->save = BIT(ctr);
	batch_page()->overflowed = MARK;
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT_IN(slot(ctr)->saved, 2000, 2000 + between_calls);
	EXPECT_EQ(slot(ctr)->saved, ctr_value(ctr));
	EXPECT(!is_running(ctr));
	EXPECT_EQ(batch_page()->overflowed, 0);
}

static void saves_what_is_stopped_only(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot(ctr)->saved = MARK;
	slot(CTR_CYCLE)->saved = MARK;
	slot(63)->saved = MARK;
	/* All bits, also of counters that are not there. */
	batch_page()->save = ALL_ONES_64;
	EXPECT_OK(batch_apply(BIT(ctr + 1), 0, 0));
	EXPECT_EQ(slot(ctr)->saved, MARK);
	EXPECT_EQ(slot(CTR_CYCLE)->saved, MARK);
	EXPECT_EQ(slot(63)->saved, MARK);
	EXPECT(is_running(ctr));
	batch_page()->save = 0;
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT_EQ(slot(ctr)->saved, MARK);
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

static void adds_to_what_it_holds(void)
{
	u64 ctr, value;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 1000);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	value = ctr_value(ctr);
	slot(ctr)->value = 5000;
	batch_page()->load = BIT(ctr);
	batch_page()->add = BIT(ctr);
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT_IN(ctr_value(ctr), value + 5000, value + 5000 + between_calls);
	/* In one call with the stop, and past zero. */
	batch_page()->save = BIT(ctr);
	slot(ctr)->value = -10000ULL;
	EXPECT_OK(batch_apply(BIT(ctr), 0, BIT(ctr)));
	EXPECT_EQ(slot(ctr)->saved >> 32, 0);
	value = slot(ctr)->saved - 10000;
	EXPECT_IN(ctr_value(ctr), value, value + between_calls);
}

static void add_without_load_does_nothing(void)
{
	u64 ctr, value;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 1000);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	value = ctr_value(ctr);
	slot(ctr)->value = BIT(50);
	batch_page()->load = 0;
	batch_page()->add = ALL_ONES_64;
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT_IN(ctr_value(ctr), value, value + between_calls);
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
	/* Only Smcntrpmf keeps the firmware's ends of the calls out of these. */
	u64 both = FIXED_CTRS, i, between = machine.smcntrpmf ? between_calls : 4096;

	REQUIRE(batch_page_set());
	slot_set(CTR_CYCLE, EVENT_CYCLES, 1000);
	slot_set(CTR_INSTRET, EVENT_INSTRUCTIONS, 1000);
	batch_page()->load = both;
	batch_page()->save = both;
	/* They run from boot, where the harness has not stopped them. */
	EXPECT_OK(batch_apply(both, both, both));
	for (i = 0; i < 10; i++) {
		loop_for(100 * i);
		EXPECT_OK(batch_apply(both, 0, both));
		EXPECT_EQ(slot(CTR_CYCLE)->saved, slot(CTR_INSTRET)->saved);
		EXPECT_IN(slot(CTR_CYCLE)->saved, 1000 + 200 * i,
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
	batch_page()->save = both;
	EXPECT_OK(batch_apply(0, both, both));
	loop_for(1000);
	EXPECT_OK(batch_apply(both, 0, 0));
	EXPECT_EQ(slot(a)->saved, slot(b)->saved);
	EXPECT_IN(slot(a)->saved, 2007, 2007 + between_calls);
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
	/* And back: it must not go on counting instructions. */
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
	batch_page()->save = BIT(ctr);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT_EQ(slot(ctr)->saved, 103);
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 103);
	slot(ctr)->value = 1000;
	batch_page()->add = BIT(ctr);
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_EQ(pmu_fw_read(ctr).value, 1104);
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
	batch_page()->save = both;
	EXPECT_OK(batch_apply(0, both, both));
	sbi_set_timer(ALL_ONES_64);
	EXPECT_OK(batch_apply(both, 0, 0));
	EXPECT_EQ(slot(fw)->saved, 21);
	EXPECT_EQ(slot(hw)->saved, ctr_value(hw));
}

static void writes_no_other_word(void)
{
	volatile u64 *word = (volatile u64 *)BATCH_SHARED;
	u64 ctr, i, changed = 0;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	for (i = 0; i < PAGE_SIZE / sizeof(u64); i++)
		word[i] = MARK;
	batch_page()->save = BIT(ctr);
	batch_page()->load = 0;
	slot_set(ctr, EVENT_INSTRUCTIONS, MARK);
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), BIT(ctr)));
	EXPECT_EQ(batch_page()->save, BIT(ctr));
	EXPECT_EQ(batch_page()->load, 0);
	EXPECT_EQ(batch_page()->add, MARK);
	EXPECT_EQ(batch_page()->reserved, MARK);
	EXPECT_EQ(slot(ctr)->event_idx, EVENT_INSTRUCTIONS);
	EXPECT_EQ(slot(ctr)->value, MARK);
	for (i = offsetof(struct sbi_pmu_batch_shmem, slot) / sizeof(u64); i < 512; i++)
		changed += word[i] != MARK;
	/* saved; event_data and the word of event_idx and flags are the caller's. */
	EXPECT_EQ(changed, 3);
}

/* --- what fails ----------------------------------------------------------------- */

static void running_counter_is_not_programmed(void)
{
	u64 ctr, other;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	other = batch_ctr_beside(ctr, EVENT_CYCLES);
	slot_set(ctr, EVENT_DTLB_READ_MISS, BIT(60));
	slot_set(other, EVENT_CYCLES, 500);
	batch_page()->load = BIT(other);
	EXPECT_ERROR(batch_apply(0, BIT(ctr) | BIT(other), BIT(other)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
	EXPECT_EQ(counted(other, 1000), 2000 + counted_extra);
	EXPECT_IN(ctr_value(other), 500, 100000);
}

static void running_counter_is_not_loaded(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	slot(ctr)->value = BIT(60);
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
	slot_set(good, EVENT_INSTRUCTIONS, 0);
	batch_page()->load = BIT(good) | BIT(ctr);
	EXPECT_ERROR(batch_apply(0, BIT(ctr) | BIT(good), BIT(ctr) | BIT(good)), SBI_ERR_FAILED);
	EXPECT_EQ(batch_page()->failed, BIT(ctr));
	EXPECT(is_running(good));
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

/* --- filters and overflow --------------------------------------------------------- */

static void firmware_is_never_counted(void)
{
	u64 ctr, before;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	before = ctr_value(ctr);
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);
	EXPECT_IN(ctr_value(ctr) - before, 4, between_calls);
}

static void fixed_counters_leave_firmware_out(void)
{
	REQUIRE(batch_page_set());
	slot_set(CTR_CYCLE, EVENT_CYCLES, 0);
	slot_set(CTR_INSTRET, EVENT_INSTRUCTIONS, 0);
	EXPECT_OK(batch_apply(FIXED_CTRS, FIXED_CTRS, FIXED_CTRS));
	EXPECT_EQ(instret_over_ecall(), 4);
	EXPECT_EQ(cycle_over_ecall(), 4);
}

static void filters_are_heeded_and_other_flags_are_not(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_ctr(EVENT_INSTRUCTIONS);
	REQUIRE(ctr != ALL_ONES);
	slot_set(ctr, EVENT_INSTRUCTIONS, 0);
	slot(ctr)->flags = PMU_CFG_SET_SINH;
	EXPECT_OK(batch_apply(0, BIT(ctr), BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 0);
	/* All but SINH: AUTO_START, CLEAR_VALUE, SKIP_MATCH and what has no name. */
	slot(ctr)->flags = (u32)~PMU_CFG_SET_SINH;
	EXPECT_OK(batch_apply(BIT(ctr), BIT(ctr), 0));
	EXPECT(!is_running(ctr));
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

static void interrupts_after_n(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	irqs_enable();
	ctr = batch_start(EVENT_INSTRUCTIONS, -10000ULL);
	REQUIRE(ctr != ALL_ONES);
	loop_for(qemu_heeds_filters() ? 4900 : 4000);
	EXPECT_EQ(irqs.count, 0);
	loop_for(2000);
	EXPECT_EQ(irqs.count, 1);
	EXPECT(irqs.scountovf & BIT(ctr));
	batch_page()->save = BIT(ctr);
	EXPECT_OK(batch_apply(BIT(ctr), 0, 0));
	EXPECT_EQ(batch_page()->overflowed, BIT(ctr));
	EXPECT_IN(slot(ctr)->saved, 0, 8000);
}

static void interrupts_again_after_each_load(void)
{
	u64 ctr, i;

	REQUIRE(batch_page_set());
	irqs_enable();
	ctr = batch_start(EVENT_INSTRUCTIONS, -1000ULL);
	REQUIRE(ctr != ALL_ONES);
	for (i = 1; i <= 20; i++) {
		loop_for(2000);
		EXPECT_EQ(irqs.count, i);
		EXPECT_OK(batch_apply(BIT(ctr), 0, BIT(ctr)));
		EXPECT(!(csr_read(CSR_SCOUNTOVF) & BIT(ctr)));
	}
}

static void load_clears_overflow_while_pending(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, -1000ULL);
	REQUIRE(ctr != ALL_ONES);
	loop_for(2000);
	EXPECT(lcofi_pending());
	slot(ctr)->value = -10000ULL;
	EXPECT_OK(batch_apply(BIT(ctr), 0, BIT(ctr)));
	EXPECT(!(csr_read(CSR_SCOUNTOVF) & BIT(ctr)));
	lcofi_clear();
	loop_for(7000);
	EXPECT(lcofi_pending());
}

static void add_rearms(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	irqs_enable();
	ctr = batch_start(EVENT_INSTRUCTIONS, -1000ULL);
	REQUIRE(ctr != ALL_ONES);
	loop_for(2000);
	EXPECT_EQ(irqs.count, 1);
	slot(ctr)->value = -20000ULL;
	batch_page()->add = BIT(ctr);
	EXPECT_OK(batch_apply(BIT(ctr), 0, BIT(ctr)));
	loop_for(2000);
	EXPECT_EQ(irqs.count, 1);
	loop_for(10000);
	EXPECT_EQ(irqs.count, 2);
}

static void overflow_is_of_the_saved_only(void)
{
	u64 ctr, other;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, -1000ULL);
	REQUIRE(ctr != ALL_ONES);
	other = ctr + 1;
	slot_set(other, EVENT_CYCLES, 0);
	batch_page()->load = BIT(other);
	EXPECT_OK(batch_apply(0, BIT(other), BIT(other)));
	loop_for(2000);
	batch_page()->overflowed = MARK;
	batch_page()->save = BIT(other);
	EXPECT_OK(batch_apply(BIT(ctr) | BIT(other), 0, 0));
	EXPECT_EQ(batch_page()->overflowed, 0);
	batch_page()->save = BIT(other) | BIT(ctr);
	EXPECT_OK(batch_apply(BIT(ctr) | BIT(other), 0, 0));
	EXPECT_EQ(batch_page()->overflowed, BIT(ctr));
}

/* --- RESOLVE ---------------------------------------------------------------------- */

static void resolves_what_there_is(void)
{
	static const ulong events[] = {
		EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_DTLB_READ_MISS, EVENT_ITLB_READ_MISS,
	};
	u64 i;

	REQUIRE(batch_page_set());
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		batch_page()->ctrs = MARK;
		EXPECT_OK(batch_resolve(events[i], 0));
		EXPECT_EQ(batch_page()->ctrs & ctrs.prog,
			  has_fixed_counter_only(events[i]) ? 0 : ctrs.prog);
		EXPECT_EQ(batch_page()->ctrs & ~ctrs.hw, 0);
		/* QEMU's selector is the event itself. */
		EXPECT_EQ(batch_page()->selector, events[i]);
	}
}

static void resolves_fixed_counters(void)
{
	REQUIRE(batch_page_set());
	EXPECT_OK(batch_resolve(EVENT_CYCLES, 0));
	EXPECT_EQ(batch_page()->ctrs & FIXED_CTRS, BIT(CTR_CYCLE));
	EXPECT_OK(batch_resolve(EVENT_INSTRUCTIONS, 0));
	EXPECT_EQ(batch_page()->ctrs & FIXED_CTRS, BIT(CTR_INSTRET));
	EXPECT_OK(batch_resolve(EVENT_DTLB_READ_MISS, 0));
	EXPECT_EQ(batch_page()->ctrs & FIXED_CTRS, 0);
}

static void resolves_whatever_is_in_use(void)
{
	u64 i, before;

	REQUIRE(batch_page_set());
	EXPECT_OK(batch_resolve(EVENT_DTLB_READ_MISS, 0));
	before = batch_page()->ctrs;
	for (i = 3; i < 32; i++)
		if (ctrs.prog & BIT(i))
			pmu_match(i, 1, PMU_CFG_AUTO_START, EVENT_DTLB_READ_MISS, 0);
	EXPECT_OK(batch_resolve(EVENT_DTLB_READ_MISS, 0));
	EXPECT_EQ(batch_page()->ctrs, before);
}

static void resolves_nothing_that_is_not_there(void)
{
	REQUIRE(batch_page_set());
	EXPECT_ERROR(batch_resolve(EVENT_BPU_PREFETCH_MISS, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(batch_resolve(EVENT_RAW, 1), SBI_ERR_NOT_SUPPORTED);
	EXPECT_ERROR(batch_resolve(EVENT_HW_BEYOND, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(EVENT_CACHE(7, 0, 0), 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(EVENT_RAW | 1, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(EVENT(4, 0), 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(EVENT_FW_RESERVED, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(BIT(20) | EVENT_CYCLES, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(BIT(XLEN - 1) | EVENT_CYCLES, 0), SBI_ERR_INVALID_PARAM);
	EXPECT_ERROR(batch_resolve(ALL_ONES, ALL_ONES_64), SBI_ERR_INVALID_PARAM);
}

static void snapshot_and_batch_pages_are_apart(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	EXPECT_OK(pmu_set_shmem(SHARED, 0, 0));
	ctr = batch_start(EVENT_INSTRUCTIONS, 3000);
	REQUIRE(ctr != ALL_ONES);
	slot(ctr)->saved = MARK;
	EXPECT_OK(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT));
	EXPECT_EQ(((volatile struct pmu_snapshot *)SHARED)->value[0], ctr_value(ctr));
	EXPECT_EQ(slot(ctr)->saved, MARK);
	EXPECT_OK(pmu_set_shmem(ALL_ONES, ALL_ONES, 0));
	batch_page()->load = 0;
	EXPECT_OK(batch_apply(0, 0, BIT(ctr)));
	EXPECT(is_running(ctr));
}

static void standard_calls_see_what_apply_did(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_ERROR(pmu_start(ctr, 1, 0, 0), SBI_ERR_ALREADY_STARTED);
	EXPECT_ERROR(pmu_match(ctr, 1, 0, EVENT_INSTRUCTIONS, 0), SBI_ERR_NOT_SUPPORTED);
	EXPECT_OK(pmu_stop(ctr, 1, 0));
	EXPECT_ERROR(pmu_stop(ctr, 1, 0), SBI_ERR_ALREADY_STOPPED);
	EXPECT_OK(pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 5));
	EXPECT_EQ(counted(ctr, 1000), 2000 + counted_extra);
}

#define NEEDS		NEEDS_BATCH
#define EXACT		(NEEDS_BATCH | NEEDS_ICOUNT)
#define OVERFLOWS	(NEEDS_BATCH | NEEDS_ICOUNT | NEEDS_SSCOFPMF)

const struct test_case batch_cases[] = {
	{ "the batch extension is of version 1.0", version_is_1_0, NEEDS },
	{ "the batch extension has no other functions", other_functions_are_refused, NEEDS },
	{ "the batch page must be aligned, S-mode's and memory", bad_page_is_refused, NEEDS },
	{ "APPLY and RESOLVE need a page", calls_need_a_page, NEEDS },
	{ "APPLY with a counter that is not there does nothing",
	  counter_that_is_not_there_stops_it_all, NEEDS },
	{ "APPLY programs, loads and starts", programs_loads_and_starts, EXACT },
	{ "APPLY stops and saves", stops_and_saves, EXACT },
	{ "APPLY saves what it stops only", saves_what_is_stopped_only, NEEDS },
	{ "APPLY loads what it starts only", loads_what_is_started_only, EXACT },
	{ "APPLY adds to what a counter holds", adds_to_what_it_holds, EXACT },
	{ "APPLY adds nothing without a load", add_without_load_does_nothing, EXACT },
	{ "APPLY stops what is stopped and starts what runs", stops_and_starts_twice_without_error,
	  NEEDS },
	{ "APPLY starts and stops cycle and instret at one instant",
	  starts_all_at_one_instant, EXACT },
	{ "APPLY starts and stops programmable counters at one instant",
	  programmable_counters_start_at_one_instant, EXACT | NEEDS_SSCOFPMF },
	{ "APPLY programs another event", programs_another_event, EXACT | NEEDS_SSCOFPMF },
	{ "APPLY forgets an event", no_event_forgets, NEEDS },
	{ "APPLY forgets a firmware event", no_event_forgets_a_firmware_event, NEEDS },
	{ "APPLY serves firmware counters", serves_firmware_counters, NEEDS },
	{ "APPLY serves hardware and firmware counters at once",
	  serves_hardware_and_firmware_in_one, NEEDS },
	{ "APPLY writes no other word of the page", writes_no_other_word, NEEDS },
	{ "APPLY does not program a counter that runs, and serves the others",
	  running_counter_is_not_programmed, EXACT },
	{ "APPLY does not load a counter that runs", running_counter_is_not_loaded, EXACT },
	{ "APPLY says which event can not be counted, and serves the others",
	  event_that_can_not_be_counted_fails, NEEDS },
	{ "APPLY gives cycle and instret no other event",
	  fixed_counter_fails_another_event, NEEDS },
	{ "APPLY gives a firmware counter no hardware event",
	  firmware_counter_fails_a_hardware_event, NEEDS },
	{ "APPLY leaves a counter that failed stopped and without an event",
	  failed_counter_has_lost_its_event, NEEDS | NEEDS_SSCOFPMF },
	{ "a counter that APPLY started never counts the firmware", firmware_is_never_counted,
	  OVERFLOWS | NEEDS_FILTERS },
	{ "cycle and instret that APPLY started never count the firmware",
	  fixed_counters_leave_firmware_out,
	  EXACT | NEEDS_SMCNTRPMF | NEEDS_FILTERS },
	{ "APPLY heeds filters and no other flag", filters_are_heeded_and_other_flags_are_not,
	  OVERFLOWS | NEEDS_FILTERS },
	{ "a counter that APPLY loaded with -n interrupts after n", interrupts_after_n, OVERFLOWS },
	{ "a counter interrupts after each load by APPLY",
	  interrupts_again_after_each_load, OVERFLOWS },
	{ "APPLY clears an overflow while the interrupt is pending",
	  load_clears_overflow_while_pending, OVERFLOWS },
	{ "APPLY arms a counter by adding to it", add_rearms, OVERFLOWS },
	{ "APPLY tells overflows of what it saves only", overflow_is_of_the_saved_only, OVERFLOWS },
	{ "RESOLVE says which counters count an event, and how", resolves_what_there_is, NEEDS },
	{ "RESOLVE knows what cycle and instret count", resolves_fixed_counters, NEEDS },
	{ "RESOLVE says the same whatever is in use", resolves_whatever_is_in_use, NEEDS },
	{ "RESOLVE refuses what is not there", resolves_nothing_that_is_not_there, NEEDS },
	{ "the snapshot's page and the batch's are two", snapshot_and_batch_pages_are_apart,
	  NEEDS | NEEDS_SNAPSHOT },
	{ "the standard calls see what APPLY did", standard_calls_see_what_apply_did, EXACT },
	CASES_END
};
