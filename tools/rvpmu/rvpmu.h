/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces between the source files of rvpmu. */
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

/* --- json.c: one document on stdout; without --json these print nothing --- */

void json_open(const char *key, char bracket);
void json_close(char bracket);
void json_text(const char *key, const char *value);
void json_number(const char *key, long long value);
void json_end(void);

/* --- pmu.c: PMUs in sysfs --- */

struct pmu {
	char name[NAME_SIZE];
	uint32_t type;
	char device_id[TEXT_SIZE];	/* caps/device_id, or "" */
	char cpus[TEXT_SIZE];		/* cpus or cpumask, or "" */
	long branches;			/* caps/branches: branch records of a hart, or 0 */
};

typedef int pmu_fn(const struct pmu *pmu, void *arg);
typedef int name_fn(const struct pmu *pmu, const char *name, void *arg);

/* Calls @fn in the order of names; stops at the first result that is not 0. */
int for_each_pmu(pmu_fn *fn, void *arg);
/* The same for the files in a folder of the PMU: "events", "caps". */
int for_each_name(const struct pmu *pmu, const char *folder, name_fn *fn, void *arg);
bool find_pmu(struct pmu *pmu, const char *name);
/* Is it a PMU of hardware or firmware, not a software PMU of Linux? */
bool is_hardware(const struct pmu *pmu);
/* Is @hart in a list such as "0-1,3"? */
bool list_has(const char *list, long hart);
/* Runs on the PMU's harts only: its task events are not counted on other harts. */
void move_to_pmu(const struct pmu *pmu);

/* First line of a file, without newline; "" and false if it cannot be read. */
bool read_line(const char *path, char text[TEXT_SIZE]);
bool read_number(const char *path, long *value);
/* Is @string in a file of strings, each of which ends with '\0' (a devicetree's list)? */
bool list_file_has(const char *path, const char *string);
bool pmu_read(const struct pmu *pmu, const char *name, char text[TEXT_SIZE]);

/* Parses "event=0x5,std=1" by the PMU's formats; false if a term is unknown. */
bool parse_terms(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr);
/* Parses a name of events/, a generic event ("cycles"), or terms. */
bool parse_event(const struct pmu *pmu, const char *name, struct perf_event_attr *attr);

/* Returns a descriptor or -errno. */
int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader);
/* Returns 0 or -errno. */
int try_event(const struct perf_event_attr *attr);
/* The same on the CPU that the PMU's cpumask names, or else for this task. */
int try_pmu_event(const struct pmu *pmu, const struct perf_event_attr *attr);
struct perf_event_attr make_attr(uint32_t type, uint64_t config);
struct perf_event_attr attr_instructions(void);

/* --- dts.c --- */

/*
 * Prints the devicetree node with the events of the core @name, or of this machine if it is NULL.
 * Returns EXIT_MISSING if there is no table for the core; EXIT_DEGRADED if no node is needed, or if
 * this user may not open events.
 */
int print_dts(const char *name);

/* Of the events of this core's table, those that tell whether the firmware has a map. */
struct core_events {
	const char *title;	/* the core's name; NULL if there is no table */
	unsigned int all;
	unsigned int missing;
	unsigned int denied;	/* this user may not open them, so they may be missing or not */
};

struct core_events check_core_events(void);

/* --- the commands: each returns the exit status --- */

int cmd_list(int argc, char **argv);
int cmd_caps(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_man(int argc, char **argv);
int cmd_exclusive(int argc, char **argv);

/* Metrics of perf (tools/perf/pmu-events/arch/riscv/riscv-metrics.json). */
struct metric {
	const char *name;
	const char *expr;
	const char *text;
};

extern const struct metric metrics[];
extern const unsigned int nr_metrics;

#endif
