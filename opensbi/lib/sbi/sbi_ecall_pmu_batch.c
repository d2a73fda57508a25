/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SBI PMU batch extension: decoding of its calls.
 */

#include <sbi/sbi_ecall.h>
#include <sbi/sbi_ecall_interface.h>
#include <sbi/sbi_error.h>
#include <sbi/sbi_pmu_batch.h>
#include <sbi/sbi_trap.h>

/* A u64 takes one register on RV64, and two on RV32, the lower half first. */
static int pmu_batch_ecall_apply(const struct sbi_trap_regs *regs)
{
#if __riscv_xlen == 32
	return sbi_pmu_batch_apply((u64)regs->a1 << 32 | regs->a0,
				   (u64)regs->a3 << 32 | regs->a2,
				   (u64)regs->a5 << 32 | regs->a4);
#else
	return sbi_pmu_batch_apply(regs->a0, regs->a1, regs->a2);
#endif
}

static int pmu_batch_ecall_resolve(const struct sbi_trap_regs *regs)
{
#if __riscv_xlen == 32
	return sbi_pmu_batch_resolve(regs->a0, (u64)regs->a2 << 32 | regs->a1);
#else
	return sbi_pmu_batch_resolve(regs->a0, regs->a1);
#endif
}

#ifdef CONFIG_SBI_PMU_BATCH_MAP_EVENTS
static int pmu_batch_ecall_map_events(const struct sbi_trap_regs *regs)
{
#if __riscv_xlen == 32
	return sbi_pmu_batch_map_events((u64)regs->a1 << 32 | regs->a0);
#else
	return sbi_pmu_batch_map_events(regs->a0);
#endif
}
#endif

static int sbi_ecall_pmu_batch_handler(unsigned long extid, unsigned long funcid,
				       struct sbi_trap_regs *regs,
				       struct sbi_ecall_return *out)
{
	switch (funcid) {
	case SBI_PMU_BATCH_APPLY:
		return pmu_batch_ecall_apply(regs);
	case SBI_PMU_BATCH_RESOLVE:
		return pmu_batch_ecall_resolve(regs);
	case SBI_PMU_BATCH_SET_SHMEM:
		return sbi_pmu_batch_set_shmem(regs->a0, regs->a1, regs->a2);
#ifdef CONFIG_SBI_PMU_BATCH_MAP_EVENTS
	case SBI_PMU_BATCH_MAP_EVENTS:
		return pmu_batch_ecall_map_events(regs);
	case SBI_PMU_BATCH_GET_VERSION:
		out->value = SBI_PMU_BATCH_VERSION_0_10;
		return 0;
#else
	case SBI_PMU_BATCH_GET_VERSION:
		out->value = SBI_PMU_BATCH_VERSION_0_9;
		return 0;
#endif
	default:
		return SBI_ENOTSUPP;
	}
}

struct sbi_ecall_extension ecall_pmu_batch;

static int sbi_ecall_pmu_batch_register_extensions(void)
{
	if (!sbi_pmu_batch_supported())
		return 0;

	return sbi_ecall_register_extension(&ecall_pmu_batch);
}

struct sbi_ecall_extension ecall_pmu_batch = {
	.name			= "pmubat",
	.extid_start		= SBI_EXT_PMU_BATCH,
	.extid_end		= SBI_EXT_PMU_BATCH,
	.experimental		= true,
	.register_extensions	= sbi_ecall_pmu_batch_register_extensions,
	.handle			= sbi_ecall_pmu_batch_handler,
};
