// SPDX-License-Identifier: GPL-2.0
/*
 * Translates perf_event_attr to a config and the counters that can hold it. The backend is asked
 * for the counters, in process context and on a hart of the PMU, since it may have to test some.
 * Nothing else here depends on the machine's state. Errors:
 *
 *	-EINVAL		the attributes are malformed, config2 selects no counter that can hold the
 *			event, or only the filter for guests is missing
 *	-ENOENT		this machine does not have the event, or the type is not this PMU's
 *	-EOPNOTSUPP	it has the event, but no counter can filter or sample it as requested
 *	-EACCES		riscv_pmu.unfiltered=1: it would count the kernel, which the user may not
 */

#include <linux/bitfield.h>
#include <linux/errno.h>

#include "compat.h"
#include "event.h"
#include "fw.h"
#include "platform/platform.h"

#define EVENT_CONFIG_CLASS	GENMASK_ULL(63, 62)
#define EVENT_CONFIG_IDX	GENMASK_ULL(19, 0)

/* config2: the hardware counters that an event may use; bit n is hpmcounter n; 0: any */
#define EVENT_CONFIG2_CTRS	GENMASK_ULL(31, 0)

/* The SBI's event codes follow perf's numbers. Both are ABI, and cannot change. */
static_assert(PERF_COUNT_HW_CPU_CYCLES == 0 && PERF_COUNT_HW_REF_CPU_CYCLES == 9);
static_assert(PERF_COUNT_HW_MAX == 10);
static_assert(PERF_COUNT_HW_CACHE_L1D == 0 && PERF_COUNT_HW_CACHE_NODE == 6);
static_assert(PERF_COUNT_HW_CACHE_OP_PREFETCH == 2 && PERF_COUNT_HW_CACHE_RESULT_MISS == 1);

static int event_parse_hw(u64 config, struct riscv_pmu_config *cfg)
{
	if (config >= PERF_COUNT_HW_MAX)
		return -EINVAL;

	cfg->event_idx = RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_HW, (u32)config + 1);
	return 0;
}

static int event_parse_cache(u32 cache, u32 op, u64 result, struct riscv_pmu_config *cfg)
{
	if (cache >= PERF_COUNT_HW_CACHE_MAX || op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;

	cfg->event_idx = RISCV_PMU_EVENT_IDX(RISCV_PMU_EVENT_TYPE_CACHE,
					     RISCV_PMU_EVENT_CACHE_CODE(cache, op, result));
	return 0;
}

static int event_parse_raw_selector(const struct riscv_pmu *pmu, u64 selector,
				    struct riscv_pmu_config *cfg)
{
	if (!pmu->raw_bits)
		return -ENOENT;
	/* Selector 0 means "no event" (Privileged ISA, mhpmevent). */
	if (!selector || selector >> pmu->raw_bits)
		return -EINVAL;

	cfg->event_idx = riscv_pmu_raw_event(pmu);
	cfg->event_data = selector;
	return 0;
}

static int event_parse_std(u64 config, struct riscv_pmu_config *cfg)
{
	u32 idx = FIELD_GET(EVENT_CONFIG_IDX, config);
	u32 code = riscv_pmu_event_code(idx);

	if (config & ~(EVENT_CONFIG_CLASS | EVENT_CONFIG_IDX))
		return -EINVAL;

	switch (riscv_pmu_event_type(idx)) {
	case RISCV_PMU_EVENT_TYPE_HW:
		return event_parse_hw(code - 1, cfg);
	case RISCV_PMU_EVENT_TYPE_CACHE:
		return event_parse_cache(code >> 3, code >> 1 & 0x3, code & 0x1, cfg);
	}

	return -EINVAL;
}

static int event_parse_raw(const struct riscv_pmu *pmu, u64 config, struct riscv_pmu_config *cfg)
{
	switch (FIELD_GET(EVENT_CONFIG_CLASS, config)) {
	case RISCV_PMU_CLASS_RAW:
		return event_parse_raw_selector(pmu, config, cfg);
	case RISCV_PMU_CLASS_STD:
		return event_parse_std(config, cfg);
	default:
		return riscv_pmu_fw_parse(config, cfg);
	}
}

/**
 * riscv_pmu_event_parse() - get an event's event_idx and data from its attributes
 * @pmu:	the PMU, for the width of its raw selectors
 * @attr:	the attributes; whether the machine has the event is not checked
 * @cfg:	out: event_idx and event_data; inh is 0
 * Return: 0; -EINVAL: the attributes do not encode an event; -ENOENT: their type is not this PMU's
 */
int riscv_pmu_event_parse(const struct riscv_pmu *pmu, const struct perf_event_attr *attr,
			  struct riscv_pmu_config *cfg)
{
	*cfg = (struct riscv_pmu_config){};

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return event_parse_hw(attr->config, cfg);
	case PERF_TYPE_HW_CACHE:
		/* One byte each for cache and operation; the rest is the result. */
		return event_parse_cache(attr->config & 0xff, attr->config >> 8 & 0xff,
					 attr->config >> 16, cfg);
	}

	/* If there are several PMUs, each has a type of its own: see core_is_ours(). */
	if (attr->type == PERF_TYPE_RAW || attr->type == pmu->pmu.type)
		return event_parse_raw(pmu, attr->config, cfg);

	return -ENOENT;
}

/*
 * The modes in which the event must not count. exclude_kernel excludes the kernels of guests
 * too, because an unprivileged user must not observe any kernel. exclude_hv changes nothing: the
 * firmware is no hypervisor, and event_find_ctrs() excludes it anyway if a counter can.
 */
static u32 event_attr_to_inh(const struct riscv_pmu *pmu, const struct perf_event_attr *attr)
{
	u32 inh = 0;

	if (attr->exclude_user)
		inh |= RISCV_PMU_INH_U | RISCV_PMU_INH_VU;
	if (attr->exclude_kernel)
		inh |= RISCV_PMU_INH_S | RISCV_PMU_INH_VS;
	if (attr->exclude_host)
		inh |= RISCV_PMU_INH_U | RISCV_PMU_INH_S;
	if (attr->exclude_guest)
		inh |= RISCV_PMU_INH_VU | RISCV_PMU_INH_VS;
	/* If no guest can run, its modes need no filter. */
	if (!pmu->guests)
		inh &= ~RISCV_PMU_INH_GUESTS;

	return inh;
}

/* Those of @ctrs that can exclude all modes of @inh */
static u64 event_filter_ctrs(const struct riscv_pmu *pmu, u64 ctrs, u32 inh)
{
	u64 able = 0;

	for_each_ctr(ctr, ctrs) {
		if (!(inh & ~pmu->ctr[ctr].inh))
			able |= BIT_ULL(ctr);
	}

	return able;
}

/*
 * Counters for a sampling event. If one of them can interrupt, only such counters are used.
 * Otherwise a timer polls the counter. Firmware counters are not polled: each poll is a
 * firmware call, and they count the firmware's own events, such as setting that timer.
 */
static u64 event_sampling_ctrs(const struct riscv_pmu *pmu, u64 ctrs)
{
	if (ctrs & pmu->irq_ctrs)
		return ctrs & pmu->irq_ctrs;

	return pmu->polled_sampling ? ctrs & ~pmu->fw_ctrs : 0;
}

/*
 * perf sets exclude_guest by default, and tries again without it only if it gets -EINVAL. So
 * return that if the filters for guests are the reason.
 */
static int event_no_filter_error(const struct riscv_pmu *pmu, u64 ctrs, u32 inh)
{
	return event_filter_ctrs(pmu, ctrs, inh & ~RISCV_PMU_INH_GUESTS) ? -EINVAL : -EOPNOTSUPP;
}

/* The bits of config1 that users may set. */
#ifdef CONFIG_RISCV_PMU_EBB
#define EVENT_USER_CONFIG1	RISCV_PMU_CONFIG1_EBB

/* Whether an event may cause event-based branches: see Documentation/arch/riscv/pmu-ebb.rst. */
static bool event_may_branch(const struct perf_event_attr *attr)
{
	return attr->exclude_kernel && attr->exclude_hv && hweight64(attr->config2) == 1 &&
	       !attr->inherit && !attr->sample_period && !attr->freq && !attr->enable_on_exec;
}
#else
#define EVENT_USER_CONFIG1	0
#endif

/* Refuses attributes that no backend supports: if they were ignored, counts would be wrong. */
static int event_check_attr(const struct perf_event_attr *attr, bool in_kernel)
{
	u64 config1 = in_kernel ? RISCV_PMU_CONFIG1_GUEST_EVENTS | RISCV_PMU_CONFIG1_GUEST_HPM :
				  EVENT_USER_CONFIG1;

	if (attr->config1 & ~config1 || attr->config2 & ~EVENT_CONFIG2_CTRS || attr->config3 ||
	    riscv_pmu_config4(attr))
		return -EINVAL;
#ifdef CONFIG_RISCV_PMU_EBB
	if (attr->config1 & RISCV_PMU_CONFIG1_EBB && !event_may_branch(attr))
		return -EINVAL;
#endif
	if (attr->exclude_idle || attr->precise_ip)
		return -EOPNOTSUPP;

	return 0;
}

/* Restricts @ctrs to hpmcounters that config2 selects (vendors' lists); no firmware counters */
static u64 event_mask_ctrs(const struct riscv_pmu *pmu, u64 ctrs, u32 hpms)
{
	u64 able = 0;

	if (!hpms)
		return ctrs;

	for_each_ctr(ctr, ctrs) {
		unsigned int hpm = riscv_pmu_ctr_to_hpm(pmu, ctr);

		/* A counter without a CSR has none of these numbers. */
		if (hpm < 32 && hpms & BIT(hpm))
			able |= BIT_ULL(ctr);
	}

	return able;
}

/**
 * riscv_pmu_event_ctrs() - find the counters that can hold an event
 * @pmu:	the PMU
 * @cfg:	the event, whose filters are ignored; out: the event that the counters have to hold
 * Return: the counters, 0 if the machine does not have the event.
 */
u64 riscv_pmu_event_ctrs(struct riscv_pmu *pmu, struct riscv_pmu_config *cfg)
{
	return pmu->ops.event_ctrs(pmu, cfg) & pmu->ctrs;
}

/*
 * Fills in the counters that can hold req->cfg with the filters @inh, and can sample it, or cause
 * event-based branches, if @attr asks for that.
 */
static int event_find_ctrs(struct riscv_pmu *pmu, const struct perf_event_attr *attr, u32 inh,
			   struct riscv_pmu_request *req)
{
	u32 hpm = FIELD_GET(RISCV_PMU_CONFIG1_GUEST_HPM, attr->config1);
	u64 ctrs = riscv_pmu_event_ctrs(pmu, &req->cfg);

	if (!ctrs)
		return -ENOENT;
	ctrs = event_mask_ctrs(pmu, ctrs, attr->config2);
	if (!ctrs)
		return -EINVAL;

	/*
	 * An event has to count the same on each of its counters, so these have to agree about
	 * machine mode. If some can exclude it, only those are used. Otherwise all count it, and
	 * any of them may be used, also if config2 has selected only such counters.
	 */
	req->ctrs = event_filter_ctrs(pmu, ctrs, inh | RISCV_PMU_INH_M) ?:
		    event_filter_ctrs(pmu, ctrs, inh);
	if (!req->ctrs)
		return event_no_filter_error(pmu, ctrs, inh);

#ifdef CONFIG_RISCV_PMU_EBB
	if (attr->config1 & RISCV_PMU_CONFIG1_EBB)
		req->ctrs &= pmu->irq_ctrs;
#endif
	if (attr->sample_period)	/* a union with sample_freq */
		req->ctrs = event_sampling_ctrs(pmu, req->ctrs);
	if (!req->ctrs)
		return -EOPNOTSUPP;

	if (attr->config1 & RISCV_PMU_CONFIG1_GUEST_EVENTS)
		req->prefer = event_mask_ctrs(pmu, req->ctrs, BIT(hpm));
	/* Counters that cannot exclude machine mode (ctr.inh) ignore this bit. */
	req->cfg.inh = inh | RISCV_PMU_INH_M;
	return 0;
}

/*
 * Fills in a request for the raw event @selector (0: the core has none; returns -EINVAL), which
 * counts in one mode of the host: it needs no filter for others, so that all events that use it can
 * share a counter.
 */
static int event_find_mode_event(struct riscv_pmu *pmu, const struct perf_event_attr *attr,
				 u32 inh, u64 selector, struct riscv_pmu_request *req)
{
	int err = event_parse_raw_selector(pmu, selector, &req->cfg) ?:
		  event_find_ctrs(pmu, attr, inh & RISCV_PMU_INH_M, req);

	/* If a timer has to sample the raw event, it can as well sample the event itself. */
	if (!err && attr->sample_period && !(req->ctrs & pmu->irq_ctrs))
		err = -EOPNOTSUPP;
	return err;
}

/* Tries the raw event by which programmable counters count the event of a fixed one. */
static bool event_try_programmable(struct riscv_pmu *pmu, const struct perf_event_attr *attr,
				   u32 inh, struct riscv_pmu_request *req)
{
	const struct riscv_pmu_selector *entry =
		riscv_pmu_platform_known(pmu->platform, req->cfg.event_idx);
	struct riscv_pmu_request raw = {};

	if (!entry || !riscv_pmu_event_fixed_hpm(req->cfg.event_idx) ||
	    event_parse_raw_selector(pmu, entry->selector, &raw.cfg) ||
	    event_find_ctrs(pmu, attr, inh, &raw))
		return false;

	raw.ctrs = event_mask_ctrs(pmu, raw.ctrs, entry->counters);
	if (attr->sample_period)
		raw.ctrs &= pmu->irq_ctrs;
	if (!raw.ctrs)
		return false;

	*req = raw;
	return true;
}

/*
 * If no counter can filter the event (@err), or none of @req->ctrs can interrupt for its samples,
 * the core's table may have a raw event that counts the same, or two that do in one mode each.
 * @req becomes the request for such a one. An event that is sampled in both modes by two is split:
 * @req[1] is for its second part.
 */
static int event_try_table(struct riscv_pmu *pmu, const struct perf_event_attr *attr, u32 inh,
			   struct riscv_pmu_request *req, int err)
{
	bool user = !(inh & RISCV_PMU_INH_U), kernel = !(inh & RISCV_PMU_INH_S);
	const struct riscv_pmu_substitute *sub = pmu->platform->substitutes;
	const struct riscv_pmu_substitute *end = sub + pmu->platform->nr_substitutes;
	struct riscv_pmu_request raw[2] = {};

	if (err != -EOPNOTSUPP && (err || !attr->sample_period || req->ctrs & pmu->irq_ctrs))
		return err;
	if (event_try_programmable(pmu, attr, inh, req))
		return 0;
	if (user && kernel && (!attr->sample_period || !IS_ENABLED(CONFIG_RISCV_PMU_SPLIT)))
		return err;

	while (sub < end && sub->event_idx != req->cfg.event_idx)
		sub++;
	if (sub == end ||
	    (user && event_find_mode_event(pmu, attr, inh, sub->user, &raw[0])) ||
	    (kernel && event_find_mode_event(pmu, attr, inh, sub->kernel, &raw[user])))
		return err;
	/* The two parts need a counter each. */
	if (!raw[0].ctrs || (raw[1].ctrs && hweight64(raw[0].ctrs | raw[1].ctrs) < 2))
		return err;

	req[0] = raw[0];
	req[1] = raw[1];
	return 0;
}

/* req->cfg has the event, without its filters @inh. */
static int event_resolve_modes(struct riscv_pmu *pmu, const struct perf_event_attr *attr, u32 inh,
			       struct riscv_pmu_request *req)
{
	int err;

	if (riscv_pmu_fw_is_unfilterable(pmu, req->cfg.event_idx, inh))
		return event_no_filter_error(pmu, pmu->fw_ctrs, inh);

	err = event_find_ctrs(pmu, attr, inh, req);
	return pmu->platform ? event_try_table(pmu, attr, inh, req, err) : err;
}

/**
 * riscv_pmu_event_resolve() - translate attributes to a config and a constraint
 * @pmu:	the PMU
 * @attr:	the attributes
 * @in_kernel:	the event is opened with a context, as KVM does
 * @req:	out: the config, and the counters that can hold it with its filters and sample it,
 *		if it is sampling. If two counters have to sample it, one in each mode, the
 *		requests of its two parts; otherwise the second one has no counters
 * Return: 0, -EINVAL, -ENOENT or -EOPNOTSUPP; the top of this file lists their reasons.
 */
int riscv_pmu_event_resolve(struct riscv_pmu *pmu, const struct perf_event_attr *attr,
			    bool in_kernel, struct riscv_pmu_request req[2])
{
	u32 inh;
	int err;

	req[1] = (struct riscv_pmu_request){};
	err = riscv_pmu_event_parse(pmu, attr, &req->cfg) ?: event_check_attr(attr, in_kernel);
	if (err)
		return err;

	inh = event_attr_to_inh(pmu, attr);
	req->unfiltered = false;
	err = event_resolve_modes(pmu, attr, inh, req);
	/* Only an event of user mode, without event-based branches, may count all modes instead. */
	if (err != -EOPNOTSUPP || !pmu->unfiltered || !(inh & RISCV_PMU_INH_S) ||
	    inh & RISCV_PMU_INH_U || attr->config1 & EVENT_USER_CONFIG1)
		return err;

	err = riscv_pmu_event_parse(pmu, attr, &req->cfg) ?: event_resolve_modes(pmu, attr, 0, req);
	/* Last: what a core's table has replaces the whole request. */
	req->unfiltered = !err;
	return err;
}
