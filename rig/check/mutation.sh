# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Shared by mutation-test and firmware-mutation-test: the list of faults, processes side by side,
# the report. LIST is the list, and OUT a folder of the results: OUT/N.verdict has the number of a
# mutant, "killed" or "survived", the test that failed, and how, with tabs between them.

GROUP=

# end_with_us: whatever ends this script also ends what in_group has started.
end_with_us()
{
	trap '[ -z "$GROUP" ] || kill -- "-$GROUP" 2>/dev/null || true' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# in_group COMMAND...: run it in a process group of its own.
in_group()
{
	local status=0
	setsid "$@" &
	GROUP=$!
	wait "$GROUP" || status=$?
	GROUP=
	return "$status"
}

# side_by_side OPTION FILE: this script with OPTION and a line of FILE, one guest on each core.
side_by_side()
{
	in_group xargs -r -P "$JOBS" -L 1 -a "$2" "$0" "$1" || true
}

# choose ROWS N...: write OUT/list, and to OUT/chosen the numbers of those or all mutants, each with
# its rows if ROWS is not empty.
choose()
{
	local rows=$1 number
	shift
	rm -rf "$OUT"
	mkdir -p "$OUT"
	"$TOP/rig/check/mutate" --list "$LIST" >"$OUT/list"
	for number in "$@"; do
		cut -f 1 "$OUT/list" | grep -qxF -e "$number" ||
			usage_error "no mutant $number; rig/check/mutate --list $(short_path "$LIST") prints them"
	done
	awk -F '\t' -v numbers=" $* " -v rows="$rows" '
		numbers ~ /^ *$/ || index(numbers, " " $1 " ") { print $1, rows ? $4 : "" }' "$OUT/list" |
		sed 's/ *$//' >"$OUT/chosen"
}

# report: print the verdicts. Fails if more than one in twenty survived that the list does not say to.
report()
{
	local verdicts=$OUT/verdicts killed survived expected
	echo
	LC_ALL=C join -t $'\t' <(LC_ALL=C sort -t $'\t' -k 1,1 "$OUT/list") \
		<(cat "$OUT"/*.verdict | LC_ALL=C sort -t $'\t' -k 1,1) | sort -n >"$verdicts"
	awk -F '\t' '{ printf "%3d  %-8s  %-22s  %s: %s\n", $1, $7, $8, $2, $3
		if ($7 == "survived") printf "     %s%s\n", $5, $6 ? "; it may survive: " $6 : "" }' "$verdicts"
	killed=$(awk -F '\t' '$7 == "killed"' "$verdicts" | wc -l)
	expected=$(awk -F '\t' '$7 == "survived" && $6' "$verdicts" | wc -l)
	survived=$(awk -F '\t' '$7 == "survived" && !$6' "$verdicts" | wc -l)
	[ "$expected" = 0 ] || echo "$expected mutants survived that $(short_path "$LIST") says may"
	echo "$killed mutants killed, $survived survived"
	[ "$(wc -l <"$verdicts")" = "$(wc -l <"$OUT/chosen")" ] ||
		die "some mutants have no verdict; see $(short_path "$OUT")"
	[ $((survived * 20)) -le $((killed + survived)) ]
}
