// SPDX-License-Identifier: GPL-2.0
/*
 * Starts a "kernel" of two instructions by kexec, an endless loop, in which gdb examines
 * the state that Linux has left.
 * Until then a process on each hart reads the time and the counter of its own event
 * without system calls, and reports wrong values in the kernel's log.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../tools/include/perf/riscv_pmu_read.h"

/* Memory that Linux does not use at this time. */
#define ENTRY		0x90000000UL
#define TREE		0x92000000UL
#define PAGE		4096UL

/* wfi; j ENTRY */
static const uint32_t wait_for_ever[] = { 0x10500073, 0xffdff06f };
/* machine_kexec() needs a devicetree. The size must be a multiple of a page. */
static char tree[256 * 1024];

static int fail(const char *what)
{
	fprintf(stderr, "kexec-guest: %s: %s\n", what, strerror(errno));
	return 1;
}

/* Writes to the kernel's log, which reaches the console immediately, unlike a terminal. */
static void tell(const char *text)
{
	int fd = open("/dev/kmsg", O_WRONLY);

	if (fd >= 0 && write(fd, text, strlen(text)) > 0)
		close(fd);
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

int main(void)
{
	FILE *file = fopen("/sys/firmware/fdt", "r");
	size_t size;

	if (!file)
		return fail("/sys/firmware/fdt");
	size = fread(tree, 1, sizeof(tree), file);
	fclose(file);

	struct kexec_segment segments[] = {
		{ wait_for_ever, sizeof(wait_for_ever), (void *)ENTRY, PAGE },
		{ tree, size, (void *)TREE, sizeof(tree) },
	};

	if (syscall(SYS_kexec_load, ENTRY, 2UL, segments, (long)KEXEC_ARCH_RISCV))
		return fail("kexec_load");
	start_readers();
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, 0);
	return fail("reboot");
}
