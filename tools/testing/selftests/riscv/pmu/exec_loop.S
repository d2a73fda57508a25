/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole program without a C library. Its loop retires 2 instructions; with
 * an argument, whatever it is, 1 000 000.
 */
#define __NR_exit 93

	.text
	.globl	_start
_start:
	ld	t0, 0(sp)		/* argc */
	li	t1, 1000000
	li	t2, 2
	bge	t0, t2, 1f
	li	t1, 2
1:	addi	t1, t1, -2
	bgtz	t1, 1b
	li	a0, 0
	li	a7, __NR_exit
	ecall
