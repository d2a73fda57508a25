/* SPDX-License-Identifier: GPL-2.0 */
/* Groups: transactions of perf, and whether a group fits on an idle hart. */
#ifndef _RISCV_PMU_GROUP_H
#define _RISCV_PMU_GROUP_H

#include <linux/perf_event.h>

void riscv_pmu_start_txn(struct pmu *pmu, unsigned int flags);
int riscv_pmu_commit_txn(struct pmu *pmu);
void riscv_pmu_cancel_txn(struct pmu *pmu);
int riscv_pmu_group_validate(struct perf_event *event);

/* Whether an event of any PMU is of one of the driver's core PMUs. */
static inline bool riscv_pmu_owns(const struct perf_event *event)
{
	return event->pmu->start_txn == riscv_pmu_start_txn;
}

#endif /* _RISCV_PMU_GROUP_H */
