// SPDX-License-Identifier: GPL-2.0
/*
 * Groups: which groups the driver accepts, also with events of other PMUs, and what happens to the
 * events of a group when its leader or its members are closed while they count.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/bundle.h"
#include "lib/task.h"

BUNDLE_FIXTURE(groups)

/* --- which groups are accepted --- */

/*
 * The number of identical events that can always run at the same time
 * (Documentation/admin-guide/perf/riscv-pmu.rst); opening one more in a group fails with EINVAL.
 */
#define IDENTICAL	64

TEST_F(groups, all_identical_events_of_a_group_count)
{
	for (int i = 0; i < IDENTICAL; i++) {
		ASSERT_LE(0, bundle_open(&self->all, &self->attr, i ? self->all.fd[0] : -1));
		self->attr.disabled = 0;
	}
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	for (int i = 0; i < IDENTICAL; i++)
		EXPECT_COUNTED(read_times(self->all.fd[i]));
}

struct fill {
	int possible;	/* events that can be opened alone */
	int accepted;	/* events that were opened in the group */
	int wrong;	/* events that failed neither with -EINVAL nor as when opened alone */
};

/*
 * Tries to open each event of [from, to) as a member of the first event's group. Returns how many
 * can be opened alone, and how many could be opened in the group.
 */
static struct fill fill_group(struct bundle *all, int from, int to, uint64_t period)
{
	struct fill fill = {};

	for (int i = from; i < to; i++) {
		struct perf_event_attr attr = attr_distinct(i, period);
		int alone = pmu_try(&attr);
		int fd = bundle_open(all, &attr, all->fd[0]);

		fill.possible += !alone;
		fill.accepted += fd >= 0;
		fill.wrong += fd < 0 && fd != (alone ?: -EINVAL);
	}

	return fill;
}

/*
 * Returns how many programmable counters can be used by the events at the same time. QEMU (10.0.2)
 * counts each standard event on one counter only: five, in addition to cycle and instret.
 */
static long counters_for_events(void)
{
	return pmu_is_qemu() ? (long)NR_HW_EVENTS :
			       pmu_caps_number("programmable_counters");
}

static long min_of(long a, long b)
{
	return a < b ? a : b;
}

/*
 * Each programmable counter has one config at a time. The fixed counters cycle and instret count
 * one of the four events of cycles and one of the four of instructions. They are not used if they
 * cannot exclude machine mode but other counters can. The leader is identical to one of the events
 * that are tried, so that event needs no further counter.
 */
TEST_F(groups, a_group_has_as_many_distinct_events_as_counters)
{
	long fixed = pmu_uses_fixed_ctrs() ? pmu_caps_number("fixed_counters") : 0;
	long hw = fixed + counters_for_events();
	long fw = pmu_caps_number("firmware_counters");
	struct fill fill;

	if (getenv("RISCV_PMU_NESTED"))
		SKIP(return, "a guest of KVM: events may take turns on the counters of the host");
	if (fw < 0)
		SKIP(return, "no caps: not this driver");

	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	fill = fill_group(&self->all, 0, NR_HW, 0);
	EXPECT_LE(2, fill.possible);
	EXPECT_EQ(min_of(hw, fill.possible), fill.accepted);
	EXPECT_EQ(0, fill.wrong);
	fill = fill_group(&self->all, NR_HW, NR_ALL, 0);
	EXPECT_EQ(min_of(fw, fill.possible), fill.accepted);
	EXPECT_EQ(0, fill.wrong);

	/* The group needs all counters; all of its events run all the time. */
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
	for (int i = 1; i < self->all.nr; i++) {
		struct times it = read_times(self->all.fd[i]);

		EXPECT_LT(0, it.running);
		EXPECT_EQ(it.enabled, it.running);
	}

	/* The leader still counts after the other events are closed. */
	bundle_close(&self->all, 1);
	ASSERT_EQ(0, ioctl(self->all.fd[0], PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_STILL_COUNTS(self->all.fd[0]);
}

/* cycle and instret cannot interrupt, so a sampling event needs one of the other counters. */
TEST_F(groups, a_sampling_group_is_limited_by_interrupting_counters)
{
	struct fill fill;

	if (getenv("RISCV_PMU_NESTED"))
		SKIP(return, "a guest of KVM: events may take turns on the counters of the host");
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	self->attr.sample_period = 1ULL << 40;
	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	fill = fill_group(&self->all, 0, NR_HW, self->attr.sample_period);
	EXPECT_EQ(NR_HW, fill.possible);
	EXPECT_EQ(min_of(counters_for_events(), NR_HW), fill.accepted);
	EXPECT_EQ(0, fill.wrong);
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
}

/*
 * With the legacy backend the counter cycle has no filters. A group can have the same event of it
 * twice, but no event with a filter.
 */
TEST_F(groups, a_group_can_have_the_legacy_cycles_event_twice)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	int leader;

	if (!pmu_is_legacy())
		SKIP(return, "the backend is not legacy, so there is more than one counter");

	attr.read_format = TIMES;
	leader = bundle_open(&self->all, &attr, -1);
	ASSERT_LE(0, leader);
	attr.disabled = 0;
	EXPECT_LE(0, bundle_open(&self->all, &attr, leader));
	attr.exclude_user = 1;
	EXPECT_EQ(-EOPNOTSUPP, bundle_open(&self->all, &attr, leader));
	attr.exclude_user = 0;
	attr.sample_period = N;
	if (pmu_can_sample()) {
		EXPECT_LE(0, bundle_open(&self->all, &attr, leader));
	} else {
		EXPECT_EQ(-EOPNOTSUPP, bundle_open(&self->all, &attr, leader));
	}
	ASSERT_EQ(0, pmu_run(leader, 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(leader));
	EXPECT_EQ(read_times(leader).value, read_times(self->all.fd[1]).value);
}

TEST_F(groups, a_member_of_another_task_or_of_a_cpu_gets_einval)
{
	pid_t pid = pmu_spawn(body_loop_forever, N);
	int leader = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, leader);
	EXPECT_EQ(-EINVAL, bundle_open_on(&self->all, &self->attr, pid, -1, leader));
	EXPECT_EQ(-EINVAL, bundle_open_on(&self->all, &self->attr, -1, 0, leader));
	EXPECT_EQ(-EINVAL, bundle_open_on(&self->all, &self->attr, 0, 0, leader));
	pmu_kill(pid);
	ASSERT_EQ(0, pmu_run(leader, 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(leader));
}

/* --- groups with events of other PMUs --- */

#define PAGES	64

static void body_touch(long pages)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, pages * size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (long i = 0; at != MAP_FAILED && i < pages; i++)
		at[i * size] = 1;
	munmap(at, pages * size);
}

static const uint64_t software[] = {
	PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_DUMMY,
};

/* Each new page causes one fault. The first run has faulted in what the code itself needs. */
TEST_F(groups, a_hardware_leader_can_have_software_siblings)
{
	double began, took;
	int *fd = self->all.fd;

	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	for (size_t i = 0; i < ARRAY_SIZE(software); i++) {
		struct perf_event_attr attr = attr_software(software[i]);

		ASSERT_LE(0, bundle_open(&self->all, &attr, fd[0]));
	}
	ASSERT_EQ(0, pmu_run(fd[0], 0, body_touch, PAGES));
	ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	ASSERT_EQ(0, pmu_run(fd[0], 0, body_touch, PAGES));
	EXPECT_EQ(PAGES, read_times(fd[1]).value);

	ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	began = now();
	ASSERT_EQ(0, pmu_run(fd[0], 0, pmu_loop, N));
	took = now() - began;
	EXPECT_COUNTED(read_times(fd[0]));
	EXPECT_LT(0, read_times(fd[2]).value);
	EXPECT_GE(took * 1e9, read_times(fd[2]).value);
	EXPECT_EQ(0, read_times(fd[3]).value);
}

/* perf moves the group to the hardware context when the first hardware event is added. */
TEST_F(groups, a_software_leader_can_have_hardware_siblings)
{
	struct perf_event_attr leader = attr_software(PERF_COUNT_SW_DUMMY);
	struct perf_event_attr faults = attr_software(PERF_COUNT_SW_PAGE_FAULTS);
	struct perf_event_attr cycles = attr_of(PERF_COUNT_HW_CPU_CYCLES);
	int *fd = self->all.fd;

	leader.disabled = 1;
	cycles.disabled = 0;
	self->attr.disabled = 0;
	ASSERT_LE(0, bundle_open(&self->all, &leader, -1));
	ASSERT_LE(0, bundle_open(&self->all, &faults, fd[0]));
	ASSERT_LE(0, bundle_open(&self->all, &self->attr, fd[0]));
	ASSERT_LE(0, bundle_open(&self->all, &cycles, fd[0]));
	ASSERT_EQ(0, pmu_run(fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(fd[2]));
	EXPECT_COUNTED(read_times(fd[3]));
	EXPECT_EQ(0, read_times(fd[0]).value);
	/* After the leader is closed, the hardware events still run, each without a group. */
	ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0));
	bundle_close_one(&self->all, 0);
	EXPECT_STILL_COUNTS(fd[2]);
	EXPECT_STILL_COUNTS(fd[3]);
}

#define TRACEPOINT	"/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id"

TEST_F(groups, a_tracepoint_counts_in_a_hardware_group)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_TRACEPOINT, pmu_read_number(TRACEPOINT));
	int *fd = self->all.fd;

	if ((long)attr.config < 0)
		SKIP(return, "no tracepoint of getppid in tracefs");

	attr.disabled = 0;
	attr.read_format = TIMES;
	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	ASSERT_LE(0, bundle_open(&self->all, &attr, fd[0]));
	ASSERT_EQ(0, pmu_run(fd[0], 0, pmu_syscall_loop, 1000));
	EXPECT_EQ(1000, read_times(fd[1]).value);
	EXPECT_LE(pmu_least(1000 * PMU_SYSCALL_RETIRED), read_times(fd[0]).value);

	bundle_close(&self->all, 1);
	ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, pmu_run(fd[0], 0, pmu_loop, N));
	EXPECT_EQ(read_times(fd[0]).enabled, read_times(fd[0]).running);
	ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_STILL_COUNTS(fd[0]);
}

/*
 * Linux has no hardware breakpoints on RISC-V so far. If it has, this one is never hit, and must
 * not change the count of the group.
 */
TEST_F(groups, a_breakpoint_does_not_change_a_hardware_group)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&self->exact, .bp_len = HW_BREAKPOINT_LEN_1,
	};
	int fd;

	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	fd = bundle_open(&self->all, &attr, self->all.fd[0]);
	EXPECT_TRUE(fd >= 0 || fd == -ENOENT)
		TH_LOG("error %d", fd);
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
}

/* --- closing events while they run --- */

/* Opens and enables a leader and five siblings, one of them a software event. Returns 0 or -1. */
static int open_running_group(struct bundle *all)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr dummy = attr_software(PERF_COUNT_SW_DUMMY);

	for (int i = 0; i < 6; i++) {
		attr.config = i & 1 ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS;
		if (bundle_open(all, i == 3 ? &dummy : &attr, i ? all->fd[0] : -1) < 0)
			return -1;
		attr.disabled = 0;
	}

	return ioctl(all->fd[0], PERF_EVENT_IOC_ENABLE, 0);
}

TEST_F(groups, siblings_still_count_after_their_leader_is_closed)
{
	struct times before[6];

	ASSERT_EQ(0, open_running_group(&self->all));
	pmu_loop(N);
	for (int i = 1; i < 6; i++)
		before[i] = read_times(self->all.fd[i]);
	bundle_close_one(&self->all, 0);
	for (int i = 1; i < 6; i++) {
		struct times it;

		if (i != 3)
			EXPECT_STILL_COUNTS(self->all.fd[i]);
		it = read_times(self->all.fd[i]);
		EXPECT_LE(before[i].value, it.value);
		EXPECT_LT(before[i].running, it.running);
		EXPECT_EQ(it.enabled, it.running);
	}
}

TEST_F(groups, a_group_still_counts_after_members_are_closed)
{
	ASSERT_EQ(0, open_running_group(&self->all));
	for (int keep = 5; keep; keep--) {
		bundle_close(&self->all, keep);
		for (int i = 0; i < keep; i++) {
			if (i != 3)
				EXPECT_STILL_COUNTS(self->all.fd[i]);
		}
	}
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->attached, pmu_events_attached());
}

/* --- inherited groups --- */

/* Returns the status of a child that exits at once, or -errno. */
static int fork_and_wait(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0)
		return -errno;
	waitpid(pid, &status, 0);
	return status;
}

/*
 * A pinned leader that does not get its counter is in an error state. A group with such a member
 * can be larger than the hart: with other filters, QEMU's events need the same counter, but cannot
 * share it. That group never runs, but its task can start processes, which inherit it.
 */
TEST_F(groups, a_task_with_a_group_that_never_runs_can_fork)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HW_CACHE,
					       PMU_CACHE(PERF_COUNT_HW_CACHE_DTLB,
							 PERF_COUNT_HW_CACHE_OP_READ,
							 PERF_COUNT_HW_CACHE_RESULT_MISS));
	int64_t value;

	if (!pmu_can_filter() || !pmu_is_qemu())
		SKIP(return, "no filters (Sscofpmf), or the events do not need the same counter");

	move_to(0);
	attr.disabled = 0;
	attr.pinned = 1;
	ASSERT_LE(0, bundle_open_on(&self->all, &attr, -1, 0, -1));
	attr.inherit = 1;
	attr.exclude_user = 1;
	ASSERT_LE(0, bundle_open(&self->all, &attr, -1));
	/* The read of an event in an error state is at the end of the file. */
	ASSERT_EQ(0, read(self->all.fd[1], &value, sizeof(value)));
	attr.pinned = 0;
	attr.exclude_user = 0;
	attr.exclude_kernel = 1;
	ASSERT_LE(0, bundle_open(&self->all, &attr, self->all.fd[1]));
	EXPECT_EQ(0, fork_and_wait());
}

/*
 * While a sample is taken, no member of its group counts, whether it samples itself or not. With
 * -icount a cycle is an instruction, so both members count the same, but for two gaps: between the
 * reads of the two counters when the interrupt begins, and between the start of one and the read of
 * the other when it ends. The gaps are opposed, and differ by 12 instructions with batches, 17
 * with a call for each counter, and 40 with delegated counters. An interrupt takes more than 900.
 */
#define MEMBER_PERIOD	10000
#define MEMBER_GAP	50

static void expect_equal_members(struct __test_metadata *_metadata, uint64_t period,
				 uint64_t member_period)
{
	struct perf_event_attr cycles = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr insns = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int leader, member;
	int64_t difference;

	cycles.sample_period = period;
	insns.sample_period = member_period;
	insns.disabled = 0;
	leader = pmu_open(&cycles);
	ASSERT_LE(0, leader);
	member = pmu_open_on(&insns, 0, -1, leader);
	ASSERT_LE(0, member);
	ASSERT_EQ(0, pmu_run(leader, 0, pmu_syscall_loop, 20000));
	ASSERT_LT(20000 * PMU_SYSCALL_INSNS, pmu_read(leader));
	difference = pmu_read(member) - pmu_read(leader);
	EXPECT_GE(pmu_read(leader) / MEMBER_PERIOD * MEMBER_GAP, llabs(difference)) {
		TH_LOG("periods %lu and %lu: %ld and %ld", period, member_period, pmu_read(leader),
		       pmu_read(member));
	}
	close(member);
	close(leader);
}

TEST_F(groups, no_member_counts_the_sample_of_another)
{
	struct pmu_limits limits;

	if (!pmu_is_exact())
		SKIP(return, "needs -icount and one hart: otherwise cycles are no instructions");

	/* perf throttles an event without the other members of its group. */
	pmu_limits_save(&limits);
	expect_equal_members(_metadata, 0, 0);
	expect_equal_members(_metadata, MEMBER_PERIOD, 0);
	expect_equal_members(_metadata, 0, 1000000000);
	expect_equal_members(_metadata, MEMBER_PERIOD, 1000000000);
	expect_equal_members(_metadata, 1000000000, MEMBER_PERIOD);
	pmu_limits_restore(&limits);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
