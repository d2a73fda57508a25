// SPDX-License-Identifier: GPL-2.0
/* An event with random branch records that is sampled at once: most others are never enabled. */

static void do_records(struct worker *w)
{
	struct perf_event_attr attr = pmu_attr_user(PERF_TYPE_HARDWARE,
						    PERF_COUNT_HW_INSTRUCTIONS);
	struct slot slot = { .samples = true, .has_head = true };

	attr.sample_type = PMU_RING_SAMPLE;
	attr.sample_period = 1000 + below(w, N);
	choose_records(w, &attr);
	slot.attr = attr;
	slot.fd = pmu_open(&attr);
	atomic_fetch_add(slot.fd < 0 ? &tally->refused : &tally->opened, 1);
	if (slot.fd < 0)
		return;

	slot.size = 9 * sysconf(_SC_PAGESIZE);
	slot.page = mmap(NULL, slot.size, PROT_READ | PROT_WRITE, MAP_SHARED, slot.fd, 0);
	if (slot.page == MAP_FAILED)
		slot.page = NULL;
	ioctl(slot.fd, PERF_EVENT_IOC_ENABLE, 0);
	/* Where interrupts are late, a sample takes as much. */
	pmu_loop(10 * N);
	drain(w, &slot);
	close(slot.fd);
	do_unmap(&slot);
}
