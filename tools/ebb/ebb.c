// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Library for event-based branches (EBBs): see ebb.h. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ebb.h"

#ifndef PR_RISCV_V_GET_CONTROL
#define PR_RISCV_V_GET_CONTROL		70
#define PR_RISCV_V_VSTATE_CTRL_OFF	1
#define PR_RISCV_V_VSTATE_CTRL_CUR_MASK	0x3
#endif

/* entry.S */
void ebb_entry(void);
void ebb_entry_vector(void);
void ebb_dispatch(uintptr_t *pc);

#define EBB_COUNTERS	32

/*
 * State of this thread: the mapped page and its device descriptor; the handler, its argument
 * and its entry point (0: none); the stack pointer at the call of the handler (0: none is running);
 * and whether EBBs are disabled, or the page will be unmapped after the handler returns. It is in
 * static TLS, because the first access to another variable of a thread may allocate memory, which a
 * handler must not do.
 */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
	volatile struct riscv_ebb_page *page;
	int dev;
	ebb_handler_fn *fn;
	void *arg;
	uintptr_t entry;
	uintptr_t stack;
	bool disabled;
	bool closed;
} self;

/* A child does not inherit the page. */
static void forget_all(void)
{
	if (self.page)
		close(self.dev);
	memset(&self, 0, sizeof(self));
}

/* A thread with a page has a value for this key. */
static pthread_key_t exit_key;
static int exit_key_error;

static void close_at_exit(void *page)
{
	/* If a handler has ended the thread, it does not return. */
	self.stack = 0;
	ebb_close();
}

/* Before the constructors of programs, which may call the library. */
static void __attribute__((constructor(101))) watch_forks_and_exits(void)
{
	pthread_atfork(NULL, NULL, forget_all);
	exit_key_error = pthread_key_create(&exit_key, close_at_exit);
}

/*
 * Called by entry.S, on the stack of the interrupted code. Stores the interrupted pc, which
 * unwinders expect in the frame of the entry.
 */
void ebb_dispatch(uintptr_t *pc)
{
	int err = errno;

	/* __builtin_frame_address(0) would take three instructions more. */
	__asm__ volatile("mv %0, sp" : "=r" (self.stack));
	*pc = self.page->pc;
	self.fn(self.page, self.arg);
	self.stack = 0;
	errno = err;
}

/*
 * Whether the caller is a handler, or was called by one: its stack pointer is below that at the
 * handler's entry. A handler that was left by siglongjmp() has not cleared self.stack. This is
 * noticed unless the program has meanwhile called functions to the same depth; see ebb_handler_fn.
 */
static bool is_inside(void)
{
	return (uintptr_t)__builtin_frame_address(0) <= self.stack;
}

static void unmap(void)
{
	munmap((void *)self.page, sysconf(_SC_PAGESIZE));
	forget_all();
}

static void *map_page(int dev)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, dev, 0);
	int err;

	if (page == MAP_FAILED)
		return NULL;

	err = exit_key_error ?: pthread_setspecific(exit_key, page);
	if (!err)
		return page;
	munmap(page, sysconf(_SC_PAGESIZE));
	errno = err;
	return NULL;
}

volatile struct riscv_ebb_page *ebb_page(void)
{
	void *page;
	int dev;

	if (self.closed && !is_inside())
		unmap();
	if (self.page)
		return self.page;

	dev = open("/dev/riscv_ebb", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return NULL;
	page = map_page(dev);
	if (!page) {
		int err = errno;

		close(dev);
		errno = err;
		return NULL;
	}

	self.dev = dev;
	self.page = page;
	return page;
}

unsigned int ebb_counter(const struct perf_event_attr *attr)
{
	uint64_t mask = attr->config2;

	if (!mask || mask & (mask - 1) || mask >> EBB_COUNTERS) {
		errno = EINVAL;
		return UINT_MAX;
	}

	return __builtin_ctzll(mask);
}

static int ebb_try(struct perf_event_attr *attr, int group_fd)
{
	return syscall(SYS_perf_event_open, attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
}

int ebb_open(struct perf_event_attr *attr, int group_fd)
{
	int fd = -1, err = EINVAL;

	if (!ebb_page())
		return -1;

	attr->config1 |= RISCV_PMU_CONFIG1_EBB;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->disabled = group_fd < 0;
	attr->pinned = group_fd < 0;
	attr->exclusive = group_fd < 0;
	if (attr->config2)
		return ebb_try(attr, group_fd);

	for (int ctr = 0; ctr < EBB_COUNTERS && fd < 0; ctr++) {
		attr->config2 = 1ULL << ctr;
		fd = ebb_try(attr, group_fd);
		/* EINVAL: this counter cannot hold the event. Another error says more. */
		err = err == EINVAL ? errno : err;
	}
	if (fd < 0) {
		attr->config2 = 0;
		errno = err;
	}

	return fd;
}

/* A page that was closed in a handler stays mapped, but is not to be enabled again. */
static bool can_use(void)
{
	return self.page && !self.closed;
}

static int no_page(void)
{
	errno = ENXIO;
	return -1;
}

int ebb_period(unsigned int counter, uint64_t events)
{
	if (!can_use())
		return no_page();
	if (counter >= EBB_COUNTERS) {
		errno = EINVAL;
		return -1;
	}

	self.page->period[counter] = events;
	return 0;
}

/* Other threads can write to the page, so the number is not trusted. */
unsigned int ebb_branches(struct perf_branch_entry *entries, unsigned int max)
{
	uint64_t nr = self.page ? self.page->nr_branches : 0;
	unsigned int n;

	if (max > RISCV_EBB_MAX_BRANCHES)
		max = RISCV_EBB_MAX_BRANCHES;
	for (n = 0; n < max && n < nr; n++) {
		const struct riscv_ebb_branch branch = self.page->branches[n];

		memcpy(&entries[n], &branch, sizeof(branch));
	}

	return n;
}

/* A thread that has disabled its vector unit would get SIGILL if it saved vector registers. */
static bool has_vector(void)
{
	int control = prctl(PR_RISCV_V_GET_CONTROL);

	return getauxval(AT_HWCAP) & 1UL << ('V' - 'A') &&
	       (control < 0 ||
		(control & PR_RISCV_V_VSTATE_CTRL_CUR_MASK) != PR_RISCV_V_VSTATE_CTRL_OFF);
}

/* Disables EBBs until a handler returns. Returns whether they were enabled. */
static bool hold(void)
{
	bool enabled = self.page->control & RISCV_EBB_ENABLE;

	self.page->control = 0;
	atomic_signal_fence(memory_order_seq_cst);
	return enabled;
}

static int set_entry(void)
{
	const struct riscv_ebb_register reg = {
		.size = sizeof(reg),
		.version = RISCV_EBB_VERSION,
		.handler = self.disabled ? 0 : self.entry,
	};

	return ioctl(self.dev, RISCV_EBB_IOC_REGISTER, &reg);
}

int ebb_handler(ebb_handler_fn *fn, void *arg)
{
	bool enabled;

	if (!can_use())
		return no_page();

	enabled = hold();
	self.entry = 0;
	if (fn)
		self.entry = (uintptr_t)(has_vector() ? ebb_entry_vector : ebb_entry);
	self.fn = fn;
	self.arg = arg;
	if (set_entry())
		return -1;
	/* Handle overflows that became pending meanwhile. The return of a handler does so, too. */
	return enabled && !is_inside() ? ioctl(self.dev, RISCV_EBB_IOC_ENABLE, 0) : 0;
}

int ebb_enable(void)
{
	if (!can_use())
		return no_page();

	self.disabled = false;
	hold();
	if (set_entry())
		return -1;
	/* The return of a handler enables EBBs. */
	return is_inside() ? 0 : ioctl(self.dev, RISCV_EBB_IOC_ENABLE, 0);
}

int ebb_abandon(void)
{
	if (!self.page)
		return no_page();

	self.stack = 0;
	return ioctl(self.dev, RISCV_EBB_IOC_ABANDON, 0);
}

void ebb_disable(void)
{
	if (!self.page)
		return;

	hold();
	self.disabled = true;
	set_entry();
}

void ebb_close(void)
{
	if (!self.page)
		return;

	/* The page must stay mapped until the handler returns. */
	if (is_inside()) {
		ebb_disable();
		self.closed = true;
		return;
	}
	unmap();
}
