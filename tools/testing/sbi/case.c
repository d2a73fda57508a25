// SPDX-License-Identifier: BSD-2-Clause
/* Runs the cases, with the list of known failures of the firmware. */
#include "case.h"
#include "fdt.h"
#include "pmu.h"

#define FAILURES_SHOWN	8

static const char *skipped;
static u64 failures;
static bool all_good = true;
static u64 case_number;

static const struct {
	u64 need;
	const char *why;
} lacking[] = {
	{ NEEDS_ICOUNT,		"counts are exact with -icount only" },
	{ NEEDS_SSCOFPMF,	"this hart has no Sscofpmf" },
	{ NEEDS_SMCNTRPMF,	"this hart has no Smcntrpmf" },
	{ NEEDS_EVENT_INFO,	"this firmware has no EVENT_GET_INFO" },
	{ NEEDS_SNAPSHOT,	"this firmware has no snapshot" },
	{ NEEDS_BATCH,		"this firmware has no PMU batch extension" },
	{ NEEDS_MAP,		"this firmware has no MAP_EVENTS" },
	{ NEEDS_HART,		"there is no second hart" },
	{ NEEDS_SSE,		"this firmware has no SSE extension" },
	{ NEEDS_SSCCFG,		"this hart's counters are not delegated" },
	{ NEEDS_FIXED,		"this firmware does not configure cycle and instret on a hart with"
				" Sscofpmf and without Smcntrpmf, as OpenSBI decided in 65bb705f" },
	{ NEEDS_SSCTR,		"this hart has no Ssctr" },
	{ NEEDS_READS,		"only the model can observe reads" },
	{ NEEDS_RV64,		"this case needs RV64" },
	{ NEEDS_FILTERS,	"QEMU 10.0.2 on RV32 does not apply filters to the lower half of a counter" },
};

/* --- results of a case -------------------------------------------------------- */

void tap_skip(const char *why)
{
	skipped = why;
}

static bool fail_once_more(const char *file, int at)
{
	if (++failures > FAILURES_SHOWN)
		return false;
	print("# %s:%ld: ", file, (long)at);
	return true;
}

void tap_fail(const char *file, int at, const char *what, u64 got, u64 want)
{
	if (fail_once_more(file, at))
		print("%s: is %#llx, not %#llx\n", what, got, want);
}

void tap_fail_range(const char *file, int at, const char *what, u64 got, u64 low, u64 high)
{
	if (fail_once_more(file, at))
		print("%s: is %#llx, not from %#llx to %#llx\n", what, got, low, high);
}

void tap_fail_ret(const char *file, int at, const char *what, struct sbiret got)
{
	if (fail_once_more(file, at))
		print("%s: error %ld, value %#lx\n", what, got.error, got.value);
}

bool tap_failed(void)
{
	return failures;
}

/* --- known failures of this firmware ------------------------------------------ */

/* Does a line of the list have this verdict and name? */
static bool line_is(const char *at, const char *end, const char *verdict, const char *name)
{
	size_t length = str_length(verdict);

	if (!str_begins(at, verdict) || at[length] != ' ')
		return false;
	at += length + 1;
	length = str_length(name);
	return (size_t)(end - at) == length && str_begins(at, name);
}

static const char *line_end(const char *at)
{
	while (at < machine.initrd_end && *at != '\n')
		at++;
	return at;
}

static bool known_as(const char *verdict, const char *name)
{
	const char *at, *end;

	for (at = machine.initrd; at < machine.initrd_end; at = end + 1) {
		end = line_end(at);
		if (line_is(at, end, verdict, name))
			return true;
	}
	return false;
}

static bool line_names_case(const char *at, const char *end, const struct test_case *const *groups)
{
	const struct test_case *test;

	for (; *groups; groups++)
		for (test = *groups; test->name; test++)
			if (line_is(at, end, "fails", test->name) ||
			    line_is(at, end, "not-run", test->name) ||
			    line_is(at, end, "only", test->name))
				return true;
	return false;
}

bool case_is_wanted(const struct test_case *test)
{
	const char *at, *end;

	for (at = machine.initrd; at < machine.initrd_end; at = end + 1) {
		end = line_end(at);
		if (str_begins(at, "only "))
			return line_is(at, end, "only", test->name);
	}
	return true;
}

void known_check(const struct test_case *const *groups)
{
	const char *at, *end, *c;

	for (at = machine.initrd; at < machine.initrd_end; at = end + 1) {
		end = line_end(at);
		if (line_names_case(at, end, groups))
			continue;
		print("Bail out! the initrd names an unknown case: ");
		for (c = at; c < end; c++)
			print("%c", *c);
		print("\n");
		power_off(false);
	}
}

/* --- running ------------------------------------------------------------------ */

static const char *what_it_lacks(const struct test_case *test, u64 have)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lacking); i++)
		if (test->needs & ~have & lacking[i].need)
			return lacking[i].why;
	return NULL;
}

static void result(bool good, const char *name, const char *directive, const char *why)
{
	print("%s %llu - %s%s%s\n", good ? "ok" : "not ok", ++case_number, name, directive, why);
	if (!good)
		all_good = false;
}

static void judge(const struct test_case *test)
{
	bool known = known_as("fails", test->name);

	if (skipped) {
		result(true, test->name, " # SKIP ", skipped);
	} else if (!known) {
		result(!failures, test->name, "", "");
	} else if (failures) {
		result(true, test->name, " # SKIP TODO known failure of ", machine.firmware);
	} else {
		print("# a known failure does not fail: remove it from the list\n");
		result(false, test->name, "", "");
	}
}

void case_run(const struct test_case *test, u64 have)
{
	const char *lacks = what_it_lacks(test, have);

	skipped = NULL;
	failures = 0;
	if (lacks) {
		result(true, test->name, " # SKIP ", lacks);
		return;
	}
	if (known_as("not-run", test->name)) {
		result(true, test->name, " # SKIP TODO this case hangs ", machine.firmware);
		return;
	}
	/* If the firmware hangs, this is the case. */
	print("# %llu: %s\n", case_number + 1, test->name);
	if (!(test->needs & AT_BOOT))
		pmu_reset();
	canaries_set();
	test->run();
	irqs_disable();
	if (!canaries_live())
		tap_fail(__FILE__, __LINE__, "pages beside the shared ones are unchanged", 0, 1);
	judge(test);
}

bool cases_good(void)
{
	return all_good;
}
