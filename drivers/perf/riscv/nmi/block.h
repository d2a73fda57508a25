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

/* Whether a section is in progress here, or there are no NMIs */
static inline bool riscv_pmu_nmi_is_blocked(void)
{
	return !IS_ENABLED(CONFIG_RISCV_PMU_NMI) || this_cpu_read(riscv_pmu_nmi_blocks);
}

/* Disables interrupts, and begins a section. Returns flags for the next function. */
static inline unsigned long riscv_pmu_irq_save(void)
{
	unsigned long flags;

	local_irq_save(flags);
	if (IS_ENABLED(CONFIG_RISCV_PMU_NMI)) {
		__this_cpu_inc(riscv_pmu_nmi_blocks);
		barrier();
	}
	return flags;
}

static inline void riscv_pmu_irq_restore(unsigned long flags)
{
	if (IS_ENABLED(CONFIG_RISCV_PMU_NMI)) {
		barrier();
		__this_cpu_dec(riscv_pmu_nmi_blocks);
	}
	local_irq_restore(flags);
}

DEFINE_LOCK_GUARD_0(riscv_pmu_irqsave, _T->flags = riscv_pmu_irq_save(),
		    riscv_pmu_irq_restore(_T->flags), unsigned long flags)

#endif /* _RISCV_PMU_NMI_BLOCK_H */
