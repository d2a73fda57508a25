/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Those properties of the PMU batch extension that a supervisor cannot test: the
 * layout as this compiler sees it, and what happens when the hart changes domains.
 */

#include <sbi/sbi_bitops.h>
#include <sbi/sbi_domain.h>
#include <sbi/sbi_ecall_interface.h>
#include <sbi/sbi_error.h>
#include <sbi/sbi_hart.h>
#include <sbi/sbi_pmu.h>
#include <sbi/sbi_pmu_batch.h>
#include <sbi/sbi_scratch.h>
#include <sbi/sbi_string.h>
#include <sbi/sbi_unit_test.h>

#define PAGE	SBI_PMU_BATCH_SHMEM_SIZE
#define NONE	SBI_PMU_BATCH_SHMEM_DISABLE

/*
 * A call with counter 1, which does not exist, tells whether there is a page, and does not access
 * it.
 */
#define NO_COUNTER	BIT_ULL(1)
#define HAS_PAGE	SBI_EINVAL
#define HAS_NO_PAGE	SBI_ENO_SHMEM

/* The firmware's own memory, which must not become a page. */
static char own_page[PAGE] __attribute__((aligned(PAGE)));

/* A second domain with the rights of the root domain. */
static struct sbi_domain other;

static unsigned long page_of_supervisor(unsigned int n)
{
	return (root.next_addr & ~(PAGE - 1UL)) + n * PAGE;
}

/* Without mcountinhibit the extension is not there, and nothing of it is set up. */
static bool is_supported;

static void domain_enter(struct sbi_domain *dom)
{
	sbi_update_hartindex_to_domain(current_hartindex(), dom);
}

static void page_layout_is_as_specified(struct sbiunit_test_case *test)
{
	SBIUNIT_EXPECT_EQ(test, sizeof(struct sbi_pmu_batch_shmem), PAGE);
	SBIUNIT_EXPECT_EQ(test, sizeof(struct sbi_pmu_batch_slot), 32);
	SBIUNIT_EXPECT_EQ(test, __builtin_offsetof(struct sbi_pmu_batch_shmem, failed), 0x08);
	SBIUNIT_EXPECT_EQ(test, __builtin_offsetof(struct sbi_pmu_batch_shmem, ctrs), 0x10);
	SBIUNIT_EXPECT_EQ(test, __builtin_offsetof(struct sbi_pmu_batch_shmem, slot), 0x40);
	SBIUNIT_EXPECT_EQ(test, __builtin_offsetof(struct sbi_pmu_batch_slot, event_idx), 16);
}

static void firmware_memory_is_refused(struct sbiunit_test_case *test)
{
	unsigned long own = (unsigned long)own_page;

	if (!is_supported)
		return;
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(own, 0, 0), SBI_EINVALID_ADDR);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(-PAGE, 0, 0), SBI_EINVALID_ADDR);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(NO_COUNTER, 0, 0), HAS_NO_PAGE);
}

static void domains_have_pages_of_their_own(struct sbiunit_test_case *test)
{
	if (!is_supported)
		return;
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(page_of_supervisor(0), 0, 0), 0);
	domain_enter(&other);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(NO_COUNTER, 0, 0), HAS_NO_PAGE);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_resolve(SBI_PMU_HW_CPU_CYCLES, 0), HAS_NO_PAGE);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(NONE, NONE, 0), 0);
	domain_enter(&root);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(NO_COUNTER, 0, 0), HAS_PAGE);

	domain_enter(&other);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(page_of_supervisor(1), 0, 0), 0);
	domain_enter(&root);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(NONE, NONE, 0), 0);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(NO_COUNTER, 0, 0), HAS_NO_PAGE);
	domain_enter(&other);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(NO_COUNTER, 0, 0), HAS_PAGE);
	domain_enter(&root);
}

static void reset_forgets_the_pages_of_all_domains(struct sbiunit_test_case *test)
{
	if (!is_supported)
		return;
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(page_of_supervisor(0), 0, 0), 0);
	domain_enter(&other);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(page_of_supervisor(1), 0, 0), 0);
	/* Registered for this call only, so that other tests do not see it. */
	sbi_list_add_tail(&other.node, &domain_list);
	sbi_pmu_batch_reset();
	sbi_list_del(&other.node);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(NO_COUNTER, 0, 0), HAS_NO_PAGE);
	domain_enter(&root);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_apply(NO_COUNTER, 0, 0), HAS_NO_PAGE);
}

#ifdef CONFIG_SBI_PMU_BATCH_MAP_EVENTS
/* The other domains could count what one of them maps. */
static void map_is_for_a_single_domain(struct sbiunit_test_case *test)
{
	if (!is_supported)
		return;
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_map_events(0), SBI_ENO_SHMEM);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(page_of_supervisor(0), 0, 0), 0);
	sbi_list_add_tail(&other.node, &domain_list);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_map_events(0), SBI_ENOTSUPP);
	sbi_list_del(&other.node);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_batch_set_shmem(NONE, NONE, 0), 0);
}

/*
 * As on a hart with more counters than the one that booted: the next number is that of a firmware
 * counter.
 */
static void map_takes_no_firmware_counter(struct sbiunit_test_case *test)
{
	struct sbi_hart_features *features;
	unsigned int mask, first_fw = sbi_pmu_num_ctr() - SBI_PMU_FW_CTR_MAX;

	if (first_fw >= SBI_PMU_HW_CTR_MAX)
		return;
	features = sbi_hart_features_ptr(sbi_scratch_thishart_ptr());
	mask = features->mhpm_mask;
	features->mhpm_mask |= BIT(first_fw);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_map_event(SBI_PMU_HW_REF_CPU_CYCLES, 1, 0, BIT(first_fw)),
			  SBI_EINVAL);
	features->mhpm_mask = mask;
}
#endif

/*
 * Counter 3 has no event. With snapshot memory, START therefore returns INVALID_PARAM; without,
 * NO_SHMEM.
 */
static void domains_have_snapshots_of_their_own(struct sbiunit_test_case *test)
{
	unsigned long flags = SBI_PMU_START_FLAG_INIT_FROM_SNAPSHOT;

	/* These tests run before the hart is protected, and nothing can be mapped. */
	if (sbi_hart_has_extension(sbi_scratch_thishart_ptr(), SBI_HART_EXT_SMEPMP))
		return;
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_snapshot_set_shmem(page_of_supervisor(0), 0, 0), 0);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_ctr_start(3, 1, flags, 0), SBI_EINVAL);
	domain_enter(&other);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_ctr_start(3, 1, flags, 0), SBI_ENO_SHMEM);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_snapshot_set_shmem(-1UL, -1UL, 0), 0);
	domain_enter(&root);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_ctr_start(3, 1, flags, 0), SBI_EINVAL);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_snapshot_set_shmem(-1UL, -1UL, 0), 0);
	SBIUNIT_EXPECT_EQ(test, sbi_pmu_ctr_start(3, 1, flags, 0), SBI_ENO_SHMEM);
}

static void pmu_batch_test_init(void)
{
	/* Allocates what the functions need, if nobody has done so. */
	is_supported = sbi_pmu_batch_supported();

	other = root;
	sbi_memset(&other.data_priv, 0, sizeof(other.data_priv));
	sbi_domain_setup_data(&other);
}

static struct sbiunit_test_case pmu_batch_test_cases[] = {
	SBIUNIT_TEST_CASE(page_layout_is_as_specified),
	SBIUNIT_TEST_CASE(firmware_memory_is_refused),
	SBIUNIT_TEST_CASE(domains_have_pages_of_their_own),
	SBIUNIT_TEST_CASE(reset_forgets_the_pages_of_all_domains),
#ifdef CONFIG_SBI_PMU_BATCH_MAP_EVENTS
	SBIUNIT_TEST_CASE(map_is_for_a_single_domain),
	SBIUNIT_TEST_CASE(map_takes_no_firmware_counter),
#endif
	SBIUNIT_TEST_CASE(domains_have_snapshots_of_their_own),
	SBIUNIT_END_CASE,
};

struct sbiunit_test_suite pmu_batch_test_suite = {
	.name	= "pmu_batch_test_suite",
	.init	= pmu_batch_test_init,
	.cases	= pmu_batch_test_cases,
};
