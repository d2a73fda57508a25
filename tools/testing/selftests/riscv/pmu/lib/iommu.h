/* SPDX-License-Identifier: GPL-2.0 */
/* The PMU of the first IOMMU, riscv_iommu_pmu_0: its events, and the disk that makes requests. */
#ifndef RISCV_PMU_TEST_IOMMU_H
#define RISCV_PMU_TEST_IOMMU_H

#include "pmu.h"

#define PMU		"/sys/bus/event_source/devices/riscv_iommu_pmu_0/"
#define DISK		"/dev/vda"
#define GROUP_TYPE	"/sys/block/vda/device/../iommu_group/type"

/* perf_event_attr::config, as in format/ */
#define EVENT_CYCLES	0
#define EVENT_REQUESTS	1
#define EVENT_MISSES	4
#define EVENT_WALKS	7
#define DMASK		0x8000ULL
#define DID(id)		((uint64_t)(id) << 36 | 1ULL << 61)
#define PID(id)		((uint64_t)(id) << 16 | 1ULL << 60)
#define IDT		(4ULL << 60)

#define PAGE		4096

struct perf_event_attr hpm_attr(uint64_t config);
int hpm_cpu(void);
/* A descriptor, or -errno. */
int hpm_open_attr(const struct perf_event_attr *attr, int leader);
int hpm_open(uint64_t config);
/* Opens and closes at once: 0 or -errno. */
int hpm_try(const struct perf_event_attr *attr);
int hpm_try_config(uint64_t config);

/* The requester ID of the disk: bus, device, function; -1 if it is no PCI function. */
long disk_did(void);
/* Whether its addresses are translated: else it is let through, and nothing is walked. */
bool disk_is_translated(void);
/* @times requests of so many pages each; all of it comes from the disk. */
int disk_read(int disk, void *data, int pages, int times);
/* The disk has a queue for each CPU, and its rings have addresses too: each is known then. */
int disk_warm_up(int disk, void *data);
/* What an event counts of such requests. */
int64_t count_reads(int disk, void *data, uint64_t config, int pages, int times);

#endif
