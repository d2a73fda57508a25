// SPDX-License-Identifier: GPL-2.0
/*
 * Load from many overflows: however short the sampling periods are, each hart must leave time to
 * tasks. This also holds while a hart goes offline, and under load of long duration. After the load
 * a new event must sample as before, and no event may still be attached to a counter.
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
#define MAX_RESPONSE_TIME(self)	((self)->unloaded > 0.2 ? 10 * (self)->unloaded : 2.0)

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/*
 * One hart: a sampling event with its ring, a task that loops (spinner), and a task that sends each
 * byte back that it receives (echo).
 */
struct hart {
	int fd;
	struct pmu_ring ring;
	pid_t spinner, echo;
	int request, reply;	/* pipes to and from the echo task */
};

FIXTURE(throttling) {
	struct pmu_limits limits;
	struct perf_event_attr attr;
	struct hart hart[MAX_CPUS];
	double unloaded;	/* response time of a command without load, in s */
	long attached;
	int cpus;
	bool exact;
};

FIXTURE_SETUP(throttling)
{
	/* After SKIP in a set-up there is no teardown, so change nothing before it. */
	if (!pmu_can_sample())
		SKIP(return, "this machine does not sample (caps/sampling is none)");

	pmu_limits_save(&self->limits);
	self->attached = pmu_events_attached();
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
			close(hart->request);
			close(hart->reply);
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

/* Sets the limits to the kernel's defaults. Returns false if that fails. */
static bool default_limits(void)
{
	return pmu_write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 25) &&
	       pmu_write_number(MAX_RATE, 100000);
}

/* --- response times --- */

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
	int request[2], reply[2];

	if (pipe(request))
		return false;
	if (pipe(reply)) {
		close(request[0]);
		close(request[1]);
		return false;
	}
	hart->echo = fork();
	if (!hart->echo) {
		close(request[1]);
		echo_on(cpu, request[0], reply[1]);
	}
	close(request[0]);
	close(reply[1]);
	hart->request = request[1];
	hart->reply = reply[0];
	return hart->echo > 0;
}

/* Returns the response time of the hart's echo task in s, or INT_MAX after an error. */
static double time_echo(struct hart *hart)
{
	double began = now();
	char byte = 0;

	if (write(hart->request, &byte, 1) != 1 || read(hart->reply, &byte, 1) != 1)
		return INT_MAX;
	return now() - began;
}

/* Returns the time in s that running a command on the CPU takes, or INT_MAX after an error. */
static double time_command(int cpu)
{
	double began = now();
	int status;

	if (waitpid(pmu_spawn(body_command_on, cpu), &status, 0) < 0 || status)
		return INT_MAX;
	return now() - began;
}

/* --- harts under load --- */

/*
 * Opens an event at the highest frequency, if it has one. perf may lower the maximum at any time,
 * and refuses higher frequencies; so this function tries several times. Returns a descriptor or
 * -errno.
 */
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

	/* With a period of 1, perf may throttle an enabled event before its ring is mapped. */
	attr.disabled = !attr.freq;
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct hart *hart = &self->hart[cpu];

		if (!start_echo(hart, cpu))
			return -errno;
		hart->spinner = pmu_spawn(body_spin_on, cpu);
	}
	self->unloaded = time_command(0);
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

/*
 * A delay that the host causes is not repeated, but a hart that leaves no time to tasks is slow at
 * each try.
 */
#define TRIES	3
#define EXPECT_RESPONSE_IN_TIME(time)							\
do {											\
	double took = (time);								\
											\
	for (int try = 1; try < TRIES && took >= MAX_RESPONSE_TIME(self); try++)	\
		took = (time);								\
	EXPECT_GT(MAX_RESPONSE_TIME(self), took);					\
} while (0)

/* Measures each hart twice, so that all harts have begun to sample before the second time. */
#define EXPECT_RESPONSIVE()							\
do {										\
	for (int i = 0; i < 2 * self->cpus; i++) {				\
		int cpu = i % self->cpus;					\
										\
		EXPECT_RESPONSE_IN_TIME(time_echo(&self->hart[cpu]));		\
		EXPECT_RESPONSE_IN_TIME(time_command(cpu));			\
	}									\
} while (0)

/* Each hart has taken samples, and no record is broken. */
#define EXPECT_SAMPLES_ON_ALL_HARTS()						\
do {										\
	for (int cpu = 0; cpu < self->cpus; cpu++) {				\
		struct pmu_ring *ring = &self->hart[cpu].ring;			\
										\
		pmu_ring_drain(ring, NULL, NULL);				\
		EXPECT_FALSE(ring->broken);					\
		EXPECT_LT(0, ring->samples);					\
	}									\
} while (0)

#define EXPECT_USABLE_UNDER_LOAD()						\
do {										\
	ASSERT_EQ(0, begin_load(self));						\
	EXPECT_RESPONSIVE();							\
	EXPECT_SAMPLES_ON_ALL_HARTS();						\
	end_load(self);								\
	EXPECT_SAMPLING_AS_BEFORE();						\
} while (0)

TEST_F_TIMEOUT(throttling, a_period_of_1_leaves_time_to_tasks, 120)
{
	ASSERT_TRUE(default_limits());
	EXPECT_USABLE_UNDER_LOAD();
}

TEST_F_TIMEOUT(throttling, a_period_of_1_with_the_kernel_leaves_time_to_tasks, 120)
{
	ASSERT_TRUE(default_limits());
	self->attr.exclude_kernel = 0;
	self->attr.exclude_hv = 0;
	EXPECT_USABLE_UNDER_LOAD();
}

/* The highest frequency that the kernel allows, as with "perf record -F max". */
TEST_F_TIMEOUT(throttling, the_highest_frequency_leaves_time_to_tasks, 120)
{
	ASSERT_TRUE(default_limits());
	self->attr.exclude_kernel = 0;
	self->attr.freq = 1;
	EXPECT_USABLE_UNDER_LOAD();
}

/* --- CPU hotplug under load --- */

TEST_F_TIMEOUT(throttling, a_hart_goes_offline_and_online_under_load, 120)
{
	if (!can_go_down(1))
		SKIP(return, "no CPU 1 that can be taken offline");

	self->attr.sample_period = 997;
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, begin_load(self));
		/* Time to take samples on each hart, even if it has just come online. */
		sleep_ms(200);
		EXPECT_SAMPLES_ON_ALL_HARTS();
		EXPECT_TRUE(take_down(1));
		EXPECT_RESPONSE_IN_TIME(time_echo(&self->hart[0]));
		/* CPU 1 comes online while the events are open, and in odd rounds after close. */
		if (i & 1)
			end_load(self);
		EXPECT_TRUE(bring_up(1));
		end_load(self);
	}
	EXPECT_SAMPLING_AS_BEFORE();
}

/* --- load of long duration --- */

#define SOAK_EVENTS	16
/*
 * The longest time between two samples of an event that is accepted. It is never reached, even if
 * the host's clock makes interrupts late.
 */
#define SOAK_MAX_GAP	10.0	/* s */

struct soak_event {
	int fd;
	struct pmu_ring ring;
	double last_sample;
};

struct soak {
	int nr;
	struct soak_event event[MAX_CPUS * SOAK_EVENTS];
	int64_t missed_wakeups, gaps;
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
 * Opens SOAK_EVENTS events on each hart: eight periods of cycles and eight of instructions, because
 * QEMU (10.0.2) counts an event on one programmable counter only. On every other hart the events
 * include the kernel. Returns 0 or -errno.
 */
static int soak_open(FIXTURE_DATA(throttling) *self, struct soak *soak, int round)
{
	struct perf_event_attr attr = self->attr;

	/* Enable an event only after its ring is mapped, so that no record is missing. */
	attr.disabled = 1;
	attr.wakeup_events = 1;
	for (int i = 0; i < self->cpus * SOAK_EVENTS; i++) {
		struct soak_event *event = &soak->event[i];
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
		event->last_sample = now();
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
 * Drains the ring of one event. Each sample wakes its reader (wakeup_events is 1): the hart sends
 * itself an interrupt for that, which it takes at once. So a sample without a wake-up within a
 * tenth of a second is a missed wake-up. Records of throttling do not wake the reader.
 */
static void soak_drain(struct soak *soak, struct soak_event *event)
{
	struct pollfd pollfd = { .fd = event->fd, .events = POLLIN };
	int64_t drained;
	bool woken;

	if (!ring_has_data(&event->ring)) {
		if (now() - event->last_sample > SOAK_MAX_GAP) {
			soak->gaps++;
			event->last_sample = now();
		}
		return;
	}
	woken = poll(&pollfd, 1, 100) == 1 && pollfd.revents & POLLIN;
	drained = event->ring.samples;
	pmu_ring_drain(&event->ring, NULL, NULL);
	drained = event->ring.samples - drained;
	event->last_sample = now();
	/* If the sample was written after the first poll(), its wake-up is pending now. */
	if (!woken && drained && poll(&pollfd, 1, 0) != 1)
		soak->missed_wakeups++;
}

static void soak_run(struct soak *soak, double seconds)
{
	for (double began = now(); now() - began < seconds; sleep_ms(5)) {
		for (int i = 0; i < soak->nr; i++)
			soak_drain(soak, &soak->event[i]);
	}
}

TEST_F_TIMEOUT(throttling, sixteen_events_on_each_hart_sample_for_a_long_time, 3600)
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
		EXPECT_EQ(0, soak.gaps);
		for (int i = 0; i < soak.nr; i++) {
			struct pmu_ring *ring = &soak.event[i].ring;

			ioctl(soak.event[i].fd, PERF_EVENT_IOC_DISABLE, 0);
			pmu_ring_drain(ring, NULL, NULL);
			EXPECT_FALSE(ring->broken);
			EXPECT_LT(0, ring->samples);
			EXPECT_EQ(0, ring->others);
			/* If records were lost, records of throttling may be among them. */
			if (!ring->lost) {
				EXPECT_LE(0, ring->throttled - ring->unthrottled);
				EXPECT_GE(1, ring->throttled - ring->unthrottled);
			}
			EXPECT_LE(ring->periods, pmu_read(soak.event[i].fd));
			pmu_ring_unmap(ring);
			close(soak.event[i].fd);
		}
		end_load(self);
		EXPECT_EQ(self->attached, pmu_events_left());
	}
	EXPECT_SAMPLING_AS_BEFORE();
}

/* --- without perf's limits: these tests are last, because they may hang a machine --- */

/*
 * Returns whether response times are unbounded. Without limits, interrupts take nine tenths of each
 * hart. If several harts with KASAN and lockdep are emulated on fewer host CPUs, there is no bound.
 */
static bool is_too_slow(FIXTURE_DATA(throttling) *self)
{
	struct utsname name;

	return self->cpus > 1 && !uname(&name) && strstr(name.release, "debug");
}

#define SKIP_IF_TOO_SLOW()						\
	if (is_too_slow(self))						\
		SKIP(return, "several emulated harts with a debug kernel: too slow")

TEST_F_TIMEOUT(throttling, a_period_of_1_without_limits_leaves_time_to_tasks, 120)
{
	SKIP_IF_TOO_SLOW();

	EXPECT_USABLE_UNDER_LOAD();
}

TEST_F_TIMEOUT(throttling, the_highest_frequency_without_limits_leaves_time_to_tasks, 120)
{
	SKIP_IF_TOO_SLOW();

	self->attr.exclude_kernel = 0;
	self->attr.freq = 1;
	EXPECT_USABLE_UNDER_LOAD();
}

TEST_F_TIMEOUT(throttling, a_period_of_1_with_the_kernel_and_no_limits_leaves_time, 120)
{
	SKIP_IF_TOO_SLOW();

	self->attr.exclude_kernel = 0;
	self->attr.exclude_hv = 0;
	EXPECT_USABLE_UNDER_LOAD();
}

/*
 * The driver leaves the interrupted code at least a twentieth of the hart, half of which the
 * spinner of begin_load() takes: n instructions take at most 40 n. During the first loop the driver
 * extends the period.
 */
TEST_F_TIMEOUT(throttling, a_period_of_1_leaves_a_twentieth_of_the_hart, 120)
{
	const long n = 1000000;

	if (!pmu_is_exact())
		SKIP(return, "needs one instruction per nanosecond (-icount and one hart)");

	for (int user_only = 0; user_only <= pmu_can_filter(); user_only++) {
		double began, took;

		self->attr.exclude_kernel = user_only;
		self->attr.exclude_hv = user_only;
		ASSERT_EQ(0, begin_load(self));
		pmu_loop(n / 10);
		began = now();
		pmu_loop(n);
		took = (now() - began) * 1e9 / n;
		TH_LOG("%.1f instructions for each of the loop", took);
		EXPECT_GE(40, took);
		EXPECT_SAMPLES_ON_ALL_HARTS();
		end_load(self);
	}
	EXPECT_SAMPLING_AS_BEFORE();
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
