/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cores whose events are known. Macros only, because rvpmu includes this file, too: it prints
 * the devicetree node that gives firmware the same events. The selectors have the names of perf's
 * lists of events (tools/perf/pmu-events/arch/riscv). Those of the X60 are from the list ky/x60 in
 * the kernel of Orange Pi. Untested on silicon. scripts/check/perf-json compares these
 * tables with perf's lists.
 */
#ifndef _RISCV_PMU_PLATFORM_CORES_H
#define _RISCV_PMU_PLATFORM_CORES_H

#include "../event_idx.h"

/*
 * Name, mvendorid, marchid and compatible strings of each core. If a core shares its IDs with
 * others, the node of the hart or the root node of the devicetree has one of the strings. The older
 * cores of T-Head leave marchid at 0.
 */
#define RISCV_PMU_VENDOR_ANDES		0x31e
#define RISCV_PMU_VENDOR_SIFIVE		0x489
#define RISCV_PMU_VENDOR_SPACEMIT	0x710
#define RISCV_PMU_VENDOR_THEAD		0x5b7

#define RISCV_PMU_CORE_andes_ax45mp "andes-ax45mp", RISCV_PMU_VENDOR_ANDES, 0x8000000000008a45
#define RISCV_PMU_CORE_sifive_p550 "sifive-p550", RISCV_PMU_VENDOR_SIFIVE, 0x8000000000000008
#define RISCV_PMU_CORE_sifive_u74 "sifive-u74", RISCV_PMU_VENDOR_SIFIVE, 0x8000000000000007
#define RISCV_PMU_CORE_spacemit_a100 "spacemit-a100", RISCV_PMU_VENDOR_SPACEMIT, 0x8000000041000002
#define RISCV_PMU_CORE_spacemit_x100 "spacemit-x100", RISCV_PMU_VENDOR_SPACEMIT, 0x8000000058000002
#define RISCV_PMU_CORE_spacemit_x60 "spacemit-x60", RISCV_PMU_VENDOR_SPACEMIT, 0x8000000058000001
#define RISCV_PMU_CORE_thead_c906						\
	"thead-c906", RISCV_PMU_VENDOR_THEAD, 0, "thead,c906", "allwinner,sun20i-d1"
#define RISCV_PMU_CORE_thead_c910						\
	"thead-c910", RISCV_PMU_VENDOR_THEAD, 0, "thead,c910", "thead,c920"
#define RISCV_PMU_CORE_thead_c920v2 "thead-c920v2", RISCV_PMU_VENDOR_THEAD, 0x80000000090c0d00
#define RISCV_PMU_CORE_thead_c930 "thead-c930", RISCV_PMU_VENDOR_THEAD, 0x8000000009201600
#define RISCV_PMU_CORE_qemu	"qemu", 0, 0, "riscv-virtio"

/* It has mvendorid and marchid of the X100. No source says that its events are the same. */
#define RISCV_PMU_MIMPID_SPACEMIT_V100	0x4c4d900

/*
 * X(id, title, name, mvendorid, marchid, compatible strings) for each core. One without IDs is
 * found by the strings alone, and comes last, because rvpmu takes the first core that matches.
 */
#define RISCV_PMU_EXPAND(X, ...)	X(__VA_ARGS__)
#define RISCV_PMU_CORES(X)							\
	RISCV_PMU_EXPAND(X, andes_ax45mp, "Andes AX45MP", RISCV_PMU_CORE_andes_ax45mp)	\
	RISCV_PMU_EXPAND(X, sifive_p550, "SiFive P550", RISCV_PMU_CORE_sifive_p550)	\
	RISCV_PMU_EXPAND(X, sifive_u74, "SiFive U74", RISCV_PMU_CORE_sifive_u74)	\
	RISCV_PMU_EXPAND(X, spacemit_a100, "SpacemiT A100", RISCV_PMU_CORE_spacemit_a100)	\
	RISCV_PMU_EXPAND(X, spacemit_x100, "SpacemiT X100", RISCV_PMU_CORE_spacemit_x100)	\
	RISCV_PMU_EXPAND(X, spacemit_x60, "SpacemiT X60", RISCV_PMU_CORE_spacemit_x60)	\
	RISCV_PMU_EXPAND(X, thead_c906, "T-Head C906", RISCV_PMU_CORE_thead_c906)	\
	RISCV_PMU_EXPAND(X, thead_c910, "T-Head C910 or C920", RISCV_PMU_CORE_thead_c910)	\
	RISCV_PMU_EXPAND(X, thead_c920v2, "T-Head C920 v2", RISCV_PMU_CORE_thead_c920v2)	\
	RISCV_PMU_EXPAND(X, thead_c930, "T-Head C930", RISCV_PMU_CORE_thead_c930)	\
	RISCV_PMU_EXPAND(X, qemu, "QEMU's virt machine", RISCV_PMU_CORE_qemu)

/*
 * The events of each core, as X(event_idx, selector, mask, counters). The selector is the value of
 * mhpmevent without filters. A raw entry stands for all raw events whose bits in the mask are those
 * of the selector; other entries have no mask, and come first. Bit n of the counters is
 * mhpmcountern; 0 stands for all programmable ones.
 */
#define CORE_HW(X, id, selector, counters)	X(RISCV_PMU_EVENT_HW(id), selector, 0, counters)
#define CORE_CACHE(X, cache, op, result, selector, counters)			\
	X(RISCV_PMU_EVENT_CACHE(cache, op, result), selector, 0, counters)
#define CORE_RAW(X, selector, mask, counters)	X(RISCV_PMU_EVENT_RAW, selector, mask, counters)

/* Four ranges: the first selector, and how many (a power of 2 that divides the first). */
#define CORE_RAW4(X, counters, first1, nr1, first2, nr2, first3, nr3, first4, nr4)	\
	CORE_RAW(X, first1, ~((nr1) - 1ULL), counters)				\
	CORE_RAW(X, first2, ~((nr2) - 1ULL), counters)				\
	CORE_RAW(X, first3, ~((nr3) - 1ULL), counters)				\
	CORE_RAW(X, first4, ~((nr4) - 1ULL), counters)

/* A selector is the event's event_idx (QEMU, target/riscv/pmu.c). */
#define RISCV_PMU_EVENTS_qemu(X)						\
	CORE_HW(X, CPU_CYCLES, 0x00001, 0)					\
	CORE_HW(X, INSTRUCTIONS, 0x00002, 0)					\
	CORE_CACHE(X, DTLB, OP_READ, MISS, 0x10019, 0)				\
	CORE_CACHE(X, DTLB, OP_WRITE, MISS, 0x1001b, 0)				\
	CORE_CACHE(X, ITLB, OP_READ, MISS, 0x10021, 0)

/*
 * SiFive: bits 7:0 of a selector are a class of events, and each bit above them is an event of that
 * class (U74-MC Core Complex Manual, "Hardware Performance Monitor"). The names are those of perf's
 * list sifive/bullet.
 */
#define SIFIVE_CONDITIONAL_BRANCH_RETIRED	0x4000
#define SIFIVE_BRANCH_DIRECTION_MISPREDICTION	0x2001
#define SIFIVE_BRANCH_TARGET_MISPREDICTION	0x4001
#define SIFIVE_ICACHE_MISS			0x102
#define SIFIVE_DCACHE_MISS			0x202
#define SIFIVE_ITLB_MISS			0x802
#define SIFIVE_DTLB_MISS			0x1002

/* Two programmable counters. Classes 0, 1 and 2 have 18, 11 and 6 events. */
#define SIFIVE_U74_CTRS				0x18

#define RISCV_PMU_EVENTS_sifive_u74(X)						\
	CORE_HW(X, BRANCH_INSTRUCTIONS, SIFIVE_CONDITIONAL_BRANCH_RETIRED, SIFIVE_U74_CTRS) \
	CORE_HW(X, BRANCH_MISSES, SIFIVE_BRANCH_DIRECTION_MISPREDICTION |	\
		SIFIVE_BRANCH_TARGET_MISPREDICTION, SIFIVE_U74_CTRS)		\
	CORE_CACHE(X, L1I, OP_READ, MISS, SIFIVE_ICACHE_MISS, SIFIVE_U74_CTRS)	\
	CORE_CACHE(X, L1D, OP_READ, MISS, SIFIVE_DCACHE_MISS, SIFIVE_U74_CTRS)	\
	CORE_CACHE(X, ITLB, OP_READ, MISS, SIFIVE_ITLB_MISS, SIFIVE_U74_CTRS)	\
	CORE_CACHE(X, DTLB, OP_READ, MISS, SIFIVE_DTLB_MISS, SIFIVE_U74_CTRS)	\
	CORE_RAW(X, 0x0, 0xfffffffffc0000ff, SIFIVE_U74_CTRS)			\
	CORE_RAW(X, 0x1, 0xfffffffffff800ff, SIFIVE_U74_CTRS)			\
	CORE_RAW(X, 0x2, 0xffffffffffffc0ff, SIFIVE_U74_CTRS)

/*
 * The choice of events, the counters, and classes 0 to 2 of the raw events are those of Linux's
 * eswin/eic7700.dtsi. Its classes 3 to 15 are left out, because perf's list sifive/p550 does not
 * name their events. Bits 8 to 10, 17 and 18 of class 1 are not in its mask, but perf's list of
 * Linux 7.2 has the names of the U74 for them.
 */
#define SIFIVE_P550_CTRS			0x78

#define RISCV_PMU_EVENTS_sifive_p550(X)						\
	CORE_HW(X, CACHE_MISSES, SIFIVE_DCACHE_MISS, SIFIVE_P550_CTRS)		\
	CORE_HW(X, BRANCH_INSTRUCTIONS, SIFIVE_CONDITIONAL_BRANCH_RETIRED, SIFIVE_P550_CTRS) \
	CORE_HW(X, BRANCH_MISSES, SIFIVE_BRANCH_DIRECTION_MISPREDICTION, SIFIVE_P550_CTRS) \
	CORE_CACHE(X, L1I, OP_READ, MISS, SIFIVE_ICACHE_MISS, SIFIVE_P550_CTRS)	\
	CORE_CACHE(X, ITLB, OP_READ, MISS, SIFIVE_ITLB_MISS, SIFIVE_P550_CTRS)	\
	CORE_CACHE(X, DTLB, OP_READ, MISS, SIFIVE_DTLB_MISS, SIFIVE_P550_CTRS)	\
	CORE_RAW(X, 0x0, 0xfffffffffc0000ff, SIFIVE_P550_CTRS)			\
	CORE_RAW(X, 0x1, 0xfffffffffffe07ff, SIFIVE_P550_CTRS)			\
	CORE_RAW(X, 0x2, 0xfffffffffffe00ff, SIFIVE_P550_CTRS)

/*
 * From the devicetree of the vendor's kernel (k1-x.dtsi), which has raw events 1 to 0xbd. Those of
 * the L2 cache, 0xb8 to 0xbd, are left out: they count nothing if mhpmevent has a filter, and
 * OpenSBI always sets the filter for M-mode (MINH); only the vendor's firmware does not.
 */
#define SPACEMIT_X60_CTRS		0x7fff8
#define SPACEMIT_X60_COND_BR_INST	0x01
#define SPACEMIT_X60_COND_BR_MISPRED	0x02
#define SPACEMIT_X60_STALLED_CYCLE_FRONTEND 0x03
#define SPACEMIT_X60_STALLED_CYCLE_BACKEND 0x04
#define SPACEMIT_X60_L1D_LOAD_MISS	0x05
#define SPACEMIT_X60_L1D_LOAD_ACCESS	0x06
#define SPACEMIT_X60_L1D_STORE_MISS	0x09
#define SPACEMIT_X60_L1D_STORE_ACCESS	0x0a
#define SPACEMIT_X60_L1I_LOAD_MISS	0x0b
#define SPACEMIT_X60_L1I_LOAD_ACCESS	0x0c
#define SPACEMIT_X60_L1I_PREFETCH_MISS	0x0d
#define SPACEMIT_X60_L1I_PREFETCH	0x0e
#define SPACEMIT_X60_DTLB_LOAD_MISS	0x15
#define SPACEMIT_X60_DTLB_STORE_MISS	0x19
#define SPACEMIT_X60_ITLB_LOAD_MISS	0x1b
#define SPACEMIT_X60_S_MODE_CYCLE	0x21
#define SPACEMIT_X60_U_MODE_CYCLE	0x22

#define RISCV_PMU_EVENTS_spacemit_x60(X)					\
	CORE_HW(X, BRANCH_INSTRUCTIONS, SPACEMIT_X60_COND_BR_INST, SPACEMIT_X60_CTRS) \
	CORE_HW(X, BRANCH_MISSES, SPACEMIT_X60_COND_BR_MISPRED, SPACEMIT_X60_CTRS) \
	CORE_HW(X, STALLED_CYCLES_FRONTEND,					\
		SPACEMIT_X60_STALLED_CYCLE_FRONTEND, SPACEMIT_X60_CTRS)		\
	CORE_HW(X, STALLED_CYCLES_BACKEND, SPACEMIT_X60_STALLED_CYCLE_BACKEND, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, L1D, OP_READ, ACCESS, SPACEMIT_X60_L1D_LOAD_ACCESS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, L1D, OP_READ, MISS, SPACEMIT_X60_L1D_LOAD_MISS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, L1D, OP_WRITE, ACCESS, SPACEMIT_X60_L1D_STORE_ACCESS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, L1D, OP_WRITE, MISS, SPACEMIT_X60_L1D_STORE_MISS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, L1I, OP_READ, ACCESS, SPACEMIT_X60_L1I_LOAD_ACCESS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, L1I, OP_READ, MISS, SPACEMIT_X60_L1I_LOAD_MISS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, L1I, OP_PREFETCH, ACCESS, SPACEMIT_X60_L1I_PREFETCH, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, L1I, OP_PREFETCH, MISS, SPACEMIT_X60_L1I_PREFETCH_MISS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, DTLB, OP_READ, MISS, SPACEMIT_X60_DTLB_LOAD_MISS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, DTLB, OP_WRITE, MISS, SPACEMIT_X60_DTLB_STORE_MISS, SPACEMIT_X60_CTRS) \
	CORE_CACHE(X, ITLB, OP_READ, MISS, SPACEMIT_X60_ITLB_LOAD_MISS, SPACEMIT_X60_CTRS) \
	CORE_RAW4(X, SPACEMIT_X60_CTRS, 0x00, 0x80, 0x80, 0x20, 0xa0, 0x10, 0xb0, 8)

/*
 * SpacemiT K3: X100 and A100. The counters and the raw events are those of the devicetree in the
 * vendor's EDK2 (K3.dts), which has one node for both. Cycles and instructions have a programmable
 * counter each, which interrupts. The same selector counts different events on the two cores, as
 * measured by miniperf (pmu/events/spacemit).
 */
#define SPACEMIT_K3_CTRS		0x1fff8
#define SPACEMIT_K3_CYCLES_CTR		0x20000
#define SPACEMIT_K3_INSTRUCTIONS_CTR	0x40000

#define RISCV_PMU_EVENTS_spacemit_k3(X)						\
	CORE_HW(X, CPU_CYCLES, 0x1e, SPACEMIT_K3_CYCLES_CTR)			\
	CORE_HW(X, INSTRUCTIONS, 0x1f, SPACEMIT_K3_INSTRUCTIONS_CTR)		\
	CORE_HW(X, BRANCH_INSTRUCTIONS, 0x01, SPACEMIT_K3_CTRS)			\
	CORE_HW(X, BRANCH_MISSES, 0x02, SPACEMIT_K3_CTRS)			\
	CORE_CACHE(X, L1D, OP_READ, ACCESS, 0x06, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, L1D, OP_READ, MISS, 0x05, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, L1D, OP_WRITE, ACCESS, 0x0a, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, L1D, OP_WRITE, MISS, 0x09, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, L1I, OP_READ, ACCESS, 0x0c, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, L1I, OP_READ, MISS, 0x0b, SPACEMIT_K3_CTRS)		\
	CORE_RAW4(X, SPACEMIT_K3_CTRS, 0x01, 1, 0x02, 2, 0x04, 4, 0x08, 4)	\
	CORE_RAW4(X, SPACEMIT_K3_CTRS, 0x0c, 1, 0x10, 8, 0x18, 4, 0x1c, 1)	\
	CORE_RAW4(X, SPACEMIT_K3_CTRS, 0x20, 2, 0x22, 1, 0x24, 4, 0x28, 2)	\
	CORE_RAW4(X, SPACEMIT_K3_CTRS, 0x2b, 1, 0x2d, 1, 0x32, 2, 0x34, 4)	\
	CORE_RAW4(X, SPACEMIT_K3_CTRS, 0x38, 1, 0x3a, 2, 0x3c, 2, 0x3f, 1)	\
	CORE_RAW(X, 0x1e, 0xffffffffffffffff, SPACEMIT_K3_CYCLES_CTR)		\
	CORE_RAW(X, 0x1f, 0xffffffffffffffff, SPACEMIT_K3_INSTRUCTIONS_CTR)

/*
 * K3.dts has the selectors of the two stalled cycles swapped: on an X100, 0x03 counted the stalls
 * of dependent cache misses, and 0x04 those of mispredicted branches. 0x25 (read misses of the data
 * TLB), 0x10 and 0x11 (the L2 cache) are from miniperf. Prefetches, other TLB events: K3.dts.
 */
#define RISCV_PMU_EVENTS_spacemit_x100(X)					\
	CORE_HW(X, STALLED_CYCLES_FRONTEND, 0x04, SPACEMIT_K3_CTRS)		\
	CORE_HW(X, STALLED_CYCLES_BACKEND, 0x03, SPACEMIT_K3_CTRS)		\
	CORE_HW(X, CACHE_REFERENCES, 0x10, SPACEMIT_K3_CTRS)			\
	CORE_HW(X, CACHE_MISSES, 0x11, SPACEMIT_K3_CTRS)			\
	CORE_CACHE(X, LL, OP_READ, ACCESS, 0x10, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, LL, OP_READ, MISS, 0x11, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, L1D, OP_PREFETCH, ACCESS, 0x08, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, L1D, OP_PREFETCH, MISS, 0x07, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, DTLB, OP_READ, ACCESS, 0x16, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, DTLB, OP_READ, MISS, 0x25, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, DTLB, OP_WRITE, ACCESS, 0x1a, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, DTLB, OP_WRITE, MISS, 0x19, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, ITLB, OP_READ, ACCESS, 0x1c, SPACEMIT_K3_CTRS)		\
	CORE_CACHE(X, ITLB, OP_READ, MISS, 0x1b, SPACEMIT_K3_CTRS)		\
	RISCV_PMU_EVENTS_spacemit_k3(X)

/* 0x15: refills of the L1 data cache. miniperf found no event of L2 misses or of TLBs. */
#define RISCV_PMU_EVENTS_spacemit_a100(X)					\
	CORE_HW(X, STALLED_CYCLES_FRONTEND, 0x03, SPACEMIT_K3_CTRS)		\
	CORE_HW(X, STALLED_CYCLES_BACKEND, 0x04, SPACEMIT_K3_CTRS)		\
	CORE_HW(X, CACHE_REFERENCES, 0x15, SPACEMIT_K3_CTRS)			\
	RISCV_PMU_EVENTS_spacemit_k3(X)

/* The names are those of perf's list thead/c900-legacy. */
#define THEAD_L1_ICACHE_ACCESS		0x01
#define THEAD_L1_ICACHE_MISS		0x02
#define THEAD_ITLB_MISS			0x03
#define THEAD_DTLB_MISS			0x04
#define THEAD_INST_BRANCH_MISPREDICT	0x06
#define THEAD_INST_BRANCH		0x07
#define THEAD_L1_DCACHE_READ_ACCESS	0x0c
#define THEAD_L1_DCACHE_READ_MISS	0x0d
#define THEAD_L1_DCACHE_WRITE_ACCESS	0x0e
#define THEAD_L1_DCACHE_WRITE_MISS	0x0f
#define THEAD_LL_CACHE_READ_ACCESS	0x10
#define THEAD_LL_CACHE_READ_MISS	0x11
#define THEAD_LL_CACHE_WRITE_ACCESS	0x12
#define THEAD_LL_CACHE_WRITE_MISS	0x13
#define THEAD_BRANCH_DIRECTION_MISPREDICTION 0x1b
#define THEAD_BRANCH_DIRECTION_PREDICTION 0x1c
#define THEAD_IFU_STALLED_CYCLE		0x27
#define THEAD_IDU_STALLED_CYCLE		0x28

/*
 * From Linux's allwinner/sun20i-d1s.dtsi: each event has a counter of its own, and there are no
 * other events. Cache references and misses are those of the L1 instruction cache.
 */
#define RISCV_PMU_EVENTS_thead_c906(X)						\
	CORE_HW(X, CACHE_REFERENCES, THEAD_L1_ICACHE_ACCESS, 0x8)		\
	CORE_HW(X, CACHE_MISSES, THEAD_L1_ICACHE_MISS, 0x10)			\
	CORE_HW(X, BRANCH_INSTRUCTIONS, THEAD_INST_BRANCH, 0x200)		\
	CORE_HW(X, BRANCH_MISSES, THEAD_INST_BRANCH_MISPREDICT, 0x100)		\
	CORE_CACHE(X, L1D, OP_READ, ACCESS, THEAD_L1_DCACHE_READ_ACCESS, 0x4000) \
	CORE_CACHE(X, L1D, OP_READ, MISS, THEAD_L1_DCACHE_READ_MISS, 0x8000)	\
	CORE_CACHE(X, L1D, OP_WRITE, ACCESS, THEAD_L1_DCACHE_WRITE_ACCESS, 0x10000) \
	CORE_CACHE(X, L1D, OP_WRITE, MISS, THEAD_L1_DCACHE_WRITE_MISS, 0x20000)	\
	CORE_CACHE(X, DTLB, OP_READ, MISS, THEAD_DTLB_MISS, 0x40)		\
	CORE_CACHE(X, ITLB, OP_READ, MISS, THEAD_ITLB_MISS, 0x20)		\
	CORE_RAW(X, 0x01, 0xffffffffffffffff, 0x8)				\
	CORE_RAW(X, 0x02, 0xffffffffffffffff, 0x10)				\
	CORE_RAW(X, 0x03, 0xffffffffffffffff, 0x20)				\
	CORE_RAW(X, 0x04, 0xffffffffffffffff, 0x40)				\
	CORE_RAW(X, 0x05, 0xffffffffffffffff, 0x80)				\
	CORE_RAW(X, 0x06, 0xffffffffffffffff, 0x100)				\
	CORE_RAW(X, 0x07, 0xffffffffffffffff, 0x200)				\
	CORE_RAW(X, 0x0b, 0xffffffffffffffff, 0x2000)				\
	CORE_RAW(X, 0x0c, 0xffffffffffffffff, 0x4000)				\
	CORE_RAW(X, 0x0d, 0xffffffffffffffff, 0x8000)				\
	CORE_RAW(X, 0x0e, 0xffffffffffffffff, 0x10000)				\
	CORE_RAW(X, 0x0f, 0xffffffffffffffff, 0x20000)

/*
 * Raw events are 1 to 0x2a (Linux's thead/th1520.dtsi and sophgo/sg2044-cpus.dtsi). The choice of
 * the others is that of sg2044-cpus.dtsi. th1520.dtsi maps cache references and misses to the L1
 * instruction cache instead.
 */
#define RISCV_PMU_EVENTS_thead_c9x0(X)						\
	CORE_HW(X, CACHE_REFERENCES, THEAD_LL_CACHE_READ_ACCESS, 0)		\
	CORE_HW(X, CACHE_MISSES, THEAD_LL_CACHE_READ_MISS, 0)			\
	CORE_CACHE(X, L1D, OP_READ, ACCESS, THEAD_L1_DCACHE_READ_ACCESS, 0)	\
	CORE_CACHE(X, L1D, OP_READ, MISS, THEAD_L1_DCACHE_READ_MISS, 0)		\
	CORE_CACHE(X, L1D, OP_WRITE, ACCESS, THEAD_L1_DCACHE_WRITE_ACCESS, 0)	\
	CORE_CACHE(X, L1D, OP_WRITE, MISS, THEAD_L1_DCACHE_WRITE_MISS, 0)	\
	CORE_CACHE(X, L1I, OP_READ, ACCESS, THEAD_L1_ICACHE_ACCESS, 0)		\
	CORE_CACHE(X, L1I, OP_READ, MISS, THEAD_L1_ICACHE_MISS, 0)		\
	CORE_CACHE(X, LL, OP_READ, ACCESS, THEAD_LL_CACHE_READ_ACCESS, 0)	\
	CORE_CACHE(X, LL, OP_READ, MISS, THEAD_LL_CACHE_READ_MISS, 0)		\
	CORE_CACHE(X, LL, OP_WRITE, ACCESS, THEAD_LL_CACHE_WRITE_ACCESS, 0)	\
	CORE_CACHE(X, LL, OP_WRITE, MISS, THEAD_LL_CACHE_WRITE_MISS, 0)		\
	CORE_CACHE(X, DTLB, OP_READ, MISS, THEAD_DTLB_MISS, 0)			\
	CORE_CACHE(X, ITLB, OP_READ, MISS, THEAD_ITLB_MISS, 0)			\
	CORE_RAW4(X, 0, 0x01, 1, 0x02, 2, 0x04, 4, 0x08, 8)			\
	CORE_RAW4(X, 0, 0x10, 0x10, 0x20, 8, 0x28, 2, 0x2a, 1)

/*
 * Sources contradict each other about the branches of the C910. A measurement has to decide:
 * - th1520.dtsi and the vendor's example of a pmu node have 0x07, and 0x06 for the mispredicted
 *   ones. These are used here.
 * - Version 3 of "T-HEAD C9xx series" events for perf, of 17 May 2023 on the list linux-riscv, by
 *   the author of th1520.dtsi's node, says that 0x07 is reserved on the C910, and maps 0x09, and
 *   0x08 for the mispredicted ones. In perf's list these two are indirect jumps.
 */
#define RISCV_PMU_EVENTS_thead_c910(X)						\
	CORE_HW(X, BRANCH_INSTRUCTIONS, THEAD_INST_BRANCH, 0)			\
	CORE_HW(X, BRANCH_MISSES, THEAD_INST_BRANCH_MISPREDICT, 0)		\
	RISCV_PMU_EVENTS_thead_c9x0(X)

/* From sg2044-cpus.dtsi. On the older cores, events from 0x1b on are defined by software. */
#define RISCV_PMU_EVENTS_thead_c920v2(X)					\
	CORE_HW(X, BRANCH_INSTRUCTIONS, THEAD_INST_BRANCH, 0)			\
	CORE_HW(X, BRANCH_MISSES, THEAD_INST_BRANCH_MISPREDICT, 0)		\
	CORE_HW(X, STALLED_CYCLES_FRONTEND, THEAD_IFU_STALLED_CYCLE, 0)		\
	CORE_HW(X, STALLED_CYCLES_BACKEND, THEAD_IDU_STALLED_CYCLE, 0)		\
	CORE_CACHE(X, BPU, OP_READ, ACCESS, THEAD_BRANCH_DIRECTION_PREDICTION, 0) \
	CORE_CACHE(X, BPU, OP_READ, MISS, THEAD_BRANCH_DIRECTION_MISPREDICTION, 0) \
	RISCV_PMU_EVENTS_thead_c9x0(X)

/*
 * From "perf vendor events riscv: Add XuanTie C930 JSON file", version 2, of 21 November 2025 on
 * the list linux-riscv. Its events are 1 to 0xc5. Branches include those that are not retired,
 * because the list has no others. Cache references and misses are those of the L2 cache.
 */
#define RISCV_PMU_EVENTS_thead_c930(X)						\
	CORE_HW(X, CPU_CYCLES, 0x01, 0)						\
	CORE_HW(X, INSTRUCTIONS, 0x02, 0)					\
	CORE_HW(X, BRANCH_INSTRUCTIONS, 0x03, 0)				\
	CORE_HW(X, BRANCH_MISSES, 0x04, 0)					\
	CORE_HW(X, CACHE_REFERENCES, 0x0f, 0)					\
	CORE_HW(X, CACHE_MISSES, 0x10, 0)					\
	CORE_CACHE(X, L1I, OP_READ, ACCESS, 0x05, 0)				\
	CORE_CACHE(X, L1I, OP_READ, MISS, 0x06, 0)				\
	CORE_CACHE(X, L1D, OP_READ, ACCESS, 0x07, 0)				\
	CORE_CACHE(X, L1D, OP_READ, MISS, 0x08, 0)				\
	CORE_CACHE(X, L1D, OP_WRITE, ACCESS, 0x8a, 0)				\
	CORE_CACHE(X, L1D, OP_WRITE, MISS, 0x8b, 0)				\
	CORE_CACHE(X, ITLB, OP_READ, ACCESS, 0x09, 0)				\
	CORE_CACHE(X, ITLB, OP_READ, MISS, 0x0a, 0)				\
	CORE_CACHE(X, DTLB, OP_READ, ACCESS, 0x0b, 0)				\
	CORE_CACHE(X, DTLB, OP_READ, MISS, 0x0c, 0)				\
	CORE_RAW4(X, 0, 0x00, 0x80, 0x80, 0x40, 0xc0, 4, 0xc4, 2)

/*
 * Bits 3:0 of a selector are a class of events. The names are those of perf's list andes/ax45. The
 * choice of events, except for the TLBs, and the four counters are those of OpenSBI's
 * docs/pmu_support.md ("For Andes 45-series platforms").
 */
#define ANDES_CTRS			0x78
#define ANDES_CYCLE_COUNT		0x10
#define ANDES_INST_COUNT		0x20
#define ANDES_CONDITION_BR		0x80
#define ANDES_MISPREDICT_CONDITION_BR	0x02
#define ANDES_ICACHE_ACCESS		0x21
#define ANDES_ICACHE_MISS		0x31
#define ANDES_DCACHE_ACCESS		0x41
#define ANDES_DCACHE_MISS		0x51
#define ANDES_DCACHE_LOAD_ACCESS	0x61
#define ANDES_DCACHE_LOAD_MISS		0x71
#define ANDES_DCACHE_STORE_ACCESS	0x81
#define ANDES_DCACHE_STORE_MISS		0x91
#define ANDES_MAIN_ITLB_ACCESS		0x111
#define ANDES_MAIN_ITLB_MISS		0x121
#define ANDES_MAIN_DTLB_ACCESS		0x131
#define ANDES_MAIN_DTLB_MISS		0x141

#define RISCV_PMU_EVENTS_andes_ax45mp(X)					\
	CORE_HW(X, CPU_CYCLES, ANDES_CYCLE_COUNT, ANDES_CTRS)			\
	CORE_HW(X, INSTRUCTIONS, ANDES_INST_COUNT, ANDES_CTRS)			\
	CORE_HW(X, CACHE_REFERENCES, ANDES_DCACHE_ACCESS, ANDES_CTRS)		\
	CORE_HW(X, CACHE_MISSES, ANDES_DCACHE_MISS, ANDES_CTRS)			\
	CORE_HW(X, BRANCH_INSTRUCTIONS, ANDES_CONDITION_BR, ANDES_CTRS)		\
	CORE_HW(X, BRANCH_MISSES, ANDES_MISPREDICT_CONDITION_BR, ANDES_CTRS)	\
	CORE_CACHE(X, L1I, OP_READ, ACCESS, ANDES_ICACHE_ACCESS, ANDES_CTRS)	\
	CORE_CACHE(X, L1I, OP_READ, MISS, ANDES_ICACHE_MISS, ANDES_CTRS)	\
	CORE_CACHE(X, L1D, OP_READ, ACCESS, ANDES_DCACHE_LOAD_ACCESS, ANDES_CTRS) \
	CORE_CACHE(X, L1D, OP_READ, MISS, ANDES_DCACHE_LOAD_MISS, ANDES_CTRS)	\
	CORE_CACHE(X, L1D, OP_WRITE, ACCESS, ANDES_DCACHE_STORE_ACCESS, ANDES_CTRS) \
	CORE_CACHE(X, L1D, OP_WRITE, MISS, ANDES_DCACHE_STORE_MISS, ANDES_CTRS)	\
	CORE_CACHE(X, ITLB, OP_READ, ACCESS, ANDES_MAIN_ITLB_ACCESS, ANDES_CTRS) \
	CORE_CACHE(X, ITLB, OP_READ, MISS, ANDES_MAIN_ITLB_MISS, ANDES_CTRS)	\
	CORE_CACHE(X, DTLB, OP_READ, ACCESS, ANDES_MAIN_DTLB_ACCESS, ANDES_CTRS) \
	CORE_CACHE(X, DTLB, OP_READ, MISS, ANDES_MAIN_DTLB_MISS, ANDES_CTRS)	\
	CORE_RAW(X, 0, 0xfffffffffffffe00, ANDES_CTRS)

#endif /* _RISCV_PMU_PLATFORM_CORES_H */
