// SPDX-License-Identifier: GPL-2.0
/* Functions of the kernel (/proc/kallsyms), and how many NMIs there were (debugfs). */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbol.h"

bool find_symbol(const char *name, struct symbol *symbol)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long address;
	char line[256], found[128];

	*symbol = (struct symbol){};
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %127s", &address, found) != 2)
			continue;
		if (!strcmp(found, name))
			symbol->begin = address;
	}
	if (!symbol->begin) {
		if (file)
			fclose(file);
		return false;
	}

	rewind(file);
	symbol->end = UINT64_MAX;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %127s", &address, found) == 2 &&
		    address > symbol->begin && address < symbol->end)
			symbol->end = address;
	}
	fclose(file);
	return true;
}

bool is_in(uint64_t ip, const struct symbol *symbol)
{
	return ip >= symbol->begin && ip < symbol->end;
}

long count_nmis(const char *name)
{
	char path[64], line[256], found[64];
	long value, nr = 0;

	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		FILE *file;

		snprintf(path, sizeof(path), "/sys/kernel/debug/riscv_pmu/cpu%ld", cpu);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file)) {
			if (sscanf(line, "%63s %ld", found, &value) == 2 && !strcmp(found, name))
				nr += value;
		}
		if (file)
			fclose(file);
	}

	return nr;
}
