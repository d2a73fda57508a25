/* SPDX-License-Identifier: GPL-2.0 */
/* Branch records: what is recorded for events, and the records in their samples. */
#ifndef _RISCV_PMU_BRANCH_H
#define _RISCV_PMU_BRANCH_H

#include <linux/errno.h>
#include <linux/list.h>
#include <linux/perf_event.h>

#include "../pmu.h"

#ifdef CONFIG_RISCV_PMU_BRANCH

#include "csr.h"

/* event.c */
int riscv_pmu_branch_check(struct perf_event *event);
int riscv_pmu_branch_init_event(struct perf_event *event);

/* branch.c */
bool riscv_pmu_branch_check_current(struct riscv_pmu_hart *hart, const struct perf_event *event);
void riscv_pmu_branch_hart_start(struct riscv_pmu_hart *hart);
void riscv_pmu_branch_hart_stop(struct riscv_pmu_hart *hart);
void riscv_pmu_branch_hart_resume(struct riscv_pmu_hart *hart);

/* sample.c */
void riscv_pmu_branch_save_sample(struct riscv_pmu_hart *hart, struct perf_event *event,
				  struct perf_sample_data *data);

/* probe.c */
void riscv_pmu_branch_probe(struct riscv_pmu *pmu);
void riscv_pmu_branch_print(const struct riscv_pmu *pmu);

/*
 * Records again after an overflow interrupt. With LCOFIFRZ, the hart freezes the records when the
 * interrupt traps. So this is called whenever the handler ends, even if no sample was taken.
 * Records that are held stay frozen.
 */
static __always_inline void riscv_pmu_branch_unfreeze(struct riscv_pmu_hart *hart)
{
	if (unlikely(hart->branch.ctl) && !hart->branch.held)
		riscv_pmu_csr_branch_write_status(riscv_pmu_csr_branch_status() &
						  PMU_SCTRSTATUS_WRPTR);
}

/*
 * Records nothing until riscv_pmu_branch_release(), or until the last event with branch records is
 * removed. Overflow interrupts, of whatever event, do not unfreeze the records.
 */
static __always_inline void riscv_pmu_branch_hold(struct riscv_pmu_hart *hart)
{
	/* First: an NMI may come before the records are frozen. */
	WRITE_ONCE(hart->branch.held, true);
	riscv_pmu_csr_branch_write_status(riscv_pmu_csr_branch_status() | PMU_SCTRSTATUS_FROZEN);
}

/* Records again, if the records are held. */
static __always_inline void riscv_pmu_branch_release(struct riscv_pmu_hart *hart)
{
	if (likely(!hart->branch.held))
		return;

	WRITE_ONCE(hart->branch.held, false);
	/* If they are not frozen now, the task has run a KVM guest meanwhile (branch/csr.c). */
	if (hart->branch.ctl && !(riscv_pmu_csr_branch_status() & PMU_SCTRSTATUS_FROZEN))
		riscv_pmu_csr_branch_clear();
	riscv_pmu_branch_unfreeze(hart);
}

/* Whether an event's samples have branch records */
static inline bool riscv_pmu_event_has_branches(const struct riscv_pmu_event *ev)
{
	return ev->flags & RISCV_PMU_EV_BRANCH;
}

/* One of the events for which this hart records, or NULL */
static inline const struct riscv_pmu_event *
riscv_pmu_branch_first(const struct riscv_pmu_hart *hart)
{
	return likely(!hart->branch.ctl) ? NULL :
	       list_first_entry(&hart->branch.events, struct riscv_pmu_event, branch.node);
}

/* The number of branch records of each hart, or 0 */
static inline unsigned int riscv_pmu_branch_depth(const struct riscv_pmu *pmu)
{
	return pmu->branch.depth;
}

static inline void riscv_pmu_branch_hart_reset(struct riscv_pmu_hart *hart)
{
	INIT_LIST_HEAD(&hart->branch.events);
}

#else

static inline int riscv_pmu_branch_check(struct perf_event *event)
{
	return has_branch_stack(event) ? -EOPNOTSUPP : 0;
}

static inline int riscv_pmu_branch_init_event(struct perf_event *event) { return 0; }
static inline bool riscv_pmu_event_has_branches(const struct riscv_pmu_event *ev) { return false; }
static inline const struct riscv_pmu_event *
riscv_pmu_branch_first(const struct riscv_pmu_hart *hart) { return NULL; }
static inline unsigned int riscv_pmu_branch_depth(const struct riscv_pmu *pmu) { return 0; }
static inline void riscv_pmu_branch_save_sample(struct riscv_pmu_hart *hart,
						struct perf_event *event,
						struct perf_sample_data *data) { }
static inline void riscv_pmu_branch_hart_reset(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_branch_hart_start(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_branch_hart_stop(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_branch_hart_resume(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_branch_unfreeze(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_branch_hold(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_branch_release(struct riscv_pmu_hart *hart) { }
static inline void riscv_pmu_branch_probe(struct riscv_pmu *pmu) { }
static inline void riscv_pmu_branch_print(const struct riscv_pmu *pmu) { }
static inline void riscv_pmu_csr_branch_clear_for_guests(void) { }
static inline void riscv_pmu_csr_branch_hide(void) { }
static inline void riscv_pmu_csr_branch_show(void) { }

#endif /* CONFIG_RISCV_PMU_BRANCH */

/* Called only if riscv_pmu_event_has_branches(), or riscv_pmu_branch_first() returns an event. */
int riscv_pmu_branch_add(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev);
void riscv_pmu_branch_del(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev);
struct perf_branch_stack *riscv_pmu_branch_read(struct riscv_pmu_hart *hart,
						const struct riscv_pmu_event *ev);

#endif /* _RISCV_PMU_BRANCH_H */
