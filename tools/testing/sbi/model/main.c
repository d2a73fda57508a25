// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs the cases of the PMU batch extension on the host, with a model of a hart and of
 * an SBI implementation that was written from the specification only. It must pass the
 * same cases as the firmware:
 *
 *   model PROFILE
 *
 * This replaces main.c, start.S and entry.S of the program that boots; the cases are in
 * the same files. scripts/check/sbi-model builds and runs it.
 */
#include "host.h"
#include "sbi_impl.h"
#include "../case.h"
#include "../fdt.h"
#include "../pmu.h"

/* Harts of scripts/guest/cpu-profiles, and one with counters of less than 64 bits. */
static const struct profile profiles[] = {
	{ "base",	false,	false,	false,	64 },
	{ "sscofpmf",	true,	false,	false,	64 },
	{ "max",	true,	true,	true,	64 },
	{ "narrow",	true,	true,	false,	40 },
};

/* Without the cases that measure costs, which the model does not have. */
static const struct test_case *const groups[] = {
	batch_cases,
	batch_fail_cases,
	batch_filter_cases,
	batch_resolve_cases,
	batch_map_cases,
	batch_state_cases,
	sse_cases,
	suspend_cases,
	device_cases,
	NULL
};

static bool is_there(ulong ext)
{
	return sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, ext, 0, 0).value;
}

static u64 what_there_is(void)
{
	u64 have = NEEDS_BATCH | NEEDS_MAP | NEEDS_ICOUNT | NEEDS_SNAPSHOT | NEEDS_RV64 | NEEDS_FILTERS |
		   NEEDS_READS;

	if (scountovf_is_readable())
		have |= NEEDS_SSCOFPMF;
	if (machine.smcntrpmf)
		have |= NEEDS_SMCNTRPMF;
	if (counters_are_delegated())
		have |= NEEDS_SSCCFG;
	if (fixed_counters_can_be_configured())
		have |= NEEDS_FIXED;
	if (is_there(SBI_EXT_SSE))
		have |= NEEDS_SSE;
	return have;
}

static u64 cases_of(const struct test_case *test)
{
	u64 n = 0;

	while (test[n].name)
		n++;
	return n;
}

static void run(void)
{
	const struct test_case *const *group;
	const struct test_case *test;
	u64 planned = 0, have;

	/* Section 11: the cases need the extension. */
	if (!is_there(SBI_EXT_PMU_BATCH))
		bail_out("sbi_probe_extension does not report the PMU batch extension");
	pmu_discover();
	pmu_calibrate();
	have = what_there_is();
	print("TAP version 13\n");
	print("# counters: %llu, hardware %#llx, firmware %#llx\n", ctrs.nr, ctrs.hw, ctrs.fw);
	for (group = groups; *group; group++)
		planned += cases_of(*group);
	print("1..%llu\n", planned);
	for (group = groups; *group; group++)
		for (test = *group; test->name; test++)
			case_run(test, have);
	power_off(cases_good());
}

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc == 2 && i < ARRAY_SIZE(profiles); i++) {
		if (!str_equal(profiles[i].name, argv[1]))
			continue;
		machine.firmware = "the model";
		machine.bootargs = "batch map";
		machine.harts = 1;
		machine.smcntrpmf = profiles[i].smcntrpmf;
		memory_init();
		hart_boot(&profiles[i]);
		sbi_boot();
		run();
	}
	return 2;
}
