// SPDX-License-Identifier: GPL-2.0
/* The CSRs of delegated counters: scountinhibit, and siselect with sireg to sireg5. */

#include <kunit/static_stub.h>

#include <asm/csr.h>
#include <asm/pmu_csr.h>

#include "ssccfg.h"

/* Stops delegated counters with one write: bit n for hpmcounter n. Others are not changed. */
void riscv_pmu_csr_inhibit(u32 ctrs)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_inhibit, ctrs);

	csr_set(PMU_CSR_SCOUNTINHIBIT, ctrs);
}

/* Starts delegated counters, as riscv_pmu_csr_inhibit() stops them. */
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
 * Return: the previous value of siselect.
 */
unsigned long riscv_pmu_csr_select(unsigned long select)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_select, select);

	return csr_swap(CSR_SISELECT, select);
}

/*
 * Reads the selected counter. On RV32 it has to be stopped, because its halves are read one after
 * the other.
 */
u64 riscv_pmu_csr_read_value(void)
{
	u64 value;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_read_value);

	value = csr_read(CSR_SIREG);
	if (IS_ENABLED(CONFIG_32BIT))
		value |= (u64)csr_read(PMU_CSR_SIREG4) << 32;
	return value;
}

/* Writes the selected counter, which is stopped. */
void riscv_pmu_csr_write_value(u64 value)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_write_value, value);

	csr_write(CSR_SIREG, (unsigned long)value);
	if (IS_ENABLED(CONFIG_32BIT))
		csr_write(PMU_CSR_SIREG4, upper_32_bits(value));
}

/* Reads the event selector of the selected counter: PMU_HPMEVENT_* bits. */
u64 riscv_pmu_csr_read_event(void)
{
	u64 event;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_read_event);

	event = csr_read(PMU_CSR_SIREG2);
	if (IS_ENABLED(CONFIG_32BIT))
		event |= (u64)csr_read(PMU_CSR_SIREG5) << 32;
	return event;
}

/* Writes the event selector of the selected counter, which is stopped. */
void riscv_pmu_csr_write_event(u64 event)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_write_event, event);

	csr_write(PMU_CSR_SIREG2, (unsigned long)event);
	if (IS_ENABLED(CONFIG_32BIT))
		csr_write(PMU_CSR_SIREG5, upper_32_bits(event));
}

/**
 * riscv_pmu_csr_exchange() - restart a counter from another value, and return the old one
 * @ctr:	number of a running counter, 0 to 31
 * @event:	the counter's present PMU_HPMEVENT_* bits, with the overflow flag as wanted
 * @value:	the value from which the counter restarts
 *
 * The counter does not count the few instructions between its stop and its start.
 *
 * Return: the counter's value when it was stopped.
 */
u64 riscv_pmu_csr_exchange(unsigned int ctr, u64 event, u64 value)
{
	unsigned long select;
	u64 was;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_exchange, ctr, event, value);

	select = csr_swap(CSR_SISELECT, PMU_ISELECT_CTR + ctr);
	csr_set(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
	was = riscv_pmu_csr_read_value();
	riscv_pmu_csr_write_event(event);
	riscv_pmu_csr_write_value(value);
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
 */
void riscv_pmu_csr_reload(unsigned int ctr, u64 event, u64 value)
{
	unsigned long select;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_reload, ctr, event, value);

	csr_set(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
	select = csr_swap(CSR_SISELECT, PMU_ISELECT_CTR + ctr);
	/* Clear the overflow flag first: while it is set, QEMU 10.0.2 detects no overflow. */
	riscv_pmu_csr_write_event(event);
	riscv_pmu_csr_write_value(value);
	csr_write(CSR_SISELECT, select);
	csr_clear(PMU_CSR_SCOUNTINHIBIT, BIT(ctr));
}
