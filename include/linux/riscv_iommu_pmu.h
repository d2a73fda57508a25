/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the driver of a RISC-V IOMMU hands to that of its performance monitor.
 *
 * The monitor's registers are part of the IOMMU's (RISC-V IOMMU Architecture
 * 1.0, 6.19 to 6.23), so that one driver owns them; the monitor is an auxiliary device
 * of it, whose driver can be a module.
 */
#ifndef _LINUX_RISCV_IOMMU_PMU_H
#define _LINUX_RISCV_IOMMU_PMU_H

#include <linux/atomic.h>
#include <linux/auxiliary_bus.h>
#include <linux/bits.h>
#include <linux/device.h>
#include <linux/types.h>
#include <linux/version.h>

/* The auxiliary device is named riscv_iommu.hpm.N. */
#define RISCV_IOMMU_PMU_MODULE	"riscv_iommu"
#define RISCV_IOMMU_PMU_NAME	"hpm"

/* capabilities.HPM */
#define RISCV_IOMMU_CAPS_HPM	BIT_ULL(30)

/**
 * struct riscv_iommu_pmu_data - the auxiliary device's platform data
 * @reg:	all registers of the IOMMU, mapped
 * @irq:	Linux's number of the vector that icvec.PMIV names, or 0
 */
struct riscv_iommu_pmu_data {
	void __iomem	*reg;
	unsigned int	irq;
};

#if KERNEL_VERSION(6, 15, 0) <= LINUX_VERSION_CODE
/**
 * riscv_iommu_pmu_add() - announce the performance monitor of an IOMMU, if it has one
 * @dev:	the IOMMU; the monitor goes with it
 * @reg:	its registers
 * @caps:	its capabilities register
 * @irq:	see &riscv_iommu_pmu_data.irq
 *
 * The IOMMU works without, so there is nothing to return.
 *
 * Context: process.
 */
static inline void riscv_iommu_pmu_add(struct device *dev, void __iomem *reg, u64 caps,
				       unsigned int irq)
{
	static atomic_t next_id = ATOMIC_INIT(0);
	struct riscv_iommu_pmu_data *data;

	if (!IS_ENABLED(CONFIG_RISCV_IOMMU_PMU) || !(caps & RISCV_IOMMU_CAPS_HPM))
		return;

	data = devm_kzalloc(dev, sizeof(*data), GFP_KERNEL);
	if (data) {
		data->reg = reg;
		data->irq = irq;
	}
	if (!data || !__devm_auxiliary_device_create(dev, RISCV_IOMMU_PMU_MODULE,
						     RISCV_IOMMU_PMU_NAME, data,
						     atomic_fetch_inc(&next_id)))
		dev_warn(dev, "the performance monitor cannot be announced: it is left out\n");
}
#endif

#endif /* _LINUX_RISCV_IOMMU_PMU_H */
