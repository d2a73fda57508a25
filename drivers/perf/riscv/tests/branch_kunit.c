// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of branch/branch.c: what is recorded for each event and on each hart, context switches, and
 * harts that come and go. The expected bits of sctrctl have the numbers and names of Smctr, and
 * are not computed by the macros under test.
 */

#include <linux/delay.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/version.h>

#include "fake_branch.h"

#define U		BIT_ULL(0)
#define S		BIT_ULL(1)
#define RASEMU		BIT_ULL(7)
#define LCOFIFRZ	BIT_ULL(12)
#define EXCINH		BIT_ULL(33)
#define INTRINH		BIT_ULL(34)
#define TRETINH		BIT_ULL(35)
#define TKBRINH		BIT_ULL(37)
#define INDCALLINH	BIT_ULL(40)
#define DIRCALLINH	BIT_ULL(41)
#define INDJMPINH	BIT_ULL(42)
#define DIRJMPINH	BIT_ULL(43)
#define CORSWAPINH	BIT_ULL(44)
#define RETINH		BIT_ULL(45)
#define INDLJMPINH	BIT_ULL(46)
#define DIRLJMPINH	BIT_ULL(47)
#define TRAPS		(EXCINH | INTRINH | TRETINH)
#define ALL		(TRAPS | TKBRINH | INDCALLINH | DIRCALLINH | INDJMPINH | DIRJMPINH | \
			 CORSWAPINH | RETINH | INDLJMPINH | DIRLJMPINH)

/* Only these types are recorded */
#define ONLY(types)	(LCOFIFRZ | (ALL & ~(types)))

#define CALLS		(INDCALLINH | DIRCALLINH | CORSWAPINH)
#define RETURNS		(RETINH | CORSWAPINH)
#define STACK_CTL	(RASEMU | ONLY(CALLS | RETURNS))

/* --- the filters of an event -------------------------------------------- */

struct filter_row {
	const char	*name;
	u64		filters;
	unsigned int	exclude;
	u64		ctl;
};

static const struct filter_row filter_rows[] = {
	{ "any", BR_BOTH | BR(ANY), 0, U | S | ONLY(ALL) },
	{ "any, user", BR(USER) | BR(ANY), 0, U | ONLY(ALL & ~TRAPS) },
	{ "any, kernel", BR(KERNEL) | BR(ANY), 0, S | ONLY(ALL) },
	{ "any_call", BR_BOTH | BR(ANY_CALL), 0, U | S | ONLY(CALLS | EXCINH) },
	{ "any_call, user", BR(USER) | BR(ANY_CALL), 0, U | ONLY(CALLS) },
	{ "any_call, kernel", BR(KERNEL) | BR(ANY_CALL), 0, S | ONLY(CALLS | EXCINH) },
	{ "any_return", BR_BOTH | BR(ANY_RETURN), 0, U | S | ONLY(RETURNS | TRETINH) },
	{ "any_return, user", BR(USER) | BR(ANY_RETURN), 0, U | ONLY(RETURNS) },
	{ "ind_call", BR_BOTH | BR(IND_CALL), 0, U | S | ONLY(INDCALLINH | CORSWAPINH) },
	{ "call", BR_BOTH | BR(CALL), 0, U | S | ONLY(DIRCALLINH) },
	{ "cond", BR_BOTH | BR(COND), 0, U | S | ONLY(TKBRINH) },
	{ "ind_jump", BR_BOTH | BR(IND_JUMP), 0, U | S | ONLY(INDJMPINH | INDLJMPINH) },
	{ "call stack", BR(USER) | BR(CALL_STACK), 0, U | STACK_CTL },
	/* perf's core has added these modes. A call stack is of user mode only. */
	{ "call stack, no mode", BR_BOTH | BR(HV) | BR(CALL_STACK), 0, U | STACK_CTL },
	{ "call stack, hypervisor excluded", BR_BOTH | BR(CALL_STACK), EX_HV, U | STACK_CTL },
	{ "any_call and any_return", BR_BOTH | BR(ANY_CALL) | BR(ANY_RETURN), 0,
	  U | S | ONLY(CALLS | RETURNS | EXCINH | TRETINH) },
	{ "cond and ind_jump, user", BR(USER) | BR(COND) | BR(IND_JUMP), 0,
	  U | ONLY(TKBRINH | INDJMPINH | INDLJMPINH) },
	{ "call and any", BR_BOTH | BR(CALL) | BR(ANY), 0, U | S | ONLY(ALL) },
	{ "what samples show", BR(USER) | BR(CALL) | BR(NO_FLAGS) | BR(NO_CYCLES) |
	  BR(TYPE_SAVE) | BR(HW_INDEX) | BR(PRIV_SAVE), 0, U | ONLY(DIRCALLINH) },
	{ "kernel excluded", BR_BOTH | BR(ANY), EX_KERNEL, U | ONLY(ALL & ~TRAPS) },
	{ "user excluded", BR_BOTH | BR(ANY), EX_USER, S | ONLY(ALL) },
	{ "hypervisor excluded", BR_BOTH | BR(ANY), EX_HV, U | S | ONLY(ALL) },
};

KUNIT_ARRAY_PARAM_DESC(filter, filter_rows, name);

static void filters_select_what_is_recorded(struct kunit *test)
{
	const struct filter_row *row = test->param_value;
	struct state_event *s = fake_branch_new(test, 3, row->filters);
	struct branch_file *file = to_branch_file(test->priv);

	fake_branch_exclude(s, row->exclude);
	KUNIT_ASSERT_EQ(test, fake_branch_open(s), 0);
	fake_branch_in(test, s);
	KUNIT_EXPECT_EQ(test, file->ctl, row->ctl);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, file->ctl, 0);
}

/* Hardware may lack any bit but the modes. Those that it has not are not taken for recorded. */
static void missing_bits_of_the_hardware_are_not_written(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);
	struct state_event *s;

	fake_branch_restart(fake, ALL);
	s = fake_branch_event(test, 3, BR(USER) | BR(CALL));
	/* A later extension may give them another meaning. */
	file->ctl_bits = U64_MAX;
	fake_branch_in(test, s);
	KUNIT_EXPECT_EQ(test, file->ctl, U | LCOFIFRZ);
	sched_out(test, s);
}

/* --- what is refused ---------------------------------------------------- */

struct open_row {
	const char	*name;
	u64		filters;
	unsigned int	exclude;
	/* What the hardware lacks: bits of sctrctl, or all of CTR */
	u64		missing;
	bool		absent;
	bool		no_types;
	bool		vendor_irq;
	bool		polled;
	bool		counting;
	int		err;
};

static const struct open_row open_rows[] = {
	{ "any", BR_BOTH | BR(ANY) },
	{ "any, no CTR", BR_BOTH | BR(ANY), .absent = true, .err = -EOPNOTSUPP },
	{ "counting", BR_BOTH | BR(ANY), .counting = true },
	{ "counting, no CTR", BR_BOTH | BR(ANY), .absent = true, .counting = true,
	  .err = -EOPNOTSUPP },
	{ "counting, abort_tx", BR_BOTH | BR(ABORT_TX), .counting = true, .err = -EOPNOTSUPP },
	{ "abort_tx", BR_BOTH | BR(ANY) | BR(ABORT_TX), .err = -EOPNOTSUPP },
	{ "in_tx", BR_BOTH | BR(ANY) | BR(IN_TX), .err = -EOPNOTSUPP },
	{ "no_tx", BR_BOTH | BR(ANY) | BR(NO_TX), .err = -EOPNOTSUPP },
	{ "counters", BR_BOTH | BR(ANY) | BR(COUNTERS), .err = -EOPNOTSUPP },
	{ "a bit of a later kernel", BR_BOTH | BR(ANY) | BIT_ULL(40), .err = -EOPNOTSUPP },
	/* perf's core adds the modes that the event does not exclude, if the user gives none. */
	{ "hv of perf's core", BR_BOTH | BR(HV) | BR(ANY) },
	{ "hv of perf's core, no kernel", BR(USER) | BR(HV) | BR(ANY), EX_KERNEL },
	{ "hv of perf's core, no user", BR(KERNEL) | BR(HV) | BR(ANY), EX_USER },
	{ "hv of perf's core, nothing else", BR(HV) | BR(ANY), EX_USER | EX_KERNEL,
	  .err = -EINVAL },
	{ "hv alone", BR(HV) | BR(ANY), .err = -EOPNOTSUPP },
	{ "hv and user", BR(USER) | BR(HV) | BR(ANY), .err = -EOPNOTSUPP },
	{ "hv and kernel", BR(KERNEL) | BR(HV) | BR(ANY), .err = -EOPNOTSUPP },
	{ "hv, which is excluded", BR_BOTH | BR(HV) | BR(ANY), EX_HV, .err = -EOPNOTSUPP },
	{ "hv and kernel, which is excluded", BR_BOTH | BR(HV) | BR(ANY), EX_KERNEL,
	  .err = -EOPNOTSUPP },
	{ "user excluded", BR(USER) | BR(ANY), EX_USER, .err = -EINVAL },
	{ "kernel excluded", BR(KERNEL) | BR(ANY), EX_KERNEL, .err = -EINVAL },
	{ "both excluded", BR_BOTH | BR(ANY), EX_USER | EX_KERNEL | EX_HV, .err = -EINVAL },
	{ "host excluded", BR_BOTH | BR(ANY), EX_HOST, .err = -EINVAL },
	{ "no type", BR_BOTH, .err = -EINVAL },
	{ "no type, but flags", BR_BOTH | BR(TYPE_SAVE), .err = -EINVAL },
	{ "no mode", BR(ANY), .err = -EINVAL },
	{ "call stack", BR(USER) | BR(CALL_STACK) },
	{ "call stack, no RASEMU", BR(USER) | BR(CALL_STACK), .missing = RASEMU,
	  .err = -EOPNOTSUPP },
	{ "call stack of both", BR_BOTH | BR(CALL_STACK), .err = -EOPNOTSUPP },
	{ "call stack of the kernel", BR(KERNEL) | BR(CALL_STACK), .err = -EOPNOTSUPP },
	{ "call stack, no user", BR(KERNEL) | BR(HV) | BR(CALL_STACK), EX_USER, .err = -EINVAL },
	{ "any, no RASEMU", BR_BOTH | BR(ANY), .missing = RASEMU },
	{ "call stack and any", BR(USER) | BR(CALL_STACK) | BR(ANY), .err = -EINVAL },
	{ "call stack and any_call", BR(USER) | BR(CALL_STACK) | BR(ANY_CALL), .err = -EINVAL },
	{ "call stack and any_return", BR(USER) | BR(CALL_STACK) | BR(ANY_RETURN), .err = -EINVAL },
	{ "call stack and ind_call", BR(USER) | BR(CALL_STACK) | BR(IND_CALL), .err = -EINVAL },
	{ "call stack and call", BR(USER) | BR(CALL_STACK) | BR(CALL), .err = -EINVAL },
	{ "call stack and cond", BR(USER) | BR(CALL_STACK) | BR(COND), .err = -EINVAL },
	{ "call stack and ind_jump", BR(USER) | BR(CALL_STACK) | BR(IND_JUMP), .err = -EINVAL },
#ifdef CONFIG_RISCV_PMU_POLL
	/* Nothing freezes the records of the kernel before they are read. */
	{ "polled, user", BR(USER) | BR(ANY), .polled = true },
	{ "polled, kernel", BR(KERNEL) | BR(ANY), .polled = true, .err = -EOPNOTSUPP },
	{ "polled, both", BR_BOTH | BR(ANY), .polled = true, .err = -EOPNOTSUPP },
	{ "polled, both, no kernel", BR_BOTH | BR(ANY), EX_KERNEL, .polled = true },
	{ "polled, call stack", BR(USER) | BR(CALL_STACK), .polled = true },
	{ "counting, polled", BR_BOTH | BR(ANY), .polled = true, .counting = true },
#endif
	{ "no LCOFIFRZ, user", BR(USER) | BR(ANY), .missing = LCOFIFRZ },
	{ "no LCOFIFRZ, both", BR_BOTH | BR(ANY), .missing = LCOFIFRZ, .err = -EOPNOTSUPP },
	{ "vendor's interrupt, user", BR(USER) | BR(ANY), .vendor_irq = true },
	{ "vendor's interrupt, both", BR_BOTH | BR(ANY), .vendor_irq = true, .err = -EOPNOTSUPP },
	/* Then software cannot filter by type. */
	{ "no types", BR_BOTH | BR(ANY) | BR(TYPE_SAVE), .no_types = true },
	{ "no types, returns", BR_BOTH | BR(ANY_RETURN), .no_types = true },
	{ "no types, system calls", BR_BOTH | BR(ANY_CALL), .no_types = true, .err = -EOPNOTSUPP },
	{ "no types, any and calls", BR_BOTH | BR(ANY) | BR(ANY_CALL), .no_types = true },
	{ "no types, calls of user mode", BR(USER) | BR(ANY_CALL), .no_types = true },
	{ "no types, no filter either", BR(USER) | BR(CALL), .missing = TKBRINH, .no_types = true,
	  .err = -EOPNOTSUPP },
	{ "no filter, but types", BR(USER) | BR(CALL), .missing = TKBRINH },
	{ "no types, no filter needed", BR(USER) | BR(COND), .missing = TKBRINH,
	  .no_types = true },
	/* Smctr: all inhibits are optional, and neither of these needs those of traps. */
	{ "no types, no filters, user", BR(USER) | BR(ANY), .missing = ALL,
	  .no_types = true },
	{ "no types, no filters, call stack", BR(USER) | BR(CALL_STACK), .missing = ALL,
	  .no_types = true },
	{ "no types, no filters, both", BR_BOTH | BR(ANY), .missing = ALL,
	  .no_types = true },
	{ "no types, no filters, returns", BR_BOTH | BR(ANY_RETURN), .missing = ALL,
	  .no_types = true, .err = -EOPNOTSUPP },
};

KUNIT_ARRAY_PARAM_DESC(open, open_rows, name);

static void open_checks_the_filters(struct kunit *test)
{
	const struct open_row *row = test->param_value;
	struct state_event *s = fake_branch_new(test, 3, row->filters);
	bool records = !row->err && !row->counting;
	struct fake_pmu *fake = test->priv;

	fake_branch_restart(fake, row->missing);
	if (row->absent)
		fake->pmu.branch.depth = 0;
	if (row->vendor_irq)
		fake->pmu.hwirq = PMU_IRQ_THEAD;
	fake->pmu.branch.has_types = !row->no_types;
	s->ev.flags = (row->counting ? 0 : RISCV_PMU_EV_SAMPLING) |
		      (row->polled ? RISCV_PMU_EV_POLLED : 0);
	fake_branch_exclude(s, row->exclude);
	KUNIT_EXPECT_EQ(test, fake_branch_open(s), row->err);
	KUNIT_EXPECT_EQ(test, !!(s->ev.flags & RISCV_PMU_EV_BRANCH), records);
	/* add, stop and del would miss the event on their fast paths. */
	/* perf allocates memory for a task's call stack. */
	KUNIT_EXPECT_EQ(test, !!(s->event.attach_state & PERF_ATTACH_TASK_DATA),
			records && row->filters & BR(CALL_STACK));
}

static void events_without_branch_records_are_left_alone(struct kunit *test)
{
	struct state_event *s = fake_branch_new(test, 3, BR(ABORT_TX));
	struct fake_pmu *fake = test->priv;

	s->event.attr.sample_type = PERF_SAMPLE_IP;
	KUNIT_EXPECT_EQ(test, fake_branch_open(s), 0);
	KUNIT_EXPECT_FALSE(test, s->ev.flags & RISCV_PMU_EV_BRANCH);
	fake->pmu.branch.depth = 0;
	KUNIT_EXPECT_EQ(test, fake_branch_open(s), 0);
	fake_branch_in(test, s);
	KUNIT_EXPECT_EQ(test, to_branch_file(fake)->watches, 0);
	sched_out(test, s);
}

/* --- groups ------------------------------------------------------------- */

enum group_member {
	NO_RECORDS,
	ANY_RECORDS,
	CALL_RECORDS,
	CALL_STACK,
	COUNTED_CALL_STACK,
	FOREIGN_CALL_STACK,
	EBB_NO_RECORDS,
	EBB_ANY_RECORDS,
	EBB_CALL_RECORDS,
};

struct group_row {
	const char		*name;
	enum group_member	leader;
	enum group_member	sibling;
	enum group_member	event;
	int			err;
	/* The hardware's records have no type. */
	bool			no_types;
};

static const struct group_row group_rows[] = {
	{ "no other records", NO_RECORDS, NO_RECORDS, CALL_STACK, 0 },
	{ "the same records", ANY_RECORDS, ANY_RECORDS, ANY_RECORDS, 0 },
	{ "call stacks only", CALL_STACK, CALL_STACK, CALL_STACK, 0 },
	{ "call stack of the leader", CALL_STACK, NO_RECORDS, ANY_RECORDS, -EINVAL },
	{ "call stack of a sibling", NO_RECORDS, CALL_STACK, ANY_RECORDS, -EINVAL },
	{ "call stack joins others' leader", ANY_RECORDS, NO_RECORDS, CALL_STACK, -EINVAL },
	{ "call stack joins others' sibling", NO_RECORDS, ANY_RECORDS, CALL_STACK, -EINVAL },
	{ "a counting event has no call stack", COUNTED_CALL_STACK, COUNTED_CALL_STACK,
	  ANY_RECORDS, 0 },
	{ "nor does it get one", CALL_STACK, CALL_STACK, NO_RECORDS, 0 },
	{ "leader of another PMU", FOREIGN_CALL_STACK, NO_RECORDS, ANY_RECORDS, 0 },
	{ "sibling of another PMU", NO_RECORDS, FOREIGN_CALL_STACK, ANY_RECORDS, 0 },
	{ "other types", ANY_RECORDS, NO_RECORDS, CALL_RECORDS, 0 },
	/* Then software cannot filter by type. */
	{ "other types, records have none", ANY_RECORDS, NO_RECORDS, CALL_RECORDS, -EINVAL, true },
	{ "the same types, records have none", ANY_RECORDS, ANY_RECORDS, ANY_RECORDS, 0, true },
	/* The page of event-based branches has the records once. */
	{ "EBB, the same records", EBB_ANY_RECORDS, EBB_ANY_RECORDS, EBB_ANY_RECORDS, 0 },
	{ "EBB, one has records", EBB_NO_RECORDS, EBB_NO_RECORDS, EBB_ANY_RECORDS, 0 },
#ifdef CONFIG_RISCV_PMU_EBB
	{ "EBB, others than the leader", EBB_ANY_RECORDS, EBB_NO_RECORDS, EBB_CALL_RECORDS,
	  -EINVAL },
	{ "EBB, others than a sibling", EBB_NO_RECORDS, EBB_CALL_RECORDS, EBB_ANY_RECORDS,
	  -EINVAL },
#endif
};

KUNIT_ARRAY_PARAM_DESC(group, group_rows, name);

static struct state_event *new_member(struct kunit *test, enum group_member kind)
{
	static const u64 filters[] = {
		[ANY_RECORDS]		= BR(ANY),
		[CALL_RECORDS]		= BR(CALL),
		[CALL_STACK]		= BR(CALL_STACK),
		[COUNTED_CALL_STACK]	= BR(CALL_STACK),
		[FOREIGN_CALL_STACK]	= BR(CALL_STACK),
		[EBB_ANY_RECORDS]	= BR(ANY),
		[EBB_CALL_RECORDS]	= BR(CALL),
	};
	struct state_event *s = fake_branch_new(test, 3, BR(USER) | filters[kind]);

	if (!filters[kind])
		s->event.attr.sample_type = 0;
	if (kind == COUNTED_CALL_STACK || kind >= EBB_NO_RECORDS)
		s->event.attr.sample_period = 0;
	s->ev.flags = kind != COUNTED_CALL_STACK ? RISCV_PMU_EV_SAMPLING : 0;
#ifdef CONFIG_RISCV_PMU_EBB
	if (kind >= EBB_NO_RECORDS)
		s->ev.flags |= RISCV_PMU_EV_EBB;
#endif
	return s;
}

/* What an event of another PMU has in its pmu_private is not known. */
static void make_foreign(struct state_event *s, struct pmu *foreign)
{
	s->event.pmu = foreign;
	s->event.pmu_private = NULL;
}

static void group_has_call_stacks_or_other_records(struct kunit *test)
{
	const struct group_row *row = test->param_value;
	struct perf_event_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct pmu *foreign = kunit_kzalloc(test, sizeof(*foreign), GFP_KERNEL);
	struct state_event *leader = new_member(test, row->leader);
	struct state_event *sibling = new_member(test, row->sibling);
	struct state_event *s = new_member(test, row->event);
	struct fake_pmu *fake = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	KUNIT_ASSERT_NOT_NULL(test, foreign);
	mutex_init(&ctx->mutex);
	fake->pmu.pmu.start_txn = riscv_pmu_start_txn;
	leader->event.ctx = ctx;
	KUNIT_ASSERT_EQ(test, fake_branch_open(leader), 0);
	KUNIT_ASSERT_EQ(test, fake_branch_open(sibling), 0);
	if (row->leader == FOREIGN_CALL_STACK)
		make_foreign(leader, foreign);
	if (row->sibling == FOREIGN_CALL_STACK)
		make_foreign(sibling, foreign);

	guard(mutex)(&ctx->mutex);
	sibling->event.group_leader = &leader->event;
	list_add_tail(&sibling->event.sibling_list, &leader->event.sibling_list);
	s->event.group_leader = &leader->event;
	fake->pmu.branch.has_types = !row->no_types;
	KUNIT_EXPECT_EQ(test, fake_branch_open(s), row->err);
}

/* --- what the hart records ---------------------------------------------- */

struct union_member {
	u64	filters;
	u64	ctl;
};

static const struct union_member union_members[] = {
	{ BR(USER) | BR(COND), U | ONLY(TKBRINH) },
	{ BR(KERNEL) | BR(ANY_CALL), S | ONLY(CALLS | EXCINH) },
	{ BR(USER) | BR(IND_JUMP) | BR(ANY_RETURN), U | ONLY(INDJMPINH | INDLJMPINH | RETURNS) },
};

#define UNION_MEMBERS	ARRAY_SIZE(union_members)

/* sctrctl has the modes of all, and inhibits what all inhibit. */
static u64 union_of(unsigned int members)
{
	u64 modes = 0, inhibited = ALL;

	for (unsigned int i = 0; i < UNION_MEMBERS; i++) {
		if (!(members & BIT(i)))
			continue;
		modes |= union_members[i].ctl & (U | S);
		inhibited &= union_members[i].ctl;
	}

	return members ? modes | LCOFIFRZ | inhibited : 0;
}

static const unsigned int union_orders[][UNION_MEMBERS] = {
	{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
};

static void expect_union(struct kunit *test, unsigned int members, unsigned int clears)
{
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	KUNIT_EXPECT_EQ(test, file->ctl, union_of(members));
	KUNIT_EXPECT_EQ(test, this_hart(fake)->branch.ctl, union_of(members));
	KUNIT_EXPECT_EQ(test, file->watches, hweight32(members));
	KUNIT_EXPECT_EQ(test, file->clears, clears);
}

static void add_and_remove(struct kunit *test, struct state_event **s, const unsigned int *in,
			   const unsigned int *out)
{
	unsigned int clears = to_branch_file(test->priv)->clears, members = 0;

	for (unsigned int i = 0; i < UNION_MEMBERS; i++) {
		members |= BIT(in[i]);
		fake_branch_in(test, s[in[i]]);
		expect_union(test, members, clears + 1);
	}
	for (unsigned int i = 0; i < UNION_MEMBERS; i++) {
		members &= ~BIT(out[i]);
		sched_out(test, s[out[i]]);
		expect_union(test, members, clears + (members ? 1 : 2));
	}
}

static void hart_records_what_its_events_want(struct kunit *test)
{
	struct state_event *s[UNION_MEMBERS];

	for (unsigned int i = 0; i < UNION_MEMBERS; i++)
		s[i] = fake_branch_event(test, 3 + i, union_members[i].filters);

	for (unsigned int in = 0; in < ARRAY_SIZE(union_orders); in++) {
		for (unsigned int out = 0; out < ARRAY_SIZE(union_orders); out++)
			add_and_remove(test, s, union_orders[in], union_orders[out]);
	}
}

/* At a context switch, each event but the first is removed without reading its counter. */
static void events_are_removed_together(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	unsigned int clears = to_branch_file(fake)->clears;
	struct state_event *s[UNION_MEMBERS];

	for (unsigned int i = 0; i < UNION_MEMBERS; i++)
		s[i] = fake_branch_event(test, 3 + i, union_members[i].filters);

	for (unsigned int round = 1; round <= 3; round++) {
		for (unsigned int i = 0; i < UNION_MEMBERS; i++)
			fake_branch_in(test, s[i]);
		expect_union(test, BIT(UNION_MEMBERS) - 1, clears + 1);
		fake_advance(fake, 10);
		begin(fake);
		for (unsigned int i = 0; i < UNION_MEMBERS; i++)
			del(s[i]);
		finish(fake);
		clears += 2;
		expect_union(test, 0, clears);
		for (unsigned int i = 0; i < UNION_MEMBERS; i++)
			KUNIT_EXPECT_EQ(test, local64_read(&s[i]->event.count), 10 * round);
	}
}

/* Whose records are left from before is not known. */
static void first_event_finds_no_records(struct kunit *test)
{
	struct state_event *a = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct state_event *b = fake_branch_event(test, 4, BR(USER) | BR(CALL));
	struct branch_file *file = to_branch_file(test->priv);

	for (unsigned int i = 0; i < 5; i++)
		fake_branch_push(file, BRANCH_USER(i), BRANCH_USER(i + 1), PMU_BRANCH_CALL);
	file->status |= PMU_SCTRSTATUS_FROZEN;
	fake_branch_in(test, a);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
	KUNIT_EXPECT_EQ(test, file->status, 0);

	fake_branch_transfer(file, PMU_BRANCH_CALL, BRANCH_USER(7), BRANCH_USER(8));
	fake_branch_in(test, b);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 1);
	sched_out(test, a);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 1);
	sched_out(test, b);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
}

/* Return-address-stack emulation ignores filters of types, so the two are multiplexed. */
static void call_stacks_and_others_exclude_each_other(struct kunit *test)
{
	struct state_event *any = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct state_event *stack = fake_branch_event(test, 4, BR(USER) | BR(CALL_STACK));
	struct state_event *other = fake_branch_event(test, 5, BR(USER) | BR(CALL_STACK));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, any);
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, stack), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, fake_is_attached(&stack->ev));
	KUNIT_EXPECT_EQ(test, this_hart(fake)->wanted.sched.used, C(3));
	KUNIT_EXPECT_EQ(test, file->ctl, U | ONLY(ALL & ~TRAPS));
	KUNIT_EXPECT_EQ(test, file->watches, 1);
	sched_out(test, any);

	fake_branch_in(test, stack);
	/* It could return to its counter at once. */
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, any), -EAGAIN);
	KUNIT_EXPECT_FALSE(test, fake_is_attached(&any->ev));
	KUNIT_EXPECT_EQ(test, this_hart(fake)->wanted.sched.used, C(4));
	KUNIT_EXPECT_EQ(test, file->ctl, U | STACK_CTL);
	fake_branch_in(test, other);
	KUNIT_EXPECT_EQ(test, file->ctl, U | STACK_CTL);
	sched_out(test, stack);
	sched_out(test, other);
	fake_branch_in(test, any);
	sched_out(test, any);
}

/* Software cannot filter by type then, so that events of other types are multiplexed. */
static void events_of_other_types_exclude_each_other_without_types(struct kunit *test)
{
	struct state_event *user = fake_branch_event(test, 3, BR(USER) | BR(CALL));
	struct state_event *both = fake_branch_event(test, 4, BR_BOTH | BR(CALL));
	struct state_event *cond = fake_branch_event(test, 5, BR(USER) | BR(COND));
	struct fake_pmu *fake = test->priv;

	fake->pmu.branch.has_types = false;
	fake_branch_in(test, user);
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, cond), -EAGAIN);
	fake_branch_in(test, both);
	sched_out(test, user);
	sched_out(test, both);
	fake_branch_in(test, cond);
	sched_out(test, cond);
}

/* A split event that gets no records gives back both of its counters. */
static void refused_split_event_leaves_no_counter_behind(struct kunit *test)
{
	struct state_event *any = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct state_event *s = fake_branch_new(test, 4, BR(USER) | BR(CALL_STACK));
	struct riscv_pmu_event *part = kunit_kzalloc(test, sizeof(*part), GFP_KERNEL);
	struct fake_pmu *fake = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, part);
	fake_event_init(part, fake_config(1, RISCV_PMU_INH_U | RISCV_PMU_INH_M), C(5));
	part->event = &s->event;
	part->flags |= RISCV_PMU_EV_SAMPLING;
	part->left = &part->own_left;
	part->split.other = &s->ev;
	s->ev.split.other = part;
	KUNIT_ASSERT_EQ(test, fake_branch_open(s), 0);

	fake_branch_in(test, any);
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, s), -EAGAIN);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->wanted.sched.used, C(3));
	sched_out(test, any);
	fake_branch_in(test, s);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->wanted.sched.used, C(4) | C(5));
	sched_out(test, s);
}

/* The hardware freezes the records before the interrupt is handled. */
static void unfreezing_keeps_the_position(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	file->status = PMU_SCTRSTATUS_FROZEN | 5;
	scoped_guard(irqsave)
		riscv_pmu_branch_unfreeze(this_hart(fake));
	KUNIT_EXPECT_EQ(test, file->status, PMU_SCTRSTATUS_FROZEN | 5);

	fake_branch_in(test, s);
	file->status = PMU_SCTRSTATUS_FROZEN | 5;
	scoped_guard(irqsave)
		riscv_pmu_branch_unfreeze(this_hart(fake));
	KUNIT_EXPECT_EQ(test, file->status, 5);
	sched_out(test, s);
}

static void expect_calls(struct kunit *test, unsigned int first, unsigned int calls)
{
	struct branch_file *file = to_branch_file(test->priv);
	unsigned int left = min(calls, file->depth);

	KUNIT_EXPECT_EQ(test, fake_branch_count(file), left);
	for (unsigned int n = 0; n < left; n++) {
		const struct riscv_pmu_branch_record *record = fake_branch_record(file, n);
		unsigned int call = first + calls - 1 - n;

		KUNIT_EXPECT_EQ(test, record->source, BRANCH_USER(call) | PMU_BRANCH_VALID);
		KUNIT_EXPECT_EQ(test, record->target, BRANCH_USER(call + 100));
		KUNIT_EXPECT_EQ(test, record->data, PMU_BRANCH_CALL);
	}
}

static void make_calls(struct kunit *test, unsigned int first, unsigned int calls)
{
	for (unsigned int call = first; call < first + calls; call++)
		fake_branch_transfer(to_branch_file(test->priv), PMU_BRANCH_CALL,
				     BRANCH_USER(call), BRANCH_USER(call + 100));
}

/* --- records that are held ---------------------------------------------- */

static void hold(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_branch_hold(this_hart(fake));
}

static void release(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_branch_release(this_hart(fake));
}

/* Another task's event, whose counter runs on, may overflow while ebb/ebb.c holds the records. */
static void held_records_stay_frozen(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, s);
	make_calls(test, 10, 5);
	hold(fake);
	for (unsigned int i = 0; i < 2; i++) {
		fake_branch_overflow(fake);
		make_calls(test, 20, 1);
		KUNIT_EXPECT_EQ(test, file->status, PMU_SCTRSTATUS_FROZEN | 5);
	}
	release(fake);
	KUNIT_EXPECT_EQ(test, file->status, 5);
	expect_calls(test, 10, 5);
	fake_branch_overflow(fake);
	KUNIT_EXPECT_EQ(test, file->status, 5);
	sched_out(test, s);
}

static void records_that_are_not_held_are_not_released(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, s);
	make_calls(test, 10, 5);
	file->status |= PMU_SCTRSTATUS_FROZEN;
	release(fake);
	KUNIT_EXPECT_EQ(test, file->status, PMU_SCTRSTATUS_FROZEN | 5);
	expect_calls(test, 10, 5);
	sched_out(test, s);
}

/* What was recorded unfrozen may be of a handler. */
static void held_records_that_something_unfroze_are_cleared(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, s);
	hold(fake);
	file->status &= ~PMU_SCTRSTATUS_FROZEN;
	make_calls(test, 10, 5);
	release(fake);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
	sched_out(test, s);
}

static void holding_ends_with_the_last_event(struct kunit *test)
{
	struct state_event *a = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct state_event *b = fake_branch_event(test, 4, BR(USER) | BR(ANY));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, a);
	hold(fake);
	sched_out(test, a);
	fake_branch_in(test, b);
	KUNIT_EXPECT_EQ(test, file->status, 0);
	fake_branch_overflow(fake);
	KUNIT_EXPECT_EQ(test, file->status, 0);
	hold(fake);
	sched_out(test, b);
	/* The hart may have lost its CSRs. */
	file->absent = true;
	release(fake);
	file->absent = false;
}

/* --- context switches --------------------------------------------------- */

static struct riscv_pmu_branch_ctx *new_ctx(struct kunit *test)
{
	struct riscv_pmu_branch_ctx *ctx;

	ctx = kunit_kzalloc(test, struct_size(ctx, records, BRANCH_DEPTH), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ctx);
	return ctx;
}

/* This thread is switched out or in. @ctx is what perf has allocated for it, which may be NULL. */
static void switch_task(struct kunit *test, struct riscv_pmu_branch_ctx *ctx, bool in)
{
	struct fake_pmu *fake = test->priv;
	struct perf_event_pmu_context pmu_ctx = { .pmu = &fake->pmu.pmu };
#if KERNEL_VERSION(6, 15, 0) > LINUX_VERSION_CODE
	pmu_ctx.task_ctx_data = ctx;
	riscv_pmu_branch_switch(&pmu_ctx, in);
#else
	struct perf_ctx_data data = { .data = ctx };
	struct perf_ctx_data *old = rcu_dereference_raw(current->perf_ctx_data);

	rcu_assign_pointer(current->perf_ctx_data, ctx ? &data : NULL);
	riscv_pmu_branch_switch(&pmu_ctx, in);
	rcu_assign_pointer(current->perf_ctx_data, old);
#endif
}

static void make_returns(struct kunit *test, unsigned int returns)
{
	while (returns--)
		fake_branch_transfer(to_branch_file(test->priv), PMU_BRANCH_RETURN, BRANCH_USER(9),
				     BRANCH_USER(8));
}

struct switch_row {
	const char	*name;
	unsigned int	calls;
	unsigned int	returns;
	unsigned int	others;
};

static const struct switch_row switch_rows[] = {
	{ "no call", 0, 0, 3 },
	{ "one call", 1, 0, 3 },
	{ "some calls", 7, 0, 3 },
	{ "some calls and returns", 9, 4, 3 },
	{ "all calls have returned", 5, 5, 3 },
	{ "as many calls as records", BRANCH_DEPTH, 0, 3 },
	{ "more calls than records", BRANCH_DEPTH + 5, 0, 3 },
	{ "another task has none", 6, 0, 0 },
	{ "another task has more", 2, 0, BRANCH_DEPTH + 1 },
};

KUNIT_ARRAY_PARAM_DESC(switch, switch_rows, name);

/* Interrupts are off, so that the thread is not really switched out meanwhile. */
static void call_stack_returns_with_its_task(struct kunit *test)
{
	const struct switch_row *row = test->param_value;
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(CALL_STACK));
	struct riscv_pmu_branch_ctx *task = new_ctx(test), *other = new_ctx(test);
	struct branch_file *file = to_branch_file(test->priv);
	unsigned long status, saved;

	fake_branch_in(test, s);
	scoped_guard(irqsave) {
		make_calls(test, 10, row->calls);
		make_returns(test, row->returns);
		status = file->status;
		switch_task(test, task, false);
		/* Another task, which was never recorded, and which is recorded now. */
		other->switches = U64_MAX;
		switch_task(test, other, true);
		make_calls(test, 50, row->others);
		switch_task(test, other, false);
		switch_task(test, task, true);
		saved = file->status;
	}
	KUNIT_EXPECT_EQ(test, task->nr, min(row->calls, BRANCH_DEPTH) - row->returns);
	KUNIT_EXPECT_EQ(test, other->nr, min(row->others, BRANCH_DEPTH));
	KUNIT_EXPECT_EQ(test, saved, status);
	KUNIT_EXPECT_EQ(test, file->ctl, U | STACK_CTL);
	expect_calls(test, 10, row->calls - row->returns);

	/* The hart goes on from there. */
	make_calls(test, 10 + row->calls - row->returns, 1);
	expect_calls(test, 10, row->calls - row->returns + 1);
	sched_out(test, s);
}

static void task_without_a_call_stack_sees_no_other(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(CALL_STACK));
	struct riscv_pmu_branch_ctx *ctx = new_ctx(test);
	struct branch_file *file = to_branch_file(test->priv);

	fake_branch_in(test, s);
	scoped_guard(irqsave) {
		make_calls(test, 10, 5);
		switch_task(test, ctx, false);
		switch_task(test, NULL, true);
	}
	KUNIT_EXPECT_EQ(test, ctx->nr, 5);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
	KUNIT_EXPECT_EQ(test, file->ctl, U | STACK_CTL);

	/* Nor is there a place for its own. */
	scoped_guard(irqsave) {
		make_calls(test, 20, 2);
		switch_task(test, NULL, false);
	}
	KUNIT_EXPECT_EQ(test, ctx->nr, 5);
	sched_out(test, s);
}

/* The thread sleeps: it runs again without its call stack being restored. */
static void call_stack_of_a_task_that_has_run_since_is_stale(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(CALL_STACK));
	struct riscv_pmu_branch_ctx *ctx = new_ctx(test);
	struct branch_file *file = to_branch_file(test->priv);

	fake_branch_in(test, s);
	scoped_guard(irqsave) {
		make_calls(test, 10, 5);
		switch_task(test, ctx, false);
	}
	/* If this machine is slow, the time may be over before the thread could sleep. */
	do
		fsleep(2000);
	while (current->nvcsw + current->nivcsw == ctx->switches);
	scoped_guard(irqsave) {
		make_calls(test, 20, 2);
		switch_task(test, ctx, true);
	}
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
	KUNIT_EXPECT_EQ(test, file->ctl, U | STACK_CTL);
	sched_out(test, s);
}

/* A saved call stack has no FROZEN bit: ebb/ebb.c holds the hart's records for handlers. */
static void freezing_stays_with_the_hart(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(CALL_STACK));
	struct riscv_pmu_branch_ctx *ctx = new_ctx(test);
	struct branch_file *file = to_branch_file(test->priv);

	fake_branch_in(test, s);
	scoped_guard(irqsave) {
		make_calls(test, 10, 5);
		riscv_pmu_branch_hold(this_hart(test->priv));
		KUNIT_EXPECT_EQ(test, file->status, PMU_SCTRSTATUS_FROZEN | 5);
		switch_task(test, ctx, false);
		switch_task(test, ctx, true);
		KUNIT_EXPECT_EQ(test, file->status, PMU_SCTRSTATUS_FROZEN | 5);
		file->status = 7;
		switch_task(test, ctx, true);
	}
	KUNIT_EXPECT_EQ(test, ctx->status, 5);
	KUNIT_EXPECT_EQ(test, file->status, 5);
	expect_calls(test, 10, 5);
	sched_out(test, s);
}

/* Only call stacks are worth saving. */
static void other_records_are_cleared_at_a_switch(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct riscv_pmu_branch_ctx *ctx = new_ctx(test);
	struct branch_file *file = to_branch_file(test->priv);

	fake_branch_in(test, s);
	scoped_guard(irqsave) {
		make_calls(test, 10, 5);
		ctx->nr = 99;
		switch_task(test, ctx, false);
		ctx->switches = current->nvcsw + current->nivcsw;
		switch_task(test, ctx, true);
	}
	KUNIT_EXPECT_EQ(test, ctx->nr, 99);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
	KUNIT_EXPECT_EQ(test, file->ctl, U | ONLY(ALL & ~TRAPS));
	sched_out(test, s);
}

static void switch_without_events_accesses_nothing(struct kunit *test)
{
	struct riscv_pmu_branch_ctx *ctx = new_ctx(test);
	struct branch_file *file = to_branch_file(test->priv);

	file->absent = true;
	scoped_guard(irqsave) {
		switch_task(test, ctx, false);
		switch_task(test, ctx, true);
		switch_task(test, NULL, true);
	}
	KUNIT_EXPECT_EQ(test, file->clears, 0);
	KUNIT_EXPECT_EQ(test, ctx->switches, 0);
	file->absent = false;
}

/* The length of what is saved is checked, so that an error elsewhere cannot do more harm. */
static void no_more_records_than_the_hart_has_are_restored(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(CALL_STACK));
	struct riscv_pmu_branch_ctx *ctx = new_ctx(test);

	fake_branch_in(test, s);
	scoped_guard(irqsave) {
		make_calls(test, 10, BRANCH_DEPTH);
		switch_task(test, ctx, false);
		ctx->nr = U64_MAX;
		switch_task(test, ctx, true);
	}
	expect_calls(test, 10, BRANCH_DEPTH);
	sched_out(test, s);
}

struct watch_row {
	const char	*name;
	u64		filter;
	bool		task;
	bool		inherit;
	int		watches;
};

static const struct watch_row watch_rows[] = {
	{ "of a hart", BR(ANY), false, false, 1 },
	/* Its events are removed when it stops. */
	{ "of a task", BR(ANY), true, false, 0 },
	/* They may stay when a related task runs next. */
	{ "of a task and its children", BR(ANY), true, true, 1 },
	{ "call stack of a hart", BR(CALL_STACK), false, false, 1 },
	{ "call stack of a task", BR(CALL_STACK), true, false, 1 },
};

KUNIT_ARRAY_PARAM_DESC(watch, watch_rows, name);

static void switches_are_watched_if_necessary(struct kunit *test)
{
	const struct watch_row *row = test->param_value;
	struct state_event *s = fake_branch_new(test, 3, BR(USER) | row->filter);
	struct branch_file *file = to_branch_file(test->priv);

	s->event.attach_state = row->task ? PERF_ATTACH_TASK : 0;
	s->event.attr.inherit = row->inherit;
	KUNIT_ASSERT_EQ(test, fake_branch_open(s), 0);
	fake_branch_in(test, s);
	KUNIT_EXPECT_EQ(test, file->watches, row->watches);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, file->watches, 0);
}

/* perf reports a switch also to the PMUs of other CPU types. */
static void switch_on_a_hart_of_another_pmu_is_ignored(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, s);
	scoped_guard(irqsave) {
		make_calls(test, 10, 5);
		this_hart(fake)->pmu = NULL;
		switch_task(test, NULL, true);
		this_hart(fake)->pmu = &fake->pmu;
	}
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 5);
	sched_out(test, s);
}

/* --- harts -------------------------------------------------------------- */

static void stop_hart(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_branch_hart_stop(this_hart(fake));
}

static void resume_hart(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_branch_hart_resume(this_hart(fake));
}

static void hart_comes_up_without_records(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	stop_hart(fake);
	fake_branch_push(file, BRANCH_USER(1), BRANCH_USER(2), PMU_BRANCH_CALL);
	file->ctl = U | S;
	fake_branch_start(fake);
	KUNIT_EXPECT_EQ(test, file->resets, 1);
	KUNIT_EXPECT_EQ(test, file->guards, 1);
	KUNIT_EXPECT_EQ(test, file->ctl, 0);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
	fake_branch_in(test, s);
	sched_out(test, s);
}

/* Events with branch records do not count on it, others do. */
static void hart_without_the_records_of_the_others(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct state_event *counting = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	stop_hart(fake);
	file->absent = true;
	fake_branch_start(fake);
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, s), -EAGAIN);
	KUNIT_EXPECT_EQ(test, file->watches, 0);
	fake_branch_in(test, counting);
	sched_out(test, counting);
	resume_hart(fake);
	stop_hart(fake);
	file->absent = false;

	file->depth = 2 * BRANCH_DEPTH;
	fake_branch_start(fake);
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, s), -EAGAIN);
	file->depth = BRANCH_DEPTH;

	/* It would record what the event excludes. */
	stop_hart(fake);
	file->ctl_bits = BRANCH_CTL_ALL & ~PMU_SCTRCTL_TYPE(PMU_BRANCH_TRAP_RETURN);
	fake_branch_start(fake);
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, s), -EAGAIN);
	file->ctl_bits = BRANCH_CTL_ALL;
	fake_branch_start(fake);
	fake_branch_in(test, s);
	sched_out(test, s);
}

static void pmu_without_records_accesses_nothing(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	stop_hart(fake);
	fake->pmu.branch.depth = 0;
	file->absent = true;
	file->clears = 0;
	fake_branch_start(fake);
	KUNIT_EXPECT_NULL(test, this_hart(fake)->branch.stack);
	resume_hart(fake);
	stop_hart(fake);
	KUNIT_EXPECT_EQ(test, file->resets, 0);
	KUNIT_EXPECT_EQ(test, file->clears, 0);
	file->absent = false;
}

/* As before a reboot: events remain, and are removed or switched later. */
static void nothing_is_recorded_after_a_shutdown(struct kunit *test)
{
	struct state_event *a = fake_branch_event(test, 3, BR(USER) | BR(CALL_STACK));
	struct state_event *b = fake_branch_event(test, 4, BR(USER) | BR(CALL_STACK));
	struct riscv_pmu_branch_ctx *ctx = new_ctx(test);
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, a);
	fake_branch_in(test, b);
	make_calls(test, 10, 5);
	stop_hart(fake);
	KUNIT_EXPECT_EQ(test, file->ctl, 0);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
	KUNIT_EXPECT_EQ(test, fake_branch_sample(fake, a)->nr, 0);

	scoped_guard(irqsave) {
		switch_task(test, ctx, false);
		ctx->switches = current->nvcsw + current->nivcsw;
		switch_task(test, ctx, true);
	}
	KUNIT_EXPECT_EQ(test, file->ctl, 0);
	resume_hart(fake);
	KUNIT_EXPECT_EQ(test, file->ctl, 0);
	KUNIT_EXPECT_EQ(test, file->resets, 0);
	sched_out(test, a);
	KUNIT_EXPECT_EQ(test, file->ctl, 0);
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, a), -EAGAIN);
	KUNIT_EXPECT_EQ(test, file->watches, 1);
	sched_out(test, b);
	KUNIT_EXPECT_EQ(test, file->watches, 0);
}

/* The CSRs have lost their values, or have kept them. */
static void hart_records_again_after_idle(struct kunit *test)
{
	struct state_event *a = fake_branch_event(test, 3, BR(USER) | BR(COND));
	struct state_event *b = fake_branch_event(test, 4, BR(KERNEL) | BR(CALL));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, a);
	fake_branch_in(test, b);
	make_calls(test, 10, 5);
	file->ctl = RASEMU;
	file->status = PMU_SCTRSTATUS_FROZEN | 7;
	resume_hart(fake);
	KUNIT_EXPECT_EQ(test, file->resets, 1);
	KUNIT_EXPECT_EQ(test, file->ctl, U | S | ONLY(TKBRINH | DIRCALLINH));
	KUNIT_EXPECT_EQ(test, file->status, 0);
	KUNIT_EXPECT_EQ(test, fake_branch_count(file), 0);
	sched_out(test, a);
	sched_out(test, b);
}

/* Most idle states end while nothing records: it would take time for nothing. */
static void hart_is_set_up_for_the_first_event_after_idle(struct kunit *test)
{
	struct state_event *a = fake_branch_event(test, 3, BR(USER) | BR(COND));
	struct state_event *b = fake_branch_event(test, 4, BR(USER) | BR(COND));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	file->absent = true;
	resume_hart(fake);
	file->absent = false;
	file->ctl = RASEMU;
	file->status = PMU_SCTRSTATUS_FROZEN | 7;
	fake_branch_in(test, a);
	KUNIT_EXPECT_EQ(test, file->resets, 1);
	KUNIT_EXPECT_EQ(test, file->ctl, U | ONLY(TKBRINH));
	KUNIT_EXPECT_EQ(test, file->status, 0);
	fake_branch_in(test, b);
	KUNIT_EXPECT_EQ(test, file->resets, 1);
	sched_out(test, a);
	sched_out(test, b);
}

/* The firmware has not enabled the CSRs again: they trap. */
static void hart_may_lose_its_records_when_idle(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(COND));
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	fake_branch_in(test, s);
	file->absent = true;
	file->ctl = 0;
	resume_hart(fake);
	this_hart(fake)->branch.task = NULL;
	KUNIT_EXPECT_EQ(test, fake_branch_sample(fake, s)->nr, 0);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, s), -EAGAIN);

	file->absent = false;
	fake_branch_start(fake);
	resume_hart(fake);
	file->absent = true;
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, s), -EAGAIN);
	KUNIT_EXPECT_EQ(test, file->watches, 0);
	file->absent = false;
}

/* The same on a hart without events, which goes down then: a reboot, or hotplug */
static void hart_that_lost_its_records_goes_down(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct branch_file *file = to_branch_file(fake);

	resume_hart(fake);
	file->absent = true;
	stop_hart(fake);
	file->absent = false;
	fake_branch_start(fake);
}

static struct kunit_case branch_cases[] = {
	KUNIT_CASE_PARAM(filters_select_what_is_recorded, filter_gen_params),
	KUNIT_CASE(missing_bits_of_the_hardware_are_not_written),
	KUNIT_CASE_PARAM(open_checks_the_filters, open_gen_params),
	KUNIT_CASE(events_without_branch_records_are_left_alone),
	KUNIT_CASE_PARAM(group_has_call_stacks_or_other_records, group_gen_params),
	KUNIT_CASE(hart_records_what_its_events_want),
	KUNIT_CASE(events_are_removed_together),
	KUNIT_CASE(first_event_finds_no_records),
	KUNIT_CASE(call_stacks_and_others_exclude_each_other),
	KUNIT_CASE(events_of_other_types_exclude_each_other_without_types),
	KUNIT_CASE(refused_split_event_leaves_no_counter_behind),
	KUNIT_CASE(unfreezing_keeps_the_position),
	KUNIT_CASE(held_records_stay_frozen),
	KUNIT_CASE(records_that_are_not_held_are_not_released),
	KUNIT_CASE(held_records_that_something_unfroze_are_cleared),
	KUNIT_CASE(holding_ends_with_the_last_event),
	KUNIT_CASE_PARAM(call_stack_returns_with_its_task, switch_gen_params),
	KUNIT_CASE(task_without_a_call_stack_sees_no_other),
	KUNIT_CASE(call_stack_of_a_task_that_has_run_since_is_stale),
	KUNIT_CASE(freezing_stays_with_the_hart),
	KUNIT_CASE(no_more_records_than_the_hart_has_are_restored),
	KUNIT_CASE(other_records_are_cleared_at_a_switch),
	KUNIT_CASE(switch_without_events_accesses_nothing),
	KUNIT_CASE_PARAM(switches_are_watched_if_necessary, watch_gen_params),
	KUNIT_CASE(switch_on_a_hart_of_another_pmu_is_ignored),
	KUNIT_CASE(hart_comes_up_without_records),
	KUNIT_CASE(hart_without_the_records_of_the_others),
	KUNIT_CASE(pmu_without_records_accesses_nothing),
	KUNIT_CASE(nothing_is_recorded_after_a_shutdown),
	KUNIT_CASE(hart_records_again_after_idle),
	KUNIT_CASE(hart_is_set_up_for_the_first_event_after_idle),
	KUNIT_CASE(hart_may_lose_its_records_when_idle),
	KUNIT_CASE(hart_that_lost_its_records_goes_down),
	{}
};

static struct kunit_suite branch_suite = {
	.name		= "riscv_pmu_branch",
	.init		= fake_branch_init,
	.exit		= fake_branch_exit,
	.test_cases	= branch_cases,
};

kunit_test_suite(branch_suite);
