/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulated CSRs of branch records (Smctr and Ssctr) for the tests of branch.c and sample.c in
 * branch/, and events whose samples have branch records.
 */
#ifndef _RISCV_PMU_FAKE_BRANCH_H
#define _RISCV_PMU_FAKE_BRANCH_H

#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/perf_event.h>

#include "../branch/branch.h"
#include "../branch/state.h"
#include "event_fixture.h"

#define BRANCH_DEPTH		16
#define BRANCH_DEPTH_MAX	64
#define BRANCH_PERIOD		1000
/* Value of siselect before each call: a register of AIA, which the driver has to restore. */
#define BRANCH_SELECT		0x72

/* The bits of sctrctl that the driver uses, by the numbers of Smctr */
#define BRANCH_CTL_ALL							\
	(GENMASK_ULL(47, 40) | BIT_ULL(37) | GENMASK_ULL(35, 33) |	\
	 BIT_ULL(12) | BIT_ULL(7) | GENMASK_ULL(1, 0))

#define BR(filter)		((u64)PERF_SAMPLE_BRANCH_##filter)
#define BR_BOTH			(BR(USER) | BR(KERNEL))

/* Addresses of user mode and of the kernel, where no code is */
#define BRANCH_USER(n)		(0x10000ULL + (n) * 4)
#define BRANCH_KERNEL(n)	(0xffffffff70000000ULL + (n) * 4)

/* exclude_* of an event */
enum branch_exclude {
	EX_USER		= BIT(0),
	EX_KERNEL	= BIT(1),
	EX_HV		= BIT(2),
	EX_HOST		= BIT(3),
};

/**
 * struct branch_entry - a record of a sample
 * @from:	as in &struct perf_branch_entry
 * @to:		as there, and so on
 * @mispred:	as there
 * @predicted:	as there
 * @cycles:	as there
 * @type:	as there
 * @new_type:	as there
 * @priv:	as there
 * @has_more:	other fields are not 0
 */
struct branch_entry {
	u64		from;
	u64		to;
	bool		mispred;
	bool		predicted;
	unsigned int	cycles;
	unsigned int	type;
	unsigned int	new_type;
	unsigned int	priv;
	bool		has_more;
};

/**
 * struct branch_sample - the branch records of the last sample
 * @taken:	it has some, which may be none
 * @nr:		their number
 * @hw_idx:	index of the newest one
 * @entry:	the records
 */
struct branch_sample {
	bool			taken;
	u64			nr;
	u64			hw_idx;
	struct branch_entry	entry[BRANCH_DEPTH_MAX];
};

/**
 * struct branch_file - the CSRs of a hart's branch records
 * @depth:	the number of records
 * @ctl_bits:	writable bits of sctrctl
 * @ctl:	sctrctl
 * @status:	sctrstatus
 * @select:	siselect
 * @record:	the records; sctrstatus.WRPTR is where the next one goes
 * @absent:	M-mode keeps the CSRs to itself: accesses trap
 * @polled:	nothing but the driver freezes the records before they are read
 * @untrapped:	an overflow is handled without a trap, so it does not freeze the records
 * @saved:	the driver has saved siselect, and has not restored it yet
 * @clears:	how often the records were cleared
 * @guards:	how often the driver asked for protection from guests
 * @resets:	how often the CSRs were initialised
 * @watches:	how many events have perf report context switches
 * @violation:	description of the first access that is not allowed, or NULL
 * @sample:	the last sample
 */
struct branch_file {
	unsigned int		depth;
	u64			ctl_bits;
	u64			ctl;
	unsigned long		status;
	unsigned long		select;
	struct riscv_pmu_branch_record record[BRANCH_DEPTH_MAX];
	bool			absent;
	bool			polled;
	bool			untrapped;
	bool			saved;
	unsigned int		clears;
	unsigned int		guards;
	unsigned int		resets;
	int			watches;
	const char		*violation;
	struct branch_sample	sample;
};

int fake_branch_init(struct kunit *test);
void fake_branch_exit(struct kunit *test);
void fake_branch_start(struct fake_pmu *fake);
void fake_branch_restart(struct fake_pmu *fake, u64 missing);
void fake_branch_write(unsigned int csr, unsigned long value);
void fake_branch_push(struct branch_file *file, u64 source, u64 target, u64 data);
void fake_branch_transfer(struct branch_file *file, unsigned int type, u64 from, u64 to);
struct riscv_pmu_branch_record *fake_branch_record(struct branch_file *file, unsigned int n);
unsigned int fake_branch_count(struct branch_file *file);

struct state_event *fake_branch_new(struct kunit *test, unsigned int ctr, u64 filters);
struct state_event *fake_branch_event(struct kunit *test, unsigned int ctr, u64 filters);
void fake_branch_exclude(struct state_event *s, unsigned int exclude);
int fake_branch_open(struct state_event *s);
int fake_branch_add(struct kunit *test, struct state_event *s);
void fake_branch_in(struct kunit *test, struct state_event *s);
void fake_branch_overflow(struct fake_pmu *fake);
const struct branch_sample *fake_branch_sample(struct fake_pmu *fake, struct state_event *s);

static inline struct branch_file *to_branch_file(struct fake_pmu *fake)
{
	return fake->pmu.priv;
}

#endif /* _RISCV_PMU_FAKE_BRANCH_H */
