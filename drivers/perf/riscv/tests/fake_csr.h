/* SPDX-License-Identifier: GPL-2.0 */
/* Simulated CSRs of delegated counters, and firmware, for tests of the Ssccfg backend. */
#ifndef _RISCV_PMU_FAKE_CSR_H
#define _RISCV_PMU_FAKE_CSR_H

#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/pmu_csr.h>

#include "../backend.h"
#include "../csr.h"
#include "../event.h"
#include "../fw.h"
#include "../platform/platform.h"
#include "../pmu.h"
#include "../sbi/call.h"
#include "../ssccfg/ssccfg.h"
#include "fake_backend.h"

/* cycle, instret and four programmable counters */
#define FILE_HPMS	(BIT(0) | BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6))
#define FILE_FIXED	(BIT(0) | BIT(2))
#define FILE_FW		(BIT_ULL(40) | BIT_ULL(41))
/* Those of the firmware counters that the driver uses */
#define FILE_USED_FW	(IS_ENABLED(CONFIG_RISCV_PMU_FW) ? FILE_FW : 0)
/* Value of siselect before each call: a register of AIA, which the backend has to restore. */
#define FILE_SELECT	0x72

#define FILE_DTLB	RISCV_PMU_EVENT_CACHE(DTLB, OP_READ, MISS)
#define FILE_SEL_CYCLES	0x11
#define FILE_SEL_INSNS	0x12
#define FILE_SEL_DTLB	0x13

/* Selectors of the events, for the simulated firmware or as the table of a core. */
static const struct riscv_pmu_selector file_selectors[] = {
	{ RISCV_PMU_EVENT_CYCLES,	FILE_SEL_CYCLES },
	{ RISCV_PMU_EVENT_INSTRUCTIONS,	FILE_SEL_INSNS },
	{ FILE_DTLB,			FILE_SEL_DTLB },
};

/**
 * struct csr_file - a hart's counter CSRs, and simulated firmware
 * @pmu:	the PMU, for the backend
 * @batch:	the batch for apply
 * @values:	delegated counters
 * @events:	delegated counters with an event register
 * @inhibit:	scountinhibit
 * @select:	siselect
 * @value:	values of the counters
 * @event:	event registers of the counters, as M-mode reads them, with MINH
 * @value_bits:	writable bits of each counter
 * @event_bits:	writable bits of each event register
 * @overflowed:	scountovf
 * @sticky_event: QEMU's bug: a counter with MINH keeps counting its first event
 * @first:	selector of that event; 0: there was none
 * @duplicate_event: QEMU's bug: of several counters with an event only the first counts it
 * @has_sbi:	the firmware has the PMU extension
 * @hpm_of:	hpmcounter number of each hardware counter of the firmware
 * @starts:	number of writes that started counters
 * @stops:	number of writes that stopped counters
 * @fw_calls:	number of firmware calls for firmware counters
 * @matches:	hardware counters that the firmware was asked to configure, by its numbers
 * @configured:	those that the firmware takes for configured: it refuses them until a reset
 * @accesses:	number of accesses that may trap
 * @trap_at:	the access that traps, counted from 1; 0: none
 * @keeps_trapping: later accesses of the same register trap, too
 * @trap_csr:	the CSR whose access has trapped
 * @trap_select: siselect at that access, if the CSR depends on it
 * @read_only:	the CSR whose writes trap although it can be read
 * @sctrctl:	sctrctl; all bits are writable
 * @sctrstatus:	sctrstatus
 * @sctrdepth:	sctrdepth
 * @record:	a branch record: source, target and data
 * @violation:	description of the first access that is not allowed, or NULL
 */
struct csr_file {
	struct riscv_pmu	pmu;
	struct riscv_pmu_batch	batch;
	u32			values;
	u32			events;
	u32			inhibit;
	unsigned long		select;
	u64			value[PMU_CSR_CTR_NUM];
	u64			event[PMU_CSR_CTR_NUM];
	u64			value_bits[PMU_CSR_CTR_NUM];
	u64			event_bits[PMU_CSR_CTR_NUM];
	u64			overflowed;
	bool			sticky_event;
	u64			first[PMU_CSR_CTR_NUM];
	bool			duplicate_event;
	bool			has_sbi;
	u8			hpm_of[8];
	unsigned int		starts;
	unsigned int		stops;
	unsigned int		fw_calls;
	u64			matches;
	u64			configured;
	unsigned int		accesses;
	unsigned int		trap_at;
	bool			keeps_trapping;
	unsigned int		trap_csr;
	unsigned long		trap_select;
	unsigned int		read_only;
	unsigned long		sctrctl;
	unsigned long		sctrstatus;
	unsigned long		sctrdepth;
	unsigned long		record[3];
	const char		*violation;
};

#define FILE_MINH	BIT_ULL(62)

int fake_csr_init(struct kunit *test);
void fake_csr_exit(struct kunit *test);
void fake_csr_reset(struct csr_file *file);
int fake_csr_probe(struct csr_file *file);
struct csr_file *fake_csr_ready(struct kunit *test);
void fake_csr_expect_no_violation(struct kunit *test, struct csr_file *file);
int fake_csr_apply(struct csr_file *file);
u64 fake_csr_event_ctrs(struct csr_file *file, u32 event_idx, u64 data);
u64 fake_csr_raw_ctrs(struct csr_file *file, u64 selector);
void fake_csr_program(struct csr_file *file, unsigned int ctr, u32 event_idx, u64 data, u32 inh);

#endif /* _RISCV_PMU_FAKE_CSR_H */
