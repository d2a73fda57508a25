/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions to run cases. */
#ifndef SBI_CONFORMANCE_CASE_H
#define SBI_CONFORMANCE_CASE_H

#include "tap.h"

/* Ends the run if a line of the initrd names no case. */
void known_check(const struct test_case *const *groups);
/* Is the case selected? */
bool case_is_wanted(const struct test_case *test);
/* HAVE are the requirements (NEEDS_) that this machine meets. */
void case_run(const struct test_case *test, u64 have);
bool cases_good(void);

extern const struct test_case boot_cases[], counters_cases[], match_cases[];
extern const struct test_case startstop_cases[], filter_cases[], overflow_cases[];
extern const struct test_case firmware_event_cases[], event_info_cases[];
extern const struct test_case snapshot_cases[], sse_cases[], suspend_cases[];
extern const struct test_case batch_cases[], batch_fail_cases[], batch_filter_cases[];
extern const struct test_case batch_resolve_cases[], batch_map_cases[], batch_state_cases[];
extern const struct test_case batch_cost_cases[];
extern const struct test_case device_cases[], hostile_cases[], fuzz_cases[];

#endif
