// SPDX-License-Identifier: GPL-2.0
/*
 * Simulated CSRs of branch records. They are those of Smctr and Ssctr: records are numbered from
 * the newest one, and sctrstatus.WRPTR says where that is. An access that hardware would not
 * answer, or that leaves siselect changed, is reported.
 */

#include <kunit/static_stub.h>
#include <linux/string.h>

#include "fake_branch.h"

/* --- what branch/csr.h declares, on the hart's own CSRs ----------------- */

unsigned long riscv_pmu_csr_branch_read(unsigned int csr)
{
	unsigned long value;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_read, csr);

	riscv_pmu_csr_try_read(csr, &value);
	return value;
}

void riscv_pmu_csr_branch_write(unsigned int csr, unsigned long value)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_write, csr, value);

	riscv_pmu_csr_try_write(csr, value);
}

void riscv_pmu_csr_branch_clear(void)
{
	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_csr_branch_clear);

	riscv_pmu_csr_try_write(RISCV_PMU_CSR_SCTRCLR, 0);
}

/* --- the simulated CSRs ------------------------------------------------- */

static struct branch_file *this_file(void)
{
	return to_branch_file(kunit_get_current_test()->priv);
}

/*
 * The violation is reported later, when interrupts are enabled: KUnit allocates memory for a
 * report.
 */
static void file_report(struct branch_file *file, const char *what)
{
	file->violation = file->violation ?: what;
}

static struct branch_file *file_access(void)
{
	struct branch_file *file = this_file();

	if (!irqs_disabled())
		file_report(file, "a CSR is accessed while interrupts are on");
	if (file->absent)
		file_report(file, "a CSR is accessed that traps");
	return file;
}

/**
 * fake_branch_record() - get a record
 * @file:	the CSRs
 * @n:		its number, 0 is the newest
 *
 * Return: the record.
 */
struct riscv_pmu_branch_record *fake_branch_record(struct branch_file *file, unsigned int n)
{
	return &file->record[(file->status - 1 - n) & (file->depth - 1)];
}

/**
 * fake_branch_count() - count the records
 * @file:	the CSRs
 *
 * Return: how many there are, from the newest one to the first invalid one.
 */
unsigned int fake_branch_count(struct branch_file *file)
{
	unsigned int n = 0;

	while (n < file->depth && fake_branch_record(file, n)->source & PMU_BRANCH_VALID)
		n++;

	return n;
}

/* --- what the driver calls ---------------------------------------------- */

static struct riscv_pmu_branch_record *file_selected(struct branch_file *file)
{
	unsigned long n = file->select - PMU_ISELECT_BRANCH;

	if (n >= file->depth) {
		file_report(file, "a record is accessed that does not exist, or is not selected");
		n = 0;
	}

	return fake_branch_record(file, n);
}

static unsigned long file_read_source(struct branch_file *file)
{
	if ((file->polled || file->ctl & PMU_SCTRCTL_S) && !(file->status & PMU_SCTRSTATUS_FROZEN))
		file_report(file, "records are read that may change meanwhile");
	return file_selected(file)->source;
}

static unsigned long file_read(unsigned int csr)
{
	struct branch_file *file = file_access();

	switch (csr) {
	case CSR_SISELECT:
		file->saved = true;
		return file->select;
	case CSR_SIREG:
		return file_read_source(file);
	case PMU_CSR_SIREG2:
		return file_selected(file)->target;
	case PMU_CSR_SIREG3:
		return file_selected(file)->data;
	case PMU_CSR_SCTRSTATUS:
		return file->status;
	}

	file_report(file, "a CSR is read that the tests do not know");
	return 0;
}

static void file_write_select(struct branch_file *file, unsigned long select)
{
	if (!file->saved)
		file_report(file, "siselect is changed, but was not saved");
	file->select = select;
	/* Any other value is the saved one. */
	file->saved = select >= PMU_ISELECT_BRANCH && select < PMU_ISELECT_BRANCH + PMU_BRANCH_MAX;
}

static struct riscv_pmu_branch_record *file_to_write(struct branch_file *file)
{
	if (file->ctl & (PMU_SCTRCTL_U | PMU_SCTRCTL_S))
		file_report(file, "a record is written while the hart records");
	return file_selected(file);
}

/**
 * fake_branch_write() - write a CSR
 * @csr:	its number
 * @value:	the new value
 */
void fake_branch_write(unsigned int csr, unsigned long value)
{
	struct branch_file *file = file_access();

	switch (csr) {
	case CSR_SISELECT:
		file_write_select(file, value);
		break;
	case CSR_SIREG:
		file_to_write(file)->source = value;
		break;
	case PMU_CSR_SIREG2:
		file_to_write(file)->target = value;
		break;
	case PMU_CSR_SIREG3:
		file_to_write(file)->data = value;
		break;
	case PMU_CSR_SCTRCTL:
		file->ctl = value & file->ctl_bits;
		break;
	case PMU_CSR_SCTRSTATUS:
		file->status = value & (PMU_SCTRSTATUS_FROZEN | (file->depth - 1));
		break;
	default:
		file_report(file, "a CSR is written that the tests do not know");
	}
}

static void file_clear(void)
{
	struct branch_file *file = file_access();

	memset(file->record, 0, sizeof(file->record));
	file->clears++;
}

static int file_reset(unsigned int depth)
{
	struct branch_file *file = this_file();

	if (file->absent)
		return PMU_CSR_SCTRCTL;

	file_clear();
	file->resets++;
	file->ctl = 0;
	file->status = 0;
	return depth == file->depth ? 0 : -EINVAL;
}

static unsigned int file_probe(struct riscv_pmu_branch_caps *caps, unsigned int depth)
{
	struct branch_file *file = this_file();
	struct fake_pmu *fake = kunit_get_current_test()->priv;

	if (file->absent)
		return PMU_CSR_SCTRCTL;

	*caps = fake->pmu.branch;
	caps->depth = file->depth;
	caps->ctl = file->ctl_bits;
	return 0;
}

static void file_guard(void)
{
	this_file()->guards++;
}

static void file_watch_switches(struct pmu *pmu, bool watch)
{
	struct branch_file *file = this_file();

	file->watches += watch ? 1 : -1;
	if (file->watches < 0)
		file_report(file, "an event that does not watch switches stops to do so");
}

/* --- what the hardware does --------------------------------------------- */

/**
 * fake_branch_push() - add a record
 * @file:	the CSRs
 * @source:	address of the branch
 * @target:	address of its target, with PMU_BRANCH_MISPREDICTED
 * @data:	its type and its cycles
 */
void fake_branch_push(struct branch_file *file, u64 source, u64 target, u64 data)
{
	unsigned long next = file->status & (file->depth - 1);

	file->record[next] = (struct riscv_pmu_branch_record){
		.source = source | PMU_BRANCH_VALID,
		.target = target,
		.data = data,
	};
	file->status = (file->status & PMU_SCTRSTATUS_FROZEN) | ((next + 1) & (file->depth - 1));
}

static void file_pop(struct branch_file *file)
{
	*fake_branch_record(file, 0) = (struct riscv_pmu_branch_record){};
	file->status = (file->status & PMU_SCTRSTATUS_FROZEN) |
		       ((file->status - 1) & (file->depth - 1));
}

/* Smctr, "RAS (Return Address Stack) Emulation Mode". */
static void file_emulate_ras(struct branch_file *file, unsigned int type, u64 from, u64 to)
{
	if (type == PMU_BRANCH_RETURN || type == PMU_BRANCH_CORO_SWAP)
		file_pop(file);
	if (type == PMU_BRANCH_CALL || type == PMU_BRANCH_IND_CALL || type == PMU_BRANCH_CORO_SWAP)
		fake_branch_push(file, from, to, type);
}

/* An address of 0 is one of M-mode, which sctrctl does not record. */
static bool file_records_mode(const struct branch_file *file, u64 address)
{
	return address && file->ctl & (address >> 63 ? PMU_SCTRCTL_S : PMU_SCTRCTL_U);
}

/**
 * fake_branch_transfer() - transfer control, which is recorded as sctrctl says
 * @file:	the CSRs
 * @type:	PMU_BRANCH_*
 * @from:	address of the instruction; 0: in M-mode
 * @to:		address of its target; 0: in M-mode
 *
 * Smctr, "Privilege Mode Transitions": a trap from a mode that is not recorded has no source, and a
 * return from a trap to such a mode no target. A trap to such a mode, and a return from one, are
 * not recorded.
 */
void fake_branch_transfer(struct branch_file *file, unsigned int type, u64 from, u64 to)
{
	u64 bit = file->ctl & BIT_ULL(32 + type);
	bool inhibited = type == PMU_BRANCH_NOT_TAKEN ? !bit : bit;

	if (file->status & PMU_SCTRSTATUS_FROZEN ||
	    !file_records_mode(file, type == PMU_BRANCH_TRAP_RETURN ? from : to))
		return;
	if (file->ctl & PMU_SCTRCTL_RASEMU)
		file_emulate_ras(file, type, from, to);
	else if (!inhibited)
		fake_branch_push(file, file_records_mode(file, from) ? from : 0,
				 file_records_mode(file, to) ? to : 0, type);
}

/* --- events ------------------------------------------------------------- */

static struct branch_entry file_entry(const struct perf_branch_entry *entry)
{
	return (struct branch_entry){
		.from = entry->from,
		.to = entry->to,
		.mispred = entry->mispred,
		.predicted = entry->predicted,
		.cycles = entry->cycles,
		.type = entry->type,
		.new_type = entry->new_type,
		.priv = entry->priv,
		.has_more = entry->in_tx || entry->abort || entry->spec || entry->reserved,
	};
}

static void file_keep_sample(struct branch_file *file, const struct perf_sample_data *data)
{
	struct branch_sample *sample = &file->sample;

	memset(sample, 0, sizeof(*sample));
	sample->taken = data->sample_flags & PERF_SAMPLE_BRANCH_STACK;
	if (!sample->taken)
		return;

	sample->nr = data->br_stack->nr;
	sample->hw_idx = data->br_stack->hw_idx;
	for (unsigned int n = 0; n < min_t(u64, sample->nr, BRANCH_DEPTH_MAX); n++)
		sample->entry[n] = file_entry(&data->br_stack->entries[n]);
}

static void file_overflow(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	state_overflow(event, data, regs);
	file_keep_sample(this_file(), data);
}

/**
 * fake_branch_new() - make an event with branch records
 * @test:	the test
 * @ctr:	its counter
 * @filters:	PERF_SAMPLE_BRANCH_*
 *
 * Return: the event, for fake_branch_open().
 */
struct state_event *fake_branch_new(struct kunit *test, unsigned int ctr, u64 filters)
{
	struct state_event *s = new_event(test, 1, C(ctr), BRANCH_PERIOD);

	s->event.attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	s->event.attr.branch_sample_type = filters;
	/* perf_event_open() sets this. */
	s->event.attr.sample_max_stack = 127;
	s->event.overflow_handler = file_overflow;
	return s;
}

/**
 * fake_branch_exclude() - set what an event excludes
 * @s:		the event
 * @exclude:	enum branch_exclude bits
 */
void fake_branch_exclude(struct state_event *s, unsigned int exclude)
{
	s->event.attr.exclude_user = !!(exclude & EX_USER);
	s->event.attr.exclude_kernel = !!(exclude & EX_KERNEL);
	s->event.attr.exclude_hv = !!(exclude & EX_HV);
	s->event.attr.exclude_host = !!(exclude & EX_HOST);
}

/**
 * fake_branch_open() - do what riscv_pmu_event_init() does for branch records
 * @s:		the event
 *
 * Return: 0 or a negative errno.
 */
int fake_branch_open(struct state_event *s)
{
	/* Tests open the same event repeatedly. */
	s->ev.flags &= RISCV_PMU_EV_SAMPLING | RISCV_PMU_EV_POLLED | RISCV_PMU_EV_EBB;
	return riscv_pmu_branch_check(&s->event) ?: riscv_pmu_branch_init_event(&s->event);
}

/**
 * fake_branch_event() - make an event with branch records, and open it
 * @test:	the test
 * @ctr:	its counter
 * @filters:	PERF_SAMPLE_BRANCH_*
 *
 * Return: the event.
 */
struct state_event *fake_branch_event(struct kunit *test, unsigned int ctr, u64 filters)
{
	struct state_event *s = fake_branch_new(test, ctr, filters);

	KUNIT_ASSERT_EQ(test, fake_branch_open(s), 0);
	return s;
}

/*
 * The test's thread may have been preempted since. The driver must not take that for a switch
 * that perf has not reported. Interrupts are off.
 */
static void file_hide_switches(struct fake_pmu *fake)
{
	struct riscv_pmu_hart *hart = this_hart(fake);

	if (hart->branch.task == current)
		hart->branch.switches = current->nvcsw + current->nivcsw;
}

/**
 * fake_branch_add() - add an event in an update of its own
 * @test:	the test
 * @s:		the event
 *
 * Return: the result of riscv_pmu_add().
 */
int fake_branch_add(struct kunit *test, struct state_event *s)
{
	int err;

	guard(irqsave)();
	file_hide_switches(test->priv);
	begin(test->priv);
	err = add(s, PERF_EF_START);
	finish(test->priv);
	return err;
}

/**
 * fake_branch_in() - add an event that fits, see sched_in()
 * @test:	the test
 * @s:		the event
 */
void fake_branch_in(struct kunit *test, struct state_event *s)
{
	KUNIT_EXPECT_EQ(test, fake_branch_add(test, s), 0);
}

/* An overflow that traps freezes the records. */
static void file_trap(struct branch_file *file)
{
	if (!file->polled && !file->untrapped && file->ctl & PMU_SCTRCTL_LCOFIFRZ)
		file->status |= PMU_SCTRSTATUS_FROZEN;
}

/**
 * fake_branch_overflow() - let all periods end, and simulate the interrupt
 * @fake:	the hart
 */
void fake_branch_overflow(struct fake_pmu *fake)
{
	guard(irqsave)();
	file_hide_switches(fake);
	fake_advance(fake, BRANCH_PERIOD);
	file_trap(to_branch_file(fake));
	interrupt(fake);
	riscv_pmu_branch_unfreeze(this_hart(fake));
}

/**
 * fake_branch_sample() - do what riscv_pmu_event_handle_overflow() does for branch records
 * @fake:	the hart
 * @s:		the event
 *
 * Return: the records.
 */
const struct branch_sample *fake_branch_sample(struct fake_pmu *fake, struct state_event *s)
{
	struct branch_file *file = to_branch_file(fake);
	struct perf_sample_data data;

	guard(irqsave)();
	file_hide_switches(fake);
	perf_sample_data_init(&data, 0, BRANCH_PERIOD);
	file_trap(file);
	riscv_pmu_branch_save_sample(this_hart(fake), &s->event, &data);
	riscv_pmu_branch_unfreeze(this_hart(fake));
	file_keep_sample(file, &data);
	return &file->sample;
}

/* --- each test ---------------------------------------------------------- */

/**
 * fake_branch_start() - bring up the hart
 * @fake:	the hart
 */
void fake_branch_start(struct fake_pmu *fake)
{
	guard(irqsave)();
	riscv_pmu_branch_hart_start(this_hart(fake));
}

/**
 * fake_branch_restart() - replace the hart by one that has fewer bits in sctrctl
 * @fake:	the hart, without events
 * @missing:	the bits that it does not have
 */
void fake_branch_restart(struct fake_pmu *fake, u64 missing)
{
	fake->pmu.branch.ctl = BRANCH_CTL_ALL & ~missing;
	to_branch_file(fake)->ctl_bits = BRANCH_CTL_ALL & ~missing;
	fake_branch_start(fake);
}

static void file_free_stack(void *stack)
{
	free_percpu((struct perf_branch_stack __percpu *)(uintptr_t)stack);
}

static void file_alloc_stack(struct kunit *test, struct riscv_pmu_branch_caps *caps)
{
	size_t size = struct_size((struct perf_branch_stack *)NULL, entries, BRANCH_DEPTH_MAX);

	caps->stack = __alloc_percpu(size, __alignof__(u64));
	KUNIT_ASSERT_TRUE(test, !!caps->stack);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, file_free_stack,
							(void *)(uintptr_t)caps->stack), 0);
}

int fake_branch_init(struct kunit *test)
{
	struct branch_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct fake_pmu *fake;
	int err = state_init(test);

	if (err)
		return err;

	KUNIT_ASSERT_NOT_NULL(test, file);
	fake = test->priv;
	fake->pmu.priv = file;
	/* Without this interrupt, nothing freezes the records. */
	fake->pmu.hwirq = RV_IRQ_PMU;
	fake->pmu.branch.depth = BRANCH_DEPTH;
	fake->pmu.branch.has_types = true;
	file->depth = BRANCH_DEPTH;
	file->select = BRANCH_SELECT;
	file_alloc_stack(test, &fake->pmu.branch);
	kunit_activate_static_stub(test, riscv_pmu_csr_branch_read, file_read);
	kunit_activate_static_stub(test, riscv_pmu_csr_branch_write, fake_branch_write);
	kunit_activate_static_stub(test, riscv_pmu_csr_branch_clear, file_clear);
	kunit_activate_static_stub(test, riscv_pmu_csr_branch_probe, file_probe);
	kunit_activate_static_stub(test, riscv_pmu_csr_branch_reset, file_reset);
	kunit_activate_static_stub(test, riscv_pmu_csr_branch_clear_for_guests, file_guard);
	kunit_activate_static_stub(test, riscv_pmu_branch_use_sched_task, file_watch_switches);
	fake_branch_restart(fake, 0);
	file->clears = 0;
	file->resets = 0;
	file->guards = 0;
	return 0;
}

/* It may run on another CPU than the test: state_exit() explains this. */
void fake_branch_exit(struct kunit *test)
{
	struct fake_pmu *fake = test->priv;
	struct branch_file *file;
	int cpu;

	state_exit(test);
	if (!fake || !fake->pmu.priv)
		return;

	file = to_branch_file(fake);
	KUNIT_EXPECT_NULL_MSG(test, file->violation, "%s", file->violation);
	KUNIT_EXPECT_EQ(test, file->select, BRANCH_SELECT);
	KUNIT_EXPECT_EQ(test, file->ctl, 0);
	KUNIT_EXPECT_EQ(test, file->watches, 0);
	for_each_possible_cpu(cpu) {
		struct riscv_pmu_hart *hart = per_cpu_ptr(fake->pmu.harts, cpu);

		KUNIT_EXPECT_TRUE(test, list_empty(&hart->branch.events));
		KUNIT_EXPECT_EQ(test, hart->branch.ctl, 0);
	}
}
