/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Event-based branches (Documentation/arch/riscv/pmu-ebb.rst): a counter's overflow calls
 * a function of the thread that it counts.
 *
 *	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
 *					.config = PERF_COUNT_HW_INSTRUCTIONS };
 *	int fd = ebb_open(&attr, -1);
 *
 *	if (fd < 0)
 *		return -1;
 *	ebb_period(ebb_counter(&attr), 100000);
 *	ebb_handler(on_overflow, NULL);
 *	ebb_enable();
 *	ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
 *
 * Each thread has branches, a handler and periods of its own, and none that its parent has.
 * A handler may call what a signal's may (signal-safety(7)), and all of this but ebb_page()
 * and ebb_open().
 */
#ifndef EBB_H
#define EBB_H

#include <linux/perf_event.h>
#include <linux/riscv_pmu.h>
#include <stdint.h>

/**
 * ebb_handler_fn - called when counters have overflowed
 * @page:	&riscv_ebb_page.pc is a copy of the interrupted pc; &riscv_ebb_page.overflowed has
 *		the counters that overflowed. The handler may set further bits to restart the
 *		period of those counters
 * @arg:	as given to ebb_handler()
 *
 * The thread's events that branch do not count the handler. The handler always returns to the
 * interrupted instruction; call ebb_abandon() if it is left by siglongjmp().
 */
typedef void ebb_handler_fn(volatile struct riscv_ebb_page *page, void *arg);

/**
 * ebb_page() - this thread's page
 *
 * The first call maps it: from then on the thread may be branched.
 *
 * Return: NULL with errno: ENOENT, without such a kernel or an overflow interrupt.
 */
volatile struct riscv_ebb_page *ebb_page(void);

/**
 * ebb_open() - open an event that branches, disabled
 * @attr:	size, type and config; the rest is set here. Without a counter in config2 it
 *		gets the first that takes it, and config2 names it afterwards
 * @group_fd:	the leader of its group, or -1
 *
 * Return: a descriptor, or -1 with errno.
 */
int ebb_open(struct perf_event_attr *attr, int group_fd);

/**
 * ebb_counter() - the number of an event's counter
 * @attr:	as ebb_open() has left it
 */
unsigned int ebb_counter(const struct perf_event_attr *attr);

/**
 * ebb_period() - after how many events a counter overflows
 * @counter:	its number
 * @events:	0: never
 *
 * The first period begins when the event is enabled, another one when a handler for its
 * overflow returns: with what is set then.
 * The kernel may raise a period below RISCV_EBB_MIN_PERIOD_MAX (see
 * Documentation/arch/riscv/pmu-ebb.rst, "Short periods").
 * ebb_page() must have succeeded, as for all that follow.
 */
void ebb_period(unsigned int counter, uint64_t events);

/**
 * ebb_handler() - what to call
 * @fn:		NULL: overflows wait
 * @arg:	for @fn
 *
 * Return: 0, or -1 with errno: ENXIO if the page has gone.
 */
int ebb_handler(ebb_handler_fn *fn, void *arg);

/**
 * ebb_enable() - let overflows branch
 *
 * One that has waited does so at once.
 *
 * Return: 0, or -1 with errno: EBUSY if a handler was left by siglongjmp() and ebb_abandon()
 * has not been called; ENXIO if the page is no longer mapped.
 */
int ebb_enable(void);

/**
 * ebb_abandon() - tell the kernel that a handler was left by siglongjmp()
 *
 * Its counters run again, and overflows branch.
 *
 * Return: 0, or -1 with errno: EINVAL if no handler is running.
 */
int ebb_abandon(void);

/**
 * ebb_disable() - let overflows wait
 *
 * A group of which a counter has overflowed stands meanwhile: from a handler, once it has
 * overflowed again.
 */
void ebb_disable(void);

/**
 * ebb_close() - take no branches any more
 *
 * The events count on, for who has their descriptors. From a handler overflows wait at once;
 * the page goes with the next ebb_page() or ebb_open().
 */
void ebb_close(void);

#endif /* EBB_H */
