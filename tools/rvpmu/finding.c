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

static struct kind *kinds;
static size_t nr_kinds;
static int status;

/* --- the kinds --- */

static int add_kind(const struct pmu *pmu, void *arg)
{
	struct kind *more, *kind;

	if (!is_core(pmu))
		return 0;
	more = realloc(kinds, (nr_kinds + 1) * sizeof(*kinds));
	if (!more)
		return -ENOMEM;
	kinds = more;
	kind = &kinds[nr_kinds++];
	*kind = (struct kind){ .pmu = *pmu };
	/* Mainline's PMU has no file cpus: it is that of all harts. */
	if (*pmu->cpus)
		strcpy(kind->harts, pmu->cpus);
	else
		read_line(ONLINE, kind->harts);
	kind->core = find_core_name(pmu, kind->harts);
	pmu_read(pmu, "caps/sampling", kind->sampling);
	pmu_read(pmu, "caps/cycles_sampling", kind->cycles_sampling);
	return 0;
}

bool find_kinds(void)
{
	static const struct pmu none = { .name = "cpu" };
	int err = for_each_pmu(add_kind, NULL);

	if (!err && !nr_kinds) {
		/* The checks say what is missing. */
		err = add_kind(&none, NULL);
		if (!err)
			*kinds[0].pmu.name = '\0';
	}
	if (err)
		report_error("out of memory");
	return !err;
}

int end_kinds(void)
{
	prometheus_end(status);
	free(kinds);
	return status;
}

bool any_kind(bool (*fits)(const struct kind *kind))
{
	for (size_t i = 0; i < nr_kinds; i++) {
		if (fits(&kinds[i]))
			return true;
	}
	return false;
}

/* --- results --- */

void find(struct kind *kind, const char *what, enum finding finding, const char *why,
	  const char *cure)
{
	struct result *result = &kind->result;

	result->what = what;
	result->finding = finding;
	snprintf(result->why, sizeof(result->why), "%s", why);
	snprintf(result->cure, sizeof(result->cure), "%s", cure);
	result->status = finding < FINDING_ABSENT ? (int)finding : EXIT_OK;
}

/* "cpu_type1, harts 1,3, T-Head C908: " */
static void print_kind(const struct kind *kind)
{
	if (!json)
		printf("%s, hart%s %s%s%s: ", kind->pmu.name,
		       strpbrk(kind->harts, "-,") ? "s" : "", kind->harts,
		       kind->core.title ? ", " : "", kind->core.title ? kind->core.title : "");
	json_text("pmu", kind->pmu.name);
	json_text("harts", kind->harts);
	if (kind->core.name)
		json_text("core", kind->core.name);
}

/* @is_common: it holds for all kinds. */
static void print_result(const struct kind *kind, bool is_common)
{
	static const char *const words[] = {
		"ok", "degraded", "missing", "absent", "note", "unknown",
	};
	const struct result *result = &kind->result;

	if (!result->what)
		return;
	if (result->status > status)
		status = result->status;
	if (prometheus) {
		prometheus_finding(kind, words[result->finding], is_common);
		return;
	}
	json_open(NULL, '{');
	json_text("what", result->what);
	json_text("finding", words[result->finding]);
	if (!json)
		printf("%-9s %-14s ", words[result->finding], result->what);
	if (!is_common)
		print_kind(kind);
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

	for (size_t i = 1; i < nr_kinds; i++)
		is_common &= is_same(&kinds[0].result, &kinds[i].result);
	for (size_t i = 0; i < (is_common ? 1 : nr_kinds); i++)
		print_result(&kinds[i], is_common);
}

void check_each(check_fn *check)
{
	for (size_t i = 0; i < nr_kinds; i++) {
		struct kind *kind = &kinds[i];

		kind->result = (struct result){};
		/* This overrides taskset on purpose: rvpmu reports on the PMU's harts. */
		kind->away = *kind->pmu.cpus ? move_to_harts(kind->pmu.cpus) : 0;
		check(kind);
	}
	print_results();
}

void check_once(check_fn *check)
{
	kinds[0].result = (struct result){};
	check(&kinds[0]);
	print_result(&kinds[0], true);
}

/* --- the kernel's log --- */

/* The part of the log that begins with "riscv_pmu: harts 1,3:", or NULL. Cuts off what follows it. */
static char *find_kind_in_log(const struct kind *kind, char *log)
{
	char mark[TEXT_SIZE + 32], *begin, *end;

	snprintf(mark, sizeof(mark), "riscv_pmu: harts %s:", kind->harts);
	begin = strstr(log, mark);
	if (!begin)
		return NULL;
	end = strstr(begin + 1, "riscv_pmu: harts ");
	if (end)
		*end = '\0';
	return begin;
}

const char *find_in_log(const struct kind *kind, const char *mark, char text[TEXT_SIZE])
{
	char *log = malloc(LOG_MOST), *line = log;
	int len = log ? klogctl(LOG_READ_ALL, log, LOG_MOST - 1) : -1;

	*text = '\0';
	if (len > 0) {
		log[len] = '\0';
		if (kind && nr_kinds > 1)
			line = find_kind_in_log(kind, log);
		line = line ? strstr(line, mark) : NULL;
		if (line)
			snprintf(text, TEXT_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
		drop_controls(text);
	}
	free(log);
	return text;
}
