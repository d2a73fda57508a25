/* SPDX-License-Identifier: GPL-2.0 */
/* The fixture of tests that look at the fields of samples, and what a field may be. */
#ifndef RISCV_PMU_TEST_RECORDS_H
#define RISCV_PMU_TEST_RECORDS_H

#include "ring.h"

/* Longer where the interrupt comes late. */
#define N	(self->exact ? 20000000L : 200000000L)
#define CALLS	(self->exact ? 400000L : 20000L)
/* Long enough for samples that are polled for: 200 us under -icount. */
#define PERIOD	200000

/*
 * The kernel frees the ring of the test before some ms after its end, with interrupts off
 * for up to 400 us at once: no poll is in time then. So where counts are exact, a test
 * waits for that first.
 */
#define RECORDS_FIXTURE(name)							\
FIXTURE(name) {									\
	PMU_MAPPED_MEMBERS;							\
	bool filters;								\
};										\
										\
FIXTURE_SETUP(name)								\
{										\
	if (!pmu_can_sample())							\
		SKIP(return, "this machine does not sample (caps/sampling is none)"); \
										\
	PMU_MAPPED_SETUP(self, pmu_attr_best(PERF_TYPE_HARDWARE,		\
					     PERF_COUNT_HW_INSTRUCTIONS));	\
	self->filters = pmu_can_filter();					\
	if (pmu_is_legacy())							\
		self->attr.config = PERF_COUNT_HW_CPU_CYCLES;			\
	self->attr.sample_type = PERF_SAMPLE_IP;				\
	self->attr.sample_period = PERIOD;					\
	if (self->exact)							\
		usleep(100000);							\
}										\
										\
FIXTURE_TEARDOWN(name)								\
{										\
	PMU_MAPPED_TEARDOWN(self);						\
}

/* Opens self->attr with a ring. */
#define open_mapped(self)	\
	pmu_mapped_open(&(self)->attr, PMU_RING_PAGES, &(self)->ring, &(self)->fd)
/* The same, and gives fn what samples body(arg) makes. */
#define sample(self, body, arg, fn, check)	\
	records_sample(&(self)->attr, &(self)->ring, &(self)->fd, body, arg, fn, check)

int records_sample(const struct perf_event_attr *attr, struct pmu_ring *ring, int *fd,
		   pmu_body *body, long arg, pmu_record_fn *fn, void *check);

bool is_user(const struct pmu_record *record);
bool is_between(uint64_t ip, const char *begin, const char *end);
/* The upper half; perf's marks in call chains are at its very end. */
bool is_kernel_address(uint64_t ip);

#endif
