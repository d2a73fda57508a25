// SPDX-License-Identifier: GPL-2.0
/* How a handler is registered, and what else the device takes; and what it refuses. */

/* What ioctl() says of it: 0 or -errno. */
static int control(unsigned long cmd, const void *arg)
{
	int dev = open("/dev/riscv_ebb", O_RDWR | O_CLOEXEC);
	int err = ioctl(dev, cmd, arg) ? -errno : 0;

	close(dev);
	return err;
}

/* A structure of a later version: this one's, and more. */
struct longer {
	struct riscv_ebb_register now;
	uint64_t more;
};

static const struct longer good = {
	.now = { .size = sizeof(good.now), .version = RISCV_EBB_VERSION },
};

TEST_F(ebb, a_structure_that_is_not_understood_is_refused)
{
	struct longer reg;

#define EXPECT_REGISTER(err, change)					\
do {									\
	reg = good;							\
	change;								\
	EXPECT_EQ(err, control(RISCV_EBB_IOC_REGISTER, &reg)) {		\
		TH_LOG(#change);					\
	}								\
} while (0)

	EXPECT_REGISTER(0, reg.now.handler = 0);
	EXPECT_REGISTER(-EINVAL, reg.now.size = 0);
	EXPECT_REGISTER(-EINVAL, reg.now.size = sizeof(reg.now) - 1);
	EXPECT_REGISTER(0, reg.now.size = sizeof(reg));
	EXPECT_REGISTER(-E2BIG, reg.now.size = sizeof(reg); reg.more = 1);
	EXPECT_REGISTER(-E2BIG, reg.now.size = sizeof(reg); reg.more = 1ULL << 63);
	EXPECT_REGISTER(-E2BIG, reg.now.size = -1);
	EXPECT_REGISTER(-EINVAL, reg.now.version = 0);
	EXPECT_REGISTER(-EINVAL, reg.now.version = RISCV_EBB_VERSION - 1);
	EXPECT_REGISTER(-EINVAL, reg.now.version = RISCV_EBB_VERSION + 1);
	EXPECT_REGISTER(-EINVAL, reg.now.flags = 1);
	EXPECT_REGISTER(-EINVAL, reg.now.flags = 1ULL << 63);
	EXPECT_EQ(-EFAULT, control(RISCV_EBB_IOC_REGISTER, NULL));
	EXPECT_EQ(-EFAULT, control(RISCV_EBB_IOC_REGISTER, (void *)-16));
}

/* What is refused changes nothing: the handler is the one before. */
TEST_F(ebb, a_refusal_keeps_the_handler)
{
	struct riscv_ebb_register reg = good.now;
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	reg.flags = 1;
	EXPECT_EQ(-EINVAL, control(RISCV_EBB_IOC_REGISTER, &reg));
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_LT(0, branches);
	close(fd);
}

TEST_F(ebb, the_page_says_its_version_and_size)
{
	EXPECT_EQ(RISCV_EBB_VERSION, ebb_page()->version);
	EXPECT_EQ(sizeof(struct riscv_ebb_page), ebb_page()->size);
}

TEST_F(ebb, an_unknown_ioctl_is_refused)
{
	EXPECT_EQ(-ENOTTY, control(_IO(0xEB, 3), NULL));
	EXPECT_EQ(-EINVAL, control(RISCV_EBB_IOC_ENABLE, self));
	EXPECT_EQ(-EINVAL, control(RISCV_EBB_IOC_ABANDON, self));
	/* No branch is under way. */
	EXPECT_EQ(-EINVAL, control(RISCV_EBB_IOC_ABANDON, NULL));
	EXPECT_EQ(0, control(RISCV_EBB_IOC_ENABLE, NULL));
}

/* A child has the descriptor, if it wants, but no page. */
static void run_without_page(const struct perf_event_attr *attr)
{
	_exit(control(RISCV_EBB_IOC_REGISTER, &good) != -ENXIO ||
	      control(RISCV_EBB_IOC_ENABLE, NULL) != -ENXIO ||
	      control(RISCV_EBB_IOC_ABANDON, NULL) != -ENXIO);
}

TEST_F(ebb, registering_without_a_page_is_enxio)
{
	EXPECT_EQ(0, child_status(run_without_page, &self->attr));
	ebb_close();
	EXPECT_EQ(-ENXIO, control(RISCV_EBB_IOC_REGISTER, &good));
}

static volatile int enabled_inside;

static void on_enable_call(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	enabled_inside = control(RISCV_EBB_IOC_ENABLE, NULL);
}

/* There is one branch at a time, and its return is not to be lost. */
TEST_F(ebb, enabling_in_a_handler_is_ebusy)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_enable_call, NULL);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(fd), PERIOD);
	EXPECT_EQ(-EBUSY, enabled_inside);
	close(fd);
}

static sigjmp_buf back;
/* There is somewhere to go: not while sigsetjmp() is at work. */
static volatile bool may_leave;

static void on_leave(volatile struct riscv_ebb_page *page, void *arg)
{
	branches++;
	if (!may_leave)
		return;
	may_leave = false;
	siglongjmp(back, 1);
}

/* Returns whether a handler was left. */
static bool leave_a_handler(void)
{
	if (sigsetjmp(back, 0))
		return true;
	may_leave = true;
	for (int turn = 0; turn < 500 && may_leave; turn++)
		pmu_loop(N / 10);
	return false;
}

/* There is nothing to return from any more, and the next branch is as the first. */
TEST_F(ebb, abandon_ends_a_handler_left_by_siglongjmp)
{
	int fd = open_ebb(&self->attr, PERIOD);
	volatile long left = 0;

	ASSERT_LE(0, fd);
	ebb_handler(on_leave, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	while (left < 5) {
		if (!sigsetjmp(back, 0)) {
			may_leave = true;
			for (int turn = 0; turn < 500 && may_leave; turn++)
				pmu_loop(N / 10);
			break;
		}
		left++;
		EXPECT_EQ(-EBUSY, control(RISCV_EBB_IOC_ENABLE, NULL));
		EXPECT_EQ(0, ebb_abandon());
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	EXPECT_EQ(5, left);
	EXPECT_EQ(-EINVAL, control(RISCV_EBB_IOC_ABANDON, NULL));
	close(fd);
}

/* Without ebb_abandon(), the library is not to take the program for the handler. */
TEST_F(ebb, the_library_notices_a_handler_left_by_siglongjmp)
{
	int fd = open_ebb(&self->attr, PERIOD);

	ASSERT_LE(0, fd);
	ebb_handler(on_leave, NULL);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_TRUE(leave_a_handler());
	EXPECT_EQ(-1, ebb_enable());
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(0, ebb_abandon());
	EXPECT_EQ(0, ebb_enable());

	ASSERT_TRUE(leave_a_handler());
	ebb_close();
	close(fd);
	/* The page was unmapped, so there is another. */
	fd = open_ebb(&self->attr, PERIOD);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, run(fd, pmu_loop, N));
	EXPECT_BRANCHES(pmu_read(fd), PERIOD);
	close(fd);
}
