/* SPDX-License-Identifier: BSD-2-Clause */
/* What the cases share: the hart's counters, traps, memory. */
#ifndef SBI_CONFORMANCE_PMU_H
#define SBI_CONFORMANCE_PMU_H

#include "sbi.h"

#ifdef SBI_MODEL
ulong csr_read(unsigned int csr);
void csr_write(unsigned int csr, ulong value);
void csr_set(unsigned int csr, ulong bits);
void csr_clear(unsigned int csr, ulong bits);
#else
#define csr_read(csr)							\
	({								\
		ulong value_;						\
									\
		asm volatile("csrr %0, %1" : "=r"(value_) : "i"(csr) : "memory");	\
		value_;							\
	})
#define csr_write(csr, value)						\
	({ asm volatile("csrw %0, %1" :: "i"(csr), "r"((ulong)(value)) : "memory"); })
#define csr_set(csr, bits)						\
	({ asm volatile("csrs %0, %1" :: "i"(csr), "r"((ulong)(bits)) : "memory"); })
#define csr_clear(csr, bits)						\
	({ asm volatile("csrc %0, %1" :: "i"(csr), "r"((ulong)(bits)) : "memory"); })
#endif

#define CSR_SSTATUS		0x100
#define CSR_SIE			0x104
#define CSR_SCAUSE		0x142
#define CSR_SEPC		0x141
#define CSR_STVAL		0x143
#define CSR_SIP			0x144
#define CSR_SCOUNTINHIBIT	0x120
#define CSR_SISELECT		0x150
#define CSR_SIREG2		0x152
#define CSR_SCTRCTL		0x14e
#define CSR_CYCLE		0xc00
#define CSR_TIME		0xc01
#define CSR_INSTRET		0xc02
#define CSR_SCOUNTOVF		0xda0
#define SSTATUS_SIE		BIT(1)
#define IRQ_SSOFT		1
#define IRQ_STIMER		5
#define IRQ_LCOFI		13

#define CTR_CYCLE		0
#define CTR_TIME		1
#define CTR_INSTRET		2
#define FIXED_CTRS		(BIT(CTR_CYCLE) | BIT(CTR_INSTRET))

/* QEMU's virt board: what is in its memory map. */
#define ADDRESS_NOTHING		0x00080000UL	/* between the boot ROM and the test finisher */
#define ADDRESS_UART		0x10000000UL
#define ADDRESS_VIRTIO		0x10001000UL
#define ADDRESS_RTC		0x00101000UL
#define ADDRESS_FW_CFG		0x10100000UL
#define ADDRESS_FLASH		0x20000000UL
#define ADDRESS_PCIE_ECAM	0x30000000UL
#define ADDRESS_FIRMWARE	0x80000000UL
#define ADDRESS_MIDDLE		0x84000000UL	/* of 128 MiB: nothing of QEMU's is near */
#define ADDRESS_FAR		(XLEN == 64 ? BIT(50) : 0xc0000000)	/* nothing either */

/* What NUM_COUNTERS and COUNTER_GET_INFO have said. */
struct counters {
	u64 nr;
	u64 hw;			/* all, by index */
	u64 prog;		/* without cycle and instret */
	u64 fw;
	ulong info[64];
};

/* What LCOFI interrupts have left behind. */
struct irqs {
	volatile u64 count;
	volatile u64 scountovf;	/* as the last found it */
};

extern struct counters ctrs;
extern struct irqs irqs;
/* A page between two that are nobody's, in each place. */
extern u8 shared_pages[3 * PAGE_SIZE] __aligned(PAGE_SIZE);
extern u8 batch_pages[3 * PAGE_SIZE] __aligned(PAGE_SIZE);
#define SHARED		((ulong)&shared_pages[PAGE_SIZE])
#define BATCH_SHARED	((ulong)&batch_pages[PAGE_SIZE])

u64 ctr_read_csr(unsigned int ctr);
void loop_for(ulong n);
ulong instret_over_ecall(void);
ulong cycle_over_ecall(void);

/* What counted() counts besides its loop. */
extern u64 counted_extra;
/*
 * At most that much is counted from the firmware's start of a counter to its stop
 * besides a loop: what S-mode executes between two calls, a few dozen; without
 * filters also the ends of the firmware's own part, some hundreds each.
 */
extern u64 between_calls;

void pmu_discover(void);
void pmu_calibrate(void);
void pmu_reset(void);

/* The index of the lowest bit; MASK is not 0. */
u64 lowest(u64 mask);
/* A counter that counts EVENT, found among all; ALL_ONES where there is none. */
u64 ctr_for(ulong event, ulong flags);
u64 fw_ctr_for(ulong event);
bool is_running(u64 ctr);
/* What CTR has counted in a loop of N turns: 2 * N + counted_extra. */
u64 counted(unsigned int ctr, ulong n);
u64 ctr_value(unsigned int ctr);
/* START with VALUE, a loop, STOP, and what CTR then holds beyond VALUE. */
u64 started_for(unsigned int ctr, u64 value, ulong n);

/*
 * What QEMU 10.0.2 does on RV32 only: it keeps no mode out of the lower half of a
 * counter of cycles or instructions, and while that one runs it carries nothing
 * into the upper one. Both are right from a stop on, but for what was not left out.
 */
static inline bool qemu_applies_filters(void)
{
	return XLEN == 64;
}

static inline bool qemu_carries(void)
{
	return XLEN == 64;
}

/* Does this read trap? */
bool sctrctl_is_readable(void);
bool scountovf_is_readable(void);

/* Counters that S-mode programs by itself (Smcdeleg, Ssccfg). */
bool counters_are_delegated(void);
void delegated_event_write(u64 ctr, u64 event);
/* Does COUNTER_CONFIG_MATCHING accept cycle and instret? */
bool fixed_counters_can_be_configured(void);

void irqs_enable(void);
void irqs_disable(void);
bool lcofi_pending(void);
/* Is OF of this counter set? */
bool has_overflowed(u64 ctr);
void lcofi_clear(void);

void canaries_set(void);
bool canaries_live(void);

#endif
