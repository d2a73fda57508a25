// SPDX-License-Identifier: GPL-2.0
/* rvpmu man EVENT: what an event counts, and the perf command for it. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "rvpmu.h"

#define FIRST_FIRMWARE	"misaligned-load"

static const struct {
	const char *name;
	const char *text;
} events[] = {
	{ "cpu-cycles", "Cycles of the hart while it is not waiting for an interrupt (cycle)." },
	{ "instructions", "Retired instructions (instret). An instruction that traps does not retire." },
	{ "cache-references", "Accesses to a cache; the core's manual says which one." },
	{ "cache-misses", "Cache accesses that missed; the core's manual says which cache." },
	{ "branch-instructions", "Retired branches." },
	{ "branch-misses", "Mispredicted branches." },
	{ "bus-cycles", "Cycles of the bus." },
	{ "stalled-cycles-frontend", "Cycles in which no instruction was ready to issue." },
	{ "stalled-cycles-backend", "Cycles in which an instruction waited for data or a unit." },
	{ "ref-cycles", "Cycles of a clock whose frequency does not change." },
	{ "cycle", "Cycles of the IOMMU." },
	{ "untranslated_req", "Requests of devices with an untranslated address." },
	{ "translated_req", "Requests with an address that the device had translated before." },
	{ "ats_trans_req", "Translation requests of devices that cache translations (ATS)." },
	{ "tlb_miss", "Requests whose translation was not in the IOMMU's TLB." },
	{ "ddt_walks", "Walks of the device directory table." },
	{ "pdt_walks", "Walks of a device's process directory table." },
	{ "s_vs_pt_walks", "Walks of a process's page table; QEMU counts each level." },
	{ "g_pt_walks", "Walks of a guest's page table; QEMU counts each level." },
	/* The former names of the events of an IOMMU */
	{ "cycles", "The former name of cycle." },
	{ "untranslated-requests", "The former name of untranslated_req." },
	{ "translated-requests", "The former name of translated_req." },
	{ "ats-requests", "The former name of ats_trans_req." },
	{ "tlb-misses", "The former name of tlb_miss." },
	{ "device-directory-walks", "The former name of ddt_walks." },
	{ "process-directory-walks", "The former name of pdt_walks." },
	{ "first-stage-walks", "The former name of s_vs_pt_walks." },
	{ "second-stage-walks", "The former name of g_pt_walks." },
	/* From here on, in the order of the SBI specification. */
	{ FIRST_FIRMWARE, "Misaligned loads that trapped to the firmware." },
	{ "misaligned-store", "Misaligned stores that trapped to the firmware." },
	{ "access-load", "Load access faults that trapped to the firmware." },
	{ "access-store", "Store access faults that trapped to the firmware." },
	{ "illegal-insn", "Illegal instructions that trapped to the firmware." },
	{ "set-timer", "Firmware calls that set a timer. Harts with Sstc need none." },
	{ "ipi-sent", "IPIs that this hart sent through the firmware." },
	{ "ipi-received", "IPIs that this hart received through the firmware." },
	{ "fence-i-sent", "Requests to other harts to run FENCE.I, after code was written." },
	{ "fence-i-received", "Requests of other harts to run FENCE.I." },
	{ "sfence-vma-sent", "Requests to other harts to run SFENCE.VMA, after mappings changed." },
	{ "sfence-vma-received", "Requests of other harts to run SFENCE.VMA." },
	{ "sfence-vma-asid-sent", "Requests to other harts to run SFENCE.VMA for one address space." },
	{ "sfence-vma-asid-received", "Requests of other harts to run SFENCE.VMA for one address space." },
	{ "hfence-gvma-sent", "Requests to other harts to run HFENCE.GVMA: a guest's memory changed." },
	{ "hfence-gvma-received", "Requests of other harts to run HFENCE.GVMA." },
	{ "hfence-gvma-vmid-sent", "Requests to other harts to run HFENCE.GVMA for one guest." },
	{ "hfence-gvma-vmid-received", "Requests of other harts to run HFENCE.GVMA for one guest." },
	{ "hfence-vvma-sent", "Requests to other harts to run HFENCE.VVMA: a guest's mappings changed." },
	{ "hfence-vvma-received", "Requests of other harts to run HFENCE.VVMA." },
	{ "hfence-vvma-asid-sent", "Requests to other harts to run HFENCE.VVMA for one address space." },
	{ "hfence-vvma-asid-received", "Requests of other harts to run HFENCE.VVMA for one address space." },
};

static const struct {
	const char *prefix;
	const char *what;
} caches[] = {
	{ "L1-dcache", "the level 1 data cache" },
	{ "L1-icache", "the level 1 instruction cache" },
	{ "LLC", "the last level cache" },
	{ "dTLB", "the data TLB" },
	{ "iTLB", "the instruction TLB" },
	{ "branch", "the branch predictor" },
	{ "node", "the memory of this NUMA node" },
};

/* Explains names such as "dTLB-load-misses" part by part. */
static bool explain_cache(const char *name, char text[TEXT_SIZE])
{
	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		size_t len = strlen(caches[i].prefix);
		const char *op = name + len + 1;

		if (strncmp(name, caches[i].prefix, len) || name[len] != '-')
			continue;
		if (strncmp(op, "load", 4) && strncmp(op, "store", 5) && strncmp(op, "prefetch", 8))
			return false;
		snprintf(text, TEXT_SIZE, "%s %s %s.", *op == 'l' ? "Loads" : *op == 's' ?
			 "Stores" : "Prefetches",
			 strstr(op, "misses") ? "that missed" : "that accessed",
			 caches[i].what);
		return true;
	}

	return false;
}

static const char *explain(const char *name, char text[TEXT_SIZE])
{
	const char *bare = strncmp(name, "fw-", 3) ? name : name + 3;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (!strcmp(events[i].name, bare))
			return events[i].text;
	}
	if (explain_cache(name, text))
		return text;

	return "An event of this machine; see the core's manual.";
}

static size_t first_firmware(void)
{
	size_t i = 0;

	while (strcmp(events[i].name, FIRST_FIRMWARE))
		i++;
	return i;
}

const char *firmware_event_name(int number)
{
	return events[first_firmware() + number].name;
}

int nr_firmware_events(void)
{
	return sizeof(events) / sizeof(*events) - first_firmware();
}

/* perf's tables write "FW_SET_TIMER". */
static bool is_same_name(const char *name, const char *asked)
{
	for (; *name; name++, asked++) {
		if (*name != tolower((unsigned char)*asked) && (*name != '-' || *asked != '_'))
			return false;
	}
	return !*asked;
}

int firmware_event_number(const char *name)
{
	size_t first = first_firmware();

	if (!strncasecmp(name, "fw-", 3) || !strncasecmp(name, "fw_", 3))
		name += 3;
	for (size_t i = first; i < sizeof(events) / sizeof(*events); i++) {
		if (is_same_name(events[i].name, name))
			return i - first;
	}
	return -1;
}

struct search {
	const char *name;	/* the event's name, of which perf may have another */
	const char *asked;
	int found;
};

static void print_text(const char *key, const char *text)
{
	if (!json)
		printf("    %s\n", text);
	json_text(key, text);
}

/* Why the event cannot be opened. */
static void print_error(int err)
{
	if (!json && err == -ENOENT)
		printf("    This machine does not have it. rvpmu list prints what it has; if its firmware hides more, rvpmu doctor says so (events).\n");
	else if (!json)
		printf("    It cannot be opened now: %s; run rvpmu doctor.\n", strerror(-err));
	json_text("error", strerror(-err));
}

/* Whether the event can be opened now, and if so, the command to count it. */
static void print_command(const struct pmu *pmu, const char *event, int err)
{
	char text[TEXT_SIZE + NAME_SIZE + 64], cpumask[TEXT_SIZE];

	if (err) {
		print_error(err);
		return;
	}
	snprintf(text, sizeof(text), "perf stat %s-e %s -- ./program",
		 pmu_read(pmu, "cpumask", cpumask) ? "-a " : "", event);
	print_text("perf", text);
}

static void print_encoding(const char *terms, const struct perf_event_attr *attr)
{
	char config[32];

	snprintf(config, sizeof(config), "0x%llx", (unsigned long long)attr->config);
	if (!json && terms)
		printf("    Encoding: %s (config=%s).\n", terms, config);
	else if (!json)
		printf("    Encoding: type=%u config=%s%s.\n", attr->type, config,
		       attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ?
		       ", a generic event" : "");
	if (terms)
		json_text("terms", terms);
	else
		json_number("type", attr->type);
	json_text("config", config);
}

static int show(const struct pmu *pmu, const char *name, void *arg)
{
	char file[TEXT_SIZE], terms[TEXT_SIZE], text[TEXT_SIZE], event[TEXT_SIZE];
	struct search *search = arg;
	struct perf_event_attr attr;
	enum terms parsed;

	if (strcmp(name, search->name))
		return 0;

	snprintf(file, sizeof(file), "events/%.100s", name);
	pmu_read(pmu, file, terms);
	parsed = parse_terms(pmu, terms, &attr);
	snprintf(event, sizeof(event), "%s/%s/", pmu->name, name);
	if (!json)
		printf("%s\n", event);
	json_open(NULL, '{');
	json_text("pmu", pmu->name);
	json_text("name", name);
	print_text("text", explain(name, text));
	if (parsed != TERMS_INVALID)
		print_encoding(terms, &attr);
	if (parsed == TERMS_OPEN)
		print_text("parameters", "Give each term that ends with =? a value, in the place of the ?");
	print_command(pmu, event, parsed == TERMS_COMPLETE ? try_pmu_event(pmu, &attr) : 0);
	json_close('}');
	search->found++;
	return 0;
}

/* "cpu_type1/cycles/" is that of one PMU. */
static bool is_asked(const struct pmu *pmu)
{
	return !asked_pmu() || !strcmp(asked_pmu()->name, pmu->name);
}

static int search_pmu(const struct pmu *pmu, void *arg)
{
	return is_asked(pmu) ? for_each_name(pmu, "events", show, arg) : 0;
}

/* Generic events, which a driver may support without listing them in sysfs. */
static int show_generic(const struct pmu *pmu, const char *name,
			const struct perf_event_attr *attr, void *arg)
{
	struct search *search = arg;
	char text[TEXT_SIZE], event[TEXT_SIZE];

	if (strcmp(name, search->name))
		return 0;

	if (has_several_types())
		snprintf(event, sizeof(event), "%s/%.1000s/", pmu->name, search->asked);
	else
		snprintf(event, sizeof(event), "%s", search->asked);
	if (!json)
		printf("%s\n", event);
	json_open(NULL, '{');
	json_text("pmu", pmu->name);
	json_text("name", name);
	print_text("text", explain(name, text));
	print_encoding(NULL, attr);
	print_command(pmu, event, try_event_or_user_only(attr));
	json_close('}');
	search->found++;
	return 0;
}

static int search_generic(const struct pmu *pmu, void *arg)
{
	return is_asked(pmu) ? for_each_generic(pmu, show_generic, arg) : 0;
}

/* @err: it cannot be opened on this machine. */
static void print_perf(const char *term, int err)
{
	char text[TEXT_SIZE + 64];

	if (err)
		print_error(err);
	snprintf(text, sizeof(text), "perf stat -e %s -- ./program", term);
	print_text("perf", text);
}

/* Firmware events on drivers that do not list them. */
static void show_firmware(struct search *search)
{
	int number = firmware_event_number(search->asked), err;
	char term[TEXT_SIZE], config[32];

	if (number < 0)
		return;
	err = find_firmware_event(number, term);
	snprintf(config, sizeof(config), "0x%llx", RAW_FIRMWARE | number);
	if (!json)
		printf("fw-%s, firmware event %d of the SBI specification\n",
		       firmware_event_name(number), number);
	json_open(NULL, '{');
	json_text("name", firmware_event_name(number));
	print_text("text", events[first_firmware() + number].text);
	if (!json)
		printf("    Encoding: config=%s.\n", config);
	json_text("config", config);
	print_perf(term, err);
	json_close('}');
	search->found++;
}

/* --- what the kernel counts without a PMU --- */

static const struct {
	const char *name, *alias;
	uint64_t config;
	const char *text;
} software[] = {
	{ "cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK, "Nanoseconds in which the event was scheduled on a CPU." },
	{ "task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, "Nanoseconds for which the task ran." },
	{ "page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, "Page faults, minor and major ones." },
	{ "context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, "Switches to another task." },
	{ "cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS, "Moves of the task to another CPU." },
	{ "minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, "Page faults that needed no I/O." },
	{ "major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "Page faults that waited for I/O." },
	{ "alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, "Misaligned accesses that the kernel emulated." },
	{ "emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, "Instructions that the kernel emulated." },
	{ "dummy", NULL, PERF_COUNT_SW_DUMMY, "Counts nothing; records that belong to an event need one." },
	{ "bpf-output", NULL, PERF_COUNT_SW_BPF_OUTPUT, "What BPF programs write; it counts nothing." },
	{ "cgroup-switches", NULL, PERF_COUNT_SW_CGROUP_SWITCHES, "Switches to a task of another cgroup." },
};

static void show_software(struct search *search)
{
	struct perf_event_attr attr;

	for (size_t i = 0; i < sizeof(software) / sizeof(*software); i++) {
		if (strcmp(software[i].name, search->asked) &&
		    (!software[i].alias || strcmp(software[i].alias, search->asked)))
			continue;
		attr = make_attr(PERF_TYPE_SOFTWARE, software[i].config);
		if (!json)
			printf("%s, an event of the kernel\n", software[i].name);
		json_open(NULL, '{');
		json_text("name", software[i].name);
		print_text("text", software[i].text);
		print_encoding(NULL, &attr);
		print_perf(software[i].name, try_event_or_user_only(&attr));
		json_close('}');
		search->found++;
	}
}

/* "sched:sched_switch": two names of files */
static bool is_tracepoint(const char *name)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t group = strspn(name, allowed);

	return group && name[group] == ':' && name[group + 1] &&
	       !name[group + 1 + strspn(name + group + 1, allowed)];
}

/* Only root may look into tracefs, so others get the command without a check. */
static void show_tracepoint(struct search *search)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	const char *name = search->asked;
	char path[TEXT_SIZE];
	struct perf_event_attr attr;
	int err = -EACCES;
	bool hidden = false;
	long id = -1;

	if (!is_tracepoint(name))
		return;
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots) && id < 0; i++) {
		snprintf(path, sizeof(path), "%s/events/%.*s/%.200s/id", roots[i],
			 (int)strcspn(name, ":"), name, strchr(name, ':') + 1);
		if (!read_number(path, &id))
			id = -1;
		hidden |= id < 0 && errno == EACCES;
	}
	if (id < 0 && !hidden)
		return;
	attr = make_attr(PERF_TYPE_TRACEPOINT, id);
	if (id >= 0)
		err = try_event_or_user_only(&attr);
	if (!json)
		printf("%s, a tracepoint%s\n", name, id < 0 ? ", if the kernel has it" : "");
	json_open(NULL, '{');
	json_text("name", name);
	print_text("text", id < 0 ? "This user may not read tracefs, so it is not known whether the kernel has this tracepoint." :
		   "How often the kernel reached this tracepoint.");
	if (id >= 0)
		print_encoding(NULL, &attr);
	print_perf(name, err);
	json_close('}');
	search->found++;
}

/* "cpu/event=0x2,name=utlb_miss/", as rvpmu and perf print events without a name in sysfs */
static void show_terms(struct search *search)
{
	char terms[TEXT_SIZE] = "", copy[TEXT_SIZE], event[TEXT_SIZE + NAME_SIZE], *term, *save;
	const struct pmu *pmu = asked_pmu();
	const char *called = NULL;
	struct perf_event_attr attr;
	enum terms parsed;
	size_t used = 0;

	if (!pmu || !strchr(search->asked, '=') || has_control(search->asked))
		return;
	strcpy(copy, search->asked);
	for (term = strtok_r(copy, ",", &save); term; term = strtok_r(NULL, ",", &save)) {
		if (!strncmp(term, "name=", 5))
			called = term + 5;
		else
			used += sprintf(terms + used, "%s%s", used ? "," : "", term);
	}
	parsed = parse_terms(pmu, terms, &attr);
	if (parsed == TERMS_INVALID)
		return;
	snprintf(event, sizeof(event), "%s/%s/", pmu->name, search->asked);
	if (!json)
		printf("%s\n", event);
	json_open(NULL, '{');
	json_text("pmu", pmu->name);
	json_text("name", called && *called ? called : terms);
	print_text("text", "An event by its number; the core's manual says what it counts.");
	print_encoding(terms, &attr);
	print_command(pmu, event, parsed == TERMS_COMPLETE ? try_pmu_event(pmu, &attr) : 0);
	json_close('}');
	search->found++;
}

static int ask_core(const struct pmu *pmu, void *core)
{
	if (!is_core(pmu))
		return 0;
	ask_pmu(pmu);
	return !strcmp(this_core(), core);
}

/* The event of any core. A machine may have several. */
static void show_vendor_event(struct search *search, const struct vendor_event *event)
{
	bool here = !strcmp(event->core, this_core());
	bool any = !here && has_several_types() && !asked_pmu();
	char term[TEXT_SIZE], config[32];
	int err;

	if (any) {
		here = for_each_pmu(ask_core, (void *)event->core);
		if (!here)
			ask_pmu(NULL);
	}
	err = find_vendor_event(event, term);
	snprintf(config, sizeof(config), "0x%llx", (unsigned long long)event->code);
	if (!json)
		printf("%s, an event of the core %s\n", event->name, event->core);
	json_open(NULL, '{');
	json_text("name", event->name);
	json_text("core", event->core);
	print_text("text", event->text);
	if (!json)
		printf("    Encoding: event=%s, a raw event of this core.\n", config);
	json_text("config", config);
	if (!here && !json)
		printf("    This machine has another core (its table is %s); the command is for %s.\n",
		       this_core(), event->core);
	if (!here)
		json_text("this_core", this_core());
	print_perf(term, here ? err : 0);
	json_close('}');
	search->found++;
	if (any)
		ask_pmu(NULL);
}

/* Events of cores, also of others than this machine's. Several cores may have the name. */
static void search_vendor_events(struct search *search)
{
	for (unsigned int i = 0; i < nr_vendor_events; i++) {
		if (!strcasecmp(vendor_events[i].name, search->asked))
			show_vendor_event(search, &vendor_events[i]);
	}
}

/* Metrics of perf, with perf's expression. */
static void show_metric(struct search *search)
{
	char text[TEXT_SIZE];

	for (unsigned int i = 0; i < nr_metrics; i++) {
		if (!has_metric(&metrics[i]) || strcmp(metrics[i].name, search->name))
			continue;
		if (!json)
			printf("%s, a metric\n", metrics[i].name);
		json_open(NULL, '{');
		json_text("name", metrics[i].name);
		print_text("text", metrics[i].text);
		print_text("metric", metrics[i].expr);
		snprintf(text, sizeof(text), "perf stat -M %s -- ./program", metrics[i].name);
		if (!json)
			printf("    %s (needs a perf built with this driver)\n", text);
		json_text("perf", text);
		json_close('}');
		search->found++;
	}
}

static void search_all(struct search *search)
{
	for_each_pmu(search_pmu, search);
	search->name = kernel_name(search->asked);
	if (firmware_event_number(search->asked) >= 0)
		search->name = firmware_event_name(firmware_event_number(search->asked));
	if (strcmp(search->name, search->asked))
		for_each_pmu(search_pmu, search);
	if (!search->found)
		for_each_pmu(search_generic, search);
	if (!search->found)
		show_firmware(search);
	if (!search->found)
		search_vendor_events(search);
	if (!search->found)
		show_metric(search);
	if (!search->found && !asked_pmu())
		show_software(search);
	if (!search->found && !asked_pmu())
		show_tracepoint(search);
	if (!search->found)
		show_terms(search);
}

/* perf also takes the number of a raw event as r10. */
static void search_raw(struct search *search, const char *name, char rest[TEXT_SIZE])
{
	char event[NAME_SIZE];

	if (*name != 'r' || !name[1] || name[1 + strspn(name + 1, "0123456789abcdefABCDEF")])
		return;
	snprintf(event, sizeof(event), "cpu/event=0x%.100s/", name + 1);
	search->asked = ask_by_name(event, rest);
	show_terms(search);
}

int cmd_man(int argc, char **argv)
{
	char printable[TEXT_SIZE], rest[TEXT_SIZE];
	struct search search = {};

	if (!check_sysfs())
		return EXIT_MISSING;
	search.asked = ask_by_name(argv[0], rest);
	search.name = search.asked;
	json_open("events", '[');
	search_all(&search);
	if (!search.found)
		search_raw(&search, argv[0], rest);
	json_close(']');
	if (search.found)
		return EXIT_OK;
	make_printable(argv[0], printable);
	report_error("'%s' is neither an event of this machine nor in perf's event tables; rvpmu list shows this machine's events%s%s",
		     printable, strchr(argv[0], ':') ? "; leave out modifiers: rvpmu doctor says whether :u and :k work (filters)" : "",
		     nr_core_rows ? "" :
		     "; this rvpmu was built without perf's event tables: rebuild it with make -C tools/rvpmu KDIR=<kernel tree>");
	return EXIT_MISSING;
}
