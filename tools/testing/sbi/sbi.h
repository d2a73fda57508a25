/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SBI as its specification has it (3.0; chapter 11 for the PMU), and what
 * this program, with no library under it, needs of C.
 */
#ifndef SBI_CONFORMANCE_SBI_H
#define SBI_CONFORMANCE_SBI_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;

#include <asm/sbi_pmu_batch.h>

#define BIT(n)			(1UL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define PAGE_SIZE		4096
#define __aligned(n)		__attribute__((__aligned__(n)))
#define __noreturn		__attribute__((__noreturn__))
#define noinline		__attribute__((__noinline__))
#define ALL_ONES		(~0UL)

#define SBI_SUCCESS			0
#define SBI_ERR_FAILED			(-1)
#define SBI_ERR_NOT_SUPPORTED		(-2)
#define SBI_ERR_INVALID_PARAM		(-3)
#define SBI_ERR_INVALID_ADDRESS		(-5)
#define SBI_ERR_ALREADY_STARTED		(-7)
#define SBI_ERR_ALREADY_STOPPED		(-8)
#define SBI_ERR_NO_SHMEM		(-9)

#define SBI_EXT_BASE			0x10
#define SBI_BASE_GET_SPEC_VERSION	0
#define SBI_BASE_GET_IMPL_ID		1
#define SBI_BASE_GET_IMPL_VERSION	2
#define SBI_BASE_PROBE_EXTENSION	3
#define SBI_EXT_TIME			0x54494D45
#define SBI_EXT_IPI			0x735049
#define SBI_EXT_RFENCE			0x52464E43
#define SBI_RFENCE_SFENCE_VMA		1
#define SBI_EXT_HSM			0x48534D
#define SBI_HSM_HART_START		0
#define SBI_HSM_HART_STOP		1
#define SBI_HSM_HART_GET_STATUS		2
#define SBI_HSM_STOPPED			1
#define SBI_EXT_SRST			0x53525354
#define SBI_EXT_DBCN			0x4442434E
/* Nobody's: of the experimental range. */
#define SBI_EXT_NOBODYS			0x08FFFFFF

#define SBI_EXT_PMU			0x504D55
#define SBI_PMU_NUM_COUNTERS		0
#define SBI_PMU_COUNTER_GET_INFO	1
#define SBI_PMU_COUNTER_CONFIG_MATCHING	2
#define SBI_PMU_COUNTER_START		3
#define SBI_PMU_COUNTER_STOP		4
#define SBI_PMU_COUNTER_FW_READ		5
#define SBI_PMU_COUNTER_FW_READ_HI	6
#define SBI_PMU_SNAPSHOT_SET_SHMEM	7
#define SBI_PMU_EVENT_GET_INFO		8

#define PMU_CFG_SKIP_MATCH		BIT(0)
#define PMU_CFG_CLEAR_VALUE		BIT(1)
#define PMU_CFG_AUTO_START		BIT(2)
#define PMU_CFG_SET_VUINH		BIT(3)
#define PMU_CFG_SET_VSINH		BIT(4)
#define PMU_CFG_SET_UINH		BIT(5)
#define PMU_CFG_SET_SINH		BIT(6)
#define PMU_CFG_SET_MINH		BIT(7)
#define PMU_START_SET_INIT_VALUE	BIT(0)
#define PMU_START_INIT_SNAPSHOT		BIT(1)
#define PMU_STOP_RESET			BIT(0)
#define PMU_STOP_TAKE_SNAPSHOT		BIT(1)

#define PMU_INFO_CSR(info)		((info) & 0xfff)
#define PMU_INFO_WIDTH(info)		((((info) >> 12) & 0x3f) + 1)
#define PMU_INFO_FIRMWARE(info)		((info) >> 63)

#define EVENT(type, code)		((u64)(type) << 16 | (code))
#define EVENT_NONE			EVENT(0, 0)
#define EVENT_CYCLES			EVENT(0, 1)
#define EVENT_INSTRUCTIONS		EVENT(0, 2)
#define EVENT_HW_BEYOND			EVENT(0, 11)
#define EVENT_CACHE(id, op, result)	EVENT(1, (id) << 3 | (op) << 1 | (result))
#define EVENT_DTLB_READ_MISS		EVENT_CACHE(3, 0, 1)
#define EVENT_DTLB_WRITE_MISS		EVENT_CACHE(3, 1, 1)
#define EVENT_ITLB_READ_MISS		EVENT_CACHE(4, 0, 1)
#define EVENT_BPU_PREFETCH_MISS		EVENT_CACHE(5, 2, 1)
#define EVENT_RAW			EVENT(2, 0)
#define EVENT_RAW_V2			EVENT(3, 0)
#define EVENT_FW(code)			EVENT(15, code)
#define EVENT_FW_SET_TIMER		EVENT_FW(5)
#define EVENT_FW_IPI_SENT		EVENT_FW(6)
#define EVENT_FW_SFENCE_VMA_RECEIVED	EVENT_FW(11)
#define EVENT_FW_RESERVED		EVENT_FW(22)
#define EVENT_FW_PLATFORM		EVENT_FW(65535)

struct pmu_snapshot {
	u64 overflowed;
	u64 value[64];
	u8 reserved[3576];
};

struct pmu_event_info {
	u32 event_idx;
	u32 output;
	u64 event_data;
};

struct sbiret {
	long error;
	unsigned long value;
};

static inline struct sbiret sbi_call6(u64 ext, u64 fid, u64 arg0, u64 arg1, u64 arg2,
				      u64 arg3, u64 arg4, u64 arg5)
{
	register u64 a0 asm("a0") = arg0;
	register u64 a1 asm("a1") = arg1;
	register u64 a2 asm("a2") = arg2;
	register u64 a3 asm("a3") = arg3;
	register u64 a4 asm("a4") = arg4;
	register u64 a5 asm("a5") = arg5;
	register u64 a6 asm("a6") = fid;
	register u64 a7 asm("a7") = ext;

	asm volatile("ecall"
		     : "+r"(a0), "+r"(a1)
		     : "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a6), "r"(a7)
		     : "memory");
	return (struct sbiret){ (long)a0, a1 };
}

static inline struct sbiret sbi_call(u64 ext, u64 fid, u64 arg0, u64 arg1, u64 arg2)
{
	return sbi_call6(ext, fid, arg0, arg1, arg2, 0, 0, 0);
}

static inline struct sbiret pmu_get_info(u64 ctr)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_GET_INFO, ctr, 0, 0);
}

static inline struct sbiret pmu_match(u64 base, u64 mask, u64 flags, u64 event, u64 data)
{
	return sbi_call6(SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING, base, mask, flags,
			 event, data, 0);
}

static inline struct sbiret pmu_start(u64 base, u64 mask, u64 flags, u64 value)
{
	return sbi_call6(SBI_EXT_PMU, SBI_PMU_COUNTER_START, base, mask, flags, value, 0, 0);
}

static inline struct sbiret pmu_stop(u64 base, u64 mask, u64 flags)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, base, mask, flags);
}

static inline struct sbiret pmu_fw_read(u64 ctr)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_FW_READ, ctr, 0, 0);
}

static inline struct sbiret pmu_fw_read_hi(u64 ctr)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_FW_READ_HI, ctr, 0, 0);
}

static inline struct sbiret pmu_set_shmem(u64 lo, u64 hi, u64 flags)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_SNAPSHOT_SET_SHMEM, lo, hi, flags);
}

static inline struct sbiret pmu_event_info(u64 lo, u64 hi, u64 nr, u64 flags)
{
	return sbi_call6(SBI_EXT_PMU, SBI_PMU_EVENT_GET_INFO, lo, hi, nr, flags, 0, 0);
}

static inline struct sbiret batch_set_shmem(u64 lo, u64 hi, u64 flags)
{
	return sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_SET_SHMEM, lo, hi, flags);
}

static inline struct sbiret batch_apply(u64 stop, u64 program, u64 start)
{
	return sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_APPLY, stop, program, start);
}

static inline struct sbiret batch_resolve(u64 event, u64 data)
{
	return sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_RESOLVE, event, data, 0);
}

static inline struct sbiret sbi_set_timer(u64 when)
{
	return sbi_call(SBI_EXT_TIME, 0, when, 0, 0);
}

#endif
