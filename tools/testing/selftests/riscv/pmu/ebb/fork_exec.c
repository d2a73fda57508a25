// SPDX-License-Identifier: GPL-2.0
/* Neither a child nor another program has what the task had. */

static volatile struct riscv_ebb_page *parents_page;

static void touch_page(const struct perf_event_attr *attr)
{
	parents_page->control = 0;
}

static void run_unbranched(const struct perf_event_attr *attr)
{
	branches = 0;
	pmu_loop(N);
	_exit(!!branches);
}

TEST_F(ebb, a_child_has_nothing_of_it)
{
	int fd = open_ebb(&self->attr, PERIOD);
	int status;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	parents_page = ebb_page();
	status = child_status(touch_page, &self->attr);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(status));
	EXPECT_EQ(0, child_status(run_unbranched, &self->attr));
	close(fd);
}

/* With a branch that waits when it forks, and one that waits in the child's parent. */
TEST_F(ebb, a_fork_while_a_branch_waits)
{
	int fd = open_pending(&self->attr);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, child_status(run_unbranched, &self->attr));
	EXPECT_EQ(RISCV_EBB_PENDING, ebb_page()->status);
	EXPECT_EQ(0, branches);
	ebb_enable();
	EXPECT_LE(1, branches);
	close(fd);
}

/* The descriptors stay open: it is the program that is another. */
static void run_exec(const struct perf_event_attr *attr)
{
	struct perf_event_attr mine = *attr;
	char path[256];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 20);
	int fd;

	forget_page();
	fd = open_ebb(&mine, 1000);
	if (length < 0 || fd < 0 || fcntl(fd, F_SETFD, 0) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		_exit(2);
	loop_until_branched();
	if (!branches)
		_exit(3);
	path[length] = 0;
	*strrchr(path, '/') = 0;
	strcat(path, "/exec_loop");
	execl(path, "exec_loop", "long", NULL);
	_exit(4);
}

TEST_F(ebb, another_program_is_not_branched)
{
	EXPECT_EQ(0, child_status(run_exec, &self->attr));
}

/* Nor by a detour. */
TEST_F(ebb, a_page_can_not_be_made_to_be_inherited)
{
	EXPECT_NE(0, madvise((void *)ebb_page(), sysconf(_SC_PAGESIZE), MADV_DOFORK));
	EXPECT_EQ(EINVAL, errno);
}

static void run_in_child(const struct perf_event_attr *attr)
{
	struct perf_event_attr mine = *attr;
	int fd = open_ebb(&mine, PERIOD);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		_exit(2);
	loop_until_branched();
	_exit(!branches);
}

/* The library's child knows that it has none, and gets one of its own. */
TEST_F(ebb, a_child_can_have_its_own)
{
	EXPECT_EQ(0, child_status(run_in_child, &self->attr));
}
