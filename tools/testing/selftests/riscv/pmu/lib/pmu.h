/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the RISC-V core PMU share: opening events, a window of
 * known instructions, the ring buffer, sysfs.
 */
#ifndef RISCV_PMU_TEST_H
#define RISCV_PMU_TEST_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* perf_event_attr::config of PERF_TYPE_RAW: bits 63:62 are the class. */
#define PMU_RAW(selector)	((uint64_t)(selector))
#define PMU_STD(event_idx)	(1ULL << 62 | (event_idx))
#define PMU_FW(code)		(2ULL << 62 | (code))
#define PMU_FW_PLATFORM(data)	(3ULL << 62 | (data))

/* SBI, "PMU extension": firmware event codes. */
#define PMU_FW_ILLEGAL_INSN	4
#define PMU_FW_SET_TIMER	5
#define PMU_FW_IPI_SENT		6
#define PMU_FW_NR_DEFINED	22

#define PMU_CACHE(id, op, result)	((id) | (op) << 8 | (result) << 16)

/* --- opening --- */

struct perf_event_attr pmu_attr(uint32_t type, uint64_t config);
struct perf_event_attr pmu_attr_user(uint32_t type, uint64_t config);
/* User mode only, where the hart can filter. */
struct perf_event_attr pmu_attr_best(uint32_t type, uint64_t config);
/* A descriptor, or -errno: EXPECT_EQ(-ENOENT, pmu_open(...)) reads as it should. */
int pmu_open_on(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader);
int pmu_open(const struct perf_event_attr *attr);
/* Opens and closes at once: 0 or -errno. */
int pmu_try(const struct perf_event_attr *attr);
/* The count, or -1: less than any test expects. */
int64_t pmu_read(int fd);

/* --- the window --- */

struct pmu_call {
	long	nr;
	long	arg[3];
};

typedef void pmu_body(long arg);

/*
 * An ecall does not retire (Privileged ISA, 3.3.1), but QEMU counts it (10.0.2,
 * with -icount); a test that wants to know exactly runs there.
 */
#define PMU_SYSCALL_INSNS	3
#define PMU_SYSCALL_RETIRED	2
/* An empty window: 3, then 2 of pmu_loop(0), 4 and the ecall. */
#define PMU_WINDOW_INSNS	10

void pmu_loop(long instructions);
void pmu_syscall_loop(long calls);
extern const char pmu_loop_begin[], pmu_loop_end[];
/* So many illegal instructions: the firmware sees each first. SIGILL is handled from then on. */
void pmu_illegal_loop(long times);
long pmu_window(const struct pmu_call *on, pmu_body *body, long arg, const struct pmu_call *off);

/* Whose samples are known, in lib/chain.S. */
#define PMU_REGS_VALUE		0x5eed5eed00ULL
#define PMU_SPLIT_LARGE		3000
#define PMU_SPLIT_TURN		4004

void pmu_chain(long instructions);
extern const char pmu_chain_in_a[], pmu_chain_in_b[], pmu_chain_in_c[];
void pmu_regs_loop(long instructions);
extern const char pmu_regs_begin[], pmu_regs_end[];
void pmu_split_loop(long turns);
extern const char pmu_split_large[], pmu_split_small[], pmu_split_end[];

/* Enable (a whole group: PERF_IOC_FLAG_GROUP), body(arg), disable. */
long pmu_run(int fd, unsigned long flags, pmu_body *body, long arg);
/* The same for all events that this process has opened, at once. */
long pmu_run_all(pmu_body *body, long arg);
/* Reset, run, read. */
int64_t pmu_count(int fd, pmu_body *body, long arg);
/* What is counted of body(arg) itself: less than what an empty window has. */
int64_t pmu_count_net(int fd, pmu_body *body, long arg);

/* A child that runs body(arg) and exits with 0. */
pid_t pmu_spawn(pmu_body *body, long arg);
/* Kills a child, wherever it is, and waits for its end. */
void pmu_kill(pid_t pid);

/* --- the ring buffer --- */

#define PMU_RING_PAGES	256

/* The records that tests ask for have just these fields, in perf's order. */
#define PMU_RING_SAMPLE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD)

struct pmu_sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t period;
};

struct pmu_ring {
	struct perf_event_mmap_page *page;
	size_t	size;
	int64_t samples;
	int64_t periods;	/* the sum of what samples stand for */
	int64_t lost;
	int64_t throttled;
	int64_t unthrottled;
	int64_t others;
	bool	 broken;	/* a record that ends beyond what was written, or has no size */
};

typedef void pmu_sample_fn(const struct pmu_sample *sample, void *arg);

typedef void pmu_walk_fn(struct pmu_ring *ring, const struct perf_event_header *header, void *arg);

/* Nothing is in the ring but samples, and all that there were. */
#define EXPECT_RING_WHOLE(ring)						\
do {									\
	EXPECT_FALSE((ring)->broken);					\
	EXPECT_EQ(0, (ring)->lost);					\
	EXPECT_EQ(0, (ring)->throttled);				\
	EXPECT_EQ(0, (ring)->others);					\
} while (0)

int pmu_ring_map(struct pmu_ring *ring, int fd);
/* A ring of another size, a power of two: a small one is soon full. */
int pmu_ring_map_pages(struct pmu_ring *ring, int fd, int pages);
void pmu_ring_unmap(struct pmu_ring *ring);
/* Takes all records out; counts by type add up over calls. */
void pmu_ring_drain(struct pmu_ring *ring, pmu_sample_fn *fn, void *arg);
/* The same for records of any kind. They are whole, and valid during fn only. */
void pmu_ring_walk(struct pmu_ring *ring, pmu_walk_fn *fn, void *arg);

/* --- samples with any fields --- */

#define PMU_RECORD_MEMBERS	16
#define PMU_RECORD_REGS		64

/* What perf_event_attr::sample_type asks for; the rest is 0. */
struct pmu_record {
	uint16_t misc;
	uint64_t identifier, ip, time, addr, id, stream_id, period, weight, data_src;
	uint32_t pid, tid, cpu;
	/* PERF_SAMPLE_READ; without PERF_FORMAT_GROUP, the first member alone. */
	uint64_t nr_members, enabled, running;
	struct { uint64_t value, id, lost; } member[PMU_RECORD_MEMBERS];
	uint64_t nr_frames;
	const uint64_t *frames;
	/* In the order of their bits in sample_regs_user. */
	uint64_t user_abi, user_regs[PMU_RECORD_REGS];
	uint64_t intr_abi, intr_regs[PMU_RECORD_REGS];
	/* stack_size is what was asked for, of which stack_filled are real. */
	uint64_t stack_size, stack_filled;
	const unsigned char *stack;
};

typedef void pmu_record_fn(const struct pmu_record *record, void *arg);

/* False if the record does not end where its fields do, or has fields unknown here. */
bool pmu_record_parse(struct pmu_record *record, const struct perf_event_attr *attr,
		      const struct perf_event_header *header);
/* Drains; a sample that can not be parsed makes the ring broken. */
void pmu_ring_records(struct pmu_ring *ring, const struct perf_event_attr *attr,
		      pmu_record_fn *fn, void *arg);

/* --- the machine --- */

#define PMU_SYSFS	"/sys/bus/event_source/devices/cpu"
#define PMU_TEXT	4096

/* First line of a file, without its end; false if it can not be read. */
bool pmu_read_line(const char *path, char text[PMU_TEXT]);
/* A file under PMU_SYSFS: "" if it is not there. */
const char *pmu_sysfs(const char *name, char text[PMU_TEXT]);
long pmu_caps_number(const char *name);
long pmu_read_number(const char *path);
bool pmu_write_number(const char *path, long value);

/* The hart's own word: an extension in /proc/cpuinfo. */
bool pmu_hart_has(const char *extension);
bool pmu_is_legacy(void);
/* S-mode writes the counters itself (Ssccfg). */
bool pmu_is_delegated(void);
/*
 * Returns whether harts may lose their counters in an idle state (cpuidle). Restoring delegated
 * counters then needs firmware calls.
 */
bool pmu_idle_loses_ctrs(void);
/* QEMU's virt machine, whose selectors are known. */
bool pmu_is_qemu(void);
/* Sscofpmf brings filters and the overflow interrupt, through the SBI. */
bool pmu_can_filter(void);
/*
 * caps/sampling. Polled: there is no overflow interrupt, a timer looks whether
 * a period has ended. A sample of that kind is late, and there are no filters
 * on such harts; what depends on either asks for the interrupt.
 */
bool pmu_samples_by_interrupt(void);
bool pmu_samples_by_poll(void);
/* One way or the other. */
bool pmu_can_sample(void);
/*
 * The counters that the firmware gives to raw events with PMU_RAW_MAPPED's selector and
 * those that differ from it in the last 12 bits, as a mask; 0 where it has none. The rig
 * says so in the environment (rig/guest/boot --raw-events). They count nothing.
 */
#define PMU_RAW_MAPPED	0x5a000
long pmu_raw_ctrs(void);
/*
 * Whether an event without exclude_hv may have cycle or instret: not where these count
 * machine mode (no Smcntrpmf) and the counters beside them do not (Sscofpmf).
 */
bool pmu_uses_fixed_ctrs(void);
/* QEMU's -icount: the rig says so in the environment. */
bool pmu_is_icount(void);
/*
 * Whether counts can be compared for equality: under QEMU's -icount with one
 * hart, 1 ns is 1 instruction. With several harts, the others' time slices
 * are counted, too.
 */
bool pmu_is_exact(void);
/*
 * The least that n instructions count. Without -icount QEMU counts ticks of the
 * host's clock for both cycles and instructions. Two instructions of pmu_loop()
 * are one translated block, which takes the host one cycle at the very least;
 * its clock may run at twice the rate of the ticks. So n / 4.
 */
int64_t pmu_least(int64_t n);

/*
 * If counts are exact: how many events after the end of its period a sample may be taken. The
 * overflow interrupt is immediate. The driver polls at intervals of 50 us or more, and a poll is
 * at most another 50 us late; under -icount these 100 us are 100 000 instructions. Freeing a ring
 * disables interrupts for longer: before a test uses this value, it waits until the ring of the
 * previous test is freed.
 */
int64_t pmu_latest(void);

/* The sysctls that would withhold samples; save() opens them wide. */
struct pmu_limits {
	long	max_rate;
	long	max_percent;
};

void pmu_limits_save(struct pmu_limits *limits);
void pmu_limits_restore(const struct pmu_limits *limits);

/*
 * Whether the kernel has ever taken the lock @inner while it held @outer (/proc/lockdep): 0 or
 * 1; -1 without lockdep.
 */
int pmu_lock_takes(const char *outer, const char *inner);
/* Events that are attached to counters now, on all harts; -1 without the driver's debugfs. */
long pmu_events_attached(void);
/* Calls of the firmware's PMU since boot, of all harts; -1 where the driver does not say. */
long pmu_calls_made(void);
/* Those since this program began. */
long pmu_calls_since_start(void);
/* Those of one function (debugfs: "cfg_match"), of all harts; -1 likewise. */
long pmu_calls_of(const char *function);
/* Mask of the counters of one hart that have a config; -1 without the driver's debugfs. */
long pmu_ctrs_configured(long cpu);
/* pmu_events_attached() after killed tasks have exited; waits for them for at most a second. */
long pmu_events_left(void);
/* Hardware counters that run and can be stopped, of all harts; -1 if the driver does not say. */
long pmu_ctrs_running(void);
/* The same, once they have been stopped: a second after the last event, or soon after. */
long pmu_ctrs_left(void);

/*
 * The last test of each program: no event is attached to a counter any more, and if the counters
 * are delegated, no firmware call was made for them. It has a fixture because the harness runs
 * tests without a fixture first.
 */
#define PMU_MAY_CALL		true	/* it has firmware events, or takes harts down */
#define PMU_MAKES_NO_CALL	false

#define PMU_TEST_AT_LAST(may_call)						\
FIXTURE(at_last) {								\
	long attached;								\
};										\
										\
FIXTURE_SETUP(at_last)								\
{										\
	self->attached = pmu_events_attached();					\
	if (self->attached < 0)							\
		SKIP(return, "no riscv_pmu in debugfs: not mounted, or not this driver"); \
}										\
										\
FIXTURE_TEARDOWN(at_last)							\
{										\
}										\
										\
TEST_F(at_last, no_event_is_left)						\
{										\
	EXPECT_EQ(0, pmu_events_left());					\
	if (!(may_call) && pmu_is_delegated() && !pmu_idle_loses_ctrs()) {	\
		EXPECT_EQ(0, pmu_calls_since_start());				\
	}									\
}

#endif
