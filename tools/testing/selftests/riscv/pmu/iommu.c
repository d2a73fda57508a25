// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the PMU of a RISC-V IOMMU, riscv_iommu_pmu_0, which counts the requests of a disk
 * behind that IOMMU. The tests only read from the disk; its contents do not matter.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/iommu.h"

#define DRIVER		"/sys/bus/auxiliary/drivers/riscv_iommu_pmu.riscv-iommu-pmu/"
#define MODULE		"riscv_iommu_pmu"
#define PARAMETERS	"/sys/module/" MODULE "/parameters/"
#define LARGE		16
#define READS		100

/*
 * If a virtio device uses the DMA API, Linux maps the descriptor table, the header and the status
 * byte of each request, and each page of its data. Each mapping has a new address, which causes
 * one miss.
 */
#define MISSES(pages)	((pages) + 3)
/* Page-table levels of Sv57, which QEMU's IOMMU supports and Linux selects. */
#define LEVELS		5

/*
 * Without -icount the device runs in its own thread and may poll an empty queue, so the number of
 * its requests varies.
 */
#define NEEDS_ICOUNT()									\
do {											\
	if (!pmu_is_icount())								\
		SKIP(return, "the number of requests is exact only under -icount");	\
} while (0)

FIXTURE(iommu) {
	int disk;
	void *data;
};

FIXTURE_SETUP(iommu)
{
	self->disk = -1;
	self->data = NULL;
	if (access(PMU "type", R_OK))
		SKIP(return, "no riscv_iommu_pmu_0: no IOMMU that has a PMU, or no module " MODULE);
	self->disk = open(DISK, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (self->disk < 0)
		SKIP(return, "no disk: " DISK " cannot be read");
	ASSERT_EQ(0, posix_memalign(&self->data, PAGE, LARGE * PAGE));
	ASSERT_EQ(0, disk_warm_up(self->disk, self->data));
}

FIXTURE_TEARDOWN(iommu)
{
	free(self->data);
	if (self->disk >= 0)
		close(self->disk);
}

#define COUNT(config, pages, times)	count_reads(self->disk, self->data, config, pages, times)

/* --- counting --- */

/* Each additional page of a read causes at least one additional request. */
TEST_F(iommu, each_page_read_causes_a_request)
{
	int64_t small = COUNT(EVENT_REQUESTS, 1, READS);
	int64_t large = COUNT(EVENT_REQUESTS, LARGE, READS);

	EXPECT_LE(READS * MISSES(1), small);
	EXPECT_LE(small + READS * (LARGE - 1), large);
	EXPECT_EQ(0, COUNT(EVENT_REQUESTS, 1, 0));
}

TEST_F(iommu, each_new_address_causes_one_miss)
{
	NEEDS_ICOUNT();
	if (!disk_is_translated())
		SKIP(return, "the IOMMU does not translate the disk's addresses");

	EXPECT_EQ(READS * MISSES(1), COUNT(EVENT_MISSES, 1, READS));
	EXPECT_EQ(READS * MISSES(LARGE), COUNT(EVENT_MISSES, LARGE, READS));
}

TEST_F(iommu, each_miss_walks_all_levels)
{
	NEEDS_ICOUNT();
	if (!disk_is_translated())
		SKIP(return, "the IOMMU does not translate the disk's addresses");

	EXPECT_EQ(READS * MISSES(1) * LEVELS, COUNT(EVENT_WALKS, 1, READS));
	EXPECT_EQ(READS * MISSES(LARGE) * LEVELS, COUNT(EVENT_WALKS, LARGE, READS));
}

/*
 * QEMU's IOMMU runs at 1 GHz of the guest's time, so the count of cycles is a time in ns. The test
 * measures the time twice, inside and outside the system calls that enable and disable the event:
 * the count must lie between the two.
 */
TEST_F(iommu, cycles_match_the_elapsed_time)
{
	struct timespec before, begin, end, after;
	int64_t inner, outer, count;
	int fd = hpm_open(EVENT_CYCLES);

	if (!pmu_is_qemu())
		SKIP(return, "the frequency of the IOMMU is not known");
	ASSERT_LE(0, fd);
	clock_gettime(CLOCK_MONOTONIC, &before);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	clock_gettime(CLOCK_MONOTONIC, &begin);
	usleep(100000);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	clock_gettime(CLOCK_MONOTONIC, &after);
	inner = (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec;
	outer = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec;
	count = pmu_read(fd);
	/*
	 * The clock that Linux reads runs at 10 MHz here, and Linux adjusts its rate: allow one
	 * period of the clock, 100 ns, at each end.
	 */
	EXPECT_LE(inner - 200, count);
	EXPECT_GE(outer + 200, count);
	close(fd);
}

TEST_F(iommu, group_members_count_the_same_requests)
{
	int leader = hpm_open(EVENT_REQUESTS), cycles = -1, fd[3];
	struct perf_event_attr attr = hpm_attr(EVENT_REQUESTS);

	ASSERT_LE(0, leader);
	attr.disabled = 0;
	for (int i = 0; i < 3; i++) {
		fd[i] = hpm_open_attr(&attr, leader);
		ASSERT_LE(0, fd[i]);
	}
	attr.config = EVENT_CYCLES;
	cycles = hpm_open_attr(&attr, leader);
	ASSERT_LE(0, cycles);
	ASSERT_EQ(0, ioctl(leader, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, disk_read(self->disk, self->data, 1, READS));
	ASSERT_EQ(0, ioctl(leader, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_LE(READS * MISSES(1), pmu_read(leader));
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(pmu_read(leader), pmu_read(fd[i]));
		close(fd[i]);
	}
	EXPECT_LT(0, pmu_read(cycles));
	close(cycles);
	close(leader);
}

/* Opens more events than the PMU has counters; perf must multiplex them, so that each one runs. */
TEST_F_TIMEOUT(iommu, more_events_than_counters_are_multiplexed, 60)
{
	int nr = pmu_read_number(PMU "caps/counters") + 9;
	struct perf_event_attr attr = hpm_attr(EVENT_REQUESTS);
	struct { uint64_t value, enabled, running; } times;
	int fd[64];

	ASSERT_GE(64, nr);
	attr.disabled = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (int i = 0; i < nr; i++) {
		fd[i] = hpm_open_attr(&attr, -1);
		ASSERT_LE(0, fd[i]);
	}
	for (int i = 0; i < 20; i++) {
		usleep(20000);
		ASSERT_EQ(0, disk_read(self->disk, self->data, 1, 10));
	}
	for (int i = 0; i < nr; i++) {
		ASSERT_EQ((ssize_t)sizeof(times), read(fd[i], &times, sizeof(times)));
		EXPECT_LT(0, times.running);
		EXPECT_LE(times.running, times.enabled);
		close(fd[i]);
	}
}

/* --- filters --- */

#define FILTERS	4

/*
 * Counts the same requests with one event for each filter, in one group: the device may poll its
 * queue a different number of times in each run, so separate runs cannot be compared. Returns
 * 0, or an error.
 */
static int count_filters(int disk, void *data, uint64_t id, const uint64_t *filter,
			 int64_t *count)
{
	struct perf_event_attr attr = hpm_attr(id);
	int fd[FILTERS], err = 0;

	for (int i = 0; i < FILTERS; i++) {
		attr.disabled = !i;
		attr.config = id | filter[i];
		fd[i] = hpm_open_attr(&attr, i ? fd[0] : -1);
		if (fd[i] < 0)
			err = fd[i];
	}
	if (!err)
		err = ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0) ?: disk_read(disk, data, 1, READS) ?:
		      ioctl(fd[0], PERF_EVENT_IOC_DISABLE, 0);
	for (int i = 0; i < FILTERS; i++) {
		count[i] = pmu_read(fd[i]);
		close(fd[i]);
	}
	return err;
}

#define EXPECT_FILTERED(id, first, second, third)					\
do {											\
	const uint64_t filter[FILTERS] = { 0, first, second, third };			\
	int64_t count[FILTERS];								\
											\
	ASSERT_EQ(0, count_filters(self->disk, self->data, id, filter, count));		\
	EXPECT_LE(READS * MISSES(1), count[0]);						\
	EXPECT_EQ(count[0], count[1]);							\
	EXPECT_EQ(0, count[2]);								\
	EXPECT_EQ(0, count[3]);								\
} while (0)

TEST_F(iommu, events_can_be_filtered_by_device_id)
{
	uint64_t did = disk_did();

	ASSERT_GE(0xffff, did);
	EXPECT_FILTERED(EVENT_REQUESTS, DID(did), DID(did ^ 1), DID(did ^ 0x100));
}

/* With dmask, the lowest 0 bit of the device ID and all bits below it are ignored. */
TEST_F(iommu, events_can_be_filtered_by_upper_bits_of_device_id)
{
	uint64_t did = (disk_did() & ~7) | 3;

	EXPECT_FILTERED(EVENT_REQUESTS, DMASK | DID(did), DMASK | DID(did ^ 8),
			DMASK | DID(did ^ 0x100));
}

/* The disk is not assigned to a virtual machine, so its guest number is 0. */
TEST_F(iommu, events_can_be_filtered_by_guest_number)
{
	if (!disk_is_translated())
		SKIP(return, "the IOMMU does not translate the disk's addresses");

	EXPECT_FILTERED(EVENT_MISSES, IDT | DID(0), IDT | DID(1), IDT | DID(0xffff));
}

/* --- overflows --- */

/* Returns the number of interrupts of the PMU and of devices that share its interrupt line. */
static long hpm_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[PMU_TEXT];
	long sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':'), *end;

		if (!at || !strstr(line, "riscv_iommu.hpm."))
			continue;
		for (long nr; nr = strtol(++at, &end, 10), end != at; at = end)
			sum += nr;
	}
	if (file)
		fclose(file);
	return sum;
}

/* With the module parameter width=8, each counter overflows after 128 events. */
TEST_F(iommu, overflows_do_not_change_the_count)
{
	long width = pmu_read_number(PARAMETERS "width");
	char text[PMU_TEXT];

	NEEDS_ICOUNT();
	if (width <= 0 || width > 12)
		SKIP(return, MODULE " was not loaded with width=8");

	/*
	 * There are 31 overflows or more with width=8. The number of misses is known only if the
	 * disk's addresses are translated.
	 */
	if (disk_is_translated()) {
		EXPECT_EQ(1000 * MISSES(1), COUNT(EVENT_MISSES, 1, 1000));
	} else {
		EXPECT_LE(1000 * MISSES(1), COUNT(EVENT_MISSES, 1, 1000));
	}
	/*
	 * QEMU 10.0.2 raises only one interrupt after its reset; after that, the driver polls the
	 * counters by a timer.
	 */
	if (pmu_read_line(PARAMETERS "polled", text) && *text == 'N')
		EXPECT_LE(1, hpm_interrupts());
}

/* --- refused events --- */

TEST_F(iommu, undefined_config_bits_get_einval)
{
	struct perf_event_attr attr = hpm_attr(EVENT_REQUESTS);

	ASSERT_EQ(0, hpm_try(&attr));
	EXPECT_EQ(-EINVAL, hpm_try_config(EVENT_REQUESTS | 1ULL << 63));
	for (int bit = 0; bit < 64; bit++) {
		attr.config1 = 1ULL << bit;
		EXPECT_EQ(-EINVAL, hpm_try(&attr));
		attr.config1 = 0;
		attr.config2 = 1ULL << bit;
		EXPECT_EQ(-EINVAL, hpm_try(&attr));
		attr.config2 = 0;
		attr.config3 = 1ULL << bit;
		EXPECT_EQ(-EINVAL, hpm_try(&attr));
		attr.config3 = 0;
	}
}

TEST_F(iommu, cycles_with_a_filter_get_einval)
{
	EXPECT_EQ(0, hpm_try_config(EVENT_CYCLES));
	EXPECT_EQ(-EINVAL, hpm_try_config(EVENT_CYCLES | DID(1)));
	EXPECT_EQ(-EINVAL, hpm_try_config(EVENT_CYCLES | DMASK));
	EXPECT_EQ(-EINVAL, hpm_try_config(EVENT_CYCLES | PID(1)));
	EXPECT_EQ(-EINVAL, hpm_try_config(EVENT_CYCLES | IDT));
}

/*
 * Events of translations can be filtered by address space (IDT); requests and directory walks can
 * be filtered by device only.
 */
TEST_F(iommu, some_events_can_be_filtered_by_device_only)
{
	for (uint64_t id = 1; id <= 8; id++)
		EXPECT_EQ(id == EVENT_MISSES || id >= EVENT_WALKS ? 0 : -EINVAL,
			  hpm_try_config(id | IDT));
	/* Linux does not know which filters a vendor's event has, so it accepts all of them. */
	EXPECT_EQ(0, hpm_try_config(0x4000 | IDT));
}

TEST_F(iommu, task_events_and_mode_filters_are_refused)
{
	struct perf_event_attr attr = hpm_attr(EVENT_REQUESTS);

	EXPECT_EQ(-EOPNOTSUPP, pmu_open_on(&attr, 0, -1, -1));
	EXPECT_EQ(-EOPNOTSUPP, pmu_open_on(&attr, 0, hpm_cpu(), -1));
	attr.exclude_kernel = 1;
	EXPECT_EQ(-EINVAL, hpm_try(&attr));
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	EXPECT_EQ(-EINVAL, hpm_try(&attr));
}

TEST_F(iommu, a_group_with_too_many_events_gets_einval)
{
	struct perf_event_attr cycles = hpm_attr(EVENT_CYCLES), other = hpm_attr(EVENT_REQUESTS);
	int nr = pmu_read_number(PMU "caps/counters");
	int leader = hpm_open(EVENT_CYCLES), fd[64];

	ASSERT_LE(0, leader);
	ASSERT_GE(64, nr);
	EXPECT_EQ(-EINVAL, hpm_open_attr(&cycles, leader));
	for (int i = 0; i < nr; i++) {
		fd[i] = hpm_open_attr(&other, leader);
		EXPECT_LE(0, fd[i]);
	}
	EXPECT_EQ(-EINVAL, hpm_open_attr(&other, leader));
	for (int i = 0; i < nr; i++)
		close(fd[i]);
	close(leader);
}

/* Two hardware PMUs cannot start at the same time; software events can be in any group. */
TEST_F(iommu, a_group_has_one_hardware_pmu_and_software_events)
{
	struct perf_event_attr core = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr clock = pmu_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	struct perf_event_attr attr = hpm_attr(EVENT_REQUESTS);
	int leader = hpm_open(EVENT_REQUESTS), fd;

	ASSERT_LE(0, leader);
	EXPECT_EQ(-EINVAL, hpm_open_attr(&core, leader));
	fd = hpm_open_attr(&clock, leader);
	EXPECT_LE(0, fd);
	close(fd);
	close(leader);

	leader = hpm_open_attr(&core, -1);
	ASSERT_LE(0, leader);
	EXPECT_EQ(-EINVAL, hpm_open_attr(&attr, leader));
	close(leader);
}

TEST_F(iommu, an_unprivileged_user_gets_eacces)
{
	int status = -1;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
			_exit(2);
		_exit(hpm_try_config(EVENT_REQUESTS) == -EACCES ? 0 : 1);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

/* caps/device_id has "iommu.stat" but not "iommu.record": the PMU can count but not sample. */
TEST_F(iommu, device_id_caps_match_perf_event_open)
{
	struct perf_event_attr attr = hpm_attr(EVENT_REQUESTS);
	char text[PMU_TEXT];

	ASSERT_TRUE(pmu_read_line(PMU "caps/device_id", text));
	EXPECT_EQ(0, strcmp(text, "iommu.stat=riscv_iommu_pmu_0"));
	EXPECT_EQ(0, hpm_try(&attr));
	attr.sample_period = 1000;
	EXPECT_EQ(-EOPNOTSUPP, hpm_try(&attr));
}

/* --- names --- */

/* The current and the former names of events and format fields */
static const struct {
	const char *name, *former, *text;
} names[] = {
	{ "events/cycle", "events/cycles", "event=0x0" },
	{ "events/untranslated_req", "events/untranslated-requests", "event=0x1" },
	{ "events/translated_req", "events/translated-requests", "event=0x2" },
	{ "events/ats_trans_req", "events/ats-requests", "event=0x3" },
	{ "events/tlb_miss", "events/tlb-misses", "event=0x4" },
	{ "events/ddt_walks", "events/device-directory-walks", "event=0x5" },
	{ "events/pdt_walks", "events/process-directory-walks", "event=0x6" },
	{ "events/s_vs_pt_walks", "events/first-stage-walks", "event=0x7" },
	{ "events/g_pt_walks", "events/second-stage-walks", "event=0x8" },
	{ "format/event", "format/event", "config:0-14" },
	{ "format/partial_matching", "format/dmask", "config:15" },
	{ "format/pid_pscid", "format/pid_pscid", "config:16-35" },
	{ "format/did_gscid", "format/did_gscid", "config:36-59" },
	{ "format/filter_pid_pscid", "format/pv_pscv", "config:60" },
	{ "format/filter_did_gscid", "format/dv_gscv", "config:61" },
	{ "format/filter_id_type", "format/idt", "config:62" },
};

TEST_F(iommu, events_and_fields_have_a_current_and_a_former_name)
{
	char path[PATH_MAX], text[PMU_TEXT];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), PMU "%s", names[i].name);
		ASSERT_TRUE(pmu_read_line(path, text));
		EXPECT_STREQ(names[i].text, text);
		snprintf(path, sizeof(path), PMU "%s", names[i].former);
		ASSERT_TRUE(pmu_read_line(path, text));
		EXPECT_STREQ(names[i].text, text);
	}
	ASSERT_TRUE(pmu_read_line(PMU "alias", text));
	EXPECT_STREQ("riscv_iommu_0", text);
}

/* --- CPU hotplug, driver and module --- */

static bool cpu_is_set(int cpu, bool online)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return pmu_write_number(path, online);
}

TEST_F(iommu, events_move_when_their_cpu_goes_offline)
{
	int cpu = hpm_cpu(), fd = hpm_open(EVENT_MISSES);

	NEEDS_ICOUNT();
	if (!disk_is_translated())
		SKIP(return, "the IOMMU does not translate the disk's addresses");
	ASSERT_LE(0, fd);
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs a second CPU to move the events to");

	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, disk_read(self->disk, self->data, 1, READS));
	for (int turn = 1; turn <= 10; turn++) {
		cpu = hpm_cpu();
		ASSERT_TRUE(cpu_is_set(cpu, false));
		EXPECT_NE(cpu, hpm_cpu());
		ASSERT_EQ(0, disk_read(self->disk, self->data, 1, READS));
		EXPECT_EQ(READS * MISSES(1) * (turn + 1), pmu_read(fd));
		ASSERT_TRUE(cpu_is_set(cpu, true));
	}
	close(fd);
}

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return done;
}

/* Returns the name on the auxiliary bus of the device for the PMU of the first IOMMU. */
static const char *hpm_device(char path[PATH_MAX])
{
	return realpath(PMU "..", path) ? strrchr(path, '/') + 1 : "";
}

/*
 * The identifier has the vendor and device ID if the IOMMU is a PCI function, and otherwise the
 * first string of "compatible".
 */
TEST_F(iommu, the_identifier_has_version_and_vendor)
{
	char want[PMU_TEXT * 2 + 8], vendor[PMU_TEXT], device[PMU_TEXT], text[PMU_TEXT];

	if (pmu_read_line(PMU "../../vendor", vendor) && pmu_read_line(PMU "../../device", device))
		snprintf(want, sizeof(want), "1.0:%s:%s", vendor + 2, device + 2);
	else if (pmu_read_line(PMU "../../of_node/compatible", vendor))
		snprintf(want, sizeof(want), "1.0:%s", vendor);
	else
		SKIP(return, "the IOMMU is neither a PCI function nor a devicetree node");
	ASSERT_TRUE(pmu_read_line(PMU "identifier", text));
	EXPECT_STREQ(want, text);
}

TEST_F(iommu, unbinding_the_driver_stops_the_events)
{
	char path[PATH_MAX];
	const char *device = hpm_device(path);
	int fd = hpm_open(EVENT_REQUESTS);
	int64_t count;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, disk_read(self->disk, self->data, 1, READS));
	count = pmu_read(fd);
	EXPECT_LE(READS * MISSES(1), count);
	ASSERT_STRNE("", device);
	ASSERT_TRUE(write_text(DRIVER "unbind", device));
	EXPECT_NE(0, access(PMU "type", F_OK));
	/* The event keeps its count, and does not count any further. */
	ASSERT_EQ(0, disk_read(self->disk, self->data, 1, READS));
	EXPECT_EQ(count, pmu_read(fd));
	close(fd);
	ASSERT_TRUE(write_text(DRIVER "bind", device));
	EXPECT_EQ(0, access(PMU "type", F_OK));
	EXPECT_LE(READS * MISSES(1), COUNT(EVENT_REQUESTS, 1, READS));
}

TEST_F(iommu, a_module_with_open_events_cannot_be_removed)
{
	int fd = hpm_open(EVENT_REQUESTS);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, syscall(SYS_delete_module, MODULE, O_NONBLOCK));
	EXPECT_EQ(EAGAIN, errno);
	EXPECT_EQ(0, access(PMU "type", F_OK));
	close(fd);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
