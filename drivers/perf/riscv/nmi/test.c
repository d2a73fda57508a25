// SPDX-License-Identifier: GPL-2.0
/*
 * Files in debugfs, for tests. A number N that is written to riscv_pmu/spin executes a loop N times
 * with interrupts off. One that is written to riscv_pmu/inject has the firmware interrupt each hart
 * N times, at random intervals, by an NMI without an overflow.
 */

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/sched/signal.h>

#include "entry.h"
#include "nmi.h"
#include "sse.h"

/* 20 s at one instruction each ns: long enough for the detector of hard lockups */
#define SPIN_MAX	10000000000ULL
#define INJECT_MAX	1000000
/* The longest interval; the mean is half of it. */
#define INJECT_WAIT_US	40

/* Two instructions for each turn. Samples of the loop have an address in this function. */
static noinline void riscv_pmu_spin(unsigned long turns)
{
	asm volatile("1:	addi	%0, %0, -1\n"
		     "	bnez	%0, 1b\n"
		     : "+r" (turns));
}

static int spin_set(void *data, u64 turns)
{
	if (!turns || turns > SPIN_MAX)
		return -EINVAL;

	guard(irqsave)();
	riscv_pmu_spin(turns);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(spin_fops, NULL, spin_set, "%llu\n");

static int inject_all(void)
{
	unsigned int cpu;
	int err = 0;

	guard(cpus_read_lock)();
	for_each_online_cpu(cpu)
		err = err ?: riscv_pmu_sse_inject(cpu);

	return err;
}

static int inject_set(void *data, u64 times)
{
	int err = 0;

	if (!riscv_pmu_nmi_in_use)
		return -EOPNOTSUPP;
	if (times > INJECT_MAX)
		return -EINVAL;

	for (; times && !err; times--) {
		udelay(get_random_u32_below(INJECT_WAIT_US));
		err = signal_pending(current) ? -EINTR : inject_all();
		cond_resched();
	}

	return err;
}
DEFINE_DEBUGFS_ATTRIBUTE(inject_fops, NULL, inject_set, "%llu\n");

/* Creates the files in the driver's folder of debugfs. */
void __init riscv_pmu_nmi_test_init(struct dentry *dir)
{
	debugfs_create_file_unsafe("spin", 0200, dir, NULL, &spin_fops);
	debugfs_create_file_unsafe("inject", 0200, dir, NULL, &inject_fops);
}
