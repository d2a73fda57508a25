// SPDX-License-Identifier: GPL-2.0
/*
 * What user space may read without a system call: the time, and, where
 * kernel.perf_user_access says so, cycle and instret.
 */

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/sched_clock.h>
#include <linux/smp.h>
#include <linux/sysctl.h>

#include <asm/pmu_csr.h>

#include "csr.h"
#include "internal.h"

/* kernel.perf_user_access, as mainline documents it */
enum user_access {
	USER_ACCESS_NONE,	/* the time only */
	USER_ACCESS_MMAP,	/* mapped events; none is readable yet: index 0 */
	USER_ACCESS_LEGACY,	/* cycle and instret, for everybody */
};

static int user_access = USER_ACCESS_MMAP;

/**
 * riscv_pmu_user_hart_start() - set what user space may read on this hart
 */
void riscv_pmu_user_hart_start(void)
{
	u32 ctrs = PMU_SCOUNTEREN_TM;

	if (READ_ONCE(user_access) == USER_ACCESS_LEGACY)
		ctrs |= PMU_SCOUNTEREN_CY | PMU_SCOUNTEREN_IR;
	riscv_pmu_csr_set_user_mask(ctrs);
}

/**
 * riscv_pmu_user_hart_stop() - let user space read nothing on this hart
 */
void riscv_pmu_user_hart_stop(void)
{
	riscv_pmu_csr_set_user_mask(0);
}

static void user_apply_access(void *unused)
{
	riscv_pmu_user_hart_start();
}

static int user_access_handler(const struct ctl_table *table, int write, void *buffer,
			       size_t *lenp, loff_t *ppos)
{
	int err;

	/* A hart that comes up meanwhile would have read the old value. */
	guard(cpus_read_lock)();
	err = proc_dointvec_minmax(table, write, buffer, lenp, ppos);
	if (!err && write)
		on_each_cpu(user_apply_access, NULL, 1);

	return err;
}

static struct ctl_table user_sysctls[] = {
	{
		.procname	= "perf_user_access",
		.data		= &user_access,
		.maxlen		= sizeof(user_access),
		.mode		= 0644,
		.proc_handler	= user_access_handler,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_TWO,
	},
};

/**
 * riscv_pmu_user_init() - create kernel.perf_user_access
 *
 * Return: 0 or -ENOMEM.
 */
int __init riscv_pmu_user_init(void)
{
	if (!IS_ENABLED(CONFIG_SYSCTL))
		return 0;

	return register_sysctl("kernel", user_sysctls) ? 0 : -ENOMEM;
}

/* The conversion changes when sched_clock begins a new epoch: once an hour or so. */
static void user_set_epoch(struct perf_event_mmap_page *page, const struct clock_read_data *rd)
{
	page->time_mult = rd->mult;
	page->time_shift = rd->shift;
	page->time_cycles = rd->epoch_cyc;
	page->time_mask = rd->sched_clock_mask;
	page->time_zero = rd->epoch_ns - mul_u64_u32_shr(rd->epoch_cyc, rd->mult, rd->shift);
	/* Readers of the first version of the page shift a 32-bit value: 31 at most. */
	if (page->time_shift == 32) {
		page->time_shift = 31;
		page->time_mult >>= 1;
	}
}

/*
 * The mapping's conversion from the time CSR to perf's clock. The clock's
 * parameters may change under us: its sequence count says so. This is called
 * at each context switch, for each event that is mapped.
 */
void arch_perf_update_userpage(struct perf_event *event, struct perf_event_mmap_page *page,
			       u64 now)
{
	bool is_old = !page->cap_user_time;
	struct clock_read_data *rd;
	unsigned int seq;

	do {
		rd = sched_clock_read_begin(&seq);
		is_old |= page->time_cycles != rd->epoch_cyc;
		/* Once more if it changed meanwhile: then this one may be of two minds. */
		if (is_old)
			user_set_epoch(page, rd);
	} while (sched_clock_read_retry(seq));

	page->time_offset = page->time_zero - now;
	page->cap_user_rdpmc = 0;
	page->cap_user_time = 1;
	page->cap_user_time_zero = 1;
	page->cap_user_time_short = 1;
}
