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

/* A file of events/ in sysfs */
#define RISCV_PMU_EVENT_ATTR(_name, _show, _id)					\
	(&((struct perf_pmu_events_attr[]) { {					\
		.attr = { .attr = { .name = _name, .mode = 0444 }, .show = _show },	\
		.id = _id,							\
	} })[0].attr.attr)

/* The config and the constraint of an event */
struct riscv_pmu_request {
	struct riscv_pmu_config	cfg;	/* that the event's counter has to hold */
	u64			ctrs;	/* the constraint: counters that can hold cfg */
	u64			prefer;	/* those of ctrs to try first; 0: no preference */
	bool			unfiltered; /* counts the kernel, which its attributes exclude */
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

/* The event_idx of raw events: version 2 has selectors of more than 48 bits (SBI 3.0). */
static inline u32 riscv_pmu_raw_event(const struct riscv_pmu *pmu)
{
	return RISCV_PMU_EVENT_IDX(pmu->raw_bits > 48 ? RISCV_PMU_EVENT_TYPE_RAW_V2 :
							RISCV_PMU_EVENT_TYPE_RAW, 0);
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
u64 riscv_pmu_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg);
int riscv_pmu_event_resolve(struct riscv_pmu *pmu, const struct perf_event_attr *attr,
			    bool in_kernel, struct riscv_pmu_request req[2]);

#endif /* _RISCV_PMU_EVENT_H */
