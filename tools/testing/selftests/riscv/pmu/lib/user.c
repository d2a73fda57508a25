// SPDX-License-Identifier: GPL-2.0
/* What tests of reads without a system call share. */

#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "user.h"

struct perf_event_mmap_page *map(int fd)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

void unmap(struct perf_event_mmap_page *page)
{
	munmap(page, sysconf(_SC_PAGESIZE));
}

bool wraps_without_interrupt(void)
{
	return pmu_caps_number("counter_width") < 64 && !pmu_samples_by_interrupt();
}

int pin_to(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

static sigjmp_buf trap_env;

static void trap_handler(int sig)
{
	siglongjmp(trap_env, sig);
}

bool traps(unsigned int ctr)
{
	struct sigaction old, act = { .sa_handler = trap_handler };
	bool trapped;

	sigaction(SIGILL, &act, &old);
	trapped = sigsetjmp(trap_env, 1);
	if (!trapped)
		riscv_pmu_read_csr(ctr);
	sigaction(SIGILL, &old, NULL);
	return trapped;
}
