// SPDX-License-Identifier: GPL-2.0
/*
 * All accesses to counter CSRs. The number of a CSR is an immediate operand of the
 * instruction, so each counter needs a function of its own.
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
/* Repeat until the high half has not changed (Unprivileged ISA, Zicntr, 64-bit counters). */
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
 * riscv_pmu_csr_reader() - get the function that reads a counter
 * @ctr:	the counter's number, 0 (cycle) to 31 (hpmcounter31)
 *
 * There is one function per counter, because the number is part of the instruction, and
 * because a switch statement would slow down every context switch.
 *
 * Context: any.
 * Return: a function that returns the counter's value on the hart that calls
 * it; bits above the counter's width are undefined.
 */
riscv_pmu_read_fn riscv_pmu_csr_reader(unsigned int ctr)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_reader, ctr);

	return csr_readers[ctr];
}

/* Reads a CSR. If that traps, the exception table handles the trap, and the result is 0. */
#define CSR_IS_READABLE(csr)						\
({									\
	unsigned long ok = 0;						\
									\
	asm volatile("1: csrr zero, " __stringify(csr) "\n"		\
		     "	li %0, 1\n"					\
		     "2:\n"						\
		     _ASM_EXTABLE(1b, 2b)				\
		     : "+r" (ok));					\
	ok;								\
})

/**
 * riscv_pmu_csr_is_readable() - whether S-mode may read a fixed counter
 * @ctr:	PMU_CSR_CTR_CYCLE or PMU_CSR_CTR_INSTRET
 *
 * The read traps if M-mode has not enabled the counter in mcounteren.
 *
 * Context: any.
 * Return: true if the counter was read.
 */
bool riscv_pmu_csr_is_readable(unsigned int ctr)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_is_readable, ctr);

	if (ctr == PMU_CSR_CTR_CYCLE)
		return CSR_IS_READABLE(CSR_CYCLE);

	return ctr == PMU_CSR_CTR_INSTRET && CSR_IS_READABLE(CSR_INSTRET);
}

/**
 * riscv_pmu_csr_read_ovf() - read the overflow flags of the hardware counters
 * @csr:	CSR_SCOUNTOVF, or the number of the vendor's CSR in its place, or 0
 *
 * Context: interrupts off.
 * Return: bit n is set if hpmcounter n has overflowed. Flags of unused counters may be set too.
 * 0 if there is no such CSR.
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
 * riscv_pmu_csr_has_ovf() - whether this hart has a CSR with overflow flags
 * @csr:	number of the CSR
 *
 * A hart with the vendor's IDs may lack it: a guest has the IDs of its host.
 *
 * Context: any.
 * Return: true if the CSR exists and is readable.
 */
bool riscv_pmu_csr_has_ovf(unsigned int csr)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_has_ovf, csr);

	switch (csr) {
	case CSR_SCOUNTOVF:
		return CSR_IS_READABLE(CSR_SCOUNTOVF);
	case PMU_CSR_THEAD_SCOUNTEROF:
		return CSR_IS_READABLE(PMU_CSR_THEAD_SCOUNTEROF);
	case PMU_CSR_ANDES_SCOUNTEROF:
		return CSR_IS_READABLE(PMU_CSR_ANDES_SCOUNTEROF);
	}

	return false;
}

/**
 * riscv_pmu_csr_ack_irq() - clear the pending bit of the overflow interrupt
 * @csr:	CSR_IP, or the number of the vendor's CSR in its place
 * @hwirq:	number of the local interrupt
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_ack_irq(unsigned int csr, unsigned int hwirq)
{
	unsigned long mask = BIT(hwirq % BITS_PER_LONG);

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_ack_irq, csr, hwirq);

	if (csr == PMU_CSR_ANDES_SLIP)
		csr_clear(PMU_CSR_ANDES_SLIP, mask);
	else
		csr_clear(CSR_IP, mask);
}

/**
 * riscv_pmu_csr_can_enable_irq() - whether a local interrupt's enable bit is writable
 * @hwirq:	number of the interrupt, below BITS_PER_LONG
 *
 * The bit is read-only zero if M-mode has not delegated the interrupt, and
 * in QEMU 10.0.11 to 10.0.13.
 *
 * Context: any, before the interrupt has a handler. The interrupt is disabled on return.
 * Return: true if the interrupt can be enabled.
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
 * riscv_pmu_csr_set_user_mask() - set which counters user mode may read on this hart
 * @ctrs:	PMU_SCOUNTEREN_* bits
 *
 * Context: any.
 */
void riscv_pmu_csr_set_user_mask(u32 ctrs)
{
	csr_write(CSR_SCOUNTEREN, ctrs);
}

/* Per hart: the counters whose value, and those whose event selector, S-mode can access. */
static DEFINE_PER_CPU(u32, csr_values);
static DEFINE_PER_CPU(u32, csr_events);
/* csr_values and csr_events are copies of another hart's, because this hart was offline. */
static DEFINE_PER_CPU(bool, csr_assumed);

#define CSR_HAS_VALUE	1
#define CSR_HAS_EVENT	2

/*
 * An access to a counter or a CSR that is not delegated to S-mode traps (Smcdeleg). The
 * exception table handles the trap.
 */
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
	return CSR_IS_READABLE(PMU_CSR_SCOUNTINHIBIT);
}

/*
 * scountinhibit alone does not prove a delegation: QEMU 10.0.2 lets S-mode access it even if
 * M-mode delegates no counter.
 */
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
 * Probes the harts whose devicetree node lists the extensions. A hart that is offline can not
 * be probed: until it comes online, it is assumed to have the same delegated counters as the
 * first hart that was probed and has any.
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
			pr_info_once("hart %u has Ssccfg, but no counter is delegated to S-mode: check that the firmware sets menvcfg.CDE and mcounteren\n",
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
 * riscv_pmu_csr_find_delegated() - find the counters that M-mode has delegated to S-mode
 * @cpus:	in: harts to probe; out: the first hart with delegated counters, and the harts
 *		with the same ones
 * @values:	out: counters whose value S-mode can write
 * @events:	out: counters whose event selector and filters S-mode can write
 *
 * Bit n is hpmcounter n. A hart is probed if it is online and its devicetree node lists
 * Ssccfg and Sscsrind.
 *
 * Context: process; interrupts on.
 * Return: 0, or -ENODEV if no hart has delegated counters.
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
 * riscv_pmu_csr_find_delegated() can not probe a hart that is offline, and assumes that it
 * has the same delegated counters as another hart.
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
 * riscv_pmu_csr_inhibit() - stop delegated counters with one write
 * @ctrs:	bit n for hpmcounter n; other counters are not changed
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_inhibit(u32 ctrs)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_inhibit, ctrs);

	csr_set(PMU_CSR_SCOUNTINHIBIT, ctrs);
}

/**
 * riscv_pmu_csr_uninhibit() - start delegated counters with one write
 * @ctrs:	bit n for hpmcounter n; other counters are not changed
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_uninhibit(u32 ctrs)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_uninhibit, ctrs);

	csr_clear(PMU_CSR_SCOUNTINHIBIT, ctrs);
}

/**
 * riscv_pmu_csr_select() - select the registers that sireg to sireg6 access
 * @select:	PMU_ISELECT_CTR + n for counter n, or a return value of this function
 *
 * The AIA interrupt controller's driver uses siselect too, and may be interrupted between
 * its select and its access. So each caller restores the previous value.
 *
 * Context: interrupts off.
 * Return: the previous value of siselect.
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
 * riscv_pmu_csr_read_value() - read the selected counter
 *
 * Context: interrupts off. On RV32 the counter has to be stopped, because its halves are read
 * one after the other.
 * Return: the counter's value.
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
 * riscv_pmu_csr_write_value() - write the selected counter
 * @value:	the new value
 *
 * Context: interrupts off; the counter is stopped.
 */
void riscv_pmu_csr_write_value(u64 value)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_write_value, value);

	csr_write_value(value);
}

/**
 * riscv_pmu_csr_read_event() - read the event selector of the selected counter
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
 * riscv_pmu_csr_write_event() - write the event selector of the selected counter
 * @event:	PMU_HPMEVENT_* bits
 *
 * Context: interrupts off; the counter is stopped.
 */
void riscv_pmu_csr_write_event(u64 event)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_write_event, event);

	csr_write_event(event);
}

/**
 * riscv_pmu_csr_exchange() - restart a counter from another value, and return the old one
 * @ctr:	number of a running counter, 0 to 31
 * @event:	the counter's present PMU_HPMEVENT_* bits, with the overflow flag as wanted
 * @value:	the value from which the counter restarts
 *
 * The counter does not count the few instructions between its stop and its start.
 *
 * Context: interrupts off.
 * Return: the counter's value when it was stopped.
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
 * riscv_pmu_csr_reload() - start a counter from a value
 * @ctr:	number of a running or stopped counter, 0 to 31
 * @event:	the counter's present PMU_HPMEVENT_* bits, with the overflow flag as wanted
 * @value:	the value from which the counter starts
 *
 * The usual overflow ends with this call, which does all that the hardware needs then.
 *
 * Context: interrupts off.
 */
void riscv_pmu_csr_reload(unsigned int ctr, u64 event, u64 value)
{
	unsigned long select;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_reload, ctr, event, value);

	csr_set(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
	select = csr_swap(CSR_SISELECT, PMU_ISELECT_CTR + ctr);
	/* Clear the overflow flag first: while it is set, QEMU 10.0.2 detects no overflow. */
	csr_write_event(event);
	csr_write_value(value);
	csr_write(CSR_SISELECT, select);
	csr_clear(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
}
