/* SPDX-License-Identifier: GPL-2.0 */
/* Which counter gets which config: a matching over masks, independent of perf and of hardware. */
#ifndef _RISCV_PMU_SCHED_H
#define _RISCV_PMU_SCHED_H

#include <linux/types.h>

#define RISCV_PMU_SCHED_MAX	64

/* An assignment of configs to counters */
struct riscv_pmu_sched {
	u64	used;	/* counters that have a config */
	/* For each counter of used, the counters that can hold its config instead */
	u64	may[RISCV_PMU_SCHED_MAX];
};

/* How a new event gets ctr[0]: the config of ctr[i] moves to ctr[i + 1]; the last one was free. */
struct riscv_pmu_sched_path {
	unsigned int	len;	/* entries of ctr, at least 1 */
	u8		ctr[RISCV_PMU_SCHED_MAX];
};

bool riscv_pmu_sched_find(const struct riscv_pmu_sched *sched, u64 may, const u64 *prefer,
			  unsigned int nr_prefer, struct riscv_pmu_sched_path *path);
u64 riscv_pmu_sched_reach(const struct riscv_pmu_sched *sched, u64 may);

#endif /* _RISCV_PMU_SCHED_H */
