// SPDX-License-Identifier: GPL-2.0
/* Against other events: pinned ones that were there first win, others make room. */

static int64_t running_of(int fd)
{
	uint64_t count[3];

	if (read(fd, count, sizeof(count)) != sizeof(count))
		return -1;
	return count[1] ? 100 * count[2] / count[1] : 0;
}

/* An event on this CPU, or of this task: already enabled. */
static int open_other(bool task, bool pinned)
{
	struct perf_event_attr attr = pmu_attr_user(PERF_TYPE_HARDWARE,
						    PERF_COUNT_HW_CPU_CYCLES);

	attr.disabled = 0;
	attr.pinned = pinned;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return pmu_open_on(&attr, task ? 0 : -1, task ? -1 : sched_getcpu(), -1);
}

static void stay_here(cpu_set_t *all)
{
	cpu_set_t one;

	sched_getaffinity(0, sizeof(*all), all);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

struct versus {
	int64_t ebb;		/* its count, or -1 */
	int64_t other_ran;	/* in percent of the time, or -1 */
};

static struct versus meet(struct perf_event_attr attr, bool task, bool pinned, bool first)
{
	struct versus met = { -2, -2 };
	int fd, other = -1;
	cpu_set_t all;

	stay_here(&all);
	if (first)
		other = open_other(task, pinned);
	fd = open_ebb(&attr, PERIOD);
	if (fd >= 0 && !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		if (!first)
			other = open_other(task, pinned);
		pmu_loop(N);
		if (pmu_read(fd) >= 0)
			loop_until_branched();
		met.ebb = pmu_read(fd);
		met.other_ran = running_of(other);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	close(fd);
	close(other);
	sched_setaffinity(0, sizeof(all), &all);
	return met;
}

TEST_F(ebb, cpu_event_pinned_vs_ebb)
{
	struct versus met = meet(self->attr, false, true, true);

	EXPECT_EQ(-1, met.ebb);
	EXPECT_EQ(100, met.other_ran);
	EXPECT_EQ(0, branches);
}

TEST_F(ebb, cpu_event_vs_ebb)
{
	struct versus met = meet(self->attr, false, false, true);

	EXPECT_LE(pmu_least(N), met.ebb);
	EXPECT_LT(0, branches);
	EXPECT_GT(100, met.other_ran);
}

TEST_F(ebb, task_event_pinned_vs_ebb)
{
	struct versus met = meet(self->attr, true, true, true);

	EXPECT_EQ(-1, met.ebb);
	EXPECT_EQ(100, met.other_ran);
	EXPECT_EQ(0, branches);
}

TEST_F(ebb, task_event_vs_ebb)
{
	struct versus met = meet(self->attr, true, false, true);

	EXPECT_LE(pmu_least(N), met.ebb);
	EXPECT_LT(0, branches);
	EXPECT_GT(100, met.other_ran);
}

/* CPUs' pinned events come before tasks'. */
TEST_F(ebb, ebb_vs_cpu_event_pinned)
{
	struct versus met = meet(self->attr, false, true, false);

	EXPECT_EQ(-1, met.ebb);
	EXPECT_EQ(100, met.other_ran);
}

TEST_F(ebb, ebb_vs_cpu_event)
{
	struct versus met = meet(self->attr, false, false, false);

	EXPECT_LE(pmu_least(N), met.ebb);
	EXPECT_LT(0, branches);
	/* It has the hart while others run. */
	EXPECT_GT(50, met.other_ran);
}

TEST_F(ebb, ebb_vs_task_event)
{
	struct versus met = meet(self->attr, true, false, false);

	EXPECT_LE(pmu_least(N), met.ebb);
	EXPECT_LT(0, branches);
	EXPECT_EQ(0, met.other_ran);
}

TEST_F(ebb, ebb_vs_task_event_pinned)
{
	struct versus met = meet(self->attr, true, true, false);

	EXPECT_LE(pmu_least(N), met.ebb);
	EXPECT_LT(0, branches);
	EXPECT_EQ(-1, met.other_ran);
}
