// SPDX-License-Identifier: GPL-2.0
/* Cycles, as instructions. */

TEST_F(ebb, cycles)
{
	struct perf_event_attr attr = pmu_attr_user(PERF_TYPE_HARDWARE,
						    PERF_COUNT_HW_CPU_CYCLES);
	int fd = open_ebb(&attr, PERIOD);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(fd), PERIOD);
	if (self->exact)
		EXPECT_EQ(branches, inside);
	close(fd);
}
