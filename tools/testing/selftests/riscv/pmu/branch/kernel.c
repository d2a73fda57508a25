// SPDX-License-Identifier: GPL-2.0
/*
 * What the records of user mode and the kernel show: system calls, page faults, and returns. They
 * hardly ever show an interrupt, which has the type PERF_BR_IRQ: the sample is taken after the
 * handler has returned, and the handler has more branches than there are records.
 */

struct kernel_check {
	struct seen seen;
	int64_t syscalls, faults, returns;
	int64_t wrong;		/* the ends of a record, or its privilege, do not fit its type */
};

static void check_entry(const struct perf_branch_entry *entry, struct kernel_check *check)
{
	bool to_kernel = is_kernel(entry->to);

	check->wrong += entry->priv != (to_kernel ? PERF_BR_PRIV_KERNEL : PERF_BR_PRIV_USER);
	switch (entry->type) {
	case PERF_BR_SYSCALL:
		check->syscalls++;
		check->wrong += is_kernel(entry->from) || !to_kernel;
		break;
	case PERF_BR_EXTEND_ABI:
		check->faults += entry->new_type == PERF_BR_NEW_FAULT_DATA;
		check->wrong += !to_kernel;
		break;
	case PERF_BR_UNKNOWN:	/* an exception of another kind */
	case PERF_BR_IRQ:
		check->wrong += !to_kernel;
		break;
	case PERF_BR_ERET:
		check->returns++;
		check->wrong += !is_kernel(entry->from);
		break;
	default:
		/* Only those above can change the mode. */
		check->wrong += is_kernel(entry->from) != to_kernel;
	}
}

static void check_kernel(const struct pmu_record *record, void *arg)
{
	struct kernel_check *check = arg;

	count_records(record, &check->seen);
	for (uint64_t i = 0; i < record->nr_branches; i++)
		check_entry(&record->branches[i], check);
}

static int sample_kernel(FIXTURE_DATA(branch) *self, pmu_body *body, long arg,
			 struct kernel_check *check)
{
	int err;

	self->attr.exclude_kernel = 0;
	self->attr.branch_sample_type |= B_USER | B_KERNEL | B_TYPE_SAVE | B_PRIV_SAVE;
	self->attr.sample_period = 4999;
	err = open_mapped(self);
	if (err)
		return err;

	err = pmu_run(self->fd, 0, body, arg);
	pmu_ring_records(&self->ring, &self->attr, check_kernel, check);
	return err;
}

TEST_F_TIMEOUT(branch, a_system_call_and_its_return_are_shown, 120)
{
	struct kernel_check check = {};

	SKIP_IF_LATE();
	ASSERT_EQ(0, sample_kernel(self, pmu_syscall_loop, self->exact ? 10000 : 40000, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_LT(0, check.syscalls);
	EXPECT_LT(0, check.returns);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.seen.user);
	EXPECT_LT(0, check.seen.kernel);
}

/* Types that a filter of calls or of returns shows, in the kernel too. */
TEST_F_TIMEOUT(branch, a_system_call_is_a_call_and_a_trap_return_is_a_return, 120)
{
	const uint32_t calls = BIT(PERF_BR_CALL) | BIT(PERF_BR_IND_CALL) | BIT(PERF_BR_SYSCALL);
	const uint32_t returns = BIT(PERF_BR_RET) | BIT(PERF_BR_IND_CALL) | BIT(PERF_BR_ERET);
	struct kernel_check check = {};

	SKIP_IF_LATE();
	self->attr.branch_sample_type = B_ANY_CALL;
	ASSERT_EQ(0, sample_kernel(self, pmu_syscall_loop, self->exact ? 10000 : 40000, &check));
	EXPECT_LT(0, check.syscalls);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0U, check.seen.types & ~calls);
	close_mapped(self);

	check = (struct kernel_check){};
	self->attr.branch_sample_type = B_ANY_RETURN;
	ASSERT_EQ(0, sample_kernel(self, pmu_syscall_loop, self->exact ? 10000 : 40000, &check));
	EXPECT_LT(0, check.returns);
	EXPECT_EQ(0, check.wrong);
	EXPECT_EQ(0U, check.seen.types & ~returns);
}

/* Writes to pages that are not there, and gives them back. */
static void fault_loop(long times)
{
	long size = sysconf(_SC_PAGESIZE), pages = 256;
	char *memory = mmap(NULL, pages * size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (times--) {
		for (long i = 0; i < pages; i++)
			*(volatile char *)(memory + i * size) = 1;
		madvise(memory, pages * size, MADV_DONTNEED);
	}
	munmap(memory, pages * size);
}

/* A sample has to be taken within as many branches after the fault as there are records. */
TEST_F_TIMEOUT(branch, a_page_fault_is_a_data_fault, 120)
{
	struct kernel_check check = {};

	SKIP_IF_LATE();
	ASSERT_EQ(0, sample_kernel(self, fault_loop, self->exact ? 20 : 100, &check));
	EXPECT_FALSE(self->ring.broken);
	EXPECT_EQ(0, check.wrong);
	EXPECT_LT(0, check.returns);
	if (self->exact)
		EXPECT_LT(0, check.faults);
}
