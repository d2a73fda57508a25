// SPDX-License-Identifier: GPL-2.0
/* A restartable sequence that is interrupted by a branch is aborted, as by a signal. */

/* The first fields of struct rseq; the kernel wants it to be 32 bytes. */
struct sequences {
	uint32_t cpu_start;
	uint32_t cpu;
	uint64_t running;
	uint32_t flags;
	uint32_t unused[3];
};

/* Those that the C library has registered, or our own. */
static volatile struct sequences *find_sequences(void)
{
	static struct sequences ours[2];
	uintptr_t at = ((uintptr_t)ours + sizeof(*ours) - 1) & -sizeof(*ours);

	if (&__rseq_size && __rseq_size)
		return (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	/* It has to be aligned as it is long. */
	return syscall(__NR_rseq, at, sizeof(*ours), 0, PMU_SEQUENCE_SIG) ? NULL : (void *)at;
}

static volatile long within, aborted;

static void on_sequence(volatile struct riscv_ebb_page *page, void *arg)
{
	const char *pc = (const char *)page->pc;

	branches++;
	within += pc >= pmu_sequence_begin && pc < pmu_sequence_end;
	aborted += pc == pmu_sequence_abort;
}

TEST_F(ebb, a_restartable_sequence_is_aborted)
{
	volatile struct sequences *sequences = find_sequences();
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	if (!sequences)
		SKIP(close(fd); return, "this kernel has no restartable sequences");

	within = 0;
	aborted = 0;
	ebb_handler(on_sequence, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	for (int turn = 0; turn < 1000 && !aborted; turn++) {
		branches = 0;
		pmu_sequence_loop(sequences, &branches);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(0, within);
	EXPECT_LT(0, aborted);
	close(fd);
}
