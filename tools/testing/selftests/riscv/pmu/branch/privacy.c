// SPDX-License-Identifier: GPL-2.0
/*
 * An event that excludes the kernel never shows an address of it, while the hart records the
 * kernel's branches for another event.
 */

#define PRIVATE_SAMPLES	10000
/* With the control page fewer than kernel.perf_event_mlock_kb allows to users (129 of 4 KiB). */
#define PRIVATE_PAGES	64
/* If interrupts are late, sample for so many seconds instead of until a number of samples. */
#define PRIVATE_SECONDS	10

/* What a child samples of itself, and leaves for its parent. */
struct private {
	struct perf_event_attr attr;
	bool drop_privilege;
	int err;
	struct seen seen;
	bool broken, active;
};

/* Returns 0, or -errno. */
static int sample_private(struct private *private)
{
	double end = now() + PRIVATE_SECONDS;
	bool exact = pmu_is_exact();
	struct pmu_ring ring;
	int fd, err;

	if (private->drop_privilege && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		return -errno;
	err = pmu_mapped_open(&private->attr, PRIVATE_PAGES, &ring, &fd);
	while (!err && private->seen.samples < PRIVATE_SAMPLES && (exact || now() < end)) {
		err = pmu_run(fd, 0, pmu_syscall_loop, 5000);
		pmu_ring_records(&ring, &private->attr, count_user_records, &private->seen);
		private->broken |= ring.broken;
	}
	private->active = was_always_active(fd);
	return err;
}

static void body_sample_private(struct private *private)
{
	private->err = sample_private(private);
	_exit(!!private->err);
}

/* A child that samples itself, from SIGCONT on. */
static pid_t spawn_private(struct private *private)
{
	pid_t pid = spawn();

	if (!pid) {
		raise(SIGSTOP);
		body_sample_private(private);
	}
	return pid > 0 && wait_stopped(pid) ? pid : -1;
}

/* The child samples its user mode while this task samples the kernel in it. */
static void sample_beside_kernel(struct __test_metadata *_metadata, FIXTURE_DATA(branch) *self,
				 struct private *private, struct seen *kernel)
{
	pid_t pid = spawn_private(private);

	ASSERT_LT(0, pid);
	self->attr = attr_of_kernel(self);
	self->fd = pmu_open_on(&self->attr, pid, -1, -1);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, pmu_ring_map(&self->ring, self->fd));
	ASSERT_EQ(0, ioctl(self->fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(0, kill(pid, SIGCONT));
	EXPECT_TRUE(wait_ended(pid));
	pmu_ring_records(&self->ring, &self->attr, count_records, kernel);
}

#define EXPECT_PRIVATE(private, beside)						\
do {										\
	EXPECT_EQ(0, (private)->err);						\
	EXPECT_FALSE((private)->broken);					\
	EXPECT_LE(self->exact ? PRIVATE_SAMPLES : 1, (private)->seen.samples);	\
	EXPECT_LT(0, (private)->seen.user);					\
	EXPECT_EQ(0, (private)->seen.kernel);					\
	/* Otherwise, this test could not fail. */				\
	EXPECT_LT(0, (beside)->kernel);						\
	EXPECT_TRUE((private)->active);						\
	EXPECT_TRUE(was_always_active(self->fd));				\
} while (0)

static struct private *new_private(const struct perf_event_attr *attr)
{
	struct private *private = share_memory(sizeof(*private));

	if (private) {
		private->attr = *attr;
		private->attr.sample_period = 211;
	}
	return private;
}

TEST_F_TIMEOUT(branch, a_user_event_shows_no_address_of_the_kernel, 180)
{
	struct private *private = new_private(&self->attr);
	struct seen kernel = {};

	SKIP_IF_LATE();
	ASSERT_NE(NULL, private);
	sample_beside_kernel(_metadata, self, private, &kernel);
	EXPECT_PRIVATE(private, &kernel);
}

TEST_F_TIMEOUT(branch, a_user_without_privilege_sees_no_address_of_the_kernel, 180)
{
	struct private *private = new_private(&self->attr);
	struct seen kernel = {};

	SKIP_IF_LATE();
	ASSERT_NE(NULL, private);
	ASSERT_TRUE(pmu_write_number(PARANOID, 2));
	private->drop_privilege = true;
	sample_beside_kernel(_metadata, self, private, &kernel);
	EXPECT_PRIVATE(private, &kernel);
}

/* The core adds the levels of the event, which excludes the kernel. */
TEST_F_TIMEOUT(branch, a_user_without_privilege_may_leave_out_the_level, 180)
{
	struct private *private = new_private(&self->attr);
	struct seen kernel = {};

	SKIP_IF_LATE();
	ASSERT_NE(NULL, private);
	ASSERT_TRUE(pmu_write_number(PARANOID, 2));
	private->drop_privilege = true;
	private->attr.branch_sample_type = B_ANY;
	private->seen.samples = PRIVATE_SAMPLES - 100;
	sample_beside_kernel(_metadata, self, private, &kernel);
	EXPECT_PRIVATE(private, &kernel);
}
