// SPDX-License-Identifier: GPL-2.0
/*
 * Fault injection for tests: firmware calls and allocations of the probe fail. riscv_pmu.fail=
 * on the kernel command line and fail_riscv_pmu/ in debugfs select which ones, as described in
 * Documentation/fault-injection.
 */

#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>

#include "fault.h"

static DECLARE_FAULT_ATTR(fault_attr);

/**
 * riscv_pmu_should_fail() - whether the caller's next operation has to fail
 *
 * Each call uses one unit of the attribute "space": with a space of n, the n-th operation is the
 * first that fails.
 *
 * Context: any.
 * Return: true if the operation has to fail.
 */
bool riscv_pmu_should_fail(void)
{
	bool fails;

	/* It prints a message, perhaps under the run queue's lock: see print.h. */
	guard(irqsave)();
	printk_deferred_enter();
	fails = should_fail(&fault_attr, 1);
	printk_deferred_exit();
	return fails;
}

/*
 * The parameter is kept as text until an initcall: setup_fault_attr() of Linux 7.2
 * allocates memory, and parameters are read before memory can be allocated.
 */
static char fault_options[64];
module_param_string(fail, fault_options, sizeof(fault_options), 0);
MODULE_PARM_DESC(fail, "firmware calls and steps of the probe that fail: interval,probability,space,times (Documentation/fault-injection)");

static int __init fault_options_init(void)
{
	if (!fault_options[0])
		return 0;
	if (!setup_fault_attr(&fault_attr, fault_options))
		return -EINVAL;

	/* No stack trace for each fault: the driver's own messages would be hard to find. */
	fault_attr.verbose = 1;
	return 0;
}
core_initcall(fault_options_init);

static int __init fault_debugfs_init(void)
{
	return PTR_ERR_OR_ZERO(fault_create_debugfs_attr("fail_riscv_pmu", NULL, &fault_attr));
}
late_initcall(fault_debugfs_init);
