// SPDX-License-Identifier: GPL-2.0
/*
 * /init of the guest with 32-bit harts, its only program: Debian has no RV32 user space, so this one
 * is built with the kernel's nolibc. Prints TAP: with the argument "kunit" the results of the KUnit
 * suites at boot, else tests of counts, samples and reads in user mode.
 *
 * The guest runs under -icount shift=0 on one hart: a nanosecond is an instruction.
 */

#include <asm/unistd.h>
#include <linux/perf_event.h>

/* QEMU numbers the ports of scripts/guest/boot in the order of their options. */
#define PORT_OUT	"/dev/vport0p1"
#define PORT_STATUS	"/dev/vport0p2"
#define SUITES		"/sys/kernel/debug/kunit"

#define RING_PAGES	16
#define PAGE_SIZE	4096UL
#define LOOP_SIZE	2U		/* instructions of a turn */
#define SAMPLE_PERIOD	1000000U
#define CARRY		(1ULL << 32)

static char buffer[4096];
static int cases, failures;

/* --- files ------------------------------------------------------------------ */

/* Returns the number of bytes. */
static size_t copy_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t copied = 0;
	ssize_t length;

	while ((length = read(fd, buffer, sizeof(buffer))) > 0) {
		write(1, buffer, length);
		copied += length;
	}
	close(fd);
	return copied;
}

static int print_suites(void)
{
	static char names[4096];
	int fd = open(SUITES, O_RDONLY | O_DIRECTORY), suites = 0, length;

	while ((length = getdents64(fd, (void *)names, sizeof(names))) > 0) {
		for (int at = 0; at < length;) {
			struct linux_dirent64 *entry = (void *)(names + at);
			char path[256] = SUITES "/";

			at += entry->d_reclen;
			if (entry->d_name[0] == '.')
				continue;
			strlcat(path, entry->d_name, sizeof(path));
			strlcat(path, "/results", sizeof(path));
			if (copy_file(path)) {
				suites++;
				continue;
			}
			printf("%s cannot be read\n", path);
			return 1;
		}
	}
	if (!suites)
		printf("no KUnit suite ran: boot with kunit.enable=1\n");
	return suites ? 0 : 1;
}

/* --- events ----------------------------------------------------------------- */

/* nolibc has no %llu. */
static void print_hex(const char *name, uint64_t value)
{
	printf("# %s: 0x%x%08x\n", name, (unsigned int)(value >> 32), (unsigned int)value);
}

static int result(const char *name, int good)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++cases, name);
	failures += !good;
	return good;
}

static void skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++cases, name, why);
}

/*
 * QEMU 10.0.2 has filters on RV32 in the upper halves of counters only, so the tests use harts without
 * Sscofpmf, and events without filters.
 */
static int open_event(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.sample_type = period ? PERF_SAMPLE_PERIOD : 0,
	};

	return my_syscall5(__NR_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint64_t read_event(int fd)
{
	uint64_t value = 0;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		printf("# cannot read the event\n");
	return value;
}

static __attribute__((noinline)) void loop(unsigned int turns)
{
	asm volatile("1:	addi	%0, %0, -1\n"
		     "	bnez	%0, 1b\n"
		     : "+r" (turns));
}

/* --- counts and samples ------------------------------------------------------- */

/*
 * The kernel's instructions are counted, too: the system calls, and a timer interrupt of at most 100 us
 * every 4 ms, which is 2.5 %.
 */
static int is_count_of(uint64_t count, uint64_t instructions)
{
	return count >= instructions && count - instructions < (instructions >> 5) + 100000;
}

static void test_event(const char *name, uint64_t config, unsigned int turns)
{
	int fd = open_event(config, 0);
	uint64_t count;

	count = read_event(fd);
	loop(turns);
	count = read_event(fd) - count;
	if (!result(name, fd >= 0 && is_count_of(count, (uint64_t)turns * LOOP_SIZE)))
		print_hex("count", count);
	close(fd);
}

static uint64_t sum_of_periods(struct perf_event_mmap_page *page, unsigned int *samples)
{
	char *ring = (char *)page + PAGE_SIZE;
	unsigned int head = page->data_head;
	uint64_t sum = 0;

	*samples = 0;
	for (unsigned int at = 0; at < head;) {
		struct perf_event_header *header = (void *)(ring + at);

		if (header->type == PERF_RECORD_SAMPLE) {
			sum += *(uint64_t *)(header + 1);
			++*samples;
		}
		at += header->size;
	}
	return sum;
}

/*
 * Without an overflow interrupt a timer takes the samples, at the latest 10 ms after a period has ended.
 * A sample represents all periods that have ended.
 */
static void test_samples(void)
{
	const char *name = "the periods of the samples of a loop are what it has counted";
	int fd = open_event(PERF_COUNT_HW_INSTRUCTIONS, SAMPLE_PERIOD);
	struct perf_event_mmap_page *page;
	unsigned int samples;
	uint64_t count, sum;

	page = mmap(NULL, (1 + RING_PAGES) * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || page == MAP_FAILED) {
		result(name, 0);
		return;
	}
	loop(100 * SAMPLE_PERIOD / LOOP_SIZE);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	count = read_event(fd);
	sum = sum_of_periods(page, &samples);
	if (!result(name, samples >= 10 && sum <= count && count - sum < 11 * SAMPLE_PERIOD)) {
		print_hex("count", count);
		print_hex("sum of the periods", sum);
		printf("# %u samples\n", samples);
	}
	munmap(page, (1 + RING_PAGES) * PAGE_SIZE);
	close(fd);
}

/* --- reads in user mode ------------------------------------------------------ */

/* The upper half has to be the same before and after the lower one is read. */
#define CASE(n)										\
	case n:										\
		do {									\
			asm volatile("csrr %0, 0xc80 + " #n : "=r" (high));		\
			asm volatile("csrr %0, 0xc00 + " #n : "=r" (low));		\
			asm volatile("csrr %0, 0xc80 + " #n : "=r" (again));		\
		} while (high != again);						\
		break;

static uint64_t read_counter(unsigned int number)
{
	uint32_t high = 0, low = 0, again = 0;

	switch (number) {
	CASE(0) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11)
	CASE(12) CASE(13) CASE(14) CASE(15) CASE(16) CASE(17) CASE(18) CASE(19) CASE(20) CASE(21)
	CASE(22) CASE(23) CASE(24) CASE(25) CASE(26) CASE(27) CASE(28) CASE(29) CASE(30) CASE(31)
	}
	return (uint64_t)high << 32 | low;
}

/* As include/uapi/linux/perf_event.h describes. Returns 0 if there is no counter to read. */
static uint64_t read_page(volatile struct perf_event_mmap_page *page)
{
	uint32_t seq, index;
	uint64_t count;

	do {
		seq = page->lock;
		asm volatile("" : : : "memory");
		index = page->index;
		count = page->offset;
		if (!index || !page->cap_user_rdpmc || page->pmc_width != 64)
			return 0;
		count += read_counter(index - 1);
		asm volatile("" : : : "memory");
	} while (page->lock != seq);
	return count;
}

/*
 * The loop's instructions, read in user mode before and after. A timer interrupt in between makes it
 * more, so the least of several results counts.
 */
static uint64_t count_by_page(struct perf_event_mmap_page *page, unsigned int turns)
{
	uint64_t least = -1ULL, count;

	for (int i = 0; i < 5; i++) {
		count = read_page(page);
		loop(turns);
		count = read_page(page) - count;
		least = count < least ? count : least;
	}
	return least;
}

static void test_exact(struct perf_event_mmap_page *page)
{
	uint64_t few, many;

	count_by_page(page, 1000);
	few = count_by_page(page, 1000);
	many = count_by_page(page, 1001000);
	if (!result("a loop's instructions are counted exactly", many - few == LOOP_SIZE * 1000000)) {
		print_hex("for 1000 turns", few);
		print_hex("for 1001000 turns", many);
	}
}

/*
 * A torn read is wrong by 2^32; an interrupt between two reads has less than 2^24 instructions. If page
 * is NULL, the kernel reads.
 */
static unsigned int count_torn(int fd, struct perf_event_mmap_page *page, unsigned int reads, uint64_t end)
{
	uint64_t last = read_event(fd), now;
	unsigned int torn = 0;

	for (; reads || last < end; reads -= !!reads) {
		now = page ? read_page(page) : read_event(fd);
		if (now - last > 1 << 24) {
			torn++;
			print_hex("read", now);
			print_hex("after", last);
		}
		last = now;
	}
	return torn + (read_event(fd) - last > 1 << 24);
}

static void test_page(int fd)
{
	struct perf_event_mmap_page *page = mmap(NULL, PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED || !read_page(page)) {
		result("an event is read in user mode", 0);
		return;
	}
	test_exact(page);
	result("of ten million reads in user mode none is torn", !count_torn(fd, page, 10000000, 0));
	munmap(page, PAGE_SIZE);
}

static int is_legacy(void)
{
	int fd = open("/sys/bus/event_source/devices/cpu/caps/backend", O_RDONLY);
	ssize_t length = read(fd, buffer, sizeof(buffer));

	close(fd);
	return length >= 6 && !memcmp(buffer, "legacy", 6);
}

/*
 * If a counter was written, QEMU 10.0.2 increments its upper half at another time than when the lower
 * half wraps. The legacy backend never writes: its counter, which has run since the boot, and the
 * event's count pass 2^32 one after the other.
 */
static void test_reads(void)
{
	int fd = open_event(PERF_COUNT_HW_INSTRUCTIONS, 0);

	if (is_legacy()) {
		skip("an event is read in user mode", "the legacy backend does not support that");
		result("no read is torn while counter and count pass 2^32",
		       !count_torn(fd, NULL, 0, CARRY + 1000000));
	} else {
		test_page(fd);
		skip("no read is torn while counter and count pass 2^32",
		     "QEMU increments the upper half of a written counter at a wrong time");
	}
	close(fd);
}

static int run_tests(void)
{
	test_event("instructions of a loop are counted", PERF_COUNT_HW_INSTRUCTIONS, 10000000);
	/* One cycle of QEMU's is one instruction. */
	test_event("cycles of a loop are counted", PERF_COUNT_HW_CPU_CYCLES, 10000000);
	test_event("a count passes 2^32", PERF_COUNT_HW_INSTRUCTIONS, 1U << 31);
	test_samples();
	test_reads();
	printf("1..%d\n", cases);
	return failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	int out, status;

	mkdir("/sys", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	out = open(PORT_OUT, O_WRONLY);
	if (out >= 0)
		dup2(out, 1);
	if (argc > 1 && !strcmp(argv[1], "kunit"))
		status = print_suites();
	else
		status = run_tests();
	out = open(PORT_STATUS, O_WRONLY);
	write(out, status ? "1\n" : "0\n", 2);
	reboot(LINUX_REBOOT_CMD_POWER_OFF);
	return status;
}
