// SPDX-License-Identifier: GPL-2.0
/* The standard events that delegated counters can count. */

#include "ssccfg.h"

/**
 * riscv_pmu_ssccfg_find_event() - look up a standard event
 * @ssccfg:	the backend's data
 * @event_idx:	event_idx of the SBI PMU extension
 *
 * Context: any.
 * Return: the event, or NULL if no programmable counter can hold it.
 */
const struct ssccfg_event *riscv_pmu_ssccfg_find_event(const struct ssccfg *ssccfg, u32 event_idx)
{
	for (unsigned int i = 0; i < ssccfg->nr_events; i++) {
		if (ssccfg->event[i].selector.event_idx == event_idx)
			return &ssccfg->event[i];
	}

	return NULL;
}

/**
 * riscv_pmu_ssccfg_find_selector() - look up a standard event by its selector
 * @ssccfg:	the backend's data
 * @selector:	value of hpmevent without filters
 *
 * Context: any.
 * Return: the event, or NULL if no standard event has the selector.
 */
const struct ssccfg_event *riscv_pmu_ssccfg_find_selector(const struct ssccfg *ssccfg, u64 selector)
{
	for (unsigned int i = 0; i < ssccfg->nr_events; i++) {
		if (ssccfg->event[i].selector.selector == selector)
			return &ssccfg->event[i];
	}

	return NULL;
}

/**
 * riscv_pmu_ssccfg_event_of() - find an event that a counter can hold
 * @ssccfg:	the backend's data
 * @ctr:	the counter, as a mask
 *
 * Context: any.
 * Return: the event whose home is the counter; otherwise any event that the counter can hold;
 * NULL if there is none.
 */
const struct ssccfg_event *riscv_pmu_ssccfg_event_of(const struct ssccfg *ssccfg, u64 ctr)
{
	const struct ssccfg_event *any = NULL;

	for (unsigned int i = 0; i < ssccfg->nr_events; i++) {
		if (ssccfg->event[i].home & ctr)
			return &ssccfg->event[i];
		if (ssccfg->event[i].ctrs & ctr)
			any = &ssccfg->event[i];
	}

	return any;
}
