// SPDX-License-Identifier: GPL-2.0
/*
 * Firmware events (SBI 3.0, 11.2.5), and the PMU "sbi_fw", which has a type, a format and a list
 * for them. It forwards each event to the core PMU, which has the firmware counters: so firmware
 * events can be in groups with other events of that PMU, are multiplexed with them, and can be
 * opened for tasks. If there are several CPU types, each has such a PMU ("sbi_fw_type1"), because
 * an event of a task belongs to a single core PMU.
 */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <linux/slab.h>

#include <asm/sbi.h>

#include "event.h"
#include "fault.h"
#include "fw.h"
#include "pmu.h"

/* The code of all platform firmware events, which their data distinguishes */
#define FW_CODE_PLATFORM	0xffff

/**
 * riscv_pmu_fw_parse() - get a firmware event's event_idx and data
 * @config:	perf_event_attr::config of one of the two classes
 * @cfg:	out: event_idx and event_data
 *
 * Return: 0, or -EINVAL.
 */
int riscv_pmu_fw_parse(u64 config, struct riscv_pmu_config *cfg)
{
	u64 code = config & GENMASK_ULL(RISCV_PMU_CLASS_SHIFT - 1, 0);

	if (config >> RISCV_PMU_CLASS_SHIFT == RISCV_PMU_CLASS_FW_PLATFORM) {
		cfg->event_idx = RISCV_PMU_EVENT_FW(FW_CODE_PLATFORM);
		cfg->event_data = code;
		return 0;
	}
	if (code >= FW_CODE_PLATFORM)
		return -EINVAL;

	cfg->event_idx = RISCV_PMU_EVENT_FW((u32)code);
	return 0;
}

/*
 * Whether an event is a platform firmware event with filters, which no firmware counter has. The
 * firmware is not asked about such an event: it could not be counted anyway, and if OpenSBI 1.6 has
 * no counter for it, it writes event_data, which user space chooses, out of bounds.
 */
bool riscv_pmu_fw_is_unfilterable(const struct riscv_pmu *pmu, u32 event_idx, u32 inh)
{
	return event_idx == RISCV_PMU_EVENT_FW(FW_CODE_PLATFORM) && pmu->fw_ctrs && inh;
}

/* The PMU of the firmware events of one CPU type; @core counts them. */
struct fw_pmu {
	struct pmu		pmu;
	struct riscv_pmu	*core;
};

static struct fw_pmu *fw_dev_to_pmu(struct device *dev)
{
	return container_of((struct pmu *)dev_get_drvdata(dev), struct fw_pmu, pmu);
}

/* --- sysfs --- */

PMU_FORMAT_ATTR(event, "config:0-15");
PMU_FORMAT_ATTR(data, "config1:0-61");

static struct attribute *fw_formats[] = {
	&format_attr_event.attr,
	&format_attr_data.attr,
	NULL,
};

static const struct attribute_group fw_format_group = {
	.name	= "format",
	.attrs	= fw_formats,
};

static ssize_t fw_event_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "event=0x%llx\n",
			  container_of(attr, struct perf_pmu_events_attr, attr)->id);
}

#define FW_EVENT(_name, _code)	RISCV_PMU_EVENT_ATTR(_name, fw_event_show, SBI_PMU_FW_##_code)

/* SBI 3.0, 11.2.5 */
static struct attribute *fw_events[] = {
	FW_EVENT("misaligned-load", MISALIGNED_LOAD),
	FW_EVENT("misaligned-store", MISALIGNED_STORE),
	FW_EVENT("access-load", ACCESS_LOAD),
	FW_EVENT("access-store", ACCESS_STORE),
	FW_EVENT("illegal-insn", ILLEGAL_INSN),
	FW_EVENT("set-timer", SET_TIMER),
	FW_EVENT("ipi-sent", IPI_SENT),
	FW_EVENT("ipi-received", IPI_RCVD),
	FW_EVENT("fence-i-sent", FENCE_I_SENT),
	FW_EVENT("fence-i-received", FENCE_I_RCVD),
	FW_EVENT("sfence-vma-sent", SFENCE_VMA_SENT),
	FW_EVENT("sfence-vma-received", SFENCE_VMA_RCVD),
	FW_EVENT("sfence-vma-asid-sent", SFENCE_VMA_ASID_SENT),
	FW_EVENT("sfence-vma-asid-received", SFENCE_VMA_ASID_RCVD),
	FW_EVENT("hfence-gvma-sent", HFENCE_GVMA_SENT),
	FW_EVENT("hfence-gvma-received", HFENCE_GVMA_RCVD),
	FW_EVENT("hfence-gvma-vmid-sent", HFENCE_GVMA_VMID_SENT),
	FW_EVENT("hfence-gvma-vmid-received", HFENCE_GVMA_VMID_RCVD),
	FW_EVENT("hfence-vvma-sent", HFENCE_VVMA_SENT),
	FW_EVENT("hfence-vvma-received", HFENCE_VVMA_RCVD),
	FW_EVENT("hfence-vvma-asid-sent", HFENCE_VVMA_ASID_SENT),
	FW_EVENT("hfence-vvma-asid-received", HFENCE_VVMA_ASID_RCVD),
	NULL,
};

static umode_t fw_event_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	u16 code = container_of(attr, struct perf_pmu_events_attr, attr.attr)->id;
	struct riscv_pmu_config cfg = { .event_idx = RISCV_PMU_EVENT_FW(code) };
	struct riscv_pmu *core = fw_dev_to_pmu(kobj_to_dev(kobj))->core;

	return core->ops.event_ctrs(core, &cfg) ? attr->mode : 0;
}

static const struct attribute_group fw_event_group = {
	.name		= "events",
	.attrs		= fw_events,
	.is_visible	= fw_event_is_visible,
};

static ssize_t device_id_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "fw.stat=%s\n", fw_dev_to_pmu(dev)->pmu.name);
}
static DEVICE_ATTR_RO(device_id);

static struct attribute *fw_caps[] = {
	&dev_attr_device_id.attr,
	NULL,
};

static const struct attribute_group fw_cap_group = {
	.name	= "caps",
	.attrs	= fw_caps,
};

static const struct attribute_group *fw_attr_groups[] = {
	&fw_format_group,
	&fw_event_group,
	&fw_cap_group,
	NULL,
};

/* --- forwarding of events --- */

/*
 * Translates the attributes to the core PMU's encoding: config is the code of the event, config1
 * the data of a platform firmware event, else 0. The core PMU checks the other fields.
 */
static int fw_attr_to_core(struct perf_event_attr *attr, const struct riscv_pmu *core)
{
	u64 code = attr->config, data = attr->config1;

	if (code > FW_CODE_PLATFORM || data >> RISCV_PMU_CLASS_SHIFT ||
	    (data && code != FW_CODE_PLATFORM) || attr->config2)
		return -EINVAL;

	attr->config = code == FW_CODE_PLATFORM ?
		       (u64)RISCV_PMU_CLASS_FW_PLATFORM << RISCV_PMU_CLASS_SHIFT | data :
		       (u64)RISCV_PMU_CLASS_FW << RISCV_PMU_CLASS_SHIFT | code;
	attr->config1 = 0;
	attr->type = core->pmu.type;
	return 0;
}

/*
 * A PMU can forward an event to another PMU: it writes the other PMU's type and encoding to
 * the event's copy of the attributes, and returns -ENOENT. perf_init_event() supports this,
 * and keeps the first type in orig_type (Linux 6.12 and 7.2); AMD's core PMU forwards events
 * to IBS so. The caller's attributes are not changed. An event of one hart is forwarded to
 * that hart's PMU, an event of a task to the core PMU of this PMU.
 */
static int fw_event_init(struct perf_event *event)
{
	const struct riscv_pmu *core = container_of(event->pmu, struct fw_pmu, pmu)->core;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->cpu >= 0)
		core = riscv_pmu_of(event->cpu);

	return core ? fw_attr_to_core(&event->attr, core) ?: -ENOENT : -ENODEV;
}

static int __init fw_register(struct riscv_pmu *core, unsigned int type)
{
	static const char *const names[] = {
		"sbi_fw", "sbi_fw_type1", "sbi_fw_type2", "sbi_fw_type3",
	};
	struct fw_pmu *fw = riscv_pmu_should_fail() ? NULL : kzalloc(sizeof(*fw), GFP_KERNEL);
	int err;

	static_assert(ARRAY_SIZE(names) == RISCV_PMU_MAX_CPU_TYPES);
	if (!fw)
		return -ENOMEM;

	fw->core = core;
	fw->pmu.attr_groups = fw_attr_groups;
	fw->pmu.event_init = fw_event_init;
	fw->pmu.task_ctx_nr = perf_hw_context;
	err = perf_pmu_register(&fw->pmu, names[type], -1);
	if (err)
		kfree(fw);
	return err;
}

/* Registers a PMU for each registered core PMU that has firmware counters. */
void __init riscv_pmu_fw_init(void)
{
	for (unsigned int i = 0; i < riscv_pmu_nr_types; i++) {
		struct riscv_pmu *core = &riscv_pmu_types[i];
		int err = core->fw_ctrs ? fw_register(core, i) : 0;

		if (err)
			pr_warn("cannot register sbi_fw (error %d): use the fw-... events of %s instead\n",
				err, core->pmu.name);
	}
}
