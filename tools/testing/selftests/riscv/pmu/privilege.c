// SPDX-License-Identifier: GPL-2.0
/*
 * Tests which events an unprivileged user may open at each level of
 * kernel.perf_event_paranoid, and that the counts and samples of events with exclude_kernel
 * contain nothing of the kernel.
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

/* Bit 0 of sample_regs_intr is the pc (uapi/asm/perf_regs.h). */
#define REGS_PC		1ULL

/* Level 3 is the same as level 2, except in kernels with Debian's patch: they allow no event. */
#define LEVEL_MIN	-1
#define LEVEL_CPU	0	/* the highest that allows CPU-wide events */
#define LEVEL_KERNEL	1	/* the highest that allows events to count the kernel */
#define LEVEL_USER	2	/* the highest at which all kernels allow user-only events */
#define LEVEL_MAX	3

/* --- the unprivileged user --- */

typedef int unprivileged_fn(void *arg);

/*
 * Calls fn(arg) as the user nobody, in a child process, because the parent has to keep its
 * privileges. Returns what fn() returns, from 0 to -254, or -255 if the call was not possible.
 */
static int call_unprivileged(unprivileged_fn *fn, void *arg)
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

/*
 * The result for an event of user mode at a level of perf_event_paranoid. If exclude_kernel is
 * ignored, the event needs the level of one that counts the kernel.
 */
static int user_only_err(const FIXTURE_DATA(privilege) *self, int level)
{
	if (self->filter)
		return 0;
	if (!pmu_is_unfiltered())
		return -EOPNOTSUPP;

	return level <= LEVEL_KERNEL ? 0 : -EACCES;
}

#define EXPECT_AT_LEVEL(err, level)					\
do {									\
	ASSERT_TRUE(pmu_write_number(PARANOID, level));			\
	EXPECT_EQ(err, call_unprivileged(try_target, &self->target))	\
		TH_LOG("at perf_event_paranoid=%d", level);		\
} while (0)

/* --- which events may be opened --- */

TEST_F(privilege, own_user_mode_is_allowed_up_to_level_2)
{
	self->target.attr.exclude_kernel = 1;
	for (int level = LEVEL_MIN; level <= LEVEL_USER; level++)
		EXPECT_AT_LEVEL(user_only_err(self, level), level);
}

/* libpfm4 sets exclude_hv by default. Firmware is no hypervisor: that is never refused. */
TEST_F(privilege, exclude_hv_alone_is_allowed_up_to_level_1)
{
	self->target.attr.exclude_hv = 1;
	EXPECT_EQ(0, pmu_try(&self->target.attr));
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_KERNEL ? 0 : -EACCES, level);
}

/* As google-benchmark opens events, with libpfm4: the leader of a group is pinned. */
static int open_benchmark(void *arg)
{
	const struct target *target = arg;
	struct perf_event_attr attr = target->attr;
	int64_t values[3] = { };
	int fd[2];

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.inherit = 1;
	attr.pinned = 1;
	attr.read_format = PERF_FORMAT_GROUP;
	fd[0] = pmu_open(&attr);
	if (fd[0] < 0)
		return fd[0];

	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.disabled = 0;
	attr.pinned = 0;
	fd[1] = pmu_open_on(&attr, 0, -1, fd[0]);
	if (fd[1] < 0)
		return fd[1];

	pmu_run(fd[0], PERF_IOC_FLAG_GROUP, pmu_loop, N);
	if (read(fd[0], values, sizeof(values)) != sizeof(values))
		return -EIO;
	close(fd[1]);
	close(fd[0]);
	if (values[0] != 2 || values[1] < pmu_least(N) || values[2] < pmu_least(N))
		return -ERANGE;
	return 0;
}

TEST_F(privilege, events_of_google_benchmark_count)
{
	for (int level = LEVEL_MIN; level <= LEVEL_USER; level++) {
		ASSERT_TRUE(pmu_write_number(PARANOID, level));
		EXPECT_EQ(user_only_err(self, LEVEL_MIN), open_benchmark(&self->target));
		EXPECT_EQ(user_only_err(self, level),
			  call_unprivileged(open_benchmark, &self->target))
			TH_LOG("at perf_event_paranoid=%d", level);
	}
}

/*
 * The kernel's patches, not the PMU, determine whether level 3 allows any event. So the test
 * compares with a software event.
 */
TEST_F(privilege, level_3_gives_the_same_result_as_for_software_events)
{
	struct target soft = {
		.attr = pmu_attr_user(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
		.cpu = -1,
	};
	int err;

	ASSERT_TRUE(pmu_write_number(PARANOID, LEVEL_MAX));
	err = call_unprivileged(try_target, &soft);
	self->target.attr.exclude_kernel = 1;
	EXPECT_AT_LEVEL(err ?: user_only_err(self, LEVEL_MAX), LEVEL_MAX);
}

TEST_F(privilege, events_of_user_and_kernel_are_allowed_up_to_level_1)
{
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_KERNEL ? 0 : -EACCES, level);
}

TEST_F(privilege, kernel_only_events_are_allowed_up_to_level_1)
{
	self->target.attr.exclude_user = 1;
	FOR_EACH_LEVEL(level) {
		int allowed = self->filter ? 0 : -EOPNOTSUPP;

		EXPECT_AT_LEVEL(level <= LEVEL_KERNEL ? allowed : -EACCES, level);
	}
}

TEST_F(privilege, cpu_wide_events_are_allowed_up_to_level_0)
{
	self->target.pid = -1;
	self->target.cpu = 0;
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_CPU ? 0 : -EACCES, level);
}

/* exclude_kernel does not change the level that a CPU-wide event needs. */
TEST_F(privilege, cpu_wide_user_only_events_are_allowed_up_to_level_0)
{
	if (!self->filter)
		SKIP(return, "the PMU has no filters (caps/filters)");

	self->target.pid = -1;
	self->target.cpu = 0;
	self->target.attr.exclude_kernel = 1;
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_CPU ? 0 : -EACCES, level);
}

TEST_F(privilege, events_of_another_users_process_get_eacces)
{
	self->target.pid = getpid();
	self->target.attr.exclude_kernel = self->filter;
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(-EACCES, level);
}

/* Firmware events have no privilege modes, so exclude_kernel is EOPNOTSUPP. */
TEST_F(privilege, firmware_events_are_allowed_up_to_level_1)
{
	int privileged_err;

	self->target.attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));
	privileged_err = pmu_try(&self->target.attr);
	FOR_EACH_LEVEL(level)
		EXPECT_AT_LEVEL(level <= LEVEL_KERNEL ? privileged_err : -EACCES, level);
	self->target.attr.exclude_kernel = 1;
	EXPECT_AT_LEVEL(privileged_err ?: pmu_is_unfiltered() ? -EACCES : -EOPNOTSUPP, LEVEL_USER);
}

TEST_F(privilege, raw_and_cache_events_of_the_kernel_get_eacces_at_level_2)
{
	self->target.attr = pmu_attr(PERF_TYPE_RAW, PMU_STD(PERF_COUNT_HW_INSTRUCTIONS + 1));
	EXPECT_AT_LEVEL(-EACCES, LEVEL_USER);
	self->target.attr = pmu_attr(PERF_TYPE_RAW, PMU_RAW(0x10019));
	EXPECT_AT_LEVEL(-EACCES, LEVEL_USER);
	self->target.attr = pmu_attr(PERF_TYPE_HW_CACHE, PMU_CACHE(PERF_COUNT_HW_CACHE_DTLB, 0, 1));
	EXPECT_AT_LEVEL(-EACCES, LEVEL_USER);
}

/* Flips each bit of config, and sets each bit of config1 to config3: EACCES must remain. */
TEST_F(privilege, no_config_bit_allows_a_kernel_event_at_level_2)
{
	for (unsigned int i = 0; i < 4 * 64; i++) {
		struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_STD(2));
		uint64_t bit = 1ULL << i % 64;

		attr.config ^= i / 64 == 0 ? bit : 0;
		attr.config1 = i / 64 == 1 ? bit : 0;
		attr.config2 = i / 64 == 2 ? bit : 0;
		attr.config3 = i / 64 == 3 ? bit : 0;
		self->target.attr = attr;
		ASSERT_EQ(-EACCES, call_unprivileged(try_target, &self->target))
			TH_LOG("config%u, bit %u", i / 64, i % 64);
	}
}

/* --- what counts and samples contain --- */

struct observation {
	struct perf_event_attr attr;
	int64_t count, empty;
	int64_t samples, with_kernel;
	bool broken;
};

static int count_calls(void *arg)
{
	struct observation *observation = arg;
	int fd = pmu_open(&observation->attr);

	if (fd < 0)
		return fd;

	pmu_count(fd, pmu_syscall_loop, 1);
	observation->empty = pmu_count(fd, pmu_syscall_loop, 0);
	observation->count = pmu_count(fd, pmu_syscall_loop, CALLS);
	close(fd);
	return 0;
}

static struct observation *new_observation(const struct perf_event_attr *attr)
{
	struct observation *observation = mmap(NULL, sizeof(*observation), PROT_READ | PROT_WRITE,
					       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (observation == MAP_FAILED)
		return NULL;

	observation->attr = *attr;
	return observation;
}

/*
 * A system call executes at least about 100 kernel instructions: the count would be larger if
 * they were included.
 */
TEST_F(privilege, user_only_count_excludes_kernel_instructions)
{
	struct observation *observation;

	if (!self->filter)
		SKIP(return, "the PMU has no filters (caps/filters)");
	if (!pmu_is_exact())
		SKIP(return, "counts are exact only under -icount with one hart");

	self->target.attr.exclude_kernel = 1;
	observation = new_observation(&self->target.attr);
	ASSERT_NE(NULL, observation);
	ASSERT_EQ(0, call_unprivileged(count_calls, observation));
	EXPECT_EQ(CALLS * PMU_SYSCALL_INSNS, observation->count - observation->empty);
}

static bool is_kernel_address(uint64_t address)
{
	return (int64_t)address < 0;
}

static void check_record(const struct pmu_record *record, void *arg)
{
	struct observation *observation = arg;
	bool found = is_kernel_address(record->ip) ||
		     (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;

	if (record->intr_abi && is_kernel_address(record->intr_regs[0]))
		found = true;
	for (uint64_t i = 0; i < record->nr_frames; i++) {
		/* Markers such as PERF_CONTEXT_USER have the highest values. */
		if (record->frames[i] < PERF_CONTEXT_MAX && is_kernel_address(record->frames[i]))
			found = true;
	}
	observation->samples++;
	observation->with_kernel += found;
}

static int sample_calls(void *arg)
{
	struct observation *observation = arg;
	struct pmu_ring ring = {};
	int fd = pmu_open(&observation->attr);

	if (fd < 0)
		return fd;
	if (pmu_ring_map_pages(&ring, fd, RING_PAGES))
		return -1;

	for (int i = 0; i < 20; i++) {
		pmu_run(fd, 0, pmu_syscall_loop, CALLS);
		pmu_ring_records(&ring, &observation->attr, check_record, observation);
	}
	observation->broken = ring.broken;
	pmu_ring_unmap(&ring);
	close(fd);
	return 0;
}

/*
 * The task spends most of its time in the kernel, so an overflow interrupt that is late usually
 * interrupts the kernel.
 */
TEST_F(privilege, user_only_samples_contain_no_kernel_addresses)
{
	struct pmu_limits limits;
	struct observation *observation;

	if (!self->filter || !pmu_samples_by_interrupt())
		SKIP(return, "no filters or no overflow interrupt (caps/filters, caps/sampling)");

	self->target.attr.exclude_kernel = 1;
	self->target.attr.sample_period = 1009;
	self->target.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
					PERF_SAMPLE_REGS_INTR;
	self->target.attr.sample_regs_intr = REGS_PC;
	self->target.attr.exclude_callchain_kernel = 1;
	observation = new_observation(&self->target.attr);
	ASSERT_NE(NULL, observation);
	pmu_limits_save(&limits);
	EXPECT_EQ(0, call_unprivileged(sample_calls, observation));
	pmu_limits_restore(&limits);
	EXPECT_FALSE(observation->broken);
	EXPECT_LT(0, observation->samples);
	EXPECT_EQ(0, observation->with_kernel);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
