// SPDX-License-Identifier: GPL-2.0
/*
 * What the PMU costs, in instructions: prints "NAME VALUE" for each measurement.
 *
 * Under -icount shift=0 with one hart a nanosecond is an instruction, whoever
 * retires it: user, kernel or firmware. So a clock is all that is needed, and
 * nothing here depends on the driver but perf_event_open().
 *
 * Each measurement runs in a process of its own, which leaves nothing behind
 * for the next; it is repeated, and the smallest result counts.
 *
 * bench-guest [PREFIX]: only those whose name begins so.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MAX_EVENTS	24
#define REPEATS		5
#define ROUND_TRIPS	1000
#define READS		10000
#define IOCTLS		1000
#define OPENS		8000
#define LOOP		25000000UL	/* of two instructions */
#define LONG_LOOP	100000000UL
#define PERIOD		5000
#define LONG_PERIOD	1000000
#define RING_PAGES	512		/* no sample may be lost: none is read in time */
#define FIRMWARE_EVENTS	22		/* codes 0 to 21, on 16 counters */
#define SBI_FIRMWARE	(2ULL << 62)
#define NO_EVENT	0x1000		/* a raw selector that counts nothing */
#define RATE		"/proc/sys/kernel/perf_event_max_sample_rate"
#define PERCENT		"/proc/sys/kernel/perf_cpu_time_max_percent"
#define MUX_INTERVAL	"/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms"
#define PMU_BACKEND	"/sys/bus/event_source/devices/cpu/caps/backend"
#define PMU_DEBUGFS	"/sys/kernel/debug/riscv_pmu/cpu0"
#define TLB_MISSES(which, op) \
	(PERF_COUNT_HW_CACHE_##which | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

struct event {
	__u32 type;
	__u64 config;
	bool user;
};

/* All that QEMU 10.0.2 emulates; with a filter it is another program. */
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

/* Our kernel, which writes the counters itself, or has the firmware do it. */
static bool is_delegated, is_sbi;
/* Fixed counters that there are beside the others: OpenSBI 1.9 offers none. */
static int nr_fixed;

enum kind {
	NONE,
	DUMMY,		/* what perf's core costs without a PMU */
	COUNT,
	SHARED,		/* four programs, each wanted more than once */
	FIRMWARE,
};

/* Which events, opened how. */
struct plan {
	enum kind kind;
	int count;
	bool apart;		/* no group */
	bool disabled;
	__u64 period;	/* of all if apart, else of the leader */
};

struct set {
	int count;
	int fd[MAX_EVENTS];
	struct perf_event_mmap_page *ring[MAX_EVENTS];
};

struct bench {
	const char *name;
	void (*run)(const struct bench *bench);
	struct plan plan;
	const char *ecalls;	/* the name for calls of the firmware, where they are told */
};

#define fail(format, ...) do { \
	fprintf(stderr, "bench-guest: " format "\n", ##__VA_ARGS__); \
	exit(1); \
} while (0)

/* --- the machine --- */

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static void spin(unsigned long rounds)
{
	asm volatile("1: addi %0, %0, -1\n\tbnez %0, 1b" : "+r" (rounds));
}

static void write_number(const char *path, long value)
{
	FILE *file = fopen(path, "w");

	if (!file || fprintf(file, "%ld\n", value) < 0 || fclose(file))
		fail("%s can not be written: %s", path, strerror(errno));
}

static long read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long value;

	if (!file || fscanf(file, "%ld", &value) != 1)
		fail("%s can not be read", path);
	fclose(file);
	return value;
}

static bool has_backend(const char *name)
{
	FILE *file = fopen(PMU_BACKEND, "r");
	char text[32] = "";

	if (!file)
		return false;
	if (fscanf(file, "%31s", text) != 1)
		text[0] = '\0';
	fclose(file);
	return !strcmp(text, name);
}

/* The rate can not be written while the percentage is 0 or 100. */
static void lift_limits(void)
{
	write_number(PERCENT, 50);
	write_number(RATE, 100000000);
	write_number(PERCENT, 0);
}

/* Calls of the firmware for the PMU so far; -1 where the kernel does not tell. */
static long ecalls(void)
{
	FILE *file = fopen(PMU_DEBUGFS, "r");
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

/* --- events --- */

/*
 * QEMU counts an event on one counter beside its fixed one, so that our kernel has
 * nothing for another filter then: mainline starts a counter that stands at 0.
 * Where the kernel programs the counters itself, a selector of no event is as good:
 * it has a counter, which is read, and a program of its own. Elsewhere the events
 * that are left share counters.
 */
static struct event distinct_event(const struct plan *plan, int i)
{
	int fits = NR_EVENTS + (plan->period ? 0 : nr_fixed);

	if (is_delegated && i >= NR_EVENTS)
		return (struct event){ PERF_TYPE_RAW, NO_EVENT + i };
	if (is_sbi && i >= fits)
		return distinct[i - fits];

	return distinct[i];
}

static int event_open(const struct event *event, int leader)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.exclude_kernel = event->user,
		.exclude_hv = event->user,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);
}

/* Cycles and instructions fit twice into a group where they have a fixed counter each. */
static int find_fixed(void)
{
	int found = 0;

	for (int i = 0; i < 2; i++) {
		int leader = event_open(&distinct[i], -1);
		int fd = event_open(&distinct[NR_EVENTS + i], leader);

		found += fd >= 0;
		close(fd);
		close(leader);
	}
	return found;
}

static struct event plan_event(const struct plan *plan, int i)
{
	switch (plan->kind) {
	case COUNT:
		return distinct_event(plan, i);
	case SHARED:
		return distinct[i % 4];
	case FIRMWARE:
		return (struct event){ PERF_TYPE_RAW, SBI_FIRMWARE | i };
	default:
		return (struct event){ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY };
	}
}

static int plan_open(const struct plan *plan, int i, pid_t pid, int leader)
{
	struct event event = plan_event(plan, i);
	bool member = i && !plan->apart;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event.type,
		.config = event.config,
		.exclude_kernel = event.user,
		.exclude_hv = event.user,
		.disabled = plan->disabled && !member,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd;

	if (!plan->apart)
		attr.read_format |= PERF_FORMAT_GROUP;
	if (plan->period && !member) {
		attr.sample_period = plan->period;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				   PERF_SAMPLE_PERIOD;
	}
	fd = syscall(SYS_perf_event_open, &attr, pid, -1, member ? leader : -1, 0);
	if (fd < 0)
		fail("event %d (type %u, config 0x%llx) does not open: %s", i, attr.type,
		     attr.config, strerror(errno));
	return fd;
}

static struct perf_event_mmap_page *ring_map(int fd)
{
	void *ring = mmap(NULL, (1 + RING_PAGES) * sysconf(_SC_PAGESIZE),
			  PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		fail("no ring buffer: %s", strerror(errno));
	return ring;
}

static void set_open(struct set *set, const struct plan *plan, pid_t pid)
{
	set->count = plan->kind == NONE ? 0 : plan->count;
	for (int i = 0; i < set->count; i++) {
		set->fd[i] = plan_open(plan, i, pid, set->fd[0]);
		set->ring[i] = NULL;
		if (plan->period && (!i || plan->apart))
			set->ring[i] = ring_map(set->fd[i]);
	}
}

static void set_close(struct set *set)
{
	for (int i = 0; i < set->count; i++) {
		if (set->ring[i])
			munmap(set->ring[i], (1 + RING_PAGES) * sysconf(_SC_PAGESIZE));
		close(set->fd[i]);
	}
	/* What is freed only after a grace period is not to be part of the next figure. */
	usleep(100000);
}

/* An event that never ran has cost nothing: such a figure would be a lie. */
static void set_verify(const struct set *set, const char *name)
{
	__u64 values[3 + MAX_EVENTS];

	for (int i = 0; i < set->count; i++) {
		/* Alone it is value, enabled, running; in a group the number goes first. */
		if (read(set->fd[i], values, sizeof(values)) < 0)
			fail("%s: event %d can not be read: %s", name, i, strerror(errno));
		if (!values[2])
			fail("%s: event %d never ran (time_running is 0)", name, i);
	}
}

/* The samples in a ring that was never emptied, so it starts at 0. */
static long ring_samples(const struct perf_event_mmap_page *ring, const char *name)
{
	const char *data = (const char *)ring + ring->data_offset;
	long samples = 0;
	__u64 at = 0;

	while (at < ring->data_head) {
		const struct perf_event_header *header = (const void *)(data + at);

		if (header->type == PERF_RECORD_LOST || header->type == PERF_RECORD_THROTTLE)
			fail("%s: samples were lost or throttled", name);
		samples += header->type == PERF_RECORD_SAMPLE;
		at += header->size;
	}
	if (ring->data_size - at < 4096)
		fail("%s: the ring buffer is full", name);
	return samples;
}

static void group_ioctl(const struct set *set, unsigned long request)
{
	if (ioctl(set->fd[0], request, PERF_IOC_FLAG_GROUP))
		fail("ioctl: %s", strerror(errno));
}

/* --- results --- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The smallest, if the next is near it; or that one, for a single one may be an accident. */
static double smallest(const char *name, double *result)
{
	qsort(result, REPEATS, sizeof(*result), compare);
	for (int i = 0; i < 2; i++) {
		if (result[i + 1] <= result[i] * 1.01)
			return result[i];
	}

	fail("%s: repetitions differ by more than 1 %%: %.1f, %.1f and %.1f", name, result[0],
	     result[1], result[2]);
}

/* --- context switches --- */

struct pong {
	pid_t pid;
	int to, from;
};

static void pong_answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		if (write(to, &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void pong_start(struct pong *pong)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		fail("pipe: %s", strerror(errno));
	pong->pid = fork();
	if (pong->pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pong->pid) {
		close(there[1]);
		close(back[0]);
		pong_answer(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	pong->to = there[1];
	pong->from = back[0];
}

static void pong_stop(struct pong *pong)
{
	close(pong->to);
	waitpid(pong->pid, NULL, 0);
}

/* One hart: each round trip switches the other process in and out once. */
static double pong_rounds(const struct pong *pong, int rounds)
{
	long start = now();
	char byte = 0;

	for (int i = 0; i < rounds; i++) {
		if (write(pong->to, &byte, 1) != 1 || read(pong->from, &byte, 1) != 1)
			fail("the pipe is broken");
	}
	return (double)(now() - start) / rounds;
}

/*
 * Fair scheduling puts a task's leaving off or not, and searches more or less, by how long
 * tasks have run: a few instructions here would make some dozens there, or save them.
 */
static void be_scheduled_alike(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		fail("SCHED_FIFO: %s", strerror(errno));
}

static void bench_switch(const struct bench *bench)
{
	double result[REPEATS];
	struct pong pong;
	struct set set;
	long calls;

	be_scheduled_alike();
	pong_start(&pong);
	pong_rounds(&pong, ROUND_TRIPS / 2);
	set_open(&set, &bench->plan, pong.pid);
	pong_rounds(&pong, ROUND_TRIPS / 2);

	calls = ecalls();
	for (int i = 0; i < REPEATS; i++)
		result[i] = pong_rounds(&pong, ROUND_TRIPS);
	if (bench->ecalls && calls >= 0)
		printf("%s %.2f\n", bench->ecalls,
		       (double)(ecalls() - calls) / (REPEATS * ROUND_TRIPS));

	set_verify(&set, bench->name);
	pong_stop(&pong);
	printf("%s %.1f\n", bench->name, smallest(bench->name, result));
}

/* --- system calls --- */

static double ioctl_calls(const struct set *set)
{
	long start = now();

	for (int i = 0; i < IOCTLS; i++) {
		group_ioctl(set, PERF_EVENT_IOC_ENABLE);
		group_ioctl(set, PERF_EVENT_IOC_DISABLE);
	}
	return (double)(now() - start) / IOCTLS;
}

static double read_calls(const struct set *set)
{
	__u64 values[3 + MAX_EVENTS];
	long start = now();

	for (int i = 0; i < READS; i++) {
		if (read(set->fd[0], values, sizeof(values)) < 0)
			fail("read: %s", strerror(errno));
	}
	return (double)(now() - start) / READS;
}

static void bench_calls(const struct bench *bench, double (*calls)(const struct set *set))
{
	double result[REPEATS];
	struct set set;

	set_open(&set, &bench->plan, 0);
	calls(&set);
	for (int i = 0; i < REPEATS; i++)
		result[i] = calls(&set);
	set_verify(&set, bench->name);
	printf("%s %.1f\n", bench->name, smallest(bench->name, result));
}

static void bench_ioctl(const struct bench *bench)
{
	bench_calls(bench, ioctl_calls);
}

static void bench_read(const struct bench *bench)
{
	bench_calls(bench, read_calls);
}

static double open_calls(const struct plan *plan)
{
	long start = now();

	for (int i = 0; i < OPENS; i++)
		close(plan_open(plan, 0, 0, -1));
	return (double)(now() - start) / OPENS;
}

static void bench_open(const struct bench *bench)
{
	double result[REPEATS];

	open_calls(&bench->plan);
	for (int i = 0; i < REPEATS; i++)
		result[i] = open_calls(&bench->plan);
	printf("%s %.1f\n", bench->name, smallest(bench->name, result));
}

/* --- interrupts --- */

static long spin_time(unsigned long rounds)
{
	long start = now();

	spin(rounds);
	return now() - start;
}

/* Other work of the kernel can only add to it. */
static long least_spin_time(unsigned long rounds)
{
	long least = spin_time(rounds);

	for (int i = 1; i < REPEATS; i++) {
		long time = spin_time(rounds);

		if (time < least)
			least = time;
	}
	return least;
}

/* Instructions that each sample adds to a loop. */
static double sample_cost(const struct bench *bench, long plain, long *samples)
{
	struct set set;
	long sampled;

	set_open(&set, &bench->plan, 0);
	group_ioctl(&set, PERF_EVENT_IOC_ENABLE);
	sampled = spin_time(LOOP);
	group_ioctl(&set, PERF_EVENT_IOC_DISABLE);

	set_verify(&set, bench->name);
	*samples = ring_samples(set.ring[0], bench->name);
	set_close(&set);
	if (*samples < (long)(2 * LOOP / PERIOD))
		fail("%s: only %ld samples", bench->name, *samples);
	return (double)(sampled - plain) / *samples;
}

static void bench_sample(const struct bench *bench)
{
	long plain = least_spin_time(LOOP), samples;
	double result[REPEATS];

	for (int i = 0; i < REPEATS; i++)
		result[i] = sample_cost(bench, plain, &samples);
	printf("# %s: %ld samples\n", bench->name, samples);
	printf("%s %.1f\n", bench->name, smallest(bench->name, result));
}

/*
 * Instructions that each turn adds to a loop, when not all events fit at once.
 * A mean: what a turn costs depends on whose turn it is.
 */
static void bench_multiplex(const struct bench *bench)
{
	double turn = read_number(MUX_INTERVAL) * 1000000.0;
	double plain = least_spin_time(LONG_LOOP), shared = 0;
	struct set set;

	set_open(&set, &bench->plan, 0);
	for (int i = 0; i < REPEATS; i++)
		shared += spin_time(LONG_LOOP);
	set_verify(&set, bench->name);
	printf("# %s: %.0f turns of %.0f ms\n", bench->name, shared / turn, turn / 1000000);
	printf("%s %.1f\n", bench->name, (shared - REPEATS * plain) / (shared / turn));
}

/* --- all of them --- */

#define SWITCH(_name, ...)	{ .name = "switch/" _name, .run = bench_switch, \
				  .plan = __VA_ARGS__ }
#define IOCTL(_name, _kind, _n)	{ .name = _name, .run = bench_ioctl, \
				  .plan = { _kind, _n, .disabled = true } }
#define READ(_name, _kind, _n)	{ .name = _name, .run = bench_read, .plan = { _kind, _n } }
#define SAMPLE(_name, _n)	{ .name = _name, .run = bench_sample, \
				  .plan = { COUNT, _n, .disabled = true, .period = PERIOD } }

static const struct bench benches[] = {
	/* First: perf's hooks in the scheduler stay on for a while after an event. */
	SWITCH("none", { NONE }),
	SWITCH("dummy/1", { DUMMY, 1 }),
	SWITCH("dummy/2", { DUMMY, 2 }),
	SWITCH("dummy/4", { DUMMY, 4 }),
	SWITCH("dummy/6", { DUMMY, 6 }),
	SWITCH("dummy/8", { DUMMY, 8 }),
	SWITCH("count/1", { COUNT, 1 }),
	SWITCH("count/2", { COUNT, 2 }),
	SWITCH("count/4", { COUNT, 4 }, "ecalls/count/4"),
	SWITCH("count/6", { COUNT, 6 }),
	SWITCH("count/8", { COUNT, 8 }, "ecalls/count/8"),
	SWITCH("count-shared/8", { SHARED, 8 }),
	SWITCH("dummy-ungrouped/1", { DUMMY, 1, .apart = true }),
	SWITCH("dummy-ungrouped/2", { DUMMY, 2, .apart = true }),
	SWITCH("dummy-ungrouped/4", { DUMMY, 4, .apart = true }),
	SWITCH("dummy-ungrouped/6", { DUMMY, 6, .apart = true }),
	SWITCH("dummy-ungrouped/8", { DUMMY, 8, .apart = true }),
	SWITCH("sample/1", { COUNT, 1, .apart = true, .period = LONG_PERIOD }),
	SWITCH("sample/2", { COUNT, 2, .apart = true, .period = LONG_PERIOD }),
	SWITCH("sample/4", { COUNT, 4, .apart = true, .period = LONG_PERIOD }, "ecalls/sample/4"),
	SWITCH("sample/6", { COUNT, 6, .apart = true, .period = LONG_PERIOD }),
	SWITCH("sample/8", { COUNT, 8, .apart = true, .period = LONG_PERIOD }),
	IOCTL("ioctl-dummy/1", DUMMY, 1),
	IOCTL("ioctl-dummy/5", DUMMY, 5),
	IOCTL("ioctl/1", COUNT, 1),
	IOCTL("ioctl/5", COUNT, 5),
	READ("read-dummy/1", DUMMY, 1),
	READ("read-dummy/5", DUMMY, 5),
	READ("read/1", COUNT, 1),
	READ("read/5", COUNT, 5),
	SAMPLE("sample/1", 1),
	SAMPLE("sample/4", 4),
	{ .name = "open/1", .run = bench_open, .plan = { COUNT, 1 } },
	{ .name = "tick/multiplex", .run = bench_multiplex,
	  .plan = { FIRMWARE, FIRMWARE_EVENTS, .apart = true } },
};

static bool run_apart(const struct bench *bench)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		bench->run(bench);
		exit(0);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

static void require_exactness(void)
{
	const char *icount = getenv("RISCV_PMU_ICOUNT");

	if (!icount || strcmp(icount, "1"))
		fail("not under icount, so a nanosecond is no instruction: guest --icount");
	if (sysconf(_SC_NPROCESSORS_ONLN) != 1)
		fail("more than one hart is online: give the guest one (--smp 1)");
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	int failed = 0;

	require_exactness();
	lift_limits();
	is_delegated = has_backend("ssccfg");
	is_sbi = has_backend("sbi");
	nr_fixed = find_fixed();
	for (size_t i = 0; i < ARRAY_SIZE(benches); i++) {
		if (!strncmp(benches[i].name, only, strlen(only)))
			failed += !run_apart(&benches[i]);
	}
	return failed ? 1 : 0;
}
