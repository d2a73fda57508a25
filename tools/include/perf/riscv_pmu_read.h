/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Read the events of the calling thread without a system call, on RISC-V.
 *
 *	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
 *					.config = PERF_COUNT_HW_INSTRUCTIONS };
 *	struct riscv_pmu_reader reader;
 *	struct riscv_pmu_count count;
 *
 *	if (riscv_pmu_reader_open(&reader, &attr, -1))
 *		return -1;
 *	...
 *	if (!riscv_pmu_reader_read(&reader, &count))
 *		printf("%llu\n", (unsigned long long)riscv_pmu_scale(&count));
 *	riscv_pmu_reader_close(&reader);
 *
 * What it needs: the kernel may move an event to another counter, or let another event use
 * the counter, after a program has read the counter's number and before it reads the counter.
 * The driver riscv-pmu emulates this read, and the program then finds that the page has
 * changed. With mainline's driver, such a read raises SIGILL, which kills the program. So the
 * functions below read a counter only if the kernel has RISCV_PMU_READ_CAP, which only
 * riscv-pmu has, and otherwise call read().
 *
 * A reader belongs to the thread that has opened it, which is recognized by its thread pointer
 * (tp). So close a reader before its thread ends: the C library may reuse the thread pointer for
 * a new thread, which would be taken for the owner. Each thread needs a thread pointer of its
 * own: clone() without CLONE_SETTLS gives the child that of its parent, and a read by the child
 * may then raise SIGILL.
 *
 * The header needs functions beyond ISO C: compile with -std=gnu11 or another gnu standard (GCC's
 * default is one), or with -D_DEFAULT_SOURCE.
 *
 * perf_mmap__read_self() of libperf is not used: it reads the counter whatever the kernel does,
 * so it gets this SIGILL, from other threads too; it does not support RV32; it returns the
 * times of the last context switch if the event was not multiplexed; and a program would have
 * to link libperf for one function.
 */
#ifndef _PERF_RISCV_PMU_READ_H
#define _PERF_RISCV_PMU_READ_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __riscv
#error "the counters of RISC-V harts can be read by RISC-V programs only"
#endif

/* With -std=c11, sys/mman.h does not declare madvise(), nor unistd.h syscall(). */
#ifndef MADV_NORMAL
#error "riscv_pmu_read.h calls madvise(): compile with -std=gnu11 or -D_DEFAULT_SOURCE"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Fast paths are inlined. Slow paths are out of line and tail-called, so that the fast path needs
 * no stack frame.
 */
#define RISCV_PMU_FAST_PATH	static inline __attribute__((__always_inline__))
#define RISCV_PMU_SLOW_PATH	static __attribute__((__noinline__, __cold__, unused))

/*
 * Only riscv-pmu has this file. Its kernel emulates a read of a counter that was reassigned after
 * the program read page->index, instead of sending SIGILL.
 */
#define RISCV_PMU_READ_CAP	"/sys/bus/event_source/devices/cpu/caps/backend"

/**
 * struct riscv_pmu_count - an event's count, with the layout of read()
 * @value:	events
 * @enabled:	nanoseconds for which the event was enabled and its thread ran
 * @running:	nanoseconds for which it had a counter, too; less than @enabled if it was
 *		multiplexed with other events
 */
struct riscv_pmu_count {
	uint64_t value;
	uint64_t enabled;
	uint64_t running;
};

/**
 * struct riscv_pmu_reader - an event of the thread that has opened it
 * @page:	the event's mapping; NULL if it cannot be read without a system call
 * @owner:	thread pointer (tp) of its thread; 0 in a child after fork()
 * @fd:		the event's descriptor, for ioctl() and as leader of a group
 */
struct riscv_pmu_reader {
	const volatile struct perf_event_mmap_page *page;
	uintptr_t *owner;
	int fd;
};

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
 * does not let this thread read raises SIGILL: programs call the functions below.
 */
RISCV_PMU_FAST_PATH uint64_t riscv_pmu_read_csr(unsigned long ctr)
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

static inline uint64_t riscv_pmu_read_time(void)
{
#if __riscv_xlen == 32
	uint32_t high, low, again;

	do {
		__asm__ volatile("rdtimeh %0" : "=r" (high));
		__asm__ volatile("rdtime %0" : "=r" (low));
		__asm__ volatile("rdtimeh %0" : "=r" (again));
	} while (high != again);
	return (uint64_t)high << 32 | low;
#else
	uint64_t time;

	__asm__ volatile("rdtime %0" : "=r" (time));
	return time;
#endif
}

/* The kernel updates the page on the reader's hart, so a compiler barrier suffices. */
#define riscv_pmu_barrier()	__asm__ volatile("" ::: "memory")

/* cap_user_rdpmc and cap_user_time, tested with one load. */
#define RISCV_PMU_READ_COUNT	((uint64_t)1 << 2)
#define RISCV_PMU_READ_TIMES	(RISCV_PMU_READ_COUNT | (uint64_t)1 << 3)

/*
 * What is read at one instant: the count; the page's sequence count (perf_event_mmap_page.lock);
 * the time CSR; and what the times of struct riscv_pmu_count would be if the time CSR were 0.
 */
struct riscv_pmu_snapshot {
	uint64_t value;
	uint64_t time;
	uint64_t enabled;
	uint64_t running;
	uint32_t seq;
};

/* The count, if the page has this index and does not change meanwhile. */
RISCV_PMU_FAST_PATH uint64_t
riscv_pmu_page_value(const volatile struct perf_event_mmap_page *page, unsigned long index)
{
	unsigned int unused = (64 - page->pmc_width) & 63;
	int64_t value = (int64_t)(riscv_pmu_read_csr(index - 1) << unused) >> unused;

	return (uint64_t)(page->offset + value);
}

/*
 * Reads a page as <linux/perf_event.h> describes at struct perf_event_mmap_page. @caps is
 * constant; the times are read if it is RISCV_PMU_READ_TIMES.
 */
RISCV_PMU_FAST_PATH bool
riscv_pmu_read_page(const volatile struct perf_event_mmap_page *page,
		    struct riscv_pmu_snapshot *snapshot, uint64_t caps)
{
	/* Normally one try succeeds. The limit prevents an endless loop. */
	unsigned int tries = 16;
	unsigned long index;
	uint32_t seq;

	do {
		if (!tries--)
			return false;
		seq = page->lock;
		riscv_pmu_barrier();
		index = page->index;
		if ((page->capabilities & caps) != caps || !index)
			return false;

		snapshot->value = riscv_pmu_page_value(page, index);
		if (caps == RISCV_PMU_READ_TIMES) {
			uint64_t offset = page->time_offset;

			snapshot->time = riscv_pmu_read_time();
			snapshot->enabled = page->time_enabled + offset;
			snapshot->running = page->time_running + offset;
		}
		riscv_pmu_barrier();
	} while (page->lock != seq || seq & 1);

	snapshot->seq = seq;
	return true;
}

/*
 * Nanoseconds of perf's clock for a value of the time CSR. The time CSR has 64 bits, so time_mask
 * has no effect; time_mult and time_shift never change, so they are read without the lock.
 */
static inline uint64_t riscv_pmu_time_to_ns(const volatile struct perf_event_mmap_page *page,
					    uint64_t time)
{
	unsigned int shift = page->time_shift;
	uint64_t upper = time >> shift, lower = time - (upper << shift), mult = page->time_mult;

	return upper * mult + (lower * mult >> shift);
}

/* What this source file knows of the kernel. 0: nothing yet, 1: reads are not safe, 2: they are. */
static __attribute__((unused)) int riscv_pmu_reads_known;

/**
 * riscv_pmu_reads_are_safe() - find out if the kernel emulates the read of a reassigned counter
 *
 * The first call in each source file makes a system call.
 *
 * Return: false with any other driver than riscv-pmu, and where sysfs is not mounted.
 */
RISCV_PMU_SLOW_PATH bool riscv_pmu_reads_are_safe(void)
{
	int known = __atomic_load_n(&riscv_pmu_reads_known, __ATOMIC_RELAXED);

	if (!known) {
		int err = errno;

		known = access(RISCV_PMU_READ_CAP, F_OK) ? 1 : 2;
		errno = err;
		__atomic_store_n(&riscv_pmu_reads_known, known, __ATOMIC_RELAXED);
	}

	return known == 2;
}

static inline bool riscv_pmu_read_value(const volatile struct perf_event_mmap_page *page,
					uint64_t *count)
{
	struct riscv_pmu_snapshot snapshot;

	if (!riscv_pmu_read_page(page, &snapshot, RISCV_PMU_READ_COUNT))
		return false;

	*count = snapshot.value;
	return true;
}

RISCV_PMU_SLOW_PATH bool
riscv_pmu_read_first(const volatile struct perf_event_mmap_page *page, uint64_t *count)
{
	return riscv_pmu_reads_are_safe() && riscv_pmu_read_value(page, count);
}

/**
 * riscv_pmu_read() - an event's count, without a system call
 * @page:	the mapping of an event of the calling thread: any CPU, not inherited
 * @count:	out: what read() would say
 *
 * A function for programs that open and map their events themselves. If another thread than
 * the event's calls it, it gets SIGILL: use riscv_pmu_reader_read() where that can happen.
 *
 * Return: false if that is not possible now: the event does not count at the
 * moment, its counter cannot be read, kernel.perf_user_access is 0, or the kernel has another
 * driver. Use read().
 */
static inline bool riscv_pmu_read(const volatile struct perf_event_mmap_page *page,
				  uint64_t *count)
{
	if (__atomic_load_n(&riscv_pmu_reads_known, __ATOMIC_RELAXED) != 2)
		return riscv_pmu_read_first(page, count);

	return riscv_pmu_read_value(page, count);
}

static inline uintptr_t riscv_pmu_thread(void)
{
	uintptr_t thread;

	/* A coroutine may go on in another thread, so the compiler is not to reuse a value. */
	__asm__ volatile("mv %0, tp" : "=r" (thread));
	return thread;
}

/* A page that says which thread has opened an event; its bytes are 0 in a child. */
static inline uintptr_t *riscv_pmu_map_owner(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	if (madvise(page, size, 18 /* MADV_WIPEONFORK */)) {
		munmap(page, size);
		return NULL;
	}

	*(uintptr_t *)page = riscv_pmu_thread();
	return (uintptr_t *)page;
}

/**
 * riscv_pmu_reader_open() - open an event of the calling thread
 * @reader:	out
 * @attr:	type, config, and what else perf_event_open() needs; the function sets read_format,
 *		and size if it is 0. Without ->disabled, the event counts from now on
 * @group_fd:	riscv_pmu_reader.fd of the group's leader, or -1
 *
 * An event that cannot be read without a system call (->inherit, sample_period, firmware events,
 * mainline's driver, kernel.perf_user_access=0) is opened all the same, and read by read().
 *
 * Return: 0, or -1 with errno: that of perf_event_open(), or ENOMEM.
 */
static inline int riscv_pmu_reader_open(struct riscv_pmu_reader *reader,
					struct perf_event_attr *attr, int group_fd)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = MAP_FAILED;

	if (!attr->size)
		attr->size = sizeof(*attr);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	reader->page = NULL;
	reader->owner = NULL;
	reader->fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, group_fd,
				  PERF_FLAG_FD_CLOEXEC);
	if (reader->fd < 0)
		return -1;

	reader->owner = riscv_pmu_map_owner(size);
	if (!reader->owner) {
		close(reader->fd);
		reader->fd = -1;
		errno = ENOMEM;
		return -1;
	}

	if (riscv_pmu_reads_are_safe())
		page = mmap(NULL, size, PROT_READ, MAP_SHARED, reader->fd, 0);
	if (page != MAP_FAILED)
		reader->page = (const volatile struct perf_event_mmap_page *)page;
	return 0;
}

RISCV_PMU_FAST_PATH bool
riscv_pmu_reader_snapshot(const struct riscv_pmu_reader *reader,
			  struct riscv_pmu_snapshot *snapshot)
{
	return *reader->owner == riscv_pmu_thread() && reader->page &&
	       riscv_pmu_read_page(reader->page, snapshot, RISCV_PMU_READ_TIMES);
}

/* A system call, if the thread is the right one. */
RISCV_PMU_SLOW_PATH int
riscv_pmu_reader_call(const struct riscv_pmu_reader *reader, struct riscv_pmu_count *count)
{
	long size;

	if (*reader->owner != riscv_pmu_thread()) {
		errno = EPERM;
		return -1;
	}

	size = read(reader->fd, count, sizeof(*count));
	if (size == sizeof(*count))
		return 0;
	if (size >= 0)
		errno = ENODATA;
	return -1;
}

/**
 * riscv_pmu_reader_read() - count and times of an event
 * @reader:	an event that this thread has opened
 * @count:	out
 *
 * Return: 0, or -1 with errno: EPERM if another thread than the calling one has opened the event,
 * or the parent before a fork() (use read() on riscv_pmu_reader.fd there); ENODATA if the event
 * is pinned and could not have a counter (disable and enable it); or that of read().
 */
static inline int riscv_pmu_reader_read(const struct riscv_pmu_reader *reader,
					struct riscv_pmu_count *count)
{
	struct riscv_pmu_snapshot snapshot;
	uint64_t ns;

	if (!riscv_pmu_reader_snapshot(reader, &snapshot))
		return riscv_pmu_reader_call(reader, count);

	ns = riscv_pmu_time_to_ns(reader->page, snapshot.time);
	count->value = snapshot.value;
	count->enabled = snapshot.enabled + ns;
	count->running = snapshot.running + ns;
	return 0;
}

/**
 * riscv_pmu_reader_close() - close an event
 * @reader:	the event
 *
 * Call it before the thread that has opened the event ends. Any thread may call it, and a child
 * after a fork(): the event stays open in the parent.
 */
static inline void riscv_pmu_reader_close(struct riscv_pmu_reader *reader)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	/* A child does not have the mapping of the event. Its address may be another one's. */
	if (reader->page && *reader->owner)
		munmap((void *)reader->page, size);
	munmap(reader->owner, size);
	close(reader->fd);
	reader->page = NULL;
	reader->owner = NULL;
	reader->fd = -1;
}

/**
 * riscv_pmu_scale() - estimate the count of an event that was multiplexed
 * @count:	count and times, or the differences of two of them
 *
 * Return: @count->value if the event always had a counter; 0 if it never had one.
 */
static inline uint64_t riscv_pmu_scale(const struct riscv_pmu_count *count)
{
	if (count->running >= count->enabled)
		return count->value;
	if (!count->running)
		return 0;
	return (uint64_t)((double)count->value * (double)count->enabled / (double)count->running);
}

#ifdef __cplusplus
}
#endif

#endif /* _PERF_RISCV_PMU_READ_H */
