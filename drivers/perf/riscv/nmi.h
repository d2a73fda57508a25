/* SPDX-License-Identifier: GPL-2.0 */
/* Overflows that interrupt code with interrupts off: what the entry code and nmi.c share. */
#ifndef _RISCV_PMU_NMI_H
#define _RISCV_PMU_NMI_H

/* Offsets in struct riscv_pmu_nmi, in words */
#define NMI_STACK	0
#define NMI_SP		1
#define NMI_GUEST	2

#ifndef __ASSEMBLER__

#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

/**
 * struct riscv_pmu_nmi_frame - what the entry code saves
 * @regs:	the registers of the interrupted code, but a6 and a7: riscv_pmu_sse_read_regs()
 * @scratch:	the interrupted value of sscratch: 0 if the kernel was interrupted, but for a few
 *		instructions of its entry and exit
 */
struct riscv_pmu_nmi_frame {
	struct pt_regs	regs;
	unsigned long	scratch;
} __aligned(16);

/**
 * struct riscv_pmu_nmi - the non-maskable overflow interrupt of a hart
 * @stack:	where the entry code puts its frame
 * @sp:		the interrupted sp, while the entry code saves the registers
 * @guest:	the task whose KVM guest may be running, or NULL
 * @work:	handles the overflow as soon as interrupts are on
 * @window:	registers for samples of the kernel's entry and exit code
 * @nmis:	how many there were
 * @deferred:	those that were left to @work
 */
struct riscv_pmu_nmi {
	struct riscv_pmu_nmi_frame	*stack;
	unsigned long			sp;
	struct task_struct		*guest;
	struct irq_work			work;
	struct pt_regs			window;
	u64				nmis;
	u64				deferred;
};

DECLARE_PER_CPU(struct riscv_pmu_nmi, riscv_pmu_nmi_harts);

/* The firmware leaves the interrupt that it has taken pending; the harts have the H extension. */
extern bool riscv_pmu_nmi_stays_pending;
extern bool riscv_pmu_nmi_has_h;

void riscv_pmu_nmi_work(struct irq_work *work);
asmlinkage void riscv_pmu_nmi_entry(void);
/* arch/riscv/kernel/entry.S */
asmlinkage void handle_exception(void);
asmlinkage void ret_from_exception(void);
asmlinkage void riscv_pmu_nmi_handle(struct riscv_pmu_nmi *nmi, struct riscv_pmu_nmi_frame *frame);

#endif /* __ASSEMBLER__ */

#endif /* _RISCV_PMU_NMI_H */
