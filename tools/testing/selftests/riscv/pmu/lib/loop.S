/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code of which the number of retired instructions is known, and the window
 * in which it is counted.
 */
#define __NR_getppid 173

	.text
	.balign	64

/* void pmu_loop(long n): n instructions in the loop, n even; 0 is allowed. */
	.globl	pmu_loop, pmu_loop_begin, pmu_loop_end
	.type	pmu_loop, @function
pmu_loop:
	beqz	a0, pmu_loop_end
pmu_loop_begin:
	addi	a0, a0, -2
	bgtz	a0, pmu_loop_begin
pmu_loop_end:
	ret
	.size	pmu_loop, . - pmu_loop

/*
 * void pmu_syscall_loop(long n): n getppid() calls, of three instructions each
 * in user mode.
 */
	.globl	pmu_syscall_loop
	.type	pmu_syscall_loop, @function
pmu_syscall_loop:
	mv	t0, a0
	li	a7, __NR_getppid
	beqz	t0, 2f
1:	ecall
	addi	t0, t0, -1
	bnez	t0, 1b
2:	ret
	.size	pmu_syscall_loop, . - pmu_syscall_loop

	.macro	syscall_from reg
	ld	a7, 0(\reg)
	ld	a0, 8(\reg)
	ld	a1, 16(\reg)
	ld	a2, 24(\reg)
	ecall
	.endm

/*
 * long pmu_window(const struct pmu_call *on, pmu_body *body, long arg,
 *		   const struct pmu_call *off)
 *
 * From the return of @on to the ecall of @off, these are in user mode: 3 to
 * get into the body, body(arg), 4 loads and the ecall.
 */
	.globl	pmu_window
	.type	pmu_window, @function
pmu_window:
	addi	sp, sp, -48
	sd	ra, 0(sp)
	sd	s0, 8(sp)
	sd	s1, 16(sp)
	sd	s2, 24(sp)
	sd	s3, 32(sp)
	mv	s1, a1
	mv	s2, a2
	mv	s3, a3
	mv	s0, a0
	ld	t0, 0(s3)		/* fault it in now, not in the window */
	syscall_from s0
	mv	s0, a0
	mv	a0, s2
	jalr	s1
	syscall_from s3
	or	a0, a0, s0
	ld	ra, 0(sp)
	ld	s0, 8(sp)
	ld	s1, 16(sp)
	ld	s2, 24(sp)
	ld	s3, 32(sp)
	addi	sp, sp, 48
	ret
	.size	pmu_window, . - pmu_window

	.section .note.GNU-stack, "", @progbits
