// SPDX-License-Identifier: GPL-2.0
/*
 * Bipartite matching of configs to counters, one new event at a time.
 *
 * The configs that have counters form a matching. A new event fits if and only if an augmenting
 * path leads from one of its counters to a free one (Berge). So adding configs one by one finds an
 * assignment of all if there is one, in any order. Each counter is visited once, without locks.
 */

#include <linux/bitops.h>
#include <linux/string.h>

#include "sched.h"

/* Unwinds the search from the free counter @ctr back to one of the new event's. */
static void sched_trace_path(const u8 *from, u64 roots, unsigned int ctr,
			     struct riscv_pmu_sched_path *path)
{
	u8 *end = path->ctr + RISCV_PMU_SCHED_MAX, *p = end;

	*--p = ctr;
	while (!(roots & BIT_ULL(ctr))) {
		ctr = from[ctr];
		*--p = ctr;
	}
	path->len = end - p;
	memmove(path->ctr, p, path->len);
}

/**
 * riscv_pmu_sched_find() - find a counter for one more config
 * @sched:	the present assignment
 * @may:	counters that the new event can use
 * @prefer:	masks of free counters that suit it best, best first
 * @nr_prefer:	entries of @prefer
 * @path:	out: the counter, and the configs that have to move for it
 * Return: false if there is no assignment of the new event and all present configs.
 */
bool riscv_pmu_sched_find(const struct riscv_pmu_sched *sched, u64 may, const u64 *prefer,
			  unsigned int nr_prefer, struct riscv_pmu_sched_path *path)
{
	u64 seen = may, todo = may, free = may & ~sched->used;
	u8 from[RISCV_PMU_SCHED_MAX];

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

	/* A free counter of the first preference that has one, or any */
	while (nr_prefer && !(free & *prefer)) {
		nr_prefer--;
		prefer++;
	}
	sched_trace_path(from, may, __ffs64(nr_prefer ? free & *prefer : free), path);
	return true;
}

/**
 * riscv_pmu_sched_reach() - counters from which a chain of moves can free one of @may
 * @sched:	the present assignment
 * @may:	counters that the new event can use
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
