/* SPDX-License-Identifier: GPL-2.0 */
/* What Linux 6.12 has by another name than 7.2: this is written for the newer one. */
#ifndef _RISCV_PMU_COMPAT_H
#define _RISCV_PMU_COMPAT_H

#include <linux/hrtimer.h>
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

#endif /* _RISCV_PMU_COMPAT_H */
