# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Shared by the checks in the guest: functions that print TAP, and functions that count an event. $TAP_OUT
# gets perf's output.

TAP_OUT=/tmp/check.out

# shellcheck source=scripts/tap.sh
. /usr/lib/tap.sh

# count EVENT COMMAND...: print perf stat's count, or its text instead of a count.
count()
{
	event=$1
	shift
	perf stat -x, -o "$TAP_OUT" -e "$event" "$@" >/dev/null 2>&1
	awk -F, 'NF > 3 && !/^#/ { print $1; exit }' "$TAP_OUT"
}

is_number()
{
	awk -v n="$1" 'BEGIN { exit !(n ~ /^[0-9.]+$/ && n > 0) }'
}

# counts EVENT COMMAND...
counts()
{
	is_number "$(count "$@")"
}
