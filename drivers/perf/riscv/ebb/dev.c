// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/riscv_ebb: a task maps its page for event-based branches from it, and registers its
 * handler by ioctl().
 */

#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <uapi/linux/riscv_ebb.h>

#include "../pmu.h"
#include "task.h"

/* The task exits, which wakes up its pidfds. The process may keep the page mapped for long. */
static int ebb_task_exits(struct wait_queue_entry *exit, unsigned int mode, int sync, void *key)
{
	riscv_pmu_ebb_unpublish(container_of(exit, struct riscv_pmu_ebb, exit));
	return 0;
}

/* Returns a page and the state of the current task, to be published or removed; or NULL. */
struct riscv_pmu_ebb *riscv_pmu_ebb_new(void)
{
	struct riscv_pmu_ebb *ebb __free(kfree) = kzalloc(sizeof(*ebb), GFP_KERNEL_ACCOUNT);

	if (ebb)
		ebb->page = (struct riscv_ebb_page *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!ebb || !ebb->page)
		return NULL;

	ebb->page->version = RISCV_EBB_VERSION;
	ebb->page->size = sizeof(*ebb->page);
	ebb->pid = get_pid(task_pid(current));
	ebb->mm = current->mm;
	refcount_set(&ebb->maps, 1);
	init_waitqueue_func_entry(&ebb->exit, ebb_task_exits);
	add_wait_queue(&ebb->pid->wait_pidfd, &ebb->exit);
	return_ptr(ebb);
}

static void ebb_free(struct rcu_head *rcu)
{
	struct riscv_pmu_ebb *ebb = container_of(rcu, struct riscv_pmu_ebb, rcu);

	free_page((unsigned long)ebb->page);
	put_pid(ebb->pid);
	kfree(ebb);
}

/* Frees what no VMA maps any more, published or not, after interrupts that have found it. */
void riscv_pmu_ebb_remove(struct riscv_pmu_ebb *ebb)
{
	remove_wait_queue(&ebb->pid->wait_pidfd, &ebb->exit);
	riscv_pmu_ebb_unpublish(ebb);
	call_rcu(&ebb->rcu, ebb_free);
}

static void ebb_vma_open(struct vm_area_struct *vma)
{
	struct riscv_pmu_ebb *ebb = vma->vm_private_data;

	refcount_inc(&ebb->maps);
}

/* The last mapping goes by munmap, exec or exit. */
static void ebb_vma_close(struct vm_area_struct *vma)
{
	struct riscv_pmu_ebb *ebb = vma->vm_private_data;

	if (refcount_dec_and_test(&ebb->maps))
		riscv_pmu_ebb_remove(ebb);
}

static const struct vm_operations_struct ebb_vm_ops = {
	.open	= ebb_vma_open,
	.close	= ebb_vma_close,
};

/* Size of the structure in version 2, the smallest that is accepted. */
#define EBB_REGISTER_SIZE_VER2	24

static_assert(sizeof(struct riscv_ebb_register) == EBB_REGISTER_SIZE_VER2);

/* The task that maps the page gets the branches. */
static int ebb_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct riscv_pmu_ebb *ebb;
	int err;

	if (vma->vm_end - vma->vm_start != PAGE_SIZE || vma->vm_pgoff ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;

	ebb = riscv_pmu_ebb_new();
	if (!ebb)
		return -ENOMEM;

	/* VM_IO, or madvise() would let it be copied after all (Linux 6.12). */
	vm_flags_set(vma, VM_IO | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	err = vm_insert_page(vma, vma->vm_start, virt_to_page(ebb->page)) ?:
	      riscv_pmu_ebb_publish(ebb);
	if (err) {
		riscv_pmu_ebb_remove(ebb);
		return err;
	}

	vma->vm_private_data = ebb;
	vma->vm_ops = &ebb_vm_ops;
	return 0;
}

static int ebb_register(const struct riscv_ebb_register __user *arg)
{
	struct riscv_ebb_register reg;
	struct riscv_pmu_ebb *ebb;
	u32 size;
	int err;

	if (get_user(size, &arg->size))
		return -EFAULT;
	if (size < EBB_REGISTER_SIZE_VER2)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&reg, sizeof(reg), arg, size);
	if (err)
		return err;
	if (reg.version != RISCV_EBB_VERSION || reg.flags || reg.handler > ULONG_MAX)
		return -EINVAL;

	guard(irqsave)();
	ebb = riscv_pmu_ebb_of_current();
	if (!ebb)
		return -ENXIO;

	ebb->handler = reg.handler;
	return 0;
}

/* RISCV_EBB_IOC_ABANDON if @abandon, else RISCV_EBB_IOC_ENABLE. */
static int ebb_ioctl_enable(bool abandon)
{
	struct riscv_pmu_ebb *ebb;

	guard(irqsave)();
	ebb = riscv_pmu_ebb_of_current();
	if (!ebb)
		return -ENXIO;
	if (ebb->inside != abandon)
		return abandon ? -EINVAL : -EBUSY;

	riscv_pmu_ebb_enable(ebb);
	return 0;
}

static long ebb_file_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case RISCV_EBB_IOC_REGISTER:
		return ebb_register((const struct riscv_ebb_register __user *)arg);
	case RISCV_EBB_IOC_ENABLE:
	case RISCV_EBB_IOC_ABANDON:
		return arg ? -EINVAL : ebb_ioctl_enable(cmd == RISCV_EBB_IOC_ABANDON);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations ebb_fops = {
	.owner	= THIS_MODULE,
	.mmap	= ebb_file_mmap,
	.unlocked_ioctl	= ebb_file_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.llseek	= noop_llseek,
};

static struct miscdevice ebb_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "riscv_ebb",
	.fops	= &ebb_fops,
	.mode	= 0666,
};

static int __init ebb_init(void)
{
	u64 irq_ctrs = 0;

	for (unsigned int i = 0; i < riscv_pmu_nr_types; i++)
		irq_ctrs |= riscv_pmu_types[i].irq_ctrs;
	return riscv_pmu_ebb_enabled && irq_ctrs ? misc_register(&ebb_device) : 0;
}
device_initcall_sync(ebb_init);
