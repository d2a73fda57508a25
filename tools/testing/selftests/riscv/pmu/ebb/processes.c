// SPDX-License-Identifier: GPL-2.0
/* Several processes at a time, each with branches of its own. */

#define PROCESSES	5

static void run_process(const struct perf_event_attr *attr)
{
	struct perf_event_attr mine = *attr;
	int64_t count;
	int fd;

	forget_page();
	inside = 0;
	fd = open_ebb(&mine, PERIOD);
	if (fd < 0)
		_exit(2);
	if (run(fd, yield_loop, N))
		_exit(3);
	count = pmu_read(fd);
	if (pmu_is_exact() && (branches < count / PERIOD - 1 || branches > count / PERIOD))
		_exit(4);
	_exit(!branches);
}

TEST_F(ebb, multi_process)
{
	pid_t pid[PROCESSES];
	int status;

	for (int i = 0; i < PROCESSES; i++) {
		pid[i] = fork();
		if (!pid[i])
			run_process(&self->attr);
		ASSERT_LT(0, pid[i]);
	}
	for (int i = 0; i < PROCESSES; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
	}
}
