// SPDX-License-Identifier: GPL-2.0
/* Tests of sbi/backend.c and sbi/quirks.c: counters that are found, and invalid descriptions. */

#include "fake_firmware.h"

#ifdef CONFIG_RISCV_PMU_FW
static void firmware_counter_is_read_by_call(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fw->ctr[6].value = 0x123456789abcdef0ULL;
	KUNIT_EXPECT_EQ(test, riscv_pmu_sbi_ops.read_ctr(&fw->pmu, 6), 0x123456789abcdef0ULL);
	fake_fw_expect_all_released(test);
}
#endif

struct move_row {
	const char	*name;
	unsigned int	period;
	unsigned int	reads;
	u64		filters;
	u64		able;
};

/* A fixed counter can filter if it always advances without filters, and never with them. */
static const struct move_row move_rows[] = {
	{ "both filter", 1, 0, FW_FIXED, FW_FIXED },
	{ "cycle filters", 1, 0, C(0), C(0) },
	{ "neither filters", 1, 0, 0, 0 },
	{ "neither advances", 0, 0, 0, 0 },
	{ "slow", 3, 0, 0, 0 },
	{ "slow, just before it advances", 3, 1, 0, 0 },
	{ "slow, just after it has advanced", 3, 2, 0, 0 },
	{ "very slow", 7, 5, 0, 0 },
	{ "very slow, later", 7, 6, 0, 0 },
	{ "very slow, filters", 7, 5, FW_FIXED, 0 },
};

KUNIT_ARRAY_PARAM_DESC(move, move_rows, name);

static void slow_fixed_counter_is_not_used_with_filters(struct kunit *test)
{
	const struct move_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->period = row->period;
	fw->reads = row->reads;
	fw->filters = row->filters;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[0].inh, row->able & C(0) ? GENMASK(4, 0) : 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[2].inh, row->able & C(2) ? GENMASK(4, 0) : 0);
	fake_fw_expect_all_released(test);
}

/* A fixed counter that cannot be configured is not used if it is unreadable or stopped. */
static void unreadable_or_stopped_fixed_counter_is_not_used(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->refuses = FW_FIXED;
	fw->readable &= ~C(0);
	fw->error[SBI_EXT_PMU_COUNTER_START] = SBI_ERR_INVALID_PARAM;
	fw->error_ctrs = C(2);
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_USED & ~FW_FIXED);
	KUNIT_EXPECT_EQ(test, fw->pmu.fixed_ctrs, 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.free_running_ctrs, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0x00001, 0), FW_CONFIG);
	fake_fw_expect_all_released(test);
}

struct duplicate_row {
	const char	*name;
	bool		is_qemu;
	bool		duplicate_event;
	unsigned int	period;
	unsigned int	reads;
	u64		cycles;
};

/* With QEMU's bug, cycles are restricted to one programmable counter. */
static const struct duplicate_row duplicate_rows[] = {
	{ "QEMU with the bug", true, true, 1, 0, C(0) | C(3) },
	{ "QEMU without the bug", true, false, 1, 0, C(0) | FW_CONFIG },
	{ "QEMU without the bug, slow", true, false, 3, 1, C(0) | FW_CONFIG },
	{ "QEMU without the bug, slow, later", true, false, 3, 2, C(0) | FW_CONFIG },
	{ "a board that seems to have the bug", false, true, 1, 0, C(0) | FW_CONFIG },
	{ "a board, slow", false, false, 3, 1, C(0) | FW_CONFIG },
};

KUNIT_ARRAY_PARAM_DESC(duplicate, duplicate_rows, name);

static void duplicate_event_quirk_is_found_on_qemu_only(struct kunit *test)
{
	const struct duplicate_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->pmu.is_qemu = row->is_qemu;
	fw->duplicate_event = row->duplicate_event;
	fw->period = row->period;
	fw->reads = row->reads;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, 0x00001, 0), row->cycles);
	fake_fw_expect_all_released(test);
}

struct num_row {
	const char	*name;
	long		num;
	int		err;
	u64		ctrs;
};

static const struct num_row num_rows[] = {
	{ "10000", 10000, 0, FW_USED },
	{ "LONG_MAX", LONG_MAX, 0, FW_USED },
	{ "0", 0, -ENODEV, 0 },
	{ "-1", -1, -ENODEV, 0 },
	{ "LONG_MIN", LONG_MIN, -ENODEV, 0 },
	{ "fewer than there are", 4, 0, C(0) | C(2) | C(3) },
};

KUNIT_ARRAY_PARAM_DESC(num, num_rows, name);

static void number_of_counters_is_bounded(struct kunit *test)
{
	const struct num_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->num = row->num;
	KUNIT_EXPECT_EQ(test, fake_fw_probe(fw), row->err);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, row->ctrs);
	KUNIT_EXPECT_LT(test, fw->highest, RISCV_MAX_COUNTERS);
	fake_fw_expect_all_released(test);
}

struct info_row {
	const char	*name;
	u16		csr;
	unsigned int	width;
};

/* Descriptions of counter 4 */
static const struct info_row info_rows[] = {
	{ "1 bit", CSR_CYCLE + 4, 1 },
	{ "8 bits", CSR_CYCLE + 4, 8 },
	{ "CSR 0", 0, 64 },
	{ "CSR 0xfff", 0xfff, 64 },
	{ "one below cycle", CSR_CYCLE - 1, 64 },
	{ "one above hpmcounter31", CSR_CYCLE + 32, 64 },
	{ "the time", CSR_TIME, 64 },
	{ "sstatus", CSR_SSTATUS, 64 },
	{ "mcycle", 0xb00, 64 },
};

KUNIT_ARRAY_PARAM_DESC(info, info_rows, name);

static void counter_with_an_invalid_description_is_not_used(struct kunit *test)
{
	const struct info_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->override_info = C(4);
	fw->info[4] = fake_fw_info_of(row->csr, row->width, false);
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_USED & ~C(4));
	KUNIT_EXPECT_EQ(test, fw->pmu.irq_ctrs, FW_CONFIG & ~C(4));
	KUNIT_EXPECT_EQ(test, fake_fw_event_ctrs(fw, EVENT_L1D_MISS, 0), FW_CONFIG & ~C(4));
	fake_fw_expect_all_released(test);
}

#ifdef CONFIG_RISCV_PMU_FW
/* Descriptions of counter 6, a firmware counter; before SBI 2.0, RV32 can read 32 bits only. */
static const struct info_row own_rows[] = {
	{ "1 bit", 0, 1 },
	{ "8 bits", 0, 8 },
	{ "32 bits", 0, 32 },
	{ "64 bits, CSR 0xfff", 0xfff, 64 },
	{ "1 bit, cycle", CSR_CYCLE, 1 },
};

KUNIT_ARRAY_PARAM_DESC(own, own_rows, name);

static void width_and_csr_of_a_firmware_counter_are_ignored(struct kunit *test)
{
	const unsigned int width =
		IS_ENABLED(CONFIG_64BIT) || sbi_spec_version >= sbi_mk_version(2, 0) ? 64 : 32;
	const struct info_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->override_info = C(6);
	fw->info[6] = fake_fw_info_of(row->csr, row->width, true);
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_CTRS);
	KUNIT_EXPECT_EQ(test, fw->pmu.fw_ctrs, FW_OWN);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].width, width);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctr[6].csr, 0);
	fake_fw_expect_all_released(test);
}
#endif

static void probe_fails_if_all_descriptions_are_invalid(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->override_info = FW_CTRS;
	KUNIT_EXPECT_EQ(test, fake_fw_probe(fw), -ENODEV);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, 0);
}

struct error_row {
	const char	*name;
	unsigned long	fid;
	long		error;
};

static const struct error_row error_rows[] = {
	{ "NUM_COUNTERS: failed", SBI_EXT_PMU_NUM_COUNTERS, SBI_ERR_FAILURE },
	{ "NUM_COUNTERS: denied", SBI_EXT_PMU_NUM_COUNTERS, SBI_ERR_DENIED },
	{ "NUM_COUNTERS: not supported", SBI_EXT_PMU_NUM_COUNTERS, SBI_ERR_NOT_SUPPORTED },
	{ "NUM_COUNTERS: undefined error", SBI_EXT_PMU_NUM_COUNTERS, -1000 },
	{ "NUM_COUNTERS: positive", SBI_EXT_PMU_NUM_COUNTERS, 1 },
	{ "GET_INFO: failed", SBI_EXT_PMU_COUNTER_GET_INFO, SBI_ERR_FAILURE },
	{ "GET_INFO: undefined error", SBI_EXT_PMU_COUNTER_GET_INFO, -1000 },
};

KUNIT_ARRAY_PARAM_DESC(error, error_rows, name);

static void probe_fails_without_counters(struct kunit *test)
{
	const struct error_row *row = test->param_value;
	struct firmware *fw = test->priv;

	fw->error[row->fid] = row->error;
	KUNIT_EXPECT_LT(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, 0);
}

#ifdef CONFIG_RISCV_PMU_FW
static void refused_read_returns_zero(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	fw->ctr[6].value = 1234;
	fw->error[SBI_EXT_PMU_COUNTER_FW_READ] = SBI_ERR_INVALID_PARAM;
	KUNIT_EXPECT_EQ(test, riscv_pmu_sbi_ops.read_ctr(&fw->pmu, 6), 0);
	fake_fw_expect_all_released(test);
}
#endif

/* One line of the log has all of them. */
static void counters_whose_csrs_trap_are_not_used(struct kunit *test)
{
	struct firmware *fw = test->priv;

	fw->readable = FW_FIXED | C(4);
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs & ~fw->pmu.fw_ctrs, FW_FIXED | C(4));
	fake_fw_expect_all_released(test);

	fw->readable = 0;
	fw->pmu.ctrs = 0;
	fw->pmu.fixed_ctrs = 0;
	fw->pmu.irq_ctrs = 0;
	KUNIT_EXPECT_EQ(test, fake_fw_probe(fw), FW_USED_OWN ? 0 : -ENODEV);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_USED_OWN);
}

struct hart_row {
	const char	*name;
	u64		unreadable;
	u64		unfiltered;
	u64		no_irqs;
	u64		narrow;
	u64		refused;
	u64		clamped;
	bool		equal;
};

static const struct hart_row hart_rows[] = {
	{ "equal", .equal = true },
	{ "a counter traps", .unreadable = C(4) },
	{ "cycle does not filter", .unfiltered = C(0) },
	{ "instret does not interrupt", .no_irqs = C(2) },
	{ "narrower", .narrow = C(5) },
	{ "wider than the driver uses", .clamped = C(5), .equal = true },
	{ "narrower, although wider was cut", .narrow = C(5), .clamped = C(5) },
	{ "cycle cannot be configured", .refused = C(0) },
};

KUNIT_ARRAY_PARAM_DESC(hart, hart_rows, name);

/* What one hart has is not assumed of another, which differs as the row says. */
static void a_hart_that_differs_is_found(struct kunit *test)
{
	const struct hart_row *row = test->param_value;
	struct firmware *fw = test->priv;
	const char *what;

	kunit_activate_static_stub(test, riscv_pmu_csr_read_ovf, fake_fw_read_ovf);
	kunit_activate_static_stub(test, riscv_pmu_csr_ack_irq, fake_fw_ack_irq);
	fw->pmu.fixed_irqs = true;
	fw->step = 2000;
	fw->filters = FW_FIXED;
	fw->irqs = FW_FIXED;
	KUNIT_ASSERT_EQ(test, fake_fw_probe(fw), 0);
	KUNIT_ASSERT_EQ(test, fw->pmu.irq_ctrs & FW_FIXED, FW_FIXED);
	KUNIT_ASSERT_NE(test, fw->pmu.ctr[0].inh, 0);

	fw->readable &= ~row->unreadable;
	fw->filters &= ~row->unfiltered;
	fw->irqs &= ~row->no_irqs;
	fw->refuses |= row->refused;
	fw->override_info = row->narrow;
	for_each_ctr(ctr, row->narrow)
		fw->info[ctr] = fake_fw_info_of(CSR_CYCLE + ctr, 31, false);
	fw->pmu.clamped_ctrs = row->clamped;
	for_each_ctr(ctr, row->clamped)
		fw->pmu.ctr[ctr].width = 36;
	scoped_guard(irqsave)
		what = riscv_pmu_sbi_ops.check_hart(&fw->pmu);
	KUNIT_EXPECT_EQ_MSG(test, !what, row->equal, "%s", what);
	fake_fw_expect_all_released(test);
}

static void legacy_checks_each_hart(struct kunit *test)
{
	struct firmware *fw = test->priv;

	KUNIT_ASSERT_EQ(test, riscv_pmu_base_ops.probe(&fw->pmu), 0);
	KUNIT_EXPECT_EQ(test, fw->pmu.ctrs, FW_FIXED);
	KUNIT_EXPECT_NULL(test, riscv_pmu_base_ops.check_hart(&fw->pmu));
	fw->readable = C(0);
	KUNIT_EXPECT_NOT_NULL(test, riscv_pmu_base_ops.check_hart(&fw->pmu));
}

static struct kunit_case backend_cases[] = {
	KUNIT_CASE(counters_whose_csrs_trap_are_not_used),
	KUNIT_CASE_PARAM(a_hart_that_differs_is_found, hart_gen_params),
	KUNIT_CASE(legacy_checks_each_hart),
	KUNIT_CASE_PARAM(slow_fixed_counter_is_not_used_with_filters, move_gen_params),
	KUNIT_CASE(unreadable_or_stopped_fixed_counter_is_not_used),
	KUNIT_CASE_PARAM(duplicate_event_quirk_is_found_on_qemu_only, duplicate_gen_params),
	KUNIT_CASE_PARAM(number_of_counters_is_bounded, num_gen_params),
	KUNIT_CASE_PARAM(counter_with_an_invalid_description_is_not_used, info_gen_params),
	KUNIT_CASE(probe_fails_if_all_descriptions_are_invalid),
	KUNIT_CASE_PARAM(probe_fails_without_counters, error_gen_params),
#ifdef CONFIG_RISCV_PMU_FW
	KUNIT_CASE(firmware_counter_is_read_by_call),
	KUNIT_CASE_PARAM(width_and_csr_of_a_firmware_counter_are_ignored, own_gen_params),
	KUNIT_CASE(refused_read_returns_zero),
#endif
	{}
};

FW_SUITE("riscv_pmu_sbi_backend", backend_cases, fake_fw_init);

kunit_test_suites(&backend_cases_suite);
