// SPDX-License-Identifier: GPL-2.0
/* rvpmu list, rvpmu caps */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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
static void find_counters(const struct pmu *pmu, const struct perf_event_attr *attr,
			  char text[TEXT_SIZE])
{
	struct perf_event_attr one = *attr;
	bool has_format = pmu_read(pmu, "format/counterid_mask", text);
	uint32_t mask = 0;

	*text = '\0';
	if (!has_format || attr->config2 || try_event_or_user_only(attr))
		return;

	for (int ctr = 0; ctr < 32; ctr++) {
		one.config2 = 1U << ctr;
		if (!try_event_or_user_only(&one))
			mask |= 1U << ctr;
	}
	/* counterid_mask has no bits for firmware counters. */
	format_mask(mask, text);
}

/* --- list --- */

/* What can be said about one event. */
struct description {
	const char *name;
	const char *terms;		/* in sysfs, or NULL: a generic event */
	bool open;			/* a term needs a value */
	bool denied;			/* this user may not open it */
	struct perf_event_attr attr;
	char counters[TEXT_SIZE];	/* or "": not known */
};

/* The text of one PMU, which is printed if it is not that of another one */
static FILE *out;

static void print_config(const char *key, uint64_t value, bool always)
{
	char text[32];

	if (!value && !always)
		return;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	if (!json)
		fprintf(out, " %s=%-*s", key, always ? 20 : 0, text);
	json_text(key, text);
}

static void print_event(const struct description *event)
{
	json_open(NULL, '{');
	json_text("name", event->name);
	if (event->terms)
		json_text("terms", event->terms);
	else
		json_number("type", event->attr.type);
	if (!json)
		fprintf(out, "  %-28s", event->name);
	/* As text, the same for all PMUs of harts: see below. */
	print_config("config", json || event->terms ? event->attr.config :
		     event->attr.config & 0xffffffff, true);
	print_config("config1", event->attr.config1, false);
	print_config("config2", event->attr.config2, false);
#ifdef PERF_ATTR_SIZE_VER8
	print_config("config3", event->attr.config3, false);
#endif
	if (!json && !event->terms)
		fprintf(out, " type=%u%s", event->attr.type,
			has_several_types() ? ", and the PMU's type in bits 63:32 of config" : "");
	if (!json && event->terms && (event->open || strstr(event->terms, "period=")))
		fprintf(out, " %s", event->terms);
	if (!json && *event->counters)
		fprintf(out, " counters %s", event->counters);
	if (!json)
		fprintf(out, "%s\n", event->denied ? " (this user may not open it)" : "");
	if (*event->counters)
		json_text("counters", event->counters);
	if (event->denied)
		json_true("denied");
	json_close('}');
}

static bool is_denied(int err)
{
	return err == -EACCES || err == -EPERM;
}

static int list_event(const struct pmu *pmu, const char *name, void *arg)
{
	struct description event = { .name = name };
	char file[TEXT_SIZE], text[TEXT_SIZE];
	enum terms terms;

	/* "cycles.unit" and "cycles.scale" are attributes of an event, not events. */
	if (strchr(name, '.'))
		return 0;

	snprintf(file, sizeof(file), "events/%.100s", name);
	pmu_read(pmu, file, text);
	event.terms = text;
	terms = parse_terms(pmu, text, &event.attr);
	if (terms == TERMS_INVALID) {
		report_error("%s/%s is '%s', which does not match the formats of %s: ignored",
			     pmu->name, file, text, pmu->name);
		return 0;
	}
	event.open = terms == TERMS_OPEN;
	if (!event.open) {
		event.denied = is_denied(try_pmu_event(pmu, &event.attr));
		find_counters(pmu, &event.attr, event.counters);
	}
	print_event(&event);
	return 0;
}

/* Those that the PMU has, but does not list in events/. */
static int list_generic(const struct pmu *pmu, const char *name,
			const struct perf_event_attr *attr, void *arg)
{
	struct description event = { .name = name, .attr = *attr };
	char file[TEXT_SIZE], text[TEXT_SIZE];
	int err;

	snprintf(file, sizeof(file), "events/%.100s", name);
	if (pmu_read(pmu, file, text))
		return 0;
	err = try_event_or_user_only(attr);
	event.denied = is_denied(err);
	if (!err || event.denied)
		print_event(&event);
	return 0;
}

static void print_head(const struct pmu *pmu)
{
	if (json)
		return;

	printf("%s (type %u%s%s%s%s)%s%s", pmu->name, pmu->type, *pmu->cpus ? ", harts " : "",
	       pmu->cpus, *pmu->core ? ", core " : "", pmu->core, *pmu->device_id ? ": " : "",
	       pmu->device_id);
	if (pmu->branches)
		printf("; %ld branch records of each hart", pmu->branches);
	putchar('\n');
}

static void list_events(const struct pmu *pmu)
{
	for_each_name(pmu, "events", list_event, NULL);
	for_each_generic(pmu, list_generic, NULL);
}

/* The lines of the PMUs so far, if they have any */
static struct printed {
	char name[NAME_SIZE];
	char *lines;
} *printed;
static size_t nr_printed;

/* Returns the PMU that has these lines, or keeps them and returns NULL. */
static const char *find_equal(const struct pmu *pmu, char *lines)
{
	struct printed *more;

	for (size_t i = 0; i < nr_printed; i++) {
		if (strcmp(printed[i].lines, lines))
			continue;
		free(lines);
		return printed[i].name;
	}
	more = realloc(printed, (nr_printed + 1) * sizeof(*printed));
	if (more) {
		printed = more;
		strcpy(printed[nr_printed].name, pmu->name);
		printed[nr_printed++].lines = lines;
	}
	return NULL;
}

/* PMUs of one kind, such as those of two types of cores, often have the same events. */
static void list_text(const struct pmu *pmu)
{
	const char *equal;
	char *lines = NULL;
	size_t size;

	out = open_memstream(&lines, &size);
	if (!out) {
		report_error("out of memory");
		return;
	}
	list_events(pmu);
	fclose(out);
	print_head(pmu);
	if (!*lines) {
		free(lines);
		return;
	}
	equal = find_equal(pmu, lines);
	if (equal)
		printf("  the events and counters of %s\n", equal);
	else
		fputs(lines, stdout);
}

static int list_pmu(const struct pmu *pmu, void *arg)
{
	const char *only = arg;

	if (only && strcmp(only, pmu->name))
		return 0;

	if (!json) {
		list_text(pmu);
		return 0;
	}
	json_open(NULL, '{');
	json_text("name", pmu->name);
	json_number("type", pmu->type);
	if (*pmu->cpus)
		json_text("cpus", pmu->cpus);
	if (*pmu->device_id)
		json_text("device_id", pmu->device_id);
	if (*pmu->core)
		json_text("core", pmu->core);
	if (pmu->branches)
		json_number("branches", pmu->branches);
	json_open("events", '[');
	list_events(pmu);
	json_close(']');
	json_close('}');
	return 0;
}

int cmd_list(int argc, char **argv)
{
	struct pmu pmu;

	if (!check_sysfs())
		return EXIT_MISSING;
	if (argc && !find_pmu(&pmu, argv[0])) {
		report_error("there is no PMU '%s'; rvpmu list shows all PMUs", argv[0]);
		return EXIT_MISSING;
	}

	json_open("pmus", '[');
	for_each_pmu(list_pmu, argv[0]);
	json_close(']');
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
	if (!check_sysfs())
		return EXIT_MISSING;

	json_open("pmus", '[');
	for_each_pmu(show_caps, NULL);
	json_close(']');
	return EXIT_OK;
}
