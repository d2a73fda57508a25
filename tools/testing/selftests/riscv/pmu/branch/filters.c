// SPDX-License-Identifier: GPL-2.0
/* Each event shows the branches of its own filter, whatever the hart records for other events. */

#define TYPES_IND_CALL	(BIT(PMU_BRANCH_IND_CALL) | BIT(PMU_BRANCH_CORO_SWAP))
#define TYPES_CALL	BIT(PMU_BRANCH_CALL)
#define TYPES_ANY_CALL	(TYPES_CALL | TYPES_IND_CALL)
#define TYPES_ANY_RET	(BIT(PMU_BRANCH_RETURN) | BIT(PMU_BRANCH_CORO_SWAP))
#define TYPES_COND	BIT(PMU_BRANCH_TAKEN)
#define TYPES_IND_JUMP	(BIT(PMU_BRANCH_IND_JUMP) | BIT(PMU_BRANCH_IND_LINK))

#define FILTER_SAMPLES	100

static const struct filter {
	uint64_t bits;
	uint32_t types;
} filters[] = {
	{ B_ANY, ALL_TYPES },
	{ B_ANY_CALL, TYPES_ANY_CALL },
	{ B_ANY_RETURN, TYPES_ANY_RET },
	{ B_IND_CALL, TYPES_IND_CALL },
	{ B_CALL, TYPES_CALL },
	{ B_COND, TYPES_COND },
	{ B_IND_JUMP, TYPES_IND_JUMP },
	{ B_CALL | B_COND, TYPES_CALL | TYPES_COND },
	{ B_ANY_CALL | B_ANY_RETURN, TYPES_ANY_CALL | TYPES_ANY_RET },
	{ B_ANY | B_IND_JUMP, ALL_TYPES },
};

TEST_F_TIMEOUT(branch, each_filter_shows_its_branches_and_no_others, 120)
{
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		struct loop_check check = {
			.shown = filters[i].types, .recorded = filters[i].types,
		};

		self->attr.branch_sample_type = B_USER | B_TYPE_SAVE | filters[i].bits;
		ASSERT_EQ(0, sample_loop(self, FILTER_SAMPLES, &check));
		EXPECT_FALSE(self->ring.broken);
		EXPECT_LOOP(FILTER_SAMPLES, &check);
		if (check.wrong || (self->exact && check.few))
			TH_LOG("branch_sample_type %#llx", (unsigned long long)filters[i].bits);
		close_mapped(self);
	}
}

/* An event that samples beside that of the fixture, in a ring of its own. */
struct beside {
	struct perf_event_attr attr;
	struct pmu_ring ring;
	struct loop_check check;
	int fd;
};

/* Two events of this task at once: the hardware records what either of them shows. */
static int sample_both(FIXTURE_DATA(branch) *self, const struct filter *one,
		       const struct filter *other, struct loop_check *check, struct beside *beside)
{
	uint32_t recorded = one->types | other->types;
	int err;

	beside->attr = self->attr;
	beside->attr.branch_sample_type = B_USER | B_TYPE_SAVE | other->bits;
	beside->attr.sample_period = PERIOD - 34;
	beside->check = (struct loop_check){
		.shown = other->types, .recorded = recorded, .depth = self->depth,
		.branch_sample_type = beside->attr.branch_sample_type,
	};
	err = pmu_mapped_open(&beside->attr, RING_PAGES, &beside->ring, &beside->fd);
	if (err)
		return err;

	self->attr.branch_sample_type = B_USER | B_TYPE_SAVE | one->bits;
	*check = (struct loop_check){ .shown = one->types, .recorded = recorded };
	err = sample_loop(self, FILTER_SAMPLES, check);
	pmu_ring_records(&beside->ring, &beside->attr, check_loop, &beside->check);
	return err;
}

TEST_F_TIMEOUT(branch, two_events_with_different_filters_show_their_own, 120)
{
	static const struct { struct filter one, other; } pairs[] = {
		{ { B_ANY_CALL, TYPES_ANY_CALL }, { B_ANY_RETURN, TYPES_ANY_RET } },
		{ { B_COND, TYPES_COND }, { B_IND_JUMP, TYPES_IND_JUMP } },
		{ { B_CALL, TYPES_CALL }, { B_ANY, ALL_TYPES } },
		{ { B_IND_CALL, TYPES_IND_CALL }, { B_CALL, TYPES_CALL } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct loop_check check;
		struct beside beside;

		ASSERT_EQ(0, sample_both(self, &pairs[i].one, &pairs[i].other, &check, &beside));
		EXPECT_FALSE(self->ring.broken);
		EXPECT_FALSE(beside.ring.broken);
		EXPECT_TRUE(was_always_active(self->fd));
		EXPECT_TRUE(was_always_active(beside.fd));
		EXPECT_LOOP(FILTER_SAMPLES, &check);
		EXPECT_LOOP(FILTER_SAMPLES, &beside.check);
		pmu_mapped_close(&beside.ring, &beside.fd);
		close_mapped(self);
	}
}

/* System calls, and between them more branches of user mode than there are records. */
static void mixed_loop(long times)
{
	while (times--) {
		pmu_branch_loop(300);
		getppid();
	}
}

/* One event of user mode and one of the kernel: each shows branches of its own mode only. */
TEST_F_TIMEOUT(branch, events_of_user_mode_and_of_the_kernel_show_their_own, 120)
{
	struct perf_event_attr kernel = attr_of_kernel(self);
	struct seen in_user = {}, in_kernel = {};
	struct pmu_ring ring;
	int fd;

	kernel.exclude_user = 1;
	kernel.branch_sample_type = B_KERNEL | B_ANY;
	self->attr.sample_period = 211;
	ASSERT_EQ(0, pmu_mapped_open(&kernel, RING_PAGES, &ring, &fd));
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run_all(mixed_loop, 1000));
	pmu_ring_records(&self->ring, &self->attr, count_user_records, &in_user);
	pmu_ring_records(&ring, &kernel, count_records, &in_kernel);
	EXPECT_FALSE(self->ring.broken);
	EXPECT_FALSE(ring.broken);
	EXPECT_TRUE(was_always_active(self->fd));
	EXPECT_TRUE(was_always_active(fd));
	EXPECT_LT(0, in_user.user);
	EXPECT_EQ(0, in_user.kernel);
	EXPECT_LT(0, in_kernel.kernel);
	EXPECT_EQ(0, in_kernel.user);
	pmu_mapped_close(&ring, &fd);
}

/*
 * An event that counts both modes shows only the mode that branch_sample_type selects.
 */
TEST_F_TIMEOUT(branch, the_modes_of_records_are_those_that_were_asked_for, 120)
{
	struct seen seen = {};

	self->attr.exclude_kernel = 0;
	self->attr.sample_period = 99991;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run_all(pmu_syscall_loop, 20000));
	pmu_ring_records(&self->ring, &self->attr, count_records, &seen);
	EXPECT_LT(0, seen.user);
	EXPECT_EQ(0, seen.kernel);
	close_mapped(self);

	seen = (struct seen){};
	self->attr.branch_sample_type = B_KERNEL | B_ANY;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, pmu_run_all(pmu_syscall_loop, 20000));
	pmu_ring_records(&self->ring, &self->attr, count_records, &seen);
	EXPECT_LT(0, seen.kernel);
	EXPECT_EQ(0, seen.user);
}
