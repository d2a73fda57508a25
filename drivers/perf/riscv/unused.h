/* SPDX-License-Identifier: GPL-2.0 */
/* Whether any event is open: if none is, the counters stop. */
#ifndef _RISCV_PMU_UNUSED_H
#define _RISCV_PMU_UNUSED_H

void riscv_pmu_event_opened(void);
void riscv_pmu_event_closed(void);

#endif /* _RISCV_PMU_UNUSED_H */
