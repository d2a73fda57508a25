/* SPDX-License-Identifier: GPL-2.0 */
/* Children that count or sample beside their parent, and what they leave for it. */
#ifndef RISCV_PMU_TEST_SHARE_H
#define RISCV_PMU_TEST_SHARE_H

#include "pmu.h"

/* Instructions of a window. */
#define N		1000000L

/* What children leave for their parent; NULL if there is no memory. */
void *share_memory(size_t size);

/* fork(), of which the child dies with the test, whatever becomes of that. */
pid_t spawn(void);
/* A child says that it has come so far: raise(SIGSTOP). */
bool wait_stopped(pid_t pid);
/* Until the child has exited; true if with 0. */
bool wait_ended(pid_t pid);

/* @least: instructions that were run while it counted, in an empty window and a loop. */
#define EXPECT_INSNS(least, value)				\
do {								\
	if (self->exact) {					\
		EXPECT_EQ((least) + PMU_WINDOW_INSNS, value);	\
	} else {						\
		EXPECT_LE(pmu_least(least), value);		\
	}							\
} while (0)

#endif
