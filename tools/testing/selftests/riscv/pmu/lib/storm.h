/* SPDX-License-Identifier: GPL-2.0 */
/* What a load of many overflows runs on a hart, and how sampling is checked after it. */
#ifndef RISCV_PMU_TEST_STORM_H
#define RISCV_PMU_TEST_STORM_H

#include "ring.h"

#define MAX_CPUS	16

/* Moves to a CPU, and runs there for ever. */
void body_spin_on(long cpu);
/* Moves to a CPU, and runs a short command there. */
void body_command_on(long cpu);

#define WINDOW	10000000L

/* A new event takes as many samples as before the load, and no other event is left. */
#define EXPECT_SAMPLING_AS_BEFORE()						\
do {										\
	struct perf_event_attr attr = self->attr;				\
	struct pmu_ring ring;							\
	int fd;									\
										\
	attr.disabled = 1;							\
	attr.freq = 0;								\
	attr.inherit = 0;							\
	attr.sample_period = 200000;						\
	fd = pmu_open(&attr);							\
	ASSERT_LE(0, fd);							\
	ASSERT_EQ(0, pmu_ring_map(&ring, fd));					\
	pmu_loop(2);								\
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, self->exact ? WINDOW : 20 * WINDOW)); \
	pmu_ring_drain(&ring, NULL, NULL);					\
	EXPECT_FALSE(ring.broken);						\
	EXPECT_SAMPLES_SEEN(pmu_read(fd), 200000, ring.samples);		\
	pmu_ring_unmap(&ring);							\
	close(fd);								\
	EXPECT_EQ(self->attached, pmu_events_left());				\
} while (0)

#endif
