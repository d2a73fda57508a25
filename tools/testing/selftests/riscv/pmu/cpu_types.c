// SPDX-License-Identifier: GPL-2.0
/*
 * Harts of several CPU types. Each type has its own PMU: cpu, cpu_type1 ... The events of a PMU
 * count only on the harts in its sysfs file "cpus", and events of two PMUs cannot be in one group.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/user.h"

#define PERIOD		100000
#define MAX_CPU_TYPES	4
#define ILLEGAL		100

/* If there are several PMUs, perf_event_attr::config of a generic event has the PMU's type here. */
#define PMU_TYPE_SHIFT	32

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

struct count {
	int64_t value, enabled, running;
};

static bool type_file(int n, const char *file, char text[PMU_TEXT])
{
	char path[PMU_TEXT];

	if (n)
		snprintf(path, sizeof(path), PMU_SYSFS "_type%d/%s", n, file);
	else
		snprintf(path, sizeof(path), PMU_SYSFS "/%s", file);
	return pmu_read_line(path, text);
}

/* Parses a list of CPUs like "0,2-3". Returns false if @text is not such a list. */
static bool parse_cpus(const char *text, cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	while (*text) {
		char *end;
		long first = strtol(text, &end, 10), last = first;

		if (end == text)
			return false;
		if (*end == '-') {
			text = end + 1;
			last = strtol(text, &end, 10);
		}
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, cpus);
		text = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return false;
	}
	return true;
}

static int first_cpu(const cpu_set_t *cpus)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, cpus))
			return cpu;
	}
	return -1;
}

static int move_to(const cpu_set_t *cpus)
{
	return sched_setaffinity(0, sizeof(*cpus), cpus);
}

FIXTURE(cpu_types) {
	int nr;
	cpu_set_t all;
	cpu_set_t cpus[MAX_CPU_TYPES];
	struct perf_event_attr insns[MAX_CPU_TYPES];
	uint32_t type[MAX_CPU_TYPES];
};

FIXTURE_SETUP(cpu_types)
{
	char text[PMU_TEXT];

	for (; self->nr < MAX_CPU_TYPES && type_file(self->nr, "type", text); self->nr++) {
		int n = self->nr;

		self->type[n] = strtoul(text, NULL, 10);
		ASSERT_TRUE(type_file(n, "cpus", text));
		ASSERT_TRUE(parse_cpus(text, &self->cpus[n]));
		self->insns[n] = pmu_attr_best(PERF_TYPE_HARDWARE,
					       (uint64_t)self->type[n] << PMU_TYPE_SHIFT |
					       PERF_COUNT_HW_INSTRUCTIONS);
		self->insns[n].read_format = TIMES;
	}
	if (self->nr < 2)
		SKIP(return, "all harts have the same CPU type (no cpu_type1)");
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(self->all), &self->all));
}

FIXTURE_TEARDOWN(cpu_types)
{
	if (self->nr >= 2)
		move_to(&self->all);
}

TEST_F(cpu_types, each_hart_has_one_cpu_type)
{
	cpu_set_t seen, both;

	CPU_ZERO(&seen);
	for (int n = 0; n < self->nr; n++) {
		CPU_AND(&both, &seen, &self->cpus[n]);
		EXPECT_EQ(0, CPU_COUNT(&both));
		EXPECT_LT(0, CPU_COUNT(&self->cpus[n]));
		CPU_OR(&seen, &seen, &self->cpus[n]);
	}
	EXPECT_EQ(sysconf(_SC_NPROCESSORS_CONF), CPU_COUNT(&seen));
}

TEST_F(cpu_types, an_event_on_a_hart_of_another_type_gets_enoent)
{
	for (int n = 0; n < self->nr; n++) {
		for (int other = 0; other < self->nr; other++) {
			int fd = pmu_open_on(&self->insns[n], -1, first_cpu(&self->cpus[other]),
					     -1);

			if (n == other) {
				EXPECT_LE(0, fd);
				close(fd);
			} else {
				EXPECT_EQ(-ENOENT, fd);
			}
		}
	}
}

TEST_F(cpu_types, a_group_with_events_of_two_types_gets_einval)
{
	int leader = pmu_open(&self->insns[0]);

	ASSERT_LE(0, leader);
	EXPECT_EQ(-EINVAL, pmu_open_on(&self->insns[1], 0, -1, leader));
	close(leader);
}

/*
 * When a raw event is opened, the backend tries its selector on a counter of a hart of the event's
 * type. So the result must not depend on the hart on which the event is opened.
 */
TEST_F(cpu_types, raw_events_of_each_type_can_be_opened_on_any_hart)
{
	for (int n = 0; n < self->nr; n++) {
		int first = 0;

		for (int from = 0; from < self->nr; from++) {
			struct perf_event_attr attr = self->insns[n];
			int err;

			ASSERT_EQ(0, move_to(&self->cpus[from]));
			attr.type = self->type[n];
			/* Not an event of QEMU, which would go on counting it on that counter. */
			attr.config = PMU_RAW(0x5a002);
			err = pmu_try(&attr);
			if (!from)
				first = err;
			EXPECT_NE(-ENXIO, err);
			EXPECT_EQ(first, err);
			attr.config = PMU_STD(2);
			EXPECT_EQ(0, pmu_try(&attr));
		}
	}
}

/* The task moves to a hart of each type in turn. An event counts only on harts of its own type. */
TEST_F_TIMEOUT(cpu_types, a_moving_task_is_counted_by_the_events_of_its_hart, 60)
{
	struct count count[MAX_CPU_TYPES], before;
	int fd[MAX_CPU_TYPES];

	for (int n = 0; n < self->nr; n++) {
		fd[n] = pmu_open(&self->insns[n]);
		ASSERT_LE(0, fd[n]);
		ASSERT_EQ(0, ioctl(fd[n], PERF_EVENT_IOC_ENABLE, 0));
	}
	for (int turn = 0; turn < 20; turn++) {
		int here = turn % self->nr;

		ASSERT_EQ(0, move_to(&self->cpus[here]));
		for (int n = 0; n < self->nr; n++) {
			ASSERT_EQ((ssize_t)sizeof(before), read(fd[n], &before, sizeof(before)));
			pmu_loop(N);
			ASSERT_EQ((ssize_t)sizeof(before),
				  read(fd[n], &count[n], sizeof(before)));
			if (n == here) {
				EXPECT_LE(pmu_least(N), count[n].value - before.value);
			} else {
				EXPECT_EQ(before.value, count[n].value);
				EXPECT_EQ(before.running, count[n].running);
			}
		}
	}
	for (int n = 0; n < self->nr; n++) {
		EXPECT_LT(0, count[n].running);
		EXPECT_LT(count[n].running, count[n].enabled);
		close(fd[n]);
	}
}

TEST_F_TIMEOUT(cpu_types, each_type_samples_only_on_its_own_harts, 60)
{
	struct pmu_limits limits;

	if (!pmu_can_sample())
		SKIP(return, "the machine does not sample (caps/sampling)");

	pmu_limits_save(&limits);
	for (int n = 0; n < self->nr; n++) {
		struct perf_event_attr attr = self->insns[n];
		struct pmu_ring ring = {};
		int fd;

		attr.sample_period = PERIOD;
		attr.sample_type = PMU_RING_SAMPLE;
		attr.read_format = 0;
		fd = pmu_open(&attr);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, pmu_ring_map(&ring, fd));
		for (int on = 0; on < self->nr; on++) {
			ASSERT_EQ(0, move_to(&self->cpus[on]));
			ring.samples = 0;
			ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 50 * N));
			pmu_ring_drain(&ring, NULL, NULL);
			if (on == n) {
				EXPECT_LT(0, ring.samples);
			} else {
				EXPECT_EQ(0, ring.samples);
			}
		}
		EXPECT_RING_COMPLETE(&ring);
		pmu_ring_unmap(&ring);
		close(fd);
	}
	pmu_limits_restore(&limits);
}

/*
 * The harts have two types of cores, one of them by scripts/guest/boot --cores: the firmware
 * has one map of events for all, so the driver uses the selectors of each core's own table. QEMU
 * has the event of its own table, and none by the other core's selector.
 */
TEST_F(cpu_types, each_type_uses_the_selectors_of_its_core)
{
	static volatile char pages[64 * 4096];
	bool found = false;
	char core[PMU_TEXT];

	for (int n = 0; n < self->nr; n++) {
		bool is_other = type_file(n, "caps/core", core);
		struct perf_event_attr attr = pmu_attr(PERF_TYPE_HW_CACHE,
			(uint64_t)self->type[n] << PMU_TYPE_SHIFT |
			PMU_CACHE(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ,
				  PERF_COUNT_HW_CACHE_RESULT_MISS));
		int fd;

		found |= is_other;
		ASSERT_EQ(0, move_to(&self->cpus[n]));
		fd = pmu_open(&attr);
		if (fd == -ENOENT && !is_other)
			SKIP(return, "the firmware takes no map (MAP_EVENTS)");
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
		for (int i = 0; i < 64; i++)
			(void)pages[i * 4096];
		/* QEMU flushes the TLB when a task is switched in. */
		usleep(1000);
		for (int i = 0; i < 64; i++)
			(void)pages[i * 4096];
		if (is_other) {
			EXPECT_EQ(0, pmu_read(fd));
		} else {
			EXPECT_LT(0, pmu_read(fd));
		}
		close(fd);
	}
	if (!found)
		SKIP(return, "no core with a table of its own (boot --cores)");
}

/* Returns perf_event_attr::type of the firmware events of a CPU type, or 0 if it has none. */
static uint32_t fw_type(int n)
{
	char path[PMU_TEXT], text[PMU_TEXT];

	if (n)
		snprintf(path, sizeof(path), PMU_SYSFS "/../sbi_fw_type%d/type", n);
	else
		snprintf(path, sizeof(path), PMU_SYSFS "/../sbi_fw/type");
	return pmu_read_line(path, text) ? strtoul(text, NULL, 10) : 0;
}

TEST_F(cpu_types, firmware_events_count_tasks_by_type_and_cpus_of_any_type)
{
	struct perf_event_attr attr = pmu_attr(0, PMU_FW_ILLEGAL_INSN);
	int fd;

	if (!fw_type(0))
		SKIP(return, "the firmware has no counters (no sbi_fw)");

	for (int n = 0; n < self->nr; n++) {
		attr.type = fw_type(n);
		ASSERT_NE(0, attr.type);
		fd = pmu_open(&attr);
		ASSERT_LE(0, fd);
		for (int on = 0; on < self->nr; on++) {
			ASSERT_EQ(0, move_to(&self->cpus[on]));
			ioctl(fd, PERF_EVENT_IOC_RESET, 0);
			ASSERT_EQ(0, pmu_run(fd, 0, pmu_illegal_loop, ILLEGAL));
			EXPECT_EQ(on == n ? ILLEGAL : 0, pmu_read(fd));
		}
		close(fd);
	}

	/*
	 * perf stat -a opens the event of one type on each hart. It must count on harts of any
	 * type.
	 */
	attr.type = fw_type(0);
	for (int on = 0; on < self->nr; on++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(first_cpu(&self->cpus[on]), &one);
		ASSERT_EQ(0, move_to(&one));
		fd = pmu_open_on(&attr, -1, first_cpu(&one), -1);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, pmu_run(fd, 0, pmu_illegal_loop, ILLEGAL));
		EXPECT_LE(ILLEGAL, pmu_read(fd));
		close(fd);
	}
}

/* --- harts that were offline at boot --- */

/*
 * Returns whether the hart ID is odd. Harts with an odd hart ID are another core, or have no
 * delegated counters, although their devicetree nodes have the extensions for that. Harts do not
 * boot in the order of their IDs, so CPU numbers do not identify them.
 */
static bool hart_is_odd(int cpu)
{
	unsigned char reg[4] = {};
	char path[PMU_TEXT];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/of_node/reg", cpu);
	fd = open(path, O_RDONLY);
	length = read(fd, reg, sizeof(reg));
	close(fd);
	return length == sizeof(reg) && reg[3] & 1;
}

/* Returns the first CPU other than CPU 0 with an odd or even hart ID, or -1 if there is none. */
static int find_late_cpu(bool odd)
{
	for (int cpu = 1; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		if (hart_is_odd(cpu) == odd)
			return cpu;
	return -1;
}

FIXTURE(late) {
	struct perf_event_attr attr;
	cpu_set_t all;
	/* A CPU with the same counters as CPU 0, and a CPU with different counters. */
	int same_ctrs;
	int other_ctrs;
};

FIXTURE_SETUP(late)
{
	char text[PMU_TEXT];

	if (!pmu_read_line("/proc/cmdline", text) || !strstr(text, "maxcpus=1"))
		SKIP(return, "needs harts that were offline at boot (maxcpus=1)");
	self->same_ctrs = find_late_cpu(false);
	self->other_ctrs = find_late_cpu(true);
	ASSERT_FALSE(hart_is_odd(0));
	ASSERT_LT(0, self->same_ctrs);
	ASSERT_LT(0, self->other_ctrs);
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(self->all), &self->all));
}

FIXTURE_TEARDOWN(late)
{
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

static bool set_online(int cpu, int online)
{
	char path[PMU_TEXT];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	/* A hart that is stopping cannot be started until it has stopped. */
	for (int i = 0; i < 100; i++) {
		if (pmu_write_number(path, online))
			return true;
		usleep(10000);
	}
	return false;
}

/* Brings both CPUs online, if an earlier test has not done so. Returns false on error. */
static bool bring_up_both(int same_ctrs, int other_ctrs)
{
	return set_online(same_ctrs, 1) && set_online(other_ctrs, 1);
}

static int move_to_cpu(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return move_to(&one);
}

static bool type_has(int n, int cpu)
{
	char text[PMU_TEXT];
	cpu_set_t cpus;

	return type_file(n, "cpus", text) && parse_cpus(text, &cpus) && CPU_ISSET(cpu, &cpus);
}

/* Returns how often the kernel has logged that a hart has no PMU. */
static int count_warnings(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK), nr = 0;
	char record[8192];
	ssize_t length;

	while (fd >= 0 && (length = read(fd, record, sizeof(record) - 1)) > 0) {
		record[length] = 0;
		nr += !!strstr(record, "no PMU on hart");
	}
	close(fd);
	return nr;
}

TEST_F(late, a_late_hart_with_the_same_counters_has_the_pmu)
{
	int fd;

	ASSERT_TRUE(bring_up_both(self->same_ctrs, self->other_ctrs));
	EXPECT_TRUE(type_has(0, self->same_ctrs));
	ASSERT_EQ(0, move_to_cpu(self->same_ctrs));
	fd = pmu_open_on(&self->attr, -1, self->same_ctrs, -1);
	ASSERT_LE(0, fd);
	EXPECT_LE(pmu_least(N), pmu_count(fd, pmu_loop, N));
	close(fd);
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	EXPECT_LE(pmu_least(N), pmu_count(fd, pmu_loop, N));
	close(fd);
}

TEST_F(late, a_late_hart_with_different_counters_has_no_pmu)
{
	int64_t before;
	int fd;

	ASSERT_TRUE(bring_up_both(self->same_ctrs, self->other_ctrs));
	EXPECT_FALSE(type_has(0, self->other_ctrs));
	EXPECT_EQ(-ENOENT, pmu_open_on(&self->attr, -1, self->other_ctrs, -1));

	/* On this hart a task's event does not count; on CPU 0 it counts again. */
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, move_to_cpu(self->other_ctrs));
	before = pmu_read(fd);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	EXPECT_EQ(before, pmu_read(fd));
	ASSERT_EQ(0, move_to_cpu(0));
	EXPECT_LE(pmu_least(N), pmu_count(fd, pmu_loop, N));
	close(fd);
}

/* Firmware may enable them. The time CSR, which clock_gettime() reads, stays readable. */
TEST_F(late, reads_of_counters_of_a_late_hart_without_a_pmu_trap)
{
	ASSERT_TRUE(bring_up_both(self->same_ctrs, self->other_ctrs));
	ASSERT_EQ(0, move_to_cpu(self->other_ctrs));
	for (unsigned int ctr = 0; ctr < 32; ctr++)
		EXPECT_EQ(ctr != 1, traps(ctr));
}

TEST_F(late, the_warning_about_a_late_hart_is_printed_once)
{
	ASSERT_TRUE(bring_up_both(self->same_ctrs, self->other_ctrs));
	EXPECT_EQ(1, count_warnings());
	ASSERT_TRUE(set_online(self->other_ctrs, 0));
	ASSERT_TRUE(set_online(self->other_ctrs, 1));
	EXPECT_EQ(1, count_warnings());
	EXPECT_FALSE(type_has(0, self->other_ctrs));
}

/*
 * At boot only harts 0 and 1 are online, which are different cores. A hart that comes online later
 * gets the PMU of its core, and keeps it when it goes offline and comes online again.
 */
TEST(a_late_hart_gets_the_pmu_of_its_core)
{
	char text[PMU_TEXT];
	cpu_set_t all;

	if (!pmu_read_line("/proc/cmdline", text) || !strstr(text, "maxcpus=2") ||
	    !type_file(1, "type", text))
		SKIP(return, "needs two types of harts, some of them offline at boot (maxcpus=2)");

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	for (int cpu = 2; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		int n = hart_is_odd(cpu), fd;
		struct perf_event_attr attr;

		for (int round = 0; round < 2; round++) {
			ASSERT_TRUE(set_online(cpu, 0));
			ASSERT_TRUE(set_online(cpu, 1));
			EXPECT_TRUE(type_has(n, cpu));
			EXPECT_FALSE(type_has(!n, cpu));
		}
		ASSERT_TRUE(type_file(n, "type", text));
		attr = pmu_attr_best(PERF_TYPE_HARDWARE,
				     strtoull(text, NULL, 10) << PMU_TYPE_SHIFT |
				     PERF_COUNT_HW_INSTRUCTIONS);
		ASSERT_EQ(0, move_to_cpu(cpu));
		fd = pmu_open_on(&attr, -1, cpu, -1);
		ASSERT_LE(0, fd);
		EXPECT_LE(pmu_least(N), pmu_count(fd, pmu_loop, N));
		close(fd);
		fd = pmu_open(&attr);
		ASSERT_LE(0, fd);
		EXPECT_LE(pmu_least(N), pmu_count(fd, pmu_loop, N));
		close(fd);
	}
	EXPECT_EQ(0, count_warnings());
	sched_setaffinity(0, sizeof(all), &all);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
