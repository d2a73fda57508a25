// SPDX-License-Identifier: GPL-2.0
/* Random attributes of an event: mostly valid, with a wrong field now and then. */

/* Mostly what most harts have. */
static void choose_event(struct worker *w, struct perf_event_attr *attr)
{
	switch (below(w, 16)) {
	case 0: case 1: case 2: case 3: case 4: case 5:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = below(w, 2);
		break;
	case 6:
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = below(w, PERF_COUNT_HW_MAX);
		break;
	case 7: case 8:
		attr->type = PERF_TYPE_HW_CACHE;
		attr->config = PMU_CACHE(below(w, 2) + 3, below(w, 2), 1);
		break;
	case 9:
		attr->type = PERF_TYPE_HW_CACHE;
		attr->config = PMU_CACHE(below(w, 7), below(w, 3), below(w, 2));
		break;
	case 10:
		attr->type = PERF_TYPE_RAW;
		attr->config = PMU_RAW(below(w, 64));
		break;
	case 11:
		attr->type = PERF_TYPE_RAW;
		attr->config = PMU_STD(below(w, 4));
		break;
	case 12:
		attr->type = PERF_TYPE_RAW;
		attr->config = PMU_FW(below(w, PMU_FW_NR_DEFINED + 2));
		break;
	case 13: case 14:
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = below(w, PERF_COUNT_SW_MAX);
		break;
	default:
		attr->type = below(w, 20);
		attr->config = odd_number(w);
	}
}

/* Branch records: mostly one of perf's filters with anything else that they may have. */
static void choose_records(struct worker *w, struct perf_event_attr *attr)
{
	static const uint64_t types[] = {
		PERF_SAMPLE_BRANCH_ANY, PERF_SAMPLE_BRANCH_ANY, PERF_SAMPLE_BRANCH_ANY_CALL,
		PERF_SAMPLE_BRANCH_ANY_RETURN, PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL,
		PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_IND_JUMP,
		PERF_SAMPLE_BRANCH_CALL_STACK, PERF_SAMPLE_BRANCH_CALL_STACK,
	};
	const uint64_t extras = PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES |
				PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX |
				PERF_SAMPLE_BRANCH_PRIV_SAVE;

	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	if (one_in(w, 4)) {
		attr->branch_sample_type = odd_number(w);
		return;
	}
	attr->branch_sample_type = types[below(w, 8)] | (chance(w) & extras);
	if (one_in(w, 2))
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_USER;
	if (one_in(w, 2))
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
}

static void choose_sampling(struct worker *w, struct perf_event_attr *attr)
{
	static const uint64_t periods[] = { 1, 2, 100, 10000, 1000000, 1ULL << 40 };

	if (one_in(w, 3)) {
		attr->freq = 1;
		attr->sample_freq = 1 + below(w, 50000);
	} else {
		attr->sample_period = one_in(w, 8) ? odd_number(w) : periods[below(w, 6)];
	}
	attr->sample_type = one_in(w, 2) ? PMU_RING_SAMPLE : chance(w) & (PERF_SAMPLE_MAX - 1);
	attr->wakeup_events = below(w, 4);
	attr->sample_regs_user = one_in(w, 2) ? 0 : chance(w) & 0xffffffff;
	attr->sample_stack_user = below(w, 3) * 1024;
	if (one_in(w, 4))
		choose_records(w, attr);
}

/* One that branches: what it must be, before something else is changed. */
static void choose_ebb(struct worker *w, struct perf_event_attr *attr)
{
	if (!one_in(w, 4)) {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = below(w, 2);
	}
	attr->config1 = RISCV_PMU_CONFIG1_EBB;
	attr->config2 = 1ULL << (3 + below(w, 16));
	attr->pinned = 1;
	attr->exclusive = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->inherit = 0;
	attr->enable_on_exec = 0;
}

/* A field that is wrong, or merely unusual. */
static void mutate(struct worker *w, struct perf_event_attr *attr)
{
	uint64_t bit = 1ULL << below(w, 64);
	uint64_t number = odd_number(w);

	switch (below(w, 16)) {
	case 0:
		attr->config = number;
		break;
	case 1:
		attr->config1 = number;
		break;
	case 2:
		attr->config2 = number;
		break;
	case 3:
		attr->config3 = number;
		break;
	case 4:
		attr->config ^= bit;
		break;
	case 5:
		attr->sample_type ^= bit;
		break;
	case 6:
		attr->branch_sample_type = number;
		break;
	case 7:
		attr->read_format ^= bit & 0x3f;
		break;
	case 8:
		attr->precise_ip = number;
		break;
	case 9:
		attr->clockid = number % 16;
		attr->use_clockid = 1;
		break;
	case 10:
		attr->size = number % 200;
		break;
	case 11:
		attr->sig_data = number;
		break;
	case 12:
		attr->aux_watermark = number;
		break;
	case 13:
		attr->sample_max_stack = number % 2000;
		break;
	default:
		/* A flag: they follow read_format. */
		*(uint64_t *)(&attr->read_format + 1) ^= 1ULL << below(w, 40);
	}
}

static struct perf_event_attr choose_attr(struct worker *w)
{
	struct perf_event_attr attr = pmu_attr(0, 0);

	choose_event(w, &attr);
	attr.disabled = one_in(w, 2);
	attr.exclude_kernel = !w->privileged || one_in(w, 2);
	attr.exclude_hv = one_in(w, 2);
	attr.inherit = one_in(w, 3);
	attr.pinned = one_in(w, 8);
	attr.exclusive = one_in(w, 16);
	attr.enable_on_exec = one_in(w, 8);
	attr.read_format = one_in(w, 2) ? 0 : chance(w) & 0x1f;
	if (one_in(w, 6))
		choose_ebb(w, &attr);
	else if (one_in(w, 2))
		choose_sampling(w, &attr);
	for (int n = below(w, 3); n && one_in(w, 2); n--)
		mutate(w, &attr);
	return attr;
}
