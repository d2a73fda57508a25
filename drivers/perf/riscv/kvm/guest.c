// SPDX-License-Identifier: GPL-2.0
/* Functions that KVM calls when a vcpu comes or goes, and before and after each run of a guest. */

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "../apply.h"
#include "../branch/branch.h"
#include "../entries.h"
#include "../nmi/block.h"
#include "../nmi/nmi.h"
#include "../update.h"

/* How many vcpus the machine has. The lock is held until all harts know whether there are any. */
static unsigned int guest_nr_vcpus;
static DEFINE_MUTEX(guest_lock);

/* Lets no event of a hart return to its last counter without a search for one. */
void riscv_pmu_guest_invalidate(struct riscv_pmu_hart *hart)
{
	for (unsigned int ctr = 0; ctr < RISCV_MAX_COUNTERS; ctr++)
		riscv_pmu_counter_invalidate(hart, ctr);
}

/* Has perf remove and add the events of this hart. */
static void guest_resched(void *unused)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());

	if (!pmu)
		return;

	scoped_guard(riscv_pmu_irqsave)
		riscv_pmu_guest_invalidate(riscv_pmu_this_hart(pmu));
	perf_pmu_resched(&pmu->pmu);
}

static void guest_set_absent(u32 absent)
{
	if (riscv_pmu_types[0].absent_inh == absent)
		return;

	for (unsigned int i = 0; i < riscv_pmu_nr_types; i++)
		WRITE_ONCE(riscv_pmu_types[i].absent_inh, absent);
	/* A hart that comes online later has no event that was given a counter before. */
	on_each_cpu(guest_resched, NULL, 1);
}

static void guest_forget(struct work_struct *work)
{
	guard(mutex)(&guest_lock);
	if (!guest_nr_vcpus)
		guest_set_absent(RISCV_PMU_INH_GUESTS);
}

/* With a delay, so that guests that come and go do not interrupt all harts each time. */
static DECLARE_DELAYED_WORK(guest_forget_work, guest_forget);

/**
 * riscv_pmu_guest_add_vcpu() - KVM has created a vcpu, which has not run yet
 *
 * Events that differ only in whether they exclude guests share a counter until the first vcpu of
 * the machine is created, and again a second after the last one is destroyed. In between, a counter
 * has the filters of its events.
 * Context: process, may sleep.
 */
void riscv_pmu_guest_add_vcpu(void)
{
	guard(mutex)(&guest_lock);
	if (!guest_nr_vcpus++)
		guest_set_absent(0);
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_add_vcpu);

/* A vcpu will not run any more. */
void riscv_pmu_guest_remove_vcpu(void)
{
	guard(mutex)(&guest_lock);
	if (!--guest_nr_vcpus)
		schedule_delayed_work(&guest_forget_work, HZ);
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_remove_vcpu);

/**
 * riscv_pmu_guest_enter() - prepare for the run of a KVM guest
 *
 * Until riscv_pmu_guest_exit(), tp and sscratch may have the guest's values, so the overflows of
 * NMIs are deferred; branch records are hidden from the guest. Interrupts are off in between.
 */
void riscv_pmu_guest_enter(void)
{
	riscv_pmu_nmi_set_guest(current);
	riscv_pmu_csr_branch_hide();
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_enter);

void riscv_pmu_guest_exit(void)
{
	riscv_pmu_csr_branch_show();
	riscv_pmu_nmi_set_guest(NULL);
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_exit);

/* On QEMU, a counter whose overflow is farther away is not written: see apply_overflow_value(). */
#define GUEST_QEMU_DISTANCE	((u64)S64_MAX / 2 + 1)

static bool guest_may_write(const struct riscv_pmu *pmu, const struct riscv_pmu_event *ev,
			    u64 value)
{
	u64 bit = BIT_ULL(ev->ctr);

	if (!pmu->loads || !pmu->ops.reload || ev->guest_write_failed ||
	    (pmu->clamped_ctrs | pmu->free_running_ctrs) & bit)
		return false;

	return !(pmu->is_qemu && pmu->irq_ctrs & bit) ||
	       (-value & ev->counter->mask) <= GUEST_QEMU_DISTANCE;
}

/* Writes a counter, which is the event's alone. */
static bool guest_write(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			struct riscv_pmu_event *ev, u64 value)
{
	struct riscv_pmu_counter *counter = ev->counter;

	if (!guest_may_write(pmu, ev, value))
		return false;

	value &= counter->mask;
	ev->guest_write_failed = true;
	if (riscv_pmu_hart_reload(pmu, hart, ev->ctr, value)) {
		riscv_pmu_hart_stop_refused(pmu, hart, BIT_ULL(ev->ctr));
		return false;
	}

	/* Some firmware does not write fixed counters. */
	counter->raw = riscv_pmu_counter_read(pmu, ev->ctr);
	ev->guest_write_failed = (counter->raw ^ value) & counter->mask;
	return !ev->guest_write_failed;
}

static bool guest_prepare_read(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
			       struct riscv_pmu_event *ev, u64 base, unsigned int width)
{
	struct riscv_pmu_counter *counter = ev->counter;
	u64 value;
	s64 left;

	if (ev->hart != hart || ev->state != RISCV_PMU_EVENT_ACTIVE ||
	    pmu->ctr[ev->ctr].width != width ||
	    !(ev->req.prefer & BIT_ULL(ev->ctr)) || !list_is_singular(&counter->events) ||
	    !(hart->hw.running & BIT_ULL(ev->ctr)))
		return false;

	value = base + local64_read(&ev->event->count) - ev->prev_count +
		riscv_pmu_counter_update(pmu, counter, ev->ctr);
	/* With this value, the counter has to overflow in time for the event's overflow point. */
	left = ev->overflow_point - counter->count;
	if (riscv_pmu_event_needs_irq(ev) && (left <= 0 || (-value & counter->mask) > (u64)left))
		return false;

	return !((value ^ counter->raw) & counter->mask) || guest_write(pmu, hart, ev, value);
}

/**
 * riscv_pmu_guest_prepare_read() - prepare a counter for reads of a KVM guest without exits
 * @event:	an event that counts the guest that is about to run
 * @base:	value of the guest's counter when the event's count was 0, in events
 * @width:	width of the guest's counter in bits; another one is not readable
 *
 * The guest may read a counter only while it counts for this event alone and has the value that
 * the guest expects; if it has another value, it is written here. The event excludes the host, so
 * the value does not change before the guest runs, with interrupts off.
 *
 * Return: whether the counter that the event prefers (RISCV_PMU_CONFIG1_GUEST_HPM) can be read.
 */
bool riscv_pmu_guest_prepare_read(struct perf_event *event, u64 base, unsigned int width)
{
	struct riscv_pmu_hart *hart;
	struct riscv_pmu *pmu;
	bool can;

	if (!riscv_pmu_owns(event))
		return false;

	pmu = to_riscv_pmu(event->pmu);
	hart = riscv_pmu_this_hart(pmu);
	riscv_pmu_set_updating(hart, true);
	can = guest_prepare_read(pmu, hart, to_riscv_pmu_event(event), base, width);
	riscv_pmu_set_updating(hart, false);
	return can;
}
EXPORT_SYMBOL_GPL(riscv_pmu_guest_prepare_read);

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
