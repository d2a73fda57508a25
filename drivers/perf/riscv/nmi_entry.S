/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The entry of an overflow that M-mode delivers (SSE). It may interrupt any code of S-mode and user
 * mode: the kernel's own entry and exit code, the switch to a KVM guest, and the guest.
 *
 * The firmware has put the interrupted pc into sepc, and the interrupted mode into sstatus.SPP. It
 * keeps the interrupted a6 and a7, sepc and sstatus.SPP, and restores them when the handler
 * completes; all other registers and CSRs have to be restored here.
 */

#include <linux/linkage.h>

#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/csr.h>

#include "nmi.h"
#include "sse.h"

	.section .irqentry.text, "ax"

/* a7: this hart's struct riscv_pmu_nmi. Interrupts are off. */
SYM_CODE_START(riscv_pmu_nmi_entry)
	REG_S	sp, (NMI_SP * SZREG)(a7)
	REG_L	sp, (NMI_STACK * SZREG)(a7)
	REG_S	ra, PT_RA(sp)
	REG_S	gp, PT_GP(sp)
	REG_S	tp, PT_TP(sp)
	REG_S	t0, PT_T0(sp)
	save_from_x6_to_x31
	REG_L	t0, (NMI_SP * SZREG)(a7)
	REG_S	t0, PT_SP(sp)

	/* As in handle_exception: no access to user memory, no floating point, no vectors. */
	li	t0, SR_SUM | SR_FS_VS
	csrrc	s5, CSR_STATUS, t0
	csrr	s4, CSR_CAUSE
	csrr	s3, CSR_TVAL
	csrr	s2, CSR_EPC
	csrr	s1, CSR_SCRATCH
	REG_S	s5, PT_STATUS(sp)
	REG_S	s4, PT_CAUSE(sp)
	REG_S	s3, PT_BADADDR(sp)
	REG_S	s2, PT_EPC(sp)
	REG_S	s1, PT_SIZE(sp)

	/* KVM has an exception vector of its own while it switches to a guest. */
	la	t0, handle_exception
	csrrw	s6, CSR_TVEC, t0

	/*
	 * Find the current task. sscratch is 0 in the kernel, and the task in user mode, whose pc
	 * may be any address, because an overflow comes before the exception of a jump. In the
	 * kernel's exit code, and at the first instruction of its entry code, it is the task
	 * already, or still. In the rest of the entry code tp and sscratch are being exchanged: if
	 * the kernel was interrupted, tp is 0 for a while, and sscratch is the task; if user mode
	 * was, tp is the task, and sscratch has user mode's tp.
	 */
	REG_L	t1, (NMI_GUEST * SZREG)(a7)
	bnez	t1, .Lset_task
	beqz	s1, .Lfound_task
	mv	t1, s1
	andi	t2, s5, SR_SPP
	beqz	t2, .Lset_task
	bleu	s2, t0, .Lset_task
	la	t2, ret_from_exception
	bltu	s2, t2, .Lis_entry
	la	t2, ret_from_exception_end
	bltu	s2, t2, .Lset_task
.Lis_entry:
	bnez	tp, .Lfound_task
.Lset_task:
	mv	tp, t1
.Lfound_task:
	csrw	CSR_SCRATCH, x0
	load_global_pointer

	mv	a0, a7
	mv	a1, sp
	call	riscv_pmu_nmi_handle

	csrw	CSR_SCRATCH, s1
	csrw	CSR_TVEC, s6
	csrw	CSR_CAUSE, s4
	csrw	CSR_TVAL, s3
	csrw	CSR_EPC, s2
	csrw	CSR_STATUS, s5
	/* As in ret_from_exception: drop a reservation of the interrupted code. */
	REG_SC	x0, s2, PT_EPC(sp)

	REG_L	ra, PT_RA(sp)
	REG_L	gp, PT_GP(sp)
	REG_L	tp, PT_TP(sp)
	REG_L	t0, PT_T0(sp)
	restore_from_x6_to_x31
	li	a7, SSE_EXT
	li	a6, SSE_COMPLETE
	REG_L	sp, PT_SP(sp)
	ecall
	/* The firmware has lost the interrupted pc. */
	unimp
SYM_CODE_END(riscv_pmu_nmi_entry)
ASM_NOKPROBE(riscv_pmu_nmi_entry)
