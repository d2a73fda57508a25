// SPDX-License-Identifier: GPL-2.0
/*
 * How perf_event_open() refuses: -EINVAL for what is malformed, -ENOENT for
 * what this machine does not have, -EOPNOTSUPP for what it has, but not this
 * way.
 */

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define NOBODY	65534

/* 0 or -errno of opening an event with nothing but these two set. */
static int try_config(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = pmu_attr(type, config);

	return pmu_try(&attr);
}

static struct perf_event_attr attr_instructions(void)
{
	return pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

TEST(cycles_and_instructions_open_unfiltered_everywhere)
{
	EXPECT_EQ(0, try_config(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES));
	EXPECT_EQ(0, try_config(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS));
	EXPECT_EQ(0, try_config(PERF_TYPE_RAW, PMU_STD(1)));
	EXPECT_EQ(0, try_config(PERF_TYPE_RAW, PMU_STD(2)));
}

/* QEMU's device tree maps no selector to it, and there is no fixed one. */
TEST(a_hardware_event_that_the_machine_lacks_is_enoent)
{
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES));
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_STD(PERF_COUNT_HW_BUS_CYCLES + 1)));
}

TEST(a_cache_event_that_the_machine_lacks_is_enoent)
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

/* SBI: type in bits 19:16 (0 hardware, 1 cache), code in 15:0; hardware code 0 is no event. */
TEST(a_std_event_with_no_meaning_is_einval)
{
	static const uint64_t junk[] = {
		0,			/* "no event" */
		PERF_COUNT_HW_MAX + 1,	/* beyond the hardware events */
		0xffff,
		0x10038,		/* cache 7 */
		0x10006,		/* cache operation 3 */
		0x20000,		/* raw: has a class of its own */
		0x30000,
		0xf0000,		/* firmware: likewise */
		0x40000,		/* no type */
		0x100001,		/* bit 20 */
		1ULL << 61 | 1,
	};

	for (size_t i = 0; i < ARRAY_SIZE(junk); i++) {
		EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_STD(junk[i])))
			TH_LOG("event_idx 0x%llx", (unsigned long long)junk[i]);
	}
}

/* SBI: platform firmware events, 0xffff, carry their code elsewhere: class 3 here. */
TEST(a_firmware_event_with_no_meaning_is_einval)
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

TEST(a_platform_firmware_event_that_the_firmware_lacks_is_enoent)
{
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_FW_PLATFORM(0x1234)));
}

/* OpenSBI gives raw selectors to the counters that the device tree maps: QEMU's maps none. */
TEST(a_raw_selector_that_the_machine_lacks_is_enoent)
{
	if (pmu_is_delegated())
		SKIP(return, "QEMU's harts take any selector if no firmware refuses it");

	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_RAW(0x1234)));
}

/*
 * QEMU's five events, each of which the driver restricts to one programmable counter, 3 to 7.
 * When the events are closed, the counters keep their configs, which no event uses.
 */
static void use_counters(struct __test_metadata *_metadata, int fd[5])
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
		SKIP(return, "needs one hart, and raw events (rig/guest/boot --raw-events)");

	use_counters(_metadata, self->fd);
}

FIXTURE_TEARDOWN(raw)
{
}

/* The counters still hold the configs of closed events, which the driver may release. */
TEST_F(raw, an_event_opens_where_closed_events_have_left_configs)
{
	for (int i = 0; i < 5; i++)
		close(self->fd[i]);
	EXPECT_EQ(self->ctrs, self->ctrs & pmu_ctrs_configured(0));
	EXPECT_EQ(0, try_config(PERF_TYPE_RAW, PMU_RAW(PMU_RAW_MAPPED + 1)));
	EXPECT_EQ(-ENOENT, try_config(PERF_TYPE_RAW, PMU_RAW(0x1234)));
}

/* Nothing says that the counters which are in use can not hold it. */
TEST_F(raw, an_event_opens_while_others_use_its_counters)
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
		SKIP(return, "the legacy backend has no raw events: each is ENOENT");

	/* 0 is "no event"; the selector has 48 bits, 56 from SBI 3.0 on. */
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_RAW(0)));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_RAW(1ULL << 56)));
	EXPECT_EQ(-EINVAL, try_config(PERF_TYPE_RAW, PMU_RAW(1ULL << 61)));
}

/* In the kernel, bit 0 of config1 marks KVM's events for its guests: user space gets EINVAL. */
TEST(bits_of_config1_and_config2_without_a_meaning_are_einval)
{
	struct perf_event_attr attr = attr_instructions();

	attr.config1 = 1;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
	attr.config1 = 1ULL << 63;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
	attr.config1 = 0;
	attr.config2 = 1ULL << 32;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
	/* Lower bits are counters that the event may have; the time is none. */
	attr.config2 = 2;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
}

/* Its offset is ABI (size 136 is PERF_ATTR_SIZE_VER8), but headers before Linux 6.3 lack it. */
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

/* The same of config4, which is Linux 7.2's; others do not know the word at all. */
TEST(config4_is_einval_or_too_big)
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

TEST(precise_samples_are_eopnotsupp)
{
	struct perf_event_attr attr = attr_instructions();

	for (unsigned int precise = 1; precise <= 3; precise++) {
		attr.precise_ip = precise;
		EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
	}
}

TEST(a_branch_stack_is_eopnotsupp)
{
	struct perf_event_attr attr = attr_instructions();

	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
}

TEST(sampling_without_interrupt_and_timer_is_eopnotsupp)
{
	struct perf_event_attr attr = attr_instructions();

	attr.sample_period = 100000;
	EXPECT_EQ(pmu_can_sample() ? 0 : -EOPNOTSUPP, pmu_try(&attr));
	attr.freq = 1;
	attr.sample_freq = 100;
	EXPECT_EQ(pmu_can_sample() ? 0 : -EOPNOTSUPP, pmu_try(&attr));
}

TEST(a_filter_where_no_counter_has_one_is_eopnotsupp)
{
	int expected = pmu_can_filter() ? 0 : -EOPNOTSUPP;
	struct perf_event_attr attr = attr_instructions();

	attr.exclude_user = 1;
	EXPECT_EQ(expected, pmu_try(&attr));
	attr = attr_instructions();
	attr.exclude_kernel = 1;
	EXPECT_EQ(expected, pmu_try(&attr));
	attr = attr_instructions();
	attr.exclude_hv = 1;
	EXPECT_EQ(expected, pmu_try(&attr));
}

/* perf sets exclude_guest unasked; where there are no guests it excludes nothing. */
TEST(exclude_guest_opens_or_is_einval_with_kvm)
{
	struct perf_event_attr attr = attr_instructions();
	int err;

	attr.exclude_guest = 1;
	err = pmu_try(&attr);
	/* With KVM and no filter there are guests to leave out: perf tries again on EINVAL. */
	if (err != -EINVAL || pmu_can_filter() || access("/dev/kvm", F_OK))
		EXPECT_EQ(0, err);
}

TEST(a_firmware_event_can_be_neither_sampled_nor_filtered)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));

	if (pmu_is_legacy() || pmu_caps_number("firmware_counters") <= 0)
		SKIP(return, "no firmware events (caps/backend, caps/firmware_counters)");

	EXPECT_EQ(0, pmu_try(&attr));
	attr.sample_period = 10;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
	attr.sample_period = 0;
	attr.exclude_user = 1;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
	attr.exclude_user = 0;
	attr.exclude_kernel = 1;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
}

TEST(malformed_comes_before_impossible)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX);

	attr.exclude_idle = 1;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
}

/* In a child, for the parent keeps its rights: 0 or errno is the exit status. */
static int try_as_nobody(const struct perf_event_attr *attr)
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

TEST_F(paranoid, an_unprivileged_user_may_not_count_the_kernel)
{
	struct perf_event_attr attr = attr_instructions();

	EXPECT_EQ(-EACCES, try_as_nobody(&attr));
	attr.exclude_user = 1;
	EXPECT_EQ(-EACCES, try_as_nobody(&attr));
}

/* No bit may turn exclude_kernel into something less. */
TEST_F(paranoid, no_bit_of_config1_lets_an_unprivileged_user_see_the_kernel)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_kernel = 1;
	EXPECT_EQ(pmu_can_filter() ? 0 : -EOPNOTSUPP, try_as_nobody(&attr));
	for (unsigned int bit = 0; bit < 64; bit++) {
		attr.config1 = 1ULL << bit;
		EXPECT_EQ(-EINVAL, try_as_nobody(&attr));
	}
}

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
