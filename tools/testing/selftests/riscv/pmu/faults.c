// SPDX-License-Identifier: GPL-2.0
/*
 * Tests failing allocations and failing firmware calls. The n-th allocation of a system call
 * fails, for n = 1, 2, ... until the call makes fewer than n allocations. Each time, the call
 * has to return ENOMEM or succeed without the memory, and leave no event. The firmware calls of
 * an event fail in the same way; the next event has to count correctly.
 *
 * Documentation/fault-injection/fault-injection.rst, "fail-nth", "space".
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define N		100000L
#define FAIL_FIRMWARE	"/sys/kernel/debug/fail_riscv_pmu/"
#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define SLAB_WAITS	"/sys/kernel/debug/failslab/ignore-gfp-wait"
#define PAGE_WAITS	"/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait"
#define PAGE_ORDER	"/sys/kernel/debug/fail_page_alloc/min-order"
/*
 * The most allocations that are tried. An event needs some ten, a ring buffer one for each page,
 * and a process several hundred.
 */
#define MAX_ALLOCATIONS	2000

FIXTURE(faults) {
	struct perf_event_attr attr;
	long attached;
};

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	close(fd);
	return ok;
}

FIXTURE_SETUP(faults)
{
	if (access(FAIL_NTH, W_OK) || access(SLAB_WAITS, W_OK) || access(PAGE_WAITS, W_OK))
		SKIP(return, "no fail-nth, failslab or fail_page_alloc: no CONFIG_FAULT_INJECTION");

	/* Allocations that may wait and allocations of single pages fail, too. */
	ASSERT_TRUE(write_text(SLAB_WAITS, "N"));
	ASSERT_TRUE(write_text(PAGE_WAITS, "N"));
	ASSERT_TRUE(write_text(PAGE_ORDER, "0"));
	/* Otherwise each failure writes a stack trace to the log. */
	ASSERT_TRUE(write_text("/sys/kernel/debug/failslab/verbose", "0"));
	ASSERT_TRUE(write_text("/sys/kernel/debug/fail_page_alloc/verbose", "0"));
	/* fail-nth applies to the driver's faults, too, and these occur with a locked run queue. */
	if (!access(FAIL_FIRMWARE "verbose", W_OK))
		ASSERT_TRUE(write_text(FAIL_FIRMWARE "verbose", "0"));
	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->attached = pmu_events_attached();
}

FIXTURE_TEARDOWN(faults)
{
	write_text(SLAB_WAITS, "Y");
	write_text(PAGE_WAITS, "Y");
	write_text(PAGE_ORDER, "1");
}

/*
 * Makes the n-th allocation from now on fail. @control stays open for the whole test, because
 * open() allocates memory, too.
 */
static void fail_nth(int control, int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(control, text, len, 0) != len)
		perror(FAIL_NTH);
}

/* Returns true if the allocation has failed; in any case no further allocation fails. */
static bool has_failed(int control)
{
	char text[16] = "";
	bool failed = pread(control, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;

	fail_nth(control, 0);
	return failed;
}

typedef int fault_op(const void *arg);

struct fault_result {
	int failed;		/* calls that failed with ENOMEM */
	int wrong;		/* calls that failed with another error */
	bool complete;		/* the last call made fewer allocations than the one to fail */
};

/* Calls op(arg) with each of its allocations failing in turn. */
static struct fault_result fail_each(fault_op *op, const void *arg)
{
	struct fault_result result = {};
	int control = open(FAIL_NTH, O_RDWR | O_CLOEXEC);

	for (int nth = 1; nth < MAX_ALLOCATIONS && !result.complete; nth++) {
		int err;

		fail_nth(control, nth);
		err = op(arg);
		result.complete = !has_failed(control);
		result.failed += err == -ENOMEM;
		result.wrong += err && err != -ENOMEM;
	}
	close(control);
	return result;
}

#define EXPECT_FAILS_CLEANLY(op, arg)				\
do {								\
	struct fault_result it = fail_each(op, arg);		\
								\
	TH_LOG("%d failures with ENOMEM", it.failed);		\
	EXPECT_LT(0, it.failed);				\
	EXPECT_EQ(0, it.wrong);					\
	EXPECT_TRUE(it.complete);				\
	EXPECT_EQ(self->attached, pmu_events_left());		\
} while (0)

static int op_open(const void *arg)
{
	return pmu_try(arg);
}

TEST_F(faults, opening_an_event_fails_cleanly)
{
	EXPECT_FAILS_CLEANLY(op_open, &self->attr);
}

TEST_F(faults, opening_a_sampling_event_fails_cleanly)
{
	if (!pmu_can_sample())
		SKIP(return, "the PMU cannot sample (caps/sampling)");

	self->attr.sample_period = 100000;
	EXPECT_FAILS_CLEANLY(op_open, &self->attr);
}

TEST_F(faults, opening_a_raw_event_fails_cleanly)
{
	self->attr.type = PERF_TYPE_RAW;
	self->attr.config = PMU_STD(2);
	EXPECT_FAILS_CLEANLY(op_open, &self->attr);
}

static int op_group(const void *arg)
{
	int leader = pmu_open(arg), fd;

	if (leader < 0)
		return leader;

	fd = pmu_open_on(arg, 0, -1, leader);
	if (fd >= 0)
		close(fd);
	close(leader);
	return fd < 0 ? fd : 0;
}

TEST_F(faults, opening_a_group_fails_cleanly)
{
	EXPECT_FAILS_CLEANLY(op_group, &self->attr);
}

static int op_map(const void *arg)
{
	struct pmu_ring ring = {};
	int fd = pmu_open(arg), err;

	if (fd < 0)
		return fd;

	err = pmu_ring_map_pages(&ring, fd, 2);
	if (!err)
		pmu_ring_unmap(&ring);
	close(fd);
	return err;
}

TEST_F(faults, mapping_an_event_fails_cleanly)
{
	EXPECT_FAILS_CLEANLY(op_map, &self->attr);
}

static int op_inherit(const void *arg)
{
	int fd = pmu_open(arg), err = 0;
	pid_t pid;

	if (fd < 0)
		return fd;

	/* The child inherits the event, but not the fault. */
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	pid = pmu_spawn(pmu_loop, N);
	if (pid < 0)
		err = -errno;
	else
		pmu_kill(pid);
	close(fd);
	return err;
}

TEST_F_TIMEOUT(faults, inheriting_an_event_fails_cleanly, 120)
{
	self->attr.inherit = 1;
	EXPECT_FAILS_CLEANLY(op_inherit, &self->attr);
}

TEST_F(faults, events_count_after_failed_allocations)
{
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	EXPECT_LE(pmu_least(10 * N), pmu_count(fd, pmu_loop, 10 * N));
	close(fd);
}

/* --- failing firmware calls --- */

/* More firmware calls than an event makes from open() to close(). */
#define MAX_CALLS	64

FIXTURE(firmware_faults) {
	struct perf_event_attr attr;
	long attached;
};

/* Makes the n-th firmware call from now on fail, and no other. */
static bool fail_call(int nth)
{
	return pmu_write_number(FAIL_FIRMWARE "probability", 0) &&
	       pmu_write_number(FAIL_FIRMWARE "interval", 1) &&
	       pmu_write_number(FAIL_FIRMWARE "verbose", 0) &&
	       pmu_write_number(FAIL_FIRMWARE "space", nth) &&
	       pmu_write_number(FAIL_FIRMWARE "times", 1) &&
	       pmu_write_number(FAIL_FIRMWARE "probability", 100);
}

/* Returns true if the call has failed; in any case no further call fails. */
static bool call_has_failed(void)
{
	bool failed = !pmu_read_number(FAIL_FIRMWARE "times");

	pmu_write_number(FAIL_FIRMWARE "probability", 0);
	return failed;
}

FIXTURE_SETUP(firmware_faults)
{
	if (access(FAIL_FIRMWARE "times", W_OK))
		SKIP(return, "no " FAIL_FIRMWARE ": no CONFIG_RISCV_PMU_FAULT_INJECTION");

	self->attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->attached = pmu_events_attached();
}

FIXTURE_TEARDOWN(firmware_faults)
{
	if (!access(FAIL_FIRMWARE "times", W_OK))
		pmu_write_number(FAIL_FIRMWARE "probability", 0);
}

/* Opens an event, counts with it and closes it. Returns the count, or 0 if it did not open. */
static int64_t open_count_close(const struct perf_event_attr *attr)
{
	int fd = pmu_open(attr);
	int64_t count;

	if (fd < 0)
		return 0;

	count = pmu_count(fd, pmu_loop, N);
	close(fd);
	return count;
}

/*
 * Makes each firmware call of an event fail in turn. That event need not count, but the next
 * event has to, and no event may be left. Returns the number of firmware calls.
 */
static int fail_each_call(struct __test_metadata *_metadata, FIXTURE_DATA(firmware_faults) *self,
			  const struct perf_event_attr *attr)
{
	bool failed = true;
	int nth = 0;

	while (failed && nth < MAX_CALLS) {
		EXPECT_TRUE(fail_call(++nth));
		EXPECT_LE(0, open_count_close(attr));
		failed = call_has_failed();
		EXPECT_EQ(0, pmu_try(attr));
		EXPECT_LE(pmu_least(N), open_count_close(&self->attr)) {
			TH_LOG("after a failure of call %d", nth);
		}
		EXPECT_EQ(self->attached, pmu_events_left());
	}
	EXPECT_FALSE(failed);
	return nth - 1;
}

TEST_F(firmware_faults, events_count_after_failed_calls_of_a_hardware_event)
{
	fail_each_call(_metadata, self, &self->attr);
}

/* Longer than the time until the driver retries a counter that has refused an event. */
#define RETRY_NS	300000000LL

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void loop_for_a_while(long unused)
{
	int64_t end = now_ns() + RETRY_NS;

	while (now_ns() < end)
		pmu_loop(N);
}

/*
 * If a counter refuses an event once, when it is programmed or started, the event stays enabled
 * but does not run. It counts as soon as the counter accepts it.
 */
TEST_F_TIMEOUT(firmware_faults, event_counts_after_its_counter_has_refused_it_once, 120)
{
	struct {
		int64_t value, enabled, running;
	} it;
	bool failed = true;

	self->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (int nth = 1; failed && nth < MAX_CALLS; nth++) {
		int fd;

		ASSERT_TRUE(fail_call(nth));
		fd = pmu_open(&self->attr);
		if (fd >= 0)
			pmu_run(fd, 0, loop_for_a_while, 0);
		failed = call_has_failed();
		if (fd < 0)
			continue;
		ASSERT_EQ((ssize_t)sizeof(it), read(fd, &it, sizeof(it)));
		EXPECT_LT(0, it.value)
			TH_LOG("after a failure of call %d", nth);
		EXPECT_LT(0, it.running);
		EXPECT_LE(it.running, it.enabled);
		close(fd);
	}
	EXPECT_FALSE(failed);
}

/* To set an overflow point, the firmware has to write the counter, which is one more call. */
TEST_F(firmware_faults, events_count_after_failed_calls_of_a_sampling_event)
{
	struct perf_event_attr attr = self->attr;
	int calls;

	if (!pmu_can_sample())
		SKIP(return, "the PMU cannot sample (caps/sampling)");

	attr.sample_period = N / 10;
	calls = fail_each_call(_metadata, self, &attr);
	if (pmu_samples_by_interrupt() && !pmu_is_delegated())
		EXPECT_LT(0, calls);
}

/* The count may be 0, because the loop causes hardly any iTLB misses. */
TEST_F(firmware_faults, events_count_after_failed_calls_of_a_cache_event)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HW_CACHE,
					       PMU_CACHE(PERF_COUNT_HW_CACHE_ITLB, 0, 1));

	if (pmu_try(&attr))
		SKIP(return, "the PMU has no event for iTLB misses");

	fail_each_call(_metadata, self, &attr);
}

TEST_F(firmware_faults, events_count_after_failed_calls_of_a_firmware_event)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));

	if (pmu_try(&attr))
		SKIP(return, "no firmware events");

	EXPECT_LT(0, fail_each_call(_metadata, self, &attr));
}

/*
 * In the tests above, the driver has printed messages in add() and in pmu_enable(), which perf's
 * core calls with the locks of the context and of the run queue held. A console may wake a task,
 * which takes the lock of a run queue: so it must not be called with these locks held.
 */
TEST_F(firmware_faults, messages_do_not_lock_the_console_under_scheduler_locks)
{
	if (pmu_locks_nest("&ctx->lock", "console") < 0)
		SKIP(return, "no /proc/lockdep: no CONFIG_PROVE_LOCKING");

	EXPECT_EQ(0, pmu_locks_nest("&ctx->lock", "console"));
	EXPECT_EQ(0, pmu_locks_nest("&rq->__lock", "console"));
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
