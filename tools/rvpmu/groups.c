// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu groups [NAME]: groups of events by name, for rvpmu stat. They are perf's metrics, perf's
 * groups of metrics, and groups of events that have no metric.
 */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rvpmu.h"

static const struct {
	const char *name;
	const char *events;
	const char *text;
} event_groups[] = {
	{
		.name = "stalls",
		.events = "cycles,stalled-cycles-frontend,stalled-cycles-backend",
		.text = "Cycles in which the frontend delivered no instruction, or the backend could not execute one.",
	}, {
		.name = "firmware",
		.events = "fw-misaligned-load,fw-misaligned-store,fw-illegal-insn,fw-set-timer,"
			  "fw-ipi-sent,fw-fence-i-sent,fw-sfence-vma-sent,fw-sfence-vma-asid-sent",
		.text = "Traps and calls that the firmware handled; each costs a switch to M-mode.",
	},
};

static struct group *groups;
static size_t nr_groups;

/* --- the list of groups --- */

static struct group *add_group(const char *name, const char *text)
{
	struct group *more = realloc(groups, (nr_groups + 1) * sizeof(*groups));
	struct group *group;

	if (!more)
		return NULL;
	groups = more;
	group = &groups[nr_groups++];
	*group = (struct group){};
	snprintf(group->name, sizeof(group->name), "%s", name);
	snprintf(group->text, sizeof(group->text), "%s", text);
	return group;
}

static struct group *look_up(const char *name)
{
	for (size_t i = 0; i < nr_groups; i++) {
		if (!strcasecmp(groups[i].name, name))
			return &groups[i];
	}
	return NULL;
}

static bool has_name(const char *list, const char *name, size_t len)
{
	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		if (strcspn(list, ",") == len && !strncmp(list, name, len))
			return true;
	}
	return false;
}

/* Adds those of @names that the list lacks. */
static void add_names(char list[TEXT_SIZE], const char *names)
{
	size_t len, used = strlen(list);

	for (; *names; names += len, names += *names == ',') {
		len = strcspn(names, ",");
		if (!has_name(list, names, len) && used < TEXT_SIZE)
			used += snprintf(list + used, TEXT_SIZE - used, "%s%.*s", used ? "," : "",
					 (int)len, names);
	}
}

static bool add_metric(struct group *group, const struct metric *metric)
{
	if (!group)
		return false;
	add_names(group->metrics, metric->name);
	add_names(group->events, metric->events);
	return true;
}

/* Finds or adds one of perf's groups, "TLB". All names are in lower case here. */
static struct group *metric_group(const char *name)
{
	char lower[NAME_SIZE], text[2 * NAME_SIZE];
	struct group *group = look_up(name);
	size_t len = strnlen(name, sizeof(lower) - 1);

	if (group)
		return group;
	for (size_t i = 0; i < len; i++)
		lower[i] = tolower((unsigned char)name[i]);
	lower[len] = '\0';
	snprintf(text, sizeof(text), "All metrics of perf's group %s.", name);
	return add_group(lower, text);
}

static bool add_to_groups(const struct metric *metric)
{
	char names[NAME_SIZE], *name, *save;
	bool ok = true;

	snprintf(names, sizeof(names), "%s", metric->groups);
	for (name = strtok_r(names, ";", &save); name && ok; name = strtok_r(NULL, ";", &save))
		ok = add_metric(metric_group(name), metric);
	return ok;
}

/* The groups of this_core() */
static bool fill_groups(void)
{
	struct group *group;
	bool ok = true;

	nr_groups = 0;
	for (unsigned int i = 0; i < nr_metrics && ok; i++) {
		if (has_metric(&metrics[i]))
			ok = add_metric(add_group(metrics[i].name, metrics[i].text), &metrics[i]);
	}
	for (unsigned int i = 0; i < nr_metrics && ok; i++) {
		if (has_metric(&metrics[i]))
			ok = add_to_groups(&metrics[i]);
	}
	for (size_t i = 0; i < sizeof(event_groups) / sizeof(*event_groups) && ok; i++) {
		group = add_group(event_groups[i].name, event_groups[i].text);
		ok = group;
		if (group)
			add_names(group->events, event_groups[i].events);
	}
	return ok;
}

/* --- what this machine has --- */

/*
 * A weak group (:W): its events are counted together if they fit. Firmware events are counted in
 * software, and need no group.
 */
static void set_terms(struct group *group, const char *terms)
{
	bool together = !strstr(terms, "sbi_fw") && !strstr(terms, "name=fw-");

	snprintf(group->terms, sizeof(group->terms), together ? "{%.4000s}:W" : "%s", terms);
}

static void try_events(struct group *group)
{
	char names[TEXT_SIZE], term[TEXT_SIZE], terms[TEXT_SIZE] = "", *name, *save;
	size_t used = 0;
	int err;

	strcpy(names, group->events);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		err = find_event(name, term);
		if (err && !group->err) {
			group->err = err;
			snprintf(group->missing, sizeof(group->missing), "%s", name);
		}
		if (used < sizeof(terms))
			used += snprintf(terms + used, sizeof(terms) - used, "%s%s",
					 used ? "," : "", term);
	}
	set_terms(group, terms);
}

static bool is_denied(const struct group *group)
{
	return group->err == -EACCES || group->err == -EPERM;
}

void report_missing(const struct group *group)
{
	const char *where = asked_pmu() ? asked_pmu()->name : "this machine";

	if (is_denied(group))
		report_error("group '%s' needs the event %s, which this user may not open: run as root, or run sysctl -w kernel.perf_event_paranoid=1; in a container, also allow the system call perf_event_open",
			     group->name, group->missing);
	else
		report_error("group '%s' needs the event %s, which %s does not have (%s): rvpmu groups shows which groups work; if the firmware hides the event, rvpmu doctor says so (events)",
			     group->name, group->missing, where, strerror(-group->err));
}

void note_no_tables(void)
{
	static const char text[] =
		"this rvpmu was built without perf's event tables, so it knows no events and metrics of this machine's core: rebuild it with make -C tools/rvpmu KDIR=<kernel tree>";

	if (nr_core_rows)
		return;
	json_text("note", text);
	if (!json)
		fprintf(stderr, "rvpmu: %s\n", text);
}

static void report_unknown(const char *name)
{
	char known[TEXT_SIZE] = "", printable[TEXT_SIZE];
	size_t used = 0;

	for (size_t i = 0; i < nr_groups && used < sizeof(known); i++)
		used += snprintf(known + used, sizeof(known) - used, "%s%s", used ? ", " : "",
				 groups[i].name);
	make_printable(name, printable);
	report_error("there is no group '%s'; %s's groups are: %s", printable,
		     asked_pmu() ? asked_pmu()->name : "this machine", known);
}

/* "l1d" and "cache_miss" are "l1d_mpki" and "cache_miss_rate", if no group has the short name. */
static struct group *look_up_short(const char *name)
{
	static const char *const endings[] = { "", "_mpki", "_rate" };
	struct group *group = NULL;
	char whole[NAME_SIZE];

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings) && !group; i++) {
		snprintf(whole, sizeof(whole), "%.100s%s", name, endings[i]);
		group = look_up(whole);
	}
	return group;
}

bool find_group(const char *name, struct group *group)
{
	const struct group *found;
	char rest[TEXT_SIZE];

	name = ask_by_name(name, rest);
	if (!fill_groups()) {
		report_error("out of memory");
		return false;
	}
	found = look_up_short(name);
	if (!found) {
		report_unknown(name);
		return false;
	}
	*group = *found;
	try_events(group);
	return true;
}

/* --- the command --- */

static void print_events(const struct group *group)
{
	char names[TEXT_SIZE], *name, *save;

	json_open("events", '[');
	strcpy(names, group->events);
	for (name = strtok_r(names, ",", &save); name; name = strtok_r(NULL, ",", &save))
		json_text(NULL, name);
	json_close(']');
}

static void print_metrics(const struct group *group)
{
	json_open("metrics", '[');
	for (unsigned int i = 0; i < nr_metrics; i++) {
		if (!has_metric(&metrics[i]) ||
		    !has_name(group->metrics, metrics[i].name, strlen(metrics[i].name)))
			continue;
		json_open(NULL, '{');
		json_text("name", metrics[i].name);
		json_text("expression", metrics[i].expr);
		json_close('}');
	}
	json_close(']');
}

static void print_group(const struct group *group)
{
	const char *finding = !group->err ? "ok" : is_denied(group) ? "unknown" : "missing";
	char name[2 * NAME_SIZE + 2];

	if (asked_pmu())
		snprintf(name, sizeof(name), "%s/%s/", asked_pmu()->name, group->name);
	else
		strcpy(name, group->name);
	json_open(NULL, '{');
	json_text("name", name);
	json_text("finding", finding);
	json_text("text", group->text);
	print_events(group);
	if (*group->metrics)
		print_metrics(group);
	if (group->err) {
		json_text("missing", group->missing);
		json_text("error", strerror(-group->err));
	}
	json_close('}');
	if (json)
		return;
	printf("%-22s %-8s %s\n%32s%s\n", name, finding, group->text, "", group->events);
	if (group->err)
		printf("%32s%s: %s\n", "", group->missing, strerror(-group->err));
}

/* For those who want further options of perf. */
static void print_perf(const struct group *group)
{
	if (json)
		return;
	/* perf computes metrics for all PMUs of harts only. */
	if (*group->metrics && !asked_pmu())
		printf("%32sperf stat -M %s -- ./program\n", "", group->metrics);
	printf("%32sperf stat -e '%s' -- ./program\n", "", group->terms);
}

/* The groups of all PMUs of harts, of which a single PMU may lack one. */
struct common_groups {
	struct group *groups;
	size_t nr;
};

static bool is_common(const struct common_groups *common, const struct group *group)
{
	for (size_t i = 0; i < common->nr; i++) {
		const struct group *other = &common->groups[i];

		if (!strcmp(other->name, group->name))
			return !strcmp(other->events, group->events) && other->err == group->err &&
			       !strcmp(other->missing, group->missing);
	}
	return false;
}

static bool print_groups(const struct common_groups *common)
{
	if (!fill_groups()) {
		report_error("out of memory");
		return false;
	}
	for (size_t i = 0; i < nr_groups; i++) {
		try_events(&groups[i]);
		if (!is_common(common, &groups[i]))
			print_group(&groups[i]);
	}
	return true;
}

/* Those that differ on the harts of one PMU: they have other events, or some are missing there. */
static int print_groups_of(const struct pmu *pmu, void *common)
{
	if (!is_core(pmu))
		return 0;
	ask_pmu(pmu);
	return print_groups(common) ? 0 : EXIT_MISSING;
}

static int print_all(void)
{
	struct common_groups common = {};
	int status;

	if (!print_groups(&common))
		return EXIT_MISSING;
	if (!has_several_types())
		return EXIT_OK;
	common.groups = groups;
	common.nr = nr_groups;
	groups = NULL;
	status = for_each_pmu(print_groups_of, &common);
	free(common.groups);
	return status;
}

int cmd_groups(int argc, char **argv)
{
	struct group group;
	int status;

	if (!check_sysfs())
		return EXIT_MISSING;
	if (argc && !find_group(argv[0], &group))
		return EXIT_MISSING;

	json_text("core", this_core());
	note_no_tables();
	json_open("groups", '[');
	status = argc ? EXIT_OK : print_all();
	if (argc)
		print_group(&group);
	json_close(']');
	if (!argc)
		return status;
	print_perf(&group);
	if (group.err)
		report_missing(&group);
	return group.err ? EXIT_MISSING : EXIT_OK;
}
