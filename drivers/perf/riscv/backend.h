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
 * Declares @ctr, and iterates over a mask of counters, from the lowest number. A conversion costs
 * an instruction: so the loop variable is a u64, and arguments in hot paths are unsigned long, as
 * __ffs64() returns. Elsewhere the number of a counter is an unsigned int.
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
	RISCV_PMU_INH_GUESTS	= RISCV_PMU_INH_VU | RISCV_PMU_INH_VS,
};

/* What a counter is programmed with. Events with equal configs can share a counter. */
struct riscv_pmu_config {
	u64	event_data;	/* raw selector or platform firmware event, else 0 */
	u32	event_idx;	/* of the SBI PMU extension: type in bits 19:16, code below */
	u32	inh;		/* enum riscv_pmu_inh bits */
};

/*
 * Changes of one hart's counters that are applied together, in the order stop, release, program,
 * load, start. A counter of program that holds another config is in release too.
 */
struct riscv_pmu_batch {
	u64	stop;		/* counters to stop; they keep their config and their value */
	u64	release;	/* counters to stop, whose config is removed */
	u64	program;	/* stopped counters to be programmed with setup.cfg */
	u64	start;		/* counters to start */
	u64	load;		/* those of start that start from setup.value */
	u64	failed;		/* out: those of program or start that failed; they are stopped */
	struct riscv_pmu_ctr_setup {
		struct riscv_pmu_config	cfg;
		u64			value;
	} setup[RISCV_MAX_COUNTERS];
};

/* Reads a counter of the calling hart, in any context; bits above its width are undefined. */
typedef u64 (*riscv_pmu_read_fn)(void);

/* Properties of a counter */
struct riscv_pmu_ctr {
	riscv_pmu_read_fn	read;	/* it may run or not; NULL: ops.read_ctr reads it */
	u16			csr;	/* number of the CSR that reads it; 0: firmware counter */
	u8			width;	/* in bits, 1 to 64 */
	u8			inh;	/* modes (enum riscv_pmu_inh) that it can exclude */
};

/* The selector of a standard event, or those of raw events */
struct riscv_pmu_selector {
	u32	event_idx;	/* of the SBI PMU extension */
	u64	selector;	/* mhpmevent without filters; not used for fixed counters */
	u64	mask;		/* raw events: the bits in which all of them equal selector */
	u32	counters;	/* hpmcounters that can count it; 0: all programmable ones */
};

#ifdef CONFIG_RISCV_PMU_BRANCH
/* The branch records of a hart (Ssctr) */
struct riscv_pmu_branch_caps {
	unsigned int			depth;	/* how many there are; 0: none can be used */
	bool				has_misprediction; /* they say what was mispredicted */
	bool				has_types; /* they have the types of branches */
	u64				ctl;	/* the writable bits of sctrctl */
	/* Where the records of a sample are put, for each hart */
	struct perf_branch_stack __percpu *stack;
};
#endif

/* The IDs of a hart (SBI, "Base Extension") */
struct riscv_pmu_ids {
	unsigned long	mvendorid;
	unsigned long	marchid;
	unsigned long	mimpid;
};

#define RISCV_PMU_MAX_CPU_TYPES	4

struct riscv_pmu_platform;
struct riscv_pmu;

/*
 * One implementation of the PMU. An op is taken from the first of these tables that has it: the CPU
 * core's (the "vendor"), the backend's, riscv_pmu_base_ops (which has no reload and no read_ctr),
 * riscv_pmu_core_ops. The hardware ops know nothing of perf: they get counter numbers, masks and
 * configs. From check_hart on they are about the calling hart, and interrupts are off.
 */
struct riscv_pmu_ops {
	const char *name;	/* on the kernel command line and in caps/backend */

	/* perf's callbacks, if this implementation replaces those of core.c */
	int (*event_init)(struct perf_event *event);
	int (*add)(struct perf_event *event, int flags);
	void (*del)(struct perf_event *event, int flags);
	void (*start)(struct perf_event *event, int flags);
	void (*stop)(struct perf_event *event, int flags);
	void (*read)(struct perf_event *event);

	/*
	 * Removes from @cpus the harts on which this backend finds other counters than on the first
	 * one; at boot, on any CPU. NULL: it finds the same on all. Not for vendors, whose ops are
	 * those of the selected harts. -ENODEV: on none of @cpus
	 */
	int (*select_cpus)(struct cpumask *cpus);
	/* On one of pmu->cpus: fills pmu->ctr and the masks. -ENODEV: no such counters here */
	int (*probe)(struct riscv_pmu *pmu);
	/*
	 * Which of pmu->ctrs can hold the config's event, whatever its filters; 0: this machine
	 * does not have the event. Process context. A backend that has to try uses counters of this
	 * hart, one of pmu->cpus, that hold no config; the result includes untried counters. May
	 * replace a standard event in @cfg by the raw event that counts the same on this core.
	 */
	u64 (*event_ctrs)(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg);
	/* Likewise the untried ones: the caller may release their configs, and ask again. */
	u64 (*untried_ctrs)(struct riscv_pmu *pmu, const struct riscv_pmu_config *cfg);
	/*
	 * Checks that this hart has what probe has found on another hart of the PMU, and leaves
	 * its counters as hart_start does. At boot, and when a hart comes online, with no counter
	 * in use. Returns NULL, or what differs, as a noun for a message.
	 */
	const char *(*check_hart)(struct riscv_pmu *pmu);
	/*
	 * Stops all counters of this hart that can be stopped, and removes their configs. Called
	 * when the hart comes online, and after a sleep that lost its counters.
	 */
	void (*hart_start)(struct riscv_pmu *pmu);
	/* The hart goes offline: stops its counters. */
	void (*hart_stop)(struct riscv_pmu *pmu);
	/* Returns 0, or the errno of the first counter in batch->failed. */
	int (*apply)(struct riscv_pmu *pmu, struct riscv_pmu_batch *batch);
	/*
	 * Restarts a running hardware counter from another value; @was: out: its value when it
	 * stopped. The gap has to be short: events that share the counter do not count it. Returns
	 * 0, or a negative errno: the counter is then stopped, without a config. If the op is NULL,
	 * one batch of apply stops, writes and starts it.
	 */
	int (*reload)(struct riscv_pmu *pmu, unsigned int ctr, u64 value, u64 *was);
	/* Reads a counter that has no riscv_pmu_ctr.read. */
	u64 (*read_ctr)(struct riscv_pmu *pmu, unsigned int ctr);
	/*
	 * Which of @ctrs have overflowed since they were started. Acknowledges the interrupt
	 * first, so that a later overflow raises it again.
	 */
	u64 (*overflowed)(struct riscv_pmu *pmu, u64 ctrs);
};

/* The core PMU of one CPU type. Written by probe; later only cpus and absent_inh change. */
struct riscv_pmu {
	struct pmu	pmu;			/* perf's part of it */
	struct riscv_pmu_ops ops;		/* of the CPU core, the backend, base and core.c */
	const char	*backend;		/* ops.name of the backend */
	struct riscv_pmu_ids ids;		/* of its harts; mimpid: of the first one */
	const struct riscv_pmu_platform *platform; /* the core's table (platform/), or NULL */
	/* The tables of the machine's other types of cores; NULL: one has none */
	const struct riscv_pmu_platform *others[RISCV_PMU_MAX_CPU_TYPES];
	unsigned int	nr_others;
	struct cpumask	cpus;			/* harts that it belongs to, all of one type */
	void		*priv;			/* the backend's data */
	char		firmware[32];		/* SBI's name for the boot message; may be empty */
	u64		ctrs;			/* counters that exist, and those of them ... */
	u64		fw_ctrs;		/* that the firmware counts in software */
	u64		direct_ctrs;		/* read without a firmware call or a guest's exit */
	u64		fixed_ctrs;		/* that can count one event only */
	/* fixed counters that the firmware refuses to configure; they always run, read-only */
	u64		free_running_ctrs;
	u64		irq_ctrs;		/* that interrupt when they overflow */
	u64		narrow_ctrs;		/* that have fewer than 64 bits */
	u64		poll_ctrs;		/* that have to be polled, or wraps are lost */
	u64		clamped_ctrs;		/* wider than their ctr.width (riscv_pmu.width=) */
	u64		poll_ns;		/* interval of polls while poll_ctrs are used */
	u32		filters;		/* modes that at least one counter can exclude */
	bool		unfiltered;		/* exclude_kernel may be ignored: event.c */
	bool		polled_sampling;	/* if no counter can interrupt, a timer samples */
	bool		guests;			/* KVM guests may run here, and need filters */
	u32		absent_inh;		/* modes in which nothing runs now: kvm/guest.c */
	bool		fixed_irqs;		/* fixed counters interrupt as others do */
	bool		has_filters;		/* programmable counters can exclude modes */
	bool		one_call;		/* a batch takes at most one firmware call */
	bool		no_calls;		/* hardware counters: written without such a call */
	bool		loads;			/* hardware counters, also fixed, can be written */
	bool		in_guest;		/* KVM guest: running counters occupy the host's */
	bool		stop_unused;		/* stop once unused (riscv_pmu.stop_unused=) */
	bool		is_identity;		/* hardware counter n is hpmcounter n */
	bool		is_qemu;		/* its virt machine: QEMU's bugs are looked for */
	bool		level_irq;		/* the interrupt is pending while a flag is set */
	bool		nmi;			/* overflows arrive even if interrupts are off */
	unsigned int	raw_bits;		/* width of a raw selector; 0: no raw events */
	const char	*no_irq_why;		/* why irq_ctrs is empty, if it is */
	const char	*cycles_sampling;	/* how cycles are sampled, for caps/ */
	unsigned int	hwirq;			/* number of the local overflow interrupt */
	unsigned int	irq;			/* its Linux number, 0 if there is none */
	u16		ovf_csr;		/* CSR that has the overflow flags, 0 if none */
	u16		pending_csr;		/* CSR whose bit hwirq is the pending bit */
#ifdef CONFIG_RISCV_PMU_BRANCH
	struct riscv_pmu_branch_caps branch;	/* the branch records of its harts */
#endif
	struct riscv_pmu_ctr ctr[RISCV_MAX_COUNTERS];
	struct riscv_pmu_hart __percpu *harts;
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

/* Those of @ctrs (no firmware counters) that @hpms names by hpmcounter number, as scountovf does */
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
