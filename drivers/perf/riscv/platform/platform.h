/* SPDX-License-Identifier: GPL-2.0 */
/* The cores that the driver knows: their events, and where they differ from the specification. */
#ifndef _RISCV_PMU_PLATFORM_H
#define _RISCV_PMU_PLATFORM_H

#include <linux/array_size.h>
#include <linux/bits.h>

#include "../backend.h"
#include "cores.h"

/* An entry of RISCV_PMU_EVENTS_*() as a struct riscv_pmu_selector */
#define PLATFORM_SELECTOR(event_idx, selector, mask, counters)	\
	{ event_idx, selector, mask, counters },

#define PLATFORM_SELECTORS(id)	{ RISCV_PMU_EVENTS_##id(PLATFORM_SELECTOR) }

/* On RV32, the uppermost bit of a marchid is bit 31. */
#define PLATFORM_MARCHID(marchid)					\
	((marchid) ? BIT(BITS_PER_LONG - 1) | ((marchid) & GENMASK(30, 0)) : 0)

/* What cores.h has of a core, for struct riscv_pmu_platform; id_selectors are its events. */
#define PLATFORM_CORE(id)						\
	RISCV_PMU_EXPAND(__PLATFORM_CORE, id##_selectors, RISCV_PMU_CORE_##id)
#define __PLATFORM_CORE(events, core, vendor, march, ...)		\
	.name		= core,						\
	.ids		= { vendor, PLATFORM_MARCHID(march) },		\
	.compatibles	= { __VA_ARGS__ },				\
	.selectors	= events,					\
	.nr_selectors	= ARRAY_SIZE(events)

/**
 * struct riscv_pmu_ids - the IDs of a hart (SBI, "Base Extension")
 * @mvendorid:	vendor
 * @marchid:	microarchitecture
 * @mimpid:	implementation
 */
struct riscv_pmu_ids {
	unsigned long	mvendorid;
	unsigned long	marchid;
	unsigned long	mimpid;
};

/**
 * struct riscv_pmu_substitute - raw events that count the same as a standard event
 * @event_idx:	the standard event
 * @user:	selector of the raw event that counts it in user mode; 0: there is none
 * @kernel:	selector of the raw event that counts it in supervisor mode; 0: there is none
 *
 * For cores on which only a fixed counter has the standard event, and has no filters or does not
 * interrupt.
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
 * @selectors:	events and their values of mhpmevent (cores.h). Firmware with the PMU batch
 *		extension gets those for which it has no map. The ssccfg backend uses those that
 *		the firmware does not tell it
 * @nr_selectors: number of @selectors
 * @substitutes: standard events in whose place raw events can be used
 * @nr_substitutes: number of @substitutes
 * @bad_machine: compatible string of the machine whose devicetree in Linux has wrong selectors or
 *		none for @bad_events, so that firmware with this devicetree programs another event
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

extern const struct riscv_pmu_platform riscv_pmu_andes_ax45mp;
extern const struct riscv_pmu_platform riscv_pmu_qemu;
extern const struct riscv_pmu_platform riscv_pmu_sifive_p550;
extern const struct riscv_pmu_platform riscv_pmu_sifive_u74;
extern const struct riscv_pmu_platform riscv_pmu_spacemit_x100;
extern const struct riscv_pmu_platform riscv_pmu_spacemit_x60;
extern const struct riscv_pmu_platform riscv_pmu_thead_c900;
extern const struct riscv_pmu_platform riscv_pmu_thead_c906;
extern const struct riscv_pmu_platform riscv_pmu_thead_c908;
extern const struct riscv_pmu_platform riscv_pmu_thead_c910;
extern const struct riscv_pmu_platform riscv_pmu_thead_c920v2;

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
