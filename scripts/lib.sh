# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Shared by the other scripts: signals, paths, messages, locks.

set -euo pipefail
export LC_ALL=C.UTF-8

# Print the process $1 and all that it has started. They are stopped, so that they start nothing more.
stop_tree()
{
	local child children
	kill -STOP "$1" 2>/dev/null || return 0
	echo "$1"
	children=$(cat "/proc/$1/task/"*/children 2>/dev/null) || true
	for child in $children; do
		stop_tree "$child"
	done
}

# A zombie has no exe.
any_runs()
{
	local pid
	for pid in "$@"; do
		[ ! -e "/proc/$pid/exe" ] || return 0
	done
	return 1
}

# end_tree PID: end this process and all that it has started.
end_tree()
{
	local pids tries=50
	mapfile -t pids < <(stop_tree "$1")
	kill -TERM "${pids[@]}" 2>/dev/null || true
	kill -CONT "${pids[@]}" 2>/dev/null || true
	while any_runs "${pids[@]}" && [ $((tries -= 1)) -gt 0 ]; do
		sleep 0.1
	done
	kill -KILL "${pids[@]}" 2>/dev/null || true
}

# end_all SIGNAL: end the script and all that it has started, and then this process by SIGNAL.
end_all()
{
	# The signal may come before supervise has set the variable.
	local pid=${SCRIPT_PID:-${!:-}}
	trap '' HUP INT QUIT TERM
	end_tree "$pid"
	wait "$pid" 2>/dev/null || true
	trap - "$1"
	kill -s "$1" "$$"
}

# Wait until supervise's process has ended, which alone can write to stdin, and end what it could not: it may
# have been killed by SIGKILL.
end_orphans()
{
	trap '' HUP INT QUIT TERM
	read -r || end_tree "$SCRIPT_PID"
}

# Run this script again as a child, and wait for it: a shell handles no signal while a command runs in the foreground.
# On a signal, end the child and all that it has started, including other scripts.
supervise()
{
	trap 'end_all HUP' HUP
	trap 'end_all INT' INT
	trap 'end_all QUIT' QUIT
	trap 'end_all TERM' TERM
	RISCV_PMU_SUPERVISED=$$ "$BASH" "$0" "$@" <&0 &
	SCRIPT_PID=$!
	exec {ALIVE}> >(end_orphans >/dev/null 2>&1)
	wait "$SCRIPT_PID" || exit
	exit 0
}

[ -n "${RISCV_PMU_SUPERVISED:-}" ] || [ "${BASH_SOURCE[1]:-}" != "$0" ] || supervise "$@"

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$TOP/build
LOGS=$BUILD/log
CACHE=$(realpath -m "${RISCV_PMU_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/riscv-pmu}")
PROG=${0##*/}

. "$TOP/scripts/build/versions.env"

# All scripts of one make count the seconds from the same start.
: "${MAKE_START:=$EPOCHSECONDS}"
export MAKE_START

# A make that a script starts does not use the job server of the make above it.
unset MAKEFLAGS MFLAGS
JOBS=$(nproc)
ARCH=riscv
CROSS_COMPILE=riscv64-linux-gnu-

# True if another of our scripts has started this one. That script has built what this one needs.
is_started_by_script()
{
	[ "${RISCV_PMU_SUPERVISED:-}" != "$PPID" ]
}

die()
{
	printf '%s: %s\n' "$PROG" "$*" >&2
	exit 1
}

usage_error()
{
	printf '%s: %s\n' "$PROG" "$*" >&2
	exit 2
}

step()
{
	printf '[%4d s] %s\n' "$((EPOCHSECONDS - MAKE_START))" "$*" >&2
}

# Print a path relative to the top folder.
short_path()
{
	printf '%s' "${1#"$TOP"/}"
}

# Show the first errors, too, because they can be far above the end of the log.
show_failure()
{
	local lines
	lines=$(grep -a -n -m 8 -E '(error|Error): ' "$1") || true
	[ -z "$lines" ] || printf '%s\n...\n' "$lines" >&2
	tail -n 30 "$1" >&2
}

# low_disk DIR: if the disk of DIR is full, print that and what to do.
low_disk()
{
	local left
	left=$(df --output=avail -k "$1" | tail -n 1)
	[ "$left" -ge 65536 ] || printf '; the disk of %s is full (%d kB left): free some space, then run it again' \
		"$(short_path "$1")" "$left"
}

# require_tools TOOL...: end with an error if one of them is missing.
require_tools()
{
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || die "$tool is missing: run make setup"
	done
}

# run_logged LOG WHAT COMMAND...: one line on the terminal, the rest in LOG.
run_logged()
{
	local log=$1 what=$2 begun=$EPOCHSECONDS status
	mkdir -p "${log%/*}"
	step "$what (log: $(short_path "$log"))"
	# "if ! COMMAND" would disable "set -e" in a function.
	set +e
	(set -e && "${@:3}") >"$log" 2>&1 </dev/null
	status=$?
	set -e
	if [ "$status" != 0 ]; then
		show_failure "$log"
		die "$what: failed$(low_disk "$BUILD"); the whole log is $(short_path "$log")"
	fi
	# scripts/check/run reports the sum of these: the seconds of a test that were spent on builds.
	[ -z "${RISCV_PMU_BUILD_TIMES:-}" ] || echo $((EPOCHSECONDS - begun)) >>"$RISCV_PMU_BUILD_TIMES"
}

# make_tmp: create the folder TMP, which is removed when the script ends.
make_tmp()
{
	TMP=$(mktemp -d "${TMPDIR:-/tmp}/riscv-pmu-$PROG.XXXXXX")
	trap 'rm -rf "$TMP"' EXIT
}

# bring_up_to_date "SCRIPT [ARGUMENT]"...: run these scripts of scripts/build.
bring_up_to_date()
{
	local what
	for what in "$@"; do
		# shellcheck disable=SC2086
		"$TOP/scripts/build/"$what
	done
}

# Only one process at a time may build or download THING.
lock()
{
	mkdir -p "${1%/*}"
	exec {LOCK_FD}>"$1"
	if ! flock -n "$LOCK_FD"; then
		step "waiting for another $PROG"
		flock "$LOCK_FD"
	fi
}

# git in this checkout, also if that belongs to someone else, as with sudo.
own_git()
{
	git -c safe.directory="$(realpath "$TOP")" -C "$TOP" "$@"
}

sha256_of()
{
	sha256sum "$1" | cut -d' ' -f1
}

# Do guests run in RISCV_PMU_QEMU? Otherwise they run in build/qemu.
own_qemu_is_used()
{
	[ -n "${RISCV_PMU_QEMU:-}" ] && [ "$RISCV_PMU_QEMU" != patched ] &&
		"$TOP/scripts/build/probe-qemu" "$RISCV_PMU_QEMU" 2>/dev/null
}

# Write stdin to FILE, but keep FILE and its time if the content is the same.
write_if_changed()
{
	local file=$1 tmp
	mkdir -p "${file%/*}"
	tmp=$(mktemp "$file.XXXXXX")
	cat >"$tmp"
	if cmp -s "$tmp" "$file"; then
		rm -f "$tmp"
	else
		chmod 644 "$tmp"
		mv -f "$tmp" "$file"
	fi
}

# configure_kernel TREE OUT FRAGMENT...: the script defines kmake, which is make with this tree and this output.
configure_kernel()
{
	mkdir -p "$2" && kmake tinyconfig &&
		(cd "$1" && scripts/kconfig/merge_config.sh -m -O "$2" "$2/.config" "${@:3}") && kmake olddefconfig
}

# The libraries of scripts/build/fetch sysroot, and options of the cross compiler to build with them: its own C
# library is older than the guest's.
SYSROOT=$BUILD/dl/sysroot
LIBS=usr/lib/riscv64-linux-gnu

sysroot_options()
{
	echo "--sysroot=$SYSROOT -isystem $SYSROOT/usr/include/riscv64-linux-gnu -isystem $SYSROOT/usr/include" \
		"-B$SYSROOT/$LIBS -L$SYSROOT/$LIBS -Wl,-rpath-link=$SYSROOT/$LIBS"
}

# Use ccache if it is installed.
setup_ccache()
{
	RISCV_CC=${CROSS_COMPILE}gcc
	command -v ccache >/dev/null || return 0
	RISCV_CC="ccache ${CROSS_COMPILE}gcc"
	export CCACHE_DIR=${CCACHE_DIR:-$CACHE/ccache}
	# Relative paths, so that other checkouts of the project share the cache.
	export CCACHE_BASEDIR=$TOP CCACHE_NOHASHDIR=1
	# Depend mode does not preprocess files that miss the cache, which saves a quarter of the time.
	export CCACHE_DEPEND=1
	export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-3G}
}
