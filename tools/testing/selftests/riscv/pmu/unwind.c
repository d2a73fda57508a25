// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample has for an unwinder: call chains, registers and the stack. The code that
 * is sampled is such that the right values are known (lib/chain.S).
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
	int64_t of_loop, of_syscall, wrong, kernels, users, kernel_frames, longest;
};

static bool is_known_chain(const uint64_t *frame, uint64_t nr)
{
	/*
	 * A leaf has no frame, and Linux takes ra for its caller in the place of
	 * what that one's own frame tells: it leaves out b (6.12, unwind_user_frame()).
	 */
	uint64_t b = nr > 2 && frame[2] == (uintptr_t)pmu_chain_in_b;

	return nr > 2 + b && frame[1] == (uintptr_t)pmu_chain_in_c &&
	       frame[2 + b] == (uintptr_t)pmu_chain_in_a;
}

/* Counts the kinds of frames; the user's, as they come behind their mark. */
static void check_chain(const struct pmu_record *record, void *arg)
{
	struct chain *check = arg;
	const uint64_t *frame = record->frames;
	uint64_t user = record->nr_frames;

	if (check->longest < (int64_t)record->nr_frames)
		check->longest = record->nr_frames;
	for (uint64_t i = 0; i < record->nr_frames; i++) {
		if (frame[i] == (uint64_t)PERF_CONTEXT_KERNEL) {
			check->kernels++;
			/* The kernel's come first, and begin where the sample was. */
			check->wrong += i || is_user(record) || record->nr_frames < 2 ||
					frame[1] != record->ip;
		} else if (frame[i] == (uint64_t)PERF_CONTEXT_USER) {
			check->users++;
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
	check->of_loop++;
	check->wrong += !is_known_chain(frame + user, record->nr_frames - user);
}

TEST_F_TIMEOUT(unwind, a_call_chain_shows_who_called, 120)
{
	struct chain check = {};

	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	ASSERT_EQ(0, sample(self, pmu_chain, N, check_chain, &check));
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.of_loop);
	if (!self->filters)
		return;

	EXPECT_EQ(self->ring.samples, check.users);
	EXPECT_EQ(0, check.kernels);
	EXPECT_EQ(0, check.kernel_frames);
	if (self->exact)
		EXPECT_LE(self->ring.samples - 2, check.of_loop);
}

/* Half of it is in the kernel. */
static int sample_calls(FIXTURE_DATA(unwind) *self, struct chain *check)
{
	self->attr.exclude_kernel = 0;
	self->attr.sample_period = 99991;
	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	return sample(self, pmu_syscall_loop, CALLS, check_chain, check);
}

TEST_F_TIMEOUT(unwind, a_call_chain_goes_from_the_kernel_to_user_mode, 120)
{
	struct chain check = {};

	ASSERT_EQ(0, sample_calls(self, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.kernels);
	EXPECT_LT(check.kernels, check.kernel_frames);
	EXPECT_EQ(self->ring.samples, check.users);
}

TEST_F_TIMEOUT(unwind, a_call_chain_leaves_out_the_kernel_if_asked_to, 120)
{
	struct chain check = {};

	self->attr.exclude_callchain_kernel = 1;
	ASSERT_EQ(0, sample_calls(self, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, check.kernels);
	EXPECT_EQ(0, check.kernel_frames);
	EXPECT_EQ(self->ring.samples, check.users);
}

TEST_F_TIMEOUT(unwind, a_call_chain_leaves_out_user_mode_if_asked_to, 120)
{
	struct chain check = {};

	self->attr.exclude_callchain_user = 1;
	ASSERT_EQ(0, sample_calls(self, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.kernels);
	EXPECT_EQ(0, check.users);
}

TEST_F_TIMEOUT(unwind, a_call_chain_is_no_longer_than_asked_for, 120)
{
	struct chain check = {};

	if (!self->filters)
		SKIP(return, "no filters on this hart: some would be the kernel's");

	self->attr.sample_max_stack = 2;
	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	ASSERT_EQ(0, sample(self, pmu_chain, N, check_chain, &check));
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	/* Marks do not count. */
	EXPECT_EQ(3, check.longest);
	EXPECT_EQ(self->ring.samples, check.users);
}

/* --- registers and the stack --- */

#define BIT(n)	(1ULL << (n))
#define REGS	(BIT(PERF_REG_RISCV_PC) | BIT(PERF_REG_RISCV_SP) | BIT(PERF_REG_RISCV_S2) |	\
		 BIT(PERF_REG_RISCV_S5) | BIT(PERF_REG_RISCV_T3))

/* In the order of their bits. */
enum { PC, SP, S2, S5, T3 };

struct regs {
	uint64_t near;
	int64_t inside, wrong, without;
};

static void check_regs(const struct pmu_record *record, void *arg)
{
	const uint64_t *reg = record->user_regs;
	struct regs *check = arg;

	if (record->user_abi != PERF_SAMPLE_REGS_ABI_64) {
		check->without++;
		return;
	}
	check->wrong += is_user(record) && reg[PC] != record->ip;
	check->wrong += is_kernel_address(reg[PC]);
	if (!is_between(reg[PC], pmu_held_begin, pmu_held_end))
		return;

	check->inside++;
	check->wrong += reg[S2] != PMU_HELD + 18 || reg[S5] != PMU_HELD + 21 ||
			reg[T3] != PMU_HELD + 28;
	check->wrong += reg[SP] >= check->near || reg[SP] + 65536 < check->near;
}

TEST_F_TIMEOUT(unwind, user_registers_are_those_of_the_loop, 120)
{
	struct regs check = { .near = (uintptr_t)__builtin_frame_address(0) };

	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = REGS;
	ASSERT_EQ(0, sample(self, pmu_held_loop, N, check_regs, &check));
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.without);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.inside);
	if (self->exact && self->filters)
		EXPECT_LE(self->ring.samples - 2, check.inside);
}

/* All registers there are, and not one more. */
TEST_F_TIMEOUT(unwind, all_user_registers_can_be_had_and_no_others, 120)
{
	struct regs check = {};

	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = BIT(PERF_REG_RISCV_MAX) - 1;
	ASSERT_EQ(0, sample(self, pmu_held_loop, N, NULL, &check));
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	close_mapped(self);
	self->attr.sample_regs_user = BIT(PERF_REG_RISCV_MAX);
	EXPECT_EQ(-EINVAL, pmu_try(&self->attr));
}

/* In a system call, the user's registers are those it was entered with. */
TEST_F_TIMEOUT(unwind, user_registers_are_the_users_in_the_kernel_too, 120)
{
	struct regs check = { .near = UINT64_MAX };

	self->attr.exclude_kernel = 0;
	self->attr.sample_period = 99991;
	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = REGS;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_regs, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.without);
	EXPECT_EQ(0, check.wrong);
}

static void check_intr(const struct pmu_record *record, void *arg)
{
	struct regs *check = arg;

	if (record->intr_abi != PERF_SAMPLE_REGS_ABI_64) {
		check->without++;
		return;
	}
	check->wrong += record->intr_regs[PC] != record->ip;
	check->wrong += is_kernel_address(record->intr_regs[PC]);
	check->wrong += is_kernel_address(record->intr_regs[SP]);
}

/* PERF_SAMPLE_REGS_INTR must not expose kernel addresses if the event excludes the kernel. */
TEST_F_TIMEOUT(unwind, registers_at_the_interrupt_are_not_the_kernels_if_it_is_excluded, 120)
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
	EXPECT_EQ(0, check.without);
	EXPECT_EQ(0, check.wrong);
}

#define STACK	512

static void check_stack(const struct pmu_record *record, void *arg)
{
	struct regs *check = arg;
	uint64_t top;

	/* There is more on the stack than that. */
	if (record->stack_size != STACK || record->stack_filled != STACK) {
		check->without++;
		return;
	}
	if (!is_between(record->user_regs[PC], pmu_held_begin, pmu_held_end))
		return;

	memcpy(&top, record->stack, sizeof(top));
	check->inside++;
	check->wrong += top != PMU_HELD + 64;
}

TEST_F_TIMEOUT(unwind, the_user_stack_is_copied_from_its_top, 120)
{
	struct regs check = {};

	self->attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	self->attr.sample_regs_user = REGS;
	self->attr.sample_stack_user = STACK;
	ASSERT_EQ(0, sample(self, pmu_held_loop, N, check_stack, &check));
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.without);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.inside);
}

PMU_TEST_AT_LAST(PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
