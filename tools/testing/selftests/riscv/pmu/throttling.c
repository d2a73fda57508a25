// SPDX-License-Identifier: GPL-2.0
/*
 * Storms of overflows: however short the periods are, the harts must have time for other
 * work, also while a hart goes down and for a long time. After a storm the next event must
 * sample as before, and no event may be left.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/storm.h"
#include "lib/task.h"

#define MAX_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
/*
 * The longest response time that is accepted under load, in s: 2 s, or ten times the response
 * time without load if that is more than 0.2 s (a busy host). The driver leaves at least a
 * twentieth of the hart to other tasks.
 */
#define PATIENCE(self)	((self)->quiet > 0.2 ? 10 * (self)->quiet : 2.0)

static void nap(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* One hart: an event of its own and its ring, somebody busy, and somebody who answers. */
struct hart {
	int fd;
	struct pmu_ring ring;
	pid_t spinner, echo;
	int ask, answer;
};

FIXTURE(throttling) {
	struct pmu_limits limits;
	struct perf_event_attr attr;
	struct hart hart[MAX_CPUS];
	double quiet;	/* how long a command took before the load, in s */
	long held;
	int cpus;
	bool exact;
};

FIXTURE_SETUP(throttling)
{
	/* A skipped set-up has no teardown: nothing may be changed before. */
	if (!pmu_can_sample())
		SKIP(return, "this machine does not sample (caps/sampling is none)");

	pmu_limits_save(&self->limits);
	self->held = pmu_events_held();
	self->exact = pmu_is_exact();
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (self->cpus > MAX_CPUS)
		self->cpus = MAX_CPUS;
	for (int cpu = 0; cpu < self->cpus; cpu++)
		self->hart[cpu].fd = -1;
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	if (pmu_is_legacy())
		self->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = 1;
	self->attr.disabled = 0;
}

static void end_load(FIXTURE_DATA(throttling) *self)
{
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct hart *hart = &self->hart[cpu];

		if (hart->fd >= 0)
			close(hart->fd);
		hart->fd = -1;
	}
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct hart *hart = &self->hart[cpu];

		pmu_ring_unmap(&hart->ring);
		if (hart->spinner)
			pmu_kill(hart->spinner);
		if (hart->echo) {
			pmu_kill(hart->echo);
			close(hart->ask);
			close(hart->answer);
		}
		hart->spinner = 0;
		hart->echo = 0;
	}
}

FIXTURE_TEARDOWN(throttling)
{
	end_load(self);
	pmu_limits_restore(&self->limits);
}

/* What a machine boots with. */
static bool default_limits(void)
{
	return pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 25) &&
	       pmu_write_number(MAX_RATE, 100000);
}

/* --- who is there to answer --- */

static void echo_on(int cpu, int from, int to)
{
	char byte;

	move_to(cpu);
	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

static bool start_echo(struct hart *hart, int cpu)
{
	int ask[2], answer[2];

	if (pipe(ask))
		return false;
	if (pipe(answer)) {
		close(ask[0]);
		close(ask[1]);
		return false;
	}
	hart->echo = fork();
	if (!hart->echo) {
		close(ask[1]);
		echo_on(cpu, ask[0], answer[1]);
	}
	close(ask[0]);
	close(answer[1]);
	hart->ask = ask[1];
	hart->answer = answer[0];
	return hart->echo > 0;
}

/* How long somebody on that hart takes to answer. */
static double time_echo(struct hart *hart)
{
	double began = now();
	char byte = 0;

	if (write(hart->ask, &byte, 1) != 1 || read(hart->answer, &byte, 1) != 1)
		return INT_MAX;
	return now() - began;
}

/* How long it takes to run a command there. */
static double time_command(int cpu)
{
	double began = now();
	int status;

	if (waitpid(pmu_spawn(body_command_on, cpu), &status, 0) < 0 || status)
		return INT_MAX;
	return now() - began;
}

/* --- harts under load --- */

/* perf may lower the highest frequency at any time, and refuses what is above it. */
static int open_at_any_rate(struct perf_event_attr *attr, int cpu)
{
	int fd = -EINVAL;

	for (int i = 0; i < 10 && fd == -EINVAL; i++) {
		if (attr->freq)
			attr->sample_freq = pmu_read_number(MAX_RATE);
		fd = pmu_open_on(attr, -1, cpu, -1);
	}
	return fd;
}

static int begin_load(FIXTURE_DATA(throttling) *self)
{
	struct perf_event_attr attr = self->attr;

	/* With a period of 1 perf may have throttled it before its ring is there. */
	attr.disabled = !attr.freq;
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct hart *hart = &self->hart[cpu];

		if (!start_echo(hart, cpu))
			return -errno;
		hart->spinner = pmu_spawn(body_spin_on, cpu);
	}
	self->quiet = time_command(0);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct hart *hart = &self->hart[cpu];
		int err;

		hart->fd = open_at_any_rate(&attr, cpu);
		if (hart->fd < 0)
			return hart->fd;
		err = pmu_ring_map_pages(&hart->ring, hart->fd, 64);
		if (err || ioctl(hart->fd, PERF_EVENT_IOC_ENABLE, 0))
			return err ?: -errno;
	}
	return 0;
}

/* A delay by the host does not repeat. A hart without time for its users stays slow. */
#define TRIES	3
#define EXPECT_IN_TIME(time)							\
do {										\
	double took = (time);							\
										\
	for (int try = 1; try < TRIES && took >= PATIENCE(self); try++)		\
		took = (time);							\
	EXPECT_GT(PATIENCE(self), took);					\
} while (0)

/* Asks each hart twice, so that all harts sample at the second time. */
#define EXPECT_RESPONSIVE()							\
do {										\
	for (int i = 0; i < 2 * self->cpus; i++) {				\
		int cpu = i % self->cpus;					\
										\
		EXPECT_IN_TIME(time_echo(&self->hart[cpu]));			\
		EXPECT_IN_TIME(time_command(cpu));				\
	}									\
} while (0)

/* Each has taken samples, and none of them is broken. */
#define EXPECT_STORMED()							\
do {										\
	for (int cpu = 0; cpu < self->cpus; cpu++) {				\
		struct pmu_ring *ring = &self->hart[cpu].ring;			\
										\
		pmu_ring_drain(ring, NULL, NULL);				\
		EXPECT_FALSE(ring->broken);					\
		EXPECT_LT(0, ring->samples);					\
	}									\
} while (0)

#define EXPECT_STORM_TO_PASS()							\
do {										\
	ASSERT_EQ(0, begin_load(self));					\
	EXPECT_RESPONSIVE();							\
	EXPECT_STORMED();							\
	end_load(self);							\
	EXPECT_SAMPLES_AS_EVER();						\
} while (0)

TEST_F_TIMEOUT(throttling, a_period_of_one_leaves_time_for_tasks, 120)
{
	ASSERT_TRUE(default_limits());
	EXPECT_STORM_TO_PASS();
}

TEST_F_TIMEOUT(throttling, a_period_of_one_in_the_kernel_too_leaves_the_harts_their_user, 120)
{
	ASSERT_TRUE(default_limits());
	self->attr.exclude_kernel = 0;
	self->attr.exclude_hv = 0;
	EXPECT_STORM_TO_PASS();
}

/* As often as the kernel allows, which is what "perf record -F max" asks for. */
TEST_F_TIMEOUT(throttling, the_highest_frequency_leaves_the_harts_their_user, 120)
{
	ASSERT_TRUE(default_limits());
	self->attr.exclude_kernel = 0;
	self->attr.freq = 1;
	EXPECT_STORM_TO_PASS();
}

/* --- a hart that goes down --- */

#define ONLINE	"/sys/devices/system/cpu/cpu1/online"

/* A hart that stops can not be started for a while (SBI, HSM extension); a second is plenty. */
static bool bring_up(void)
{
	for (int i = 0; i < 100; i++) {
		if (pmu_write_number(ONLINE, 1))
			return true;
		nap(10);
	}

	return false;
}

TEST_F_TIMEOUT(throttling, a_hart_goes_down_and_comes_up_under_load, 120)
{
	if (pmu_read_number(ONLINE) != 1)
		SKIP(return, "no CPU 1 that can go down");

	self->attr.sample_period = 997;
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, begin_load(self));
		/* Time for samples on each hart, also where it has just come up. */
		nap(200);
		EXPECT_STORMED();
		EXPECT_TRUE(pmu_write_number(ONLINE, 0));
		EXPECT_IN_TIME(time_echo(&self->hart[0]));
		/* They come up again with the event still open, and without. */
		if (i & 1)
			end_load(self);
		EXPECT_TRUE(bring_up());
		end_load(self);
	}
	EXPECT_SAMPLES_AS_EVER();
}

/* --- for a long time --- */

#define SOAK_EVENTS	16
/* Nobody is late by that much, even where the host's clock makes interrupts late. */
#define SOAK_SILENCE	10.0	/* s */

struct soaked {
	int fd;
	struct pmu_ring ring;
	double heard;
};

struct soak {
	int nr;
	struct soaked event[MAX_CPUS * SOAK_EVENTS];
	int64_t missed_wakeups, silences;
};

static double soak_seconds(void)
{
	const char *text = getenv("RISCV_PMU_SOAK_SECONDS");
	double seconds = text ? atof(text) : 0;

	if (seconds > 0)
		return seconds;
	return pmu_is_icount() ? 1 : 5;
}

/*
 * Eight periods of cycles and of instructions each, as QEMU (10.0.2) counts one
 * event on one programmable counter only. Every other hart has the kernel in it.
 */
static int soak_open(FIXTURE_DATA(throttling) *self, struct soak *soak, int round)
{
	struct perf_event_attr attr = self->attr;

	/* All of its records are wanted, from the first. */
	attr.disabled = 1;
	attr.wakeup_events = 1;
	for (int i = 0; i < self->cpus * SOAK_EVENTS; i++) {
		struct soaked *event = &soak->event[i];
		int cpu = i / SOAK_EVENTS;
		int err;

		attr.config = i & 1 || pmu_is_legacy() ? PERF_COUNT_HW_CPU_CYCLES :
							 PERF_COUNT_HW_INSTRUCTIONS;
		attr.exclude_kernel = self->attr.exclude_kernel && !((cpu + round) & 1);
		attr.exclude_hv = attr.exclude_kernel;
		attr.sample_period = 400009 * (1 + i % SOAK_EVENTS / 2);
		event->fd = pmu_open_on(&attr, -1, cpu, -1);
		if (event->fd < 0)
			return event->fd;
		soak->nr++;
		event->heard = now();
		err = pmu_ring_map_pages(&event->ring, event->fd, 16);
		if (err || ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0))
			return err ?: -errno;
	}
	return 0;
}

static bool ring_has_data(const struct pmu_ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) != ring->page->data_tail;
}

/*
 * Each sample wakes its reader (wakeup_events is 1), by an interrupt of its own
 * that the hart sends to itself. So where there is a sample there is a wake-up, at
 * once: a tenth of a second is plenty for it. Records of throttling wake nobody.
 */
static void soak_look(struct soak *soak, struct soaked *event)
{
	struct pollfd pollfd = { .fd = event->fd, .events = POLLIN };
	int64_t drained;
	bool woken;

	if (!ring_has_data(&event->ring)) {
		if (now() - event->heard > SOAK_SILENCE) {
			soak->silences++;
			event->heard = now();
		}
		return;
	}
	woken = poll(&pollfd, 1, 100) == 1 && pollfd.revents & POLLIN;
	drained = event->ring.samples;
	pmu_ring_drain(&event->ring, NULL, NULL);
	drained = event->ring.samples - drained;
	event->heard = now();
	/* What is drained here may have come since: then it wakes now. */
	if (!woken && drained && poll(&pollfd, 1, 0) != 1)
		soak->missed_wakeups++;
}

static void soak_run(struct soak *soak, double seconds)
{
	for (double began = now(); now() - began < seconds; nap(5)) {
		for (int i = 0; i < soak->nr; i++)
			soak_look(soak, &soak->event[i]);
	}
}

TEST_F_TIMEOUT(throttling, sixteen_events_on_every_hart_for_a_long_time, 3600)
{
	static struct soak soak;

	ASSERT_TRUE(default_limits());
	for (int round = 0; round < 2; round++) {
		soak = (struct soak){};
		for (int cpu = 0; cpu < self->cpus; cpu++)
			self->hart[cpu].spinner = pmu_spawn(body_spin_on, cpu);
		ASSERT_EQ(0, soak_open(self, &soak, round));
		soak_run(&soak, soak_seconds() / 2);
		EXPECT_EQ(0, soak.missed_wakeups);
		EXPECT_EQ(0, soak.silences);
		for (int i = 0; i < soak.nr; i++) {
			struct pmu_ring *ring = &soak.event[i].ring;

			ioctl(soak.event[i].fd, PERF_EVENT_IOC_DISABLE, 0);
			pmu_ring_drain(ring, NULL, NULL);
			EXPECT_FALSE(ring->broken);
			EXPECT_LT(0, ring->samples);
			EXPECT_EQ(0, ring->others);
			/* What was lost may have been one of these. */
			if (!ring->lost) {
				EXPECT_LE(0, ring->throttled - ring->unthrottled);
				EXPECT_GE(1, ring->throttled - ring->unthrottled);
			}
			EXPECT_LE(ring->periods, pmu_read(soak.event[i].fd));
			pmu_ring_unmap(ring);
			close(soak.event[i].fd);
		}
		end_load(self);
		EXPECT_EQ(self->held, pmu_events_left());
	}
	EXPECT_SAMPLES_AS_EVER();
}

/* --- without any limit of perf's: last, for here a machine may hang --- */

/*
 * Without limits, interrupts take nine tenths of each hart. The response time of several emulated
 * harts with KASAN and lockdep, on fewer host CPUs, is unbounded.
 */
static bool is_too_slow(FIXTURE_DATA(throttling) *self)
{
	struct utsname name;

	return self->cpus > 1 && !uname(&name) && strstr(name.release, "debug");
}

#define SKIP_IF_TOO_SLOW()						\
	if (is_too_slow(self))						\
		SKIP(return, "several emulated harts of a debug kernel")

TEST_F_TIMEOUT(throttling, without_limits_a_period_of_one_leaves_the_harts_their_user, 120)
{
	SKIP_IF_TOO_SLOW();

	EXPECT_STORM_TO_PASS();
}

TEST_F_TIMEOUT(throttling, without_limits_the_highest_frequency_leaves_the_harts_their_user, 120)
{
	SKIP_IF_TOO_SLOW();

	self->attr.exclude_kernel = 0;
	self->attr.freq = 1;
	EXPECT_STORM_TO_PASS();
}

TEST_F_TIMEOUT(throttling, without_limits_a_period_of_one_in_the_kernel_leaves_the_user_time, 120)
{
	SKIP_IF_TOO_SLOW();

	self->attr.exclude_kernel = 0;
	self->attr.exclude_hv = 0;
	EXPECT_STORM_TO_PASS();
}

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
