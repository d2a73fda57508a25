// SPDX-License-Identifier: GPL-2.0
/*
 * Announces the performance monitors of RISC-V IOMMUs to riscv_iommu_pmu, on kernels
 * whose IOMMU driver does not: it looks for the IOMMUs that Linux drives, and makes an
 * auxiliary device for each, which goes when the IOMMU's driver lets go.
 *
 * The registers are mapped a second time. Of those that the IOMMU's driver uses, the
 * monitor's driver writes ipsr.PMIP alone, which that one does not.
 */

#include <linux/auxiliary_bus.h>
#include <linux/bitfield.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/msi.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/of.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/riscv_iommu_pmu.h>
#include <linux/slab.h>

#define FIND_REG_CAPABILITIES	0x000
#define FIND_REG_FCTL		0x008
#define   FIND_FCTL_WSI			BIT(1)
#define FIND_REG_ICVEC		0x2f8
#define   FIND_ICVEC_PMIV		GENMASK_ULL(11, 8)
#define FIND_REG_SIZE		0x1000

#define FIND_PCI_CLASS_IOMMU	0x080600
#define FIND_COMPATIBLE		"riscv,iommu"

/**
 * struct found - an IOMMU whose monitor was announced
 * @list:	in found_list
 * @iommu:	the IOMMU
 * @aux:	its monitor
 * @data:	what the monitor's driver gets
 */
struct found {
	struct list_head		list;
	struct device			*iommu;
	struct auxiliary_device		*aux;
	struct riscv_iommu_pmu_data	data;
};

static LIST_HEAD(found_list);
static DEFINE_MUTEX(found_lock);
static int found_next_id;

/* Where its registers are, or 0: it is no IOMMU of ours. */
static phys_addr_t find_regs(struct device *dev)
{
	struct resource *res;

	if (dev_is_pci(dev)) {
		struct pci_dev *pdev = to_pci_dev(dev);

		return pdev->class == FIND_PCI_CLASS_IOMMU ? pci_resource_start(pdev, 0) : 0;
	}
	if (!of_device_is_compatible(dev->of_node, FIND_COMPATIBLE))
		return 0;

	res = platform_get_resource(to_platform_device(dev), IORESOURCE_MEM, 0);
	return res ? res->start : 0;
}

/* The interrupt of vector icvec.PMIV, or 0. */
static unsigned int find_irq(struct device *dev, void __iomem *reg)
{
	unsigned int vector = FIELD_GET(FIND_ICVEC_PMIV, readq_relaxed(reg + FIND_REG_ICVEC));
	int irq;

	if (readl_relaxed(reg + FIND_REG_FCTL) & FIND_FCTL_WSI)
		irq = dev_is_pci(dev) ? 0 :
		      platform_get_irq_optional(to_platform_device(dev), vector);
	else
		irq = msi_get_virq(dev, vector);

	return max(irq, 0);
}

static int find_is_monitor(struct device *dev, const void *unused)
{
	return strstarts(dev_name(dev), RISCV_IOMMU_PMU_MODULE "." RISCV_IOMMU_PMU_NAME ".");
}

static bool find_is_announced(struct device *iommu)
{
	struct device *monitor = device_find_child(iommu, NULL, find_is_monitor);

	put_device(monitor);
	return monitor;
}

static void find_announce(struct device *iommu, void __iomem *reg)
{
	struct found *found = kzalloc(sizeof(*found), GFP_KERNEL);

	if (!found) {
		iounmap(reg);
		return;
	}

	found->iommu = iommu;
	found->data.reg = reg;
	found->data.irq = find_irq(iommu, reg);
	found->aux = auxiliary_device_create(iommu, RISCV_IOMMU_PMU_MODULE, RISCV_IOMMU_PMU_NAME,
					     &found->data, found_next_id++);
	if (!found->aux) {
		dev_warn(iommu, "the performance monitor cannot be announced: it is left out\n");
		iounmap(reg);
		kfree(found);
		return;
	}
	list_add(&found->list, &found_list);
}

/* With the device's lock, so that its driver stays. */
static void find_look_at(struct device *dev)
{
	phys_addr_t start = find_regs(dev);
	void __iomem *reg;

	/* Who has no driver has its registers off, or in use by something else. */
	if (!start || !device_is_bound(dev) || find_is_announced(dev))
		return;

	reg = ioremap(start, FIND_REG_SIZE);
	if (!reg)
		return;

	mutex_lock(&found_lock);
	if (readq_relaxed(reg + FIND_REG_CAPABILITIES) & RISCV_IOMMU_CAPS_HPM)
		find_announce(dev, reg);
	else
		iounmap(reg);
	mutex_unlock(&found_lock);
}

static int find_lock_and_look_at(struct device *dev, void *unused)
{
	device_lock(dev);
	find_look_at(dev);
	device_unlock(dev);
	return 0;
}

static void find_forget(struct found *found)
{
	list_del(&found->list);
	auxiliary_device_destroy(found->aux);
	iounmap(found->data.reg);
	kfree(found);
}

/* Of one IOMMU, or of all (NULL). */
static void find_let_go(struct device *iommu)
{
	struct found *found, *next;

	mutex_lock(&found_lock);
	list_for_each_entry_safe(found, next, &found_list, list) {
		if (!iommu || found->iommu == iommu)
			find_forget(found);
	}
	mutex_unlock(&found_lock);
}

static int find_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	if (action == BUS_NOTIFY_BOUND_DRIVER)
		find_look_at(data);
	if (action == BUS_NOTIFY_UNBIND_DRIVER)
		find_let_go(data);

	return NOTIFY_OK;
}

/* The IOMMUs' own driver is bound to them, but udev loads this module, too. */
static const struct pci_device_id find_pci_ids[] __maybe_unused = {
	{ PCI_DEVICE_CLASS(FIND_PCI_CLASS_IOMMU, ~0) },
	{ }
};
MODULE_DEVICE_TABLE(pci, find_pci_ids);

static const struct of_device_id find_of_ids[] __maybe_unused = {
	{ .compatible = FIND_COMPATIBLE },
	{ }
};
MODULE_DEVICE_TABLE(of, find_of_ids);

static struct notifier_block find_pci_nb = { .notifier_call = find_notify };
static struct notifier_block find_platform_nb = { .notifier_call = find_notify };

static int __init find_init(void)
{
	int err = bus_register_notifier(&pci_bus_type, &find_pci_nb);

	if (err)
		return err;

	err = bus_register_notifier(&platform_bus_type, &find_platform_nb);
	if (err) {
		bus_unregister_notifier(&pci_bus_type, &find_pci_nb);
		return err;
	}

	bus_for_each_dev(&pci_bus_type, NULL, NULL, find_lock_and_look_at);
	bus_for_each_dev(&platform_bus_type, NULL, NULL, find_lock_and_look_at);
	return 0;
}
module_init(find_init);

static void __exit find_exit(void)
{
	bus_unregister_notifier(&platform_bus_type, &find_platform_nb);
	bus_unregister_notifier(&pci_bus_type, &find_pci_nb);
	find_let_go(NULL);
}
module_exit(find_exit);

MODULE_DESCRIPTION("Finds the performance monitors of RISC-V IOMMUs");
MODULE_LICENSE("GPL");
