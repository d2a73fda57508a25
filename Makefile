# SPDX-License-Identifier: GPL-2.0
#
# The project's front door. The driver itself is built by the kernel's make,
# after grafting; drivers/perf/riscv/Makefile is part of that one.

export RIG_START := $(shell date +%s)
MAKEFLAGS += --no-print-directory
S := scripts

.DEFAULT_GOAL := help

help:
	@sed 's/^\t//' $(S)/help.txt

setup:
	@$(S)/setup

fetch: setup
	@$(S)/fetch

qemu: setup
	@$(S)/build-qemu

rootfs: setup
	@$(S)/fetch rootfs

kernel: setup
	@$(S)/build-kernel riscv-pmu

kernel-%: setup
	@$(S)/build-kernel $*

firmware: setup
	@$(S)/build-firmware patched

firmware-%: setup
	@$(S)/build-firmware $*

guest: qemu rootfs firmware kernel

run: guest
	@$(S)/run

flamegraph: guest
	@$(S)/flamegraph

shell: guest
	@$(S)/build-overlay
	@$(S)/guest --shell $(GUEST)

check: setup
	@$(S)/check $(if $(ONLY),"$(ONLY)")

check-all: setup
	@$(S)/check --all

bench: setup
	@$(S)/bench

style: setup
	@$(S)/style

dkms:
	@$(S)/dkms

graft:
	@$(S)/graft $(if $(FORCE),--force) "$(KDIR)"

ungraft:
	@$(S)/graft --reverse $(if $(FORCE),--force) "$(KDIR)"

patches:
	@$(S)/patches "$(KDIR)"

clean:
	@rm -rf build/kernel build/firmware build/overlay build/patches build/log build/check build/bench* build/flamegraph* build/line-tracer.so build/probe build/qemu-obj build/.lock*

distclean:
	@rm -rf build

.PHONY: help setup fetch qemu rootfs kernel firmware guest run flamegraph shell check check-all bench style dkms \
	graft ungraft patches clean distclean
