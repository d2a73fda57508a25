# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Shared by the tests of the rig; "bats rig/check/rig" runs them all.
#
# bats ends a test at the first command that fails, but not at one with "!" before it nor
# at the left side of "&&": so it is "run !" here, and a line for each thing that must hold.

bats_require_minimum_version 1.5.0
# shellcheck source=rig/lib.sh
. "$BATS_TEST_DIRNAME/../../lib.sh"

KERNEL=${RIG_KERNEL:-riscv-pmu}
COPY=${BATS_TEST_TMPDIR:-}/copy
BIN=${BATS_TEST_TMPDIR:-}/bin
# The failures here are meant; their logs are not to be kept.
export GUEST_LOG=${BATS_TEST_TMPDIR:-}/console

guest()
{
	"$TOP/rig/guest/boot" --kernel "$KERNEL" "$@"
}

# says PATTERN...: each is in a line of what the last command printed.
says()
{
	local pattern
	for pattern in "$@"; do
		grep -q -e "$pattern" <<<"$output" || {
			echo "does not say '$pattern'"
			return 1
		}
	done
}

# refuses STATUS REMEDY COMMAND...: one line on stderr, besides those on progress and those of
# the log that is shown, is the error, and it has REMEDY.
refuses()
{
	local want=$1 remedy=$2 errors
	shift 2
	run "-$want" --separate-stderr "$@"
	errors=$(grep -v -e '^\[ *[0-9]* s\] ' <<<"$stderr")
	grep -q -e "$remedy" <<<"$errors" || {
		echo "does not say '$remedy'"
		return 1
	}
	[ "$(wc -l <<<"$errors")" = 1 ]
}

# A checkout with a cache of its own, so that build/ is not touched.
copy_rig()
{
	mkdir -p "$COPY" "$COPY.cache/dl"
	cp -a "$TOP/rig" "$COPY/"
}

# fake NAME: a program of this name in BIN, from stdin.
fake()
{
	mkdir -p "$BIN"
	{
		echo '#!/bin/sh'
		cat
	} >"$BIN/$1"
	chmod +x "$BIN/$1"
}

# without TOOL COMMAND...: as on a machine that has all but this.
without()
{
	local dir=$BATS_TEST_TMPDIR/without tool=$1
	shift
	mkdir -p "$dir"
	ln -sf /usr/sbin/* /usr/bin/* "$dir"
	rm "$dir/$tool"
	env PATH="$dir" "$@"
}

# on_small_disk SIZE DIR COMMAND...: with a disk of this size at DIR, which only COMMAND sees.
on_small_disk()
{
	# shellcheck disable=SC2016
	unshare -rm sh -ec 'mount -t tmpfs -o size="$1" small "$2" && shift 2 && exec "$@"' sh "$@"
}

need_small_disk()
{
	mkdir -p "$BATS_TEST_TMPDIR/disk"
	on_small_disk 64k "$BATS_TEST_TMPDIR/disk" true || skip "no mount namespace may be made here"
}
