/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loops that look at their registers each time: a handler in between may change none
 * of them. What is returned is how often one was not as it should be.
 */
	.text

	.macro	same reg, value
	addi	t6, \reg, -\value
	snez	t6, t6
	add	a0, a0, t6
	.endm

/* long pmu_keep_ints(long n): s1 counts, all that a C function may change is looked at. */
	.globl	pmu_keep_ints
	.type	pmu_keep_ints, @function
pmu_keep_ints:
	addi	sp, sp, -16
	sd	ra, 0(sp)
	sd	s1, 8(sp)
	mv	s1, a0
	li	a0, 0
	li	ra, 101
	li	t0, 105
	li	t1, 106
	li	t2, 107
	li	a1, 111
	li	a2, 112
	li	a3, 113
	li	a4, 114
	li	a5, 115
	li	a6, 116
	li	a7, 117
	li	t3, 128
	li	t4, 129
	li	t5, 130
1:	same	ra, 101
	same	t0, 105
	same	t1, 106
	same	t2, 107
	same	a1, 111
	same	a2, 112
	same	a3, 113
	same	a4, 114
	same	a5, 115
	same	a6, 116
	same	a7, 117
	same	t3, 128
	same	t4, 129
	same	t5, 130
	addi	s1, s1, -1
	bgtz	s1, 1b
	ld	ra, 0(sp)
	ld	s1, 8(sp)
	addi	sp, sp, 16
	ret
	.size	pmu_keep_ints, . - pmu_keep_ints

	.macro	each_float macro:req, args:vararg
	.irp	reg, ft0, ft1, ft2, ft3, ft4, ft5, ft6, ft7, ft8, ft9, ft10, ft11, \
		     fa0, fa1, fa2, fa3, fa4, fa5, fa6, fa7
	\macro	\reg, \args
	.endr
	.endm

	.macro	float_set reg, from
	fcvt.d.l \reg, \from
	.endm

	.macro	float_same reg, args:vararg
	fcvt.l.d t1, \reg
	xor	t1, t1, t0
	or	t2, t2, t1
	.endm

/* long pmu_keep_floats(long n) */
	.globl	pmu_keep_floats
	.type	pmu_keep_floats, @function
pmu_keep_floats:
	mv	a1, a0
	li	a0, 0
	li	t0, 3
	fscsr	zero
	each_float float_set, t0
1:	li	t2, 0
	each_float float_same, t0
	frcsr	t1
	or	t2, t2, t1
	snez	t2, t2
	add	a0, a0, t2
	addi	a1, a1, -1
	bgtz	a1, 1b
	ret
	.size	pmu_keep_floats, . - pmu_keep_floats

/* void pmu_spoil_floats(void): in a handler */
	.globl	pmu_spoil_floats
	.type	pmu_spoil_floats, @function
pmu_spoil_floats:
	each_float float_set, zero
	li	t0, 0x7f
	fscsr	t0
	ret
	.size	pmu_spoil_floats, . - pmu_spoil_floats

	.option	push
	.option	arch, +v

	.macro	vector_same reg
	vmv.x.s	t1, \reg
	xor	t1, t1, t0
	or	t2, t2, t1
	.endm

	.macro	each_vector macro:req
	.irp	reg, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, \
		     v16, v17, v18, v19, v20, v21, v22, v23, v24, v25, v26, v27, v28, v29, v30, v31
	\macro	\reg
	.endr
	.endm

	.macro	vector_set reg
	vmv.v.x	\reg, t0
	.endm

/* long pmu_keep_vectors(long n): the first elements, and what vector instructions go by */
	.globl	pmu_keep_vectors
	.type	pmu_keep_vectors, @function
pmu_keep_vectors:
	mv	a1, a0
	li	a0, 0
	li	t0, 77
	csrw	vcsr, zero
	vsetivli t3, 2, e32, m1, ta, ma
	csrr	t4, vtype
	each_vector vector_set
1:	li	t2, 0
	each_vector vector_same
	csrr	t1, vl
	xor	t1, t1, t3
	or	t2, t2, t1
	csrr	t1, vtype
	xor	t1, t1, t4
	or	t2, t2, t1
	csrr	t1, vcsr
	or	t2, t2, t1
	snez	t2, t2
	add	a0, a0, t2
	addi	a1, a1, -1
	bgtz	a1, 1b
	ret
	.size	pmu_keep_vectors, . - pmu_keep_vectors

/* void pmu_spoil_vectors(void): in a handler */
	.globl	pmu_spoil_vectors
	.type	pmu_spoil_vectors, @function
pmu_spoil_vectors:
	vsetvli	zero, zero, e8, m8, ta, ma
	vmv.v.i	v0, 0
	vmv.v.i	v8, 0
	vmv.v.i	v16, 0
	vmv.v.i	v24, 0
	csrwi	vcsr, 7
	ret
	.size	pmu_spoil_vectors, . - pmu_spoil_vectors
	.option	pop

/* long pmu_wait_said(long say): until pmu_say_handler has said it; what was said */
	.globl	pmu_wait_said
	.type	pmu_wait_said, @function
pmu_wait_said:
	mv	a1, a0
	li	a0, 0
	li	t0, 0x5a1d
1:	beqz	a0, 1b
	li	t0, 0
	ret
	.size	pmu_wait_said, . - pmu_wait_said

/* A handler without the library: changes a0, where it is waited for. */
	.globl	pmu_say_handler
	.type	pmu_say_handler, @function
	.balign	4
pmu_say_handler:
	.word	0x00000017		/* lpad 0 */
	addi	sp, sp, -16
	sd	t1, 0(sp)
	li	t1, 0x5a1d
	bne	t0, t1, 1f
	mv	a0, a1
1:	ld	t1, 0(sp)
	addi	sp, sp, 16
	li	a7, -0x454242		/* RISCV_EBB_RETURN */
	ecall
	ebreak
	.size	pmu_say_handler, . - pmu_say_handler

/*
 * long pmu_lr_sc_loop(long *word, long tries): adds one to the word by LR/SC, once;
 * whether it has within so many tries. A trap in between has SC fail.
 */
	.globl	pmu_lr_sc_loop
	.type	pmu_lr_sc_loop, @function
pmu_lr_sc_loop:
1:	lr.d	t0, (a0)
	addi	t0, t0, 1
	sc.d	t0, t0, (a0)
	beqz	t0, 2f
	addi	a1, a1, -1
	bgtz	a1, 1b
2:	seqz	a0, t0
	ret
	.size	pmu_lr_sc_loop, . - pmu_lr_sc_loop

/*
 * void pmu_sequence_loop(void *sequences, volatile long *flag)
 *
 * A restartable sequence (rseq(2)) that goes on until the flag is set, or it is aborted.
 * PMU_SEQUENCE_SIG has to be in front of the abort handler.
 */
	.globl	pmu_sequence_loop, pmu_sequence_begin, pmu_sequence_end, pmu_sequence_abort
	.type	pmu_sequence_loop, @function
pmu_sequence_loop:
	lla	t0, sequence
	sd	t0, 8(a0)		/* struct rseq, rseq_cs */
pmu_sequence_begin:
	ld	t0, (a1)
	beqz	t0, pmu_sequence_begin
pmu_sequence_end:
	ret
	.word	0xf1401073		/* PMU_SEQUENCE_SIG */
pmu_sequence_abort:
	ret
	.size	pmu_sequence_loop, . - pmu_sequence_loop

/* void pmu_straight_loop(long turns): each turn has one branch, and 1000 instructions before it. */
	.option	push
	.option	norvc
	.option	norelax
	.globl	pmu_straight_loop, pmu_straight_branch, pmu_straight_end
	.type	pmu_straight_loop, @function
	.balign	4
pmu_straight_loop:
	addi	a0, a0, -1
	.rept	999
	nop
	.endr
pmu_straight_branch:
	bgtz	a0, pmu_straight_loop
pmu_straight_end:
	ret
	.size	pmu_straight_loop, . - pmu_straight_loop
	.option	pop

	.data
	.balign	32
sequence:				/* struct rseq_cs */
	.word	0, 0
	.dword	pmu_sequence_begin, pmu_sequence_end - pmu_sequence_begin, pmu_sequence_abort

	.section .note.GNU-stack, "", @progbits
