#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# tools/prometheus/rvpmu-textfile; scripts/check/fleet tests the other files of that folder.

. "$BATS_TEST_DIRNAME/common.bash"

textfile()
{
	mkdir -p "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/run"
	RUNTIME_DIRECTORY=$BATS_TEST_TMPDIR/run PATH=$BIN:$PATH "$TOP/tools/prometheus/rvpmu-textfile" "$BATS_TEST_TMPDIR/out"
}

@test "rvpmu-textfile writes what rvpmu doctor finds, and nothing old if that fails" {
	fake rvpmu <<<'echo rvpmu_status 2; exit 2'
	run -0 textfile
	grep -x 'rvpmu_status 2' "$BATS_TEST_TMPDIR/out/rvpmu.prom"
	fake rvpmu <<<'exit 127'
	run -127 textfile
	[ -z "$(ls "$BATS_TEST_TMPDIR/out")" ]
}
