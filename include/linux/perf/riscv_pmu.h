/* SPDX-License-Identifier: GPL-2.0 */
/* The RISC-V core PMU: what KVM and the code in arch/riscv use. */
#ifndef _LINUX_PERF_RISCV_PMU_H
#define _LINUX_PERF_RISCV_PMU_H

#include <linux/bits.h>
#include <linux/types.h>

struct perf_event;
struct pt_regs;

/*
 * Masks of counters, hardware and firmware ones together, are u64. KVM of Linux before 7.2 uses
 * this number, too.
 */
#define RISCV_MAX_COUNTERS		64

/*
 * attr.config1: this event counts a KVM guest. KVM alone sets it, on the
 * counters that it creates for its guests.
 */
#define RISCV_PMU_CONFIG1_GUEST_EVENTS	0x1
/*
 * Only with RISCV_PMU_CONFIG1_GUEST_EVENTS: number of the guest's counter (0: cycle, 2: instret).
 * The driver prefers the host's counter with this number, which the guest can read without an exit.
 */
#define RISCV_PMU_CONFIG1_GUEST_HPM	GENMASK_ULL(12, 8)

#ifdef CONFIG_RISCV_PMU_USER_ACCESS
bool riscv_pmu_skip_user_read(struct pt_regs *regs);
#else
static inline bool riscv_pmu_skip_user_read(struct pt_regs *regs)
{
	return false;
}
#endif

#ifdef CONFIG_RISCV_PMU_KVM
void riscv_pmu_guest_add_vcpu(void);
void riscv_pmu_guest_remove_vcpu(void);
void riscv_pmu_guest_enter(void);
void riscv_pmu_guest_exit(void);
bool riscv_pmu_guest_prepare_read(struct perf_event *event, u64 base, unsigned int width);
int riscv_pmu_get_hpm_info(u32 *hw_ctr_width, u32 *num_hw_ctr);
int riscv_pmu_get_event_info(u32 type, u64 config, u64 *econfig);
#else
static inline void riscv_pmu_guest_add_vcpu(void) { }
static inline void riscv_pmu_guest_remove_vcpu(void) { }
static inline void riscv_pmu_guest_enter(void) { }
static inline void riscv_pmu_guest_exit(void) { }
static inline bool riscv_pmu_guest_prepare_read(struct perf_event *event, u64 base,
						unsigned int width)
{
	return false;
}
#endif

#ifdef CONFIG_RISCV_PMU_NMI
void riscv_pmu_crash_stop(void);
void riscv_pmu_nmi_hold(void);
void riscv_pmu_nmi_release(void);
#else
static inline void riscv_pmu_crash_stop(void) { }
static inline void riscv_pmu_nmi_hold(void) { }
static inline void riscv_pmu_nmi_release(void) { }
#endif

#endif /* _LINUX_PERF_RISCV_PMU_H */
