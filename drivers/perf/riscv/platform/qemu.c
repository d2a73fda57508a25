// SPDX-License-Identifier: GPL-2.0
/* QEMU's virt machine: a selector is the event's event_idx (target/riscv/pmu.c). */

#include <linux/array_size.h>
#include <linux/of.h>

#include "../event.h"
#include "platform.h"

static bool qemu_match(void)
{
	return of_machine_is_compatible("riscv-virtio");
}

static const struct riscv_pmu_selector qemu_selectors[] = {
	{ RISCV_PMU_EVENT_CYCLES,				0x00001 },
	{ RISCV_PMU_EVENT_INSTRUCTIONS,				0x00002 },
	{ RISCV_PMU_EVENT_CACHE(DTLB, OP_READ, MISS),		0x10019 },
	{ RISCV_PMU_EVENT_CACHE(DTLB, OP_WRITE, MISS),		0x1001b },
	{ RISCV_PMU_EVENT_CACHE(ITLB, OP_READ, MISS),		0x10021 },
};

const struct riscv_pmu_core riscv_pmu_core_qemu = {
	.match		= qemu_match,
	.selectors	= qemu_selectors,
	.nr_selectors	= ARRAY_SIZE(qemu_selectors),
	.is_qemu	= true,
};
