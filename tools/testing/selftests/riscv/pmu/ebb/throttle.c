// SPDX-License-Identifier: GPL-2.0
/*
 * However short its period is, a task gets on; and the period is the page's, so that a task
 * without one has none. The tests use an LR/SC loop, which never succeeds if each of its
 * tries is interrupted.
 */

/* Each is four instructions, so this ends even if each is followed by a branch. */
#define LR_SC_TRIES	1000

/*
 * Whether LR/SC loops come to their ends while the event counts. It does no longer
 * afterwards: to say that one did not takes LR/SC loops as well.
 */
static bool lr_sc_completes(int fd)
{
	long word = 0;
	bool done = true;

	for (int i = 0; i < 100 && done; i++)
		done = pmu_lr_sc_loop(&word, LR_SC_TRIES);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return done && word == 100;
}

TEST_F(ebb, lr_sc_completes_with_a_handler)
{
	int fd = open_ebb(&self->attr, 1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	EXPECT_TRUE(lr_sc_completes(fd));
	EXPECT_LT(0, branches);
	close(fd);
}

TEST_F(ebb, lr_sc_completes_without_a_handler)
{
	int fd = open_ebb(&self->attr, 1);

	ASSERT_LE(0, fd);
	ebb_handler(NULL, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_TRUE(lr_sc_completes(fd));
	EXPECT_EQ(0, branches);
	close(fd);
}

/* Attached by its parent: it has never mapped a page. */
static void run_lr_sc(const struct perf_event_attr *attr)
{
	struct perf_event_attr mine = *attr;
	int fd;

	ebb_close();
	mine.disabled = 0;
	fd = pmu_open(&mine);
	_exit(fd < 0 ? 2 : !lr_sc_completes(fd));
}

TEST_F(ebb, lr_sc_completes_without_a_page)
{
	int fd = open_ebb(&self->attr, 1);

	ASSERT_LE(0, fd);
	close(fd);
	EXPECT_EQ(0, child_status(run_lr_sc, &self->attr));
}

/* Its event has had a period from the page, which has gone. */
TEST_F(ebb, lr_sc_completes_after_munmap)
{
	int fd = open_ebb(&self->attr, 1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	ebb_close();
	/* A branch may have waited: the event counts again when the task is switched in. */
	usleep(1000);
	EXPECT_TRUE(lr_sc_completes(fd));
	close(fd);
}

/* The event goes on with the program that is executed. */
static void run_exec_lr_sc(const struct perf_event_attr *attr)
{
	struct perf_event_attr mine = *attr;
	char path[256];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 20);
	int fd;

	forget_page();
	fd = open_ebb(&mine, 1);
	if (length < 0 || fd < 0 || fcntl(fd, F_SETFD, 0))
		_exit(2);
	path[length] = 0;
	*strrchr(path, '/') = 0;
	strcat(path, "/exec_lr_sc");
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		_exit(3);
	loop_until_branched();
	execl(path, "exec_lr_sc", NULL);
	_exit(4);
}

TEST_F(ebb, lr_sc_completes_after_exec)
{
	EXPECT_EQ(0, child_status(run_exec_lr_sc, &self->attr));
}
