// SPDX-License-Identifier: BSD-2-Clause
#include "fdt.h"
#include "pmu.h"
#include "tap.h"

/* A storm: nothing here raises as many. */
#define IRQS_MAX	1000
#define CANARY		0x5a5a5a5aa5a5a5a5UL

struct counters ctrs;
struct irqs irqs;
u64 counted_extra;
u64 between_calls;
u8 shared_pages[3 * PAGE_SIZE] __aligned(PAGE_SIZE);
u8 batch_pages[3 * PAGE_SIZE] __aligned(PAGE_SIZE);

/* A read that traps is stepped over. */
static volatile bool trap_is_expected;

/* As start.S has saved them; x0's and x2's places are not used. */
struct trap_frame {
	u64 x[34];
};

/* GCC may call these for what C says without them. */
void *memset(void *to, int c, size_t n);
void *memcpy(void *to, const void *from, size_t n);

void *memset(void *to, int c, size_t n)
{
	u8 *t = to;

	while (n--)
		*t++ = c;
	return to;
}

void *memcpy(void *to, const void *from, size_t n)
{
	const u8 *f = from;
	u8 *t = to;

	while (n--)
		*t++ = *f++;
	return to;
}

/* --- traps -------------------------------------------------------------------- */

static void interrupt_handle(u64 number)
{
	if (number != IRQ_LCOFI) {
		csr_clear(CSR_SIE, BIT(number));
		return;
	}
	irqs.scountovf = csr_read(CSR_SCOUNTOVF);
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	if (++irqs.count > IRQS_MAX)
		bail_out("a storm of overflow interrupts, scountovf %x", irqs.scountovf);
}

void trap_handle(struct trap_frame *frame);

void trap_handle(struct trap_frame *frame)
{
	u64 cause = csr_read(CSR_SCAUSE);
	u64 pc = csr_read(CSR_SEPC);

	if (cause >> 63) {
		interrupt_handle(cause & 0xff);
		return;
	}
	if (!trap_is_expected)
		bail_out("an unexpected trap: scause %u, sepc %x, stval %x, ra %x", cause, pc,
			 csr_read(CSR_STVAL), frame->x[1]);
	trap_is_expected = false;
	asm volatile("csrw sepc, %0" :: "r"(pc + 4));
}

bool sctrctl_is_readable(void)
{
	bool readable;

	trap_is_expected = true;
	(void)csr_read(CSR_SCTRCTL);
	readable = trap_is_expected;
	trap_is_expected = false;
	return readable;
}

bool scountovf_is_readable(void)
{
	bool readable;

	trap_is_expected = true;
	(void)csr_read(CSR_SCOUNTOVF);
	readable = trap_is_expected;
	trap_is_expected = false;
	return readable;
}

void irqs_enable(void)
{
	irqs.count = 0;
	csr_set(CSR_SIE, BIT(IRQ_LCOFI));
	csr_set(CSR_SSTATUS, SSTATUS_SIE);
}

void irqs_disable(void)
{
	csr_clear(CSR_SSTATUS, SSTATUS_SIE);
	csr_clear(CSR_SIE, BIT(IRQ_LCOFI));
}

bool lcofi_pending(void)
{
	return csr_read(CSR_SIP) & BIT(IRQ_LCOFI);
}

void lcofi_clear(void)
{
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
}

/* --- counters ----------------------------------------------------------------- */

void pmu_discover(void)
{
	u64 i;

	ctrs.nr = sbi_call(SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS, 0, 0, 0).value;
	for (i = 0; i < ctrs.nr && i < 64; i++) {
		struct sbiret ret = pmu_get_info(i);

		if (ret.error)
			continue;
		ctrs.info[i] = ret.value;
		if (PMU_INFO_FIRMWARE(ret.value))
			ctrs.fw |= BIT(i);
		else
			ctrs.hw |= BIT(i);
	}
	ctrs.prog = ctrs.hw & ~FIXED_CTRS;
}

noinline u64 counted(unsigned int ctr, u64 n)
{
	u64 before = ctr_read_csr(ctr);

	loop_for(n);
	return ctr_read_csr(ctr) - before;
}

/* instret runs as the firmware has left it, and no call of the firmware is between. */
void pmu_calibrate(void)
{
	counted_extra = counted(CTR_INSTRET, 0);
	/* What this program executes of its own; without filters the firmware's part too. */
	between_calls = scountovf_is_readable() ? 128 : 4096;
}

u64 ctr_value(unsigned int ctr)
{
	if (ctrs.hw & BIT(ctr))
		return ctr_read_csr(ctr);
	return pmu_fw_read(ctr).value;
}

/*
 * Firmware may leave counter 3 at its last value, to find its width. QEMU with
 * -icount dies when a cache event then runs over on a hart without Sscofpmf.
 */
static void ctr_zero(u64 ctr)
{
	if (pmu_match(ctr, 1, 0, EVENT_DTLB_READ_MISS, 0).error)
		return;
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
}

/* One by one: a firmware that stops half way through a mask gets as clean as another. */
void pmu_reset(void)
{
	u64 i;

	irqs_disable();
	for (i = 0; i < ctrs.nr && i < 64; i++)
		if ((ctrs.hw | ctrs.fw) & BIT(i))
			pmu_stop(i, 1, PMU_STOP_RESET);
	for (i = 3; i < 32; i++)
		if (ctrs.prog & BIT(i))
			ctr_zero(i);
	pmu_set_shmem(ALL_ONES, ALL_ONES, 0);
	batch_set_shmem(ALL_ONES, ALL_ONES, 0);
	lcofi_clear();
	irqs.count = 0;
}

u64 lowest(u64 mask)
{
	u64 n = 0;

	while (!(mask & BIT(n)))
		n++;
	return n;
}

u64 ctr_for(u64 event, u64 flags)
{
	struct sbiret ret = pmu_match(0, ctrs.hw, flags, event, 0);

	return ret.error ? ALL_ONES : ret.value;
}

u64 fw_ctr_for(u64 event)
{
	struct sbiret ret = pmu_match(0, ctrs.fw, PMU_CFG_CLEAR_VALUE, event, 0);

	return ret.error ? ALL_ONES : ret.value;
}

bool is_running(u64 ctr)
{
	return counted(ctr, 100) != 0;
}

noinline u64 started_for(unsigned int ctr, u64 value, u64 n)
{
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, value);
	loop_for(n);
	pmu_stop(ctr, 1, 0);
	return ctr_value(ctr) - value;
}

/* --- the pages beside the shared ones ------------------------------------------- */

static void canary_set(u8 *pages)
{
	u64 *word = (u64 *)pages, i;

	for (i = 0; i < 3 * PAGE_SIZE / sizeof(u64); i++)
		word[i] = CANARY;
}

static bool canary_lives(const u8 *pages)
{
	const u64 *word = (const u64 *)pages;
	u64 i, page = PAGE_SIZE / sizeof(u64);

	for (i = 0; i < page; i++)
		if (word[i] != CANARY || word[2 * page + i] != CANARY)
			return false;
	return true;
}

void canaries_set(void)
{
	canary_set(shared_pages);
	canary_set(batch_pages);
}

bool canaries_live(void)
{
	return canary_lives(shared_pages) && canary_lives(batch_pages);
}
