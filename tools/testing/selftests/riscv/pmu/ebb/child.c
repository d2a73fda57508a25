// SPDX-License-Identifier: GPL-2.0
/* Events that another process has attached. */

/* Who did not ask for it is counted, and goes on as before. */
TEST_F(ebb, on_child)
{
	int fd = open_ebb(&self->attr, PERIOD);
	pid_t other;

	ASSERT_LE(0, fd);
	close(fd);
	other = pmu_spawn(yield_loop, 100000 * PERIOD);
	ASSERT_LT(0, other);
	fd = pmu_open_on(&self->attr, other, -1, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	usleep(20000);
	EXPECT_LT(0, pmu_read(fd));
	EXPECT_EQ(0, branches);
	EXPECT_EQ(0, waitpid(other, NULL, WNOHANG));
	pmu_kill(other);
	close(fd);
}

struct willing {
	int ready[2], go[2];
	unsigned int counter;
};

/* Exits with 0 once it has been branched. */
static void run_willing(const struct willing *will)
{
	char byte = 0;

	ebb_close();
	if (!ebb_page())
		_exit(2);
	branches = 0;
	ebb_period(will->counter, PERIOD);
	ebb_handler(on_branch, NULL);
	ebb_enable();
	if (write(will->ready[1], &byte, 1) != 1 || read(will->go[0], &byte, 1) != 1)
		_exit(3);
	loop_until_branched();
	_exit(!branches);
}

TEST_F(ebb, on_willing_child)
{
	struct willing will;
	int fd = open_ebb(&self->attr, PERIOD), status;
	char byte = 0;
	pid_t other;

	ASSERT_LE(0, fd);
	close(fd);
	will.counter = ebb_counter(&self->attr);
	ASSERT_EQ(0, pipe(will.ready));
	ASSERT_EQ(0, pipe(will.go));
	other = fork();
	if (!other)
		run_willing(&will);

	ASSERT_LT(0, other);
	ASSERT_EQ(1, read(will.ready[0], &byte, 1));
	fd = pmu_open_on(&self->attr, other, -1, -1);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(1, write(will.go[1], &byte, 1));
	ASSERT_EQ(other, waitpid(other, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, branches);
	close(fd);
}
