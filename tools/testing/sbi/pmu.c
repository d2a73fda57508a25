// SPDX-License-Identifier: BSD-2-Clause
#include "fdt.h"
#include "pmu.h"
#include "tap.h"

/* No case raises as many interrupts. */
#define IRQS_MAX	1000
#define CANARY		0x5a5a5a5aa5a5a5a5ULL

struct counters ctrs;
struct irqs irqs;
u64 counted_extra;
u64 between_calls;
u8 shared_pages[3 * PAGE_SIZE] __aligned(PAGE_SIZE);
u8 batch_pages[3 * PAGE_SIZE] __aligned(PAGE_SIZE);

/* The trap handler skips the instruction. */
static volatile bool trap_is_expected;

/* Registers that start.S has saved; x[0] and x[2] are not used. */
struct trap_frame {
	ulong x[34];
};

#ifndef SBI_MODEL
/* GCC may generate calls to these. */
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
#endif

/* --- traps -------------------------------------------------------------------- */

static void interrupt_handle(ulong number)
{
	if (number != IRQ_LCOFI) {
		csr_clear(CSR_SIE, BIT(number));
		return;
	}
	irqs.scountovf = csr_read(CSR_SCOUNTOVF);
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	if (++irqs.count > IRQS_MAX)
		bail_out("too many overflow interrupts, scountovf %#llx", irqs.scountovf);
}

void trap_handle(struct trap_frame *frame);

void trap_handle(struct trap_frame *frame)
{
	ulong cause = csr_read(CSR_SCAUSE);
	ulong pc = csr_read(CSR_SEPC);

	if (cause >> (XLEN - 1)) {
		interrupt_handle(cause & 0xff);
		return;
	}
	if (!trap_is_expected)
		bail_out("an unexpected trap: scause %lu, sepc %#lx, stval %#lx, ra %#lx", cause,
			 pc, csr_read(CSR_STVAL), frame->x[1]);
	trap_is_expected = false;
	csr_write(CSR_SEPC, pc + 4);
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

/* siselect selects counter 3 (Smcdeleg); CSRs that do not exist trap. */
#define SISELECT_CTR		0x40

bool counters_are_delegated(void)
{
	bool readable;

	trap_is_expected = true;
	csr_write(CSR_SISELECT, SISELECT_CTR + 3);
	readable = trap_is_expected;
	if (readable)
		(void)csr_read(CSR_SIREG2);
	readable = trap_is_expected;
	trap_is_expected = false;
	return readable;
}

void delegated_event_write(u64 ctr, u64 event)
{
	csr_write(CSR_SISELECT, SISELECT_CTR + ctr);
	csr_write(CSR_SIREG2, event);
}

bool fixed_counters_can_be_configured(void)
{
	struct sbiret ret = pmu_match(0, BIT(CTR_CYCLE), 0, EVENT_CYCLES, 0);

	if (ret.error)
		return false;
	pmu_stop(CTR_CYCLE, 1, PMU_STOP_RESET);
	return true;
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

bool has_overflowed(u64 ctr)
{
	return csr_read(CSR_SCOUNTOVF) & BIT(ctr);
}

void lcofi_clear(void)
{
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
}

/* --- calls that name a set of counters ------------------------------------------ */

/*
 * Shifts a mask that is too wide for a register so that it begins with its lowest
 * counter, and returns the rest: the counters from BASE + XLEN on.
 */
static ulong mask_split(ulong *base, u64 *mask)
{
	u64 first;

	if (XLEN == 64 || !(*mask >> 32))
		return 0;
	first = lowest(*mask);
	*base += first;
	*mask >>= first;
	return *mask >> 32;
}

static struct sbiret match_call(ulong base, ulong mask, ulong flags, ulong event, u64 data)
{
	return sbi_call6(SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING, base, mask, flags,
			 event, data, high_half(data));
}

struct sbiret pmu_match(ulong base, u64 mask, ulong flags, ulong event, u64 data)
{
	ulong beyond = mask_split(&base, &mask);
	struct sbiret ret = match_call(base, mask, flags, event, data);

	if (beyond && ret.error == SBI_ERR_NOT_SUPPORTED)
		ret = match_call(base + XLEN, beyond, flags, event, data);
	return ret;
}

static struct sbiret start_call(ulong base, ulong mask, ulong flags, u64 value)
{
	return sbi_call6(SBI_EXT_PMU, SBI_PMU_COUNTER_START, base, mask, flags, value,
			 high_half(value), 0);
}

struct sbiret pmu_start(ulong base, u64 mask, ulong flags, u64 value)
{
	ulong beyond = mask_split(&base, &mask);
	struct sbiret ret = start_call(base, mask, flags, value), more;

	if (!beyond)
		return ret;
	more = start_call(base + XLEN, beyond, flags, value);
	return ret.error ? ret : more;
}

static struct sbiret stop_call(ulong base, ulong mask, ulong flags)
{
	return sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, base, mask, flags);
}

struct sbiret pmu_stop(ulong base, u64 mask, ulong flags)
{
	ulong beyond = mask_split(&base, &mask);
	struct sbiret ret = stop_call(base, mask, flags), more;

	if (!beyond)
		return ret;
	more = stop_call(base + XLEN, beyond, flags);
	return ret.error ? ret : more;
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

noinline u64 counted(unsigned int ctr, ulong n)
{
	u64 before = ctr_read_csr(ctr);

	loop_for(n);
	return ctr_read_csr(ctr) - before;
}

/* instret runs from boot, and there is no call of the firmware in between. */
void pmu_calibrate(void)
{
	counted_extra = counted(CTR_INSTRET, 0);
	/* Instructions of this program; without filters also those of the firmware. */
	between_calls = scountovf_is_readable() && qemu_applies_filters() ? 128 : 4096;
}

u64 ctr_value(unsigned int ctr)
{
	if (ctrs.hw & BIT(ctr))
		return ctr_read_csr(ctr);
	if (XLEN == 64)
		return pmu_fw_read(ctr).value;
	return (u64)pmu_fw_read_hi(ctr).value << 32 | pmu_fw_read(ctr).value;
}

/*
 * Firmware may leave counter 3 at its last value, to determine its width. QEMU with
 * -icount aborts when a cache event then overflows on a hart without Sscofpmf.
 */
static void ctr_zero(u64 ctr)
{
	if (pmu_match(ctr, 1, 0, EVENT_DTLB_READ_MISS, 0).error)
		return;
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, 0);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
}

/*
 * After a counter has run from a small value, QEMU 10.0.2 loses its next overflow on
 * RV32: this raises the overflow that is lost.
 */
static void ctr_overflow(u64 ctr)
{
	if (pmu_match(ctr, 1, 0, EVENT_INSTRUCTIONS, 0).error)
		return;
	pmu_start(ctr, 1, PMU_START_SET_INIT_VALUE, -1000ULL);
	loop_for(2000);
	pmu_stop(ctr, 1, PMU_STOP_RESET);
}

/* Reset counters one by one, because some firmware stops in the middle of a mask. */
void pmu_reset(void)
{
	u64 i;

	irqs_disable();
	for (i = 0; i < ctrs.nr && i < 64; i++)
		if ((ctrs.hw | ctrs.fw) & BIT(i))
			pmu_stop(i, 1, PMU_STOP_RESET);
	for (i = 3; i < 32; i++) {
		if (!(ctrs.prog & BIT(i)))
			continue;
		if (XLEN == 32 && scountovf_is_readable())
			ctr_overflow(i);
		ctr_zero(i);
	}
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

u64 ctr_for(ulong event, ulong flags)
{
	struct sbiret ret = pmu_match(0, ctrs.hw, flags, event, 0);

	return ret.error ? ALL_ONES : ret.value;
}

u64 fw_ctr_for(ulong event)
{
	struct sbiret ret = pmu_match(0, ctrs.fw, PMU_CFG_CLEAR_VALUE, event, 0);

	return ret.error ? ALL_ONES : ret.value;
}

bool is_running(u64 ctr)
{
	return counted(ctr, 100) != 0;
}

noinline u64 started_for(unsigned int ctr, u64 value, ulong n)
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
