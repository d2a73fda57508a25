/* SPDX-License-Identifier: GPL-2.0 */
/* Firmware events, and the PMU sbi_fw that has them by name. */
#ifndef _RISCV_PMU_FW_H
#define _RISCV_PMU_FW_H

#include "backend.h"
#include "event_idx.h"

#define RISCV_PMU_EVENT_FW(code)	RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_FW, (code))

/* Without CONFIG_RISCV_PMU_FW there are no firmware events. */
#ifdef CONFIG_RISCV_PMU_FW
/* The events, as X(name, SBI_PMU_FW_*): SBI 3.0, 11.2.5 */
#define RISCV_PMU_FW_EVENTS(X)						\
	X("misaligned-load", MISALIGNED_LOAD)				\
	X("misaligned-store", MISALIGNED_STORE)				\
	X("access-load", ACCESS_LOAD)					\
	X("access-store", ACCESS_STORE)					\
	X("illegal-insn", ILLEGAL_INSN)					\
	X("set-timer", SET_TIMER)					\
	X("ipi-sent", IPI_SENT)						\
	X("ipi-received", IPI_RCVD)					\
	X("fence-i-sent", FENCE_I_SENT)					\
	X("fence-i-received", FENCE_I_RCVD)				\
	X("sfence-vma-sent", SFENCE_VMA_SENT)				\
	X("sfence-vma-received", SFENCE_VMA_RCVD)			\
	X("sfence-vma-asid-sent", SFENCE_VMA_ASID_SENT)			\
	X("sfence-vma-asid-received", SFENCE_VMA_ASID_RCVD)		\
	X("hfence-gvma-sent", HFENCE_GVMA_SENT)				\
	X("hfence-gvma-received", HFENCE_GVMA_RCVD)			\
	X("hfence-gvma-vmid-sent", HFENCE_GVMA_VMID_SENT)		\
	X("hfence-gvma-vmid-received", HFENCE_GVMA_VMID_RCVD)		\
	X("hfence-vvma-sent", HFENCE_VVMA_SENT)				\
	X("hfence-vvma-received", HFENCE_VVMA_RCVD)			\
	X("hfence-vvma-asid-sent", HFENCE_VVMA_ASID_SENT)		\
	X("hfence-vvma-asid-received", HFENCE_VVMA_ASID_RCVD)

int riscv_pmu_fw_parse(u64 config, struct riscv_pmu_config *cfg);
bool riscv_pmu_fw_is_unfilterable(const struct riscv_pmu *pmu, u32 event_idx, u32 inh);
void riscv_pmu_fw_init(void);
#else
#define RISCV_PMU_FW_EVENTS(...)

static inline int riscv_pmu_fw_parse(u64 config, struct riscv_pmu_config *cfg)
{
	return -ENOENT;
}

static inline bool riscv_pmu_fw_is_unfilterable(const struct riscv_pmu *pmu, u32 event_idx, u32 inh)
{
	return false;
}

static inline void riscv_pmu_fw_init(void) { }
#endif

#endif /* _RISCV_PMU_FW_H */
