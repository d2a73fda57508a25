// SPDX-License-Identifier: GPL-2.0
/*
 * No overflow is lost: of a million if the counters are delegated; of a hundred thousand if each
 * EBB calls the firmware, because QEMU takes half a minute for a million; of ten thousand without
 * -icount.
 */

TEST_F_TIMEOUT(ebb, lost_exception, 120)
{
	long times = pmu_is_delegated() ? 1000000 : 100000, period = 500;
	int fd = open_ebb(&self->attr, period);
	int64_t count;

	if (!self->exact)
		times = 10000;
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run(fd, pmu_loop, times * period));
	count = pmu_read(fd);
	TH_LOG("%ld branches, %ld instructions", branches, (long)count);
	if (self->exact) {
		EXPECT_EQ(times * period + PMU_WINDOW_INSNS, count);
		EXPECT_EQ(times, branches);
	}
	EXPECT_BRANCHES(count, period);
	close(fd);
}

/* Nor is one over a switch: others have the hart in between. */
TEST_F(ebb, nothing_is_lost_over_context_switches)
{
	int fd = open_ebb(&self->attr, PERIOD / 10);
	pid_t other;

	ASSERT_LE(0, fd);
	other = pmu_spawn(yield_loop, 1000 * PERIOD);
	ASSERT_LT(0, other);
	ASSERT_EQ(0, run(fd, yield_loop, N));
	EXPECT_BRANCHES_ABOUT(pmu_read(fd), PERIOD / 10);
	pmu_kill(other);
	close(fd);
}

static void hop_loop(long n)
{
	cpu_set_t all, one;
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	for (; n > 0; n -= PERIOD) {
		do
			cpu = (cpu + 1) % CPU_SETSIZE;
		while (!CPU_ISSET(cpu, &all));
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		pmu_loop(PERIOD);
	}
	sched_setaffinity(0, sizeof(all), &all);
}

/* Nor over a move: a branch that waits goes along. */
TEST_F(ebb, nothing_is_lost_over_moves)
{
	int fd = open_ebb(&self->attr, PERIOD / 10);

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(close(fd); return, "needs two CPUs");
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run(fd, hop_loop, N));
	EXPECT_LT(0, branches);
	EXPECT_LE(pmu_least(N), pmu_read(fd));

	ebb_disable();
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	wait_for_pending();
	hop_loop(N);
	EXPECT_EQ(RISCV_EBB_PENDING, ebb_page()->status);
	branches = 0;
	ebb_enable();
	EXPECT_BRANCHED_ONCE();
	close(fd);
}
