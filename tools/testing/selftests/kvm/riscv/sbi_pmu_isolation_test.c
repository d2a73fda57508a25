// SPDX-License-Identifier: GPL-2.0-only
/*
 * Are the counts and branch records of the host and its guests isolated? Guests must not read the
 * host's counters or records, counts must not include another's events, and a guest that is killed
 * must leave no perf event. Tests of exact counts need QEMU's -icount and one CPU.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "sbi_pmu.h"

#define CSRS		4096
#define CSR_BYTES	8	/* of each function in csr_functions */
#define ACCESS_TRAPPED	0xdeadbeefUL	/* no CSR is expected to have this value */
#define SELECT_LIMIT	0x1000	/* no register has been given a number above (AIA, CTR, Smcdeleg) */
/* siselect values of the guest's own interrupt file, and of its priorities */
#define IMSIC_FIRST	0x70
#define IMSIC_LAST	0xff
#define IPRIO_FIRST	0x30
#define IPRIO_LAST	0x3f

/* 40 ms with -icount: 10 ticks of the host's timer at HZ=250 */
#define LONG_LOOP	20000000UL
#define LOOP_LENGTH	2	/* instructions of each turn of guest_loop */
#define RING_PAGES	64

/*
 * A function of CSR_BYTES for each CSR: "csrrs a0, CSR, zero; ret" reads it. With a1 as
 * the source it sets the bits of a1, which is a write even if a1 is 0.
 */
#define CSR_FUNCTIONS(source)				\
	asm(".option push\n"				\
	    ".option norvc\n"				\
	    ".set csr, 0\n"				\
	    ".rept 4096\n"				\
	    "	.word 0x2573 | (csr << 20) | (" #source " << 15)\n" \
	    "	ret\n"					\
	    ".set csr, csr + 1\n"			\
	    ".endr\n"					\
	    ".option pop\n")

static noinline __naked unsigned long read_csr_0(unsigned long ignored, unsigned long mask)
{
	CSR_FUNCTIONS(0);
}

static noinline __naked unsigned long write_csr_0(unsigned long ignored, unsigned long mask)
{
	CSR_FUNCTIONS(11);
}

static noinline __naked void guest_loop(unsigned long loop_turns)
{
	asm(".option push\n"
	    ".option norvc\n"
	    "1:	addi a0, a0, -1\n"
	    "	bnez a0, 1b\n"
	    "	ret\n"
	    ".option pop\n");
}

static bool is_in_loop(unsigned long ip)
{
	return ip - (unsigned long)guest_loop < LOOP_LENGTH * 4;
}

/* Of the guest's memory: sync_global_to_guest() */
static unsigned long turns, result;
static bool trapped;

static void skip_instruction(struct pt_regs *regs)
{
	WRITE_ONCE(trapped, true);
	regs->epc += 4;
}

typedef unsigned long (*csr_function)(unsigned long ignored, unsigned long mask);

/* The value that it returns, or ACCESS_TRAPPED if the access has trapped. */
static unsigned long access_csr(csr_function first, unsigned int csr, unsigned long mask)
{
	csr_function function = (void *)((char *)first + csr * CSR_BYTES);
	unsigned long value;

	WRITE_ONCE(trapped, false);
	value = function(0, mask);
	return READ_ONCE(trapped) ? ACCESS_TRAPPED : value;
}

/* --- what a guest may read --- */

struct range {
	unsigned int first, last;
};

static bool in_ranges(const struct range *range, unsigned int value)
{
	for (; range->last; range++)
		if (value >= range->first && value <= range->last)
			return true;
	return false;
}

/* CSRs of the guest's own state. In these tests only the host uses counters and branch records. */
static const struct range guest_csrs[] = {
	{ 0x001, 0x003 },	/* fflags, frm, fcsr */
	{ 0x008, 0x00f },	/* vector */
	{ 0x011, 0x011 },	/* ssp */
	{ 0x015, 0x017 },	/* seed, jvt */
	{ 0x100, 0x106 },	/* sstatus, sie, stvec, scounteren */
	{ 0x10a, 0x10f },	/* senvcfg, sstateen */
	{ 0x140, 0x144 },	/* sscratch to sip */
	{ 0x14d, 0x14d },	/* stimecmp */
	{ 0x150, 0x157 },	/* siselect, sireg: see guest_tries_siselect() */
	{ 0x15c, 0x15c },	/* stopei */
	{ 0x180, 0x181 },	/* satp */
	{ 0x5a8, 0x5a8 },	/* scontext */
	{ 0xc01, 0xc01 },	/* time */
	{ 0xc20, 0xc22 },	/* vl, vtype, vlenb */
	{ 0xdb0, 0xdb0 },	/* stopi */
	{ }
};

/*
 * A guest may be able to access branch records: without Smstateen, and on QEMU 10.0.2 even with it.
 * So the driver clears them before a guest runs. sctrctl accesses the guest's own vsctrctl;
 * sctrstatus is shared with the host.
 */
#define CSR_SCTRCTL	0x14e
#define CSR_SCTRSTATUS	0x14f
#define RECORDS_FIRST	0x200
#define RECORDS_LAST	0x2ff

static bool can_read_records(void)
{
	return access_csr(read_csr_0, CSR_SCTRSTATUS, 0) != ACCESS_TRAPPED;
}

/* KVM reads 0 for the counters that the guest has not configured. */
static const struct range counter_csrs[] = {
	{ CSR_CYCLE, CSR_CYCLE }, { CSR_INSTRET, CSR_HPMCOUNTER31 }, { }
};

/* A write of all ones to these must trap, but for sctrctl and sctrstatus: see may_be_written(). */
static const struct range host_csrs[] = {
	{ 0x120, 0x120 },	/* scountinhibit */
	{ 0x14e, 0x14f },	/* sctrctl, sctrstatus */
	{ 0x15f, 0x15f },	/* sctrdepth */
	{ 0x24e, 0x24e },	/* vsctrctl */
	{ 0x306, 0x306 },	/* mcounteren */
	{ 0x320, 0x33f },	/* mcountinhibit, mcyclecfg, minstretcfg, mhpmevent */
	{ 0x34e, 0x34e },	/* mctrctl */
	{ 0x600, 0x6ff },	/* hypervisor */
	{ 0x721, 0x73f },	/* upper halves of these on RV32 */
	{ 0xb00, 0xb9f },	/* mcycle to mhpmcounter31h */
	{ 0xc00, 0xc1f },	/* cycle to hpmcounter31 */
	{ }
};

/*
 * Without Ssccfg, a guest reads the bits of scountovf that hcounteren allows (Sscofpmf). QEMU
 * 10.0.2 does not mask the others.
 */
#define CSR_SCOUNTOVF	0xda0

static bool may_be_read(unsigned int csr, unsigned long value, bool records)
{
	if (records && (csr == CSR_SCTRCTL || csr == CSR_SCTRSTATUS))
		return csr == CSR_SCTRCTL || !value;

	return in_ranges(guest_csrs, csr) || csr == CSR_SCOUNTOVF ||
	       (!value && in_ranges(counter_csrs, csr));
}

static bool may_be_written(unsigned int csr, bool records)
{
	return in_ranges(guest_csrs, csr) ||
	       (records && (csr == CSR_SCTRCTL || csr == CSR_SCTRSTATUS));
}

static void guest_tries_csrs(void)
{
	bool records = can_read_records();

	for (unsigned int csr = 0; csr < CSRS; csr++) {
		unsigned long value = access_csr(read_csr_0, csr, 0);

		__GUEST_ASSERT(value == ACCESS_TRAPPED || may_be_read(csr, value, records),
			       "CSR %#x has the value %#lx", csr, value);
		/* A write of no bits, which does not change what the guest needs to go on. */
		value = access_csr(write_csr_0, csr, 0);
		__GUEST_ASSERT(value == ACCESS_TRAPPED || may_be_written(csr, records),
			       "CSR %#x can be written", csr);
	}
	for (unsigned int csr = 0; csr < CSRS; csr++)
		if (in_ranges(host_csrs, csr))
			__GUEST_ASSERT(access_csr(write_csr_0, csr, -1UL) == ACCESS_TRAPPED ||
				       may_be_written(csr, records),
				       "bits of CSR %#x can be set", csr);
	/* sctrclr */
	WRITE_ONCE(trapped, false);
	asm volatile(".word 0x10400073");
	GUEST_ASSERT(READ_ONCE(trapped) || records);
	GUEST_DONE();
}

static const unsigned int sireg_csrs[] = { 0x151, 0x152, 0x153, 0x155, 0x156, 0x157 };

static void select_value(unsigned long select)
{
	WRITE_ONCE(trapped, false);
	asm volatile("csrw 0x150, %0" : : "r" (select));
}

/*
 * QEMU 10.0.2 lets a guest access records through siselect even if hstateen0.CTR is 0. So they may
 * be readable, but must be 0.
 */
static void check_select(unsigned int select)
{
	static const struct range own[] = {
		{ IPRIO_FIRST, IPRIO_LAST }, { IMSIC_FIRST, IMSIC_LAST }, { }
	};
	bool is_record = select >= RECORDS_FIRST && select <= RECORDS_LAST;
	unsigned long value;

	select_value(select);
	for (unsigned int i = 0; i < ARRAY_SIZE(sireg_csrs); i++) {
		value = access_csr(read_csr_0, sireg_csrs[i], 0);
		__GUEST_ASSERT(value == ACCESS_TRAPPED || in_ranges(own, select) ||
			       (is_record && !value), "siselect %#x: CSR %#x has the value %#lx",
			       select, sireg_csrs[i], value);
		value = access_csr(write_csr_0, sireg_csrs[i], 0);
		__GUEST_ASSERT(value == ACCESS_TRAPPED || in_ranges(own, select) || is_record,
			       "siselect %#x: CSR %#x can be written", select, sireg_csrs[i]);
	}
}

/* Check all values of siselect first: the writes may create records of the guest's own. */
static void guest_tries_siselect(void)
{
	for (unsigned int select = 0; select < SELECT_LIMIT; select++)
		check_select(select);
	for (unsigned int select = RECORDS_FIRST; select <= RECORDS_LAST; select++) {
		select_value(select);
		for (unsigned int i = 0; i < ARRAY_SIZE(sireg_csrs); i++)
			access_csr(write_csr_0, sireg_csrs[i], -1UL);
	}
	GUEST_DONE();
}

/* --- guests that count --- */

static void guest_count(void)
{
	configure(BIT(INSTRET), 0, INSTRUCTIONS);
	expect_error(start_at(INSTRET, 1, 0), 0);
	guest_loop(turns);
	expect_error(stop(INSTRET, 1, 0), 0);
	WRITE_ONCE(result, csr_read(CSR_INSTRET));
	GUEST_DONE();
}

static void guest_run(void)
{
	guest_loop(turns);
	GUEST_DONE();
}

/* It counts and samples until it is killed. */
static void guest_endless(void)
{
	configure(BIT(CYCLE), 0, CYCLES);
	configure(BIT(INSTRET), 0, INSTRUCTIONS);
	expect_error(start_at(CYCLE, 1, 0), 0);
	expect_error(start_at(INSTRET, 1, -1000UL), 0);
	GUEST_SYNC(0);
	for (;;)
		guest_loop(1000);
}

/* --- the host --- */

struct guest {
	struct kvm_vm *vm;
	struct kvm_vcpu *vcpu;
	unsigned long result;
	bool passed;
};

static void create_guest(struct guest *guest, void (*code)(void), unsigned long loop_turns)
{
	guest->vm = vm_create_with_one_vcpu(&guest->vcpu, code);
	if (!__vcpu_has_sbi_ext(guest->vcpu, KVM_RISCV_SBI_EXT_PMU))
		ksft_exit_skip("KVM does not offer the PMU extension: the host needs Sscofpmf\n");
	vm_init_vector_tables(guest->vm);
	vm_install_exception_handler(guest->vm, EXC_INST_ILLEGAL, skip_instruction);
	vcpu_init_vector_tables(guest->vcpu);
	turns = loop_turns;
	sync_global_to_guest(guest->vm, turns);
}

/* KVM exits to user space for CSRs that it does not emulate. Nor does this test. */
static bool run_without_csr_emulation(struct kvm_vcpu *vcpu)
{
	vcpu_run(vcpu);
	while (vcpu->run->exit_reason == KVM_EXIT_RISCV_CSR) {
		vcpu->run->riscv_csr.ret_value = ACCESS_TRAPPED;
		vcpu_run(vcpu);
	}
	return guest_has_passed(vcpu);
}

static void *run_to_end(void *arg)
{
	struct guest *guest = arg;

	guest->passed = run_without_csr_emulation(guest->vcpu);
	sync_global_from_guest(guest->vm, result);
	guest->result = result;
	return NULL;
}

static bool run_once(void (*code)(void), unsigned long loop_turns, unsigned long *value)
{
	struct guest guest;

	create_guest(&guest, code, loop_turns);
	run_to_end(&guest);
	kvm_vm_free(guest.vm);
	*value = guest.result;
	return guest.passed;
}

static int open_event(struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr hardware(unsigned long config)
{
	return (struct perf_event_attr){ .type = PERF_TYPE_HARDWARE, .config = config };
}

/* The event's count, or 0 if it could not be read or was multiplexed. */
static unsigned long count_of(int fd)
{
	unsigned long values[3] = { };

	if (read(fd, values, sizeof(values)) != sizeof(values) || values[1] != values[2])
		return 0;
	return values[0];
}

/* Events of the host of both kinds, and branch records if the hart has them. */
struct host_events {
	int cycles, instructions, branches;
};

static void begin_host_events(struct host_events *events)
{
	struct perf_event_attr cycles = hardware(PERF_COUNT_HW_CPU_CYCLES);
	struct perf_event_attr instructions = hardware(PERF_COUNT_HW_INSTRUCTIONS);
	struct perf_event_attr branches = instructions;

	branches.sample_period = 100003;
	branches.exclude_guest = 1;
	branches.sample_type = PERF_SAMPLE_BRANCH_STACK;
	branches.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |
				      PERF_SAMPLE_BRANCH_ANY;
	events->cycles = open_event(&cycles);
	events->instructions = open_event(&instructions);
	events->branches = open_event(&branches);
	if (events->branches < 0)
		ksft_print_msg("no event with branch records: %s\n", strerror(errno));
}

static bool end_host_events(struct host_events *events)
{
	bool counted = count_of(events->cycles) && count_of(events->instructions);

	if (!counted)
		ksft_print_msg("an event of the host counted nothing or was multiplexed\n");
	close(events->cycles);
	close(events->instructions);
	close(events->branches);
	return counted;
}

static bool test_with_host_events(void (*code)(void))
{
	struct host_events events;
	unsigned long ignored;
	bool passed;

	begin_host_events(&events);
	passed = run_once(code, 0, &ignored);
	return end_host_events(&events) && passed;
}

static bool test_csrs(void)
{
	return test_with_host_events(guest_tries_csrs);
}

static bool test_selects(void)
{
	return test_with_host_events(guest_tries_siselect);
}

static bool equal(const char *what, unsigned long value, unsigned long wanted)
{
	if (value != wanted)
		ksft_print_msg("%s: %lu instead of %lu\n", what, value, wanted);
	return value == wanted;
}

/* What an event of the host counts while a guest runs; 0 if something has failed. */
static unsigned long count_beside(const struct perf_event_attr *wanted, unsigned long loop_turns)
{
	struct perf_event_attr attr = *wanted;
	struct guest guest;
	unsigned long count;
	int fd;

	create_guest(&guest, guest_run, loop_turns);
	fd = open_event(&attr);
	guest.passed = run_guest(guest.vcpu);
	count = count_of(fd);
	close(fd);
	kvm_vm_free(guest.vm);
	return guest.passed ? count : 0;
}

/*
 * The first run is a warm-up. The other two differ only in the length of the guest's loop, so their
 * difference is the count of LONG_LOOP turns.
 */
static unsigned long count_of_loop(const struct perf_event_attr *attr)
{
	unsigned long warmup = count_beside(attr, 1), once = count_beside(attr, LONG_LOOP),
		      twice = count_beside(attr, 2 * LONG_LOOP);

	TEST_ASSERT(warmup && once && twice,
		    "the guest failed, or the event could not be opened or was multiplexed");
	return twice - once;
}

static bool test_count_of_guest(void)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_host = 1;
	return equal("of the guest's loop", count_of_loop(&attr), LONG_LOOP * LOOP_LENGTH);
}

static bool test_count_of_host(void)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS);

	attr.exclude_guest = 1;
	attr.exclude_kernel = 1;
	return equal("more of the host's user mode", count_of_loop(&attr), 0);
}

/* --- samples --- */

#define PERIOD	100003	/* 10 000 samples in a second, a tenth of what perf throttles */

struct samples {
	unsigned int in_loop, of_guest, of_host, wrong;
};

static void add_sample(struct samples *samples, unsigned int misc, unsigned long ip)
{
	misc &= PERF_RECORD_MISC_CPUMODE_MASK;
	if (misc != PERF_RECORD_MISC_GUEST_KERNEL) {
		samples->of_host++;
		/* The host has this code at the same address, and does not run it. */
		samples->wrong += is_in_loop(ip);
		return;
	}
	samples->of_guest++;
	samples->in_loop += is_in_loop(ip);
}

/* The ring is longer than all samples, and so never wraps. */
static void read_samples(struct perf_event_mmap_page *ring, struct samples *samples)
{
	char *data = (char *)ring + ring->data_offset, *end = data + ring->data_head;

	TEST_ASSERT(ring->data_head < ring->data_size, "the ring is full");
	while (data < end) {
		struct perf_event_header *header = (void *)data;

		if (header->type == PERF_RECORD_SAMPLE)
			add_sample(samples, header->misc, *(unsigned long *)(header + 1));
		data += header->size;
	}
}

static bool sample_guest(bool with_host, struct samples *samples)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS);
	size_t size = (RING_PAGES + 1) * getpagesize();
	unsigned long ignored;
	void *ring;
	bool ended;
	int fd;

	*samples = (struct samples){ };
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.exclude_host = !with_host;
	fd = open_event(&attr);
	TEST_ASSERT(fd >= 0, "an event that samples: %s", strerror(errno));
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	TEST_ASSERT(ring != MAP_FAILED, "mmap: %s", strerror(errno));
	ended = run_once(guest_run, LONG_LOOP, &ignored);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	read_samples(ring, samples);
	munmap(ring, size);
	close(fd);
	ksft_print_msg("%u samples of the guest, %u of them in its loop; %u of the host\n",
		       samples->of_guest, samples->in_loop, samples->of_host);
	return ended;
}

/*
 * One sample in each period. The rest of the guest's code is shorter than a period, so one sample
 * may be there. If the timer interrupts at the same time, the sample may be taken in the softirq
 * that follows, and is then said to be of the host.
 */
static bool test_samples(void)
{
	unsigned int wanted = LONG_LOOP * LOOP_LENGTH / PERIOD;
	struct samples samples;
	bool ended = sample_guest(false, &samples);

	return ended && samples.in_loop >= wanted * 99 / 100 &&
	       samples.of_guest + samples.of_host - wanted <= 1;
}

/*
 * An event of both: the host's samples, among them those of KVM's code around the run, are not said
 * to be of the guest. The guest's code around its loop is far below a hundredth.
 */
static bool test_samples_of_both(void)
{
	struct samples samples;

	return sample_guest(true, &samples) && samples.of_host && !samples.wrong &&
	       samples.in_loop >= samples.of_guest * 99 / 100;
}

/* --- several guests, several harts --- */

static bool test_two_guests(void)
{
	struct guest guests[2];
	pthread_t threads[2];
	unsigned long alone;
	bool passed = run_once(guest_count, LONG_LOOP, &alone);

	for (int i = 0; i < 2; i++)
		create_guest(&guests[i], guest_count, (i + 1) * LONG_LOOP);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run_to_end, &guests[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		passed &= guests[i].passed;
		kvm_vm_free(guests[i].vm);
	}
	passed &= equal("first", guests[0].result, alone);
	return equal("second", guests[1].result, alone + LONG_LOOP * LOOP_LENGTH) && passed;
}

/* The test's script sets it. */
static bool is_icount(void)
{
	return getenv("RISCV_PMU_ICOUNT");
}

static unsigned long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000UL + time.tv_nsec;
}

/*
 * Nothing of the guest's loop is lost. With QEMU's -icount, all CPUs together run an instruction in
 * each nanosecond, so a count above the time has something twice.
 */
static bool test_migration(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long began, time;
	struct guest guest;
	pthread_t thread;
	int moves;

	create_guest(&guest, guest_count, LONG_LOOP);
	began = now();
	pthread_create(&thread, NULL, run_to_end, &guest);
	for (moves = 0; pthread_tryjoin_np(thread, NULL); moves++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(moves % cpus, &set);
		pthread_setaffinity_np(thread, sizeof(set), &set);
		usleep(1000);
	}
	time = now() - began;
	kvm_vm_free(guest.vm);
	ksft_print_msg("%lu instructions in %lu ns, with %d moves\n", guest.result, time, moves);
	return guest.passed && moves >= 2 && guest.result >= LONG_LOOP * LOOP_LENGTH &&
	       (!is_icount() || guest.result <= time);
}

/*
 * If the events of the host and of a guest need more counters than there are, perf multiplexes
 * them, and the counts are estimates. The guest's loop is long enough for many rotations.
 */
#define MULTIPLEX_LOOP	(5 * LONG_LOOP)
#define NR_MULTIPLEXED	6

static bool test_multiplexing(void)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS);
	unsigned long values[3] = { }, estimate;
	bool passed = true;
	struct guest guest;
	int fds[NR_MULTIPLEXED];

	create_guest(&guest, guest_count, MULTIPLEX_LOOP);
	for (int i = 0; i < NR_MULTIPLEXED; i++) {
		/* Different filters need different counters. */
		attr.exclude_user = i & 1;
		attr.exclude_kernel = !(i & 1);
		attr.exclude_guest = i < 2;
		attr.exclude_host = i >= 4;
		fds[i] = open_event(&attr);
	}
	run_to_end(&guest);
	for (int i = 0; i < NR_MULTIPLEXED; i++) {
		if (read(fds[i], values, sizeof(values)) != sizeof(values))
			passed = false;
		ksft_print_msg("event %d: %lu in %lu of %lu ns\n", i, values[0], values[2],
			       values[1]);
		passed &= values[2] > 0;
		close(fds[i]);
	}
	estimate = guest.result * 100 / (MULTIPLEX_LOOP * LOOP_LENGTH);
	ksft_print_msg("the guest has counted %lu %%\n", estimate);
	kvm_vm_free(guest.vm);
	return passed && guest.passed && estimate >= 80 && estimate <= 120;
}

/*
 * perf does not rotate events of a CPU that fit on its counters, such as those of perf stat -a, in
 * favour of those of a task. A guest counts beside them as if it were alone.
 */
static bool test_beside_events_of_the_cpu(void)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS);
	unsigned long values[3] = { }, wanted = LONG_LOOP * LOOP_LENGTH;
	bool passed = true, waited = false;
	struct guest guest;
	int fds[2];

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	create_guest(&guest, guest_count, LONG_LOOP);
	for (int i = 0; i < 2; i++) {
		/* Different filters need different counters. */
		attr.exclude_user = i;
		fds[i] = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	}
	run_to_end(&guest);
	for (int i = 0; i < 2; i++) {
		passed &= read(fds[i], values, sizeof(values)) == sizeof(values) && values[0];
		waited |= values[1] != values[2];
		close(fds[i]);
	}
	kvm_vm_free(guest.vm);
	ksft_print_msg("the guest has counted %lu of %lu instructions; %s\n", guest.result, wanted,
		       waited ? "the host's events had to wait" :
				"the host had a counter for every event");
	/* Its calls of KVM are counted, too. */
	return passed && waited && guest.passed && guest.result >= wanted &&
	       guest.result < wanted + 1000;
}

/* --- events that exclude guests, and events that do not --- */

#define BUSY_NS		40000000UL	/* ten rotations of perf */

/* Whether one of two events has to wait for the other, because they need the same counter. */
static bool takes_turns(const int fds[2])
{
	unsigned long before[2][3] = { }, after[3] = { }, began = now();
	bool waits = false;

	for (int i = 0; i < 2; i++)
		if (read(fds[i], before[i], sizeof(before[i])) != sizeof(before[i]))
			ksft_print_msg("an event cannot be read\n");
	while (now() - began < BUSY_NS)
		;
	for (int i = 0; i < 2; i++)
		if (read(fds[i], after, sizeof(after)) == sizeof(after))
			waits |= after[1] - before[i][1] != after[2] - before[i][2];
	return waits;
}

/* A second after the last vcpu, the driver takes the machine for one without guests. */
static void forget_guests(void)
{
	sleep(2);
}

/* Two events that differ only in exclude_guest need two counters only while there is a vcpu. */
static bool test_sharing(void)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS);
	bool before, during, after;
	struct guest guest;
	int fds[2];

	attr.config2 = 1 << INSTRET;
	for (int i = 0; i < 2; i++) {
		attr.exclude_guest = i;
		fds[i] = open_event(&attr);
		TEST_ASSERT(fds[i] >= 0, "an event on instret: %s", strerror(errno));
	}
	forget_guests();
	before = takes_turns(fds);
	create_guest(&guest, guest_run, 1);
	during = takes_turns(fds);
	kvm_vm_free(guest.vm);
	forget_guests();
	after = takes_turns(fds);
	close(fds[0]);
	close(fds[1]);
	ksft_print_msg("the events %s before, %s during and %s after the life of a vcpu\n",
		       before ? "wait" : "share a counter", during ? "wait" : "share",
		       after ? "wait" : "share");
	return !before && during && !after;
}

/*
 * By how much the count of an event that includes guests exceeds that of one that excludes them.
 * They are a group, so that they count the same of the host.
 */
static unsigned long guest_part(unsigned long loop_turns)
{
	struct perf_event_attr attr = hardware(PERF_COUNT_HW_INSTRUCTIONS);
	unsigned long values[5] = { };
	struct guest guest;
	int leader, member;

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.disabled = 1;
	attr.exclude_guest = 1;
	leader = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	attr.disabled = 0;
	attr.exclude_guest = 0;
	member = syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	TEST_ASSERT(leader >= 0 && member >= 0, "a group: %s", strerror(errno));

	ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	guest_loop(1000);
	create_guest(&guest, guest_run, loop_turns);
	guest.passed = run_guest(guest.vcpu);
	kvm_vm_free(guest.vm);
	guest_loop(1000);
	ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	TEST_ASSERT(read(leader, values, sizeof(values)) == sizeof(values), "read");
	close(member);
	close(leader);
	TEST_ASSERT(guest.passed && values[1] == values[2],
		    "the guest failed, or the group waited");
	return values[4] - values[3];
}

static bool test_counts_of_both_kinds(void)
{
	unsigned long once, twice;

	guest_part(1);
	once = guest_part(LONG_LOOP);
	twice = guest_part(2 * LONG_LOOP);
	ksft_print_msg("the event that includes guests has %lu and %lu more\n", once, twice);
	return once >= LONG_LOOP * LOOP_LENGTH &&
	       equal("of the guest's loop", twice - once, LONG_LOOP * LOOP_LENGTH);
}

/* The events that the driver has attached to harts, or -1 if it does not say. */
static long attached_events(void)
{
	long sum = 0;

	for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		char path[64], line[256];
		long value;
		FILE *file;

		snprintf(path, sizeof(path), "/sys/kernel/debug/riscv_pmu/cpu%ld", cpu);
		file = fopen(path, "r");
		if (!file)
			return -1;
		while (fgets(line, sizeof(line), file))
			if (sscanf(line, "events %ld", &value) == 1)
				sum += value;
		fclose(file);
	}
	return sum;
}

static void run_until_killed(int started)
{
	struct guest guest;

	create_guest(&guest, guest_endless, 0);
	vcpu_run(guest.vcpu);
	TEST_ASSERT(write(started, "", 1) == 1, "write");
	vcpu_run(guest.vcpu);
	exit(1);
}

static bool test_killed(void)
{
	long before = attached_events(), during, after;
	int started[2];
	pid_t pid;
	char c;

	TEST_ASSERT(!pipe(started), "pipe");
	pid = fork();
	TEST_ASSERT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		run_until_killed(started[1]);
	close(started[1]);
	if (read(started[0], &c, 1) != 1)
		return false;
	/* The guest's counter overflows, and this process and the guest take turns on the CPU. */
	usleep(50000);
	during = attached_events();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(started[0]);
	for (int i = 0; i < 100 && attached_events() != before; i++)
		usleep(10000);
	after = attached_events();
	ksft_print_msg("%ld events attached before, %ld during, %ld after\n", before, during,
		       after);
	return during > before && after == before;
}

static const struct {
	const char *name;
	bool (*test)(void);
	int cpus;
	/* Needs one CPU: with -icount, each CPU's counters include the instructions of all. */
	bool exact;
	bool debugfs;
} cases[] = {
	{ "no_csr_shows_the_host", test_csrs },
	{ "no_siselect_value_shows_the_host", test_selects },
	{ "the_host_counts_a_guest_exactly", test_count_of_guest, .exact = true },
	{ "a_guest_adds_nothing_to_the_host", test_count_of_host, .exact = true },
	{ "samples_of_a_guest", test_samples, .exact = true },
	{ "samples_of_guest_and_host", test_samples_of_both },
	{ "two_guests_on_one_hart", test_two_guests, .exact = true },
	{ "host_and_guest_events_are_multiplexed", test_multiplexing, .exact = true },
	{ "cpu_wide_events_do_not_stop_a_guest", test_beside_events_of_the_cpu, .exact = true },
	{ "events_need_their_filters_for_guests_while_there_is_a_vcpu", test_sharing },
	{ "events_with_and_without_guests_are_exact", test_counts_of_both_kinds, .exact = true },
	{ "a_migrated_vcpu_loses_no_counts", test_migration, .cpus = 2 },
	{ "a_killed_guest_leaves_no_event", test_killed, .cpus = 2, .debugfs = true },
};

int main(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(cases));
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cases[i].exact && (cpus > 1 || !is_icount()))
			ksft_test_result_skip("%s: exact only with -icount and one CPU\n",
					      cases[i].name);
		else if (cpus < cases[i].cpus)
			ksft_test_result_skip("%s: one CPU only\n", cases[i].name);
		else if (cases[i].debugfs && attached_events() < 0)
			ksft_test_result_skip("%s: no riscv_pmu in debugfs\n", cases[i].name);
		else
			ksft_test_result(cases[i].test(), "%s\n", cases[i].name);
	}
	ksft_finished();
}
