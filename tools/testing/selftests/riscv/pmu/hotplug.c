// SPDX-License-Identifier: GPL-2.0
/*
 * Harts that go down and come up again: what happens to the events of a CPU and of a task
 * there, while they count and while they sample.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <time.h>

#include "../../kselftest_harness.h"
#include "lib/bundle.h"
#include "lib/ring.h"
#include "lib/task.h"

#define FAIL_FIRMWARE	"/sys/kernel/debug/fail_riscv_pmu/"
/* A hart that comes up makes fewer firmware calls and allocations than this. */
#define MAX_STEPS	200

FIXTURE(hotplug) {
	struct perf_event_attr attr;
	struct bundle all;
	cpu_set_t cpus;
	long attached;
	bool exact;
};

FIXTURE_SETUP(hotplug)
{
	if (!can_go_down(1))
		SKIP(return, "no CPU 1 that can go down");

	self->attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	self->attached = pmu_events_attached();
	sched_getaffinity(0, sizeof(self->cpus), &self->cpus);
}

FIXTURE_TEARDOWN(hotplug)
{
	if (!access(FAIL_FIRMWARE "probability", W_OK))
		pmu_write_number(FAIL_FIRMWARE "probability", 0);
	bring_up(1);
	sched_setaffinity(0, sizeof(self->cpus), &self->cpus);
	bundle_close(&self->all, 0);
}

/* perf takes an event off its CPU for good when that goes down; its count stays. */
TEST_F(hotplug, a_cpu_wide_event_keeps_its_count_when_its_hart_goes_down)
{
	struct times before, down;
	int fd;

	self->attr.disabled = 0;
	fd = bundle_open_on(&self->all, &self->attr, -1, 1, -1);
	ASSERT_LE(0, fd);
	move_to(1);
	pmu_loop(N);
	before = read_times(fd);
	EXPECT_LE(pmu_least(N), before.value);
	ASSERT_TRUE(take_down(1));
	down = read_times(fd);
	EXPECT_LE(before.value, down.value);
	EXPECT_LE(before.enabled, down.enabled);
	EXPECT_EQ(self->attached, pmu_events_attached());
	EXPECT_EQ(-ENODEV, pmu_open_on(&self->attr, -1, 1, -1));
	EXPECT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	EXPECT_EQ(0, read_times(fd).value);
	bundle_close(&self->all, 0);

	ASSERT_TRUE(bring_up(1));
	fd = bundle_open_on(&self->all, &self->attr, -1, 1, -1);
	ASSERT_LE(0, fd);
	move_to(1);
	EXPECT_STILL_COUNTS(fd);
}

/* It is closed only when the hart is there again, without the event. */
TEST_F(hotplug, an_event_from_before_its_hart_went_down_is_closed_later)
{
	int fd;

	self->attr.disabled = 0;
	fd = bundle_open_on(&self->all, &self->attr, -1, 1, -1);
	ASSERT_LE(0, fd);
	ASSERT_TRUE(take_down(1));
	ASSERT_TRUE(bring_up(1));
	EXPECT_LE(0, read_times(fd).value);
	EXPECT_EQ(self->attached, pmu_events_attached());
	ASSERT_LE(0, bundle_open_on(&self->all, &self->attr, -1, 1, -1));
	move_to(1);
	EXPECT_STILL_COUNTS(self->all.fd[1]);
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->attached, pmu_events_attached());
}

/*
 * perf's core reads the two times one after the other without a lock: if the task is switched out
 * and in between, only the second one includes the time since the last switch. Time in which the
 * event was not on a counter is missing in each read.
 */
static struct times read_whole_times(int fd)
{
	struct times times = read_times(fd);

	for (int i = 0; i < 3 && times.running > times.enabled; i++)
		times = read_times(fd);
	return times;
}

TEST_F(hotplug, a_task_is_counted_on_its_hart_before_and_after_it_was_down)
{
	struct times last = {}, it;
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < 20; i++) {
		move_to(1);
		EXPECT_STILL_COUNTS(fd);
		/* The scheduler moves whoever is there to another CPU. */
		ASSERT_TRUE(take_down(1));
		EXPECT_NE(1, sched_getcpu());
		EXPECT_STILL_COUNTS(fd);
		ASSERT_TRUE(bring_up(1));
		it = read_whole_times(fd);
		EXPECT_LE(last.value + 2 * pmu_least(N), it.value);
		EXPECT_LT(last.running, it.running);
		EXPECT_EQ(it.enabled, it.running);
		last = it;
	}
}

static void body_loop_on_1(long arg)
{
	move_to(1);
	body_loop_forever(arg);
}

/* One event of the task, one of the CPU: in 20 ms, both have ended many a period. */
TEST_F(hotplug, a_hart_goes_down_in_a_storm_of_samples)
{
	struct pmu_limits limits;
	struct pmu_ring ring;
	int64_t samples = 0;
	pid_t pid;
	int fd;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	pmu_limits_save(&limits);
	pid = pmu_spawn(body_loop_on_1, N);
	self->attr.disabled = 0;
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = 10000;
	fd = bundle_open_on(&self->all, &self->attr, pid, -1, -1);
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, pmu_ring_map(&ring, fd));
	for (int i = 0; i < 5; i++) {
		EXPECT_LE(0, bundle_open_on(&self->all, &self->attr, -1, 1, -1));
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
		EXPECT_TRUE(take_down(1));
		bundle_close(&self->all, 1);
		EXPECT_TRUE(bring_up(1));
	}
	pmu_ring_drain(&ring, NULL, NULL);
	samples = ring.samples;
	EXPECT_LT(0, samples);
	nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
	pmu_ring_drain(&ring, NULL, NULL);
	EXPECT_LT(samples, ring.samples);
	EXPECT_FALSE(ring.broken);
	pmu_kill(pid);
	pmu_ring_unmap(&ring);
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->attached, pmu_events_left());
	pmu_limits_restore(&limits);
}

/* The firmware call fails once, for CPU 1; the other harts keep their NMIs. */
TEST_F_TIMEOUT(hotplug, caps_sampling_is_interrupt_if_a_hart_has_no_nmis, 300)
{
	struct pmu_ring ring = { };
	int fd, step = 0;

	if (!pmu_samples_by_nmi())
		SKIP(return, "overflows are not NMIs (caps/sampling)");
	if (access(FAIL_FIRMWARE "space", W_OK))
		SKIP(return, "no " FAIL_FIRMWARE ": no CONFIG_RISCV_PMU_FAULT_INJECTION");

	/* Otherwise each failure writes a stack trace to the log. */
	ASSERT_TRUE(pmu_write_number(FAIL_FIRMWARE "verbose", 0));
	while (pmu_samples_by_nmi() && step < MAX_STEPS) {
		ASSERT_TRUE(take_down(1));
		ASSERT_TRUE(pmu_write_number(FAIL_FIRMWARE "space", step++));
		ASSERT_TRUE(pmu_write_number(FAIL_FIRMWARE "times", 1));
		ASSERT_TRUE(pmu_write_number(FAIL_FIRMWARE "probability", 100));
		ASSERT_TRUE(bring_up(1));
		ASSERT_TRUE(pmu_write_number(FAIL_FIRMWARE "probability", 0));
	}
	TH_LOG("step %d of %d", step, MAX_STEPS);
	EXPECT_GT(MAX_STEPS, step);
	EXPECT_TRUE(pmu_samples_by_interrupt());

	/* The hart samples by the interrupt. */
	self->attr.disabled = 0;
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = 10000;
	fd = bundle_open_on(&self->all, &self->attr, -1, 1, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&ring, fd));
	move_to(1);
	pmu_loop(N);
	pmu_ring_drain(&ring, NULL, NULL);
	EXPECT_LT(0, ring.samples);
	pmu_ring_unmap(&ring);
	bundle_close(&self->all, 0);
	sched_setaffinity(0, sizeof(self->cpus), &self->cpus);

	EXPECT_TRUE(take_down(1));
	EXPECT_TRUE(bring_up(1));
	EXPECT_TRUE(pmu_samples_by_nmi());
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
