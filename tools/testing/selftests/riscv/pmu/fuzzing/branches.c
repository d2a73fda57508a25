// SPDX-License-Identifier: GPL-2.0
/* Random use of event-based branches: registers handlers, and writes to their page. */

/* Long enough, sooner or later, for the worker to get on. */
static void on_branch(volatile struct riscv_ebb_page *page, void *arg)
{
	static unsigned int n;

	n++;
	atomic_fetch_add(&tally->branched, 1);
	for (uint64_t ctrs = page->overflowed & 0xffffffff; ctrs; ctrs &= ctrs - 1)
		page->period[__builtin_ctzll(ctrs)] = 1000ULL << n % 12;
	if (!(n % 32))
		page->overflowed = -1;
	if (!(n % 64))
		ebb_handler(NULL, NULL);
}

/* All as it should be, unless the counters are others' or pinned. */
static void take_branches(struct worker *w)
{
	struct perf_event_attr attr = pmu_attr_user(PERF_TYPE_HARDWARE,
						    PERF_COUNT_HW_INSTRUCTIONS);
	int fd = ebb_open(&attr, -1);

	if (fd < 0)
		return;
	ebb_period(ebb_counter(&attr), 1 + below(w, 1000));
	ebb_handler(on_branch, NULL);
	ebb_enable();
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	pmu_loop(N);
	close(fd);
}

/* Any handler, in a structure that is right more often than not. */
static void register_odd(struct worker *w, uint64_t handler)
{
	const struct riscv_ebb_register reg[2] = { {
		.size = one_in(w, 4) ? odd_number(w) : sizeof(*reg),
		.version = one_in(w, 4) ? odd_number(w) : RISCV_EBB_VERSION,
		.handler = handler,
		.flags = one_in(w, 8),
	} };
	int dev = open("/dev/riscv_ebb", O_RDWR | O_CLOEXEC);

	ioctl(dev, RISCV_EBB_IOC_REGISTER, reg);
	ioctl(dev, RISCV_EBB_IOC_ENABLE, 0);
	ioctl(dev, RISCV_EBB_IOC_ABANDON, 0);
	close(dev);
}

/* The page of event-based branches; only children go where nothing is. */
static void do_ebb(struct worker *w)
{
	volatile struct riscv_ebb_page *page = ebb_page();
	unsigned int ctr = below(w, 32);
	uint64_t number = odd_number(w);

	if (!page)
		return;

	switch (below(w, 10)) {
	case 0:
		ebb_close();
		break;
	case 1:
		ebb_disable();
		break;
	case 2:
		ebb_handler(NULL, NULL);
		break;
	case 3:
		page->status = number;
		page->overflowed = number;
		break;
	case 4:
		if (w->child)
			register_odd(w, number);
		break;
	case 5:
		ebb_period(ctr, number);
		break;
	case 6:
	case 7:
		take_branches(w);
		break;
	default:
		for (ctr = 3; ctr < 32; ctr++)
			ebb_period(ctr, 1 + below(w, N));
		ebb_handler(on_branch, NULL);
		ebb_enable();
		pmu_loop(N);
	}
}
