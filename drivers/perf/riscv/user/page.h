/* SPDX-License-Identifier: GPL-2.0 */
/* What user/page.c and user/access.c share. */
#ifndef _RISCV_PMU_USER_PAGE_H
#define _RISCV_PMU_USER_PAGE_H

#include "../update.h"
#include "user.h"

/* kernel.perf_user_access, as mainline documents it */
enum riscv_pmu_user_access {
	USER_ACCESS_NONE,	/* the time only */
	USER_ACCESS_MMAP,	/* counters of mapped events, for the process that mapped them */
	USER_ACCESS_LEGACY,	/* cycle and instret, for everybody */
};

extern int riscv_pmu_user_access;	/* the sysctl writes it at any time */

/* A task with mapped events, which hold references to it */
struct riscv_pmu_task {
	const struct mm_struct *mm;	/* of the mappings; after an exec the task has another */
	unsigned int	events;		/* how many there are */
	/* Counters whose index a mapped page has ever shown: PMU_SCOUNTEREN_* bits */
	u32		ctrs;
	struct rcu_head	rcu;		/* readers: traps of the task; its hart, interrupts off */
};

/*
 * Whether the address space that has mapped an event is still its task's: not after an exec. exec
 * unmaps the page, which ends the access at once; if another process has mapped it as well (vfork),
 * the next context switch does. Until then the task can read what it counts itself.
 */
static inline bool riscv_pmu_user_is_still_own(const struct riscv_pmu_event *ev)
{
	return READ_ONCE(ev->event->hw.target->mm) == READ_ONCE(ev->page.mm);
}

u64 riscv_pmu_user_access_ctrs(const struct riscv_pmu *pmu);
void riscv_pmu_user_restart(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev);

#endif /* _RISCV_PMU_USER_PAGE_H */
