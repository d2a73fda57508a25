// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shared memory at addresses without memory: addresses that no device decodes, and
 * devices that decode a part of a page.
 */
#include "batch.h"
#include "case.h"

/* These decode a part of their page (virtio, 0x200 bytes), or are read-only. */
static const ulong devices[] = {
	ADDRESS_VIRTIO, ADDRESS_FLASH, ADDRESS_PCIE_ECAM, ADDRESS_RTC, ADDRESS_FW_CFG,
};

/* 0 is a valid address: firmware must not mistake it for "no address". */
static const ulong unmapped[] = {
	0, ADDRESS_NOTHING, ADDRESS_FAR, -4096UL,
};

/* Is it an error that these calls may return? */
static bool is_refused(struct sbiret ret)
{
	return ret.error == SBI_ERR_INVALID_ADDRESS || ret.error == SBI_ERR_NO_SHMEM ||
	       ret.error == SBI_ERR_FAILED;
}

/* --- EVENT_GET_INFO --------------------------------------------------------------- */

static void info_survives_devices(void)
{
	ulong i;

	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		struct sbiret ret = pmu_event_info(devices[i], 0, 64, 0);

		EXPECT(!ret.error || is_refused(ret));
	}
	EXPECT_ERROR(pmu_event_info(ADDRESS_VIRTIO, 0, 64, 0), SBI_ERR_INVALID_ADDRESS);
	/* The device decodes the first entry, so a test of one word would not suffice. */
	EXPECT_ERROR(pmu_event_info(ADDRESS_VIRTIO + 0x1f0, 0, 2, 0), SBI_ERR_INVALID_ADDRESS);
	/* The next device decodes the second entry: the first one's fault must not be forgotten. */
	EXPECT_ERROR(pmu_event_info(ADDRESS_VIRTIO + PAGE_SIZE - 16, 0, 2, 0),
		     SBI_ERR_INVALID_ADDRESS);
}

/* --- the batch page ---------------------------------------------------------------- */

static void apply_survives_nothing(void)
{
	u64 all = ctrs.hw | ctrs.fw, i;

	for (i = 0; i < ARRAY_SIZE(unmapped); i++) {
		if (batch_set_shmem(unmapped[i], 0, 0).error)
			continue;
		EXPECT_ERROR(batch_apply(all, all, all), SBI_ERR_INVALID_ADDRESS);
		EXPECT_ERROR(batch_apply(all, 0, 0), SBI_ERR_INVALID_ADDRESS);
		EXPECT_ERROR(batch_apply(0, 0, 0), SBI_ERR_INVALID_ADDRESS);
	}
}

/* The results of devices are not specified; only check that the calls return. */
static void apply_survives_devices(void)
{
	u64 all = ctrs.hw | ctrs.fw, i, k;

	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		if (batch_set_shmem(devices[i], 0, 0).error)
			continue;
		batch_apply(all, all, all);
		for (k = 0; k < 64; k++)
			if (all & BIT(k))
				batch_apply(BIT(k), BIT(k), BIT(k));
		batch_resolve(EVENT_CYCLES, 0);
	}
	if (batch_set_shmem(ADDRESS_VIRTIO, 0, 0).error)
		return;
	/* Virtio does not decode its slot. */
	EXPECT_ERROR(batch_apply(BIT(18), BIT(18), 0), SBI_ERR_INVALID_ADDRESS);
}

static void resolve_survives_nothing(void)
{
	if (batch_set_shmem(ADDRESS_NOTHING, 0, 0).error) {
		tap_skip("this firmware refuses the page when it is set");
		return;
	}
	EXPECT_ERROR(batch_resolve(EVENT_CYCLES, 0), SBI_ERR_INVALID_ADDRESS);
}

static void counters_stop_if_the_page_at(ulong address)
{
	u64 ctr, other;

	REQUIRE(batch_page_set());
	ctr = batch_start(EVENT_INSTRUCTIONS, 0);
	REQUIRE(ctr != ALL_ONES);
	other = ctr == CTR_INSTRET ? CTR_CYCLE : ctr + 1;
	slot_set(other, EVENT_CYCLES, 0);
	EXPECT_OK(batch_apply(BIT(other), BIT(other), BIT(other)));
	if (batch_set_shmem(address, 0, 0).error) {
		tap_skip("this firmware refuses the page when it is set");
		return;
	}
	EXPECT_ERROR(batch_apply(0, 0, BIT(ctr)), SBI_ERR_INVALID_ADDRESS);
	EXPECT(!is_running(ctr));
	EXPECT(is_running(other));
	/* The page stays set, so the error is not NO_SHMEM. */
	EXPECT_ERROR(batch_apply(0, 0, 0), SBI_ERR_INVALID_ADDRESS);
}

static void counters_stop_if_the_page_faults(void)
{
	counters_stop_if_the_page_at(ADDRESS_NOTHING);
}

/* With Smepmp OpenSBI maps the page by a PMP entry, which cannot hold this address. */
static void counters_stop_if_the_page_is_beyond_pmp(void)
{
	counters_stop_if_the_page_at((ulong)ADDRESS_BEYOND_PMP);
}

/* Each mask has one running counter of hardware and one of firmware. */
static void counters_of_each_mask_stop_if_the_page_faults(void)
{
	u64 hw = lowest(ctrs.prog), fw = lowest(ctrs.fw), first = BIT(hw) | BIT(fw), all, i;

	REQUIRE(batch_page_set());
	for (i = 0; i < 3; i++) {
		slot_set(hw + i, EVENT_DTLB_READ_MISS, 0);
		slot_set(fw + i, EVENT_FW_SET_TIMER, 0);
	}
	all = first | first << 1 | first << 2;
	REQUIRE(!batch_apply(0, all, all).error);
	if (batch_set_shmem(ADDRESS_NOTHING, 0, 0).error) {
		tap_skip("this firmware refuses the page when it is set");
		return;
	}
	EXPECT_ERROR(batch_apply(first, first << 1, first << 2), SBI_ERR_INVALID_ADDRESS);
	/* A running counter could not be programmed. */
	REQUIRE(batch_page_set());
	EXPECT_OK(batch_apply(0, all, 0));
	EXPECT_EQ(batch_page()->failed, 0);
}

/* --- snapshots ---------------------------------------------------------------------- */

static void snapshot_survives(ulong address)
{
	u64 ctr = ctr_for(EVENT_CYCLES, 0);

	REQUIRE(ctr != ALL_ONES);
	if (!pmu_set_shmem(address, 0, 0).error) {
		EXPECT_ERROR(pmu_start(0, ctrs.hw, PMU_START_INIT_SNAPSHOT, 0), SBI_ERR_NO_SHMEM);
		pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 5);
		EXPECT_ERROR(pmu_stop(ctr, 1, PMU_STOP_TAKE_SNAPSHOT), SBI_ERR_NO_SHMEM);
		EXPECT(!is_running(ctr));
		EXPECT_OK(pmu_set_shmem(ALL_ONES, ALL_ONES, 0));
	}
	pmu_stop(ctr, 1, PMU_STOP_RESET);
}

static void snapshot_survives_nothing(void)
{
	ulong i;

	for (i = 0; i < ARRAY_SIZE(unmapped); i++)
		snapshot_survives(unmapped[i]);
}

/* Virtio decodes the values of all existing counters; the RTC does not. */
static void snapshot_survives_devices(void)
{
	ulong i;

	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		u64 ctr = ctr_for(EVENT_CYCLES, 0);

		REQUIRE(ctr != ALL_ONES);
		if (!pmu_set_shmem(devices[i], 0, 0).error) {
			pmu_start(0, ctrs.hw, PMU_START_INIT_SNAPSHOT, 0);
			pmu_stop(0, ctrs.hw, PMU_STOP_TAKE_SNAPSHOT);
		}
		pmu_stop(0, ctrs.hw, PMU_STOP_RESET);
	}
	pmu_set_shmem(ALL_ONES, ALL_ONES, 0);
}

/* --- SET_SHMEM ------------------------------------------------------------------------ */

#define FW_CFG_DATA		((volatile u8 *)ADDRESS_FW_CFG)
#define FW_CFG_SELECTOR		((volatile unsigned short *)(ADDRESS_FW_CFG + 8))

/* The first byte of QEMU's fw_cfg file 0, "QEMU": a read of the data register consumes it. */
static void fw_cfg_rewind(void)
{
	*FW_CFG_SELECTOR = 0;
}

static bool fw_cfg_is_rewound(void)
{
	return *FW_CFG_DATA == 'Q';
}

static void batch_set_shmem_does_not_access(void)
{
	fw_cfg_rewind();
	REQUIRE(fw_cfg_is_rewound());
	fw_cfg_rewind();
	batch_set_shmem(ADDRESS_FW_CFG, 0, 0);
	EXPECT(fw_cfg_is_rewound());
}

static void snapshot_set_shmem_does_not_access(void)
{
	fw_cfg_rewind();
	REQUIRE(fw_cfg_is_rewound());
	fw_cfg_rewind();
	pmu_set_shmem(ADDRESS_FW_CFG, 0, 0);
	EXPECT(fw_cfg_is_rewound());
}

/* The mask of counters to load is at the address of the data register. */
static void apply_does_not_read_load_without_start(void)
{
	u64 ctr = lowest(ctrs.hw);

	if (batch_set_shmem(ADDRESS_FW_CFG, 0, 0).error) {
		tap_skip("this firmware refuses the page when it is set");
		return;
	}
	fw_cfg_rewind();
	batch_apply(BIT(ctr), 0, 0);
	/* APPLY has written to the selector, or faulted there. */
	EXPECT(fw_cfg_is_rewound());
	fw_cfg_rewind();
	/* There is no slot, so APPLY does not come to the selector. */
	EXPECT_ERROR(batch_apply(0, BIT(ctr), 0), SBI_ERR_INVALID_ADDRESS);
	EXPECT(fw_cfg_is_rewound());
}

/* Virtio does not decode the slots of counters from 14 on. */
#define VIRTIO_DECODES		0x200
#define BEYOND_VIRTIO		(~(BIT((VIRTIO_DECODES - 0x40) / 32) - 1))

/* The mask of counters to load is at the address of virtio's magic number and version. */
static void apply_reads_no_slot_without_need(void)
{
	u64 load = *(volatile u64 *)ADDRESS_VIRTIO, loaded, other, fw;

	REQUIRE(ctrs.hw & BEYOND_VIRTIO & load && ctrs.hw & BEYOND_VIRTIO & ~load);
	loaded = BIT(lowest(ctrs.hw & BEYOND_VIRTIO & load));
	other = BIT(lowest(ctrs.hw & BEYOND_VIRTIO & ~load));
	REQUIRE(ctrs.fw & ~load);
	fw = lowest(ctrs.fw & ~load);
	REQUIRE(batch_page_set());
	slot_set(fw, EVENT_FW_SET_TIMER, 0);
	REQUIRE(!batch_apply(0, BIT(fw), 0).error);
	if (batch_set_shmem(ADDRESS_VIRTIO, 0, 0).error) {
		tap_skip("this firmware refuses the page when it is set");
		return;
	}
	EXPECT_OK(batch_apply(loaded | other | BIT(fw), 0, 0));
	EXPECT_OK(batch_apply(loaded | other, 0, other | BIT(fw)));
	/* These must read words that fault. */
	EXPECT_ERROR(batch_apply(0, 0, loaded), SBI_ERR_INVALID_ADDRESS);
	EXPECT_ERROR(batch_apply(other, other, 0), SBI_ERR_INVALID_ADDRESS);
}

/* Section 3.1. */
static bool may_be_read(u64 offset, u64 program, u64 start)
{
	u64 in_slots = offset - 0x40, ctr = in_slots / 32, word = in_slots % 32 / 8;

	if (!offset)
		return start;
	if (offset < 0x40 || ctr >= 64)
		return false;
	return word ? word < 3 && program & BIT(ctr) : batch_page()->load & start & BIT(ctr);
}

static void expect_reads_within(u64 stop, u64 program, u64 start)
{
	u64 offset;

	memory_watch(BATCH_SHARED);
	EXPECT_OK(batch_apply(stop, program, start));
	for (offset = 0; offset < PAGE_SIZE; offset += 8)
		EXPECT(!memory_was_read(offset) || may_be_read(offset, program, start));
}

static void no_word_is_read_without_need(void)
{
	u64 one = BIT(lowest(ctrs.prog)), two = one << 1, fw = BIT(lowest(ctrs.fw)), all, offset;

	REQUIRE(batch_page_set());
	all = one | two | fw;
	batch_page()->load = one | fw;
	slot_set(lowest(fw), EVENT_FW_SET_TIMER, 0);
	expect_reads_within(0, 0, 0);
	expect_reads_within(all, 0, 0);
	/* In load, but not started. */
	expect_reads_within(all, all, 0);
	expect_reads_within(all, one, two);
	expect_reads_within(all, two, one | fw);
	expect_reads_within(all, 0, all);
	memory_watch(BATCH_SHARED);
	EXPECT_OK(batch_resolve(EVENT_CYCLES, 0));
	for (offset = 0; offset < PAGE_SIZE; offset += 8)
		EXPECT(!memory_was_read(offset));
}

const struct test_case device_cases[] = {
	{ "SNAPSHOT_SET_SHMEM does not access the memory", snapshot_set_shmem_does_not_access,
	  NEEDS_SNAPSHOT },
	{ "SET_SHMEM does not access the page", batch_set_shmem_does_not_access, NEEDS_BATCH },
	{ "APPLY does not read load if start_mask is zero", apply_does_not_read_load_without_start,
	  NEEDS_BATCH },
	{ "APPLY reads no value without load, and no slot of counters that it does not program",
	  apply_reads_no_slot_without_need, NEEDS_BATCH },
	{ "APPLY and RESOLVE only read the words that their arguments name",
	  no_word_is_read_without_need, NEEDS_BATCH | NEEDS_READS },
	{ "APPLY returns INVALID_ADDRESS if the page has no memory", apply_survives_nothing, NEEDS_BATCH },
	{ "RESOLVE returns INVALID_ADDRESS if the page has no memory", resolve_survives_nothing,
	  NEEDS_BATCH },
	{ "APPLY stops the counters of start_mask if the page faults",
	  counters_stop_if_the_page_faults, NEEDS_BATCH },
	{ "APPLY stops the counters of start_mask if PMP cannot hold the page's address",
	  counters_stop_if_the_page_is_beyond_pmp, NEEDS_BATCH | NEEDS_RV64 },
	{ "APPLY stops the counters of each mask if the page faults",
	  counters_of_each_mask_stop_if_the_page_faults, NEEDS_BATCH },
	{ "START and STOP return NO_SHMEM if there is no snapshot memory", snapshot_survives_nothing,
	  NEEDS_SNAPSHOT },
	{ "a snapshot survives a device that decodes a part of a page",
	  snapshot_survives_devices, NEEDS_SNAPSHOT },
	{ "APPLY survives a device that decodes a part of a page", apply_survives_devices,
	  NEEDS_BATCH },
	{ "EVENT_GET_INFO survives a device that decodes a part of a page",
	  info_survives_devices, NEEDS_EVENT_INFO },
	CASES_END
};
