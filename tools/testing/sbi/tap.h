/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases, what they expect, and TAP on the firmware's console. */
#ifndef SBI_CONFORMANCE_TAP_H
#define SBI_CONFORMANCE_TAP_H

#include "sbi.h"

/* What a case can not do without; tap_needs() finds it. */
#define NEEDS_ICOUNT		BIT(0)	/* QEMU counts instructions: counts are exact */
#define NEEDS_SSCOFPMF		BIT(1)
#define NEEDS_SMCNTRPMF		BIT(2)
#define NEEDS_EVENT_INFO	BIT(3)
#define NEEDS_SNAPSHOT		BIT(4)
#define NEEDS_BATCH		BIT(5)
#define NEEDS_HART		BIT(6)	/* a second one */
#define NEEDS_SSCTR		BIT(7)
#define NEEDS_RV64		BIT(8)
#define NEEDS_FILTERS		BIT(9)	/* that are heeded where the hart has them */
#define NEEDS_SSE		BIT(10)
#define NEEDS_SSCCFG		BIT(11)	/* counters delegated to S-mode */
#define NEEDS_FIXED		BIT(12)	/* cycle and instret can be configured */
#define NEEDS_READS		BIT(13)	/* what the firmware reads can be told */
/* The counters are to be as the firmware has left them. */
#define AT_BOOT			BIT(31)

struct test_case {
	const char *name;
	void (*run)(void);
	u64 needs;
};

#define CASES_END	{ NULL, NULL, 0 }

/* %s, %c, and %d, %u and %x of a long or a long long, with # or without; no widths. */
__printf(1, 2) void print(const char *format, ...);
__printf(1, 2) void __noreturn bail_out(const char *format, ...);
void __noreturn power_off(bool good);

void tap_skip(const char *why);
void tap_fail(const char *file, int line, const char *what, u64 got, u64 want);
void tap_fail_range(const char *file, int line, const char *what, u64 got, u64 low, u64 high);
void tap_fail_ret(const char *file, int line, const char *what, struct sbiret got);
bool tap_failed(void);

#define EXPECT(condition)						\
	do {								\
		if (!(condition))					\
			tap_fail(__FILE__, __LINE__, #condition, 0, 1);	\
	} while (0)

#define EXPECT_EQ(got, want)						\
	do {								\
		u64 got_ = (u64)(got), want_ = (u64)(want);		\
									\
		if (got_ != want_)					\
			tap_fail(__FILE__, __LINE__, #got, got_, want_);	\
	} while (0)

/* From low to high, both included, also where that wraps. */
#define EXPECT_IN(got, low, high)					\
	do {								\
		u64 got_ = (u64)(got), low_ = (low), high_ = (high);	\
									\
		if (got_ - low_ > high_ - low_)				\
			tap_fail_range(__FILE__, __LINE__, #got, got_, low_, high_);	\
	} while (0)

#define EXPECT_OK(call)							\
	do {								\
		struct sbiret ret_ = (call);				\
									\
		if (ret_.error != SBI_SUCCESS)				\
			tap_fail_ret(__FILE__, __LINE__, #call, ret_);	\
	} while (0)

/* What a1 has on an error is unspecified (SBI 3.0, chapter 3). */
#define EXPECT_ERROR(call, want)					\
	do {								\
		struct sbiret ret_ = (call);				\
									\
		if (ret_.error != (want))			\
			tap_fail_ret(__FILE__, __LINE__, #call " is not " #want, ret_);	\
	} while (0)

/* One error or another; a specification that names both leaves it open. */
#define EXPECT_REFUSED(call)						\
	do {								\
		struct sbiret ret_ = (call);				\
									\
		if (ret_.error >= 0)			\
			tap_fail_ret(__FILE__, __LINE__, #call, ret_);	\
	} while (0)

/* For what the rest of a case stands on. */
#define REQUIRE(condition)						\
	do {								\
		if (!(condition)) {					\
			tap_fail(__FILE__, __LINE__, #condition, 0, 1);	\
			return;						\
		}							\
	} while (0)

#endif
