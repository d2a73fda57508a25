// SPDX-License-Identifier: GPL-2.0
/*
 * Branch records (Ssctr): which transfers of control each event wants recorded. branch.c makes the
 * hart record the union of what its events want, and sample.c leaves out of each sample what
 * its event does not want.
 */

#include <linux/perf_event.h>

#include "../ebb/ebb.h"
#include "state.h"
#include "../update.h"

#define BRANCH_FILTERS									\
	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ANY_CALL |				\
	 PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_IND_CALL |			\
	 PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_IND_JUMP |			\
	 PERF_SAMPLE_BRANCH_CALL)

#define BRANCH_SUPPORTED								\
	(PERF_SAMPLE_BRANCH_PLM_ALL | BRANCH_FILTERS | PERF_SAMPLE_BRANCH_CALL_STACK |	\
	 PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |			\
	 PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX |			\
	 PERF_SAMPLE_BRANCH_PRIV_SAVE)

#define TYPE(type)	PMU_SCTRCTL_TYPE(PMU_BRANCH_##type)

/*
 * The types of transfers that a filter of perf selects. A co-routine swap is a return and a call in
 * one instruction (Smctr, "Transfer Types").
 */
static const struct {
	u64 filter;
	u64 types;
} branch_filters[] = {
	{ PERF_SAMPLE_BRANCH_ANY,	 RISCV_PMU_BRANCH_INH },
	{ PERF_SAMPLE_BRANCH_ANY_CALL,	 TYPE(IND_CALL) | TYPE(CALL) | TYPE(CORO_SWAP) |
					 TYPE(EXCEPTION) },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN, TYPE(RETURN) | TYPE(CORO_SWAP) | TYPE(TRAP_RETURN) },
	{ PERF_SAMPLE_BRANCH_IND_CALL,	 TYPE(IND_CALL) | TYPE(CORO_SWAP) },
	{ PERF_SAMPLE_BRANCH_COND,	 TYPE(TAKEN) },
	{ PERF_SAMPLE_BRANCH_IND_JUMP,	 TYPE(IND_JUMP) | TYPE(IND_LINK) },
	{ PERF_SAMPLE_BRANCH_CALL,	 TYPE(CALL) },
	{ PERF_SAMPLE_BRANCH_CALL_STACK, TYPE(IND_CALL) | TYPE(CALL) | TYPE(CORO_SWAP) |
					 TYPE(RETURN) },
};

/*
 * The modes that perf's core sets in branch_sample_type if the user sets none. The driver cannot
 * tell who has set them. So if the modes are these, it ignores PERF_SAMPLE_BRANCH_HV (machine mode
 * is never recorded), and PERF_SAMPLE_BRANCH_KERNEL of a call stack; otherwise it refuses these
 * bits.
 */
static u64 branch_default_modes(const struct perf_event_attr *attr)
{
	u64 modes = 0;

	if (!attr->exclude_user)
		modes |= PERF_SAMPLE_BRANCH_USER;
	if (!attr->exclude_kernel)
		modes |= PERF_SAMPLE_BRANCH_KERNEL;
	if (!attr->exclude_hv)
		modes |= PERF_SAMPLE_BRANCH_HV;

	return modes;
}

static bool branch_is_call_stack(const struct perf_event_attr *attr)
{
	return attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/*
 * The modes that the user asks for and that the event does not exclude. A call stack is of user
 * mode only: a context switch changes the kernel's stack, so returns on the new stack would remove
 * the records of calls on the old one.
 */
static u64 branch_modes(const struct perf_event_attr *attr)
{
	u64 modes = 0;

	if (attr->exclude_host)
		return 0;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_USER && !attr->exclude_user)
		modes |= PMU_SCTRCTL_U;
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_KERNEL && !attr->exclude_kernel &&
	    !branch_is_call_stack(attr))
		modes |= PMU_SCTRCTL_S;

	return modes;
}

static u64 branch_types(u64 filters)
{
	u64 types = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(branch_filters); i++) {
		if (filters & branch_filters[i].filter)
			types |= branch_filters[i].types;
	}

	return types;
}

static bool branch_is_supported(const struct perf_event_attr *attr)
{
	u64 type = attr->branch_sample_type, refused = PERF_SAMPLE_BRANCH_HV;

	if (type & ~(u64)BRANCH_SUPPORTED)
		return false;
	if (branch_is_call_stack(attr))
		refused |= PERF_SAMPLE_BRANCH_KERNEL;

	return !(type & refused) ||
	       (type & PERF_SAMPLE_BRANCH_PLM_ALL) == branch_default_modes(attr);
}

static u64 branch_event_ctl(const struct perf_event_attr *attr)
{
	u64 modes = branch_modes(attr), types = branch_types(attr->branch_sample_type);
	u64 ctl = modes | PMU_SCTRCTL_LCOFIFRZ;

	/* Each trap, and each return from one, has an end outside user mode. */
	if (modes == PMU_SCTRCTL_U)
		types &= ~RISCV_PMU_BRANCH_TRAPS;
	if (branch_is_call_stack(attr))
		ctl |= PMU_SCTRCTL_RASEMU;

	return ctl | (RISCV_PMU_BRANCH_INH & ~types);
}

/* Of the exceptions, the event wants system calls only. */
static bool branch_wants_ecalls(const struct perf_event_attr *attr)
{
	return attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY_CALL &&
	       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY) &&
	       branch_modes(attr) & PMU_SCTRCTL_S;
}

/*
 * The types to leave out that the hardware does not filter (Smctr: all inhibits are optional). Call
 * stacks have no filter, and traps are not recorded if only user mode is.
 */
static u64 branch_unfiltered(const struct riscv_pmu_branch_caps *caps,
			     const struct perf_event_attr *attr)
{
	u64 ctl = branch_event_ctl(attr), inhibits = ctl & RISCV_PMU_BRANCH_INH & ~caps->ctl;

	if (ctl & PMU_SCTRCTL_RASEMU)
		return 0;

	return ctl & PMU_SCTRCTL_S ? inhibits : inhibits & ~RISCV_PMU_BRANCH_TRAPS;
}

/**
 * riscv_pmu_branch_check() - check which branches an event wants recorded
 * @event:	an event; its attributes are user input
 *
 * Return: 0, also for an event without branch records; -EOPNOTSUPP if this machine cannot record
 * what the event wants; -EINVAL if the attributes contradict each other.
 */
int riscv_pmu_branch_check(struct perf_event *event)
{
	const struct riscv_pmu_branch_caps *caps = &to_riscv_pmu(event->pmu)->branch;
	const struct perf_event_attr *attr = &event->attr;

	if (!has_branch_stack(event))
		return 0;
	if (!caps->depth || !branch_is_supported(attr))
		return -EOPNOTSUPP;
	if (branch_is_call_stack(attr) && !(caps->ctl & PMU_SCTRCTL_RASEMU))
		return -EOPNOTSUPP;
	/* The emulation of a call stack (RASEMU) ignores the filters of types. */
	if (branch_is_call_stack(attr) && attr->branch_sample_type & BRANCH_FILTERS)
		return -EINVAL;
	if (!branch_modes(attr) || !branch_types(attr->branch_sample_type))
		return -EINVAL;
	/* If records have no type (Smctr: it is optional), only the hardware can filter by type. */
	if (!caps->has_types && (branch_wants_ecalls(attr) || branch_unfiltered(caps, attr)))
		return -EOPNOTSUPP;

	return 0;
}

/*
 * A group that wants what no hart can record together could never count. Events with event-based
 * branches (EBBs) have to want the same records, because their page has room for those of one
 * event only.
 */
static bool branch_fits_event(const struct perf_event *event, const struct perf_event *other)
{
	if (!riscv_pmu_owns(other) || other == event ||
	    !riscv_pmu_event_has_branches(to_riscv_pmu_event(other)))
		return true;
	if (riscv_pmu_event_has_ebb(to_riscv_pmu_event(event)))
		return event->attr.branch_sample_type == other->attr.branch_sample_type;

	return riscv_pmu_branch_can_combine(to_riscv_pmu(event->pmu),
					    to_riscv_pmu_event(event)->branch.ctl,
					    to_riscv_pmu_event(other)->branch.ctl);
}

static bool branch_fits_group(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader, *sibling;

	/* A leader has no siblings yet, and no context, whose lock protects them. */
	if (leader == event)
		return true;
	if (!branch_fits_event(event, leader))
		return false;
	for_each_sibling_event(sibling, leader) {
		if (!branch_fits_event(event, sibling))
			return false;
	}

	return true;
}

/**
 * riscv_pmu_branch_init_event() - initialise the branch_* fields of an event
 * @event:	an event that has passed riscv_pmu_branch_check(), its pmu_private set
 *
 * Return: 0; -EOPNOTSUPP if it has records of the kernel and nothing freezes the records for its
 * samples; -EINVAL if its group wants records that cannot be combined with its own.
 */
int riscv_pmu_branch_init_event(struct perf_event *event)
{
	const struct riscv_pmu *pmu = to_riscv_pmu(event->pmu);
	struct riscv_pmu_event *ev = to_riscv_pmu_event(event);

	if (!has_branch_stack(event) || !(ev->flags & RISCV_PMU_EV_SAMPLING))
		return 0;

	ev->branch.ctl = branch_event_ctl(&event->attr);
	/*
	 * A timer's or a vendor's interrupt leaves the records unfrozen: the branches of its
	 * handler overwrite those of the kernel.
	 */
	if (ev->branch.ctl & PMU_SCTRCTL_S &&
	    (ev->flags & RISCV_PMU_EV_POLLED || pmu->hwirq != RV_IRQ_PMU ||
	     !(pmu->branch.ctl & PMU_SCTRCTL_LCOFIFRZ)))
		return -EOPNOTSUPP;
	if (!branch_fits_group(event))
		return -EINVAL;

	ev->flags |= RISCV_PMU_EV_BRANCH;
	if (branch_wants_ecalls(&event->attr))
		ev->flags |= RISCV_PMU_EV_BRANCH_ECALLS | RISCV_PMU_EV_BRANCH_CHECK;
	if (branch_unfiltered(&pmu->branch, &event->attr))
		ev->flags |= RISCV_PMU_EV_BRANCH_CHECK;
	riscv_pmu_branch_set_read_flags(&pmu->branch, ev);
	/*
	 * An event of a single task is removed when that task is switched out, which clears the
	 * records as well, and takes half the instructions. An inherited event may stay when a
	 * related task runs next.
	 */
	if (!(event->attach_state & PERF_ATTACH_TASK) || event->attr.inherit ||
	    branch_is_call_stack(&event->attr))
		ev->flags |= RISCV_PMU_EV_BRANCH_SWITCH;
	if (branch_is_call_stack(&event->attr))
		event->attach_state |= PERF_ATTACH_TASK_DATA;
	return 0;
}
