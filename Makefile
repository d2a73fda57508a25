# SPDX-License-Identifier: GPL-2.0
#
# Starts the scripts. The driver itself is built by the kernel's make in
# a tree with the driver in it (make graft), by drivers/perf/riscv/Makefile.

export MAKE_START := $(shell date +%s)
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help

help:
	@sed 's/^\t//' scripts/help.txt

setup:
	@scripts/build/setup

fetch: setup
	@scripts/build/fetch

qemu: setup
	@scripts/build/qemu

rootfs: setup
	@scripts/build/fetch rootfs

kernel: setup
	@scripts/build/kernel riscv-pmu

kernel-%: setup
	@scripts/build/kernel $*

firmware: setup
	@scripts/build/firmware patched

firmware-%: setup
	@scripts/build/firmware $*

guest: setup
	@scripts/build/all qemu rootfs firmware kernel

# With a kernel that takes half as long to compile.
run: setup
	@scripts/build/all qemu rootfs firmware kernel-small
	@scripts/guest/demo --kernel small

# exec: make sends signals to the shell of a recipe only, so the script takes its place.
flamegraph: guest
	@exec scripts/guest/flamegraph $(if $(LBR),--lbr)

autofdo: guest
	@scripts/guest/autofdo

shell: guest
	@exec scripts/guest/boot --shell $(GUEST)

# $(call given,NAME,OPTION): --OPTION "$NAME" if NAME is on make's command line. The environment is not used: it may
# have a KERNEL of another program.
given = $(if $(filter command,$(origin $1)),--$2 "$$$1")

check: setup
	@exec scripts/check/run $(call given,KERNEL,kernel) $(call given,KDIR,kdir) $(if $(ONLY),"$(ONLY)")

check-all: setup
	@exec scripts/check/run --all $(call given,KERNEL,kernel) $(call given,KDIR,kdir) $(if $(ONLY),"$(ONLY)")

bench: setup
	@scripts/bench/run
	@scripts/bench/guests

bench-profile: setup
	@scripts/bench/profile

style: setup
	@scripts/check/style

# LSMOD as it was given: make would take a "$" in it for a variable.
deb deb-next: override export LSMOD := $(value LSMOD)

deb: setup
	@scripts/build/deb tools kernel

deb-next: setup
	@scripts/build/deb tools kernel-next

dkms:
	@scripts/kernel/dkms

# The folder as it was given: make would take a "$" in its name for a variable.
graft ungraft patches: override export KDIR := $(value KDIR)

graft:
	@exec scripts/kernel/graft $(if $(FORCE),--force) "$$KDIR"

ungraft:
	@exec scripts/kernel/graft --reverse $(if $(FORCE),--force) "$$KDIR"

patches:
	@exec scripts/kernel/patches "$$KDIR"

clean:
	@rm -rf build/kernel build/firmware build/overlay build/perf build/perf-obj build/sbi build/selftests build/dkms \
		build/deb* build/mutants build/patches build/log build/check build/bench* build/fleet build/flamegraph* build/autofdo build/cacheline-tracer.so build/probe build/qemu-obj build/.lock*

distclean:
	@rm -rf build

.PHONY: help setup fetch qemu rootfs kernel firmware guest run flamegraph autofdo shell check check-all bench style dkms \
	deb deb-next graft ungraft patches clean distclean
