// SPDX-License-Identifier: GPL-2.0
/* What was interrupted has all its registers afterwards (lib/ebb.S). */

static void on_floats(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	pmu_spoil_floats();
}

static void on_vectors(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	pmu_spoil_vectors();
}

/* How many registers a handler has changed; -1 if none was called. */
static long changed_by(struct perf_event_attr attr, ebb_handler_fn *handler, long (*keep)(long n))
{
	int fd = open_ebb(&attr, 1000);
	long changed = 0;

	if (fd < 0)
		return -1;
	ebb_handler(handler, NULL);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	/* See loop_until_branched(). */
	for (int turn = 0; turn < 500 && branches < 2; turn++)
		changed += keep(10000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	close(fd);
	return branches ? changed : -1;
}

TEST_F(ebb, integers_are_kept)
{
	EXPECT_EQ(0, changed_by(self->attr, on_branch, pmu_keep_ints));
}

TEST_F(ebb, floats_are_kept)
{
	EXPECT_EQ(0, changed_by(self->attr, on_floats, pmu_keep_floats));
}

TEST_F(ebb, vectors_are_kept)
{
	if (!(getauxval(AT_HWCAP) & 1UL << ('V' - 'A')))
		SKIP(return, "this hart has no vectors");

	EXPECT_EQ(0, changed_by(self->attr, on_vectors, pmu_keep_vectors));
}
