// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks that have mapped a page for event-based branches. Overflows look the current task up;
 * mappings of /dev/riscv_ebb create and remove it.
 */

#include <linux/gfp.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <uapi/linux/riscv_ebb.h>

#include "ebb.h"
#include "task.h"

/* The key is the address of @pid, which users cannot choose, so the lists are short. */
#define EBB_HASH_BITS	9
static DEFINE_HASHTABLE(ebb_tasks, EBB_HASH_BITS);
static DEFINE_SPINLOCK(ebb_lock);

/* NULL if the task has no page, or has called exec since. Interrupts are off, or ebb_lock held. */
struct riscv_pmu_ebb *riscv_pmu_ebb_of_current(void)
{
	const struct pid *pid = task_pid(current);
	struct riscv_pmu_ebb *ebb;

	hash_for_each_possible_rcu_notrace(ebb_tasks, ebb, node, (unsigned long)pid) {
		/* After exec the task is another program, which has not registered a handler. */
		if (ebb->pid == pid && ebb->mm == current->mm)
			return ebb;
	}

	return NULL;
}

static void ebb_unpublish(struct riscv_pmu_ebb *ebb)
{
	unsigned long flags;

	spin_lock_irqsave(&ebb_lock, flags);
	hash_del_rcu(&ebb->node);
	spin_unlock_irqrestore(&ebb_lock, flags);
}

/* The task exits, which wakes up its pidfds. The process may keep the page mapped for long. */
static int ebb_task_exits(struct wait_queue_entry *exit, unsigned int mode, int sync, void *key)
{
	ebb_unpublish(container_of(exit, struct riscv_pmu_ebb, exit));
	return 0;
}

static void ebb_free(struct rcu_head *rcu)
{
	struct riscv_pmu_ebb *ebb = container_of(rcu, struct riscv_pmu_ebb, rcu);

	free_page((unsigned long)ebb->page);
	put_pid(ebb->pid);
	kfree(ebb);
}

/* Returns a page and the state of the current task, to be published or removed; or NULL. */
struct riscv_pmu_ebb *riscv_pmu_ebb_new(void)
{
	struct riscv_pmu_ebb *ebb = kzalloc(sizeof(*ebb), GFP_KERNEL_ACCOUNT);

	if (!ebb)
		return NULL;

	ebb->page = (struct riscv_ebb_page *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	if (!ebb->page) {
		kfree(ebb);
		return NULL;
	}

	ebb->page->version = RISCV_EBB_VERSION;
	ebb->page->size = sizeof(*ebb->page);
	ebb->pid = get_pid(task_pid(current));
	ebb->mm = current->mm;
	refcount_set(&ebb->maps, 1);
	init_waitqueue_func_entry(&ebb->exit, ebb_task_exits);
	add_wait_queue(&ebb->pid->wait_pidfd, &ebb->exit);
	return ebb;
}

/* Lets the current task's overflows find its page; -EBUSY: the task has another one. */
int riscv_pmu_ebb_publish(struct riscv_pmu_ebb *ebb)
{
	unsigned long flags;
	bool is_new;

	spin_lock_irqsave(&ebb_lock, flags);
	is_new = !riscv_pmu_ebb_of_current();
	if (is_new)
		hash_add_rcu(ebb_tasks, &ebb->node, (unsigned long)ebb->pid);
	spin_unlock_irqrestore(&ebb_lock, flags);
	return is_new ? 0 : -EBUSY;
}

/* Frees what no VMA maps any more, published or not, after interrupts that have found it. */
void riscv_pmu_ebb_remove(struct riscv_pmu_ebb *ebb)
{
	remove_wait_queue(&ebb->pid->wait_pidfd, &ebb->exit);
	ebb_unpublish(ebb);
	call_rcu(&ebb->rcu, ebb_free);
}
