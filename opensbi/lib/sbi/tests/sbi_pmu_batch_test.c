/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of the PMU batch extension can be tested without a supervisor. The calls
 * themselves are tested from S-mode, by tools/testing/sbi.
 */

#include <sbi/riscv_encoding.h>
#include <sbi/sbi_ecall_interface.h>
#include <sbi/sbi_error.h>
#include <sbi/sbi_pmu_batch.h>
#include <sbi/sbi_scratch.h>
#include <sbi/sbi_unit_test.h>

#define PAGE	SBI_PMU_BATCH_SHMEM_SIZE
#define NONE	SBI_PMU_BATCH_SHMEM_DISABLE

/* Firmware's own memory, which no supervisor may have it write to. */
static char own_page[PAGE] __attribute__((aligned(PAGE)));

static void page_layout_is_as_specified(struct sbiunit_test_case *test)
{
	SBIUNIT_EXPECT_EQ(test, sizeof(struct sbi_pmu_batch_shmem), PAGE);
	SBIUNIT_EXPECT_EQ(test, sizeof(struct sbi_pmu_batch_slot), 32);
	SBIUNIT_EXPECT_EQ(test, __builtin_offsetof(struct sbi_pmu_batch_shmem, slot), 0x40);
	SBIUNIT_EXPECT_EQ(test, __builtin_offsetof(struct sbi_pmu_batch_shmem, failed), 0x20);
	SBIUNIT_EXPECT_EQ(test, __builtin_offsetof(struct sbi_pmu_batch_slot, event_idx), 24);
}

static void filters_go_where_mhpmevent_has_them(struct sbiunit_test_case *test)
{
	static const struct {
		u32 flags;
		u64 inh;
	} rows[] = {
		{ 0, 0 },
		{ SBI_PMU_CFG_FLAG_SET_UINH, MHPMEVENT_UINH },
		{ SBI_PMU_CFG_FLAG_SET_SINH, MHPMEVENT_SINH },
		{ SBI_PMU_CFG_FLAG_SET_VUINH, MHPMEVENT_VUINH },
		{ SBI_PMU_CFG_FLAG_SET_VSINH, MHPMEVENT_VSINH },
		{ SBI_PMU_CFG_FLAG_SET_MINH, 0 },
		{ SBI_PMU_CFG_FLAG_SKIP_MATCH | SBI_PMU_CFG_FLAG_CLEAR_VALUE |
		  SBI_PMU_CFG_FLAG_AUTO_START, 0 },
		{ -1U, MHPMEVENT_UINH | MHPMEVENT_SINH | MHPMEVENT_VUINH | MHPMEVENT_VSINH },
	};

	/* Machine mode is never counted, and OF never set. */
	for (u32 i = 0; i < array_size(rows); i++)
		SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_flags_to_inh(rows[i].flags),
				  rows[i].inh | MHPMEVENT_MINH);
}

static void counters_that_run_are_left_alone(struct sbiunit_test_case *test)
{
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_running(0xf8, 0x18, 0x20), 0);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_running(0xf0, 0x18, 0x20), 0x08);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_running(0xd0, 0x18, 0x28), 0x28);
	/* Those that are only to be started may run. */
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_running(0, 0, 0), 0);
}

static void pages_that_can_not_be_shared_are_refused(struct sbiunit_test_case *test)
{
	unsigned long own = (unsigned long)own_page;

	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(own, 0, 1), SBI_EINVAL);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(own + 8, 0, 0), SBI_EINVAL);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(NONE, 0, 0), SBI_EINVAL);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(own, 0, 0), SBI_EINVALID_ADDR);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(own, 1, 0), SBI_EINVALID_ADDR);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(-PAGE, 0, 0), SBI_EINVALID_ADDR);
}

static void nothing_is_done_without_a_page(struct sbiunit_test_case *test)
{
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(NONE, NONE, 0), 0);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(0, 0, 0), SBI_ENO_SHMEM);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(-1ULL, -1ULL, -1ULL), SBI_ENO_SHMEM);
}

static void pmu_batch_test_init(void)
{
	/* Allocates what the functions need, if nobody has done so. */
	sbi_pmu_batch_supported();
}

static struct sbiunit_test_case pmu_batch_test_cases[] = {
	SBIUNIT_TEST_CASE(page_layout_is_as_specified),
	SBIUNIT_TEST_CASE(filters_go_where_mhpmevent_has_them),
	SBIUNIT_TEST_CASE(counters_that_run_are_left_alone),
	SBIUNIT_TEST_CASE(pages_that_can_not_be_shared_are_refused),
	SBIUNIT_TEST_CASE(nothing_is_done_without_a_page),
	SBIUNIT_END_CASE,
};

struct sbiunit_test_suite pmu_batch_test_suite = {
	.name	= "pmu_batch_test_suite",
	.init	= pmu_batch_test_init,
	.cases	= pmu_batch_test_cases,
};
