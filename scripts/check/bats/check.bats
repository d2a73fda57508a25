#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2154
#
# Tests of scripts/check/run with the user's kernel, and of its results for other programs.

. "$BATS_TEST_DIRNAME/common.bash"

RUN=$TOP/scripts/check/run
export RISCV_PMU_CHECK_OUT=${BATS_TEST_TMPDIR:-}/check

# in_junit XPATH: print how many elements results.xml has.
in_junit()
{
	python3 -c 'import sys, xml.etree.ElementTree as tree
print(len(tree.parse(sys.argv[1]).getroot().findall(sys.argv[2])))' "$RISCV_PMU_CHECK_OUT/results.xml" "$1"
}

@test "check runs the guests on the user's kernel, and skips tests of features that it lacks" {
	cp "$BUILD/kernel/riscv-pmu/arch/riscv/boot/Image" "$BATS_TEST_TMPDIR/my Image"
	run -0 "$RUN" --kernel "$BATS_TEST_TMPDIR/my Image" '^(perf-json|kunit-core|pmu-p550|rv32|perf-mainline-patched|iommu-pci)$'
	says '^ok .* pmu-p550 ([1-9][0-9]* passed, 0 failed, ' "this test is for 32-bit kernels" \
		"this test is for mainline's driver" "CONFIG_RISCV_IOMMU_PMU" "CONFIG_RISCV_PMU_KUNIT_TEST"
	run ! grep -e 'perf-json' -e 'kernel .*: compiling' <<<"$output"
	[ "$(in_junit testsuite)" = 5 ]
	[ "$(in_junit 'testsuite/testcase/skipped')" -ge 4 ]
	[ "$(in_junit 'testsuite/testcase/failure')" = 0 ]
	# The totals of KTAP are those that were printed, and so are those of JUnit.
	run -0 "$TOP/scripts/check/judge-tap" "$RISCV_PMU_CHECK_OUT/results.ktap" 0
	[ "$(in_junit 'testsuite/testcase')" = $((${output// / + })) ]
}

@test "check names what is wrong with the user's kernel" {
	refuses 2 "KERNEL=/nowhere is missing: give an Image" "$RUN" --kernel /nowhere
	refuses 2 "KDIR=$TOP is not a tree with the driver: run make graft KDIR=" "$RUN" --kdir "$TOP"
	refuses 2 "no kernel given: use KERNEL=.* or KDIR=" "$RUN" --kernel ""
	refuses 2 "no kernel given" "$RUN" --kdir
	refuses 2 "exclude each other" "$RUN" --kernel "$TOP/README.md" --kdir "$TOP"
	refuses 2 "use --all, --kernel or --kdir" "$RUN" --nonsense
	refuses 2 "no test of scripts/check/rows matches 'perf-json'" "$RUN" --kernel "$TOP/README.md" perf-json
	# QEMU refuses a file that does not fit into the guest's memory.
	printf '%48sRISCV' '' >"$BATS_TEST_TMPDIR/large"
	truncate -s 2G "$BATS_TEST_TMPDIR/large"
	run -1 "$RUN" --kernel "$BATS_TEST_TMPDIR/large" '^rv32$'
	says "no command ran in a guest with .*/large: set the options of arch/riscv/configs"
	[ "$(in_junit 'testsuite/testcase[@name="kernel"]/failure')" = 1 ]
}

@test "results for other programs say which build has failed, so that the user's kernel is not booted" {
	local script
	copy_scripts
	for script in fetch firmware perf overlay; do
		echo 'exit 0' >"$COPY/scripts/build/$script"
	done
	echo 'exit 1' >"$COPY/scripts/build/qemu"
	# shellcheck disable=SC2016
	echo 'echo "${KDIR-unset} ${KERNEL-unset}"' >"$COPY/scripts/build/overlay"
	run -1 env KERNEL=x KDIR=/nowhere "$COPY/scripts/check/run" --kernel "$TOP/README.md" '^rv32$'
	says "not run, because these builds failed: qemu"
	[ "$(in_junit 'testsuite/testcase/failure')" = 2 ]
	[ "$(in_junit 'testsuite[@name="build-qemu"]')" = 1 ]
	run -0 "$TOP/scripts/check/judge-tap" "$RISCV_PMU_CHECK_OUT/results.ktap" 1
	[ "${lines[0]}" = "0 2 0" ]
	# The tools of the guest have the tables of the project's trees, whatever the user's is.
	grep -x "unset unset" "$RISCV_PMU_CHECK_OUT/build-overlay.out"
}

@test "make check passes a kernel of its command line, but none of the environment" {
	copy_scripts
	cp "$TOP/Makefile" "$COPY"
	echo 'exit 0' >"$COPY/scripts/build/setup"
	# shellcheck disable=SC2016
	printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >"$COPY/scripts/check/run"
	cd "$COPY"
	# The make that runs these tests shall not be seen: a make in a make prints its directory, and inherits variables.
	unset MAKELEVEL MAKEFLAGS KERNEL KDIR ONLY
	run -0 make check KERNEL="a b" ONLY='^x$'
	[ "$output" = '<--kernel><a b><^x$>' ]
	run -0 make check-all KDIR=../linux
	[ "$output" = '<--all><--kdir><../linux>' ]
	run -0 make check-all ONLY='^x$'
	[ "$output" = '<--all><^x$>' ]
	run -0 env KERNEL=kernel8 KDIR=x make check
	[ "$output" = '<>' ]
}

@test "results for other programs have each failure with its reason" {
	mkdir "$RISCV_PMU_CHECK_OUT"
	printf 'TAP version 13\n1..3\n# <why> & \001 more\nnot ok 1 a # b\nok 2 c # SKIP no\nok 3 d\re\n' \
		>"$RISCV_PMU_CHECK_OUT/row.out"
	"$TOP/scripts/check/judge-tap" "$RISCV_PMU_CHECK_OUT/row.out" 1 "$RISCV_PMU_CHECK_OUT/row.cases"
	printf 'row\t7\n' >"$RISCV_PMU_CHECK_OUT/results.tsv"
	"$TOP/scripts/check/report" "$RISCV_PMU_CHECK_OUT"
	[ "$(in_junit 'testsuite/testcase[@name="d?e"]')" = 1 ]
	[ "$(in_junit 'testsuite[@failures="1"][@skipped="1"][@tests="3"][@time="7"]')" = 1 ]
	grep 'message="# &lt;why&gt; &amp; ? more"' "$RISCV_PMU_CHECK_OUT/results.xml"
	run -0 "$TOP/scripts/check/judge-tap" "$RISCV_PMU_CHECK_OUT/results.ktap" 1
	[ "${lines[0]}" = "1 1 1" ]
	says "row: a" "why"
}
