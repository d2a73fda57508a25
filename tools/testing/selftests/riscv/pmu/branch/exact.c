// SPDX-License-Identifier: GPL-2.0
/* The records of a sample are the branches that were taken before it, the newest one first. */

#define EXACT_SAMPLES	1000

TEST_F_TIMEOUT(branch, each_sample_has_the_last_branches_of_the_code, 120)
{
	struct loop_check check = { .shown = ALL_TYPES, .recorded = ALL_TYPES };

	ASSERT_EQ(0, sample_loop(self, EXACT_SAMPLES, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LOOP(EXACT_SAMPLES, &check);
	/* At each place of the loop: the period is a prime. */
	if (self->exact)
		EXPECT_EQ(BIT(PMU_BRANCHES) - 1, check.places);
}

TEST_F_TIMEOUT(branch, each_record_has_its_type_and_privilege, 120)
{
	struct loop_check check = { .shown = ALL_TYPES, .recorded = ALL_TYPES };

	self->attr.branch_sample_type |= B_TYPE_SAVE | B_PRIV_SAVE;
	ASSERT_EQ(0, sample_loop(self, EXACT_SAMPLES, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LOOP(EXACT_SAMPLES, &check);
}

/* The core adds user mode, because the event excludes the others. */
TEST_F_TIMEOUT(branch, privilege_levels_are_those_of_the_event_by_default, 120)
{
	struct loop_check check = { .shown = ALL_TYPES, .recorded = ALL_TYPES };

	self->attr.branch_sample_type = B_ANY;
	ASSERT_EQ(0, sample_loop(self, 100, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LOOP(100, &check);
}

static void count_flags(const struct pmu_record *record, void *arg)
{
	int64_t *flags = arg;

	for (uint64_t i = 0; i < record->nr_branches; i++) {
		const struct perf_branch_entry *entry = &record->branches[i];

		*flags += entry->mispred || entry->predicted || entry->cycles;
	}
}

TEST_F_TIMEOUT(branch, no_flags_and_no_cycles_leave_these_out, 120)
{
	int64_t flags = 0;

	self->attr.branch_sample_type |= B_NO_FLAGS | B_NO_CYCLES;
	ASSERT_EQ(0, open_mapped(self));
	ASSERT_EQ(0, run_undisturbed(pmu_branch_loop, turns_for(self, 100)));
	pmu_ring_records(&self->ring, &self->attr, count_flags, &flags);
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LT(0, self->ring.samples);
	EXPECT_EQ(0, flags);
}

/* An event with records and one without are sampled at once: their overflows do not mix. */
TEST_F_TIMEOUT(branch, an_event_without_records_beside_it_changes_nothing, 120)
{
	struct loop_check check = { .shown = ALL_TYPES, .recorded = ALL_TYPES };
	struct perf_event_attr plain = self->attr;
	struct pmu_ring ring;
	int fd;

	plain.sample_type = PMU_RING_SAMPLE;
	plain.branch_sample_type = 0;
	plain.sample_period = PERIOD / 2;
	ASSERT_EQ(0, pmu_mapped_open(&plain, PMU_RING_PAGES, &ring, &fd));
	ASSERT_EQ(0, sample_loop(self, 100, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LOOP(100, &check);
	pmu_ring_drain(&ring, NULL, NULL);
	EXPECT_FALSE(ring.broken);
	EXPECT_LT(0, ring.samples);
	pmu_mapped_close(&ring, &fd);
}
