// SPDX-License-Identifier: GPL-2.0
/* What the machine says of itself. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pmu.h"

#define RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define PERCENT	"/proc/sys/kernel/perf_cpu_time_max_percent"
#define DEBUGFS	"/sys/kernel/debug/riscv_pmu"

bool pmu_read_line(const char *path, char text[PMU_TEXT])
{
	FILE *file = fopen(path, "r");
	bool ok;

	text[0] = '\0';
	if (!file)
		return false;

	ok = fgets(text, PMU_TEXT, file);
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return ok;
}

const char *pmu_sysfs(const char *name, char text[PMU_TEXT])
{
	char path[PMU_TEXT];

	snprintf(path, sizeof(path), PMU_SYSFS "/%s", name);
	pmu_read_line(path, text);
	return text;
}

long pmu_read_number(const char *path)
{
	char text[PMU_TEXT], *end;
	long number;

	if (!pmu_read_line(path, text))
		return -1;

	number = strtol(text, &end, 10);
	return end == text || *end ? -1 : number;
}

long pmu_caps_number(const char *name)
{
	char path[PMU_TEXT];

	snprintf(path, sizeof(path), PMU_SYSFS "/caps/%s", name);
	return pmu_read_number(path);
}

bool pmu_write_number(const char *path, long value)
{
	FILE *file = fopen(path, "w");
	bool ok;

	if (!file)
		return false;

	ok = fprintf(file, "%ld\n", value) > 0;
	return !fclose(file) && ok;
}

static bool sysfs_isa_has(char *isa, const char *extension)
{
	for (char *name = strtok(isa, ":_ \t\n"); name; name = strtok(NULL, ":_ \t\n")) {
		if (!strcmp(name, extension))
			return true;
	}

	return false;
}

bool pmu_hart_has(const char *extension)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[PMU_TEXT];
	bool has = false;

	if (!file)
		return false;

	while (!has && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "isa\t", 4))
			has = sysfs_isa_has(line, extension);
	}
	fclose(file);
	return has;
}

static bool sysfs_is_backend(const char *name)
{
	char text[PMU_TEXT];

	return !strcmp(pmu_sysfs("caps/backend", text), name);
}

bool pmu_is_legacy(void)
{
	return sysfs_is_backend("legacy");
}

bool pmu_is_delegated(void)
{
	return sysfs_is_backend("ssccfg");
}

bool pmu_idle_loses_ctrs(void)
{
	/* The first state is WFI. */
	return !access("/sys/devices/system/cpu/cpu0/cpuidle/state1", F_OK);
}

bool pmu_is_qemu(void)
{
	char text[PMU_TEXT];

	/* A guest of KVM has no model, and has the events of its host. */
	return getenv("RISCV_PMU_NESTED") ||
	       (pmu_read_line("/proc/device-tree/model", text) && strstr(text, "qemu"));
}

bool pmu_can_filter(void)
{
	return pmu_hart_has("sscofpmf") && !pmu_is_legacy();
}

bool pmu_is_unfiltered(void)
{
	char text[PMU_TEXT];

	return !strcmp(pmu_sysfs("caps/filters", text), "none") &&
	       pmu_caps_number("unfiltered") == 1;
}

/* A driver that does not say has the interrupt if the hart has. */
bool pmu_samples_by_interrupt(void)
{
	char text[PMU_TEXT];

	pmu_sysfs("caps/sampling", text);
	return *text ? !strcmp(text, "interrupt") || !strcmp(text, "nmi") : pmu_can_filter();
}

bool pmu_samples_by_nmi(void)
{
	char text[PMU_TEXT];

	return !strcmp(pmu_sysfs("caps/sampling", text), "nmi");
}

bool pmu_samples_by_poll(void)
{
	char text[PMU_TEXT];

	return !strcmp(pmu_sysfs("caps/sampling", text), "polled");
}

bool pmu_can_sample(void)
{
	return pmu_samples_by_interrupt() || pmu_samples_by_poll();
}

bool pmu_is_icount(void)
{
	const char *icount = getenv("RISCV_PMU_ICOUNT");

	return icount && !strcmp(icount, "1");
}

bool pmu_uses_fixed_ctrs(void)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	/* A counter that can exclude user mode can exclude machine mode. */
	attr.exclude_user = 1;
	if (pmu_try(&attr))
		return true;

	attr.config2 = 1;	/* cycle */
	return !pmu_try(&attr);
}

long pmu_raw_ctrs(void)
{
	const char *ctrs = getenv("RISCV_PMU_RAW_CTRS");

	return ctrs ? strtol(ctrs, NULL, 16) : 0;
}

bool pmu_is_exact(void)
{
	return pmu_is_icount() && sysconf(_SC_NPROCESSORS_ONLN) == 1;
}

bool pmu_interrupts_are_late(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	bool found = false;
	char line[PMU_TEXT];

	while (file && !found && fgets(line, sizeof(line), file))
		found = strstr(line, " kasan_report\n");
	if (file)
		fclose(file);
	return found && !pmu_is_icount();
}

int64_t pmu_least(int64_t n)
{
	return pmu_is_icount() ? n : n / 4;
}

int64_t pmu_max_sample_delay(void)
{
	return pmu_samples_by_poll() ? 100000 : 0;
}

/* The rate cannot be written while the percentage is 0 or 100. */
void pmu_limits_save(struct pmu_limits *limits)
{
	limits->max_percent = pmu_read_number(PERCENT);
	limits->max_rate = pmu_read_number(RATE);
	pmu_write_number(PERCENT, 50);
	pmu_write_number(RATE, 100000000);
	pmu_write_number(PERCENT, 0);
}

void pmu_limits_restore(const struct pmu_limits *limits)
{
	pmu_write_number(PERCENT, 50);
	pmu_write_number(RATE, limits->max_rate);
	pmu_write_number(PERCENT, limits->max_percent);
}

/*
 * The sum of one hart's lines "NAME number" in debugfs; -1 if there is none. A
 * NAME that ends in '_' stands for all that begin with it. The file of a hart without a PMU
 * is empty: then the sum is 0.
 */
static long sysfs_debug_of(long cpu, const char *name, int base)
{
	bool many = name[strlen(name) - 1] == '_';
	char path[64], line[PMU_TEXT], key[64], value[32];
	bool empty = true;
	long sum = -1;
	FILE *file;

	snprintf(path, sizeof(path), DEBUGFS "/cpu%ld", cpu);
	file = fopen(path, "r");
	if (!file)
		return -1;

	while (fgets(line, sizeof(line), file)) {
		empty = false;
		if (sscanf(line, "%63s %31s", key, value) != 2 ||
		    (many ? strncmp(key, name, strlen(name)) : strcmp(key, name)))
			continue;
		sum = (sum < 0 ? 0 : sum) + strtol(value, NULL, base);
	}
	fclose(file);
	return empty ? 0 : sum;
}

/* Harts that are down have a file too. */
static long sysfs_debug(const char *name)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF), sum = 0;

	for (long cpu = 0; cpu < cpus; cpu++) {
		long value = sysfs_debug_of(cpu, name, 10);

		if (value < 0)
			return -1;
		sum += value;
	}

	return sum;
}

long pmu_events_attached(void)
{
	return sysfs_debug("events");
}

long pmu_calls_made(void)
{
	return sysfs_debug("ecall_");
}

long pmu_calls_of(const char *function)
{
	char name[64];

	snprintf(name, sizeof(name), "ecall_%s", function);
	return sysfs_debug(name);
}

static long sysfs_calls_at_start;

static void __attribute__((constructor)) sysfs_note_calls(void)
{
	sysfs_calls_at_start = pmu_calls_made();
}

long pmu_calls_since_start(void)
{
	return pmu_calls_made() - sysfs_calls_at_start;
}

long pmu_ctrs_configured(long cpu)
{
	return sysfs_debug_of(cpu, "counters_programmed", 16);
}

/*
 * A killed child that nobody waits for takes its events along when it is next
 * scheduled. In a second there are 250 ticks (HZ=250): time for all that a
 * test may have left behind to have a turn.
 */
long pmu_events_left(void)
{
	long left = pmu_events_attached();

	for (int i = 0; i < 100 && left; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		left = pmu_events_attached();
	}

	return left;
}

/* A class has a line with its "FD:" count and its name at the end, then one for each "->". */
int pmu_locks_nest(const char *outer, const char *inner)
{
	FILE *file = fopen("/proc/lockdep", "r");
	bool in_outer = false;
	char line[512];
	int takes = 0;

	if (!file)
		return -1;

	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, " FD:"))
			in_outer = strstr(line, outer);
		else if (in_outer && strstr(line, inner))
			takes = 1;
	}
	fclose(file);
	return takes;
}

long pmu_ctrs_running(void)
{
	/* As firmware numbers them: from cycle on, with a hole for time, then its own. */
	long hw = 1 + pmu_caps_number("fixed_counters") + pmu_caps_number("programmable_counters");
	long all = 0;

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		long ctrs = sysfs_debug_of(cpu, "counters_running", 16);
		/* The firmware refuses to stop these: the driver only reads them. */
		long free_running = sysfs_debug_of(cpu, "counters_free_running", 16);

		if (ctrs < 0 || free_running < 0)
			return -1;
		all |= ctrs & ~free_running & (hw < 64 ? (1UL << hw) - 1 : ~0UL);
	}

	return all;
}

long pmu_ctrs_left(void)
{
	long ctrs = pmu_ctrs_running();

	for (int tenths = 0; ctrs > 0 && tenths < 50; tenths++) {
		usleep(100000);
		ctrs = pmu_ctrs_running();
	}

	return ctrs;
}
