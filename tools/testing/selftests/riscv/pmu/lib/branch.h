/* SPDX-License-Identifier: GPL-2.0 */
/* Code of which every branch is known (lib/branch.S). */
#ifndef RISCV_PMU_TEST_BRANCH_H
#define RISCV_PMU_TEST_BRANCH_H

/* Types of transfers of control (Smctr, "Control Transfer Type Encodings"). */
#define PMU_BRANCH_TAKEN	5
#define PMU_BRANCH_IND_CALL	8
#define PMU_BRANCH_CALL		9
#define PMU_BRANCH_IND_JUMP	10
#define PMU_BRANCH_JUMP		11
#define PMU_BRANCH_CORO_SWAP	12
#define PMU_BRANCH_RETURN	13
#define PMU_BRANCH_IND_LINK	14
#define PMU_BRANCH_LINK		15

/*
 * The branches that are taken, and the instructions, in a turn of pmu_branch_loop(). The smallest
 * number of records is a multiple of the branches.
 */
#define PMU_BRANCHES		16
#define PMU_BRANCH_INSNS	33

/* The instructions of a turn of pmu_branch_nest()'s loop. */
#define PMU_BRANCH_NEST_LOOP	1000

#ifndef __ASSEMBLER__

#include <stdint.h>

struct pmu_branch {
	uint64_t from, to, type;
};

/*
 * The branches of a turn, in the order in which they are taken. What is executed after one and
 * before the next, pmu_branches[i].to to pmu_branches[i + 1].from, is nowhere else executed.
 */
extern const struct pmu_branch pmu_branches[PMU_BRANCHES];
void pmu_branch_loop(long turns);

/* Two loops of two branches in each of their turns, and where they are. */
void pmu_branch_a(long turns);
void pmu_branch_b(long turns);
extern const char pmu_branch_a_end[], pmu_branch_b_end[];

/*
 * What pmu_branch_nest() does: it calls itself until there are so many levels. The last one calls
 * between(), if there is one, and executes the loop, both so many times. All levels have the stack
 * frames of -fno-omit-frame-pointer.
 */
struct pmu_branch_nest {
	long levels, turns;
	void (*between)(void);
};

/* The argument is a pointer to struct pmu_branch_nest. */
void pmu_branch_nest(long nest);
/* In the loop, the frame pointer and ra are those of the last level. */
extern const char pmu_branch_nest_begin[], pmu_branch_nest_end[];

#endif

#endif
