/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations of the Ssccfg backend. */
#ifndef _RISCV_PMU_SSCCFG_H
#define _RISCV_PMU_SSCCFG_H

#include <linux/bitfield.h>

#include <asm/pmu_csr.h>

#include "../backend.h"

/* Codes of standard events: perf's hardware events, plus 1; cache << 3 | operation << 1 | result */
#define SSCCFG_NR_HW		PERF_COUNT_HW_MAX
#define SSCCFG_NR_CACHE		(PERF_COUNT_HW_CACHE_MAX << 3)

/* A standard event, and its programmable counters */
struct ssccfg_event {
	u32 event_idx;
	u64 selector;	/* the value of hpmevent that selects it */
	u64 ctrs;	/* the counters that can hold it */
	u64 home;	/* the preferred one, which is no other event's home; 0: none was left */
};

/*
 * What S-mode can do with the counters of a hart. Bit n is hpmcounter n. Harts for which all of
 * this is equal share a PMU.
 */
struct ssccfg_delegated {
	u32 values;	/* counters whose value it can read and write */
	u32 events;	/* those of them whose event register it can read and write */
	u32 overflows;	/* those of @events that have an overflow flag */
	u8 width[PMU_CSR_CTR_NUM];	/* bits of each counter */
	u8 inh[PMU_CSR_CTR_NUM];	/* modes (enum riscv_pmu_inh) that it can exclude */
};

/* The backend's data of one PMU */
struct ssccfg {
	struct ssccfg_delegated delegated;	/* of each of its harts */
	u64 without_m;	/* counters that exclude M-mode on each of its harts */
	struct ssccfg_event event[SSCCFG_NR_HW + SSCCFG_NR_CACHE];
	unsigned int nr_events;
	u64 raw_ctrs;	/* programmable counters that can hold raw events */
	u64 sbi_hw_ctrs;	/* hardware counters that the firmware can configure too */
	struct riscv_pmu sbi;	/* after the probe, it has only the firmware counters */
};

/* State of a hart's counters in the firmware */
struct ssccfg_hart {
	u64 claimed;	/* counters that it was asked to configure without M-mode */
	bool is_up;	/* all counters have been claimed since the hart went online */
	bool fw_asleep;	/* its PMU was not initialised since a non-retentive idle state */
};

DECLARE_PER_CPU(struct ssccfg_hart, riscv_pmu_ssccfg_hart);

/* The last value written to each hpmevent of a hart, without the overflow flag; 0: no event. */
DECLARE_PER_CPU(u64 [RISCV_MAX_COUNTERS], riscv_pmu_ssccfg_written);

static inline struct ssccfg *to_ssccfg(const struct riscv_pmu *pmu)
{
	return pmu->priv;
}

#define ssccfg_for_each_event(ev, ssccfg)					\
	for (typeof(&(ssccfg)->event[0]) ev = (ssccfg)->event;			\
	     (ev) != &(ssccfg)->event[(ssccfg)->nr_events]; (ev)++)

static inline u64 ssccfg_hw_ctrs(const struct riscv_pmu *pmu)
{
	return pmu->ctrs & ~pmu->fw_ctrs;
}

static inline u64 ssccfg_programmable_ctrs(const struct riscv_pmu *pmu)
{
	return ssccfg_hw_ctrs(pmu) & ~pmu->fixed_ctrs;
}

/* The filters of an event register are in the order of enum riscv_pmu_inh. */
static_assert((u64)RISCV_PMU_INH_VU << 58 == PMU_HPMEVENT_VUINH &&
	      (u64)RISCV_PMU_INH_VS << 58 == PMU_HPMEVENT_VSINH &&
	      (u64)RISCV_PMU_INH_U << 58 == PMU_HPMEVENT_UINH &&
	      (u64)RISCV_PMU_INH_S << 58 == PMU_HPMEVENT_SINH);

/* A fixed counter without filters has no event register to write. */
static inline bool ssccfg_has_event(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return pmu->ctr[ctr].inh || !(pmu->fixed_ctrs & BIT_ULL(ctr));
}

/* csr.c: access to delegated counters (Smcdeleg, Ssccfg, Sscsrind), with interrupts off */
void riscv_pmu_csr_inhibit(u32 ctrs);
void riscv_pmu_csr_uninhibit(u32 ctrs);
unsigned long riscv_pmu_csr_select(unsigned long select);
u64 riscv_pmu_csr_read_value(void);
void riscv_pmu_csr_write_value(u64 value);
u64 riscv_pmu_csr_read_event(void);
void riscv_pmu_csr_write_event(u64 event);
u64 riscv_pmu_csr_exchange(unsigned int ctr, u64 event, u64 value);
void riscv_pmu_csr_reload(unsigned int ctr, u64 event, u64 value);

/* hart.c */
const struct ssccfg_event *riscv_pmu_ssccfg_find_event(const struct riscv_pmu *pmu, u32 event_idx);
void riscv_pmu_ssccfg_write_event(const struct riscv_pmu *pmu, unsigned int ctr, u64 event);
void riscv_pmu_ssccfg_claim(const struct riscv_pmu *pmu, u64 ctrs);
u64 riscv_pmu_ssccfg_start(struct riscv_pmu *pmu);
void riscv_pmu_ssccfg_hart_start(struct riscv_pmu *pmu);
void riscv_pmu_ssccfg_hart_stop(struct riscv_pmu *pmu);

/* fw.c */
#ifdef CONFIG_RISCV_PMU_FW
void riscv_pmu_ssccfg_fw_add(struct riscv_pmu *pmu);
int
riscv_pmu_ssccfg_fw_apply(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch,
			  int (*apply_hw)(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch));
u64 riscv_pmu_ssccfg_fw_read(struct riscv_pmu *pmu, unsigned int ctr);
u64 riscv_pmu_ssccfg_fw_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg);
#else
static inline void riscv_pmu_ssccfg_fw_add(struct riscv_pmu *pmu) { }
#define riscv_pmu_ssccfg_fw_apply(pmu, batch, apply_hw)	apply_hw(pmu, batch)
#define riscv_pmu_ssccfg_fw_read			NULL

static inline u64
riscv_pmu_ssccfg_fw_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg)
{
	return 0;
}
#endif

/* delegated.c */
int riscv_pmu_ssccfg_select_cpus(struct cpumask *cpus);
const struct ssccfg_delegated *riscv_pmu_ssccfg_found(void);
bool riscv_pmu_ssccfg_has_same_ctrs(const struct ssccfg_delegated *others);

/* probe.c */
int riscv_pmu_ssccfg_probe(struct riscv_pmu *pmu);
const char *riscv_pmu_ssccfg_check_hart(struct riscv_pmu *pmu);

#endif /* _RISCV_PMU_SSCCFG_H */
