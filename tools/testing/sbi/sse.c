// SPDX-License-Identifier: BSD-2-Clause
/* Overflows as events of the Supervisor Software Events extension (SBI 3.0, chapter 17). */
#include "batch.h"
#include "case.h"
#include "sse.h"

#define SSE_READ_ATTRS		0
#define SSE_WRITE_ATTRS		1
#define SSE_REGISTER		2
#define SSE_UNREGISTER		3
#define SSE_ENABLE		4
#define SSE_DISABLE		5
#define SSE_HART_UNMASK		8
#define SSE_HART_MASK		9
#define SSE_LOCAL_PMU_OVERFLOW	0x00010000UL
#define SSE_ATTR_STATUS		0
#define SSE_ATTR_CONFIG		2
#define SSE_CONFIG_ONESHOT	1
#define SSE_STATE_RUNNING	3
/* The state has two bits; then "pending", and "can be injected", which is up to the firmware. */
#define SSE_STATUS_KNOWN	0xf
#define SSE_STATUS_INJECT	8

/*
 * Only the random calls raise more events: the handler then stops all counters, so that
 * the run continues.
 */
#define EVENTS_MAX		2000

/* Called by the SSE handler. */
static void (*sse_action)(void);
static volatile u64 sse_events, sse_scountovf;

extern ulong sse_frame[];
void sse_entry(void);
void sse_handle(void);

void sse_handle(void)
{
	sse_events++;
	sse_scountovf = csr_read(CSR_SCOUNTOVF);
	if (sse_events > EVENTS_MAX)
		pmu_stop(0, ctrs.hw, PMU_STOP_RESET);
	else if (sse_action)
		sse_action();
}

static struct sbiret sse_call(ulong fid, ulong arg0, ulong arg1, ulong arg2)
{
	return sbi_call(SBI_EXT_SSE, fid, arg0, arg1, arg2);
}

/* CONFIG is kept after SSE_UNREGISTER, so it is always written. */
static bool sse_register(void (*action)(void), ulong config)
{
	static ulong attribute;

	attribute = config;
	sse_action = action;
	sse_events = 0;
	if (sse_call(SSE_REGISTER, SSE_LOCAL_PMU_OVERFLOW, (ulong)sse_entry,
		     (ulong)sse_frame).error)
		return false;
	return !sbi_call6(SBI_EXT_SSE, SSE_WRITE_ATTRS, SSE_LOCAL_PMU_OVERFLOW,
			  SSE_ATTR_CONFIG, 1, (ulong)&attribute, 0, 0).error;
}

bool sse_begin(void (*action)(void))
{
	if (!sse_register(action, 0))
		return false;
	return !sse_call(SSE_ENABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0).error &&
	       !sse_call(SSE_HART_UNMASK, 0, 0, 0).error;
}

void sse_end(void)
{
	sse_call(SSE_HART_MASK, 0, 0, 0);
	sse_call(SSE_DISABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
	sse_call(SSE_UNREGISTER, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
}

static u64 started(ulong event, u64 value)
{
	struct sbiret ret = pmu_match(0, ctrs.prog, 0, event, 0);

	if (ret.error || pmu_start(ret.value, 1, PMU_START_SET_INIT_VALUE, value).error)
		return ALL_ONES;
	return ret.value;
}

static void overflow_is_an_event(void)
{
	u64 ctr;

	REQUIRE(sse_begin(NULL));
	ctr = started(EVENT_INSTRUCTIONS, -10000ULL);
	loop_for(4900);
	EXPECT_EQ(sse_events, 0);
	loop_for(5000);
	EXPECT_EQ(sse_events, 1);
	EXPECT(sse_scountovf & BIT(ctr));
	sse_end();
}

static void event_is_not_repeated(void)
{
	REQUIRE(sse_begin(NULL));
	EXPECT(started(EVENT_INSTRUCTIONS, -1000ULL) != ALL_ONES);
	loop_for(10000);
	EXPECT_EQ(sse_events, 1);
	sse_end();
}

#ifndef SBI_MODEL	/* It has the attribute CONFIG only. */
static struct sbiret sse_attrs(ulong fid, ulong attr, ulong address)
{
	return sbi_call6(SBI_EXT_SSE, fid, SSE_LOCAL_PMU_OVERFLOW, attr, 1, address, 0, 0);
}

static volatile ulong sse_status;

static void read_status(void)
{
	sse_attrs(SSE_READ_ATTRS, SSE_ATTR_STATUS, (ulong)&sse_status);
}

static void status_has_known_bits_only(void)
{
	sse_status = 0;
	REQUIRE(sse_begin(read_status));
	EXPECT(started(EVENT_INSTRUCTIONS, -1000ULL) != ALL_ONES);
	loop_for(10000);
	EXPECT_EQ(sse_status & ~SSE_STATUS_INJECT, SSE_STATE_RUNNING);
	read_status();
	EXPECT_EQ(sse_status & ~(ulong)SSE_STATUS_KNOWN, 0);
	sse_end();
}

static void attributes_need_memory(void)
{
	EXPECT_ERROR(sse_attrs(SSE_READ_ATTRS, SSE_ATTR_STATUS, ADDRESS_NOTHING), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(sse_attrs(SSE_WRITE_ATTRS, SSE_ATTR_CONFIG, ADDRESS_NOTHING), SBI_ERR_INVALID_ADDRESS);
}
#endif

static u64 first_ctr, second_ctr;

/* The other counter overflows after the handler has read scountovf and before it calls STOP. */
static void stop_first_after_overflow_of_second(void)
{
	if (sse_events > 1)
		return;
	while (!(csr_read(CSR_SCOUNTOVF) & BIT(second_ctr)))
		loop_for(100);
	pmu_stop(first_ctr, 1, 0);
}

static void stop_loses_no_overflow(void)
{
	REQUIRE(sse_begin(stop_first_after_overflow_of_second));
	second_ctr = started(EVENT_CYCLES, -20000ULL);
	first_ctr = started(EVENT_INSTRUCTIONS, -1000ULL);
	EXPECT(first_ctr != ALL_ONES && second_ctr != ALL_ONES);
	loop_for(20000);
	EXPECT_EQ(sse_events, 2);
	EXPECT(sse_scountovf & BIT(second_ctr));
	sse_end();
}

/* A ONESHOT event is disabled when its handler has completed. */
static void oneshot_event_loses_no_overflow(void)
{
	REQUIRE(sse_register(NULL, SSE_CONFIG_ONESHOT));
	EXPECT_OK(sse_call(SSE_ENABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0));
	EXPECT_OK(sse_call(SSE_HART_UNMASK, 0, 0, 0));
	second_ctr = started(EVENT_CYCLES, -20000ULL);
	first_ctr = started(EVENT_INSTRUCTIONS, -1000ULL);
	EXPECT(first_ctr != ALL_ONES && second_ctr != ALL_ONES);
	loop_for(2000);
	EXPECT_EQ(sse_events, 1);
	loop_for(20000);
	EXPECT_EQ(sse_events, 1);
	EXPECT(csr_read(CSR_SCOUNTOVF) & BIT(second_ctr));
	EXPECT_OK(sse_call(SSE_ENABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0));
	loop_for(2000);
	EXPECT_EQ(sse_events, 2);
	sse_end();
}

static void apply_again(void)
{
	batch_apply(BIT(first_ctr), 0, BIT(first_ctr));
}

#define EVENTS		1000

static void apply_rearms_in_the_handler(void)
{
	u64 turns;

	REQUIRE(batch_page_set());
	REQUIRE(sse_begin(apply_again));
	first_ctr = batch_start(EVENT_INSTRUCTIONS, -1000ULL);
	EXPECT(first_ctr != ALL_ONES);
	for (turns = 0; sse_events < EVENTS && turns < 2 * EVENTS; turns++)
		loop_for(1000);
	/* The last turn may have raised two more. */
	EXPECT_IN(sse_events, EVENTS, EVENTS + 2);
	batch_apply(BIT(first_ctr), 0, 0);
	/*
	 * Instructions from one event to the next: 1000, minus those that the handler
	 * executes after APPLY. One turn has 2000 outside of the handler.
	 */
	EXPECT_IN(turns, EVENTS / 4, EVENTS);
	sse_end();
}

#define NEEDS	(NEEDS_SSE | NEEDS_ICOUNT | NEEDS_SSCOFPMF)

const struct test_case sse_cases[] = {
	/* The expected counts include S-mode only, so the counters must have filters. */
	{ "an overflow raises an SSE event", overflow_is_an_event, NEEDS | NEEDS_FILTERS },
	{ "an SSE event is not repeated if its handler makes no PMU call",
	  event_is_not_repeated, NEEDS },
#ifndef SBI_MODEL
	{ "the status of a running SSE event has no other bits", status_has_known_bits_only, NEEDS },
	{ "SSE refuses attributes where there is no memory", attributes_need_memory, NEEDS },
#endif
	{ "with SSE, STOP of a counter does not lose the overflow of another one",
	  stop_loses_no_overflow, NEEDS },
	{ "an overflow between two ONESHOT events is injected when the event is enabled",
	  oneshot_event_loses_no_overflow, NEEDS },
	{ "APPLY restarts a counter in an SSE handler, 1000 times",
	  apply_rearms_in_the_handler, NEEDS | NEEDS_BATCH | NEEDS_FILTERS },
	CASES_END
};
