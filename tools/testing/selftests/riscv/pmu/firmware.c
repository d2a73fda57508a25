// SPDX-License-Identifier: GPL-2.0
/* Firmware events: calls that the kernel makes, and instructions that the firmware emulates. */

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

FIXTURE(firmware) {
	cpu_set_t all;
};

FIXTURE_SETUP(firmware)
{
	cpu_set_t one;

	if (pmu_caps_number("firmware_counters") <= 0)
		SKIP(return, "no firmware counters (caps/firmware_counters)");

	/* Some events count on CPU 0 only, so run there. */
	sched_getaffinity(0, sizeof(self->all), &self->all);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
}

FIXTURE_TEARDOWN(firmware)
{
	sched_setaffinity(0, sizeof(self->all), &self->all);
}

static int open_firmware(uint64_t code, pid_t pid, int cpu)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(code));

	return pmu_open_on(&attr, pid, cpu, -1);
}

static void body_sleep(long times)
{
	for (long i = 0; i < times; i++)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

TEST_F(firmware, each_sleep_sets_a_timer_by_a_firmware_call)
{
	int fd;

	if (pmu_hart_has("sstc"))
		SKIP(return, "the hart has Sstc: it sets its timer without a firmware call");

	fd = open_firmware(PMU_FW_SET_TIMER, -1, 0);
	ASSERT_LE(0, fd);
	EXPECT_LE(10, pmu_count(fd, body_sleep, 10));
	close(fd);
}

TEST_F(firmware, a_disabled_firmware_event_keeps_its_count)
{
	int64_t count;
	int fd = open_firmware(PMU_FW_SET_TIMER, -1, 0);

	ASSERT_LE(0, fd);
	count = pmu_count(fd, body_sleep, 2);
	body_sleep(10);
	EXPECT_EQ(count, pmu_read(fd));
	close(fd);
}

/*
 * A task that sleeps does not set the timer itself: the idle task does, when the hart is idle. So a
 * task's event counts only the timers of the ticks.
 */
TEST_F(firmware, a_task_that_does_not_sleep_sets_timers_in_ticks_only)
{
	int64_t count;
	int fd;

	if (pmu_hart_has("sstc"))
		SKIP(return, "the hart has Sstc: it sets its timer without a firmware call");
	if (!pmu_is_exact())
		SKIP(return, "needs -icount and one hart: else the time is not known");

	fd = open_firmware(PMU_FW_SET_TIMER, 0, -1);
	ASSERT_LE(0, fd);
	/*
	 * 40 million instructions take 40 ms: 9 to 11 ticks of 4 ms. Each tick cancels the timer
	 * and sets it again (drivers/clocksource/timer-riscv.c). Allow 2 more for other timers of
	 * the kernel.
	 */
	count = pmu_count(fd, pmu_loop, 40000000);
	EXPECT_LE(9, count);
	EXPECT_GE(2 * 11 + 2, count);
	close(fd);
}

TEST_F(firmware, each_illegal_instruction_is_counted_once)
{
	int fd = open_firmware(PMU_FW_ILLEGAL_INSN, 0, -1);

	ASSERT_LE(0, fd);
	EXPECT_EQ(1, pmu_count(fd, pmu_illegal_loop, 1));
	EXPECT_EQ(100, pmu_count(fd, pmu_illegal_loop, 100));
	pmu_illegal_loop(10);
	EXPECT_EQ(100, pmu_read(fd));
	close(fd);
}

TEST_F(firmware, two_identical_firmware_events_have_equal_counts)
{
	int a = open_firmware(PMU_FW_ILLEGAL_INSN, 0, -1);
	int b = open_firmware(PMU_FW_ILLEGAL_INSN, 0, -1);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, pmu_run_all(pmu_illegal_loop, 100));
	EXPECT_EQ(100, pmu_read(a));
	EXPECT_EQ(100, pmu_read(b));
	close(a);
	close(b);
}

static void body_wake_cpu1(long times)
{
	cpu_set_t set;

	for (long i = 0; i < times; i++) {
		for (int cpu = 0; cpu < 2; cpu++) {
			CPU_ZERO(&set);
			CPU_SET(cpu, &set);
			sched_setaffinity(0, sizeof(set), &set);
		}
	}
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/*
 * With AIA the kernel would send IPIs by IMSIC and without the firmware, but QEMU's virt machine
 * has no IMSIC.
 */
TEST_F(firmware, moving_a_task_to_another_hart_sends_an_ipi)
{
	int fd;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two CPUs");

	fd = open_firmware(PMU_FW_IPI_SENT, -1, 0);
	ASSERT_LE(0, fd);
	EXPECT_LT(0, pmu_count(fd, body_wake_cpu1, 20));
	close(fd);
}

static void body_illegal_on_two_cpus(long times)
{
	cpu_set_t set;

	for (long i = 0; i < times; i++) {
		CPU_ZERO(&set);
		CPU_SET(i & 1, &set);
		sched_setaffinity(0, sizeof(set), &set);
		pmu_illegal_loop(5);
	}
}

TEST_F(firmware, a_task_is_counted_on_each_hart_that_it_moves_to)
{
	int fd = open_firmware(PMU_FW_ILLEGAL_INSN, 0, -1);

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two CPUs");

	ASSERT_LE(0, fd);
	EXPECT_EQ(20 * 5, pmu_count(fd, body_illegal_on_two_cpus, 20));
	close(fd);
}

TEST_F(firmware, all_defined_events_can_be_opened)
{
	for (int code = 0; code < PMU_FW_NR_DEFINED; code++) {
		int fd = open_firmware(code, 0, -1);

		EXPECT_LE(0, fd)
			TH_LOG("code %d", code);
		close(fd);
	}
}

TEST_F(firmware, an_undefined_event_gets_enoent)
{
	EXPECT_EQ(-ENOENT, open_firmware(PMU_FW_NR_DEFINED, 0, -1));
	EXPECT_EQ(-ENOENT, open_firmware(255, 0, -1));
}

/* Counters keep their configs when events are closed, but other events must be able to use them. */
TEST_F(firmware, an_undefined_event_gets_enoent_after_all_counters_were_used)
{
	int fd[PMU_FW_NR_DEFINED];

	for (int code = 0; code < PMU_FW_NR_DEFINED; code++)
		fd[code] = open_firmware(code, 0, -1);
	ASSERT_EQ(0, pmu_run_all(pmu_loop, 1000000));
	for (int code = 0; code < PMU_FW_NR_DEFINED; code++)
		close(fd[code]);
	EXPECT_EQ(-ENOENT, open_firmware(PMU_FW_NR_DEFINED, 0, -1));
}

#define TRAPS		1000
/* The firmware takes far more instructions than this to forward an illegal instruction. */
#define MIN_TRAP_INSNS	50L

FIXTURE(machine_mode) {
	struct perf_event_attr attr;
};

FIXTURE_SETUP(machine_mode)
{
	if (!pmu_is_exact())
		SKIP(return, "counts are not exact (needs -icount and one hart)");

	self->attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	/* The first illegal instruction faults code and stack in. */
	pmu_illegal_loop(1);
}

FIXTURE_TEARDOWN(machine_mode)
{
}

/*
 * Returns the count of the second event less that of the first one, for illegal instructions that
 * both count at the same time; INT64_MIN after an error.
 */
static int64_t difference(const struct perf_event_attr *one, const struct perf_event_attr *other,
			  long traps)
{
	int64_t count;
	int fd[2] = { pmu_open(one), pmu_open(other) };

	if (fd[0] < 0 || fd[1] < 0 || pmu_run_all(pmu_illegal_loop, traps))
		return INT64_MIN;

	count = pmu_read(fd[1]) - pmu_read(fd[0]);
	close(fd[0]);
	close(fd[1]);
	return count;
}

/*
 * The count must not depend on whether the event samples, nor on the counter that it has for that.
 * Two counters start and stop some hundred instructions apart, and a tick in between takes some
 * thousand instructions. If only one of them counted machine mode, the difference would be
 * TRAPS * MIN_TRAP_INSNS or more (OpenSBI 1.6: 1337 instructions for each trap).
 */
TEST_F(machine_mode, counting_and_sampling_events_have_equal_counts)
{
	struct perf_event_attr sampling = self->attr;
	int64_t apart;

	if (!pmu_can_sample())
		SKIP(return, "the machine does not sample (caps/sampling)");

	sampling.sample_period = 1ULL << 40;
	apart = difference(&self->attr, &sampling, TRAPS);
	ASSERT_NE(INT64_MIN, apart);
	EXPECT_GT(TRAPS * MIN_TRAP_INSNS, llabs(apart));
}

/*
 * Returns the least count of three runs: ticks, and tasks that run after them, only add to it.
 * INT64_MAX if the event cannot be opened.
 */
static int64_t least_count(const struct perf_event_attr *attr)
{
	int fd = pmu_open(attr);
	int64_t least = INT64_MAX;

	for (int i = 0; fd >= 0 && i < 3; i++) {
		int64_t count = pmu_count_net(fd, pmu_illegal_loop, TRAPS);

		least = count < least ? count : least;
	}
	close(fd);
	return least;
}

/*
 * The count must not depend on the counter that an event has: in the second run, another event uses
 * the counter that the event has in the first run.
 */
TEST_F(machine_mode, another_event_does_not_change_the_count)
{
	struct perf_event_attr user = pmu_attr_user(PERF_TYPE_HARDWARE,
						    PERF_COUNT_HW_INSTRUCTIONS);
	int64_t alone, beside;
	int other;

	if (!pmu_uses_fixed_ctrs() || pmu_try(&user))
		SKIP(return, "only one counter can count the event");

	alone = least_count(&self->attr);
	ASSERT_NE(INT64_MAX, alone);

	user.disabled = 0;
	other = pmu_open(&user);
	ASSERT_LE(0, other);
	beside = least_count(&self->attr);
	ASSERT_NE(INT64_MAX, beside);
	close(other);
	EXPECT_GT(TRAPS * MIN_TRAP_INSNS, llabs(alone - beside)) {
		TH_LOG("alone %lld, beside another event %lld", (long long)alone,
		       (long long)beside);
	}
}

/* config2 can select a counter that counts machine mode. exclude_hv does not change that. */
TEST_F(machine_mode, machine_mode_counts_only_on_a_counter_that_config2_selects)
{
	struct perf_event_attr instret = self->attr;

	instret.config2 = 1 << 2;
	if (pmu_uses_fixed_ctrs())
		SKIP(return, "no counter counts machine mode, or all do");

	EXPECT_LE(TRAPS * MIN_TRAP_INSNS, difference(&self->attr, &instret, TRAPS));
	instret.exclude_hv = 1;
	EXPECT_LE(TRAPS * MIN_TRAP_INSNS, difference(&self->attr, &instret, TRAPS));
}

TEST(firmware_events_get_enoent_without_firmware_counters)
{
	if (pmu_caps_number("firmware_counters") != 0)
		SKIP(return, "there are firmware counters, or no caps/");

	EXPECT_EQ(-ENOENT, open_firmware(PMU_FW_SET_TIMER, 0, -1));
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
