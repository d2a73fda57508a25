/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Encoding of perf_event_attr::config for the RISC-V core PMU (attr.type is PERF_TYPE_RAW
 * or that of the PMU named "cpu").
 */
#ifndef _UAPI_LINUX_RISCV_PMU_H
#define _UAPI_LINUX_RISCV_PMU_H

/*
 * Bits 63:62 of config select the class of the event; the other bits depend on it.
 *
 * RAW:		bits 47:0 (55:0 from SBI 3.0 on) are the mhpmevent selector in the core's manual
 * STD:		bits 19:0 are an event_idx of the SBI PMU extension, of type
 *		0 (hardware general) or 1 (hardware cache)
 * FW:		bits 15:0 are the code of an SBI firmware event
 * FW_PLATFORM:	bits 61:0 are the code of a platform-specific firmware event
 */
#define RISCV_PMU_CLASS_SHIFT		62
#define RISCV_PMU_CLASS_RAW		0
#define RISCV_PMU_CLASS_STD		1
#define RISCV_PMU_CLASS_FW		2
#define RISCV_PMU_CLASS_FW_PLATFORM	3

#endif /* _UAPI_LINUX_RISCV_PMU_H */
