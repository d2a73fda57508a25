// SPDX-License-Identifier: GPL-2.0
/* All ecalls of the PMU extensions. On RV32, 64-bit arguments and counter masks are split here. */

#define pr_fmt(fmt) "riscv_pmu: " fmt

#include <kunit/static_stub.h>
#include <linux/io.h>
#include <linux/math.h>
#include <linux/slab.h>

#include <asm/sbi_pmu_batch.h>

#include "../fault.h"
#include "../print.h"
#include "call.h"

/* The SBI implementation ID of KVM (SBI 3.0, 4.9) */
#define SBI_CALL_IMP_ID_KVM	3

/* Index of a function of the batch extension in riscv_pmu_sbi_counts. */
#define SBI_CALL_BATCH(fid)	(SBI_CALL_NR_PMU_FIDS + (fid))

static DEFINE_PER_CPU(unsigned long [RISCV_PMU_SBI_NR_FIDS], riscv_pmu_sbi_counts);

/* The name of a function below RISCV_PMU_SBI_NR_FIDS, for debugfs */
const char *riscv_pmu_sbi_ecall_name(unsigned int fid)
{
	static const char *const names[RISCV_PMU_SBI_NR_FIDS] = {
		[SBI_EXT_PMU_NUM_COUNTERS]	= "num_counters",
		[SBI_EXT_PMU_COUNTER_GET_INFO]	= "get_info",
		[SBI_EXT_PMU_COUNTER_CFG_MATCH]	= "cfg_match",
		[SBI_EXT_PMU_COUNTER_START]	= "start",
		[SBI_EXT_PMU_COUNTER_STOP]	= "stop",
		[SBI_EXT_PMU_COUNTER_FW_READ]	= "fw_read",
		[SBI_EXT_PMU_COUNTER_FW_READ_HI] = "fw_read_hi",
		[SBI_EXT_PMU_SNAPSHOT_SET_SHMEM] = "snapshot_set_shmem",
		[SBI_CALL_PMU_EVENT_GET_INFO]	= "event_get_info",
		[SBI_CALL_BATCH(SBI_PMU_BATCH_GET_VERSION)] = "batch_get_version",
		[SBI_CALL_BATCH(SBI_PMU_BATCH_SET_SHMEM)] = "batch_set_shmem",
		[SBI_CALL_BATCH(SBI_PMU_BATCH_APPLY)]	= "batch_apply",
		[SBI_CALL_BATCH(SBI_PMU_BATCH_RESOLVE)]	= "batch_resolve",
		[SBI_CALL_BATCH(SBI_PMU_BATCH_MAP_EVENTS)] = "batch_map_events",
	};

	return names[fid];
}

/* The number of a hart's calls of such a function since boot */
unsigned long riscv_pmu_sbi_ecall_count(unsigned int cpu, unsigned int fid)
{
	return per_cpu(riscv_pmu_sbi_counts, cpu)[fid];
}

/* Reports an error that the SBI does not provide for, whose consequences look like our own bugs. */
static noinline void call_complain(unsigned int fid, long error)
{
	riscv_pmu_warn_once("a firmware call failed (%s, error %ld): events may be missing or stop counting; newer firmware may fix this\n",
			    riscv_pmu_sbi_ecall_name(fid), error);
}

/* The upper half of an argument, which takes two registers on RV32 only */
static unsigned long call_high(u64 value)
{
	return IS_ENABLED(CONFIG_32BIT) ? upper_32_bits(value) : 0;
}

/* The upper half of the address of a page that is shared; PHYS_ADDR_MAX, all ones, is no page. */
static unsigned long call_page_high(phys_addr_t page)
{
	return page == PHYS_ADDR_MAX ? ULONG_MAX : call_high(page);
}

/* Maps an SBI error to an errno; -EIO if Linux has no equivalent. */
static int call_errno(struct sbiret ret)
{
	return ret.error ? sbi_err_map_linux_errno(ret.error) ?: -EIO : 0;
}

/* An ecall of the PMU extension; @arg takes two registers on RV32. KUnit replaces this function. */
struct sbiret riscv_pmu_sbi_pmu(unsigned long fid, unsigned long a0, unsigned long a1,
				unsigned long a2, unsigned long a3, u64 arg)
{
	struct sbiret ret = {};

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_sbi_pmu, fid, a0, a1, a2, a3, arg);

	if (fid < SBI_CALL_NR_PMU_FIDS)
		this_cpu_inc(riscv_pmu_sbi_counts[fid]);
	if (riscv_pmu_should_fail())
		ret.error = SBI_ERR_FAILURE;
	else
		ret = sbi_ecall(SBI_EXT_PMU, fid, a0, a1, a2, a3, (unsigned long)arg,
				call_high(arg));
	if (unlikely(ret.error == SBI_ERR_FAILURE))
		call_complain(fid, ret.error);

	return ret;
}

/* Lets the hart execute some instructions in M-mode, by a call that changes nothing. */
void riscv_pmu_sbi_nothing(void)
{
	sbi_ecall(SBI_EXT_BASE, SBI_EXT_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0, 0);
}

/* The PMU extension was added in SBI 0.3. It can be probed for since SBI 0.2. */
bool riscv_pmu_sbi_has_pmu(void)
{
	return !sbi_spec_is_0_1() && sbi_probe_extension(SBI_EXT_PMU) > 0;
}

/* Gets the number of counters, which may be more than the driver supports. */
int riscv_pmu_sbi_num_ctrs(unsigned int *num)
{
	struct sbiret ret = riscv_pmu_sbi_pmu(SBI_EXT_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0);

	*num = clamp(ret.value, 0L, (long)INT_MAX);
	return call_errno(ret);
}

/* Gets the firmware's description of a counter, unchecked. Fails if there is no such counter. */
int riscv_pmu_sbi_ctr_info(unsigned int ctr, struct riscv_pmu_sbi_ctr_info *info)
{
	struct sbiret ret = riscv_pmu_sbi_pmu(SBI_EXT_PMU_COUNTER_GET_INFO, ctr, 0, 0, 0, 0);
	union sbi_pmu_ctr_info raw = { .value = ret.value };

	info->csr = raw.csr;
	info->width = raw.width + 1;	/* "one less than the number of bits" */
	info->is_fw = raw.type == SBI_PMU_CTR_TYPE_FW;
	return call_errno(ret);
}

/**
 * riscv_pmu_sbi_cfg_match() - configure one of several counters for an event
 * @ctrs:	the counters of which the firmware chooses one
 * @flags:	SBI_PMU_CFG_FLAG_*
 * @event_idx:	type and code of the event
 * @event_data:	data of the event
 *
 * If the mask fits into a word, its base is 0: for firmware counters, OpenSBI 1.6 confuses the
 * base with the counter's index.
 *
 * Return: the counter that the firmware chose; -ENOENT if none of @ctrs can hold the event now;
 * -EIO if the firmware chose another one; another errno.
 */
int riscv_pmu_sbi_cfg_match(u64 ctrs, unsigned long flags, u32 event_idx, u64 event_data)
{
	int err = -ENOENT;

	sbi_call_for_each_word(base, mask, ctrs) {
		struct sbiret ret = riscv_pmu_sbi_pmu(SBI_EXT_PMU_COUNTER_CFG_MATCH, base, mask,
						      flags, event_idx, event_data);

		if (!ret.error)
			return (unsigned long)ret.value < 64 && ctrs & BIT_ULL(ret.value) ?
				ret.value : -EIO;
		if (ret.error != SBI_ERR_NOT_SUPPORTED)
			err = call_errno(ret);
	}

	return err;
}

/*
 * Whether any counter can count an event, not which (EVENT_GET_INFO: SBI 3.0, 11.13); a negative
 * errno if the call fails. OpenSBI 1.6 to 1.9 reports every firmware event as not supported.
 */
int riscv_pmu_sbi_event_is_supported(u32 event_idx, u64 event_data)
{
	/* Must be 16-byte aligned, which kmalloc() guarantees for this size. */
	struct riscv_pmu_sbi_event_info *info __free(kfree) =
		riscv_pmu_should_fail() ? NULL : kzalloc(sizeof(*info), GFP_KERNEL);
	struct sbiret ret;
	phys_addr_t addr;

	if (!info)
		return -ENOMEM;

	info->event_idx = event_idx;
	info->event_data = event_data;
	addr = virt_to_phys(info);
	ret = riscv_pmu_sbi_pmu(SBI_CALL_PMU_EVENT_GET_INFO, addr, call_high(addr), 1, 0, 0);
	if (ret.error)
		return call_errno(ret);

	return READ_ONCE(info->output) & BIT(0);
}

/* Makes one call for each word of the mask that is not 0; ignores the error @harmless. */
static int call_by_mask(unsigned long fid, u64 ctrs, unsigned long flags, long harmless)
{
	int err = 0;

	sbi_call_for_each_word(base, mask, ctrs) {
		struct sbiret ret = riscv_pmu_sbi_pmu(fid, base, mask, flags, 0, 0);

		if (ret.error && ret.error != harmless)
			err = err ?: call_errno(ret);
	}

	return err;
}

/* Starts counters from their present values. It is no error if some of them are running. */
int riscv_pmu_sbi_start(u64 ctrs)
{
	return call_by_mask(SBI_EXT_PMU_COUNTER_START, ctrs, 0, SBI_ERR_ALREADY_STARTED);
}

/* Starts one stopped counter from a value. If it is running, the firmware fails and writes none. */
int riscv_pmu_sbi_start_at(unsigned int ctr, u64 value)
{
	unsigned int base = round_down(ctr, BITS_PER_LONG);

	/* The value begins in a3, while the event data of CFG_MATCH begins in a4. */
	return call_errno(riscv_pmu_sbi_pmu(SBI_EXT_PMU_COUNTER_START, base, BIT(ctr - base),
					    SBI_PMU_START_FLAG_SET_INIT_VALUE,
					    (unsigned long)value, call_high(value)));
}

/* Stops counters; @flags: SBI_PMU_STOP_FLAG_*. It is no error if some of them are stopped. */
int riscv_pmu_sbi_stop(u64 ctrs, unsigned long flags)
{
	return call_by_mask(SBI_EXT_PMU_COUNTER_STOP, ctrs, flags, SBI_ERR_ALREADY_STOPPED);
}

/* As riscv_pmu_sbi_start_at(), for counters of one word; the snapshot page has the values. */
int riscv_pmu_sbi_start_snapshot(unsigned long base, unsigned long mask)
{
	return call_errno(riscv_pmu_sbi_pmu(SBI_EXT_PMU_COUNTER_START, base, mask,
					    SBI_PMU_START_FLAG_INIT_SNAPSHOT, 0, 0));
}

/* Sets this hart's snapshot page. PHYS_ADDR_MAX: it has none any more. */
int riscv_pmu_sbi_snapshot_set_shmem(phys_addr_t page)
{
	return call_errno(riscv_pmu_sbi_pmu(SBI_EXT_PMU_SNAPSHOT_SET_SHMEM, page,
					    call_page_high(page), 0, 0, 0));
}

/* An ecall of the batch extension. KUnit replaces this function, too. */
struct sbiret riscv_pmu_sbi_batch(unsigned long fid, unsigned long a0, unsigned long a1,
				  unsigned long a2, unsigned long a3, unsigned long a4,
				  unsigned long a5)
{
	struct sbiret ret = {};

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_sbi_batch, fid, a0, a1, a2, a3, a4, a5);

	this_cpu_inc(riscv_pmu_sbi_counts[SBI_CALL_BATCH(fid)]);
	if (riscv_pmu_should_fail())
		ret.error = SBI_ERR_DENIED;
	else
		ret = sbi_ecall(SBI_EXT_PMU_BATCH, fid, a0, a1, a2, a3, a4, a5);
	if (unlikely(ret.error == SBI_ERR_DENIED))
		call_complain(SBI_CALL_BATCH(fid), ret.error);

	return ret;
}

/* Whether the SBI is KVM's: this is a guest. */
bool riscv_pmu_sbi_is_kvm(void)
{
	struct sbiret ret = sbi_ecall(SBI_EXT_BASE, SBI_EXT_BASE_GET_IMP_ID, 0, 0, 0, 0, 0, 0);

	return !ret.error && ret.value == SBI_CALL_IMP_ID_KVM;
}

/*
 * Whether the firmware has a supported version of the batch extension. KVM (Linux 6.12) is not
 * asked: it forwards calls of experimental extensions, and the probe for them, to the program that
 * runs the guest, and QEMU 10.0 then terminates the guest.
 */
bool riscv_pmu_sbi_has_batch(void)
{
	struct sbiret ret;

	KUNIT_STATIC_STUB_REDIRECT(riscv_pmu_sbi_has_batch);

	if (sbi_spec_is_0_1() || riscv_pmu_sbi_is_kvm() ||
	    sbi_probe_extension(SBI_EXT_PMU_BATCH) <= 0)
		return false;

	ret = riscv_pmu_sbi_batch(SBI_PMU_BATCH_GET_VERSION, 0, 0, 0, 0, 0, 0);
	/* Drafts, whose major version is 0, may be incompatible with each other; these are not. */
	return !ret.error && (ret.value == SBI_PMU_BATCH_VERSION_0_9 ||
			      ret.value == SBI_PMU_BATCH_VERSION_0_10);
}

/* Sets the page that this hart shares with the extension. PHYS_ADDR_MAX: none any more. */
int riscv_pmu_sbi_batch_set_shmem(phys_addr_t page)
{
	return call_errno(riscv_pmu_sbi_batch(SBI_PMU_BATCH_SET_SHMEM, page, call_page_high(page),
					      0, 0, 0, 0));
}

/*
 * Stops, programs (as their slots in the page describe) and starts counters. -EIO: the page has a
 * mask of those that failed; -EINVAL: the firmware did nothing, or could not access the page, and
 * the counters are stopped.
 */
int riscv_pmu_sbi_batch_apply(u64 stop, u64 program, u64 start)
{
	struct sbiret ret;

	if (IS_ENABLED(CONFIG_64BIT))
		ret = riscv_pmu_sbi_batch(SBI_PMU_BATCH_APPLY, stop, program, start, 0, 0, 0);
	else
		ret = riscv_pmu_sbi_batch(SBI_PMU_BATCH_APPLY, stop, stop >> 32, program,
					  program >> 32, start, start >> 32);
	if (likely(!ret.error))
		return 0;

	return ret.error == SBI_ERR_FAILURE ? -EIO : -EINVAL;
}

/* Gets the counters that can count an event, in the page; -ENOENT if none can. */
int riscv_pmu_sbi_batch_resolve(u32 event_idx, u64 event_data)
{
	struct sbiret ret = riscv_pmu_sbi_batch(SBI_PMU_BATCH_RESOLVE, event_idx, event_data,
						call_high(event_data), 0, 0, 0);

	return ret.error == SBI_ERR_NOT_SUPPORTED ? -ENOENT : call_errno(ret);
}

/*
 * Adds the events in some of the page's slots to the firmware's map. -EIO: the page has a mask of
 * those that the firmware refuses; -ENODEV: it takes no events.
 */
int riscv_pmu_sbi_batch_map_events(u64 slots)
{
	struct sbiret ret = riscv_pmu_sbi_batch(SBI_PMU_BATCH_MAP_EVENTS, slots, call_high(slots),
						0, 0, 0, 0);

	if (!ret.error)
		return 0;

	return ret.error == SBI_ERR_FAILURE ? -EIO : -ENODEV;
}
