// SPDX-License-Identifier: GPL-2.0
/* System calls, around a branch and in a handler. */

/* In the kernel most of the time, so that many branches have to wait. */
TEST_F(ebb, an_overflow_before_a_system_call_branches_after_it)
{
	int fd = open_ebb(&self->attr, 1000);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run(fd, pmu_syscall_loop, self->exact ? 100000 : 10000));
	EXPECT_BRANCHES_ABOUT(pmu_read(fd), 1000);
	close(fd);
}

static void on_yield(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	sched_yield();
}

/* Other tasks run before the handler returns: its events stand all the while. */
TEST_F(ebb, a_handler_may_be_switched_out)
{
	int fd = open_ebb(&self->attr, PERIOD);
	pid_t other;

	ASSERT_LE(0, fd);
	ebb_handler(on_yield, NULL);
	other = pmu_spawn(yield_loop, 1000 * PERIOD);
	ASSERT_LT(0, other);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(fd), PERIOD);
	if (self->exact)
		EXPECT_EQ(N + PMU_WINDOW_INSNS, pmu_read(fd));
	pmu_kill(other);
	close(fd);
}

static int event_fd;

static void on_again(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	ioctl(event_fd, PERF_EVENT_IOC_DISABLE, 0);
	ioctl(event_fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Nor does it count the handler when that switches it off and on. */
TEST_F(ebb, a_handler_may_enable_its_event)
{
	event_fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, event_fd);
	ebb_handler(on_again, NULL);
	ASSERT_EQ(0, run(event_fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(event_fd), PERIOD);
	if (self->exact)
		EXPECT_EQ(N + PMU_WINDOW_INSNS, pmu_read(event_fd));
	close(event_fd);
}

static long ecall(long nr)
{
	register long a7 __asm__("a7") = nr;
	register long a0 __asm__("a0") = 7;

	__asm__ volatile("ecall" : "+r" (a0) : "r" (a7) : "memory");
	return a0;
}

static void run_ecall(const struct perf_event_attr *attr)
{
	forget_page();
	_exit(ecall(RISCV_EBB_RETURN) != -ENOSYS);
}

/* For who has no page it is the number of a system call that there is not. */
TEST_F(ebb, a_return_of_nobody_is_enosys)
{
	EXPECT_EQ(0, child_status(run_ecall, &self->attr));
}

static void run_strict(const struct perf_event_attr *attr)
{
	struct perf_event_attr mine = *attr;
	int fd;

	forget_page();
	fd = open_ebb(&mine, PERIOD);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		syscall(__NR_exit, 2);
	loop_until_branched();
	syscall(__NR_exit, !branches);
}

static void run_strict_ecall(const struct perf_event_attr *attr)
{
	forget_page();
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		syscall(__NR_exit, 2);
	ecall(RISCV_EBB_RETURN);
	syscall(__NR_exit, 0);
}

/* A return is no system call, where there is something to return from. */
TEST_F(ebb, a_handler_returns_whatever_seccomp_allows)
{
	int status;

	if (prctl(PR_GET_SECCOMP) < 0)
		SKIP(return, "this kernel has no seccomp");

	EXPECT_EQ(0, child_status(run_strict, &self->attr));
	status = child_status(run_strict_ecall, &self->attr);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
}
