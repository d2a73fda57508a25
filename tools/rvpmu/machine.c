// SPDX-License-Identifier: GPL-2.0
/* What rvpmu doctor finds about the machine: harts, firmware, driver, and the events that they have. */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "rvpmu.h"

#define HARTS		"/sys/devices/system/cpu/cpu"
#define RHCT		"/sys/firmware/acpi/tables/RHCT"

#define VENDOR_CURE	"ask the vendor for firmware with a map of this core's events"

/* --- harts --- */

static bool has_word(char *line, const char *wanted)
{
	char *save, *word;

	for (word = strtok_r(line, "_ \t\n:", &save); word;
	     word = strtok_r(NULL, "_ \t\n:", &save)) {
		if (!strcmp(word, wanted))
			return true;
	}
	return false;
}

/* "isa" is what all harts have in common, "hart isa" what this hart has. @harts: "" if not known. */
static bool cpuinfo_has(const char *harts, const char *extension)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	bool has = false, is_theirs = false;
	char line[TEXT_SIZE];

	while (file && !has && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "processor", 9) && strchr(line, ':'))
			is_theirs = !*harts ||
				    list_has(harts, strtol(strchr(line, ':') + 1, NULL, 10));
		else if (is_theirs && (!strncmp(line, "isa", 3) || !strncmp(line, "hart isa", 8)))
			has = has_word(line, extension);
	}
	if (file)
		fclose(file);
	return has;
}

/* The ACPI table that describes the harts. Only root may read it. */
bool has_acpi(void)
{
	return !access(RHCT, F_OK);
}

bool sees_firmware(void)
{
	return has_acpi() || !access("/sys/firmware/devicetree", F_OK);
}

/* The ISA strings of the harts are the only text with "_" here: "rv64imafdc_sscofpmf_ssctr". */
static bool rhct_has(const char *extension)
{
	size_t len = strlen(extension), size = 0;
	FILE *file = fopen(RHCT, "r");
	char table[0x4000];

	if (file) {
		size = fread(table, 1, sizeof(table) - 1, file);
		fclose(file);
	}
	table[size] = '\0';
	for (size_t i = 0; i + len < size; i++) {
		if (table[i] == '_' && !strncasecmp(table + i + 1, extension, len) &&
		    !isalpha((unsigned char)table[i + 1 + len]))
			return true;
	}
	return false;
}

/* Linux 6.12 and 7.2 do not know Ssccfg and Ssctr, so /proc/cpuinfo does not have them. */
bool is_listed(const char *harts, const char *extension)
{
	char path[NAME_SIZE];

	if (has_acpi())
		return rhct_has(extension);

	for (long hart = next_in_list(harts, 0); hart >= 0; hart = next_in_list(harts, hart + 1)) {
		snprintf(path, sizeof(path), HARTS "%ld/of_node/riscv,isa-extensions", hart);
		if (list_file_has(path, extension))
			return true;
	}
	return false;
}

const char *cure_unlisted(const char *before, const char *extension)
{
	static char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "%sif the core has %s, %s", before, extension,
		 cure_firmware(has_acpi() ?
			       "update the firmware: its ACPI table RHCT does not list the extension" :
			       "add it to the devicetree (riscv,isa-extensions) that the firmware gets"));
	return text;
}

void check_type(struct core_type *type)
{
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "%s/cycles/ counts on these harts only%s", type->pmu.name,
		 type->core.name ? "" : "; there is no table of events for their core");
	report(type, "type of core", FINDING_OK, text, "");
}

/* Harts that came online after boot, of a type that no hart had at boot, belong to no PMU. */
void check_harts_without_pmu(struct core_type *type)
{
	char online[TEXT_SIZE], log[TEXT_SIZE], text[2 * TEXT_SIZE], list[TEXT_SIZE] = "";
	struct pmu pmu;
	size_t used = 0;
	bool several;

	if (!*type->pmu.name || !read_line(ONLINE, online))
		return;
	for (long hart = next_in_list(online, 0); hart >= 0; hart = next_in_list(online, hart + 1)) {
		if (!find_pmu_of(&pmu, hart) && used < sizeof(list) - 32)
			used += sprintf(list + used, "%s%ld", used ? "," : "", hart);
	}
	if (!used)
		return;
	/* "no PMU on hart 3, because ...: <cure>" */
	find_in_log(NULL, "no PMU on hart", log);
	several = strchr(list, ',');
	snprintf(text, sizeof(text), "hart%s %s belong%s to no PMU, so nothing is counted there%s%.*s%s",
		 several ? "s" : "", list, several ? "" : "s", *log ? " (kernel log: " : "",
		 (int)strcspn(log, ":"), log, *log ? ")" : "");
	report(type, "other harts", FINDING_DEGRADED, text,
	       "boot with at least one hart of each type online (without maxcpus=); if these harts are of the same type as others, update the firmware");
}

/* Some cores have an overflow interrupt of their own, and the driver uses it. */
static bool samples_by_interrupt(const struct core_type *type)
{
	return !strcmp(type->sampling, "interrupt") || !strcmp(type->sampling, "nmi");
}

void check_extensions(struct core_type *type)
{
	bool delegated = is_listed(type->harts, "ssccfg");

	type->overflow = cpuinfo_has(type->harts, "sscofpmf");
	if (type->overflow)
		report(type, "harts", FINDING_OK,
		       delegated ? "Sscofpmf (interrupt, filters) and Ssccfg (delegated counters)" :
				   "Sscofpmf: overflow interrupt and filters", "");
	else if (samples_by_interrupt(type))
		report(type, "harts", FINDING_OK,
		       "no Sscofpmf in /proc/cpuinfo, but the driver uses the core's own overflow interrupt",
		       "");
	else if (type->move_error)
		report(type, "harts", FINDING_UNKNOWN, "rvpmu cannot run on these harts",
		       "see counting");
	else
		report(type, "harts", FINDING_ABSENT, delegated ?
		       "Ssccfg (delegated counters), but no Sscofpmf in /proc/cpuinfo: no overflow interrupt, no filters" :
		       "no Sscofpmf in /proc/cpuinfo: no overflow interrupt, no filters",
		       cure_unlisted("", "Sscofpmf"));
}

/* --- firmware --- */

/* sbi_get_impl_id() */
enum { SBI_OPENSBI = 1, SBI_KVM = 3, SBI_RUSTSBI = 4 };

static const char *const implementations[] = {
	"Berkeley Boot Loader", "OpenSBI", "Xvisor", "KVM", "RustSBI", "Diosix", "Coffer",
	"Xen", "PolarFire Hart Software Services", "coreboot", "oreboot", "bhyve",
};

/* As the kernel's log has it: -1 if that is not readable or was overwritten. */
static struct {
	long id;
	unsigned long version;
	char name[NAME_SIZE];	/* "OpenSBI 1.6", or "" */
} sbi = { .id = -1 };

/* The SBI leaves the encoding of the version to each implementation. */
static void name_firmware(void)
{
	const unsigned long version = sbi.version;
	const char *name;

	if (sbi.id < 0 || sbi.id >= (long)(sizeof(implementations) / sizeof(*implementations))) {
		snprintf(sbi.name, sizeof(sbi.name), "implementation 0x%lx, version 0x%lx", sbi.id,
			 version);
		return;
	}
	name = implementations[sbi.id];
	if (sbi.id == SBI_OPENSBI)
		snprintf(sbi.name, sizeof(sbi.name), "%s %lu.%lu", name, version >> 16,
			 version & 0xffff);
	else if (sbi.id == SBI_KVM || sbi.id == SBI_RUSTSBI)
		snprintf(sbi.name, sizeof(sbi.name), "%s%s %lu.%lu.%lu", name,
			 sbi.id == SBI_KVM ? " of Linux" : "", version >> 16,
			 version >> 8 & 0xff, version & 0xff);
	else
		snprintf(sbi.name, sizeof(sbi.name), "%s, version 0x%lx", name, version);
}

static void read_firmware(void)
{
	char line[TEXT_SIZE];

	find_in_log(NULL, "SBI implementation ID=", line);
	if (sscanf(line, "SBI implementation ID=%li Version=%li", &sbi.id, (long *)&sbi.version) == 2)
		name_firmware();
	else
		sbi.id = -1;
}

bool is_kvm_guest(void)
{
	/* Harts are checked before the firmware. */
	if (sbi.id < 0)
		read_firmware();
	return sbi.id == SBI_KVM;
}

const char *cure_firmware(const char *cure)
{
	if (is_kvm_guest())
		return "run rvpmu doctor in the host, do what it says, and start the guest again";
	return sees_firmware() ? cure :
	       "run rvpmu doctor on the host, outside the container, where it can read /sys/firmware";
}

void check_firmware(struct core_type *type)
{
	char line[TEXT_SIZE], text[TEXT_SIZE];
	unsigned int major, minor;

	read_firmware();
	find_in_log(NULL, "SBI specification v", line);
	if (sscanf(line, "SBI specification v%u.%u", &major, &minor) != 2) {
		report(type, "firmware", FINDING_UNKNOWN,
		       "its version is in the kernel's log, which is not readable or was overwritten",
		       "run rvpmu doctor as root, soon after boot");
		return;
	}
	snprintf(text, sizeof(text), "%s%sSBI %u.%u", sbi.name, *sbi.name ? ", " : "", major, minor);
	/* The PMU extension is part of SBI 0.3 and later. */
	if (!major && minor < 3)
		report(type, "firmware", FINDING_MISSING, text,
		       cure_firmware("firmware with the SBI PMU extension: OpenSBI 1.0 or later"));
	else
		report(type, "firmware", FINDING_OK, text, "");
}

/* --- driver --- */

/* Cycles and instructions only: there is no SBI PMU extension, or the user has chosen that. */
static void report_legacy(struct core_type *type)
{
	char asked[TEXT_SIZE], text[2 * TEXT_SIZE];
	const char *cure;

	read_line(PARAMETERS "backend", asked);
	if (!strcmp(asked, "legacy")) {
		report(type, "driver", FINDING_DEGRADED,
		       "backend legacy, because of riscv_pmu.backend=legacy: cycles and instructions only, no filters",
		       "remove riscv_pmu.backend=legacy from the kernel's command line");
		return;
	}
	snprintf(text, sizeof(text),
		 "backend legacy, because %s has no SBI PMU extension: cycles and instructions only, no filters",
		 *sbi.name ? sbi.name : "the firmware");
	if (sbi.id == SBI_KVM)
		cure = "in the host, use a kernel whose PMU driver works (rvpmu doctor says so there), and start the guest without options that switch off the SBI PMU extension";
	else if (sbi.id == SBI_OPENSBI && sbi.version >= 0x10000)
		cure = "this release of OpenSBI has the extension, but it was left out: rebuild OpenSBI with CONFIG_SBI_ECALL_PMU=y";
	else if (sbi.id == SBI_RUSTSBI)
		cure = "RustSBI with the SBI PMU extension, or OpenSBI 1.0 or later";
	else
		cure = "firmware with the SBI PMU extension, such as OpenSBI 1.0 or later";
	report(type, "driver", FINDING_DEGRADED, text, cure);
}

void check_driver(struct core_type *type)
{
	char backend[TEXT_SIZE], log[TEXT_SIZE];

	if (access(DEVICES, R_OK | X_OK)) {
		report(type, "driver", FINDING_MISSING, "there is no " DEVICES,
		       "mount -t sysfs sysfs /sys, or a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	if (!*type->pmu.name) {
		report(type, "driver", FINDING_MISSING, "there is no PMU named cpu",
		       "a kernel with CONFIG_RISCV_PMU, and firmware with the SBI PMU extension");
		return;
	}
	if (!pmu_read(&type->pmu, "caps/backend", backend)) {
		report(type, "driver", FINDING_DEGRADED,
		       "mainline's: no sampling without Sscofpmf, identical events do not share counters, groups that can never fit are accepted, context switches need firmware calls",
		       GRAFT_CURE);
		return;
	}

	type->ours = true;
	type->legacy = !strcmp(backend, "legacy");
	type->delegated = !strcmp(backend, "ssccfg");
	find_in_log(type, "riscv_pmu: backend ", log);
	type->batch = strstr(log, "batch calls");
	if (type->legacy)
		report_legacy(type);
	else
		report(type, "driver", FINDING_OK, *log ? log : backend, "");
}

/* --- events --- */

static void check_known_events(struct core_type *type, const struct core_events *events)
{
	char text[TEXT_SIZE];

	if (type->lacks_map) {
		snprintf(text, sizeof(text),
			 "%u events of %s are missing: the firmware does not know them",
			 events->missing, type->core.title);
		report(type, "events", FINDING_DEGRADED, text,
		       cure_firmware(has_acpi() ? VENDOR_CURE : type->ours && type->batch ?
				     "give the firmware the devicetree node that rvpmu doctor --dts prints" :
				     "give the firmware the devicetree node that rvpmu doctor --dts prints, or use the riscv-pmu driver with its OpenSBI, built with CONFIG_SBI_PMU_BATCH_MAP_EVENTS=y"));
	} else if (events->missing) {
		snprintf(text, sizeof(text), "%u events of %s: no counter here can count them",
			 events->missing, type->core.title);
		report(type, "events", FINDING_ABSENT, text, "");
	} else if (events->denied) {
		snprintf(text, sizeof(text),
			 "this user may not open %u events of %s, so it is not known whether the machine has them",
			 events->denied, type->core.title);
		report(type, "events", FINDING_UNKNOWN, text,
		       "run rvpmu doctor as root, or sysctl kernel.perf_event_paranoid=1");
	} else {
		snprintf(text, sizeof(text),
			 "cycles, instructions and all %u other standard events that %s is known to have",
			 events->all, type->core.title);
		report(type, "events", FINDING_OK, text, "");
	}
}

/* Of the events that perf has names for, besides cycles and instructions */
static int count_generic(const struct pmu *pmu, const char *name, const struct perf_event_attr *attr,
			 void *arg)
{
	struct core_events *sum = arg;
	int err;

	if (!strcmp(name, "cpu-cycles") || !strcmp(name, "instructions"))
		return 0;
	err = try_counting(pmu, *attr);
	sum->all += !err;
	sum->denied += err == -EACCES || err == -EPERM;
	return 0;
}

/* Only the firmware can know the events of a core without a table. */
static void check_unknown_events(struct core_type *type)
{
	struct core_events events = {};
	char text[TEXT_SIZE];
	long programmable;

	for_each_generic(&type->pmu, count_generic, &events);
	if (events.all) {
		snprintf(text, sizeof(text),
			 "cycles, instructions and %u others by the firmware's map; there is no table of events for this core",
			 events.all);
		report(type, "events", FINDING_OK, text, "");
	} else if (events.denied) {
		report(type, "events", FINDING_UNKNOWN,
		       "this user may not open events other than cycles and instructions, so it is not known whether the machine has them",
		       "run rvpmu doctor as root, or sysctl kernel.perf_event_paranoid=1");
	} else if (read_pmu_number(&type->pmu, "caps/programmable_counters", &programmable) &&
		   !programmable) {
		report(type, "events", FINDING_ABSENT,
		       "cycles and instructions only: these harts have no other counters", "");
	} else if (type->delegated) {
		report(type, "events", FINDING_NOTE,
		       "cycles and instructions by name only: there is no table of events for this core",
		       "count others as raw events, with the numbers of the core's manual: perf stat -e cpu/event=0xNN/");
	} else {
		type->lacks_map = true;
		report(type, "events", FINDING_DEGRADED,
		       "cycles and instructions only: the firmware has no map of events, and there is no table of events for this core",
		       cure_firmware(has_acpi() ? VENDOR_CURE :
				     "take the devicetree node that rvpmu doctor --dts prints, fill in the values from the core's manual, and give the node to the firmware"));
	}
}

/*
 * Firmware learns events other than cycles and instructions from its devicetree. Where Linux has
 * ACPI, only the vendor of the firmware can change that.
 */
void check_events(struct core_type *type)
{
	const struct core_events events = check_core_events(&type->pmu, type->harts);

	type->lacks_map = events.missing && !type->delegated && !events.is_mixed && !type->legacy;
	if (type->legacy)
		report(type, "events", FINDING_DEGRADED, "cycles and instructions only",
		       "see driver");
	else if (events.is_mixed)
		report(type, "events", FINDING_DEGRADED,
		       "these harts have different types of cores, but one PMU: an event other than cycles and instructions may count something else on each type",
		       "count on harts of one type only: taskset, perf stat -C; or use the riscv-pmu driver, which has a PMU for each type of core");
	else if (type->core.name)
		check_known_events(type, &events);
	else
		check_unknown_events(type);
}

/* Any of them shows that the firmware counts; it need not have all. */
void check_firmware_events(struct core_type *type)
{
	int found = 0, denied = 0, all, err;
	char term[TEXT_SIZE], text[TEXT_SIZE];
	struct pmu pmu;

	if (!*type->pmu.name)
		return;
	ask_pmu(NULL);
	for (all = 0; all < nr_firmware_events(); all++) {
		err = find_firmware_event(all, term);
		found += !err;
		denied += err == -EACCES || err == -EPERM;
	}
	if (!found && denied) {
		report(type, "firmware events", FINDING_UNKNOWN,
		       "this user may not open them: they have no filter for user mode",
		       "run rvpmu doctor as root, or sysctl kernel.perf_event_paranoid=1");
	} else if (!found && type->refused) {
		report(type, "firmware events", FINDING_UNKNOWN, "they cannot be tried without an event",
		       "see counting");
	} else if (!found && type->legacy) {
		report(type, "firmware events", FINDING_DEGRADED, "none", "see driver");
	} else if (!found) {
		report(type, "firmware events", FINDING_ABSENT, "the firmware counts none of its events",
		       sbi.id == SBI_OPENSBI ? "" : cure_firmware("OpenSBI 1.0 or later has them"));
	} else if (!find_pmu(&pmu, "sbi_fw")) {
		snprintf(text, sizeof(text), "%d of %d, by number only (cpu/event=0xNN,firmware=2/)",
			 found, all);
		report(type, "firmware events", FINDING_DEGRADED, text,
		       "use a kernel with the riscv-pmu driver, which gives them names");
	} else {
		snprintf(text, sizeof(text), "%d of %d can be counted: perf stat -e sbi_fw/set-timer/",
			 found, all);
		report(type, "firmware events", FINDING_OK, text, "");
	}
}
