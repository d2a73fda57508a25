/* SPDX-License-Identifier: GPL-2.0 */
/* Calls of the SBI PMU extension (SBI 3.0, chapter 11), one function each. */
#ifndef _RISCV_PMU_SBI_CALL_H
#define _RISCV_PMU_SBI_CALL_H

#include <linux/types.h>

#include <asm/sbi.h>

/**
 * struct sbi_call_ctr_info - what COUNTER_GET_INFO says of a counter
 * @csr:	the CSR that reads it; no meaning for a firmware counter
 * @width:	its bits, 1 to 64
 * @is_fw:	the firmware counts it in software
 */
struct sbi_call_ctr_info {
	u16	csr;
	u8	width;
	bool	is_fw;
};

/* Functions of the extension that are called here, from FID 0 on. */
#define SBI_CALL_NR_FIDS	8

const char *sbi_call_name(unsigned int fid);
unsigned long sbi_call_count(unsigned int cpu, unsigned int fid);
struct sbiret sbi_call_pmu(unsigned long fid, unsigned long a0, unsigned long a1,
			   unsigned long a2, unsigned long a3, u64 arg);
bool sbi_call_has_pmu(void);
int sbi_call_num_ctrs(unsigned int *num);
int sbi_call_ctr_info(unsigned int ctr, struct sbi_call_ctr_info *info);
int sbi_call_cfg_match(u64 ctrs, unsigned long flags, u32 event_idx, u64 event_data);
int sbi_call_start(u64 ctrs);
int sbi_call_start_at(unsigned int ctr, u64 value);
int sbi_call_stop(u64 ctrs, unsigned long flags);
u64 sbi_call_fw_read(unsigned int ctr);

#endif /* _RISCV_PMU_SBI_CALL_H */
