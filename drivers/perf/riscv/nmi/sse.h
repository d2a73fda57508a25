/* SPDX-License-Identifier: GPL-2.0 */
/* Supervisor Software Events (SSE): M-mode delivers the overflow of a hart's counters. */
#ifndef _RISCV_PMU_SSE_H
#define _RISCV_PMU_SSE_H

/* SBI 3.0, chapter 17. The entry code needs these two. */
#define SSE_EXT			0x535345
#define SSE_COMPLETE		6

#ifndef __ASSEMBLER__

#include <linux/types.h>

struct pt_regs;

bool riscv_pmu_sse_is_available(void);
int riscv_pmu_sse_start(const void *entry, void *arg);
bool riscv_pmu_sse_stop(void);
void riscv_pmu_sse_suspend(void);
bool riscv_pmu_sse_is_running(void);
bool riscv_pmu_sse_mask_hart(void);
long riscv_pmu_sse_unmask_hart(void);
int riscv_pmu_sse_inject(unsigned int cpu);
void riscv_pmu_sse_clear_pending(void);
bool riscv_pmu_sse_had_spv(void);
void riscv_pmu_sse_read_regs(struct pt_regs *regs);

#endif /* __ASSEMBLER__ */

#endif /* _RISCV_PMU_SSE_H */
