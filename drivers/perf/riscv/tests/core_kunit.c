// SPDX-License-Identifier: GPL-2.0
/* Tests of core.c: the state of an event in add, del, start and stop. */

#include <linux/perf_event.h>

/* struct perf_buffer, for the page of a mapping. */
#include "../../../../kernel/events/internal.h"

#include "../apply.h"
#include "../assign.h"
#include "../compat.h"
#include "event_fixture.h"
#include "../user/user.h"

static void add_without_start_leaves_the_event_stopped(struct kunit *test)
{
	struct state_event *s = new_event(test, 5, C(3), 0);
	struct fake_pmu *fake = test->priv;

	begin(fake);
	KUNIT_EXPECT_EQ(test, add(s, 0), 0);
	finish(fake);
	KUNIT_EXPECT_EQ(test, s->event.hw.state, STOPPED);
	KUNIT_EXPECT_EQ(test, s->ev.ctr, 3);
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

/* Reads two events during a firmware call, as a sample of its tracepoint does. */
static void read_on_step(struct fake_pmu *fake)
{
	struct state_event **s = fake->step_data;

	fake->step = NULL;
	riscv_pmu_read(&s[0]->event);
	riscv_pmu_read(&s[1]->event);
	fake->step = read_on_step;
}

/* As when a program maps an event whose counter another event samples. */
static void a_counter_that_is_written_anew_keeps_the_overflow_point(struct kunit *test)
{
	struct state_event *sampling = new_event(test, 1, C(3), 1000);
	struct state_event *counting = new_event(test, 1, C(3), 0);
	struct state_event *other = new_event(test, 2, C(4), 0);
	struct state_event *read[] = { counting, other };
	struct fake_pmu *fake = test->priv;

	sched_in(test, sampling);
	sched_in(test, counting);
	sched_in(test, other);
	fake_advance(fake, 400);
	begin(fake);
	this_hart(fake)->hw.loaded &= ~C(3);
	this_hart(fake)->changed |= C(3);
	finish(fake);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 600);
	fake_advance(fake, 600);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, sampling->samples, 1);
	KUNIT_EXPECT_EQ(test, count_of(counting), 1000);

	/* What is counted until the counter stops is not lost. */
	begin(fake);
	this_hart(fake)->hw.loaded &= ~C(3);
	this_hart(fake)->changed |= C(3);
	fake->reload_gap = 7;
	finish(fake);
	KUNIT_EXPECT_EQ(test, count_of(counting), 1007);

	/* Nor are events lost or counted twice if the event is read meanwhile. */
	begin(fake);
	this_hart(fake)->hw.loaded &= ~C(3);
	this_hart(fake)->changed |= C(3);
	fake->step = read_on_step;
	fake->step_data = read;
	finish(fake);
	fake->step = NULL;
	/* The other counter, which counts two per tick, is read as it is at that time. */
	KUNIT_EXPECT_EQ(test, local64_read(&other->event.count), 2028);
	KUNIT_EXPECT_EQ(test, count_of(counting), 1014);
	KUNIT_EXPECT_EQ(test, count_of(sampling), 1014);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 993);
	sched_out(test, other);
	sched_out(test, counting);
	sched_out(test, sampling);
}

/* Notes the highest count that such a sample reads. */
static void note_count_on_step(struct fake_pmu *fake)
{
	struct state_event *s = fake->step_data;

	fake->step = NULL;
	riscv_pmu_read(&s->event);
	s->last_count = max_t(u64, s->last_count, local64_read(&s->event.count));
	fake->step = note_count_on_step;
}

static void a_count_is_right_while_its_counter_is_written(struct kunit *test)
{
	struct state_event *sampling = new_event(test, 1, C(3), 1000);
	struct state_event *counting = new_event(test, 1, C(3), 0);
	struct fake_pmu *fake = test->priv;

	sched_in(test, sampling);
	sched_in(test, counting);
	fake_advance(fake, 1000);
	fake->step = note_count_on_step;
	fake->step_data = counting;
	interrupt(fake);
	fake->step = NULL;
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 1000);
	KUNIT_EXPECT_EQ(test, counting->last_count, 1000);
	sched_out(test, counting);
	sched_out(test, sampling);
}

/* As while a handler of event-based branches runs. */
static void stop_with_counter(struct fake_pmu *fake, struct state_event *s)
{
	begin(fake);
	riscv_pmu_hart_pause(&fake->pmu, this_hart(fake), C(3));
	stop(s, PERF_EF_UPDATE);
	finish(fake);
}

static void event_of_a_stopped_counter_keeps_its_overflow_point(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);
	struct fake_pmu *fake = test->priv;

	sched_in(test, s);
	fake_advance(fake, 400);
	stop_with_counter(fake, s);
	KUNIT_EXPECT_EQ(test, fake_running(fake), 0);
	start(s, 0);
	KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 600);
	fake_advance(fake, 600);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, s->samples, 1);
	sched_out(test, s);
}

/* The user page's update repeats until no counter has to be written anew. */
static void counters_to_write_anew_are_written_when_another_starts(struct kunit *test)
{
	struct state_event *sampling = new_event(test, 1, C(3), 1000);
	struct state_event *mapped = new_event(test, 2, C(4), 0);
	struct fake_pmu *fake = test->priv;
	struct riscv_pmu_hart *hart = this_hart(fake);

	/* Counter 4 runs on. */
	sched_in(test, mapped);
	sched_out(test, mapped);
	sched_in(test, sampling);
	for (unsigned int ctr = 3; ctr <= 4; ctr++) {
		stop_with_counter(fake, sampling);
		begin(fake);
		if (ctr == 4)
			KUNIT_EXPECT_EQ(test, add(mapped, PERF_EF_START), 0);
		start(sampling, 0);
		hart->hw.loaded &= ~C(ctr);
		finish(fake);
		KUNIT_EXPECT_EQ(test, hart->hw.running & ~hart->hw.loaded, 0);
		KUNIT_EXPECT_EQ(test, fake_until_wrap(fake, 3), 1000);
	}

	fake_advance(fake, 1000);
	interrupt(fake);
	KUNIT_EXPECT_EQ(test, sampling->samples, 1);
	KUNIT_EXPECT_EQ(test, count_of(mapped), 2000);
	sched_out(test, mapped);
	sched_out(test, sampling);
}

#ifdef CONFIG_RISCV_PMU_USER_ACCESS
/* What mmap() by another process does. */
static const struct perf_event_mmap_page *map_page(struct kunit *test, struct state_event *s)
{
	struct perf_event_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	struct perf_buffer *rb = kunit_kzalloc(test, sizeof(*rb), GFP_KERNEL);
	struct fake_pmu *fake = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, ctx);
	KUNIT_ASSERT_NOT_NULL(test, rb);
	rb->user_page = kunit_kzalloc(test, sizeof(*rb->user_page), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rb->user_page);
	fake->pmu.pmu.start_txn = riscv_pmu_start_txn;
	fake->pmu.pmu.event_idx = riscv_pmu_user_idx;
	s->event.state = PERF_EVENT_STATE_ACTIVE;
	s->event.ctx = ctx;
	s->event.rb = rb;
	s->ev.flags |= RISCV_PMU_EV_MAPPED;
	s->ev.flags |= RISCV_PMU_EV_MAPPED_SLOW;
	return rb->user_page;
}

static void mapped_page_follows_the_event(struct kunit *test)
{
	struct state_event *s = new_event(test, 1, C(3), 1000);
	const struct perf_event_mmap_page *page = map_page(test, s);
	struct fake_pmu *fake = test->priv;
	u32 lock;

	sched_in(test, s);
	/* The second sample is mostly in the same tick of the kernel as the first. */
	for (u64 i = 1; i <= 2; i++) {
		fake_advance(fake, 1000);
		interrupt(fake);
		KUNIT_EXPECT_EQ(test, s->samples, i);
		KUNIT_EXPECT_EQ(test, page->offset, i * 1000);
	}
	fake_advance(fake, 10);
	riscv_pmu_ctx_time(s->event.ctx) = 5000;
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, page->offset, 2010);
	KUNIT_EXPECT_EQ(test, page->time_enabled, 5000);
	KUNIT_EXPECT_EQ(test, page->time_running, 5000);

	/* Nothing has changed, unless the event is multiplexed. */
	lock = page->lock;
	KUNIT_EXPECT_EQ(test, lock % 2, 0);
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, page->lock, lock);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, page->lock, lock + 2);
	s->event.total_time_enabled = 100;
	sched_in(test, s);
	KUNIT_EXPECT_EQ(test, page->lock, lock + 4);
	KUNIT_EXPECT_EQ(test, page->time_enabled, 5100);
	KUNIT_EXPECT_EQ(test, page->time_running, 5000);
	sched_out(test, s);
	KUNIT_EXPECT_EQ(test, page->lock, lock + 6);
	KUNIT_EXPECT_EQ(test, page->index, 0);
}
#endif

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
	KUNIT_EXPECT_EQ(test, b->ev.ctr, -1);
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
	KUNIT_EXPECT_EQ(test, s->ev.ctr, 33);
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

	/* The time of the next try has not come, however slow this machine is. */
	s->ev.retry = jiffies + 1000 * HZ;
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

/*
 * The hart has as many identical events as it may have, and one more waits. Each of them checks the
 * limit when it returns, whatever its owner maps or unmaps meanwhile.
 */
static void an_event_checks_the_limit_when_it_returns(struct kunit *test)
{
	struct state_event *s[RISCV_PMU_MAX_IDENTICAL + 1];
	struct fake_pmu *fake = test->priv;
	int last = ARRAY_SIZE(s) - 1;

	for (int i = 0; i <= last; i++)
		s[i] = new_event(test, 5, C(3), 0);
	for (int i = 0; i < last; i++)
		sched_in(test, s[i]);
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(s[last], PERF_EF_START), -EAGAIN);
	finish(fake);
	sched_out(test, s[0]);
	sched_in(test, s[last]);
	/* As when its page is unmapped. */
	s[0]->ev.flags &= ~RISCV_PMU_EV_MAPPED_SLOW;
	begin(fake);
	KUNIT_EXPECT_EQ(test, add(s[0], PERF_EF_START), -EAGAIN);
	finish(fake);
	sched_out(test, s[1]);
	sched_in(test, s[0]);
	for (int i = 0; i <= last; i++) {
		if (i != 1)
			sched_out(test, s[i]);
	}
}

static struct kunit_case core_cases[] = {
	KUNIT_CASE(add_without_start_leaves_the_event_stopped),
	KUNIT_CASE(add_without_start_is_add_and_stop),
	KUNIT_CASE(add_with_start_starts_the_event),
	KUNIT_CASE(del_stops_and_updates_the_event),
	KUNIT_CASE(counter_of_a_deleted_event_keeps_running),
	KUNIT_CASE(fixed_counter_that_interrupts_samples_exactly),
	KUNIT_CASE_PARAM(stop_is_idempotent, stop_gen_params),
	KUNIT_CASE(start_of_a_running_event_changes_nothing),
	KUNIT_CASE(stop_and_start_continue_the_period),
	KUNIT_CASE(sample_is_taken_after_the_event_was_switched_out),
	KUNIT_CASE(a_counter_that_is_written_anew_keeps_the_overflow_point),
	KUNIT_CASE(a_count_is_right_while_its_counter_is_written),
	KUNIT_CASE(event_of_a_stopped_counter_keeps_its_overflow_point),
	KUNIT_CASE(counters_to_write_anew_are_written_when_another_starts),
#ifdef CONFIG_RISCV_PMU_USER_ACCESS
	KUNIT_CASE(mapped_page_follows_the_event),
#endif
	KUNIT_CASE(reload_starts_a_new_period),
	KUNIT_CASE(read_does_not_change_the_state),
	KUNIT_CASE(add_fails_if_no_counter_is_free),
	KUNIT_CASE(add_fails_if_the_counter_refuses_the_config),
	KUNIT_CASE(started_event_is_stopped_if_its_config_is_refused),
	KUNIT_CASE(add_tries_all_counters),
	KUNIT_CASE(event_that_failed_to_start_is_tried_again),
	KUNIT_CASE(an_event_checks_the_limit_when_it_returns),
	KUNIT_CASE(hart_starts_its_counters_for_the_first_event_after_idle),
	KUNIT_CASE(nothing_is_programmed_after_shutdown),
	{}
};

STATE_SUITE("riscv_pmu_core", core_cases);
