# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# guest_options OPTIONS: set GUEST_OPTIONS to the options of scripts/guest/boot for the column OPTIONS of
# scripts/check/rows.

guest_options()
{
	case $1 in
	-) GUEST_OPTIONS=() ;;
	@narrow) GUEST_OPTIONS=(--icount --qemu -icount --qemu sleep=on --append riscv_pmu.width=24) ;;
	@unpolled) GUEST_OPTIONS=(--icount --append riscv_pmu.polled_sampling=0) ;;
	@snapshot) GUEST_OPTIONS=(--icount --append riscv_pmu.sbi=snapshot) ;;
	# Harts without Ssccfg have no PMU then.
	@none) GUEST_OPTIONS=(--append riscv_pmu.backend=ssccfg) ;;
	@legacy) GUEST_OPTIONS=(--append riscv_pmu.backend=legacy) ;;
	@fuzz) GUEST_OPTIONS=(--append RISCV_PMU_FUZZ_SECONDS=40 --append kmemleak=on) ;;
	@hotplug) GUEST_OPTIONS=(--append RISCV_PMU_HOTPLUG_ROUNDS=50) ;;
	# KVM can give overflow interrupts to its guests only with the AIA.
	@aia) GUEST_OPTIONS=(--qemu -machine --qemu aia=aplic-imsic) ;;
	# QEMU counts each event on one counter, so unused counters of the guest must not keep it.
	@nested) GUEST_OPTIONS=(--nested --icount --nested-append riscv_pmu.stop_unused=1 --timeout 1500) ;;
	# Two tests run for RISCV_PMU_FUZZ_SECONDS each. The host has the row's kernel.
	@nested-fuzz) GUEST_OPTIONS=(--nested-kernel small-next --nested-append "RISCV_PMU_FUZZ_SECONDS=150 KSELFTEST_TIMEOUT=1500") ;;
	@nested-perf) GUEST_OPTIONS=(--nested-run "check-kvm perf" --icount --timeout 600) ;;
	# As for @ebb.
	@idle) GUEST_OPTIONS=(--icount --idle --qemu -icount --qemu sleep=on) ;;
	@one-counter) GUEST_OPTIONS=(--icount --pmu "$TOP/scripts/guest/one-counter.dtsi") ;;
	@raw) GUEST_OPTIONS=(--icount --raw-events 0xf8) ;;
	@raw-two) GUEST_OPTIONS=(--raw-events 0x30) ;;
	@odd-p550-legacy) GUEST_OPTIONS=(--cores "-,p550" --append riscv_pmu.backend=legacy) ;;
	@odd-*) GUEST_OPTIONS=(--cores "-,${1#@odd-}") ;;
	@late-*-odd-*)
		GUEST_OPTIONS=(--cores "-,${1#@late-*-odd-}")
		GUEST_OPTIONS+=(--append "maxcpus=$(cut -d - -f 2 <<<"$1")")
		;;
	@cores-*) GUEST_OPTIONS=(--cores "${1#@cores-}") ;;
	@core-*) GUEST_OPTIONS=(--icount --core "${1#@core-}") ;;
	@unfiltered) GUEST_OPTIONS=(--icount --core u74 --append riscv_pmu.unfiltered=1) ;;
	@mixed) GUEST_OPTIONS=(--mixed ssccfg) ;;
	@late) GUEST_OPTIONS=(--mixed smcdeleg --append maxcpus=1) ;;
	# With sleep=off, QEMU's virtual clock jumps to the next timer while all harts are idle. If a
	# counter is close to its overflow, that timer is a few nanoseconds away, so the clock advances
	# slowly. Some programs of these tests sleep in that state, so they use sleep=on.
	@ebb) GUEST_OPTIONS=(--icount --qemu -icount --qemu sleep=on) ;;
	@long-timeout) GUEST_OPTIONS=(--append KSELFTEST_TIMEOUT=900) ;;
	@nmi-smp) GUEST_OPTIONS=(--append "riscv_pmu.nmi=1 nmi_watchdog=0") ;;
	# Two tests run for RISCV_PMU_FUZZ_SECONDS each.
	@nmi-fuzz) GUEST_OPTIONS=(--append "riscv_pmu.nmi=1 nmi_watchdog=0 RISCV_PMU_FUZZ_SECONDS=300 RISCV_PMU_HOTPLUG_ROUNDS=100 KSELFTEST_TIMEOUT=900") ;;
	# Two tests run for RISCV_PMU_NMI_SECONDS each.
	@nmi-text) GUEST_OPTIONS=(--append "riscv_pmu.nmi=1 nmi_watchdog=0 RISCV_PMU_NMI_SECONDS=60 KSELFTEST_TIMEOUT=900") ;;
	@nmi-*) GUEST_OPTIONS=(--icount --qemu -icount --qemu sleep=on --append "riscv_pmu.nmi=${1#@nmi-} KSELFTEST_TIMEOUT=900") ;;
	@branches-*) GUEST_OPTIONS=(--icount --qemu -icount --qemu sleep=on --append "riscv_pmu.branches=${1#@branches-}") ;;
	@iommu-*) GUEST_OPTIONS=(--icount --iommu "${1#@iommu-}") ;;
	@rv32-legacy) GUEST_OPTIONS=(--icount --append riscv_pmu.backend=legacy) ;;
	@rv32-plain) GUEST_OPTIONS=(--icount --append riscv_pmu.sbi=plain) ;;
	# The kernel core checks the driver's state after each change, which takes longer than a short period.
	@unchecked) GUEST_OPTIONS=(--icount --append riscv_pmu.check=0) ;;
	@kunit) GUEST_OPTIONS=(--append kunit.enable=1 --append "kunit.filter_glob=riscv_pmu*") ;;
	@*) die "scripts/check/guest-options.sh has no $1" ;;
	*) read -ra GUEST_OPTIONS <<<"$1" ;;
	esac
}
