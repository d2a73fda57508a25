// SPDX-License-Identifier: GPL-2.0
/* What a load of many overflows runs on a hart. */

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "storm.h"
#include "task.h"

void body_spin_on(long cpu)
{
	move_to(cpu);
	for (;;)
		pmu_loop(100000);
}

void body_command_on(long cpu)
{
	char path[PATH_MAX] = "", file[PATH_MAX + 16];

	move_to(cpu);
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0) {
		snprintf(file, sizeof(file), "%s/exec_loop", dirname(path));
		execl(file, file, NULL);
	}
	_exit(127);
}
