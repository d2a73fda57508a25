/* SPDX-License-Identifier: GPL-2.0 */
/* Access to delegated counters (Smcdeleg, Ssccfg, Sscsrind), with interrupts off. */
#ifndef _RISCV_PMU_SSCCFG_CSR_H
#define _RISCV_PMU_SSCCFG_CSR_H

#include <linux/types.h>

void riscv_pmu_csr_inhibit(u32 ctrs);
void riscv_pmu_csr_uninhibit(u32 ctrs);
unsigned long riscv_pmu_csr_select(unsigned long select);
u64 riscv_pmu_csr_read_value(void);
void riscv_pmu_csr_write_value(u64 value);
u64 riscv_pmu_csr_read_event(void);
void riscv_pmu_csr_write_event(u64 event);
u64 riscv_pmu_csr_exchange(unsigned int ctr, u64 event, u64 value);
void riscv_pmu_csr_reload(unsigned int ctr, u64 event, u64 value);

#endif /* _RISCV_PMU_SSCCFG_CSR_H */
