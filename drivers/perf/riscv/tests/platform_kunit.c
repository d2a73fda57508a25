// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what the tables of platform/ change: here the fake backend is the PMU of a core that has
 * them.
 */

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/perf_event.h>

#include "../platform/platform.h"
#include "fake_backend.h"

/* --- SpacemiT X60: cycles on a fixed counter without filters and without an interrupt --- */

static int x60_init(struct kunit *test)
{
	const struct riscv_pmu_core *core = &riscv_pmu_core_spacemit_x60;
	struct fake_pmu *fake = fake_create(test);

	test->priv = fake;
	if (!fake)
		return -ENOMEM;

	for_each_ctr(ctr, FAKE_FIXED)
		fake->pmu.ctr[ctr].inh = 0;
	fake->fixed_cycles = true;
	fake->pmu.polled_sampling = true;
	fake->pmu.mode_events = core->mode_events;
	fake->pmu.nr_mode_events = core->nr_mode_events;
	return 0;
}

#define HW(id)		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##id
#define SAMPLE		.sample_period = 1000
#define USER		.exclude_kernel = 1
#define KERNEL		.exclude_user = 1
#define CYCLES_IDX	0x00001
#define RAW_IDX		0x20000
#define U_MODE_CYCLE	0x22
#define S_MODE_CYCLE	0x21

struct x60_row {
	const char		*name;
	struct perf_event_attr	attr;
	int			err;
	u32			event_idx;
	u64			event_data;
	u64			ctrs;
	bool			split;
};

static const struct x60_row x60_rows[] = {
	{ "count", { HW(CPU_CYCLES) }, 0, CYCLES_IDX, 0, BIT_ULL(0) },
	{ "count user", { HW(CPU_CYCLES), USER }, 0, RAW_IDX, U_MODE_CYCLE, FAKE_CONFIG },
	{ "count kernel", { HW(CPU_CYCLES), KERNEL }, 0, RAW_IDX, S_MODE_CYCLE, FAKE_CONFIG },
	{ "count neither", { HW(CPU_CYCLES), USER, KERNEL }, -EOPNOTSUPP },
	{ "sample user", { HW(CPU_CYCLES), SAMPLE, USER }, 0, RAW_IDX, U_MODE_CYCLE, FAKE_CONFIG },
	{ "sample kernel", { HW(CPU_CYCLES), SAMPLE, KERNEL },
	  0, RAW_IDX, S_MODE_CYCLE, FAKE_CONFIG },
	{ "sample without filter", { HW(CPU_CYCLES), SAMPLE },
	  0, RAW_IDX, U_MODE_CYCLE, FAKE_CONFIG, true },
	{ "sample without filter, one counter", { HW(CPU_CYCLES), SAMPLE, .config2 = BIT(4) },
	  -EINVAL },
	{ "sample user, one counter", { HW(CPU_CYCLES), SAMPLE, USER, .config2 = BIT(4) },
	  -EINVAL },
	{ "count user, the fixed counter", { HW(CPU_CYCLES), USER, .config2 = BIT(0) },
	  -EOPNOTSUPP },
	{ "another event", { HW(BRANCH_MISSES), SAMPLE }, 0, 0x00006, 0, FAKE_CONFIG },
};

KUNIT_ARRAY_PARAM_DESC(x60, x60_rows, name);

static void modes_are_counted_and_sampled_by_raw_events(struct kunit *test)
{
	const struct x60_row *row = test->param_value;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	KUNIT_ASSERT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &row->attr, false, req),
			row->err);
	if (row->err)
		return;

	KUNIT_EXPECT_EQ(test, req->cfg.event_idx, row->event_idx);
	KUNIT_EXPECT_EQ(test, req->cfg.event_data, row->event_data);
	KUNIT_EXPECT_EQ(test, req->ctrs, row->ctrs);
	/* The raw events need no filter. */
	KUNIT_EXPECT_EQ(test, req->cfg.inh, RISCV_PMU_INH_M);
	KUNIT_EXPECT_EQ(test, req[1].ctrs, row->split ? row->ctrs : 0);
	if (row->split)
		KUNIT_EXPECT_EQ(test, req[1].cfg.event_data, S_MODE_CYCLE);
}

/* Without raw events, as with a firmware that has no map of them, nothing else changes. */
static void without_raw_events_a_timer_samples(struct kunit *test)
{
	const struct perf_event_attr attr = { HW(CPU_CYCLES), SAMPLE };
	const struct perf_event_attr user = { HW(CPU_CYCLES), SAMPLE, USER };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.raw_bits = 0;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, req[1].ctrs, 0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &user, false, req),
			-EOPNOTSUPP);
}

/* If the raw events can not interrupt either, they have no advantage over the event itself. */
static void raw_events_that_do_not_interrupt_are_not_sampled(struct kunit *test)
{
	const struct perf_event_attr attr = { HW(CPU_CYCLES), SAMPLE, USER };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.irq_ctrs = 0;
	fake->pmu.ctr[0].inh = FAKE_ALL_MODES;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->cfg.event_idx, CYCLES_IDX);
}

static struct kunit_case x60_cases[] = {
	KUNIT_CASE_PARAM(modes_are_counted_and_sampled_by_raw_events, x60_gen_params),
	KUNIT_CASE(without_raw_events_a_timer_samples),
	KUNIT_CASE(raw_events_that_do_not_interrupt_are_not_sampled),
	{}
};

static struct kunit_suite x60_suite = {
	.name		= "riscv_pmu_x60",
	.init		= x60_init,
	.test_cases	= x60_cases,
};

kunit_test_suite(x60_suite);
