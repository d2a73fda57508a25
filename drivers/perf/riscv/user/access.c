// SPDX-License-Identifier: GPL-2.0
/*
 * Which events user space may read without a system call: those that a process has mapped and that
 * count the process itself; and, if kernel.perf_user_access allows it, cycle and instret.
 *
 * A task may read a counter's index from its mapped page, and read the counter after it was moved
 * or rotated, or after the sysctl was changed. Then the read traps, and is emulated as 0; the
 * page's lock has changed, so that the task reads again. A task that was never shown the counter
 * gets SIGILL.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/bitfield.h>
#include <linux/compat.h>
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/perf_event.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/sched/signal.h>
#include <linux/sched_clock.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "../event.h"
#include "../nmi/block.h"
#include "page.h"

/* The number depends on users, so the memory is charged to their memory cgroups. */
static DEFINE_XARRAY_FLAGS(access_tasks, XA_FLAGS_ACCOUNT);
static DEFINE_MUTEX(access_maps_lock);

/* An event of one task that is not inherited, and whose count is in one counter. */
static bool access_is_for_task(const struct perf_event *event)
{
	const struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	const struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);

	if (!pmu->loads || ev->req.ctrs & (pmu->fw_ctrs | pmu->free_running_ctrs) ||
	    riscv_pmu_event_part(ev))
		return false;
	/* Each sample would cost a third more. A counting event can share its counter. */
	if (event->attr.sample_period)
		return false;

	return event->hw.target && event->cpu == -1 && !event->attr.inherit;
}

/* Finds the counters whose index the page of a new event may show. */
void riscv_pmu_user_open(struct perf_event *event)
{
	const struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	/* That of an inherited event is its parent's, whose file descriptor can read it. */
	ev->page.opener = get_pid(event->parent ? to_riscv_pmu_event(event->parent)->page.opener :
					     task_tgid(current));
	if (riscv_pmu_event_part(ev))
		riscv_pmu_event_part(ev)->page.opener = ev->page.opener;
	if (!access_is_for_task(event))
		return;

	/*
	 * User space extends the sign, so a narrow counter must not wrap without an interrupt that
	 * writes it: apply_overflow_value() and apply_has_room() keep it negative.
	 */
	for_each_ctr(ctr, ev->req.ctrs) {
		if (pmu->ctr[ctr].read &&
		    (pmu->ctr[ctr].width == 64 || pmu->irq_ctrs & BIT_ULL(ctr)))
			ev->page.ctrs |= BIT_ULL(ctr);
	}
}

/* --- mappings --- */

/* Runs on the event's hart: updates its page, and shows its counter if that is allowed. */
static void access_review(void *data)
{
	struct perf_event *event = data;
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);

	if (READ_ONCE(event->oncpu) != smp_processor_id())
		return;

	riscv_pmu_begin_update(pmu, hart);
	riscv_pmu_event_update(event);
	if (ev->user)
		perf_event_update_userpage(event);
	else
		riscv_pmu_user_stop(event, false);
	riscv_pmu_user_restart(hart, ev);
	riscv_pmu_commit_update(pmu, hart);
}

/* Updates the page of an event whose mappings have changed. */
static void access_update(struct perf_event *event)
{
	/* A hart that switches the event in sees the flags, or is seen in oncpu. */
	smp_mb();
	smp_call_function_single(READ_ONCE(event->oncpu), access_review, event, 1);
	/* It is not active, or was just switched out, its page not updated. */
	guard(riscv_pmu_irqsave)();
	if (READ_ONCE(event->oncpu) == -1)
		perf_event_update_userpage(event);
}

static struct riscv_pmu_task *access_get_task(const struct task_struct *task,
					      const struct mm_struct *mm)
{
	struct riscv_pmu_task *own = xa_load(&access_tasks, (unsigned long)task);

	if (!own) {
		own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);
		if (!own || xa_err(xa_store(&access_tasks, (unsigned long)task, own, GFP_KERNEL))) {
			kfree(own);
			return NULL;
		}
	}
	/* If the address space is another one than before, the task has called exec. */
	WRITE_ONCE(own->mm, mm);
	own->events++;
	return own;
}

static void access_put_task(const struct task_struct *task, struct riscv_pmu_task *own)
{
	if (--own->events)
		return;

	xa_erase(&access_tasks, (unsigned long)task);
	kfree_rcu(own, rcu);
}

/* Lets a task read the counter of an event that its own process has mapped. */
static void access_map_own(struct perf_event *event, struct mm_struct *mm)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (!ev->page.ctrs || READ_ONCE(event->hw.target->mm) != mm ||
	    (ev->page.mm && ev->page.mm != mm))
		return;
	if (ev->page.maps) {
		ev->page.maps++;
		return;
	}

	/* Out of memory: the index stays 0, as for events of other processes. */
	ev->page.task = access_get_task(event->hw.target, mm);
	if (!ev->page.task)
		return;
	ev->page.maps = 1;
	ev->page.mm = mm;
	ev->page.own_value = false;
	/* Pairs with smp_load_acquire() in riscv_pmu_user_show(): ->mm and ->task are set. */
	smp_store_release(&ev->user, true);
}

/* A sample of either part of a split event updates the page. */
static void access_set_mapped(struct riscv_pmu_event *ev, bool mapped)
{
	struct riscv_pmu_event *part = riscv_pmu_event_part(ev);
	u16 flag = mapped ? RISCV_PMU_EV_MAPPED : 0;

	WRITE_ONCE(ev->flags, (ev->flags & ~RISCV_PMU_EV_MAPPED) | flag);
	if (part)
		WRITE_ONCE(part->flags, (part->flags & ~RISCV_PMU_EV_MAPPED) | flag);
}

/* perf's callback. If the event moves to another hart meanwhile, its page is updated there. */
void riscv_pmu_user_mapped(struct perf_event *event, struct mm_struct *mm)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	guard(mutex)(&access_maps_lock);
	ev->page.all_maps++;
	access_map_own(event, mm);
	access_set_mapped(ev, true);
	/* It stays set after munmap(): a slower path, which sampling events do not need. */
	if (!(ev->flags & RISCV_PMU_EV_SAMPLING) || riscv_pmu_user_is_of_cgroup(event))
		WRITE_ONCE(ev->flags, ev->flags | RISCV_PMU_EV_MAPPED_SLOW);
	access_update(event);
}

/* The caller holds the lock, or the event is being destroyed. */
static void access_drop(struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	/*
	 * An event that moves to another hart now may be shown there once more, to its own task,
	 * until the task leaves that hart.
	 */
	WRITE_ONCE(ev->user, false);
	ev->page.maps = 0;
	ev->page.mm = NULL;
	access_update(event);
	access_put_task(event->hw.target, ev->page.task);
}

/* perf's callback */
void riscv_pmu_user_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	guard(mutex)(&access_maps_lock);
	if (!--ev->page.all_maps)
		access_set_mapped(ev, false);
	if (!ev->page.maps || ev->page.mm != mm)
		return;
	if (ev->page.maps > 1)
		ev->page.maps--;
	else
		access_drop(event);
}

/* Some stable releases of 6.12 do not call event_unmapped() for a mapping that has failed. */
void riscv_pmu_user_forget(struct perf_event *event)
{
	scoped_guard(mutex, &access_maps_lock) {
		if (to_riscv_pmu_event(event)->page.maps)
			access_drop(event);
	}
	put_pid(to_riscv_pmu_event(event)->page.opener);
}

/* csrr rd, CSR */
#define USER_CSRR_MASK		0x000fffff
#define USER_CSRR_RD		GENMASK(11, 7)
#define USER_CSRR_MATCH		0x00002073
#define USER_CSRR_CSR		GENMASK(31, 20)

/* The counter that an instruction reads, as a bit of scounteren, or 0 */
static u32 access_counter_read(u32 insn)
{
	u32 csr = FIELD_GET(USER_CSRR_CSR, insn);

	if ((insn & USER_CSRR_MASK & ~USER_CSRR_RD) != USER_CSRR_MATCH)
		return 0;
	if (csr >= CSR_CYCLE && csr <= CSR_HPMCOUNTER31)
		return BIT(csr - CSR_CYCLE);
	if ((IS_ENABLED(CONFIG_32BIT) || is_compat_task()) &&
	    csr >= CSR_CYCLEH && csr <= CSR_HPMCOUNTER31H)
		return BIT(csr - CSR_CYCLEH);

	return 0;
}

/* Counters whose index this task may have read from its mapped pages. */
static u32 access_known_ctrs(void)
{
	const struct riscv_pmu_task *own;

	guard(rcu)();
	own = xa_load(&access_tasks, (unsigned long)current);
	return own && READ_ONCE(own->mm) == current->mm ? READ_ONCE(own->ctrs) : 0;
}

/* The task is about to be killed. One that handles SIGILL only tests whether it may read. */
static void access_log_kill(u32 csr, u32 ctr)
{
	const char *name = ctr & PMU_SCOUNTEREN_CY ? "cycle" :
			   ctr & PMU_SCOUNTEREN_IR ? "instret" : "hpmcounter";
	bool curable = ctr & (PMU_SCOUNTEREN_CY | PMU_SCOUNTEREN_IR) &&
		       READ_ONCE(riscv_pmu_user_access) != USER_ACCESS_LEGACY && riscv_pmu_nr_types;

	if (unhandled_signal(current, SIGILL))
		pr_info_ratelimited("%s[%d] is killed by SIGILL, because it reads CSR 0x%x (%s): %schange it to use rdtime, or perf events with tools/include/perf/riscv_pmu_read.h\n",
				    current->comm, task_pid_nr(current), csr, name, curable ?
				    "set sysctl kernel.perf_user_access=2, or " : "");
}

/*
 * Emulates the read of a counter that was just hidden: the task has the index from its mapped page,
 * which has changed since, so that it discards the value and reads again. Returns false for other
 * instructions, and for counters that the task was not shown: the log names those.
 */
bool riscv_pmu_skip_user_read(struct pt_regs *regs)
{
	const u16 __user *pc = (const u16 __user *)instruction_pointer(regs);
	u16 low, high;
	u32 insn, ctr;

	if (get_user(low, pc) || get_user(high, pc + 1))
		return false;

	insn = low | (u32)high << 16;
	ctr = access_counter_read(insn);
	if (!(ctr & access_known_ctrs())) {
		if (ctr & ~PMU_SCOUNTEREN_TM)
			access_log_kill(FIELD_GET(USER_CSRR_CSR, insn), ctr);
		return false;
	}

	if (FIELD_GET(USER_CSRR_RD, insn))
		*((unsigned long *)regs + FIELD_GET(USER_CSRR_RD, insn)) = 0;
	regs->epc += 4;
	return true;
}

/* --- kernel.perf_user_access --- */

static void access_apply_access(void *unused)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());
	struct riscv_pmu_event *ev;
	struct riscv_pmu_hart *hart;

	if (!pmu)
		return;

	guard(riscv_pmu_irqsave)();
	hart = riscv_pmu_this_hart(pmu);
	riscv_pmu_begin_update(pmu, hart);
	for_each_ctr(ctr, hart->wanted.sched.used) {
		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			ev->page.outdated = ev->user;
			riscv_pmu_user_restart(hart, ev);
		}
	}
	riscv_pmu_commit_update(pmu, hart);
	riscv_pmu_user_show(pmu, hart);
}

/*
 * USER_ACCESS_LEGACY: the events that keep cycle and instret of a hart running. They are pinned, as
 * that of the NMI watchdog is: events that exclude a mode cannot have these counters meanwhile.
 */
struct access_kept {
	struct perf_event *event[PMU_CSR_CTR_INSTRET + 1];
};

static DEFINE_PER_CPU(struct access_kept, access_kept);

static int access_keep_ctr(const struct riscv_pmu *pmu, unsigned int cpu, unsigned int ctr)
{
	unsigned int hpm = riscv_pmu_ctr_to_hpm(pmu, ctr);
	struct perf_event_attr attr = {
		.type		= pmu->pmu.type,
		.size		= sizeof(attr),
		.config		= (u64)RISCV_PMU_CLASS_STD << RISCV_PMU_CLASS_SHIFT |
				  riscv_pmu_fixed_event(hpm),
		.config2	= BIT(hpm),
		.pinned		= true,
		/* perf's default, so that perf's events share the counter */
		.exclude_guest	= !!(pmu->ctr[ctr].inh & RISCV_PMU_INH_VU),
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);

	if (IS_ERR(event))
		return PTR_ERR(event);

	per_cpu(access_kept, cpu).event[hpm] = event;
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE ? 0 : -EBUSY;
}

/* Closes the events of a hart; opens new ones if the sysctl is 2 and counters do not always run. */
static int access_keep_ctrs(unsigned int cpu)
{
	const struct riscv_pmu *pmu = riscv_pmu_of(cpu);
	bool keep = READ_ONCE(riscv_pmu_user_access) == USER_ACCESS_LEGACY && cpu_online(cpu);

	for_each_ctr(hpm, RISCV_PMU_FIXED_HPMS) {
		struct perf_event *event = per_cpu(access_kept, cpu).event[hpm];

		per_cpu(access_kept, cpu).event[hpm] = NULL;
		if (event)
			perf_event_release_kernel(event);
	}
	/* The counters of the legacy backend always run. */
	for_each_ctr(ctr, keep && pmu && pmu->loads ? pmu->fixed_ctrs : 0) {
		int err = access_keep_ctr(pmu, cpu, ctr);

		if (err)
			pr_warn("hart %u: CSR 0x%x (cycle or instret) stops while no event uses it (error %d): close pinned events of this hart, and set kernel.perf_user_access=2 again\n",
				cpu, pmu->ctr[ctr].csr, err);
	}

	return 0;
}

static int access_write_sysctl(const struct ctl_table *table, int write, void *buffer,
			       size_t *lenp, loff_t *ppos)
{
	static DEFINE_MUTEX(lock);
	unsigned int cpu;
	int err;

	guard(mutex)(&lock);
	/* A hart that comes online meanwhile could read the old value. */
	guard(cpus_read_lock)();
	err = proc_dointvec_minmax(table, write, buffer, lenp, ppos);
	if (err || !write)
		return err;

	on_each_cpu(access_apply_access, NULL, 1);
	for_each_possible_cpu(cpu)
		access_keep_ctrs(cpu);
	return 0;
}

static struct ctl_table access_sysctls[] = {
	{
		.procname	= "perf_user_access",
		.data		= &riscv_pmu_user_access,
		.maxlen		= sizeof(riscv_pmu_user_access),
		.mode		= 0644,
		.proc_handler	= access_write_sysctl,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_TWO,
	},
};

/* Creates kernel.perf_user_access. Returns 0 or a negative errno. */
int __init riscv_pmu_user_init(void)
{
	int err;

	if (!IS_ENABLED(CONFIG_SYSCTL))
		return 0;

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/riscv/pmu:user", access_keep_ctrs, NULL);
	if (err < 0)
		return err;
	return register_sysctl("kernel", access_sysctls) ? 0 : -ENOMEM;
}

/* --- perf's callback --- */

/* The conversion changes when sched_clock begins a new epoch, about once an hour. */
static void access_set_epoch(struct perf_event_mmap_page *page, const struct clock_read_data *rd)
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
static bool access_can_read(const struct perf_event *event)
{
	const struct riscv_pmu_event *ev;

	if (!riscv_pmu_owns(event))
		return false;

	ev = to_riscv_pmu_event(event);
	return ev->page.ctrs & riscv_pmu_user_access_ctrs(to_riscv_pmu(event->pmu)) &&
	       READ_ONCE(ev->user) && riscv_pmu_user_is_still_own(ev);
}

/* The width of the counter with that index; while the index is 0, the least width. */
static void access_set_width(const struct perf_event *event, struct perf_event_mmap_page *page)
{
	const struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (ev->page.idx)
		page->pmc_width = to_riscv_pmu(event->pmu)->ctr[ev->ctr].width;
	else if (!page->pmc_width)
		page->pmc_width = riscv_pmu_min_width(to_riscv_pmu(event->pmu), ev->page.ctrs);
}

/*
 * The mapping's conversion from the time CSR to perf's clock, whose parameters may change
 * meanwhile: its sequence count shows that. Called at each context switch, for each mapped event.
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
			access_set_epoch(page, rd);
	} while (sched_clock_read_retry(seq));

	page->time_offset = page->time_zero - now;
	page->cap_user_rdpmc = access_can_read(event);
	if (page->cap_user_rdpmc)
		access_set_width(event, page);
	page->cap_user_time = 1;
	page->cap_user_time_zero = 1;
	page->cap_user_time_short = 1;
}
