// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of branch/sample.c: records as perf gets them. The types of records have the numbers of
 * Smctr ("Transfer Types"), and the instructions are those of the ISA manuals.
 */

#include <linux/bitfield.h>
#include <linux/array_size.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/prandom.h>
#include <linux/uaccess.h>

#include "fake_branch.h"

#define ECALL		0x00000073
#define LOAD		0x00053503	/* ld a0, (a0) */

/* Types of records */
#define EXCEPTION	1
#define INTERRUPT	2
#define TRAP_RETURN	3
#define NOT_TAKEN	4
#define TAKEN		5
#define IND_CALL	8
#define CALL		9
#define IND_JUMP	10
#define JUMP		11
#define CORO_SWAP	12
#define RETURN		13
#define IND_LINK	14
#define LINK		15

/*
 * The records of an event of user mode only, and those of one of both modes, are read by different
 * loops; the usual combinations of details have their own. If the hart records more for another
 * event, each record is checked.
 */
static struct state_event *user_event(struct kunit *test, u64 filters)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | filters);

	fake_branch_in(test, s);
	return s;
}

static struct state_event *any_event(struct kunit *test, u64 filters)
{
	struct state_event *s = fake_branch_event(test, 4, BR_BOTH | BR(ANY) | filters);

	fake_branch_in(test, s);
	return s;
}

static void push(struct kunit *test, u64 source, u64 target, u64 data)
{
	fake_branch_push(to_branch_file(test->priv), source, target, data);
}

/* Takes a sample that has one record. */
static struct branch_entry sample_one(struct kunit *test, struct state_event *s)
{
	const struct branch_sample *sample = fake_branch_sample(test->priv, s);

	KUNIT_EXPECT_TRUE(test, sample->taken);
	KUNIT_EXPECT_EQ(test, sample->nr, 1);
	return sample->entry[0];
}

static u64 number_of_records(struct kunit *test, struct state_event *s)
{
	return fake_branch_sample(test->priv, s)->nr;
}

/* --- records ------------------------------------------------------------ */

static void sample_has_the_records_newest_first(struct kunit *test)
{
	struct state_event *s = user_event(test, BR(ANY));
	struct fake_pmu *fake = test->priv;
	const struct branch_sample *sample = &to_branch_file(fake)->sample;

	for (unsigned int i = 0; i < 5; i++)
		push(test, BRANCH_USER(i), BRANCH_USER(50 + i), CALL);
	fake_branch_overflow(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_TRUE(test, sample->taken);
	KUNIT_EXPECT_EQ(test, sample->nr, 5);
	for (unsigned int i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, sample->entry[i].from, BRANCH_USER(4 - i));
		KUNIT_EXPECT_EQ(test, sample->entry[i].to, BRANCH_USER(54 - i));
	}

	/* Each sample reads them anew. */
	push(test, BRANCH_USER(7), BRANCH_USER(57), CALL);
	fake_branch_overflow(fake);
	KUNIT_EXPECT_EQ(test, sample->nr, 6);
	KUNIT_EXPECT_EQ(test, sample->entry[0].from, BRANCH_USER(7));
	sched_out(test, s);
}

static void sample_without_records_is_empty(struct kunit *test)
{
	struct state_event *s = user_event(test, BR(ANY));

	KUNIT_EXPECT_TRUE(test, fake_branch_sample(test->priv, s)->taken);
	KUNIT_EXPECT_EQ(test, number_of_records(test, s), 0);
	sched_out(test, s);
}

/* Then the records of the kernel are those of the handler, and change while they are read. */
static void overflow_without_a_trap_shows_no_records_of_the_kernel(struct kunit *test)
{
	struct state_event *s = user_event(test, BR(ANY)), *both = any_event(test, 0);
	struct branch_file *file = to_branch_file(test->priv);

	file->untrapped = true;
	push(test, BRANCH_USER(1), BRANCH_USER(2), CALL);
	KUNIT_EXPECT_EQ(test, number_of_records(test, both), 0);
	KUNIT_EXPECT_EQ(test, number_of_records(test, s), 0);
	sched_out(test, both);
	/* The handler changes no records of user mode. */
	KUNIT_EXPECT_EQ(test, number_of_records(test, s), 1);
	file->untrapped = false;
	sched_out(test, s);
}

/* An event that wants no records is sampled as ever. */
static void other_events_get_no_records(struct kunit *test)
{
	struct state_event *s = user_event(test, BR(ANY));
	struct state_event *plain = fake_branch_new(test, 5, 0);
	struct fake_pmu *fake = test->priv;

	plain->event.attr.sample_type = PERF_SAMPLE_IP;
	fake_branch_in(test, plain);
	push(test, BRANCH_USER(1), BRANCH_USER(2), CALL);
	fake_branch_overflow(fake);
	stop(s, 0);
	to_branch_file(fake)->sample.taken = true;
	fake_branch_overflow(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, plain->samples, 2);
	KUNIT_EXPECT_FALSE(test, to_branch_file(fake)->sample.taken);
	sched_out(test, plain);
	sched_out(test, s);
}

/* perf may not have reported a context switch. An event of a task is removed at each switch. */
static void records_of_another_task_are_not_shown(struct kunit *test)
{
	struct state_event *s = user_event(test, BR(ANY));
	struct state_event *of_task = fake_branch_new(test, 4, BR(USER) | BR(ANY));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	of_task->event.attach_state = PERF_ATTACH_TASK;
	KUNIT_ASSERT_EQ(test, fake_branch_open(of_task), 0);
	fake_branch_in(test, of_task);
	push(test, BRANCH_USER(1), BRANCH_USER(2), CALL);
	this_hart(fake)->branch.task = NULL;
	KUNIT_EXPECT_EQ(test, number_of_records(test, of_task), 1);
	KUNIT_EXPECT_EQ(test, number_of_records(test, s), 0);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);

	push(test, BRANCH_USER(3), BRANCH_USER(4), CALL);
	KUNIT_EXPECT_EQ(test, number_of_records(test, s), 1);
	/* The same task, but others have run meanwhile */
	scoped_guard(irqsave) {
		this_hart(fake)->branch.switches = current->nvcsw + current->nivcsw - 1;
		riscv_pmu_branch_check_current(this_hart(fake), &s->event);
	}
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);

	sched_out(test, of_task);
	push(test, BRANCH_USER(3), BRANCH_USER(4), CALL);
	this_hart(fake)->branch.task = NULL;
	file->sample.nr = 1;
	fake_branch_overflow(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, file->sample.nr, 0);
	/* The perf tool expects an index if the event asks for one. */
	KUNIT_EXPECT_TRUE(test, file->sample.taken);
	KUNIT_EXPECT_EQ(test, file->sample.hw_idx, -1ULL);

	/* Nor are they shown to an event that is added now. */
	push(test, BRANCH_USER(5), BRANCH_USER(6), CALL);
	this_hart(fake)->branch.task = NULL;
	fake_branch_in(test, of_task);
	KUNIT_EXPECT_EQ(test, number_of_records(test, of_task), 0);
	sched_out(test, of_task);
	sched_out(test, s);
}

#ifdef CONFIG_RISCV_PMU_POLL
/* The timer's interrupt does not freeze the records, and another event records the kernel. */
static void polled_event_freezes_what_it_reads(struct kunit *test)
{
	struct state_event *s = user_event(test, BR(ANY));
	struct state_event *any = any_event(test, 0);
	struct branch_file *file = to_branch_file(test->priv);

	push(test, BRANCH_USER(1), BRANCH_USER(2), CALL);
	push(test, BRANCH_KERNEL(1), BRANCH_KERNEL(2), CALL);
	/* Only now, so that there is no timer */
	s->ev.flags |= RISCV_PMU_EV_POLLED;
	file->polled = true;
	KUNIT_EXPECT_EQ(test, number_of_records(test, s), 1);
	KUNIT_EXPECT_EQ(test, file->status, 2);
	s->ev.flags &= ~RISCV_PMU_EV_POLLED;
	sched_out(test, s);
	sched_out(test, any);
}
#endif

struct depth_row {
	const char	*name;
	unsigned int	depth;
	unsigned int	branches;
	unsigned int	records;
};

static const struct depth_row depth_rows[] = {
	{ "16, one less", 16, 15, 15 },
	{ "16, all", 16, 16, 16 },
	{ "16, one more", 16, 17, 16 },
	{ "32, one less", 32, 31, 31 },
	{ "32, all", 32, 32, 32 },
	{ "32, many more", 32, 100, 32 },
	{ "64, all", 64, 64, 64 },
};

KUNIT_ARRAY_PARAM_DESC(depth, depth_rows, name);

static void set_depth(struct fake_pmu *fake, unsigned int depth)
{
	fake->pmu.branch.depth = depth;
	to_branch_file(fake)->depth = depth;
	fake_branch_start(fake);
}

static void sample_has_as_many_records_as_the_hart(struct kunit *test)
{
	const struct depth_row *row = test->param_value;
	const struct branch_sample *sample;
	struct state_event *s;

	set_depth(test->priv, row->depth);
	s = user_event(test, BR(ANY));
	for (unsigned int i = 0; i < row->branches; i++)
		push(test, BRANCH_USER(i), BRANCH_USER(50 + i), CALL);
	sample = fake_branch_sample(test->priv, s);
	KUNIT_EXPECT_EQ(test, sample->nr, row->records);
	for (unsigned int n = 0; n < row->records; n++)
		KUNIT_EXPECT_EQ(test, sample->entry[n].from, BRANCH_USER(row->branches - 1 - n));
	sched_out(test, s);
}

struct index_row {
	const char	*name;
	unsigned int	depth;
	unsigned int	branches;
	u64		hw_idx;
};

static const struct index_row index_rows[] = {
	{ "16, none", 16, 0, 15 },
	{ "16, one", 16, 1, 0 },
	{ "16, all", 16, 16, 15 },
	{ "16, one more", 16, 17, 0 },
	{ "32, all of 16", 32, 16, 15 },
	{ "32, one more than 16", 32, 17, 16 },
	{ "32, all", 32, 32, 31 },
};

KUNIT_ARRAY_PARAM_DESC(index, index_rows, name);

static void hw_index_is_that_of_the_newest_record(struct kunit *test)
{
	const struct index_row *row = test->param_value;
	struct fake_pmu *fake = test->priv;
	struct state_event *s;

	set_depth(fake, row->depth);
	s = user_event(test, BR(ANY) | BR(HW_INDEX));
	for (unsigned int i = 0; i < row->branches; i++)
		push(test, BRANCH_USER(i), BRANCH_USER(50 + i), CALL);
	KUNIT_EXPECT_EQ(test, fake_branch_sample(fake, s)->hw_idx, row->hw_idx);
	/* The overflow interrupt has frozen the records. */
	to_branch_file(fake)->status |= PMU_SCTRSTATUS_FROZEN;
	KUNIT_EXPECT_EQ(test, fake_branch_sample(fake, s)->hw_idx, row->hw_idx);
	sched_out(test, s);
}

/* --- details of a record ------------------------------------------------ */

struct type_row {
	const char	*name;
	unsigned int	type;
	unsigned int	perf_type;
};

static const struct type_row type_rows[] = {
	{ "reserved", 0, PERF_BR_UNKNOWN },
	{ "interrupt", 2, PERF_BR_IRQ },
	{ "trap return", 3, PERF_BR_ERET },
	{ "taken", 5, PERF_BR_COND },
	{ "reserved 6", 6, PERF_BR_UNKNOWN },
	{ "reserved 7", 7, PERF_BR_UNKNOWN },
	{ "indirect call", 8, PERF_BR_IND_CALL },
	{ "direct call", 9, PERF_BR_CALL },
	{ "indirect jump", 10, PERF_BR_IND },
	{ "direct jump", 11, PERF_BR_UNCOND },
	{ "co-routine swap", 12, PERF_BR_IND_CALL },
	{ "return", 13, PERF_BR_RET },
	{ "other indirect jump with linkage", 14, PERF_BR_IND },
	{ "other direct jump with linkage", 15, PERF_BR_UNCOND },
};

KUNIT_ARRAY_PARAM_DESC(type, type_rows, name);

/* The cycles are next to the type. */
#define CYCLES_ALL	GENMASK_ULL(31, 15)

static void type_is_translated(struct kunit *test)
{
	const struct type_row *row = test->param_value;
	struct fake_pmu *fake = test->priv;
	struct state_event *user, *any;
	struct branch_entry entry;

	fake->pmu.branch.has_misprediction = true;
	user = user_event(test, BR(ANY) | BR(TYPE_SAVE));
	push(test, BRANCH_USER(1), BRANCH_USER(2), row->type | CYCLES_ALL);
	entry = sample_one(test, user);
	KUNIT_EXPECT_EQ(test, entry.type, row->perf_type);
	KUNIT_EXPECT_EQ(test, entry.new_type, 0);

	any = any_event(test, BR(TYPE_SAVE));
	entry = sample_one(test, any);
	KUNIT_EXPECT_EQ(test, entry.type, row->perf_type);
	KUNIT_EXPECT_EQ(test, entry.new_type, 0);
	sched_out(test, any);
	sched_out(test, user);
}

static void type_is_left_out_if_not_wanted(struct kunit *test)
{
	struct state_event *user = user_event(test, BR(ANY) | BR(PRIV_SAVE));
	struct state_event *any = any_event(test, 0);

	push(test, BRANCH_USER(1), BRANCH_USER(2), CALL);
	KUNIT_EXPECT_EQ(test, sample_one(test, user).type, 0);
	KUNIT_EXPECT_EQ(test, sample_one(test, any).type, 0);
	sched_out(test, any);
	sched_out(test, user);
}

struct priv_row {
	const char	*name;
	u64		from;
	u64		to;
	unsigned int	priv;
};

static const struct priv_row priv_rows[] = {
	{ "user", BRANCH_USER(1), BRANCH_USER(2), PERF_BR_PRIV_USER },
	{ "highest of user mode", BRANCH_USER(1), BIT_ULL(63) - 2, PERF_BR_PRIV_USER },
	{ "kernel", BRANCH_KERNEL(1), BRANCH_KERNEL(2), PERF_BR_PRIV_KERNEL },
	{ "lowest of the kernel", BRANCH_KERNEL(1), BIT_ULL(63), PERF_BR_PRIV_KERNEL },
	{ "user to kernel", BRANCH_USER(1), BRANCH_KERNEL(2), PERF_BR_PRIV_KERNEL },
	{ "kernel to user", BRANCH_KERNEL(1), BRANCH_USER(2), PERF_BR_PRIV_USER },
};

KUNIT_ARRAY_PARAM_DESC(priv, priv_rows, name);

static void mode_is_that_of_the_target(struct kunit *test)
{
	const struct priv_row *row = test->param_value;
	struct state_event *s = any_event(test, BR(PRIV_SAVE));
	struct state_event *plain;

	push(test, row->from, row->to, TRAP_RETURN);
	KUNIT_EXPECT_EQ(test, sample_one(test, s).priv, row->priv);
	sched_out(test, s);

	plain = any_event(test, 0);
	push(test, row->from, row->to, TRAP_RETURN);
	KUNIT_EXPECT_EQ(test, sample_one(test, plain).priv, PERF_BR_PRIV_UNKNOWN);
	sched_out(test, plain);
}

struct cycles_row {
	const char	*name;
	u64		exponent;
	u64		mantissa;
	bool		invalid;
	unsigned int	cycles;
};

/* Smctr, "Cycle Counting": CCE ? (4096 + CCM) << (CCE - 1) : CCM. perf has 16 bits. */
static const struct cycles_row cycles_rows[] = {
	{ "invalid", 0, 5, true, 0 },
	{ "invalid and large", 15, 4095, true, 0 },
	{ "none", 0, 0, false, 0 },
	{ "one", 0, 1, false, 1 },
	{ "largest without an exponent", 0, 4095, false, 4095 },
	{ "smallest with an exponent", 1, 0, false, 4096 },
	{ "exponent 1", 1, 4095, false, 8191 },
	{ "exponent 2", 2, 1, false, 8194 },
	{ "exponent 3", 3, 100, false, 16784 },
	{ "largest that perf can show", 4, 4095, false, 65528 },
	{ "too large", 5, 0, false, 65535 },
	{ "largest", 15, 4095, false, 65535 },
};

KUNIT_ARRAY_PARAM_DESC(cycles, cycles_rows, name);

static void cycles_are_decoded(struct kunit *test)
{
	const struct cycles_row *row = test->param_value;
	u64 data = CALL | (row->invalid ? 0 : BIT_ULL(15)) | row->mantissa << 16 |
		   row->exponent << 28;
	struct fake_pmu *fake = test->priv;
	struct state_event *user, *any;

	/* With this, the events are those that perf opens by default. */
	fake->pmu.branch.has_misprediction = true;
	user = user_event(test, BR(ANY));
	push(test, BRANCH_USER(1), BRANCH_USER(2), data);
	KUNIT_EXPECT_EQ(test, sample_one(test, user).cycles, row->cycles);
	any = any_event(test, 0);
	KUNIT_EXPECT_EQ(test, sample_one(test, any).cycles, row->cycles);
	sched_out(test, any);
	sched_out(test, user);

	user = user_event(test, BR(ANY) | BR(NO_CYCLES));
	any = any_event(test, BR(NO_CYCLES));
	push(test, BRANCH_USER(1), BRANCH_USER(2), data);
	KUNIT_EXPECT_EQ(test, sample_one(test, user).cycles, 0);
	KUNIT_EXPECT_EQ(test, sample_one(test, any).cycles, 0);
	sched_out(test, any);
	sched_out(test, user);
}

#define CYCLES(n)	(PMU_BRANCH_CYCLES_VALID | FIELD_PREP(PMU_BRANCH_CYCLES_MANTISSA, n))

/* A record has the cycles since the one before it, whichever event wanted that one. */
static void cycles_of_records_left_out_are_added(struct kunit *test)
{
	struct state_event *calls = user_event(test, BR(CALL)), *all = fake_branch_new(test, 5, 0);
	const struct branch_sample *sample;

	all->event.attr.branch_sample_type = BR(USER) | BR(ANY);
	KUNIT_ASSERT_EQ(test, fake_branch_open(all), 0);
	fake_branch_in(test, all);
	push(test, BRANCH_USER(1), BRANCH_USER(2), CALL | CYCLES(5));
	/* Without a number, those of the next record are not known either. */
	push(test, BRANCH_USER(3), BRANCH_USER(4), JUMP);
	push(test, BRANCH_USER(5), BRANCH_USER(6), CALL | CYCLES(7));
	push(test, BRANCH_USER(7), BRANCH_USER(8), JUMP | CYCLES(20));
	push(test, BRANCH_USER(7), BRANCH_USER(8), JUMP | CYCLES(30));
	push(test, BRANCH_USER(9), BRANCH_USER(1), CALL | CYCLES(9));
	sample = fake_branch_sample(test->priv, calls);
	KUNIT_EXPECT_EQ(test, sample->nr, 3);
	KUNIT_EXPECT_EQ(test, sample->entry[0].cycles, 59);
	KUNIT_EXPECT_EQ(test, sample->entry[1].cycles, 0);
	KUNIT_EXPECT_EQ(test, sample->entry[2].cycles, 5);
	sched_out(test, all);
	sched_out(test, calls);
}

struct flags_row {
	const char	*name;
	bool		has_misprediction;
	bool		mispredicted;
	u64		filters;
	bool		mispred;
	bool		predicted;
};

static const struct flags_row flags_rows[] = {
	{ "predicted", true, false, 0, false, true },
	{ "mispredicted", true, true, 0, true, false },
	{ "predicted, no cycles", true, false, BR(NO_CYCLES), false, true },
	{ "mispredicted, no cycles", true, true, BR(NO_CYCLES), true, false },
	{ "mispredicted, with types", true, true, BR(TYPE_SAVE), true, false },
	{ "predicted, no flags", true, false, BR(NO_FLAGS), false, false },
	{ "mispredicted, no flags", true, true, BR(NO_FLAGS), false, false },
	{ "mispredicted, no flags nor cycles", true, true, BR(NO_FLAGS) | BR(NO_CYCLES), false,
	  false },
	{ "not known", false, false, 0, false, false },
	{ "not known, no cycles", false, false, BR(NO_CYCLES), false, false },
};

KUNIT_ARRAY_PARAM_DESC(flags, flags_rows, name);

static void expect_flags(struct kunit *test, struct state_event *s)
{
	const struct flags_row *row = test->param_value;
	struct branch_entry entry = sample_one(test, s);

	KUNIT_EXPECT_EQ(test, entry.from, BRANCH_USER(1));
	KUNIT_EXPECT_EQ(test, entry.to, BRANCH_USER(2));
	KUNIT_EXPECT_EQ(test, entry.mispred, row->mispred);
	KUNIT_EXPECT_EQ(test, entry.predicted, row->predicted);
}

static void misprediction_is_shown_if_known(struct kunit *test)
{
	const struct flags_row *row = test->param_value;
	struct fake_pmu *fake = test->priv;
	struct state_event *user, *any;

	fake->pmu.branch.has_misprediction = row->has_misprediction;
	user = user_event(test, BR(ANY) | row->filters);
	push(test, BRANCH_USER(1), BRANCH_USER(2) | row->mispredicted, CALL);
	expect_flags(test, user);
	any = any_event(test, row->filters);
	expect_flags(test, any);
	sched_out(test, any);
	sched_out(test, user);
}

/* Whatever the record has, an event shows only what it wants. */
static void addresses_may_be_all_that_is_wanted(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct branch_entry entry;
	struct state_event *s;

	fake->pmu.branch.has_misprediction = true;
	s = user_event(test, BR(ANY) | BR(NO_CYCLES) | BR(NO_FLAGS));
	push(test, BRANCH_USER(1), BRANCH_USER(2) | 1, CALL | CYCLES_ALL);
	entry = sample_one(test, s);
	KUNIT_EXPECT_EQ(test, entry.from, BRANCH_USER(1));
	KUNIT_EXPECT_EQ(test, entry.to, BRANCH_USER(2));
	KUNIT_EXPECT_EQ(test, entry.cycles | entry.type | entry.new_type | entry.priv, 0);
	KUNIT_EXPECT_FALSE(test, entry.mispred || entry.predicted || entry.has_more);
	sched_out(test, s);
}

/* The other extreme */
static void everything_may_be_wanted(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct branch_entry entry;
	struct state_event *s;

	fake->pmu.branch.has_misprediction = true;
	s = any_event(test, BR(TYPE_SAVE) | BR(PRIV_SAVE) | BR(HW_INDEX));
	push(test, BRANCH_USER(1), BRANCH_USER(2) | 1, CALL | CYCLES_ALL);
	entry = sample_one(test, s);
	KUNIT_EXPECT_TRUE(test, entry.mispred);
	KUNIT_EXPECT_EQ(test, entry.cycles, 65535);
	KUNIT_EXPECT_EQ(test, entry.type, PERF_BR_CALL);
	KUNIT_EXPECT_EQ(test, entry.priv, PERF_BR_PRIV_USER);
	KUNIT_EXPECT_FALSE(test, entry.predicted || entry.new_type || entry.has_more);
	sched_out(test, s);
}

/* --- exceptions --------------------------------------------------------- */

enum exception_kind {
	IS_OTHER,
	IS_SYSCALL,
	IS_DATA,
	IS_FETCH,
};

static const struct {
	unsigned int	type;
	unsigned int	new_type;
} exception_kinds[] = {
	[IS_OTHER]	= { PERF_BR_UNKNOWN },
	[IS_SYSCALL]	= { PERF_BR_SYSCALL },
	[IS_DATA]	= { PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_DATA },
	[IS_FETCH]	= { PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_INST },
};

struct insn_row {
	const char		*name;
	u32			insn;
	enum exception_kind	kind;
};

static const struct insn_row insn_rows[] = {
	{ "ecall", ECALL, IS_SYSCALL },
	{ "ebreak", 0x00100073, IS_OTHER },
	{ "rdcycle a0", 0xc0002573, IS_OTHER },
	{ "ld a0, (a0)", LOAD, IS_DATA },
	{ "lb a0, (a0)", 0x00050503, IS_DATA },
	{ "fld fa0, (a0)", 0x00053507, IS_DATA },
	{ "sd a0, (a1)", 0x00a5b023, IS_DATA },
	{ "fsd fa0, (a1)", 0x00a5b027, IS_DATA },
	{ "amoadd.d a0, a1, (a2)", 0x00b6352f, IS_DATA },
	{ "addi a0, a0, 1", 0x00150513, IS_OTHER },
	{ "fence.i", 0x0000100f, IS_OTHER },
	{ "jalr (a0)", 0x000500e7, IS_OTHER },
	{ "zeros", 0x00000000, IS_OTHER },
	{ "ones", 0xffffffff, IS_OTHER },
	{ "c.addi4spn a0, sp, 8", 0x0028, IS_OTHER },
	{ "c.fld fa0, (a0)", 0x2108, IS_DATA },
	{ "c.lw a0, (a0)", 0x4108, IS_DATA },
	{ "c.ld a0, (a0)", 0x6108, IS_DATA },
	{ "c.lbu a0, (a0)", 0x8108, IS_DATA },
	{ "c.sb a0, (a0)", 0x8908, IS_DATA },
	{ "c.fsd fa0, (a0)", 0xa108, IS_DATA },
	{ "c.sw a0, (a0)", 0xc108, IS_DATA },
	{ "c.sd a0, (a0)", 0xe108, IS_DATA },
	{ "c.addi a0, 1", 0x0505, IS_OTHER },
	{ "c.addiw a0, 1", 0x2505, IS_OTHER },
	{ "c.j 0", 0xa001, IS_OTHER },
	{ "c.beqz a0", 0xc101, IS_OTHER },
	{ "c.slli a0, 1", 0x0506, IS_OTHER },
	{ "c.fldsp fa0, (sp)", 0x2502, IS_DATA },
	{ "c.lwsp a0, (sp)", 0x4502, IS_DATA },
	{ "c.ldsp a0, (sp)", 0x6502, IS_DATA },
	{ "c.jr a0", 0x8502, IS_OTHER },
	{ "c.ebreak", 0x9002, IS_OTHER },
	{ "c.fsdsp fa0, (sp)", 0xa02a, IS_DATA },
	{ "c.swsp a0, (sp)", 0xc02a, IS_DATA },
	{ "c.sdsp a0, (sp)", 0xe02a, IS_DATA },
};

KUNIT_ARRAY_PARAM_DESC(insn, insn_rows, name);

/* Two pages of user memory; the second one is not there. */
static unsigned long user_code(struct kunit *test)
{
	unsigned long address = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
					      MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, address, 0);
	KUNIT_ASSERT_LT(test, address, TASK_SIZE);
	return address;
}

static void write_code(struct kunit *test, unsigned long address, u32 insn, size_t size)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)address, &insn, size), 0);
}

static void expect_exception(struct kunit *test, u64 address, enum exception_kind kind)
{
	struct state_event *s = any_event(test, BR(TYPE_SAVE));
	struct branch_entry entry;

	push(test, address, BRANCH_KERNEL(2), EXCEPTION);
	entry = sample_one(test, s);
	KUNIT_EXPECT_EQ(test, entry.from, address);
	KUNIT_EXPECT_EQ(test, entry.type, exception_kinds[kind].type);
	KUNIT_EXPECT_EQ(test, entry.new_type, exception_kinds[kind].new_type);
	sched_out(test, s);
}

static void exception_is_known_by_its_instruction(struct kunit *test)
{
	const struct insn_row *row = test->param_value;
	unsigned long address = user_code(test) + 16;

	write_code(test, address, row->insn, sizeof(row->insn));
	expect_exception(test, address, row->kind);
}

static void instruction_may_be_at_the_end_of_memory(struct kunit *test)
{
	unsigned long address = user_code(test) + PAGE_SIZE - 2;

	/* A compressed load: what follows is not read. */
	write_code(test, address, 0x6108, 2);
	expect_exception(test, address, IS_DATA);
	/* The first half of a load */
	write_code(test, address, LOAD, 2);
	expect_exception(test, address, IS_FETCH);
	expect_exception(test, address + 2, IS_FETCH);
	write_code(test, address, LOAD, 4);
	expect_exception(test, address, IS_DATA);
}

/* These instructions are never executed. */
static unsigned long kernel_ecall(void)
{
	unsigned long address;

	asm volatile("lla %0, 1f\n"
		     "j 2f\n"
		     "1: ecall\n"
		     "2:\n"
		     : "=r" (address));
	return address;
}

static unsigned long kernel_load(void)
{
	unsigned long address;

	asm volatile("lla %0, 1f\n"
		     "j 2f\n"
		     "1: lw zero, (zero)\n"
		     "2:\n"
		     : "=r" (address));
	return address;
}

/* The sign of an address tells the kernel's from user mode's. */
static void skip_on_32_bits(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_64BIT))
		kunit_skip(test, "branch records are supported on 64 bits only");
}

/* A KVM guest may be able to write records: they must not make the kernel read its own data. */
static void only_code_of_the_kernel_is_read(struct kunit *test)
{
	u32 *data = kunit_kzalloc(test, sizeof(*data), GFP_KERNEL);

	skip_on_32_bits(test);
	KUNIT_ASSERT_NOT_NULL(test, data);
	*data = ECALL;
	expect_exception(test, kernel_ecall(), IS_SYSCALL);
	expect_exception(test, kernel_load(), IS_DATA);
	expect_exception(test, (unsigned long)data, IS_FETCH);
	expect_exception(test, BRANCH_KERNEL(1), IS_FETCH);
}

/* any_call has system calls, but not page faults. */
static void calls_include_system_calls_only(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR_BOTH | BR(ANY_CALL));
	unsigned long code = user_code(test);
	const struct branch_sample *sample;
	struct state_event *any;

	write_code(test, code, LOAD, 4);
	write_code(test, code + 4, ECALL, 4);
	fake_branch_in(test, s);
	push(test, code + 4, BRANCH_KERNEL(1), EXCEPTION);
	push(test, code, BRANCH_KERNEL(1), EXCEPTION);
	push(test, BRANCH_USER(1), BRANCH_KERNEL(1), EXCEPTION);
	sample = fake_branch_sample(test->priv, s);
	KUNIT_EXPECT_EQ(test, sample->nr, 1);
	KUNIT_EXPECT_EQ(test, sample->entry[0].from, code + 4);
	sched_out(test, s);

	/* any has all, also together with any_call */
	any = any_event(test, BR(ANY_CALL));
	push(test, code + 4, BRANCH_KERNEL(1), EXCEPTION);
	push(test, code, BRANCH_KERNEL(1), EXCEPTION);
	KUNIT_EXPECT_EQ(test, number_of_records(test, any), 2);
	sched_out(test, any);
}

/* --- the filters of one event among several ----------------------------- */

struct mode_row {
	const char	*name;
	u64		from;
	u64		to;
	/* Which events show it: of user mode, of the kernel, of both */
	bool		user;
	bool		kernel;
	bool		both;
};

static const struct mode_row mode_rows[] = {
	{ "user", BRANCH_USER(1), BRANCH_USER(2), true, false, true },
	{ "kernel", BRANCH_KERNEL(1), BRANCH_KERNEL(2), false, true, true },
	{ "user to kernel", BRANCH_USER(1), BRANCH_KERNEL(2), false, false, true },
	{ "kernel to user", BRANCH_KERNEL(1), BRANCH_USER(2), false, false, true },
	{ "from another mode to user", 0, BRANCH_USER(2) },
	{ "from another mode to kernel", 0, BRANCH_KERNEL(2) },
	{ "from user to another mode", BRANCH_USER(1), 0 },
	{ "from kernel to another mode", BRANCH_KERNEL(1), 0 },
	{ "from user to another mode, mispredicted", BRANCH_USER(1), 1 },
	{ "nowhere", 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(mode, mode_rows, name);

static void no_address_of_another_mode_is_shown(struct kunit *test)
{
	const struct mode_row *row = test->param_value;
	struct state_event *user = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct state_event *kernel = fake_branch_event(test, 4, BR(KERNEL) | BR(ANY));
	struct state_event *both = fake_branch_event(test, 5, BR_BOTH | BR(ANY));

	fake_branch_in(test, user);
	fake_branch_in(test, kernel);
	fake_branch_in(test, both);
	push(test, row->from, row->to, JUMP);
	KUNIT_EXPECT_EQ(test, number_of_records(test, user), row->user);
	KUNIT_EXPECT_EQ(test, number_of_records(test, kernel), row->kernel);
	KUNIT_EXPECT_EQ(test, number_of_records(test, both), row->both);
	sched_out(test, user);
	sched_out(test, kernel);
	KUNIT_EXPECT_EQ(test, number_of_records(test, both), row->both);
	sched_out(test, both);
}

/* If the hart records for one event only, traps that leave or enter its modes lack one end. */
static void trap_without_an_end_is_not_shown(struct kunit *test)
{
	static const u64 filters[] = {
		BR(ANY), BR(ANY) | BR(TYPE_SAVE), BR(ANY) | BR(NO_CYCLES) | BR(NO_FLAGS),
		BR(ANY_CALL), BR(ANY_RETURN),
	};
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake->pmu.branch.has_misprediction = true;
	for (unsigned int i = 0; i < ARRAY_SIZE(filters); i++) {
		struct state_event *s = fake_branch_event(test, 3, BR(KERNEL) | filters[i]);

		fake_branch_in(test, s);
		fake_branch_transfer(file, EXCEPTION, BRANCH_USER(1), BRANCH_KERNEL(1));
		fake_branch_transfer(file, INTERRUPT, BRANCH_USER(1), BRANCH_KERNEL(1));
		fake_branch_transfer(file, TRAP_RETURN, BRANCH_KERNEL(1), BRANCH_USER(1));
		fake_branch_transfer(file, CORO_SWAP, BRANCH_KERNEL(1), BRANCH_KERNEL(2));
		KUNIT_EXPECT_GE(test, fake_branch_count(file), 2);
		KUNIT_EXPECT_EQ(test, sample_one(test, s).from, BRANCH_KERNEL(1));
		sched_out(test, s);
	}
}

/* The event's own modes count, also if it excludes one that its filters have. */
static void excluded_mode_is_not_shown(struct kunit *test)
{
	struct state_event *user = fake_branch_new(test, 3, BR_BOTH | BR(ANY));
	struct state_event *both = fake_branch_event(test, 5, BR_BOTH | BR(ANY));

	fake_branch_exclude(user, EX_KERNEL);
	KUNIT_ASSERT_EQ(test, fake_branch_open(user), 0);
	fake_branch_in(test, user);
	fake_branch_in(test, both);
	push(test, BRANCH_KERNEL(1), BRANCH_KERNEL(2), JUMP);
	push(test, BRANCH_USER(1), BRANCH_KERNEL(2), INTERRUPT);
	KUNIT_EXPECT_EQ(test, number_of_records(test, user), 0);
	KUNIT_EXPECT_EQ(test, number_of_records(test, both), 2);
	sched_out(test, user);
	sched_out(test, both);
}

/* When it is alone again, records that are left from the other event are still checked. */
static void records_of_a_removed_event_are_not_shown(struct kunit *test)
{
	struct state_event *user = user_event(test, BR(CALL));
	struct state_event *any = any_event(test, 0);
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_transfer(file, CALL, BRANCH_KERNEL(1), BRANCH_KERNEL(2));
	fake_branch_transfer(file, CALL, BRANCH_USER(1), BRANCH_USER(2));
	fake_branch_transfer(file, JUMP, BRANCH_USER(3), BRANCH_USER(4));
	sched_out(test, any);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 3);
	KUNIT_EXPECT_EQ(test, sample_one(test, user).from, BRANCH_USER(1));
	/* Not for ever: checks take time. */
	this_hart(fake)->branch.task = NULL;
	KUNIT_EXPECT_EQ(test, number_of_records(test, user), 0);
	KUNIT_EXPECT_FALSE(test, this_hart(fake)->branch.other_records);
	sched_out(test, user);
}

/* sctrctl.NTBREN is not set. If it were, its branches would not be part of "any". */
static void branches_that_are_not_taken_are_not_shown(struct kunit *test)
{
	struct state_event *user = user_event(test, BR(ANY));
	struct state_event *any = any_event(test, 0);
	struct branch_file *file = to_branch_file(test->priv);

	fake_branch_transfer(file, NOT_TAKEN, BRANCH_USER(1), BRANCH_USER(2));
	KUNIT_EXPECT_EQ(test, number_of_records(test, any), 0);
	push(test, BRANCH_USER(1), BRANCH_USER(2), NOT_TAKEN);
	push(test, BRANCH_USER(1), BRANCH_USER(2), TAKEN);
	KUNIT_EXPECT_EQ(test, number_of_records(test, user), 1);
	sched_out(test, any);
	sched_out(test, user);
}

/* What the hardware cannot inhibit is left out by software. */
static void missing_inhibit_bits_are_made_good(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);
	const struct branch_sample *sample;
	struct state_event *s;

	fake_branch_restart(fake, PMU_SCTRCTL_TYPE(TAKEN));
	s = user_event(test, BR(CALL));
	fake_branch_transfer(file, TAKEN, BRANCH_USER(1), BRANCH_USER(2));
	fake_branch_transfer(file, CALL, BRANCH_USER(3), BRANCH_USER(4));
	fake_branch_transfer(file, JUMP, BRANCH_USER(5), BRANCH_USER(6));
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 2);
	sample = fake_branch_sample(fake, s);
	KUNIT_EXPECT_EQ(test, sample->nr, 1);
	KUNIT_EXPECT_EQ(test, sample->entry[0].from, BRANCH_USER(3));
	sched_out(test, s);
}

static void call_stack_has_the_callers(struct kunit *test)
{
	struct state_event *s = user_event(test, BR(CALL_STACK));
	struct branch_file *file = to_branch_file(test->priv);
	const struct branch_sample *sample;

	fake_branch_transfer(file, CALL, BRANCH_USER(1), BRANCH_USER(10));
	fake_branch_transfer(file, TAKEN, BRANCH_USER(11), BRANCH_USER(12));
	fake_branch_transfer(file, CALL, BRANCH_USER(13), BRANCH_USER(20));
	fake_branch_transfer(file, RETURN, BRANCH_USER(21), BRANCH_USER(14));
	fake_branch_transfer(file, IND_CALL, BRANCH_USER(15), BRANCH_USER(30));
	sample = fake_branch_sample(test->priv, s);
	KUNIT_EXPECT_EQ(test, sample->nr, 2);
	KUNIT_EXPECT_EQ(test, sample->entry[0].from, BRANCH_USER(15));
	KUNIT_EXPECT_EQ(test, sample->entry[1].from, BRANCH_USER(1));
	sched_out(test, s);
}

/* --- random filters and branches ---------------------------------------- */

#define SOAK_SEED	0x42524e43u
#define SOAK_ROUNDS	200
#define SOAK_EVENTS	3

/* Which filters have each type of record: all that hardware has, for system calls the first row */
static const struct {
	unsigned int	type;
	u64		filters;
} soak_types[] = {
	{ EXCEPTION, BR(ANY) | BR(ANY_CALL) },
	{ EXCEPTION, BR(ANY) },
	{ INTERRUPT, BR(ANY) },
	{ TRAP_RETURN, BR(ANY) | BR(ANY_RETURN) },
	{ NOT_TAKEN, 0 },
	{ TAKEN, BR(ANY) | BR(COND) },
	{ IND_CALL, BR(ANY) | BR(ANY_CALL) | BR(IND_CALL) },
	{ CALL, BR(ANY) | BR(ANY_CALL) | BR(CALL) },
	{ IND_JUMP, BR(ANY) | BR(IND_JUMP) },
	{ JUMP, BR(ANY) },
	{ CORO_SWAP, BR(ANY) | BR(ANY_CALL) | BR(ANY_RETURN) | BR(IND_CALL) },
	{ RETURN, BR(ANY) | BR(ANY_RETURN) },
	{ IND_LINK, BR(ANY) | BR(IND_JUMP) },
	{ LINK, BR(ANY) },
};

#define SOAK_SYSCALL	0
#define SOAK_FAULT	1
#define SOAK_RETURN	3
#define SOAK_TRAPS	4

/* A transfer of control: its row of soak_types, and its ends; 0 is in machine mode. */
struct soak_branch {
	unsigned int	row;
	u64		from;
	u64		to;
};

struct soak {
	struct kunit		*test;
	struct rnd_state	rnd;
	unsigned long		user;
	struct state_event	*s[SOAK_EVENTS];
	unsigned int		events;
	struct soak_branch	branch[BRANCH_DEPTH];
};

static u32 soak_random(struct soak *soak, u32 below)
{
	return prandom_u32_state(&soak->rnd) % below;
}

static void soak_new_filters(struct soak *soak, struct state_event *s)
{
	static const u64 types[] = {
		BR(ANY), BR(ANY_CALL), BR(ANY_RETURN), BR(IND_CALL), BR(COND), BR(IND_JUMP),
		BR(CALL),
	};
	static const u64 modes[] = { BR(USER), BR(KERNEL), BR_BOTH };
	static const u64 details[] = {
		0, BR(TYPE_SAVE), BR(PRIV_SAVE), BR(NO_FLAGS) | BR(NO_CYCLES),
	};
	u64 filters = modes[soak_random(soak, ARRAY_SIZE(modes))];

	for (unsigned int i = 1 + soak_random(soak, 2); i; i--)
		filters |= types[soak_random(soak, ARRAY_SIZE(types))];
	filters |= details[soak_random(soak, ARRAY_SIZE(details))];
	s->event.attr.branch_sample_type = filters;
	KUNIT_ASSERT_EQ(soak->test, fake_branch_open(s), 0);
}

/* An address of a load or of a system call, which is the next instruction. */
static u64 soak_address(struct soak *soak, unsigned int mode, bool is_ecall)
{
	if (mode == 0)
		return soak->user + (is_ecall ? 4 : 0);
	if (mode == 1)
		return is_ecall ? kernel_ecall() : kernel_load();
	return 0;
}

/*
 * Traps never enter user mode, and returns from traps never leave it; only these change the mode.
 */
static void soak_new_branch(struct soak *soak, struct soak_branch *branch)
{
	unsigned int mode = soak_random(soak, 3);
	bool is_ecall;

	branch->row = soak_random(soak, ARRAY_SIZE(soak_types));
	if (branch->row == SOAK_RETURN)
		mode = 1 + soak_random(soak, 2);
	is_ecall = branch->row == SOAK_SYSCALL ||
		   (branch->row != SOAK_FAULT && soak_random(soak, 2));
	branch->from = soak_address(soak, mode, is_ecall);
	if (branch->row == SOAK_RETURN)
		mode = soak_random(soak, 3);
	else if (branch->row < SOAK_TRAPS)
		mode = 1 + soak_random(soak, 2);
	branch->to = soak_address(soak, mode, soak_random(soak, 2));
	fake_branch_transfer(to_branch_file(soak->test->priv), soak_types[branch->row].type,
			     branch->from, branch->to);
}

static bool soak_wants_mode(const struct state_event *s, u64 address)
{
	return s->event.attr.branch_sample_type & (address >> 63 ? BR(KERNEL) : BR(USER));
}

/* An event of user mode only has no traps: they enter another mode. */
static bool soak_wants(const struct state_event *s, const struct soak_branch *branch)
{
	u64 filters = s->event.attr.branch_sample_type;

	if (branch->row < SOAK_TRAPS && !(filters & BR(KERNEL)))
		return false;

	return branch->from && branch->to && soak_wants_mode(s, branch->from) &&
	       soak_wants_mode(s, branch->to) && filters & soak_types[branch->row].filters;
}

static void soak_check(struct soak *soak, struct state_event *s)
{
	const struct branch_sample *sample = fake_branch_sample(soak->test->priv, s);
	unsigned int n = 0;

	for (unsigned int i = BRANCH_DEPTH; i--; ) {
		if (!soak_wants(s, &soak->branch[i]))
			continue;
		KUNIT_EXPECT_EQ(soak->test, sample->entry[n].from, soak->branch[i].from);
		KUNIT_EXPECT_EQ(soak->test, sample->entry[n].to, soak->branch[i].to);
		n++;
	}
	KUNIT_EXPECT_EQ_MSG(soak->test, sample->nr, n, "filters %llx",
			    s->event.attr.branch_sample_type);
}

static void soak_round(struct soak *soak)
{
	struct fake_pmu *fake = soak->test->priv;
	struct branch_file *file = to_branch_file(fake);

	/* The hardware lacks some bits. */
	fake_branch_restart(fake, soak_random(soak, 2) ? 0 :
			    (u64)prandom_u32_state(&soak->rnd) << 32 & BRANCH_CTL_ALL);
	fake->pmu.branch.has_misprediction = soak_random(soak, 2);
	soak->events = 1 + soak_random(soak, SOAK_EVENTS);
	for (unsigned int i = 0; i < soak->events; i++) {
		soak_new_filters(soak, soak->s[i]);
		fake_branch_in(soak->test, soak->s[i]);
	}
	for (unsigned int i = 0; i < BRANCH_DEPTH; i++)
		soak_new_branch(soak, &soak->branch[i]);
	file->status |= PMU_SCTRSTATUS_FROZEN;
	/* They are removed one after the other, which changes nothing for those that are left. */
	for (unsigned int out = 0; out < soak->events; out++) {
		for (unsigned int i = out; i < soak->events; i++)
			soak_check(soak, soak->s[i]);
		sched_out(soak->test, soak->s[out]);
	}
}

/* Each of several events sees exactly the branches that its own filters select. */
static void random_events_see_what_they_want(struct kunit *test)
{
	struct soak *soak = kunit_kzalloc(test, sizeof(*soak), GFP_KERNEL);

	skip_on_32_bits(test);
	KUNIT_ASSERT_NOT_NULL(test, soak);
	soak->test = test;
	prandom_seed_state(&soak->rnd, SOAK_SEED);
	soak->user = user_code(test);
	write_code(test, soak->user, LOAD, 4);
	write_code(test, soak->user + 4, ECALL, 4);
	for (unsigned int i = 0; i < SOAK_EVENTS; i++)
		soak->s[i] = fake_branch_new(test, 3 + i, 0);

	for (unsigned int i = 0; i < SOAK_ROUNDS; i++)
		soak_round(soak);
}

static struct kunit_case branch_sample_cases[] = {
	KUNIT_CASE(sample_has_the_records_newest_first),
	KUNIT_CASE(sample_without_records_is_empty),
	KUNIT_CASE(overflow_without_a_trap_shows_no_records_of_the_kernel),
	KUNIT_CASE(other_events_get_no_records),
	KUNIT_CASE(records_of_another_task_are_not_shown),
#ifdef CONFIG_RISCV_PMU_POLL
	KUNIT_CASE(polled_event_freezes_what_it_reads),
#endif
	KUNIT_CASE_PARAM(sample_has_as_many_records_as_the_hart, depth_gen_params),
	KUNIT_CASE_PARAM(hw_index_is_that_of_the_newest_record, index_gen_params),
	KUNIT_CASE_PARAM(type_is_translated, type_gen_params),
	KUNIT_CASE(type_is_left_out_if_not_wanted),
	KUNIT_CASE_PARAM(mode_is_that_of_the_target, priv_gen_params),
	KUNIT_CASE_PARAM(cycles_are_decoded, cycles_gen_params),
	KUNIT_CASE(cycles_of_records_left_out_are_added),
	KUNIT_CASE_PARAM(misprediction_is_shown_if_known, flags_gen_params),
	KUNIT_CASE(addresses_may_be_all_that_is_wanted),
	KUNIT_CASE(everything_may_be_wanted),
	KUNIT_CASE_PARAM(exception_is_known_by_its_instruction, insn_gen_params),
	KUNIT_CASE(instruction_may_be_at_the_end_of_memory),
	KUNIT_CASE(only_code_of_the_kernel_is_read),
	KUNIT_CASE(calls_include_system_calls_only),
	KUNIT_CASE_PARAM(no_address_of_another_mode_is_shown, mode_gen_params),
	KUNIT_CASE(trap_without_an_end_is_not_shown),
	KUNIT_CASE(excluded_mode_is_not_shown),
	KUNIT_CASE(records_of_a_removed_event_are_not_shown),
	KUNIT_CASE(branches_that_are_not_taken_are_not_shown),
	KUNIT_CASE(missing_inhibit_bits_are_made_good),
	KUNIT_CASE(call_stack_has_the_callers),
	KUNIT_CASE(random_events_see_what_they_want),
	{}
};

static struct kunit_suite branch_sample_suite = {
	.name		= "riscv_pmu_branch_sample",
	.init		= fake_branch_init,
	.exit		= fake_branch_exit,
	.test_cases	= branch_sample_cases,
};

kunit_test_suite(branch_sample_suite);
