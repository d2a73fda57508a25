/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Entry points for the kernel: save all registers that a C function may change, call
 * ebb_dispatch(), and return. The kernel restores pc and a7. Both entries begin with a
 * landing pad (Zicfilp), which is a no-op on other harts.
 */
#define EBB_RETURN	-0x454242	/* RISCV_EBB_RETURN */

/* A frame: 16 integer registers, 20 float registers, fcsr, 5 words of vector state. */
#define FLOATS		(16 * 8)
#define FCSR		(FLOATS + 20 * 8)
#define VECTOR		(FCSR + 8)
#define FRAME		(VECTOR + 5 * 8 + 0)

	.macro	ints op
	\op	ra, 0(sp)
	\op	t0, 8(sp)
	\op	t1, 16(sp)
	\op	t2, 24(sp)
	\op	a0, 32(sp)
	\op	a1, 40(sp)
	\op	a2, 48(sp)
	\op	a3, 56(sp)
	\op	a4, 64(sp)
	\op	a5, 72(sp)
	\op	a6, 80(sp)
	\op	t3, 88(sp)
	\op	t4, 96(sp)
	\op	t5, 104(sp)
	\op	t6, 112(sp)
	\op	s0, 120(sp)
	.endm

	.macro	floats op
	.set	at, FLOATS
	.irp	reg, ft0, ft1, ft2, ft3, ft4, ft5, ft6, ft7, ft8, ft9, ft10, ft11, \
		     fa0, fa1, fa2, fa3, fa4, fa5, fa6, fa7
	\op	\reg, at(sp)
	.set	at, at + 8
	.endr
	.endm

	.macro	landing_pad
	.word	0x00000017		/* lpad 0: auipc zero, 0 */
	.endm

	.macro	keep
	addi	sp, sp, -FRAME
	ints	sd
	floats	fsd
	frcsr	t0
	sd	t0, FCSR(sp)
	.endm

	.macro	go_back
	ld	t0, FCSR(sp)
	fscsr	t0
	floats	fld
	ints	ld
	addi	sp, sp, FRAME
	li	a7, EBB_RETURN
	ecall
	ebreak				/* the page was unmapped, so the return has failed */
	.endm

	.text
	.globl	ebb_entry
	.type	ebb_entry, @function
	.balign	4			/* landing pads must be aligned */
ebb_entry:
	landing_pad
	keep
	call	ebb_dispatch
	go_back
	.size	ebb_entry, . - ebb_entry

/* The same for harts with vector registers, which a compiler may use in a handler. */
	.option	push
	.option	arch, +v
	.globl	ebb_entry_vector
	.type	ebb_entry_vector, @function
	.balign	4
ebb_entry_vector:
	landing_pad
	keep
	mv	s0, sp
	csrr	t0, vstart
	csrr	t1, vtype
	csrr	t2, vl
	csrr	t3, vcsr
	csrr	t4, vlenb
	sd	t0, VECTOR(s0)
	sd	t1, VECTOR+8(s0)
	sd	t2, VECTOR+16(s0)
	sd	t3, VECTOR+24(s0)
	slli	t5, t4, 3		/* eight registers */
	sd	t5, VECTOR+32(s0)
	csrw	vstart, zero		/* otherwise the stores start at vstart */
	sub	sp, sp, t5
	vs8r.v	v0, (sp)
	sub	sp, sp, t5
	vs8r.v	v8, (sp)
	sub	sp, sp, t5
	vs8r.v	v16, (sp)
	sub	sp, sp, t5
	vs8r.v	v24, (sp)
	call	ebb_dispatch
	ld	t5, VECTOR+32(s0)
	csrw	vstart, zero
	vl8re8.v v24, (sp)
	add	sp, sp, t5
	vl8re8.v v16, (sp)
	add	sp, sp, t5
	vl8re8.v v8, (sp)
	add	sp, sp, t5
	vl8re8.v v0, (sp)
	ld	t0, VECTOR(s0)
	ld	t1, VECTOR+8(s0)
	ld	t2, VECTOR+16(s0)
	ld	t3, VECTOR+24(s0)
	vsetvl	zero, t2, t1
	csrw	vcsr, t3
	csrw	vstart, t0
	mv	sp, s0
	go_back
	.size	ebb_entry_vector, . - ebb_entry_vector
	.option	pop

	.section .note.GNU-stack, "", @progbits
