/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entry points for the firmware and for traps, and code that C cannot express: reads
 * of counters by number, and loops of a known length.
 */

#define HART_STACK	8192
#define FRAME_WORDS	34
#if __riscv_xlen == 32
#define WORD		4
#define load		lw
#define store		sw
#else
#define WORD		8
#define load		ld
#define store		sd
#endif

	.section .text.start, "ax"
	.globl	_start
_start:
	la	sp, boot_stack_top
	la	t0, __bss_start
	la	t1, __bss_end
1:	store	zero, 0(t0)
	addi	t0, t0, WORD
	bltu	t0, t1, 1b
	la	t0, trap_entry
	csrw	stvec, t0
	csrw	sscratch, zero
	tail	start_c

	/* Entry of another hart: a1 is the end of its stack, which holds the function to call. */
	.text
	.globl	hart_start
hart_start:
	la	t0, trap_entry
	csrw	stvec, t0
	mv	sp, a1
	load	t0, -8(a1)
	addi	sp, sp, -16
	jalr	t0
1:	wfi
	j	1b

	.balign	4
	.globl	trap_entry
trap_entry:
	addi	sp, sp, -FRAME_WORDS * WORD
	store	ra, WORD(sp)
	.irp	n, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	store	x\n, \n * WORD(sp)
	.endr
	mv	a0, sp
	call	trap_handle
	load	ra, WORD(sp)
	.irp	n, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, \
		19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	load	x\n, \n * WORD(sp)
	.endr
	addi	sp, sp, FRAME_WORDS * WORD
	sret

	/*
	 * u64 ctr_read_csr(unsigned int ctr): each entry of the table is 1 << ENTRY
	 * bytes. On RV32 the lower half may overflow between the two reads.
	 */
	.altmacro
#if __riscv_xlen == 32
#define ENTRY		5
	.macro	read_entry n
	.balign	1 << ENTRY
1:	csrr	a1, 0xc80 + \n
	csrr	a0, 0xc00 + \n
	csrr	t0, 0xc80 + \n
	bne	a1, t0, 1b
	ret
	.endm
#else
#define ENTRY		3
	.macro	read_entry n
	csrr	a0, 0xc00 + \n
	ret
	.endm
#endif
	.globl	ctr_read_csr
ctr_read_csr:
	la	t0, read_entries
	slli	t1, a0, ENTRY
	add	t0, t0, t1
	jr	t0

	.balign	1 << ENTRY
read_entries:
	.set	n, 0
	.rept	32
	read_entry %n
	.set	n, n + 1
	.endr

	/* void loop_for(ulong n): 2n instructions and a return. */
	.globl	loop_for
loop_for:
	beqz	a0, 2f
1:	addi	a0, a0, -1
	bnez	a0, 1b
2:	ret

	/*
	 * ulong instret_over_ecall(void), ulong cycle_over_ecall(void): the count from
	 * one read to the next, with a call of the firmware that does nothing
	 * (sbi_get_spec_version) in between: the first read, two li and the ecall.
	 */
	.macro	over_ecall name, csr
	.globl	\name
\name:
	csrr	t0, \csr
	li	a7, 0x10
	li	a6, 0
	ecall
	csrr	t1, \csr
	sub	a0, t1, t0
	ret
	.endm
	over_ecall instret_over_ecall, instret
	over_ecall cycle_over_ecall, cycle

	.section .bss.stack, "aw", @nobits
	.balign	16
	.space	4 * HART_STACK
boot_stack_top:
