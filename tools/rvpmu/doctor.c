// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu doctor: check what counting, sampling, filters, groups and reads from user
 * space need. It opens events to test features, instead of trusting descriptions.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rvpmu.h"

#define SYSCTL		"/proc/sys/kernel/"
#define PARANOID	SYSCTL "perf_event_paranoid"
#define LOCKDOWN	"/sys/kernel/security/lockdown"

#define CHAINS_CURE	"perf record --call-graph fp or dwarf for call chains"

/* For the probes: a user who may not measure the kernel may still measure user mode. */
static struct perf_event_attr probe_attr(const struct core_type *type, uint64_t config)
{
	struct perf_event_attr attr = make_generic(&type->pmu, PERF_TYPE_HARDWARE, config);

	if (type->user_only)
		exclude_all_but_user(&attr);
	return attr;
}

/* --- features of events --- */

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

static void report_blocked(struct core_type *type)
{
	report(type, "counting", FINDING_UNKNOWN, has_seccomp_filter() ?
	       "a seccomp filter, for instance that of a container, refuses perf_event_open(2)" :
	       "something between rvpmu and the kernel (a container or QEMU user emulation) refuses perf_event_open(2)",
	       "run rvpmu on the host, outside the container or emulator; with podman: --cap-add PERFMON --security-opt seccomp=unconfined");
	/* All is not well if even that is unknown. */
	type->result.status = EXIT_DEGRADED;
}

/* Debian's patch of the kernel refuses everything above 2, even with CAP_PERFMON. */
static const char *cure_refused(void)
{
	long level;

	return read_number(PARANOID, &level) && level > 2 ?
	       "sysctl kernel.perf_event_paranoid=1, or 2 with CAP_PERFMON: above 2, Debian's kernel asks for CAP_SYS_ADMIN" :
	       "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON";
}

static void check_counting(struct core_type *type)
{
	struct perf_event_attr attr = attr_instructions(&type->pmu);
	int err = try_event(&attr);
	bool denied = err == -EACCES;

	if (type->move_error) {
		report(type, "counting", FINDING_UNKNOWN, "rvpmu cannot run on these harts",
		       "bring one of them online, or run rvpmu where it may use one (cpuset)");
		return;
	}
	if (denied) {
		exclude_all_but_user(&attr);
		err = try_event(&attr);
		type->user_only = !err;
	}
	/* Harts without filters refuse user mode alone: EOPNOTSUPP, EINVAL by mainline's driver. */
	type->refused = err == -EACCES || err == -EPERM || err == -ENOSYS;
	type->unfilterable = denied && err && !type->refused;
	type->refused |= type->unfilterable;
	if (type->user_only)
		report(type, "counting", FINDING_OK,
		       "instructions can be counted, by this user in user mode only", "");
	else if (!err)
		report(type, "counting", FINDING_OK, "instructions can be counted", "");
	else if (is_blocked(err))
		report_blocked(type);
	else if (err == -ENOSYS)
		report(type, "counting", FINDING_MISSING, "the kernel has no perf_event_open(2)",
		       "a kernel with CONFIG_PERF_EVENTS; emulators of user mode have none");
	else if (type->unfilterable)
		report(type, "counting", FINDING_MISSING,
		       "this user may count user mode only (kernel.perf_event_paranoid), but these harts cannot count user mode alone: perf prints <not supported>",
		       "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON");
	else if (type->refused)
		report(type, "counting", FINDING_MISSING,
		       "this user has no permission (kernel.perf_event_paranoid)",
		       cure_refused());
	else
		report(type, "counting", FINDING_MISSING, strerror(-err), *type->pmu.name ?
		       "dmesg | grep -i pmu, run as root, may print the reason" : "see driver");
}

/* What find_other() looks for, and the name of the event that it found. */
struct event_search {
	const struct perf_event_attr *attr;
	char name[NAME_SIZE];
};

/*
 * A core without an overflow interrupt is a note. If something disables the interrupt, that has a
 * cure.
 */
static void report_polled(struct core_type *type)
{
	enum finding finding = FINDING_DEGRADED;
	const char *cure = "";
	char why[TEXT_SIZE];

	/* "filters ...; sampling by a timer, up to 4 ms late: <why>" */
	find_in_log(type, "sampling by a timer", why);
	if (type->legacy)
		cure = "see driver";
	else if (strstr(why, "the firmware does not enable"))
		cure = cure_firmware("update the firmware: to OpenSBI for this board, or to the vendor's newest release");
	else if (strstr(why, "cannot enable the interrupt in sie"))
		cure = cure_firmware("firmware that delegates the interrupt, or another QEMU than 10.0.11 to 10.0.13");
	else if (type->overflow && type->lacks_map)
		cure = "see events";
	else if (type->overflow)
		cure = "dmesg | grep riscv_pmu, run as root, prints the reason";
	else
		finding = FINDING_NOTE;
	report(type, "sampling", finding, *why ? why : "sampling by a timer, up to 4 ms late",
	       cure);
}

/* Finds an event other than cycles and instructions that can be opened with these attributes. */
static int find_other(const struct pmu *pmu, const char *name, const struct perf_event_attr *other, void *arg)
{
	struct event_search *search = arg;
	struct perf_event_attr attr = *search->attr;

	if (!strcmp(name, "cpu-cycles") || !strcmp(name, "instructions"))
		return 0;
	attr.type = other->type;
	attr.config = other->config;
	if (try_event(&attr))
		return 0;
	snprintf(search->name, sizeof(search->name), "%s", name);
	return 1;
}

/*
 * The counters that can count cycles raise no interrupt; others could, with a map in the firmware.
 */
static void report_polled_cycles(struct core_type *type)
{
	struct perf_event_attr attr = probe_attr(type, PERF_COUNT_HW_CPU_CYCLES);
	struct event_search search = { .attr = &attr };
	char cure[TEXT_SIZE] = "";

	attr.sample_period = 1000000;
	if (for_each_generic(&type->pmu, find_other, &search))
		snprintf(cure, sizeof(cure), "sample another event: perf record -e %s", search.name);
	report(type, "sampling", type->lacks_map ? FINDING_DEGRADED : FINDING_NOTE,
	       "by overflow interrupt, but cycles by a timer: their samples are up to 4 ms late",
	       type->lacks_map ? "see events" : cure);
}

static const char *cure_sampling(const struct core_type *type)
{
	char text[TEXT_SIZE];

	if (!type->ours)
		return "perf record -e cpu-clock; or use a kernel with the riscv-pmu driver, which samples by a timer";
	if (read_line(PARAMETERS "polled_sampling", text) && (*text == 'N' || *text == '0'))
		return "remove riscv_pmu.polled_sampling=0 from the kernel's command line";
	return "a kernel with CONFIG_RISCV_PMU_POLL";
}

static void check_sampling(struct core_type *type)
{
	struct perf_event_attr attr = probe_attr(type, PERF_COUNT_HW_INSTRUCTIONS);
	int samples, err;

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_IP;
	samples = take_samples(&attr);
	err = samples < 0 ? samples : 0;
	if (!samples) {
		report(type, "sampling", FINDING_MISSING,
		       "the kernel accepts the event, but no sample arrived within a second",
		       "use perf record -e cpu-clock, and report this bug with the output of dmesg | grep -i pmu");
	} else if (!strcmp(type->sampling, "polled") && !err) {
		report_polled(type);
	} else if (!err && !strcmp(type->cycles_sampling, "polled")) {
		report_polled_cycles(type);
	} else if (!err && !strcmp(type->cycles_sampling, "split")) {
		report(type, "sampling", FINDING_OK,
		       "by overflow interrupt; cycles by two raw events, one in user mode and one in the kernel",
		       "");
	} else if (!err) {
		bool nmi = !strcmp(type->sampling, "nmi");

		report(type, "sampling", FINDING_OK,
		       nmi ? "by NMI: code with interrupts off is sampled, too" :
			     "by overflow interrupt: samples of code that runs with interrupts off show the place that enables them",
		       "");
	} else {
		report(type, "sampling", FINDING_MISSING, strerror(-err), cure_sampling(type));
	}
}

/* No counter has filters, and exclude_kernel is ignored. */
static bool is_unfiltered(const struct core_type *type)
{
	char filters[TEXT_SIZE], unfiltered[TEXT_SIZE];

	return pmu_read(&type->pmu, "caps/filters", filters) && !strcmp(filters, "none") &&
	       pmu_read(&type->pmu, "caps/unfiltered", unfiltered) && !strcmp(unfiltered, "1");
}

/* Counters that cannot count instructions may have filters. */
static void report_no_filters(struct core_type *type)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .exclude_kernel = 1 };
	struct event_search search = { .attr = &attr };
	char cure[TEXT_SIZE];

	if (for_each_generic(&type->pmu, find_other, &search)) {
		snprintf(cure, sizeof(cure), "other events can be counted in user mode: perf stat -e %s:u", search.name);
		report(type, "filters", FINDING_ABSENT,
		       "instructions:u cannot be counted: the counters that can count instructions have no filters (that needs Smcntrpmf)",
		       cure);
		return;
	}
	report(type, "filters", FINDING_ABSENT,
	       "instructions:u cannot be counted: user and kernel mode are counted together", type->ours ?
	       "count without :u, as root or with sysctl kernel.perf_event_paranoid=1; riscv_pmu.unfiltered=1 for programs that always exclude the kernel" :
	       "count without :u, as root or with sysctl kernel.perf_event_paranoid=1");
}

static void check_filters(struct core_type *type)
{
	struct perf_event_attr attr = attr_instructions(&type->pmu);
	int err;

	attr.exclude_kernel = 1;
	err = try_event(&attr);
	type->unfilterable |= err;
	if (is_unfiltered(type))
		report(type, "filters", FINDING_DEGRADED,
		       "instructions:u counts the kernel, too (riscv_pmu.unfiltered=1)",
		       "to have such events refused, boot without riscv_pmu.unfiltered=1");
	else if (!err)
		report(type, "filters", FINDING_OK, "instructions:u counts user mode only", "");
	else if (type->legacy)
		report(type, "filters", FINDING_DEGRADED,
		       "instructions:u cannot be counted: user and kernel mode are counted together",
		       "see driver");
	else if (type->overflow && type->lacks_map)
		report(type, "filters", FINDING_DEGRADED,
		       "instructions:u cannot be counted: the firmware allows instructions only on a counter that cannot exclude the kernel",
		       "see events");
	else
		report_no_filters(type);
}

/* Records of user mode only, which need no permission to measure the kernel. */
static int try_branch_records(const struct core_type *type, uint64_t filter)
{
	struct perf_event_attr attr = attr_instructions(&type->pmu);

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | filter;
	attr.exclude_kernel = 1;
	return try_event(&attr);
}

static void describe_branch_records(struct core_type *type)
{
	int err = try_branch_records(type, PERF_SAMPLE_BRANCH_ANY);
	bool stacks = !err && !try_branch_records(type, PERF_SAMPLE_BRANCH_CALL_STACK);
	char text[TEXT_SIZE];

	if (err) {
		snprintf(text, sizeof(text), "%ld per hart, but no event can record them: %s",
			 type->pmu.branches, strerror(-err));
		report(type, "branch records", FINDING_DEGRADED, text, "see sampling");
		return;
	}
	snprintf(text, sizeof(text), "%ld per hart, %s", type->pmu.branches, stacks ?
		 "with call stacks: perf record -b, --call-graph lbr" :
		 "without call stacks: perf record -b");
	report(type, "branch records", FINDING_OK, text, "");
}

/* Why the driver does not use the Ssctr that the firmware lists. */
static void explain_branch_records(struct core_type *type)
{
	char text[TEXT_SIZE];
	long depth;

	if (read_number(PARAMETERS "branches", &depth) && !depth)
		report(type, "branch records", FINDING_DEGRADED,
		       "switched off by riscv_pmu.branches=0",
		       "remove riscv_pmu.branches=0 from the kernel's command line");
	else if (!is_listed(type->harts, "sscsrind"))
		report(type, "branch records", FINDING_DEGRADED,
		       "the firmware lists Ssctr, but not Sscsrind, which reads the records",
		       cure_unlisted("", "Sscsrind"));
	/* The driver may log it before it knows whether there are several types of cores. */
	else if (!*find_in_log(type, "no branch records", text) &&
		 !*find_in_log(NULL, "no branch records", text))
		report(type, "branch records", FINDING_DEGRADED,
		       "the harts have Ssctr, but the driver does not use it",
		       "dmesg | grep riscv_pmu, run as root, prints the reason");
	else
		/* "no branch records: <why>" */
		report(type, "branch records", FINDING_DEGRADED, text,
		       strstr(text, "firmware") && !is_kvm_guest() ?
		       "update the firmware to OpenSBI 1.7 or later" : CHAINS_CURE);
}

/* perf record -b and :pp fail on most harts, and perf does not print the reason. */
static void check_branch_records(struct core_type *type)
{
	if (type->pmu.branches)
		describe_branch_records(type);
	else if (!sees_firmware())
		report(type, "branch records", FINDING_UNKNOWN,
		       "the driver has none; whether the harts have Ssctr is in /sys/firmware, which is not readable here, as in a container",
		       cure_firmware(CHAINS_CURE));
	else if (!is_listed(type->harts, "ssctr"))
		report(type, "branch records", FINDING_ABSENT, has_acpi() ?
		       "no Ssctr in ACPI's table RHCT, which only root may read (run rvpmu doctor as root to be sure): no perf record -b, no --call-graph lbr" :
		       "no Ssctr in the devicetree (riscv,isa-extensions): no perf record -b, no --call-graph lbr",
		       /* KVM gives no guest branch records. */
		       is_kvm_guest() ? CHAINS_CURE : cure_unlisted(CHAINS_CURE "; ", "Ssctr"));
	else if (!type->ours)
		report(type, "branch records", FINDING_DEGRADED,
		       "the harts have Ssctr, but mainline's driver does not use it",
		       GRAFT_CURE);
	else
		explain_branch_records(type);
}

static void check_precise(struct core_type *type)
{
	struct perf_event_attr attr = attr_instructions(&type->pmu);

	attr.sample_period = 1000000;
	attr.exclude_kernel = 1;
	attr.precise_ip = 2;
	if (!try_event(&attr))
		report(type, "precise samples", FINDING_OK, "instructions:pp", "");
	else
		report(type, "precise samples", FINDING_ABSENT,
		       "instructions:pp is not supported: a sample shows the pc of the interrupt, some instructions later",
		       "use events without :p and :pp");
}

/* All harts have separate counters for cycles and instructions. */
static void check_groups(struct core_type *type)
{
	struct perf_event_attr cycles = probe_attr(type, PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr instructions = probe_attr(type, PERF_COUNT_HW_INSTRUCTIONS);
	int leader = open_event(&cycles, 0, -1, -1);
	int fd = leader < 0 ? leader : open_event(&instructions, 0, -1, leader);

	if (fd >= 0)
		report(type, "groups", FINDING_OK, "cycles and instructions fit into a group", "");
	else
		report(type, "groups", FINDING_DEGRADED, strerror(-fd),
		       "dmesg | grep -i pmu, run as root, may print the reason");
	if (fd >= 0)
		close(fd);
	if (leader >= 0)
		close(leader);
}

static bool can_read_directly(const struct core_type *type)
{
	struct perf_event_attr attr = attr_instructions(&type->pmu);
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

static void check_user_access(struct core_type *type)
{
	char text[TEXT_SIZE];
	long allowed, width;

	if (!read_number(SYSCTL "perf_user_access", &allowed))
		report(type, "user reads", FINDING_DEGRADED, "there is no kernel.perf_user_access",
		       type->ours ? "a kernel with CONFIG_RISCV_PMU_USER_ACCESS" :
				    "a kernel with a RISC-V PMU");
	else if (allowed == 2)
		report(type, "user reads", FINDING_OK,
		       "every process can read cycle and instret (kernel.perf_user_access is 2)", "");
	else if (can_read_directly(type))
		report(type, "user reads", FINDING_OK,
		       "a process can read its own events without a system call", "");
	else if (!allowed)
		report(type, "user reads", FINDING_DEGRADED, "kernel.perf_user_access is 0",
		       "sysctl kernel.perf_user_access=1");
	else if (!type->ours)
		report(type, "user reads", FINDING_DEGRADED,
		       "with mainline's driver, a program is killed if it reads a counter that its event has just lost, so riscv_pmu_read.h uses read()",
		       GRAFT_CURE);
	else if (type->legacy)
		report(type, "user reads", FINDING_DEGRADED,
		       "the counter index in the mmap pages of events is 0: programs fall back to read()", "see driver");
	else if (read_pmu_number(&type->pmu, "caps/counter_width", &width) && width < 64 &&
		 !strcmp(type->sampling, "polled")) {
		snprintf(text, sizeof(text),
			 "counters of %ld bits without an overflow interrupt: programs fall back to read()",
			 width);
		report(type, "user reads", FINDING_ABSENT, text, "");
	} else if (is_crowded_out(&type->pmu)) {
		report(type, "user reads", FINDING_NOTE,
		       "another program counts instructions of whole harts and leaves no counter for instructions:u: perf prints <not counted>",
		       "count instructions, or end that program (perf stat -a, prometheus-node-exporter)");
	} else {
		report(type, "user reads", FINDING_DEGRADED,
		       "the counter index in the mmap pages of events is 0: programs fall back to read()",
		       "an event that samples may hold the counter: end perf record for this process; dmesg | grep riscv_pmu, run as root, may print another reason");
	}
}

/* --- permissions and limits --- */

/*
 * Whether a user without capabilities may open nothing: above 2, that is so with Debian's patch only.
 * True also if capabilities cannot be given up.
 */
static bool refuses_plain_users(const struct core_type *type)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct all[_LINUX_CAPABILITY_U32S_3], none[_LINUX_CAPABILITY_U32S_3];
	struct perf_event_attr attr = attr_instructions(&type->pmu);
	int err;

	if (syscall(SYS_capget, &header, all))
		return true;
	memcpy(none, all, sizeof(none));
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		none[i].effective = 0;
	if (syscall(SYS_capset, &header, none))
		return true;
	exclude_all_but_user(&attr);
	err = try_event(&attr);
	syscall(SYS_capset, &header, all);
	return err == -EACCES || err == -EPERM || err == -ENOSYS;
}

static bool is_unfilterable(const struct core_type *type)
{
	return type->unfilterable;
}

static void check_paranoid(struct core_type *type)
{
	char text[TEXT_SIZE];
	bool nothing;
	long level;

	if (!read_number(PARANOID, &level)) {
		report(type, "paranoid", FINDING_MISSING, "there is no kernel.perf_event_paranoid",
		       "a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	nothing = level > 2 && refuses_plain_users(type);
	snprintf(text, sizeof(text), "kernel.perf_event_paranoid is %ld: users can measure %s", level,
		 level < 1 ? "all harts" : level < 2 ? "their own tasks, including the kernel" :
		 nothing ? "nothing (with Debian's patch)" : any_type(is_unfilterable) ?
		 "user mode of their own tasks only, and instructions cannot be counted in user mode alone" :
		 "user mode of their own tasks only");
	/* 2 is the kernel's default: a choice of who runs the machine, not a fault. */
	report(type, "paranoid", level < 2 ? FINDING_OK : nothing ? FINDING_DEGRADED :
	       FINDING_NOTE, text, level < 2 ? "" : nothing ?
	       "sysctl kernel.perf_event_paranoid=2, or 1 to include the kernel" :
	       "to include the kernel: sysctl kernel.perf_event_paranoid=1");
}

static void check_lockdown(struct core_type *type)
{
	char text[TEXT_SIZE];

	if (read_line(LOCKDOWN, text) && strstr(text, "[confidentiality]"))
		report(type, "lockdown", FINDING_DEGRADED,
		       "confidentiality: samples have no registers, and kernel addresses are hidden",
		       "lockdown=integrity on the kernel's command line");
	else
		report(type, "lockdown", FINDING_OK, "does not restrict perf", "");
}

static void check_rate(struct core_type *type)
{
	char text[TEXT_SIZE];
	long rate;

	if (!read_number(SYSCTL "perf_event_max_sample_rate", &rate))
		return;
	snprintf(text, sizeof(text), "at most %ld samples a second on each hart", rate);
	/* The default frequency of perf is 4000. */
	report(type, "sample rate", rate < 4000 ? FINDING_DEGRADED : FINDING_OK, text,
	       rate < 4000 ? "sysctl kernel.perf_event_max_sample_rate=100000" : "");
}

/* What needs an event */
static const struct feature {
	const char *name;
	check_fn *check;
} features[] = {
	{ "events", check_events },
	{ "sampling", check_sampling },
	{ "filters", check_filters },
	{ "branch records", check_branch_records },
	{ "precise samples", check_precise },
	{ "groups", check_groups },
	{ "user reads", check_user_access },
};

static const struct feature *feature;

static void check_feature(struct core_type *type)
{
	if (!type->refused && !type->move_error && *type->pmu.name)
		feature->check(type);
	else if (type->refused)
		report(type, feature->name, FINDING_UNKNOWN, "it cannot be tried without an event",
		       "see counting");
}

static int examine(void)
{
	if (!find_types())
		return EXIT_MISSING;
	prometheus_begin();
	json_open("findings", '[');
	if (has_several_types())
		check_each(check_type);
	check_once(check_harts_without_pmu);
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
	return end_types();
}

/* --- the command line --- */

static bool dts;
static const char *core;

const struct option doctor_options[] = {
	{ "dts", no_argument, NULL, 'd' },
	{ "core", required_argument, NULL, 'c' },
	{ "prometheus", no_argument, NULL, 'm' },
	COMMON_OPTIONS
};

void doctor_set(int option, const char *value)
{
	if (option == 'd')
		dts = true;
	else if (option == 'm')
		prometheus = true;
	else
		core = value;
}

bool doctor_knows_core(void)
{
	return dts && core;
}

int cmd_doctor(int argc, char **argv)
{
	if (prometheus && (json || dts)) {
		report_error("--prometheus prints metrics: use it without --json and --dts");
		return EXIT_USAGE;
	}
	if (dts)
		return print_dts(core);
	if (!core)
		return examine();
	report_error("--core names the core of a devicetree node: use rvpmu doctor --dts --core NAME");
	return EXIT_USAGE;
}
