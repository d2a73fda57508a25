// SPDX-License-Identifier: GPL-2.0
/*
 * Supervisor Software Events (SSE; SBI 3.0, chapter 17): all ecalls of that extension. M-mode
 * takes the overflow interrupt, and enters the handler that is registered here even if S-mode has
 * disabled its interrupts.
 */

#include <linux/io.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>

#include <asm/sbi.h>
#include <asm/smp.h>

#include "../fault.h"
#include "sse.h"

/* Function IDs (SBI 3.0, chapter 17) */
enum {
	SSE_READ_ATTRS		= 0,
	SSE_REGISTER		= 2,
	SSE_UNREGISTER		= 3,
	SSE_ENABLE		= 4,
	SSE_DISABLE		= 5,
	SSE_INJECT		= 7,
	SSE_HART_UNMASK		= 8,
	SSE_HART_MASK		= 9,
};

#define SSE_LOCAL_PMU_OVERFLOW	0x00010000
#define SSE_ATTR_STATUS		0
#define SSE_STATUS_STATE	GENMASK(1, 0)
#define SSE_STATE_RUNNING	3
#define SSE_ATTR_INTERRUPTED_FLAGS	7
#define SSE_ATTR_INTERRUPTED_A6	8
/* Of the interrupted flags: hstatus.SPV before the event */
#define SSE_FLAG_SPV		BIT(2)

/* Attributes whose numbers follow each other, which the firmware writes to a physical address */
struct sse_attrs {
	unsigned long	value[2];
	phys_addr_t	address;	/* of @value */
};

static DEFINE_PER_CPU_ALIGNED(struct sse_attrs, sse_attrs);

static long sse_call(unsigned long fid, unsigned long a0, unsigned long a1, unsigned long a2)
{
	return sbi_ecall(SSE_EXT, fid, a0, a1, a2, 0, 0, 0).error;
}

static long sse_read_attrs(struct sse_attrs *attrs, unsigned long first, unsigned long nr)
{
	return sbi_ecall(SSE_EXT, SSE_READ_ATTRS, SSE_LOCAL_PMU_OVERFLOW, first, nr,
			 attrs->address, 0, 0).error;
}

static struct sse_attrs *sse_init_attrs(void)
{
	struct sse_attrs *attrs = this_cpu_ptr(&sse_attrs);

	attrs->address = per_cpu_ptr_to_phys(attrs->value);
	return attrs;
}

/* Whether the firmware delivers overflows as SSE events */
bool riscv_pmu_sse_is_available(void)
{
	guard(preempt)();
	if (sbi_spec_is_0_1() || sbi_probe_extension(SSE_EXT) <= 0)
		return false;

	return !sse_read_attrs(sse_init_attrs(), SSE_ATTR_STATUS, 1);
}

/* OpenSBI 1.6 to 1.9 say "already stopped" if the hart is unmasked already. */
long riscv_pmu_sse_unmask_hart(void)
{
	long err = sse_call(SSE_HART_UNMASK, 0, 0, 0);

	return err == SBI_ERR_ALREADY_STARTED || err == SBI_ERR_ALREADY_STOPPED ? 0 : err;
}

/*
 * Delivers this hart's overflows to a handler, which is entered at @entry with @arg in a7. An
 * earlier kernel that has crashed may have left its handler registered: it is removed first.
 *
 * Harts start masked, so that no event is delivered before the first user unmasks the hart. If this
 * event was still registered, the driver had unmasked the hart. If the hart is masked now, another
 * user did that, and overflows stay pending until that user unmasks the hart.
 */
int riscv_pmu_sse_start(const void *entry, void *arg)
{
	bool was_registered;
	long err;

	sse_init_attrs();
	was_registered = riscv_pmu_sse_stop();
	err = riscv_pmu_should_fail() ? SBI_ERR_FAILURE :
	      sse_call(SSE_REGISTER, SSE_LOCAL_PMU_OVERFLOW, (unsigned long)entry,
		       (unsigned long)arg);
	err = err ?: sse_call(SSE_ENABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
	if (!was_registered)
		err = err ?: riscv_pmu_sse_unmask_hart();
	if (!err)
		return 0;

	riscv_pmu_sse_stop();
	return sbi_err_map_linux_errno(err) ?: -EIO;
}

/* Whether hstatus.SPV was set before the event that is being handled */
bool riscv_pmu_sse_had_spv(void)
{
	struct sse_attrs *attrs = this_cpu_ptr(&sse_attrs);

	return !sse_read_attrs(attrs, SSE_ATTR_INTERRUPTED_FLAGS, 1) &&
	       attrs->value[0] & SSE_FLAG_SPV;
}

/*
 * Unregisters this hart's event, so that overflows are interrupts again; false if it was not
 * registered. The hart is not masked, because it may have SSE events of others. While the handler
 * runs, the firmware refuses, and the event stays registered.
 */
bool riscv_pmu_sse_stop(void)
{
	riscv_pmu_sse_suspend();
	return !sse_call(SSE_UNREGISTER, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
}

/* The entry code needs tp, which is not set after a non-retentive idle state. */
void riscv_pmu_sse_suspend(void)
{
	sse_call(SSE_DISABLE, SSE_LOCAL_PMU_OVERFLOW, 0, 0);
}

/* Whether the firmware considers this hart's handler running */
bool riscv_pmu_sse_is_running(void)
{
	struct sse_attrs *attrs = this_cpu_ptr(&sse_attrs);

	/* Before riscv_pmu_sse_start(), the firmware has no place for its answer. */
	return attrs->address && !sse_read_attrs(attrs, SSE_ATTR_STATUS, 1) &&
	       (READ_ONCE(attrs->value[0]) & SSE_STATUS_STATE) == SSE_STATE_RUNNING;
}

/* Masks briefly. If true, riscv_pmu_sse_unmask_hart() has to follow: nobody else masks the hart. */
bool riscv_pmu_sse_mask_hart(void)
{
	return !sse_call(SSE_HART_MASK, 0, 0, 0);
}

/* Has a hart enter its handler, for tests; not called by a handler. Returns 0 or an errno. */
int riscv_pmu_sse_inject(unsigned int cpu)
{
	long err = sse_call(SSE_INJECT, SSE_LOCAL_PMU_OVERFLOW, cpuid_to_hartid_map(cpu), 0);

	return err ? sbi_err_map_linux_errno(err) ?: -EIO : 0;
}

/*
 * Clears the overflow interrupt that M-mode has taken. OpenSBI 1.6 to 1.9 clear mip.LCOFIP only in
 * COUNTER_STOP, whichever counter it names. As long as it is set, the event is delivered again.
 * Number 1 is the time, which is no counter. sbi_ecall() is not called, because it can be traced,
 * probed and patched.
 */
noinstr void riscv_pmu_sse_clear_pending(void)
{
	register unsigned long base asm("a0") = 0, mask asm("a1") = BIT(1), flags asm("a2") = 0;
	register unsigned long fid asm("a6") = SBI_EXT_PMU_COUNTER_STOP;
	register unsigned long ext asm("a7") = SBI_EXT_PMU;

	asm volatile("ecall" : "+r" (base), "+r" (mask) : "r" (flags), "r" (fid), "r" (ext)
		     : "memory");
}

/* The firmware uses a6 and a7 for the handler's arguments. If it refuses, @regs has these. */
void riscv_pmu_sse_read_regs(struct pt_regs *regs)
{
	struct sse_attrs *attrs = this_cpu_ptr(&sse_attrs);

	if (sse_read_attrs(attrs, SSE_ATTR_INTERRUPTED_A6, 2))
		return;

	regs->a6 = READ_ONCE(attrs->value[0]);
	regs->a7 = READ_ONCE(attrs->value[1]);
}
