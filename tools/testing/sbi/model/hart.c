// SPDX-License-Identifier: BSD-2-Clause
/* The simulated hart: its CSRs, traps, loops and calls. */
#include "hart.h"
#include "../pmu.h"
#include "sbi_impl.h"

#define INSTRUCTIONS_PER_TICK	100

/* Instructions to save or restore all registers, in start.S and in the firmware. */
#define TRAP_INSTRUCTIONS	64
#define MACHINE_INSTRUCTIONS	80

#define CAUSE_ILLEGAL		2
#define CAUSE_INTERRUPT		BIT(63)
#define SOME_PC			0x80200000

#define SISELECT_CTR		0x40

static struct {
	bool machine_mode;
	u64 instructions, timer;
	u64 inhibit;
	u64 counter[HART_CTRS], event[HART_CTRS];
	bool overflow_pending, overflows_to_machine;
	ulong sie, scause, sepc, siselect;
	bool interrupts_enabled;
} hart;

const struct profile *hart_profile;

/* --- counters -------------------------------------------------------------------- */

static u64 width_mask(unsigned int i)
{
	return BIT(i) & HART_FIXED ? ALL_ONES_64 : ALL_ONES_64 >> (64 - hart_profile->width);
}

/* The bits of the event's CSR that the hart implements; others are zero. */
static u64 event_bits(unsigned int i)
{
	if (BIT(i) & HART_FIXED)
		return hart_profile->smcntrpmf ? HPMEVENT_FILTERS : 0;
	return HPMEVENT_SELECTOR |
	       (hart_profile->sscofpmf ? HPMEVENT_FILTERS | HPMEVENT_OF : 0);
}

static bool has_event(unsigned int i)
{
	u64 selector = hart.event[i] & HPMEVENT_SELECTOR;

	return BIT(i) & HART_FIXED || selector == SELECTOR_CYCLES ||
	       selector == SELECTOR_INSTRUCTIONS;
}

static bool is_counting(unsigned int i)
{
	u64 filter = hart.machine_mode ? HPMEVENT_MINH : HPMEVENT_SINH;

	return BIT(i) & (HART_FIXED | HART_PROGRAMMABLE) && !(hart.inhibit & BIT(i)) &&
	       has_event(i) && !(hart.event[i] & filter);
}

/* A counter with OF set raises no interrupt; fixed counters have no OF. */
static void overflow(unsigned int i)
{
	if (!hart_profile->sscofpmf || BIT(i) & HART_FIXED || hart.event[i] & HPMEVENT_OF)
		return;
	hart.event[i] |= HPMEVENT_OF;
	hart.overflow_pending = true;
}

/* The number of instructions until the first overflow, at most N. */
static u64 instructions_to_overflow(u64 n)
{
	unsigned int i;

	for (i = 0; i < HART_CTRS; i++) {
		u64 left = width_mask(i) - hart.counter[i];

		if (is_counting(i) && left < n)
			n = left + 1;
	}
	return n;
}

static void count(u64 n)
{
	unsigned int i;

	hart.instructions += n;
	for (i = 0; i < HART_CTRS; i++) {
		if (!is_counting(i))
			continue;
		hart.counter[i] = (hart.counter[i] + n) & width_mask(i);
		if (!hart.counter[i])
			overflow(i);
	}
}

/* --- traps ------------------------------------------------------------------------- */

static void trap(ulong cause)
{
	static ulong registers[34];
	bool enabled = hart.interrupts_enabled;

	hart.interrupts_enabled = false;
	hart.scause = cause;
	hart.sepc = SOME_PC;
	hart_execute(TRAP_INSTRUCTIONS);
	trap_handle((struct trap_frame *)registers);
	hart_execute(TRAP_INSTRUCTIONS);
	hart.interrupts_enabled = enabled;
}

static void take_interrupt(void)
{
	if (hart.machine_mode || !hart.overflow_pending)
		return;
	if (hart.overflows_to_machine) {
		hart_enter_machine_mode();
		sse_take_overflow();
		hart_leave_machine_mode();
		sse_inject();
	} else if (hart.interrupts_enabled && hart.sie & BIT(IRQ_LCOFI)) {
		trap(CAUSE_INTERRUPT | IRQ_LCOFI);
	}
}

void hart_execute(u64 n)
{
	while (n) {
		u64 some = instructions_to_overflow(n);

		count(some);
		n -= some;
		take_interrupt();
	}
}

/* --- the firmware's side ----------------------------------------------------------- */

void hart_enter_machine_mode(void)
{
	hart.machine_mode = true;
	hart_execute(MACHINE_INSTRUCTIONS);
}

void hart_leave_machine_mode(void)
{
	hart_execute(MACHINE_INSTRUCTIONS);
	hart.machine_mode = false;
}

u64 hart_inhibit_read(void)
{
	hart_execute(1);
	return hart.inhibit;
}

/* The write takes effect with the next instruction. */
void hart_inhibit_write(u64 inhibit)
{
	hart_execute(1);
	hart.inhibit = inhibit & (HART_FIXED | HART_PROGRAMMABLE);
}

u64 hart_counter_read(unsigned int i)
{
	u64 value = hart.counter[i];

	hart_execute(1);
	return value;
}

void hart_counter_write(unsigned int i, u64 value)
{
	hart_execute(1);
	hart.counter[i] = value & width_mask(i);
}

u64 hart_event_read(unsigned int i)
{
	hart_execute(1);
	return hart.event[i];
}

void hart_event_write(unsigned int i, u64 event)
{
	hart_execute(1);
	hart.event[i] = event & event_bits(i);
}

void hart_overflows_to_machine(bool to_machine)
{
	hart.overflows_to_machine = to_machine;
}

bool hart_overflow_is_pending(void)
{
	return hart.overflow_pending;
}

void hart_overflow_clear(void)
{
	hart.overflow_pending = false;
}

void hart_timer_set(u64 when)
{
	hart.timer = when;
}

/* Executes no instructions, and counts no cycles. */
void hart_wait(void)
{
	u64 until = hart.timer * INSTRUCTIONS_PER_TICK;

	if (hart.timer != ALL_ONES_64 && until > hart.instructions)
		hart.instructions = until;
}

/* Counters may have any value after a reset, so they get one that is not zero. */
void hart_counters_reset(void)
{
	unsigned int i;

	hart.inhibit = 0;
	for (i = 0; i < HART_CTRS; i++) {
		hart.counter[i] = 0xdead;
		hart.event[i] = 0;
	}
}

void hart_boot(const struct profile *profile)
{
	hart_profile = profile;
	hart.timer = ALL_ONES_64;
	hart_counters_reset();
}

/* --- the program's CSRs -------------------------------------------------------------- */

static ulong scountovf(void)
{
	ulong overflows = 0;
	unsigned int i;

	for (i = 0; i < HART_CTRS; i++)
		if (hart.event[i] & HPMEVENT_OF)
			overflows |= BIT(i);
	return overflows;
}

/* Does siselect select the event of a delegated counter? */
static bool delegated_event(unsigned int *ctr)
{
	*ctr = hart.siselect - SISELECT_CTR;
	return hart_profile->ssccfg && *ctr < HART_CTRS && HART_PROGRAMMABLE & BIT(*ctr);
}

static bool csr_get(unsigned int csr, ulong *value)
{
	unsigned int ctr;

	switch (csr) {
	case CSR_SCAUSE:
		*value = hart.scause;
		return true;
	case CSR_SEPC:
		*value = hart.sepc;
		return true;
	case CSR_STVAL:
		*value = 0;
		return true;
	case CSR_SIP:
		*value = hart.overflow_pending && !hart.overflows_to_machine ? BIT(IRQ_LCOFI) : 0;
		return true;
	case CSR_SIREG2:
		*value = 0;
		if (!delegated_event(&ctr))
			return false;
		*value = hart.event[ctr] & ~HPMEVENT_MINH;
		return true;
	case CSR_TIME:
		*value = hart.instructions / INSTRUCTIONS_PER_TICK;
		return true;
	case CSR_SCOUNTOVF:
		*value = hart_profile->sscofpmf ? scountovf() : 0;
		return hart_profile->sscofpmf;
	default:
		*value = 0;
		return false;
	}
}

static bool csr_put(unsigned int csr, ulong value)
{
	unsigned int ctr;

	switch (csr) {
	case CSR_SEPC:
		hart.sepc = value;
		return true;
	case CSR_SISELECT:
		hart.siselect = value;
		return hart_profile->ssccfg;
	case CSR_SIREG2:
		if (!delegated_event(&ctr))
			return false;
		hart.event[ctr] = (value & ~HPMEVENT_MINH) | (hart.event[ctr] & HPMEVENT_MINH);
		return true;
	default:
		return false;
	}
}

ulong csr_read(unsigned int csr)
{
	ulong value;

	if (!csr_get(csr, &value))
		trap(CAUSE_ILLEGAL);
	hart_execute(1);
	return value;
}

void csr_write(unsigned int csr, ulong value)
{
	if (!csr_put(csr, value))
		trap(CAUSE_ILLEGAL);
	hart_execute(1);
}

void csr_set(unsigned int csr, ulong bits)
{
	if (csr == CSR_SIE)
		hart.sie |= bits;
	else if (csr == CSR_SSTATUS)
		hart.interrupts_enabled |= !!(bits & SSTATUS_SIE);
	else
		trap(CAUSE_ILLEGAL);
	hart_execute(1);
}

void csr_clear(unsigned int csr, ulong bits)
{
	if (csr == CSR_SIE)
		hart.sie &= ~bits;
	else if (csr == CSR_SSTATUS)
		hart.interrupts_enabled &= !(bits & SSTATUS_SIE);
	else if (csr == CSR_SIP)
		hart.overflow_pending &= !(bits & BIT(IRQ_LCOFI)) || hart.overflows_to_machine;
	else
		trap(CAUSE_ILLEGAL);
	hart_execute(1);
}

/* --- replacements for start.S and entry.S ---------------------------------------------- */

static struct sbiret ecall(ulong ext, ulong fid, const ulong *args)
{
	struct sbiret ret;

	hart_enter_machine_mode();
	ret = sbi_handle(ext, fid, args);
	hart_leave_machine_mode();
	return ret;
}

struct sbiret sbi_call6(ulong ext, ulong fid, ulong arg0, ulong arg1, ulong arg2, ulong arg3,
			ulong arg4, ulong arg5)
{
	const ulong args[] = { arg0, arg1, arg2, arg3, arg4, arg5 };
	struct sbiret ret;

	/* Set eight registers, and the ecall. */
	hart_execute(9);
	ret = ecall(ext, fid, args);
	hart_execute(1);
	return ret;
}

/* Instructions from the call to the read, and from the read to the return. */
u64 ctr_read_csr(unsigned int ctr)
{
	u64 value;

	hart_execute(6);
	value = hart.counter[ctr];
	hart_execute(2);
	return value;
}

void loop_for(ulong n)
{
	hart_execute(2 * n + 2);
}

static ulong over_ecall(unsigned int ctr)
{
	static const ulong args[6];
	u64 before = hart.counter[ctr];

	/* The read, two li and the ecall. */
	hart_execute(4);
	ecall(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, args);
	return hart.counter[ctr] - before;
}

ulong instret_over_ecall(void)
{
	return over_ecall(CTR_INSTRET);
}

ulong cycle_over_ecall(void)
{
	return over_ecall(CTR_CYCLE);
}

long hart_suspend(ulong type)
{
	return sbi_call(SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, type, 0, 0).error;
}
