/* SPDX-License-Identifier: GPL-2.0 */
/*
 * State of one hart's PMU, and what the core's files offer each other.
 *
 * A counter is a clock: once it holds a program it runs on, and its 64-bit
 * time is kept in software. A perf event is a reader of a clock; a sampling
 * event is a reader with a deadline. Readers say what is wanted;
 * riscv_pmu_hart_apply() makes the hardware follow, in one go.
 *
 * All of struct riscv_pmu_hart and of the readers attached to it belongs to
 * its hart: it is touched there alone, with interrupts off. No locks.
 */
#ifndef _RISCV_PMU_INTERNAL_H
#define _RISCV_PMU_INTERNAL_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/perf/riscv_pmu.h>

#include "event.h"
#include "sched.h"

/* What the SBI may number, perf may count: one bit each in a u64. */
static_assert(RISCV_PMU_SCHED_MAX == RISCV_MAX_COUNTERS);

/**
 * enum riscv_pmu_reader_state - whether a reader counts
 * @RISCV_PMU_READER_OFF:	it does not
 * @RISCV_PMU_READER_FRESH:	it will, from the next apply on
 * @RISCV_PMU_READER_ON:	it does, since &riscv_pmu_reader.prev
 */
enum riscv_pmu_reader_state {
	RISCV_PMU_READER_OFF,
	RISCV_PMU_READER_FRESH,
	RISCV_PMU_READER_ON,
};

/**
 * struct riscv_pmu_reader - an event's view of the clock that it reads
 * @node:	on &riscv_pmu_clock.readers while it is attached
 * @hart:	the hart of the clock, or of the last one; NULL before that
 * @clock:	the clock; the last one when it is not attached
 * @gen:	the clock's &riscv_pmu_clock.gen when it held the reader's program
 * @prev:	the clock's time up to which the reader has been given its share
 * @ctr:	the clock's number, -1 while there is none
 * @state:	enum riscv_pmu_reader_state
 * @sampling:	it has a deadline
 * @polled:	a timer watches the deadline, for no counter can interrupt for it
 * @user:	its own process has mapped it and may read the counter (user.c)
 * @user_idx:	what the mapping says: the number of the counter's CSR, counted from 1; or 0
 * @clean:	the counter tells nothing of what others have counted with it
 * @maps:	how often it is mapped so
 * @ebb:	its overflows branch, see ebb.c
 * @special:	@user, @ebb or @limited: riscv_pmu_add() has more to do for it
 * @limited:	its opener has reached the limit on identical events: riscv_pmu_add() has to
 *		check the limit again
 * @carry:	its share of clocks that it has been moved away from; 0 while it is on
 * @deadline:	the clock's time at which it wants a sample
 * @left:	until @deadline, while it is fresh
 * @since:	sampling: events since the end of the period that the last sample was for
 * @floor:	the least @left that does not make a storm of interrupts; 0 while there is none
 * @served:	when it had its last sample, in ticks of the hart's timer
 * @pace:	polled: ns that 1024 events take, as last seen; 0 while unknown
 * @look_ns:	polled: when it was last looked at; 0 for not since it was started
 * @look_at:	polled: the clock's time then
 * @want:	its program, and the counters that can hold it
 * @accepted:	counters that have accepted its program, on any hart
 * @candidates:	counters of @want that have not refused it
 * @retry:	when @candidates is empty: jiffies at which all may be tried again on @hart
 * @mm:		by whom
 * @task:	what its task has of such events
 * @user_ctrs:	counters of @want whose index may appear in its mapping
 * @opener:	tgid of the process that opened the event; a reference is held
 * @event:	the perf event; only core.c, irq.c and user.c look at it
 *
 * What a context switch touches comes first, in one cache line.
 */
struct riscv_pmu_reader {
	struct list_head	node;
	struct riscv_pmu_hart	*hart;
	struct riscv_pmu_clock	*clock;
	u64			gen;
	u64			prev;
	int			ctr;
	u8			state;
	bool			sampling;
	bool			polled;
	bool			user;
	u8			user_idx;
	bool			clean;
	bool			ebb;
	bool			special;
	bool			limited;
	u64			carry;
	u64			deadline;
	u64			left;
	u64			since;
	u32			floor;
	u32			served;
	u32			pace;
	u64			look_ns;
	u64			look_at;
	unsigned int		maps;
	struct mm_struct	*mm;
	struct riscv_pmu_task	*task;
	struct riscv_pmu_event	want;
	u64			accepted;
	u64			candidates;
	unsigned long		retry;
	u64			user_ctrs;
	struct pid		*opener;
	struct perf_event	*event;
};

/**
 * struct riscv_pmu_clock - one counter of one hart
 * @readers:	who reads it
 * @prog:	the program that it holds, if its bit in &riscv_pmu_hart.held is set
 * @gen:	changes whenever @prog does, is lost, or is about to be replaced
 * @now:	its time: what it has counted since boot, modulo 2^64
 * @raw:	the counter's value at @now
 * @mask:	the bits that the counter has
 *
 * One cache line.
 */
struct riscv_pmu_clock {
	struct list_head	readers;
	struct riscv_pmu_prog	prog;
	u64			gen;
	u64			now;
	u64			raw;
	u64			mask;
};

/**
 * struct riscv_pmu_layout - which program is wanted on which counter
 * @sched:	counters taken, and where their programs could go instead
 * @prog:	the programs
 */
struct riscv_pmu_layout {
	struct riscv_pmu_sched	sched;
	struct riscv_pmu_prog	prog[RISCV_MAX_COUNTERS];
};

/**
 * struct riscv_pmu_stats - what a hart's PMU has done since boot
 * @batches:	batches applied
 * @programs:	programs written
 * @attached:	readers that came
 * @detached:	readers that went
 * @searched:	readers that had to look for a clock; the others found their program
 *		where they had left it
 * @shared:	readers that joined a clock that others read
 * @evicted:	programs that had to make room
 * @moved:	programs that moved to another counter for a newcomer
 * @irqs:	overflow interrupts
 * @spurious:	those that found nothing to serve
 * @early:	those of counters that overflow before any deadline
 * @samples:	samples taken
 * @late:	periods that had no sample of their own, since the next one had ended too
 * @storms:	deadlines put off, since interrupts came too close upon each other
 * @polls:	how often the timer looked
 * @verdicts:	events that perf had stopped then: throttled, or at their limit
 */
struct riscv_pmu_stats {
	u64	batches;
	u64	programs;
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
	u64	late;
	u64	storms;
	u64	polls;
	u64	verdicts;
};

/**
 * struct riscv_pmu_hart - one hart's PMU
 * @pmu:	the PMU of its kind
 * @layout:	wanted: programs of the clocks that have readers
 * @held:	actual: counters that hold &riscv_pmu_clock.prog
 * @running:	actual: counters that count
 * @armed:	actual: counters that overflow no later than at a deadline
 * @loaded:	actual: counters whose value is ours: loaded, or read when it was found
 * @parked:	counters that run on only until the next apply: their clocks stand already
 * @wrong:	counters in use that do not hold the program wanted of them
 * @dirty:	counters whose readers have changed since the last apply
 * @joined:	counters with new counting readers; those that run may go on as they are
 * @timed:	those of them whose new readers have a deadline that the counter has to tell
 * @fresh:	those of them that have to start from a value that tells user space nothing
 * @polled:	counters with readers whose deadlines the timer watches, or had some
 * @gen:	source of &riscv_pmu_clock.gen
 * @deadlines:	readers that count and have a deadline which a counter has to tell
 * @frozen:	all clocks in use show the time at which this was set
 * @txn:	PERF_PMU_TXN_* of the transaction under way
 * @collecting:	changes are being collected; pmu_enable will apply them
 * @at_once:	readers are served as of one instant: the first that asks freezes time
 * @stale:	the hart has slept: what its counters do is not known before the next hart_start
 * @down:	the machine is being shut down: what is wanted is not carried out any more
 * @in_poll:	the timer is looking; it will see to its next expiry itself
 * @stormy:	interrupts in a row that left the interrupted next to no time
 * @irq_muted:	the overflow interrupt is masked, because no event on this hart needs it
 * @irq_mask:	its bit in sip and sie, or 0 if there is none, or none that can be masked
 * @user_mask:	what scounteren holds
 * @branched:	an overflow of this interrupt has branched
 * @user_shown:	user space may read counters of events here, or shall as of the next apply
 * @stats:	for debugfs
 * @clock:	the counters
 * @batch:	scratch of the apply under way
 * @sample:	scratch of the sample being taken
 * @poll:	see poll.c
 * @poll_due:	when it will expire, in ns of sched_clock(); 0 while it is off
 * @irq_began:	begin of the present interrupt, in ticks of the hart's timer
 * @irq_ended:	end of the last interrupt, in ticks of the hart's timer
 * @irq_cost:	what one has cost of late, in eighths of a tick
 */
struct riscv_pmu_hart {
	struct riscv_pmu	*pmu;
	struct riscv_pmu_layout	layout;
	u64			held;
	u64			running;
	u64			armed;
	u64			loaded;
	u64			parked;
	u64			wrong;
	u64			dirty;
	u64			joined;
	u64			timed;
	u64			fresh;
	u64			polled;
	u64			gen;
	unsigned int		deadlines;
	unsigned int		txn;
	unsigned int		stormy;
	bool			frozen;
	bool			collecting;
	bool			at_once;
	bool			stale;
	bool			down;
	bool			in_poll;
	bool			irq_muted;
	unsigned long		irq_mask;
	u32			user_mask;
	bool			branched;
	bool			user_shown;
	struct riscv_pmu_stats	stats;
	struct riscv_pmu_clock	clock[RISCV_MAX_COUNTERS];
	struct riscv_pmu_batch	batch;
	struct perf_sample_data	sample;
	struct hrtimer		poll;
	u64			poll_due;
	u32			irq_began;
	u32			irq_ended;
	u32			irq_cost;
};

#define RISCV_PMU_MAX_IDENTICAL	16

/**
 * riscv_pmu_max_identical() - how many identical events of one owner run at once on a hart
 * @want:	what they ask for
 *
 * They could all share one counter. But programs open the same event again and again,
 * until one does not run all the time, to learn how many counters there are (LTP's
 * perf_event_open02, for one): without a limit they would never learn. Groups that each
 * have the same event, as perf's metrics do, stay below it.
 *
 * Return: as many as there are counters for them, or 16 if that is more.
 */
static inline unsigned long riscv_pmu_max_identical(const struct riscv_pmu_event *want)
{
	return max_t(unsigned long, hweight64(want->ctrs), RISCV_PMU_MAX_IDENTICAL);
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

	for (; ctrs; ctrs &= ctrs - 1)
		width = min_t(unsigned int, width, pmu->ctr[__ffs64(ctrs)].width);

	return width;
}

/* program.c: clocks and readers */
void riscv_pmu_hart_reset(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
bool riscv_pmu_prog_is_equal(const struct riscv_pmu_prog *a, const struct riscv_pmu_prog *b);
int riscv_pmu_layout_join(const struct riscv_pmu_layout *layout,
			  const struct riscv_pmu_event *want);
void riscv_pmu_layout_put(struct riscv_pmu_layout *layout, unsigned int ctr,
			  const struct riscv_pmu_event *want);
void riscv_pmu_layout_move(struct riscv_pmu_layout *layout, unsigned int from, unsigned int to);
int riscv_pmu_reader_attach(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_reader *reader);
u64 riscv_pmu_reader_take_carry(struct riscv_pmu_reader *reader);
void riscv_pmu_hart_advance(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
void riscv_pmu_hart_freeze(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_unpark(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_park(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
u64 riscv_pmu_hart_find_awaited(struct riscv_pmu_hart *hart, u64 overflowed);
u64 riscv_pmu_hart_find_missed(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_stop_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
u64 riscv_pmu_hart_unused(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart);
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
int riscv_pmu_hart_prove(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			 struct riscv_pmu_reader *reader);
void riscv_pmu_hart_spare(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs);
u64 riscv_pmu_hart_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_refresh(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_forget(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

/* core.c: perf's callbacks, for implementations that replace only some */
int riscv_pmu_event_init(struct perf_event *event);
int riscv_pmu_add(struct perf_event *event, int flags);
void riscv_pmu_del(struct perf_event *event, int flags);
void riscv_pmu_start(struct perf_event *event, int flags);
void riscv_pmu_stop(struct perf_event *event, int flags);
void riscv_pmu_read(struct perf_event *event);
void riscv_pmu_event_update(struct perf_event *event);
bool riscv_pmu_event_set_period(struct perf_event *event);
int riscv_pmu_check_period(struct perf_event *event, u64 value);
void riscv_pmu_collect(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_finish(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
struct riscv_pmu *riscv_pmu_get(void);
struct riscv_pmu *riscv_pmu_of(unsigned int cpu);
struct riscv_pmu *riscv_pmu_confirm(unsigned int cpu);

static inline struct riscv_pmu_reader *to_reader(const struct perf_event *event)
{
	return event->pmu_private;
}

/**
 * riscv_pmu_event_add() - add to an event's count
 * @event:	the event
 * @share:	what it has counted since the last time
 */
static inline void riscv_pmu_event_add(struct perf_event *event, u64 share)
{
	struct riscv_pmu_reader *reader = to_reader(event);

	local64_add(share, &event->count);
	if (!reader->sampling)
		return;

	local64_sub(share, &event->hw.period_left);
	reader->since += share;
}

/**
 * riscv_pmu_event_left() - events until a sampling event's next deadline
 * @event:	the event, its count up to date
 *
 * Return: at least 1, and in a storm of interrupts more than the period has left.
 */
static inline u64 riscv_pmu_event_left(const struct perf_event *event)
{
	return max3((s64)local64_read(&event->hw.period_left), (s64)to_reader(event)->floor, 1LL);
}

/* txn.c */
void riscv_pmu_start_txn(struct pmu *pmu, unsigned int flags);
int riscv_pmu_commit_txn(struct pmu *pmu);
void riscv_pmu_cancel_txn(struct pmu *pmu);
int riscv_pmu_group_validate(struct perf_event *event);

/* irq.c */
void riscv_pmu_irq_probe(struct riscv_pmu *pmu);
void riscv_pmu_irq_enable(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_irq_disable(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_clear_overflows(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_hart_handle_irq(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			       struct pt_regs *regs);
void riscv_pmu_reader_serve(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_reader *reader, struct pt_regs *regs);
void riscv_pmu_irq_begin(const struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u32 now,
			 bool in_user);
u64 riscv_pmu_irq_end(struct riscv_pmu_hart *hart, u32 began, u32 now);
u64 riscv_pmu_irq_cost_ns(const struct riscv_pmu_hart *hart);

/* poll.c */
u64 riscv_pmu_hart_poll(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 now,
			struct pt_regs *regs);
void riscv_pmu_poll_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_poll_hart_start(struct riscv_pmu_hart *hart);
void riscv_pmu_poll_hart_stop(struct riscv_pmu_hart *hart);
void riscv_pmu_poll_probe(struct riscv_pmu *pmu);

/* hotplug.c */
int riscv_pmu_hotplug_init(void);
void riscv_pmu_event_opened(void);
void riscv_pmu_event_closed(void);

/* debugfs.c */
#ifdef CONFIG_DEBUG_FS
void riscv_pmu_debugfs_init(void);
#else
static inline void riscv_pmu_debugfs_init(void) { }
#endif

/* fw_pmu.c */
#ifdef CONFIG_RISCV_PMU_SBI
int riscv_pmu_fw_init(struct riscv_pmu *core, unsigned int kind);
#else
static inline int riscv_pmu_fw_init(struct riscv_pmu *core, unsigned int kind) { return 0; }
#endif

/* sysfs.c */
extern const struct attribute_group *riscv_pmu_attr_groups[];

/* user.c */
void riscv_pmu_user_hart_start(struct riscv_pmu_hart *hart);
void riscv_pmu_user_open(struct perf_event *event);
void riscv_pmu_user_refresh(struct riscv_pmu_hart *hart, struct riscv_pmu_reader *reader);
bool riscv_pmu_user_show(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_user_hide(struct perf_event *event);
void riscv_pmu_user_mapped(struct perf_event *event, struct mm_struct *mm);
void riscv_pmu_user_unmapped(struct perf_event *event, struct mm_struct *mm);
void riscv_pmu_user_forget(struct perf_event *event);
int riscv_pmu_user_idx(struct perf_event *event);
int riscv_pmu_user_init(void);

#endif /* _RISCV_PMU_INTERNAL_H */
