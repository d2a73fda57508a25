// SPDX-License-Identifier: GPL-2.0
/* A group of which several counters branch: all of it stands while a handler runs. */

static volatile long hits[32];

static void on_each(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	for (uint64_t left = page->overflowed; left; left &= left - 1)
		hits[__builtin_ctzll(left)]++;
	/* What nobody shall see. */
	pmu_loop(1000);
}

TEST_F(ebb, multi_counter)
{
	struct perf_event_attr cycles = pmu_attr_user(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES);
	int leader = ebb_open(&self->attr, -1), fd;
	unsigned int a, b;
	int64_t count[2];

	ASSERT_LE(0, leader);
	fd = ebb_open(&cycles, leader);
	ASSERT_LE(0, fd);
	a = ebb_counter(&self->attr);
	b = ebb_counter(&cycles);
	ASSERT_NE(a, b);
	memset((void *)hits, 0, sizeof(hits));
	ebb_period(a, PERIOD);
	ebb_period(b, 3 * PERIOD);
	ebb_handler(on_each, NULL);
	ebb_enable();
	ASSERT_EQ(0, pmu_run(leader, PERF_IOC_FLAG_GROUP, pmu_loop, N));
	if (!self->exact) {
		ASSERT_EQ(0, ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
		for (int turn = 0; turn < 500 && !(hits[a] && hits[b]); turn++)
			pmu_loop(N / 10);
		ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	}
	count[0] = pmu_read(leader);
	count[1] = pmu_read(fd);
	TH_LOG("%ld of %ld, %ld of %ld", hits[a], (long)count[0], hits[b], (long)count[1]);
	EXPECT_LT(0, hits[a]);
	EXPECT_LT(0, hits[b]);
	EXPECT_GE(hits[a] + hits[b], branches);
	if (self->exact) {
		EXPECT_EQ(N + PMU_WINDOW_INSNS, count[0]);
		EXPECT_EQ(count[0] / PERIOD, hits[a]);
		/* QEMU's cycles are its instructions; both stand for the same handlers. */
		EXPECT_EQ(count[0], count[1]);
		EXPECT_EQ(count[1] / (3 * PERIOD), hits[b]);
	}
	close(fd);
	close(leader);
}
