// SPDX-License-Identifier: GPL-2.0
/*
 * For tests: a loop with interrupts off. Writing a number to riscv_pmu/spin in debugfs makes the
 * writing task execute the loop so many times.
 */

#include <linux/debugfs.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/irqflags.h>

#include "entries.h"

/* 40 ms at one instruction each ns */
#define SPIN_MAX	20000000

/* Two instructions for each turn. Samples of the loop have an address in this function. */
static noinline void riscv_pmu_spin(unsigned long turns)
{
	asm volatile("1:	addi	%0, %0, -1\n"
		     "	bnez	%0, 1b\n"
		     : "+r" (turns));
}

static int spin_set(void *data, u64 turns)
{
	unsigned long flags;

	if (!turns || turns > SPIN_MAX)
		return -EINVAL;

	local_irq_save(flags);
	riscv_pmu_spin(turns);
	local_irq_restore(flags);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(spin_fops, NULL, spin_set, "%llu\n");

/**
 * riscv_pmu_nmi_test_init() - create the file
 * @dir:	the driver's folder of debugfs
 *
 * Context: process, at boot.
 */
void __init riscv_pmu_nmi_test_init(struct dentry *dir)
{
	debugfs_create_file_unsafe("spin", 0200, dir, NULL, &spin_fops);
}
