// SPDX-License-Identifier: GPL-2.0
/*
 * Who is counted: user, kernel, both, nobody.
 *
 * One event after the other, never two filters at once: QEMU 10.0.2 counts an
 * event on one programmable counter only.
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

/* body(arg) as an event counts it that leaves out what @exclude says. */
static int64_t count_without(uint64_t config, unsigned int exclude, pmu_body *body, long arg)
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

TEST_F(filtering, without_the_kernel_a_system_call_is_three_instructions)
{
	int64_t count = count_without(variant->config, KERNEL | HV, pmu_syscall_loop, CALLS);

	if (self->exact) {
		EXPECT_EQ(PMU_SYSCALL_INSNS * CALLS, count);
	} else {
		EXPECT_LE(pmu_least(PMU_SYSCALL_RETIRED * CALLS), count);
	}
}

/* exclude_hv is machine mode: it does not run on the user's behalf. */
TEST_F(filtering, exclude_kernel_alone_counts_the_user)
{
	int64_t count = count_without(variant->config, KERNEL, pmu_loop, 1000000);

	if (self->exact) {
		EXPECT_EQ(1000000, count);
	} else {
		EXPECT_LE(pmu_least(1000000), count);
	}
}

/* A getppid() takes the kernel 50 instructions at least: entry, exit and all registers. */
TEST_F(filtering, without_the_user_the_kernels_part_of_a_call_is_left)
{
	int64_t count = count_without(variant->config, USER, pmu_syscall_loop, CALLS);

	EXPECT_LE(pmu_least(50 * CALLS), count);
}

/*
 * What is left are ticks. A kernel with KASAN and lockdep has 100 000
 * instructions in one, of the 4 million between two: a tenth is plenty.
 */
TEST_F(filtering, without_the_user_a_loop_of_the_user_is_not_counted)
{
	int64_t count = count_without(variant->config, USER, pmu_loop, 100000000);

	if (!self->exact)
		SKIP(return, "needs -icount and one hart: the rest of the host shows in ticks");

	EXPECT_LE(0, count);
	EXPECT_GE(100000000 / 10, count);
}

/* Ticks fall into the windows by chance, and the unfiltered count has the firmware's part: 5 %. */
TEST_F(filtering, user_and_kernel_add_up_to_both)
{
	int64_t user = count_without(variant->config, KERNEL | HV, pmu_syscall_loop, CALLS);
	int64_t kernel = count_without(variant->config, USER, pmu_syscall_loop, CALLS);
	int64_t both = count_without(variant->config, 0, pmu_syscall_loop, CALLS);

	EXPECT_LT(0, user);
	EXPECT_LT(0, kernel);
	EXPECT_LT(user, both);
	if (!self->exact)
		SKIP(return, "needs -icount and one hart: the windows are not alike in ticks");

	EXPECT_LE((user + kernel) * 95 / 100, both);
	EXPECT_GE((user + kernel) * 105 / 100, both);
}

TEST_F(filtering, without_user_and_kernel_nothing_is_counted)
{
	EXPECT_EQ(0, count_without(variant->config, USER | KERNEL | HV, pmu_syscall_loop, CALLS));
}

/* exclude_host leaves guests, and none runs. */
TEST_F(filtering, without_the_host_nothing_is_counted)
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

TEST_F(filtering, without_guests_the_host_is_counted)
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

/* The next event may get the counter of the last one, with other filters. */
TEST_F(filtering, a_filter_does_not_stay_behind)
{
	if (!self->exact)
		SKIP(return, "needs -icount and one hart: else the count is not known");

	for (int i = 0; i < 5; i++) {
		EXPECT_LE(50 * CALLS,
			  count_without(variant->config, USER, pmu_syscall_loop, CALLS));
		EXPECT_EQ(PMU_SYSCALL_INSNS * CALLS,
			  count_without(variant->config, KERNEL | HV, pmu_syscall_loop, CALLS));
		EXPECT_EQ(0, count_without(variant->config, USER | KERNEL | HV,
					   pmu_syscall_loop, CALLS));
	}
}

/*
 * Events that have run before are multiplexed on one counter: one batch writes the next event's
 * filters and starts the counter. What the counter counted with the previous event's filters must
 * not be added to the next event.
 */
TEST_F(filtering, an_event_that_comes_back_counts_with_its_own_filter_only)
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

PMU_TEST_AT_LAST(PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
