// SPDX-License-Identifier: GPL-2.0
/* Walks perf's ring buffer and distrusts every record. */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pmu.h"

int pmu_ring_map(struct pmu_ring *ring, int fd)
{
	size_t size = (PMU_RING_PAGES + 1) * sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*ring = (struct pmu_ring){};
	if (page == MAP_FAILED)
		return -errno;

	ring->page = page;
	return 0;
}

void pmu_ring_unmap(struct pmu_ring *ring)
{
	if (ring->page)
		munmap(ring->page, (PMU_RING_PAGES + 1) * sysconf(_SC_PAGESIZE));
	ring->page = NULL;
}

/* A record may wrap around the end. */
static void ring_copy(const struct pmu_ring *ring, uint64_t at, void *to, size_t size)
{
	const char *data = (const char *)ring->page + ring->page->data_offset;
	uint64_t all = ring->page->data_size;
	size_t first = all - at % all;

	if (first > size)
		first = size;
	memcpy(to, data + at % all, first);
	memcpy((char *)to + first, data, size - first);
}

static void ring_take(struct pmu_ring *ring, uint64_t at, const struct perf_event_header *header,
		      pmu_sample_fn *fn, void *arg)
{
	struct { struct perf_event_header header; uint64_t id, lost; } lost;
	struct pmu_sample sample;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		if (header->size != sizeof(sample)) {
			ring->broken = true;
			return;
		}
		ring->samples++;
		ring_copy(ring, at, &sample, sizeof(sample));
		if (fn)
			fn(&sample, arg);
		break;
	case PERF_RECORD_LOST:
		ring_copy(ring, at, &lost, sizeof(lost));
		ring->lost += lost.lost;
		break;
	case PERF_RECORD_THROTTLE:
		ring->throttled++;
		break;
	case PERF_RECORD_UNTHROTTLE:
		ring->unthrottled++;
		break;
	default:
		ring->others++;
	}
}

void pmu_ring_drain(struct pmu_ring *ring, pmu_sample_fn *fn, void *arg)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;

	while (tail < head) {
		struct perf_event_header header;

		ring_copy(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail) {
			ring->broken = true;
			tail = head;
			break;
		}
		ring_take(ring, tail, &header, fn, arg);
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}
