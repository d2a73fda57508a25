// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of code with interrupts off: caps/sampling is "nmi". The kernel's part of the tests is
 * in debugfs (CONFIG_RISCV_PMU_NMI_TEST): a loop, riscv_pmu/spin, and NMIs without an overflow,
 * riscv_pmu/inject.
 */

#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/records.h"
#include "lib/symbol.h"

#define SPIN		"/sys/kernel/debug/riscv_pmu/spin"
#define INJECT		"/sys/kernel/debug/riscv_pmu/inject"
/* 10 million instructions, which are 10 ms with icount */
#define SPIN_TURNS	5000000
#define SPIN_TIMES	100
#define SPIN_PERIOD	200003

#define BIT(n)		(1ULL << (n))

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
	/* PERF_CONTEXT_KERNEL, the loop, its caller */
	check->wrong_chain += record->nr_frames < 3 || record->frames[1] != record->ip ||
			      !is_in(record->frames[2], &check->caller);
}

static void spin(long times)
{
	while (times--)
		pmu_write_number(SPIN, SPIN_TURNS);
}

/*
 * The loop executes two instructions in each turn, so that one sample is expected for each
 * SPIN_PERIOD of them. At least 99 % of these have to be in the loop. At most 2 % more are: the
 * event also counts what its NMIs execute before they stop the counter, some 800 instructions in
 * the firmware and the kernel, 0.4 % of the period.
 */
static void sample_spin(struct __test_metadata *_metadata, FIXTURE_DATA(nmi) *self)
{
	int64_t expected = 2LL * SPIN_TURNS * SPIN_TIMES / SPIN_PERIOD;
	struct spin_check check = {};

	ASSERT_TRUE(find_symbol("riscv_pmu_spin", &check.loop));
	ASSERT_TRUE(find_symbol("spin_set", &check.caller));
	self->attr.exclude_user = 1;
	self->attr.sample_period = SPIN_PERIOD;
	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	/*
	 * Without -icount, QEMU's counters follow the host's clock: a busy host takes several
	 * times as many samples, and the ring has room for some 6 500.
	 */
	ASSERT_EQ(0, sample(self, spin, self->exact ? SPIN_TIMES : SPIN_TIMES / 10, check_spin,
			    &check));
	EXPECT_RING_COMPLETE(&self->ring);
	TH_LOG("%ld of %ld samples are in the loop", (long)check.inside, (long)expected);
	EXPECT_EQ(0, check.wrong_chain);
	if (!self->exact)
		return;

	EXPECT_LE(expected * 99 / 100, check.inside);
	EXPECT_GE(expected * 102 / 100, check.inside);
}

TEST_F_TIMEOUT(nmi, a_loop_with_interrupts_off_is_sampled, 300)
{
	sample_spin(_metadata, self);
}

/* Any user can map a page for event-based branches: that must hide nothing. */
TEST_F_TIMEOUT(nmi, a_task_with_a_page_for_branches_is_sampled, 300)
{
	int dev = open("/dev/riscv_ebb", O_RDWR | O_CLOEXEC);
	void *page;

	if (dev < 0)
		SKIP(return, "no /dev/riscv_ebb");

	page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, dev, 0);
	ASSERT_NE(MAP_FAILED, page);
	sample_spin(_metadata, self);
	munmap(page, getpagesize());
	close(dev);
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

/* System calls; one of them causes a page fault in the kernel, because its buffer is not mapped. */
static void enter_kernel(long times)
{
	while (times--) {
		syscall(SYS_getppid);
		/* -EFAULT: the kernel takes an exception in its own code. */
		syscall(SYS_write, 1, (void *)8, 8);
	}
}

/*
 * Overflows come at many different instructions of the entry and exit code. Those in
 * handle_exception are deferred, because it has not saved the registers yet. Samples show those in
 * ret_from_exception, up to sret.
 */
TEST_F_TIMEOUT(nmi, entry_and_exit_code_can_be_interrupted, 300)
{
	/* A period that has a factor in common with the loop's length hits few of its addresses. */
	static const int periods[] = { 4507, 4513, 4519, 4523 };
	long deferred = count_nmis("nmis_deferred");
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
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		self->attr.sample_period = periods[i];
		ASSERT_EQ(0, sample(self, enter_kernel, 10000, check_entry, &check));
		EXPECT_FALSE(self->ring.broken);
	}
	TH_LOG("%ld addresses of the entry code", (long)count_addresses(&check));
	EXPECT_EQ(0, check.at[0]);
	/* sret, of 4 bytes */
	EXPECT_LT(0, check.at[(check.end - check.begin) / 2 - 2]);
	/* More than the 31 loads that restore the registers */
	EXPECT_LT(31, count_addresses(&check));
	EXPECT_LT(deferred, count_nmis("nmis_deferred"));
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
TEST_F_TIMEOUT(nmi, registers_are_preserved, 120)
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

/* --- NMIs at random instants --- */

#define INJECT_TIMES	500

/* Returns a process that has all harts interrupted until it is killed. */
static pid_t inject_for_ever(void)
{
	pid_t pid = fork();

	while (!pid)
		pmu_write_number(INJECT, INJECT_TIMES);
	return pid;
}

/*
 * While injected NMIs interrupt all harts, the loop's registers do not change, and there are as
 * many samples as without them, which show the interrupted registers.
 */
TEST_F_TIMEOUT(nmi, injected_nmis_change_no_register_and_no_sample, 300)
{
	long nmis = count_nmis("nmis");
	struct keep_check check = {};
	int64_t plain = 0;
	pid_t pid;

	self->attr.exclude_kernel = 1;
	self->attr.sample_period = 10007;
	ASSERT_EQ(0, sample(self, keep, self->exact ? 5000000 : 50000000, count_record, &plain));
	EXPECT_EQ(0, keep_changed);
	ASSERT_TRUE(pmu_write_number(INJECT, 1));
	pid = inject_for_ever();
	ASSERT_LT(0, pid);
	self->attr.sample_type |= PERF_SAMPLE_REGS_USER;
	self->attr.sample_regs_user = REGS;
	EXPECT_EQ(0, sample(self, keep, self->exact ? 5000000 : 50000000, check_keep, &check));
	EXPECT_EQ(0, keep_changed);
	EXPECT_EQ(0, check.wrong);
	if (self->exact)
		EXPECT_EQ(plain, check.inside);
	/* Of kernel code, too */
	for (int i = 0; i < 1000; i++)
		EXPECT_TRUE(pmu_write_number("/proc/self/oom_score_adj", 0));
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_RING_COMPLETE(&self->ring);
	/* Each sample took an NMI, too. */
	EXPECT_LT(nmis + plain + check.inside + INJECT_TIMES, count_nmis("nmis"));
	TH_LOG("%ld samples, %ld beside %ld NMIs", (long)plain, (long)check.inside,
	       count_nmis("nmis") - nmis);
}

/* --- hard lockups --- */

#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"
#define THRESHOLD	"/proc/sys/kernel/watchdog_thresh"
/*
 * With watchdog_thresh=1, a hart of 1 GHz is checked every 5 s, because the kernel assumes 5 GHz.
 * The second check reports the hang.
 */
#define HANG_SECONDS	12
#define HANG_TURNS_MAX	10000000000L

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* The loop's turns in a second */
static double measure_spin(void)
{
	double begin = seconds();

	pmu_write_number(SPIN, 20 * SPIN_TURNS);
	return 20 * SPIN_TURNS / (seconds() - begin);
}

static bool kmsg_has(int fd, const char *text)
{
	char line[8192];
	bool has = false;
	ssize_t len;

	while ((len = read(fd, line, sizeof(line) - 1)) > 0) {
		line[len] = '\0';
		has |= !!strstr(line, text);
	}

	return has;
}

/* The kernel's log says that the hart hangs, and where. */
TEST_F_TIMEOUT(nmi, hard_lockup_is_reported, 120)
{
	int log, place;
	double turns;

	if (self->exact)
		SKIP(return, "takes minutes under -icount");
	if (!pmu_write_number(WATCHDOG, 1))
		SKIP(return, "the kernel has no NMI watchdog (CONFIG_RISCV_PMU_NMI_WATCHDOG)");

	turns = HANG_SECONDS * measure_spin();
	ASSERT_GT(HANG_TURNS_MAX, turns);
	log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	place = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	ASSERT_LE(0, log);
	ASSERT_LE(0, place);
	lseek(log, 0, SEEK_END);
	lseek(place, 0, SEEK_END);
	EXPECT_TRUE(pmu_write_number(THRESHOLD, 1));
	EXPECT_TRUE(pmu_write_number(SPIN, turns));
	EXPECT_TRUE(pmu_write_number(THRESHOLD, 10));
	EXPECT_TRUE(pmu_write_number(WATCHDOG, 0));
	EXPECT_TRUE(kmsg_has(log, "hard LOCKUP"));
	EXPECT_TRUE(kmsg_has(place, "epc : riscv_pmu_spin"));
	close(log);
	close(place);
}

/* Runs the example of event-based branches. Returns whether it prints TEXT. */
static bool hot_loop_prints(const char *text)
{
	char path[PATH_MAX] = "", command[PATH_MAX + 32], line[256];
	bool prints = false;
	FILE *pipe;

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) <= 0)
		return false;
	snprintf(command, sizeof(command), "%s/hot_loop 2>&1", dirname(path));
	pipe = popen(command, "r");
	while (pipe && fgets(line, sizeof(line), pipe))
		prints |= !!strstr(line, text);
	if (pipe)
		pclose(pipe);
	return prints;
}

/* The detector's event is pinned, and an event with event-based branches has to be alone. */
TEST_F_TIMEOUT(nmi, the_watchdog_and_event_based_branches_exclude_each_other, 120)
{
	if (!pmu_write_number(WATCHDOG, 1))
		SKIP(return, "the kernel has no NMI watchdog (CONFIG_RISCV_PMU_NMI_WATCHDOG)");

	EXPECT_TRUE(hot_loop_prints("sysctl kernel.nmi_watchdog=0"));
	EXPECT_TRUE(pmu_write_number(WATCHDOG, 0));
	EXPECT_TRUE(hot_loop_prints(" samples"));
}

/* --- user mode at addresses of the kernel --- */

static unsigned long jump_tp, jump_resume;

/* Must not call the C library: tp is not the thread pointer here. */
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
 * User mode jumps to an address of the kernel. An overflow may come after the jump and before the
 * exception: then sepc is an address of the kernel although user mode was interrupted, and the
 * entry code must not take the task from tp, which has user mode's value.
 */
TEST_F_TIMEOUT(nmi, jump_to_a_kernel_address_is_sampled_as_user_mode, 120)
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

TEST_F(nmi, debugfs_files_refuse_numbers_out_of_range)
{
	EXPECT_FALSE(pmu_write_number(SPIN, 0));
	EXPECT_FALSE(pmu_write_number(SPIN, HANG_TURNS_MAX + 1));
	EXPECT_TRUE(pmu_write_number(SPIN, 1));
	EXPECT_FALSE(pmu_write_number(INJECT, 1000001));
	EXPECT_TRUE(pmu_write_number(INJECT, 1));
}

TEST_HARNESS_MAIN
