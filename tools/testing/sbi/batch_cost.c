// SPDX-License-Identifier: BSD-2-Clause
/*
 * What APPLY costs, in instructions. With -icount shift=0 one is 1 ns, and the
 * board's time base of 10 MHz ticks every 100 of them: over CALLS calls that is
 * a tenth of an instruction a call.
 */
#include "batch.h"
#include "case.h"
#include "fdt.h"

#define CALLS			1000
#define INSTRUCTIONS_PER_TICK	100

/* What the extension may cost above a trap that does nothing: section 14. */
#define COST_CALL		180
#define COST_COUNTER		30
/* More for each counter that is programmed too. */
#define COST_PROGRAM		64
/* OpenSBI opens the page to M-mode by a PMP entry, and closes it again. */
#define COST_SMEPMP		520

struct batch {
	u64 stop, program, start;
};

static ulong per_call(const struct batch *first, const struct batch *second)
{
	ulong begin, i;

	begin = csr_read(CSR_TIME);
	for (i = 0; i < CALLS / 2; i++) {
		batch_apply(first->stop, first->program, first->start);
		batch_apply(second->stop, second->program, second->start);
	}
	return (csr_read(CSR_TIME) - begin) * INSTRUCTIONS_PER_TICK / CALLS;
}

/* A call that does nothing: the trap, and the way to the base extension. */
static ulong trap_floor(void)
{
	ulong begin, i;

	begin = csr_read(CSR_TIME);
	for (i = 0; i < CALLS; i++)
		sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);
	return (csr_read(CSR_TIME) - begin) * INSTRUCTIONS_PER_TICK / CALLS;
}

/* Four counters of different events, as a group of perf's has them. */
static u64 four(void)
{
	static const ulong events[] = {
		EVENT_CYCLES, EVENT_INSTRUCTIONS, EVENT_DTLB_READ_MISS, EVENT_ITLB_READ_MISS,
	};
	u64 first = lowest(ctrs.prog), i;

	for (i = 0; i < 4; i++)
		slot_set(first + i, events[i], 1000);
	if (batch_apply(0, 0xfULL << first, 0).error)
		return 0;
	return 0xfULL << first;
}

static void judge(const char *what, ulong cost, ulong counters)
{
	ulong floor = trap_floor();
	ulong may = COST_CALL + COST_COUNTER * counters;

	/* Two registers for each mask, two CSRs for each counter. */
	if (XLEN == 32)
		may *= 2;

	print("# %s: %lu instructions a call, %lu above a trap's %lu\n", what, cost, cost - floor,
	      floor);
	EXPECT_IN(cost, floor, floor + may + (machine.smepmp ? COST_SMEPMP : 0));
}

static void stop_and_start_cost(void)
{
	struct batch stop = {}, start = {};

	REQUIRE(batch_page_set());
	stop.stop = four();
	start.start = stop.stop;
	REQUIRE(stop.stop);
	judge("stop 4, start 4", per_call(&start, &stop), 4);
}

static void load_cost(void)
{
	struct batch stop = {}, start = {};

	REQUIRE(batch_page_set());
	stop.stop = four();
	start.start = stop.stop;
	REQUIRE(stop.stop);
	batch_page()->load = start.start;
	judge("stop 4, load and start 4", per_call(&start, &stop), 4);
}

/*
 * One call stops, loads and starts four counters, and programs those of PROGRAM. Before
 * each the counters exchange their events: no firmware gets away with leaving what is
 * as it was.
 */
static ulong per_exchange(u64 all, u64 program)
{
	volatile struct sbi_pmu_batch_slot *s = slot(lowest(all));
	ulong begin, i;

	begin = csr_read(CSR_TIME);
	for (i = 0; i < CALLS / 2; i++) {
		s[0].event_idx = EVENT_INSTRUCTIONS;
		s[1].event_idx = EVENT_CYCLES;
		s[2].event_idx = EVENT_ITLB_READ_MISS;
		s[3].event_idx = EVENT_DTLB_READ_MISS;
		batch_apply(all, program, all);
		s[0].event_idx = EVENT_CYCLES;
		s[1].event_idx = EVENT_INSTRUCTIONS;
		s[2].event_idx = EVENT_DTLB_READ_MISS;
		s[3].event_idx = EVENT_ITLB_READ_MISS;
		batch_apply(all, program, all);
	}
	return (csr_read(CSR_TIME) - begin) * INSTRUCTIONS_PER_TICK / CALLS;
}

static void program_cost(void)
{
	ulong without, with, each;
	u64 all;

	REQUIRE(batch_page_set());
	all = four();
	REQUIRE(all);
	batch_page()->load = all;
	/* The first call with an event on a counter takes the long way. */
	per_exchange(all, all);
	without = per_exchange(all, 0);
	with = per_exchange(all, all);
	each = (with - without) / 4;
	print("# stop, load and start 4: %lu instructions a call; program them too: %lu, %lu each\n",
	      without, with, each);
	/* 64-bit CSRs and values are two on RV32. */
	EXPECT_IN(each, 1, (XLEN == 32 ? 2 : 1) * COST_PROGRAM);
}

static void nothing_cost(void)
{
	struct batch nothing = {};

	REQUIRE(batch_page_set());
	judge("nothing", per_call(&nothing, &nothing), 0);
}

/* Four programmable counters that count cycles and instructions, too. */
#define NEEDS	(NEEDS_BATCH | NEEDS_ICOUNT | NEEDS_SSCOFPMF)

const struct test_case batch_cost_cases[] = {
	{ "APPLY of nothing is little dearer than a trap", nothing_cost, NEEDS },
	{ "APPLY stops 4 counters, and starts them, within its cost", stop_and_start_cost, NEEDS },
	{ "APPLY loads and starts 4 counters within its cost", load_cost, NEEDS },
	{ "APPLY programs 4 counters within its cost", program_cost, NEEDS },
	CASES_END
};
