// SPDX-License-Identifier: BSD-2-Clause
/* One event of the Supervisor Software Events extension: the local PMU overflow. */
#include "sbi_impl.h"
#include "../sse.h"

#define SSE_WRITE_ATTRS		1
#define SSE_REGISTER		2
#define SSE_UNREGISTER		3
#define SSE_ENABLE		4
#define SSE_DISABLE		5
#define SSE_COMPLETE		6
#define SSE_HART_UNMASK		8
#define SSE_HART_MASK		9
#define ENTRY_INSTRUCTIONS	32
#define SSE_LOCAL_PMU_OVERFLOW	0x00010000UL
#define SSE_ATTR_CONFIG		2
#define SSE_CONFIG_ONESHOT	1

static struct {
	bool registered, enabled, unmasked, pending, running, oneshot;
} event;

static struct sbiret hart_mask(bool unmask)
{
	event.unmasked = unmask;
	return sbi_value(0);
}

/* Only the attribute CONFIG can be written. */
static struct sbiret write_attribute(const ulong *args)
{
	if (args[1] != SSE_ATTR_CONFIG || args[2] != 1)
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	event.oneshot = *(const ulong *)args[3] & SSE_CONFIG_ONESHOT;
	return sbi_value(0);
}

static struct sbiret event_call(ulong fid, const ulong *args)
{
	switch (fid) {
	case SSE_WRITE_ATTRS:
		return write_attribute(args);
	case SSE_REGISTER:
	case SSE_UNREGISTER:
		event.registered = fid == SSE_REGISTER;
		event.enabled = false;
		event.pending = false;
		hart_overflows_to_machine(event.registered);
		return sbi_value(0);
	case SSE_ENABLE:
	case SSE_DISABLE:
		event.enabled = event.registered && fid == SSE_ENABLE;
		return sbi_value(0);
	default:
		return sbi_error(SBI_ERR_NOT_SUPPORTED);
	}
}

struct sbiret sse_handle_call(ulong fid, const ulong *args)
{
	switch (fid) {
	case SSE_HART_UNMASK:
	case SSE_HART_MASK:
		return hart_mask(fid == SSE_HART_UNMASK);
	case SSE_COMPLETE:
		event.running = false;
		event.enabled &= !event.oneshot;
		return sbi_value(0);
	default:
		if (args[0] != SSE_LOCAL_PMU_OVERFLOW)
			return sbi_error(SBI_ERR_INVALID_PARAM);
		return event_call(fid, args);
	}
}

/* Section 10: the pending bit is cleared when the event is injected. */
void sse_take_overflow(void)
{
	if (!event.enabled || !event.unmasked || event.running)
		return;
	hart_overflow_clear();
	event.pending = true;
}

/* Replacement for entry.S: the handler, and the call of SSE_COMPLETE. */
ulong sse_frame[32];

/* Includes the instructions to save and restore the registers. */
void sse_entry(void)
{
	hart_execute(ENTRY_INSTRUCTIONS);
	sse_handle();
	hart_execute(ENTRY_INSTRUCTIONS);
	sbi_call(SBI_EXT_SSE, SSE_COMPLETE, 0, 0, 0);
}

void sse_inject(void)
{
	if (!event.pending)
		return;
	event.pending = false;
	event.running = true;
	sse_entry();
}
