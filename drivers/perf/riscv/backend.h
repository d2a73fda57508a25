/* SPDX-License-Identifier: GPL-2.0 */
/* The PMU, the ops that a backend or a vendor implements for it, and the backends' tables. */
#ifndef _RISCV_PMU_BACKEND_H
#define _RISCV_PMU_BACKEND_H

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <asm/csr.h>

/*
 * Declares @ctr, and iterates over a mask of counters, from the lowest number. It is a u64, because
 * each change of its type costs an instruction.
 */
#define for_each_ctr(ctr, ctrs)							\
	for (u64 ctr, ctr##_left = (ctrs);					\
	     ctr##_left && (ctr = __ffs64(ctr##_left), true);			\
	     ctr##_left &= ctr##_left - 1)

struct riscv_pmu_hart;

/*
 * Modes in which a counter does not count, in the order of the xINH bits of mhpmevent (Sscofpmf),
 * of mcyclecfg and minstretcfg (Smcntrpmf), and of the flags of COUNTER_CONFIG_MATCHING (SBI 3.0,
 * 11.4).
 */
enum riscv_pmu_inh {
	RISCV_PMU_INH_VU	= BIT(0),
	RISCV_PMU_INH_VS	= BIT(1),
	RISCV_PMU_INH_U		= BIT(2),
	RISCV_PMU_INH_S		= BIT(3),
	RISCV_PMU_INH_M		= BIT(4),
};

/**
 * struct riscv_pmu_config - what a counter is programmed with
 * @event_data:	raw selector or platform firmware event, else 0
 * @event_idx:	event_idx of the SBI PMU extension: type in bits 19:16, code below
 * @inh:	enum riscv_pmu_inh bits
 *
 * Events with equal configs can share a counter.
 */
struct riscv_pmu_config {
	u64	event_data;
	u32	event_idx;
	u32	inh;
};

/* What is written into a counter; the value, if it is in &riscv_pmu_batch.load. */
struct riscv_pmu_ctr_setup {
	struct riscv_pmu_config	cfg;
	u64			value;
};

/**
 * struct riscv_pmu_batch - changes of one hart's counters that are applied together
 * @stop:	counters to stop; they keep their config and their value
 * @release:	counters to stop, whose config is removed
 * @program:	stopped counters to be programmed with @setup.cfg
 * @start:	counters to start
 * @load:	those of @start that start from @setup.value
 * @failed:	out: counters of @program or @start that have failed; they are stopped
 * @setup:	config and value per counter
 *
 * The masks are applied in the order stop, release, program, load, start. A counter of @program
 * that holds another config is in @release too.
 */
struct riscv_pmu_batch {
	u64	stop;
	u64	release;
	u64	program;
	u64	start;
	u64	load;
	u64	failed;
	struct riscv_pmu_ctr_setup setup[RISCV_MAX_COUNTERS];
};

/* Reads a counter of the calling hart. */
typedef u64 (*riscv_pmu_read_fn)(void);

/**
 * struct riscv_pmu_ctr - properties of a counter
 * @read:	reads it on this hart, whether it runs or not; bits above its width
 *		are undefined. NULL: &riscv_pmu_ops.read_ctr does. Context: any
 * @csr:	number of the CSR that reads it, 0 if it is a firmware counter
 * @width:	bits that it has, 1 to 64
 * @inh:	modes (enum riscv_pmu_inh) that it can exclude
 */
struct riscv_pmu_ctr {
	riscv_pmu_read_fn	read;
	u16			csr;
	u8			width;
	u8			inh;
};

/**
 * struct riscv_pmu_selector - the selector of a standard event, or those of raw events
 * @event_idx:	event_idx of the SBI PMU extension
 * @selector:	value of mhpmevent without filters; not used for fixed counters
 * @mask:	of raw events: the bits in which all of them equal @selector
 * @counters:	hpmcounters that can count it; 0: all that are programmable
 */
struct riscv_pmu_selector {
	u32	event_idx;
	u64	selector;
	u64	mask;
	u32	counters;
};

#ifdef CONFIG_RISCV_PMU_BRANCH
/**
 * struct riscv_pmu_branch_caps - the branch records of a hart (Ssctr)
 * @depth:	how many there are; 0: none can be used
 * @has_misprediction: the records say which branches were mispredicted
 * @has_types:	the records have types
 * @ctl:	the writable bits of sctrctl
 * @stack:	where the records of a sample are put, for each hart
 */
struct riscv_pmu_branch_caps {
	unsigned int			depth;
	bool				has_misprediction;
	bool				has_types;
	u64				ctl;
	struct perf_branch_stack __percpu *stack;
};
#endif

struct riscv_pmu_platform;
struct riscv_pmu;

/**
 * struct riscv_pmu_ops - one implementation of the PMU
 * @name:	its name on the kernel command line and in caps/backend
 * @event_init:	perf's callback, if this implementation replaces the one of core.c
 * @add:	see @event_init
 * @del:	see @event_init
 * @start:	see @event_init
 * @stop:	see @event_init
 * @read:	see @event_init
 * @select_cpus: remove from @cpus the harts whose CPU type is not that of the first one. Not for
 *		vendors, whose ops are those of the selected harts. Process context. -ENODEV: not
 *		on these harts
 * @probe:	find the counters of &riscv_pmu.cpus, on one of them, fill &riscv_pmu.ctr and the
 *		masks beside it. Process context. -ENODEV: not on this machine
 * @event_ctrs:	which counters can hold the config's event, whatever its
 *		filters: bits of &riscv_pmu.ctrs, 0 for an event that this
 *		machine does not have. A backend that has to try uses counters of this hart
 *		that hold no config; the result includes untried counters. Process context,
 *		on one of &riscv_pmu.cpus
 * @untried_ctrs: counters for which it is unknown whether they can hold the event. The caller
 *		may release their configs and call @event_ctrs again. Process context
 * @check_hart:	check that this hart has what @probe has found on another hart of the PMU, and leave
 *		its counters as @hart_start does. Called at boot, and when a hart comes online,
 *		with interrupts off and no counter in use. Returns NULL, or what differs, as a
 *		noun for a message
 * @hart_start:	bring this hart's counters to a known state: none runs, none
 *		holds a config, except those that cannot be stopped. While a hart comes
 *		online, interrupts off
 * @hart_stop:	stop this hart's counters. While a hart goes offline, interrupts off
 * @apply:	apply a batch on this hart. Interrupts off. 0, or the errno of the first
 *		counter in &riscv_pmu_batch.failed
 * @reload:	restart a running hardware counter of this hart from another value; @was: out:
 *		its value when it stopped. The gap has to be short: events that share the counter
 *		do not count it. Interrupts off. 0, or a negative errno: the counter is then
 *		stopped and has no config. NULL: one batch of @apply stops, writes and starts it
 * @read_ctr:	read a counter of this hart that has no &riscv_pmu_ctr.read. Interrupts off
 * @overflowed:	which of the given counters of this hart have overflowed since they were
 *		started. Acknowledges the interrupt first, so that a later overflow raises it
 *		again. Interrupts off
 *
 * Every op is optional. One that the CPU core's table (a "vendor") does not have is taken from the
 * backend's, then from riscv_pmu_base_ops, which has no @reload and no @read_ctr, then from
 * riscv_pmu_core_ops. The hardware ops know nothing of perf: they get counter numbers, masks and
 * configs.
 */
struct riscv_pmu_ops {
	const char *name;

	int (*event_init)(struct perf_event *event);
	int (*add)(struct perf_event *event, int flags);
	void (*del)(struct perf_event *event, int flags);
	void (*start)(struct perf_event *event, int flags);
	void (*stop)(struct perf_event *event, int flags);
	void (*read)(struct perf_event *event);

	int (*select_cpus)(struct cpumask *cpus);
	int (*probe)(struct riscv_pmu *pmu);
	u64 (*event_ctrs)(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg);
	u64 (*untried_ctrs)(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg);
	const char *(*check_hart)(struct riscv_pmu *pmu);
	void (*hart_start)(struct riscv_pmu *pmu);
	void (*hart_stop)(struct riscv_pmu *pmu);
	int (*apply)(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch);
	int (*reload)(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was);
	u64 (*read_ctr)(struct riscv_pmu *pmu, unsigned int ctr);
	u64 (*overflowed)(struct riscv_pmu *pmu, u64 ctrs);
};

/**
 * struct riscv_pmu - the core PMU of one CPU type
 * @pmu:	perf's part of it
 * @ops:	its implementation, from the tables of the CPU core, the backend, base and core.c
 * @backend:	&riscv_pmu_ops.name of the backend
 * @platform:	the table of the core (drivers/perf/riscv/platform/), or NULL
 * @cpus:	harts that it belongs to, all of one type
 * @priv:	the backend's data
 * @firmware:	name of the SBI implementation, for the boot message; may be empty
 * @ctrs:	counters that exist
 * @fw_ctrs:	those of @ctrs that the firmware counts in software
 * @direct_ctrs: those of @ctrs whose reads take neither a firmware call nor an exit of a guest
 * @fixed_ctrs:	those of @ctrs that can count one event only
 * @free_running_ctrs: those of @fixed_ctrs that the firmware announces but refuses to
 *		configure: they always run and are read-only
 * @irq_ctrs:	those of @ctrs that interrupt when they overflow
 * @narrow_ctrs: those of @ctrs that have fewer than 64 bits
 * @poll_ctrs:	those of @ctrs that have to be polled, or wraps are lost
 * @clamped_ctrs: those of @ctrs that are wider than &riscv_pmu_ctr.width (riscv_pmu.width=)
 * @poll_ns:	interval at which @poll_ctrs are polled while they are used, in ns
 * @polled_sampling: events that no counter can interrupt for are sampled by a timer
 * @guests:	KVM guests may run here, so that filters for them are necessary
 * @fixed_irqs:	fixed counters interrupt when they overflow, as programmable ones do
 * @has_filters: programmable counters can exclude modes
 * @one_call:	a batch takes at most one firmware call
 * @loads:	hardware counters, also fixed ones, can be written
 * @in_guest:	this is a guest, whose running counters use counters of the host
 * @stop_unused: counters are stopped as soon as no event uses them (riscv_pmu.stop_unused=)
 * @is_identity: hardware counter n is hpmcounter n
 * @no_calls:	hardware counters are written without a firmware call
 * @is_qemu:	QEMU's virt machine; backends test for QEMU's bugs only there
 * @refuses_bad: the bad events of @platform are refused
 * @raw_bits:	width of a raw selector, 0 if there are no raw events
 * @no_irq_why:	why @irq_ctrs is empty, if it is
 * @cycles_sampling: how cycles are sampled, for caps/
 * @hwirq:	number of the local overflow interrupt
 * @level_irq:	the interrupt stays pending while an overflow flag is set
 * @irq:	its Linux number, 0 if there is none
 * @nmi:	overflows are delivered even if interrupts are off
 * @ovf_csr:	CSR that has the overflow flags, 0 if none
 * @pending_csr: CSR whose bit @hwirq is the interrupt's pending bit
 * @branch:	the branch records of its harts
 * @ctr:	the counters, by number
 * @harts:	per-hart state
 *
 * Written by probe, constant afterwards.
 */
struct riscv_pmu {
	struct pmu			pmu;
	struct riscv_pmu_ops		ops;
	const char			*backend;
	const struct riscv_pmu_platform	*platform;
	struct cpumask			cpus;
	void				*priv;
	char				firmware[32];
	u64				ctrs;
	u64				fw_ctrs;
	u64				direct_ctrs;
	u64				fixed_ctrs;
	u64				free_running_ctrs;
	u64				irq_ctrs;
	u64				narrow_ctrs;
	u64				poll_ctrs;
	u64				clamped_ctrs;
	u64				poll_ns;
	bool				polled_sampling;
	bool				guests;
	bool				fixed_irqs;
	bool				has_filters;
	bool				one_call;
	bool				no_calls;
	bool				loads;
	bool				in_guest;
	bool				stop_unused;
	bool				is_identity;
	bool				is_qemu;
	bool				refuses_bad;
	bool				level_irq;
	bool				nmi;
	unsigned int			raw_bits;
	const char			*no_irq_why;
	const char			*cycles_sampling;
	unsigned int			hwirq;
	unsigned int			irq;
	u16				ovf_csr;
	u16				pending_csr;
#ifdef CONFIG_RISCV_PMU_BRANCH
	struct riscv_pmu_branch_caps	branch;
#endif
	struct riscv_pmu_ctr		ctr[RISCV_MAX_COUNTERS];
	struct riscv_pmu_hart __percpu	*harts;
};

#define to_riscv_pmu(p) container_of(p, struct riscv_pmu, pmu)

extern const struct riscv_pmu_ops riscv_pmu_ssccfg_ops;
extern const struct riscv_pmu_ops riscv_pmu_sbi_ops;
extern const struct riscv_pmu_ops riscv_pmu_base_ops;

/* The number by which the CSRs know a counter: 0 (cycle), 2 (instret), 3 to 31 (hpmcounter). */
static inline unsigned int riscv_pmu_ctr_to_hpm(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return pmu->ctr[ctr].csr - CSR_CYCLE;
}

/* Those of @ctrs that are in a mask of the CSRs' numbers, as of scountovf. */
static inline u64 riscv_pmu_hpms_to_ctrs(const struct riscv_pmu *pmu, u64 ctrs, u64 hpms)
{
	u64 hit = 0;

	if (likely(pmu->is_identity))
		return ctrs & hpms;

	for_each_ctr(ctr, ctrs) {
		if (hpms & BIT(riscv_pmu_ctr_to_hpm(pmu, ctr)))
			hit |= BIT_ULL(ctr);
	}

	return hit;
}

/* The inverse of riscv_pmu_hpms_to_ctrs() */
static inline u32 riscv_pmu_ctrs_to_hpms(const struct riscv_pmu *pmu, u64 ctrs)
{
	u32 hpms = 0;

	if (likely(pmu->is_identity))
		return ctrs;

	for_each_ctr(ctr, ctrs)
		hpms |= BIT(riscv_pmu_ctr_to_hpm(pmu, ctr));

	return hpms;
}

#endif /* _RISCV_PMU_BACKEND_H */
