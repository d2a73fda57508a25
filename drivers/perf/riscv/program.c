// SPDX-License-Identifier: GPL-2.0
/*
 * From what the readers want to what the counters hold: clocks, readers,
 * deadlines, and the batch that closes the gap.
 *
 * Everything here runs on the hart that it is about, with interrupts off.
 */

#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "clock.h"
#include "internal.h"
#include "trace.h"

/**
 * riscv_pmu_prog_is_equal() - whether two programs are the same to the hardware
 * @a:		one
 * @b:		the other
 *
 * Return: true if one counter can serve both.
 */
bool riscv_pmu_prog_is_equal(const struct riscv_pmu_prog *a, const struct riscv_pmu_prog *b)
{
	return a->event_idx == b->event_idx && a->event_data == b->event_data && a->inh == b->inh;
}

static bool clock_holds(const struct riscv_pmu_hart *hart, unsigned int ctr,
			const struct riscv_pmu_prog *prog)
{
	return hart->held & BIT_ULL(ctr) && riscv_pmu_prog_is_equal(&hart->clock[ctr].prog, prog);
}

/* From here on, readers that remember the clock's program are wrong. */
static void clock_renew(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	hart->clock[ctr].gen = ++hart->gen;
}

/**
 * riscv_pmu_hart_reset() - a hart whose counters hold nothing and have no readers
 * @pmu:	the PMU, its counters known
 * @hart:	the hart
 *
 * Readers that were here before it went down must not take a clock for theirs.
 */
void riscv_pmu_hart_reset(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 gen = hart->gen;

	memset(hart, 0, sizeof(*hart));
	hart->pmu = pmu;
	hart->gen = gen;
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++) {
		INIT_LIST_HEAD(&hart->clock[ctr].readers);
		hart->clock[ctr].mask = pmu->ctrs & BIT_ULL(ctr) ? riscv_pmu_ctr_mask(pmu, ctr) : 0;
		clock_renew(hart, ctr);
	}
}

/**
 * riscv_pmu_layout_join() - find a counter whose program is the wanted one already
 * @layout:	the programs in use
 * @want:	the newcomer
 *
 * Return: a counter that can serve the newcomer too, or -ENOENT.
 */
int riscv_pmu_layout_join(const struct riscv_pmu_layout *layout,
			  const struct riscv_pmu_event *want)
{
	for (u64 ctrs = layout->sched.used & want->ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (riscv_pmu_prog_is_equal(&layout->prog[ctr], &want->prog))
			return ctr;
	}

	return -ENOENT;
}

/**
 * riscv_pmu_layout_put() - note that a counter serves one more event
 * @layout:	the programs in use
 * @ctr:	a free counter, or one that riscv_pmu_layout_join() found
 * @want:	the newcomer
 */
void riscv_pmu_layout_put(struct riscv_pmu_layout *layout, unsigned int ctr,
			  const struct riscv_pmu_event *want)
{
	struct riscv_pmu_sched *sched = &layout->sched;

	if (sched->used & BIT_ULL(ctr)) {
		sched->may[ctr] &= want->ctrs;
		return;
	}

	sched->used |= BIT_ULL(ctr);
	sched->may[ctr] = want->ctrs;
	layout->prog[ctr] = want->prog;
}

/**
 * riscv_pmu_layout_move() - note that a program moves to another counter
 * @layout:	the programs in use
 * @from:	where it was; free afterwards
 * @to:		where it goes; free, or in use for the same program
 */
void riscv_pmu_layout_move(struct riscv_pmu_layout *layout, unsigned int from, unsigned int to)
{
	struct riscv_pmu_sched *sched = &layout->sched;

	sched->may[to] = sched->used & BIT_ULL(to) ? sched->may[to] & sched->may[from] :
						     sched->may[from];
	sched->used &= ~BIT_ULL(from);
	sched->used |= BIT_ULL(to);
	layout->prog[to] = layout->prog[from];
}

/*
 * Free counters in the order in which a newcomer should take them: where its
 * program already runs; a fixed one, to keep the programmable ones for events
 * that need them; an empty one.
 */
#define PROGRAM_NR_PREFER	3

static void program_prefer(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart,
			   const struct riscv_pmu_event *want, u64 prefer[PROGRAM_NR_PREFER])
{
	prefer[0] = 0;
	prefer[1] = pmu->fixed_ctrs;
	prefer[2] = ~hart->held;

	for (u64 ctrs = want->ctrs & hart->held & ~hart->layout.sched.used; ctrs;
	     ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (riscv_pmu_prog_is_equal(&hart->clock[ctr].prog, &want->prog))
			prefer[0] |= BIT_ULL(ctr);
	}
}

/*
 * Notes whether a counter in use holds what is wanted of it. If not, nobody
 * may rely any more on what it holds still.
 */
static void program_check(struct riscv_pmu_hart *hart, unsigned int ctr)
{
	if (clock_holds(hart, ctr, &hart->layout.prog[ctr])) {
		hart->wrong &= ~BIT_ULL(ctr);
	} else {
		hart->wrong |= BIT_ULL(ctr);
		clock_renew(hart, ctr);
	}
}

/*
 * Moves a reader to another counter. Its share so far and the distance to its deadline are
 * kept; the polling timer starts afresh, because its last value is the old counter's.
 */
static void reader_move(struct riscv_pmu_hart *hart, struct riscv_pmu_reader *reader,
			unsigned int to, u64 now)
{
	reader->ctr = to;
	reader->clock = &hart->clock[to];
	if (reader->polled && reader->state != RISCV_PMU_READER_OFF) {
		reader->look_ns = 0;
		hart->polled |= BIT_ULL(to);
	}
	if (unlikely(reader->user) && reader->state != RISCV_PMU_READER_OFF)
		riscv_pmu_user_refresh(hart, reader);
	if (reader->state != RISCV_PMU_READER_ON)
		return;

	reader->carry = now - reader->prev;
	reader->left = reader->deadline - now;
	reader->state = RISCV_PMU_READER_FRESH;
}

/* Gives all readers of a clock another one: a free one, or one with the same program. */
static void clock_move(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
		       unsigned int from, unsigned int to)
{
	u64 now = hart->frozen ? hart->clock[from].now : riscv_pmu_clock_now(pmu, hart, from);
	struct riscv_pmu_reader *reader;

	list_for_each_entry(reader, &hart->clock[from].readers, node)
		reader_move(hart, reader, to, now);
	list_splice_init(&hart->clock[from].readers, &hart->clock[to].readers);
	riscv_pmu_layout_move(&hart->layout, from, to);
	hart->wrong &= ~BIT_ULL(from);
	program_check(hart, to);
	hart->stats.moved++;
	hart->dirty |= BIT_ULL(from) | BIT_ULL(to);
}

/* Delay before all counters are tried again after each of them has refused a reader. */
#define READER_RETRY_JIFFIES	max(HZ / 10, 1)

/* If all counters have refused a reader, they are tried again on another hart, or later. */
static void reader_retry(const struct riscv_pmu_hart *hart, struct riscv_pmu_reader *reader)
{
	if (reader->hart != hart || time_after_eq(jiffies, reader->retry))
		reader->candidates = reader->want.ctrs;
}

/* Where the programs in use could go instead: wherever all readers of one can. */
static void program_survey(struct riscv_pmu_hart *hart)
{
	for (u64 ctrs = hart->layout.sched.used; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		const struct riscv_pmu_reader *reader;
		u64 may = ~0ULL;

		list_for_each_entry(reader, &hart->clock[ctr].readers, node)
			may &= reader->candidates;
		hart->layout.sched.may[ctr] = may;
	}
}

/* Whether a counter has to be written for the sampling readers that it has. */
static bool clock_is_sampled(const struct riscv_pmu_clock *clock)
{
	const struct riscv_pmu_reader *reader;

	list_for_each_entry(reader, &clock->readers, node) {
		if (riscv_pmu_reader_is_armed(reader))
			return true;
	}

	return false;
}

/**
 * struct program_same - counters in use that hold the program of a new reader
 * @ctrs:	all such counters
 * @alike:	one whose readers all count if the new reader counts, or that samples if it
 *		samples; -ENOENT if none. Sharing it loses no events
 * @other:	any other of @ctrs, or -ENOENT. Sharing it loses the events between stop and
 *		start at each overflow
 * @nr:		readers of @ctrs that have the same opener as the new reader
 */
struct program_same {
	u64		ctrs;
	int		alike;
	int		other;
	unsigned int	nr;
};

static unsigned int clock_count_opener(const struct riscv_pmu_clock *clock,
				       const struct pid *opener)
{
	const struct riscv_pmu_reader *reader;
	unsigned int nr = 0;

	list_for_each_entry(reader, &clock->readers, node)
		nr += reader->opener == opener;

	return nr;
}

static struct program_same program_find_same(const struct riscv_pmu_hart *hart,
					     const struct riscv_pmu_reader *reader,
					     const struct riscv_pmu_event *want)
{
	struct program_same same = { .alike = -ENOENT, .other = -ENOENT };
	bool sampled = riscv_pmu_reader_is_armed(reader);

	for (u64 ctrs = hart->layout.sched.used & want->ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		if (!riscv_pmu_prog_is_equal(&hart->layout.prog[ctr], &want->prog))
			continue;
		same.ctrs |= ctrs & -ctrs;
		same.nr += clock_count_opener(&hart->clock[ctr], reader->opener);
		if (clock_is_sampled(&hart->clock[ctr]) == sampled)
			same.alike = ctr;
		else
			same.other = ctr;
	}

	return same;
}

/* A counter of its own; others may move for it. */
static int program_find_own(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    const struct riscv_pmu_event *want)
{
	struct riscv_pmu_sched_path path;
	u64 prefer[PROGRAM_NR_PREFER];

	program_survey(hart);
	program_prefer(pmu, hart, want, prefer);
	if (!riscv_pmu_sched_find(&hart->layout.sched, want->ctrs, prefer, ARRAY_SIZE(prefer),
				  &path))
		return -EAGAIN;

	for (unsigned int i = path.len - 1; i; i--)
		clock_move(pmu, hart, path.ctr[i - 1], path.ctr[i]);

	return path.ctr[0];
}

/* Another counter with the same program to which all readers of @ctr can go. */
static int program_find_merge(const struct riscv_pmu_hart *hart, unsigned int ctr)
{
	const struct riscv_pmu_layout *layout = &hart->layout;
	u64 ctrs = layout->sched.used & layout->sched.may[ctr] & ~BIT_ULL(ctr);

	for (; ctrs; ctrs &= ctrs - 1) {
		if (riscv_pmu_prog_is_equal(&layout->prog[ctr], &layout->prog[__ffs64(ctrs)]))
			return __ffs64(ctrs);
	}

	return -ENOENT;
}

/*
 * Merges a counting and a sampling counter of the same program, to free a counter from which
 * a chain of moves leads to one of @may. Without a sampling reader no program uses two
 * counters, so the search is skipped then: it would slow down each rotation.
 */
static bool program_merge(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 may)
{
	const struct riscv_pmu_sched *sched = &hart->layout.sched;

	if (!hart->deadlines)
		return false;

	for (u64 ctrs = sched->used & riscv_pmu_sched_reach(sched, may); ctrs; ctrs &= ctrs - 1) {
		unsigned int from = __ffs64(ctrs);
		int to = program_find_merge(hart, from);

		if (to >= 0) {
			clock_move(pmu, hart, from, to);
			return true;
		}
	}

	return false;
}

/* Marks the identical events of this opener, so that the limit is checked for each of them. */
static void program_limit(struct riscv_pmu_hart *hart, u64 ctrs, struct riscv_pmu_reader *reader)
{
	struct riscv_pmu_reader *other;

	reader->limited = true;
	reader->special = true;
	for (; ctrs; ctrs &= ctrs - 1) {
		list_for_each_entry(other, &hart->clock[__ffs64(ctrs)].readers, node) {
			if (other->opener != reader->opener)
				continue;
			other->limited = true;
			other->special = true;
		}
	}
}

/* Slow path: chooses a counter for a new reader. */
static int program_place(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			 struct riscv_pmu_reader *reader, const struct riscv_pmu_event *want)
{
	struct program_same same = program_find_same(hart, reader, want);
	int ctr = same.alike;

	if (unlikely(same.nr >= RISCV_PMU_MAX_IDENTICAL) &&
	    same.nr >= riscv_pmu_max_identical(&reader->want)) {
		program_limit(hart, same.ctrs, reader);
		return -EAGAIN;
	}
	reader->limited = false;
	if (ctr < 0) {
		ctr = program_find_own(pmu, hart, want);
		if (ctr >= 0)
			return ctr;
		ctr = same.other;
	}
	if (ctr >= 0) {
		hart->stats.shared++;
		return ctr;
	}

	while (program_merge(pmu, hart, want->ctrs)) {
		ctr = program_find_own(pmu, hart, want);
		if (ctr >= 0)
			return ctr;
	}

	return -EAGAIN;
}

/**
 * riscv_pmu_reader_attach() - find a clock for a reader, and attach it
 * @pmu:	the PMU
 * @hart:	this hart
 * @reader:	a reader that is not attached
 *
 * It takes the clock that it had if that still holds its program; else one is
 * searched, and others may move for it.
 *
 * Return: 0, or -EAGAIN if there is no assignment of all programs, if every
 * counter that could hold its program has refused it on this hart, or if its owner
 * runs riscv_pmu_max_identical() of these events here.
 */
int riscv_pmu_reader_attach(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			    struct riscv_pmu_reader *reader)
{
	const struct riscv_pmu_event *want = &reader->want;
	struct riscv_pmu_event narrowed;
	int ctr;

	if (riscv_pmu_reader_can_return(hart, reader) && !reader->limited) {
		riscv_pmu_reader_join(hart, reader);
		return 0;
	}

	if (unlikely(!reader->candidates)) {
		reader_retry(hart, reader);
		if (!reader->candidates)
			return -EAGAIN;
	}
	if (unlikely(reader->candidates != want->ctrs)) {
		narrowed = *want;
		narrowed.ctrs = reader->candidates;
		want = &narrowed;
	}
	ctr = program_place(pmu, hart, reader, want);
	if (ctr < 0)
		return ctr;

	hart->stats.searched++;
	reader->hart = hart;
	reader->ctr = ctr;
	reader->clock = &hart->clock[ctr];
	riscv_pmu_layout_put(&hart->layout, ctr, want);
	program_check(hart, ctr);
	reader->gen = hart->wrong & BIT_ULL(ctr) ? 0 : reader->clock->gen;
	riscv_pmu_reader_join(hart, reader);
	return 0;
}

/**
 * riscv_pmu_reader_take_carry() - give a reader that is not on what it has left elsewhere
 * @reader:	an attached reader
 *
 * Return: its share of the clocks that it has been moved away from, or that failed.
 */
u64 riscv_pmu_reader_take_carry(struct riscv_pmu_reader *reader)
{
	u64 share = reader->carry;

	reader->carry = 0;
	return share;
}

/* What the readers of one clock want of it, together. */
struct program_goal {
	bool	run;
	bool	has_deadline;
	u64	left;
};

/* Readers that were waiting for this apply count from the clock's present time on. */
static void reader_refresh(const struct riscv_pmu_clock *clock, struct riscv_pmu_reader *reader)
{
	reader->gen = clock->gen;
	reader->prev = clock->now - reader->carry;
	reader->carry = 0;
	reader->deadline = clock->now + reader->left;
	reader->state = RISCV_PMU_READER_ON;
}

static __always_inline struct program_goal clock_refresh(struct riscv_pmu_clock *clock)
{
	struct program_goal goal = { .left = S64_MAX };
	struct riscv_pmu_reader *reader;

	list_for_each_entry(reader, &clock->readers, node) {
		s64 left;

		if (reader->state == RISCV_PMU_READER_OFF)
			continue;
		if (reader->state == RISCV_PMU_READER_FRESH)
			reader_refresh(clock, reader);
		goal.run = true;
		if (!riscv_pmu_reader_is_armed(reader))
			continue;
		goal.has_deadline = true;
		left = reader->deadline - clock->now;
		goal.left = left < 1 ? 1 : min_t(u64, goal.left, left);
	}

	return goal;
}

static bool clock_has_deadline(const struct riscv_pmu_clock *clock)
{
	const struct riscv_pmu_reader *reader;

	list_for_each_entry(reader, &clock->readers, node) {
		if (riscv_pmu_reader_is_armed(reader) && reader->state != RISCV_PMU_READER_OFF)
			return true;
	}

	return false;
}

/*
 * How far before its overflow a counter has to start for @left more events.
 * Never more than half of its range, so that after an overflow the distance
 * is still told right however late the interrupt is taken. Nor more than 2^62: of
 * a way that is longer than what is left of 2^63 ns since its boot, QEMU (10.0.2) adds
 * the rest to whatever deadline is the counter's next.
 */
static u64 clock_start_value(const struct riscv_pmu_clock *clock, u64 left)
{
	return -min3(left, clock->mask >> 1, (u64)S64_MAX / 2) & clock->mask;
}

/* How far a reader's deadline is; at least 1, U64_MAX if it has none. */
static __always_inline u64 reader_deadline(const struct riscv_pmu_clock *clock,
					   const struct riscv_pmu_reader *reader)
{
	s64 left;

	if (!riscv_pmu_reader_is_armed(reader) || reader->state == RISCV_PMU_READER_OFF)
		return U64_MAX;

	left = reader->state == RISCV_PMU_READER_FRESH ? reader->left :
							 reader->deadline - clock->now;
	return max(left, 1);
}

/* The same for the first of a clock. */
static __always_inline u64 clock_first_deadline(const struct riscv_pmu_clock *clock)
{
	const struct riscv_pmu_reader *reader;
	u64 first = U64_MAX;

	list_for_each_entry(reader, &clock->readers, node)
		first = min(first, reader_deadline(clock, reader));

	return first;
}

/*
 * Whether a counter that was just read will overflow within @left events. Farther
 * away than half of its range is one that has overflowed, or is not meant to.
 */
static __always_inline bool clock_is_in_time(const struct riscv_pmu_clock *clock, u64 left)
{
	u64 until = -clock->raw & clock->mask;

	return until && until <= min(left, clock->mask >> 1);
}

/*
 * Whether a counter will do for a deadline as it runs. The interrupt of one that
 * is early finds nothing due, and sets it right; it costs more than the call that
 * is spared here, so there should be few: half of the way is left each time, at
 * the most.
 */
static __always_inline bool clock_suits(const struct riscv_pmu_clock *clock, u64 left)
{
	u64 until = -clock->raw & clock->mask;

	return clock_is_in_time(clock, left) && until >= min(left, clock->mask >> 1) / 2;
}

/**
 * riscv_pmu_hart_find_awaited() - counters with a deadline among those that have overflowed
 * @hart:	this hart
 * @overflowed:	armed counters; those that nobody waits for any more are so no longer
 *
 * Return: the others.
 */
u64 riscv_pmu_hart_find_awaited(struct riscv_pmu_hart *hart, u64 overflowed)
{
	u64 awaited = 0;

	for (u64 ctrs = overflowed; ctrs; ctrs &= ctrs - 1) {
		if (clock_has_deadline(&hart->clock[__ffs64(ctrs)]))
			awaited |= ctrs & -ctrs;
	}

	hart->armed ^= overflowed ^ awaited;
	return awaited;
}

/**
 * riscv_pmu_hart_advance() - bring clocks up to date, all as of nearly the same instant
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	clocks that run
 */
void riscv_pmu_hart_advance(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned long ctr = __ffs64(ctrs);

		riscv_pmu_clock_advance(pmu, &hart->clock[ctr], ctr);
	}
}

/**
 * riscv_pmu_hart_find_missed() - counters whose overflow was not told, or is told by no flag
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Return: armed counters that will not overflow before their deadline any more.
 */
u64 riscv_pmu_hart_find_missed(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 missed = 0;

	for (u64 ctrs = hart->armed & hart->running; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		struct riscv_pmu_clock *clock = &hart->clock[ctr];
		u64 left;

		riscv_pmu_clock_advance(pmu, clock, ctr);
		left = clock_first_deadline(clock);
		if (left != U64_MAX && !clock_is_in_time(clock, left))
			missed |= ctrs & -ctrs;
	}

	return missed;
}

/**
 * riscv_pmu_hart_freeze() - note the time of all clocks in use, for all readers
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Until &riscv_pmu_hart.frozen is cleared, whoever is read, stopped or
 * started is so at this instant: the members of a group have run equally long.
 * The clocks run on.
 */
void riscv_pmu_hart_freeze(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	riscv_pmu_hart_advance(pmu, hart, hart->layout.sched.used & hart->running);
	hart->frozen = true;
}

/* Hands the batch to the backend. */
static __always_inline void program_apply_batch(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	pmu->ops.apply(pmu, &hart->batch);
	hart->stats.batches++;
	trace_apply(&hart->batch);
}

static void program_clear_batch(struct riscv_pmu_batch *batch)
{
	batch->stop = 0;
	batch->release = 0;
	batch->program = 0;
	batch->start = 0;
	batch->load = 0;
	batch->failed = 0;
}

/* Counters have just been stopped: their clocks stand where they are read now. */
static void program_note_stopped(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 stopped)
{
	riscv_pmu_hart_advance(pmu, hart, stopped & hart->running);
	hart->running &= ~stopped;
}

/**
 * riscv_pmu_hart_stop_ctrs() - stop counters, to be started again by an apply
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that run
 */
void riscv_pmu_hart_stop_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	if (!ctrs)
		return;

	program_clear_batch(batch);
	batch->stop = ctrs;
	program_apply_batch(pmu, hart);
	hart->dirty |= ctrs;
	/* One that only pretends to be narrow may be beyond its end, far from any overflow. */
	hart->loaded &= ~(ctrs & pmu->clamped_ctrs);
	/* Most overflows are of one counter. */
	if (ctrs & (ctrs - 1))
		return program_note_stopped(pmu, hart, ctrs);

	riscv_pmu_clock_now(pmu, hart, __ffs64(ctrs));
	hart->running &= ~ctrs;
}

/**
 * riscv_pmu_hart_unused() - running counters that no event uses
 * @pmu:	the PMU
 * @hart:	any hart
 *
 * A firmware counter costs nothing while it runs, so it is not included.
 *
 * Context: any; of another hart, the answer may be out of date.
 * Return: the counters, for riscv_pmu_hart_stop_unused().
 */
u64 riscv_pmu_hart_unused(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart)
{
	return READ_ONCE(hart->running) & ~READ_ONCE(hart->layout.sched.used) &
	       ~(pmu->fw_ctrs | pmu->free_running_ctrs);
}

/**
 * riscv_pmu_hart_stop_unused() - stop the running counters that no event uses
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Counters keep running when their last event is removed, in case another event comes soon.
 * A counter that stays unused wastes power, and may raise interrupts that can not be masked.
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_stop_unused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 ctrs = riscv_pmu_hart_unused(pmu, hart);

	riscv_pmu_hart_stop_ctrs(pmu, hart, ctrs);
	hart->dirty &= ~ctrs;
	hart->armed &= ~ctrs;
	/* Fixed counters that can not be stopped keep running: read them before the next use. */
	hart->loaded &= ~(ctrs & pmu->fixed_ctrs);
}

/**
 * riscv_pmu_hart_park() - let clocks stand from now on, for the next apply to stop or start
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that run
 *
 * Where a batch is one firmware call the hardware runs on until the apply, which
 * spares a call of its own. What it counts until then is nobody's: each counter
 * that goes on is given a value anew.
 */
void riscv_pmu_hart_park(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	if (!pmu->one_call)
		return riscv_pmu_hart_stop_ctrs(pmu, hart, ctrs);
	if (!ctrs)
		return;

	/* Most overflows are of one counter. */
	riscv_pmu_clock_advance(pmu, &hart->clock[__ffs64(ctrs)], __ffs64(ctrs));
	if (ctrs & (ctrs - 1))
		riscv_pmu_hart_advance(pmu, hart, ctrs & (ctrs - 1));
	hart->running &= ~ctrs;
	hart->loaded &= ~ctrs;
	hart->parked |= ctrs;
	hart->dirty |= ctrs;
}

/**
 * riscv_pmu_hart_unpark() - let parked clocks run on that nobody reads
 * @pmu:	the PMU
 * @hart:	this hart, the hardware of these counters running
 *
 * Spares the call that would stop them. Their overflow flags stay, so that they do not
 * interrupt; whoever awaits an overflow of theirs next has them started anew. Narrow
 * ones, whose overflows count for everybody, stay armed: the next apply that finds them
 * dirty stops them.
 */
void riscv_pmu_hart_unpark(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	for (u64 ctrs = hart->parked; ctrs; ctrs &= ctrs - 1) {
		const struct riscv_pmu_reader *reader;
		u64 bit = ctrs & -ctrs;
		bool wanted = false;

		list_for_each_entry(reader, &hart->clock[__ffs64(ctrs)].readers, node)
			wanted |= reader->state != RISCV_PMU_READER_OFF;
		if (wanted)
			continue;
		hart->parked &= ~bit;
		hart->dirty &= ~bit;
		hart->armed &= ~(bit & ~pmu->narrow_ctrs);
		hart->running |= bit;
		hart->loaded |= bit;
	}
}

/* What has to stop or be released before @ctr can become what it should be. */
static void program_plan_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      unsigned int ctr)
{
	struct riscv_pmu_batch *batch = &hart->batch;
	u64 bit = BIT_ULL(ctr);

	if (hart->wrong & bit)
		batch->release |= hart->held & bit;
	else if ((hart->armed | hart->fresh) & bit || clock_has_deadline(&hart->clock[ctr]))
		batch->stop |= bit;
}

/*
 * Programs that are about to be forgotten: nobody reads their clocks. A counter
 * without a program is not read at all: a KVM guest traps there.
 */
static void program_note_released(struct riscv_pmu_hart *hart, u64 released)
{
	if (!released)
		return;

	hart->running &= ~released;
	hart->armed &= ~released;
	hart->parked &= ~released;
	hart->held &= ~released;
	hart->stats.evicted += hweight64(released);
	for (; released; released &= released - 1)
		clock_renew(hart, __ffs64(released));
}

/* Stops and releases what the batch says, and notes it. */
static void program_apply_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	program_apply_batch(pmu, hart);
	program_note_stopped(pmu, hart, batch->stop);
	program_note_released(hart, batch->release);
	program_clear_batch(batch);
}

/**
 * riscv_pmu_hart_spare() - release the programs of idle counters
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctrs:	counters that a backend wants to try
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_spare(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	u64 idle = ctrs & hart->held & ~hart->layout.sched.used;

	if (!idle)
		return;

	program_clear_batch(&hart->batch);
	hart->batch.release = idle;
	program_apply_stop(pmu, hart);
}

/*
 * First half of an apply: what has to stop. Where a counter that is still used
 * does, the next half needs to know where it stands, so it is stopped now. All
 * else goes into one batch with what follows.
 */
static void program_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 ctrs)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	program_clear_batch(batch);
	for (ctrs &= hart->running | hart->wrong; ctrs; ctrs &= ctrs - 1)
		program_plan_stop(pmu, hart, __ffs64(ctrs));

	batch->stop &= hart->running & ~batch->release;
	if (batch->stop & hart->layout.sched.used)
		program_apply_stop(pmu, hart);
	else
		program_note_released(hart, batch->release);
}

/* Asks for the clock's program, if it does not hold it. */
static void program_plan_program(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				 unsigned int ctr)
{
	struct riscv_pmu_batch *batch = &hart->batch;

	if (!(hart->wrong & BIT_ULL(ctr)))
		return;

	batch->program |= BIT_ULL(ctr);
	batch->cfg[ctr].prog = hart->layout.prog[ctr];
	hart->loaded &= ~BIT_ULL(ctr);
	clock_renew(hart, ctr);
}

/* Asks for a counter to start from @value. */
static void program_plan_load(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      unsigned int ctr, u64 value)
{
	hart->batch.load |= BIT_ULL(ctr);
	hart->loaded |= BIT_ULL(ctr);
	hart->batch.cfg[ctr].value = value;
	/* One that only pretends to be narrow has to overflow where it pretends to end. */
	if (pmu->clamped_ctrs & BIT_ULL(ctr))
		hart->batch.cfg[ctr].value |= ~hart->clock[ctr].mask;
	hart->clock[ctr].raw = value;
}

/*
 * Where a counter without a deadline starts, and how far it may be beyond that
 * when it starts again. One that does not interrupt may overflow as it likes.
 * A narrow one that does has to overflow within half of its range, so that the
 * other half is left for the interrupt to come late in. The overflow of a wide
 * one should be far away; but not in the other half of its range: QEMU 10.0.2
 * then computes a time for it that has passed, and with two such counters and
 * -icount it tries again forever.
 */
static bool clock_has_room(const struct riscv_pmu *pmu, unsigned int ctr, u64 raw, u64 *start)
{
	u64 mask = riscv_pmu_ctr_mask(pmu, ctr);
	u64 half = (mask >> 1) + 1;
	u64 room = half;

	if (!(pmu->irq_ctrs & BIT_ULL(ctr))) {
		*start = 0;
	} else if (pmu->ctr[ctr].width < 64) {
		*start = half;
	} else {
		*start = half + half / 2;
		room = half / 4;
	}

	return ((raw - *start) & mask) < room;
}

/* Asks for the clock to run, and to overflow at its first deadline. */
static void program_plan_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			       unsigned int ctr)
{
	struct riscv_pmu_clock *clock = &hart->clock[ctr];
	u64 bit = BIT_ULL(ctr);
	bool loaded = hart->loaded & bit;
	struct program_goal goal;
	u64 start;

	riscv_pmu_clock_now(pmu, hart, ctr);
	goal = clock_refresh(clock);
	hart->armed &= ~bit;
	if (!goal.run || hart->running & bit)
		return;

	hart->batch.start |= bit;
	if (goal.has_deadline) {
		u64 value = clock_start_value(clock, goal.left);

		hart->armed |= bit;
		if (!loaded || (clock->raw & clock->mask) != value)
			program_plan_load(pmu, hart, ctr, value);
	} else if (pmu->fixed_ctrs & ~(pmu->irq_ctrs | hart->fresh) & bit) {
		/*
		 * May run already, and then can not be written; does not
		 * interrupt. Where it holds another program, or none, it has to
		 * be read when it has got its own.
		 */
		if (!loaded && !(hart->batch.program & bit))
			clock->raw = riscv_pmu_ctr_read(pmu, ctr);
		hart->loaded |= bit;
	} else if (!clock_has_room(pmu, ctr, clock->raw, &start) || !loaded) {
		program_plan_load(pmu, hart, ctr, start);
	}
}

/* Excludes a counter that refused the reader's program from its next placement. */
static void reader_exclude_ctr(struct riscv_pmu_reader *reader, unsigned int ctr)
{
	reader->accepted &= ~BIT_ULL(ctr);
	reader->candidates &= ~BIT_ULL(ctr);
	reader->retry = jiffies + READER_RETRY_JIFFIES;
}

/* The hardware refused these programs: stop the readers, and exclude the counters. */
static void program_fail(struct riscv_pmu_hart *hart, u64 ctrs)
{
	hart->held &= ~ctrs;
	hart->running &= ~ctrs;
	hart->armed &= ~ctrs;
	hart->wrong |= ctrs & hart->layout.sched.used;

	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		struct riscv_pmu_reader *reader;

		clock_renew(hart, ctr);
		list_for_each_entry(reader, &hart->clock[ctr].readers, node) {
			if (reader->state == RISCV_PMU_READER_ON)
				reader->carry = hart->clock[ctr].now - reader->prev;
			reader_exclude_ctr(reader, ctr);
			riscv_pmu_reader_stop(hart, reader);
		}
	}
}

/* Counters that have just been given a program and started, from an unknown value. */
static void program_note_begun(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 begun)
{
	for (; begun; begun &= begun - 1) {
		unsigned int ctr = __ffs64(begun);

		hart->clock[ctr].raw = riscv_pmu_ctr_read(pmu, ctr);
	}
}

/* Second half of an apply: hands the batch over and notes what became of it. */
static u64 program_commit(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	struct riscv_pmu_batch *batch = &hart->batch;
	u64 stop = batch->stop;
	u64 failed;

	batch->stop |= hart->parked;
	hart->parked = 0;
	if (!(batch->stop | batch->release | batch->program | batch->start))
		return 0;

	program_apply_batch(pmu, hart);
	program_note_stopped(pmu, hart, stop);
	failed = batch->failed;
	program_note_begun(pmu, hart, batch->program & batch->start & ~(batch->load | failed));
	for (u64 ctrs = batch->program; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);

		hart->clock[ctr].prog = batch->cfg[ctr].prog;
	}
	hart->held |= batch->program;
	hart->wrong &= ~batch->program;
	hart->running |= batch->start;
	hart->stats.programs += hweight64(batch->program);
	if (failed)
		program_fail(hart, failed);

	return failed;
}

/**
 * riscv_pmu_hart_prove() - have hardware take a reader's program, without starting it
 * @pmu:	the PMU
 * @hart:	this hart
 * @reader:	a newly attached reader
 *
 * So that add() fails for an event that the firmware refuses. A counter that has accepted the
 * program on any hart is not tried again: all harts of a PMU have the same counters.
 *
 * Context: the hart is collecting changes, so that no deadline is pending.
 * Return: 0, or -EIO if the counter has refused, and is to be avoided.
 */
int riscv_pmu_hart_prove(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			 struct riscv_pmu_reader *reader)
{
	u64 bit = BIT_ULL(reader->ctr);

	if (!(hart->wrong & bit))
		reader->accepted |= bit;
	if (reader->accepted & bit)
		return 0;

	program_stop(pmu, hart, bit);
	program_plan_program(pmu, hart, reader->ctr);
	if (program_commit(pmu, hart))
		return -EIO;

	reader->gen = hart->clock[reader->ctr].gen;
	reader->accepted |= bit;
	return 0;
}

/* New readers of clocks that just run on, and have just been read: all start at one instant. */
static __always_inline void program_admit(struct riscv_pmu_hart *hart, u64 joined)
{
	for (; joined; joined &= joined - 1) {
		struct riscv_pmu_clock *clock = &hart->clock[__ffs64(joined)];
		struct riscv_pmu_reader *reader;

		list_for_each_entry(reader, &clock->readers, node) {
			if (reader->state != RISCV_PMU_READER_FRESH)
				continue;
			reader->prev = clock->now;
			reader->deadline = clock->now + reader->left;
			reader->state = RISCV_PMU_READER_ON;
		}
	}
}

/* Stops, programs and starts what has to change. */
static u64 program_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart, u64 dirty)
{
	program_stop(pmu, hart, dirty);
	for (; dirty; dirty &= dirty - 1) {
		unsigned int ctr = __ffs64(dirty);

		program_plan_program(pmu, hart, ctr);
		program_plan_start(pmu, hart, ctr);
	}

	return program_commit(pmu, hart);
}

/* Who was new may have gone again. */
static __always_inline bool clock_can_go_on(const struct riscv_pmu_clock *clock)
{
	u64 left = clock_first_deadline(clock);

	return left == U64_MAX || clock_suits(clock, left);
}

/*
 * Whether a counter with a new deadline that runs, and has just been read, can go on
 * as it is. Most can: an event that comes back to its hart often finds its counter as
 * far from its overflow as it had left it, or a little nearer.
 */
static bool program_suits(const struct riscv_pmu_hart *hart, unsigned long ctr)
{
	const struct riscv_pmu_clock *clock = &hart->clock[ctr];

	if (hart->fresh & BIT_ULL(ctr))
		return false;

	return hart->armed & BIT_ULL(ctr) ? clock_can_go_on(clock) : !clock_has_deadline(clock);
}

static u64 program_find_unsuited(struct riscv_pmu_hart *hart, u64 timed)
{
	u64 unsuited = 0;

	for (; timed; timed &= timed - 1) {
		if (!program_suits(hart, __ffs64(timed)))
			unsuited |= timed & -timed;
	}

	return unsuited;
}

/* Counters that can not go on as they are. */
static u64 program_find_dirty(struct riscv_pmu_hart *hart, u64 joined)
{
	u64 dirty = hart->dirty | (hart->joined & ~joined);
	/* Stopped, and nobody wants them: what an event leaves behind that its sample stopped. */
	u64 idle = dirty & ~(hart->layout.sched.used | hart->running);

	hart->armed &= ~idle;
	return dirty & ~idle;
}

/*
 * The usual end of a context switch: all that come find their clocks running.
 * Nothing is done if there is more to do than to read these.
 */
static noinline bool program_go_on(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 joined = hart->joined;

	if (joined & (~hart->running | hart->wrong) || hart->timed & (~hart->armed | hart->fresh))
		return false;

	hart->frozen = false;
	for (u64 ctrs = joined; ctrs; ctrs &= ctrs - 1) {
		unsigned long ctr = __ffs64(ctrs);

		riscv_pmu_clock_advance(pmu, &hart->clock[ctr], ctr);
		if (hart->timed & ctrs & -ctrs && !clock_can_go_on(&hart->clock[ctr]))
			return false;
	}

	hart->joined = 0;
	hart->timed = 0;
	program_admit(hart, joined);
	return true;
}

static noinline u64 program_apply_all(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 joined, timed, dirty, failed = 0;

	hart->frozen = false;
	joined = hart->joined & hart->running & ~(hart->dirty | hart->wrong);
	timed = joined & hart->timed;
	if (timed) {
		riscv_pmu_hart_advance(pmu, hart, timed);
		timed = program_find_unsuited(hart, timed);
		riscv_pmu_hart_park(pmu, hart, timed);
		joined &= ~timed;
	}
	hart->loaded &= ~hart->fresh;
	dirty = program_find_dirty(hart, joined);
	hart->dirty = 0;
	hart->joined = 0;
	hart->timed = 0;
	if (dirty | hart->parked)
		failed = program_apply(pmu, hart, dirty);
	/* Last, since it takes next to no time: as soon as the others run. */
	riscv_pmu_hart_advance(pmu, hart, joined);
	program_admit(hart, joined);
	hart->fresh = 0;
	return failed;
}

/*
 * The usual end of an overflow: nothing has changed but that one counter was
 * stopped for it, which has its program and only needs the next deadline. Those
 * that count in its group have stood meanwhile, on counters that run.
 */
static bool program_can_rearm(const struct riscv_pmu_hart *hart, u64 dirty)
{
	if (dirty & (dirty - 1) || dirty & (hart->running | hart->wrong))
		return false;
	if (hart->timed || hart->joined & (~hart->running | hart->wrong))
		return false;

	return dirty & hart->armed & hart->layout.sched.used;
}

static noinline u64 program_rearm(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				  unsigned int ctr)
{
	struct program_goal goal = clock_refresh(&hart->clock[ctr]);
	u64 bit = BIT_ULL(ctr), joined = hart->joined;

	if (unlikely(!goal.has_deadline))
		return program_apply_all(pmu, hart);

	hart->dirty = 0;
	hart->joined = 0;
	hart->batch.stop = hart->parked;
	hart->batch.release = 0;
	hart->batch.program = 0;
	hart->batch.start = bit;
	hart->batch.load = 0;
	hart->batch.failed = 0;
	hart->parked = 0;
	program_plan_load(pmu, hart, ctr, clock_start_value(&hart->clock[ctr], goal.left));
	program_apply_batch(pmu, hart);
	hart->running |= bit;
	if (unlikely(hart->batch.failed))
		program_fail(hart, bit);
	if (joined) {
		riscv_pmu_hart_advance(pmu, hart, joined);
		program_admit(hart, joined);
	}

	return hart->batch.failed;
}

/*
 * Overflow of a counter that counting events share and that has kept running: it is reloaded
 * in one step, to keep the gap in their counts short.
 */
static bool program_can_reload(const struct riscv_pmu *pmu, const struct riscv_pmu_hart *hart,
			       u64 dirty)
{
	if (dirty & (dirty - 1) || !pmu->ops.reload || hart->parked)
		return false;
	if ((hart->timed | hart->fresh) & ~dirty)
		return false;
	if (hart->joined & (~hart->running | hart->wrong))
		return false;
	/* Only counters that interrupt are shared with sampling events. */
	if (dirty & ~pmu->irq_ctrs)
		return false;

	return dirty & hart->fresh & hart->running & hart->layout.sched.used & ~hart->wrong;
}

/* The value from which it overflows at its first deadline, or late if it has none. */
static u64 program_reload_value(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				unsigned int ctr)
{
	const struct riscv_pmu_clock *clock = &hart->clock[ctr];
	u64 left = clock_first_deadline(clock), value;

	if (left != U64_MAX) {
		hart->armed |= BIT_ULL(ctr);
		return clock_start_value(clock, left);
	}

	hart->armed &= ~BIT_ULL(ctr);
	clock_has_room(pmu, ctr, clock->raw, &value);
	return value;
}

static noinline u64 program_reload(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				   unsigned int ctr)
{
	struct riscv_pmu_clock *clock = &hart->clock[ctr];
	u64 bit = BIT_ULL(ctr), joined = hart->joined & ~bit, raw = clock->raw, was = raw;
	int err;

	hart->frozen = false;
	hart->dirty = 0;
	hart->joined = 0;
	hart->timed = 0;
	hart->fresh = 0;
	program_clear_batch(&hart->batch);
	hart->batch.stop = bit;
	hart->batch.start = bit;
	program_plan_load(pmu, hart, ctr, program_reload_value(pmu, hart, ctr));
	err = pmu->ops.reload(pmu, ctr, hart->batch.cfg[ctr].value, &was);
	clock->now += (was - raw) & clock->mask;
	clock_refresh(clock);
	hart->stats.batches++;
	trace_apply(&hart->batch);
	if (unlikely(err))
		program_fail(hart, bit);
	riscv_pmu_hart_advance(pmu, hart, joined);
	program_admit(hart, joined);
	return err ? bit : 0;
}

/**
 * riscv_pmu_hart_apply() - make the counters do what their readers want
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Clocks that nobody has touched, and counting readers that come to a clock
 * that runs, cost no hardware access beyond a read.
 *
 * Return: counters that the hardware refused; their readers are stopped, and avoid them.
 */
u64 riscv_pmu_hart_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 dirty = hart->dirty;

	if (!dirty && program_go_on(pmu, hart))
		return 0;
	if (unlikely(hart->fresh) && program_can_reload(pmu, hart, dirty))
		return program_reload(pmu, hart, __ffs64(dirty));

	return program_can_rearm(hart, dirty) ? program_rearm(pmu, hart, __ffs64(dirty)) :
						program_apply_all(pmu, hart);
}

/**
 * riscv_pmu_hart_forget() - the counters are about to lose their state
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Shares up to now are kept; the next apply programs everything anew.
 */
void riscv_pmu_hart_forget(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	program_note_stopped(pmu, hart, hart->running);
	for (u64 ctrs = hart->held; ctrs; ctrs &= ctrs - 1)
		clock_renew(hart, __ffs64(ctrs));

	hart->held = 0;
	hart->armed = 0;
	hart->parked = 0;
	hart->wrong = hart->layout.sched.used;
	hart->dirty |= hart->layout.sched.used;
}

/**
 * riscv_pmu_hart_refresh() - bring a hart's counters to a known state, if they are in none
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * Context: interrupts off.
 */
void riscv_pmu_hart_refresh(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	if (likely(!hart->stale))
		return;

	hart->stale = false;
	pmu->ops.hart_start(pmu);
}
