// SPDX-License-Identifier: GPL-2.0
/*
 * Which events with branch records open, and the errno of those that do not: EINVAL for a
 * contradiction, EOPNOTSUPP for what this machine does not have. Only the first test is for
 * machines without records.
 */

/* Headers before Linux 6.8 lack PERF_SAMPLE_BRANCH_COUNTERS; the bits after it are undefined. */
#define B_COUNTERS	(B_PRIV_SAVE << 1)
#define B_UNDEFINED	20

static struct perf_event_attr attr_branch(uint64_t branch_sample_type)
{
	struct perf_event_attr attr = pmu_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = branch_sample_type;
	return attr;
}

TEST(without_branch_records_they_are_eopnotsupp)
{
	static const uint64_t bits[] = {
		B_ANY, B_USER | B_ANY, B_USER | B_KERNEL | B_ANY, B_USER | B_CALL_STACK,
		B_USER | B_ANY_CALL | B_ANY_RETURN, B_USER | B_COND | B_TYPE_SAVE | B_HW_INDEX,
	};
	struct perf_event_attr attr;

	if (pmu_caps_number("branches") >= 0)
		SKIP(return, "this machine has branch records (caps/branches)");

	for (size_t i = 0; i < ARRAY_SIZE(bits); i++) {
		attr = attr_branch(bits[i]);
		EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
		attr.sample_period = 0;
		EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
	}
}

enum exclude { NOTHING, EXCLUDE_USER, EXCLUDE_KERNEL, EXCLUDE_HV };

static const struct {
	uint64_t bits;
	enum exclude exclude;
	int err;
} rows[] = {
	/* each type alone, and together */
	{ B_USER | B_ANY, NOTHING, 0 },
	{ B_USER | B_ANY_CALL, NOTHING, 0 },
	{ B_USER | B_ANY_RETURN, NOTHING, 0 },
	{ B_USER | B_IND_CALL, NOTHING, 0 },
	{ B_USER | B_CALL, NOTHING, 0 },
	{ B_USER | B_COND, NOTHING, 0 },
	{ B_USER | B_IND_JUMP, NOTHING, 0 },
	{ B_USER | B_CALL_STACK, NOTHING, 0 },
	{ B_USER | B_ANY | B_ANY_CALL | B_ANY_RETURN | B_IND_CALL | B_CALL | B_COND | B_IND_JUMP,
	  NOTHING, 0 },
	/* what else a record has */
	{ B_USER | B_ANY | B_NO_FLAGS | B_NO_CYCLES, NOTHING, 0 },
	{ B_USER | B_ANY | B_TYPE_SAVE | B_HW_INDEX | B_PRIV_SAVE, NOTHING, 0 },
	{ B_USER | B_CALL_STACK | B_NO_FLAGS | B_NO_CYCLES | B_TYPE_SAVE | B_HW_INDEX | B_PRIV_SAVE,
	  NOTHING, 0 },
	/* levels; without any, the core adds those of the event */
	{ B_KERNEL | B_ANY, NOTHING, 0 },
	{ B_USER | B_KERNEL | B_ANY, NOTHING, 0 },
	{ B_CALL_STACK, NOTHING, 0 },
	{ B_KERNEL | B_CALL_STACK, NOTHING, -EOPNOTSUPP },
	{ B_USER | B_KERNEL | B_CALL_STACK, NOTHING, -EOPNOTSUPP },
	{ B_ANY, NOTHING, 0 },
	{ B_ANY, EXCLUDE_USER, 0 },
	{ B_ANY, EXCLUDE_KERNEL, 0 },
	{ B_ANY, EXCLUDE_HV, 0 },
	{ B_USER | B_KERNEL | B_ANY, EXCLUDE_USER, 0 },
	{ B_USER | B_KERNEL | B_ANY, EXCLUDE_KERNEL, 0 },
	{ B_USER | B_ANY, EXCLUDE_USER, -EINVAL },
	{ B_KERNEL | B_ANY, EXCLUDE_KERNEL, -EINVAL },
	/* no levels but that of the hypervisor, or another set than the core would add */
	{ B_HV | B_ANY, NOTHING, -EOPNOTSUPP },
	{ B_HV | B_ANY, EXCLUDE_HV, -EOPNOTSUPP },
	{ B_USER | B_HV | B_ANY, NOTHING, -EOPNOTSUPP },
	{ B_KERNEL | B_HV | B_ANY, NOTHING, -EOPNOTSUPP },
	{ B_USER | B_KERNEL | B_HV | B_ANY, EXCLUDE_HV, -EOPNOTSUPP },
	/* no transactions, no counters of events in records */
	{ B_USER | B_ANY | PERF_SAMPLE_BRANCH_ABORT_TX, NOTHING, -EOPNOTSUPP },
	{ B_USER | B_ANY | PERF_SAMPLE_BRANCH_IN_TX, NOTHING, -EOPNOTSUPP },
	{ B_USER | B_ANY | PERF_SAMPLE_BRANCH_NO_TX, NOTHING, -EOPNOTSUPP },
	{ B_USER | PERF_SAMPLE_BRANCH_ABORT_TX, NOTHING, -EOPNOTSUPP },
	{ B_USER | B_ANY | B_COUNTERS, NOTHING, -EOPNOTSUPP },
	/* a call stack has no other types */
	{ B_USER | B_CALL_STACK | B_ANY, NOTHING, -EINVAL },
	{ B_USER | B_CALL_STACK | B_ANY_CALL, NOTHING, -EINVAL },
	{ B_USER | B_CALL_STACK | B_ANY_RETURN, NOTHING, -EINVAL },
	{ B_USER | B_CALL_STACK | B_IND_CALL, NOTHING, -EINVAL },
	{ B_USER | B_CALL_STACK | B_CALL, NOTHING, -EINVAL },
	{ B_USER | B_CALL_STACK | B_COND, NOTHING, -EINVAL },
	{ B_USER | B_CALL_STACK | B_IND_JUMP, NOTHING, -EINVAL },
	/* levels without a type */
	{ 0, NOTHING, -EINVAL },
	{ B_USER, NOTHING, -EINVAL },
	{ B_USER | B_KERNEL | B_HV, NOTHING, -EINVAL },
};

TEST_F(branch, each_combination_has_its_errno)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perf_event_attr attr = attr_branch(rows[i].bits);

		attr.exclude_user = rows[i].exclude == EXCLUDE_USER;
		attr.exclude_kernel = rows[i].exclude == EXCLUDE_KERNEL;
		attr.exclude_hv = rows[i].exclude == EXCLUDE_HV;
		EXPECT_EQ(rows[i].err, pmu_try(&attr)) {
			TH_LOG("branch_sample_type %#llx, exclude %d",
			       (unsigned long long)rows[i].bits, rows[i].exclude);
		}
	}
}

TEST_F(branch, undefined_bits_are_einval)
{
	for (unsigned int bit = B_UNDEFINED; bit < 64; bit++) {
		struct perf_event_attr attr = attr_branch(B_USER | B_ANY | 1ULL << bit);

		EXPECT_EQ(-EINVAL, pmu_try(&attr)) {
			TH_LOG("bit %u", bit);
		}
	}
}

TEST_F(branch, other_ways_to_sample_have_records_too)
{
	struct perf_event_attr attr = attr_branch(B_USER | B_ANY);
	int fd;

	attr.freq = 1;
	attr.sample_freq = 1000;
	EXPECT_EQ(0, pmu_try(&attr));
	attr = attr_branch(B_USER | B_ANY);
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	EXPECT_EQ(0, pmu_try(&attr));
	attr.inherit = 1;
	EXPECT_EQ(0, pmu_try(&attr));
	fd = pmu_open_on(&attr, -1, 0, -1);
	EXPECT_LE(0, fd);
	close(fd);
}

/* It never samples, and counts as without. */
TEST_F(branch, a_counting_event_with_records_counts)
{
	struct perf_event_attr attr = self->attr;
	int fd;

	attr.sample_period = 0;
	attr.read_format = 0;
	fd = pmu_open(&attr);
	ASSERT_LE(0, fd);
	EXPECT_LE(pmu_least(1000000), pmu_count(fd, pmu_loop, 1000000));
	close(fd);
}

TEST_F(branch, a_firmware_event_has_no_records)
{
	struct perf_event_attr attr = attr_branch(B_USER | B_ANY);

	if (pmu_caps_number("firmware_counters") <= 0)
		SKIP(return, "no firmware events (caps/firmware_counters)");

	attr.type = PERF_TYPE_RAW;
	attr.config = PMU_FW(PMU_FW_SET_TIMER);
	EXPECT_EQ(-EOPNOTSUPP, pmu_try(&attr));
}

/* Opens two events as a group. Returns 0 or -errno of the second. */
static int try_group(uint64_t leader_bits, uint64_t member_bits)
{
	struct perf_event_attr leader = attr_branch(leader_bits), member = attr_branch(member_bits);
	int fd = pmu_open(&leader), err;

	if (fd < 0)
		return fd;

	if (!member_bits) {
		member.sample_type = PERF_SAMPLE_IP;
		member.sample_period = 99991;
	}
	member.disabled = 0;
	member.config = PERF_COUNT_HW_CPU_CYCLES;
	err = pmu_open_on(&member, 0, -1, fd);
	if (err >= 0)
		err = close(err);
	close(fd);
	return err;
}

/* The hardware keeps one or the other: such a group would never be scheduled. */
TEST_F(branch, a_group_with_call_stacks_and_other_records_is_einval)
{
	EXPECT_EQ(-EINVAL, try_group(B_USER | B_CALL_STACK, B_USER | B_ANY));
	EXPECT_EQ(-EINVAL, try_group(B_USER | B_ANY, B_USER | B_CALL_STACK));
	EXPECT_EQ(0, try_group(B_USER | B_ANY, B_USER | B_ANY_CALL));
	EXPECT_EQ(0, try_group(B_USER | B_CALL_STACK, B_USER | B_CALL_STACK));
	EXPECT_EQ(0, try_group(B_USER | B_CALL_STACK, 0));
}

/* What @attr gives a user without privilege: 0 or -errno. */
static int try_unprivileged(const struct perf_event_attr *attr)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(-pmu_try(attr));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -255;
}

TEST_F(branch, records_of_the_kernel_need_privilege)
{
	struct perf_event_attr attr = self->attr;

	ASSERT_TRUE(pmu_write_number(PARANOID, 2));
	EXPECT_EQ(0, try_unprivileged(&attr));
	attr.branch_sample_type = B_ANY;
	EXPECT_EQ(0, try_unprivileged(&attr));
	attr.branch_sample_type = B_USER | B_CALL_STACK;
	EXPECT_EQ(0, try_unprivileged(&attr));
	attr.branch_sample_type = B_KERNEL | B_ANY;
	EXPECT_EQ(-EACCES, try_unprivileged(&attr));
	attr.branch_sample_type = B_USER | B_KERNEL | B_ANY;
	EXPECT_EQ(-EACCES, try_unprivileged(&attr));
	attr.branch_sample_type = B_USER | B_HV | B_ANY;
	EXPECT_EQ(-EACCES, try_unprivileged(&attr));
	attr.exclude_kernel = 0;
	attr.branch_sample_type = B_USER | B_ANY;
	EXPECT_EQ(-EACCES, try_unprivileged(&attr));
}
