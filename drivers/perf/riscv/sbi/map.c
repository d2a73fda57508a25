// SPDX-License-Identifier: GPL-2.0
/*
 * Firmware whose devicetree has no node for the PMU knows no events but cycles and instructions. If
 * it has the PMU batch extension, it gets the others from the table of the core (platform/cores.h).
 */

#define pr_fmt(fmt) "riscv_pmu: sbi: " fmt

#include "../platform/platform.h"
#include "method.h"
#include "sbi.h"

/*
 * Whether the firmware has no map for an event. Without filters it may use the fixed counters for
 * their events even if it has one. If it does not answer, it is not asked for more. Raw events are
 * asked about by one of their selectors. It has a bit that is not in the mask, if there is one:
 * with the selector 0, no firmware would have an event.
 */
static bool map_is_missing(const struct riscv_pmu *pmu, const struct riscv_pmu_selector *entry,
			   u64 hpm_ctrs)
{
	u64 ctrs, event_data = 0;

	if (entry->event_idx == RISCV_PMU_EVENT_RAW)
		event_data = entry->selector | (~entry->mask & -~entry->mask);
	if (to_sbi(pmu)->method->event_ctrs(entry->event_idx, event_data, &ctrs))
		return false;

	return !(ctrs & hpm_ctrs) && (!ctrs || pmu->has_filters);
}

static void map_report(unsigned int mapped, unsigned int refused, bool unable, u32 absent)
{
	if (mapped)
		pr_info("the firmware had no map for %u events of this core, and uses the driver's\n",
			mapped);
	if (refused)
		pr_warn("the firmware refuses %u events of this core, so they are missing: use newer firmware, or run rvpmu doctor, which says what else helps\n",
			refused);
	if (absent)
		pr_warn("the firmware has no counters 0x%x of this core, so events use the others%s; newer firmware may have all counters\n",
			absent, unable ? ", and some are missing" : "");
}

/* Gives the firmware the core's events for which it has no map, before it is asked about events. */
void riscv_pmu_sbi_map_events(struct riscv_pmu *pmu)
{
	const u64 hw_ctrs = pmu->ctrs & ~pmu->fw_ctrs, hpm_ctrs = hw_ctrs & ~pmu->fixed_ctrs;
	const struct riscv_pmu_sbi_method *method = to_sbi(pmu)->method;
	const struct riscv_pmu_platform *platform = pmu->platform;
	unsigned int mapped = 0, refused = 0;
	u32 hpms = riscv_pmu_ctrs_to_hpms(pmu, hw_ctrs), absent = 0;
	bool unable = false;

	if (!platform || !method->map_event)
		return;

	/*
	 * From the end, so that the ranges of raw events come first: one of them may include the
	 * raw event that replaces a standard event below.
	 */
	for (unsigned int i = platform->nr_selectors; i-- > 0;) {
		struct riscv_pmu_selector entry = platform->selectors[i];
		u64 able = riscv_pmu_hpms_to_ctrs(pmu, hpm_ctrs, entry.counters ?: hpms);
		int err;

		/* The map is for all harts, so the driver will open the raw event instead. */
		if (riscv_pmu_platform_override(pmu, entry.event_idx)) {
			entry.event_idx = RISCV_PMU_EVENT_RAW;
			entry.mask = ~0ULL;
		}
		if (!map_is_missing(pmu, &entry, hpm_ctrs))
			continue;
		absent |= entry.counters & ~hpms;
		if (!able) {
			unable = true;
			continue;
		}
		err = method->map_event(&entry, able);
		mapped += !err;
		refused += err == -EIO;
	}
	map_report(mapped, refused, unable, absent);
}
