// SPDX-License-Identifier: GPL-2.0
/* rvpmu man EVENT: what an event counts, and how to ask for it. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rvpmu.h"

static const struct {
	const char *name;
	const char *text;
} events[] = {
	{ "cpu-cycles", "Cycles of the hart while it does not wait for an interrupt (cycle)." },
	{ "instructions", "Instructions that have retired (instret). One that traps does not." },
	{ "cache-references", "Accesses to a cache, which one the core's manual says." },
	{ "cache-misses", "Accesses that this cache could not serve." },
	{ "branch-instructions", "Branches that have retired." },
	{ "branch-misses", "Branches that were predicted wrong." },
	{ "bus-cycles", "Cycles of the bus." },
	{ "stalled-cycles-frontend", "Cycles in which no instruction was ready to be issued." },
	{ "stalled-cycles-backend", "Cycles in which an instruction waited for data or a unit." },
	{ "ref-cycles", "Cycles of a clock that does not change with the hart's." },
	{ "cycles", "Cycles of the IOMMU." },
	{ "untranslated-requests", "Requests of devices for an address that is to be translated." },
	{ "translated-requests", "Requests for an address that the device had translated before." },
	{ "ats-requests", "Requests of devices that keep translations themselves (ATS)." },
	{ "tlb-misses", "Requests whose translation the IOMMU did not have at hand." },
	{ "device-directory-walks", "Walks of the table of devices." },
	{ "process-directory-walks", "Walks of a device's table of processes." },
	{ "first-stage-walks", "Walks of a process's page table; QEMU counts each level." },
	{ "second-stage-walks", "Walks of a guest's page table; QEMU counts each level." },
	{ "misaligned-load", "Loads that the firmware emulates: they were not aligned." },
	{ "misaligned-store", "Stores that the firmware emulates: they were not aligned." },
	{ "access-load", "Loads that the firmware was told of as access faults." },
	{ "access-store", "Stores that the firmware was told of as access faults." },
	{ "illegal-insn", "Illegal instructions that have trapped into the firmware." },
	{ "set-timer", "Calls that set a timer. Harts with Sstc set it themselves." },
	{ "ipi-sent", "Interrupts that this hart has had sent to others." },
	{ "ipi-received", "Interrupts that others have had sent to this hart." },
	{ "fence-i-sent", "Requests that others run FENCE.I: code was written." },
	{ "fence-i-received", "Such requests of others that this hart has served." },
	{ "sfence-vma-sent", "Requests that others run SFENCE.VMA: mappings have changed." },
	{ "sfence-vma-received", "Such requests of others that this hart has served." },
	{ "sfence-vma-asid-sent", "The same for one address space." },
	{ "sfence-vma-asid-received", "Such requests of others that this hart has served." },
	{ "hfence-gvma-sent", "Requests that others run HFENCE.GVMA: a guest's memory has changed." },
	{ "hfence-gvma-received", "Such requests of others that this hart has served." },
	{ "hfence-gvma-vmid-sent", "The same for one guest." },
	{ "hfence-gvma-vmid-received", "Such requests of others that this hart has served." },
	{ "hfence-vvma-sent", "Requests that others run HFENCE.VVMA: a guest's mappings have changed." },
	{ "hfence-vvma-received", "Such requests of others that this hart has served." },
	{ "hfence-vvma-asid-sent", "The same for one address space of a guest." },
	{ "hfence-vvma-asid-received", "Such requests of others that this hart has served." },
};

static const struct {
	const char *prefix;
	const char *what;
} caches[] = {
	{ "L1-dcache", "the first cache of data" },
	{ "L1-icache", "the first cache of instructions" },
	{ "LLC", "the last cache before memory" },
	{ "dTLB", "the TLB of data" },
	{ "iTLB", "the TLB of instructions" },
	{ "branch", "the branch predictor" },
	{ "node", "memory of this node" },
};

/* "dTLB-load-misses" is made of parts. */
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
			 strstr(op, "misses") ? "that were not found in" : "that asked",
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

	return "An event of this machine; the core's manual says what it counts.";
}

struct search {
	const char *name;
	int found;
};

static int show(const struct pmu *pmu, const char *name, void *arg)
{
	char file[TEXT_SIZE], terms[TEXT_SIZE], text[TEXT_SIZE];
	struct search *search = arg;
	struct perf_event_attr attr;
	int err = 0;

	if (strcmp(name, search->name))
		return 0;

	snprintf(file, sizeof(file), "events/%.100s", name);
	pmu_read(pmu, file, terms);
	printf("%s/%s/\n    %s\n", pmu->name, name, explain(name, text));
	if (parse_terms(pmu, terms, &attr)) {
		err = try_pmu_event(pmu, &attr);
		printf("    Encoding: %s (config=0x%llx).\n", terms, (unsigned long long)attr.config);
		printf("    %s%s%s\n", err ? "It can not be opened now: " : "It can be counted here:",
		       err ? strerror(-err) : "", err ? "." : "");
	}
	if (!err)
		printf("    perf stat %s-e %s/%s/ -- ./program\n",
		       pmu_read(pmu, "cpumask", text) ? "-a " : "", pmu->name, name);
	search->found++;
	return 0;
}

static int search_pmu(const struct pmu *pmu, void *arg)
{
	return for_each_name(pmu, "events", show, arg);
}

/* A driver that lists no events has the general ones all the same. */
static void show_generic(struct search *search, const char *asked)
{
	struct perf_event_attr attr;
	char text[TEXT_SIZE];
	struct pmu cpu;
	int err;

	if (!find_pmu(&cpu, "cpu") || !parse_event(&cpu, asked, &attr) ||
	    attr.type != PERF_TYPE_HARDWARE)
		return;

	printf("%s\n    %s\n", asked, explain(search->name, text));
	err = try_event(&attr);
	if (err)
		printf("    It can not be opened now: %s.\n", strerror(-err));
	else
		printf("    perf stat -e %s -- ./program\n", asked);
	search->found++;
}

/* perf's, by perf's own expression. */
static void show_metric(struct search *search)
{
	for (unsigned int i = 0; i < nr_metrics; i++) {
		if (strcmp(metrics[i].name, search->name))
			continue;
		printf("%s, a metric\n    %s\n    %s\n", metrics[i].name, metrics[i].text,
		       metrics[i].expr);
		printf("    perf stat -M %s -- ./program, of a perf built with this driver\n",
		       metrics[i].name);
		search->found++;
	}
}

int cmd_man(int argc, char **argv)
{
	struct search search = { .name = argv[1] };

	if (argc != 2) {
		fprintf(stderr, "rvpmu: which event? rvpmu man EVENT; rvpmu list shows all\n");
		return EXIT_USAGE;
	}
	for_each_pmu(search_pmu, &search);
	/* What perf calls by other names. */
	if (!strcmp(search.name, "cycles"))
		search.name = "cpu-cycles";
	if (!strcmp(search.name, "branches"))
		search.name = "branch-instructions";
	if (strcmp(search.name, argv[1]))
		for_each_pmu(search_pmu, &search);
	if (!search.found)
		show_generic(&search, argv[1]);
	if (!search.found)
		show_metric(&search);
	if (!search.found) {
		fprintf(stderr, "rvpmu: no PMU of this machine has an event '%s'; rvpmu list shows all\n",
			argv[1]);
		return EXIT_MISSING;
	}
	return EXIT_OK;
}
