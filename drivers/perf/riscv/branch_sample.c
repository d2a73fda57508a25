// SPDX-License-Identifier: GPL-2.0
/*
 * The branch records of a sample: read from the hart, and translated to perf's entries. An event
 * gets only what it has asked for (branch.c), whatever the hart records for others.
 */

#include <linux/bitfield.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>

#include "branch.h"
#include "csr.h"
#include "update.h"

/* perf's type of a transfer (PMU_BRANCH_*); sample_exception() knows those of exceptions. */
static const u8 sample_types[] = {
	[PMU_BRANCH_EXCEPTION]	= PERF_BR_UNKNOWN,
	[PMU_BRANCH_INTERRUPT]	= PERF_BR_IRQ,
	[PMU_BRANCH_TRAP_RETURN] = PERF_BR_ERET,
	[PMU_BRANCH_NOT_TAKEN]	= PERF_BR_COND,
	[PMU_BRANCH_TAKEN]	= PERF_BR_COND,
	[PMU_BRANCH_IND_CALL]	= PERF_BR_IND_CALL,
	[PMU_BRANCH_CALL]	= PERF_BR_CALL,
	[PMU_BRANCH_IND_JUMP]	= PERF_BR_IND,
	[PMU_BRANCH_JUMP]	= PERF_BR_UNCOND,
	[PMU_BRANCH_CORO_SWAP]	= PERF_BR_IND_CALL,
	[PMU_BRANCH_RETURN]	= PERF_BR_RET,
	[PMU_BRANCH_IND_LINK]	= PERF_BR_IND,
	[PMU_BRANCH_LINK]	= PERF_BR_UNCOND,
};

/* User addresses have the upper bit clear in each of the translation schemes (Sv39 to Sv57). */
static bool sample_is_kernel(u64 address)
{
	return (s64)address < 0;
}

/* --- exceptions --- */

/**
 * enum sample_exception - what has caused an exception
 * @SAMPLE_ECALL:	a system call, or the kernel's call of the firmware
 * @SAMPLE_DATA:	a load, store or atomic instruction
 * @SAMPLE_FETCH:	the instruction can not be read: it was not in memory
 * @SAMPLE_OTHER:	another instruction
 */
enum sample_exception {
	SAMPLE_ECALL,
	SAMPLE_DATA,
	SAMPLE_FETCH,
	SAMPLE_OTHER,
};

#define INSN_ECALL		0x00000073
/* An instruction of 32 bits has these bits set, and its opcode in bits 6:0. */
#define INSN_IS_LONG		0x3
#define INSN_OPCODE		GENMASK(6, 0)
#define INSN_LOAD		0x03
#define INSN_LOAD_FP		0x07
#define INSN_STORE		0x23
#define INSN_STORE_FP		0x27
#define INSN_AMO		0x2f
/*
 * A compressed instruction has its quadrant in bits 1:0, and a function in bits 15:13. In quadrants
 * 0 and 2 all functions but 0 and 4 load or store (Unprivileged ISA, "RVC Instruction Set
 * Listings").
 */
#define INSN_QUADRANT		GENMASK(1, 0)
#define INSN_FUNCTION		GENMASK(15, 13)

static enum sample_exception sample_insn_exception(u32 insn)
{
	if ((insn & INSN_IS_LONG) != INSN_IS_LONG)
		return FIELD_GET(INSN_QUADRANT, insn) != 1 && FIELD_GET(INSN_FUNCTION, insn) & 3 ?
		       SAMPLE_DATA : SAMPLE_OTHER;
	if (insn == INSN_ECALL)
		return SAMPLE_ECALL;

	switch (insn & INSN_OPCODE) {
	case INSN_LOAD:
	case INSN_LOAD_FP:
	case INSN_STORE:
	case INSN_STORE_FP:
	case INSN_AMO:
		return SAMPLE_DATA;
	}

	return SAMPLE_OTHER;
}

/*
 * Reads half an instruction of the current task or of the kernel. The address is the hardware's,
 * but a KVM guest may have been able to write the record: so only code of the kernel is read.
 */
static int sample_read_code(u64 address, u16 *half)
{
	unsigned long from = address;

	if (!sample_is_kernel(address))
		return copy_from_user_nofault(half, (const void __user *)from, sizeof(*half));
	if (!__kernel_text_address(from))
		return -EFAULT;

	return copy_from_kernel_nofault(half, (const void *)from, sizeof(*half));
}

static enum sample_exception sample_exception(u64 address)
{
	u16 low, high = 0;

	if (sample_read_code(address, &low))
		return SAMPLE_FETCH;
	/* The second half may be on another page. */
	if ((low & INSN_IS_LONG) == INSN_IS_LONG && sample_read_code(address + 2, &high))
		return SAMPLE_FETCH;

	return sample_insn_exception((u32)high << 16 | low);
}

static void sample_set_exception(struct perf_branch_entry *entry)
{
	switch (sample_exception(entry->from)) {
	case SAMPLE_ECALL:
		entry->type = PERF_BR_SYSCALL;
		break;
	case SAMPLE_DATA:
		entry->type = PERF_BR_EXTEND_ABI;
		entry->new_type = PERF_BR_NEW_FAULT_DATA;
		break;
	case SAMPLE_FETCH:
		entry->type = PERF_BR_EXTEND_ABI;
		entry->new_type = PERF_BR_NEW_FAULT_INST;
		break;
	case SAMPLE_OTHER:
		break;
	}
}

/* --- records --- */

/* Smctr, "Cycle Counting": a floating-point number, up to 2^27. perf has 16 bits for it. */
static u64 sample_cycles(u64 data)
{
	u64 mantissa = FIELD_GET(PMU_BRANCH_CYCLES_MANTISSA, data);
	unsigned int exponent = FIELD_GET(PMU_BRANCH_CYCLES_EXPONENT, data);

	if (!(data & PMU_BRANCH_CYCLES_VALID))
		return 0;
	if (exponent)
		mantissa = (mantissa + 4096) << (exponent - 1);

	return min_t(u64, mantissa, U16_MAX);
}

/**
 * struct sample_reader - how the records of a sample are read
 * @depth:	how many records the hart has
 * @modes:	modes that the event records, as in sctrctl
 * @inh:	types that it does not want, as in sctrctl
 * @ecalls:	of the exceptions it wants the system calls only
 * @flags:	the records say which branches were mispredicted, and the event wants that
 * @cycles:	the event wants the cycles
 * @types:	the event wants the types
 * @privs:	the event wants the modes
 */
struct sample_reader {
	unsigned int depth;
	u64 modes;
	u64 inh;
	bool ecalls;
	bool flags;
	bool cycles;
	bool types;
	bool privs;
};

static u64 sample_mode_of(u64 address)
{
	return sample_is_kernel(address) ? PMU_SCTRCTL_S : PMU_SCTRCTL_U;
}

/* The hardware writes 0 in place of an address in a mode that it does not record. */
static bool sample_is_wanted(const struct sample_reader *reader, u64 from, u64 to, u64 data)
{
	unsigned int type = data & PMU_BRANCH_TYPE;

	if (!from || !to || !(reader->modes & sample_mode_of(from)) ||
	    !(reader->modes & sample_mode_of(to)))
		return false;
	if (type == PMU_BRANCH_NOT_TAKEN || reader->inh & PMU_SCTRCTL_TYPE(type))
		return false;

	return type != PMU_BRANCH_EXCEPTION || !reader->ecalls ||
	       sample_exception(from) == SAMPLE_ECALL;
}

static void sample_set_details(const struct sample_reader *reader, struct perf_branch_entry *entry,
			       u64 data)
{
	unsigned int type = data & PMU_BRANCH_TYPE;

	if (reader->types) {
		entry->type = type < ARRAY_SIZE(sample_types) ? sample_types[type] : 0;
		if (type == PMU_BRANCH_EXCEPTION)
			sample_set_exception(entry);
	}
	if (reader->privs)
		entry->priv = sample_is_kernel(entry->to) ? PERF_BR_PRIV_KERNEL : PERF_BR_PRIV_USER;
}

/*
 * Reads all records. Each variant is compiled for itself, because the tests of what is not wanted
 * would take a fifth of a sample's time.
 */
static __always_inline unsigned int sample_read(const struct sample_reader *reader,
						struct perf_branch_entry *entries,
						bool data_too, bool details, bool check)
{
	unsigned long select = riscv_pmu_csr_select(PMU_ISELECT_BRANCH);
	struct perf_branch_entry *entry = entries;

	for (unsigned int n = 0; n < reader->depth; n++) {
		u64 source = riscv_pmu_csr_branch_source(n);
		u64 target, data;

		if (!(source & PMU_BRANCH_VALID))
			break;
		target = riscv_pmu_csr_branch_target();
		data = data_too ? riscv_pmu_csr_branch_data() : 0;
		source &= ~PMU_BRANCH_VALID;
		if (check && !sample_is_wanted(reader, source, target & ~PMU_BRANCH_MISPREDICTED,
					       data))
			continue;

		*entry = (struct perf_branch_entry){
			.from = source,
			.to = target & ~PMU_BRANCH_MISPREDICTED,
			.mispred = data_too && reader->flags && target & PMU_BRANCH_MISPREDICTED,
			.predicted = data_too && reader->flags &&
				     !(target & PMU_BRANCH_MISPREDICTED),
			.cycles = data_too && reader->cycles ? sample_cycles(data) : 0,
		};
		if (details)
			sample_set_details(reader, entry, data);
		entry++;
	}
	riscv_pmu_csr_select(select);
	return entry - entries;
}

/* Addresses only. */
static noinline unsigned int sample_read_addresses(const struct sample_reader *reader,
						   struct perf_branch_entry *entries)
{
	return sample_read(reader, entries, false, false, false);
}

/* Addresses, and which branches were mispredicted, and cycles. */
static noinline unsigned int sample_read_plain(const struct sample_reader *reader,
					       struct perf_branch_entry *entries)
{
	return sample_read(reader, entries, true, false, false);
}

static noinline unsigned int sample_read_details(const struct sample_reader *reader,
						 struct perf_branch_entry *entries)
{
	return sample_read(reader, entries, true, true, false);
}

static noinline unsigned int sample_read_checked(const struct sample_reader *reader,
						 struct perf_branch_entry *entries)
{
	return sample_read(reader, entries, true, true, true);
}

static unsigned int sample_read_records(struct riscv_pmu *pmu, const struct riscv_pmu_event *ev,
					u64 hart_ctl, struct perf_branch_entry *entries)
{
	u64 wanted = ev->event->attr.branch_sample_type;
	struct sample_reader reader = {
		.depth = pmu->branch.depth,
		.modes = ev->branch_ctl & RISCV_PMU_BRANCH_MODES,
		.inh = ev->branch_ctl & RISCV_PMU_BRANCH_INH,
		.ecalls = ev->branch_ecalls,
		.flags = pmu->branch.has_misprediction && !(wanted & PERF_SAMPLE_BRANCH_NO_FLAGS),
		.cycles = !(wanted & PERF_SAMPLE_BRANCH_NO_CYCLES),
		.types = wanted & PERF_SAMPLE_BRANCH_TYPE_SAVE,
		.privs = wanted & PERF_SAMPLE_BRANCH_PRIV_SAVE,
	};

	if (ev->branch_check || hart_ctl != ev->branch_ctl)
		return sample_read_checked(&reader, entries);
	if (reader.types || reader.privs)
		return sample_read_details(&reader, entries);
	if (reader.flags || reader.cycles)
		return sample_read_plain(&reader, entries);

	return sample_read_addresses(&reader, entries);
}

/**
 * riscv_pmu_branch_save_sample() - put the branch records into a sample
 * @pmu:	the PMU
 * @hart:	this hart, whose records are frozen, or change in no way that the event could see
 * @event:	the event that is sampled, with PERF_SAMPLE_BRANCH_STACK
 * @data:	its sample
 *
 * Context: hard interrupt.
 */
void riscv_pmu_branch_save_sample(struct riscv_pmu *pmu, struct riscv_pmu_hart *hart,
				  struct perf_event *event, struct perf_sample_data *data)
{
	struct perf_branch_stack *stack = hart->branch.stack;
	unsigned long next;

	if (!hart->branch.ctl)
		return;

	stack->nr = sample_read_records(pmu, to_riscv_pmu_event(event), hart->branch.ctl,
					stack->entries);
	if (event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) {
		next = FIELD_GET(PMU_SCTRSTATUS_WRPTR, riscv_pmu_csr_branch_status());
		stack->hw_idx = (next - 1) & (pmu->branch.depth - 1);
	}
	perf_sample_save_brstack(data, event, stack, NULL);
}
