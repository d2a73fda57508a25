// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of nmi/nmi.c: one overflow comes before or after any access to a counter in an operation.
 * Then counts and sample periods have to agree, and no event may be lost, unless the operation
 * had stopped the counter.
 */

#include <linux/perf/riscv_pmu.h>

#include "event_fixture.h"

#include "../nmi/block.h"
#include "../nmi/entry.h"
#include "../nmi/nmi.h"
#include "../nmi/sse.h"

#define PERIOD		100
/* The event's counter overflows at once if this much time passes. */
#define OVERFLOW_TICKS	150
/* More than any operation has */
#define STEPS_MAX	100

/**
 * struct nmi_test - an operation that is interrupted
 * @fake:	the hart
 * @sampling:	an event whose counter overflows
 * @counting:	an event on another counter
 * @at:		the step of the operation that is interrupted
 * @steps:	steps up to now
 * @waits:	the overflow has to wait until the operation is over
 */
struct nmi_test {
	struct fake_pmu		*fake;
	struct state_event	*sampling;
	struct state_event	*counting;
	unsigned int		at;
	unsigned int		steps;
	bool			waits;
};

/* What nmi_handle() does, for the simulated hart */
static void nmi_interrupt(struct nmi_test *t)
{
	struct pt_regs regs = { .status = SR_SPP };
	struct riscv_pmu_nmi nmi = {};

	t->waits = riscv_pmu_nmi_has_to_wait(&nmi, this_hart(t->fake), &regs);
	if (!t->waits)
		riscv_pmu_handle_irq(&t->fake->pmu, this_hart(t->fake), &regs, get_cycles());
}

static void nmi_step(struct fake_pmu *fake)
{
	struct nmi_test *t = fake->step_data;

	if (t->steps++ != t->at)
		return;

	fake_advance(fake, OVERFLOW_TICKS);
	nmi_interrupt(t);
}

/* --- operations --- */

static void do_add(struct kunit *test, struct nmi_test *t)
{
	begin(t->fake);
	KUNIT_EXPECT_EQ(test, add(t->sampling, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, add(t->counting, PERF_EF_START), 0);
	finish(t->fake);
}

static void do_delete(struct kunit *test, struct nmi_test *t)
{
	begin(t->fake);
	del(t->sampling);
	del(t->counting);
	finish(t->fake);
}

static void do_read(struct kunit *test, struct nmi_test *t)
{
	count_of(t->sampling);
	count_of(t->counting);
}

static void do_read_group(struct kunit *test, struct nmi_test *t)
{
	struct pmu *pmu = &t->fake->pmu.pmu;

	guard(irqsave)();
	riscv_pmu_start_txn(pmu, PERF_PMU_TXN_READ);
	riscv_pmu_read(&t->sampling->event);
	riscv_pmu_read(&t->counting->event);
	KUNIT_EXPECT_EQ(test, riscv_pmu_commit_txn(pmu), 0);
}

static void do_stop_and_start(struct kunit *test, struct nmi_test *t)
{
	stop(t->sampling, PERF_EF_UPDATE);
	stop(t->counting, PERF_EF_UPDATE);
	start(t->sampling, 0);
	start(t->counting, 0);
}

static void do_change_period(struct kunit *test, struct nmi_test *t)
{
	restart_with_period(t->sampling, PERIOD / 2);
}

static void do_interrupt(struct kunit *test, struct nmi_test *t)
{
	fake_advance(t->fake, PERIOD);
	interrupt(t->fake);
}

/**
 * struct nmi_row - an operation
 * @name:	its name
 * @act:	what it does
 * @added:	the events are added before it
 * @counts:	they count all the time, so that no event may be lost; otherwise they may be stopped
 *		at the time of the overflow (an event is, in its own interrupt)
 */
struct nmi_row {
	const char	*name;
	void		(*act)(struct kunit *test, struct nmi_test *t);
	bool		added;
	bool		counts;
};

static const struct nmi_row nmi_rows[] = {
	{ "add", do_add },
	{ "delete", do_delete, .added = true },
	{ "read", do_read, .added = true, .counts = true },
	{ "read a group", do_read_group, .added = true, .counts = true },
	{ "stop and start", do_stop_and_start, .added = true },
	{ "change the period", do_change_period, .added = true },
	{ "interrupt", do_interrupt, .added = true },
};

KUNIT_ARRAY_PARAM_DESC(nmi, nmi_rows, name);

/* --- the test --- */

static struct nmi_test *nmi_create(struct kunit *test)
{
	struct nmi_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->fake = test->priv;
	t->fake->step_data = t;
	return t;
}

static void nmi_new_events(struct kunit *test, struct nmi_test *t)
{
	t->sampling = new_event(test, 1, C(3), PERIOD);
	t->counting = new_event(test, 2, C(4), 0);
	t->sampling->event.overflow_handler = summing_overflow;
}

static void nmi_expect_count(struct kunit *test, const struct nmi_test *t,
			     const struct nmi_row *row, u64 extra)
{
	if (row->counts)
		KUNIT_EXPECT_EQ_MSG(test, extra, OVERFLOW_TICKS, "step %u", t->at);
	else
		KUNIT_EXPECT_TRUE_MSG(test, !extra || extra == OVERFLOW_TICKS, "step %u: %llu",
				      t->at, extra);
}

/*
 * After one more overflow, each count is that of the time that has passed, and the periods of all
 * samples are the count up to the last one.
 */
static void nmi_check(struct kunit *test, struct nmi_test *t, const struct nmi_row *row)
{
	struct state_event *s = t->sampling;
	u64 ticks = 2 * PERIOD + (row->act == do_interrupt ? PERIOD : 0);

	if (!fake_is_attached(&s->ev))
		do_add(test, t);
	fake_advance(t->fake, 2 * PERIOD);
	interrupt(t->fake);
	nmi_expect_count(test, t, row, count_of(s) - ticks);
	/* Two events in each tick */
	nmi_expect_count(test, t, row, count_of(t->counting) / 2 - ticks);
	KUNIT_EXPECT_EQ(test, s->sum + s->ev.period_count, count_of(s));
	KUNIT_EXPECT_LT(test, s->ev.period_count, PERIOD);
	do_delete(test, t);
}

/* Returns false if the operation has no step @at. */
static bool nmi_run(struct kunit *test, struct nmi_test *t, const struct nmi_row *row)
{
	t->steps = 0;
	t->waits = false;
	nmi_new_events(test, t);
	if (row->added)
		do_add(test, t);

	t->fake->step = nmi_step;
	row->act(test, t);
	t->fake->step = NULL;
	if (t->steps <= t->at)
		return false;

	/* What the irq_work does. */
	if (t->waits)
		interrupt(t->fake);
	nmi_check(test, t, row);
	return true;
}

static void overflow_at_any_step_loses_nothing(struct kunit *test)
{
	const struct nmi_row *row = test->param_value;
	struct nmi_test *t = nmi_create(test);

	for (t->at = 0; t->at < STEPS_MAX && test->status == KUNIT_SUCCESS; t->at++) {
		if (!nmi_run(test, t, row))
			break;
	}
	kunit_info(test, "%s: %u steps", row->name, t->at);
	KUNIT_EXPECT_GE(test, t->at, 2);
	KUNIT_EXPECT_LT(test, t->at, STEPS_MAX);
	do_delete(test, t);
}

static void overflow_between_operations_is_handled_at_once(struct kunit *test)
{
	struct nmi_test *t = nmi_create(test);

	nmi_new_events(test, t);
	do_add(test, t);
	fake_advance(t->fake, PERIOD);
	scoped_guard(irqsave)
		nmi_interrupt(t);
	KUNIT_EXPECT_FALSE(test, t->waits);
	KUNIT_EXPECT_EQ(test, t->sampling->samples, 1);
	do_delete(test, t);
}

static void overflow_waits_while_nmis_are_blocked(struct kunit *test)
{
	struct nmi_test *t = nmi_create(test);

	nmi_new_events(test, t);
	do_add(test, t);
	fake_advance(t->fake, PERIOD);
	scoped_guard(riscv_pmu_irqsave)
		nmi_interrupt(t);
	KUNIT_EXPECT_TRUE(test, t->waits);
	KUNIT_EXPECT_EQ(test, t->sampling->samples, 0);
	interrupt(t->fake);
	KUNIT_EXPECT_EQ(test, t->sampling->samples, 1);
	do_delete(test, t);
}

/* --- NMIs that are held --- */

static unsigned int works;

static void count_work(struct irq_work *work)
{
	works++;
}

/* The handler of an NMI touches nothing but its own state, until the section ends. */
static void overflow_is_noted_while_nmis_are_held(struct kunit *test)
{
	struct riscv_pmu_nmi_frame *frame = kunit_kzalloc(test, sizeof(*frame), GFP_KERNEL);
	struct riscv_pmu_nmi *nmi, saved;
	struct irq_work work;

	KUNIT_ASSERT_NOT_NULL(test, frame);
	work = IRQ_WORK_INIT_HARD(count_work);
	works = 0;
	scoped_guard(irqsave) {
		nmi = this_cpu_ptr(&riscv_pmu_nmi_harts);
		saved = *nmi;
		nmi->work = work;
		riscv_pmu_nmi_hold();
		riscv_pmu_nmi_hold();
		riscv_pmu_nmi_handle(nmi, frame);
		KUNIT_EXPECT_TRUE(test, nmi->noted);
		riscv_pmu_nmi_release();
		KUNIT_EXPECT_TRUE(test, nmi->noted);
		riscv_pmu_nmi_release();
		KUNIT_EXPECT_FALSE(test, nmi->noted);
		KUNIT_EXPECT_EQ(test, nmi->deferred, saved.deferred + 1);
	}
	irq_work_sync(&nmi->work);
	KUNIT_EXPECT_EQ(test, works, 1);
	nmi->work = saved.work;
}

/* --- the firmware --- */

/* Masks the hart. Returns whether it was unmasked. */
static bool mask_and_test(void)
{
	return riscv_pmu_sse_mask_hart();
}

static int start_event(void)
{
	return riscv_pmu_sse_start(riscv_pmu_nmi_entry, this_cpu_ptr(&riscv_pmu_nmi_harts));
}

/*
 * The driver neither stops the SSE events of others, nor unmasks a hart that they have masked. No
 * counter runs here.
 */
static void other_sse_events_of_the_hart_are_left_alone(struct kunit *test)
{
	bool was_unmasked, available;

	scoped_guard(preempt)
		available = riscv_pmu_sse_is_available();
	if (!available || riscv_pmu_nmi_in_use)
		kunit_skip(test, "the firmware has no SSE event for overflows, or it is in use");

	guard(irqsave)();
	was_unmasked = mask_and_test();
	/* The first user unmasks the hart, and may find it unmasked already. */
	KUNIT_EXPECT_EQ(test, start_event(), 0);
	KUNIT_EXPECT_TRUE(test, mask_and_test());
	riscv_pmu_sse_unmask_hart();
	riscv_pmu_sse_suspend();
	KUNIT_EXPECT_TRUE(test, mask_and_test());
	/* While another user keeps it masked, the end of an idle state does not unmask it. */
	KUNIT_EXPECT_EQ(test, start_event(), 0);
	KUNIT_EXPECT_FALSE(test, mask_and_test());
	riscv_pmu_sse_unmask_hart();
	KUNIT_EXPECT_TRUE(test, riscv_pmu_sse_stop());
	KUNIT_EXPECT_EQ(test, start_event(), 0);
	KUNIT_EXPECT_TRUE(test, riscv_pmu_sse_stop());
	KUNIT_EXPECT_TRUE(test, mask_and_test());
	KUNIT_EXPECT_FALSE(test, riscv_pmu_sse_stop());
	if (was_unmasked)
		riscv_pmu_sse_unmask_hart();
}

static struct kunit_case nmi_cases[] = {
	KUNIT_CASE_PARAM(overflow_at_any_step_loses_nothing, nmi_gen_params),
	KUNIT_CASE(overflow_between_operations_is_handled_at_once),
	KUNIT_CASE(overflow_waits_while_nmis_are_blocked),
	KUNIT_CASE(overflow_is_noted_while_nmis_are_held),
	KUNIT_CASE(other_sse_events_of_the_hart_are_left_alone),
	{}
};

static struct kunit_suite nmi_suite = {
	.name		= "riscv_pmu_nmi",
	.init		= state_init,
	.exit		= state_exit,
	.test_cases	= nmi_cases,
};

kunit_test_suite(nmi_suite);
