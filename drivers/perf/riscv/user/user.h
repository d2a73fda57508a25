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
void riscv_pmu_user_start(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev, bool added);
void riscv_pmu_user_stop(struct perf_event *event, bool removed);
void riscv_pmu_user_switch_out(struct perf_event *event);
void riscv_pmu_user_sample(struct perf_event *event, struct riscv_pmu_event *ev);
bool riscv_pmu_user_show(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_user_hide(struct perf_event *event);
int riscv_pmu_user_idx(struct perf_event *event);

/* access.c */
void riscv_pmu_user_open(struct perf_event *event);
void riscv_pmu_user_mapped(struct perf_event *event, struct mm_struct *mm);
void riscv_pmu_user_unmapped(struct perf_event *event, struct mm_struct *mm);
void riscv_pmu_user_forget(struct perf_event *event);
int riscv_pmu_user_init(void);

/**
 * riscv_pmu_event_is_mapped() - whether an event's page has to be kept up to date
 * @ev:	the event
 *
 * Return: true if some process has mapped it.
 */
static inline bool riscv_pmu_event_is_mapped(const struct riscv_pmu_event *ev)
{
	return ev->flags & RISCV_PMU_EV_MAPPED;
}

/**
 * riscv_pmu_event_is_shown() - whether user space may read an event's counter
 * @ev:	the event
 *
 * Return: true if its own process has mapped it, or its page still has an index.
 */
static inline bool riscv_pmu_event_is_shown(const struct riscv_pmu_event *ev)
{
	return ev->user || ev->user_idx;
}

/**
 * riscv_pmu_user_is_shown() - whether user space may read counters of this hart's events
 * @hart:	this hart
 *
 * Return: true if it may now, or may after the next apply: riscv_pmu_user_show() has to be called.
 */
static inline bool riscv_pmu_user_is_shown(const struct riscv_pmu_hart *hart)
{
	return hart->user.shown;
}

/**
 * riscv_pmu_user_note_move() - note that an event moves to another counter
 * @hart:	this hart
 * @ev:	the event
 *
 * The new counter has counted for others: it is written before user space may read it.
 */
static inline void riscv_pmu_user_note_move(struct riscv_pmu_hart *hart,
					    struct riscv_pmu_event *ev)
{
	if (likely(!ev->user) || ev->state == RISCV_PMU_EVENT_STOPPED)
		return;

	ev->clean = false;
	hart->user.shown = true;
}

/**
 * riscv_pmu_user_has_same_times() - whether an event has run as long as it was enabled
 * @event:	an event that is not of a cgroup
 *
 * perf_event_update_userpage() takes 330 instructions, as many as all else of an event that is
 * switched out and in. For an event that is not multiplexed, most of that is not needed:
 * - Its times do not change while it is switched out.
 * - Both times are equal, so programs neither scale nor need time_offset.
 * - When it is switched out, perf has just read the clock.
 *
 * Return: true if it is not multiplexed.
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

/**
 * riscv_pmu_user_init_callbacks() - set perf's callbacks for mapped events
 * @pmu:	a PMU that is not registered yet
 */
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

static inline void riscv_pmu_user_start(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev,
					bool added) { }
static inline void riscv_pmu_user_stop(struct perf_event *event, bool removed) { }
static inline void riscv_pmu_user_switch_out(struct perf_event *event) { }
static inline void riscv_pmu_user_sample(struct perf_event *event, struct riscv_pmu_event *ev) { }
static inline void riscv_pmu_user_hide(struct perf_event *event) { }
static inline void riscv_pmu_user_open(struct perf_event *event) { }
static inline void riscv_pmu_user_forget(struct perf_event *event) { }
static inline void riscv_pmu_user_init_callbacks(struct pmu *pmu) { }
static inline void riscv_pmu_user_note_move(struct riscv_pmu_hart *hart,
					    struct riscv_pmu_event *ev) { }

static inline int riscv_pmu_user_init(void)
{
	return 0;
}

static inline bool riscv_pmu_user_show(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	return false;
}

static inline bool riscv_pmu_event_is_mapped(const struct riscv_pmu_event *ev)
{
	return false;
}

static inline bool riscv_pmu_event_is_shown(const struct riscv_pmu_event *ev)
{
	return false;
}

static inline bool riscv_pmu_user_is_shown(const struct riscv_pmu_hart *hart)
{
	return false;
}

static inline bool riscv_pmu_user_has_same_times(const struct perf_event *event)
{
	return true;
}

static inline bool riscv_pmu_user_is_of_cgroup(const struct perf_event *event)
{
	return false;
}

#endif /* CONFIG_RISCV_PMU_USER_ACCESS */

#endif /* _RISCV_PMU_USER_H */
