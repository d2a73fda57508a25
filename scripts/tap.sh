# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Shared by the checks that are shell scripts: functions that print TAP. Busybox's sh reads
# this file in the guest, too. $TAP_OUT names a file with the output of the case, which is
# printed if the case fails.

TAP_CASES=0
TAP_FAILED=0

# tap_result STATUS NAME
tap_result()
{
	TAP_CASES=$((TAP_CASES + 1))
	if [ "$1" = 0 ]; then
		echo "ok $TAP_CASES - $2"
		return
	fi
	TAP_FAILED=$((TAP_FAILED + 1))
	echo "not ok $TAP_CASES - $2"
	if [ -s "${TAP_OUT:-}" ]; then
		awk 'NR <= 40 { print "# " $0 }' "$TAP_OUT"
	fi
}

# tap_silent NAME COMPLAINTS: a case that passes if there are no COMPLAINTS.
tap_silent()
{
	TAP_STATUS=0
	[ -z "$2" ] || TAP_STATUS=1
	echo "$2" >"$TAP_OUT"
	tap_result "$TAP_STATUS" "$1"
}

# tap_skip NAME WHY
tap_skip()
{
	tap_result 0 "$1 # SKIP $2"
}

# tap_case NAME COMMAND...: a case that passes if COMMAND succeeds. $TAP_OUT gets its output.
tap_case()
{
	TAP_NAME=$1 TAP_STATUS=0 TAP_WHY=
	shift
	: >"$TAP_OUT"
	"$@" >>"$TAP_OUT" 2>&1 </dev/null || TAP_STATUS=$?
	if [ -n "$TAP_WHY" ]; then
		tap_skip "$TAP_NAME" "$TAP_WHY"
	else
		tap_result "$TAP_STATUS" "$TAP_NAME"
	fi
}

# skip WHY: the COMMAND of tap_case cannot run here. Used as "CONDITION || skip WHY || return".
skip()
{
	TAP_WHY=$1
	return 1
}

# Print the plan; as the last command, it makes the script exit with 1 if a case failed.
tap_plan()
{
	echo "1..$TAP_CASES"
	[ "$TAP_FAILED" = 0 ]
}
