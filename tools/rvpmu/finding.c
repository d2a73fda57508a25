// SPDX-License-Identifier: GPL-2.0
/*
 * What rvpmu doctor finds on each type of core: runs a check on harts of each, and prints what is
 * equal on all of them once.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>

#include "rvpmu.h"

/* syslog(2) */
#define LOG_READ_ALL	3
#define LOG_MOST	(1 << 20)

static struct core_type *types;
static size_t nr_types;
static int status;

/* --- types of cores --- */

static int add_type(const struct pmu *pmu, void *arg)
{
	struct core_type *more, *type;

	if (!is_core(pmu))
		return 0;
	more = realloc(types, (nr_types + 1) * sizeof(*types));
	if (!more)
		return -ENOMEM;
	types = more;
	type = &types[nr_types++];
	*type = (struct core_type){ .pmu = *pmu };
	read_harts(pmu, type->harts);
	type->core = find_core_name(pmu, type->harts);
	pmu_read(pmu, "caps/sampling", type->sampling);
	pmu_read(pmu, "caps/cycles_sampling", type->cycles_sampling);
	return 0;
}

bool find_types(void)
{
	static const struct pmu none = { .name = "cpu" };
	int err = for_each_pmu(add_type, NULL);

	if (!err && !nr_types) {
		/* The checks say what is missing. */
		err = add_type(&none, NULL);
		if (!err)
			*types[0].pmu.name = '\0';
	}
	if (err)
		report_error("out of memory");
	return !err;
}

int end_types(void)
{
	prometheus_end(status);
	free(types);
	return status;
}

bool any_type(bool (*fits)(const struct core_type *type))
{
	for (size_t i = 0; i < nr_types; i++) {
		if (fits(&types[i]))
			return true;
	}
	return false;
}

/* --- results --- */

void report(struct core_type *type, const char *what, enum finding finding, const char *why,
	    const char *cure)
{
	struct result *result = &type->result;

	result->what = what;
	result->finding = finding;
	snprintf(result->why, sizeof(result->why), "%s", why);
	snprintf(result->cure, sizeof(result->cure), "%s", cure);
	result->status = finding < FINDING_ABSENT ? (int)finding : EXIT_OK;
}

/* "cpu_type1, harts 1,3, T-Head C908: " */
static void print_type(const struct core_type *type)
{
	if (!json)
		printf("%s, hart%s %s%s%s: ", type->pmu.name,
		       strpbrk(type->harts, "-,") ? "s" : "", type->harts,
		       type->core.title ? ", " : "", type->core.title ? type->core.title : "");
	json_text("pmu", type->pmu.name);
	json_text("harts", type->harts);
	if (type->core.name)
		json_text("core", type->core.name);
}

/* @is_common: it holds for all types. */
static void print_result(const struct core_type *type, bool is_common)
{
	static const char *const words[] = {
		"ok", "degraded", "missing", "absent", "note", "unknown",
	};
	const struct result *result = &type->result;

	if (!result->what)
		return;
	if (result->status > status)
		status = result->status;
	if (prometheus) {
		prometheus_finding(type, words[result->finding], is_common);
		return;
	}
	json_open(NULL, '{');
	json_text("what", result->what);
	json_text("finding", words[result->finding]);
	if (!json)
		printf("%-9s %-14s ", words[result->finding], result->what);
	if (!is_common)
		print_type(type);
	if (!json)
		printf("%s\n", result->why);
	if (!json && *result->cure)
		printf("%-24s cure: %s\n", "", result->cure);
	json_text("why", result->why);
	if (*result->cure)
		json_text("cure", result->cure);
	json_close('}');
}

static bool is_same(const struct result *one, const struct result *other)
{
	if (!one->what || !other->what)
		return one->what == other->what;
	return !strcmp(one->what, other->what) && one->finding == other->finding &&
	       !strcmp(one->why, other->why) && !strcmp(one->cure, other->cure);
}

static void print_results(void)
{
	bool is_common = true;

	for (size_t i = 1; i < nr_types; i++)
		is_common &= is_same(&types[0].result, &types[i].result);
	for (size_t i = 0; i < (is_common ? 1 : nr_types); i++)
		print_result(&types[i], is_common);
}

void check_each(check_fn *check)
{
	for (size_t i = 0; i < nr_types; i++) {
		struct core_type *type = &types[i];

		type->result = (struct result){};
		/* This overrides taskset on purpose: rvpmu reports on the PMU's harts. */
		type->move_error = *type->pmu.cpus ? move_to_harts(type->pmu.cpus) : 0;
		check(type);
	}
	print_results();
}

void check_once(check_fn *check)
{
	types[0].result = (struct result){};
	check(&types[0]);
	print_result(&types[0], true);
}

/* --- the kernel's log --- */

/* The part of the log that begins with "riscv_pmu: harts 1,3:", or NULL. Cuts off what follows it. */
static char *find_type_in_log(const struct core_type *type, char *log)
{
	char mark[TEXT_SIZE + 32], *begin, *end;

	snprintf(mark, sizeof(mark), "riscv_pmu: harts %s:", type->harts);
	begin = strstr(log, mark);
	if (!begin)
		return NULL;
	end = strstr(begin + 1, "riscv_pmu: harts ");
	if (end)
		*end = '\0';
	return begin;
}

const char *find_in_log(const struct core_type *type, const char *mark, char text[TEXT_SIZE])
{
	char *log = malloc(LOG_MOST), *line = log;
	int len = log ? klogctl(LOG_READ_ALL, log, LOG_MOST - 1) : -1;

	*text = '\0';
	if (len > 0) {
		log[len] = '\0';
		if (type && nr_types > 1)
			line = find_type_in_log(type, log);
		line = line ? strstr(line, mark) : NULL;
		if (line)
			snprintf(text, TEXT_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
		drop_controls(text);
	}
	free(log);
	return text;
}
