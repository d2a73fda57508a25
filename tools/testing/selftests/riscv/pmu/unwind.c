// SPDX-License-Identifier: GPL-2.0
/*
 * Fields of a sample for unwinding: call chains, registers and the stack. The tests sample code for
 * which the correct values are known (lib/chain.S).
 */

#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <errno.h>
#include <string.h>

#include "../../kselftest_harness.h"
#include "lib/records.h"

RECORDS_FIXTURE(unwind)

/* --- call chains --- */

struct chain {
	uint64_t max_kernel;
	int64_t in_loop, of_syscall, wrong, kernel_markers, user_markers, kernel_frames, max_length;
};

static bool is_known_chain(const uint64_t *frame, uint64_t nr)
{
	/*
	 * A leaf function has no stack frame. Linux takes its caller from ra, in place of the
	 * return address in that caller's own frame, and so leaves out b (6.12,
	 * unwind_user_frame()).
	 */
	uint64_t b = nr > 2 && frame[2] == (uintptr_t)pmu_chain_in_b;

	return nr > 2 + b && frame[1] == (uintptr_t)pmu_chain_in_c &&
	       frame[2 + b] == (uintptr_t)pmu_chain_in_a;
}

/* Checks the order of the frames and counts each kind. User frames follow PERF_CONTEXT_USER. */
static void check_chain(const struct pmu_record *record, void *arg)
{
	struct chain *check = arg;
	const uint64_t *frame = record->frames;
	uint64_t user = record->nr_frames;

	if (check->max_length < (int64_t)record->nr_frames)
		check->max_length = record->nr_frames;
	for (uint64_t i = 0; i < record->nr_frames; i++) {
		if (frame[i] == (uint64_t)PERF_CONTEXT_KERNEL) {
			check->kernel_markers++;
			/* Kernel frames are first, and the first one is the sampled address. */
			check->wrong += i || is_user(record) || record->nr_frames < 2 ||
					frame[1] != record->ip;
		} else if (frame[i] == (uint64_t)PERF_CONTEXT_USER) {
			check->user_markers++;
			user = i + 1;
		} else if (is_kernel_address(frame[i])) {
			check->kernel_frames++;
			check->wrong += user < record->nr_frames;
		}
	}
	if (user >= record->nr_frames)
		return;

	check->wrong += is_user(record) && frame[user] != record->ip;
	if (!is_between(frame[user], pmu_loop_begin, pmu_loop_end))
		return;
	check->in_loop++;
	check->wrong += !is_known_chain(frame + user, record->nr_frames - user);
}

TEST_F_TIMEOUT(unwind, a_call_chain_has_the_callers, 120)
{
	struct chain check = {};

	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	ASSERT_EQ(0, sample(self, pmu_chain, N, check_chain, &check));
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.in_loop);
	if (!self->filters)
		return;

	EXPECT_EQ(self->ring.samples, check.user_markers);
	EXPECT_EQ(0, check.kernel_markers);
	EXPECT_EQ(0, check.kernel_frames);
	if (self->exact)
		EXPECT_LE(self->ring.samples - 2, check.in_loop);
}

/* Samples user mode and the kernel with call chains, in a loop of system calls. */
static int sample_calls(FIXTURE_DATA(unwind) *self, struct chain *check)
{
	self->attr.exclude_kernel = 0;
	self->attr.sample_period = 99991;
	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	return sample(self, pmu_syscall_loop, CALLS, check_chain, check);
}

TEST_F_TIMEOUT(unwind, a_call_chain_has_kernel_and_user_frames, 120)
{
	struct chain check = {};

	ASSERT_EQ(0, sample_calls(self, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.kernel_markers);
	EXPECT_LT(check.kernel_markers, check.kernel_frames);
	EXPECT_EQ(self->ring.samples, check.user_markers);
}

TEST_F_TIMEOUT(unwind, exclude_callchain_kernel_leaves_out_kernel_frames, 120)
{
	struct chain check = {};

	self->attr.exclude_callchain_kernel = 1;
	ASSERT_EQ(0, sample_calls(self, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, check.kernel_markers);
	EXPECT_EQ(0, check.kernel_frames);
	EXPECT_EQ(self->ring.samples, check.user_markers);
}

TEST_F_TIMEOUT(unwind, exclude_callchain_user_leaves_out_user_frames, 120)
{
	struct chain check = {};

	self->attr.exclude_callchain_user = 1;
	ASSERT_EQ(0, sample_calls(self, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.kernel_markers);
	EXPECT_EQ(0, check.user_markers);
}

TEST_F_TIMEOUT(unwind, sample_max_stack_limits_a_call_chain, 120)
{
	struct chain check = {};

	if (!self->filters)
		SKIP(return, "no filters on this hart, so some frames would be the kernel's");

	self->attr.sample_max_stack = 2;
	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	ASSERT_EQ(0, sample(self, pmu_chain, N, check_chain, &check));
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	/* The limit of 2 does not include the context marker PERF_CONTEXT_USER. */
	EXPECT_EQ(3, check.max_length);
	EXPECT_EQ(self->ring.samples, check.user_markers);
}

/* --- registers and the stack --- */

#define BIT(n)	(1ULL << (n))
#define REGS	(BIT(PERF_REG_RISCV_PC) | BIT(PERF_REG_RISCV_SP) | BIT(PERF_REG_RISCV_S2) |	\
		 BIT(PERF_REG_RISCV_S5) | BIT(PERF_REG_RISCV_T3))

/* In the order of their bits. */
enum { PC, SP, S2, S5, T3 };

struct regs {
	uint64_t stack_address;
	int64_t inside, wrong, missing;
};

static void check_regs(const struct pmu_record *record, void *arg)
{
	const uint64_t *reg = record->user_regs;
	struct regs *check = arg;

	if (record->user_abi != PERF_SAMPLE_REGS_ABI_64) {
		check->missing++;
		return;
	}
	check->wrong += is_user(record) && reg[PC] != record->ip;
	check->wrong += is_kernel_address(reg[PC]);
	if (!is_between(reg[PC], pmu_regs_begin, pmu_regs_end))
		return;

	check->inside++;
	check->wrong += reg[S2] != PMU_REGS_VALUE + 18 || reg[S5] != PMU_REGS_VALUE + 21 ||
			reg[T3] != PMU_REGS_VALUE + 28;
	check->wrong += reg[SP] >= check->stack_address || reg[SP] + 65536 < check->stack_address;
}

TEST_F_TIMEOUT(unwind, user_registers_have_the_values_of_the_loop, 120)
{
	struct regs check = { .stack_address = (uintptr_t)__builtin_frame_address(0) };

	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = REGS;
	ASSERT_EQ(0, sample(self, pmu_regs_loop, N, check_regs, &check));
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.missing);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.inside);
	if (self->exact && self->filters)
		EXPECT_LE(self->ring.samples - 2, check.inside);
}

/* All registers can be sampled; the bit after the last one returns EINVAL. */
TEST_F_TIMEOUT(unwind, all_user_registers_and_no_others_can_be_sampled, 120)
{
	struct regs check = {};

	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = BIT(PERF_REG_RISCV_MAX) - 1;
	ASSERT_EQ(0, sample(self, pmu_regs_loop, N, NULL, &check));
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	close_mapped(self);
	self->attr.sample_regs_user = BIT(PERF_REG_RISCV_MAX);
	EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
}

/* In a system call, the user registers are those at its entry. */
TEST_F_TIMEOUT(unwind, samples_in_the_kernel_have_user_registers, 120)
{
	struct regs check = { .stack_address = UINT64_MAX };

	self->attr.exclude_kernel = 0;
	self->attr.sample_period = 99991;
	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = REGS;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_regs, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.missing);
	EXPECT_EQ(0, check.wrong);
}

static void check_intr(const struct pmu_record *record, void *arg)
{
	struct regs *check = arg;

	if (record->intr_abi != PERF_SAMPLE_REGS_ABI_64) {
		check->missing++;
		return;
	}
	check->wrong += record->intr_regs[PC] != record->ip;
	check->wrong += is_kernel_address(record->intr_regs[PC]);
	check->wrong += is_kernel_address(record->intr_regs[SP]);
}

/* PERF_SAMPLE_REGS_INTR must not expose kernel addresses if the event excludes the kernel. */
TEST_F_TIMEOUT(unwind, interrupt_registers_do_not_expose_an_excluded_kernel, 120)
{
	struct regs check = {};

	if (!self->filters)
		SKIP(return, "no filters on this hart");

	self->attr.sample_period = 997;
	self->attr.sample_type |= PERF_SAMPLE_REGS_INTR;
	self->attr.sample_regs_intr = REGS;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_intr, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.missing);
	EXPECT_EQ(0, check.wrong);
}

#define STACK	512

static void check_stack(const struct pmu_record *record, void *arg)
{
	struct regs *check = arg;
	uint64_t top;

	/* The stack is larger than STACK, so all of the requested size must be copied. */
	if (record->stack_size != STACK || record->stack_filled != STACK) {
		check->missing++;
		return;
	}
	if (!is_between(record->user_regs[PC], pmu_regs_begin, pmu_regs_end))
		return;

	memcpy(&top, record->stack, sizeof(top));
	check->inside++;
	check->wrong += top != PMU_REGS_VALUE + 64;
}

TEST_F_TIMEOUT(unwind, the_user_stack_is_copied_from_its_top, 120)
{
	struct regs check = {};

	self->attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	self->attr.sample_regs_user = REGS;
	self->attr.sample_stack_user = STACK;
	ASSERT_EQ(0, sample(self, pmu_regs_loop, N, check_stack, &check));
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.missing);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.inside);
}

PMU_TEST_NO_EVENT_LEFT(PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
