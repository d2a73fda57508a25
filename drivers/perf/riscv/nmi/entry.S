/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The entry of an overflow that M-mode delivers (SSE). It may interrupt any code of S-mode and user
 * mode: the kernel's own entry and exit code, the switch to a KVM guest, and the guest.
 *
 * On entry, sepc is the interrupted pc and sstatus.SPP the interrupted mode. The firmware has saved
 * the sepc and the fields of sstatus and hstatus that they had before, a6 and a7. COMPLETE restores
 * these, and resumes at the sepc and in the mode of that time. All else is restored here and in
 * riscv_pmu_nmi_handle().
 */

#include <linux/linkage.h>

#include <asm/asm.h>
#include <asm/asm-offsets.h>
#include <asm/csr.h>

#include "entry.h"
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
	/* struct riscv_pmu_nmi_frame.scratch */
	REG_S	s1, PT_SIZE(sp)

	/* The handler may take page faults. While KVM switches to a guest, stvec is KVM's. */
	la	t0, handle_exception
	csrrw	s6, CSR_TVEC, t0

	/*
	 * Find the current task:
	 * - sscratch is 0: the kernel was interrupted, and tp is the task.
	 * - SPP is 0: user mode was interrupted, and sscratch is the task. The pc may be an
	 *   address of the kernel, because an overflow comes before the exception of a jump.
	 * - At the first instruction of the kernel's entry code, and in its exit code: sscratch is
	 *   the task.
	 * - In the rest of the entry code, tp and sscratch are exchanged. If the exception was the
	 *   kernel's, tp is 0 and sscratch is the task for a while; if it was user mode's, tp is
	 *   the task, and sscratch has user mode's tp.
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
	/* COMPLETE returns only if it fails: then the interrupted code cannot be resumed. */
	unimp
SYM_CODE_END(riscv_pmu_nmi_entry)
ASM_NOKPROBE(riscv_pmu_nmi_entry)

/*
 * Ends the handler after a crash in it. COMPLETE resumes what the firmware takes for the
 * interrupted code; that is set to the code after the call. a0: whether the hart has the hypervisor
 * extension; then no guest is resumed.
 */
SYM_FUNC_START(riscv_pmu_nmi_leave)
	la	t0, 1f
	csrw	CSR_EPC, t0
	li	t0, SR_SPP
	csrs	CSR_STATUS, t0
	li	t0, SR_SPIE
	csrc	CSR_STATUS, t0
	beqz	a0, 2f
	li	t0, HSTATUS_SPV
	csrc	CSR_HSTATUS, t0
2:
	li	a7, SSE_EXT
	li	a6, SSE_COMPLETE
	ecall
1:
	ret
SYM_FUNC_END(riscv_pmu_nmi_leave)
