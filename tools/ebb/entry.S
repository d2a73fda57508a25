/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Entry points for the kernel: save all registers that a C function may change, call
 * ebb_dispatch(), and return. The kernel restores pc and a7. Both entries begin with a
 * landing pad (Zicfilp), which is a no-op on other harts.
 *
 * The frame is that of a signal for unwinders: ebb_dispatch() stores the interrupted pc, which
 * only the kernel's page has, at its top. Unwinders that follow frame pointers (s0) expect the
 * return address in the same place.
 */
#define EBB_RETURN	-0x454242	/* RISCV_EBB_RETURN */

#if __riscv_xlen == 64
#define SZ	8
#define REG_S	sd
#define REG_L	ld
#else
#define SZ	4
#define REG_S	sw
#define REG_L	lw
#endif

/* Without float registers (soft float), neither this code nor a handler can change them. */
#ifndef __riscv_flen
#define NR_FLOATS	0
#else
#define NR_FLOATS	20
#endif
#if defined(__riscv_flen) && __riscv_flen == 32
#define FSZ	4
#define FREG_S	fsw
#define FREG_L	flw
#else
#define FSZ	8
#define FREG_S	fsd
#define FREG_L	fld
#endif

/* A frame: float registers, integer registers, fcsr, vector state, and at its top s0 and pc. */
#define INTS		(NR_FLOATS * FSZ)
#define FCSR		(INTS + 15 * SZ)
#define VECTOR		(FCSR + SZ)
#define FRAME		((VECTOR + 5 * SZ + 2 * SZ + 15) & ~15)
#define FP		(FRAME - 2 * SZ)

/*
 * DWARF register 64, RISC-V's alternate return-address column: ra still holds the interrupted
 * code's value, so it cannot be the column.
 */
#define CFI_PC		64

	.macro	save_ints
	.set	at, INTS
	.irp	reg, ra, t0, t1, t2, t3, t4, t5, t6, a0, a1, a2, a3, a4, a5, a6
	REG_S	\reg, at(sp)
	.cfi_offset \reg, at - FRAME
	.set	at, at + SZ
	.endr
	.endm

	.macro	load_ints
	.set	at, INTS
	.irp	reg, ra, t0, t1, t2, t3, t4, t5, t6, a0, a1, a2, a3, a4, a5, a6
	REG_L	\reg, at(sp)
	.cfi_restore \reg
	.set	at, at + SZ
	.endr
	.endm

	.macro	floats op
	.set	at, 0
	.irp	reg, ft0, ft1, ft2, ft3, ft4, ft5, ft6, ft7, ft8, ft9, ft10, ft11, \
		     fa0, fa1, fa2, fa3, fa4, fa5, fa6, fa7
	\op	\reg, at(sp)
	.set	at, at + FSZ
	.endr
	.endm

	.macro	landing_pad
	.word	0x00000017		/* lpad 0: auipc zero, 0 */
	.endm

	/* Leaves the address for the pc in a0. */
	.macro	keep
	.cfi_startproc
	.cfi_signal_frame
	.cfi_return_column CFI_PC
	.cfi_undefined CFI_PC
	landing_pad
	addi	sp, sp, -FRAME
	.cfi_def_cfa_offset FRAME
	REG_S	s0, FP(sp)
	.cfi_offset s0, FP - FRAME
	save_ints
	addi	s0, sp, FRAME
	.cfi_def_cfa s0, 0
#if NR_FLOATS
	floats	FREG_S
	frcsr	t0
	REG_S	t0, FCSR(sp)
#endif
	addi	a0, s0, -SZ
	.cfi_offset CFI_PC, -SZ
	.endm

	.macro	go_back
#if NR_FLOATS
	REG_L	t0, FCSR(sp)
	fscsr	t0
	floats	FREG_L
#endif
	.cfi_undefined CFI_PC
	load_ints
	REG_L	s0, FP(sp)
	.cfi_restore s0
	.cfi_def_cfa sp, FRAME
	addi	sp, sp, FRAME
	.cfi_def_cfa_offset 0
	li	a7, EBB_RETURN
	ecall
	ebreak				/* the page was unmapped, so the return has failed */
	.cfi_endproc
	.endm

	.text
	.globl	ebb_entry
	.hidden	ebb_entry
	.type	ebb_entry, @function
	.balign	4			/* landing pads must be aligned */
ebb_entry:
	keep
	call	ebb_dispatch
	go_back
	.size	ebb_entry, . - ebb_entry

/* The same for harts with vector registers, which a compiler may use in a handler. */
	.option	push
	.option	arch, +v
	.globl	ebb_entry_vector
	.hidden	ebb_entry_vector
	.type	ebb_entry_vector, @function
	.balign	4
ebb_entry_vector:
	keep
	csrr	t0, vstart
	csrr	t1, vtype
	csrr	t2, vl
	csrr	t3, vcsr
	csrr	t4, vlenb
	REG_S	t0, VECTOR(sp)
	REG_S	t1, VECTOR+SZ(sp)
	REG_S	t2, VECTOR+2*SZ(sp)
	REG_S	t3, VECTOR+3*SZ(sp)
	slli	t5, t4, 3		/* eight registers */
	REG_S	t5, VECTOR+4*SZ(sp)
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
	REG_L	t5, VECTOR+4*SZ-FRAME(s0)
	csrw	vstart, zero
	vl8re8.v v24, (sp)
	add	sp, sp, t5
	vl8re8.v v16, (sp)
	add	sp, sp, t5
	vl8re8.v v8, (sp)
	add	sp, sp, t5
	vl8re8.v v0, (sp)
	add	sp, sp, t5
	REG_L	t0, VECTOR(sp)
	REG_L	t1, VECTOR+SZ(sp)
	REG_L	t2, VECTOR+2*SZ(sp)
	REG_L	t3, VECTOR+3*SZ(sp)
	vsetvl	zero, t2, t1
	csrw	vcsr, t3
	csrw	vstart, t0
	go_back
	.size	ebb_entry_vector, . - ebb_entry_vector
	.option	pop

	.section .note.GNU-stack, "", @progbits
