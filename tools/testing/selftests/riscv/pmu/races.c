// SPDX-License-Identifier: GPL-2.0
/*
 * What an overflow can coincide with: its event is closed, disabled or moved, or the task
 * of the event forks, runs a program, exits or is killed. After each of these the next event
 * must sample as before, and no event may be left.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/storm.h"
#include "lib/task.h"

FIXTURE(races) {
	struct pmu_limits limits;
	struct perf_event_attr attr;
	long attached;
	int cpus;
	bool exact;
};

FIXTURE_SETUP(races)
{
	/* A skipped set-up has no teardown: nothing may be changed before. */
	if (!pmu_can_sample())
		SKIP(return, "this machine does not sample (caps/sampling is none)");

	pmu_limits_save(&self->limits);
	self->attached = pmu_events_attached();
	self->exact = pmu_is_exact();
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (self->cpus > MAX_CPUS)
		self->cpus = MAX_CPUS;
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	if (pmu_is_legacy())
		self->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.sample_period = 1;
	self->attr.disabled = 0;
}

FIXTURE_TEARDOWN(races)
{
	pmu_limits_restore(&self->limits);
}

/* Seconds of each worker, one on each hart. Under -icount each takes the host fifteen. */
#define RACE_TIME	(pmu_is_icount() ? 0.1 : 0.7)

static bool is_over(double began)
{
	return now() - began >= RACE_TIME;
}

static struct perf_event_attr race_attr;

static void race_close(long cpu)
{
	double began = now();

	move_to(cpu);
	while (!is_over(began)) {
		int fd = pmu_open(&race_attr);

		if (fd < 0)
			_exit(-fd);
		pmu_loop(5000);
		close(fd);
	}
}

static void race_toggle(long cpu)
{
	double began = now();
	int fd;

	move_to(cpu);
	fd = pmu_open(&race_attr);
	if (fd < 0)
		_exit(-fd);
	while (!is_over(began)) {
		if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			_exit(errno);
		pmu_loop(500);
	}
}

static void race_exec(long cpu)
{
	double began = now();
	int fd, status;

	move_to(cpu);
	race_attr.inherit = 1;
	fd = pmu_open(&race_attr);
	if (fd < 0)
		_exit(-fd);
	while (!is_over(began)) {
		waitpid(pmu_spawn(body_command_on, cpu), &status, 0);
		if (status)
			_exit(1);
	}
}

static void body_open_and_exit(long cpu)
{
	int fd = pmu_open(&race_attr);

	if (fd < 0)
		_exit(-fd);
	pmu_loop(5000);
}

/* Events that nobody closes, and some whose owner is killed. */
static void race_exit(long cpu)
{
	double began = now();
	int status;

	move_to(cpu);
	while (!is_over(began)) {
		pid_t victim = pmu_spawn(body_spin_on, cpu);
		int fd = pmu_open_on(&race_attr, victim, -1, -1);

		waitpid(pmu_spawn(body_open_and_exit, cpu), &status, 0);
		pmu_kill(victim);
		if (fd < 0 || status)
			_exit(1);
		close(fd);
	}
}

static volatile sig_atomic_t alarms, overflows;

static void on_alarm(int sig)
{
	alarms++;
}

static void on_overflow(int sig)
{
	overflows++;
}

/* Another timer that interrupts this hart as often, and a signal for each sample. */
static void race_timers(long cpu)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } };
	double began = now();
	int fd;

	move_to(cpu);
	signal(SIGALRM, on_alarm);
	signal(SIGRTMIN, on_overflow);
	race_attr.sample_period = 20000;
	fd = pmu_open(&race_attr);
	if (fd < 0)
		_exit(-fd);
	if (fcntl(fd, F_SETOWN, getpid()) || fcntl(fd, F_SETSIG, SIGRTMIN) ||
	    fcntl(fd, F_SETFL, O_ASYNC) || setitimer(ITIMER_REAL, &often, NULL))
		_exit(errno);
	while (!is_over(began))
		pmu_loop(10000);
	if (!alarms || !overflows)
		_exit(1);
}

static void race_fork(long cpu)
{
	double began = now();
	pid_t pid[4];
	int fd;

	move_to(cpu);
	race_attr.inherit = 1;
	fd = pmu_open(&race_attr);
	if (fd < 0)
		_exit(-fd);
	while (!is_over(began)) {
		for (int i = 0; i < 4; i++)
			pid[i] = pmu_spawn(i ? pmu_loop : body_spin_on, i ? 20000 : cpu);
		pmu_kill(pid[0]);
		for (int i = 1; i < 4; i++)
			waitpid(pid[i], NULL, 0);
	}
}

static void race_migrate(long cpu)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	double began = now();
	int fd = pmu_open(&race_attr);

	if (fd < 0)
		_exit(-fd);
	while (!is_over(began)) {
		move_to(cpu++ % cpus);
		pmu_loop(5000);
	}
}

static const struct race {
	const char *what;
	pmu_body *body;
} races[] = {
	{ "close",			race_close },
	{ "disable and enable",		race_toggle },
	{ "exec",			race_exec },
	{ "exit",			race_exit },
	{ "timers and signals",		race_timers },
	{ "fork, inherited",		race_fork },
	{ "change of hart",		race_migrate },
};

/*
 * On every hart at once, with a period that ends within all of it. There is no
 * ring: what perf does with the sample is not what is tried here.
 */
TEST_F_TIMEOUT(races, an_overflow_may_meet_whatever_ends_or_moves_its_event, 240)
{
	pid_t pid[MAX_CPUS];
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(races); i++) {
		race_attr = self->attr;
		race_attr.sample_period = 997;
		for (int cpu = 0; cpu < self->cpus; cpu++)
			pid[cpu] = pmu_spawn(races[i].body, cpu);
		for (int cpu = 0; cpu < self->cpus; cpu++) {
			ASSERT_EQ(pid[cpu], waitpid(pid[cpu], &status, 0));
			EXPECT_EQ(0, status)
				TH_LOG("%s, on hart %d: status %x", races[i].what, cpu, status);
		}
		EXPECT_EQ(self->attached, pmu_events_left())
			TH_LOG("%s", races[i].what);
	}
	EXPECT_SAMPLING_AS_BEFORE();
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
