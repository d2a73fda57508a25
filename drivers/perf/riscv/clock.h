/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a context switch does to readers and clocks, inline: the usual cases,
 * in which nothing has to be programmed. Counters are unsigned long here, as __ffs64()
 * has them, since each change of type costs instructions.
 */
#ifndef _RISCV_PMU_CLOCK_H
#define _RISCV_PMU_CLOCK_H

#include "internal.h"

/**
 * riscv_pmu_ctr_read() - a counter as it stands
 * @pmu:	the PMU
 * @ctr:	the counter
 *
 * Return: its value; bits above its width are undefined.
 */
static inline u64 riscv_pmu_ctr_read(struct riscv_pmu *pmu, unsigned long ctr)
{
	riscv_pmu_read_fn read = pmu->ctr[ctr].read;

	return read ? read() : pmu->ops.read_ctr(pmu, ctr);
}

/**
 * riscv_pmu_clock_advance() - bring a clock up to the counter that it stands for
 * @pmu:	the PMU
 * @clock:	a clock that runs
 * @ctr:	its counter
 *
 * Return: the time.
 */
static inline u64 riscv_pmu_clock_advance(struct riscv_pmu *pmu, struct riscv_pmu_clock *clock,
					  unsigned long ctr)
{
	u64 raw = riscv_pmu_ctr_read(pmu, ctr);

	clock->now += (raw - clock->raw) & clock->mask;
	clock->raw = raw;
	return clock->now;
}

/**
 * riscv_pmu_clock_now() - the clock's time, brought up to date
 * @pmu:	the PMU
 * @hart:	this hart
 * @ctr:	the counter
 *
 * A counter that does not run was read when it stopped.
 *
 * Return: the time.
 */
static inline u64 riscv_pmu_clock_now(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				      unsigned int ctr)
{
	struct riscv_pmu_clock *clock = &hart->clock[ctr];

	return hart->running & BIT_ULL(ctr) ? riscv_pmu_clock_advance(pmu, clock, ctr) :
					      clock->now;
}

/**
 * riscv_pmu_hart_thaw() - from here on, readers are served as of now again
 * @hart:	this hart
 */
static inline void riscv_pmu_hart_thaw(struct riscv_pmu_hart *hart)
{
	hart->at_once = false;
	hart->frozen = false;
}

/**
 * riscv_pmu_reader_can_return() - whether a reader's last clock still has its program
 * @hart:	this hart
 * @reader:	a reader that is not attached
 *
 * Return: true if it needs no search, and nothing else that a first time does.
 */
static inline bool riscv_pmu_reader_can_return(const struct riscv_pmu_hart *hart,
					       const struct riscv_pmu_reader *reader)
{
	return reader->hart == hart && reader->gen == reader->clock->gen;
}

/**
 * riscv_pmu_reader_join() - attach a reader to its clock
 * @hart:	this hart
 * @reader:	a reader that is not attached, and whose clock is chosen
 */
static inline void riscv_pmu_reader_join(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_reader *reader)
{
	hart->layout.sched.used |= BIT_ULL(reader->ctr);
	list_add_tail(&reader->node, &reader->clock->readers);
	hart->stats.attached++;
}

/**
 * riscv_pmu_reader_detach() - take a reader off its clock, which runs on
 * @hart:	this hart
 * @reader:	an attached reader, stopped
 */
static inline void riscv_pmu_reader_detach(struct riscv_pmu_hart *hart,
					   struct riscv_pmu_reader *reader)
{
	u64 bit = BIT_ULL(reader->ctr);

	/* Nobody looks at it before it joins a list again, so poison has no point. */
	__list_del_entry(&reader->node);
	hart->stats.detached++;
	if (unlikely(!list_empty(&reader->clock->readers)))
		return;

	/* What a clock holds that was to be given another program stays as it is. */
	hart->layout.sched.used &= ~bit;
	hart->wrong &= ~bit;
}

/**
 * riscv_pmu_reader_advance() - give a reader what its clock has counted since
 * @reader:	a reader that is on
 * @now:	the clock's time
 *
 * Return: its share.
 */
static inline u64 riscv_pmu_reader_advance(struct riscv_pmu_reader *reader, u64 now)
{
	u64 share = now - reader->prev;

	reader->prev = now;
	return share;
}

/**
 * riscv_pmu_reader_take() - give a reader its share
 * @pmu:	the PMU
 * @hart:	this hart
 * @reader:	an attached reader
 *
 * While changes are being collected, or a group is read, all readers are served
 * as of one instant: that of the first.
 *
 * Return: events since the last call, or since it was started.
 */
static inline u64 riscv_pmu_reader_take(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					struct riscv_pmu_reader *reader)
{
	if (reader->state != RISCV_PMU_READER_ON)
		return riscv_pmu_reader_take_carry(reader);

	if (hart->frozen)
		return riscv_pmu_reader_advance(reader, reader->clock->now);

	if (hart->at_once) {
		if (hart->layout.sched.used != BIT_ULL(reader->ctr)) {
			riscv_pmu_hart_freeze(pmu, hart);
			return riscv_pmu_reader_advance(reader, reader->clock->now);
		}
		/* The only clock there is: as good, and cheaper. */
		hart->frozen = true;
	}

	return riscv_pmu_reader_advance(reader, riscv_pmu_clock_now(pmu, hart, reader->ctr));
}

/**
 * riscv_pmu_reader_is_armed() - whether a counter has to interrupt for a reader
 * @reader:	a reader
 *
 * Return: true if its deadline is the hardware's to watch.
 */
static inline bool riscv_pmu_reader_is_armed(const struct riscv_pmu_reader *reader)
{
	return reader->sampling && !reader->polled;
}

/**
 * riscv_pmu_reader_start() - let a reader count, from the next apply on
 * @hart:	this hart
 * @reader:	an attached reader
 * @left:	events until its deadline, if it is sampling
 */
static inline void riscv_pmu_reader_start(struct riscv_pmu_hart *hart,
					  struct riscv_pmu_reader *reader, u64 left)
{
	u64 bit = BIT_ULL(reader->ctr);

	reader->state = RISCV_PMU_READER_FRESH;
	hart->joined |= bit;
	if (!reader->sampling)
		return;

	reader->left = left;
	if (reader->polled) {
		reader->look_ns = 0;
		hart->polled |= bit;
		return;
	}
	hart->deadlines++;
	hart->timed |= bit;
}

/**
 * riscv_pmu_reader_stop() - let a reader count no more
 * @hart:	this hart
 * @reader:	an attached reader; the caller has taken its share
 *
 * No hardware access is needed for that: the counter runs on, even to an overflow
 * that nobody waits for.
 */
static inline void riscv_pmu_reader_stop(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_reader *reader)
{
	if (riscv_pmu_reader_is_armed(reader) && reader->state != RISCV_PMU_READER_OFF)
		hart->deadlines--;
	reader->state = RISCV_PMU_READER_OFF;
}

/**
 * riscv_pmu_reader_is_due() - whether a reader's deadline has come
 * @reader:	an attached reader
 * @now:	its clock's time
 *
 * Return: true if it counts, has a deadline, and that has passed.
 */
static inline bool riscv_pmu_reader_is_due(const struct riscv_pmu_reader *reader, u64 now)
{
	return reader->sampling && reader->state == RISCV_PMU_READER_ON &&
	       (s64)(now - reader->deadline) >= 0;
}

/**
 * riscv_pmu_reader_rearm() - set the next deadline of a reader that counts
 * @hart:	this hart
 * @reader:	a started reader, whose share was just taken
 * @left:	events until the deadline
 */
static inline void riscv_pmu_reader_rearm(struct riscv_pmu_hart *hart,
					  struct riscv_pmu_reader *reader, u64 left)
{
	reader->deadline = reader->prev + left;
	if (riscv_pmu_reader_is_armed(reader))
		hart->dirty |= BIT_ULL(reader->ctr);
}

#endif /* _RISCV_PMU_CLOCK_H */
