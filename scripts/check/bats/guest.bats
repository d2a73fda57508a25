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
	refuses 2 "--shell needs a terminal" guest --shell </dev/null
	run -0 "$TOP/scripts/guest/boot" --help
	says '^  --overlay DIR ' GUEST_LOG
}

@test "guest names what is wrong with a file" {
	local file="$BATS_TEST_TMPDIR/file"
	echo 'pmu { compatible = "riscv,pmu"; riscv,event-to-mhpmevent = <0x5 0x0 0x42>, <0x6 0x43>; };' >"$file"
	refuses 1 "riscv,event-to-mhpmevent of $file has 5 cells, but each event has 3" guest --pmu "$file" true
	printf 'pmu {\n\triscv,event-to-mhpmcounters = <0x5 0x5 COUNTERS>;\n};\n' >"$file"
	run -1 guest --pmu "$file" true
	says "<stdin>:2\.[0-9-]* syntax error" "SELECTOR or COUNTERS are not filled in"
	refuses 2 "$file is no kernel for RISC-V: give arch/riscv/boot/Image" "$TOP/scripts/guest/boot" --kernel "$file" true
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
	printf '%48sRISCV' '' >"$COPY/Image"
	refuses 1 "run make firmware-patched$" "$boot" --kernel "$COPY/Image" true
	refuses 1 "run make rootfs$" "$boot" --kernel "$COPY/Image" --firmware "$TOP/Makefile" true
	refuses 1 "cpio is missing: run make setup$" without cpio "$TOP/scripts/guest/boot" true
}

# A checkout with a kernel that is FLAVOUR, in which each program succeeds and does nothing.
copy_empty_guest()
{
	local file
	copy_scripts
	mkdir -p "$COPY/build/kernel/$1"
	echo "${2:-}" >"$COPY/build/kernel/$1/.config"
	for file in "kernel/$1/arch/riscv/boot/Image" firmware/patched/fw_dynamic.bin qemu/usr/bin/qemu-system-riscv64 dl/rootfs.cpio; do
		install -D /bin/true "$COPY/build/$file"
	done
	# shellcheck disable=SC2016
	printf '#!/bin/sh\necho "overlay<$*>" >&2\n' >"$COPY/scripts/build/overlay"
}

@test "guest takes the kernel that is there" {
	copy_empty_guest small
	run -125 "$COPY/scripts/guest/boot" true
	says 'using the kernel "small" of make run; for IP, BPF and KVM, run make kernel (10 minutes' "guest ended without a status"
	refuses 1 "run make kernel$" "$COPY/scripts/guest/boot" --forward 9100:9100 true
	refuses 1 "run make kernel-debug$" "$COPY/scripts/guest/boot" --kernel debug true
	refuses 1 "--nested: the kernel small has no KVM: run make kernel-small-next (10 minutes.*use --kernel small-next" \
		"$COPY/scripts/guest/boot" --nested true
	# A disk has its own kernel.
	install -D /bin/true "$COPY/root/vmlinuz"
	run ! grep small <<<"$("$COPY/scripts/guest/boot" --root "$COPY/root" true 2>&1)"
	copy_empty_guest riscv-pmu CONFIG_KVM=y
	run -125 "$COPY/scripts/guest/boot" true
	run ! grep small <<<"$output"
}

@test "guest brings up to date what the command needs" {
	local boot=(env -u RISCV_PMU_SUPERVISED "$COPY/scripts/guest/boot")
	copy_empty_guest riscv-pmu CONFIG_KVM=y
	run -125 "${boot[@]}" -- perf stat true
	says "building perf and the tools for the guest (. minutes" '^overlay<tools>$'
	run -125 "${boot[@]}" -- sh -c 'rvpmu;true'
	says '^overlay<tools>$'
	run -125 "${boot[@]}" -- kselftest riscv/pmu counting
	says "building the kselftests for the guest (. minutes" '^overlay<>$'
	run -125 "${boot[@]}" -- workload 300
	says '^overlay<workload>$'
	run -125 "${boot[@]}" -- /opt/superperf
	run ! grep overlay <<<"$output"
	run -125 "${boot[@]}" --bare -- perf stat true
	run ! grep overlay <<<"$output"
	# A script that starts a guest has built what it needs.
	# shellcheck disable=SC2016
	run -125 bash -c '. "$1/scripts/lib.sh"; RISCV_PMU_SUPERVISED=1 "$1/scripts/guest/boot" perf' bash "$COPY"
	run ! grep overlay <<<"$output"
	# make shell leaves that to boot, too: it must not build the kselftests.
	run -0 make -C "$TOP" -n shell
	says "boot --shell"
	run ! grep build/overlay <<<"$output"
	echo 'echo "overlay: cannot" >&2; exit 1' >"$COPY/scripts/build/overlay"
	run -1 "${boot[@]}" -- perf stat true
	says "overlay: cannot"
}

@test "guest prints why QEMU has aborted" {
	# QEMU 10.0.2 does that when a TLB event overflows.
	run guest --icount -- perf record -o /tmp/data -e dTLB-load-misses:u -c 100 workload 300
	[ "$status" = 125 ] || skip "this QEMU does not abort"
	says "QEMU exited with 134" "^qemu: fatal: Raised interrupt while not in I/O function" "boot without --icount" "Run /init as init process"
	run ! grep x20/s4 <<<"$output"
	grep x20/s4 "$GUEST_LOG"
}

@test "guest prints why there is no guest of KVM" {
	run guest --qemu -cpu --qemu rv64,h=off --nested true
	says "^vmm: no /dev/kvm: the hart needs the H extension"
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

@test "flamegraph names a missing -- and does not take other output for a profile" {
	refuses 2 "'/your/program' is not an option: write -- " "$TOP/scripts/guest/flamegraph" --overlay "$BATS_TEST_TMPDIR" /your/program
	refuses 2 "'true' is not an option" "$TOP/scripts/guest/flamegraph" true
	refuses 1 "recorded no samples" "$TOP/scripts/guest/flamegraph" --icount echo
	run -0 "$TOP/scripts/guest/flamegraph" --help
	says '^  --lbr '
}
