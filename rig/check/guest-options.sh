# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# guest_options OPTIONS: print the options of rig/guest/boot for the column OPTIONS of rig/check/rows.

guest_options()
{
	case $1 in
	-) ;;
	@narrow) echo "--icount --qemu -icount --qemu sleep=on --append riscv_pmu.width=24" ;;
	@unpolled) echo "--icount --append riscv_pmu.polled_sampling=0" ;;
	@snapshot) echo "--icount --append riscv_pmu.sbi=snapshot" ;;
	@legacy) echo "--append riscv_pmu.backend=legacy" ;;
	@fuzz) echo "--append RISCV_PMU_FUZZ_SECONDS=40 --append kmemleak=on" ;;
	@hotplug) echo "--append RISCV_PMU_HOTPLUG_ROUNDS=50" ;;
	@idle) echo "--icount --idle" ;;
	@raw) echo "--icount --raw-events 0xf8" ;;
	@raw-two) echo "--raw-events 0x30" ;;
	@x60) echo "--icount --core x60" ;;
	@mixed) echo "--mixed ssccfg" ;;
	@late) echo "--mixed smcdeleg --append maxcpus=1" ;;
	# With sleep=off, QEMU's virtual clock jumps to the next timer while all harts are idle. If a
	# counter is close to its overflow, that timer is a few nanoseconds away, so the clock advances
	# slowly. Some programs of these tests sleep in that state, so they use sleep=on.
	@ebb) echo "--icount --qemu -icount --qemu sleep=on" ;;
	@iommu-*) echo "--icount --iommu ${1#@iommu-}" ;;
	@kunit) echo "--append kunit.enable=1 --append kunit.filter_glob=riscv_pmu*" ;;
	@*) die "rig/check/guest-options.sh has no $1" ;;
	*) echo "$1" ;;
	esac
}
