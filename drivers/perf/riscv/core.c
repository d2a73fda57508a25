// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU named "cpu": perf's callbacks, and the choice of a backend at boot.
 *
 * perf calls add, del, start and stop between pmu_disable and pmu_enable, on the event's hart
 * with interrupts off. They only change what is wanted; pmu_enable applies it.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>

#include <asm/cpufeature.h>
#include <asm/sbi.h>

#include "backend.h"
#include "counter.h"
#include "csr.h"
#include "ebb.h"
#include "fault.h"
#include "internal.h"
#include "platform.h"
#include "print.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* One for each CPU type; most machines have one. */
#define CORE_MAX_CPU_TYPES		4
static struct riscv_pmu core_pmus[CORE_MAX_CPU_TYPES];
static unsigned int core_nr_pmus;
static DEFINE_PER_CPU(struct riscv_pmu *, core_pmu_of);

static char *backend_param = "auto";
module_param_named(backend, backend_param, charp, 0444);
MODULE_PARM_DESC(backend, "auto (default), ssccfg, sbi or legacy");

static unsigned int width_param;
module_param_named(width, width_param, uint, 0444);
MODULE_PARM_DESC(width, "use no more than this many bits of a hardware counter, 16 to 63, to test what narrow ones do; 0 (default): all");

static bool polled_sampling_param = true;
module_param_named(polled_sampling, polled_sampling_param, bool, 0444);
MODULE_PARM_DESC(polled_sampling, "sample by a timer what no counter can interrupt for: 1 (default) or 0");

/**
 * riscv_pmu_get() - the PMU of the hart that booted
 *
 * Return: it, or NULL before it has been probed.
 */
struct riscv_pmu *riscv_pmu_get(void)
{
	return core_nr_pmus ? &core_pmus[0] : NULL;
}

/**
 * riscv_pmu_of() - the PMU of a hart
 * @cpu:	the hart
 *
 * Return: it, or NULL if the hart has none.
 */
struct riscv_pmu *riscv_pmu_of(unsigned int cpu)
{
	return per_cpu(core_pmu_of, cpu);
}

/**
 * riscv_pmu_confirm() - check that a hart that comes up has the counters of its PMU
 * @cpu:	this hart
 *
 * A hart that was offline at boot was assigned to the PMU of the harts with an equal
 * devicetree node. If its delegated counters differ, remove it from that PMU.
 *
 * Context: CPU hotplug, interrupts off, before the hart is online.
 * Return: the PMU, or NULL if the hart has none.
 */
struct riscv_pmu *riscv_pmu_confirm(unsigned int cpu)
{
	struct riscv_pmu *pmu = riscv_pmu_of(cpu);

	if (!pmu || riscv_pmu_csr_confirm())
		return pmu;

	cpumask_clear_cpu(cpu, &pmu->cpus);
	per_cpu(core_pmu_of, cpu) = NULL;
	per_cpu_ptr(pmu->harts, cpu)->pmu = NULL;
	pr_warn("hart %u was offline at boot, and the firmware delegates other counters to it than to the harts with the same devicetree node: no PMU on this hart. Boot with all harts online, or correct the devicetree\n",
		cpu);
	return NULL;
}

static __always_inline void core_update(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	riscv_pmu_event_add_delta(event, riscv_pmu_event_read_delta(pmu, hart, ev));
}

/**
 * riscv_pmu_event_update() - bring an event's count up to date
 * @event:	an event that has been added on this hart
 *
 * Context: interrupts off.
 */
void riscv_pmu_event_update(struct perf_event *event)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	u64 delta = riscv_pmu_event_read_delta(pmu, riscv_pmu_this_hart(pmu),
					       to_riscv_pmu_event(event));

	riscv_pmu_event_add_delta(event, delta);
	/*
	 * User space adds the counter to the offset in the mapped page, which perf may publish
	 * after this: keep it the same. Other callers call riscv_pmu_user_show() or hide().
	 */
	local64_add(delta, &event->hw.prev_count);
}

/* A KVM guest may request up to 2^64 - 1; perf's core limits the periods of users only. */
static u64 core_period(const struct perf_event *event)
{
	return min_t(u64, event->hw.sample_period, S64_MAX);
}

/**
 * riscv_pmu_event_set_period() - begin the next period of a sampling event, if it is time
 * @event:	the event, its count up to date
 *
 * What was counted beyond the end of the last period belongs to the next one. If several
 * periods have ended, one sample stands for all of them. If perf has changed the length of a
 * period, the sample stands for all events that were counted in it. last_period is that
 * number, so that the periods of all samples add up to the count.
 *
 * Return: whether a period had ended.
 */
bool riscv_pmu_event_set_period(struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	struct hw_perf_event *hwc = &event->hw;
	s64 left = local64_read(&hwc->period_left);
	u64 over, period = core_period(event);

	if (left > 0)
		return false;

	over = -(u64)left;
	if (unlikely(over >= period))
		div64_u64_rem(over, period, &over);
	local64_set(&hwc->period_left, period - over);
	hwc->last_period = ev->period_count - over;
	ev->period_count = over;
	return true;
}

/**
 * riscv_pmu_begin_update() - note changes, but do not apply them yet
 * @pmu:	the PMU
 * @hart:	this hart
 *
 * The counters run on, but the first event that is stopped latches the counts of all,
 * so that all events stop at the same time. All events that are started start in
 * riscv_pmu_commit_update().
 */
void riscv_pmu_begin_update(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	hart->updating = true;
	hart->latch_on_read = true;
}

/* Rate-limited, because perf retries a refused event on another hart or later. */
static void core_warn_refused(u64 ctrs, const struct riscv_pmu_config *cfg)
{
	static DEFINE_RATELIMIT_STATE(limit, 10 * HZ, 1);

	if (__ratelimit(&limit))
		riscv_pmu_warn("hart %u: counters 0x%llx refuse event_idx 0x%x, event_data 0x%llx; perf tries again later. If the event never counts, update the firmware, or correct the event map in its devicetree\n",
			       smp_processor_id(), ctrs, cfg->event_idx, cfg->event_data);
}

/* Have perf remove and add the events of this CPU again; add() then fails for the refused ones. */
static void core_resched(struct irq_work *work)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());

	if (pmu)
		perf_pmu_resched(&pmu->pmu);
}

static DEFINE_PER_CPU(struct irq_work, core_resched_work) = IRQ_WORK_INIT_HARD(core_resched);

/*
 * The hardware refused the config of these counters when perf already considered their
 * events running, in pmu_enable() for one. Stop the events, and have an irq_work reschedule
 * them. Each retry excludes one more counter, so the number of retries is bounded.
 */
static noinline void core_stop_refused(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				       u64 ctrs)
{
	for (; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs64(ctrs);
		struct riscv_pmu_event *ev;

		core_warn_refused(BIT_ULL(ctr), &hart->wanted.cfg[ctr]);
		list_for_each_entry(ev, &hart->counter[ctr].events, node) {
			core_update(pmu, hart, ev->event);
			ev->event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
		}
	}
	irq_work_queue(this_cpu_ptr(&core_resched_work));
}

static noinline void core_apply(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	u64 failed;

	if (unlikely(hart->shut_down))
		return;

	failed = riscv_pmu_hart_apply(pmu, hart);
	if (unlikely(failed))
		core_stop_refused(pmu, hart, failed);
	if (unlikely(pmu->poll_ctrs | hart->polled))
		riscv_pmu_poll_start(pmu, hart);
}

/* The task on this hart reads counters in user space, or the previous task did. */
static noinline void core_apply_and_show(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	do {
		if (hart->dirty | hart->pending)
			core_apply(pmu, hart);
	} while (riscv_pmu_user_show(pmu, hart));
}

/*
 * Masks the overflow interrupt while no event needs it, so that counters may run on after their
 * sampling events were removed: this saves the firmware calls that would stop them. The irqchip
 * of local interrupts does the same with more instructions.
 */
static __always_inline void core_mask_irq(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
					  bool muted)
{
	hart->irq_masked = muted;
	if (muted)
		riscv_pmu_csr_mask_irqs(hart->irq_mask);
	else if (riscv_pmu_csr_unmask_irqs(hart->irq_mask))
		riscv_pmu_hart_clear_overflows(pmu, hart);
}

static __always_inline void core_commit_update(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	/* It is needed for sampling events, and to extend the count of narrow counters. */
	bool muted = !hart->irq_events && !(hart->wanted.sched.used & pmu->narrow_ctrs);

	hart->updating = false;
	riscv_pmu_hart_unlatch(hart);
	if (muted != hart->irq_masked)
		core_mask_irq(pmu, hart, muted);
	if (unlikely(hart->user_shown))
		core_apply_and_show(pmu, hart);
	else if (hart->dirty | hart->pending)
		core_apply(pmu, hart);
}

/**
 * riscv_pmu_commit_update() - carry out all changes since riscv_pmu_begin_update()
 * @pmu:	the PMU
 * @hart:	this hart
 */
void riscv_pmu_commit_update(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	core_commit_update(pmu, hart);
}

static void core_pmu_disable(struct pmu *p)
{
	struct riscv_pmu *pmu = to_riscv_pmu(p);

	riscv_pmu_begin_update(pmu, riscv_pmu_this_hart(pmu));
}

static void core_pmu_enable(struct pmu *p)
{
	struct riscv_pmu *pmu = to_riscv_pmu(p);

	core_commit_update(pmu, riscv_pmu_this_hart(pmu));
}

/* perf disables all PMUs of a task's events, on whatever hart it runs. */
static void core_pmu_disable_type(struct pmu *p)
{
	struct riscv_pmu *pmu = to_riscv_pmu(p);

	if (riscv_pmu_this_hart(pmu)->pmu == pmu)
		core_pmu_disable(p);
}

static void core_pmu_enable_type(struct pmu *p)
{
	struct riscv_pmu *pmu = to_riscv_pmu(p);

	if (riscv_pmu_this_hart(pmu)->pmu == pmu)
		core_pmu_enable(p);
}

/*
 * Events until the overflow point of an event that starts. A period_left of 0 is
 * perf's request for a new period. If it is negative, the period ended while
 * interrupts were off, just before the event was stopped: its sample is still
 * due, at once.
 */
static __always_inline u64 core_reload(struct perf_event *event)
{
	if (!local64_read(&event->hw.period_left))
		local64_set(&event->hw.period_left, core_period(event));

	return riscv_pmu_event_period_left(event);
}

static __always_inline void core_start(struct riscv_pmu_hart *hart, struct perf_event *event,
				       int flags)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	u64 left = 0;

	if (!(event->hw.state & PERF_HES_STOPPED))
		return;
	if (unlikely(ev->ebb) && !riscv_pmu_ebb_start(event))
		return;

	if (ev->sampling)
		left = flags & PERF_EF_RELOAD ? core_reload(event) :
						riscv_pmu_event_period_left(event);
	event->hw.state = 0;
	riscv_pmu_event_start(hart, ev, left);
	if (unlikely(ev->user))
		riscv_pmu_user_refresh(hart, ev);
}

/**
 * riscv_pmu_start() - start an event
 * @event:	an event that has been added on this hart
 * @flags:	PERF_EF_RELOAD: begin a new period if perf has ended the last one
 *
 * Context: interrupts off.
 */
void riscv_pmu_start(struct perf_event *event, int flags)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);

	core_start(hart, event, flags);
	if (!hart->updating)
		riscv_pmu_commit_update(pmu, hart);
}

static __always_inline void core_stop(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				      struct perf_event *event)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;

	core_update(pmu, hart, event);
	riscv_pmu_event_stop(hart, to_riscv_pmu_event(event));
	event->hw.state |= PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (unlikely(to_riscv_pmu_event(event)->user_idx))
		riscv_pmu_user_hide(event);
}

/**
 * riscv_pmu_stop() - stop an event
 * @event:	an event that has been added on this hart
 * @flags:	ignored: the count is always brought up to date
 *
 * Context: interrupts off.
 */
void riscv_pmu_stop(struct perf_event *event, int flags)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);

	core_stop(pmu, hart, event);
	if (!hart->updating)
		riscv_pmu_commit_update(pmu, hart);
}

/*
 * Other pending events of a counter that has refused their config can not stay on it. They are
 * stopped, and the apply that follows must not program the config again.
 */
static noinline void core_stop_others(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				      unsigned int ctr)
{
	u64 bit = BIT_ULL(ctr);

	core_stop_refused(pmu, hart, bit);
	hart->dirty &= ~bit;
	hart->pending &= ~bit;
	hart->pending_irq &= ~bit;
	hart->reload &= ~bit;
}

/*
 * Finds a counter that accepts the event's config. Each refusal leaves one counter less to try.
 * If none is left, print a message: for raw events it may not be known before.
 */
static int core_find_ctr(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			 struct riscv_pmu_event *ev)
{
	int err;

	for (;;) {
		err = riscv_pmu_event_assign(pmu, hart, ev);
		if (err || !riscv_pmu_hart_validate(pmu, hart, ev))
			break;
		riscv_pmu_event_detach(hart, ev);
		if (!list_empty(&ev->counter->events))
			core_stop_others(pmu, hart, ev->ctr);
	}
	if (unlikely(err && !ev->candidates))
		core_warn_refused(ev->req.ctrs, &ev->req.cfg);

	return err;
}

/* A new event, or its last counter holds another config: validate its config first. */
static noinline int core_attach(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				struct perf_event *event)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	int err;

	if (hart->shut_down)
		return -EAGAIN;

	riscv_pmu_hart_init_counters(pmu, hart);
	err = core_find_ctr(pmu, hart, ev);
	if (err)
		return err;

	event->hw.idx = ev->ctr;
	return 0;
}

static noinline int core_add(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			     struct perf_event *event, int flags)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	int err = 0;

	if (ev->ebb && !riscv_pmu_ebb_is_alone(hart))
		return -EAGAIN;
	if (riscv_pmu_event_can_return(hart, ev) && !ev->limited)
		riscv_pmu_event_attach(hart, ev);
	else
		err = core_attach(pmu, hart, event);
	if (err)
		return err;

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		core_start(hart, event, PERF_EF_RELOAD);
	return 0;
}

/**
 * riscv_pmu_add() - assign a counter of this hart to an event
 * @event:	the event
 * @flags:	PERF_EF_START: start it, too
 *
 * An event whose last counter still holds its config, as at most context switches, is attached
 * to it again without a search.
 *
 * Context: interrupts off, between pmu_disable and pmu_enable.
 * Return: 0; -EAGAIN if no counter is free for it, if all that could hold it have
 * refused, or if the machine is being shut down. perf tries again later.
 */
int riscv_pmu_add(struct perf_event *event, int flags)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_hart *hart = riscv_pmu_this_hart(pmu);
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (unlikely(!riscv_pmu_event_can_return(hart, ev) || !(flags & PERF_EF_START) ||
		     ev->special))
		return core_add(pmu, hart, event, flags);

	riscv_pmu_event_attach(hart, ev);
	riscv_pmu_event_start(hart, ev, ev->sampling ? core_reload(event) : 0);
	event->hw.state = 0;
	return 0;
}

/* The end of del(), after the event's count was updated. */
static __always_inline void core_detach(struct riscv_pmu_hart *hart, struct perf_event *event)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	riscv_pmu_event_detach(hart, to_riscv_pmu_event(event));
}

static noinline void core_del(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			      struct perf_event *event)
{
	core_stop(pmu, hart, event);
	/* An event whose config was refused is stopped already. */
	if (unlikely(to_riscv_pmu_event(event)->user_idx))
		riscv_pmu_user_hide(event);
	/* After an event-based branch the counter runs with its flag set; clear it for others. */
	if (unlikely(to_riscv_pmu_event(event)->ebb))
		hart->dirty |= BIT_ULL(to_riscv_pmu_event(event)->ctr) & pmu->narrow_ctrs;
	core_detach(hart, event);
}

/**
 * riscv_pmu_del() - detach an event from its counter
 * @event:	an event that has been added on this hart
 * @flags:	none are defined
 *
 * If several events are removed together, only the first one reads the hardware: it latches
 * all counts.
 *
 * Context: interrupts off, between pmu_disable and pmu_enable.
 */
void riscv_pmu_del(struct perf_event *event, int flags)
{
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);
	struct riscv_pmu_hart *hart = ev->hart;

	if (!hart->latched || unlikely(ev->state != RISCV_PMU_EVENT_ACTIVE || ev->user_idx))
		return core_del(to_riscv_pmu(event->pmu), hart, event);

	riscv_pmu_event_add_delta(event, riscv_pmu_event_take_delta(ev, ev->counter->count));
	riscv_pmu_event_stop(hart, ev);
	core_detach(hart, event);
}

/**
 * riscv_pmu_read() - bring an event's count up to date
 * @event:	an event that has been added on this hart
 *
 * Context: interrupts off.
 */
void riscv_pmu_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		riscv_pmu_event_update(event);
}

/**
 * riscv_pmu_check_period() - check a new period of an event
 * @event:	a sampling event
 * @value:	the period, or the frequency of one that has a frequency
 *
 * No period is too short: if several end before one sample can be taken, it stands for
 * all of them. A period is at most S64_MAX, since distances to overflow points are signed.
 *
 * Context: process.
 * Return: 0 or -EINVAL.
 */
int riscv_pmu_check_period(struct perf_event *event, u64 value)
{
	return event->attr.freq || value <= S64_MAX ? 0 : -EINVAL;
}

static void core_event_destroy(struct perf_event *event)
{
	riscv_pmu_user_forget(event);
	riscv_pmu_event_closed();
	kfree(to_riscv_pmu_event(event));
	event->pmu_private = NULL;
}

/* If there are several PMUs, perf's generic types name one in the upper half of config. */
static bool core_is_ours(const struct perf_event *event)
{
	u32 type = event->attr.type;

	if (event->cpu >= 0 && !cpumask_test_cpu(event->cpu, &to_riscv_pmu(event->pmu)->cpus))
		return false;

	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE ||
	       type == event->pmu->type;
}

/* A task's event runs on the harts of its PMU only. */
static bool core_filter(struct pmu *p, int cpu)
{
	return riscv_pmu_of(cpu) != to_riscv_pmu(p);
}

/* Releases those of @ctrs on this hart that no event uses. */
static void core_release_unused(struct riscv_pmu *pmu, u64 ctrs)
{
	struct riscv_pmu_hart *hart;

	guard(irqsave)();
	hart = riscv_pmu_this_hart(pmu);
	riscv_pmu_hart_init_counters(pmu, hart);
	riscv_pmu_hart_release_unused(pmu, hart, ctrs);
}

/**
 * struct core_resolve_args - arguments of core_resolve_here()
 * @event:	the event
 * @req:	out: its config and constraint
 */
struct core_resolve_args {
	const struct perf_event *event;
	struct riscv_pmu_request *req;
};

/*
 * Idle counters are released only if the backend still has to try some: an event that
 * returns to a released counter has to program it again.
 */
static long core_resolve_here(void *data)
{
	const struct core_resolve_args *req = data;
	const struct perf_event *event = req->event;
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	/* Only an event that the kernel made for itself has a handler with a context. */
	bool in_kernel = event->overflow_handler_context;
	u64 untried;
	int err;

	/* If the hart went offline meanwhile, work_on_cpu() runs this on another. */
	if (!cpumask_test_cpu(raw_smp_processor_id(), &pmu->cpus))
		return -ENXIO;

	err = riscv_pmu_event_resolve(pmu, &event->attr, in_kernel, req->req);
	untried = err ? 0 : pmu->ops.untried_ctrs(pmu, &req->req->cfg);
	if (!untried)
		return err;

	core_release_unused(pmu, untried);
	return riscv_pmu_event_resolve(pmu, &event->attr, in_kernel, req->req);
}

/* Resolves on the current CPU if it belongs to the PMU, else on another CPU of the PMU. */
static int core_resolve(const struct perf_event *event, struct riscv_pmu_request *req)
{
	const struct cpumask *cpus = &to_riscv_pmu(event->pmu)->cpus;
	struct core_resolve_args args = { .event = event, .req = req };
	unsigned int cpu;

	scoped_guard(migrate) {
		if (cpumask_test_cpu(smp_processor_id(), cpus))
			return core_resolve_here(&args);
	}

	cpu = cpumask_any_and(cpus, cpu_online_mask);
	return cpu < nr_cpu_ids ? work_on_cpu(cpu, core_resolve_here, &args) : -ENXIO;
}

/* A child of an inherited event asks for what its parent does. */
static int core_inherit(const struct perf_event *event, struct riscv_pmu_request *req)
{
	const struct perf_event *parent = event->parent;

	if (!parent || parent->pmu != event->pmu)
		return core_resolve(event, req);

	*req = to_riscv_pmu_event(parent)->req;
	return 0;
}

/**
 * riscv_pmu_event_init() - initialise an event
 * @event:	the event; its attributes are user input
 *
 * Context: process, may sleep.
 * Return: 0, or the errno that event.c's head explains; -ENOMEM.
 */
int riscv_pmu_event_init(struct perf_event *event)
{
	struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_event *ev __free(kfree) = NULL;
	int err;

	if (!core_is_ours(event))
		return -ENOENT;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;

	ev = kzalloc(sizeof(*ev), GFP_KERNEL);
	if (!ev)
		return -ENOMEM;

	err = core_inherit(event, &ev->req);
	if (err)
		return err;

	ev->event = event;
	ev->candidates = ev->req.ctrs;
	ev->ctr = -1;
	ev->sampling = is_sampling_event(event);
	ev->polled = ev->sampling && !(ev->req.ctrs & pmu->irq_ctrs);
	event->hw.idx = -1;
	event->pmu_private = ev;
	ev->ebb = event->attr.config1 & RISCV_PMU_CONFIG1_EBB;
	ev->sampling |= ev->ebb;
	ev->special = ev->ebb;
	err = riscv_pmu_ebb_check(event) ?: riscv_pmu_group_validate(event);
	if (err) {
		event->pmu_private = NULL;
		return err;
	}

	riscv_pmu_user_open(event);
	retain_and_null_ptr(ev);
	riscv_pmu_event_opened();
	event->destroy = core_event_destroy;
	return 0;
}

/* perf's callbacks, for implementations without their own. */
static const struct riscv_pmu_ops core_perf_ops = {
	.event_init	= riscv_pmu_event_init,
	.add		= riscv_pmu_add,
	.del		= riscv_pmu_del,
	.start		= riscv_pmu_start,
	.stop		= riscv_pmu_stop,
	.read		= riscv_pmu_read,
};

/* Fills the gaps of @ops with @below. */
static void core_fill_ops(struct riscv_pmu_ops *ops, const struct riscv_pmu_ops *below)
{
	void **dst = (void **)ops;
	void *const *src = (void *const *)below;

	BUILD_BUG_ON(sizeof(*ops) % sizeof(void *));
	for (unsigned int i = 0; i < sizeof(*ops) / sizeof(void *); i++)
		dst[i] = dst[i] ?: src[i];
}

static long __init core_probe_here(void *data)
{
	struct riscv_pmu *pmu = data;

	return pmu->ops.probe(pmu);
}

/*
 * Probes a PMU for those of the remaining harts that equal the first of them. If none of them
 * is online, probe on this hart: the firmware's answers are the same on any hart.
 */
static int __init core_try_backend(struct riscv_pmu *pmu, const struct riscv_pmu_ops *backend,
				   const struct cpumask *left)
{
	const struct riscv_pmu_vendor *vendor = riscv_pmu_vendor_find();
	unsigned int cpu;
	int err;

	*pmu = (struct riscv_pmu){
		.backend = backend->name,
		.guests = IS_ENABLED(CONFIG_KVM) && riscv_isa_extension_available(NULL, h),
	};
	cpumask_copy(&pmu->cpus, left);
	if (backend != &riscv_base_pmu_ops)
		riscv_pmu_vendor_apply(pmu, vendor);
	riscv_pmu_core_apply(pmu);
	core_fill_ops(&pmu->ops, backend);
	core_fill_ops(&pmu->ops, &riscv_base_pmu_ops);
	core_fill_ops(&pmu->ops, &core_perf_ops);

	err = pmu->ops.select_cpus(&pmu->cpus);
	if (err)
		return err;

	cpu = cpumask_any_and(&pmu->cpus, cpu_online_mask);
	return work_on_cpu(cpu < nr_cpu_ids ? cpu : raw_smp_processor_id(), core_probe_here, pmu);
}

static const struct riscv_pmu_ops *const core_backends[] __initconst = {
#ifdef CONFIG_RISCV_PMU_SSCCFG
	&riscv_pmu_ssccfg_ops,
#endif
#ifdef CONFIG_RISCV_PMU_SBI
	&riscv_pmu_sbi_ops,
#endif
#ifdef CONFIG_RISCV_PMU_LEGACY
	&riscv_base_pmu_ops,
#endif
};

static bool __init core_is_known_backend(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(core_backends); i++) {
		if (!strcmp(core_backends[i]->name, name))
			return true;
	}

	return !strcmp(name, "auto");
}

static int __init core_choose_backend(struct riscv_pmu *pmu, const struct cpumask *left)
{
	const char *asked = backend_param;
	int err = -ENODEV;

	if (!core_is_known_backend(asked)) {
		pr_err("backend=%s is not known here, using auto; choose auto, ssccfg, sbi or legacy\n",
		       asked);
		asked = "auto";
	}

	for (unsigned int i = 0; i < ARRAY_SIZE(core_backends); i++) {
		if (strcmp(asked, "auto") && strcmp(asked, core_backends[i]->name))
			continue;
		err = core_try_backend(pmu, core_backends[i], left);
		if (!err)
			return 0;
		if (err != -ENODEV)
			pr_warn("backend %s can not be used (error %d)\n",
				core_backends[i]->name, err);
	}

	pr_warn("no counters on harts %*pbl: backend=%s finds none (error %d); auto takes the best there is\n",
		cpumask_pr_args(left), asked, err);
	return err;
}

/* With fewer than 16 bits, overflows would occur faster than they can be handled. */
static void __init core_clamp_width(struct riscv_pmu *pmu, unsigned int width)
{
	if (!width)
		return;
	if (width < 16 || width > 63) {
		pr_err("width=%u is not 16 to 63: counters keep the width that they have\n", width);
		return;
	}

	for (u64 ctrs = pmu->ctrs & ~pmu->fw_ctrs; ctrs; ctrs &= ctrs - 1) {
		struct riscv_pmu_ctr *ctr = &pmu->ctr[__ffs64(ctrs)];

		if (ctr->width <= width)
			continue;
		ctr->width = width;
		pmu->clamped_ctrs |= ctrs & -ctrs;
	}
}

/* Prints two lines about what was found. */
static void __init core_print(const struct riscv_pmu *pmu)
{
	u64 programmable = pmu->ctrs & ~pmu->fixed_ctrs & ~pmu->fw_ctrs;
	u32 inh = 0;

	for (u64 ctrs = pmu->ctrs; ctrs; ctrs &= ctrs - 1)
		inh |= pmu->ctr[__ffs64(ctrs)].inh;

	if (core_nr_pmus > 1)
		pr_info("harts %*pbl:\n", cpumask_pr_args(&pmu->cpus));
	pr_info("backend %s%s%s%s%s: %lu programmable and %lu fixed counters of %u bits, %lu firmware counters\n",
		pmu->backend, pmu->firmware[0] ? " on " : "", pmu->firmware,
		pmu->vendor ? ", vendor " : "", pmu->vendor ?: "",
		hweight64(programmable), hweight64(pmu->fixed_ctrs),
		riscv_pmu_min_width(pmu, pmu->ctrs & ~pmu->fw_ctrs), hweight64(pmu->fw_ctrs));
	if (pmu->irq_ctrs)
		pr_info("filters %s; sampling by interrupt %u\n",
			inh ? "user and kernel" : "none", pmu->hwirq);
	else
		pr_info("filters %s; %s: %s\n", inh ? "user and kernel" : "none",
			pmu->polled_sampling ? "sampling by a timer, up to a tick late" :
					       "no sampling (polled_sampling=0)",
			pmu->no_irq_why);
	if (pmu->poll_ctrs)
		pr_info("counters 0x%llx are narrow and do not interrupt: read every %llu us while in use\n",
			pmu->poll_ctrs, pmu->poll_ns / NSEC_PER_USEC);
}

/* Every possible CPU has this PMU, and is online, so that riscv_pmu_confirm() removes none. */
static bool __init core_covers_all_cpus(const struct riscv_pmu *pmu)
{
	return cpumask_equal(&pmu->cpus, cpu_possible_mask) &&
	       cpumask_equal(&pmu->cpus, cpu_online_mask);
}

static int __init core_register(struct riscv_pmu *pmu)
{
	const char *name;

	pmu->pmu.attr_groups = riscv_pmu_attr_groups;
	pmu->pmu.check_period = riscv_pmu_check_period;
	pmu->pmu.pmu_enable = core_pmu_enable;
	pmu->pmu.pmu_disable = core_pmu_disable;
	pmu->pmu.start_txn = riscv_pmu_start_txn;
	pmu->pmu.commit_txn = riscv_pmu_commit_txn;
	pmu->pmu.cancel_txn = riscv_pmu_cancel_txn;
	pmu->pmu.event_idx = riscv_pmu_user_idx;
	pmu->pmu.event_mapped = riscv_pmu_user_mapped;
	pmu->pmu.event_unmapped = riscv_pmu_user_unmapped;
	pmu->pmu.event_init = pmu->ops.event_init;
	pmu->pmu.add = pmu->ops.add;
	pmu->pmu.del = pmu->ops.del;
	pmu->pmu.start = pmu->ops.start;
	pmu->pmu.stop = pmu->ops.stop;
	pmu->pmu.read = pmu->ops.read;

	if (core_nr_pmus > 1)
		pmu->pmu.capabilities |= PERF_PMU_CAP_EXTENDED_HW_TYPE;
	if (!core_covers_all_cpus(pmu)) {
		pmu->pmu.pmu_enable = core_pmu_enable_type;
		pmu->pmu.pmu_disable = core_pmu_disable_type;
		pmu->pmu.filter = core_filter;
	}
	if (pmu == &core_pmus[0])
		return perf_pmu_register(&pmu->pmu, "cpu", PERF_TYPE_RAW);

	name = kasprintf(GFP_KERNEL, "cpu_type%u", (unsigned int)(pmu - core_pmus));
	return name ? perf_pmu_register(&pmu->pmu, name, -1) : -ENOMEM;
}

static int __init core_find_pmus(void)
{
	struct cpumask left;
	unsigned int cpu;
	int err = 0;

	cpumask_copy(&left, cpu_possible_mask);
	while (!cpumask_empty(&left) && core_nr_pmus < CORE_MAX_CPU_TYPES) {
		struct riscv_pmu *pmu = &core_pmus[core_nr_pmus];

		err = core_choose_backend(pmu, &left);
		if (err)
			break;
		core_nr_pmus++;
		core_clamp_width(pmu, width_param);
		for_each_cpu(cpu, &pmu->cpus)
			per_cpu(core_pmu_of, cpu) = pmu;
		cpumask_andnot(&left, &left, &pmu->cpus);
	}

	return core_nr_pmus ? 0 : err;
}

static int __init core_start_pmus(void)
{
	struct riscv_pmu_hart __percpu *harts = NULL;
	unsigned int cpu, i;

	if (!riscv_pmu_should_fail())
		harts = alloc_percpu(struct riscv_pmu_hart);
	if (!harts)
		return -ENOMEM;

	for (i = 0; i < core_nr_pmus; i++) {
		struct riscv_pmu *pmu = &core_pmus[i];

		pmu->harts = harts;
		for_each_cpu(cpu, &pmu->cpus)
			riscv_pmu_hart_reset(pmu, per_cpu_ptr(harts, cpu));
		riscv_pmu_irq_probe(pmu);
		pmu->polled_sampling = polled_sampling_param;
		riscv_pmu_poll_probe(pmu);
	}

	return riscv_pmu_hotplug_init() ?: riscv_pmu_user_init();
}

/* Firmware events have PMUs of their own, which use the counters of these. */
static void __init core_register_fw(void)
{
	for (unsigned int i = 0; i < core_nr_pmus; i++) {
		int err = core_pmus[i].fw_ctrs ? riscv_pmu_fw_init(&core_pmus[i], i) : 0;

		if (err)
			pr_warn("%s: no sbi_fw (error %d): its fw-... events are the same\n",
				core_pmus[i].pmu.name, err);
	}
}

static int __init riscv_pmu_init(void)
{
	int err = core_find_pmus();

	if (err)
		return err == -ENODEV ? 0 : err;

	err = core_start_pmus();
	if (!err)
		riscv_pmu_debugfs_init();
	for (unsigned int i = 0; i < core_nr_pmus && !err; i++) {
		core_print(&core_pmus[i]);
		err = core_register(&core_pmus[i]);
	}
	if (!err)
		core_register_fw();
	/* The hotplug states stay: they only stop counters, which is right without a PMU too. */
	if (err)
		pr_err("not registered: error %d\n", err);

	return err;
}
device_initcall(riscv_pmu_init);

#ifdef CONFIG_RISCV_PMU_SBI
/**
 * riscv_pmu_get_hpm_info() - counters that KVM can offer its guests
 * @hw_ctr_width:	out: bits of a programmable counter, less one, as the SBI has it
 * @num_hw_ctr:		out: number of hardware counters
 *
 * Return: 0, or -EINVAL if there are no counters.
 */
int riscv_pmu_get_hpm_info(u32 *hw_ctr_width, u32 *num_hw_ctr)
{
	struct riscv_pmu *pmu = riscv_pmu_get();
	u64 hw, programmable;

	if (!pmu)
		return -EINVAL;

	hw = pmu->ctrs & ~pmu->fw_ctrs;
	programmable = hw & ~pmu->fixed_ctrs;
	*hw_ctr_width = programmable ? pmu->ctr[__ffs64(programmable)].width - 1 : 0;
	*num_hw_ctr = hweight64(hw);
	return 0;
}
EXPORT_SYMBOL_GPL(riscv_pmu_get_hpm_info);

/**
 * riscv_pmu_get_event_info() - the SBI's event_idx of a perf event
 * @type:	perf_event_attr.type
 * @config:	perf_event_attr.config
 * @econfig:	out: event_data; may be NULL
 *
 * Return: event_idx, or a negative errno.
 */
int riscv_pmu_get_event_info(u32 type, u64 config, u64 *econfig)
{
	const struct perf_event_attr attr = { .type = type, .config = config };
	struct riscv_pmu *pmu = riscv_pmu_get();
	struct riscv_pmu_config cfg;
	int err;

	if (!pmu)
		return -ENODEV;

	err = riscv_pmu_event_parse(pmu, &attr, &cfg);
	if (err)
		return err;
	if (econfig)
		*econfig = cfg.event_data;
	return cfg.event_idx;
}
EXPORT_SYMBOL_GPL(riscv_pmu_get_event_info);
#endif
