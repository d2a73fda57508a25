// SPDX-License-Identifier: GPL-2.0
/*
 * Tests the filters of events: which privilege modes are counted.
 *
 * The events count one after the other, never two with different filters at the same time,
 * because QEMU 10.0.2 counts an event on one programmable counter only.
 */

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define CALLS	10000L

FIXTURE(filtering) {
	bool exact;
};

FIXTURE_VARIANT(filtering) {
	uint64_t config;
};

FIXTURE_VARIANT_ADD(filtering, cycles) {
	.config = PERF_COUNT_HW_CPU_CYCLES,
};

FIXTURE_VARIANT_ADD(filtering, instructions) {
	.config = PERF_COUNT_HW_INSTRUCTIONS,
};

FIXTURE_SETUP(filtering)
{
	if (!pmu_can_filter())
		SKIP(return, "no filters (no Sscofpmf, or the legacy backend)");

	self->exact = pmu_is_exact();
}

FIXTURE_TEARDOWN(filtering)
{
}

enum { USER = 1, KERNEL = 2, HV = 4 };

/* Returns the count for body(arg) of an event that excludes the modes in @exclude, or -errno. */
static int64_t count_excluding(uint64_t config, unsigned int exclude, pmu_body *body, long arg)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, config);
	int64_t count;
	int fd;

	attr.exclude_user = !!(exclude & USER);
	attr.exclude_kernel = !!(exclude & KERNEL);
	attr.exclude_hv = !!(exclude & HV);
	fd = pmu_open(&attr);
	if (fd < 0)
		return fd;

	count = pmu_count_net(fd, body, arg);
	close(fd);
	return count;
}

TEST_F(filtering, exclude_kernel_and_hv_leaves_3_instructions_per_system_call)
{
	int64_t count = count_excluding(variant->config, KERNEL | HV, pmu_syscall_loop, CALLS);

	if (self->exact) {
		EXPECT_EQ(PMU_SYSCALL_INSNS * CALLS, count);
	} else {
		EXPECT_LE(pmu_least(PMU_SYSCALL_RETIRED * CALLS), count);
	}
}

/* exclude_hv changes no count. Nothing of pmu_loop() runs in machine mode. */
TEST_F(filtering, exclude_kernel_alone_counts_user_mode)
{
	int64_t count = count_excluding(variant->config, KERNEL, pmu_loop, 1000000);

	if (self->exact) {
		EXPECT_EQ(1000000, count);
	} else {
		EXPECT_LE(pmu_least(1000000), count);
	}
}

/*
 * The kernel executes at least 50 instructions for a getppid(): entry, exit, and saving and
 * restoring all registers.
 */
TEST_F(filtering, exclude_user_counts_the_kernel_part_of_system_calls)
{
	int64_t count = count_excluding(variant->config, USER, pmu_syscall_loop, CALLS);

	EXPECT_LE(pmu_least(50 * CALLS), count);
}

/*
 * Only ticks are counted. A kernel with KASAN and lockdep executes 100 000 instructions in a
 * tick, and there are 4 million between two ticks: so the count is less than a tenth.
 */
TEST_F(filtering, exclude_user_does_not_count_a_loop_in_user_mode)
{
	int64_t count = count_excluding(variant->config, USER, pmu_loop, 100000000);

	if (!self->exact)
		SKIP(return, "needs -icount and one hart: otherwise ticks may count more");

	EXPECT_LE(0, count);
	EXPECT_GE(100000000 / 10, count);
}

/*
 * The number of ticks in a window varies, and only the unfiltered count includes the firmware:
 * so a difference of 5 % is allowed.
 */
TEST_F(filtering, user_count_plus_kernel_count_is_the_unfiltered_count)
{
	int64_t user = count_excluding(variant->config, KERNEL | HV, pmu_syscall_loop, CALLS);
	int64_t kernel = count_excluding(variant->config, USER, pmu_syscall_loop, CALLS);
	int64_t both = count_excluding(variant->config, 0, pmu_syscall_loop, CALLS);

	EXPECT_LT(0, user);
	EXPECT_LT(0, kernel);
	EXPECT_LT(user, both);
	if (!self->exact)
		SKIP(return, "needs -icount and one hart: the number of ticks in a window varies");

	EXPECT_LE((user + kernel) * 95 / 100, both);
	EXPECT_GE((user + kernel) * 105 / 100, both);
}

TEST_F(filtering, excluding_user_kernel_and_hv_counts_nothing)
{
	EXPECT_EQ(0, count_excluding(variant->config, USER | KERNEL | HV, pmu_syscall_loop, CALLS));
}

/* With exclude_host only guests are counted, and none runs. */
TEST_F(filtering, exclude_host_counts_nothing)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, variant->config);
	int fd;

	attr.exclude_host = 1;
	attr.exclude_hv = 1;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, pmu_count(fd, pmu_syscall_loop, CALLS));
	close(fd);
}

TEST_F(filtering, exclude_guest_counts_the_host)
{
	struct perf_event_attr attr = pmu_attr_user(PERF_TYPE_HARDWARE, variant->config);
	int fd;

	attr.exclude_guest = 1;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	if (self->exact) {
		EXPECT_EQ(1000000, pmu_count_net(fd, pmu_loop, 1000000));
	} else {
		EXPECT_LE(pmu_least(1000000), pmu_count(fd, pmu_loop, 1000000));
	}
	close(fd);
}

/* The next event may get the counter of the previous event, with other filters. */
TEST_F(filtering, the_filters_of_an_event_do_not_affect_the_next_event)
{
	if (!self->exact)
		SKIP(return, "needs -icount and one hart: otherwise counts are not exact");

	for (int i = 0; i < 5; i++) {
		EXPECT_LE(50 * CALLS,
			  count_excluding(variant->config, USER, pmu_syscall_loop, CALLS));
		EXPECT_EQ(PMU_SYSCALL_INSNS * CALLS,
			  count_excluding(variant->config, KERNEL | HV, pmu_syscall_loop, CALLS));
		EXPECT_EQ(0, count_excluding(variant->config, USER | KERNEL | HV,
					     pmu_syscall_loop, CALLS));
	}
}

/*
 * Events that have run before are multiplexed on one counter: one batch writes the next event's
 * filters and starts the counter. What the counter counted with the previous event's filters must
 * not be added to the next event.
 */
TEST_F(filtering, a_resumed_event_counts_with_its_own_filters_only)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, variant->config);
	int all, none;

	all = pmu_open(&attr);
	ASSERT_LE(0, all);
	attr.exclude_user = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	none = pmu_open(&attr);
	ASSERT_LE(0, none);

	for (int i = 0; i < 5; i++) {
		EXPECT_LE(pmu_least(PMU_SYSCALL_RETIRED * CALLS),
			  pmu_count(all, pmu_syscall_loop, CALLS));
		EXPECT_EQ(0, pmu_count(none, pmu_syscall_loop, CALLS));
	}
	close(none);
	close(all);
}

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
