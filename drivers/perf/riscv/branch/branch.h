/* SPDX-License-Identifier: GPL-2.0 */
/* Branch records: what is recorded for events, and the records in their samples. */
#ifndef _RISCV_PMU_BRANCH_H
#define _RISCV_PMU_BRANCH_H

#include <linux/build_bug.h>
#include <linux/perf_event.h>

#include <asm/pmu_csr.h>

#include "csr.h"
#include "../pmu.h"

/* The modes of an sctrctl value, and the types of transfers that it inhibits */
#define RISCV_PMU_BRANCH_MODES	(PMU_SCTRCTL_U | PMU_SCTRCTL_S)
#define RISCV_PMU_BRANCH_INH	(PMU_SCTRCTL_TYPE(PMU_BRANCH_EXCEPTION) |	\
				 PMU_SCTRCTL_TYPE(PMU_BRANCH_INTERRUPT) |	\
				 PMU_SCTRCTL_TYPE(PMU_BRANCH_TRAP_RETURN) |	\
				 PMU_SCTRCTL_TYPE(PMU_BRANCH_TAKEN) |		\
				 GENMASK_ULL(47, 40))

/* Traps and returns from traps: the only transfers that can change the privilege mode */
#define RISCV_PMU_BRANCH_TRAPS	(PMU_SCTRCTL_TYPE(PMU_BRANCH_EXCEPTION) |	\
				 PMU_SCTRCTL_TYPE(PMU_BRANCH_INTERRUPT) |	\
				 PMU_SCTRCTL_TYPE(PMU_BRANCH_TRAP_RETURN))

/**
 * struct riscv_pmu_branch_ctx - the call stack of a task that is not running
 * @switches:	how often the task had been switched out when this was saved: if that has changed,
 *		the task has run without being recorded, and the call stack is stale
 * @status:	sctrstatus.WRPTR
 * @nr:		number of records
 * @records:	the records, the newest first
 */
struct riscv_pmu_branch_ctx {
	u64	switches;
	u64	status;
	u64	nr;
	struct riscv_pmu_branch_record records[];
};

/* branch/event.c */
int riscv_pmu_branch_check(struct perf_event *event);
int riscv_pmu_branch_init_event(struct perf_event *event);

/* branch/branch.c */
int riscv_pmu_branch_add(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev);
void riscv_pmu_branch_del(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev);
void riscv_pmu_branch_use_sched_task(struct pmu *pmu, bool watch);
void riscv_pmu_branch_switch(struct perf_event_pmu_context *pmu_ctx, bool sched_in);
bool riscv_pmu_branch_check_current(struct riscv_pmu_hart *hart, const struct perf_event *event);
void riscv_pmu_branch_hart_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_branch_hart_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart);
void riscv_pmu_branch_hart_resume(struct riscv_pmu_hart *hart);

/* branch/sample.c */
void riscv_pmu_branch_set_read_flags(const struct riscv_pmu_branch_caps *caps,
				     struct riscv_pmu_event *ev);
const struct perf_branch_stack *riscv_pmu_branch_read(struct riscv_pmu *pmu,
						      struct riscv_pmu_hart *hart,
						      const struct riscv_pmu_event *ev);
void riscv_pmu_branch_save_sample(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				  struct perf_event *event, struct perf_sample_data *data,
				  bool show);

/* branch/probe.c */
void riscv_pmu_branch_probe(struct riscv_pmu *pmu);
void riscv_pmu_branch_print(const struct riscv_pmu *pmu);

/**
 * riscv_pmu_branch_unfreeze() - record again after an overflow interrupt
 * @hart:	this hart
 *
 * With LCOFIFRZ, the hart freezes the records when the interrupt traps. So this has to be called
 * whenever the handler ends, even if no sample was taken. Records that are held stay frozen.
 *
 * Context: hard interrupt or NMI.
 */
static __always_inline void riscv_pmu_branch_unfreeze(struct riscv_pmu_hart *hart)
{
	if (unlikely(hart->branch.ctl) && !hart->branch.held)
		riscv_pmu_csr_branch_write_status(riscv_pmu_csr_branch_status() &
						  PMU_SCTRSTATUS_WRPTR);
}

/**
 * riscv_pmu_branch_hold() - record nothing until riscv_pmu_branch_release()
 * @hart:	this hart
 *
 * Overflow interrupts, of whatever event, do not unfreeze the records. The hold also ends when the
 * last event with branch records is removed.
 *
 * Context: interrupts off; an event with branch records is active on this hart.
 */
static __always_inline void riscv_pmu_branch_hold(struct riscv_pmu_hart *hart)
{
	/* First: an NMI may come before the records are frozen. */
	WRITE_ONCE(hart->branch.held, true);
	riscv_pmu_csr_branch_write_status(riscv_pmu_csr_branch_status() | PMU_SCTRSTATUS_FROZEN);
}

/**
 * riscv_pmu_branch_release() - record again, if the records are held
 * @hart:	this hart
 *
 * Context: interrupts off.
 */
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

#endif /* _RISCV_PMU_BRANCH_H */
