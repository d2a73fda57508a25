// SPDX-License-Identifier: GPL-2.0
/* Without a handler, or while it is not enabled, an overflow waits, and the counter stands. */

TEST_F(ebb, without_a_handler_it_waits)
{
	int fd = open_ebb(&self->attr, PERIOD);
	int64_t count;

	ASSERT_LE(0, fd);
	ebb_handler(NULL, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	wait_for_pending();
	EXPECT_EQ(0, branches);
	EXPECT_EQ(RISCV_EBB_PENDING, ebb_page()->status);
	EXPECT_EQ(1ULL << ebb_counter(&self->attr), ebb_page()->overflowed);
	count = pmu_read(fd);
	pmu_loop(N);
	EXPECT_EQ(count, pmu_read(fd));
	if (self->exact)
		EXPECT_EQ(PERIOD, count);

	/* Whoever enables it has that branch, and goes on. */
	ebb_disable();
	ebb_handler(on_branch, NULL);
	EXPECT_EQ(0, branches);
	ebb_enable();
	EXPECT_BRANCHED_ONCE();
	EXPECT_EQ(0, ebb_page()->status);
	branches = 0;
	loop_until_branched();
	EXPECT_LT(0, branches);
	close(fd);
}

static void on_last_branch(volatile struct riscv_ebb_page *page, void *arg)
{
	on_branch(page, arg);
	ebb_handler(NULL, NULL);
}

/* A handler may be the last: what overflows afterwards waits, instead of a jump to 0. */
TEST_F(ebb, a_handler_that_takes_itself_away)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_last_branch, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	wait_for_pending();
	EXPECT_EQ(1, branches);
	EXPECT_EQ(RISCV_EBB_PENDING, ebb_page()->status);
	close(fd);
}

static unsigned long bad_handler;

static void run_bad_handler(const struct perf_event_attr *attr)
{
	struct perf_event_attr mine = *attr;
	int fd;

	forget_page();
	fd = open_ebb(&mine, 1000);
	if (fd < 0 || register_at(bad_handler))
		_exit(1);
	run(fd, pmu_loop, N);
}

/* As a signal's handler would. */
TEST_F(ebb, a_handler_that_is_nowhere_is_sigsegv)
{
	static const unsigned long nowhere[] = { 16, 1UL << 62, -16UL, 0xffffffff80000000UL };

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
		int status;

		bad_handler = nowhere[i];
		status = child_status(run_bad_handler, &self->attr);
		EXPECT_TRUE(WIFSIGNALED(status)) {
			TH_LOG("handler 0x%lx: status 0x%x", nowhere[i], status);
		}
		EXPECT_EQ(SIGSEGV, WTERMSIG(status));
	}
}

TEST_F(ebb, a_misaligned_handler_is_sigbus)
{
	int status;

	bad_handler = (unsigned long)pmu_loop | 1;
	status = child_status(run_bad_handler, &self->attr);
	EXPECT_TRUE(WIFSIGNALED(status)) {
		TH_LOG("status 0x%x", status);
	}
	EXPECT_EQ(SIGBUS, WTERMSIG(status));
}
