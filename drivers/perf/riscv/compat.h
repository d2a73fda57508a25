/* SPDX-License-Identifier: GPL-2.0 */
/* What Linux 6.12 has by another name than 7.2: this is written for the newer one. */
#ifndef _RISCV_PMU_COMPAT_H
#define _RISCV_PMU_COMPAT_H

#include <linux/compiler.h>
#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

/*
 * What the PMU has stored for the current task. Up to Linux 6.14 it belongs to the context of the
 * task's events, since Linux 6.15 to the task.
 */
static inline void *riscv_pmu_task_data(const struct perf_event_pmu_context *pmu_ctx)
{
#if KERNEL_VERSION(6, 15, 0) > LINUX_VERSION_CODE
	return pmu_ctx->task_ctx_data;
#else
	const struct perf_ctx_data *data = rcu_dereference_raw(current->perf_ctx_data);

	return data ? data->data : NULL;
#endif
}

typedef void (*riscv_pmu_switch_fn)(struct perf_event_pmu_context *pmu_ctx, bool sched_in);

/* Linux 6.15 and later releases of Linux 6.12 pass the task to pmu.sched_task, too. */
#define RISCV_PMU_SCHED_TASK(pmu, two_args, three_args)				\
	__builtin_choose_expr(__same_type((pmu)->sched_task, riscv_pmu_switch_fn),	\
			      two_args, three_args)

#endif /* _RISCV_PMU_COMPAT_H */
