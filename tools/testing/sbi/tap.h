/* SPDX-License-Identifier: BSD-2-Clause */
/* Test cases, their expectations, and TAP on the firmware's console. */
#ifndef SBI_CONFORMANCE_TAP_H
#define SBI_CONFORMANCE_TAP_H

#include "sbi.h"

/* Requirements of a case; main.c determines which of them are met. */
#define NEEDS_ICOUNT		BIT(0)	/* QEMU counts instructions: counts are exact */
#define NEEDS_SSCOFPMF		BIT(1)
#define NEEDS_SMCNTRPMF		BIT(2)
#define NEEDS_EVENT_INFO	BIT(3)
#define NEEDS_SNAPSHOT		BIT(4)
#define NEEDS_BATCH		BIT(5)
#define NEEDS_HART		BIT(6)	/* a second hart */
#define NEEDS_SSCTR		BIT(7)
#define NEEDS_RV64		BIT(8)
#define NEEDS_FILTERS		BIT(9)	/* QEMU applies the hart's filters */
#define NEEDS_SSE		BIT(10)
#define NEEDS_SSCCFG		BIT(11)	/* counters delegated to S-mode */
#define NEEDS_FIXED		BIT(12)	/* cycle and instret can be configured */
#define NEEDS_READS		BIT(13)	/* the firmware's reads can be observed */
#define NEEDS_MAP		BIT(14)	/* the batch extension has MAP_EVENTS */
/* Do not reset the counters before the case. */
#define AT_BOOT			BIT(31)

struct test_case {
	const char *name;
	void (*run)(void);
	u64 needs;
};

#define CASES_END	{ NULL, NULL, 0 }

/* Supports %s, %c, and %d, %u and %x with l or ll, with or without #; no widths. */
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

/* The value must be from low to high, inclusive; the range may wrap. */
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

/* The value of a1 is unspecified after an error (SBI 3.0, chapter 3). */
#define EXPECT_ERROR(call, want)					\
	do {								\
		struct sbiret ret_ = (call);				\
									\
		if (ret_.error != (want))			\
			tap_fail_ret(__FILE__, __LINE__, #call " is not " #want, ret_);	\
	} while (0)

/* Accepts any error, for cases in which the specification permits several. */
#define EXPECT_REFUSED(call)						\
	do {								\
		struct sbiret ret_ = (call);				\
									\
		if (ret_.error >= 0)			\
			tap_fail_ret(__FILE__, __LINE__, #call, ret_);	\
	} while (0)

/* For preconditions of the rest of a case. */
#define REQUIRE(condition)						\
	do {								\
		if (!(condition)) {					\
			tap_fail(__FILE__, __LINE__, #condition, 0, 1);	\
			return;						\
		}							\
	} while (0)

#endif
