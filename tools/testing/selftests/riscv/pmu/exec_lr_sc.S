/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole program without a C library: adds one to a word by LR/SC, and ends with 0 if
 * it has within 1 000 tries. A trap in between has SC fail. It sleeps before, so that its
 * events are switched out and in.
 */
#define __NR_exit 93
#define __NR_nanosleep 101

	.text
	.globl	_start
_start:
	addi	sp, sp, -16
	li	t0, 1000000		/* 1 ms */
	sd	zero, 0(sp)
	sd	t0, 8(sp)
	mv	a0, sp
	li	a1, 0
	li	a7, __NR_nanosleep
	ecall
	li	t1, 1000
1:	lr.d	a0, (sp)
	addi	a0, a0, 1
	sc.d	a0, a0, (sp)
	beqz	a0, 2f
	addi	t1, t1, -1
	bgtz	t1, 1b
2:	li	a7, __NR_exit
	ecall
