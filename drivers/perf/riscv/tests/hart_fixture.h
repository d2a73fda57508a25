/* SPDX-License-Identifier: GPL-2.0 */
/* What tests of the layers below perf share: updates of one simulated hart, without perf. */
#ifndef _RISCV_PMU_HART_FIXTURE_H
#define _RISCV_PMU_HART_FIXTURE_H

#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/errno.h>

#include "../apply.h"
#include "../assign.h"
#include "../counter.h"
#include "fake_backend.h"

#define C(ctr)		BIT_ULL(ctr)
#define BATCH(...)	((struct fake_batch){ __VA_ARGS__ })

static inline int hart_init(struct kunit *test)
{
	test->priv = fake_create(test);
	return 0;
}

static inline void hart_exit(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;

	if (fake)
		fake_expect_idle(test, fake, &fake->hart);
}

static inline void begin(struct fake_pmu *fake)
{
	riscv_pmu_begin_update(&fake->pmu, &fake->hart);
}

static inline u64 finish(struct fake_pmu *fake)
{
	fake->hart.updating = false;
	fake->hart.latch_on_read = false;
	return riscv_pmu_hart_apply(&fake->pmu, &fake->hart);
}

/* Attaches an event as riscv_pmu_add() does. */
static inline int attach(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	if (!riscv_pmu_event_can_return(&fake->hart, ev))
		return riscv_pmu_event_assign(&fake->pmu, &fake->hart, ev);

	riscv_pmu_event_attach(&fake->hart, ev);
	return 0;
}

static inline int add(struct fake_pmu *fake, struct riscv_pmu_event *ev, u64 left)
{
	int err = attach(fake, ev);

	if (err)
		return err;
	err = riscv_pmu_hart_validate(&fake->pmu, &fake->hart, ev);
	if (err)
		riscv_pmu_event_detach(&fake->hart, ev);
	else
		riscv_pmu_event_start(&fake->hart, ev, left);

	return err;
}

static inline u64 read_delta(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	return riscv_pmu_event_read_delta(&fake->pmu, &fake->hart, ev);
}

/* An event that could not be added is ignored: that test has already failed. */
static inline u64 del(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	u64 delta;

	if (!fake_is_attached(ev))
		return 0;

	delta = read_delta(fake, ev);
	riscv_pmu_event_stop(&fake->hart, ev);
	riscv_pmu_event_detach(&fake->hart, ev);
	return delta;
}

/* Adds or removes one event in an update of its own. */
static inline void switch_in(struct kunit *test, struct fake_pmu *fake, struct riscv_pmu_event *ev,
			     u64 left)
{
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(fake, ev, left), 0);
	KUNIT_EXPECT_EQ(test, finish(fake), 0);
}

static inline u64 switch_out(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	u64 delta;

	begin(fake);
	delta = del(fake, ev);
	finish(fake);
	return delta;
}

static inline bool has_overflowed(struct fake_pmu *fake, struct riscv_pmu_event *ev)
{
	return ev->state == RISCV_PMU_EVENT_ACTIVE &&
	       riscv_pmu_event_has_overflowed(ev, riscv_pmu_counter_count(&fake->pmu, &fake->hart,
									  ev->ctr));
}

static inline void init_counting(struct riscv_pmu_event *ev, u64 selector, u64 ctrs)
{
	fake_event_init(ev, fake_config(selector, RISCV_PMU_INH_M), ctrs);
}

static inline void init_sampling(struct riscv_pmu_event *ev, u64 selector, u64 ctrs)
{
	init_counting(ev, selector, ctrs);
	ev->flags |= RISCV_PMU_EV_SAMPLING;
}

/* Returns the overflowed counters that have events with an overflow point. */
static inline u64 expected_overflows(struct fake_pmu *fake)
{
	u64 overflowed = 0;

	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		overflowed |= fake->ctr[ctr].overflowed ? C(ctr) : 0;

	return riscv_pmu_hart_find_expected(&fake->hart, overflowed & fake->hart.hw.armed);
}

/* Simulates the interrupt of counters that have overflowed before their overflow points. */
static inline void handle_early_irq(struct fake_pmu *fake, u64 ctrs)
{
	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, &fake->hart, ctrs);
	finish(fake);
}

/* Simulates the interrupt without samples: reads the event, and sets its next overflow point. */
static inline u64 handle_overflow(struct fake_pmu *fake, struct riscv_pmu_event *ev, u64 left)
{
	u64 delta;

	begin(fake);
	delta = read_delta(fake, ev);
	riscv_pmu_event_rearm(&fake->hart, ev, left);
	finish(fake);
	return delta;
}

static inline void lose_counters(struct fake_pmu *fake)
{
	begin(fake);
	riscv_pmu_hart_save(&fake->pmu, &fake->hart);
	fake->pmu.ops.hart_start(&fake->pmu);
	finish(fake);
}

/* A suite of tests of one hart. */
#define HART_SUITE(suite_name, cases)			\
	static struct kunit_suite cases##_suite = {	\
		.name		= suite_name,		\
		.init		= hart_init,		\
		.exit		= hart_exit,		\
		.test_cases	= cases,		\
	};						\
	kunit_test_suite(cases##_suite)

#endif /* _RISCV_PMU_HART_FIXTURE_H */
