// SPDX-License-Identifier: GPL-2.0
/* The next overflow is there as soon as the handler has returned. */

TEST_F(ebb, a_branch_comes_back)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(fd), PERIOD);
	if (self->exact)
		EXPECT_EQ(branches, inside);
	EXPECT_EQ(RISCV_EBB_ENABLE, ebb_page()->control);
	EXPECT_EQ(0, ebb_page()->status);
	EXPECT_EQ(0, ebb_page()->overflowed);
	EXPECT_EQ(1ULL << ebb_counter(&self->attr), seen);
	if (self->exact)
		EXPECT_EQ(N + PMU_WINDOW_INSNS, pmu_read(fd));
	close(fd);
}

/*
 * A branch less than 50 us after the return before it makes the least period longer: 1, 1, 1,
 * 3, 7 and so on to 127 are the first nine, which are 249 instructions; all others are 255.
 */
TEST_F(ebb, a_period_of_one_gets_on)
{
	int fd = open_ebb(&self->attr, 1);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run(fd, pmu_loop, 10000));
	EXPECT_LT(0, branches);
	if (self->exact) {
		EXPECT_EQ(10000 + PMU_WINDOW_INSNS, pmu_read(fd));
		EXPECT_EQ(9 + (pmu_read(fd) - 249) / 255, branches);
	}
	close(fd);
}
