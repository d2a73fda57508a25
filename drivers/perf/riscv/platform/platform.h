/* SPDX-License-Identifier: GPL-2.0 */
/* The cores that the driver knows: their events, and where they differ from the specification. */
#ifndef _RISCV_PMU_PLATFORM_H
#define _RISCV_PMU_PLATFORM_H

#include "../backend.h"
#include "cores.h"

/*
 * The selectors of raw events that count the same as a standard event, in user mode and in
 * supervisor mode; 0: there is none. For cores on which only a fixed counter has the standard
 * event, and has no filters or does not interrupt.
 */
struct riscv_pmu_substitute {
	u32	event_idx;
	u64	user;
	u64	kernel;
};

/* A type of core */
struct riscv_pmu_platform {
	const char			*name;	/* for the boot message; NULL: it has none */
	struct riscv_pmu_ids		ids;	/* all 0: a machine, found by @compatibles */
	bool				any_mimpid;	/* @ids.mimpid need not be equal */
	unsigned long			not_mimpid;	/* of another core with @ids; 0: none */
	/*
	 * For a core that shares its IDs with others: the devicetree's node of the hart or of the
	 * machine has one of these compatible strings. None: @ids suffice.
	 */
	const char			*compatibles[2];
	const char			*isa_ext;	/* the hart must have it; or NULL */
	const struct riscv_pmu_ops	*ops;	/* replace the backend's; or NULL */
	unsigned int			hwirq;	/* the vendor's, without Sscofpmf; 0: none */
	u16				ovf_csr;	/* has the overflow flags of @hwirq */
	u16				pending_csr;	/* the pending bit of @hwirq; 0: sip */
	/* cycle and instret can interrupt when they overflow, if the firmware enables that. */
	bool				fixed_irqs;
	bool				has_filters;	/* although there is no Sscofpmf */
	/*
	 * Events and their values of mhpmevent (cores.h), for firmware with the PMU batch extension
	 * that has no map for them, for the ssccfg backend, and in place of a map that is wrong
	 */
	const struct riscv_pmu_selector	*selectors;
	unsigned int			nr_selectors;
	const struct riscv_pmu_substitute *substitutes;
	unsigned int			nr_substitutes;
	/*
	 * Events that devicetrees in use map wrongly or not at all, so that firmware programs
	 * another event. The entry of @selectors is used instead. Without one, the event is
	 * refused.
	 */
	const u32			*bad_events;
	unsigned int			nr_bad_events;
};

/* tables.c */
#define RISCV_PMU_TABLE(id, ...)	riscv_pmu_##id,
extern const struct riscv_pmu_platform
	RISCV_PMU_CORES(RISCV_PMU_TABLE) riscv_pmu_thead_c900, riscv_pmu_thead_c908;

/* platform.c */
void riscv_pmu_platform_get_ids(unsigned int cpu, struct riscv_pmu_ids *ids);
bool riscv_pmu_platform_is_compatible(unsigned int cpu, const char *compatible);
bool riscv_pmu_platform_isa_has(const char *isa, const char *ext);
bool riscv_pmu_platform_lists_ext(unsigned int cpu, const char *ext);
const char *riscv_pmu_platform_ext_source(void);
bool riscv_pmu_platform_has_ids(const struct riscv_pmu_platform *platform,
				const struct riscv_pmu_ids *ids);
const struct riscv_pmu_platform *
riscv_pmu_platform_choose(const struct riscv_pmu_platform *const *tables, unsigned int nr,
			  unsigned int cpu, const struct riscv_pmu_ids *ids);
void riscv_pmu_platform_select_cpus(struct cpumask *cpus);
const struct riscv_pmu_selector *riscv_pmu_platform_known(const struct riscv_pmu_platform *platform,
							  u32 event_idx);
const struct riscv_pmu_selector *riscv_pmu_platform_override(const struct riscv_pmu *pmu,
							     u32 event_idx);
bool riscv_pmu_platform_has_ovf(unsigned int csr);
void riscv_pmu_platform_init(struct riscv_pmu *pmu);
void riscv_pmu_platform_init_irq(struct riscv_pmu *pmu);
const char *riscv_pmu_platform_check_hart(const struct riscv_pmu *pmu);

#endif /* _RISCV_PMU_PLATFORM_H */
