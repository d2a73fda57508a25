// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the IOMMU's performance monitor with simulated registers. These follow the
 * specification where QEMU does not have all of it: counters have fewer than 64 bits and count
 * between two accesses, and an access of 8 bytes is split in two of 4 (RISC-V IOMMU
 * Architecture 1.0, chapter 6).
 *
 * The file is long, because the source of the driver is included here, and compiled for these
 * registers. The driver itself is not affected.
 */

#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>

static u32 fake_readl(const void __iomem *addr);
static u64 fake_readq(const void __iomem *addr);
static void fake_writel(u32 value, void __iomem *addr);
static void fake_writeq(u64 value, void __iomem *addr);

#undef readl_relaxed
#undef readq_relaxed
#undef writel_relaxed
#undef writeq_relaxed
#define readl_relaxed	fake_readl
#define readq_relaxed	fake_readq
#define writel_relaxed	fake_writel
#define writeq_relaxed	fake_writeq

#undef module_init
#undef module_exit
#undef module_param_named
#undef MODULE_PARM_DESC
#undef MODULE_DEVICE_TABLE
#undef MODULE_DESCRIPTION
#undef MODULE_LICENSE
#define module_init(fn)		static int (*fake_module_init)(void) __maybe_unused = fn
#define module_exit(fn)		static void (*fake_module_exit)(void) __maybe_unused = fn
#define module_param_named(...)
#define MODULE_PARM_DESC(...)
#define MODULE_DEVICE_TABLE(...)
#define MODULE_DESCRIPTION(...)
#define MODULE_LICENSE(...)

#include "../../riscv_iommu_pmu.c"

#define FAKE_REGS	0x100000UL

/**
 * struct fake_iommu - the simulated registers, and their behaviour
 * @hpm:	the driver's data
 * @ctr:	the counters; 0 is cycles
 * @of:		the counters' overflow flags
 * @evt:	the event registers of the other counters, without OF
 * @inhibited:	iocountinh
 * @nr_inhibits: number of writes of iocountinh
 * @resets_cycles: QEMU's bug: each write of iocountinh that leaves another counter inhibited
 *		resets cycles to @cycles_at
 * @cycles_at:	the value of cycles when they were last started
 * @ctrs:	counters that exist
 * @width:	width of all counters except cycles, which have 63 bits
 * @step:	number of events that each running counter counts at each access
 * @late:	number of events that counter 2 counts after the next read of iocountovf
 * @pending:	PMIP
 * @sticky:	QEMU's bug: PMIP cannot be cleared
 * @upper_first: an access of 8 bytes accesses the high half first
 */
struct fake_iommu {
	struct hpm	hpm;
	u64		ctr[HPM_NR_CTRS];
	u32		of;
	u64		evt[HPM_NR_CTRS];
	u32		inhibited;
	unsigned int	nr_inhibits;
	bool		resets_cycles;
	u64		cycles_at;
	u32		ctrs;
	unsigned int	width;
	u64		step;
	u64		late;
	bool		pending;
	bool		sticky;
	bool		upper_first;
};

/* The tests of a suite do not run in parallel, so one is enough. */
static struct fake_iommu *fake;

static u64 fake_mask(unsigned int ctr)
{
	return GENMASK_ULL((ctr == HPM_CTR_CYCLES ? 63 : fake->width) - 1, 0);
}

static void fake_count(unsigned int ctr, u64 requests)
{
	u64 was = fake->ctr[ctr];

	if (fake->inhibited & BIT(ctr) || (ctr != HPM_CTR_CYCLES && !fake->evt[ctr]))
		return;

	fake->ctr[ctr] = (was + requests) & fake_mask(ctr);
	if (fake->ctr[ctr] >= was || fake->of & BIT(ctr))
		return;
	fake->of |= BIT(ctr);
	fake->pending = true;
}

static void fake_step(void)
{
	for (u32 ctrs = fake->step ? fake->ctrs : 0; ctrs; ctrs &= ctrs - 1)
		fake_count(__ffs(ctrs), fake->step);
}

static void fake_set_of(unsigned int ctr, bool of)
{
	fake->of = (fake->of & ~BIT(ctr)) | (of ? BIT(ctr) : 0);
}

/*
 * Returns the counter (fake_ctr_at()) or the event register (fake_evt_at()) that @reg is the low
 * or high half of, or -1.
 */
static int fake_ctr_at(unsigned long reg)
{
	if (reg >= HPM_REG_IOHPMCYCLES && reg < HPM_REG_IOHPMCTR(HPM_NR_CTRS))
		return (reg - HPM_REG_IOHPMCYCLES) / 8;
	return -1;
}

static int fake_evt_at(unsigned long reg)
{
	if (reg >= HPM_REG_IOHPMEVT(1) && reg < HPM_REG_IOHPMEVT(HPM_NR_CTRS))
		return (reg - HPM_REG_IOHPMEVT(1)) / 8 + 1;
	return -1;
}

static u64 fake_get(unsigned int ctr)
{
	u64 of = ctr == HPM_CTR_CYCLES && fake->of & BIT(ctr) ? HPM_IOHPMCYCLES_OF : 0;

	return fake->ctr[ctr] | of;
}

static void fake_set(unsigned int ctr, u64 value)
{
	if (!(fake->ctrs & BIT(ctr)))
		return;
	fake->ctr[ctr] = value & fake_mask(ctr);
	if (ctr != HPM_CTR_CYCLES)
		return;
	fake->cycles_at = fake->ctr[ctr];
	fake_set_of(ctr, value & HPM_IOHPMCYCLES_OF);
}

static u32 fake_readl(const void __iomem *addr)
{
	unsigned long reg = (unsigned long)addr - FAKE_REGS;
	u32 of = fake->of;

	fake_step();
	switch (reg) {
	case HPM_REG_IPSR:
		return fake->pending || fake->sticky ? HPM_IPSR_PMIP : 0;
	case HPM_REG_IOCOUNTINH:
		return fake->inhibited & fake->ctrs;
	case HPM_REG_IOCOUNTOVF:
		fake_count(2, fake->late);
		fake->late = 0;
		return of;
	}
	if (fake_ctr_at(reg) < 0)
		return 0;
	return fake_get(fake_ctr_at(reg)) >> (reg & 4 ? 32 : 0);
}

static void fake_inhibit(u32 value)
{
	u32 cycles = BIT(HPM_CTR_CYCLES);

	fake->nr_inhibits++;
	fake->inhibited = value & fake->ctrs;
	if (fake->resets_cycles && !(fake->inhibited & cycles) && fake->inhibited)
		fake->ctr[HPM_CTR_CYCLES] = fake->cycles_at;
	fake->cycles_at = fake->ctr[HPM_CTR_CYCLES];
}

static void fake_writel(u32 value, void __iomem *addr)
{
	unsigned long reg = (unsigned long)addr - FAKE_REGS;

	fake_step();
	if (reg == HPM_REG_IPSR && value & HPM_IPSR_PMIP)
		fake->pending = false;
	else if (reg == HPM_REG_IOCOUNTINH)
		fake_inhibit(value);
}

static u64 fake_readq(const void __iomem *addr)
{
	u32 low = fake_readl(addr);

	return (u64)fake_readl(addr + 4) << 32 | low;
}

static void fake_write_half(unsigned int ctr, u64 value, bool upper)
{
	u64 half = upper ? GENMASK_ULL(63, 32) : GENMASK_ULL(31, 0);

	fake_step();
	fake_set(ctr, (fake_get(ctr) & ~half) | (value & half));
}

static void fake_writeq(u64 value, void __iomem *addr)
{
	unsigned long reg = (unsigned long)addr - FAKE_REGS;
	int evt = fake_evt_at(reg);

	if (evt >= 0) {
		fake_step();
		fake->evt[evt] = value & HPM_CONFIG_BITS;
		fake_set_of(evt, value & HPM_IOHPMEVT_OF);
	} else if (fake_ctr_at(reg) >= 0) {
		fake_write_half(fake_ctr_at(reg), value, fake->upper_first);
		fake_write_half(fake_ctr_at(reg), value, !fake->upper_first);
	}
}

/* --- a monitor, its events, and its interrupt --- */

static void fake_create(struct kunit *test, unsigned int width)
{
	struct device *dev = kunit_device_register(test, "fake-iommu");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->ctrs = U32_MAX;
	fake->width = width;
	fake->hpm.dev = dev;
	fake->hpm.reg = (void __iomem *)FAKE_REGS;
	raw_spin_lock_init(&fake->hpm.lock);
	hpm_init_pmu(&fake->hpm);
	/* The firmware may have left the counters in such a state. */
	for (unsigned int ctr = 0; ctr < HPM_NR_CTRS; ctr++) {
		fake->ctr[ctr] = 5;
		fake->evt[ctr] = 1;
	}
	hpm_find_ctrs(&fake->hpm);
}

static struct perf_event *fake_add(struct kunit *test, u64 config)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->pmu = &fake->hpm.pmu;
	event->group_leader = event;
	INIT_LIST_HEAD(&event->sibling_list);
	event->attr.config = config;
	KUNIT_ASSERT_EQ(test, hpm_event_add(event, PERF_EF_START), 0);
	return event;
}

static u64 fake_read(struct perf_event *event)
{
	hpm_event_read(event);
	return local64_read(&event->count);
}

/* Counts events, and raises an interrupt if it becomes pending. */
static void fake_count_and_interrupt(unsigned int ctr, u64 requests)
{
	fake_count(ctr, requests);
	if (fake->pending)
		hpm_interrupt(0, &fake->hpm);
}

/* --- the tests --- */

static void iommu_widths_are_measured(struct kunit *test)
{
	static const unsigned int widths[] = { 32, 36, 40, 48, 63, 64 };

	for (unsigned int i = 0; i < ARRAY_SIZE(widths); i++) {
		fake_create(test, widths[i]);
		KUNIT_EXPECT_EQ(test, fake->hpm.ctrs, U32_MAX);
		KUNIT_EXPECT_EQ(test, fake->hpm.width[HPM_CTR_CYCLES], 63);
		for (unsigned int ctr = 1; ctr < HPM_NR_CTRS; ctr++) {
			KUNIT_EXPECT_EQ(test, fake->hpm.width[ctr], widths[i]);
			KUNIT_EXPECT_EQ(test, fake->evt[ctr], 0);
		}
		KUNIT_EXPECT_EQ(test, hpm_min_width(&fake->hpm), widths[i]);
		KUNIT_EXPECT_EQ(test, hpm_check_ctrs(&fake->hpm), 0);
		KUNIT_EXPECT_EQ(test, fake->inhibited, U32_MAX);
		kunit_device_unregister(test, fake->hpm.dev);
	}
}

static void iommu_missing_counters_are_not_used(struct kunit *test)
{
	fake_create(test, 40);
	fake->ctrs = BIT(1) | BIT(2);
	hpm_find_ctrs(&fake->hpm);
	KUNIT_EXPECT_EQ(test, fake->hpm.ctrs, BIT(1) | BIT(2));
	fake_add(test, 1);
	KUNIT_EXPECT_EQ(test, fake_add(test, 1)->hw.idx, 2);
	KUNIT_EXPECT_EQ(test, fake->hpm.used, BIT(1) | BIT(2));
}

static void iommu_counters_of_less_than_32_bits_are_refused(struct kunit *test)
{
	fake_create(test, 31);
	KUNIT_EXPECT_EQ(test, hpm_check_ctrs(&fake->hpm), -ENODEV);
	fake->ctrs = 0;
	hpm_find_ctrs(&fake->hpm);
	KUNIT_EXPECT_EQ(test, hpm_check_ctrs(&fake->hpm), -ENODEV);
}

/* Each overflow interrupt is late by a quarter of the counter's range. */
static void iommu_a_narrow_counter_wraps_without_loss(struct kunit *test)
{
	static const unsigned int widths[] = { 32, 36, 63, 64 };

	for (unsigned int i = 0; i < ARRAY_SIZE(widths); i++) {
		u64 much = (1ULL << (widths[i] - 1)) + (1ULL << (widths[i] - 2)) + 12345;
		struct perf_event *event;

		fake_create(test, widths[i]);
		event = fake_add(test, 1);
		KUNIT_EXPECT_EQ(test, fake->ctr[1], 1ULL << (widths[i] - 1));
		for (u64 turn = 1; turn <= 100; turn++) {
			fake_count_and_interrupt(1, much);
			KUNIT_EXPECT_EQ(test, fake_read(event), turn * much);
		}
		KUNIT_EXPECT_FALSE(test, fake->hpm.polled);
		kunit_device_unregister(test, fake->hpm.dev);
	}
}

static void iommu_cycles_wrap_without_loss(struct kunit *test)
{
	struct perf_event *event;

	fake_create(test, 40);
	event = fake_add(test, 0);
	KUNIT_EXPECT_EQ(test, event->hw.idx, HPM_CTR_CYCLES);
	KUNIT_EXPECT_EQ(test, fake->ctr[HPM_CTR_CYCLES], 1ULL << 62);
	for (u64 turn = 1; turn <= 100; turn++) {
		fake_count_and_interrupt(HPM_CTR_CYCLES, 3ULL << 61);
		KUNIT_EXPECT_EQ(test, fake_read(event), turn * (3ULL << 61));
	}
	KUNIT_EXPECT_FALSE(test, fake->of & BIT(HPM_CTR_CYCLES));
}

/*
 * A carry occurs at any of the accesses of a read, or at several, or at all of them, as if each was
 * delayed for long. The result has to be a value that the counter had during the read.
 */
static void iommu_a_carry_during_a_read_is_handled(struct kunit *test)
{
	static const u64 steps[] = { 1, 2, 3, U32_MAX / 5, U32_MAX / 2, 3ULL << 31, 5ULL << 32 };

	fake_create(test, 48);
	fake_add(test, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		for (u64 before = 1; before <= 16; before++) {
			u64 first = (7ULL << 32) - before, value;

			fake->step = 0;
			fake_set(1, first);
			fake->step = steps[i];
			value = hpm_read_ctr(&fake->hpm, 1);
			KUNIT_EXPECT_GE(test, value, first + steps[i]);
			KUNIT_EXPECT_LE(test, value, fake->ctr[1]);
			/* It does not read without end. */
			KUNIT_EXPECT_LE(test, fake->ctr[1],
					first + steps[i] * (1 + 2 * HPM_MAX_READS));
		}
	}
}

/* A carry occurs at any of the accesses of a write. The counter has to count from the value. */
static void iommu_a_carry_during_a_write_is_handled(struct kunit *test)
{
	const u64 first = 5ULL << 32;

	fake_create(test, 48);
	fake_add(test, 1);
	for (unsigned int order = 0; order <= 1; order++) {
		fake->upper_first = order;
		for (u64 before = 1; before <= 16; before++) {
			fake->step = 0;
			fake_set(1, (7ULL << 32) - before);
			fake->step = 1;
			hpm_write_ctr(&fake->hpm, 1, first);
			KUNIT_EXPECT_GE(test, fake->ctr[1], first);
			KUNIT_EXPECT_LE(test, fake->ctr[1], first + 16);
		}
	}
}

/*
 * A counter overflows after the handler has read the flags. This interrupt or the next one has to
 * handle it.
 */
static void iommu_an_overflow_during_the_interrupt_is_handled(struct kunit *test)
{
	const u64 half = 1ULL << 35;
	struct perf_event *first, *second;

	fake_create(test, 36);
	first = fake_add(test, 1);
	second = fake_add(test, 2);
	for (u64 turn = 1; turn <= 100; turn++) {
		fake->late = half + 2;
		fake_count_and_interrupt(1, half + 1);
		while (fake->pending)
			KUNIT_ASSERT_EQ(test, hpm_interrupt(0, &fake->hpm), IRQ_HANDLED);
		KUNIT_EXPECT_EQ(test, fake->of, 0);
		KUNIT_EXPECT_EQ(test, fake_read(first), turn * (half + 1));
		KUNIT_EXPECT_EQ(test, fake_read(second), turn * (half + 2));
	}
	KUNIT_EXPECT_EQ(test, hpm_interrupt(0, &fake->hpm), IRQ_NONE);
}

/* With QEMU's bug the counters are polled, and their overflow flags stay set. */
static void iommu_counters_are_polled_if_the_interrupt_stays_pending(struct kunit *test)
{
	const u64 half = 1ULL << 35;
	struct perf_event *event, *cycles;

	fake_create(test, 36);
	event = fake_add(test, 1);
	cycles = fake_add(test, 0);
	fake->sticky = true;
	fake_count_and_interrupt(1, half + 1);
	KUNIT_EXPECT_TRUE(test, fake->hpm.polled);
	KUNIT_EXPECT_TRUE(test, hrtimer_active(&fake->hpm.poll));
	hrtimer_cancel(&fake->hpm.poll);
	KUNIT_EXPECT_EQ(test, fake->of, BIT(HPM_CTR_CYCLES) | BIT(1));
	for (u64 turn = 1; turn <= 100; turn++) {
		fake_count(1, half - 1);
		fake_count(HPM_CTR_CYCLES, half);
		hpm_poll(&fake->hpm.poll);
		KUNIT_EXPECT_EQ(test, fake_read(event), half + 1 + turn * (half - 1));
		KUNIT_EXPECT_EQ(test, fake_read(cycles), turn * half);
	}
	KUNIT_EXPECT_FALSE(test, fake->pending);
	hpm_event_del(event, 0);
	hpm_event_del(cycles, 0);
	KUNIT_EXPECT_EQ(test, hpm_poll(&fake->hpm.poll), HRTIMER_NORESTART);
}

/* A stopped event keeps its count, and later events are not added to it. */
static void iommu_a_stopped_event_does_not_count(struct kunit *test)
{
	struct perf_event *event;

	fake_create(test, 36);
	event = fake_add(test, 1);
	fake_count(1, 1000);
	hpm_event_stop(event, 0);
	fake_count(1, 1000);
	KUNIT_EXPECT_EQ(test, fake_read(event), 1000);
	hpm_event_start(event, 0);
	fake_count(1, 1000);
	hpm_event_del(event, 0);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 2000);
	KUNIT_EXPECT_EQ(test, fake->inhibited, U32_MAX);
	KUNIT_EXPECT_EQ(test, fake->hpm.used, 0);
}

/* A group of cycles and two events, which perf adds and deletes. */
#define GROUP	3

static void fake_add_group(struct kunit *test, struct perf_event *group[GROUP])
{
	hpm_pmu_disable(&fake->hpm.pmu);
	for (unsigned int i = 0; i < GROUP; i++) {
		group[i] = fake_add(test, i);
		group[i]->group_leader = group[0];
		if (i)
			list_add_tail(&group[i]->sibling_list, &group[0]->sibling_list);
	}
	hpm_pmu_enable(&fake->hpm.pmu);
}

static void fake_delete_group(struct perf_event *group[GROUP])
{
	hpm_pmu_disable(&fake->hpm.pmu);
	for (unsigned int i = 0; i < GROUP; i++)
		hpm_event_del(group[i], 0);
	hpm_pmu_enable(&fake->hpm.pmu);
}

/*
 * Each access makes running counters count. So the counts of the members differ unless they start
 * and stop together.
 */
static void iommu_a_group_starts_and_stops_by_one_write(struct kunit *test)
{
	struct perf_event *group[GROUP];
	unsigned int before;

	fake_create(test, 64);
	KUNIT_EXPECT_TRUE(test, fake->hpm.inhibits);
	fake->step = 1;
	before = fake->nr_inhibits;
	fake_add_group(test, group);
	KUNIT_EXPECT_EQ(test, fake->nr_inhibits, before + 1);
	KUNIT_EXPECT_EQ(test, fake->inhibited, ~7U);
	for (unsigned int i = 0; i < 100; i++)
		fake_step();

	fake_delete_group(group);
	KUNIT_EXPECT_EQ(test, fake->nr_inhibits, before + 2);
	KUNIT_EXPECT_EQ(test, fake->inhibited, U32_MAX);
	for (unsigned int i = 0; i < GROUP; i++)
		KUNIT_EXPECT_EQ(test, local64_read(&group[i]->count), 101);
}

/* If the leader is closed, the other members keep counting. */
static void iommu_siblings_count_after_the_leader_is_removed(struct kunit *test)
{
	struct perf_event *group[GROUP];

	fake_create(test, 64);
	fake_add_group(test, group);
	hpm_pmu_disable(&fake->hpm.pmu);
	hpm_event_del(group[0], 0);
	hpm_pmu_enable(&fake->hpm.pmu);
	KUNIT_EXPECT_EQ(test, fake->inhibited, ~6U);
	fake_count(1, 1000);
	KUNIT_EXPECT_EQ(test, fake_read(group[1]), 1000);
}

/* The interrupt arrives when all counters are stopped, and has to clear their flags. */
static void iommu_overflow_of_a_stopped_counter_is_cleared(struct kunit *test)
{
	struct perf_event *event, *cycles;

	fake_create(test, 36);
	cycles = fake_add(test, 0);
	event = fake_add(test, 1);
	fake_count(HPM_CTR_CYCLES, BIT_ULL(62));
	fake_count(1, BIT_ULL(35));
	hpm_event_stop(event, 0);
	hpm_event_stop(cycles, 0);
	KUNIT_EXPECT_EQ(test, fake->of, BIT(HPM_CTR_CYCLES) | BIT(1));
	hpm_interrupt(0, &fake->hpm);
	KUNIT_EXPECT_EQ(test, fake->of, 0);
	KUNIT_EXPECT_EQ(test, fake_read(event), BIT_ULL(35));
	KUNIT_EXPECT_EQ(test, fake_read(cycles), BIT_ULL(62));
	hpm_event_start(event, 0);
	fake_count(1, 1000);
	KUNIT_EXPECT_EQ(test, fake_read(event), BIT_ULL(35) + 1000);
}

/* The driver does not see that perf stops a software leader: its first event stops the group. */
static void iommu_a_group_with_a_software_leader_stops_by_one_write(struct kunit *test)
{
	struct perf_event *leader = kunit_kzalloc(test, sizeof(*leader), GFP_KERNEL);
	struct perf_event *group[GROUP];
	struct pmu software = {};
	unsigned int before;

	KUNIT_ASSERT_NOT_NULL(test, leader);
	fake_create(test, 64);
	fake_add_group(test, group);
	leader->pmu = &software;
	leader->group_leader = leader;
	INIT_LIST_HEAD(&leader->sibling_list);
	for (unsigned int i = 0; i < GROUP; i++) {
		group[i]->group_leader = leader;
		list_del_init(&group[i]->sibling_list);
	}
	for (unsigned int i = 0; i < GROUP; i++)
		list_add_tail(&group[i]->sibling_list, &leader->sibling_list);
	fake->step = 1;
	before = fake->nr_inhibits;
	fake_delete_group(group);
	KUNIT_EXPECT_EQ(test, fake->nr_inhibits, before + 1);
	for (unsigned int i = 1; i < GROUP; i++)
		KUNIT_EXPECT_EQ(test, local64_read(&group[i]->count),
				local64_read(&group[0]->count));
}

static void iommu_probe_detects_that_iocountinh_resets_cycles(struct kunit *test)
{
	struct perf_event *group[GROUP];
	unsigned int before;

	fake_create(test, 64);
	fake->step = 1;
	hpm_find_ctrs(&fake->hpm);
	KUNIT_EXPECT_TRUE(test, fake->hpm.inhibits);
	fake->resets_cycles = true;
	hpm_find_ctrs(&fake->hpm);
	KUNIT_EXPECT_FALSE(test, fake->hpm.inhibits);
	KUNIT_EXPECT_EQ(test, fake->inhibited, 0);

	fake->step = 0;
	before = fake->nr_inhibits;
	fake_add_group(test, group);
	for (unsigned int i = 0; i < GROUP; i++)
		fake_count(group[i]->hw.idx, 1000);
	fake_delete_group(group);
	fake_count(1, 1000);
	KUNIT_EXPECT_EQ(test, fake->nr_inhibits, before);
	for (unsigned int i = 0; i < GROUP; i++)
		KUNIT_EXPECT_EQ(test, local64_read(&group[i]->count), 1000);
	KUNIT_EXPECT_EQ(test, fake->evt[1], 0);
}

/* After the shutdown there still are events, but no counter is started for them. */
static void iommu_no_counter_runs_after_shutdown(struct kunit *test)
{
	struct perf_event *event, *cycles, *late;

	for (unsigned int resets_cycles = 0; resets_cycles < 2; resets_cycles++) {
		fake_create(test, 64);
		fake->resets_cycles = resets_cycles;
		fake->step = 1;
		hpm_find_ctrs(&fake->hpm);
		fake->step = 0;
		cycles = fake_add(test, 0);
		event = fake_add(test, 1);
		fake_count(1, 1000);
		fake->pending = true;
		hpm_shut_down(&fake->hpm);
		KUNIT_EXPECT_FALSE(test, fake->pending);

		hpm_event_stop(event, 0);
		hpm_event_start(event, 0);
		hpm_pmu_disable(&fake->hpm.pmu);
		late = fake_add(test, 2);
		hpm_pmu_enable(&fake->hpm.pmu);
		KUNIT_EXPECT_EQ(test, fake_read(late), 0);
		fake_count(HPM_CTR_CYCLES, 1000);
		fake_count(1, 1000);
		KUNIT_EXPECT_EQ(test, fake_read(event), 1000);
		KUNIT_EXPECT_EQ(test, fake_read(cycles), 0);
		KUNIT_EXPECT_EQ(test, fake->inhibited, U32_MAX);
		for (unsigned int ctr = 1; ctr < HPM_NR_CTRS; ctr++)
			KUNIT_EXPECT_EQ(test, fake->evt[ctr], 0);
		kunit_device_unregister(test, fake->hpm.dev);
	}
}

struct iommu_config {
	const char	*what;
	u64		config;
	u64		config1;
	bool		valid;
};

static const struct iommu_config iommu_configs[] = {
	{ "cycles", 0, 0, true },
	{ "cycles of a device", BIT_ULL(61), 0, false },
	{ "an event", 1, 0, true },
	{ "an event of a vendor", 0x4001, 0, true },
	{ "OF", BIT_ULL(63) | 1, 0, false },
	{ "config1", 1, 1, false },
	{ "a device", BIT_ULL(61) | 8ULL << 36 | 1, 0, true },
	{ "IDT of TLB misses", HPM_CONFIG_IDT | 4, 0, true },
	{ "IDT of first-stage walks", HPM_CONFIG_IDT | 7, 0, true },
	{ "IDT of second-stage walks", HPM_CONFIG_IDT | 8, 0, true },
	{ "IDT of requests", HPM_CONFIG_IDT | 1, 0, false },
	{ "IDT of ATS requests", HPM_CONFIG_IDT | 3, 0, false },
	{ "IDT of device directory walks", HPM_CONFIG_IDT | 5, 0, false },
	{ "IDT of process directory walks", HPM_CONFIG_IDT | 6, 0, false },
	{ "IDT of an event of a vendor", HPM_CONFIG_IDT | 0x4001, 0, true },
};

KUNIT_ARRAY_PARAM_DESC(iommu_config, iommu_configs, what);

static void iommu_config_is_validated(struct kunit *test)
{
	const struct iommu_config *param = test->param_value;
	struct perf_event_attr attr = { .config = param->config, .config1 = param->config1 };

	KUNIT_EXPECT_EQ(test, hpm_config_is_valid(&attr), param->valid);
}

static struct kunit_case iommu_cases[] = {
	KUNIT_CASE(iommu_widths_are_measured),
	KUNIT_CASE(iommu_missing_counters_are_not_used),
	KUNIT_CASE(iommu_counters_of_less_than_32_bits_are_refused),
	KUNIT_CASE(iommu_a_narrow_counter_wraps_without_loss),
	KUNIT_CASE(iommu_cycles_wrap_without_loss),
	KUNIT_CASE(iommu_a_carry_during_a_read_is_handled),
	KUNIT_CASE(iommu_a_carry_during_a_write_is_handled),
	KUNIT_CASE(iommu_an_overflow_during_the_interrupt_is_handled),
	KUNIT_CASE(iommu_counters_are_polled_if_the_interrupt_stays_pending),
	KUNIT_CASE(iommu_a_stopped_event_does_not_count),
	KUNIT_CASE(iommu_a_group_starts_and_stops_by_one_write),
	KUNIT_CASE(iommu_siblings_count_after_the_leader_is_removed),
	KUNIT_CASE(iommu_overflow_of_a_stopped_counter_is_cleared),
	KUNIT_CASE(iommu_a_group_with_a_software_leader_stops_by_one_write),
	KUNIT_CASE(iommu_probe_detects_that_iocountinh_resets_cycles),
	KUNIT_CASE(iommu_no_counter_runs_after_shutdown),
	KUNIT_CASE_PARAM(iommu_config_is_validated, iommu_config_gen_params),
	{ }
};

static struct kunit_suite iommu_suite = {
	.name		= "riscv_pmu_iommu",
	.test_cases	= iommu_cases,
};

kunit_test_suite(iommu_suite);
