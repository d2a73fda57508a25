// SPDX-License-Identifier: GPL-2.0
/* /sys/bus/event_source/devices/cpu: format, events, caps, cpus. */

#include <asm/sbi.h>

#include "branch/branch.h"
#include "entries.h"
#include "event.h"
#include "platform/platform.h"
#include "pmu.h"

static struct riscv_pmu *sysfs_dev_to_pmu(struct device *dev)
{
	return to_riscv_pmu((struct pmu *)dev_get_drvdata(dev));
}

/* A file that has one line. The values are computed from the PMU "pmu". */
#define SYSFS_VALUE(_name, _format, ...)					\
static ssize_t _name##_show(struct device *dev, struct device_attribute *attr,	\
			    char *page)						\
{										\
	const struct riscv_pmu *pmu __maybe_unused = sysfs_dev_to_pmu(dev);	\
										\
	return sysfs_emit(page, _format "\n", __VA_ARGS__);			\
}										\
static DEVICE_ATTR_RO(_name)

/* format/: the fields of config. The width of a raw selector depends on the SBI version. */

SYSFS_VALUE(event, "config:0-%u", (pmu->raw_bits ?: 48) - 1);
PMU_FORMAT_ATTR(firmware, "config:62-63");
PMU_FORMAT_ATTR(std, "config:62");
PMU_FORMAT_ATTR(counterid_mask, "config2:0-31");
#ifdef CONFIG_RISCV_PMU_EBB
PMU_FORMAT_ATTR(ebb, "config1:63");
static_assert(__builtin_ctzll(RISCV_PMU_CONFIG1_EBB) == 63);
#endif
static_assert(RISCV_PMU_CLASS_SHIFT == 62 && RISCV_PMU_CLASS_STD == 1 &&
	      RISCV_PMU_CLASS_FW == 2);

static struct attribute *sysfs_formats[] = {
	&dev_attr_event.attr,
	&format_attr_firmware.attr,
	&format_attr_std.attr,
	&format_attr_counterid_mask.attr,
#ifdef CONFIG_RISCV_PMU_EBB
	&format_attr_ebb.attr,
#endif
	NULL,
};

static const struct attribute_group sysfs_format_group = {
	.name	= "format",
	.attrs	= sysfs_formats,
};

/* events/: the standard events that this machine has, under perf's names. */

static ssize_t sysfs_event_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "event=0x%llx,std=1\n",
			  container_of(attr, struct perf_pmu_events_attr, attr)->id);
}

#define SYSFS_EVENT(_name, _idx)	RISCV_PMU_EVENT_ATTR(_name, sysfs_event_show, _idx)
#define SYSFS_HW(_name, _id)	SYSFS_EVENT(_name, RISCV_PMU_EVENT_HW(_id))

#define SYSFS_CACHE_OP(_cache, _id, _many, _one, _op)					\
	SYSFS_EVENT(_cache "-" _many, RISCV_PMU_EVENT_CACHE(_id, _op, ACCESS)),		\
	SYSFS_EVENT(_cache "-" _one "-misses", RISCV_PMU_EVENT_CACHE(_id, _op, MISS))

#define SYSFS_CACHE(_cache, _id)						\
	SYSFS_CACHE_OP(_cache, _id, "loads", "load", OP_READ),			\
	SYSFS_CACHE_OP(_cache, _id, "stores", "store", OP_WRITE),			\
	SYSFS_CACHE_OP(_cache, _id, "prefetches", "prefetch", OP_PREFETCH)

static struct attribute *sysfs_events[] = {
	SYSFS_HW("cpu-cycles", CPU_CYCLES),
	SYSFS_HW("instructions", INSTRUCTIONS),
	SYSFS_HW("cache-references", CACHE_REFERENCES),
	SYSFS_HW("cache-misses", CACHE_MISSES),
	SYSFS_HW("branch-instructions", BRANCH_INSTRUCTIONS),
	SYSFS_HW("branch-misses", BRANCH_MISSES),
	SYSFS_HW("bus-cycles", BUS_CYCLES),
	SYSFS_HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	SYSFS_HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	SYSFS_HW("ref-cycles", REF_CPU_CYCLES),
	SYSFS_CACHE("L1-dcache", L1D),
	SYSFS_CACHE("L1-icache", L1I),
	SYSFS_CACHE("LLC", LL),
	SYSFS_CACHE("dTLB", DTLB),
	SYSFS_CACHE("iTLB", ITLB),
	SYSFS_CACHE("branch", BPU),
	SYSFS_CACHE("node", NODE),
	NULL,
};

static umode_t sysfs_event_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	struct riscv_pmu *pmu = sysfs_dev_to_pmu(kobj_to_dev(kobj));
	struct riscv_pmu_config cfg = {
		.event_idx = container_of(attr, struct perf_pmu_events_attr, attr.attr)->id,
	};

	return riscv_pmu_event_ctrs(pmu, &cfg) ? attr->mode : 0;
}

static const struct attribute_group sysfs_event_group = {
	.name		= "events",
	.attrs		= sysfs_events,
	.is_visible	= sysfs_event_is_visible,
};

/* caps/: capabilities of this PMU, for tools. */

/* NULL: no event can be sampled. */
static const char *sysfs_sampling(const struct riscv_pmu *pmu)
{
	if (pmu->irq_ctrs)
		return riscv_pmu_samples_by_nmi(pmu) ? "nmi" : "interrupt";

	return pmu->polled_sampling ? "polled" : NULL;
}

static const char *sysfs_cycles_sampling(const struct riscv_pmu *pmu)
{
	if (!strcmp(pmu->cycles_sampling, "nmi") && !riscv_pmu_samples_by_nmi(pmu))
		return "interrupt";

	return pmu->cycles_sampling;
}

SYSFS_VALUE(backend, "%s", pmu->backend);
SYSFS_VALUE(core, "%s", pmu->platform->name);
SYSFS_VALUE(filters, "%s", pmu->filters & RISCV_PMU_INH_M ? "user,kernel,machine" :
			   pmu->filters ? "user,kernel" : "none");
SYSFS_VALUE(unfiltered, "%d", pmu->unfiltered);
SYSFS_VALUE(sampling, "%s", sysfs_sampling(pmu) ?: "none");
SYSFS_VALUE(cycles_sampling, "%s", sysfs_cycles_sampling(pmu));
SYSFS_VALUE(max_precise, "%d", 0);
SYSFS_VALUE(programmable_counters, "%lu",
	    hweight64(pmu->ctrs & ~pmu->fixed_ctrs & ~pmu->fw_ctrs));
SYSFS_VALUE(fixed_counters, "%lu", hweight64(pmu->fixed_ctrs));
SYSFS_VALUE(firmware_counters, "%lu", hweight64(pmu->fw_ctrs));
SYSFS_VALUE(counter_width, "%u", riscv_pmu_min_width(pmu, pmu->ctrs & ~pmu->fw_ctrs));
/* The perf tool reads from this file how many branch records a sample may have. */
SYSFS_VALUE(branches, "%u", riscv_pmu_branch_depth(pmu));

/* What perf_event_open() supports on this PMU. Documentation/ABI/testing describes the syntax. */
SYSFS_VALUE(device_id, "core.stat=%s%s%s", pmu->pmu.name,
	    sysfs_sampling(pmu) ? ";core.record=" : "",
	    sysfs_sampling(pmu) ? pmu->pmu.name : "");

static umode_t sysfs_cap_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	const struct riscv_pmu *pmu = sysfs_dev_to_pmu(kobj_to_dev(kobj));

	if (attr == &dev_attr_core.attr && !(pmu->platform && pmu->platform->name))
		return 0;
	return attr != &dev_attr_branches.attr || riscv_pmu_branch_depth(pmu) ? attr->mode : 0;
}

static struct attribute *sysfs_caps[] = {
	&dev_attr_device_id.attr,
	&dev_attr_backend.attr,
	&dev_attr_core.attr,
	&dev_attr_filters.attr,
	&dev_attr_unfiltered.attr,
	&dev_attr_sampling.attr,
	&dev_attr_cycles_sampling.attr,
	&dev_attr_max_precise.attr,
	&dev_attr_programmable_counters.attr,
	&dev_attr_fixed_counters.attr,
	&dev_attr_firmware_counters.attr,
	&dev_attr_counter_width.attr,
	&dev_attr_branches.attr,
	NULL,
};

static const struct attribute_group sysfs_cap_group = {
	.name		= "caps",
	.attrs		= sysfs_caps,
	.is_visible	= sysfs_cap_is_visible,
};

/* cpus: the harts of this PMU. The perf tool takes a PMU with this file for a core PMU. */

SYSFS_VALUE(cpus, "%*pbl", cpumask_pr_args(&pmu->cpus));

static struct attribute *sysfs_common[] = { &dev_attr_cpus.attr, NULL };
static const struct attribute_group sysfs_common_group = { .attrs = sysfs_common };

const struct attribute_group *riscv_pmu_attr_groups[] = {
	&sysfs_common_group,
	&sysfs_format_group,
	&sysfs_event_group,
	&sysfs_cap_group,
	NULL,
};
