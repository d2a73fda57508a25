// SPDX-License-Identifier: GPL-2.0
/* What is counted is what the task has done, its handlers left out: to the instruction. */

TEST_F(ebb, instruction_count)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	if (!self->exact)
		SKIP(close(fd); return, "instructions are counted exactly under -icount only");

	for (long n = 1000; n <= 1000000000; n *= 10) {
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_RESET, 0));
		ASSERT_EQ(0, pmu_run(fd, 0, pmu_loop, n));
		EXPECT_EQ(n + PMU_WINDOW_INSNS, pmu_read(fd));
	}
	close(fd);
}
