// SPDX-License-Identifier: GPL-2.0
/* Time, tasks: on which CPU they run, and when; and CPUs that go down and come up. */

#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "task.h"

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

void move_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static const char *online_path(int cpu, char path[64])
{
	snprintf(path, 64, "/sys/devices/system/cpu/cpu%d/online", cpu);
	return path;
}

bool can_go_down(int cpu)
{
	char path[64];

	return pmu_read_number(online_path(cpu, path)) == 1;
}

bool take_down(int cpu)
{
	char path[64];

	return pmu_write_number(online_path(cpu, path), 0);
}

/*
 * A hart that stops is "stop pending" for a while (SBI, HSM extension), which
 * Linux does not wait for, and cannot be started then. A second is plenty.
 */
bool bring_up(int cpu)
{
	char path[64];

	for (int i = 0; i < 100; i++) {
		if (pmu_write_number(online_path(cpu, path), 1))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}

	return false;
}
