// SPDX-License-Identifier: GPL-2.0
/*
 * rvpmu test: on each hart, count and sample a loop of known length, look for its branch in the
 * branch records of the samples, and read its count from user space. Each test prints one line:
 * PASS, FAIL, or SKIP with the reason.
 *
 * System calls and interrupts during the loop may add a few instructions; a larger
 * count is wrong, unless the emulator does not count instructions (QEMU without -icount
 * counts time).
 */

#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "rvpmu.h"

#define TURNS		2000000L
#define LOOP_INSNS	2
#define RING_PAGES	16
#define ATTEMPTS	5

/* A loop of two instructions, whose addresses are known; turns > 0. */
void rvpmu_loop(long turns);
extern const char rvpmu_loop_begin[], rvpmu_loop_branch[], rvpmu_loop_end[];

#ifdef __riscv
asm(".text\n"
    ".balign 8\n"
    ".globl rvpmu_loop, rvpmu_loop_begin, rvpmu_loop_branch, rvpmu_loop_end\n"
    ".type rvpmu_loop, @function\n"
    "rvpmu_loop:\n"
    "rvpmu_loop_begin:\n"
    "	addi a0, a0, -1\n"
    "rvpmu_loop_branch:\n"
    "	bnez a0, rvpmu_loop_begin\n"
    "rvpmu_loop_end:\n"
    "	ret\n"
    ".size rvpmu_loop, . - rvpmu_loop\n");
#else
/* main.c refuses to test other machines. */
const char rvpmu_loop_begin[1], rvpmu_loop_branch[1], rvpmu_loop_end[1];

void rvpmu_loop(long turns)
{
}
#endif

static int failures;

/* That of the hart under test */
static struct pmu hart_pmu;

static void __attribute__((format(printf, 4, 5)))
verdict(int hart, const char *test, const char *word, const char *format, ...)
{
	char text[TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!json)
		printf("%s hart %d%s%s %s: %s\n", word, hart, has_several_types() ? " " : "",
		       has_several_types() ? hart_pmu.name : "", test, text);
	json_open(NULL, '{');
	json_number("hart", hart);
	if (*hart_pmu.name)
		json_text("pmu", hart_pmu.name);
	json_text("test", test);
	json_text("verdict", word);
	json_text("why", text);
	json_close('}');
	failures += !strcmp(word, "FAIL");
}

/* Why open_instructions() failed: this user may not do what these harts can. */
static bool denied;

/* Opens the event for user mode only, if that is possible. @branches: branch_sample_type, or 0. */
static int open_instructions(uint64_t period, uint64_t branches)
{
	struct perf_event_attr attr = attr_instructions(&hart_pmu);
	int fd, again;

	attr.disabled = 1;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | (branches ? PERF_SAMPLE_BRANCH_STACK : 0);
	attr.branch_sample_type = branches;
	exclude_all_but_user(&attr);
	fd = open_event(&attr, 0, -1, -1);
	if (fd >= 0)
		return fd;

	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	again = open_event(&attr, 0, -1, -1);
	denied = again == -EACCES || again == -EPERM;
	/* This user may not measure the kernel: the first error says what the event lacks. */
	return again == -EACCES ? fd : again;
}

static void skip(int hart, const char *test, int err)
{
	verdict(hart, test, "SKIP", "%s; see rvpmu doctor", denied ?
		"this user may not count on this hart (kernel.perf_event_paranoid)" : strerror(-err));
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
	int fd = open_instructions(0, 0);
	long switches = times_interrupted();
	int64_t once, four;
	bool good;

	if (fd < 0 && denied) {
		skip(hart, "count", fd);
		return;
	}
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
	int with_branch;	/* a branch record is that of the loop's branch */
	int with_kernel;	/* a branch record shows an address of the kernel */
};

/* The data pages of a ring buffer. */
struct ring {
	const char *data;
	size_t size;
};

/* Record sizes are multiples of 8 bytes, so no 64-bit word wraps around. */
static uint64_t ring_word(const struct ring *ring, uint64_t pos)
{
	return *(const uint64_t *)(ring->data + pos % ring->size);
}

/* @pos is that of the number of records, which they follow. */
static void examine_branches(const struct ring *ring, uint64_t pos, struct samples *samples)
{
	uint64_t nr = ring_word(ring, pos);
	bool loop = false, kernel = false;

	pos += sizeof(nr);
	for (uint64_t i = 0; i < nr; i++, pos += sizeof(struct perf_branch_entry)) {
		/* The upper half of the address space, with 32 and 64 bits */
		long from = ring_word(ring, pos), to = ring_word(ring, pos + sizeof(uint64_t));

		loop |= from == (long)rvpmu_loop_branch && to == (long)rvpmu_loop_begin;
		kernel |= from < 0 || to < 0;
	}
	samples->with_branch += loop;
	samples->with_kernel += kernel;
}

static struct samples drain(struct perf_event_mmap_page *page, bool branches)
{
	const struct ring ring = { (const char *)page + page->data_offset, page->data_size };
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	struct samples samples = {};

	for (uint64_t tail = page->data_tail; tail < head; ) {
		const void *record = ring.data + tail % ring.size;
		const struct perf_event_header *header = record;
		uint64_t body = tail + sizeof(*header), ip;

		if (!header->size)
			break;
		if (header->type == PERF_RECORD_SAMPLE) {
			ip = ring_word(&ring, body);
			samples.all++;
			samples.inside += ip >= (uintptr_t)rvpmu_loop_begin &&
					  ip <= (uintptr_t)rvpmu_loop_end;
			if (branches)
				examine_branches(&ring, body + sizeof(ip), &samples);
		}
		tail += header->size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	return samples;
}

/* Closes the event. Without a ring buffer the test fails, and the result is false. */
static bool sample_loop(int hart, const char *test, int fd, long turns, struct samples *samples)
{
	size_t page_size = sysconf(_SC_PAGESIZE), size = (1 + RING_PAGES) * page_size;
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	bool branches = !strcmp(test, "branches");

	if (page == MAP_FAILED) {
		verdict(hart, test, "FAIL", "mmap of the ring buffer: %m; raise kernel.perf_event_mlock_kb");
		close(fd);
		return false;
	}
	count_loop(fd, turns);
	*samples = drain(page, branches);
	munmap(page, size);
	close(fd);
	return true;
}

static void test_sample(int hart)
{
	int fd = open_instructions(TURNS / 10, 0);
	struct samples samples;

	if (fd < 0)
		skip(hart, "sample", fd);
	else if (sample_loop(hart, "sample", fd, 20 * TURNS, &samples))
		verdict(hart, "sample", samples.inside * 2 > samples.all ? "PASS" : "FAIL",
			"%d samples, %d of them in the loop", samples.all, samples.inside);
}

/* Eight samples of up to 256 records fit into the ring buffer. */
static void test_branches(int hart)
{
	int fd = open_instructions(2 * TURNS, PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY);
	struct samples samples;
	bool good;

	if (fd == -EOPNOTSUPP && !denied) {
		verdict(hart, "branches", "SKIP", "no branch records; see rvpmu doctor");
	} else if (fd < 0) {
		skip(hart, "branches", fd);
	} else if (sample_loop(hart, "branches", fd, 8 * TURNS, &samples)) {
		good = samples.with_branch * 2 > samples.all && !samples.with_kernel;
		verdict(hart, "branches", good ? "PASS" : "FAIL",
			"%d samples, %d of them with the loop's branch, %d with an address of the kernel",
			samples.all, samples.with_branch, samples.with_kernel);
	}
}

static void test_read(int hart)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	uint64_t before, direct, after;
	int fd = open_instructions(0, 0);
	void *page;

	if (fd < 0) {
		skip(hart, "read", fd);
		return;
	}
	page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, fd, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	rvpmu_loop(TURNS);
	if (page == MAP_FAILED || read(fd, &before, sizeof(before)) != sizeof(before)) {
		verdict(hart, "read", "FAIL", "%m");
	} else if (!riscv_pmu_read(page, &direct)) {
		verdict(hart, "read", "SKIP", "the counter cannot be read without a system call; see rvpmu doctor");
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

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int take_samples(const struct perf_event_attr *attr)
{
	size_t size = (1 + RING_PAGES) * sysconf(_SC_PAGESIZE);
	int64_t end = now_ns() + 1000000000;
	int fd = open_event(attr, 0, -1, -1);
	struct samples samples = {};
	void *page;
	int err;

	if (fd < 0)
		return fd;
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = page == MAP_FAILED ? -errno : 0;
	while (!err && !samples.all && now_ns() < end) {
		rvpmu_loop(TURNS);
		samples = drain(page, false);
	}
	if (!err)
		munmap(page, size);
	close(fd);
	return err ? err : samples.all;
}

static void test_hart(long hart)
{
	struct pmu first;
	char list[32];
	int err;

	hart_pmu = (struct pmu){};
	snprintf(list, sizeof(list), "%ld", hart);
	err = move_to_harts(list);
	if (err) {
		verdict(hart, "count", "SKIP", "cannot move to the hart: %s", strerror(-err));
		return;
	}
	if (!find_pmu_of(&hart_pmu, hart) && find_pmu(&first, "cpu")) {
		verdict(hart, "count", "FAIL", "this hart belongs to no PMU; see rvpmu doctor");
		return;
	}
	if (is_crowded_out(&hart_pmu)) {
		verdict(hart, "count", "SKIP", "another program counts instructions of the whole hart and leaves no counter; end it (perf stat -a, prometheus-node-exporter)");
		return;
	}
	test_count(hart);
	test_sample(hart);
	test_branches(hart);
	test_read(hart);
}

int cmd_test(int argc, char **argv)
{
	char online[TEXT_SIZE], allowed[TEXT_SIZE];

	if (!read_status("Cpus_allowed_list", allowed)) {
		report_error("/proc/self/status does not say on which harts this process may run: mount proc (mount -t proc proc /proc)");
		return EXIT_MISSING;
	}
	if (!read_line(ONLINE, online))
		strcpy(online, allowed);
	json_open("tests", '[');
	for (long hart = next_in_list(online, 0); hart >= 0; hart = next_in_list(online, hart + 1))
		if (list_has(allowed, hart))
			test_hart(hart);
	json_close(']');
	json_number("failures", failures);
	return failures ? EXIT_DEGRADED : EXIT_OK;
}
