// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU sbi_fw, which has the firmware events by name. They must be the same as the firmware
 * events of the PMU cpu, which have another encoding. Also tests caps/device_id of all PMUs: it
 * must have the format that Documentation/ABI/testing describes, and must match what
 * perf_event_open() accepts.
 */

#include <dirent.h>
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define DEVICES		"/sys/bus/event_source/devices/"
#define SBI_FW		DEVICES "sbi_fw/"
#define TIMES		100
#define PLATFORM	0xffff

/* <type>.<func>=<prefix>[,<prefix>]... joined by ";"; only these types and functions are valid. */
#define PREFIXES	"[a-z][a-z0-9_]*(,[a-z][a-z0-9_]*)*"
#define CAP		"(core|fw|iommu)\\.(stat|record)=" PREFIXES
#define DEVICE_ID	"^" CAP "(;" CAP ")*$"

/* --- sbi_fw --- */

FIXTURE(fw) {
	struct perf_event_attr attr;
};

FIXTURE_SETUP(fw)
{
	if (!pmu_caps_number("firmware_counters"))
		SKIP(return, "the firmware has no counters (caps/firmware_counters)");

	self->attr = pmu_attr(pmu_read_number(SBI_FW "type"), PMU_FW_ILLEGAL_INSN);
	ASSERT_LT(PERF_TYPE_MAX, (int)self->attr.type);
}

FIXTURE_TEARDOWN(fw)
{
}

/* Two events in one group have the same counter and the same window, so their counts are equal. */
TEST_F(fw, an_event_has_the_same_count_with_both_pmus)
{
	struct perf_event_attr raw = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_ILLEGAL_INSN));
	int leader = pmu_open(&self->attr), fd;

	ASSERT_LE(0, leader);
	fd = pmu_open_on(&raw, 0, -1, leader);
	ASSERT_LE(0, fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	ASSERT_EQ(0, pmu_run(leader, PERF_IOC_FLAG_GROUP, pmu_illegal_loop, TIMES));
	EXPECT_EQ(TIMES, pmu_read(leader));
	EXPECT_EQ(pmu_read(leader), pmu_read(fd));
	close(fd);
	close(leader);
}

/* perf list would show each firmware event twice. */
TEST_F(fw, the_core_pmu_does_not_list_firmware_events)
{
	DIR *dir = opendir(DEVICES "cpu/events");
	struct dirent *entry;
	int nr = 0;

	ASSERT_NE(NULL, dir);
	while ((entry = readdir(dir))) {
		EXPECT_NE(0, strncmp(entry->d_name, "fw-", 3));
		nr++;
	}
	closedir(dir);
	EXPECT_LT(2, nr);
}

TEST_F(fw, an_event_can_be_in_a_group_with_hardware_events)
{
	struct perf_event_attr cycles = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	int leader = pmu_open(&cycles), fd;

	ASSERT_LE(0, leader);
	self->attr.disabled = 0;
	fd = pmu_open_on(&self->attr, 0, -1, leader);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(leader, 0, pmu_illegal_loop, TIMES));
	EXPECT_LT(0, pmu_read(leader));
	EXPECT_EQ(TIMES, pmu_read(fd));
	close(fd);
	close(leader);
}

/* The child's event has the PMU of the parent's event. */
TEST_F(fw, an_inherited_event_counts_children)
{
	int status = -1, fd;
	pid_t pid;

	self->attr.inherit = 1;
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	pid = pmu_spawn(pmu_illegal_loop, TIMES);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(TIMES, pmu_read(fd));
	close(fd);
}

/* sysfs lists exactly the events that this firmware counts, and all of them can be opened. */
TEST_F(fw, exactly_the_listed_events_can_be_opened)
{
	DIR *dir = opendir(SBI_FW "events");
	struct dirent *entry;
	int listed = 0, opened = 0;

	ASSERT_NE(NULL, dir);
	while ((entry = readdir(dir))) {
		char path[512], text[PMU_TEXT];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), SBI_FW "events/%s", entry->d_name);
		ASSERT_TRUE(pmu_read_line(path, text));
		ASSERT_EQ(0, strncmp(text, "event=0x", 8)) {
			TH_LOG("%s: %s", entry->d_name, text);
		}
		self->attr.config = strtoul(text + 6, NULL, 16);
		EXPECT_EQ(0, pmu_try(&self->attr));
		listed++;
	}
	closedir(dir);
	for (self->attr.config = 0; self->attr.config < PMU_FW_NR_DEFINED; self->attr.config++)
		opened += !pmu_try(&self->attr);
	EXPECT_LT(0, listed);
	EXPECT_EQ(opened, listed);
}

TEST_F(fw, undefined_config_bits_get_einval)
{
	const struct perf_event_attr good = self->attr;

	ASSERT_EQ(0, pmu_try(&good));
	for (int bit = 16; bit < 64; bit++) {
		self->attr.config = good.config | 1ULL << bit;
		EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
	}
	self->attr = good;
	for (int bit = 0; bit < 64; bit++) {
		self->attr = good;
		self->attr.config1 = 1ULL << bit;
		EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
		self->attr = good;
		self->attr.config2 = 1ULL << bit;
		EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
		self->attr = good;
		self->attr.config3 = 1ULL << bit;
		EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
	}
}

TEST_F(fw, a_platform_event_has_its_data_in_config1)
{
	struct perf_event_attr raw = pmu_attr(PERF_TYPE_RAW, PMU_FW_PLATFORM(0x5eed));

	self->attr.config = PLATFORM;
	self->attr.config1 = 0x5eed;
	EXPECT_EQ(pmu_try(&raw), pmu_try(&self->attr));
	self->attr.config1 = 1ULL << 62;
	EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
}

TEST_F(fw, an_event_can_be_neither_sampled_nor_filtered)
{
	self->attr.sample_period = 100;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&self->attr));
	self->attr.sample_period = 0;
	self->attr.exclude_kernel = 1;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&self->attr));
}

TEST(there_is_no_sbi_fw_without_firmware_counters)
{
	if (pmu_caps_number("firmware_counters") > 0)
		SKIP(return, "the firmware has counters (caps/firmware_counters)");

	EXPECT_GT(0, pmu_read_number(SBI_FW "type"));
}

/* --- caps/device_id --- */

static bool matches(const char *pattern, const char *text)
{
	regex_t regex;
	bool match;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return false;

	match = !regexec(&regex, text, 0, NULL, 0);
	regfree(&regex);
	return match;
}

TEST(the_device_id_pattern_accepts_only_valid_strings)
{
	EXPECT_TRUE(matches(DEVICE_ID, "core.stat=cpu;core.record=cpu"));
	EXPECT_TRUE(matches(DEVICE_ID, "core.stat=cpu,cpu_type1"));
	EXPECT_FALSE(matches(DEVICE_ID, ""));
	EXPECT_FALSE(matches(DEVICE_ID, "core.stat"));
	EXPECT_FALSE(matches(DEVICE_ID, "core.stat=cpu;"));
	EXPECT_FALSE(matches(DEVICE_ID, "core.count=cpu"));
	EXPECT_FALSE(matches(DEVICE_ID, "dsu.stat=dsu"));
}

/* Returns caps/device_id of a PMU, or "" if it does not have that file. */
static const char *device_id_of(const char *pmu, char text[PMU_TEXT])
{
	char path[512];

	snprintf(path, sizeof(path), DEVICES "%s/caps/device_id", pmu);
	return pmu_read_line(path, text) ? text : "";
}

static bool has_cap(const char *pmu, const char *cap)
{
	char pattern[512], text[PMU_TEXT];

	snprintf(pattern, sizeof(pattern), "(^|;)%s=%s(;|$)", cap, pmu);
	return matches(pattern, device_id_of(pmu, text));
}

TEST(the_device_id_of_each_pmu_is_valid)
{
	DIR *dir = opendir(DEVICES);
	struct dirent *entry;
	char text[PMU_TEXT];
	int nr = 0;

	ASSERT_NE(NULL, dir);
	while ((entry = readdir(dir))) {
		if (!*device_id_of(entry->d_name, text))
			continue;
		EXPECT_TRUE(matches(DEVICE_ID, text)) {
			TH_LOG("%s: %s", entry->d_name, text);
		}
		nr++;
	}
	closedir(dir);
	EXPECT_LE(pmu_caps_number("firmware_counters") > 0 ? 2 : 1, nr);
}

TEST(the_core_pmu_caps_match_perf_event_open)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	EXPECT_TRUE(has_cap("cpu", "core.stat"));
	EXPECT_EQ(0, pmu_try(&attr));
	attr.sample_period = 100000;
	EXPECT_EQ(has_cap("cpu", "core.record") ? 0 : -EOPNOTSUPP, pmu_try(&attr));
	EXPECT_EQ(pmu_can_sample(), has_cap("cpu", "core.record"));
}

TEST_F(fw, device_id_caps_match_perf_event_open)
{
	EXPECT_TRUE(has_cap("sbi_fw", "fw.stat"));
	EXPECT_EQ(0, pmu_try(&self->attr));
	EXPECT_FALSE(has_cap("sbi_fw", "fw.record"));
	self->attr.sample_period = 100;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&self->attr));
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
