// SPDX-License-Identifier: GPL-2.0
/* How many records a sample has, and the index of the newest one. */

TEST_F_TIMEOUT(branch, a_sample_has_as_many_records_as_caps_branches_says, 120)
{
	struct loop_check check = { .shown = ALL_TYPES, .recorded = ALL_TYPES };

	EXPECT_LE(16, self->depth);
	EXPECT_GE(256, self->depth);
	EXPECT_EQ(0, self->depth & (self->depth - 1));
	/* check_loop() compares as many records as that, and accepts no more. */
	ASSERT_EQ(0, sample_loop(self, 100, &check));
	EXPECT_LOOP(100, &check);
}

struct index_check {
	long depth;
	int64_t first;		/* the difference of the index and the place, of the first sample */
	int64_t samples, out_of_range, wrong;
};

/*
 * The index advances by one for each branch, and the depth is a multiple of the branches of an
 * iteration, so (index - position in the loop) modulo these is constant.
 */
static void check_index(const struct pmu_record *record, void *arg)
{
	struct index_check *check = arg;
	int last = last_branch(record->ip);
	int64_t differ;

	check->out_of_range += record->hw_index < 0 || record->hw_index >= check->depth;
	if (last < 0)
		return;

	differ = (record->hw_index + PMU_BRANCHES - last) % PMU_BRANCHES;
	if (!check->samples++)
		check->first = differ;
	check->wrong += differ != check->first;
}

TEST_F_TIMEOUT(branch, the_hardware_index_is_that_of_the_newest_record, 120)
{
	struct index_check check = { .depth = self->depth };

	self->attr.branch_sample_type |= B_HW_INDEX;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, run_undisturbed(pmu_branch_loop, turns_for(self, 100)));
	pmu_ring_records(&self->ring, &self->attr, check_index, &check);
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LE(self->exact ? 100 : 1, check.samples);
	EXPECT_EQ(0, check.out_of_range);
	if (self->exact)
		EXPECT_EQ(0, check.wrong);
}

static void count_index(const struct pmu_record *record, void *arg)
{
	*(int64_t *)arg += record->hw_index != -1;
}

TEST_F_TIMEOUT(branch, without_hw_index_there_is_none, 120)
{
	int64_t indexes = 0;

	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, run_undisturbed(pmu_branch_loop, turns_for(self, 10)));
	pmu_ring_records(&self->ring, &self->attr, count_index, &indexes);
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, indexes);
}
