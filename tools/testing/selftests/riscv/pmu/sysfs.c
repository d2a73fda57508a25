// SPDX-License-Identifier: GPL-2.0
/* Tests that perf_event_open() agrees with /sys/bus/event_source/devices/cpu. */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

TEST(the_type_of_the_pmu_is_perf_type_raw)
{
	EXPECT_EQ(PERF_TYPE_RAW, pmu_read_number(PMU_SYSFS "/type"));
}

TEST(format_files_have_the_bits_of_the_abi)
{
	char text[PMU_TEXT];
	const char *event = pmu_sysfs("format/event", text);

	/* A raw selector has 48 bits, 56 from SBI 3.0 on. */
	EXPECT_TRUE(!strcmp(event, "config:0-47") || !strcmp(event, "config:0-55"))
		TH_LOG("format/event is \"%s\"", event);
	EXPECT_STREQ("config:62-63", pmu_sysfs("format/firmware", text));
	EXPECT_STREQ("config:62", pmu_sysfs("format/std", text));
}

TEST(cpus_lists_all_possible_cpus)
{
	char possible[PMU_TEXT], text[PMU_TEXT];

	ASSERT_TRUE(pmu_read_line("/sys/devices/system/cpu/possible", possible));
	EXPECT_STREQ(possible, pmu_sysfs("cpus", text));
}

TEST(caps_backend_is_a_known_name)
{
	char text[PMU_TEXT];
	const char *backend = pmu_sysfs("caps/backend", text);

	EXPECT_TRUE(!strcmp(backend, "ssccfg") || !strcmp(backend, "sbi") ||
		    !strcmp(backend, "legacy"))
		TH_LOG("caps/backend is \"%s\"", backend);
}

/* The expected value follows from the extensions in /proc/cpuinfo and the module's parameter. */
TEST(caps_sampling_is_right_for_the_hart_and_the_parameter)
{
	char text[PMU_TEXT];
	/* Without CONFIG_RISCV_PMU_POLL there is no parameter, and nothing is polled. */
	bool polls = pmu_read_line("/sys/module/riscv_pmu/parameters/polled_sampling", text) &&
		     !strcmp(text, "Y");

	EXPECT_STREQ(!pmu_hart_has("sscofpmf") || pmu_is_legacy() ?
		     polls ? "polled" : "none" :
		     pmu_samples_by_nmi() ? "nmi" : "interrupt",
		     pmu_sysfs("caps/sampling", text));
}

/*
 * On some cores (--core of scripts/guest/boot) only counters that do not interrupt have cycles; on
 * others all counters have them.
 */
TEST(caps_cycles_sampling_is_right_for_the_core)
{
	const char *core = getenv("RISCV_PMU_CORE");
	char text[PMU_TEXT], sampling[PMU_TEXT];
	const char *expected = pmu_sysfs("caps/sampling", sampling);

	if (core && !strcmp(core, "x60"))
		expected = "split";
	else if (core && !strcmp(core, "p550"))
		expected = "polled";
	EXPECT_STREQ(expected, pmu_sysfs("caps/cycles_sampling", text));
}

/* Privileged ISA: cycle and instret are fixed, and there are 29 hpmcounters at most. */
TEST(numbers_and_width_of_counters_are_in_the_valid_range)
{
	EXPECT_EQ(2, pmu_caps_number("fixed_counters"));
	EXPECT_LE(0, pmu_caps_number("programmable_counters"));
	EXPECT_GE(29, pmu_caps_number("programmable_counters"));
	EXPECT_LE(0, pmu_caps_number("firmware_counters"));
	EXPECT_GE(62, pmu_caps_number("firmware_counters"));
	EXPECT_LE(16, pmu_caps_number("counter_width"));
	EXPECT_GE(64, pmu_caps_number("counter_width"));
}

TEST(the_legacy_backend_has_fixed_counters_only)
{
	if (!pmu_is_legacy())
		SKIP(return, "the backend is not legacy");

	EXPECT_EQ(0, pmu_caps_number("programmable_counters"));
	EXPECT_EQ(0, pmu_caps_number("firmware_counters"));
}

TEST(caps_max_precise_is_0)
{
	EXPECT_EQ(0, pmu_caps_number("max_precise"));
}

/* Returns LOW of a format file with "config:LOW-HIGH" or "config:LOW", or -1. */
static int format_shift(const char *field)
{
	char name[64], text[PMU_TEXT];
	int low;

	snprintf(name, sizeof(name), "format/%s", field);
	return sscanf(pmu_sysfs(name, text), "config:%d", &low) == 1 ? low : -1;
}

/*
 * Parses an event as perf does: shifts the value of each "field=value" to the bits in
 * format/field. Returns false if the event cannot be parsed.
 */
static bool parse_event(char *text, uint64_t *config)
{
	*config = 0;
	for (char *term = strtok(text, ","); term; term = strtok(NULL, ",")) {
		char *value = strchr(term, '=');
		int shift;

		if (!value)
			return false;
		*value++ = '\0';
		shift = format_shift(term);
		if (shift < 0)
			return false;
		*config |= strtoull(value, NULL, 0) << shift;
	}

	return true;
}

#define MAX_EVENTS	256

struct events {
	int	 nr;
	uint64_t config[MAX_EVENTS];
	char	 name[MAX_EVENTS][64];
};

/* Reads all files in @folder. Returns false if one cannot be parsed. */
static bool read_events_of(const char *folder, struct events *events)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	bool ok = dir;

	events->nr = 0;
	while (dir && (entry = readdir(dir)) && events->nr < MAX_EVENTS) {
		char *name = events->name[events->nr], text[PMU_TEXT], path[512];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(events->name[0]), "%.63s", entry->d_name);
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		ok = ok && pmu_read_line(path, text) &&
		     parse_event(text, &events->config[events->nr]);
		events->nr++;
	}
	if (dir)
		closedir(dir);
	return ok;
}

static bool read_events(struct events *events)
{
	return read_events_of(PMU_SYSFS "/events", events);
}

static bool has_config(const struct events *events, uint64_t config)
{
	for (int i = 0; i < events->nr; i++) {
		if (events->config[i] == config)
			return true;
	}

	return false;
}

static int try_raw(uint64_t config)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, config);

	return pmu_try(&attr);
}

TEST(every_event_in_sysfs_opens)
{
	static struct events events;

	ASSERT_TRUE(read_events(&events));
	/* All harts have cycles and instructions. */
	EXPECT_LE(2, events.nr);
	for (int i = 0; i < events.nr; i++) {
		EXPECT_EQ(0, try_raw(events.config[i]))
			TH_LOG("%s", events.name[i]);
	}
}

TEST(cycles_and_instructions_are_in_sysfs)
{
	char text[PMU_TEXT];

	EXPECT_STREQ("event=0x1,std=1", pmu_sysfs("events/cpu-cycles", text));
	EXPECT_STREQ("event=0x2,std=1", pmu_sysfs("events/instructions", text));
}

/* SBI: hardware events are 1 to 10. */
TEST(hardware_events_open_exactly_if_they_are_in_sysfs)
{
	static struct events events;

	ASSERT_TRUE(read_events(&events));
	for (unsigned int code = 1; code <= PERF_COUNT_HW_MAX; code++) {
		struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, code - 1);
		int expected = has_config(&events, PMU_STD(code)) ? 0 : -ENOENT;

		EXPECT_EQ(expected, try_raw(PMU_STD(code)))
			TH_LOG("event_idx 0x%x", code);
		EXPECT_EQ(expected, pmu_try(&attr))
			TH_LOG("hardware event %u", code - 1);
	}
}

/* SBI: 0x10000 | cache << 3 | operation << 1 | result. */
TEST(cache_events_open_exactly_if_they_are_in_sysfs)
{
	static struct events events;

	ASSERT_TRUE(read_events(&events));
	for (unsigned int code = 0; code < PERF_COUNT_HW_CACHE_MAX << 3; code++) {
		unsigned int cache = code >> 3, op = code >> 1 & 3, result = code & 1;
		struct perf_event_attr attr = pmu_attr(PERF_TYPE_HW_CACHE,
						       PMU_CACHE(cache, op, result));
		int expected = has_config(&events, PMU_STD(0x10000 | code)) ? 0 : -ENOENT;

		if (op >= PERF_COUNT_HW_CACHE_OP_MAX)
			continue;
		EXPECT_EQ(expected, try_raw(PMU_STD(0x10000 | code)))
			TH_LOG("event_idx 0x%x", 0x10000 | code);
		EXPECT_EQ(expected, pmu_try(&attr))
			TH_LOG("cache event 0x%llx", (unsigned long long)attr.config);
	}
}

/* The PMU sbi_fw lists them by their code. Without firmware counters there is no such PMU. */
TEST(firmware_events_open_exactly_if_they_are_in_sysfs)
{
	static struct events events;

	ASSERT_EQ(pmu_caps_number("firmware_counters") > 0,
		  read_events_of(PMU_SYSFS "/../sbi_fw/events", &events));
	for (unsigned int code = 0; code < PMU_FW_NR_DEFINED; code++) {
		EXPECT_EQ(has_config(&events, code) ? 0 : -ENOENT, try_raw(PMU_FW(code)))
			TH_LOG("firmware event %u", code);
	}
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
