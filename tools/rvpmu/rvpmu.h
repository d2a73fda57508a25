/* SPDX-License-Identifier: GPL-2.0 */
/* Interfaces between the source files of rvpmu. */
#ifndef RVPMU_H
#define RVPMU_H

#include <getopt.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/types.h>

#ifdef __riscv
#include "../include/perf/riscv_pmu_read.h"
#else
/* On other machines rvpmu lists events, but reads no counters. */
static inline bool riscv_pmu_read(const volatile struct perf_event_mmap_page *page,
				  uint64_t *count)
{
	return false;
}
#endif

/* Exit status: all is well, something is degraded or failed, something is missing. */
#define EXIT_OK		0
#define EXIT_DEGRADED	1
#define EXIT_MISSING	2
#define EXIT_USAGE	64

/* rvpmu exclusive: that of CMD, or one of these, as env(1) and nohup(1) have them. */
#define EXIT_OWN_ERROR	125
#define EXIT_NO_EXEC	126
#define EXIT_NO_COMMAND	127

#define NAME_SIZE	128
#define TEXT_SIZE	4096

#define RVPMU_VERSION	"0.1"
/* Of the JSON documents. It changes if a program that reads them has to be changed. */
#define JSON_SCHEMA	1

/* --- main.c --- */

extern bool json;

/* Each command has these options; they end its list. */
#define COMMON_OPTIONS				\
	{ "json", no_argument, NULL, 'j' },	\
	{ "help", no_argument, NULL, 'h' },	\
	{}

/* --- json.c: one document on stdout; without --json these print nothing --- */

/* One line on stderr that begins with "rvpmu: "; with --json, an entry of "errors". */
void __attribute__((format(printf, 1, 2))) report_error(const char *format, ...);

/* @text without characters that could change the terminal: they become "\x1b". */
void make_printable(const char *text, char printable[TEXT_SIZE]);
/* Has it a character that could change the terminal? */
bool has_control(const char *text);
/* Such characters of a file or of the kernel's log become question marks. */
void drop_controls(char *text);

bool json_begin(const char *command);
/* Writes the document to a file; false and errno if that cannot be opened. */
bool json_redirect(const char *path);
/* From then on the document is written as it grows; false if that fails. */
bool json_stream(void);
/* What is written so far reaches the file; false if that fails. */
bool json_flush(void);
/* Writes the document, or its end; false if that fails. */
bool json_end(int status);

void json_open(const char *key, char bracket);
void json_close(char bracket);
void json_text(const char *key, const char *value);
void json_number(const char *key, long long value);
void json_true(const char *key);
/* Adds a JSON object as perf prints them: strings and numbers on one line. False if it is none. */
bool json_object(const char *line);

/* --- pmu.c: PMUs in sysfs --- */

#define DEVICES	"/sys/bus/event_source/devices"
#define PARAMETERS	"/sys/module/riscv_pmu/parameters/"
#define ONLINE	"/sys/devices/system/cpu/online"

struct pmu {
	char name[NAME_SIZE];
	uint32_t type;
	char device_id[TEXT_SIZE];	/* caps/device_id, or "" */
	char cpus[TEXT_SIZE];		/* cpus or cpumask, or "" */
	char core[TEXT_SIZE];		/* caps/core: the driver's table of events, or "" */
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
/* Is it a PMU of harts? Mainline's is named "cpu". */
bool is_core(const struct pmu *pmu);
/* Are there several of them? Then the types of cores differ. */
bool has_several_types(void);
/* The harts of a PMU of harts. */
void read_harts(const struct pmu *pmu, char harts[TEXT_SIZE]);
/* Finds the PMU of harts that has this hart. */
bool find_pmu_of(struct pmu *pmu, long hart);
/* If there are no PMUs because sysfs is missing, says so. */
bool check_sysfs(void);

/* Is @hart in a list such as "0-1,3"? */
bool list_has(const char *list, long hart);
/* The first one in the list from @hart on, or -1. */
long next_in_list(const char *list, long hart);
/* Runs on these harts only. Returns 0 or -errno. */
int move_to_harts(const char *list);

/* First line of a file, without newline; "" and false if it cannot be read. */
bool read_line(const char *path, char text[TEXT_SIZE]);
bool read_number(const char *path, long *value);
/* The value of a field in /proc/self/status. */
bool read_status(const char *field, char text[TEXT_SIZE]);
/* Is @string in a file of strings, each of which ends with '\0' (a devicetree's list)? */
bool list_file_has(const char *path, const char *string);
bool pmu_read(const struct pmu *pmu, const char *name, char text[TEXT_SIZE]);
bool read_pmu_number(const struct pmu *pmu, const char *name, long *value);

/* TERMS_OPEN: they are valid, but have a parameter ("lane=?") that the user has to choose. */
enum terms { TERMS_INVALID, TERMS_OPEN, TERMS_COMPLETE };

/* Parses "event=0x5,std=1" by the PMU's formats. */
enum terms parse_terms(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr);

typedef int generic_fn(const struct pmu *pmu, const char *name,
		       const struct perf_event_attr *attr, void *arg);
/* Calls @fn for the events that perf has names for, of PMUs of harts. */
int for_each_generic(const struct pmu *pmu, generic_fn *fn, void *arg);
/* A generic event, PERF_TYPE_HARDWARE or PERF_TYPE_HW_CACHE, of this PMU of harts. */
struct perf_event_attr make_generic(const struct pmu *pmu, uint32_t type, uint64_t config);

/* Returns a descriptor or -errno. */
int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader);
/* Returns 0 or -errno. -ENOENT, too, if the event is pinned and no counter can count it now. */
int try_event(const struct perf_event_attr *attr);
/* The same in user mode only, if this user may not measure the kernel. */
int try_event_or_user_only(const struct perf_event_attr *attr);
/*
 * The same, and a counter can count it. Old releases of mainline's driver open each event that the SBI
 * has a number for, also one that the firmware has no map for.
 */
int try_counting(const struct pmu *pmu, struct perf_event_attr attr);
/* try_event() on the CPU that the PMU's cpumask names, or else for this task. */
int try_pmu_event(const struct pmu *pmu, const struct perf_event_attr *attr);
/* Whether a program that counts instructions of whole harts has the counter that instructions:u needs. */
bool is_crowded_out(const struct pmu *pmu);
void exclude_all_but_user(struct perf_event_attr *attr);
struct perf_event_attr make_attr(uint32_t type, uint64_t config);
struct perf_event_attr attr_instructions(const struct pmu *pmu);

/* --- test.c --- */

/*
 * Runs a loop in user mode until the event, which has a sample_period, has taken a sample, but no
 * longer than a second. Returns the number of samples, or -errno.
 */
int take_samples(const struct perf_event_attr *attr);

/* --- dts.c --- */

/*
 * Prints the devicetree node with the events of the core @name, or of this machine if it is NULL.
 * EXIT_MISSING: a core has no table; if none has one, prints a node to fill in. EXIT_DEGRADED: no
 * node is needed, or this user may not open events.
 */
int print_dts(const char *name);

/* Of the events of this core's table, those that tell whether the firmware has a map. */
struct core_events {
	bool is_mixed;		/* the harts are of different cores, so there is no table */
	unsigned int all;
	unsigned int missing;
	unsigned int denied;	/* this user may not open them, so they may be there or not */
};

struct core_events check_core_events(const struct pmu *pmu, const char *harts);

/*
 * The core of a PMU's harts: "thead-c910", "T-Head C910 or C920". It is that of caps/core, or has the
 * IDs of the harts. NULL: there is no table, or the harts are of different cores.
 */
struct core_name {
	const char *name;
	const char *title;
};

struct core_name find_core_name(const struct pmu *pmu, const char *harts);

/* --- finding.c: what rvpmu doctor finds on each type of core --- */

/*
 * FINDING_ABSENT (an optional feature that the machine does not have), FINDING_NOTE (a setting that
 * may surprise) and FINDING_UNKNOWN (what cannot be tested here) do not change the status; only
 * report_blocked() does.
 */
enum finding {
	FINDING_OK,
	FINDING_DEGRADED,
	FINDING_MISSING,
	FINDING_ABSENT,
	FINDING_NOTE,
	FINDING_UNKNOWN,
};

/* Of one check */
struct result {
	const char *what;	/* NULL: nothing to say */
	enum finding finding;
	char why[2 * TEXT_SIZE + 8];
	char cure[TEXT_SIZE];
	int status;
};

/* The harts of a PMU: of one type of core, but all harts with mainline's driver */
struct core_type {
	struct pmu pmu;		/* without a name if there is none */
	char harts[TEXT_SIZE];
	struct core_name core;
	int move_error;		/* -errno: rvpmu cannot run on these harts */
	bool ours;		/* not mainline's driver */
	bool legacy;		/* no SBI PMU extension, or it is not used */
	bool delegated;		/* the backend is ssccfg: events need no map in the firmware */
	bool batch;		/* the firmware has the PMU batch extension */
	bool overflow;		/* Sscofpmf */
	bool lacks_map;		/* the firmware does not know the core's events */
	bool unfilterable;	/* instructions cannot be counted in user mode alone */
	bool user_only;		/* this user may not measure the kernel */
	bool refused;		/* rvpmu may open no event, so it cannot try what events can do */
	char sampling[TEXT_SIZE];
	char cycles_sampling[TEXT_SIZE];
	struct result result;
};

typedef void check_fn(struct core_type *type);

/* False if memory runs out. Without any PMU there is one type, whose PMU has no name. */
bool find_types(void);
/* Returns the exit status: that of the worst finding. */
int end_types(void);
bool any_type(bool (*fits)(const struct core_type *type));
/* The result of a check, which has at most one. */
void report(struct core_type *type, const char *what, enum finding finding, const char *why,
	    const char *cure);
/* Runs the check on harts of each type. What is equal on all of them is printed once. */
void check_each(check_fn *check);
/* A check of the machine */
void check_once(check_fn *check);
/* A line of the kernel's log from @mark on, or "". @type: in the part about these harts, or NULL. */
const char *find_in_log(const struct core_type *type, const char *mark, char text[TEXT_SIZE]);

/* --- machine.c: what rvpmu doctor finds about harts, firmware, driver and events --- */

/* What to do on a machine with mainline's driver */
#define GRAFT_CURE	\
	"use a kernel with the riscv-pmu driver: on a build host, run make graft KDIR=<kernel tree> in a clone of riscv-pmu, then build that kernel"

check_fn check_type, check_harts_without_pmu, check_extensions, check_firmware, check_driver;
check_fn check_events, check_firmware_events;
bool has_acpi(void);
/* Is there a devicetree or ACPI to read? Containers hide both. */
bool sees_firmware(void);
/* Whether the devicetree or ACPI gives one of the harts the extension. */
bool is_listed(const char *harts, const char *extension);
/* Not known if the kernel's log is not readable: then false. */
bool is_kvm_guest(void);
/* What to do instead of @cure where the firmware cannot be changed, or @cure. */
const char *cure_firmware(const char *cure);
/* What to do if the firmware does not tell Linux that the harts have an extension. */
const char *cure_unlisted(const char *before, const char *extension);

/* --- prometheus.c: what rvpmu doctor finds, as metrics --- */

extern bool prometheus;		/* instead of text */

/* The first and the last part do nothing without the option. */
void prometheus_begin(void);
void prometheus_finding(const struct core_type *type, const char *finding, bool is_common);
void prometheus_end(int status);

/* --- perf-tables.c: perf's tables for RISC-V, which tables.awk converts --- */

/*
 * @core: the folder of the core's tables, such as "sifive/u74"; "": the metric is for all cores that
 * have no metrics of their own.
 */
struct metric {
	const char *core;
	const char *name;
	const char *expr;
	const char *events;	/* "instructions,cycles" */
	const char *text;
	const char *groups;	/* perf's groups of metrics: "Standard;TLB" */
};

extern const struct metric metrics[];
extern const unsigned int nr_metrics;

/* An event that has a number of its own in this core. */
struct vendor_event {
	const char *core;
	const char *name;	/* in lower case, as perf list prints it */
	uint64_t code;
	const char *text;
};

extern const struct vendor_event vendor_events[];
extern const unsigned int nr_vendor_events;

/* perf's mapfile.csv: "mvendorid-marchid-mimpid" as an extended regular expression. */
struct core_row {
	const char *ids;
	const char *core;
};

extern const struct core_row core_rows[];
extern const unsigned int nr_core_rows;

/* --- core.c: the core of this machine, and its events and metrics in perf's tables --- */

/* A hart in /proc/cpuinfo */
struct hart_ids {
	long number;
	uint64_t mvendorid;
	uint64_t marchid;
	uint64_t mimpid;
	char uarch[NAME_SIZE];	/* the first compatible string of its node, or "" */
};

/* Reads the lines of the next hart, which end with an empty line. */
bool read_hart(FILE *file, struct hart_ids *hart);

/* From then on the functions below are about this PMU; NULL: about all. */
void ask_pmu(const struct pmu *pmu);
/*
 * Splits "cpu_type1/cycles/" as perf does, asks for the PMU, and returns "cycles". If @name does not
 * begin with a PMU, asks for all and returns it as it is.
 */
const char *ask_by_name(const char *name, char rest[TEXT_SIZE]);
/* That PMU, or NULL. */
const struct pmu *asked_pmu(void);

/*
 * The folder of this core's tables, or "standard" if perf has none. If no PMU was asked for, it is
 * the core of the first hart. PERF_CPUID overrides the IDs, as in perf.
 */
const char *this_core(void);
/* True if perf uses the metric on this core. Those for all cores are used only if it has none of its own. */
bool has_metric(const struct metric *metric);

/*
 * Finds an event as metrics and groups name it: a generic event, one of this core, or a firmware
 * event ("fw-set-timer"). @term is for perf stat -e. Returns 0 if it can be opened, or -errno.
 */
int find_event(const char *name, char term[TEXT_SIZE]);
/* "cpu-cycles" for "cycles": perf has two names for some generic events. */
const char *kernel_name(const char *name);

/* Like find_event(), for an event in a core's table, even if this machine has another core. */
int find_vendor_event(const struct vendor_event *event, char term[TEXT_SIZE]);
/* config of a firmware event: bits 63:62 are 2, the low bits are its number. */
#define RAW_FIRMWARE	0x8000000000000000ULL

/* Like find_event(), for the firmware event with this number in the SBI specification. */
int find_firmware_event(int number, char term[TEXT_SIZE]);

/* --- groups.c: groups of events by name --- */

struct group {
	char name[NAME_SIZE];
	char text[TEXT_SIZE];
	char metrics[TEXT_SIZE];	/* for perf stat -M: "ipc,itlb_mpki", or "" */
	char events[TEXT_SIZE];		/* "instructions,cycles,iTLB-load-misses" */
	char terms[TEXT_SIZE];		/* for perf stat -e */
	char missing[NAME_SIZE];	/* the first event that cannot be opened, or "" */
	int err;			/* the reason, as -errno */
};

/* Without perf's event tables, rvpmu knows no core: says so, in text on stderr. */
void note_no_tables(void);
/* Reports an error and returns false if there is no such group, or if memory runs out. */
bool find_group(const char *name, struct group *group);
/* Says which event is missing and what helps. */
void report_missing(const struct group *group);

/* --- man.c --- */

/* The number of "set-timer", "fw-set-timer" or "FW_SET_TIMER", or -1. */
int firmware_event_number(const char *name);
const char *firmware_event_name(int number);
int nr_firmware_events(void);

/* --- exclusive.c: a child that rvpmu waits for --- */

/* What rvpmu changes for itself and the child must not inherit. */
struct inherited {
	sigset_t mask;
	struct sigaction child;
	struct rlimit files;
};

/* SIGCHLD, and the signals that rvpmu passes on to the child. */
void fill_signal_mask(sigset_t *mask);
/* Blocks them before fork(): none is lost, and none ends rvpmu before the child. */
void hold_signals(struct inherited *inherited);
/* In the child, before exec(): its signals are as rvpmu got them. It ends if rvpmu is killed. */
void become_child(const struct inherited *inherited, pid_t parent);

/* --- the commands: each returns the exit status --- */

int cmd_list(int argc, char **argv);
int cmd_caps(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_man(int argc, char **argv);
int cmd_exclusive(int argc, char **argv);
int cmd_groups(int argc, char **argv);
int cmd_stat(int argc, char **argv);

/* Options of single commands, and the callbacks that store them. */
extern const struct option doctor_options[], exclusive_options[], stat_options[];
void doctor_set(int option, const char *value);
/* Whether --dts and --core are given: that needs no machine. */
bool doctor_knows_core(void);
void exclusive_set(int option, const char *value);
void stat_set(int option, const char *value);

#endif
