// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of what the tables of platform/ change: here the fake backend is the PMU of a core that has
 * them.
 */

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include <asm/cpufeature.h>
#include <asm/pmu_csr.h>

#include "../csr.h"
#include "../event.h"
#include "../platform/platform.h"
#include "fake_backend.h"

/* --- SpacemiT X60: cycles on a fixed counter without filters and without an interrupt --- */

static int x60_init(struct kunit *test)
{
	struct fake_pmu *fake = fake_create(test);

	test->priv = fake;
	if (!fake)
		return -ENOMEM;

	for_each_ctr(ctr, FAKE_FIXED)
		fake->pmu.ctr[ctr].inh = 0;
	fake->fixed_cycles = true;
	fake->pmu.polled_sampling = true;
	fake->pmu.platform = &riscv_pmu_spacemit_x60;
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
#ifdef CONFIG_RISCV_PMU_SPLIT
	{ "sample without filter", { HW(CPU_CYCLES), SAMPLE },
	  0, RAW_IDX, U_MODE_CYCLE, FAKE_CONFIG, true },
#endif
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

/* If the raw events cannot interrupt either, they have no advantage over the event itself. */
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

/* --- the tables of all cores --- */

/* What the simulated harts have: IDs by number, and the same compatible string. */
static struct riscv_pmu_ids fake_ids[2];
static const char *fake_compatible;

static void fake_get_ids(unsigned int cpu, struct riscv_pmu_ids *ids)
{
	*ids = fake_ids[cpu % ARRAY_SIZE(fake_ids)];
}

static bool fake_is_compatible(unsigned int cpu, const char *compatible)
{
	return fake_compatible && !strcmp(fake_compatible, compatible);
}

static void use_fake_harts(struct kunit *test, const struct riscv_pmu_ids *ids,
			   const char *compatible)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(fake_ids); i++)
		fake_ids[i] = *ids;
	fake_compatible = compatible;
	kunit_activate_static_stub(test, riscv_pmu_platform_get_ids, fake_get_ids);
	kunit_activate_static_stub(test, riscv_pmu_platform_is_compatible, fake_is_compatible);
}

/* The table of a machine whose harts are all like hart 0 */
static const struct riscv_pmu_platform *find_table(struct kunit *test)
{
	struct fake_pmu *fake = fake_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	cpumask_copy(&fake->pmu.cpus, cpu_online_mask);
	riscv_pmu_platform_init(&fake->pmu);
	return fake->pmu.platform;
}

struct ids_row {
	const char			*name;
	struct riscv_pmu_ids		ids;
	const char			*compatible;
	const struct riscv_pmu_platform	*platform;
};

#define CHOSEN(arch)	(BIT(BITS_PER_LONG - 1) | (arch))
#define X60_IDS		{ 0x710, CHOSEN(0x58000001), 0x49772200 }
#define U74_IDS		{ 0x489, CHOSEN(0x7), 0x4210427 }
#define C9XX_IDS	{ 0x5b7, 0, 0 }

static const struct ids_row ids_rows[] = {
	{ "all zero", { 0, 0, 0 }, NULL, NULL },
	{ "all zero, the compatible string of a core", { 0, 0, 0 }, "thead,c906", NULL },
	{ "QEMU", { 0, 0x2a, 0 }, "riscv-virtio", &riscv_pmu_qemu },
	{ "QEMU that plays a U74", U74_IDS, "riscv-virtio", &riscv_pmu_sifive_u74 },
	/* AX45MP: also needs an extension, which the devicetree of a guest does not have. */
	{ "P550", { 0x489, CHOSEN(0x8), 0x6220425 }, NULL, &riscv_pmu_sifive_p550 },
	{ "U74", U74_IDS, NULL, &riscv_pmu_sifive_u74 },
	{ "an unknown core of SiFive", { 0x489, CHOSEN(0x9), 0 }, NULL, NULL },
	{ "X60", X60_IDS, NULL, &riscv_pmu_spacemit_x60 },
	{ "X100", { 0x710, CHOSEN(0x58000002), 0x33d8a600 }, NULL, &riscv_pmu_spacemit_x100 },
	{ "another X100", { 0x710, CHOSEN(0x58000002), 0 }, NULL, &riscv_pmu_spacemit_x100 },
	{ "V100", { 0x710, CHOSEN(0x58000002), 0x4c4d900 }, NULL, NULL },
	{ "A100", { 0x710, CHOSEN(0x41000002), 0 }, NULL, &riscv_pmu_spacemit_a100 },
	{ "an unknown C9xx", C9XX_IDS, NULL, &riscv_pmu_thead_c900 },
	{ "QEMU that plays a C9xx", C9XX_IDS, "riscv-virtio", &riscv_pmu_thead_c900 },
	{ "C906", C9XX_IDS, "thead,c906", &riscv_pmu_thead_c906 },
	{ "D1", C9XX_IDS, "allwinner,sun20i-d1", &riscv_pmu_thead_c906 },
	{ "C910", C9XX_IDS, "thead,c910", &riscv_pmu_thead_c910 },
	{ "C920", C9XX_IDS, "thead,c920", &riscv_pmu_thead_c910 },
	{ "C908", { 0x5b7, CHOSEN(0x09140d00), 0x50000 }, NULL, &riscv_pmu_thead_c908 },
	{ "C920 v2", { 0x5b7, CHOSEN(0x090c0d00), 0x2047000 }, "thead,c920",
	  &riscv_pmu_thead_c920v2 },
	{ "C930", { 0x5b7, CHOSEN(0x09201600), 0x1 }, NULL, &riscv_pmu_thead_c930 },
	{ "a C9xx with another mimpid", { 0x5b7, 0, 1 }, "thead,c910", NULL },
};

KUNIT_ARRAY_PARAM_DESC(ids, ids_rows, name);

static void ids_and_compatible_select_one_table(struct kunit *test)
{
	const struct ids_row *row = test->param_value;

	use_fake_harts(test, &row->ids, row->compatible);
	KUNIT_EXPECT_PTR_EQ(test, find_table(test), row->platform);
}

static void andes_ids_are_those_of_the_ax45mp(struct kunit *test)
{
	const struct riscv_pmu_ids ids = { 0x31e, CHOSEN(0x8a45), 0x500 };

	KUNIT_EXPECT_TRUE(test, riscv_pmu_platform_has_ids(&riscv_pmu_andes_ax45mp, &ids));
	use_fake_harts(test, &ids, NULL);
	KUNIT_EXPECT_NULL_MSG(test, find_table(test),
			      "the devicetree does not have xandespmu");
}

struct isa_row {
	const char	*isa;
	const char	*ext;
	bool		has;
};

/* ISA strings as in ACPI's RHCT */
static const struct isa_row isa_rows[] = {
	{ "rv64imafdch_zicsr_sscofpmf_ssctr_svpbmt", "ssctr", true },
	{ "rv64imafdch_zicsr_sscofpmf_ssctr", "ssctr", true },
	{ "RV64IMAFDCH_Zicsr_Sscofpmf_SSCTR_Svpbmt", "ssctr", true },
	{ "rv64i2p1m2p0_zicsr2p0_ssctr1p0_svpbmt1p0", "ssctr", true },
	{ "rv64i_ssctr1", "ssctr", true },
	{ "rv64i__ssctr", "ssctr", true },
	{ "rv64imafdcssctr_svpbmt", "ssctr", true },
	{ "rv64imafdcZicsr_ssctr", "ssctr", true },
	{ "rv64i_xandespmu", "xandespmu", true },
	{ "rv64imafdc_smctr", "ssctr", false },
	{ "rv64imafdc_ssctrx", "ssctr", false },
	{ "rv64imafdc_ssctrp", "ssctr", false },
	{ "rv64imafdc_ssctr1p0x", "ssctr", false },
	{ "rv64imafdc_xssctr", "ssctr", false },
	{ "rv64imafdc_ssct", "ssctr", false },
	{ "rv64imafdc_sscc_fg", "ssccfg", false },
	{ "rv64imafdc_", "ssctr", false },
	{ "rv64imafdc", "ssctr", false },
	{ "", "ssctr", false },
};

static void isa_row_name(const struct isa_row *row, char *name)
{
	snprintf(name, KUNIT_PARAM_DESC_SIZE, "%s in \"%s\"", row->ext, row->isa);
}

KUNIT_ARRAY_PARAM(isa, isa_rows, isa_row_name);

static void an_extension_is_found_in_an_isa_string(struct kunit *test)
{
	const struct isa_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, riscv_pmu_platform_isa_has(row->isa, row->ext), row->has);
}

/* Of two tables that are both for a core, the first is used. */
static void the_first_of_two_tables_is_used(struct kunit *test)
{
	static const struct riscv_pmu_platform first = {
		.name = "first", .ids = U74_IDS,
	}, second = {
		.name = "second", .ids = U74_IDS,
	}, named = {
		.name = "named", .ids = U74_IDS, .compatibles = { "vendor,core" },
	};
	static const struct riscv_pmu_platform *const equal[] = { &first, &second };
	static const struct riscv_pmu_platform *const better[] = { &first, &named };
	static const struct riscv_pmu_platform *const worse[] = { &named, &first };
	const struct riscv_pmu_ids ids = U74_IDS;

	use_fake_harts(test, &ids, "vendor,core");
	KUNIT_EXPECT_PTR_EQ(test, riscv_pmu_platform_choose(equal, 2, 0, &ids), &first);
	KUNIT_EXPECT_PTR_EQ(test, riscv_pmu_platform_choose(better, 2, 0, &ids), &named);
	KUNIT_EXPECT_PTR_EQ(test, riscv_pmu_platform_choose(worse, 2, 0, &ids), &named);
	KUNIT_EXPECT_NULL(test, riscv_pmu_platform_choose(equal, 0, 0, &ids));
}

/* Only the harts that are online have IDs. */
static void table_is_that_of_the_online_harts(struct kunit *test)
{
	const struct riscv_pmu_ids ids = X60_IDS;
	struct fake_pmu *fake = fake_create(test);
	struct riscv_pmu *pmu;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	pmu = &fake->pmu;
	use_fake_harts(test, &ids, NULL);
	cpumask_copy(&pmu->cpus, cpu_online_mask);
	riscv_pmu_platform_init(pmu);
	KUNIT_EXPECT_PTR_EQ(test, pmu->platform, &riscv_pmu_spacemit_x60);
	KUNIT_EXPECT_EQ(test, pmu->nr_others, 0);

	pmu->platform = NULL;
	cpumask_andnot(&pmu->cpus, cpu_possible_mask, cpu_online_mask);
	riscv_pmu_platform_init(pmu);
	KUNIT_EXPECT_NULL(test, pmu->platform);
}

struct mixed_row {
	const char			*name;
	struct riscv_pmu_ids		ids[2];
	const struct riscv_pmu_platform	*platform[2];
	bool				same;
};

static const struct mixed_row mixed_rows[] = {
	{ "K3", { { 0x710, CHOSEN(0x58000002), 0x33d8a600 }, { 0x710, CHOSEN(0x41000002), 0 } },
	  { &riscv_pmu_spacemit_x100, &riscv_pmu_spacemit_a100 } },
	{ "A210", { { 0x5b7, CHOSEN(0x09140d00), 0x50000 }, { 0x5b7, CHOSEN(0x090c0d00), 0 } },
	  { &riscv_pmu_thead_c908, &riscv_pmu_thead_c920v2 } },
	{ "two cores without tables", { { 0x489, CHOSEN(0x9), 0 }, { 0x489, CHOSEN(0xa), 0 } },
	  { NULL, NULL } },
	{ "two revisions of a core", { { 0x710, CHOSEN(0x58000001), 1 },
				       { 0x710, CHOSEN(0x58000001), 2 } },
	  { &riscv_pmu_spacemit_x60, &riscv_pmu_spacemit_x60 }, true },
	{ "two revisions of a core without a table", { { 0x489, CHOSEN(0x9), 1 },
						       { 0x489, CHOSEN(0x9), 2 } },
	  { NULL, NULL }, true },
};

KUNIT_ARRAY_PARAM_DESC(mixed, mixed_rows, name);

/* Each PMU gets the harts of one type, its table and the table of the other type. */
static void each_type_of_core_has_a_pmu(struct kunit *test)
{
	const struct mixed_row *row = test->param_value;
	struct fake_pmu *fake = fake_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	if (!cpu_online(0) || nr_cpu_ids < 2 || !cpu_online(1))
		kunit_skip(test, "needs harts 0 and 1");

	use_fake_harts(test, &row->ids[0], NULL);
	fake_ids[1] = row->ids[1];
	for (unsigned int i = 0; i < 2; i++) {
		struct riscv_pmu *pmu = &fake->pmu;

		cpumask_copy(&pmu->cpus, cpumask_of(1));
		if (!i)
			cpumask_set_cpu(0, &pmu->cpus);
		riscv_pmu_platform_select_cpus(&pmu->cpus);
		KUNIT_EXPECT_EQ(test, cpumask_first(&pmu->cpus), i);
		KUNIT_EXPECT_EQ(test, cpumask_weight(&pmu->cpus), row->same && !i ? 2 : 1);

		pmu->nr_others = 0;
		pmu->platform = NULL;
		riscv_pmu_platform_init(pmu);
		KUNIT_EXPECT_PTR_EQ(test, pmu->platform, row->platform[i]);
		KUNIT_EXPECT_EQ(test, pmu->nr_others, !row->same);
		KUNIT_EXPECT_PTR_EQ(test, pmu->others[0], row->same ? NULL : row->platform[!i]);
	}
}

#define TABLE(id, ...)								\
	static const struct riscv_pmu_selector id##_events[] = { __VA_ARGS__ };	\
	static const struct riscv_pmu_platform id = {				\
		.selectors = id##_events, .nr_selectors = ARRAY_SIZE(id##_events),	\
		.bad_events = bad_events, .nr_bad_events = ARRAY_SIZE(bad_events),	\
	}

#define EVENT_BRANCHES	RISCV_PMU_EVENT_HW(BRANCH_INSTRUCTIONS)
#define EVENT_STALLS	RISCV_PMU_EVENT_HW(STALLED_CYCLES_BACKEND)
#define EVENT_BUS	RISCV_PMU_EVENT_HW(BUS_CYCLES)
#define EVENT_L1D	RISCV_PMU_EVENT_CACHE(L1D, OP_READ, MISS)

static const u32 bad_events[] = { EVENT_STALLS, EVENT_BUS };

TABLE(big, { EVENT_BRANCHES, 0x1 }, { EVENT_STALLS, 0x3 }, { EVENT_L1D, 0x5 });
TABLE(other_selector, { EVENT_BRANCHES, 0x1 }, { EVENT_L1D, 0x6 });
TABLE(other_counters, { EVENT_BRANCHES, 0x1 }, { EVENT_L1D, 0x5, 0, 0x8 });
TABLE(lacks, { EVENT_BRANCHES, 0x1 });
TABLE(more, { EVENT_BRANCHES, 0x1 }, { EVENT_L1D, 0x5 }, { RISCV_PMU_EVENT_CYCLES, 0x1e });

struct override_row {
	const char			*name;
	const struct riscv_pmu_platform	*platform;
	const struct riscv_pmu_platform	*other;
	u32				event_idx;
	bool				is_overridden;
	u64				selector;
};

static const struct override_row override_rows[] = {
	{ "the same map", &big, &more, EVENT_L1D, false },
	{ "another selector", &big, &other_selector, EVENT_L1D, true, 0x5 },
	{ "other counters", &big, &other_counters, EVENT_L1D, true, 0x5 },
	{ "the other has none", &big, &lacks, EVENT_L1D, true, 0x5 },
	{ "only the other has one", &lacks, &big, EVENT_L1D, true, 0 },
	{ "the other has no table", &big, NULL, EVENT_L1D, true, 0x5 },
	{ "no table", NULL, &big, EVENT_L1D, false },
	{ "a table without events", &riscv_pmu_thead_c908, &big, EVENT_L1D, false },
	{ "a wrong map, no other events", &riscv_pmu_thead_c908, &big, EVENT_BUS, true, 0 },
	{ "cycles", &more, &big, RISCV_PMU_EVENT_CYCLES, true, 0x1e },
	{ "a wrong map", &big, &big, EVENT_STALLS, true, 0x3 },
	{ "a wrong map, and no event", &big, &big, EVENT_BUS, true, 0 },
	{ "a raw event", &big, &lacks, RISCV_PMU_EVENT_RAW, false },
	{ "a firmware event", &big, &lacks, 0xf0005, false },
};

KUNIT_ARRAY_PARAM_DESC(override, override_rows, name);

static void a_map_that_is_not_for_this_core_is_not_used(struct kunit *test)
{
	const struct override_row *row = test->param_value;
	struct fake_pmu *fake = fake_create(test);
	const struct riscv_pmu_selector *entry;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->pmu.platform = row->platform;
	fake->pmu.others[0] = row->other;
	fake->pmu.nr_others = 1;
	entry = riscv_pmu_platform_override(&fake->pmu, row->event_idx);
	KUNIT_ASSERT_EQ(test, !!entry, row->is_overridden);
	if (entry)
		KUNIT_EXPECT_EQ(test, entry->selector, row->selector);
}

struct fixed_row {
	const char		*name;
	struct perf_event_attr	attr;
	u64			irq_ctrs;
	int			err;
	bool			is_raw;
};

static const struct fixed_row fixed_rows[] = {
	{ "count", { HW(CPU_CYCLES) }, FAKE_CONFIG, 0, false },
	{ "count user", { HW(CPU_CYCLES), USER }, FAKE_CONFIG, 0, true },
	{ "sample", { HW(CPU_CYCLES), SAMPLE }, FAKE_CONFIG, 0, true },
	{ "sample user", { HW(CPU_CYCLES), SAMPLE, USER }, FAKE_CONFIG, 0, true },
	{ "sample, no interrupt", { HW(CPU_CYCLES), SAMPLE }, 0, 0, false },
	{ "sample user, no interrupt", { HW(CPU_CYCLES), SAMPLE, USER }, 0, -EOPNOTSUPP },
	{ "an event without an entry", { HW(INSTRUCTIONS), .config2 = BIT(2), USER }, FAKE_CONFIG,
	  -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(fixed, fixed_rows, name);

/* By the firmware's map only the fixed counter has cycles. It has no filter and no interrupt. */
static void programmable_counters_have_the_event_of_a_fixed_one(struct kunit *test)
{
	const struct fixed_row *row = test->param_value;
	struct fake_pmu *fake = fake_create(test);
	struct riscv_pmu_request req[2];

	KUNIT_ASSERT_NOT_NULL(test, fake);
	for_each_ctr(ctr, FAKE_FIXED)
		fake->pmu.ctr[ctr].inh = 0;
	fake->fixed_cycles = true;
	fake->pmu.polled_sampling = true;
	fake->pmu.irq_ctrs = row->irq_ctrs;
	fake->pmu.platform = &more;
	KUNIT_ASSERT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &row->attr, false, req),
			row->err);
	if (row->err)
		return;

	KUNIT_EXPECT_EQ(test, riscv_pmu_event_is_raw(req->cfg.event_idx), row->is_raw);
	KUNIT_EXPECT_EQ(test, req->cfg.event_data, row->is_raw ? 0x1e : 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, row->is_raw ? FAKE_CONFIG : BIT_ULL(0));
}

/* Without IDs, nothing is known of the core. */
static void harts_without_ids_have_no_table(struct kunit *test)
{
	const struct riscv_pmu_ids ids = {};
	struct fake_pmu *fake = fake_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	use_fake_harts(test, &ids, NULL);
	cpumask_copy(&fake->pmu.cpus, cpu_online_mask);
	riscv_pmu_platform_init(&fake->pmu);
	KUNIT_EXPECT_NULL(test, fake->pmu.platform);
	KUNIT_EXPECT_FALSE(test, fake->pmu.is_qemu);
}

static bool fake_has_ovf(unsigned int csr)
{
	return csr == CSR_SCOUNTOVF || csr == PMU_CSR_THEAD_SCOUNTEROF;
}

/* The C908 has Sscofpmf in some revisions, and the vendor's interrupt in others. */
static void vendors_interrupt_is_used_without_sscofpmf(struct kunit *test)
{
	bool has_sscofpmf = riscv_isa_extension_available(NULL, SSCOFPMF);
	struct fake_pmu *fake = fake_create(test);
	struct riscv_pmu *pmu;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	pmu = &fake->pmu;
	pmu->platform = &riscv_pmu_thead_c908;
	pmu->hwirq = 0;
	kunit_activate_static_stub(test, riscv_pmu_platform_has_ovf, fake_has_ovf);
	riscv_pmu_platform_init_irq(pmu);
	KUNIT_EXPECT_EQ(test, pmu->hwirq, has_sscofpmf ? RV_IRQ_PMU : PMU_IRQ_THEAD);
	KUNIT_EXPECT_EQ(test, pmu->ovf_csr,
			has_sscofpmf ? CSR_SCOUNTOVF : PMU_CSR_THEAD_SCOUNTEROF);
	KUNIT_EXPECT_EQ(test, pmu->level_irq, !has_sscofpmf);
	KUNIT_EXPECT_TRUE(test, pmu->fixed_irqs);
}

static bool fake_has_no_ovf(unsigned int csr)
{
	return false;
}

static const char *check_hart(const struct riscv_pmu *pmu)
{
	guard(preempt)();
	return riscv_pmu_platform_check_hart(pmu);
}

/* A hart that comes online later may be another core, and may lack the CSR of overflow flags. */
static void a_hart_that_differs_is_found(struct kunit *test)
{
	const struct riscv_pmu_ids u74 = riscv_pmu_sifive_u74.ids, x60 = riscv_pmu_spacemit_x60.ids;
	struct fake_pmu *fake = fake_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->pmu.platform = &riscv_pmu_spacemit_x60;
	fake->pmu.ids = x60;
	fake->pmu.ovf_csr = CSR_SCOUNTOVF;
	kunit_activate_static_stub(test, riscv_pmu_platform_has_ovf, fake_has_ovf);
	use_fake_harts(test, &x60, NULL);
	KUNIT_EXPECT_NULL(test, check_hart(&fake->pmu));
	use_fake_harts(test, &u74, NULL);
	KUNIT_EXPECT_NOT_NULL(test, check_hart(&fake->pmu));
	fake->pmu.platform = NULL;
	KUNIT_EXPECT_NOT_NULL(test, check_hart(&fake->pmu));
	fake->pmu.ids = (struct riscv_pmu_ids){};
	KUNIT_EXPECT_NULL(test, check_hart(&fake->pmu));
	kunit_activate_static_stub(test, riscv_pmu_platform_has_ovf, fake_has_no_ovf);
	KUNIT_EXPECT_NOT_NULL(test, check_hart(&fake->pmu));
}

struct core_row {
	const char			*name;
	const char			*title;
	u64				mvendorid;
	u64				marchid;
	const struct riscv_pmu_platform	*platform;
	const char			*compatibles[2];
};

#define CORE_ROW(id, title, name, mvendorid, marchid, ...)	\
	{ name, title, mvendorid, marchid, &riscv_pmu_##id, { __VA_ARGS__ } },

static const struct core_row core_rows[] = { RISCV_PMU_CORES(CORE_ROW) };

/* A vendor's marchid has its uppermost bit set, which is another one on RV32. */
static unsigned long marchid_here(u64 marchid)
{
	return marchid >> 63 ? CHOSEN((unsigned long)marchid) : (unsigned long)marchid;
}

/* rvpmu finds a core by the IDs and the compatible strings in cores.h. */
static void rvpmu_finds_the_same_cores(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(core_rows); i++) {
		const struct core_row *row = &core_rows[i];
		const struct riscv_pmu_platform *platform = row->platform;

		KUNIT_EXPECT_EQ_MSG(test, platform->ids.mvendorid, row->mvendorid, "%s",
				    row->title);
		KUNIT_EXPECT_EQ_MSG(test, platform->ids.marchid, marchid_here(row->marchid), "%s",
				    row->title);
		for (unsigned int j = 0; j < ARRAY_SIZE(row->compatibles); j++)
			KUNIT_EXPECT_STREQ_MSG(test, platform->compatibles[j] ?: "",
					       row->compatibles[j] ?: "", "%s", row->title);
		if (row->mvendorid)
			KUNIT_EXPECT_STREQ(test, platform->name, row->name);
	}
}

/* The bits that Sscofpmf has for flags and filters are not part of a selector. */
static void selectors_have_no_filters(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(core_rows); i++) {
		const struct riscv_pmu_platform *platform = core_rows[i].platform;
		bool raw = false;

		for (unsigned int j = 0; j < platform->nr_selectors; j++) {
			const struct riscv_pmu_selector *entry = &platform->selectors[j];

			KUNIT_EXPECT_EQ_MSG(test, entry->selector & ~PMU_HPMEVENT_SELECTOR, 0,
					    "%s", core_rows[i].name);
			raw |= entry->event_idx == RISCV_PMU_EVENT_RAW;
			KUNIT_EXPECT_EQ_MSG(test, raw, entry->event_idx == RISCV_PMU_EVENT_RAW,
					    "%s: raw entries are last", core_rows[i].name);
			if (raw)
				KUNIT_EXPECT_EQ_MSG(test, entry->selector & ~entry->mask, 0,
						    "%s", core_rows[i].name);
			else
				KUNIT_EXPECT_NE_MSG(test, entry->selector, 0, "%s",
						    core_rows[i].name);
		}
	}
}

struct raw_row {
	const char			*name;
	const struct riscv_pmu_platform	*platform;
	u64				selector;
	u64				counters;
};

static const struct raw_row raw_rows[] = {
	{ "X60 first", &riscv_pmu_spacemit_x60, 0x1, 0x7fff8 },
	{ "X60 u_mode_cycle", &riscv_pmu_spacemit_x60, 0x22, 0x7fff8 },
	{ "X60 0x7f", &riscv_pmu_spacemit_x60, 0x7f, 0x7fff8 },
	{ "X60 0x80", &riscv_pmu_spacemit_x60, 0x80, 0x7fff8 },
	{ "X60 0x9f", &riscv_pmu_spacemit_x60, 0x9f, 0x7fff8 },
	{ "X60 0xaf", &riscv_pmu_spacemit_x60, 0xaf, 0x7fff8 },
	{ "X60 last", &riscv_pmu_spacemit_x60, 0xb7, 0x7fff8 },
	{ "X60 first of L2", &riscv_pmu_spacemit_x60, 0xb8, 0 },
	{ "X60 last of L2", &riscv_pmu_spacemit_x60, 0xbd, 0 },
	{ "X60 none", &riscv_pmu_spacemit_x60, 0xbe, 0 },
	{ "X60 more than 8 bits", &riscv_pmu_spacemit_x60, 0x101, 0 },
	{ "X100 first", &riscv_pmu_spacemit_x100, 0x1, 0x1fff8 },
	{ "X100 0xc", &riscv_pmu_spacemit_x100, 0xc, 0x1fff8 },
	{ "X100 gap after 0xc", &riscv_pmu_spacemit_x100, 0xd, 0 },
	{ "X100 0x1c", &riscv_pmu_spacemit_x100, 0x1c, 0x1fff8 },
	{ "X100 gap after 0x1c", &riscv_pmu_spacemit_x100, 0x1d, 0 },
	{ "X100 cycles", &riscv_pmu_spacemit_x100, 0x1e, 0x20000 },
	{ "X100 instructions", &riscv_pmu_spacemit_x100, 0x1f, 0x40000 },
	{ "X100 gap before 0x24", &riscv_pmu_spacemit_x100, 0x23, 0 },
	{ "X100 0x29", &riscv_pmu_spacemit_x100, 0x29, 0x1fff8 },
	{ "X100 gap before 0x32", &riscv_pmu_spacemit_x100, 0x31, 0 },
	{ "X100 0x38", &riscv_pmu_spacemit_x100, 0x38, 0x1fff8 },
	{ "X100 gap before 0x3a", &riscv_pmu_spacemit_x100, 0x39, 0 },
	{ "X100 last", &riscv_pmu_spacemit_x100, 0x3f, 0x1fff8 },
	{ "X100 none", &riscv_pmu_spacemit_x100, 0x40, 0 },
	{ "A100 0x15", &riscv_pmu_spacemit_a100, 0x15, 0x1fff8 },
	{ "A100 cycles", &riscv_pmu_spacemit_a100, 0x1e, 0x20000 },
	{ "A100 gap before 0x2b", &riscv_pmu_spacemit_a100, 0x2a, 0 },
	{ "C906 ITLB miss", &riscv_pmu_thead_c906, 0x3, 0x20 },
	{ "C906 last", &riscv_pmu_thead_c906, 0xf, 0x20000 },
	{ "C906 none", &riscv_pmu_thead_c906, 0x8, 0 },
	{ "C906, one of C910", &riscv_pmu_thead_c906, 0x10, 0 },
	{ "C910 last", &riscv_pmu_thead_c910, 0x2a, ~0ULL },
	{ "C910 none", &riscv_pmu_thead_c910, 0x2b, 0 },
	{ "C920 v2 last", &riscv_pmu_thead_c920v2, 0x2a, ~0ULL },
	{ "C930 first", &riscv_pmu_thead_c930, 0x1, ~0ULL },
	{ "C930 last", &riscv_pmu_thead_c930, 0xc5, ~0ULL },
	{ "C930 none", &riscv_pmu_thead_c930, 0xc6, 0 },
};

KUNIT_ARRAY_PARAM_DESC(raw, raw_rows, name);

/* The counters for a raw event, as firmware finds them by the table; all ones if it may be any. */
static u64 raw_counters(const struct riscv_pmu_platform *platform, u64 selector)
{
	u64 counters = 0;

	for (unsigned int i = 0; i < platform->nr_selectors; i++) {
		const struct riscv_pmu_selector *entry = &platform->selectors[i];

		if (entry->event_idx == RISCV_PMU_EVENT_RAW &&
		    (selector & entry->mask) == entry->selector)
			counters |= entry->counters ?: ~0ULL;
	}

	return counters;
}

static void raw_events_are_those_of_the_core(struct kunit *test)
{
	const struct raw_row *row = test->param_value;

	KUNIT_EXPECT_EQ(test, raw_counters(row->platform, row->selector), row->counters);
}

struct stall_row {
	const char			*name;
	const struct riscv_pmu_platform	*platform;
	u64				frontend;
	u64				backend;
	bool				bad;
};

/* Where the stalled cycles are, and whether firmware is known to have them elsewhere. */
static const struct stall_row stall_rows[] = {
	{ "X60", &riscv_pmu_spacemit_x60, 0x3, 0x4, false },
	{ "X100", &riscv_pmu_spacemit_x100, 0x4, 0x3, true },
	{ "A100", &riscv_pmu_spacemit_a100, 0x3, 0x4, false },
	{ "C908", &riscv_pmu_thead_c908, 0, 0, false },
	{ "C910", &riscv_pmu_thead_c910, 0, 0, true },
	{ "C920 v2", &riscv_pmu_thead_c920v2, 0x27, 0x28, false },
};

KUNIT_ARRAY_PARAM_DESC(stall, stall_rows, name);

static void check_stall(struct kunit *test, u32 event_idx, u64 selector)
{
	const struct stall_row *row = test->param_value;
	const struct riscv_pmu_selector *known, *override;
	struct fake_pmu *fake = fake_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	known = riscv_pmu_platform_known(row->platform, event_idx);
	KUNIT_EXPECT_EQ(test, known ? known->selector : 0, selector);
	fake->pmu.platform = row->platform;
	override = riscv_pmu_platform_override(&fake->pmu, event_idx);
	KUNIT_EXPECT_EQ(test, !!override, row->bad);
	if (override)
		KUNIT_EXPECT_EQ(test, override->selector, selector);
}

static void stalled_cycles_are_those_of_the_core(struct kunit *test)
{
	const struct stall_row *row = test->param_value;

	check_stall(test, RISCV_PMU_EVENT_HW(STALLED_CYCLES_FRONTEND), row->frontend);
	check_stall(test, RISCV_PMU_EVENT_HW(STALLED_CYCLES_BACKEND), row->backend);
}

/* The vendor's example of a node, which several boards have, is wrong on each of these cores. */
static void bus_and_reference_cycles_are_bad_on_a_c9xx(struct kunit *test)
{
	static const struct riscv_pmu_platform *const cores[] = {
		&riscv_pmu_thead_c908, &riscv_pmu_thead_c910, &riscv_pmu_thead_c920v2,
	};
	static const u32 events[] = {
		RISCV_PMU_EVENT_HW(BUS_CYCLES), RISCV_PMU_EVENT_HW(REF_CPU_CYCLES),
	};
	struct fake_pmu *fake = fake_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fake);
	for (unsigned int i = 0; i < ARRAY_SIZE(cores) * ARRAY_SIZE(events); i++) {
		const struct riscv_pmu_selector *entry;

		fake->pmu.platform = cores[i / ARRAY_SIZE(events)];
		entry = riscv_pmu_platform_override(&fake->pmu, events[i % ARRAY_SIZE(events)]);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_EQ(test, entry->selector, 0);
	}
}

static struct kunit_case platform_cases[] = {
	KUNIT_CASE_PARAM(ids_and_compatible_select_one_table, ids_gen_params),
	KUNIT_CASE(andes_ids_are_those_of_the_ax45mp),
	KUNIT_CASE_PARAM(an_extension_is_found_in_an_isa_string, isa_gen_params),
	KUNIT_CASE(the_first_of_two_tables_is_used),
	KUNIT_CASE(table_is_that_of_the_online_harts),
	KUNIT_CASE_PARAM(each_type_of_core_has_a_pmu, mixed_gen_params),
	KUNIT_CASE_PARAM(a_map_that_is_not_for_this_core_is_not_used, override_gen_params),
	KUNIT_CASE_PARAM(programmable_counters_have_the_event_of_a_fixed_one, fixed_gen_params),
	KUNIT_CASE(harts_without_ids_have_no_table),
	KUNIT_CASE(vendors_interrupt_is_used_without_sscofpmf),
	KUNIT_CASE(a_hart_that_differs_is_found),
	KUNIT_CASE(rvpmu_finds_the_same_cores),
	KUNIT_CASE(selectors_have_no_filters),
	KUNIT_CASE_PARAM(raw_events_are_those_of_the_core, raw_gen_params),
	KUNIT_CASE_PARAM(stalled_cycles_are_those_of_the_core, stall_gen_params),
	KUNIT_CASE(bus_and_reference_cycles_are_bad_on_a_c9xx),
	{}
};

static struct kunit_suite platform_suite = {
	.name		= "riscv_pmu_platform",
	.test_cases	= platform_cases,
};

kunit_test_suites(&x60_suite, &platform_suite);
