// SPDX-License-Identifier: GPL-2.0
/* Signals and branches do not disturb each other. */

static volatile long signals;

static void on_signal(int sig)
{
	signals++;
}

static void on_raise(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	raise(SIGUSR1);
}

static void handle(int sig, int flags)
{
	const struct sigaction act = { .sa_handler = on_signal, .sa_flags = flags };

	sigaction(sig, &act, NULL);
	signals = 0;
}

TEST_F(ebb, a_signal_in_a_handler)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	handle(SIGUSR1, 0);
	ebb_handler(on_raise, NULL);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(fd), PERIOD);
	EXPECT_EQ(branches, signals);
	close(fd);
}

/* A period so short that a branch waits in most of the calls. */
#define WAKE_US		20000

TEST_F(ebb, an_interrupted_call_is_not_begun_again)
{
	int fd = open_ebb(&self->attr, 1);

	ASSERT_LE(0, fd);
	handle(SIGALRM, 0);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int i = 0; i < 5; i++) {
		const struct itimerval once = { .it_value = { .tv_usec = WAKE_US } };
		long before = signals;

		ASSERT_EQ(0, setitimer(ITIMER_REAL, &once, NULL));
		/* Whose time is over before it sleeps shall not sleep for ever. */
		while (signals == before) {
			struct timespec time = { .tv_nsec = 500 * 1000000 };
			int err = nanosleep(&time, NULL);

			if (signals != before && err)
				ASSERT_EQ(EINTR, errno);
		}
	}
	loop_until_branched();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_LT(0, branches);
	close(fd);
}

TEST_F(ebb, a_call_that_restarts_does)
{
	/* Of a hart that sleeps with a counter close to its end QEMU's clock only creeps. */
	const long wake_us = self->exact ? 1000 : WAKE_US;
	const struct itimerval often = { .it_value = { .tv_usec = wake_us },
					 .it_interval = { .tv_usec = wake_us } };
	const struct itimerval never = { };
	int fd = open_ebb(&self->attr, 100), pipes[2];
	char byte = 0;
	pid_t writer;

	ASSERT_LE(0, fd);
	handle(SIGALRM, SA_RESTART);
	ASSERT_EQ(0, pipe(pipes));
	writer = fork();
	if (!writer) {
		usleep(10 * wake_us);
		_exit(write(pipes[1], &byte, 1) != 1);
	}
	ASSERT_LT(0, writer);
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_EQ(1, read(pipes[0], &byte, 1));
	loop_until_branched();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	setitimer(ITIMER_REAL, &never, NULL);
	EXPECT_LT(0, signals);
	EXPECT_LT(0, branches);
	pmu_kill(writer);
	close(fd);
}

static void on_bus(int sig)
{
	signals++;
	ebb_handler(on_branch, NULL);
}

/* Who mends it goes on: nothing was lost. */
TEST_F(ebb, a_misaligned_handler_can_be_mended)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	signal(SIGBUS, on_bus);
	signals = 0;
	ASSERT_EQ(0, register_at((uintptr_t)ebb_entry | 1));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	EXPECT_EQ(1, signals);
	EXPECT_LT(0, branches);
	signal(SIGBUS, SIG_DFL);
	close(fd);
}

/* ERESTARTSYS and others of its kind, which are for the kernel to know. */
#define FIRST_RESTART	512
#define LAST_RESTART	516

/* A signal while a handler returns finds no system call whose result tells to restart it. */
TEST_F(ebb, a_return_is_no_call_to_restart)
{
	/* Without -icount a signal may take QEMU longer than that. */
	const long often_us = self->exact ? 20 : WAKE_US;
	const struct itimerval often = { .it_value = { .tv_usec = often_us },
					 .it_interval = { .tv_usec = often_us } };
	const struct itimerval never = { };
	int fd = open_ebb(&self->attr, 300), turns = self->exact ? 100 : 4;
	long wrong = 0;

	ASSERT_LE(0, fd);
	handle(SIGALRM, SA_RESTART);
	ASSERT_EQ(0, register_at((uintptr_t)pmu_say_handler));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	for (int turn = 0; turn < turns; turn++) {
		for (long nr = FIRST_RESTART; nr <= LAST_RESTART; nr++)
			wrong += pmu_wait_said(-nr) != -nr;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(0, wrong);
	if (self->exact)
		EXPECT_LT(0, signals);
	close(fd);
}
