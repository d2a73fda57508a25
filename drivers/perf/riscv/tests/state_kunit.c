// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of perf's callbacks, sampling periods and the overflow interrupt, with simulated counters
 * and with events that are created without perf_event_open().
 */

#include <kunit/test.h>
#include <kunit/test-bug.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/time64.h>

#include <asm/delay.h>

#include "../throttle.h"
#include "fake_backend.h"

#define C(ctr)		BIT_ULL(ctr)
#define STOPPED		(PERF_HES_STOPPED | PERF_HES_UPTODATE)

#define BATCH(...)	((struct fake_batch){ __VA_ARGS__ })

/* An event, and the results of its overflow handler. */
struct state_event {
	struct perf_event	event;
	struct riscv_pmu_event	ev;
	unsigned int		samples;
	u64			sum;
	u64			last_period;
	u64			last_count;
	u64			running_in_handler;
	bool			disabled;
};

static void state_free_harts(void *harts)
{
	free_percpu((struct riscv_pmu_hart __percpu *)(uintptr_t)harts);
}

/* The thread is bound to one CPU, because a test uses the state of one hart. */
static int state_init(struct kunit *test)
{
	struct fake_pmu *fake = fake_create(test);
	int cpu;

	test->priv = fake;
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	fake->pmu.harts = alloc_percpu(struct riscv_pmu_hart);
	KUNIT_ASSERT_TRUE(test, !!fake->pmu.harts);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, state_free_harts,
							(void *)(uintptr_t)fake->pmu.harts), 0);
	for_each_possible_cpu(cpu)
		riscv_pmu_hart_reset(&fake->pmu, per_cpu_ptr(fake->pmu.harts, cpu));

	fake->pmu.pmu.add = riscv_pmu_add;
	fake->pmu.pmu.del = riscv_pmu_del;
	fake->pmu.pmu.start = riscv_pmu_start;
	fake->pmu.pmu.stop = riscv_pmu_stop;
	fake->pmu.pmu.read = riscv_pmu_read;
	return 0;
}

/*
 * It may run on another CPU than the test, so all harts are checked; the test's is the one with
 * programmed counters.
 */
static void state_exit(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	int cpu;

	if (!fake || !fake->pmu.harts)
		return;

	for_each_possible_cpu(cpu) {
		struct riscv_pmu_hart *hart = per_cpu_ptr(fake->pmu.harts, cpu);

		KUNIT_EXPECT_FALSE(test, hart->updating);
		if (hart->hw.programmed | hart->wanted.sched.used)
			fake_expect_idle(test, fake, hart);
	}
	fake_expect_no_violation(test, fake);
}

static struct riscv_pmu_hart *this_hart(struct fake_pmu *fake)
{
	return raw_cpu_ptr(fake->pmu.harts);
}

static struct state_event *to_state(struct perf_event *event)
{
	return container_of(event, struct state_event, event);
}

static void state_overflow(struct perf_event *event, struct perf_sample_data *data,
			   struct pt_regs *regs)
{
	struct state_event *s = to_state(event);

	s->samples++;
	s->last_period = data->period;
	s->last_count = local64_read(&event->count);
}

static void summing_overflow(struct perf_event *event, struct perf_sample_data *data,
			     struct pt_regs *regs)
{
	state_overflow(event, data, regs);
	to_state(event)->sum += data->period;
}

static void state_disabled(struct irq_work *work)
{
	container_of(work, struct state_event, event.pending_disable_irq)->disabled = true;
}

static void state_sync(void *work)
{
	irq_work_sync(work);
}

/* Initialises the members that perf_event_open() and riscv_pmu_event_init() set. */
static struct state_event *new_event(struct kunit *test, u64 selector, u64 ctrs, u64 period)
{
	struct state_event *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct fake_pmu *fake = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, s);
	fake_event_init(&s->ev, fake_config(selector, RISCV_PMU_INH_M), ctrs);
	s->ev.event = &s->event;
	s->ev.sampling = period;
	INIT_LIST_HEAD(&s->event.sibling_list);
	s->event.group_leader = &s->event;
	s->event.pmu = &fake->pmu.pmu;
	s->event.pmu_private = &s->ev;
	s->event.attr.type = PERF_TYPE_RAW;
	s->event.attr.sample_period = period;
	s->event.hw.sample_period = period;
	s->event.hw.last_period = period;
	s->event.hw.idx = -1;
	s->event.hw.state = STOPPED;
	local64_set(&s->event.hw.period_left, period);
	s->event.overflow_handler = state_overflow;
	init_irq_work(&s->event.pending_disable_irq, state_disabled);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, state_sync,
							&s->event.pending_disable_irq), 0);
	return s;
}

/* --- perf's callbacks, which it calls with interrupts off --------------- */

static int add(struct state_event *s, int flags)
{
	guard(irqsave)();
	return riscv_pmu_add(&s->event, flags);
}

/* An event that could not be added is ignored: that test has already failed. */
static void del(struct state_event *s)
{
	guard(irqsave)();
	if (fake_is_attached(&s->ev))
		riscv_pmu_del(&s->event, 0);
}

static void start(struct state_event *s, int flags)
{
	guard(irqsave)();
	riscv_pmu_start(&s->event, flags);
}

static void stop(struct state_event *s, int flags)
{
	guard(irqsave)();
	riscv_pmu_stop(&s->event, flags);
}

static u64 count_of(struct state_event *s)
{
	guard(irqsave)();
	riscv_pmu_read(&s->event);
	return local64_read(&s->event.count);
}

static void begin(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_begin_update(&fake->pmu, this_hart(fake));
}

static void finish(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_commit_update(&fake->pmu, this_hart(fake));
}

static void interrupt_of(struct fake_pmu *fake, unsigned long status)
{
	struct pt_regs regs = { .status = status };

	guard(irqsave)();
	riscv_pmu_hart_handle_irq(&fake->pmu, this_hart(fake), &regs);
}

/* Simulates an interrupt in user mode. */
static void interrupt(struct fake_pmu *fake)
{
	interrupt_of(fake, 0);
}

static void sched_in(struct kunit *test, struct state_event *s)
{
	begin(test->priv);
	KUNIT_EXPECT_EQ(test, add(s, PERF_EF_START), 0);
	finish(test->priv);
}

static void sched_out(struct kunit *test, struct state_event *s)
{
	begin(test->priv);
	del(s);
	finish(test->priv);
}

/* Like PERF_EVENT_IOC_PERIOD: the present period ends at once. */
static void restart_with_period(struct state_event *s, u64 period)
{
	stop(s, PERF_EF_UPDATE);
	s->event.hw.sample_period = period;
	local64_set(&s->event.hw.period_left, 0);
	start(s, PERF_EF_RELOAD);
}

/* --- the state machine -------------------------------------------------- */

static void add_without_start_leaves_the_event_stopped(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;

	begin(fake);
	KUNIT_EXPECT_EQ(test, add(s, 0), 0);
	finish(fake);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	KUNIT_EXPECT_EQ(test, s->event.hw.idx, 3);
	KUNIT_EXPECT_EQ(test, fake_running(fake), 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(s), 0);

	start(s, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(s), 50);
	sched_out(test, s);
}

/*
 * linux/perf_event.h specifies that add without PERF_EF_START is the same as add with it, followed
 * by stop.
 */
static void add_without_start_is_add_and_stop(struct kunit *test)
{
	struct state_event *a = new_event(test, 5, C(3), 1000);
	struct state_event *b = new_event(test, 6, C(4), 1000);
	struct fake_pmu *fake = test->priv;

	begin(fake);
	KUNIT_EXPECT_EQ(test, add(a, 0), 0);
	KUNIT_EXPECT_EQ(test, add(b, PERF_EF_START), 0);
	stop(b, PERF_EF_UPDATE);
	finish(fake);
	KUNIT_EXPECT_EQ(test, a->event.hw.state, b->event.hw.state);
	KUNIT_EXPECT_EQ(test, local64_read(&a->event.hw.period_left),
			local64_read(&b->event.hw.period_left));
	KUNIT_EXPECT_EQ(test, count_of(a), count_of(b));
	KUNIT_EXPECT_EQ(test, fake_running(fake), 0);
	sched_out(test, a);
	sched_out(test, b);
}

static void add_with_start_starts_the_event(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, 0);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(s), 50);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(s), 100);
	sched_out(test, s);
}

/* Events keep their counts. Events that are added after the shutdown get no counter. */
static void nothing_is_programmed_after_shutdown(struct kunit *test)
{
	struct state_event *a = new_event(test, 5, C(3), 0);
	struct state_event *b = new_event(test, 6, C(4), 0);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_hart *hart = this_hart(fake);
	unsigned int batches;

	sched_in(test, a);
	fake_advance(fake, 10);
	begin(fake);
	riscv_pmu_hart_save(&fake->pmu, hart);
	hart->shut_down = true;
	finish(fake);
	batches = fake->nr_batches;
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(a), 50);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(b, PERF_EF_START), -EAGAIN);
	finish(fake);
	sched_out(test, a);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(a, PERF_EF_START), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_EQ(test, count_of(a), 50);
}

/* After a non-retentive idle state, the counters are initialised when an event is added. */
static void hart_starts_its_counters_for_the_first_event_after_idle(struct kunit *test)
{
	struct state_event *a = new_event(test, 5, C(3), 0);
	struct state_event *b = new_event(test, 6, C(3), 0);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_hart *hart = this_hart(fake);

	sched_in(test, a);
	sched_out(test, a);
	begin(fake);
	riscv_pmu_hart_save(&fake->pmu, hart);
	hart->needs_start = true;
	finish(fake);
	KUNIT_EXPECT_TRUE(test, hart->needs_start);

	sched_in(test, b);
	KUNIT_EXPECT_FALSE(test, hart->needs_start);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(b), 60);
	sched_out(test, b);
	KUNIT_EXPECT_EQ(test, count_of(a), 0);
}

static void del_stops_and_updates_the_event(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 10);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	KUNIT_EXPECT_EQ(test, local64_read(&s->event.count), 50);
	KUNIT_EXPECT_EQ(test, local64_read(&s->event.hw.period_left), 950);
	KUNIT_EXPECT_FALSE(test, fake_is_attached(&s->ev));
}

/*
 * To stop the counter would take a batch. It may overflow, but the interrupt is masked while no
 * event needs it.
 */
static void counter_of_a_deleted_event_keeps_running(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, s);
	KUNIT_EXPECT_FALSE(test, this_hart(fake)->irq.masked);
	batches = fake->nr_batches;
	sched_out(test, s);
	KUNIT_EXPECT_TRUE(test, this_hart(fake)->irq.masked);
	fake_advance(fake, 1000);
	KUNIT_EXPECT_TRUE(test, fake->ctr[3].overflowed);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_EQ(test, s->samples, 0);

	sched_in(test, s);
	KUNIT_EXPECT_FALSE(test, this_hart(fake)->irq.masked);
	KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 1000);
	sched_out(test, s);
}

/* As on T-Head C9xx and Andes. A counting event must not make the counter interrupt soon. */
static void fixed_counter_that_interrupts_samples_exactly(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(0), 1000);
	struct state_event *counting = new_event(test, 2, C(0), 0);
	struct fake_pmu *fake = test->priv;

	fake->pmu.irq_ctrs |= FAKE_FIXED;
	sched_in(test, s);
	for (unsigned int i = 1; i <= 5; i++) {
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 0), 1000);
		fake_advance(fake, 1000);
		KUNIT_EXPECT_TRUE(test, fake->ctr[0].overflowed);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, s->samples, i);
	}
	fake_advance(fake, 990);
	KUNIT_EXPECT_EQ(test, count_of(s), 5990);
	sched_out(test, s);

	sched_in(test, counting);
	KUNIT_EXPECT_GE(test, fake_until_wrap(fake, 0), BIT_ULL(61));
	fake_advance(fake, 500);
	KUNIT_EXPECT_FALSE(test, fake->ctr[0].overflowed);
	KUNIT_EXPECT_EQ(test, count_of(counting), 1000);
	sched_out(test, counting);
}

struct stop_row {
	const char	*name;
	int		flags;
};

static const struct stop_row stop_rows[] = {
	{ "with update", PERF_EF_UPDATE },
	{ "without update", 0 },
};

KUNIT_ARRAY_PARAM_DESC(stop, stop_rows, name);

/* A stop updates the count, with or without PERF_EF_UPDATE. */
static void stop_is_idempotent(struct kunit *test)
{
	const struct stop_row *row = test->param_value;
	struct state_event *s = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 10);
	stop(s, row->flags);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	KUNIT_EXPECT_EQ(test, local64_read(&s->event.count), 50);

	fake_advance(fake, 10);
	stop(s, row->flags);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	KUNIT_EXPECT_EQ(test, count_of(s), 50);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, local64_read(&s->event.count), 50);
}

static void start_of_a_running_event_changes_nothing(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3), 1000);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, s);
	fake_advance(fake, 10);
	batches = fake->nr_batches;
	start(s, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 950);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(s), 100);
	sched_out(test, s);
}

static void stop_and_start_continue_the_period(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 400);
	stop(s, PERF_EF_UPDATE);
	fake_advance(fake, 100000);
	start(s, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 600);
	fake_advance(fake, 500);
	stop(s, PERF_EF_UPDATE);
	start(s, PERF_EF_RELOAD);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, local64_read(&s->event.count), 900);
	KUNIT_EXPECT_EQ(test, local64_read(&s->event.hw.period_left), 100);
}

/* The event is switched out after its period has ended, but before the interrupt. */
static void sample_is_taken_after_the_event_was_switched_out(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 1040);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, (s64)local64_read(&s->event.hw.period_left), -40);
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 1);
	sched_out(test, s);
}

/* perf changes the period of a stopped event, as for PERF_EVENT_IOC_PERIOD. */
static void reload_starts_a_new_period(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 400);
	restart_with_period(s, 50);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 50);
	sched_out(test, s);
}

static void read_does_not_change_the_state(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, s);
	batches = fake->nr_batches;
	fake_advance(fake, 1);
	KUNIT_EXPECT_EQ(test, count_of(s), 5);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, 0);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	sched_out(test, s);
}

static void add_fails_if_no_counter_is_free(struct kunit *test)
{
	struct state_event *a = new_event(test, 5, C(3), 0);
	struct state_event *b = new_event(test, 6, C(3), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(b, PERF_EF_START), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, b->event.hw.state, STOPPED);
	KUNIT_EXPECT_EQ(test, b->event.hw.idx, -1);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(a), 50);
	sched_out(test, a);
}

static void add_fails_if_the_counter_refuses_the_config(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;

	fake->fail_config = C(3);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(s, PERF_EF_START), -EAGAIN);
	finish(fake);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	KUNIT_EXPECT_FALSE(test, fake_is_attached(&s->ev));
}

/* add of a second event with the same config finds out that the counter refuses it. */
static void started_event_is_stopped_if_its_config_is_refused(struct kunit *test)
{
	struct state_event *a = new_event(test, 5, C(3), 0);
	struct state_event *b = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	fake->fail_config = C(3);
	/* The config was accepted on another hart, so it is not validated here. */
	a->ev.accepted = C(3);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(a, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, a->event.hw.state, 0);
	KUNIT_EXPECT_EQ(test, add(b, PERF_EF_START), -EAGAIN);
	KUNIT_EXPECT_EQ(test, a->event.hw.state, STOPPED);
	/* A refused config is not tried again at once. */
	batches = fake->nr_batches;
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	sched_out(test, a);
}

/* If a counter refuses the config, add tries the next one. */
static void add_tries_all_counters(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3) | C(4) | C(33), 0);
	struct fake_pmu *fake = test->priv;

	fake->fail_config = C(3) | C(4);
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, s->event.hw.idx, 33);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(s), 50);
	sched_out(test, s);
}

/*
 * The counter fails after add has returned. The event stays enabled, and perf schedules it again.
 * At first add fails; after a while the counter is tried again, and the event counts.
 */
static void event_that_failed_to_start_is_tried_again(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;

	fake->fail_start = C(3);
	sched_in(test, s);
	irq_work_sync(&s->event.pending_disable_irq);
	KUNIT_EXPECT_FALSE(test, s->disabled);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(s), 0);
	sched_out(test, s);

	begin(fake);
	KUNIT_EXPECT_EQ(test, add(s, PERF_EF_START), -EAGAIN);
	finish(fake);

	fake->fail_start = 0;
	s->ev.retry = jiffies;
	sched_in(test, s);
	fake_advance(fake, 10);
	KUNIT_EXPECT_EQ(test, count_of(s), 50);
	sched_out(test, s);
}

/* --- periods ------------------------------------------------------------ */

struct period_row {
	const char	*name;
	u64		period;
	s64		left;
	u64		ended;
	s64		next;
};

static const struct period_row period_rows[] = {
	{ "not ended yet", 1000, 1, 0, 1 },
	{ "just begun", 1000, 1000, 0, 1000 },
	{ "ended", 1000, 0, 1000, 1000 },
	{ "one beyond", 1000, -1, 1000, 999 },
	{ "almost a whole period beyond", 1000, -999, 1000, 1 },
	{ "a whole period beyond", 1000, -1000, 2000, 1000 },
	{ "more than a period beyond", 1000, -1001, 2000, 999 },
	{ "far beyond", 1000, -1000000007LL, 1000001000, 993 },
	{ "period 1", 1, 0, 1, 1 },
	{ "period 1, one beyond", 1, -1, 2, 1 },
	{ "period 1, far beyond", 1, -1000, 1001, 1 },
	{ "longer than 32 bits", BIT_ULL(40), -5, BIT_ULL(40), BIT_ULL(40) - 5 },
	{ "longer than 32 bits, far beyond", BIT_ULL(40), -5 - BIT_ULL(50),
	  BIT_ULL(50) + BIT_ULL(40), BIT_ULL(40) - 5 },
	{ "longest", S64_MAX, 0, S64_MAX, S64_MAX },
	{ "longest, not ended", S64_MAX, S64_MAX, 0, S64_MAX },
	{ "longest, one beyond", S64_MAX, -1, S64_MAX, S64_MAX - 1 },
	{ "longest, as far beyond as possible", S64_MAX, S64_MIN, U64_MAX - 1, S64_MAX - 1 },
	{ "a guest's longest", U64_MAX, 0, S64_MAX, S64_MAX },
	{ "a guest's longest, one beyond", U64_MAX, -1, S64_MAX, S64_MAX - 1 },
	{ "shortened during the period", 10, 1000, 0, 1000 },
};

KUNIT_ARRAY_PARAM_DESC(period, period_rows, name);

static void new_period_begins_when_the_last_one_has_ended(struct kunit *test)
{
	const struct period_row *row = test->param_value;
	struct state_event *s = new_event(test, 1, C(3), row->period);
	struct hw_perf_event *hwc = &s->event.hw;

	hwc->last_period = 12345;
	local64_set(&hwc->period_left, row->left);
	s->ev.period_count = min_t(u64, row->period, S64_MAX) - row->left;
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_set_period(&s->event), !!row->ended);
	KUNIT_EXPECT_EQ(test, (s64)local64_read(&hwc->period_left), row->next);
	KUNIT_EXPECT_EQ(test, hwc->last_period, row->ended ?: 12345);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_period_left(&s->event), (u64)row->next);
}

static void period_left_is_at_least_one(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);

	local64_set(&s->event.hw.period_left, 0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_period_left(&s->event), 1);
	local64_set(&s->event.hw.period_left, -5);
	KUNIT_EXPECT_EQ(test, riscv_pmu_event_period_left(&s->event), 1);
}

/* With a sampling frequency, perf changes the period while it is in progress. */
static void sample_of_a_changed_period_includes_all_its_events(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);
	struct fake_pmu *fake = test->priv;

	s->event.overflow_handler = summing_overflow;
	sched_in(test, s);
	fake_advance(fake, 300);
	/* Like perf_adjust_period(), which ends the present period only if it is far too long. */
	s->event.hw.sample_period = 400;
	fake_advance(fake, 700);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->last_period, 1000);
	fake_advance(fake, 150);
	restart_with_period(s, 20);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 20);
	fake_advance(fake, 25);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->last_period, 170);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, s->sum, count_of(s) - 5);
	sched_out(test, s);
}

/* Distances to overflow points are signed, so a period has at most 63 bits. */
static void period_is_bounded(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);

	KUNIT_EXPECT_EQ(test, riscv_pmu_check_period(&s->event, 1), 0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_check_period(&s->event, S64_MAX), 0);
	KUNIT_EXPECT_EQ(test, riscv_pmu_check_period(&s->event, BIT_ULL(63)), -EINVAL);
	KUNIT_EXPECT_EQ(test, riscv_pmu_check_period(&s->event, U64_MAX), -EINVAL);
}

/* --- the interrupt ------------------------------------------------------ */

static void event_is_sampled_at_its_overflow_point(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	for (unsigned int i = 1; i <= 10; i++) {
		fake_advance(fake, 100);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, s->samples, i);
		KUNIT_EXPECT_EQ(test, s->last_period, 100);
		KUNIT_EXPECT_EQ(test, s->last_count, 100 * i);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
		KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
		KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	}
	sched_out(test, s);
}

/* Events after the overflow point are part of the next period: samples are count / period. */
static void skid_does_not_add_up(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	for (int i = 0; i < 50; i++) {
		fake_advance(fake, fake_until_wrap(fake, 3) + i % 7);
		interrupt(fake);
	}
	KUNIT_EXPECT_EQ(test, s->samples, 50);
	KUNIT_EXPECT_EQ(test, count_of(s), 50 * 100 + 49 % 7);
	sched_out(test, s);
}

static void event_is_not_sampled_before_its_overflow_point(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 1, C(3), 250);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	sched_in(test, b);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, a->samples, 1);
	KUNIT_EXPECT_EQ(test, b->samples, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 50);
	fake_advance(fake, 50);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, a->samples, 2);
	KUNIT_EXPECT_EQ(test, b->samples, 1);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 50);
	sched_out(test, a);
	sched_out(test, b);
}

/* The counter has an overflow flag from before, as with OpenSBI 1.6. */
static void unexpected_flag_restarts_the_counter(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 30);
	fake->ctr[3].overflowed = true;
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 70);
	fake_advance(fake, 70);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	sched_out(test, s);
}

/*
 * A period ends while interrupts are off, and the counter is started again. So its flag is clear
 * when the interrupt is handled, but it has passed its overflow point again.
 */
static void interrupt_without_a_flag_takes_the_sample(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 130);
	begin(fake);
	stop(s, 0);
	start(s, 0);
	finish(fake);
	fake_advance(fake, 5);
	fake->ctr[3].overflowed = false;
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.spurious, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 65);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.spurious, 1);
	sched_out(test, s);
}

/* The counter overflowed early, and its flag is clear: it has to be loaded nevertheless. */
static void early_interrupt_without_a_flag_reloads_the_counter(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	sched_out(test, s);
	fake_advance(fake, 30);
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 70);
	fake_advance(fake, 72);
	fake->ctr[3].overflowed = false;
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.early, 1);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 28);
	fake_advance(fake, 28);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	sched_out(test, s);
}

/* Flags of unexpected overflows are cleared, of counters in use and of unused ones. */
static void unexpected_overflows_are_cleared(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 0);
	struct state_event *b = new_event(test, 2, C(4), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	sched_in(test, b);
	sched_out(test, b);
	fake_advance(fake, 5000);
	fake->ctr[3].overflowed = true;
	KUNIT_EXPECT_TRUE(test, fake->ctr[4].overflowed);
	scoped_guard(irqsave) {
		riscv_pmu_begin_update(&fake->pmu, this_hart(fake));
		riscv_pmu_hart_clear_overflows(&fake->pmu, this_hart(fake));
		riscv_pmu_commit_update(&fake->pmu, this_hart(fake));
	}
	KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
	KUNIT_EXPECT_EQ(test, fake_running(fake) & (C(3) | C(4)), C(3));
	fake_advance(fake, 5);
	KUNIT_EXPECT_EQ(test, count_of(a), 5005);
	sched_out(test, a);
}

/* The sampling event was removed. The counter keeps running with its overflow flag set. */
static void overflow_without_a_sampling_event_needs_no_batch(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 0);
	struct state_event *b = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, a);
	sched_in(test, b);
	sched_out(test, b);
	fake_advance(fake, 1000);
	fake->ctr[3].overflowed = true;
	batches = fake->nr_batches;
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	KUNIT_EXPECT_EQ(test, a->samples + b->samples, 0);
	KUNIT_EXPECT_EQ(test, count_of(a), 1000);
	sched_out(test, a);
}

static void interrupt_without_events_is_ignored(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	interrupt(fake);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, 0);
}

/* Even without sampling, the interrupt restarts a narrow counter, to detect its next wrap. */
static void a_narrow_counter_wraps_without_loss(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 0);
	struct fake_pmu *fake = test->priv;
	u64 sum = 0;

	fake_set_width(fake, C(3), 32);
	sched_in(test, s);
	for (int i = 0; i < 5; i++) {
		u64 step = fake_until_wrap(fake, 3) + 10;

		fake_advance(fake, step);
		sum += step;
		interrupt(fake);
		KUNIT_EXPECT_FALSE(test, fake->ctr[3].overflowed);
		KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	}
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	KUNIT_EXPECT_EQ(test, count_of(s), sum);
	sched_out(test, s);
}

/* perf stops the event, because it has reached its limit (PERF_EVENT_IOC_REFRESH). */
static void event_stopped_by_perf_stays_stopped(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct state_event *other = new_event(test, 1, C(3), 0);
	struct fake_pmu *fake = test->priv;

	atomic_set(&s->event.event_limit, 2);
	sched_in(test, s);
	sched_in(test, other);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, 0);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	irq_work_sync(&s->event.pending_disable_irq);
	KUNIT_EXPECT_TRUE(test, s->disabled);

	/* The event that shares the counter keeps counting. */
	fake_advance(fake, 300);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, count_of(s), 200);
	KUNIT_EXPECT_EQ(test, count_of(other), 500);
	sched_out(test, other);
	sched_out(test, s);
}

/* An overflow handler may restart its event with another period, as that of KVM. */
static void restarting_overflow(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs)
{
	struct fake_pmu *fake = kunit_get_current_test()->priv;

	state_overflow(event, data, regs);
	event->pmu->stop(event, PERF_EF_UPDATE);
	event->hw.sample_period = 40;
	local64_set(&event->hw.period_left, 0);
	event->pmu->start(event, PERF_EF_RELOAD);
	to_state(event)->running_in_handler = this_hart(fake)->hw.running;
}

static void handler_may_restart_its_event(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	s->event.overflow_handler = restarting_overflow;
	sched_in(test, s);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, 0);
	/* The event is paused in its handler, even if the handler restarts it. */
	KUNIT_EXPECT_EQ(test, s->running_in_handler, 0);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 40);
	fake_advance(fake, 40);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, count_of(s), 140);
	sched_out(test, s);
}

/* Only counters that overflowed are stopped. */
static void interrupt_leaves_other_counters_running(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 2, C(4), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	sched_in(test, b);
	fake_advance(fake, 100);
	interrupt(fake);
	if (!fake->pmu.one_call) {
		fake_expect_batch(test, fake, 1, BATCH(.stop = C(3)));
		fake_expect_batch(test, fake, 0, BATCH(.start = C(3), .load = C(3)));
	}
	KUNIT_EXPECT_EQ(test, a->samples, 1);
	KUNIT_EXPECT_EQ(test, b->samples, 0);
	KUNIT_EXPECT_EQ(test, count_of(b), 200);
	sched_out(test, a);
	sched_out(test, b);
}

static void two_counters_overflow_at_once(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 2, C(33), 200);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	sched_in(test, b);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, a->samples, 1);
	KUNIT_EXPECT_EQ(test, b->samples, 1);
	KUNIT_EXPECT_EQ(test, fake_last(fake, 0).start, C(3) | C(33));
	sched_out(test, a);
	sched_out(test, b);
}

/* The interrupt is late by several periods: there is one sample with their sum as its period. */
static void late_sample_includes_all_periods_that_ended(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 1234);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 1200);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 66);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.merged, 1);
	sched_out(test, s);
}

/*
 * The event excludes the kernel, and the interrupt arrives in a kernel thread (that of this test),
 * which has no user-mode registers.
 */
static void period_of_a_dropped_sample_is_added_to_the_next(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	s->event.attr.exclude_kernel = 1;
	sched_in(test, s);
	fake_advance(fake, 100);
	interrupt_of(fake, SR_PP);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 200);
	sched_out(test, s);
}

/* The counters advance during the overflow handler. */
static void busy_overflow(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	struct fake_pmu *fake = kunit_get_current_test()->priv;

	state_overflow(event, data, regs);
	fake_advance(fake, 77);
}

static void group_is_paused_while_its_sample_is_taken(struct kunit *test)
{
	struct state_event *leader = new_event(test, 1, C(3), 100);
	struct state_event *member = new_event(test, 2, C(4), 0);
	struct state_event *same = new_event(test, 1, C(3), 0);
	struct state_event *other = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;

	leader->event.overflow_handler = busy_overflow;
	member->event.group_leader = &leader->event;
	same->event.group_leader = &leader->event;
	list_add_tail(&member->event.sibling_list, &leader->event.sibling_list);
	list_add_tail(&same->event.sibling_list, &leader->event.sibling_list);
	leader->event.nr_siblings = 2;
	sched_in(test, leader);
	sched_in(test, member);
	sched_in(test, same);
	sched_in(test, other);
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, 100);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, count_of(leader), 100 * i);
		KUNIT_EXPECT_EQ(test, count_of(same), 100 * i);
		KUNIT_EXPECT_EQ(test, count_of(member), 200 * i);
		KUNIT_EXPECT_EQ(test, count_of(other), (200 + 2 * 77) * i);
	}
	sched_out(test, other);
	sched_out(test, same);
	sched_out(test, member);
	sched_out(test, leader);
}

/* --- throttling --------------------------------------------------------- */

/* Simulates an interrupt of @ctr that begins @gap ticks after the last one and takes @ticks. */
static void timed_interrupt(struct fake_pmu *fake, unsigned int ctr, u32 gap, u32 ticks)
{
	struct riscv_pmu_hart *hart = this_hart(fake);
	u32 now = hart->throttle.ended + gap;

	fake_advance(fake, fake_until_wrap(fake, ctr));
	riscv_pmu_throttle_begin_irq(&fake->pmu, hart, now, fake->mode == RISCV_PMU_INH_U);
	interrupt(fake);
	riscv_pmu_throttle_end_irq(hart, now + ticks);
}

/* The overflow handler takes time. */
static void long_overflow(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	state_overflow(event, data, regs);
	fake_advance(kunit_get_current_test()->priv, 10);
}

/*
 * A counting and a sampling event share a counter. The counting event counts during the interrupt,
 * as it would on a counter of its own; the sampling event does not.
 */
static void shared_counting_event_counts_during_the_interrupt(struct kunit *test)
{
	struct state_event *sampled = new_event(test, 1, C(3), 100);
	struct state_event *counted = new_event(test, 1, C(3), 0);
	struct fake_pmu *fake = test->priv;

	sampled->event.overflow_handler = long_overflow;
	sched_in(test, sampled);
	sched_in(test, counted);
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, 101);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, sampled->samples, i);
		KUNIT_EXPECT_EQ(test, count_of(sampled), 101 * i);
		KUNIT_EXPECT_EQ(test, count_of(counted), 111 * i);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100 - i);
	}
	sched_out(test, counted);
	sched_out(test, sampled);
}

static void periods_are_extended_under_load_and_restored(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 10);
	struct fake_pmu *fake = test->priv;
	u64 last = 10;

	s->event.overflow_handler = summing_overflow;
	sched_in(test, s);
	/* Until the duration of an interrupt is known. */
	for (int i = 0; i < 100; i++)
		timed_interrupt(fake, 3, 10000, 800);
	KUNIT_EXPECT_EQ(test, s->samples, 100);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 10);

	/* The minimum gap is three eighths of the duration: 300. */
	timed_interrupt(fake, 3, 301, 800);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 10);
	/* Three interrupts with a smaller gap are not throttled. */
	for (int i = 0; i < 3; i++)
		timed_interrupt(fake, 3, 290, 800);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 10);
	for (int i = 0; i < 8; i++) {
		timed_interrupt(fake, 3, 290, 800);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 2 * last);
		last *= 2;
	}
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 8);

	for (int i = 0; i < 60; i++)
		timed_interrupt(fake, 3, 10000, 800);
	KUNIT_EXPECT_EQ(test, s->ev.min_period, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 10);
	KUNIT_EXPECT_EQ(test, s->sum, count_of(s));
	sched_out(test, s);
}

/*
 * If the kernel is interrupted, it may still be at the end of the last interrupt. So the minimum
 * gap is twice as long.
 */
static void periods_are_extended_at_twice_the_gap_in_the_kernel(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 10);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	for (int i = 0; i < 100; i++)
		timed_interrupt(fake, 3, 10000, 400);
	/* Three eighths of the duration are 150, three quarters 300. */
	for (int i = 0; i < 10; i++)
		timed_interrupt(fake, 3, 290, 400);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 0);
	fake->mode = RISCV_PMU_INH_S;
	for (int i = 0; i < 10; i++)
		timed_interrupt(fake, 3, 301, 400);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 0);
	for (int i = 0; i < 10; i++)
		timed_interrupt(fake, 3, 290, 400);
	KUNIT_EXPECT_LT(test, 0, this_hart(fake)->stats.extended);
	sched_out(test, s);
}

/* The second of two periods that end together interrupts at once; that is no overload. */
static void periods_that_end_together_are_not_extended(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 1, C(4), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	fake_advance(fake, 1);
	sched_in(test, b);
	for (unsigned int i = 1; i <= 50; i++) {
		timed_interrupt(fake, 3, 20000, 800);
		timed_interrupt(fake, 4, 5, 800);
		KUNIT_EXPECT_EQ(test, a->samples, i);
		KUNIT_EXPECT_EQ(test, b->samples, i);
	}
	KUNIT_EXPECT_EQ(test, this_hart(fake)->stats.extended, 0);
	sched_out(test, a);
	sched_out(test, b);
}

/* --- without an interrupt ----------------------------------------------- */

static void stop_polling(void *harts)
{
	int cpu;

	for_each_possible_cpu(cpu)
		riscv_pmu_poll_hart_stop(per_cpu_ptr((struct riscv_pmu_hart __percpu *)
						     (uintptr_t)harts, cpu));
}

/* The tests call riscv_pmu_hart_poll() themselves, so the timer does not expire. */
static enum hrtimer_restart poll_does_nothing(struct hrtimer *timer)
{
	return HRTIMER_NORESTART;
}

/* Creates an event that is polled. */
static struct state_event *new_polled(struct kunit *test, u64 selector, u64 ctrs, u64 period)
{
	struct state_event *s = new_event(test, selector, ctrs, period);
	struct fake_pmu *fake = test->priv;
	int cpu;

	s->ev.polled = true;
	s->event.overflow_handler = summing_overflow;
	if (!fake->pmu.irq_ctrs)
		return s;

	fake->pmu.irq_ctrs = 0;
	for_each_possible_cpu(cpu) {
		struct riscv_pmu_hart *hart = per_cpu_ptr(fake->pmu.harts, cpu);

		riscv_pmu_poll_hart_start(hart);
		hart->poll.timer.function = poll_does_nothing;
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop_polling,
							(void *)(uintptr_t)fake->pmu.harts), 0);
	return s;
}

static u64 poll(struct fake_pmu *fake, u64 now)
{
	guard(irqsave)();

	return riscv_pmu_hart_poll(&fake->pmu, this_hart(fake), now, task_pt_regs(current));
}

/* A poll only reads the counter, so no count is lost. */
static void polled_event_is_sampled_at_the_first_poll_after_its_period(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, s);
	batches = fake->nr_batches;
	fake_advance(fake, 99);
	poll(fake, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	fake_advance(fake, 31);
	poll(fake, 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 100);
	KUNIT_EXPECT_EQ(test, s->last_count, 130);
	fake_advance(fake, 70);
	poll(fake, 3 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	fake_advance(fake, 350);
	poll(fake, 4 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 3);
	KUNIT_EXPECT_EQ(test, s->last_period, 300);
	KUNIT_EXPECT_EQ(test, s->sum, 500);
	KUNIT_EXPECT_EQ(test, fake->nr_batches, batches);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, count_of(s), 550);
}

struct poll_row {
	const char	*name;
	u64		period;
	u64		wait;
};

/* The wait after 1000 events in 1 ms, if an interrupt takes 10 us. */
static const struct poll_row poll_rows[] = {
	{ "as many events are left", 2000, 1000 * NSEC_PER_USEC },
	{ "three times as many are left", 4000, 3000 * NSEC_PER_USEC },
	{ "a long period", 100000, 4000 * NSEC_PER_USEC },
	{ "the longest period", S64_MAX, 4000 * NSEC_PER_USEC },
	{ "one event is left", 1001, 80 * NSEC_PER_USEC },
	{ "the period has ended", 1000, 1000 * NSEC_PER_USEC },
};

KUNIT_ARRAY_PARAM_DESC(poll, poll_rows, name);

static void timer_is_set_for_the_end_of_the_period(struct kunit *test)
{
	const struct poll_row *row = test->param_value;
	struct state_event *s = new_polled(test, 1, C(3), row->period);
	struct fake_pmu *fake = test->priv;
	u64 now = NSEC_PER_SEC;

	/* The average is in eighths of a tick. */
	this_hart(fake)->throttle.cost = 8 * riscv_timebase / 100000;
	sched_in(test, s);
	poll(fake, now);
	fake_advance(fake, 1000);
	KUNIT_EXPECT_EQ(test, poll(fake, now + NSEC_PER_MSEC), row->wait);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->poll.due, now + NSEC_PER_MSEC + row->wait);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, poll(fake, now + NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->poll.due, 0);
}

/* Polled again after 100 ns: such a short time does not change the measured rate. */
static void rate_is_not_measured_over_a_short_time(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 3001);
	struct fake_pmu *fake = test->priv;
	u64 now = NSEC_PER_SEC;

	sched_in(test, s);
	poll(fake, now);
	fake_advance(fake, 1000);
	now += NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, poll(fake, now), 2001 * NSEC_PER_USEC);
	fake_advance(fake, 1);
	now += 100;
	KUNIT_EXPECT_EQ(test, poll(fake, now), 2000 * NSEC_PER_USEC);
	fake_advance(fake, 999);
	now += 1998 * NSEC_PER_USEC - 100;
	KUNIT_EXPECT_EQ(test, poll(fake, now), 1001 * 1998 * NSEC_PER_USEC / 1000);
	sched_out(test, s);
}

/* If the events stop, the wait doubles with each poll, up to 4 ms. */
static void poll_interval_grows_while_no_events_occur(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 1100);
	struct fake_pmu *fake = test->priv;
	u64 now = NSEC_PER_SEC, wait = 100 * NSEC_PER_USEC;

	sched_in(test, s);
	poll(fake, now);
	fake_advance(fake, 1000);
	now += NSEC_PER_MSEC;
	KUNIT_EXPECT_EQ(test, poll(fake, now), wait);
	while (wait < 4 * NSEC_PER_MSEC) {
		now += wait;
		wait = min(2 * wait, 4 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, poll(fake, now), wait);
	}
	sched_out(test, s);
}

/* The period ended just before the event was switched out. */
static void polled_sample_is_taken_after_the_event_was_switched_out(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 120);
	sched_out(test, s);
	fake_advance(fake, 1000);
	sched_in(test, s);
	fake_advance(fake, 1);
	poll(fake, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_period, 100);
	fake_advance(fake, 79);
	poll(fake, 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	KUNIT_EXPECT_EQ(test, count_of(s), 200);
	sched_out(test, s);
}

/* As on hardware on which only some counters can interrupt. */
static void polled_and_interrupting_events_can_be_mixed(struct kunit *test)
{
	struct state_event *polled = new_polled(test, 1, C(3), 100);
	struct state_event *other = new_event(test, 2, C(4), 500);
	struct fake_pmu *fake = test->priv;

	fake->pmu.irq_ctrs = C(4);
	sched_in(test, polled);
	sched_in(test, other);
	KUNIT_EXPECT_EQ(test, this_hart(fake)->hw.armed, C(4));
	fake_advance(fake, 250);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, polled->samples, 0);
	KUNIT_EXPECT_EQ(test, other->samples, 1);
	poll(fake, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, polled->samples, 1);
	KUNIT_EXPECT_EQ(test, polled->last_period, 200);
	KUNIT_EXPECT_EQ(test, other->samples, 1);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 4), 500);
	sched_out(test, other);
	sched_out(test, polled);
}

/* The polled event is moved, because another event needs its counter. */
static void polled_event_is_sampled_after_a_move(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3) | C(4), 100);
	struct state_event *other = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, s->ev.ctr, 3);
	fake_advance(fake, 30);
	poll(fake, NSEC_PER_SEC);
	sched_in(test, other);
	KUNIT_EXPECT_EQ(test, s->ev.ctr, 4);
	/* One event before the end of the period, which the move must not change. */
	fake_advance(fake, 69);
	poll(fake, 2 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 0);
	fake_advance(fake, 1);
	KUNIT_EXPECT_NE(test, poll(fake, 3 * NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, s->last_count, 100);
	fake_advance(fake, 100);
	poll(fake, 4 * NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->samples, 2);
	sched_out(test, s);
	sched_out(test, other);
}

static void polled_event_stopped_by_perf_stays_stopped(struct kunit *test)
{
	struct state_event *s = new_polled(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	atomic_set(&s->event.event_limit, 1);
	sched_in(test, s);
	fake_advance(fake, 100);
	KUNIT_EXPECT_EQ(test, poll(fake, NSEC_PER_SEC), 0);
	irq_work_sync(&s->event.pending_disable_irq);
	KUNIT_EXPECT_TRUE(test, s->disabled);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	fake_advance(fake, 500);
	KUNIT_EXPECT_EQ(test, poll(fake, 2 * NSEC_PER_SEC), 0);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	KUNIT_EXPECT_EQ(test, count_of(s), 100);
	sched_out(test, s);
}

/* These tests are in two suites: see state_one_call_init(). */
#define STATE_CASES										\
	KUNIT_CASE(add_without_start_leaves_the_event_stopped),					\
	KUNIT_CASE(add_without_start_is_add_and_stop),						\
	KUNIT_CASE(add_with_start_starts_the_event),						\
	KUNIT_CASE(del_stops_and_updates_the_event),						\
	KUNIT_CASE(counter_of_a_deleted_event_keeps_running),					\
	KUNIT_CASE(fixed_counter_that_interrupts_samples_exactly),				\
	KUNIT_CASE_PARAM(stop_is_idempotent, stop_gen_params),					\
	KUNIT_CASE(start_of_a_running_event_changes_nothing),					\
	KUNIT_CASE(stop_and_start_continue_the_period),						\
	KUNIT_CASE(sample_is_taken_after_the_event_was_switched_out),				\
	KUNIT_CASE(reload_starts_a_new_period),							\
	KUNIT_CASE(read_does_not_change_the_state),						\
	KUNIT_CASE(add_fails_if_no_counter_is_free),						\
	KUNIT_CASE(add_fails_if_the_counter_refuses_the_config),				\
	KUNIT_CASE(started_event_is_stopped_if_its_config_is_refused),				\
	KUNIT_CASE(add_tries_all_counters),							\
	KUNIT_CASE(event_that_failed_to_start_is_tried_again),					\
	KUNIT_CASE_PARAM(new_period_begins_when_the_last_one_has_ended, period_gen_params),	\
	KUNIT_CASE(period_left_is_at_least_one),						\
	KUNIT_CASE(sample_of_a_changed_period_includes_all_its_events),				\
	KUNIT_CASE(period_is_bounded),								\
	KUNIT_CASE(event_is_sampled_at_its_overflow_point),					\
	KUNIT_CASE(skid_does_not_add_up),							\
	KUNIT_CASE(event_is_not_sampled_before_its_overflow_point),				\
	KUNIT_CASE(unexpected_flag_restarts_the_counter),					\
	KUNIT_CASE(interrupt_without_a_flag_takes_the_sample),					\
	KUNIT_CASE(early_interrupt_without_a_flag_reloads_the_counter),				\
	KUNIT_CASE(unexpected_overflows_are_cleared),						\
	KUNIT_CASE(overflow_without_a_sampling_event_needs_no_batch),				\
	KUNIT_CASE(interrupt_without_events_is_ignored),					\
	KUNIT_CASE(a_narrow_counter_wraps_without_loss),					\
	KUNIT_CASE(event_stopped_by_perf_stays_stopped),					\
	KUNIT_CASE(hart_starts_its_counters_for_the_first_event_after_idle),			\
	KUNIT_CASE(nothing_is_programmed_after_shutdown),					\
	KUNIT_CASE(handler_may_restart_its_event),						\
	KUNIT_CASE(interrupt_leaves_other_counters_running),					\
	KUNIT_CASE(two_counters_overflow_at_once),						\
	KUNIT_CASE(late_sample_includes_all_periods_that_ended),				\
	KUNIT_CASE(period_of_a_dropped_sample_is_added_to_the_next),				\
	KUNIT_CASE(group_is_paused_while_its_sample_is_taken),					\
	KUNIT_CASE(shared_counting_event_counts_during_the_interrupt),				\
	KUNIT_CASE(periods_are_extended_under_load_and_restored),				\
	KUNIT_CASE(periods_are_extended_at_twice_the_gap_in_the_kernel),	\
	KUNIT_CASE(periods_that_end_together_are_not_extended),					\
	KUNIT_CASE(polled_event_is_sampled_at_the_first_poll_after_its_period),			\
	KUNIT_CASE_PARAM(timer_is_set_for_the_end_of_the_period, poll_gen_params),		\
	KUNIT_CASE(rate_is_not_measured_over_a_short_time),					\
	KUNIT_CASE(poll_interval_grows_while_no_events_occur),					\
	KUNIT_CASE(polled_sample_is_taken_after_the_event_was_switched_out),			\
	KUNIT_CASE(polled_and_interrupting_events_can_be_mixed),				\
	KUNIT_CASE(polled_event_is_sampled_after_a_move),					\
	KUNIT_CASE(polled_event_stopped_by_perf_stays_stopped)

static struct kunit_case state_cases[] = {
	STATE_CASES,
	{}
};

static struct kunit_suite state_suite = {
	.name		= "riscv_pmu_state",
	.init		= state_init,
	.exit		= state_exit,
	.test_cases	= state_cases,
};

/* A batch takes one call: so paused counters keep running until the batch that stops them. */
static int state_one_call_init(struct kunit *test)
{
	int err = state_init(test);

	if (!err)
		((struct fake_pmu *)test->priv)->pmu.one_call = true;
	return err;
}

static void overflow_takes_one_batch(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;
	unsigned int batches;

	sched_in(test, a);
	sched_in(test, b);
	batches = fake->nr_batches;
	for (int i = 1; i <= 5; i++) {
		fake_advance(fake, fake_until_wrap(fake, 3));
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, a->samples, i);
		KUNIT_EXPECT_EQ(test, fake->nr_batches, batches + i);
		fake_expect_batch(test, fake, 0,
				  BATCH(.stop = C(3), .start = C(3), .load = C(3)));
	}
	sched_out(test, b);
	sched_out(test, a);
}

/* The hardware keeps running during the interrupt, but the paused counter's count does not. */
static void count_of_a_paused_counter_does_not_advance(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct fake_pmu *fake = test->priv;

	a->event.overflow_handler = busy_overflow;
	sched_in(test, a);
	fake_advance(fake, 100);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, a->samples, 1);
	KUNIT_EXPECT_EQ(test, count_of(a), 100);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 100);
	sched_out(test, a);
}

/* A running counter gets another config: the batch has to stop it before. */
static void paused_counter_can_be_reprogrammed(struct kunit *test)
{
	struct state_event *a = new_event(test, 1, C(3), 100);
	struct state_event *b = new_event(test, 2, C(3), 50);
	struct fake_pmu *fake = test->priv;

	sched_in(test, a);
	begin(fake);
	del(a);
	KUNIT_EXPECT_EQ(test, add(b, PERF_EF_START), 0);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 50);
	KUNIT_EXPECT_EQ(test, fake_running(fake), C(3));
	sched_out(test, b);
}

static struct kunit_case one_call_cases[] = {
	STATE_CASES,
	KUNIT_CASE(overflow_takes_one_batch),
	KUNIT_CASE(count_of_a_paused_counter_does_not_advance),
	KUNIT_CASE(paused_counter_can_be_reprogrammed),
	{}
};

static struct kunit_suite one_call_suite = {
	.name		= "riscv_pmu_one_call",
	.init		= state_one_call_init,
	.exit		= state_exit,
	.test_cases	= one_call_cases,
};

kunit_test_suites(&state_suite, &one_call_suite);
