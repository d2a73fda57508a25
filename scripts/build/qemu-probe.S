/* SPDX-License-Identifier: GPL-2.0 */
/*
 * qemu-probe: test whether QEMU raises an interrupt when a counter overflows.
 *
 * This is QEMU's -bios, for -M virt. M-mode delegates the interrupt and starts a
 * counter of cycles that overflows; S-mode enables the interrupt, takes it, and
 * clears it, as the driver does. The program ends QEMU with one of the statuses
 * below, by the board's test finisher. QEMU itself never exits with any of them,
 * so a program that only exits with 0 or 1 is not mistaken for a QEMU.
 */

#define PROBE_INTERRUPTS	100
#define PROBE_MIDELEG		101
#define PROBE_SIE		102
#define PROBE_NO_OVERFLOW	103
#define PROBE_NO_TRAP		104
#define PROBE_SCOUNTOVF		105
#define PROBE_SIP		106
#define PROBE_STRAY_TRAP	107

#define TEST_FINISHER		0x100000
#define TEST_FAIL		0x3333

#define IRQ_LCOFI		13
#define LCOFI			(1 << IRQ_LCOFI)
#define EVENT_CYCLES		1
#define CTR			3
#define CSR_SCOUNTOVF		0xda0

/* The counter overflows after 0.1 ms of QEMU's time; the time limit is in ticks of 0.1 us. */
#define CYCLES_LEFT		100000
#define TIMEOUT_TICKS		5000000

#define PMP_ALL			0x1f
#define MSTATUS_MPP_S		(1 << 11)
#define SSTATUS_SIE		(1 << 1)

	.macro	end_with status
	li	a0, \status
	j	finish
	.endm

	.globl	_start
_start:
	la	t0, stray_trap
	csrw	mtvec, t0
	la	t0, taken
	csrw	stvec, t0

	/* S-mode may use all of the memory, and read all counters. */
	li	t0, -1
	csrw	pmpaddr0, t0
	csrw	mcounteren, t0
	li	t0, PMP_ALL
	csrw	pmpcfg0, t0

	li	s0, LCOFI
	csrw	mideleg, s0
	csrr	t0, mideleg
	and	t0, t0, s0
	bnez	t0, 1f
	end_with PROBE_MIDELEG

1:	li	t0, EVENT_CYCLES
	csrw	mhpmevent3, t0
	li	t0, -CYCLES_LEFT
	csrw	mhpmcounter3, t0
	csrw	mcountinhibit, zero

	li	t0, MSTATUS_MPP_S
	csrs	mstatus, t0
	la	t0, supervisor
	csrw	mepc, t0
	mret

supervisor:
	csrs	sie, s0
	csrr	t0, sie
	and	t0, t0, s0
	bnez	t0, 1f
	end_with PROBE_SIE

1:	li	s1, TIMEOUT_TICKS
	rdtime	t0
	add	s1, s1, t0
	csrsi	sstatus, SSTATUS_SIE
1:	rdtime	t0
	bltu	t0, s1, 1b

	/* The interrupt was not taken: check whether it is pending. */
	csrci	sstatus, SSTATUS_SIE
	csrr	t0, sip
	and	t0, t0, s0
	bnez	t0, 1f
	end_with PROBE_NO_OVERFLOW
1:	end_with PROBE_NO_TRAP

	.balign	4
taken:
	csrr	t0, scause
	bgez	t0, stray_trap
	slli	t0, t0, 1
	li	t1, IRQ_LCOFI << 1
	bne	t0, t1, stray_trap

	csrr	t0, CSR_SCOUNTOVF
	andi	t0, t0, 1 << CTR
	bnez	t0, 1f
	end_with PROBE_SCOUNTOVF

1:	csrc	sip, s0
	csrr	t0, sip
	and	t0, t0, s0
	beqz	t0, 1f
	end_with PROBE_SIP
1:	end_with PROBE_INTERRUPTS

	.balign	4
stray_trap:
	end_with PROBE_STRAY_TRAP

finish:
	slli	a0, a0, 16
	li	t0, TEST_FAIL
	or	a0, a0, t0
	li	t1, TEST_FINISHER
	sw	a0, 0(t1)
1:	j	1b
