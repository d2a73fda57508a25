// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs while the kernel's text is patched, because function tracing or a kprobe starts or stops,
 * and while a kprobe is stepped: no NMI may execute what can be patched or probed at that time.
 * And NMIs while the timer's tick lets throttled events count again.
 *
 * RISCV_PMU_NMI_SECONDS is how long each test of patching runs; without it, 2.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../kselftest_harness.h"
#include "lib/records.h"
#include "lib/storm.h"
#include "lib/symbol.h"
#include "lib/task.h"

#define TRACING		"/sys/kernel/tracing/"
#define PROBES		TRACING "kprobe_events"
#define GROUP		"riscv_pmu_test"
#define NMI_HZ		10000

static bool write_text(const char *path, int flags, const char *text)
{
	int fd = open(path, O_WRONLY | flags);
	ssize_t len = strlen(text);
	bool ok = fd >= 0 && write(fd, text, len) == len;

	if (fd >= 0)
		close(fd);
	return ok;
}

/*
 * Functions on the way to a sample. Patching all functions of the kernel would take most of the
 * time.
 */
static const char *const traced[] = {
	"*perf*", "*riscv_pmu*", "*sbi*", "*callchain*", "walk_stackframe",
};

static void trace_way_to_sample(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(traced); i++)
		write_text(TRACING "set_ftrace_filter", O_APPEND, traced[i]);
}

static bool has_tracer(const char *name)
{
	char text[PMU_TEXT];

	return pmu_read_line(TRACING "available_tracers", text) && strstr(text, name);
}

/* --- probes --- */

/*
 * The first one is hit by each system call of body_write_on(), the others by each NMI: before the
 * handler decides whether the overflow has to wait, when it waits, and when it takes a sample.
 */
static const char *const probed[] = {
	"vfs_write", "riscv_pmu_nmi_has_to_wait", "irq_work_queue", "perf_event_overflow",
};

static bool enable_probe(const char *function, bool on)
{
	char path[128];

	snprintf(path, sizeof(path), TRACING "events/" GROUP "/%s/enable", function);
	return write_text(path, 0, on ? "1" : "0");
}

static bool add_probe_at(const char *function, int offset)
{
	char text[128];

	snprintf(text, sizeof(text), "p:" GROUP "/%s %s+%d", function, function, offset);
	if (!write_text(PROBES, O_APPEND, text))
		return false;
	if (enable_probe(function, true) && enable_probe(function, false))
		return true;
	snprintf(text, sizeof(text), "-:" GROUP "/%s", function);
	write_text(PROBES, O_APPEND, text);
	return false;
}

/* With function tracing, up to 16 bytes at the start of a function cannot be probed. */
static bool add_probe(const char *function)
{
	for (int offset = 0; offset <= 16; offset += 4) {
		if (add_probe_at(function, offset))
			return true;
	}

	return false;
}

/* Returns how many probes there are. A kernel with function tracing refuses irq_work_queue(). */
static int add_probes(void)
{
	int nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(probed); i++)
		nr += add_probe(probed[i]);
	return nr;
}

static bool enable_probes(bool on)
{
	return write_text(TRACING "events/" GROUP "/enable", 0, on ? "1" : "0");
}

static void remove_probes(void)
{
	enable_probes(false);
	write_text(PROBES, O_TRUNC, "");
}

/* --- the load --- */

struct hart {
	int fd;
	struct pmu_ring ring;
	pid_t busy;
};

FIXTURE(nmi_text) {
	struct pmu_limits limits;
	struct perf_event_attr attr;
	struct hart hart[MAX_CPUS];
	double seconds;
	int cpus;
	bool exact;
};

FIXTURE_SETUP(nmi_text)
{
	const char *seconds = getenv("RISCV_PMU_NMI_SECONDS");

	if (!pmu_samples_by_nmi())
		SKIP(return, "overflows are not NMIs (caps/sampling)");
	if (geteuid() || access(PROBES, W_OK))
		SKIP(return, "needs root, and kprobes in " TRACING " (CONFIG_KPROBE_EVENTS)");

	pmu_limits_save(&self->limits);
	self->exact = pmu_is_exact();
	self->seconds = seconds ? atof(seconds) : 2;
	self->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (self->cpus > MAX_CPUS)
		self->cpus = MAX_CPUS;
	for (int cpu = 0; cpu < self->cpus; cpu++)
		self->hart[cpu].fd = -1;
	self->attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	self->attr.disabled = 0;
	self->attr.freq = 1;
	self->attr.sample_freq = NMI_HZ;
	self->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
}

FIXTURE_TEARDOWN(nmi_text)
{
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct hart *hart = &self->hart[cpu];

		if (hart->busy)
			pmu_kill(hart->busy);
		pmu_ring_unmap(&hart->ring);
		if (hart->fd >= 0)
			close(hart->fd);
	}
	write_text(TRACING "current_tracer", O_TRUNC, "nop");
	write_text(TRACING "set_ftrace_filter", O_TRUNC, "");
	remove_probes();
	pmu_limits_restore(&self->limits);
}

static void body_write_on(long cpu)
{
	int fd = open("/dev/null", O_WRONLY);

	move_to(cpu);
	while (write(fd, "", 1) == 1)
		;
}

/* On each CPU, an event of the CPU that samples, and a task that is busy. Returns 0 or -errno. */
static int start_load(FIXTURE_DATA(nmi_text) *self)
{
	int err = 0;

	for (int cpu = 0; cpu < self->cpus && !err; cpu++) {
		struct hart *hart = &self->hart[cpu];

		hart->fd = pmu_open_on(&self->attr, -1, cpu, -1);
		err = hart->fd < 0 ? hart->fd : pmu_ring_map(&hart->ring, hart->fd);
		hart->busy = pmu_spawn(body_write_on, cpu);
	}

	return err;
}

/* --- patching --- */

struct patching {
	struct symbol write, patch, ftrace;
	int64_t samples, inside;
};

/* Whether text was patched, and all harts were stopped for it. */
static void check_patching(const struct pmu_record *record, void *arg)
{
	struct patching *check = arg;
	bool writes = false, stopped = false;

	for (uint64_t i = 0; i < record->nr_frames; i++) {
		writes |= is_in(record->frames[i], &check->write);
		stopped |= is_in(record->frames[i], &check->patch) ||
			   is_in(record->frames[i], &check->ftrace);
	}
	check->samples++;
	check->inside += writes && stopped;
}

static void check_rings(FIXTURE_DATA(nmi_text) *self, struct patching *check)
{
	for (int cpu = 0; cpu < self->cpus; cpu++)
		pmu_ring_records(&self->hart[cpu].ring, &self->attr, check_patching, check);
}

/*
 * Tracing and probes start and stop all the time, also of functions that each sample executes. If
 * an NMI executes one while it is patched, the kernel may crash, which is rare; but a sample that
 * shows the patching, or a BUG of kprobes, is frequent if NMIs are not held.
 */
TEST_F_TIMEOUT(nmi_text, tracing_and_probes_start_and_stop_while_nmis_sample, 900)
{
	static const char *const tracers[] = { "function", "function_graph" };
	long nmis = count_nmis("nmis"), deferred = count_nmis("nmis_deferred");
	struct patching check = {};
	int64_t rounds = 0;
	double end;

	ASSERT_TRUE(find_symbol("patch_insn_write", &check.write));
	ASSERT_TRUE(find_symbol("patch_text_cb", &check.patch));
	/* Linux 6.12 only, with function tracing */
	find_symbol("__ftrace_modify_code", &check.ftrace);
	EXPECT_LT(0, add_probes());
	trace_way_to_sample();
	ASSERT_EQ(0, start_load(self));
	for (end = now() + self->seconds; now() < end; rounds++) {
		const char *tracer = tracers[rounds % ARRAY_SIZE(tracers)];

		if (has_tracer(tracer))
			EXPECT_TRUE(write_text(TRACING "current_tracer", O_TRUNC, tracer));
		EXPECT_TRUE(enable_probes(true));
		usleep(1000);
		EXPECT_TRUE(enable_probes(false));
		EXPECT_TRUE(write_text(TRACING "current_tracer", O_TRUNC, "nop"));
		check_rings(self, &check);
	}
	nmis = count_nmis("nmis") - nmis;
	TH_LOG("%ld rounds, %ld samples, %ld NMIs, %ld of them deferred", (long)rounds,
	       (long)check.samples, nmis, count_nmis("nmis_deferred") - deferred);
	EXPECT_LT(0, check.samples);
	EXPECT_EQ(0, check.inside);
	/* The sample rate is adjusted during the first tenths of a second. */
	if (self->exact)
		EXPECT_LT(NMI_HZ / 2 * self->seconds, nmis);
}

/*
 * A probe is stepped for a good part of the time, and each NMI hits others. If an NMI comes while
 * the first one is stepped and is not held, the kernel stops with a BUG.
 */
TEST_F_TIMEOUT(nmi_text, nmis_hit_probes_while_another_is_stepped, 900)
{
	long deferred = count_nmis("nmis_deferred");
	struct patching check = {};
	double end;

	EXPECT_LT(1, add_probes());
	ASSERT_TRUE(enable_probes(true));
	ASSERT_EQ(0, start_load(self));
	for (end = now() + self->seconds; now() < end; usleep(10000))
		check_rings(self, &check);
	EXPECT_LT(0, check.samples);
	EXPECT_LT(deferred, count_nmis("nmis_deferred"));
}

/* --- the tick --- */

#define MAX_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_PERCENT	"/proc/sys/kernel/perf_cpu_time_max_percent"
/* The number of throttled events is read and reset in the first bytes of perf_event_task_tick(). */
#define TICK_BYTES	128

struct tick_check {
	struct symbol tick;
	int64_t samples, inside;
	uint64_t throttled, longest;	/* ns */
};

/* THROTTLE and UNTHROTTLE */
struct throttle_record {
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};

static void note_unthrottle(struct tick_check *check, uint64_t time)
{
	if (check->throttled && time - check->throttled > check->longest)
		check->longest = time - check->throttled;
	check->throttled = 0;
}

static void check_tick(struct pmu_ring *ring, const struct perf_event_header *header, void *arg)
{
	const struct throttle_record *record = (const void *)header;
	const uint64_t *ip = (const void *)(header + 1);
	struct tick_check *check = arg;

	if (header->type == PERF_RECORD_THROTTLE)
		check->throttled = record->time;
	if (header->type == PERF_RECORD_UNTHROTTLE)
		note_unthrottle(check, record->time);
	if (header->type != PERF_RECORD_SAMPLE)
		return;
	check->samples++;
	check->inside += is_in(*ip, &check->tick);
}

/* Returns the samples in so many ms of this task. */
static int64_t sample_for(FIXTURE_DATA(nmi_text) *self, long period, long ms,
			  struct tick_check *check)
{
	struct hart *hart = &self->hart[0];
	int64_t before = check->samples;

	self->attr.sample_period = period;
	hart->fd = pmu_open(&self->attr);
	if (hart->fd < 0 || pmu_ring_map(&hart->ring, hart->fd))
		return -1;
	for (double end = now() + ms / 1e3; now() < end;)
		pmu_loop(100000);
	pmu_ring_walk(&hart->ring, check_tick, check);
	/* It may still be throttled. */
	note_unthrottle(check, now() * 1e9);
	pmu_ring_unmap(&hart->ring);
	close(hart->fd);
	hart->fd = -1;
	return check->samples - before;
}

/*
 * If one sample is allowed in each tick, each sample throttles the event until the next tick. Its
 * period is chosen so that overflows come during the next tick, at each instruction that counts and
 * resets the throttled events. None of these may be forgotten: the event would stay throttled until
 * it is scheduled again.
 */
TEST_F_TIMEOUT(nmi_text, an_event_throttled_during_the_tick_is_not_forgotten, 300)
{
	int64_t most = 0, longest;
	struct tick_check check = {};
	long tick, shorter, longer, best = 0;

	if (!self->exact)
		SKIP(return, "an overflow is at an exact instruction under -icount only");

	ASSERT_TRUE(find_symbol("perf_event_task_tick", &check.tick));
	check.tick.end = check.tick.begin + TICK_BYTES;
	ASSERT_TRUE(pmu_write_number(MAX_PERCENT, 25));
	ASSERT_TRUE(pmu_write_number(MAX_RATE, 1));
	self->attr.freq = 0;
	self->attr.sample_type = PERF_SAMPLE_IP;
	self->attr.use_clockid = 1;
	self->attr.clockid = CLOCK_MONOTONIC;
	/* One sample in each tick: HZ in a second, or a few more */
	tick = 1000000000 / sample_for(self, 100000, 1000, &check);
	/* A period longer than a tick ends in every second tick only. */
	for (shorter = tick / 20 * 19, longer = tick / 20 * 21; longer - shorter > 64;) {
		long period = (shorter + longer) / 2, ms = 25 * tick / 1000000;

		if (sample_for(self, period, ms, &check) > 18)
			shorter = period;
		else
			longer = period;
	}
	for (long period = shorter - 400; period < longer + 400; period += 16) {
		check.inside = 0;
		ASSERT_LT(0, sample_for(self, period, 15 * tick / 1000000, &check));
		if (check.inside >= most) {
			most = check.inside;
			best = period;
		}
	}
	check.inside = 0;
	for (long period = best - 16; period < best + 16; period += 2)
		ASSERT_LT(0, sample_for(self, period, 60 * tick / 1000000, &check));
	longest = check.longest;
	TH_LOG("ticks of %ld ns, %ld samples where they count, throttled for up to %ld ns", tick,
	       (long)check.inside, (long)longest);
	/* Until the tick after the next at most */
	EXPECT_GT(5 * tick / 2, longest);
	/* Enough of them came where one could be forgotten. */
	EXPECT_LT(20, check.inside);
}

TEST_HARNESS_MAIN
