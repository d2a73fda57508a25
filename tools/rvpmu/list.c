// SPDX-License-Identifier: GPL-2.0
/* rvpmu list, rvpmu caps */

#include <stdio.h>
#include <string.h>

#include "rvpmu.h"

/* --- counters that can hold an event --- */

/* "0,3-18" */
static void format_mask(uint32_t mask, char text[TEXT_SIZE])
{
	size_t len = 0;

	*text = '\0';
	for (int bit = 0; bit < 32; bit++) {
		int last = bit;

		if (!(mask >> bit & 1))
			continue;
		while (last < 31 && mask >> (last + 1) & 1)
			last++;
		len += snprintf(text + len, TEXT_SIZE - len, last > bit ? "%s%d-%d" : "%s%d",
				len ? "," : "", bit, last);
		bit = last;
	}
}

/*
 * Opens the event on one counter after the other by counterid_mask. Drivers without that
 * format ignore config2.
 */
static bool find_counters(const struct pmu *pmu, const struct perf_event_attr *attr,
			  char text[TEXT_SIZE])
{
	struct perf_event_attr one = *attr;
	uint32_t mask = 0;

	*text = '\0';
	if (!pmu_read(pmu, "format/counterid_mask", text) || try_event(attr))
		return false;

	for (int ctr = 0; ctr < 32; ctr++) {
		one.config2 = 1U << ctr;
		if (!try_event(&one))
			mask |= 1U << ctr;
	}
	format_mask(mask, text);
	/* counterid_mask has no bits for firmware counters. */
	return mask;
}

/* --- list --- */

static int list_event(const struct pmu *pmu, const char *name, void *arg)
{
	char file[TEXT_SIZE], terms[TEXT_SIZE], counters[TEXT_SIZE], config[32];
	struct perf_event_attr attr;
	bool known;

	/* "cycles.unit" and "cycles.scale" are attributes of an event, not events. */
	if (strchr(name, '.'))
		return 0;

	snprintf(file, sizeof(file), "events/%.100s", name);
	pmu_read(pmu, file, terms);
	if (!parse_terms(pmu, terms, &attr)) {
		fprintf(stderr, "rvpmu: %s/%s is '%s', which does not match the formats of %s: ignored\n",
			pmu->name, file, terms, pmu->name);
		return 0;
	}
	known = find_counters(pmu, &attr, counters);
	snprintf(config, sizeof(config), "0x%llx", (unsigned long long)attr.config);
	if (!json)
		printf("  %-28s config=%-20s %s%s\n", name, config, known ? "counters " : "",
		       known ? counters : "");
	json_open(NULL, '{');
	json_text("name", name);
	json_text("terms", terms);
	json_text("config", config);
	if (known)
		json_text("counters", counters);
	json_close('}');
	return 0;
}

static void print_head(const struct pmu *pmu)
{
	if (json)
		return;

	printf("%s (type %u%s%s)%s%s", pmu->name, pmu->type, *pmu->cpus ? ", harts " : "",
	       pmu->cpus, *pmu->device_id ? ": " : "", pmu->device_id);
	if (pmu->branches)
		printf("; %ld branch records of each hart", pmu->branches);
	putchar('\n');
}

static int list_pmu(const struct pmu *pmu, void *arg)
{
	const char *only = arg;

	if (only && strcmp(only, pmu->name))
		return 0;

	print_head(pmu);
	json_open(NULL, '{');
	json_text("name", pmu->name);
	json_number("type", pmu->type);
	if (*pmu->cpus)
		json_text("cpus", pmu->cpus);
	if (*pmu->device_id)
		json_text("device_id", pmu->device_id);
	if (pmu->branches)
		json_number("branches", pmu->branches);
	json_open("events", '[');
	for_each_name(pmu, "events", list_event, NULL);
	json_close(']');
	json_close('}');
	return 0;
}

int cmd_list(int argc, char **argv)
{
	struct pmu pmu;

	if (argc > 1 && !find_pmu(&pmu, argv[1])) {
		fprintf(stderr, "rvpmu: there is no PMU '%s'; rvpmu list shows all PMUs\n", argv[1]);
		return EXIT_MISSING;
	}

	json_open(NULL, '{');
	json_open("pmus", '[');
	for_each_pmu(list_pmu, argv[1]);
	json_close(']');
	json_close('}');
	return EXIT_OK;
}

/* --- caps --- */

static int show_cap(const struct pmu *pmu, const char *name, void *arg)
{
	char file[TEXT_SIZE], text[TEXT_SIZE];

	snprintf(file, sizeof(file), "caps/%.100s", name);
	if (!pmu_read(pmu, file, text))
		return 0;
	if (!json)
		printf("  %-24s %s\n", name, text);
	json_text(name, text);
	return 0;
}

static int show_caps(const struct pmu *pmu, void *arg)
{
	if (!is_hardware(pmu))
		return 0;

	print_head(pmu);
	json_open(NULL, '{');
	json_text("name", pmu->name);
	json_open("caps", '{');
	for_each_name(pmu, "caps", show_cap, NULL);
	json_close('}');
	json_close('}');
	return 0;
}

int cmd_caps(int argc, char **argv)
{
	json_open(NULL, '{');
	json_open("pmus", '[');
	for_each_pmu(show_caps, NULL);
	json_close(']');
	json_close('}');
	return EXIT_OK;
}
