// SPDX-License-Identifier: GPL-2.0
/*
 * What a sample holds: every field that was asked for, and the truth in each.
 * The code that is sampled is such that the truth is known (lib/chain.S).
 */

#define _GNU_SOURCE
#include <errno.h>
#include <asm/perf_regs.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/ring.h"

/* Longer where the interrupt comes late. */
#define N	(self->exact ? 20000000L : 200000000L)
#define CALLS	(self->exact ? 400000L : 20000L)
/* Long enough for samples that are polled for: 200 us under -icount. */
#define PERIOD	200000

FIXTURE(records) {
	PMU_MAPPED_MEMBERS;
	bool filters;
};

FIXTURE_SETUP(records)
{
	/* A skipped set-up has no teardown: nothing may be changed before. */
	if (!pmu_can_sample())
		SKIP(return, "this machine does not sample (caps/sampling is none)");

	PMU_MAPPED_SETUP(self, pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS));
	self->filters = pmu_can_filter();
	if (pmu_is_legacy())
		self->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	self->attr.sample_type = PERF_SAMPLE_IP;
	self->attr.sample_period = PERIOD;

	/*
	 * The kernel frees the ring of the test before some ms after its end, with
	 * interrupts off for up to 400 us at once: no poll is in time then.
	 */
	if (self->exact)
		usleep(100000);
}

FIXTURE_TEARDOWN(records)
{
	PMU_MAPPED_TEARDOWN(self);
}

/* Opens self->attr with a ring. */
#define open_mapped(self)	\
	pmu_mapped_open(&(self)->attr, PMU_RING_PAGES, &(self)->ring, &(self)->fd)

/* The same, and gives fn what samples body(arg) makes. */
static int sample(FIXTURE_DATA(records) *self, pmu_body *body, long arg,
		  pmu_record_fn *fn, void *check)
{
	int err = open_mapped(self);

	if (err)
		return err;

	/* Fault the code in, which is not what is sampled. */
	body(2);
	err = pmu_run(self->fd, 0, body, arg);
	pmu_ring_records(&self->ring, &self->attr, fn, check);
	return err;
}

static bool is_user(const struct pmu_record *record)
{
	return (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
}

static bool is_between(uint64_t ip, const char *begin, const char *end)
{
	return ip >= (uintptr_t)begin && ip < (uintptr_t)end;
}

/* The upper half; perf's marks in call chains are at its very end. */
static bool is_kernel_address(uint64_t ip)
{
	return (int64_t)ip < 0 && ip < (uint64_t)PERF_CONTEXT_MAX;
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* --- the plain fields --- */

#define PLAIN	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |	\
		 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |	\
		 PERF_SAMPLE_PERIOD)

struct plain {
	uint64_t id, began, last, cpus;
	uint32_t pid;
	int64_t inside, wrong_id, wrong_task, wrong_cpu, wrong_addr, wrong_period, back_in_time;
};

static void check_plain(const struct pmu_record *record, void *arg)
{
	struct plain *check = arg;

	check->inside += is_between(record->ip, pmu_loop_begin, pmu_loop_end);
	check->wrong_id += record->identifier != check->id || record->id != check->id ||
			   record->stream_id != check->id;
	check->wrong_task += record->pid != check->pid || record->tid != check->pid;
	check->wrong_cpu += record->cpu >= check->cpus;
	/* What data was accessed, no RISC-V hart tells. */
	check->wrong_addr += record->addr != 0;
	check->wrong_period += !record->period || record->period % PERIOD;
	check->back_in_time += record->time < check->last;
	check->last = record->time;
}

TEST_F_TIMEOUT(records, plain_fields_tell_the_truth, 120)
{
	struct plain check = { .pid = getpid(), .cpus = sysconf(_SC_NPROCESSORS_CONF) };

	self->attr.sample_type = PLAIN;
	self->attr.use_clockid = 1;
	self->attr.clockid = CLOCK_MONOTONIC;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ID, &check.id));
	pmu_loop(2);
	check.began = now_ns();
	check.last = check.began;
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	pmu_ring_records(&self->ring, &self->attr, check_plain, &check);
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_LT(check.began, check.last);
	EXPECT_GT(now_ns(), check.last);
	EXPECT_EQ(0, check.back_in_time);
	EXPECT_EQ(0, check.wrong_id);
	EXPECT_EQ(0, check.wrong_task);
	EXPECT_EQ(0, check.wrong_cpu);
	EXPECT_EQ(0, check.wrong_addr);
	EXPECT_EQ(0, check.wrong_period);
	/* The first and the last may be taken at the loop's edge. */
	if (self->exact && self->filters)
		EXPECT_LE(self->ring.samples - 2, check.inside);
	EXPECT_LT(0, check.inside);
}

static void check_cpu(const struct pmu_record *record, void *arg)
{
	int64_t *there = arg;

	there[record->cpu < 64 ? record->cpu : 0]++;
}

TEST_F_TIMEOUT(records, samples_name_the_hart_they_were_taken_on, 120)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t all;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(all), &all));
	self->attr.sample_type = PERF_SAMPLE_CPU;
	for (int cpu = 0; cpu < cpus && cpu < 4; cpu++) {
		int64_t there[64] = {};
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		ASSERT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
		ASSERT_EQ(0, sample(self, pmu_loop, N, check_cpu, there));
		EXPECT_RING_WHOLE(&self->ring);
		EXPECT_LT(0, self->ring.samples);
		EXPECT_EQ(self->ring.samples, there[cpu]);
		close_mapped(self);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

static void check_unknown(const struct pmu_record *record, void *arg)
{
	const union perf_mem_data_src none = {
		.mem_op = PERF_MEM_OP_NA, .mem_lvl = PERF_MEM_LVL_NA,
		.mem_snoop = PERF_MEM_SNOOP_NA, .mem_lock = PERF_MEM_LOCK_NA,
		.mem_dtlb = PERF_MEM_TLB_NA,
	};
	int64_t *wrong = arg;

	*wrong += record->weight || (record->data_src & none.val) != none.val;
}

/* No RISC-V hart tells what a sample cost: perf's core says so, with nothing of ours in it. */
TEST_F_TIMEOUT(records, weight_is_zero_and_the_data_source_not_available, 120)
{
	int64_t wrong = 0;

	self->attr.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	ASSERT_EQ(0, sample(self, pmu_loop, N, check_unknown, &wrong));
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, wrong);
}

/* --- what samples stand for --- */

#define EXPECT_REST(count, length, ring)				\
do {									\
	int64_t rest = (count) - (ring)->periods;			\
									\
	EXPECT_LE(0, rest);						\
	if (self->exact)						\
		EXPECT_GT((length) + pmu_latest(), rest);		\
} while (0)

/*
 * However late they are, and however many periods had ended by then: no event
 * is sampled twice, and only those of the period that has not ended are not.
 */
TEST_F_TIMEOUT(records, periods_of_all_samples_add_up_to_the_count, 120)
{
	static const long periods[] = { 1000, 9973, 100000, 1000000, 3000000 };

	self->attr.sample_type = PMU_RING_SAMPLE;
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		self->attr.sample_period = periods[i];
		ASSERT_EQ(0, open_mapped(self));
		ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
		pmu_ring_drain(&self->ring, NULL, NULL);
		EXPECT_RING_WHOLE(&self->ring);
		EXPECT_LT(0, self->ring.samples);
		EXPECT_REST(pmu_read(self->fd), periods[i], &self->ring);
		close_mapped(self);
	}
}

static void note_period(const struct pmu_sample *sample, void *arg)
{
	*(int64_t *)arg = sample->period;
}

/*
 * Each period is as long as perf wanted it when it began. The one that has not
 * ended is shorter than twice the last: by then perf has found the rate.
 */
TEST_F_TIMEOUT(records, periods_of_a_frequency_add_up_to_the_count, 120)
{
	int64_t period = 0;

	self->attr.sample_type = PMU_RING_SAMPLE;
	self->attr.freq = 1;
	self->attr.sample_freq = 2000;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, 10 * N));
	pmu_ring_drain(&self->ring, note_period, &period);
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_REST(pmu_read(self->fd), 2 * period, &self->ring);
}

/* --- where they were --- */

struct where {
	int64_t user, kernel, strange;
};

static void check_where(const struct pmu_record *record, void *arg)
{
	struct where *check = arg;

	if (is_user(record))
		check->user++;
	else
		check->kernel++;
	check->strange += is_user(record) == is_kernel_address(record->ip);
}

/* Every fifth instruction or so is of user mode: most periods end near the border. */
TEST_F_TIMEOUT(records, an_event_that_excludes_the_kernel_never_shows_it, 120)
{
	struct where check = {};

	if (!self->filters)
		SKIP(return, "no filters on this hart");

	self->attr.sample_period = 997;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_where, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LE(self->exact ? 900 : 1, check.user);
	EXPECT_EQ(0, check.kernel);
	EXPECT_EQ(0, check.strange);
}

TEST_F_TIMEOUT(records, an_event_that_excludes_user_mode_shows_the_kernel, 120)
{
	struct where check = {};

	if (!self->filters)
		SKIP(return, "no filters on this hart");

	self->attr.exclude_kernel = 0;
	self->attr.exclude_user = 1;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_where, &check));
	EXPECT_FALSE(self->ring.broken);
	/* What ends where the kernel keeps interrupts off may be told in user mode only. */
	EXPECT_LT(0, check.kernel);
	EXPECT_EQ(0, check.strange);
}

TEST_F_TIMEOUT(records, an_event_of_both_shows_both, 120)
{
	struct where check = {};

	self->attr.exclude_kernel = 0;
	self->attr.sample_period = 99991;
	ASSERT_EQ(0, sample(self, pmu_syscall_loop, CALLS, check_where, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LT(0, check.kernel);
	EXPECT_EQ(0, check.strange);
}

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

TEST_F_TIMEOUT(records, a_call_chain_shows_who_called, 120)
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
static int sample_calls(FIXTURE_DATA(records) *self, struct chain *check)
{
	self->attr.exclude_kernel = 0;
	self->attr.sample_period = 99991;
	self->attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	return sample(self, pmu_syscall_loop, CALLS, check_chain, check);
}

TEST_F_TIMEOUT(records, a_call_chain_goes_from_the_kernel_to_user_mode, 120)
{
	struct chain check = {};

	ASSERT_EQ(0, sample_calls(self, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.kernels);
	EXPECT_LT(check.kernels, check.kernel_frames);
	EXPECT_EQ(self->ring.samples, check.users);
}

TEST_F_TIMEOUT(records, a_call_chain_leaves_out_the_kernel_if_asked_to, 120)
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

TEST_F_TIMEOUT(records, a_call_chain_leaves_out_user_mode_if_asked_to, 120)
{
	struct chain check = {};

	self->attr.exclude_callchain_user = 1;
	ASSERT_EQ(0, sample_calls(self, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.kernels);
	EXPECT_EQ(0, check.users);
}

TEST_F_TIMEOUT(records, a_call_chain_is_no_longer_than_asked_for, 120)
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

TEST_F_TIMEOUT(records, user_registers_are_those_of_the_loop, 120)
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
TEST_F_TIMEOUT(records, all_user_registers_can_be_had_and_no_others, 120)
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
TEST_F_TIMEOUT(records, user_registers_are_the_users_in_the_kernel_too, 120)
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

/* Not even by its registers does the kernel show in a sample that excludes it. */
TEST_F_TIMEOUT(records, registers_at_the_interrupt_are_not_the_kernels_if_it_is_excluded, 120)
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

TEST_F_TIMEOUT(records, the_user_stack_is_copied_from_its_top, 120)
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

/* --- groups --- */

#define GROUP	(PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |	\
		 PERF_FORMAT_TOTAL_TIME_RUNNING)
#define MEMBERS	3

struct group {
	uint64_t id[MEMBERS], last[MEMBERS], enabled;
	int64_t most_apart;	/* what the others counted from one sample to the next */
	int64_t latest;		/* how much later than its period's end a sample was */
	int64_t periods;
	int64_t wrong, back, unequal, multiplexed;
};

static int64_t apart(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

static void note_most(int64_t *most, int64_t value)
{
	if (*most < value)
		*most = value;
}

static void check_group(const struct pmu_record *record, void *arg)
{
	struct group *check = arg;
	uint64_t delta[MEMBERS];

	if (record->nr_members != MEMBERS) {
		check->wrong++;
		return;
	}
	for (int i = 0; i < MEMBERS; i++) {
		check->wrong += record->member[i].id != check->id[i];
		check->back += record->member[i].value < check->last[i];
		delta[i] = record->member[i].value - check->last[i];
		check->last[i] = record->member[i].value;
		note_most(&check->most_apart, apart(delta[i], delta[0]));
	}
	check->periods += record->period;
	note_most(&check->latest, apart(check->last[0], check->periods));
	check->back += record->enabled < check->enabled;
	check->enabled = record->enabled;
	check->unequal += check->last[1] != check->last[0];
	check->multiplexed += record->enabled != record->running;
}

static int open_group(FIXTURE_DATA(records) *self, struct group *check, int fd[MEMBERS])
{
	struct perf_event_attr attr;
	int err;

	self->attr.sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD;
	self->attr.read_format = GROUP;
	err = open_mapped(self);
	if (err)
		return err;

	/* The second is the leader itself, counting; the third goes at its rate. */
	attr = self->attr;
	attr.disabled = 0;
	attr.sample_period = 0;
	fd[0] = self->fd;
	for (int i = 1; i < MEMBERS; i++) {
		fd[i] = pmu_open_on(&attr, 0, -1, fd[0]);
		if (fd[i] < 0)
			return fd[i];
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
	}
	for (int i = 0; i < MEMBERS; i++) {
		if (ioctl(fd[i], PERF_EVENT_IOC_ID, &check->id[i]))
			return -errno;
	}
	return 0;
}

/*
 * Members are read as of one instant, so an event and its double are equal in
 * each sample. Under -icount a cycle is an instruction (programmable counters
 * leave out the same), and the three go at one rate.
 */
TEST_F_TIMEOUT(records, each_sample_shows_the_whole_group_at_one_instant, 120)
{
	struct {
		uint64_t nr, enabled, running;
		struct { uint64_t value, id; } member[MEMBERS];
	} all;
	struct group check = {};
	int fd[MEMBERS];

	ASSERT_EQ(0, open_group(self, &check, fd));
	ASSERT_EQ(0, pmu_run(fd[0], 0, pmu_loop, N));
	ASSERT_EQ((ssize_t)sizeof(all), read(fd[0], &all, sizeof(all)));
	pmu_ring_records(&self->ring, &self->attr, check_group, &check);
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, check.back);
	EXPECT_EQ(0, check.unequal);
	EXPECT_EQ(0, check.multiplexed);
	for (int i = 0; i < MEMBERS; i++) {
		EXPECT_EQ(check.id[i], all.member[i].id);
		EXPECT_LE(check.last[i], all.member[i].value);
	}
	EXPECT_EQ(all.member[0].value, all.member[1].value);
	TH_LOG("members were at most %lu apart, samples at most %lu late",
	       (unsigned long)check.most_apart, (unsigned long)check.latest);
	if (self->exact) {
		EXPECT_GE(PERIOD / 10, check.most_apart);
		EXPECT_GE(PERIOD / 10 + pmu_latest(), check.latest);
	}
	for (int i = 1; i < MEMBERS; i++)
		close(fd[i]);
}

static void check_own(const struct pmu_record *record, void *arg)
{
	struct group *check = arg;

	check->wrong += record->nr_members != 1 || record->member[0].id != check->id[0] ||
			record->member[0].lost;
	check->periods += record->period;
	/* No period can end that was not counted. */
	check->back += record->member[0].value < (uint64_t)check->periods;
	note_most(&check->latest, apart(record->member[0].value, check->periods));
}

/* A sample of a single event has its own value, as read() would have given it then. */
TEST_F_TIMEOUT(records, a_sample_shows_its_own_count, 120)
{
	struct group check = {};

	self->attr.sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_PERIOD;
	self->attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ID, &check.id[0]));
	ASSERT_EQ(0, pmu_run(self->fd, 0, pmu_loop, N));
	pmu_ring_records(&self->ring, &self->attr, check_own, &check);
	EXPECT_RING_WHOLE(&self->ring);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, check.back);
	if (self->exact)
		EXPECT_GE(PERIOD / 10 + pmu_latest(), check.latest);
}

PMU_TEST_AT_LAST(PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
