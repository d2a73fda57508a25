// SPDX-License-Identifier: GPL-2.0
/* What an event must have, and must not have. */

static struct perf_event_attr allowed(struct perf_event_attr attr)
{
	int fd = ebb_open(&attr, -1);

	close(fd);
	return attr;
}

TEST_F(ebb, what_is_not_allowed_is_einval)
{
	const struct perf_event_attr good = allowed(self->attr);
	struct perf_event_attr attr;

#define REFUSED(change)					\
do {							\
	attr = good;					\
	attr.change;					\
	EXPECT_EQ(-EINVAL, pmu_try(&attr)) {		\
		TH_LOG(#change);			\
	}						\
} while (0)

	ASSERT_EQ(0, pmu_try(&good));
	REFUSED(pinned = 0);
	REFUSED(exclusive = 0);
	REFUSED(exclude_kernel = 0);
	REFUSED(exclude_hv = 0);
	REFUSED(config2 = 0);
	REFUSED(config2 |= 1);
	REFUSED(inherit = 1);
	REFUSED(sample_period = 1000);
	REFUSED(enable_on_exec = 1);
	REFUSED(config1 |= 1);
	attr = good;
	attr.freq = 1;
	attr.sample_freq = 1000;
	EXPECT_EQ(-EINVAL, pmu_try(&attr));
	/* For a task, not for a CPU. */
	EXPECT_EQ(-EINVAL, pmu_open_on(&good, -1, 0, -1));
}

TEST_F(ebb, all_of_a_group_branch_or_none)
{
	struct perf_event_attr ebb = allowed(self->attr), plain = self->attr;
	struct perf_event_attr sibling = pmu_attr_user(PERF_TYPE_HARDWARE,
						       PERF_COUNT_HW_CPU_CYCLES);
	int leader = pmu_open(&ebb), fd;

	ASSERT_LE(0, leader);
	plain.disabled = 0;
	EXPECT_EQ(-EINVAL, pmu_open_on(&plain, 0, -1, leader));
	/* A sibling follows its leader: it needs to be neither pinned nor exclusive. */
	fd = ebb_open(&sibling, leader);
	EXPECT_LE(0, fd);
	EXPECT_EQ(0, (int)sibling.pinned);
	close(fd);
	close(leader);

	plain.disabled = 1;
	leader = pmu_open(&plain);
	ASSERT_LE(0, leader);
	EXPECT_EQ(-EINVAL, pmu_open_on(&sibling, 0, -1, leader));
	close(leader);
}

TEST_F(ebb, a_counter_that_there_is_not_is_refused)
{
	self->attr = allowed(self->attr);
	self->attr.config2 = 1ULL << 31;
	EXPECT_GT(0, pmu_try(&self->attr));
	self->attr.config2 = 1ULL << 1;
	EXPECT_GT(0, pmu_try(&self->attr));
}

TEST_F(ebb, a_page_is_mapped_shared_and_once)
{
	int dev = open("/dev/riscv_ebb", O_RDWR | O_CLOEXEC);
	long size = sysconf(_SC_PAGESIZE);

	ASSERT_LE(0, dev);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_SHARED, dev, 0));
	EXPECT_EQ(EBUSY, errno);
	ebb_close();
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_PRIVATE, dev, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * size, PROT_READ, MAP_SHARED, dev, 0));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_SHARED, dev, size));
	EXPECT_EQ(EINVAL, errno);
	close(dev);
}
