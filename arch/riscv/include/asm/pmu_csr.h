/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CSR numbers of the counter extensions that asm/csr.h does not name (yet),
 * and the bounds of the counter CSRs. Numbers and fields only, no code.
 */
#ifndef _ASM_RISCV_PMU_CSR_H
#define _ASM_RISCV_PMU_CSR_H

#include <asm/csr.h>

/* Unprivileged counters: Zicntr and Zihpm, 32 of them from CSR_CYCLE on. */
#define PMU_CSR_CTR_NUM			32
#define PMU_CSR_CTR_CYCLE		0
#define PMU_CSR_CTR_TIME		1
#define PMU_CSR_CTR_INSTRET		2
#define PMU_CSR_CTR_FIRST_HPM		3
/* On RV32 the upper half of counter n is at its number plus this. */
#define PMU_CSR_CTR_HIGH		0x80

/* scounteren: what U-mode may read (Privileged ISA, "scounteren") */
#define PMU_SCOUNTEREN_CY		BIT(PMU_CSR_CTR_CYCLE)
#define PMU_SCOUNTEREN_TM		BIT(PMU_CSR_CTR_TIME)
#define PMU_SCOUNTEREN_IR		BIT(PMU_CSR_CTR_INSTRET)

/* T-Head C9xx: Sscofpmf before it was ratified, under other numbers. */
#define PMU_CSR_THEAD_SCOUNTEROF	0x5c5
#define PMU_IRQ_THEAD			17

/* AndesCore: the same idea again (Andes AX45MP data sheet, "supervisor local interrupts"). */
#define PMU_CSR_ANDES_SLIP		0x9c5
#define PMU_CSR_ANDES_SCOUNTEROF	0x9d4
#define PMU_IRQ_ANDES			(256 + 18)

#endif /* _ASM_RISCV_PMU_CSR_H */
