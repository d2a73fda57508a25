#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2030,SC2031,SC2054,SC2154
#
# Tests of scripts/guest/boot.

. "$BATS_TEST_DIRNAME/common.bash"

@test "guest exits with the status of the command" {
	run -0 guest true
	run -7 guest sh -c 'exit 7'
	run -127 guest no-such-command
	run -126 guest /etc/passwd
	run -139 guest sh -c 'kill -SEGV $$'
}

@test "guest prints only what the command prints" {
	guest -- sh -c 'printf "a\r\nb\n"; printf "c" >&2' >"$BATS_TEST_TMPDIR/out"
	printf 'a\r\nb\nc' | cmp - "$BATS_TEST_TMPDIR/out"
}

@test "guest passes any argument to the command" {
	# shellcheck disable=SC1003,SC2016
	local args=("a b" "it's" $'new\nline' 'ü€"$x`\' '' '*' '-n' '%s')
	run -0 --separate-stderr guest -- printf '<%s>' "${args[@]}"
	[ "$output" = "$(printf '<%s>' "${args[@]}")" ]
}

@test "guest stops at its time limit" {
	run -124 guest --timeout 3 sleep 60
	says "time limit of 3 s"
}

@test "guest reports warnings and oopses of the kernel" {
	run -125 guest sh -c 'echo "WARNING: made by scripts/check/bats" >/dev/kmsg'
	says "made by scripts/check/bats"
	run -125 guest --append panic_on_warn=1 --append init=/nothing --append rdinit=/nothing true
	says "Kernel panic"
}

@test "guest names the wrong option and the right ones" {
	refuses 2 "nonsense .*--help" guest --nonsense true
	refuses 2 "sscofpmf" guest --cpu nonsense true
	refuses 2 "smp" guest --smp 0 true
	refuses 2 "19100:9100" guest --forward 9100 true
	refuses 2 "--mem: 100M is too little .* use at least" guest --mem 100M true
	refuses 2 "no command given: " guest
	refuses 2 "mainline" "$TOP/scripts/guest/boot" --kernel nonsense true
	refuses 2 "scripts/build/debian-root" guest --root "$TOP" true
	refuses 2 "exclude each other" guest --root "$TOP" --shell
	run -0 "$TOP/scripts/guest/boot" --help
	says '^  --overlay DIR ' GUEST_LOG
}

@test "guest has the tools" {
	# -icount, since on a slow host the kernel lowers its sample rate, which the doctor reports.
	# shellcheck disable=SC2016
	run -0 guest --icount sh -c 'command -v perf rvpmu hot_loop walk && ls /usr/share/man/man1/rvpmu.1 \
		/usr/share/bash-completion/completions/rvpmu && rvpmu doctor'
	run -127 guest --bare rvpmu
}

@test "guest names the make target of a missing file" {
	local boot=$COPY/scripts/guest/boot qemu=$COPY/build/qemu/usr/bin/qemu-system-riscv64
	copy_scripts
	refuses 1 "qemu-system-riscv64 is missing: run make qemu$" "$boot" true
	mkdir -p "${qemu%/*}"
	cp /bin/true "$qemu"
	refuses 1 "run make kernel$" "$boot" true
	refuses 1 "run make kernel-next$" "$boot" --kernel next true
	refuses 1 "run make firmware-patched$" "$boot" --kernel "$TOP/Makefile" true
	refuses 1 "run make rootfs$" "$boot" --kernel "$TOP/Makefile" --firmware "$TOP/Makefile" true
	refuses 1 "cpio is missing: run make setup$" without cpio "$TOP/scripts/guest/boot" true
}

@test "guest reports a full disk while it writes the initramfs" {
	local disk=$BATS_TEST_TMPDIR/disk
	need_small_disk
	refuses 1 "initramfs.*the disk of $disk is full .*: free some space, then" \
		on_small_disk 1m "$disk" env TMPDIR="$disk" "$TOP/scripts/guest/boot" true
}

@test "guest copies overlays in order" {
	mkdir -p "$BATS_TEST_TMPDIR"/{one,two}/etc
	echo one >"$BATS_TEST_TMPDIR/one/etc/which"
	echo two >"$BATS_TEST_TMPDIR/two/etc/which"
	run -0 guest --overlay "$BATS_TEST_TMPDIR/one" --overlay "$BATS_TEST_TMPDIR/two" cat /etc/which
	says '^two$'
	mkdir "$BATS_TEST_TMPDIR/one/bin"
	refuses 2 "use usr/bin" guest --overlay "$BATS_TEST_TMPDIR/one" true
}

@test "guest has the requested harts and memory" {
	run -0 guest --smp 3 --mem 512M sh -c 'nproc; grep MemTotal /proc/meminfo'
	says '^3$'
	[ "$(awk '/MemTotal/ { print $2 }' <<<"$output")" -lt 524288 ]
}

@test "counts in the guest repeat with icount" {
	local count=(guest --icount -- perf stat -x, -e instructions:u true) first
	run -0 "${count[@]}"
	first=$(cut -d, -f1 <<<"$output")
	grep '[0-9]' <<<"$first"
	run -0 "${count[@]}"
	[ "$(cut -d, -f1 <<<"$output")" = "$first" ]
}

@test "guests run in parallel" {
	guest sh -c 'sleep 1; echo left' >"$BATS_TEST_TMPDIR/left" 2>&1 3>&- &
	run -0 guest echo right
	says right
	wait $!
	grep left "$BATS_TEST_TMPDIR/left"
}

@test "guest ends QEMU and removes its files if it is killed" {
	local pid mark=boot-$$-$RANDOM
	mkdir "$BATS_TEST_TMPDIR/tmp"
	TMPDIR=$BATS_TEST_TMPDIR/tmp "$TOP/scripts/guest/boot" --kernel "$KERNEL" --qemu -name --qemu "$mark" sleep 60 3>&- &
	pid=$!
	# Wait until QEMU runs, which takes an unknown time on a busy host.
	timeout 60 sh -c "until pgrep -f 'qemu-system.*[-]name $mark'; do sleep 0.5; done"
	kill -TERM "$pid"
	wait "$pid" || true
	run ! pgrep -f "qemu-system.*$mark"
	[ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}
