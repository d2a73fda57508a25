/* SPDX-License-Identifier: GPL-2.0 */
/* Simulated firmware with the SBI PMU extension, for tests of the SBI backend. */
#ifndef _RISCV_PMU_FAKE_FIRMWARE_H
#define _RISCV_PMU_FAKE_FIRMWARE_H

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/csr.h>
#include <asm/pmu_csr.h>
#include <asm/sbi_pmu_batch.h>

#include "../backend.h"
#include "../csr.h"
#include "../platform/platform.h"
#include "../pmu.h"
#include "../sbi/call.h"
#include "../sbi/method.h"
#include "fake_backend.h"

#define C(ctr)		BIT_ULL(ctr)
#define EVENT_L1D_MISS	0x10001
#define EVENT_BUS	0x00007
#define EVENT_FW_TIMER	0xf0005
#define EVENT_RAW	0x20000
#define EVENT_RAW_V2	0x30000

/*
 * The simulated counters: cycle, no counter 1, instret, three programmable counters, and two
 * firmware counters. On RV32 the last one is in the second word of a mask.
 */
#define FW_FIXED	(C(0) | C(2))
#define FW_CONFIG		(C(3) | C(4) | C(5))
#define FW_OWN		(C(6) | C(40))
#define FW_CTRS		(FW_FIXED | FW_CONFIG | FW_OWN)
/* Those of the firmware counters, and of all, that the driver uses */
#define FW_USED_OWN	(IS_ENABLED(CONFIG_RISCV_PMU_FW) ? FW_OWN : 0)
#define FW_USED		(FW_FIXED | FW_CONFIG | FW_USED_OWN)
#define FW_NR		41

#define FW_NR_FIDS	SBI_CALL_NR_PMU_FIDS
#define FW_NR_BATCH	(SBI_PMU_BATCH_MAP_EVENTS + 1)

/* The flag for the snapshot page, the same for START and STOP */
#define FW_FLAG_SNAPSHOT	SBI_PMU_START_FLAG_INIT_SNAPSHOT
/* Number of calls for a mask with counters 3 and 40 */
#define FW_NR_WORDS		(64 / BITS_PER_LONG)

enum fw_state { FW_FREE, FW_STOPPED, FW_RUNNING };

struct fw_ctr {
	enum fw_state	state;
	u32		event_idx;
	u64		event_data;
	unsigned long	flags;
	u64		value;
};

/**
 * struct firmware - the simulated firmware, its errors and invalid results
 * @pmu:	the PMU that probe initialises
 * @platform:	the table of a core, for tests that have one
 * @batch:	the batch for apply
 * @ctr:	the counters
 * @calls:	number of calls, by function
 * @highest:	the highest counter of all COUNTER_GET_INFO calls
 * @num:	result of NUM_COUNTERS
 * @info:	results of COUNTER_GET_INFO for the counters in @override_info
 * @override_info: counters whose description is replaced by @info
 * @match:	result of COUNTER_CFG_MATCH if @override_match is set
 * @override_match: replace the result of COUNTER_CFG_MATCH by @match
 * @error:	error codes, by function
 * @error_ctrs:	START and STOP fail only for these counters
 * @method:	the SBI method that the backend has to choose
 * @has_snapshot: snapshots are supported
 * @has_batch:	the batch extension is supported
 * @page:	the snapshot page, or NULL
 * @shmem:	the page of the batch extension, or NULL
 * @reads:	number of reads of counter CSRs
 * @period:	a running counter advances once in this number of reads; 0: never
 * @step:	events by which it advances then
 * @irqs:	counters that set @overflowed when they wrap
 * @keeps_flags: a start does not clear @overflowed
 * @keeps_pending_flags: a start does not clear @overflowed while @pending is set
 * @pending:	the overflow interrupt is pending
 * @filters:	counters that support filters
 * @duplicate_event: QEMU's bug: of several counters with an event only the first counts it
 * @readable:	counters whose CSRs can be read
 * @refuses:	counters that cannot be configured
 * @touched:	counters that calls have changed
 * @raw_ctrs:	counters that can hold raw events
 * @has_info:	EVENT_GET_INFO is supported (SBI 3.0)
 * @reports_no_events: EVENT_GET_INFO reports each event as not supported
 * @overflowed:	counters that have overflowed and have not been started since
 * @batch_calls: number of calls of the batch extension, by function
 * @batch_error: error codes of the batch extension, by function
 * @refuses_page: error code of calls that set a page, but not of those that disable it
 * @has_no_map:	hardware events other than cycles and instructions need @mapped
 * @mapped:	events that the driver has mapped
 * @nr_mapped:	number of @mapped
 * @extra_bits:	bits that are added to the masks of overflowed, failed and able counters
 */
struct firmware {
	struct riscv_pmu	pmu;
	struct riscv_pmu_platform platform;
	struct riscv_pmu_batch	batch;
	struct fw_ctr		ctr[FW_NR];
	unsigned int		calls[FW_NR_FIDS];
	unsigned long		highest;
	long			num;
	u64			info[FW_NR];
	u64			override_info;
	long			match;
	bool			override_match;
	long			error[FW_NR_FIDS];
	u64			error_ctrs;
	const char		*method;
	bool			has_snapshot;
	bool			has_batch;
	struct riscv_pmu_snapshot_data *page;
	struct sbi_pmu_batch_shmem *shmem;
	unsigned int		reads;
	unsigned int		period;
	u64			step;
	u64			irqs;
	bool			keeps_flags;
	bool			keeps_pending_flags;
	bool			pending;
	u64			filters;
	bool			duplicate_event;
	u64			readable;
	u64			refuses;
	u64			touched;
	u64			raw_ctrs;
	bool			has_info;
	bool			reports_no_events;
	u64			overflowed;
	unsigned int		batch_calls[FW_NR_BATCH];
	long			batch_error[FW_NR_BATCH];
	long			refuses_page;
	bool			has_no_map;
	struct sbi_pmu_batch_slot mapped[4];
	unsigned int		nr_mapped;
	u64			extra_bits;
};

u64 fake_fw_info_of(u16 csr, unsigned int width, bool own);
int fake_fw_init(struct kunit *test);
int fake_fw_init_snapshot(struct kunit *test);
int fake_fw_init_batch(struct kunit *test);
void fake_fw_exit(struct kunit *test);
int fake_fw_probe(struct firmware *fw);
void fake_fw_probe_as(struct kunit *test, const char *method);
u64 fake_fw_event_ctrs(struct firmware *fw, u32 event_idx, u64 event_data);
u64 fake_fw_untried_ctrs(struct firmware *fw, u32 event_idx, u64 event_data);
int fake_fw_apply(struct firmware *fw);
u64 fake_fw_held_ctrs(void);
void fake_fw_plan(struct firmware *fw, u64 ctrs, u32 event_idx);
u64 fake_fw_in_state(const struct firmware *fw, enum fw_state state);
void fake_fw_expect_all_released(struct kunit *test);
u64 fake_fw_read_ovf(unsigned int csr);
void fake_fw_ack_irq(unsigned int csr, unsigned int hwirq);
u64 fake_fw_value_of(unsigned int ctr);
void fake_fw_plan_load(struct firmware *fw, u64 ctrs);
void fake_fw_expect_loaded(struct kunit *test, u64 ctrs);
void fake_fw_run_four(struct kunit *test);

/* A suite of tests, with firmware of one of three kinds. */
#define FW_SUITE(suite_name, cases, init_fn)		\
	static struct kunit_suite cases##_suite = {	\
		.name		= suite_name,		\
		.init		= init_fn,		\
		.suite_exit	= fake_restart_harts,	\
		.exit		= fake_fw_exit,		\
		.test_cases	= cases,		\
	}

#endif /* _RISCV_PMU_FAKE_FIRMWARE_H */
