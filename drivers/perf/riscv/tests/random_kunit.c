// SPDX-License-Identifier: GPL-2.0
/* Random changes of events on one hart: no count is lost, and no overflow point is missed. */

#include <linux/prandom.h>
#include <linux/time64.h>

#include "../apply.h"
#include "hart_fixture.h"

#define SOAK_SEED	0x534f414bu
#define SOAK_STEPS	6000
#define SOAK_EVENTS	10

/* An event, its expected count, and the count that was read. */
struct soak_event {
	struct riscv_pmu_event	ev;
	u64			req;
	u64			got;
	s64			period_left;
};

struct soak {
	struct kunit		*test;
	struct fake_pmu		*fake;
	struct rnd_state	rnd;
	struct soak_event	r[SOAK_EVENTS];
	unsigned int		refused;
	unsigned int		samples;
};

static u32 soak_random(struct soak *s, u32 below)
{
	return prandom_u32_state(&s->rnd) % below;
}

static u64 soak_random_ctrs(struct soak *s)
{
	u64 all = FAKE_CONFIG, ctrs = 0;

	while (!ctrs) {
		for (u64 rest = all; rest; rest &= rest - 1)
			ctrs |= soak_random(s, 2) ? rest & -rest : 0;
	}

	return ctrs;
}

/* There are only a few selectors and filters, so that events share counters. */
static void soak_new_event(struct soak *s, struct soak_event *r)
{
	static const u32 inh[] = { 0, 0, 0, RISCV_PMU_INH_U, RISCV_PMU_INH_S };
	struct riscv_pmu_config cfg = fake_config(1 + soak_random(s, 4),
						  inh[soak_random(s, ARRAY_SIZE(inh))]);

	memset(r, 0, sizeof(*r));
	fake_event_init(&r->ev, cfg, soak_random_ctrs(s));
	r->ev.flags = soak_random(s, 3) ? 0 : RISCV_PMU_EV_SAMPLING;
}

static void soak_read(struct soak *s, struct soak_event *r)
{
	r->got += read_delta(s->fake, &r->ev);
	KUNIT_EXPECT_EQ(s->test, r->got, r->req);
}

static void soak_start(struct soak *s, struct soak_event *r)
{
	if (r->period_left < 1)
		r->period_left = 1 + soak_random(s, 100000);
	riscv_pmu_event_start(&s->fake->hart, &r->ev, r->period_left);
}

static void soak_attach(struct soak *s, struct soak_event *r)
{
	struct fake_pmu *fake = s->fake;

	if (attach(fake, &r->ev)) {
		s->refused++;
		return;
	}
	KUNIT_EXPECT_EQ(s->test, riscv_pmu_hart_validate(&fake->pmu, &fake->hart, &r->ev), 0);
	if (soak_random(s, 4))
		soak_start(s, r);
}

static void soak_stop(struct soak *s, struct soak_event *r)
{
	soak_read(s, r);
	riscv_pmu_event_stop(&s->fake->hart, &r->ev);
}

static void soak_detach(struct soak *s, struct soak_event *r)
{
	if (r->ev.state)
		soak_stop(s, r);
	else
		soak_read(s, r);
	riscv_pmu_event_detach(&s->fake->hart, &r->ev);
	if (!soak_random(s, 3))
		soak_new_event(s, r);
}

/* Makes a random change of one event, as perf could. */
static void soak_change(struct soak *s)
{
	struct soak_event *r = &s->r[soak_random(s, SOAK_EVENTS)];

	if (!fake_is_attached(&r->ev))
		soak_attach(s, r);
	else if (!soak_random(s, 3))
		soak_detach(s, r);
	else if (!r->ev.state)
		soak_start(s, r);
	else if (soak_random(s, 2))
		soak_stop(s, r);
	else
		soak_read(s, r);
}

/*
 * Advances the time. Returns true if it was so long that all events have to be read now, before
 * the narrowest counter wraps twice.
 */
static bool soak_advance(struct soak *s)
{
	struct fake_pmu *fake = s->fake;
	bool is_long = !soak_random(s, 8);
	u64 ticks = soak_random(s, is_long ? 1 << 28 : 5000);

	fake->mode = soak_random(s, 2) ? RISCV_PMU_INH_U : RISCV_PMU_INH_S;
	for (int i = 0; i < SOAK_EVENTS; i++) {
		struct soak_event *r = &s->r[i];
		const struct riscv_pmu_config *cfg = &r->ev.req.cfg;

		if (!r->ev.state || cfg->inh & fake->mode)
			continue;
		r->req += ticks * fake_rate(cfg);
		r->period_left -= ticks * fake_rate(cfg);
	}
	fake_advance(fake, ticks);
	return is_long;
}

/* Simulates the interrupt, and reads some other events. */
static void soak_handle_overflows(struct soak *s, bool read_all)
{
	struct fake_pmu *fake = s->fake;
	u64 overflowed = expected_overflows(fake);

	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, &fake->hart, overflowed);
	for (int i = 0; i < SOAK_EVENTS; i++) {
		struct soak_event *r = &s->r[i];
		bool due = r->ev.flags & RISCV_PMU_EV_SAMPLING && r->ev.state &&
			   r->period_left <= 0;

		KUNIT_EXPECT_EQ(s->test, has_overflowed(fake, &r->ev), due);
		if (fake_is_attached(&r->ev) && (due || read_all || !soak_random(s, 8)))
			soak_read(s, r);
		if (!due)
			continue;
		s->samples++;
		/* A counter must have overflowed if an event has reached its overflow point. */
		KUNIT_EXPECT_NE(s->test, overflowed & C(r->ev.ctr), 0);
		r->period_left = 1 + soak_random(s, 100000);
		riscv_pmu_event_rearm(&fake->hart, &r->ev, r->period_left);
	}
	finish(fake);
}

/* Checks that each counter overflows no later than at the nearest overflow point. */
static void soak_check_overflow_points(struct soak *s)
{
	struct fake_pmu *fake = s->fake;

	for (int i = 0; i < RISCV_MAX_COUNTERS; i++) {
		s64 first = S64_MAX;

		for (int j = 0; j < SOAK_EVENTS; j++) {
			const struct soak_event *r = &s->r[j];

			if (fake_is_attached(&r->ev) && r->ev.ctr == i &&
			    r->ev.flags & RISCV_PMU_EV_SAMPLING &&
			    r->ev.state)
				first = min(first, r->period_left);
		}
		if (first == S64_MAX)
			continue;
		KUNIT_EXPECT_NE(s->test, fake->hart.hw.armed & C(i), 0);
		KUNIT_EXPECT_GE(s->test, fake_until_wrap(fake, i), 1);
		KUNIT_EXPECT_LE(s->test, fake_until_wrap(fake, i), first);
	}
}

static void soak_check(struct soak *s)
{
	struct fake_pmu *fake = s->fake;
	u64 holding = fake_holding(fake);

	KUNIT_EXPECT_EQ(s->test, fake->hart.hw.running, fake_running(fake));
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		KUNIT_EXPECT_EQ(s->test,
				riscv_pmu_counter_is_programmed(&fake->hart.counter[ctr]),
				!!(holding & C(ctr)));
	soak_check_overflow_points(s);
	fake_expect_no_violation(s->test, fake);
}

static void soak_step(struct soak *s)
{
	begin(s->fake);
	for (u32 i = soak_random(s, 4); i; i--)
		soak_change(s);
	KUNIT_EXPECT_EQ(s->test, finish(s->fake), 0);
	soak_check(s);

	if (!soak_random(s, 100))
		lose_counters(s->fake);
	soak_handle_overflows(s, soak_advance(s));
	soak_check(s);
}

static void random_changes_lose_no_count(struct kunit *test)
{
	struct soak *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->test = test;
	s->fake = test->priv;
	prandom_seed_state(&s->rnd, SOAK_SEED);
	fake_set_width(s->fake, C(4), 32);
	fake_set_width(s->fake, C(33), 40);
	for (int i = 0; i < SOAK_EVENTS; i++)
		soak_new_event(s, &s->r[i]);

	for (int i = 0; i < SOAK_STEPS && test->status == KUNIT_SUCCESS; i++)
		soak_step(s);

	kunit_info(test, "seed 0x%x: %u batches, %u samples, %u events refused", SOAK_SEED,
		   s->fake->nr_batches, s->samples, s->refused);
	KUNIT_EXPECT_GT(test, s->refused, 100);
	KUNIT_EXPECT_GT(test, s->samples, 100);

	begin(s->fake);
	for (int i = 0; i < SOAK_EVENTS; i++) {
		if (fake_is_attached(&s->r[i].ev))
			soak_detach(s, &s->r[i]);
	}
	finish(s->fake);
}

static struct kunit_case random_cases[] = {
	KUNIT_CASE(random_changes_lose_no_count),
	{}
};

HART_SUITE("riscv_pmu_random", random_cases);
