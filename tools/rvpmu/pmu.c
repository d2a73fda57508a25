// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs in sysfs. The files are treated as untrusted input: names and formats that
 * are invalid are reported and ignored.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rvpmu.h"

#define DEVICES		"/sys/bus/event_source/devices"
#define PATH_SIZE	8192

/* --- files --- */

bool read_line(const char *path, char text[TEXT_SIZE])
{
	FILE *file = fopen(path, "r");
	bool ok = file && fgets(text, TEXT_SIZE, file);

	if (file)
		fclose(file);
	if (!ok) {
		*text = '\0';
		return false;
	}
	text[strcspn(text, "\n")] = '\0';
	return true;
}

bool read_number(const char *path, long *value)
{
	char text[TEXT_SIZE], *end;

	if (!read_line(path, text))
		return false;

	errno = 0;
	*value = strtol(text, &end, 0);
	return end != text && !*end && !errno;
}

bool list_file_has(const char *path, const char *string)
{
	FILE *file = fopen(path, "r");
	char text[TEXT_SIZE];
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	bool found = false;

	if (file)
		fclose(file);
	/* A list of strings, each with its end */
	text[size] = '\0';
	for (size_t i = 0; i < size; i += strlen(text + i) + 1)
		found |= !strcmp(text + i, string);
	return found;
}

bool pmu_read(const struct pmu *pmu, const char *name, char text[TEXT_SIZE])
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu->name, name);
	return read_line(path, text);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* --- PMUs --- */

static long read_branches(const struct pmu *pmu)
{
	char text[TEXT_SIZE], *end;
	long depth;

	if (!pmu_read(pmu, "caps/branches", text))
		return 0;
	depth = strtol(text, &end, 10);
	return end == text || *end || depth < 0 ? 0 : depth;
}

bool find_pmu(struct pmu *pmu, const char *name)
{
	char text[TEXT_SIZE], *end;

	*pmu = (struct pmu){};
	if (strlen(name) >= sizeof(pmu->name) || strchr(name, '/'))
		return false;
	strcpy(pmu->name, name);
	if (!pmu_read(pmu, "type", text))
		return false;
	pmu->type = strtoul(text, &end, 10);
	if (end == text || *end)
		return false;

	pmu_read(pmu, "caps/device_id", pmu->device_id);
	pmu->branches = read_branches(pmu);
	if (!pmu_read(pmu, "cpus", pmu->cpus))
		pmu_read(pmu, "cpumask", pmu->cpus);
	return true;
}

int for_each_pmu(pmu_fn *fn, void *arg)
{
	struct dirent **entry;
	int n = scandir(DEVICES, &entry, is_visible, alphasort), ret = 0;

	for (int i = 0; i < n; i++) {
		struct pmu pmu;

		if (!ret && find_pmu(&pmu, entry[i]->d_name))
			ret = fn(&pmu, arg);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return ret;
}

int for_each_name(const struct pmu *pmu, const char *folder, name_fn *fn, void *arg)
{
	char path[PATH_SIZE];
	struct dirent **entry;
	int n, ret = 0;

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu->name, folder);
	n = scandir(path, &entry, is_visible, alphasort);
	for (int i = 0; i < n; i++) {
		if (!ret)
			ret = fn(pmu, entry[i]->d_name, arg);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return ret;
}

bool is_hardware(const struct pmu *pmu)
{
	return *pmu->device_id || *pmu->cpus || !strncmp(pmu->name, "cpu", 3);
}

bool list_has(const char *list, long hart)
{
	char *end;

	for (; *list; list = *end ? end + 1 : end) {
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return false;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (first <= hart && hart <= last)
			return true;
	}
	return false;
}

void move_to_pmu(const struct pmu *pmu)
{
	cpu_set_t set;

	if (!*pmu->cpus)
		return;
	CPU_ZERO(&set);
	for (int hart = 0; hart < CPU_SETSIZE; hart++)
		if (list_has(pmu->cpus, hart))
			CPU_SET(hart, &set);
	/* This overrides taskset on purpose: rvpmu reports on the PMU's harts. */
	sched_setaffinity(0, sizeof(set), &set);
}

/* --- encoding --- */

/* Moves the low bits of *value into the bits of *field that a range names: "a" or "a-b". */
static const char *pack_range(const char *range, uint64_t *field, uint64_t *value)
{
	char *end;
	unsigned long low = strtoul(range, &end, 10), high = low;

	if (end == range)
		return NULL;
	if (*end == '-') {
		range = end + 1;
		high = strtoul(range, &end, 10);
		if (end == range)
			return NULL;
	}
	if (low > high || high > 63)
		return NULL;

	for (unsigned long bit = low; bit <= high; bit++, *value >>= 1)
		*field |= (*value & 1) << bit;
	return end;
}

/* "config1:0-31,62-63" (Documentation/ABI/testing/sysfs-bus-event_source-devices-format) */
static bool pack(const char *format, uint64_t value, struct perf_event_attr *attr)
{
	__u64 *const field[] = {
		&attr->config, &attr->config1, &attr->config2,
#ifdef PERF_ATTR_SIZE_VER8
		&attr->config3,
#endif
	};
	uint64_t bits = 0;
	unsigned int i = 0;

	if (strncmp(format, "config", 6))
		return false;
	format += 6;
	if (*format >= '1' && *format <= '9')
		i = *format++ - '0';
	if (i >= sizeof(field) / sizeof(*field))
		return false;
	do {
		/* The first range follows a colon, the others follow a comma. */
		if (*format != ':' && *format != ',')
			return false;
		format = pack_range(format + 1, &bits, &value);
	} while (format && *format);

	*field[i] |= bits;
	return format && !value;
}

static bool parse_term(const struct pmu *pmu, char *term, struct perf_event_attr *attr)
{
	char name[TEXT_SIZE], format[TEXT_SIZE], *end, *equal = strchr(term, '=');
	uint64_t value = 1;

	if (equal) {
		*equal = '\0';
		errno = 0;
		value = strtoull(equal + 1, &end, 0);
		if (end == equal + 1 || *end || errno)
			return false;
	}
	if (!strcmp(term, "config")) {
		attr->config |= value;
		return true;
	}

	snprintf(name, sizeof(name), "format/%.100s", term);
	return pmu_read(pmu, name, format) && pack(format, value, attr);
}

bool parse_terms(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr)
{
	char text[TEXT_SIZE], *term, *save;
	bool ok = strlen(terms) < sizeof(text);

	if (!ok)
		return false;
	strcpy(text, terms);
	*attr = make_attr(pmu->type, 0);
	for (term = strtok_r(text, ",", &save); term && ok; term = strtok_r(NULL, ",", &save))
		ok = parse_term(pmu, term, attr);
	return ok && *terms;
}

static const struct {
	const char *name;
	uint64_t config;
} generic[] = {
	{ "cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
};

bool parse_event(const struct pmu *pmu, const char *name, struct perf_event_attr *attr)
{
	char file[TEXT_SIZE], terms[TEXT_SIZE];

	snprintf(file, sizeof(file), "events/%.100s", name);
	if (!strchr(name, '/') && pmu_read(pmu, file, terms))
		return parse_terms(pmu, terms, attr);
	for (size_t i = 0; i < sizeof(generic) / sizeof(*generic); i++) {
		if (strcmp(generic[i].name, name) || strncmp(pmu->name, "cpu", 3))
			continue;
		*attr = make_attr(PERF_TYPE_HARDWARE, generic[i].config);
		return true;
	}

	return parse_terms(pmu, name, attr);
}

/* --- opening --- */

struct perf_event_attr make_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type, .size = sizeof(struct perf_event_attr), .config = config,
	};
}

struct perf_event_attr attr_instructions(void)
{
	return make_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader)
{
	struct perf_event_attr copy = *attr;
	int fd = syscall(__NR_perf_event_open, &copy, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int try_on(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = open_event(attr, pid, cpu, -1);

	if (fd < 0)
		return fd;

	close(fd);
	return 0;
}

int try_event(const struct perf_event_attr *attr)
{
	return try_on(attr, 0, -1);
}

int try_pmu_event(const struct pmu *pmu, const struct perf_event_attr *attr)
{
	char text[TEXT_SIZE];

	return pmu_read(pmu, "cpumask", text) ? try_on(attr, -1, strtol(text, NULL, 10)) :
						try_event(attr);
}
