/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the SBI backend share. */
#ifndef _RISCV_PMU_SBI_H
#define _RISCV_PMU_SBI_H

#include <linux/spinlock.h>

#include "../backend.h"
#include "../event.h"

#define SBI_NR_HW		(PERF_COUNT_HW_MAX + 1)		/* codes of the general events */
#define SBI_NR_CACHE		(PERF_COUNT_HW_CACHE_MAX << 3)	/* cache << 3 | op << 1 | result */
#define SBI_NR_FW		22	/* standard ones (11.2.5); others are tried when opened */
#define SBI_NR_STD		(SBI_NR_HW + SBI_NR_CACHE + SBI_NR_FW)

/* Size of the cache of raw and platform-specific firmware events. */
#define SBI_NR_KNOWN		64

/* The counters that are known to be able or unable to hold an event; event_idx 0: not used */
struct sbi_known {
	u64			event_data;
	u32			event_idx;
	u64			able;
	u64			unable;
};

/* The backend's data of one PMU: constant after the probe, except for @known. */
struct riscv_pmu_sbi {
	const struct riscv_pmu_sbi_method *method;	/* how batches are handed to the firmware */
	bool			can_resolve;	/* the firmware tells the counters of an event */
	bool			has_event_info;	/* it tells whether there are any (SBI 3.0) */
	u64			std_ctrs[SBI_NR_STD];	/* counters of each standard event */
	/* Of @known; held for a few instructions. Interrupts stay on, because none takes it. */
	spinlock_t		lock;
	/* Users choose the selectors, so this is bounded, and the newest replace the oldest. */
	struct sbi_known	known[SBI_NR_KNOWN];
	unsigned int		known_next;	/* the next entry to replace, modulo SBI_NR_KNOWN */
};

static inline struct riscv_pmu_sbi *to_sbi(const struct riscv_pmu *pmu)
{
	return pmu->priv;
}

/* events.c */
u64 riscv_pmu_sbi_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg);
u64 riscv_pmu_sbi_untried_ctrs(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg);
void riscv_pmu_sbi_find_events(struct riscv_pmu *pmu);

/* fw.c */
#ifdef CONFIG_RISCV_PMU_FW
void riscv_pmu_sbi_fw_add(struct riscv_pmu *pmu, unsigned int ctr);
u64 riscv_pmu_sbi_fw_read(struct riscv_pmu *pmu, unsigned int ctr);
#else
static inline void riscv_pmu_sbi_fw_add(struct riscv_pmu *pmu, unsigned int ctr) { }
#define riscv_pmu_sbi_fw_read	NULL
#endif

/* map.c */
void riscv_pmu_sbi_map_events(struct riscv_pmu *pmu);

/* quirks.c */
void riscv_pmu_sbi_find_free_running(struct riscv_pmu *pmu);
void riscv_pmu_sbi_find_fixed_filters(struct riscv_pmu *pmu);
void riscv_pmu_sbi_test_fixed_irqs(struct riscv_pmu *pmu);
bool riscv_pmu_sbi_has_fixed_ctrs(struct riscv_pmu *pmu);
void riscv_pmu_sbi_find_quirks(struct riscv_pmu *pmu);

#define SBI_ALL_MODES		(RISCV_PMU_INH_U | RISCV_PMU_INH_S | RISCV_PMU_INH_VU | \
				 RISCV_PMU_INH_VS | RISCV_PMU_INH_M)

#endif /* _RISCV_PMU_SBI_H */
