// SPDX-License-Identifier: GPL-2.0
/*
 * The PMU named "sbi_fw": what the firmware counts of its own doings, by name. It
 * has a type, a format and a list of events, and hands each event on to the PMU of
 * the harts, whose firmware counters count it: so it runs in groups with these,
 * takes turns and follows tasks as they do.
 *
 * SBI 3.0, 11.2.5 "Event: Firmware Events".
 */

#include <linux/bits.h>
#include <linux/device.h>
#include <linux/init.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include <asm/sbi.h>

#include "event.h"
#include "internal.h"

#define FW_PMU_NAME		"sbi_fw"

/* config: the code; config1: the data of a platform's own event, else 0 */
#define FW_CONFIG_CODE		GENMASK_ULL(15, 0)
#define FW_CONFIG1_DATA		GENMASK_ULL(61, 0)

/* Whose counters count. */
static struct riscv_pmu *fw_core;

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
	struct riscv_pmu_prog prog = { .event_idx = RISCV_PMU_EVENT_FW(code) };

	return fw_core->ops.event_ctrs(fw_core, &prog) ? attr->mode : 0;
}

static const struct attribute_group fw_event_group = {
	.name		= "events",
	.attrs		= fw_events,
	.is_visible	= fw_event_is_visible,
};

static ssize_t device_id_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "fw.stat=%s\n", FW_PMU_NAME);
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
static int fw_attr_to_core(struct perf_event_attr *attr)
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
	attr->type = fw_core->pmu.type;
	return 0;
}

/*
 * perf's core takes -ENOENT with another type in the attributes for "go on there"
 * (perf_init_event()).
 */
static int fw_event_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;

	return fw_attr_to_core(&event->attr) ?: -ENOENT;
}

static struct pmu fw_pmu = {
	.attr_groups	= fw_attr_groups,
	.event_init	= fw_event_init,
	.task_ctx_nr	= perf_hw_context,
};

/**
 * riscv_pmu_fw_init() - register the PMU of the firmware's events
 * @core:	a registered core PMU that has firmware counters
 *
 * Context: process, at boot.
 * Return: 0 or a negative errno.
 */
int __init riscv_pmu_fw_init(struct riscv_pmu *core)
{
	fw_core = core;
	return perf_pmu_register(&fw_pmu, FW_PMU_NAME, -1);
}
