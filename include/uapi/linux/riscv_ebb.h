/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Event-based branches (EBBs) of RISC-V: the format of events, and the interface of /dev/riscv_ebb
 * (Documentation/arch/riscv/pmu-ebb.rst).
 */
#ifndef _UAPI_LINUX_RISCV_EBB_H
#define _UAPI_LINUX_RISCV_EBB_H

#include <linux/const.h>
#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * In perf_event_attr.config1: if the event overflows, its task enters the handler that it has
 * registered.
 */
#define RISCV_PMU_CONFIG1_EBB		(_ULL(1) << 63)

/*
 * Version of the page's layout and of the ioctls below. It stays the same if fields are
 * added at the page's end that are 0 unless an event asks for them.
 */
#define RISCV_EBB_VERSION		2

/* riscv_ebb_page.control: the next overflow enters the handler, which clears this bit */
#define RISCV_EBB_ENABLE		(_ULL(1) << 0)
/* riscv_ebb_page.status: an overflow is pending: no RISCV_EBB_ENABLE, or no handler */
#define RISCV_EBB_PENDING		(_ULL(1) << 0)

/* While overflows follow closely, the kernel raises shorter periods up to this. */
#define RISCV_EBB_MIN_PERIOD_MAX	255

/* Branch records that the page has room for; a hart may have fewer or more. */
#define RISCV_EBB_MAX_BRANCHES		64

/*
 * Register a7 of the ecall that ends a handler. It restarts the stopped counters; those in
 * riscv_ebb_page.overflowed begin a new period. The kernel restores the interrupted pc and
 * a7, and sets RISCV_EBB_ENABLE. If no handler is running, the ecall fails with ENOSYS:
 * system call numbers are never negative.
 */
#define RISCV_EBB_RETURN		(-0x454242)

/**
 * struct riscv_ebb_register - argument of RISCV_EBB_IOC_REGISTER
 * @size:	sizeof(struct riscv_ebb_register) of the program
 * @version:	RISCV_EBB_VERSION
 * @handler:	address of the handler; with 0, overflows stay pending
 * @flags:	must be 0
 */
struct riscv_ebb_register {
	__u32 size;
	__u32 version;
	__u64 handler;
	__u64 flags;
};

/*
 * ioctls of /dev/riscv_ebb. They act on the calling task, and fail with ENXIO if it has not
 * mapped a page. The argument of ENABLE and ABANDON must be 0.
 *
 * REGISTER:	set the handler; the argument points to a struct riscv_ebb_register. EINVAL:
 *		unknown version or flag, or the size is too small. E2BIG: bytes beyond the
 *		kernel's structure are not 0
 * ENABLE:	set RISCV_EBB_ENABLE, and enter the handler if an overflow is pending. EBUSY:
 *		the handler is running; its return sets RISCV_EBB_ENABLE
 * ABANDON:	end a handler that was left by siglongjmp(): restart the counters and set
 *		RISCV_EBB_ENABLE, but restore no registers. EINVAL: no handler is running
 */
#define RISCV_EBB_IOC_REGISTER		_IO(0xEB, 0)
#define RISCV_EBB_IOC_ENABLE		_IO(0xEB, 1)
#define RISCV_EBB_IOC_ABANDON		_IO(0xEB, 2)

/**
 * struct riscv_ebb_branch - a branch record, with the layout of struct perf_branch_entry
 * @from:	address of the branch
 * @to:		address of its target
 * @info:	its bit fields, @mispred and all that follow it there
 */
struct riscv_ebb_branch {
	__u64 from;
	__u64 to;
	__u64 info;
};

/**
 * struct riscv_ebb_page - the page that a task maps from /dev/riscv_ebb
 * @version:	RISCV_EBB_VERSION of the running kernel
 * @size:	size of this structure in the running kernel, in bytes; later kernels may add fields
 *		at its end
 * @control:	RISCV_EBB_ENABLE
 * @status:	RISCV_EBB_PENDING
 * @pc:		copy of the interrupted pc; changing it has no effect
 * @a7:		copy of the interrupted a7; changing it has no effect
 * @overflowed:	hpmcounters that have overflowed, and are stopped until the return
 * @period:	for each hpmcounter, the number of events until it overflows; 0: it does not.
 *		The kernel raises shorter periods, up to RISCV_EBB_MIN_PERIOD_MAX events, while
 *		overflows come less than 50 us after the previous return
 * @nr_branches: number of branch records of the last overflow; 0 if no event of its group has
 *		PERF_SAMPLE_BRANCH_STACK
 * @branches:	the records, the newest one first: branches of the task in user mode, but not
 *		those of its handler
 */
struct riscv_ebb_page {
	__u32 version;
	__u32 size;
	__u64 control;
	__u64 status;
	__u64 pc;
	__u64 a7;
	__u64 overflowed;
	__u64 period[32];
	__u64 nr_branches;
	struct riscv_ebb_branch branches[RISCV_EBB_MAX_BRANCHES];
};

#endif /* _UAPI_LINUX_RISCV_EBB_H */
