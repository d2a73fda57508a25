// SPDX-License-Identifier: GPL-2.0
/*
 * Branch records (PERF_SAMPLE_BRANCH_STACK, by Smctr and Ssctr). Each file in branch/ tests one
 * property that the documentation promises. All tests but the first one of branch/errors.c are
 * skipped without branch records and an overflow interrupt.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/branch.h"
#include "lib/bundle.h"
#include "lib/ring.h"
#include "lib/share.h"
#include "lib/task.h"

#define NOBODY		65534
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

/*
 * Of events that count user mode only: a prime, so that samples are at all places of a loop, and so
 * long that the driver does not throttle the event, whose samples take longer with more records.
 */
#define PERIOD		(self->depth > 64 ? 100003L : 10007L)

#define BIT(n)		(1U << (n))

/* The privilege levels and the other bits of branch_sample_type, with short names. */
#define B_USER		PERF_SAMPLE_BRANCH_USER
#define B_KERNEL	PERF_SAMPLE_BRANCH_KERNEL
#define B_HV		PERF_SAMPLE_BRANCH_HV
#define B_ANY		PERF_SAMPLE_BRANCH_ANY
#define B_ANY_CALL	PERF_SAMPLE_BRANCH_ANY_CALL
#define B_ANY_RETURN	PERF_SAMPLE_BRANCH_ANY_RETURN
#define B_IND_CALL	PERF_SAMPLE_BRANCH_IND_CALL
#define B_CALL		PERF_SAMPLE_BRANCH_CALL
#define B_COND		PERF_SAMPLE_BRANCH_COND
#define B_IND_JUMP	PERF_SAMPLE_BRANCH_IND_JUMP
#define B_CALL_STACK	PERF_SAMPLE_BRANCH_CALL_STACK
#define B_NO_FLAGS	PERF_SAMPLE_BRANCH_NO_FLAGS
#define B_NO_CYCLES	PERF_SAMPLE_BRANCH_NO_CYCLES
#define B_TYPE_SAVE	PERF_SAMPLE_BRANCH_TYPE_SAVE
#define B_HW_INDEX	PERF_SAMPLE_BRANCH_HW_INDEX
#define B_PRIV_SAVE	PERF_SAMPLE_BRANCH_PRIV_SAVE

FIXTURE(branch) {
	PMU_MAPPED_MEMBERS;
	long depth;
	long paranoid;
};

FIXTURE_SETUP(branch)
{
	self->depth = pmu_caps_number("branches");
	if (self->depth < 0)
		SKIP(return, "no branch records (caps/branches)");
	if (!pmu_samples_by_interrupt())
		SKIP(return, "no overflow interrupt, which freezes the records (caps/sampling)");

	self->paranoid = pmu_read_number(PARANOID);
	PMU_MAPPED_SETUP(self, pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS));
	self->attr.read_format = TIMES;
	self->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	self->attr.branch_sample_type = B_USER | B_ANY;
	self->attr.sample_period = PERIOD;
	/* Linux 7.2 limits branch records, too, by default to kernel.perf_event_max_stack. */
	self->attr.sample_max_stack = self->depth;
}

FIXTURE_TEARDOWN(branch)
{
	pmu_write_number(PARANOID, self->paranoid);
	PMU_MAPPED_TEARDOWN(self);
}

/* Samples grow with the depth, so the ring does, too: it holds as many samples as at depth 32. */
#define RING_PAGES	(PMU_RING_PAGES * (self->depth > 32 ? self->depth / 32 : 1))
#define open_mapped(self)	\
	pmu_mapped_open(&(self)->attr, RING_PAGES, &(self)->ring, &(self)->fd)

/*
 * An event that makes the hart record the kernel's branches while the fixture's samples. It counts
 * cycles, because QEMU 10.0.2 counts an event on one counter only: an event with the same config
 * and another filter would not be active at the same time.
 */
static struct perf_event_attr attr_of_kernel(FIXTURE_DATA(branch) *self)
{
	struct perf_event_attr attr = self->attr;

	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.exclude_kernel = 0;
	attr.branch_sample_type = B_USER | B_KERNEL | B_ANY;
	attr.sample_period = 100003;
	return attr;
}

/* Returns whether an event was active for all of the time in which it was enabled. */
static bool was_always_active(int fd)
{
	struct times times = read_times(fd);

	return times.running > 0 && times.running == times.enabled;
}

/* Addresses of the kernel are in the upper half. */
static bool is_kernel(uint64_t address)
{
	return (int64_t)address < 0;
}

static bool is_in(uint64_t address, const void *begin, const void *end)
{
	return address >= (uintptr_t)begin && address < (uintptr_t)end;
}

/*
 * body(arg) with all events of this task enabled. Where counts are exact, no other task of the
 * scheduler's fair class runs meanwhile: records are cleared at each switch. That is for a short
 * time only, because the kernel throttles realtime tasks.
 */
static long run_undisturbed(pmu_body *body, long arg)
{
	const struct sched_param first = { .sched_priority = 1 }, normal = { };
	long err = 0;

	if (pmu_is_exact())
		err |= sched_setscheduler(0, SCHED_FIFO, &first);
	err |= pmu_run_all(body, arg);
	if (pmu_is_exact())
		err |= sched_setscheduler(0, SCHED_OTHER, &normal);
	return err;
}

/*
 * Iterations of pmu_branch_loop() for so many samples, with a margin. If interrupts are late, fewer
 * samples arrive: a longer loop makes sure that there are some.
 */
static long turns_for(FIXTURE_DATA(branch) *self, long samples)
{
	if (!self->exact)
		samples = samples < 100 ? 10 * samples : 1000;

	return (samples + 5) * PERIOD / PMU_BRANCH_INSNS;
}

/* --- what the records of a sample in pmu_branch_loop() have to be --- */

struct loop_check {
	/*
	 * The types that the event shows, and those that the hart records for any event: BIT(type).
	 */
	uint32_t shown, recorded;
	long depth;
	uint64_t branch_sample_type;
	/*
	 * Samples with all records that they must have; with fewer, because tasks were switched;
	 * with others; and those that were not taken in the loop.
	 */
	int64_t right, few, wrong, outside;
	uint32_t places;	/* after which branches samples were taken: BIT(index) */
};

#define ALL_TYPES	(~0U)

/* The branch after which this is executed; -1 if that is not in the loop. */
static int last_branch(uint64_t ip)
{
	for (int i = 0; i < PMU_BRANCHES; i++) {
		if (ip >= pmu_branches[i].to && ip <= pmu_branches[(i + 1) % PMU_BRANCHES].from)
			return i;
	}
	return -1;
}

static unsigned int perf_type(uint64_t type)
{
	switch (type) {
	case PMU_BRANCH_TAKEN: return PERF_BR_COND;
	case PMU_BRANCH_CALL: return PERF_BR_CALL;
	case PMU_BRANCH_RETURN: return PERF_BR_RET;
	case PMU_BRANCH_IND_CALL:
	case PMU_BRANCH_CORO_SWAP: return PERF_BR_IND_CALL;
	case PMU_BRANCH_IND_JUMP:
	case PMU_BRANCH_IND_LINK: return PERF_BR_IND;
	default: return PERF_BR_UNCOND;
	}
}

/* Each bit of the entry, except those of its flags and cycles, which QEMU does not have. */
static bool is_record_of(const struct perf_branch_entry *entry, const struct pmu_branch *branch,
			 uint64_t branch_sample_type)
{
	bool has_type = branch_sample_type & B_TYPE_SAVE;
	bool has_priv = branch_sample_type & B_PRIV_SAVE;

	return entry->from == branch->from && entry->to == branch->to && !entry->in_tx &&
	       !entry->abort && entry->type == (has_type ? perf_type(branch->type) : 0) &&
	       !entry->spec && !entry->new_type &&
	       entry->priv == (has_priv ? PERF_BR_PRIV_USER : PERF_BR_PRIV_UNKNOWN) &&
	       !entry->reserved;
}

static void check_loop(const struct pmu_record *record, void *arg)
{
	int last = last_branch(record->ip), i = last;
	struct loop_check *check = arg;
	uint64_t n = 0;

	if (last < 0) {
		check->outside++;
		return;
	}
	check->places |= BIT(last);
	for (long recorded = 0; recorded < check->depth; i = (i ?: PMU_BRANCHES) - 1) {
		const struct pmu_branch *branch = &pmu_branches[i];

		recorded += !!(check->recorded & BIT(branch->type));
		if (!(check->shown & BIT(branch->type)))
			continue;
		if (n == record->nr_branches) {
			check->few++;
			return;
		}
		/* The loop's call: in the first iteration, no records of the loop are older. */
		if (record->branches[n].to == (uintptr_t)pmu_branch_loop) {
			check->few++;
			return;
		}
		if (!is_record_of(&record->branches[n++], branch, check->branch_sample_type)) {
			check->wrong++;
			return;
		}
	}
	if (n < record->nr_branches)
		check->wrong++;
	else
		check->right++;
}

/* At least so many samples were right, and none was wrong. */
#define EXPECT_LOOP(samples, check)						\
do {										\
	EXPECT_EQ(0, (check)->wrong);						\
	if (self->exact) {							\
		EXPECT_EQ(0, (check)->few);					\
		EXPECT_GE(2, (check)->outside);					\
		EXPECT_LE(samples, (check)->right);				\
	} else {								\
		EXPECT_LT(0, (check)->right);					\
	}									\
} while (0)

/* Samples the loop with self->attr, and checks all its samples. */
static int sample_loop(FIXTURE_DATA(branch) *self, long samples, struct loop_check *check)
{
	int err = open_mapped(self);

	if (err)
		return err;

	check->depth = self->depth;
	check->branch_sample_type = self->attr.branch_sample_type;
	pmu_branch_loop(1);
	err = run_undisturbed(pmu_branch_loop, turns_for(self, samples));
	pmu_ring_records(&self->ring, &self->attr, check_loop, check);
	return err;
}

/* --- which addresses the records have --- */

#define SKIP_IF_LATE()								\
do {										\
	if (pmu_interrupts_are_late())						\
		SKIP(return, "overflow interrupts are late without -icount: no test with KASAN"); \
} while (0)

struct seen {
	int64_t samples, records, kernel, user, broken;
	uint32_t types;		/* BIT(perf's type) */
};

static void count_records(const struct pmu_record *record, void *arg)
{
	struct seen *seen = arg;

	seen->samples++;
	for (uint64_t i = 0; i < record->nr_branches; i++) {
		const struct perf_branch_entry *entry = &record->branches[i];

		seen->records++;
		seen->kernel += is_kernel(entry->from) || is_kernel(entry->to);
		seen->user += !is_kernel(entry->from) || !is_kernel(entry->to);
		seen->types |= BIT(entry->type);
	}
}

/* The same, and an event that excludes the kernel shows no other address of it either. */
static void count_user_records(const struct pmu_record *record, void *arg)
{
	struct seen *seen = arg;

	seen->kernel += is_kernel(record->ip);
	count_records(record, arg);
}

#include "branch/call_stack.c"
#include "branch/depth.c"
#include "branch/errors.c"
#include "branch/exact.c"
#include "branch/filters.c"
#include "branch/hotplug.c"
#include "branch/kernel.c"
#include "branch/privacy.c"
#include "branch/tasks.c"

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
