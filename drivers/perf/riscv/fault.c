// SPDX-License-Identifier: GPL-2.0
/*
 * Faults that a test asks for: calls of the firmware that fail, and steps of the
 * probe that find no memory. riscv_pmu.fail= on the kernel's command line and
 * fail_riscv_pmu/ in debugfs say which, as Documentation/fault-injection has it.
 */

#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/init.h>
#include <linux/moduleparam.h>

#include "fault.h"

static DECLARE_FAULT_ATTR(fault_attr);

/**
 * riscv_pmu_should_fail() - whether what comes next is to fail
 *
 * Each question is one unit of "space": with a space of n, the first n are let pass.
 *
 * Context: any.
 * Return: true if it is.
 */
bool riscv_pmu_should_fail(void)
{
	return should_fail(&fault_attr, 1);
}

/*
 * The parameter is kept as text until an initcall: setup_fault_attr() of Linux 7.2
 * allocates memory, and parameters are read before memory can be allocated.
 */
static char fault_options[64];
module_param_string(fail, fault_options, sizeof(fault_options), 0);
MODULE_PARM_DESC(fail, "which calls of the firmware and steps of the probe fail: interval,probability,space,times (Documentation/fault-injection)");

static int __init fault_options_init(void)
{
	if (!fault_options[0])
		return 0;
	if (!setup_fault_attr(&fault_attr, fault_options))
		return -EINVAL;

	/* A stack each time would bury what the driver itself has to say. */
	fault_attr.verbose = 1;
	return 0;
}
core_initcall(fault_options_init);

static int __init fault_debugfs_init(void)
{
	return PTR_ERR_OR_ZERO(fault_create_debugfs_attr("fail_riscv_pmu", NULL, &fault_attr));
}
late_initcall(fault_debugfs_init);
