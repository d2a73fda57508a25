// SPDX-License-Identifier: GPL-2.0
/* rvpmu man EVENT: what an event counts, and the perf command for it. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rvpmu.h"

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
	{ "cycles", "Cycles of the IOMMU." },
	{ "untranslated-requests", "Requests of devices with an untranslated address." },
	{ "translated-requests", "Requests with an address that the device had translated before." },
	{ "ats-requests", "Translation requests of devices that cache translations (ATS)." },
	{ "tlb-misses", "Requests whose translation was not in the IOMMU's TLB." },
	{ "device-directory-walks", "Walks of the device directory table." },
	{ "process-directory-walks", "Walks of a device's process directory table." },
	{ "first-stage-walks", "Walks of a process's page table; QEMU counts each level." },
	{ "second-stage-walks", "Walks of a guest's page table; QEMU counts each level." },
	{ "misaligned-load", "Misaligned loads that trapped to the firmware." },
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
		printf("    %s%s%s\n", err ? "It cannot be opened now: " : "Command to count it:",
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

/* Generic events, which a driver may support without listing them in sysfs. */
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
		printf("    It cannot be opened now: %s.\n", strerror(-err));
	else
		printf("    perf stat -e %s -- ./program\n", asked);
	search->found++;
}

/* Metrics of perf, with perf's expression. */
static void show_metric(struct search *search)
{
	for (unsigned int i = 0; i < nr_metrics; i++) {
		if (strcmp(metrics[i].name, search->name))
			continue;
		printf("%s, a metric\n    %s\n    %s\n", metrics[i].name, metrics[i].text,
		       metrics[i].expr);
		printf("    perf stat -M %s -- ./program (needs a perf built with this driver)\n",
		       metrics[i].name);
		search->found++;
	}
}

int cmd_man(int argc, char **argv)
{
	struct search search = { .name = argv[1] };

	if (argc != 2) {
		fprintf(stderr, "rvpmu: no event given; usage: rvpmu man EVENT; rvpmu list shows all\n");
		return EXIT_USAGE;
	}
	for_each_pmu(search_pmu, &search);
	/* Events for which perf has a second name. */
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
