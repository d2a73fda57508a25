# SPDX-License-Identifier: GPL-2.0
#
# Starts the scripts of the rig. The driver itself is built by the kernel's make in
# a tree with the driver in it (make graft), by drivers/perf/riscv/Makefile.

export RIG_START := $(shell date +%s)
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help

help:
	@sed 's/^\t//' rig/help.txt

setup:
	@rig/build/setup

fetch: setup
	@rig/build/fetch

qemu: setup
	@rig/build/qemu

rootfs: setup
	@rig/build/fetch rootfs

kernel: setup
	@rig/build/kernel riscv-pmu

kernel-%: setup
	@rig/build/kernel $*

firmware: setup
	@rig/build/firmware patched

firmware-%: setup
	@rig/build/firmware $*

# Build these in parallel: downloads wait for the network, and configuring and linking use one core.
guest: setup
	@$(MAKE) -j4 qemu rootfs firmware kernel || { echo "make: stopped by the first error above" >&2; exit 1; }

# With a kernel that takes half as long to compile.
run: setup
	@$(MAKE) -j4 qemu rootfs firmware kernel-small || { echo "make: stopped by the first error above" >&2; exit 1; }
	@rig/guest/demo --kernel small

flamegraph: guest
	@rig/guest/flamegraph $(if $(LBR),--lbr)

autofdo: guest
	@rig/guest/autofdo

shell: guest
	@rig/build/overlay
	@rig/guest/boot --shell $(GUEST)

check: setup
	@rig/check/run $(if $(ONLY),"$(ONLY)")

check-all: setup
	@rig/check/run --all

bench: setup
	@bench/run
	@bench/guests

bench-profile: setup
	@bench/profile

style: setup
	@rig/check/style

deb: setup
	@rig/build/deb tools kernel

deb-next: setup
	@rig/build/deb tools kernel-next

dkms:
	@rig/kernel/dkms

# The folder as it was given: make would take a "$" in its name for a variable.
graft ungraft patches: override export KDIR := $(value KDIR)

graft:
	@rig/kernel/graft $(if $(FORCE),--force) "$$KDIR"

ungraft:
	@rig/kernel/graft --reverse $(if $(FORCE),--force) "$$KDIR"

patches:
	@rig/kernel/patches "$$KDIR"

clean:
	@rm -rf build/kernel build/firmware build/overlay build/perf build/perf-obj build/sbi build/selftests build/dkms \
		build/deb* build/mutants build/patches build/log build/check build/bench* build/flamegraph* build/autofdo build/cacheline-tracer.so build/probe build/qemu-obj build/.lock*

distclean:
	@rm -rf build

.PHONY: help setup fetch qemu rootfs kernel firmware guest run flamegraph autofdo shell check check-all bench style dkms \
	deb deb-next graft ungraft patches clean distclean
