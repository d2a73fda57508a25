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
#include <sys/mman.h>
#include <unistd.h>

#include "rvpmu.h"

#define SYSCTL		"/proc/sys/kernel/"
#define PARANOID	SYSCTL "perf_event_paranoid"
#define PARAMETERS	"/sys/module/riscv_pmu/parameters/"
#define HARTS		"/sys/devices/system/cpu/cpu"
#define LOCKDOWN	"/sys/kernel/security/lockdown"

#define LEGACY_CURE	"firmware with the SBI PMU extension, and riscv_pmu.backend=auto"
#define FILTERS_CURE	"a core with Sscofpmf, or Smcntrpmf for cycles and instructions"
#define RHCT		"/sys/firmware/acpi/tables/RHCT"
#define CHAINS_CURE	"perf record --call-graph fp or dwarf for call chains"

/* For the probes: a user who may not measure the kernel may still measure user mode. */
static struct perf_event_attr probe_attr(const struct kind *kind, uint64_t config)
{
	struct perf_event_attr attr = make_generic(&kind->pmu, PERF_TYPE_HARDWARE, config);

	if (kind->user_only)
		exclude_all_but_user(&attr);
	return attr;
}

/* --- the machine --- */

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
static bool harts_have(const char *harts, const char *extension)
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

static void check_kind(struct kind *kind)
{
	char text[TEXT_SIZE];

	snprintf(text, sizeof(text), "%s/cycles/ counts on these harts only%s", kind->pmu.name,
		 kind->core.name ? "" : "; there is no table of events for their core");
	find(kind, "type of core", FINDING_OK, text, "");
}

/* Those that no PMU has: they came online later, and are of a type that no hart had at boot. */
static void check_harts_without(struct kind *kind)
{
	char online[TEXT_SIZE], log[TEXT_SIZE], text[2 * TEXT_SIZE], list[TEXT_SIZE] = "";
	struct pmu pmu;
	size_t used = 0;

	if (!*kind->pmu.name || !read_line(ONLINE, online))
		return;
	for (long hart = next_in_list(online, 0); hart >= 0; hart = next_in_list(online, hart + 1)) {
		if (!find_pmu_of(&pmu, hart) && used < sizeof(list) - 32)
			used += sprintf(list + used, "%s%ld", used ? "," : "", hart);
	}
	if (!used)
		return;
	/* "no PMU on hart 3, because ...: <cure>" */
	find_in_log(NULL, "no PMU on hart", log);
	snprintf(text, sizeof(text), "no PMU has hart%s %s, so nothing is counted there%s%.*s%s",
		 strchr(list, ',') ? "s" : "", list, *log ? " (kernel log: " : "", (int)strcspn(log, ":"), log,
		 *log ? ")" : "");
	find(kind, "other harts", FINDING_DEGRADED, text,
	     "boot with at least one hart of each type online (without maxcpus=); if these harts are of the same type as others, update the firmware");
}

/* Some cores have an overflow interrupt of their own, and the driver uses it. */
static bool samples_by_interrupt(const struct kind *kind)
{
	return !strcmp(kind->sampling, "interrupt") || !strcmp(kind->sampling, "nmi");
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
		 "update the firmware: its ACPI table RHCT does not list the extension" :
		 "add it to the devicetree", after);
	return text;
}

static void check_extensions(struct kind *kind)
{
	bool ovf = harts_have(kind->harts, "sscofpmf");
	bool delegated = harts_have(kind->harts, "ssccfg");

	if (ovf)
		find(kind, "harts", FINDING_OK,
		     delegated ? "Sscofpmf (interrupt, filters) and Ssccfg (delegated counters)" :
				 "Sscofpmf: overflow interrupt and filters", "");
	else if (samples_by_interrupt(kind))
		find(kind, "harts", FINDING_OK,
		     "no Sscofpmf in /proc/cpuinfo, but the driver uses the core's own overflow interrupt",
		     "");
	else if (kind->away)
		find(kind, "harts", FINDING_UNKNOWN, "rvpmu cannot run on these harts", "see counting");
	else
		find(kind, "harts", FINDING_DEGRADED,
		     "no Sscofpmf in /proc/cpuinfo: no overflow interrupt, no filters",
		     cure_list("", "Sscofpmf", "; otherwise none"));
}

static void check_firmware(struct kind *kind)
{
	char spec[TEXT_SIZE], implementation[TEXT_SIZE], text[2 * TEXT_SIZE + 8];

	find_in_log(NULL, "SBI specification v", spec);
	find_in_log(NULL, "SBI implementation ID=", implementation);
	if (!*spec) {
		find(kind, "firmware", FINDING_UNKNOWN,
		     "its version is in the kernel's log, which is not readable or was overwritten",
		     "run rvpmu doctor as root, soon after boot");
		return;
	}
	snprintf(text, sizeof(text), "%s; %s", spec, implementation);
	/* The PMU extension is part of SBI 0.3 and later. */
	if (!strncmp(spec, "SBI specification v0.1", 22) ||
	    !strncmp(spec, "SBI specification v0.2", 22))
		find(kind, "firmware", FINDING_MISSING, text,
		     "firmware with the SBI PMU extension: OpenSBI 1.0 or later");
	else
		find(kind, "firmware", FINDING_OK, text, "");
}

static void check_driver(struct kind *kind)
{
	char backend[TEXT_SIZE], text[2 * TEXT_SIZE], log[TEXT_SIZE];

	if (access(DEVICES, R_OK | X_OK)) {
		find(kind, "driver", FINDING_MISSING, "there is no " DEVICES,
		     "mount -t sysfs sysfs /sys, or a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	if (!*kind->pmu.name) {
		find(kind, "driver", FINDING_MISSING, "there is no PMU named cpu",
		     "a kernel with CONFIG_RISCV_PMU, and firmware with the SBI PMU extension");
		return;
	}
	if (!pmu_read(&kind->pmu, "caps/backend", backend)) {
		find(kind, "driver", FINDING_DEGRADED,
		     "mainline's: no sampling without Sscofpmf, identical events do not share counters, groups that can never fit are accepted, context switches need firmware calls",
		     "riscv-pmu: make graft KDIR=<kernel tree>");
		return;
	}

	kind->ours = true;
	find_in_log(kind, "riscv_pmu: backend ", log);
	snprintf(text, sizeof(text), "%s", *log ? log : backend);
	kind->legacy = !strcmp(backend, "legacy");
	if (kind->legacy)
		find(kind, "driver", FINDING_DEGRADED,
		     "backend legacy: cycles and instructions only, no filters", LEGACY_CURE);
	else
		find(kind, "driver", FINDING_OK, text, "");
}

/* --- features of events --- */

/*
 * Firmware learns events other than cycles and instructions from its devicetree. Where Linux has
 * ACPI, only the vendor of the firmware can change that.
 */
static void check_events(struct kind *kind)
{
	const struct core_events events = check_core_events(&kind->pmu, kind->harts);
	char text[TEXT_SIZE];

	if (events.is_mixed) {
		find(kind, "events", FINDING_DEGRADED,
		     "these harts have different types of cores, but one PMU: an event other than cycles and instructions may count something else on each type",
		     "count on harts of one type only: taskset, perf stat -C; or use the riscv-pmu driver, which has a PMU for each type of core");
	} else if (events.missing) {
		snprintf(text, sizeof(text),
			 "%u events of %s are missing: the firmware does not know them",
			 events.missing, kind->core.title);
		find(kind, "events", FINDING_DEGRADED, text,
		     has_acpi() ? "newer firmware, or the riscv-pmu driver and its firmware" :
		     "give the firmware the devicetree node that rvpmu doctor --dts prints, or use the riscv-pmu driver and its firmware");
	} else if (events.denied) {
		snprintf(text, sizeof(text),
			 "this user may not open %u events of %s, so they may be missing or not",
			 events.denied, kind->core.title);
		find(kind, "events", FINDING_DEGRADED, text,
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

static void find_blocked(struct kind *kind)
{
	find(kind, "counting", FINDING_UNKNOWN, has_seccomp_filter() ?
	     "a seccomp filter, for instance that of a container, refuses perf_event_open(2)" :
	     "something between rvpmu and the kernel (a container or QEMU user emulation) refuses perf_event_open(2)",
	     "run rvpmu on the host, outside the container or emulator; with podman: --cap-add PERFMON --security-opt seccomp=unconfined");
	/* All is not well if even that is unknown. */
	kind->result.status = EXIT_DEGRADED;
}

static void check_counting(struct kind *kind)
{
	struct perf_event_attr attr = attr_instructions(&kind->pmu);
	int err = try_event(&attr);
	bool denied = err == -EACCES;

	if (kind->away) {
		find(kind, "counting", FINDING_UNKNOWN, "rvpmu cannot run on these harts",
		     "bring one of them online, or run rvpmu where it may use one (cpuset)");
		return;
	}
	if (denied) {
		exclude_all_but_user(&attr);
		err = try_event(&attr);
		kind->user_only = !err;
	}
	/* On harts without filters, user mode alone cannot be counted: EOPNOTSUPP. */
	kind->refused = err == -EACCES || err == -EPERM || err == -ENOSYS ||
			   (err == -EOPNOTSUPP && denied);
	if (kind->user_only)
		find(kind, "counting", FINDING_OK,
		     "instructions can be counted, by this user in user mode only", "");
	else if (!err)
		find(kind, "counting", FINDING_OK, "instructions can be counted", "");
	else if (is_blocked(err))
		find_blocked(kind);
	else if (err == -ENOSYS)
		find(kind, "counting", FINDING_MISSING, "the kernel has no perf_event_open(2)",
		     "a kernel with CONFIG_PERF_EVENTS; emulators of user mode have none");
	else if (kind->refused)
		find(kind, "counting", FINDING_MISSING,
		     "this user has no permission (kernel.perf_event_paranoid)",
		     "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON");
	else
		find(kind, "counting", FINDING_MISSING, strerror(-err),
		     "see the lines above");
}

static void check_sampling(struct kind *kind)
{
	struct perf_event_attr attr = probe_attr(kind, PERF_COUNT_HW_INSTRUCTIONS);
	char why[TEXT_SIZE];
	int samples, err;

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_IP;
	samples = take_samples(&attr);
	err = samples < 0 ? samples : 0;
	if (!samples) {
		find(kind, "sampling", FINDING_MISSING,
		     "the kernel accepts the event, but no sample arrived within a second",
		     "use perf record -e cpu-clock, and report this bug with the output of dmesg | grep -i pmu");
	} else if (!strcmp(kind->sampling, "polled") && !err) {
		/* "filters ...; sampling by a timer, up to 4 ms late: <why>" */
		find_in_log(kind, "sampling by a timer", why);
		find(kind, "sampling", FINDING_DEGRADED,
		     *why ? why : "by a timer: samples are up to 4 ms late",
		     kind->legacy ? LEGACY_CURE :
		     strstr(why, "the firmware does not enable") ?
		     "OpenSBI for this board, or newer firmware of its vendor" :
		     "a core with Sscofpmf; on QEMU, a version that implements sie.LCOFIE");
	} else if (!err && !strcmp(kind->cycles_sampling, "polled")) {
		find(kind, "sampling", FINDING_DEGRADED,
		     "by overflow interrupt, but cycles by a timer: their samples are up to 4 ms late",
		     "sample another event: perf record -e branch-misses");
	} else if (!err && !strcmp(kind->cycles_sampling, "split")) {
		find(kind, "sampling", FINDING_OK,
		     "by overflow interrupt; cycles by two raw events, one in user mode and one in the kernel",
		     "");
	} else if (!err) {
		bool nmi = !strcmp(kind->sampling, "nmi");

		find(kind, "sampling", FINDING_OK,
		     nmi ? "by NMI: code with interrupts off is sampled, too" :
			   "by overflow interrupt: code with interrupts off appears where it enables them",
		     "");
	} else {
		find(kind, "sampling", FINDING_MISSING, strerror(-err),
		     kind->ours ? "riscv_pmu.polled_sampling=1 and CONFIG_RISCV_PMU_POLL" :
				     "perf record -e cpu-clock; or riscv-pmu, which samples by a timer");
	}
}

/* No counter has filters, and exclude_kernel is ignored. */
static bool is_unfiltered(const struct kind *kind)
{
	char filters[TEXT_SIZE], unfiltered[TEXT_SIZE];

	return pmu_read(&kind->pmu, "caps/filters", filters) && !strcmp(filters, "none") &&
	       pmu_read(&kind->pmu, "caps/unfiltered", unfiltered) && !strcmp(unfiltered, "1");
}

static void check_filters(struct kind *kind)
{
	struct perf_event_attr attr = attr_instructions(&kind->pmu);
	int err;

	attr.exclude_kernel = 1;
	err = try_event(&attr);
	if (is_unfiltered(kind))
		find(kind, "filters", FINDING_DEGRADED,
		     "instructions:u counts the kernel, too (riscv_pmu.unfiltered=1)",
		     "to have such events refused, boot without riscv_pmu.unfiltered=1");
	else if (!err)
		find(kind, "filters", FINDING_OK, "instructions:u counts user mode only", "");
	else
		find(kind, "filters", FINDING_DEGRADED,
		     "instructions:u cannot be counted: user and kernel mode are counted together",
		     kind->legacy ? LEGACY_CURE : kind->ours ?
		     FILTERS_CURE "; riscv_pmu.unfiltered=1 for programs that always exclude the kernel" :
		     FILTERS_CURE);
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

/* Linux 6.12 and 7.2 do not know Ssctr, so /proc/cpuinfo does not have it. */
static bool is_listed(const char *harts, const char *extension)
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

/* Records of user mode only, which need no permission to measure the kernel. */
static int try_branch_records(const struct kind *kind, uint64_t filter)
{
	struct perf_event_attr attr = attr_instructions(&kind->pmu);

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | filter;
	attr.exclude_kernel = 1;
	return try_event(&attr);
}

static void describe_branch_records(struct kind *kind)
{
	int err = try_branch_records(kind, PERF_SAMPLE_BRANCH_ANY);
	bool stacks = !err && !try_branch_records(kind, PERF_SAMPLE_BRANCH_CALL_STACK);
	char text[TEXT_SIZE];

	if (err) {
		snprintf(text, sizeof(text), "%ld per hart, but no event can record them: %s",
			 kind->pmu.branches, strerror(-err));
		find(kind, "branch records", FINDING_DEGRADED, text, "see the lines above");
		return;
	}
	snprintf(text, sizeof(text), "%ld per hart, %s", kind->pmu.branches, stacks ?
		 "with call stacks: perf record -b, --call-graph lbr" :
		 "without call stacks: perf record -b");
	find(kind, "branch records", FINDING_OK, text, "");
}

/* Why the driver does not use the Ssctr that the firmware lists. */
static void explain_branch_records(struct kind *kind)
{
	char text[TEXT_SIZE];
	long depth;

	if (read_number(PARAMETERS "branches", &depth) && !depth)
		find(kind, "branch records", FINDING_DEGRADED,
		     "switched off by riscv_pmu.branches=0",
		     "remove riscv_pmu.branches=0 from the kernel's command line");
	else if (!is_listed(kind->harts, "sscsrind"))
		find(kind, "branch records", FINDING_DEGRADED,
		     "the firmware lists Ssctr, but not Sscsrind, which reads the records",
		     cure_list("", "Sscsrind", ""));
	else if (!*find_in_log(kind, "no branch records", text))
		find(kind, "branch records", FINDING_DEGRADED,
		     "the harts have Ssctr, but the driver does not use it",
		     "dmesg | grep riscv_pmu, run as root, prints the reason");
	else
		/* "no branch records: <why>" */
		find(kind, "branch records", FINDING_DEGRADED, text,
		     strstr(text, "firmware") ? "OpenSBI 1.7 or later, or this project's" :
						CHAINS_CURE);
}

/* perf record -b and :pp fail on most harts, and perf does not print the reason. */
static void check_branch_records(struct kind *kind)
{
	if (kind->pmu.branches)
		describe_branch_records(kind);
	else if (!is_listed(kind->harts, "ssctr"))
		find(kind, "branch records", FINDING_ABSENT, has_acpi() ?
		     "no Ssctr in ACPI's table RHCT, which only root may read (run rvpmu doctor as root to be sure): no perf record -b, no --call-graph lbr" :
		     "no Ssctr in the devicetree (riscv,isa-extensions): no perf record -b, no --call-graph lbr",
		     cure_list(CHAINS_CURE "; ", "Ssctr", ""));
	else if (!kind->ours)
		find(kind, "branch records", FINDING_DEGRADED,
		     "the harts have Ssctr, but mainline's driver does not use it",
		     "riscv-pmu: make graft KDIR=<kernel tree>");
	else
		explain_branch_records(kind);
}

static void check_precise(struct kind *kind)
{
	struct perf_event_attr attr = attr_instructions(&kind->pmu);

	attr.sample_period = 1000000;
	attr.exclude_kernel = 1;
	attr.precise_ip = 2;
	if (!try_event(&attr))
		find(kind, "precise samples", FINDING_OK, "instructions:pp", "");
	else
		find(kind, "precise samples", FINDING_ABSENT,
		     "instructions:pp is not supported: a sample shows the pc of the interrupt, some instructions later",
		     "use events without :p and :pp");
}

/* All harts have separate counters for cycles and instructions. */
static void check_groups(struct kind *kind)
{
	struct perf_event_attr cycles = probe_attr(kind, PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr instructions = probe_attr(kind, PERF_COUNT_HW_INSTRUCTIONS);
	int leader = open_event(&cycles, 0, -1, -1);
	int fd = leader < 0 ? leader : open_event(&instructions, 0, -1, leader);

	if (fd >= 0)
		find(kind, "groups", FINDING_OK, "cycles and instructions fit into a group", "");
	else
		find(kind, "groups", FINDING_DEGRADED, strerror(-fd), "see the lines above");
	if (fd >= 0)
		close(fd);
	if (leader >= 0)
		close(leader);
}

static bool can_read_directly(const struct kind *kind)
{
	struct perf_event_attr attr = attr_instructions(&kind->pmu);
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

static void check_user_access(struct kind *kind)
{
	long allowed;

	if (!read_number(SYSCTL "perf_user_access", &allowed))
		find(kind, "user reads", FINDING_DEGRADED, "there is no kernel.perf_user_access",
		     "a kernel with a RISC-V PMU");
	else if (allowed == 2)
		find(kind, "user reads", FINDING_OK,
		     "every process can read cycle and instret (kernel.perf_user_access is 2)", "");
	else if (can_read_directly(kind))
		find(kind, "user reads", FINDING_OK,
		     "a process can read its own events without a system call", "");
	else if (!allowed)
		find(kind, "user reads", FINDING_DEGRADED, "kernel.perf_user_access is 0",
		     "sysctl kernel.perf_user_access=1");
	else if (!kind->ours)
		find(kind, "user reads", FINDING_DEGRADED,
		     "with mainline's driver a read of a counter that the event has just lost kills the program, so the reader uses read()",
		     "riscv-pmu: make graft KDIR=<kernel tree>");
	else
		find(kind, "user reads", FINDING_DEGRADED,
		     "mmap pages of events name no counter: programs fall back to read()",
		     "a backend that writes counters (sbi, ssccfg), and counters with overflow interrupt or 64 bits");
}

static void check_firmware_events(struct kind *kind)
{
	struct pmu pmu;

	if (!*kind->pmu.name)
		return;
	if (find_pmu(&pmu, "sbi_fw"))
		find(kind, "firmware events", FINDING_OK, "sbi_fw", "");
	else if (kind->ours)
		find(kind, "firmware events", FINDING_DEGRADED,
		     "this firmware has no firmware events", "OpenSBI 1.0 or later");
	else
		find(kind, "firmware events", FINDING_DEGRADED,
		     "by number only (cpu/event=0xNN,firmware=2/)", "the riscv-pmu driver");
}

/* --- permissions and limits --- */

static void check_paranoid(struct kind *kind)
{
	char text[TEXT_SIZE];
	long level;

	if (!read_number(PARANOID, &level)) {
		find(kind, "paranoid", FINDING_MISSING, "there is no kernel.perf_event_paranoid",
		     "a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	snprintf(text, sizeof(text), "kernel.perf_event_paranoid is %ld: users can measure %s", level,
		 level < 1 ? "all harts" : level < 2 ? "their own tasks, including the kernel" :
		 level < 3 ? "user mode of their own tasks only" :
		 "nothing (with Debian's patch)");
	/* 2 is the kernel's default: a choice of who runs the machine, not a fault. */
	find(kind, "paranoid", level < 2 ? FINDING_OK : level < 3 ? FINDING_NOTE :
	     FINDING_DEGRADED, text, level < 2 ? "" : level < 3 ?
	     "to include the kernel: sysctl kernel.perf_event_paranoid=1" :
	     "sysctl kernel.perf_event_paranoid=2, or 1 to include the kernel");
}

static void check_lockdown(struct kind *kind)
{
	char text[TEXT_SIZE];

	if (read_line(LOCKDOWN, text) && strstr(text, "[confidentiality]"))
		find(kind, "lockdown", FINDING_DEGRADED,
		     "confidentiality: samples have no registers, and kernel addresses are hidden",
		     "lockdown=integrity on the kernel's command line");
	else
		find(kind, "lockdown", FINDING_OK, "does not restrict perf", "");
}

static void check_rate(struct kind *kind)
{
	char text[TEXT_SIZE];
	long rate;

	if (!read_number(SYSCTL "perf_event_max_sample_rate", &rate))
		return;
	snprintf(text, sizeof(text), "at most %ld samples a second on each hart", rate);
	/* The default frequency of perf is 4000. */
	find(kind, "sample rate", rate < 4000 ? FINDING_DEGRADED : FINDING_OK, text,
	     rate < 4000 ? "sysctl kernel.perf_event_max_sample_rate=100000" : "");
}

/* What needs an event */
static const struct feature {
	const char *name;	/* NULL: without an event there is nothing to say */
	check_fn *check;
} features[] = {
	{ "sampling", check_sampling },
	{ "filters", check_filters },
	{ "branch records", check_branch_records },
	{ "precise samples", check_precise },
	{ "groups", check_groups },
	{ "user reads", check_user_access },
	{ NULL, check_events },
};

static const struct feature *feature;

static void check_feature(struct kind *kind)
{
	if (!kind->refused && !kind->away && *kind->pmu.name)
		feature->check(kind);
	else if (feature->name && kind->refused)
		find(kind, feature->name, FINDING_UNKNOWN, "it cannot be tried without an event",
		     "see counting");
}

static int examine(void)
{
	if (!find_kinds())
		return EXIT_MISSING;
	json_open("findings", '[');
	if (has_kinds())
		check_each(check_kind);
	check_once(check_harts_without);
	check_each(check_extensions);
	check_once(check_firmware);
	check_each(check_driver);
	check_each(check_counting);
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++) {
		feature = &features[i];
		check_each(check_feature);
	}
	check_once(check_firmware_events);
	check_once(check_paranoid);
	check_once(check_lockdown);
	check_once(check_rate);
	json_close(']');
	return end_kinds();
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
