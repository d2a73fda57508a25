// SPDX-License-Identifier: GPL-2.0
/*
 * Bipartite matching of configs to counters, one new event at a time.
 *
 * The configs that have counters form a matching. A new event fits if and only if an augmenting
 * path leads from one of its counters to a free one (Berge). So adding configs one by one finds an
 * assignment of all configs if there is one, in any order. Each counter is visited once.
 */

#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/minmax.h>

#include "sched.h"

/* A free counter of the first preference that has one. */
static int sched_pick_free(u64 free, const u64 *prefer, unsigned int nr_prefer)
{
	for (unsigned int i = 0; i < nr_prefer; i++) {
		if (free & prefer[i])
			return __ffs64(free & prefer[i]);
	}

	return __ffs64(free);
}

/* Unwinds the search from the free counter @ctr back to one of the new event's. */
static void sched_trace_path(const u8 *from, u64 roots, unsigned int ctr,
			     struct riscv_pmu_sched_path *path)
{
	u8 *p = path->ctr;

	path->len = 0;
	p[path->len++] = ctr;
	while (!(roots & BIT_ULL(ctr))) {
		ctr = from[ctr];
		p[path->len++] = ctr;
	}

	for (unsigned int i = 0; i < path->len / 2; i++)
		swap(p[i], p[path->len - 1 - i]);
}

/**
 * riscv_pmu_sched_find() - find a counter for one more config
 * @sched:	the present assignment; not changed
 * @may:	counters that the new event can use
 * @prefer:	masks of counters that suit it best, best first; they only decide
 *		between counters that are free
 * @nr_prefer:	entries of @prefer
 * @path:	out: the counter, and the configs that have to move for it
 *
 * Context: any; no locks, no allocation, at most one step per counter.
 * Return: false if there is no assignment of the new event and all present configs.
 */
bool riscv_pmu_sched_find(const struct riscv_pmu_sched *sched, u64 may,
			  const u64 *prefer, unsigned int nr_prefer,
			  struct riscv_pmu_sched_path *path)
{
	u8 from[RISCV_PMU_SCHED_MAX];
	u64 seen = may, todo = may;
	u64 free = may & ~sched->used;

	while (!free && todo) {
		unsigned int ctr = __ffs64(todo);
		u64 next = sched->may[ctr] & ~seen;

		todo &= ~BIT_ULL(ctr);
		seen |= next;
		todo |= next;
		free = next & ~sched->used;
		for (; next; next &= next - 1)
			from[__ffs64(next)] = ctr;
	}

	if (!free)
		return false;

	sched_trace_path(from, may, sched_pick_free(free, prefer, nr_prefer), path);
	return true;
}

/**
 * riscv_pmu_sched_reach() - counters from which a chain of moves can free one of @may
 * @sched:	the present assignment
 * @may:	counters that the new event can use
 *
 * Context: any; no locks, no allocation, at most one step per counter.
 * Return: @may, and every counter to which a config can move along such a chain.
 */
u64 riscv_pmu_sched_reach(const struct riscv_pmu_sched *sched, u64 may)
{
	u64 reach = may;

	for (u64 todo = may & sched->used; todo;) {
		unsigned int ctr = __ffs64(todo);
		u64 next = sched->may[ctr] & ~reach;

		reach |= next;
		todo &= ~BIT_ULL(ctr);
		todo |= next & sched->used;
	}

	return reach;
}
