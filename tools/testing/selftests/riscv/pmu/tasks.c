// SPDX-License-Identifier: GPL-2.0
/*
 * Whose events are counted: a process's that runs already, its threads', its
 * children's and theirs, a CPU's, a cgroup's; wherever they run, and nobody
 * else's.
 *
 * Counts are exact only under -icount with one hart (pmu_is_exact()). But two
 * events that watch the same task are equal everywhere: they share a counter,
 * a context switch takes them off at one instant and puts them on at one
 * instant. So what a task's moves between harts might lose or count twice is
 * seen by counting it twice, in two ways.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define N		1000000L
#define MAX_CPUS	16

#define TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

struct count {
	int64_t value, enabled, running;
};

/* User only, where the hart can filter: only then is a count not disturbed by the kernel's. */
static struct perf_event_attr instructions(void)
{
	return pmu_can_filter() ? pmu_attr_user(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) :
				  pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

static int pin(pid_t pid, int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(pid, sizeof(one), &one);
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* The count, whether the times come with it or not. */
static int64_t read_value(int fd)
{
	struct count count;

	return read(fd, &count, sizeof(count)) > 0 ? count.value : -1;
}

/*
 * Until the event has counted something: a task that is on a hart may yet have
 * to wait there for long, where the host has fewer CPUs than that.
 */
static int64_t wait_counting(int fd)
{
	for (int i = 0; i < 5000 && !read_value(fd); i++)
		sleep_ms(1);
	return read_value(fd);
}

/* A child that stands still before body(arg), until SIGCONT, and dies with the test. */
static pid_t spawn_stopped(pmu_body *body, long arg)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		body(arg);
		_exit(0);
	}
	return waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) ? pid : -1;
}

static void body_spin(long arg)
{
	for (;;)
		pmu_loop(arg);
}

static pid_t spawn_spinner(void)
{
	pid_t pid = spawn_stopped(body_spin, N);

	kill(pid, SIGCONT);
	return pid;
}

static bool run_to_end(pid_t pid)
{
	int status = -1;

	kill(pid, SIGCONT);
	return waitpid(pid, &status, 0) == pid && !status;
}

/* --- one task, and all that it has made --- */

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

#define EXPECT_COUNT(n, count)				\
do {							\
	if (self->exact) {				\
		EXPECT_EQ(n, count);			\
	} else {					\
		EXPECT_LE(pmu_least(n), count);		\
	}						\
} while (0)

/* What fd has counted, and that it did so for all of the time that it was enabled. */
static int64_t read_whole(int fd)
{
	struct count count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return -1;

	return count.running && count.running == count.enabled ? count.value : -2;
}

/* From where the child was stopped to its end. */
static int64_t count_stopped(const struct perf_event_attr *attr, long arg)
{
	pid_t pid = spawn_stopped(pmu_loop, arg);
	int fd = pmu_open_on(attr, pid, -1, -1);
	int64_t count;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run_to_end(pid);
	count = read_whole(fd);
	close(fd);
	return count;
}

TEST_F(task, an_event_attached_to_another_process_counts_it_to_its_end)
{
	int64_t empty = count_stopped(&self->attr, 0);
	int64_t count = count_stopped(&self->attr, 10 * N);

	ASSERT_LE(0, empty);
	EXPECT_COUNT(10 * N, self->exact ? count - empty : count);
}

/*
 * Under -icount, 1 ns of a task's time is an instruction, the kernel's share
 * of it being a tick each 4 ms: fewer than 200 000 instructions of the
 * 4 000 000, even with KASAN and lockdep. The half that the watcher sleeps
 * through is nearly all the child's: 20 ms at the least.
 */
TEST_F(task, an_event_attached_to_a_running_process_counts_from_then_on)
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

/* Another runs for as long as a counter of 24 bits takes to wrap, then this one for longer. */
static void body_after_another(long n)
{
	pid_t pid = pmu_spawn(pmu_loop, n / 3);

	waitpid(pid, NULL, 0);
	pmu_loop(n);
}

/*
 * A narrow counter that wraps while nobody counts with it has to tell the next wrap
 * (riscv_pmu.width=24). One that is missed takes 2^24 instructions with it; fork()
 * and waitpid() are well below 100 000.
 */
TEST_F(task, an_event_loses_nothing_after_its_counter_has_run_for_others)
{
	int64_t count;
	int fd;

	if (!self->exact)
		SKIP(return, "needs -icount, one hart and filters: else the count is not known");

	fd = pmu_open(&self->attr);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(fd, 0, body_after_another, 60 * N));
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
		EXPECT_LT(0, read_whole(fd));
		close(fd);
	}
	pmu_kill(pid);
}

/*
 * Children and grandchildren: (1 + 2 + 3) arg of three children, each of whom
 * has two of 1 and 2 arg: 15 arg together.
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

/* A fresh event each time: no reset takes away what dead children have counted. */
static int64_t count_inherited(struct perf_event_attr attr, pmu_body *body, long arg)
{
	int64_t count;
	int fd;

	attr.inherit = 1;
	fd = pmu_open(&attr);
	pmu_run(fd, 0, body, arg);
	count = read_whole(fd);
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

/* What it takes the firmware to find counters for each child's event: calls, of 20 children. */
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

/* A child has what its parent's event was found to need: the firmware is not asked again. */
TEST_F(task, a_child_of_an_inherited_event_costs_no_firmware_call)
{
	if (pmu_calls_of("cfg_match") < 0)
		SKIP(return, "no riscv_pmu in debugfs, or no SBI");

	EXPECT_EQ(0, calls_of_forks(self->attr));
	if (!pmu_raw_ctrs())
		SKIP(return, "the firmware maps no raw events (rig/guest/boot --raw-events)");
	EXPECT_EQ(0, calls_of_forks(pmu_attr(PERF_TYPE_RAW, PMU_RAW(PMU_RAW_MAPPED + 3))));
}

static bool run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one);
}

static int64_t raw_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * Which counters can hold a raw event is not known while others use them on the hart where
 * it is opened. What a counter of another hart then refuses it finds on the next one: it
 * runs there all the time, and back on the first hart, too.
 */
TEST_F(task, a_raw_event_runs_on_each_hart_that_its_task_moves_to)
{
	static const uint64_t events[] = {
		PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS,
	};
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_RAW(PMU_RAW_MAPPED + 5));
	struct {
		int64_t value, enabled, running;
	} it;
	int64_t took, ran = 0;
	int fd, busy[2];

	if (!pmu_raw_ctrs() || sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "needs two harts, and raw events (rig/guest/boot --raw-events)");

	ASSERT_TRUE(run_on(0));
	for (int i = 0; i < 2; i++) {
		struct perf_event_attr other = pmu_attr_user(PERF_TYPE_HARDWARE, events[i]);

		other.disabled = 0;
		busy[i] = pmu_open_on(&other, -1, 0, -1);
		ASSERT_LE(0, busy[i]);
	}
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	/* Beside the others on the first hart, alone on the second, and alone on the first. */
	for (int i = 0; i < 3; i++) {
		ASSERT_TRUE(run_on(i % 2));
		if (i == 2) {
			close(busy[0]);
			close(busy[1]);
		}
		/* Half: other tasks may have the hart meanwhile. */
		took = raw_now();
		ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 20 * N));
		took = raw_now() - took;
		ASSERT_EQ((ssize_t)sizeof(it), read(fd, &it, sizeof(it)));
		EXPECT_EQ(it.enabled, it.running);
		EXPECT_LE(ran + took / 2, it.running);
		ran = it.running;
	}
	close(fd);
}

/* The children's share is added when they end: not before, so not twice. */
TEST_F(task, reading_an_inherited_event_again_and_again_changes_nothing)
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

static bool find_sibling(const char *name, struct program *program)
{
	char path[PATH_MAX] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return false;

	snprintf(program->file, sizeof(program->file), "%s/%s", dirname(path), name);
	program->argv[0] = program->file;
	return !access(program->file, X_OK);
}

/*
 * exec_loop.S without an argument is 5 + 1 + 2 + 3 instructions, with one
 * 5 + N + 3.
 */
TEST_F(task, an_inherited_event_goes_on_through_exec)
{
	struct program program = {};
	int64_t little, much;

	ASSERT_TRUE(find_sibling("exec_loop", &program));
	count_inherited(self->attr, body_fork_exec, (long)&program);
	little = count_inherited(self->attr, body_fork_exec, (long)&program);
	program.argv[1] = "long";
	much = count_inherited(self->attr, body_fork_exec, (long)&program);
	ASSERT_LT(0, little);
	EXPECT_COUNT(N - 1 - 2, self->exact ? much - little : much);
}

/* --- threads --- */

#define NR_THREADS	4

struct thread {
	pthread_t handle;
	pid_t tid;
	long n;
	int go;		/* end of a pipe, or -1 */
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
 * To create and to join four threads are some thousand instructions, and not
 * always the same: a thread may have ended when it is joined, or not yet.
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

/* The rest of the thread, from its read() to its end, is less than a thousand instructions. */
TEST_F(task, an_event_of_one_thread_counts_no_other)
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
	EXPECT_LE(pmu_least(5 * N), read_whole(fd));
	EXPECT_LT(0, read_whole(main_fd));
	if (self->exact) {
		EXPECT_GE(5 * N + 1000, read_whole(fd));
		EXPECT_GE(1000, read_whole(main_fd));
	}
	close(main_fd);
	close(fd);
}

/* --- a CPU and its tasks --- */

struct beside {
	pid_t pid;
	long n;
};

/* The other one runs within the window only, not where it begins and ends. */
static void body_beside(long arg)
{
	const struct beside *beside = (const struct beside *)arg;

	kill(beside->pid, SIGCONT);
	pmu_loop(beside->n);
	kill(beside->pid, SIGSTOP);
}

/* What the CPU has counted, and the two tasks have not; from 0 again. */
static int64_t take_rest(int wide, int mine, int other)
{
	int64_t rest = read_whole(wide) - read_whole(mine) - read_whole(other);

	ioctl(wide, PERF_EVENT_IOC_RESET, 0);
	ioctl(mine, PERF_EVENT_IOC_RESET, 0);
	ioctl(other, PERF_EVENT_IOC_RESET, 0);
	return rest;
}

/*
 * The CPU counts what all of its tasks do, so these two's, and no more if
 * nobody else ran: someone may, for a moment, but not in all of ten windows.
 */
TEST_F(task, a_cpu_counts_the_sum_of_its_tasks)
{
	struct beside beside = { .n = 20 * N };
	int64_t least = INT64_MAX, others = 0;
	int wide, mine, other;

	if (!self->filter)
		SKIP(return, "needs filters: else the CPU counts the kernel between tasks, too");

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
		rest = take_rest(wide, mine, other);
		least = rest < least ? rest : least;
	}
	EXPECT_EQ(0, least);
	EXPECT_LT(0, others);
	pmu_kill(beside.pid);
	close(other);
	close(mine);
	close(wide);
}

TEST_F(task, a_cpu_wide_event_beside_it_leaves_a_task_event_exact)
{
	int wide = pmu_open_on(&self->attr, -1, self->cpu, -1);
	int fd = pmu_open(&self->attr);

	ASSERT_LE(0, wide);
	ASSERT_LE(0, fd);
	pmu_count(fd, pmu_loop, 2);
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ASSERT_EQ(0, pmu_run_all(pmu_loop, 20 * N));
	EXPECT_COUNT(20 * N, read_whole(fd) - (self->exact ? PMU_WINDOW_INSNS : 0));
	EXPECT_LE(pmu_least(20 * N), read_whole(wide));
	if (self->filter)
		EXPECT_LE(read_whole(fd), read_whole(wide));
	close(fd);
	close(wide);
}

/* --- from hart to hart --- */

FIXTURE(moving) {
	struct perf_event_attr attr;
	cpu_set_t all;
	int cpus;
	int on[MAX_CPUS];	/* the task's event on each CPU */
	int whole;		/* the task's event wherever it runs */
};

FIXTURE_SETUP(moving)
{
	self->attr = instructions();
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(self->all), &self->all));
	self->cpus = CPU_COUNT(&self->all);
	if (self->cpus < 2 || self->cpus > MAX_CPUS)
		SKIP(return, "needs two CPUs, and not more than 16");
	for (int cpu = 0; cpu < self->cpus; cpu++)
		ASSERT_TRUE(CPU_ISSET(cpu, &self->all));
}

FIXTURE_TEARDOWN(moving)
{
	for (int cpu = 0; cpu < self->cpus; cpu++)
		close(self->on[cpu]);
	close(self->whole);
}

/* All are enabled while the task does not run, so that they begin together. */
static int open_moving(FIXTURE_DATA(moving) *self, pid_t pid)
{
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		self->on[cpu] = pmu_open_on(&self->attr, pid, cpu, -1);
		if (self->on[cpu] < 0)
			return self->on[cpu];
	}
	self->whole = pmu_open_on(&self->attr, pid, -1, -1);
	if (self->whole < 0)
		return self->whole;

	return prctl(PR_TASK_PERF_EVENTS_ENABLE);
}

static int64_t sum_of_cpus(FIXTURE_DATA(moving) *self)
{
	int64_t sum = 0;

	for (int cpu = 0; cpu < self->cpus; cpu++)
		sum += pmu_read(self->on[cpu]);
	return sum;
}

#define MOVES	200

static void body_move(long arg)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (int i = 0; i < MOVES; i++) {
		pin(0, i % cpus);
		pmu_loop(arg);
	}
}

/* Each CPU has its part: MOVES / cpus loops of 100 000. */
TEST_F(moving, a_task_counts_what_it_counts_on_each_hart_together)
{
	pid_t pid = spawn_stopped(body_move, N / 10);

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, open_moving(self, pid));
	ASSERT_TRUE(run_to_end(pid));
	EXPECT_LE(pmu_least(MOVES * N / 10), pmu_read(self->whole));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->whole));
	for (int cpu = 0; cpu < self->cpus; cpu++)
		EXPECT_LE(pmu_least(MOVES / self->cpus * N / 10), pmu_read(self->on[cpu]));
}

static bool push_around(pid_t pid, int cpus)
{
	int status = 0;

	for (int i = 0; !waitpid(pid, &status, WNOHANG); i++) {
		pin(pid, i % cpus);
		sleep_ms(1);
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Not where it asks for it, but in the middle of whatever it does. */
TEST_F(moving, a_task_that_is_moved_while_it_runs_loses_nothing)
{
	pid_t pid = spawn_stopped(pmu_loop, 200 * N);
	int moved = 0;

	ASSERT_LT(0, pid);
	ASSERT_EQ(0, open_moving(self, pid));
	kill(pid, SIGCONT);
	ASSERT_TRUE(push_around(pid, self->cpus));
	EXPECT_LE(pmu_least(200 * N), pmu_read(self->whole));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->whole));
	for (int cpu = 0; cpu < self->cpus; cpu++)
		moved += pmu_read(self->on[cpu]) > 0;
	EXPECT_EQ(self->cpus, moved);
}

/* --- harts that sleep --- */

/* The first state is WFI, which keeps all; the next may not. */
#define SLEEPS		"/sys/devices/system/cpu/cpu%d/cpuidle/state1/usage"
#define NAPS		20

static long naps_taken(int cpu)
{
	char path[80];

	snprintf(path, sizeof(path), SLEEPS, cpu);
	return pmu_read_number(path);
}

/* A counter that is lost in each sleep, or counts on from where it was reset. */
TEST_F(task, a_hart_that_sleeps_loses_no_count)
{
	long naps = naps_taken(self->cpu);
	int wide, fd;

	if (naps < 0)
		SKIP(return, "harts do not sleep here (cpuidle has no state1)");

	wide = pmu_open_on(&self->attr, -1, self->cpu, -1);
	fd = pmu_open(&self->attr);
	ASSERT_LE(0, wide);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(wide, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < NAPS; i++) {
		pmu_loop(N);
		sleep_ms(10);
	}
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_LE(naps + NAPS / 2, naps_taken(self->cpu));
	EXPECT_LE(pmu_least(NAPS * N), read_whole(fd));
	EXPECT_LE(read_whole(fd), read_value(wide));
	/* A turn of this loop is far less than 1 % of it. */
	if (self->exact)
		EXPECT_GE(NAPS * N + NAPS * N / 100, read_whole(fd));
	close(fd);
	close(wide);
}

/* --- harts that come and go --- */

#define ONLINE		"/sys/devices/system/cpu/cpu%d/online"
/* RISCV_PMU_HOTPLUG_ROUNDS says otherwise. */
#define ROUNDS		20
#define SAMPLE_PERIOD	100000

/*
 * A hart that stops is "stop pending" for a while (SBI, HSM extension), which
 * Linux does not wait for, and can not be started then. A second is plenty.
 */
static bool set_online(int cpu, int online)
{
	char path[64];

	snprintf(path, sizeof(path), ONLINE, cpu);
	for (int i = 0; i < 100; i++) {
		if (pmu_write_number(path, online))
			return true;
		sleep_ms(10);
	}
	return false;
}

/* To a hart that there may not be: then it stays where it is. */
static void body_move_forever(long arg)
{
	int cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (unsigned int i = getpid(); ; i++) {
		pin(0, i % cpus);
		pmu_loop(arg);
	}
}

/*
 * One for each hart that moves all the time and is sampled. What a hart loses when it
 * goes down, or counts twice when it is back, is missing from the sum of the CPUs, or
 * too much in it.
 */
struct churn {
	int workers;
	pid_t pid[MAX_CPUS];
	int sampled[MAX_CPUS];
	struct pmu_ring ring[MAX_CPUS];
};

static bool start_worker(FIXTURE_DATA(moving) *self, struct churn *churn, int i)
{
	struct perf_event_attr attr = self->attr;

	churn->pid[i] = spawn_stopped(body_move_forever, N / 10);
	attr.disabled = 0;
	attr.sample_type = PMU_RING_SAMPLE;
	attr.sample_period = SAMPLE_PERIOD;
	churn->sampled[i] = pmu_can_sample() ? pmu_open_on(&attr, churn->pid[i], -1, -1) : -1;
	return churn->pid[i] > 0 && (!pmu_can_sample() ||
	       (churn->sampled[i] >= 0 && !pmu_ring_map(&churn->ring[i], churn->sampled[i])));
}

/* All but the first, down and up; how many would not. */
static int turn_harts(int cpus)
{
	int failed = 0;

	for (int cpu = 1; cpu < cpus; cpu++)
		failed += !set_online(cpu, 0);
	for (int cpu = 1; cpu < cpus; cpu++)
		failed += !set_online(cpu, 1);
	return failed;
}

TEST_F_TIMEOUT(moving, harts_go_down_and_come_back_under_load, 600)
{
	const char *rounds = getenv("RISCV_PMU_HOTPLUG_ROUNDS");
	struct churn churn = { .workers = self->cpus };
	int failed = 0;

	for (int i = 0; i < churn.workers; i++)
		ASSERT_TRUE(start_worker(self, &churn, i));
	/* The first is counted in two ways. */
	ASSERT_EQ(0, open_moving(self, churn.pid[0]));
	for (int i = 0; i < churn.workers; i++)
		kill(churn.pid[i], SIGCONT);
	for (int i = rounds ? atoi(rounds) : ROUNDS; i && !failed; i--) {
		failed = turn_harts(self->cpus);
		for (int j = 0; j < churn.workers && pmu_can_sample(); j++)
			pmu_ring_drain(&churn.ring[j], NULL, NULL);
	}
	EXPECT_EQ(0, failed);
	for (int i = 0; i < churn.workers; i++)
		pmu_kill(churn.pid[i]);

	EXPECT_LT(0, pmu_read(self->whole));
	EXPECT_EQ(sum_of_cpus(self), pmu_read(self->whole));
	for (int i = 0; i < churn.workers && pmu_can_sample(); i++) {
		pmu_ring_drain(&churn.ring[i], NULL, NULL);
		EXPECT_LT(0, churn.ring[i].samples);
		EXPECT_FALSE(churn.ring[i].broken);
		pmu_ring_unmap(&churn.ring[i]);
		close(churn.sampled[i]);
	}
}

/* A group is on the same hart as a whole, or off. */
TEST_F(moving, the_members_of_a_group_move_together)
{
	pid_t pid = spawn_stopped(body_move, N / 10);
	int fd[3];

	ASSERT_LT(0, pid);
	for (int i = 0; i < 3; i++) {
		self->attr.disabled = !i;
		fd[i] = pmu_open_on(&self->attr, pid, -1, i ? fd[0] : -1);
		ASSERT_LE(0, fd[i]);
	}
	ASSERT_EQ(0, ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(run_to_end(pid));
	EXPECT_LE(pmu_least(MOVES * N / 10), pmu_read(fd[0]));
	EXPECT_EQ(pmu_read(fd[0]), pmu_read(fd[1]));
	EXPECT_EQ(pmu_read(fd[0]), pmu_read(fd[2]));
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		self->on[cpu] = -1;
	self->whole = -1;
}

/* --- cgroups --- */

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP		CGROUP_ROOT "/riscv-pmu"

static const char *const cgroup_paths[] = { CGROUP, CGROUP "/inner", CGROUP "-other" };

#define NR_CGROUPS	ARRAY_SIZE(cgroup_paths)

/* Indices of cgroup_paths */
enum { OUTER, INNER, OTHER };

FIXTURE(cgroup) {
	struct perf_event_attr attr;
	bool filter;
	bool exact;
	int cpu;
	int dir[NR_CGROUPS];
	pid_t outsider;		/* in no cgroup of ours; never sleeps */
};

static bool cgroup_join(const char *path, pid_t pid)
{
	char file[PATH_MAX];

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	return pmu_write_number(file, pid);
}

static bool cgroup_control(const char *sign, const char *controller)
{
	FILE *file = fopen(CGROUP_ROOT "/cgroup.subtree_control", "w");
	bool ok;

	if (!file)
		return false;

	ok = fprintf(file, "%s%s\n", sign, controller) > 0;
	return !fclose(file) && ok;
}

/*
 * perf's controller needs no enabling, but before Linux (6.12) has been told
 * to enable any other in the root, perf_event_open() of a new cgroup is ENOENT.
 */
static bool cgroup_enable_perf(void)
{
	char text[PMU_TEXT];

	pmu_read_line(CGROUP_ROOT "/cgroup.subtree_control", text);
	if (text[0])
		return true;

	pmu_read_line(CGROUP_ROOT "/cgroup.controllers", text);
	text[strcspn(text, " ")] = '\0';
	return cgroup_control("+", text) && cgroup_control("-", text);
}

static void remove_cgroups(void)
{
	rmdir(cgroup_paths[INNER]);
	rmdir(cgroup_paths[OUTER]);
	rmdir(cgroup_paths[OTHER]);
}

FIXTURE_SETUP(cgroup)
{
	/* A skipped set-up has no teardown: nothing may be changed before. */
	if (access(CGROUP_ROOT "/cgroup.procs", W_OK))
		SKIP(return, "needs cgroup2 on " CGROUP_ROOT);

	self->filter = pmu_can_filter();
	self->exact = self->filter && pmu_is_exact();
	self->attr = instructions();
	self->cpu = sched_getcpu();
	ASSERT_EQ(0, pin(0, self->cpu));
	ASSERT_TRUE(cgroup_enable_perf());
	remove_cgroups();
	for (size_t i = 0; i < NR_CGROUPS; i++) {
		ASSERT_EQ(0, mkdir(cgroup_paths[i], 0755));
		self->dir[i] = open(cgroup_paths[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ASSERT_LE(0, self->dir[i]);
	}
	self->outsider = spawn_spinner();
	ASSERT_LT(0, self->outsider);
}

FIXTURE_TEARDOWN(cgroup)
{
	pmu_kill(self->outsider);
	for (size_t i = 0; i < NR_CGROUPS; i++)
		close(self->dir[i]);
	remove_cgroups();
}

static int open_cgroup(FIXTURE_DATA(cgroup) *self, int which)
{
	long fd = syscall(__NR_perf_event_open, &self->attr, self->dir[which], self->cpu, -1,
			  PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

TEST_F(cgroup, a_cgroup_without_processes_counts_nothing)
{
	int fd = open_cgroup(self, OUTER);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, 20 * N));
	EXPECT_EQ(0, pmu_read(fd));
	close(fd);
}

struct pair {
	int64_t group;	/* counted for the cgroup */
	int64_t task;	/* counted for its only process */
};

/* A process of arg instructions in the cgroup @in, counted for the cgroup @of. */
static bool count_cgroup(FIXTURE_DATA(cgroup) *self, int in, int of, long arg, struct pair *pair)
{
	pid_t pid = spawn_stopped(pmu_loop, arg);
	bool joined = cgroup_join(cgroup_paths[in], pid);
	int group = open_cgroup(self, of);
	int task = pmu_open_on(&self->attr, pid, -1, -1);
	bool ended;

	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	ended = run_to_end(pid);
	prctl(PR_TASK_PERF_EVENTS_DISABLE);
	pair->group = pmu_read(group);
	pair->task = pmu_read(task);
	close(task);
	close(group);
	return joined && ended && group >= 0 && task >= 0;
}

/* The process takes turns with the outsider, and with the test itself. */
TEST_F(cgroup, a_cgroup_counts_its_process_and_nobody_else)
{
	struct pair empty, pair;

	ASSERT_TRUE(count_cgroup(self, OUTER, OUTER, 0, &empty));
	ASSERT_TRUE(count_cgroup(self, OUTER, OUTER, 20 * N, &pair));
	EXPECT_COUNT(20 * N, pair.group - (self->exact ? empty.group : 0));
	if (self->filter)
		EXPECT_EQ(pair.task, pair.group);
}

TEST_F(cgroup, a_cgroup_counts_those_inside_it_too)
{
	struct pair empty, pair;

	ASSERT_TRUE(count_cgroup(self, INNER, OUTER, 0, &empty));
	ASSERT_TRUE(count_cgroup(self, INNER, OUTER, 20 * N, &pair));
	EXPECT_COUNT(20 * N, pair.group - (self->exact ? empty.group : 0));
	if (self->filter)
		EXPECT_EQ(pair.task, pair.group);
}

TEST_F(cgroup, a_cgroup_counts_neither_the_one_around_it_nor_the_one_beside_it)
{
	struct pair pair;

	ASSERT_TRUE(count_cgroup(self, OUTER, INNER, 20 * N, &pair));
	EXPECT_EQ(0, pair.group);
	EXPECT_LE(pmu_least(20 * N), pair.task);
	ASSERT_TRUE(count_cgroup(self, OUTER, OTHER, 20 * N, &pair));
	EXPECT_EQ(0, pair.group);
	EXPECT_LE(pmu_least(20 * N), pair.task);
}

/*
 * While the test sleeps 40 ms, the CPU has the process and the outsider to run:
 * 20 ms for each. One may be ahead of the other by some ticks of 4 ms, so half
 * of that is asked for.
 */
TEST_F(cgroup, a_process_is_counted_while_it_is_a_member)
{
	pid_t pid = spawn_spinner();
	int fd = open_cgroup(self, OUTER);
	int64_t count;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	sleep_ms(40);
	EXPECT_EQ(0, pmu_read(fd));

	ASSERT_TRUE(cgroup_join(CGROUP, pid));
	sleep_ms(40);
	EXPECT_LT(0, wait_counting(fd));
	ASSERT_TRUE(cgroup_join(CGROUP_ROOT, pid));
	count = pmu_read(fd);
	if (self->exact)
		EXPECT_LE(10 * N, count);

	sleep_ms(40);
	EXPECT_EQ(count, pmu_read(fd));
	close(fd);
	pmu_kill(pid);
}

/* Each of the two has a task of its own; they take turns, and share the counter. */
TEST_F(cgroup, two_cgroups_with_the_same_event_each_count_their_own)
{
	static const int which[] = { OUTER, OTHER };
	int group[2], task[2];
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = spawn_stopped(pmu_loop, (i + 1) * 20 * N);
		ASSERT_TRUE(cgroup_join(cgroup_paths[which[i]], pid[i]));
		group[i] = open_cgroup(self, which[i]);
		task[i] = pmu_open_on(&self->attr, pid[i], -1, -1);
		ASSERT_LE(0, group[i]);
		ASSERT_LE(0, task[i]);
	}
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	kill(pid[0], SIGCONT);
	for (int i = 1; i >= 0; i--)
		ASSERT_TRUE(run_to_end(pid[i]));
	for (int i = 0; i < 2; i++) {
		EXPECT_LE(pmu_least((i + 1) * 20 * N), pmu_read(group[i]));
		if (self->filter)
			EXPECT_EQ(pmu_read(task[i]), pmu_read(group[i]));
		close(task[i]);
		close(group[i]);
	}
}

/* Where there is a hart that can be taken down, its firmware is called for that. */
PMU_TEST_AT_LAST(sysconf(_SC_NPROCESSORS_CONF) > 1 ? PMU_MAY_CALL : PMU_MAKES_NO_CALL)

TEST_HARNESS_MAIN
