// SPDX-License-Identifier: GPL-2.0
/*
 * What is the same on every core that scripts/guest/boot can play (--core), whether its cycles are
 * sampled by an interrupt, by two raw events or by a timer: perf record's default event has
 * samples, and their periods add up to the count.
 */

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/ring.h"

#define N		20000000L
#define PERIOD		100003
#define CALLS		10000L

FIXTURE(cores) {
	PMU_MAPPED_MEMBERS;
	const char *core;
};

FIXTURE_SETUP(cores)
{
	self->core = getenv("RISCV_PMU_CORE");
	if (!self->core)
		SKIP(return, "needs a core that the driver knows (boot --core)");

	PMU_MAPPED_SETUP(self, pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES));
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = PERIOD;
}

FIXTURE_TEARDOWN(cores)
{
	PMU_MAPPED_TEARDOWN(self);
}

static void sum_periods(const struct pmu_sample *sample, void *arg)
{
	int64_t *sum = arg;

	*sum += sample->period;
}

/*
 * A part of an event that is sampled in two parts has up to a period left at the end; so has an
 * event in one part.
 */
TEST_F(cores, cycles_without_a_filter_are_sampled)
{
	int64_t count, sum = 0;

	ASSERT_EQ(0, pmu_mapped_open_warm(&self->attr, PMU_RING_PAGES, &self->ring, &self->fd));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	count = pmu_read(self->fd);
	pmu_ring_drain(&self->ring, sum_periods, &sum);
	TH_LOG("%ld cycles, %ld samples of %ld", (long)count, (long)self->ring.samples, (long)sum);
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LE(N, count);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, sum % PERIOD);
	EXPECT_GE(count, sum);
	EXPECT_LE(count - 2 * PERIOD, sum);
}

/* Without a filter for machine mode, the fixed counter may count the firmware too. */
TEST_F(cores, cycles_and_instructions_are_counted)
{
	struct perf_event_attr instructions = pmu_attr(PERF_TYPE_HARDWARE,
						       PERF_COUNT_HW_INSTRUCTIONS);
	int fd[2];

	self->attr.sample_period = 0;
	fd[0] = pmu_open(&self->attr);
	ASSERT_LE(0, fd[0]);
	instructions.disabled = 0;
	fd[1] = pmu_open_on(&instructions, 0, -1, fd[0]);
	ASSERT_LE(0, fd[1]);
	ASSERT_EQ(0, pmu_run(fd[0], PERF_IOC_FLAG_GROUP, pmu_loop, N));
	EXPECT_LE(N, pmu_read(fd[0]));
	EXPECT_LE(N, pmu_read(fd[1]));
	close(fd[1]);
	close(fd[0]);
}

/* How often the kernel log has a text. */
static unsigned int nr_logged(const char *text)
{
	static char log[1 << 17];
	int length = klogctl(3 /* all that is there */, log, sizeof(log) - 1);
	unsigned int nr = 0;

	log[length < 0 ? 0 : length] = '\0';
	for (const char *p = strstr(log, text); p; p = strstr(p + 1, text))
		nr++;
	return nr;
}

/*
 * With riscv_pmu.unfiltered=1, exclude_kernel is ignored where no counter has the filter. The
 * kernel executes at least 50 instructions for a getppid().
 */
TEST_F(cores, an_unfiltered_event_counts_all_modes)
{
	struct perf_event_attr all = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr user = all;
	int64_t count[2];
	int fd[2];

	if (!pmu_is_unfiltered())
		SKIP(return, "needs riscv_pmu.unfiltered=1 and a core without filters");

	user.exclude_kernel = 1;
	user.exclude_hv = 1;
	/* The same counter: the configs are equal, so none of the events waits. */
	all.config2 = 1 << 2;
	user.config2 = 1 << 2;
	fd[0] = pmu_open(&all);
	fd[1] = pmu_open(&user);
	ASSERT_LE(0, fd[0]);
	ASSERT_LE(0, fd[1]);
	ASSERT_EQ(0, pmu_run_all(pmu_syscall_loop, CALLS));
	for (int i = 0; i < 2; i++) {
		count[i] = pmu_read(fd[i]);
		close(fd[i]);
	}
	TH_LOG("%ld instructions, %ld with exclude_kernel", (long)count[0], (long)count[1]);
	EXPECT_LE(50 * CALLS, count[1]);
	EXPECT_GT(CALLS, llabs(count[0] - count[1]));
	EXPECT_EQ(1, nr_logged("unfiltered=1: an event with exclude_kernel"));

	user.exclude_user = 1;
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&user));
}

/* Of these cores, only the X60 and those with Sscofpmf and cycles on any counter count :u. */
TEST_F(cores, a_filter_that_no_counter_has_is_refused)
{
	bool able = !strcmp(self->core, "x60") || !strcmp(self->core, "c920v2") ||
		    pmu_is_unfiltered();
	int fd;

	self->attr.sample_period = 0;
	self->attr.exclude_kernel = 1;
	fd = pmu_open(&self->attr);
	EXPECT_TRUE(able ? fd >= 0 : fd == -EOPNOTSUPP)
		TH_LOG("open: %d", fd);
	if (fd >= 0)
		close(fd);
}

TEST_HARNESS_MAIN
