// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU named "sbi_fw": what the firmware counts of its own doings, by name. It
 * has a type, a format and a list of events, and hands each event on to the PMU of
 * the harts, whose firmware counters count it: so it runs in groups with these,
 * takes turns and follows tasks as they do. Where harts are of several kinds, each
 * has one ("sbi_fw_type1"): a task's event belongs to one PMU of harts.
 *
 * SBI 3.0, 11.2.5 "Event: Firmware Events".
 */

#include <linux/bits.h>
#include <linux/device.h>
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include <asm/sbi.h>

#include "entries.h"
#include "event.h"
#include "fault.h"
#include "pmu.h"

#define FW_PMU_NAME		"sbi_fw"

/* config: the code; config1: the data of a platform's own event, else 0 */
#define FW_CONFIG_CODE		GENMASK_ULL(15, 0)
#define FW_CONFIG1_DATA		GENMASK_ULL(61, 0)

/**
 * struct fw_pmu - the firmware's events on one CPU type
 * @pmu:	for perf
 * @core:	whose counters count
 * @name:	in sysfs
 */
struct fw_pmu {
	struct pmu		pmu;
	struct riscv_pmu	*core;
	const char		*name;
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

struct fw_event {
	struct device_attribute	attr;
	u16			code;
};

static ssize_t fw_event_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "event=0x%x\n", container_of(attr, struct fw_event, attr)->code);
}

#define FW_EVENT(_name, _code)							\
	(&((struct fw_event[]) { {						\
		.attr = { .attr = { .name = _name, .mode = 0444 },		\
			  .show = fw_event_show },				\
		.code = SBI_PMU_FW_##_code,					\
	} })[0].attr.attr),

static struct attribute *fw_events[] = {
	RISCV_PMU_FW_EVENTS(FW_EVENT)
	NULL,
};

static umode_t fw_event_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	u16 code = container_of(attr, struct fw_event, attr.attr)->code;
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
	return sysfs_emit(page, "fw.stat=%s\n", fw_dev_to_pmu(dev)->name);
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

/* --- perf's callback --- */

/* The same event in the core PMU's encoding, whose rules for all else apply. */
static int fw_attr_to_core(struct perf_event_attr *attr, const struct riscv_pmu *core)
{
	u64 code = attr->config, data = attr->config1;

	if (code & ~FW_CONFIG_CODE || data & ~FW_CONFIG1_DATA || attr->config2)
		return -EINVAL;

	if (code == RISCV_PMU_EVENT_FW_PLATFORM) {
		attr->config = RISCV_PMU_CONFIG(RISCV_PMU_CLASS_FW_PLATFORM, data);
	} else {
		if (data)
			return -EINVAL;
		attr->config = RISCV_PMU_CONFIG(RISCV_PMU_CLASS_FW, code);
	}
	attr->config1 = 0;
	attr->type = core->pmu.type;
	return 0;
}

/*
 * A PMU forwards an event to another one by writing that one's type and encoding to the
 * event's own copy of the attributes and returning -ENOENT: perf_init_event() provides for
 * it and keeps the first type in orig_type (Linux 6.12 and 7.2), and AMD's core PMU uses it
 * for IBS. The caller's attributes stay as they are. An event of one hart goes to that
 * hart's PMU, an event of a task to ours.
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

/**
 * riscv_pmu_fw_init() - register the PMU of the firmware's events on one CPU type
 * @core:	a registered core PMU that has firmware counters
 * @type:	its number, 0 for the first
 *
 * Context: process, at boot.
 * Return: 0 or a negative errno.
 */
int __init riscv_pmu_fw_init(struct riscv_pmu *core, unsigned int type)
{
	struct fw_pmu *fw = riscv_pmu_should_fail() ? NULL : kzalloc(sizeof(*fw), GFP_KERNEL);
	int err;

	if (!fw)
		return -ENOMEM;

	fw->core = core;
	fw->name = type ? kasprintf(GFP_KERNEL, FW_PMU_NAME "_type%u", type) : FW_PMU_NAME;
	fw->pmu.attr_groups = fw_attr_groups;
	fw->pmu.event_init = fw_event_init;
	fw->pmu.task_ctx_nr = perf_hw_context;
	err = fw->name ? perf_pmu_register(&fw->pmu, fw->name, -1) : -ENOMEM;
	if (!err)
		return 0;

	kfree_const(fw->name);
	kfree(fw);
	return err;
}
