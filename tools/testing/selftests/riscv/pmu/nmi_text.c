// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs while the kernel's text is patched, because function tracing or a kprobe starts or stops,
 * and while a kprobe is stepped: no NMI may execute what can be patched or probed at that time.
 *
 * RISCV_PMU_NMI_SECONDS is how long each test of patching runs; without it, 2.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Functions on the way to a sample. To patch all functions of the kernel takes most of the time. */
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

/* With function tracing, a function begins with 16 bytes, at most, that cannot be probed. */
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
 * While it starts and stops all the time, what is patched is on the way to each sample, too. If an
 * NMI executes it, the kernel may crash, which is rare; but a sample that shows the patching, or a
 * BUG of kprobes, is frequent if NMIs are not held.
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

TEST_HARNESS_MAIN
