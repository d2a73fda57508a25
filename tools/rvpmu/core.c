// SPDX-License-Identifier: GPL-2.0
/* The core of this machine, and its events and metrics in perf's tables. */

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rvpmu.h"

/* --- which core is it? --- */

/* Copies the first value of the field in /proc/cpuinfo. */
static void read_id(const char *field, char value[NAME_SIZE])
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[TEXT_SIZE];

	*value = '\0';
	while (file && !*value && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, field, strlen(field)))
			sscanf(line + strlen(field), " : %127s", value);
	}
	if (file)
		fclose(file);
}

static bool matches(const char *ids, const char *pattern)
{
	char whole[TEXT_SIZE];
	regex_t regex;
	bool match;

	snprintf(whole, sizeof(whole), "^(%s)$", pattern);
	if (regcomp(&regex, whole, REG_EXTENDED | REG_NOSUB))
		return false;
	match = !regexec(&regex, ids, 0, NULL, 0);
	regfree(&regex);
	return match;
}

static const char *find_core(void)
{
	char vendor[NAME_SIZE], arch[NAME_SIZE], imp[NAME_SIZE], ids[3 * NAME_SIZE];
	const char *override = getenv("PERF_CPUID");

	read_id("mvendorid", vendor);
	read_id("marchid", arch);
	read_id("mimpid", imp);
	snprintf(ids, sizeof(ids), "%s-%s-%s", vendor, arch, imp);
	for (unsigned int i = 0; i < nr_core_rows; i++) {
		if (matches(override ? override : ids, core_rows[i].ids))
			return core_rows[i].core;
	}
	return "standard";
}

const char *this_core(void)
{
	static const char *core;

	if (!core)
		core = find_core();
	return core;
}

bool has_metric(const struct metric *metric)
{
	if (*metric->core)
		return !strcmp(metric->core, this_core());
	for (unsigned int i = 0; i < nr_metrics; i++) {
		if (!strcmp(metrics[i].core, this_core()))
			return false;
	}
	return true;
}

/* --- events --- */

struct generic_search {
	const char *name;
	bool found;
	int err;
};

static int try_generic(const struct pmu *pmu, const char *name,
		       const struct perf_event_attr *attr, void *arg)
{
	struct generic_search *search = arg;
	int err;

	if (strcmp(name, search->name))
		return 0;
	/* It is enough if harts of one CPU type have it. */
	err = try_event_or_user_only(attr);
	if (!search->found || !err)
		search->err = err;
	search->found = true;
	return 0;
}

static int try_generic_of(const struct pmu *pmu, void *arg)
{
	return for_each_generic(pmu, try_generic, arg);
}

int find_vendor_event(const struct vendor_event *event, char term[TEXT_SIZE])
{
	struct perf_event_attr attr;
	char code[NAME_SIZE];
	struct pmu pmu;

	snprintf(code, sizeof(code), "event=0x%llx", (unsigned long long)event->code);
	/* Any perf takes this, also one whose tables lack the name. */
	snprintf(term, TEXT_SIZE, "cpu/%s,name=%s/", code, event->name);
	if (!find_pmu(&pmu, "cpu") || parse_terms(&pmu, code, &attr) != TERMS_COMPLETE)
		return -ENOENT;
	return try_event_or_user_only(&attr);
}

int find_firmware_event(int number, char term[TEXT_SIZE])
{
	const char *name = firmware_event_name(number);
	char file[TEXT_SIZE], text[TEXT_SIZE];
	struct perf_event_attr attr;
	struct pmu pmu;

	snprintf(file, sizeof(file), "events/%s", name);
	if (find_pmu(&pmu, "sbi_fw") && pmu_read(&pmu, file, text) &&
	    parse_terms(&pmu, text, &attr) == TERMS_COMPLETE) {
		snprintf(term, TEXT_SIZE, "sbi_fw/%s/", name);
		return try_pmu_event(&pmu, &attr);
	}
	/* Mainline's driver has no PMU of firmware events. */
	snprintf(term, TEXT_SIZE, "cpu/config=0x%llx,name=fw-%s/", RAW_FIRMWARE | number, name);
	if (!find_pmu(&pmu, "cpu"))
		return -ENOENT;
	attr = make_attr(pmu.type, RAW_FIRMWARE | number);
	return try_event_or_user_only(&attr);
}

const char *kernel_name(const char *name)
{
	if (!strcmp(name, "cycles"))
		return "cpu-cycles";
	if (!strcmp(name, "branches"))
		return "branch-instructions";
	return name;
}

int find_event(const char *name, char term[TEXT_SIZE])
{
	struct generic_search search = { .name = kernel_name(name), .err = -ENOENT };

	if (!strncmp(name, "fw-", 3) && firmware_event_number(name) >= 0)
		return find_firmware_event(firmware_event_number(name), term);
	for (unsigned int i = 0; i < nr_vendor_events; i++) {
		if (!strcasecmp(vendor_events[i].name, name) &&
		    !strcmp(vendor_events[i].core, this_core()))
			return find_vendor_event(&vendor_events[i], term);
	}
	snprintf(term, TEXT_SIZE, "%s", name);
	for_each_pmu(try_generic_of, &search);
	return search.err;
}
