// SPDX-License-Identifier: GPL-2.0
/*
 * The performance monitor of a RISC-V IOMMU: the PMU "riscv_iommu_pmu_N".
 *
 * It counts requests of devices, not the activity of harts: an event cannot be opened for a
 * task, and has no exclude filters. perf opens each event on the CPU in "cpumask".
 *
 * RISC-V IOMMU Architecture 1.0, chapter 6, sections on iocountovf, iocountinh,
 * iohpmcycles, iohpmctr and iohpmevt.
 *
 * The events of a group are started and stopped by one write of iocountinh. In QEMU 10.0.2
 * each such write that leaves another counter inhibited resets cycles. If the probe detects
 * this, iocountinh stays 0, and each counter is started and stopped by its event register.
 */

#include <linux/auxiliary_bus.h>
#include <linux/bitfield.h>
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/perf_event.h>
#include <linux/property.h>
#include <linux/riscv_iommu_pmu.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#define HPM_REG_CAPABILITIES	0x000
#define   HPM_CAPABILITIES_MINOR	GENMASK(3, 0)
#define   HPM_CAPABILITIES_MAJOR	GENMASK(7, 4)
#define HPM_REG_IPSR		0x054
#define   HPM_IPSR_PMIP			BIT(2)
#define HPM_REG_IOCOUNTOVF	0x058
#define HPM_REG_IOCOUNTINH	0x05c
#define HPM_REG_IOHPMCYCLES	0x060
#define   HPM_IOHPMCYCLES_OF		BIT_ULL(63)
#define HPM_REG_IOHPMCTR(n)	(0x068 + 8 * ((n) - 1))
#define HPM_REG_IOHPMEVT(n)	(0x160 + 8 * ((n) - 1))
#define   HPM_IOHPMEVT_OF		BIT_ULL(63)

/* perf_event_attr::config is the value of iohpmevt without OF; 0 is cycles. */
#define HPM_CONFIG_EVENT	GENMASK_ULL(14, 0)
#define HPM_CONFIG_IDT		BIT_ULL(62)
#define HPM_CONFIG_BITS		GENMASK_ULL(62, 0)

/* Numbers of counters, as in iocountovf and iocountinh: 0 is iohpmcycles, n is iohpmctr n. */
#define HPM_CTR_CYCLES		0
#define HPM_NR_CTRS		32
#define HPM_MIN_WIDTH		32

/* The last standard event, and the standard events that support the IDT filter. */
#define HPM_LAST_STANDARD	8
#define HPM_EVENTS_IDT		(BIT(4) | BIT(7) | BIT(8))

/* Polling interval without an interrupt: 2^31 requests take longer than that. */
#define HPM_POLL_NS		(NSEC_PER_SEC / 2)

/* How often the interrupt handler reads the overflow flags while the interrupt is pending. */
#define HPM_MAX_ROUNDS		4

/* How often a counter is read at most, if a carry changes its high half during each read. */
#define HPM_MAX_READS		4

static unsigned int hpm_param_width;
module_param_named(width, hpm_param_width, uint, 0444);
MODULE_PARM_DESC(width, "let counters overflow as if they had only this number of bits, for tests (8..64)");

static bool hpm_param_polled;
module_param_named(polled, hpm_param_polled, bool, 0444);
MODULE_PARM_DESC(polled, "poll the counters by a timer, for machines that lose overflow interrupts");

static DEFINE_IDA(hpm_ida);
static enum cpuhp_state hpm_cpuhp_state;

/**
 * struct hpm - one performance monitor
 * @pmu:	perf's part of it
 * @dev:	the auxiliary device
 * @reg:	the IOMMU's registers
 * @identifier:	version and model of the IOMMU, for perf's JSON files
 * @irq:	number of the overflow interrupt, or 0
 * @cpu:	the CPU of its events
 * @node:	for CPU hotplug
 * @poll:	the polling timer, which runs while there are events if @polled
 * @id:		the number in the PMU's name
 * @width:	number of bits of each counter
 * @ctrs:	counters that exist
 * @lock:	protects the members below and the counters' registers, also from the interrupt:
 *		its line is shared, so that it may be handled on any CPU. Irqs off.
 * @inhibits:	iocountinh is used to start and stop counters; false with QEMU's bug
 * @inhibited:	value of iocountinh, if @inhibits
 * @collecting:	between pmu_disable() and pmu_enable(): starts are deferred
 * @down:	the machine is being shut down: no counter is started any more
 * @polled:	there is no overflow interrupt, or it is unreliable
 * @running:	counters that count
 * @used:	counters that have events
 * @event:	the events of @used
 */
struct hpm {
	struct pmu		pmu;
	struct device		*dev;
	void __iomem		*reg;
	const char		*identifier;
	unsigned int		irq;
	unsigned int		cpu;
	struct hlist_node	node;
	struct hrtimer		poll;
	int			id;
	u8			width[HPM_NR_CTRS];
	u32			ctrs;
	raw_spinlock_t		lock;
	bool			inhibits;
	u32			inhibited;
	bool			collecting;
	bool			down;
	bool			polled;
	u32			running;
	u32			used;
	struct perf_event	*event[HPM_NR_CTRS];
};

static struct hpm *to_hpm(struct pmu *pmu)
{
	return container_of(pmu, struct hpm, pmu);
}

static struct hpm *hpm_of_dev(struct device *dev)
{
	return to_hpm(dev_get_drvdata(dev));
}

static bool hpm_is_cycles(const struct perf_event *event)
{
	return !event->attr.config;
}

/* --- registers --- */

static u64 hpm_ctr_mask(const struct hpm *hpm, unsigned int ctr)
{
	return GENMASK_ULL(hpm->width[ctr] - 1, 0);
}

static void __iomem *hpm_ctr_reg(const struct hpm *hpm, unsigned int ctr)
{
	return hpm->reg + (ctr == HPM_CTR_CYCLES ? HPM_REG_IOHPMCYCLES : HPM_REG_IOHPMCTR(ctr));
}

/*
 * The IOMMU may split an access of 8 bytes in two (section 6.1), so the halves are read
 * separately, until the high half is the same before and after the low one. If it changes each
 * time, the result is the value right after the last carry: the new high half, and a low half of 0.
 */
static u64 hpm_read_ctr(const struct hpm *hpm, unsigned int ctr)
{
	const void __iomem *reg = hpm_ctr_reg(hpm, ctr);
	u32 high = readl_relaxed(reg + 4), before, low;
	unsigned int left = HPM_MAX_READS;

	do {
		before = high;
		low = readl_relaxed(reg);
		high = readl_relaxed(reg + 4);
	} while (high != before && --left);
	if (high != before)
		low = 0;

	return ((u64)high << 32 | low) & hpm_ctr_mask(hpm, ctr);
}

/*
 * The value of cycles includes their overflow flag. While it is set, cycles do not interrupt: it
 * is set if the counters are polled.
 */
static void hpm_write_ctr(const struct hpm *hpm, unsigned int ctr, u64 value)
{
	if (ctr == HPM_CTR_CYCLES && hpm->polled)
		value |= HPM_IOHPMCYCLES_OF;

	writeq_relaxed(value, hpm_ctr_reg(hpm, ctr));
	/* If a carry between the writes of the halves has changed the high one, write again. */
	if ((hpm_read_ctr(hpm, ctr) - value) & hpm_ctr_mask(hpm, ctr) & ~(u64)U32_MAX)
		writeq_relaxed(value, hpm_ctr_reg(hpm, ctr));
}

/* The event register has the overflow flag of the other counters, which is set likewise. */
static void hpm_write_evt(const struct hpm *hpm, unsigned int ctr, u64 evt)
{
	if (hpm->polled)
		evt |= HPM_IOHPMEVT_OF;

	writeq_relaxed(evt, hpm->reg + HPM_REG_IOHPMEVT(ctr));
}

/* --- counting; the lock is held --- */

static void hpm_update(struct hpm *hpm, struct perf_event *event)
{
	unsigned int ctr = event->hw.idx;
	u64 now = hpm_read_ctr(hpm, ctr);
	u64 prev = local64_xchg(&event->hw.prev_count, now);

	local64_add((now - prev) & hpm_ctr_mask(hpm, ctr), &event->count);
}

/*
 * The value from which a counter starts: it overflows after half of its range. The interrupt
 * may then be late by the other half.
 */
static u64 hpm_first_value(const struct hpm *hpm, unsigned int ctr)
{
	u64 mask = hpm_ctr_mask(hpm, ctr);
	unsigned int width = clamp_t(unsigned int, hpm_param_width ?: 64, 8, fls64(mask));

	return -BIT_ULL(width - 1) & mask;
}

static void hpm_inhibit(struct hpm *hpm, u32 ctrs)
{
	if (!hpm->inhibits || hpm->inhibited == ctrs)
		return;

	hpm->inhibited = ctrs;
	writel_relaxed(ctrs, hpm->reg + HPM_REG_IOCOUNTINH);
}

/* Starts all counters of @running by one write. */
static void hpm_run(struct hpm *hpm)
{
	if (!hpm->collecting && !hpm->down)
		hpm_inhibit(hpm, hpm->ctrs & ~hpm->running);
}

/* Writes the start value of a counter, and its event. */
static void hpm_load(struct hpm *hpm, struct perf_event *event)
{
	unsigned int ctr = event->hw.idx;
	u64 first = hpm_first_value(hpm, ctr);

	local64_set(&event->hw.prev_count, first);
	hpm_write_ctr(hpm, ctr, first);
	if (!hpm_is_cycles(event))
		hpm_write_evt(hpm, ctr, event->attr.config);
}

static void hpm_start(struct hpm *hpm, struct perf_event *event)
{
	if (hpm->down)
		return;

	event->hw.state = 0;
	hpm_load(hpm, event);
	hpm->running |= BIT(event->hw.idx);
	hpm_run(hpm);
}

/*
 * The counters of the event's group, if it is the one that perf stops first: the leader, or
 * any member if the leader is of another PMU.
 */
static u32 hpm_group_ctrs(struct hpm *hpm, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	u32 ctrs = BIT(event->hw.idx);

	if (!hpm->collecting || (leader->pmu == event->pmu && leader != event))
		return ctrs;

	for_each_sibling_event(sibling, leader) {
		if (sibling->pmu == event->pmu && sibling->hw.idx >= 0)
			ctrs |= BIT(sibling->hw.idx);
	}

	return ctrs;
}

/* If only this member of a group stops, hpm_pmu_enable() starts the others again. */
static void hpm_stop(struct hpm *hpm, struct perf_event *event)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;

	hpm_inhibit(hpm, hpm->inhibited | hpm_group_ctrs(hpm, event));
	/* Without an event the counter stops, and keeps its value. */
	if (!hpm->inhibits && !hpm_is_cycles(event))
		hpm_write_evt(hpm, event->hw.idx, 0);
	hpm_update(hpm, event);
	hpm->running &= ~BIT(event->hw.idx);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

/* Returns a free counter for an event, or a negative errno. */
static int hpm_find_ctr(const struct hpm *hpm, const struct perf_event *event)
{
	u32 able = hpm_is_cycles(event) ? BIT(HPM_CTR_CYCLES) : ~BIT(HPM_CTR_CYCLES);
	u32 fit = hpm->ctrs & ~hpm->used & able;

	return fit ? __ffs(fit) : -EAGAIN;
}

/*
 * Updates events, and restarts their counters without stopping them. Only requests between the
 * read and the write of a counter are not counted; that happens once in at least 2^31 requests.
 */
static void hpm_update_ctrs(struct hpm *hpm, u32 ctrs)
{
	for (ctrs &= hpm->used; ctrs; ctrs &= ctrs - 1) {
		struct perf_event *event = hpm->event[__ffs(ctrs)];

		if (event->hw.state & PERF_HES_STOPPED)
			continue;
		hpm_update(hpm, event);
		hpm_load(hpm, event);
	}
}

/* --- overflows --- */

static bool hpm_is_pending(const struct hpm *hpm)
{
	return readl_relaxed(hpm->reg + HPM_REG_IPSR) & HPM_IPSR_PMIP;
}

static void hpm_start_poll(struct hpm *hpm)
{
	hrtimer_start(&hpm->poll, ns_to_ktime(HPM_POLL_NS), HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * Clears the flags of counters that overflowed just before they were stopped: with them, the
 * interrupt could stay pending.
 */
static void hpm_clear_overflows(const struct hpm *hpm, u32 ctrs)
{
	for (ctrs &= hpm->ctrs & ~hpm->running; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs(ctrs);

		if (ctr == HPM_CTR_CYCLES)
			hpm_write_ctr(hpm, ctr, hpm_read_ctr(hpm, ctr));
		else
			hpm_write_evt(hpm, ctr, 0);
	}
}

static void hpm_clear_pending(const struct hpm *hpm)
{
	writel_relaxed(HPM_IPSR_PMIP, hpm->reg + HPM_REG_IPSR);
}

/*
 * The pending bit is cleared before iocountovf is read, so that a later overflow sets it again
 * and is handled in the next round or by the next interrupt. QEMU 10.0.2 never clears the bit,
 * and does not interrupt while it is set (riscv_iommu_update_ipsr()).
 */
static irqreturn_t hpm_interrupt(int irq, void *data)
{
	struct hpm *hpm = data;

	guard(raw_spinlock_irqsave)(&hpm->lock);
	if (!hpm_is_pending(hpm))
		return IRQ_NONE;

	if (hpm->polled) {
		hpm_clear_pending(hpm);
		return hpm_is_pending(hpm) ? IRQ_NONE : IRQ_HANDLED;
	}
	for (unsigned int i = 0; i < HPM_MAX_ROUNDS; i++) {
		u32 overflowed;

		hpm_clear_pending(hpm);
		overflowed = readl_relaxed(hpm->reg + HPM_REG_IOCOUNTOVF);
		hpm_update_ctrs(hpm, overflowed);
		hpm_clear_overflows(hpm, overflowed);
		if (!hpm_is_pending(hpm))
			return IRQ_HANDLED;
	}

	dev_info(hpm->dev, "the overflow interrupt stays pending, polling the counters by a timer\n");
	hpm->polled = true;
	/* Restart the counters with their overflow flags set: they do not interrupt any more. */
	hpm_update_ctrs(hpm, hpm->used);
	hpm_start_poll(hpm);
	return IRQ_HANDLED;
}

/*
 * Updates all events. Counters need not be restarted: they do not wrap twice between two polls,
 * because even half of their range takes longer.
 */
static void hpm_look_at_ctrs(struct hpm *hpm)
{
	for (u32 ctrs = hpm->used; ctrs; ctrs &= ctrs - 1) {
		struct perf_event *event = hpm->event[__ffs(ctrs)];

		if (!(event->hw.state & PERF_HES_STOPPED))
			hpm_update(hpm, event);
	}
}

/* The polling timer is not set again when there are no events left. */
static enum hrtimer_restart hpm_poll(struct hrtimer *timer)
{
	struct hpm *hpm = container_of(timer, struct hpm, poll);

	guard(raw_spinlock_irqsave)(&hpm->lock);
	if (!hpm->used)
		return HRTIMER_NORESTART;

	hpm_look_at_ctrs(hpm);
	hrtimer_forward_now(timer, ns_to_ktime(HPM_POLL_NS));
	return HRTIMER_RESTART;
}

/* --- perf's callbacks --- */

static void hpm_pmu_disable(struct pmu *pmu)
{
	struct hpm *hpm = to_hpm(pmu);

	guard(raw_spinlock_irqsave)(&hpm->lock);
	hpm->collecting = true;
}

static void hpm_pmu_enable(struct pmu *pmu)
{
	struct hpm *hpm = to_hpm(pmu);

	guard(raw_spinlock_irqsave)(&hpm->lock);
	hpm->collecting = false;
	hpm_run(hpm);
}

static void hpm_event_read(struct perf_event *event)
{
	struct hpm *hpm = to_hpm(event->pmu);

	guard(raw_spinlock_irqsave)(&hpm->lock);
	if (!(event->hw.state & PERF_HES_STOPPED))
		hpm_update(hpm, event);
}

static void hpm_event_start(struct perf_event *event, int flags)
{
	struct hpm *hpm = to_hpm(event->pmu);

	guard(raw_spinlock_irqsave)(&hpm->lock);
	hpm_start(hpm, event);
}

static void hpm_event_stop(struct perf_event *event, int flags)
{
	struct hpm *hpm = to_hpm(event->pmu);

	guard(raw_spinlock_irqsave)(&hpm->lock);
	hpm_stop(hpm, event);
}

static int hpm_event_add(struct perf_event *event, int flags)
{
	struct hpm *hpm = to_hpm(event->pmu);

	scoped_guard(raw_spinlock_irqsave, &hpm->lock) {
		int ctr = hpm_find_ctr(hpm, event);

		if (ctr < 0)
			return ctr;

		if (hpm->polled && !hpm->used && !hpm->down)
			hpm_start_poll(hpm);
		hpm->used |= BIT(ctr);
		hpm->event[ctr] = event;
		event->hw.idx = ctr;
		event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
		if (flags & PERF_EF_START)
			hpm_start(hpm, event);
	}
	perf_event_update_userpage(event);
	return 0;
}

static void hpm_event_del(struct perf_event *event, int flags)
{
	struct hpm *hpm = to_hpm(event->pmu);

	scoped_guard(raw_spinlock_irqsave, &hpm->lock) {
		hpm_stop(hpm, event);
		hpm->event[event->hw.idx] = NULL;
		hpm->used &= ~BIT(event->hw.idx);
		event->hw.idx = -1;
	}
	perf_event_update_userpage(event);
}

/* --- opening --- */

/*
 * Whether an event fits into the group of its leader, which is another event. A group can have
 * no events of other hardware PMUs, because these cannot be started together with ours. It can
 * have only one event for cycles, because these have one counter, and events do not share
 * counters.
 */
static bool hpm_group_fits(const struct hpm *hpm, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *member;
	unsigned int nr[2] = { };

	nr[hpm_is_cycles(event)]++;
	if (leader->pmu == event->pmu)
		nr[hpm_is_cycles(leader)]++;
	else if (!is_software_event(leader))
		return false;

	for_each_sibling_event(member, leader) {
		if (member->pmu == event->pmu)
			nr[hpm_is_cycles(member)]++;
		else if (!is_software_event(member))
			return false;
	}

	return nr[true] <= 1 && nr[false] <= hweight32(hpm->ctrs & ~BIT(HPM_CTR_CYCLES));
}

static bool hpm_config_is_valid(const struct perf_event_attr *attr)
{
	u64 id = attr->config & HPM_CONFIG_EVENT;

	if (attr->config & ~HPM_CONFIG_BITS || attr->config1 || attr->config2 || attr->config3)
		return false;
#ifdef PERF_ATTR_SIZE_VER9
	if (attr->config4)
		return false;
#endif
	/* A standard event that does not support IDT would not be counted. */
	if (attr->config & HPM_CONFIG_IDT && id <= HPM_LAST_STANDARD && !(HPM_EVENTS_IDT & BIT(id)))
		return false;

	/* Cycles cannot be filtered: config is 0, or has an event. */
	return !attr->config || id;
}

static int hpm_event_init(struct perf_event *event)
{
	struct hpm *hpm = to_hpm(event->pmu);

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK)
		return -EOPNOTSUPP;
	if (event->cpu < 0)
		return -EINVAL;
	if (!hpm_config_is_valid(&event->attr))
		return -EINVAL;
	if (event != event->group_leader && !hpm_group_fits(hpm, event))
		return -EINVAL;

	event->cpu = READ_ONCE(hpm->cpu);
	event->hw.idx = -1;
	return 0;
}

/* --- sysfs --- */

PMU_FORMAT_ATTR(event, "config:0-14");
PMU_FORMAT_ATTR(partial_matching, "config:15");
PMU_FORMAT_ATTR(pid_pscid, "config:16-35");
PMU_FORMAT_ATTR(did_gscid, "config:36-59");
PMU_FORMAT_ATTR(filter_pid_pscid, "config:60");
PMU_FORMAT_ATTR(filter_did_gscid, "config:61");
PMU_FORMAT_ATTR(filter_id_type, "config:62");
/* The former names, for one release */
PMU_FORMAT_ATTR(dmask, "config:15");
PMU_FORMAT_ATTR(pv_pscv, "config:60");
PMU_FORMAT_ATTR(dv_gscv, "config:61");
PMU_FORMAT_ATTR(idt, "config:62");

static struct attribute *hpm_formats[] = {
	&format_attr_event.attr,
	&format_attr_partial_matching.attr,
	&format_attr_pid_pscid.attr,
	&format_attr_did_gscid.attr,
	&format_attr_filter_pid_pscid.attr,
	&format_attr_filter_did_gscid.attr,
	&format_attr_filter_id_type.attr,
	&format_attr_dmask.attr,
	&format_attr_pv_pscv.attr,
	&format_attr_dv_gscv.attr,
	&format_attr_idt.attr,
	NULL,
};

static const struct attribute_group hpm_format_group = {
	.name	= "format",
	.attrs	= hpm_formats,
};

struct hpm_named_event {
	struct device_attribute	attr;
	u16			id;
};

static ssize_t hpm_event_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "event=0x%x\n",
			  container_of(attr, struct hpm_named_event, attr)->id);
}

#define HPM_EVENT(_name, _id)							\
	(&((struct hpm_named_event[]) { {					\
		.attr = { .attr = { .name = _name, .mode = 0444 },		\
			  .show = hpm_event_show },				\
		.id = _id,							\
	} })[0].attr.attr)

/* The standard event IDs of iohpmevt; its ID 0 means no event, and stands for cycles here. */
static struct attribute *hpm_events[] = {
	HPM_EVENT("cycle", 0),
	HPM_EVENT("untranslated_req", 1),
	HPM_EVENT("translated_req", 2),
	HPM_EVENT("ats_trans_req", 3),
	HPM_EVENT("tlb_miss", 4),
	HPM_EVENT("ddt_walks", 5),
	HPM_EVENT("pdt_walks", 6),
	HPM_EVENT("s_vs_pt_walks", 7),
	HPM_EVENT("g_pt_walks", 8),
	/* The former names, for one release */
	HPM_EVENT("cycles", 0),
	HPM_EVENT("untranslated-requests", 1),
	HPM_EVENT("translated-requests", 2),
	HPM_EVENT("ats-requests", 3),
	HPM_EVENT("tlb-misses", 4),
	HPM_EVENT("device-directory-walks", 5),
	HPM_EVENT("process-directory-walks", 6),
	HPM_EVENT("first-stage-walks", 7),
	HPM_EVENT("second-stage-walks", 8),
	NULL,
};

/* Cycles have a counter of their own. Any other counter can count any other event. */
static umode_t hpm_event_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	const struct hpm *hpm = hpm_of_dev(kobj_to_dev(kobj));
	u16 id = container_of(attr, struct hpm_named_event, attr.attr)->id;

	return hpm->ctrs & (id ? ~BIT(HPM_CTR_CYCLES) : BIT(HPM_CTR_CYCLES)) ? attr->mode : 0;
}

static const struct attribute_group hpm_event_group = {
	.name		= "events",
	.attrs		= hpm_events,
	.is_visible	= hpm_event_is_visible,
};

static ssize_t cpumask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return cpumap_print_to_pagebuf(true, page, cpumask_of(hpm_of_dev(dev)->cpu));
}
static DEVICE_ATTR_RO(cpumask);

static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", hpm_of_dev(dev)->identifier);
}
static DEVICE_ATTR_RO(identifier);

/* The PMU's former name, for one release: the perf tool accepts it, too. */
static ssize_t alias_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "riscv_iommu_%d\n", hpm_of_dev(dev)->id);
}
static DEVICE_ATTR_RO(alias);

static struct attribute *hpm_attrs[] = {
	&dev_attr_alias.attr,
	&dev_attr_cpumask.attr,
	&dev_attr_identifier.attr,
	NULL,
};

static const struct attribute_group hpm_group = {
	.attrs	= hpm_attrs,
};

static ssize_t device_id_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "iommu.stat=%s\n", hpm_of_dev(dev)->pmu.name);
}
static DEVICE_ATTR_RO(device_id);

static ssize_t counters_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n",
			  hweight32(hpm_of_dev(dev)->ctrs & ~BIT(HPM_CTR_CYCLES)));
}
static DEVICE_ATTR_RO(counters);

/* The width of the narrowest counter for events; if there is none, that of cycles. */
static unsigned int hpm_min_width(const struct hpm *hpm)
{
	u32 ctrs = hpm->ctrs & ~BIT(HPM_CTR_CYCLES) ?: hpm->ctrs;
	unsigned int width = 64;

	for (; ctrs; ctrs &= ctrs - 1)
		width = min_t(unsigned int, width, hpm->width[__ffs(ctrs)]);

	return width;
}

static ssize_t counter_width_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", hpm_min_width(hpm_of_dev(dev)));
}
static DEVICE_ATTR_RO(counter_width);

static struct attribute *hpm_caps[] = {
	&dev_attr_device_id.attr,
	&dev_attr_counters.attr,
	&dev_attr_counter_width.attr,
	NULL,
};

static const struct attribute_group hpm_cap_group = {
	.name	= "caps",
	.attrs	= hpm_caps,
};

static const struct attribute_group *hpm_attr_groups[] = {
	&hpm_group,
	&hpm_format_group,
	&hpm_event_group,
	&hpm_cap_group,
	NULL,
};

/* --- CPU hotplug --- */

/* The events are on the first CPU for which this is called, at the probe. */
static int hpm_cpu_online(unsigned int cpu, struct hlist_node *node)
{
	struct hpm *hpm = hlist_entry_safe(node, struct hpm, node);

	if (hpm->cpu < nr_cpu_ids)
		return 0;

	hpm->cpu = cpu;
	if (hpm->irq)
		irq_set_affinity(hpm->irq, cpumask_of(cpu));
	return 0;
}

/* If the CPU of the events goes offline, they are moved to another one. */
static int hpm_cpu_offline(unsigned int cpu, struct hlist_node *node)
{
	struct hpm *hpm = hlist_entry_safe(node, struct hpm, node);
	unsigned int target = cpumask_any_but(cpu_online_mask, cpu);

	if (cpu != hpm->cpu || target >= nr_cpu_ids)
		return 0;

	/* Set the new CPU before the move, so that events opened meanwhile are on it. */
	WRITE_ONCE(hpm->cpu, target);
	perf_pmu_migrate_context(&hpm->pmu, cpu, target);
	if (hpm->irq)
		irq_set_affinity(hpm->irq, cpumask_of(target));
	return 0;
}

/* --- probe --- */

/*
 * The perf tool compares this string with "Compat" in its JSON files. It has the version of the
 * specification from a register, and the PCI IDs or the devicetree's compatible string, because
 * no register identifies the vendor.
 */
static char *hpm_identify(struct hpm *hpm)
{
	u32 version = readl_relaxed(hpm->reg + HPM_REG_CAPABILITIES);
	unsigned long major = FIELD_GET(HPM_CAPABILITIES_MAJOR, version);
	unsigned long minor = FIELD_GET(HPM_CAPABILITIES_MINOR, version);
	struct device *iommu = hpm->dev->parent;
	const char *compatible = "unknown";

	if (dev_is_pci(iommu)) {
		const struct pci_dev *pdev = to_pci_dev(iommu);

		return devm_kasprintf(hpm->dev, GFP_KERNEL, "%lu.%lu:%04x:%04x", major, minor,
				      pdev->vendor, pdev->device);
	}

	device_property_read_string(iommu, "compatible", &compatible);
	return devm_kasprintf(hpm->dev, GFP_KERNEL, "%lu.%lu:%s", major, minor, compatible);
}

/* Rounds of the test for QEMU's bug, and reads of cycles in each: these take some 10 us. */
#define HPM_INHIBIT_ROUNDS	3
#define HPM_INHIBIT_READS	100

/*
 * Writes iocountinh twice with the same value: cycles must keep counting. QEMU 10.0.2
 * (riscv_iommu_process_iocntinh_cy()) treats the write as a start of cycles and discards what
 * they have counted since the last one, so they go backwards.
 */
static bool hpm_keeps_cycles(struct hpm *hpm)
{
	u32 others = hpm->ctrs & ~BIT(HPM_CTR_CYCLES);
	u64 before = 0;

	hpm_write_ctr(hpm, HPM_CTR_CYCLES, 0);
	writel_relaxed(others, hpm->reg + HPM_REG_IOCOUNTINH);
	for (unsigned int i = 0; i < HPM_INHIBIT_READS; i++)
		before = hpm_read_ctr(hpm, HPM_CTR_CYCLES);
	writel_relaxed(others, hpm->reg + HPM_REG_IOCOUNTINH);
	return hpm_read_ctr(hpm, HPM_CTR_CYCLES) >= before;
}

/* Repeated, because a delayed read can hide the reset in one round. */
static bool hpm_can_inhibit(struct hpm *hpm)
{
	bool can = true;

	if (!(hpm->ctrs & BIT(HPM_CTR_CYCLES)) || !(hpm->ctrs & ~BIT(HPM_CTR_CYCLES)))
		return true;

	for (unsigned int i = 0; i < HPM_INHIBIT_ROUNDS && can; i++)
		can = hpm_keeps_cycles(hpm);

	return can;
}

/* Finds the counters and their widths, by the bits that are writable. Stops all of them. */
static void hpm_find_ctrs(struct hpm *hpm)
{
	writel_relaxed(U32_MAX, hpm->reg + HPM_REG_IOCOUNTINH);
	hpm->ctrs = readl_relaxed(hpm->reg + HPM_REG_IOCOUNTINH);
	for (u32 ctrs = hpm->ctrs; ctrs; ctrs &= ctrs - 1) {
		unsigned int ctr = __ffs(ctrs);
		/* Bit 63 of iohpmcycles is its OF flag. */
		u64 bits = ctr == HPM_CTR_CYCLES ? HPM_IOHPMCYCLES_OF - 1 : U64_MAX;

		if (ctr != HPM_CTR_CYCLES)
			writeq_relaxed(0, hpm->reg + HPM_REG_IOHPMEVT(ctr));
		writeq_relaxed(bits, hpm_ctr_reg(hpm, ctr));
		hpm->width[ctr] = fls64(readq_relaxed(hpm_ctr_reg(hpm, ctr)) & bits);
		writeq_relaxed(0, hpm_ctr_reg(hpm, ctr));
	}
	hpm->inhibits = hpm_can_inhibit(hpm);
	hpm->inhibited = hpm->inhibits ? hpm->ctrs : 0;
	writel_relaxed(hpm->inhibited, hpm->reg + HPM_REG_IOCOUNTINH);
	if (hpm->ctrs & BIT(HPM_CTR_CYCLES))
		writeq_relaxed(0, hpm_ctr_reg(hpm, HPM_CTR_CYCLES));
	if (hpm_is_pending(hpm))
		hpm_clear_pending(hpm);
}

static int hpm_check_ctrs(const struct hpm *hpm)
{
	if (!hpm->ctrs)
		return dev_err_probe(hpm->dev, -ENODEV, "the monitor has no counters\n");

	for (u32 ctrs = hpm->ctrs; ctrs; ctrs &= ctrs - 1) {
		if (hpm->width[__ffs(ctrs)] < HPM_MIN_WIDTH)
			return dev_err_probe(hpm->dev, -ENODEV,
					     "counter %lu has %u bits, but the specification requires at least 32\n",
					     __ffs(ctrs), hpm->width[__ffs(ctrs)]);
	}

	return 0;
}

static void hpm_request_irq(struct hpm *hpm, unsigned int irq)
{
	int err = -ENXIO;

	hpm->polled = true;
	if (hpm_param_polled)
		return;

	if (irq)
		err = devm_request_irq(hpm->dev, irq, hpm_interrupt,
				       IRQF_SHARED | IRQF_COND_ONESHOT |
				       IRQF_NOBALANCING | IRQF_NO_THREAD,
				       dev_name(hpm->dev), hpm);
	if (err) {
		dev_info(hpm->dev, "no overflow interrupt (error %d), polling the counters by a timer\n",
			 err);
		return;
	}
	hpm->irq = irq;
	hpm->polled = false;
}

static void hpm_remove_cpuhp(void *data)
{
	struct hpm *hpm = data;

	cpuhp_state_remove_instance_nocalls(hpm_cpuhp_state, &hpm->node);
}

static void hpm_free_id(void *data)
{
	struct hpm *hpm = data;

	ida_free(&hpm_ida, hpm->id);
}

static void hpm_unregister(void *data)
{
	struct hpm *hpm = data;

	perf_pmu_unregister(&hpm->pmu);
}

/* devm calls this after it has freed the interrupt, whose handler could start the timer. */
static void hpm_stop_poll(void *data)
{
	struct hpm *hpm = data;

	hrtimer_cancel(&hpm->poll);
}

static void hpm_init_pmu(struct hpm *hpm)
{
	hpm->pmu.module = THIS_MODULE;
	hpm->pmu.parent = hpm->dev;
	hpm->pmu.task_ctx_nr = perf_invalid_context;
	hpm->pmu.capabilities = PERF_PMU_CAP_NO_EXCLUDE | PERF_PMU_CAP_NO_INTERRUPT;
	hpm->pmu.attr_groups = hpm_attr_groups;
	hpm->pmu.pmu_enable = hpm_pmu_enable;
	hpm->pmu.pmu_disable = hpm_pmu_disable;
	hpm->pmu.event_init = hpm_event_init;
	hpm->pmu.add = hpm_event_add;
	hpm->pmu.del = hpm_event_del;
	hpm->pmu.start = hpm_event_start;
	hpm->pmu.stop = hpm_event_stop;
	hpm->pmu.read = hpm_event_read;
	hrtimer_setup(&hpm->poll, hpm_poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
}

static int hpm_take_id(struct hpm *hpm)
{
	hpm->id = ida_alloc(&hpm_ida, GFP_KERNEL);
	if (hpm->id < 0)
		return hpm->id;

	return devm_add_action_or_reset(hpm->dev, hpm_free_id, hpm);
}

static int hpm_follow_cpus(struct hpm *hpm)
{
	/* Calls hpm_cpu_online() with cpus_read_lock() held, so that no CPU can go offline. */
	int err = cpuhp_state_add_instance(hpm_cpuhp_state, &hpm->node);

	return err ?: devm_add_action_or_reset(hpm->dev, hpm_remove_cpuhp, hpm);
}

static int hpm_register(struct hpm *hpm)
{
	const char *name = devm_kasprintf(hpm->dev, GFP_KERNEL, "riscv_iommu_pmu_%d", hpm->id);
	int err = name ? perf_pmu_register(&hpm->pmu, name, -1) : -ENOMEM;

	return err ?: devm_add_action_or_reset(hpm->dev, hpm_unregister, hpm);
}

static int hpm_probe(struct auxiliary_device *aux, const struct auxiliary_device_id *id)
{
	const struct riscv_iommu_pmu_data *data = dev_get_platdata(&aux->dev);
	struct hpm *hpm;
	int err;

	if (!data)
		return -EINVAL;

	hpm = devm_kzalloc(&aux->dev, sizeof(*hpm), GFP_KERNEL);
	if (!hpm)
		return -ENOMEM;

	auxiliary_set_drvdata(aux, hpm);
	hpm->dev = &aux->dev;
	hpm->reg = data->reg;
	hpm->cpu = nr_cpu_ids;
	hpm->identifier = hpm_identify(hpm);
	if (!hpm->identifier)
		return -ENOMEM;

	raw_spin_lock_init(&hpm->lock);
	hpm_find_ctrs(hpm);
	err = hpm_check_ctrs(hpm) ?: hpm_take_id(hpm);
	if (err)
		return err;

	hpm_init_pmu(hpm);
	err = devm_add_action_or_reset(hpm->dev, hpm_stop_poll, hpm);
	if (err)
		return err;

	hpm_request_irq(hpm, data->irq);
	err = hpm_follow_cpus(hpm) ?: hpm_register(hpm);
	if (err)
		return err;

	dev_info(hpm->dev, "%s: %d counters of %u bits%s%s\n", hpm->pmu.name,
		 hweight32(hpm->ctrs & ~BIT(HPM_CTR_CYCLES)), hpm_min_width(hpm),
		 hpm->ctrs & BIT(HPM_CTR_CYCLES) ? ", and cycles" : "",
		 hpm->inhibits ? "" :
		 "; events of a group start one by one (QEMU bug with iocountinh)");
	return 0;
}

/* Stops all counters and clears the pending interrupt for the next kernel. */
static void hpm_shut_down(struct hpm *hpm)
{
	scoped_guard(raw_spinlock_irqsave, &hpm->lock) {
		hpm->down = true;
		hpm->polled = true;
		hpm->inhibited = hpm->ctrs;
		writel_relaxed(hpm->ctrs, hpm->reg + HPM_REG_IOCOUNTINH);
		for (u32 ctrs = hpm->ctrs & ~BIT(HPM_CTR_CYCLES); ctrs; ctrs &= ctrs - 1)
			writeq_relaxed(0, hpm->reg + HPM_REG_IOHPMEVT(__ffs(ctrs)));
		hpm_clear_pending(hpm);
	}
	hrtimer_cancel(&hpm->poll);
}

static void hpm_shutdown(struct auxiliary_device *aux)
{
	hpm_shut_down(auxiliary_get_drvdata(aux));
}

static const struct auxiliary_device_id hpm_ids[] = {
	{ .name = RISCV_IOMMU_PMU_MODULE "." RISCV_IOMMU_PMU_NAME },
	{ }
};
MODULE_DEVICE_TABLE(auxiliary, hpm_ids);

static struct auxiliary_driver hpm_driver = {
	.name		= "riscv-iommu-pmu",
	.probe		= hpm_probe,
	.shutdown	= hpm_shutdown,
	.id_table	= hpm_ids,
};

static int __init hpm_init(void)
{
	int err = cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "perf/riscv/iommu:online",
					  hpm_cpu_online, hpm_cpu_offline);

	if (err < 0)
		return err;

	hpm_cpuhp_state = err;
	err = auxiliary_driver_register(&hpm_driver);
	if (err)
		cpuhp_remove_multi_state(hpm_cpuhp_state);
	return err;
}
module_init(hpm_init);

static void __exit hpm_exit(void)
{
	auxiliary_driver_unregister(&hpm_driver);
	cpuhp_remove_multi_state(hpm_cpuhp_state);
}
module_exit(hpm_exit);

MODULE_DESCRIPTION("Performance monitor of the RISC-V IOMMU");
MODULE_LICENSE("GPL");
