// SPDX-License-Identifier: GPL-2.0
/*
 * The only place that touches counter CSRs. Their number is part of the
 * instruction, so each needs a line of its own.
 */

#include <linux/bits.h>
#include <linux/irqflags.h>

#include <asm/asm-extable.h>
#include <asm/pmu_csr.h>

#include "csr.h"

#define CASE_READ(ctr, base)		case (ctr): return csr_read((base) + (ctr));
#define CASE_READ_4(ctr, base)		CASE_READ((ctr), base)		\
					CASE_READ((ctr) + 1, base)	\
					CASE_READ((ctr) + 2, base)	\
					CASE_READ((ctr) + 3, base)
#define CASE_READ_16(ctr, base)		CASE_READ_4((ctr), base)	\
					CASE_READ_4((ctr) + 4, base)	\
					CASE_READ_4((ctr) + 8, base)	\
					CASE_READ_4((ctr) + 12, base)

static unsigned long csr_read_low(unsigned int ctr)
{
	switch (ctr) {
	CASE_READ_16(0, CSR_CYCLE)
	CASE_READ_16(16, CSR_CYCLE)
	}

	return 0;
}

static unsigned long csr_read_high(unsigned int ctr)
{
	switch (ctr) {
	CASE_READ_16(0, CSR_CYCLEH)
	CASE_READ_16(16, CSR_CYCLEH)
	}

	return 0;
}

/**
 * riscv_pmu_csr_read() - read a counter
 * @ctr:	its number, 0 (cycle) to 31 (hpmcounter31)
 *
 * On RV32 the halves are read until they belong together (Unprivileged ISA,
 * Zicntr: "the following code sequence").
 *
 * Context: any, on the hart whose counter is meant.
 * Return: the value; bits above the counter's width are undefined.
 */
u64 riscv_pmu_csr_read(unsigned int ctr)
{
	unsigned long high, low;

	if (IS_ENABLED(CONFIG_64BIT))
		return csr_read_low(ctr);

	do {
		high = csr_read_high(ctr);
		low = csr_read_low(ctr);
	} while (csr_read_high(ctr) != high);

	return (u64)high << 32 | low;
}

/**
 * riscv_pmu_csr_is_readable() - whether S-mode may read a fixed counter
 * @ctr:	PMU_CSR_CTR_CYCLE or PMU_CSR_CTR_INSTRET
 *
 * M-mode may not have delegated it (mcounteren); the trap that follows is
 * caught. Context: any.
 */
bool riscv_pmu_csr_is_readable(unsigned int ctr)
{
	unsigned long ok = 0;

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
