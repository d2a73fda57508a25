// SPDX-License-Identifier: GPL-2.0
/* Time, and tasks: on which CPU they run, and when. */

#define _GNU_SOURCE
#include <sched.h>
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
