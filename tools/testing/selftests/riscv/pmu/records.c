// SPDX-License-Identifier: GPL-2.0
/*
 * The fields of a sample: a sample must have each field that the event requests, with the correct
 * value. unwind.c has the tests of call chains, registers and the stack.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/records.h"

RECORDS_FIXTURE(records)

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* --- basic fields --- */

#define BASIC	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |	\
		 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |	\
		 PERF_SAMPLE_PERIOD)

struct basic {
	uint64_t id, began, last, cpus;
	uint32_t pid;
	int64_t inside, wrong_id, wrong_task, wrong_cpu, wrong_addr, wrong_period, time_decreased;
};

static void check_basic(const struct pmu_record *record, void *arg)
{
	struct basic *check = arg;

	check->inside += is_between(record->ip, pmu_loop_begin, pmu_loop_end);
	check->wrong_id += record->identifier != check->id || record->id != check->id ||
			   record->stream_id != check->id;
	check->wrong_task += record->pid != check->pid || record->tid != check->pid;
	check->wrong_cpu += record->cpu >= check->cpus;
	/* RISC-V harts do not report data addresses. */
	check->wrong_addr += record->addr != 0;
	check->wrong_period += !record->period || record->period % PERIOD;
	check->time_decreased += record->time < check->last;
	check->last = record->time;
}

TEST_F_TIMEOUT(records, basic_fields_are_correct, 120)
{
	struct basic check = { .pid = getpid(), .cpus = sysconf(_SC_NPROCESSORS_CONF) };

	self->attr.sample_type = BASIC;
	self->attr.use_clockid = 1;
	self->attr.clockid = CLOCK_MONOTONIC;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ID, &check.id));
	pmu_loop(2);
	check.began = now_ns();
	check.last = check.began;
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	pmu_ring_records(&self->ring, &self->attr, check_basic, &check);
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_LT(check.began, check.last);
	EXPECT_GT(now_ns(), check.last);
	EXPECT_EQ(0, check.time_decreased);
	EXPECT_EQ(0, check.wrong_id);
	EXPECT_EQ(0, check.wrong_task);
	EXPECT_EQ(0, check.wrong_cpu);
	EXPECT_EQ(0, check.wrong_addr);
	EXPECT_EQ(0, check.wrong_period);
	/* The first and the last sample may be outside the loop. */
	if (self->exact && self->filters)
		EXPECT_LE(self->ring.samples - 2, check.inside);
	EXPECT_LT(0, check.inside);
}

static void check_cpu(const struct pmu_record *record, void *arg)
{
	int64_t *there = arg;

	there[record->cpu < 64 ? record->cpu : 0]++;
}

TEST_F_TIMEOUT(records, samples_have_the_cpu_on_which_they_were_taken, 120)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t all;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	self->attr.sample_type = PERF_SAMPLE_CPU;
	for (int cpu = 0; cpu < cpus && cpu < 4; cpu++) {
		int64_t there[64] = {};
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
		ASSERT_EQ(0, sample(self, pmu_loop, N, check_cpu, there));
		EXPECT_RING_COMPLETE(&self->ring);
		EXPECT_LT(0, self->ring.samples);
		EXPECT_EQ(self->ring.samples, there[cpu]);
		close_mapped(self);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

static void check_unknown(const struct pmu_record *record, void *arg)
{
	const union perf_mem_data_src none = {
		.mem_op = PERF_MEM_OP_NA, .mem_lvl = PERF_MEM_LVL_NA,
		.mem_snoop = PERF_MEM_SNOOP_NA, .mem_lock = PERF_MEM_LOCK_NA,
		.mem_dtlb = PERF_MEM_TLB_NA,
	};
	int64_t *wrong = arg;

	*wrong += record->weight || (record->data_src & none.val) != none.val;
}

/* RISC-V harts report neither, so perf's core fills in these fields, not the driver. */
TEST_F_TIMEOUT(records, weight_is_zero_and_data_source_is_not_available, 120)
{
	int64_t wrong = 0;

	self->attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	ASSERT_EQ(0, sample(self, pmu_loop, N, check_unknown, &wrong));
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, wrong);
}

/* --- periods --- */

#define EXPECT_REST(count, length, ring)				\
do {									\
	int64_t rest = (count) - (ring)->periods;			\
									\
	EXPECT_LE(0, rest);						\
	if (self->exact)						\
		EXPECT_GT((length) + pmu_max_sample_delay(), rest);	\
} while (0)

/*
 * A late sample may stand for several periods. Nevertheless the sum of the periods of all samples
 * must equal the count, less the period that has not ended.
 */
TEST_F_TIMEOUT(records, periods_of_all_samples_add_up_to_the_count, 120)
{
	static const long periods[] = { 1000, 9973, 100000, 1000000, 3000000 };

	self->attr.sample_type = PMU_RING_SAMPLE;
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		self->attr.sample_period = periods[i];
		ASSERT_EQ(0, open_mapped(self));
		ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
		pmu_ring_drain(&self->ring, NULL, NULL);
		EXPECT_RING_COMPLETE(&self->ring);
		EXPECT_LT(0, self->ring.samples);
		EXPECT_REST(pmu_read(self->fd), periods[i], &self->ring);
		close_mapped(self);
	}
}

static void store_period(const struct pmu_sample *sample, void *arg)
{
	*(int64_t *)arg = sample->period;
}

/*
 * The length of each period is the one that perf had set when the period began. The period that has
 * not ended is shorter than twice the last one, because perf has reached the requested rate by
 * then.
 */
TEST_F_TIMEOUT(records, periods_of_a_frequency_add_up_to_the_count, 120)
{
	int64_t period = 0;

	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.freq = 1;
	self->attr.sample_freq = 2000;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, 10 * N));
	pmu_ring_drain(&self->ring, store_period, &period);
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_REST(pmu_read(self->fd), 2 * period, &self->ring);
}

/* --- privilege modes --- */

struct modes {
	int64_t user, kernel, wrong;
};

static void check_modes(const struct pmu_record *record, void *arg)
{
	struct modes *check = arg;

	if (is_user(record))
		check->user++;
	else
		check->kernel++;
	check->wrong += is_user(record) == is_kernel_address(record->ip);
}

/* About every fifth instruction is in user mode, so most periods end near a change of the mode. */
TEST_F_TIMEOUT(records, an_event_that_excludes_the_kernel_never_samples_it, 120)
{
	struct modes check = {};

	if (!self->filters)
		SKIP(return, "no filters on this hart");

	self->attr.sample_period = 997;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_modes, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LE(self->exact ? 900 : 1, check.user);
	EXPECT_EQ(0, check.kernel);
	EXPECT_EQ(0, check.wrong);
}

TEST_F_TIMEOUT(records, an_event_that_excludes_user_mode_samples_the_kernel, 120)
{
	struct modes check = {};

	if (!self->filters)
		SKIP(return, "no filters on this hart");

	self->attr.exclude_kernel = 0;
	self->attr.exclude_user = 1;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_modes, &check));
	EXPECT_FALSE(self->ring.broken);
	/* If a period ends while interrupts are disabled, the sample may be in user mode. */
	EXPECT_LT(0, check.kernel);
	EXPECT_EQ(0, check.wrong);
}

TEST_F_TIMEOUT(records, an_event_of_both_modes_samples_both, 120)
{
	struct modes check = {};

	self->attr.exclude_kernel = 0;
	self->attr.sample_period = 99991;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_modes, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LT(0, check.kernel);
	EXPECT_EQ(0, check.wrong);
}

/* --- groups --- */

#define GROUP	(PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |	\
		 PERF_FORMAT_TOTAL_TIME_RUNNING)
#define MEMBERS	3

struct group {
	uint64_t id[MEMBERS], last[MEMBERS], enabled;
	int64_t most_apart;	/* largest difference of two members' counts between two samples */
	int64_t latest;		/* largest number of events from a period's end to its sample */
	int64_t periods;
	int64_t wrong, decreased, unequal, multiplexed;
};

static int64_t apart(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

static void store_max(int64_t *most, int64_t value)
{
	if (*most < value)
		*most = value;
}

static void check_group(const struct pmu_record *record, void *arg)
{
	struct group *check = arg;
	uint64_t delta[MEMBERS];

	if (record->nr_members != MEMBERS) {
		check->wrong++;
		return;
	}
	for (int i = 0; i < MEMBERS; i++) {
		check->wrong += record->member[i].id != check->id[i];
		check->decreased += record->member[i].value < check->last[i];
		delta[i] = record->member[i].value - check->last[i];
		check->last[i] = record->member[i].value;
		store_max(&check->most_apart, apart(delta[i], delta[0]));
	}
	check->periods += record->period;
	store_max(&check->latest, apart(check->last[0], check->periods));
	check->decreased += record->enabled < check->enabled;
	check->enabled = record->enabled;
	check->unequal += check->last[1] != check->last[0];
	check->multiplexed += record->enabled != record->running;
}

static int open_group(FIXTURE_DATA(records) *self, struct group *check, int fd[MEMBERS])
{
	struct perf_event_attr attr;
	int err;

	self->attr.sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD;
	self->attr.read_format = GROUP;
	err = open_mapped(self);
	if (err)
		return err;

	/*
	 * The second member counts the leader's event; the third counts cycles, which have the same
	 * rate under -icount.
	 */
	attr = self->attr;
	attr.disabled = 0;
	attr.sample_period = 0;
	fd[0] = self->fd;
	for (int i = 1; i < MEMBERS; i++) {
		fd[i] = pmu_open_on(&attr, 0, -1, fd[0]);
		if (fd[i] < 0)
			return fd[i];
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
	}
	for (int i = 0; i < MEMBERS; i++) {
		if (ioctl(fd[i], PERF_EVENT_IOC_ID, &check->id[i]))
			return -errno;
	}
	return 0;
}

/*
 * All members of a sample are read at the same time, so two members that count the same event are
 * equal in each sample. Under -icount an instruction takes one cycle (programmable counters exclude
 * the same modes), so all three members count at the same rate.
 */
TEST_F_TIMEOUT(records, a_sample_has_all_counts_of_its_group_at_one_time, 120)
{
	struct {
		uint64_t nr, enabled, running;
		struct { uint64_t value, id; } member[MEMBERS];
	} all;
	struct group check = {};
	int fd[MEMBERS];

	ASSERT_EQ(0, open_group(self, &check, fd));
	ASSERT_EQ(0, pmu_run(fd[0], 0, pmu_loop, N));
	ASSERT_EQ((ssize_t)sizeof(all), read(fd[0], &all, sizeof(all)));
	pmu_ring_records(&self->ring, &self->attr, check_group, &check);
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, check.decreased);
	EXPECT_EQ(0, check.unequal);
	EXPECT_EQ(0, check.multiplexed);
	for (int i = 0; i < MEMBERS; i++) {
		EXPECT_EQ(check.id[i], all.member[i].id);
		EXPECT_LE(check.last[i], all.member[i].value);
	}
	EXPECT_EQ(all.member[0].value, all.member[1].value);
	TH_LOG("members were at most %lu apart, samples at most %lu late",
	       (unsigned long)check.most_apart, (unsigned long)check.latest);
	if (self->exact) {
		EXPECT_GE(PERIOD / 10, check.most_apart);
		EXPECT_GE(PERIOD / 10 + pmu_max_sample_delay(), check.latest);
	}
	for (int i = 1; i < MEMBERS; i++)
		close(fd[i]);
}

#define FIRMWARE_CALL	"/sys/kernel/tracing/events/riscv/sbi_call/id"

static void check_firmware_call(const struct pmu_record *record, void *arg)
{
	struct group *check = arg;

	check->wrong += record->nr_members != 2;
	check->decreased += record->member[1].value < check->last[1];
	check->last[1] = record->member[1].value;
}

/*
 * The driver calls the firmware while it adds, starts or writes a counter, and the sample of that
 * call reads the event. After an idle state that loses the counters, the first add makes calls.
 */
TEST_F_TIMEOUT(records, firmware_calls_sample_the_group_of_an_event, 120)
{
	struct perf_event_attr member = self->attr;
	struct group check = {};
	int fd;

	self->attr = pmu_attr(PERF_TYPE_TRACEPOINT, pmu_read_number(FIRMWARE_CALL));
	if ((long)self->attr.config < 0)
		SKIP(return, "no tracepoint of calls of the SBI in tracefs");

	self->attr.sample_type = PERF_SAMPLE_READ;
	self->attr.sample_period = 1;
	self->attr.read_format = GROUP;
	ASSERT_EQ(0, open_mapped(self));
	member.disabled = 0;
	fd = pmu_open_on(&member, 0, -1, self->fd);
	ASSERT_LE(0, fd);
	for (int i = 0; i < 5; i++) {
		usleep(20000);
		ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N / 10));
	}
	pmu_ring_records(&self->ring, &self->attr, check_firmware_call, &check);
	if (pmu_idle_loses_ctrs())
		EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, check.decreased);
	close(fd);
}

static void check_own(const struct pmu_record *record, void *arg)
{
	struct group *check = arg;

	check->wrong += record->nr_members != 1 || record->member[0].id != check->id[0] ||
			record->member[0].lost;
	check->periods += record->period;
	/* The count includes all events of the periods that have ended. */
	check->decreased += record->member[0].value < (uint64_t)check->periods;
	store_max(&check->latest, apart(record->member[0].value, check->periods));
}

/* A sample of an event without a group has the count that read() would return at that time. */
TEST_F_TIMEOUT(records, a_sample_of_a_single_event_has_its_count, 120)
{
	struct group check = {};

	self->attr.sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD;
	self->attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ID, &check.id[0]));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	pmu_ring_records(&self->ring, &self->attr, check_own, &check);
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, check.decreased);
	if (self->exact)
		EXPECT_GE(PERIOD / 10 + pmu_max_sample_delay(), check.latest);
}

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
