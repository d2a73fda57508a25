/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks with event-based branches: what the files of ebb/ share. */
#ifndef _RISCV_PMU_EBB_TASK_H
#define _RISCV_PMU_EBB_TASK_H

#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/wait.h>

struct mm_struct;
struct pid;
struct riscv_ebb_page;

/* A task that has mapped a page for event-based branches */
struct riscv_pmu_ebb {
	struct pid		*pid;
	struct mm_struct	*mm;		/* the address space that has mapped the page */
	struct riscv_ebb_page	*page;		/* its content is user input */
	u64			overflowed;	/* counters that overflowed since the last return */
	u64			renew;		/* counters that begin a new period when started */
	/* Those of @renew that overflowed: events since then belong to the new period. */
	u64			over;
	unsigned long		handler;	/* its address, or 0 */
	unsigned long		pc;		/* where the handler was entered */
	unsigned long		a7;		/* the register at that time */
	unsigned long		elp;		/* SR_ELP then: a landing pad was expected */
	bool			inside;		/* the handler is running */
	u32			returned;	/* timer ticks at the last return of a handler */
	u64			min_period;	/* the minimum period while throttled, or 0 */
	/* The task's events are stopped, from an overflow to the return of the handler. */
	bool			frozen;
	bool			pending;	/* a branch is pending */
	bool			recorded;	/* an event with EBBs has recorded branches */
	refcount_t		maps;		/* of the page: two while it is being moved */
	wait_queue_entry_t	exit;		/* woken up when the task exits */
	struct hlist_node	node;		/* in ebb_tasks, until exit or munmap */
	struct rcu_head		rcu;		/* readers are overflow interrupts */
};

/* ebb.c */
extern bool riscv_pmu_ebb_enabled;	/* riscv_pmu.ebb= on the kernel command line */

struct riscv_pmu_ebb *riscv_pmu_ebb_of_current(void);
int riscv_pmu_ebb_publish(struct riscv_pmu_ebb *ebb);
void riscv_pmu_ebb_unpublish(struct riscv_pmu_ebb *ebb);
void riscv_pmu_ebb_enable(struct riscv_pmu_ebb *ebb);

/* dev.c */
struct riscv_pmu_ebb *riscv_pmu_ebb_new(void);
void riscv_pmu_ebb_remove(struct riscv_pmu_ebb *ebb);

#endif /* _RISCV_PMU_EBB_TASK_H */
