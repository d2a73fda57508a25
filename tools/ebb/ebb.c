// SPDX-License-Identifier: GPL-2.0
/* Event-based branches for programs: see ebb.h. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
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
void ebb_resume(volatile struct riscv_ebb_page *page);
void ebb_dispatch(void);

_Static_assert(offsetof(struct riscv_ebb_page, pc) == 24, "entry.S knows it");
_Static_assert(offsetof(struct riscv_ebb_page, a7) == 32, "entry.S knows it");

/*
 * What this thread has: its page; what to call; by which entry, or 0; and whether a handler
 * runs, whether overflows are to wait, and whether the page goes when it can.
 */
static _Thread_local struct {
	volatile struct riscv_ebb_page *page;
	ebb_handler_fn *fn;
	void *arg;
	uintptr_t entry;
	bool inside;
	bool disabled;
	bool closed;
} self;

/* The page is not the child's. */
static void forget_all(void)
{
	memset(&self, 0, sizeof(self));
}

static void __attribute__((constructor)) watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_all);
}

/* Called by entry.S, as if by what was interrupted. */
void ebb_dispatch(void)
{
	self.inside = true;
	self.fn(self.page, self.arg);
	self.inside = false;
}

static void unmap(void)
{
	munmap((void *)self.page, sysconf(_SC_PAGESIZE));
	forget_all();
}

volatile struct riscv_ebb_page *ebb_page(void)
{
	void *page;
	int dev, err;

	if (self.closed && !self.inside)
		unmap();
	if (self.page)
		return self.page;

	dev = open("/dev/riscv_ebb", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return NULL;
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, dev, 0);
	err = errno;
	close(dev);
	errno = err;
	if (page == MAP_FAILED)
		return NULL;

	self.page = page;
	return page;
}

unsigned int ebb_counter(const struct perf_event_attr *attr)
{
	return __builtin_ctzll(attr->config2);
}

static int ebb_try(struct perf_event_attr *attr, int group_fd)
{
	return syscall(SYS_perf_event_open, attr, 0, -1, group_fd, PERF_FLAG_FD_CLOEXEC);
}

int ebb_open(struct perf_event_attr *attr, int group_fd)
{
	int fd = -1, first_err = 0;

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

	for (int ctr = 0; ctr < 32 && fd < 0; ctr++) {
		attr->config2 = 1ULL << ctr;
		fd = ebb_try(attr, group_fd);
		first_err = first_err ?: errno;
	}
	if (fd < 0) {
		attr->config2 = 0;
		errno = first_err;
	}

	return fd;
}

void ebb_period(unsigned int counter, uint64_t events)
{
	self.page->period[counter] = events;
}

/* A thread that has switched its vector unit off would be killed for saving it. */
static bool has_vector(void)
{
	int control = prctl(PR_RISCV_V_GET_CONTROL);

	return getauxval(AT_HWCAP) & 1UL << ('V' - 'A') &&
	       (control < 0 ||
		(control & PR_RISCV_V_VSTATE_CTRL_CUR_MASK) != PR_RISCV_V_VSTATE_CTRL_OFF);
}

/* From here on overflows wait; whether they did not before. A handler's return ends that. */
static bool hold(void)
{
	bool enabled = self.page->control & RISCV_EBB_ENABLE;

	self.page->control = 0;
	atomic_signal_fence(memory_order_seq_cst);
	return enabled;
}

static void set_entry(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	self.page->handler = self.disabled ? 0 : self.entry;
}

void ebb_handler(ebb_handler_fn *fn, void *arg)
{
	bool enabled = hold();

	self.entry = 0;
	if (fn)
		self.entry = (uintptr_t)(has_vector() ? ebb_entry_vector : ebb_entry);
	self.fn = fn;
	self.arg = arg;
	set_entry();
	/* What came meanwhile has not been told. */
	if (enabled)
		ebb_resume(self.page);
}

void ebb_enable(void)
{
	self.disabled = false;
	hold();
	set_entry();
	/* A handler that returns enables. */
	if (!self.inside)
		ebb_resume(self.page);
}

void ebb_disable(void)
{
	hold();
	self.disabled = true;
	set_entry();
}

void ebb_close(void)
{
	if (!self.page)
		return;

	/* A handler needs the page to return. */
	if (self.inside) {
		ebb_disable();
		self.closed = true;
		return;
	}
	unmap();
}
