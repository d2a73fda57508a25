// SPDX-License-Identifier: GPL-2.0
/*
 * Call stacks (PERF_SAMPLE_BRANCH_CALL_STACK): each record is a call that has not returned yet. So
 * they are the same as the call chain that the kernel finds by the frame pointers.
 */

/* The return address is after the call, which has four bytes, or two in pmu_window(). */
static bool is_return_of(uint64_t address, const struct perf_branch_entry *call)
{
	return address == call->from + 4 || address == call->from + 2;
}

/* With the sampled address, a call chain has up to PERF_MAX_STACK_DEPTH addresses. */
#define MAX_CALLERS	(127 - 1)

struct stack_check {
	int64_t samples;	/* in the loop of pmu_branch_nest() */
	int64_t whole;		/* the records are all frames of the call chain */
	int64_t wrong;		/* a record is not that of its frame */
	int64_t empty;
};

/* The frames after PERF_CONTEXT_USER: the sampled address, then the callers, the nearest first. */
static void check_stack(const struct pmu_record *record, void *arg)
{
	const uint64_t *caller = record->frames + 2;
	struct stack_check *check = arg;
	uint64_t callers;

	if (!is_in(record->ip, pmu_branch_nest_begin, pmu_branch_nest_end))
		return;

	check->samples++;
	if (record->nr_frames < 2 || record->frames[0] != (uint64_t)PERF_CONTEXT_USER) {
		check->wrong++;
		return;
	}
	callers = record->nr_frames - 2;
	check->empty += !record->nr_branches;
	for (uint64_t i = 0; i < record->nr_branches; i++) {
		/* The kernel limits call chains (kernel.perf_event_max_stack). */
		if (i == callers && callers >= MAX_CALLERS)
			return;
		if (i >= callers || !is_return_of(caller[i], &record->branches[i])) {
			check->wrong++;
			return;
		}
	}
	check->whole += record->nr_branches == callers;
}

static void ask_for_stacks(struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = 1;
	attr->branch_sample_type = B_USER | B_CALL_STACK;
	/* 0 stands for kernel.perf_event_max_stack, which call chains must not exceed. */
	attr->sample_max_stack = 0;
}

static int sample_nest(FIXTURE_DATA(branch) *self, const struct pmu_branch_nest *nest,
		       struct stack_check *check)
{
	int err;

	ask_for_stacks(&self->attr);
	err = open_mapped(self);
	if (err)
		return err;

	err = pmu_run(self->fd, 0, pmu_branch_nest, (long)nest);
	pmu_ring_records(&self->ring, &self->attr, check_stack, check);
	return err;
}

static long nest_turns(FIXTURE_DATA(branch) *self, long samples)
{
	return (samples + 1) * PERIOD / PMU_BRANCH_NEST_LOOP * (self->exact ? 1 : 20);
}

#define EXPECT_STACKS(least, check)						\
do {										\
	EXPECT_LE(self->exact ? (least) : 1, (check)->samples);			\
	EXPECT_EQ(0, (check)->wrong);						\
	EXPECT_EQ((check)->samples, (check)->whole);				\
} while (0)

/* Nesting depths to test; pmu_window() adds one call. */
TEST_F_TIMEOUT(branch, a_call_stack_is_that_of_the_frame_pointers, 120)
{
	static const long levels[] = { 1, 2, 7, 14, 30 };

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		const struct pmu_branch_nest nest = {
			.levels = levels[i], .turns = nest_turns(self, 20),
		};
		struct stack_check check = {};

		if (levels[i] + 1 > self->depth)
			break;
		ASSERT_EQ(0, sample_nest(self, &nest, &check));
		EXPECT_FALSE(self->ring.broken);
		EXPECT_STACKS(20, &check);
		EXPECT_EQ(0, check.empty);
		close_mapped(self);
	}
}

/* Calls that have returned are not in the call stack. */
static void call_a_few(void)
{
	pmu_chain(0);
	pmu_branch_loop(3);
}

TEST_F_TIMEOUT(branch, a_call_that_has_returned_is_not_in_the_stack, 120)
{
	const struct pmu_branch_nest nest = {
		.levels = 6, .turns = nest_turns(self, 20), .between = call_a_few,
	};
	struct stack_check check = {};

	ASSERT_EQ(0, sample_nest(self, &nest, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_STACKS(20, &check);
}

/* If there are more levels than records, the records are the innermost calls. */
TEST_F_TIMEOUT(branch, a_deep_call_stack_has_the_innermost_calls, 120)
{
	const struct pmu_branch_nest nest = {
		.levels = self->depth + 9, .turns = nest_turns(self, 20),
	};
	struct stack_check check = {};

	ASSERT_EQ(0, sample_nest(self, &nest, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LE(self->exact ? 20 : 1, check.samples);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, check.empty);
}

/* --- across switches --- */

/*
 * About one sample for each switch; otherwise, QEMU would be interrupted all the time. Without
 * -icount QEMU's interrupt is late, and most samples are taken outside of the functions.
 */
#define SWITCH_PERIOD	(self->exact ? 997 : 20011)

static int switch_in, switch_out;

/* Sleeps until the peer has run. */
static void switch_tasks(void)
{
	char byte = 0;

	if (write(switch_out, &byte, 1) != 1 || read(switch_in, &byte, 1) != 1)
		_exit(1);
}

/* Runs @nest, with an event of @attr if there is one. */
static int run_nest(const struct pmu_branch_nest *nest, const struct perf_event_attr *attr)
{
	int fd;

	if (!attr) {
		pmu_branch_nest((long)nest);
		return 0;
	}
	fd = pmu_open(attr);
	return fd < 0 || pmu_run(fd, 0, pmu_branch_nest, (long)nest);
}

/* @peer_attr: of the event of the peer, which may have none. */
static void sample_switches(struct __test_metadata *_metadata, FIXTURE_DATA(branch) *self,
			    const struct perf_event_attr *peer_attr)
{
	const struct pmu_branch_nest nest = {
		.levels = 9, .turns = self->exact ? 500 : 5000, .between = switch_tasks,
	}, peer_nest = {
		.levels = 4, .turns = nest.turns, .between = switch_tasks,
	};
	struct stack_check check = {};
	int to_us[2], to_peer[2];
	pid_t pid;

	move_to(sched_getcpu());
	ASSERT_EQ(0, pipe(to_us));
	ASSERT_EQ(0, pipe(to_peer));
	switch_in = to_peer[0];
	switch_out = to_us[1];
	pid = spawn();
	if (!pid)
		_exit(run_nest(&peer_nest, peer_attr));
	ASSERT_LT(0, pid);
	switch_in = to_us[0];
	switch_out = to_peer[1];
	self->attr.sample_period = SWITCH_PERIOD;
	ASSERT_EQ(0, sample_nest(self, &nest, &check));
	EXPECT_TRUE(wait_ended(pid));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_STACKS(40, &check);
	EXPECT_EQ(0, check.empty);
}

TEST_F_TIMEOUT(branch, a_call_stack_is_whole_after_other_tasks_ran, 120)
{
	sample_switches(_metadata, self, NULL);
}

TEST_F_TIMEOUT(branch, call_stacks_of_two_tasks_are_whole, 120)
{
	struct perf_event_attr attr = self->attr;

	attr.sample_period = SWITCH_PERIOD;
	ask_for_stacks(&attr);
	sample_switches(_metadata, self, &attr);
}

TEST_F_TIMEOUT(branch, a_call_stack_is_whole_after_a_task_with_records_of_all_branches, 120)
{
	struct perf_event_attr attr = self->attr;

	attr.sample_period = SWITCH_PERIOD;
	sample_switches(_metadata, self, &attr);
}

/* --- after a time without recording --- */

static int stale_fd;

static void stop_recording(void)
{
	ioctl(stale_fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void start_recording(void)
{
	ioctl(stale_fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* The calls of the first nest return while nothing is recorded. */
static void nest_twice(long turns)
{
	const struct pmu_branch_nest first = {
		.levels = 8, .turns = 1, .between = stop_recording,
	}, second = {
		.levels = 3, .turns = turns, .between = start_recording,
	};

	pmu_branch_nest((long)&first);
	pmu_branch_nest((long)&second);
}

TEST_F_TIMEOUT(branch, a_call_stack_has_no_calls_from_before_it_was_disabled, 120)
{
	struct stack_check check = {};

	ask_for_stacks(&self->attr);
	self->attr.sample_period = SWITCH_PERIOD;
	ASSERT_EQ(0, open_mapped(self));
	stale_fd = self->fd;
	ASSERT_EQ(0, pmu_run(self->fd, 0, nest_twice, nest_turns(self, 20)));
	pmu_ring_records(&self->ring, &self->attr, check_stack, &check);
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LE(self->exact ? 20 : 1, check.samples);
	EXPECT_EQ(0, check.wrong);
}

/* Events of one task, one with all branches and one with call stacks, are multiplexed. */
TEST_F_TIMEOUT(branch, call_stacks_and_other_records_are_multiplexed, 120)
{
	const struct pmu_branch_nest nest = {
		.levels = 5, .turns = nest_turns(self, self->exact ? 2000 : 100),
	};
	struct perf_event_attr any = self->attr;
	struct stack_check check = {};
	struct seen seen = {};
	struct pmu_ring ring;
	int fd;

	ASSERT_EQ(0, pmu_mapped_open(&any, RING_PAGES, &ring, &fd));
	ask_for_stacks(&self->attr);
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run_all(pmu_branch_nest, (long)&nest));
	pmu_ring_records(&self->ring, &self->attr, check_stack, &check);
	pmu_ring_records(&ring, &any, count_user_records, &seen);
	EXPECT_FALSE(self->ring.broken);
	EXPECT_FALSE(ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0, seen.kernel);
	if (self->exact) {
		EXPECT_LT(0, check.samples);
		EXPECT_LT(0, seen.records);
	}
	pmu_mapped_close(&ring, &fd);
}
