// SPDX-License-Identifier: GPL-2.0
/* The records of a task never have a branch of another task that ran before it on the hart. */

/* Iterations of a loop before its task sleeps: more branches than the smallest depth. */
#define TASK_TURNS	20
#define EXCHANGES	(self->exact ? 3000L : 2000L)
/*
 * About three switches are in a period: samples are taken soon after some of them. If interrupts
 * are late, a longer period gives as many samples.
 */
#define TASK_PERIOD	(self->exact ? 499 : 5003)

struct peer {
	pmu_body *body;
	const void *begin, *end;	/* where body() is, the code that only this task executes */
	int in, out;
	long exchanges;
	bool first;
	pid_t pid;
};

static void exchange(const struct peer *peer)
{
	char byte = 0;

	for (long i = 0; i < peer->exchanges; i++) {
		if ((i || !peer->first) && read(peer->in, &byte, 1) != 1)
			_exit(1);
		peer->body(TASK_TURNS);
		if (write(peer->out, &byte, 1) != 1)
			_exit(1);
	}
}

static pid_t spawn_peer(const struct peer *peer)
{
	pid_t pid = spawn();

	if (!pid) {
		raise(SIGSTOP);
		exchange(peer);
		_exit(0);
	}
	return pid > 0 && wait_stopped(pid) ? pid : -1;
}

/* Two tasks that take turns on the CPU of this one. */
static int prepare_peers(struct peer peer[2], long exchanges)
{
	int to_0[2], to_1[2];

	move_to(sched_getcpu());
	if (pipe(to_0) || pipe(to_1))
		return -errno;

	peer[0] = (struct peer){
		.body = pmu_branch_a, .begin = pmu_branch_a, .end = pmu_branch_a_end,
		.in = to_0[0], .out = to_1[1], .exchanges = exchanges, .first = true,
	};
	peer[1] = (struct peer){
		.body = pmu_branch_b, .begin = pmu_branch_b, .end = pmu_branch_b_end,
		.in = to_1[0], .out = to_0[1], .exchanges = exchanges,
	};
	return 0;
}

/* The tasks are stopped. */
static void spawn_peers(struct __test_metadata *_metadata, struct peer peer[2], long exchanges)
{
	ASSERT_EQ(0, prepare_peers(peer, exchanges));
	for (int i = 0; i < 2; i++) {
		peer[i].pid = spawn_peer(&peer[i]);
		ASSERT_LT(0, peer[i].pid);
	}
}

static bool run_peers(const struct peer peer[2])
{
	bool ok = !kill(peer[0].pid, SIGCONT);

	ok &= !kill(peer[1].pid, SIGCONT);
	ok &= wait_ended(peer[0].pid);
	return ok & wait_ended(peer[1].pid);
}

static bool is_of(const struct peer *peer, uint64_t address)
{
	return is_in(address, peer->begin, peer->end);
}

struct task_check {
	const struct peer *own, *other;
	int64_t own_records, foreign_records;
};

static void check_task(const struct pmu_record *record, void *arg)
{
	struct task_check *check = arg;

	for (uint64_t i = 0; i < record->nr_branches; i++) {
		const struct perf_branch_entry *entry = &record->branches[i];

		check->own_records += is_of(check->own, entry->from);
		check->foreign_records += is_of(check->other, entry->from) ||
					  is_of(check->other, entry->to);
	}
}

/* Samples some of the tasks, each with an event of its own. */
static void sample_peers(struct __test_metadata *_metadata, FIXTURE_DATA(branch) *self, int nr)
{
	struct task_check check[2];
	struct pmu_ring ring[2];
	struct peer peer[2];
	int fd[2];

	spawn_peers(_metadata, peer, EXCHANGES);
	self->attr.sample_period = TASK_PERIOD;
	self->attr.disabled = 0;
	for (int i = 0; i < nr; i++) {
		check[i] = (struct task_check){ .own = &peer[i], .other = &peer[!i] };
		fd[i] = pmu_open_on(&self->attr, peer[i].pid, -1, -1);
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, pmu_ring_map_pages(&ring[i], fd[i], RING_PAGES));
	}
	EXPECT_TRUE(run_peers(peer));
	for (int i = 0; i < nr; i++) {
		pmu_ring_records(&ring[i], &self->attr, check_task, &check[i]);
		EXPECT_FALSE(ring[i].broken);
		EXPECT_LE(self->exact ? 100 : 1, ring[i].samples);
		EXPECT_LT(0, check[i].own_records);
		EXPECT_EQ(0, check[i].foreign_records);
		pmu_mapped_close(&ring[i], &fd[i]);
	}
}

TEST_F_TIMEOUT(branch, the_records_of_two_tasks_do_not_mix, 120)
{
	sample_peers(_metadata, self, 2);
}

TEST_F_TIMEOUT(branch, a_task_without_events_leaves_no_records_for_the_next, 120)
{
	sample_peers(_metadata, self, 1);
}

/* The samples of a CPU, by task. */
struct cpu_check {
	struct task_check task[2];
	int64_t samples[2];
};

static void check_cpu(const struct pmu_record *record, void *arg)
{
	struct cpu_check *check = arg;

	for (int i = 0; i < 2; i++) {
		if ((pid_t)record->pid != check->task[i].own->pid)
			continue;
		check->samples[i]++;
		check_task(record, &check->task[i]);
	}
}

static void sample_cpu(struct __test_metadata *_metadata, FIXTURE_DATA(branch) *self)
{
	struct cpu_check check = {};
	struct peer peer[2];

	spawn_peers(_metadata, peer, EXCHANGES);
	for (int i = 0; i < 2; i++)
		check.task[i] = (struct task_check){ .own = &peer[i], .other = &peer[!i] };
	self->attr.sample_type |= PERF_SAMPLE_TID;
	self->attr.disabled = 0;
	self->fd = pmu_open_on(&self->attr, -1, sched_getcpu(), -1);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pmu_ring_map_pages(&self->ring, self->fd, RING_PAGES));
	EXPECT_TRUE(run_peers(peer));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	pmu_ring_records(&self->ring, &self->attr, check_cpu, &check);
	EXPECT_FALSE(self->ring.broken);
	for (int i = 0; i < 2; i++) {
		EXPECT_LE(self->exact ? 100 : 0, check.samples[i]);
		EXPECT_EQ(0, check.task[i].foreign_records);
	}
	EXPECT_LT(0, check.task[0].own_records + check.task[1].own_records);
}

TEST_F_TIMEOUT(branch, a_cpu_wide_sample_has_records_of_its_task_only, 120)
{
	self->attr.sample_period = TASK_PERIOD;
	sample_cpu(_metadata, self);
}

/* The period counts the kernel's instructions, too, those of the switches for example. */
TEST_F_TIMEOUT(branch, a_cpu_wide_sample_of_both_modes_has_records_of_its_task_only, 120)
{
	SKIP_IF_LATE();
	self->attr.exclude_kernel = 0;
	self->attr.branch_sample_type = B_USER | B_KERNEL | B_ANY;
	self->attr.sample_period = 9973;
	sample_cpu(_metadata, self);
}

static void body_exchange(long peer)
{
	exchange((const struct peer *)peer);
}

/* A task's child has the event of its parent, and records of its own. */
TEST_F_TIMEOUT(branch, an_inherited_event_has_records_of_its_task_only, 120)
{
	struct cpu_check check = {};
	struct peer peer[2];
	pid_t pid;

	ASSERT_EQ(0, prepare_peers(peer, EXCHANGES));
	self->attr.inherit = 1;
	self->attr.sample_period = TASK_PERIOD;
	self->attr.sample_type |= PERF_SAMPLE_TID;
	self->fd = pmu_open_on(&self->attr, 0, sched_getcpu(), -1);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pmu_ring_map_pages(&self->ring, self->fd, RING_PAGES));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	pid = pmu_spawn(body_exchange, (long)&peer[1]);
	ASSERT_LT(0, pid);
	exchange(&peer[0]);
	EXPECT_TRUE(wait_ended(pid));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_DISABLE, 0));
	peer[0].pid = getpid();
	peer[1].pid = pid;
	for (int i = 0; i < 2; i++)
		check.task[i] = (struct task_check){ .own = &peer[i], .other = &peer[!i] };
	pmu_ring_records(&self->ring, &self->attr, check_cpu, &check);
	EXPECT_FALSE(self->ring.broken);
	for (int i = 0; i < 2; i++) {
		EXPECT_LE(self->exact ? 100 : 0, check.samples[i]);
		EXPECT_EQ(0, check.task[i].foreign_records);
	}
	EXPECT_LT(0, check.task[0].own_records + check.task[1].own_records);
}
