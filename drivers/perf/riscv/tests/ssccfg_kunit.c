// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the Ssccfg backend with simulated CSRs. An access to a counter that is not delegated or
 * not selected, which traps with Smcdeleg, is reported.
 */

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/perf/riscv_pmu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/pmu_csr.h>

#include "../backend.h"
#include "../csr.h"
#include "../event.h"
#include "../pmu.h"
#include "../sbi/call.h"
#include "../ssccfg/ssccfg.h"
#include "fake_backend.h"

/* cycle, instret and four programmable counters */
#define FILE_HPMS	(BIT(0) | BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6))
#define FILE_FIXED	(BIT(0) | BIT(2))
#define FILE_FW		(BIT_ULL(40) | BIT_ULL(41))
/* Value of siselect before each call: a register of AIA, which the backend has to restore. */
#define FILE_SELECT	0x72

#define FILE_DTLB	RISCV_PMU_EVENT_CACHE(DTLB, OP_READ, MISS)
#define FILE_SEL_CYCLES	0x11
#define FILE_SEL_INSNS	0x12
#define FILE_SEL_DTLB	0x13

/* Selectors of the events, for the simulated firmware or as the table of a core. */
static const struct riscv_pmu_selector file_selectors[] = {
	{ RISCV_PMU_EVENT_CYCLES,	FILE_SEL_CYCLES },
	{ RISCV_PMU_EVENT_INSTRUCTIONS,	FILE_SEL_INSNS },
	{ FILE_DTLB,			FILE_SEL_DTLB },
};

/**
 * struct csr_file - a hart's counter CSRs, and simulated firmware
 * @pmu:	the PMU, for the backend
 * @batch:	the batch for apply
 * @values:	delegated counters
 * @events:	delegated counters with an event register
 * @inhibit:	scountinhibit
 * @select:	siselect
 * @value:	values of the counters
 * @event:	event registers of the counters, as M-mode reads them, with MINH
 * @value_bits:	writable bits of each counter
 * @event_bits:	writable bits of each event register
 * @overflowed:	scountovf
 * @sticky_event: QEMU's bug: a counter with MINH keeps counting its first event
 * @first:	selector of that event; 0: there was none
 * @duplicate_event: QEMU's bug: of several counters with an event only the first counts it
 * @has_sbi:	the firmware has the PMU extension
 * @hpm_of:	hpmcounter number of each hardware counter of the firmware
 * @starts:	number of writes that started counters
 * @stops:	number of writes that stopped counters
 * @fw_calls:	number of firmware calls for firmware counters
 * @matches:	hardware counters that the firmware was asked to configure, by its numbers
 * @violation:	description of the first access that is not allowed, or NULL
 */
struct csr_file {
	struct riscv_pmu	pmu;
	struct riscv_pmu_batch	batch;
	u32			values;
	u32			events;
	u32			inhibit;
	unsigned long		select;
	u64			value[PMU_CSR_CTR_NUM];
	u64			event[PMU_CSR_CTR_NUM];
	u64			value_bits[PMU_CSR_CTR_NUM];
	u64			event_bits[PMU_CSR_CTR_NUM];
	u64			overflowed;
	bool			sticky_event;
	u64			first[PMU_CSR_CTR_NUM];
	bool			duplicate_event;
	bool			has_sbi;
	u8			hpm_of[8];
	unsigned int		starts;
	unsigned int		stops;
	unsigned int		fw_calls;
	u64			matches;
	const char		*violation;
};

#define FILE_MINH	BIT_ULL(62)

static struct csr_file *this_file(void)
{
	return kunit_get_current_test()->priv;
}

/*
 * The violation is reported later, when interrupts are enabled: KUnit allocates memory for a
 * report.
 */
static void file_report(struct csr_file *file, const char *what)
{
	file->violation = file->violation ?: what;
}

/* --- CSRs --- */

static int file_find_delegated(struct cpumask *cpus, u32 *values, u32 *events)
{
	struct csr_file *file = this_file();

	*values = file->values;
	*events = file->events;
	return file->values ? 0 : -ENODEV;
}

static void file_inhibit(u32 ctrs)
{
	struct csr_file *file = this_file();

	if (ctrs & ~file->values)
		file_report(file, "a counter that is not delegated is stopped");
	file->inhibit |= ctrs;
	file->stops++;
}

static void file_uninhibit(u32 ctrs)
{
	struct csr_file *file = this_file();

	if (ctrs & ~file->values)
		file_report(file, "a counter that is not delegated is started");
	file->inhibit &= ~ctrs;
	file->starts++;
}

static unsigned long file_select(unsigned long select)
{
	struct csr_file *file = this_file();
	unsigned long old = file->select;

	file->select = select;
	return old;
}

/* Returns the selected counter. If the access would trap, reports that, and returns another. */
static unsigned int file_selected(struct csr_file *file, u32 delegated)
{
	unsigned long ctr = file->select - PMU_ISELECT_CTR;

	if (ctr < PMU_CSR_CTR_NUM && delegated & BIT(ctr))
		return ctr;

	file_report(file, "an access to a register that is not delegated traps");
	return 0;
}

static bool file_is_second(const struct csr_file *file, unsigned int ctr)
{
	for (unsigned int i = PMU_CSR_CTR_FIRST_HPM; file->duplicate_event && i < ctr; i++) {
		if (!((file->event[i] ^ file->event[ctr]) & PMU_HPMEVENT_SELECTOR))
			return true;
	}

	return false;
}

static u64 file_read_value(void)
{
	struct csr_file *file = this_file();
	unsigned int ctr = file_selected(file, file->values);
	u64 value = file->value[ctr];
	bool counts = (file->event[ctr] & PMU_HPMEVENT_SELECTOR && !file_is_second(file, ctr)) ||
		      file->first[ctr];

	if (counts && !(file->inhibit & BIT(ctr)))
		file->value[ctr] += 7;
	return value;
}

static void file_write_value(u64 value)
{
	struct csr_file *file = this_file();
	unsigned int ctr = file_selected(file, file->values);

	if (!(file->inhibit & BIT(ctr)))
		file_report(file, "a running counter is written");
	/* QEMU 10.0.2 does not detect the next overflow of such a counter. */
	if (file->event[ctr] & PMU_HPMEVENT_OF)
		file_report(file, "a counter is written before its overflow flag is cleared");
	file->value[ctr] = value & file->value_bits[ctr];
}

static u64 file_read_event(void)
{
	struct csr_file *file = this_file();

	return file->event[file_selected(file, file->events)] & ~FILE_MINH;
}

static void file_write_event(u64 event)
{
	struct csr_file *file = this_file();
	unsigned int ctr = file_selected(file, file->events);
	u64 *to = &file->event[ctr];

	if (!(file->inhibit & BIT(ctr)))
		file_report(file, "the event register of a running counter is written");
	*to = (event & file->event_bits[ctr] & ~FILE_MINH) | (*to & FILE_MINH);
	if (file->sticky_event && *to & PMU_HPMEVENT_SELECTOR && !file->first[ctr])
		file->first[ctr] = *to & PMU_HPMEVENT_SELECTOR;
	if (!*to)
		file->first[ctr] = 0;
}

static void file_reload(unsigned int ctr, u64 event, u64 value)
{
	unsigned long select;

	file_inhibit(BIT(ctr));
	select = file_select(PMU_ISELECT_CTR + ctr);
	file_write_event(event);
	file_write_value(value);
	file_select(select);
	file_uninhibit(BIT(ctr));
}

static u64 file_read_ovf(unsigned int csr)
{
	return this_file()->overflowed;
}

/* --- firmware --- */

static struct sbiret file_error(long error)
{
	return (struct sbiret){ .error = error };
}

static u64 file_selector_of(u32 event_idx)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(file_selectors); i++) {
		if (file_selectors[i].event_idx == event_idx)
			return file_selectors[i].selector;
	}

	return 0;
}

static struct sbiret file_info(const struct csr_file *file, unsigned long ctr)
{
	union sbi_pmu_ctr_info info = { .width = 63 };

	if (BIT_ULL(ctr) & FILE_FW)
		info.type = SBI_PMU_CTR_TYPE_FW;
	else if (ctr < ARRAY_SIZE(file->hpm_of) && file->hpm_of[ctr] != PMU_CSR_CTR_TIME)
		info.csr = CSR_CYCLE + file->hpm_of[ctr];
	else
		return file_error(SBI_ERR_INVALID_PARAM);

	return (struct sbiret){ .value = info.value };
}

/* The driver passes masks of one word only, with base 0. */
static struct sbiret file_match(struct csr_file *file, u64 ctrs, u32 event_idx)
{
	unsigned int ctr = __ffs64(ctrs), hpm;
	u64 selector = file_selector_of(event_idx);

	if (ctrs & FILE_FW) {
		file->fw_calls++;
		if (event_idx != RISCV_PMU_EVENT_FW(SBI_PMU_FW_SET_TIMER))
			return file_error(SBI_ERR_NOT_SUPPORTED);
		return (struct sbiret){ .value = __ffs64(ctrs & FILE_FW) };
	}
	if (ctr >= ARRAY_SIZE(file->hpm_of) || !selector)
		return file_error(SBI_ERR_NOT_SUPPORTED);

	file->matches |= ctrs;
	hpm = file->hpm_of[ctr];
	file->inhibit |= BIT(hpm);
	file->event[hpm] = FILE_MINH | (BIT(hpm) & FILE_FIXED ? 0 : selector);
	if (file->sticky_event && !file->first[hpm] && !(BIT(hpm) & FILE_FIXED))
		file->first[hpm] = selector;
	return (struct sbiret){ .value = ctr };
}

static void file_stop(struct csr_file *file, u64 ctrs, unsigned long flags)
{
	file->fw_calls += !!(ctrs & FILE_FW);
	for (unsigned int ctr = 0; ctr < ARRAY_SIZE(file->hpm_of); ctr++) {
		unsigned int hpm = file->hpm_of[ctr];

		if (!(ctrs & BIT(ctr)))
			continue;
		file->inhibit |= BIT(hpm);
		if (!(flags & SBI_PMU_STOP_FLAG_RESET))
			continue;
		file->event[hpm] = 0;
		file->first[hpm] = 0;
	}
}

static struct sbiret file_call(unsigned long fid, unsigned long a0, unsigned long a1,
			       unsigned long a2, unsigned long a3, u64 arg)
{
	struct csr_file *file = this_file();
	u64 ctrs = a0 < 64 ? (u64)a1 << a0 : 0;

	if (!file->has_sbi)
		return file_error(SBI_ERR_NOT_SUPPORTED);

	switch (fid) {
	case SBI_EXT_PMU_NUM_COUNTERS:
		return (struct sbiret){ .value = 42 };
	case SBI_EXT_PMU_COUNTER_GET_INFO:
		return file_info(file, a0);
	case SBI_EXT_PMU_COUNTER_CFG_MATCH:
		return file_match(file, ctrs, a3);
	case SBI_EXT_PMU_COUNTER_START:
		file->fw_calls += !!(ctrs & FILE_FW);
		return (struct sbiret){};
	case SBI_EXT_PMU_COUNTER_STOP:
		file_stop(file, ctrs, a2);
		return (struct sbiret){};
	case SBI_EXT_PMU_COUNTER_FW_READ:
		return (struct sbiret){ .value = 77 };
	}

	return file_error(SBI_ERR_NOT_SUPPORTED);
}

static bool file_has_batch(void)
{
	return false;
}

/* --- each test --- */

static int file_init(struct kunit *test)
{
	static const u8 hpms[] = { 0, 1, 2, 3, 4, 5, 6, 1 };
	struct csr_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	/* The thread is bound to one CPU, because the backend's state is per CPU. */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	file->values = FILE_HPMS;
	file->events = FILE_HPMS;
	file->select = FILE_SELECT;
	file->has_sbi = true;
	memcpy(file->hpm_of, hpms, sizeof(hpms));
	memset(file->value_bits, 0xff, sizeof(file->value_bits));
	memset(file->event_bits, 0xff, sizeof(file->event_bits));
	file->pmu.ops = riscv_pmu_ssccfg_ops;
	file->pmu.hwirq = RV_IRQ_PMU;
	file->pmu.has_filters = true;
	file->pmu.pending_csr = CSR_IP;
	test->priv = file;
	kunit_activate_static_stub(test, riscv_pmu_csr_find_delegated, file_find_delegated);
	kunit_activate_static_stub(test, riscv_pmu_csr_inhibit, file_inhibit);
	kunit_activate_static_stub(test, riscv_pmu_csr_uninhibit, file_uninhibit);
	kunit_activate_static_stub(test, riscv_pmu_csr_select, file_select);
	kunit_activate_static_stub(test, riscv_pmu_csr_read_value, file_read_value);
	kunit_activate_static_stub(test, riscv_pmu_csr_write_value, file_write_value);
	kunit_activate_static_stub(test, riscv_pmu_csr_read_event, file_read_event);
	kunit_activate_static_stub(test, riscv_pmu_csr_write_event, file_write_event);
	kunit_activate_static_stub(test, riscv_pmu_csr_reload, file_reload);
	kunit_activate_static_stub(test, riscv_pmu_csr_read_ovf, file_read_ovf);
	kunit_activate_static_stub(test, riscv_pmu_sbi_pmu, file_call);
	kunit_activate_static_stub(test, riscv_pmu_sbi_has_batch, file_has_batch);
	return 0;
}

static void file_free(struct csr_file *file)
{
	if (file->pmu.priv)
		kfree(to_ssccfg(&file->pmu)->sbi.priv);
	kfree(file->pmu.priv);
	file->pmu.priv = NULL;
}

static void file_exit(struct kunit *test)
{
	file_free(test->priv);
}

static int file_probe(struct csr_file *file)
{
	file_free(file);
	return riscv_pmu_ssccfg_ops.probe(&file->pmu);
}

/* Probes, and resets the numbers of writes. */
static struct csr_file *file_ready(struct kunit *test)
{
	struct csr_file *file = test->priv;

	KUNIT_ASSERT_EQ(test, file_probe(file), 0);
	file->starts = 0;
	file->stops = 0;
	file->fw_calls = 0;
	return file;
}

static void file_expect_no_violation(struct kunit *test, struct csr_file *file)
{
	KUNIT_EXPECT_NULL_MSG(test, file->violation, "%s", file->violation);
	KUNIT_EXPECT_EQ(test, file->select, FILE_SELECT);
}

static int file_apply(struct csr_file *file)
{
	guard(irqsave)();
	file->batch.failed = 0;
	return riscv_pmu_ssccfg_ops.apply(&file->pmu, &file->batch);
}

static u64 file_event_ctrs(struct csr_file *file, u32 event_idx, u64 data)
{
	const struct riscv_pmu_config cfg = { .event_idx = event_idx, .event_data = data };

	return riscv_pmu_ssccfg_ops.event_ctrs(&file->pmu, &cfg);
}

static u64 file_raw_ctrs(struct csr_file *file, u64 selector)
{
	return file_event_ctrs(file, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW_V2, 0),
			       selector);
}

static void file_program(struct csr_file *file, unsigned int ctr, u32 event_idx, u64 data, u32 inh)
{
	file->batch.program |= BIT_ULL(ctr);
	file->batch.setup[ctr].cfg = (struct riscv_pmu_config){
		.event_idx = event_idx, .event_data = data, .inh = inh,
	};
}

/* --- probe --- */

static void probe_finds_all_delegated_counters(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, FILE_HPMS | FILE_FW);
	KUNIT_EXPECT_EQ(test, file->pmu.fixed_ctrs, FILE_FIXED);
	KUNIT_EXPECT_EQ(test, file->pmu.irq_ctrs, FILE_HPMS & ~FILE_FIXED);
	KUNIT_EXPECT_EQ(test, file->pmu.fw_ctrs, FILE_FW);
	KUNIT_EXPECT_EQ(test, file->pmu.raw_bits, 56);
	for (unsigned int ctr = 0; ctr < 7; ctr++) {
		if (!(FILE_HPMS & BIT(ctr)))
			continue;
		KUNIT_EXPECT_EQ(test, file->pmu.ctr[ctr].width, 64);
		KUNIT_EXPECT_EQ(test, file->pmu.ctr[ctr].inh, 0x1f);
		KUNIT_EXPECT_EQ(test, file->pmu.ctr[ctr].csr, CSR_CYCLE + ctr);
	}
	/* All counters are stopped, have no event, and exclude M-mode. */
	KUNIT_EXPECT_EQ(test, file->inhibit & FILE_HPMS, FILE_HPMS);
	for (unsigned int ctr = 0; ctr < 7; ctr++)
		KUNIT_EXPECT_EQ(test, file->event[ctr], FILE_HPMS & BIT(ctr) ? FILE_MINH : 0);
	file_expect_no_violation(test, file);
}

static void probe_fails_without_delegated_counters(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->values = 0;
	KUNIT_EXPECT_EQ(test, file_probe(file), -ENODEV);
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, 0);
	KUNIT_EXPECT_EQ(test, file->stops, 0);
	file_expect_no_violation(test, file);
}

/* The firmware uses the other counters. */
static void undelegated_counters_are_not_accessed(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->values = BIT(0) | BIT(4) | BIT(6);
	file->events = BIT(4);
	KUNIT_ASSERT_EQ(test, file_probe(file), 0);
	/* hpmcounter6 has no event register, so it is not used. cycle does not need one. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, BIT(0) | BIT(4) | FILE_FW);
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[0].inh, 0);
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, FILE_DTLB, 0), BIT(4));
	file_expect_no_violation(test, file);
}

static void widths_and_filters_are_measured(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->value_bits[3] = GENMASK_ULL(39, 0);
	file->value_bits[4] = GENMASK_ULL(9, 0);
	file->event_bits[5] = ~(PMU_HPMEVENT_VSINH | PMU_HPMEVENT_VUINH);
	file->event_bits[6] = ~PMU_HPMEVENT_OF;
	KUNIT_ASSERT_EQ(test, file_probe(file), 0);
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[3].width, 40);
	/* A counter of ten bits is not used, because it wraps too fast to be polled. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs & BIT(4), 0);
	KUNIT_EXPECT_EQ(test, file->pmu.irq_ctrs, BIT(3) | BIT(5));
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[5].inh,
			RISCV_PMU_INH_U | RISCV_PMU_INH_S | RISCV_PMU_INH_M);
	file_expect_no_violation(test, file);
}

/* The firmware's counter numbers may differ from those of the CSRs: masks are translated. */
static void counters_keep_the_firmwares_numbers(struct kunit *test)
{
	static const u8 hpms[] = { 0, 1, 2, 5, 3, 6, 1, 1 };
	struct csr_file *file = test->priv;

	memcpy(file->hpm_of, hpms, sizeof(hpms));
	file = file_ready(test);
	/* The firmware uses the number 4 for another counter, so hpmcounter4 is not used. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, 0x3d | FILE_FW);
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[3].csr, CSR_CYCLE + 5);

	file_program(file, 3, FILE_DTLB, 0, 0);
	file->batch.start = BIT(3);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[5], FILE_MINH | FILE_SEL_DTLB);
	KUNIT_EXPECT_EQ(test, ~file->inhibit & FILE_HPMS, BIT(5));
	file->overflowed = BIT(5);
	KUNIT_EXPECT_EQ(test, riscv_pmu_ssccfg_ops.overflowed(&file->pmu, 0x3c), BIT(3));
	file_expect_no_violation(test, file);
}

static void events_are_from_the_table_without_firmware(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->has_sbi = false;
	file->pmu.selectors = file_selectors;
	file->pmu.nr_selectors = ARRAY_SIZE(file_selectors);
	file = file_ready(test);
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, FILE_HPMS);
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, FILE_DTLB, 0), FILE_HPMS & ~FILE_FIXED);
	/* It is unknown whether the counters exclude M-mode. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[3].inh & RISCV_PMU_INH_M, 0);
	file_program(file, 6, FILE_DTLB, 0, 0);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[6], FILE_SEL_DTLB);
	file_expect_no_violation(test, file);
}

static void raw_and_fixed_events_work_without_firmware_and_table(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->has_sbi = false;
	file = file_ready(test);
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, FILE_DTLB, 0), 0);
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0), BIT(0));
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, RISCV_PMU_EVENT_INSTRUCTIONS, 0), BIT(2));
	KUNIT_EXPECT_EQ(test, file_raw_ctrs(file, 0xabc), FILE_HPMS & ~FILE_FIXED);
	file_expect_no_violation(test, file);
}

/* --- events --- */

static void events_have_the_firmwares_counters(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0),
			FILE_HPMS & ~BIT(2));
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, FILE_DTLB, 0), FILE_HPMS & ~FILE_FIXED);
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, RISCV_PMU_EVENT_HW(BUS_CYCLES), 0), 0);
	KUNIT_EXPECT_EQ(test,
			file_event_ctrs(file, RISCV_PMU_EVENT_FW(SBI_PMU_FW_SET_TIMER), 0),
			FILE_FW);
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, RISCV_PMU_EVENT_FW(SBI_PMU_FW_IPI_SENT), 0),
			0);
	file_expect_no_violation(test, file);
}

/* A counter does not keep the bits of a selector that it does not support (hpmevent is WARL). */
static void raw_events_have_the_counters_that_accept_them(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	file->event_bits[3] &= ~BIT_ULL(7);
	file->event_bits[5] &= ~BIT_ULL(7);
	KUNIT_EXPECT_EQ(test, file_raw_ctrs(file, BIT(7) | 1), BIT(4) | BIT(6));
	/* A counter in use is assumed to accept the event if another one does. */
	file_program(file, 5, FILE_DTLB, 0, 0);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file_raw_ctrs(file, BIT(7) | 1), BIT(4) | BIT(5) | BIT(6));
	KUNIT_EXPECT_EQ(test, file->event[5], FILE_MINH | FILE_SEL_DTLB);
	file->event_bits[4] &= ~BIT_ULL(7);
	file->event_bits[6] &= ~BIT_ULL(7);
	KUNIT_EXPECT_EQ(test, file_raw_ctrs(file, BIT(7) | 1), 0);
	file_expect_no_violation(test, file);
}

static void a_sticky_event_is_restricted_to_its_home(struct kunit *test)
{
	struct csr_file *file = test->priv;
	u64 homes;

	file->sticky_event = true;
	file->pmu.is_qemu = true;
	file = file_ready(test);
	homes = file_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0) & ~FILE_FIXED;
	KUNIT_EXPECT_EQ(test, hweight64(homes), 1);
	homes |= file_event_ctrs(file, RISCV_PMU_EVENT_INSTRUCTIONS, 0) & ~FILE_FIXED;
	homes |= file_event_ctrs(file, FILE_DTLB, 0);
	KUNIT_EXPECT_EQ(test, hweight64(homes), 3);
	/* Other raw events can use the remaining counter, known selectors only their home. */
	KUNIT_EXPECT_EQ(test, file_raw_ctrs(file, 0xabc), FILE_HPMS & ~FILE_FIXED & ~homes);
	KUNIT_EXPECT_EQ(test, file_raw_ctrs(file, FILE_SEL_DTLB),
			file_event_ctrs(file, FILE_DTLB, 0));
	file_expect_no_violation(test, file);
}

static void a_duplicate_event_is_restricted_to_its_home(struct kunit *test)
{
	struct csr_file *file = test->priv;
	u64 cycles, insns;

	file->duplicate_event = true;
	file->pmu.is_qemu = true;
	file = file_ready(test);
	cycles = file_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0) & ~FILE_FIXED;
	insns = file_event_ctrs(file, RISCV_PMU_EVENT_INSTRUCTIONS, 0) & ~FILE_FIXED;
	KUNIT_EXPECT_EQ(test, hweight64(cycles), 1);
	KUNIT_EXPECT_EQ(test, hweight64(insns), 1);
	KUNIT_EXPECT_NE(test, cycles, insns);
	file_expect_no_violation(test, file);
}

/* On hardware, the same result of the test may be due to a slow counter. */
static void qemu_quirk_is_tested_for_on_qemu_only(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->duplicate_event = true;
	file = file_ready(test);
	KUNIT_EXPECT_EQ(test, file_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0) & ~FILE_FIXED,
			FILE_HPMS & ~FILE_FIXED);
	file_expect_no_violation(test, file);
}

/* --- batches --- */

static void a_group_stops_and_starts_by_one_write_each(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	for (unsigned int ctr = 3; ctr <= 6; ctr++) {
		file_program(file, ctr, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW_V2, 0),
			     0x100 + ctr, RISCV_PMU_INH_S | RISCV_PMU_INH_M);
		file->batch.setup[ctr].value = -1000ULL * ctr;
	}
	file->batch.start = file->batch.program;
	file->batch.load = file->batch.program;
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->starts, 1);
	KUNIT_EXPECT_EQ(test, file->stops, 0);
	for (unsigned int ctr = 3; ctr <= 6; ctr++) {
		KUNIT_EXPECT_EQ(test, file->event[ctr],
				FILE_MINH | PMU_HPMEVENT_SINH | (0x100 + ctr));
		KUNIT_EXPECT_EQ(test, file->value[ctr], -1000ULL * ctr);
	}
	KUNIT_EXPECT_EQ(test, ~file->inhibit & FILE_HPMS, 0x78);

	/* A restart from other values writes no config, but clears the overflow flags. */
	file->event[4] |= PMU_HPMEVENT_OF;
	file->batch.stop = file->batch.start;
	file->batch.program = 0;
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->starts, 2);
	KUNIT_EXPECT_EQ(test, file->stops, 1);
	KUNIT_EXPECT_EQ(test, file->event[4], FILE_MINH | PMU_HPMEVENT_SINH | 0x104);
	file_expect_no_violation(test, file);
}

static void a_counter_that_is_only_stopped_is_not_written(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	file_program(file, 3, FILE_DTLB, 0, 0);
	file->batch.start = BIT(3);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	file->event[3] |= PMU_HPMEVENT_OF;
	file->value[3] = 123;
	memset(&file->batch, 0, sizeof(file->batch));
	file->batch.stop = BIT(3);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH | FILE_SEL_DTLB | PMU_HPMEVENT_OF);
	KUNIT_EXPECT_EQ(test, file->value[3], 123);
	KUNIT_EXPECT_EQ(test, file->inhibit & BIT(3), BIT(3));

	file->batch.stop = 0;
	file->batch.release = BIT(3);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH);
	file_expect_no_violation(test, file);
}

/* The fast path for an overflow has the same result as other batches. */
static void an_overflow_is_one_reload(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	file_program(file, 3, FILE_DTLB, 0, RISCV_PMU_INH_U);
	file->batch.start = BIT(3);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	file->event[3] |= PMU_HPMEVENT_OF;
	file->batch.program = 0;
	file->batch.stop = BIT(3);
	file->batch.load = BIT(3);
	file->batch.setup[3].value = -5000ULL;
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH | PMU_HPMEVENT_UINH | FILE_SEL_DTLB);
	KUNIT_EXPECT_EQ(test, file->value[3], -5000ULL);
	KUNIT_EXPECT_EQ(test, ~file->inhibit & FILE_HPMS, BIT(3));
	KUNIT_EXPECT_EQ(test, file->starts, 2);
	KUNIT_EXPECT_EQ(test, file->stops, 1);
	file_expect_no_violation(test, file);
}

static void fixed_counters_have_filters_only(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	file_program(file, 0, RISCV_PMU_EVENT_CYCLES, 0, RISCV_PMU_INH_U | RISCV_PMU_INH_M);
	file_program(file, 2, RISCV_PMU_EVENT_INSTRUCTIONS, 0, RISCV_PMU_INH_S);
	file->batch.start = FILE_FIXED;
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[0], FILE_MINH | PMU_HPMEVENT_UINH);
	KUNIT_EXPECT_EQ(test, file->event[2], FILE_MINH | PMU_HPMEVENT_SINH);
	file_expect_no_violation(test, file);
}

static void a_config_that_the_counter_does_not_keep_fails(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	file->event_bits[4] &= ~BIT_ULL(7);
	file_program(file, 3, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW_V2, 0), BIT(7), 0);
	file_program(file, 4, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW_V2, 0), BIT(7) | 1, 0);
	file->batch.start = BIT(3) | BIT(4);
	KUNIT_EXPECT_NE(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->batch.failed, BIT(4));
	KUNIT_EXPECT_EQ(test, ~file->inhibit & FILE_HPMS, BIT(3));
	KUNIT_EXPECT_EQ(test, file->event[4], FILE_MINH);
	file_expect_no_violation(test, file);
}

static void firmware_counters_are_written_by_the_sbi_backend(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	file_program(file, 3, FILE_DTLB, 0, 0);
	file_program(file, 40, RISCV_PMU_EVENT_FW(SBI_PMU_FW_SET_TIMER), 0, 0);
	file->batch.start = BIT(3) | BIT_ULL(40);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->fw_calls, 2);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH | FILE_SEL_DTLB);
	/* The caller uses the masks again, so they must not be changed. */
	KUNIT_EXPECT_EQ(test, file->batch.start, BIT(3) | BIT_ULL(40));
	KUNIT_EXPECT_EQ(test, file->batch.program, BIT(3) | BIT_ULL(40));
	KUNIT_EXPECT_EQ(test, riscv_pmu_ssccfg_ops.read_ctr(&file->pmu, 40), 77);

	/* If the hardware counter fails, the firmware counter does not. */
	file->event_bits[3] = PMU_HPMEVENT_INH;
	file->batch.release = BIT(3);
	KUNIT_EXPECT_NE(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->batch.failed, BIT(3));
	file_expect_no_violation(test, file);
}

/* --- harts --- */

/*
 * After a non-retentive idle state, a hardware counter is claimed once, when it is first used, and
 * the firmware counters are initialised when one of them is used.
 */
static void counters_are_claimed_when_first_used_after_idle(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	scoped_guard(irqsave) {
		riscv_pmu_ssccfg_ops.hart_stop(&file->pmu);
		riscv_pmu_ssccfg_ops.hart_start(&file->pmu);
	}
	memset(file->event, 0, sizeof(file->event));
	file->matches = 0;
	file->fw_calls = 0;
	scoped_guard(irqsave)
		riscv_pmu_ssccfg_ops.hart_start(&file->pmu);
	KUNIT_EXPECT_EQ(test, file->matches, 0);
	KUNIT_EXPECT_EQ(test, file->fw_calls, 0);

	file_program(file, 3, FILE_DTLB, 0, 0);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_NE(test, file->matches & BIT(3), 0);
	KUNIT_EXPECT_LE(test, hweight64(file->matches), 2);
	KUNIT_EXPECT_NE(test, file->event[3] & FILE_MINH, 0);

	file->matches = 0;
	file_program(file, 3, FILE_DTLB, 0, 0);
	file->batch.release = BIT(3);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->matches, 0);
	KUNIT_EXPECT_EQ(test, file->fw_calls, 0);
	file_expect_no_violation(test, file);
}

static void all_counters_exclude_m_mode_when_a_hart_starts(struct kunit *test)
{
	struct csr_file *file = file_ready(test);

	/* The hart goes offline first, so that the next start is not the end of an idle state. */
	scoped_guard(irqsave)
		riscv_pmu_ssccfg_ops.hart_stop(&file->pmu);
	/* As after a reset of the hart: all counters run, with any event. */
	memset(file->event, 0, sizeof(file->event));
	file->inhibit = 0;
	scoped_guard(irqsave)
		riscv_pmu_ssccfg_ops.hart_start(&file->pmu);
	KUNIT_EXPECT_EQ(test, file->inhibit & FILE_HPMS, FILE_HPMS);
	for (unsigned int ctr = 0; ctr < 7; ctr++)
		KUNIT_EXPECT_EQ(test, file->event[ctr], FILE_HPMS & BIT(ctr) ? FILE_MINH : 0);

	/* The config is written again, although the counter had it before. */
	file_program(file, 3, FILE_DTLB, 0, 0);
	KUNIT_EXPECT_EQ(test, file_apply(file), 0);
	scoped_guard(irqsave)
		riscv_pmu_ssccfg_ops.hart_stop(&file->pmu);
	KUNIT_EXPECT_EQ(test, file->event[3] & PMU_HPMEVENT_SELECTOR, 0);
	file_expect_no_violation(test, file);
}

static struct kunit_case ssccfg_cases[] = {
	KUNIT_CASE(probe_finds_all_delegated_counters),
	KUNIT_CASE(probe_fails_without_delegated_counters),
	KUNIT_CASE(undelegated_counters_are_not_accessed),
	KUNIT_CASE(widths_and_filters_are_measured),
	KUNIT_CASE(counters_keep_the_firmwares_numbers),
	KUNIT_CASE(events_are_from_the_table_without_firmware),
	KUNIT_CASE(raw_and_fixed_events_work_without_firmware_and_table),
	KUNIT_CASE(events_have_the_firmwares_counters),
	KUNIT_CASE(raw_events_have_the_counters_that_accept_them),
	KUNIT_CASE(a_sticky_event_is_restricted_to_its_home),
	KUNIT_CASE(a_duplicate_event_is_restricted_to_its_home),
	KUNIT_CASE(qemu_quirk_is_tested_for_on_qemu_only),
	KUNIT_CASE(a_group_stops_and_starts_by_one_write_each),
	KUNIT_CASE(a_counter_that_is_only_stopped_is_not_written),
	KUNIT_CASE(an_overflow_is_one_reload),
	KUNIT_CASE(fixed_counters_have_filters_only),
	KUNIT_CASE(a_config_that_the_counter_does_not_keep_fails),
	KUNIT_CASE(firmware_counters_are_written_by_the_sbi_backend),
	KUNIT_CASE(counters_are_claimed_when_first_used_after_idle),
	KUNIT_CASE(all_counters_exclude_m_mode_when_a_hart_starts),
	{}
};

static struct kunit_suite ssccfg_suite = {
	.name		= "riscv_pmu_ssccfg",
	.suite_exit	= fake_restart_harts,
	.init		= file_init,
	.exit		= file_exit,
	.test_cases	= ssccfg_cases,
};

kunit_test_suites(&ssccfg_suite);
