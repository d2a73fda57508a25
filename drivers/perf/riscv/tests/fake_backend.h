/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A backend with simulated counters. It implements the ops exactly as backend.h
 * specifies them, records the batches, and reports calls that violate the specification.
 */
#ifndef _RISCV_PMU_FAKE_BACKEND_H
#define _RISCV_PMU_FAKE_BACKEND_H

#include <kunit/test.h>
#include <linux/bits.h>

#include "../backend.h"
#include "../counter.h"
#include "../entries.h"
#include "../pmu.h"
#include "../update.h"

/* The counters: cycle and instret, programmable ones, firmware counters; some are above 31. */
#define FAKE_FIXED	(BIT_ULL(0) | BIT_ULL(2))
#define FAKE_CONFIG	(BIT_ULL(3) | BIT_ULL(4) | BIT_ULL(5) | BIT_ULL(33))
#define FAKE_FW		(BIT_ULL(40) | BIT_ULL(41))
#define FAKE_CTRS	(FAKE_FIXED | FAKE_CONFIG | FAKE_FW)

#define FAKE_ALL_MODES	(RISCV_PMU_INH_U | RISCV_PMU_INH_S | RISCV_PMU_INH_VU | \
			 RISCV_PMU_INH_VS | RISCV_PMU_INH_M)

#define FAKE_LOG_SIZE	16

/**
 * struct fake_ctr - one simulated counter
 * @cfg:	its config, if @holds
 * @value:	its value, within its width
 * @holds:	it holds a config
 * @running:	it is started
 * @overflowed:	it has wrapped since it was last started
 * @unset:	its value is undefined until it is loaded (firmware counters)
 */
struct fake_ctr {
	struct riscv_pmu_config	cfg;
	u64			value;
	bool			holds;
	bool			running;
	bool			overflowed;
	bool			unset;
};

/* The masks of a batch, as the backend got them */
struct fake_batch {
	u64	stop;
	u64	release;
	u64	program;
	u64	start;
	u64	load;
};

/**
 * struct fake_pmu - the simulated hart, and a PMU that uses it
 * @pmu:	the PMU, for the code under test
 * @hart:	a hart, for tests without &riscv_pmu.harts
 * @ctr:	the counters
 * @mode:	enum riscv_pmu_inh bit of the hart's present mode
 * @fail_config: counters that cannot be programmed
 * @fail_start:	counters that cannot be started
 * @wide:	counters that have 64 bits even if the PMU's width is smaller
 * @absent:	event_idx of an event that no counter can hold
 * @fixed_cycles: only the fixed counter can count cycles
 * @reload_gap:	ticks from a call of &riscv_pmu_ops.reload until it stops the counter
 * @step:	if set, called before and after each access to a counter
 * @step_data:	for @step
 * @log:	the last batches; the next one is written to @nr_batches modulo its size
 * @nr_batches:	number of batches
 * @nr_reads:	number of counter reads
 * @nr_fw_reads: those of firmware counters
 * @violation:	description of the first violation of the ops' specification, or NULL
 * @violation_ctr: the counter of that violation, or -1
 */
struct fake_pmu {
	struct riscv_pmu	pmu;
	struct riscv_pmu_hart	hart;
	struct fake_ctr		ctr[RISCV_MAX_COUNTERS];
	u32			mode;
	u64			fail_config;
	u64			fail_start;
	u64			wide;
	u32			absent;
	bool			fixed_cycles;
	u64			reload_gap;
	void			(*step)(struct fake_pmu *fake);
	void			*step_data;
	struct fake_batch	log[FAKE_LOG_SIZE];
	unsigned int		nr_batches;
	unsigned int		nr_reads;
	unsigned int		nr_fw_reads;
	const char		*violation;
	int			violation_ctr;
};

struct fake_pmu *fake_create(struct kunit *test);
void fake_set_width(struct fake_pmu *fake, u64 ctrs, unsigned int width);
void fake_advance(struct fake_pmu *fake, u64 ticks);
u64 fake_rate(const struct riscv_pmu_config *cfg);
u64 fake_until_wrap(const struct fake_pmu *fake, unsigned int ctr);
u64 fake_running(const struct fake_pmu *fake);
u64 fake_holding(const struct fake_pmu *fake);
struct fake_batch fake_last(const struct fake_pmu *fake, unsigned int back);
void fake_expect_batch(struct kunit *test, const struct fake_pmu *fake, unsigned int back,
		       struct fake_batch req);
struct riscv_pmu_config fake_config(u64 selector, u32 inh);
void fake_event_init(struct riscv_pmu_event *ev, struct riscv_pmu_config cfg, u64 ctrs);
void fake_expect_no_violation(struct kunit *test, struct fake_pmu *fake);
void fake_expect_idle(struct kunit *test, struct fake_pmu *fake, struct riscv_pmu_hart *hart);

/* Whether an event is attached to a counter. */
static inline bool fake_is_attached(const struct riscv_pmu_event *ev)
{
	const struct riscv_pmu_event *other;

	if (!ev->counter)
		return false;
	list_for_each_entry(other, &ev->counter->events, node) {
		if (other == ev)
			return true;
	}

	return false;
}

/* suite_exit of suites whose tests change the backends' per-CPU state of the machine's PMU. */
void fake_restart_harts(struct kunit_suite *suite);

#endif /* _RISCV_PMU_FAKE_BACKEND_H */
