// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Changes its algorithm if it misses the TLB too often: adds up a table by columns, with each
 * step on another page, until the TLB misses per instruction exceed a limit, and then by rows.
 * Usage: walk [MAX-SECONDS]
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ebb.h"

#define ROWS	1024		/* one page each */
#define COLUMNS	512
#define PERIOD	1000		/* TLB misses from one check to the next */
#define LIMIT	500		/* TLB misses per million instructions */
#define MOST	1000000		/* seconds */

static uint64_t table[ROWS][COLUMNS] __attribute__((aligned(4096)));

static int leader = -1;
static volatile bool is_slow;

/* The group is stopped here, so the counts are exact. */
static void on_overflow(volatile struct riscv_ebb_page *page, void *arg)
{
	struct { uint64_t nr, misses, instructions; } now;
	static uint64_t misses, instructions;

	if (read(leader, &now, sizeof(now)) != sizeof(now))
		return;
	if ((now.misses - misses) * 1000000 > (now.instructions - instructions) * LIMIT)
		is_slow = true;
	misses = now.misses;
	instructions = now.instructions;
}

static bool open_events(void)
{
	struct perf_event_attr misses = {
		.size = sizeof(misses),
		.type = PERF_TYPE_HW_CACHE,
		.config = PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 |
			  PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
		.read_format = PERF_FORMAT_GROUP,
	};
	struct perf_event_attr instructions = {
		.size = sizeof(instructions),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.read_format = PERF_FORMAT_GROUP,
	};

	leader = ebb_open(&misses, -1);
	if (leader < 0 || ebb_open(&instructions, leader) < 0)
		return false;

	ebb_period(ebb_counter(&misses), PERIOD);
	ebb_handler(on_overflow, NULL);
	ebb_enable();
	return !ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

static uint64_t mix(uint64_t x)
{
	for (int i = 0; i < 4; i++)
		x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
	return x;
}

static uint64_t by_columns(void)
{
	uint64_t sum = 0;

	for (int column = 0; column < COLUMNS; column++) {
		for (int row = 0; row < ROWS; row++)
			sum += mix(table[row][column]);
	}
	return sum;
}

static uint64_t by_rows(void)
{
	uint64_t sum = 0;

	for (int row = 0; row < ROWS; row++) {
		for (int column = 0; column < COLUMNS; column++)
			sum += mix(table[row][column]);
	}
	return sum;
}

int main(int argc, char **argv)
{
	long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
	unsigned long turn = 0;
	uint64_t sum;
	time_t end;

	if (seconds < 1 || seconds > MOST) {
		fprintf(stderr, "walk: give a number from 1 to %d, not '%s'\n", MOST, argv[1]);
		return 2;
	}

	end = time(NULL) + seconds;
	memset(table, 1, sizeof(table));
	if (!open_events()) {
		perror("walk: cannot open EBB events (needs riscv-pmu and Sscofpmf)");
		return 1;
	}

	do {
		turn++;
		sum = by_columns();
	} while (!is_slow && time(NULL) < end);

	printf("%lu times by columns: %s\n", turn, is_slow ? "too many TLB misses" : "fast enough");
	/* The first check may include misses of the columns. */
	for (int i = 0; i < 10; i++) {
		if (i < 2)
			is_slow = false;
		if (by_rows() != sum)
			return 1;
	}
	printf("10 times by rows: %s\n", is_slow ? "too many TLB misses" : "fast enough");
	return 0;
}
