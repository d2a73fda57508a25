/* SPDX-License-Identifier: GPL-2.0 */
/*
 * long pmu_keep_loop(long turns): sets the integer registers, except sp, gp, tp, a0 and a1, and
 * the floating-point registers that a function may change, to KEEP_VALUE + their numbers;
 * executes a loop of one addition and one branch; returns how many of these registers have
 * changed.
 */
#define KEEP_VALUE	0x5eed5eed00
#define FRAME		128

	.text
	.balign	4
	.globl	pmu_keep_loop, pmu_keep_begin, pmu_keep_end
	.type	pmu_keep_loop, @function
pmu_keep_loop:
	addi	sp, sp, -FRAME
	sd	ra, 0(sp)
	sd	s0, 8(sp)
	sd	s1, 16(sp)
	sd	s2, 24(sp)
	sd	s3, 32(sp)
	sd	s4, 40(sp)
	sd	s5, 48(sp)
	sd	s6, 56(sp)
	sd	s7, 64(sp)
	sd	s8, 72(sp)
	sd	s9, 80(sp)
	sd	s10, 88(sp)
	sd	s11, 96(sp)
	li	a1, KEEP_VALUE
	.irp	n, 0,1,2,3,4,5,6,7,10,11,12,13,14,15,16,17,28,29,30,31
	addi	t0, a1, \n
	fmv.d.x	f\n, t0
	.endr
	.irp	n, 1,5,6,7,8,9,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	addi	x\n, a1, \n
	.endr
pmu_keep_begin:
	addi	a0, a0, -1
	bnez	a0, pmu_keep_begin
pmu_keep_end:
	/* a0: the number of registers that differ */
	.irp	n, 1,5,6,7,8,9,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sub	x\n, x\n, a1
	addi	x\n, x\n, -\n
	snez	x\n, x\n
	add	a0, a0, x\n
	.endr
	.irp	n, 0,1,2,3,4,5,6,7,10,11,12,13,14,15,16,17,28,29,30,31
	fmv.x.d	t0, f\n
	sub	t0, t0, a1
	addi	t0, t0, -\n
	snez	t0, t0
	add	a0, a0, t0
	.endr
	ld	ra, 0(sp)
	ld	s0, 8(sp)
	ld	s1, 16(sp)
	ld	s2, 24(sp)
	ld	s3, 32(sp)
	ld	s4, 40(sp)
	ld	s5, 48(sp)
	ld	s6, 56(sp)
	ld	s7, 64(sp)
	ld	s8, 72(sp)
	ld	s9, 80(sp)
	ld	s10, 88(sp)
	ld	s11, 96(sp)
	addi	sp, sp, FRAME
	ret
	.size	pmu_keep_loop, . - pmu_keep_loop

	.section .note.GNU-stack, "", @progbits
