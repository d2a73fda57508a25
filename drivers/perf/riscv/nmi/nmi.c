// SPDX-License-Identifier: GPL-2.0
/*
 * Overflows that interrupt code with interrupts off: the firmware delivers them as Supervisor
 * Software Events (SSE, nmi/sse.c). The driver calls them NMIs, because to disable interrupts does
 * not stop them. They are not the NMIs of Smrnmi, and the firmware can mask them.
 *
 * The handler shares its state with the driver's other functions, which run with interrupts off.
 * While they change it, &riscv_pmu_hart.updating is true or riscv_pmu_nmi_blocks is not 0 on this
 * hart. Then the overflow is deferred until interrupts are on: an irq_work handles it.
 *
 * While the kernel's text is patched, and while a kprobe is stepped, no code may be executed that
 * can be patched or probed: the handler notes the overflow and returns (riscv_pmu_nmi_hold()).
 */

#include <linux/entry-common.h>
#include <linux/kprobes.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/perf_event.h>
#include <linux/sched/task_stack.h>

#include <asm/irq_regs.h>

#include "block.h"
#include "../ebb/ebb.h"
#include "../entries.h"
#include "entry.h"
#include "nmi.h"
#include "sse.h"
#include "../update.h"

bool riscv_pmu_nmi_in_use __ro_after_init;
bool riscv_pmu_nmi_stays_pending __ro_after_init;
bool riscv_pmu_nmi_has_h __ro_after_init;

DEFINE_PER_CPU(struct riscv_pmu_nmi, riscv_pmu_nmi_harts);

static_assert(offsetof(struct riscv_pmu_nmi, stack) == NMI_STACK * sizeof(long));
static_assert(offsetof(struct riscv_pmu_nmi, sp) == NMI_SP * sizeof(long));
static_assert(offsetof(struct riscv_pmu_nmi, guest) == NMI_GUEST * sizeof(long));
static_assert(offsetof(struct riscv_pmu_nmi_frame, scratch) == sizeof(struct pt_regs));

/* What a page fault in the handler, wherever user memory is read, would overwrite */
struct nmi_saved {
	long		kernel_sp;
	long		user_sp;
	unsigned long	a0;
	unsigned long	a1;
	unsigned long	a2;
	unsigned long	bad_cause;
	unsigned long	hstatus;
	unsigned long	htval;
	unsigned long	htinst;
};

static __always_inline void nmi_save(struct nmi_saved *saved)
{
	const struct thread_info *ti = current_thread_info();

	saved->kernel_sp = ti->kernel_sp;
	saved->user_sp = ti->user_sp;
	saved->a0 = ti->a0;
	saved->a1 = ti->a1;
	saved->a2 = ti->a2;
	saved->bad_cause = current->thread.bad_cause;
	if (!riscv_pmu_nmi_has_h)
		return;

	saved->hstatus = csr_read(CSR_HSTATUS);
	saved->htval = csr_read(CSR_HTVAL);
	saved->htinst = csr_read(CSR_HTINST);
}

static __always_inline void nmi_restore(const struct nmi_saved *saved)
{
	struct thread_info *ti = current_thread_info();

	ti->kernel_sp = saved->kernel_sp;
	ti->user_sp = saved->user_sp;
	ti->a0 = saved->a0;
	ti->a1 = saved->a1;
	ti->a2 = saved->a2;
	current->thread.bad_cause = saved->bad_cause;
	if (!riscv_pmu_nmi_has_h)
		return;

	csr_write(CSR_HSTATUS, saved->hstatus);
	csr_write(CSR_HTVAL, saved->htval);
	csr_write(CSR_HTINST, saved->htinst);
}

/*
 * The firmware (OpenSBI 1.6 to 1.9) sets SPV if the NMI has interrupted a guest, never clears it,
 * and returns to a guest if it is set. But KVM's code before and after a guest runs with SPV set.
 *
 * SPV is clear while a guest runs. If it was set before the NMI, KVM's own code was interrupted.
 */
static void nmi_return_to_host(struct nmi_saved *saved)
{
	if (unlikely(riscv_pmu_nmi_has_h && saved->hstatus & HSTATUS_SPV) &&
	    riscv_pmu_sse_had_spv())
		saved->hstatus &= ~HSTATUS_SPV;
}

/*
 * While the scheduler switches tasks, satp may be that of the next task already: then the current
 * task's user stack cannot be unwound.
 */
static bool nmi_can_read_user(void)
{
	const struct mm_struct *mm = current->mm;

	return !mm || (csr_read(CSR_SATP) & SATP_PPN) == PFN_DOWN(__pa(mm->pgd));
}

/* Whether the interrupted code may be changing what the handler uses: the irq_work has to do it. */
bool riscv_pmu_nmi_has_to_wait(struct riscv_pmu_nmi *nmi, const struct riscv_pmu_hart *hart,
			       const struct pt_regs *regs)
{
	/*
	 * The overflow may be that of a guest's event: KVM's overflow handler takes a lock, which
	 * the interrupted code may hold.
	 */
	if (nmi->guest)
		nmi->guest_overflow = true;
	if (nmi->guest_overflow)
		return true;
	/* Between the reads of a group, all counts are latched. */
	if (READ_ONCE(hart->updating) || READ_ONCE(hart->latch_on_read) ||
	    __this_cpu_read(riscv_pmu_nmi_blocks))
		return true;
	/* A page fault here would be taken for one of the instruction that is stepped. */
	if (kprobe_running())
		return true;
	if (user_mode(regs))
		return false;

	/*
	 * The kernel's entry code has not saved user mode's registers yet: task_pt_regs() is stale,
	 * and sp may be user mode's.
	 */
	return (regs->epc >= (unsigned long)handle_exception &&
		regs->epc < (unsigned long)ret_from_exception) || !nmi_can_read_user();
}

/*
 * An event-based branch is taken when the kernel returns to user mode, but an NMI returns by the
 * firmware. So raise an interrupt, which user mode takes at once. If IPIs are SSIP, the pending bit
 * is enough: their handler finds nothing to do.
 */
static void nmi_raise_interrupt(struct riscv_pmu_nmi *nmi)
{
	if (csr_read(CSR_IE) & IE_SIE)
		csr_set(CSR_IP, IE_SIE);
	else
		irq_work_queue(&nmi->work);
}

/*
 * The registers for samples. In the kernel's exit code, sp and s0 may be those of user mode, and
 * cannot be used to unwind the kernel's stack: show only the address.
 */
static struct pt_regs *nmi_regs(struct riscv_pmu_nmi *nmi, struct riscv_pmu_nmi_frame *frame)
{
	if (likely(!frame->scratch || user_mode(&frame->regs)))
		return &frame->regs;

	nmi->exit_regs = frame->regs;
	nmi->exit_regs.sp = (unsigned long)task_pt_regs(current);
	nmi->exit_regs.s0 = 0;
	return &nmi->exit_regs;
}

static void nmi_handle(struct riscv_pmu_nmi *nmi, struct riscv_pmu_nmi_frame *frame)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());
	u32 began = get_cycles();
	struct riscv_pmu_hart *hart;

	if (unlikely(nmi->to_measure)) {
		nmi->to_measure--;
		return;
	}
	nmi->nmis++;
	if (riscv_pmu_nmi_stays_pending)
		riscv_pmu_sse_clear_pending();
	if (!pmu)
		return;

	hart = riscv_pmu_this_hart(pmu);
	if (riscv_pmu_nmi_has_to_wait(nmi, hart, &frame->regs)) {
		nmi->deferred++;
		irq_work_queue(&nmi->work);
		return;
	}
	riscv_pmu_handle_irq(pmu, hart, nmi_regs(nmi, frame), began);
	/* A firmware call of the handler may have cleared the interrupt of another counter. */
	if (riscv_pmu_nmi_stays_pending &&
	    pmu->ops.overflowed(pmu, hart->hw.running & hart->hw.armed))
		irq_work_queue(&nmi->work);
	if (unlikely(riscv_pmu_ebb_is_pending()))
		nmi_raise_interrupt(nmi);
}

/* Handles an overflow that has interrupted any code, on a stack of its own. */
asmlinkage noinstr void riscv_pmu_nmi_handle(struct riscv_pmu_nmi *nmi,
					     struct riscv_pmu_nmi_frame *frame)
{
	struct nmi_saved saved;
	irqentry_state_t state;

	/* NMIs are held: the overflow waits for riscv_pmu_nmi_release(). */
	if (unlikely(nmi->holds)) {
		nmi->nmis++;
		nmi->deferred++;
		nmi->noted = true;
		if (riscv_pmu_nmi_stays_pending)
			riscv_pmu_sse_clear_pending();
		return;
	}

	nmi_save(&saved);
	state = irqentry_nmi_enter(&frame->regs);
	instrumentation_begin();
	nmi_return_to_host(&saved);
	nmi_handle(nmi, frame);
	instrumentation_end();
	irqentry_nmi_exit(&frame->regs, state);
	nmi_restore(&saved);
}

/*
 * Handles an overflow that had to wait. If an interrupt has handled it meanwhile, no counter's
 * overflow flag is set: this changes nothing then but the statistics.
 */
void riscv_pmu_nmi_work(struct irq_work *work)
{
	struct riscv_pmu *pmu = riscv_pmu_of(smp_processor_id());
	struct pt_regs *regs = get_irq_regs() ?: task_pt_regs(current);
	struct riscv_pmu_hart *hart;

	if (!pmu)
		return;

	guard(riscv_pmu_irqsave)();
	hart = riscv_pmu_this_hart(pmu);
	if (!hart->shut_down)
		riscv_pmu_handle_irq(pmu, hart, regs, get_cycles());
	this_cpu_write(riscv_pmu_nmi_harts.guest_overflow, false);
}

/* How many NMIs a hart has had since boot, and how many of their overflows the irq_work got */
void riscv_pmu_nmi_count(unsigned int cpu, u64 *nmis, u64 *deferred)
{
	*nmis = READ_ONCE(per_cpu(riscv_pmu_nmi_harts.nmis, cpu));
	*deferred = READ_ONCE(per_cpu(riscv_pmu_nmi_harts.deferred, cpu));
}

/*
 * Until riscv_pmu_nmi_release(), NMIs execute nothing that can be patched or probed.
 * arch/riscv/kernel calls this before it patches text, and before it steps a kprobe, with
 * interrupts off. While text is patched, a hart may execute two instructions of which only one was
 * written. While a kprobe is stepped, hitting another one stops the kernel. Sections may be nested.
 */
noinstr void riscv_pmu_nmi_hold(void)
{
	raw_cpu_inc(riscv_pmu_nmi_harts.holds);
	barrier();
}

noinstr void riscv_pmu_nmi_release(void)
{
	struct riscv_pmu_nmi *nmi = raw_cpu_ptr(&riscv_pmu_nmi_harts);

	barrier();
	nmi->holds--;
	barrier();
	if (likely(nmi->holds || !nmi->noted))
		return;

	nmi->noted = false;
	instrumentation_begin();
	irq_work_queue(&nmi->work);
	instrumentation_end();
}

/* While KVM switches to a guest and back, tp and sscratch may be the guest's. NULL: it is back. */
void riscv_pmu_nmi_set_guest(struct task_struct *guest)
{
	__this_cpu_write(riscv_pmu_nmi_harts.guest, guest);
	barrier();
}
