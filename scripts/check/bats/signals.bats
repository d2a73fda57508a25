#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2016,SC2154
#
# Whatever ends a command ends what it has started, and releases its locks.

. "$BATS_TEST_DIRNAME/common.bash"

# A checkout that builds nothing, except a kernel that takes an hour.
setup()
{
	local script
	copy_scripts
	cp "$TOP/Makefile" "$COPY"
	for script in setup fetch qemu firmware perf overlay; do
		echo 'exit 0' >"$COPY/scripts/build/$script"
	done
	mkdir "$COPY/slow"
	# The second sleep is in a process group of its own.
	printf 'all: one two\none:\n\tsleep 3600 || true\ntwo:\n\ttimeout 3600 sleep 3600\n' >"$COPY/slow/Makefile"
	cat >"$COPY/scripts/build/kernel" <<-'EOF'
		#!/usr/bin/env bash
		. "$(dirname "$0")/../lib.sh"
		lock "$BUILD/.lock-kernel"
		compile() { make -j2 -C "$TOP/slow"; }
		run_logged "$LOGS/kernel.log" compiling compile
	EOF
}

teardown()
{
	local pid
	for pid in $(running); do
		kill -KILL "$pid" || true
	done
}

# Processes that have this test's folder, or a subfolder, as the current one.
running()
{
	find /proc/[0-9]* -maxdepth 1 -name cwd -lname "$COPY*" 2>/dev/null | cut -d / -f 3
}

sleeps()
{
	running | while read -r pid; do
		grep -s -x sleep "/proc/$pid/comm" || true
	done | wc -l
}

# ends_all SIGNAL COMMAND...: start COMMAND, send SIGNAL to this process only, and expect that nothing is left.
ends_all()
{
	local pid tries=0
	# A background process of a shell ignores SIGINT.
	(cd "$COPY" && exec env -u RISCV_PMU_SUPERVISED --default-signal "${@:2}") >"$COPY/log" 2>&1 </dev/null 3>&- &
	pid=$!
	until [ "$(sleeps)" = 2 ]; do
		[ $((tries += 1)) -lt 100 ] || { cat "$COPY/log" && return 1; }
		sleep 0.1
	done
	run ! flock -n "$COPY/build/.lock-kernel" true
	kill -s "$1" "$pid"
	wait "$pid" 2>/dev/null && return 1
	# make ends before what it has signalled.
	for ((tries = 0; tries < 50; tries++)); do
		[ -n "$(running)" ] || break
		sleep 0.1
	done
	[ -z "$(running)" ]
	flock -n "$COPY/build/.lock-kernel" true
}

@test "SIGTERM ends make check, make run and what they have started" {
	ends_all TERM make check
	# make starts a shell for this one.
	ends_all TERM make check ONLY="^(style|ci)$"
	ends_all TERM make run
	ends_all TERM make -j2 kernel
}

@test "SIGTERM, SIGINT, SIGHUP, SIGQUIT and SIGKILL end a script and what it has started" {
	local signal
	for signal in TERM INT HUP QUIT KILL; do
		ends_all "$signal" scripts/check/run
		ends_all "$signal" scripts/build/kernel riscv-pmu
		ends_all "$signal" scripts/build/all kernel-small
	done
}

@test "a script that is not killed keeps its output and its exit status" {
	printf '#!/bin/bash\n. "${0%%/*}/lib.sh"\ncat\necho "$2" >&2\nexit "$1"\n' >"$COPY/scripts/echo"
	chmod +x "$COPY/scripts/echo"
	run -7 --separate-stderr env -u RISCV_PMU_SUPERVISED "$COPY/scripts/echo" 7 "a  b" <<<input
	[ "$output" = input ]
	[ "$stderr" = "a  b" ]
}

# write_script LINE...: a script of these lines, which is started with an environment of its own.
write_script()
{
	printf '%s\n' "$@" >"$COPY/scripts/job"
	SCRIPT=(env -i -C "$COPY/scripts" --default-signal PATH="$PATH" bash job)
}

@test "a signal ends a script that has just been started" {
	# The second line sends it when the next command of lib.sh would store the process.
	write_script 'set -T' "trap '[ \"\$BASH_COMMAND\" != \"SCRIPT_PID=\\\$!\" ] || kill \$\$' DEBUG" \
		'. ./lib.sh' 'exec sleep 3600'
	run -143 timeout --foreground -k 1 20 "${SCRIPT[@]}"
	[ -z "$output" ]
	[ -z "$(running)" ]
}

@test "a script ends before timeout -k 10 kills it" {
	write_script '. ./lib.sh' "setsid sh -c 'trap \"\" TERM; sleep 3600; true' >/dev/null 2>&1 3>&-"
	run -124 timeout --foreground -k 10 1 "${SCRIPT[@]}"
	[ -z "$(running)" ]
}

@test "a script can be started by its name in its own folder" {
	write_script '. ./lib.sh' 'echo "<$1>"'
	run -0 "${SCRIPT[@]}" "a b"
	[ "$output" = "<a b>" ]
}
