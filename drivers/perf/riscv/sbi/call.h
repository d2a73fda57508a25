/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of the SBI PMU extension (SBI 3.0, chapter 11) and of the batch extension. */
#ifndef _RISCV_PMU_SBI_CALL_H
#define _RISCV_PMU_SBI_CALL_H

#include <linux/types.h>

#include <asm/sbi.h>

/* A counter's description, from COUNTER_GET_INFO. A firmware counter has no CSR and no width. */
struct riscv_pmu_sbi_ctr_info {
	u16	csr;
	u8	width;
	bool	is_fw;
};

/* An entry of EVENT_GET_INFO's list (SBI 3.0, 11.13) */
struct riscv_pmu_sbi_event_info {
	u32	event_idx;
	u32	output;		/* bit 0: a counter can count the event */
	u64	event_data;
};

/* Iterates over the words of a mask of counters that are not 0: a call has room for one of them. */
#define sbi_call_for_each_word(base, mask, ctrs)				\
	for (u64 base, mask, base##_left = (ctrs);				\
	     base##_left && (base = sbi_call_base(base##_left),			\
			     mask = (unsigned long)(base##_left >> base), true);	\
	     base##_left &= ~((u64)ULONG_MAX << base))

static inline unsigned int sbi_call_base(u64 ctrs)
{
	return IS_ENABLED(CONFIG_64BIT) || lower_32_bits(ctrs) ? 0 : 32;
}

/* From SBI 3.0. <asm/sbi.h> of older kernels does not define it. */
#define SBI_CALL_PMU_EVENT_GET_INFO	8

/* The number of functions of the PMU extension; those of the batch extension follow them. */
#define SBI_CALL_NR_PMU_FIDS	9
#define RISCV_PMU_SBI_NR_FIDS	(SBI_CALL_NR_PMU_FIDS + 5)

const char *riscv_pmu_sbi_ecall_name(unsigned int fid);
unsigned long riscv_pmu_sbi_ecall_count(unsigned int cpu, unsigned int fid);
struct sbiret riscv_pmu_sbi_pmu(unsigned long fid, unsigned long a0, unsigned long a1,
				unsigned long a2, unsigned long a3, u64 arg);
void riscv_pmu_sbi_nothing(void);
bool riscv_pmu_sbi_has_pmu(void);
int riscv_pmu_sbi_num_ctrs(unsigned int *num);
int riscv_pmu_sbi_ctr_info(unsigned int ctr, struct riscv_pmu_sbi_ctr_info *info);
int riscv_pmu_sbi_cfg_match(u64 ctrs, unsigned long flags, u32 event_idx, u64 event_data);
int riscv_pmu_sbi_event_is_supported(u32 event_idx, u64 event_data);
int riscv_pmu_sbi_start(u64 ctrs);
int riscv_pmu_sbi_start_at(unsigned int ctr, u64 value);
int riscv_pmu_sbi_start_snapshot(unsigned long base, unsigned long mask);
int riscv_pmu_sbi_snapshot_set_shmem(phys_addr_t page);
int riscv_pmu_sbi_stop(u64 ctrs, unsigned long flags);

struct sbiret riscv_pmu_sbi_batch(unsigned long fid, unsigned long a0, unsigned long a1,
				  unsigned long a2, unsigned long a3, unsigned long a4,
				  unsigned long a5);
bool riscv_pmu_sbi_is_kvm(void);
bool riscv_pmu_sbi_has_batch(void);
int riscv_pmu_sbi_batch_set_shmem(phys_addr_t page);
int riscv_pmu_sbi_batch_apply(u64 stop, u64 program, u64 start);
int riscv_pmu_sbi_batch_resolve(u32 event_idx, u64 event_data);
int riscv_pmu_sbi_batch_map_events(u64 slots);

#endif /* _RISCV_PMU_SBI_CALL_H */
