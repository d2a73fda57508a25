// SPDX-License-Identifier: GPL-2.0
/*
 * Failing allocations and failing firmware calls. The n-th allocation of a system call fails,
 * for n = 1, 2, ... until the call makes fewer than n. Each time the call returns ENOMEM or
 * succeeds without the memory, and leaves no event. The firmware calls of an event fail in the
 * same way; the next event has to count correctly.
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
/* Some ten for an event, one for each page of a ring, several hundred for a process. */
#define MOST		2000

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

	/* Allocations that may wait fail, too, and single pages. */
	ASSERT_TRUE(write_text(SLAB_WAITS, "N"));
	ASSERT_TRUE(write_text(PAGE_WAITS, "N"));
	ASSERT_TRUE(write_text(PAGE_ORDER, "0"));
	/* Each would have its stack in the log. */
	ASSERT_TRUE(write_text("/sys/kernel/debug/failslab/verbose", "0"));
	ASSERT_TRUE(write_text("/sys/kernel/debug/fail_page_alloc/verbose", "0"));
	/* The driver's own faults heed fail-nth as well, where the run queue is locked. */
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

/* The descriptor stays open: to open it is an allocation, too. */
static void fail_nth(int control, int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", nth);

	if (pwrite(control, text, len, 0) != len)
		perror(FAIL_NTH);
}

/* Whether the fault was used up; there is none afterwards. */
static bool has_failed(int control)
{
	char text[16] = "";
	bool failed = pread(control, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;

	fail_nth(control, 0);
	return failed;
}

typedef int fault_op(const void *arg);

struct fault_result {
	int failed;		/* calls that failed, as they should */
	int wrong;		/* another error than ENOMEM */
	bool whole;		/* in the end it went through without any fault left */
};

static struct fault_result fail_each(fault_op *op, const void *arg)
{
	struct fault_result result = {};
	int control = open(FAIL_NTH, O_RDWR | O_CLOEXEC);

	for (int nth = 1; nth < MOST && !result.whole; nth++) {
		int err;

		fail_nth(control, nth);
		err = op(arg);
		result.whole = !has_failed(control);
		result.failed += err == -ENOMEM;
		result.wrong += err && err != -ENOMEM;
	}
	close(control);
	return result;
}

#define EXPECT_FAILS_WELL(op, arg)				\
do {								\
	struct fault_result it = fail_each(op, arg);		\
								\
	TH_LOG("%d allocations failed it", it.failed);		\
	EXPECT_LT(0, it.failed);				\
	EXPECT_EQ(0, it.wrong);					\
	EXPECT_TRUE(it.whole);					\
	EXPECT_EQ(self->attached, pmu_events_left());		\
} while (0)

static int op_open(const void *arg)
{
	return pmu_try(arg);
}

TEST_F(faults, an_event_is_opened)
{
	EXPECT_FAILS_WELL(op_open, &self->attr);
}

TEST_F(faults, a_sampling_event_is_opened)
{
	if (!pmu_can_sample())
		SKIP(return, "no sampling here (caps/sampling)");

	self->attr.sample_period = 100000;
	EXPECT_FAILS_WELL(op_open, &self->attr);
}

TEST_F(faults, a_raw_event_is_opened)
{
	self->attr.type = PERF_TYPE_RAW;
	self->attr.config = PMU_STD(2);
	EXPECT_FAILS_WELL(op_open, &self->attr);
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

TEST_F(faults, a_group_is_opened)
{
	EXPECT_FAILS_WELL(op_group, &self->attr);
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

TEST_F(faults, an_event_is_mapped)
{
	EXPECT_FAILS_WELL(op_map, &self->attr);
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

TEST_F_TIMEOUT(faults, a_child_inherits_an_event, 120)
{
	self->attr.inherit = 1;
	EXPECT_FAILS_WELL(op_inherit, &self->attr);
}

TEST_F(faults, events_count_after_the_failures)
{
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, fd);
	EXPECT_LE(pmu_least(10 * N), pmu_count(fd, pmu_loop, 10 * N));
	close(fd);
}

/* --- firmware that fails --- */

/* More calls than an event makes, from its birth to its end. */
#define MOST_CALLS	64

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
static int64_t live(const struct perf_event_attr *attr)
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

	while (failed && nth < MOST_CALLS) {
		EXPECT_TRUE(fail_call(++nth));
		EXPECT_LE(0, live(attr));
		failed = call_has_failed();
		EXPECT_EQ(0, pmu_try(attr));
		EXPECT_LE(pmu_least(N), live(&self->attr)) {
			TH_LOG("after a failure of call %d", nth);
		}
		EXPECT_EQ(self->attached, pmu_events_left());
	}
	EXPECT_FALSE(failed);
	return nth - 1;
}

TEST_F(firmware_faults, an_event_counts)
{
	fail_each_call(_metadata, self, &self->attr);
}

/* Longer than it takes until a counter that has refused an event is asked again. */
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
 * A counter that refuses an event once, when it is to be programmed or started, does not
 * end it: it stays enabled, does not run, and counts as soon as the counter takes it.
 */
TEST_F_TIMEOUT(firmware_faults, an_event_that_is_refused_counts_later, 120)
{
	struct {
		int64_t value, enabled, running;
	} it;
	bool failed = true;

	self->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (int nth = 1; failed && nth < MOST_CALLS; nth++) {
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

/* For an overflow point the firmware has to write the counter, which is one more call. */
TEST_F(firmware_faults, an_event_is_sampled)
{
	struct perf_event_attr attr = self->attr;
	int calls;

	if (!pmu_can_sample())
		SKIP(return, "no sampling here (caps/sampling)");

	attr.sample_period = N / 10;
	calls = fail_each_call(_metadata, self, &attr);
	if (pmu_samples_by_interrupt() && !pmu_is_delegated())
		EXPECT_LT(0, calls);
}

/* It may count nothing: the loop has hardly any. */
TEST_F(firmware_faults, a_cache_event_counts)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HW_CACHE,
					       PMU_CACHE(PERF_COUNT_HW_CACHE_ITLB, 0, 1));

	if (pmu_try(&attr))
		SKIP(return, "no iTLB misses to count here");

	fail_each_call(_metadata, self, &attr);
}

TEST_F(firmware_faults, a_firmware_event_counts)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(PMU_FW_SET_TIMER));

	if (pmu_try(&attr))
		SKIP(return, "no firmware events here");

	EXPECT_LT(0, fail_each_call(_metadata, self, &attr));
}

/*
 * The tests before have had the driver complain, in add() and in pmu_enable(), where perf's
 * core has the locks of the context and of the run queue. A console may wake a task.
 */
TEST_F(firmware_faults, no_message_takes_the_console_with_the_run_queue_locked)
{
	if (pmu_lock_takes("&ctx->lock", "console") < 0)
		SKIP(return, "no /proc/lockdep: no CONFIG_PROVE_LOCKING");

	EXPECT_EQ(0, pmu_lock_takes("&ctx->lock", "console"));
	EXPECT_EQ(0, pmu_lock_takes("&rq->__lock", "console"));
}

PMU_TEST_AT_LAST(PMU_MAY_CALL)

TEST_HARNESS_MAIN
