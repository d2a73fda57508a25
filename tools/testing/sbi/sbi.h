/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions of the SBI specification (3.0; chapter 11 for the PMU), and basic
 * definitions for a program without a C library.
 */
#ifndef SBI_CONFORMANCE_SBI_H
#define SBI_CONFORMANCE_SBI_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
/* A register. */
typedef unsigned long ulong;

#include <asm/sbi_pmu_batch.h>

#define XLEN			__riscv_xlen
#define BIT(n)			(1ULL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define PAGE_SIZE		4096
#define __aligned(n)		__attribute__((__aligned__(n)))
#define __noreturn		__attribute__((__noreturn__))
#define __printf(format, args)	__attribute__((__format__(printf, format, args)))
#define noinline		__attribute__((__noinline__))
#define ALL_ONES		(~0UL)
#define ALL_ONES_64		(~0ULL)

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
#define SBI_EXT_SSE			0x535345
#define SBI_EXT_SRST			0x53525354
#define SBI_EXT_DBCN			0x4442434E
#define DBCN_WRITE			0
#define DBCN_READ			1
/* Not in use: an ID of the experimental range. */
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
#define PMU_INFO_FIRMWARE(info)		((info) >> (XLEN - 1))

#define EVENT(type, code)		((ulong)(type) << 16 | (code))
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
	ulong value;
};

#ifdef SBI_MODEL
/* On the host, the model handles the ecall (model/hart.c). */
struct sbiret sbi_call6(ulong ext, ulong fid, ulong arg0, ulong arg1, ulong arg2, ulong arg3,
			ulong arg4, ulong arg5);

static inline void wait_for_interrupt(void)
{
}
#else
static inline void wait_for_interrupt(void)
{
	asm volatile("wfi");
}

static inline struct sbiret sbi_call6(ulong ext, ulong fid, ulong arg0, ulong arg1, ulong arg2,
				      ulong arg3, ulong arg4, ulong arg5)
{
	register ulong a0 asm("a0") = arg0;
	register ulong a1 asm("a1") = arg1;
	register ulong a2 asm("a2") = arg2;
	register ulong a3 asm("a3") = arg3;
	register ulong a4 asm("a4") = arg4;
	register ulong a5 asm("a5") = arg5;
	register ulong a6 asm("a6") = fid;
	register ulong a7 asm("a7") = ext;

	asm volatile("ecall"
		     : "+r"(a0), "+r"(a1)
		     : "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a6), "r"(a7)
		     : "memory");
	return (struct sbiret){ (long)a0, a1 };
}
#endif

static inline struct sbiret sbi_call(ulong ext, ulong fid, ulong arg0, ulong arg1, ulong arg2)
{
	return sbi_call6(ext, fid, arg0, arg1, arg2, 0, 0, 0);
}

/* The part of VALUE in the second register of a pair; 0 on RV64, which has no pairs. */
static inline ulong high_half(u64 value)
{
	return XLEN == 32 ? value >> 32 : 0;
}

static inline struct sbiret pmu_get_info(ulong ctr)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_GET_INFO, ctr, 0, 0);
}

/*
 * Masks have 64 bits here, and XLEN bits in a call. For a mask that is too wide for a
 * register, pmu.c makes a call with another base, or two calls. Other masks and all bases
 * are passed unchanged.
 */
struct sbiret pmu_match(ulong base, u64 mask, ulong flags, ulong event, u64 data);
struct sbiret pmu_start(ulong base, u64 mask, ulong flags, u64 value);
struct sbiret pmu_stop(ulong base, u64 mask, ulong flags);

/* On RV32, reads the lower half of a counter. */
static inline struct sbiret pmu_fw_read(ulong ctr)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_FW_READ, ctr, 0, 0);
}

static inline struct sbiret pmu_fw_read_hi(ulong ctr)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_FW_READ_HI, ctr, 0, 0);
}

static inline struct sbiret pmu_set_shmem(ulong lo, ulong hi, ulong flags)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_SNAPSHOT_SET_SHMEM, lo, hi, flags);
}

static inline struct sbiret pmu_event_info(ulong lo, ulong hi, ulong nr, ulong flags)
{
	return sbi_call6(SBI_EXT_PMU, SBI_PMU_EVENT_GET_INFO, lo, hi, nr, flags, 0, 0);
}

static inline struct sbiret batch_set_shmem(ulong lo, ulong hi, ulong flags)
{
	return sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_SET_SHMEM, lo, hi, flags);
}

static inline struct sbiret batch_apply(u64 stop, u64 program, u64 start)
{
#if XLEN == 32
	return sbi_call6(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_APPLY, stop, high_half(stop),
			 program, high_half(program), start, high_half(start));
#else
	return sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_APPLY, stop, program, start);
#endif
}

/* 0 if there is no such extension. */
static inline ulong batch_version(void)
{
	return sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_GET_VERSION, 0, 0, 0).value;
}

static inline struct sbiret batch_resolve(ulong event, u64 data)
{
	return sbi_call(SBI_EXT_PMU_BATCH, SBI_PMU_BATCH_RESOLVE, event, data, high_half(data));
}

static inline struct sbiret sbi_set_timer(u64 when)
{
	return sbi_call(SBI_EXT_TIME, 0, when, high_half(when), 0);
}

/*
 * Divides N by a 16-bit number, and returns the remainder. On RV32 the compiler would
 * call a library function, which this program lacks.
 */
static inline u32 divide(u64 *n, u32 by)
{
	u64 quotient = 0;
	u32 rest = 0;
	int shift;

	for (shift = 48; shift >= 0; shift -= 16) {
		u32 part = rest << 16 | (*n >> shift & 0xffff);

		quotient |= (u64)(part / by) << shift;
		rest = part % by;
	}
	*n = quotient;
	return rest;
}

#endif
