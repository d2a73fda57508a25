# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Shared by the tests of the scripts; "bats scripts/check/bats" runs all of them.
#
# bats ends a test at the first command that fails, except a command after "!" or on the left
# side of "&&". So the tests use "run !", and a line for each condition.

bats_require_minimum_version 1.5.0
. "$BATS_TEST_DIRNAME/../../lib.sh"

KERNEL=${CHECK_KERNEL:-riscv-pmu}
COPY=${BATS_TEST_TMPDIR:-}/copy
BIN=${BATS_TEST_TMPDIR:-}/bin
# The failures are intended; do not keep their logs.
export GUEST_LOG=${BATS_TEST_TMPDIR:-}/console

guest()
{
	"$TOP/scripts/guest/boot" --kernel "$KERNEL" "$@"
}

# says PATTERN...: check that each is in a line of the last command's output.
says()
{
	local pattern
	for pattern in "$@"; do
		grep -q -e "$pattern" <<<"$output" || {
			echo "the output does not have '$pattern'"
			return 1
		}
	done
}

# refuses STATUS REMEDY COMMAND...: check the exit status, and that stderr has one line with the
# error and REMEDY, besides progress messages.
refuses()
{
	local output
	run "-$1" --separate-stderr "${@:3}"
	output=$(grep -v -e '^\[ *[0-9]* s\] ' <<<"$stderr")
	says "$2"
	[ "$(wc -l <<<"$output")" = 1 ]
}

# Make a checkout with an empty cache, so that tests do not change build/.
copy_scripts()
{
	mkdir -p "$COPY" "$COPY.cache/dl"
	cp -a "$TOP/scripts" "$COPY/"
}

# fake NAME: create a program of this name in BIN, from stdin.
fake()
{
	mkdir -p "$BIN"
	{
		echo '#!/bin/sh'
		cat
	} >"$BIN/$1"
	chmod +x "$BIN/$1"
}

# without TOOL COMMAND...: run COMMAND as if TOOL were not installed.
without()
{
	local dir=$BATS_TEST_TMPDIR/without
	mkdir -p "$dir"
	ln -sf /usr/sbin/* /usr/bin/* "$dir"
	rm "$dir/$1"
	env PATH="$dir" "${@:2}"
}

# on_small_disk SIZE DIR COMMAND...: run COMMAND with a disk of this size mounted at DIR.
on_small_disk()
{
	# shellcheck disable=SC2016
	unshare -rm sh -ec 'mount -t tmpfs -o size="$1" small "$2" && shift 2 && exec "$@"' sh "$@"
}

need_small_disk()
{
	mkdir -p "$BATS_TEST_TMPDIR/disk"
	on_small_disk 64k "$BATS_TEST_TMPDIR/disk" true || skip "no permission to create a mount namespace"
}
