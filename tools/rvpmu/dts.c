// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu doctor --dts: print the devicetree node from which the firmware learns the events of this
 * core. The events come from the driver's table, and the kernel may have another driver.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../drivers/perf/riscv/platform/cores.h"
#include "rvpmu.h"

#define COMPATIBLE	"/proc/device-tree/compatible"
/* mhpmcounter3 to mhpmcounter31; the firmware ignores those that a hart does not have. */
#define PROGRAMMABLE	0xfffffff8u

struct event {
	uint32_t event_idx;	/* 0 ends the list */
	uint64_t selector;
	uint64_t mask;		/* of raw events */
	uint32_t counters;
};

static const struct core {
	const char *name;
	const char *title;
	uint64_t mvendorid;
	uint64_t marchid;
	const char *compatibles[2];
	const struct event *events;
} cores[] = {
#define EVENT(event_idx, selector, mask, counters)	{ event_idx, selector, mask, counters },
#define CORE(id, title, name, mvendorid, marchid, ...)		\
	{ name, title, mvendorid, marchid, { __VA_ARGS__ },	\
	  (const struct event[]){ RISCV_PMU_EVENTS_##id(EVENT) {} } },
	RISCV_PMU_CORES(CORE)
};

#define NR_CORES	(sizeof(cores) / sizeof(*cores))

/* --- which core --- */

static bool has_compatible(const struct core *core, const char *uarch)
{
	bool has = !core->compatibles[0];

	for (size_t i = 0; i < sizeof(core->compatibles) / sizeof(*core->compatibles); i++) {
		const char *compatible = core->compatibles[i];

		has |= compatible && (!strcmp(compatible, uarch) ||
				      list_file_has(COMPATIBLE, compatible));
	}
	return has;
}

/* Only its mimpid differs from that of the X100. */
static bool is_v100(const struct hart_ids *hart)
{
	return hart->mvendorid == RISCV_PMU_VENDOR_SPACEMIT &&
	       hart->mimpid == RISCV_PMU_MIMPID_SPACEMIT_V100;
}

static const struct core *find_core(const struct hart_ids *hart)
{
	for (size_t i = 0; i < NR_CORES; i++) {
		const struct core *core = &cores[i];
		bool has_ids = hart->mvendorid == core->mvendorid &&
			       hart->marchid == core->marchid && !is_v100(hart);

		if ((has_ids || !core->mvendorid) && has_compatible(core, hart->uarch))
			return core;
	}

	return NULL;
}

static const struct core *find_core_by_name(const char *name)
{
	for (size_t i = 0; i < NR_CORES; i++) {
		if (!strcmp(cores[i].name, name))
			return &cores[i];
	}
	return NULL;
}

/* The harts that /proc/cpuinfo has: those that are online. */
struct machine {
	const struct core *cores[NR_CORES];	/* each one once */
	unsigned int nr;
	struct hart_ids unknown;			/* the first hart without a table; number: -1 if there is none */
};

static void add_core(struct machine *machine, const struct core *core)
{
	for (unsigned int i = 0; i < machine->nr; i++) {
		if (machine->cores[i] == core)
			return;
	}
	machine->cores[machine->nr++] = core;
}

/* @harts: a list such as "0,2-3", or NULL: all. */
static struct machine read_machine(const char *harts)
{
	struct machine machine = { .unknown.number = -1 };
	FILE *file = fopen("/proc/cpuinfo", "r");
	const struct core *core;
	struct hart_ids hart;

	while (file && read_hart(file, &hart)) {
		if (harts && !list_has(harts, hart.number))
			continue;
		core = find_core(&hart);
		if (core)
			add_core(&machine, core);
		else if (machine.unknown.number < 0)
			machine.unknown = hart;
	}
	if (file)
		fclose(file);
	return machine;
}

/* The driver says which table it uses. Mainline's does not, and its only PMU may have several cores. */
static const struct core *find_core_of(const struct pmu *pmu, const char *harts)
{
	const struct core *core = find_core_by_name(pmu->core);
	struct machine machine;

	if (core)
		return core;
	machine = read_machine(harts);
	return machine.nr == 1 && machine.unknown.number < 0 ? machine.cores[0] : NULL;
}

struct core_name find_core_name(const struct pmu *pmu, const char *harts)
{
	const struct core *core = find_core_of(pmu, harts);

	return core ? (struct core_name){ core->name, core->title } : (struct core_name){};
}

static const struct core *require_core(const char *name)
{
	const struct core *core = find_core_by_name(name);
	char names[NR_CORES * NAME_SIZE];
	size_t len = 0;

	for (size_t i = 0; i < NR_CORES && !core; i++)
		len += snprintf(names + len, sizeof(names) - len, "%s %s", i ? "," : "",
				cores[i].name);
	if (!core)
		report_error("there is no table for the core '%s'; use one of%s", name, names);
	return core;
}

/* --- whether the firmware has a map --- */

static bool is_raw(const struct event *event)
{
	return event->event_idx == RISCV_PMU_EVENT_RAW;
}

/* Firmware needs no map for these two events: fixed counters count them. */
static bool is_fixed(uint32_t event_idx)
{
	return event_idx == RISCV_PMU_EVENT_CYCLES || event_idx == RISCV_PMU_EVENT_INSTRUCTIONS;
}

static int try_standard(const struct pmu *pmu, uint32_t event_idx)
{
	uint32_t code = event_idx & RISCV_PMU_EVENT_CODE_MASK;
	struct perf_event_attr attr = make_generic(pmu, PERF_TYPE_HARDWARE, code - 1);

	if (event_idx >> RISCV_PMU_EVENT_TYPE_SHIFT == RISCV_PMU_EVENT_TYPE_CACHE)
		attr = make_generic(pmu, PERF_TYPE_HW_CACHE, code >> 3 | (code >> 1 & 3) << 8 |
				    (uint64_t)(code & 1) << 16);
	return try_counting(pmu, attr);
}

/*
 * Whether an event can be opened only if the firmware has a map for it. Raw events do not show
 * that: mainline's driver opens any of them.
 */
static bool shows_map(const struct event *event)
{
	return !is_fixed(event->event_idx) && !is_raw(event);
}

/* Adds the events of a table that the PMU has or lacks. */
static void count_events(const struct pmu *pmu, const struct event *event, struct core_events *sum)
{
	for (; event->event_idx; event++) {
		int err;

		if (!shows_map(event))
			continue;
		err = try_standard(pmu, event->event_idx);
		sum->all++;
		sum->missing += err == -ENOENT;
		sum->denied += err == -EACCES || err == -EPERM;
	}
}

struct core_events check_core_events(const struct pmu *pmu, const char *harts)
{
	const struct core *core = find_core_of(pmu, harts);
	struct core_events events = {};
	struct machine machine;

	if (core) {
		count_events(pmu, core->events, &events);
		return events;
	}
	machine = read_machine(harts);
	events.is_mixed = machine.nr + (machine.unknown.number >= 0) > 1;
	return events;
}

/* --- one node for several cores --- */

/* The firmware has one map for all harts. */
struct node {
	char title[TEXT_SIZE];		/* "SiFive P550 and SiFive U74" */
	struct event *events;
	size_t nr;
	/* Lines of comments: */
	char left_out[TEXT_SIZE];	/* standard events, because the cores differ */
	char conflicts[TEXT_SIZE];	/* raw events of each core for which another has other counters */
	unsigned int nr_left_out;
	bool has_c910;
};

static void append(char text[TEXT_SIZE], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append(char text[TEXT_SIZE], const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, TEXT_SIZE - used, format, args);
	va_end(args);
}

/* Adds the number @nr of a list, of which 12 are in a line. */
static void append_event(char text[TEXT_SIZE], unsigned int nr, const char *head, uint64_t event)
{
	if (nr % 12 == 0)
		append(text, "%s *  %s", nr ? "\n" : "", nr ? "" : head);
	append(text, " 0x%05" PRIx64, event);
}

static uint32_t counters_of(const struct event *event)
{
	return event->counters ? event->counters : PROGRAMMABLE;
}

static const struct event *find_standard(const struct event *event, uint32_t event_idx)
{
	while (event->event_idx && event->event_idx != event_idx)
		event++;
	return event->event_idx ? event : NULL;
}

static void leave_out(struct node *node, const struct event *event)
{
	char name[16];

	snprintf(name, sizeof(name), " 0x%05" PRIx32, event->event_idx);
	if (!strstr(node->left_out, name))
		append_event(node->left_out, node->nr_left_out++, "", event->event_idx);
}

/* An event that all cores have with this selector. The firmware may choose any counter of the map. */
static void add_standard(struct node *node, const struct machine *machine, const struct event *event)
{
	struct event common = *event;

	common.counters = counters_of(event);
	for (unsigned int i = 0; i < machine->nr; i++) {
		const struct event *other = find_standard(machine->cores[i]->events, event->event_idx);

		if (!other || other->selector != event->selector)
			common.counters = 0;
		else
			common.counters &= counters_of(other);
	}
	if (!common.counters)
		leave_out(node, event);
	else if (!find_standard(node->events, event->event_idx))
		node->events[node->nr++] = common;
}

/* Have the two ranges of raw events one in common? */
static bool overlaps(const struct event *one, const struct event *other)
{
	return !((one->selector ^ other->selector) & one->mask & other->mask);
}

/* Has another core such raw events on other counters? */
static bool has_conflict(const struct machine *machine, const struct event *event)
{
	for (unsigned int i = 0; i < machine->nr; i++) {
		const struct event *other = machine->cores[i]->events;

		for (; other->event_idx; other++) {
			if (is_raw(other) && overlaps(event, other) &&
			    counters_of(event) != counters_of(other))
				return true;
		}
	}
	return false;
}

/* Ranges of one core do not overlap. */
static void add_conflicts(struct node *node, const struct machine *machine, const struct core *core)
{
	char head[NAME_SIZE];
	unsigned int nr = 0;

	snprintf(head, sizeof(head), " %s:", core->title);
	for (const struct event *event = core->events; event->event_idx; event++) {
		if (is_raw(event) && has_conflict(machine, event))
			append_event(node->conflicts, nr++, head, event->selector);
	}
	if (nr)
		append(node->conflicts, "\n");
}

/* The firmware refuses a range that it has already. */
static void add_raw(struct node *node, const struct event *event)
{
	for (size_t i = 0; i < node->nr; i++) {
		struct event *have = &node->events[i];

		if (!is_raw(have) || have->selector != event->selector || have->mask != event->mask)
			continue;
		have->counters = counters_of(have) | counters_of(event);
		return;
	}
	node->events[node->nr++] = *event;
}

static void add_events(struct node *node, const struct machine *machine, unsigned int i)
{
	const struct core *core = machine->cores[i];

	append(node->title, "%s%s", !i ? "" : i + 1 < machine->nr ? ", " : " and ", core->title);
	for (const struct event *event = core->events; event->event_idx; event++) {
		if (is_raw(event))
			add_raw(node, event);
		else
			add_standard(node, machine, event);
	}
	add_conflicts(node, machine, core);
}

/* False if memory runs out. The events of one core are those of its table. */
static bool make_node(struct node *node, const struct machine *machine)
{
	size_t size = 1;

	*node = (struct node){};
	for (unsigned int i = 0; i < machine->nr; i++) {
		for (const struct event *event = machine->cores[i]->events; event->event_idx; event++)
			size++;
	}
	node->events = calloc(size, sizeof(*node->events));
	if (!node->events) {
		report_error("out of memory");
		return false;
	}
	for (unsigned int i = 0; i < machine->nr; i++) {
		node->has_c910 |= !strcmp(machine->cores[i]->name, "thead-c910");
		add_events(node, machine, i);
	}
	return true;
}

/* --- the node --- */

/* The standard output, or a member of the JSON document */
static FILE *out;

static uint32_t ctrs_of(const struct event *event)
{
	uint32_t counters = counters_of(event);

	/* The fixed counters: 0 counts cycles, 2 counts instructions. */
	if (event->event_idx == RISCV_PMU_EVENT_CYCLES)
		counters |= 1;
	if (event->event_idx == RISCV_PMU_EVENT_INSTRUCTIONS)
		counters |= 4;
	return counters;
}

/* The upper and the lower half: a cell has 32 bits. */
static void print_cells(uint64_t value)
{
	fprintf(out, "0x%08" PRIx64 " 0x%08" PRIx64 " ", value >> 32, value & 0xffffffff);
}

static void print_selector(const struct event *event)
{
	fprintf(out, "0x%05" PRIx32 " ", event->event_idx);
	print_cells(event->selector);
}

static void print_counters(const struct event *event)
{
	fprintf(out, "0x%05" PRIx32 " 0x%05" PRIx32 " 0x%08" PRIx32 " ", event->event_idx,
		event->event_idx, ctrs_of(event));
}

static void print_raw(const struct event *event)
{
	print_cells(event->selector);
	print_cells(event->mask);
	fprintf(out, "0x%08" PRIx32 " ", ctrs_of(event));
}

/* A property with an element for each raw event, or for each other event, if there are any. */
static void print_property(const char *name, const struct event *event, bool raw,
			   void (*print)(const struct event *event))
{
	bool begun = false;

	for (; event->event_idx; event++) {
		if (is_raw(event) != raw)
			continue;
		if (begun)
			fprintf(out, ",\n\t\t< ");
		else
			fprintf(out, "\t%s =\n\t\t< ", name);
		print(event);
		fprintf(out, ">");
		begun = true;
	}
	if (begun)
		fprintf(out, ";\n");
}

static const char c910_branches[] =
	"/*\n"
	" * Two sources contradict each other about the branches of the C910 (events 0x00005, and\n"
	" * 0x00006 for the mispredicted ones). Linux's th1520.dtsi and the vendor's example have\n"
	" * selectors 7 and 6, as this node has. An earlier mail by the author of th1520.dtsi's node\n"
	" * has 9 and 8, and says that 7 is reserved on the C910 (\"perf vendor events riscv: add\n"
	" * T-HEAD C9xx JSON file\", version 3, 17 May 2023). Compare both on your board:\n"
	" * perf stat -e cpu/event=0x7/,cpu/event=0x9/ PROGRAM\n"
	" */\n";

/* Comments, if there are several cores */
static void print_differences(const struct node *node)
{
	fprintf(out, " *\n"
		" * Firmware has one map for all harts. So this node has the standard events for which all these\n"
		" * cores have the same selector, and the raw events of each core. The riscv-pmu driver counts\n"
		" * other standard events of a core by its own selectors, as raw events.\n");
	if (*node->left_out)
		fprintf(out, " *\n * These standard events are left out, because the cores differ:\n%s\n",
			node->left_out);
	if (*node->conflicts)
		fprintf(out, " *\n"
			" * These raw events have other counters on another type of core. A driver without tables of the\n"
			" * cores may choose a counter that cannot count the event on a hart:\n%s", node->conflicts);
}

static void print_properties(const struct node *node, bool several)
{
	fprintf(out, "/*\n"
		" * The events of %s, for OpenSBI. Put this node into the root node of the devicetree\n"
		" * that the firmware gets, in place of a node with the same compatible string: into the\n"
		" * board's .dts of U-Boot, or of OpenSBI if it has one built in (FW_FDT_PATH). A devicetree\n"
		" * that the boot loader loads for Linux only does not help.\n", node->title);
	if (several)
		print_differences(node);
	fprintf(out, " */\n");
	if (node->has_c910)
		fputs(c910_branches, out);
	fprintf(out, "pmu {\n\tcompatible = \"riscv,pmu\";\n");
	print_property("riscv,event-to-mhpmevent", node->events, false, print_selector);
	print_property("riscv,event-to-mhpmcounters", node->events, false, print_counters);
	print_property("riscv,raw-event-to-mhpmcounters", node->events, true, print_raw);
	fprintf(out, "};\n");
}

/* The text of a node goes to stdout, or into a member of the document. False if memory runs out. */
static bool open_node(char **text, size_t *size)
{
	*text = NULL;
	out = json ? open_memstream(text, size) : stdout;
	if (!out)
		report_error("out of memory");
	return out;
}

static void close_node(char **text)
{
	if (!json)
		return;
	fclose(out);
	json_text("node", *text);
	free(*text);
}

static int print_node(const struct node *node, bool several)
{
	size_t size;
	char *text;

	if (!open_node(&text, &size))
		return EXIT_MISSING;
	print_properties(node, several);
	close_node(&text);
	return EXIT_OK;
}

/* Events that many cores have, by their numbers in the SBI specification */
static const struct {
	uint32_t event_idx;
	const char *name;
} common_events[] = {
	{ 0x00001, "cpu-cycles" },
	{ 0x00002, "instructions" },
	{ 0x00003, "cache-references" },
	{ 0x00004, "cache-misses" },
	{ 0x00005, "branch-instructions" },
	{ 0x00006, "branch-misses" },
	{ 0x00008, "stalled-cycles-frontend" },
	{ 0x00009, "stalled-cycles-backend" },
	{ 0x10000, "L1-dcache-loads" },
	{ 0x10001, "L1-dcache-load-misses" },
	{ 0x10009, "L1-icache-load-misses" },
	{ 0x10019, "dTLB-load-misses" },
	{ 0x10021, "iTLB-load-misses" },
};

#define NR_COMMON	(sizeof(common_events) / sizeof(*common_events))

static void print_skeleton_property(const char *name, bool counters)
{
	fprintf(out, "\t%s =\n", name);
	for (size_t i = 0; i < NR_COMMON; i++) {
		const uint32_t idx = common_events[i].event_idx;

		if (counters)
			fprintf(out, "\t\t< 0x%05" PRIx32 " 0x%05" PRIx32 " COUNTERS >", idx, idx);
		else
			fprintf(out, "\t\t< 0x%05" PRIx32 " 0x00000000 SELECTOR >", idx);
		fprintf(out, "%s\t/* %s */\n", i + 1 < NR_COMMON ? "," : ";", common_events[i].name);
	}
}

/* For a core without a table. It does not compile before it is filled in. */
static void print_skeleton(void)
{
	size_t size;
	char *text;

	if (!open_node(&text, &size))
		return;
	fprintf(out, "/*\n"
		" * A node for OpenSBI. Fill in the values from the core's manual. SELECTOR: the value of mhpmevent that\n"
		" * counts the event, with no filter bit set. COUNTERS: a mask of the counters that can count it: bit 0 is\n"
		" * cycle, bit 2 is instret, bit N is hpmcounterN (N from 3 to 31). Leave out the events that the\n"
		" * core does not have. Then put the node into the root node of the devicetree that the firmware\n"
		" * gets: into the board's .dts of U-Boot, or of OpenSBI if it has one built in (FW_FDT_PATH).\n"
		" */\n"
		"pmu {\n\tcompatible = \"riscv,pmu\";\n");
	print_skeleton_property("riscv,event-to-mhpmevent", false);
	print_skeleton_property("riscv,event-to-mhpmcounters", true);
	fprintf(out, "\t/* Raw events: the first two cells are the selector, the next two a mask of the bits that must match. */\n"
		"\triscv,raw-event-to-mhpmcounters =\n"
		"\t\t< 0x00000000 0x00000000 0xffffffff 0xffff0000 COUNTERS >;\n"
		"};\n");
	close_node(&text);
}

struct count {
	const struct event *events;
	struct core_events sum;
};

static int count_on(const struct pmu *pmu, void *arg)
{
	struct count *count = arg;

	if (is_core(pmu))
		count_events(pmu, count->events, &count->sum);
	return 0;
}

/* Whether all types of cores have these events */
static struct core_events count_all(const struct event *events)
{
	struct count count = { .events = events };

	for_each_pmu(count_on, &count);
	return count.sum;
}

/* How many of the common events the firmware has a map for */
static unsigned int count_mapped(void)
{
	struct event events[NR_COMMON + 1] = {};
	struct core_events sum;

	for (size_t i = 0; i < NR_COMMON; i++)
		events[i].event_idx = common_events[i].event_idx;
	sum = count_all(events);
	return sum.all - sum.missing - sum.denied;
}

static void print_no_core(const struct machine *machine)
{
	const struct hart_ids *hart = &machine->unknown;
	const char *map = count_mapped() ? "its firmware has a map of events already, so a node is needed only if that lacks some; " : "";

	if (machine->nr)
		report_error("there is no table of events for hart %ld (mvendorid 0x%" PRIx64
			     ", marchid 0x%" PRIx64
			     "). The machine also has the core %s, and the firmware has one node for all harts. Write a node with the events that the cores have in common. --core %s prints the node of the known core",
			     hart->number, hart->mvendorid, hart->marchid, machine->cores[0]->title,
			     machine->cores[0]->name);
	else if (!hart->mvendorid && !hart->marchid)
		report_error("there is no table of events for this core, because the firmware does not report its IDs: %sif you know the core, --core NAME prints its node; otherwise fill in the node on stdout with the values from the core's manual", map);
	else
		report_error("there is no table of events for this core (mvendorid 0x%" PRIx64
			     ", marchid 0x%" PRIx64
			     "): %sfill in the node on stdout with the values from the core's manual, and see OpenSBI's docs/pmu_support.md",
			     hart->mvendorid, hart->marchid, map);
}

/* The node of this machine; none if it is not needed. */
static int print_if_needed(const struct machine *machine, const struct node *node)
{
	const struct core_events events = count_all(node->events);
	const char *name = machine->nr > 1 ? "NAME" : machine->cores[0]->name;

	if (events.denied && !events.missing) {
		report_error("this user may not open events, so it is not known whether this machine has those of %s: run this as root, or set sysctl kernel.perf_event_paranoid=1; --core %s prints the node%s without a check",
			     node->title, name, machine->nr > 1 ? " of one core" : "");
		return EXIT_DEGRADED;
	}
	if (events.all && !events.missing) {
		report_error("this machine has the events of %s already, so no node is needed; --core %s prints %s",
			     node->title, name, machine->nr > 1 ? "that of one core" : "it");
		return EXIT_DEGRADED;
	}
	return print_node(node, machine->nr > 1);
}

int print_dts(const char *name)
{
	struct machine machine = { .unknown.number = -1 };
	struct node node;
	int status;

	if (!name)
		machine = read_machine(NULL);
	else if ((machine.cores[0] = require_core(name)))
		machine.nr = 1;
	else
		return EXIT_MISSING;
	if (!machine.nr || machine.unknown.number >= 0) {
		print_no_core(&machine);
		if (!machine.nr)
			print_skeleton();
		return EXIT_MISSING;
	}
	if (!make_node(&node, &machine))
		return EXIT_MISSING;
	status = name ? print_node(&node, false) : print_if_needed(&machine, &node);
	free(node.events);
	return status;
}
