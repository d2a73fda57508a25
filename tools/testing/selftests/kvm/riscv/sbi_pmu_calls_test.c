// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does KVM's PMU extension of the SBI (version 3.0, chapter 11) return what the specification
 * says? Each case runs in its own guest. They cover the checks of the PMU tests that were proposed
 * for kvm-unit-tests in December 2025.
 */
#include "sbi_pmu.h"

/* A firmware event, of type 15: SET_TIMER. */
#define SET_TIMER	0xf0005UL
#define NO_EVENT	0xffffUL
/* Raw events have the code 0. */
#define RAW		0x20000UL
#define RAW_V2		0x30000UL

#define EXT_TIME	0x54494d45
#define SHMEM_SIZE	4096
#define SHMEM_ADDRESS	BIT(30)
#define NO_MEMORY	BIT(31)
/* Their pages are four times what KASAN may keep of 1 GiB after it is freed. */
#define LEAK_CALLS	32768
#define READS		1000
#define TURNS		300
/*
 * 2^61 events before the overflow: KVM uses a counting event for this distance, and the host's
 * driver writes such a value on QEMU, too (at most 2^62).
 */
#define FAR_START	(-BIT(61))

/* Function 8 and its data are not in the library's sbi.h. */
#define EVENT_GET_INFO	(SBI_EXT_PMU_SNAPSHOT_SET_SHMEM + 1)

struct event_info {
	uint32_t event;
	uint32_t supported;
	uint64_t data;
};

static struct riscv_pmu_snapshot_data *const shmem = (void *)SHMEM_ADDRESS;
static unsigned long all, first_firmware;

static struct sbiret firmware_read(unsigned long counter)
{
	return call(SBI_EXT_PMU_COUNTER_FW_READ, counter, 0, 0, 0, 0);
}

/* The upper half of a value on RV32; 0 on RV64 */
static struct sbiret firmware_read_hi(unsigned long counter)
{
	return call(SBI_EXT_PMU_COUNTER_FW_READ_HI, counter, 0, 0, 0, 0);
}

static struct sbiret set_shmem(unsigned long address)
{
	return call(SBI_EXT_PMU_SNAPSHOT_SET_SHMEM, address, address == -1UL ? -1UL : 0, 0, 0, 0);
}

static struct sbiret info(unsigned long counter)
{
	return call(SBI_EXT_PMU_COUNTER_GET_INFO, counter, 0, 0, 0, 0);
}

static struct sbiret start(unsigned long base, unsigned long mask)
{
	return call(SBI_EXT_PMU_COUNTER_START, base, mask, 0, 0, 0);
}

static void find_counters(void)
{
	long count = call(SBI_EXT_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value;
	union sbi_pmu_ctr_info counter;

	for (long i = count - 1; i >= 0; i--) {
		counter.value = info(i).value;
		if (i == TIME)
			continue;
		all |= BIT(i);
		if (counter.type == SBI_PMU_CTR_TYPE_FW)
			first_firmware = i;
	}
	GUEST_ASSERT(first_firmware > FIRST_OTHER);
}

static void set_timers(int times)
{
	while (times--)
		sbi_ecall(EXT_TIME, 0, -1UL, 0, 0, 0, 0, 0);
}

static unsigned long firmware_value(unsigned long counter)
{
	struct sbiret ret = firmware_read(counter);

	__GUEST_ASSERT(!ret.error, "counter %ld: error %ld", counter, ret.error);
	return ret.value;
}

/* A base of -1 and a mask of two counters: the one before the first one, and the first one. */
static void guest_bad_counters(void)
{
	long count = call(SBI_EXT_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value;

	expect_error(match(-1UL, 3, 0, CYCLES), SBI_ERR_INVALID_PARAM);
	expect_error(match(0, 0, 0, CYCLES), SBI_ERR_INVALID_PARAM);
	expect_error(start(-1UL, 3), SBI_ERR_INVALID_PARAM);
	expect_error(stop(-1UL, 3, 0), SBI_ERR_INVALID_PARAM);
	expect_error(start(0, 0), SBI_ERR_INVALID_PARAM);
	expect_error(stop(0, 0, 0), SBI_ERR_INVALID_PARAM);
	expect_error(start(count, 1), SBI_ERR_INVALID_PARAM);
	expect_error(info(TIME), SBI_ERR_INVALID_PARAM);
	expect_error(info(count), SBI_ERR_INVALID_PARAM);
	expect_error(info(64), SBI_ERR_INVALID_PARAM);
	expect_error(firmware_read(first_firmware), SBI_ERR_INVALID_PARAM);
	expect_error(firmware_read(CYCLE), SBI_ERR_INVALID_PARAM);
	expect_error(firmware_read(-1UL), SBI_ERR_INVALID_PARAM);
	expect_error(firmware_read(count), SBI_ERR_INVALID_PARAM);
	expect_error(firmware_read_hi(first_firmware), SBI_ERR_INVALID_PARAM);
	expect_error(firmware_read_hi(CYCLE), SBI_ERR_INVALID_PARAM);
	expect_error(firmware_read_hi(count), SBI_ERR_INVALID_PARAM);
	expect_error(call(SBI_EXT_PMU_NUM_COUNTERS + 100, 0, 0, 0, 0, 0), SBI_ERR_NOT_SUPPORTED);
	GUEST_DONE();
}

/* Events and flags that the SBI reserves. A call with one changes nothing. */
static void guest_bad_parameters(void)
{
	static const unsigned long events[] = { 0, RAW | 1, RAW_V2 | 1, BIT(20) | CYCLES };
	struct event_info *infos = (void *)shmem;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		WRITE_ONCE(infos[i].event, events[i]);
		expect_error(match(0, all, 0, events[i]), SBI_ERR_INVALID_PARAM);
	}
	WRITE_ONCE(infos[i].event, CYCLES);
	expect_error(call(EVENT_GET_INFO, SHMEM_ADDRESS, 0, i + 1, 0, 0), 0);
	GUEST_ASSERT_EQ(READ_ONCE(infos[i].supported), 1);
	while (i--)
		GUEST_ASSERT_EQ(READ_ONCE(infos[i].supported), 0);

	for (i = 8; i < 64; i++)
		expect_error(match(0, all, BIT(i), CYCLES), SBI_ERR_INVALID_PARAM);
	configure(BIT(INSTRET), SBI_PMU_CFG_FLAG_AUTO_START, INSTRUCTIONS);
	for (i = 2; i < 64; i++) {
		expect_error(stop(INSTRET, 1, BIT(i)), SBI_ERR_INVALID_PARAM);
		expect_error(call(SBI_EXT_PMU_COUNTER_START, INSTRET, 1, BIT(i), 0, 0),
			     SBI_ERR_INVALID_PARAM);
	}
	expect_error(stop(INSTRET, 1, 0), 0);

	/* On RV64, the address is in the lower half. */
	expect_error(call(SBI_EXT_PMU_SNAPSHOT_SET_SHMEM, SHMEM_ADDRESS, 1, 0, 0, 0),
		     SBI_ERR_INVALID_ADDRESS);
	expect_error(call(SBI_EXT_PMU_SNAPSHOT_SET_SHMEM, SHMEM_ADDRESS, 0, 1, 0, 0),
		     SBI_ERR_INVALID_PARAM);
	expect_error(set_shmem(SHMEM_ADDRESS + 8), SBI_ERR_INVALID_PARAM);
	GUEST_DONE();
}

static void guest_firmware_events(void)
{
	unsigned long a = configure(all, 0, SET_TIMER), b;

	expect_error(start(a, 1), 0);
	b = configure(all, SBI_PMU_CFG_FLAG_AUTO_START | SBI_PMU_CFG_FLAG_CLEAR_VALUE,
		      SET_TIMER);
	GUEST_ASSERT_NE(a, b);
	set_timers(3);
	expect_error(stop(b, 1, 0), 0);
	set_timers(2);
	GUEST_ASSERT_EQ(firmware_value(a), 5);
	GUEST_ASSERT_EQ(firmware_value(b), 3);
	expect_error(firmware_read_hi(b), 0);
	GUEST_ASSERT_EQ(firmware_read_hi(b).value, 0);
	/* The value goes on from what it is, or from where the guest wants it. */
	expect_error(start(b, 1), 0);
	set_timers(1);
	expect_error(stop(b, 1, 0), 0);
	GUEST_ASSERT_EQ(firmware_value(b), 4);
	expect_error(start_at(b, 1, 1UL << 40), 0);
	set_timers(1);
	expect_error(stop(b, 1, SBI_PMU_STOP_FLAG_RESET), 0);
	expect_error(firmware_read(b), SBI_ERR_INVALID_PARAM);
	GUEST_ASSERT_EQ(firmware_value(a), 7);
	GUEST_DONE();
}

static void guest_auto_start(void)
{
	unsigned long counter = configure(BIT(INSTRET), SBI_PMU_CFG_FLAG_AUTO_START |
					  SBI_PMU_CFG_FLAG_CLEAR_VALUE, INSTRUCTIONS);
	unsigned long value;

	work(1000);
	expect_error(start(counter, 1), SBI_ERR_ALREADY_STARTED);
	expect_error(stop(counter, 1, 0), 0);
	value = csr_read(CSR_INSTRET);
	GUEST_ASSERT(value > 1000);
	work(1000);
	GUEST_ASSERT_EQ(csr_read(CSR_INSTRET), value);
	expect_error(start(counter, 1), 0);
	/* A counter with CLEAR_VALUE is 0 before it is started. */
	expect_error(stop(counter, 1, SBI_PMU_STOP_FLAG_RESET), 0);
	configure(BIT(INSTRET), SBI_PMU_CFG_FLAG_CLEAR_VALUE, INSTRUCTIONS);
	GUEST_ASSERT_EQ(csr_read(CSR_INSTRET), 0);
	GUEST_DONE();
}

static void guest_skip_match(void)
{
	unsigned long counter, firmware, value;

	/* A counter that has no event yet */
	expect_error(match(CYCLE, 1, SBI_PMU_CFG_FLAG_SKIP_MATCH, CYCLES), SBI_ERR_INVALID_PARAM);
	counter = configure(all, 0, CYCLES);
	expect_error(start_at(counter, 1, 0), 0);
	work(1000);
	/* Configured again, the counter is stopped and keeps its value. */
	expect_error(match(counter, 1, SBI_PMU_CFG_FLAG_SKIP_MATCH, INSTRUCTIONS), 0);
	value = csr_read(CSR_CYCLE);
	GUEST_ASSERT(value > 1000);
	expect_error(stop(counter, 1, 0), SBI_ERR_ALREADY_STOPPED);
	expect_error(start(counter, 1), 0);
	expect_error(stop(counter, 1, 0), 0);
	GUEST_ASSERT(csr_read(CSR_CYCLE) > value);

	firmware = configure(all, 0, SET_TIMER);
	expect_error(match(firmware, 1, SBI_PMU_CFG_FLAG_SKIP_MATCH, CYCLES),
		     SBI_ERR_INVALID_PARAM);
	expect_error(match(counter, 1, SBI_PMU_CFG_FLAG_SKIP_MATCH, SET_TIMER),
		     SBI_ERR_INVALID_PARAM);
	/* After an event that does not exist, the counter still has the old one. */
	expect_error(match(counter, 1, SBI_PMU_CFG_FLAG_SKIP_MATCH, NO_EVENT),
		     SBI_ERR_NOT_SUPPORTED);
	expect_error(start_at(counter, 1, 0), 0);
	work(1000);
	expect_error(stop(counter, 1, 0), 0);
	GUEST_ASSERT(csr_read(CSR_CYCLE) > 1000);
	GUEST_DONE();
}

static void guest_one_unused(void)
{
	configure(BIT(INSTRET), 0, INSTRUCTIONS);
	expect_error(start(CYCLE, BIT(CYCLE) | BIT(INSTRET)), SBI_ERR_INVALID_PARAM);
	work(1000);
	GUEST_ASSERT(csr_read(CSR_INSTRET) > 1000);
	expect_error(stop(CYCLE, BIT(CYCLE) | BIT(INSTRET), SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT),
		     SBI_ERR_INVALID_PARAM);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_values[INSTRET]), csr_read(CSR_INSTRET));
	expect_error(stop(INSTRET, 1, 0), SBI_ERR_ALREADY_STOPPED);
	GUEST_DONE();
}

static void guest_start_twice(void)
{
	configure(BIT(INSTRET), 0, INSTRUCTIONS);
	expect_error(start_at(INSTRET, 1, 1000000), 0);
	expect_error(start_at(INSTRET, 1, 5), SBI_ERR_ALREADY_STARTED);
	GUEST_ASSERT(csr_read(CSR_INSTRET) > 1000000);
	expect_error(stop(INSTRET, 1, 0), 0);
	GUEST_ASSERT(csr_read(CSR_INSTRET) > 1000000);
	GUEST_DONE();
}

static void guest_counter_mask(void)
{
	unsigned long others = all & ~(BIT(CYCLE) | BIT(INSTRET));

	GUEST_ASSERT(configure(others, 0, CYCLES) >= FIRST_OTHER);
	GUEST_ASSERT_EQ(configure(all, 0, CYCLES), CYCLE);
	GUEST_ASSERT(configure(all, 0, CYCLES) >= FIRST_OTHER);
	expect_error(match(0, BIT(INSTRET), 0, CYCLES), SBI_ERR_NOT_SUPPORTED);
	GUEST_ASSERT_EQ(match(INSTRET, 1, 0, INSTRUCTIONS).value, INSTRET);
	GUEST_DONE();
}

static void guest_snapshot_page(void)
{
	configure(BIT(CYCLE), 0, CYCLES);
	configure(BIT(INSTRET), 0, INSTRUCTIONS);
	expect_error(start_at(INSTRET, 1, 0), 0);
	WRITE_ONCE(shmem->ctr_values[CYCLE], 777);
	expect_error(stop(0, BIT(INSTRET), SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_values[CYCLE]), 777);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_overflow_mask), 0);

	expect_error(start_at(INSTRET, 1, -1000UL), 0);
	work(10000);
	expect_error(stop(0, BIT(INSTRET), SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_overflow_mask), BIT(INSTRET));
	GUEST_ASSERT(READ_ONCE(shmem->ctr_values[INSTRET]) < BIT(32));

	expect_error(start_at(INSTRET, 1, 0), 0);
	expect_error(stop(0, BIT(INSTRET), SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_overflow_mask), 0);

	/* An event that replaces one that has overflowed has not overflowed. */
	expect_error(start_at(INSTRET, 1, -1000UL), 0);
	work(10000);
	expect_error(stop(0, BIT(INSTRET), 0), 0);
	expect_error(match(INSTRET, 1, SBI_PMU_CFG_FLAG_SKIP_MATCH | SBI_PMU_CFG_FLAG_AUTO_START |
			   SBI_PMU_CFG_FLAG_CLEAR_VALUE, INSTRUCTIONS), 0);
	expect_error(stop(0, BIT(INSTRET), SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_overflow_mask), 0);

	/* The snapshot is taken before the reset. */
	expect_error(start_at(INSTRET, 1, -1000UL), 0);
	work(10000);
	expect_error(stop(0, BIT(INSTRET),
			  SBI_PMU_STOP_FLAG_RESET | SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_overflow_mask), BIT(INSTRET));
	GUEST_DONE();
}

static void guest_counter_width(void)
{
	unsigned long counter = configure(all & ~(BIT(CYCLE) | BIT(INSTRET)), 0, INSTRUCTIONS);
	union sbi_pmu_ctr_info counter_info = { .value = info(counter).value };
	unsigned long beyond = counter_info.width == 63 ? 0 : 1UL << (counter_info.width + 1);

	expect_error(start_at(counter, 1, beyond | 5), 0);
	expect_error(stop(counter, 1, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	GUEST_ASSERT(READ_ONCE(shmem->ctr_values[0]) < 100000);

	/* It overflows where the width ends. */
	expect_error(start_at(counter, 1, beyond - 1000), 0);
	work(10000);
	expect_error(stop(counter, 1, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_overflow_mask), 1);
	GUEST_ASSERT(READ_ONCE(shmem->ctr_values[0]) < 10000000);
	GUEST_DONE();
}

static void guest_low_start_value(void)
{
	configure(BIT(INSTRET), 0, INSTRUCTIONS);
	expect_error(start_at(INSTRET, 1, -1000000UL), 0);
	expect_error(stop(INSTRET, 1, 0), 0);
	expect_error(start_at(INSTRET, 1, 100), 0);
	work(2000000);
	expect_error(stop(INSTRET, 1, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	GUEST_ASSERT_EQ(READ_ONCE(shmem->ctr_overflow_mask), 0);
	GUEST_DONE();
}

#define check_reads(counter, csr) do {							\
	unsigned long _first, _last, _now;						\
											\
	expect_error(start_at(counter, 1, FAR_START), 0);				\
	_first = csr_read(csr);								\
	_last = _first;									\
	GUEST_ASSERT(_first >= FAR_START);						\
	for (int _i = 0; _i < READS; _i++) {						\
		_now = csr_read(csr);							\
		GUEST_ASSERT(_now > _last);						\
		_last = _now;								\
	}										\
	expect_error(stop(counter, 1, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);		\
	_now = READ_ONCE(shmem->ctr_values[0]);						\
	__GUEST_ASSERT(_now > _last && _now - _first < READS * 100,			\
		       "%ld cycles", _now - _first);				\
	GUEST_ASSERT_EQ(csr_read(csr), _now);						\
} while (0)

/*
 * The host compares the number of exits. It counts cycles on its fixed counter if that has
 * filters (Smcntrpmf), otherwise on a programmable one. So one of these two can be read directly.
 */
static void guest_read_without_exit(void)
{
	configure(BIT(CYCLE), 0, CYCLES);
	check_reads(CYCLE, CSR_CYCLE);
	expect_error(stop(CYCLE, 1, SBI_PMU_STOP_FLAG_RESET), SBI_ERR_ALREADY_STOPPED);
	configure(BIT(FIRST_OTHER), 0, CYCLES);
	check_reads(FIRST_OTHER, CSR_HPMCOUNTER3);
	GUEST_DONE();
}

/* The host compares its memory before and after. */
static void guest_replaced_page(void)
{
	long error;

	for (int i = 0; i < LEAK_CALLS; i++)
		expect_error(set_shmem(SHMEM_ADDRESS), 0);
	/* After a failed SET_SHMEM there may be the earlier page or none: STOP handles both. */
	expect_error(set_shmem(NO_MEMORY), SBI_ERR_INVALID_ADDRESS);
	configure(BIT(INSTRET), SBI_PMU_CFG_FLAG_AUTO_START, INSTRUCTIONS);
	error = stop(INSTRET, 1, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT).error;
	__GUEST_ASSERT(!error || error == SBI_ERR_NO_SHMEM, "error %ld", error);
	GUEST_DONE();
}

/*
 * Three events of the same kind with different filters need three counters; QEMU has at most two
 * for them. While the events take turns, no value is lower than an earlier one.
 */
static void guest_more_events_than_counters(void)
{
	unsigned long others = all & ~(BIT(CYCLE) | BIT(INSTRET));
	unsigned long supervisor, last, now, sum = 0;

	configure(BIT(INSTRET), 0, INSTRUCTIONS);
	supervisor = configure(others, SBI_PMU_CFG_FLAG_SET_UINH, INSTRUCTIONS);
	expect_error(start_at(configure(others, SBI_PMU_CFG_FLAG_SET_SINH, INSTRUCTIONS), 1, 0), 0);
	expect_error(start_at(supervisor, 1, 0), 0);
	for (int i = 0; i < TURNS; i++) {
		expect_error(start_at(INSTRET, 1, 0), 0);
		last = 0;
		/* Each turn is shorter than the millisecond that KVM needs for an estimate. */
		for (int j = 0; j < READS / 10; j++) {
			work(1000);
			now = csr_read(CSR_INSTRET);
			__GUEST_ASSERT(now >= last, "%ld after %ld", now, last);
			last = now;
		}
		expect_error(stop(INSTRET, 1, 0), 0);
		sum += csr_read(CSR_INSTRET);
	}
	/* INSTRET counts only while its event has a counter; this bound is far below that part. */
	__GUEST_ASSERT(sum > TURNS * READS * 10, "%ld instructions", sum);
	expect_error(stop(supervisor, 1, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT), 0);
	now = READ_ONCE(shmem->ctr_values[0]);
	__GUEST_ASSERT(now > TURNS * READS * 100, "%ld instructions", now);
	GUEST_DONE();
}

/*
 * The host resets the vcpu. If it sleeps while atomic, a kernel with DEBUG_ATOMIC_SLEEP reports
 * that.
 */
static void guest_reset_while_counting(void)
{
	configure(BIT(INSTRET), SBI_PMU_CFG_FLAG_AUTO_START, INSTRUCTIONS);
	GUEST_DONE();
}

static void (*guest_case)(void);

static void guest_main(void)
{
	find_counters();
	expect_error(set_shmem(SHMEM_ADDRESS), 0);
	guest_case();
}

static long kernel_memory(void)
{
	long kib = 0;
	char line[128];
	FILE *file = fopen("/proc/meminfo", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "SUnreclaim: %ld kB", &kib) == 1)
			break;
	TEST_ASSERT(kib, "/proc/meminfo has no SUnreclaim");
	fclose(file);
	return kib;
}

static void reset_vcpu(struct kvm_vcpu *vcpu)
{
	struct kvm_mp_state state = { .mp_state = KVM_MP_STATE_INIT_RECEIVED };

	vcpu_mp_state_set(vcpu, &state);
}

static void run_case(const char *name, void (*code)(void))
{
	struct kvm_vcpu *vcpu;
	struct kvm_vm *vm = vm_create_with_one_vcpu(&vcpu, guest_main);
	long used, exits;
	bool passed;

	if (!__vcpu_has_sbi_ext(vcpu, KVM_RISCV_SBI_EXT_PMU))
		ksft_exit_skip("KVM does not offer the PMU extension: the host needs Sscofpmf\n");
	vm_userspace_mem_region_add(vm, VM_MEM_SRC_ANONYMOUS, SHMEM_ADDRESS, 1, 1, 0);
	virt_map(vm, SHMEM_ADDRESS, SHMEM_ADDRESS, 1);
	if (code == guest_reset_while_counting &&
	    __vm_enable_cap(vm, KVM_CAP_RISCV_MP_STATE_RESET, 0)) {
		ksft_test_result_skip("%s: no KVM_CAP_RISCV_MP_STATE_RESET\n", name);
		kvm_vm_free(vm);
		return;
	}
	all = 0;
	guest_case = code;
	sync_global_to_guest(vm, all);
	sync_global_to_guest(vm, guest_case);

	used = kernel_memory();
	passed = run_guest(vcpu);
	if (passed && code == guest_reset_while_counting)
		reset_vcpu(vcpu);
	/* A leak is a page for each call. Half of that is far above other changes. */
	used = kernel_memory() - used;
	if (passed && used > LEAK_CALLS * SHMEM_SIZE / 1024 / 2) {
		ksft_print_msg("the guest used up %ld KiB of the host\n", used);
		passed = false;
	}
	/* One of the two counters cannot be read directly, nor can stopped ones. */
	exits = vcpu_get_stat(vcpu, csr_exit_kernel) + vcpu_get_stat(vcpu, csr_exit_user);
	if (passed && code == guest_read_without_exit && exits > READS + READS / 100) {
		ksft_print_msg("%ld exits in %d reads\n", exits, 2 * READS);
		passed = false;
	}
	ksft_test_result(passed, "%s\n", name);
	kvm_vm_free(vm);
}

#define CASE(name) { #name, guest_##name }

static const struct {
	const char *name;
	void (*code)(void);
} cases[] = {
	CASE(bad_counters), CASE(bad_parameters), CASE(firmware_events), CASE(auto_start),
	CASE(skip_match), CASE(one_unused),
	CASE(start_twice), CASE(counter_mask), CASE(snapshot_page), CASE(counter_width),
	CASE(low_start_value), CASE(replaced_page), CASE(read_without_exit),
	CASE(more_events_than_counters), CASE(reset_while_counting),
};

int main(void)
{
	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(cases));
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		run_case(cases[i].name, cases[i].code);
	ksft_finished();
}
