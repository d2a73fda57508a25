// SPDX-License-Identifier: BSD-2-Clause
/* Extensions other than PMU and SSE, as far as the program uses them. */
#include "host.h"
#include "sbi_impl.h"

#define SPEC_VERSION		(3UL << 24)
/* Not a registered ID. */
#define IMPL_ID			0x08FFFFFF

#define SUSPEND_RETENTIVE	0UL
#define SUSPEND_NON_RETENTIVE	0x80000000UL

static bool is_offered(ulong ext)
{
	switch (ext) {
	case SBI_EXT_BASE:
	case SBI_EXT_TIME:
	case SBI_EXT_HSM:
	case SBI_EXT_SRST:
	case SBI_EXT_DBCN:
	case SBI_EXT_PMU:
	case SBI_EXT_PMU_BATCH:
		return true;
	case SBI_EXT_SSE:
		return hart_profile->sscofpmf;
	default:
		return false;
	}
}

static struct sbiret base_handle(ulong fid, const ulong *args)
{
	switch (fid) {
	case SBI_BASE_GET_SPEC_VERSION:
		return sbi_value(SPEC_VERSION);
	case SBI_BASE_GET_IMPL_ID:
		return sbi_value(IMPL_ID);
	case SBI_BASE_GET_IMPL_VERSION:
		return sbi_value(0);
	case SBI_BASE_PROBE_EXTENSION:
		return sbi_value(is_offered(args[0]));
	default:
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	}
}

static struct sbiret time_handle(ulong fid, const ulong *args)
{
	if (fid)
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	hart_timer_set(args[0]);
	pmu_count_firmware_event(EVENT_FW_SET_TIMER);
	return sbi_value(0);
}

/* Section 5.1 of the batch extension: a non-retentive suspend loses the page and counters. */
static struct sbiret hsm_handle(ulong fid, const ulong *args)
{
	if (fid != SBI_HSM_HART_SUSPEND)
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	if (args[0] != SUSPEND_RETENTIVE && args[0] != SUSPEND_NON_RETENTIVE)
		return sbi_error(SBI_ERR_INVALID_PARAM);
	hart_wait();
	if (args[0] == SUSPEND_NON_RETENTIVE) {
		hart_counters_reset();
		pmu_boot();
		batch_forget_page();
	}
	return sbi_value(0);
}

/* Writes the memory that the program passes to the console. */
static struct sbiret console_handle(ulong fid, const ulong *args)
{
	if (fid)
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	host_write((const char *)args[1], args[0]);
	return sbi_value(args[0]);
}

void sbi_boot(void)
{
	pmu_boot();
}

struct sbiret sbi_handle(ulong ext, ulong fid, const ulong *args)
{
	if (!is_offered(ext))
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	switch (ext) {
	case SBI_EXT_BASE:
		return base_handle(fid, args);
	case SBI_EXT_TIME:
		return time_handle(fid, args);
	case SBI_EXT_HSM:
		return hsm_handle(fid, args);
	case SBI_EXT_DBCN:
		return console_handle(fid, args);
	case SBI_EXT_PMU:
		return pmu_handle(fid, args);
	case SBI_EXT_PMU_BATCH:
		return batch_handle(fid, args);
	case SBI_EXT_SSE:
		return sse_handle_call(fid, args);
	default:
		/* SRST: the second argument is a reason, which is not zero after a failure. */
		host_exit(args[1] != 0);
		return sbi_error(SBI_ERR_FAILED);
	}
}
