// SPDX-License-Identifier: GPL-2.0
/*
 * Branch records: a handler has the last branches of its own task before the overflow, and never
 * one of a handler. The first test is for machines without them, the last one for all.
 */

#define RECORDS_PERIOD	10007
#define RECORDS_TIMES	300

#define RECORDS_ANY	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY)
#define RECORDS_STACK	(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK)

#define NO_RECORDS	"no branch records (caps/branches)"

static bool has_records(void)
{
	return pmu_caps_number("branches") >= 0;
}

/*
 * What a handler finds, and what it does. Overflows with all records that it must have; with
 * fewer, since the last switch of tasks; with others; and those elsewhere than in the tested code.
 */
struct records_check {
	void (*check)(struct records_check *check, uint64_t pc,
		      const struct perf_branch_entry *entries, unsigned int nr);
	void (*work)(void);
	long depth;
	long right, few, wrong, outside;
	/* of call stacks: the first one */
	struct perf_branch_entry first[RISCV_EBB_MAX_BRANCHES];
	unsigned int nr_first;
};

static void on_records(volatile struct riscv_ebb_page *page, void *arg)
{
	struct perf_branch_entry entries[RISCV_EBB_MAX_BRANCHES];
	unsigned int nr = ebb_branches(entries, RISCV_EBB_MAX_BRANCHES);
	struct records_check *check = arg;

	branches++;
	check->check(check, page->pc, entries, nr);
	check->work();
	/* The kernel shall not believe it. */
	page->nr_branches = -1;
	page->branches[0].from = 1;
}

/* More branches than any hart has records. */
static void work_branches(void)
{
	pmu_branch_b(300);
}

static void work_and_sleep(void)
{
	pmu_branch_b(300);
	usleep(1);
	pmu_branch_b(300);
}

static struct records_check records_check_init(void)
{
	const long depth = pmu_caps_number("branches");

	return (struct records_check){
		.depth = depth < RISCV_EBB_MAX_BRANCHES ? depth : RISCV_EBB_MAX_BRANCHES,
		.work = work_branches,
	};
}

static int open_records(struct perf_event_attr *attr, uint64_t branch_sample_type,
			struct records_check *check)
{
	int fd;

	attr->sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = branch_sample_type;
	fd = open_ebb(attr, RECORDS_PERIOD);
	if (fd >= 0)
		ebb_handler(on_records, check);
	return fd;
}

/* Turns of a loop of @insns for some overflows; more if interrupts are late. */
static long turns_of(long insns)
{
	return RECORDS_TIMES * RECORDS_PERIOD / insns * (pmu_is_exact() ? 1 : 20);
}

/* With few records in few of the overflows: some tasks of the kernel may have run. */
#define EXPECT_RECORDS(check)							\
do {										\
	EXPECT_EQ(0, (check)->wrong);						\
	EXPECT_LT(0, (check)->right);						\
	if (self->exact) {							\
		EXPECT_LE(RECORDS_TIMES * 9 / 10, (check)->right);		\
		EXPECT_GE(RECORDS_TIMES / 10, (check)->few + (check)->outside);	\
	}									\
} while (0)

TEST_F(ebb, without_branch_records_they_are_eopnotsupp)
{
	struct records_check check = records_check_init();

	if (has_records())
		SKIP(return, "this machine has branch records (caps/branches)");

	EXPECT_EQ(-1, open_records(&self->attr, RECORDS_ANY, &check));
	EXPECT_EQ(EOPNOTSUPP, errno);
	EXPECT_EQ(-1, open_records(&self->attr, RECORDS_STACK, &check));
	EXPECT_EQ(EOPNOTSUPP, errno);
}

/* --- exact records --- */

/* The place of the branch in pmu_branches after which @pc is executed; -1: not in the loop. */
static int place_of(uint64_t pc)
{
	for (int i = 0; i < PMU_BRANCHES; i++) {
		if (pc >= pmu_branches[i].to && pc <= pmu_branches[(i + 1) % PMU_BRANCHES].from)
			return i;
	}
	return -1;
}

/* Some types, to see that the whole of a record is there. */
static bool has_type(const struct perf_branch_entry *entry, uint64_t type)
{
	switch (type) {
	case PMU_BRANCH_TAKEN: return entry->type == PERF_BR_COND;
	case PMU_BRANCH_CALL: return entry->type == PERF_BR_CALL;
	case PMU_BRANCH_RETURN: return entry->type == PERF_BR_RET;
	default: return entry->type;
	}
}

/*
 * A record that is not of the tested code. Without -icount an overflow may come when that code has
 * just begun: then its records end with the call of it, and older ones are not checked.
 */
static void note_other_record(struct records_check *check, const struct perf_branch_entry *entry,
			      void (*code)(long turns))
{
	if (!pmu_is_exact() && entry->to == (uintptr_t)code)
		check->outside++;
	else
		check->wrong++;
}

/* The records up to the branch at @place of the loop. */
static void check_loop_from(struct records_check *check, int place,
			    const struct perf_branch_entry *entries, unsigned int nr)
{
	for (unsigned int n = 0; n < nr; n++) {
		const struct pmu_branch *branch = &pmu_branches[place];

		if (entries[n].from != branch->from || entries[n].to != branch->to ||
		    !has_type(&entries[n], branch->type) ||
		    entries[n].priv != PERF_BR_PRIV_USER || entries[n].reserved) {
			note_other_record(check, &entries[n], pmu_branch_loop);
			return;
		}
		place = (place ?: PMU_BRANCHES) - 1;
	}
	check->right += nr == check->depth;
	check->few += nr < check->depth;
	check->wrong += nr > check->depth;
}

static void check_loop(struct records_check *check, uint64_t pc,
		       const struct perf_branch_entry *entries, unsigned int nr)
{
	int place = place_of(pc);

	if (place < 0)
		check->outside++;
	else
		check_loop_from(check, place, entries, nr);
}

#define RECORDS_WHOLE	(RECORDS_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_PRIV_SAVE)

TEST_F(ebb, each_handler_has_the_last_branches_of_the_program)
{
	struct records_check check = records_check_init();
	int fd;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	check.check = check_loop;
	fd = open_records(&self->attr, RECORDS_WHOLE, &check);
	ASSERT_LE(0, fd);
	pmu_branch_loop(1);
	ASSERT_EQ(0, run(fd, pmu_branch_loop, turns_of(PMU_BRANCH_INSNS)));
	EXPECT_RECORDS(&check);
	close(fd);
}

/* Those of an event of the group, whichever has overflowed. */
TEST_F(ebb, a_group_has_the_records_of_its_event)
{
	struct perf_event_attr cycles = pmu_attr_user(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES);
	struct records_check check = records_check_init();
	int leader, fd;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	check.check = check_loop;
	cycles.sample_type = PERF_SAMPLE_BRANCH_STACK;
	cycles.branch_sample_type = RECORDS_WHOLE;
	leader = open_ebb(&self->attr, RECORDS_PERIOD);
	ASSERT_LE(0, leader);
	fd = ebb_open(&cycles, leader);
	ASSERT_LE(0, fd);
	ebb_period(ebb_counter(&cycles), 0);
	ebb_handler(on_records, &check);
	ASSERT_EQ(0, pmu_run(leader, PERF_IOC_FLAG_GROUP, pmu_branch_loop,
			     turns_of(PMU_BRANCH_INSNS)));
	EXPECT_RECORDS(&check);
	close(fd);
	close(leader);
}

/* The newest record says where the overflow was, since the handler is called elsewhere. */
static void check_pending(struct records_check *check, uint64_t pc,
			  const struct perf_branch_entry *entries, unsigned int nr)
{
	/* Without -icount the next one may have followed already. */
	if (branches > 1)
		return;
	check->outside++;
	for (int place = 0; nr && place < PMU_BRANCHES; place++) {
		if (entries[0].from == pmu_branches[place].from) {
			check->outside--;
			check_loop_from(check, place, entries, nr);
			return;
		}
	}
}

static void run_pending(struct __test_metadata *_metadata, int fd)
{
	branches = 0;
	ebb_disable();
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int turn = 0; turn < 500 && !ebb_page()->status; turn++)
		pmu_branch_loop(10 * RECORDS_PERIOD);
	pmu_branch_b(300);
	ebb_enable();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

/* Without -icount the overflow may come outside the loop: then the run is repeated. */
TEST_F(ebb, a_pending_overflow_has_the_records_of_its_time)
{
	struct records_check check = records_check_init();
	int fd, runs = 0;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	check.check = check_pending;
	fd = open_records(&self->attr, RECORDS_WHOLE, &check);
	ASSERT_LE(0, fd);
	do {
		run_pending(_metadata, fd);
	} while (!self->exact && check.outside == ++runs && runs < 20);
	EXPECT_EQ(1, check.right + check.few);
	EXPECT_EQ(0, check.wrong);
	close(fd);
}

TEST_F(ebb, without_the_sample_type_there_are_no_records)
{
	int fd;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	fd = open_ebb(&self->attr, PERIOD);
	ASSERT_LE(0, fd);
	ebb_page()->nr_branches = 1;
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_LT(0, branches);
	EXPECT_EQ(0, ebb_page()->nr_branches);
	close(fd);
}

/* --- branches of handlers --- */

/* Overflows until all records are of the loop. Late ones are further apart. */
#define STRAIGHT_FIRST	(pmu_is_exact() ? 10 : 1)

static void check_straight(struct records_check *check, uint64_t pc,
			   const struct perf_branch_entry *entries, unsigned int nr)
{
	if (branches <= STRAIGHT_FIRST || pc < (uintptr_t)pmu_straight_loop ||
	    pc > (uintptr_t)pmu_straight_branch) {
		check->outside++;
		return;
	}
	for (unsigned int n = 0; n < nr; n++) {
		if (entries[n].from != (uintptr_t)pmu_straight_branch ||
		    entries[n].to != (uintptr_t)pmu_straight_loop) {
			note_other_record(check, &entries[n], pmu_straight_loop);
			return;
		}
	}
	check->right += nr == check->depth;
	check->few += nr < check->depth;
}

/* More often, if interrupts are late. */
static long run_straight(int fd, const struct records_check *check)
{
	long err = 0;

	for (int i = 0; !err && !check->right && i < (pmu_is_exact() ? 1 : 100); i++)
		err = pmu_run(fd, 0, pmu_straight_loop, turns_of(PMU_STRAIGHT_TURN));
	return err;
}

/* From one overflow to the next there are fewer branches than records. */
TEST_F(ebb, no_record_is_of_a_handler)
{
	struct records_check check = records_check_init();
	int fd;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	check.check = check_straight;
	fd = open_records(&self->attr, RECORDS_ANY, &check);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run_straight(fd, &check));
	EXPECT_RECORDS(&check);
	close(fd);
}

/* The switch has cleared the records of the program, too. */
TEST_F(ebb, no_record_is_of_a_handler_that_sleeps)
{
	struct records_check check = records_check_init();
	int fd;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	check.check = check_straight;
	check.work = work_and_sleep;
	fd = open_records(&self->attr, RECORDS_ANY, &check);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run_straight(fd, &check));
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.right + check.few);
	close(fd);
}

static sigjmp_buf records_back;
static volatile bool may_leave_records;

static void work_and_leave(void)
{
	pmu_branch_b(300);
	if (may_leave_records) {
		may_leave_records = false;
		siglongjmp(records_back, 1);
	}
}

static bool is_in_b(uint64_t address)
{
	return address >= (uintptr_t)pmu_branch_b && address < (uintptr_t)pmu_branch_b_end;
}

static void check_not_in_b(struct records_check *check, uint64_t pc,
			   const struct perf_branch_entry *entries, unsigned int nr)
{
	check->right += !!nr;
	for (unsigned int n = 0; n < nr; n++)
		check->wrong += is_in_b(entries[n].from) || is_in_b(entries[n].to);
}

TEST_F(ebb, no_record_is_of_a_handler_that_is_left)
{
	struct records_check check = records_check_init();
	volatile int left = 0;
	int fd;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	check.check = check_not_in_b;
	check.work = work_and_leave;
	fd = open_records(&self->attr, RECORDS_ANY, &check);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	while (left < 20) {
		if (!sigsetjmp(records_back, 0)) {
			may_leave_records = true;
			for (int turn = 0; turn < 500 && may_leave_records; turn++)
				pmu_straight_loop(1000);
			may_leave_records = false;
			break;
		}
		left++;
		EXPECT_EQ(0, ebb_abandon());
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(20, left);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.right);
	close(fd);
}

/* --- call stacks --- */

#define STACK_LEVELS	6

/* The same in each overflow of the loop, whatever the handlers have called meanwhile. */
static void check_stack(struct records_check *check, uint64_t pc,
			const struct perf_branch_entry *entries, unsigned int nr)
{
	if (pc < (uintptr_t)pmu_branch_nest_begin || pc >= (uintptr_t)pmu_branch_nest_end) {
		check->outside++;
		return;
	}
	if (!check->nr_first) {
		memcpy(check->first, entries, nr * sizeof(*entries));
		check->nr_first = nr;
	}
	/* Without -icount, an overflow may be found only when the task is switched in again. */
	if (!nr && !pmu_is_exact()) {
		check->few++;
		return;
	}
	if (nr < STACK_LEVELS || nr != check->nr_first ||
	    memcmp(check->first, entries, nr * sizeof(*entries)))
		check->wrong++;
	else
		check->right++;
}

/* More levels than a hart has records. */
static void work_calls(void)
{
	const struct pmu_branch_nest nest = { .levels = 300 };

	pmu_branch_nest((long)&nest);
}

static void work_calls_and_sleep(void)
{
	work_calls();
	usleep(1);
	work_calls();
}

static void run_stack(struct __test_metadata *_metadata, FIXTURE_DATA(ebb) *self,
		      void (*work)(void))
{
	const struct pmu_branch_nest nest = {
		.levels = STACK_LEVELS, .turns = turns_of(PMU_BRANCH_NEST_LOOP),
	};
	struct records_check check = records_check_init();
	int fd;

	check.check = check_stack;
	check.work = work;
	fd = open_records(&self->attr, RECORDS_STACK, &check);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_branch_nest, (long)&nest));
	EXPECT_RECORDS(&check);
	close(fd);
}

TEST_F(ebb, a_handler_has_the_call_stack_of_the_program)
{
	if (!has_records())
		SKIP(return, NO_RECORDS);

	run_stack(_metadata, self, work_calls);
}

TEST_F(ebb, a_handler_that_sleeps_keeps_the_call_stack)
{
	if (!has_records())
		SKIP(return, NO_RECORDS);

	run_stack(_metadata, self, work_calls_and_sleep);
}

/* --- other tasks --- */

/* When the handler has slept, its calls take about half of it. */
#define NEIGHBOUR_PERIOD	5003

static void spin_for_ever(long instructions)
{
	for (;;)
		pmu_loop(instructions);
}

/* A task that shares this hart, and is sampled as "perf record" does. */
static pid_t start_neighbour(int *fd)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	pid_t pid;

	move_to(sched_getcpu());
	pid = pmu_spawn(spin_for_ever, N);
	attr.sample_period = NEIGHBOUR_PERIOD;
	attr.sample_type = PERF_SAMPLE_IP;
	*fd = pmu_open_on(&attr, pid, -1, -1);
	if (*fd >= 0)
		ioctl(*fd, PERF_EVENT_IOC_ENABLE, 0);
	return pid;
}

/*
 * The neighbour runs while the handler sleeps. Then its counter runs on and overflows in the
 * handler, which an NMI interrupts, although no event of the handler's task needs it.
 */
TEST_F(ebb, a_neighbour_that_is_sampled_changes_no_call_stack)
{
	pid_t pid;
	int fd;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	pid = start_neighbour(&fd);
	EXPECT_LE(0, fd);
	run_stack(_metadata, self, work_calls_and_sleep);
	pmu_kill(pid);
	close(fd);
}

/* About three switches are in a period: overflows come soon after some of them. */
#define PEER_PERIOD	499
#define PEER_TURNS	20
#define PEER_TIMES	3000

struct records_peer {
	pmu_body *body;
	uint64_t begin, end;	/* of the other task's body */
	long foreign, records;
};

static void on_peer(volatile struct riscv_ebb_page *page, void *arg)
{
	struct perf_branch_entry entries[RISCV_EBB_MAX_BRANCHES];
	unsigned int nr = ebb_branches(entries, RISCV_EBB_MAX_BRANCHES);
	struct records_peer *peer = arg;

	peer->records += nr;
	for (unsigned int n = 0; n < nr; n++)
		peer->foreign += (entries[n].from >= peer->begin && entries[n].from < peer->end) ||
				 (entries[n].to >= peer->begin && entries[n].to < peer->end);
}

static void run_peer(struct perf_event_attr attr, struct records_peer *peer)
{
	int fd;

	forget_page();
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = RECORDS_ANY;
	fd = open_ebb(&attr, PEER_PERIOD);
	if (fd < 0)
		_exit(2);
	ebb_handler(on_peer, peer);
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		_exit(3);
	/* Longer, if interrupts are late. */
	for (int i = 0; i < PEER_TIMES || (!peer->records && i < 100 * PEER_TIMES); i++) {
		peer->body(PEER_TURNS);
		sched_yield();
	}
	if (peer->foreign)
		_exit(4);
	_exit(!peer->records);
}

TEST_F(ebb, no_record_is_of_another_task)
{
	struct records_peer peer[2] = {
		{ .body = pmu_branch_a, .begin = (uintptr_t)pmu_branch_b,
		  .end = (uintptr_t)pmu_branch_b_end },
		{ .body = pmu_branch_b, .begin = (uintptr_t)pmu_branch_a,
		  .end = (uintptr_t)pmu_branch_a_end },
	};
	pid_t pid[2];
	int status;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	move_to(sched_getcpu());
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i])
			run_peer(self->attr, &peer[i]);
		ASSERT_LT(0, pid[i]);
	}
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
	}
}

/* --- attributes --- */

TEST_F(ebb, records_that_a_page_can_not_have_are_refused)
{
	struct perf_event_attr good = allowed(self->attr), attr;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	good.sample_type = PERF_SAMPLE_BRANCH_STACK;
	good.branch_sample_type = RECORDS_ANY;

#define EXPECT_RECORDS_ERROR(err, bits)						\
do {										\
	attr = good;								\
	attr.branch_sample_type = bits;						\
	EXPECT_EQ(err, pmu_try(&attr)) {					\
		TH_LOG(#bits);							\
	}									\
} while (0)

	EXPECT_RECORDS_ERROR(0, RECORDS_ANY);
	EXPECT_RECORDS_ERROR(0, RECORDS_STACK);
	EXPECT_RECORDS_ERROR(0, PERF_SAMPLE_BRANCH_ANY);
	EXPECT_RECORDS_ERROR(-EINVAL, RECORDS_ANY | PERF_SAMPLE_BRANCH_HW_INDEX);
	EXPECT_RECORDS_ERROR(-EINVAL, RECORDS_STACK | PERF_SAMPLE_BRANCH_HW_INDEX);
	EXPECT_RECORDS_ERROR(-EINVAL, RECORDS_STACK | PERF_SAMPLE_BRANCH_ANY);
	EXPECT_RECORDS_ERROR(-EINVAL, PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY);
	EXPECT_RECORDS_ERROR(-EINVAL, PERF_SAMPLE_BRANCH_USER);
	EXPECT_RECORDS_ERROR(-EOPNOTSUPP, RECORDS_ANY | PERF_SAMPLE_BRANCH_ABORT_TX);
	EXPECT_RECORDS_ERROR(-EOPNOTSUPP, RECORDS_ANY | PERF_SAMPLE_BRANCH_HV);
}

/* The page has the records once. */
TEST_F(ebb, a_group_that_wants_other_records_is_einval)
{
	struct perf_event_attr cycles = pmu_attr_user(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES);
	int leader, fd;

	if (!has_records())
		SKIP(return, NO_RECORDS);

	self->attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	self->attr.branch_sample_type = RECORDS_ANY;
	leader = ebb_open(&self->attr, -1);
	ASSERT_LE(0, leader);
	cycles.sample_type = PERF_SAMPLE_BRANCH_STACK;
	cycles.branch_sample_type = RECORDS_ANY;
	fd = ebb_open(&cycles, leader);
	EXPECT_LE(0, fd);
	close(fd);
	cycles.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_COND;
	EXPECT_EQ(-1, ebb_open(&cycles, leader));
	EXPECT_EQ(EINVAL, errno);
	cycles.branch_sample_type = RECORDS_STACK;
	EXPECT_EQ(-1, ebb_open(&cycles, leader));
	EXPECT_EQ(EINVAL, errno);
	close(leader);
}

/* --- the library --- */

TEST_F(ebb, the_library_copies_no_more_records_than_there_are)
{
	volatile struct riscv_ebb_page *page = ebb_page();
	struct perf_branch_entry entries[RISCV_EBB_MAX_BRANCHES + 1] = { };

	EXPECT_EQ(0, ebb_branches(entries, RISCV_EBB_MAX_BRANCHES));
	for (uint64_t n = 0; n < RISCV_EBB_MAX_BRANCHES; n++)
		page->branches[n] = (struct riscv_ebb_branch){ n + 1, n + 2, 1 };
	page->nr_branches = 3;
	EXPECT_EQ(2, ebb_branches(entries, 2));
	EXPECT_EQ(0, entries[2].from);
	EXPECT_EQ(3, ebb_branches(entries, RISCV_EBB_MAX_BRANCHES));
	EXPECT_EQ(3, entries[2].from);
	EXPECT_EQ(4, entries[2].to);
	EXPECT_EQ(1, (int)entries[2].mispred);
	EXPECT_EQ(0, entries[3].from);
	page->nr_branches = -1;
	EXPECT_EQ(RISCV_EBB_MAX_BRANCHES, ebb_branches(entries, -1));
	EXPECT_EQ(0, entries[RISCV_EBB_MAX_BRANCHES].from);
}
