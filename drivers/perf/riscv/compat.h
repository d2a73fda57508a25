/* SPDX-License-Identifier: GPL-2.0 */
/* Definitions for Linux 6.12 to 7.1: the driver is written for 7.2. */
#ifndef _RISCV_PMU_COMPAT_H
#define _RISCV_PMU_COMPAT_H

#include <linux/perf_event.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
#define hrtimer_setup(timer, handler, clock_id, mode)				\
	(hrtimer_init(timer, clock_id, mode), (void)((timer)->function = (handler)))
#endif

/* Linux 6.14 and later releases of Linux 6.12 pass nothing to perf_allow_kernel(). */
static inline int riscv_pmu_allow_none(int (*allow)(void), struct perf_event_attr *attr)
{
	return allow();
}

static inline int riscv_pmu_allow_attr(int (*allow)(struct perf_event_attr *),
				       struct perf_event_attr *attr)
{
	return allow(attr);
}

#define riscv_pmu_allow_kernel(attr)						\
	__builtin_choose_expr(__same_type(perf_allow_kernel, int (void)),	\
			      riscv_pmu_allow_none, riscv_pmu_allow_attr)(perf_allow_kernel, attr)

#ifdef CONFIG_RISCV_PMU_BRANCH
/* Linux 6.15 and later releases of Linux 6.12 pass the task to pmu.sched_task, too. */
#define RISCV_PMU_SCHED_TASK(pmu, two_args, three_args)				\
	__builtin_choose_expr(__same_type((pmu)->sched_task, &(two_args)), two_args, three_args)

/* The PMU's data of the current task. Up to Linux 6.14 each context of its events has its own. */
#if KERNEL_VERSION(6, 15, 0) > LINUX_VERSION_CODE
#define riscv_pmu_task_data(pmu_ctx)	((pmu_ctx)->task_ctx_data)
#else
static inline void *riscv_pmu_task_data(const struct perf_event_pmu_context *pmu_ctx)
{
	const struct perf_ctx_data *data = rcu_dereference_raw(current->perf_ctx_data);

	return data ? data->data : NULL;
}
#endif
#endif /* CONFIG_RISCV_PMU_BRANCH */

#ifdef CONFIG_RISCV_PMU_USER_ACCESS
/* The time of a context of events, as of its last update. */
#if KERNEL_VERSION(7, 2, 0) > LINUX_VERSION_CODE
#define riscv_pmu_ctx_time(ctx)		((ctx)->time)
#else
#define riscv_pmu_ctx_time(ctx)		((ctx)->time.time)
#endif
#endif /* CONFIG_RISCV_PMU_USER_ACCESS */

#ifdef PERF_ATTR_SIZE_VER9
#define riscv_pmu_config4(attr)		((attr)->config4)
#else
#define riscv_pmu_config4(attr)		((void)(attr), 0)
#endif

#endif /* _RISCV_PMU_COMPAT_H */
