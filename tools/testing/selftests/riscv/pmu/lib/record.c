// SPDX-License-Identifier: GPL-2.0
/* Reads samples of any sample_type: the fields come in the order of perf_event_open(2). */

#include <string.h>

#include "records.h"

/* What pmu_record_parse() reads; a field unknown to it would shift all after it. */
#define KNOWN	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |	\
		 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |	\
		 PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |		\
		 PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |	\
		 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_REGS_INTR)

struct cursor {
	const unsigned char *at, *end;
	bool short_of;	/* somebody wanted more than there is */
};

static const void *take_bytes(struct cursor *cursor, uint64_t size)
{
	const void *at = cursor->at;

	if (size > (uint64_t)(cursor->end - cursor->at)) {
		cursor->short_of = true;
		return NULL;
	}
	cursor->at += size;
	return at;
}

static uint64_t take_u64(struct cursor *cursor)
{
	const uint64_t *at = take_bytes(cursor, sizeof(*at));

	return at ? *at : 0;
}

/* Two halves of 64 bits. */
static void take_pair(struct cursor *cursor, uint32_t *first, uint32_t *second)
{
	const uint32_t *at = take_bytes(cursor, 2 * sizeof(*at));

	*first = at ? at[0] : 0;
	if (second)
		*second = at ? at[1] : 0;
}

static void take_times(struct cursor *cursor, uint64_t format, struct pmu_record *record)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		record->enabled = take_u64(cursor);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		record->running = take_u64(cursor);
}

static void take_member(struct cursor *cursor, uint64_t format, struct pmu_record *record, int i)
{
	if (format & PERF_FORMAT_ID)
		record->member[i].id = take_u64(cursor);
	if (format & PERF_FORMAT_LOST)
		record->member[i].lost = take_u64(cursor);
}

static void take_read(struct cursor *cursor, uint64_t format, struct pmu_record *record)
{
	if (!(format & PERF_FORMAT_GROUP)) {
		record->nr_members = 1;
		record->member[0].value = take_u64(cursor);
		take_times(cursor, format, record);
		take_member(cursor, format, record, 0);
		return;
	}

	record->nr_members = take_u64(cursor);
	take_times(cursor, format, record);
	if (record->nr_members > PMU_RECORD_MEMBERS) {
		cursor->short_of = true;
		return;
	}
	for (uint64_t i = 0; i < record->nr_members; i++) {
		record->member[i].value = take_u64(cursor);
		take_member(cursor, format, record, i);
	}
}

static void take_frames(struct cursor *cursor, struct pmu_record *record)
{
	record->nr_frames = take_u64(cursor);
	if (record->nr_frames > UINT16_MAX)
		cursor->short_of = true;
	else
		record->frames = take_bytes(cursor, record->nr_frames * sizeof(uint64_t));
}

/* perf leaves out the index, too, if the driver has given no records, not even an empty list. */
static void take_branches(struct cursor *cursor, const struct perf_event_attr *attr,
			  struct pmu_record *record)
{
	record->nr_branches = take_u64(cursor);
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX && cursor->at != cursor->end)
		record->hw_index = take_u64(cursor);
	if (record->nr_branches > UINT16_MAX)
		cursor->short_of = true;
	else
		record->branches = take_bytes(cursor, record->nr_branches *
						      sizeof(*record->branches));
}

/* The registers are there only if the ABI says that there are any. */
static uint64_t take_regs(struct cursor *cursor, uint64_t mask, uint64_t regs[PMU_RECORD_REGS])
{
	uint64_t abi = take_u64(cursor);

	for (int i = 0; abi && mask; mask &= mask - 1)
		regs[i++] = take_u64(cursor);
	return abi;
}

static void take_stack(struct cursor *cursor, struct pmu_record *record)
{
	record->stack_size = take_u64(cursor);
	if (!record->stack_size)
		return;

	record->stack = take_bytes(cursor, record->stack_size);
	record->stack_filled = take_u64(cursor);
	if (record->stack_filled > record->stack_size)
		cursor->short_of = true;
}

static void take_ids(struct cursor *cursor, uint64_t type, struct pmu_record *record)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		record->identifier = take_u64(cursor);
	if (type & PERF_SAMPLE_IP)
		record->ip = take_u64(cursor);
	if (type & PERF_SAMPLE_TID)
		take_pair(cursor, &record->pid, &record->tid);
	if (type & PERF_SAMPLE_TIME)
		record->time = take_u64(cursor);
	if (type & PERF_SAMPLE_ADDR)
		record->addr = take_u64(cursor);
	if (type & PERF_SAMPLE_ID)
		record->id = take_u64(cursor);
	if (type & PERF_SAMPLE_STREAM_ID)
		record->stream_id = take_u64(cursor);
	if (type & PERF_SAMPLE_CPU)
		take_pair(cursor, &record->cpu, NULL);
	if (type & PERF_SAMPLE_PERIOD)
		record->period = take_u64(cursor);
}

bool pmu_record_parse(struct pmu_record *record, const struct perf_event_attr *attr,
		      const struct perf_event_header *header)
{
	const unsigned char *begin = (const unsigned char *)header;
	struct cursor cursor = { .at = begin + sizeof(*header), .end = begin + header->size };
	uint64_t type = attr->sample_type;

	memset(record, 0, sizeof(*record));
	record->misc = header->misc;
	record->hw_index = -1;
	if (header->type != PERF_RECORD_SAMPLE || type & ~(uint64_t)KNOWN)
		return false;

	take_ids(&cursor, type, record);
	if (type & PERF_SAMPLE_READ)
		take_read(&cursor, attr->read_format, record);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_frames(&cursor, record);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(&cursor, attr, record);
	if (type & PERF_SAMPLE_REGS_USER)
		record->user_abi = take_regs(&cursor, attr->sample_regs_user, record->user_regs);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(&cursor, record);
	if (type & PERF_SAMPLE_WEIGHT)
		record->weight = take_u64(&cursor);
	if (type & PERF_SAMPLE_DATA_SRC)
		record->data_src = take_u64(&cursor);
	if (type & PERF_SAMPLE_REGS_INTR)
		record->intr_abi = take_regs(&cursor, attr->sample_regs_intr, record->intr_regs);

	return !cursor.short_of && cursor.at == cursor.end;
}

struct records {
	const struct perf_event_attr *attr;
	pmu_record_fn *fn;
	void *arg;
};

static void records_take(struct pmu_ring *ring, const struct perf_event_header *header, void *arg)
{
	struct records *records = arg;
	struct pmu_record record;

	if (header->type != PERF_RECORD_SAMPLE)
		return;

	if (!pmu_record_parse(&record, records->attr, header))
		ring->broken = true;
	else if (records->fn)
		records->fn(&record, records->arg);
}

void pmu_ring_records(struct pmu_ring *ring, const struct perf_event_attr *attr,
		      pmu_record_fn *fn, void *arg)
{
	struct records records = { attr, fn, arg };

	pmu_ring_walk(ring, records_take, &records);
}

/*
 * Without -icount, QEMU 10.0.2 may miss an overflow: its timer changes the counters of a hart
 * without a lock. The counter does not interrupt then until it starts again.
 */
#define RUNS_WITHOUT_SAMPLES	3

int records_sample(const struct perf_event_attr *attr, struct pmu_ring *ring, int *fd,
		   pmu_body *body, long arg, pmu_record_fn *fn, void *check)
{
	int err = pmu_mapped_open(attr, PMU_RING_PAGES, ring, fd);
	int runs = pmu_is_exact() ? 1 : RUNS_WITHOUT_SAMPLES;

	if (err)
		return err;

	/* Fault the code in, which is not what is sampled. */
	body(2);
	while (!err && !ring->samples && runs--) {
		err = pmu_run(*fd, 0, body, arg);
		pmu_ring_records(ring, attr, fn, check);
	}
	return err;
}

bool is_user(const struct pmu_record *record)
{
	return (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
}

bool is_between(uint64_t ip, const char *begin, const char *end)
{
	return ip >= (uintptr_t)begin && ip < (uintptr_t)end;
}

bool is_kernel_address(uint64_t ip)
{
	return (int64_t)ip < 0 && ip < (uint64_t)PERF_CONTEXT_MAX;
}
