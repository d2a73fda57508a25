# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Shared by the checks that boot firmware without Linux. They print TAP in sections.

FAILED=0

# section NAME COMMAND...: print the TAP of a program as a section. A failure sets FAILED.
section()
{
	local status=0
	echo "# section: $1"
	"${@:2}" || status=$?
	[ "$status" = 0 ] || FAILED=1
	echo "# exit: $status"
}

# build_firmware FIRMWARE: build it without printing the build's messages, which are not TAP.
build_firmware()
{
	local said
	said=$("$TOP/scripts/build/firmware" "$1" 2>&1) || die "$said"
}

# bare_machine XLEN: set QEMU to the command of a machine with its serial line on stdout.
bare_machine()
{
	local root=$BUILD/qemu/usr
	export QEMU_MODULE_DIR=$root/lib/x86_64-linux-gnu/qemu
	QEMU=("$root/bin/qemu-system-riscv$1" -L "$root/share/qemu")
	if [ "$1" = 64 ] && own_qemu_is_used; then
		QEMU=("$RISCV_PMU_QEMU")
	fi
	command -v "${QEMU[0]}" >/dev/null ||
		die "$(short_path "${QEMU[0]}") is missing: run make qemu without RISCV_PMU_QEMU"
	QEMU+=(-M virt -nodefaults -display none -monitor none -serial stdio -no-reboot)
}

# is_built FILE SOURCE...: is FILE newer than each SOURCE, a file or a folder?
is_built()
{
	[ -f "$1" ] && [ -z "$(find "${@:2}" -type f -newer "$1" -print -quit)" ]
}
