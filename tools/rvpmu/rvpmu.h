/* SPDX-License-Identifier: GPL-2.0 */
/* rvpmu: what the parts of the tool offer each other. */
#ifndef RVPMU_H
#define RVPMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Exit status: all is well, something is degraded or failed, something is missing. */
#define EXIT_OK		0
#define EXIT_DEGRADED	1
#define EXIT_MISSING	2
#define EXIT_USAGE	64

#define NAME_SIZE	128
#define TEXT_SIZE	4096

/* --- main.c --- */

extern bool json;

/* --- json.c: one document on stdout; what is not asked for prints nothing --- */

void json_open(const char *key, char bracket);
void json_close(char bracket);
void json_text(const char *key, const char *value);
void json_number(const char *key, long long value);
void json_end(void);

/* --- pmu.c: what sysfs says --- */

struct pmu {
	char name[NAME_SIZE];
	uint32_t type;
	char device_id[TEXT_SIZE];	/* caps/device_id, or "" */
	char cpus[TEXT_SIZE];		/* cpus or cpumask, or "" */
};

typedef int pmu_fn(const struct pmu *pmu, void *arg);
typedef int name_fn(const struct pmu *pmu, const char *name, void *arg);

/* In the order of their names; the first result that is not 0 ends it. */
int for_each_pmu(pmu_fn *fn, void *arg);
/* Files of a folder of the PMU: "events", "caps". */
int for_each_name(const struct pmu *pmu, const char *folder, name_fn *fn, void *arg);
bool find_pmu(struct pmu *pmu, const char *name);
/* A PMU of hardware or firmware, not one of Linux's own software. */
bool is_hardware(const struct pmu *pmu);
/* Is @hart in a list of sysfs, "0-1,3"? */
bool list_has(const char *list, long hart);
/* Run on the PMU's harts only: elsewhere its events of a task are not counted. */
void move_to_pmu(const struct pmu *pmu);

/* First line of a file, without its end; "" and false if it can not be read. */
bool read_line(const char *path, char text[TEXT_SIZE]);
bool read_number(const char *path, long *value);
bool pmu_read(const struct pmu *pmu, const char *name, char text[TEXT_SIZE]);

/* "event=0x5,std=1" by the PMU's own formats; false if one of the terms is not known. */
bool parse_terms(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr);
/* A name of events/, a generic one ("cycles"), or terms. */
bool parse_event(const struct pmu *pmu, const char *name, struct perf_event_attr *attr);

/* A descriptor or -errno. */
int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader);
/* 0 or -errno. */
int try_event(const struct perf_event_attr *attr);
/* The same of one PMU's: for a task if they can be, else for the CPU that the PMU names. */
int try_pmu_event(const struct pmu *pmu, const struct perf_event_attr *attr);
struct perf_event_attr make_attr(uint32_t type, uint64_t config);
struct perf_event_attr attr_instructions(void);

/* --- the commands: each returns the exit status --- */

int cmd_list(int argc, char **argv);
int cmd_caps(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_man(int argc, char **argv);
int cmd_exclusive(int argc, char **argv);

/* What perf computes of events (tools/perf/pmu-events/arch/riscv/standard/metrics.json). */
struct metric {
	const char *name;
	const char *expr;
	const char *text;
};

extern const struct metric metrics[];
extern const unsigned int nr_metrics;

#endif
