/* SPDX-License-Identifier: GPL-2.0 */
/* Access to the counter CSRs, with interrupts off where a function does not say otherwise. */
#ifndef _RISCV_PMU_CSR_H
#define _RISCV_PMU_CSR_H

#include <linux/types.h>

#include <asm/csr.h>

#include "backend.h"

/* SCTRCLR of Ssctr, which assemblers do not know; and a number that is no CSR's (12 bits) */
#define RISCV_PMU_INSN_SCTRCLR	".4byte 0x10400073"
#define RISCV_PMU_CSR_SCTRCLR	0x1000

unsigned int riscv_pmu_csr_try_read(unsigned int csr, unsigned long *value);
unsigned int riscv_pmu_csr_try_write(unsigned int csr, unsigned long value);
riscv_pmu_read_fn riscv_pmu_csr_reader(unsigned int ctr);
bool riscv_pmu_csr_is_readable(unsigned int ctr);
u64 riscv_pmu_csr_read_ovf(unsigned int csr);
void riscv_pmu_csr_ack_irq(unsigned int csr, unsigned int hwirq);
bool riscv_pmu_csr_can_enable_irq(unsigned int hwirq);

/* Sets which counters user mode may read on this hart: PMU_SCOUNTEREN_* bits. */
static inline void riscv_pmu_csr_set_user_mask(u32 ctrs)
{
	csr_write(CSR_SCOUNTEREN, ctrs);
}

/* Masks local interrupts: bits of sie; may be 0. */
static inline void riscv_pmu_csr_mask_irqs(unsigned long mask)
{
	csr_clear(CSR_IE, mask);
}

/* Discards pending local interrupts, which it returns, and unmasks them: bits of sie; may be 0. */
static inline unsigned long riscv_pmu_csr_unmask_irqs(unsigned long mask)
{
	unsigned long pending = csr_read_clear(CSR_IP, mask) & mask;

	csr_set(CSR_IE, mask);
	return pending;
}

#endif /* _RISCV_PMU_CSR_H */
