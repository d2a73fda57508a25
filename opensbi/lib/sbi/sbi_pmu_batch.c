/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SBI PMU batch extension: stop, program and start any number of counters
 * in one call. Section numbers are those of its specification.
 *
 * What the supervisor says is input. Every word of the shared page is read once,
 * into a local, and checked there: another hart may change it meanwhile. Which
 * events there are is decided by sbi_pmu.c, from the platform's list, as for the
 * standard calls; what it has decided is remembered.
 */

#include <sbi/riscv_asm.h>
#include <sbi/riscv_encoding.h>
#include <sbi/sbi_bitops.h>
#include <sbi/sbi_domain.h>
#include <sbi/sbi_ecall_interface.h>
#include <sbi/sbi_error.h>
#include <sbi/sbi_hart.h>
#include <sbi/sbi_heap.h>
#include <sbi/sbi_pmu.h>
#include <sbi/sbi_pmu_batch.h>
#include <sbi/sbi_scratch.h>
#include <sbi/sbi_string.h>
#include <sbi/sbi_trap.h>

/* How M-mode is let into the supervisor's memory, before OpenSBI 1.8 and since. */
#if __has_include(<sbi/sbi_hart_protection.h>)
#include <sbi/sbi_hart_protection.h>
#define batch_map(addr, size)	sbi_hart_protection_map_range(addr, size)
#define batch_unmap(addr, size)	sbi_hart_protection_unmap_range(addr, size)
#else
#define batch_map(addr, size)	sbi_hart_map_saddr(addr, size)
#define batch_unmap(addr, size)	sbi_hart_unmap_saddr()
#endif

/* Programs that are remembered; a power of two. */
#define BATCH_NR_EVENTS		32

#define BATCH_CTR_CYCLE		0
#define BATCH_CTR_INSTRET	2
#define BATCH_CTR_FIRST_HPM	3
#define BATCH_FIXED_CTRS	(1ULL << BATCH_CTR_CYCLE | 1ULL << BATCH_CTR_INSTRET)

#define BATCH_FLAGS_INH		(SBI_PMU_CFG_FLAG_SET_VUINH | SBI_PMU_CFG_FLAG_SET_VSINH | \
				 SBI_PMU_CFG_FLAG_SET_UINH | SBI_PMU_CFG_FLAG_SET_SINH)

/* Low counters come first and are used most, so looking for them bit by bit is quick. */
#define for_each_ctr(ctr, mask, rest)						\
	for (ctr = 0, rest = (mask); rest; ctr++, rest >>= 1)			\
		if (rest & 1)

/** What sbi_pmu.c has made of an event */
struct batch_event {
	/* event_data as it was asked for */
	u64 data;
	/* mhpmevent without filters */
	u64 selector;
	/* Counters that have been seen to take it */
	u32 ctrs;
	u32 idx;
};

/** What a hart's supervisor has shared, and what is known of its counters */
struct batch_hart {
	struct sbi_pmu_batch_shmem *shmem;
	/* Whose page it is: another domain must not make it be written */
	const struct sbi_domain *dom;
	u64 hw_ctrs;
	u64 fw_ctrs;
	bool has_sscofpmf;
	bool has_smcntrpmf;
	struct batch_event event[BATCH_NR_EVENTS];
};

static unsigned long batch_ptr_offset;

/*
 * From patches of sbi_pmu.c. Without the first nobody can tell without trying, and
 * RESOLVE is not supported. Without the second each program takes the long way, so
 * that the standard functions know of it.
 */
int __attribute__((weak)) sbi_pmu_event_resolve(uint32_t event_idx, uint64_t event_data,
						uint64_t *selector, uint64_t *ctrs);
void __attribute__((weak)) sbi_pmu_ctr_note_event(uint32_t cidx, uint32_t event_idx,
						  uint64_t event_data, unsigned long flags);

static struct batch_hart *batch_thishart(void)
{
	return sbi_scratch_read_type(sbi_scratch_thishart_ptr(), void *, batch_ptr_offset);
}

/* A word of the page, read once. */
#define batch_read(word)	(*(const volatile typeof(word) *)&(word))

/* --- counter CSRs, whose numbers are part of the instruction --- */

#define BATCH_EACH_HPM(X)						\
	X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)	\
	X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)	\
	X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define BATCH_EACH_CTR(X)	X(0) X(2) BATCH_EACH_HPM(X)

#if __riscv_xlen == 32
#define BATCH_CTR_READ(n)						\
	case n: {							\
		u32 high, low;						\
									\
		do {							\
			high = csr_read(CSR_MCYCLEH + n);		\
			low = csr_read(CSR_MCYCLE + n);			\
		} while (high != csr_read(CSR_MCYCLEH + n));		\
		return (u64)high << 32 | low;				\
	}
#define BATCH_CTR_WRITE(n)						\
	case n:								\
		csr_write(CSR_MCYCLE + n, 0);				\
		csr_write(CSR_MCYCLEH + n, value >> 32);		\
		csr_write(CSR_MCYCLE + n, (u32)value);			\
		break;
#else
#define BATCH_CTR_READ(n)	case n: return csr_read(CSR_MCYCLE + n);
#define BATCH_CTR_WRITE(n)	case n: csr_write(CSR_MCYCLE + n, value); break;
#endif

static u64 batch_ctr_read(unsigned int ctr)
{
	switch (ctr) {
	BATCH_EACH_CTR(BATCH_CTR_READ)
	}
	return 0;
}

static void batch_ctr_write(unsigned int ctr, u64 value)
{
	switch (ctr) {
	BATCH_EACH_CTR(BATCH_CTR_WRITE)
	}
}

/* The halves of mhpmevent on RV32, of which the upper one came with Sscofpmf. */
#if __riscv_xlen == 32
static u64 batch_event_read(const struct batch_hart *hart, unsigned int ctr)
{
	unsigned int n = ctr - BATCH_CTR_FIRST_HPM;
	u64 high = hart->has_sscofpmf ? csr_read_num(CSR_MHPMEVENT3H + n) : 0;

	return high << 32 | csr_read_num(CSR_MHPMEVENT3 + n);
}

static void batch_event_write(const struct batch_hart *hart, unsigned int ctr, u64 value)
{
	unsigned int n = ctr - BATCH_CTR_FIRST_HPM;

	csr_write_num(CSR_MHPMEVENT3 + n, (u32)value);
	if (hart->has_sscofpmf)
		csr_write_num(CSR_MHPMEVENT3H + n, value >> 32);
}
#else
#define BATCH_EVENT_READ(n)	case n: return csr_read(CSR_MHPMEVENT3 + n - 3);
#define BATCH_EVENT_WRITE(n)	case n: csr_write(CSR_MHPMEVENT3 + n - 3, value); break;

static u64 batch_event_read(const struct batch_hart *hart, unsigned int ctr)
{
	switch (ctr) {
	BATCH_EACH_HPM(BATCH_EVENT_READ)
	}
	return 0;
}

static void batch_event_write(const struct batch_hart *hart, unsigned int ctr, u64 value)
{
	switch (ctr) {
	BATCH_EACH_HPM(BATCH_EVENT_WRITE)
	}
}
#endif

static void batch_fixed_cfg_write(unsigned int ctr, u64 cfg)
{
	unsigned int n = ctr == BATCH_CTR_CYCLE ? CSR_MCYCLECFG : CSR_MINSTRETCFG;

#if __riscv_xlen == 32
	csr_write_num(n, (u32)cfg);
	csr_write_num(n == CSR_MCYCLECFG ? CSR_MCYCLECFGH : CSR_MINSTRETCFGH, cfg >> 32);
#else
	csr_write_num(n, cfg);
#endif
}

/* --- firmware counters, by the standard functions --- */

/* Base and mask of one counter: RV32's masks are shorter than the numbers go. */
#define batch_base(ctr)		((ctr) & ~(__riscv_xlen - 1UL))
#define batch_bit(ctr)		(1UL << ((ctr) & (__riscv_xlen - 1UL)))

static int batch_std_stop(unsigned int ctr, unsigned long flags)
{
	return sbi_pmu_ctr_stop(batch_base(ctr), batch_bit(ctr), flags);
}

static void batch_fw_stop(u64 ctrs)
{
	unsigned int ctr;
	u64 rest;

	/* An error means that it did not run, which is what is asked for. */
	for_each_ctr(ctr, ctrs, rest)
		batch_std_stop(ctr, 0);
}

static u64 batch_fw_start(const struct batch_hart *hart, u64 ctrs, u64 load, u64 add)
{
	struct sbi_pmu_batch_shmem *shmem = hart->shmem;
	unsigned int ctr;
	u64 rest, failed = 0;

	for_each_ctr(ctr, ctrs, rest) {
		u64 bit = 1ULL << ctr, value = 0, old = 0;
		unsigned long flags = 0;
		int rc;

		if (load & bit) {
			flags = SBI_PMU_START_FLAG_SET_INIT_VALUE;
			value = batch_read(shmem->slot[ctr].value);
			if (add & bit && !sbi_pmu_ctr_fw_read(ctr, &old))
				value += old;
		}
		rc = sbi_pmu_ctr_start(batch_base(ctr), batch_bit(ctr), flags, value);
		if (rc && rc != SBI_EALREADY_STARTED)
			failed |= bit;
	}

	return failed;
}

/* --- events --- */

static struct batch_event *batch_event_slot(struct batch_hart *hart, u32 idx, u64 data)
{
	u32 hash = idx ^ (idx >> 13) ^ (u32)data;

	return &hart->event[hash & (BATCH_NR_EVENTS - 1)];
}

/* A programmable counter without an event counts nothing, and has no filters to keep. */
static void batch_forget(const struct batch_hart *hart, unsigned int ctr)
{
	if (hart->fw_ctrs & (1ULL << ctr) || !sbi_pmu_ctr_note_event)
		batch_std_stop(ctr, SBI_PMU_STOP_FLAG_RESET);
	else
		sbi_pmu_ctr_note_event(ctr, SBI_PMU_EVENT_IDX_INVALID, 0, 0);
	if (ctr >= BATCH_CTR_FIRST_HPM && hart->hw_ctrs & (1ULL << ctr))
		batch_event_write(hart, ctr, 0);
}

/* Has sbi_pmu.c judge whether the counter may count the event, and how that is told to it. */
static bool batch_learn(struct batch_hart *hart, struct batch_event *event, unsigned int ctr,
			u32 idx, u64 data, u32 flags)
{
	u64 selector = 0;
	int rc;

	batch_std_stop(ctr, SBI_PMU_STOP_FLAG_RESET);
	rc = sbi_pmu_ctr_cfg_match(batch_base(ctr), batch_bit(ctr),
				   flags & (BATCH_FLAGS_INH | SBI_PMU_CFG_FLAG_SET_MINH), idx, data);
	if (rc != (int)ctr)
		return false;
	if (hart->fw_ctrs & (1ULL << ctr))
		return true;

	if (ctr >= BATCH_CTR_FIRST_HPM) {
		selector = batch_event_read(hart, ctr);
		if (hart->has_sscofpmf)
			selector &= ~MHPMEVENT_SSCOF_MASK;
	}
	if (event->idx != idx || event->data != data || event->selector != selector) {
		event->idx = idx;
		event->data = data;
		event->selector = selector;
		event->ctrs = 0;
	}
	event->ctrs |= 1U << ctr;
	return true;
}

static bool batch_knows(const struct batch_event *event, unsigned int ctr, u32 idx, u64 data)
{
	return sbi_pmu_ctr_note_event && ctr < 32 && event->ctrs >> ctr & 1 &&
	       event->idx == idx && event->data == data;
}

/* Writes a program that is known to be good. */
static void batch_write_program(const struct batch_hart *hart, unsigned int ctr, u64 selector,
				u32 flags)
{
	u64 inh = sbi_pmu_batch_flags_to_inh(flags);

	if (ctr < BATCH_CTR_FIRST_HPM) {
		if (hart->has_smcntrpmf)
			batch_fixed_cfg_write(ctr, inh);
		return;
	}

	batch_event_write(hart, ctr, hart->has_sscofpmf ? selector | inh : selector);
}

/* Section 6.3: one counter that is stopped gets the program in its slot. */
static bool batch_program_ctr(struct batch_hart *hart, unsigned int ctr)
{
	struct sbi_pmu_batch_slot *slot = &hart->shmem->slot[ctr];
	u32 idx = batch_read(slot->event_idx);
	u32 flags = batch_read(slot->flags);
	u64 data = batch_read(slot->event_data);
	struct batch_event *event;

	if (idx == SBI_PMU_BATCH_NO_EVENT) {
		batch_forget(hart, ctr);
		return true;
	}

	event = batch_event_slot(hart, idx, data);
	if (batch_knows(event, ctr, idx, data)) {
		sbi_pmu_ctr_note_event(ctr, idx, data, flags);
	} else if (!batch_learn(hart, event, ctr, idx, data, flags)) {
		batch_forget(hart, ctr);
		return false;
	}
	if (hart->fw_ctrs & (1ULL << ctr))
		return true;

	batch_write_program(hart, ctr, event->selector, flags);
	return true;
}

/* --- APPLY --- */

static void batch_stop(struct batch_hart *hart, u64 stop, unsigned long *inhibit)
{
	u64 fw = stop & hart->fw_ctrs;

	if (stop & hart->hw_ctrs & ~*inhibit) {
		*inhibit |= stop & hart->hw_ctrs;
		csr_write(CSR_MCOUNTINHIBIT, *inhibit);
	}
	if (fw)
		batch_fw_stop(fw);
}

static u64 batch_overflowed(const struct batch_hart *hart)
{
	return hart->has_sscofpmf ? csr_read(CSR_SCOUNTOVF) : 0;
}

static void batch_save(struct batch_hart *hart, u64 save, u64 overflowed)
{
	struct sbi_pmu_batch_shmem *shmem = hart->shmem;
	unsigned int ctr;
	u64 rest, value;

	for_each_ctr(ctr, save, rest) {
		if (hart->hw_ctrs & (1ULL << ctr))
			value = batch_ctr_read(ctr);
		else if (sbi_pmu_ctr_fw_read(ctr, &value))
			value = 0;
		shmem->slot[ctr].saved = value;
	}
	shmem->overflowed = overflowed & save;
}

static u64 batch_program(struct batch_hart *hart, u64 program)
{
	unsigned int ctr;
	u64 rest, failed = 0;

	/*
	 * First all forget what they had: an event may move from one counter to
	 * another, and QEMU 10.0.2 counts it only on the one that had it first,
	 * until that is given an event of zero without filters.
	 */
	for_each_ctr(ctr, program & hart->hw_ctrs & ~BATCH_FIXED_CTRS, rest)
		batch_event_write(hart, ctr, 0);

	for_each_ctr(ctr, program, rest) {
		if (!batch_program_ctr(hart, ctr))
			failed |= 1ULL << ctr;
	}

	return failed;
}

/*
 * OF is cleared before the value is written, and both before the counter runs:
 * whoever starts a counter has dealt with its overflow, and while OF is set it
 * would not interrupt again (Sscofpmf).
 */
static void batch_clear_of(const struct batch_hart *hart, u64 ctrs)
{
	unsigned int ctr;
	u64 rest;

	for_each_ctr(ctr, ctrs, rest)
		batch_event_write(hart, ctr, batch_event_read(hart, ctr) & ~MHPMEVENT_OF);
}

static void batch_load(struct batch_hart *hart, u64 load, u64 add)
{
	struct sbi_pmu_batch_shmem *shmem = hart->shmem;
	unsigned int ctr;
	u64 rest;

	for_each_ctr(ctr, load, rest) {
		u64 value = batch_read(shmem->slot[ctr].value);

		if (add >> ctr & 1)
			value += batch_ctr_read(ctr);
		batch_ctr_write(ctr, value);
	}
}

static u64 batch_start(struct batch_hart *hart, u64 start, u64 load, u64 add, u64 overflowed,
		       unsigned long inhibit)
{
	u64 hw = start & inhibit, fw = start & hart->fw_ctrs;

	/* Of a counter that has been programmed OF is clear, whatever it was before. */
	if (overflowed & hw)
		batch_clear_of(hart, overflowed & hw & ~BATCH_FIXED_CTRS);
	if (load & hw)
		batch_load(hart, load & hw, add);
	if (hw)
		csr_write(CSR_MCOUNTINHIBIT, inhibit & ~hw);

	return fw ? batch_fw_start(hart, fw, load, add) : 0;
}

/* The page is mapped, the masks name counters that exist. */
static u64 batch_apply(struct batch_hart *hart, u64 stop, u64 program, u64 start)
{
	struct sbi_pmu_batch_shmem *shmem = hart->shmem;
	u64 save = batch_read(shmem->save) & stop;
	u64 load = batch_read(shmem->load) & start;
	u64 add = batch_read(shmem->add) & load;
	unsigned long inhibit = csr_read(CSR_MCOUNTINHIBIT);
	u64 overflowed, failed;

	if (stop)
		batch_stop(hart, stop, &inhibit);
	overflowed = batch_overflowed(hart);
	if (save)
		batch_save(hart, save, overflowed);

	failed = sbi_pmu_batch_running(inhibit | hart->fw_ctrs, program, load);
	if (program & ~failed)
		failed |= batch_program(hart, program & ~failed);
	if (start & ~failed)
		failed |= batch_start(hart, start & ~failed, load, add, overflowed & ~program,
				      inhibit);

	return failed;
}

int sbi_pmu_batch_apply(u64 stop, u64 program, u64 start)
{
	struct batch_hart *hart = batch_thishart();
	u64 failed;

	if (!hart || !hart->shmem || hart->dom != sbi_domain_thishart_ptr())
		return SBI_ENO_SHMEM;
	if ((stop | program | start) & ~(hart->hw_ctrs | hart->fw_ctrs))
		return SBI_EINVAL;
	if (batch_map((unsigned long)hart->shmem, SBI_PMU_BATCH_SHMEM_SIZE))
		return SBI_EFAIL;

	failed = batch_apply(hart, stop, program, start);
	if (failed)
		hart->shmem->failed = failed;
	batch_unmap((unsigned long)hart->shmem, SBI_PMU_BATCH_SHMEM_SIZE);

	return failed ? SBI_EFAIL : 0;
}

/* --- RESOLVE --- */

int sbi_pmu_batch_resolve(unsigned long event_idx, u64 event_data)
{
	struct batch_hart *hart = batch_thishart();
	uint64_t selector, ctrs;
	int rc;

	if (!sbi_pmu_event_resolve)
		return SBI_ENOTSUPP;
	if (!hart || !hart->shmem || hart->dom != sbi_domain_thishart_ptr())
		return SBI_ENO_SHMEM;
	if (event_idx != (u32)event_idx)
		return SBI_EINVAL;

	rc = sbi_pmu_event_resolve(event_idx, event_data, &selector, &ctrs);
	if (rc)
		return rc;
	if (batch_map((unsigned long)hart->shmem, SBI_PMU_BATCH_SHMEM_SIZE))
		return SBI_EFAIL;

	hart->shmem->ctrs = ctrs;
	hart->shmem->selector = selector;
	batch_unmap((unsigned long)hart->shmem, SBI_PMU_BATCH_SHMEM_SIZE);
	return 0;
}

/* --- SET_SHMEM --- */

/*
 * Whether there is memory at an address that can be read and written. That a
 * domain may use an address does not say so: the root domain may use all. An
 * addition of zero leaves the word as it is, whoever else writes to it.
 */
static bool batch_is_memory(unsigned long addr)
{
	struct sbi_trap_info trap = {0};
	register unsigned long tinfo asm("a3") = (unsigned long)&trap;
	register unsigned long mtvec asm("a5") = (unsigned long)sbi_hart_expected_trap;

	/* An expected trap wants the trap info in a3, uses a4, and skips 4 bytes. */
	asm volatile("csrrw %[mtvec], " STR(CSR_MTVEC) ", %[mtvec]\n"
		     ".option push\n"
		     ".option norvc\n"
		     "lw a4, 0(%[addr])\n"
		     "amoadd.w a4, zero, (%[addr])\n"
		     ".option pop\n"
		     "csrw " STR(CSR_MTVEC) ", %[mtvec]"
		     : [mtvec] "+&r" (mtvec), [tinfo] "+&r" (tinfo)
		     : [addr] "r" (addr)
		     : "a4", "memory");

	return !trap.cause;
}

static bool batch_can_share(const struct sbi_domain *dom, unsigned long addr)
{
	bool is_memory;

	if (!sbi_domain_check_addr_range(dom, addr, SBI_PMU_BATCH_SHMEM_SIZE, PRV_S,
					 SBI_DOMAIN_READ | SBI_DOMAIN_WRITE))
		return false;
	if (batch_map(addr, SBI_PMU_BATCH_SHMEM_SIZE))
		return false;

	is_memory = batch_is_memory(addr);
	batch_unmap(addr, SBI_PMU_BATCH_SHMEM_SIZE);
	return is_memory;
}

static struct batch_hart *batch_thishart_alloc(void)
{
	struct batch_hart *hart = batch_thishart();

	if (!hart) {
		hart = sbi_zalloc(sizeof(*hart));
		sbi_scratch_write_type(sbi_scratch_thishart_ptr(), void *, batch_ptr_offset, hart);
	}

	return hart;
}

static void batch_find_ctrs(struct batch_hart *hart)
{
	struct sbi_scratch *scratch = sbi_scratch_thishart_ptr();
	unsigned int num = sbi_pmu_num_ctr();
	u64 all = num < 64 ? (1ULL << num) - 1 : ~0ULL;
	u64 hw = (num - SBI_PMU_FW_CTR_MAX) < 64 ? (1ULL << (num - SBI_PMU_FW_CTR_MAX)) - 1 : ~0ULL;

	hart->hw_ctrs = hw & (sbi_hart_mhpm_mask(scratch) | SBI_PMU_CY_IR_MASK);
	hart->fw_ctrs = all & ~hw;
	hart->has_sscofpmf = sbi_hart_has_extension(scratch, SBI_HART_EXT_SSCOFPMF);
	hart->has_smcntrpmf = sbi_hart_has_extension(scratch, SBI_HART_EXT_SMCNTRPMF);
}

int sbi_pmu_batch_set_shmem(unsigned long lo, unsigned long hi, unsigned long flags)
{
	const struct sbi_domain *dom = sbi_domain_thishart_ptr();
	struct batch_hart *hart;

	if (flags)
		return SBI_EINVAL;
	if (lo == SBI_PMU_BATCH_SHMEM_DISABLE && hi == SBI_PMU_BATCH_SHMEM_DISABLE) {
		sbi_pmu_batch_reset(sbi_scratch_thishart_ptr());
		return 0;
	}
	if (lo & (SBI_PMU_BATCH_SHMEM_SIZE - 1))
		return SBI_EINVAL;
	/* M-mode has no address translation: what lies above its registers it can not reach. */
	if (hi || !batch_can_share(dom, lo))
		return SBI_EINVALID_ADDR;

	hart = batch_thishart_alloc();
	if (!hart)
		return SBI_EFAIL;

	batch_find_ctrs(hart);
	hart->dom = dom;
	hart->shmem = (struct sbi_pmu_batch_shmem *)lo;
	return 0;
}

void sbi_pmu_batch_reset(struct sbi_scratch *scratch)
{
	struct batch_hart *hart;

	if (!batch_ptr_offset)
		return;

	hart = sbi_scratch_read_type(scratch, void *, batch_ptr_offset);
	if (hart)
		sbi_memset(hart, 0, sizeof(*hart));
}

bool sbi_pmu_batch_supported(void)
{
	const struct sbi_pmu_device *dev = sbi_pmu_get_device();

	if (dev && (dev->hw_counter_enable_irq || dev->hw_counter_disable_irq ||
		    dev->hw_counter_filter_mode))
		return false;
	if (sbi_hart_priv_version(sbi_scratch_thishart_ptr()) < SBI_HART_PRIV_VER_1_11)
		return false;
	if (!batch_ptr_offset)
		batch_ptr_offset = sbi_scratch_alloc_type_offset(void *);

	return batch_ptr_offset;
}
