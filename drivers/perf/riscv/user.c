// SPDX-License-Identifier: GPL-2.0
/*
 * What user space may read without a system call: the time; the counters of events that a
 * process has mapped and that count the process itself; and, if kernel.perf_user_access allows
 * it, cycle and instret.
 *
 * scounteren is set for the current task: it enables the counters of its mapped events that are
 * active on this hart, and no others. A task may read a counter's index from its mapped page,
 * and read the counter after it was moved or rotated, or after the sysctl was changed. Then the
 * read traps, and is emulated as 0; the page's lock has changed, so that the task reads again.
 * A task that was never shown the counter gets SIGILL.
 *
 * While a task does not run, its counter may count for others. When the task runs again, the
 * counter starts from a value that does not depend on them.
 */

#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/rcupdate.h>
#include <linux/sched_clock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include <asm/pmu_csr.h>
#include <asm/ptrace.h>

#include "csr.h"
#include "internal.h"

/* kernel.perf_user_access, as mainline documents it */
enum user_access {
	USER_ACCESS_NONE,	/* the time only */
	USER_ACCESS_MMAP,	/* counters of mapped events, for the process that mapped them */
	USER_ACCESS_LEGACY,	/* cycle and instret, for everybody */
};

static int user_access = USER_ACCESS_MMAP;

/* Events that are mapped by their own process. If there are none, traps are not examined. */
static atomic_t user_events = ATOMIC_INIT(0);

/**
 * struct riscv_pmu_task - a task with mapped events
 * @mm:		the address space of the mappings; after an exec the task has another
 * @events:	how many there are
 * @ctrs:	counters that it has been shown, ever: PMU_SCOUNTEREN_* bits
 * @rcu:	readers are traps of the task, and its hart with interrupts off
 *
 * The events hold references to the task.
 */
struct riscv_pmu_task {
	const struct mm_struct *mm;
	unsigned int events;
	u32 ctrs;
	struct rcu_head rcu;
};

/* The number depends on users, so the memory is charged to their memory cgroups. */
static DEFINE_XARRAY_FLAGS(user_tasks, XA_FLAGS_ACCOUNT);
static DEFINE_MUTEX(user_maps_lock);

static u32 user_base_mask(void)
{
	return READ_ONCE(user_access) == USER_ACCESS_LEGACY ?
		       PMU_SCOUNTEREN_TM | PMU_SCOUNTEREN_CY | PMU_SCOUNTEREN_IR :
		       PMU_SCOUNTEREN_TM;
}

static void user_set_mask(struct riscv_pmu_hart *hart, u32 mask)
{
	if (hart->user_mask == mask)
		return;

	hart->user_mask = mask;
	riscv_pmu_csr_set_user_mask(mask);
}

/**
 * riscv_pmu_user_hart_start() - set what user space may read on this hart
 * @hart:	this hart
 */
void riscv_pmu_user_hart_start(struct riscv_pmu_hart *hart)
{
	hart->user_mask = user_base_mask();
	riscv_pmu_csr_set_user_mask(hart->user_mask);
}

/* --- pages --- */

/* Counters that kernel.perf_user_access allows mapped events to show. */
static u64 user_access_ctrs(const struct riscv_pmu *pmu)
{
	switch (READ_ONCE(user_access)) {
	case USER_ACCESS_MMAP:
		return pmu->ctrs;
	case USER_ACCESS_LEGACY:
		return pmu->fixed_ctrs;
	default:
		return 0;
	}
}

/*
 * User space extends the sign, so a narrow counter must not wrap without an interrupt that writes
 * it: counter_start_value() and counter_has_room() keep it in the negative half of its range.
 */
static bool user_can_read_ctr(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return pmu->ctr[ctr].read && (pmu->ctr[ctr].width == 64 || pmu->irq_ctrs & BIT_ULL(ctr));
}

/* An event of one task that is not inherited. */
static bool user_is_for_task(const struct perf_event *event)
{
	const struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);

	if (!pmu->loads ||
	    to_riscv_pmu_event(event)->req.ctrs & (pmu->fw_ctrs | pmu->free_running_ctrs))
		return false;
	/* Each sample would cost a third more. A counting event can share its counter. */
	if (event->attr.sample_period)
		return false;

	return event->hw.target && event->cpu == -1 && !event->attr.inherit;
}

/* Counters whose index an event's page may show. */
static u64 user_find_ctrs(const struct perf_event *event)
{
	const struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	u64 readable = 0;

	if (!user_is_for_task(event))
		return 0;

	for (u64 ctrs = to_riscv_pmu_event(event)->req.ctrs; ctrs; ctrs &= ctrs - 1) {
		if (user_can_read_ctr(pmu, __ffs64(ctrs)))
			readable |= ctrs & -ctrs;
	}

	return readable;
}

/*
 * Whether the counter's value depends on the overflow point of another process: then it must not
 * be shown, because it reveals the distance to that overflow point.
 */
static bool user_is_disturbed(const struct riscv_pmu_event *ev)
{
	const struct pid *process = task_tgid(ev->event->hw.target);
	const struct riscv_pmu_event *other;

	list_for_each_entry(other, &ev->counter->events, node) {
		if (other->sampling && !other->polled && other->state != RISCV_PMU_EVENT_STOPPED &&
		    other->opener != process)
			return true;
	}

	return false;
}

/**
 * riscv_pmu_user_open() - prepare an event for being mapped
 * @event:	an event at the end of event_init
 *
 * The opener of an inherited event is that of its parent, whose file descriptor can read it.
 * The opener's pid is held until riscv_pmu_user_forget().
 *
 * Context: process.
 */
void riscv_pmu_user_open(struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	ev->opener = get_pid(event->parent ? to_riscv_pmu_event(event->parent)->opener :
						 task_tgid(current));
	ev->user_ctrs = user_find_ctrs(event);
}

/* Whether the address space that has mapped it is still the task's: not after an exec. */
static bool user_is_still_own(const struct riscv_pmu_event *ev)
{
	return READ_ONCE(ev->event->hw.target->mm) == READ_ONCE(ev->mm);
}

static u8 user_find_idx(const struct riscv_pmu *pmu, const struct riscv_pmu_event *ev)
{
	if (ev->state != RISCV_PMU_EVENT_ACTIVE ||
	    !(ev->user_ctrs & user_access_ctrs(pmu) & BIT_ULL(ev->ctr)))
		return 0;
	/* The machine shuts down, or the counter is about to be written. */
	if (ev->hart->shut_down || ev->hart->reload & BIT_ULL(ev->ctr))
		return 0;
	if (READ_ONCE(user_access) == USER_ACCESS_MMAP && !ev->clean)
		return 0;
	if (!user_is_still_own(ev))
		return 0;

	return pmu->ctr[ev->ctr].csr - CSR_CYCLE + 1;
}

/*
 * The page's offset is the count minus prev_count, so that offset plus the sign-extended counter
 * is the count. prev_count is constant until the counter is written.
 */
static s64 user_find_prev(const struct riscv_pmu *pmu, const struct riscv_pmu_event *ev)
{
	const struct riscv_pmu_counter *counter = ev->counter;

	return sign_extend64(counter->raw, pmu->ctr[ev->ctr].width - 1) -
	       (counter->count - ev->prev_count);
}

/**
 * riscv_pmu_user_refresh() - have a counter written before user space reads it
 * @hart:	this hart
 * @ev:	a mapped event that is attached to its counter
 *
 * The counter may have counted for others since the event was attached last. If all users may
 * read cycle and instret, these are not written.
 *
 * Context: interrupts off, during an update.
 */
void riscv_pmu_user_refresh(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	hart->user_shown = true;
	ev->clean = READ_ONCE(user_access) == USER_ACCESS_MMAP;
	if (!ev->clean)
		return;

	hart->reload |= BIT_ULL(ev->ctr);
	hart->pending_irq |= BIT_ULL(ev->ctr);
}

/* The same for an active event. */
static void user_restart(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (!ev->user || ev->state != RISCV_PMU_EVENT_ACTIVE)
		return;

	riscv_pmu_user_refresh(hart, ev);
	hart->dirty |= hart->reload & BIT_ULL(ev->ctr);
}

/*
 * A counter that was written for the overflow point of another process has to be written again
 * before it is shown.
 */
static void user_check_clean(struct riscv_pmu_hart *hart, struct riscv_pmu_event *ev)
{
	if (user_is_disturbed(ev))
		ev->clean = false;
	else if (!ev->clean)
		user_restart(hart, ev);
}

/* Returns the event's counter as a bit of scounteren, or 0. */
static u32 user_show_event(const struct riscv_pmu *pmu, struct riscv_pmu_event *ev)
{
	u8 idx = user_find_idx(pmu, ev);
	s64 prev = idx ? user_find_prev(pmu, ev) : 0;
	struct perf_event *event = ev->event;

	if (idx != ev->user_idx || (idx && prev != local64_read(&event->hw.prev_count))) {
		local64_set(&event->hw.prev_count, prev);
		ev->user_idx = idx;
		perf_event_update_userpage(event);
	}
	if (!idx)
		return 0;

	WRITE_ONCE(ev->task->ctrs, ev->task->ctrs | BIT(idx - 1));
	return BIT(idx - 1);
}

/**
 * riscv_pmu_user_show() - let the task on this hart read the counters of its mapped events
 * @pmu:	the PMU
 * @hart:	this hart, all changes applied
 *
 * Context: interrupts off.
 * Return: true if a counter has to be written before it can be shown: the caller applies that
 * change, and calls again.
 */
bool riscv_pmu_user_show(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u32 mask = user_base_mask();
	bool shown = false;

	if (!pmu->loads) {
		user_set_mask(hart, mask);
		return false;
	}

	for (u64 ctrs = hart->wanted.sched.used; ctrs; ctrs &= ctrs - 1) {
		struct riscv_pmu_event *ev;

		list_for_each_entry(ev, &hart->counter[__ffs64(ctrs)].events, node) {
			/* ->mm and ->task are read after ->user. */
			if (!smp_load_acquire(&ev->user))
				continue;
			user_check_clean(hart, ev);
			mask |= user_show_event(pmu, ev);
			shown = true;
		}
	}
	hart->user_shown = shown;
	user_set_mask(hart, mask);
	return hart->reload && !hart->shut_down;
}

/**
 * riscv_pmu_user_hide() - set the index in an event's mapped page to 0
 * @event:	an event of this hart that stops, its count up to date
 *
 * scounteren is updated by riscv_pmu_user_show().
 *
 * Context: interrupts off.
 */
void riscv_pmu_user_hide(struct perf_event *event)
{
	to_riscv_pmu_event(event)->user_idx = 0;
	perf_event_update_userpage(event);
}

/**
 * riscv_pmu_user_idx() - the index for an event's mapped page
 * @event:	the event, active
 *
 * Context: any.
 * Return: the number of the counter's CSR plus 1, or 0: use read().
 */
int riscv_pmu_user_idx(struct perf_event *event)
{
	return to_riscv_pmu_event(event)->user_idx;
}

/* --- mappings --- */

/* Runs on the event's hart: shows or hides its counter, if the event is still there. */
static void user_review(void *data)
{
	struct perf_event *event = data;
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);

	if (READ_ONCE(event->oncpu) != smp_processor_id())
		return;

	riscv_pmu_begin_update(pmu, hart);
	if (!ev->user && ev->user_idx) {
		riscv_pmu_event_update(event);
		riscv_pmu_user_hide(event);
	}
	user_restart(hart, ev);
	riscv_pmu_commit_update(pmu, hart);
}

/* Whether a task's event is mapped by its own process. */
static bool user_is_own(const struct perf_event *event, const struct mm_struct *mm)
{
	return user_is_for_task(event) && READ_ONCE(event->hw.target->mm) == mm;
}

static struct riscv_pmu_task *user_get_task(const struct task_struct *task,
					    const struct mm_struct *mm)
{
	struct riscv_pmu_task *own = xa_load(&user_tasks, (unsigned long)task);

	if (!own) {
		own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);
		if (!own)
			return NULL;
		if (xa_err(xa_store(&user_tasks, (unsigned long)task, own, GFP_KERNEL))) {
			kfree(own);
			return NULL;
		}
	}
	/* If the address space is another one than before, the task has called exec. */
	WRITE_ONCE(own->mm, mm);
	own->events++;
	return own;
}

static void user_put_task(const struct task_struct *task, struct riscv_pmu_task *own)
{
	if (--own->events)
		return;

	xa_erase(&user_tasks, (unsigned long)task);
	kfree_rcu(own, rcu);
}

/**
 * riscv_pmu_user_mapped() - perf's callback: an event was mapped
 * @event:	the event
 * @mm:		the address space that has mapped it
 *
 * If the event moves to another hart meanwhile, it is shown there.
 *
 * Context: process; mmap_lock of @mm is held.
 */
void riscv_pmu_user_mapped(struct perf_event *event, struct mm_struct *mm)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	guard(mutex)(&user_maps_lock);
	if (!user_is_own(event, mm) || (ev->mm && ev->mm != mm))
		return;
	if (ev->maps) {
		ev->maps++;
		return;
	}

	/* Out of memory: the index stays 0, as for events of other processes. */
	ev->task = user_get_task(event->hw.target, mm);
	if (!ev->task)
		return;
	ev->maps = 1;
	ev->mm = mm;
	ev->clean = false;
	atomic_inc(&user_events);
	/* Pairs with smp_load_acquire() in riscv_pmu_user_show(): ->mm and ->task are set. */
	smp_store_release(&ev->user, true);
	WRITE_ONCE(ev->special, true);
	smp_call_function_single(READ_ONCE(event->oncpu), user_review, event, 1);
}

/* The caller holds the lock, or the event is being destroyed. */
static void user_drop(struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	/*
	 * An event that moves to another hart now may be shown there once more, to its own
	 * task, until the task leaves that hart.
	 */
	WRITE_ONCE(ev->special, ev->ebb || ev->limited);
	WRITE_ONCE(ev->user, false);
	ev->maps = 0;
	ev->mm = NULL;
	smp_call_function_single(READ_ONCE(event->oncpu), user_review, event, 1);
	user_put_task(event->hw.target, ev->task);
	atomic_dec(&user_events);
}

/**
 * riscv_pmu_user_unmapped() - perf's callback: an event was unmapped
 * @event:	the event
 * @mm:		the address space
 *
 * Context: process; mmap_lock of @mm is held.
 */
void riscv_pmu_user_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	guard(mutex)(&user_maps_lock);
	if (!ev->maps || ev->mm != mm)
		return;
	if (ev->maps > 1)
		ev->maps--;
	else
		user_drop(event);
}

/**
 * riscv_pmu_user_forget() - an event is destroyed
 * @event:	the event
 *
 * It was unmapped before. But some stable releases of 6.12 call event_mapped() for mappings that
 * fail, and do not call event_unmapped().
 *
 * Context: process.
 */
void riscv_pmu_user_forget(struct perf_event *event)
{
	scoped_guard(mutex, &user_maps_lock) {
		if (to_riscv_pmu_event(event)->maps)
			user_drop(event);
	}
	put_pid(to_riscv_pmu_event(event)->opener);
}

/* csrr rd, CSR */
#define USER_CSRR_MASK		0x000fffff
#define USER_CSRR_RD		GENMASK(11, 7)
#define USER_CSRR_MATCH		0x00002073
#define USER_CSRR_CSR		GENMASK(31, 20)

/* The counter that an instruction reads, as a bit of scounteren; 0 for any other. */
static u32 user_counter_read(u32 insn)
{
	u32 csr = FIELD_GET(USER_CSRR_CSR, insn);

	if ((insn & USER_CSRR_MASK & ~USER_CSRR_RD) != USER_CSRR_MATCH)
		return 0;
	if (csr >= CSR_CYCLE && csr <= CSR_HPMCOUNTER31)
		return BIT(csr - CSR_CYCLE);
	if (IS_ENABLED(CONFIG_32BIT) && csr >= CSR_CYCLEH && csr <= CSR_HPMCOUNTER31H)
		return BIT(csr - CSR_CYCLEH);

	return 0;
}

/* Counters whose index this task may have read from its mapped pages. */
static u32 user_known_ctrs(void)
{
	const struct riscv_pmu_task *own;

	if (!atomic_read(&user_events))
		return 0;

	guard(rcu)();
	own = xa_load(&user_tasks, (unsigned long)current);
	return own && READ_ONCE(own->mm) == current->mm ? READ_ONCE(own->ctrs) : 0;
}

static bool user_fetch(struct pt_regs *regs, u32 *insn)
{
	const u16 __user *pc = (const u16 __user *)instruction_pointer(regs);
	u16 low, high;

	if (get_user(low, pc) || get_user(high, pc + 1))
		return false;

	*insn = low | (u32)high << 16;
	return true;
}

/**
 * riscv_pmu_skip_user_read() - emulate the read of a counter that was just hidden
 * @regs:	the task's registers
 *
 * The task has the index from its mapped page, which has changed since, so that it discards the
 * value and reads again.
 *
 * Context: process, an illegal instruction in user mode; may sleep.
 * Return: false if it was another instruction, or the task was not shown the counter.
 */
bool riscv_pmu_skip_user_read(struct pt_regs *regs)
{
	u32 insn, known = user_known_ctrs();

	if (!known || !user_fetch(regs, &insn) || !(known & user_counter_read(insn)))
		return false;

	if (FIELD_GET(USER_CSRR_RD, insn))
		*((unsigned long *)regs + FIELD_GET(USER_CSRR_RD, insn)) = 0;
	regs->epc += 4;
	return true;
}

/* --- kernel.perf_user_access --- */

static void user_apply_access(void *unused)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());
	struct riscv_pmu_event *ev;
	struct riscv_pmu_hart *hart;

	if (!pmu)
		return;

	hart = riscv_pmu_this_hart(pmu);
	riscv_pmu_begin_update(pmu, hart);
	for (u64 ctrs = hart->wanted.sched.used; ctrs; ctrs &= ctrs - 1) {
		list_for_each_entry(ev, &hart->counter[__ffs64(ctrs)].events, node)
			user_restart(hart, ev);
	}
	riscv_pmu_commit_update(pmu, hart);
	riscv_pmu_user_show(pmu, hart);
}

static int user_access_handler(const struct ctl_table *table, int write, void *buffer,
			       size_t *lenp, loff_t *ppos)
{
	int err;

	/* A hart that comes online meanwhile could read the old value. */
	guard(cpus_read_lock)();
	err = proc_dointvec_minmax(table, write, buffer, lenp, ppos);
	if (!err && write)
		on_each_cpu(user_apply_access, NULL, 1);

	return err;
}

static struct ctl_table user_sysctls[] = {
	{
		.procname	= "perf_user_access",
		.data		= &user_access,
		.maxlen		= sizeof(user_access),
		.mode		= 0644,
		.proc_handler	= user_access_handler,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_TWO,
	},
};

/**
 * riscv_pmu_user_init() - create kernel.perf_user_access
 *
 * Return: 0 or -ENOMEM.
 */
int __init riscv_pmu_user_init(void)
{
	if (!IS_ENABLED(CONFIG_SYSCTL))
		return 0;

	return register_sysctl("kernel", user_sysctls) ? 0 : -ENOMEM;
}

/* --- perf's callback --- */

/* The conversion changes when sched_clock begins a new epoch, about once an hour. */
static void user_set_epoch(struct perf_event_mmap_page *page, const struct clock_read_data *rd)
{
	page->time_mult = rd->mult;
	page->time_shift = rd->shift;
	page->time_cycles = rd->epoch_cyc;
	page->time_mask = rd->sched_clock_mask;
	page->time_zero = rd->epoch_ns - mul_u64_u32_shr(rd->epoch_cyc, rd->mult, rd->shift);
	/* Readers of the first version of the page shift a 32-bit value: at most by 31. */
	if (page->time_shift == 32) {
		page->time_shift = 31;
		page->time_mult >>= 1;
	}
}

/*
 * cap_user_rdpmc: whether the index can ever be other than 0. Programs check this once, after
 * mmap(), when the event may not have been active yet. Events of other PMUs get here too.
 */
static bool user_can_read(const struct perf_event *event)
{
	return event->pmu->event_idx == riscv_pmu_user_idx &&
	       to_riscv_pmu_event(event)->user_ctrs & user_access_ctrs(to_riscv_pmu(event->pmu));
}

/* The width of the counter with that index; while the index is 0, the least width. */
static void user_set_width(const struct perf_event *event, struct perf_event_mmap_page *page)
{
	const struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (ev->user_idx)
		page->pmc_width = to_riscv_pmu(event->pmu)->ctr[ev->ctr].width;
	else if (!page->pmc_width)
		page->pmc_width = riscv_pmu_min_width(to_riscv_pmu(event->pmu), ev->user_ctrs);
}

/*
 * The mapping's conversion from the time CSR to perf's clock. The clock's
 * parameters may change meanwhile, which its sequence count shows. This is called at each
 * context switch, for each mapped event.
 */
void arch_perf_update_userpage(struct perf_event *event, struct perf_event_mmap_page *page,
			       u64 now)
{
	bool is_old = !page->cap_user_time;
	struct clock_read_data *rd;
	unsigned int seq;

	do {
		rd = sched_clock_read_begin(&seq);
		is_old |= page->time_cycles != rd->epoch_cyc;
		/* Read again if it has changed, because the values may be inconsistent. */
		if (is_old)
			user_set_epoch(page, rd);
	} while (sched_clock_read_retry(seq));

	page->time_offset = page->time_zero - now;
	page->cap_user_rdpmc = user_can_read(event);
	if (page->cap_user_rdpmc)
		user_set_width(event, page);
	page->cap_user_time = 1;
	page->cap_user_time_zero = 1;
	page->cap_user_time_short = 1;
}
