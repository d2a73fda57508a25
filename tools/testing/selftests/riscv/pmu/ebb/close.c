// SPDX-License-Identifier: GPL-2.0
/* Closing the event ends it, and so does unmapping the page. */

TEST_F(ebb, closing_the_event_revokes)
{
	int fd = open_ebb(&self->attr, PERIOD);
	long before;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	EXPECT_LT(0, branches);
	close(fd);
	before = branches;
	pmu_loop(N);
	EXPECT_EQ(before, branches);
}

/*
 * A counter may run on with the flag of the overflow that has branched, which hides the
 * next: whoever has it then has to see all of them. 24 bits, as the tests make some
 * counters, overflow twice in that time.
 */
TEST_F(ebb, who_has_the_counter_next_loses_nothing)
{
	const long n = 2L << 24;
	struct perf_event_attr next;
	int fd = open_pending(&self->attr);

	ASSERT_LE(0, fd);
	close(fd);

	next = instructions();
	next.config2 = self->attr.config2;
	fd = pmu_open(&next);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, n));
	EXPECT_LE(pmu_least(n), pmu_read(fd));
	if (self->exact)
		EXPECT_EQ(n + PMU_WINDOW_INSNS, pmu_read(fd));
	close(fd);
}

/* The mapping is the consent. */
TEST_F(ebb, unmapping_revokes)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_LT(0, branches);
	branches = 0;
	ebb_close();
	ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, N));
	EXPECT_EQ(0, branches);
	EXPECT_LE(2 * pmu_least(N), pmu_read(fd));
	/* And it can ask again. */
	EXPECT_NE(NULL, (void *)ebb_page());
	close(fd);
}

/* With a branch pending: the counters have stood, and count again. */
TEST_F(ebb, unmapping_thaws)
{
	int fd = open_pending(&self->attr);
	int64_t frozen;

	ASSERT_LE(0, fd);
	frozen = pmu_read(fd);
	pmu_loop(N);
	EXPECT_EQ(frozen, pmu_read(fd));
	ebb_close();
	/* When the task is switched in again. */
	usleep(10000);
	pmu_loop(N);
	EXPECT_LE(frozen + pmu_least(N), pmu_read(fd));
	EXPECT_EQ(0, branches);
	close(fd);
}

/* Another page does not wait for the switch. */
TEST_F(ebb, enabling_on_another_page_starts_stopped_events)
{
	int fd = open_pending(&self->attr);
	int64_t frozen;

	ASSERT_LE(0, fd);
	frozen = pmu_read(fd);
	ebb_close();
	ASSERT_NE(NULL, ebb_page());
	ASSERT_EQ(0, ebb_enable());
	pmu_loop(N);
	/*
	 * At the end of the period that has begun, it stops again: this page has no handler. Where
	 * interrupts are late, a part of that period is over already.
	 */
	EXPECT_LE(frozen + (self->exact ? PERIOD : 1), pmu_read(fd));
	EXPECT_EQ(0, branches);
	close(fd);
}

/* A page that moves takes its task's branches along. */
TEST_F(ebb, a_page_can_be_moved)
{
	int fd = open_ebb(&self->attr, PERIOD);
	long size = sysconf(_SC_PAGESIZE);
	volatile struct riscv_ebb_page *page = ebb_page();
	void *place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *moved;

	ASSERT_LE(0, fd);
	ASSERT_NE(MAP_FAILED, place);
	moved = mremap((void *)page, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	ASSERT_EQ(place, moved);
	/* The library's handler does not know: none shall be called. */
	page = moved;
	EXPECT_EQ(RISCV_EBB_ENABLE, page->control);
	page->control = 0;
	ASSERT_EQ(0, register_at(0));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int turn = 0; turn < 500 && !page->status; turn++)
		pmu_loop(N / 10);
	EXPECT_EQ(RISCV_EBB_PENDING, page->status);
	munmap(moved, size);
	close(fd);
}
