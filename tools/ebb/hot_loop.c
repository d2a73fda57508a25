// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Samples itself and prints the share of each function in its instructions, without a
 * profiler, a signal or a file. Usage: hot_loop [MILLION-INSTRUCTIONS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ebb.h"

#define PERIOD	100000
#define MOST	1000000		/* million instructions */

/* Each function has its own CODE bytes: not inlined, cloned or merged. */
#define CODE		64
#define FUNCTION	__attribute__((noipa, aligned(CODE)))

/* Executes N instructions, in a loop of two. */
#define SPIN(n)	__asm__ volatile("1: addi %0, %0, -2\n\tbgtz %0, 1b" : "+r"(n))

static FUNCTION void parse(long n)	{ SPIN(n); }
static FUNCTION void search(long n)	{ SPIN(n); }
static FUNCTION void print(long n)	{ SPIN(n); }

static struct {
	const char *name;
	uintptr_t begin;
	unsigned long hits;
} functions[] = {
	{ .name = "parse", .begin = (uintptr_t)parse },
	{ .name = "search", .begin = (uintptr_t)search },
	{ .name = "print", .begin = (uintptr_t)print },
};

#define FUNCTIONS	(sizeof(functions) / sizeof(*functions))

static unsigned long samples;

static void on_overflow(volatile struct riscv_ebb_page *page, void *arg)
{
	samples++;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		if (page->pc - functions[i].begin < CODE)
			functions[i].hits++;
	}
}

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
	uint64_t count;
	int fd;

	if (n < 1 || n > MOST) {
		fprintf(stderr, "hot_loop: give a number from 1 to %d, not '%s'\n", MOST, argv[1]);
		return 2;
	}
	n *= 1000000;

	fd = ebb_open(&attr, -1);
	if (fd < 0) {
		perror("hot_loop: cannot open an EBB event (needs riscv-pmu and Sscofpmf)");
		return 1;
	}

	ebb_period(ebb_counter(&attr), PERIOD);
	ebb_handler(on_overflow, NULL);
	ebb_enable();
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		perror("hot_loop: enable");
		return 1;
	}
	if (read(fd, &count, sizeof(count)) != sizeof(count)) {
		fprintf(stderr,
			"hot_loop: another pinned event has the PMU: if it is that of the NMI watchdog, run sysctl kernel.nmi_watchdog=0\n");
		return 1;
	}
	/* 10 %, 60 % and 30 % of the instructions */
	parse(n / 10);
	search(n / 10 * 6);
	print(n / 10 * 3);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);

	for (size_t i = 0; i < FUNCTIONS && samples; i++)
		printf("%-8s %3lu %%\n", functions[i].name,
		       (functions[i].hits * 100 + samples / 2) / samples);
	printf("%lu samples\n", samples);
	return !samples;
}
