// SPDX-License-Identifier: BSD-2-Clause
/*
 * The PMU batch extension, written from Documentation/arch/riscv/sbi-pmu-batch.rst only;
 * comments refer to sections of that document.
 */
#include "sbi_impl.h"

#define OFFSET(word)		offsetof(struct sbi_pmu_batch_shmem, word)
#define NO_PAGE			ALL_ONES_64

/* One APPLY. */
struct call {
	u64 stop, program, start;
	u64 load;
	u64 failed;
};

/* Section 5.1: one hart, and one domain. */
static u64 page = NO_PAGE;

void batch_forget_page(void)
{
	page = NO_PAGE;
}

/* --- section 3: the page ------------------------------------------------------------ */

static u64 slot_address(unsigned int i)
{
	return page + OFFSET(slot) + i * sizeof(struct sbi_pmu_batch_slot);
}

/* --- section 5: SET_SHMEM ------------------------------------------------------------- */

/*
 * Checks are in the order of the table. The model never lacks memory for its state.
 * Section 12: the page is one range that does not wrap.
 */
static struct sbiret set_shmem(ulong low, ulong high, ulong flags)
{
	if (flags)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	if (low == ALL_ONES && high == ALL_ONES) {
		batch_forget_page();
		return sbi_value(0);
	}
	if (low % SBI_PMU_BATCH_SHMEM_SIZE)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	if (high || low + SBI_PMU_BATCH_SHMEM_SIZE < low ||
	    !memory_is_allowed(low, SBI_PMU_BATCH_SHMEM_SIZE))
		return sbi_error(SBI_ERR_INVALID_ADDRESS);
	page = low;
	return sbi_value(0);
}

/* --- section 6.3: program --------------------------------------------------------------- */

/* False if the page faults. Section 3.2: each word is read once. */
static bool program_counter(struct call *call, unsigned int i)
{
	u64 slot = slot_address(i), data;
	u32 event, flags;

	if (!memory_read64(slot + offsetof(struct sbi_pmu_batch_slot, event_data), &data) ||
	    !memory_read32(slot + offsetof(struct sbi_pmu_batch_slot, event_idx), &event) ||
	    !memory_read32(slot + offsetof(struct sbi_pmu_batch_slot, flags), &flags))
		return false;
	if (event != SBI_PMU_BATCH_NO_EVENT && !counter_configure(i, event, data, flags))
		call->failed |= BIT(i);
	return true;
}

static bool program(struct call *call)
{
	u64 fresh = call->program;
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++)
		if (call->program & BIT(i) && counter_is_running(i))
			fresh &= ~BIT(i);
	call->failed |= call->program & ~fresh;
	/* Remove all events first, so that an event can move. */
	for (i = 0; i < NR_COUNTERS; i++)
		if (fresh & BIT(i))
			counter_forget(i);
	for (i = 0; i < NR_COUNTERS; i++)
		if (fresh & BIT(i) && !program_counter(call, i))
			return false;
	return true;
}

/* --- sections 6.4 and 6.5: load and start ------------------------------------------------- */

static bool load_counter(unsigned int i)
{
	u64 value;

	if (!memory_read64(slot_address(i) + offsetof(struct sbi_pmu_batch_slot, value), &value))
		return false;
	counter_load(i, value);
	return true;
}

/* Section 6.5: a running counter continues to run, and OF does not change. */
static bool make_ready(struct call *call, unsigned int i)
{
	bool is_loaded = call->load & BIT(i);

	if (counter_is_running(i)) {
		if (is_loaded)
			call->failed |= BIT(i);
		return true;
	}
	/* Section 6.5: a firmware counter without an event fails. */
	if (FIRMWARE_COUNTERS & BIT(i) && !counter_has_event(i)) {
		call->failed |= BIT(i);
		return true;
	}
	counter_clear_overflow(i);
	return !is_loaded || load_counter(i);
}

static bool load_and_start(struct call *call)
{
	unsigned int i;

	/* Section 3.1. */
	if (call->start && !memory_read64(page + OFFSET(load), &call->load))
		return false;
	for (i = 0; i < NR_COUNTERS; i++)
		if (call->start & ~call->failed & BIT(i) && !make_ready(call, i))
			return false;
	counters_start(call->start & ~call->failed);
	return true;
}

/* --- section 6: APPLY ------------------------------------------------------------------------ */

/* Section 6.1: state of the counters after a fault. */
static void abandon(u64 all, u64 program_mask)
{
	unsigned int i;

	counters_stop(all);
	for (i = 0; i < NR_COUNTERS; i++)
		if (program_mask & BIT(i))
			counter_forget(i);
}

static struct sbiret apply(u64 stop, u64 program_mask, u64 start)
{
	struct call call = { stop, program_mask, start, 0, 0 };
	u64 all = stop | program_mask | start;

	if (page == NO_PAGE)
		return sbi_error(SBI_ERR_NO_SHMEM);
	if (all & ~ALL_COUNTERS)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	/* Section 6.2. */
	counters_stop(stop);
	if (!program(&call) || !load_and_start(&call) ||
	    !memory_write64(page + OFFSET(failed), call.failed)) {
		abandon(all, program_mask);
		return sbi_error(SBI_ERR_INVALID_ADDRESS);
	}
	return sbi_error(call.failed ? SBI_ERR_FAILED : SBI_SUCCESS);
}

/* --- section 7: RESOLVE ----------------------------------------------------------------------- */

static struct sbiret resolve(ulong event, u64 data)
{
	u64 able;

	if (page == NO_PAGE)
		return sbi_error(SBI_ERR_NO_SHMEM);
	if (!event_is_valid(event, data))
		return sbi_error(SBI_ERR_INVALID_PARAM);
	able = event_counters(event, data);
	if (!able)
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	if (!memory_write64(page + OFFSET(ctrs), able))
		return sbi_error(SBI_ERR_INVALID_ADDRESS);
	return sbi_value(0);
}

/* --- section 8: MAP_EVENTS --------------------------------------------------------------------- */

/* False if the page faults. */
static bool map_slot(unsigned int i, u64 *failed)
{
	u64 slot = slot_address(i), selector, mask;
	u32 event, able;

	if (!memory_read64(slot + offsetof(struct sbi_pmu_batch_slot, value), &selector) ||
	    !memory_read64(slot + offsetof(struct sbi_pmu_batch_slot, event_data), &mask) ||
	    !memory_read32(slot + offsetof(struct sbi_pmu_batch_slot, event_idx), &event) ||
	    !memory_read32(slot + offsetof(struct sbi_pmu_batch_slot, flags), &able))
		return false;
	if (!event_map(event, selector, mask, able))
		*failed |= BIT(i);
	return true;
}

static struct sbiret map_events(u64 slots)
{
	u64 failed = 0;
	unsigned int i;

	if (page == NO_PAGE)
		return sbi_error(SBI_ERR_NO_SHMEM);
	for (i = 0; i < SBI_PMU_BATCH_NR_CTRS; i++)
		if (slots & BIT(i) && !map_slot(i, &failed))
			return sbi_error(SBI_ERR_INVALID_ADDRESS);
	if (!memory_write64(page + OFFSET(failed), failed))
		return sbi_error(SBI_ERR_INVALID_ADDRESS);
	return sbi_error(failed ? SBI_ERR_FAILED : SBI_SUCCESS);
}

/* Section 2: on RV64 each argument is one register. */
struct sbiret batch_handle(ulong fid, const ulong *args)
{
	switch (fid) {
	case SBI_PMU_BATCH_GET_VERSION:
		return sbi_value(SBI_PMU_BATCH_VERSION_0_10);
	case SBI_PMU_BATCH_SET_SHMEM:
		return set_shmem(args[0], args[1], args[2]);
	case SBI_PMU_BATCH_APPLY:
		return apply(args[0], args[1], args[2]);
	case SBI_PMU_BATCH_RESOLVE:
		return resolve(args[0], args[1]);
	case SBI_PMU_BATCH_MAP_EVENTS:
		return map_events(args[0]);
	default:
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	}
}
