/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fixture of tests that sample one event into its ring buffer. The sysctls that
 * limit the sample rate are opened wide at the start of a test and restored at its end.
 */
#ifndef RISCV_PMU_TEST_RING_H
#define RISCV_PMU_TEST_RING_H

#include <unistd.h>

#include "pmu.h"

/* The members of such a fixture. It may have more. */
#define PMU_MAPPED_MEMBERS				\
	struct pmu_limits limits;			\
	struct perf_event_attr attr;			\
	struct pmu_ring ring;				\
	bool exact;					\
	int fd

/* A skipped set-up has no teardown: a fixture skips before this, not after it. */
#define PMU_MAPPED_SETUP(self, event)			\
do {							\
	pmu_limits_save(&(self)->limits);		\
	(self)->fd = -1;				\
	(self)->exact = pmu_is_exact();			\
	(self)->attr = (event);				\
} while (0)

#define PMU_MAPPED_TEARDOWN(self)			\
do {							\
	pmu_ring_unmap(&(self)->ring);			\
	if ((self)->fd >= 0)				\
		close((self)->fd);			\
	pmu_limits_restore(&(self)->limits);		\
} while (0)

/* Opens an event and maps its ring: 0 or -errno. */
int pmu_mapped_open(const struct perf_event_attr *attr, int pages, struct pmu_ring *ring, int *fd);
/* The same; then runs the loop once, so that its page faults are not in the samples. */
int pmu_mapped_open_warm(const struct perf_event_attr *attr, int pages, struct pmu_ring *ring,
			 int *fd);
void pmu_mapped_close(struct pmu_ring *ring, int *fd);

/* Requests of a descriptor: 0 or -errno. */
int set_output(int fd, int to);
int set_period(int fd, uint64_t period);

#define close_mapped(self)	pmu_mapped_close(&(self)->ring, &(self)->fd)

/*
 * n events are n / period samples, one more or less for where the first period
 * begins and the last one ends. Where interrupts are late by whole periods, one sample
 * may stand for several, and there are fewer.
 */
#define EXPECT_SAMPLES_SEEN(events, length, seen)			\
do {									\
	int64_t whole = (events) / (length);				\
									\
	EXPECT_GE(whole + 1, seen);					\
	EXPECT_LE(self->exact ? whole - 1 : 1, seen);			\
} while (0)

#endif
