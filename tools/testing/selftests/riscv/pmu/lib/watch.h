/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks that a test starts, stops, moves and counts, and the counts of their events. */
#ifndef RISCV_PMU_TEST_WATCH_H
#define RISCV_PMU_TEST_WATCH_H

#include "pmu.h"

/* Instructions of a window. */
#define N	1000000L

/* What read() gives of an event with its times. */
struct count {
	int64_t value, enabled, running;
};

/* User only, where the hart can filter: only then is a count not disturbed by the kernel's. */
struct perf_event_attr instructions(void);

/* The count, whether the times come with it or not. */
int64_t read_value(int fd);
/*
 * Returns the count of an event; -2 if it was not running for all of the time that it was enabled,
 * -1 after an error.
 */
int64_t read_full_time(int fd);
/*
 * Until the event has counted something: a task that is on a hart may yet have
 * to wait there for long, where the host has fewer CPUs than that.
 */
int64_t wait_counting(int fd);

void sleep_ms(long ms);

/* Moves a task to one CPU; 0 is the calling task. */
int pin(pid_t pid, int cpu);

/* A child that stands still before body(arg), until SIGCONT, and dies with the test. */
pid_t spawn_stopped(pmu_body *body, long arg);
void body_spin(long arg);
pid_t spawn_spinner(void);
/* Starts a child that was stopped; true if it has exited with 0. */
bool run_to_end(pid_t pid);

/* In tests whose fixture has the member "exact". */
#define EXPECT_COUNT(n, count)				\
do {							\
	if (self->exact) {				\
		EXPECT_EQ(n, count);			\
	} else {					\
		EXPECT_LE(pmu_least(n), count);		\
	}						\
} while (0)

#endif
