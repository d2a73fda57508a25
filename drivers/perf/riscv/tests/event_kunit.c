// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the translation of attributes to configs. The expected numbers are those of the SBI
 * 3.0 (chapter 11: event_idx has the type in bits 19:16, and the code in the lower bits), and
 * not computed by the macros under test.
 */

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/perf_event.h>

#include "../platform/platform.h"
#include "fake_backend.h"

#define CLASS_STD	BIT_ULL(62)
#define CLASS_FW	BIT_ULL(63)
#define CLASS_PLATFORM	(BIT_ULL(63) | BIT_ULL(62))

#define CACHE(id, op, result)	((id) | (op) << 8 | (result) << 16)

static int event_init(struct kunit *test)
{
	test->priv = fake_create(test);
	return 0;
}

static void event_exit(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	if (!fake)
		return;
	KUNIT_EXPECT_EQ_MSG(test, fake->nr_batches, 0, "the translation has changed counters");
	fake_expect_idle(test, fake, &fake->hart);
}

/* --- event_idx and event_data ------------------------------------------- */

struct parse_row {
	const char	*name;
	u32		type;
	u64		config;
	unsigned int	raw_bits;
	u32		event_idx;
	u64		event_data;
};

static const struct parse_row parse_rows[] = {
	/* 11.1, "Hardware general events" (type 0) */
	{ "cycles", PERF_TYPE_HARDWARE, 0, 48, 0x00001 },
	{ "instructions", PERF_TYPE_HARDWARE, 1, 48, 0x00002 },
	{ "cache references", PERF_TYPE_HARDWARE, 2, 48, 0x00003 },
	{ "cache misses", PERF_TYPE_HARDWARE, 3, 48, 0x00004 },
	{ "branch instructions", PERF_TYPE_HARDWARE, 4, 48, 0x00005 },
	{ "branch misses", PERF_TYPE_HARDWARE, 5, 48, 0x00006 },
	{ "bus cycles", PERF_TYPE_HARDWARE, 6, 48, 0x00007 },
	{ "stalled cycles, frontend", PERF_TYPE_HARDWARE, 7, 48, 0x00008 },
	{ "stalled cycles, backend", PERF_TYPE_HARDWARE, 8, 48, 0x00009 },
	{ "reference cycles", PERF_TYPE_HARDWARE, 9, 48, 0x0000a },
	/* 11.2, "Hardware cache events" (type 1): cache << 3 | op << 1 | result */
	{ "L1D read access", PERF_TYPE_HW_CACHE, CACHE(0, 0, 0), 48, 0x10000 },
	{ "L1D read miss", PERF_TYPE_HW_CACHE, CACHE(0, 0, 1), 48, 0x10001 },
	{ "L1D write access", PERF_TYPE_HW_CACHE, CACHE(0, 1, 0), 48, 0x10002 },
	{ "L1D prefetch miss", PERF_TYPE_HW_CACHE, CACHE(0, 2, 1), 48, 0x10005 },
	{ "L1I read miss", PERF_TYPE_HW_CACHE, CACHE(1, 0, 1), 48, 0x10009 },
	{ "LL write miss", PERF_TYPE_HW_CACHE, CACHE(2, 1, 1), 48, 0x10013 },
	{ "DTLB read miss", PERF_TYPE_HW_CACHE, CACHE(3, 0, 1), 48, 0x10019 },
	{ "ITLB read access", PERF_TYPE_HW_CACHE, CACHE(4, 0, 0), 48, 0x10020 },
	{ "BPU read miss", PERF_TYPE_HW_CACHE, CACHE(5, 0, 1), 48, 0x10029 },
	{ "node prefetch miss", PERF_TYPE_HW_CACHE, CACHE(6, 2, 1), 48, 0x10035 },
	/* 11.3, "Hardware raw events": type 2, and type 3 since SBI 3.0 */
	{ "raw, smallest", PERF_TYPE_RAW, 1, 48, 0x20000, 1 },
	{ "raw, 48 bits", PERF_TYPE_RAW, GENMASK_ULL(47, 0), 48, 0x20000, 0xffffffffffffULL },
	{ "raw v2, smallest", PERF_TYPE_RAW, 1, 56, 0x30000, 1 },
	{ "raw v2, 49th bit", PERF_TYPE_RAW, 1ULL << 48, 56, 0x30000, 1ULL << 48 },
	{ "raw v2, 56 bits", PERF_TYPE_RAW, GENMASK_ULL(55, 0), 56, 0x30000, 0xffffffffffffffULL },
	/* Class STD: config contains the event_idx itself */
	{ "std cycles", PERF_TYPE_RAW, CLASS_STD | 0x00001, 48, 0x00001 },
	{ "std reference cycles", PERF_TYPE_RAW, CLASS_STD | 0x0000a, 48, 0x0000a },
	{ "std L1D read access", PERF_TYPE_RAW, CLASS_STD | 0x10000, 48, 0x10000 },
	{ "std node prefetch miss", PERF_TYPE_RAW, CLASS_STD | 0x10035, 48, 0x10035 },
	{ "std without raw events", PERF_TYPE_RAW, CLASS_STD | 0x00001, 0, 0x00001 },
#ifdef CONFIG_RISCV_PMU_FW
	/* 11.5, "Firmware events" (type 15) */
	{ "fw misaligned load", PERF_TYPE_RAW, CLASS_FW | 0, 48, 0xf0000 },
	{ "fw set timer", PERF_TYPE_RAW, CLASS_FW | 5, 48, 0xf0005 },
	{ "fw hfence.vvma.asid received", PERF_TYPE_RAW, CLASS_FW | 21, 48, 0xf0015 },
	{ "fw, reserved code", PERF_TYPE_RAW, CLASS_FW | 255, 48, 0xf00ff },
	{ "fw, specific to the implementation", PERF_TYPE_RAW, CLASS_FW | 0xfffe, 48, 0xffffe },
	{ "fw without raw events", PERF_TYPE_RAW, CLASS_FW | 5, 0, 0xf0005 },
	/* Code 65535: platform firmware events, which event_data distinguishes */
	{ "platform 0", PERF_TYPE_RAW, CLASS_PLATFORM, 48, 0xfffff, 0 },
	{ "platform 62 bits", PERF_TYPE_RAW, ~0ULL, 48, 0xfffff, 0x3fffffffffffffffULL },
#endif
};

KUNIT_ARRAY_PARAM_DESC(parse, parse_rows, name);

static void parse_returns_event_idx_and_data(struct kunit *test)
{
	const struct parse_row *row = test->param_value;
	const struct perf_event_attr attr = { .type = row->type, .config = row->config };
	struct riscv_pmu_config cfg = { .event_idx = 0xbad, .event_data = 0xbad, .inh = 0xbad };
	struct fake_pmu *fake = test->priv;

	fake->pmu.raw_bits = row->raw_bits;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_parse(&fake->pmu, &attr, &cfg), 0);
	KUNIT_EXPECT_EQ(test, cfg.event_idx, row->event_idx);
	KUNIT_EXPECT_EQ(test, cfg.event_data, row->event_data);
	KUNIT_EXPECT_EQ(test, cfg.inh, 0);
}

/* Every cache event, both as PERF_TYPE_HW_CACHE and as class STD. */
static void parse_accepts_every_cache_event(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	for (u32 i = 0; i < 7 * 3 * 2; i++) {
		u32 cache = i / 6, op = i / 2 % 3, result = i % 2;
		u32 idx = 0x10000 + cache * 8 + op * 2 + result;
		const struct perf_event_attr named = {
			.type = PERF_TYPE_HW_CACHE,
			.config = CACHE(cache, op, result),
		};
		const struct perf_event_attr std = {
			.type = PERF_TYPE_RAW,
			.config = CLASS_STD | idx,
		};
		struct riscv_pmu_config cfg;

		KUNIT_EXPECT_EQ(test, riscv_pmu_event_parse(&fake->pmu, &named, &cfg), 0);
		KUNIT_EXPECT_EQ(test, cfg.event_idx, idx);
		KUNIT_EXPECT_EQ(test, riscv_pmu_event_parse(&fake->pmu, &std, &cfg), 0);
		KUNIT_EXPECT_EQ(test, cfg.event_idx, idx);
	}
}

#ifdef CONFIG_RISCV_PMU_FW
/* Every firmware event of 11.5. */
static void parse_accepts_every_fw_event(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	for (u32 code = 0; code <= 21; code++) {
		const struct perf_event_attr attr = {
			.type = PERF_TYPE_RAW,
			.config = CLASS_FW | code,
		};
		struct riscv_pmu_config cfg;

		KUNIT_EXPECT_EQ(test, riscv_pmu_event_parse(&fake->pmu, &attr, &cfg), 0);
		KUNIT_EXPECT_EQ(test, cfg.event_idx, 0xf0000 + code);
	}
}
#endif

struct refuse_row {
	const char	*name;
	u32		type;
	u64		config;
	unsigned int	raw_bits;
	int		err;
};

static const struct refuse_row refuse_rows[] = {
	{ "general event 10", PERF_TYPE_HARDWARE, 10, 48, -EINVAL },
	{ "general event with high bits", PERF_TYPE_HARDWARE, 1ULL << 32, 48, -EINVAL },
	{ "general event, all bits", PERF_TYPE_HARDWARE, ~0ULL, 48, -EINVAL },
	{ "cache 7", PERF_TYPE_HW_CACHE, CACHE(7, 0, 0), 48, -EINVAL },
	{ "cache 255", PERF_TYPE_HW_CACHE, CACHE(255, 0, 0), 48, -EINVAL },
	{ "cache op 3", PERF_TYPE_HW_CACHE, CACHE(0, 3, 0), 48, -EINVAL },
	{ "cache result 2", PERF_TYPE_HW_CACHE, CACHE(0, 0, 2), 48, -EINVAL },
	{ "cache bit 24", PERF_TYPE_HW_CACHE, 1ULL << 24, 48, -EINVAL },
	{ "cache bit 63", PERF_TYPE_HW_CACHE, 1ULL << 63, 48, -EINVAL },
	{ "raw selector 0", PERF_TYPE_RAW, 0, 48, -EINVAL },
	{ "raw bit 48 of 48", PERF_TYPE_RAW, 1ULL << 48, 48, -EINVAL },
	{ "raw bit 61 of 48", PERF_TYPE_RAW, 1ULL << 61, 48, -EINVAL },
	{ "raw v2 selector 0", PERF_TYPE_RAW, 0, 56, -EINVAL },
	{ "raw v2 bit 56 of 56", PERF_TYPE_RAW, 1ULL << 56, 56, -EINVAL },
	{ "raw, without raw events", PERF_TYPE_RAW, 1, 0, -ENOENT },
	{ "raw 0, without raw events", PERF_TYPE_RAW, 0, 0, -ENOENT },
	{ "std code 0", PERF_TYPE_RAW, CLASS_STD, 48, -EINVAL },
	{ "std code 11", PERF_TYPE_RAW, CLASS_STD | 11, 48, -EINVAL },
	{ "std code 0xffff", PERF_TYPE_RAW, CLASS_STD | 0xffff, 48, -EINVAL },
	{ "std cache 7", PERF_TYPE_RAW, CLASS_STD | 0x10038, 48, -EINVAL },
	{ "std cache op 3", PERF_TYPE_RAW, CLASS_STD | 0x10006, 48, -EINVAL },
	{ "std cache 0x100", PERF_TYPE_RAW, CLASS_STD | 0x10800, 48, -EINVAL },
	{ "std cache 0x1fff", PERF_TYPE_RAW, CLASS_STD | 0x1fff8, 48, -EINVAL },
	{ "std of type raw", PERF_TYPE_RAW, CLASS_STD | 0x20000, 48, -EINVAL },
	{ "std of type raw v2", PERF_TYPE_RAW, CLASS_STD | 0x30000, 48, -EINVAL },
	{ "std of a reserved type", PERF_TYPE_RAW, CLASS_STD | 0x40001, 48, -EINVAL },
	{ "std of type firmware", PERF_TYPE_RAW, CLASS_STD | 0xf0000, 48, -EINVAL },
	{ "std bit 20", PERF_TYPE_RAW, CLASS_STD | 0x100001, 48, -EINVAL },
	{ "std bit 61", PERF_TYPE_RAW, CLASS_STD | 1ULL << 61 | 1, 48, -EINVAL },
#ifdef CONFIG_RISCV_PMU_FW
	{ "fw bit 16", PERF_TYPE_RAW, CLASS_FW | 0x10000, 48, -EINVAL },
	{ "fw bit 61", PERF_TYPE_RAW, CLASS_FW | 1ULL << 61, 48, -EINVAL },
	{ "fw code 0xffff", PERF_TYPE_RAW, CLASS_FW | 0xffff, 48, -EINVAL },
#else
	{ "fw set timer", PERF_TYPE_RAW, CLASS_FW | 5, 48, -ENOENT },
	{ "platform 0", PERF_TYPE_RAW, CLASS_PLATFORM, 48, -ENOENT },
#endif
	{ "software", PERF_TYPE_SOFTWARE, 0, 48, -ENOENT },
	{ "tracepoint", PERF_TYPE_TRACEPOINT, 1, 48, -ENOENT },
	{ "breakpoint", PERF_TYPE_BREAKPOINT, 0, 48, -ENOENT },
	{ "another PMU", PERF_TYPE_MAX + 4, 1, 48, -ENOENT },
};

KUNIT_ARRAY_PARAM_DESC(refuse, refuse_rows, name);

static void parse_refuses_invalid_attributes(struct kunit *test)
{
	const struct refuse_row *row = test->param_value;
	const struct perf_event_attr attr = { .type = row->type, .config = row->config };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];
	struct riscv_pmu_config cfg;

	fake->pmu.raw_bits = row->raw_bits;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_parse(&fake->pmu, &attr, &cfg), row->err);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), row->err);
}

/* --- filters ------------------------------------------------------------ */

#define U	RISCV_PMU_INH_U
#define S	RISCV_PMU_INH_S
#define VU	RISCV_PMU_INH_VU
#define VS	RISCV_PMU_INH_VS
#define M	RISCV_PMU_INH_M

enum exclude {
	EX_USER		= BIT(0),
	EX_KERNEL	= BIT(1),
	EX_HV		= BIT(2),
	EX_HOST		= BIT(3),
	EX_GUEST	= BIT(4),
};

/* Programmable counters can exclude the modes in @able, fixed ones none. The event is cycles. */
struct filter_row {
	const char	*name;
	u32		exclude;
	bool		guests;
	u32		able;
	int		err;
	u32		inh;
	u64		ctrs;
};

static const struct filter_row filter_rows[] = {
	{ "all modes", 0, false, U | S | VU | VS | M, 0, M, FAKE_CONFIG },
	{ "all modes, M cannot be excluded", 0, false, U | S | VU | VS, 0, M, FAKE_CONFIG | 1 },
	{ "all modes, no filters here", 0, false, 0, 0, M, FAKE_CONFIG | 1 },
	{ "no user", EX_USER, false, U | S | VU | VS | M, 0, U | M, FAKE_CONFIG },
	{ "no user, guests", EX_USER, true, U | S | VU | VS | M, 0, U | VU | M, FAKE_CONFIG },
	{ "no kernel", EX_KERNEL, false, U | S | VU | VS | M, 0, S | M, FAKE_CONFIG },
	{ "no kernel, guests", EX_KERNEL, true, U | S | VU | VS | M, 0, S | VS | M, FAKE_CONFIG },
	{ "no hypervisor", EX_HV, false, U | S | VU | VS | M, 0, M, FAKE_CONFIG },
	/* Firmware is no hypervisor. */
	{ "no hypervisor, no filters here", EX_HV, false, 0, 0, M, FAKE_CONFIG | 1 },
	{ "no hypervisor, M cannot be excluded", EX_HV, false, U | S | VU | VS, 0, M,
	  FAKE_CONFIG | 1 },
	{ "no hypervisor nor user, M cannot be excluded", EX_HV | EX_USER, false, U | S, 0, U | M,
	  FAKE_CONFIG },
	{ "no host", EX_HOST, true, U | S | VU | VS | M, 0, U | S | M, FAKE_CONFIG },
	{ "no host, no guests", EX_HOST, false, U | S | VU | VS | M, 0, U | S | M, FAKE_CONFIG },
	{ "no guest", EX_GUEST, true, U | S | VU | VS | M, 0, VU | VS | M, FAKE_CONFIG },
	{ "no guest, no guests", EX_GUEST, false, U | S | VU | VS | M, 0, M, FAKE_CONFIG },
	{ "no guest, no guests, no filters", EX_GUEST, false, 0, 0, M, FAKE_CONFIG | 1 },
	{ "guest user only", EX_HOST | EX_KERNEL, true, U | S | VU | VS | M, 0,
	  U | S | VS | M, FAKE_CONFIG },
	{ "host user only", EX_GUEST | EX_KERNEL, true, U | S | VU | VS | M, 0,
	  S | VU | VS | M, FAKE_CONFIG },
	{ "no mode", EX_USER | EX_KERNEL | EX_HV | EX_HOST | EX_GUEST, true,
	  U | S | VU | VS | M, 0, U | S | VU | VS | M, FAKE_CONFIG },
	{ "no user, no filters here", EX_USER, false, 0, -EOPNOTSUPP },
	{ "no kernel, no filters here", EX_KERNEL, false, 0, -EOPNOTSUPP },
	{ "no host, no filters here", EX_HOST, true, 0, -EOPNOTSUPP },
	{ "no kernel, U filter only", EX_KERNEL, false, U, -EOPNOTSUPP },
	{ "no user, U filter only", EX_USER, false, U, 0, U | M, FAKE_CONFIG },
	{ "no user, guests, U filter only", EX_USER, true, U, -EINVAL },
	/* perf sets exclude_guest first, and tries again without it after -EINVAL */
	{ "no guest, no filters here", EX_GUEST, true, 0, -EINVAL },
	{ "no guest nor user, U and S only", EX_GUEST | EX_USER, true, U | S, -EINVAL },
	{ "no guest nor user, no filters", EX_GUEST | EX_USER, true, 0, -EOPNOTSUPP },
	{ "no guest nor kernel, no filters", EX_GUEST | EX_KERNEL, true, 0, -EOPNOTSUPP },
	{ "no user nor kernel, no filters", EX_USER | EX_KERNEL, false, 0, -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(filter, filter_rows, name);

static int resolve_row(struct fake_pmu *fake, const struct filter_row *row,
		       struct riscv_pmu_request req[2])
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.exclude_user = !!(row->exclude & EX_USER),
		.exclude_kernel = !!(row->exclude & EX_KERNEL),
		.exclude_hv = !!(row->exclude & EX_HV),
		.exclude_host = !!(row->exclude & EX_HOST),
		.exclude_guest = !!(row->exclude & EX_GUEST),
	};

	fake->pmu.guests = row->guests;
	for (u64 ctrs = FAKE_CONFIG; ctrs; ctrs &= ctrs - 1)
		fake->pmu.ctr[__ffs64(ctrs)].inh = row->able;

	return riscv_pmu_event_resolve(&fake->pmu, &attr, false, req);
}

/* riscv_pmu.unfiltered=1 changes only what is refused otherwise, and excludes the kernel alone. */
static void expect_unfiltered(struct kunit *test, const struct filter_row *row)
{
	bool unfiltered = row->err == -EOPNOTSUPP &&
			  (row->exclude & (EX_USER | EX_KERNEL | EX_HOST)) == EX_KERNEL;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.unfiltered = true;
	KUNIT_EXPECT_EQ(test, resolve_row(fake, row, req), unfiltered ? 0 : row->err);
	KUNIT_EXPECT_EQ(test, req->unfiltered, unfiltered);
	if (!row->err || unfiltered)
		KUNIT_EXPECT_EQ(test, req->cfg.inh, unfiltered ? M : row->inh);
	fake->pmu.unfiltered = false;
}

static void exclude_bits_inhibit_modes(struct kunit *test)
{
	const struct filter_row *row = test->param_value;
	struct riscv_pmu_request req[2];

	KUNIT_EXPECT_EQ(test, resolve_row(test->priv, row, req), row->err);
	KUNIT_EXPECT_FALSE(test, req->unfiltered);
	expect_unfiltered(test, row);
	KUNIT_EXPECT_EQ(test, resolve_row(test->priv, row, req), row->err);
	if (row->err)
		return;
	KUNIT_EXPECT_EQ(test, req->cfg.event_idx, 1);
	KUNIT_EXPECT_EQ(test, req->cfg.inh, row->inh);
	KUNIT_EXPECT_EQ(test, req->ctrs, row->ctrs);
}

/* Both use the counters that exclude machine mode, even if only another one can interrupt. */
static void sampling_uses_the_same_counters_as_counting(struct kunit *test)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request counting[2], sampling[2];

	fake->pmu.polled_sampling = true;
	fake->pmu.irq_ctrs = BIT_ULL(0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, counting), 0);
	attr.sample_period = 1000;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, sampling), 0);
	KUNIT_EXPECT_EQ(test, counting->ctrs, FAKE_CONFIG);
	KUNIT_EXPECT_EQ(test, sampling->ctrs, FAKE_CONFIG);
}

/* Counters that do not have all filters of the event are removed from its constraint. */
static void only_counters_with_the_filters_remain(struct kunit *test)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.config = 7,
		.exclude_kernel = 1,
	};
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.ctr[3].inh = U;
	fake->pmu.ctr[4].inh = 0;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, BIT_ULL(5) | BIT_ULL(33));
}

/* --- the rest of the attributes ----------------------------------------- */

struct attr_row {
	const char		*name;
	struct perf_event_attr	attr;
	bool			in_kernel;
	int			err;
	u64			ctrs;
};

#define HW(id)	.type = PERF_TYPE_HARDWARE, .config = (id)
#define RAW(c)	.type = PERF_TYPE_RAW, .config = (c)
#ifdef CONFIG_RISCV_PMU_EBB
#define BRANCH	HW(0), .config1 = RISCV_PMU_CONFIG1_EBB
#define USER_BRANCH	BRANCH, .exclude_kernel = 1, .exclude_hv = 1
#endif

static const struct attr_row attr_rows[] = {
	{ "cycles", { HW(0) }, false, 0, FAKE_CONFIG },
	{ "instructions", { HW(1) }, false, 0, FAKE_CONFIG },
	{ "branches", { HW(4) }, false, 0, FAKE_CONFIG },
	{ "an absent event", { HW(6) }, false, -ENOENT },
	{ "an absent event with a filter", { HW(6), .exclude_user = 1 }, false, -ENOENT },
	{ "an absent event, sampled", { HW(6), .sample_period = 1 }, false, -ENOENT },
	{ "sampled cycles", { HW(0), .sample_period = 1000 }, false, 0, FAKE_CONFIG },
	{ "sampled by frequency", { HW(0), .freq = 1, .sample_freq = 99 }, false, 0, FAKE_CONFIG },
	{ "sampled branches", { HW(4), .sample_period = 1 }, false, 0, FAKE_CONFIG },
	{ "sampled, no kernel", { HW(0), .sample_period = 1, .exclude_kernel = 1 }, false, 0,
	  FAKE_CONFIG },
	{ "config1 guest bit from user", { HW(0), .config1 = 1 }, false, -EINVAL },
	{ "config1 guest bit from KVM", { HW(0), .config1 = 1 }, true, 0, FAKE_CONFIG },
	{ "config1 other bit from KVM", { HW(0), .config1 = 2 }, true, -EINVAL },
	{ "config1 both bits from KVM", { HW(0), .config1 = 3 }, true, -EINVAL },
	{ "config1 both bits from a user", { HW(0), .config1 = 3 }, false, -EINVAL },
	{ "config1 bit 62", { HW(0), .config1 = 1ULL << 62 }, false, -EINVAL },
#ifdef CONFIG_RISCV_PMU_EBB
	{ "branch", { USER_BRANCH, .config2 = 8 }, false, 0, BIT_ULL(3) },
	{ "branch for KVM", { USER_BRANCH, .config2 = 8 }, true, -EINVAL },
	{ "branch, no counter given", { USER_BRANCH }, false, -EINVAL },
	{ "branch, two counters given", { USER_BRANCH, .config2 = 0x18 }, false, -EINVAL },
	{ "branch, no interrupt", { USER_BRANCH, .config2 = 1 }, false, -EOPNOTSUPP },
	{ "branch, counts the kernel", { BRANCH, .exclude_hv = 1, .config2 = 8 }, false, -EINVAL },
	{ "branch, counts M-mode", { BRANCH, .exclude_kernel = 1, .config2 = 8 }, false, -EINVAL },
	{ "branch, inherited", { USER_BRANCH, .inherit = 1, .config2 = 8 }, false, -EINVAL },
	{ "branch, sampled", { USER_BRANCH, .sample_period = 1, .config2 = 8 }, false, -EINVAL },
	{ "branch, with a frequency", { USER_BRANCH, .freq = 1, .config2 = 8 }, false, -EINVAL },
	{ "branch, on exec", { USER_BRANCH, .enable_on_exec = 1, .config2 = 8 }, false, -EINVAL },
#endif
	{ "config2 a counter", { HW(0), .config2 = 1 }, false, 0, BIT_ULL(0) },
	{ "config2 all counters", { HW(0), .config2 = U32_MAX }, false, 0,
	  lower_32_bits(FAKE_CONFIG) },
	{ "config2 fixed and programmable", { HW(0), .config2 = 9 }, false, 0, BIT_ULL(3) },
#ifdef CONFIG_RISCV_PMU_FW
	{ "firmware", { RAW(CLASS_FW | 5) }, false, 0, FAKE_FW },
	{ "firmware, no kernel", { RAW(CLASS_FW | 5), .exclude_kernel = 1 }, false, -EOPNOTSUPP },
	{ "firmware, no hypervisor", { RAW(CLASS_FW | 5), .exclude_hv = 1 }, false, 0, FAKE_FW },
	{ "sampled firmware", { RAW(CLASS_FW | 5), .sample_period = 1 }, false, -EOPNOTSUPP },
	{ "config2 for a firmware event", { RAW(CLASS_FW | 5), .config2 = 8 }, false, -EINVAL },
#endif
	{ "config2 no counter", { HW(0), .config2 = 2 }, false, -EINVAL },
	{ "config2 high bit", { HW(0), .config2 = 1ULL << 32 }, false, -EINVAL },
	{ "config3", { HW(0), .config3 = 1 }, false, -EINVAL },
	{ "exclude idle", { HW(0), .exclude_idle = 1 }, false, -EOPNOTSUPP },
	{ "precise", { HW(0), .precise_ip = 1 }, false, -EOPNOTSUPP },
	{ "malformed before unsupported", { HW(10), .precise_ip = 1 }, false, -EINVAL },
};

KUNIT_ARRAY_PARAM_DESC(attr, attr_rows, name);

static void resolve_checks_all_attributes(struct kunit *test)
{
	const struct attr_row *row = test->param_value;
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->absent = 0x00007;	/* bus cycles */
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &row->attr, row->in_kernel,
						      req), row->err);
	if (!row->err)
		KUNIT_EXPECT_EQ(test, req->ctrs, row->ctrs);
}

#ifdef CONFIG_RISCV_PMU_FW
/*
 * Firmware counters have no filters. The error is -EINVAL if only exclude_guest is the reason,
 * because perf then tries again without it.
 */
static void platform_firmware_event_can_not_be_filtered(struct kunit *test)
{
	struct perf_event_attr attr = { RAW(CLASS_FW | BIT_ULL(62) | 1), .exclude_guest = 1 };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.guests = true;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), -EINVAL);
	attr.exclude_kernel = 1;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req),
			-EOPNOTSUPP);
	fake->pmu.guests = false;
	attr.exclude_kernel = 0;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
}
#endif

/* config2 has the numbers by which the CSRs know counters. Some counters have no CSR. */
static void config2_selects_counters_by_their_csrs(struct kunit *test)
{
	struct perf_event_attr attr = { RAW(7), .config2 = BIT(9) };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.ctr[3].csr = CSR_CYCLE + 9;
	fake->pmu.ctr[4].csr = 0;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, BIT_ULL(3));

	attr.config2 = BIT(4);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), -EINVAL);
}

/* The backend may return counters that are not in &riscv_pmu.ctrs; they are ignored. */
static void resolve_ignores_unknown_counters_of_the_backend(struct kunit *test)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = 7 };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.ctrs &= ~BIT_ULL(4);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, FAKE_CONFIG & ~BIT_ULL(4));
}

/* If no counter of the event can interrupt, it is polled, or refused without polled sampling. */
static void sampling_prefers_counters_that_interrupt(struct kunit *test)
{
	const struct perf_event_attr attr = { HW(0), .sample_period = 1000 };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.irq_ctrs = BIT_ULL(33);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, BIT_ULL(33));

	fake->pmu.irq_ctrs = 0;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req),
			-EOPNOTSUPP);

	fake->pmu.polled_sampling = true;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, FAKE_CONFIG);
	fake->pmu.irq_ctrs = BIT_ULL(33);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, BIT_ULL(33));
}

/* As on T-Head C9xx: there are no filters, and only the fixed counters interrupt. */
static void sampling_uses_a_fixed_counter_that_interrupts(struct kunit *test)
{
	const struct perf_event_attr attr = { HW(0), .sample_period = 1000 };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	for (u64 ctrs = FAKE_CONFIG; ctrs; ctrs &= ctrs - 1)
		fake->pmu.ctr[__ffs64(ctrs)].inh = 0;
	fake->pmu.irq_ctrs = FAKE_FIXED;
	fake->pmu.polled_sampling = true;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_EQ(test, req->ctrs, BIT_ULL(0));
}

/* Users who may not count the kernel must not get a raw event of the core's table either. */
static void raw_event_of_the_table_is_unfiltered_too(struct kunit *test)
{
	static const struct riscv_pmu_selector table[] = {
		{ RISCV_PMU_EVENT_CYCLES, .selector = 1 },
	};
	static const struct riscv_pmu_platform platform = {
		.selectors = table, .nr_selectors = ARRAY_SIZE(table),
	};
	const struct perf_event_attr attr = { HW(0), .exclude_kernel = 1, .sample_period = 1000 };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	for (u64 ctrs = FAKE_CONFIG; ctrs; ctrs &= ctrs - 1)
		fake->pmu.ctr[__ffs64(ctrs)].inh = 0;
	fake->fixed_cycles = true;
	fake->pmu.platform = &platform;
	fake->pmu.irq_ctrs = FAKE_CONFIG;
	fake->pmu.unfiltered = true;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req), 0);
	KUNIT_EXPECT_TRUE(test, riscv_pmu_event_is_raw(req->cfg.event_idx));
	KUNIT_EXPECT_TRUE(test, req->unfiltered);
}

#ifdef CONFIG_RISCV_PMU_FW
/* A poll would be a firmware call, and set the timer: firmware events may count both. */
static void firmware_events_are_not_polled(struct kunit *test)
{
	const struct perf_event_attr attr = { RAW((u64)RISCV_PMU_CLASS_FW << 62 | 5),
					    .sample_period = 10 };
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_request req[2];

	fake->pmu.irq_ctrs = 0;
	fake->pmu.polled_sampling = true;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_resolve(&fake->pmu, &attr, false, req),
			-EOPNOTSUPP);
}
#endif

static struct kunit_case event_cases[] = {
	KUNIT_CASE_PARAM(parse_returns_event_idx_and_data, parse_gen_params),
	KUNIT_CASE(parse_accepts_every_cache_event),
	KUNIT_CASE_PARAM(parse_refuses_invalid_attributes, refuse_gen_params),
	KUNIT_CASE_PARAM(exclude_bits_inhibit_modes, filter_gen_params),
	KUNIT_CASE(sampling_uses_the_same_counters_as_counting),
	KUNIT_CASE(only_counters_with_the_filters_remain),
	KUNIT_CASE_PARAM(resolve_checks_all_attributes, attr_gen_params),
	KUNIT_CASE(config2_selects_counters_by_their_csrs),
	KUNIT_CASE(resolve_ignores_unknown_counters_of_the_backend),
	KUNIT_CASE(sampling_prefers_counters_that_interrupt),
	KUNIT_CASE(sampling_uses_a_fixed_counter_that_interrupts),
	KUNIT_CASE(raw_event_of_the_table_is_unfiltered_too),
#ifdef CONFIG_RISCV_PMU_FW
	KUNIT_CASE(parse_accepts_every_fw_event),
	KUNIT_CASE(platform_firmware_event_can_not_be_filtered),
	KUNIT_CASE(firmware_events_are_not_polled),
#endif
	{}
};

static struct kunit_suite event_suite = {
	.name		= "riscv_pmu_event",
	.init		= event_init,
	.exit		= event_exit,
	.test_cases	= event_cases,
};

kunit_test_suite(event_suite);
