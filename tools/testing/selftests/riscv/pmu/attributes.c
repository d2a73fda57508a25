// SPDX-License-Identifier: GPL-2.0
/*
 * Tests that each bit of perf_event_attr either has a meaning, or is refused with an error.
 * The expected results are those in Documentation/admin-guide/perf/riscv-pmu-reference.rst.
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

/* Headers before Linux 6.3 lack config3; its offset is ABI (PERF_ATTR_SIZE_VER8). */
#define ATTR_SIZE	136
#define CONFIG3		128

/* The expected outcome of perf_event_open() with a bit flipped. */
enum outcome {
	ACCEPTED,	/* success */
	DEPENDS,	/* success; ENOENT or EOPNOTSUPP if the machine does not support it */
	INVALID,	/* EINVAL */
	NO_GUEST,	/* success; without filters EINVAL if there can be guests (KVM) */
	UNKNOWN,	/* ENOENT: an event of another PMU */
	UNSUPPORTED,	/* EOPNOTSUPP */
	CORE,		/* success or any error: perf's core checks the bit, not the driver */
};

struct row {
	const char *name;
	uint32_t type;
	uint64_t config;
	size_t offset;		/* of the word whose bits are flipped */
	unsigned int first, last;
	enum outcome outcome;
};

#define WORD(field)	offsetof(struct perf_event_attr, field)
/* The word of the flags, of which disabled is the first. */
#define FLAGS		(WORD(read_format) + sizeof(uint64_t))

#define HW		PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS
#define HW_NONE		PERF_TYPE_HARDWARE, 0
#define STD		PERF_TYPE_RAW, PMU_STD(2)
#define FW		PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER)

static const struct row rows[] = {
	/* Configs 1, 2, 4 and 8 are hardware events; from 16 on there are none. */
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
	{ "exclude_hv",		HW,		FLAGS,		6, 6,	ACCEPTED },
	{ "exclude_idle",	HW,		FLAGS,		7, 7,	UNSUPPORTED },
	{ "precise_ip",		HW,		FLAGS,		15, 16,	UNSUPPORTED },
	{ "exclude_host",	HW,		FLAGS,		19, 19,	DEPENDS },
	{ "exclude_guest",	HW,		FLAGS,		20, 20,	NO_GUEST },
	{ "disabled",		HW,		FLAGS,		0, 0,	ACCEPTED },
	{ "inherit",		HW,		FLAGS,		1, 1,	ACCEPTED },
	{ "pinned",		HW,		FLAGS,		2, 2,	ACCEPTED },
	{ "exclusive",		HW,		FLAGS,		3, 3,	ACCEPTED },
	{ "reserved flags",	HW,		FLAGS,		39, 63,	CORE },
	{ "sample_type",	HW,		WORD(sample_type), 0, 10, ACCEPTED },
	{ "sample_type",	HW,		WORD(sample_type), 12, 24, CORE },
	{ "sample_type",	HW,		WORD(sample_type), 25, 63, INVALID },
	{ "read_format",	HW,		WORD(read_format), 0, 4, ACCEPTED },
	{ "read_format",	HW,		WORD(read_format), 5, 63, INVALID },
};

static bool guests_cannot_be_excluded(void)
{
	return !pmu_can_filter() && !access("/dev/kvm", F_OK);
}

static bool is_expected(enum outcome outcome, int err)
{
	switch (outcome) {
	case ACCEPTED: return !err;
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

/* Returns whether the machine supports the kind of event whose bits a row flips. */
static bool base_is_supported(const struct row *row)
{
	struct perf_event_attr attr = pmu_attr(row->type, row->config);

	if (row->config >> 62 == 2)
		return pmu_caps_number("firmware_counters") > 0;
	if (row->type == PERF_TYPE_RAW && !row->config)
		return !pmu_is_legacy();
	return row->type != PERF_TYPE_RAW || !pmu_try(&attr);
}

TEST(each_bit_has_the_documented_result)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (!base_is_supported(row))
			continue;
		for (unsigned int bit = row->first; bit <= row->last; bit++) {
			int err = try_bit(row, bit);

			EXPECT_TRUE(is_expected(row->outcome, err)) {
				TH_LOG("%s, bit %u: %d", row->name, bit, err);
			}
		}
	}
}

/* Without branch records they are refused with any branch_sample_type; branch.c tests them. */
TEST(each_bit_of_branch_sample_type_is_refused)
{
	if (pmu_caps_number("branches") >= 0)
		SKIP(return, "this machine has branch records (caps/branches)");

	for (unsigned int bit = 0; bit < 64; bit++) {
		struct perf_event_attr attr = pmu_attr(HW);
		int err;

		attr.sample_period = 100000;
		attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = 1ULL << bit;
		err = pmu_try(&attr);
		/* perf's core knows 20 bits, and requires more than a privilege level. */
		EXPECT_TRUE(err == -EOPNOTSUPP || err == -EINVAL) {
			TH_LOG("bit %u: %d", bit, err);
		}
	}
}

/* The attribute that is refused with another bit set has to open without it. */
TEST(the_unchanged_attribute_opens)
{
	struct perf_event_attr attr = pmu_attr(HW);

	EXPECT_EQ(0, pmu_try(&attr));
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
