// SPDX-License-Identifier: GPL-2.0
/* Records of harts that go down and come up again, under load. */

#define HOTPLUG_CPU	1
#define HOTPLUG_TIMES	10
#define HOTPLUG_CPUS	8

/*
 * System calls and branches, on one CPU while that is online. Without -icount, QEMU may raise the
 * interrupt of an event of user mode in the kernel, when all records are of the kernel. So the load
 * is about as long in user mode as in the kernel, even if that is compiled with KASAN.
 */
static void body_load(long cpu)
{
	move_to(cpu);
	for (;;) {
		pmu_syscall_loop(100);
		pmu_branch_loop(100000);
	}
}

/* An event of a CPU, and what its samples have. */
struct cpu_event {
	struct pmu_ring ring;
	struct seen seen;
	int fd;
};

static int open_on_cpu(const struct perf_event_attr *attr, int cpu, struct cpu_event *event)
{
	*event = (struct cpu_event){ .fd = pmu_open_on(attr, -1, cpu, -1) };

	return event->fd < 0 ? event->fd : pmu_ring_map(&event->ring, event->fd);
}

static void read_on_cpu(const struct perf_event_attr *attr, struct cpu_event *event)
{
	pmu_ring_records(&event->ring, attr, count_user_records, &event->seen);
}

/* Waits for records, up to 10 s: a host with fewer CPUs runs the guest slowly. */
static int64_t wait_for_records(const struct perf_event_attr *attr, struct cpu_event *event)
{
	int64_t before = event->seen.records;

	for (int tenths = 0; tenths < 100 && event->seen.records == before; tenths++) {
		usleep(100000);
		read_on_cpu(attr, event);
		/* QEMU 10.0.2 may have missed an overflow: see lib/record.c. */
		ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	return event->seen.records - before;
}

/*
 * @user, @kernel: the attributes of events of all CPUs. perf takes an event off its CPU for good
 * when that goes down, so the events of the CPU that comes up are opened again.
 */
static void sample_hotplug(struct __test_metadata *_metadata, const struct perf_event_attr *user,
			   const struct perf_event_attr *kernel, int cpus)
{
	struct cpu_event users[HOTPLUG_CPUS], kernels[HOTPLUG_CPUS];

	for (int cpu = 0; cpu < cpus; cpu++) {
		ASSERT_EQ(0, open_on_cpu(user, cpu, &users[cpu]));
		ASSERT_EQ(0, open_on_cpu(kernel, cpu, &kernels[cpu]));
	}
	for (int i = 0; i < HOTPLUG_TIMES; i++) {
		EXPECT_LT(0, wait_for_records(user, &users[HOTPLUG_CPU]));
		EXPECT_LT(0, wait_for_records(kernel, &kernels[HOTPLUG_CPU]));
		EXPECT_EQ(0, users[HOTPLUG_CPU].seen.kernel);
		EXPECT_LT(0, kernels[HOTPLUG_CPU].seen.kernel);
		EXPECT_TRUE(take_down(HOTPLUG_CPU));
		pmu_mapped_close(&users[HOTPLUG_CPU].ring, &users[HOTPLUG_CPU].fd);
		pmu_mapped_close(&kernels[HOTPLUG_CPU].ring, &kernels[HOTPLUG_CPU].fd);
		ASSERT_TRUE(bring_up(HOTPLUG_CPU));
		ASSERT_EQ(0, open_on_cpu(user, HOTPLUG_CPU, &users[HOTPLUG_CPU]));
		ASSERT_EQ(0, open_on_cpu(kernel, HOTPLUG_CPU, &kernels[HOTPLUG_CPU]));
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		EXPECT_LT(0, wait_for_records(user, &users[cpu]));
		EXPECT_EQ(0, users[cpu].seen.kernel);
		EXPECT_FALSE(users[cpu].ring.broken);
		EXPECT_FALSE(kernels[cpu].ring.broken);
		pmu_mapped_close(&users[cpu].ring, &users[cpu].fd);
		pmu_mapped_close(&kernels[cpu].ring, &kernels[cpu].fd);
	}
}

/* The scheduler moves the load to another CPU, so a new load is started each time. */
static pid_t spawn_load(int cpus)
{
	pid_t pid = spawn();

	if (pid)
		return pid;

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (cpu != HOTPLUG_CPU && !spawn())
			body_load(cpu);
	}
	for (;;) {
		pid = spawn();
		if (!pid)
			body_load(HOTPLUG_CPU);
		usleep(200000);
		pmu_kill(pid);
	}
}

TEST_F_TIMEOUT(branch, records_come_again_after_a_hart_was_down, 180)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct perf_event_attr kernel;
	pid_t load;

	if (!can_go_down(HOTPLUG_CPU))
		SKIP(return, "no CPU 1 that can go down");

	cpus = cpus < HOTPLUG_CPUS ? cpus : HOTPLUG_CPUS;
	self->attr.disabled = 0;
	self->attr.sample_period = 100003;
	kernel = attr_of_kernel(self);
	load = spawn_load(cpus);
	ASSERT_LT(0, load);
	sample_hotplug(_metadata, &self->attr, &kernel, cpus);
	pmu_kill(load);
}

static void body_load_moving(long cpus)
{
	for (long i = 0;; i++) {
		move_to(i % cpus);
		pmu_syscall_loop(1000);
		pmu_branch_loop(1000);
	}
}

/* An event of a task goes with it. */
TEST_F_TIMEOUT(branch, a_task_has_records_on_a_hart_that_was_down, 180)
{
	struct seen seen = {};
	pid_t pid;

	if (!can_go_down(HOTPLUG_CPU))
		SKIP(return, "no CPU 1 that can go down");

	pid = pmu_spawn(body_load_moving, sysconf(_SC_NPROCESSORS_ONLN));
	self->attr.disabled = 0;
	self->attr.sample_period = 100003;
	self->fd = pmu_open_on(&self->attr, pid, -1, -1);
	EXPECT_LE(0, self->fd);
	EXPECT_EQ(0, pmu_ring_map(&self->ring, self->fd));
	for (int i = 0; i < HOTPLUG_TIMES; i++) {
		int64_t before = seen.records;

		EXPECT_TRUE(take_down(HOTPLUG_CPU));
		EXPECT_TRUE(bring_up(HOTPLUG_CPU));
		for (int tenths = 0; tenths < 50 && seen.records == before; tenths++) {
			usleep(100000);
			pmu_ring_records(&self->ring, &self->attr, count_user_records, &seen);
		}
		EXPECT_LT(before, seen.records);
	}
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, seen.kernel);
	pmu_kill(pid);
}
