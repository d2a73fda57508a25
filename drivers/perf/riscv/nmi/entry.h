/* SPDX-License-Identifier: GPL-2.0 */
/* What the entry code of NMIs and the files of nmi/ share. */
#ifndef _RISCV_PMU_NMI_ENTRY_H
#define _RISCV_PMU_NMI_ENTRY_H

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
 * @regs:	the interrupted registers, except a6 and a7, which riscv_pmu_sse_read_regs() reads
 *		from the firmware
 * @scratch:	the interrupted sscratch: 0 in the kernel, except in parts of its entry and exit
 */
struct riscv_pmu_nmi_frame {
	struct pt_regs	regs;
	unsigned long	scratch;
} __aligned(16);

/**
 * struct riscv_pmu_nmi - a hart's state of NMIs
 * @stack:	where the entry code puts its frame
 * @sp:		the interrupted sp, while the entry code saves the registers
 * @guest:	the task whose KVM guest may be running, or NULL
 * @guest_overflow:	@work has to handle an overflow from the time when a guest ran
 * @noted:	an overflow came while @holds was not 0
 * @holds:	sections of riscv_pmu_nmi_hold() in progress
 * @work:	handles a deferred overflow as soon as interrupts are on
 * @to_measure:	number of injected NMIs that are still to be measured, and do nothing else
 * @exit_regs:	the registers for a sample of the kernel's exit code
 * @nmis:	NMIs since boot, except those that were measured
 * @deferred:	those of @nmis whose overflows were left to @work
 */
struct riscv_pmu_nmi {
	struct riscv_pmu_nmi_frame	*stack;
	unsigned long			sp;
	struct task_struct		*guest;
	bool				guest_overflow;
	bool				noted;
	unsigned int			holds;
	struct irq_work			work;
	unsigned int			to_measure;
	struct pt_regs			exit_regs;
	u64				nmis;
	u64				deferred;
};

DECLARE_PER_CPU(struct riscv_pmu_nmi, riscv_pmu_nmi_harts);

/* Some PMU of this machine has NMIs. */
extern bool riscv_pmu_nmi_in_use;
/* The firmware does not clear mip.LCOFIP when it delivers an overflow: the handler has to. */
extern bool riscv_pmu_nmi_stays_pending;
/* The harts have the H extension: hstatus, htval and htinst. */
extern bool riscv_pmu_nmi_has_h;

struct riscv_pmu_hart;

bool riscv_pmu_nmi_has_to_wait(struct riscv_pmu_nmi *nmi, const struct riscv_pmu_hart *hart,
			       const struct pt_regs *regs);
void riscv_pmu_nmi_work(struct irq_work *work);
asmlinkage void riscv_pmu_nmi_entry(void);
asmlinkage void riscv_pmu_nmi_leave(bool has_h);
/* arch/riscv/kernel/entry.S */
asmlinkage void handle_exception(void);
asmlinkage void ret_from_exception(void);
asmlinkage void riscv_pmu_nmi_handle(struct riscv_pmu_nmi *nmi, struct riscv_pmu_nmi_frame *frame);

#endif /* __ASSEMBLER__ */

#endif /* _RISCV_PMU_NMI_ENTRY_H */
