// SPDX-License-Identifier: GPL-2.0
/*
 * Which harts deliver overflows as NMIs (nmi.c): the decision at boot, CPU hotplug, idle states.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/gfp.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/cpufeature.h>
#include <asm/delay.h>

#include "../entries.h"
#include "entry.h"
#include "nmi.h"
#include "../print.h"
#include "../sbi/call.h"
#include "sse.h"

static char *nmi_param = "0";
module_param_named(nmi, nmi_param, charp, 0444);
MODULE_PARM_DESC(nmi, "sample code with interrupts off: 0 (default), auto or 1");

/* Eighths of a tick of the timer: 2 us, if it cannot be measured */
#define NMI_OVERHEAD_DEFAULT	(riscv_timebase / 62500)

/*
 * Measures the overhead of entry and exit of an NMI, by NMIs without an overflow that the hart
 * injects. The minimum of four runs excludes cache misses, and the host of an emulator. A run has
 * eight NMIs, because the timer's tick may be longer than one: the sum in ticks is the overhead in
 * eighths of a tick. M-mode may refuse to inject, or deliver later.
 */
static u32 nmi_measure_overhead(void)
{
	struct riscv_pmu_nmi *nmi = this_cpu_ptr(&riscv_pmu_nmi_harts);
	u32 best = U32_MAX;

	for (unsigned int i = 0; i < 4; i++) {
		u32 began = get_cycles();
		int err = 0;

		nmi->to_measure = 8;
		for (unsigned int j = 0; j < 8; j++)
			err = err ?: riscv_pmu_sse_inject(smp_processor_id());
		/* The handler decrements it. */
		if (err || READ_ONCE(nmi->to_measure)) {
			nmi->to_measure = 0;
			return NMI_OVERHEAD_DEFAULT;
		}
		best = min(best, (u32)get_cycles() - began);
	}

	return max(best, 1U);
}

/*
 * Lets the overflows of this hart, which comes up with its interrupt masked, interrupt any code. If
 * the firmware refuses, they are ordinary interrupts.
 */
void riscv_pmu_nmi_hart_start(struct riscv_pmu_hart *hart)
{
	int err;

	if (!hart->pmu->nmi)
		return;

	err = riscv_pmu_sse_start(riscv_pmu_nmi_entry, this_cpu_ptr(&riscv_pmu_nmi_harts));
	/* Only when the hart comes up first: later, an event may be counting. */
	if (!err && !hart->throttle.nmi_overhead)
		hart->throttle.nmi_overhead = nmi_measure_overhead();
	hart->irq.nmi = !err;
	hart->irq.mask = err ? BIT(hart->pmu->hwirq) : 0;
	if (err)
		riscv_pmu_warn("hart %u: the firmware does not deliver overflows as NMIs (error %d): code with interrupts off is not sampled on it, and the detector of hard lockups does not see that code hang\n",
			       smp_processor_id(), err);
}

/* This hart goes down: overflows raise the interrupt again. */
void riscv_pmu_nmi_hart_stop(struct riscv_pmu_hart *hart)
{
	if (!hart->irq.nmi)
		return;

	hart->irq.nmi = false;
	riscv_pmu_sse_stop();
}

/* For an idle state that loses the hart's registers: riscv_pmu_nmi_hart_resume() follows. */
void riscv_pmu_nmi_hart_suspend(const struct riscv_pmu_hart *hart)
{
	if (hart->irq.nmi)
		riscv_pmu_sse_suspend();
}

/*
 * Delivers overflows again, before the update that follows an idle state, in which the firmware may
 * have lost the registration. After a resume from disk, the registered handler is that of the
 * kernel that has loaded the image.
 */
void riscv_pmu_nmi_hart_resume(struct riscv_pmu_hart *hart)
{
	if (!hart->irq.nmi)
		return;

	/* sie is clear: if the firmware refuses, the update that follows enables the interrupt. */
	hart->irq.masked = true;
	riscv_pmu_nmi_hart_start(hart);
}

/**
 * riscv_pmu_crash_stop() - deliver no more NMIs to this hart, because the kernel has crashed
 *
 * Otherwise an overflow would enter this kernel's handler while the crash kernel runs, or as soon
 * as that unmasks the hart for SSE events of its own. The counters keep running. Interrupts are
 * off; the handler of an NMI may have crashed.
 */
void riscv_pmu_crash_stop(void)
{
	bool masked;

	if (!riscv_pmu_nmi_in_use || riscv_pmu_sse_stop() || !riscv_pmu_sse_is_running())
		return;

	/*
	 * The kernel has crashed in the handler. Until that is completed, the firmware neither
	 * disables nor unregisters the event, and its stack is in use, so nothing may be delivered.
	 */
	masked = riscv_pmu_sse_mask_hart();
	riscv_pmu_nmi_leave(riscv_pmu_nmi_has_h);
	riscv_pmu_sse_stop();
	if (masked)
		riscv_pmu_sse_unmask_hart();
}

static void __init nmi_drop_registration(void *unused)
{
	riscv_pmu_sse_stop();
}

/* A kernel that has crashed may have left a handler registered, whose code is gone. */
void __init riscv_pmu_nmi_drop_registrations(void)
{
	if (riscv_pmu_sse_is_available())
		on_each_cpu(nmi_drop_registration, NULL, 1);
}

static bool __init nmi_alloc_stacks(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct riscv_pmu_nmi *nmi = per_cpu_ptr(&riscv_pmu_nmi_harts, cpu);
		unsigned long stack;

		/* Machines with several CPU types come here once for each. */
		if (nmi->stack)
			continue;
		/*
		 * Of twice the size: with CONFIG_VMAP_STACK, the exception entry takes an address
		 * with the bit THREAD_SHIFT for one of an overflowed stack.
		 */
		stack = __get_free_pages(GFP_KERNEL, THREAD_SIZE_ORDER + 1);
		if (!stack)
			return false;

		nmi->stack = (void *)(stack + THREAD_SIZE) - sizeof(*nmi->stack);
		nmi->work = IRQ_WORK_INIT_HARD(riscv_pmu_nmi_work);
	}

	return true;
}

/* Returns why a PMU cannot have NMIs, or NULL. */
static const char *__init nmi_prepare(const struct riscv_pmu *pmu)
{
	if (!pmu->irq_ctrs)
		return "no counter interrupts";
	if (pmu->hwirq != RV_IRQ_PMU)
		return "the overflow interrupt is not that of Sscofpmf";
	if (!riscv_pmu_sse_is_available())
		return "the firmware has no SSE event for overflows (OpenSBI 1.6 or later has)";

	return nmi_alloc_stacks() ? NULL : "no memory";
}

/**
 * riscv_pmu_nmi_probe() - decide at boot whether overflows interrupt code with interrupts off
 * @pmu:	the PMU, its interrupt known
 *
 * By default they do not, because it is untested on silicon. With riscv_pmu.nmi=auto they do if the
 * firmware clears mip.LCOFIP when it delivers the event; with other firmware each sample takes one
 * ecall more.
 */
void __init riscv_pmu_nmi_probe(struct riscv_pmu *pmu)
{
	bool asked = !strcmp(nmi_param, "1"), is_auto = !strcmp(nmi_param, "auto");
	const char *why;

	if (!asked && !is_auto) {
		if (strcmp(nmi_param, "0"))
			pr_err("nmi=%s is not known, using 0; choose auto, 1 or 0\n", nmi_param);
		return;
	}

	why = nmi_prepare(pmu);
	if (why) {
		if (asked)
			pr_warn("nmi=1: code with interrupts off cannot be sampled: %s\n", why);
		return;
	}

	/* Firmware with the batch extension does that (opensbi/patches). */
	riscv_pmu_nmi_stays_pending = !riscv_pmu_sbi_has_batch();
	riscv_pmu_nmi_has_h = riscv_isa_extension_available(NULL, h);
	pmu->nmi = asked || !riscv_pmu_nmi_stays_pending;
	riscv_pmu_nmi_in_use |= pmu->nmi;
}
