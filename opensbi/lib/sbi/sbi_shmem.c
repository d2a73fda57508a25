/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies to and from memory that a supervisor shares with the firmware.
 */

#include <sbi/sbi_hart_protection.h>
#include <sbi/sbi_shmem.h>

#define WORD	sizeof(unsigned long)

#if __riscv_xlen == 32
#define shmem_load_word(addr, val)	sbi_shmem_load_u32((const u32 *)(addr), (u32 *)(val))
#define shmem_store_word(addr, val)	sbi_shmem_store_u32((u32 *)(addr), *(const u32 *)(val))
#else
#define shmem_load_word(addr, val)	sbi_shmem_load_u64((const u64 *)(addr), (u64 *)(val))
#define shmem_store_word(addr, val)	sbi_shmem_store_u64((u64 *)(addr), *(const u64 *)(val))
#endif

/* Copies from @addr to TO, or from FROM to @addr; the other pointer is NULL. */
static int shmem_copy_mapped(unsigned long addr, u8 *to, const u8 *from, unsigned long size)
{
	unsigned long i, step = (addr | size) & (WORD - 1) ? 1 : WORD;
	int rc = 0;

	for (i = 0; i < size && !rc; i += step) {
		if (to)
			rc = step == 1 ? sbi_shmem_load_u8((const u8 *)addr + i, to + i) :
					 shmem_load_word(addr + i, to + i);
		else
			rc = step == 1 ? sbi_shmem_store_u8((u8 *)addr + i, from[i]) :
					 shmem_store_word(addr + i, from + i);
	}

	return rc;
}

/*
 * With Smepmp the smallest naturally aligned power of two that contains a range is mapped: for a
 * range that crosses pages, that may include the firmware itself.
 */
static int shmem_copy(unsigned long addr, u8 *to, const u8 *from, unsigned long size)
{
	unsigned long n;
	int rc;

	for (; size; size -= n, addr += n) {
		n = PAGE_SIZE - (addr & (PAGE_SIZE - 1));
		if (n > size)
			n = size;
		if (sbi_hart_protection_map_range(addr, n))
			return SBI_EINVALID_ADDR;
		rc = shmem_copy_mapped(addr, to, from, n);
		sbi_hart_protection_unmap_range(addr, n);
		if (rc)
			return rc;
		if (to)
			to += n;
		else
			from += n;
	}

	return 0;
}

int sbi_shmem_copy_to(unsigned long addr, const void *from, unsigned long size)
{
	return shmem_copy(addr, NULL, from, size);
}

int sbi_shmem_copy_from(void *to, unsigned long addr, unsigned long size)
{
	return shmem_copy(addr, to, NULL, size);
}
