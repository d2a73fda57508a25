# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153
#
# Shared by mutation-test and firmware-mutation-test. The script sets:
#
#   LIST      the list of faults
#   OUT       the folder of the results: OUT/N.verdict has the number of a mutant, "killed" or
#             "survived", the test that failed, and how, with tabs between them
#   TESTS     the tests of every mutant; ROWS=yes adds those that the list names for it
#   TIMEOUT   seconds that a test may take without a fault; with one, it may take three times as
#             many as it took, and SPARE seconds, because a fault can make it hang
#   EVIDENCE  a pattern, and the suffix of the file OUT/N.TEST.SUFFIX that has it if the test has run
#
# and defines build, and "run_test N TEST SECONDS", which prints TAP.

GROUP=

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

# side_by_side FUNCTION FILE: call it with each line of FILE, one guest on each core.
side_by_side()
{
	in_group xargs -r -P "$JOBS" -L 1 -a "$2" "$0" --call "$1" || true
}

# choose N...: write OUT/list, to OUT/chosen the numbers of those or all mutants with their tests,
# and to OUT/tests the names of these tests.
choose()
{
	local number
	rm -rf "$OUT"
	mkdir -p "$OUT"
	"$TOP/scripts/check/mutate" --list "$LIST" >"$OUT/list"
	for number in "$@"; do
		cut -f 1 "$OUT/list" | grep -qxF -e "$number" ||
			usage_error "no mutant $number; scripts/check/mutate --list $(short_path "$LIST") prints them"
	done
	awk -F '\t' -v numbers=" $* " -v tests="${TESTS[*]}" -v rows="$ROWS" '
		numbers ~ /^ *$/ || index(numbers, " " $1 " ") { print $1, tests, rows ? $4 : "" }' "$OUT/list" |
		sed 's/ *$//' >"$OUT/chosen"
	cut -d ' ' -f 2- "$OUT/chosen" | tr -s ' ' '\n' | sort -u >"$OUT/tests"
}

# try_test N TEST: succeeds if the test has failed, and writes the failures to OUT/N.TEST.tap.
try_test()
{
	local file=$OUT/$1.$2 limit status=0
	limit=$(cat "$OUT/$2.limit" 2>/dev/null) || limit=$TIMEOUT
	run_test "$1" "$2" "$limit" >"$file.out" 2>"$file.err" </dev/null || status=$?
	# Not the fault's doing.
	grep -q -a -e "${EVIDENCE[0]}" "$file.${EVIDENCE[1]}" || die "mutant $1, $2: the guest did not start; see $(short_path "$file.err")"
	"$TOP/scripts/check/judge-tap" "$file.out" "$status" >"$file.tap"
	[ "$status" != 124 ] || echo "time limit of $limit s" >>"$file.tap"
	head -n 1 "$file.tap" | grep -Eq '^[0-9]+ [0-9]+ [0-9]+$' ||
		die "mutant $1, $2: no result; see $(short_path "$file.tap")"
	! head -n 1 "$file.tap" | grep -q '^[0-9]* 0 '
}

# try_mutant N TEST...: one line of the report.
try_mutant()
{
	local test verdict=(survived - -)
	for test in "${@:2}"; do
		if try_test "$1" "$test"; then
			# The firmware of a mutant has the name patched-N.
			verdict=(killed "$test" "$(sed -n '2{s/^patched-[^:]*: //;p}' "$OUT/$1.$test.tap")")
			break
		fi
	done
	(IFS=$'\t' && echo "$1"$'\t'"${verdict[*]}") >"$OUT/$1.verdict"
	step "mutant $1 ${verdict[*]:0:2}"
}

# check_test TEST: it has to pass without a fault. Notes how long it may take with one.
check_test()
{
	local begun=$EPOCHSECONDS
	try_test 0 "$1" || echo $((3 * (EPOCHSECONDS - begun) + SPARE)) >"$OUT/$1.limit"
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

# test_mutants N...: test those or all mutants. "test_mutants --call" calls a function in a process
# that this has started; whatever ends this script also ends these.
test_mutants()
{
	local broken
	if [ "${1:-}" = --call ]; then
		"${@:2}"
		return
	fi
	lock "$BUILD/.lock-${OUT##*/}"
	trap '[ -z "$GROUP" ] || kill -- "-$GROUP" 2>/dev/null || true' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	choose "$@"
	in_group "$0" --call build
	side_by_side check_test "$OUT/tests"
	broken=$(while read -r test; do [ -e "$OUT/$test.limit" ] || echo "$test"; done <"$OUT/tests" | paste -s -d ' ')
	[ -z "$broken" ] || die "these tests fail without a fault: $broken; see $(short_path "$OUT")"
	side_by_side try_mutant "$OUT/chosen"
	report
}
