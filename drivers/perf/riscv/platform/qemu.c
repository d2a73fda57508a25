// SPDX-License-Identifier: GPL-2.0
/* QEMU's virt machine. */

#include <linux/array_size.h>

#include "../event.h"
#include "platform.h"

static const struct riscv_pmu_selector qemu_selectors[] = PLATFORM_SELECTORS(qemu);

const struct riscv_pmu_platform riscv_pmu_qemu = {
	.compatibles	= { "riscv-virtio" },
	.selectors	= qemu_selectors,
	.nr_selectors	= ARRAY_SIZE(qemu_selectors),
};
