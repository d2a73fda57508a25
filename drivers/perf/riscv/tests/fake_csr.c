// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the Ssccfg backend with simulated CSRs. An access to a counter that is not delegated or
 * not selected, which traps with Smcdeleg, is reported.
 */

#include "fake_csr.h"

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

static bool file_is_indirect(unsigned int csr)
{
	return csr >= CSR_SIREG && csr <= PMU_CSR_SIREG5;
}

/* Whether an access of this register has trapped, so that every later one does. */
static bool file_has_trapped(const struct csr_file *file, unsigned int csr)
{
	return file->keeps_trapping && file->trap_csr == csr &&
	       (!file_is_indirect(csr) || file->trap_select == file->select);
}

/* For accesses that must not trap */
static void file_access(struct csr_file *file, unsigned int csr)
{
	if (file_has_trapped(file, csr))
		file_report(file, "a register is accessed although an access has trapped");
}

static void file_inhibit(u32 ctrs)
{
	struct csr_file *file = this_file();

	file_access(file, PMU_CSR_SCOUNTINHIBIT);
	if (ctrs & ~file->values)
		file_report(file, "a counter that is not delegated is stopped");
	file->inhibit |= ctrs;
	file->stops++;
}

static void file_uninhibit(u32 ctrs)
{
	struct csr_file *file = this_file();

	file_access(file, PMU_CSR_SCOUNTINHIBIT);
	if (ctrs & ~file->values)
		file_report(file, "a counter that is not delegated is started");
	file->inhibit &= ~ctrs;
	file->starts++;
}

static unsigned long file_select(unsigned long select)
{
	struct csr_file *file = this_file();
	unsigned long old = file->select;

	file_access(file, CSR_SISELECT);
	file->select = select;
	return old;
}

/* Returns the selected counter. If the access would trap, reports that, and returns another. */
static unsigned int file_selected(struct csr_file *file, unsigned int csr)
{
	u32 delegated = csr == CSR_SIREG ? file->values : file->events;
	unsigned long ctr = file->select - PMU_ISELECT_CTR;

	file_access(file, csr);
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
	unsigned int ctr = file_selected(file, CSR_SIREG);
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
	unsigned int ctr = file_selected(file, CSR_SIREG);

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

	return file->event[file_selected(file, PMU_CSR_SIREG2)] & ~FILE_MINH;
}

static void file_write_event(u64 event)
{
	struct csr_file *file = this_file();
	unsigned int ctr = file_selected(file, PMU_CSR_SIREG2);
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

/* --- accesses that may trap --- */

/* Whether this access is the one that a test lets trap, or a later one of the same register. */
static bool file_traps(struct csr_file *file, unsigned int csr)
{
	if (++file->accesses == file->trap_at) {
		file->trap_csr = csr;
		file->trap_select = file->select;
		return true;
	}

	return file_has_trapped(file, csr);
}

static bool file_is_counter(const struct csr_file *file, u32 delegated)
{
	unsigned long ctr = file->select - PMU_ISELECT_CTR;

	return ctr < PMU_CSR_CTR_NUM && delegated & BIT(ctr);
}

/* On RV32 a register has a half in one CSR, and the other half in another. */
static unsigned long file_half(u64 value, unsigned int csr)
{
	return csr == PMU_CSR_SIREG4 || csr == PMU_CSR_SIREG5 ? upper_32_bits(value) :
								 (unsigned long)value;
}

static u64 file_set_half(u64 old, unsigned int csr, unsigned long value)
{
	if (IS_ENABLED(CONFIG_64BIT))
		return value;

	return csr == PMU_CSR_SIREG4 || csr == PMU_CSR_SIREG5 ?
		       (u64)value << 32 | lower_32_bits(old) :
		       (old & ~(u64)U32_MAX) | value;
}

static bool file_is_value(const struct csr_file *file, unsigned int csr)
{
	return (csr == CSR_SIREG || (IS_ENABLED(CONFIG_32BIT) && csr == PMU_CSR_SIREG4)) &&
	       file_is_counter(file, file->values);
}

static bool file_is_event(const struct csr_file *file, unsigned int csr)
{
	return (csr == PMU_CSR_SIREG2 || (IS_ENABLED(CONFIG_32BIT) && csr == PMU_CSR_SIREG5)) &&
	       file_is_counter(file, file->events);
}

/* The CSRs by which user mode reads the counters, too. */
static bool file_is_user_csr(unsigned int csr)
{
	if (IS_ENABLED(CONFIG_32BIT) && csr >= CSR_CYCLEH && csr < CSR_CYCLEH + PMU_CSR_CTR_NUM)
		return true;

	return csr >= CSR_CYCLE && csr < CSR_CYCLE + PMU_CSR_CTR_NUM;
}

/* Reads and writes of records and of their control registers; there is one record. */
static unsigned long *file_branch_csr(struct csr_file *file, unsigned int csr)
{
	bool is_record = file->select == PMU_ISELECT_BRANCH;

	switch (csr) {
	case PMU_CSR_SCTRCTL:
		return &file->sctrctl;
	case PMU_CSR_SCTRSTATUS:
		return &file->sctrstatus;
	case PMU_CSR_SCTRDEPTH:
		return &file->sctrdepth;
	case CSR_SIREG:
	case PMU_CSR_SIREG2:
	case PMU_CSR_SIREG3:
		return is_record ? &file->record[csr - CSR_SIREG] : NULL;
	}

	return NULL;
}

static unsigned int file_try_read(unsigned int csr, unsigned long *value)
{
	struct csr_file *file = this_file();
	unsigned long *branch_csr = file_branch_csr(file, csr);

	*value = 0;
	if (file_traps(file, csr))
		return csr;

	if (branch_csr)
		*value = *branch_csr;
	else if (csr == CSR_SISELECT)
		*value = file->select;
	else if (csr == PMU_CSR_SCOUNTINHIBIT)
		*value = file->inhibit;
	else if (file_is_value(file, csr))
		*value = file_half(file_read_value(), csr);
	else if (file_is_event(file, csr))
		*value = file_half(file_read_event(), csr);
	else if (csr != CSR_SCOUNTOVF && !file_is_user_csr(csr))
		return csr;

	return 0;
}

static unsigned int file_try_write(unsigned int csr, unsigned long value)
{
	struct csr_file *file = this_file();
	unsigned long *branch_csr = file_branch_csr(file, csr);

	if (file_traps(file, csr) || csr == file->read_only)
		return csr;

	if (branch_csr)
		*branch_csr = value;
	else if (csr == CSR_SISELECT)
		file->select = value;
	else if (csr == PMU_CSR_SCOUNTINHIBIT)
		file->inhibit = value;
	else if (file_is_value(file, csr))
		file_write_value(file_set_half(file_read_value(), csr, value));
	else if (file_is_event(file, csr))
		file_write_event(file_set_half(file_read_event(), csr, value));
	else if (csr != RISCV_PMU_CSR_SCTRCLR && csr != PMU_CSR_VSCTRCTL)
		return csr;

	return 0;
}

static bool file_lists_ext(unsigned int cpu, const char *ext)
{
	return true;
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
	u64 selector = file_selector_of(event_idx), free = ctrs & ~file->configured;
	unsigned int ctr = __ffs64(free ?: ctrs), hpm;

	if (ctrs & FILE_FW) {
		file->fw_calls++;
		if (event_idx != RISCV_PMU_EVENT_FW(SBI_PMU_FW_SET_TIMER))
			return file_error(SBI_ERR_NOT_SUPPORTED);
		return (struct sbiret){ .value = __ffs64(ctrs & FILE_FW) };
	}
	if (ctr >= ARRAY_SIZE(file->hpm_of) || !selector || !free)
		return file_error(SBI_ERR_NOT_SUPPORTED);

	file->configured |= BIT_ULL(ctr);
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
	if (flags & SBI_PMU_STOP_FLAG_RESET)
		file->configured &= ~ctrs;
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

static void file_free(struct csr_file *file)
{
	if (file->pmu.priv)
		kfree(to_ssccfg(&file->pmu)->sbi.priv);
	kfree(file->pmu.priv);
	file->pmu.priv = NULL;
}

/* As after the boot of a hart: counters run, and the PMU has not been probed. */
void fake_csr_reset(struct csr_file *file)
{
	file_free(file);
	memset(&file->pmu, 0, sizeof(file->pmu));
	memset(file->event, 0, sizeof(file->event));
	file->pmu.ops = riscv_pmu_ssccfg_ops;
	cpumask_set_cpu(raw_smp_processor_id(), &file->pmu.cpus);
	file->pmu.hwirq = RV_IRQ_PMU;
	file->pmu.has_filters = true;
	file->pmu.pending_csr = CSR_IP;
	file->inhibit = 0;
	file->select = FILE_SELECT;
	file->configured = 0;
	file->accesses = 0;
	file->trap_csr = 0;
}

int fake_csr_init(struct kunit *test)
{
	static const u8 hpms[] = { 0, 1, 2, 3, 4, 5, 6, 1 };
	struct csr_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	/* The thread is bound to one CPU, because the backend's state is per CPU. */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id())), 0);
	file->values = FILE_HPMS;
	file->events = FILE_HPMS;
	file->has_sbi = true;
	memcpy(file->hpm_of, hpms, sizeof(hpms));
	memset(file->value_bits, 0xff, sizeof(file->value_bits));
	memset(file->event_bits, 0xff, sizeof(file->event_bits));
	fake_csr_reset(file);
	test->priv = file;
	kunit_activate_static_stub(test, riscv_pmu_platform_lists_ext, file_lists_ext);
	kunit_activate_static_stub(test, riscv_pmu_csr_try_read, file_try_read);
	kunit_activate_static_stub(test, riscv_pmu_csr_try_write, file_try_write);
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

void fake_csr_exit(struct kunit *test)
{
	file_free(test->priv);
}

int fake_csr_probe(struct csr_file *file)
{
	file_free(file);
	return riscv_pmu_ssccfg_ops.select_cpus(&file->pmu.cpus) ?:
	       riscv_pmu_ssccfg_ops.probe(&file->pmu);
}

/* Probes, and resets the numbers of writes. */
struct csr_file *fake_csr_ready(struct kunit *test)
{
	struct csr_file *file = test->priv;

	KUNIT_ASSERT_EQ(test, fake_csr_probe(file), 0);
	file->starts = 0;
	file->stops = 0;
	file->fw_calls = 0;
	return file;
}

void fake_csr_expect_no_violation(struct kunit *test, struct csr_file *file)
{
	KUNIT_EXPECT_NULL_MSG(test, file->violation, "%s", file->violation);
	KUNIT_EXPECT_EQ(test, file->select, FILE_SELECT);
}

int fake_csr_apply(struct csr_file *file)
{
	guard(irqsave)();
	file->batch.failed = 0;
	return riscv_pmu_ssccfg_ops.apply(&file->pmu, &file->batch);
}

u64 fake_csr_event_ctrs(struct csr_file *file, u32 event_idx, u64 data)
{
	struct riscv_pmu_config cfg = { .event_idx = event_idx, .event_data = data };

	return riscv_pmu_ssccfg_ops.event_ctrs(&file->pmu, &cfg);
}

u64 fake_csr_raw_ctrs(struct csr_file *file, u64 selector)
{
	return fake_csr_event_ctrs(file, RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW_V2, 0),
			       selector);
}

void fake_csr_program(struct csr_file *file, unsigned int ctr, u32 event_idx, u64 data, u32 inh)
{
	file->batch.program |= BIT_ULL(ctr);
	file->batch.setup[ctr].cfg = (struct riscv_pmu_config){
		.event_idx = event_idx, .event_data = data, .inh = inh,
	};
}
