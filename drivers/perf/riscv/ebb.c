// SPDX-License-Identifier: GPL-2.0
/*
 * Event-based branches. A task maps a page of its own from /dev/riscv_ebb and registers a
 * handler. When a counter of one of its events overflows, the task's next return to user mode
 * enters the handler. The return address is kept here; the page, which any thread of the
 * process can write, has a copy.
 *
 * From the overflow until the handler returns the task's events are stopped, so that they do not
 * count the handler, and no overflow can be lost meanwhile.
 */

#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/entry-common.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/hashtable.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/perf/riscv_ebb.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/rseq.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/thread_info.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include <asm/csr.h>
#include <asm/delay.h>
#include <asm/ptrace.h>
#ifdef SR_ELP
#include <asm/usercfi.h>
#endif

#include <uapi/linux/riscv_pmu.h>

#include "counter.h"
#include "ebb.h"
#include "update.h"

/**
 * struct ebb - a task with event-based branches
 * @pid:	the task's
 * @mm:		the address space that has mapped the page
 * @page:	the page that the task has mapped; its content is user input
 * @overflowed:	its counters that have overflowed since the last return
 * @renew:	its counters that begin a new period when they next start
 * @over:	those of them that had overflowed
 * @handler:	address of the handler, or 0
 * @pc:		address at which the handler was entered
 * @a7:		register a7 at that time
 * @elp:	SR_ELP of the interrupted context: a landing pad was expected (Zicfilp)
 * @inside:	the handler is running
 * @returned:	time of the last return of a handler, in ticks of the hart's timer
 * @min_period:	the minimum period while throttled, or 0
 * @frozen:	its events are stopped, from an overflow to the return of the handler
 * @pending:	a branch is pending
 * @maps:	mappings of the page: one, or two while it is being moved
 * @node:	in ebb_tasks, until the task exits or unmaps the page
 * @rcu:	readers are overflow interrupts
 */
struct ebb {
	struct pid *pid;
	struct mm_struct *mm;
	struct riscv_ebb_page *page;
	u64 overflowed;
	u64 renew;
	u64 over;
	unsigned long handler;
	unsigned long pc;
	unsigned long a7;
	unsigned long elp;
	bool inside;
	u32 returned;
	u64 min_period;
	bool frozen;
	bool pending;
	refcount_t maps;
	struct hlist_node node;
	struct rcu_head rcu;
};

/* The key is the address of @pid, which users can not choose: the lists are short. */
#define EBB_HASH_BITS	9
static DEFINE_HASHTABLE(ebb_tasks, EBB_HASH_BITS);
static DEFINE_SPINLOCK(ebb_lock);

/* Context: RCU, interrupts off, or ebb_lock held. */
static struct ebb *ebb_of_current(void)
{
	const struct pid *pid = task_pid(current);
	struct ebb *ebb;

	hash_for_each_possible_rcu_notrace(ebb_tasks, ebb, node, (unsigned long)pid) {
		/* After exec the task is another program, which has not registered a handler. */
		if (ebb->pid == pid && ebb->mm == current->mm)
			return ebb;
	}

	return NULL;
}

static unsigned int ebb_hpm(const struct perf_event *event)
{
	return __ffs64(event->attr.config2);
}

/* --- events --- */

static bool ebb_is_wanted(const struct perf_event *event)
{
	return event->pmu->event_idx == riscv_pmu_user_idx &&
	       event->attr.config1 & RISCV_PMU_CONFIG1_EBB;
}

/**
 * riscv_pmu_ebb_check() - check what event.c can not check of an event for EBBs
 * @event:	an event of ours
 *
 * Return: 0, also for an event without EBBs; or -EINVAL.
 */
int riscv_pmu_ebb_check(const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	bool ebb = attr->config1 & RISCV_PMU_CONFIG1_EBB;

	if (event->group_leader != event && ebb != ebb_is_wanted(event->group_leader))
		return -EINVAL;
	if (!ebb)
		return 0;
	if (event->group_leader == event && (!attr->pinned || !attr->exclusive))
		return -EINVAL;

	return event->attach_state & PERF_ATTACH_TASK ? 0 : -EINVAL;
}

/* A period that does not end, see riscv_pmu_event_period(). */
#define EBB_NEVER	S64_MAX

/*
 * Minimum gap between a return and the next branch (50 us, as a frequency). A shorter gap
 * raises the minimum period from n to 2n + 1, up to RISCV_EBB_MIN_PERIOD_MAX; a longer one
 * halves it. 255 is enough: LR/SC loops that the ISA guarantees to succeed have at most 16
 * instructions (Unprivileged ISA, "Eventual Success of Store-Conditional Instructions").
 */
#define EBB_MIN_GAP_HZ	20000

/* 1 / EBB_MIN_GAP_HZ in ticks */
static u32 ebb_min_gap_ticks __ro_after_init;

static void ebb_throttle(struct ebb *ebb, u32 now)
{
	if (now - ebb->returned < ebb_min_gap_ticks)
		ebb->min_period = (2 * ebb->min_period + 1) & RISCV_EBB_MIN_PERIOD_MAX;
	else
		ebb->min_period /= 2;
}

/* Takes the period from the task's page; 0, or more than a counter can hold, is no period. */
static void ebb_set_period(const struct ebb *ebb, struct perf_event *event)
{
	u64 period = ebb ? READ_ONCE(ebb->page->period[ebb_hpm(event)]) : 0;

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

/**
 * riscv_pmu_ebb_is_alone() - whether only events with EBBs are on this hart
 * @hart:	this hart, to which an event with EBBs is about to be added
 *
 * perf's core checks exclusive events against others of the same task, but not against pinned
 * events of the CPU. It does not add other events after an exclusive one.
 *
 * Context: interrupts off.
 * Return: false if the event would not be exclusive.
 */
bool riscv_pmu_ebb_is_alone(const struct riscv_pmu_hart *hart)
{
	for_each_ctr(ctr, hart->wanted.sched.used) {
		const struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (!ev->ebb)
				return false;
		}
	}

	return true;
}

/* --- an overflow --- */

static void ebb_note_overflow(struct ebb *ebb, const struct perf_event *event)
{
	ebb->overflowed |= BIT_ULL(ebb_hpm(event));
	ebb->pending = true;
	ebb->frozen = true;
	WRITE_ONCE(ebb->page->overflowed, ebb->overflowed);
	WRITE_ONCE(ebb->page->status, RISCV_EBB_PENDING);
	set_thread_flag(TIF_RISCV_EBB);
}

/* If the periods of two events end at once, there is one branch for both. */
static void ebb_stop(struct ebb *ebb, struct perf_event *event)
{
	if (event->hw.target != current ||
	    to_riscv_pmu_event(event)->state == RISCV_PMU_EVENT_STOPPED)
		return;

	event->pmu->stop(event, 0);
	if (riscv_pmu_event_set_period(event))
		ebb_note_overflow(ebb, event);
}

/* Stops the whole group, so that none of its events counts the handler. */
static void ebb_pause(struct ebb *ebb, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	ebb_stop(ebb, leader);
	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu == event->pmu)
			ebb_stop(ebb, sibling);
	}
}

/**
 * riscv_pmu_ebb_overflow() - an event's period has ended: make its task branch
 * @event:	the event, whose next period has begun
 * @now:	time of the interrupt, in ticks of the hart's timer
 *
 * riscv_pmu_exit_to_user() branches on the way to user mode. Until the handler returns, the
 * event's group is stopped.
 *
 * Context: interrupts off, during an update.
 * Return: false if the task has no handler, so that the event counts on.
 */
bool riscv_pmu_ebb_overflow(struct perf_event *event, u32 now)
{
	struct ebb *ebb = event->hw.target == current ? ebb_of_current() : NULL;

	if (!ebb) {
		ebb_revoke_period(event);
		return false;
	}

	ebb_throttle(ebb, now);
	ebb_note_overflow(ebb, event);
	ebb_pause(ebb, event);
	return true;
}

/* Sets the distance to the next overflow: a new period, or what is left of the last one. */
static void ebb_allow_again(struct ebb *ebb, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 over = hwc->sample_period - local64_read(&hwc->period_left);
	u64 bit = BIT_ULL(ebb_hpm(event));

	ebb_set_period(ebb, event);
	/*
	 * Events that were counted since the overflow belong to the new period. While periods
	 * are throttled, at least the throttled period is left.
	 */
	over = ebb->over & bit ? over : 0;
	local64_set(&hwc->period_left,
		    max3((s64)hwc->sample_period - over, (s64)ebb->min_period, 1));
	ebb->renew &= ~bit;
	ebb->over &= ~bit;
}

/**
 * riscv_pmu_ebb_start() - an event with EBBs is about to start
 * @event:	the event, of the task that runs here
 *
 * If the event has no period, or a handler has returned, take the period from the task's page. If
 * its period had ended when the task was scheduled out, it overflows now.
 *
 * Context: interrupts off.
 * Return: false if it stays stopped until a handler returns.
 */
bool riscv_pmu_ebb_start(struct perf_event *event)
{
	struct ebb *ebb = event->hw.target == current ? ebb_of_current() : NULL;
	struct hw_perf_event *hwc = &event->hw;

	if (!ebb) {
		ebb_revoke_period(event);
		return true;
	}
	if (!hwc->sample_period || hwc->sample_period == EBB_NEVER) {
		ebb_set_period(ebb, event);
		local64_set(&hwc->period_left, hwc->sample_period);
	}
	if (ebb->frozen)
		return false;

	if (ebb->renew & BIT_ULL(ebb_hpm(event)))
		ebb_allow_again(ebb, event);
	if (riscv_pmu_event_set_period(event))
		riscv_pmu_ebb_overflow(event, get_cycles());

	return !ebb->frozen;
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

/* Context: interrupts off. NULL: EBBs are disabled, and the branch stays pending. */
static struct ebb *ebb_pending(void)
{
	struct ebb *ebb = ebb_of_current();

	if (!ebb || !ebb->pending || ebb->inside || !ebb->handler)
		return NULL;

	return READ_ONCE(ebb->page->control) & RISCV_EBB_ENABLE ? ebb : NULL;
}

/*
 * The handler is entered as by an indirect jump: with landing pads enabled it has to begin
 * with one, or the hart raises a software check exception (Unprivileged ISA, "Landing Pad").
 * The interrupted state of ELP is restored on return.
 */
static void ebb_expect_landing(struct ebb *ebb, struct pt_regs *regs)
{
#ifdef SR_ELP
	ebb->elp = regs->status & SR_ELP;
	regs->status &= ~SR_ELP;
	if (is_indir_lp_enabled(current))
		regs->status |= SR_ELP;
#endif
}

static void ebb_restore_landing(const struct ebb *ebb, struct pt_regs *regs)
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
	unsigned long handler;
	struct ebb *ebb;

	guard(irqsave)();
	ebb = ebb_pending();
	if (!ebb)
		return 0;

	page = ebb->page;
	handler = ebb->handler;
	if (handler & 1)
		return handler;

	ebb->pending = false;
	ebb->inside = true;
	ebb->pc = regs->epc;
	ebb->a7 = regs->a7;
	ebb_expect_landing(ebb, regs);
	WRITE_ONCE(page->status, 0);
	WRITE_ONCE(page->control, READ_ONCE(page->control) & ~RISCV_EBB_ENABLE);
	WRITE_ONCE(page->pc, ebb->pc);
	WRITE_ONCE(page->a7, ebb->a7);
	/* The address need not be checked: user mode executes there. */
	regs->epc = handler;
	return handler;
}

/* A restartable sequence that is interrupted is aborted, as by a signal. */
static void ebb_abort_sequence(struct pt_regs *regs)
{
	struct ksignal nobodys = { .sig = SIGSEGV };

	scoped_guard(irqsave) {
		if (!ebb_pending())
			return;
	}
	rseq_signal_deliver(&nobodys, regs);
}

/**
 * riscv_pmu_do_exit_to_user() - enter this task's handler, if a branch is pending
 * @regs:	the task's registers, after signals and the restart of a system call
 *
 * Context: process, may sleep.
 */
void riscv_pmu_do_exit_to_user(struct pt_regs *regs)
{
	unsigned long handler;

	clear_thread_flag(TIF_RISCV_EBB);
	/* This is called again when the instruction is done. */
	if (ebb_is_stepping())
		return;

	if (IS_ENABLED(CONFIG_RSEQ))
		ebb_abort_sequence(regs);
	handler = ebb_take(regs);
	if (handler & 1)
		force_sig_fault(SIGBUS, BUS_ADRALN, (void __user *)handler);
}

/* --- a handler returns --- */

static void ebb_resume(struct ebb *ebb)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());
	struct riscv_pmu_hart *hart;

	ebb->renew |= READ_ONCE(ebb->page->overflowed);
	ebb->over |= ebb->overflowed & ebb->renew;
	ebb->overflowed = 0;
	ebb->returned = get_cycles();
	ebb->frozen = false;
	WRITE_ONCE(ebb->page->overflowed, 0);
	/* Events on harts of another CPU type start when the task runs there. */
	if (!pmu)
		return;

	hart = riscv_pmu_this_hart(pmu);
	riscv_pmu_begin_update(pmu, hart);
	for_each_ctr(ctr, hart->wanted.sched.used) {
		struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			if (!ev->ebb || ev->event->hw.target != current)
				continue;
			/* Paused, as in irq.c. The group is exclusive: no other event uses it. */
			riscv_pmu_hart_pause(pmu, hart, BIT_ULL(ctr) & hart->hw.running);
			ev->event->pmu->start(ev->event, 0);
		}
	}
	riscv_pmu_commit_update(pmu, hart);
}

/* Interrupts off. Enables branches, and enters the handler if an overflow is pending. */
static void ebb_enable(struct ebb *ebb)
{
	struct riscv_ebb_page *page = ebb->page;

	ebb->inside = false;
	WRITE_ONCE(page->control, READ_ONCE(page->control) | RISCV_EBB_ENABLE);
	if (ebb->pending)
		set_thread_flag(TIF_RISCV_EBB);
	else if (ebb->frozen)
		ebb_resume(ebb);
}

/* Returns to the interrupted address, whatever other threads have written to the page. */
static void ebb_return(struct ebb *ebb, struct pt_regs *regs)
{
	/* There is no system call that a signal could restart. */
	regs->cause = -1UL;
	regs->epc = ebb->pc;
	regs->a7 = ebb->a7;
	ebb_restore_landing(ebb, regs);
	ebb_enable(ebb);
}

/* For other tasks it is the number of a system call that does not exist. */
static void ebb_no_return(struct pt_regs *regs)
{
	long nr = regs->a7;

	regs->epc += 4;
	regs->orig_a0 = regs->a0;
	regs->a0 = -ENOSYS;
	local_irq_enable();
	syscall_enter_from_user_mode_work(regs, nr);
}

/**
 * riscv_pmu_do_ebb_return() - return from a handler
 * @regs:	registers of an ecall with a negative number in a7
 *
 * This is not a system call, which would clobber the task's vector registers: like an interrupt,
 * it keeps all registers.
 *
 * Context: entry of the trap, interrupts off.
 * Return: true if it was the return of a handler; false: it is a system call.
 */
noinstr bool riscv_pmu_do_ebb_return(struct pt_regs *regs)
{
	struct ebb *ebb;

	if ((long)regs->a7 != RISCV_EBB_RETURN)
		return false;

	irqentry_enter_from_user_mode(regs);
	instrumentation_begin();
	ebb = ebb_of_current();
	if (ebb && !ebb->inside)
		ebb = NULL;
	if (ebb)
		ebb_return(ebb, regs);
	else
		ebb_no_return(regs);
	instrumentation_end();
	if (ebb)
		irqentry_exit_to_user_mode(regs);
	else
		syscall_exit_to_user_mode(regs);
	return true;
}

/* --- /dev/riscv_ebb --- */

static void ebb_free(struct rcu_head *rcu)
{
	struct ebb *ebb = container_of(rcu, struct ebb, rcu);

	free_page((unsigned long)ebb->page);
	put_pid(ebb->pid);
	kfree(ebb);
}

static struct ebb *ebb_new(void)
{
	struct ebb *ebb = kzalloc(sizeof(*ebb), GFP_KERNEL_ACCOUNT);

	if (!ebb)
		return NULL;

	ebb->page = (struct riscv_ebb_page *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!ebb->page) {
		kfree(ebb);
		return NULL;
	}

	ebb->page->version = RISCV_EBB_VERSION;
	ebb->pid = get_pid(task_pid(current));
	ebb->mm = current->mm;
	refcount_set(&ebb->maps, 1);
	return ebb;
}

/* Removes tasks that have exited while their pages are still mapped in their process. */
static void ebb_remove_exited(const struct ebb *like)
{
	struct hlist_node *next;
	struct ebb *ebb;

	hash_for_each_possible_safe(ebb_tasks, ebb, next, node, (unsigned long)like->pid) {
		if (!pid_has_task(ebb->pid, PIDTYPE_PID))
			hash_del_rcu(&ebb->node);
	}
}

/* A task has one page. */
static int ebb_publish(struct ebb *ebb)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&ebb_lock, flags);
	ebb_remove_exited(ebb);
	if (ebb_of_current())
		err = -EBUSY;
	else
		hash_add_rcu(ebb_tasks, &ebb->node, (unsigned long)ebb->pid);
	spin_unlock_irqrestore(&ebb_lock, flags);
	return err;
}

static void ebb_vma_open(struct vm_area_struct *vma)
{
	struct ebb *ebb = vma->vm_private_data;

	refcount_inc(&ebb->maps);
}

/* The last mapping is gone, by munmap, exec or exit: the task does not branch any more. */
static void ebb_vma_close(struct vm_area_struct *vma)
{
	struct ebb *ebb = vma->vm_private_data;
	unsigned long flags;

	if (!refcount_dec_and_test(&ebb->maps))
		return;

	spin_lock_irqsave(&ebb_lock, flags);
	if (hash_hashed(&ebb->node))
		hash_del_rcu(&ebb->node);
	spin_unlock_irqrestore(&ebb_lock, flags);
	call_rcu(&ebb->rcu, ebb_free);
}

static const struct vm_operations_struct ebb_vm_ops = {
	.open	= ebb_vma_open,
	.close	= ebb_vma_close,
};

/* Size of the structure in version 2, the smallest that is accepted. */
#define EBB_REGISTER_SIZE_VER2	24

static_assert(sizeof(struct riscv_ebb_register) == EBB_REGISTER_SIZE_VER2);

/* The task that maps the page gets the branches. */
static int ebb_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ebb *ebb;
	int err;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;

	ebb = ebb_new();
	if (!ebb)
		return -ENOMEM;

	/* VM_IO, or madvise() would let it be copied after all (Linux 6.12). */
	vm_flags_set(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	err = vm_insert_page(vma, vma->vm_start, virt_to_page(ebb->page)) ?: ebb_publish(ebb);
	if (err) {
		call_rcu(&ebb->rcu, ebb_free);
		return err;
	}

	vma->vm_private_data = ebb;
	vma->vm_ops = &ebb_vm_ops;
	return 0;
}

static int ebb_register(const struct riscv_ebb_register __user *arg)
{
	struct riscv_ebb_register reg;
	struct ebb *ebb;
	u32 size;
	int err;

	if (get_user(size, &arg->size))
		return -EFAULT;
	if (size < EBB_REGISTER_SIZE_VER2)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&reg, sizeof(reg), arg, size);
	if (err)
		return err;
	if (reg.version != RISCV_EBB_VERSION || reg.flags || reg.handler > ULONG_MAX)
		return -EINVAL;

	guard(irqsave)();
	ebb = ebb_of_current();
	if (!ebb)
		return -ENXIO;

	ebb->handler = reg.handler;
	return 0;
}

/* RISCV_EBB_IOC_ABANDON if @abandon, else RISCV_EBB_IOC_ENABLE. */
static int ebb_ioctl_enable(bool abandon)
{
	struct ebb *ebb;

	guard(irqsave)();
	ebb = ebb_of_current();
	if (!ebb)
		return -ENXIO;
	if (ebb->inside != abandon)
		return abandon ? -EINVAL : -EBUSY;

	ebb_enable(ebb);
	return 0;
}

static long ebb_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case RISCV_EBB_IOC_REGISTER:
		return ebb_register((const struct riscv_ebb_register __user *)arg);
	case RISCV_EBB_IOC_ENABLE:
	case RISCV_EBB_IOC_ABANDON:
		return arg ? -EINVAL : ebb_ioctl_enable(cmd == RISCV_EBB_IOC_ABANDON);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations ebb_fops = {
	.owner	= THIS_MODULE,
	.mmap	= ebb_file_mmap,
	.unlocked_ioctl	= ebb_file_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek	= noop_llseek,
};

static struct miscdevice ebb_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "riscv_ebb",
	.fops	= &ebb_fops,
	.mode	= 0666,
};

static int __init ebb_init(void)
{
	struct riscv_pmu *pmu = riscv_pmu_get();

	ebb_min_gap_ticks = riscv_timebase / EBB_MIN_GAP_HZ;
	return pmu && pmu->irq_ctrs ? misc_register(&ebb_device) : 0;
}
device_initcall_sync(ebb_init);
