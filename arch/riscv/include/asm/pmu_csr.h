/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CSRs of the counter extensions that asm/csr.h does not define (yet), and
 * the bounds of the counter CSRs. Numbers and fields only, no code.
 */
#ifndef _ASM_RISCV_PMU_CSR_H
#define _ASM_RISCV_PMU_CSR_H

#include <linux/bits.h>

#include <asm/csr.h>

/* Unprivileged counters of Zicntr and Zihpm: 32 CSRs from CSR_CYCLE on. */
#define PMU_CSR_CTR_NUM			32
#define PMU_CSR_CTR_CYCLE		0
#define PMU_CSR_CTR_TIME		1
#define PMU_CSR_CTR_INSTRET		2
#define PMU_CSR_CTR_FIRST_HPM		3
/* Offset of the CSR with the upper half of a counter, on RV32. */
#define PMU_CSR_CTR_HIGH		0x80

/* scounteren: counters that U-mode may read (Privileged ISA, "scounteren") */
#define PMU_SCOUNTEREN_CY		BIT(PMU_CSR_CTR_CYCLE)
#define PMU_SCOUNTEREN_TM		BIT(PMU_CSR_CTR_TIME)
#define PMU_SCOUNTEREN_IR		BIT(PMU_CSR_CTR_INSTRET)

/*
 * Smcdeleg and Ssccfg: counters that M-mode delegates to S-mode. siselect selects counter n
 * by PMU_ISELECT_CTR + n: its value is in sireg, its event in sireg2 (hpmevent n, cyclecfg
 * or instretcfg), and on RV32 their upper halves are in sireg4 and sireg5.
 */
#define PMU_CSR_SCOUNTINHIBIT		0x120
#define PMU_CSR_SIREG2			0x152
#define PMU_CSR_SIREG4			0x155
#define PMU_CSR_SIREG5			0x156
#define PMU_ISELECT_CTR			0x40

/* hpmevent, cyclecfg and instretcfg in S-mode: MINH (62) is not accessible. */
#define PMU_HPMEVENT_OF			BIT_ULL(63)
#define PMU_HPMEVENT_SINH		BIT_ULL(61)
#define PMU_HPMEVENT_UINH		BIT_ULL(60)
#define PMU_HPMEVENT_VSINH		BIT_ULL(59)
#define PMU_HPMEVENT_VUINH		BIT_ULL(58)
#define PMU_HPMEVENT_INH		GENMASK_ULL(61, 58)
#define PMU_HPMEVENT_SELECTOR		GENMASK_ULL(55, 0)
#define PMU_HPMEVENT_SELECTOR_BITS	56

/*
 * Smctr and Ssctr: branch records ("control transfer records"). PMU_ISELECT_BRANCH + n in siselect
 * selects record n; record 0 is the newest. Its source is in sireg, its target in sireg2, its data
 * in sireg3. sctrctl has 64 bits, and no upper half on RV32.
 */
#define PMU_CSR_SCTRCTL			0x14e
#define PMU_CSR_SCTRSTATUS		0x14f
#define PMU_CSR_SIREG3			0x153
#define PMU_CSR_SCTRDEPTH		0x15f
/* sctrctl of a guest (H extension) */
#define PMU_CSR_VSCTRCTL		0x24e
#define PMU_ISELECT_BRANCH		0x200
#define PMU_BRANCH_MAX			256

/* sctrctl: the modes to record, and what freezes the records */
#define PMU_SCTRCTL_U			BIT_ULL(0)
#define PMU_SCTRCTL_S			BIT_ULL(1)
/* Emulate a return address stack: a call adds a record, a return removes one. */
#define PMU_SCTRCTL_RASEMU		BIT_ULL(7)
/* Freeze the records when an overflow interrupt traps. */
#define PMU_SCTRCTL_LCOFIFRZ		BIT_ULL(12)
/* Do not record transfers of one type; NOT_TAKEN is the only type that a 1 enables. */
#define PMU_SCTRCTL_TYPE(type)		BIT_ULL(32 + (type))

/* Types of transfers, as in the data of a record */
#define PMU_BRANCH_EXCEPTION		1
#define PMU_BRANCH_INTERRUPT		2
#define PMU_BRANCH_TRAP_RETURN		3
#define PMU_BRANCH_NOT_TAKEN		4
#define PMU_BRANCH_TAKEN		5
#define PMU_BRANCH_IND_CALL		8
#define PMU_BRANCH_CALL			9
#define PMU_BRANCH_IND_JUMP		10
#define PMU_BRANCH_JUMP			11
#define PMU_BRANCH_CORO_SWAP		12
#define PMU_BRANCH_RETURN		13
#define PMU_BRANCH_IND_LINK		14
#define PMU_BRANCH_LINK			15

/* sctrstatus: the next record to be written, and whether recording is frozen */
#define PMU_SCTRSTATUS_WRPTR		GENMASK(7, 0)
#define PMU_SCTRSTATUS_FROZEN		BIT(31)

/* sctrdepth: 0 to 4 for 16 to 256 records */
#define PMU_SCTRDEPTH_MIN		16

/* Bit 0 of a source; bit 0 of a target; fields of the data */
#define PMU_BRANCH_VALID		BIT_ULL(0)
#define PMU_BRANCH_MISPREDICTED		BIT_ULL(0)
#define PMU_BRANCH_TYPE			GENMASK(3, 0)
#define PMU_BRANCH_CYCLES_VALID		BIT(15)
#define PMU_BRANCH_CYCLES_MANTISSA	GENMASK(27, 16)
#define PMU_BRANCH_CYCLES_EXPONENT	GENMASK(31, 28)

/* T-Head C9xx: a predecessor of Sscofpmf with other CSR and interrupt numbers. */
#define PMU_CSR_THEAD_SCOUNTEROF	0x5c5
#define PMU_IRQ_THEAD			17

/* AndesCore: the same, too (Andes AX45MP data sheet, "supervisor local interrupts"). */
#define PMU_CSR_ANDES_SLIP		0x9c5
#define PMU_CSR_ANDES_SCOUNTEROF	0x9d4
#define PMU_IRQ_ANDES			(256 + 18)

#endif /* _ASM_RISCV_PMU_CSR_H */
