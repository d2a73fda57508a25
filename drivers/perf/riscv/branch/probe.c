// SPDX-License-Identifier: GPL-2.0
/* Finds the branch records of the harts (Ssctr) at boot. */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/log2.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include <asm/cpufeature.h>

#include "../compat.h"
#include "../fault.h"
#include "../platform/platform.h"
#include "state.h"

#define BRANCHES_DEFAULT	32

static unsigned int branches_param = BRANCHES_DEFAULT;
module_param_named(branches, branches_param, uint, 0444);
MODULE_PARM_DESC(branches, "branch records of a hart: 16, 32 (default), 64, 128 or 256; 0: none");

/* A hart that comes online later can do without branch records. */
static unsigned int __init branch_count_harts(const struct riscv_pmu *pmu)
{
	unsigned int cpu, harts = 0;

	for_each_cpu_and(cpu, &pmu->cpus, cpu_online_mask)
		harts += riscv_pmu_platform_lists_ext(cpu, "ssctr") &&
			 riscv_pmu_platform_lists_ext(cpu, "sscsrind");

	return harts;
}

static unsigned int __init branch_wanted_depth(void)
{
	if (!branches_param || (is_power_of_2(branches_param) &&
				branches_param >= PMU_SCTRDEPTH_MIN &&
				branches_param <= PMU_BRANCH_MAX))
		return branches_param;

	pr_err("branches=%u is not 0, 16, 32, 64, 128 or 256: using %u\n", branches_param,
	       BRANCHES_DEFAULT);
	return BRANCHES_DEFAULT;
}

struct branch_probe_args {
	struct riscv_pmu_branch_caps caps;	/* with the wanted depth; found: the hart's */
	unsigned int trap;
};

static void __init branch_probe_here(void *data)
{
	struct branch_probe_args *args = data;

	args->trap = riscv_pmu_csr_branch_probe(&args->caps, args->caps.depth);
}

/*
 * For the call stacks of tasks that are not running. Since Linux 6.15 a task has one buffer
 * (perf_ctx_data) for all PMUs, so it must fit the largest number of records.
 */
static struct kmem_cache *__init branch_task_cache(unsigned int depth)
{
	static struct kmem_cache *cache __initdata;

	if (riscv_pmu_nr_types > 1)
		depth = PMU_BRANCH_MAX;
	if (!cache)
		cache = kmem_cache_create("riscv_pmu_branch",
					  struct_size((struct riscv_pmu_branch_ctx *)NULL, records,
						      depth), 0, 0, NULL);
	return cache;
}

/* Memory for the records of a sample, on each hart, and a cache for the call stacks of tasks */
static bool __init branch_alloc(struct riscv_pmu *pmu, unsigned int depth)
{
	size_t size = struct_size((struct perf_branch_stack *)NULL, entries, depth);

	if (!riscv_pmu_should_fail())
		pmu->branch.stack = __alloc_percpu(size, __alignof__(u64));
	if (pmu->branch.stack)
		pmu->pmu.task_ctx_cache = branch_task_cache(depth);
	return pmu->pmu.task_ctx_cache;
}

static void __maybe_unused branch_sched_task(struct perf_event_pmu_context *pmu_ctx,
					     struct task_struct *task, bool sched_in)
{
	riscv_pmu_branch_switch(pmu_ctx, sched_in);
}

static const char *__init branch_why_trapped(unsigned int cpu, unsigned int trap)
{
	static char why[160] __initdata;
	char what[16] = "SCTRCLR";

	if (trap != RISCV_PMU_CSR_SCTRCLR)
		scnprintf(what, sizeof(what), "CSR 0x%x", trap);
	scnprintf(why, sizeof(why),
		  "%s traps on hart %u: use firmware that sets mstateen0.CTR, or does not list ssctr in %s",
		  what, cpu, riscv_pmu_platform_ext_source());
	return why;
}

static const char *__init branch_find(struct riscv_pmu *pmu)
{
	struct branch_probe_args args = { .caps.depth = branch_wanted_depth() };
	unsigned int cpu = cpumask_any_and(&pmu->cpus, cpu_online_mask);

	if (!args.caps.depth)
		return "riscv_pmu.branches=0";
	if (branch_count_harts(pmu) != cpumask_weight_and(&pmu->cpus, cpu_online_mask))
		return "not all harts of this PMU are listed with ssctr and sscsrind";
	if (cpu >= nr_cpu_ids || smp_call_function_single(cpu, branch_probe_here, &args, 1))
		return "no hart of this PMU is online";
	if (args.trap)
		return branch_why_trapped(cpu, args.trap);

	pmu->branch = args.caps;
	if (!branch_alloc(pmu, args.caps.depth)) {
		free_percpu(pmu->branch.stack);
		pmu->branch = (struct riscv_pmu_branch_caps){};
		return "out of memory";
	}
	pmu->pmu.sched_task = RISCV_PMU_SCHED_TASK(&pmu->pmu, riscv_pmu_branch_switch,
						   branch_sched_task);
	return NULL;
}

/**
 * riscv_pmu_branch_probe() - find the branch records of a PMU's harts
 * @pmu:	the PMU, its harts known; if none can be used, &riscv_pmu_branch_caps.depth stays 0
 *
 * A machine without Ssctr gets no message. riscv_pmu_hotplug_init() is called later.
 */
void __init riscv_pmu_branch_probe(struct riscv_pmu *pmu)
{
	const char *why;

	if (!branch_count_harts(pmu))
		return;

	/*
	 * With Smstateen, each access by a guest traps, because KVM never sets hstateen0.CTR; but
	 * QEMU 10.0.2 lets guests read records through siselect.
	 */
	if (pmu->guests && (pmu->is_qemu || !riscv_isa_extension_available(NULL, SMSTATEEN)))
		riscv_pmu_csr_branch_note_guest_access();
	why = branch_find(pmu);
	if (why)
		pr_info("no branch records: %s\n", why);
}

void __init riscv_pmu_branch_print(const struct riscv_pmu *pmu)
{
	if (pmu->branch.depth)
		pr_info("branch records: %u per hart, %s call stacks\n", pmu->branch.depth,
			pmu->branch.ctl & PMU_SCTRCTL_RASEMU ? "with" : "without");
}
