// SPDX-License-Identifier: GPL-2.0
/*
 * Software events of the SBI (SSE; SBI 3.0, chapter 17): all ecalls of that extension. M-mode
 * takes the overflow interrupt, and enters the handler that is registered here even if S-mode has
 * disabled its interrupts.
 */

#include <linux/errno.h>
#include <linux/io.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/wordpart.h>

#include <asm/sbi.h>

#include "sse.h"

/* Functions and attributes (SBI 3.0, tables 86 to 98) */
enum {
	SSE_READ_ATTRS		= 0,
	SSE_REGISTER		= 2,
	SSE_UNREGISTER		= 3,
	SSE_ENABLE		= 4,
	SSE_DISABLE		= 5,
	SSE_HART_UNMASK		= 8,
	SSE_HART_MASK		= 9,
};

#define SSE_LOCAL_PMU_OVERFLOW	0x00010000
#define SSE_ATTR_STATUS		0
#define SSE_ATTR_INTERRUPTED_A6	8

/**
 * struct sse_attrs - attributes that the firmware writes
 * @value:	two attributes whose numbers follow each other
 * @address:	the physical address of @value
 */
struct sse_attrs {
	unsigned long	value[2];
	phys_addr_t	address;
};

static DEFINE_PER_CPU_ALIGNED(struct sse_attrs, sse_attrs);

static long sse_call(unsigned long fid, unsigned long a0, unsigned long a1, unsigned long a2)
{
	return sbi_ecall(SSE_EXT, fid, a0, a1, a2, 0, 0, 0).error;
}

static long sse_read_attrs(struct sse_attrs *attrs, unsigned long first, unsigned long nr)
{
	return sbi_ecall(SSE_EXT, SSE_READ_ATTRS, SSE_LOCAL_PMU_OVERFLOW, first, nr,
			 lower_32_bits(attrs->address) |
				(IS_ENABLED(CONFIG_64BIT) ? attrs->address : 0),
			 IS_ENABLED(CONFIG_32BIT) ? upper_32_bits(attrs->address) : 0, 0).error;
}

static struct sse_attrs *sse_attrs_here(void)
{
	struct sse_attrs *attrs = this_cpu_ptr(&sse_attrs);

	attrs->address = per_cpu_ptr_to_phys(attrs->value);
	return attrs;
}

/**
 * riscv_pmu_sse_is_available() - whether the firmware delivers overflows as software events
 *
 * Context: preemption disabled.
 * Return: true if it has the extension and the event.
 */
bool riscv_pmu_sse_is_available(void)
{
	if (sbi_spec_is_0_1() || sbi_probe_extension(SSE_EXT) <= 0)
		return false;

	return !sse_read_attrs(sse_attrs_here(), SSE_ATTR_STATUS, 1);
}

/**
 * riscv_pmu_sse_start() - deliver this hart's overflows to a handler
 * @entry:	the code that is entered, in S-mode
 * @arg:	the value of a7 there
 *
 * An earlier kernel may have left the event registered, such as one that has crashed.
 *
 * Context: interrupts off.
 * Return: 0 or a negative errno.
 */
int riscv_pmu_sse_start(const void *entry, void *arg)
{
	long err;

	sse_attrs_here();
	riscv_pmu_sse_stop();
	err = sse_call(SSE_REGISTER, SSE_LOCAL_PMU_OVERFLOW, (unsigned long)entry,
		       (unsigned long)arg);
	err = err ?: sse_call(SSE_ENABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
	err = err ?: sse_call(SSE_HART_UNMASK, 0, 0, 0);
	if (!err)
		return 0;

	riscv_pmu_sse_stop();
	return sbi_err_map_linux_errno(err) ?: -EIO;
}

/**
 * riscv_pmu_sse_stop() - deliver this hart's overflows as interrupts again
 *
 * Context: interrupts off.
 */
void riscv_pmu_sse_stop(void)
{
	sse_call(SSE_HART_MASK, 0, 0, 0);
	sse_call(SSE_DISABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
	sse_call(SSE_UNREGISTER, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
}

/**
 * riscv_pmu_sse_suspend() - deliver no overflow until riscv_pmu_sse_resume()
 *
 * When a hart resumes from an idle state, its thread pointer is not set at first.
 *
 * Context: interrupts off.
 */
void riscv_pmu_sse_suspend(void)
{
	sse_call(SSE_HART_MASK, 0, 0, 0);
}

/**
 * riscv_pmu_sse_resume() - deliver overflows again
 *
 * In a non-retentive idle state, OpenSBI 1.6 to 1.9 forgets that M-mode takes the interrupt, but
 * not that the event is enabled.
 *
 * Context: interrupts off.
 */
void riscv_pmu_sse_resume(void)
{
	sse_call(SSE_DISABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
	sse_call(SSE_ENABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
	sse_call(SSE_HART_UNMASK, 0, 0, 0);
}

/**
 * riscv_pmu_sse_clear_pending() - clear the overflow interrupt that M-mode has taken
 *
 * OpenSBI 1.6 to 1.9 clear mip.LCOFIP only in COUNTER_STOP, whichever counter it names. As long as
 * it is set, the event is delivered again. Number 1 is the time, which is no counter.
 *
 * Context: any.
 */
void riscv_pmu_sse_clear_pending(void)
{
	sbi_ecall(SBI_EXT_PMU, SBI_EXT_PMU_COUNTER_STOP, 0, BIT(1), 0, 0, 0, 0);
}

/**
 * riscv_pmu_sse_read_regs() - complete the registers of the interrupted code
 * @regs:	those with which the handler was called; a6 and a7 are written
 *
 * The firmware uses a6 and a7 for the arguments of the handler.
 *
 * Context: the handler of the event.
 */
void riscv_pmu_sse_read_regs(struct pt_regs *regs)
{
	struct sse_attrs *attrs = this_cpu_ptr(&sse_attrs);

	if (sse_read_attrs(attrs, SSE_ATTR_INTERRUPTED_A6, 2))
		return;

	regs->a6 = READ_ONCE(attrs->value[0]);
	regs->a7 = READ_ONCE(attrs->value[1]);
}
