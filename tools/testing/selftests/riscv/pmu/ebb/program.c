// SPDX-License-Identifier: GPL-2.0
/* What the library leaves as it was in the program that uses it, and which mistakes it refuses. */

/* Returns how many lines of a file of this process have the device's name. */
static int count_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[4096];
	int n = 0;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		n += !!strstr(line, "riscv_ebb");
	fclose(file);
	return n;
}

static void *open_and_exit(void *arg)
{
	struct perf_event_attr attr = instructions();
	int fd = open_ebb(&attr, PERIOD);

	if (fd >= 0) {
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		close(fd);
	}
	return ebb_page() ? arg : NULL;
}

/* The page of a thread, and the descriptor of the device, go with the thread. */
TEST_F(ebb, pages_of_threads_that_exit_are_unmapped)
{
	int mapped = count_lines("/proc/self/maps"), first = dup(0), last;
	pthread_t id;
	void *result;

	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(0, pthread_create(&id, NULL, open_and_exit, self));
		ASSERT_EQ(0, pthread_join(id, &result));
		ASSERT_EQ((void *)self, result);
	}
	EXPECT_EQ(mapped, count_lines("/proc/self/maps"));
	/* Descriptors are numbered from the least free one on. */
	last = dup(0);
	EXPECT_EQ(first + 1, last);
	close(first);
	close(last);
}

static void on_error(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	close(-1);
}

TEST_F(ebb, errno_is_kept)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_error, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	errno = E2BIG;
	loop_until_branched();
	EXPECT_EQ(E2BIG, errno);
	EXPECT_LT(0, branches);
	close(fd);
}

/* --- backtraces --- */

static struct {
	uintptr_t frame[16];
	int nr;
	uintptr_t pc;		/* of the interrupted instruction */
	void *caller;		/* the return address of the interrupted function */
} trace;

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *arg)
{
	int before;

	if (trace.nr == 16)
		return _URC_END_OF_STACK;
	trace.frame[trace.nr++] = _Unwind_GetIPInfo(context, &before);
	return _URC_NO_REASON;
}

/* The size of spin() at most: without -icount the overflow may be late and come outside it. */
#define SPIN_SIZE	64

static void spin(long n);

static void on_trace(volatile struct riscv_ebb_page *page, void *arg)
{
	if (!trace.caller || page->pc - (uintptr_t)spin >= SPIN_SIZE)
		return;

	branches++;
	trace.nr = 0;
	trace.pc = page->pc;
	_Unwind_Backtrace(note_frame, NULL);
	ebb_disable();
}

/* A function that calls none: its return address is in ra only. */
static void __attribute__((noipa)) spin(long n)
{
	trace.caller = __builtin_return_address(0);
	__asm__ volatile("1: addi %0, %0, -2\n\tbgtz %0, 1b" : "+r"(n));
}

static void __attribute__((noipa)) call_spin(void)
{
	for (int turn = 0; turn < 500 && !branches; turn++)
		spin(N / 10);
}

TEST_F(ebb, backtraces_show_the_interrupted_code_and_its_callers)
{
	int fd = open_ebb(&self->attr, PERIOD), i = 0;

	ASSERT_LE(0, fd);
	ebb_handler(on_trace, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	call_spin();
	ASSERT_LT(0, branches);
	while (i < trace.nr && trace.frame[i] != trace.pc)
		i++;
	/* At least the handler, ebb_dispatch() and the entry are before it. */
	EXPECT_LE(3, i);
	ASSERT_GT(trace.nr, i + 2);
	EXPECT_EQ((uintptr_t)trace.caller, trace.frame[i + 1]);
	close(fd);
}

/* --- mistakes --- */

static unsigned int counter_of(uint64_t mask)
{
	const struct perf_event_attr attr = { .config2 = mask };

	errno = 0;
	return ebb_counter(&attr);
}

TEST_F(ebb, counters_that_do_not_exist_are_refused)
{
	EXPECT_EQ(31, counter_of(1U << 31));
	EXPECT_EQ(0, errno);
	EXPECT_EQ(UINT_MAX, counter_of(0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(UINT_MAX, counter_of(0x18));
	EXPECT_EQ(UINT_MAX, counter_of(1ULL << 32));

	/* The page's next field after the last period is nr_branches. */
	EXPECT_EQ(-1, ebb_period(32, 77));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, ebb_page()->nr_branches);
	EXPECT_EQ(-1, ebb_period(UINT_MAX, 77));
	EXPECT_EQ(0, ebb_period(31, 77));
	EXPECT_EQ(77, ebb_page()->period[31]);
}

static bool fails_with_enxio(int result)
{
	bool failed = result == -1 && errno == ENXIO;

	errno = 0;
	return failed;
}

static void *call_without_page(void *arg)
{
	struct perf_branch_entry entry;
	bool ok = fails_with_enxio(ebb_period(3, 77)) && fails_with_enxio(ebb_enable()) &&
		  fails_with_enxio(ebb_handler(NULL, NULL)) && fails_with_enxio(ebb_abandon()) &&
		  !ebb_branches(&entry, 1);

	ebb_disable();
	ebb_close();
	return ok ? arg : NULL;
}

TEST_F(ebb, functions_fail_without_a_page)
{
	pthread_t id;
	void *result;

	ASSERT_EQ(0, pthread_create(&id, NULL, call_without_page, self));
	ASSERT_EQ(0, pthread_join(id, &result));
	EXPECT_EQ((void *)self, result);
}

static bool refused;

static void close_and_enable(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	ebb_close();
	refused = fails_with_enxio(ebb_enable()) && fails_with_enxio(ebb_period(3, 77)) &&
		  fails_with_enxio(ebb_handler(close_and_enable, NULL));
}

TEST_F(ebb, a_page_closed_in_a_handler_can_not_be_enabled_again)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	refused = false;
	ebb_handler(close_and_enable, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	EXPECT_EQ(1, branches);
	EXPECT_TRUE(refused);

	EXPECT_TRUE(fails_with_enxio(ebb_enable()));
	EXPECT_TRUE(fails_with_enxio(ebb_handler(close_and_enable, NULL)));
	EXPECT_TRUE(fails_with_enxio(ebb_period(3, 77)));
	pmu_loop(N);
	EXPECT_EQ(1, branches);
	close(fd);

	/* The next page can be enabled. */
	fd = open_ebb(&self->attr, PERIOD);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	loop_until_branched();
	EXPECT_LT(0, branches);
	close(fd);
}
