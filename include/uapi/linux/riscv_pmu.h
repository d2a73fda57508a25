/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * How perf_event_attr::config names an event of the RISC-V core PMU
 * (attr.type PERF_TYPE_RAW, or the "type" file of the PMU named "cpu").
 */
#ifndef _UAPI_LINUX_RISCV_PMU_H
#define _UAPI_LINUX_RISCV_PMU_H

#include <linux/const.h>
#include <linux/ioctl.h>
#include <linux/types.h>

/*
 * Bits 63:62 of config say which kind of event the rest names.
 *
 * RAW:		bits 47:0 (55:0 from SBI 3.0 on) are the selector that the
 *		core's manual gives for mhpmevent
 * STD:		bits 19:0 are an event_idx of the SBI PMU extension, of type
 *		0 (hardware general) or 1 (hardware cache)
 * FW:		bits 15:0 are the code of an SBI firmware event
 * FW_PLATFORM:	bits 61:0 are a platform's own firmware event
 */
#define RISCV_PMU_CLASS_SHIFT		62
#define RISCV_PMU_CLASS_RAW		0
#define RISCV_PMU_CLASS_STD		1
#define RISCV_PMU_CLASS_FW		2
#define RISCV_PMU_CLASS_FW_PLATFORM	3

/*
 * Event-based branches: an event with this bit in config1, whose counter overflows, has
 * its task go on at a handler of its own (Documentation/arch/riscv/pmu-ebb.rst).
 */
#define RISCV_PMU_CONFIG1_EBB		(_ULL(1) << 63)

/* Of the page's layout, and of what the calls below mean */
#define RISCV_EBB_VERSION		2

/* riscv_ebb_page.control: the next overflow branches; cleared by the branch */
#define RISCV_EBB_ENABLE		(_ULL(1) << 0)
/* riscv_ebb_page.status: an overflow waits for RISCV_EBB_ENABLE, or for a handler */
#define RISCV_EBB_PENDING		(_ULL(1) << 0)

/* The least period that is never made longer. */
#define RISCV_EBB_SURE_PERIOD		255

/*
 * Register a7 of the ecall that ends a handler: the counters that stood run again, those in
 * riscv_ebb_page.overflowed with a new period; the task goes on where it was, with the a7
 * that it had; and RISCV_EBB_ENABLE is set. No system call has a negative number. ENOSYS if
 * no branch is under way.
 */
#define RISCV_EBB_RETURN		(-0x454242)

/**
 * struct riscv_ebb_register - which handler this task has
 * @size:	of this structure: what a newer one has in addition is 0, or E2BIG
 * @version:	RISCV_EBB_VERSION
 * @handler:	where to branch, or 0: overflows wait
 * @flags:	0
 */
struct riscv_ebb_register {
	__u32 size;
	__u32 version;
	__u64 handler;
	__u64 flags;
};

/*
 * Of /dev/riscv_ebb, each for the task that calls: ENXIO if it has mapped no page.
 *
 * REGISTER:	the argument is a struct riscv_ebb_register. EINVAL: a size, version or flag that
 *		there is not; E2BIG: it says more than this kernel knows
 * ENABLE:	sets RISCV_EBB_ENABLE, and takes the branch that waits. EBUSY: a branch is
 *		under way, whose return does that
 * ABANDON:	ends a handler that will not return, for a program that has left it by
 *		siglongjmp(): all that a return does, but for the registers. EINVAL: no branch is
 *		under way
 *
 * ENABLE and ABANDON have an argument of 0.
 */
#define RISCV_EBB_IOC_REGISTER		_IO(0xEB, 0)
#define RISCV_EBB_IOC_ENABLE		_IO(0xEB, 1)
#define RISCV_EBB_IOC_ABANDON		_IO(0xEB, 2)

/**
 * struct riscv_ebb_page - what a task maps from /dev/riscv_ebb
 * @version:	RISCV_EBB_VERSION, of this kernel
 * @control:	RISCV_EBB_ENABLE
 * @status:	RISCV_EBB_PENDING
 * @pc:		what the branch has interrupted: a copy, which the return does not read
 * @a7:		its register a7: likewise
 * @overflowed:	hpmcounters that have overflowed, and stand until the return
 * @period:	for each hpmcounter, after how many events it overflows; 0 is never. Fewer than
 *		RISCV_EBB_SURE_PERIOD may become more, up to that many, while overflows
 *		come less than 50 us after the return of the handler before
 */
struct riscv_ebb_page {
	__u64 version;
	__u64 control;
	__u64 status;
	__u64 pc;
	__u64 a7;
	__u64 overflowed;
	__u64 period[32];
};

#endif /* _UAPI_LINUX_RISCV_PMU_H */
