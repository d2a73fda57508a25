/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of which a sample's contents are known: who called whom, what registers
 * and the stack hold, and how many of the instructions are where.
 */
	.text
	.balign	64

/* What "gcc -fno-omit-frame-pointer" makes of a function that is not a leaf. */
	.macro	enter
	addi	sp, sp, -16
	sd	ra, 8(sp)
	sd	s0, 0(sp)
	addi	s0, sp, 16
	.endm

	.macro	leave
	ld	ra, 8(sp)
	ld	s0, 0(sp)
	addi	sp, sp, 16
	ret
	.endm

/*
 * void pmu_chain(long n): a calls b, b calls c, c calls pmu_loop(n), which is a
 * leaf without a frame. The labels are where each of them returns to.
 */
	.globl	pmu_chain, pmu_chain_in_a, pmu_chain_in_b, pmu_chain_in_c
	.type	pmu_chain, @function
pmu_chain:
	enter
	call	chain_b
pmu_chain_in_a:
	leave
	.size	pmu_chain, . - pmu_chain

	.type	chain_b, @function
chain_b:
	enter
	call	chain_c
pmu_chain_in_b:
	leave
	.size	chain_b, . - chain_b

	.type	chain_c, @function
chain_c:
	enter
	call	pmu_loop
pmu_chain_in_c:
	leave
	.size	chain_c, . - chain_c

/*
 * void pmu_regs_loop(long n): executes n instructions, like pmu_loop(), with known register
 * values: s2 to s5, t3 and the 8 bytes at sp are PMU_REGS_VALUE + 18 ... 21, + 28 and + 64. The
 * offset is the number of the register in the ISA, or 64 for the stack.
 */
#define PMU_REGS_VALUE	0x5eed5eed00

	.macro	restore_regs
	ld	s2, 16(sp)
	ld	s3, 24(sp)
	ld	s4, 32(sp)
	ld	s5, 40(sp)
	addi	sp, sp, 48
	.endm

	.globl	pmu_regs_loop, pmu_regs_begin, pmu_regs_end
	.type	pmu_regs_loop, @function
pmu_regs_loop:
	addi	sp, sp, -48
	sd	s2, 16(sp)
	sd	s3, 24(sp)
	sd	s4, 32(sp)
	sd	s5, 40(sp)
	li	t3, PMU_REGS_VALUE
	addi	s2, t3, 18
	addi	s3, t3, 19
	addi	s4, t3, 20
	addi	s5, t3, 21
	addi	t4, t3, 64
	sd	t4, 0(sp)
	addi	t3, t3, 28
pmu_regs_begin:
	addi	a0, a0, -2
	bgtz	a0, pmu_regs_begin
pmu_regs_end:
	restore_regs
	ret
	.size	pmu_regs_loop, . - pmu_regs_loop

/*
 * void pmu_split_loop(long turns): of each turn's PMU_SPLIT_TURN instructions
 * PMU_SPLIT_LARGE are in the loop that begins at pmu_split_large, and a third
 * of that in the one at pmu_split_small. The other 4 drive them.
 */
	.globl	pmu_split_loop, pmu_split_large, pmu_split_small, pmu_split_end
	.type	pmu_split_loop, @function
pmu_split_loop:
	li	t0, 1500
	li	t1, 500
pmu_split_large:
	addi	t0, t0, -1
	bnez	t0, pmu_split_large
pmu_split_small:
	addi	t1, t1, -1
	bnez	t1, pmu_split_small
pmu_split_end:
	addi	a0, a0, -1
	bnez	a0, pmu_split_loop
	ret
	.size	pmu_split_loop, . - pmu_split_loop

	.section .note.GNU-stack, "", @progbits
