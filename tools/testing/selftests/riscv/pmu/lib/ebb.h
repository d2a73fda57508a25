/* SPDX-License-Identifier: GPL-2.0 */
/* What the tests of event-based branches have in assembly, and from their linker. */
#ifndef RISCV_PMU_TEST_EBB_H
#define RISCV_PMU_TEST_EBB_H

#include <stddef.h>

/* n times; how often a register was not as it should be. */
long pmu_keep_ints(long n);
long pmu_keep_floats(long n);
long pmu_keep_vectors(long n);
/* For the handler in between. */
void pmu_spoil_floats(void);
void pmu_spoil_vectors(void);

/* Waits in a loop for a handler to say so; what it said. */
long pmu_wait_said(long say);
void pmu_say_handler(void);

/* The library's entry, by its address. */
void ebb_entry(void);

/* Adds one to the word by LR/SC; whether it has, within so many tries. */
long pmu_lr_sc_loop(long *word, long tries);

/* What is in front of the abort handler of a restartable sequence. */
#define PMU_SEQUENCE_SIG	0xf1401073

void pmu_sequence_loop(volatile void *sequences, volatile long *flag);
extern const char pmu_sequence_begin[], pmu_sequence_end[], pmu_sequence_abort[];

/* A loop of many instructions and one branch, from pmu_straight_branch to its begin. */
#define PMU_STRAIGHT_TURN	1001

void pmu_straight_loop(long turns);
extern const char pmu_straight_branch[], pmu_straight_end[];

/* Of the C library, where it has registered an area for sequences. */
extern const ptrdiff_t __rseq_offset;
extern const unsigned int __rseq_size;
#pragma weak __rseq_offset
#pragma weak __rseq_size

/* The program's code. */
extern char __executable_start[], etext[];

#endif
