// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counters for both extensions, and the PMU extension (SBI 3.0, chapter 11) without
 * EVENT_GET_INFO.
 */
#include "sbi_impl.h"

#define CONFIG_FLAGS		(PMU_CFG_SKIP_MATCH | PMU_CFG_CLEAR_VALUE | PMU_CFG_AUTO_START | \
				 PMU_CFG_SET_VUINH | PMU_CFG_SET_VSINH | PMU_CFG_SET_UINH | \
				 PMU_CFG_SET_SINH | PMU_CFG_SET_MINH)
#define START_FLAGS		(PMU_START_SET_INIT_VALUE | PMU_START_INIT_SNAPSHOT)
#define STOP_FLAGS		(PMU_STOP_RESET | PMU_STOP_TAKE_SNAPSHOT)

#define EVENT_BITS		20
#define EVENT_TYPE(event)	((event) >> 16)
#define EVENT_CODE(event)	((event) & 0xffff)
#define HW_LAST			10
#define CACHE_LAST_ID		6
#define CACHE_LAST_OP		2
#define FW_LAST			21
#define SELECTOR_BITS		56
#define RAW_DATA_BITS		48
#define RAW_V2_DATA_BITS	56

#define CSR_OF_COUNTERS		0xc00
#define FIRMWARE_INFO		BIT(63)

/* Events of this platform's hart. */
static const struct {
	ulong event;
	u64 selector;
	u64 counters;
} platform_events[] = {
	{ EVENT_CYCLES,		 SELECTOR_CYCLES,	BIT(0) | HART_PROGRAMMABLE },
	{ EVENT_INSTRUCTIONS,	 SELECTOR_INSTRUCTIONS,	BIT(2) | HART_PROGRAMMABLE },
	{ EVENT_DTLB_READ_MISS,	 SELECTOR_TLB_MISSES,	HART_PROGRAMMABLE },
	{ EVENT_DTLB_WRITE_MISS, SELECTOR_TLB_MISSES,	HART_PROGRAMMABLE },
	{ EVENT_ITLB_READ_MISS,	 SELECTOR_TLB_MISSES,	HART_PROGRAMMABLE },
};

#define MAP_MAX			128

/* Events that the supervisor has mapped. MASK is that of raw events. */
static struct {
	ulong event;
	u64 selector;
	u64 mask;
	u64 counters;
} map[MAP_MAX];

static unsigned int nr_mapped;

/*
 * A fixed counter always has its own event; IN_USE is set if it was configured or
 * started.
 */
static struct {
	bool in_use;
	ulong event;
	/* For firmware counters only. */
	bool running;
	u64 value;
} counters[NR_COUNTERS];

/* Address of the snapshot memory, or all ones. */
static u64 snapshot = ALL_ONES_64;

static bool is_fixed(unsigned int i)
{
	return BIT(i) & HART_FIXED;
}

static bool is_firmware(unsigned int i)
{
	return BIT(i) & FIRMWARE_COUNTERS;
}

/* --- events ------------------------------------------------------------------------ */

/*
 * No counter can count event_idx 0. This platform has no platform-specific firmware
 * events.
 */
bool event_is_valid(ulong event, u64 data)
{
	ulong code = EVENT_CODE(event);

	if (event >> EVENT_BITS)
		return false;
	switch (EVENT_TYPE(event)) {
	case 0:
		return code <= HW_LAST;
	case 1:
		return code >> 3 <= CACHE_LAST_ID && (code >> 1 & 3) <= CACHE_LAST_OP;
	case 2:
		return !code && !(data >> RAW_DATA_BITS);
	case 3:
		return !code && !(data >> RAW_V2_DATA_BITS);
	case 15:
		return code <= FW_LAST;
	default:
		return false;
	}
}

/*
 * Sections 6.3 and 7 of the batch extension allow an implementation to count an event
 * with fixed counters only, or not to configure fixed counters.
 */
static u64 usable_counters(u64 able)
{
	if (!hart_profile->sscofpmf)
		return able & HART_FIXED ? able & HART_FIXED : able;
	return hart_profile->smcntrpmf ? able : able & ~HART_FIXED;
}

static bool is_raw(ulong event)
{
	return event == EVENT_RAW || event == EVENT_RAW_V2;
}

u64 event_counters(ulong event, u64 data)
{
	size_t i;

	if (!event_is_valid(event, data))
		return 0;
	if (EVENT_TYPE(event) == 15)
		return FIRMWARE_COUNTERS;
	for (i = 0; i < ARRAY_SIZE(platform_events); i++)
		if (platform_events[i].event == event)
			return usable_counters(platform_events[i].counters);
	for (i = 0; i < nr_mapped; i++)
		if (is_raw(event) ? map[i].event == EVENT_RAW && (data & map[i].mask) == map[i].selector :
				    map[i].event == event)
			return map[i].counters;
	return 0;
}

static u64 event_selector(ulong event, u64 data)
{
	size_t i;

	if (is_raw(event))
		return data;
	for (i = 0; i < ARRAY_SIZE(platform_events); i++)
		if (platform_events[i].event == event)
			return platform_events[i].selector;
	for (i = 0; i < nr_mapped; i++)
		if (map[i].event == event)
			return map[i].selector;
	return 0;
}

/* The platform has no raw events. */
static bool is_mapped(ulong event, u64 selector, u64 mask)
{
	size_t i;

	if (!is_raw(event))
		return event_selector(event, 0);
	for (i = 0; i < nr_mapped; i++)
		if (map[i].event == EVENT_RAW && !((selector ^ map[i].selector) & mask & map[i].mask))
			return true;
	return false;
}

bool event_map(ulong event, u64 selector, u64 mask, u64 able)
{
	if (event == EVENT_NONE || !event_is_valid(event, 0) || event > EVENT_RAW)
		return false;
	if (selector >> SELECTOR_BITS || !able || able & ~HART_PROGRAMMABLE)
		return false;
	if (event == EVENT_RAW ? !mask || selector & ~mask : !selector)
		return false;
	if (is_mapped(event, selector, mask) || nr_mapped == MAP_MAX)
		return false;
	map[nr_mapped].event = event;
	map[nr_mapped].selector = selector;
	map[nr_mapped].mask = mask;
	map[nr_mapped++].counters = able;
	return true;
}

/* --- counters ---------------------------------------------------------------------- */

static u64 filters_of(ulong flags)
{
	u64 filters = HPMEVENT_MINH;

	if (flags & PMU_CFG_SET_VUINH)
		filters |= HPMEVENT_VUINH;
	if (flags & PMU_CFG_SET_VSINH)
		filters |= HPMEVENT_VSINH;
	if (flags & PMU_CFG_SET_UINH)
		filters |= HPMEVENT_UINH;
	if (flags & PMU_CFG_SET_SINH)
		filters |= HPMEVENT_SINH;
	return filters;
}

bool counter_is_running(unsigned int i)
{
	return is_firmware(i) ? counters[i].running : !(hart_inhibit_read() & BIT(i));
}

bool counter_has_event(unsigned int i)
{
	return is_fixed(i) || counters[i].in_use;
}

void counter_forget(unsigned int i)
{
	counters[i].in_use = false;
	if (!is_firmware(i))
		hart_event_write(i, filters_of(0));
}

bool counter_configure(unsigned int i, ulong event, u64 data, ulong flags)
{
	if (!(event_counters(event, data) & BIT(i)))
		return false;
	counters[i].in_use = true;
	counters[i].event = event;
	if (is_fixed(i))
		hart_event_write(i, filters_of(flags));
	else if (!is_firmware(i))
		hart_event_write(i, event_selector(event, data) | filters_of(flags));
	return true;
}

void counter_load(unsigned int i, u64 value)
{
	if (is_firmware(i))
		counters[i].value = value;
	else
		hart_counter_write(i, value);
}

static u64 counter_value(unsigned int i)
{
	return is_firmware(i) ? counters[i].value : hart_counter_read(i);
}

void counter_clear_overflow(unsigned int i)
{
	if (!is_firmware(i))
		hart_event_write(i, hart_event_read(i) & ~HPMEVENT_OF);
}

static void firmware_counters_run(u64 mask, bool running)
{
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++)
		if (mask & FIRMWARE_COUNTERS & BIT(i))
			counters[i].running = running;
}

void counters_stop(u64 mask)
{
	if (mask & HARDWARE_COUNTERS)
		hart_inhibit_write(hart_inhibit_read() | mask);
	firmware_counters_run(mask, false);
}

void counters_start(u64 mask)
{
	unsigned int i;

	firmware_counters_run(mask, true);
	for (i = 0; i < NR_COUNTERS; i++)
		if (mask & HART_FIXED & BIT(i))
			counters[i].in_use = true;
	if (mask & HARDWARE_COUNTERS)
		hart_inhibit_write(hart_inhibit_read() & ~mask);
}

void pmu_count_firmware_event(ulong event)
{
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++)
		if (is_firmware(i) && counters[i].running && counters[i].event == event)
			counters[i].value++;
}

/* cycle and instret run; the others are stopped, and no counter counts M-mode. */
void pmu_boot(void)
{
	unsigned int i;

	counters_stop(ALL_COUNTERS & ~HART_FIXED);
	for (i = 0; i < NR_COUNTERS; i++) {
		if (!(ALL_COUNTERS & BIT(i)))
			continue;
		counter_forget(i);
		counter_load(i, 0);
	}
	snapshot = ALL_ONES_64;
}

/* --- sets of counters ---------------------------------------------------------------- */

struct set {
	ulong base;
	u64 counters;	/* by index */
};

/* Returns false if the set is empty or has a counter that does not exist. */
static bool set_from(struct set *set, ulong base, ulong mask)
{
	if (!mask || base >= NR_COUNTERS)
		return false;
	set->base = base;
	set->counters = (u64)mask << base;
	return set->counters >> base == mask && !(set->counters & ~ALL_COUNTERS);
}

static u64 snapshot_value_address(const struct set *set, unsigned int i)
{
	return snapshot + offsetof(struct pmu_snapshot, value) + 8 * (i - set->base);
}

static u64 running_of(u64 mask)
{
	u64 running = 0;
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++)
		if (mask & BIT(i) && counter_is_running(i))
			running |= BIT(i);
	return running;
}

static u64 with_event_of(u64 mask)
{
	u64 with = 0;
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++)
		if (mask & BIT(i) && counter_has_event(i))
			with |= BIT(i);
	return with;
}

/* --- the functions ------------------------------------------------------------------- */

static struct sbiret get_info(ulong i)
{
	if (i >= NR_COUNTERS || !(ALL_COUNTERS & BIT(i)))
		return sbi_error(SBI_ERR_INVALID_PARAM);
	if (is_firmware(i))
		return sbi_value(FIRMWARE_INFO);
	return sbi_value((CSR_OF_COUNTERS + i) |
			 ((is_fixed(i) ? 64 : hart_profile->width) - 1) << 12);
}

/* Is the counter free? cycle and instret run from boot on. */
static bool can_be_matched(unsigned int i)
{
	return !counters[i].in_use && (is_fixed(i) || !counter_is_running(i));
}

static int find_counter(u64 set, ulong event, u64 data)
{
	u64 able = set & event_counters(event, data);
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++)
		if (able & BIT(i) && can_be_matched(i))
			return i;
	return SBI_ERR_NOT_SUPPORTED;
}

/* SKIP_MATCH: the first counter, which must have been configured before. */
static int first_counter(u64 set, ulong event, u64 data)
{
	unsigned int i;

	for (i = 0; !(set & BIT(i)); i++)
		;
	if (!counters[i].in_use)
		return SBI_ERR_INVALID_PARAM;
	return event_counters(event, data) & BIT(i) ? (int)i : SBI_ERR_NOT_SUPPORTED;
}

static struct sbiret config_matching(const ulong *args)
{
	ulong flags = args[2], event = args[3];
	u64 data = args[4];
	struct set set;
	int i;

	if (!set_from(&set, args[0], args[1]) || flags & ~CONFIG_FLAGS)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	i = flags & PMU_CFG_SKIP_MATCH ? first_counter(set.counters, event, data) :
					 find_counter(set.counters, event, data);
	if (i < 0)
		return sbi_error(i);
	counter_configure(i, event, data, flags);
	if (flags & PMU_CFG_CLEAR_VALUE)
		counter_load(i, 0);
	if (flags & PMU_CFG_AUTO_START)
		counters_start(BIT(i));
	return sbi_value(i);
}

/* Reads the values before it starts any counter. */
static bool load_from_snapshot(const struct set *set, u64 mask)
{
	unsigned int i;
	u64 value;

	for (i = 0; i < NR_COUNTERS; i++) {
		if (!(mask & BIT(i)))
			continue;
		if (!memory_read64(snapshot_value_address(set, i), &value))
			return false;
		counter_load(i, value);
	}
	return true;
}

static struct sbiret start(const ulong *args)
{
	ulong flags = args[2];
	u64 able, fresh;
	struct set set;
	unsigned int i;

	if (!set_from(&set, args[0], args[1]) || flags & ~START_FLAGS || flags == START_FLAGS)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	if (flags & PMU_START_INIT_SNAPSHOT && snapshot == ALL_ONES_64)
		return sbi_error(SBI_ERR_NO_SHMEM);
	able = with_event_of(set.counters);
	fresh = able & ~running_of(able);
	for (i = 0; i < NR_COUNTERS; i++) {
		if (!(fresh & BIT(i)))
			continue;
		counter_clear_overflow(i);
		if (flags & PMU_START_SET_INIT_VALUE)
			counter_load(i, args[3]);
	}
	if (flags & PMU_START_INIT_SNAPSHOT && !load_from_snapshot(&set, fresh))
		return sbi_error(SBI_ERR_NO_SHMEM);
	counters_start(fresh);
	if (able != set.counters)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	return sbi_error(fresh == able ? SBI_SUCCESS : SBI_ERR_ALREADY_STARTED);
}

static bool save_to_snapshot(const struct set *set)
{
	u64 overflowed = 0;
	unsigned int i;

	for (i = 0; i < NR_COUNTERS; i++) {
		if (!(set->counters & BIT(i)))
			continue;
		if (!is_firmware(i) && hart_event_read(i) & HPMEVENT_OF)
			overflowed |= BIT(i - set->base);
		if (!memory_write64(snapshot_value_address(set, i), counter_value(i)))
			return false;
	}
	return memory_write64(snapshot, overflowed);
}

static struct sbiret stop(const ulong *args)
{
	ulong flags = args[2];
	u64 able, ran;
	struct set set;
	unsigned int i;
	bool saved = true;

	if (!set_from(&set, args[0], args[1]) || flags & ~STOP_FLAGS)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	if (flags & PMU_STOP_TAKE_SNAPSHOT && snapshot == ALL_ONES_64)
		return sbi_error(SBI_ERR_NO_SHMEM);
	able = with_event_of(set.counters);
	ran = running_of(able);
	/* Section 10 of the batch extension: RESET also stops counters without an event. */
	counters_stop(flags & PMU_STOP_RESET ? set.counters : ran);
	if (flags & PMU_STOP_TAKE_SNAPSHOT)
		saved = save_to_snapshot(&set);
	for (i = 0; i < NR_COUNTERS; i++)
		if (flags & PMU_STOP_RESET && set.counters & BIT(i))
			counter_forget(i);
	if (!saved)
		return sbi_error(SBI_ERR_NO_SHMEM);
	if (able != set.counters)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	return sbi_error(ran == able ? SBI_SUCCESS : SBI_ERR_ALREADY_STOPPED);
}

static struct sbiret fw_read(ulong i)
{
	if (i >= NR_COUNTERS || !is_firmware(i) || !counters[i].in_use)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	return sbi_value(counters[i].value);
}

static struct sbiret snapshot_set_shmem(const ulong *args)
{
	if (args[2])
		return sbi_error(SBI_ERR_INVALID_PARAM);
	if (args[0] == ALL_ONES && args[1] == ALL_ONES) {
		snapshot = ALL_ONES_64;
		return sbi_value(0);
	}
	if (args[0] % PAGE_SIZE)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	if (args[1] || !memory_is_allowed(args[0], PAGE_SIZE))
		return sbi_error(SBI_ERR_INVALID_ADDRESS);
	snapshot = args[0];
	return sbi_value(0);
}

struct sbiret pmu_handle(ulong fid, const ulong *args)
{
	struct sbiret ret;

	switch (fid) {
	case SBI_PMU_NUM_COUNTERS:
		return sbi_value(NR_COUNTERS);
	case SBI_PMU_COUNTER_GET_INFO:
		return get_info(args[0]);
	case SBI_PMU_COUNTER_CONFIG_MATCHING:
		return config_matching(args);
	case SBI_PMU_COUNTER_START:
		return start(args);
	case SBI_PMU_COUNTER_STOP:
		return stop(args);
	case SBI_PMU_COUNTER_FW_READ:
		return fw_read(args[0]);
	case SBI_PMU_COUNTER_FW_READ_HI:
		/* Only RV32 has an upper half. */
		ret = fw_read(args[0]);
		return sbi_error(ret.error);
	case SBI_PMU_SNAPSHOT_SET_SHMEM:
		return snapshot_set_shmem(args);
	default:
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	}
}
