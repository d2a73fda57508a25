/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints riscv_pmu:apply (a batch was applied) and riscv_pmu:overflow (an interrupt). */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM riscv_pmu

#if !defined(_RISCV_PMU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _RISCV_PMU_TRACE_H

#include <linux/tracepoint.h>

#include "backend.h"

TRACE_EVENT(apply,
	TP_PROTO(const struct riscv_pmu_batch *batch),
	TP_ARGS(batch),
	TP_STRUCT__entry(
		__field(u64, stop)
		__field(u64, release)
		__field(u64, program)
		__field(u64, start)
		__field(u64, load)
		__field(u64, failed)
	),
	TP_fast_assign(
		__entry->stop = batch->stop;
		__entry->release = batch->release;
		__entry->program = batch->program;
		__entry->start = batch->start;
		__entry->load = batch->load;
		__entry->failed = batch->failed;
	),
	TP_printk("stop=%llx release=%llx program=%llx start=%llx load=%llx failed=%llx",
		  __entry->stop, __entry->release, __entry->program, __entry->start,
		  __entry->load, __entry->failed)
);

TRACE_EVENT(overflow,
	TP_PROTO(u64 overflowed, u64 handled),
	TP_ARGS(overflowed, handled),
	TP_STRUCT__entry(
		__field(u64, overflowed)
		__field(u64, handled)
	),
	TP_fast_assign(
		__entry->overflowed = overflowed;
		__entry->handled = handled;
	),
	TP_printk("overflowed=%llx handled=%llx", __entry->overflowed, __entry->handled)
);

#endif /* _RISCV_PMU_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../../drivers/perf/riscv
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
