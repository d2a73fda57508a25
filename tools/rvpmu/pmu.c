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

#define PATH_SIZE	8192
/* More than any Linux has: it bounds what a list may name. */
#define MOST_HARTS	(1L << 20)

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
	drop_controls(text);
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

bool read_status(const char *field, char text[TEXT_SIZE])
{
	FILE *file = fopen("/proc/self/status", "r");
	size_t len = strlen(field);
	bool found = false;

	while (file && !found && fgets(text, TEXT_SIZE, file))
		found = !strncmp(text, field, len) && text[len] == ':';
	if (file)
		fclose(file);
	if (!found) {
		*text = '\0';
		return false;
	}
	text[strcspn(text, "\n")] = '\0';
	len += 1 + strspn(text + len + 1, " \t");
	memmove(text, text + len, strlen(text + len) + 1);
	return true;
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

bool read_pmu_number(const struct pmu *pmu, const char *name, long *value)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu->name, name);
	return read_number(path, value);
}

static int is_visible(const struct dirent *entry)
{
	char printable[TEXT_SIZE];

	if (!has_control(entry->d_name))
		return entry->d_name[0] != '.';
	make_printable(entry->d_name, printable);
	report_error("'%s' in " DEVICES " has control characters in its name: ignored", printable);
	return false;
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
	pmu_read(pmu, "caps/core", pmu->core);
	pmu->branches = read_branches(pmu);
	if (!pmu_read(pmu, "cpus", pmu->cpus))
		pmu_read(pmu, "cpumask", pmu->cpus);
	return true;
}

bool check_sysfs(void)
{
	if (!access(DEVICES, R_OK | X_OK))
		return true;
	report_error("%s: %s; mount sysfs (mount -t sysfs sysfs /sys), or use a kernel with CONFIG_PERF_EVENTS",
		     DEVICES, strerror(errno));
	return false;
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

bool is_core(const struct pmu *pmu)
{
	return !strcmp(pmu->name, "cpu") || !strncmp(pmu->device_id, "core.", 5);
}

static int count_core(const struct pmu *pmu, void *nr)
{
	*(int *)nr += is_core(pmu);
	return 0;
}

bool has_several_types(void)
{
	static int nr = -1;

	if (nr < 0) {
		nr = 0;
		for_each_pmu(count_core, &nr);
	}
	return nr > 1;
}

struct hart_search {
	struct pmu *pmu;
	long hart;
};

static int has_hart(const struct pmu *pmu, void *arg)
{
	const struct hart_search *search = arg;

	/* Mainline's PMU has no file cpus: it is that of all harts. */
	if (!is_core(pmu) || (*pmu->cpus && !list_has(pmu->cpus, search->hart)))
		return 0;
	*search->pmu = *pmu;
	return 1;
}

void read_harts(const struct pmu *pmu, char harts[TEXT_SIZE])
{
	/* Mainline's PMU has no file cpus. */
	if (*pmu->cpus)
		strcpy(harts, pmu->cpus);
	else
		read_line(ONLINE, harts);
}

bool find_pmu_of(struct pmu *pmu, long hart)
{
	struct hart_search search = { pmu, hart };

	return for_each_pmu(has_hart, &search);
}

bool is_hardware(const struct pmu *pmu)
{
	return *pmu->device_id || *pmu->cpus || !strncmp(pmu->name, "cpu", 3);
}

long next_in_list(const char *list, long hart)
{
	long next = -1;
	char *end;

	for (; *list; list = *end ? end + 1 : end) {
		long first = strtol(list, &end, 10), last = first, candidate;

		if (end == list)
			break;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		candidate = first > hart ? first : hart;
		if (candidate <= last && candidate < MOST_HARTS && (next < 0 || candidate < next))
			next = candidate;
	}
	return next;
}

bool list_has(const char *list, long hart)
{
	return next_in_list(list, hart) == hart;
}

static long last_in_list(const char *list)
{
	long last = -1;

	for (long hart = next_in_list(list, 0); hart >= 0; hart = next_in_list(list, hart + 1))
		last = hart;
	return last;
}

int move_to_harts(const char *list)
{
	long last = last_in_list(list);
	size_t size = CPU_ALLOC_SIZE(last + 1);
	cpu_set_t *set = last >= 0 ? CPU_ALLOC(last + 1) : NULL;
	int err;

	if (!set)
		return -EINVAL;
	CPU_ZERO_S(size, set);
	for (long hart = next_in_list(list, 0); hart >= 0; hart = next_in_list(list, hart + 1))
		CPU_SET_S(hart, size, set);
	err = sched_setaffinity(0, size, set) ? -errno : 0;
	CPU_FREE(set);
	return err;
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

/* Terms that perf takes without a format of the PMU. */
static bool set_common_term(const char *name, uint64_t value, struct perf_event_attr *attr)
{
	if (!strcmp(name, "config"))
		attr->config |= value;
	else if (!strcmp(name, "config1"))
		attr->config1 |= value;
	else if (!strcmp(name, "config2"))
		attr->config2 |= value;
#ifdef PERF_ATTR_SIZE_VER8
	else if (!strcmp(name, "config3"))
		attr->config3 |= value;
#endif
	else
		/* The period of samples, which a count does not need */
		return !strcmp(name, "period");
	return true;
}

static enum terms parse_term(const struct pmu *pmu, char *term, struct perf_event_attr *attr)
{
	char name[TEXT_SIZE], format[TEXT_SIZE], *end, *equal = strchr(term, '=');
	bool open = equal && !strcmp(equal, "=?");
	uint64_t value = !open;

	if (equal)
		*equal = '\0';
	if (equal && !open) {
		errno = 0;
		value = strtoull(equal + 1, &end, 0);
		if (end == equal + 1 || *end || errno)
			return TERMS_INVALID;
	}
	snprintf(name, sizeof(name), "format/%.100s", term);
	if (pmu_read(pmu, name, format) ? !pack(format, value, attr) :
					  open || !set_common_term(term, value, attr))
		return TERMS_INVALID;
	return open ? TERMS_OPEN : TERMS_COMPLETE;
}

enum terms parse_terms(const struct pmu *pmu, const char *terms, struct perf_event_attr *attr)
{
	enum terms all = *terms ? TERMS_COMPLETE : TERMS_INVALID, one;
	char text[TEXT_SIZE], *term, *save;

	if (strlen(terms) >= sizeof(text))
		return TERMS_INVALID;
	strcpy(text, terms);
	*attr = make_attr(pmu->type, 0);
	for (term = strtok_r(text, ",", &save); term && all; term = strtok_r(NULL, ",", &save)) {
		one = parse_term(pmu, term, attr);
		all = one == TERMS_COMPLETE ? all : one;
	}
	return all;
}

/* --- generic events, which a driver may support without listing them in sysfs --- */

static const struct {
	const char *name;
	uint64_t config;
} generic[] = {
	{ "cpu-cycles", PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_COUNT_HW_CACHE_MISSES },
	{ "branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES },
};

/* In the order of their numbers, PERF_COUNT_HW_CACHE_* */
static const char *const caches[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

static const char *const operations[][2] = {
	{ "loads", "load-misses" },
	{ "stores", "store-misses" },
	{ "prefetches", "prefetch-misses" },
};

/*
 * Without the PMU's type, the kernel takes the first PMU that has the event. Mainline's PMU, which is
 * the only one, does not take a type.
 */
struct perf_event_attr make_generic(const struct pmu *pmu, uint32_t type, uint64_t config)
{
	if (has_several_types())
		config |= (uint64_t)pmu->type << 32;	/* PERF_PMU_TYPE_SHIFT */
	return make_attr(type, config);
}

int for_each_generic(const struct pmu *pmu, generic_fn *fn, void *arg)
{
	struct perf_event_attr attr;
	char name[NAME_SIZE];
	int ret = 0;

	if (!is_core(pmu))
		return 0;
	for (size_t i = 0; !ret && i < sizeof(generic) / sizeof(*generic); i++) {
		attr = make_generic(pmu, PERF_TYPE_HARDWARE, generic[i].config);
		ret = fn(pmu, generic[i].name, &attr, arg);
	}
	/* PERF_TYPE_HW_CACHE: the cache, its operation << 8, whether it missed << 16 */
	for (unsigned int i = 0; !ret && i < 7 * 3 * 2; i++) {
		snprintf(name, sizeof(name), "%s-%s", caches[i / 6], operations[i / 2 % 3][i % 2]);
		attr = make_generic(pmu, PERF_TYPE_HW_CACHE, i / 6 | i / 2 % 3 << 8 | i % 2 << 16);
		ret = fn(pmu, name, &attr, arg);
	}
	return ret;
}

/* --- opening --- */

struct perf_event_attr make_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type, .size = sizeof(struct perf_event_attr), .config = config,
	};
}

struct perf_event_attr attr_instructions(const struct pmu *pmu)
{
	return make_generic(pmu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

void exclude_all_but_user(struct perf_event_attr *attr)
{
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
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
	uint64_t count;
	int err = 0;

	if (fd < 0)
		return fd;

	/* A pinned event that got no counter reads as the end of a file. */
	if (attr->pinned && !read(fd, &count, sizeof(count)))
		err = -ENOENT;
	close(fd);
	return err;
}

int try_event(const struct perf_event_attr *attr)
{
	return try_on(attr, 0, -1);
}

static bool has_no_counter(const struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;
	struct { uint64_t count, enabled, running; } values = {};
	int fd;

	copy.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = open_event(&copy, 0, -1, -1);
	if (fd < 0)
		return false;

	if (read(fd, &values, sizeof(values)) != sizeof(values))
		values.enabled = 0;
	close(fd);
	return values.enabled && !values.running;
}

/*
 * Events of whole harts, as perf stat -a and prometheus-node-exporter open them, get counters before those
 * of tasks, and perf does not rotate between the two. The same event in all modes shares the counter.
 */
bool is_crowded_out(const struct pmu *pmu)
{
	struct perf_event_attr all = attr_instructions(pmu), user = all;

	exclude_all_but_user(&user);
	return has_no_counter(&user) && !has_no_counter(&all);
}

int try_event_or_user_only(const struct perf_event_attr *attr)
{
	struct perf_event_attr user = *attr;
	int err = try_event(attr), again;

	if (err != -EACCES)
		return err;
	exclude_all_but_user(&user);
	again = try_event(&user);
	/*
	 * A hart without filters cannot count user mode only, so EOPNOTSUPP (mainline's: EINVAL) says
	 * nothing about the event: return the first error.
	 */
	return again == -EOPNOTSUPP || again == -EINVAL ? err : again;
}

int try_counting(const struct pmu *pmu, struct perf_event_attr attr)
{
	char backend[TEXT_SIZE];

	attr.pinned = !pmu_read(pmu, "caps/backend", backend);
	return try_event_or_user_only(&attr);
}

int try_pmu_event(const struct pmu *pmu, const struct perf_event_attr *attr)
{
	char text[TEXT_SIZE];

	return pmu_read(pmu, "cpumask", text) ? try_on(attr, -1, strtol(text, NULL, 10)) :
						try_event_or_user_only(attr);
}
