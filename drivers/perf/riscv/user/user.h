/* SPDX-License-Identifier: GPL-2.0 */
/* Events whose pages are mapped, and counters that user space reads without a system call. */
#ifndef _RISCV_PMU_USER_H
#define _RISCV_PMU_USER_H

#include <linux/perf_event.h>

#include <asm/pmu_csr.h>

#include "../csr.h"
#include "../pmu.h"

#ifdef CONFIG_RISCV_PMU_USER_ACCESS

/* page.c */
void riscv_pmu_user_hart_start(struct riscv_pmu_hart *hart);
int riscv_pmu_user_idx(struct perf_event *event);

/* access.c */
void riscv_pmu_user_open(struct perf_event *event);
void riscv_pmu_user_mapped(struct perf_event *event, struct mm_struct *mm);
void riscv_pmu_user_unmapped(struct perf_event *event, struct mm_struct *mm);
void riscv_pmu_user_forget(struct perf_event *event);
int riscv_pmu_user_init(void);

/* Whether some process has mapped an event, so that its page has to be kept up to date */
static inline bool riscv_pmu_event_is_mapped(const struct riscv_pmu_event *ev)
{
	return ev->flags & RISCV_PMU_EV_MAPPED;
}

/* Whether its own process has mapped an event, or its page still has an index */
static inline bool riscv_pmu_event_is_shown(const struct riscv_pmu_event *ev)
{
	return ev->user || ev->page.idx;
}

/* Whether user space may read a counter: its value must not depend on other tasks. */
static inline bool riscv_pmu_counter_is_shown(const struct riscv_pmu_counter *counter)
{
	const struct riscv_pmu_event *ev;

	list_for_each_entry(ev, &counter->events, node) {
		if (riscv_pmu_event_is_shown(ev))
			return true;
	}

	return false;
}

/* Whether user space may read counters of this hart: then call riscv_pmu_user_show(). */
static inline bool riscv_pmu_user_is_shown(const struct riscv_pmu_hart *hart)
{
	return hart->user.shown;
}

/* An event moves to a counter that has counted for others: it is written before it is shown. */
static inline void riscv_pmu_user_note_move(struct riscv_pmu_hart *hart,
					    struct riscv_pmu_event *ev)
{
	if (likely(!ev->user) || ev->state == RISCV_PMU_EVENT_STOPPED)
		return;

	ev->page.own_value = false;
	hart->user.shown = true;
}

/*
 * Whether an event, not of a cgroup, is not multiplexed: it has run as long as it was enabled. Then
 * most of perf_event_update_userpage() is not needed, which takes 330 instructions, as many as all
 * else of a switch out and in: the times do not change while the event is switched out; they are
 * equal, so programs neither scale nor need time_offset; and perf has just read the clock.
 */
static inline bool riscv_pmu_user_has_same_times(const struct perf_event *event)
{
	return event->total_time_enabled == event->total_time_running;
}

/* Whether an event's times are those of a cgroup, not those of its context. */
static inline bool riscv_pmu_user_is_of_cgroup(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	return event->cgrp;
#else
	return false;
#endif
}

static inline void riscv_pmu_user_init_callbacks(struct pmu *pmu)
{
	pmu->event_idx = riscv_pmu_user_idx;
	pmu->event_mapped = riscv_pmu_user_mapped;
	pmu->event_unmapped = riscv_pmu_user_unmapped;
}

#else

/* User space may read the time CSR only, which the vDSO needs. */
static inline void riscv_pmu_user_hart_start(struct riscv_pmu_hart *hart)
{
	riscv_pmu_csr_set_user_mask(PMU_SCOUNTEREN_TM);
}

static inline int riscv_pmu_user_init(void) { return 0; }
static inline bool riscv_pmu_event_is_mapped(const struct riscv_pmu_event *ev) { return false; }
static inline bool riscv_pmu_event_is_shown(const struct riscv_pmu_event *ev) { return false; }
static inline bool riscv_pmu_counter_is_shown(const struct riscv_pmu_counter *ctr) { return false; }
static inline bool riscv_pmu_user_is_shown(const struct riscv_pmu_hart *hart) { return false; }
static inline bool riscv_pmu_user_has_same_times(const struct perf_event *event) { return true; }
static inline void riscv_pmu_user_open(struct perf_event *event) { }
static inline void riscv_pmu_user_forget(struct perf_event *event) { }
static inline void riscv_pmu_user_init_callbacks(struct pmu *pmu) { }
static inline void riscv_pmu_user_note_move(struct riscv_pmu_hart *hart,
					    struct riscv_pmu_event *ev) { }

#endif /* CONFIG_RISCV_PMU_USER_ACCESS */

/* Called only for events that are mapped or shown, and for harts that show some. */
void riscv_pmu_user_start(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev, bool added);
void riscv_pmu_user_stop(struct perf_event *event, bool removed);
void riscv_pmu_user_switch_out(struct perf_event *event);
void riscv_pmu_user_sample(struct perf_event *event, struct riscv_pmu_event *ev);
bool riscv_pmu_user_show(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);

#endif /* _RISCV_PMU_USER_H */
