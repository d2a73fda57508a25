// SPDX-License-Identifier: GPL-2.0
/*
 * The branch records of a sample: read from the hart, and translated to perf's entries. An event
 * gets only what it has asked for (branch/event.c), whatever the hart records for others.
 */

#include <linux/bitfield.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>

#include "state.h"
#include "../update.h"

/* The third word of struct perf_branch_entry: its bit fields would be written one by one. */
#define INFO_MISPREDICTED	BIT_ULL(0)
#define INFO_PREDICTED		BIT_ULL(1)
#define INFO_CYCLES		GENMASK_ULL(19, 4)
#define INFO_TYPE		GENMASK_ULL(23, 20)
#define INFO_NEW_TYPE		GENMASK_ULL(29, 26)
#define INFO_PRIV		GENMASK_ULL(32, 30)

static_assert(sizeof(struct perf_branch_entry) == 3 * sizeof(u64));

/* perf's type for each PMU_BRANCH_* type but exceptions: see sample_exception_info(). */
#define SAMPLE_TYPE(type)	((u32)FIELD_PREP_CONST(INFO_TYPE, PERF_BR_##type))

static const u32 sample_types[PMU_BRANCH_TYPE + 1] = {
	[PMU_BRANCH_INTERRUPT]	= SAMPLE_TYPE(IRQ),
	[PMU_BRANCH_TRAP_RETURN] = SAMPLE_TYPE(ERET),
	[PMU_BRANCH_NOT_TAKEN]	= SAMPLE_TYPE(COND),
	[PMU_BRANCH_TAKEN]	= SAMPLE_TYPE(COND),
	[PMU_BRANCH_IND_CALL]	= SAMPLE_TYPE(IND_CALL),
	[PMU_BRANCH_CALL]	= SAMPLE_TYPE(CALL),
	[PMU_BRANCH_IND_JUMP]	= SAMPLE_TYPE(IND),
	[PMU_BRANCH_JUMP]	= SAMPLE_TYPE(UNCOND),
	[PMU_BRANCH_CORO_SWAP]	= SAMPLE_TYPE(IND_CALL),
	[PMU_BRANCH_RETURN]	= SAMPLE_TYPE(RET),
	[PMU_BRANCH_IND_LINK]	= SAMPLE_TYPE(IND),
	[PMU_BRANCH_LINK]	= SAMPLE_TYPE(UNCOND),
};

/* User addresses have the top bit clear in each of the translation schemes (Sv39 to Sv57). */
static bool sample_is_kernel(u64 address)
{
	return (s64)address < 0;
}

#define INFO_SYSCALL		FIELD_PREP(INFO_TYPE, PERF_BR_SYSCALL)
#define INFO_UNKNOWN		FIELD_PREP(INFO_TYPE, PERF_BR_UNKNOWN)
#define INFO_FAULT(type)	(FIELD_PREP(INFO_TYPE, PERF_BR_EXTEND_ABI) |	\
				 FIELD_PREP(INFO_NEW_TYPE, PERF_BR_NEW_FAULT_##type))

#define INSN_ECALL		0x00000073
/* An instruction of 32 bits has these bits set, and its opcode in bits 6:0. */
#define INSN_IS_LONG		0x3
#define INSN_OPCODE		GENMASK(6, 0)
/* A compressed instruction has its quadrant in bits 1:0, and a function in bits 15:13. */
#define INSN_QUADRANT		GENMASK(1, 0)
#define INSN_FUNCTION		GENMASK(15, 13)

/*
 * Loads and stores. Of the compressed ones, they are all of quadrant 0 but function 0, and all of
 * quadrant 2 but 0 and 4 (Unprivileged ISA, "RVC Instruction Set Listings" and "Zc*").
 */
static bool sample_insn_is_data(u32 insn)
{
	switch (insn & INSN_QUADRANT) {
	case 0:
		return FIELD_GET(INSN_FUNCTION, insn);
	case 1:
		return false;
	case 2:
		return FIELD_GET(INSN_FUNCTION, insn) & 3;
	}

	switch (insn & INSN_OPCODE) {
	case 0x03: /* LOAD */
	case 0x07: /* LOAD-FP */
	case 0x23: /* STORE */
	case 0x27: /* STORE-FP */
	case 0x2f: /* AMO */
		return true;
	}

	return false;
}

/*
 * Reads half an instruction of the current task or of the kernel. A KVM guest may have been able to
 * write the record, so the address is not trusted: of the kernel's memory, only its code is read.
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

/* If the instruction cannot be read now, its fetch may have caused the exception. */
static u64 sample_exception_info(u64 address)
{
	u16 low, high = 0;
	u32 insn;

	if (sample_read_code(address, &low))
		return INFO_FAULT(INST);
	/* The second half may be on another page. */
	if ((low & INSN_IS_LONG) == INSN_IS_LONG && sample_read_code(address + 2, &high))
		return INFO_FAULT(INST);

	insn = (u32)high << 16 | low;
	if (insn == INSN_ECALL)
		return INFO_SYSCALL;

	return sample_insn_is_data(insn) ? INFO_FAULT(DATA) : INFO_UNKNOWN;
}

/* How the records of an event are read: &riscv_pmu_event.branch.read_flags, and READ_CHECK */
#define READ_TRAPS	BIT(0)	/* traps are recorded: skip records with an address of 0 */
#define READ_FLAGS	BIT(1)	/* the event wants to know which branches were mispredicted */
#define READ_CYCLES	BIT(2)	/* the event wants the cycles */
#define READ_TYPES	BIT(3)	/* the event wants the types */
#define READ_PRIVS	BIT(4)	/* the event wants the modes */
#define READ_CHECK	BIT(5)	/* the hart records more than the event wants */

static u64 sample_flags_info(u64 target)
{
	return target & PMU_BRANCH_MISPREDICTED ? INFO_MISPREDICTED : INFO_PREDICTED;
}

/* Smctr, "Cycle Counting": a floating-point number, up to 2^27. perf has 16 bits for it. */
static u64 sample_cycles_info(u64 data)
{
	u64 mantissa = FIELD_GET(PMU_BRANCH_CYCLES_MANTISSA, data);
	unsigned int exponent = FIELD_GET(PMU_BRANCH_CYCLES_EXPONENT, data);

	if (likely(!(data & PMU_BRANCH_CYCLES_VALID)))
		return 0;
	if (exponent)
		mantissa = (mantissa + 4096) << (exponent - 1);

	return FIELD_PREP(INFO_CYCLES, min_t(u64, mantissa, U16_MAX));
}

/* The cycles of a record that is left out, which are part of those of the next newer one */
static void sample_add_cycles(u64 *newer, u64 data)
{
	u64 cycles = FIELD_GET(INFO_CYCLES, *newer);
	u64 more = FIELD_GET(INFO_CYCLES, sample_cycles_info(data));

	cycles = cycles && more ? min_t(u64, cycles + more, U16_MAX) : 0;
	*newer = (*newer & ~INFO_CYCLES) | FIELD_PREP(INFO_CYCLES, cycles);
}

static u64 sample_type_info(u64 from, u64 data)
{
	unsigned int type = data & PMU_BRANCH_TYPE;

	return type == PMU_BRANCH_EXCEPTION ? sample_exception_info(from) : sample_types[type];
}

static u64 sample_priv_info(u64 to)
{
	return sample_is_kernel(to) ? FIELD_PREP(INFO_PRIV, PERF_BR_PRIV_KERNEL) :
				      FIELD_PREP(INFO_PRIV, PERF_BR_PRIV_USER);
}

static u64 sample_mode_of(u64 address)
{
	return sample_is_kernel(address) ? PMU_SCTRCTL_S : PMU_SCTRCTL_U;
}

/* The hardware writes 0 in place of an address in a mode that it does not record. */
static bool sample_is_wanted(const struct riscv_pmu_event *ev, u64 from, u64 to, u64 data)
{
	unsigned int type = data & PMU_BRANCH_TYPE;

	if (!from || !to || !(ev->branch.ctl & sample_mode_of(from)) ||
	    !(ev->branch.ctl & sample_mode_of(to)))
		return false;
	if (type == PMU_BRANCH_NOT_TAKEN ||
	    ev->branch.ctl & RISCV_PMU_BRANCH_INH & PMU_SCTRCTL_TYPE(type))
		return false;

	return type != PMU_BRANCH_EXCEPTION || !(ev->flags & RISCV_PMU_EV_BRANCH_ECALLS) ||
	       sample_exception_info(from) == INFO_SYSCALL;
}

/* If @how is constant, the compiler removes the tests of @how from the loop. */
static __always_inline unsigned int sample_read(const struct riscv_pmu_event *ev,
						unsigned long depth,
						struct perf_branch_entry *entries, unsigned int how)
{
	unsigned long select = riscv_pmu_csr_branch_begin();
	u64 (*entry)[3] = (void *)entries;
	unsigned long n;

	for (n = 0; n < depth; n++) {
		u64 source = riscv_pmu_csr_branch_source(n);
		u64 from = source & ~PMU_BRANCH_VALID;
		u64 target, to, data = 0, info = 0;

		if (!(source & PMU_BRANCH_VALID))
			break;
		target = riscv_pmu_csr_branch_read(PMU_CSR_SIREG2);
		to = target & ~PMU_BRANCH_MISPREDICTED;
		if (how & READ_TRAPS && (!from || !to))
			continue;
		if (how & (READ_CHECK | READ_CYCLES | READ_TYPES))
			data = riscv_pmu_csr_branch_read(PMU_CSR_SIREG3);
		if (how & READ_CHECK && !sample_is_wanted(ev, from, to, data)) {
			if (how & READ_CYCLES && (void *)entry > (void *)entries)
				sample_add_cycles(&entry[-1][2], data);
			continue;
		}

		if (how & READ_FLAGS)
			info |= sample_flags_info(target);
		if (how & READ_CYCLES)
			info |= sample_cycles_info(data);
		if (how & READ_TYPES)
			info |= sample_type_info(from, data);
		if (how & READ_PRIVS)
			info |= sample_priv_info(to);
		(*entry)[0] = from;
		(*entry)[1] = to;
		(*entry)[2] = info;
		entry++;
	}
	riscv_pmu_csr_branch_end(select);
	/* If every record is copied, n is their number: no subtraction of pointers, no division. */
	return how & (READ_TRAPS | READ_CHECK) ? entry - (u64 (*)[3])(void *)entries : n;
}

/* What the perf tool wants for call stacks (--call-graph lbr) */
#define READ_ADDRESSES	0
/* What perf record -b wants: of user mode only, and with the kernel */
#define READ_USER	(READ_FLAGS | READ_CYCLES)
#define READ_KERNEL	(READ_FLAGS | READ_CYCLES | READ_TRAPS)
/* The default with types, of user mode only */
#define READ_USER_TYPES	(READ_FLAGS | READ_CYCLES | READ_TYPES)

/* The usual samples have loops of their own: the general loop takes 1.5 times as long. */
#define SAMPLE_READER(name, how)							\
static noinline unsigned int sample_read_##name(const struct riscv_pmu_event *ev,	\
						unsigned long depth,			\
						struct perf_branch_entry *entries)	\
{											\
	return sample_read(ev, depth, entries, how);					\
}

SAMPLE_READER(addresses, READ_ADDRESSES)
SAMPLE_READER(user, READ_USER)
SAMPLE_READER(kernel, READ_KERNEL)
SAMPLE_READER(user_types, READ_USER_TYPES)
SAMPLE_READER(all, ev->branch.read_flags)
SAMPLE_READER(checked, ev->branch.read_flags | READ_CHECK)

static unsigned int sample_read_records(const struct riscv_pmu_event *ev, unsigned long depth,
					u64 hart_ctl, struct perf_branch_entry *entries)
{
	if (ev->flags & RISCV_PMU_EV_BRANCH_CHECK || hart_ctl != ev->branch.ctl)
		return sample_read_checked(ev, depth, entries);

	switch (ev->branch.read_flags) {
	case READ_ADDRESSES:
		return sample_read_addresses(ev, depth, entries);
	case READ_USER:
		return sample_read_user(ev, depth, entries);
	case READ_KERNEL:
		return sample_read_kernel(ev, depth, entries);
	case READ_USER_TYPES:
		return sample_read_user_types(ev, depth, entries);
	}

	return sample_read_all(ev, depth, entries);
}

/* Chooses how the records of an event, whose branch.ctl is set, are read. */
void riscv_pmu_branch_set_read_flags(const struct riscv_pmu_branch_caps *caps,
				     struct riscv_pmu_event *ev)
{
	u64 wanted = ev->event->attr.branch_sample_type;

	ev->branch.read_flags = 0;
	/* The entry and exit of a KVM guest are traps that vsctrctl filters, if it can. */
	if ((ev->branch.ctl & caps->ctl & RISCV_PMU_BRANCH_TRAPS) != RISCV_PMU_BRANCH_TRAPS)
		ev->branch.read_flags |= READ_TRAPS;
	if (caps->has_misprediction && !(wanted & PERF_SAMPLE_BRANCH_NO_FLAGS))
		ev->branch.read_flags |= READ_FLAGS;
	if (!(wanted & PERF_SAMPLE_BRANCH_NO_CYCLES))
		ev->branch.read_flags |= READ_CYCLES;
	if (wanted & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		ev->branch.read_flags |= READ_TYPES;
	if (wanted & PERF_SAMPLE_BRANCH_PRIV_SAVE)
		ev->branch.read_flags |= READ_PRIVS;
}

/* Reads the records that an event wants, newest first; valid until the next call on this hart. */
struct perf_branch_stack *riscv_pmu_branch_read(struct riscv_pmu_hart *hart,
						const struct riscv_pmu_event *ev)
{
	struct perf_branch_stack *stack = hart->branch.stack;
	/* Records for an event that was removed may have modes or types that this one excludes. */
	u64 ctl = hart->branch.other_records ? 0 : hart->branch.ctl;
	unsigned int depth = hart->pmu->branch.depth;

	if (unlikely(ev->flags & RISCV_PMU_EV_POLLED)) {
		unsigned long status = riscv_pmu_csr_branch_status();

		/*
		 * A timer's interrupt does not freeze the records. If they are of the kernel, too,
		 * for another event, the branches of this function would overwrite them.
		 */
		riscv_pmu_csr_branch_write_status(status | PMU_SCTRSTATUS_FROZEN);
		stack->nr = sample_read_records(ev, depth, ctl, stack->entries);
		riscv_pmu_csr_branch_write_status(status);
		return stack;
	}

	/*
	 * Nothing freezes the records if the overflow does not trap: another interrupt is being
	 * handled (the AIA's handler reads stopi in a loop), or an NMI has waited. Then those of
	 * the kernel are of the handler, and change while they are read.
	 */
	stack->nr = 0;
	if (!(hart->branch.ctl & PMU_SCTRCTL_S) ||
	    likely(riscv_pmu_csr_branch_status() & PMU_SCTRSTATUS_FROZEN))
		stack->nr = sample_read_records(ev, depth, ctl, stack->entries);
	return stack;
}

/**
 * riscv_pmu_branch_save_sample() - put the branch records into a sample
 * @hart:	this hart
 * @event:	the event that is sampled, with PERF_SAMPLE_BRANCH_STACK
 * @data:	its sample
 *
 * If there are none to show, the sample has an empty list: without a list, perf's core omits
 * hw_idx, and the perf tool, which expects it, cannot read the rest of the file.
 */
void riscv_pmu_branch_save_sample(struct riscv_pmu_hart *hart, struct perf_event *event,
				  struct perf_sample_data *data)
{
	static struct perf_branch_stack no_records = { .hw_idx = -1ULL };
	struct perf_branch_stack *stack = &no_records;
	unsigned long next;

	if (likely(riscv_pmu_branch_check_current(hart, event) && hart->branch.ctl)) {
		stack = riscv_pmu_branch_read(hart, to_riscv_pmu_event(event));
		if (event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) {
			next = FIELD_GET(PMU_SCTRSTATUS_WRPTR, riscv_pmu_csr_branch_status());
			stack->hw_idx = (next - 1) & (hart->pmu->branch.depth - 1);
		}
	}
	perf_sample_save_brstack(data, event, stack, NULL);
}
