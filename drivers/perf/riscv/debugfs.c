// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/riscv_pmu/cpuN: the present state of each hart's PMU, statistics since the hart
 * came online, and numbers of firmware calls since boot. They are read without locks, so the lines
 * may be inconsistent with each other.
 */

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/seq_file.h>

#include "entries.h"
#include "nmi/nmi.h"
#include "pmu.h"
#include "sbi/call.h"

static void debugfs_show_stats(struct seq_file *m, const struct riscv_pmu_stats *stats)
{
	seq_printf(m, "batches %llu\n", stats->batches);
	seq_printf(m, "configs_written %llu\n", stats->configs);
	seq_printf(m, "configs_kept %llu\n", stats->attached - stats->searched);
	seq_printf(m, "counters_shared %llu\n", stats->shared);
	seq_printf(m, "configs_evicted %llu\n", stats->evicted);
	seq_printf(m, "configs_moved %llu\n", stats->moved);
	seq_printf(m, "interrupts %llu\n", stats->irqs);
	seq_printf(m, "interrupts_spurious %llu\n", stats->spurious);
	seq_printf(m, "interrupts_early %llu\n", stats->early);
	seq_printf(m, "samples %llu\n", stats->samples);
	seq_printf(m, "periods_merged %llu\n", stats->merged);
	seq_printf(m, "periods_extended %llu\n", stats->extended);
	seq_printf(m, "polls %llu\n", stats->polls);
	seq_printf(m, "stopped_by_perf %llu\n", stats->stopped);
}

static void debugfs_show_ecalls(struct seq_file *m, unsigned int cpu)
{
	for (unsigned int fid = 0; fid < RISCV_PMU_SBI_NR_FIDS; fid++)
		seq_printf(m, "ecall_%s %lu\n", riscv_pmu_sbi_ecall_name(fid),
			   riscv_pmu_sbi_ecall_count(cpu, fid));
}

static int debugfs_hart_show(struct seq_file *m, void *unused)
{
	unsigned int cpu = (uintptr_t)m->private;
	const struct riscv_pmu *pmu = riscv_pmu_of(cpu);
	const struct riscv_pmu_hart *hart;
	u64 nmis = 0, deferred = 0;

	if (!pmu)
		return 0;

	hart = per_cpu_ptr(pmu->harts, cpu);
	seq_printf(m, "counters_wanted %llx\n", hart->wanted.sched.used);
	seq_printf(m, "counters_programmed %llx\n", hart->hw.holds);
	seq_printf(m, "counters_running %llx\n", hart->hw.running);
	seq_printf(m, "counters_free_running %llx\n", pmu->free_running_ctrs);
	seq_printf(m, "counters_armed %llx\n", hart->hw.armed);
	seq_printf(m, "events %llu\n", hart->stats.attached - hart->stats.detached);
	debugfs_show_stats(m, &hart->stats);
	riscv_pmu_nmi_count(cpu, &nmis, &deferred);
	seq_printf(m, "nmis %llu\n", nmis);
	seq_printf(m, "nmis_deferred %llu\n", deferred);
	if (IS_ENABLED(CONFIG_RISCV_PMU_SBI))
		debugfs_show_ecalls(m, cpu);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(debugfs_hart);

/**
 * riscv_pmu_debugfs_init() - create the files, one for each possible hart
 *
 * Context: process, at boot.
 */
void __init riscv_pmu_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("riscv_pmu", NULL);
	unsigned int cpu;
	char name[16];

	riscv_pmu_nmi_test_init(dir);
	for_each_possible_cpu(cpu) {
		scnprintf(name, sizeof(name), "cpu%u", cpu);
		debugfs_create_file(name, 0400, dir, (void *)(uintptr_t)cpu, &debugfs_hart_fops);
	}
}
