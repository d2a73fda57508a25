// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks that the PMU of a firmware conforms to the SBI.
 *
 * The program runs in S-mode, directly on the firmware: it calls every function
 * of the SBI PMU extension (SBI 3.0, chapter 11) and of the PMU batch extension
 * with valid, invalid and hostile arguments, counts loops of a known length,
 * takes the overflow interrupts, and prints the results as TAP on the firmware's
 * console. scripts/check/sbi builds and runs it:
 *
 *   qemu-system-riscv64 -M virt -icount shift=0 -bios FW -kernel conformance.elf
 *
 * or the same with qemu-system-riscv32.
 *
 * -append takes
 *   icount             counts are exact (as with -icount shift=0)
 *   batch              fail if the firmware has no PMU batch extension
 *   map                fail if it has no MAP_EVENTS
 *   cost.slack=N       APPLY may take N instructions more (0)
 *   fuzz               only the random calls, which must not be run with icount
 *   fuzz.count=N       number of random calls (1000000)
 *   fuzz.seed=N        seed of the random calls
 *   fuzz.unmapped=1    also use addresses of devices, and without memory
 *   fuzz.sse=1         with overflows as SSE events
 * and -initrd the known failures of this firmware, one per line: "fails NAME" or
 * "not-run NAME" (known/); a known failure that does not fail is a failure. A line
 * "only NAME" selects a single case.
 *
 * One file is one group of cases. A case is a sentence that must hold, a function
 * that tests it, and its requirements. When it starts, all counters are zero, stopped
 * and have no event (except for boot.c); it may leave them in any state.
 */
#include "case.h"
#include "fdt.h"
#include "pmu.h"

#define IMPL_OPENSBI	1

static const struct test_case *const all_groups[] = {
	boot_cases,
	counters_cases,
	match_cases,
	startstop_cases,
	filter_cases,
	overflow_cases,
	firmware_event_cases,
	event_info_cases,
	snapshot_cases,
	batch_cases,
	batch_fail_cases,
	batch_filter_cases,
	batch_resolve_cases,
	batch_map_cases,
	batch_state_cases,
	batch_cost_cases,
	sse_cases,
	suspend_cases,
	hostile_cases,
	device_cases,
	fuzz_cases,
	NULL
};

/* The random calls run only alone, with "fuzz". */
static bool is_chosen(const struct test_case *group)
{
	return (group == fuzz_cases) == bootarg_has("fuzz");
}

static u64 what_there_is(void)
{
	u64 have = AT_BOOT;

	if (XLEN == 64)
		have |= NEEDS_RV64;
	if (qemu_applies_filters())
		have |= NEEDS_FILTERS;
	if (bootarg_has("icount"))
		have |= NEEDS_ICOUNT;
	if (scountovf_is_readable())
		have |= NEEDS_SSCOFPMF;
	if (machine.smcntrpmf)
		have |= NEEDS_SMCNTRPMF;
	if (machine.ssctr)
		have |= NEEDS_SSCTR;
	if (sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_SSE, 0, 0).value)
		have |= NEEDS_SSE;
	if (counters_are_delegated())
		have |= NEEDS_SSCCFG;
	if (machine.harts > 1)
		have |= NEEDS_HART;
	if (pmu_event_info(SHARED, 0, 0, 1).error != SBI_ERR_NOT_SUPPORTED)
		have |= NEEDS_EVENT_INFO;
	if (pmu_set_shmem(ALL_ONES, ALL_ONES, 0).error != SBI_ERR_NOT_SUPPORTED)
		have |= NEEDS_SNAPSHOT;
	if (sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_PMU_BATCH, 0, 0).value)
		have |= NEEDS_BATCH;
	if (batch_version() >= SBI_PMU_BATCH_VERSION_0_10)
		have |= NEEDS_MAP;
	return have;
}

static char *append_number(char *to, ulong n)
{
	if (n > 9)
		to = append_number(to, n / 10);
	*to = '0' + n % 10;
	return to + 1;
}

static void name_firmware(ulong id, ulong version)
{
	static char name[64] = "OpenSBI ";
	char *at = name + str_length(name);

	if (id != IMPL_OPENSBI)
		return;
	at = append_number(at, version >> 16 & 0xffff);
	*at++ = '.';
	at = append_number(at, version & 0xffff);
	*at = 0;
	machine.firmware = name;
}

static void introduce(void)
{
	struct sbiret id = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_IMPL_ID, 0, 0, 0);
	struct sbiret version = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_IMPL_VERSION, 0, 0, 0);
	struct sbiret spec = sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0);

	name_firmware(id.value, version.value);
	print("TAP version 13\n");
	print("# SBI %lu.%lu, implementation %lu version %lu.%lu\n", spec.value >> 24,
	      spec.value & 0xffffff, id.value, version.value >> 16, version.value & 0xffff);
	print("# counters: %llu, hardware %#llx, firmware %#llx\n", ctrs.nr, ctrs.hw, ctrs.fw);
}

static u64 cases_of(const struct test_case *test)
{
	u64 n = 0;

	for (; test->name; test++)
		n += case_is_wanted(test);
	return n;
}

static void run_group(const struct test_case *test, u64 have)
{
	for (; test->name; test++)
		if (case_is_wanted(test))
			case_run(test, have);
}

void __noreturn start_c(ulong hart, const void *fdt);

void start_c(ulong hart, const void *fdt)
{
	const struct test_case *const *group;
	u64 have, planned = 0;

	(void)hart;
	fdt_parse(fdt);
	pmu_discover();
	pmu_calibrate();
	have = what_there_is();
	introduce();
	known_check(all_groups);
	for (group = all_groups; *group; group++)
		if (is_chosen(*group))
			planned += cases_of(*group);
	print("1..%llu\n", planned);
	for (group = all_groups; *group; group++) {
		/* The check configures counters, so the cases of boot.c run before it. */
		if (*group != boot_cases && fixed_counters_can_be_configured())
			have |= NEEDS_FIXED;
		if (is_chosen(*group))
			run_group(*group, have);
	}
	power_off(cases_good());
}
