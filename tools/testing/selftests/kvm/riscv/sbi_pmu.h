/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of the SBI's PMU extension (version 3.0, chapter 11) for guests. */
#ifndef SELFTEST_KVM_SBI_PMU_H
#define SELFTEST_KVM_SBI_PMU_H

#include "kvm_util.h"
#include "test_util.h"
#include "processor.h"
#include "sbi.h"
#include "ucall_common.h"

/* Not in the library's sbi.h */
#define SBI_ERR_NO_SHMEM	(-9)

#define CYCLES		SBI_PMU_HW_CPU_CYCLES
#define INSTRUCTIONS	SBI_PMU_HW_INSTRUCTIONS

/* KVM's own order of counters: cycle, time, instret, programmable ones, firmware's. */
#define CYCLE		0
#define TIME		1
#define INSTRET		2
#define FIRST_OTHER	3

/* Assert in the guest that an SBI call returns this error code. */
#define expect_error(ret, wanted) do {						\
	struct sbiret _ret = (ret);						\
	__GUEST_ASSERT(_ret.error == (wanted), "%s: error %ld instead of %ld",	\
		       #ret, _ret.error, (long)(wanted));			\
} while (0)

static inline struct sbiret call(int function, unsigned long base, unsigned long mask,
				 unsigned long flags, unsigned long arg3, unsigned long arg4)
{
	return sbi_ecall(SBI_EXT_PMU, function, base, mask, flags, arg3, arg4, 0);
}

static inline struct sbiret match(unsigned long base, unsigned long mask, unsigned long flags,
				  unsigned long event)
{
	return call(SBI_EXT_PMU_COUNTER_CFG_MATCH, base, mask, flags, event, 0);
}

static inline struct sbiret start_at(unsigned long base, unsigned long mask, unsigned long value)
{
	return call(SBI_EXT_PMU_COUNTER_START, base, mask, SBI_PMU_START_FLAG_SET_INIT_VALUE,
		    value, 0);
}

static inline struct sbiret stop(unsigned long base, unsigned long mask, unsigned long flags)
{
	return call(SBI_EXT_PMU_COUNTER_STOP, base, mask, flags, 0, 0);
}

static inline unsigned long configure(unsigned long mask, unsigned long flags, unsigned long event)
{
	struct sbiret ret = match(0, mask, flags, event);

	__GUEST_ASSERT(!ret.error, "event %#lx: error %ld", event, ret.error);
	__GUEST_ASSERT(mask & BIT(ret.value), "event %#lx: counter %ld is not in the mask %#lx",
		       event, ret.value, mask);
	return ret.value;
}

static inline void work(int loops)
{
	while (loops--)
		asm volatile("nop");
}

/* Whether the guest, which has stopped, has reached GUEST_DONE() without a failed assertion. */
static inline bool guest_has_passed(struct kvm_vcpu *vcpu)
{
	struct ucall uc;

	switch (get_ucall(vcpu, &uc)) {
	case UCALL_DONE:
		return true;
	case UCALL_ABORT:
		ksft_print_msg("line %lu: %s\n", (unsigned long)uc.args[GUEST_LINE], uc.buffer);
		return false;
	default:
		ksft_print_msg("the guest ended with ucall %lu\n", (unsigned long)uc.cmd);
		return false;
	}
}

static inline bool run_guest(struct kvm_vcpu *vcpu)
{
	vcpu_run(vcpu);
	return guest_has_passed(vcpu);
}

#endif
