# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# OpenSBI: where its sources are, and how it is compiled, and booted without Linux.
#
# The sources "opensbi" and the newer "opensbi-next" are downloaded; "opensbi-src" is the
# tarball or folder that OPENSBI_SRC names.

OPENSBI_PATCHES=$TOP/opensbi/patches
FAILED=0

# --- sources ---------------------------------------------------------------------------

# The series of OPENSBI_SRC, "1.9" for example.
opensbi_src_series()
{
	local series header=include/sbi/sbi_version.h
	[ -n "${OPENSBI_SRC:-}" ] || die "set OPENSBI_SRC to the source of an OpenSBI: a tarball or a folder"
	[ -e "$OPENSBI_SRC" ] || die "OPENSBI_SRC: $OPENSBI_SRC is not there"
	series=$({ cat "$OPENSBI_SRC/$header" || tar -xOf "$OPENSBI_SRC" --wildcards "*/$header"; } 2>/dev/null |
		awk '/define OPENSBI_VERSION_MAJOR/ { major = $3 } /define OPENSBI_VERSION_MINOR/ { print major "." $3 }') || true
	[ -n "$series" ] || die "OPENSBI_SRC: $OPENSBI_SRC is no source of OpenSBI"
	printf '%s' "$series"
}

opensbi_series()
{
	case $1 in
	opensbi) printf '%s' "$OPENSBI_SERIES" ;;
	opensbi-next) printf '%s' "$OPENSBI_NEXT_SERIES" ;;
	opensbi-src) opensbi_src_series ;;
	esac
}

# The source that has SERIES.
opensbi_of_series()
{
	case $1 in
	"$OPENSBI_SERIES") echo opensbi ;;
	"$OPENSBI_NEXT_SERIES") echo opensbi-next ;;
	*) echo opensbi-src ;;
	esac
}

# A tarball or a folder.
opensbi_file()
{
	if [ "$1" = opensbi-src ]; then
		echo "$OPENSBI_SRC"
	else
		echo "$BUILD/dl/$1.tar.gz"
	fi
}

# Changes whenever the source does.
opensbi_identity()
{
	local file
	file=$(opensbi_file "$1")
	readlink -f "$file"
	find -L "$file" -name .git -prune -o -type f -printf '%P %s %T@\n' | sort | sha256sum
}

# opensbi_fetch SOURCE: make it available, or end with an error that says how.
opensbi_fetch()
{
	if [ "$1" = opensbi-src ]; then
		opensbi_src_series >/dev/null
	else
		"$TOP/rig/build/fetch" "$1"
	fi
}

# opensbi_extract SOURCE DIR
opensbi_extract()
{
	local file
	file=$(opensbi_file "$1")
	mkdir -p "$2"
	if [ -d "$file" ]; then
		tar -c -C "$file" --exclude-vcs --exclude=./build . | tar -x -C "$2"
	else
		tar -xf "$file" -C "$2" --strip-components=1 --no-same-owner
	fi
}

# opensbi_git_tree SERIES DIR: OpenSBI as released, as the commit with the tag "base".
opensbi_git_tree()
{
	local source git=(git -C "$2")
	source=$(opensbi_of_series "$1")
	opensbi_fetch "$source"
	opensbi_extract "$source" "$2"
	"${git[@]}" -c core.autocrlf=false init -q
	"${git[@]}" config user.name "riscv-pmu developers"
	"${git[@]}" config user.email riscv-pmu@example.org
	"${git[@]}" config commit.gpgsign false
	"${git[@]}" config am.threeWay false
	"${git[@]}" add -A -f
	"${git[@]}" commit -q -m "OpenSBI $1 as released"
	"${git[@]}" tag base
}

# --- firmware ----------------------------------------------------------------------------

# opensbi_compile TREE OBJ [XLEN [CONFIG]]: CONFIG is a line for OpenSBI's defconfig. OpenSBI
# takes one only from its own folder, and resolves O= before it makes it.
opensbi_compile()
{
	local configs=$1/platform/generic/configs
	{ cat "$configs/defconfig"; echo "${4:-}"; } >"$configs/riscv_pmu_defconfig"
	mkdir -p "$2"
	make -C "$1" O="$2" PLATFORM=generic PLATFORM_DEFCONFIG=riscv_pmu_defconfig \
		PLATFORM_RISCV_XLEN="${3:-64}" CROSS_COMPILE="$CROSS_COMPILE" CC="$RISCV_CC" \
		FW_PIC=y -j"$JOBS"
}

# section NAME COMMAND...: the TAP of one program. A failure is noted in FAILED.
section()
{
	local status=0
	echo "# section: $1"
	"${@:2}" || status=$?
	[ "$status" = 0 ] || FAILED=1
	echo "# exit: $status"
}

# build_or_skip FIRMWARE: what the build says of its steps is not TAP.
build_or_skip()
{
	local said
	if [[ $1 = *-src* ]] && [ -z "${OPENSBI_SRC:-}" ]; then
		section "$1" printf '1..1\nok 1 - %s # SKIP its source is not downloaded: set OPENSBI_SRC\n' "$1"
		return 1
	fi
	said=$("$TOP/rig/build/firmware" "$1" 2>&1) || die "$said"
}

# bare_machine XLEN: leaves in QEMU the command of a machine that has its serial line on stdout.
bare_machine()
{
	local root=$BUILD/qemu/usr
	export QEMU_MODULE_DIR=$root/lib/x86_64-linux-gnu/qemu
	QEMU=("$root/bin/qemu-system-riscv$1" -L "$root/share/qemu")
	if [ "$1" = 64 ] && own_qemu_is_used; then
		QEMU=("$RISCV_PMU_QEMU")
	fi
	command -v "${QEMU[0]}" >/dev/null || die "$(short_path "${QEMU[0]}") is missing: run make qemu"
	QEMU+=(-M virt -nodefaults -display none -monitor none -serial stdio -no-reboot)
}

# is_built FILE SOURCE...: is FILE newer than each SOURCE, a file or a folder?
is_built()
{
	[ -f "$1" ] && [ -z "$(find "${@:2}" -type f -newer "$1" -print -quit)" ]
}
