// SPDX-License-Identifier: GPL-2.0
/*
 * Several processes call perf_event_open(), and use its descriptors, at random: mostly in
 * valid ways, or nearly so. No process may hang, no event may be left, the PMU must count
 * right afterwards, and a process without privilege must not see the kernel. scripts/check looks
 * in the kernel's log for warnings.
 *
 * RISCV_PMU_FUZZ_SECONDS is the duration of each of the two tests; without it they are
 * skipped. RISCV_PMU_FUZZ_SEED replaces the new seed of the second test, which prints it:
 * each worker then does the same again, though not at the same moments.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../../../ebb/ebb.h"
#include "../../../../include/perf/riscv_pmu_read.h"
#include "../../kselftest_harness.h"
#include "lib/pmu.h"

#define N		100000L
#define FIXED_SEED	0x5eed
#define NOBODY		65534
#define CGROUPS		"/sys/fs/cgroup"
#define CGROUP		CGROUPS "/riscv-pmu-fuzz"
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
#define SYSCTL		"/proc/sys/kernel/"

/* A worker's last deed may take a while. */
#define GRACE		60

/* What a worker says that has seen an address of the kernel that it must not see. */
#define EXIT_SAW_KERNEL	77

#define NR_SLOTS	24

/* What came of it, of all workers: a fuzzer that is only refused finds nothing. */
struct tally {
	atomic_long opened, refused, mapped, sampled, recorded, read_direct, forked, hotplugged;
	atomic_long branched;
};

static struct tally *tally;

struct slot {
	int fd;
	void *page;
	size_t size;
	bool samples;		/* its ring has samples of @attr, which are known, and no others */
	bool has_head;		/* its mapping begins with struct perf_event_mmap_page */
	struct perf_event_attr attr;
};

struct worker {
	uint64_t state;
	time_t end;
	int index;
	int cpus;
	bool privileged;
	bool child;
	struct slot slot[NR_SLOTS];
};

/* A new program, of which all that matters is that it is new. */
static void __attribute__((constructor)) end_after_exec(void)
{
	if (getenv("FUZZ_EXEC"))
		_exit(0);
}

#include "fuzzing/chance.c"
#include "fuzzing/attributes.c"

static struct slot *any_slot(struct worker *w)
{
	return &w->slot[below(w, NR_SLOTS)];
}

/* --- what can be done --- */

static void do_open(struct worker *w)
{
	struct perf_event_attr attr = choose_attr(w);
	struct slot *slot = any_slot(w);
	bool cgroup = one_in(w, 16);
	unsigned long flags = one_in(w, 16) ? below(w, 32) : 0;
	int pid = 0, cpu = -1, leader = -1, dir = -1;

	if (slot->fd >= 0)
		return;
	if (one_in(w, 4))
		leader = any_slot(w)->fd;
	if (one_in(w, 6)) {
		pid = one_in(w, 2) ? -1 : getppid();
		cpu = below(w, w->cpus + 1);
	}
	if (cgroup) {
		dir = open(CGROUP, O_RDONLY | O_DIRECTORY);
		pid = dir;
		cpu = below(w, w->cpus);
		flags |= PERF_FLAG_PID_CGROUP;
	}
	slot->fd = syscall(__NR_perf_event_open, &attr, pid, cpu, leader, flags);
	atomic_fetch_add(slot->fd < 0 ? &tally->refused : &tally->opened, 1);
	slot->attr = attr;
	slot->samples = (attr.sample_type & ~PERF_SAMPLE_BRANCH_STACK) == PMU_RING_SAMPLE;
	if (dir >= 0)
		close(dir);
}

/* The upper half of the address space is the kernel's. */
static bool is_kernel(uint64_t address)
{
	return (int64_t)address < 0;
}

struct drain {
	bool privileged, excludes_kernel;
};

/* An event that excludes the kernel shows none of its branches, to whomever. */
static void check_sample(const struct pmu_record *sample, void *arg)
{
	const struct drain *drain = arg;
	bool saw = !drain->privileged && is_kernel(sample->ip);

	for (uint64_t i = 0; drain->excludes_kernel && i < sample->nr_branches; i++)
		saw |= is_kernel(sample->branches[i].from) || is_kernel(sample->branches[i].to);
	atomic_fetch_add(&tally->recorded, sample->nr_branches > 0);
	if (saw)
		_exit(EXIT_SAW_KERNEL);
}

static void drain(struct worker *w, struct slot *slot)
{
	struct pmu_ring ring = { .page = slot->page, .size = slot->size };
	struct drain drain = { w->privileged, slot->attr.exclude_kernel };

	if (!slot->page || !slot->has_head || !slot->samples ||
	    slot->size <= (size_t)sysconf(_SC_PAGESIZE))
		return;

	ring.size = slot->size - sysconf(_SC_PAGESIZE);
	pmu_ring_records(&ring, &slot->attr, check_sample, &drain);
	atomic_fetch_add(&tally->sampled, ring.samples);
}

static void do_unmap(struct slot *slot)
{
	if (slot->page)
		munmap(slot->page, slot->size);
	slot->page = NULL;
}

static void do_close(struct worker *w)
{
	struct slot *slot = any_slot(w);

	if (slot->fd < 0)
		return;

	drain(w, slot);
	/* In one order or the other. */
	if (one_in(w, 2))
		do_unmap(slot);
	close(slot->fd);
	do_unmap(slot);
	slot->fd = -1;
}

static void do_map(struct worker *w)
{
	struct slot *slot = any_slot(w);
	size_t page = sysconf(_SC_PAGESIZE), offset = one_in(w, 16) ? page * below(w, 64) : 0;
	void *at;

	if (slot->fd < 0 || slot->page)
		return;

	slot->size = one_in(w, 3) ? page : page * (1 + (1ULL << below(w, 4)));
	if (one_in(w, 16))
		slot->size = page * below(w, 8);
	/* Where it cannot be written, old records are written over: nobody drains these. */
	if (one_in(w, 4))
		slot->samples = false;
	at = mmap(NULL, slot->size, slot->samples ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
		  slot->fd, offset);
	slot->page = at == MAP_FAILED ? NULL : at;
	slot->has_head = !offset;
	atomic_fetch_add(&tally->mapped, !!slot->page);
}

static void do_ioctl(struct worker *w)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_REFRESH,
	};
	struct slot *slot = any_slot(w);
	struct perf_event_attr attr;
	uint64_t number = odd_number(w);

	switch (below(w, 14)) {
	case 0:
		ioctl(slot->fd, PERF_EVENT_IOC_PERIOD, &number);
		break;
	case 1:
		/* Another's samples in one's ring: of any form. */
		slot->samples = false;
		ioctl(slot->fd, PERF_EVENT_IOC_SET_OUTPUT, any_slot(w)->fd);
		for (int i = 0; i < NR_SLOTS; i++)
			w->slot[i].samples = false;
		break;
	case 2:
		ioctl(slot->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, (int)below(w, 2));
		break;
	case 3:
		ioctl(slot->fd, PERF_EVENT_IOC_ID, &number);
		break;
	case 4:
		ioctl(slot->fd, PERF_EVENT_IOC_SET_FILTER, "common_pid == 1");
		break;
	case 5:
		attr = choose_attr(w);
		ioctl(slot->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
		break;
	case 6:
		ioctl(slot->fd, PERF_EVENT_IOC_SET_BPF, any_slot(w)->fd);
		break;
	default:
		ioctl(slot->fd, requests[below(w, 6)], (int)below(w, 3));
	}
}

static void do_read(struct worker *w)
{
	struct slot *slot = any_slot(w);
	struct pollfd poll_fd = { .fd = slot->fd, .events = POLLIN };
	char buffer[4096];
	uint64_t count;

	switch (below(w, 5)) {
	case 0:
		poll(&poll_fd, 1, 0);
		break;
	case 1:
		drain(w, slot);
		break;
	case 2:
		if (slot->page && slot->has_head)
			atomic_fetch_add(&tally->read_direct, riscv_pmu_read(slot->page, &count));
		break;
	default:
		if (read(slot->fd, buffer, below(w, sizeof(buffer))) < 0)
			break;
	}
}

static void do_signals(struct worker *w)
{
	struct slot *slot = any_slot(w);

	fcntl(slot->fd, F_SETOWN, getpid());
	fcntl(slot->fd, F_SETSIG, one_in(w, 2) ? SIGIO : SIGUSR1);
	fcntl(slot->fd, F_SETFL, one_in(w, 2) ? O_ASYNC | O_NONBLOCK : 0);
}

static void do_move(struct worker *w)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(below(w, w->cpus), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void do_all(struct worker *w)
{
	prctl(one_in(w, 2) ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE);
}

static void do_sysctl(struct worker *w)
{
	static const struct {
		const char *name;
		int least, most;
	} sysctls[] = {
		{ SYSCTL "perf_user_access", 0, 2 },
		{ SYSCTL "perf_event_max_sample_rate", 1000, 200000 },
		{ SYSCTL "perf_cpu_time_max_percent", 0, 100 },
		{ SYSCTL "perf_event_mlock_kb", 64, 4096 },
	};
	int i = below(w, 4);

	pmu_write_number(sysctls[i].name,
			 sysctls[i].least + below(w, sysctls[i].most - sysctls[i].least + 1));
}

static void do_hotplug(struct worker *w)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 (int)(1 + below(w, w->cpus)));
	atomic_fetch_add(&tally->hotplugged, pmu_write_number(path, one_in(w, 3) ? 0 : 1));
}

static void do_cgroup(struct worker *w)
{
	char text[32];
	int fd = open(one_in(w, 2) ? CGROUP "/cgroup.procs" : CGROUPS "/cgroup.procs", O_WRONLY);

	snprintf(text, sizeof(text), "%d\n", getpid());
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		w->state ^= 1;
	close(fd);
}

#include "fuzzing/branches.c"
#include "fuzzing/records.c"

static void do_something(struct worker *w);

static void do_fork(struct worker *w)
{
	pid_t pid;

	if (w->child)
		return;

	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		w->child = true;
		alarm(5);
		/* It is not mapped here: the library has to be told. */
		ebb_close();
		w->state += 0x9e3779b97f4a7c15ULL;
		for (int n = below(w, 20); n; n--)
			do_something(w);
		if (one_in(w, 4))
			execle("/proc/self/exe", "fuzz", NULL, (char *[]){ "FUZZ_EXEC=1", NULL });
		_exit(0);
	}
	atomic_fetch_add(&tally->forked, pid > 0);
	if (pid > 0 && one_in(w, 3))
		kill(pid, SIGKILL);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void do_something(struct worker *w)
{
	unsigned int what = below(w, 100);

	if (what < 28)
		do_open(w);
	else if (what < 36)
		do_close(w);
	else if (what < 50)
		do_map(w);
	else if (what < 62)
		do_ioctl(w);
	else if (what < 76)
		do_read(w);
	else if (what < 78)
		do_signals(w);
	else if (what < 81)
		do_ebb(w);
	else if (what < 83)
		do_records(w);
	else if (what < 84)
		do_move(w);
	else if (what < 86)
		do_all(w);
	else if (what < 87 && one_in(w, 4))
		do_fork(w);
	else if (what < 88 && w->privileged)
		do_sysctl(w);
	else if (what < 89 && w->privileged)
		do_cgroup(w);
	else if (what < 90 && !w->index && one_in(w, 4))
		do_hotplug(w);
	else
		pmu_loop(below(w, N));
}

static void ignore_signal(int sig)
{
}

/*
 * A process that samples its own page faults, with a signal for each, may make no progress: Linux
 * delivers the signal before the faulting instruction is retried. So a worker may not end in time
 * without a bug of the kernel.
 */
static void end_now(int sig)
{
	_exit(0);
}

static void take_signals(void)
{
	static const int signals[] = { SIGIO, SIGUSR1, SIGTRAP, SIGPIPE };
	struct sigaction act = { .sa_handler = ignore_signal };

	for (int i = 0; i < 4; i++)
		sigaction(signals[i], &act, NULL);
	act.sa_handler = end_now;
	sigaction(SIGALRM, &act, NULL);
}

/* The worker before the last has no privilege. */
static void work(uint64_t seed, int index, int nr, time_t end)
{
	struct worker w = {
		.state = seed * 0x9e3779b97f4a7c15ULL + index + 1,
		.end = end,
		.index = index,
		.cpus = sysconf(_SC_NPROCESSORS_CONF),
		.privileged = index != nr - 1,
	};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	take_signals();
	alarm(end - time(NULL) + GRACE / 2);
	for (int i = 0; i < NR_SLOTS; i++)
		w.slot[i].fd = -1;
	if (!w.privileged && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		_exit(1);
	while (time(NULL) < end)
		do_something(&w);
	_exit(0);
}

/* --- the tests --- */

struct saved {
	const char *name;
	long value;
};

FIXTURE(fuzz) {
	struct saved saved[5];
	long seconds;
	int workers;
};

FIXTURE_SETUP(fuzz)
{
	static const char *const names[] = {
		"perf_user_access", "perf_event_max_sample_rate", "perf_cpu_time_max_percent",
		"perf_event_mlock_kb", "perf_event_paranoid",
	};
	const char *seconds = getenv("RISCV_PMU_FUZZ_SECONDS");

	if (!seconds)
		SKIP(return, "RISCV_PMU_FUZZ_SECONDS does not say for how long");

	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)tally);
	self->seconds = atol(seconds);
	self->workers = sysconf(_SC_NPROCESSORS_CONF) + 1;
	for (int i = 0; i < 5; i++) {
		char path[64];

		snprintf(path, sizeof(path), SYSCTL "%s", names[i]);
		self->saved[i] = (struct saved){ names[i], pmu_read_number(path) };
	}
	ASSERT_TRUE(pmu_write_number(SYSCTL "perf_event_paranoid", 2));
	mkdir(CGROUP, 0755);
}

FIXTURE_TEARDOWN(fuzz)
{
	char path[64];

	for (int i = 0; self->seconds && i < 5; i++) {
		snprintf(path, sizeof(path), SYSCTL "%s", self->saved[i].name);
		/* In this order: the percentage refuses some rates. */
		pmu_write_number(path, self->saved[i].value);
	}
	for (int cpu = 1; self->seconds && cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
		pmu_write_number(path, 1);
	}
	rmdir(CGROUP);
}

/* Its status; that of a kill, if it has not ended GRACE seconds after it should have. */
static int wait_for(pid_t pid, time_t end)
{
	int status = -1;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (time(NULL) > end + GRACE)
			kill(pid, SIGKILL);
		usleep(10000);
	}
	return status;
}

/* Statuses of all workers, or'ed. */
static int run_workers(uint64_t seed, int workers, long seconds)
{
	time_t end = time(NULL) + seconds;
	pid_t pid[64];
	int all = 0;

	for (int i = 0; i < workers; i++) {
		pid[i] = fork();
		if (!pid[i])
			work(seed, i, workers, end);
	}
	for (int i = 0; i < workers; i++)
		all |= wait_for(pid[i], end);
	return all;
}

static void kmemleak(const char *command)
{
	int fd = open(KMEMLEAK, O_WRONLY);

	if (fd >= 0 && write(fd, command, strlen(command)) < 0)
		perror(KMEMLEAK);
	close(fd);
}

/* The first line of what has leaked, or "". What was just freed late takes a second look. */
static const char *find_leaks(char text[PMU_TEXT])
{
	kmemleak("scan");
	if (pmu_read_line(KMEMLEAK, text)) {
		sleep(6);
		kmemleak("scan");
		pmu_read_line(KMEMLEAK, text);
	}
	return text;
}

/* The PMU still counts what it is asked to. */
static int64_t count_again(void)
{
	struct perf_event_attr attr = pmu_attr_best(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd = pmu_open(&attr);
	int64_t count = fd < 0 ? fd : pmu_count(fd, pmu_loop, 10 * N);

	close(fd);
	return count;
}

#define EXPECT_SURVIVES(seed)							\
do {										\
	char leaks[PMU_TEXT];							\
										\
	TH_LOG("RISCV_PMU_FUZZ_SEED=%#llx", (unsigned long long)(seed));	\
	kmemleak("clear");							\
	EXPECT_EQ(0, run_workers(seed, self->workers, self->seconds));		\
	/* With 2 the driver has events of its own. */				\
	pmu_write_number(SYSCTL "perf_user_access", 1);				\
	TH_LOG("opened %ld, refused %ld, mapped %ld, forked %ld",		\
	       tally->opened, tally->refused, tally->mapped, tally->forked);	\
	TH_LOG("samples %ld, with branch records %ld, event-based branches %ld", \
	       tally->sampled, tally->recorded, tally->branched);		\
	TH_LOG("direct reads %ld, harts down or up %ld",			\
	       tally->read_direct, tally->hotplugged);				\
	EXPECT_LT(0, tally->opened);						\
	EXPECT_LT(0, tally->refused);						\
	EXPECT_LT(0, tally->mapped);						\
	EXPECT_EQ(!access("/dev/riscv_ebb", F_OK), tally->branched > 0);	\
	EXPECT_EQ(pmu_caps_number("branches") > 0, tally->recorded > 0);	\
	EXPECT_LE(pmu_least(10 * N), count_again());				\
	EXPECT_EQ(0, pmu_events_left());					\
	EXPECT_STREQ("", find_leaks(leaks));					\
} while (0)

TEST_F_TIMEOUT(fuzz, the_same_as_always, 3600)
{
	EXPECT_SURVIVES(FIXED_SEED);
}

TEST_F_TIMEOUT(fuzz, something_new, 3600)
{
	const char *seed = getenv("RISCV_PMU_FUZZ_SEED");

	uint64_t number = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) << 20 | getpid();

	EXPECT_SURVIVES(number);
}

PMU_TEST_NO_EVENT_LEFT(PMU_MAY_CALL_SBI)

TEST_HARNESS_MAIN
