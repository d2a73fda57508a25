/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated hart: counters, their overflow interrupt, and time, whose unit is an
 * instruction. As with QEMU's -icount, a cycle is an instruction.
 */
#ifndef SBI_MODEL_HART_H
#define SBI_MODEL_HART_H

#include "../sbi.h"

struct profile {
	const char *name;
	bool sscofpmf;
	bool smcntrpmf;
	bool ssccfg;		/* with Smcdeleg: all programmable counters are delegated */
	unsigned int width;	/* of the programmable counters */
};

/* cycle, instret, and the programmable counters 3 to 18. */
#define HART_CTRS		19
#define HART_FIXED		(BIT(0) | BIT(2))
#define HART_PROGRAMMABLE	0x7fff8ULL

/* mhpmevent; with Smcntrpmf also mcyclecfg and minstretcfg */
#define HPMEVENT_OF		BIT(63)
#define HPMEVENT_MINH		BIT(62)
#define HPMEVENT_SINH		BIT(61)
#define HPMEVENT_UINH		BIT(60)
#define HPMEVENT_VSINH		BIT(59)
#define HPMEVENT_VUINH		BIT(58)
#define HPMEVENT_FILTERS	(HPMEVENT_MINH | HPMEVENT_SINH | HPMEVENT_UINH | \
				 HPMEVENT_VSINH | HPMEVENT_VUINH)
/* Selectors of this hart. One is enough for TLB misses, because programs cause none. */
#define HPMEVENT_SELECTOR	(HPMEVENT_VUINH - 1)
#define SELECTOR_CYCLES		1
#define SELECTOR_INSTRUCTIONS	2
#define SELECTOR_TLB_MISSES	3

extern const struct profile *hart_profile;

void hart_boot(const struct profile *profile);
/* Sets the counters to their state after a non-retentive suspend. */
void hart_counters_reset(void);
void hart_execute(u64 n);

/* From ecall to the firmware's mret. */
void hart_enter_machine_mode(void);
void hart_leave_machine_mode(void);
/* Sleeps until the timer's interrupt is pending. */
void hart_wait(void);
void hart_timer_set(u64 when);

/* Accesses of M-mode to its CSRs; each takes an instruction. */
u64 hart_inhibit_read(void);
void hart_inhibit_write(u64 inhibit);
u64 hart_counter_read(unsigned int i);
void hart_counter_write(unsigned int i, u64 value);
u64 hart_event_read(unsigned int i);
void hart_event_write(unsigned int i, u64 event);

/* Overflows interrupt the firmware instead of the supervisor (mideleg). */
void hart_overflows_to_machine(bool to_machine);
bool hart_overflow_is_pending(void);
void hart_overflow_clear(void);

/* --- physical memory: accesses return false if they fault ------------------------ */

void memory_init(void);
/* May the supervisor read and write the whole range, whether it is memory or not? */
bool memory_is_allowed(u64 address, u64 size);
bool memory_read64(u64 address, u64 *value);
bool memory_read32(u64 address, u32 *value);
bool memory_write64(u64 address, u64 value);

/* --- interface between the program and start.S or entry.S --------------------------- */

struct trap_frame;
void trap_handle(struct trap_frame *frame);
long hart_suspend(ulong type);
extern ulong sse_frame[];
void sse_entry(void);
void sse_handle(void);

#endif
