// SPDX-License-Identifier: GPL-2.0
/* Walks perf's ring buffer, and checks the size of each record. */

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

int pmu_ring_map_pages(struct pmu_ring *ring, int fd, int pages)
{
	size_t size = (pages + 1) * sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*ring = (struct pmu_ring){ .size = size };
	if (page == MAP_FAILED)
		return -errno;

	ring->page = page;
	return 0;
}

int pmu_ring_map(struct pmu_ring *ring, int fd)
{
	return pmu_ring_map_pages(ring, fd, PMU_RING_PAGES);
}

void pmu_ring_unmap(struct pmu_ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->size);
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

/* The largest record: its size has 16 bits. */
union ring_record {
	struct perf_event_header header;
	char bytes[65536];
};

/* All but samples have a meaning of their own, whatever the event asked for. */
static void ring_count(struct pmu_ring *ring, const struct perf_event_header *header)
{
	const struct { struct perf_event_header header; uint64_t id, lost; } *lost;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		ring->samples++;
		break;
	case PERF_RECORD_LOST:
		lost = (const void *)header;
		ring->lost += lost->lost;
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

void pmu_ring_walk(struct pmu_ring *ring, pmu_walk_fn *fn, void *arg)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	static union ring_record record;

	while (tail < head) {
		ring_copy(ring, tail, &record, sizeof(record.header));
		if (record.header.size < sizeof(record.header) ||
		    record.header.size > head - tail) {
			ring->broken = true;
			tail = head;
			break;
		}
		ring_copy(ring, tail, &record, record.header.size);
		ring_count(ring, &record.header);
		fn(ring, &record.header, arg);
		tail += record.header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

struct drain {
	pmu_sample_fn *fn;
	void *arg;
};

static void drain_record(struct pmu_ring *ring, const struct perf_event_header *header, void *arg)
{
	const struct pmu_sample *sample = (const struct pmu_sample *)header;
	struct drain *drain = arg;

	if (header->type != PERF_RECORD_SAMPLE)
		return;

	if (header->size != sizeof(*sample)) {
		ring->broken = true;
		ring->samples--;
		return;
	}
	ring->periods += sample->period;
	if (drain->fn)
		drain->fn(sample, drain->arg);
}

void pmu_ring_drain(struct pmu_ring *ring, pmu_sample_fn *fn, void *arg)
{
	struct drain drain = { fn, arg };

	pmu_ring_walk(ring, drain_record, &drain);
}

int pmu_mapped_open(const struct perf_event_attr *attr, int pages, struct pmu_ring *ring, int *fd)
{
	*fd = pmu_open(attr);
	return *fd < 0 ? *fd : pmu_ring_map_pages(ring, *fd, pages);
}

int pmu_mapped_open_warm(const struct perf_event_attr *attr, int pages, struct pmu_ring *ring,
			 int *fd)
{
	int err = pmu_mapped_open(attr, pages, ring, fd);

	if (err)
		return err;

	pmu_loop(2);
	return 0;
}

void pmu_mapped_close(struct pmu_ring *ring, int *fd)
{
	pmu_ring_unmap(ring);
	close(*fd);
	*fd = -1;
}

int set_output(int fd, int to)
{
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, to) ? -errno : 0;
}

int set_period(int fd, uint64_t period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}
