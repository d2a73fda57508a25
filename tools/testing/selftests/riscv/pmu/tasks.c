// SPDX-License-Identifier: GPL-2.0
/*
 * Which instructions an event of a task counts: those of a process that is already running, of its
 * threads, its children and their children, through fork(), exec() and exit. Also tests which
 * instructions of its tasks a CPU-wide event counts.
 *
 * Counts are exact only under -icount with one hart (pmu_is_exact()).
 */

#define _GNU_SOURCE
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/watch.h"

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* --- one task, its children and programs --- */

FIXTURE(task) {
	struct perf_event_attr attr;
	bool filter;
	bool exact;
	int cpu;
};

FIXTURE_SETUP(task)
{
	self->filter = pmu_can_filter();
	self->exact = self->filter && pmu_is_exact();
	self->attr = instructions();
	self->attr.read_format = TIMES;
	self->cpu = sched_getcpu();
	ASSERT_EQ(0, pin(0, self->cpu));
}

FIXTURE_TEARDOWN(task)
{
}

/* Returns the count of a child that runs @arg instructions, from SIGCONT to its end. */
static int64_t count_stopped(const struct perf_event_attr *attr, long arg)
{
	pid_t pid = spawn_stopped(pmu_loop, arg);
	int fd = pmu_open_on(attr, pid, -1, -1);
	int64_t count;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run_to_end(pid);
	count = read_full_time(fd);
	close(fd);
	return count;
}

TEST_F(task, an_event_counts_another_process_to_its_end)
{
	int64_t empty = count_stopped(&self->attr, 0);
	int64_t count = count_stopped(&self->attr, 10 * N);

	ASSERT_LE(0, empty);
	EXPECT_COUNT(10 * N, self->exact ? count - empty : count);
}

/*
 * Under -icount a task executes one instruction in 1 ns. The kernel takes a part of that time at
 * each tick of 4 ms: fewer than 200 000 of 4 000 000 instructions, even with KASAN and lockdep.
 * While this task sleeps for 40 ms, the child gets nearly all of the time; the test expects 20 ms.
 */
TEST_F(task, an_event_of_a_running_process_counts_from_its_enable)
{
	pid_t pid = spawn_spinner();
	int fd = pmu_open_on(&self->attr, pid, -1, -1);
	struct count count;
	int64_t last;

	ASSERT_LE(0, fd);
	sleep_ms(10);
	EXPECT_EQ(0, read_value(fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	sleep_ms(40);
	EXPECT_LT(0, wait_counting(fd));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	ASSERT_EQ((ssize_t)sizeof(count), read(fd, &count, sizeof(count)));
	EXPECT_LT(0, count.running);
	EXPECT_EQ(count.enabled, count.running);
	if (self->exact) {
		EXPECT_LE(20 * N, count.running);
		EXPECT_GE(count.running, count.value);
		EXPECT_LE(count.running / 100 * 95, count.value);
	}
	last = count.value;
	sleep_ms(10);
	EXPECT_EQ(last, read_value(fd));
	close(fd);
	pmu_kill(pid);
}

/*
 * A child runs for longer than a counter of 24 bits takes to overflow; then the task itself runs
 * for longer than that.
 */
static void body_after_child(long n)
{
	pid_t pid = pmu_spawn(pmu_loop, n / 3);

	waitpid(pid, NULL, 0);
	pmu_loop(n);
}

/*
 * A narrow counter (riscv_pmu.width=24) that has overflowed while no event used it must still
 * interrupt at its next overflow. A missed overflow loses 2^24 instructions; fork() and waitpid()
 * take far fewer than 100 000.
 */
TEST_F(task, an_event_is_exact_after_its_counter_ran_for_another_task)
{
	int64_t count;
	int fd;

	if (!self->exact)
		SKIP(return, "needs -icount, one hart and filters: else the count is not known");

	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(fd, 0, body_after_child, 60 * N));
	count = read_value(fd);
	EXPECT_LE(60 * N, count);
	EXPECT_GE(60 * N + 100000, count);
	close(fd);
}

TEST_F(task, an_event_can_be_closed_while_its_task_runs)
{
	pid_t pid = spawn_spinner();

	for (int i = 0; i < 20; i++) {
		int fd = pmu_open_on(&self->attr, pid, -1, -1);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
		EXPECT_LT(0, wait_counting(fd));
		EXPECT_LT(0, read_full_time(fd));
		close(fd);
	}
	pmu_kill(pid);
}

/*
 * Three children execute (1 + 2 + 3) * arg instructions. Each of them has two children, which
 * execute arg and 2 * arg instructions: 15 * arg in total.
 */
static void body_child(long arg)
{
	pmu_loop(arg);
}

static void body_grandparent(long arg)
{
	pid_t pid[2];

	for (int i = 0; i < 2; i++)
		pid[i] = pmu_spawn(body_child, (i + 1) * arg);
	for (int i = 0; i < 2; i++)
		waitpid(pid[i], NULL, 0);
}

struct family {
	long child;
	long grandchild;
};

static void body_parent(long arg)
{
	const struct family *family = (const struct family *)arg;

	pmu_loop(family->child);
	body_grandparent(family->grandchild);
}

static void body_family(long arg)
{
	struct family family[3];
	pid_t pid[3];

	for (int i = 0; i < 3; i++) {
		family[i] = (struct family){ .child = (i + 1) * arg, .grandchild = arg };
		pid[i] = pmu_spawn(body_parent, (long)&family[i]);
	}
	for (int i = 0; i < 3; i++)
		waitpid(pid[i], NULL, 0);
}

#define FAMILY	(1 + 2 + 3 + 3 * (1 + 2))

/*
 * Returns the count of a new inherited event for body(arg). A reset would not be enough, because it
 * does not reset what children that have exited have counted.
 */
static int64_t count_inherited(struct perf_event_attr attr, pmu_body *body, long arg)
{
	int64_t count;
	int fd;

	attr.inherit = 1;
	fd = pmu_open(&attr);
	pmu_run(fd, 0, body, arg);
	count = read_full_time(fd);
	close(fd);
	return count;
}

TEST_F(task, an_inherited_event_counts_children_and_grandchildren)
{
	int64_t empty, count;

	count_inherited(self->attr, body_family, 0);
	empty = count_inherited(self->attr, body_family, 0);
	count = count_inherited(self->attr, body_family, N);
	ASSERT_LE(0, empty);
	EXPECT_COUNT(FAMILY * N, self->exact ? count - empty : count);
}

#define FORKS	20

/*
 * Returns how many firmware calls FORKS children of a task with an inherited event cause to find
 * counters, or -errno.
 */
static long calls_of_forks(struct perf_event_attr attr)
{
	long before;
	int fd;

	attr.inherit = 1;
	attr.disabled = 0;
	fd = pmu_open(&attr);
	if (fd < 0)
		return fd;

	before = pmu_calls_of("cfg_match") + pmu_calls_of("stop");
	for (int i = 0; i < FORKS; i++)
		waitpid(pmu_spawn(body_child, 0), NULL, 0);
	before -= pmu_calls_of("cfg_match") + pmu_calls_of("stop");
	close(fd);
	return -before;
}

/*
 * The driver copies to the child's event which counters can count the parent's event, so it needs
 * no firmware calls to find that out again.
 */
TEST_F(task, a_child_of_an_inherited_event_needs_no_firmware_calls)
{
	if (pmu_calls_of("cfg_match") < 0)
		SKIP(return, "no riscv_pmu in debugfs, or no SBI");

	EXPECT_EQ(0, calls_of_forks(self->attr));
	if (!pmu_raw_ctrs())
		SKIP(return, "the firmware maps no raw events (scripts/guest/boot --raw-events)");
	EXPECT_EQ(0, calls_of_forks(pmu_attr(PERF_TYPE_RAW, PMU_RAW(PMU_RAW_MAPPED + 3))));
}

/* perf adds a child's count when the child exits, and only once. */
TEST_F(task, reading_an_inherited_event_does_not_change_its_count)
{
	int64_t count;
	int fd;

	self->attr.inherit = 1;
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(fd, 0, body_family, N));
	count = read_value(fd);
	EXPECT_LE(pmu_least(FAMILY * N), count);
	for (int i = 0; i < 10; i++)
		EXPECT_EQ(count, read_value(fd));
	close(fd);
}

struct program {
	char file[PATH_MAX + 32];
	char *argv[3];
};

static void body_exec(long arg)
{
	struct program *program = (struct program *)arg;

	execv(program->file, program->argv);
}

static void body_fork_exec(long arg)
{
	waitpid(pmu_spawn(body_exec, arg), NULL, 0);
}

static bool find_program(const char *name, struct program *program)
{
	char path[PATH_MAX] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return false;

	snprintf(program->file, sizeof(program->file), "%s/%s", dirname(path), name);
	program->argv[0] = program->file;
	return !access(program->file, X_OK);
}

/* exec_loop.S executes 5 + 1 + 2 + 3 instructions without an argument, and 5 + N + 3 with one. */
TEST_F(task, an_inherited_event_still_counts_after_exec)
{
	struct program program = {};
	int64_t without_arg, with_arg;

	ASSERT_TRUE(find_program("exec_loop", &program));
	count_inherited(self->attr, body_fork_exec, (long)&program);
	without_arg = count_inherited(self->attr, body_fork_exec, (long)&program);
	program.argv[1] = "long";
	with_arg = count_inherited(self->attr, body_fork_exec, (long)&program);
	ASSERT_LT(0, without_arg);
	EXPECT_COUNT(N - 1 - 2, self->exact ? with_arg - without_arg : with_arg);
}

/* --- threads --- */

#define NR_THREADS	4

struct thread {
	pthread_t handle;
	pid_t tid;
	long n;
	int go;		/* pipe from which the thread reads a byte before it starts, or -1 */
};

static void *thread_loop(void *arg)
{
	struct thread *thread = arg;
	char byte;

	__atomic_store_n(&thread->tid, gettid(), __ATOMIC_RELEASE);
	if (thread->go >= 0 && read(thread->go, &byte, 1) != 1)
		return NULL;
	pmu_loop(thread->n);
	return NULL;
}

static void body_threads(long arg)
{
	struct thread thread[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++) {
		thread[i] = (struct thread){ .n = (i + 1) * arg, .go = -1 };
		pthread_create(&thread[i].handle, NULL, thread_loop, &thread[i]);
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(thread[i].handle, NULL);
}

/*
 * Creating and joining four threads takes some thousand instructions. Their number varies, because
 * a thread may or may not have ended when it is joined.
 */
TEST_F(task, an_inherited_event_counts_all_threads_once)
{
	const int64_t all = (1 + 2 + 3 + 4) * N;
	int64_t count;

	count_inherited(self->attr, body_threads, 0);
	count = count_inherited(self->attr, body_threads, N);
	EXPECT_LE(pmu_least(all), count);
	if (self->exact)
		EXPECT_GE(all + 20000, count);
}

static void body_start_and_join(long arg)
{
	struct thread *thread = (struct thread *)arg;

	if (write(thread->go, "", 1) == 1)
		pthread_join(thread->handle, NULL);
}

static pid_t wait_tid(struct thread *thread)
{
	while (!__atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	return thread->tid;
}

/* Apart from its loop, the thread executes fewer than a thousand instructions after its read(). */
TEST_F(task, an_event_of_one_thread_counts_no_other_thread)
{
	struct thread thread = { .n = 5 * N };
	struct thread starter;
	int go[2], main_fd, fd;

	ASSERT_EQ(0, pipe(go));
	thread.go = go[0];
	ASSERT_EQ(0, pthread_create(&thread.handle, NULL, thread_loop, &thread));
	starter = (struct thread){ .handle = thread.handle, .go = go[1] };
	fd = pmu_open_on(&self->attr, wait_tid(&thread), -1, -1);
	main_fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, main_fd);
	ASSERT_EQ(0, pmu_run_all(body_start_and_join, (long)&starter));
	EXPECT_LE(pmu_least(5 * N), read_full_time(fd));
	EXPECT_LT(0, read_full_time(main_fd));
	if (self->exact) {
		EXPECT_GE(5 * N + 1000, read_full_time(fd));
		EXPECT_GE(1000, read_full_time(main_fd));
	}
	close(main_fd);
	close(fd);
}

/* --- a CPU and its tasks --- */

struct beside {
	pid_t pid;
	long n;
};

/* The other task runs only inside the window, not at its start and end. */
static void body_beside(long arg)
{
	const struct beside *beside = (const struct beside *)arg;

	kill(beside->pid, SIGCONT);
	pmu_loop(beside->n);
	kill(beside->pid, SIGSTOP);
}

/* Returns what the CPU has counted and the two tasks have not, and resets all three events. */
static int64_t read_rest_and_reset(int wide, int mine, int other)
{
	int64_t rest = read_full_time(wide) - read_full_time(mine) - read_full_time(other);

	ioctl(wide, PERF_EVENT_IOC_RESET, 0);
	ioctl(mine, PERF_EVENT_IOC_RESET, 0);
	ioctl(other, PERF_EVENT_IOC_RESET, 0);
	return rest;
}

/*
 * A CPU-wide event counts all tasks of its CPU. If no other task runs, its count is the sum of the
 * counts of these two tasks. Another task may run for a moment, but not in each of ten windows.
 */
TEST_F(task, a_cpu_counts_the_sum_of_its_tasks)
{
	struct beside beside = { .n = 20 * N };
	int64_t least = INT64_MAX, others = 0;
	int wide, mine, other;

	if (!self->filter)
		SKIP(return, "needs filters: else the CPU-wide event counts the kernel, too");

	beside.pid = spawn_stopped(body_spin, N);
	ASSERT_LT(0, beside.pid);
	wide = pmu_open_on(&self->attr, -1, self->cpu, -1);
	mine = pmu_open(&self->attr);
	other = pmu_open_on(&self->attr, beside.pid, -1, -1);
	ASSERT_LE(0, wide);
	ASSERT_LE(0, mine);
	ASSERT_LE(0, other);
	for (int i = 0; i < 10; i++) {
		int64_t rest;

		ASSERT_EQ(0, pmu_run_all(body_beside, (long)&beside));
		EXPECT_LE(pmu_least(20 * N), read_value(mine));
		others += read_value(other);
		rest = read_rest_and_reset(wide, mine, other);
		least = rest < least ? rest : least;
	}
	EXPECT_EQ(0, least);
	EXPECT_LT(0, others);
	pmu_kill(beside.pid);
	close(other);
	close(mine);
	close(wide);
}

TEST_F(task, a_task_event_is_exact_while_a_cpu_wide_event_counts)
{
	int wide = pmu_open_on(&self->attr, -1, self->cpu, -1);
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, wide);
	ASSERT_LE(0, fd);
	pmu_count(fd, pmu_loop, 2);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ASSERT_EQ(0, pmu_run_all(pmu_loop, 20 * N));
	EXPECT_COUNT(20 * N, read_full_time(fd) - (self->exact ? PMU_WINDOW_INSNS : 0));
	EXPECT_LE(pmu_least(20 * N), read_full_time(wide));
	if (self->filter)
		EXPECT_LE(read_full_time(fd), read_full_time(wide));
	close(fd);
	close(wide);
}

/* --- harts in idle states --- */

/* Idle state 0 is WFI, which keeps the counters. The next state may lose them. */
#define IDLE_USAGE		"/sys/devices/system/cpu/cpu%d/cpuidle/state1/usage"
#define IDLE_TIMES		20

static long idle_usage(int cpu)
{
	char path[80];

	snprintf(path, sizeof(path), IDLE_USAGE, cpu);
	return pmu_read_number(path);
}

/* A hart may lose its counters in an idle state; the counts of the events must not change. */
TEST_F(task, counts_are_kept_in_idle_states)
{
	long usage = idle_usage(self->cpu);
	int wide, fd;

	if (usage < 0)
		SKIP(return, "the hart has no deeper idle state (cpuidle has no state1)");

	wide = pmu_open_on(&self->attr, -1, self->cpu, -1);
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, wide);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(wide, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < IDLE_TIMES; i++) {
		pmu_loop(N);
		sleep_ms(10);
	}
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_LE(usage + IDLE_TIMES / 2, idle_usage(self->cpu));
	EXPECT_LE(pmu_least(IDLE_TIMES * N), read_full_time(fd));
	EXPECT_LE(read_full_time(fd), read_value(wide));
	/* The code of this loop, apart from pmu_loop(), is far less than 1 % of it. */
	if (self->exact)
		EXPECT_GE(IDLE_TIMES * N + IDLE_TIMES * N / 100, read_full_time(fd));
	close(fd);
	close(wide);
}

/* With several harts, firmware calls are allowed as in migration.c, which takes harts offline. */
PMU_TEST_NO_EVENT_LEFT(sysconf(_SC_NPROCESSORS_CONF) > 1 ? PMU_MAY_CALL_SBI : PMU_CALLS_NO_SBI)

TEST_HARNESS_MAIN
