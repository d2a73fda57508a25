// SPDX-License-Identifier: GPL-2.0
/*
 * false-sharing-guest count|sample|move: on each hart, run a task that has its own events
 * and sleeps and wakes, for the trace of scripts/check/false-sharing. With "move", the tasks
 * also move from hart to hart.
 *
 * A read of caps/backend begins and ends the trace.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MARK		"/sys/bus/event_source/devices/cpu/caps/backend"
#define PERIOD		100000
#define RING_SIZE	(9 * 4096)
#define TLB_READ_MISSES(which) \
	(PERF_COUNT_HW_CACHE_##which | PERF_COUNT_HW_CACHE_OP_READ << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

static const struct {
	__u32 type;
	__u64 config;
} events[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ PERF_TYPE_HW_CACHE, TLB_READ_MISSES(DTLB) },
	{ PERF_TYPE_HW_CACHE, TLB_READ_MISSES(ITLB) },
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void open_event(int i, bool sampling)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = events[i].type,
		.config = events[i].config,
		.sample_period = sampling ? PERIOD : 0,
		.sample_type = PERF_SAMPLE_IP,
	};
	int fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		fail("perf_event_open");
	/* The buffer is never read: when it is full, the kernel drops samples. */
	if (sampling && mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED)
		fail("mmap");
}

/* Number of sleeps of each task; on a busy host, some harts start late. */
static volatile long *rounds;

static void work(int cpu, int cpus, const char *how)
{
	int task = cpu;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(cpu);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		open_event(i, !strcmp(how, "sample"));
	for (;;) {
		for (int spin = 0; spin < 20000; spin++)
			__asm__ volatile("");
		usleep(5000);
		rounds[task]++;
		if (!strcmp(how, "move"))
			run_on(++cpu % cpus);
	}
}

static void mark(void)
{
	char text[32];
	int fd = open(MARK, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text)) < 1)
		fail(MARK);
	close(fd);
}

static void await_rounds(int tasks, long more)
{
	for (int task = 0; task < tasks; task++) {
		long enough = rounds[task] + more;

		while (rounds[task] < enough)
			usleep(10000);
	}
}

int main(int argc, char **argv)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (argc != 2)
		return 2;

	rounds = mmap(NULL, cpus * sizeof(*rounds), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rounds == MAP_FAILED)
		fail("mmap");
	for (int cpu = 0; cpu < cpus; cpu++) {
		pid_t pid = fork();

		if (pid < 0)
			fail("fork");
		if (!pid)
			work(cpu, cpus, argv[1]);
	}
	await_rounds(cpus, 20);
	mark();
	await_rounds(cpus, 20);
	mark();
	return 0;
}
