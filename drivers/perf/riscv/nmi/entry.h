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
#include <linux/ptrace.h>

/* What the entry code saves */
struct riscv_pmu_nmi_frame {
	/* The interrupted registers but a6 and a7: riscv_pmu_sse_read_regs() reads these. */
	struct pt_regs	regs;
	/* The interrupted sscratch: 0 in the kernel, except in parts of its entry and exit */
	unsigned long	scratch;
} __aligned(16);

/* A hart's state of NMIs */
struct riscv_pmu_nmi {
	struct riscv_pmu_nmi_frame *stack;	/* where the entry code puts its frame */
	unsigned long	sp;		/* the interrupted sp, while registers are being saved */
	struct task_struct *guest;	/* the task whose KVM guest may be running, or NULL */
	bool		guest_overflow;	/* @work has to handle one that came while a guest ran */
	bool		noted;		/* an overflow came while @holds was not 0 */
	unsigned int	holds;		/* sections of riscv_pmu_nmi_hold() in progress */
	struct irq_work	work;		/* handles a deferred overflow once interrupts are on */
	unsigned int	to_measure;	/* injected NMIs to be measured, which do nothing else */
	struct pt_regs	exit_regs;	/* registers for a sample of the kernel's exit code */
	u64		nmis;		/* since boot, except those that were measured */
	u64		deferred;	/* those of @nmis whose overflows were left to @work */
};

DECLARE_PER_CPU(struct riscv_pmu_nmi, riscv_pmu_nmi_harts);

struct riscv_pmu_hart;

extern bool riscv_pmu_nmi_in_use;	/* some PMU of this machine has NMIs */
/* The firmware does not clear mip.LCOFIP when it delivers an overflow: the handler has to. */
extern bool riscv_pmu_nmi_stays_pending;
extern bool riscv_pmu_nmi_has_h;	/* the H extension: hstatus, htval and htinst */

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
