/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Event-based branches (EBBs, Documentation/arch/riscv/pmu-ebb.rst): the overflow of a
 * counter calls a function of the thread that it counts.
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
 * Each thread has its own page, handler and periods; a child inherits none of them. If a process
 * with several threads forks, its child keeps the other threads' descriptors of /dev/riscv_ebb,
 * which are of no use to it, until it ends or calls execve(). A child that a handler has created by
 * fork() must not return from the handler: it must call execve() or _exit().
 *
 * A handler may call the functions that a signal handler may (signal-safety(7)), and all
 * functions below except ebb_page() and ebb_open().
 */
#ifndef EBB_H
#define EBB_H

#include <linux/perf_event.h>
#include <linux/riscv_ebb.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library is compiled with hidden symbols, except these. */
#pragma GCC visibility push(default)

/**
 * ebb_handler_fn - called when counters have overflowed
 * @page:	&riscv_ebb_page.pc is a copy of the interrupted pc; &riscv_ebb_page.overflowed has
 *		the counters that overflowed. The handler may set further bits to restart the
 *		period of those counters
 * @arg:	as given to ebb_handler()
 *
 * The thread's EBB events do not count the handler. The handler always returns to the
 * interrupted instruction, with errno as it was; call ebb_abandon() if it is left by
 * siglongjmp(). A backtrace in a handler shows the callers of the interrupted instruction.
 *
 * A handler runs on the stack of the interrupted code. The library treats a call as made by the
 * handler if the stack pointer is below that of the handler's entry. So a handler must not call
 * ebb_enable(), ebb_handler() or ebb_close() while it is on another stack (swapcontext(3),
 * sigaltstack(2)); and after siglongjmp(), which may lead to another stack, too, call
 * ebb_abandon() before them.
 */
typedef void ebb_handler_fn(volatile struct riscv_ebb_page *page, void *arg);

/**
 * ebb_page() - get this thread's page
 *
 * The first call maps it, and so permits EBBs of this thread. It is unmapped when the thread
 * ends.
 *
 * Return: the page, or NULL with errno: ENOENT if the kernel has no EBBs or the hart no
 * overflow interrupt; EAGAIN if the process has too many keys (pthread_key_create(3)).
 */
volatile struct riscv_ebb_page *ebb_page(void);

/**
 * ebb_open() - open an EBB event, disabled
 * @attr:	size, type and config, and for branch records sample_type
 *		(PERF_SAMPLE_BRANCH_STACK) and branch_sample_type; the function sets the rest. If
 *		config2 names no counter, the function sets it to the first counter that can hold
 *		the event
 * @group_fd:	descriptor of the group leader, or -1
 *
 * If read() returns 0 bytes after the event was enabled, another pinned event has the PMU, such as
 * that of the NMI watchdog (sysctl kernel.nmi_watchdog=0 stops it).
 *
 * Return: a descriptor, or -1 with errno. If no counter accepts the event, errno is the first error
 * other than EINVAL, or else EINVAL, which means that no counter can hold the event.
 */
int ebb_open(struct perf_event_attr *attr, int group_fd);

/**
 * ebb_counter() - get the number of an event's counter
 * @attr:	the attributes that ebb_open() has completed
 *
 * Return: the number, or UINT_MAX with errno EINVAL if config2 does not name one counter.
 */
unsigned int ebb_counter(const struct perf_event_attr *attr);

/**
 * ebb_period() - set the number of events until a counter overflows
 * @counter:	number of the counter
 * @events:	length of the period, or 0 for no overflows
 *
 * The first period begins when the event is enabled, the next one when the handler of its
 * overflow returns. The kernel reads the length at that time, and may raise it if it is below
 * RISCV_EBB_MIN_PERIOD_MAX (Documentation/arch/riscv/pmu-ebb.rst, "Short periods").
 *
 * Return: 0, or -1 with errno: EINVAL if there is no such counter; ENXIO if this thread has no
 * page, as for the functions below.
 */
int ebb_period(unsigned int counter, uint64_t events);

/**
 * ebb_branches() - get the branch records of the last overflow
 * @entries:	out: the records, the newest one first
 * @max:	the number of records that @entries has room for; there are at most
 *		RISCV_EBB_MAX_BRANCHES
 *
 * They are the last branches of this thread before the overflow, without those of its handlers.
 *
 * Return: the number of records; 0 if no event of the group asks for them.
 */
unsigned int ebb_branches(struct perf_branch_entry *entries, unsigned int max);

/**
 * ebb_handler() - set the handler
 * @fn:		the handler; with NULL, overflows stay pending
 * @arg:	argument for @fn
 *
 * Return: 0, or -1 with errno: ENXIO if the page is not mapped.
 */
int ebb_handler(ebb_handler_fn *fn, void *arg);

/**
 * ebb_enable() - enable EBBs
 *
 * If an overflow is pending, the handler is called immediately.
 *
 * Return: 0, or -1 with errno: EBUSY if a handler was left by siglongjmp() and ebb_abandon()
 * has not been called (detected only if the caller's stack pointer is above that of the handler);
 * ENXIO if the page is not mapped.
 */
int ebb_enable(void);

/**
 * ebb_abandon() - tell the kernel that a handler was left by siglongjmp()
 *
 * This restarts the counters and enables EBBs.
 *
 * Return: 0, or -1 with errno: EINVAL if no handler is running.
 */
int ebb_abandon(void);

/**
 * ebb_disable() - disable EBBs: overflows stay pending
 *
 * If a counter of a group overflows, the group is stopped until EBBs are enabled. A call in a
 * handler affects the next overflow.
 */
void ebb_disable(void);

/**
 * ebb_close() - disable EBBs and unmap the page
 *
 * The events continue to count until their descriptors are closed. In a handler this only
 * disables EBBs, and the next ebb_page() or ebb_open() unmaps the page. Until then, ebb_period(),
 * ebb_handler() and ebb_enable() fail with ENXIO.
 */
void ebb_close(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* EBB_H */
