// SPDX-License-Identifier: GPL-2.0
/*
 * kexec-guest [crash|hang]: starts a "kernel" of a few instructions by kexec, by a crash, or by a hart
 * that hangs until the detector of hard lockups panics in an NMI. This kernel unmasks the hart for SSE
 * events, as a user of such events does, and executes a loop of tens of milliseconds, in which counters
 * that still run overflow, and then an endless one. gdb examines there the state that Linux has left.
 * Until then a process on each hart reads the time and the counter of its own event
 * without system calls, and reports wrong values in the kernel's log.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../tools/include/perf/riscv_pmu_read.h"

/* Memory that Linux does not use at this time; for a crash, crashkernel= reserves it. */
#define ENTRY		0x90000000UL
#define TREE		0x92000000UL
#define PAGE		4096UL

/* scripts/check/kexec has the addresses of the two endless loops. */
static const uint32_t next_kernel[] = {
	0x00000297,	/* auipc t0, 0 */
	0x03028293,	/* addi t0, t0, 48 */
	0x10529073,	/* csrw stvec, t0 */
	0x005358b7,	/* lui a7, 0x535 */
	0x34588893,	/* addi a7, a7, 0x345: SSE */
	0x00800813,	/* li a6, 8: HART_UNMASK */
	0x00000073,	/* ecall */
	0x020002b7,	/* lui t0, 0x2000 */
	0xfff28293,	/* 1: addi t0, t0, -1 */
	0xfe029ee3,	/* bnez t0, 1b */
	0x10500073,	/* 2: wfi */
	0xffdff06f,	/* j 2b */
	0x10500073,	/* the exception vector: wfi */
	0xffdff06f,	/* j the exception vector */
};
/* machine_kexec() needs a devicetree. The size must be a multiple of a page. */
static char tree[256 * 1024];

static int fail(const char *what)
{
	fprintf(stderr, "kexec-guest: %s: %s\n", what, strerror(errno));
	return 1;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? fail(path) : 0;
}

/* Writes to the kernel's log, which reaches the console immediately, unlike a terminal. */
static void tell(const char *text)
{
	write_text("/dev/kmsg", text);
}

static int stay_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

/* Reads the counter until the machine stops; never returns. */
static void read_on(int cpu)
{
	/* No other event samples this, so the counter is not shared. */
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HW_CACHE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 |
			  PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
		.exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);
	uint64_t direct, count, now;

	if (page == MAP_FAILED || stay_on(cpu) || !riscv_pmu_read(page, &count))
		tell("kexec-guest: cannot map a readable counter\n");

	for (;;) {
		__asm__ volatile("rdtime %0" : "=r" (now));
		if (!riscv_pmu_read(page, &direct))
			continue;
		if (read(fd, &count, sizeof(count)) != sizeof(count) || direct > count) {
			tell("kexec-guest: a direct counter read exceeds read()\n");
			_exit(1);
		}
	}
}

static void start_readers(void)
{
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		if (!fork())
			read_on(cpu);
	}
	/* Give all readers time to start, and leave the other harts to them. */
	stay_on(0);
	sleep(1);
	tell("kexec-guest starts the kexec\n");
}

/* Needs CONFIG_MAGIC_SYSRQ. */
static int crash(void)
{
	return write_text("/proc/sysrq-trigger", "c");
}

/*
 * Executes a loop of some 10 s with interrupts off. With a threshold of 1 s, the kernel checks a hart
 * of 1 GHz every 5 s, and the second check panics.
 */
static int hang(void)
{
	return write_text("/proc/sys/kernel/watchdog_thresh", "1") ||
	       write_text("/proc/sys/kernel/hardlockup_panic", "1") ||
	       write_text("/sys/kernel/debug/riscv_pmu/spin", "10000000000");
}

int main(int argc, char **argv)
{
	bool is_hang = argc > 1 && !strcmp(argv[1], "hang");
	bool is_crash = argc > 1 && (is_hang || !strcmp(argv[1], "crash"));
	FILE *file = fopen("/sys/firmware/fdt", "r");
	size_t size;

	if (!file)
		return fail("/sys/firmware/fdt");
	size = fread(tree, 1, sizeof(tree), file);
	fclose(file);

	struct kexec_segment segments[] = {
		{ next_kernel, sizeof(next_kernel), (void *)ENTRY, PAGE },
		{ tree, size, (void *)TREE, sizeof(tree) },
	};

	if (syscall(SYS_kexec_load, ENTRY, 2UL, segments,
		    (long)(KEXEC_ARCH_RISCV | (is_crash ? KEXEC_ON_CRASH : 0))))
		return fail("kexec_load");
	start_readers();
	if (is_crash)
		return is_hang ? hang() : crash();
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, 0);
	return fail("reboot");
}
