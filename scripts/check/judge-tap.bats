#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
#
# scripts/check/judge-tap must find all failures in a test's output.

# judged STATUS TEXT COUNTS [FAILURE]: its result for a command that printed TEXT and exited with STATUS.
judged()
{
	printf '%b' "$2" >"$BATS_TEST_TMPDIR/out"
	run "$BATS_TEST_DIRNAME/judge-tap" "$BATS_TEST_TMPDIR/out" "$1"
	echo "$output"
	[ "${lines[0]}" = "$3" ] && [[ "${lines[*]:1}" == *"${4:-}"* ]]
}

KTAP='KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n'
KSELFTEST='TAP version 13\n1..1\n# timeout set to 9\n# selftests: d: p\n# TAP version 13\n'

@test "passed, failed and skipped are counted" {
	judged 1 'TAP version 13\n1..3\nok 1 a\nnot ok 2 b\nok 3 c # SKIP no\n' "1 1 1" b
	judged 0 '1..0 # SKIP no\n' "0 0 1"
	judged 0 'not ok 1 a # TODO b\nnot ok 2 c # XFAIL d\n1..2\n' "2 0 0"
}

@test "the reason of a failure is printed below it" {
	judged 1 '1..2\n# why\nnot ok 1 a\n# other\nok 2 b\n' "1 1 0" "a   # why"
	judged 1 '1..2\nnot ok 1 a\n# why\nok 2 b\n' "1 1 0" "a   # why"
}

@test "the number of results differs from the plan" {
	judged 0 '1..3\nok 1 a\n' "1 1 0" "planned 3 tests but ran 1"
	judged 0 '1..3\n' "0 1 0" "planned 3 tests but ran 0"
	judged 0 '1..1\nok 1 a\nok 2 b\n' "2 1 0" "planned 1 tests but ran 2"
	judged 0 '1..2\nok 1 a\nok 3 b\n' "2 1 0" "out of sequence"
}

@test "no plan, no result" {
	judged 0 'ok 1 a\n' "1 1 0" "printed no plan"
	judged 0 '1..0\n' "0 1 0" "printed no result"
	judged 0 'hello\n' "0 1 0" "printed no result"
	judged 0 '' "0 1 0" "printed no result"
}

@test "an exit status that no failed case explains" {
	judged 3 '1..1\nok 1 a\n' "1 1 0" "ended with status 3"
	judged 0 '# section: a\n1..1\nok 1 x\n# exit: 3\n' "1 1 0" "a: ended with status 3"
	judged 4 '1..1\nok 1 a\n' "1 1 0" "ended with status 4"
}

@test "a guest that timed out" {
	judged 125 '' "0 1 0"
	judged 124 '# section: a\n1..1\nok 1 x\n# exit: 0\n# section: b\n1..1\n' "1 1 0" "b: Bad plan"
	judged 0 '# section: a\n1..1\nok 1 x\n' "1 1 0" "a: did not end"
	judged 124 "$KSELFTEST"'# 1..2\n# ok 1 a\n' "1 2 0" "p: Bad plan"
}

@test "a section that skips" {
	judged 0 '# section: a\n1..1\nok 1 x\n# exit: 0\n# section: b\nno such device\n# exit: 4\n' "1 0 1"
}

@test "only leaves of nested results count" {
	judged 0 "$KTAP"'    1..2\n    ok 1 x\n    ok 2 y\nok 1 s\n' "2 0 0"
	judged 0 "$KTAP"'    1..2\n    ok 1 x\nok 1 s\n' "1 1 0" "s: Bad plan"
	judged 0 "$KTAP"'    1..1\n    ok 1 x\nnot ok 1 s\n' "1 1 0" "s: failed, though none of its cases did"
	judged 0 "$KTAP"'    1..1\n    # why\n    not ok 1 x\nnot ok 1 s\n' "0 1 0" "s: x   # why"
	judged 0 "$KTAP"'    1..1\n        KTAP version 1\n        # Subtest: w\n        ok 1 x\n    ok 1 w\nok 1 s\n' "1 0 0"
}

@test "the cases of kselftest programs count" {
	judged 0 "$KSELFTEST"'# 1..2\n# ok 1 a\n# # ok 3 z\n# ok 2 b # SKIP no\nok 1 selftests: d: p\n' "1 0 1"
	judged 0 "$KSELFTEST"'# 1..1\n# # why\n# not ok 1 a\nnot ok 1 selftests: d: p # exit=1\n' "0 1 0" "p: a   # why"
	judged 0 "$KSELFTEST"'# 1..1\n# ok 1 a\nnot ok 1 selftests: d: p # exit=9\n' "1 1 0" "though none of its cases did"
	judged 0 "$KSELFTEST"'# hello\nok 1 selftests: d: p\n' "0 1 0" "p: printed no plan"
	judged 0 "$KSELFTEST"'# hello\nok 1 selftests: d: p # SKIP\n' "0 0 1"
	judged 0 "$KSELFTEST"'# 1..3\n# ok 1 a\nok 1 selftests: d: p\n' "1 1 0" "p: Bad plan"
}
