// SPDX-License-Identifier: GPL-2.0
/*
 * A counter that counting and sampling events share, with the periods of several events
 * on it: each count is as exact as without the others, and each period ends when it
 * should.
 *
 * Everything here runs on one CPU.
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
	int fd;			/* counts */
};

FIXTURE_SETUP(shared)
{
	cpu_set_t one;

	/* A skipped set-up has no teardown: nothing may be changed before. */
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

/* Longer where QEMU takes the interrupt late. */
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
 * A period that ends makes one sample, at once or late, but not early: n events
 * make n / period samples, less the last if it was still to come at the end.
 * Where counts are not exact, whole periods are skipped, and @least is asked for.
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

TEST_F(shared, a_counting_and_a_sampling_event_are_both_exact)
{
	struct sampler sampler;

	ASSERT_EQ(0, sampler_open(&self->attr, 30000, &sampler));
	ASSERT_EQ(0, pmu_run_all(pmu_loop, SAMPLED_N));
	EXPECT_INSNS(SAMPLED_N, pmu_read(self->fd));
	EXPECT_EQ(pmu_read(self->fd), pmu_read(sampler.fd));
	EXPECT_SAMPLES(&sampler, 1);
	sampler_close(&sampler);
}

TEST_F(shared, three_periods_on_one_counter_are_all_kept)
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

static struct sampler guest;

static void body_sampler_comes_and_goes(long n)
{
	for (int i = 0; i < 5; i++) {
		pmu_loop(n);
		ioctl(guest.fd, PERF_EVENT_IOC_ENABLE, 0);
		pmu_loop(n);
		ioctl(guest.fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/*
 * The write of the counter for an overflow point must not change the count. If interrupts are
 * late, all five windows may end before the first interrupt.
 */
TEST_F(shared, a_sampling_event_that_comes_and_goes_does_not_disturb_the_count)
{
	int64_t empty, count;

	ASSERT_EQ(0, sampler_open(&self->attr, 30000, &guest));
	pmu_count(self->fd, body_sampler_comes_and_goes, 0);
	empty = pmu_count(self->fd, body_sampler_comes_and_goes, 0);
	count = pmu_count(self->fd, body_sampler_comes_and_goes, SAMPLED_N / 5);
	EXPECT_LE(pmu_least(2 * SAMPLED_N), count);
	if (self->exact)
		EXPECT_EQ(2 * SAMPLED_N, count - empty);
	EXPECT_SAMPLES(&guest, 0);
	sampler_close(&guest);
}

/* --- counting beside a sampler that counts the kernel --- */

#define BESIDE_PERIOD	20000
#define BESIDE_N	(20 * N)
/* The two are read one after the other, less than 32 instructions apart, at begin and end. */
#define BESIDE_READS_APART	64
/*
 * What is executed in supervisor mode between the last read of a shared counter and its
 * start with the next period: on the way through one call of the firmware, or two.
 */
#define BESIDE_LOST_A_SAMPLE	128

FIXTURE(beside) {
	struct pmu_limits limits;
	struct perf_event_attr cycles, instructions;
	int fd[3];		/* counts cycles, counts instructions, samples cycles */
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
	/* With -icount a cycle is an instruction: two events whose counts must be equal. */
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

/* perf record -a -e cycles, and perf stat -a -e cycles,instructions, one before the other. */
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
	/* The fixed counter is free, unless it counts machine mode and so is not used. */
	lost = pmu_uses_fixed_ctrs() ? 0 : samples * BESIDE_LOST_A_SAMPLE;
	EXPECT_GE(BESIDE_READS_APART + lost, labs(instructions - cycles));
}

struct record {
	int64_t count;
	int64_t samples;
	int64_t wrong;		/* samples that are not of its task, or not of its period */
	bool broken;
	pid_t pid;
	uint64_t period;
};

static void check_sample(const struct pmu_sample *sample, void *arg)
{
	struct record *record = arg;

	/* Where it is not exact, one that is late stands for several. */
	record->wrong += (pid_t)sample->pid != record->pid || !sample->period ||
			 (pmu_is_exact() ? sample->period != record->period :
					   sample->period % record->period);
}

/* A task that samples itself. */
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
 * They take turns on one CPU, and each deadline waits while its task does.
 * Where the interrupt is late, it may miss many of one task's turns; not all of
 * every task's, of which there are dozens.
 */
TEST_F(shared, four_tasks_sample_the_same_event_with_four_periods)
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

PMU_TEST_AT_LAST(PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
