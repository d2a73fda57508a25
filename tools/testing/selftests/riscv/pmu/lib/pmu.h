/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers of the tests of the RISC-V core PMU: they open events, count a window of known
 * instructions, and read the ring buffer and sysfs.
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

/* Returns an attribute of a disabled event without filters. */
struct perf_event_attr pmu_attr(uint32_t type, uint64_t config);
/* Returns an attribute of a disabled event that counts user mode only. */
struct perf_event_attr pmu_attr_user(uint32_t type, uint64_t config);
/* Returns pmu_attr_user() if the hart can filter, otherwise pmu_attr(). */
struct perf_event_attr pmu_attr_best(uint32_t type, uint64_t config);
/* Opens an event. Returns a descriptor or -errno, as for EXPECT_EQ(-ENOENT, pmu_open(...)). */
int pmu_open_on(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader);
/* Opens an event of the calling task, on any CPU and without a group leader. */
int pmu_open(const struct perf_event_attr *attr);
/* Opens an event like pmu_open(), and closes it. Returns 0 or -errno. */
int pmu_try(const struct perf_event_attr *attr);
/* Returns the count of an event, or -1, which is less than any count that a test expects. */
int64_t pmu_read(int fd);

/* --- the window --- */

struct pmu_call {
	long	nr;
	long	arg[3];
};

typedef void pmu_body(long arg);

/*
 * The instructions of a system call in pmu_syscall_loop(). An ecall does not retire (Privileged
 * ISA, 3.3.1), but QEMU 10.0.2 counts it with -icount, and tests compare exactly only there.
 */
#define PMU_SYSCALL_INSNS	3
#define PMU_SYSCALL_RETIRED	2
/* The instructions of an empty window: 3, then 2 of pmu_loop(0), 4 and the ecall. */
#define PMU_WINDOW_INSNS	10

/* Executes a loop of @instructions instructions, an even number. */
void pmu_loop(long instructions);
/* Makes @calls system calls. */
void pmu_syscall_loop(long calls);
extern const char pmu_loop_begin[], pmu_loop_end[];
/*
 * Executes @times illegal instructions, which trap to the firmware first. It installs a handler
 * of SIGILL that skips them, and does not remove it.
 */
void pmu_illegal_loop(long times);
/*
 * Makes the system call @on, calls body(arg), and makes the system call @off. Returns the
 * bitwise OR of the results of both system calls.
 */
long pmu_window(const struct pmu_call *on, pmu_body *body, long arg, const struct pmu_call *off);

/* Loops in lib/chain.S whose samples have known contents. */
#define PMU_REGS_VALUE		0x5eed5eed00ULL
#define PMU_SPLIT_LARGE		3000
#define PMU_SPLIT_TURN		4004

void pmu_chain(long instructions);
extern const char pmu_chain_in_a[], pmu_chain_in_b[], pmu_chain_in_c[];
void pmu_regs_loop(long instructions);
extern const char pmu_regs_begin[], pmu_regs_end[];
/* lib/keep.S. Returns how many registers have changed. */
long pmu_keep_loop(long turns);
extern const char pmu_keep_begin[], pmu_keep_end[];
void pmu_split_loop(long turns);
extern const char pmu_split_large[], pmu_split_small[], pmu_split_end[];

/*
 * Enables an event, or its group (PERF_IOC_FLAG_GROUP), for body(arg), and disables it. Returns
 * 0, or another value on failure.
 */
long pmu_run(int fd, unsigned long flags, pmu_body *body, long arg);
/* Like pmu_run(), for all events that the calling task has opened. */
long pmu_run_all(pmu_body *body, long arg);
/* Resets an event and enables it for body(arg). Returns its count, or -1. */
int64_t pmu_count(int fd, pmu_body *body, long arg);
/* Returns the count of body(arg) alone: the difference between it and body(0). */
int64_t pmu_count_net(int fd, pmu_body *body, long arg);

/* Starts a child that runs body(arg) and exits with 0. Returns its process ID. */
pid_t pmu_spawn(pmu_body *body, long arg);
/* Kills a child and waits until it has exited. */
void pmu_kill(pid_t pid);

/* --- the ring buffer --- */

#define PMU_RING_PAGES	256

/* The fields of struct pmu_sample, which is a sample with no other fields. */
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
	int64_t periods;	/* the sum of the samples' periods */
	int64_t lost;
	int64_t throttled;
	int64_t unthrottled;
	int64_t others;
	bool	 broken;	/* there was a record with an invalid size */
};

typedef void pmu_sample_fn(const struct pmu_sample *sample, void *arg);

typedef void pmu_walk_fn(struct pmu_ring *ring, const struct perf_event_header *header, void *arg);

/* The ring buffer had samples only, and none was lost. */
#define EXPECT_RING_COMPLETE(ring)					\
do {									\
	EXPECT_FALSE((ring)->broken);					\
	EXPECT_EQ(0, (ring)->lost);					\
	EXPECT_EQ(0, (ring)->throttled);				\
	EXPECT_EQ(0, (ring)->others);					\
} while (0)

/* Maps the ring buffer of an event, with PMU_RING_PAGES pages. Returns 0 or -errno. */
int pmu_ring_map(struct pmu_ring *ring, int fd);
/* Like pmu_ring_map() with another size, a power of two: a small ring buffer is full soon. */
int pmu_ring_map_pages(struct pmu_ring *ring, int fd, int pages);
void pmu_ring_unmap(struct pmu_ring *ring);
/*
 * Removes all records from the ring buffer, adds their numbers to the members of @ring, and
 * calls fn() for each sample, if it is not NULL.
 */
void pmu_ring_drain(struct pmu_ring *ring, pmu_sample_fn *fn, void *arg);
/* Like pmu_ring_drain(), but calls fn() for each record of any type. It is valid in fn() only. */
void pmu_ring_walk(struct pmu_ring *ring, pmu_walk_fn *fn, void *arg);

/* --- samples with any fields --- */

#define PMU_RECORD_MEMBERS	16
#define PMU_RECORD_REGS		64

/* The fields that perf_event_attr::sample_type requests; the other members are 0. */
struct pmu_record {
	uint16_t misc;
	uint64_t identifier, ip, time, addr, id, stream_id, period, weight, data_src;
	uint32_t pid, tid, cpu;
	/* PERF_SAMPLE_READ; without PERF_FORMAT_GROUP, only the first member. */
	uint64_t nr_members, enabled, running;
	struct { uint64_t value, id, lost; } member[PMU_RECORD_MEMBERS];
	uint64_t nr_frames;
	const uint64_t *frames;
	/* PERF_SAMPLE_BRANCH_STACK: the newest is the first. hw_index is -1 if it is not there. */
	uint64_t nr_branches;
	int64_t hw_index;
	const struct perf_branch_entry *branches;
	/* In the order of their bits in sample_regs_user. */
	uint64_t user_abi, user_regs[PMU_RECORD_REGS];
	uint64_t intr_abi, intr_regs[PMU_RECORD_REGS];
	/* stack_size is the requested size, of which stack_filled bytes are valid. */
	uint64_t stack_size, stack_filled;
	const unsigned char *stack;
};

typedef void pmu_record_fn(const struct pmu_record *record, void *arg);

/*
 * Parses a sample. Returns false if the sizes of its fields do not add up to the size of the
 * record, or if this function does not know all of its fields.
 */
bool pmu_record_parse(struct pmu_record *record, const struct perf_event_attr *attr,
		      const struct perf_event_header *header);
/*
 * Removes all records from the ring buffer, and calls fn() for each sample. If a sample cannot
 * be parsed, @ring is marked as broken.
 */
void pmu_ring_records(struct pmu_ring *ring, const struct perf_event_attr *attr,
		      pmu_record_fn *fn, void *arg);

/* --- the machine --- */

#define PMU_SYSFS	"/sys/bus/event_source/devices/cpu"
#define PMU_TEXT	4096

/* Reads the first line of a file, without the newline. Returns false if it cannot be read. */
bool pmu_read_line(const char *path, char text[PMU_TEXT]);
/* Returns the first line of a file in PMU_SYSFS, or "" if it does not exist. */
const char *pmu_sysfs(const char *name, char text[PMU_TEXT]);
/* Returns the number in a file in caps/ of PMU_SYSFS, or -1. */
long pmu_caps_number(const char *name);
/* Returns the number in a file, or -1. */
long pmu_read_number(const char *path);
/* Writes a number to a file. Returns false on failure. */
bool pmu_write_number(const char *path, long value);

/* Returns whether /proc/cpuinfo lists an extension. */
bool pmu_hart_has(const char *extension);
/* Returns whether the driver uses the legacy backend, which has cycle and instret only. */
bool pmu_is_legacy(void);
/* Returns whether S-mode writes the counters itself (Ssccfg). */
bool pmu_is_delegated(void);
/*
 * Returns whether harts may lose their counters in an idle state (cpuidle). Restoring delegated
 * counters then needs firmware calls.
 */
bool pmu_idle_loses_ctrs(void);
/* Returns whether this is QEMU's virt machine, whose selectors are known. */
bool pmu_is_qemu(void);
/* Returns whether events can have filters: with Sscofpmf, unless the backend is legacy. */
bool pmu_can_filter(void);
/*
 * Returns whether samples are taken by the overflow interrupt (caps/sampling). Otherwise, they
 * may be taken by polling: a timer checks if a period has ended. Then samples are late, and these
 * harts have no filters. Tests that need exact samples or filters check for the interrupt.
 */
bool pmu_samples_by_interrupt(void);
/* Returns whether the interrupt is one that code with interrupts off takes, too (caps/sampling). */
bool pmu_samples_by_nmi(void);
/* Returns whether exclude_kernel is ignored on a PMU without filters (riscv_pmu.unfiltered=1). */
bool pmu_is_unfiltered(void);
/* Returns whether samples are taken by polling (caps/sampling). */
bool pmu_samples_by_poll(void);
/* Returns whether samples can be taken, by the interrupt or by polling. */
bool pmu_can_sample(void);
/*
 * Returns a mask of the counters that the firmware uses for raw events with the selector
 * PMU_RAW_MAPPED, or one that differs from it in the last 12 bits only; 0 if there is none.
 * scripts/guest/boot --raw-events passes it in the environment. These events count nothing.
 */
#define PMU_RAW_MAPPED	0x5a000
long pmu_raw_ctrs(void);
/*
 * Returns whether an event may use cycle or instret although config2 does not select them. It may
 * not if these count machine mode (no Smcntrpmf), but the programmable counters do not (Sscofpmf).
 */
bool pmu_uses_fixed_ctrs(void);
/* Returns whether QEMU runs with -icount, which scripts/guest/boot passes in the environment. */
bool pmu_is_icount(void);
/*
 * Returns whether counts can be compared for equality: under QEMU's -icount with one hart, 1 ns
 * is 1 instruction. With several harts, the time slices of the other harts are counted, too.
 */
bool pmu_is_exact(void);
/*
 * Returns whether samples are hardly ever taken near a change between user mode and the kernel:
 * without -icount, QEMU raises overflow interrupts late, and with KASAN the kernel needs most of
 * the time.
 */
bool pmu_interrupts_are_late(void);
/*
 * Returns the minimum count of n instructions. Without -icount, QEMU counts ticks of the host's
 * clock for both cycles and instructions. Two instructions of pmu_loop() are one translated
 * block, which takes at least one cycle of the host; its clock may run at twice the rate of the
 * ticks. So the minimum is n / 4.
 */
int64_t pmu_least(int64_t n);

/*
 * Returns how many events after the end of its period a sample may be taken, if counts are exact.
 * The overflow interrupt is immediate. The driver polls at intervals of 50 us or more, and a poll
 * is at most another 50 us late; under -icount these 100 us are 100 000 instructions. Freeing a
 * ring buffer disables interrupts for longer: before a test uses this value, it waits until the
 * ring buffer of the previous test is freed.
 */
int64_t pmu_max_sample_delay(void);

/* The sysctls that limit the sample rate. */
struct pmu_limits {
	long	max_rate;
	long	max_percent;
};

/* Saves the sysctls, and sets them to values that do not throttle the events of the tests. */
void pmu_limits_save(struct pmu_limits *limits);
void pmu_limits_restore(const struct pmu_limits *limits);

/*
 * Returns 1 if the kernel has ever taken the lock @inner while it held @outer (/proc/lockdep),
 * otherwise 0; -1 without lockdep.
 */
int pmu_locks_nest(const char *outer, const char *inner);
/* Returns the number of attached events of all harts; -1 without the driver's debugfs. */
long pmu_events_attached(void);
/*
 * Returns the number of firmware calls of the SBI PMU extension since boot, of all harts; -1
 * without the driver's debugfs.
 */
long pmu_calls_made(void);
/* Returns the number of these calls since the program was started. */
long pmu_calls_since_start(void);
/* Like pmu_calls_made(), for one function with its name in debugfs, for example "cfg_match". */
long pmu_calls_of(const char *function);
/* Returns a mask of the counters of one hart that have a config; -1 without debugfs. */
long pmu_ctrs_configured(long cpu);
/*
 * Waits for at most a second until no event is attached, because killed tasks may exit late.
 * Returns the number of attached events then, like pmu_events_attached().
 */
long pmu_events_left(void);
/*
 * Returns a mask of the hardware counters that run on any hart and can be stopped; -1 without
 * the driver's debugfs.
 */
long pmu_ctrs_running(void);
/*
 * Waits until no such counter runs, for at most five seconds: the driver stops counters a second
 * after the last event, or soon after that. Returns pmu_ctrs_running() then.
 */
long pmu_ctrs_left(void);

/*
 * The last test of each program: no event is attached any more, and if the counters are
 * delegated, no firmware call was made for them. It has a fixture because the harness runs tests
 * without a fixture first.
 */
#define PMU_MAY_CALL_SBI	true	/* the program uses firmware events, or offlines CPUs */
#define PMU_CALLS_NO_SBI	false

#define PMU_TEST_NO_EVENT_LEFT(may_call)					\
FIXTURE(program_end) {								\
	long attached;								\
};										\
										\
FIXTURE_SETUP(program_end)							\
{										\
	self->attached = pmu_events_attached();					\
	if (self->attached < 0)							\
		SKIP(return, "no riscv_pmu in debugfs: not mounted, or another driver"); \
}										\
										\
FIXTURE_TEARDOWN(program_end)							\
{										\
}										\
										\
TEST_F(program_end, no_event_is_left)						\
{										\
	EXPECT_EQ(0, pmu_events_left());					\
	if (!(may_call) && pmu_is_delegated() && !pmu_idle_loses_ctrs()) {	\
		EXPECT_EQ(0, pmu_calls_since_start());				\
	}									\
}

#endif
