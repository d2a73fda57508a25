// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu doctor --dts: print the devicetree node from which the firmware learns the events of this
 * core. The events come from the driver's table, and the kernel may have another driver.
 */

#include <errno.h>
#include <inttypes.h>
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

struct hart {
	unsigned int number;
	uint64_t mvendorid;
	uint64_t marchid;
	uint64_t mimpid;
	char uarch[NAME_SIZE];	/* the first compatible string of its node, or "" */
};

static void parse_hart(const char *line, struct hart *hart)
{
	const char *value = strchr(line, ':');

	if (!value)
		return;
	value++;
	if (!strncmp(line, "processor", 9))
		hart->number = strtoul(value, NULL, 10);
	else if (!strncmp(line, "mvendorid", 9))
		hart->mvendorid = strtoull(value, NULL, 16);
	else if (!strncmp(line, "marchid", 7))
		hart->marchid = strtoull(value, NULL, 16);
	else if (!strncmp(line, "mimpid", 6))
		hart->mimpid = strtoull(value, NULL, 16);
	else if (!strncmp(line, "uarch", 5))
		sscanf(value, "%127s", hart->uarch);
}

/* Reads the lines of the next hart in /proc/cpuinfo, which end with an empty line. */
static bool read_hart(FILE *file, struct hart *hart)
{
	char line[TEXT_SIZE];
	bool found = false;

	*hart = (struct hart){};
	while (fgets(line, sizeof(line), file) && *line != '\n') {
		parse_hart(line, hart);
		found = true;
	}
	return found;
}

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

/* It has the other IDs of the X100. */
static bool is_v100(const struct hart *hart)
{
	return hart->mvendorid == RISCV_PMU_VENDOR_SPACEMIT &&
	       hart->mimpid == RISCV_PMU_MIMPID_SPACEMIT_V100;
}

static const struct core *find_core(const struct hart *hart)
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

struct machine {
	const struct core *core;	/* of all harts; NULL if there is none */
	struct hart first;
	struct hart other;		/* if @is_mixed: a hart with another core, or none */
	bool is_mixed;
};

static struct machine read_machine(void)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	struct machine machine = {};

	if (file)
		read_hart(file, &machine.first);
	machine.core = find_core(&machine.first);
	while (file && !machine.is_mixed && read_hart(file, &machine.other))
		machine.is_mixed = find_core(&machine.other) != machine.core;
	if (machine.is_mixed)
		machine.core = NULL;
	if (file)
		fclose(file);
	return machine;
}

static const struct core *find_core_by_name(const char *name)
{
	char names[NR_CORES * NAME_SIZE];
	size_t len = 0;

	for (size_t i = 0; i < NR_CORES; i++) {
		if (!strcmp(cores[i].name, name))
			return &cores[i];
	}

	for (size_t i = 0; i < NR_CORES; i++)
		len += snprintf(names + len, sizeof(names) - len, "%s %s", i ? "," : "",
				cores[i].name);
	report_error("there is no table for the core '%s'; use one of%s", name, names);
	return NULL;
}

/* --- whether the firmware has a map --- */

/* Firmware needs no map for these two events: fixed counters count them. */
static bool is_fixed(uint32_t event_idx)
{
	return event_idx == RISCV_PMU_EVENT_CYCLES || event_idx == RISCV_PMU_EVENT_INSTRUCTIONS;
}

static int try_standard(uint32_t event_idx)
{
	uint32_t code = event_idx & RISCV_PMU_EVENT_CODE_MASK;
	struct perf_event_attr attr = make_attr(PERF_TYPE_HARDWARE, code - 1);

	if (event_idx >> RISCV_PMU_EVENT_TYPE_SHIFT == RISCV_PMU_EVENT_TYPE_CACHE)
		attr = make_attr(PERF_TYPE_HW_CACHE, code >> 3 | (code >> 1 & 3) << 8 |
				 (uint64_t)(code & 1) << 16);
	return try_event_or_user_only(&attr);
}

/*
 * Whether an event can be opened only if the firmware has a map for it. Raw events do not show
 * that: mainline's driver opens any of them.
 */
static bool shows_map(const struct event *event)
{
	return !is_fixed(event->event_idx) && event->event_idx != RISCV_PMU_EVENT_RAW;
}

static struct core_events count_events(const struct core *core)
{
	struct core_events events = { .title = core->title };

	for (const struct event *event = core->events; event->event_idx; event++) {
		int err;

		if (!shows_map(event))
			continue;
		err = try_standard(event->event_idx);
		events.all++;
		events.missing += err == -ENOENT;
		events.denied += err == -EACCES || err == -EPERM;
	}
	return events;
}

struct core_events check_core_events(void)
{
	const struct core *core = read_machine().core;

	return core ? count_events(core) : (struct core_events){};
}

/* --- the node --- */

/* The standard output, or a member of the JSON document */
static FILE *out;

static uint32_t ctrs_of(const struct event *event)
{
	uint32_t counters = event->counters ? event->counters : PROGRAMMABLE;

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
		bool is_raw = event->event_idx == RISCV_PMU_EVENT_RAW;

		if (is_raw != raw)
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

static void print_properties(const struct core *core)
{
	fprintf(out, "/*\n"
		" * The events of %s, for OpenSBI. Put this node into the root node of the devicetree\n"
		" * that the firmware gets, in place of a node with the same compatible string: into the\n"
		" * board's .dts of U-Boot, or of OpenSBI if it has one built in (FW_FDT_PATH). A devicetree\n"
		" * that the boot loader loads for Linux only does not help.\n"
		" */\n", core->title);
	if (!strcmp(core->name, "thead-c910"))
		fputs(c910_branches, out);
	fprintf(out, "pmu {\n\tcompatible = \"riscv,pmu\";\n");
	print_property("riscv,event-to-mhpmevent", core->events, false, print_selector);
	print_property("riscv,event-to-mhpmcounters", core->events, false, print_counters);
	print_property("riscv,raw-event-to-mhpmcounters", core->events, true, print_raw);
	fprintf(out, "};\n");
}

static void print_node(const struct core *core)
{
	char *node = NULL;
	size_t size;

	out = json ? open_memstream(&node, &size) : stdout;
	if (!out) {
		report_error("out of memory");
		return;
	}
	print_properties(core);
	if (!json)
		return;
	fclose(out);
	json_text("node", node);
	free(node);
}

static void print_no_core(const struct machine *machine)
{
	const struct hart *first = &machine->first, *other = &machine->other;

	if (machine->is_mixed)
		report_error("hart %u (marchid 0x%" PRIx64 ") and hart %u (marchid 0x%" PRIx64
			     ") are different cores, but the firmware uses one node for all harts: write a node with the events that the manuals of both have in common; --core NAME prints the node of one core",
			     first->number, first->marchid, other->number, other->marchid);
	else if (!first->mvendorid && !first->marchid)
		report_error("there is no table of events for this core, because the firmware does not report its IDs: if you know the core, --core NAME prints its node");
	else
		report_error("there is no table of events for this core (mvendorid 0x%" PRIx64
			     ", marchid 0x%" PRIx64
			     "): write the node by the core's manual and OpenSBI's docs/pmu_support.md",
			     first->mvendorid, first->marchid);
}

/* The node of this machine; none if it is not needed, or if there is none. */
static int print_own(void)
{
	const struct machine machine = read_machine();
	const struct core *core = machine.core;
	struct core_events events;

	if (!core) {
		print_no_core(&machine);
		return EXIT_MISSING;
	}
	events = count_events(core);
	if (events.denied && !events.missing) {
		report_error("this user may not open events, so it is not known whether this machine has those of %s: run this as root, or set sysctl kernel.perf_event_paranoid=1; --core %s prints the node without a check",
			     core->title, core->name);
		return EXIT_DEGRADED;
	}
	if (events.all && !events.missing) {
		report_error("this machine has the events of %s already, so no node is needed; --core %s prints it",
			     core->title, core->name);
		return EXIT_DEGRADED;
	}
	print_node(core);
	return EXIT_OK;
}

/* The node of a core, which may be that of another machine. */
static int print_named(const char *name)
{
	const struct core *core = find_core_by_name(name);

	if (!core)
		return EXIT_MISSING;
	print_node(core);
	return EXIT_OK;
}

int print_dts(const char *name)
{
	return name ? print_named(name) : print_own();
}
