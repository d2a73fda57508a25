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
