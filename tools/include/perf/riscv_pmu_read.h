/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Read an event of one's own without a system call, on RISC-V.
 *
 * A process that has opened an event for itself (pid 0 or one of its threads, any
 * CPU, not inherited) and has mapped the first page of it can read its counter:
 *
 *	struct perf_event_mmap_page *page = mmap(NULL, page_size,
 *						 PROT_READ, MAP_SHARED, fd, 0);
 *	...
 *	if (!riscv_pmu_read(page, &count))
 *		read(fd, &count, sizeof(count));
 *
 * Only the thread that the event is for may do so. What the page says, and why it
 * is read in this order, is told in <linux/perf_event.h> at struct
 * perf_event_mmap_page.
 */
#ifndef _PERF_RISCV_PMU_READ_H
#define _PERF_RISCV_PMU_READ_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef __riscv
#error "the counters of RISC-V harts can be read by RISC-V programs only"
#endif

#if __riscv_xlen == 32
/* The halves belong together if the upper one has not changed meanwhile. */
#define RISCV_PMU_READ_CSR(n)							\
	case n: {								\
		uint32_t high, low, again;					\
										\
		do {								\
			__asm__ volatile("csrr %0, 0xc80 + " #n : "=r" (high));	\
			__asm__ volatile("csrr %0, 0xc00 + " #n : "=r" (low));	\
			__asm__ volatile("csrr %0, 0xc80 + " #n : "=r" (again));	\
		} while (high != again);					\
		return (uint64_t)high << 32 | low;				\
	}
#else
#define RISCV_PMU_READ_CSR(n)							\
	case n: {								\
		uint64_t value;							\
										\
		__asm__ volatile("csrr %0, 0xc00 + " #n : "=r" (value));	\
		return value;							\
	}
#endif

/**
 * riscv_pmu_read_csr() - read a counter
 * @ctr:	its number: 0 for cycle, 2 for instret, 3 to 31 for hpmcounter3 to 31
 *
 * The number is part of the instruction, hence a branch for each.
 *
 * Return: its value; bits above its width are undefined. A counter that the kernel
 * does not let this thread read raises SIGILL.
 */
static inline uint64_t riscv_pmu_read_csr(unsigned int ctr)
{
	switch (ctr) {
	RISCV_PMU_READ_CSR(0)
	RISCV_PMU_READ_CSR(2)
	RISCV_PMU_READ_CSR(3)
	RISCV_PMU_READ_CSR(4)
	RISCV_PMU_READ_CSR(5)
	RISCV_PMU_READ_CSR(6)
	RISCV_PMU_READ_CSR(7)
	RISCV_PMU_READ_CSR(8)
	RISCV_PMU_READ_CSR(9)
	RISCV_PMU_READ_CSR(10)
	RISCV_PMU_READ_CSR(11)
	RISCV_PMU_READ_CSR(12)
	RISCV_PMU_READ_CSR(13)
	RISCV_PMU_READ_CSR(14)
	RISCV_PMU_READ_CSR(15)
	RISCV_PMU_READ_CSR(16)
	RISCV_PMU_READ_CSR(17)
	RISCV_PMU_READ_CSR(18)
	RISCV_PMU_READ_CSR(19)
	RISCV_PMU_READ_CSR(20)
	RISCV_PMU_READ_CSR(21)
	RISCV_PMU_READ_CSR(22)
	RISCV_PMU_READ_CSR(23)
	RISCV_PMU_READ_CSR(24)
	RISCV_PMU_READ_CSR(25)
	RISCV_PMU_READ_CSR(26)
	RISCV_PMU_READ_CSR(27)
	RISCV_PMU_READ_CSR(28)
	RISCV_PMU_READ_CSR(29)
	RISCV_PMU_READ_CSR(30)
	RISCV_PMU_READ_CSR(31)
	}

	return 0;
}

/* Reader and kernel share a hart: the compiler alone could change the order. */
#define riscv_pmu_barrier()	__asm__ volatile("" ::: "memory")

/**
 * riscv_pmu_read() - an event's count, without a system call
 * @page:	the event's mapping
 * @count:	out: what read() would say
 *
 * Return: false if that is not possible now: the event does not count at the
 * moment, its counter can not be read, or kernel.perf_user_access is 0. Use read().
 */
static inline bool riscv_pmu_read(const volatile struct perf_event_mmap_page *page,
				  uint64_t *count)
{
	/* One is enough, two if the page changes meanwhile; nobody is to wait for ever. */
	unsigned int unused, tries = 16;
	uint32_t lock, index;

	do {
		if (!tries--)
			return false;
		lock = page->lock;
		riscv_pmu_barrier();
		index = page->index;
		if (!page->cap_user_rdpmc || !index)
			return false;

		unused = 64 - page->pmc_width;
		*count = page->offset +
			 ((int64_t)(riscv_pmu_read_csr(index - 1) << unused) >> unused);
		riscv_pmu_barrier();
	} while (page->lock != lock || lock & 1);

	return true;
}

#endif /* _PERF_RISCV_PMU_READ_H */
