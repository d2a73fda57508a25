// SPDX-License-Identifier: BSD-2-Clause
/*
 * Costs of APPLY, in instructions. With -icount shift=0 an instruction takes 1 ns, and
 * the board's time base of 10 MHz ticks every 100 instructions: over CALLS calls, the
 * resolution is a tenth of an instruction per call.
 */
#include "batch.h"
#include "case.h"
#include "fdt.h"

#define CALLS			1000
#define INSTRUCTIONS_PER_TICK	100

/* Maximum costs in addition to a trap that does nothing: section 15. */
#define COST_CALL		180
#define COST_COUNTER		30
/* In addition for each counter that is programmed. */
#define COST_PROGRAM		64
/* OpenSBI maps the page for M-mode by a PMP entry, and unmaps it again. */
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

/* Costs of a call that does nothing: the trap, and the dispatch to the base extension. */
static ulong trap_floor(void)
{
	ulong begin, i;

	begin = csr_read(CSR_TIME);
	for (i = 0; i < CALLS; i++)
		sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);
	return (csr_read(CSR_TIME) - begin) * INSTRUCTIONS_PER_TICK / CALLS;
}

/* Four counters with different events, as in a perf group. */
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
	may += bootarg("cost.slack", 0);

	print("# %s: %lu instructions per call, %lu more than a trap's %lu\n", what, cost, cost - floor,
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
 * Costs of a call that stops, loads and starts four counters, and programs those of
 * PROGRAM. The counters exchange their events before each call, so that the firmware
 * cannot keep the present configuration.
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
	/* The first call with an event on a counter takes longer. */
	per_exchange(all, all);
	without = per_exchange(all, 0);
	with = per_exchange(all, all);
	each = (with - without) / 4;
	print("# stop, load and start 4: %lu instructions per call; also program: %lu, %lu each\n",
	      without, with, each);
	/* 64-bit CSRs and values are accessed in two halves on RV32. */
	EXPECT_IN(each, 1, (XLEN == 32 ? 2 : 1) * COST_PROGRAM + bootarg("cost.slack", 0));
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
	{ "APPLY without counters costs little more than a trap", nothing_cost, NEEDS },
	{ "APPLY stops 4 counters and starts them within its cost", stop_and_start_cost, NEEDS },
	{ "APPLY loads and starts 4 counters within its cost", load_cost, NEEDS },
	{ "APPLY programs 4 counters within its cost", program_cost, NEEDS },
	CASES_END
};
