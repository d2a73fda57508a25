// SPDX-License-Identifier: GPL-2.0
/* Tests of event-based branches that user space cannot make: NMIs, and threads that exit. */

#include <kunit/static_stub.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#include <uapi/linux/riscv_ebb.h>

#include "../ebb/task.h"
#include "fake_branch.h"

/* --- NMIs --- */

/* Whether an NMI would have had to wait at the last write of sctrstatus. */
static bool nmi_waits;

static void write_csr(unsigned int csr, unsigned long value)
{
	if (csr == PMU_CSR_SCTRSTATUS)
		nmi_waits = this_hart(kunit_get_current_test()->priv)->updating;
	fake_branch_write(csr, value);
}

/* An overflow changes the same state as the return. */
static void overflow_waits_while_a_handler_returns(struct kunit *test)
{
	struct state_event *s = fake_branch_event(test, 3, BR(USER) | BR(ANY));
	struct riscv_pmu_ebb *ebb = kunit_kzalloc(test, sizeof(*ebb), GFP_KERNEL);
	struct fake_pmu *fake = test->priv;
	int cpu = raw_smp_processor_id();
	struct riscv_pmu *pmu;

	KUNIT_ASSERT_NOT_NULL(test, ebb);
	ebb->page = kunit_kzalloc(test, sizeof(*ebb->page), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ebb->page);
	ebb->inside = true;
	fake_branch_in(test, s);
	scoped_guard(irqsave)
		riscv_pmu_branch_hold(this_hart(fake));
	nmi_waits = false;
	kunit_activate_static_stub(test, riscv_pmu_csr_branch_write, write_csr);
	scoped_guard(irqsave) {
		pmu = riscv_pmu_of(cpu);
		riscv_pmu_set_of(cpu, &fake->pmu);
		riscv_pmu_ebb_enable(ebb);
		riscv_pmu_set_of(cpu, pmu);
	}
	KUNIT_EXPECT_TRUE(test, nmi_waits);
	KUNIT_EXPECT_FALSE(test, this_hart(fake)->updating);
	KUNIT_EXPECT_FALSE(test, ebb->inside);
	KUNIT_EXPECT_EQ(test, ebb->page->control, RISCV_EBB_ENABLE);
	sched_out(test, s);
}

/* --- threads --- */

/**
 * struct ebb_thread - a thread that has mapped a page
 * @ebb:	its page and its state
 * @err:	what riscv_pmu_ebb_publish() has returned
 * @found:	it has found its page
 * @published:	these are set
 */
struct ebb_thread {
	struct riscv_pmu_ebb	*ebb;
	int			err;
	bool			found;
	struct completion	published;
};

static int publish(void *arg)
{
	struct ebb_thread *thread = arg;

	thread->ebb = riscv_pmu_ebb_new();
	if (thread->ebb) {
		thread->err = riscv_pmu_ebb_publish(thread->ebb);
		scoped_guard(irqsave)
			thread->found = riscv_pmu_ebb_of_current() == thread->ebb;
	}
	complete(&thread->published);
	while (!kthread_should_stop()) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

static bool is_published(struct riscv_pmu_ebb *ebb)
{
	return !hlist_unhashed_lockless(&ebb->node);
}

/* The page is still mapped then: nobody has called riscv_pmu_ebb_remove(). */
static void thread_that_exits_is_forgotten(struct kunit *test)
{
	struct ebb_thread thread = { .err = -1 };
	struct task_struct *task;

	init_completion(&thread.published);
	task = kthread_run(publish, &thread, "ebb_kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	wait_for_completion(&thread.published);
	KUNIT_EXPECT_EQ(test, thread.err, 0);
	KUNIT_EXPECT_TRUE(test, thread.found);
	if (thread.ebb)
		KUNIT_EXPECT_TRUE(test, is_published(thread.ebb));
	kthread_stop(task);
	KUNIT_ASSERT_NOT_NULL(test, thread.ebb);
	/* kthread_stop() does not wait until the thread has told others that it exits. */
	for (int i = 0; i < 5000 && is_published(thread.ebb); i++)
		fsleep(1000);
	KUNIT_EXPECT_FALSE(test, is_published(thread.ebb));
	riscv_pmu_ebb_remove(thread.ebb);
}

static void thread_has_one_page(struct kunit *test)
{
	struct riscv_pmu_ebb *first = riscv_pmu_ebb_new(), *second = riscv_pmu_ebb_new();

	KUNIT_EXPECT_NOT_NULL(test, first);
	KUNIT_EXPECT_NOT_NULL(test, second);
	if (first && second) {
		KUNIT_EXPECT_EQ(test, riscv_pmu_ebb_publish(first), 0);
		KUNIT_EXPECT_EQ(test, riscv_pmu_ebb_publish(second), -EBUSY);
	}
	if (first)
		riscv_pmu_ebb_remove(first);
	if (second)
		riscv_pmu_ebb_remove(second);
	scoped_guard(irqsave)
		KUNIT_EXPECT_NULL(test, riscv_pmu_ebb_of_current());
}

static struct kunit_case ebb_cases[] = {
	KUNIT_CASE(overflow_waits_while_a_handler_returns),
	KUNIT_CASE(thread_that_exits_is_forgotten),
	KUNIT_CASE(thread_has_one_page),
	{}
};

static struct kunit_suite ebb_suite = {
	.name		= "riscv_pmu_ebb",
	.init		= fake_branch_init,
	.exit		= fake_branch_exit,
	.test_cases	= ebb_cases,
};

kunit_test_suite(ebb_suite);
