/* SPDX-License-Identifier: GPL-2.0 */
/* Tasks with event-based branches: what the files of ebb/ share. */
#ifndef _RISCV_PMU_EBB_TASK_H
#define _RISCV_PMU_EBB_TASK_H

#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "../pmu.h"

struct mm_struct;
struct perf_branch_stack;
struct pid;
struct riscv_ebb_page;

/**
 * struct riscv_pmu_ebb - a task with event-based branches
 * @pid:	the task's
 * @mm:		the address space that has mapped the page
 * @page:	the page; its content is user input
 * @overflowed:	its counters that have overflowed since the last return
 * @renew:	its counters that begin a new period when they next start
 * @over:	those of @renew that overflowed: events since then belong to the new period
 * @handler:	address of the handler, or 0
 * @pc:		address at which the handler was entered
 * @a7:		register a7 at that time
 * @elp:	SR_ELP at that time: a landing pad was expected (Zicfilp)
 * @inside:	the handler is running
 * @returned:	time of the last return of a handler, in ticks of the hart's timer
 * @min_period:	the minimum period while throttled, or 0
 * @frozen:	its events are stopped, from an overflow to the return of the handler
 * @pending:	a branch is pending
 * @recorded:	an event with EBBs has recorded branches of the task
 * @maps:	mappings of the page: one, or two while it is being moved
 * @exit:	woken up when the task exits
 * @node:	in ebb_tasks, until the task exits or the page is unmapped
 * @rcu:	readers are overflow interrupts
 */
struct riscv_pmu_ebb {
	struct pid *pid;
	struct mm_struct *mm;
	struct riscv_ebb_page *page;
	u64 overflowed;
	u64 renew;
	u64 over;
	unsigned long handler;
	unsigned long pc;
	unsigned long a7;
	unsigned long elp;
	bool inside;
	u32 returned;
	u64 min_period;
	bool frozen;
	bool pending;
	bool recorded;
	refcount_t maps;
	wait_queue_entry_t exit;
	struct hlist_node node;
	struct rcu_head rcu;
};

/* task.c */
struct riscv_pmu_ebb *riscv_pmu_ebb_of_current(void);
struct riscv_pmu_ebb *riscv_pmu_ebb_new(void);
int riscv_pmu_ebb_publish(struct riscv_pmu_ebb *ebb);
void riscv_pmu_ebb_remove(struct riscv_pmu_ebb *ebb);

/* ebb.c: riscv_pmu.ebb= on the kernel command line */
extern bool riscv_pmu_ebb_enabled;

void riscv_pmu_ebb_enable(struct riscv_pmu_ebb *ebb);

#endif /* _RISCV_PMU_EBB_TASK_H */
