/* SPDX-License-Identifier: GPL-2.0 */
/* Event-based branches (EBBs): hooks for the kernel's entry and exit code. */
#ifndef _LINUX_PERF_RISCV_EBB_H
#define _LINUX_PERF_RISCV_EBB_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/thread_info.h>
#include <linux/types.h>

#include <asm/ptrace.h>

#include <uapi/linux/riscv_ebb.h>

#ifdef CONFIG_RISCV_PMU_EBB

/*
 * An event of this task has overflowed. Flag 8 is free in Linux 6.12 to 6.14, and one
 * instruction tests it with the others. Later kernels have common flags up to 17.
 */
#define TIF_RISCV_EBB			(TIF_32BIT == 11 ? 8 : 18)
#define _TIF_RISCV_EBB			BIT(TIF_RISCV_EBB)

bool riscv_pmu_do_ebb_return(struct pt_regs *regs);
void riscv_pmu_do_exit_to_user(struct pt_regs *regs);

/**
 * riscv_pmu_ebb_return() - handle an ecall that returns from an EBB handler
 * @regs:	registers of the trap
 *
 * The caller should read a7 after this: a value kept across this call would need a call-saved
 * register, which each system call would have to save and restore.
 *
 * Context: entry of a trap, interrupts off.
 * Return: true if the ecall was handled, false if it is a system call.
 */
static __always_inline bool riscv_pmu_ebb_return(struct pt_regs *regs)
{
	return unlikely((long)regs->a7 < 0) && riscv_pmu_do_ebb_return(regs);
}

/**
 * riscv_pmu_exit_to_user() - enter the task's EBB handler if an overflow is pending
 * @regs:	registers that user mode resumes with
 * @work:	the task's thread flags; a uprobe can delay an EBB
 *
 * Context: process, may sleep.
 */
static __always_inline void riscv_pmu_exit_to_user(struct pt_regs *regs, unsigned long work)
{
	if (unlikely(work & (_TIF_RISCV_EBB | _TIF_UPROBE)))
		riscv_pmu_do_exit_to_user(regs);
}

#else /* CONFIG_RISCV_PMU_EBB */

#define _TIF_RISCV_EBB			0

static __always_inline bool riscv_pmu_ebb_return(struct pt_regs *regs)
{
	return false;
}

static __always_inline void riscv_pmu_exit_to_user(struct pt_regs *regs, unsigned long work)
{
}

#endif /* CONFIG_RISCV_PMU_EBB */

#endif /* _LINUX_PERF_RISCV_EBB_H */
