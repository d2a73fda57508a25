// SPDX-License-Identifier: GPL-2.0
/* The boot: which harts have which backend, what the backend found, registration with perf */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/cpu.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>

#include <asm/cpufeature.h>

#include "branch/branch.h"
#include "counter.h"
#include "csr.h"
#include "entries.h"
#include "event.h"
#include "fault.h"
#include "fw.h"
#include "nmi/nmi.h"
#include "platform/platform.h"
#include "poll_sample.h"
#include "throttle.h"
#include "update.h"
#include "user/user.h"

static char *backend_param = "auto";
module_param_named(backend, backend_param, charp, 0444);
MODULE_PARM_DESC(backend, "auto (default), ssccfg, sbi or legacy");

static unsigned int width_param;
module_param_named(width, width_param, uint, 0444);
MODULE_PARM_DESC(width, "for tests: use only 16 to 63 bits of hardware counters; 0 (default): all");

static bool stop_unused_param;
module_param_named(stop_unused, stop_unused_param, bool, 0444);
MODULE_PARM_DESC(stop_unused, "stop counters as soon as no event uses them: 1 or 0 (default)");

static bool unfiltered_param;
module_param_named(unfiltered, unfiltered_param, bool, 0444);
MODULE_PARM_DESC(unfiltered, "1: an event with exclude_kernel that no counter can filter counts all modes, if the user may count the kernel; 0 (default): it is refused");

/* Takes the ops that @ops does not have from @below: all members are pointers. */
static void __init probe_fill_ops(struct riscv_pmu_ops *ops, const struct riscv_pmu_ops *below)
{
	const void *const *from = (const void *const *)below;
	const void **to = (const void **)ops;

	static_assert(sizeof(*ops) % sizeof(*to) == 0);
	for (unsigned int i = 0; i < sizeof(*ops) / sizeof(*to); i++)
		to[i] = to[i] ?: from[i];
}

/* Probes on a hart of the PMU. Its ops are the backend's; the core's table may replace some. */
static long __init probe_here(void *data)
{
	struct riscv_pmu *pmu = data;
	const struct riscv_pmu_ops backend = pmu->ops;
	int err;

	if (backend.probe != riscv_pmu_base_ops.probe)
		riscv_pmu_platform_init_irq(pmu);
	probe_fill_ops(&pmu->ops, &backend);
	probe_fill_ops(&pmu->ops, &riscv_pmu_base_ops);
	probe_fill_ops(&pmu->ops, &riscv_pmu_core_ops);
	err = pmu->ops.probe(pmu);
	if (!err && pmu->irq_ctrs && !riscv_pmu_csr_can_enable_irq(pmu->hwirq))
		pmu->no_irq_why =
			"cannot enable the interrupt in sie (not delegated, or QEMU 10.0.11-13)";

	return err;
}

static long __init probe_check_here(void *data)
{
	guard(irqsave)();
	return (long)riscv_pmu_hotplug_check(data);
}

/* Removes the harts that differ from the one that was probed: the next PMU can have them. */
static void __init probe_check_harts(struct riscv_pmu *pmu, unsigned int probed)
{
	unsigned int cpu;

	for_each_cpu_and(cpu, &pmu->cpus, cpu_online_mask) {
		const char *what = NULL;

		if (cpu != probed)
			what = (const char *)work_on_cpu(cpu, probe_check_here, pmu);
		if (!what) {
			riscv_pmu_hotplug_skip_check(cpu);
			continue;
		}
		cpumask_clear_cpu(cpu, &pmu->cpus);
		pr_info("hart %u does not get the PMU of hart %u, because it differs in %s\n", cpu,
			probed, what);
	}
}

/* A hart of the PMU that is online; if none is, this hart: each is checked when it comes online. */
static unsigned int __init probe_choose_cpu(const struct riscv_pmu *pmu)
{
	unsigned int cpu = cpumask_any_and(&pmu->cpus, cpu_online_mask);

	return cpu < nr_cpu_ids ? cpu : raw_smp_processor_id();
}

/* Probes a PMU for those of the remaining harts that equal the first of them. */
static int __init probe_try_backend(struct riscv_pmu *pmu, const struct riscv_pmu_ops *backend,
				    const struct cpumask *left)
{
	unsigned int cpu;
	int err;

	*pmu = (struct riscv_pmu){
		.backend = backend->name,
		.ops = *backend,
		.guests = IS_ENABLED(CONFIG_KVM) && riscv_isa_extension_available(NULL, h),
		.absent_inh = IS_ENABLED(CONFIG_RISCV_PMU_KVM) ? RISCV_PMU_INH_GUESTS : 0,
	};
	cpumask_copy(&pmu->cpus, left);
	err = backend->select_cpus ? backend->select_cpus(&pmu->cpus) : 0;
	if (err)
		return err;

	riscv_pmu_platform_select_cpus(&pmu->cpus);
	riscv_pmu_platform_init(pmu);
	cpu = probe_choose_cpu(pmu);
	err = work_on_cpu(cpu, probe_here, pmu);
	if (!err)
		probe_check_harts(pmu, cpu);
	return err;
}

static const struct riscv_pmu_ops *const probe_backends[] __initconst = {
#ifdef CONFIG_RISCV_PMU_SSCCFG
	&riscv_pmu_ssccfg_ops,
#endif
#ifdef CONFIG_RISCV_PMU_SBI
	&riscv_pmu_sbi_ops,
#endif
#ifdef CONFIG_RISCV_PMU_LEGACY
	&riscv_pmu_base_ops,
#endif
};

static bool __init probe_is_known_backend(const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(probe_backends); i++) {
		if (!strcmp(probe_backends[i]->name, name))
			return true;
	}

	return !strcmp(name, "auto");
}

static int __init probe_choose_backend(struct riscv_pmu *pmu, const struct cpumask *left)
{
	const char *asked = backend_param;
	int err = -ENODEV;

	if (!probe_is_known_backend(asked)) {
		pr_err("backend=%s is not known here, using auto; choose auto, ssccfg, sbi or legacy\n",
		       asked);
		asked = "auto";
	}

	for (unsigned int i = 0; i < ARRAY_SIZE(probe_backends); i++) {
		if (strcmp(asked, "auto") && strcmp(asked, probe_backends[i]->name))
			continue;
		err = probe_try_backend(pmu, probe_backends[i], left);
		if (!err)
			return 0;
		if (err != -ENODEV)
			pr_warn("backend %s cannot be used (error %d)\n",
				probe_backends[i]->name, err);
	}

	pr_warn("no counters on harts %*pbl: backend=%s finds none (error %d)%s\n",
		cpumask_pr_args(left), asked, err,
		strcmp(asked, "auto") ? "; auto takes the best there is" : "");
	return err;
}

/* With fewer than 16 bits, overflows would occur faster than they can be handled. */
static void __init probe_clamp_width(struct riscv_pmu *pmu, unsigned int width)
{
	if (!width)
		return;
	if (width < 16 || width > 63) {
		pr_err("width=%u is not 16 to 63: counters keep the width that they have\n", width);
		return;
	}

	for_each_ctr(ctr, pmu->ctrs & ~pmu->fw_ctrs) {
		if (pmu->ctr[ctr].width <= width)
			continue;
		pmu->ctr[ctr].width = width;
		pmu->clamped_ctrs |= BIT_ULL(ctr);
	}
}

static void __init probe_print(const struct riscv_pmu *pmu)
{
	const struct riscv_pmu_platform *platform = pmu->platform;
	const char *core = platform ? platform->name : NULL;
	const char *filters = pmu->filters ? "user and kernel" : "none";
	u64 hw_ctrs = pmu->ctrs & ~pmu->fw_ctrs;

	if (riscv_pmu_nr_types > 1)
		pr_info("harts %*pbl:\n", cpumask_pr_args(&pmu->cpus));
	pr_info("backend %s%s%s%s%s: %lu programmable and %lu fixed counters of %u bits, %lu firmware counters\n",
		pmu->backend, pmu->firmware[0] ? " on " : "", pmu->firmware,
		core ? ", core " : "", core ?: "", hweight64(hw_ctrs & ~pmu->fixed_ctrs),
		hweight64(pmu->fixed_ctrs), riscv_pmu_min_width(pmu, hw_ctrs),
		hweight64(pmu->fw_ctrs));
	if (pmu->irq_ctrs)
		pr_info("filters %s; sampling by %s %u%s\n", filters,
			pmu->nmi ? "NMI in place of interrupt" : "interrupt", pmu->hwirq,
			strcmp(pmu->cycles_sampling, "polled") ? "" : ", cycles by a timer");
	else
		pr_info("filters %s; %s: %s\n", filters,
			pmu->polled_sampling ? "sampling by a timer, up to 4 ms late" :
			IS_ENABLED(CONFIG_RISCV_PMU_POLL) ? "no sampling (polled_sampling=0)" :
			"no sampling (CONFIG_RISCV_PMU_POLL is off)",
			pmu->no_irq_why);
	for (unsigned int i = 0; platform && pmu->raw_bits && i < platform->nr_substitutes; i++)
		pr_info("event_idx 0x%x in one mode: raw event 0x%llx counts user mode, 0x%llx the kernel\n",
			platform->substitutes[i].event_idx, platform->substitutes[i].user,
			platform->substitutes[i].kernel);
	if (pmu->unfiltered)
		pr_warn("riscv_pmu.unfiltered=1: an event with exclude_kernel that no counter can filter counts all modes\n");
	riscv_pmu_branch_print(pmu);
	if (pmu->poll_ctrs)
		pr_info("counters 0x%llx are narrow and do not interrupt: read every %llu us while in use\n",
			pmu->poll_ctrs, div_u64(pmu->poll_ns, NSEC_PER_USEC));
}

/* How perf record's default event, cycles, is sampled; runs on a hart of the PMU. */
static long __init probe_cycles_sampling(void *data)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .sample_period = 1 };
	struct riscv_pmu_request req[2];
	struct riscv_pmu *pmu = data;

	if (riscv_pmu_event_resolve(pmu, &attr, false, req))
		pmu->cycles_sampling = "none";
	else if (req[1].ctrs)
		pmu->cycles_sampling = "split";
	else
		pmu->cycles_sampling = !(req->ctrs & pmu->irq_ctrs) ? "polled" :
				       pmu->nmi ? "nmi" : "interrupt";
	return 0;
}

/* Runs on a hart of the PMU: sysfs asks which events there are, and the backend may try them. */
static long __init probe_register(void *data)
{
	static const char *const names[] = { "cpu", "cpu_type1", "cpu_type2", "cpu_type3" };
	struct riscv_pmu *pmu = data;
	unsigned int type = pmu - riscv_pmu_types;

	static_assert(ARRAY_SIZE(names) == RISCV_PMU_MAX_CPU_TYPES);
	riscv_pmu_core_init(pmu);
	if (riscv_pmu_nr_types > 1)
		pmu->pmu.capabilities |= PERF_PMU_CAP_EXTENDED_HW_TYPE;
	return perf_pmu_register(&pmu->pmu, names[type], type ? -1 : PERF_TYPE_RAW);
}

static int __init probe_find_pmus(void)
{
	struct cpumask left;
	unsigned int cpu;
	int err = 0;

	cpumask_copy(&left, cpu_possible_mask);
	while (!cpumask_empty(&left) && riscv_pmu_nr_types < RISCV_PMU_MAX_CPU_TYPES) {
		struct riscv_pmu *pmu = &riscv_pmu_types[riscv_pmu_nr_types];

		err = probe_choose_backend(pmu, &left);
		if (err)
			break;
		riscv_pmu_nr_types++;
		probe_clamp_width(pmu, width_param);
		for_each_cpu(cpu, &pmu->cpus)
			riscv_pmu_set_of(cpu, pmu);
		cpumask_andnot(&left, &left, &pmu->cpus);
	}

	if (!err && !cpumask_empty(&left))
		pr_warn("no PMU on harts %*pbl: there are more than %u CPU types; raise RISCV_PMU_MAX_CPU_TYPES in drivers/perf/riscv/backend.h, and rebuild the kernel\n",
			cpumask_pr_args(&left), RISCV_PMU_MAX_CPU_TYPES);
	return riscv_pmu_nr_types ? 0 : err;
}

static int __init probe_start_pmus(void)
{
	struct riscv_pmu_hart __percpu *harts =
		riscv_pmu_should_fail() ? NULL : alloc_percpu(struct riscv_pmu_hart);
	unsigned int cpu, i;

	if (!harts)
		return -ENOMEM;

	riscv_pmu_throttle_init();
	for (i = 0; i < riscv_pmu_nr_types; i++) {
		struct riscv_pmu *pmu = &riscv_pmu_types[i];

		pmu->harts = harts;
		for_each_cpu(cpu, &pmu->cpus)
			riscv_pmu_hart_reset(pmu, per_cpu_ptr(harts, cpu));
		riscv_pmu_irq_probe(pmu);
		riscv_pmu_nmi_probe(pmu);
		pmu->polled_sampling = riscv_pmu_poll_is_wanted();
		pmu->stop_unused = stop_unused_param;
		pmu->unfiltered = unfiltered_param;
		for_each_ctr(ctr, pmu->ctrs)
			pmu->filters |= pmu->ctr[ctr].inh;
		pmu->direct_ctrs = pmu->in_guest ? 0 : pmu->ctrs & ~pmu->fw_ctrs;
		riscv_pmu_poll_probe(pmu);
		riscv_pmu_branch_probe(pmu);
	}

	return riscv_pmu_hotplug_init() ?: riscv_pmu_user_init();
}

static int __init riscv_pmu_init(void)
{
	int err;

	/* A registered SSE event keeps the overflow interrupt, whose bit in sie the probe tries. */
	riscv_pmu_nmi_drop_registrations();
	err = probe_find_pmus();
	if (err)
		return riscv_pmu_hotplug_init() ?: err == -ENODEV ? 0 : err;

	err = probe_start_pmus();
	if (!err)
		riscv_pmu_debugfs_init();
	for (unsigned int i = 0; i < riscv_pmu_nr_types && !err; i++) {
		struct riscv_pmu *pmu = &riscv_pmu_types[i];

		work_on_cpu(probe_choose_cpu(pmu), probe_cycles_sampling, pmu);
		probe_print(pmu);
		err = work_on_cpu(probe_choose_cpu(pmu), probe_register, pmu);
	}
	if (err) {
		/* The hotplug states stay: they only stop counters, as is right without a PMU. */
		pr_err("the PMU is not registered: error %d\n", err);
		return err;
	}

	riscv_pmu_fw_init();
	riscv_pmu_nmi_watchdog_init();
	return 0;
}
device_initcall(riscv_pmu_init);
