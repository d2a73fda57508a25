/* SPDX-License-Identifier: GPL-2.0 */
/* Code of which every branch is known: where it is, where it goes, and of which type it is. */
#include "branch.h"

	/* Neither compressed nor relaxed: each branch is one instruction of four bytes. */
	.option	norvc
	.option	norelax
	.text
	.balign	64

/*
 * void pmu_branch_loop(long turns): the branches of pmu_branches. None falls through, so that the
 * address of a sample says which branch was the last one.
 */
	.globl	pmu_branch_loop
	.type	pmu_branch_loop, @function
pmu_branch_loop:
	blez	a0, loop_end
	mv	a1, ra
	lla	a2, ind_jump_to
	lla	a3, leaf_2
	lla	a4, ind_link_to
loop_begin:
	addi	a0, a0, -1
	bnez	zero, loop_begin	/* never taken: it has no record */
taken:
	beqz	zero, taken_to
	unimp
taken_to:
	nop
jump:
	j	jump_to
	unimp
jump_to:
	nop
	bnez	zero, loop_begin
ind_jump:
	jr	a2
	unimp
ind_jump_to:
	nop
call_1:
	jal	ra, leaf_1
call_1_back:
	nop
ind_call:
	jalr	ra, 0(a3)
ind_call_back:
	nop
link:
	jal	t2, link_to
	unimp
link_to:
	nop
ind_link:
	jalr	t2, 0(a4)
	unimp
ind_link_to:
	nop
call_3:
	jal	t0, leaf_3
call_3_back:
	nop
swap_2:
	jalr	t0, 0(ra)
swap_2_back:
	nop
taken_2:
	bgez	zero, taken_2_to
	unimp
taken_2_to:
	nop
jump_2:
	j	jump_2_to
	unimp
jump_2_to:
	nop
again:
	bnez	a0, loop_begin
	mv	ra, a1
loop_end:
	ret
	.size	pmu_branch_loop, . - pmu_branch_loop

leaf_1:
	nop
leaf_1_ret:
	ret

leaf_2:
	nop
leaf_2_ret:
	ret

/* A co-routine: it swaps back to its caller, which swaps to it, and returns by t0. */
leaf_3:
	nop
swap_1:
	jalr	ra, 0(t0)
leaf_3_back:
	nop
leaf_3_ret:
	jr	t0

/* Two loops that differ in their addresses only. */
	.macro	branch_loop name
	.globl	\name, \name\()_end
	.type	\name, @function
	.balign	64
\name:
	j	2f
	unimp
2:	addi	a0, a0, -1
	bgtz	a0, \name
	ret
\name\()_end:
	.size	\name, . - \name
	.endm

	branch_loop pmu_branch_a
	branch_loop pmu_branch_b

/* void pmu_branch_nest(long nest): see branch.h. */
	.globl	pmu_branch_nest, pmu_branch_nest_begin, pmu_branch_nest_end
	.type	pmu_branch_nest, @function
	.balign	64
pmu_branch_nest:
	addi	sp, sp, -32
	sd	ra, 24(sp)
	sd	s0, 16(sp)
	sd	s1, 8(sp)
	sd	s2, 0(sp)
	addi	s0, sp, 32
	ld	s1, 8(a0)	/* turns */
	ld	s2, 16(a0)	/* between() */
	ld	a1, 0(a0)	/* levels */
	jal	ra, nest_level
	ld	ra, 24(sp)
	ld	s0, 16(sp)
	ld	s1, 8(sp)
	ld	s2, 0(sp)
	addi	sp, sp, 32
	ret
	.size	pmu_branch_nest, . - pmu_branch_nest

	.type	nest_level, @function
nest_level:
	addi	sp, sp, -16
	sd	ra, 8(sp)
	sd	s0, 0(sp)
	addi	s0, sp, 16
	addi	a1, a1, -1
	blez	a1, nest_turn
	jal	ra, nest_level
	j	nest_leave
nest_turn:
	beqz	s2, nest_loop
	jalr	ra, 0(s2)
	/* The kernel takes the caller of the sampled function from ra, not from the stack. */
	ld	ra, 8(sp)
nest_loop:
	li	a2, PMU_BRANCH_NEST_LOOP / 2
pmu_branch_nest_begin:
	addi	a2, a2, -1
	bnez	a2, pmu_branch_nest_begin
pmu_branch_nest_end:
	addi	s1, s1, -1
	bgtz	s1, nest_turn
nest_leave:
	ld	ra, 8(sp)
	ld	s0, 0(sp)
	addi	sp, sp, 16
	ret
	.size	nest_level, . - nest_level

/* In the order in which the branches are taken, as branch.h says. */
	.section .data.rel.ro, "aw"
	.balign	8
	.globl	pmu_branches
	.type	pmu_branches, @object
pmu_branches:
	.dword	taken, taken_to, PMU_BRANCH_TAKEN
	.dword	jump, jump_to, PMU_BRANCH_JUMP
	.dword	ind_jump, ind_jump_to, PMU_BRANCH_IND_JUMP
	.dword	call_1, leaf_1, PMU_BRANCH_CALL
	.dword	leaf_1_ret, call_1_back, PMU_BRANCH_RETURN
	.dword	ind_call, leaf_2, PMU_BRANCH_IND_CALL
	.dword	leaf_2_ret, ind_call_back, PMU_BRANCH_RETURN
	.dword	link, link_to, PMU_BRANCH_LINK
	.dword	ind_link, ind_link_to, PMU_BRANCH_IND_LINK
	.dword	call_3, leaf_3, PMU_BRANCH_CALL
	.dword	swap_1, call_3_back, PMU_BRANCH_CORO_SWAP
	.dword	swap_2, leaf_3_back, PMU_BRANCH_CORO_SWAP
	.dword	leaf_3_ret, swap_2_back, PMU_BRANCH_RETURN
	.dword	taken_2, taken_2_to, PMU_BRANCH_TAKEN
	.dword	jump_2, jump_2_to, PMU_BRANCH_JUMP
	.dword	again, loop_begin, PMU_BRANCH_TAKEN
	.size	pmu_branches, . - pmu_branches

	.section .note.GNU-stack, "", @progbits
