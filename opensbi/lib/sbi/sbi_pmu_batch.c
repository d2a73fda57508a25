/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The SBI PMU batch extension: stop, program, load and start any number of
 * counters by one call. Section numbers are those of its specification.
 *
 * The supervisor is not trusted. Words of the shared page are loaded with access
 * faults expected, and only the copy is checked and used: another hart may change
 * the page meanwhile. sbi_pmu.c decides which counter can count which event, as it
 * does for the standard calls; its decisions are cached, for they cost more than
 * all the rest.
 */

#include <sbi/riscv_asm.h>
#include <sbi/riscv_encoding.h>
#include <sbi/sbi_bitops.h>
#include <sbi/sbi_domain.h>
#include <sbi/sbi_ecall_interface.h>
#include <sbi/sbi_error.h>
#include <sbi/sbi_hart.h>
#include <sbi/sbi_hart_protection.h>
#include <sbi/sbi_heap.h>
#include <sbi/sbi_pmu.h>
#include <sbi/sbi_pmu_batch.h>
#include <sbi/sbi_scratch.h>
#include <sbi/sbi_shmem.h>
#include <sbi/sbi_string.h>

/* Configurations that a hart caches. */
#define BATCH_CONFIG_BITS	6

/* No page: the addresses of pages are aligned. */
#define BATCH_NO_PAGE		((struct sbi_pmu_batch_shmem *)-1UL)

#define BATCH_FIRST_HPM		3

/* Low counters come first and are used most, so a test of each bit is quick. */
#define for_each_ctr(ctr, mask, rest)						\
	for (ctr = 0, rest = (mask); rest; ctr++, rest >>= 1)			\
		if (rest & 1)

/* The same for counters from 3 on. */
#define for_each_hpm(ctr, mask, rest)						\
	for (ctr = BATCH_FIRST_HPM, rest = (mask) >> BATCH_FIRST_HPM; rest;	\
	     ctr++, rest >>= 1)							\
		if (rest & 1)

/** A configuration that sbi_pmu.c has accepted */
struct batch_config {
	u64 event_data;
	/* The slot's event_idx, and its flags in the upper half */
	u64 event;
	/* mhpmevent, filters included; of cycle and instret mcyclecfg, minstretcfg */
	u64 csr;
	/* Counters that have accepted it */
	u64 ctrs;
};

/** What is known of a hart's counters, and of the page of its current domain */
struct batch_hart {
	/* The domain that made the last call, and its page */
	struct sbi_domain *dom;
	struct sbi_pmu_batch_shmem *page;
	struct sbi_pmu_hart_state *phs;
	/* All hardware counters, those that are programmable, and firmware counters */
	u64 hw_ctrs;
	u64 hpm_ctrs;
	u64 fw_ctrs;
	unsigned int first_fw_ctr;
	bool has_sscofpmf;
	bool has_smcntrpmf;
	struct batch_config config[1 << BATCH_CONFIG_BITS];
};

static unsigned long batch_ptr_offset;

static struct batch_hart *batch_thishart(void)
{
	return sbi_scratch_read_type(sbi_scratch_thishart_ptr(), void *, batch_ptr_offset);
}

/* --- counter CSRs ----------------------------------------------------------------- */

/*
 * The number of a CSR is part of the instruction. csr_write_num() finds it by a
 * switch, which takes 20 instructions; the jump into a table of instructions by
 * the counter's index takes 7. Entries are 8 bytes: the access, and a jump.
 *
 * CTR comes from a mask that was checked against the counters that exist.
 */
#define BATCH_CSR_TABLE(insn, base, first, list, ctr, val)			\
	do {									\
		unsigned long entry_;						\
										\
		asm volatile(							\
			"lla	%[entry], 1f - 8 * " #first "\n"		\
			"slli	%[index], %[index], 3\n"			\
			"add	%[entry], %[entry], %[index]\n"			\
			"jr	%[entry]\n"					\
			".option push\n"					\
			".option norvc\n"					\
			"1:\n"							\
			".irp	n, " list "\n"					\
			insn "	" STR(base) " + \\n, %[value]\n"		\
			"j	2f\n"						\
			".endr\n"						\
			".option pop\n"						\
			"2:"							\
			: [entry] "=&r"(entry_), [index] "+&r"(ctr)		\
			: [value] "r"((unsigned long)(val)) : "memory");	\
	} while (0)

#define BATCH_HPM_LIST								\
	"3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "	\
	"21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"
/* There is no counter 1: its entry is never used. */
#define BATCH_CTR_LIST		"0, 0, 2, " BATCH_HPM_LIST

#define BATCH_HPM_CSR(insn, base, ctr, val)					\
	BATCH_CSR_TABLE(insn, base, 3, BATCH_HPM_LIST, ctr, val)
#define BATCH_CTR_CSR(insn, base, ctr, val)					\
	BATCH_CSR_TABLE(insn, base, 0, BATCH_CTR_LIST, ctr, val)

/* CSR_MHPMEVENT3 and CSR_MHPMEVENT3H are those of index 3. */
#define BATCH_CSR_MHPMEVENT	0x320
#define BATCH_CSR_MHPMEVENTH	0x720

_Static_assert(BATCH_CSR_MHPMEVENT + 3 == CSR_MHPMEVENT3, "base of mhpmevent");
_Static_assert(BATCH_CSR_MHPMEVENTH + 3 == CSR_MHPMEVENT3H, "base of mhpmeventh");

static inline void batch_ctr_write(unsigned long ctr, u64 value)
{
#if __riscv_xlen == 32
	unsigned long high = ctr, low = ctr;

	/* The lower half must not carry into the upper one, be it old or new. */
	BATCH_CTR_CSR("csrw", CSR_MCYCLE, ctr, 0);
	BATCH_CTR_CSR("csrw", CSR_MCYCLEH, high, value >> 32);
	BATCH_CTR_CSR("csrw", CSR_MCYCLE, low, value);
#else
	BATCH_CTR_CSR("csrw", CSR_MCYCLE, ctr, value);
#endif
}

static inline void batch_event_write(const struct batch_hart *hart, unsigned long ctr, u64 value)
{
#if __riscv_xlen == 32
	unsigned long high = ctr;

	BATCH_HPM_CSR("csrw", BATCH_CSR_MHPMEVENT, ctr, value);
	/* The upper half came with Sscofpmf. */
	if (hart->has_sscofpmf)
		BATCH_HPM_CSR("csrw", BATCH_CSR_MHPMEVENTH, high, value >> 32);
#else
	BATCH_HPM_CSR("csrw", BATCH_CSR_MHPMEVENT, ctr, value);
#endif
}

static inline void batch_event_clear_of(unsigned long ctr)
{
#if __riscv_xlen == 32
	BATCH_HPM_CSR("csrc", BATCH_CSR_MHPMEVENTH, ctr, MHPMEVENTH_OF);
#else
	BATCH_HPM_CSR("csrc", BATCH_CSR_MHPMEVENT, ctr, MHPMEVENT_OF);
#endif
}

#if __riscv_xlen == 32
#define BATCH_EVENT_ZERO(n)							\
	if (ctrs & 1U << (n)) {							\
		csr_write(BATCH_CSR_MHPMEVENT + (n), 0);			\
		if (hart->has_sscofpmf)						\
			csr_write(BATCH_CSR_MHPMEVENTH + (n), 0);		\
	}
#else
#define BATCH_EVENT_ZERO(n)							\
	if (ctrs & 1U << (n))							\
		csr_write(BATCH_CSR_MHPMEVENT + (n), 0)
#endif

/* Low counters are used most: tests of their bits are cheaper than a jump for each. */
static inline void batch_events_zero(const struct batch_hart *hart, u32 ctrs)
{
	BATCH_EVENT_ZERO(3);
	BATCH_EVENT_ZERO(4);
	BATCH_EVENT_ZERO(5);
	BATCH_EVENT_ZERO(6);
	BATCH_EVENT_ZERO(7);
	BATCH_EVENT_ZERO(8);
	BATCH_EVENT_ZERO(9);
	if (!(ctrs >> 10))
		return;
	BATCH_EVENT_ZERO(10);
	BATCH_EVENT_ZERO(11);
	BATCH_EVENT_ZERO(12);
	BATCH_EVENT_ZERO(13);
	BATCH_EVENT_ZERO(14);
	BATCH_EVENT_ZERO(15);
	BATCH_EVENT_ZERO(16);
	BATCH_EVENT_ZERO(17);
	BATCH_EVENT_ZERO(18);
	BATCH_EVENT_ZERO(19);
	BATCH_EVENT_ZERO(20);
	BATCH_EVENT_ZERO(21);
	BATCH_EVENT_ZERO(22);
	BATCH_EVENT_ZERO(23);
	BATCH_EVENT_ZERO(24);
	BATCH_EVENT_ZERO(25);
	BATCH_EVENT_ZERO(26);
	BATCH_EVENT_ZERO(27);
	BATCH_EVENT_ZERO(28);
	BATCH_EVENT_ZERO(29);
	BATCH_EVENT_ZERO(30);
	BATCH_EVENT_ZERO(31);
}

/* Runs only when a configuration is new. */
static u64 batch_event_read(const struct batch_hart *hart, unsigned int ctr)
{
	u64 value = csr_read_num(CSR_MHPMEVENT3 + ctr - 3);

#if __riscv_xlen == 32
	if (hart->has_sscofpmf)
		value |= (u64)csr_read_num(CSR_MHPMEVENT3H + ctr - 3) << 32;
#endif
	return value;
}

static u64 batch_fixed_cfg_read(const struct batch_hart *hart, unsigned int ctr)
{
	unsigned int csr = ctr ? CSR_MINSTRETCFG : CSR_MCYCLECFG;
	u64 value;

	if (!hart->has_smcntrpmf)
		return 0;

	value = csr_read_num(csr);
#if __riscv_xlen == 32
	value |= (u64)csr_read_num(ctr ? CSR_MINSTRETCFGH : CSR_MCYCLECFGH) << 32;
#endif
	return value;
}

static void batch_fixed_cfg_write(const struct batch_hart *hart, unsigned int ctr, u64 value)
{
	if (!hart->has_smcntrpmf)
		return;

	csr_write_num(ctr ? CSR_MINSTRETCFG : CSR_MCYCLECFG, value);
#if __riscv_xlen == 32
	csr_write_num(ctr ? CSR_MINSTRETCFGH : CSR_MCYCLECFGH, value >> 32);
#endif
}

/* --- the page --------------------------------------------------------------------- */

/* The event of a slot: event_idx, with the flags in the upper half, and event_data. */
#if __riscv_xlen == 32
static inline int batch_slot_load(const struct sbi_pmu_batch_slot *slot, u64 *event,
				  u64 *event_data)
{
	u32 idx, flags;
	int rc;

	rc = sbi_shmem_load_u64(&slot->event_data, event_data);
	if (!rc)
		rc = sbi_shmem_load_u32(&slot->event_idx, &idx);
	if (!rc)
		rc = sbi_shmem_load_u32(&slot->flags, &flags);
	if (!rc)
		*event = (u64)flags << 32 | idx;
	return rc;
}
#else
/* Two loads between one change of mtvec and back. */
static inline int batch_slot_load(const struct sbi_pmu_batch_slot *slot, u64 *event,
				  u64 *event_data)
{
	struct sbi_trap_info trap;
	register unsigned long tinfo asm("a3") = (unsigned long)&trap;
	unsigned long mtvec = (unsigned long)sbi_hart_expected_trap;
	unsigned long data, idx_flags;

	trap.cause = 0;
	asm volatile(SBI_SHMEM_TRAP_BEGIN
		     "ld	%[data], 8(%[slot])\n"
		     "ld	%[idx_flags], 16(%[slot])\n"
		     SBI_SHMEM_TRAP_END
		     : [mtvec] "+&r"(mtvec), [data] "=&r"(data), [idx_flags] "=&r"(idx_flags),
		       [trap] "+m"(trap)
		     : [tinfo] "r"(tinfo), [slot] "r"(slot)
		     : "a4");
	*event = idx_flags;
	*event_data = data;
	return trap.cause ? SBI_EINVALID_ADDR : 0;
}
#endif

_Static_assert(__builtin_offsetof(struct sbi_pmu_batch_slot, event_data) == 8, "slot layout");
_Static_assert(__builtin_offsetof(struct sbi_pmu_batch_slot, event_idx) == 16, "slot layout");
_Static_assert(__builtin_offsetof(struct sbi_pmu_batch_slot, flags) == 20, "slot layout");

static int batch_map(const struct sbi_pmu_batch_shmem *page)
{
	return sbi_hart_protection_map_range((unsigned long)page, SBI_PMU_BATCH_SHMEM_SIZE);
}

static void batch_unmap(const struct sbi_pmu_batch_shmem *page)
{
	sbi_hart_protection_unmap_range((unsigned long)page, SBI_PMU_BATCH_SHMEM_SIZE);
}

static int batch_pages_setup(struct sbi_domain *dom, struct sbi_domain_data *data, void *ptr)
{
	/* BATCH_NO_PAGE for each hart. */
	sbi_memset(ptr, 0xff, data->data_size);
	return 0;
}

/** The pages of a domain, by hart index */
static struct sbi_domain_data batch_pages = {
	.data_setup = batch_pages_setup,
};

/* Where the page of this hart and a domain is kept. */
static struct sbi_pmu_batch_shmem **batch_page_ptr(struct sbi_domain *dom)
{
	struct sbi_pmu_batch_shmem **pages = sbi_domain_data_ptr(dom, &batch_pages);

	return pages ? pages + current_hartindex() : NULL;
}

/* This hart and the page of its current domain, or an SBI error. */
static inline int batch_hart_get(struct batch_hart **hartp)
{
	struct sbi_domain *dom = sbi_domain_thishart_ptr();
	struct batch_hart *hart = batch_thishart();
	struct sbi_pmu_batch_shmem **page;

	if (!hart)
		return SBI_ENO_SHMEM;
	if (unlikely(hart->dom != dom)) {
		page = batch_page_ptr(dom);
		hart->dom = dom;
		hart->page = page ? *page : BATCH_NO_PAGE;
	}

	*hartp = hart;
	return hart->page == BATCH_NO_PAGE ? SBI_ENO_SHMEM : 0;
}

/* --- firmware counters, by the standard functions ----------------------------------- */

/* Base and mask of one counter: on RV32 masks are shorter than the numbers go. */
#define batch_base(ctr)		((ctr) & ~(__riscv_xlen - 1UL))
#define batch_bit(ctr)		(1UL << ((ctr) & (__riscv_xlen - 1UL)))

static void batch_std_stop(unsigned int ctr, unsigned long flags)
{
	/* An error says that the counter did not run, which is the wanted state. */
	sbi_pmu_ctr_stop(batch_base(ctr), batch_bit(ctr), flags);
}

static u64 batch_fw_running(const struct batch_hart *hart)
{
	return (u64)hart->phs->fw_counters_started << hart->first_fw_ctr;
}

static void batch_fw_stop(const struct batch_hart *hart, u64 ctrs)
{
	unsigned int ctr;
	u64 rest;

	for_each_ctr(ctr, ctrs & batch_fw_running(hart), rest)
		batch_std_stop(ctr, 0);
}

static int batch_fw_start(const struct sbi_pmu_batch_shmem *page, u64 ctrs, u64 load, u64 *failed)
{
	unsigned int ctr;
	u64 rest, value = 0;
	int rc;

	for_each_ctr(ctr, ctrs, rest) {
		unsigned long flags = 0;

		if (load >> ctr & 1) {
			flags = SBI_PMU_START_FLAG_SET_INIT_VALUE;
			rc = sbi_shmem_load_u64(&page->slot[ctr].value, &value);
			if (rc)
				return rc;
		}
		rc = sbi_pmu_ctr_start(batch_base(ctr), batch_bit(ctr), flags, value);
		if (rc && rc != SBI_EALREADY_STARTED)
			*failed |= 1ULL << ctr;
	}

	return 0;
}

/* --- section 6.3: program ----------------------------------------------------------- */

static inline struct batch_config *batch_config_entry(struct batch_hart *hart,
						      u64 event, u64 event_data)
{
	/* Fibonacci hashing: the upper bits of the product depend on all bits. */
	u64 hash = (event ^ event_data) * 0x9e3779b97f4a7c15ULL;

	return &hart->config[hash >> (64 - BATCH_CONFIG_BITS)];
}

static inline bool batch_config_fits(const struct batch_config *config, unsigned long ctr,
				     u64 event, u64 event_data)
{
	return config->event == event && config->event_data == event_data &&
	       config->ctrs >> ctr & 1;
}

static void batch_config_add(struct batch_hart *hart, unsigned int ctr,
			     u64 event, u64 event_data)
{
	struct batch_config *config = batch_config_entry(hart, event, event_data);
	bool is_hpm = ctr >= BATCH_FIRST_HPM;
	u64 csr;

	/* An entry has one CSR value: that of cycle, of instret, or of other counters. */
	if (config->event != event || config->event_data != event_data ||
	    !is_hpm || !(config->ctrs & hart->hpm_ctrs))
		config->ctrs = 0;
	csr = is_hpm ? batch_event_read(hart, ctr) & ~(u64)MHPMEVENT_OF :
		       batch_fixed_cfg_read(hart, ctr);
	/* Counters may differ in the bits of mhpmevent that they implement. */
	if (config->csr != csr)
		config->ctrs = 0;
	config->event = event;
	config->event_data = event_data;
	config->csr = csr;
	config->ctrs |= 1ULL << ctr;
}

/*
 * A counter without an event still leaves M-mode out: with Smcdeleg the supervisor
 * may program it by itself, and cannot set MINH.
 */
static void batch_release(const struct batch_hart *hart, unsigned long ctr)
{
	if (!(hart->hpm_ctrs >> ctr & 1)) {
		batch_std_stop(ctr, SBI_PMU_STOP_FLAG_RESET);
		return;
	}
	hart->phs->active_events[ctr] = SBI_PMU_EVENT_IDX_INVALID;
	if (hart->has_sscofpmf)
		batch_event_write(hart, ctr, MHPMEVENT_MINH);
}

/* Let sbi_pmu_ctr_cfg_match() check and program the counter. */
static bool batch_match(struct batch_hart *hart, unsigned int ctr, u64 event, u64 event_data)
{
	unsigned long flags = event >> 32 & (SBI_PMU_CFG_FLAG_SET_VUINH |
						   SBI_PMU_CFG_FLAG_SET_VSINH |
						   SBI_PMU_CFG_FLAG_SET_UINH |
						   SBI_PMU_CFG_FLAG_SET_SINH);

	batch_std_stop(ctr, SBI_PMU_STOP_FLAG_RESET);
	return sbi_pmu_ctr_cfg_match(batch_base(ctr), batch_bit(ctr), flags, (u32)event,
				     event_data) == (int)ctr;
}

/* Program a counter that batch_program_hpm() did not handle. */
static bool batch_program_ctr(struct batch_hart *hart, unsigned long ctr,
			      u64 event, u64 event_data)
{
	const struct batch_config *config = batch_config_entry(hart, event, event_data);

	if ((u32)event == SBI_PMU_BATCH_NO_EVENT) {
		batch_release(hart, ctr);
		return true;
	}
	if (ctr < BATCH_FIRST_HPM && batch_config_fits(config, ctr, event, event_data)) {
		hart->phs->fixed_counters_used |= 1UL << ctr;
		batch_fixed_cfg_write(hart, ctr, config->csr);
		return true;
	}
	if (!batch_match(hart, ctr, event, event_data)) {
		batch_release(hart, ctr);
		return false;
	}
	if (hart->hw_ctrs >> ctr & 1)
		batch_config_add(hart, ctr, event, event_data);
	return true;
}

/* A programmable counter with a configuration that it has had before. */
static inline bool batch_program_hpm(struct batch_hart *hart, unsigned long ctr,
				     u64 event, u64 event_data)
{
	const struct batch_config *config = batch_config_entry(hart, event, event_data);
	struct sbi_pmu_hart_state *phs = hart->phs;

	if (unlikely(!batch_config_fits(config, ctr, event, event_data)))
		return false;

	/* Keep the state that the PMU extension uses. */
	phs->active_events[ctr] = (u32)event;
	phs->hw_counters_cfg[ctr].event_data = event_data;
	phs->hw_counters_cfg[ctr].flags = event >> 32;
	batch_event_write(hart, ctr, config->csr);
	return true;
}

static int batch_program_others(struct batch_hart *hart, const struct sbi_pmu_batch_shmem *page,
				u64 program, u64 *failed)
{
	u64 event, event_data;
	unsigned int ctr;
	u64 rest;
	int rc;

	for_each_ctr(ctr, program, rest) {
		rc = batch_slot_load(&page->slot[ctr], &event, &event_data);
		if (rc)
			return rc;
		if (!batch_program_ctr(hart, ctr, event, event_data))
			*failed |= 1ULL << ctr;
	}

	return 0;
}

static int batch_program(struct batch_hart *hart, const struct sbi_pmu_batch_shmem *page,
			 u64 program, u64 *failed)
{
	u64 hpm = program & hart->hpm_ctrs, others = program & ~hpm, rest;
	u64 event, event_data;
	unsigned long ctr;
	int rc;

	/*
	 * An event may move from one counter to another: QEMU 10.0.2 counts it on
	 * the counter that had it first only, until that one's mhpmevent is zero.
	 */
	batch_events_zero(hart, hpm);

	for_each_hpm(ctr, hpm, rest) {
		rc = batch_slot_load(&page->slot[ctr], &event, &event_data);
		if (unlikely(rc))
			return rc;
		if (unlikely(!batch_program_hpm(hart, ctr, event, event_data)))
			others |= 1ULL << ctr;
	}

	return others ? batch_program_others(hart, page, others, failed) : 0;
}

/* --- sections 6.4 and 6.5: load and start ------------------------------------------- */

/*
 * OF is cleared before the counter is loaded, and both before it runs: while OF is
 * set the counter would not interrupt again (Sscofpmf).
 */
static int batch_start_hw(const struct batch_hart *hart, const struct sbi_pmu_batch_shmem *page,
			  u64 start, u64 load, unsigned long inhibit)
{
	u64 rest, value, overflown = 0;
	unsigned long ctr;
	int rc;

	if (hart->has_sscofpmf)
		overflown = csr_read(CSR_SCOUNTOVF) & start;
	for_each_hpm(ctr, overflown, rest)
		batch_event_clear_of(ctr);

	for_each_ctr(ctr, load & start, rest) {
		rc = sbi_shmem_load_u64(&page->slot[ctr].value, &value);
		if (unlikely(rc))
			return rc;
		batch_ctr_write(ctr, value);
	}

	csr_write(CSR_MCOUNTINHIBIT, inhibit & ~start);
	return 0;
}

static int batch_start(const struct batch_hart *hart, const struct sbi_pmu_batch_shmem *page,
		       u64 start, u64 load, unsigned long inhibit, u64 *failed)
{
	u64 hw = start & inhibit & hart->hw_ctrs, fw = start & hart->fw_ctrs;
	int rc = 0;

	/* Cycle and instret need no event to be in use. */
	hart->phs->fixed_counters_used |= start & SBI_PMU_CY_IR_MASK;
	if (hw)
		rc = batch_start_hw(hart, page, hw, load, inhibit);
	if (!rc && fw)
		rc = batch_fw_start(page, fw, load, failed);

	return rc;
}

/* --- APPLY -------------------------------------------------------------------------- */

/* Section 6.2; returns mcountinhibit. */
static inline unsigned long batch_stop(const struct batch_hart *hart, u64 stop)
{
	unsigned long inhibit = csr_read(CSR_MCOUNTINHIBIT);

	if (stop & hart->hw_ctrs & ~inhibit) {
		inhibit |= stop & hart->hw_ctrs;
		csr_write(CSR_MCOUNTINHIBIT, inhibit);
	}
	if (stop & hart->fw_ctrs)
		batch_fw_stop(hart, stop);

	return inhibit;
}

static int batch_apply(struct batch_hart *hart, struct sbi_pmu_batch_shmem *page,
		       u64 stop, u64 program, u64 start)
{
	unsigned long inhibit = batch_stop(hart, stop);
	u64 load = 0, failed = 0;
	int rc = 0;

	if (start)
		rc = sbi_shmem_load_u64(&page->load, &load);
	load &= start;

	failed = (program | load) & (~(u64)inhibit & hart->hw_ctrs);
	if ((program | load) & hart->fw_ctrs)
		failed |= (program | load) & batch_fw_running(hart);

	program &= ~failed;
	if (program && !rc)
		rc = batch_program(hart, page, program, &failed);
	start &= ~failed;
	if (start && !rc)
		rc = batch_start(hart, page, start, load, inhibit, &failed);
	if (!rc)
		rc = sbi_shmem_store_u64(&page->failed, failed);
	if (unlikely(rc))
		return rc;

	return failed ? SBI_EFAIL : 0;
}

/*
 * Section 6.1: the extent of the call is unspecified, so stop all counters. Those that
 * were to be programmed have no event, and MINH again, which batch_program() may have
 * cleared.
 */
static int __attribute__((noinline)) batch_abandon(const struct batch_hart *hart, u64 ctrs,
						   u64 program)
{
	unsigned int ctr;
	u64 rest;

	batch_stop(hart, ctrs);
	for_each_ctr(ctr, program, rest)
		batch_release(hart, ctr);

	return SBI_EINVALID_ADDR;
}

int sbi_pmu_batch_apply(u64 stop, u64 program, u64 start)
{
	u64 all = stop | program | start;
	struct batch_hart *hart;
	int rc;

	rc = batch_hart_get(&hart);
	if (rc)
		return rc;
	if (all & ~(hart->hw_ctrs | hart->fw_ctrs))
		return SBI_EINVAL;

	if (batch_map(hart->page))
		return batch_abandon(hart, all, program);
	rc = batch_apply(hart, hart->page, stop, program, start);
	batch_unmap(hart->page);

	return unlikely(rc == SBI_EINVALID_ADDR) ? batch_abandon(hart, all, program) : rc;
}

/* --- RESOLVE ------------------------------------------------------------------------ */

int sbi_pmu_batch_resolve(unsigned long event_idx, u64 event_data)
{
	struct batch_hart *hart;
	u64 ctrs;
	int rc;

	rc = batch_hart_get(&hart);
	if (rc)
		return rc;
	if (event_idx != (u32)event_idx)
		return SBI_EINVAL;

	rc = sbi_pmu_event_resolve(event_idx, event_data, &ctrs);
	if (rc)
		return rc;

	if (batch_map(hart->page))
		return SBI_EINVALID_ADDR;
	rc = sbi_shmem_store_u64(&hart->page->ctrs, ctrs);
	batch_unmap(hart->page);

	return rc;
}

/* --- MAP_EVENTS --------------------------------------------------------------------- */

#ifdef CONFIG_SBI_PMU_BATCH_MAP_EVENTS

/* The map is one for all domains, so none of several may add to it. */
static bool batch_is_only_domain(void)
{
	unsigned int domains = 0;
	struct sbi_domain *dom;

	sbi_domain_for_each(dom)
		domains++;

	return domains == 1;
}

static int batch_map_slot(const struct sbi_pmu_batch_slot *slot, u64 *failed, u64 bit)
{
	u64 event, select, select_mask;
	int rc;

	rc = batch_slot_load(slot, &event, &select_mask);
	if (!rc)
		rc = sbi_shmem_load_u64(&slot->value, &select);
	if (rc)
		return rc;

	if (sbi_pmu_map_event((u32)event, select, select_mask, event >> 32))
		*failed |= bit;
	return 0;
}

int sbi_pmu_batch_map_events(u64 slots)
{
	struct batch_hart *hart;
	unsigned int i;
	u64 rest, failed = 0;
	int rc;

	rc = batch_hart_get(&hart);
	if (rc)
		return rc;
	if (!batch_is_only_domain())
		return SBI_ENOTSUPP;

	if (batch_map(hart->page))
		return SBI_EINVALID_ADDR;
	for_each_ctr(i, slots, rest) {
		rc = batch_map_slot(&hart->page->slot[i], &failed, 1ULL << i);
		if (rc)
			break;
	}
	if (!rc)
		rc = sbi_shmem_store_u64(&hart->page->failed, failed);
	batch_unmap(hart->page);

	return !rc && failed ? SBI_EFAIL : rc;
}

#endif

/* --- SET_SHMEM ---------------------------------------------------------------------- */

static struct batch_hart *batch_hart_alloc(void)
{
	struct sbi_scratch *scratch = sbi_scratch_thishart_ptr();
	unsigned int num = sbi_pmu_num_ctr();
	struct batch_hart *hart;

	/* Without mcountinhibit: harts may differ. */
	if (sbi_hart_priv_version(scratch) < SBI_HART_PRIV_VER_1_11)
		return NULL;
	hart = sbi_zalloc(sizeof(*hart));
	if (!hart)
		return NULL;

	hart->phs = sbi_pmu_thishart_state();
	hart->first_fw_ctr = num - SBI_PMU_FW_CTR_MAX;
	hart->hw_ctrs = (sbi_hart_mhpm_mask(scratch) | SBI_PMU_CY_IR_MASK) &
			((1ULL << hart->first_fw_ctr) - 1);
	hart->hpm_ctrs = hart->hw_ctrs & ~(u64)SBI_PMU_CY_IR_MASK;
	hart->fw_ctrs = ((1ULL << SBI_PMU_FW_CTR_MAX) - 1) << hart->first_fw_ctr;
	hart->has_sscofpmf = sbi_hart_has_extension(scratch, SBI_HART_EXT_SSCOFPMF);
	hart->has_smcntrpmf = sbi_hart_has_extension(scratch, SBI_HART_EXT_SMCNTRPMF);
	sbi_scratch_write_type(scratch, void *, batch_ptr_offset, hart);
	return hart;
}

int sbi_pmu_batch_set_shmem(unsigned long lo, unsigned long hi, unsigned long flags)
{
	struct sbi_domain *dom = sbi_domain_thishart_ptr();
	struct sbi_pmu_batch_shmem **page = batch_page_ptr(dom);
	struct batch_hart *hart = batch_thishart();

	if (flags)
		return SBI_EINVAL;
	if (lo == SBI_PMU_BATCH_SHMEM_DISABLE && hi == SBI_PMU_BATCH_SHMEM_DISABLE) {
		/* This hart has never had a page. */
		if (!hart)
			return 0;
		lo = (unsigned long)BATCH_NO_PAGE;
	} else {
		if (lo & (SBI_PMU_BATCH_SHMEM_SIZE - 1))
			return SBI_EINVAL;
		/* M-mode has no address translation, so it reaches no further. */
		if (hi || !sbi_domain_check_addr_range(dom, lo, SBI_PMU_BATCH_SHMEM_SIZE, PRV_S,
						       SBI_DOMAIN_READ | SBI_DOMAIN_WRITE))
			return SBI_EINVALID_ADDR;
	}
	if (!hart)
		hart = batch_hart_alloc();
	if (!page || !hart)
		return SBI_EFAIL;

	*page = (struct sbi_pmu_batch_shmem *)lo;
	hart->dom = dom;
	hart->page = *page;
	return 0;
}

void sbi_pmu_batch_reset(void)
{
	struct sbi_pmu_batch_shmem **page;
	struct sbi_domain *dom;
	struct batch_hart *hart;

	if (!batch_ptr_offset)
		return;

	sbi_domain_for_each(dom) {
		page = batch_page_ptr(dom);
		if (page)
			*page = BATCH_NO_PAGE;
	}
	hart = batch_thishart();
	if (hart)
		hart->dom = NULL;
}

bool sbi_pmu_batch_supported(void)
{
	const struct sbi_pmu_device *dev = sbi_pmu_get_device();

	if (dev && (dev->hw_counter_enable_irq || dev->hw_counter_disable_irq ||
		    dev->hw_counter_filter_mode))
		return false;
	if (sbi_hart_priv_version(sbi_scratch_thishart_ptr()) < SBI_HART_PRIV_VER_1_11)
		return false;
	if (batch_ptr_offset)
		return true;

	batch_pages.data_size = sizeof(struct sbi_pmu_batch_shmem *) * sbi_hart_count();
	if (sbi_domain_register_data(&batch_pages))
		return false;
	batch_ptr_offset = sbi_scratch_alloc_type_offset(void *);
	if (!batch_ptr_offset)
		sbi_domain_unregister_data(&batch_pages);

	return batch_ptr_offset;
}
