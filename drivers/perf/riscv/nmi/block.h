/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sections that change what the handler of an NMI uses: an NMI leaves its overflow to an irq_work
 * there (riscv_pmu_nmi_has_to_wait()). Code that has a struct riscv_pmu_hart calls
 * riscv_pmu_set_updating() instead, which takes fewer instructions. Sections may be nested.
 */
#ifndef _RISCV_PMU_NMI_BLOCK_H
#define _RISCV_PMU_NMI_BLOCK_H

#include <linux/cleanup.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>

/* How many sections are in progress on a hart */
DECLARE_PER_CPU(unsigned int, riscv_pmu_nmi_blocks);

/* Defers the overflows of NMIs until riscv_pmu_unblock_nmi(). Interrupts are off. */
static inline void riscv_pmu_block_nmi(void)
{
#ifdef CONFIG_RISCV_PMU_NMI
	__this_cpu_inc(riscv_pmu_nmi_blocks);
	barrier();
#endif
}

static inline void riscv_pmu_unblock_nmi(void)
{
#ifdef CONFIG_RISCV_PMU_NMI
	barrier();
	__this_cpu_dec(riscv_pmu_nmi_blocks);
#endif
}

/* Whether a section of riscv_pmu_block_nmi() is in progress here, or there are no NMIs */
static inline bool riscv_pmu_nmi_is_blocked(void)
{
#ifdef CONFIG_RISCV_PMU_NMI
	return this_cpu_read(riscv_pmu_nmi_blocks);
#else
	return true;
#endif
}

/* Disables interrupts, and defers the overflows of NMIs. Returns flags for the next function. */
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
