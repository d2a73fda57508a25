/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a context switch does to readers and clocks, inline: the usual cases,
 * in which nothing has to be programmed.
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
static inline u64 riscv_pmu_ctr_read(struct riscv_pmu *pmu, unsigned int ctr)
{
	riscv_pmu_read_fn read = pmu->ctr[ctr].read;

	return read ? read() : pmu->ops.read_ctr(pmu, ctr);
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
	u64 raw;

	if (!(hart->running & BIT_ULL(ctr)))
		return clock->now;

	raw = riscv_pmu_ctr_read(pmu, ctr);
	clock->now += (raw - clock->raw) & riscv_pmu_ctr_mask(pmu, ctr);
	clock->raw = raw;
	return clock->now;
}

/**
 * riscv_pmu_reader_can_return() - whether a reader's last clock still has its program
 * @hart:	this hart
 * @reader:	a reader that is not attached
 *
 * Return: true if it needs no search.
 */
static inline bool riscv_pmu_reader_can_return(const struct riscv_pmu_hart *hart,
					       const struct riscv_pmu_reader *reader)
{
	if (reader->hart != hart || reader->gen != hart->clock[reader->ctr].gen)
		return false;

	/* In use, but about to be given another program? */
	return !(hart->wrong & BIT_ULL(reader->ctr));
}

/**
 * riscv_pmu_reader_attach() - find a clock for a reader
 * @pmu:	the PMU
 * @hart:	this hart
 * @reader:	a reader that is not attached; it is not started yet either
 *
 * Return: 0, or -EAGAIN if there is no assignment of all programs.
 */
static inline int riscv_pmu_reader_attach(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					  struct riscv_pmu_reader *reader)
{
	u64 bit;
	int err;

	if (likely(riscv_pmu_reader_can_return(hart, reader))) {
		hart->stats.kept++;
	} else {
		err = riscv_pmu_reader_place(pmu, hart, reader);
		if (err)
			return err;
	}

	bit = BIT_ULL(reader->ctr);
	if (hart->layout.sched.used & bit) {
		hart->layout.sched.may[reader->ctr] &= reader->want.ctrs;
	} else {
		hart->layout.sched.used |= bit;
		hart->layout.sched.may[reader->ctr] = reader->want.ctrs;
	}
	list_add_tail(&reader->node, &hart->clock[reader->ctr].readers);
	hart->nr_readers++;
	reader->started = false;
	reader->carry = 0;
	return 0;
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

	list_del(&reader->node);
	hart->nr_readers--;
	if (unlikely(!list_empty(&hart->clock[reader->ctr].readers) ||
		     (hart->wrong | hart->twin) & bit))
		riscv_pmu_clock_vacate(hart, reader->ctr);
	else
		hart->layout.sched.used &= ~bit;
}

/**
 * riscv_pmu_reader_take() - give a reader its share
 * @pmu:	the PMU
 * @hart:	this hart
 * @reader:	an attached reader
 *
 * While changes are being collected, all readers are served as of one instant:
 * that of the first.
 *
 * Return: events since the last call, or since it was started.
 */
static inline u64 riscv_pmu_reader_take(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					struct riscv_pmu_reader *reader)
{
	u64 share = reader->carry;
	u64 now;

	reader->carry = 0;
	if (!reader->started || reader->fresh)
		return share;

	if (hart->collecting && !hart->frozen)
		riscv_pmu_hart_freeze(pmu, hart);
	now = hart->frozen ? hart->clock[reader->ctr].now :
			     riscv_pmu_clock_now(pmu, hart, reader->ctr);
	share += now - reader->prev;
	reader->prev = now;
	return share;
}

/**
 * riscv_pmu_reader_start() - let a reader count, from the next apply on
 * @hart:	this hart
 * @reader:	an attached reader
 * @left:	events until its deadline, if it is sampling
 *
 * A clock that runs and has no deadline to keep needs no hardware access.
 */
static inline void riscv_pmu_reader_start(struct riscv_pmu_hart *hart,
					  struct riscv_pmu_reader *reader, u64 left)
{
	u64 bit = BIT_ULL(reader->ctr);

	reader->started = true;
	reader->fresh = true;
	reader->left = left;
	if (!reader->sampling && hart->running & ~hart->wrong & bit)
		hart->joined |= bit;
	else
		hart->dirty |= bit;
}

/**
 * riscv_pmu_reader_stop() - let a reader count no more
 * @hart:	this hart
 * @reader:	an attached reader; the caller has taken its share
 *
 * A clock without deadlines needs no hardware access for that.
 */
static inline void riscv_pmu_reader_stop(struct riscv_pmu_hart *hart,
					 struct riscv_pmu_reader *reader)
{
	reader->started = false;
	reader->fresh = false;
	if (reader->sampling)
		hart->dirty |= BIT_ULL(reader->ctr);
}

#endif /* _RISCV_PMU_CLOCK_H */
