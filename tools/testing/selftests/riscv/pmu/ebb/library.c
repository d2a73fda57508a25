// SPDX-License-Identifier: GPL-2.0
/* What a program may do with the library of tools/ebb, and a handler too. */

/* Another handler has what waited for one; nobody need enable that again. */
TEST_F(ebb, a_new_handler_is_called_for_what_waited)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(NULL, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	wait_for_pending();
	EXPECT_EQ(0, branches);
	ebb_handler(on_branch, NULL);
	EXPECT_BRANCHED_ONCE();
	branches = 0;
	loop_until_branched();
	EXPECT_LT(0, branches);
	close(fd);
}

/* So does who enables what is enabled, if the handler went by other means. */
TEST_F(ebb, enabling_twice_takes_what_waited)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, register_at(0));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	wait_for_pending();
	ASSERT_EQ(0, register_at((uintptr_t)ebb_entry));
	EXPECT_EQ(0, branches);
	ebb_enable();
	EXPECT_BRANCHED_ONCE();
	close(fd);
}

static void on_disable(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	ebb_disable();
}

TEST_F(ebb, a_handler_may_disable)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_disable, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	wait_for_pending();
	pmu_loop(N);
	EXPECT_EQ(1, branches);
	EXPECT_EQ(RISCV_EBB_PENDING, ebb_page()->status);
	ebb_enable();
	EXPECT_EQ(2, branches);
	close(fd);
}

static void on_enable(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	ebb_enable();
	ebb_handler(on_branch, NULL);
}

/* It goes back to what was interrupted all the same. */
TEST_F(ebb, a_handler_may_enable)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_enable, NULL);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(fd), PERIOD);
	if (self->exact)
		EXPECT_EQ(N + PMU_WINDOW_INSNS, pmu_read(fd));
	close(fd);
}

static void on_close(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	ebb_close();
}

TEST_F(ebb, a_handler_may_close)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_close, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	pmu_loop(N);
	EXPECT_EQ(1, branches);
	close(fd);

	/* It begins anew. */
	ASSERT_NE(NULL, (void *)ebb_page());
	EXPECT_EQ(0, ebb_page()->status);
	EXPECT_EQ(0, ebb_page()->control);
}
