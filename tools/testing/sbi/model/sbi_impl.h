/* SPDX-License-Identifier: BSD-2-Clause */
/* The SBI implementation of the model: interfaces between its files. */
#ifndef SBI_MODEL_SBI_IMPL_H
#define SBI_MODEL_SBI_IMPL_H

#include "hart.h"

#define SBI_HSM_HART_SUSPEND	3

#define NR_COUNTERS		35
#define HARDWARE_COUNTERS	(HART_FIXED | HART_PROGRAMMABLE)
/* 19 to 34. */
#define FIRMWARE_COUNTERS	(0xffffULL << 19)
#define ALL_COUNTERS		(HARDWARE_COUNTERS | FIRMWARE_COUNTERS)

static inline struct sbiret sbi_error(long error)
{
	return (struct sbiret){ error, 0 };
}

static inline struct sbiret sbi_value(ulong value)
{
	return (struct sbiret){ SBI_SUCCESS, value };
}

/* sbi.c: the functions of all extensions. */
void sbi_boot(void);
struct sbiret sbi_handle(ulong ext, ulong fid, const ulong *args);

/* --- sbi_pmu.c: counters, and the PMU extension ------------------------------------ */

void pmu_boot(void);
struct sbiret pmu_handle(ulong fid, const ulong *args);
void pmu_count_firmware_event(ulong event);

/* Is this an event_idx of the specification, with event_data that it allows? */
bool event_is_valid(ulong event, u64 data);
/* The counters that can count it: none if it is not valid. */
u64 event_counters(ulong event, u64 data);
/* Adds an event to the map: section 8.1 of the batch extension. False if the slot fails. */
bool event_map(ulong event, u64 selector, u64 mask, u64 able);

bool counter_is_running(unsigned int i);
bool counter_has_event(unsigned int i);
void counter_forget(unsigned int i);
/* Returns false if the counter cannot count the event, and does not change it. */
bool counter_configure(unsigned int i, ulong event, u64 data, ulong flags);
void counter_load(unsigned int i, u64 value);
/* Hardware counters by one write to mcountinhibit. */
void counters_stop(u64 mask);
/* The counters of MASK are stopped and have OF clear; the caller may have loaded them. */
void counters_start(u64 mask);
void counter_clear_overflow(unsigned int i);

/* --- sbi_batch.c: the PMU batch extension ------------------------------------------- */

struct sbiret batch_handle(ulong fid, const ulong *args);
void batch_forget_page(void);

/* --- sbi_sse.c: the overflow event ----------------------------------------------------- */

struct sbiret sse_handle_call(ulong fid, const ulong *args);
/* Turns a pending overflow interrupt of M-mode into the event. */
void sse_take_overflow(void);
/* After the return to S-mode: enters the handler if an event is pending. */
void sse_inject(void);

#endif
