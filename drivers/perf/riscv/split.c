// SPDX-License-Identifier: GPL-2.0
/*
 * Split events: two counters sample one perf event, one in each mode (event.c). Each part has a
 * counter and a period of its own, and their counts add up to the event's.
 */

#include <linux/perf_event.h>
#include <linux/slab.h>

#include "apply.h"
#include "counter.h"
#include "split.h"
#include "update.h"

/* Creates the second part of an event, with a config and a constraint of its own. May sleep. */
int riscv_pmu_split_create(struct riscv_pmu_event *ev, const struct riscv_pmu_request *req)
{
	struct riscv_pmu_event *part = riscv_pmu_event_new(ev->event, req);

	if (!part)
		return -ENOMEM;

	/* own_left stays 0 until the first start: perf gives a child event its period later. */
	part->left = &part->own_left;
	part->split.other = ev;
	ev->split.other = part;
	ev->flags |= RISCV_PMU_EV_SPLIT;
	return 0;
}

/* @renew: begin a new period. perf asks for it by the period_left of the first part only. */
void riscv_pmu_split_start(struct riscv_pmu_hart *hart, struct riscv_pmu_event *part, bool renew)
{
	u64 period = riscv_pmu_event_period(part->event);
	s64 left = local64_read(part->left);

	/* perf does the same with the first part if the frequency needs a much shorter period. */
	if (renew || left / 8 > (s64)period ||
	    (!left && !riscv_pmu_event_is_at_overflow_point(part)))
		local64_set(part->left, period);
	riscv_pmu_event_start(hart, part, riscv_pmu_event_period_left(part));
}

/* What both parts of a split event have counted since their last samples. */
static u64 split_count(const struct riscv_pmu_event *ev)
{
	return ev->period_count + ev->split.other->period_count;
}

/*
 * riscv_pmu_event_set_period() for a part of a split event, its count up to date. perf computes the
 * period of an event with a frequency from the time since the last sample and from last_period. The
 * last sample of a split event is of either part, so last_period has to be what both parts have
 * counted since then: &riscv_pmu_event.split.period.
 */
bool riscv_pmu_split_set_period(struct riscv_pmu_event *ev)
{
	struct riscv_pmu_event *first = to_riscv_pmu_event(ev->event);
	u64 count = split_count(ev) - first->split.base;

	if (!riscv_pmu_event_set_period(ev))
		return false;

	first->split.base = split_count(ev);
	first->split.period = count;
	return true;
}

/* What both parts of a split event counted between its last two samples */
u64 riscv_pmu_split_period(const struct riscv_pmu_event *ev)
{
	return to_riscv_pmu_event(ev->event)->split.period;
}
