// SPDX-License-Identifier: GPL-2.0
/*
 * What nobody does on purpose, and a driver has to survive: groups that can
 * not be, events that go while they run, families that die while their events
 * rotate, harts that go down, everybody at once. Each time somebody else's
 * event goes on counting right, and in the end nothing is left.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/ring.h"
#include "lib/task.h"

#define N	1000000L
#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* What read() gives of an event with TIMES. */
struct times {
	int64_t value, enabled, running;
};

/* --- what all of it needs --- */

/*
 * perf takes 2^63 - 1 as well, but QEMU (10.0.2, target/riscv/pmu.c) remembers
 * what is beyond its own 2^63 ns, and swallows a later overflow for it.
 */
#define LONGEST	0x4000000000000000ULL	/* 2^62 */

#define MAX_FDS	64

struct bundle {
	int nr;
	int fd[MAX_FDS];
};

static int bundle_open_on(struct bundle *all, const struct perf_event_attr *attr,
			  pid_t pid, int cpu, int leader)
{
	int fd = pmu_open_on(attr, pid, cpu, leader);

	if (fd >= 0)
		all->fd[all->nr++] = fd;
	return fd;
}

static int bundle_open(struct bundle *all, const struct perf_event_attr *attr, int leader)
{
	return bundle_open_on(all, attr, 0, -1, leader);
}

/* All but the first @keep. */
static void bundle_close(struct bundle *all, int keep)
{
	while (all->nr > keep)
		close(all->fd[--all->nr]);
}

static void bundle_close_one(struct bundle *all, int i)
{
	close(all->fd[i]);
	all->fd[i] = -1;
}

/* User only, where the hart can filter: only then is a count not disturbed by the kernel's. */
static struct perf_event_attr attr_of(uint64_t id)
{
	struct perf_event_attr attr = pmu_can_filter() ? pmu_attr_user(PERF_TYPE_HARDWARE, id) :
							 pmu_attr(PERF_TYPE_HARDWARE, id);

	attr.read_format = TIMES;
	return attr;
}

static struct perf_event_attr attr_software(uint64_t id)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_SOFTWARE, id);

	attr.disabled = 0;
	attr.read_format = TIMES;
	return attr;
}

static struct times read_times(int fd)
{
	struct times it;

	if (read(fd, &it, sizeof(it)) != sizeof(it))
		it = (struct times){ -1, -1, -1 };
	return it;
}

/* What an event that is running counts in a window between two reads. */
static int64_t count_between_reads(int fd, long arg)
{
	struct times before = {}, after = {};
	const struct pmu_call on = { __NR_read, { fd, (long)&before, sizeof(before) } };
	const struct pmu_call off = { __NR_read, { fd, (long)&after, sizeof(after) } };

	pmu_window(&on, pmu_loop, arg, &off);
	return after.value - before.value;
}

#define EXPECT_GOES_ON(fd)							\
do {										\
	if (self->exact) {							\
		EXPECT_EQ(N + PMU_WINDOW_INSNS, count_between_reads(fd, N));	\
	} else {								\
		EXPECT_LE(pmu_least(N), count_between_reads(fd, N));		\
	}									\
} while (0)

/* Of a window around pmu_loop(N), in which it was on a counter all the time. */
#define EXPECT_COUNTED(it)							\
do {										\
	if (self->exact) {							\
		EXPECT_EQ(N + PMU_WINDOW_INSNS, (it).value);			\
	} else {								\
		EXPECT_LE(pmu_least(N), (it).value);				\
	}									\
	EXPECT_LT(0, (it).enabled);						\
	EXPECT_EQ((it).enabled, (it).running);					\
} while (0)

static void body_loop_forever(long arg)
{
	for (;;)
		pmu_loop(arg);
}

FIXTURE(abuse) {
	struct perf_event_attr attr;
	struct bundle all;
	long held;
	bool exact;
};

FIXTURE_SETUP(abuse)
{
	self->attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	self->exact = pmu_can_filter() && pmu_is_exact();
	self->held = pmu_events_held();
}

FIXTURE_TEARDOWN(abuse)
{
	bundle_close(&self->all, 0);
}

/* --- groups that can not be --- */

/* As many as run at once (Documentation/admin-guide/perf/riscv-pmu.rst); one more is EINVAL. */
#define IDENTICAL	16

TEST_F(abuse, a_group_of_identical_events_counts_with_each)
{
	for (int i = 0; i < IDENTICAL; i++) {
		ASSERT_LE(0, bundle_open(&self->all, &self->attr, i ? self->all.fd[0] : -1));
		self->attr.disabled = 0;
	}
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	for (int i = 0; i < IDENTICAL; i++)
		EXPECT_COUNTED(read_times(self->all.fd[i]));
}

/* The events that a QEMU has, and four ways to filter each: no two can share a counter. */
static const uint64_t hw_events[] = {
	PMU_STD(1), PMU_STD(2), PMU_STD(0x10019), PMU_STD(0x1001b), PMU_STD(0x10021),
};

#define NR_HW	(4 * (int)ARRAY_SIZE(hw_events))
#define NR_ALL	(NR_HW + PMU_FW_NR_DEFINED)

static struct perf_event_attr attr_distinct(int i, uint64_t period)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(i - NR_HW));

	if (i < NR_HW) {
		attr.config = hw_events[i % ARRAY_SIZE(hw_events)];
		attr.exclude_kernel = i / ARRAY_SIZE(hw_events) & 1;
		attr.exclude_user = i / ARRAY_SIZE(hw_events) >> 1;
		attr.sample_period = period;
	}
	attr.disabled = 0;
	attr.read_format = TIMES;
	return attr;
}

struct fill {
	int possible;	/* would open alone */
	int accepted;	/* and did open in the group */
	int wrong;	/* other errors than that it does not fit, or alone */
};

/* Tries to make all of [from, to) members of the first event's group. */
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

/* QEMU (10.0.2) counts each standard event on one counter: five, beside cycle and instret. */
static long counters_for_events(void)
{
	return pmu_is_qemu() ? (long)ARRAY_SIZE(hw_events) :
			       pmu_caps_number("programmable_counters");
}

static long least_of(long a, long b)
{
	return a < b ? a : b;
}

/*
 * Each counter holds one of the programs, whichever came first. cycle and
 * instret hold one of cycles and one of instructions; there are four of each. Where
 * these two can not leave machine mode out but others can, they are not used.
 * The leader is one of those that are tried, so that one takes no place.
 */
TEST_F(abuse, a_group_of_distinct_events_ends_where_the_counters_do)
{
	long fixed = pmu_uses_fixed_ctrs() ? pmu_caps_number("fixed_counters") : 0;
	long hw = fixed + counters_for_events();
	long fw = pmu_caps_number("firmware_counters");
	struct fill fill;

	if (fw < 0)
		SKIP(return, "no caps: not this driver");

	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	fill = fill_group(&self->all, 0, NR_HW, 0);
	EXPECT_LE(2, fill.possible);
	EXPECT_EQ(least_of(hw, fill.possible), fill.accepted);
	EXPECT_EQ(0, fill.wrong);
	fill = fill_group(&self->all, NR_HW, NR_ALL, 0);
	EXPECT_EQ(least_of(fw, fill.possible), fill.accepted);
	EXPECT_EQ(0, fill.wrong);

	/* Full as it is, it runs, and all of it all the time. */
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
	for (int i = 1; i < self->all.nr; i++) {
		struct times it = read_times(self->all.fd[i]);

		EXPECT_LT(0, it.running);
		EXPECT_EQ(it.enabled, it.running);
	}

	/* And its leader counts on without the others. */
	bundle_close(&self->all, 1);
	ASSERT_EQ(0, ioctl(self->all.fd[0], PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_GOES_ON(self->all.fd[0]);
}

/* cycle and instret do not interrupt: a sampling event has to have one of the others. */
TEST_F(abuse, a_group_of_sampling_events_ends_where_interrupting_counters_do)
{
	struct fill fill;

	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	self->attr.sample_period = 1ULL << 40;
	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	fill = fill_group(&self->all, 0, NR_HW, self->attr.sample_period);
	EXPECT_EQ(NR_HW, fill.possible);
	EXPECT_EQ(least_of(counters_for_events(), NR_HW), fill.accepted);
	EXPECT_EQ(0, fill.wrong);
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
}

/* The legacy backend's cycle can not be filtered; a group may have it twice. */
TEST_F(abuse, events_of_one_fixed_counter_are_a_group_if_they_want_the_same_of_it)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	int leader;

	if (!pmu_is_legacy())
		SKIP(return, "the backend is not legacy: there is more than one counter");

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

TEST_F(abuse, a_member_of_another_task_or_of_a_cpu_is_einval)
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

/* The first five are this driver's to refuse, the others perf's before or after it. */
static const struct invalid {
	const char *why;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu, leader;
} invalid[] = {
	{ "exclude_idle",	{ .config = 1, .exclude_idle = 1 },		0, -1, -1 },
	{ "precise_ip",		{ .config = 1, .precise_ip = 3 },		0, -1, -1 },
	{ "config1",		{ .config = 1, .config1 = 1 },			0, -1, -1 },
	{ "no such event",	{ .config = PERF_COUNT_HW_MAX },		0, -1, -1 },
	{ "no such selector",	{ .type = PERF_TYPE_RAW, .config = 1ULL << 61 }, 0, -1, -1 },
	{ "period",		{ .config = 1, .sample_period = 1ULL << 63 },	0, -1, -1 },
	{ "no such leader",	{ .config = 1 },				0, -1, 9999 },
	{ "no such task",	{ .config = 1 },			0x3fffffff, -1, -1 },
	{ "no such cpu",	{ .config = 1 },				-1, 9999, -1 },
	{ "neither",		{ .config = 1 },				-1, -1, -1 },
};

/* They ask to be enabled at once: what were left of them would be on a counter. */
TEST_F(abuse, what_is_refused_leaves_no_trace)
{
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		struct perf_event_attr attr = invalid[i].attr;

		attr.size = sizeof(attr);
		for (int times = 0; times < 20; times++) {
			EXPECT_GT(0, bundle_open_on(&self->all, &attr, invalid[i].pid,
						    invalid[i].cpu, invalid[i].leader))
				TH_LOG("%s", invalid[i].why);
		}
		EXPECT_EQ(self->held, pmu_events_held());
	}
	EXPECT_GE(0, pmu_ctrs_left());
	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
}

/* --- other PMUs in the group --- */

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

/* Each new page faults once; what the code itself needs was faulted in before. */
TEST_F(abuse, a_hardware_leader_takes_software_siblings)
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

/* perf moves the group to the hardware's context when the first hardware event comes. */
TEST_F(abuse, a_software_leader_takes_hardware_siblings)
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
	/* The hardware's members are left without it, and run on as singles. */
	ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0));
	bundle_close_one(&self->all, 0);
	EXPECT_GOES_ON(fd[2]);
	EXPECT_GOES_ON(fd[3]);
}

#define TRACEPOINT	"/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id"

TEST_F(abuse, a_tracepoint_in_a_hardware_group_counts_its_own)
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
	EXPECT_GOES_ON(fd[0]);
}

/* Linux has no hardware breakpoints on RISC-V so far; where it has, this one is never hit. */
TEST_F(abuse, a_breakpoint_leaves_the_hardware_group_alone)
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

/* --- events that go while they run --- */

/* A leader and five that count beside it, all of them running. */
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

TEST_F(abuse, siblings_go_on_alone_when_their_running_leader_is_closed)
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
			EXPECT_GOES_ON(self->all.fd[i]);
		it = read_times(self->all.fd[i]);
		EXPECT_LE(before[i].value, it.value);
		EXPECT_LT(before[i].running, it.running);
		EXPECT_EQ(it.enabled, it.running);
	}
}

TEST_F(abuse, a_group_goes_on_when_its_running_members_are_closed)
{
	ASSERT_EQ(0, open_running_group(&self->all));
	for (int keep = 5; keep; keep--) {
		bundle_close(&self->all, keep);
		for (int i = 0; i < keep; i++) {
			if (i != 3)
				EXPECT_GOES_ON(self->all.fd[i]);
		}
	}
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->held, pmu_events_held());
}

TEST_F(abuse, an_event_lives_as_long_as_its_last_descriptor)
{
	int fd = bundle_open(&self->all, &self->attr, -1);
	int other = dup(fd);

	ASSERT_LE(0, fd);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	bundle_close(&self->all, 0);
	EXPECT_GOES_ON(other);
	close(other);
	EXPECT_EQ(self->held, pmu_events_held());
	EXPECT_GE(0, pmu_ctrs_left());
}

TEST_F(abuse, no_attribute_of_an_event_can_be_modified)
{
	struct perf_event_attr attr = self->attr;
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	attr.exclude_user = 1;
	errno = 0;
	EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
	EXPECT_EQ(EOPNOTSUPP, errno);
	attr.type = PERF_TYPE_SOFTWARE;
	EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(fd));
}

TEST_F(abuse, a_counting_event_has_no_period_and_no_refresh)
{
	static const uint64_t periods[] = { 0, 1, 1000, LONGEST, 1ULL << 63, UINT64_MAX };
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		errno = 0;
		EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_PERIOD, &periods[i]));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(fd));
}

/* --- and while they sample --- */

FIXTURE(sampled) {
	struct pmu_limits limits;
	struct perf_event_attr attr;
	struct pmu_ring ring;
	struct bundle all;
	long held;
	bool exact;
};

FIXTURE_SETUP(sampled)
{
	/* A skipped set-up has no teardown: nothing may be changed before. */
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	pmu_limits_save(&self->limits);
	self->exact = pmu_is_exact();
	self->held = pmu_events_held();
	self->attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = 10000;
}

FIXTURE_TEARDOWN(sampled)
{
	pmu_ring_unmap(&self->ring);
	bundle_close(&self->all, 0);
	pmu_limits_restore(&self->limits);
}

/* Long enough for an interrupt that comes late. */
#define LONG	(self->exact ? 10 * N : 200 * N)

#define EXPECT_SAMPLES(events, length, seen)	EXPECT_SAMPLES_SEEN(events, length, seen)

TEST_F(sampled, a_mapped_event_samples_on_without_its_descriptor)
{
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	close(fd);
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	/*
	 * Nobody can ask it for its count. Under -icount that is the loop, and what
	 * runs besides is less than a period; elsewhere it is ticks of the host.
	 */
	if (self->exact) {
		EXPECT_SAMPLES(LONG, 10000, self->ring.samples);
	} else {
		EXPECT_LE(1, self->ring.samples);
	}
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(self->held < 0 ? -1 : self->held + 1, pmu_events_held());
	pmu_ring_unmap(&self->ring);
	EXPECT_EQ(self->held, pmu_events_held());
	EXPECT_GE(0, pmu_ctrs_left());
}

static int set_output(int fd, int to)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to) ? -errno : 0;
}

TEST_F(sampled, two_events_write_into_one_ring_and_one_of_them_goes)
{
	int a = bundle_open(&self->all, &self->attr, -1);
	int b = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_EQ(-EINVAL, set_output(b, b));
	EXPECT_EQ(-EBADF, set_output(b, 9999));
	EXPECT_EQ(-EINVAL, set_output(b, a));	/* which has no ring yet */
	ASSERT_EQ(0, pmu_ring_map(&self->ring, a));
	ASSERT_EQ(0, set_output(b, a));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, LONG));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(1, self->ring.samples);
	if (self->exact) {
		EXPECT_LE(2 * (LONG / 10000 - 1), self->ring.samples);
		EXPECT_GE(2 * (LONG / 10000 + 1), self->ring.samples);
	}

	/* b goes, a samples on into its ring; so does it with b in a ring of nobody's. */
	self->ring.samples = 0;
	ASSERT_EQ(0, set_output(b, -1));
	ASSERT_EQ(0, ioctl(a, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, LONG));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(read_times(a).value, 10000, self->ring.samples);
	bundle_close(&self->all, 1);
	EXPECT_FALSE(self->ring.broken);
}

/* The ring outlives the event that it was mapped of. */
TEST_F(sampled, an_event_samples_on_into_the_ring_of_a_closed_one)
{
	int a = pmu_open(&self->attr);
	int b = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, a));
	ASSERT_EQ(0, set_output(b, a));
	close(a);
	ASSERT_EQ(0, pmu_run(b, 0, pmu_loop, LONG));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(read_times(b).value, 10000, self->ring.samples);
	/* Without the map there is no ring; the event does not mind. */
	pmu_ring_unmap(&self->ring);
	ASSERT_EQ(0, ioctl(b, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, pmu_run(b, 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(b));
}

static int set_period(int fd, uint64_t period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}

TEST_F(sampled, periods_of_nothing_and_of_more_than_there_is_are_einval)
{
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_EQ(-EINVAL, set_period(fd, 0));
	EXPECT_EQ(-EINVAL, set_period(fd, 1ULL << 63));
	EXPECT_EQ(-EINVAL, set_period(fd, UINT64_MAX));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	pmu_ring_drain(&self->ring, NULL, NULL);
	self->ring.samples = 0;
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, LONG));
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_SAMPLES(read_times(fd).value, 10000, self->ring.samples);
}

/*
 * With a period of 1 every interrupt is late by many: the driver skips them,
 * and perf throttles. Without -icount QEMU may hang then (see ENDLESS). The
 * longest period never ends; it is left for one that does.
 */
TEST_F(sampled, a_running_event_takes_the_shortest_and_the_longest_period)
{
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 50));
	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_event_max_sample_rate", 5000));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, set_period(fd, pmu_is_icount() ? 1 : 20000));
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(0, self->ring.samples);

	ASSERT_EQ(0, set_period(fd, LONGEST));
	pmu_ring_drain(&self->ring, NULL, NULL);
	self->ring.samples = 0;
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(0, self->ring.samples);
	EXPECT_GOES_ON(fd);

	ASSERT_EQ(0, set_period(fd, N));
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(0, self->ring.samples);
}

/* A refresh enables the event for just one sample, be it disabled or not. */
TEST_F(sampled, fifty_refreshes_give_fifty_samples)
{
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	for (int i = 1; i <= 50; i++) {
		double began = now();

		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
		while (self->ring.samples < i && now() - began < 10) {
			pmu_loop(10 * 10000);
			pmu_ring_drain(&self->ring, NULL, NULL);
		}
		ASSERT_EQ(i, self->ring.samples);
	}
	pmu_loop(LONG);
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_EQ(50, self->ring.samples);
}

/* Sometimes the descriptor goes first, sometimes the ring does. */
static int64_t sample_for_a_moment(const struct perf_event_attr *attr, pid_t pid, bool ring_first)
{
	struct pmu_ring ring;
	int64_t samples = -1;
	double began = now();
	int fd = pmu_open_on(attr, pid, -1, -1);

	if (fd < 0 || pmu_ring_map(&ring, fd))
		return -1;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (samples = 0; !samples && now() - began < 1; samples = ring.samples) {
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		pmu_ring_drain(&ring, NULL, NULL);
	}
	if (ring_first)
		pmu_ring_unmap(&ring);
	close(fd);
	if (!ring_first)
		pmu_ring_unmap(&ring);
	return samples;
}

TEST_F(sampled, an_event_is_closed_while_its_samples_come_from_another_task)
{
	pid_t pid = pmu_spawn(body_loop_forever, N);

	for (int i = 0; i < 40; i++) {
		EXPECT_LT(0, sample_for_a_moment(&self->attr, pid, i & 1));
		EXPECT_EQ(self->held, pmu_events_held());
	}
	pmu_kill(pid);
	EXPECT_GE(0, pmu_ctrs_left());
}

/*
 * One sample a second is less than one in a tick, of which perf makes one: the
 * event is throttled by each sample, until the next tick (4 ms, HZ=250), or until
 * it is switched in again. The first tick and the last are cut.
 */
TEST_F(sampled, the_least_sample_rate_there_is_gives_a_sample_a_tick)
{
	struct rusage before, after;
	int64_t ticks, switches;
	double began;
	int fd;

	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 50));
	ASSERT_TRUE(pmu_write_number("/proc/sys/kernel/perf_event_max_sample_rate", 1));
	self->attr.freq = 1;
	self->attr.sample_freq = 2;
	EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
	self->attr.freq = 0;
	self->attr.sample_period = 1000;
	fd = bundle_open(&self->all, &self->attr, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, fd));
	getrusage(RUSAGE_SELF, &before);
	began = now();
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 20 * LONG / 10));
	ticks = (now() - began) / 4e-3;
	getrusage(RUSAGE_SELF, &after);
	switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
	pmu_ring_drain(&self->ring, NULL, NULL);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_GE(ticks + 2 + switches, self->ring.samples);
	EXPECT_EQ(self->ring.samples, self->ring.throttled);
	if (self->exact)
		EXPECT_LE(ticks - 1, self->ring.samples);
}

/* --- more than there can be --- */

#define DESCRIPTORS	3000

/* One in ten is enabled: all of those share a counter, and each switch visits them all. */
TEST_F(abuse, three_thousand_events_are_opened_and_closed)
{
	struct rlimit limit = { DESCRIPTORS, DESCRIPTORS };
	static int fd[DESCRIPTORS];
	struct times it;
	int first = dup(0), nr = 0, err;

	close(first);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	for (;;) {
		/* The first one never has to wait; the others do, of which three hundred run. */
		self->attr.pinned = !nr;
		self->attr.disabled = nr % 10 != 0;
		err = pmu_open(&self->attr);
		if (err < 0)
			break;
		fd[nr++] = err;
	}
	EXPECT_EQ(-EMFILE, err);
	EXPECT_EQ(DESCRIPTORS - first, nr);

	EXPECT_GOES_ON(fd[0]);
	it = read_times(fd[0]);
	EXPECT_EQ(it.enabled, it.running);
	close(fd[--nr]);
	fd[nr] = pmu_open(&self->attr);
	EXPECT_LE(0, fd[nr++]);
	while (nr)
		close(fd[--nr]);
	EXPECT_EQ(self->held, pmu_events_held());
	EXPECT_GE(0, pmu_ctrs_left());
}

/* --- rotation, while families live and die --- */

/* Twenty-two do not fit into sixteen counters: they take turns. The first one does not. */
static int open_family(struct bundle *all, struct perf_event_attr attr)
{
	attr.inherit = 1;
	attr.pinned = 1;
	if (bundle_open(all, &attr, -1) < 0)
		return -1;

	for (int i = 0; i < PMU_FW_NR_DEFINED; i++) {
		attr = attr_distinct(NR_HW + i, 0);
		attr.inherit = 1;
		attr.disabled = 1;
		if (pmu_caps_number("firmware_counters") > 0 && bundle_open(all, &attr, -1) < 0)
			return -1;
	}

	return 0;
}

#define CHILDREN	100

/* A victim stops itself: it is killed without another instruction. */
static void run_child(long arg, bool victim)
{
	pid_t pid = fork();

	if (!pid) {
		pmu_loop(arg);
		if (victim)
			raise(SIGSTOP);
		_exit(0);
	}
	if (victim) {
		waitpid(pid, NULL, WUNTRACED);
		kill(pid, SIGKILL);
	}
	waitpid(pid, NULL, 0);
}

static void body_family(long arg)
{
	for (int i = 0; i < CHILDREN; i++)
		run_child(arg, i % 4 == 0);
}

/* Fresh events each time: no reset takes away what dead children have counted. */
static int64_t count_family(struct bundle *all, const struct perf_event_attr *attr,
			    pmu_body *body, long arg)
{
	bundle_close(all, 0);
	if (open_family(all, *attr) || pmu_run_all(body, arg))
		return -1;

	return read_times(all->fd[0]).value;
}

/*
 * Which events have a turn in families that live for less than a tick is
 * perf's affair; but more events than counters can not run all the time.
 */
#define EXPECT_TURNS(all)							\
do {										\
	int64_t waited = 0;							\
										\
	for (int i = 1; i < (all)->nr; i++) {					\
		struct times it = read_times((all)->fd[i]);			\
										\
		EXPECT_LE(0, it.running);					\
		EXPECT_GE(it.enabled, it.running);				\
		waited += it.enabled - it.running;				\
	}									\
	if ((all)->nr - 1 > pmu_caps_number("firmware_counters"))		\
		EXPECT_LT(0, waited);						\
} while (0)

/* The debug kernel, on a host with better things to do, takes a while for these. */
TEST_F_TIMEOUT(abuse, a_family_of_a_hundred_is_counted_while_events_rotate, 240)
{
	int64_t empty = 0, count;

	if (self->exact) {
		count_family(&self->all, &self->attr, body_family, 0);
		empty = count_family(&self->all, &self->attr, body_family, 0);
	}
	count = count_family(&self->all, &self->attr, body_family, 100000);
	if (self->exact) {
		EXPECT_EQ(CHILDREN * 100000L, count - empty);
	} else {
		EXPECT_LE(pmu_least(CHILDREN * 100000L), count);
	}
	EXPECT_TURNS(&self->all);
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->held, pmu_events_held());
}

#define STORM	5

/* Eight at a time; every other one is killed wherever it may be by then. */
static void body_storm(long rounds)
{
	pid_t pid[8];

	while (rounds--) {
		for (int i = 0; i < 8; i++)
			pid[i] = pmu_spawn(i & 1 ? body_loop_forever : pmu_loop, 100000);
		for (int i = 1; i < 8; i += 2)
			kill(pid[i], SIGKILL);
		for (int i = 0; i < 8; i++)
			waitpid(pid[i], NULL, 0);
	}
}

TEST_F_TIMEOUT(abuse, a_storm_of_children_that_are_killed_leaves_nothing, 240)
{
	int64_t count = count_family(&self->all, &self->attr, body_storm, STORM);

	/* Four of each eight live to their end. */
	EXPECT_LE(pmu_least(STORM * 4 * 100000), count);
	EXPECT_TURNS(&self->all);
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->held, pmu_events_left());
	EXPECT_GE(0, pmu_ctrs_left());
}

/* --- harts that go down --- */

#define ONLINE	"/sys/devices/system/cpu/cpu1/online"

static bool take_down(void)
{
	return pmu_write_number(ONLINE, 0);
}

/*
 * A hart that stops is "stop pending" for a while (SBI, HSM extension), which
 * Linux does not wait for, and can not be started then. A second is plenty.
 */
static bool bring_up(void)
{
	for (int i = 0; i < 100; i++) {
		if (pmu_write_number(ONLINE, 1))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}

	return false;
}

FIXTURE(hotplug) {
	struct perf_event_attr attr;
	struct bundle all;
	cpu_set_t cpus;
	long held;
	bool exact;
};

FIXTURE_SETUP(hotplug)
{
	if (pmu_read_number(ONLINE) != 1)
		SKIP(return, "no CPU 1 that can go down");

	self->attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);
	self->held = pmu_events_held();
	sched_getaffinity(0, sizeof(self->cpus), &self->cpus);
}

FIXTURE_TEARDOWN(hotplug)
{
	bring_up();
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
	ASSERT_TRUE(take_down());
	down = read_times(fd);
	EXPECT_LE(before.value, down.value);
	EXPECT_LE(before.enabled, down.enabled);
	EXPECT_EQ(self->held, pmu_events_held());
	EXPECT_EQ(-ENODEV, pmu_open_on(&self->attr, -1, 1, -1));
	EXPECT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	EXPECT_EQ(0, read_times(fd).value);
	bundle_close(&self->all, 0);

	ASSERT_TRUE(bring_up());
	fd = bundle_open_on(&self->all, &self->attr, -1, 1, -1);
	ASSERT_LE(0, fd);
	move_to(1);
	EXPECT_GOES_ON(fd);
}

/* It is closed only when the hart is there again, without the event. */
TEST_F(hotplug, an_event_from_before_its_hart_went_down_is_closed_later)
{
	int fd;

	self->attr.disabled = 0;
	fd = bundle_open_on(&self->all, &self->attr, -1, 1, -1);
	ASSERT_LE(0, fd);
	ASSERT_TRUE(take_down());
	ASSERT_TRUE(bring_up());
	EXPECT_LE(0, read_times(fd).value);
	EXPECT_EQ(self->held, pmu_events_held());
	ASSERT_LE(0, bundle_open_on(&self->all, &self->attr, -1, 1, -1));
	move_to(1);
	EXPECT_GOES_ON(self->all.fd[1]);
	bundle_close(&self->all, 0);
	EXPECT_EQ(self->held, pmu_events_held());
}

TEST_F(hotplug, a_task_is_counted_on_its_hart_before_and_after_it_was_down)
{
	struct times last = {}, it;
	int fd = bundle_open(&self->all, &self->attr, -1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < 20; i++) {
		move_to(1);
		EXPECT_GOES_ON(fd);
		/* The scheduler moves whoever is there to another CPU. */
		ASSERT_TRUE(take_down());
		EXPECT_NE(1, sched_getcpu());
		EXPECT_GOES_ON(fd);
		ASSERT_TRUE(bring_up());
		it = read_times(fd);
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
		EXPECT_TRUE(take_down());
		bundle_close(&self->all, 1);
		EXPECT_TRUE(bring_up());
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
	EXPECT_EQ(self->held, pmu_events_left());
	pmu_limits_restore(&limits);
}

/* --- everybody at once --- */

#define WORKERS		4
#define WORKER_FDS	12
#define WORKER_STEPS	1000
#define WORKER_TIME	2.5	/* at most, where the hart is slow */
#define SEED		20240917u

/*
 * They sample without ever getting a sample. In QEMU (10.0.2, target/riscv/pmu.c)
 * a timer that was set for one event looks at cycles and instructions both, and
 * sets itself anew for what is not due; of two that merely count it computes
 * times in the past, and goes round for ever, with a lock that the harts need.
 */
#define ENDLESS		0x10000000000ULL	/* 2^40 */

struct worker {
	unsigned int seed;
	long cpus;
	int fd[WORKER_FDS];
	struct pmu_ring ring[WORKER_FDS];
};

static unsigned int worker_random(struct worker *worker, unsigned int below)
{
	return rand_r(&worker->seed) % below;
}

static struct perf_event_attr worker_attr(struct worker *worker)
{
	static const uint64_t periods[] = { 0, ENDLESS };
	struct perf_event_attr attr = attr_distinct(worker_random(worker, NR_ALL), 0);

	if (!worker_random(worker, 5))
		attr = attr_software(worker_random(worker, PERF_COUNT_SW_DUMMY + 1));
	attr.disabled = worker_random(worker, 2);
	attr.inherit = worker_random(worker, 2);
	attr.pinned = !worker_random(worker, 8);
	attr.exclude_hv = worker_random(worker, 2);
	attr.sample_type = PMU_RING_SAMPLE;
	attr.sample_period = periods[worker_random(worker, ARRAY_SIZE(periods))];
	return attr;
}

/*
 * Without a filter, an interrupt, a counter; of a leader that is elsewhere; of
 * a hart that is down. Anything else would be news.
 */
static int worker_check(int fd)
{
	switch (fd) {
	case -EINVAL:
	case -ENOENT:
	case -EOPNOTSUPP:
	case -ENODEV:
		return 0;
	}

	return fd < 0 ? -fd : 0;
}

static int worker_open(struct worker *worker, int i)
{
	struct perf_event_attr attr = worker_attr(worker);
	int leader = worker_random(worker, 3) ? -1 : worker->fd[worker_random(worker, WORKER_FDS)];
	bool of_cpu = !worker_random(worker, 3);

	/* Not its own, which is closed now, nor one that failed. */
	if (leader < 0 || leader == worker->fd[i])
		leader = -1;
	pmu_ring_unmap(&worker->ring[i]);
	close(worker->fd[i]);
	worker->fd[i] = pmu_open_on(&attr, of_cpu ? -1 : 0,
				    of_cpu ? (int)worker_random(worker, worker->cpus) : -1, leader);
	return worker_check(worker->fd[i]);
}

static void worker_map(struct worker *worker, int i)
{
	if (!worker->ring[i].page && worker->fd[i] >= 0)
		pmu_ring_map(&worker->ring[i], worker->fd[i]);
	else
		pmu_ring_unmap(&worker->ring[i]);
}

static void worker_ioctl(struct worker *worker, int i)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
	};
	unsigned int what = worker_random(worker, ARRAY_SIZE(requests) + 3);

	if (what < ARRAY_SIZE(requests))
		ioctl(worker->fd[i], requests[what],
		      worker_random(worker, 2) ? PERF_IOC_FLAG_GROUP : 0);
	else if (what == ARRAY_SIZE(requests))
		ioctl(worker->fd[i], PERF_EVENT_IOC_REFRESH, worker_random(worker, 3));
	else if (what == ARRAY_SIZE(requests) + 1)
		set_output(worker->fd[i], worker->fd[worker_random(worker, WORKER_FDS)]);
	else
		set_period(worker->fd[i], ENDLESS << worker_random(worker, 24));
}

static int worker_step(struct worker *worker)
{
	int i = worker_random(worker, WORKER_FDS);
	char text[256];

	switch (worker_random(worker, 16)) {
	case 0 ... 5:
		return worker_open(worker, i);
	case 6 ... 9:
		worker_ioctl(worker, i);
		break;
	case 10:
		worker_map(worker, i);
		break;
	case 11 ... 12:
		if (worker->fd[i] >= 0 && read(worker->fd[i], text, sizeof(text)) < 0)
			return errno;
		break;
	case 13:
		move_to(worker_random(worker, worker->cpus));
		break;
	case 14:
		waitpid(pmu_spawn(pmu_loop, 1000), NULL, 0);
		break;
	default:
		pmu_loop(10000);
	}

	return 0;
}

static void body_worker(long seed)
{
	struct worker worker = { .seed = seed, .cpus = sysconf(_SC_NPROCESSORS_ONLN) };
	double began = now();

	for (int i = 0; i < WORKER_FDS; i++)
		worker.fd[i] = -1;
	for (int step = 0; step < WORKER_STEPS && now() - began < WORKER_TIME; step++) {
		int err = worker_step(&worker);

		if (err)
			_exit(err);
	}
}

/* perf's limit is for each event: at 250 a second, even all 48 leave time for something else. */
TEST_F(abuse, four_that_do_whatever_comes_to_mind_leave_nothing)
{
	struct pmu_limits limits;
	pid_t pid[WORKERS];
	int status;

	TH_LOG("seed %u", SEED);
	pmu_limits_save(&limits);
	pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 50);
	pmu_write_number("/proc/sys/kernel/perf_event_max_sample_rate", 250);
	for (int i = 0; i < WORKERS; i++)
		pid[i] = pmu_spawn(body_worker, SEED + i);
	for (int i = 0; i < WORKERS; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status)
			TH_LOG("seed %u: exit status %d", SEED + i, WEXITSTATUS(status));
	}
	pmu_limits_restore(&limits);
	EXPECT_EQ(self->held, pmu_events_left());
	EXPECT_GE(0, pmu_ctrs_left());
	ASSERT_LE(0, bundle_open(&self->all, &self->attr, -1));
	ASSERT_EQ(0, pmu_run(self->all.fd[0], 0, pmu_loop, N));
	EXPECT_COUNTED(read_times(self->all.fd[0]));
}

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
