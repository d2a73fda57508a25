/* SPDX-License-Identifier: GPL-2.0 */
/* Translates perf_event_attr to the config of a counter and its constraint. */
#ifndef _RISCV_PMU_EVENT_H
#define _RISCV_PMU_EVENT_H

#include <asm/pmu_csr.h>

#ifdef CONFIG_RISCV_PMU_EBB
#include <uapi/linux/riscv_ebb.h>
#endif
#include <uapi/linux/riscv_pmu.h>

#include "backend.h"
#include "event_idx.h"

#define RISCV_PMU_EVENT_FW_PLATFORM	0xffff

/* perf_event_attr::config of a raw event of one class */
#define RISCV_PMU_CONFIG(class, rest)	((u64)(class) << RISCV_PMU_CLASS_SHIFT | (rest))

#define RISCV_PMU_EVENT_FW(code)	RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_FW, (code))

/* Firmware events, as X(name, SBI_PMU_FW_*): SBI 3.0, 11.2.5 */
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

/* The config and the constraint of an event */
struct riscv_pmu_request {
	struct riscv_pmu_config	cfg;	/* that the event's counter has to hold */
	u64			ctrs;	/* the constraint: counters that can hold cfg */
	u64			prefer;	/* those of ctrs to try first; 0: no preference */
};

/* Whether two configs are equal: their events can share a counter. */
static inline bool riscv_pmu_config_is_equal(const struct riscv_pmu_config *a,
					     const struct riscv_pmu_config *b)
{
	return a->event_idx == b->event_idx && a->event_data == b->event_data && a->inh == b->inh;
}

static inline u32 riscv_pmu_event_type(u32 event_idx)
{
	return event_idx >> RISCV_PMU_EVENT_TYPE_SHIFT;
}

static inline u32 riscv_pmu_event_code(u32 event_idx)
{
	return event_idx & RISCV_PMU_EVENT_CODE_MASK;
}

static inline bool riscv_pmu_event_is_raw(u32 event_idx)
{
	u32 type = riscv_pmu_event_type(event_idx);

	return type == RISCV_PMU_EVENT_TYPE_RAW || type == RISCV_PMU_EVENT_TYPE_RAW_V2;
}

/* The fixed counters, by the numbers of their CSRs. */
#define RISCV_PMU_FIXED_HPMS	(BIT(PMU_CSR_CTR_CYCLE) | BIT(PMU_CSR_CTR_INSTRET))

/* The event_idx of a fixed counter, one of RISCV_PMU_FIXED_HPMS. */
static inline u32 riscv_pmu_fixed_event(unsigned int hpm)
{
	return hpm == PMU_CSR_CTR_CYCLE ? RISCV_PMU_EVENT_CYCLES : RISCV_PMU_EVENT_INSTRUCTIONS;
}

/* The fixed counter of an event, a bit of RISCV_PMU_FIXED_HPMS; 0 if no fixed counter counts it. */
static inline u32 riscv_pmu_event_fixed_hpm(u32 event_idx)
{
	for_each_ctr(hpm, RISCV_PMU_FIXED_HPMS) {
		if (event_idx == riscv_pmu_fixed_event(hpm))
			return BIT(hpm);
	}

	return 0;
}

int riscv_pmu_event_parse(const struct riscv_pmu *pmu, const struct perf_event_attr *attr,
			  struct riscv_pmu_config *cfg);
u64 riscv_pmu_event_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg);
int riscv_pmu_event_resolve(struct riscv_pmu *pmu, const struct perf_event_attr *attr,
			    bool in_kernel, struct riscv_pmu_request req[2]);

#endif /* _RISCV_PMU_EVENT_H */
