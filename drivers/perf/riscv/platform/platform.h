/* SPDX-License-Identifier: GPL-2.0 */
/* The cores that the driver knows: their events, and where they differ from the specification. */
#ifndef _RISCV_PMU_PLATFORM_H
#define _RISCV_PMU_PLATFORM_H

#include "../backend.h"
#include "cores.h"

/* The IDs of a hart (SBI, "Base Extension") */
struct riscv_pmu_ids {
	unsigned long	mvendorid;
	unsigned long	marchid;
	unsigned long	mimpid;
};

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

/**
 * struct riscv_pmu_platform - a type of core
 * @name:	its name, for the boot message; NULL: the message has none
 * @ids:	its IDs; all 0: a machine that is found by @compatibles
 * @any_mimpid:	@ids.mimpid need not be equal
 * @compatibles: for a core that shares its IDs with others: compatible strings. The devicetree's
 *		node of the hart or of the machine has one of them. None: @ids suffice
 * @isa_ext:	extension of the vendor that the devicetree must have too, or NULL
 * @ops:	ops that replace the backend's, or NULL
 * @hwirq:	number of the vendor's local overflow interrupt, which is used if the harts do not
 *		have Sscofpmf; 0: there is none
 * @ovf_csr:	CSR with the overflow flags of @hwirq, in place of scountovf
 * @pending_csr: CSR with the pending bit of @hwirq; 0: sip
 * @fixed_irqs:	cycle and instret can interrupt when they overflow, if the firmware enables that
 * @has_filters: programmable counters can exclude modes although there is no Sscofpmf
 * @selectors:	events and their values of mhpmevent (cores.h), for firmware with the PMU batch
 *		extension that has no map for them, and for the ssccfg backend
 * @nr_selectors: number of @selectors
 * @substitutes: standard events in whose place raw events can be used
 * @nr_substitutes: number of @substitutes
 * @bad_machine: compatible string of the machine whose devicetree in Linux has wrong selectors or
 *		none for @bad_events, so that firmware with it programs another event
 * @bad_events:	standard events that are refused on @bad_machine
 * @nr_bad_events: number of @bad_events
 */
struct riscv_pmu_platform {
	const char			*name;
	struct riscv_pmu_ids		ids;
	bool				any_mimpid;
	const char			*compatibles[2];
	const char			*isa_ext;
	const struct riscv_pmu_ops	*ops;
	unsigned int			hwirq;
	u16				ovf_csr;
	u16				pending_csr;
	bool				fixed_irqs;
	bool				has_filters;
	const struct riscv_pmu_selector	*selectors;
	unsigned int			nr_selectors;
	const struct riscv_pmu_substitute *substitutes;
	unsigned int			nr_substitutes;
	const char			*bad_machine;
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
bool riscv_pmu_platform_lists_ext(unsigned int cpu, const char *ext);
bool riscv_pmu_platform_has_ids(const struct riscv_pmu_platform *platform,
				const struct riscv_pmu_ids *ids);
const struct riscv_pmu_platform *
riscv_pmu_platform_choose(const struct riscv_pmu_platform *const *tables, unsigned int nr,
			  unsigned int cpu);
const struct riscv_pmu_platform *riscv_pmu_platform_find(unsigned int cpu);
unsigned int riscv_pmu_platform_other_hart(const struct riscv_pmu_platform *platform,
					   const struct cpumask *cpus);
void riscv_pmu_platform_init(struct riscv_pmu *pmu);
void riscv_pmu_platform_init_irq(struct riscv_pmu *pmu);
const char *riscv_pmu_platform_check_hart(const struct riscv_pmu *pmu);

#endif /* _RISCV_PMU_PLATFORM_H */
