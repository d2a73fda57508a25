/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Measure regions of a program, in about a hundred instructions for each run and event.
 *
 *	struct riscv_pmu_reader readers[2];	opened by this thread, see riscv_pmu_read.h
 *	struct riscv_pmu_region parse = RISCV_PMU_REGION(readers, 2);
 *	struct riscv_pmu_count count;
 *
 *	for (...) {
 *		riscv_pmu_region_begin(&parse);
 *		parse_line();
 *		riscv_pmu_region_end(&parse);
 *	}
 *	riscv_pmu_region_count(&parse, 0, &count);
 *	printf("%lu runs: %llu\n", parse.runs, (unsigned long long)riscv_pmu_scale(&count));
 *
 * A region belongs to the thread that has opened its events, and must not be used after this
 * thread has ended, see riscv_pmu_read.h; other threads need regions of their own. Regions may be
 * nested and may overlap, but a region cannot contain itself.
 */
#ifndef _PERF_RISCV_PMU_REGION_H
#define _PERF_RISCV_PMU_REGION_H

#include "riscv_pmu_read.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RISCV_PMU_REGION_EVENTS	8

/* The beginning of an event's run, and the sum of its runs, see struct riscv_pmu_region. */
struct riscv_pmu_region_event {
	struct riscv_pmu_snapshot begin;
	struct riscv_pmu_count sum;
	uint64_t time;
};

/**
 * struct riscv_pmu_region - what a region's events have counted in all of its runs
 * @readers:	the events
 * @nr:		how many they are, up to RISCV_PMU_REGION_EVENTS
 * @begun:	a run has begun
 * @runs:	completed runs
 * @event:	the counts; ->sum has the times of runs during which the kernel has changed the
 *		event's page, and ->time the time of the others, in units of the time CSR
 */
struct riscv_pmu_region {
	const struct riscv_pmu_reader *readers;
	unsigned int nr;
	bool begun;
	unsigned long runs;
	struct riscv_pmu_region_event event[RISCV_PMU_REGION_EVENTS];
};

#ifdef __cplusplus
#define RISCV_PMU_REGION(_readers, _nr)	{ (_readers), (_nr), false, 0, {} }
#else
#define RISCV_PMU_REGION(_readers, _nr)	{ .readers = (_readers), .nr = (_nr) }
#endif

/* An odd value, which no valid sequence count has. */
#define RISCV_PMU_NO_SEQ	UINT32_MAX

/* Takes a snapshot of the count, by a system call if necessary. */
RISCV_PMU_SLOW_PATH int riscv_pmu_region_snapshot(const struct riscv_pmu_reader *reader,
						  struct riscv_pmu_snapshot *snapshot)
{
	struct riscv_pmu_count count;

	if (riscv_pmu_reader_snapshot(reader, snapshot))
		return 0;
	if (riscv_pmu_reader_call(reader, &count))
		return -1;

	snapshot->value = count.value;
	snapshot->time = 0;
	snapshot->enabled = count.enabled;
	snapshot->running = count.running;
	snapshot->seq = RISCV_PMU_NO_SEQ;
	return 0;
}

RISCV_PMU_SLOW_PATH int riscv_pmu_region_refuse(int err)
{
	errno = err;
	return -1;
}

/* Begins a run of the events from the i-th on. */
RISCV_PMU_SLOW_PATH int riscv_pmu_region_begin_from(struct riscv_pmu_region *region, unsigned int i)
{
	for (; i < region->nr; i++) {
		if (riscv_pmu_region_snapshot(&region->readers[i], &region->event[i].begin))
			return -1;
	}

	region->begun = true;
	return 0;
}

/**
 * riscv_pmu_region_begin() - begin a run of a region
 * @region:	the region
 *
 * Return: 0, or -1 with errno, as riscv_pmu_reader_read(); EINVAL if there are no events or more
 * than RISCV_PMU_REGION_EVENTS. The run is not measured then.
 */
static inline int riscv_pmu_region_begin(struct riscv_pmu_region *region)
{
	unsigned int nr = region->nr;

	region->begun = false;
	if (nr - 1 >= RISCV_PMU_REGION_EVENTS)
		return riscv_pmu_region_refuse(EINVAL);

	for (unsigned int i = 0; i < nr; i++) {
		if (!riscv_pmu_reader_snapshot(&region->readers[i], &region->event[i].begin))
			return riscv_pmu_region_begin_from(region, i);
	}

	region->begun = true;
	return 0;
}

/* Nanoseconds of a snapshot's time, which is 0 without a page. */
static inline uint64_t riscv_pmu_snapshot_ns(const struct riscv_pmu_reader *reader,
					     const struct riscv_pmu_snapshot *snapshot)
{
	return reader->page ? riscv_pmu_time_to_ns(reader->page, snapshot->time) : 0;
}

/* The kernel has changed the event's page during the run: the event may have been multiplexed. */
RISCV_PMU_SLOW_PATH int
riscv_pmu_region_add_changed(struct riscv_pmu_region *region, unsigned int i)
{
	const struct riscv_pmu_reader *reader = &region->readers[i];
	const struct riscv_pmu_snapshot *begin = &region->event[i].begin;
	struct riscv_pmu_snapshot end;
	uint64_t ns;

	if (riscv_pmu_region_snapshot(reader, &end))
		return -1;

	ns = riscv_pmu_snapshot_ns(reader, &end) - riscv_pmu_snapshot_ns(reader, begin);
	region->event[i].sum.value += end.value - begin->value;
	region->event[i].sum.enabled += end.enabled - begin->enabled + ns;
	region->event[i].sum.running += end.running - begin->running + ns;
	return 0;
}

/* Adds a run during which the page has not changed: the event had its counter all the time. */
RISCV_PMU_FAST_PATH bool riscv_pmu_region_add(struct riscv_pmu_region *region, unsigned int i)
{
	const volatile struct perf_event_mmap_page *page = region->readers[i].page;
	const struct riscv_pmu_snapshot *begin = &region->event[i].begin;
	uint64_t value, time;

	if (!page || page->lock != begin->seq)
		return false;

	riscv_pmu_barrier();
	value = riscv_pmu_page_value(page, page->index);
	time = riscv_pmu_read_time();
	riscv_pmu_barrier();
	if (page->lock != begin->seq)
		return false;

	region->event[i].sum.value += value - begin->value;
	region->event[i].time += time - begin->time;
	return true;
}

/* Ends a run of the events from the i-th on. */
RISCV_PMU_SLOW_PATH int riscv_pmu_region_end_from(struct riscv_pmu_region *region, unsigned int i)
{
	int err = 0;

	for (; i < region->nr; i++) {
		if (!riscv_pmu_region_add(region, i) && riscv_pmu_region_add_changed(region, i))
			err = -1;
	}

	return err;
}

/**
 * riscv_pmu_region_end() - end a run of a region, and add its counts
 * @region:	the region
 *
 * Return: 0, or -1 with errno: EPERM if another thread calls it, or EINVAL if the run has not
 * begun; or that of riscv_pmu_reader_read() for an event whose count then lacks this run.
 */
static inline int riscv_pmu_region_end(struct riscv_pmu_region *region)
{
	unsigned int nr = region->nr;

	if (!region->begun)
		return riscv_pmu_region_refuse(EINVAL);
	/* All events have the same owner, because the run has begun. */
	if (*region->readers->owner != riscv_pmu_thread())
		return riscv_pmu_region_refuse(EPERM);

	region->begun = false;
	region->runs++;
	for (unsigned int i = 0; i < nr; i++) {
		if (!riscv_pmu_region_add(region, i))
			return riscv_pmu_region_end_from(region, i);
	}

	return 0;
}

/**
 * riscv_pmu_region_count() - count and times of an event in all runs of a region
 * @region:	the region
 * @event:	its index in the region's readers
 * @count:	out: for riscv_pmu_scale(). The value includes about half of what the measurement
 *		takes: measure an empty region to subtract that
 *
 * Return: 0, or -1 with errno EINVAL if there is no such event.
 */
static inline int riscv_pmu_region_count(const struct riscv_pmu_region *region,
					 unsigned int event, struct riscv_pmu_count *count)
{
	const volatile struct perf_event_mmap_page *page;
	uint64_t ns;

	if (event >= region->nr || event >= RISCV_PMU_REGION_EVENTS) {
		errno = EINVAL;
		return -1;
	}

	page = region->readers[event].page;
	ns = page ? riscv_pmu_time_to_ns(page, region->event[event].time) : 0;
	count->value = region->event[event].sum.value;
	count->enabled = region->event[event].sum.enabled + ns;
	count->running = region->event[event].sum.running + ns;
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif /* _PERF_RISCV_PMU_REGION_H */
