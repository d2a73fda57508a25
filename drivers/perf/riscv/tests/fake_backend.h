/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A backend over counters that exist in memory only. It does what the ops in
 * linux/perf/riscv_pmu.h promise and not a bit more, writes down all that it
 * is asked to do, and complains of whatever a real backend could not serve.
 */
#ifndef _RISCV_PMU_FAKE_BACKEND_H
#define _RISCV_PMU_FAKE_BACKEND_H

#include <kunit/test.h>
#include <linux/bits.h>

#include "../counter.h"
#include "../entries.h"
#include "../pmu.h"
#include "../update.h"

/* The machine: cycle and instret, programmable counters, firmware counters; some above 31. */
#define FAKE_FIXED	(BIT_ULL(0) | BIT_ULL(2))
#define FAKE_CONFIG	(BIT_ULL(3) | BIT_ULL(4) | BIT_ULL(5) | BIT_ULL(33))
#define FAKE_FW		(BIT_ULL(40) | BIT_ULL(41))
#define FAKE_CTRS	(FAKE_FIXED | FAKE_CONFIG | FAKE_FW)

#define FAKE_ALL_MODES	(RISCV_PMU_INH_U | RISCV_PMU_INH_S | RISCV_PMU_INH_VU | \
			 RISCV_PMU_INH_VS | RISCV_PMU_INH_M)

#define FAKE_LOG_SIZE	16

/**
 * struct fake_ctr - one simulated counter
 * @cfg:	what it holds, if @holds
 * @value:	its value, within its width
 * @holds:	it has a config
 * @running:	it counts
 * @overflowed:	it has wrapped since it was last started
 * @unset:	its value means nothing until it is loaded (firmware counters)
 */
struct fake_ctr {
	struct riscv_pmu_config	cfg;
	u64			value;
	bool			holds;
	bool			running;
	bool			overflowed;
	bool			unset;
};

/* The masks of a batch, as they came */
struct fake_batch {
	u64	stop;
	u64	release;
	u64	program;
	u64	start;
	u64	load;
};

/**
 * struct fake_pmu - the simulated hart, and a PMU that uses it
 * @pmu:	handed to the code under test
 * @hart:	a hart for tests that do without &riscv_pmu.harts
 * @ctr:	the counters
 * @mode:	enum riscv_pmu_inh bit of the mode that the hart is in
 * @fail_config: counters that refuse every program
 * @fail_start:	counters that refuse to start
 * @wide:	counters of 64 bits, whatever the PMU takes them for
 * @absent:	event_idx that this machine does not have
 * @log:	the last batches, &fake_pmu.nr_batches modulo its size
 * @nr_batches:	batches so far
 * @nr_reads:	counter reads so far
 * @complaint:	the first violation of the contract, or NULL
 * @complaint_ctr: the counter that it was about
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
	struct fake_batch	log[FAKE_LOG_SIZE];
	unsigned int		nr_batches;
	unsigned int		nr_reads;
	const char		*complaint;
	int			complaint_ctr;
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
void fake_expect_clean(struct kunit *test, struct fake_pmu *fake);
void fake_expect_idle(struct kunit *test, struct fake_pmu *fake, struct riscv_pmu_hart *hart);

/* Whether the event is on a counter's list. */
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

/* For suites whose tests change what backends know of this machine's harts. */
void fake_restart_harts(struct kunit_suite *suite);

#endif /* _RISCV_PMU_FAKE_BACKEND_H */
