// SPDX-License-Identifier: GPL-2.0
/*
 * Other threads can write to the page whenever they like: a handler goes back to what was
 * interrupted all the same, and nothing else has a way to go there.
 */

static void on_forge(volatile struct riscv_ebb_page *page, void *arg)
{
	on_branch(page, arg);
	page->pc = (uintptr_t)abort;
	page->a7 = SYS_exit;
}

TEST_F(ebb, a_return_goes_back_whatever_the_page_says)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_forge, NULL);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(fd), PERIOD);
	if (self->exact) {
		EXPECT_EQ(branches, inside);
		EXPECT_EQ(N + PMU_WINDOW_INSNS, pmu_read(fd));
	}
	EXPECT_EQ(0, pmu_keep_ints(100000));
	close(fd);
}

/* With no branch under way the page could name any place to go to. */
TEST_F(ebb, a_return_without_a_branch_is_enosys)
{
	int fd = open_pending(&self->attr);

	ASSERT_LE(0, fd);
	ebb_page()->pc = (uintptr_t)abort;
	ebb_page()->a7 = SYS_exit;
	EXPECT_EQ(-ENOSYS, ecall(RISCV_EBB_RETURN));
	/* It has enabled nothing. */
	EXPECT_EQ(RISCV_EBB_PENDING, ebb_page()->status);
	EXPECT_EQ(0, ebb_page()->control);
	EXPECT_EQ(0, branches);
	close(fd);
}

static volatile bool forger_ends;

static void *forge(void *arg)
{
	volatile struct riscv_ebb_page *page = arg;

	for (uint64_t n = 1; !forger_ends; n = n * 6364136223846793005ULL + 1) {
		page->pc = n;
		page->a7 = n;
		page->status = n;
		page->version = n;
		page->control = RISCV_EBB_ENABLE;
		page->overflowed = n;
		if (!(n & 0xf00))
			sched_yield();
	}
	return NULL;
}

/* By a thread of the same process, at any moment; the registers are right throughout. */
TEST_F(ebb, registers_survive_another_thread_writing_the_page)
{
	int fd = open_ebb(&self->attr, 1000);
	pthread_t forger;
	long changed = 0;

	ASSERT_LE(0, fd);
	forger_ends = false;
	ASSERT_EQ(0, pthread_create(&forger, NULL, forge, (void *)ebb_page()));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int turn = 0; turn < 50; turn++) {
		changed += pmu_keep_ints(10000);
		sched_yield();
	}
	loop_until_branched();
	forger_ends = true;
	pthread_join(forger, NULL);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(0, changed);
	EXPECT_LT(0, branches);
	close(fd);
}
