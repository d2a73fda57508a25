/* SPDX-License-Identifier: GPL-2.0 */
/* Time, and tasks: on which CPU they run, and when. */
#ifndef RISCV_PMU_TEST_TASK_H
#define RISCV_PMU_TEST_TASK_H

#include "pmu.h"

/* The monotonic clock, in s. */
double now(void);

/* Moves the calling task to one CPU. */
void move_to(int cpu);

#endif
