#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2030,SC2031,SC2086,SC2154
#
# Tests of scripts/build: fetch, probe-qemu, qemu, setup, and errors without a tool, the network or disk space.

. "$BATS_TEST_DIRNAME/common.bash"

PROBE=$TOP/scripts/build/probe-qemu
QEMU=$BIN/qemu
# The exit status of qemu-probe.S if sie.LCOFIE is read-only.
NO_SIE="exit 102"

setup()
{
	copy_scripts
	export RISCV_PMU_CACHE=$COPY.cache
}

# Run a command without network: the proxies are ports without a listener.
offline()
{
	echo 'Acquire::Retries "0";' >"$BATS_TEST_TMPDIR/apt.conf"
	env APT_CONFIG="$BATS_TEST_TMPDIR/apt.conf" http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 "$@"
}

cache_is_empty()
{
	[ -z "$(ls "$RISCV_PMU_CACHE/dl")" ]
}

# fake_qemu VERSION COMMAND: a program that prints this version of QEMU, and runs COMMAND.
fake_qemu()
{
	fake qemu <<-EOF
		[ "\$1" != --version ] || { echo "QEMU emulator version $1 (Debian)" && exit; }
		echo run >>"$BIN/runs"
		$2
	EOF
	rm -f "$BIN/runs"
}

# The usual QEMU under a new path, so that no stored result of the probe is used.
fresh_qemu()
{
	local qemu=$BUILD/qemu/usr/bin/qemu-system-riscv64
	! own_qemu_is_used || qemu=$RISCV_PMU_QEMU
	fake_qemu 10.9.9 "exec '$qemu' \"\$@\""
}

# --- QEMU ----------------------------------------------------------------------

@test "probe accepts the usual QEMU" {
	fresh_qemu
	run -0 "$PROBE" "$QEMU"
	[ -z "$output" ]
}

@test "probe rejects a hart without Sscofpmf" {
	fresh_qemu
	refuses 1 "raises no interrupt" "$PROBE" --cpu rv64,sscofpmf=off "$QEMU"
}

@test "probe reports a program that is not a QEMU" {
	refuses 3 "no such program" "$PROBE" /nowhere
	refuses 3 "does not run the probe" "$PROBE" /bin/true
	fake_qemu 10.9.9 "echo no such machine >&2; exit 1"
	refuses 3 "no such machine" "$PROBE" "$QEMU"
	fake_qemu 10.9.9 "exec sleep 60"
	refuses 3 "does not end within 1 s" "$PROBE" --timeout 1 "$QEMU"
}

@test "probe runs again only if the file changes" {
	fake_qemu 10.9.9 "$NO_SIE"
	refuses 1 "QEMU 10.9.9 .* sie.LCOFIE" "$PROBE" "$QEMU"
	refuses 1 "QEMU 10.9.9 .* sie.LCOFIE" "$PROBE" "$QEMU"
	[ "$(cat "$BIN/runs")" = run ]
	fresh_qemu
	run -0 "$PROBE" "$QEMU"
	[ "$(cat "$BIN/runs")" = run ]
}

@test "QEMU is not built if the user's raises interrupts" {
	fresh_qemu
	run -0 offline env RISCV_PMU_QEMU="$QEMU" "$COPY/scripts/build/qemu"
	[ -z "$output" ]
	[ ! -e "$COPY/build/qemu" ]
}

@test "QEMU is built if the user's raises no interrupts" {
	fake_qemu 10.9.9 "$NO_SIE"
	# Without network and with an empty cache, the build fails at the download.
	refuses 1 "cannot reach the Debian mirror" offline env RISCV_PMU_QEMU="$QEMU" "$COPY/scripts/build/qemu"
	grep "sie.LCOFIE cannot be set; using" <<<"$stderr"
	fake_qemu 10.9.9 "exit 1"
	refuses 1 "does not run the probe" env RISCV_PMU_QEMU="$QEMU" "$COPY/scripts/build/qemu"
}

@test "guest refuses a QEMU that raises no overflow interrupt" {
	fake_qemu 10.9.9 "$NO_SIE"
	export RISCV_PMU_QEMU=$QEMU
	refuses 1 "QEMU 10.9.9 .* sie.LCOFIE cannot be set: run make qemu" "$COPY/scripts/guest/boot" true
	mkdir -p "$COPY/build/qemu"
	touch "$COPY/build/qemu/.patched"
	run -1 "$COPY/scripts/guest/boot" true
	says "using the patched one"
	fake_qemu 7.2.17 "exit 1"
	refuses 1 "QEMU 7.2.17 .*need 10.0.0 or later" "$TOP/scripts/guest/boot" true
	RISCV_PMU_QEMU=/nowhere refuses 1 "does not run: give a" "$TOP/scripts/guest/boot" true
}

# --- fetch ---------------------------------------------------------------------

@test "fetch needs no network with a filled cache" {
	RISCV_PMU_CACHE=$CACHE run -0 offline "$TOP/scripts/build/fetch"
	# Another process may hold the lock of this cache.
	run ! grep -v -e "waiting for another" -e '^$' <<<"$output"
}

@test "without network, fetch and its callers name the remedy" {
	local what
	for what in "fetch opensbi" "kernel riscv-pmu" "firmware stock"; do
		refuses 1 "cannot reach the Debian mirror.*RISCV_PMU_CACHE" offline "$COPY"/scripts/build/$what
	done
	cache_is_empty
	[ ! -e "$COPY/build/src" ]
	[ ! -e "$COPY/build/firmware" ]
}

@test "fetch detects a damaged cache" {
	local file=$RISCV_PMU_CACHE/dl/$OPENSBI_TARBALL
	cp "$(readlink -f "$BUILD/dl/opensbi.tar.gz")" "$file"
	run -0 offline "$COPY/scripts/build/fetch" opensbi
	printf 'x' | dd of="$file" bs=1 seek=1000 conv=notrunc
	refuses 1 "RISCV_PMU_CACHE" offline "$COPY/scripts/build/fetch" opensbi
	grep "is damaged" <<<"$stderr"
	[ ! -e "$file" ]
}

@test "fetch names the remedy when the cache is not writable" {
	refuses 1 "the cache /proc/nowhere is not writable: set RISCV_PMU_CACHE" \
		env RISCV_PMU_CACHE=/proc/nowhere "$COPY/scripts/build/fetch" opensbi
}

@test "fetch distinguishes a mirror that is updating from a missing network" {
	fake apt-get <<-'EOF'
		case "$*" in
		*update) echo "E: Failed to fetch main/Packages  Hash Sum mismatch"; exit 100 ;;
		*) exec /usr/bin/apt-get "$@" ;;
		esac
	EOF
	refuses 1 "apt: Failed to fetch main/Packages  Hash Sum mismatch.*the mirror may be updating" \
		env PATH="$BIN:$PATH" "$COPY/scripts/build/fetch" opensbi
	run ! grep "cannot reach" <<<"$stderr"
}

@test "fetch names the remedy when npm fails" {
	fake npm <<<'echo "npm ERR! code ECONNREFUSED"; exit 1'
	run -1 env PATH="$BIN:$PATH" "$COPY/scripts/build/fetch" speedscope
	says ECONNREFUSED "npm cannot get speedscope.*RISCV_PMU_CACHE"
	cache_is_empty
}

@test "fetch refuses a package with another hash" {
	fake npm <<<"while [ \"\$1\" != --pack-destination ]; do shift; done; echo >\"\$2/speedscope-$SPEEDSCOPE_VERSION.tgz\""
	refuses 1 "does not have the expected hash.* again" env PATH="$BIN:$PATH" "$COPY/scripts/build/fetch" speedscope
	cache_is_empty
}

# --- tools and disk --------------------------------------------------------------

@test "builds check for their compiler and tools before they begin" {
	local what
	for what in "kernel riscv-pmu" "firmware stock" overlay; do
		refuses 1 "riscv64-linux-gnu-gcc is missing: run make setup" \
			without riscv64-linux-gnu-gcc "$COPY"/scripts/build/$what
	done
	refuses 1 "bison is missing: run make setup" without bison "$COPY/scripts/build/kernel" riscv-pmu
	[ ! -e "$COPY/build" ]
}

@test "builds report a full disk and keep nothing incomplete" {
	local what
	need_small_disk
	mkdir "$COPY/build"
	for what in "kernel trees" "firmware stock"; do
		# shellcheck disable=SC2016
		run -1 on_small_disk 2m "$COPY/build" sh -c '"$@" || { ls "$0/src" && exit 1; }' "$COPY/build" \
			env RISCV_PMU_CACHE="$CACHE" "$COPY"/scripts/build/$what
		says "${what% *}.*unpacking.*: failed; the disk of build is full (.* left): free some space, then run it again"
		# An incomplete tree has another name, and the next build starts again.
		[ "$(grep -c -e '^linux' -e '^opensbi' <<<"$output")" = 1 ]
		says '^\(linux-mainline\|opensbi-old\).part$'
	done
}

@test "setup names the packages to a user who is not root" {
	fake id <<<'echo 1000'
	fake sudo <<<'exit 1'
	fake dpkg-query <<<'exit 1'
	refuses 1 "apt-get install .*gcc-riscv64-linux-gnu.*as root" env PATH="$BIN:$PATH" "$COPY/scripts/build/setup"
	fake dpkg <<<'echo i386'
	refuses 1 "this is debian .* i386" env PATH="$BIN:$PATH" "$COPY/scripts/build/setup"
	fake dpkg <<<'echo arm64'
	refuses 1 "run them in a container (podman run --platform=linux/amd64 -it .* make run'); on Linux, first install qemu-user-static" \
		env PATH="$BIN:$PATH" "$COPY/scripts/build/setup"
}

@test "the scripts for Debian packages name the wrong argument and the right ones" {
	# Before anything is installed or built.
	echo 'exit 9' >"$COPY/scripts/build/setup"
	refuses 2 "use tools, kernel or kernel-next" "$COPY/scripts/build/deb" tools nonsense
	refuses 2 "use tools, kernel or kernel-next" "$COPY/scripts/build/deb"
	refuses 1 "/nowhere is not the output of lsmod: connect and use all devices .* run ssh BOARD lsmod >board.lsmod" \
		env LSMOD=/nowhere "$COPY/scripts/build/deb" kernel
	echo ext4 >"$BATS_TEST_TMPDIR/list"
	refuses 1 "list is not the output of lsmod" env LSMOD="$BATS_TEST_TMPDIR/list" "$COPY/scripts/build/deb" kernel
	printf '%s\n' 'Module                  Size  Used by' 'mt7921e  110592  0' >"$BATS_TEST_TMPDIR/list"
	refuses 1 "names no module of a file system" env LSMOD="$BATS_TEST_TMPDIR/list" "$COPY/scripts/build/deb" kernel
	refuses 2 "no kernel given: " "$TOP/scripts/build/debian-root" -- hello
	refuses 1 "run make deb" "$TOP/scripts/build/debian-root" "$TOP/Makefile"
}

@test "Debian packages are built by one script at a time" {
	: >"$COPY/scripts/build/setup"
	mkdir "$COPY/build"
	run -124 flock "$COPY/build/.lock-deb" timeout 2 "$COPY/scripts/build/deb" tools
	says "waiting for another deb"
	[ -z "$(ls "$COPY/build")" ]
}
