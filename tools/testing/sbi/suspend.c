// SPDX-License-Identifier: BSD-2-Clause
/* The batch page after a suspend of the hart. */
#include "batch.h"
#include "case.h"

#define RETENTIVE	0UL
#define NON_RETENTIVE	0x80000000UL

/* Ticks of the board's 10 MHz clock until the hart wakes up. */
#define SLEEP		1000

long hart_suspend(ulong type);

/* With interrupts off, the timer wakes the hart without an interrupt. */
static long suspend(ulong type)
{
	long error;

	irqs_disable();
	csr_set(CSR_SIE, BIT(IRQ_STIMER));
	sbi_set_timer(csr_read(CSR_TIME) + SLEEP);
	error = hart_suspend(type);
	sbi_set_timer(ALL_ONES_64);
	csr_clear(CSR_SIE, BIT(IRQ_STIMER));
	return error;
}

static void batch_page_is_gone_after_non_retentive_suspend(void)
{
	REQUIRE(batch_page_set());
	EXPECT_OK(batch_apply(0, 0, 0));
	EXPECT_EQ(suspend(NON_RETENTIVE), 0);
	EXPECT_ERROR(batch_apply(0, 0, 0), SBI_ERR_NO_SHMEM);
	EXPECT_ERROR(batch_resolve(EVENT_CYCLES, 0), SBI_ERR_NO_SHMEM);
	REQUIRE(batch_page_set());
	EXPECT_OK(batch_apply(0, 0, 0));
}

static void batch_page_stays_after_retentive_suspend(void)
{
	REQUIRE(batch_page_set());
	EXPECT_EQ(suspend(RETENTIVE), 0);
	EXPECT_OK(batch_apply(0, 0, 0));
}

static void counter_runs_after_retentive_suspend(void)
{
	u64 ctr;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	EXPECT_EQ(suspend(RETENTIVE), 0);
	EXPECT(is_running(ctr));
}

const struct test_case suspend_cases[] = {
	{ "the batch page is gone after a non-retentive suspend",
	  batch_page_is_gone_after_non_retentive_suspend, NEEDS_BATCH },
	{ "the batch page stays after a retentive suspend",
	  batch_page_stays_after_retentive_suspend, NEEDS_BATCH },
	{ "a counter that APPLY started runs after a retentive suspend",
	  counter_runs_after_retentive_suspend, NEEDS_BATCH },
	CASES_END
};
