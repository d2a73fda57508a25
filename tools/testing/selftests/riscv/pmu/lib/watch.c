// SPDX-License-Identifier: GPL-2.0
/* Tasks that a test starts, stops, moves and counts. */

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

struct perf_event_attr instructions(void)
{
	return pmu_can_filter() ? pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) :
				  pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

int64_t read_value(int fd)
{
	struct count count;

	return read(fd, &count, sizeof(count)) > 0 ? count.value : -1;
}

int64_t read_full_time(int fd)
{
	struct count count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return -1;

	return count.running && count.running == count.enabled ? count.value : -2;
}

int64_t wait_counting(int fd)
{
	for (int i = 0; i < 5000 && !read_value(fd); i++)
		sleep_ms(1);
	return read_value(fd);
}

void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

int pin(pid_t pid, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(pid, sizeof(one), &one);
}

pid_t spawn_stopped(pmu_body *body, long arg)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		body(arg);
		_exit(0);
	}
	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) ? pid : -1;
}

void body_spin(long arg)
{
	for (;;)
		pmu_loop(arg);
}

pid_t spawn_spinner(void)
{
	pid_t pid = spawn_stopped(body_spin, N);

	kill(pid, SIGCONT);
	return pid;
}

bool run_to_end(pid_t pid)
{
	int status = -1;

	kill(pid, SIGCONT);
	return waitpid(pid, &status, 0) == pid && !status;
}
