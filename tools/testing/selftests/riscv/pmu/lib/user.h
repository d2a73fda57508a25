/* SPDX-License-Identifier: GPL-2.0 */
/* The fixture of tests that read counters without a system call, through a mapping. */
#ifndef RISCV_PMU_TEST_USER_H
#define RISCV_PMU_TEST_USER_H

#include <linux/perf_event.h>
#include <sched.h>
#include <unistd.h>

#include "../../../../../include/perf/riscv_pmu_read.h"
#include "pmu.h"

/* Instructions of a window. */
#define N		1000000L
#define ACCESS		"/proc/sys/kernel/perf_user_access"

/* The page of an event; NULL if it cannot be mapped. */
struct perf_event_mmap_page *map(int fd);
void unmap(struct perf_event_mmap_page *page);

/* Whether counters wrap without an interrupt: user space, which extends the sign, needs one. */
bool wraps_without_interrupt(void);

int pin_to(int cpu);

/* Returns true if a read of the counter by this thread raises SIGILL. */
bool traps(unsigned int ctr);

/* An event of instructions that counts, and its page. */
#define USER_FIXTURE(name)							\
FIXTURE(name) {									\
	struct perf_event_attr attr;						\
	struct perf_event_mmap_page *page;					\
	cpu_set_t all;								\
	long access;								\
	int fd;									\
};										\
										\
FIXTURE_SETUP(name)								\
{										\
	self->access = pmu_read_number(ACCESS);					\
	ASSERT_LE(0, self->access);						\
	if (pmu_is_legacy())							\
		SKIP(return, "no counter can be given a value (caps/backend)");	\
	if (wraps_without_interrupt())							\
		SKIP(return, "counters are narrow and do not interrupt (caps/counter_width)"); \
										\
	ASSERT_TRUE(pmu_write_number(ACCESS, 1));				\
	sched_getaffinity(0, sizeof(self->all), &self->all);			\
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS); \
	self->attr.disabled = 0;						\
	self->fd = pmu_open(&self->attr);					\
	ASSERT_LE(0, self->fd);							\
	self->page = map(self->fd);						\
	ASSERT_NE(NULL, self->page);						\
}										\
										\
FIXTURE_TEARDOWN(name)								\
{										\
	if (self->page)								\
		unmap(self->page);						\
	if (self->fd > 0)							\
		close(self->fd);						\
	pmu_write_number(ACCESS, self->access);					\
}

#endif
