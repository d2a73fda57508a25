/* SPDX-License-Identifier: BSD-2-Clause */
/* Further entry points for the firmware: resume after a suspend, and the SSE handler. */

#if __riscv_xlen == 32
#define WORD		4
#define load		lw
#define store		sw
#else
#define WORD		8
#define load		ld
#define store		sd
#endif

#define SBI_EXT_HSM		0x48534D
#define SBI_HSM_HART_SUSPEND	3
#define SBI_EXT_SSE		0x535345
#define SBI_SSE_COMPLETE	6
#define SSE_STACK		4096

	.text

	/*
	 * long hart_suspend(ulong type): returns 0 after the hart has resumed, or an error.
	 * A non-retentive suspend resumes at hart_resume, and preserves a1 only.
	 */
	.globl	hart_suspend
hart_suspend:
	la	a2, suspend_frame
	store	ra, 0(a2)
	store	sp, WORD(a2)
	store	gp, 2 * WORD(a2)
	store	tp, 3 * WORD(a2)
	.irp	n, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
	store	x\n, \n * WORD(a2)
	.endr
	la	a1, hart_resume
	li	a7, SBI_EXT_HSM
	li	a6, SBI_HSM_HART_SUSPEND
	ecall
	ret

	.balign	4
hart_resume:
	la	t0, trap_entry
	csrw	stvec, t0
	csrw	sscratch, zero
	load	ra, 0(a1)
	load	sp, WORD(a1)
	load	gp, 2 * WORD(a1)
	load	tp, 3 * WORD(a1)
	.irp	n, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
	load	x\n, \n * WORD(a1)
	.endr
	li	a0, 0
	ret

	/*
	 * a7 is the address of sse_frame, which sse_begin() has registered. The firmware
	 * saves and restores a6 and a7; all other registers are saved here.
	 */
	.balign	4
	.globl	sse_entry
sse_entry:
	store	x1, WORD(a7)
	store	x2, 2 * WORD(a7)
	.irp	n, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	store	x\n, \n * WORD(a7)
	.endr
	la	sp, sse_stack_top
	call	sse_handle
	la	a7, sse_frame
	load	x1, WORD(a7)
	load	x2, 2 * WORD(a7)
	.irp	n, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, \
		18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	load	x\n, \n * WORD(a7)
	.endr
	li	a7, SBI_EXT_SSE
	li	a6, SBI_SSE_COMPLETE
	ecall
	/* The firmware does not return here. */
1:	j	1b

	.bss
	.balign	16
suspend_frame:
	.space	32 * WORD
	.globl	sse_frame
sse_frame:
	.space	32 * WORD
	.balign	16
	.space	SSE_STACK
sse_stack_top:
