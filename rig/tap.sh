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

# tap_skip NAME WHY
tap_skip()
{
	TAP_CASES=$((TAP_CASES + 1))
	echo "ok $TAP_CASES - $1 # SKIP $2"
}

# Print the plan; as the last command, it makes the script exit with 1 if a case failed.
tap_plan()
{
	echo "1..$TAP_CASES"
	[ "$TAP_FAILED" = 0 ]
}
