/* SPDX-License-Identifier: GPL-2.0 */
/*
 * event_idx of the SBI PMU extension (SBI 3.0, chapter 11, "Event" tables). Macros only, because
 * rvpmu includes this file, too; it needs perf's PERF_COUNT_HW_* from uapi/linux/perf_event.h.
 */
#ifndef _RISCV_PMU_EVENT_IDX_H
#define _RISCV_PMU_EVENT_IDX_H

#define RISCV_PMU_EVENT_TYPE_SHIFT	16
#define RISCV_PMU_EVENT_CODE_MASK	0xffff
#define RISCV_PMU_EVENT_TYPE_HW		0x0
#define RISCV_PMU_EVENT_TYPE_CACHE	0x1
#define RISCV_PMU_EVENT_TYPE_RAW	0x2
#define RISCV_PMU_EVENT_TYPE_RAW_V2	0x3
#define RISCV_PMU_EVENT_TYPE_FW		0xf

#define RISCV_PMU_EVENT_IDX(type, code)	((type) << RISCV_PMU_EVENT_TYPE_SHIFT | (code))

/* Any raw event of the first version of the type; its selector is the event_data. */
#define RISCV_PMU_EVENT_RAW		RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_RAW, 0)

/* The codes of hardware events are perf's plus 1, those of cache events have perf's numbers. */
#define RISCV_PMU_EVENT_HW(id)		\
	RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_HW, PERF_COUNT_HW_##id + 1)
#define RISCV_PMU_EVENT_CACHE_CODE(cache, op, result)	((cache) << 3 | (op) << 1 | (result))
#define RISCV_PMU_EVENT_CACHE(cache, op, result)				\
	RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_CACHE,				\
			    RISCV_PMU_EVENT_CACHE_CODE(PERF_COUNT_HW_CACHE_##cache,\
						       PERF_COUNT_HW_CACHE_##op,\
						       PERF_COUNT_HW_CACHE_RESULT_##result))

/* The events of the fixed counters cycle and instret: event.h says which is which. */
#define RISCV_PMU_EVENT_CYCLES		RISCV_PMU_EVENT_HW(CPU_CYCLES)
#define RISCV_PMU_EVENT_INSTRUCTIONS	RISCV_PMU_EVENT_HW(INSTRUCTIONS)

#endif /* _RISCV_PMU_EVENT_IDX_H */
