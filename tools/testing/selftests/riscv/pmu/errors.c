// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the errors of perf_event_open(): -EINVAL for a malformed event, -ENOENT for an event
 * that this machine does not have, and -EOPNOTSUPP for an event that it has, but not with the
 * requested filter or sampling.
 */

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define NOBODY	65534

/* Opens an event with only its type and config set. Returns 0 or -errno. */
static int try_config(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = pmu_attr(type, config);

	return pmu_try(&attr);
}

static struct perf_event_attr attr_instructions(void)
{
	return pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

TEST(cycles_and_instructions_open_without_filters)
{
	EXPECT_EQ(0, try_config(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES));
	EXPECT_EQ(0, try_config(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS));
	EXPECT_EQ(0, try_config(PERF_TYPE_RAW, PMU_STD(1)));
	EXPECT_EQ(0, try_config(PERF_TYPE_RAW, PMU_STD(2)));
}

/* QEMU's device tree maps no selector to bus cycles, and no fixed counter counts them. */
TEST(an_unsupported_hardware_event_is_enoent)
{
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES));
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_STD(PERF_COUNT_HW_BUS_CYCLES + 1)));
}

TEST(an_unsupported_cache_event_is_enoent)
{
	uint64_t config = PMU_CACHE(PERF_COUNT_HW_CACHE_NODE, PERF_COUNT_HW_CACHE_OP_PREFETCH,
				    PERF_COUNT_HW_CACHE_RESULT_MISS);

	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_HW_CACHE, config));
}

TEST(hardware_events_from_ten_on_are_einval)
{
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_HARDWARE, 0xff));
}

TEST(cache_bytes_out_of_range_are_einval)
{
	EXPECT_EQ(-EINVAL,
		  try_config(PERF_TYPE_HW_CACHE, PMU_CACHE(PERF_COUNT_HW_CACHE_MAX, 0, 0)));
	EXPECT_EQ(-EINVAL,
		  try_config(PERF_TYPE_HW_CACHE, PMU_CACHE(0, PERF_COUNT_HW_CACHE_OP_MAX, 0)));
	EXPECT_EQ(-EINVAL,
		  try_config(PERF_TYPE_HW_CACHE, PMU_CACHE(0, 0, PERF_COUNT_HW_CACHE_RESULT_MAX)));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_HW_CACHE, 1ULL << 24));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_HW_CACHE, 1ULL << 31));
}

/* SBI: bits 19:16 are the type (0 hardware, 1 cache), 15:0 the code; hardware code 0 is invalid. */
TEST(an_invalid_standard_event_is_einval)
{
	static const uint64_t invalid[] = {
		0,			/* "no event" */
		PERF_COUNT_HW_MAX + 1,	/* beyond the hardware events */
		0xffff,
		0x10038,		/* cache 7 */
		0x10006,		/* cache operation 3 */
		0x20000,		/* raw events, which have a separate class */
		0x30000,
		0xf0000,		/* firmware events, which have a separate class */
		0x40000,		/* a type that is not defined */
		0x100001,		/* bit 20 */
		1ULL << 61 | 1,
	};

	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_STD(invalid[i])))
			TH_LOG("event_idx 0x%llx", (unsigned long long)invalid[i]);
	}
}

/* SBI: code 0xffff is for platform firmware events. Their class is 3 in config. */
TEST(an_invalid_firmware_event_is_einval)
{
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_FW(0xffff)));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_FW(0x10000)));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_FW(1ULL << 61 | PMU_FW_SET_TIMER)));
}

TEST(an_undefined_firmware_event_is_enoent)
{
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_FW(PMU_FW_NR_DEFINED)));
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_FW(0x1234)));
}

TEST(an_unsupported_platform_firmware_event_is_enoent)
{
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_FW_PLATFORM(0x1234)));
}

/* OpenSBI accepts the raw selectors that the device tree maps to counters: QEMU's maps none. */
TEST(an_unsupported_raw_selector_is_enoent)
{
	if (pmu_is_delegated())
		SKIP(return, "QEMU's harts accept any selector if no firmware refuses it");

	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_RAW(0x1234)));
}

/*
 * Opens QEMU's five events and counts each of them. The driver restricts each to one programmable
 * counter, 3 to 7. When the events are closed, the counters keep their configs, but no event is
 * attached to them.
 */
static void count_on_all_counters(struct __test_metadata *_metadata, int fd[5])
{
	struct perf_event_attr attr[5] = {
		pmu_attr_best(PERF_TYPE_RAW, PMU_STD(0x00001)),
		pmu_attr_best(PERF_TYPE_RAW, PMU_STD(0x00002)),
		pmu_attr_best(PERF_TYPE_RAW, PMU_STD(0x10019)),
		pmu_attr_best(PERF_TYPE_RAW, PMU_STD(0x1001b)),
		pmu_attr_best(PERF_TYPE_RAW, PMU_STD(0x10021)),
	};

	for (int i = 0; i < 5; i++) {
		fd[i] = pmu_open(&attr[i]);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, pmu_run(fd[i], 0, pmu_loop, 1000));
	}
}

FIXTURE(raw) {
	long ctrs;
	int fd[5];
};

FIXTURE_SETUP(raw)
{
	self->ctrs = pmu_raw_ctrs();
	if (!self->ctrs || pmu_is_legacy() || sysconf(_SC_NPROCESSORS_ONLN) > 1)
		SKIP(return, "needs one hart, and raw events (scripts/guest/boot --raw-events)");

	count_on_all_counters(_metadata, self->fd);
}

FIXTURE_TEARDOWN(raw)
{
}

/* The counters still have the configs of closed events, which the driver may release. */
TEST_F(raw, a_raw_event_opens_if_closed_events_have_left_configs)
{
	for (int i = 0; i < 5; i++)
		close(self->fd[i]);
	EXPECT_EQ(self->ctrs, self->ctrs & pmu_ctrs_configured(0));
	EXPECT_EQ(0, try_config(PERF_TYPE_RAW, PMU_RAW(PMU_RAW_MAPPED + 1)));
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_RAW(0x1234)));
}

/* The driver cannot find out whether a counter in use supports the event, so it accepts it. */
TEST_F(raw, a_raw_event_opens_while_its_counters_are_in_use)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_RAW(PMU_RAW_MAPPED + 2));
	int fd;

	for (int i = 0; i < 5; i++)
		ASSERT_EQ(0, ioctl(self->fd[i], PERF_EVENT_IOC_ENABLE, 0));
	fd = pmu_open(&attr);
	EXPECT_LE(0, fd);
	for (int i = 0; i < 5; i++)
		close(self->fd[i]);
	close(fd);
	EXPECT_EQ(0, try_config(PERF_TYPE_RAW, PMU_RAW(PMU_RAW_MAPPED + 2)));
}

TEST(a_malformed_raw_selector_is_einval)
{
	if (pmu_is_legacy())
		SKIP(return, "the legacy backend has no raw events: the error is always ENOENT");

	/* 0 is "no event"; the selector has 48 bits, 56 from SBI 3.0 on. */
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_RAW(0)));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_RAW(1ULL << 56)));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_RAW(1ULL << 61)));
}

/* In the kernel, bit 0 of config1 marks KVM's events for its guests: user space gets EINVAL. */
TEST(undefined_bits_of_config1_and_config2_are_einval)
{
	struct perf_event_attr attr = attr_instructions();

	attr.config1 = 1;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
	attr.config1 = 1ULL << 63;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
	attr.config1 = 0;
	attr.config2 = 1ULL << 32;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
	/* Bits 31:0 are the counters that the event may use; bit 1 is time, which it may not. */
	attr.config2 = 2;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
}

/* config3 has offset 128 (PERF_ATTR_SIZE_VER8 is 136), but headers before Linux 6.3 lack it. */
TEST(config3_is_einval)
{
	union {
		struct perf_event_attr attr;
		uint64_t words[136 / sizeof(uint64_t)];
	} it = { .attr = attr_instructions() };

	it.attr.size = 136;
	EXPECT_EQ(0, pmu_try(&it.attr));
	it.words[128 / sizeof(uint64_t)] = 1;
	EXPECT_EQ(-EINVAL, pmu_try(&it.attr));
}

/* config4 is new in Linux 7.2: other kernels return E2BIG if it is not 0. */
TEST(config4_is_einval_or_e2big)
{
	union {
		struct perf_event_attr attr;
		uint64_t words[144 / sizeof(uint64_t)];
	} it = { .attr = attr_instructions() };
	int err;

	it.attr.size = 144;
	EXPECT_EQ(0, pmu_try(&it.attr));
	it.words[136 / sizeof(uint64_t)] = 1;
	err = pmu_try(&it.attr);
	EXPECT_TRUE(err == -EINVAL || err == -E2BIG) {
		TH_LOG("config4: %d", err);
	}
}

TEST(exclude_idle_is_eopnotsupp)
{
	struct perf_event_attr attr = attr_instructions();

	attr.exclude_idle = 1;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
}

TEST(precise_ip_is_eopnotsupp)
{
	struct perf_event_attr attr = attr_instructions();

	for (unsigned int precise = 1; precise <= 3; precise++) {
		attr.precise_ip = precise;
		EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
	}
}

TEST(sampling_without_interrupt_and_polling_is_eopnotsupp)
{
	struct perf_event_attr attr = attr_instructions();

	attr.sample_period = 100000;
	EXPECT_EQ(pmu_can_sample() ? 0 : -EOPNOTSUPP, pmu_try(&attr));
	attr.freq = 1;
	attr.sample_freq = 100;
	EXPECT_EQ(pmu_can_sample() ? 0 : -EOPNOTSUPP, pmu_try(&attr));
}

TEST(an_unsupported_filter_is_eopnotsupp)
{
	int expected = pmu_can_filter() ? 0 : -EOPNOTSUPP;
	struct perf_event_attr attr = attr_instructions();

	attr.exclude_user = 1;
	EXPECT_EQ(expected, pmu_try(&attr));
	attr = attr_instructions();
	attr.exclude_kernel = 1;
	EXPECT_EQ(pmu_is_unfiltered() ? 0 : expected, pmu_try(&attr));
	/* Firmware is no hypervisor. */
	attr = attr_instructions();
	attr.exclude_hv = 1;
	EXPECT_EQ(0, pmu_try(&attr));
}

/* perf sets exclude_guest by default. It excludes nothing if there are no guests. */
TEST(exclude_guest_opens_or_is_einval_with_kvm)
{
	struct perf_event_attr attr = attr_instructions();
	int err;

	attr.exclude_guest = 1;
	err = pmu_try(&attr);
	/* With KVM but no filters, guests cannot be excluded: perf tries again after EINVAL. */
	if (err != -EINVAL || pmu_can_filter() || access("/dev/kvm", F_OK))
		EXPECT_EQ(0, err);
}

TEST(a_firmware_event_can_be_neither_sampled_nor_filtered)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));

	if (pmu_is_legacy() || pmu_caps_number("firmware_counters") <= 0)
		SKIP(return, "no firmware events (caps/backend, caps/firmware_counters)");

	EXPECT_EQ(0, pmu_try(&attr));
	attr.exclude_hv = 1;
	EXPECT_EQ(0, pmu_try(&attr));
	attr.sample_period = 10;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
	attr.sample_period = 0;
	attr.exclude_user = 1;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
	attr.exclude_user = 0;
	attr.exclude_kernel = 1;
	EXPECT_EQ(pmu_is_unfiltered() ? 0 : -EOPNOTSUPP, pmu_try(&attr));
}

TEST(einval_takes_precedence_over_eopnotsupp)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX);

	attr.exclude_idle = 1;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
}

/*
 * Opens an event as the user nobody, in a child process, because the parent has to keep its
 * privileges. Returns 0 or -errno, or -255 if the call was not possible.
 */
static int try_unprivileged(const struct perf_event_attr *attr)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(-pmu_try(attr));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -255;
}

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

FIXTURE(paranoid) {
	long before;
};

FIXTURE_SETUP(paranoid)
{
	self->before = pmu_read_number(PARANOID);
	ASSERT_TRUE(pmu_write_number(PARANOID, 2));
}

FIXTURE_TEARDOWN(paranoid)
{
	pmu_write_number(PARANOID, self->before);
}

TEST_F(paranoid, kernel_events_of_unprivileged_users_are_eacces)
{
	struct perf_event_attr attr = attr_instructions();

	EXPECT_EQ(-EACCES, try_unprivileged(&attr));
	attr.exclude_user = 1;
	EXPECT_EQ(-EACCES, try_unprivileged(&attr));
}

/* No bit of config1 may disable exclude_kernel. */
TEST_F(paranoid, no_config1_bit_lets_unprivileged_users_count_the_kernel)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int expected = 0;

	attr.exclude_kernel = 1;
	if (!pmu_can_filter())
		expected = pmu_is_unfiltered() ? -EACCES : -EOPNOTSUPP;
	EXPECT_EQ(expected, try_unprivileged(&attr));
	for (unsigned int bit = 0; bit < 64; bit++) {
		attr.config1 = 1ULL << bit;
		EXPECT_EQ(-EINVAL, try_unprivileged(&attr));
	}
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
