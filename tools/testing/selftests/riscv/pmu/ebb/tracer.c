// SPDX-License-Identifier: GPL-2.0
/* A debugger sees the task wherever it is, and changes nothing by that. */

#define TRACED_STOPS	100

/* In memory that the tracer shares. */
static volatile long *handling;

static void on_traced(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	*handling = 1;
	pmu_loop(PERIOD);
	*handling = 0;
}

/* Exits with 0 if it has counted and branched as it would without a tracer. */
static void run_traced(const struct perf_event_attr *attr, long n, int go)
{
	struct perf_event_attr mine = *attr;
	int64_t count, periods;
	char byte;
	int fd;

	forget_page();
	fd = open_ebb(&mine, PERIOD);
	if (fd < 0 || read(go, &byte, 1) != 1)
		_exit(2);
	ebb_handler(on_traced, NULL);
	if (run(fd, pmu_loop, n))
		_exit(3);

	count = pmu_read(fd);
	periods = count / PERIOD;
	if (pmu_is_exact() && count != n + PMU_WINDOW_INSNS)
		_exit(4);
	_exit(branches > periods || branches < (pmu_is_exact() ? periods - 1 : 1));
}

/* It begins to count when it is traced; its first stop is near. */
static pid_t spawn_traced(const struct perf_event_attr *attr, long n)
{
	char byte = 0;
	int go[2];
	pid_t pid;

	if (pipe(go))
		return -1;
	pid = fork();
	if (!pid)
		run_traced(attr, n, go[0]);
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD) ||
	    ptrace(PTRACE_INTERRUPT, pid, 0, 0) || write(go[1], &byte, 1) != 1)
		return -1;

	return pid;
}

static int transfer_regs(enum __ptrace_request request, pid_t pid, struct user_regs_struct *regs)
{
	struct iovec vec = { .iov_base = regs, .iov_len = sizeof(*regs) };

	return ptrace(request, pid, NT_PRSTATUS, &vec);
}

FIXTURE(tracer) {
	struct perf_event_attr attr;
	long syscalls, returns, in_handler;
	int status;
};

FIXTURE_SETUP(tracer)
{
	if (access("/dev/riscv_ebb", R_OK | W_OK))
		SKIP(return, "no /dev/riscv_ebb: no overflow interrupt");
	self->attr = instructions();
	handling = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	ASSERT_NE(MAP_FAILED, handling);
}

FIXTURE_TEARDOWN(tracer)
{
}

/* Otherwise each branch would be two stops. */
TEST_F(tracer, sees_no_return_among_the_system_calls)
{
	struct user_regs_struct regs;
	pid_t pid = spawn_traced(&self->attr, N);
	int signal;

	ASSERT_LT(0, pid);
	while (waitpid(pid, &self->status, 0) == pid && WIFSTOPPED(self->status)) {
		signal = WSTOPSIG(self->status);
		if (signal == (SIGTRAP | 0x80)) {
			ASSERT_EQ(0, transfer_regs(PTRACE_GETREGSET, pid, &regs));
			self->syscalls++;
			self->returns += (long)regs.a7 == RISCV_EBB_RETURN;
		}
		ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, pid, 0, 0));
	}
	EXPECT_EQ(0, self->status);
	EXPECT_LT(0, self->syscalls);
	EXPECT_EQ(0, self->returns);
}

/* Here and there, in the handler too; what it has read it may write. */
TEST_F(tracer, may_stop_a_handler)
{
	struct user_regs_struct regs;
	/* A fifth of a second, or what has fewer branches and no certain speed. */
	pid_t pid = spawn_traced(&self->attr, pmu_is_exact() ? 10 * N : 50 * N);
	int stops = 0;

	ASSERT_LT(0, pid);
	while (waitpid(pid, &self->status, 0) == pid && WIFSTOPPED(self->status)) {
		ASSERT_EQ(0, transfer_regs(PTRACE_GETREGSET, pid, &regs));
		self->in_handler += *handling;
		ASSERT_EQ(0, transfer_regs(PTRACE_SETREGSET, pid, &regs));
		ASSERT_EQ(0, ptrace(PTRACE_CONT, pid, 0, 0));
		if (stops++ < TRACED_STOPS) {
			/* Not in step with the period. */
			usleep(100 + 17 * stops);
			ptrace(PTRACE_INTERRUPT, pid, 0, 0);
		}
	}
	EXPECT_EQ(0, self->status);
	EXPECT_LT(TRACED_STOPS / 2, stops);
	if (pmu_is_exact())
		EXPECT_LT(0, self->in_handler);
}
