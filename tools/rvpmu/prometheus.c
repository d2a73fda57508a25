// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu doctor --prometheus: what doctor finds, as metrics in Prometheus' text format. The
 * textfile collector of prometheus-node-exporter reads such files.
 */

#include <stdio.h>
#include <string.h>

#include "rvpmu.h"

bool prometheus;

/* What doctor says about the firmware, or "" */
static char firmware[sizeof(((struct result *)0)->why)];

static void put_metric(const char *name, const char *help)
{
	printf("# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* @before: "{" for the first label, "," for others */
static void put_label(const char *before, const char *name, const char *value)
{
	char printable[TEXT_SIZE];

	make_printable(value, printable);
	printf("%s%s=\"", before, name);
	for (const char *c = printable; *c; c++)
		printf("%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
	putchar('"');
}

void prometheus_begin(void)
{
	if (prometheus)
		put_metric("rvpmu_finding",
			   "A finding of rvpmu doctor: 1 degraded, 2 missing, 0 any other; the label finding has the word. Counting has 1, too, if a container or an emulator refuses perf_event_open");
}

void prometheus_finding(const struct core_type *type, const char *finding, bool is_common)
{
	const struct result *result = &type->result;

	put_label("rvpmu_finding{", "what", result->what);
	put_label(",", "finding", finding);
	put_label(",", "pmu", is_common ? "" : type->pmu.name);
	printf("} %d\n", result->status);
	if (!strcmp(result->what, "firmware") && result->finding != FINDING_UNKNOWN)
		strcpy(firmware, result->why);
}

/* Mainline's PMU has no capabilities. */
static int put_pmu(const struct pmu *pmu, void *arg)
{
	char harts[TEXT_SIZE], backend[TEXT_SIZE], sampling[TEXT_SIZE];
	struct core_name core;

	if (!is_core(pmu))
		return 0;
	read_harts(pmu, harts);
	core = find_core_name(pmu, harts);
	if (!pmu_read(pmu, "caps/backend", backend))
		strcpy(backend, "mainline");
	pmu_read(pmu, "caps/sampling", sampling);
	put_label("rvpmu_pmu_info{", "pmu", pmu->name);
	put_label(",", "harts", harts);
	put_label(",", "core", core.title ? core.title : "");
	put_label(",", "backend", backend);
	put_label(",", "sampling", sampling);
	printf("} 1\n");
	return 0;
}

void prometheus_end(int status)
{
	if (!prometheus)
		return;
	put_metric("rvpmu_pmu_info", "A PMU of harts, how the driver accesses it, and how it samples");
	for_each_pmu(put_pmu, NULL);
	if (*firmware) {
		put_metric("rvpmu_firmware_info", "The firmware, as the kernel's log names it");
		put_label("rvpmu_firmware_info{", "firmware", firmware);
		printf("} 1\n");
	}
	put_metric("rvpmu_status", "Exit status of rvpmu doctor: that of the worst finding");
	printf("rvpmu_status %d\n", status);
}
