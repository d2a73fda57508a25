// SPDX-License-Identifier: GPL-2.0
/*
 * Tests at boot for what firmware and QEMU do not tell: fixed counters that cannot be configured,
 * those that can filter or interrupt, and QEMU's duplicate event.
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include "../csr.h"
#include "../print.h"
#include "call.h"
#include "method.h"
#include "sbi.h"

/* Rounds of each boot-time test; all have to agree. */
#define SBI_NR_ROUNDS		4
/* Loop iterations in each round, of at least two instructions and one cycle. */
#define SBI_ROUND_LOOPS		4096

static u32 sbi_fixed_event(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return riscv_pmu_fixed_event(riscv_pmu_ctr_to_hpm(pmu, ctr));
}

/* Whether a counter that was started moves in a round: some thousand instructions. */
static bool sbi_advances(struct riscv_pmu *pmu, unsigned int ctr)
{
	u64 before = pmu->ctr[ctr].read();

	for (unsigned int i = 0; i < SBI_ROUND_LOOPS; i++)
		barrier();

	return pmu->ctr[ctr].read() != before;
}

/* A KVM guest can read a counter only if it is configured. */
static bool sbi_is_readable(const struct riscv_pmu *pmu, unsigned int ctr)
{
	bool is = riscv_pmu_csr_is_readable(riscv_pmu_ctr_to_hpm(pmu, ctr));

	if (!is)
		riscv_pmu_warn_once("CSR 0x%x traps, so the filters and the interrupt of counter %u cannot be tested, and are not used\n",
				    pmu->ctr[ctr].csr, ctr);
	return is;
}

/* In how many rounds a counter advances (a slow one only in some), or -EIO if its CSR traps */
static int sbi_count_advances(struct riscv_pmu *pmu, unsigned int ctr)
{
	int advances = 0;

	if (!sbi_is_readable(pmu, ctr))
		return -EIO;

	for (unsigned int i = 0; i < SBI_NR_ROUNDS; i++)
		advances += sbi_advances(pmu, ctr);

	return advances;
}

/*
 * The same of a fixed counter with some modes inhibited. If the firmware refuses, this is an errno,
 * not 0: a refusal says nothing about the counter.
 */
static int sbi_count_fixed_advances(struct riscv_pmu *pmu, unsigned int ctr, u32 inh)
{
	unsigned long flags = riscv_pmu_sbi_inh_to_flags(inh);
	int ret = riscv_pmu_sbi_cfg_match(BIT_ULL(ctr), flags, sbi_fixed_event(pmu, ctr), 0);

	if (ret >= 0)
		ret = riscv_pmu_sbi_start(BIT_ULL(ctr));
	if (!ret)
		ret = sbi_count_advances(pmu, ctr);
	riscv_pmu_sbi_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET);

	return ret;
}

static bool sbi_fixed_filters(struct riscv_pmu *pmu, unsigned int ctr)
{
	guard(irqsave)();
	return sbi_count_fixed_advances(pmu, ctr, 0) == SBI_NR_ROUNDS &&
	       sbi_count_fixed_advances(pmu, ctr, SBI_ALL_MODES) == 0;
}

/*
 * Smcntrpmf adds filters to cycle and instret. S-mode cannot query whether hart and firmware
 * support it, so it is tested: a counter that advances in every round without filters must not
 * advance in any round with all modes inhibited. If the result is unclear, the counter is not used
 * with filters: it could expose the kernel to users who must not see it.
 */
void riscv_pmu_sbi_find_fixed_filters(struct riscv_pmu *pmu)
{
	for_each_ctr(ctr, pmu->fixed_ctrs & ~pmu->free_running_ctrs) {
		if (sbi_fixed_filters(pmu, ctr))
			pmu->ctr[ctr].inh = SBI_ALL_MODES;
	}
}

static bool sbi_has_overflow_flag(const struct riscv_pmu *pmu, unsigned int ctr)
{
	return riscv_pmu_csr_read_ovf(pmu->ovf_csr) & BIT(riscv_pmu_ctr_to_hpm(pmu, ctr));
}

/*
 * Whether a counter sets its overflow flag when it overflows, and firmware clears the flag when it
 * starts the counter. The counter overflows in the middle of a round, and not yet while the
 * firmware returns from the call that starts it. OpenSBI 1.6 clears the flag only if no interrupt
 * is pending, so the interrupt is acknowledged after each round.
 */
static bool sbi_overflows(struct riscv_pmu *pmu, unsigned int ctr)
{
	if (!sbi_is_readable(pmu, ctr))
		return false;

	for (unsigned int i = 0; i < SBI_NR_ROUNDS; i++) {
		if (riscv_pmu_sbi_start_at(ctr, -(SBI_ROUND_LOOPS / 2)) ||
		    sbi_has_overflow_flag(pmu, ctr) || !sbi_advances(pmu, ctr) ||
		    !sbi_has_overflow_flag(pmu, ctr))
			return false;
		riscv_pmu_sbi_stop(BIT_ULL(ctr), 0);
		riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
	}

	return true;
}

static bool sbi_fixed_interrupts(struct riscv_pmu *pmu, unsigned int ctr)
{
	bool does;

	guard(irqsave)();
	does = riscv_pmu_sbi_cfg_match(BIT_ULL(ctr), 0, sbi_fixed_event(pmu, ctr), 0) >= 0 &&
	       sbi_overflows(pmu, ctr);
	riscv_pmu_sbi_stop(BIT_ULL(ctr), SBI_PMU_STOP_FLAG_RESET);
	riscv_pmu_csr_ack_irq(pmu->pending_csr, pmu->hwirq);
	return does;
}

/* On a slow hart the counter can overflow too early. One that does not interrupt never passes. */
#define SBI_NR_TRIES	8

static bool sbi_can_interrupt(struct riscv_pmu *pmu, unsigned int ctr)
{
	for (unsigned int i = 0; i < SBI_NR_TRIES; i++) {
		if (sbi_fixed_interrupts(pmu, ctr))
			return true;
	}

	return false;
}

/*
 * Removes the fixed counters that do not interrupt from pmu->irq_ctrs. On T-Head's and Andes' cores
 * they can, but firmware has to enable that, and has to clear their overflow flags. Without it,
 * sampling by them would end after the first sample.
 *
 * A core with a CSR of its own for these flags needs the same of the firmware for its programmable
 * counters. They are not tested, because the rates of their events are unknown. If no fixed counter
 * interrupts there, none does.
 */
void riscv_pmu_sbi_test_fixed_irqs(struct riscv_pmu *pmu)
{
	for_each_ctr(ctr, pmu->fixed_ctrs & pmu->irq_ctrs) {
		if (!sbi_fixed_interrupts(pmu, ctr))
			pmu->irq_ctrs &= ~BIT_ULL(ctr);
	}

	if (pmu->fixed_irqs && pmu->ovf_csr != CSR_SCOUNTOVF &&
	    !(pmu->fixed_ctrs & pmu->irq_ctrs)) {
		pmu->irq_ctrs = 0;
		pmu->no_irq_why =
			"the firmware does not enable this core's overflow interrupt; OpenSBI does";
	}
}

/* Whether the counter advances although hart_start has stopped it. */
static bool sbi_is_free_running(struct riscv_pmu *pmu, unsigned int ctr)
{
	guard(irqsave)();
	riscv_pmu_sbi_start(BIT_ULL(ctr));

	return sbi_count_advances(pmu, ctr) > 0;
}

/*
 * OpenSBI 1.9 with Sscofpmf announces fixed counters, but refuses to configure them. One that
 * advances although it is stopped is used read-only, as by the legacy backend; others are not used.
 */
void riscv_pmu_sbi_find_free_running(struct riscv_pmu *pmu)
{
	struct riscv_pmu_sbi *sbi = to_sbi(pmu);

	for_each_ctr(ctr, pmu->fixed_ctrs) {
		u64 *event_ctrs = &sbi->std_ctrs[riscv_pmu_event_code(sbi_fixed_event(pmu, ctr))];
		u64 bit = BIT_ULL(ctr);

		if (*event_ctrs & bit)
			continue;
		pmu->irq_ctrs &= ~bit;
		if (sbi_is_free_running(pmu, ctr)) {
			pmu->free_running_ctrs |= bit;
			*event_ctrs |= bit;
		} else {
			pmu->ctrs &= ~bit;
			pmu->fixed_ctrs &= ~bit;
		}
	}
}

/*
 * Whether a fixed counter of this hart does what the probe has found on another hart. A filter that
 * this hart does not have would expose the kernel to users who must not see it.
 */
static bool sbi_fixed_is_equal(struct riscv_pmu *pmu, unsigned int ctr)
{
	u64 bit = BIT_ULL(ctr);

	if (pmu->free_running_ctrs & bit)
		return sbi_is_free_running(pmu, ctr);

	return (!pmu->ctr[ctr].inh || sbi_fixed_filters(pmu, ctr)) &&
	       (!(pmu->irq_ctrs & bit) || sbi_can_interrupt(pmu, ctr));
}

/* Whether all fixed counters of this hart do. No counter is in use. */
bool riscv_pmu_sbi_has_fixed_ctrs(struct riscv_pmu *pmu)
{
	for_each_ctr(ctr, pmu->fixed_ctrs) {
		if (!sbi_fixed_is_equal(pmu, ctr))
			return false;
	}

	return true;
}

/* Whether only the first of two counters that hold cycles counts. */
static bool sbi_second_is_stopped(struct riscv_pmu *pmu, unsigned int first, unsigned int second)
{
	if (riscv_pmu_sbi_cfg_match(BIT_ULL(first), 0, RISCV_PMU_EVENT_CYCLES, 0) < 0 ||
	    riscv_pmu_sbi_cfg_match(BIT_ULL(second), 0, RISCV_PMU_EVENT_CYCLES, 0) < 0 ||
	    riscv_pmu_sbi_start(BIT_ULL(first) | BIT_ULL(second)))
		return false;

	return sbi_count_advances(pmu, first) == SBI_NR_ROUNDS && !sbi_count_advances(pmu, second);
}

/*
 * QEMU 10.0.2 counts an event on one counter only: a second counter that holds the event does not
 * advance, whatever its filters. No version number tells, so it is tested; on QEMU's machine only,
 * because the workaround gives up counters.
 */
static bool sbi_has_duplicate_quirk(struct riscv_pmu *pmu)
{
	u64 ctrs = to_sbi(pmu)->std_ctrs[RISCV_PMU_EVENT_CYCLES] & ~pmu->fixed_ctrs;
	unsigned int first, second;
	bool has;

	if (!pmu->is_qemu || hweight64(ctrs) < 2)
		return false;

	first = __ffs64(ctrs);
	second = __ffs64(ctrs & (ctrs - 1));
	guard(irqsave)();
	has = sbi_second_is_stopped(pmu, first, second);
	riscv_pmu_sbi_stop(BIT_ULL(first) | BIT_ULL(second), SBI_PMU_STOP_FLAG_RESET);

	return has;
}

/* Chooses one of some counters, in turn. */
static u64 sbi_pick_home(u64 ctrs, unsigned int nr)
{
	for (nr %= hweight64(ctrs); nr; nr--)
		ctrs &= ctrs - 1;

	return ctrs & -ctrs;
}

/*
 * With QEMU's duplicate event, each event is restricted to one counter besides its fixed one. If it
 * is opened a second time, with other filters, it is multiplexed instead of counting nothing. Raw
 * events are not restricted: QEMU counts none.
 */
void riscv_pmu_sbi_find_quirks(struct riscv_pmu *pmu)
{
	u64 *std_ctrs = to_sbi(pmu)->std_ctrs;
	unsigned int nr = 0;

	if (!sbi_has_duplicate_quirk(pmu))
		return;

	for (u32 i = 0; i < SBI_NR_HW + SBI_NR_CACHE; i++) {
		u64 ctrs = std_ctrs[i] & ~pmu->fixed_ctrs;

		std_ctrs[i] &= pmu->fixed_ctrs;
		if (ctrs)
			std_ctrs[i] |= sbi_pick_home(ctrs, nr++);
	}
}
