// SPDX-License-Identifier: GPL-2.0
/*
 * Event-based branches (Documentation/arch/riscv/pmu-ebb.rst), by the library of
 * tools/ebb: a file in ebb/ for each clause of the contract.
 */

#define _GNU_SOURCE
#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/riscv_ebb.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "../../../../ebb/ebb.h"
#include "../../../../include/perf/riscv_pmu_read.h"
#include "../../kselftest_harness.h"
#include "lib/branch.h"
#include "lib/ebb.h"
#include "lib/pmu.h"
#include "lib/task.h"

#define PERIOD	100000L
#define N	(100 * PERIOD)

/* Of the test at hand. */
static volatile long branches, inside;
static volatile uint64_t seen;

static void on_branch(volatile struct riscv_ebb_page *page, void *arg)
{
	const char *pc = (const char *)page->pc;

	branches++;
	inside += pc >= pmu_loop_begin && pc <= pmu_loop_end;
	seen |= page->overflowed;
}

/* An event of this thread whose overflows call on_branch(); a descriptor, or -1. */
static int open_ebb(struct perf_event_attr *attr, uint64_t period)
{
	int fd = ebb_open(attr, -1);

	if (fd < 0)
		return fd;

	branches = 0;
	ebb_period(ebb_counter(attr), period);
	ebb_handler(on_branch, NULL);
	ebb_enable();
	return fd;
}

static struct perf_event_attr instructions(void)
{
	return pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

FIXTURE(ebb) {
	struct perf_event_attr attr;
	bool exact;
	bool there;
};

FIXTURE_SETUP(ebb)
{
	if (access("/dev/riscv_ebb", R_OK | W_OK)) {
		EXPECT_FALSE(pmu_samples_by_interrupt());
		SKIP(return, "no /dev/riscv_ebb: no overflow interrupt");
	}
	ASSERT_NE(NULL, (void *)ebb_page());
	self->there = true;
	self->attr = instructions();
	self->exact = pmu_is_exact();
	branches = 0;
	inside = 0;
	seen = 0;
}

FIXTURE_TEARDOWN(ebb)
{
	if (self->there)
		ebb_close();
}

/*
 * Each period ends with a branch. Without -icount QEMU tells late of overflows: one stands
 * for all that ended until then, but there are never more than that.
 */
#define EXPECT_BRANCHES(count, period)						\
do {										\
	int64_t _periods = (count) / (period);					\
										\
	EXPECT_LE(self->exact ? _periods : 1, branches);			\
	EXPECT_GE(_periods, branches);						\
} while (0)

/* The same when switches come between: a period that ends as one begins is told after it. */
#define EXPECT_BRANCHES_ABOUT(count, period)					\
do {										\
	int64_t _periods = (count) / (period);					\
										\
	EXPECT_LE(self->exact ? _periods - 1 : 1, branches);			\
	EXPECT_GE(_periods, branches);						\
} while (0)

/* At once; without -icount the next may have followed already. */
#define EXPECT_BRANCHED_ONCE()							\
do {										\
	EXPECT_LE(1, branches);							\
	if (self->exact)							\
		EXPECT_EQ(1, branches);						\
} while (0)

/* A handler by its address, past the library; errno is why not. */
static int register_at(unsigned long handler)
{
	const struct riscv_ebb_register reg = {
		.size = sizeof(reg), .version = RISCV_EBB_VERSION, .handler = handler,
	};
	int dev = open("/dev/riscv_ebb", O_RDWR | O_CLOEXEC);
	int err = ioctl(dev, RISCV_EBB_IOC_REGISTER, &reg) ? errno : 0;

	close(dev);
	errno = err;
	return err ? -1 : 0;
}

/* Loops until there was a branch, but not forever: the caller checks whether there was one. */
static void loop_until_branched(void)
{
	for (int turn = 0; turn < 500 && !branches; turn++)
		pmu_loop(N / 10);
}

static void wait_for_pending(void)
{
	for (int turn = 0; turn < 500 && !ebb_page()->status; turn++)
		pmu_loop(N / 10);
}

/* An event of this thread that has a branch waiting, disabled; a descriptor, or -1. */
static int open_pending(struct perf_event_attr *attr)
{
	int fd = open_ebb(attr, PERIOD);

	if (fd < 0)
		return fd;

	ebb_disable();
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	wait_for_pending();
	return ebb_page()->status == RISCV_EBB_PENDING ? fd : -1;
}

/* body(n) with an event enabled, and whatever it takes to see a branch without -icount. */
static long run(int fd, pmu_body *body, long n)
{
	long err = pmu_run(fd, 0, body, n);

	if (pmu_is_exact())
		return err;

	err |= ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	loop_until_branched();
	return err | ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* What a child ends with that runs this. */
static int child_status(void (*run)(const struct perf_event_attr *attr),
			const struct perf_event_attr *attr)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		run(attr);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* What is mapped for the parent is not mapped here; the library has to be told. */
static void forget_page(void)
{
	ebb_close();
}

static void yield_loop(long n)
{
	for (; n > 0; n -= PERIOD) {
		pmu_loop(PERIOD);
		sched_yield();
	}
}

#include "ebb/attributes.c"
#include "ebb/back_to_back.c"
#include "ebb/branches.c"
#include "ebb/child.c"
#include "ebb/close.c"
#include "ebb/cost.c"
#include "ebb/cycles.c"
#include "ebb/examples.c"
#include "ebb/fork_exec.c"
#include "ebb/instruction_count.c"
#include "ebb/library.c"
#include "ebb/lost.c"
#include "ebb/multi_counter.c"
#include "ebb/no_handler.c"
#include "ebb/period.c"
#include "ebb/probes.c"
#include "ebb/processes.c"
#include "ebb/program.c"
#include "ebb/register.c"
#include "ebb/registers.c"
#include "ebb/sequences.c"
#include "ebb/signals.c"
#include "ebb/syscalls.c"
#include "ebb/forged.c"
#include "ebb/throttle.c"
#include "ebb/tracer.c"
#include "ebb/versus.c"

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
