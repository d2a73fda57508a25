/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several events that a test opens and closes together, and counts read with the times
 * that the events were enabled and running.
 */
#ifndef RISCV_PMU_TEST_BUNDLE_H
#define RISCV_PMU_TEST_BUNDLE_H

#include "pmu.h"

/* Instructions of a window. */
#define N	1000000L
#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* What read() gives of an event with TIMES. */
struct times {
	int64_t value, enabled, running;
};

/*
 * perf accepts periods up to 2^63 - 1. But if an overflow is more than 2^63 ns away, QEMU 10.0.2
 * (target/riscv/pmu.c) adds the excess to the next overflow of the counter, which is then missed.
 */
#define LONGEST	0x4000000000000000ULL	/* 2^62 */

#define MAX_FDS	64

struct bundle {
	int nr;
	int fd[MAX_FDS];
};

/* Adds what pmu_open_on() has opened: its descriptor, or -errno. */
int bundle_open_on(struct bundle *all, const struct perf_event_attr *attr, pid_t pid, int cpu,
		   int leader);
int bundle_open(struct bundle *all, const struct perf_event_attr *attr, int leader);
/* All but the first @keep. */
void bundle_close(struct bundle *all, int keep);
void bundle_close_one(struct bundle *all, int i);

/* User only, where the hart can filter: only then is a count not disturbed by the kernel's. */
struct perf_event_attr attr_of(uint64_t id);
struct perf_event_attr attr_software(uint64_t id);

/* The events that a QEMU has, and four ways to filter each: no two can share a counter. */
#define NR_HW_EVENTS	5
#define NR_HW		(4 * NR_HW_EVENTS)
#define NR_ALL		(NR_HW + PMU_FW_NR_DEFINED)

/* The first NR_HW are events of the hardware, the others of the firmware. */
struct perf_event_attr attr_distinct(int i, uint64_t period);

struct times read_times(int fd);
/* What an event that is running counts in a window between two reads. */
int64_t count_between_reads(int fd, long arg);
void body_loop_forever(long arg);

#define EXPECT_STILL_COUNTS(fd)							\
do {										\
	if (self->exact) {							\
		EXPECT_EQ(N + PMU_WINDOW_INSNS, count_between_reads(fd, N));	\
	} else {								\
		EXPECT_LE(pmu_least(N), count_between_reads(fd, N));		\
	}									\
} while (0)

/* Of a window around pmu_loop(N), in which it was on a counter all the time. */
#define EXPECT_COUNTED(it)							\
do {										\
	if (self->exact) {							\
		EXPECT_EQ(N + PMU_WINDOW_INSNS, (it).value);			\
	} else {								\
		EXPECT_LE(pmu_least(N), (it).value);				\
	}									\
	EXPECT_LT(0, (it).enabled);						\
	EXPECT_EQ((it).enabled, (it).running);					\
} while (0)

/* The fixture of programs that open bundles: an event of instructions, not opened yet. */
#define BUNDLE_FIXTURE(name)						\
FIXTURE(name) {								\
	struct perf_event_attr attr;					\
	struct bundle all;						\
	long attached;							\
	bool exact;							\
};									\
									\
FIXTURE_SETUP(name)							\
{									\
	self->attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS);		\
	self->exact = pmu_can_filter() && pmu_is_exact();		\
	self->attached = pmu_events_attached();				\
}									\
									\
FIXTURE_TEARDOWN(name)							\
{									\
	bundle_close(&self->all, 0);					\
}

#endif
