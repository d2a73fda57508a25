/* SPDX-License-Identifier: GPL-2.0 */
/* Access to the CSRs of branch records (Smctr and Ssctr). */
#ifndef _RISCV_PMU_CSR_BRANCH_H
#define _RISCV_PMU_CSR_BRANCH_H

#include <asm/pmu_csr.h>

#include "../csr.h"

/* Traps and returns from traps: the only transfers that can change the privilege mode */
#define RISCV_PMU_BRANCH_TRAPS	(PMU_SCTRCTL_TYPE(PMU_BRANCH_EXCEPTION) |	\
				 PMU_SCTRCTL_TYPE(PMU_BRANCH_INTERRUPT) |	\
				 PMU_SCTRCTL_TYPE(PMU_BRANCH_TRAP_RETURN))

/* The types of transfers that sctrctl can inhibit */
#define RISCV_PMU_BRANCH_INH	(RISCV_PMU_BRANCH_TRAPS | PMU_SCTRCTL_TYPE(PMU_BRANCH_TAKEN) | \
				 GENMASK_ULL(47, 40))

/* One record, as the hardware has it */
struct riscv_pmu_branch_record {
	u64	source;	/* address of the branch, with PMU_BRANCH_VALID */
	u64	target;	/* address of its target, with PMU_BRANCH_MISPREDICTED */
	u64	data;	/* its type and its cycles */
};

void riscv_pmu_csr_branch_hide(void);
void riscv_pmu_csr_branch_show(void);
unsigned int riscv_pmu_csr_branch_probe(struct riscv_pmu_branch_caps *caps, unsigned int depth);
int riscv_pmu_csr_branch_reset(unsigned int depth);
void riscv_pmu_csr_branch_note_guest_access(void);
void riscv_pmu_csr_branch_clear_for_guests(void);

/*
 * Accesses to a CSR whose number is a constant, and SCTRCLR, with interrupts off. They are inline,
 * because with calls a sample of 32 records would take a fifth more instructions. In a kernel with
 * the KUnit tests they are not, so that tests can simulate the CSRs (tests/fake_branch.c).
 */
#ifdef CONFIG_RISCV_PMU_KUNIT_TEST
unsigned long riscv_pmu_csr_branch_read(unsigned int csr);
void riscv_pmu_csr_branch_write(unsigned int csr, unsigned long value);
void riscv_pmu_csr_branch_clear(void);
#else
#define riscv_pmu_csr_branch_read(csr)		csr_read(csr)
#define riscv_pmu_csr_branch_write(csr, value)	csr_write(csr, value)

static __always_inline void riscv_pmu_csr_branch_clear(void)
{
	asm volatile(RISCV_PMU_INSN_SCTRCLR ::: "memory");
}
#endif

/* Sets what this hart records; 0: nothing. */
static __always_inline void riscv_pmu_csr_branch_write_ctl(u64 ctl)
{
	riscv_pmu_csr_branch_write(PMU_CSR_SCTRCTL, ctl);
}

/* The place of the next record, and whether all are frozen: PMU_SCTRSTATUS_* fields. */
static __always_inline unsigned long riscv_pmu_csr_branch_status(void)
{
	return riscv_pmu_csr_branch_read(PMU_CSR_SCTRSTATUS);
}

static __always_inline void riscv_pmu_csr_branch_write_status(unsigned long status)
{
	riscv_pmu_csr_branch_write(PMU_CSR_SCTRSTATUS, status);
}

/* The AIA interrupt controller's driver uses siselect, too, see riscv_pmu_csr_select(). */
static __always_inline unsigned long riscv_pmu_csr_branch_begin(void)
{
	return riscv_pmu_csr_branch_read(CSR_SISELECT);
}

static __always_inline void riscv_pmu_csr_branch_end(unsigned long select)
{
	riscv_pmu_csr_branch_write(CSR_SISELECT, select);
}

/* Selects record n, 0 is the newest, and reads its source; 0: no more. */
static __always_inline u64 riscv_pmu_csr_branch_source(unsigned long n)
{
	riscv_pmu_csr_branch_write(CSR_SISELECT, PMU_ISELECT_BRANCH + n);
	return riscv_pmu_csr_branch_read(CSR_SIREG);
}

#endif /* _RISCV_PMU_CSR_BRANCH_H */
