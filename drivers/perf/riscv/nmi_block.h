/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sections that an NMI must not interrupt, where the hart's state is not at hand, such as in
 * backends. Elsewhere, riscv_pmu_set_updating() does the same for less. nmi.c makes an NMI wait.
 */
#ifndef _RISCV_PMU_NMI_BLOCK_H
#define _RISCV_PMU_NMI_BLOCK_H

#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>

/* Sections in progress on a hart */
DECLARE_PER_CPU(unsigned int, riscv_pmu_nmi_blocks);

/**
 * riscv_pmu_block_nmi() - make NMIs wait until riscv_pmu_unblock_nmi()
 *
 * Context: interrupts off.
 */
static inline void riscv_pmu_block_nmi(void)
{
	__this_cpu_inc(riscv_pmu_nmi_blocks);
	barrier();
}

static inline void riscv_pmu_unblock_nmi(void)
{
	barrier();
	__this_cpu_dec(riscv_pmu_nmi_blocks);
}

/* Interrupts off, and NMIs wait. */
static inline unsigned long riscv_pmu_irq_save(void)
{
	unsigned long flags;

	local_irq_save(flags);
	riscv_pmu_block_nmi();
	return flags;
}

static inline void riscv_pmu_irq_restore(unsigned long flags)
{
	riscv_pmu_unblock_nmi();
	local_irq_restore(flags);
}

DEFINE_LOCK_GUARD_0(riscv_pmu_irqsave, _T->flags = riscv_pmu_irq_save(),
		    riscv_pmu_irq_restore(_T->flags), unsigned long flags)

#endif /* _RISCV_PMU_NMI_BLOCK_H */
