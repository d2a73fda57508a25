// SPDX-License-Identifier: GPL-2.0
/*
 * The only place that touches counter CSRs. Their number is part of the
 * instruction, so each needs a line of its own.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <kunit/static_stub.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/of.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/wordpart.h>

#include <asm/asm-extable.h>
#include <asm/pmu_csr.h>

#include "csr.h"

#ifdef CONFIG_64BIT
#define CSR_READER(n)							\
static u64 csr_read_ctr_##n(void)					\
{									\
	u64 value = csr_read(CSR_CYCLE + (n));				\
									\
	return value;							\
}
#else
/* Until the halves belong together (Unprivileged ISA, Zicntr, reading of 64-bit counters) */
#define CSR_READER(n)							\
static u64 csr_read_ctr_##n(void)					\
{									\
	u32 high, low;							\
									\
	do {								\
		high = csr_read(CSR_CYCLEH + (n));			\
		low = csr_read(CSR_CYCLE + (n));			\
	} while (csr_read(CSR_CYCLEH + (n)) != high);			\
									\
	return (u64)high << 32 | low;					\
}
#endif

#define CSR_READER_NAME(n)	csr_read_ctr_##n,

#define CSR_EACH_CTR(_)								\
	_(0) _(1) _(2) _(3) _(4) _(5) _(6) _(7) _(8) _(9) _(10)			\
	_(11) _(12) _(13) _(14) _(15) _(16) _(17) _(18) _(19) _(20)		\
	_(21) _(22) _(23) _(24) _(25) _(26) _(27) _(28) _(29) _(30) _(31)

CSR_EACH_CTR(CSR_READER)

static const riscv_pmu_read_fn csr_readers[PMU_CSR_CTR_NUM] = {
	CSR_EACH_CTR(CSR_READER_NAME)
};

/**
 * riscv_pmu_csr_reader() - how to read a counter
 * @ctr:	its number, 0 (cycle) to 31 (hpmcounter31)
 *
 * A function of its own for each, since the number is part of the instruction
 * and context switches should not have to look it up.
 *
 * Return: a function that returns the counter's value on the hart that calls
 * it; bits above the counter's width are undefined. Context: any.
 */
riscv_pmu_read_fn riscv_pmu_csr_reader(unsigned int ctr)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_reader, ctr);

	return csr_readers[ctr];
}

/**
 * riscv_pmu_csr_is_readable() - whether S-mode may read a fixed counter
 * @ctr:	PMU_CSR_CTR_CYCLE or PMU_CSR_CTR_INSTRET
 *
 * M-mode may not have delegated it (mcounteren); the trap that follows is
 * caught.
 *
 * Context: any.
 * Return: true if it was read.
 */
bool riscv_pmu_csr_is_readable(unsigned int ctr)
{
	unsigned long ok = 0;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_is_readable, ctr);

	if (ctr == PMU_CSR_CTR_CYCLE)
		asm volatile("1: csrr zero, " __stringify(CSR_CYCLE) "\n"
			     "	li %0, 1\n"
			     "2:\n"
			     _ASM_EXTABLE(1b, 2b)
			     : "+r" (ok));
	else if (ctr == PMU_CSR_CTR_INSTRET)
		asm volatile("1: csrr zero, " __stringify(CSR_INSTRET) "\n"
			     "	li %0, 1\n"
			     "2:\n"
			     _ASM_EXTABLE(1b, 2b)
			     : "+r" (ok));

	return ok;
}

/**
 * riscv_pmu_csr_read_ovf() - which hardware counters have overflowed
 * @csr:	CSR_SCOUNTOVF, or the number that a vendor gave it
 *
 * Context: interrupts off.
 * Return: bit n for hpmcounter n. Counters that nobody uses may be in it.
 */
u64 riscv_pmu_csr_read_ovf(unsigned int csr)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_read_ovf, csr);

	switch (csr) {
	case CSR_SCOUNTOVF:
		return csr_read(CSR_SCOUNTOVF);
	case PMU_CSR_THEAD_SCOUNTEROF:
		return csr_read(PMU_CSR_THEAD_SCOUNTEROF);
	case PMU_CSR_ANDES_SCOUNTEROF:
		return csr_read(PMU_CSR_ANDES_SCOUNTEROF);
	}

	return 0;
}

/**
 * riscv_pmu_csr_ack_irq() - clear the pending bit of the overflow interrupt
 * @csr:	CSR_IP, or where a vendor put it
 * @hwirq:	its number
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_ack_irq(unsigned int csr, unsigned int hwirq)
{
	unsigned long mask = BIT(hwirq % BITS_PER_LONG);

	if (csr == PMU_CSR_ANDES_SLIP)
		csr_clear(PMU_CSR_ANDES_SLIP, mask);
	else
		csr_clear(CSR_IP, mask);
}

/**
 * riscv_pmu_csr_can_enable_irq() - whether a local interrupt's enable bit sticks
 * @hwirq:	its number, below BITS_PER_LONG
 *
 * The bit is read-only zero where M-mode did not delegate the interrupt, and
 * in QEMU 10.0.11 to 10.0.13.
 *
 * Context: the interrupt has no handler yet; it is not enabled on return.
 * Return: true if it can be enabled.
 */
bool riscv_pmu_csr_can_enable_irq(unsigned int hwirq)
{
	unsigned long flags, mask = BIT(hwirq % BITS_PER_LONG);
	bool sticks;

	local_irq_save(flags);
	csr_set(CSR_IE, mask);
	sticks = csr_read_clear(CSR_IE, mask) & mask;
	local_irq_restore(flags);

	return sticks;
}

/**
 * riscv_pmu_csr_set_user_mask() - set what user mode may read on this hart
 * @ctrs:	PMU_SCOUNTEREN_* bits
 */
void riscv_pmu_csr_set_user_mask(u32 ctrs)
{
	csr_write(CSR_SCOUNTEREN, ctrs);
}

/* What S-mode can reach of each hart's counters: their values; what they count, and when. */
static DEFINE_PER_CPU(u32, csr_values);
static DEFINE_PER_CPU(u32, csr_events);
/* csr_values and csr_events were copied from another hart, because this one was offline. */
static DEFINE_PER_CPU(bool, csr_assumed);

#define CSR_HAS_VALUE	1
#define CSR_HAS_EVENT	2

/* A counter or a CSR that S-mode does not have traps (Smcdeleg), which is caught. */
static unsigned int csr_probe_delegated(unsigned int ctr)
{
	unsigned long select = PMU_ISELECT_CTR + ctr;
	unsigned int has = 0;

	asm volatile("1: csrrw %1, " __stringify(CSR_SISELECT) ", %1\n"
		     "2: csrr zero, " __stringify(CSR_SIREG) "\n"
		     "	ori %0, %0, %2\n"
		     "3: csrr zero, " __stringify(PMU_CSR_SIREG2) "\n"
		     "	ori %0, %0, %3\n"
		     "4: csrw " __stringify(CSR_SISELECT) ", %1\n"
		     "5:\n"
		     _ASM_EXTABLE(1b, 5b)
		     _ASM_EXTABLE(2b, 4b)
		     _ASM_EXTABLE(3b, 4b)
		     : "+r" (has), "+r" (select)
		     : "i" (CSR_HAS_VALUE), "i" (CSR_HAS_EVENT));

	return has;
}

static bool csr_has_inhibit(void)
{
	unsigned long ok = 0;

	asm volatile("1: csrr zero, " __stringify(PMU_CSR_SCOUNTINHIBIT) "\n"
		     "	li %0, 1\n"
		     "2:\n"
		     _ASM_EXTABLE(1b, 2b)
		     : "+r" (ok));

	return ok;
}

/* QEMU 10.0.2 lets S-mode at scountinhibit even where M-mode delegates nothing: not enough. */
static void csr_find_delegated_hart(void *unused)
{
	u32 values = 0, events = 0;

	for (unsigned int ctr = 0; ctr < PMU_CSR_CTR_NUM; ctr++) {
		unsigned int has = ctr == PMU_CSR_CTR_TIME ? 0 : csr_probe_delegated(ctr);

		values |= has & CSR_HAS_VALUE ? BIT(ctr) : 0;
		events |= has & CSR_HAS_EVENT ? BIT(ctr) : 0;
	}
	this_cpu_write(csr_values, csr_has_inhibit() ? values : 0);
	this_cpu_write(csr_events, events);
}

static bool csr_hart_has_ssccfg(unsigned int cpu)
{
	struct device_node *node = of_get_cpu_node(cpu, NULL);
	bool has = of_property_match_string(node, "riscv,isa-extensions", "ssccfg") >= 0 &&
		   of_property_match_string(node, "riscv,isa-extensions", "sscsrind") >= 0;

	of_node_put(node);
	return has;
}

/*
 * The devicetree says which harts to try. Those that are not online can not be tried:
 * they are assumed to equal the first one that was and has any, until they come up.
 */
static void csr_find_delegated(const struct cpumask *cpus)
{
	u32 values = 0, events = 0;
	unsigned int cpu;

	for_each_cpu(cpu, cpus) {
		bool has = csr_hart_has_ssccfg(cpu);

		per_cpu(csr_values, cpu) = 0;
		per_cpu(csr_events, cpu) = 0;
		per_cpu(csr_assumed, cpu) = has &&
			smp_call_function_single(cpu, csr_find_delegated_hart, NULL, 1);
		if (!has || per_cpu(csr_assumed, cpu))
			continue;
		if (!per_cpu(csr_values, cpu))
			pr_info_once("hart %u has Ssccfg, but no counter was delegated to it: does the firmware set menvcfg.CDE and mcounteren?\n",
				     cpu);
		if (values)
			continue;
		values = per_cpu(csr_values, cpu);
		events = per_cpu(csr_events, cpu);
	}

	for_each_cpu(cpu, cpus) {
		if (!per_cpu(csr_assumed, cpu))
			continue;
		per_cpu(csr_values, cpu) = values;
		per_cpu(csr_events, cpu) = events;
	}
}

/**
 * riscv_pmu_csr_find_delegated() - counters that M-mode has left to S-mode
 * @cpus:	in: harts to look at; out: the first that has any, and those like it
 * @values:	out: counters whose value they can write
 * @events:	out: counters whose event, or filters, they can write
 *
 * Bit n is hpmcounter n. The devicetree has to say that a hart has Ssccfg; what
 * it says is then tried, if the hart is online.
 *
 * Context: process; interrupts on.
 * Return: 0, or -ENODEV if none of the harts has any.
 */
int riscv_pmu_csr_find_delegated(struct cpumask *cpus, u32 *values, u32 *events)
{
	unsigned int cpu;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_find_delegated, cpus, values, events);

	*values = 0;
	*events = 0;
	csr_find_delegated(cpus);
	for_each_cpu(cpu, cpus) {
		if (!*values) {
			*values = per_cpu(csr_values, cpu);
			*events = per_cpu(csr_events, cpu);
		}
		if (!*values || per_cpu(csr_values, cpu) != *values ||
		    per_cpu(csr_events, cpu) != *events)
			cpumask_clear_cpu(cpu, cpus);
	}

	return *values ? 0 : -ENODEV;
}

/**
 * riscv_pmu_csr_confirm() - check this hart's delegated counters, if they were assumed at boot
 *
 * riscv_pmu_csr_find_delegated() could not try those of a hart that was offline, and assumed
 * that they are those of another hart.
 *
 * Context: CPU hotplug on this hart, interrupts off.
 * Return: false if the hart was offline then and its delegated counters differ.
 */
bool riscv_pmu_csr_confirm(void)
{
	u32 values = this_cpu_read(csr_values), events = this_cpu_read(csr_events);

	if (!this_cpu_read(csr_assumed))
		return true;

	this_cpu_write(csr_assumed, false);
	csr_find_delegated_hart(NULL);
	return this_cpu_read(csr_values) == values && this_cpu_read(csr_events) == events;
}

/**
 * riscv_pmu_csr_inhibit() - stop delegated counters, all at once
 * @ctrs:	bit n for hpmcounter n; others stay as they are
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_inhibit(u32 ctrs)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_inhibit, ctrs);

	csr_set(PMU_CSR_SCOUNTINHIBIT, ctrs);
}

/**
 * riscv_pmu_csr_uninhibit() - start delegated counters, all at once
 * @ctrs:	bit n for hpmcounter n; others stay as they are
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_uninhibit(u32 ctrs)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_uninhibit, ctrs);

	csr_clear(PMU_CSR_SCOUNTINHIBIT, ctrs);
}

/**
 * riscv_pmu_csr_select() - choose what is behind sireg and its companions
 * @select:	PMU_ISELECT_CTR + n for counter n, or what this function returned
 *
 * The interrupt controller of AIA selects its registers the same way, and may
 * have been interrupted half way: whoever selects puts the old value back.
 *
 * Context: interrupts off.
 * Return: what was selected before.
 */
unsigned long riscv_pmu_csr_select(unsigned long select)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_select, select);

	return csr_swap(CSR_SISELECT, select);
}

static u64 csr_read_value(void)
{
	u64 value = csr_read(CSR_SIREG);

	if (IS_ENABLED(CONFIG_32BIT))
		value |= (u64)csr_read(PMU_CSR_SIREG4) << 32;
	return value;
}

/**
 * riscv_pmu_csr_read_value() - the selected counter
 *
 * Context: interrupts off; the counter stands, or halves may not belong together.
 * Return: its value.
 */
u64 riscv_pmu_csr_read_value(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_read_value);

	return csr_read_value();
}

static void csr_write_value(u64 value)
{
	csr_write(CSR_SIREG, (unsigned long)value);
	if (IS_ENABLED(CONFIG_32BIT))
		csr_write(PMU_CSR_SIREG4, upper_32_bits(value));
}

static void csr_write_event(u64 event)
{
	csr_write(PMU_CSR_SIREG2, (unsigned long)event);
	if (IS_ENABLED(CONFIG_32BIT))
		csr_write(PMU_CSR_SIREG5, upper_32_bits(event));
}

/**
 * riscv_pmu_csr_write_value() - set the selected counter
 * @value:	its value
 *
 * Context: interrupts off; the counter stands.
 */
void riscv_pmu_csr_write_value(u64 value)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_write_value, value);

	csr_write_value(value);
}

/**
 * riscv_pmu_csr_read_event() - what the selected counter counts
 *
 * Context: interrupts off.
 * Return: PMU_HPMEVENT_* bits.
 */
u64 riscv_pmu_csr_read_event(void)
{
	u64 event;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_read_event);

	event = csr_read(PMU_CSR_SIREG2);
	if (IS_ENABLED(CONFIG_32BIT))
		event |= (u64)csr_read(PMU_CSR_SIREG5) << 32;
	return event;
}

/**
 * riscv_pmu_csr_write_event() - choose what the selected counter counts
 * @event:	PMU_HPMEVENT_* bits
 *
 * Context: interrupts off; the counter stands.
 */
void riscv_pmu_csr_write_event(u64 event)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_write_event, event);

	csr_write_event(event);
}

/**
 * riscv_pmu_csr_exchange() - restart a counter from another value, and return the old one
 * @ctr:	its number, 0 to 31; it runs before and afterwards
 * @event:	PMU_HPMEVENT_* bits, as it has them already but for the overflow flag
 * @value:	what it starts from
 *
 * Context: interrupts off.
 * Return: its value when it stopped. The few instructions until it starts are not counted.
 */
u64 riscv_pmu_csr_exchange(unsigned int ctr, u64 event, u64 value)
{
	unsigned long select;
	u64 was;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_exchange, ctr, event, value);

	select = csr_swap(CSR_SISELECT, PMU_ISELECT_CTR + ctr);
	csr_set(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
	was = csr_read_value();
	csr_write_event(event);
	csr_write_value(value);
	csr_clear(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
	csr_write(CSR_SISELECT, select);
	return was;
}

/**
 * riscv_pmu_csr_reload() - start a counter anew
 * @ctr:	its number, 0 to 31; stopped or not, it runs afterwards
 * @event:	PMU_HPMEVENT_* bits, as it has them already but for the overflow flag
 * @value:	what it starts from
 *
 * All that the usual end of an overflow takes.
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_reload(unsigned int ctr, u64 event, u64 value)
{
	unsigned long select;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_reload, ctr, event, value);

	csr_set(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
	select = csr_swap(CSR_SISELECT, PMU_ISELECT_CTR + ctr);
	/* The flag first: where it is set, QEMU 10.0.2 never tells the next overflow. */
	csr_write_event(event);
	csr_write_value(value);
	csr_write(CSR_SISELECT, select);
	csr_clear(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
}
