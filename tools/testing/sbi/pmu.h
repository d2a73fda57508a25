/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the cases: the hart's counters, traps, memory. */
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

/* Memory map of QEMU's virt board. */
#define ADDRESS_NOTHING		0x00080000UL	/* between the boot ROM and the test finisher */
#define ADDRESS_UART		0x10000000UL
#define ADDRESS_VIRTIO		0x10001000UL
#define ADDRESS_RTC		0x00101000UL
#define ADDRESS_FW_CFG		0x10100000UL
#define ADDRESS_FLASH		0x20000000UL
#define ADDRESS_PCIE_ECAM	0x30000000UL
#define ADDRESS_FIRMWARE	0x80000000UL
#define ADDRESS_MIDDLE		0x84000000UL	/* of 128 MiB; QEMU places nothing near it */
#define ADDRESS_FAR		(XLEN == 64 ? BIT(50) : 0xc0000000)	/* no memory, too */
#define ADDRESS_BEYOND_PMP	BIT(60)		/* RV64: PMP addresses have 56 bits */

/* Results of NUM_COUNTERS and COUNTER_GET_INFO. */
struct counters {
	u64 nr;
	u64 hw;			/* all, by index */
	u64 prog;		/* without cycle and instret */
	u64 fw;
	ulong info[64];
};

/* State of the LCOFI interrupts. */
struct irqs {
	volatile u64 count;
	volatile u64 scountovf;	/* at the last interrupt */
};

extern struct counters ctrs;
extern struct irqs irqs;
/* Each is a shared page between two pages that must not change. */
extern u8 shared_pages[3 * PAGE_SIZE] __aligned(PAGE_SIZE);
extern u8 batch_pages[3 * PAGE_SIZE] __aligned(PAGE_SIZE);
#define SHARED		((ulong)&shared_pages[PAGE_SIZE])
#define BATCH_SHARED	((ulong)&batch_pages[PAGE_SIZE])

u64 ctr_read_csr(unsigned int ctr);
void loop_for(ulong n);
ulong instret_over_ecall(void);
ulong cycle_over_ecall(void);

/* Instructions of counted() besides its loop. */
extern u64 counted_extra;
/*
 * Upper bound for the instructions that are counted besides a loop from the start of
 * a counter to its stop: a few dozen of S-mode between two calls; without filters also
 * some hundreds of the firmware at each end.
 */
extern u64 between_calls;

void pmu_discover(void);
void pmu_calibrate(void);
void pmu_reset(void);

/* The index of the lowest bit; MASK is not 0. */
u64 lowest(u64 mask);
/* A counter that can count EVENT, or ALL_ONES if there is none. */
u64 ctr_for(ulong event, ulong flags);
u64 fw_ctr_for(ulong event);
bool is_running(u64 ctr);
/* The count of CTR over a loop of N turns: 2 * N + counted_extra. */
u64 counted(unsigned int ctr, ulong n);
u64 ctr_value(unsigned int ctr);
/* START with VALUE, a loop, STOP; returns the value of CTR minus VALUE. */
u64 started_for(unsigned int ctr, u64 value, ulong n);

/*
 * Defects of QEMU 10.0.2 on RV32: it does not apply filters to the lower half of a
 * counter of cycles or instructions, and does not carry into the upper half while
 * the counter runs. After a stop both halves are right, apart from the filters.
 */
static inline bool qemu_applies_filters(void)
{
	return XLEN == 64;
}

static inline bool qemu_carries(void)
{
	return XLEN == 64;
}

/* Is the CSR readable without a trap? */
bool sctrctl_is_readable(void);
bool scountovf_is_readable(void);

/* Can S-mode program counters itself (Smcdeleg, Ssccfg)? */
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
