// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of code with interrupts off: caps/sampling is "nmi". The kernel's part of the tests is
 * the loop of riscv_pmu/spin in debugfs (CONFIG_RISCV_PMU_NMI_TEST).
 */

#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/records.h"

#define SPIN		"/sys/kernel/debug/riscv_pmu/spin"
/* 10 million instructions, which are 10 ms with icount */
#define SPIN_TURNS	5000000
#define SPIN_TIMES	100
#define SPIN_PERIOD	200003

#define BIT(n)		(1ULL << (n))

/* --- symbols of the kernel --- */

struct symbol {
	uint64_t begin, end;
};

/* The function NAME ends where the next symbol begins. */
static bool find_symbol(const char *name, struct symbol *symbol)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long address;
	char line[256], found[128];

	*symbol = (struct symbol){};
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %127s", &address, found) != 2)
			continue;
		if (!strcmp(found, name))
			symbol->begin = address;
	}
	if (!symbol->begin) {
		if (file)
			fclose(file);
		return false;
	}

	rewind(file);
	symbol->end = UINT64_MAX;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %127s", &address, found) == 2 &&
		    address > symbol->begin && address < symbol->end)
			symbol->end = address;
	}
	fclose(file);
	return true;
}

static bool is_in(uint64_t ip, const struct symbol *symbol)
{
	return ip >= symbol->begin && ip < symbol->end;
}

FIXTURE(nmi) {
	PMU_MAPPED_MEMBERS;
};

FIXTURE_SETUP(nmi)
{
	if (!pmu_samples_by_nmi())
		SKIP(return, "overflows are not NMIs (caps/sampling)");
	if (geteuid())
		SKIP(return, "needs root, for debugfs and the kernel's addresses");

	PMU_MAPPED_SETUP(self, pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS));
	self->attr.exclude_kernel = 0;
	self->attr.sample_type = PERF_SAMPLE_IP;
}

FIXTURE_TEARDOWN(nmi)
{
	PMU_MAPPED_TEARDOWN(self);
}

/* --- a loop with interrupts off --- */

struct spin_check {
	struct symbol loop, caller;
	int64_t inside, wrong_chain;
};

static void check_spin(const struct pmu_record *record, void *arg)
{
	struct spin_check *check = arg;

	if (!is_in(record->ip, &check->loop))
		return;

	check->inside++;
	/* The mark of the kernel, the loop, its caller */
	check->wrong_chain += record->nr_frames < 3 || record->frames[1] != record->ip ||
			      !is_in(record->frames[2], &check->caller);
}

static void spin(long times)
{
	while (times--)
		pmu_write_number(SPIN, SPIN_TURNS);
}

/*
 * Of two instructions in each turn, at least 99 % of the samples have to be in the loop. There are
 * at most 1 % more: the event counts what its interrupts execute before they stop it.
 */
TEST_F_TIMEOUT(nmi, a_loop_with_interrupts_off_is_sampled, 300)
{
	int64_t expected = 2LL * SPIN_TURNS * SPIN_TIMES / SPIN_PERIOD;
	struct spin_check check = {};

	ASSERT_TRUE(find_symbol("riscv_pmu_spin", &check.loop));
	ASSERT_TRUE(find_symbol("spin_set", &check.caller));
	self->attr.exclude_user = 1;
	self->attr.sample_period = SPIN_PERIOD;
	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	ASSERT_EQ(0, sample(self, spin, SPIN_TIMES, check_spin, &check));
	EXPECT_RING_COMPLETE(&self->ring);
	TH_LOG("%ld of %ld samples are in the loop", (long)check.inside, (long)expected);
	EXPECT_EQ(0, check.wrong_chain);
	if (!self->exact)
		return;

	EXPECT_LE(expected * 99 / 100, check.inside);
	EXPECT_GE(expected * 102 / 100, check.inside);
}

/* --- the kernel's entry and exit --- */

#define ENTRY_MAX	4096

struct entry_check {
	uint64_t begin, end;
	int64_t at[ENTRY_MAX / 2];
};

static void check_entry(const struct pmu_record *record, void *arg)
{
	struct entry_check *check = arg;

	if (record->ip >= check->begin && record->ip < check->end)
		check->at[(record->ip - check->begin) / 2]++;
}

static int64_t count_addresses(const struct entry_check *check)
{
	int64_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(check->at); i++)
		nr += !!check->at[i];

	return nr;
}

/* How many NMIs had to wait */
static long count_deferred(void)
{
	FILE *file = fopen("/sys/kernel/debug/riscv_pmu/cpu0", "r");
	char line[256];
	long nr = -1;

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "nmis_deferred %ld", &nr);
	if (file)
		fclose(file);
	return nr;
}

/* Page faults of the kernel, in a copy from user memory that is not there, and system calls */
static void enter_kernel(long times)
{
	while (times--) {
		syscall(SYS_getppid);
		/* -EFAULT: the kernel takes an exception in its own code. */
		syscall(SYS_write, 1, (void *)8, 8);
	}
}

/*
 * Overflows are at each instruction that a system call and an exception of the kernel execute in
 * handle_exception and ret_from_exception. Those in handle_exception, which has not saved the
 * registers yet, have to wait. Samples show the others, up to the last instruction, where all
 * registers are user mode's again.
 */
TEST_F_TIMEOUT(nmi, each_instruction_of_the_entry_code_can_be_interrupted, 300)
{
	long deferred = count_deferred();
	static struct entry_check check;
	struct symbol entry, exit;

	if (!self->exact)
		SKIP(return, "an overflow is at an exact instruction under -icount only");

	ASSERT_TRUE(find_symbol("handle_exception", &entry));
	ASSERT_TRUE(find_symbol("ret_from_exception_end", &exit));
	ASSERT_LT(entry.begin, exit.begin);
	ASSERT_GE(ENTRY_MAX, exit.begin - entry.begin);
	check.begin = entry.begin;
	check.end = exit.begin;
	self->attr.sample_period = 4507;
	ASSERT_EQ(0, sample(self, enter_kernel, 40000, check_entry, &check));
	EXPECT_FALSE(self->ring.broken);
	TH_LOG("%ld addresses of the entry code", (long)count_addresses(&check));
	EXPECT_EQ(0, check.at[0]);
	EXPECT_LT(0, check.at[(check.end - check.begin) / 2 - 2]);
	/* 31 registers are loaded. */
	EXPECT_LT(31, count_addresses(&check));
	EXPECT_LT(deferred, count_deferred());
}

/* --- registers --- */

#define KEEP_VALUE	0x5eed5eed00
#define REGS		(BIT(PERF_REG_RISCV_A6) | BIT(PERF_REG_RISCV_A7) | BIT(PERF_REG_RISCV_T6))

struct keep_check {
	int64_t inside, wrong;
};

static void count_record(const struct pmu_record *record, void *arg)
{
	(*(int64_t *)arg)++;
}

static long keep_changed;

static void keep(long turns)
{
	keep_changed = pmu_keep_loop(turns);
}

static void check_keep(const struct pmu_record *record, void *arg)
{
	const uint64_t *reg = record->user_regs;
	struct keep_check *check = arg;

	if (!is_between(record->ip, pmu_keep_begin, pmu_keep_end))
		return;

	check->inside++;
	check->wrong += reg[0] != KEEP_VALUE + 16 || reg[1] != KEEP_VALUE + 17 ||
			reg[2] != KEEP_VALUE + 31;
}

/* The firmware uses a6 and a7 for the handler: samples have the interrupted ones all the same. */
TEST_F_TIMEOUT(nmi, all_registers_are_kept, 120)
{
	struct keep_check check = {};

	self->attr.exclude_kernel = 1;
	self->attr.sample_period = 10007;
	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = REGS;
	ASSERT_EQ(0, sample(self, keep, self->exact ? 5000000 : 50000000, check_keep, &check));
	EXPECT_RING_COMPLETE(&self->ring);
	EXPECT_EQ(0, keep_changed);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(self->exact ? 900 : 0, check.inside);
}

/* --- user mode at addresses of the kernel --- */

static unsigned long jump_tp, jump_resume;

/* Without the C library, whose thread pointer is not set. */
static void end_jump(int signal, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	user->uc_mcontext.__gregs[REG_PC] = jump_resume;
	user->uc_mcontext.__gregs[4] = jump_tp;
}

static void jump(long times)
{
	while (times--)
		asm volatile("	sd	tp, 0(%0)\n"
			     "	la	t1, 1f\n"
			     "	sd	t1, 0(%1)\n"
			     "	li	tp, 0x1230\n"
			     "	li	t0, -2\n"
			     "	jr	t0\n"
			     "1:\n"
			     : : "r" (&jump_tp), "r" (&jump_resume) : "t0", "t1", "memory");
}

/*
 * An overflow of the jump interrupts user mode at an address of the kernel, before the exception.
 * The current task must not be taken from tp, which is user mode's.
 */
TEST_F_TIMEOUT(nmi, user_mode_at_an_address_of_the_kernel_is_user_mode, 120)
{
	struct sigaction action = { .sa_sigaction = end_jump, .sa_flags = SA_SIGINFO };
	int64_t nr = 0;

	ASSERT_EQ(0, sigaction(SIGSEGV, &action, NULL));
	self->attr.exclude_kernel = 1;
	self->attr.sample_period = 7;
	ASSERT_EQ(0, sample(self, jump, 2000, count_record, &nr));
	signal(SIGSEGV, SIG_DFL);
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LT(0, nr);
}

/* --- bad input --- */

TEST_F(nmi, the_loop_refuses_other_lengths)
{
	EXPECT_FALSE(pmu_write_number(SPIN, 0));
	EXPECT_FALSE(pmu_write_number(SPIN, 20000001));
	EXPECT_TRUE(pmu_write_number(SPIN, 1));
}

TEST_HARNESS_MAIN
