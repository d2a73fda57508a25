// SPDX-License-Identifier: GPL-2.0
/*
 * What a user without any privilege may open at each level of
 * kernel.perf_event_paranoid, and that it shows nothing but the user's own user mode.
 *
 * Documentation/admin-guide/sysctl/kernel.rst, "perf_event_paranoid".
 */

#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define N		1000000L
#define CALLS		2000
#define NOBODY		65534
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"
#define RING_PAGES	64

/* pc is the first of the registers that perf knows (uapi/asm/perf_regs.h). */
#define REGS_PC		1ULL

/* Level 3 equals level 2, except in kernels with Debian's patch, where it allows nothing. */
#define LEVEL_MIN	-1
#define LEVEL_CPU	0	/* the last at which all of a CPU may be seen */
#define LEVEL_KERNEL	1	/* the last at which the kernel may be seen */
#define LEVEL_USER	2	/* the last at which all kernels show one's own user mode */
#define LEVEL_MAX	3

/* --- nobody --- */

typedef int nobody_fn(void *arg);

/* In a child, for the parent keeps its rights. What fn() returns, from 0 to -254. */
static int as_nobody(nobody_fn *fn, void *arg)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(-fn(arg));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -255;
}

struct target {
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
};

static int try_target(void *arg)
{
	const struct target *target = arg;
	int fd = pmu_open_on(&target->attr, target->pid, target->cpu, -1);

	if (fd < 0)
		return fd;

	close(fd);
	return 0;
}

FIXTURE(privilege) {
	struct target target;
	long before;
	bool filter;
};

FIXTURE_SETUP(privilege)
{
	self->before = pmu_read_number(PARANOID);
	self->filter = pmu_can_filter();
	self->target = (struct target){
		.attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
		.cpu = -1,
	};
	ASSERT_TRUE(pmu_write_number(PARANOID, LEVEL_USER));
}

FIXTURE_TEARDOWN(privilege)
{
	pmu_write_number(PARANOID, self->before);
}

#define FOR_EACH_LEVEL(level)						\
	for (int level = LEVEL_MIN; level <= LEVEL_MAX; level++)

#define EXPECT_AT_LEVEL(err, level)					\
do {									\
	ASSERT_TRUE(pmu_write_number(PARANOID, level));			\
	EXPECT_EQ(err, as_nobody(try_target, &self->target))		\
		TH_LOG("at perf_event_paranoid=%d", level);		\
} while (0)

/* --- what can be opened --- */

TEST_F(privilege, one_s_own_user_mode_may_be_seen_up_to_level_2)
{
	self->target.attr.exclude_kernel = 1;
	for (int level = LEVEL_MIN; level <= LEVEL_USER; level++)
		EXPECT_AT_LEVEL(self->filter ? 0 : -EOPNOTSUPP, level);
}

/* Whether level 3 allows any event depends on the kernel's patches, not on the PMU. */
TEST_F(privilege, at_level_3_it_is_as_for_software_events)
{
	struct target soft = {
		.attr = pmu_attr_user(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
		.cpu = -1,
	};
	int err;

	ASSERT_TRUE(pmu_write_number(PARANOID, LEVEL_MAX));
	err = as_nobody(try_target, &soft);
	self->target.attr.exclude_kernel = 1;
	EXPECT_AT_LEVEL(err ?: self->filter ? 0 : -EOPNOTSUPP, LEVEL_MAX);
}

TEST_F(privilege, the_kernel_may_be_seen_up_to_level_1)
{
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_KERNEL ? 0 : -EACCES, level);
}

TEST_F(privilege, the_kernel_alone_may_be_seen_up_to_level_1)
{
	self->target.attr.exclude_user = 1;
	FOR_EACH_LEVEL(level) {
		int allowed = self->filter ? 0 : -EOPNOTSUPP;

		EXPECT_AT_LEVEL(level <= LEVEL_KERNEL ? allowed : -EACCES, level);
	}
}

TEST_F(privilege, a_cpu_may_be_seen_up_to_level_0)
{
	self->target.pid = -1;
	self->target.cpu = 0;
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_CPU ? 0 : -EACCES, level);
}

/* exclude_kernel does not change the level that a CPU-wide event needs. */
TEST_F(privilege, user_mode_of_a_cpu_may_be_seen_up_to_level_0)
{
	if (!self->filter)
		SKIP(return, "no filters here (caps/filters)");

	self->target.pid = -1;
	self->target.cpu = 0;
	self->target.attr.exclude_kernel = 1;
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_CPU ? 0 : -EACCES, level);
}

TEST_F(privilege, another_s_process_may_not_be_seen)
{
	self->target.pid = getpid();
	self->target.attr.exclude_kernel = self->filter;
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(-EACCES, level);
}

/* Firmware has no modes. */
TEST_F(privilege, firmware_events_may_be_seen_up_to_level_1)
{
	int there;

	self->target.attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));
	there = pmu_try(&self->target.attr);
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_KERNEL ? there : -EACCES, level);
	self->target.attr.exclude_kernel = 1;
	EXPECT_AT_LEVEL(there ?: -EOPNOTSUPP, LEVEL_USER);
}

TEST_F(privilege, raw_and_cache_events_may_not_see_the_kernel)
{
	self->target.attr = pmu_attr(PERF_TYPE_RAW, PMU_STD(PERF_COUNT_HW_INSTRUCTIONS + 1));
	EXPECT_AT_LEVEL(-EACCES, LEVEL_USER);
	self->target.attr = pmu_attr(PERF_TYPE_RAW, PMU_RAW(0x10019));
	EXPECT_AT_LEVEL(-EACCES, LEVEL_USER);
	self->target.attr = pmu_attr(PERF_TYPE_HW_CACHE, PMU_CACHE(PERF_COUNT_HW_CACHE_DTLB, 0, 1));
	EXPECT_AT_LEVEL(-EACCES, LEVEL_USER);
}

/* No bit of config to config3 may open an event that counts the kernel. */
TEST_F(privilege, no_bit_shows_the_kernel_where_it_may_not_be_seen)
{
	for (unsigned int i = 0; i < 4 * 64; i++) {
		struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_STD(2));
		uint64_t bit = 1ULL << i % 64;

		attr.config ^= i / 64 == 0 ? bit : 0;
		attr.config1 = i / 64 == 1 ? bit : 0;
		attr.config2 = i / 64 == 2 ? bit : 0;
		attr.config3 = i / 64 == 3 ? bit : 0;
		self->target.attr = attr;
		ASSERT_EQ(-EACCES, as_nobody(try_target, &self->target))
			TH_LOG("config%u, bit %u", i / 64, i % 64);
	}
}

/* --- what is seen --- */

struct sight {
	struct perf_event_attr attr;
	int64_t count, empty;
	int64_t samples, of_kernel;
	bool broken;
};

static int count_calls(void *arg)
{
	struct sight *sight = arg;
	int fd = pmu_open(&sight->attr);

	if (fd < 0)
		return fd;

	pmu_count(fd, pmu_syscall_loop, 1);
	sight->empty = pmu_count(fd, pmu_syscall_loop, 0);
	sight->count = pmu_count(fd, pmu_syscall_loop, CALLS);
	close(fd);
	return 0;
}

static struct sight *new_sight(const struct perf_event_attr *attr)
{
	struct sight *sight = mmap(NULL, sizeof(*sight), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (sight == MAP_FAILED)
		return NULL;

	sight->attr = *attr;
	return sight;
}

/* A call is some 100 instructions of the kernel at the very least: they would show. */
TEST_F(privilege, a_count_has_nothing_of_the_kernel)
{
	struct sight *sight;

	if (!self->filter)
		SKIP(return, "no filters here (caps/filters)");
	if (!pmu_is_exact())
		SKIP(return, "counts are exact only under -icount with one hart");

	self->target.attr.exclude_kernel = 1;
	sight = new_sight(&self->target.attr);
	ASSERT_NE(NULL, sight);
	ASSERT_EQ(0, as_nobody(count_calls, sight));
	EXPECT_EQ(CALLS * PMU_SYSCALL_INSNS, sight->count - sight->empty);
}

static bool is_of_kernel(uint64_t address)
{
	return (int64_t)address < 0;
}

static void look(const struct pmu_record *record, void *arg)
{
	struct sight *sight = arg;
	bool seen = is_of_kernel(record->ip) ||
		    (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;

	if (record->intr_abi && is_of_kernel(record->intr_regs[0]))
		seen = true;
	for (uint64_t i = 0; i < record->nr_frames; i++) {
		/* Marks such as PERF_CONTEXT_USER are at the very top. */
		if (record->frames[i] < PERF_CONTEXT_MAX && is_of_kernel(record->frames[i]))
			seen = true;
	}
	sight->samples++;
	sight->of_kernel += seen;
}

static int sample_calls(void *arg)
{
	struct sight *sight = arg;
	struct pmu_ring ring = {};
	int fd = pmu_open(&sight->attr);

	if (fd < 0)
		return fd;
	if (pmu_ring_map_pages(&ring, fd, RING_PAGES))
		return -1;

	for (int i = 0; i < 20; i++) {
		pmu_run(fd, 0, pmu_syscall_loop, CALLS);
		pmu_ring_records(&ring, &sight->attr, look, sight);
	}
	sight->broken = ring.broken;
	pmu_ring_unmap(&ring);
	close(fd);
	return 0;
}

/* Most of the time goes by in the kernel: an interrupt that comes late comes there. */
TEST_F(privilege, a_sample_shows_nothing_of_the_kernel)
{
	struct pmu_limits limits;
	struct sight *sight;

	if (!self->filter || !pmu_samples_by_interrupt())
		SKIP(return, "no filters or no interrupt (caps/filters, caps/sampling)");

	self->target.attr.exclude_kernel = 1;
	self->target.attr.sample_period = 1009;
	self->target.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
					PERF_SAMPLE_REGS_INTR;
	self->target.attr.sample_regs_intr = REGS_PC;
	self->target.attr.exclude_callchain_kernel = 1;
	sight = new_sight(&self->target.attr);
	ASSERT_NE(NULL, sight);
	pmu_limits_save(&limits);
	EXPECT_EQ(0, as_nobody(sample_calls, sight));
	pmu_limits_restore(&limits);
	EXPECT_FALSE(sight->broken);
	EXPECT_LT(0, sight->samples);
	EXPECT_EQ(0, sight->of_kernel);
}

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
