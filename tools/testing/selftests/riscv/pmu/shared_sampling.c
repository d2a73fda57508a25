// SPDX-License-Identifier: GPL-2.0
/*
 * Counting and sampling events that share one counter, with different sampling periods: each count
 * must be as exact as without the other events, and each period must end at its overflow point.
 *
 * All tests run on one CPU.
 */

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/share.h"

struct sampler {
	struct pmu_ring ring;
	uint64_t period;
	int fd;
};

FIXTURE(shared) {
	struct pmu_limits limits;
	struct perf_event_attr attr;
	bool exact;
	int fd;			/* counting event */
};

FIXTURE_SETUP(shared)
{
	cpu_set_t one;

	/* After SKIP in a set-up there is no teardown, so change nothing before it. */
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt (caps/sampling, or no Sscofpmf)");

	pmu_limits_save(&self->limits);
	self->exact = pmu_is_exact();
	self->attr = pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->fd = pmu_open(&self->attr);
	ASSERT_LE(0, self->fd);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
	pmu_count(self->fd, pmu_loop, 2);
	ioctl(self->fd, PERF_EVENT_IOC_RESET, 0);
}

FIXTURE_TEARDOWN(shared)
{
	close(self->fd);
	pmu_limits_restore(&self->limits);
}

/* Number of instructions to sample. It is higher if QEMU takes the interrupt late. */
#define SAMPLED_N	(self->exact ? 10 * N : 200 * N)

static int sampler_open(const struct perf_event_attr *like, uint64_t period,
			struct sampler *sampler)
{
	struct perf_event_attr attr = *like;

	attr.sample_type = PMU_RING_SAMPLE;
	attr.sample_period = period;
	*sampler = (struct sampler){ .period = period, .fd = pmu_open(&attr) };
	return sampler->fd < 0 ? sampler->fd : pmu_ring_map(&sampler->ring, sampler->fd);
}

static void sampler_close(struct sampler *sampler)
{
	pmu_ring_unmap(&sampler->ring);
	close(sampler->fd);
}

/*
 * Each period that ends causes one sample, at once or late, but never early. So n events cause
 * n / period samples, or one less if the last sample was still pending at the end. If counts are
 * not exact, whole periods may be skipped: then the macro expects at least @least samples.
 */
#define EXPECT_SAMPLES(sampler, least)						\
do {										\
	int64_t whole = pmu_read((sampler)->fd) / (int64_t)(sampler)->period;	\
										\
	pmu_ring_drain(&(sampler)->ring, NULL, NULL);				\
	EXPECT_FALSE((sampler)->ring.broken);					\
	EXPECT_EQ(0, (sampler)->ring.lost);					\
	EXPECT_EQ(0, (sampler)->ring.throttled);				\
	EXPECT_GE(whole, (sampler)->ring.samples);				\
	EXPECT_LE(self->exact ? whole - 1 : (least), (sampler)->ring.samples);	\
} while (0)

TEST_F(shared, a_counting_and_a_sampling_event_both_count_exactly)
{
	struct sampler sampler;

	ASSERT_EQ(0, sampler_open(&self->attr, 30000, &sampler));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, SAMPLED_N));
	EXPECT_INSNS(SAMPLED_N, pmu_read(self->fd));
	EXPECT_EQ(pmu_read(self->fd), pmu_read(sampler.fd));
	EXPECT_SAMPLES(&sampler, 1);
	sampler_close(&sampler);
}

TEST_F(shared, three_sampling_periods_work_on_one_counter)
{
	static const uint64_t periods[] = { 7000, 30000, 100000 };
	struct sampler sampler[ARRAY_SIZE(periods)];

	for (size_t i = 0; i < ARRAY_SIZE(periods); i++)
		ASSERT_EQ(0, sampler_open(&self->attr, periods[i], &sampler[i]));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, SAMPLED_N));
	EXPECT_INSNS(SAMPLED_N, pmu_read(self->fd));
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		EXPECT_EQ(pmu_read(self->fd), pmu_read(sampler[i].fd));
		EXPECT_SAMPLES(&sampler[i], 1);
		sampler_close(&sampler[i]);
	}
}

static struct sampler temporary;

static void body_enable_and_disable_sampler(long n)
{
	for (int i = 0; i < 5; i++) {
		pmu_loop(n);
		ioctl(temporary.fd, PERF_EVENT_IOC_ENABLE, 0);
		pmu_loop(n);
		ioctl(temporary.fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/*
 * The write of the counter for an overflow point must not change the count. If interrupts are
 * late, all five windows may end before the first interrupt.
 */
TEST_F(shared, toggling_a_sampling_event_does_not_change_the_count)
{
	int64_t empty, count;

	ASSERT_EQ(0, sampler_open(&self->attr, 30000, &temporary));
	pmu_count(self->fd, body_enable_and_disable_sampler, 0);
	empty = pmu_count(self->fd, body_enable_and_disable_sampler, 0);
	count = pmu_count(self->fd, body_enable_and_disable_sampler, SAMPLED_N / 5);
	EXPECT_LE(pmu_least(2 * SAMPLED_N), count);
	if (self->exact)
		EXPECT_EQ(2 * SAMPLED_N, count - empty);
	EXPECT_SAMPLES(&temporary, 0);
	sampler_close(&temporary);
}

/* --- counting while another event samples the kernel --- */

#define BESIDE_PERIOD	20000
#define BESIDE_N	(20 * N)
/*
 * The two counting events are read one after the other, less than 32 instructions apart, at the
 * start and at the end.
 */
#define BESIDE_READS_APART	64
/*
 * Instructions in supervisor mode between the last read of a shared counter and its start with the
 * next period, which takes one or two firmware calls. The counter does not count them.
 */
#define BESIDE_LOST_PER_SAMPLE	128

FIXTURE(beside) {
	struct pmu_limits limits;
	struct perf_event_attr cycles, instructions;
	int fd[3];		/* counting cycles, counting instructions, sampling cycles */
	int cpu;
};

FIXTURE_VARIANT(beside) {
	bool sampler_is_first;
};

FIXTURE_VARIANT_ADD(beside, sampler_first) {
	.sampler_is_first = true,
};

FIXTURE_VARIANT_ADD(beside, sampler_last) {
	.sampler_is_first = false,
};

FIXTURE_SETUP(beside)
{
	/* With -icount an instruction takes one cycle, so the two events' counts must be equal. */
	if (!pmu_samples_by_interrupt() || !pmu_is_exact())
		SKIP(return, "needs an overflow interrupt, and QEMU's -icount");

	pmu_limits_save(&self->limits);
	self->cpu = sched_getcpu();
	self->cycles = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	self->instructions = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->instructions.disabled = 0;
}

FIXTURE_TEARDOWN(beside)
{
	for (int i = 0; i < 3; i++)
		close(self->fd[i]);
	pmu_limits_restore(&self->limits);
}

static void beside_open_sampler(FIXTURE_DATA(beside) *self)
{
	struct perf_event_attr attr = self->cycles;

	attr.disabled = 0;
	attr.sample_period = BESIDE_PERIOD;
	self->fd[2] = pmu_open_on(&attr, -1, self->cpu, -1);
}

/*
 * Does what "perf record -a -e cycles" and "perf stat -a -e cycles,instructions" do at the same
 * time, with each of the two started first.
 */
TEST_F(beside, counting_beside_a_sampler_loses_no_events)
{
	int64_t cycles, instructions, samples, lost;

	if (variant->sampler_is_first)
		beside_open_sampler(self);
	self->fd[0] = pmu_open_on(&self->cycles, -1, self->cpu, -1);
	ASSERT_LE(0, self->fd[0]);
	self->fd[1] = pmu_open_on(&self->instructions, -1, self->cpu, self->fd[0]);
	ASSERT_LE(0, self->fd[1]);
	if (!variant->sampler_is_first)
		beside_open_sampler(self);
	ASSERT_LE(0, self->fd[2]);

	ASSERT_EQ(0, pmu_run(self->fd[0], PERF_IOC_FLAG_GROUP, pmu_loop, BESIDE_N));
	cycles = pmu_read(self->fd[0]);
	instructions = pmu_read(self->fd[1]);
	samples = instructions / BESIDE_PERIOD;
	TH_LOG("%ld cycles, %ld instructions, %ld samples", (long)cycles, (long)instructions,
	       (long)samples);
	EXPECT_LT(BESIDE_N, instructions);
	EXPECT_LT(0, samples);
	/*
	 * Counting cycles uses the fixed counter, which is not shared, unless the driver does not
	 * use the fixed counters because they count machine mode.
	 */
	lost = pmu_uses_fixed_ctrs() ? 0 : samples * BESIDE_LOST_PER_SAMPLE;
	EXPECT_GE(BESIDE_READS_APART + lost, labs(instructions - cycles));
}

struct record {
	int64_t count;
	int64_t samples;
	int64_t wrong;		/* samples with the wrong task or the wrong period */
	bool broken;
	pid_t pid;
	uint64_t period;
};

static void check_sample(const struct pmu_sample *sample, void *arg)
{
	struct record *record = arg;

	/* If counts are not exact, a late sample may stand for several periods. */
	record->wrong += (pid_t)sample->pid != record->pid || !sample->period ||
			 (pmu_is_exact() ? sample->period != record->period :
					   sample->period % record->period);
}

/* Runs in a child process: samples itself, stores the result in @record, and exits. */
static void task_sample(const struct perf_event_attr *attr, long n, struct record *record)
{
	struct sampler sampler;

	record->pid = getpid();
	if (sampler_open(attr, record->period, &sampler))
		_exit(1);
	raise(SIGSTOP);
	pmu_run(sampler.fd, 0, pmu_loop, n);
	pmu_ring_drain(&sampler.ring, check_sample, record);
	record->count = pmu_read(sampler.fd);
	record->samples = sampler.ring.samples;
	record->broken = sampler.ring.broken || sampler.ring.lost || sampler.ring.throttled;
	_exit(0);
}

/*
 * The tasks are scheduled in turn on one CPU. While a task does not run, the distance to the
 * overflow point of its event must not change. If the interrupt is late, it may arrive after the
 * context switch, and a task may get no sample in many of its time slices. But each task has dozens
 * of time slices, so that some samples are taken.
 */
TEST_F(shared, four_tasks_sample_one_event_with_different_periods)
{
	static const uint64_t periods[] = { 70000, 30000, 100000, 50000 };
	struct record *record = share_memory(sizeof(*record) * ARRAY_SIZE(periods));
	const int64_t n = self->exact ? 10 * N : 50 * N;
	pid_t pid[ARRAY_SIZE(periods)];
	int64_t samples = 0;

	ASSERT_NE(NULL, record);
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		record[i].period = periods[i];
		pid[i] = spawn();
		if (!pid[i])
			task_sample(&self->attr, (i + 2) * n, &record[i]);
		ASSERT_TRUE(wait_stopped(pid[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++)
		kill(pid[i], SIGCONT);
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		int64_t whole;

		ASSERT_TRUE(wait_ended(pid[i]));
		whole = record[i].count / (int64_t)periods[i];
		EXPECT_INSNS((int64_t)(i + 2) * n, record[i].count);
		EXPECT_FALSE(record[i].broken);
		EXPECT_EQ(0, record[i].wrong);
		EXPECT_GE(whole, record[i].samples);
		if (self->exact)
			EXPECT_LE(whole - 1, record[i].samples);
		samples += record[i].samples;
	}
	EXPECT_LT(0, samples);
}

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
