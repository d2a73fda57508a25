// SPDX-License-Identifier: GPL-2.0
/* The PMU of the first IOMMU: its events, and the disk that makes requests. */

#define _GNU_SOURCE
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "iommu.h"

struct perf_event_attr hpm_attr(uint64_t config)
{
	struct perf_event_attr attr = {
		.size		= sizeof(attr),
		.type		= pmu_read_number(PMU "type"),
		.config		= config,
		.disabled	= 1,
		.read_format	= 0,
	};

	return attr;
}

int hpm_cpu(void)
{
	return pmu_read_number(PMU "cpumask");
}

int hpm_open_attr(const struct perf_event_attr *attr, int leader)
{
	return pmu_open_on(attr, -1, hpm_cpu(), leader);
}

int hpm_open(uint64_t config)
{
	struct perf_event_attr attr = hpm_attr(config);

	return hpm_open_attr(&attr, -1);
}

int hpm_try(const struct perf_event_attr *attr)
{
	int fd = hpm_open_attr(attr, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int hpm_try_config(uint64_t config)
{
	struct perf_event_attr attr = hpm_attr(config);

	return hpm_try(&attr);
}

long disk_did(void)
{
	unsigned int domain, bus, device, function;
	char path[PATH_MAX], *end;

	if (!realpath("/sys/block/vda/device/..", path))
		return -1;
	end = strrchr(path, '/');
	if (!end || sscanf(end, "/%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
		return -1;
	return bus << 8 | device << 3 | function;
}

bool disk_is_translated(void)
{
	char text[PMU_TEXT];

	return pmu_read_line(GROUP_TYPE, text) && !strncmp(text, "DMA", 3);
}

int disk_read(int disk, void *data, int pages, int times)
{
	for (int i = 0; i < times; i++) {
		if (pread(disk, data, pages * PAGE, 0) != (ssize_t)pages * PAGE)
			return -1;
	}
	return 0;
}

int disk_warm_up(int disk, void *data)
{
	cpu_set_t all, one;
	int err;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		err = sched_setaffinity(0, sizeof(one), &one) ?: disk_read(disk, data, 1, 1);
		if (err)
			return err;
	}
	return sched_setaffinity(0, sizeof(all), &all);
}

int64_t count_reads(int disk, void *data, uint64_t config, int pages, int times)
{
	int64_t count = -1;
	int fd = hpm_open(config);

	if (fd < 0)
		return fd;
	if (!ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) && !disk_read(disk, data, pages, times) &&
	    !ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))
		count = pmu_read(fd);
	close(fd);
	return count;
}
