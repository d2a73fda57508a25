// SPDX-License-Identifier: GPL-2.0
/*
 * Measures the costs of the PMU in instructions: prints "NAME VALUE" for each measurement.
 *
 * With -icount shift=0 and one hart a nanosecond is an instruction of user mode,
 * the kernel or the firmware. So a clock suffices to count them, and the program
 * uses no interface of the driver except perf_event_open().
 *
 * Each measurement runs in a new process, so that it does not affect the next;
 * it is repeated, and the smallest result counts.
 *
 * bench-guest [--few] [PREFIX...]: only make measurements whose names begin with a PREFIX; with
 * --few not those with 2 and 6 events, which the check of scripts/bench/run omits to save time. scripts/bench/run
 * boots the guest with sysctls that lift the limits of the sample rate.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MAX_EVENTS	24
#define REPEATS		5
#define RING_SIZE	((1 + 512) * 4096)	/* has room for all samples of a measurement */
#define SIZES		{ 1, 2, 4, 6, 8 }
#define PMU		"/sys/bus/event_source/devices/cpu/"
#define TLB_MISSES(which, op) \
	(PERF_COUNT_HW_CACHE_##which | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

struct event {
	__u32 type;
	__u64 config;
	bool user;
};

/* All events that QEMU 10.0.2 emulates; an event with a filter needs a separate counter. */
#define NR_EVENTS		5
static const struct event distinct[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ PERF_TYPE_HW_CACHE, TLB_MISSES(DTLB, READ) },
	{ PERF_TYPE_HW_CACHE, TLB_MISSES(ITLB, READ) },
	{ PERF_TYPE_HW_CACHE, TLB_MISSES(DTLB, WRITE) },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true },
	{ PERF_TYPE_HW_CACHE, TLB_MISSES(DTLB, READ), true },
};

enum kind {
	DUMMY,		/* software events, for the costs of perf's core */
	COUNT,
	SHARED,		/* four counter configurations, each used by several events */
	FIRMWARE,	/* firmware events of the SBI */
	RAW,		/* an event that two counters can hold (scripts/guest/boot --raw-events) and that never occurs */
};

/* A measurement, and how its events are opened. */
struct bench {
	const char *name;		/* %d: the number of events */
	double (*run)(void);
	double (*once)(int rounds);	/* repeated by run */
	int rounds;
	enum kind kind;
	int sizes[5];			/* numbers of events */
	bool ungrouped;			/* events are not in a group */
	bool disabled;
	bool both;			/* this process has an event, too, with a tenth of the period */
	bool beside;			/* others have opened firmware events on this hart */
	bool inherit;			/* child processes inherit the events */
	__u64 period;			/* of all events if ungrouped, otherwise of the leader */
};

/* With our driver: the kernel writes the counters itself (Ssccfg), or the firmware does (SBI). */
static bool is_delegated, is_sbi;
/* The number of fixed counters that events can use: OpenSBI 1.9 offers none. */
static int nr_fixed;

/* The measurement of this process. */
static const struct bench *bench;
static char name[32] = "all";
static int nr_events;
static int fds[MAX_EVENTS];
static struct perf_event_mmap_page *ring;	/* the leader's */

#define fail(format, ...) do { \
	fprintf(stderr, "bench-guest: %s: " format "\n", name, ##__VA_ARGS__); \
	exit(1); \
} while (0)

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

/* The mean time of BODY in nanoseconds. */
#define time_each(rounds, body) ({ \
	long _start = now(); \
	for (int _i = 0; _i < (rounds); _i++) \
		body; \
	(double)(now() - _start) / (rounds); \
})

/* The smallest result with another one within 1 %; a single minimum may be an outlier. */
static double smallest(double (*once)(int rounds))
{
	double sorted[REPEATS];

	for (int i = 0; i < REPEATS; i++) {
		double value = once(bench->rounds);
		int at = i;

		for (; at && sorted[at - 1] > value; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = value;
	}
	for (int i = 0; i < 2; i++) {
		if (sorted[i + 1] <= sorted[i] * 1.01)
			return sorted[i];
	}
	fail("repetitions differ by more than 1 %%: %.1f, %.1f and %.1f", sorted[0], sorted[1],
	     sorted[2]);
}

/* Reads the first word of a file, or an empty string. */
static void read_word(const char *path, char word[32])
{
	FILE *file = fopen(path, "r");

	word[0] = '\0';
	if (file && fscanf(file, "%31s", word) == 1)
		fclose(file);
}

/* Number of firmware calls for the PMU; -1 if the kernel does not report it. */
static long ecalls(void)
{
	FILE *file = fopen("/sys/kernel/debug/riscv_pmu/cpu0", "r");
	long count, sum = 0;
	char line[256];

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, " ecall_%*s %ld", &count) == 1)
			sum += count;
	}
	fclose(file);
	return sum;
}

/*
 * QEMU counts an event on one programmable counter and one fixed counter. For the same
 * event with another filter, our driver then has no counter, while mainline's starts one
 * that stays at 0. With Ssccfg, use a selector without an event instead: it needs a
 * separate counter and configuration. With the SBI, the remaining events share counters.
 */
static struct event event_at(int i)
{
	int fits = NR_EVENTS + (bench->period ? 0 : nr_fixed);

	switch (bench->kind) {
	case SHARED:
		return distinct[i % 4];
	case FIRMWARE:
		return (struct event){ PERF_TYPE_RAW, 2ULL << 62 | i };
	case RAW:
		return (struct event){ PERF_TYPE_RAW, 0x5a000 };
	case DUMMY:
		return (struct event){ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY };
	case COUNT:
		break;
	}
	if (is_delegated && i >= NR_EVENTS)
		return (struct event){ PERF_TYPE_RAW, 0x1000 + i };
	return distinct[is_sbi && i >= fits ? i - fits : i];
}

static int event_open_on(const struct bench *how, struct event event, pid_t pid, int cpu, int leader)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event.type,
		.config = event.config,
		.exclude_kernel = event.user,
		.exclude_hv = event.user,
		.disabled = how->disabled && leader < 0,
		.inherit = how->inherit,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			       (how->ungrouped ? 0 : PERF_FORMAT_GROUP),
	};

	if (how->period && leader < 0) {
		attr.sample_period = how->period;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				   PERF_SAMPLE_PERIOD;
	}
	return syscall(SYS_perf_event_open, &attr, pid, cpu, leader, 0);
}

static int event_open(const struct bench *how, struct event event, pid_t pid, int leader)
{
	return event_open_on(how, event, pid, -1, leader);
}

/* If an event has a fixed counter, a group can have it twice. */
static int find_fixed(void)
{
	const struct bench plain = {};
	int found = 0;

	for (int i = 0; i < 2; i++) {
		int leader = event_open(&plain, distinct[i], 0, -1);
		int fd = event_open(&plain, distinct[NR_EVENTS + i], 0, leader);

		found += fd >= 0;
		close(fd);
		close(leader);
	}
	return found;
}

static int must_open(int i, pid_t pid, int leader)
{
	struct event event = event_at(i);
	int fd = event_open(bench, event, pid, leader);

	if (fd < 0)
		fail("event %d (type %u, config 0x%llx) does not open: %s", i, event.type,
		     event.config, strerror(errno));
	return fd;
}

/* A monitor of this hart. If the firmware supports fewer events, some are counted twice. */
static void open_others(void)
{
	const struct bench counting = {};
	int opened = 0;

	for (int i = 0; opened < 16 && i < 64; i++) {
		struct event event = { PERF_TYPE_RAW, 2ULL << 62 | i % 22 };

		opened += event_open_on(&counting, event, -1, 0, -1) >= 0;
	}
	if (opened < 16)
		fail("only %d firmware events can be opened", opened);
}

/* An event of this process, which takes turns with the other one on this hart. */
static void open_own(void)
{
	struct bench own = *bench;

	own.period /= 10;
	if (event_open(&own, event_at(0), 0, -1) < 0)
		fail("cannot open an event of this process: %s", strerror(errno));
}

static void open_events(pid_t pid)
{
	for (int i = 0; i < nr_events; i++) {
		bool member = i && !bench->ungrouped;
		void *map;

		fds[i] = must_open(i, pid, member ? fds[0] : -1);
		if (!bench->period || member)
			continue;
		map = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		if (map == MAP_FAILED)
			fail("cannot map a ring buffer: %s", strerror(errno));
		ring = i ? ring : map;
	}
}

/* A sampling group has one ring buffer. */
static void close_group(void)
{
	munmap(ring, RING_SIZE);
	for (int i = 0; i < nr_events; i++)
		close(fds[i]);
	/* Wait for RCU callbacks of the close, so that the next measurement does not include them. */
	usleep(100000);
}

/* A measurement is wrong if one of its events never ran. */
static void verify_events(void)
{
	__u64 values[3 + MAX_EVENTS];

	for (int i = 0; i < nr_events; i++) {
		/* value, enabled, running; or for a group: number, enabled, running */
		if (read(fds[i], values, sizeof(values)) < 0)
			fail("event %d cannot be read: %s", i, strerror(errno));
		if (!values[2])
			fail("event %d never ran (time_running is 0)", i);
	}
}

/* Counts the samples in a ring buffer; it is never read before, so they start at 0. */
static long count_samples(void)
{
	const char *data = (const char *)ring + ring->data_offset;
	const struct perf_event_header *header;
	long samples = 0;

	for (__u64 at = 0; at < ring->data_head; at += header->size) {
		header = (const void *)(data + at);
		if (header->type == PERF_RECORD_LOST || header->type == PERF_RECORD_THROTTLE)
			fail("samples were lost or throttled: boot with the sysctls of scripts/bench/run");
		samples += header->type == PERF_RECORD_SAMPLE;
	}
	if (ring->data_size - ring->data_head < 4096)
		fail("the ring buffer is full: increase RING_SIZE");
	if (samples < (long)(2 * bench->rounds / bench->period))
		fail("only %ld samples instead of one per period", samples);
	return samples;
}

static void group_ioctl(int fd, unsigned long request)
{
	if (ioctl(fd, request, PERF_IOC_FLAG_GROUP))
		fail("ioctl: %s", strerror(errno));
}

static int there[2], back[2];

static pid_t start_pong(void)
{
	pid_t pid;
	char byte;

	if (pipe(there) || pipe(back) || (pid = fork()) < 0)
		fail("cannot start the second process: %s", strerror(errno));
	close(pid ? back[1] : there[1]);
	if (pid)
		return pid;
	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	_exit(0);
}

/* On one hart, each round trip switches the other process in and out once. */
static double pong(int rounds)
{
	const int to = there[1], from = back[0];
	char byte = 0;

	return time_each(rounds, {
		if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
			fail("the pipe is broken");
	});
}

/*
 * Start a process that is always runnable. It does not run while the measuring processes, which are
 * SCHED_FIFO, are runnable.
 */
static pid_t start_waiter(void)
{
	const pid_t parent = getpid();
	pid_t pid = fork();

	if (pid < 0)
		fail("cannot start a process: %s", strerror(errno));
	if (pid)
		return pid;
	/* End with the parent, so that a failed measurement does not disturb the next ones. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (;;)
		asm volatile("");
}

/*
 * Use SCHED_FIFO: the decisions of the fair scheduler depend on how long tasks have run, so a
 * few instructions more or less here would change its costs by dozens of instructions.
 */
static double run_switch(void)
{
	const struct sched_param param = { .sched_priority = 1 };
	/*
	 * At each wakeup the scheduler dequeues the SCHED_FIFO tasks and enqueues them again. If
	 * the number of runnable tasks thereby rises from below two to two or more, the hart is
	 * marked as overloaded, which takes 28 instructions per round trip. Without the waiters,
	 * this would depend on whether kworkers are runnable.
	 */
	const pid_t waiters[] = { start_waiter(), start_waiter() };
	double result;
	long calls;
	pid_t pid;

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		fail("SCHED_FIFO: %s", strerror(errno));
	pid = start_pong();
	pong(bench->rounds / 2);
	open_events(pid);
	if (bench->both)
		open_own();
	if (bench->beside)
		open_others();
	pong(bench->rounds / 2);

	calls = ecalls();
	result = smallest(pong);
	if (calls >= 0)
		printf("ecalls%s %.2f\n", strchr(name, '/'),
		       (double)(ecalls() - calls) / (REPEATS * bench->rounds));

	verify_events();
	close(there[1]);
	waitpid(pid, NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(waiters); i++) {
		kill(waiters[i], SIGKILL);
		waitpid(waiters[i], NULL, 0);
	}
	return result;
}

static double enable_disable(int rounds)
{
	const int fd = fds[0];

	return time_each(rounds, {
		group_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		group_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	});
}

static double read_group(int rounds)
{
	__u64 values[3 + MAX_EVENTS];
	const int fd = fds[0];

	return time_each(rounds, {
		if (read(fd, values, sizeof(values)) < 0)
			fail("read: %s", strerror(errno));
	});
}

static double open_close(int rounds)
{
	return time_each(rounds, close(must_open(0, 0, -1)));
}

/* The child inherits the events, runs for a moment, and exits. */
static double fork_exit(int rounds)
{
	return time_each(rounds, {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			fail("cannot start a process: %s", strerror(errno));
	});
}

static double run_calls(void)
{
	double result;

	open_events(0);
	bench->once(bench->rounds);
	result = smallest(bench->once);
	verify_events();
	return result;
}

/* Each round is two instructions. */
static double spin(int rounds)
{
	long left = rounds, start = now();

	asm volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r" (left));
	return now() - start;
}

/* Instructions of the loop without events. */
static double plain;

static double sample(int rounds)
{
	double sampled;
	long samples;

	open_events(0);
	group_ioctl(fds[0], PERF_EVENT_IOC_ENABLE);
	sampled = spin(rounds);
	group_ioctl(fds[0], PERF_EVENT_IOC_DISABLE);

	verify_events();
	samples = count_samples();
	close_group();
	return (sampled - plain) / samples;
}

static double run_sample(void)
{
	plain = smallest(spin);
	return smallest(sample);
}

/*
 * Instructions that each rotation of multiplexed events adds to a loop. This is a
 * mean, because the costs depend on the events that are scheduled.
 */
static double run_multiplex(void)
{
	double turn, shared = 0;
	char word[32];

	read_word(PMU "perf_event_mux_interval_ms", word);
	turn = atoi(word) * 1000000.0;
	if (!turn)
		fail(PMU "perf_event_mux_interval_ms has no interval");
	plain = smallest(spin);
	open_events(0);
	for (int i = 0; i < REPEATS; i++)
		shared += spin(bench->rounds);
	verify_events();
	return (shared - REPEATS * plain) / (shared / turn);
}

static const struct bench benches[] = {
	/* This must be first: perf's hooks in the scheduler stay enabled for a while after an event. */
	{ "switch/none", run_switch, pong, 1000 },
	{ "switch/dummy/%d", run_switch, pong, 1000, DUMMY, SIZES },
	{ "switch/count/%d", run_switch, pong, 1000, COUNT, SIZES },
	{ "switch/count-shared/%d", run_switch, pong, 1000, SHARED, { 8 } },
	/* Before the TLB events are sampled: QEMU aborts if a counter that is left with one overflows. */
	{ "switch/count-beside/%d", run_switch, pong, 1000, COUNT, { 1 }, .beside = true },
	{ "switch/dummy-both/%d", run_switch, pong, 1000, DUMMY, { 1 }, .both = true, .ungrouped = true },
	{ "switch/sample-both/%d", run_switch, pong, 1000, COUNT, { 1 }, .both = true, .ungrouped = true, .period = 1000000 },
	{ "switch/sample-both-raw/%d", run_switch, pong, 1000, RAW, { 1 }, .both = true, .ungrouped = true, .period = 1000000 },
	{ "switch/dummy-ungrouped/%d", run_switch, pong, 1000, DUMMY, SIZES, .ungrouped = true },
	{ "switch/sample/%d", run_switch, pong, 1000, COUNT, SIZES, .ungrouped = true, .period = 1000000 },
	{ "ioctl-dummy/%d", run_calls, enable_disable, 1000, DUMMY, { 1, 5 }, .disabled = true },
	{ "ioctl/%d", run_calls, enable_disable, 1000, COUNT, { 1, 5 }, .disabled = true },
	{ "read-dummy/%d", run_calls, read_group, 10000, DUMMY, { 1, 5 } },
	{ "read/%d", run_calls, read_group, 10000, COUNT, { 1, 5 } },
	{ "fork-dummy/%d", run_calls, fork_exit, 500, DUMMY, { 8 }, .inherit = true },
	{ "fork/%d", run_calls, fork_exit, 500, COUNT, { 8 }, .inherit = true },
	{ "sample/%d", run_sample, sample, 25000000, COUNT, { 1, 4 }, .disabled = true, .period = 5000 },
	/* This opens its only event itself. */
	{ "open/1", run_calls, open_close, 8000, COUNT },
	/* Firmware events 0 to 21, on 16 counters. */
	{ "tick/multiplex", run_multiplex, NULL, 100000000, FIRMWARE, { 22 }, .ungrouped = true },
};

static bool run_in_process(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		printf("%s %.1f\n", name, bench->run());
		exit(0);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

/* Whether the arguments of main() ask for the measurement called name. */
static bool is_wanted(char **args)
{
	bool wanted = !*args;

	for (; *args; args++)
		wanted |= !strncmp(name, *args, strlen(*args));
	return wanted;
}

int main(int argc, char **argv)
{
	bool few = argc > 1 && !strcmp(argv[1], "--few");
	int failed = 0;
	char backend[32];

	if (!getenv("RISCV_PMU_ICOUNT") || sysconf(_SC_NPROCESSORS_ONLN) != 1)
		fail("needs one instruction per nanosecond: boot the guest with --icount --smp 1");
	read_word(PMU "caps/backend", backend);
	is_delegated = !strcmp(backend, "ssccfg");
	is_sbi = !strcmp(backend, "sbi");
	nr_fixed = find_fixed();
	for (bench = benches; bench < benches + ARRAY_SIZE(benches); bench++) {
		for (size_t i = 0; !i || (i < ARRAY_SIZE(bench->sizes) && bench->sizes[i]); i++) {
			nr_events = bench->sizes[i];
			snprintf(name, sizeof(name), bench->name, nr_events);
			if (few && (nr_events == 2 || nr_events == 6))
				continue;
			if (is_wanted(argv + 1 + few))
				failed += !run_in_process();
		}
	}
	return failed ? 1 : 0;
}
