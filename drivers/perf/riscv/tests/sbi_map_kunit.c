// SPDX-License-Identifier: GPL-2.0
/* Tests of sbi/map.c: events that firmware without a map gets from the table of the core. */

#include "fake_firmware.h"

#define EVENT_CYCLES	0x00001
#define EVENT_DTLB	0x10019
#define EVENT_ITLB	0x10021
#define RAW_SET		0x120000
#define RAW_MASK	~0xffULL

static const struct riscv_pmu_selector map_table[] = {
	{ EVENT_L1D_MISS, .selector = 0x202, .counters = C(4) },
	{ EVENT_DTLB, .selector = 0x1002 },
	{ EVENT_RAW, .selector = RAW_SET, .mask = RAW_MASK, .counters = C(3) | C(4) },
	{ EVENT_RAW, .selector = 0, .mask = RAW_MASK, .counters = C(5) },
};

static int map_init(struct kunit *test)
{
	int err = fake_fw_init_batch(test);
	struct firmware *fw = test->priv;

	if (err)
		return err;
	fw->has_no_map = true;
	fw->platform.selectors = map_table;
	fw->platform.nr_selectors = ARRAY_SIZE(map_table);
	fw->pmu.platform = &fw->platform;
	return 0;
}

static void use_table(struct firmware *fw, const struct riscv_pmu_selector *table, unsigned int nr)
{
	fw->platform.selectors = table;
	fw->platform.nr_selectors = nr;
}

static void firmware_without_a_map_gets_the_table(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_MAP_EVENTS], 4);
	KUNIT_ASSERT_EQ(test, fw->nr_mapped, 4);
	KUNIT_EXPECT_EQ(test, fw->mapped[3].value, 0x202);
	KUNIT_EXPECT_EQ(test, fw->mapped[2].value, 0x1002);
	KUNIT_EXPECT_EQ(test, fw->mapped[1].event_data, RAW_MASK);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_DTLB, 0), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, RAW_SET | 7), C(3) | C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, RAW_SET | 0x100), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_RAW, 7), C(5));
	fake_fw_expect_all_released(test);
}

static void firmware_with_a_map_gets_nothing(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->has_no_map = false;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_MAP_EVENTS], 0);
	fake_fw_expect_all_released(test);
}

static const struct riscv_pmu_selector other_table[] = {
	{ EVENT_L1D_MISS, .selector = 0x303, .counters = C(4) },
	{ EVENT_DTLB, .selector = 0x1002 },
};

static const struct riscv_pmu_platform other_platform = {
	.selectors = other_table, .nr_selectors = ARRAY_SIZE(other_table),
};

/* One map cannot be right for two types of cores: where they differ, raw events are used. */
static void events_that_differ_between_cores_are_raw(struct kunit *test)
{
	struct riscv_pmu_config cfg = { .event_idx = EVENT_L1D_MISS };
	struct firmware *fw = test->priv;

	fw->pmu.others[fw->pmu.nr_others++] = &other_platform;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_ASSERT_EQ(test, fw->nr_mapped, 4);
	KUNIT_EXPECT_EQ(test, fw->mapped[3].event_idx, EVENT_RAW);
	KUNIT_EXPECT_EQ(test, fw->mapped[3].value, 0x202);
	KUNIT_EXPECT_EQ(test, fw->mapped[3].event_data, ~0ULL);
	KUNIT_EXPECT_EQ(test, fw->mapped[2].event_idx, EVENT_DTLB);
	KUNIT_EXPECT_EQ(test, riscv_pmu_sbi_ops.event_ctrs(&fw->pmu, &cfg), C(4));
	KUNIT_EXPECT_TRUE(test, riscv_pmu_event_is_raw(cfg.event_idx));
	KUNIT_EXPECT_EQ(test, cfg.event_data, 0x202);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_DTLB, 0), FW_CONFIG);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_CYCLES, 0), C(0));
	fake_fw_expect_all_released(test);
}

/* Cycles need no map, unless the firmware refuses the fixed counter. */
static void cycles_are_raw_without_a_fixed_counter(struct kunit *test)
{
	static const struct riscv_pmu_selector table[] = {
		{ EVENT_CYCLES, .selector = 1, .counters = C(4) },
	};
	struct riscv_pmu_config cfg = { .event_idx = EVENT_CYCLES };
	struct firmware *fw = test->priv;

	use_table(fw, table, ARRAY_SIZE(table));
	fw->pmu.others[fw->pmu.nr_others++] = &other_platform;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_CYCLES, 0), C(0));
	fw->pmu.fixed_ctrs &= ~C(0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_sbi_ops.event_ctrs(&fw->pmu, &cfg), C(4));
	KUNIT_EXPECT_EQ(test, cfg.event_data, 1);
	fake_fw_expect_all_released(test);
}

/* The firmware has a map of these events, which is known to be wrong. */
static void a_wrong_map_is_corrected_or_refused(struct kunit *test)
{
	static const u32 bad_events[] = { EVENT_L1D_MISS, EVENT_BUS };
	struct riscv_pmu_config cfg = { .event_idx = EVENT_L1D_MISS };
	struct firmware *fw = test->priv;

	fw->has_no_map = false;
	fw->platform.bad_events = bad_events;
	fw->platform.nr_bad_events = ARRAY_SIZE(bad_events);
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_NE(test, riscv_pmu_sbi_ops.event_ctrs(&fw->pmu, &cfg), 0);
	KUNIT_EXPECT_TRUE(test, riscv_pmu_event_is_raw(cfg.event_idx));
	KUNIT_EXPECT_EQ(test, cfg.event_data, 0x202);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_BUS, 0), 0);

	/* Without raw events nothing can be corrected. */
	fw->pmu.raw_bits = 0;
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), 0);
	fake_fw_expect_all_released(test);
}

/* A second probe, as after kexec: the firmware has kept the events. */
static void mapped_events_are_not_handed_over_again(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fake_fw_expect_all_released(test);
	fw->batch_calls[SBI_PMU_BATCH_MAP_EVENTS] = 0;
	fw->pmu.ctrs = 0;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_MAP_EVENTS], 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_DTLB, 0), FW_CONFIG);
	fake_fw_expect_all_released(test);
}

/* The table names a counter that the firmware does not have: the others count the event. */
static void absent_counters_are_left_out(struct kunit *test)
{
	static const struct riscv_pmu_selector table[] = {
		{ EVENT_L1D_MISS, .selector = 1, .counters = C(4) | C(6) | C(20) | C(0) },
		{ EVENT_DTLB, .selector = 2, .counters = C(31) },
		{ EVENT_ITLB, .selector = 3, .counters = C(5) },
	};
	struct firmware *fw = test->priv;

	use_table(fw, table, ARRAY_SIZE(table));
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_DTLB, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_ITLB, 0), C(5));
	KUNIT_EXPECT_EQ(test, fw->nr_mapped, 2);
	fake_fw_expect_all_released(test);
}

/* The table has the numbers of CSRs, and the firmware numbers its counters otherwise. */
static void counters_are_named_by_their_csrs(struct kunit *test)
{
	static const struct riscv_pmu_selector table[] = {
		{ EVENT_L1D_MISS, .selector = 1, .counters = C(4) },
	};
	struct firmware *fw = test->priv;

	use_table(fw, table, ARRAY_SIZE(table));
	fw->override_info = C(3) | C(4);
	fw->info[3] = fake_fw_info_of(CSR_CYCLE + 4, 48, false);
	fw->info[4] = fake_fw_info_of(CSR_CYCLE + 3, 48, false);
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), C(3));
	fake_fw_expect_all_released(test);
}

/* Only programmable counters can filter cycles and interrupt for them, so a map is worth having. */
static void cycles_are_mapped_if_there_are_filters(struct kunit *test)
{
	static const struct riscv_pmu_selector table[] = {
		{ EVENT_CYCLES, .selector = 1 },
	};
	struct firmware *fw = test->priv;

	use_table(fw, table, ARRAY_SIZE(table));
	fw->pmu.has_filters = false;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_MAP_EVENTS], 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_CYCLES, 0), C(0));
	fake_fw_expect_all_released(test);

	fw->pmu.has_filters = true;
	fw->pmu.ctrs = 0;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_CYCLES, 0), C(0) | FW_CONFIG);
	fake_fw_expect_all_released(test);
}

struct map_error_row {
	const char	*name;
	unsigned int	fid;
	long		error;
};

static const struct map_error_row map_error_rows[] = {
	{ "version 0.9", SBI_PMU_BATCH_MAP_EVENTS, SBI_ERR_NOT_SUPPORTED },
	{ "refused", SBI_PMU_BATCH_MAP_EVENTS, SBI_ERR_FAILURE },
	{ "invalid address", SBI_PMU_BATCH_MAP_EVENTS, SBI_ERR_INVALID_ADDRESS },
	{ "undefined error", SBI_PMU_BATCH_MAP_EVENTS, -1000 },
	{ "positive", SBI_PMU_BATCH_MAP_EVENTS, 1 },
	{ "no page", SBI_PMU_BATCH_SET_SHMEM, SBI_ERR_INVALID_ADDRESS },
	{ "no answers", SBI_PMU_BATCH_RESOLVE, SBI_ERR_INVALID_PARAM },
};

KUNIT_ARRAY_PARAM_DESC(map_error, map_error_rows, name);

static void only_the_events_are_missing_after_an_error(struct kunit *test)
{
	const struct map_error_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->batch_error[row->fid] = row->error;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->nr_mapped, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_CYCLES, 0), C(0));
	fake_fw_expect_all_released(test);
}

static void methods_without_the_function_map_nothing(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->has_batch = false;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->batch_calls[SBI_PMU_BATCH_MAP_EVENTS], 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), 0);
	fake_fw_expect_all_released(test);
}

static struct kunit_case map_cases[] = {
	KUNIT_CASE(firmware_without_a_map_gets_the_table),
	KUNIT_CASE(firmware_with_a_map_gets_nothing),
	KUNIT_CASE(events_that_differ_between_cores_are_raw),
	KUNIT_CASE(cycles_are_raw_without_a_fixed_counter),
	KUNIT_CASE(a_wrong_map_is_corrected_or_refused),
	KUNIT_CASE(mapped_events_are_not_handed_over_again),
	KUNIT_CASE(absent_counters_are_left_out),
	KUNIT_CASE(counters_are_named_by_their_csrs),
	KUNIT_CASE(cycles_are_mapped_if_there_are_filters),
	KUNIT_CASE_PARAM(only_the_events_are_missing_after_an_error, map_error_gen_params),
	KUNIT_CASE(methods_without_the_function_map_nothing),
	{}
};

FW_SUITE("riscv_pmu_sbi_map", map_cases, map_init);

kunit_test_suites(&map_cases_suite);
