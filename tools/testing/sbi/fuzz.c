// SPDX-License-Identifier: BSD-2-Clause
/*
 * Random calls of both extensions, while this hart and another one write random data
 * to the shared pages, the latter while the firmware reads them. Afterwards the
 * firmware must respond as before, counters must count, and nothing beside the pages
 * may have been written.
 */
#include "case.h"
#include "fdt.h"
#include "pmu.h"
#include "sse.h"

#define COUNT		1000000
#define SEED		0x2545f4914f6cdd1dULL
#define HART_STACK	4096
/*
 * Lists of this length end within the page for all addresses. Firmware without a check
 * of the bounds would walk all of the memory with longer lists.
 */
#define TAME_ENTRIES	64

static u64 state;

/* Marsaglia's xorshift64. */
static u64 random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static u64 modulo(u64 n, u32 by)
{
	return divide(&n, by);
}

static ulong below(u32 n)
{
	return modulo(random(), n);
}

/* --- another hart ----------------------------------------------------------------- */

static u8 hart_stack[HART_STACK] __aligned(16);
static volatile bool hart_stop, hart_runs;
static u64 hart_id;

static void scribble(u64 r)
{
	volatile u64 *batch = (volatile u64 *)BATCH_SHARED;
	volatile u64 *snapshot = (volatile u64 *)SHARED;

	/* Mostly the masks and the slots of existing counters, sometimes other words. */
	batch[modulo(r, 3)] = r >> 20;
	batch[8 + modulo(r >> 8, 140)] = r >> (r & 31);
	batch[(r >> 16) % 512] = r;
	snapshot[(r >> 8) % 512] = r;
}

/* Uses a sequence of its own, so that the calls remain reproducible. */
static void hart_scribbles(void)
{
	u64 n = 1;

	hart_runs = true;
	while (!hart_stop)
		scribble(n += 0x9e3779b97f4a7c15ULL);
	hart_runs = false;
	sbi_call(SBI_EXT_HSM, SBI_HSM_HART_STOP, 0, 0, 0);
}

void hart_start(void);

static bool hart_set_off(void)
{
	ulong top = (ulong)hart_stack + HART_STACK;

	*(ulong *)(top - 8) = (ulong)hart_scribbles;
	hart_stop = false;
	for (hart_id = 0; hart_id < machine.harts; hart_id++)
		if (!sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, hart_id,
			      (ulong)hart_start, top).error)
			break;
	if (hart_id == machine.harts)
		return false;
	while (!hart_runs)
		;
	return true;
}

static u64 hart_status(void)
{
	return sbi_call(SBI_EXT_HSM, SBI_HSM_HART_GET_STATUS, hart_id, 0, 0).value;
}

static void hart_take_back(void)
{
	hart_stop = true;
	while (hart_status() != SBI_HSM_STOPPED)
		;
}

/* --- arguments ---------------------------------------------------------------------- */

#define PICK(values)	((values)[below(ARRAY_SIZE(values))])

static u64 any_mask(void)
{
	static const u64 masks[] = {
		0, 1, 3, 7, 0xf, 0x7fffd, 0x7fff8, 0x7fff80000, ALL_ONES_64, BIT(63),
	};

	switch (below(4)) {
	case 0:
		return PICK(masks);
	case 1:
		return BIT(below(64));
	case 2:
		return BIT(below(40)) | BIT(below(40));
	default:
		return random() & random();
	}
}

/* A mask that pmu_match() and similar functions need not split. */
static ulong any_register_mask(void)
{
	return any_mask();
}

static ulong any_base(bool tame)
{
	static const ulong bases[] = {
		64, BIT(31), BIT(XLEN / 2), BIT(XLEN - 1), BIT(XLEN - 1) - 1, ALL_ONES,
	};

	if (tame || below(2))
		return below(40);
	return below(2) ? PICK(bases) : -below(70);
}

static ulong any_event(void)
{
	static const ulong events[] = {
		EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_DTLB_READ_MISS, EVENT_DTLB_WRITE_MISS,
		EVENT_ITLB_READ_MISS, EVENT_FW_SET_TIMER, EVENT_FW_IPI_SENT, EVENT_RAW,
		EVENT_RAW_V2, EVENT_FW_PLATFORM, EVENT_NONE, EVENT_BPU_PREFETCH_MISS, ALL_ONES,
	};

	switch (below(4)) {
	case 0:
		return EVENT(below(16), below(64));
	case 1:
		return random() >> below(64);
	default:
		return PICK(events);
	}
}

static ulong any_address(bool tame)
{
	static const ulong own[] = {
		SHARED, BATCH_SHARED, SHARED + 16, SHARED + 8, BATCH_SHARED + 1, SHARED + 2048,
		ADDRESS_FIRMWARE, ADDRESS_FIRMWARE + 0x1000, ADDRESS_FIRMWARE + 0x40000,
		ADDRESS_UART, 0x2000000, ALL_ONES,
	};
	static const ulong unmapped[] = {
		0, ADDRESS_NOTHING, 0x40000000, -16UL, -4096UL, ADDRESS_FAR, BIT(XLEN - 9),
		BIT(XLEN - 1),
		/* Devices that decode a part of a page, or of a word. */
		ADDRESS_VIRTIO, ADDRESS_VIRTIO + 0x1f0, ADDRESS_RTC, ADDRESS_FLASH,
		ADDRESS_PCIE_ECAM,
	};

	if (!tame && bootarg("fuzz.unmapped", 0) && !below(4))
		return PICK(unmapped);
	return PICK(own);
}

static ulong any_flags(void)
{
	return below(4) ? below(8) | (below(4) ? 0 : below(256)) : random();
}

static ulong any_high(void)
{
	return below(4) ? 0 : below(2) ? ALL_ONES : random();
}

static u64 any_value(void)
{
	return below(2) ? -(u64)below(5000) : random() >> below(64);
}

static ulong any_entries(bool tame)
{
	if (tame || below(2))
		return below(TAME_ENTRIES + 1) * !!below(8);
	return bootarg("fuzz.unmapped", 0) && below(2) ? random() :
	       (below(16) << (XLEN - 4)) + below(4);
}

/* --- calls ---------------------------------------------------------------------------- */

/* With TAME, no SKIP_MATCH, which could use an event that the counter cannot count. */
static void call_match(bool tame)
{
	ulong flags = any_flags();
	u64 data = below(2) ? 0 : random();

	if (tame)
		flags &= ~PMU_CFG_SKIP_MATCH;
	pmu_match(any_base(tame), any_register_mask(), flags, any_event(), data);
}

static void call_standard(bool tame)
{
	switch (below(10)) {
	case 0:
		sbi_call(SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS, random(), random(), 0);
		break;
	case 1:
		pmu_get_info(below(2) ? below(70) : random());
		break;
	case 2:
	case 3:
		call_match(tame);
		break;
	case 4:
		pmu_start(any_base(tame), any_register_mask(), any_flags(), any_value());
		break;
	case 5:
		pmu_stop(any_base(tame), any_register_mask(), any_flags());
		break;
	case 6:
		pmu_fw_read(below(2) ? below(70) : random());
		pmu_fw_read_hi(below(2) ? below(70) : random());
		break;
	case 7:
		pmu_set_shmem(any_address(tame), any_high(), below(8) ? 0 : random());
		break;
	case 8:
		pmu_event_info(any_address(tame), any_high(), any_entries(tame),
			       below(8) ? 0 : random());
		break;
	case 9:
		sbi_call6(SBI_EXT_PMU, 9 + (random() >> below(64)), any_base(tame), any_mask(),
			  any_flags(), any_event(), random(), random());
		break;
	}
}

static void call_batch(bool tame)
{
	switch (below(9)) {
	case 0:
		batch_set_shmem(any_address(tame), any_high(), below(8) ? 0 : random());
		break;
	case 1:
		batch_resolve(any_event(), below(2) ? 0 : random());
		break;
	case 2:
		sbi_call(SBI_EXT_PMU_BATCH, random() >> below(64), random(), random(), random());
		break;
	case 3:
		batch_set_shmem(BATCH_SHARED, 0, 0);
		break;
	case 4:
		sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_MAP_EVENTS, random(), random(), 0);
		break;
	default:
		/* Mostly masks of existing counters, because other calls only return an error. */
		batch_apply(any_mask() & (below(8) ? ctrs.hw | ctrs.fw : ALL_ONES_64),
			    any_mask() & (below(8) ? ctrs.hw | ctrs.fw : ALL_ONES_64),
			    any_mask() & (below(8) ? ctrs.hw | ctrs.fw : ALL_ONES_64));
	}
}

/* Enables interrupts for a moment; too many of them end the run. */
static void let_interrupts_in(void)
{
	irqs.count = 0;
	csr_set(CSR_SIE, BIT(IRQ_LCOFI));
	csr_set(CSR_SSTATUS, SSTATUS_SIE);
	loop_for(100);
	irqs_disable();
}

/* --- checks after the calls -------------------------------------------------------------- */

static void firmware_answers_as_before(void)
{
	u64 i;

	EXPECT_EQ(sbi_call(SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS, 0, 0, 0).value, ctrs.nr);
	for (i = 0; i < ctrs.nr; i++)
		if ((ctrs.hw | ctrs.fw) & BIT(i))
			EXPECT_EQ(pmu_get_info(i).value, ctrs.info[i]);
	EXPECT_ERROR(sbi_call(SBI_EXT_PMU, 9, 0, 0, 0), SBI_ERR_NOT_SUPPORTED);
}

static void counters_count_again(void)
{
	u64 i;

	pmu_reset();
	for (i = 3; i < 32; i++) {
		if (!(ctrs.prog & BIT(i)))
			continue;
		EXPECT_OK(pmu_match(0, BIT(i), 0, scountovf_is_readable() ? EVENT_INSTRUCTIONS :
				    EVENT_DTLB_READ_MISS, 0));
		EXPECT_OK(pmu_start(0, BIT(i), PMU_START_SET_INIT_VALUE, 5));
		EXPECT(is_running(i) || !scountovf_is_readable());
		EXPECT_OK(pmu_stop(0, BIT(i), PMU_STOP_RESET));
	}
	for (i = 0; i < 64; i++) {
		if (!(ctrs.fw & BIT(i)))
			continue;
		EXPECT_OK(pmu_match(0, BIT(i), PMU_CFG_CLEAR_VALUE, EVENT_FW_SET_TIMER, 0));
		EXPECT_OK(pmu_start(0, BIT(i), PMU_START_SET_INIT_VALUE, 5));
		sbi_set_timer(ALL_ONES_64);
		EXPECT_EQ(pmu_fw_read(i).value, 6);
		EXPECT_OK(pmu_stop(0, BIT(i), PMU_STOP_RESET));
	}
}

/* Stopped counters must not raise interrupts. */
static void no_storm_is_left(void)
{
	pmu_reset();
	irqs_enable();
	loop_for(100000);
	EXPECT_IN(irqs.count, 0, 1);
	irqs_disable();
	EXPECT(!lcofi_pending());
}

static void fuzz(bool tame)
{
	u64 count = bootarg("fuzz.count", COUNT), i;
	bool scribbles, sse = bootarg("fuzz.sse", 0);

	state = bootarg("fuzz.seed", SEED);
	print("# %llu calls, fuzz.seed=%llu\n", count, state);
	if (sse)
		REQUIRE(sse_begin(NULL));
	scribbles = hart_set_off();
	for (i = 0; i < count; i++) {
		if (!(i & 1))
			scribble(random());
		if (i & 2)
			call_batch(tame);
		else
			call_standard(tame);
		if (!(i & 255))
			let_interrupts_in();
	}
	if (scribbles)
		hart_take_back();
	else
		print("# there is no other hart to write to the pages\n");
	if (sse)
		sse_end();
	firmware_answers_as_before();
	counters_count_again();
	no_storm_is_left();
}

static void any_call_is_survived(void)
{
	fuzz(false);
}

static void tame_call_is_survived(void)
{
	fuzz(true);
}

/* --- cases with two harts ------------------------------------------------------------------ */

static void ipi_is_counted_by_all_its_counters(void)
{
	u64 a = fw_ctr_for(EVENT_FW_IPI_SENT), b = fw_ctr_for(EVENT_FW_IPI_SENT), sent = 0;

	REQUIRE(a != ALL_ONES && b != ALL_ONES);
	EXPECT_OK(pmu_start(0, BIT(a) | BIT(b), 0, 0));
	REQUIRE(hart_set_off());
	/* HART_START sends an IPI, too: both counters begin with its count. */
	EXPECT_EQ(pmu_fw_read(a).value, pmu_fw_read(b).value);
	sent = pmu_fw_read(a).value;
	EXPECT_OK(sbi_call(SBI_EXT_IPI, 0, 3, 0, 0));
	EXPECT_EQ(pmu_fw_read(a).value, sent + 1);
	EXPECT_EQ(pmu_fw_read(b).value, sent + 1);
	hart_take_back();
}

const struct test_case fuzz_cases[] = {
	{ "an IPI to another hart is counted by all counters of the event",
	  ipi_is_counted_by_all_its_counters, NEEDS_HART },
	{ "random calls are survived where no set wraps",
	  tame_call_is_survived, 0 },
	{ "random calls are survived, also where sets wrap", any_call_is_survived, 0 },
	CASES_END
};
