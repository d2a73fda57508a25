// SPDX-License-Identifier: GPL-2.0
/*
 * All accesses to counter CSRs. The number of a CSR is an immediate operand of the instruction, so
 * each counter has a function of its own that reads it. A switch statement would slow down every
 * context switch.
 */

#include <kunit/static_stub.h>

#include <asm/asm-extable.h>
#include <asm/pmu_csr.h>

#include "csr.h"
#include "fault.h"

/* On RV32, repeat until the high half has not changed (Unprivileged ISA, Zicntr). */
#define CSR_READER(n)							\
static u64 csr_read_ctr_##n(void)					\
{									\
	unsigned long high, low;					\
									\
	if (IS_ENABLED(CONFIG_64BIT))					\
		return csr_read(CSR_CYCLE + (n));			\
	do {								\
		high = csr_read(CSR_CYCLEH + (n));			\
		low = csr_read(CSR_CYCLE + (n));			\
	} while (csr_read(CSR_CYCLEH + (n)) != high);			\
									\
	return (u64)high << 32 | low;					\
}

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
 * riscv_pmu_csr_reader() - get the function that reads a counter of the calling hart
 * @ctr:	the counter's number, 0 (cycle) to 31 (hpmcounter31)
 * Return: the function; bits above the counter's width are undefined in its result.
 */
riscv_pmu_read_fn riscv_pmu_csr_reader(unsigned int ctr)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_reader, ctr);

	return csr_readers[ctr];
}

/*
 * The CSRs that a probe reads or writes, besides the counters. Those that every S-mode has (sie,
 * sip and scounteren) are not here, because an access to them cannot trap.
 */
#define CSR_EACH_PROBED(_)							\
	_(PMU_CSR_SCOUNTINHIBIT) _(PMU_CSR_ANDES_SLIP)				\
	_(CSR_SISELECT) _(CSR_SIREG) _(PMU_CSR_SIREG2) _(PMU_CSR_SIREG3)	\
	_(PMU_CSR_SIREG4) _(PMU_CSR_SIREG5)					\
	_(PMU_CSR_SCTRCTL) _(PMU_CSR_SCTRSTATUS) _(PMU_CSR_SCTRDEPTH)

#define CSR_EACH_PROBED_RO(_)							\
	_(CSR_SCOUNTOVF) _(PMU_CSR_THEAD_SCOUNTEROF) _(PMU_CSR_ANDES_SCOUNTEROF)

/* If the instruction traps, the kernel continues after the next line (exception table). */
#define CSR_TRY(insn, ...)					\
	asm volatile("1: " insn "\n"				\
		     "	li %0, 0\n"				\
		     "2:\n"					\
		     _ASM_EXTABLE(1b, 2b)			\
		     : "+r" (trapped), __VA_ARGS__)

#define CSR_TRY_READ(csr)							\
	case csr: {								\
		CSR_TRY("csrr %1, " __stringify(csr), "+r" (*value));		\
		break;								\
	}
#define CSR_TRY_WRITE(csr)							\
	case csr: {								\
		CSR_TRY("csrw " __stringify(csr) ", %1", "+r" (value));		\
		break;								\
	}
#define CSR_TRY_READ_CTR(n)	CSR_TRY_READ(CSR_CYCLE + (n))
#define CSR_TRY_READ_HIGH(n)	CSR_TRY_READ(CSR_CYCLE + PMU_CSR_CTR_HIGH + (n))

/**
 * riscv_pmu_csr_try_read() - read a CSR that may not exist, or that M-mode may not allow
 * @csr:	a counter's CSR, or one of CSR_EACH_PROBED or CSR_EACH_PROBED_RO
 * @value:	out: the value of this hart's CSR; 0 if the access traps
 *
 * A probe accesses each of a hart's CSRs by this function or the next one before other code does.
 * Context: any; the caller must not migrate while it uses the value.
 * Return: 0; @csr if the access traps.
 */
unsigned int riscv_pmu_csr_try_read(unsigned int csr, unsigned long *value)
{
	unsigned int trapped = csr;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_try_read, csr, value);

	*value = 0;
	switch (csr) {
	CSR_EACH_CTR(CSR_TRY_READ_CTR)
#ifdef CONFIG_32BIT
	CSR_EACH_CTR(CSR_TRY_READ_HIGH)
#endif
	CSR_EACH_PROBED(CSR_TRY_READ)
	CSR_EACH_PROBED_RO(CSR_TRY_READ)
	}

	return !trapped && riscv_pmu_should_fail() ? csr : trapped;
}

/**
 * riscv_pmu_csr_try_write() - write a CSR that may not exist, or that M-mode may not allow
 * @csr:	one of CSR_EACH_PROBED, vsctrctl, or RISCV_PMU_CSR_SCTRCLR
 * @value:	the new value
 * Return: 0; @csr if the access traps.
 */
unsigned int riscv_pmu_csr_try_write(unsigned int csr, unsigned long value)
{
	unsigned int trapped = csr;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_try_write, csr, value);

	switch (csr) {
	CSR_EACH_PROBED(CSR_TRY_WRITE)
	CSR_TRY_WRITE(PMU_CSR_VSCTRCTL)
	case RISCV_PMU_CSR_SCTRCLR:
		CSR_TRY(RISCV_PMU_INSN_SCTRCLR, "+r" (value));
		break;
	}

	return !trapped && riscv_pmu_should_fail() ? csr : trapped;
}

/**
 * riscv_pmu_csr_is_readable() - whether this hart's S-mode may read a counter
 * @ctr:	the counter's number, 0 (cycle) to 31 (hpmcounter31)
 * Return: whether M-mode has enabled the counter in mcounteren. KVM lets its guests read only
 * counters that are configured.
 */
bool riscv_pmu_csr_is_readable(unsigned int ctr)
{
	unsigned long value;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_is_readable, ctr);

	return !riscv_pmu_csr_try_read(CSR_CYCLE + ctr, &value) &&
	       (IS_ENABLED(CONFIG_64BIT) ||
		!riscv_pmu_csr_try_read(CSR_CYCLE + PMU_CSR_CTR_HIGH + ctr, &value));
}

/**
 * riscv_pmu_csr_read_ovf() - read the overflow flags of the hardware counters
 * @csr:	CSR_SCOUNTOVF, or the vendor's CSR in its place, or 0
 * Return: bit n is set if hpmcounter n has overflowed, also if the counter is unused.
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

/* Clears the pending bit of the overflow interrupt in CSR_IP, or in the vendor's CSR. */
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
 * @hwirq:	number of the interrupt; from BITS_PER_LONG on, the irqchip enables it, not sie
 * Context: any, before the interrupt has a handler. The interrupt is disabled on return.
 * Return: false if the bit is read-only zero: M-mode has not delegated the interrupt, or this is
 * QEMU 10.0.11 to 10.0.13.
 */
bool riscv_pmu_csr_can_enable_irq(unsigned int hwirq)
{
	unsigned long mask = BIT(hwirq % BITS_PER_LONG);

	if (hwirq >= BITS_PER_LONG)
		return true;

	guard(irqsave)();
	csr_set(CSR_IE, mask);
	return csr_read_clear(CSR_IE, mask) & mask;
}
