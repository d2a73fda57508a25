// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu test: on each hart, count and sample a loop of known length, and read its
 * count from user space. Each test prints one line: PASS, FAIL, or SKIP with the reason.
 *
 * System calls and interrupts during the loop may add a few instructions; a larger
 * count is wrong, unless the emulator does not count instructions (QEMU without -icount
 * counts time).
 */

#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../include/perf/riscv_pmu_read.h"
#include "rvpmu.h"

#define TURNS		2000000L
#define LOOP_INSNS	2
#define RING_PAGES	16
#define ATTEMPTS	5

/* A loop of two instructions, whose addresses are known; turns > 0. */
void rvpmu_loop(long turns);
extern const char rvpmu_loop_begin[], rvpmu_loop_end[];

asm(".text\n"
    ".balign 8\n"
    ".globl rvpmu_loop, rvpmu_loop_begin, rvpmu_loop_end\n"
    ".type rvpmu_loop, @function\n"
    "rvpmu_loop:\n"
    "rvpmu_loop_begin:\n"
    "	addi a0, a0, -1\n"
    "	bnez a0, rvpmu_loop_begin\n"
    "rvpmu_loop_end:\n"
    "	ret\n"
    ".size rvpmu_loop, . - rvpmu_loop\n");

static int failures;

/* Type of the PMU of the hart under test; 0 if generic events use that PMU anyway. */
static uint32_t hart_type;

static void __attribute__((format(printf, 4, 5)))
verdict(int hart, const char *test, const char *word, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!json)
		printf("%s hart %d %s: %s\n", word, hart, test, text);
	json_open(NULL, '{');
	json_number("hart", hart);
	json_text("test", test);
	json_text("verdict", word);
	json_text("why", text);
	json_close('}');
	failures += !strcmp(word, "FAIL");
}

static int has_hart(const struct pmu *pmu, void *hart)
{
	if (!strncmp(pmu->device_id, "core.", 5) && strcmp(pmu->name, "cpu") &&
	    list_has(pmu->cpus, *(int *)hart))
		hart_type = pmu->type;

	return 0;
}

/* Each CPU type has its own PMU; "cpu" is the PMU of the first type. */
static void find_hart_type(int hart)
{
	hart_type = 0;
	for_each_pmu(has_hart, &hart);
}

/* Opens the event for user mode only, if that is possible. */
static int open_instructions(uint64_t period)
{
	struct perf_event_attr attr = attr_instructions();
	int fd;

	attr.config |= (uint64_t)hart_type << 32;	/* PERF_PMU_TYPE_SHIFT */
	attr.disabled = 1;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = open_event(&attr, 0, -1, -1);
	if (fd >= 0)
		return fd;

	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	return open_event(&attr, 0, -1, -1);
}

static int64_t count_loop(int fd, long turns)
{
	int64_t count;

	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	rvpmu_loop(turns);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return read(fd, &count, sizeof(count)) == sizeof(count) ? count : -1;
}

/* The lowest of several counts, to exclude interruptions by other tasks. */
static int64_t count_undisturbed(int fd, long turns)
{
	int64_t count, least = INT64_MAX;

	for (int i = 0; i < ATTEMPTS; i++) {
		count = count_loop(fd, turns);
		if (count < least)
			least = count;
	}
	return least;
}

/* Without a filter for user mode, interrupts during the loop are counted, too. */
static bool is_plausible(int64_t count, long turns)
{
	long insns = turns * LOOP_INSNS;

	return count >= insns && count <= insns + insns / 8;
}

static long times_interrupted(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw + usage.ru_nvcsw;
}

static bool is_qemu(void)
{
	char text[TEXT_SIZE];

	return read_line("/proc/device-tree/model", text) && strstr(text, "qemu");
}

/* Returns a possible reason for a wrong count. */
static const char *why_implausible(long switches)
{
	if (is_qemu())
		return "; QEMU counts instructions with -icount shift=0 only";
	if (times_interrupted() > switches)
		return "; other tasks ran in between, try again on an idle hart";
	return "; no other task ran in between";
}

static void test_count(int hart)
{
	int fd = open_instructions(0);
	long switches = times_interrupted();
	int64_t once, four;
	bool good;

	if (fd < 0) {
		verdict(hart, "count", "FAIL", "instructions cannot be opened (%s); see rvpmu doctor",
			strerror(-fd));
		return;
	}
	count_loop(fd, 1);
	once = count_undisturbed(fd, TURNS);
	four = count_undisturbed(fd, 4 * TURNS);
	close(fd);
	good = is_plausible(once, TURNS) && is_plausible(four, 4 * TURNS);
	verdict(hart, "count", good ? "PASS" : "FAIL",
		"%lld for %ld instructions, %lld for four times as many%s", (long long)once,
		TURNS * LOOP_INSNS, (long long)four, good ? "" : why_implausible(switches));
}

struct samples {
	int all;
	int inside;
};

static struct samples drain(struct perf_event_mmap_page *page, size_t page_size)
{
	const char *data = (const char *)page + page_size;
	const size_t size = RING_PAGES * page_size;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	struct samples samples = {};

	/* Record sizes are multiples of 8 bytes, so no 64-bit word wraps around. */
	for (uint64_t tail = page->data_tail; tail < head; ) {
		const struct perf_event_header *header = (const void *)(data + tail % size);

		if (!header->size)
			break;
		if (header->type == PERF_RECORD_SAMPLE) {
			uint64_t ip = *(const uint64_t *)(data + (tail + sizeof(*header)) % size);

			samples.all++;
			samples.inside += ip >= (uintptr_t)rvpmu_loop_begin &&
					  ip <= (uintptr_t)rvpmu_loop_end;
		}
		tail += header->size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return samples;
}

static void test_sample(int hart)
{
	size_t page_size = sysconf(_SC_PAGESIZE), size = (1 + RING_PAGES) * page_size;
	int fd = open_instructions(TURNS / 10);
	struct samples samples;
	void *page;

	if (fd < 0) {
		verdict(hart, "sample", "SKIP", "%s; see rvpmu doctor", strerror(-fd));
		return;
	}
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		verdict(hart, "sample", "FAIL", "mmap of the ring buffer: %m; raise kernel.perf_event_mlock_kb");
		close(fd);
		return;
	}
	count_loop(fd, 20 * TURNS);
	samples = drain(page, page_size);
	munmap(page, size);
	close(fd);
	if (samples.inside * 2 > samples.all)
		verdict(hart, "sample", "PASS", "%d samples, %d of them in the loop",
			samples.all, samples.inside);
	else
		verdict(hart, "sample", "FAIL", "%d samples, %d of them in the loop",
			samples.all, samples.inside);
}

static void test_read(int hart)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	uint64_t before, direct, after;
	int fd = open_instructions(0);
	void *page;

	if (fd < 0) {
		verdict(hart, "read", "SKIP", "%s; see rvpmu doctor", strerror(-fd));
		return;
	}
	page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, fd, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	rvpmu_loop(TURNS);
	if (page == MAP_FAILED || read(fd, &before, sizeof(before)) != sizeof(before)) {
		verdict(hart, "read", "FAIL", "%m");
	} else if (!riscv_pmu_read(page, &direct)) {
		verdict(hart, "read", "SKIP", "the mmap page names no counter; see rvpmu doctor");
	} else if (read(fd, &after, sizeof(after)) != sizeof(after) || direct < before ||
		   direct > after) {
		verdict(hart, "read", "FAIL", "%llu is not between %llu and %llu",
			(unsigned long long)direct, (unsigned long long)before,
			(unsigned long long)after);
	} else {
		verdict(hart, "read", "PASS", "%llu, between two system calls",
			(unsigned long long)direct);
	}
	if (page != MAP_FAILED)
		munmap(page, page_size);
	close(fd);
}

int cmd_test(int argc, char **argv)
{
	cpu_set_t all, one;

	if (sched_getaffinity(0, sizeof(all), &all)) {
		perror("rvpmu: sched_getaffinity");
		return EXIT_MISSING;
	}
	json_open(NULL, '{');
	json_open("tests", '[');
	for (int hart = 0; hart < CPU_SETSIZE; hart++) {
		if (!CPU_ISSET(hart, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(hart, &one);
		if (sched_setaffinity(0, sizeof(one), &one)) {
			verdict(hart, "count", "SKIP", "cannot move to the hart: %m");
			continue;
		}
		find_hart_type(hart);
		test_count(hart);
		test_sample(hart);
		test_read(hart);
	}
	json_close(']');
	json_number("failures", failures);
	json_close('}');
	return failures ? EXIT_DEGRADED : EXIT_OK;
}
