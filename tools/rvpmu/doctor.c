// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu doctor: check what counting, sampling, filters, groups and reads from user
 * space need. It opens events to test features, instead of trusting descriptions.
 */

#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rvpmu.h"

#define SYSCTL		"/proc/sys/kernel/"
#define PARANOID	SYSCTL "perf_event_paranoid"
#define PARAMETERS	"/sys/module/riscv_pmu/parameters/"
#define HARTS		"/sys/devices/system/cpu/cpu"
#define LOCKDOWN	"/sys/kernel/security/lockdown"

/* syslog(2) */
#define LOG_READ_ALL	3
#define LOG_MOST	(1 << 20)

#define LEGACY_CURE	"firmware with the SBI PMU extension, and riscv_pmu.backend=auto"
#define FILTERS_CURE	"a core with Sscofpmf, or Smcntrpmf for cycles and instructions"
#define RHCT		"/sys/firmware/acpi/tables/RHCT"
#define CHAINS_CURE	"perf record --call-graph fp or dwarf for call chains"

struct patient {
	struct pmu cpu;
	bool has_cpu;
	bool ours;		/* not mainline's driver */
	bool legacy;		/* no SBI PMU extension, or it is not used */
	bool user_only;		/* this user may not measure the kernel */
	bool refused;		/* rvpmu may open no event, so it cannot try what events can do */
	char sampling[TEXT_SIZE];
	char cycles_sampling[TEXT_SIZE];
	int status;
};

/*
 * FINDING_ABSENT (an optional feature that the machine does not have), FINDING_NOTE (a setting that
 * may surprise) and FINDING_UNKNOWN (what cannot be tested here) do not change the status; only
 * find_blocked() does.
 */
enum finding {
	FINDING_OK,
	FINDING_DEGRADED,
	FINDING_MISSING,
	FINDING_ABSENT,
	FINDING_NOTE,
	FINDING_UNKNOWN,
};

static void find(struct patient *patient, const char *what, enum finding finding,
		 const char *why, const char *cure)
{
	static const char *const words[] = {
		"ok", "degraded", "missing", "absent", "note", "unknown",
	};

	if (!json) {
		printf("%-9s %-14s %s\n", words[finding], what, why);
		if (*cure)
			printf("%-24s cure: %s\n", "", cure);
	}
	json_open(NULL, '{');
	json_text("what", what);
	json_text("finding", words[finding]);
	json_text("why", why);
	if (*cure)
		json_text("cure", cure);
	json_close('}');
	if (finding < FINDING_ABSENT && (int)finding > patient->status)
		patient->status = finding;
}

/* For the probes: a user who may not measure the kernel may still measure user mode. */
static struct perf_event_attr probe_attr(const struct patient *patient, uint64_t config)
{
	struct perf_event_attr attr = make_attr(PERF_TYPE_HARDWARE, config);

	if (patient->user_only)
		exclude_all_but_user(&attr);
	return attr;
}

/* --- the machine --- */

static bool hart_has(const char *extension)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[TEXT_SIZE];
	bool has = false;

	while (file && !has && fgets(line, sizeof(line), file)) {
		char *save, *word;

		if (strncmp(line, "isa", 3))
			continue;
		for (word = strtok_r(line, "_ \t\n:", &save); word;
		     word = strtok_r(NULL, "_ \t\n:", &save))
			has |= !strcmp(word, extension);
	}
	if (file)
		fclose(file);
	return has;
}

/* A line of the kernel's log from @mark on, or "". */
static const char *find_in_log(const char *mark, char text[TEXT_SIZE])
{
	char *log = malloc(LOG_MOST), *line;
	int len = log ? klogctl(LOG_READ_ALL, log, LOG_MOST - 1) : -1;

	*text = '\0';
	if (len > 0) {
		log[len] = '\0';
		line = strstr(log, mark);
		if (line)
			snprintf(text, TEXT_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
	}
	free(log);
	return text;
}

/* Some cores have an overflow interrupt of their own, and the driver uses it. */
static bool samples_by_interrupt(const struct patient *patient)
{
	return !strcmp(patient->sampling, "interrupt") || !strcmp(patient->sampling, "nmi");
}

/* The ACPI table that describes the harts. Only root may read it. */
static bool has_acpi(void)
{
	return !access(RHCT, F_OK);
}

/* What to do if the firmware does not tell Linux that the harts have an extension */
static const char *cure_list(const char *before, const char *extension, const char *after)
{
	static char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "%sif the core has %s, %s%s", before, extension, has_acpi() ?
		 "update the firmware, whose ACPI table RHCT lacks it" :
		 "add it to the devicetree", after);
	return text;
}

static void check_extensions(struct patient *patient)
{
	bool ovf = hart_has("sscofpmf"), delegated = hart_has("ssccfg");

	if (ovf)
		find(patient, "harts", FINDING_OK,
		     delegated ? "Sscofpmf (interrupt, filters) and Ssccfg (delegated counters)" :
				 "Sscofpmf: overflow interrupt and filters", "");
	else if (samples_by_interrupt(patient))
		find(patient, "harts", FINDING_OK,
		     "no Sscofpmf in /proc/cpuinfo, but the driver uses the core's own overflow interrupt",
		     "");
	else
		find(patient, "harts", FINDING_DEGRADED,
		     "no Sscofpmf in /proc/cpuinfo: no overflow interrupt, no filters",
		     cure_list("", "Sscofpmf", "; otherwise none"));
}

static void check_firmware(struct patient *patient)
{
	char spec[TEXT_SIZE], implementation[TEXT_SIZE], text[2 * TEXT_SIZE + 8];

	find_in_log("SBI specification v", spec);
	find_in_log("SBI implementation ID=", implementation);
	if (!*spec) {
		find(patient, "firmware", FINDING_UNKNOWN,
		     "its version is in the kernel's log, which is not readable or was overwritten",
		     "run rvpmu doctor as root, soon after boot");
		return;
	}
	snprintf(text, sizeof(text), "%s; %s", spec, implementation);
	/* The PMU extension is part of SBI 0.3 and later. */
	if (!strncmp(spec, "SBI specification v0.1", 22) ||
	    !strncmp(spec, "SBI specification v0.2", 22))
		find(patient, "firmware", FINDING_MISSING, text,
		     "firmware with the SBI PMU extension: OpenSBI 1.0 or later");
	else
		find(patient, "firmware", FINDING_OK, text, "");
}

static void check_driver(struct patient *patient)
{
	char backend[TEXT_SIZE], text[2 * TEXT_SIZE], log[TEXT_SIZE];

	if (access(DEVICES, R_OK | X_OK)) {
		find(patient, "driver", FINDING_MISSING, "there is no " DEVICES,
		     "mount -t sysfs sysfs /sys, or a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	if (!patient->has_cpu) {
		find(patient, "driver", FINDING_MISSING, "there is no PMU named cpu",
		     "a kernel with CONFIG_RISCV_PMU, and firmware with the SBI PMU extension");
		return;
	}
	if (!pmu_read(&patient->cpu, "caps/backend", backend)) {
		find(patient, "driver", FINDING_DEGRADED,
		     "mainline's: no sampling without Sscofpmf, identical events do not share counters, groups that can never fit are accepted, context switches need firmware calls",
		     "riscv-pmu: make graft KDIR=<kernel tree>");
		return;
	}

	patient->ours = true;
	find_in_log("riscv_pmu: backend ", log);
	snprintf(text, sizeof(text), "%s", *log ? log : backend);
	patient->legacy = !strcmp(backend, "legacy");
	if (patient->legacy)
		find(patient, "driver", FINDING_DEGRADED,
		     "backend legacy: cycles and instructions only, no filters", LEGACY_CURE);
	else
		find(patient, "driver", FINDING_OK, text, "");
}

/* --- features of events --- */

/*
 * Firmware learns events other than cycles and instructions from its devicetree. Where Linux has
 * ACPI, only the vendor of the firmware can change that.
 */
static void check_events(struct patient *patient)
{
	const struct core_events events = check_core_events();
	char text[TEXT_SIZE];

	if (events.missing) {
		snprintf(text, sizeof(text),
			 "%u events of %s are missing: the firmware does not know them",
			 events.missing, events.title);
		find(patient, "events", FINDING_DEGRADED, text,
		     has_acpi() ? "newer firmware, or the riscv-pmu driver and its firmware" :
		     "give the firmware the devicetree node that rvpmu doctor --dts prints, or use the riscv-pmu driver and its firmware");
	} else if (events.denied) {
		snprintf(text, sizeof(text),
			 "this user may not open %u events of %s, so they may be missing or not",
			 events.denied, events.title);
		find(patient, "events", FINDING_DEGRADED, text,
		     "run rvpmu doctor as root, or sysctl kernel.perf_event_paranoid=1");
	}
}

static bool has_seccomp_filter(void)
{
	char text[TEXT_SIZE];

	return read_status("Seccomp", text) && !strcmp(text, "2");
}

/*
 * kernel.perf_event_paranoid and SELinux refuse with EACCES, so EPERM or ENOSYS on a kernel with
 * perf most likely comes from a seccomp filter or an emulator.
 */
static bool is_blocked(int err)
{
	return (err == -EPERM || err == -ENOSYS) && !access(PARANOID, F_OK);
}

static void find_blocked(struct patient *patient)
{
	find(patient, "counting", FINDING_UNKNOWN, has_seccomp_filter() ?
	     "a seccomp filter, for instance that of a container, refuses perf_event_open(2)" :
	     "something between rvpmu and the kernel (a container or QEMU user emulation) refuses perf_event_open(2)",
	     "run rvpmu on the host, outside the container or emulator; with podman: --cap-add PERFMON --security-opt seccomp=unconfined");
	/* All is not well if even that is unknown. */
	if (patient->status < EXIT_DEGRADED)
		patient->status = EXIT_DEGRADED;
}

static void check_counting(struct patient *patient)
{
	struct perf_event_attr attr = attr_instructions();
	int err = try_event(&attr);
	bool denied = err == -EACCES;

	if (denied) {
		exclude_all_but_user(&attr);
		err = try_event(&attr);
		patient->user_only = !err;
	}
	/* On harts without filters, user mode alone cannot be counted: EOPNOTSUPP. */
	patient->refused = err == -EACCES || err == -EPERM || err == -ENOSYS ||
			   (err == -EOPNOTSUPP && denied);
	if (patient->user_only)
		find(patient, "counting", FINDING_OK,
		     "instructions can be counted, by this user in user mode only", "");
	else if (!err)
		find(patient, "counting", FINDING_OK, "instructions can be counted", "");
	else if (is_blocked(err))
		find_blocked(patient);
	else if (err == -ENOSYS)
		find(patient, "counting", FINDING_MISSING, "the kernel has no perf_event_open(2)",
		     "a kernel with CONFIG_PERF_EVENTS; emulators of user mode have none");
	else if (patient->refused)
		find(patient, "counting", FINDING_MISSING,
		     "this user has no permission (kernel.perf_event_paranoid)",
		     "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON");
	else
		find(patient, "counting", FINDING_MISSING, strerror(-err),
		     "see the lines above");
}

/* The features that need an event */
static void skip_features(struct patient *patient)
{
	static const char *const features[] = {
		"sampling", "filters", "branch records", "precise samples", "groups", "user reads",
	};

	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		find(patient, features[i], FINDING_UNKNOWN,
		     "it cannot be tried without an event", "see counting");
}

static void check_sampling(struct patient *patient)
{
	struct perf_event_attr attr = probe_attr(patient, PERF_COUNT_HW_INSTRUCTIONS);
	char why[TEXT_SIZE];
	int samples, err;

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_IP;
	samples = take_samples(&attr);
	err = samples < 0 ? samples : 0;
	if (!samples) {
		find(patient, "sampling", FINDING_MISSING,
		     "the kernel accepts the event, but no sample arrived within a second",
		     "use perf record -e cpu-clock, and report this bug with the output of dmesg | grep -i pmu");
	} else if (!strcmp(patient->sampling, "polled") && !err) {
		/* "filters ...; sampling by a timer, up to 4 ms late: <why>" */
		find_in_log("sampling by a timer", why);
		find(patient, "sampling", FINDING_DEGRADED,
		     *why ? why : "by a timer: samples are up to 4 ms late",
		     patient->legacy ? LEGACY_CURE :
		     strstr(why, "the firmware does not enable") ?
		     "OpenSBI for this board, or newer firmware of its vendor" :
		     "a core with Sscofpmf; on QEMU, a version that implements sie.LCOFIE");
	} else if (!err && !strcmp(patient->cycles_sampling, "polled")) {
		find(patient, "sampling", FINDING_DEGRADED,
		     "by overflow interrupt, but cycles by a timer: their samples are up to 4 ms late",
		     "sample another event: perf record -e branch-misses");
	} else if (!err && !strcmp(patient->cycles_sampling, "split")) {
		find(patient, "sampling", FINDING_OK,
		     "by overflow interrupt; cycles by two raw events, one in user mode and one in the kernel",
		     "");
	} else if (!err) {
		bool nmi = !strcmp(patient->sampling, "nmi");

		find(patient, "sampling", FINDING_OK,
		     nmi ? "by NMI: code with interrupts off is sampled, too" :
			   "by overflow interrupt: code with interrupts off appears where it enables them",
		     "");
	} else {
		find(patient, "sampling", FINDING_MISSING, strerror(-err),
		     patient->ours ? "riscv_pmu.polled_sampling=1 and CONFIG_RISCV_PMU_POLL" :
				     "perf record -e cpu-clock; or riscv-pmu, which samples by a timer");
	}
}

/* No counter has filters, and exclude_kernel is ignored. */
static bool is_unfiltered(const struct patient *patient)
{
	char filters[TEXT_SIZE], unfiltered[TEXT_SIZE];

	return pmu_read(&patient->cpu, "caps/filters", filters) && !strcmp(filters, "none") &&
	       pmu_read(&patient->cpu, "caps/unfiltered", unfiltered) && !strcmp(unfiltered, "1");
}

static void check_filters(struct patient *patient)
{
	struct perf_event_attr attr = attr_instructions();
	int err;

	attr.exclude_kernel = 1;
	err = try_event(&attr);
	if (is_unfiltered(patient))
		find(patient, "filters", FINDING_DEGRADED,
		     "instructions:u counts the kernel, too (riscv_pmu.unfiltered=1)",
		     "riscv_pmu.unfiltered=0, to have it refused instead");
	else if (!err)
		find(patient, "filters", FINDING_OK, "instructions:u counts user mode only", "");
	else
		find(patient, "filters", FINDING_DEGRADED,
		     "instructions:u cannot be counted: user and kernel mode are counted together",
		     patient->legacy ? LEGACY_CURE : patient->ours ?
		     FILTERS_CURE "; riscv_pmu.unfiltered=1 for programs that always exclude the kernel" :
		     FILTERS_CURE);
}

/* The only text in this table are the ISA strings of the harts: "rv64imafdc_sscofpmf_ssctr". */
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

/* Linux 6.12 and 7.2 do not know Ssctr, so /proc/cpuinfo does not have it. */
static bool is_listed(const struct pmu *pmu, const char *extension)
{
	char path[NAME_SIZE], harts[TEXT_SIZE];

	if (has_acpi())
		return rhct_has(extension);

	/* Mainline's PMU has no file cpus: it is that of all harts. */
	if (*pmu->cpus)
		strcpy(harts, pmu->cpus);
	else
		read_line(ONLINE, harts);
	for (long hart = next_in_list(harts, 0); hart >= 0; hart = next_in_list(harts, hart + 1)) {
		snprintf(path, sizeof(path), HARTS "%ld/of_node/riscv,isa-extensions", hart);
		if (list_file_has(path, extension))
			return true;
	}
	return false;
}

/* Records of user mode only, which need no permission to measure the kernel. */
static int try_branch_records(uint64_t filter)
{
	struct perf_event_attr attr = attr_instructions();

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | filter;
	attr.exclude_kernel = 1;
	return try_event(&attr);
}

static void describe_branch_records(struct patient *patient)
{
	int err = try_branch_records(PERF_SAMPLE_BRANCH_ANY);
	bool stacks = !err && !try_branch_records(PERF_SAMPLE_BRANCH_CALL_STACK);
	char text[TEXT_SIZE];

	if (err) {
		snprintf(text, sizeof(text), "%ld per hart, but no event can record them: %s",
			 patient->cpu.branches, strerror(-err));
		find(patient, "branch records", FINDING_DEGRADED, text, "see the lines above");
		return;
	}
	snprintf(text, sizeof(text), "%ld per hart, %s", patient->cpu.branches, stacks ?
		 "with call stacks: perf record -b, --call-graph lbr" :
		 "without call stacks: perf record -b");
	find(patient, "branch records", FINDING_OK, text, "");
}

/* Why the driver does not use the Ssctr that the firmware lists. */
static void explain_branch_records(struct patient *patient)
{
	char text[TEXT_SIZE];
	long depth;

	if (read_number(PARAMETERS "branches", &depth) && !depth)
		find(patient, "branch records", FINDING_DEGRADED,
		     "switched off by riscv_pmu.branches=0",
		     "remove riscv_pmu.branches=0 from the kernel's command line");
	else if (!is_listed(&patient->cpu, "sscsrind"))
		find(patient, "branch records", FINDING_DEGRADED,
		     "the firmware lists Ssctr, but not Sscsrind, which reads the records",
		     cure_list("", "Sscsrind", ""));
	else if (!*find_in_log("no branch records", text))
		find(patient, "branch records", FINDING_DEGRADED,
		     "the harts have Ssctr, but the driver does not use it",
		     "dmesg | grep riscv_pmu, run as root, prints the reason");
	else
		/* "no branch records: <why>" */
		find(patient, "branch records", FINDING_DEGRADED, text,
		     strstr(text, "firmware") ? "OpenSBI 1.7 or later, or this project's" :
						CHAINS_CURE);
}

/* perf record -b and :pp fail on most harts, and perf does not print the reason. */
static void check_branch_records(struct patient *patient)
{
	if (patient->cpu.branches)
		describe_branch_records(patient);
	else if (!is_listed(&patient->cpu, "ssctr"))
		find(patient, "branch records", FINDING_ABSENT, has_acpi() ?
		     "no Ssctr in ACPI's table RHCT, or only root may read it: no perf record -b, no --call-graph lbr" :
		     "no Ssctr in the devicetree (riscv,isa-extensions): no perf record -b, no --call-graph lbr",
		     cure_list(CHAINS_CURE "; ", "Ssctr", ""));
	else if (!patient->ours)
		find(patient, "branch records", FINDING_DEGRADED,
		     "the harts have Ssctr, but mainline's driver does not use it",
		     "riscv-pmu: make graft KDIR=<kernel tree>");
	else
		explain_branch_records(patient);
}

static void check_precise(struct patient *patient)
{
	struct perf_event_attr attr = attr_instructions();

	attr.sample_period = 1000000;
	attr.exclude_kernel = 1;
	attr.precise_ip = 2;
	if (!try_event(&attr))
		find(patient, "precise samples", FINDING_OK, "instructions:pp", "");
	else
		find(patient, "precise samples", FINDING_ABSENT,
		     "instructions:pp is not supported: a sample shows the pc of the interrupt, some instructions later",
		     "use events without :p and :pp");
}

/* All harts have separate counters for cycles and instructions. */
static void check_groups(struct patient *patient)
{
	struct perf_event_attr cycles = probe_attr(patient, PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr instructions = probe_attr(patient, PERF_COUNT_HW_INSTRUCTIONS);
	int leader = open_event(&cycles, 0, -1, -1);
	int fd = leader < 0 ? leader : open_event(&instructions, 0, -1, leader);

	if (fd >= 0)
		find(patient, "groups", FINDING_OK, "cycles and instructions fit into a group", "");
	else
		find(patient, "groups", FINDING_DEGRADED, strerror(-fd), "see the lines above");
	if (fd >= 0)
		close(fd);
	if (leader >= 0)
		close(leader);
}

static bool can_read_directly(void)
{
	struct perf_event_attr attr = attr_instructions();
	size_t size = sysconf(_SC_PAGESIZE);
	uint64_t count;
	bool direct = false;
	void *page;
	int fd;

	attr.exclude_kernel = 1;
	fd = open_event(&attr, 0, -1, -1);
	if (fd < 0) {
		attr.exclude_kernel = 0;
		fd = open_event(&attr, 0, -1, -1);
	}
	if (fd < 0)
		return false;

	page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		direct = riscv_pmu_read(page, &count);
		munmap(page, size);
	}
	close(fd);
	return direct;
}

static void check_user_access(struct patient *patient)
{
	long allowed;

	if (!read_number(SYSCTL "perf_user_access", &allowed))
		find(patient, "user reads", FINDING_DEGRADED, "there is no kernel.perf_user_access",
		     "a kernel with a RISC-V PMU");
	else if (allowed == 2)
		find(patient, "user reads", FINDING_OK,
		     "every process can read cycle and instret (kernel.perf_user_access is 2)", "");
	else if (can_read_directly())
		find(patient, "user reads", FINDING_OK,
		     "a process can read its own events without a system call", "");
	else if (!allowed)
		find(patient, "user reads", FINDING_DEGRADED, "kernel.perf_user_access is 0",
		     "sysctl kernel.perf_user_access=1");
	else if (!patient->ours)
		find(patient, "user reads", FINDING_DEGRADED,
		     "with mainline's driver a read of a counter that the event has just lost kills the program, so the reader uses read()",
		     "riscv-pmu: make graft KDIR=<kernel tree>");
	else
		find(patient, "user reads", FINDING_DEGRADED,
		     "mmap pages of events name no counter: programs fall back to read()",
		     "a backend that writes counters (sbi, ssccfg), and counters with overflow interrupt or 64 bits");
}

static void check_firmware_events(struct patient *patient)
{
	struct pmu pmu;

	if (find_pmu(&pmu, "sbi_fw"))
		find(patient, "firmware events", FINDING_OK, "sbi_fw", "");
	else if (patient->ours)
		find(patient, "firmware events", FINDING_DEGRADED,
		     "this firmware has no firmware events", "OpenSBI 1.0 or later");
	else
		find(patient, "firmware events", FINDING_DEGRADED,
		     "by number only (cpu/event=0xNN,firmware=2/)", "the riscv-pmu driver");
}

/* --- permissions and limits --- */

static void check_paranoid(struct patient *patient)
{
	char text[TEXT_SIZE];
	long level;

	if (!read_number(PARANOID, &level)) {
		find(patient, "paranoid", FINDING_MISSING, "there is no kernel.perf_event_paranoid",
		     "a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	snprintf(text, sizeof(text), "kernel.perf_event_paranoid is %ld: users can measure %s", level,
		 level < 1 ? "all harts" : level < 2 ? "their own tasks, including the kernel" :
		 level < 3 ? "user mode of their own tasks only" :
		 "nothing (with Debian's patch)");
	/* 2 is the kernel's default: a choice of who runs the machine, not a fault. */
	find(patient, "paranoid", level < 2 ? FINDING_OK : level < 3 ? FINDING_NOTE :
	     FINDING_DEGRADED, text, level < 2 ? "" : level < 3 ?
	     "to include the kernel: sysctl kernel.perf_event_paranoid=1" :
	     "sysctl kernel.perf_event_paranoid=2, or 1 to include the kernel");
}

static void check_lockdown(struct patient *patient)
{
	char text[TEXT_SIZE];

	if (read_line(LOCKDOWN, text) && strstr(text, "[confidentiality]"))
		find(patient, "lockdown", FINDING_DEGRADED,
		     "confidentiality: samples have no registers, and kernel addresses are hidden",
		     "lockdown=integrity on the kernel's command line");
	else
		find(patient, "lockdown", FINDING_OK, "does not restrict perf", "");
}

static void check_rate(struct patient *patient)
{
	char text[TEXT_SIZE];
	long rate;

	if (!read_number(SYSCTL "perf_event_max_sample_rate", &rate))
		return;
	snprintf(text, sizeof(text), "at most %ld samples a second on each hart", rate);
	/* The default frequency of perf is 4000. */
	find(patient, "sample rate", rate < 4000 ? FINDING_DEGRADED : FINDING_OK, text,
	     rate < 4000 ? "sysctl kernel.perf_event_max_sample_rate=100000" : "");
}

static void check_features(struct patient *patient)
{
	check_sampling(patient);
	check_filters(patient);
	check_branch_records(patient);
	check_precise(patient);
	check_groups(patient);
	check_user_access(patient);
	check_events(patient);
}

static int examine(void)
{
	struct patient patient = {};

	patient.has_cpu = find_pmu(&patient.cpu, "cpu");
	if (patient.has_cpu) {
		pmu_read(&patient.cpu, "caps/sampling", patient.sampling);
		pmu_read(&patient.cpu, "caps/cycles_sampling", patient.cycles_sampling);
		move_to_pmu(&patient.cpu);
	}
	json_open("findings", '[');
	check_extensions(&patient);
	check_firmware(&patient);
	check_driver(&patient);
	check_counting(&patient);
	if (patient.refused)
		skip_features(&patient);
	else if (patient.has_cpu)
		check_features(&patient);
	if (patient.has_cpu)
		check_firmware_events(&patient);
	check_paranoid(&patient);
	check_lockdown(&patient);
	check_rate(&patient);
	json_close(']');
	return patient.status;
}

/* --- the command line --- */

static bool dts;
static const char *core;

const struct option doctor_options[] = {
	{ "dts", no_argument, NULL, 'd' },
	{ "core", required_argument, NULL, 'c' },
	COMMON_OPTIONS
};

void doctor_set(int option, const char *value)
{
	if (option == 'd')
		dts = true;
	else
		core = value;
}

int cmd_doctor(int argc, char **argv)
{
	if (dts)
		return print_dts(core);
	if (!core)
		return examine();
	report_error("--core names the core of a devicetree node: use rvpmu doctor --dts --core NAME");
	return EXIT_USAGE;
}
