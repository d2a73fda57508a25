// SPDX-License-Identifier: GPL-2.0
/*
 * Event-based branches (EBBs). A task has mapped a page and registered a handler (ebb/dev.c). When
 * a counter of one of its events overflows, the task's next return to user mode enters the handler.
 * The return address is kept in struct riscv_pmu_ebb; the page, which any thread of the process
 * can write, has a copy.
 *
 * From the overflow until the handler returns the task's events are stopped, so that they do not
 * count the handler, and no overflow can be lost meanwhile. Branch records are put into the page
 * at the overflow. While the handler runs, they are frozen, so that none is of the handler.
 */

#include <linux/entry-common.h>
#include <linux/hashtable.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/rseq.h>
#include <linux/sched/signal.h>
#include <linux/uprobes.h>

#include <asm/delay.h>
#ifdef SR_ELP
#include <asm/usercfi.h>
#endif

#include <uapi/linux/riscv_ebb.h>

#include "../apply.h"
#include "../branch/branch.h"
#include "ebb.h"
#include "task.h"
#include "../update.h"

static_assert(sizeof(struct riscv_ebb_page) <= PAGE_SIZE);
static_assert(sizeof(struct riscv_ebb_branch) == sizeof(struct perf_branch_entry));
static_assert(offsetof(struct riscv_ebb_branch, to) == offsetof(struct perf_branch_entry, to));

/* --- tasks --- */

/* The key is the address of @pid, which users cannot choose, so the lists are short. */
#define EBB_HASH_BITS	9
static DEFINE_HASHTABLE(ebb_tasks, EBB_HASH_BITS);
static DEFINE_SPINLOCK(ebb_lock);

/* NULL if the task has no page, or has called exec since. Interrupts are off, or ebb_lock held. */
struct riscv_pmu_ebb *riscv_pmu_ebb_of_current(void)
{
	const struct pid *pid = task_pid(current);
	struct riscv_pmu_ebb *ebb;

	hash_for_each_possible_rcu_notrace(ebb_tasks, ebb, node, (unsigned long)pid) {
		/* After exec the task is another program, which has not registered a handler. */
		if (ebb->pid == pid && ebb->mm == current->mm)
			return ebb;
	}

	return NULL;
}

/* Lets the current task's overflows find its page; -EBUSY: the task has another one. */
int riscv_pmu_ebb_publish(struct riscv_pmu_ebb *ebb)
{
	unsigned long flags;
	bool is_new;

	spin_lock_irqsave(&ebb_lock, flags);
	is_new = !riscv_pmu_ebb_of_current();
	if (is_new)
		hash_add_rcu(ebb_tasks, &ebb->node, (unsigned long)ebb->pid);
	spin_unlock_irqrestore(&ebb_lock, flags);
	return is_new ? 0 : -EBUSY;
}

void riscv_pmu_ebb_unpublish(struct riscv_pmu_ebb *ebb)
{
	unsigned long flags;

	spin_lock_irqsave(&ebb_lock, flags);
	hash_del_rcu(&ebb->node);
	spin_unlock_irqrestore(&ebb_lock, flags);
}

/* --- events --- */

static unsigned int ebb_hpm(const struct perf_event *event)
{
	return __ffs64(event->attr.config2);
}

bool riscv_pmu_ebb_enabled __read_mostly = true;
module_param_named(ebb, riscv_pmu_ebb_enabled, bool, 0444);
MODULE_PARM_DESC(ebb, "event-based branches: /dev/riscv_ebb (default: 1)");

/* Notes whether a new event's overflows cause event-based branches. */
void riscv_pmu_ebb_note(struct riscv_pmu_event *ev)
{
	if (ev->event->attr.config1 & RISCV_PMU_CONFIG1_EBB)
		ev->flags |= RISCV_PMU_EV_EBB | RISCV_PMU_EV_SAMPLING;
}

/* Checks what event.c cannot check. Returns -EOPNOTSUPP with riscv_pmu.ebb=0, or -EINVAL. */
int riscv_pmu_ebb_check(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader;
	const struct perf_event_attr *attr = &event->attr;
	bool ebb = riscv_pmu_event_has_ebb(to_riscv_pmu_event(event));

	if (ebb != (riscv_pmu_owns(leader) &&
		    riscv_pmu_event_has_ebb(to_riscv_pmu_event(leader))))
		return -EINVAL;
	if (!ebb)
		return 0;
	if (!riscv_pmu_ebb_enabled)
		return -EOPNOTSUPP;
	if (leader == event && (!attr->pinned || !attr->exclusive))
		return -EINVAL;
	/* The page has no field for the index. */
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		return -EINVAL;

	return event->attach_state & PERF_ATTACH_TASK ? 0 : -EINVAL;
}

/* A period that does not end, see riscv_pmu_event_period(). */
#define EBB_NEVER	S64_MAX

/*
 * Minimum gap between a return and the next branch (50 us, as a frequency). A shorter gap raises
 * the minimum period from n to 2n + 1, up to RISCV_EBB_MIN_PERIOD_MAX; a longer one halves it. 255
 * is enough: LR/SC loops that the ISA guarantees to succeed have at most 16 instructions
 * (Unprivileged ISA, "Eventual Success of Store-Conditional Instructions").
 */
#define EBB_MIN_GAP_HZ	20000

static void ebb_throttle(struct riscv_pmu_ebb *ebb, u32 now)
{
	if (now - ebb->returned < (u32)riscv_timebase / EBB_MIN_GAP_HZ)
		ebb->min_period = (2 * ebb->min_period + 1) & RISCV_EBB_MIN_PERIOD_MAX;
	else
		ebb->min_period /= 2;
}

/* Takes the period from the task's page; 0, or more than a counter can hold, is no period. */
static void ebb_set_period(const struct riscv_pmu_ebb *ebb, struct perf_event *event)
{
	u64 period = READ_ONCE(ebb->page->period[ebb_hpm(event)]);

	if (!period || period > S64_MAX)
		event->hw.sample_period = EBB_NEVER;
	else
		event->hw.sample_period = max(period, ebb->min_period);
}

/* The page was unmapped, by munmap or exec: the event must not overflow any more. */
static void ebb_revoke_period(struct perf_event *event)
{
	event->hw.sample_period = EBB_NEVER;
	local64_set(&event->hw.period_left, EBB_NEVER);
}

/*
 * Whether only events with EBBs are on this hart, to which another one is about to be added. perf's
 * core checks exclusive events against others of the same task, but not against pinned events of
 * the CPU. It does not add others after an exclusive one.
 */
bool riscv_pmu_ebb_is_alone(const struct riscv_pmu_hart *hart)
{
	for_each_ctr(ctr, hart->wanted.sched.used) {
		const struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (!(ev->flags & RISCV_PMU_EV_EBB))
				return false;
		}
	}

	return true;
}

/* --- an overflow --- */

static struct riscv_pmu_ebb *ebb_of_event(const struct perf_event *event)
{
	return event->hw.target == current ? riscv_pmu_ebb_of_current() : NULL;
}

static void ebb_note_overflow(struct riscv_pmu_ebb *ebb, const struct perf_event *event)
{
	ebb->overflowed |= BIT_ULL(ebb_hpm(event));
	ebb->pending = true;
	ebb->frozen = true;
	WRITE_ONCE(ebb->page->overflowed, ebb->overflowed);
	WRITE_ONCE(ebb->page->nr_branches, 0);
	WRITE_ONCE(ebb->page->status, RISCV_EBB_PENDING);
	set_thread_flag(TIF_RISCV_EBB);
}

/* If the periods of two events end at once, there is one branch for both. */
static void ebb_stop(struct riscv_pmu_ebb *ebb, struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (event->hw.target != current || ev->state == RISCV_PMU_EVENT_STOPPED)
		return;

	event->pmu->stop(event, 0);
	if (riscv_pmu_event_set_period(ev))
		ebb_note_overflow(ebb, event);
}

/*
 * An event's period has ended, and its next one has begun. Stops the whole group, so that none of
 * its events counts the handler.
 */
static void ebb_overflow(struct riscv_pmu_ebb *ebb, struct perf_event *event, u32 now)
{
	struct perf_event *leader = event->group_leader, *sibling;

	ebb_throttle(ebb, now);
	ebb_note_overflow(ebb, event);
	ebb_stop(ebb, leader);
	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu == event->pmu)
			ebb_stop(ebb, sibling);
	}
}

/*
 * Begins a new period, to which the events since the overflow belong. While periods are throttled,
 * at least the throttled period is left.
 */
static void ebb_allow_again(struct riscv_pmu_ebb *ebb, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 bit = BIT_ULL(ebb_hpm(event));
	s64 over = ebb->over & bit ? hwc->sample_period - local64_read(&hwc->period_left) : 0;

	ebb_set_period(ebb, event);
	local64_set(&hwc->period_left,
		    max3((s64)hwc->sample_period - over, (s64)ebb->min_period, 1));
	ebb->renew &= ~bit;
	ebb->over &= ~bit;
}

/*
 * If the task was switched out in a handler, riscv_pmu_branch_add() has released the records. If it
 * has unmapped its page in a handler, nothing has released them yet.
 */
static void ebb_resume_records(struct riscv_pmu_ebb *ebb, struct riscv_pmu_hart *hart)
{
	ebb->recorded = true;
	if (ebb->inside)
		riscv_pmu_branch_hold(hart);
	else
		riscv_pmu_branch_release(hart);
}

/*
 * An event with EBBs, of the task that runs here, is about to start. If it has no period, or a
 * handler has returned, takes the period from the task's page. If its period had ended when the
 * task was scheduled out, it overflows now. Returns false if it stays stopped for a handler.
 */
bool riscv_pmu_ebb_start(struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	struct riscv_pmu_ebb *ebb = ebb_of_event(event);
	struct hw_perf_event *hwc = &event->hw;

	if (!ebb) {
		ebb_revoke_period(event);
		return true;
	}
	if (riscv_pmu_event_has_branches(ev))
		ebb_resume_records(ebb, ev->hart);
	if (!hwc->sample_period || hwc->sample_period == EBB_NEVER) {
		ebb_set_period(ebb, event);
		local64_set(&hwc->period_left, hwc->sample_period);
	}
	if (ebb->frozen)
		return false;

	if (ebb->renew & BIT_ULL(ebb_hpm(event)))
		ebb_allow_again(ebb, event);
	if (riscv_pmu_event_set_period(ev))
		ebb_overflow(ebb, event, get_cycles());

	return !ebb->frozen;
}

/* --- branch records --- */

/* Returns NULL if this hart has no PMU. */
static struct riscv_pmu_hart *ebb_this_hart(void)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());

	return pmu ? riscv_pmu_this_hart(pmu) : NULL;
}

/*
 * While an event with EBBs has a counter, only events of its group have one
 * (riscv_pmu_ebb_is_alone()), and they want the same records (branch/event.c): any of them does.
 */
static const struct riscv_pmu_event *ebb_find_recording(const struct riscv_pmu_hart *hart)
{
	const struct riscv_pmu_event *ev = riscv_pmu_branch_first(hart);

	return ev && riscv_pmu_event_has_ebb(ev) ? ev : NULL;
}

/* Puts the branch records of a task's event into the task's page. */
static void ebb_save_branches(struct riscv_pmu_ebb *ebb, const struct perf_branch_stack *stack)
{
	u64 nr = min_t(u64, stack->nr, RISCV_EBB_MAX_BRANCHES);

	ebb->recorded = true;
	memcpy(ebb->page->branches, stack->entries, nr * sizeof(*ebb->page->branches));
	WRITE_ONCE(ebb->page->nr_branches, nr);
}

/*
 * An event's next period has begun. Instead of taking a sample, riscv_pmu_exit_to_user() branches
 * on the way to user mode. If the task has no page, the event counts on.
 */
void riscv_pmu_ebb_handle_overflow(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	struct riscv_pmu_ebb *ebb = ebb_of_event(ev->event);
	const struct riscv_pmu_event *recording;

	hart->latched = 0;
	if (!ebb) {
		ebb_revoke_period(ev->event);
		if (ev->state == RISCV_PMU_EVENT_ACTIVE)
			riscv_pmu_event_rearm(hart, ev, riscv_pmu_event_period_left(ev));
		return;
	}

	ebb_overflow(ebb, ev->event, hart->throttle.began);
	hart->irq.ebb_taken = true;
	recording = ebb_find_recording(hart);
	if (recording)
		ebb_save_branches(ebb, riscv_pmu_branch_read(hart, recording));
}

/* None of the records is to be of the handler. */
static void ebb_hold_branches(const struct riscv_pmu_ebb *ebb)
{
	struct riscv_pmu_hart *hart;

	if (likely(!ebb->recorded))
		return;

	hart = ebb_this_hart();
	if (hart && ebb_find_recording(hart))
		riscv_pmu_branch_hold(hart);
}

/* --- a branch --- */

/* Whether a uprobe executes an instruction of the task out of line: do not branch there. */
static bool ebb_is_stepping(void)
{
#ifdef CONFIG_UPROBES
	return current->utask && current->utask->active_uprobe;
#else
	return false;
#endif
}

/* Returns NULL if EBBs are disabled: then the branch stays pending. Interrupts are off. */
static struct riscv_pmu_ebb *ebb_pending(void)
{
	struct riscv_pmu_ebb *ebb = riscv_pmu_ebb_of_current();

	if (!ebb || !ebb->pending || ebb->inside || !ebb->handler)
		return NULL;

	return READ_ONCE(ebb->page->control) & RISCV_EBB_ENABLE ? ebb : NULL;
}

/*
 * The handler is entered as by an indirect jump: with landing pads enabled it has to begin with
 * one, or the hart raises a software check exception (Unprivileged ISA, "Landing Pad"). Its return
 * restores ELP.
 */
static void ebb_expect_landing(struct riscv_pmu_ebb *ebb, struct pt_regs *regs)
{
#ifdef SR_ELP
	ebb->elp = regs->status & SR_ELP;
	regs->status &= ~SR_ELP;
	if (is_indir_lp_enabled(current))
		regs->status |= SR_ELP;
#endif
}

static void ebb_restore_landing(const struct riscv_pmu_ebb *ebb, struct pt_regs *regs)
{
#ifdef SR_ELP
	regs->status &= ~SR_ELP;
	regs->status |= ebb->elp;
#endif
}

/* Enters the handler. Returns its address; 0: there is none; an odd one is not entered. */
static unsigned long ebb_take(struct pt_regs *regs)
{
	struct riscv_ebb_page *page;
	struct riscv_pmu_ebb *ebb;

	guard(irqsave)();
	ebb = ebb_pending();
	if (!ebb)
		return 0;
	if (ebb->handler & 1)
		return ebb->handler;

	page = ebb->page;
	ebb->pending = false;
	ebb->inside = true;
	ebb->pc = regs->epc;
	ebb->a7 = regs->a7;
	ebb_expect_landing(ebb, regs);
	ebb_hold_branches(ebb);
	WRITE_ONCE(page->status, 0);
	WRITE_ONCE(page->control, READ_ONCE(page->control) & ~RISCV_EBB_ENABLE);
	WRITE_ONCE(page->pc, ebb->pc);
	WRITE_ONCE(page->a7, ebb->a7);
	/* The address need not be checked: user mode executes there. */
	regs->epc = ebb->handler;
	return ebb->handler;
}

/*
 * Aborts a restartable sequence, as a signal does. Returns false if no branch is pending: one that
 * becomes pending after this must not be taken without another call.
 */
static bool ebb_abort_sequence(struct pt_regs *regs)
{
	struct ksignal no_signal = { .sig = SIGSEGV };

	scoped_guard(irqsave) {
		if (!ebb_pending())
			return false;
	}
	rseq_signal_deliver(&no_signal, regs);
	return true;
}

/* Enters the task's handler if a branch is pending. @regs are those after signals and restarts. */
void riscv_pmu_do_exit_to_user(struct pt_regs *regs)
{
	unsigned long handler;

	clear_thread_flag(TIF_RISCV_EBB);
	/* This is called again when the instruction is done. */
	if (ebb_is_stepping())
		return;

	if (IS_ENABLED(CONFIG_RSEQ) && !ebb_abort_sequence(regs))
		return;
	handler = ebb_take(regs);
	if (handler & 1)
		force_sig_fault(SIGBUS, BUS_ADRALN, (void __user *)handler);
}

/* --- a handler returns --- */

/* Ends the handler. The task's events may start if this returns true: no branch is pending. */
static bool ebb_end_handler(struct riscv_pmu_ebb *ebb)
{
	struct riscv_ebb_page *page = ebb->page;

	ebb->inside = false;
	WRITE_ONCE(page->control, READ_ONCE(page->control) | RISCV_EBB_ENABLE);
	if (ebb->pending) {
		set_thread_flag(TIF_RISCV_EBB);
		return false;
	}

	if (!ebb->frozen)
		return true;

	ebb->renew |= READ_ONCE(page->overflowed);
	ebb->over |= ebb->overflowed & ebb->renew;
	ebb->overflowed = 0;
	ebb->returned = get_cycles();
	ebb->frozen = false;
	WRITE_ONCE(page->overflowed, 0);
	return true;
}

/* Starts this task's stopped events: the page that stopped them may be gone, so look for all. */
static void ebb_start_events(struct riscv_pmu_hart *hart)
{
	struct riscv_pmu *pmu = hart->pmu;

	for_each_ctr(ctr, hart->wanted.sched.used) {
		struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (!(ev->flags & RISCV_PMU_EV_EBB) || ev->event->hw.target != current ||
			    !(ev->event->hw.state & PERF_HES_STOPPED))
				continue;
			/* Paused, as in irq.c. The group is exclusive: no other event uses it. */
			riscv_pmu_hart_pause(pmu, hart, BIT_ULL(ctr) & hart->hw.running);
			ev->event->pmu->start(ev->event, 0);
		}
	}
}

/*
 * Enables the current task's branches. If an overflow is pending, the task branches on its return
 * to user mode; otherwise its events start. All of it is one update: an overflow changes @ebb as
 * well, and during an update NMIs wait.
 */
void riscv_pmu_ebb_enable(struct riscv_pmu_ebb *ebb)
{
	struct riscv_pmu_hart *hart = ebb_this_hart();

	/* Events on harts of another CPU type start when the task runs there. */
	if (!hart) {
		ebb_end_handler(ebb);
		return;
	}

	riscv_pmu_begin_update(hart->pmu, hart);
	riscv_pmu_branch_release(hart);
	if (ebb_end_handler(ebb))
		ebb_start_events(hart);
	riscv_pmu_commit_update(hart->pmu, hart);
}

/* Returns to the interrupted address, whatever other threads have written to the page. */
static void ebb_return(struct riscv_pmu_ebb *ebb, struct pt_regs *regs)
{
	/* There is no system call that a signal could restart. */
	regs->cause = -1UL;
	regs->epc = ebb->pc;
	regs->a7 = ebb->a7;
	ebb_restore_landing(ebb, regs);
	riscv_pmu_ebb_enable(ebb);
}

/* Outside of a handler, RISCV_EBB_RETURN is the number of a system call that does not exist. */
static void ebb_no_return(struct pt_regs *regs)
{
	long nr = regs->a7;

	regs->epc += 4;
	regs->orig_a0 = regs->a0;
	regs->a0 = -ENOSYS;
	local_irq_enable();
	syscall_enter_from_user_mode_work(regs, nr);
}

/*
 * Returns from a handler, at an ecall with a negative number in a7, or returns false. This is not a
 * system call, which would clobber the task's vector registers: like an interrupt, it keeps all
 * registers. Context: entry of the trap, interrupts off.
 */
noinstr bool riscv_pmu_do_ebb_return(struct pt_regs *regs)
{
	struct riscv_pmu_ebb *ebb;

	if ((long)regs->a7 != RISCV_EBB_RETURN)
		return false;

	irqentry_enter_from_user_mode(regs);
	instrumentation_begin();
	ebb = riscv_pmu_ebb_of_current();
	if (ebb && ebb->inside) {
		ebb_return(ebb, regs);
		instrumentation_end();
		irqentry_exit_to_user_mode(regs);
	} else {
		ebb_no_return(regs);
		instrumentation_end();
		syscall_exit_to_user_mode(regs);
	}

	return true;
}
