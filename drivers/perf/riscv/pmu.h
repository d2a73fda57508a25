/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of one hart's PMU. It is accessed on its hart only, with interrupts off, without locks.
 *
 * A counter that holds a config keeps counting, and its count is extended to 64 bits in software.
 * Events are attached to counters; a sampling event has an overflow point. perf's callbacks change
 * what is wanted; riscv_pmu_hart_apply() changes the hardware accordingly, in one batch.
 */
#ifndef _RISCV_PMU_PMU_H
#define _RISCV_PMU_PMU_H

#include <linux/hrtimer.h>
#include <linux/minmax.h>

#include "backend.h"
#include "event.h"
#include "sched.h"

/* A mask of counters is a u64, with one bit for each number that the SBI can give to a counter. */
static_assert(RISCV_PMU_SCHED_MAX == RISCV_MAX_COUNTERS);

enum riscv_pmu_event_state {
	RISCV_PMU_EVENT_STOPPED,
	RISCV_PMU_EVENT_PENDING,	/* it counts from the next apply on */
	RISCV_PMU_EVENT_ACTIVE,
};

/* Properties of an event. Set in process context: at open; the last two, at mmap and munmap. */
enum riscv_pmu_event_flags {
	RISCV_PMU_EV_SAMPLING		= BIT(0),	/* it has an overflow point */
	/* No counter can interrupt for it, so a timer checks the overflow point. */
	RISCV_PMU_EV_POLLED		= IS_ENABLED(CONFIG_RISCV_PMU_POLL) ? BIT(1) : 0,
	/* Reads take a firmware call or a guest exit: the counter is latched for its group only. */
	RISCV_PMU_EV_INDIRECT		= BIT(2),
	RISCV_PMU_EV_EBB		= BIT(3),	/* overflows cause event-based branches */
	RISCV_PMU_EV_SPLIT		= BIT(4),	/* two counters, one per mode: split.c */
	RISCV_PMU_EV_BRANCH		= BIT(5),	/* its samples have branch records */
	RISCV_PMU_EV_BRANCH_ECALLS	= BIT(6),	/* of all exceptions, only system calls */
	RISCV_PMU_EV_BRANCH_CHECK	= BIT(7),	/* records are checked: branch/sample.c */
	RISCV_PMU_EV_BRANCH_SWITCH	= BIT(8),	/* needs riscv_pmu_branch_switch() */
	RISCV_PMU_EV_MAPPED		= BIT(9),	/* mapped: its page is kept up to date */
	/* It has been mapped at least once, and does not sample or belongs to a cgroup. */
	RISCV_PMU_EV_MAPPED_SLOW	= BIT(10),
};

/* Flags of events that take the slow path of add, and of del */
#define RISCV_PMU_EV_SLOW_ADD	(RISCV_PMU_EV_EBB | RISCV_PMU_EV_SPLIT | RISCV_PMU_EV_BRANCH | \
				 RISCV_PMU_EV_MAPPED_SLOW)
#define RISCV_PMU_EV_SLOW_DEL	(RISCV_PMU_EV_SLOW_ADD | RISCV_PMU_EV_INDIRECT)

/* Special values of gen. NONE: the next add searches. NEXT: the next apply sets the real value. */
#define RISCV_PMU_GEN_NONE	0
#define RISCV_PMU_GEN_NEXT	U64_MAX

/* A perf event or a part of a split one. The first cache line has what a context switch uses. */
struct riscv_pmu_event {
	struct list_head	node;		/* on counter->events while it is attached */
	struct riscv_pmu_hart	*hart;		/* of the counter; NULL before the first one */
	struct riscv_pmu_counter *counter;	/* after a detach, its last counter */
	/* counter->gen at the time when the counter held req.cfg, or RISCV_PMU_GEN_* */
	u64			gen;
	u64			prev_count;	/* the counter's at the event's last update */
	int			ctr;		/* the counter's number, or -1 before the first */
	u16			flags;		/* enum riscv_pmu_event_flags */
	u8			state;		/* enum riscv_pmu_event_state */
#ifdef CONFIG_RISCV_PMU_USER_ACCESS
	/* Its own process has mapped it and may read the counter (user/page.c). */
	bool			user;
#endif
	/* Counted on earlier counters, not yet added to the perf event; 0 while it is active */
	u64			pending_delta;
	u64			overflow_point;	/* the counter's count at which its period ends */
	u64			period_left;	/* pending: events until overflow_point */
	u64			period_count;	/* counted since the last sample's period ended */
	/* Events until the end of the period at the last update: hw.period_left or own_left */
	local64_t		*left;
	u32			min_period;	/* the least period (throttle.c); 0: no limit */
	u32			last_sample;	/* its time, in ticks of the hart's timer */
	struct riscv_pmu_request req;		/* its config, and counters that can hold it */
	u64			accepted;	/* counters that have accepted it, on any hart */
	u64			candidates;	/* those of req.ctrs that have not refused it */
	/* If there are no candidates: jiffies at which all may be tried again on hart */
	unsigned long		retry;
	struct perf_event	*event;		/* for the layers above the counters */
	local64_t		own_left;	/* left of the second part of a split event */
#ifdef CONFIG_RISCV_PMU_POLL
	/* An event whose overflow point a timer checks (poll_wait.c, poll_sample.c) */
	struct riscv_pmu_event_poll {
		u32	rate;	/* ns in which 1024 events occur, as last measured; 0: unknown */
		u64	ns;	/* time of the last poll; 0: none since the event was started */
		u64	count;	/* the counter's count at that time */
	} poll;
#endif
#ifdef CONFIG_RISCV_PMU_USER_ACCESS
	/* The mapped page of an event (user/) */
	struct riscv_pmu_event_page {
		bool		outdated;	/* for riscv_pmu_user_show(), if user is set */
		bool		own_value;	/* it does not depend on other processes */
		u8		idx;		/* in the page: CSR number + 1; 0: use read() */
		unsigned int	all_maps;	/* how often it is mapped */
		unsigned int	maps;		/* how often by its own process */
		unsigned long	tick;		/* jiffies when a sample last set its times */
		struct mm_struct *mm;		/* the address space that has mapped it */
		struct riscv_pmu_task *task;	/* the mapped events of its task */
		u64		ctrs;		/* counters of req that it may show */
		struct pid	*opener;	/* tgid that opened it; a reference is held */
	} page;
#endif
#ifdef CONFIG_RISCV_PMU_SPLIT
	/* An event that two counters sample, one in each mode (split.c) */
	struct riscv_pmu_event_split {
		struct riscv_pmu_event *other;	/* the other part; NULL: not split */
		/* First part (pmu_private) only: sum of both period_counts after the last sample */
		u64	base;
		u64	period;	/* likewise: what both counted between the last two */
	} split;
#endif
#ifdef CONFIG_RISCV_PMU_KVM
	/* The counter did not accept the value of its KVM guest, whose reads exit to the host. */
	bool			guest_write_failed;
#endif
#ifdef CONFIG_RISCV_PMU_BRANCH
	/* The branch records of an event's samples (branch/) */
	struct riscv_pmu_event_branch {
		u8		read_flags;	/* how they are read: branch/sample.c */
		u64		ctl;		/* sctrctl of a hart that records what it wants */
		struct list_head node;		/* on hart->branch.events while attached */
	} branch;
#endif
};

static_assert(offsetofend(struct riscv_pmu_event, pending_delta) <= 64);

/* One counter of one hart, in one cache line */
struct riscv_pmu_counter {
	struct list_head	events;	/* attached to it */
	struct riscv_pmu_config	cfg;	/* that it holds; empty if it holds none */
	u64			gen;	/* changes when cfg changes, is lost or will be replaced */
	u64			count;	/* since the hart came online, modulo 2^64 */
	u64			raw;	/* the hardware's value when count was last updated */
	u64			mask;	/* the bits that are used (riscv_pmu_ctr.width) */
};

/* Which config is wanted on which counter */
struct riscv_pmu_assignment {
	/* The counters in use, and those that could hold their configs instead */
	struct riscv_pmu_sched	sched;
	struct riscv_pmu_config	cfg[RISCV_MAX_COUNTERS];
};

/* What a hart's PMU has done since the hart came online */
struct riscv_pmu_stats {
	u64	batches;	/* applied */
	u64	configs;	/* written */
	u64	attached;	/* events */
	u64	detached;
	u64	searched;	/* events that searched; the others returned to their counter */
	u64	shared;		/* events that a search attached to a counter in use */
	u64	evicted;	/* configs of unused counters that were removed */
	u64	moved;		/* configs that were moved, with all their events */
	u64	irqs;		/* overflow interrupts */
	u64	spurious;	/* those in which no counter had to be handled */
	u64	early;		/* those in which no event had reached its overflow point */
	u64	samples;
	u64	merged;		/* samples that stand for more than one period */
	u64	extended;	/* periods that were extended: interrupts came too early */
	u64	polls;		/* expiries of the polling timer */
	u64	stopped;	/* events that perf stopped at a sample (throttle, limit) */
};

/* What the counters of a hart hold and do */
struct riscv_pmu_hw {
	u64	holds;		/* hold the config wanted of them, or any if they are not used */
	u64	running;	/* have a config, and their counts advance */
	/*
	 * Their overflow flag was clear when they were armed, and they overflow no later than at
	 * the nearest overflow point of their events. All counters with active events that need
	 * the interrupt are armed. After an apply, only running counters are.
	 */
	u64	armed;
	/*
	 * Their value is known and depends on no other task. An apply that visits one that is not
	 * loaded writes it, or reads it if it is a fixed counter without interrupt. After an apply,
	 * all counters with active events are loaded.
	 */
	u64	loaded;
};

/* The overflow interrupt of a hart (update.c, irq.c) */
struct riscv_pmu_hart_irq {
	unsigned int	events;		/* active or pending ones that need it */
	unsigned long	mask;		/* its bit in sip and sie; 0: no interrupt, or no bit */
	bool		masked;		/* because no event on this hart needs it */
	bool		nmi;		/* NMIs instead, which are never masked (nmi/nmi.c) */
#ifdef CONFIG_RISCV_PMU_EBB
	bool		ebb_taken;	/* this interrupt has caused an event-based branch */
#endif
};

/* The polling timer of a hart (update.c, poll.c) */
struct riscv_pmu_hart_poll {
	struct hrtimer	timer;
	u64		due;	/* when it expires, in ns of sched_clock(); 0 while it is off */
	unsigned int	events;	/* active or pending ones whose overflow points it checks */
	bool		active;	/* its handler samples, and sets the next expiry itself */
};

#ifdef CONFIG_RISCV_PMU_USER_ACCESS
/* What user space may read on a hart (user/page.c) */
struct riscv_pmu_hart_user {
	u32	mask;	/* what scounteren holds */
	bool	shown;	/* counters of events may be read, now or after the next apply */
};
#endif

/* The interrupts that take samples on a hart (throttle.h). Times are ticks of its timer. */
struct riscv_pmu_hart_throttle {
	u32		began;		/* the present interrupt */
	u32		ended;		/* the last interrupt */
	u32		cost;		/* average duration of an interrupt, in eighths of a tick */
	u32		nmi_overhead;	/* entry and exit of an NMI, in eighths; 0: not known yet */
	unsigned int	too_early;	/* consecutive too early ones: riscv_pmu_throttle_gap() */
	u32		too_early_since; /* start of the interrupt before the first of them */
};

#ifdef CONFIG_RISCV_PMU_BRANCH
/* The branch records of a hart (branch/branch.c) */
struct riscv_pmu_hart_branch {
	struct list_head		events;	/* attached ones whose samples have records */
	/* What sctrctl holds: the union of what the events want; 0: nothing is recorded */
	u64				ctl;
	/* Where the records of a sample are put; NULL: this hart cannot record */
	struct perf_branch_stack	*stack;
	/* Some records may be of an event that is no longer in events. */
	bool				other_records;
	bool				maybe_reset; /* an idle state may have reset CSRs */
	/* riscv_pmu_branch_hold() has frozen the records; meaningless while ctl is 0 */
	bool				held;
	/* The task that ran when the records were last cleared or restored */
	const struct task_struct	*task;
	u64				switches; /* how often it had been switched out then */
};
#endif

/* One hart's PMU. A debug kernel checks most of its masks at each apply: riscv_pmu_hart_check(). */
struct riscv_pmu_hart {
	struct riscv_pmu	*pmu;		/* of its CPU type */
	/* The configs of the counters in use (wanted.sched.used), which are those with events */
	struct riscv_pmu_assignment wanted;
	struct riscv_pmu_hw	hw;
	/*
	 * Counters that the next apply has to look at: their events are pending or have new
	 * overflow points, or they do not run as wanted. None after an apply.
	 */
	u64			changed;
	u64			latched;	/* counters whose counts were latched together */
	u64			gen;		/* the last riscv_pmu_counter.gen */
	unsigned int		txn;		/* PERF_PMU_TXN_* in progress */
	bool			updating;	/* changes wait for its end; NMIs are deferred */
	bool			latch_on_read;	/* reading an event latches its group's counts */
	bool			needs_start;	/* slept: counters unknown until ops.hart_start */
	bool			shut_down;	/* machine shuts down: nothing more is applied */
	struct riscv_pmu_hart_irq irq;
#ifdef CONFIG_RISCV_PMU_USER_ACCESS
	struct riscv_pmu_hart_user user;
#endif
	struct riscv_pmu_hart_throttle throttle;
	struct riscv_pmu_hart_poll poll;
#ifdef CONFIG_RISCV_PMU_BRANCH
	struct riscv_pmu_hart_branch branch;
#endif
	struct riscv_pmu_stats	stats;		/* for debugfs */
	struct riscv_pmu_counter counter[RISCV_MAX_COUNTERS];
	/* The event for which a counter was last written. It may be freed: only compare it. */
	const struct riscv_pmu_event *sampler[RISCV_MAX_COUNTERS];
	/* Before an apply, the counters of batch.stop are paused: they run, their counts do not. */
	struct riscv_pmu_batch	batch;
	struct perf_sample_data	sample;		/* that is being taken */
};

/* While a hart is being updated, an NMI leaves its state alone: an irq_work does the work later. */
static __always_inline void riscv_pmu_set_updating(struct riscv_pmu_hart *hart, bool updating)
{
	if (!updating)
		barrier();
	WRITE_ONCE(hart->updating, updating);
	if (updating)
		barrier();
}

static inline struct riscv_pmu_hart *riscv_pmu_this_hart(struct riscv_pmu *pmu)
{
	return this_cpu_ptr(pmu->harts);
}

static inline u64 riscv_pmu_ctr_mask(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return GENMASK_ULL(pmu->ctr[ctr].width - 1, 0);
}

static inline unsigned int riscv_pmu_min_width(const struct riscv_pmu *pmu, u64 ctrs)
{
	unsigned int width = 64;

	for_each_ctr(ctr, ctrs)
		width = min_t(unsigned int, width, pmu->ctr[ctr].width);

	return width;
}

/* One for each CPU type; most machines have one. */
extern struct riscv_pmu riscv_pmu_types[RISCV_PMU_MAX_CPU_TYPES];
extern unsigned int riscv_pmu_nr_types;

struct riscv_pmu *riscv_pmu_get(void);
struct riscv_pmu *riscv_pmu_of(unsigned int cpu);
void riscv_pmu_set_of(unsigned int cpu, struct riscv_pmu *pmu);

#ifdef CONFIG_RISCV_PMU_NMI
bool riscv_pmu_samples_by_nmi(const struct riscv_pmu *pmu);
#else
static inline bool riscv_pmu_samples_by_nmi(const struct riscv_pmu *pmu)
{
	return false;
}
#endif

#endif /* _RISCV_PMU_PMU_H */
