/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CSR numbers of the counter extensions that asm/csr.h does not name (yet),
 * and the bounds of the counter CSRs. Numbers and fields only, no code.
 */
#ifndef _ASM_RISCV_PMU_CSR_H
#define _ASM_RISCV_PMU_CSR_H

#include <linux/bits.h>

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

/*
 * Smcdeleg and Ssccfg: counters that M-mode leaves to S-mode. Counter n is behind
 * PMU_ISELECT_CTR + n: its value in sireg, what it counts in sireg2 (hpmevent n, or
 * cyclecfg and instretcfg), and on RV32 their upper halves in sireg4 and sireg5.
 */
#define PMU_CSR_SCOUNTINHIBIT		0x120
#define PMU_CSR_SIREG2			0x152
#define PMU_CSR_SIREG4			0x155
#define PMU_CSR_SIREG5			0x156
#define PMU_ISELECT_CTR			0x40

/* hpmevent, cyclecfg and instretcfg as S-mode sees them: M-mode's MINH (62) does not show. */
#define PMU_HPMEVENT_OF			BIT_ULL(63)
#define PMU_HPMEVENT_SINH		BIT_ULL(61)
#define PMU_HPMEVENT_UINH		BIT_ULL(60)
#define PMU_HPMEVENT_VSINH		BIT_ULL(59)
#define PMU_HPMEVENT_VUINH		BIT_ULL(58)
#define PMU_HPMEVENT_INH		GENMASK_ULL(61, 58)
#define PMU_HPMEVENT_SELECTOR		GENMASK_ULL(55, 0)
#define PMU_HPMEVENT_SELECTOR_BITS	56

/* T-Head C9xx: Sscofpmf before it was ratified, under other numbers. */
#define PMU_CSR_THEAD_SCOUNTEROF	0x5c5
#define PMU_IRQ_THEAD			17

/* AndesCore: the same idea again (Andes AX45MP data sheet, "supervisor local interrupts"). */
#define PMU_CSR_ANDES_SLIP		0x9c5
#define PMU_CSR_ANDES_SCOUNTEROF	0x9d4
#define PMU_IRQ_ANDES			(256 + 18)

#endif /* _ASM_RISCV_PMU_CSR_H */
