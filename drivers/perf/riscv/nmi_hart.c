// SPDX-License-Identifier: GPL-2.0
/*
 * Which harts deliver overflows as NMIs (nmi.c): the decision at boot, CPU hotplug and idle states.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/cleanup.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/cpufeature.h>
#include <asm/csr.h>

#include "entries.h"
#include "nmi.h"
#include "print.h"
#include "sbi/call.h"
#include "sse.h"

static char *nmi_param = "0";
module_param_named(nmi, nmi_param, charp, 0444);
MODULE_PARM_DESC(nmi, "sample code with interrupts off: 0 (default), auto or 1");

/* --- harts --- */

/**
 * riscv_pmu_nmi_hart_start() - let the overflows of a hart interrupt any code
 * @pmu:	the PMU
 * @hart:	this hart, which comes up
 *
 * If the firmware refuses, overflows remain interrupts on this hart.
 *
 * Context: CPU hotplug, interrupts off.
 */
void riscv_pmu_nmi_hart_start(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart)
{
	int err;

	if (!pmu->nmi)
		return;

	err = riscv_pmu_sse_start(riscv_pmu_nmi_entry, this_cpu_ptr(&riscv_pmu_nmi_harts));
	hart->irq.nmi = !err;
	if (err)
		riscv_pmu_warn("hart %u: the firmware does not deliver overflows as NMIs (error %d): code with interrupts off is not sampled on it\n",
			       smp_processor_id(), err);
	else
		hart->irq.mask = 0;
}

/**
 * riscv_pmu_nmi_hart_stop() - have overflows raise the interrupt again
 * @hart:	this hart, which goes down
 *
 * Context: interrupts off.
 */
void riscv_pmu_nmi_hart_stop(struct riscv_pmu_hart *hart)
{
	if (!hart->irq.nmi)
		return;

	hart->irq.nmi = false;
	riscv_pmu_sse_stop();
}

/**
 * riscv_pmu_nmi_hart_suspend() - prepare for an idle state that loses the hart's registers
 * @hart:	this hart
 *
 * Context: interrupts off, until riscv_pmu_nmi_hart_resume().
 */
void riscv_pmu_nmi_hart_suspend(const struct riscv_pmu_hart *hart)
{
	if (hart->irq.nmi)
		riscv_pmu_sse_suspend();
}

/**
 * riscv_pmu_nmi_hart_resume() - deliver overflows again
 * @hart:	this hart
 *
 * Context: interrupts off.
 */
void riscv_pmu_nmi_hart_resume(const struct riscv_pmu_hart *hart)
{
	if (hart->irq.nmi)
		riscv_pmu_sse_resume();
}

/* --- the boot --- */

static bool __init nmi_alloc_stacks(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct riscv_pmu_nmi *nmi = per_cpu_ptr(&riscv_pmu_nmi_harts, cpu);
		/*
		 * Of twice the size: with CONFIG_VMAP_STACK, the exception entry takes an address
		 * with the bit THREAD_SHIFT for one of an overflowed stack.
		 */
		unsigned long stack;

		/* Machines with several CPU types come here once for each. */
		if (nmi->stack)
			continue;
		stack = __get_free_pages(GFP_KERNEL, THREAD_SIZE_ORDER + 1);
		if (!stack)
			return false;

		nmi->stack = (void *)(stack + THREAD_SIZE) - sizeof(*nmi->stack);
		nmi->work = IRQ_WORK_INIT_HARD(riscv_pmu_nmi_work);
	}

	return true;
}

static const char *__init nmi_find(const struct riscv_pmu *pmu)
{
	bool available;

	if (!pmu->irq_ctrs)
		return "no counter interrupts";
	if (pmu->hwirq != RV_IRQ_PMU)
		return "the overflow interrupt is not that of Sscofpmf";

	scoped_guard(preempt)
		available = riscv_pmu_sse_is_available();
	if (!available)
		return "the firmware has no event for it (SSE; OpenSBI 1.6 or later has)";

	return nmi_alloc_stacks() ? NULL : "no memory";
}

/**
 * riscv_pmu_nmi_probe() - decide whether overflows interrupt code with interrupts off
 * @pmu:	the PMU, its interrupt known
 *
 * By default they do not, until this has been tested on silicon. With riscv_pmu.nmi=auto they do if
 * the firmware clears the pending interrupt: otherwise each sample takes one firmware call more.
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

	why = nmi_find(pmu);
	if (why) {
		if (asked)
			pr_warn("nmi=1: code with interrupts off can not be sampled: %s\n", why);
		return;
	}

	/* Firmware with the batch extension clears the pending bit itself (opensbi/patches). */
	riscv_pmu_nmi_stays_pending = !riscv_pmu_sbi_has_batch();
	riscv_pmu_nmi_has_h = riscv_isa_extension_available(NULL, h);
	pmu->nmi = asked || !riscv_pmu_nmi_stays_pending;
}
