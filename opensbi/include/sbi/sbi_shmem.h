/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to memory that a supervisor shares with the firmware, at an address
 * which the supervisor has chosen.
 *
 * A domain may have access to an address without memory: the root domain has
 * access to everything that no other region covers. And a device may decode a
 * part of a page only. So every load and store here expects an access fault, and
 * returns an error instead of stopping the hart.
 *
 * The caller checks the address against the domain, and maps it
 * (sbi_hart_protection_map_range()). Another hart may write to the memory at any
 * time: load a word once, and check the copy.
 */

#ifndef __SBI_SHMEM_H__
#define __SBI_SHMEM_H__

#include <sbi/riscv_asm.h>
#include <sbi/riscv_encoding.h>
#include <sbi/sbi_error.h>
#include <sbi/sbi_hart.h>
#include <sbi/sbi_trap.h>
#include <sbi/sbi_types.h>

/*
 * sbi_hart_expected_trap finds a struct sbi_trap_info in a3, overwrites a4, and
 * resumes 4 bytes after the instruction that trapped: that must not be a
 * compressed one.
 */
#define SBI_SHMEM_TRAP_BEGIN						\
	"csrrw	%[mtvec], " STR(CSR_MTVEC) ", %[mtvec]\n"		\
	".option push\n"						\
	".option norvc\n"
#define SBI_SHMEM_TRAP_END						\
	".option pop\n"							\
	"csrw	" STR(CSR_MTVEC) ", %[mtvec]"

#define SBI_SHMEM_DEFINE_LOAD(type, insn)				\
static inline int sbi_shmem_load_##type(const type *addr, type *val)	\
{									\
	struct sbi_trap_info trap;					\
	register unsigned long tinfo asm("a3") = (unsigned long)&trap;	\
	unsigned long mtvec = (unsigned long)sbi_hart_expected_trap;	\
	type word = 0;							\
									\
	trap.cause = 0;							\
	asm volatile(SBI_SHMEM_TRAP_BEGIN				\
		     #insn "	%[word], %[mem]\n"			\
		     SBI_SHMEM_TRAP_END					\
		     : [mtvec] "+&r"(mtvec), [word] "+&r"(word),	\
		       [trap] "+m"(trap)				\
		     : [tinfo] "r"(tinfo), [mem] "m"(*addr)		\
		     : "a4");						\
	*val = word;							\
	return trap.cause ? SBI_EINVALID_ADDR : 0;			\
}

#define SBI_SHMEM_DEFINE_STORE(type, insn)				\
static inline int sbi_shmem_store_##type(type *addr, type val)		\
{									\
	struct sbi_trap_info trap;					\
	register unsigned long tinfo asm("a3") = (unsigned long)&trap;	\
	unsigned long mtvec = (unsigned long)sbi_hart_expected_trap;	\
									\
	trap.cause = 0;							\
	asm volatile(SBI_SHMEM_TRAP_BEGIN				\
		     #insn "	%[val], %[mem]\n"			\
		     SBI_SHMEM_TRAP_END					\
		     : [mtvec] "+&r"(mtvec), [mem] "=m"(*addr),		\
		       [trap] "+m"(trap)				\
		     : [tinfo] "r"(tinfo), [val] "r"(val)		\
		     : "a4");						\
	return trap.cause ? SBI_EINVALID_ADDR : 0;			\
}

SBI_SHMEM_DEFINE_LOAD(u8, lbu)
SBI_SHMEM_DEFINE_STORE(u8, sb)
SBI_SHMEM_DEFINE_LOAD(u32, lw)
SBI_SHMEM_DEFINE_STORE(u32, sw)

#if __riscv_xlen == 32
/* Two words, each of them loaded or stored once; not both at one instant. */
static inline int sbi_shmem_load_u64(const u64 *addr, u64 *val)
{
	const u32 *half = (const u32 *)addr;
	u32 low, high;
	int rc;

	rc = sbi_shmem_load_u32(&half[0], &low);
	if (!rc)
		rc = sbi_shmem_load_u32(&half[1], &high);
	if (!rc)
		*val = (u64)high << 32 | low;
	return rc;
}

static inline int sbi_shmem_store_u64(u64 *addr, u64 val)
{
	u32 *half = (u32 *)addr;
	int rc;

	rc = sbi_shmem_store_u32(&half[0], (u32)val);
	return rc ? rc : sbi_shmem_store_u32(&half[1], val >> 32);
}
#else
SBI_SHMEM_DEFINE_LOAD(u64, ld)
SBI_SHMEM_DEFINE_STORE(u64, sd)
#endif

/**
 * Copy to or from shared memory that the caller has checked, but not mapped. Each word is loaded or
 * stored by one access. If an access faults, the words before it have been copied.
 *
 * @return 0, or SBI_EINVALID_ADDR if the memory cannot be mapped, or an access faults
 */
int sbi_shmem_copy_to(unsigned long addr, const void *from, unsigned long size);
int sbi_shmem_copy_from(void *to, unsigned long addr, unsigned long size);

#endif
