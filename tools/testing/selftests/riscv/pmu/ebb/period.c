// SPDX-License-Identifier: GPL-2.0
/* The task sets its periods, and reads its counters, without a system call. */

static void on_longer(volatile struct riscv_ebb_page *page, void *arg)
{
	unsigned int *counter = arg;

	branches++;
	page->period[*counter] *= 2;
}

/* 1, 2, 4, ... of them: the handler's new period is the one that begins when it returns. */
TEST_F(ebb, a_handler_sets_the_next_period)
{
	int fd = open_ebb(&self->attr, PERIOD);
	unsigned int counter = ebb_counter(&self->attr);

	ASSERT_LE(0, fd);
	ebb_handler(on_longer, &counter);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	pmu_loop(127 * PERIOD);
	pmu_loop(PERIOD / 2);
	loop_until_branched();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_LT(0, branches);
	EXPECT_EQ(PERIOD << branches, ebb_page()->period[counter]);
	if (self->exact)
		EXPECT_EQ(7, branches);
	close(fd);
}

static void on_restart(volatile struct riscv_ebb_page *page, void *arg)
{
	unsigned int *counters = arg;

	if (page->overflowed & 1ULL << counters[1])
		hits[counters[1]]++;
	/* The other begins anew whenever this one has ended. */
	page->overflowed |= 1ULL << counters[1];
	branches++;
}

TEST_F(ebb, a_handler_lets_another_period_begin)
{
	struct perf_event_attr cycles = pmu_attr_user(PERF_TYPE_HARDWARE,
						      PERF_COUNT_HW_CPU_CYCLES);
	int leader = ebb_open(&self->attr, -1), fd;
	unsigned int counters[2];

	ASSERT_LE(0, leader);
	fd = ebb_open(&cycles, leader);
	ASSERT_LE(0, fd);
	if (!self->exact)
		SKIP(close(fd); close(leader); return,
		     "both periods are certain under -icount only");
	counters[0] = ebb_counter(&self->attr);
	counters[1] = ebb_counter(&cycles);
	memset((void *)hits, 0, sizeof(hits));
	ebb_period(counters[0], PERIOD);
	ebb_period(counters[1], PERIOD + PERIOD / 2);
	ebb_handler(on_restart, counters);
	ebb_enable();
	ASSERT_EQ(0, pmu_run(leader, PERF_IOC_FLAG_GROUP, pmu_loop, N));
	EXPECT_EQ(100, branches);
	EXPECT_EQ(0, hits[counters[1]]);
	close(fd);
	close(leader);
}

static struct perf_event_mmap_page *counter_page;
static volatile uint64_t last_count;

/* The counters stand, and the pages say where. */
static void on_read(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	last_count = counter_page->offset;
	if (counter_page->index)
		last_count = 0;
}

TEST_F(ebb, a_handler_reads_its_counter)
{
	int fd = open_ebb(&self->attr, PERIOD);
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	uint64_t count, again = 0;

	ASSERT_LE(0, fd);
	ASSERT_NE(MAP_FAILED, page);
	counter_page = page;
	ebb_handler(on_read, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	if (!riscv_pmu_read(counter_page, &count))
		SKIP(close(fd); return, "this thread may not read counters: see caps/user_access");
	pmu_loop(PERIOD);
	loop_until_branched();
	EXPECT_LT(0, branches);
	EXPECT_NE(0, last_count);
	if (self->exact) {
		EXPECT_EQ(1, branches);
		EXPECT_EQ(PERIOD, last_count);
		EXPECT_TRUE(riscv_pmu_read(counter_page, &again));
		EXPECT_LT(PERIOD, again);
		EXPECT_LE(again, pmu_read(fd));
	}
	/* Its mapping keeps the event: the handler shall not be called without one. */
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	munmap(page, sysconf(_SC_PAGESIZE));
	close(fd);
}

static void on_pause(volatile struct riscv_ebb_page *page, void *arg)
{
	const int *fd = arg;

	if (branches++)
		return;
	ioctl(*fd, PERF_EVENT_IOC_DISABLE, 0);
	page->period[__builtin_ctzll(page->overflowed)] = 3 * PERIOD;
}

/* The new period begins when the event is next enabled, if it is not when the handler returns. */
TEST_F(ebb, a_period_that_is_set_while_disabled_counts)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_pause, &fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	EXPECT_EQ(1, branches);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	pmu_loop(3 * PERIOD - PERIOD / 2);
	if (self->exact)
		EXPECT_EQ(1, branches);
	pmu_loop(PERIOD);
	if (self->exact)
		EXPECT_EQ(2, branches);
	loop_until_branched();
	EXPECT_LT(0, branches);
	close(fd);
}
