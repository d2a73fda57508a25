// SPDX-License-Identifier: GPL-2.0
/* The core of this machine, and its events and metrics in perf's tables. */

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rvpmu.h"

/* --- which core is it? --- */

static void parse_hart(const char *line, struct hart_ids *hart)
{
	const char *value = strchr(line, ':');

	if (!value)
		return;
	value++;
	if (!strncmp(line, "processor", 9))
		hart->number = strtol(value, NULL, 10);
	else if (!strncmp(line, "mvendorid", 9))
		hart->mvendorid = strtoull(value, NULL, 16);
	else if (!strncmp(line, "marchid", 7))
		hart->marchid = strtoull(value, NULL, 16);
	else if (!strncmp(line, "mimpid", 6))
		hart->mimpid = strtoull(value, NULL, 16);
	else if (!strncmp(line, "uarch", 5))
		sscanf(value, "%127s", hart->uarch);
}

bool read_hart(FILE *file, struct hart_ids *hart)
{
	char line[TEXT_SIZE];
	bool found = false;

	*hart = (struct hart_ids){};
	while (fgets(line, sizeof(line), file) && *line != '\n') {
		parse_hart(line, hart);
		found = true;
	}
	return found;
}

/* The PMU that was asked for; no name: all */
static struct pmu asked;
/* The result of this_core(), or NULL. */
static const char *asked_core;

const struct pmu *asked_pmu(void)
{
	return *asked.name ? &asked : NULL;
}

void ask_pmu(const struct pmu *pmu)
{
	asked = pmu ? *pmu : (struct pmu){};
	asked_core = NULL;
}

const char *ask_by_name(const char *name, char rest[TEXT_SIZE])
{
	char word[NAME_SIZE];
	struct pmu pmu;
	size_t len;

	ask_pmu(NULL);
	if (sscanf(name, "%127[^/]/%4095[^/]", word, rest) != 2)
		return name;
	len = strlen(word) + 1 + strlen(rest);
	if ((name[len] && strcmp(name + len, "/")) || !find_pmu(&pmu, word))
		return name;
	ask_pmu(&pmu);
	return rest;
}

/* The first hart that the PMU has; the first of all if it has no list of harts, or none that is online. */
static struct hart_ids first_hart(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	struct hart_ids first = {}, hart;
	bool has = false, found = false;

	while (file && !has && read_hart(file, &hart)) {
		has = list_has(asked.cpus, hart.number);
		if (!found || has)
			first = hart;
		found = true;
	}
	if (file)
		fclose(file);
	return first;
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
	const char *override = getenv("PERF_CPUID");
	const struct hart_ids hart = first_hart();
	char ids[NAME_SIZE];

	snprintf(ids, sizeof(ids), "0x%" PRIx64 "-0x%" PRIx64 "-0x%" PRIx64, hart.mvendorid,
		 hart.marchid, hart.mimpid);
	for (unsigned int i = 0; i < nr_core_rows; i++) {
		if (matches(override ? override : ids, core_rows[i].ids))
			return core_rows[i].core;
	}
	return "standard";
}

const char *this_core(void)
{
	if (!asked_core)
		asked_core = find_core();
	return asked_core;
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
	/* It is enough if harts of one type have it. */
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

/* The PMU of raw events: the first one, unless one was asked for. */
static bool find_raw_pmu(struct pmu *pmu)
{
	return find_pmu(pmu, *asked.name ? asked.name : "cpu");
}

int find_vendor_event(const struct vendor_event *event, char term[TEXT_SIZE])
{
	struct perf_event_attr attr;
	char code[NAME_SIZE];
	struct pmu pmu;
	bool has_pmu = find_raw_pmu(&pmu);

	snprintf(code, sizeof(code), "event=0x%llx", (unsigned long long)event->code);
	/* Any perf takes this, also one whose tables lack the name. */
	snprintf(term, TEXT_SIZE, "%s/%s,name=%s/", pmu.name, code, event->name);
	if (!has_pmu || parse_terms(&pmu, code, &attr) != TERMS_COMPLETE)
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
	/* "sbi_fw_type1" has those of the harts of "cpu_type1". */
	snprintf(text, sizeof(text), "sbi_fw%.100s",
		 strncmp(asked.name, "cpu", 3) ? "" : asked.name + 3);
	if (find_pmu(&pmu, text) && pmu_read(&pmu, file, text) &&
	    parse_terms(&pmu, text, &attr) == TERMS_COMPLETE) {
		snprintf(term, TEXT_SIZE, "%s/%s/", pmu.name, name);
		return try_pmu_event(&pmu, &attr);
	}
	/* Mainline's driver has no PMU of firmware events. */
	if (!find_raw_pmu(&pmu))
		return -ENOENT;
	snprintf(term, TEXT_SIZE, "%s/config=0x%llx,name=fw-%s/", pmu.name, RAW_FIRMWARE | number,
		 name);
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
	if (*asked.name) {
		snprintf(term, TEXT_SIZE, "%s/%.1000s/", asked.name, name);
		try_generic_of(&asked, &search);
	} else {
		snprintf(term, TEXT_SIZE, "%s", name);
		for_each_pmu(try_generic_of, &search);
	}
	return search.err;
}
