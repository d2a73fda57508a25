// SPDX-License-Identifier: GPL-2.0
/*
 * Every bit of what perf_event_open() is given: it has a meaning, or it is refused.
 * The table is that of Documentation/admin-guide/perf/riscv-pmu.rst.
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

/* Headers before Linux 6.3 lack config3; its offset is ABI (PERF_ATTR_SIZE_VER8). */
#define ATTR_SIZE	136
#define CONFIG3		128

/* What a bit may do. */
enum verdict {
	TAKEN,		/* opens */
	DEPENDS,	/* opens, or the machine lacks it: ENOENT, EOPNOTSUPP */
	INVALID,	/* EINVAL */
	NO_GUEST,	/* opens; without filters EINVAL if there can be guests (KVM) */
	UNKNOWN,	/* ENOENT: another PMU's */
	UNSUPPORTED,	/* EOPNOTSUPP */
	/* What perf's core says of it is perf's: opens or not. */
	CORE,
};

struct row {
	const char *name;
	uint32_t type;
	uint64_t config;
	size_t offset;		/* of the word that the bits are set in */
	unsigned int first, last;
	enum verdict verdict;
};

#define WORD(field)	offsetof(struct perf_event_attr, field)
/* The word of flags, which begins with disabled. */
#define FLAGS		(WORD(read_format) + sizeof(uint64_t))

#define HW		PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
#define HW_NONE		PERF_TYPE_HARDWARE, 0
#define STD		PERF_TYPE_RAW, PMU_STD(2)
#define FW		PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER)

static const struct row rows[] = {
	/* 1 + 2^3 is ref-cycles, 1 + 2^0 ... other events; from 16 on there are none. */
	{ "config, hardware",	HW_NONE,	WORD(config),	0, 3,	DEPENDS },
	{ "config, hardware",	HW_NONE,	WORD(config),	4, 31,	INVALID },
	{ "config, cache",	PERF_TYPE_HW_CACHE, 0, WORD(config), 3, 7, INVALID },
	{ "config, cache",	PERF_TYPE_HW_CACHE, 0, WORD(config), 10, 15, INVALID },
	{ "config, cache",	PERF_TYPE_HW_CACHE, 0, WORD(config), 17, 31, INVALID },
	{ "config, raw",	PERF_TYPE_RAW, 0, WORD(config),	0, 47,	DEPENDS },
	{ "config, raw",	PERF_TYPE_RAW, 0, WORD(config),	56, 61,	INVALID },
	{ "config, standard",	STD,		WORD(config),	20, 61,	INVALID },
	{ "config, firmware",	FW,		WORD(config),	16, 61,	INVALID },
	{ "config1",		HW,		WORD(config1),	0, 63,	INVALID },
	{ "config1, raw",	STD,		WORD(config1),	0, 63,	INVALID },
	{ "config2, time",	HW,		WORD(config2),	1, 1,	INVALID },
	{ "config2",		HW,		WORD(config2),	32, 63,	INVALID },
	{ "config3",		HW,		CONFIG3,	0, 63,	INVALID },
	{ "exclude_user",	HW,		FLAGS,		4, 4,	DEPENDS },
	{ "exclude_kernel",	HW,		FLAGS,		5, 5,	DEPENDS },
	{ "exclude_hv",		HW,		FLAGS,		6, 6,	DEPENDS },
	{ "exclude_idle",	HW,		FLAGS,		7, 7,	UNSUPPORTED },
	{ "precise_ip",		HW,		FLAGS,		15, 16,	UNSUPPORTED },
	{ "exclude_host",	HW,		FLAGS,		19, 19,	DEPENDS },
	{ "exclude_guest",	HW,		FLAGS,		20, 20,	NO_GUEST },
	{ "disabled",		HW,		FLAGS,		0, 0,	TAKEN },
	{ "inherit",		HW,		FLAGS,		1, 1,	TAKEN },
	{ "pinned",		HW,		FLAGS,		2, 2,	TAKEN },
	{ "exclusive",		HW,		FLAGS,		3, 3,	TAKEN },
	{ "reserved flags",	HW,		FLAGS,		39, 63,	CORE },
	{ "sample_type",	HW,		WORD(sample_type), 0, 10, TAKEN },
	{ "sample_type",	HW,		WORD(sample_type), 12, 24, CORE },
	{ "sample_type",	HW,		WORD(sample_type), 25, 63, INVALID },
	{ "read_format",	HW,		WORD(read_format), 0, 4, TAKEN },
	{ "read_format",	HW,		WORD(read_format), 5, 63, INVALID },
};

static bool guests_cannot_be_excluded(void)
{
	return !pmu_can_filter() && !access("/dev/kvm", F_OK);
}

static bool agrees(enum verdict verdict, int err)
{
	switch (verdict) {
	case TAKEN: return !err;
	case DEPENDS: return !err || err == -ENOENT || err == -EOPNOTSUPP;
	case INVALID: return err == -EINVAL;
	case NO_GUEST: return !err || (err == -EINVAL && guests_cannot_be_excluded());
	case UNKNOWN: return err == -ENOENT;
	case UNSUPPORTED: return err == -EOPNOTSUPP;
	default: return true;
	}
}

static int try_bit(const struct row *row, unsigned int bit)
{
	union {
		struct perf_event_attr attr;
		uint64_t word[ATTR_SIZE / sizeof(uint64_t)];
	} it = { .attr = pmu_attr(row->type, row->config) };

	it.attr.size = ATTR_SIZE;
	it.word[row->offset / sizeof(uint64_t)] ^= 1ULL << bit;
	return pmu_try(&it.attr);
}

/* Whether the machine has what a row starts from. */
static bool applies(const struct row *row)
{
	struct perf_event_attr attr = pmu_attr(row->type, row->config);

	if (row->config >> 62 == 2)
		return pmu_caps_number("firmware_counters") > 0;
	if (row->type == PERF_TYPE_RAW && !row->config)
		return !pmu_is_legacy();
	return row->type != PERF_TYPE_RAW || !pmu_try(&attr);
}

TEST(each_bit_has_its_meaning_or_is_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (!applies(row))
			continue;
		for (unsigned int bit = row->first; bit <= row->last; bit++) {
			int err = try_bit(row, bit);

			EXPECT_TRUE(agrees(row->verdict, err)) {
				TH_LOG("%s, bit %u: %d", row->name, bit, err);
			}
		}
	}
}

/* A branch stack is nothing that these harts have, whatever is asked of it. */
TEST(each_kind_of_branch_is_refused)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		struct perf_event_attr attr = pmu_attr(HW);
		int err;

		attr.sample_period = 100000;
		attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = 1ULL << bit;
		err = pmu_try(&attr);
		/* perf's core knows 20 bits, and wants more than a privilege level. */
		EXPECT_TRUE(err == -EOPNOTSUPP || err == -EINVAL) {
			TH_LOG("bit %u: %d", bit, err);
		}
	}
}

/* An attribute that is refused with some field is taken without. */
TEST(what_is_tried_here_opens_without_it)
{
	struct perf_event_attr attr = pmu_attr(HW);

	EXPECT_EQ(0, pmu_try(&attr));
}

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
