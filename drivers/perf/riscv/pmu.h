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
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/percpu.h>

#include "backend.h"
#include "event.h"
#include "sched.h"

/* A mask of counters is a u64, with one bit for each number that the SBI can give to a counter. */
static_assert(RISCV_PMU_SCHED_MAX == RISCV_MAX_COUNTERS);

enum riscv_pmu_event_state {
	RISCV_PMU_EVENT_STOPPED,
	/* It counts from the next apply on. */
	RISCV_PMU_EVENT_PENDING,
	RISCV_PMU_EVENT_ACTIVE,
};

/*
 * What an event needs besides a counter. Set when the event is opened; the last two, in process
 * context, when it is mapped.
 */
enum riscv_pmu_event_flags {
	/* It has an overflow point. */
	RISCV_PMU_EV_SAMPLING		= BIT(0),
	/* No counter can interrupt for it, so a timer checks the overflow point. */
	RISCV_PMU_EV_POLLED		= IS_ENABLED(CONFIG_RISCV_PMU_POLL) ? BIT(1) : 0,
	/* A read takes a firmware call or an exit of a guest; latched only for its own group. */
	RISCV_PMU_EV_INDIRECT		= BIT(2),
	/* Its overflows cause event-based branches. */
	RISCV_PMU_EV_EBB		= BIT(3),
	/* Two counters sample it, one in each mode (split.c). */
	RISCV_PMU_EV_SPLIT		= BIT(4),
	/* Its samples have branch records. */
	RISCV_PMU_EV_BRANCH		= BIT(5),
	/* Its branch records: of all exceptions, only system calls. */
	RISCV_PMU_EV_BRANCH_ECALLS	= BIT(6),
	/* Its branch records have to be checked one by one. */
	RISCV_PMU_EV_BRANCH_CHECK	= BIT(7),
	/* Its branch records: perf has to call riscv_pmu_branch_switch(). */
	RISCV_PMU_EV_BRANCH_SWITCH	= BIT(8),
	/* Some process has mapped it, so its page is kept up to date. */
	RISCV_PMU_EV_MAPPED		= BIT(9),
	/* It was mapped at some time, and does not sample or belongs to a cgroup. */
	RISCV_PMU_EV_MAPPED_SLOW	= BIT(10),
};

/* Events that take the slow path when they are added, and when they are removed. */
#define RISCV_PMU_EV_SLOW_ADD	(RISCV_PMU_EV_EBB | RISCV_PMU_EV_SPLIT | RISCV_PMU_EV_BRANCH | \
				 RISCV_PMU_EV_MAPPED_SLOW)
#define RISCV_PMU_EV_SLOW_DEL	(RISCV_PMU_EV_SLOW_ADD | RISCV_PMU_EV_INDIRECT)

/* NONE: the event searches for a counter when it is next added. NEXT: the next apply sets @gen. */
#define RISCV_PMU_GEN_NONE	0
#define RISCV_PMU_GEN_NEXT	U64_MAX

/**
 * struct riscv_pmu_event - what the driver knows of a perf event
 * @node:	on &riscv_pmu_counter.events while the event is attached
 * @hart:	the hart of @counter; NULL before the first one
 * @counter:	the counter; the last one if the event is not attached
 * @gen:	&riscv_pmu_counter.gen at the time when the counter held the event's config, or
 *		RISCV_PMU_GEN_*
 * @prev_count:	the counter's count at the last update of the event
 * @ctr:	the counter's number, -1 before the first one
 * @flags:	enum riscv_pmu_event_flags
 * @state:	enum riscv_pmu_event_state
 * @user:	its own process has mapped it and may read the counter (user/page.c)
 * @page_outdated: @user is set, and the next riscv_pmu_user_show() updates its page
 * @user_idx:	index in the mapped page: the number of the counter's CSR plus 1; or 0
 * @own_value:	the counter's value depends on nothing that other processes have counted
 * @all_maps:	how often it is mapped
 * @page_tick:	jiffies when a sample last updated the times in its page
 * @maps:	how often it is mapped by its own process
 * @pending_delta: counted on counters that it was moved away from, and not yet added to
 *		the perf event; 0 while it is active
 * @overflow_point: the counter's count at which its period ends
 * @period_left: events until @overflow_point, while it is pending
 * @left:	sampling: events until the end of the period, as of the last update:
 *		&hw_perf_event.period_left, or @own_left
 * @own_left:	@left of the second part of a split event
 * @period_count: sampling: events since the end of the period of the last sample
 * @min_period:	the least period (throttle.c); 0: no limit
 * @last_sample: time of its last sample, in ticks of the hart's timer
 * @rate:	polled: ns in which 1024 events occur, as last measured; 0: unknown
 * @polled_ns:	polled: time of the last poll; 0: none since the event was started
 * @polled_count: polled: the counter's count at @polled_ns
 * @req:	its config, and the counters that can hold it
 * @accepted:	counters that have accepted its config, on any hart
 * @candidates:	counters of @req that have not refused it
 * @retry:	if @candidates is empty: jiffies at which all may be tried again on @hart
 * @mm:		the address space that has mapped it
 * @task:	the mapped events of its task
 * @user_ctrs:	counters of @req whose index may appear in its mapped page
 * @opener:	tgid of the process that opened the event; a reference is held (user/access.c)
 * @split:	if two counters sample the event, one in each mode (event.c): the other part. The
 *		perf event's pmu_private is the first part. Otherwise NULL
 * @split_base:	first part of a split event: sum of both @period_count after the last sample
 * @split_period: first part: what both parts have counted between the last two samples
 * @guest_write_failed: the counter did not accept the value that its KVM guest wants in it, so the
 *		guest's reads exit to the host
 * @branch_read_flags:	how its records are read, see branch/sample.c
 * @branch_ctl:	the value of sctrctl with which a hart records what it wants
 * @branch_node: on &riscv_pmu_hart_branch.events while the event is attached
 * @event:	the perf event; for the layers above the counters
 *
 * What a context switch uses comes first, in one cache line.
 */
struct riscv_pmu_event {
	struct list_head	node;
	struct riscv_pmu_hart	*hart;
	struct riscv_pmu_counter *counter;
	u64			gen;
	u64			prev_count;
	int			ctr;
	u16			flags;
	u8			state;
#ifdef CONFIG_RISCV_PMU_USER_ACCESS
	bool			user;
#endif
	u64			pending_delta;
	u64			overflow_point;
	u64			period_left;
	u64			period_count;
	local64_t		*left;
	u32			min_period;
	u32			last_sample;
	struct riscv_pmu_request req;
	u64			accepted;
	u64			candidates;
	unsigned long		retry;
	struct perf_event	*event;
	local64_t		own_left;
#ifdef CONFIG_RISCV_PMU_POLL
	u32			rate;
	u64			polled_ns;
	u64			polled_count;
#endif
#ifdef CONFIG_RISCV_PMU_USER_ACCESS
	bool			page_outdated;
	bool			own_value;
	u8			user_idx;
	unsigned int		all_maps;
	unsigned long		page_tick;
	unsigned int		maps;
	struct mm_struct	*mm;
	struct riscv_pmu_task	*task;
	u64			user_ctrs;
	struct pid		*opener;
#endif
#ifdef CONFIG_RISCV_PMU_SPLIT
	struct riscv_pmu_event	*split;
	u64			split_base;
	u64			split_period;
#endif
#ifdef CONFIG_RISCV_PMU_KVM
	bool			guest_write_failed;
#endif
#ifdef CONFIG_RISCV_PMU_BRANCH
	u8			branch_read_flags;
	u64			branch_ctl;
	struct list_head	branch_node;
#endif
};

static_assert(offsetofend(struct riscv_pmu_event, pending_delta) <= 64);

/**
 * struct riscv_pmu_counter - one counter of one hart
 * @events:	events that are attached to it
 * @cfg:	the config that it holds; empty if it holds none
 * @gen:	changes when @cfg changes, is lost, or is about to be replaced
 * @count:	what it has counted since the hart came online, modulo 2^64
 * @raw:	the hardware's value at @count
 * @mask:	the bits that the hardware has
 *
 * One cache line.
 */
struct riscv_pmu_counter {
	struct list_head	events;
	struct riscv_pmu_config	cfg;
	u64			gen;
	u64			count;
	u64			raw;
	u64			mask;
};

/**
 * struct riscv_pmu_assignment - which config is wanted on which counter
 * @sched:	counters in use, and the counters that could hold their configs instead
 * @cfg:	the configs
 */
struct riscv_pmu_assignment {
	struct riscv_pmu_sched	sched;
	struct riscv_pmu_config	cfg[RISCV_MAX_COUNTERS];
};

/**
 * struct riscv_pmu_stats - what a hart's PMU has done since the hart came online
 * @batches:	batches applied
 * @configs:	configs written
 * @attached:	events attached
 * @detached:	events detached
 * @searched:	events for which a counter was searched; the others found their config
 *		still programmed
 * @shared:	events that were attached to a counter in use
 * @evicted:	configs of unused counters that were replaced
 * @moved:	configs that moved to another counter to make room
 * @irqs:	overflow interrupts
 * @spurious:	those in which no counter had overflowed
 * @early:	those in which no event had reached its overflow point
 * @samples:	samples taken
 * @merged:	samples that stand for more than one period
 * @extended:	periods that were extended, because samples came too early
 * @polls:	expiries of the polling timer
 * @stopped:	events that perf has stopped at an overflow: throttled, or at their limit
 */
struct riscv_pmu_stats {
	u64	batches;
	u64	configs;
	u64	attached;
	u64	detached;
	u64	searched;
	u64	shared;
	u64	evicted;
	u64	moved;
	u64	irqs;
	u64	spurious;
	u64	early;
	u64	samples;
	u64	merged;
	u64	extended;
	u64	polls;
	u64	stopped;
};

/**
 * struct riscv_pmu_hw - what the counters of a hart hold and do
 * @holds:	counters that hold the config that is wanted of them, or any if they are not used
 * @running:	counters whose count advances; each has a config
 * @armed:	counters whose overflow flag is clear and that overflow no later than at the nearest
 *		overflow point of their events; all counters with active events that need the
 *		interrupt are armed. After an apply, only running counters are
 * @loaded:	counters whose value is known and depends on no other task; the next apply writes
 *		one that is not loaded. After an apply, all counters with active events are
 */
struct riscv_pmu_hw {
	u64	holds;
	u64	running;
	u64	armed;
	u64	loaded;
};

/**
 * struct riscv_pmu_hart_irq - the overflow interrupt of a hart (update.c, irq.c)
 * @events:	number of active or pending events that need it
 * @mask:	its bit in sip and sie, or 0 if there is none, or none that can be masked
 * @masked:	it is masked, because no event on this hart needs it
 * @nmi:	overflows are delivered as NMIs instead (nmi/nmi.c), which are never masked
 * @ebb_taken:	an overflow of this interrupt has caused an event-based branch
 */
struct riscv_pmu_hart_irq {
	unsigned int	events;
	unsigned long	mask;
	bool		masked;
	bool		nmi;
#ifdef CONFIG_RISCV_PMU_EBB
	bool		ebb_taken;
#endif
};

/**
 * struct riscv_pmu_hart_poll - the polling timer of a hart (update.c, poll.c)
 * @timer:	the timer
 * @due:	when it will expire, in ns of sched_clock(); 0 while it is off
 * @events:	number of active or pending events whose overflow points it checks
 * @active:	its handler samples, and sets the next expiry itself
 */
struct riscv_pmu_hart_poll {
	struct hrtimer	timer;
	u64		due;
	unsigned int	events;
	bool		active;
};

#ifdef CONFIG_RISCV_PMU_USER_ACCESS
/**
 * struct riscv_pmu_hart_user - what user space may read on a hart (user/page.c)
 * @mask:	what scounteren holds
 * @shown:	user space may read counters of events here, or will after the next apply
 */
struct riscv_pmu_hart_user {
	u32	mask;
	bool	shown;
};
#endif

/**
 * struct riscv_pmu_hart_throttle - the interrupts that take samples on a hart (throttle.h)
 * @began:	begin of the present interrupt, in ticks of the hart's timer
 * @ended:	end of the last interrupt, in ticks of the hart's timer
 * @cost:	average duration of an interrupt, in eighths of a tick
 * @nmi_overhead: duration of entry and exit of an NMI, in eighths of a tick; 0: not known yet
 * @too_early:	consecutive interrupts that were too early (riscv_pmu_throttle_gap())
 * @too_early_since: start of the interrupt before the first of @too_early, in ticks
 */
struct riscv_pmu_hart_throttle {
	u32		began;
	u32		ended;
	u32		cost;
	u32		nmi_overhead;
	unsigned int	too_early;
	u32		too_early_since;
};

#ifdef CONFIG_RISCV_PMU_BRANCH
/**
 * struct riscv_pmu_hart_branch - the branch records of a hart (branch/branch.c)
 * @events:	attached events whose samples have branch records
 * @ctl:	what sctrctl holds: the union of what @events want; 0: nothing is recorded
 * @stack:	where the records of a sample are put; NULL: this hart cannot record
 * @other_records:	some records may be of an event that is no longer in @events
 * @maybe_reset:	an idle state may have reset the CSRs
 * @held:	riscv_pmu_branch_hold() has frozen the records; meaningless while @ctl is 0
 * @task:	the task that ran when the records were last cleared or restored
 * @switches:	how often @task had been switched out then
 */
struct riscv_pmu_hart_branch {
	struct list_head		events;
	u64				ctl;
	struct perf_branch_stack	*stack;
	bool				other_records;
	bool				maybe_reset;
	bool				held;
	const struct task_struct	*task;
	u64				switches;
};
#endif

/**
 * struct riscv_pmu_hart - one hart's PMU
 * @pmu:	the PMU of its CPU type
 * @wanted:	the configs of the counters in use, which are those that have events
 * @hw:		what the counters hold and do
 * @changed:	counters that the next apply has to look at: their events are pending or have new
 *		overflow points, or they do not run as wanted. None after an apply
 * @gen:	source of &riscv_pmu_counter.gen
 * @latched:	counters whose counts are those of the time at which the first of them was read
 * @txn:	PERF_PMU_TXN_* of the transaction in progress
 * @updating:	changes are only noted; pmu_enable will apply them. NMIs are deferred
 * @latch_on_read: an event that is read latches the counts of its group
 * @needs_start: the hart has slept: its counters are in an unknown state until hart_start
 * @shut_down:	the machine is being shut down: changes are not applied any more
 * @irq:	the overflow interrupt
 * @user:	what user space may read
 * @throttle:	durations of interrupts
 * @poll:	the polling timer
 * @branch:	branch records
 * @stats:	for debugfs
 * @counter:	the counters
 * @sampler:	the event for whose overflow point a counter was written last; only compared, since
 *		it may have been freed
 * @batch:	the batch of the apply in progress. Before it, &riscv_pmu_batch.stop has the paused
 *		counters: their hardware runs, but their counts do not advance
 * @sample:	the sample that is being taken
 *
 * riscv_pmu_hart_check() asserts after each apply what is said of the masks here.
 */
struct riscv_pmu_hart {
	struct riscv_pmu	*pmu;
	struct riscv_pmu_assignment wanted;
	struct riscv_pmu_hw	hw;
	u64			changed;
	u64			latched;
	u64			gen;
	unsigned int		txn;
	bool			updating;
	bool			latch_on_read;
	bool			needs_start;
	bool			shut_down;
	struct riscv_pmu_hart_irq irq;
#ifdef CONFIG_RISCV_PMU_USER_ACCESS
	struct riscv_pmu_hart_user user;
#endif
	struct riscv_pmu_hart_throttle throttle;
	struct riscv_pmu_hart_poll poll;
#ifdef CONFIG_RISCV_PMU_BRANCH
	struct riscv_pmu_hart_branch branch;
#endif
	struct riscv_pmu_stats	stats;
	struct riscv_pmu_counter counter[RISCV_MAX_COUNTERS];
	const struct riscv_pmu_event *sampler[RISCV_MAX_COUNTERS];
	struct riscv_pmu_batch	batch;
	struct perf_sample_data	sample;
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

#define RISCV_PMU_MAX_CPU_TYPES	4

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
