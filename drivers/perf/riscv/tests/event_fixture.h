/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of perf's callbacks share: perf events on simulated harts. */
#ifndef _RISCV_PMU_EVENT_FIXTURE_H
#define _RISCV_PMU_EVENT_FIXTURE_H

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

static inline void state_free_harts(void *harts)
{
	free_percpu((struct riscv_pmu_hart __percpu *)(uintptr_t)harts);
}

/* The thread is bound to one CPU, because a test uses the state of one hart. */
static inline int state_init(struct kunit *test)
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
static inline void state_exit(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	int cpu;

	if (!fake || !fake->pmu.harts)
		return;

	for_each_possible_cpu(cpu) {
		struct riscv_pmu_hart *hart = per_cpu_ptr(fake->pmu.harts, cpu);

		KUNIT_EXPECT_FALSE(test, hart->updating);
		if (hart->hw.holds | hart->wanted.sched.used)
			fake_expect_idle(test, fake, hart);
	}
	fake_expect_no_violation(test, fake);
}

static inline struct riscv_pmu_hart *this_hart(struct fake_pmu *fake)
{
	return raw_cpu_ptr(fake->pmu.harts);
}

static inline struct state_event *to_state(struct perf_event *event)
{
	return container_of(event, struct state_event, event);
}

static inline void state_overflow(struct perf_event *event, struct perf_sample_data *data,
				  struct pt_regs *regs)
{
	struct state_event *s = to_state(event);

	s->samples++;
	s->last_period = data->period;
	s->last_count = local64_read(&event->count);
}

static inline void summing_overflow(struct perf_event *event, struct perf_sample_data *data,
				    struct pt_regs *regs)
{
	state_overflow(event, data, regs);
	to_state(event)->sum += data->period;
}

static inline void state_disabled(struct irq_work *work)
{
	container_of(work, struct state_event, event.pending_disable_irq)->disabled = true;
}

static inline void state_sync(void *work)
{
	irq_work_sync(work);
}

/* Initialises the members that perf_event_open() and riscv_pmu_event_init() set. */
static inline struct state_event *new_event(struct kunit *test, u64 selector, u64 ctrs, u64 period)
{
	struct state_event *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct fake_pmu *fake = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, s);
	fake_event_init(&s->ev, fake_config(selector, RISCV_PMU_INH_M), ctrs);
	s->ev.event = &s->event;
	s->ev.left = &s->event.hw.period_left;
	s->ev.flags = (period ? RISCV_PMU_EV_SAMPLING : 0) |
		      (ctrs & fake->pmu.direct_ctrs ? 0 : RISCV_PMU_EV_INDIRECT);
	INIT_LIST_HEAD(&s->event.sibling_list);
	s->event.group_leader = &s->event;
	s->event.pmu = &fake->pmu.pmu;
	s->event.pmu_private = &s->ev;
	s->event.attr.type = PERF_TYPE_RAW;
	s->event.attr.sample_period = period;
	s->event.hw.sample_period = period;
	s->event.hw.last_period = period;
	s->event.hw.state = STOPPED;
	local64_set(&s->event.hw.period_left, period);
	s->event.overflow_handler = state_overflow;
	init_irq_work(&s->event.pending_disable_irq, state_disabled);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, state_sync,
							&s->event.pending_disable_irq), 0);
	return s;
}

/* perf adds an event to the leader's list after event_init. */
static inline void join_group(struct state_event *leader, struct state_event *member)
{
	member->event.group_leader = &leader->event;
	list_add_tail(&member->event.sibling_list, &leader->event.sibling_list);
	leader->event.nr_siblings++;
}

static inline int add(struct state_event *s, int flags)
{
	guard(irqsave)();
	return riscv_pmu_add(&s->event, flags);
}

/* An event that could not be added is ignored: that test has already failed. */
static inline void del(struct state_event *s)
{
	guard(irqsave)();
	if (fake_is_attached(&s->ev))
		riscv_pmu_del(&s->event, 0);
}

static inline void start(struct state_event *s, int flags)
{
	guard(irqsave)();
	riscv_pmu_start(&s->event, flags);
}

static inline void stop(struct state_event *s, int flags)
{
	guard(irqsave)();
	riscv_pmu_stop(&s->event, flags);
}

static inline u64 count_of(struct state_event *s)
{
	guard(irqsave)();
	riscv_pmu_read(&s->event);
	return local64_read(&s->event.count);
}

static inline void begin(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_begin_update(&fake->pmu, this_hart(fake));
}

static inline void finish(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_commit_update(&fake->pmu, this_hart(fake));
}

static inline void interrupt_of(struct fake_pmu *fake, unsigned long status)
{
	struct pt_regs regs = { .status = status };

	guard(irqsave)();
	riscv_pmu_hart_handle_irq(&fake->pmu, this_hart(fake), &regs);
}

/* Simulates an interrupt in user mode. */
static inline void interrupt(struct fake_pmu *fake)
{
	interrupt_of(fake, 0);
}

static inline void sched_in(struct kunit *test, struct state_event *s)
{
	begin(test->priv);
	KUNIT_EXPECT_EQ(test, add(s, PERF_EF_START), 0);
	finish(test->priv);
}

static inline void sched_out(struct kunit *test, struct state_event *s)
{
	begin(test->priv);
	del(s);
	finish(test->priv);
}

/* Like PERF_EVENT_IOC_PERIOD: the present period ends at once. */
static inline void restart_with_period(struct state_event *s, u64 period)
{
	stop(s, PERF_EF_UPDATE);
	s->event.hw.sample_period = period;
	local64_set(&s->event.hw.period_left, 0);
	start(s, PERF_EF_RELOAD);
}

#define STATE_SUITE(suite_name, cases)				\
	static struct kunit_suite cases##_suite = {		\
		.name		= suite_name,			\
		.init		= state_init,			\
		.exit		= state_exit,			\
		.test_cases	= cases,			\
	};							\
	kunit_test_suites(&cases##_suite)

#endif /* _RISCV_PMU_EVENT_FIXTURE_H */
