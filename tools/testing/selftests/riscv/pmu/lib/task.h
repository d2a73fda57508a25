/* SPDX-License-Identifier: GPL-2.0 */
/* Time, tasks: on which CPU they run, and when; and CPUs that go down and come up. */
#ifndef RISCV_PMU_TEST_TASK_H
#define RISCV_PMU_TEST_TASK_H

#include "pmu.h"

/* The monotonic clock, in s. */
double now(void);

/* Moves the calling task to one CPU. */
void move_to(int cpu);

/* Returns whether a CPU is online and can go down. */
bool can_go_down(int cpu);
bool take_down(int cpu);
/* Returns whether the CPU is online, which may take a second. */
bool bring_up(int cpu);

#endif
