// SPDX-License-Identifier: GPL-2.0
/* Tests of ssccfg/: the writes to simulated CSRs. */

#include "../branch/branch.h"
#include "../platform/platform.h"
#include "fake_csr.h"

/* --- probe --- */

static void probe_finds_all_delegated_counters(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, FILE_HPMS | FILE_USED_FW);
	KUNIT_EXPECT_EQ(test, file->pmu.fixed_ctrs, FILE_FIXED);
	KUNIT_EXPECT_EQ(test, file->pmu.irq_ctrs, FILE_HPMS & ~FILE_FIXED);
	KUNIT_EXPECT_EQ(test, file->pmu.fw_ctrs, FILE_USED_FW);
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
	fake_csr_expect_no_violation(test, file);
}

/*
 * The devicetree lists what the hart does not have, or what the firmware does not allow: whatever
 * traps, the kernel boots, and no register is accessed that has trapped. If @keeps is not set, only
 * one access traps.
 */
static unsigned int expect_survival(struct kunit *test, unsigned int nr, bool keeps)
{
	struct csr_file *file = test->priv;
	int err;

	fake_csr_reset(file);
	file->trap_at = nr;
	file->keeps_trapping = keeps;
	err = fake_csr_probe(file);
	if (file->accesses < nr) {
		KUNIT_EXPECT_EQ(test, file->pmu.ctrs, FILE_HPMS | FILE_USED_FW);
	} else if (err) {
		KUNIT_EXPECT_EQ_MSG(test, err, -ENODEV, "access %u", nr);
		KUNIT_EXPECT_NULL_MSG(test, file->pmu.priv, "access %u", nr);
		KUNIT_EXPECT_EQ_MSG(test, file->inhibit & FILE_HPMS,
				    file->trap_csr == PMU_CSR_SCOUNTINHIBIT ? file->inhibit : 0,
				    "access %u", nr);
	}
	if (file->trap_csr != CSR_SISELECT)
		KUNIT_EXPECT_EQ_MSG(test, file->select, FILE_SELECT, "access %u", nr);
	KUNIT_EXPECT_NULL_MSG(test, file->violation, "access %u: %s", nr, file->violation);
	return file->accesses;
}

static void probe_survives_each_trap(struct kunit *test)
{
	for (int keeps = 0; keeps < 2; keeps++) {
		unsigned int nr = 1;

		while (expect_survival(test, nr, keeps) >= nr)
			nr++;
		/* Three accesses of each counter at least */
		KUNIT_EXPECT_GT(test, nr, 3 * hweight32(FILE_HPMS));
	}
}

/* As on an ISA simulator: sireg of a counter can be read, but a write traps. */
static void counters_that_cannot_be_written_are_not_delegated(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->read_only = CSR_SIREG;
	KUNIT_EXPECT_EQ(test, fake_csr_probe(file), -ENODEV);
	KUNIT_EXPECT_EQ(test, file->inhibit, 0);
	fake_csr_expect_no_violation(test, file);

	fake_csr_reset(file);
	file->read_only = PMU_CSR_SCOUNTINHIBIT;
	KUNIT_EXPECT_EQ(test, fake_csr_probe(file), -ENODEV);
	fake_csr_expect_no_violation(test, file);

	/* Fixed counters do not need this CSR. */
	fake_csr_reset(file);
	file->read_only = PMU_CSR_SIREG2;
	KUNIT_EXPECT_EQ(test, fake_csr_probe(file), 0);
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, FILE_FIXED | FILE_USED_FW);
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[0].inh, 0);
	fake_csr_expect_no_violation(test, file);
}

static void the_next_backend_works_after_a_trap(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->read_only = CSR_SIREG;
	KUNIT_ASSERT_EQ(test, fake_csr_probe(file), -ENODEV);
	fake_csr_reset(file);
	file->pmu.ops = riscv_pmu_sbi_ops;
	KUNIT_ASSERT_EQ(test, riscv_pmu_sbi_ops.probe(&file->pmu), 0);
	/* The simulated firmware has no upper halves of its counters, which RV32 needs. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs & ~(FILE_FIXED | FILE_USED_FW),
			FILE_HPMS & ~FILE_FIXED);
	kfree(file->pmu.priv);
	file->pmu.priv = NULL;
}

struct hart_row {
	const char	*name;
	u32		values;
	u32		events;
	u64		value_bits;
	u64		event_bits;
	bool		refuses;
	bool		traps;
};

static const struct hart_row hart_rows[] = {
	{ "equal" },
	{ "one counter fewer", .values = BIT(5) },
	{ "one event register fewer", .events = BIT(5) },
	{ "narrower", .value_bits = BIT_ULL(63) },
	{ "one filter fewer", .event_bits = PMU_HPMEVENT_UINH },
	{ "no overflow flag", .event_bits = PMU_HPMEVENT_OF },
	{ "firmware that does not exclude M-mode", .refuses = true },
	{ "siselect traps", .traps = true },
};

KUNIT_ARRAY_PARAM_DESC(hart, hart_rows, name);

/* Everything that the rows change is missing on the hart that comes online. */
static void a_hart_that_differs_is_found(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);
	const struct hart_row *row = test->param_value;
	const char *what;

	file->values &= ~row->values;
	file->events &= ~(row->events | row->values);
	file->value_bits[5] &= ~row->value_bits;
	file->event_bits[5] &= ~row->event_bits;
	file->has_sbi = !row->refuses;
	file->trap_at = row->traps ? file->accesses + 1 : 0;
	scoped_guard(irqsave)
		what = riscv_pmu_ssccfg_ops.check_hart(&file->pmu);
	KUNIT_EXPECT_EQ_MSG(test, !what, row == &hart_rows[0], "%s", what);
	fake_csr_expect_no_violation(test, file);
}

#ifdef CONFIG_RISCV_PMU_BRANCH
/* --- branch records --- */

static void branch_probe_survives_each_trap(struct kunit *test)
{
	struct riscv_pmu_branch_caps caps;
	struct csr_file *file = test->priv;
	unsigned int nr, trap;

	for (nr = 1; ; nr++) {
		fake_csr_reset(file);
		file->trap_at = nr;
		caps = (struct riscv_pmu_branch_caps){};
		scoped_guard(irqsave)
			trap = riscv_pmu_csr_branch_probe(&caps, 64);
		if (file->accesses < nr)
			break;
		KUNIT_EXPECT_EQ_MSG(test, trap, file->trap_csr, "access %u", nr);
		KUNIT_EXPECT_NE(test, trap, 0);
		if (trap != CSR_SISELECT)
			KUNIT_EXPECT_EQ_MSG(test, file->select, FILE_SELECT, "access %u", nr);
	}
	KUNIT_EXPECT_EQ(test, trap, 0);
	KUNIT_EXPECT_EQ(test, caps.depth, 64);
	KUNIT_EXPECT_NE(test, caps.ctl & PMU_SCTRCTL_RASEMU, 0);
	KUNIT_EXPECT_TRUE(test, caps.has_types && caps.has_misprediction);
	KUNIT_EXPECT_EQ(test, file->sctrctl, 0);
	KUNIT_EXPECT_EQ(test, file->select, FILE_SELECT);
	/* siselect, three registers of a record, and three that control them */
	KUNIT_EXPECT_GT(test, nr, 7);
}

static void branch_reset_survives_each_trap(struct kunit *test)
{
	struct csr_file *file = test->priv;
	int err;

	for (unsigned int nr = 1; ; nr++) {
		fake_csr_reset(file);
		file->trap_at = nr;
		scoped_guard(irqsave)
			err = riscv_pmu_csr_branch_reset(64);
		if (file->accesses < nr)
			break;
		/* A machine without the H extension has no vsctrctl. */
		KUNIT_EXPECT_EQ_MSG(test, err,
				    file->trap_csr == PMU_CSR_VSCTRCTL ? 0 : file->trap_csr,
				    "access %u", nr);
	}
	KUNIT_EXPECT_EQ(test, err, 0);
}
#endif

static void probe_fails_without_delegated_counters(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->values = 0;
	KUNIT_EXPECT_EQ(test, fake_csr_probe(file), -ENODEV);
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, 0);
	KUNIT_EXPECT_EQ(test, file->stops, 0);
	fake_csr_expect_no_violation(test, file);
}

/* The firmware uses the other counters. */
static void undelegated_counters_are_not_accessed(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->values = BIT(0) | BIT(4) | BIT(6);
	file->events = BIT(4);
	KUNIT_ASSERT_EQ(test, fake_csr_probe(file), 0);
	/* hpmcounter6 has no event register, so it is not used. cycle does not need one. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, BIT(0) | BIT(4) | FILE_USED_FW);
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[0].inh, 0);
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, FILE_DTLB, 0), BIT(4));
	fake_csr_expect_no_violation(test, file);
}

static void widths_and_filters_are_measured(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->value_bits[3] = GENMASK_ULL(39, 0);
	file->value_bits[4] = GENMASK_ULL(9, 0);
	file->event_bits[5] = ~(PMU_HPMEVENT_VSINH | PMU_HPMEVENT_VUINH);
	file->event_bits[6] = ~PMU_HPMEVENT_OF;
	KUNIT_ASSERT_EQ(test, fake_csr_probe(file), 0);
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[3].width, 40);
	/* A counter of ten bits is not used, because it wraps too fast to be polled. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs & BIT(4), 0);
	KUNIT_EXPECT_EQ(test, file->pmu.irq_ctrs, BIT(3) | BIT(5));
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[5].inh,
			RISCV_PMU_INH_U | RISCV_PMU_INH_S | RISCV_PMU_INH_M);
	fake_csr_expect_no_violation(test, file);
}

/* The firmware's counter numbers may differ from those of the CSRs: masks are translated. */
static void counters_keep_the_firmwares_numbers(struct kunit *test)
{
	static const u8 hpms[] = { 0, 1, 2, 5, 3, 6, 1, 1 };
	struct csr_file *file = test->priv;

	memcpy(file->hpm_of, hpms, sizeof(hpms));
	file = fake_csr_ready(test);
	/* The firmware uses the number 4 for another counter, so hpmcounter4 is not used. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, 0x3d | FILE_USED_FW);
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[3].csr, CSR_CYCLE + 5);

	fake_csr_program(file, 3, FILE_DTLB, 0, 0);
	file->batch.start = BIT(3);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[5], FILE_MINH | FILE_SEL_DTLB);
	KUNIT_EXPECT_EQ(test, ~file->inhibit & FILE_HPMS, BIT(5));
	file->overflowed = BIT(5);
	KUNIT_EXPECT_EQ(test, riscv_pmu_ssccfg_ops.overflowed(&file->pmu, 0x3c), BIT(3));
	fake_csr_expect_no_violation(test, file);
}

static const struct riscv_pmu_platform file_platform = {
	.selectors	= file_selectors,
	.nr_selectors	= ARRAY_SIZE(file_selectors),
};

static void events_are_from_the_table_without_firmware(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->has_sbi = false;
	file->pmu.platform = &file_platform;
	file = fake_csr_ready(test);
	KUNIT_EXPECT_EQ(test, file->pmu.ctrs, FILE_HPMS);
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, FILE_DTLB, 0), FILE_HPMS & ~FILE_FIXED);
	/* It is unknown whether the counters exclude M-mode. */
	KUNIT_EXPECT_EQ(test, file->pmu.ctr[3].inh & RISCV_PMU_INH_M, 0);
	fake_csr_program(file, 6, FILE_DTLB, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[6], FILE_SEL_DTLB);
	fake_csr_expect_no_violation(test, file);
}

/* Of the counters that a table names, those that the hart has are used. */
static void events_have_the_counters_of_the_table(struct kunit *test)
{
	static const struct riscv_pmu_selector selectors[] = {
		{ RISCV_PMU_EVENT_CYCLES, FILE_SEL_CYCLES, 0, BIT(5) | BIT(20) },
		{ FILE_DTLB, FILE_SEL_DTLB, 0, BIT(20) },
	};
	static const struct riscv_pmu_platform platform = {
		.selectors	= selectors,
		.nr_selectors	= ARRAY_SIZE(selectors),
	};
	struct csr_file *file = test->priv;

	file->has_sbi = false;
	file->pmu.platform = &platform;
	file = fake_csr_ready(test);
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0),
			BIT(0) | BIT(5));
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, FILE_DTLB, 0), 0);
	fake_csr_expect_no_violation(test, file);
}

static void raw_and_fixed_events_work_without_firmware_and_table(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->has_sbi = false;
	file = fake_csr_ready(test);
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, FILE_DTLB, 0), 0);
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0), BIT(0));
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, RISCV_PMU_EVENT_INSTRUCTIONS, 0), BIT(2));
	KUNIT_EXPECT_EQ(test, fake_csr_raw_ctrs(file, 0xabc), FILE_HPMS & ~FILE_FIXED);
	fake_csr_expect_no_violation(test, file);
}

/* --- events --- */

static void events_have_the_firmwares_counters(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0),
			FILE_HPMS & ~BIT(2));
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, FILE_DTLB, 0), FILE_HPMS & ~FILE_FIXED);
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, RISCV_PMU_EVENT_HW(BUS_CYCLES), 0), 0);
	KUNIT_EXPECT_EQ(test,
			fake_csr_event_ctrs(file, RISCV_PMU_EVENT_FW(SBI_PMU_FW_SET_TIMER), 0),
			FILE_USED_FW);
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, RISCV_PMU_EVENT_FW(SBI_PMU_FW_IPI_SENT), 0),
			0);
	fake_csr_expect_no_violation(test, file);
}

/* A counter does not keep the bits of a selector that it does not support (hpmevent is WARL). */
static void raw_events_have_the_counters_that_accept_them(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	file->event_bits[3] &= ~BIT_ULL(7);
	file->event_bits[5] &= ~BIT_ULL(7);
	KUNIT_EXPECT_EQ(test, fake_csr_raw_ctrs(file, BIT(7) | 1), BIT(4) | BIT(6));
	/* A counter in use is assumed to accept the event if another one does. */
	fake_csr_program(file, 5, FILE_DTLB, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, fake_csr_raw_ctrs(file, BIT(7) | 1), BIT(4) | BIT(5) | BIT(6));
	KUNIT_EXPECT_EQ(test, file->event[5], FILE_MINH | FILE_SEL_DTLB);
	file->event_bits[4] &= ~BIT_ULL(7);
	file->event_bits[6] &= ~BIT_ULL(7);
	KUNIT_EXPECT_EQ(test, fake_csr_raw_ctrs(file, BIT(7) | 1), 0);
	fake_csr_expect_no_violation(test, file);
}

static void a_sticky_event_is_restricted_to_its_home(struct kunit *test)
{
	struct csr_file *file = test->priv;
	u64 homes;

	file->sticky_event = true;
	file->pmu.is_qemu = true;
	file = fake_csr_ready(test);
	homes = fake_csr_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0) & ~FILE_FIXED;
	KUNIT_EXPECT_EQ(test, hweight64(homes), 1);
	homes |= fake_csr_event_ctrs(file, RISCV_PMU_EVENT_INSTRUCTIONS, 0) & ~FILE_FIXED;
	homes |= fake_csr_event_ctrs(file, FILE_DTLB, 0);
	KUNIT_EXPECT_EQ(test, hweight64(homes), 3);
	/* Other raw events can use the remaining counter, known selectors only their home. */
	KUNIT_EXPECT_EQ(test, fake_csr_raw_ctrs(file, 0xabc), FILE_HPMS & ~FILE_FIXED & ~homes);
	KUNIT_EXPECT_EQ(test, fake_csr_raw_ctrs(file, FILE_SEL_DTLB),
			fake_csr_event_ctrs(file, FILE_DTLB, 0));
	fake_csr_expect_no_violation(test, file);
}

static void a_duplicate_event_is_restricted_to_its_home(struct kunit *test)
{
	struct csr_file *file = test->priv;
	u64 cycles, insns;

	file->duplicate_event = true;
	file->pmu.is_qemu = true;
	file = fake_csr_ready(test);
	cycles = fake_csr_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0) & ~FILE_FIXED;
	insns = fake_csr_event_ctrs(file, RISCV_PMU_EVENT_INSTRUCTIONS, 0) & ~FILE_FIXED;
	KUNIT_EXPECT_EQ(test, hweight64(cycles), 1);
	KUNIT_EXPECT_EQ(test, hweight64(insns), 1);
	KUNIT_EXPECT_NE(test, cycles, insns);
	fake_csr_expect_no_violation(test, file);
}

/* On hardware, the same result of the test may be due to a slow counter. */
static void qemu_quirk_is_tested_for_on_qemu_only(struct kunit *test)
{
	struct csr_file *file = test->priv;

	file->duplicate_event = true;
	file = fake_csr_ready(test);
	KUNIT_EXPECT_EQ(test, fake_csr_event_ctrs(file, RISCV_PMU_EVENT_CYCLES, 0) & ~FILE_FIXED,
			FILE_HPMS & ~FILE_FIXED);
	fake_csr_expect_no_violation(test, file);
}

/* --- batches --- */

static void a_group_stops_and_starts_by_one_write_each(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	for (unsigned int ctr = 3; ctr <= 6; ctr++) {
		fake_csr_program(file, ctr, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW_V2, 0),
				 0x100 + ctr, RISCV_PMU_INH_S | RISCV_PMU_INH_M);
		file->batch.setup[ctr].value = -1000ULL * ctr;
	}
	file->batch.start = file->batch.program;
	file->batch.load = file->batch.program;
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
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
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->starts, 2);
	KUNIT_EXPECT_EQ(test, file->stops, 1);
	KUNIT_EXPECT_EQ(test, file->event[4], FILE_MINH | PMU_HPMEVENT_SINH | 0x104);
	fake_csr_expect_no_violation(test, file);
}

static void a_counter_that_is_only_stopped_is_not_written(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	fake_csr_program(file, 3, FILE_DTLB, 0, 0);
	file->batch.start = BIT(3);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	file->event[3] |= PMU_HPMEVENT_OF;
	file->value[3] = 123;
	memset(&file->batch, 0, sizeof(file->batch));
	file->batch.stop = BIT(3);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH | FILE_SEL_DTLB | PMU_HPMEVENT_OF);
	KUNIT_EXPECT_EQ(test, file->value[3], 123);
	KUNIT_EXPECT_EQ(test, file->inhibit & BIT(3), BIT(3));

	file->batch.stop = 0;
	file->batch.release = BIT(3);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH);
	fake_csr_expect_no_violation(test, file);
}

/* The fast path for an overflow has the same result as other batches. */
static void an_overflow_is_one_reload(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	fake_csr_program(file, 3, FILE_DTLB, 0, RISCV_PMU_INH_U);
	file->batch.start = BIT(3);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	file->event[3] |= PMU_HPMEVENT_OF;
	file->batch.program = 0;
	file->batch.stop = BIT(3);
	file->batch.load = BIT(3);
	file->batch.setup[3].value = -5000ULL;
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH | PMU_HPMEVENT_UINH | FILE_SEL_DTLB);
	KUNIT_EXPECT_EQ(test, file->value[3], -5000ULL);
	KUNIT_EXPECT_EQ(test, ~file->inhibit & FILE_HPMS, BIT(3));
	KUNIT_EXPECT_EQ(test, file->starts, 2);
	KUNIT_EXPECT_EQ(test, file->stops, 1);
	fake_csr_expect_no_violation(test, file);
}

/* Without Smcntrpmf, S-mode cannot access the event registers of the fixed counters. */
static void a_fixed_counter_without_an_event_register_is_restarted(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	file->events &= ~BIT(0);
	file->pmu.ctr[0].inh = 0;
	fake_csr_program(file, 0, RISCV_PMU_EVENT_CYCLES, 0, RISCV_PMU_INH_M);
	file->batch.start = BIT(0);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	file->batch.program = 0;
	file->batch.stop = BIT(0);
	file->batch.load = BIT(0);
	file->batch.setup[0].value = 5000;
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->value[0], 5000);
	KUNIT_EXPECT_EQ(test, ~file->inhibit & FILE_HPMS, BIT(0));
	fake_csr_expect_no_violation(test, file);
}

static void fixed_counters_have_filters_only(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	fake_csr_program(file, 0, RISCV_PMU_EVENT_CYCLES, 0, RISCV_PMU_INH_U | RISCV_PMU_INH_M);
	fake_csr_program(file, 2, RISCV_PMU_EVENT_INSTRUCTIONS, 0, RISCV_PMU_INH_S);
	file->batch.start = FILE_FIXED;
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[0], FILE_MINH | PMU_HPMEVENT_UINH);
	KUNIT_EXPECT_EQ(test, file->event[2], FILE_MINH | PMU_HPMEVENT_SINH);
	fake_csr_expect_no_violation(test, file);
}

static void a_config_that_the_counter_does_not_keep_fails(struct kunit *test)
{
	const u32 raw = RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW_V2, 0);
	struct csr_file *file = fake_csr_ready(test);

	file->event_bits[4] &= ~BIT_ULL(7);
	fake_csr_program(file, 3, raw, BIT(7), 0);
	fake_csr_program(file, 4, raw, BIT(7) | 1, 0);
	file->batch.start = BIT(3) | BIT(4);
	KUNIT_EXPECT_NE(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->batch.failed, BIT(4));
	KUNIT_EXPECT_EQ(test, ~file->inhibit & FILE_HPMS, BIT(3));
	KUNIT_EXPECT_EQ(test, file->event[4], FILE_MINH);
	fake_csr_expect_no_violation(test, file);
}

#ifdef CONFIG_RISCV_PMU_FW
static void firmware_counters_are_written_by_the_sbi_backend(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	fake_csr_program(file, 3, FILE_DTLB, 0, 0);
	fake_csr_program(file, 40, RISCV_PMU_EVENT_FW(SBI_PMU_FW_SET_TIMER), 0, 0);
	file->batch.start = BIT(3) | BIT_ULL(40);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->fw_calls, 2);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH | FILE_SEL_DTLB);
	/* The caller uses the masks again, so they must not be changed. */
	KUNIT_EXPECT_EQ(test, file->batch.start, BIT(3) | BIT_ULL(40));
	KUNIT_EXPECT_EQ(test, file->batch.program, BIT(3) | BIT_ULL(40));
	KUNIT_EXPECT_EQ(test, riscv_pmu_ssccfg_ops.read_ctr(&file->pmu, 40), 77);

	/* If the hardware counter fails, the firmware counter does not. */
	file->event_bits[3] = PMU_HPMEVENT_INH;
	file->batch.release = BIT(3);
	KUNIT_EXPECT_NE(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->batch.failed, BIT(3));
	fake_csr_expect_no_violation(test, file);
}
#endif

static void a_batch_with_a_config_writes_the_config(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

	fake_csr_program(file, 3, FILE_DTLB, 0, 0);
	file->batch.start = BIT(3);
	file->batch.load = BIT(3);
	file->batch.setup[3].value = -7ULL;
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->event[3], FILE_MINH | FILE_SEL_DTLB);
	KUNIT_EXPECT_EQ(test, file->value[3], -7ULL);
	fake_csr_expect_no_violation(test, file);
}

/* A raw event can then be tried on it. */
static void a_counter_that_refused_a_config_is_free(struct kunit *test)
{
	const struct riscv_pmu_config cfg = {
		.event_idx = RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW_V2, 0),
		.event_data = 0x123,
	};
	struct csr_file *file = fake_csr_ready(test);

	file->event_bits[6] &= ~BIT_ULL(7);
	for (unsigned int ctr = 3; ctr <= 6; ctr++)
		fake_csr_program(file, ctr, cfg.event_idx, BIT(7) | ctr, 0);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), -EIO);
	KUNIT_EXPECT_EQ(test, file->batch.failed, BIT(6));
	KUNIT_EXPECT_EQ(test, riscv_pmu_ssccfg_ops.untried_ctrs(&file->pmu, &cfg), 0);
	fake_csr_expect_no_violation(test, file);
}

/* --- harts --- */

/*
 * After a non-retentive idle state, a hardware counter is claimed once, when it is first used, and
 * the firmware counters are initialised when one of them is used.
 */
static void counters_are_claimed_when_first_used_after_idle(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

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

	fake_csr_program(file, 3, FILE_DTLB, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_NE(test, file->matches & BIT(3), 0);
	KUNIT_EXPECT_LE(test, hweight64(file->matches), 2);
	KUNIT_EXPECT_NE(test, file->event[3] & FILE_MINH, 0);

	file->matches = 0;
	fake_csr_program(file, 3, FILE_DTLB, 0, 0);
	file->batch.release = BIT(3);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	KUNIT_EXPECT_EQ(test, file->matches, 0);
	KUNIT_EXPECT_EQ(test, file->fw_calls, 0);
	fake_csr_expect_no_violation(test, file);
}

static void all_counters_exclude_m_mode_when_a_hart_starts(struct kunit *test)
{
	struct csr_file *file = fake_csr_ready(test);

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
	fake_csr_program(file, 3, FILE_DTLB, 0, 0);
	KUNIT_EXPECT_EQ(test, fake_csr_apply(file), 0);
	scoped_guard(irqsave)
		riscv_pmu_ssccfg_ops.hart_stop(&file->pmu);
	KUNIT_EXPECT_EQ(test, file->event[3] & PMU_HPMEVENT_SELECTOR, 0);
	fake_csr_expect_no_violation(test, file);
}

static struct kunit_case ssccfg_cases[] = {
	KUNIT_CASE(probe_finds_all_delegated_counters),
	KUNIT_CASE_SLOW(probe_survives_each_trap),
	KUNIT_CASE(counters_that_cannot_be_written_are_not_delegated),
	KUNIT_CASE(the_next_backend_works_after_a_trap),
	KUNIT_CASE_PARAM(a_hart_that_differs_is_found, hart_gen_params),
#ifdef CONFIG_RISCV_PMU_BRANCH
	KUNIT_CASE(branch_probe_survives_each_trap),
	KUNIT_CASE(branch_reset_survives_each_trap),
#endif
	KUNIT_CASE(probe_fails_without_delegated_counters),
	KUNIT_CASE(undelegated_counters_are_not_accessed),
	KUNIT_CASE(widths_and_filters_are_measured),
	KUNIT_CASE(counters_keep_the_firmwares_numbers),
	KUNIT_CASE(events_are_from_the_table_without_firmware),
	KUNIT_CASE(events_have_the_counters_of_the_table),
	KUNIT_CASE(raw_and_fixed_events_work_without_firmware_and_table),
	KUNIT_CASE(events_have_the_firmwares_counters),
	KUNIT_CASE(raw_events_have_the_counters_that_accept_them),
	KUNIT_CASE(a_sticky_event_is_restricted_to_its_home),
	KUNIT_CASE(a_duplicate_event_is_restricted_to_its_home),
	KUNIT_CASE(qemu_quirk_is_tested_for_on_qemu_only),
	KUNIT_CASE(a_group_stops_and_starts_by_one_write_each),
	KUNIT_CASE(a_counter_that_is_only_stopped_is_not_written),
	KUNIT_CASE(an_overflow_is_one_reload),
	KUNIT_CASE(a_fixed_counter_without_an_event_register_is_restarted),
	KUNIT_CASE(a_batch_with_a_config_writes_the_config),
	KUNIT_CASE(a_counter_that_refused_a_config_is_free),
	KUNIT_CASE(fixed_counters_have_filters_only),
	KUNIT_CASE(a_config_that_the_counter_does_not_keep_fails),
#ifdef CONFIG_RISCV_PMU_FW
	KUNIT_CASE(firmware_counters_are_written_by_the_sbi_backend),
#endif
	KUNIT_CASE(counters_are_claimed_when_first_used_after_idle),
	KUNIT_CASE(all_counters_exclude_m_mode_when_a_hart_starts),
	{}
};

static struct kunit_suite ssccfg_suite = {
	.name		= "riscv_pmu_ssccfg",
	.suite_exit	= fake_restart_harts,
	.init		= fake_csr_init,
	.exit		= fake_csr_exit,
	.test_cases	= ssccfg_cases,
};

kunit_test_suites(&ssccfg_suite);
