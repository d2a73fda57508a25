// SPDX-License-Identifier: GPL-2.0
/* What a branch costs, there and back, of what a signal for the same overflow does. */

#define COST_PERIOD	10000
#define COST_TIMES	1000
#define COST_RUNS	5
/* More than the kernel puts into one page. */
#define COST_PENDING	60

static volatile long calls;
/* Of the event, for handlers. */
static int cost_fd;
static unsigned int cost_counter;

static void on_empty_branch(volatile struct riscv_ebb_page *page, void *arg)
{
	calls++;
}

static void ebb_set_period(volatile struct riscv_ebb_page *page, void *arg)
{
	calls++;
	page->period[cost_counter] = COST_PERIOD;
}

static void on_empty_signal(int sig)
{
	calls++;
}

static void sigtrap_set_period(int sig)
{
	uint64_t period = COST_PERIOD;

	calls++;
	ioctl(cost_fd, PERF_EVENT_IOC_PERIOD, &period);
}

/* As in a handler of a branch, the event does not count what is between. */
static void sigtrap_stop_event(int sig)
{
	ioctl(cost_fd, PERF_EVENT_IOC_DISABLE, 0);
	calls++;
	ioctl(cost_fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* Once, in ns, which under -icount are instructions; in @calls the handler's calls. */
static long time_of_loop_once(int fd)
{
	struct timespec begin, end;

	calls = 0;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pmu_loop(COST_TIMES * COST_PERIOD);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	return (end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
}

/* The shortest of some: what else the kernel has to do after a boot is not the handler's. */
static long time_of_loop(int fd)
{
	long best = LONG_MAX;

	/* The first run faults all in. */
	pmu_run(fd, 0, pmu_loop, 10 * COST_PERIOD);
	for (int i = 0; i < COST_RUNS; i++) {
		long took = time_of_loop_once(fd);

		best = took < best ? took : best;
	}
	return best;
}

static long cost_of_branch(struct perf_event_attr attr, long plain, ebb_handler_fn *handler)
{
	int fd = open_ebb(&attr, COST_PERIOD);
	long took;

	if (fd < 0)
		return -1;
	cost_counter = ebb_counter(&attr);
	ebb_handler(handler, NULL);
	took = time_of_loop(fd);
	close(fd);
	return calls ? (took - plain) / calls : -1;
}

static long cost_of_sigio(struct perf_event_attr attr, long plain)
{
	struct pmu_ring ring = { };
	long took;
	int fd;

	attr.sample_period = COST_PERIOD;
	attr.wakeup_events = 1;
	fd = pmu_open(&attr);
	if (fd < 0 || pmu_ring_map(&ring, fd) < 0)
		return -1;
	signal(SIGIO, on_empty_signal);
	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_SETFL, O_ASYNC);
	took = time_of_loop(fd);
	signal(SIGIO, SIG_DFL);
	pmu_ring_unmap(&ring);
	close(fd);
	return calls ? (took - plain) / calls : -1;
}

static long cost_of_sigtrap(struct perf_event_attr attr, long plain, void (*handler)(int))
{
	long took;
	int fd;

	attr.sample_period = COST_PERIOD;
	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	fd = pmu_open(&attr);
	if (fd < 0)
		return -1;
	cost_fd = fd;
	signal(SIGTRAP, handler);
	took = time_of_loop(fd);
	signal(SIGTRAP, SIG_DFL);
	close(fd);
	return calls ? (took - plain) / calls : -1;
}

/*
 * The kernel allocates an object for each signal. If no other one is in use, an allocator that
 * keeps no empty pages (CONFIG_SLUB_TINY) gets a page for the object and frees it again, each
 * time: a signal then costs 1800 instructions more. Blocked signals keep their objects.
 */
static void keep_signals_pending(sigset_t *old)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &blocked, old);
	for (int i = 0; i < COST_PENDING; i++)
		sigqueue(getpid(), SIGRTMIN, (union sigval) { });
}

static void drop_pending_signals(const sigset_t *old)
{
	signal(SIGRTMIN, SIG_IGN);
	sigprocmask(SIG_SETMASK, old, NULL);
	signal(SIGRTMIN, SIG_DFL);
}

/* Returns why the costs cannot be measured, or NULL if they can. */
static const char *reason_not_to_measure(bool exact)
{
	if (!exact)
		return "costs are instructions under -icount only";
	return geteuid() ? "needs root, to lift the limits of the sample rate" : NULL;
}

/* Returns what the loop costs without an event. */
static long begin_costs(struct pmu_limits *limits, sigset_t *old)
{
	pmu_limits_save(limits);
	keep_signals_pending(old);
	return time_of_loop(-1);
}

static void end_costs(const struct pmu_limits *limits, const sigset_t *old)
{
	drop_pending_signals(old);
	pmu_limits_restore(limits);
}

/*
 * With NMIs a branch and a signal both cost the firmware's delivery, and the branch another trap,
 * because it is taken on a return from the kernel: then it costs at most a half.
 */
TEST_F(ebb, a_branch_costs_two_fifths_of_a_signal)
{
	sigset_t old;
	long branch, sigio, sigtrap, plain;
	struct pmu_limits limits;

	if (reason_not_to_measure(self->exact))
		SKIP(return, "%s", reason_not_to_measure(self->exact));

	plain = begin_costs(&limits, &old);
	branch = cost_of_branch(self->attr, plain, on_empty_branch);
	sigio = cost_of_sigio(self->attr, plain);
	sigtrap = cost_of_sigtrap(self->attr, plain, on_empty_signal);
	end_costs(&limits, &old);
	TH_LOG("instructions: a branch %ld, SIGIO %ld, SIGTRAP %ld", branch, sigio, sigtrap);
	ASSERT_LT(0, branch);
	ASSERT_LT(0, sigtrap);
	EXPECT_LE(5 * branch, pmu_samples_by_nmi() ? 5 * sigio / 2 : 2 * sigio);
	EXPECT_LE(5 * branch, 3 * sigtrap);
}

/*
 * A handler of a branch sets the next period in its page, and runs while the event is stopped. A
 * handler of a signal needs system calls for both.
 */
TEST_F(ebb, an_ebb_that_sets_its_period_costs_at_most_two_fifths_of_a_sigtrap)
{
	sigset_t old;
	long branch, period, pause, plain;
	struct pmu_limits limits;

	if (reason_not_to_measure(self->exact))
		SKIP(return, "%s", reason_not_to_measure(self->exact));

	plain = begin_costs(&limits, &old);
	branch = cost_of_branch(self->attr, plain, ebb_set_period);
	period = cost_of_sigtrap(self->attr, plain, sigtrap_set_period);
	pause = cost_of_sigtrap(self->attr, plain, sigtrap_stop_event);
	end_costs(&limits, &old);
	TH_LOG("instructions: with a period, a branch %ld, SIGTRAP %ld; SIGTRAP with a pause %ld",
	       branch, period, pause);
	ASSERT_LT(0, branch);
	ASSERT_LT(0, pause);
	/* As above: with NMIs, an EBB takes another trap. */
	EXPECT_LE(5 * branch, pmu_samples_by_nmi() ? 5 * period / 2 : 2 * period);
	EXPECT_LE(branch, pmu_samples_by_nmi() ? 2 * pause / 5 : pause / 3);
}
