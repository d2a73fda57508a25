// SPDX-License-Identifier: GPL-2.0
/* Several events that a test opens and closes together. */

#include <sys/syscall.h>
#include <unistd.h>

#include "bundle.h"

int bundle_open_on(struct bundle *all, const struct perf_event_attr *attr, pid_t pid, int cpu,
		   int leader)
{
	int fd = pmu_open_on(attr, pid, cpu, leader);

	if (fd >= 0)
		all->fd[all->nr++] = fd;
	return fd;
}

int bundle_open(struct bundle *all, const struct perf_event_attr *attr, int leader)
{
	return bundle_open_on(all, attr, 0, -1, leader);
}

void bundle_close(struct bundle *all, int keep)
{
	while (all->nr > keep)
		close(all->fd[--all->nr]);
}

void bundle_close_one(struct bundle *all, int i)
{
	close(all->fd[i]);
	all->fd[i] = -1;
}

struct perf_event_attr attr_of(uint64_t id)
{
	struct perf_event_attr attr = pmu_can_filter() ? pmu_attr_user(PERF_TYPE_HARDWARE, id) :
							 pmu_attr(PERF_TYPE_HARDWARE, id);

	attr.read_format = TIMES;
	return attr;
}

struct perf_event_attr attr_software(uint64_t id)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_SOFTWARE, id);

	attr.disabled = 0;
	attr.read_format = TIMES;
	return attr;
}

struct times read_times(int fd)
{
	struct times it;

	if (read(fd, &it, sizeof(it)) != sizeof(it))
		it = (struct times){ -1, -1, -1 };
	return it;
}

int64_t count_between_reads(int fd, long arg)
{
	struct times before = {}, after = {};
	const struct pmu_call on = { __NR_read, { fd, (long)&before, sizeof(before) } };
	const struct pmu_call off = { __NR_read, { fd, (long)&after, sizeof(after) } };

	pmu_window(&on, pmu_loop, arg, &off);
	return after.value - before.value;
}

void body_loop_forever(long arg)
{
	for (;;)
		pmu_loop(arg);
}

static const uint64_t hw_events[NR_HW_EVENTS] = {
	PMU_STD(1), PMU_STD(2), PMU_STD(0x10019), PMU_STD(0x1001b), PMU_STD(0x10021),
};

struct perf_event_attr attr_distinct(int i, uint64_t period)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_RAW, PMU_FW(i - NR_HW));

	if (i < NR_HW) {
		attr.config = hw_events[i % NR_HW_EVENTS];
		attr.exclude_kernel = i / NR_HW_EVENTS & 1;
		attr.exclude_user = i / NR_HW_EVENTS >> 1;
		attr.sample_period = period;
	}
	attr.disabled = 0;
	attr.read_format = TIMES;
	return attr;
}
