// SPDX-License-Identifier: BSD-2-Clause
/*
 * Physical memory: the program's memory, at its address on the host, and the devices of
 * QEMU's virt board that the cases use.
 */
#include "hart.h"
#include "../batch.h"
#include "host.h"

#define FW_CFG_SELECTOR		(ADDRESS_FW_CFG + 8)
/* "virt", 1. */
#define VIRTIO_MAGIC_AND_VERSION	0x174726976ULL

enum kind {
	MEMORY,
	/* The root domain denies the supervisor access. */
	REFUSED,
	/* Reads return zero, and writes are ignored. */
	REGISTERS,
	REGISTERS_32,
	/* Without a backend, only the registers that identify the transport are not zero. */
	VIRTIO,
	READ_ONLY,
	FW_CFG,
};

/* Accesses to addresses between the regions fault. */
static struct region {
	u64 base, size;
	enum kind kind;
} regions[] = {
	{ 0, 0, MEMORY },
	{ ADDRESS_FIRMWARE, 0x80000, REFUSED },
	{ ADDRESS_UART, PAGE_SIZE, REFUSED },
	{ ADDRESS_VIRTIO, 0x200, VIRTIO },
	{ ADDRESS_RTC, 0x24, REGISTERS_32 },
	{ ADDRESS_FW_CFG, 0x18, FW_CFG },
	{ ADDRESS_FLASH, 0x2000000, READ_ONLY },
	{ ADDRESS_PCIE_ECAM, 0x10000000, REGISTERS },
};

static struct {
	u64 page;
	bool read[PAGE_SIZE / 8];
} watch;

void memory_watch(u64 page)
{
	size_t i;

	watch.page = page;
	for (i = 0; i < ARRAY_SIZE(watch.read); i++)
		watch.read[i] = false;
}

bool memory_was_read(u64 offset)
{
	return watch.read[offset / 8];
}

/* The data register has the first byte of a name until it is read. */
static u8 *fw_cfg_data(void)
{
	return (u8 *)ADDRESS_FW_CFG;
}

void memory_init(void)
{
	regions[0].base = host_image_begin();
	regions[0].size = host_image_end() - host_image_begin();
	if (!host_map(ADDRESS_FW_CFG, PAGE_SIZE) || !host_map(ADDRESS_VIRTIO, PAGE_SIZE))
		host_exit(1);
	*fw_cfg_data() = 'Q';
	*(u64 *)ADDRESS_VIRTIO = VIRTIO_MAGIC_AND_VERSION;
}

bool memory_is_allowed(u64 address, u64 size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(regions); i++)
		if (regions[i].kind == REFUSED && address < regions[i].base + regions[i].size &&
		    regions[i].base < address + size)
			return false;
	return true;
}

static const struct region *region_of(u64 address, u64 size)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(regions); i++)
		if (address >= regions[i].base &&
		    address - regions[i].base + size <= regions[i].size)
			return &regions[i];
	return NULL;
}

/*
 * Accesses of the program are direct. The program finds the device rewound unless the
 * firmware has read the data register after the program wrote to the selector.
 */
static bool fw_cfg_read(u64 address, u64 *value)
{
	if (address != ADDRESS_FW_CFG)
		return false;
	*value = *fw_cfg_data();
	*fw_cfg_data() = 'E';
	return true;
}

static bool read(u64 address, unsigned int size, u64 *value)
{
	const struct region *region = region_of(address, size);

	hart_execute(1);
	*value = 0;
	if (!region || address % size)
		return false;
	if (address - watch.page < PAGE_SIZE)
		watch.read[(address - watch.page) / 8] = true;
	switch (region->kind) {
	case MEMORY:
	case VIRTIO:
		*value = size == 8 ? *(u64 *)(ulong)address :
				     *(u32 *)(ulong)address;
		return true;
	case REGISTERS:
	case READ_ONLY:
		return true;
	case REGISTERS_32:
		return size == 4;
	case FW_CFG:
		return fw_cfg_read(address, value);
	default:
		return false;
	}
}

bool memory_read64(u64 address, u64 *value)
{
	return read(address, 8, value);
}

bool memory_read32(u64 address, u32 *value)
{
	u64 word;

	if (!read(address, 4, &word))
		return false;
	*value = word;
	return true;
}

bool memory_write64(u64 address, u64 value)
{
	const struct region *region = region_of(address, 8);

	hart_execute(1);
	if (!region || address % 8)
		return false;
	if (region->kind == MEMORY)
		*(u64 *)(ulong)address = value;
	return region->kind == MEMORY || region->kind == REGISTERS || region->kind == VIRTIO;
}
